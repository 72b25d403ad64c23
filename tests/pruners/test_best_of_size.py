"""OPT: the best pruning of each size, against enumeration and the nine-test tree."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nine_tests import NODE_OF_NAME, nine_tests
from oracles import all_prunings, keep_vector
from secateur import Counts, Tree
from secateur.core.costs import m_estimate
from secateur.errors import CountsError, ParameterError, PruningError
from secateur.pruners import best_of_size, cost_complexity, greedy, weakest_links
from strategies import trees, trees_with_counts

TABLE = {  # leaves: (errors, cuts)
    15: (0, ""),
    14: (1, "I"),
    13: (1, "F"),
    12: (1, "D"),
    11: (2, "DH"),
    10: (2, "DF"),
    9: (3, "DFH"),
    8: (3, "CD"),
    7: (4, "DEFH"),
    6: (4, "CDF"),
    5: (6, "BDGH"),
    4: (5, "CDEF"),
    3: (6, "BCD"),
    1: (9, "A"),
}


def best_by_enumeration(tree, cost):
    """For every size the least cost and, of those, the largest keep vector."""
    best = {}
    for leaves in all_prunings(tree):
        total = sum(cost[v] for v in leaves)
        key = (-total, keep_vector(tree, leaves))
        best[len(leaves)] = max(best.get(len(leaves), key), key)
    return {size: (-negative, kept) for size, (negative, kept) in best.items()}


@st.composite
def trees_with_costs(draw, max_cost=4, **limits):
    tree = draw(trees(**limits))
    cost = draw(st.lists(st.integers(0, max_cost), min_size=tree.n_nodes, max_size=tree.n_nodes))
    return tree, np.array(cost)


def test_the_nine_test_tree_gives_the_published_table():
    tree, counts = nine_tests()

    sequence = best_of_size(tree, counts)

    cuts = {n: sorted(NODE_OF_NAME[x] for x in text) for n, (_, text) in TABLE.items()}
    assert sequence.n_leaves.tolist() == list(TABLE)
    assert sequence.errors.tolist() == [errors for errors, _ in TABLE.values()]
    assert {p.n_leaves: p.cuts.tolist() for p in sequence} == cuts


def test_a_size_that_no_pruning_has_names_its_neighbours():
    tree, counts = nine_tests()
    with pytest.raises(PruningError, match="no member has 2 leaves; the nearest have 1 and 3"):
        best_of_size(tree, counts).with_leaves(2)


def test_accuracy_falls_from_four_to_five_leaves_although_one_is_a_pruning_of_the_six_leaf_tree():
    tree, counts = nine_tests()
    sequence = best_of_size(tree, counts)
    assert not sequence.nested
    assert sequence.with_leaves(4) <= sequence.with_leaves(6)
    assert sequence.with_leaves(5).errors(counts) > sequence.with_leaves(4).errors(counts)


@given(trees_with_costs(max_cost=2))
def test_every_size_has_the_enumerated_optimum_and_the_largest_keep_vector(case):
    tree, cost = case

    sequence = best_of_size(tree, None, cost=cost)

    members = {p.n_leaves: (p.cost(cost), keep_vector(tree, set(p.leaves.tolist()))) for p in sequence}
    assert members == best_by_enumeration(tree, cost)
    assert sequence.errors.tolist() == [p.cost(cost) for p in sequence]


@given(trees_with_costs(max_cost=2))
def test_real_costs_that_are_whole_give_the_same_prunings(case):
    tree, cost = case
    integer_result, real = best_of_size(tree, None, cost=cost), best_of_size(tree, None, cost=cost * 0.1)
    assert [p.cuts.tolist() for p in real] == [p.cuts.tolist() for p in integer_result]
    assert real.rule.endswith("(real costs: ties within 1e-12)")


@given(trees_with_counts(max_internal=4))
def test_m_estimates_are_minimised_too(case):
    tree, counts = case
    cost = m_estimate(counts)
    best = best_by_enumeration(tree, cost)
    sequence = best_of_size(tree, counts, cost=cost)
    assert sequence.errors == pytest.approx([best[n][0] for n in sequence.n_leaves.tolist()], abs=1e-12)


@given(trees_with_counts())
def test_the_smallest_is_the_root_and_the_largest_the_uncut_tree(case):
    tree, counts = case
    sequence = best_of_size(tree, counts)
    errors = counts.errors_if_leaf(counts.majority)
    assert (sequence.n_leaves[-1], sequence.errors[-1]) == (1, errors[0])
    assert (sequence.n_leaves[0], sequence.errors[0]) == (tree.n_leaves, errors[tree.is_leaf].sum())


@given(trees_with_counts(max_arity=2))
def test_errors_never_rise_with_the_size_of_a_binary_tree(case):
    tree, counts = case
    assert (np.diff(best_of_size(tree, counts).errors) >= 0).all()


@given(trees_with_counts())
def test_the_corners_of_the_lower_hull_are_the_additive_family(case):
    tree, counts = case
    sequence, path = best_of_size(tree, counts), cost_complexity(tree, counts)
    points = list(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True))
    corners = []
    for x, y in points[::-1]:  # by rising size
        while len(corners) > 1 and cross(corners[-2], corners[-1], (x, y)) <= 0:
            corners.pop()
        corners.append((x, y))
    least = min(y for _, y in corners)
    corners = [c for c in corners if c[0] <= min(x for x, y in corners if y == least)]
    assert corners[::-1] == list(zip(path.n_leaves.tolist(), path.errors.tolist(), strict=True))


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


@given(trees_with_costs(), st.integers(1, 8))
def test_a_cap_gives_the_end_of_the_full_sequence(case, cap):
    tree, cost = case
    full, capped = best_of_size(tree, None, cost=cost), best_of_size(tree, None, cost=cost, max_leaves=cap)
    is_small = full.n_leaves <= cap
    assert capped.n_leaves.tolist() == full.n_leaves[is_small].tolist()
    assert capped.errors.tolist() == full.errors[is_small].tolist()
    assert [p.cuts.tolist() for p in capped] == [p.cuts.tolist() for p in full if p.n_leaves <= cap]


@given(trees_with_counts(), st.integers(2, 5))
def test_copies_of_the_sample_multiply_the_errors_and_change_no_pruning(case, copies):
    tree, counts = case
    many = Counts(tree, counts.by_class * copies)
    once, often = best_of_size(tree, counts), best_of_size(tree, many)
    assert often.errors.tolist() == (copies * once.errors).tolist()
    assert [p.cuts.tolist() for p in often] == [p.cuts.tolist() for p in once]


@given(trees_with_counts())
def test_no_heuristic_beats_it_at_any_size(case):
    tree, counts = case
    optimal = best_of_size(tree, counts)
    best = dict(zip(optimal.n_leaves.tolist(), optimal.errors.tolist(), strict=True))
    for sequence in (greedy(tree, counts), weakest_links(tree, counts, every_cut=True)):
        assert all(best[n] <= e for n, e in zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True))


def test_monotone_gives_every_size_the_best_that_fits():
    tree, counts = nine_tests()
    sequence = best_of_size(tree, counts, monotone=True)
    assert sequence.n_leaves.tolist() == list(range(15, 0, -1))
    assert sequence.errors.tolist() == [0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 9, 9]
    assert sequence.with_leaves(5).n_leaves == 4  # five leaves cost more than four
    assert sequence.with_leaves(2).n_leaves == 1  # no pruning has two


@given(trees_with_costs())
def test_monotone_errors_never_rise_with_the_size(case):
    tree, cost = case
    sequence = best_of_size(tree, None, cost=cost, monotone=True)
    plain = best_of_size(tree, None, cost=cost)
    for n, errors, pruning in zip(sequence.n_leaves, sequence.errors, sequence, strict=True):
        assert errors == pruning.cost(cost) == plain.errors[plain.n_leaves <= n].min()


def test_a_single_leaf_is_returned_as_it_is():
    tree = Tree.from_parents([-1])
    sequence = best_of_size(tree, Counts(tree, [[1, 3]]))
    assert (len(sequence), sequence.errors.tolist(), sequence[0].n_leaves) == (1, [1], 1)


def test_members_remember_the_sample_and_the_classes():
    tree, counts = nine_tests()
    pruning = best_of_size(tree, counts).with_leaves(3)
    assert pruning.seen == {"grow"}
    assert pruning.errors(counts) == 6


def test_a_sequence_can_be_pickled():
    tree, counts = nine_tests()
    sequence = best_of_size(tree, counts)
    assert pickle.loads(pickle.dumps(sequence)) == sequence


def test_costs_near_the_limit_of_64_bits_are_exact():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    sequence = best_of_size(tree, None, cost=np.array([2**58, 2**57 + 1, 1, 2, 2**57]))
    assert sequence.errors.tolist() == [2**57 + 3, 2**58 + 1, 2**58]


@pytest.mark.parametrize("cap", [0, -3, 2.5, "many"])
def test_a_cap_that_is_no_number_of_leaves_is_refused(cap):
    tree, counts = nine_tests()
    with pytest.raises(ParameterError, match="max_leaves="):
        best_of_size(tree, counts, max_leaves=cap)


def test_counts_of_another_tree_are_refused():
    _, counts = nine_tests()
    with pytest.raises(CountsError, match="another tree"):
        best_of_size(Tree.from_parents([-1, 0, 0]), counts)


def test_costs_that_would_overflow_are_refused():
    tree, _ = nine_tests()
    with pytest.raises(ParameterError, match="64-bit"):
        best_of_size(tree, None, cost=np.full(tree.n_nodes, 2**60))


@pytest.mark.large
def test_a_table_beyond_memory_is_refused_and_the_way_out_named():
    n = 600_000
    tree = Tree.from_parents(np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2)))  # a chain
    with pytest.raises(ParameterError, match="smaller max_leaves"):
        best_of_size(tree, None, cost=np.ones(tree.n_nodes, int))


def test_the_root_alone_can_be_requested():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[1, 0], [0, 1]])
    assert best_of_size(tree, counts, max_leaves=1).n_leaves.tolist() == [1]
    assert best_of_size(tree, counts).nested  # the root alone is a pruning of anything
    with pytest.raises(ParameterError, match="max_leaves=0"):
        best_of_size(tree, counts, max_leaves=0)
