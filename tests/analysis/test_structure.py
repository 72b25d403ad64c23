"""Fringe, safe nodes, and the two theorems they are for, against enumeration."""

import numpy as np
import pytest
from hypothesis import given

from oracles import all_prunings, children_of
from secateur import Tree
from secateur.analysis import fringe, interior, safe_nodes
from strategies import trees, trees_with_counts


def naive_fringe(tree):
    """Word for word: an original leaf among its children, or a descendant of such a node."""
    children = children_of(tree.parent.tolist())
    result = set()
    for v in range(tree.n_nodes):
        u = v
        while u >= 0:
            if any(not children[c] for c in children[u]):
                result.add(v)
            u = int(tree.parent[u])
    return result


def rep_costs(tree, grown, held):
    """Errors of each node as a leaf: held-out majority where cut, the grown label at original leaves."""
    children = children_of(tree.parent.tolist())
    totals = held.by_class.sum(axis=1)
    return [
        int(totals[v] - (held.by_class[v].max() if children[v] else held.by_class[v, grown.majority[v]]))
        for v in range(tree.n_nodes)
    ]


def is_cut(tree, cost, v):
    """Whether no pruning below v has fewer errors than v as a leaf."""
    return cost[v] <= min(sum(cost[u] for u in leaves) for leaves in all_prunings(tree, v))


@given(trees(max_internal=7))
def test_the_fringe_is_what_its_definition_says(tree):
    expected = naive_fringe(tree)

    assert set(np.flatnonzero(fringe(tree)).tolist()) == expected
    assert np.array_equal(interior(tree), ~fringe(tree))


@given(trees(max_internal=7))
def test_safe_nodes_are_the_highest_nodes_of_the_fringe(tree):
    in_fringe = naive_fringe(tree)
    expected = [v for v in sorted(in_fringe) if v == 0 or int(tree.parent[v]) not in in_fringe] or [0]

    assert safe_nodes(tree).tolist() == expected


@given(trees(max_internal=7))
def test_every_original_leaf_lies_under_exactly_one_safe_node(tree):
    below = np.zeros(tree.n_nodes, int)
    for v in safe_nodes(tree):
        below[v : tree.end[v]] += 1

    assert (below[tree.is_leaf] == 1).all()


def test_a_root_in_the_fringe_is_the_only_safe_node():
    assert safe_nodes(Tree.from_parents([-1, 0, 1, 1, 0])).tolist() == [0]


def test_the_root_of_a_single_leaf_is_safe_and_not_in_the_fringe():
    leaf = Tree.from_parents([-1])

    assert safe_nodes(leaf).tolist() == [0]
    assert fringe(leaf).tolist() == [False]


@given(trees_with_counts(samples=("grow", "prune")))
def test_the_tree_becomes_one_leaf_iff_all_safe_nodes_are_cut_and_share_a_majority(case):
    tree, grown, held = case
    cost = rep_costs(tree, grown, held)
    safe = safe_nodes(tree).tolist()
    at_safe = held.by_class[safe]
    shares_majority = (at_safe == at_safe.max(axis=1, keepdims=True)).all(axis=0).any()

    assert is_cut(tree, cost, 0) == (all(is_cut(tree, cost, v) for v in safe) and shares_majority)


@given(trees_with_counts(samples=("grow", "prune"), max_classes=2))
def test_with_two_classes_every_safe_node_must_hold_a_weak_majority_of_the_larger_class(case):
    tree, grown, held = case
    cost = rep_costs(tree, grown, held)
    safe = safe_nodes(tree).tolist()
    most = int(held.by_class[0].argmax())
    agree = all(held.by_class[v, most] >= held.by_class[v, 1 - most] for v in safe)

    assert is_cut(tree, cost, 0) == (agree and all(is_cut(tree, cost, v) for v in safe))


@given(trees_with_counts(samples=("grow", "prune")))
def test_a_node_without_a_leaf_child_stays_while_a_child_stays(case):
    tree, grown, held = case
    cost = rep_costs(tree, grown, held)
    children = children_of(tree.parent.tolist())
    for v in range(tree.n_nodes):
        if (
            children[v]
            and all(children[c] for c in children[v])
            and not all(is_cut(tree, cost, c) for c in children[v])
        ):
            assert not is_cut(tree, cost, v)


@pytest.mark.parametrize("function", [fringe, interior, safe_nodes])
def test_a_chain_of_a_hundred_thousand_tests_is_no_problem(function):
    n = 100_000
    parent = np.append(-1, np.repeat(np.arange(0, 2 * n, 2), 2))  # 0 has children 1, 2; 2 has 3, 4; ...
    expected = {fringe: 2 * n + 1, interior: 0, safe_nodes: 0}  # the root has a leaf as a child

    assert function(Tree.from_parents(parent)).sum() == expected[function]
