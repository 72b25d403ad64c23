"""Grow the subtree of one node of a finished tree from the rows of the node, and put subtrees into a tree.

Growing by hand changes a few nodes of a tree and keeps the others. The new subtree of a node is grown by the ordinary
grower from the rows that reach the node. What the tests above the node decide is passed on as a `SubtreeStart`: the
depth, the monotone limits of its estimate, and the columns that may be tested. `replace_subtrees` then puts finished
subtrees into the tree, in one pass over its arrays.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._kernels import growing
from .._utils.arrays import Array, Floats, Ints
from ..core import Tree
from ..core.surrogates import check_no_surrogates
from ..data.table import Schema, Table
from ..data.weights import WeightedRows
from ..routing import route_table
from .interaction import column_groups
from .monotone import column_signs
from .parameters import NO_LIMIT, GrowParameters
from .presorted_data import PresortedData, ScaledWeights, TrainingSubset, scale_weights
from .sample_bins import SampleBins

MAX_WEIGHT_FRACTION = 0.5  # A node with less than twice the minimum weight of a leaf cannot be split.


@dataclass(frozen=True)
class SubtreeStart:
    """What the tests above a node decide about the growth below it.

    Parameters
    ----------
    depth : int
        Depth of the node.
    estimate_limits : (float, float)
        Lower and upper limit of the estimate of the node, which monotone constraints set.
    columns : tuple of int
        The columns that the node and its descendants may test.
    groups : tuple of tuples of int
        The groups of columns (`interaction_cst`) to which the tests above leave the choice; () without groups.
    """

    depth: int
    estimate_limits: tuple[float, float]
    columns: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] = ()

    def without(self, columns: Collection[int]) -> "SubtreeStart":
        """Return the same start without some columns."""
        return replace(self, columns=tuple(j for j in self.columns if j not in columns))

    def narrow(self, limits: growing.GrowLimits, n_columns: int) -> growing.GrowLimits:
        """Return the limits of the whole tree as limits of the subtree, whose root the kernels give depth 0.

        The kernels read the limits of the estimate only if there are signs, even if all of them are 0.
        """
        max_depth = limits.max_depth if limits.max_depth >= NO_LIMIT else max(limits.max_depth - self.depth, 0)
        is_limited = bool(np.isfinite(self.estimate_limits).any())
        return limits._replace(
            max_depth=max_depth,
            root_depth=self.depth,
            root_limits=self.estimate_limits,
            groups=self.groups,
            signs=limits.signs or ((0,) * n_columns if is_limited else ()),
        )


@dataclass(frozen=True)
class GrowingRows:
    """All rows that a tree was grown on, of which subtrees are grown on parts.

    Parameters
    ----------
    rows : WeightedRows
        Class weights are included in the weights, which are above 0.
    """

    rows: WeightedRows
    _bins: dict[int | None, SampleBins] = field(default_factory=dict, repr=False, compare=False)

    @property
    def table(self) -> Table:
        """The table of the rows."""
        return self.rows.table

    @cached_property
    def scaled(self) -> ScaledWeights:
        """The weights as growing adds them up. The rows of a node keep the scale of the whole sample."""
        return scale_weights(self.rows.weight)

    @cached_property
    def total(self) -> float:
        """Total weight of the rows."""
        return float(self.table.n_rows if self.scaled.weight is None else self.scaled.weight.sum())

    def bins(self, parameters: GrowParameters) -> SampleBins:
        """Return the rows with the numbers of bins in place of the values of binned columns."""
        max_bins = parameters.max_bins
        if max_bins not in self._bins:
            repetitions = self.scaled.weight if self.scaled.is_whole else None
            self._bins[max_bins] = SampleBins.of(self.table, repetitions, max_bins)
        return self._bins[max_bins]

    def weights(self, rows: Array) -> Floats:
        """Return the scaled weight of some rows."""
        if self.scaled.weight is None:
            return np.ones(len(rows))
        scaled: Floats = self.scaled.weight[rows].astype(np.float64)
        return scaled

    def estimate(self, rows: Array) -> float:
        """Return the estimate of a node from its rows: the share of the last class, or the mean of the target."""
        target, weight = self.table.required_target[rows], self.weights(rows)
        classes = self.table.schema.classes
        values = target if classes is None else target == len(classes) - 1
        return float((values * weight).sum() / weight.sum())

    def grow(self, rows: Array, parameters: GrowParameters, start: SubtreeStart) -> Tree:
        """Return the subtree that the ordinary rules grow on some rows, with a root of its own.

        Parameters
        ----------
        rows : array of int
            Numbers of the rows of the node.
        parameters : GrowParameters
            The parameters of the whole tree, without "auto".
        start : SubtreeStart
        """
        bins = self.bins(parameters)
        table = _hide_columns(bins.table.take(rows), start.columns)
        tree = self._grow_on(table, rows, parameters, start)
        return bins.with_thresholds(tree, table, range(table.n_columns))

    def grow_one_split(self, rows: Array, column: int, parameters: GrowParameters, start: SubtreeStart) -> Tree:
        """Return the tree of the best split of one column on some rows; a single leaf if there is none."""
        bins = self.bins(parameters)
        table = _single_column(bins.table, column, rows)
        sign = () if parameters.monotonic_cst is None else column_signs(parameters.monotonic_cst, self.table.schema)
        max_depth = start.depth + 1 if parameters.max_depth is None else min(start.depth + 1, parameters.max_depth)
        one_column = replace(
            parameters,
            monotonic_cst=[sign[column]] if sign else None,
            interaction_cst=None,
            surrogates=0,
            growth="depth-first",
            max_splits=None,
            max_depth=max_depth,
        )
        stump = self._grow_on(table, rows, one_column, replace(start, columns=(0,), groups=()))
        return _rename_column(bins.with_thresholds(stump, table, (column,)), column, self.table.schema)

    def _grow_on(self, table: Table, rows: Array, parameters: GrowParameters, start: SubtreeStart) -> Tree:
        """Return the tree that is grown on a table of the rows with these numbers."""
        parameters = replace(parameters, max_bins=None)
        fraction = parameters.min_weight_fraction_leaf
        if fraction:
            fraction *= self.total / float(self.weights(rows).sum())
            if fraction > MAX_WEIGHT_FRACTION:
                parameters, fraction = replace(parameters, max_depth=0), 0.0
            parameters = replace(parameters, min_weight_fraction_leaf=fraction)
        _, is_whole, exponent = self.scaled
        weight = None if self.scaled.weight is None else self.scaled.weight[rows]
        subset = TrainingSubset(PresortedData(table), None, table.required_target, weight, is_whole, exponent)
        tree, _ = subset.grow(parameters, start=start)
        return tree


def _hide_columns(table: Table, kept: Collection[int]) -> Table:
    """Return a table in which all columns but some are constant, so that no split tests the others."""
    if len(kept) == table.n_columns:
        return table
    columns = tuple(
        values if j in set(kept) else np.zeros(len(values), values.dtype) for j, values in enumerate(table.columns)
    )
    return Table(table.schema, columns, table.target)


def _single_column(table: Table, column: int, rows: Array) -> Table:
    """Return the table of one column and some rows."""
    schema = replace(table.schema, columns=(table.schema.columns[column],))
    return Table(schema, (table.columns[column][rows],), table.required_target[rows])


def _rename_column(stump: Tree, column: int, schema: Schema) -> Tree:
    """Return a tree that was grown on one column as a tree of the schema in which the column has another number."""
    feature = np.where(stump.feature >= 0, column, -1)
    return replace(stump, feature=feature, schema=schema)


def find_start(tree: Tree, node: int, parameters: GrowParameters, schema: Schema) -> SubtreeStart:
    """Return what the tests above a node decide about the growth below it.

    Parameters
    ----------
    tree : Tree
    node : int
    parameters : GrowParameters
    schema : Schema
        The columns of the tree.
    """
    path = path_to(tree, node)
    lower, upper = (-np.inf, np.inf) if tree.estimate_limits is None else tree.estimate_limits[node].tolist()
    tested = {int(tree.feature[v]) for v in path[:-1]}
    groups: tuple[tuple[int, ...], ...] = ()
    columns = tuple(range(len(schema.columns)))
    if parameters.interaction_cst is not None:
        groups = tuple(group for group in column_groups(parameters.interaction_cst, schema) if tested <= set(group))
        columns = tuple(sorted(set().union(*groups)))
        groups = groups or (columns,)
    return SubtreeStart(len(path) - 1, (lower, upper), columns, groups)


def path_to(tree: Tree, node: int) -> list[int]:
    """Return the nodes from the root to a node, both included."""
    path = [node]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def rows_at(tree: Tree, leaf: Ints, node: int) -> Array:
    """Return the numbers of the rows that reach a node, given the leaf of each row."""
    return np.flatnonzero((leaf >= node) & (leaf < tree.end[node]))


def leaves_of(tree: Tree, table: Table) -> Ints:
    """Return the leaf that each row of a table reaches."""
    return route_table(tree, table, None, 0)


class Replaced(NamedTuple):
    """A tree in which subtrees were replaced.

    Parameters
    ----------
    tree : Tree
    new_number : array of int
        The number in the new tree of each node of the old one; -1 if it has none. A node whose subtree was replaced
        has the number of the root of its new subtree.
    """

    tree: Tree
    new_number: Ints

    def then(self, later: "Replaced") -> "Replaced":
        """Return the result of this change and a later one, with numbers from the first tree to the last."""
        number = np.where(self.new_number >= 0, later.new_number[np.maximum(self.new_number, 0)], -1)
        return Replaced(later.tree, number.astype(np.int32))


class _Piece(NamedTuple):
    """Nodes that follow one another in pre-order, taken from one tree.

    Parameters
    ----------
    source : Tree
    first, last : int
        The first node, and the one after the last.
    parent : array of int
        The parents of the nodes, as numbers of the new tree.
    root_limits : array of two numbers, optional
        The limits of the estimate of the node that is replaced, for all nodes of a source without limits.
    """

    source: Tree
    first: int
    last: int
    parent: Ints
    root_limits: Floats | None = None

    def values(self, name: str) -> Array:
        """Return the entries of these nodes in an array of the tree."""
        values: Array = getattr(self.source, name)[self.first : self.last]
        return values

    @property
    def estimate_limits(self) -> Floats:
        """The limits of the estimates of these nodes."""
        if self.source.estimate_limits is None:
            assert self.root_limits is not None
            return np.tile(self.root_limits, (self.last - self.first, 1))
        return self.source.estimate_limits[self.first : self.last]


def replace_subtrees(tree: Tree, subtrees: Mapping[int, Tree]) -> Replaced:
    """Return a tree with other subtrees in the place of some nodes, none of which is below another.

    Parameters
    ----------
    tree : Tree
        A tree without surrogates.
    subtrees : dict from int to Tree
        The new subtree of each node, on the same columns. If the tree has limits of estimates, all nodes of a subtree
        without limits get those of the node.
    """
    check_no_surrogates(tree, "growing by hand", "grow without surrogates")
    new_number = np.full(tree.n_nodes, -1, np.int32)
    nodes, n_nodes, first = sorted(subtrees), 0, 0
    for node in [*nodes, tree.n_nodes]:
        last = min(node + 1, tree.n_nodes)
        new_number[first:last] = n_nodes + np.arange(last - first)
        if node < tree.n_nodes:
            n_nodes += node - first + subtrees[node].n_nodes
            first = int(tree.end[node])
    pieces, first = [], 0
    for node in [*nodes, tree.n_nodes]:
        parent = tree.parent[first:node]
        pieces.append(_Piece(tree, first, node, np.where(parent < 0, -1, new_number[parent])))
        if node < tree.n_nodes:
            subtree, root_parent = subtrees[node], int(tree.parent[node])
            parent = subtree.parent + new_number[node]
            parent[0] = -1 if root_parent < 0 else new_number[root_parent]
            limits = None if tree.estimate_limits is None else tree.estimate_limits[node]
            pieces.append(_Piece(subtree, 0, subtree.n_nodes, parent, limits))
            first = int(tree.end[node])
    branch_lengths = [np.diff(piece.source.branch_start)[piece.first : piece.last] for piece in pieces]
    branches = [
        piece.source.branch[piece.source.branch_start[piece.first] : piece.source.branch_start[piece.last]]
        for piece in pieces
    ]
    arrays: dict[str, Any] = {
        name: np.concatenate([piece.values(name) for piece in pieces])
        for name in ("feature", "threshold", "rounded", "default", "score", "split_order")
    }
    new_tree = Tree(
        np.concatenate([piece.parent for piece in pieces]),
        branch_start=np.append(0, np.cumsum(np.concatenate(branch_lengths))),
        branch=np.concatenate(branches),
        schema=tree.schema,
        estimate_limits=None if tree.estimate_limits is None else np.concatenate([p.estimate_limits for p in pieces]),
        **arrays,
    )
    return Replaced(new_tree, new_number)
