"""The nearest change of a row that alters the answer of a tree: exact over all leaves.

A best-first search from the root. What a path asks of a column leaves an interval or a set of categories (`reachable`);
what it costs to get there never falls on the way down, so the first leaf with another answer that is taken from the
queue is the nearest. Fewest columns come first, then the least sum of changes, each as a share of its column's spread.
"""

import heapq
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import check_name
from ..core import Tree, check_no_surrogates
from ..data.table import Column, Table
from ..errors import ParameterError
from .view import TreeView
from .wording import value_text

__all__ = ["Change", "Counterfactual", "nearest_change"]

LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Change:
    """One column that must change.

    Parameters
    ----------
    column : str
    value : str
        What the row holds.
    to : str
        What it must hold, in words: "above 3.5", "at most 2", "red or blue".
    new : object
        A value that does it, the nearest one.
    """

    column: str
    value: str
    to: str
    new: object

    def __str__(self) -> str:
        return f"{self.column} {self.to} (is {self.value})"


@dataclass(frozen=True)
class Counterfactual:
    """The changes that lead to another answer, the leaf they lead to, and its answer."""

    changes: tuple[Change, ...]
    leaf: int
    number: int
    answer: str

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.changes))} would give {self.answer}"


def nearest_change(
    view: TreeView,
    table: Table,
    row: int = 0,
    *,
    actionable: Sequence[str] | None = None,
    wanted: Callable[[int], bool] | None = None,
    spread: Mapping[int, float] | None = None,
) -> Counterfactual | None:
    """Return the nearest change of a row that leads to another answer, None if there is none.

    Parameters
    ----------
    view : TreeView
        Of a tree with tests.
    table : Table
        Rows in the schema of the tree.
    row : int
    actionable : names, optional
        The columns that may change; all by default.
    wanted : callable, optional
        Of a node of the view: whether its answer will do. By default any other than that of the row.
    spread : mapping, optional
        What a change of a numeric column, by its number, is measured by; 1 by default.

    Examples
    --------
    >>> import secateur
    >>> from secateur.inspection.view import view_of
    >>> table = secateur.encode([[1.0, 5.0], [2.0, 1.0], [4.0, 9.0]], names=["size", "age"], target=["a", "a", "b"])
    >>> tree, counts = secateur.grow(table)
    >>> print(nearest_change(view_of(tree, counts), table))
    size above 3 (is 1) would give b
    >>> nearest_change(view_of(tree, counts), table, actionable=["age"])
    """
    tree, names, columns = view.tree, view.columns, table.schema.columns
    check_no_surrogates(tree, "the search for the nearest change", "explain without it")
    for name in actionable or ():
        check_name("actionable", name, names)
    may_change = {j for j, name in enumerate(names) if actionable is None or name in actionable}
    values = [column[row] for column in table.columns]
    start, child = tree.child_lists
    own = None
    # The number and the sum of the changes, a node, the last node that each column led to, and what that costs.
    queue: list[tuple[int, float, int, dict[int, int], dict[int, float]]] = [(0, 0.0, 0, {}, {})]
    while queue:
        _, _, v, led_to, costs = heapq.heappop(queue)
        if tree.is_leaf[v]:
            own = view.answer(v) if own is None else own  # nothing changes on the way to the first leaf
            if view.answer(v) != own if wanted is None else wanted(v):
                changes = tuple(_change(view, led_to[j], columns[j], values[j]) for j in costs)
                return Counterfactual(changes, int(view.node[v]), v + 1, view.answer(v))
            continue
        column = int(tree.feature[v])
        unit = (spread or {}).get(column) or 1.0
        for k, below in enumerate(child[start[v] : start[v + 1]].tolist()):
            can_be_missing = column not in costs and k == tree.default[v]
            cost = _cost(view, below, columns[column], values[column], unit, can_be_missing=can_be_missing)
            if cost > 0 and (column not in may_change or math.isinf(cost)):
                continue
            more = {**costs, column: cost} if cost else costs
            heapq.heappush(queue, (len(more), sum(more.values()), below, {**led_to, column: below}, more))
    return None


def spreads_of(tree: Tree) -> dict[int, float]:
    """Return for each numeric column the range of the thresholds on it, which tells changes of columns apart."""
    is_number = (tree.feature >= 0) & (np.diff(tree.branch_start) == 0) & np.isfinite(tree.threshold)
    found = {}
    for column in np.unique(tree.feature[is_number]).tolist():
        at = tree.threshold[is_number & (tree.feature == column)]
        found[column] = float(np.ptp(at)) or abs(float(at[0])) or 1.0
    return found


def _cost(view: TreeView, v: int, about: Column, value: Any, unit: float, *, can_be_missing: bool) -> float:
    """What it costs to bring a value to node `v` as far as its column decides; infinite if none gets there."""
    if about.kind == "nominal":
        fits = can_be_missing if value < 0 else value in view.codes(v)
        return 0.0 if fits else 1.0 if _categories(view, v, about) else math.inf
    x, (low, high) = float(value), _ends(view, v)
    if math.isnan(x) and can_be_missing:
        return 0.0
    if not (view.reachable.can_be_known[v] and low < high):
        return math.inf
    if math.isnan(x):
        return 1.0
    if low < x <= high or x == low == -math.inf:
        return 0.0
    # What lies on the threshold must still move: more than nothing, less than anything else; what is infinite, too.
    return min(max(low - x if x <= low else x - high, 0.0) / unit, LARGEST) + 1e-12


def _ends(view: TreeView, v: int) -> tuple[float, float]:
    """What a number that is known is above, and at most, at node `v`."""
    low, high = int(view.reachable.low[v]), int(view.reachable.high[v])
    threshold = view.tree.threshold
    return float(threshold[low]) if low >= 0 else -math.inf, float(threshold[high]) if high >= 0 else math.inf


def _categories(view: TreeView, v: int, about: Column) -> list[int]:
    return [code for code in view.codes(v).tolist() if code < len(about.categories)]


def _change(view: TreeView, v: int, about: Column, value: Any) -> Change:
    """What must change in one column so that a row gets to node `v`."""
    name = view.columns[int(view.tree.feature[view.tree.parent[v]])]
    if about.kind == "nominal":
        codes = _categories(view, v, about)
        was = value_text(about, value) if 0 <= value < len(about.categories) else "missing or new"
        words = " or ".join(value_text(about, code) for code in codes[:5])
        return Change(name, was, f"to {words}", about.categories[codes[0]])
    is_missing, (low, high) = math.isnan(value), _ends(view, v)
    is_up = low > -math.inf if is_missing else bool(value <= low)
    to = f"above {value_text(about, low)}" if is_up else f"at most {value_text(about, high)}"
    if is_missing and is_up and high < math.inf:
        to += f" and at most {value_text(about, high)}"
    new = float(np.nextafter(low, math.inf)) if is_up else high
    return Change(name, "missing" if is_missing else value_text(about, value), to, new)


def wanted_of(view: TreeView, wanted: Any, own: int) -> Callable[[int], bool] | None:
    """Return whether a node's answer will do: a class by its name, or of a number the ends (low, high) of a range.

    If none is wanted, a mean above that of the node `own`, or (None) any other class.
    """
    mean = view.mean
    if mean is None:
        if wanted is None:
            return None
        check_name("wanted", str(wanted), view.classes)
        return lambda v: view.answer(v) == str(wanted)
    if wanted is None:
        return lambda v: bool(mean[v] > mean[own])
    try:
        low, high = map(float, wanted)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"wanted={wanted!r}; the ends (low, high) of a range are needed") from error
    return lambda v: low <= float(mean[v]) <= high
