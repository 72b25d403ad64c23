"""Columns that a tree should not be grown on: identifiers, and columns that give the target away.

What is said here is a guess from the rows. A column is left out only where the guess is hard to miss; of others
there is a remark.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from .._utils.arrays import Array
from .table import Column, Table

MIN_ROWS_TO_SCREEN = 30  # fewer say nothing about what cannot generalise
MOST_OWN = 0.95  # an identifier of text has at least so many different values per row
_ID_NAME = re.compile(r"(?:^|[_\s.-])(?:id|ids|key|uuid|guid|nr|no|number|index|row|rowid|rownames?)$|ID$|^column1$")
CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999)  # that people write for a missing number


@dataclass(frozen=True)
class ColumnFinding:
    """What is odd about a column, in words; and whether it should be left out."""

    name: str
    why: str
    is_left_out: bool


def screen_columns(table: Table) -> list[ColumnFinding]:
    """Return what is odd about the columns of a table with a target.

    Examples
    --------
    >>> from secateur.data.encoding import encode
    >>> rows = [[100 + k, k % 7, "yn"[k % 2]] for k in range(60)]
    >>> table = encode(rows, names=["customer_id", "age", "paid"], target=["no", "yes"] * 30)
    >>> for one in screen_columns(table):
    ...     print(one.name, "-", one.why)
    customer_id - an identifier: each of its 60 values occurs once
    paid - gives the target away: each of its values stands for one value of the target
    """
    if table.n_rows < MIN_ROWS_TO_SCREEN or table.target is None:
        return []
    return [
        ColumnFinding(about.name, why, is_left_out)
        for about, values in zip(table.schema.columns, table.columns, strict=True)
        for why, is_left_out in (
            (_identifier(about, values) or _leak(about, values, table), True),
            (_code(about, values), False),
        )
        if why
    ]


def drop_columns(table: Table, names: set[str]) -> Table:
    """Return the table without some columns; one at least must be left."""
    kept = [j for j, name in enumerate(table.names) if name not in names]
    schema = replace(table.schema, columns=tuple(table.schema.columns[j] for j in kept))
    n_unseen = tuple(table.n_unseen[j] for j in kept)
    return Table(schema, tuple(table.columns[j] for j in kept), table.target, None, n_unseen)


def looks_continuous(values: Array) -> bool:
    """Whether numbers are rather to be predicted as such than as classes: fractions, or very many of them."""
    if values.dtype.kind not in "iuf" or len(values) == 0:
        return False
    different = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
    has_fractions = bool(values.dtype.kind == "f" and (different % 1).any())
    return has_fractions or len(different) > max(30, 0.5 * len(values))


def _identifier(about: Column, values: Array) -> str:
    n = len(values)
    if about.kind == "nominal":
        known = values[(values >= 0) & (values < len(about.categories))]
        n_different = len(np.unique(known))
        is_text = len(about.categories) > 0 and isinstance(about.categories[0], str)
        is_own = is_text and n_different > max(MOST_OWN * n, MIN_ROWS_TO_SCREEN)
        return f"an identifier: {n_different:,} different values in {n:,} rows" if is_own else ""
    if about.is_date or np.isnan(values).any() or (values % 1).any():
        return ""
    order = np.unique(values)
    if len(order) < n:
        return ""
    is_counter = order[-1] - order[0] == n - 1  # 1, 2, 3, ... in any order
    is_sorted = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    is_own = is_counter or is_sorted or _ID_NAME.search(about.name) is not None
    return f"an identifier: each of its {n:,} values occurs once" if is_own else ""


def _leak(about: Column, values: Array, table: Table) -> str:
    target = table.required_target
    if table.schema.has_numeric_target:
        known = ~np.isnan(values) if about.kind == "numeric" else np.zeros(len(values), bool)
        x, y = values[known].astype(float), target[known]
        if (
            known.sum() < MIN_ROWS_TO_SCREEN
            or np.ptp(x) == 0
            or len(np.unique(x)) < MIN_ROWS_TO_SCREEN
            or np.ptp(y) == 0
        ):
            return ""
        is_scaled = abs(np.corrcoef(x, y)[0, 1]) > 1 - 1e-9
        return "gives the target away: it is the target on another scale" if is_scaled else ""
    n_classes = len(np.unique(target))
    codes = np.unique(values, return_inverse=True)[1] if about.kind == "numeric" else values
    if n_classes < 2 or len(np.unique(codes)) != n_classes:
        return ""
    is_same = len(np.unique(np.stack([codes, target]), axis=1).T) == n_classes
    return "gives the target away: each of its values stands for one value of the target" if is_same else ""


def _code(about: Column, values: Array) -> str:
    """A number far from all others that people write for a missing one."""
    if about.kind == "nominal" or about.is_date:
        return ""
    known = values[~np.isnan(values)]
    for code in CODES:
        n_rows = int(np.count_nonzero(known == code))
        others = known[known != code]
        if n_rows < 2 or len(np.unique(others)) < 3:
            continue
        low, high = float(others.min()), float(others.max())
        gap = low - code if code < low else code - high
        if gap > max(high - low, 1):
            return f"holds {code} in {n_rows:,} rows, far from all other values ({low:g} to {high:g})"
    return ""
