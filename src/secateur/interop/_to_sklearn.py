"""to_sklearn: our model as a genuine scikit-learn tree, or a pipeline where columns are nominal.

scikit-learn's trees compare numbers and have two children. A nominal test of ours becomes a
balanced run of threshold tests on codes, in which the categories of one child stand
together; a test whose children do not stand together in the order of codes at hand gets an
encoder with an order of its own, so no subtree is ever doubled.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, Ints, write_protect
from ..core import Model, Moments, Tree, check_no_surrogates
from ..data.table import Schema
from ..errors import TreeError, UnsupportedError
from ._foreign import deciding
from ._nodes import NO_CHILD, NO_FEATURE, Dtype, Estimator, Records, blank_nodes, split_part
from ._pipeline import with_encoders

LARGEST = float(np.finfo(np.float32).max)
MOST_TRIED = 8  # orders of a nominal column that a test may share with others
_IMPURITIES = ("gini", "entropy", "log_loss")


def to_sklearn(model: Any) -> Estimator:
    """Convert the pruned tree of a model to a fitted scikit-learn estimator.

    Parameters
    ----------
    model : Model, or a fitted TreeClassifier or TreeRegressor

    Returns
    -------
    DecisionTreeClassifier, DecisionTreeRegressor or Pipeline
        A pipeline of encoders and a tree if a nominal column is tested. The tree predicts what
        the model does for all values that float32 holds, which is what scikit-learn reads;
        missing values and unseen categories included. Its attribute `node_ids_` gives, for each
        of its nodes, the node of the model's whole tree; the nodes of a run of tests that
        stand for one nominal test all have the number of that test. `n_node_samples` is
        the weight, rounded. Its probabilities are the class shares of the leaves (kind "frequency").

    Notes
    -----
    Thresholds beyond the range of float32 are refused. Whole numbers beyond 2**24 lose their
    last digits when scikit-learn reads them. `clone` and `fit` grow a new tree of scikit-learn's.

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
    schema = _checked(model)
    plan = _plan(model, schema)
    estimator = _template(model, schema, len(plan.columns))
    records = Records.of(estimator.tree_)
    nodes = _nodes(plan, records.nodes.dtype, estimator.criterion)
    estimator.tree_ = replace(records, nodes=nodes, values=_values(model, plan)).build(plan.depth)
    estimator.node_ids_ = write_protect(np.array(plan.owner, np.int32))
    if any(order is not None for _, order in plan.columns):
        return with_encoders(estimator, schema, plan.columns)
    if schema.has_names:
        estimator.feature_names_in_ = np.array(schema.names, object)
    return estimator


@dataclass
class _Plan:
    """The nodes to write, in pre-order; see `_plan`."""

    columns: list[tuple[int, tuple[int, ...] | None]]
    tests: list[list[Any]] = field(default_factory=list)  # both children, column, threshold, whether missing goes left
    owner: list[int] = field(default_factory=list)
    statistics: list[Array] = field(default_factory=list)
    depth: int = 0


def _plan(model: Model, schema: Schema) -> _Plan:
    """Walk the pruned tree and list the nodes of scikit-learn's."""
    orders = _Orders(model.tree, schema)
    plan = _Plan(orders.columns)
    statistics = _statistics(model)
    # Still to write: node v, below which node, as which of its children, how deep; or a run of the children of v.
    stack: list[tuple[int, int, int, int, tuple[_Segments, int, int] | None]] = [(0, -1, 0, 0, None)]
    while stack:
        v, parent, side, depth, run = stack.pop()
        here = len(plan.tests)
        test: list[Any] = [NO_CHILD, NO_CHILD, NO_FEATURE, NO_FEATURE, False]
        if parent >= 0:
            plan.tests[parent][side] = here
        plan.depth = max(plan.depth, depth)
        plan.owner.append(v)
        plan.tests.append(test)
        if model.pruning.is_leaf[v]:
            plan.statistics.append(statistics[v])
            continue
        whole = orders.segments(v) if run is None else run[0]
        segments, first, last = run or (whole, 0, len(whole.children))
        middle = (first + last) // 2
        test[2:] = segments.column, float(segments.limits[middle - 1]), segments.default < middle
        inside = segments.children[first:last]
        plan.statistics.append(statistics[v] if run is None else _joined(statistics[inside], model))
        for low, high, side in ((middle, last, 1), (first, middle, 0)):  # the left one is popped first
            if high - low == 1:
                stack.append((int(segments.children[low]), here, side, depth + 1, None))
            else:
                stack.append((v, here, side, depth + 1, (segments, low, high)))
    return plan


@dataclass(frozen=True)
class _Segments:
    """The children of a test along one axis: child i holds what is at most `limits[i]` and above the one before."""

    column: int
    children: Ints
    limits: Floats
    default: int


class _Orders:
    """The columns that scikit-learn's tree will test: ours, and further orders of nominal ones."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.tree = tree
        self.schema = schema
        self.columns: list[tuple[int, tuple[int, ...] | None]] = [
            (j, tuple(range(column.n_codes)) if column.kind == "nominal" else None)
            for j, column in enumerate(schema.columns)
        ]
        self.of_feature = {j: [j] for j in range(len(schema.columns))}
        self.of_branches: dict[tuple[int, bytes], int] = {}

    def segments(self, v: int) -> _Segments:
        tree = self.tree
        children = np.fromiter(tree.children(v), np.int32)
        j = int(tree.feature[v])
        branch = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        if not len(branch):
            return _Segments(j, children, tree.threshold[v : v + 1], int(tree.default[v]))
        key_of = j, branch.tobytes()
        column = self.of_branches.get(key_of)
        if column is None:
            tried = self.of_feature[j][:MOST_TRIED]
            column = next((c for c in tried if _stand_together(branch, self.columns[c][1])), None)
        if column is None:
            column = len(self.columns)
            key = branch.astype(np.int64)
            if self.schema.columns[j].has_missing:  # the encoder numbers missing last, so its child comes last
                key[branch == branch[-1]] = len(children)
            self.columns.append((j, tuple(np.argsort(key, kind="stable").tolist())))
            self.of_feature[j].append(column)
        self.of_branches[key_of] = column
        order = branch[list(self.columns[column][1] or ())]
        used, starts = np.unique(order, return_index=True)
        sequence = used[np.argsort(starts)]
        ends = np.append(np.sort(starts)[1:], len(order))
        # A child without categories takes unseen values only: it stands behind all codes.
        empty = np.setdiff1d(np.arange(len(children)), sequence)
        sequence = np.append(sequence, empty).astype(np.int64)
        limits = np.append(ends - 0.5, np.full(len(empty), len(order) + 0.5))
        limits[len(used) - 1] = len(order) + 0.5
        return _Segments(column, children[sequence], limits, int(np.flatnonzero(sequence == tree.default[v])[0]))


def _stand_together(branch: Array, order: tuple[int, ...] | None) -> bool:
    """Whether the codes of each child are neighbours in this order."""
    along = branch[list(order or ())]
    return int(np.count_nonzero(np.diff(along))) + 1 == len(np.unique(along))


def _statistics(model: Model) -> Array:
    """One row per node: class weights, or weight, mean and spread."""
    grown = model.grown
    if isinstance(grown, Moments):
        return np.stack([grown.weight, grown.mean, grown.sse], axis=1)
    return np.asarray(grown.by_class, np.float64)


def _joined(rows: Array, model: Model) -> Array:
    """The statistics of several children together."""
    if model.is_classifier:
        return np.asarray(rows.sum(axis=0))
    weight = rows[:, 0].sum()
    mean = np.average(rows[:, 1], weights=rows[:, 0]) if weight > 0 else rows[0, 1]
    return np.array([weight, mean, rows[:, 2].sum() + (rows[:, 0] * (rows[:, 1] - mean) ** 2).sum()])


def _values(model: Model, plan: _Plan) -> Array:
    """What each node answers, in scikit-learn's shape."""
    rows = np.array(plan.statistics)
    if not model.is_classifier:
        return np.ascontiguousarray(rows[:, 1].reshape(-1, 1, 1))
    nodes = np.arange(model.tree.n_nodes, dtype=np.int32)
    heirs = structure.inherit_labels(model.tree.parent, nodes, model.grown.total == 0)
    is_empty = rows.sum(axis=1) == 0
    filled = rows.copy()  # what no row reached answers as its nearest ancestor with rows does
    filled[is_empty] = _statistics(model)[heirs[plan.owner]][is_empty]
    shares = filled / filled.sum(axis=1, keepdims=True)
    held_out = model.class_holdout
    for i in np.flatnonzero(model.pruning.is_leaf[plan.owner]):
        v = plan.owner[i]
        label = int(model.pruning.labels[v])
        if label >= shares.shape[1]:
            raise UnsupportedError(
                f"leaf {v} predicts a class that is not in the growing sample, which scikit-learn's tree cannot "
                "represent; label leaves by the growing sample"
            )
        if int(shares[i].argmax()) != label:
            votes = [] if held_out is None else [held_out.by_class[v, : shares.shape[1]].astype(np.float64)]
            shares[i] = deciding(shares[i], label, [*votes, *(vote + rows[i] for vote in votes)])
    return np.ascontiguousarray(shares[:, None, :])


def _nodes(plan: _Plan, dtype: Dtype, impurity: str) -> Array:
    """The records of the planned nodes."""
    nodes = blank_nodes(len(plan.tests), dtype)
    rows = np.array(plan.statistics)
    weight = rows[:, 0] if impurity == "squared_error" else rows.sum(axis=1)
    left, right, feature, threshold, goes_left = zip(*plan.tests, strict=True)
    nodes["left_child"], nodes["right_child"] = left, right
    nodes["feature"], nodes["missing_go_to_left"] = feature, goes_left
    split_part(nodes)["threshold"] = threshold
    nodes["weighted_n_node_samples"] = weight
    nodes["n_node_samples"] = np.rint(weight).astype(np.int64)
    nodes["impurity"] = _impurity(rows, impurity)
    return nodes


def _impurity(rows: Array, name: str) -> Floats:
    if name == "squared_error":
        return np.divide(rows[:, 2], rows[:, 0], out=np.zeros(len(rows)), where=rows[:, 0] > 0)
    total = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    if name == "gini":
        return np.where(total[:, 0] > 0, 1 - (shares**2).sum(axis=1), 0.0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _checked(model: Model) -> Schema:
    """Refuse trees that scikit-learn cannot hold."""
    tree, kept = model.tree, model.pruning.is_kept
    schema = tree.schema
    check_no_surrogates(tree, "a tree of scikit-learn", "predict with secateur itself")
    if schema is None or (tree.feature[kept] < 0).any():
        raise TreeError(f"{tree} has no tests or no columns; only a tree that was grown on a table can be written")
    is_far = kept & np.isfinite(tree.threshold) & (np.abs(tree.threshold) > LARGEST)
    if is_far.any():
        v = int(np.flatnonzero(is_far)[0])
        raise UnsupportedError(
            f"node {v} compares {schema.names[tree.feature[v]]!r} with {tree.threshold[v]:g}, beyond the range of "
            f"float32 ({LARGEST:g}), the limit of scikit-learn's trees; rescale the column and grow again"
        )
    return schema


def _template(model: Model, schema: Schema, n_columns: int) -> Estimator:
    """A fitted tree of the right class, to take the layout and all attributes from."""
    from scipy.sparse import csc_matrix
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if not model.is_classifier:
        return DecisionTreeRegressor().fit(np.zeros((1, n_columns)), [0.0])
    assert model.class_grown is not None
    classes = np.arange(model.class_grown.n_classes) if schema.classes is None else np.array(schema.classes)
    name = model.parameters.get("criterion")
    estimator = DecisionTreeClassifier(criterion=name if name in _IMPURITIES else "gini")
    labels = np.tile(np.arange(len(classes)), 2)  # twice: scikit-learn warns where each label is rare
    estimator.fit(csc_matrix((len(labels), n_columns), dtype=np.float32), labels)  # zeros would be classes x columns
    estimator.classes_ = classes
    return estimator
