"""A fitted scikit-learn tree in the numbering of ours, with the growing sample it holds.

`value` of a classifier holds class *shares*; times the weight of the node they are the counts
of the growing sample, unless class weights (sums, not rows) or monotonic constraints
(clipped shares) came between. Then the growing rows have to be counted again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
from sklearn.tree import BaseDecisionTree

from ..data.arrays import Array, ArrayLike, Floats, Ints, sealed
from ..data.remarks import tell
from ..data.table import Column, Schema
from ..errors import CountsError, ParameterError, UnsupportedError
from ..nouns import Counts, Moments, Sample, Tree
from ._nodes import Estimator, Records, preorder

MEANS = ("squared_error", "friedman_mse", "poisson")  # criteria under which a node answers the mean of its rows
SQUARED = ("squared_error", "friedman_mse")  # criteria whose impurity is the mean squared difference from it


@dataclass(frozen=True, eq=False)
class Foreign:
    """A fitted tree of scikit-learn, its nodes in our pre-order.

    Parameters
    ----------
    estimator : DecisionTree or ExtraTree, classifier or regressor
    records : Records
        Its nodes as they lie in memory.
    tree : Tree
        Structure, scores and columns; tests are left out, as scikit-learn routes the rows.
    order : array of int
        The number scikit-learn gives each of our nodes.
    classes : array or None
        The labels of a classifier: those of its forest, if it belongs to one.
    missing_counts : str
        Why the tree does not hold the counts of its growing sample; empty if it does.
    """

    estimator: Estimator
    records: Records
    tree: Tree
    order: Ints
    classes: Array | None = None
    missing_counts: str = ""

    @property
    def is_classifier(self) -> bool:
        """Whether leaves answer a class."""
        return self.classes is not None

    @cached_property
    def weight(self) -> Floats:
        """Weight of the growing rows in each node."""
        return np.asarray(self.records.nodes["weighted_n_node_samples"][self.order], np.float64)

    @cached_property
    def impurity(self) -> Floats:
        """Impurity of each node under the estimator's criterion."""
        return np.asarray(self.records.nodes["impurity"][self.order], np.float64)

    @cached_property
    def values(self) -> Floats:
        """What each node answers: class shares, or one number."""
        return np.asarray(self.records.values[self.order, 0], np.float64)

    @cached_property
    def labels(self) -> Ints:
        """The class number each node answers."""
        return np.asarray(self.values.argmax(axis=1), np.int32)

    @property
    def answers(self) -> Array:
        """What each node answers: the number of a class, or a number."""
        return self.labels if self.is_classifier else self.values[:, 0]

    @cached_property
    def risk(self) -> Floats:
        """What cost-complexity pruning in scikit-learn charges a leaf: its share of the rows times its impurity."""
        return sealed(np.maximum(self.weight * self.impurity, 0.0) / self.weight[0])

    def own_cost(self) -> Floats:
        """Return what each node of a regressor costs as a leaf: the loss of its criterion, summed over its rows."""
        if self.is_monotonic:
            raise CountsError(self.missing_counts)
        return sealed(np.maximum(self.weight * self.impurity, 0.0))

    @property
    def is_monotonic(self) -> bool:
        """Whether values were clipped to keep the order the constraints ask for."""
        constraints = self.estimator.monotonic_cst
        return constraints is not None and bool(np.any(np.asarray(constraints) != 0))

    def places(self, nodes: ArrayLike) -> Ints:
        """Our numbers of scikit-learn's nodes."""
        place = np.full(len(self.records.nodes), -1, np.int32)
        place[self.order] = np.arange(len(self.order), dtype=np.int32)
        ours: Ints = place[np.asarray(nodes)]
        return ours

    def own_sample(self) -> Sample:
        """Return the growing sample as the tree holds it."""
        if self.missing_counts:
            raise CountsError(self.missing_counts)
        if not self.is_classifier:
            return Moments(self.tree, self.weight, self.values[:, 0], self.own_cost())
        counts = self.values * self.weight[:, None]
        whole = np.rint(counts)
        # One division and one product are off by a few units in the last place; true fractions are further away.
        is_whole = np.abs(counts - whole) <= 1e-13 * np.maximum(counts, 1.0)
        if is_whole.all():
            counts = whole.astype(np.int64)
        return Counts(self.tree, sealed(counts))


def members(estimator: Estimator) -> list[Foreign]:
    """Return the fitted trees of an estimator: one, or all of a forest."""
    if isinstance(estimator, ForestClassifier | ForestRegressor):
        if not hasattr(estimator, "estimators_"):
            raise _not_fitted(estimator)
        _check_outputs(estimator)
        classes = estimator.classes_ if is_classifier(estimator) else None
        reason = _weighted_reason(estimator) if classes is not None else ""
        return [_read(member, classes, reason) for member in estimator.estimators_]
    return [read_tree(estimator)]


def read_tree(estimator: Estimator) -> Foreign:
    """Return one fitted tree; refuse everything else."""
    if isinstance(estimator, ForestClassifier | ForestRegressor):
        raise UnsupportedError(
            f"{type(estimator).__name__} is a forest of trees; pass one of its members, estimator.estimators_[i]"
        )
    if not isinstance(estimator, BaseDecisionTree):
        raise UnsupportedError(
            f"estimator is a {type(estimator).__name__}; a fitted DecisionTree, ExtraTree, RandomForest or ExtraTrees, "
            "classifier or regressor, of scikit-learn is needed. For a pipeline, pass its last step; members of "
            "boosting correct one another and cannot be pruned on their own"
        )
    if not hasattr(estimator, "tree_"):
        raise _not_fitted(estimator)
    _check_outputs(estimator)
    classes = estimator.classes_ if is_classifier(estimator) else None
    return _read(estimator, classes, "")


def schema_of(estimator: Estimator, classes: Array | None, feature_names: Sequence[str] | None = None) -> Schema:
    """Return the columns an estimator was fitted on, under the names given, its own, or x0, x1, ..."""
    n_features = estimator.n_features_in_
    names, has_names = feature_names, True
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names, has_names = [f"x{j}" for j in range(n_features)], False
    if isinstance(names, str) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"feature_names={names!r}; one string for each of {n_features} columns is needed")
    columns = tuple(Column(str(name), "numeric") for name in names)
    labels = None if classes is None else sealed(np.array(classes))
    return Schema(columns, labels, has_names, has_numeric_target=classes is None)


def _read(estimator: Estimator, classes: Array | None, reason: str) -> Foreign:
    records = Records.of(estimator.tree_)
    nodes, is_leaf = records.nodes, records.is_leaf
    order, parent = preorder(nodes["left_child"], nodes["right_child"], is_leaf)
    n_dead = len(nodes) - len(order)
    if n_dead:
        tell(
            f"{n_dead} of {len(nodes)} nodes cannot be reached: the tree was pruned in place by setting children to "
            "-1, which leaves dead nodes behind; they are dropped"
        )
    weight, impurity = nodes["weighted_n_node_samples"], nodes["impurity"]
    score = np.full(len(nodes), np.nan)
    inner = np.flatnonzero(~is_leaf)
    low, high = nodes["left_child"][inner], nodes["right_child"][inner]
    rest = weight[low] * impurity[low] + weight[high] * impurity[high]
    score[inner] = impurity[inner] - rest / weight[inner]
    schema = schema_of(estimator, classes)
    tree = Tree(sealed(parent.astype(np.int32)), score=sealed(score[order]), schema=schema)
    foreign = Foreign(estimator, records, tree, sealed(order.astype(np.int32)), classes)
    return replace(foreign, missing_counts=reason or _missing(foreign))


def _missing(foreign: Foreign) -> str:
    """Why a tree does not hold its growing sample."""
    estimator = foreign.estimator
    way_out = "pass the rows it was fitted on as X, y (and sample_weight), and they are counted again"
    name = type(estimator).__name__
    if getattr(estimator, "class_weight", None) is not None:
        return f"{name} has class_weight={estimator.class_weight!r}: its nodes hold weighted sums, not rows; {way_out}"
    if foreign.is_monotonic:
        return f"{name} has monotonic_cst: its nodes hold clipped values, which do not add up; {way_out}"
    if not foreign.is_classifier and estimator.criterion not in SQUARED:
        return f"{name} has criterion={estimator.criterion!r}: its nodes hold no squared errors; {way_out}"
    return ""


def _weighted_reason(forest: Estimator) -> str:
    # A bootstrap draws rows by their class weight and then counts them plainly.
    if forest.class_weight is None or (forest.bootstrap and forest.class_weight != "balanced_subsample"):
        return ""
    return (
        f"{type(forest).__name__} has class_weight={forest.class_weight!r}: its nodes hold weighted sums, not rows; "
        "pass the rows it was fitted on as X, y (and sample_weight), and they are counted again"
    )


def _check_outputs(estimator: Estimator) -> None:
    if estimator.n_outputs_ != 1:
        raise UnsupportedError(
            f"{type(estimator).__name__} has {estimator.n_outputs_} outputs; trees with one can be pruned: fit one "
            "estimator for each column of y (sklearn.multioutput does)"
        )


def _not_fitted(estimator: Estimator) -> ParameterError:
    return ParameterError(f"{type(estimator).__name__} is not fitted yet; call its fit first")
