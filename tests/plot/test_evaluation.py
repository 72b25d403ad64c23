"""Figures of an evaluated tree: they show the counts."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import secateur
from secateur.errors import ParameterError, TreeError, UnsupportedError
from secateur.plot import ImportancesDisplay, LeafCalibrationDisplay, RankingDisplay, TreeDisplay, plot
from secateur.plot.distribution import node_bars
from secateur.routing.prediction import node_probabilities


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3)).round(2)
    return X, np.where((X[:, 0] > 0) ^ (rng.random(400) < 0.2), "good", "bad$x$")


@pytest.fixture(scope="module")
def fitted(rows):
    return secateur.TreeClassifier(criterion="gini", certify=True, random_state=0).fit(*rows)


def counted(fitted):
    model = fitted.model_
    leaves, held = model.pruning.leaves, model.holdout.by_class
    probability = node_probabilities(model)[leaves, 1]
    return leaves, held[leaves], probability


def test_the_area_under_the_curve_is_that_of_the_rows(fitted):
    _, held, said = counted(fitted)
    truth = np.concatenate([np.repeat([1, 0], [n[1], n[0]]) for n in held])
    display = RankingDisplay.from_estimator(fitted, positive="good").plot()

    assert display.ranking.auc == pytest.approx(metrics.roc_auc_score(truth, np.repeat(said, held.sum(1))))
    x, y = display.ax_.get_lines()[0].get_data()
    assert np.trapezoid(y, x) == pytest.approx(display.ranking.auc)
    assert f"area {display.ranking.auc:.3f}" in display.ax_.get_title()


@pytest.mark.parametrize("curve", ["pr", "lift"])
def test_other_curves_end_where_all_rows_are_taken(fitted, curve):
    x, y = RankingDisplay.from_model(fitted, curve=curve).plot().ax_.get_lines()[0].get_data()

    held = counted(fitted)[1]
    assert (x[-1], y[-1]) == pytest.approx((1, held[:, 1].sum() / held.sum() if curve == "pr" else 1))


def test_calibration_has_the_exact_limits_of_each_leaf(fitted):
    leaves, held, said = counted(fitted)
    display = LeafCalibrationDisplay.from_estimator(fitted, positive="good").plot()

    used = held.sum(1) > 0
    assert display.node.tolist() == leaves[used].tolist()
    assert display.predicted_share == pytest.approx(said[used])
    for (bad, good), low, high in zip(held[used].tolist(), display.low, display.high, strict=True):
        exact = stats.binomtest(good, good + bad).proportion_ci(0.95, "exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_importances_are_those_of_the_estimator_in_falling_order(fitted):
    display = ImportancesDisplay.from_estimator(fitted).plot()

    assert display.shares.tolist() == sorted(fitted.feature_importances_[fitted.feature_importances_ > 0], reverse=True)
    assert [bar.get_width() for bar in display.ax_.patches] == display.shares.tolist()


def test_kinds_of_plot_find_their_display(fitted):
    assert isinstance(plot(fitted, kind="ranking", curve="lift"), RankingDisplay)
    assert isinstance(plot(fitted, kind="calibration"), LeafCalibrationDisplay)
    assert isinstance(plot(fitted, kind="importances"), ImportancesDisplay)


def test_what_cannot_be_drawn_is_refused_with_advice(fitted):
    with pytest.raises(ParameterError, match=r"positive='goood'.*did you mean 'good'"):
        RankingDisplay.from_model(fitted, positive="goood")
    regression = secateur.TreeRegressor(random_state=0).fit([[1.0], [2.0], [3.0]] * 9, [1.0, 2.0, 3.0] * 9)
    with pytest.raises(UnsupportedError, match="no classes to rank"):
        LeafCalibrationDisplay.from_model(regression)
    bare = secateur.Tree.from_parents([-1, 0, 0])
    counts = secateur.Counts.from_leaves(bare, [[1, 0], [0, 1]])
    with pytest.raises(UnsupportedError, match=r"gains of the tests .* are not known"):
        ImportancesDisplay.from_model((bare, counts))
    with pytest.raises(TreeError, match="omit data="):
        TreeDisplay.from_tree(bare, counts, data=[[1.0]])


@pytest.mark.parametrize("n_leaves", [4, 14])
def test_bars_under_the_boxes_are_the_rows_of_each_test(rows, n_leaves):
    tree, counts = secateur.grow(*rows)
    sequence = secateur.prune(tree, counts)
    pruning = sequence[int(np.flatnonzero(sequence.n_leaves >= n_leaves)[-1])]
    display = TreeDisplay.from_tree(tree, counts, pruning=pruning, data=rows).plot()

    tests = np.flatnonzero(pruning.is_kept)
    insets = display.ax_.child_axes
    assert len(insets) == len(tests)
    for v, inset in zip(tests, insets, strict=True):
        assert sum(bar.get_height() for bar in inset.patches) == counts.total[v]


def test_bars_part_numbers_at_the_ends_and_name_the_most_frequent_categories():
    values = [[f"k{i % 30}"] for i in range(300)] + [["k0"]] * 100
    target = [int(v[0] in ("k0", "k1")) for v in values]
    table = secateur.encode(values, names=["kind"], target=target)
    tree, _ = secateur.grow(table)
    bars = node_bars(tree, table, [0])[0]

    assert bars.codes[0] == list(table.schema.columns[0].categories).index("k0")
    assert bars.rows.shape == (2, 21)
    assert bars.rows.sum() == 400
    assert bars.rows[:, 0].sum() == 110
