"""Rows of a file that have a label, and those that have none."""

import numpy as np

from ..errors import DataError
from .arrays import Array
from .columns import Coded, Given, family, gaps_of
from .names import check_name
from .remarks import tell
from .sources import Batch

NO_LABEL = ("na", "n/a", "#n/a", "nan", "null", "?", "")  # words that are no class


def labelled(
    source: Batch, target: str, missing: str = "drop", classes: Array | None = None
) -> tuple[Batch, Array | None]:
    """Return the rows that have a target, and which these are (None: all)."""
    check_name("missing_target", missing, ("drop", "error"))
    is_missing = no_label(source.read(target), classes)
    n_missing = int(np.count_nonzero(is_missing))
    if n_missing == 0 or missing == "error":
        return source, None
    if n_missing == source.n_rows:
        raise DataError(f"the target {target!r} is missing in all {n_missing:,} rows; name another column")
    tell(f"{n_missing:,} of {source.n_rows:,} rows have no target {target!r} and are left out")
    return source.where(~is_missing), ~is_missing


def no_label(given: Given, classes: Array | None = None) -> Array:
    """Where a column has no label: gaps, and words such as NA that are no known class, or stand beside two others."""
    is_missing = gaps_of(given)
    if isinstance(given, Coded) and family(given) == "text":
        known = () if classes is None else classes.tolist()
        words = [k for k, level in enumerate(given.levels) if level.strip().lower() in NO_LABEL and level not in known]
        if words and (classes is not None or len(given.levels) - len(words) > 1):
            is_missing = is_missing | np.isin(given.codes, words)
    return is_missing
