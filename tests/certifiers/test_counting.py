"""Numbers of prunings against enumeration."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings
from secateur import Counts, Tree
from secateur._kernels import budget_dp, mixtures
from secateur.certifiers import count_prunings, count_prunings_by_size, count_prunings_within
from secateur.certifiers._counting import log_count_of_size
from secateur.errors import ParameterError, UnsupportedError
from strategies import trees, trees_with_counts

pytestmark = pytest.mark.lane

WORKED = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
WORKED_GROWN = Counts.from_leaves(WORKED, [[2, 1], [0, 2], [2, 0], [0, 1]])


def perfect(depth):
    return Tree.from_parents([-1, *((i - 1) // 2 for i in range(1, 2 ** (depth + 1) - 1))])


def caterpillar(n_tests):
    parent = [-1]
    for i in range(n_tests):
        parent += [2 * i, 2 * i]
    return Tree.from_parents(parent)


def random_binary(n_tests, seed):
    rng = np.random.default_rng(seed)
    parent, leaves = [-1], [0]
    for _ in range(n_tests):
        at = rng.integers(len(leaves))
        v, leaves[at] = leaves[at], len(parent)
        leaves.append(len(parent) + 1)
        parent += [v, v]
    return Tree.from_parents(parent)


@pytest.mark.parametrize(
    ("depth", "number", "bits"), [(1, 2, 1), (2, 5, 2.32), (3, 26, 4.70), (4, 677, 9.40), (5, 458330, 18.81)]
)
def test_perfect_trees_have_the_numbers_of_the_table(depth, number, bits):
    tree = perfect(depth)
    assert count_prunings(tree) == number
    assert round(count_prunings(tree, log=True) / math.log(2), 2) == bits
    assert tree.n_nodes / 4 < bits  # why a quarter bit per node is not enough


def test_a_caterpillar_of_50_tests_has_51_prunings():
    assert count_prunings(caterpillar(50)) == 51
    assert round(count_prunings(caterpillar(50), log=True) / math.log(2), 2) == 5.67


@given(trees(max_internal=6, max_arity=4), st.integers(1, 3), st.booleans())
def test_the_number_of_labelled_prunings_is_that_of_the_list(tree, labels, relabel):
    is_leaf = tree.is_leaf
    expected = sum(
        math.prod(labels if relabel or not is_leaf[v] else 1 for v in leaves) for leaves in all_prunings(tree)
    )
    assert count_prunings(tree, labels=labels, relabel=relabel) == expected
    assert count_prunings(tree, log=True, labels=labels, relabel=relabel) == pytest.approx(
        math.log(expected), rel=1e-12, abs=1e-12
    )


@given(trees(max_internal=6, max_arity=4))
def test_the_numbers_by_size_are_those_of_the_list(tree):
    sizes = Counter(len(leaves) for leaves in all_prunings(tree))
    expected = [sizes[j] for j in range(tree.n_leaves + 1)]
    assert count_prunings_by_size(tree) == expected
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(count_prunings_by_size(tree, log=True), np.log(expected), rtol=1e-12, atol=1e-12)
    for j in np.flatnonzero(expected):
        assert log_count_of_size(tree, int(j)) == pytest.approx(math.log(expected[j]), rel=1e-11, abs=1e-11)


def test_the_published_number_within_k_is_0_1_3_4_5():
    assert [count_prunings_within(WORKED, WORKED_GROWN, k) for k in range(5)] == [0, 1, 3, 4, 5]


@given(trees_with_counts(max_internal=6, max_count=4))
def test_the_numbers_within_k_are_those_of_the_list(case):
    tree, grown = case
    errors = grown.errors_if_leaf(grown.majority)
    n_prunings_by_errors = Counter(int(sum(errors[v] for v in leaves)) for leaves in all_prunings(tree))
    for k in range(max(n_prunings_by_errors) + 2):
        expected = sum(number for g, number in n_prunings_by_errors.items() if g <= k)
        assert count_prunings_within(tree, grown, k) == expected
        log = count_prunings_within(tree, grown, k, log=True)
        assert log == pytest.approx(math.log(expected), rel=1e-12, abs=1e-12) if expected else log == -math.inf


def test_logs_agree_with_long_integers_on_a_large_tree():
    tree = random_binary(1500, seed=3)
    rng = np.random.default_rng(0)
    grown = Counts.from_leaves(tree, rng.integers(0, 4, (tree.n_leaves, 2)))
    errors = grown.errors_if_leaf(grown.majority)
    least = int(errors[tree.is_leaf].sum())
    assert count_prunings(tree, log=True) == pytest.approx(_log(count_prunings(tree)), rel=1e-12)
    by_size = count_prunings_by_size(tree)
    for j in (2, 50, 700, 1400, 1500):
        assert log_count_of_size(tree, j) == pytest.approx(_log(by_size[j]), rel=1e-12, abs=1e-10)
    for k in (least, least + 3, least + 60):
        exact = count_prunings_within(tree, grown, k)
        assert count_prunings_within(tree, grown, k, log=True) == pytest.approx(_log(exact), rel=1e-12, abs=1e-10)


def test_a_size_that_no_weight_makes_likely_is_still_counted():
    # A spine of 40 tests ends in a bushy tree: sizes between the two are hardly ever drawn.
    bush = perfect(9)
    spine = [-1]
    for i in range(40):
        spine += [2 * i, 2 * i]
    at = len(spine) - 1
    parent = spine + [at if p == 0 else p + at for p in bush.parent.tolist()[1:]]
    tree = Tree.from_parents(parent)
    by_size = count_prunings_by_size(tree)
    for j in (30, 41, 60, 100, 300):
        assert log_count_of_size(tree, j) == pytest.approx(_log(by_size[j]), rel=1e-11, abs=1e-11)


@given(trees(max_internal=6, max_arity=4))
def test_dropped_ends_do_not_change_the_distribution_of_sizes(tree):
    cut = np.linspace(0.2, 0.7, tree.n_nodes)
    expected = Counter()
    for leaves in all_prunings(tree):
        reached, todo = [], [0]
        while todo:
            v = todo.pop()
            reached.append(v)
            if v not in leaves:
                todo.extend(tree.children(v))
        chances = ((cut[v] if v in leaves else 1 - cut[v]) for v in reached if not tree.is_leaf[v])
        expected[len(leaves)] += math.prod(chances)
    most, probabilities = mixtures.size_probabilities(tree.parent, cut, 1e-30)
    assert {most - i: p for i, p in enumerate(probabilities) if p > 0} == pytest.approx(dict(expected))


@pytest.mark.parametrize("tree", [perfect(10), caterpillar(3000), random_binary(5000, seed=1)])
def test_few_rows_are_alive_at_once_when_the_heaviest_child_comes_last(tree):
    nodes, jump = budget_dp.order_heavy_child_last(tree.parent, ~tree.is_leaf)
    assert sorted(nodes.tolist()) == tree.internal.tolist()
    _, n_slots = budget_dp.assign_row_slots(jump)
    assert n_slots <= math.log2(len(jump)) + 3


def test_a_tree_of_depth_100_000_is_counted():
    tree = caterpillar(100_000)
    assert count_prunings(tree) == 100_001
    assert count_prunings(tree, log=True) == pytest.approx(math.log(100_001))
    assert log_count_of_size(tree, 1000) == pytest.approx(0, abs=1e-9)


def test_one_leaf_has_one_pruning():
    tree = Tree.from_parents([-1])
    assert count_prunings(tree) == 1
    assert count_prunings_by_size(tree) == [0, 1]
    assert count_prunings_within(tree, Counts.from_leaves(tree, [[3, 1]]), 1) == 1


@pytest.mark.parametrize("labels", [0, -1, 1.5, True])
def test_a_number_of_labels_below_one_is_refused(labels):
    with pytest.raises(ParameterError, match="labels"):
        count_prunings(WORKED, labels=labels)


def test_k_must_be_whole_and_so_must_growing_counts():
    with pytest.raises(ParameterError, match="whole number"):
        count_prunings_within(WORKED, WORKED_GROWN, 2.5)
    weighted = Counts(WORKED, WORKED_GROWN.by_class * 0.5)
    with pytest.raises(UnsupportedError, match="weights"):
        count_prunings_within(WORKED, weighted, 2)


def _log(number):
    shift = max(number.bit_length() - 64, 0)
    return math.log(number >> shift) + shift * math.log(2)
