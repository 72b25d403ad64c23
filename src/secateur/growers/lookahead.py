"""Grow trees with few leaves by looking ahead: a split is scored by the best subtrees below it.

For the rows of a node, `_kernels/small_trees.py` computes the cost of the best trees with up to three leaves. Its input
is, for every two splits, the weight of the rows of each class that go left at both splits. Each split of a node is
scored by the best subtrees with up to three leaves in both children. A tree with up to four leaves is therefore the
best tree that can be formed from the splits. A larger tree is not always the best one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._kernels import growing, structure
from .._kernels.small_trees import best_small_trees
from .._utils.arrays import Array, Floats
from ..core import Counts, Tree
from ..data.table import Table
from ..routing import with_growing_rows
from .kernel_arguments import scale_weights
from .lookahead_split import ColumnCodes, LookaheadSplit, lookahead_splits
from .prepared_columns import columns_by_code
from .tree_assembly import AssemblyOptions, RowValues, assemble_tree
from .tree_tables import N_SCORES, GrownTables

MIN_LEAVES = 2
MAX_LEAVES = 8  # With more leaves, greedy growth is as good.
MAX_ROWS = 100_000
MAX_CELLS = 10_000_000  # Rows times columns.
MAX_SUBTREE_LEAVES = 3  # Leaves of the subtrees in each child by which a split is scored.
MAX_SCORED_LEAVES = 2 * MAX_SUBTREE_LEAVES
# Leaves of the left and the right child, in the order in which they are tried.
LEAF_DIVISIONS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3))
COST_TIE = 1e-9  # Costs, in rows, that differ by less are tied.


def can_look_ahead(table: Table, n_leaves: int) -> bool:
    """Return whether the table is small enough, and the number of leaves low enough, for lookahead."""
    n = table.n_rows
    return MIN_LEAVES <= n_leaves <= MAX_LEAVES and n <= MAX_ROWS and n * table.n_columns <= MAX_CELLS


def grow_with_lookahead(table: Table, weight: Array | None, n_leaves: int, trees: Iterable[Tree] = ()) -> Counts | None:
    """Return the counts of a tree with few errors and a given number of leaves; None if the search finds none.

    Parameters
    ----------
    table : Table
        The rows, with classes.
    weight : array, optional
        Weight of each row, above 0; None if every row weighs 1.
    n_leaves : int
        Number of leaves, from 2 to 8.
    trees : iterable of Tree
        Trees grown on the same table. The search tries their splits too.
    """
    weight, is_whole, exponent = scale_weights(weight)
    codes = ColumnCodes(table)
    splits = lookahead_splits(codes, weight, trees)
    grown = _LookaheadSearch(table, weight, splits).run(n_leaves) if splits else None
    if grown is None:
        return None
    columns = columns_by_code(
        np.array([column.n_codes for column in table.schema.columns], np.int64),
        np.array([column.kind == "nominal" for column in table.schema.columns]),
        codes.column_values,
    )
    options = AssemblyOptions(is_whole=is_whole, weight_exponent=exponent)
    _, counts = assemble_tree(grown, columns, RowValues(table), options)
    return with_growing_rows(counts, table)  # type: ignore[no-any-return]


_NO_SPLIT = LookaheadSplit(-1, np.zeros(0, np.bool_), 0)


@dataclass
class _SearchNode:
    """A node of the tree that the search builds.

    Parameters
    ----------
    parent : int
        Number of the parent; -1 for the root.
    leaf_weights : array of float
        Weight of each class at a leaf; 0 at other nodes.
    split : LookaheadSplit
        `_NO_SPLIT` at a leaf.
    first_child : int
        Number of the left child, before that of the right child; 0 at a leaf.
    """

    parent: int
    leaf_weights: Floats
    split: LookaheadSplit = _NO_SPLIT
    first_child: int = 0


class _SplitChoice(NamedTuple):
    """The number of the split of a node, and the numbers of leaves of its left and right child."""

    split: int
    n_left: int
    n_right: int


class _NodeCosts(NamedTuple):
    """The lowest costs of the subtrees of a node.

    Parameters
    ----------
    cost : array of float
        `cost[n]` is the lowest cost of a subtree with n leaves, from 1 to 6; infinite if there is no such subtree.
    choices : dict from int to _SplitChoice
        The split at the root of that subtree, by its number of leaves, from 2.
    """

    cost: Floats
    choices: dict[int, _SplitChoice]


class _PairCounts(NamedTuple):
    """Weights of the rows of a node.

    Parameters
    ----------
    by_pair : array of float, shape (n_splits, n_splits, n_classes)
        `by_pair[s, t, c]` is the weight of the rows of class c that go left at split s and at split t.
    total : array of float
        Weight of all rows of each class.
    """

    by_pair: Floats
    total: Floats


class _LookaheadSearch:
    """The search for one tree."""

    def __init__(self, table: Table, weight: Array | None, splits: list[LookaheadSplit]) -> None:
        assert table.schema.classes is not None
        self.splits, self.target, self.n_rows = splits, table.required_target, table.n_rows
        self.n_classes = len(table.schema.classes)
        self.goes_left = np.column_stack([split.goes_left for split in splits])
        # Sums of whole numbers are exact; in float32 up to 2**24, which is more than the number of rows.
        self.weight = None if weight is None else weight.astype(np.float64)
        self.number_type: Any = np.float32 if weight is None else np.float64
        total = float(table.n_rows if weight is None else weight.sum())
        self.impurity_unit = (
            0.5 / total
        )  # Impurity only breaks ties: even the impurity of all rows costs less than one error.

    def run(self, n_leaves: int) -> GrownTables | None:
        """Return the tables of a tree with `n_leaves` leaves; None if a node that must be split has no split."""
        no_weights = np.zeros(self.n_classes)
        nodes = [_SearchNode(-1, no_weights)]
        waiting = [(0, np.arange(self.n_rows), n_leaves)]
        while waiting:
            v, rows, n_node_leaves = waiting.pop()
            if n_node_leaves == 1:
                nodes[v].leaf_weights = self._class_weights(rows)
                continue
            choice = self._choose_split(rows, n_node_leaves)
            if choice is None:
                return None
            left, right = len(nodes), len(nodes) + 1
            nodes[v].split = self.splits[choice.split]
            nodes[v].first_child = left
            nodes += [_SearchNode(v, no_weights), _SearchNode(v, no_weights)]
            goes_left = self.goes_left[rows, choice.split]
            waiting.append((left, rows[goes_left], choice.n_left))
            waiting.append((right, rows[~goes_left], choice.n_right))
        parent = np.array([node.parent for node in nodes])
        first_child = np.array([node.first_child for node in nodes])
        leaf_weights = np.array([node.leaf_weights for node in nodes])
        by_class = structure.sum_upwards(parent.astype(np.int32), leaf_weights)
        return _tables(parent, [node.split for node in nodes], first_child, by_class)

    def _class_weights(self, rows: Array) -> Floats:
        """Return the weight of each class among rows, from their numbers."""
        weight = None if self.weight is None else self.weight[rows]
        return np.bincount(self.target[rows], weight, minlength=self.n_classes).astype(float)

    def _choose_split(self, rows: Array, n_leaves: int) -> _SplitChoice | None:
        """Return the split of a node whose subtree shall have `n_leaves` leaves, 2 or more; None if none is found."""
        if n_leaves <= MAX_SUBTREE_LEAVES:
            return self._choose_for_three(rows, n_leaves)
        best = self._node_costs(rows)
        n_scored = min(n_leaves, MAX_SCORED_LEAVES)
        if n_scored not in best.choices:
            return None
        choice = best.choices[n_scored]
        if n_leaves <= MAX_SUBTREE_LEAVES + 1:
            return choice
        # The score allowed at most three leaves per child. Now the best division of all leaves is chosen.
        goes_left = self.goes_left[rows, choice.split]
        n_of_child = np.minimum(np.arange(n_leaves), MAX_SCORED_LEAVES)
        left, right = (self._node_costs(rows[side]).cost[n_of_child] for side in (goes_left, ~goes_left))
        cost_of_division = left[1:] + right[:0:-1]  # Element i: i + 1 leaves on the left, the others on the right.
        n_left = 1 + int(cost_of_division.argmin())
        return _SplitChoice(choice.split, n_left, n_leaves - n_left)

    def _choose_for_three(self, rows: Array, n_leaves: int) -> _SplitChoice | None:
        """Return the split of a node whose subtree shall have two or three leaves; None if none is found."""
        _, (split_of_two, split_of_three, second_on_left, _) = best_small_trees(
            *self._pair_counts(rows), self.impurity_unit
        )
        if n_leaves == 2:
            return None if split_of_two < 0 else _SplitChoice(int(split_of_two), 1, 1)
        if split_of_three < 0:
            return None
        n_left, n_right = (2, 1) if second_on_left >= 0 else (1, 2)
        return _SplitChoice(int(split_of_three), n_left, n_right)

    def _node_costs(self, rows: Array) -> _NodeCosts:
        """Return the lowest costs of the subtrees of a node from the numbers of its rows."""
        counts = self._pair_counts(rows)
        cost = np.full(MAX_SCORED_LEAVES + 1, np.inf)
        choices: dict[int, _SplitChoice] = {}
        cost[1] = best_small_trees(*counts, self.impurity_unit)[0][0]
        for split in range(len(self.splits)):
            goes_left = self.goes_left[rows, split]
            n_left_rows = np.count_nonzero(goes_left)
            if n_left_rows in (0, len(rows)):
                continue
            left, right = self._child_costs(rows, goes_left, counts)
            for n_left, n_right in LEAF_DIVISIONS:
                n_leaves = n_left + n_right
                total_cost = left[n_left - 1] + right[n_right - 1]
                if total_cost < cost[n_leaves] - COST_TIE:
                    cost[n_leaves] = total_cost
                    choices[n_leaves] = _SplitChoice(split, n_left, n_right)
        return _NodeCosts(cost, choices)

    def _child_costs(self, rows: Array, goes_left: Array, counts: _PairCounts) -> tuple[Floats, Floats]:
        """Return the lowest costs of the left and the right child with one to three leaves.

        Only the rows of the smaller child are counted. The counts of the larger child are the difference to the node.
        """
        is_left_smaller = 2 * np.count_nonzero(goes_left) <= len(rows)
        counted = self._pair_counts(rows[goes_left] if is_left_smaller else rows[~goes_left])
        other = _PairCounts(counts.by_pair - counted.by_pair, counts.total - counted.total)
        left, right = (counted, other) if is_left_smaller else (other, counted)
        return best_small_trees(*left, self.impurity_unit)[0], best_small_trees(*right, self.impurity_unit)[0]

    def _pair_counts(self, rows: Array) -> _PairCounts:
        """Return the class weights of the rows of a node, from their numbers."""
        by_pair = np.empty((len(self.splits), len(self.splits), self.n_classes))
        total = np.zeros(self.n_classes)
        for c in range(self.n_classes):
            of_class = rows[self.target[rows] == c]
            goes_left = self.goes_left[of_class].astype(self.number_type)
            weight = None if self.weight is None else self.weight[of_class]
            total[c] = len(of_class) if weight is None else weight.sum()
            by_pair[:, :, c] = goes_left.T @ (goes_left if weight is None else goes_left * weight[:, None])
        return _PairCounts(by_pair, total)


def _tables(parent: Array, splits: list[LookaheadSplit], first_child: Array, by_class: Floats) -> GrownTables:
    """Return the tables of a tree. The drops stay 0, because only best-first growth reads them."""
    n_nodes = len(parent)
    is_split = np.array([split.feature >= 0 for split in splits])
    is_nominal = np.array([len(split.branch) > 0 for split in splits])
    branch_start = np.append(0, np.cumsum([len(split.branch) for split in splits]))[:-1]
    nodes = np.zeros((n_nodes, growing.N_FIELDS), np.int64)
    nodes[:, growing.SLOT] = [split.feature for split in splits]
    nodes[:, growing.KIND] = np.where(is_nominal, growing.SUBSET, growing.NUMERIC)
    nodes[:, growing.FIRST_CHILD], nodes[:, growing.N_CHILDREN] = first_child, 2
    nodes[:, growing.BELOW] = [split.below for split in splits]
    nodes[:, growing.ABOVE] = [split.above for split in splits]
    nodes[:, growing.DEFAULT_CHILD] = [split.default for split in splits]
    nodes[:, growing.BRANCH_START] = np.where(is_nominal, branch_start, -1)
    nodes[:, growing.SPLIT_STEP] = np.where(is_split, 0, -1)
    reals = np.zeros((n_nodes, by_class.shape[1] + N_SCORES))
    reals[:, :-N_SCORES] = by_class
    reals[:, -N_SCORES] = _scores(parent, by_class)
    return GrownTables(nodes, reals, np.concatenate([split.branch for split in splits]))


def _scores(parent: Array, by_class: Floats) -> Floats:
    """Return the drop of the Gini impurity at the split of each node, per row."""
    total = by_class.sum(axis=1)
    impurity = total - (by_class * by_class).sum(axis=1) / total
    of_children = np.bincount(parent[1:], impurity[1:], minlength=len(parent))
    scores: Floats = (impurity - of_children) / total
    return scores
