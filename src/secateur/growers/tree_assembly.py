"""Turn the tables of a finished growth into a `Tree` in pre-order and its `Counts`.

All growers use this module: growing in memory, growing level by level (`engines`), and the search with lookahead.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._kernels import growing, structure, tables
from .._kernels.tables import ABOVE_LINE, BELOW_LINE, KIND_LINE
from .._utils.arrays import Array, Floats, Ints
from ..core import Counts, Tree
from ..data.table import Table
from .prepared_columns import PreparedColumns
from .threshold import midpoint, shortest_decimals
from .tree_tables import GrownTables

ALL_ROWS = np.empty(0, np.intp)  # Tells the kernel that row i of the tree is row i of the matrix.
NO_CODES = np.empty(0, np.int64)
NO_VALUES = np.empty((0, 0))


class RowValues(NamedTuple):
    """The values of the rows that a tree was grown on. Thresholds are computed from them.

    Parameters
    ----------
    table : Table
    rows : array of int, optional
        Numbers of the rows in the table; None for all rows.
    matrix : array, optional
        All columns of the table as one array; None for the matrix that the table stores, if any.
    """

    table: Table
    rows: Array | None = None
    matrix: Array | None = None

    def column(self, feature: int) -> Array:
        """Return the values of a column in these rows."""
        column = self.table.columns[feature]
        return column if self.rows is None else column[self.rows]


class AssemblyOptions(NamedTuple):
    """How a tree is assembled.

    Parameters
    ----------
    is_whole : bool
        Whether the counts are whole numbers.
    weight_exponent : int
        Counts that are not whole are multiplied by 2 to this power.
    score_exponent : int
        Scores of splits are multiplied by 2 to this power.
    has_split_order : bool
        Whether the tree records the order in which its nodes were split.
    has_rounded : bool
        Whether short decimal thresholds are computed for display. If not, the exact thresholds are displayed.
    """

    is_whole: bool = True
    weight_exponent: int = 0
    score_exponent: int = 0
    has_split_order: bool = False
    has_rounded: bool = True


class NodesInPreorder(NamedTuple):
    """The nodes of a tree in pre-order.

    Parameters
    ----------
    parent, end, right, feature, default, split_order : array of int32
        Fields of `Tree`.
    score : array of float
        Scores of the splits, NaN at leaves.
    split : array of int64, five lines
        SLOT_LINE, KIND_LINE, BELOW_LINE, ABOVE_LINE and BRANCH_START_LINE of `_kernels/tables.py`: fields of the
        tables, with one number per node. The kind of a leaf is `growing.NO_SPLIT`.
    """

    parent: Ints
    end: Ints
    right: Ints
    feature: Ints
    default: Ints
    split_order: Ints
    score: Floats
    split: Array

    @property
    def kind(self) -> Array:
        """The kind of each split."""
        kind: Array = self.split[KIND_LINE]
        return kind

    @property
    def below(self) -> Array:
        """The row or code below each threshold."""
        below: Array = self.split[BELOW_LINE]
        return below

    @property
    def above(self) -> Array:
        """The row or code above each threshold; -1 where present values are split from missing ones."""
        above: Array = self.split[ABOVE_LINE]
        return above

    @property
    def numeric(self) -> Array:
        """The numbers of the nodes that compare a number with a threshold."""
        return np.flatnonzero(self.kind == growing.NUMERIC)


def assemble_tree(
    grown: GrownTables, columns: PreparedColumns, row_values: RowValues, options: AssemblyOptions
) -> tuple[Tree, Counts]:
    """Return the tree of finished tables, and the counts of the rows it was grown on.

    Parameters
    ----------
    grown : GrownTables
    columns : PreparedColumns
        The columns behind the slots of the tables.
    row_values : RowValues
    options : AssemblyOptions
    """
    by_class = np.empty((len(grown.nodes), grown.n_sums), np.int64 if options.is_whole else np.float64)
    feature_of_slot = columns.lists.feature_of_slot
    nodes = NodesInPreorder(
        *tables.preorder_arrays(
            np.ascontiguousarray(grown.nodes), grown.reals, feature_of_slot, by_class, options.has_split_order
        )
    )
    n_codes = NO_CODES if columns.codes is None else columns.codes.n_codes
    branch_start, branch = tables.category_branches(nodes.split, nodes.default, grown.branch, n_codes, columns.n_lists)
    threshold = _thresholds(nodes, columns, row_values)
    score = np.ldexp(nodes.score, options.score_exponent) if options.score_exponent else nodes.score
    tree = Tree.from_trusted_arrays(
        row_values.table.schema,
        parent=nodes.parent,
        end=nodes.end,
        right=nodes.right,
        feature=nodes.feature,
        threshold=threshold,
        rounded=_rounded_thresholds(nodes, columns, row_values) if options.has_rounded else threshold,
        branch_start=branch_start,
        branch=branch,
        default=nodes.default,
        score=score,
        split_order=nodes.split_order,
    )
    if not options.is_whole:
        # Growing rounds the weights of inner nodes. They are replaced by sums over the leaves.
        at_leaves = np.where(tree.is_leaf[:, None], by_class, 0.0)
        by_class = np.ldexp(structure.sum_upwards(tree.parent, at_leaves), options.weight_exponent)
    return tree, Counts.from_trusted_arrays(tree, by_class, "grow")


def _thresholds(nodes: NodesInPreorder, columns: PreparedColumns, row_values: RowValues) -> Floats:
    """Return the threshold of each numeric split: infinity where present values are split from missing ones."""
    has_only_pairs = len(columns.pairs) == len(columns.values)
    matrix = _matrix_of_lists(columns, row_values)
    if has_only_pairs and matrix is not None:  # One kernel call is faster for small trees.
        numbers = ALL_ROWS if row_values.rows is None else row_values.rows
        return tables.split_thresholds(nodes.split, nodes.feature, columns.pair_thresholds, matrix, numbers)
    threshold = np.full(len(nodes.feature), np.nan)
    bounds = _split_bounds(nodes.numeric, nodes, columns, row_values)
    is_between_values = nodes.above[bounds.nodes] >= 0
    threshold[bounds.nodes] = np.where(is_between_values, midpoint(bounds.low, bounds.high), np.inf)
    return threshold


def _matrix_of_lists(columns: PreparedColumns, row_values: RowValues) -> Array | None:
    """Return a matrix that holds the values of all columns with lists; None if there is none."""
    if not columns.n_lists:
        return NO_VALUES
    return row_values.table.matrix if row_values.matrix is None else row_values.matrix


def _rounded_thresholds(nodes: NodesInPreorder, columns: PreparedColumns, row_values: RowValues) -> Floats:
    """Return the shortest decimal number between the values around each threshold; NaN at nodes without threshold."""
    rounded = np.full(len(nodes.feature), np.nan)
    numeric = nodes.numeric
    if columns.pairs:
        rounded[numeric] = _rounded_of_pairs(columns, row_values.table.n_columns)[nodes.feature[numeric]]
        numeric = numeric[np.isnan(rounded[numeric])]
    bounds = _split_bounds(numeric, nodes, columns, row_values)
    is_between_values = nodes.above[bounds.nodes] >= 0
    low, high = bounds.low[is_between_values], bounds.high[is_between_values]
    rounded[bounds.nodes[is_between_values]] = shortest_decimals(low, midpoint(low, high), high)
    return rounded


def _rounded_of_pairs(columns: PreparedColumns, n_columns: int) -> Floats:
    """Return the rounded threshold of each two-valued column, NaN for other columns."""
    low = np.array([values.high[0] for values in columns.pairs.values()])
    high = np.array([values.low[1] for values in columns.pairs.values()])
    rounded = np.full(n_columns, np.nan)
    rounded[list(columns.pairs)] = shortest_decimals(low, midpoint(low, high), high)
    return rounded


class _SplitBounds(NamedTuple):
    """The values around the thresholds of numeric splits.

    Parameters
    ----------
    nodes : array of int
        Numbers of the nodes, ordered by the columns of their splits.
    low, high : array of float
        Values next to the threshold of each node; arbitrary where present values are split from missing ones.
    """

    nodes: Array
    low: Floats
    high: Floats


def _split_bounds(
    numeric: Array, nodes: NodesInPreorder, columns: PreparedColumns, row_values: RowValues
) -> _SplitBounds:
    """Return the values around the thresholds of the nodes `numeric`."""
    numeric = numeric[np.argsort(nodes.feature[numeric], kind="stable")]
    low, high = np.empty(len(numeric)), np.empty(len(numeric))
    below, above = nodes.below[numeric], nodes.above[numeric]
    for feature, group in _equal_slices(nodes.feature[numeric]):
        values = columns.values.get(feature)
        if values is None:
            column = row_values.column(feature)
            low[group], high[group] = column[below[group]], column[above[group]]
        elif values.is_binned:  # The threshold between two bins does not depend on the values in the node.
            bins = below[group] if values.codes is None else values.codes[below[group]].astype(np.intp)
            low[group], high[group] = values.high[bins], values.low[np.minimum(bins + 1, len(values.low) - 1)]
        else:
            low[group], high[group] = values.high[below[group]], values.low[above[group]]
    return _SplitBounds(numeric, low, high)


def _equal_slices(ascending: Array) -> Iterator[tuple[int, slice]]:
    """Yield each distinct number of an ascending array of numbers from 0 up, with the slice of its positions."""
    edges = np.append(np.flatnonzero(np.diff(ascending, prepend=-1)), len(ascending))
    for first, last in pairwise(edges):
        yield int(ascending[first]), slice(first, last)
