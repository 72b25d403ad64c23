"""Tables of nodes in the layout of the growing kernels, and their assembly to a `Tree` in pre-order with its `Counts`.

A node is one line of two tables: whole numbers (`_kernels/growing.py` names their columns) and reals. The reals are the
statistics of the node, the score of its split (the gain per unit of weight, or the gain ratio), and the drop (the score
times the weight). The children of a node are consecutive lines after the line of the node. The array `branch` holds the
child of each category, one subset split after the other.

Every grower writes this layout: the kernels in memory, the threads that grow subtrees side by side, the levels of
`engines.grow`, and the search with lookahead. `assemble_tree` turns the finished tables into a `Tree`.
"""

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np

from .._kernels import growing, structure, tables
from .._kernels.tables import ABOVE_LINE, BELOW_LINE, KIND_LINE
from .._utils.arrays import Array, Floats, Ints
from ..core import MAX_ROUNDED_DIGITS, Counts, Tree
from ..data.table import Table
from .prepared_columns import PreparedColumns
from .presort import midpoint

CAPACITY_FACTOR = 4  # New tables have this many times the lines needed: lines that are never written cost no memory.
N_SCORES = 2  # Last columns of the reals: score and drop.
NO_ROW_NUMBERS = np.empty(0, np.intp)  # Tells the kernel that row i of the tree is row i of the matrix.
NO_CODES = np.empty(0, np.int64)
NO_VALUES = np.empty((0, 0))


class GrownTables(NamedTuple):
    """Tables of a finished tree or subtree.

    Parameters
    ----------
    nodes : array of int64, one line per node
    reals : array of float64, one line per node
    branch : array of uint16
        Child number of each category, one subset split after the other.
    surrogates : (array of int64, array of float64), optional
        Surrogate splits in the order in which they were found, one line each; see `_kernels/surrogate.py`.
    """

    nodes: Array
    reals: Array
    branch: Array
    surrogates: tuple[Array, Array] | None = None


class GrowingTables:
    """Tables of a tree that is still growing, to which nodes and finished subtrees are added.

    Parameters
    ----------
    nodes, reals, branch : arrays
        The tables so far, at least the line of the root.
    """

    def __init__(self, nodes: Array, reals: Array, branch: Array | None = None) -> None:
        self._lock = Lock()
        self._nodes, self._reals = nodes, reals
        self._branches = [] if branch is None else [branch]
        self._n_branch = 0 if branch is None else len(branch)
        self.n_nodes = len(nodes)

    @property
    def nodes(self) -> Array:
        """The whole numbers of all nodes so far; a view that is valid until nodes are added."""
        return self._nodes[: self.n_nodes]

    @property
    def reals(self) -> Array:
        """The reals of all nodes so far; a view that is valid until nodes are added."""
        return self._reals[: self.n_nodes]

    @property
    def branch(self) -> Array:
        """The child of each category, for all subset splits so far."""
        return np.concatenate([np.zeros(0, np.uint16), *self._branches])

    def add_nodes(self, nodes: Array, reals: Array) -> int:
        """Append lines to both tables and return the number of the first one."""
        first = self.n_nodes
        self.n_nodes += len(nodes)
        if self.n_nodes > len(self._nodes):
            self._nodes = _enlarge(self._nodes, first, self.n_nodes)
            self._reals = _enlarge(self._reals, first, self.n_nodes)
        self._nodes[first : self.n_nodes] = nodes
        self._reals[first : self.n_nodes] = reals
        return first

    def add_branch(self, children: Array) -> int:
        """Append the child of each category at one subset split, and return where these children begin in `branch`."""
        first = self._n_branch
        self._n_branch += len(children)
        self._branches.append(children)
        return first

    def attach(self, node: int, subtree: GrownTables) -> None:
        """Put a finished subtree in the place of a node. Threads may attach subtrees in any order.

        Line 0 of the subtree replaces the line of the node, and the other lines are appended. The numbers of the lines
        depend on the order of the calls, but the tree in pre-order does not.
        """
        with self._lock:
            branch_start = self.add_branch(subtree.branch)
            n_before = self.n_nodes
            self.add_nodes(subtree.nodes[1:], subtree.reals[1:])
            self._nodes[node], self._reals[node] = subtree.nodes[0], subtree.reals[0]
            for lines in (self._nodes[node : node + 1], self._nodes[n_before : self.n_nodes]):
                # Line i of the subtree, for i above 0, is now line n_before + i - 1.
                lines[:, growing.FIRST_CHILD] += n_before - 1
                if len(subtree.branch):
                    lines[lines[:, growing.BRANCH_START] >= 0, growing.BRANCH_START] += branch_start

    def finish(self) -> GrownTables:
        """Return the tables of all nodes."""
        return GrownTables(self.nodes, self.reals, self.branch)


def new_lines(sums: Array, n_extra_words: int = 0) -> tuple[Array, Array]:
    """Return the lines of new nodes, which are leaves so far.

    Parameters
    ----------
    sums : 2-D array of float
        Statistics of each node: the weight of each class; for regression the total weight and the sum of deviations.
    n_extra_words : int
        Number of words after the named columns. The kernels keep in them a bit per slot, a bit per group of columns
        and, with monotone constraints, the limits of the estimate of the node.
    """
    n_nodes, n_sums = sums.shape
    nodes = np.zeros((n_nodes, growing.N_FIELDS + n_extra_words), np.int64)
    nodes[:, growing.BRANCH_START] = -1
    nodes[:, growing.SPLIT_STEP] = -1
    nodes[:, growing.N_FIELDS :] = -1  # All bits are set: every slot may vary, and every group is allowed.
    reals = np.zeros((n_nodes, n_sums + N_SCORES))
    reals[:, :n_sums] = sums
    return nodes, reals


def _enlarge(table: Array, n_used: int, n_needed: int) -> Array:
    """Return a copy of a table with its first `n_used` lines and room for more than `n_needed` lines."""
    larger = np.empty((CAPACITY_FACTOR * n_needed, table.shape[1]), table.dtype)
    larger[:n_used] = table[:n_used]
    return larger


class RowValues(NamedTuple):
    """The values of the rows that a tree was grown on. Thresholds are computed from them.

    Parameters
    ----------
    table : Table
    rows : array of int, optional
        Numbers of the rows in the table; None for all rows.
    matrix : array, optional
        All columns of the table as one array. If None, the matrix that the table stores is used, if it stores one.
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
        tables, with one number per node. The kind of a leaf is `growing.NO_SPLIT`. BELOW_LINE and ABOVE_LINE hold the
        rows or codes of the values around a threshold; ABOVE_LINE is -1 where present values are split from missing
        ones.
    """

    parent: Ints
    end: Ints
    right: Ints
    feature: Ints
    default: Ints
    split_order: Ints
    score: Floats
    split: Array


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
    by_class = np.empty(
        (len(grown.nodes), grown.reals.shape[1] - N_SCORES), np.int64 if options.is_whole else np.float64
    )
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
        # The weights of inner nodes have rounding errors from growing. They are replaced by sums over the leaves.
        at_leaves = np.where(tree.is_leaf[:, None], by_class, 0.0)
        by_class = np.ldexp(structure.sum_upwards(tree.parent, at_leaves), options.weight_exponent)
    return tree, Counts.from_trusted_arrays(tree, by_class, "grow")


def _thresholds(nodes: NodesInPreorder, columns: PreparedColumns, row_values: RowValues) -> Floats:
    """Return the threshold of each numeric split: infinity where present values are split from missing ones."""
    has_only_pairs = len(columns.pairs) == len(columns.values)
    matrix = _matrix_of_lists(columns, row_values)
    if has_only_pairs and matrix is not None:  # One kernel call is faster for small trees.
        numbers = NO_ROW_NUMBERS if row_values.rows is None else row_values.rows
        return tables.split_thresholds(nodes.split, nodes.feature, columns.pair_thresholds, matrix, numbers)
    threshold = np.full(len(nodes.feature), np.nan)
    bounds = _split_bounds(_numeric_nodes(nodes), nodes, columns, row_values)
    is_between_values = nodes.split[ABOVE_LINE, bounds.nodes] >= 0
    threshold[bounds.nodes] = np.where(is_between_values, midpoint(bounds.low, bounds.high), np.inf)
    return threshold


def _numeric_nodes(nodes: NodesInPreorder) -> Array:
    """Return the numbers of the nodes that compare a number with a threshold."""
    return np.flatnonzero(nodes.split[KIND_LINE] == growing.NUMERIC)


def _matrix_of_lists(columns: PreparedColumns, row_values: RowValues) -> Array | None:
    """Return a matrix with the values of all columns that have lists; None if only separate columns are available."""
    if not columns.n_lists:
        return NO_VALUES
    return row_values.table.matrix if row_values.matrix is None else row_values.matrix


def _rounded_thresholds(nodes: NodesInPreorder, columns: PreparedColumns, row_values: RowValues) -> Floats:
    """Return the shortest decimal number between the values around each threshold; NaN at nodes without threshold."""
    rounded = np.full(len(nodes.feature), np.nan)
    numeric = _numeric_nodes(nodes)
    if columns.pairs:
        rounded[numeric] = _rounded_of_pairs(columns, row_values.table.n_columns)[nodes.feature[numeric]]
        numeric = numeric[np.isnan(rounded[numeric])]
    bounds = _split_bounds(numeric, nodes, columns, row_values)
    is_between_values = nodes.split[ABOVE_LINE, bounds.nodes] >= 0
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
    """The values next to the thresholds of numeric splits.

    Parameters
    ----------
    nodes : array of int
        Numbers of the nodes, ordered by the columns of their splits.
    low, high : array of float
        The values just below and just above the threshold of each node; arbitrary where present values are split from
        missing ones.
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
    below, above = nodes.split[BELOW_LINE, numeric], nodes.split[ABOVE_LINE, numeric]
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
    """Yield each distinct number of an ascending array, with the slice of its positions; numbers are 0 or more."""
    edges = np.append(np.flatnonzero(np.diff(ascending, prepend=-1)), len(ascending))
    for first, last in pairwise(edges):
        yield int(ascending[first]), slice(first, last)


def shortest_decimals(low: Floats, exact: Floats, high: Floats) -> Floats:
    """Return numbers d with low <= d < high that have as few digits after the decimal point as possible.

    Parameters
    ----------
    low, high : array of float
        Limits of each number.
    exact : array of float
        The threshold between the limits. Of two candidates with the same number of digits, the result is the one nearer
        to `exact`, and the lower one in a tie. The result is `exact` itself where no candidate exists or `exact` is
        infinite.
    """
    shortest = np.array(exact, np.float64)
    waiting = np.flatnonzero(np.isfinite(shortest))
    for n_digits in range(MAX_ROUNDED_DIGITS + 1):
        if not len(waiting):
            break
        scale, target = 10.0**n_digits, shortest[waiting]
        lower_limit, upper_limit = low[waiting], high[waiting]
        with np.errstate(over="ignore", invalid="ignore"):
            down, up = np.floor(target * scale) / scale, np.ceil(target * scale) / scale
            is_up = (up < upper_limit) & (~(down >= lower_limit) | (up - target < target - down))
            candidate = np.where(is_up, up, down) + 0.0  # Adding 0 turns -0 into 0.
            is_valid = (lower_limit <= candidate) & (candidate < upper_limit)
        shortest[waiting[is_valid]] = candidate[is_valid]
        waiting = waiting[~is_valid]
    return shortest
