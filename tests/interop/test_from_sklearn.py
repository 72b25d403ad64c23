"""Converted scikit-learn trees send every float64 row to the leaf that scikit-learn finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from secateur.errors import CountsError, ParameterError, UnsupportedError
from secateur.interop import from_sklearn, to_sklearn
from secateur.interop._from_sklearn import float64_thresholds
from secateur.interop._sklearn_tree import read_fitted_tree
from secateur.routing.prediction import predict, predict_leaf, predict_proba
from sklearn_trees import KINDS, fitted, hard_rows, rows

LARGEST = float(np.finfo(np.float32).max)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False),
    st.sampled_from([0.0, -0.0, 1e-46, -1e-46, 1e-45, LARGEST, -LARGEST, 2.0**128 - 2.0**103, 1.5, 0.1]),
)


@given(numbers, st.lists(numbers, max_size=5))
def test_a_threshold_in_float64_splits_all_numbers_as_rounding_to_float32_does(threshold, others):
    (limit,) = float64_thresholds([threshold])
    near = np.float32(np.clip(threshold, -LARGEST, LARGEST))
    candidates = [*others, threshold, limit, np.nextafter(limit, np.inf), np.nextafter(limit, -np.inf)]
    with np.errstate(over="ignore"):
        for x in (near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
            candidates += [float(x), (float(x) + float(near)) / 2]
        for x in candidates:
            assert (x <= limit) == (float(np.float32(x)) <= threshold), x


def test_infinite_thresholds_stay():
    assert float64_thresholds([np.inf]).tolist() == [np.inf]
    assert float64_thresholds([-1e300])[0] == -(2.0**128 - 2.0**103)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("absolute", "poisson")])
@pytest.mark.parametrize("seed", range(5))
def test_rows_reach_the_same_leaf_and_get_the_same_answer(kind, seed):
    tree, X, _, _ = fitted(kind, seed)
    model = from_sklearn(tree)
    fresh = np.vstack([hard_rows(tree, seed), X])

    numbering = np.array(model.metadata.get("nodes", range(tree.tree_.node_count)))
    assert numbering[predict_leaf(model, fresh)].tolist() == tree.apply(fresh).tolist()
    assert predict(model, fresh).tolist() == tree.predict(fresh).tolist()
    assert ("nodes" in model.metadata) == kind.startswith("best-first")
    if model.is_classifier:
        np.testing.assert_allclose(predict_proba(model, fresh), tree.predict_proba(fresh), atol=1e-12)


def test_missing_values_in_data_without_any_at_fit_go_where_scikit_learn_sends_them():
    tree, X, _, _ = fitted("gini", 1)
    X[::2, 0] = np.nan
    assert predict(from_sklearn(tree), X).tolist() == tree.predict(X).tolist()


def test_whole_numbers_beyond_float32_merge_here_as_they_did_at_fit():
    X = np.array([[2.0**24], [2.0**24 + 1], [2.0**24 + 2], [2.0**24 + 3]])
    tree = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    assert predict(from_sklearn(tree), X).tolist() == tree.predict(X).tolist()


def test_names_classes_and_sizes_are_kept():
    import pandas as pd

    X, y, _ = rows(0)
    frame = pd.DataFrame(X, columns=["one", "two", "three"])
    tree = DecisionTreeClassifier(random_state=0).fit(frame, y)

    model = from_sklearn(tree)

    assert model.tree.schema.names == ("one", "two", "three")
    assert model.tree.schema.classes.tolist() == ["a", "b", "c"]
    assert (model.tree.n_nodes, model.tree.n_leaves) == (tree.tree_.node_count, tree.get_n_leaves())
    assert predict(model, frame[["three", "one", "two"]]).tolist() == tree.predict(frame).tolist()
    about = {"estimator": "DecisionTreeClassifier", "criterion": "gini", "probabilities": "frequency"}
    assert model.parameters == about
    named = from_sklearn(DecisionTreeClassifier().fit(X, y), feature_names=["p", "q", "r"])
    assert named.tree.schema.names == ("p", "q", "r")


@pytest.mark.parametrize("kind", ["squared", "poisson"])
def test_moments_are_those_of_the_rows(kind):
    tree, X, y, _ = fitted(kind, 2)
    if kind == "poisson":
        with pytest.raises(CountsError, match=r"criterion='poisson'.*counted again"):
            from_sklearn(tree)
    model = from_sklearn(tree, X, y) if kind == "poisson" else from_sklearn(tree)

    passes = tree.decision_path(X).toarray().astype(bool)
    for v in range(tree.tree_.node_count):
        here = y[passes[:, v]]
        assert model.grown.weight[v] == len(here)
        assert model.grown.mean[v] == pytest.approx(here.mean())
        assert model.grown.sse[v] == pytest.approx(((here - here.mean()) ** 2).sum(), abs=1e-9)


@pytest.mark.parametrize("kind", ["gini", "entropy", "missing", "squared", "weighted", "best-first"])
def test_a_round_trip_gives_the_same_tree(kind):
    tree, X, _, _ = fitted(kind, 4)
    again = to_sklearn(from_sklearn(tree))

    fresh = np.vstack([hard_rows(tree, 4), X])
    assert again.predict(fresh).tolist() == tree.predict(fresh).tolist()
    ids = np.array(from_sklearn(tree).metadata.get("nodes", range(tree.tree_.node_count)))
    for name in ("feature", "impurity", "weighted_n_node_samples", "value"):
        np.testing.assert_allclose(getattr(again.tree_, name), getattr(tree.tree_, name)[ids], atol=1e-12)
    assert again.criterion == ("squared_error" if kind == "squared" else tree.criterion)


@pytest.mark.parametrize(
    ("estimator", "error", "says"),
    [
        (DecisionTreeRegressor(criterion="absolute_error"), UnsupportedError, "absolute_error.*mean of their rows"),
        (DecisionTreeRegressor(monotonic_cst=[1, 0, 0]), UnsupportedError, "monotonic_cst"),
        (RandomForestClassifier(2), UnsupportedError, r"estimators_\[i\]"),
    ],
)
def test_what_our_nouns_cannot_hold_is_refused(estimator, error, says):
    X, y, _ = rows(0)
    estimator.fit(X, X[:, 0] if isinstance(estimator, DecisionTreeRegressor) else y)
    with pytest.raises(error, match=says):
        from_sklearn(estimator)


def test_the_wrong_number_of_names_is_refused():
    with pytest.raises(ParameterError, match="3 columns"):
        from_sklearn(fitted("gini", 0)[0], feature_names=["a"])


def test_rules_see_the_tests_that_the_tree_has():
    X, y = load_iris(return_X_y=True)
    estimator = DecisionTreeClassifier(random_state=0).fit(X, y)

    given, read = read_fitted_tree(estimator).tree, from_sklearn(estimator).tree

    assert given.feature.tolist() == read.feature.tolist()
    assert given.threshold == pytest.approx(read.threshold, rel=1e-6, nan_ok=True)
