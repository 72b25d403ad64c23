import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, keep_vector
from secateur import Tree
from secateur._kernels import budget_dp
from strategies import trees

pytestmark = pytest.mark.lane


@st.composite
def problems(draw, max_internal=6):
    """A tree, what a cut at each internal node charges and adds, and a budget."""
    tree = draw(trees(max_internal=max_internal))
    n = len(tree.internal)
    charge = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    value = draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n))
    return tree, np.array(charge, np.int64), np.array(value, np.int64), draw(st.integers(0, 12))


def jumps_of(tree):
    return budget_dp.jump_targets(tree.end, (~tree.is_leaf).astype(np.int64))


def every_walk(tree, charge, value):
    """(charge, value, keep vector, cut items) of every pruning."""
    item = {v: i for i, v in enumerate(tree.internal.tolist())}
    for leaves in all_prunings(tree):
        cuts = [item[v] for v in leaves if v in item]
        yield sum(charge[cuts]), sum(value[cuts]), keep_vector(tree, leaves), sorted(cuts)


def random_tree(rng, n_tests, arity=2, deep=0.0):
    """Split a random leaf (the newest with probability `deep`) again and again."""
    parent, leaves = [-1], [0]
    for _ in range(n_tests):
        v = leaves.pop(-1 if rng.random() < deep else int(rng.integers(len(leaves))))
        for _ in range(arity):
            leaves.append(len(parent))
            parent.append(v)
    return Tree.from_parents(parent)


@given(problems())
def test_values_are_the_least_of_all_walks_within_each_budget(problem):
    tree, charge, value, budget = problem
    walks = list(every_walk(tree, charge, value))

    found = budget_dp.min_values_and_cuts(jumps_of(tree), charge, value, budget)[0]

    assert found.tolist() == [min(x for a, x, *_ in walks if a <= j or a == 0) for j in range(budget + 1)]


@given(problems())
def test_the_walk_is_the_best_one_that_keeps_first(problem):
    tree, charge, value, budget = problem
    walks = list(every_walk(tree, charge, value))
    jump = jumps_of(tree)

    best, is_better = budget_dp.min_values_and_cuts(jump, charge, value, budget)

    for j in range(budget + 1):
        least, _, cuts = max(((-x, keep, cuts) for a, x, keep, cuts in walks if a <= j), key=lambda w: w[:2])
        assert best[j] == -least
        assert np.flatnonzero(budget_dp.cut_items(jump, charge, is_better, j)).tolist() == cuts


@given(problems(), st.data())
def test_pairs_of_real_costs_and_sizes_are_ordered_like_packed_whole_ones(problem, data):
    tree, charge, cost, budget = problem
    n = len(charge)
    size = np.array(data.draw(st.lists(st.integers(-3, 0), min_size=n, max_size=n)), np.int64)
    jump = jumps_of(tree)
    base = 3 * n + 1  # more than all sizes together
    packed, expected = budget_dp.min_values_and_cuts(jump, charge, cost * base + size, budget)

    costs, sizes, is_better = budget_dp.min_pairs_and_cuts(jump, charge, cost / 10, size, budget, 1e-12)

    assert np.array_equal(is_better, expected)
    assert np.array_equal(np.rint(10 * costs).astype(int) * base + sizes, packed)
    assert np.allclose(10 * costs, np.rint(10 * costs), atol=1e-9)


@given(problems())
def test_the_order_of_siblings_does_not_change_the_values(problem):
    tree, charge, value, budget = problem
    by_node = np.zeros((2, tree.n_nodes), np.int64)
    by_node[:, tree.internal] = charge, value
    nodes, jump = budget_dp.order_heavy_child_last(tree.parent, ~tree.is_leaf)

    found, _ = budget_dp.min_values_and_cuts(jump, *by_node[:, nodes], budget)

    assert found.tolist() == budget_dp.min_values_and_cuts(jumps_of(tree), charge, value, budget)[0].tolist()


@given(problems())
def test_the_greatest_gain_is_that_of_the_best_walk_within_the_budget(problem):
    tree, charge, value, budget = problem
    gains = [x for a, x, *_ in every_walk(tree, charge, value) if a <= budget]

    assert budget_dp.max_gain_within(jumps_of(tree), charge, value, budget) == max(gains)


def comb(n_teeth):
    """A spine that comes first, with a stump of two leaves at each joint: the worst order of all."""
    parent, spine = [-1], 0
    for _ in range(n_teeth):
        parent += [spine, spine]
        joint, stump = len(parent) - 2, len(parent) - 1
        parent += [stump, stump]
        spine = joint
    return Tree.from_parents(parent)


@pytest.mark.parametrize("deep", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("n_tests", [0, 1, 7, 100, 5000])
def test_few_rows_are_alive_when_the_heaviest_child_comes_last(n_tests, deep):
    tree = random_tree(np.random.default_rng(n_tests), n_tests, deep=deep)
    _, jump = budget_dp.order_heavy_child_last(tree.parent, ~tree.is_leaf)

    assert budget_dp.assign_row_slots(jump)[1] <= math.log2(max(n_tests, 1)) + 3


def test_a_comb_keeps_a_row_for_every_tooth_unless_the_spine_comes_last():
    tree = comb(1000)
    _, jump = budget_dp.order_heavy_child_last(tree.parent, ~tree.is_leaf)

    assert budget_dp.assign_row_slots(jumps_of(tree))[1] > 1000
    assert budget_dp.assign_row_slots(jump)[1] <= 4


def test_heavy_last_counts_listed_nodes():
    # The first child of the root has two listed nodes, the second one.
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4, 4])

    nodes, jump = budget_dp.order_heavy_child_last(
        tree.parent, np.array([True, True, True, False, True, False, False, False])
    )

    assert nodes.tolist() == [0, 4, 1, 2]
    assert jump.tolist() == [4, 2, 4, 4]


def test_jumps_of_the_nine_test_tree():
    # A(B(E F) C(G H leaf) D(I leaf leaf)); E, F three leaves each, G, H, I two.
    parent, internal = [-1], {"A": 0}

    def add(name, above):
        internal[name] = len(parent)
        parent.append(internal[above])

    for name, above, n_leaves in [("B", "A", 0), ("E", "B", 3), ("F", "B", 3), ("C", "A", 1), ("G", "C", 2)]:
        add(name, above)
        parent.extend([internal[name]] * n_leaves)
    for name, above, n_leaves in [("H", "C", 2), ("D", "A", 2), ("I", "D", 2)]:
        add(name, above)
        parent.extend([internal[name]] * n_leaves)

    assert jumps_of(Tree.from_parents(parent)).tolist() == [9, 4, 3, 4, 7, 6, 7, 9, 9]


def test_several_items_at_a_node_are_several_ways_to_cut_it():
    # One test; cutting it adds -1 for 1, or -5 for 3. The later item wins a tie.
    tree = Tree.from_parents([-1, 0, 0])
    jump = budget_dp.jump_targets(tree.end, np.array([3, 0, 0]))
    charge, value = np.array([3, 1, 1]), np.array([-5, -1, -1])

    best, is_better = budget_dp.min_values_and_cuts(jump, charge, value, 4)

    assert jump.tolist() == [3, 3, 3]
    assert best.tolist() == [0, -1, -1, -5, -5]
    assert [np.flatnonzero(budget_dp.cut_items(jump, charge, is_better, j)).tolist() for j in range(4)] == [
        [],
        [2],
        [2],
        [0],
    ]


def test_no_items_add_nothing():
    none = np.zeros(0, np.int64)

    best, is_better = budget_dp.min_values_and_cuts(none, none, none, 2)

    assert best.tolist() == [0, 0, 0]
    assert len(budget_dp.cut_items(none, none, is_better, 2)) == 0
