"""The error in a population from weighted rows of another."""

import math

import numpy as np
import pytest
from scipy import stats

import secateur
from secateur import Pruning, Tree
from secateur.certifiers import betting_upper, importance_weighted
from secateur.errors import CountsError, DataError, LeakageError, ParameterError, TreeError

CENTRES = np.array([[0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]])


def near(kinds, rng):
    """Rows of the given kinds, no two alike."""
    return CENTRES[kinds] + rng.uniform(-0.1, 0.1, (len(kinds), 2))


@pytest.fixture
def tree_and_grown():
    kinds = np.tile(np.arange(4), 5)
    return secateur.grow(near(kinds, np.random.default_rng(1)), np.array(["a", "b", "c", "c"])[kinds])


def pruned(tree_and_grown, cuts=(), seen=("grow",)):
    tree, grown = tree_and_grown
    return Pruning.from_cuts(tree, list(cuts), node_labels=grown.majority, seen=seen)


X = near(np.tile(np.arange(4), 25), np.random.default_rng(2))
Y = np.tile(["a", "b", "c", "a"], 25)  # the last of four rows is wrong
W = np.tile([1.25, 1.25, 1.0, 0.5], 25)


def test_losses_are_the_weights_of_rows_in_error(tree_and_grown):
    bound = importance_weighted(pruned(tree_and_grown), X, Y, W, largest=1.25, delta=0.1)

    assert bound.errors == pytest.approx(12.5)
    assert bound.n == 100
    assert bound.value == pytest.approx(1.25 * betting_upper([0, 0.4], [75, 25], math.log(0.1)))
    assert bound.details["rows_in_error"] == 25
    assert "the importance-weighted error on new rows like these is at most" in str(bound)


@pytest.mark.parametrize("is_root", [True, False])
def test_predictions_are_those_of_the_pruning(tree_and_grown, is_root):
    tree, _ = tree_and_grown
    pruning = pruned(tree_and_grown, [0] if is_root else tree.internal[1:].tolist())
    expected = pruning.errors(secateur.count(tree, X, Y))
    assert importance_weighted(pruning, X, Y, np.ones(100), largest=1).errors == expected


@pytest.mark.filterwarnings("ignore:y holds classes")
def test_classes_that_growing_did_not_see_are_errors(tree_and_grown):
    strange = np.where(np.arange(100) < 8, "new", Y)

    assert importance_weighted(pruned(tree_and_grown), X, strange, np.ones(100), largest=1).errors == 25 + 6


def test_no_error_and_only_errors(tree_and_grown):
    pruning, right = pruned(tree_and_grown), np.tile(["a", "b", "c", "c"], 25)

    none = importance_weighted(pruning, X, right, W, largest=1.25)
    assert none.value == pytest.approx(1.25 * (1 - 0.05 ** (1 / 100)))
    wrong = importance_weighted(pruning, X, np.tile(["c", "c", "a", "a"], 25), W, largest=1.25)
    assert wrong.value == 1


def test_the_limit_holds_in_the_other_population(tree_and_grown):
    rng = np.random.default_rng(3)
    pruning = pruned(tree_and_grown)
    here, there = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1])  # chances of the four kinds of row
    error = np.array([0.3, 0.1, 0.05, 0.02])
    true, plain = there @ error, here @ error
    answers = np.array(["a", "b", "c", "c"])
    runs, delta, failed, n_above_plain = 300, 0.1, 0, 0
    for _ in range(runs):
        kind = rng.choice(4, 150, p=here)
        y = np.where(rng.random(150) < error[kind], np.where(kind < 2, "c", "a"), answers[kind])
        bound = importance_weighted(pruning, near(kind, rng), y, (there / here)[kind], largest=4, delta=delta)
        failed += bound.value < true
        n_above_plain += bound.rate > plain

    assert failed <= stats.binom.ppf(0.999, runs, delta)
    assert n_above_plain > runs * 0.8


@pytest.mark.parametrize(
    ("weight", "largest", "error", "match"),
    [
        (W, 1.2, ParameterError, "row 0 is 1.25, above largest=1.2"),
        (W, 0.5, ParameterError, "1 or more"),
        (W, math.inf, ParameterError, "finite"),
        (W, True, ParameterError, "finite"),
        (W[:99], 2, DataError, "one per row"),
        (np.where(np.arange(100) == 3, np.nan, W), 2, DataError, "missing"),
        (-W, 2, DataError, "negative"),
        (np.zeros(100), 2, ParameterError, "expectation 1"),
    ],
)
def test_invalid_weights_are_refused(tree_and_grown, weight, largest, error, match):
    with pytest.raises(error, match=match):
        importance_weighted(pruned(tree_and_grown), X, Y, weight, largest=largest)


def test_used_rows_and_prunings_without_classes_are_refused(tree_and_grown):
    with pytest.raises(LeakageError):
        importance_weighted(pruned(tree_and_grown, seen=("grow", "test")), X, Y, W, largest=2)
    with pytest.raises(CountsError, match="no classes"):
        importance_weighted(Pruning.from_cuts(tree_and_grown[0], []), X, Y, W, largest=2)
    with pytest.raises(TreeError, match="has no schema"):
        importance_weighted(Pruning.from_cuts(Tree.from_parents([-1]), []), X, Y, W, largest=2)
