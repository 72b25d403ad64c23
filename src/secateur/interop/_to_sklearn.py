"""to_sklearn: convert a model to a fitted scikit-learn tree, or to a pipeline if nominal columns are tested.

`_node_plan.py` describes how nominal tests and tests with more than two children are represented.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, write_protect
from ..core import Model, SampleUsage, check_no_surrogates
from ..data.table import Schema
from ..errors import TreeError, UnsupportedError, show
from ._node_plan import NodePlan, node_statistics, plan_nodes
from ._pipeline import with_encoders
from ._records import Dtype, Estimator, Records, blank_nodes, split_part
from ._sklearn_tree import shares_with_majority
from ._stored_samples import store_samples

MAX_FLOAT32 = float(np.finfo(np.float32).max)
IMPURITY_CRITERIA = ("gini", "entropy", "log_loss")


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
        the rounded weight. Its probabilities are the class shares of the leaves (kind "frequency"). The tree carries
        sketches of the rows that grew and pruned it (in a pipeline only the names of the samples), by which
        `from_sklearn` recognises these rows.

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
    plan = plan_nodes(model, schema)
    estimator = _fitted_template(model, schema, len(plan.columns))
    records = Records.of(estimator.tree_)
    nodes = _nodes(plan, records.nodes.dtype, estimator.criterion)
    estimator.tree_ = replace(records, nodes=nodes, values=_values(model, plan)).build(plan.depth)
    estimator.node_ids_ = write_protect(np.array(plan.node_ids, np.int32))
    used = model.tree.history | SampleUsage.of(model.grown) | model.pruning.seen
    has_encoders = any(order is not None for _, order in plan.columns)
    # The encoders of a pipeline change the values that the sketches hash.
    store_samples(estimator, model.tree.row_key, SampleUsage(list(used)) if has_encoders else used)
    if has_encoders:
        return with_encoders(estimator, schema, plan.columns)
    if schema.has_names:
        estimator.feature_names_in_ = np.array(schema.names, object)
    return estimator


def _values(model: Model, plan: NodePlan) -> Array:
    """Return the predictions of each planned node in scikit-learn's shape (nodes, outputs, classes)."""
    rows = np.array([node.statistics for node in plan.nodes])
    limits = None if model.tree.estimate_limits is None else model.tree.estimate_limits[plan.node_ids].T
    if not model.is_classifier:
        means = rows[:, 1] if limits is None else np.clip(rows[:, 1], *limits)
        return np.ascontiguousarray(means.reshape(-1, 1, 1))
    # Nodes without rows predict what their nearest ancestor with rows predicts.
    all_nodes = np.arange(model.tree.n_nodes, dtype=np.int32)
    nearest_with_rows = structure.inherit_labels(model.tree.parent, all_nodes, model.grown.total == 0)
    is_empty = rows.sum(axis=1) == 0
    filled = rows.copy()
    filled[is_empty] = node_statistics(model)[nearest_with_rows[plan.node_ids]][is_empty]
    shares = filled / filled.sum(axis=1, keepdims=True)
    if limits is not None and shares.shape[1] == 2:
        shares[:, 1] = np.clip(shares[:, 1], *limits)
        shares[:, 0] = 1 - shares[:, 1]
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


def _nodes(plan: NodePlan, dtype: Dtype, impurity: str) -> Array:
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
            f"node {v} compares {show(schema.names[tree.feature[v]])} with {tree.threshold[v]:g}, beyond the range of "
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
    labels = np.tile(np.arange(len(classes)), 2)  # each label twice, because scikit-learn warns if labels are rare
    # A sparse matrix, because a dense one of this shape could be large.
    estimator.fit(csc_matrix((len(labels), n_columns), dtype=np.float32), labels)
    estimator.classes_ = classes
    return estimator
