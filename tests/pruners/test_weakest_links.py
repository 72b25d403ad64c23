"""MCC0 and MCC1 against a slow run of their definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nine_tests import NAME_OF_NODE, nine_tests
from oracles import all_prunings, children_of
from secateur import Counts, Tree
from secateur.pruners import cost_complexity, weakest_links
from strategies import trees, trees_with_counts

pytestmark = pytest.mark.lane


def run_slowly(tree, cost):
    """(cut, leaves, cost, ratio) of every step, all numbers computed anew each time."""
    children = children_of(tree.parent.tolist())

    def subtree(v):
        if not children[v]:
            return cost[v], 1
        parts = [subtree(c) for c in children[v]]
        return sum(c for c, _ in parts), sum(n for _, n in parts)

    def splits_below(v):
        return [v] + [u for c in children[v] for u in splits_below(c)] if children[v] else []

    def ratio(u):
        total, n_leaves = subtree(u)
        return Fraction(cost[u] - total, n_leaves - 1)

    steps = []
    while children[0]:
        v = min(splits_below(0), key=lambda u: (ratio(u), -subtree(u)[1], u))
        step = ratio(v)
        children[v] = []
        total, n_leaves = subtree(0)
        steps.append((v, n_leaves, total, step))
    return steps


@st.composite
def trees_with_costs(draw, max_cost=6):
    tree = draw(trees(max_internal=8, max_arity=4))
    return tree, np.array(draw(st.lists(st.integers(0, max_cost), min_size=tree.n_nodes, max_size=tree.n_nodes)))


def test_the_nine_test_tree_with_every_cut():
    sequence = weakest_links(*nine_tests(), every_cut=True)
    assert sequence.n_leaves.tolist() == [12, 8, 6, 4, 3, 1]
    assert sequence.errors.tolist() == [1, 3, 4, 5, 6, 9]
    assert sequence.alphas.tolist() == [1 / 3, 1 / 2, 1 / 2, 1 / 2, 1, 3 / 2]
    cuts = [{NAME_OF_NODE[v] for v in p.cuts.tolist()} for p in sequence]
    assert cuts == [set("D"), set("CD"), set("CDE"), set("CDEF"), set("BCD"), set("A")]


def test_the_nine_test_tree_without_repeated_ratios():
    sequence = weakest_links(*nine_tests())
    assert sequence.n_leaves.tolist() == [12, 4, 3, 1]
    assert sequence.alphas.tolist() == [1 / 3, 1 / 2, 1, 3 / 2]


@given(trees_with_costs())
def test_every_cut_is_the_slow_run_of_the_definition(case):
    tree, cost = case
    steps = run_slowly(tree, cost.tolist())
    if not steps:
        return
    sequence = weakest_links(tree, None, cost=cost, every_cut=True)
    members = list(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), sequence.alphas.tolist(), strict=True))
    assert members == [(n, total, float(ratio)) for _, n, total, ratio in steps]
    assert all(pruning.is_leaf[step[0]] for pruning, step in zip(sequence, steps, strict=True))


@given(trees_with_costs())
def test_without_every_cut_a_member_stays_only_if_the_next_ratio_is_larger(case):
    tree, cost = case
    steps = run_slowly(tree, cost.tolist())
    ratios = [step[3] for step in steps] + [np.inf]
    expected = [(n, c) for i, (_, n, c, ratio) in enumerate(steps) if ratios[i + 1] > ratio]
    sequence = weakest_links(tree, None, cost=cost)
    if steps:
        assert list(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True)) == expected


@given(trees_with_costs())
def test_ratios_never_fall(case):
    tree, cost = case
    assert (np.diff(weakest_links(tree, None, cost=cost, every_cut=True).alphas) >= 0).all()


@given(trees_with_counts())
def test_every_member_is_optimal_for_its_size(case):
    tree, counts = case
    cost = counts.errors_if_leaf(counts.majority)
    least = {}
    for leaves in all_prunings(tree):
        total = sum(cost[v] for v in leaves)
        least[len(leaves)] = min(least.get(len(leaves), total), total)
    sequence = weakest_links(tree, counts, every_cut=True)
    assert sequence.errors.tolist() == [least[n] for n in sequence.n_leaves.tolist()]


@given(trees_with_counts())
def test_it_is_the_additive_family_without_the_uncut_tree(case):
    tree, counts = case
    links, path = weakest_links(tree, counts), cost_complexity(tree, counts)
    expected = [n for n in path.n_leaves.tolist() if n < tree.n_leaves] or [1]
    assert links.n_leaves.tolist() == expected


def test_useless_tests_go_first_and_together():
    # Both lower tests leave the errors as they are.
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    sequence = weakest_links(tree, Counts.from_leaves(tree, [[2, 0], [1, 0], [0, 2], [0, 1]]))
    assert (sequence.n_leaves.tolist(), sequence.alphas.tolist()) == ([2, 1], [0.0, 3.0])


def test_cuts_that_help_have_negative_ratios():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    sequence = weakest_links(tree, None, cost=np.array([4, 1, 2, 1, 0]))
    assert sequence.alphas.tolist() == [-2.0, 3.0]


@given(trees_with_costs())
def test_real_costs_group_like_whole_ones(case):
    tree, cost = case
    for every_cut in (False, True):
        integer_result = weakest_links(tree, None, cost=cost, every_cut=every_cut)
        real_result = weakest_links(tree, None, cost=cost * 0.1, every_cut=every_cut)
        assert real_result.steps.tolist() == integer_result.steps.tolist()
        assert real_result.alphas == pytest.approx(integer_result.alphas * 0.1)


def test_a_single_leaf_is_the_only_member_of_its_sequence():
    tree = Tree.from_parents([-1])
    assert [p.n_leaves for p in weakest_links(tree, Counts(tree, [[1, 2]]), every_cut=True)] == [1]
