"""Counts that add up to just below 2**53, the most there may be: every rule agrees with Python's whole numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Counts, Tree
from secateur._kernels import size_dp
from secateur._utils.arrays import MAX_EXACT_INT
from secateur.certifiers import signed_extremes
from secateur.errors import CountsError
from secateur.pruners import (
    best_of_size,
    cost_complexity,
    greedy,
    iterative_reduced_error,
    k_reduced_error,
    reduced_error,
    smallest_within,
    weakest_links,
)
from strategies import counts, trees


@st.composite
def large_counts(draw, tree, sample="grow", n_classes=2):
    """Nearly proportional to small counts, and only just fewer than are refused: floats would see ties."""
    small = np.array(draw(counts(tree, sample, n_classes)).by_class[tree.is_leaf], object)
    jitter = draw(st.lists(st.integers(0, 2), min_size=small.size, max_size=small.size))
    factor = (MAX_EXACT_INT - 1 - 2 * small.size) // max(small.sum(), 1)
    leaves = small * factor + np.reshape(np.array(jitter, object), small.shape)
    return Counts.from_leaves(tree, leaves.astype(np.int64), sample=sample)


def numbers(tree, cost):
    """(cost, leaves, leaf set) of every pruning, in Python's whole numbers."""
    cost = [int(x) for x in cost]
    return [(sum(cost[v] for v in leaves), len(leaves), leaves) for leaves in all_prunings(tree)]


def own_errors(sample):
    return sample.errors_if_leaf(sample.majority)


@given(trees(), st.data())
def test_reduced_error_finds_the_fewest_errors_and_leaves(tree, data):
    grown, held = data.draw(counts(tree)), data.draw(large_counts(tree, "prune"))
    pruning = reduced_error(tree, grown, held)
    assert (pruning.errors(held), pruning.n_leaves) == min(numbers(tree, held.errors_if_leaf(grown.majority)))[:2]


@given(trees(), st.data())
def test_the_best_of_every_size_is_best(tree, data):
    sample = data.draw(large_counts(tree))
    sequence = best_of_size(tree, sample)
    least = {}
    for cost, size, _ in numbers(tree, own_errors(sample)):
        least[size] = min(cost, least.get(size, cost))
    assert dict(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True)) == least
    for pruning in sequence:
        assert pruning.errors(sample) == least[pruning.n_leaves]


@given(trees(), st.data())
def test_the_smallest_that_is_accurate_enough_is_smallest(tree, data):
    sample = data.draw(large_counts(tree))
    total = int(sample.total[0])
    if total == 0:
        return
    all_numbers = numbers(tree, own_errors(sample))
    allowed = data.draw(st.sampled_from(all_numbers))[0]
    pruning = smallest_within(tree, sample, Fraction(total - allowed, total))
    best = min((size, cost) for cost, size, _ in all_numbers if cost <= allowed)
    assert (pruning.n_leaves, pruning.errors(sample)) == best


@given(trees(), st.data())
def test_the_path_holds_the_smallest_minimiser_of_every_penalty(tree, data):
    sample = data.draw(large_counts(tree))
    all_numbers = numbers(tree, own_errors(sample))
    expected, alpha = [min(all_numbers)[:2]], Fraction(0)
    while expected[-1][1] > 1:
        cost, size = expected[-1]
        alpha = min(Fraction(c - cost, size - s) for c, s, _ in all_numbers if s < size)
        expected.append(min((c + alpha * s, s, c) for c, s, _ in all_numbers)[:0:-1])
    sequence = cost_complexity(tree, sample)
    assert list(zip(sequence.errors.tolist(), sequence.n_leaves.tolist(), strict=True)) == expected


@given(trees(), st.data())
def test_every_weakest_link_leaves_the_best_tree_of_its_size(tree, data):
    sample = data.draw(large_counts(tree))
    all_numbers = numbers(tree, own_errors(sample))
    for every_cut in (True, False):
        for pruning in weakest_links(tree, sample, every_cut=every_cut):
            assert pruning.errors(sample) == min(c for c, s, _ in all_numbers if s == pruning.n_leaves)


def cut_one_by_one(tree, cost, stops=lambda _: False):
    """Leaf sets met when the cut that adds least is made again and again; ties: most leaves now, then pre-order."""
    children, cost = children_of(tree.parent.tolist()), [int(x) for x in cost]

    def under(v, leaves):
        return {v} if v in leaves else set().union(*(under(c, leaves) for c in children[v]))

    leaves, met = under(0, set(np.flatnonzero(tree.is_leaf).tolist())), []
    while leaves != {0}:
        open_nodes = [v for v in range(tree.n_nodes) if children[v] and v not in leaves and under(v, leaves) <= leaves]
        kept = [v for v in open_nodes if not any(u in leaves for u in ancestors(tree, v))]
        added, _, v = min((cost[v] - sum(cost[u] for u in under(v, leaves)), -len(under(v, leaves)), v) for v in kept)
        if stops(added):
            break
        leaves = leaves - under(v, leaves) | {v}
        met.append(leaves)
    return met


def ancestors(tree, v):
    above = []
    while v > 0:
        v = int(tree.parent[v])
        above.append(v)
    return above


@given(trees(), st.data())
def test_greedy_makes_the_cut_that_adds_least(tree, data):
    sample = data.draw(large_counts(tree))
    if tree.n_leaves == 1:
        return
    met = cut_one_by_one(tree, own_errors(sample))
    assert [set(pruning.leaves.tolist()) for pruning in greedy(tree, sample)] == met


@given(trees(), st.data())
def test_iterative_reduced_error_makes_the_cut_that_lowers_most(tree, data):
    grown, held = data.draw(counts(tree)), data.draw(large_counts(tree, "prune"))
    cost = held.errors_if_leaf(grown.majority)
    met = cut_one_by_one(tree, cost, stops=lambda added: added > 0)
    expected = met[-1] if met else set(np.flatnonzero(tree.is_leaf).tolist())
    assert set(iterative_reduced_error(tree, grown, held).leaves.tolist()) == expected


@given(trees(), st.booleans(), st.data())
def test_k_reduced_error_finds_the_fewest_errors_within_k(tree, labelled, data):
    grown, held = data.draw(counts(tree)), data.draw(large_counts(tree, "prune"))
    growing = [int(x) for x in own_errors(grown)]
    least = sum(growing[v] for v in np.flatnonzero(tree.is_leaf))
    k = least + data.draw(st.integers(0, 4))
    pruning = k_reduced_error(tree, grown, held, k=k, labelled=labelled)
    all_numbers = numbers(tree, held.errors_if_leaf(grown.majority))
    best = min((cost, size) for cost, size, leaves in all_numbers if sum(growing[v] for v in leaves) <= k)
    if labelled:
        assert pruning.errors(held) <= best[0]
    else:
        assert (pruning.errors(held), pruning.n_leaves) == best


@given(trees(max_internal=4), st.data())
def test_the_greatest_and_least_signed_sums_are_exact(tree, data):
    grown = data.draw(counts(tree))
    signs = data.draw(large_counts(tree, "prune")).by_class - data.draw(large_counts(tree, "other")).by_class
    growing = [int(x) for x in own_errors(grown)]
    cost = [int(row.sum() - row[label]) for row, label in zip(signs, grown.majority, strict=True)]
    least = sum(growing[v] for v in np.flatnonzero(tree.is_leaf))
    for k in (None, least + data.draw(st.integers(0, 3))):
        sums = [c for c, _, leaves in numbers(tree, cost) if k is None or sum(growing[v] for v in leaves) <= k]
        assert signed_extremes(tree, grown, signs, k=k) == (max(sums), min(sums))


def test_gains_beyond_what_floats_hold_are_exact():
    tree = Tree.from_parents([-1, 0, 0, 0])
    grown = Counts.from_leaves(tree, [[0, 0], [1, 1], [0, 1]])
    many = 9007199254740978  # the node changes its label, so that its gain is twice that
    signs = Counts.from_leaves(tree, [[0, 0], [0, many + 1], [0, 0]]).by_class
    signs = signs - Counts.from_leaves(tree, [[0, 0], [many, 0], [0, 0]]).by_class

    for k in (None, 1, 3):
        assert signed_extremes(tree, grown, signs, k=k) == (many + 1, -many)


def test_costs_whose_sum_over_all_nodes_wraps_around_take_the_plain_loop():
    # No pruning costs more than 2**58, but the nodes add up to more than 64 bits hold: the sum is negative there.
    chain = [0, *np.repeat(np.arange(0, 600, 2), 2).tolist()]  # parents within one chain of 301 leaves
    parent = [-1, 0, *(1 + v for v in chain[1:]), 0, *(602 + v for v in chain[1:])]
    tree = Tree.from_parents(parent)
    rng = np.random.default_rng(2)
    cost = rng.integers(2**56, 2**57, tree.n_nodes)
    cost[tree.is_leaf] = rng.integers(0, 9, tree.n_leaves)
    assert int(cost.sum()) < 0 < sum(cost.tolist())
    charge = np.maximum(tree.arity.astype(np.int64) - 1, 0)
    layout = size_dp.table_layout(tree.parent, tree.end, charge, tree.n_leaves - 1)
    tables = size_dp.subtree_tables(tree.parent, tree.end, charge, cost, layout)
    walk = size_dp.size_walk(tree.parent, tree.end, charge, cost, tree.n_leaves - 1)
    assert tables.table[: tree.n_leaves].tolist() == walk.best.tolist()


def test_growing_errors_too_many_for_a_table_are_refused_with_advice():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[2**50, 2**49], [0, 2**50], [2**50, 0]])
    held = Counts.from_leaves(tree, [[0, 4], [4, 0], [4, 0]], sample="prune")
    with pytest.raises(CountsError, match="GB"):
        k_reduced_error(tree, grown, held)
