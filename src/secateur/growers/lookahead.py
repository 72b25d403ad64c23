"""Grow trees with few leaves by looking ahead: a split is scored by the best subtrees below it.

The search chooses among a limited number of splits, because it takes long. They are thresholds at quantiles, single
categories, sets of categories, and the splits of trees that were grown greedily on the same rows.

For the rows of a node, `_kernels/small_trees.py` computes the cost of the best trees with up to three leaves. Its input
is, for every two splits, the weight of the rows of each class that go left at both splits. Each split of a node is
scored by the best subtrees with up to three leaves in both children. A tree with up to four leaves is therefore the
best tree that can be formed from the splits. A larger tree is not always the best one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._kernels import growing, structure
from .._kernels.small_trees import best_small_trees
from .._utils.arrays import Array, Floats
from ..core import Counts, Tree
from ..data.table import Table
from ..routing import with_growing_rows
from .prepared_columns import columns_by_code
from .presort import ColumnValues
from .presorted_data import scale_weights
from .tree_tables import N_SCORES, AssemblyOptions, GrownTables, RowValues, assemble_tree

MIN_LEAVES = 2
MAX_LEAVES = 8  # With more leaves, greedy growth is as good.
MAX_ROWS = 100_000
MAX_CELLS = 10_000_000  # Rows times columns.
MAX_SUBTREE_LEAVES = 3  # Leaves of the subtrees in each child by which a split is scored.
MAX_SCORED_LEAVES = 2 * MAX_SUBTREE_LEAVES
# Leaves of the left and the right child, in the order in which they are tried.
LEAF_DIVISIONS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3))
COST_TIE = 1e-9  # Costs, in rows, that differ by less are tied.
MAX_CUBED_SPLITS_TIMES_ROWS = 1 << 31  # Limits the time per node to a few tenths of a second.
MIN_SPLITS, MAX_SPLITS = 8, 128  # Limits of the number of splits that are tried.
N_THRESHOLDS = 5  # Thresholds of a numeric column.
MAX_SINGLE_CATEGORIES = 10  # Frequent categories of a column, each of which is split from the rest.
QUANTILE_SLACK = 1 - 1e-12  # Quantiles are lowered by this factor, so that rounding does not pass over a value.
MIN_WEIGHT = 1e-300  # Replaces the weight 0 of empty children in divisions.
NO_BRANCH = np.zeros(0, np.uint16)


class LookaheadSplit(NamedTuple):
    """A binary split of the rows of a table.

    Parameters
    ----------
    feature : int
        The column.
    goes_left : array of bool
        Whether each row goes to child 0.
    default : int
        The child of missing values and of categories that do not occur.
    below, above : int
        Numeric splits: codes of the values around the threshold in `ColumnCodes.values`.
    branch : array of uint16
        Nominal splits: child of each category.
    """

    feature: int
    goes_left: Array
    default: int
    below: int = -1
    above: int = -1
    branch: Array = NO_BRANCH


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """The different values of the numeric columns of a table; the code of a value is its position.

    The last value of every column is an additional infinity. A split of present from missing values has this value on
    both sides of its threshold.

    Parameters
    ----------
    table : Table
    """

    table: Table

    @cached_property
    def values(self) -> dict[int, Floats]:
        """The ascending values of each numeric column, and infinity."""
        return {
            j: np.append(np.unique(self.table.columns[j][~np.isnan(self.table.columns[j])].astype(np.float64)), np.inf)
            for j, column in enumerate(self.table.schema.columns)
            if column.kind == "numeric"
        }

    @property
    def column_values(self) -> dict[int, ColumnValues]:
        """The values of each numeric column as tree assembly reads them."""
        return {j: ColumnValues(values, values) for j, values in self.values.items()}

    def infinity_code(self, feature: int) -> int:
        """Return the code of the additional infinity of a column."""
        return len(self.values[feature]) - 1


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


def lookahead_splits(codes: ColumnCodes, weight: Array | None, trees: Iterable[Tree]) -> list[LookaheadSplit]:
    """Return the splits to choose from, ordered by column: the splits of the trees, and the purest other splits.

    Parameters
    ----------
    codes : ColumnCodes
        The codes of the table, which has classes.
    weight : array, optional
        Weight of each row; None if every row weighs 1.
    trees : iterable of Tree
        Trees grown on the table.
    """
    table = codes.table
    assert table.schema.classes is not None
    row_weight = np.ones(table.n_rows) if weight is None else weight
    of_class = np.zeros((table.n_rows, len(table.schema.classes)))
    of_class[np.arange(table.n_rows), table.required_target] = row_weight
    splits = [split for tree in trees for split in _tree_splits(tree, codes)]
    n_tree_splits = len(splits)
    for j, column in enumerate(table.schema.columns):
        if column.kind == "numeric":
            splits += _threshold_splits(j, codes, row_weight)
        else:
            splits += _category_splits(j, table.columns[j], column.n_codes, of_class)
    purity = _purities(splits, of_class)
    purity[:n_tree_splits] = np.inf
    return _purest_different(splits, purity, table.n_rows)


def _tree_splits(tree: Tree, codes: ColumnCodes) -> list[LookaheadSplit]:
    """Return the splits of a tree that was grown on the table of `codes`."""
    splits = []
    for v in tree.internal:
        feature, default = int(tree.feature[v]), int(tree.default[v])
        column, branch = codes.table.columns[feature], tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        if len(branch):
            splits.append(LookaheadSplit(feature, branch[column] == 0, default, branch=branch))
            continue
        is_below = column <= tree.threshold[v]
        above = int(np.searchsorted(codes.values[feature][:-1], tree.threshold[v], side="right"))
        below = above - 1
        if above == codes.infinity_code(feature):  # All present values are below the threshold.
            below = above
        splits.append(LookaheadSplit(feature, is_below | (np.isnan(column) & (default == 0)), default, below, above))
    return splits


def _threshold_splits(feature: int, codes: ColumnCodes, weight: Array) -> list[LookaheadSplit]:
    """Return the splits of a numeric column at quantiles, and the split of present from missing values."""
    column, values = codes.table.columns[feature], codes.values[feature][:-1]
    is_missing = np.isnan(column)
    is_present = ~is_missing
    splits = []
    if is_missing.any():
        infinity = codes.infinity_code(feature)
        splits.append(LookaheadSplit(feature, is_present, 1, infinity, infinity))
    code = np.searchsorted(values, column[is_present].astype(np.float64))
    for i in _quantile_positions(np.bincount(code, weight[is_present], minlength=len(values))).tolist():
        is_below = column <= values[i]
        default = int(2 * weight[is_below].sum() < weight[is_present].sum())
        splits.append(LookaheadSplit(feature, is_below | (is_missing & (default == 0)), default, i, i + 1))
    return splits


def _category_splits(feature: int, column: Array, n_codes: int, of_class: Floats) -> list[LookaheadSplit]:
    """Return splits of a nominal column: single frequent categories, and sets with a low share of a class."""
    class_weights = np.array([np.bincount(column, weights, minlength=n_codes) for weights in of_class.T])
    total = class_weights.sum(axis=0)
    present = np.flatnonzero(total)
    by_weight = np.argsort(-total[present], kind="stable")
    sets = [present[i : i + 1] for i in by_weight[:MAX_SINGLE_CATEGORIES]]
    for weights in class_weights if len(class_weights) > 2 else class_weights[:1]:
        by_share = present[np.argsort(weights[present] / total[present], kind="stable")]
        sets += [by_share[: i + 1] for i in _quantile_positions(total[by_share])]
    splits = []
    for categories in sets:
        is_left = np.isin(np.arange(n_codes), categories)
        default = int(2 * total[is_left].sum() < total.sum())
        branch = np.where(total > 0, ~is_left, default).astype(np.uint16)
        splits.append(LookaheadSplit(feature, branch[column] == 0, default, branch=branch))
    return splits


def _quantile_positions(weight: Array) -> Array:
    """Return the positions after which to cut a list of weights, so that the pieces weigh about the same.

    A short list is cut after every position but the last.
    """
    if len(weight) <= N_THRESHOLDS + 1:
        return np.arange(len(weight) - 1)
    reached = np.cumsum(weight)
    shares = np.arange(1, N_THRESHOLDS + 1) / (N_THRESHOLDS + 1) * QUANTILE_SLACK
    positions: Array = np.unique(np.searchsorted(reached, shares * reached[-1]))
    return positions[positions < len(weight) - 1]


def _purities(splits: list[LookaheadSplit], of_class: Floats) -> Floats:
    """Return the purity of each split: the squared class weights of a child over its weight, summed over children."""
    left = np.array([of_class[split.goes_left].sum(axis=0) for split in splits]).reshape(-1, of_class.shape[1])
    children = left, of_class.sum(axis=0) - left
    purity: Floats = sum((child * child).sum(axis=1) / np.maximum(child.sum(axis=1), MIN_WEIGHT) for child in children)
    return purity


def _purest_different(splits: list[LookaheadSplit], purity: Floats, n_rows: int) -> list[LookaheadSplit]:
    """Return the purest splits of which no two divide the rows in the same way; `n_rows` limits their number."""
    n_affordable = np.cbrt(MAX_CUBED_SPLITS_TIMES_ROWS / n_rows)
    max_splits = int(np.clip(n_affordable, MIN_SPLITS, MAX_SPLITS))
    kept: dict[bytes, int] = {}
    for i in np.argsort(-purity, kind="stable").tolist():
        goes_left = splits[i].goes_left
        if goes_left.any() and not goes_left.all() and len(kept) < max_splits:
            division = np.packbits(goes_left ^ goes_left[0]).tobytes()  # The same bytes if the children are swapped.
            kept.setdefault(division, i)
    return [splits[i] for i in sorted(kept.values(), key=lambda i: (splits[i].feature, i))]


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
        # Impurity only breaks ties: with this factor, even the impurity of all rows costs less than one error.
        self.impurity_unit = 0.5 / total

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
