"""Read a fitted scikit-learn tree in pre-order with its growing sample, and write a pruned tree of the same class.

`value` of a classifier holds class *shares*. Multiplied by the weight of the node, these are the counts of the growing
sample, unless class weights (the nodes then hold weighted sums) or monotonic constraints (the shares are clipped) were
used. In these cases the growing rows have to be counted again.

In a pruned tree, kept nodes keep their statistics, and cut nodes become leaves as scikit-learn writes them. Editing the
tree in place instead would leave unreachable nodes behind, which other tools visit.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
from sklearn.tree import BaseDecisionTree

from .._utils.arrays import Array, ArrayLike, Floats, Ints, LongsOrFloats, write_protect
from .._utils.warn import warn
from ..core import Counts, Moments, Pruning, Sample, SampleUsage, Tree
from ..core.provenance import NO_SAMPLES
from ..data.table import Column, Schema
from ..errors import CountsError, ParameterError, UnsupportedError, show
from ._records import NO_CHILD, Estimator, Records, blank_nodes, preorder, split_part
from ._stored_samples import read_samples, store_samples

FOREST_TYPES = (ForestClassifier, ForestRegressor)
MEAN_CRITERIA = ("squared_error", "friedman_mse", "poisson")  # a node predicts the mean of its rows
SQUARED_ERROR_CRITERIA = ("squared_error", "friedman_mse")  # the impurity of a node is its mean squared error
SPLIT_FIELDS = ("left_child", "right_child", "feature", "threshold", "split_value", "missing_go_to_left")
SCORES_OF_FIT = ("oob_score_", "oob_decision_function_", "oob_prediction_")  # of a forest, measured with its full trees


@dataclass(frozen=True, eq=False)
class SklearnTree:
    """A fitted tree of scikit-learn, with its nodes in pre-order.

    Parameters
    ----------
    estimator : DecisionTree or ExtraTree, classifier or regressor
        The fitted tree.
    owner : estimator
        The forest that contains the tree, or the tree itself; it routes rows.
    index : int
        Position of the tree in the forest.
    records : Records
        The nodes as scikit-learn stores them.
    tree : Tree
        Structure, scores and columns. It has no exact tests, because scikit-learn routes the rows.
    order : array of int
        scikit-learn's number of each node in pre-order.
    classes : array or None
        The labels of a classifier (those of its forest, if it belongs to one); None for a regressor.
    weight : array
        Weight of the growing rows in each node.
    loss : array
        The impurity of each node under the estimator's criterion, summed over its rows.
    values : array
        The prediction of each node: class shares, or one number.
    """

    estimator: Estimator
    owner: Estimator
    index: int
    records: Records
    tree: Tree
    order: Ints
    classes: Array | None
    weight: Floats
    loss: Floats
    values: Floats

    @property
    def is_classifier(self) -> bool:
        """Whether leaves predict a class."""
        return self.classes is not None

    @cached_property
    def labels(self) -> Ints:
        """The class number that each node predicts."""
        return np.asarray(self.values.argmax(axis=1), np.int32)

    @property
    def predictions(self) -> Array:
        """The prediction of each node: the number of a class; for regression the mean."""
        return self.labels if self.is_classifier else self.values[:, 0]

    @cached_property
    def risk(self) -> Floats:
        """The cost of each node as a leaf in scikit-learn: its share of the rows times its impurity."""
        return write_protect(self.loss / self.weight[0])

    def costs(self, grown: Sample | None) -> LongsOrFloats:
        """Return the cost of each node as a leaf on the growing sample; for None, the loss of the criterion."""
        if grown is not None:
            return grown.costs_if_leaf(self.predictions)
        if self.is_monotonic:
            raise CountsError(self.missing_counts_reason)
        return self.loss

    @property
    def is_monotonic(self) -> bool:
        """Whether the estimator has monotonic constraints, which clip the values of its nodes."""
        constraints = self.estimator.monotonic_cst
        return constraints is not None and bool(np.any(np.asarray(constraints) != 0))

    def node_numbers(self, nodes: ArrayLike) -> Ints:
        """Return the pre-order numbers of some of scikit-learn's nodes."""
        number_of = np.full(len(self.records.nodes), -1, np.int32)
        number_of[self.order] = np.arange(len(self.order), dtype=np.int32)
        numbers: Ints = number_of[np.asarray(nodes)]
        return numbers

    @cached_property
    def missing_counts_reason(self) -> str:
        """Why the tree does not store the counts of its growing sample; empty if it does."""
        owner, name, class_weight = self.owner, type(self.estimator).__name__, getattr(self.owner, "class_weight", None)
        # A bootstrap uses class weights as probabilities of drawing rows; it counts the drawn rows without weights.
        is_drawn = getattr(owner, "bootstrap", False) and class_weight != "balanced_subsample"
        if class_weight is not None and not is_drawn:
            why = (
                f"{type(owner).__name__} has class_weight={show(class_weight)}: its nodes hold weighted sums, not rows"
            )
        elif self.is_monotonic:
            why = f"{name} has monotonic_cst: its nodes hold clipped values, which do not add up"
        elif not self.is_classifier and self.estimator.criterion not in SQUARED_ERROR_CRITERIA:
            why = f"{name} has criterion={show(self.estimator.criterion)}: its nodes hold no squared errors"
        else:
            return ""
        return f"{why}; pass the rows it was fitted on as X, y (and sample_weight), and they are counted again"

    def stored_sample(self) -> Sample:
        """Return the growing sample that the tree stores; valid only if `missing_counts_reason` is empty."""
        if not self.is_classifier:
            return Moments(self.tree, self.weight, self.values[:, 0], self.loss)
        counts = self.values * self.weight[:, None]
        rounded = np.rint(counts)
        # One division and one product change the last digits only; weights that are fractions differ by more.
        is_whole = np.abs(counts - rounded) <= 1e-13 * np.maximum(counts, 1.0)
        if is_whole.all():
            counts = rounded.astype(np.int64)
        return Counts(self.tree, write_protect(counts))


def fitted_trees(estimator: Estimator) -> list[SklearnTree]:
    """Return the fitted trees of an estimator: a single tree, or all trees of a forest."""
    if not isinstance(estimator, FOREST_TYPES):
        return [read_fitted_tree(estimator)]
    _check(estimator, "estimators_")
    return [_read(member, estimator, i) for i, member in enumerate(estimator.estimators_)]


def read_fitted_tree(estimator: Estimator) -> SklearnTree:
    """Return a single fitted tree; raise an error for forests and other objects."""
    if isinstance(estimator, FOREST_TYPES):
        raise UnsupportedError(
            f"{type(estimator).__name__} is a forest of trees; pass one of its members, estimator.estimators_[i]"
        )
    if not isinstance(estimator, BaseDecisionTree):
        raise UnsupportedError(
            f"estimator is a {type(estimator).__name__}; a fitted DecisionTree, ExtraTree, RandomForest or ExtraTrees, "
            "classifier or regressor, of scikit-learn is needed. For a pipeline, pass its last step; members of "
            "boosting correct one another and cannot be pruned on their own"
        )
    _check(estimator, "tree_")
    return _read(estimator, estimator, 0)


def schema_of(estimator: Estimator, classes: Array | None, feature_names: Sequence[str] | None = None) -> Schema:
    """Return the schema of an estimator's columns, named by `feature_names`, by the estimator, or x0, x1, ..."""
    n_features = estimator.n_features_in_
    names, has_names = feature_names, True
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names, has_names = [f"x{j}" for j in range(n_features)], False
    if isinstance(names, str) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"feature_names={show(names)}; one string for each of {n_features} columns is needed")
    columns = tuple(Column(str(name), "numeric") for name in names)
    labels = None if classes is None else write_protect(np.array(classes))
    return Schema(columns, labels, has_names, has_numeric_target=classes is None)


def _read(estimator: Estimator, owner: Estimator, index: int) -> SklearnTree:
    """Return a fitted tree of a forest, or (as its own owner) a single one."""
    classes = owner.classes_ if is_classifier(owner) else None
    records = Records.of(estimator.tree_)
    nodes = records.nodes
    is_leaf = nodes["left_child"] == NO_CHILD  # prediction stops there, whatever the other fields contain
    order, parent = preorder(nodes["left_child"], nodes["right_child"], is_leaf)
    n_unreachable = len(nodes) - len(order)
    if n_unreachable:
        warn(
            f"{n_unreachable} of {len(nodes)} nodes cannot be reached: the tree was pruned in place by setting "
            "children to -1, which leaves dead nodes behind; they are dropped"
        )
    weight = np.asarray(nodes["weighted_n_node_samples"], np.float64)
    impurity = np.asarray(nodes["impurity"], np.float64)
    score = np.full(len(nodes), np.nan)
    internal = np.flatnonzero(~is_leaf)
    left, right = nodes["left_child"][internal], nodes["right_child"][internal]
    children_loss = weight[left] * impurity[left] + weight[right] * impurity[right]
    score[internal] = impurity[internal] - children_loss / weight[internal]
    is_nominal = np.isin(nodes["feature"], records.nominal_features())  # these tests have no threshold
    threshold = np.where(is_nominal, 0.0, split_part(nodes)["threshold"])
    key, history = read_samples(estimator)
    tree = Tree(
        write_protect(parent.astype(np.int32)),
        feature=write_protect(np.where(is_leaf, -1, nodes["feature"])[order].astype(np.int32)),
        threshold=write_protect(np.where(is_leaf, np.nan, threshold)[order]),
        score=write_protect(score[order]),
        schema=schema_of(estimator, classes),
        key=key,
        history=history,
    )
    loss = write_protect(np.maximum(weight * impurity, 0.0)[order])
    values = np.asarray(records.values[order, 0], np.float64)
    order = write_protect(order.astype(np.int32))
    return SklearnTree(estimator, owner, index, records, tree, order, classes, weight[order], loss, values)


def _check(estimator: Estimator, fitted_attribute: str) -> None:
    """Raise an error unless an estimator is fitted and has one output."""
    if not hasattr(estimator, fitted_attribute):
        raise ParameterError(f"{type(estimator).__name__} is not fitted yet; call its fit first")
    if estimator.n_outputs_ != 1:
        raise UnsupportedError(
            f"{type(estimator).__name__} has {estimator.n_outputs_} outputs; trees with one can be pruned: fit one "
            "estimator for each column of y (sklearn.multioutput does)"
        )


def pruned_estimator(
    foreign: SklearnTree,
    pruning: Pruning,
    samples: tuple[Counts, ...] = (),
    used: SampleUsage = NO_SAMPLES,
) -> Estimator:
    """Return a copy of the estimator with the pruned tree.

    Parameters
    ----------
    foreign : SklearnTree
        The fitted tree.
    pruning : Pruning
        A pruning of `foreign.tree`. A leaf whose class differs from that of the scikit-learn node gets the class
        shares of a sample in which its class is the majority.
    samples : tuple of Counts
        The growing and the held-out sample from which the rule may have taken the classes.
    used : SampleUsage
        The samples that are known to have helped to make the pruned tree; it carries them.
    """
    is_in_tree = pruning.is_kept | pruning.is_leaf
    kept, is_leaf = foreign.order[is_in_tree], pruning.is_leaf[is_in_tree]
    old_nodes = foreign.records.nodes
    nodes = blank_nodes(len(kept), old_nodes.dtype)
    for name in old_nodes.dtype.names or ():
        copied = ~is_leaf if name in SPLIT_FIELDS else slice(None)  # leaves have no split
        nodes[name][copied] = old_nodes[name][kept][copied]
    new_number = np.full(len(old_nodes), -1, np.int64)
    new_number[kept] = np.arange(len(kept))
    for name in ("left_child", "right_child"):
        nodes[name][~is_leaf] = new_number[nodes[name][~is_leaf]]
    values = foreign.records.values[kept].copy()
    values[is_leaf, 0] = _leaf_values(foreign, pruning, samples)[pruning.is_leaf]
    depth = int(foreign.tree.depth[is_in_tree].max())
    estimator = copy.copy(foreign.estimator)
    estimator.tree_ = replace(foreign.records, nodes=nodes, values=np.ascontiguousarray(values)).build(depth)
    known = foreign.tree.history | used
    if known:
        store_samples(estimator, foreign.tree.row_key, known)
    return estimator


def pruned_forest(forest: Estimator, trees: list[Estimator]) -> Estimator:
    """Return a copy of the forest with these trees, without the scores that it measured with its full trees."""
    pruned = copy.copy(forest)
    pruned.estimators_ = trees
    for name in SCORES_OF_FIT:
        if hasattr(pruned, name):
            delattr(pruned, name)
    return pruned


def shares_with_majority(shares: Floats, label: int, samples: Iterable[LongsOrFloats]) -> Floats:
    """Return class shares in which `label` is the first of the largest.

    Parameters
    ----------
    shares : array
        The shares to use if no sample has this majority; that of `label` is raised just above the largest.
    label : int
        The class.
    samples : iterable of arrays
        Rows of each class in samples whose shares are preferred, if `label` is their majority.
    """
    for rows in samples:
        if rows.any() and int(rows.argmax()) == label:
            return np.asarray(rows / rows.sum())
    if int(shares.argmax()) == label:
        return shares
    raised = shares.copy()
    raised[label] = shares.max() * (1 + 1e-9)
    return np.asarray(raised / raised.sum())


def _leaf_values(foreign: SklearnTree, pruning: Pruning, samples: tuple[Counts, ...]) -> Floats:
    """Return the value of each node as a leaf: that of the tree, unless the pruning gives the node another class."""
    values = foreign.values.copy()
    if pruning.node_labels is None or not samples:
        return values
    held_out = [sample.by_class[:, : values.shape[1]] for sample in samples[1:]]
    candidates = [*held_out, *(rows + samples[0].by_class for rows in held_out)]
    for v in np.flatnonzero(pruning.is_leaf & (pruning.node_labels != samples[0].majority)):
        values[v] = shares_with_majority(values[v], int(pruning.node_labels[v]), [rows[v] for rows in candidates])
    return values
