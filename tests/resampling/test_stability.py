"""Stability: trees of subsamples compared by predictions, splits near the top and sizes."""

from itertools import combinations

import numpy as np
import pytest

import secateur
from secateur import Model, Pruning, TreeClassifier, TreeRegressor, stability
from secateur.data.fold_assignment import draw_holdout
from secateur.errors import DataError, ParameterError, UnsupportedError
from secateur.model_selection import Recipe, fit_model
from secateur.plot import StabilityDisplay, plot
from secateur.routing.prediction import predict


def rows(n=300, seed=0):
    """Return rows whose first column decides, and then a value that the second and the third column measure."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    value = X[:, 1].copy()
    X[:, 1:] = value[:, None] + rng.normal(0, 0.05, (n, 2))
    y = np.where(X[:, 0] > 0.4, np.where(value > 0.5, "b", "a"), "c")
    return X, np.where(rng.random(n) < 0.05, "a", y)


@pytest.fixture(scope="module")
def fitted():
    return TreeClassifier(cv=3, cv_repeats=1, criterion="gini").fit(*rows())


@pytest.fixture(scope="module")
def found(fitted):
    return stability(fitted, *rows(), n=8, random_state=5)


@pytest.fixture(scope="module")
def again(fitted):
    """The trees of the subsamples, grown one by one, with the rows they were grown on."""
    X, y = rows()
    table = secateur.encode(X, schema=fitted.tree_.schema, target=y)
    trees = []
    for seed in np.random.SeedSequence(5).generate_state(8).tolist():
        is_left_out = draw_holdout(table, 0.5, seed=seed)
        recipe = Recipe.of(fitted.model_.parameters, seed=seed, prune_parameters={})
        trees.append((fit_model(table.take(np.flatnonzero(~is_left_out)), recipe), is_left_out))
    return trees


def test_agreement_is_the_mean_over_all_pairs_of_trees(found, again, fitted):
    X, _ = rows()
    predictions = [predict(model, X) for model, _ in again]
    pairs = [one == other for one, other in combinations(predictions, 2)]

    assert found.agreement == pytest.approx(np.mean(pairs))
    np.testing.assert_allclose(found.row_agreement, np.mean(pairs, axis=0))
    own = predict(fitted.model_, X)
    assert found.agreement_with_model == pytest.approx(np.mean([one == own for one in predictions]))


def test_sizes_and_errors_are_those_of_the_trees(found, again):
    X, y = rows()

    assert found.n_leaves.tolist() == [model.pruning.n_leaves for model, _ in again]
    assert found.depth.tolist() == [model.pruned_tree.depth.max() for model, _ in again]
    errors = [np.mean(predict(model, X[is_out]) != y[is_out]) for model, is_out in again]
    np.testing.assert_allclose(found.error, errors)


def test_the_root_returns_as_often_as_trees_have_its_column_and_divide_the_rows_alike(found, again, fitted):
    X, _ = rows()
    own = fitted.model_.pruned_tree
    roots = [model.pruned_tree for model, _ in again]
    has_column = [not tree.is_leaf[0] and tree.feature[0] == own.feature[0] for tree in roots]
    column, threshold = own.feature[0], own.threshold[0]
    is_alike = [
        same and np.mean((X[:, column] <= tree.threshold[0]) == (X[:, column] <= threshold)) >= 0.95
        for same, tree in zip(has_column, roots, strict=True)
    ]

    root = found.splits[0]

    assert root.n_rows == 300
    assert root.column_share == np.mean(has_column)
    assert root.split_share == np.mean(is_alike)
    assert sum(root.others.values()) == pytest.approx(1 - np.mean(has_column))


def test_a_column_that_another_one_replaces_returns_less_often_than_the_first(found):
    first, *others = found.splits

    assert first.column == "x0"
    assert first.column_share == 1.0
    rivals = next(split for split in others if split.column in ("x1", "x2"))
    assert rivals.column_share < 1.0
    assert set(rivals.others) <= {"x1", "x2"}
    assert found.column_shares["x0"] == 1.0


def test_a_tree_of_one_column_of_two_values_is_stable():
    X = np.tile([[0.0], [1.0]], (60, 1))
    model = TreeClassifier(cv=3, cv_repeats=1).fit(X, ["no", "yes"] * 60)

    found = stability(model, X, ["no", "yes"] * 60, n=5)

    assert found.agreement == found.agreement_with_model == 1.0
    assert [(split.column_share, split.split_share) for split in found.splits] == [(1.0, 1.0)]
    assert found.error.max() == 0


def test_categories_in_another_order_of_branches_are_the_same_split():
    rng = np.random.default_rng(2)
    X = np.array([["red"], ["green"], ["blue"], ["grey"]], object)[rng.integers(0, 4, 240)]
    y = np.where(np.isin(X[:, 0], ["red", "grey"]), "warm", "cold")
    for splits in ("binary", "multiway"):
        model = TreeClassifier(cv=3, cv_repeats=1, splits=splits).fit(X, y)
        found = stability(model, X, y, n=6)
        assert [(split.column_share, split.split_share) for split in found.splits] == [(1.0, 1.0)]


def test_the_order_of_the_rows_and_the_number_of_threads_do_not_matter(fitted, found):
    X, y = rows()
    order = np.random.default_rng(0).permutation(300)

    other = stability(fitted, X[order], y[order], n=8, random_state=5, n_jobs=2)

    assert other.to_dict() == found.to_dict()
    np.testing.assert_array_equal(other.row_agreement, found.row_agreement[order])


def test_numbers_agree_if_predictions_are_close():
    X, _ = rows(200)
    y = np.where(X[:, 0] > 0.4, 10.0, 0.0) + np.random.default_rng(0).normal(0, 0.1, 200)
    noise = np.random.default_rng(1).normal(size=200)

    clear = stability(TreeRegressor(cv=3, cv_repeats=1).fit(X, y), X, y, n=6)
    vague = stability(TreeRegressor(prune=None, min_samples_leaf=1).fit(X, noise), X, noise, n=6)

    assert clear.agreement > 0.99
    assert vague.agreement < 0.6
    assert clear.row_agreement.size == 0
    assert "(squared)" in str(clear)


def test_the_rows_of_a_group_are_in_one_subsample():
    X, y = rows(80)
    copies, labels, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(80), 4)
    model = TreeClassifier(prune=None, min_samples_leaf=1).fit(copies, labels, groups=groups)

    found = stability(model, copies, labels, n=5, groups=groups)

    alone = stability(TreeClassifier(prune=None, min_samples_leaf=1).fit(copies, labels), copies, labels, n=5)
    assert found.error.mean() > alone.error.mean() + 0.03  # no copies of left-out rows were learnt by heart
    fitted_on_groups = TreeClassifier(cv=3, cv_repeats=1).fit(copies, labels, groups=groups)
    with pytest.raises(UnsupportedError, match="fitted on groups"):
        stability(fitted_on_groups, copies, labels, n=2)


def test_progress_is_reported(fitted):
    steps = []

    stability(fitted, *rows(), n=3, progress=lambda done, total: steps.append((done, total)))

    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_what_cannot_be_grown_again_is_refused_by_name(fitted):
    X, y = rows()
    tree, grown = secateur.grow(X, y)
    by_hand = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    with_gap = X.copy()
    with_gap[0, 0] = np.nan

    with pytest.raises(UnsupportedError, match="parameters of its fit"):
        stability(by_hand, X, y)
    with pytest.raises(DataError, match="'x0' has categories or missing values"):
        stability(fitted, with_gap, y)
    with pytest.raises(DataError, match="y is None"):
        stability(fitted, X)
    for name, value in {"n": 1, "share": 1.0, "tolerance": 0, "max_depth": -1}.items():
        with pytest.raises(ParameterError, match=name):
            stability(fitted, X, y, **{name: value})


def test_text_and_figure_show_the_same_splits(found):
    pytest.importorskip("matplotlib").use("Agg")

    display = plot(found)
    per_split, sizes = display.ax_

    assert isinstance(display, StabilityDisplay)
    assert [bar.get_width() for bar in per_split.containers[0]] == [split.column_share for split in found.splits]
    assert [bar.get_width() for bar in per_split.containers[1]] == [split.split_share for split in found.splits]
    assert sum(bar.get_height() for bar in sizes.containers[0]) == found.n
    assert all(split.text in str(found) for split in found.splits)
