"""from_sklearn: convert a fitted scikit-learn tree to a `Model` that sends every row to the same leaf.

scikit-learn rounds a value to float32 before it compares the value with a threshold t; a `Tree` compares float64.
Rounding keeps the order of numbers, so "the rounded value is at most t" is equivalent to "the value is at most t'" for
one t'. This t' is halfway between the largest float32 at or below t and the next float32; ties are rounded to even.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Labels, Rows, write_protect
from ..core import Model, Pruning, SampleUsage, Tree
from ..data.encoding import encode
from ..errors import UnsupportedError, show
from ..growers.tree_tables import shortest_decimals
from ..routing import with_growing_rows
from ._counting import growing_sample
from ._records import Estimator, split_part
from ._sklearn_tree import MEAN_CRITERIA, SklearnTree, read_fitted_tree, schema_of


def from_sklearn(
    estimator: Estimator,
    X: Rows = None,
    y: Labels = None,
    feature_names: Sequence[str] | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> Model:
    """Convert a fitted scikit-learn tree to a model.

    Parameters
    ----------
    estimator : DecisionTree or ExtraTree, classifier or regressor
        A fitted estimator; it is not changed. For a forest, pass one of its trees. A tree that was pruned by
        `prune_sklearn` or made by `to_sklearn` contains sketches of the rows that pruned it, and these rows cannot
        certify it.
    X : array or data frame, optional
    y : array, optional
        The rows on which the estimator was fitted, and their targets. With them, certificates can check that other rows
        are fresh. They are needed only if the tree does not store its counts (class weights, monotonic constraints, the
        Poisson criterion).
    feature_names : list of str, optional
        Names of the columns, if the estimator was fitted without names.
    sample_weight : array, optional
        Weights of the rows of X.

    Returns
    -------
    Model
        The unpruned tree, in pre-order. Every float64 row goes to the same leaf as in scikit-learn,
        missing values included; for this, thresholds are slightly above those of scikit-learn. If
        the numbering differs (best-first growth), `metadata["nodes"]` lists scikit-learn's number
        of each node. The nodes have the classes that scikit-learn predicts. With class weights, the
        counts are weighted as they were in growing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y))
    >>> model, model.grown
    (Model(9 of 9 leaves, 150 rows, not certified), Counts('grow', 150 in 3 classes, 17 nodes))
    """
    foreign = read_fitted_tree(estimator)
    if not foreign.is_classifier and (foreign.is_monotonic or estimator.criterion not in MEAN_CRITERIA):
        what = "monotonic_cst" if foreign.is_monotonic else f"criterion={show(estimator.criterion)}"
        raise UnsupportedError(
            f"{type(estimator).__name__} has {what}: its leaves do not predict the mean of their rows, "
            "which regression trees of secateur cannot represent; use prune_sklearn"
        )
    tree = _tree_with_tests(foreign, feature_names)
    grown: Any = replace(growing_sample(foreign, X, y, sample_weight), tree=tree, sample="grow")
    if X is not None and y is not None:
        is_used = None if sample_weight is None else np.asarray(sample_weight) > 0
        grown = with_growing_rows(grown, encode(X, schema=tree.schema, target=y, strict=False), is_used)
    used = foreign.tree.history  # empty unless `prune_sklearn` has pruned the tree or `to_sklearn` has made it
    if used:
        grown = replace(grown, tree=grown.tree.with_history(grown.tree.history | used | SampleUsage.of(grown)))
    labels = foreign.labels if foreign.is_classifier else None
    seen = SampleUsage.of(grown) | used
    pruning = Pruning.from_cuts(grown.tree, [], node_labels=labels, seen=seen, rule="scikit-learn")
    import sklearn

    metadata: dict[str, object] = {"source": "scikit-learn", "scikit-learn": sklearn.__version__}
    if (np.diff(foreign.order) != 1).any():
        metadata["nodes"] = foreign.order.tolist()
    # The probabilities that scikit-learn predicts are the class shares of a leaf.
    parameters = {"estimator": type(estimator).__name__, "criterion": estimator.criterion, "probabilities": "frequency"}
    return Model(pruning, grown, parameters=parameters, metadata=metadata)


def float64_thresholds(thresholds: ArrayLike) -> Floats:
    """Return the largest float64 that, rounded to float32, is at most each threshold.

    Examples
    --------
    >>> import numpy as np
    >>> (limit,) = float64_thresholds([0.5])
    >>> bool(np.float32(limit) <= 0.5 < np.float32(np.nextafter(limit, 1)))
    True
    """
    exact = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):  # the neighbour of the largest float32 is infinite; it is replaced below
        below = exact.astype(np.float32)
        below = np.where(below > exact, np.nextafter(below, np.float32(-np.inf)), below)
        above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    is_infinite = np.isinf(below)
    largest = float(np.finfo(np.float32).max)
    after_largest = 2.0**128  # would be the next float32 after the largest one, if float32 had one more exponent
    above = np.where(below == np.float32(largest), after_largest, above)
    middle = below.astype(np.float64) / 2 + above / 2
    is_even = (below.view(np.uint32) & 1) == 0  # a value exactly in the middle is rounded to the even neighbour
    limit = np.where(is_even, middle, np.nextafter(middle, -np.inf))
    lowest = -(largest / 2 + after_largest / 2)  # this value and all smaller ones are rounded to minus infinity
    return np.where(is_infinite, np.where(exact > 0, np.inf, lowest), limit)


def _tree_with_tests(foreign: SklearnTree, feature_names: Sequence[str] | None) -> Tree:
    """Return the tree with thresholds for float64 values; raise an error if it tests sets of categories."""
    estimator, records, order = foreign.estimator, foreign.records, foreign.order
    is_leaf = foreign.tree.is_leaf
    feature = np.where(is_leaf, -1, records.nodes["feature"][order]).astype(np.int32)
    nominal = np.intersect1d(feature, records.nominal_features())
    if len(nominal):
        raise UnsupportedError(
            f"{type(estimator).__name__} tests sets of categories of feature {nominal[0]}, which cannot be read yet; "
            "use prune_sklearn, or fit it on encoded columns"
        )
    default = np.where(is_leaf | (records.nodes["missing_go_to_left"][order] != 0), 0, 1)
    threshold = split_part(records.nodes)["threshold"][order]
    limit = float64_thresholds(threshold)
    # The tree was grown on float32 values, so the values around a threshold are neighbouring float32 numbers.
    with np.errstate(over="ignore"):
        below = limit.astype(np.float32)
        above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    return Tree(
        foreign.tree.parent,
        feature=write_protect(feature),
        threshold=write_protect(np.where(is_leaf, np.nan, limit)),
        rounded=write_protect(np.where(is_leaf, np.nan, shortest_decimals(below.astype(np.float64), threshold, above))),
        default=write_protect(default.astype(np.int32)),
        score=foreign.tree.score,
        schema=schema_of(estimator, foreign.classes, feature_names),
        key=foreign.tree.key,
    )
