"""GREEDY against a slow run of its definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nine_tests import NAME_OF_NODE, nine_tests
from oracles import children_of
from secateur import Counts, Tree
from secateur.errors import CountsError
from secateur.pruners import best_of_size, greedy, weakest_links
from strategies import trees, trees_with_counts

pytestmark = pytest.mark.lane


def run_slowly(tree, cost):
    """(cut, leaves, cost) of every step, all numbers computed anew each time."""
    children = children_of(tree.parent.tolist())

    def subtree(v):
        if not children[v]:
            return cost[v], 1
        parts = [subtree(c) for c in children[v]]
        return sum(c for c, _ in parts), sum(n for _, n in parts)

    def splits_below(v):
        return [v] + [u for c in children[v] for u in splits_below(c)] if children[v] else []

    steps = []
    while children[0]:
        v = min(splits_below(0), key=lambda u: (cost[u] - subtree(u)[0], -subtree(u)[1], u))
        children[v] = []
        total, n_leaves = subtree(0)
        steps.append((v, n_leaves, total))
    return steps


def test_the_nine_test_tree_is_cut_in_the_published_order():
    tree, counts = nine_tests()
    sequence = greedy(tree, counts)
    assert sequence.n_leaves.tolist() == [12, 10, 8, 7, 6, 3, 1]
    assert sequence.errors.tolist() == [1, 2, 3, 4, 5, 6, 9]
    before, cuts = set(), []
    for pruning in sequence:
        cuts += [NAME_OF_NODE[v] for v in pruning.cuts.tolist() if v not in before]
        before = set(pruning.cuts.tolist())
    assert cuts == list("DEFBGCA")


@given(trees(max_internal=8, max_arity=4), st.data())
def test_it_is_the_slow_run_of_the_definition(tree, data):
    cost = np.array(data.draw(st.lists(st.integers(0, 3), min_size=tree.n_nodes, max_size=tree.n_nodes)))
    steps = run_slowly(tree, cost.tolist())
    sequence = greedy(tree, None, cost=cost)
    if steps:
        assert list(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True)) == [s[1:] for s in steps]
        assert all(pruning.is_leaf[v] for pruning, (v, _, _) in zip(sequence, steps, strict=True))
    real = greedy(tree, None, cost=cost * 0.1)
    assert real.steps.tolist() == sequence.steps.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_larger_trees_agree_too(seed):
    rng = np.random.default_rng(seed)
    parent, leaves = [-1], [0]
    for _ in range(60):
        v = leaves.pop(int(rng.integers(len(leaves))))
        for _ in range(int(rng.integers(2, 4))):
            leaves.append(len(parent))
            parent.append(v)
    tree = Tree.from_parents(parent)
    cost = rng.integers(0, 20, tree.n_nodes)
    steps = run_slowly(tree, cost.tolist())
    sequence = greedy(tree, None, cost=cost)
    assert list(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True)) == [s[1:] for s in steps]


@given(trees_with_counts())
def test_members_are_nested_down_to_the_root_and_cost_what_they_say(case):
    tree, counts = case
    sequence = greedy(tree, counts)
    members = list(sequence)
    assert all(b <= a for a, b in itertools.pairwise(members))
    assert members[-1].n_leaves == 1
    assert [p.errors(counts) for p in members] == sequence.errors.tolist()


@pytest.mark.large
@pytest.mark.parametrize("heavy_first", [True, False])
def test_a_chain_of_depth_100_000_passes(heavy_first):
    n = 100_000
    if heavy_first:
        tree = Tree(np.array([*range(-1, n), *range(n - 1, -1, -1)], np.int32))
    else:
        tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))
    # The cost of a cut falls towards the root, so the root goes first.
    cost = np.where(tree.is_leaf, 0, tree.depth + 1)
    assert len(greedy(tree, None, cost=cost)) == 1
    # It rises towards the root: every test is cut on its own, the deepest first.
    assert greedy(tree, None, cost=np.where(tree.is_leaf, 0, n - tree.depth)).n_leaves.tolist() == list(range(n, 0, -1))


def test_a_single_leaf_is_the_only_member_of_its_sequence():
    tree = Tree.from_parents([-1])
    assert [p.n_leaves for p in greedy(tree, Counts(tree, [[1, 2]]))] == [1]


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0])
    with pytest.raises(CountsError, match="another tree"):
        greedy(nine_tests()[0], Counts.from_leaves(other, [[1, 0], [0, 1]]))


@pytest.mark.parametrize("rule", [greedy, weakest_links, best_of_size])
def test_real_costs_tie_within_rounding_and_the_rule_says_so(rule):
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    integer_costs = np.array([6, 3, 1, 1, 3, 0, 2])
    by_integers, by_reals = (rule(tree, None, cost=cost) for cost in (integer_costs, 0.1 * integer_costs))
    assert [pruning.cuts.tolist() for pruning in by_integers] == [pruning.cuts.tolist() for pruning in by_reals]
    assert "ties within" in by_reals.rule
    assert "ties within" not in by_integers.rule
