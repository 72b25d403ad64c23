"""Groups of columns that may be split together on the way to a leaf: the parameter `interaction_cst`."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from ..data.table import Schema
from ..errors import ParameterError, show

NAMED_GROUPS = ("pairwise", "no_interactions")


def normalize_groups(interaction_cst: Any) -> Any:
    """Return the groups as sorted lists, or the name that stands for them.

    The columns are not checked here, because the table is not known yet.
    """
    if isinstance(interaction_cst, str) and interaction_cst in NAMED_GROUPS:
        return interaction_cst
    groups = list(interaction_cst) if _is_collection(interaction_cst) else []
    if not groups or not all(_is_collection(group) for group in groups):
        raise ParameterError(
            f"interaction_cst={show(interaction_cst)}; 'pairwise', 'no_interactions', or a list of groups of "
            "columns, by name or number, is needed"
        )
    return [
        sorted({int(column) if isinstance(column, np.integer) else column for column in group}, key=str)
        for group in groups
    ]


def column_groups(interaction_cst: Any, schema: Schema) -> tuple[tuple[int, ...], ...]:
    """Return the groups as column numbers. The columns that belong to no group form one more group."""
    groups_or_name = normalize_groups(interaction_cst)
    names = list(schema.names)
    columns = range(len(names))
    if isinstance(groups_or_name, str):
        group_size = 2 if groups_or_name == "pairwise" else 1
        return tuple(combinations(columns, min(group_size, len(names))))
    groups = [tuple(sorted({_column_number(column, names) for column in group})) for group in groups_or_name]
    rest = tuple(sorted(set(columns).difference(*groups)))
    return tuple(group for group in (*groups, rest) if group)


def _is_collection(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _column_number(column: Any, names: list[str]) -> int:
    """Return the number of a column given by its name or number."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and not isinstance(column, bool) and 0 <= column < len(names):
        return column
    raise ParameterError(
        f"interaction_cst names column {show(column)}; the columns are {names}, or 0 to {len(names) - 1}"
    )
