"""Champion and challenger on the same fresh rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import secateur
from secateur import TreeClassifier, TreeRegressor, compare_models
from secateur.certifiers import ModelComparison, limit_difference, mcnemar_p_value
from secateur.errors import DataError, LeakageError, ParameterError, UnsupportedError

QUICK = {"criterion": "gini", "cv": 3, "cv_repeats": 1}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3))
    return X, (X[:, 0] + X[:, 1] + rng.normal(scale=0.4, size=1500) > 0).astype(int)


@pytest.fixture
def models(rows):
    X, y = rows
    return (TreeClassifier(**QUICK, select=2).fit(X[:500], y[:500]), TreeClassifier(**QUICK).fit(X[:500], y[:500]))


@pytest.mark.parametrize(("first", "second"), [(0, 0), (5, 0), (0, 9), (12, 30), (30, 30), (400, 380)])
def test_the_p_value_is_that_of_the_exact_binomial_test(first, second):
    expected = stats.binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar_p_value(first, second) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "n"), [(30, 10, 1000), (3, 9, 50), (0, 0, 80), (20, 0, 20), (500, 400, 900)]
)
def test_the_limits_are_the_range_of_the_difference_within_two_exact_intervals(first, second, n):
    delta, discordant = 0.05, first + second

    def interval(k, m, level):
        low = stats.beta.ppf(level / 2, k, m - k + 1) if k else 0.0
        return low, (stats.beta.ppf(1 - level / 2, k + 1, m - k) if k < m else 1.0)

    theta = np.linspace(*interval(first, discordant, 0.9 * delta), 1001)
    pi = np.linspace(*interval(discordant, n, 0.1 * delta), 1001)
    differences = np.multiply.outer(pi, 2 * theta - 1)

    lower, upper = limit_difference(first, second, n, delta)

    assert (lower, upper) == pytest.approx((differences.min(), differences.max()), abs=1e-9)
    assert lower <= (first - second) / n <= upper


def test_exchanging_the_classifiers_changes_the_signs():
    lower, upper = limit_difference(31, 12, 400, 0.05)
    assert limit_difference(12, 31, 400, 0.05) == pytest.approx((-upper, -lower))


@pytest.mark.parametrize("only_first", range(0, 41, 4))
def test_the_limits_exclude_zero_exactly_if_the_p_value_is_at_most_nine_tenths_of_delta(only_first):
    lower, upper = limit_difference(only_first, 40 - only_first, 500, 0.05)
    assert (lower > 0 or upper < 0) == (mcnemar_p_value(only_first, 40 - only_first) <= 0.045)


def test_two_trees_are_compared_row_by_row(rows, models):
    X, y = rows[0][500:], rows[1][500:]
    result = compare_models(*models, X, y, names=("champion", "challenger"))

    wrong = [model.predict(X) != y for model in models]
    assert result.errors == tuple(int(w.sum()) for w in wrong)
    assert result.discordant == (int((wrong[0] & ~wrong[1]).sum()), int((wrong[1] & ~wrong[0]).sum()))
    assert result.difference == pytest.approx(wrong[0].mean() - wrong[1].mean())
    assert (result.better, result.is_checked, result.n) == ("challenger", True, 1000)
    sentence = str(result)
    assert "the error of champion minus that of challenger on new rows like these is between" in sentence
    assert "so challenger is better; assumes rows are independent and identically distributed." in sentence


def test_equal_classifiers_have_no_better_one(rows, models):
    X, y = rows
    result = compare_models(models[0], models[0], X[500:], y[500:])
    assert (result.p_value, result.difference, result.better) == (1.0, 0.0, None)
    assert "the sign is open" in str(result)


def test_other_classifiers_and_predictions_are_stated_as_not_checked(rows, models):
    X, y = rows
    other = LogisticRegression().fit(X[:500], y[:500])

    result = compare_models(models[1], other, X[500:], y[500:])

    assert not result.is_checked
    assert "b: not checked" in result.freshness
    assert "not used before (a: compared with" in str(result)
    by_predictions = compare_models(models[1].predict(X[500:]), other.predict(X[500:]), None, y[500:])
    assert by_predictions.discordant == result.discordant


def test_rows_that_either_tree_has_used_are_refused(rows, models):
    X, y = rows
    late = TreeClassifier(**QUICK).fit(X[500:1000], y[500:1000])
    with pytest.raises(LeakageError, match=r"^b: "):
        compare_models(models[0], late, X[500:], y[500:])
    with pytest.raises(LeakageError, match=r"^a: "):
        compare_models(late, models[0], X[500:], y[500:])


def test_rows_that_chose_the_size_of_a_tree_are_refused(rows, models):
    X, y = rows
    champion, challenger = models
    counts = secateur.count(challenger.tree_, X[500:], y[500:], sample="look")
    challenger.sequence_.errors_on(counts)
    with pytest.raises(LeakageError, match=r"b: .*was evaluated on other prunings"):
        compare_models(champion, challenger, X[500:], y[500:])


def test_the_log_shows_that_the_rows_were_evaluated(rows, models):
    X, y = rows
    compare_models(*models, X[500:], y[500:])
    smaller = models[1].snip(int(models[1].tree_.n_nodes > 1))
    with pytest.raises(LeakageError):
        smaller.certified_on(X[500:], y[500:], method="test-sample")


def test_the_text_states_the_errors_of_both_in_percent():
    comparison = ModelComparison(("old", "new"), 800, (100, 44), (60, 4), 1e-9, 0.07, 0.04, 0.1, 0.05, is_checked=True)
    assert "On 800 rows, old errs in 12.5 % and new in 5.5 %: old alone is wrong in 60, new alone in 4" in str(
        comparison
    )
    assert comparison.better == "new"


def test_copied_rows_are_refused_unless_they_are_stated_to_be_independent(rows, models):
    X, y = rows
    twice = np.tile(np.arange(500, 1500), 2)
    with pytest.raises(LeakageError, match="copies"):
        compare_models(*models, X[twice], y[twice])
    assert compare_models(*models, X[twice], y[twice], repeats="independent").n == 2000


def test_what_cannot_be_compared_is_refused(rows, models):
    X, y = rows
    regressor = TreeRegressor(cv=3).fit(X[:300], X[:300, 0])
    with pytest.raises(UnsupportedError, match="predicts numbers"):
        compare_models(models[0], regressor, X[500:], y[500:])
    with pytest.raises(UnsupportedError, match="a fitted classifier with predict"):
        compare_models(models[0], 3, X[500:], y[500:])
    with pytest.raises(DataError, match="the predictions of b 2"):
        compare_models(models[0], [0, 1], X[500:], y[500:])
    for names in (("a", "a"), ("a", ""), ("a", 3), ("a", "b", "c")):
        with pytest.raises(ParameterError, match="two different names"):
            compare_models(*models, X[500:], y[500:], names=names)
    with pytest.raises(ParameterError, match="pass the rows"):
        compare_models([0, 1], LogisticRegression(), None, [0, 1])
    grouped = TreeClassifier(**QUICK).fit(X[:500], y[:500], groups=np.arange(500) // 2)
    with pytest.raises(UnsupportedError, match="groups of rows"):
        compare_models(models[0], grouped, X[500:], y[500:])


@pytest.mark.parametrize(
    ("n", "only_first", "only_second"),
    [(60, 0.05, 0.05), (300, 0.02, 0.0), (300, 0.3, 0.25), (100, 0.5, 0.1), (500, 0, 0)],
)
def test_false_limits_are_at_most_delta(n, only_first, only_second):
    """Thousands of samples; each draws the discordant rows of two classifiers with known errors."""
    rng = np.random.default_rng([n, round(100 * only_first)])
    n_runs, delta, truth = 5000, 0.1, only_first - only_second
    drawn, times = np.unique(
        rng.multinomial(n, [only_first, only_second, 1 - only_first - only_second], size=n_runs),
        axis=0, return_counts=True,
    )  # fmt: skip
    limits = np.array([limit_difference(int(a), int(b), n, delta) for a, b, _ in drawn])
    false_ones = times[(limits[:, 0] > truth + 1e-12) | (limits[:, 1] < truth - 1e-12)].sum()
    assert false_ones <= stats.binom.ppf(0.999, n_runs, delta)


def test_trees_of_different_columns_are_compared(rows):
    X, y = pd.DataFrame(rows[0], columns=["a", "b", "c"]), rows[1]
    small, large = (TreeClassifier(**QUICK).fit(X.loc[:499, names], y[:500]) for names in (["a"], ["c", "b", "a"]))
    result = compare_models(small, large, X[500:], y[500:])
    wrong = [small.predict(X.loc[500:, ["a"]]) != y[500:], large.predict(X[500:]) != y[500:]]
    assert result.errors == tuple(int(w.sum()) for w in wrong)


def test_two_prunings_of_one_tree_are_compared_once(rows, models):
    X, y = rows[0][500:], rows[1][500:]
    model = models[1]
    result = compare_models(model, model.prune_to(n_leaves=2), X, y)
    assert result.is_checked
    # The rows may have chosen one of them, so they certify no further pruning without a price.
    with pytest.raises(LeakageError, match="was evaluated on other prunings"):
        compare_models(model, model.prune_to(n_leaves=3), X, y, n_comparisons=2)


def test_more_challengers_than_stated_are_refused(rows, models):
    X, y = rows[0][500:], rows[1][500:]
    champion = models[1]
    challengers = [
        LogisticRegression(C=c).fit(rows[0][:500, :k], rows[1][:500]) for c, k in ((1, 1), (1e-4, 2), (9, 3))
    ]
    predictions = [model.predict(X[:, :k]) for model, k in zip(challengers, (1, 2, 3), strict=True)]
    alone = compare_models(champion, predictions[0], X, y, n_comparisons=2)
    assert alone == compare_models(champion, predictions[0], X, y, n_comparisons=2)  # the same comparison again
    assert alone.delta == 0.025
    with pytest.raises(LeakageError, match=r"b was compared with 1 other classifier on these rows.*n_comparisons=2"):
        compare_models(predictions[1], champion, X, y)
    compare_models(predictions[1], champion, X, y, n_comparisons=2)
    with pytest.raises(LeakageError, match="n_comparisons=3"):
        compare_models(champion, predictions[2], X, y, n_comparisons=2)
    compare_models(champion, predictions[2][500:], X[500:], y[500:])  # other rows
    with pytest.raises(ParameterError, match="n_comparisons=0"):
        compare_models(champion, predictions[2], X, y, n_comparisons=0)


@pytest.mark.filterwarnings("ignore:y holds classes the tree has not seen")
def test_labels_that_a_tree_does_not_know_are_errors(rows, models):
    X, y = rows[0][500:600], rows[1][500:600].copy()
    y[:7] = 2
    known = compare_models(*models, X[7:], y[7:])
    result = compare_models(*models, X, y)
    assert result.errors == tuple(n + 7 for n in known.errors)
