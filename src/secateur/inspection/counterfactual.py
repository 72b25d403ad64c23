"""Find the nearest change of a row that alters the prediction of a tree; the search is exact over all leaves.

The search goes best-first from the root. A row reaches a node only if the value of each column tested on the path lies
in a range or a set of categories (`TreeView.reachable`). These ranges and sets only become smaller on the way down, so
the cost of moving the values into them never falls. Therefore the first leaf with a wanted prediction that leaves the
queue is the nearest one. The nearest leaf requires the fewest changed columns and, among equals, the least sum of
changes, each divided by the scale of its column.
"""

import heapq
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._utils.checks import as_list, check_name
from ..core import Tree, check_no_surrogates
from ..data.table import Column, Table
from ..errors import ParameterError, show
from .view import TreeView
from .wording import value_text

__all__ = ["Change", "Counterfactual", "nearest_change"]

MAX_COST = sys.float_info.max  # a change from an infinite value costs this instead of infinity
MIN_COST = 1e-12  # a value on the wrong side of a threshold must change even if its distance is 0
MAX_CATEGORIES_LISTED = 5


@dataclass(frozen=True)
class Change:
    """The change of one column.

    Parameters
    ----------
    column : str
        The column that must change.
    value : str
        The value of the row.
    to : str
        The values that lead to the other prediction, in words: "above 3.5", "at most 2", "red or blue".
    new : object
        Of the values in `to`, the nearest one. For categories, the first one.
    """

    column: str
    value: str
    to: str
    new: object

    def __str__(self) -> str:
        return f"{self.column} {self.to} (is {self.value})"


@dataclass(frozen=True)
class Counterfactual:
    """The changes that lead to another prediction.

    Parameters
    ----------
    changes : tuple of Change
    leaf, number : int
        The leaf that the changed row reaches: `leaf` is its number in the tree that was passed to `view_of`, `number`
        its number among the shown nodes, from 1.
    prediction : str
        The prediction of that leaf.
    """

    changes: tuple[Change, ...]
    leaf: int
    number: int
    prediction: str

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.changes))} would give {self.prediction}"


@dataclass(order=True)
class _Candidate:
    """A node in the search queue, ordered by the number of changes, their sum, and the node.

    `led_to` maps each column tested on the path to the latest child that its tests led to; `costs` maps each column
    that must change to the cost of its change.
    """

    n_changes: int
    total_cost: float
    node: int
    led_to: dict[int, int] = field(compare=False)
    costs: dict[int, float] = field(compare=False)


def nearest_change(
    view: TreeView,
    table: Table,
    row: int = 0,
    *,
    actionable: Sequence[str] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
    scales: Mapping[int, float] | None = None,
) -> Counterfactual | None:
    """Return the nearest change of a row that leads to another prediction; None if there is none.

    Parameters
    ----------
    view : TreeView
        The view of a tree with tests.
    table : Table
        Rows in the schema of the tree.
    row : int
        The position of the row in the table.
    actionable : names, optional
        The columns that may change; all by default.
    is_wanted : callable, optional
        Returns whether the prediction of a node of the view is wanted. By default every prediction is wanted that
        differs from that of the row.
    scales : mapping, optional
        For each numeric column, by its number, the unit in which its changes are measured; 1 by default.

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
    tree, columns = view.tree, table.schema.columns
    check_no_surrogates(tree, "the search for the nearest change", "explain without it")
    may_change = changeable_columns(view, actionable)
    values = [column[row] for column in table.columns]
    own_prediction = None
    queue = [_Candidate(0, 0.0, 0, {}, {})]
    while queue:
        candidate = heapq.heappop(queue)
        v = candidate.node
        if not tree.is_leaf[v]:
            for child in _affordable_children(view, candidate, columns, values, may_change, scales or {}):
                heapq.heappush(queue, child)
            continue
        if own_prediction is None:  # the first leaf is that of the row itself, because it needs no change
            own_prediction = view.prediction(v)
        if view.prediction(v) != own_prediction if is_wanted is None else is_wanted(v):
            changes = tuple(_change(view, candidate.led_to[j], columns[j], values[j]) for j in candidate.costs)
            return Counterfactual(changes, int(view.node[v]), v + 1, view.prediction(v))
    return None


def _affordable_children(
    view: TreeView,
    candidate: _Candidate,
    columns: Sequence[Column],
    values: list[Any],
    may_change: set[int],
    scales: Mapping[int, float],
) -> list[_Candidate]:
    """Return the children of a candidate that the row can reach by changing allowed columns."""
    tree, v = view.tree, candidate.node
    start, child = tree.child_lists
    column = int(tree.feature[v])
    scale = scales.get(column) or 1.0
    affordable = []
    for branch, target in enumerate(child[start[v] : start[v + 1]].tolist()):
        can_be_missing = column not in candidate.costs and branch == tree.default[v]
        cost = _cost(view, target, columns[column], values[column], scale, can_be_missing=can_be_missing)
        if cost > 0 and (column not in may_change or math.isinf(cost)):
            continue
        costs = {**candidate.costs, column: cost} if cost else candidate.costs
        led_to = {**candidate.led_to, column: target}
        affordable.append(_Candidate(len(costs), sum(costs.values()), target, led_to, costs))
    return affordable


def threshold_ranges(tree: Tree) -> dict[int, float]:
    """Return for each numeric column the range of its thresholds, the unit in which changes of columns are compared.

    If a column has one threshold, the unit is the size of that threshold, or 1 if the threshold is 0.
    """
    is_numeric = (tree.feature >= 0) & (np.diff(tree.branch_start) == 0) & np.isfinite(tree.threshold)
    ranges = {}
    for column in np.unique(tree.feature[is_numeric]).tolist():
        thresholds = tree.threshold[is_numeric & (tree.feature == column)]
        ranges[column] = float(np.ptp(thresholds)) or abs(float(thresholds[0])) or 1.0
    return ranges


def _cost(view: TreeView, v: int, schema: Column, value: Any, scale: float, *, can_be_missing: bool) -> float:
    """Return the cost of changing a value so that it can reach node `v`; infinity if no value can reach the node."""
    if schema.kind == "nominal":
        reaches_node = can_be_missing if value < 0 else value in view.arriving_codes(v)
        if reaches_node:
            return 0.0
        return 1.0 if known_codes(view, v, schema) else math.inf
    x, (low, high) = float(value), range_ends(view, v)
    is_missing = math.isnan(x)
    if is_missing and can_be_missing:
        return 0.0
    if not (view.reachable.can_be_known[v] and low < high):
        return math.inf
    if is_missing:
        return 1.0
    if low < x <= high or x == low == -math.inf:
        return 0.0
    distance = low - x if x <= low else x - high
    return min(max(distance, 0.0) / scale, MAX_COST) + MIN_COST


def changeable_columns(view: TreeView, actionable: Sequence[str] | None) -> set[int]:
    """Return the positions of the columns that may change: those named in `actionable`; None stands for all."""
    if actionable is None:
        return set(range(len(view.columns)))
    names = as_list("actionable", actionable)
    for name in names:
        check_name("actionable", name, view.columns)
    return {j for j, name in enumerate(view.columns) if name in names}


def range_ends(view: TreeView, v: int) -> tuple[float, float]:
    """Return the lower and upper end of the range at node `v`: values above the lower and at most the upper end."""
    low, high = int(view.reachable.low[v]), int(view.reachable.high[v])
    threshold = view.tree.threshold
    return float(threshold[low]) if low >= 0 else -math.inf, float(threshold[high]) if high >= 0 else math.inf


def known_codes(view: TreeView, v: int, schema: Column) -> list[int]:
    """Return the codes of known categories that lead to node `v`."""
    return [code for code in view.arriving_codes(v).tolist() if code < len(schema.categories)]


def _change(view: TreeView, v: int, schema: Column, value: Any) -> Change:
    """Return the change of one column that lets a row reach node `v`."""
    name = view.columns[int(view.tree.feature[view.tree.parent[v]])]
    if schema.kind == "nominal":
        codes = known_codes(view, v, schema)
        is_known = 0 <= value < len(schema.categories)
        old = value_text(schema, value) if is_known else "missing or new"
        return Change(name, old, f"to {needed_text(view, [v])}", schema.categories[codes[0]])
    is_missing, (low, high) = math.isnan(value), range_ends(view, v)
    is_up = low > -math.inf if is_missing else bool(value <= low)
    to = f"above {value_text(schema, low)}" if is_up else f"at most {value_text(schema, high)}"
    if is_missing and is_up and high < math.inf:
        to += f" and at most {value_text(schema, high)}"
    new = float(np.nextafter(low, math.inf)) if is_up else high
    return Change(name, "missing" if is_missing else value_text(schema, value), to, new)


def needed_text(view: TreeView, children: Sequence[int]) -> str:
    """Return in words the values of a column that lead to one of some nodes.

    Parameters
    ----------
    view : TreeView
        The view of a tree with a schema.
    children : sequence of int
        Children of one node that tests the column. Several only if the column is nominal.
    """
    first = children[0]
    schema = view.column_schema(int(view.tree.feature[view.tree.parent[first]]))
    assert schema is not None
    if schema.kind == "nominal":
        return _categories_needed(schema, sorted(code for v in children for code in view.arriving_codes(v).tolist()))
    if not view.reachable.can_be_known[first]:
        return "missing"
    low, high = _sufficient_ends(view, first)
    ends = [f"above {value_text(schema, low)}"] if view.reachable.low[first] >= 0 else []
    if view.reachable.high[first] >= 0:
        ends.append(f"at most {value_text(schema, high)}")
    return " and ".join(ends) or "known"


def _sufficient_ends(view: TreeView, v: int) -> tuple[float, float]:
    """Return the ends of the range at node `v`, as short as they can be while every value between them reaches `v`.

    A shortened threshold is used if it makes the range smaller: "at most 0" for a column of whole numbers in place of
    "at most 0.5".
    """
    exact = range_ends(view, v)
    shortened = [
        float(view.tree.rounded[node]) if node >= 0 else math.nan
        for node in (view.reachable.low[v], view.reachable.high[v])
    ]
    low, high = float(np.fmax(exact[0], shortened[0])), float(np.fmin(exact[1], shortened[1]))  # NaN is ignored
    return (low, high) if low < high else exact


def _categories_needed(schema: Column, codes: Sequence[int]) -> str:
    """Return the categories with these codes in words; the code after the last category stands for missing values."""
    known = [code for code in codes if code < len(schema.categories)]
    if not known:
        return "missing" if codes else "another category"
    words = [value_text(schema, code) for code in known[:MAX_CATEGORIES_LISTED]]
    if len(known) > MAX_CATEGORIES_LISTED:
        words.append(f"{len(known) - MAX_CATEGORIES_LISTED} others")
    return " or ".join(words)


def wanted_predictions(view: TreeView, wanted: Any, leaf: int) -> Callable[[int], bool] | None:
    """Return a function that states whether the prediction of a node is wanted; None if any other class is wanted.

    Parameters
    ----------
    view : TreeView
    wanted : class, or (low, high), optional
        A class by its name; for a regression tree the ends of a range. None stands for any other class, or for a mean
        above that of `leaf`.
    leaf : int
        The leaf that the row reaches.
    """
    mean = view.mean
    if mean is None:
        if wanted is None:
            return None
        check_name("wanted", str(wanted), view.classes)
        return lambda v: view.prediction(v) == str(wanted)
    if wanted is None:
        return lambda v: bool(mean[v] > mean[leaf])
    try:
        low, high = map(float, wanted)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"wanted={show(wanted)}; the ends (low, high) of a range are needed") from error
    return lambda v: low <= float(mean[v]) <= high
