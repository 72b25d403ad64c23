"""Rows counted in a scikit-learn tree: fresh ones, or the growing rows again. scikit-learn itself routes them."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_sample_weight

from .._kernels import structure
from ..data.arrays import Array, ArrayLike, Floats, Ints, Labels, Rows, Sums, sealed
from ..data.target import check_weights, encode_target, numeric_target, summable
from ..errors import DataError, UnsupportedError
from ..nouns import Counts, Moments, Sample, Tree
from ._nodes import Estimator
from ._read import Foreign


def routed(estimator: Estimator, trees: list[Foreign], X: Rows) -> list[Ints]:
    """Return the leaf of each row in each tree, in our numbers; scikit-learn routes the rows."""
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


def counted(foreign: Foreign, leaves: Ints, y: Labels, sample_weight: ArrayLike | None, sample: str) -> Sample:
    """Return a sample counted in the tree, from the leaf of each of its rows."""
    weight = check_weights(sample_weight, len(leaves))
    tree = foreign.tree
    if foreign.classes is None:
        return _moments(tree, leaves, numbers(y, len(leaves)), weight, sample)
    codes, _ = encode_target(y, classes=foreign.classes)
    if len(codes) != len(leaves):
        raise DataError(f"X has {len(leaves):,} rows but y has {len(codes):,} labels; one label per row is needed")
    n_classes = max(len(foreign.classes), int(codes.max()) + 1)  # one more where labels are new
    rows = None if weight is None else summable(weight)
    at = leaves.astype(np.int64) * n_classes + codes
    own: Sums = np.bincount(at, rows, minlength=tree.n_nodes * n_classes).reshape(-1, n_classes)
    if own.dtype.kind == "f" and not (own % 1).any():
        own = own.astype(np.int64)
    n_rows = len(leaves) if weight is None else int(np.count_nonzero(weight))
    return Counts(tree, sealed(structure.sum_upwards(tree.parent, own)), sample, n_rows)


def recounted(
    estimator: Estimator, foreign: Foreign, index: int, leaves: Ints, y: Labels, sample_weight: ArrayLike | None
) -> Sample:
    """Return the growing sample counted again, under the class weights of growing.

    The number of rows in every node must be the one the tree remembers.
    """
    given = check_weights(sample_weight, len(leaves))
    weight = np.ones(len(leaves)) if given is None else np.asarray(given)
    weight = weight * _growing_weights(estimator, index, y, len(leaves))
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
    return counted(foreign, leaves, y, None if (weight == 1).all() else weight, "grow")


def numbers(y: Labels, n_rows: int) -> Floats:
    """Return a numeric target, one number for each row of X."""
    target = numeric_target(y)
    if len(target) != n_rows:
        raise DataError(f"X has {n_rows:,} rows but y has {len(target):,} numbers; one number per row is needed")
    return target


def _growing_weights(estimator: Estimator, index: int, y: Labels, n_rows: int) -> Floats:
    """What growing multiplied the weight of each row with: class weights, and how often a bootstrap drew it."""
    class_weight = getattr(estimator, "class_weight", None)
    if getattr(estimator, "bootstrap", False):
        drawn = estimator.estimators_samples_[index]
        if drawn.max() >= n_rows:
            raise DataError(f"X has {n_rows:,} rows, but the forest was grown on {estimator._n_samples:,}")  # noqa: SLF001
        times = np.bincount(drawn, minlength=n_rows).astype(np.float64)
        if class_weight == "balanced_subsample":
            return np.asarray(times * compute_sample_weight("balanced", y, indices=drawn))
        return times
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
