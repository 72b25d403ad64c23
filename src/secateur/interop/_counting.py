"""Rows counted in a scikit-learn tree: the growing rows again, or held-out ones. scikit-learn itself routes them."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_sample_weight

from .._kernels import structure
from .._utils.arrays import Array, ArrayLike, Floats, Ints, Labels, LongsOrFloats, Rows, write_protect
from ..core import Counts, Moments, Pruning, PruningSequence, Sample, Tree
from ..data.target import encode_numeric_target, encode_target
from ..data.weights import check_weights, round_for_exact_sums
from ..errors import CountsError, DataError, UnsupportedError
from ..model_selection import choose as select_member
from ._foreign import Foreign

CHOICES = {"min-error": 0, "0se": 0, "1se": 1}  # so many standard errors above the least error


def routed(trees: list[Foreign], X: Rows) -> list[Ints]:
    """Return the leaf of each row in each tree, in our numbers; scikit-learn routes the rows."""
    estimator = trees[0].owner
    if issparse(X):
        raise UnsupportedError(f"X is sparse ({type(X).__name__}); pass X.toarray()")
    try:
        leaves = np.asarray(estimator.apply(X))
    except (ValueError, TypeError) as error:
        raise DataError(f"X is not valid for the fitted {type(estimator).__name__}: {error}") from error
    columns = leaves.reshape(len(leaves), -1)
    if len(columns) == 0:
        raise DataError("X has 0 rows; at least one is needed")
    return [foreign.places(column) for foreign, column in zip(trees, columns.T, strict=True)]


def grown_sample(foreign: Foreign, X: Rows, y: Labels, sample_weight: ArrayLike | None) -> Sample:
    """Return the growing sample as the tree holds it, or else counted again."""
    if not foreign.missing_counts:
        return foreign.own_sample()
    if X is None or y is None:
        raise CountsError(foreign.missing_counts)
    return recounted(foreign, routed([foreign], X)[0], y, sample_weight)


def recounted(foreign: Foreign, leaves: Ints, y: Labels, sample_weight: ArrayLike | None) -> Sample:
    """Return the growing sample counted again, under the class weights of growing.

    The number of rows in every node must be the one the tree remembers.
    """
    n_rows = len(leaves)
    weight = _weights(sample_weight, n_rows) * _growing_weights(foreign, y, n_rows)
    if foreign.classes is None or weight.any():
        drawn = np.bincount(leaves[weight > 0], minlength=foreign.tree.n_nodes)
        found = structure.sum_upwards(foreign.tree.parent, drawn[:, None])[:, 0]
        known = foreign.records.nodes["n_node_samples"][foreign.order]
        wrong = np.flatnonzero(found != known)
        if len(wrong):
            v = wrong[0]
            raise DataError(
                f"X routes {found[v]} rows to node {foreign.order[v]}, but the tree was grown with {known[v]} there; "
                "X, y (and sample_weight) must be the rows the estimator was fitted on"
            )
    checked = check_weights(None if (weight == 1).all() else weight, n_rows)
    return _counted(foreign, leaves, _target(foreign, y, n_rows), checked, "grow")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that did not grow the tree.

    Parameters
    ----------
    foreign : Foreign
    leaves : array of int
        The leaf of each row.
    target : array
        Class numbers, or numbers.
    weight : array
    sample : Counts or Moments
    cost : array
        Errors (squared or absolute differences) of each node as a leaf that answers what the
        scikit-learn node does.
    """

    foreign: Foreign
    leaves: Ints
    target: Array
    weight: Floats
    sample: Sample
    cost: LongsOrFloats

    def standard_error(self, pruning: Pruning) -> float:
        """Return the standard error of the summed cost of a pruning."""
        nodes = np.arange(pruning.tree.n_nodes, dtype=np.int32)
        answering = structure.inherit_labels(pruning.tree.parent, nodes, ~(pruning.is_leaf | pruning.is_kept))
        losses = _losses(self.foreign, self.target, answering[self.leaves])
        total = self.weight.sum()
        mean = (self.weight * losses).sum() / total
        return float(np.sqrt((self.weight * (losses - mean) ** 2).sum()))

    def choose(self, sequence: PruningSequence, rule: str) -> Pruning:
        """Return the member of least cost, the smallest of equals, or the smallest within a standard error of it."""
        total = self.weight.sum()
        rates = sequence.costs_on(self.cost) / total
        errors = np.full(len(rates), np.nan)
        best, _ = select_member(rates, errors)
        errors[best] = self.standard_error(sequence[best]) / total
        return sequence[select_member(rates, errors, CHOICES[rule])[1]]


def held_out(foreign: Foreign, leaves: Ints, y: Labels, sample_weight: ArrayLike | None) -> HeldOut:
    """Return held-out rows counted in a tree."""
    weight, target = _weights(sample_weight, len(leaves)), _target(foreign, y, len(leaves))
    sample = _counted(foreign, leaves, target, None if sample_weight is None else weight, "prune")
    if foreign.estimator.criterion == "absolute_error":
        cost = _absolute_errors(foreign, leaves, target, weight)
    else:
        cost = sample.costs_if_leaf(foreign.answers)
    return HeldOut(foreign, leaves, target, weight, sample, cost)


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    given = check_weights(sample_weight, n_rows)
    return np.ones(n_rows) if given is None else given


def _target(foreign: Foreign, y: Labels, n_rows: int) -> Array:
    """Return the target, class numbers or numbers, one for each row of X."""
    target: Array
    if foreign.classes is None:
        target, what = encode_numeric_target(y), "number"
    else:
        target, what = encode_target(y, classes=foreign.classes)[0], "label"
    if len(target) != n_rows:
        raise DataError(f"X has {n_rows:,} rows but y has {len(target):,} {what}s; one {what} per row is needed")
    return target


def _counted(foreign: Foreign, leaves: Ints, target: Array, weight: Floats | None, sample: str) -> Sample:
    """Return a sample counted in the tree, from the leaf of each of its rows."""
    tree = foreign.tree
    if foreign.classes is None:
        return _moments(tree, leaves, target, weight, sample)
    n_classes = max(len(foreign.classes), int(target.max()) + 1)  # one more where labels are new
    rows = None if weight is None else round_for_exact_sums(weight)
    at = leaves.astype(np.int64) * n_classes + target
    own: LongsOrFloats = np.bincount(at, rows, minlength=tree.n_nodes * n_classes).reshape(-1, n_classes)
    if own.dtype.kind == "f" and not (own % 1).any():
        own = own.astype(np.int64)
    n_rows = len(leaves) if weight is None else int(np.count_nonzero(weight))
    return Counts(tree, write_protect(structure.sum_upwards(tree.parent, own)), sample, n_rows)


def _growing_weights(foreign: Foreign, y: Labels, n_rows: int) -> Floats:
    """What growing multiplied the weight of each row with: class weights, and how often a bootstrap drew it."""
    estimator = foreign.owner
    class_weight = getattr(estimator, "class_weight", None)
    if getattr(estimator, "bootstrap", False):
        drawn = estimator.estimators_samples_[foreign.index]
        if drawn.max() >= n_rows:
            raise DataError(f"X has {n_rows:,} rows, but the forest was grown on {estimator._n_samples:,}")  # noqa: SLF001
        times = np.bincount(drawn, minlength=n_rows).astype(np.float64)
        if class_weight != "balanced_subsample":
            return times
        return np.asarray(times * compute_sample_weight("balanced", y, indices=drawn))
    if class_weight is None:
        return np.ones(n_rows)
    kind = "balanced" if class_weight == "balanced_subsample" else class_weight
    return np.asarray(compute_sample_weight(kind, y))


def _moments(tree: Tree, leaves: Ints, y: Floats, weight: Array | None, sample: str) -> Moments:
    rows = np.ones(len(y)) if weight is None else np.asarray(weight)
    centre = float(np.average(y, weights=rows))  # sums of squares far from 0 would lose digits
    parts = np.stack([rows, rows * (y - centre), rows * (y - centre) ** 2])
    own = np.stack([np.bincount(leaves, part, minlength=tree.n_nodes) for part in parts], axis=1)
    total, first, second = structure.sum_upwards(tree.parent, own).T
    is_empty = total == 0
    mean = np.divide(first, total, out=np.zeros_like(first), where=~is_empty)
    spread = np.maximum(second - total * mean**2, 0.0)
    if is_empty.any():
        heirs = structure.inherit_labels(tree.parent, np.arange(tree.n_nodes, dtype=np.int32), is_empty)
        mean = mean[heirs]
        spread = np.where(is_empty, 0.0, spread)
    return Moments(tree, total, mean + centre, spread, sample)


def _losses(foreign: Foreign, target: Array, nodes: Ints) -> Floats:
    if foreign.is_classifier:
        return np.asarray(foreign.labels[nodes] != target, np.float64)
    difference: Floats = np.abs(foreign.values[nodes, 0] - target)
    return difference if foreign.estimator.criterion == "absolute_error" else difference**2


def _absolute_errors(foreign: Foreign, leaves: Ints, target: Floats, weight: Floats) -> Floats:
    """Weighted absolute differences from every node on each row's way: no sum of a few numbers gives them."""
    parent, cost = foreign.tree.parent, np.zeros(foreign.tree.n_nodes)
    rows, nodes = np.arange(len(leaves)), leaves
    while len(rows):
        loss = weight[rows] * np.abs(foreign.values[nodes, 0] - target[rows])
        cost += np.bincount(nodes, loss, minlength=len(cost))
        nodes = parent[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
    return write_protect(cost)
