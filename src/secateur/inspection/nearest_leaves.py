"""Find, for many rows at once, the nearest leaf of a tree with a wanted prediction, and the changes that lead to it.

The result is that of `counterfactual.nearest_change` for each row. A row reaches a leaf if the value of each column
tested on the path lies in the range, or the set of categories, that all tests of the column leave. So the leaves are
compared one after another, and the costs of all rows are computed column by column. Rows that cannot improve on an
earlier leaf are dropped before the next column. Time O(rows x nodes x columns of a path), without the rows dropped.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import Array, Bools, Floats
from ..data.table import Table
from .counterfactual import MAX_COST, MIN_COST, known_codes, needed_text, range_ends
from .view import NO_NODE, TreeView, walk

__all__ = ["NearestChange", "nearest_leaves"]


@dataclass(frozen=True, eq=False)
class NearestChange:
    """The changes that lead some rows to the same leaf.

    Parameters
    ----------
    rows : array of int
        Positions of the rows.
    leaf : int
        The nearest leaf, as a node of the view.
    columns : tuple of int
        The columns that must change, in the order of the tests.
    needed : tuple of str
        For each of these columns, the values that lead to the leaf, in words.
    """

    rows: Array
    leaf: int
    columns: tuple[int, ...]
    needed: tuple[str, ...]


def nearest_leaves(
    view: TreeView,
    table: Table,
    rows: Array,
    is_target: Bools,
    *,
    may_change: set[int],
    scales: Mapping[int, float],
) -> list[NearestChange]:
    """Return the changes that lead each row to the nearest target leaf; rows without such a change are left out.

    Parameters
    ----------
    view : TreeView
        The view of a tree with tests and without surrogates.
    table : Table
        Rows in the schema of the tree.
    rows : array of int
        The rows of the table that are examined. None of them reaches a target leaf.
    is_target : array of bool
        For each node of the view, whether its prediction is wanted if it is a leaf.
    may_change : set of int
        The columns that may change.
    scales : mapping
        For each numeric column, the unit in which its changes are measured.
    """
    search = _Search(view, table, rows, may_change, scales)
    leaf_tests = list(_tests_of_leaves(view, view.tree.is_leaf & is_target))
    for leaf, tests in leaf_tests:
        search.compare(leaf, tests)
    tests_of_leaf = dict(leaf_tests)
    order = np.argsort(search.leaf, kind="stable")
    leaves, first = np.unique(search.leaf[order], return_index=True)
    changes: list[NearestChange] = []
    for leaf, chosen in zip(leaves.tolist(), np.split(order, first[1:]), strict=True):
        if leaf != NO_NODE:
            changes += search.changes_to(leaf, tests_of_leaf[leaf], chosen)
    return changes


def _tests_of_leaves(view: TreeView, is_target: Bools) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield each target leaf, and for each column tested on its path the child that the latest test led to."""
    targets = is_target.tolist()
    for v, _, latest in walk(view.tree):
        if targets[v]:
            yield v, dict(latest)


def _default_paths(view: TreeView) -> list[bool]:
    """Return for each node whether all tests of its parent's column on the path sent missing values this way."""
    tree = view.tree
    is_default_child = (view.child == tree.default[tree.parent]).tolist()
    follows_default = [True] * tree.n_nodes
    for v, previous, _ in walk(tree):
        if v:
            follows_default[v] = is_default_child[v] and (previous == NO_NODE or follows_default[previous])
    return follows_default


class _Search:
    """The nearest leaf found so far for each row: its number, its number of changes, and their cost."""

    def __init__(
        self, view: TreeView, table: Table, rows: Array, may_change: set[int], scales: Mapping[int, float]
    ) -> None:
        self.view, self.rows, self.may_change, self.scales = view, rows, may_change, scales
        self.columns = table.schema.columns
        self.values = {j: table.columns[j][rows] for j in view.tree.tested_columns.tolist()}
        self.follows_default = _default_paths(view)
        self.leaf = np.full(len(rows), NO_NODE, np.int32)
        self.n_changes = np.full(len(rows), np.iinfo(np.int64).max)
        self.cost = np.full(len(rows), np.inf)
        self._cost_of_node: dict[int, Floats] = {}

    def compare(self, leaf: int, tests: Mapping[int, int]) -> None:
        """Replace the nearest leaf of each row that is nearer to `leaf`; ties go to the leaf examined first."""
        # Neighbouring leaves share most tests, so the costs of the tests of the previous leaf are kept.
        known = self._cost_of_node
        self._cost_of_node = {v: known[v] if v in known else self._costs(j, v) for j, v in tests.items()}
        alive = np.arange(len(self.rows))
        n_changes, cost = np.zeros(len(alive), np.int64), np.zeros(len(alive))
        for v in tests.values():
            column_cost = self._cost_of_node[v][alive]
            n_changes, cost = n_changes + (column_cost > 0), cost + column_cost
            best_n, best_cost = self.n_changes[alive], self.cost[alive]
            is_nearer = (n_changes < best_n) | ((n_changes == best_n) & (cost < best_cost))
            is_nearer &= np.isfinite(cost)
            alive, n_changes, cost = alive[is_nearer], n_changes[is_nearer], cost[is_nearer]
        self.leaf[alive], self.n_changes[alive], self.cost[alive] = leaf, n_changes, cost

    def changes_to(self, leaf: int, tests: Mapping[int, int], chosen: Array) -> Iterator[NearestChange]:
        """Yield the changes that lead the chosen rows to `leaf`, by the columns that must change."""
        must_change = np.stack([self._costs(j, v, chosen) > 0 for j, v in tests.items()], axis=1)
        patterns, pattern_of_row = np.unique(must_change, axis=0, return_inverse=True)
        pattern_of_row = pattern_of_row.reshape(-1)
        for k, pattern in enumerate(patterns.tolist()):
            changed = [(j, v) for (j, v), is_changed in zip(tests.items(), pattern, strict=True) if is_changed]
            yield NearestChange(
                rows=self.rows[chosen[pattern_of_row == k]],
                leaf=leaf,
                columns=tuple(j for j, _ in changed),
                needed=tuple(needed_text(self.view, [v]) for _, v in changed),
            )

    def _costs(self, j: int, v: int, chosen: Array | None = None) -> Floats:
        """Return the cost of changing the values of column `j` so that they can reach node `v`; infinity if none can.

        The costs are those of `counterfactual._cost` for single rows.
        """
        values = self.values[j] if chosen is None else self.values[j][chosen]
        can_be_missing = self.follows_default[v]
        if self.columns[j].kind == "nominal":
            arriving = np.zeros(self.columns[j].n_codes + 1, bool)
            arriving[self.view.arriving_codes(v)] = True
            arriving[-1] = can_be_missing  # the code -1: a missing value, or an unseen category
            change = 1.0 if known_codes(self.view, v, self.columns[j]) else math.inf
            costs = np.where(arriving[values], 0.0, change)
        else:
            costs = self._numeric_costs(values.astype(np.float64), j, v, can_be_missing=can_be_missing)
        if j not in self.may_change:
            costs[costs > 0] = np.inf
        return costs

    def _numeric_costs(self, x: Floats, j: int, v: int, *, can_be_missing: bool) -> Floats:
        low, high = range_ends(self.view, v)
        is_missing = np.isnan(x)
        if not (self.view.reachable.can_be_known[v] and low < high):
            costs = np.full(len(x), np.inf)
        else:
            with np.errstate(invalid="ignore", over="ignore"):
                distance = np.where(x <= low, low - x, x - high)
                costs = np.minimum(np.maximum(distance, 0.0) / (self.scales.get(j) or 1.0), MAX_COST) + MIN_COST
            is_inside = ((low < x) & (x <= high)) | ((x == low) & (low == -np.inf))
            costs[is_inside] = 0.0
            costs[is_missing] = 1.0
        if can_be_missing:
            costs[is_missing] = 0.0
        return costs
