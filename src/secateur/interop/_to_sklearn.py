"""to_sklearn: convert a model to a fitted scikit-learn tree, or to a pipeline if nominal columns are tested.

scikit-learn's trees compare numbers and have two children per node. A nominal test, and a test with more children,
becomes a balanced binary tree of thresholds on category codes (a "run"). For this, the codes of each child must be
contiguous. If they are not in any existing order of the codes, another encoder numbers the categories in an order
in which they are, so that no subtree has to be copied.
"""

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, Ints, write_protect
from ..core import Model, Moments, Tree, check_no_surrogates
from ..data.table import Schema
from ..errors import TreeError, UnsupportedError
from ._pipeline import with_encoders
from ._records import NO_CHILD, NO_FEATURE, Dtype, Estimator, Records, blank_nodes, split_part
from ._sklearn_tree import shares_with_majority

MAX_FLOAT32 = float(np.finfo(np.float32).max)
MAX_ORDERS_SHARED = 8  # existing orders of a column that are tried before a new one is added
IMPURITY_CRITERIA = ("gini", "entropy", "log_loss")
_EncodedColumn: TypeAlias = tuple[int, tuple[int, ...] | None]  # a column of the table, and the order of its codes


def to_sklearn(model: Any) -> Estimator:
    """Convert the pruned tree of a model to a fitted scikit-learn estimator.

    Parameters
    ----------
    model : Model, or a fitted TreeClassifier or TreeRegressor

    Returns
    -------
    DecisionTreeClassifier, DecisionTreeRegressor or Pipeline
        A pipeline of encoders and a tree if a nominal column is tested. The tree makes the predictions of
        the model for all values that float32 can represent, because scikit-learn reads float32;
        this includes missing values and unseen categories. Its attribute `node_ids_` gives for each
        of its nodes the node of the model's unpruned tree; all nodes that replace one nominal test
        have the number of that test. `n_node_samples` is
        the rounded weight. Its probabilities are the class shares of the leaves (kind "frequency").

    Notes
    -----
    Thresholds beyond the range of float32 are refused. Whole numbers beyond 2**24 lose their
    last digits when scikit-learn reads them. `clone` and `fit` grow a new tree with scikit-learn.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> to_sklearn(model).predict([[0.0], [9.0]]).tolist()
    ['no', 'yes']
    """
    model = getattr(model, "model_", model)
    if not isinstance(model, Model):
        raise UnsupportedError(f"model is a {type(model).__name__}; a Model or a fitted secateur estimator is needed")
    schema = _check_representable(model)
    plan = _plan(model, schema)
    estimator = _fitted_template(model, schema, len(plan.columns))
    records = Records.of(estimator.tree_)
    nodes = _nodes(plan, records.nodes.dtype, estimator.criterion)
    estimator.tree_ = replace(records, nodes=nodes, values=_values(model, plan)).build(plan.depth)
    estimator.node_ids_ = write_protect(np.array(plan.node_ids, np.int32))
    if any(order is not None for _, order in plan.columns):
        return with_encoders(estimator, schema, plan.columns)
    if schema.has_names:
        estimator.feature_names_in_ = np.array(schema.names, object)
    return estimator


@dataclass
class _PlannedNode:
    """A node of the scikit-learn tree.

    Parameters
    ----------
    node_id : int
        The node of the model's tree that it represents, or whose test it belongs to.
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
class _NodePlan:
    """The nodes of the scikit-learn tree in pre-order, the columns they test, and the depth of the tree."""

    columns: list[_EncodedColumn]
    nodes: list[_PlannedNode] = field(default_factory=list)
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
        The node separates the children `first` to `last - 1` of v; None for all of them.
    """

    v: int
    parent: int = -1
    side: int = 0
    depth: int = 0
    part: "tuple[_Intervals, int, int] | None" = None


def _plan(model: Model, schema: Schema) -> _NodePlan:
    """Return the nodes of the scikit-learn tree for the pruned tree of a model."""
    orders = _ColumnOrders(model.tree, schema)
    plan = _NodePlan(orders.columns)
    statistics = _statistics(model)
    stack = [_Task(0)]
    while stack:
        task = stack.pop()
        position = len(plan.nodes)
        if task.parent >= 0:
            plan.nodes[task.parent].children[task.side] = position
        plan.depth = max(plan.depth, task.depth)
        node = _PlannedNode(task.v, statistics[task.v])
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
    """The children of a test as intervals of one column: child i takes values up to `limits[i]`, above the last limit.

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
        self.columns: list[_EncodedColumn] = [
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
            tried = self._columns_of_feature[j][:MAX_ORDERS_SHARED]
            fitting = [column for column in tried if _are_contiguous(branch, self.columns[column][1])]
            self._column_of_branches[key] = fitting[0] if fitting else self._add_order(j, branch, n_children)
        return self._column_of_branches[key]

    def _add_order(self, j: int, branch: Array, n_children: int) -> int:
        """Add a column with the codes of feature `j` sorted by child, and return its number."""
        column = len(self.columns)
        rank = branch.astype(np.int64)
        if self._schema.columns[j].has_missing:  # the encoder numbers missing last, so its child must come last
            rank[branch == branch[-1]] = n_children
        self.columns.append((j, tuple(np.argsort(rank, kind="stable").tolist())))
        self._columns_of_feature[j].append(column)
        return column


def _are_contiguous(branch: Array, order: tuple[int, ...] | None) -> bool:
    """Return whether the codes of each child are neighbours in this order."""
    children = branch[list(order or ())]
    return int(np.count_nonzero(np.diff(children))) + 1 == len(np.unique(children))


def _statistics(model: Model) -> Array:
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


def _values(model: Model, plan: _NodePlan) -> Array:
    """Return the predictions of each planned node in scikit-learn's shape (nodes, outputs, classes)."""
    rows = np.array([node.statistics for node in plan.nodes])
    if not model.is_classifier:
        return np.ascontiguousarray(rows[:, 1].reshape(-1, 1, 1))
    # Nodes without rows predict what their nearest ancestor with rows predicts.
    all_nodes = np.arange(model.tree.n_nodes, dtype=np.int32)
    nearest_with_rows = structure.inherit_labels(model.tree.parent, all_nodes, model.grown.total == 0)
    is_empty = rows.sum(axis=1) == 0
    filled = rows.copy()
    filled[is_empty] = _statistics(model)[nearest_with_rows[plan.node_ids]][is_empty]
    shares = filled / filled.sum(axis=1, keepdims=True)
    held_out = model.class_holdout
    for i in np.flatnonzero(model.pruning.is_leaf[plan.node_ids]):
        v = plan.nodes[i].node_id
        label = int(model.pruning.labels[v])
        if label >= shares.shape[1]:
            raise UnsupportedError(
                f"leaf {v} predicts a class that is not in the growing sample, which scikit-learn's tree cannot "
                "represent; label leaves by the growing sample"
            )
        if int(shares[i].argmax()) != label:
            votes = [] if held_out is None else [held_out.by_class[v, : shares.shape[1]].astype(np.float64)]
            shares[i] = shares_with_majority(shares[i], label, [*votes, *(vote + rows[i] for vote in votes)])
    return np.ascontiguousarray(shares[:, None, :])


def _nodes(plan: _NodePlan, dtype: Dtype, impurity: str) -> Array:
    """Return the records of the planned nodes."""
    nodes = blank_nodes(len(plan.nodes), dtype)
    rows = np.array([node.statistics for node in plan.nodes])
    weight = rows[:, 0] if impurity == "squared_error" else rows.sum(axis=1)
    nodes["left_child"] = [node.children[0] for node in plan.nodes]
    nodes["right_child"] = [node.children[1] for node in plan.nodes]
    nodes["feature"] = [node.column for node in plan.nodes]
    nodes["missing_go_to_left"] = [node.missing_goes_left for node in plan.nodes]
    split_part(nodes)["threshold"] = [node.threshold for node in plan.nodes]
    nodes["weighted_n_node_samples"] = weight
    nodes["n_node_samples"] = np.rint(weight).astype(np.int64)
    nodes["impurity"] = _impurity(rows, impurity)
    return nodes


def _impurity(rows: Array, name: str) -> Floats:
    """Return the impurity of nodes from their statistics: mean squared error, Gini impurity or entropy in bits."""
    if name == "squared_error":
        return np.divide(rows[:, 2], rows[:, 0], out=np.zeros(len(rows)), where=rows[:, 0] > 0)
    total = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    if name == "gini":
        return np.where(total[:, 0] > 0, 1 - (shares**2).sum(axis=1), 0.0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _check_representable(model: Model) -> Schema:
    """Return the schema of a model; raise an error if scikit-learn cannot represent its tree."""
    tree, kept = model.tree, model.pruning.is_kept
    schema = tree.schema
    check_no_surrogates(tree, "a tree of scikit-learn", "predict with secateur itself")
    if schema is None or (tree.feature[kept] < 0).any():
        raise TreeError(f"{tree} has no tests or no columns; only a tree that was grown on a table can be written")
    is_beyond_float32 = kept & np.isfinite(tree.threshold) & (np.abs(tree.threshold) > MAX_FLOAT32)
    if is_beyond_float32.any():
        v = int(np.flatnonzero(is_beyond_float32)[0])
        raise UnsupportedError(
            f"node {v} compares {schema.names[tree.feature[v]]!r} with {tree.threshold[v]:g}, beyond the range of "
            f"float32 ({MAX_FLOAT32:g}), the limit of scikit-learn's trees; rescale the column and grow again"
        )
    return schema


def _fitted_template(model: Model, schema: Schema, n_columns: int) -> Estimator:
    """Return a fitted estimator of the right class, whose tree is replaced later; fitting sets all other attributes."""
    from scipy.sparse import csc_matrix
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if not model.is_classifier:
        return DecisionTreeRegressor().fit(np.zeros((1, n_columns)), [0.0])
    assert model.class_grown is not None
    classes = np.arange(model.class_grown.n_classes) if schema.classes is None else np.array(schema.classes)
    name = model.parameters.get("criterion")
    estimator = DecisionTreeClassifier(criterion=name if name in IMPURITY_CRITERIA else "gini")
    labels = np.tile(np.arange(len(classes)), 2)  # twice: scikit-learn warns where each label is rare
    estimator.fit(csc_matrix((len(labels), n_columns), dtype=np.float32), labels)  # zeros would be classes x columns
    estimator.classes_ = classes
    return estimator
