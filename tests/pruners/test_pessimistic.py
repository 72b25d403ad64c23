"""Pessimistic error pruning: top-down, half an error per leaf, exact comparisons."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import children_of
from secateur import Counts, Tree
from secateur.errors import CountsError
from secateur.pruners._pessimistic import pessimistic
from strategies import trees_with_counts


def by_definition(tree, counts):
    """Leaves after the rule, decided from the root down in exact fractions."""
    children = children_of(tree.parent.tolist())
    total = [sum(row) for row in counts.by_class.tolist()]
    errors = [sum(row) - max(row) for row in counts.by_class.tolist()]

    def leaves_under(v):
        return [v] if not children[v] else [leaf for c in children[v] for leaf in leaves_under(c)]

    def is_cut(v):
        below = leaves_under(v)
        corrected = sum(errors[leaf] for leaf in below) + Fraction(len(below), 2)
        gap = errors[v] + Fraction(1, 2) - corrected
        variance = corrected * (total[v] - corrected) / Fraction(total[v]) if total[v] else 0
        return gap <= 0 or gap**2 <= max(variance, 0)

    def walk(v):
        return [v] if not children[v] or is_cut(v) else [leaf for c in children[v] for leaf in walk(c)]

    return walk(0)


@pytest.mark.parametrize(
    ("at_leaves", "n_leaves"),
    [
        ([[19, 1], [0, 2], [6, 2]], 1),  # 5 errors at the root: 5.5 <= 4.5 + 1.956
        ([[18, 1], [0, 3], [6, 2]], 3),  # 6 errors: 6.5 > 6.456
    ],
)
def test_the_worked_example(at_leaves, n_leaves):
    tree = Tree.from_parents([-1, 0, 0, 0])
    counts = Counts.from_leaves(tree, at_leaves)
    assert counts.total[0] == 30

    assert pessimistic(tree, counts).n_leaves == n_leaves


@given(trees_with_counts(max_internal=6, max_count=9))
def test_it_follows_its_definition(case):
    tree, counts = case

    assert pessimistic(tree, counts).leaves.tolist() == by_definition(tree, counts)


@given(trees_with_counts(max_internal=4, max_count=9), st.integers(2**30, 2**40))
def test_it_follows_its_definition_for_large_counts(case, factor):
    tree, counts = case
    many = Counts(tree, counts.by_class * factor)

    assert pessimistic(tree, many).leaves.tolist() == by_definition(tree, many)


@pytest.mark.parametrize("b", [1, 101, 3_001])
@pytest.mark.parametrize(("fewer", "n_leaves"), [(0, 1), (1, 2)])
def test_a_tie_cuts_and_one_row_less_does_not(b, fewer, n_leaves):
    # With 2 gap = a = 3b and 2n' = p = (a^2 + 3)/2 the standard error equals the gap at
    # N = p^2/3 examples exactly; one example fewer makes it smaller. At b = 3,001 there are
    # 5 * 10^14 examples, and squares of them are beyond what a float64 can tell apart.
    a = 3 * b
    p = (a * a + 3) // 2
    n = p * p // 3 - fewer
    of_subtree, of_root = (p - 2) // 2, (a + p - 1) // 2
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[n - of_root, of_subtree], [0, of_root - of_subtree]])

    assert pessimistic(tree, counts).n_leaves == n_leaves


def test_below_a_cut_nothing_is_looked_at():
    # The test at node 1 is worth keeping by itself, but the root is cut and takes it along.
    inner = Tree.from_parents([-1, 0, 0])
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4, 4, 4, 4, 4, 4, 4])

    assert pessimistic(inner, Counts.from_leaves(inner, [[4, 0], [0, 5]])).cuts.tolist() == []
    assert pessimistic(tree, Counts.from_leaves(tree, [[4, 0], [0, 5], *[[1, 0]] * 8])).cuts.tolist() == [0]


def test_weights_that_are_whole_numbers_decide_as_counts_do():
    tree = Tree.from_parents([-1, 0, 0, 0])
    for at_leaves in ([[19, 1], [0, 2], [6, 2]], [[18, 1], [0, 3], [6, 2]]):
        integer_counts = Counts.from_leaves(tree, at_leaves)
        weights = Counts.from_leaves(tree, np.array(at_leaves, float))

        assert pessimistic(tree, integer_counts).n_leaves == pessimistic(tree, weights).n_leaves


def test_more_half_errors_than_rows_cut():
    tree = Tree.from_parents([-1, 0, 0, 0, 0, 0])
    counts = Counts.from_leaves(tree, [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]])

    assert pessimistic(tree, counts).cuts.tolist() == [0]


def test_a_single_leaf_is_left_alone():
    tree = Tree.from_parents([-1])

    pruning = pessimistic(tree, Counts.from_leaves(tree, [[3, 4]]))

    assert (pruning.n_leaves, pruning.cuts.tolist(), pruning.labels.tolist()) == (1, [], [1])


def test_a_chain_of_depth_100_000_passes():
    depth = 100_000
    parent = np.repeat(np.arange(-2, 2 * depth, 2), 2)[1:]
    parent[0] = -1
    tree = Tree.from_parents(parent)
    at_leaves = 5 * np.eye(2, dtype=np.int64)[np.arange(depth + 1) % 2]

    assert pessimistic(tree, Counts.from_leaves(tree, at_leaves)).n_leaves > depth // 2


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0])

    with pytest.raises(CountsError, match="another tree"):
        pessimistic(Tree.from_parents([-1]), Counts.from_leaves(other, [[1, 0], [0, 1]]))


@pytest.mark.parametrize(("fewer", "n_leaves"), [(0, 1), (1, 2)])
def test_a_tie_of_weights_cuts(fewer, n_leaves):
    tree = Tree.from_parents([-1, 0, 0])  # as above with b = 1: a = 3, p = 6, n = 12
    counts = Counts.from_leaves(tree, np.array([[8 - fewer, 2], [0, 2]], float))
    assert pessimistic(tree, counts).n_leaves == n_leaves
