"""Scores of cross-validation: agreement with scikit-learn's metrics on trees pruned by brute force, and choices by score."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, mean_absolute_error, roc_auc_score

from oracles import all_prunings, keep_vector
from secateur import Tree, TreeClassifier, TreeRegressor, encode, grow
from secateur.errors import DataError, ParameterError, UnsupportedError
from secateur.model_selection import SCORES, cross_validate, losses
from secateur.model_selection.folds import _area_fold_losses, _FoldPath
from secateur.statistics.probabilities import SHRINKAGE_STRENGTHS
from small_tables import rows_of_nodes

rng = np.random.default_rng(7)
X = rng.integers(0, 5, (36, 2)).astype(float)
Y = (X[:, 0] + rng.normal(size=36) > 2.5).astype(int)
FOLDS = [np.arange(36)[i::3] for i in range(3)]
OPTIONS = {"cv": FOLDS, "max_depth": 3}


def deviance(node_counts):
    return sum(-n * np.log(n / sum(node_counts)) for n in node_counts if n)


def impurity(node_counts):
    return sum(node_counts) - sum(n * n for n in node_counts) / sum(node_counts)


def probabilities_of(tree, by_class, leaf, strength):
    """Return the shrunk class shares of a leaf, computed step by step from the root."""
    path = [leaf]
    while tree.parent[path[-1]] >= 0:
        path.append(tree.parent[path[-1]])
    shares = [by_class[v] / by_class[v].sum() for v in reversed(path)]
    rows = [by_class[v].sum() for v in reversed(path)]
    probabilities = shares[0].copy()
    for above, below, n in zip(shares[:-1], shares[1:], rows, strict=False):
        probabilities += (below - above) * n / (n + strength)
    return probabilities


def reference_losses(betas, cost_of, measure, strength, y=Y):
    """Return the score of each fold at each penalty; `measure` computes it from labels and probabilities."""
    found = np.empty((3, len(betas)))
    for f, test in enumerate(FOLDS):
        train = np.setdiff1d(np.arange(36), test)
        tree, grown = grow(encode(X, target=y).take(train), max_depth=3)
        cost = [cost_of(node_counts) / len(train) for node_counts in grown.by_class]
        rows_of = rows_of_nodes(tree, X[test].T.tolist())
        prunings = list(all_prunings(tree))
        for b, beta in enumerate(betas):
            totals = [sum(cost[v] for v in p) + (0 if np.isinf(beta) else beta) * len(p) for p in prunings]
            near = [p for p, t in zip(prunings, totals, strict=True) if t <= min(totals) + 1e-12]
            fewest = min(map(len, near))
            best = max((p for p in near if len(p) == fewest), key=lambda p: keep_vector(tree, p))
            best = {0} if np.isinf(beta) else best
            probabilities = np.empty((len(test), grown.by_class.shape[1]))
            for v in best:
                probabilities[rows_of[v]] = probabilities_of(tree, grown.by_class, v, strength)
            found[f, b] = measure(y[test], probabilities)
    return found


@pytest.mark.parametrize(
    ("scoring", "cost_of", "measure"),
    [
        ("log_loss", deviance, lambda y, probabilities: log_loss(y, probabilities[:, 1], labels=[0, 1])),
        ("brier", impurity, lambda y, probabilities: brier_score_loss(y, probabilities[:, 1])),
        ("roc_auc", impurity, lambda y, probabilities: 1 - roc_auc_score(y, probabilities[:, 1])),
    ],
)
def test_scores_of_probabilities_equal_those_of_the_reference(scoring, cost_of, measure):
    result = cross_validate(X, Y, scoring=scoring, **OPTIONS)
    strength = 10.0 if scoring == "roc_auc" else result.details["shrinkage"]
    slow = reference_losses(result.betas, cost_of, measure, strength)
    assert np.allclose(result.fold_error, slow)
    assert np.allclose(result.error, slow.mean(axis=0))
    if scoring != "roc_auc":
        least = [
            reference_losses(result.betas, cost_of, measure, one).mean(axis=0).min() for one in SHRINKAGE_STRENGTHS
        ]
        assert SHRINKAGE_STRENGTHS[int(np.argmin(least))] == strength


@pytest.mark.lane
def test_the_strength_of_shrinkage_minimises_the_log_loss_of_the_choice():
    result = cross_validate(X, Y, select="0se", **OPTIONS)
    cost = [lambda node_counts: sum(node_counts) - max(node_counts)]
    least = [
        reference_losses(
            result.betas, cost[0], lambda y, probabilities: log_loss(y, probabilities[:, 1], labels=[0, 1]), strength
        ).mean(axis=0)
        for strength in SHRINKAGE_STRENGTHS
    ]
    best = int(np.argmin([line[result.chosen] for line in least]))
    assert result.details["shrinkage"] == SHRINKAGE_STRENGTHS[best]
    assert result.details["log_loss"] == pytest.approx(least[best][result.chosen])
    assert result.details["least_log_loss"] == pytest.approx(np.min(least))


@pytest.mark.parametrize("kind", ["frequency", "m-estimate"])
def test_probabilities_that_are_not_shrunk_are_scored_unchanged(kind):
    y = np.digitize(X[:, 0] + rng.normal(size=36), [1, 3])
    result = cross_validate(X, y, scoring="brier", probabilities=kind, cv=FOLDS, max_depth=2)
    at = len(result.betas) - 1  # the root alone
    for f, test in enumerate(FOLDS):
        share = np.bincount(np.delete(y, test), minlength=3) / (36 - len(test))
        expected = np.mean([((np.eye(3)[c] - share) ** 2).sum() for c in y[test]])
        assert result.fold_error[f, at] == pytest.approx(expected)


def test_the_area_of_several_classes_is_averaged_over_each_class_against_the_rest():
    y = np.digitize(X[:, 0] + rng.normal(size=36), [1, 3])
    result = cross_validate(X, y, scoring="roc_auc", **OPTIONS)
    measure = lambda y, probabilities: 1 - roc_auc_score(y, probabilities, multi_class="ovr")  # noqa: E731
    assert np.allclose(result.fold_error, reference_losses(result.betas, impurity, measure, 10.0, y))
    assert np.allclose(result.se, result.fold_error.std(axis=0, ddof=1) / np.sqrt(3))


def test_the_balanced_error_is_the_mean_of_the_errors_of_the_classes():
    x = rng.normal(size=(600, 1))
    y = (rng.random(600) < np.where(x[:, 0] > 1, 0.4, 0.02)).astype(int)
    model = TreeClassifier(scoring="balanced_error", cv=5).fit(x, y)
    answers = model.predict(x)
    assert answers.max() == 1  # though class 1 is rare everywhere
    folds = [np.arange(600)[i::2] for i in range(2)]
    result = cross_validate(x, y, scoring="balanced_error", cv=folds, max_depth=1)
    weight = 600 / 2 / np.bincount(y)
    for f, test in enumerate(folds):
        tree, grown = grow(np.delete(x, test, 0), np.delete(y, test), max_depth=1)
        labels = (grown.by_class * weight).argmax(axis=1)
        leaves = np.where(x[test, 0] <= tree.threshold[0], labels[1], labels[2])
        assert result.fold_error[f, 0] == pytest.approx((weight[y[test]] * (leaves != y[test])).mean())


def test_absolute_errors_are_measured_from_the_means():
    y = X[:, 0] + rng.normal(size=36)
    result = cross_validate(X, y, criterion="squared_error", scoring="absolute_error", cv=FOLDS, max_depth=2)
    for f, test in enumerate(FOLDS):
        mean = np.delete(y, test).mean()
        assert result.fold_error[f, -1] == pytest.approx(mean_absolute_error(y[test], np.full(len(test), mean)))
    assert TreeRegressor(scoring="absolute_error").fit(X, y).selection_.details["scoring"] == "absolute_error"


def rare(n=3000):
    random = np.random.default_rng(1)
    x = random.normal(size=(n, 3))
    return x, (random.random(n) < 0.3 / (1 + np.exp(-2 * x[:, 0]))).astype(int)


def test_the_warning_about_a_rare_class_names_remedies_that_work():
    x, y = rare()
    with pytest.warns(UserWarning, match="1 leaf, because class 1 is 1.*scoring='log_loss'") as probabilities:
        small = TreeClassifier().fit(x, y)
    assert len(probabilities) == 1
    assert small.get_n_leaves() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        large = TreeClassifier(scoring="log_loss").fit(x, y)
        noise = TreeClassifier().fit(np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 10 == 0)
    assert noise.get_n_leaves() == 1
    fresh = rare(4000)
    assert large.get_n_leaves() > 1
    assert roc_auc_score(fresh[1], large.predict_proba(fresh[0])[:, 1]) > 0.6
    assert log_loss(fresh[1], large.predict_proba(fresh[0])[:, 1]) < log_loss(
        fresh[1], small.predict_proba(fresh[0])[:, 1]
    )


@pytest.mark.parametrize(
    ("parameters", "error", "says"),
    [
        ({"scoring": "accuracy"}, ParameterError, "scoring='accuracy'"),
        ({"scoring": "squared_error"}, ParameterError, "scoring='squared_error'"),
        ({"scoring": "cost"}, ParameterError, "needs costs="),
        ({"scoring": "balanced_error", "costs": [[0, 1], [1, 0]]}, ParameterError, "exclude each other"),
        ({"scoring": "log_loss", "select": "holdout"}, UnsupportedError, "cross-validation"),
        ({"scoring": "roc_auc", "penalty": "sqrt"}, UnsupportedError, "penalty='sqrt'"),
        ({"probabilities": "smooth"}, ParameterError, "probabilities='smooth'"),
    ],
)
def test_invalid_scores_are_refused(parameters, error, says):
    with pytest.raises(error, match=says):
        TreeClassifier(**parameters).fit(X, Y)


def test_every_score_fits_a_tree():
    for name, score in SCORES.items():
        more = {"costs": [[0, 1], [5, 0]]} if name == "cost" else {}
        if score.target == "class":
            assert TreeClassifier(scoring=name, cv=3, **more).fit(X, Y).get_n_leaves() >= 1


@pytest.mark.parametrize("scoring", ["log_loss", "brier"])
def test_probabilities_are_chosen_by_the_standard_error_of_the_difference(scoring):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 3))
    y = rng.random(600) < 1 / (1 + np.exp(3 - 1.5 * X[:, 0] - X[:, 1] * X[:, 2]))
    result = cross_validate(X, y, scoring=scoring)
    within = []
    for member in range(len(result.error)):
        more = [fold[member] - fold[result.best] for fold in result.fold_error]
        if np.mean(more) <= np.std(more, ddof=1) / np.sqrt(10):
            within.append(member)
    assert result.chosen == max(within)
    assert result.sequence.n_leaves[result.chosen] > 1
    assert cross_validate(X, y, scoring=scoring, select="0se").chosen == result.best


def test_the_shrunk_losses_of_a_long_path_are_those_of_its_scored_members(monkeypatch):
    monkeypatch.setattr(losses, "MAX_SCORED_MEMBERS", 2)
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    held_out = np.array([[4, 4], [3, 1], [3, 0], [0, 1], [1, 3]])
    path = _FoldPath(np.array([0.0, 0.1, 0.2]), np.array([2, 1, 0, 0, 0]), None)
    of_members = np.tile([10.0, 11.0, 12.0], (len(SHRINKAGE_STRENGTHS), 1))
    fold = _area_fold_losses(
        tree, path, held_out, held_out / held_out.sum(axis=1, keepdims=True), (of_members, of_members + 5)
    )
    assert fold.alphas.tolist() == [0.0, 0.2]  # the largest tree and the root
    assert fold.shrunk[0].tolist() == [[10.0, 12.0]] * len(SHRINKAGE_STRENGTHS)
    assert fold.shrunk[1].tolist() == [[15.0, 17.0]] * len(SHRINKAGE_STRENGTHS)
    assert fold.loss[1] == 0.5  # the root ranks no row above another


def test_a_fold_of_one_class_has_no_area_and_does_not_count():
    y = np.zeros(36, int)
    y[:6] = 1
    folds = [np.arange(0, 36, 2), np.arange(1, 36, 2), np.arange(20, 30)]  # the last has rows of class 0 only
    with_it = cross_validate(X, y, scoring="roc_auc", cv=folds, max_depth=2)
    without = cross_validate(X, y, scoring="roc_auc", cv=folds[:2], max_depth=2)
    assert np.allclose(with_it.error[-1], without.error[-1])
    with pytest.raises(DataError, match="the test rows of every fold are of one class"):
        cross_validate(X, y, scoring="roc_auc", cv=[np.arange(10, 20), np.arange(20, 30)], max_depth=2)
