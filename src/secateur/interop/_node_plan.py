"""Plan the nodes of a scikit-learn tree that makes the predictions of a model.

A nominal test, and a test with more than two children, becomes a balanced binary tree of thresholds on category codes.
For this, the codes of each child must be contiguous. If they are not, the tree gets a further column with the same
categories in another order, in which the categories of each child follow one another.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from .._utils.arrays import Array, Floats, Ints
from ..core import Model, Moments, Tree
from ..data.table import Schema
from ._records import NO_CHILD, NO_FEATURE

MAX_ORDERS_TRIED = 8  # existing orders of a column that are tried before a new one is added
EncodedColumn: TypeAlias = tuple[int, tuple[int, ...] | None]  # a column of the table, and the order of its codes


@dataclass
class PlannedNode:
    """A node of the scikit-learn tree.

    Parameters
    ----------
    node_id : int
        The node of the model's tree that this node represents, or whose split it is a part of.
    statistics : array
        Class weights of its rows; for regression their weight, mean and squared error.
    children : list of int
        Position of the left and the right child.
    column : int
        The column it tests.
    threshold : float
        Values up to the threshold go left.
    missing_goes_left : bool
        Whether missing values go left.
    """

    node_id: int
    statistics: Array
    children: list[int] = field(default_factory=lambda: [NO_CHILD, NO_CHILD])
    column: int = NO_FEATURE
    threshold: float = NO_FEATURE
    missing_goes_left: bool = False


@dataclass
class NodePlan:
    """The nodes of the scikit-learn tree in pre-order, the columns they test, and the depth of the tree."""

    columns: list[EncodedColumn]
    nodes: list[PlannedNode] = field(default_factory=list)
    depth: int = 0

    @property
    def node_ids(self) -> list[int]:
        return [node.node_id for node in self.nodes]


@dataclass(frozen=True)
class _Task:
    """A node that is still to be planned: node `v` of the model's tree, or a part of its children.

    Parameters
    ----------
    v : int
    parent, side : int
        Position of the parent in the plan (-1 for the root), and which of its children this is.
    depth : int
    part : tuple of (intervals, first, last), optional
        Only the children `first` to `last - 1` of node v are below the planned node. None if all of them are.
    """

    v: int
    parent: int = -1
    side: int = 0
    depth: int = 0
    part: "tuple[_Intervals, int, int] | None" = None


def plan_nodes(model: Model, schema: Schema) -> NodePlan:
    """Return the nodes of the scikit-learn tree for the pruned tree of a model."""
    orders = _ColumnOrders(model.tree, schema)
    plan = NodePlan(orders.columns)
    statistics = node_statistics(model)
    stack = [_Task(0)]
    while stack:
        task = stack.pop()
        position = len(plan.nodes)
        if task.parent >= 0:
            plan.nodes[task.parent].children[task.side] = position
        plan.depth = max(plan.depth, task.depth)
        node = PlannedNode(task.v, statistics[task.v])
        plan.nodes.append(node)
        if model.pruning.is_leaf[task.v]:
            continue
        if task.part is None:
            intervals = orders.intervals(task.v)
            first, last = 0, len(intervals.children)
        else:
            intervals, first, last = task.part
            node.statistics = _merge_statistics(statistics[intervals.children[first:last]], model)
        middle = (first + last) // 2
        node.column, node.threshold = intervals.column, float(intervals.limits[middle - 1])
        node.missing_goes_left = intervals.default < middle
        # The stack returns the task that was added last, so the right half is added first.
        for side, start, end in ((1, middle, last), (0, first, middle)):
            if end - start == 1:
                stack.append(_Task(int(intervals.children[start]), position, side, task.depth + 1))
            else:
                stack.append(_Task(task.v, position, side, task.depth + 1, (intervals, start, end)))
    return plan


@dataclass(frozen=True)
class _Intervals:
    """The children of a test as intervals of one column.

    Child i takes the values that are at most `limits[i]` and above `limits[i - 1]`.

    Parameters
    ----------
    column : int
        The column of the scikit-learn tree.
    children : array of int
        The children in the order of their intervals.
    limits : array of float
        The upper ends of the intervals.
    default : int
        The position of the child of missing values.
    """

    column: int
    children: Ints
    limits: Floats
    default: int


class _ColumnOrders:
    """The columns of the scikit-learn tree: those of the table, and further orders of the codes of nominal columns.

    Attributes
    ----------
    columns : list of (column, order)
        For each column of the scikit-learn tree, its column in the table, and the order of its codes (None: numeric).
    """

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self._tree = tree
        self._schema = schema
        self.columns: list[EncodedColumn] = [
            (j, tuple(range(column.n_codes)) if column.kind == "nominal" else None)
            for j, column in enumerate(schema.columns)
        ]
        self._columns_of_feature = {j: [j] for j in range(len(schema.columns))}
        self._column_of_branches: dict[tuple[int, bytes], int] = {}

    def intervals(self, v: int) -> _Intervals:
        """Return the children of node `v` as intervals; add a column if no existing order makes them contiguous."""
        tree = self._tree
        children = np.fromiter(tree.children(v), np.int32)
        j = int(tree.feature[v])
        branch = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        if not len(branch):
            return _Intervals(j, children, tree.threshold[v : v + 1], int(tree.default[v]))
        column = self._column_for(j, branch, len(children))
        child_of_position = branch[list(self.columns[column][1] or ())]
        used, starts = np.unique(child_of_position, return_index=True)
        sequence = used[np.argsort(starts)]
        ends = np.append(np.sort(starts)[1:], len(child_of_position))
        # A child without categories takes only unseen values; its interval comes after all codes.
        empty = np.setdiff1d(np.arange(len(children)), sequence)
        sequence = np.append(sequence, empty).astype(np.int64)
        after_codes = len(child_of_position) + 0.5
        limits = np.append(ends - 0.5, np.full(len(empty), after_codes))
        limits[len(used) - 1] = after_codes
        default = int(np.flatnonzero(sequence == tree.default[v])[0])
        return _Intervals(column, children[sequence], limits, default)

    def _column_for(self, j: int, branch: Array, n_children: int) -> int:
        """Return a column with the codes of feature `j` in an order in which those of each child are contiguous."""
        key = j, branch.tobytes()
        if key not in self._column_of_branches:
            tried = self._columns_of_feature[j][:MAX_ORDERS_TRIED]
            fitting = [column for column in tried if _are_contiguous(branch, self.columns[column][1])]
            self._column_of_branches[key] = fitting[0] if fitting else self._add_order(j, branch, n_children)
        return self._column_of_branches[key]

    def _add_order(self, j: int, branch: Array, n_children: int) -> int:
        """Add a column with the codes of feature `j` sorted by child, and return its number."""
        column = len(self.columns)
        rank = branch.astype(np.int64)
        if self._schema.columns[j].has_missing:
            # The last code stands for missing values. The encoder numbers it last, so its child must come last.
            rank[branch == branch[-1]] = n_children
        self.columns.append((j, tuple(np.argsort(rank, kind="stable").tolist())))
        self._columns_of_feature[j].append(column)
        return column


def _are_contiguous(branch: Array, order: tuple[int, ...] | None) -> bool:
    """Return whether the codes of each child are neighbours in this order."""
    children = branch[list(order or ())]
    return int(np.count_nonzero(np.diff(children))) + 1 == len(np.unique(children))


def node_statistics(model: Model) -> Array:
    """Return one row per node: class weights, or for regression weight, mean and squared error."""
    grown = model.grown
    if isinstance(grown, Moments):
        return np.stack([grown.weight, grown.mean, grown.sse], axis=1)
    return np.asarray(grown.by_class, np.float64)


def _merge_statistics(rows: Array, model: Model) -> Array:
    """Return the statistics of the union of some nodes, given those of each node."""
    if model.is_classifier:
        return np.asarray(rows.sum(axis=0))
    weight = rows[:, 0].sum()
    mean = np.average(rows[:, 1], weights=rows[:, 0]) if weight > 0 else rows[0, 1]
    return np.array([weight, mean, rows[:, 2].sum() + (rows[:, 0] * (rows[:, 1] - mean) ** 2).sum()])
