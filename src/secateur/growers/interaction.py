"""Groups of columns that may be tested together on the way to a leaf."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from ..data.table import Schema
from ..errors import ParameterError

NAMED_GROUPS = ("pairwise", "no_interactions")


def normalize_groups(interaction_cst: Any) -> Any:
    """Return the groups as lists, or the word that stands for them; columns are not checked."""
    if isinstance(interaction_cst, str) and interaction_cst in NAMED_GROUPS:
        return interaction_cst
    is_list = isinstance(interaction_cst, Iterable) and not isinstance(interaction_cst, str | bytes)
    given = list(interaction_cst) if is_list else []
    if not given or not all(isinstance(group, Iterable) and not isinstance(group, str | bytes) for group in given):
        raise ParameterError(
            f"interaction_cst={interaction_cst!r}; 'pairwise', 'no_interactions', or a list of groups of columns, by "
            "name or number, is needed"
        )
    return [sorted({int(one) if isinstance(one, np.integer) else one for one in group}, key=str) for group in given]


def groups_of(interaction_cst: Any, schema: Schema) -> tuple[tuple[int, ...], ...]:
    """Return the groups as column numbers; columns that are in none make one more."""
    given = normalize_groups(interaction_cst)
    names = list(schema.names)
    every = range(len(names))
    if isinstance(given, str):
        return tuple(combinations(every, min(2 if given == "pairwise" else 1, len(names))))
    groups = [tuple(sorted({_column(one, names) for one in group})) for group in given]
    rest = tuple(sorted(set(every).difference(*groups)))
    return tuple(group for group in (*groups, rest) if group)


def _column(one: Any, names: list[str]) -> int:
    if isinstance(one, str) and one in names:
        return names.index(one)
    if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(names):
        return one
    raise ParameterError(f"interaction_cst names column {one!r}; the columns are {names}, or 0 to {len(names) - 1}")
