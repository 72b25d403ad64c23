"""A certified cost: by hand, by enumeration, at the extremes."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from secateur import Counts, Moments, Pruning, Tree
from secateur.certifiers import certified_cost, test_sample
from secateur.errors import CountsError, LeakageError, ParameterError, UnsupportedError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
LABELS = [0, 0, 0, 1, 1]
WHOLE = Pruning.from_cuts(TREE, [], node_labels=LABELS, seen={"grow"})
FRESH = Counts.from_leaves(TREE, [[40, 5], [10, 30], [5, 10]], sample="test")


def exact(errors, n, delta):
    return 1.0 if errors == n else stats.beta.ppf(1 - delta, errors + 1, n - errors)


def test_two_steps_are_two_exact_limits_that_share_delta_in_proportion():
    # Leaves 2, 3, 4 answer 0, 1, 1. A row of class 0 answered 1 costs 2: 10 + 5 rows. One of class 1
    # answered 0 costs 8: 5 rows. Steps of 2 and 6; 20 rows reach the first, 5 the second.
    bound = certified_cost(WHOLE, FRESH, [[0, 2], [8, 0]], delta=0.1)

    assert bound.errors == 2 * 15 + 8 * 5
    assert bound.rate == pytest.approx(0.7)
    assert bound.value == pytest.approx(2 * exact(20, 100, 0.025) + 6 * exact(5, 100, 0.075), rel=1e-9)
    assert (bound.quantity, bound.scale, bound.n, bound.method) == ("cost", 8, 100, "cost, exact tails of 2 steps")


@pytest.mark.parametrize("c", [1, 0.25, 1000])
def test_costs_of_zero_and_c_have_c_times_the_exact_limit_on_the_error(c):
    bound = certified_cost(WHOLE, FRESH, [[0, c], [c, 0]])

    assert bound.value == pytest.approx(c * test_sample(WHOLE, FRESH).value)
    assert bound.method == "cost, exact tail"


def test_the_least_possible_cost_is_added_to_the_limit():
    shifted = certified_cost(WHOLE, FRESH, [[3, 5], [11, 3]])

    assert shifted.value == pytest.approx(3 + certified_cost(WHOLE, FRESH, [[0, 2], [8, 0]]).value)


def test_equal_costs_are_known_without_rows():
    bound = certified_cost(WHOLE, FRESH, [[4, 4], [4, 4]])

    assert bound.value == bound.scale == 4
    assert certified_cost(WHOLE, FRESH, [[0, 0], [0, 0]]).value == 0


def test_costs_that_no_leaf_can_cause_do_not_count():
    one_answer = Pruning.from_cuts(TREE, [0], node_labels=LABELS)  # answers class 0 everywhere
    bound = certified_cost(one_answer, FRESH, [[0, 1000], [3, 1000]])

    assert bound.value == pytest.approx(3 * exact(45, 100, 0.05))
    assert bound.scale == 1000


def test_a_matrix_may_know_classes_that_the_sample_does_not():
    wider = certified_cost(WHOLE, FRESH, [[0, 2, 2], [8, 0, 8], [8, 2, 0]], delta=0.1)

    assert wider.value == certified_cost(WHOLE, FRESH, [[0, 2], [8, 0]], delta=0.1).value
    assert wider.errors == 70


def test_many_different_costs_use_the_betting_bound():
    tree = Tree.from_parents([-1, 0, 0, 0])
    costs = [[0, 1, 2], [3, 0, 4], [5, 7, 0]]
    pruning = Pruning.from_cuts(tree, [], node_labels=[0, 0, 1, 2])
    counts = Counts.from_leaves(tree, [[60, 3, 4], [5, 70, 2], [1, 2, 53]], sample="test")
    bound = certified_cost(pruning, counts, costs)

    assert bound.method == "cost, betting"
    assert bound.errors == 3 * 3 + 4 * 5 + 5 * 1 + 2 * 7 + 1 * 2 + 2 * 4
    assert bound.details["values"] == [0, 1, 2, 3, 4, 5, 7]
    assert bound.details["rows"] == [183, 5, 1, 3, 2, 4, 2]
    assert bound.rate < bound.value < 1


@pytest.mark.parametrize("method", ["steps", "betting"])
@pytest.mark.parametrize("chances", [(0.6, 0.3, 0.1), (0.9, 0.0, 0.1), (0.1, 0.8, 0.1)])
def test_the_limit_fails_with_probability_at_most_delta_over_all_samples(method, chances):
    # One leaf that answers 0; classes 0, 1, 2 then cost 0, 1 and 5.
    tree, n, delta = Tree.from_parents([-1]), 10, 0.2
    pruning = Pruning.from_cuts(tree, [], node_labels=[0])
    costs = [[0, 9, 9], [1, 9, 9], [5, 9, 9]]
    failed = 0.0
    for a, b in itertools.product(range(n + 1), repeat=2):
        if a + b <= n:
            counts = Counts.from_leaves(tree, [[n - a - b, a, b]], sample="test")
            value = certified_cost(pruning, counts, costs, delta=delta, method=method).value
            failed += (value < chances[1] + 5 * chances[2]) * stats.multinomial.pmf([n - a - b, a, b], n, chances)

    assert failed <= delta


def test_all_right_and_all_wrong_and_one_row():
    tree = Tree.from_parents([-1])
    pruning = Pruning.from_cuts(tree, [], node_labels=[0])
    costs = [[0, 9], [5, 9]]

    def limit(right, wrong):
        return certified_cost(pruning, Counts.from_leaves(tree, [[right, wrong]], sample="test"), costs).value

    assert limit(0, 100) == 5
    assert limit(1, 0) == pytest.approx(5 * 0.95)
    assert limit(100, 0) == pytest.approx(5 * (1 - 0.05 ** (1 / 100)))


def test_quick_coverage_of_both_methods():
    rng = np.random.default_rng(11)
    tree = Tree.from_parents([-1, 0, 0])
    pruning = Pruning.from_cuts(tree, [], node_labels=[0, 0, 1])
    chance = np.array([[0.5, 0.1], [0.1, 0.3]])
    costs = np.array([[0, 1], [10, 0]])
    true = 10 * 0.1 + 0.1
    runs, delta = 400, 0.1
    failed = dict.fromkeys(("steps", "betting"), 0)
    for _ in range(runs):
        counts = Counts.from_leaves(tree, rng.multinomial(60, chance.ravel()).reshape(2, 2), sample="test")
        for method in failed:
            failed[method] += certified_cost(pruning, counts, costs, delta=delta, method=method).value < true

    assert max(failed.values()) <= stats.binom.ppf(0.999, runs, delta) < runs * 2 * delta


def test_rows_that_shaped_the_pruning_are_refused():
    chosen = Pruning.from_cuts(TREE, [], node_labels=LABELS, seen={"grow", "test"})

    with pytest.raises(LeakageError, match="'test' already helped"):
        certified_cost(chosen, FRESH, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("costs", "match"),
    [
        ([[0, -5], [1, 0]], "costs\\[0, 1\\] is -5; .*for gains, add a constant"),
        ([[0, math.nan], [1, 0]], "is nan"),
        ([[0, 1]], "a square matrix"),
        ([0, 1], "a square matrix"),
        ([["a", "b"], ["c", "d"]], "numbers is needed"),
        ([[0]], "have 2 classes"),
    ],
)
def test_invalid_costs_are_refused_with_a_remedy(costs, match):
    with pytest.raises(ParameterError, match=match):
        certified_cost(WHOLE, FRESH, costs)


def test_values_that_cannot_be_certified_are_refused():
    weights = Counts.from_leaves(TREE, [[0.5, 1], [1, 1], [1, 1]], sample="test")
    moments = Moments.from_leaves(TREE, [1, 1, 2], [1.0, 2.0, 5.0], sample="test")
    with pytest.raises(UnsupportedError):
        certified_cost(WHOLE, weights, [[0, 1], [1, 0]])
    with pytest.raises(UnsupportedError, match="only class counts"):
        certified_cost(WHOLE, moments, [[0, 1], [1, 0]])
    with pytest.raises(UnsupportedError, match="a Pruning is needed"):
        certified_cost(TREE, FRESH, [[0, 1], [1, 0]])
    with pytest.raises(CountsError, match="no classes"):
        certified_cost(Pruning.from_cuts(TREE, []), FRESH, [[0, 1], [1, 0]])
    with pytest.raises(ParameterError, match="method="):
        certified_cost(WHOLE, FRESH, [[0, 1], [1, 0]], method="best")
    with pytest.raises(ParameterError, match="delta="):
        certified_cost(WHOLE, FRESH, [[0, 1], [1, 0]], delta=0)


def test_a_predicted_class_needs_a_column_even_if_no_row_has_it():
    third = Pruning.from_cuts(TREE, [], node_labels=[0, 0, 0, 1, 2], seen={"grow"})
    with pytest.raises(ParameterError, match="have 3 classes"):
        certified_cost(third, FRESH, [[0, 1], [1, 0]])
    assert certified_cost(third, FRESH, 1 - np.eye(3)).errors == 5 + 10 + 15


@pytest.mark.parametrize("method", ["steps", "betting"])
def test_a_constant_added_to_all_costs_is_added_to_the_limit(method):
    costs = np.array([[0, 1], [4, 0]])
    one, other = (certified_cost(WHOLE, FRESH, costs + more, method=method) for more in (0, 3))
    assert other.value == pytest.approx(one.value + 3)
    assert other.rate == pytest.approx(one.rate + 3)
