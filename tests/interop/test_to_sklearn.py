"""Models as scikit-learn trees: the same predictions, true statistics, pipelines for nominal columns."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from secateur import Counts, Pruning, Tree, count, grow, prune
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.errors import TreeError, UnsupportedError
from secateur.interop import from_sklearn, to_sklearn
from secateur.routing.prediction import predict, predict_proba
from sklearn_trees import assert_sound, rows


def model_of(tree, grown, cuts=(), **parts):
    return Model(Pruning.from_cuts(tree, list(cuts), node_labels=grown.majority), grown, **parts)


def float32_rows(seed, n=300):
    """Values that float32 holds, some missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def frame(seed, n=200):
    """Text, booleans, numbers as categories, numbers; with gaps."""
    rng = np.random.default_rng(seed)
    shape = rng.choice(["disc", "rod", "cube", "ring", "", "tail"], n).astype(object)
    shape[rng.random(n) < 0.1] = None
    data = pd.DataFrame(
        {
            "shape": shape,
            "size": rng.normal(size=n).astype(np.float32),
            "code": pd.Categorical(rng.choice([7, 3, 11, 5], n), categories=[7, 3, 11, 5, 99]),
            "wet": rng.random(n) < 0.4,
            "weight": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
        }
    )
    score = data["shape"].isin(["rod", "ring"]) ^ data["wet"] ^ data["code"].isin([3, 5]) ^ (data["size"] > 0.3)
    return data, np.where(score ^ (rng.random(n) < 0.1), "yes", "no")


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("cuts", [(), (0,), (1, 4)])
def test_a_tree_of_numbers_becomes_a_plain_tree(criterion, cuts):
    X, y, _ = rows(3, kind="missing")
    X = X.astype(np.float32).astype(float)
    tree, grown = grow(X, y, criterion=criterion)
    model = model_of(tree, grown, cuts, parameters={"criterion": criterion})

    written = to_sklearn(model)

    fresh = np.vstack([float32_rows(1), X])
    assert type(written) is DecisionTreeClassifier
    assert written.predict(fresh).tolist() == predict(model, fresh).tolist()
    np.testing.assert_allclose(written.predict_proba(fresh), predict_proba(model, fresh, kind="frequency"))
    assert (written.criterion, written.classes_.tolist(), written.n_features_in_) == (criterion, ["a", "b", "c"], 3)
    assert written.node_ids_.tolist() == np.flatnonzero(model.pruning.is_leaf | model.pruning.is_kept).tolist()
    counts = grown.by_class[written.node_ids_]
    np.testing.assert_allclose(written.tree_.value[:, 0] * written.tree_.weighted_n_node_samples[:, None], counts)
    assert written.tree_.n_node_samples.tolist() == counts.sum(axis=1).tolist()
    for impurity, row in zip(written.tree_.impurity, counts / counts.sum(axis=1, keepdims=True), strict=True):
        expected = 1 - (row**2).sum() if criterion == "gini" else -sum(q * np.log2(q) for q in row if q > 0)
        assert impurity == pytest.approx(expected, abs=1e-12)
    assert_sound(written)


def test_values_beside_each_threshold_fall_on_the_right_side():
    X, y, _ = rows(5)
    tree, grown = grow(X.astype(np.float32), y)
    model = model_of(tree, grown)
    near = tree.threshold[tree.feature == 0].astype(np.float32)
    values = np.concatenate([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))])
    fresh = np.column_stack([values, np.zeros(len(values)), np.ones(len(values))]).astype(np.float64)
    assert to_sklearn(model).predict(fresh).tolist() == predict(model, fresh).tolist()


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("seed", range(4))
def test_nominal_columns_become_a_pipeline_that_answers_the_same(splits, seed):
    data, y = frame(seed)
    tree, grown = grow(data, y, splits=splits)
    chosen = prune(tree, grown)[seed]
    model = Model(chosen, grown)

    written = to_sklearn(model)

    fresh, _ = frame(seed + 50)
    fresh.loc[:15, "shape"] = "never seen"
    fresh.loc[20:40, "size"] = np.nan
    expected = predict(model, fresh).tolist()
    assert isinstance(written, Pipeline)
    assert written.predict(fresh).tolist() == expected
    assert written.predict(fresh[fresh.columns[::-1]]).tolist() == expected
    assert pickle.loads(pickle.dumps(written)).predict(fresh).tolist() == expected
    np.testing.assert_allclose(written.predict_proba(fresh), predict_proba(model, fresh, kind="frequency"))
    assert_sound(written[-1])
    ids = written[-1].node_ids_
    is_leaf = written[-1].tree_.children_left == -1
    assert sorted(ids[is_leaf]) == chosen.leaves.tolist()  # no subtree is written twice
    np.testing.assert_allclose(written[-1].tree_.weighted_n_node_samples[is_leaf], grown.total[ids[is_leaf]])


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_numbers_read_as_categories_may_be_given_as_numbers(splits):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([7, 3, 11, 5], 200), rng.integers(0, 9, 200)]).astype(float)
    y = np.isin(X[:, 0], [3, 11]) ^ (X[:, 1] > 4)
    tree, grown = grow(X, y, nominal=[0], splits=splits)
    model = model_of(tree, grown)
    X[:9, 0] = 99
    X[9:15] = np.nan
    assert to_sklearn(model).predict(X).tolist() == predict(model, X).tolist()


def test_a_wide_test_becomes_a_balanced_run():
    names = [f"v{i:02d}" for i in range(32)]
    data = pd.DataFrame({"name": names * 2})
    y = np.array([f"c{i}" for i in range(32)] * 2)
    tree, grown = grow(data, y, splits="multiway")
    written = to_sklearn(model_of(tree, grown))[-1]
    assert (tree.n_leaves, written.get_n_leaves(), written.get_depth()) == (32, 32, 5)
    assert_sound(written)


def test_children_that_no_row_reached_answer_with_their_parents_class():
    data = pd.DataFrame({"kind": pd.Categorical(["p", "q"] * 5, categories=["o", "p", "q", "r"])})
    tree, grown = grow(data, ["yes", "no"] * 5, splits="multiway")
    model = model_of(tree, grown)
    fresh = pd.DataFrame({"kind": ["o", "p", "q", "r", "else"]})
    assert to_sklearn(model).predict(fresh).tolist() == predict(model, fresh).tolist()


@pytest.mark.parametrize("labels", ["prune", "both"])
@pytest.mark.parametrize("seed", range(5))
def test_leaves_labelled_by_held_out_rows_keep_their_label(labels, seed):
    X, y, _ = rows(seed)
    fresh, classes, _ = rows(seed + 99)
    tree, grown = grow(X.astype(np.float32), y)
    holdout = count(tree, fresh.astype(np.float32), classes)
    pruning = prune(tree, grown, holdout, rule="reduced-error", labels=labels, original="relabel")
    for held in (holdout, None):
        model = Model(pruning, grown, held)
        new = float32_rows(seed)
        assert to_sklearn(model).predict(new).tolist() == predict(model, new).tolist()


def test_leaves_labelled_by_growing_rows_keep_their_class_shares():
    X, y, _ = rows(4)
    fresh, classes, _ = rows(103)
    tree, grown = grow(X.astype(np.float32), y)
    holdout = count(tree, fresh.astype(np.float32), classes)
    model = Model(prune(tree, grown, holdout, rule="reduced-error"), grown, holdout)
    new = float32_rows(4)
    expected = predict_proba(model, new, kind="frequency")
    np.testing.assert_allclose(to_sklearn(model).predict_proba(new), expected, atol=1e-12)


def test_a_regression_model_answers_means():
    X, y, _ = rows(3, kind="squared")
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    model = from_sklearn(tree)
    model = Model(Pruning.from_cuts(model.tree, [3]), model.grown)

    written = to_sklearn(model)

    assert type(written) is DecisionTreeRegressor
    new = float32_rows(2)
    assert written.predict(new).tolist() == predict(model, new).tolist()
    np.testing.assert_allclose(written.tree_.impurity, tree.tree_.impurity[written.node_ids_])
    assert_sound(written)


def test_a_run_of_tests_on_numbers_adds_up_moments():
    data = pd.DataFrame({"kind": list("pqrst") * 4})
    tree, _ = grow(data, list("pqrst") * 4, splits="multiway")
    y = np.arange(20) ** 1.5
    children = np.arange(20) % 5
    groups = [y, *(y[children == i] for i in range(5))]
    moments = Moments(tree, [len(g) for g in groups], [g.mean() for g in groups], [g.var() * len(g) for g in groups])
    written = to_sklearn(Model(Pruning.from_cuts(tree, []), moments))
    fitted = written[-1].tree_
    codes = written[0].transform(data)
    passes = written[-1].decision_path(codes).toarray().astype(bool)
    for v in range(fitted.node_count):
        assert fitted.value[v, 0, 0] == pytest.approx(y[passes[:, v]].mean())
        assert fitted.impurity[v] == pytest.approx(y[passes[:, v]].var())
        assert fitted.n_node_samples[v] == passes[:, v].sum()


def test_names_are_kept_and_a_single_leaf_is_written():
    data, y = frame(0)
    tree, grown = grow(data[["size", "weight"]], y)
    written = to_sklearn(model_of(tree, grown, [0]))
    assert written.feature_names_in_.tolist() == ["size", "weight"]
    assert written.get_n_leaves() == 1
    assert set(written.predict(data[["size", "weight"]])) == {pd.Series(y).mode()[0]}


@given(st.integers(0, 10_000))
def test_random_subset_tests_never_lose_a_row(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.choice(list("uvwxyz"), 40), "b": rng.choice(["p", "q", "r", None], 40)})
    y = rng.integers(0, 3, 40)
    tree, grown = grow(data, y, splits=rng.choice(["binary", "multiway"]))
    model = model_of(tree, grown)
    fresh = pd.DataFrame({"a": rng.choice([*"uvwxyz", "new"], 40), "b": rng.choice(["p", "q", "r", "s", None], 40)})
    assert to_sklearn(model).predict(fresh).tolist() == predict(model, fresh).tolist()


def test_what_scikit_learn_cannot_hold_is_refused():
    tree, grown = grow([[1e300], [2e300]], [0, 1])
    with pytest.raises(UnsupportedError, match=r"1\.5e\+300, beyond the range of float32.*rescale"):
        to_sklearn(model_of(tree, grown))
    bare = Tree.from_parents([-1, 0, 0])
    with pytest.raises(TreeError, match="no tests"):
        to_sklearn(model_of(bare, Counts.from_leaves(bare, [[1, 0], [0, 1]])))
    with pytest.raises(UnsupportedError, match="model is a str"):
        to_sklearn("tree")
