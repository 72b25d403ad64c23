import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Pruning, Tree
from secateur._kernels.bottom_up import cheapest_subtree, shared_labels
from strategies import trees

pytestmark = pytest.mark.lane


@st.composite
def trees_with_costs(draw, low=-3, high=6):
    tree = draw(trees())
    cost = draw(st.lists(st.integers(low, high), min_size=tree.n_nodes, max_size=tree.n_nodes))
    return tree, np.array(cost, np.int64)


def least_key(tree, cost):
    return min((sum(cost[v] for v in leaves), len(leaves)) for leaves in all_prunings(tree))


@given(trees_with_costs())
def test_no_other_pruning_is_cheaper_or_equal_and_smaller(case):
    tree, cost = case

    cut = Pruning.from_cuts(tree, cheapest_subtree(tree.parent, cost))

    assert (cut.cost(cost), cut.n_leaves) == least_key(tree, cost.tolist())


@given(trees_with_costs())
def test_real_costs_give_the_cuts_of_the_whole_ones(case):
    tree, cost = case

    real = cheapest_subtree(tree.parent, cost / 10)

    assert (Pruning.from_cuts(tree, real) == Pruning.from_cuts(tree, cheapest_subtree(tree.parent, cost))) is True


def test_whole_costs_too_large_for_a_float_are_distinguished():
    tree = Tree.from_parents([-1, 0, 0])
    huge = 2**60

    assert not cheapest_subtree(tree.parent, np.array([2 * huge + 1, huge, huge]))[0]
    assert cheapest_subtree(tree.parent, np.array([2 * huge, huge, huge]))[0]


def test_real_costs_that_differ_by_rounding_are_a_tie_and_a_tie_cuts():
    tree = Tree.from_parents([-1, 0, 0])

    # 0.1 + 0.2 is 0.30000000000000004 in floats; the other order of magnitude must still count.
    assert cheapest_subtree(tree.parent, np.array([0.1 + 0.2, 0.1, 0.2]))[0]
    assert cheapest_subtree(tree.parent, np.array([0.6, 0.1 + 0.2, 0.3 - 4e-17]))[0]
    assert not cheapest_subtree(tree.parent, np.array([0.3 + 1e-9, 0.1, 0.2]))[0]


def test_leaves_are_marked_as_cut():
    tree = Tree.from_parents([-1, 0, 0])

    assert cheapest_subtree(tree.parent, np.array([5, 1, 1])).tolist() == [False, True, True]


@given(trees(), st.data())
def test_shared_labels_are_those_that_all_leaves_below_have(tree, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=tree.n_nodes, max_size=tree.n_nodes)), np.int32)
    leaves = data.draw(st.sampled_from(sorted(map(sorted, all_prunings(tree)))))
    is_leaf = np.isin(np.arange(tree.n_nodes), leaves)
    children = children_of(tree.parent.tolist())

    def below(v):
        return {labels[v]} if is_leaf[v] else set().union(*(below(c) for c in children[v]), set())

    expected = [next(iter(found)) if len(found := below(v)) == 1 else -1 for v in range(tree.n_nodes)]
    # What lies under a leaf of the pruning has no leaf: `below` of an original leaf there is empty.
    assert shared_labels(tree.parent, labels, is_leaf).tolist() == expected
