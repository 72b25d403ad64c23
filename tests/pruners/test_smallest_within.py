"""The smallest pruning that is accurate enough."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nine_tests import nine_tests
from oracles import all_prunings, keep_vector
from secateur import Counts, Tree
from secateur.errors import CountsError, ParameterError, PruningError
from secateur.pruners import best_of_size, smallest_within
from strategies import trees_with_counts

pytestmark = pytest.mark.lane


@pytest.mark.parametrize(
    ("accuracy", "leaves"), [(".9", 12), (".8", 8), (0.75, 6), (Fraction(7, 10), 4), (1, 15), (0, 1)]
)
def test_the_nine_test_tree(accuracy, leaves):
    tree, counts = nine_tests()
    assert smallest_within(tree, counts, accuracy).n_leaves == leaves


def test_a_float_means_the_decimal_it_prints_as():
    # 0.7 of 10 is exactly 7 examples; the binary float 0.7 is a little less than 7/10, 0.1 + 0.2 a little more than 3/10.
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[7, 0], [0, 3]])
    assert smallest_within(tree, counts, 0.7).n_leaves == 1
    assert smallest_within(tree, counts, "0.7000000000000001").n_leaves == 2


@given(trees_with_counts(), st.fractions(0, 1, max_denominator=40))
def test_it_is_the_enumerated_smallest_then_cheapest_then_first_kept(case, accuracy):
    tree, counts = case
    total = int(counts.total[0])
    if total == 0:
        return
    cost = counts.errors_if_leaf(counts.majority)
    good = [
        (len(leaves), int(cost[sorted(leaves)].sum()), [not k for k in keep_vector(tree, leaves)], leaves)
        for leaves in all_prunings(tree)
        if total - cost[sorted(leaves)].sum() >= accuracy * total
    ]
    if not good:
        with pytest.raises(PruningError):
            smallest_within(tree, counts, accuracy)
        return
    assert set(smallest_within(tree, counts, accuracy).leaves.tolist()) == min(good, key=lambda x: x[:3])[3]


@given(trees_with_counts(), st.fractions(0, 1, max_denominator=40))
def test_weighted_counts_give_the_same_answer(case, accuracy):
    tree, counts = case
    if counts.total[0] == 0 or counts.errors_if_leaf(counts.majority)[tree.is_leaf].sum() > (1 - accuracy) * int(
        counts.total[0]
    ):
        return
    weighted = Counts(tree, counts.by_class * 0.1)
    assert smallest_within(tree, weighted, accuracy) == smallest_within(tree, counts, accuracy)


def test_costs_that_a_cut_can_lower_are_searched_by_size():
    tree, counts = nine_tests()
    cost = np.where(tree.is_leaf, 2, 1)
    assert smallest_within(tree, counts, "0.9", cost=cost).n_leaves == 1


@pytest.mark.large
@pytest.mark.parametrize("accuracy", [".5", ".9", ".99", ".999"])
def test_few_errors_on_a_deep_chain_are_searched_by_errors(accuracy):
    n = 20_000
    tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    rng = np.random.default_rng(0)
    by_class = rng.multinomial(1, [0.5, 0.5], tree.n_leaves)
    by_class[-1] = 0, 3 * n
    counts = Counts.from_leaves(tree, by_class)
    pruning = smallest_within(tree, counts, accuracy)
    m = int(counts.total[0])
    assert m - pruning.errors(counts) >= Fraction(accuracy) * m


def test_the_way_by_errors_and_the_way_by_size_give_the_same_pruning():
    rng = np.random.default_rng(5)
    n = 400
    tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    counts = Counts.from_leaves(tree, rng.multinomial(1, [0.7, 0.3], tree.n_leaves))
    m, errors = int(counts.total[0]), best_of_size(tree, counts).errors
    for allowed in (1, 3, 10):
        pruning = smallest_within(tree, counts, Fraction(m - allowed, m))
        table = best_of_size(tree, counts)
        smallest = table.n_leaves[errors <= allowed].min()
        assert pruning == table.with_leaves(int(smallest))


def test_an_accuracy_out_of_reach_raises_and_names_the_best():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[3, 1], [0, 4]])
    with pytest.raises(PruningError, match=r"best pruning .* has 0.875 on sample 'grow'"):
        smallest_within(tree, counts, ".9")


@pytest.mark.parametrize("accuracy", [1.5, -0.1, "high", float("nan"), "1/0"])
def test_an_accuracy_that_is_no_share_is_refused(accuracy):
    tree, counts = nine_tests()
    with pytest.raises(ParameterError, match="accuracy="):
        smallest_within(tree, counts, accuracy)


def test_an_empty_sample_is_refused():
    tree = Tree.from_parents([-1, 0, 0])
    with pytest.raises(CountsError, match="empty"):
        smallest_within(tree, Counts.from_leaves(tree, [[0, 0], [0, 0]]), ".5")


def test_a_single_leaf_is_returned_as_it_is():
    tree = Tree.from_parents([-1])
    assert smallest_within(tree, Counts(tree, [[3, 1]]), ".75").n_leaves == 1


def test_real_costs_are_allowed_a_share_of_the_whole_counts():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[5, 0], [0, 5]])
    assert smallest_within(tree, counts, "0.95", cost=[0.5, 0.2, 0.2]).n_leaves == 1
    assert smallest_within(tree, counts, "0.951", cost=[0.5, 0.2, 0.2]).n_leaves == 2
