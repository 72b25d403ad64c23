"""Count rows in a scikit-learn tree: the growing rows once more, or held-out rows. scikit-learn routes the rows."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_sample_weight

from .._kernels import structure
from .._utils.arrays import Array, ArrayLike, Floats, Ints, Labels, LongsOrFloats, Rows, write_protect
from ..core import Counts, Moments, Pruning, PruningSequence, Sample, Tree
from ..data.encoding import encode
from ..data.sketch import Sketch
from ..data.target import encode_numeric_target, encode_target
from ..data.weights import check_weights, round_for_exact_sums
from ..errors import CountsError, DataError, SecateurError, UnsupportedError
from ..model_selection import choose as select_member
from ..routing import sketch_of
from ._sklearn_tree import SklearnTree

# For each rule, by how many standard errors the error of the chosen member may exceed the lowest error.
STANDARD_ERRORS_ALLOWED = {"min-error": 0, "0se": 0, "1se": 1}


def route_rows(trees: list[SklearnTree], X: Rows) -> list[Ints]:
    """Return the leaf of each row in each tree, in pre-order numbers; scikit-learn routes the rows."""
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
    return [foreign.node_numbers(column) for foreign, column in zip(trees, columns.T, strict=True)]


def growing_sample(foreign: SklearnTree, X: Rows, y: Labels, sample_weight: ArrayLike | None) -> Sample:
    """Return the growing sample that the tree stores, or count it from its rows X, y if the tree does not store it."""
    if not foreign.missing_counts_reason:
        return foreign.stored_sample()
    if X is None or y is None:
        raise CountsError(foreign.missing_counts_reason)
    return count_growing_rows(foreign, route_rows([foreign], X)[0], y, sample_weight)


def count_growing_rows(foreign: SklearnTree, leaves: Ints, y: Labels, sample_weight: ArrayLike | None) -> Sample:
    """Return the growing sample, counted from its rows under the class weights of growing.

    Raises an error unless the number of rows in every node is the one that the tree stores.
    """
    n_rows = len(leaves)
    weight = _weights(sample_weight, n_rows) * _weights_of_growing(foreign, y, n_rows)
    if foreign.classes is None or weight.any():
        _check_row_numbers(foreign, leaves[weight > 0])
    checked = check_weights(None if (weight == 1).all() else weight, n_rows)
    return _count_rows(foreign, leaves, _encode_target(foreign, y, n_rows), checked, "grow")


def _check_row_numbers(foreign: SklearnTree, leaves: Ints) -> None:
    """Raise an error unless these rows reach every node as often as the growing rows did."""
    rows_in_leaf = np.bincount(leaves, minlength=foreign.tree.n_nodes)
    n_rows = structure.sum_upwards(foreign.tree.parent, rows_in_leaf[:, None])[:, 0]
    n_stored = foreign.records.nodes["n_node_samples"][foreign.order]
    different = np.flatnonzero(n_rows != n_stored)
    if len(different):
        v = different[0]
        raise DataError(
            f"X routes {n_rows[v]} rows to node {foreign.order[v]}, but the tree was grown with {n_stored[v]} there; "
            "X, y (and sample_weight) must be the rows the estimator was fitted on"
        )


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows that did not grow the tree, counted in it.

    Parameters
    ----------
    foreign : SklearnTree
        The tree.
    leaves : array of int
        The leaf of each row.
    target : array
        The class number of each row; for regression its target.
    weight : array
        The weight of each row.
    sample : Counts or Moments
        The rows, counted in the tree.
    cost : array
        Errors (squared or absolute differences) of each node as a leaf with the prediction of the scikit-learn node.
    """

    foreign: SklearnTree
    leaves: Ints
    target: Array
    weight: Floats
    sample: Sample
    cost: LongsOrFloats

    def standard_error(self, pruning: Pruning) -> float:
        """Return the standard error of the summed cost of a pruning."""
        nodes = np.arange(pruning.tree.n_nodes, dtype=np.int32)
        pruned_leaf = structure.inherit_labels(pruning.tree.parent, nodes, ~(pruning.is_leaf | pruning.is_kept))
        losses = _losses(self.foreign, self.target, pruned_leaf[self.leaves])
        total = self.weight.sum()
        mean = (self.weight * losses).sum() / total
        return float(np.sqrt((self.weight * (losses - mean) ** 2).sum()))

    def choose(self, sequence: PruningSequence, rule: str) -> Pruning:
        """Return the smallest member of lowest cost; with "1se", the smallest one within one standard error of it."""
        total = self.weight.sum()
        rates = sequence.costs_on(self.cost) / total
        errors = np.full(len(rates), np.nan)
        best, _ = select_member(rates, errors)
        errors[best] = self.standard_error(sequence[best]) / total
        return sequence[select_member(rates, errors, STANDARD_ERRORS_ALLOWED[rule])[1]]


def count_held_out_rows(foreign: SklearnTree, leaves: Ints, y: Labels, sample_weight: ArrayLike | None) -> HeldOutRows:
    """Return held-out rows counted in a tree, given the leaf of each row."""
    weight, target = _weights(sample_weight, len(leaves)), _encode_target(foreign, y, len(leaves))
    sample = _count_rows(foreign, leaves, target, None if sample_weight is None else weight, "prune")
    if foreign.estimator.criterion == "absolute_error":
        cost = _absolute_errors(foreign, leaves, target, weight)
    else:
        cost = sample.costs_if_leaf(foreign.predictions)
    return HeldOutRows(foreign, leaves, target, weight, sample, cost)


def sketch_of_rows(foreign: SklearnTree, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Sketch | None:
    """Return the sketch of rows of a tree; None if the rows cannot be read as those of `from_sklearn`."""
    assert foreign.tree.schema is not None
    with suppress(SecateurError):
        table = encode(X, schema=foreign.tree.schema, target=y, strict=False)
        is_used = None if sample_weight is None else np.asarray(sample_weight) > 0
        return sketch_of(foreign.tree, table, is_used)
    return None


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    checked = check_weights(sample_weight, n_rows)
    return np.ones(n_rows) if checked is None else checked


def _encode_target(foreign: SklearnTree, y: Labels, n_rows: int) -> Array:
    """Return the class number of each row of X, or its number; raise an error if X and y differ in length."""
    target: Array
    if foreign.classes is None:
        target, unit = encode_numeric_target(y), "number"
    else:
        target, unit = encode_target(y, classes=foreign.classes)[0], "label"
    if len(target) != n_rows:
        raise DataError(f"X has {n_rows:,} rows but y has {len(target):,} {unit}s; one {unit} per row is needed")
    return target


def _count_rows(foreign: SklearnTree, leaves: Ints, target: Array, weight: Floats | None, sample: str) -> Sample:
    """Return a sample counted in the tree, from the leaf of each of its rows."""
    tree = foreign.tree
    if foreign.classes is None:
        return _moments(tree, leaves, target, weight, sample)
    n_classes = max(len(foreign.classes), int(target.max()) + 1)  # labels that growing did not see are further classes
    row_weight = None if weight is None else round_for_exact_sums(weight)
    cell = leaves.astype(np.int64) * n_classes + target
    in_leaf: LongsOrFloats = np.bincount(cell, row_weight, minlength=tree.n_nodes * n_classes).reshape(-1, n_classes)
    if in_leaf.dtype.kind == "f" and not (in_leaf % 1).any():
        in_leaf = in_leaf.astype(np.int64)
    n_rows = len(leaves) if weight is None else int(np.count_nonzero(weight))
    return Counts(tree, write_protect(structure.sum_upwards(tree.parent, in_leaf)), sample, n_rows)


def _weights_of_growing(foreign: SklearnTree, y: Labels, n_rows: int) -> Floats:
    """Return the factor by which growing multiplied each weight: its class weight, or how often a bootstrap drew it."""
    estimator = foreign.owner
    class_weight = getattr(estimator, "class_weight", None)
    if getattr(estimator, "bootstrap", False):
        drawn = estimator.estimators_samples_[foreign.index]
        if drawn.max() >= n_rows:
            raise DataError(f"X has {n_rows:,} rows, but the forest was grown on {estimator._n_samples:,}")  # noqa: SLF001
        n_drawn = np.bincount(drawn, minlength=n_rows).astype(np.float64)
        if class_weight != "balanced_subsample":
            return n_drawn
        return np.asarray(n_drawn * compute_sample_weight("balanced", y, indices=drawn))
    if class_weight is None:
        return np.ones(n_rows)
    per_class = "balanced" if class_weight == "balanced_subsample" else class_weight
    return np.asarray(compute_sample_weight(per_class, y))


def _moments(tree: Tree, leaves: Ints, y: Floats, weight: Array | None, sample: str) -> Moments:
    """Return weight, mean and squared error of each node; a node without rows has the mean of an ancestor with rows."""
    row_weight = np.ones(len(y)) if weight is None else np.asarray(weight)
    centre = float(np.average(y, weights=row_weight))  # sums of squares of values far from 0 would lose digits
    powers = np.stack([row_weight, row_weight * (y - centre), row_weight * (y - centre) ** 2])
    in_leaf = np.stack([np.bincount(leaves, power, minlength=tree.n_nodes) for power in powers], axis=1)
    total, first, second = structure.sum_upwards(tree.parent, in_leaf).T
    is_empty = total == 0
    mean = np.divide(first, total, out=np.zeros_like(first), where=~is_empty)
    sse = np.maximum(second - total * mean**2, 0.0)
    if is_empty.any():
        nodes = np.arange(tree.n_nodes, dtype=np.int32)
        mean = mean[structure.inherit_labels(tree.parent, nodes, is_empty)]
        sse = np.where(is_empty, 0.0, sse)
    return Moments(tree, total, mean + centre, sse, sample)


def _losses(foreign: SklearnTree, target: Array, nodes: Ints) -> Floats:
    """Return the loss of each row if its node predicts it: 0 or 1, or the squared or absolute difference."""
    if foreign.is_classifier:
        return np.asarray(foreign.labels[nodes] != target, np.float64)
    difference: Floats = np.abs(foreign.values[nodes, 0] - target)
    return difference if foreign.estimator.criterion == "absolute_error" else difference**2


def _absolute_errors(foreign: SklearnTree, leaves: Ints, target: Floats, weight: Floats) -> Floats:
    """Return the weighted absolute error of each node as a leaf.

    Unlike squared errors, absolute errors do not follow from a few sums per leaf, so that each row visits all nodes on
    its path.
    """
    parent, cost = foreign.tree.parent, np.zeros(foreign.tree.n_nodes)
    rows, nodes = np.arange(len(leaves)), leaves
    while len(rows):
        loss = weight[rows] * np.abs(foreign.values[nodes, 0] - target[rows])
        cost += np.bincount(nodes, loss, minlength=len(cost))
        nodes = parent[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
    return write_protect(cost)
