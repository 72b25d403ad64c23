"""The splits that a node of a tree could have: the best one of each column, ranked as the grower compares them.

The best split of a column is found by the grower itself, on a table of this column only (`GrowingRows.grow_one_split`).
Thresholds, missing values, limits on the size of children and monotone constraints are therefore those of growing. The
first split of the list is the one that the grower would choose: splits within 1e-12 of the impurity of the node are
tied, and the lowest column wins a tie.

Further thresholds of a numeric column, and splits that a user states, are scored by `NodeRows.score`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from .._kernels.criteria import CriterionSpec, impurity
from .._utils.arrays import Array, Floats, Ints
from ..core import Tree
from ..data.table import Table
from ..routing import route_table
from . import CRITERIA
from .monotone import column_signs, limits_of_children
from .parameters import WEIGHT_TOLERANCE, GrowParameters
from .subtree import GrowingRows, SubtreeStart, find_start, leaves_of, rows_at
from .tree_tables import shortest_decimals

RELATIVE_TIE = 1e-12  # Scores that differ by less than this share of the impurity of the node are tied, as in growing.
BITS_PER_ENTROPY = 2  # The criterion "entropy" is half the entropy in bits.


class ScoredSplit(NamedTuple):
    """A split of one node, and how good it is.

    Parameters
    ----------
    stump : Tree
        The tree of this split alone.
    gain : float
        Decrease of the criterion by the split, per unit of weight. With the gain ratio, the ratio.
    weights : tuple of float
        Weight of the rows in each child; without weights, their number.
    is_current : bool
        Whether the tree has this split at the node.
    """

    stump: Tree
    gain: float
    weights: tuple[float, ...]
    is_current: bool = False

    @property
    def feature(self) -> int:
        """The number of the column."""
        return int(self.stump.feature[0])

    @property
    def threshold(self) -> float:
        """The threshold; NaN for a nominal column, infinite where present values are split from missing ones."""
        return float(self.stump.threshold[0])


@dataclass(frozen=True)
class NodeRows:
    """The rows of one node, on which its splits are scored.

    Parameters
    ----------
    growing : GrowingRows
        All rows on which splits are compared.
    rows : array of int
        Numbers of the rows of the node.
    parameters : GrowParameters
    start : SubtreeStart
    """

    growing: GrowingRows
    rows: Array
    parameters: GrowParameters
    start: SubtreeStart

    @classmethod
    def of(
        cls, tree: Tree, node: int, growing: GrowingRows, parameters: GrowParameters, leaf: Ints | None = None
    ) -> "NodeRows":
        """Return the rows of a node of a tree; `leaf` is the leaf of each growing row, if it is known."""
        leaf = leaves_of(tree, growing.table) if leaf is None else leaf
        start = find_start(tree, node, parameters, growing.table.schema)
        return cls(growing, rows_at(tree, leaf, node), parameters, start)

    @property
    def table(self) -> Table:
        """The table of all growing rows."""
        return self.growing.table

    @cached_property
    def _centre(self) -> float:
        """A number near the targets of the node; differences from it keep their digits when they are squared."""
        return float(self.table.required_target[self.rows].mean())

    def sums(self, rows: Array) -> Floats:
        """Return one line per row, whose sums over any rows determine their impurity.

        With classes, the line has the weight of the row in the column of its class. With numbers it has the weight, and
        the weight times the target and times its square.
        """
        target, weight = self.table.required_target[rows], self.growing.weights(rows)
        classes = self.table.schema.classes
        if classes is None:
            centred = target - self._centre
            return np.column_stack([weight, weight * centred, weight * centred**2])
        lines = np.zeros((len(rows), len(classes)))
        lines[np.arange(len(rows)), target] = weight
        return lines

    def impurity(self, sums: Floats) -> float:
        """Return the criterion times the weight of some rows, given the sum of their lines."""
        if self.table.schema.classes is None:
            weight, first, second = sums.tolist()
            return max(second - first * first / weight, 0.0) if weight > 0 else 0.0
        name = CRITERIA[self.parameters.criterion].impurity or self.parameters.criterion
        return float(impurity(CriterionSpec(name), sums, float(sums.sum())))

    def weight_of(self, sums: Floats) -> float:
        """Return the weight of some rows, given the sum of their lines."""
        return float(sums[0] if self.table.schema.classes is None else sums.sum())

    def sizes(self, rows: Array) -> float:
        """Return the size of some rows as the limits on the size of leaves count it: their number, or their weight."""
        scaled = self.growing.scaled
        if scaled.weight is None or not (scaled.is_whole or self.parameters.min_weight_fraction_leaf):
            return float(len(rows))
        return float(self.growing.weights(rows).sum())

    @property
    def min_leaf_size(self) -> float:
        """The smallest size of a leaf, in the unit of `sizes`."""
        parameters = self.parameters
        minimum = parameters.min_weight_fraction_leaf * (1 - WEIGHT_TOLERANCE) * self.growing.total
        has_weights = bool(parameters.min_weight_fraction_leaf) and not self.growing.scaled.is_whole
        return minimum if has_weights else max(minimum, float(parameters.min_samples_leaf))

    def refuse(self, children: list[Array], feature: int, threshold: float) -> str:
        """Return why the grower would not split the rows into these children; empty if it could.

        Parameters
        ----------
        children : list of arrays of int
            The rows of each child.
        feature : int
        threshold : float
            NaN for a nominal column.
        """
        smallest = min(self.sizes(child) for child in children)
        if smallest < self.min_leaf_size:
            return (
                f"a child would have {smallest:,.6g} rows, and min_samples_leaf (or min_weight_fraction_leaf) allows "
                f"no fewer than {self.min_leaf_size:,.6g}"
            )
        sign = self.sign_of(feature, threshold)
        if sign == 0:
            return ""
        estimates = [self.growing.estimate(child) for child in children]
        lower, upper = self.start.estimate_limits
        if any(not lower <= estimate <= upper for estimate in estimates):
            return f"monotonic_cst limits the estimates below this node to {lower:.6g} to {upper:.6g}"
        if sign * (estimates[-1] - estimates[0]) < 0:
            return (
                f"monotonic_cst is {sign} for {self.table.schema.names[feature]}, and the estimates have another order"
            )
        return ""

    def sign_of(self, feature: int, threshold: float) -> int:
        """Return the monotone constraint on the order of the children of a split; 0 for none."""
        if self.parameters.monotonic_cst is None or not np.isfinite(threshold):
            return 0
        signs = column_signs(self.parameters.monotonic_cst, self.table.schema)
        return signs[feature] if signs else 0

    def limited(self, stump: Tree) -> Tree:
        """Return the tree of a split of the node with the limits of its estimates, below those of the node."""
        limits = np.array(self.start.estimate_limits)
        sign = self.sign_of(int(stump.feature[0]), float(stump.threshold[0]))
        of_children = np.tile(limits, (stump.n_nodes - 1, 1))
        if sign:
            left, right = (self.growing.estimate(child) for child in self.children_of(stump))
            of_children = limits_of_children(limits, sign, (left, right))
        return replace(stump, estimate_limits=np.vstack([limits, of_children]))

    def gain(self, feature: int, children: Sequence[Floats]) -> float:
        """Return the decrease of the criterion by a split, per unit of weight; for the gain ratio, the ratio.

        Parameters
        ----------
        feature : int
        children : sequence of arrays
            The sum of the lines of the rows of each child.
        """
        weights = np.array([self.weight_of(child) for child in children])
        total = float(weights.sum())
        parent: Floats = np.sum(children, axis=0)
        drop = (self.impurity(parent) - sum(self.impurity(child) for child in children)) / total
        if not CRITERIA[self.parameters.criterion].is_ratio:
            return drop
        bits = BITS_PER_ENTROPY * drop
        if self.parameters.penalise_numeric and self.table.schema.columns[feature].kind == "numeric":
            values = self.table.columns[feature][self.rows]
            n_values = len(np.unique(values[~np.isnan(values)])) + bool(np.isnan(values).any())
            bits -= float(np.log2(max(n_values - 1, 1))) / total
        information = split_information(weights)
        return bits / information if information > 0 else 0.0  # a child of a stated split may have no rows

    def children_of(self, stump: Tree) -> list[Array]:
        """Return the numbers of the rows that each child of a split gets."""
        leaf = route_table(stump, self.table, self.rows, 0)
        return [self.rows[leaf == child] for child in stump.children(0)]

    def score(self, stump: Tree, *, is_current: bool = False) -> ScoredSplit:
        """Return a split with its gain, computed from the rows of its children."""
        feature, children = int(stump.feature[0]), self.children_of(stump)
        gain = self.gain(feature, [self.sums(child).sum(axis=0) for child in children])
        return ScoredSplit(stump, gain, self._weights(children), is_current)

    def best_of_column(self, feature: int) -> ScoredSplit | None:
        """Return the best split of a column, as the grower finds it; None if the column has none."""
        stump = self.growing.grow_one_split(self.rows, feature, self.parameters, self.start)
        if stump.n_nodes == 1:
            return None
        return ScoredSplit(stump, float(stump.score[0]), self._weights(self.children_of(stump)))

    def _weights(self, children: list[Array]) -> tuple[float, ...]:
        """Return the weight of the rows of each child."""
        scaled = [float(self.growing.weights(child).sum()) for child in children]
        return tuple(float(np.ldexp(weight, self.growing.scaled.exponent)) for weight in scaled)

    def more_thresholds(self, best: ScoredSplit, n_more: int) -> list[ScoredSplit]:
        """Return the best thresholds of a numeric column after the best one; missing values go to the better side."""
        bins = self.growing.bins(self.parameters)
        column = bins.table.columns[best.feature][self.rows]
        is_missing = np.isnan(column)
        present = self.rows[~is_missing][np.argsort(column[~is_missing], kind="stable")]
        values, missing = bins.table.columns[best.feature][present], self.rows[is_missing]
        below = self.sums(present).cumsum(axis=0)
        of_missing, scored = self.sums(missing).sum(axis=0), []
        for last in np.flatnonzero(values[:-1] < values[1:]).tolist():
            left, right = below[last], below[-1] - below[last]
            threshold = bins.threshold(best.feature, values[last], values[last + 1])
            if len(missing):
                scored.append((self.gain(best.feature, [left + of_missing, right]), threshold, 0))
                scored.append((self.gain(best.feature, [left, right + of_missing]), threshold, 1))
            else:
                is_smaller = self.weight_of(right) > self.weight_of(left)
                scored.append((self.gain(best.feature, [left, right]), threshold, int(is_smaller)))
        if len(missing) and len(present):
            scored.append((self.gain(best.feature, [below[-1], of_missing]), np.inf, 1))
        found: list[ScoredSplit] = []
        known = {best.threshold}
        for gain, threshold, default in sorted(scored, key=lambda item: (-item[0], item[1])):
            if gain <= 0 or len(found) == n_more:
                break
            if threshold in known:
                continue
            stump = make_stump(self.table, best.feature, threshold=threshold, default=default, rows=self.rows)
            if not self.refuse(self.children_of(stump), best.feature, threshold):
                known.add(threshold)
                found.append(self.score(stump))
        return found


def split_information(weights: Floats) -> float:
    """Return the entropy, in bits, of the shares of the rows that go to the children."""
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())


def make_stump(
    table: Table,
    feature: int,
    *,
    rows: Array,
    default: int,
    threshold: float = np.nan,
    branch: Array | None = None,
    n_children: int = 2,
    score: float = np.nan,
) -> Tree:
    """Return the tree of a single split.

    Parameters
    ----------
    table : Table
    feature : int
        Number of the column.
    rows : array of int
        Numbers of the rows of the node; the threshold that displays show is the shortest that divides them alike.
    default : int
        The child of missing and unseen values.
    threshold : float
        For a numeric column.
    branch : array of int, optional
        For a nominal column: the child of each category.
    n_children : int
    score : float
    """
    values = table.columns[feature][rows]
    rounded = np.nan
    if branch is None:
        low, high = values[values <= threshold], values[values > threshold]
        rounded = threshold
        if np.isfinite(threshold) and len(low) and len(high):
            limits = np.array([low.max()], np.float64), np.array([threshold]), np.array([high.min()], np.float64)
            rounded = float(shortest_decimals(*limits)[0])
    n_nodes = n_children + 1
    blank = np.full(n_children, np.nan)
    branch = np.zeros(0, np.uint16) if branch is None else branch
    return Tree(
        np.array([-1] + [0] * n_children),
        feature=np.array([feature] + [-1] * n_children),
        threshold=np.append(threshold, blank),
        rounded=np.append(rounded, blank),
        branch_start=np.append(0, np.full(n_nodes, len(branch))),
        branch=branch,
        default=np.append(default, np.zeros(n_children, np.int32)),
        score=np.append(score, blank),
        schema=table.schema,
    )


def split_of(tree: Tree, node: int, table: Table, rows: Array) -> Tree:
    """Return the split of an internal node of a tree as a tree of its own."""
    branch = tree.branch[tree.branch_start[node] : tree.branch_start[node + 1]]
    return make_stump(
        table,
        int(tree.feature[node]),
        rows=rows,
        default=int(tree.default[node]),
        threshold=float(tree.threshold[node]),
        branch=branch if len(branch) else None,
        n_children=int(tree.arity[node]),
        score=float(tree.score[node]),
    )


def rank_splits(tree: Tree, node: int, of_node: NodeRows, *, per_column: int = 1) -> list[ScoredSplit]:
    """Return the splits that a node could have, the best first.

    Parameters
    ----------
    tree : Tree
    node : int
    of_node : NodeRows
        The growing rows of the node.
    per_column : int
        Maximum number of thresholds of one numeric column.
    """
    if not len(of_node.rows):  # a multiway split has an empty child for every category without rows
        return []
    found = [split for j in of_node.start.columns if (split := of_node.best_of_column(j)) is not None]
    best_of_columns = list(found)
    for split in best_of_columns if per_column > 1 else ():
        if of_node.table.schema.columns[split.feature].kind == "numeric":
            found += of_node.more_thresholds(split, per_column - 1)
    if tree.feature[node] >= 0:
        found = _with_current(found, split_of(tree, node, of_node.table, of_node.rows), of_node)
    return _in_rank_order(found, best_of_columns, of_node)


def _with_current(found: list[ScoredSplit], current: Tree, of_node: NodeRows) -> list[ScoredSplit]:
    """Return the splits with the one that the tree has marked; it is added if it is not among them."""
    children = [child.tolist() for child in of_node.children_of(current)]
    for i, split in enumerate(found):
        if split.feature == current.feature[0] and _is_same_division(of_node.children_of(split.stump), children):
            return [*found[:i], split._replace(is_current=True), *found[i + 1 :]]
    return [*found, of_node.score(current, is_current=True)]


def _is_same_division(children: list[Array], others: list[list[int]]) -> bool:
    return [child.tolist() for child in children] == others


def _in_rank_order(
    found: list[ScoredSplit], best_of_columns: list[ScoredSplit], of_node: NodeRows
) -> list[ScoredSplit]:
    """Return splits in the order in which the grower prefers them: by gain, and tied splits by their columns.

    By the gain ratio, the grower chooses only among the columns whose gain is at least the mean gain of the columns.
    The splits of other columns come last.
    """
    is_ratio = CRITERIA[of_node.parameters.criterion].is_ratio
    rows = of_node.sums(of_node.rows).sum(axis=0)
    node_impurity = of_node.impurity(rows) / of_node.weight_of(rows) if len(of_node.rows) else 0.0
    gains = [split.gain * split_information(np.array(split.weights)) for split in best_of_columns]
    min_gain = float(np.mean(gains)) - RELATIVE_TIE if is_ratio and gains else -np.inf

    def is_eligible(split: ScoredSplit) -> bool:
        return not is_ratio or split.gain * split_information(np.array(split.weights)) >= min_gain

    waiting = sorted(found, key=lambda split: (not is_eligible(split), -split.gain, split.feature))
    ranked: list[ScoredSplit] = []
    while waiting:
        first = waiting[0]
        tie = RELATIVE_TIE * (abs(first.gain) if is_ratio else node_impurity)
        tied = [
            split
            for split in takewhile(lambda split: split.gain >= first.gain - tie, waiting)  # noqa: B023 used at once
            if is_eligible(split) == is_eligible(first)
        ]
        chosen = min(tied, key=lambda split: (split.feature, split.threshold))
        ranked.append(chosen)
        waiting = [split for split in waiting if split is not chosen]
    return ranked
