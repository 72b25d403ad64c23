"""A fitted scikit-learn tree in the numbering of ours, with the growing sample it holds; a genuine smaller one from it.

`value` of a classifier holds class *shares*; times the weight of the node they are the counts
of the growing sample, unless class weights (sums, not rows) or monotonic constraints
(clipped shares) came between. Then the growing rows have to be counted again.

In a smaller tree the kept nodes keep their statistics; cut nodes become leaves as scikit-learn writes
them. In-place editing would leave dead nodes behind, which other tools visit.
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
from ..core import Counts, Moments, Pruning, Sample, Tree
from ..data.table import Column, Schema
from ..errors import CountsError, ParameterError, UnsupportedError
from ._nodes import NO_CHILD, Estimator, Records, blank_nodes, preorder, split_part

FORESTS = (ForestClassifier, ForestRegressor)
MEANS = ("squared_error", "friedman_mse", "poisson")  # criteria under which a node answers the mean of its rows
_OF_TESTS = ("left_child", "right_child", "feature", "threshold", "split_value", "missing_go_to_left")
_AFTER_FIT = ("oob_score_", "oob_decision_function_", "oob_prediction_")  # what a forest measured with its old trees
SQUARED = ("squared_error", "friedman_mse")  # criteria whose impurity is the mean squared difference from it


@dataclass(frozen=True, eq=False)
class Foreign:
    """A fitted tree of scikit-learn, its nodes in our pre-order.

    Parameters
    ----------
    estimator : DecisionTree or ExtraTree, classifier or regressor
    owner : estimator
        The forest it belongs to, or itself; that is what routes rows.
    index : int
        Its place in the forest.
    records : Records
        Its nodes as they lie in memory.
    tree : Tree
        Structure, scores and columns; tests are left out, as scikit-learn routes the rows.
    order : array of int
        The number scikit-learn gives each of our nodes.
    classes : array or None
        The labels of a classifier: those of its forest, if it belongs to one.
    weight : array
        Of the growing rows in each node.
    loss : array
        The impurity of each node under the estimator's criterion, summed over its rows.
    values : array
        What each node answers: class shares, or one number.
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
        """Whether leaves answer a class."""
        return self.classes is not None

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
        return write_protect(self.loss / self.weight[0])

    def costs(self, grown: Sample | None) -> LongsOrFloats:
        """Return what each node costs the growing sample as a leaf; None means a regressor, and its own criterion."""
        if grown is not None:
            return grown.costs_if_leaf(self.answers)
        if self.is_monotonic:
            raise CountsError(self.missing_counts)
        return self.loss

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

    @cached_property
    def missing_counts(self) -> str:
        """Why the tree does not hold the counts of its growing sample; empty if it does."""
        owner, name, class_weight = self.owner, type(self.estimator).__name__, getattr(self.owner, "class_weight", None)
        # A bootstrap draws rows by their class weight and then counts them plainly.
        is_drawn = getattr(owner, "bootstrap", False) and class_weight != "balanced_subsample"
        if class_weight is not None and not is_drawn:
            why = f"{type(owner).__name__} has class_weight={class_weight!r}: its nodes hold weighted sums, not rows"
        elif self.is_monotonic:
            why = f"{name} has monotonic_cst: its nodes hold clipped values, which do not add up"
        elif not self.is_classifier and self.estimator.criterion not in SQUARED:
            why = f"{name} has criterion={self.estimator.criterion!r}: its nodes hold no squared errors"
        else:
            return ""
        return f"{why}; pass the rows it was fitted on as X, y (and sample_weight), and they are counted again"

    def own_sample(self) -> Sample:
        """Return the growing sample as the tree holds it; only where no counts are missing."""
        if not self.is_classifier:
            return Moments(self.tree, self.weight, self.values[:, 0], self.loss)
        counts = self.values * self.weight[:, None]
        whole = np.rint(counts)
        # One division and one product are off by a few units in the last place; true fractions are further away.
        is_whole = np.abs(counts - whole) <= 1e-13 * np.maximum(counts, 1.0)
        if is_whole.all():
            counts = whole.astype(np.int64)
        return Counts(self.tree, write_protect(counts))


def members(estimator: Estimator) -> list[Foreign]:
    """Return the fitted trees of an estimator: one, or all of a forest."""
    if not isinstance(estimator, FORESTS):
        return [read_tree(estimator)]
    _check(estimator, "estimators_")
    return [_read(member, estimator, i) for i, member in enumerate(estimator.estimators_)]


def read_tree(estimator: Estimator) -> Foreign:
    """Return one fitted tree; refuse everything else."""
    if isinstance(estimator, FORESTS):
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
    labels = None if classes is None else write_protect(np.array(classes))
    return Schema(columns, labels, has_names, has_numeric_target=classes is None)


def _read(estimator: Estimator, owner: Estimator, index: int) -> Foreign:
    classes = owner.classes_ if is_classifier(owner) else None
    records = Records.of(estimator.tree_)
    nodes = records.nodes
    is_leaf = nodes["left_child"] == NO_CHILD  # where prediction stops, whatever else such a node holds
    order, parent = preorder(nodes["left_child"], nodes["right_child"], is_leaf)
    n_dead = len(nodes) - len(order)
    if n_dead:
        warn(
            f"{n_dead} of {len(nodes)} nodes cannot be reached: the tree was pruned in place by setting children to "
            "-1, which leaves dead nodes behind; they are dropped"
        )
    weight, impurity = (np.asarray(nodes[name], np.float64) for name in ("weighted_n_node_samples", "impurity"))
    score = np.full(len(nodes), np.nan)
    inner = np.flatnonzero(~is_leaf)
    low, high = nodes["left_child"][inner], nodes["right_child"][inner]
    rest = weight[low] * impurity[low] + weight[high] * impurity[high]
    score[inner] = impurity[inner] - rest / weight[inner]
    is_nominal = np.isin(nodes["feature"], records.nominal_features())  # of these no threshold is known
    threshold = np.where(is_nominal, 0.0, split_part(nodes)["threshold"])
    tree = Tree(
        write_protect(parent.astype(np.int32)),
        feature=write_protect(np.where(is_leaf, -1, nodes["feature"])[order].astype(np.int32)),
        threshold=write_protect(np.where(is_leaf, np.nan, threshold)[order]),
        score=write_protect(score[order]),
        schema=schema_of(estimator, classes),
    )
    loss = write_protect(np.maximum(weight * impurity, 0.0)[order])
    values = np.asarray(records.values[order, 0], np.float64)
    order = write_protect(order.astype(np.int32))
    return Foreign(estimator, owner, index, records, tree, order, classes, weight[order], loss, values)


def _check(estimator: Estimator, trees: str) -> None:
    if not hasattr(estimator, trees):
        raise ParameterError(f"{type(estimator).__name__} is not fitted yet; call its fit first")
    if estimator.n_outputs_ != 1:
        raise UnsupportedError(
            f"{type(estimator).__name__} has {estimator.n_outputs_} outputs; trees with one can be pruned: fit one "
            "estimator for each column of y (sklearn.multioutput does)"
        )


def pruned_estimator(foreign: Foreign, pruning: Pruning, samples: tuple[Counts, ...] = ()) -> Estimator:
    """Return the estimator with the pruned tree.

    Parameters
    ----------
    foreign : Foreign
    pruning : Pruning
        Of `foreign.tree`. Leaves whose class is not the one the scikit-learn node answers are
        given the class shares of another sample that do.
    samples : tuple of Counts
        The growing and the held-out sample that the classes may have come from.
    """
    is_here = pruning.is_kept | pruning.is_leaf
    here, is_leaf = foreign.order[is_here], pruning.is_leaf[is_here]
    old = foreign.records.nodes
    nodes = blank_nodes(len(here), old.dtype)
    for name in old.dtype.names or ():
        rows = ~is_leaf if name in _OF_TESTS else slice(None)
        nodes[name][rows] = old[name][here][rows]
    place = np.full(len(old), -1, np.int64)
    place[here] = np.arange(len(here))
    for name in ("left_child", "right_child"):
        nodes[name][~is_leaf] = place[nodes[name][~is_leaf]]
    values = foreign.records.values[here].copy()
    values[is_leaf, 0] = _answers(foreign, pruning, samples)[pruning.is_leaf]
    depth = int(foreign.tree.depth[is_here].max())
    smaller = replace(foreign.records, nodes=nodes, values=np.ascontiguousarray(values)).build(depth)
    estimator = copy.copy(foreign.estimator)
    estimator.tree_ = smaller
    return estimator


def pruned_forest(forest: Estimator, trees: list[Estimator]) -> Estimator:
    """Return the forest with these trees; scores that its old trees earned are left out."""
    smaller = copy.copy(forest)
    smaller.estimators_ = trees
    for name in _AFTER_FIT:
        if hasattr(smaller, name):
            delattr(smaller, name)
    return smaller


def deciding(shares: Floats, label: int, samples: Iterable[LongsOrFloats]) -> Floats:
    """Return class shares whose first largest is `label`: those of a sample that has it so, else these, just raised."""
    for rows in samples:
        if rows.any() and int(rows.argmax()) == label:
            return np.asarray(rows / rows.sum())
    if int(shares.argmax()) == label:
        return shares
    raised = shares.copy()
    raised[label] = shares.max() * (1 + 1e-9)
    return np.asarray(raised / raised.sum())


def _answers(foreign: Foreign, pruning: Pruning, samples: tuple[Counts, ...]) -> Floats:
    """What each node of the pruning answers as a leaf: the values of the tree, unless another class was decided."""
    answers = foreign.values.copy()
    if pruning.node_labels is None or not samples:
        return answers
    held_out = [sample.by_class[:, : answers.shape[1]] for sample in samples[1:]]
    candidates = [*held_out, *(rows + samples[0].by_class for rows in held_out)]
    for v in np.flatnonzero(pruning.is_leaf & (pruning.node_labels != samples[0].majority)):
        answers[v] = deciding(answers[v], int(pruning.node_labels[v]), [rows[v] for rows in candidates])
    return answers
