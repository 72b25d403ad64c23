"""Minimum error pruning: the least m-estimate over all prunings, ties cut."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Counts, Tree
from secateur.core.costs import m_estimate
from secateur.errors import CountsError, ParameterError
from secateur.pruners._minimum_error import minimum_error
from strategies import trees_with_counts


def static(row, m, prior):
    """The m-estimate of the error of a leaf, exactly."""
    n = sum(row)
    return min((n - g + (1 - p) * m) / (n + m) for g, p in zip(row, prior, strict=True))


def root_prior(counts):
    row = counts.by_class[0].tolist()
    n, k = sum(row), len(row)
    return [Fraction(g, n) if n else Fraction(1, k) for g in row]


def example(m, **parameters):
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[6, 0], [1, 3]])
    return minimum_error(tree, counts, m=m, **parameters)


@pytest.mark.parametrize(
    ("m", "at_root", "backed", "n_leaves"),
    [(2, 0.3167, 0.2067, 2), (10, 0.3500, 0.3500, 1)],  # the second is an exact tie, and cuts
)
def test_the_worked_example(m, at_root, backed, n_leaves):
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[6, 0], [1, 3]])
    cost = m_estimate(counts, m, [0.6, 0.4])

    assert round(cost[0], 4) == at_root
    assert round(cost[1] + cost[2], 4) == backed
    assert example(m, prior=[0.6, 0.4]).n_leaves == n_leaves


def test_laplace_is_a_uniform_prior_worth_one_row_per_class():
    assert round(float(static([7, 3], 2, [Fraction(1, 2)] * 2)), 4) == 0.3333
    # The root: 4/12 = .3333; children 1/8 and 2/6, weighted .6 and .4: .2083.
    assert example(2, prior="uniform").n_leaves == 2


@given(trees_with_counts(), st.sampled_from([0, 1, 2, 5, 12]), st.booleans())
def test_it_is_the_smallest_pruning_with_the_least_estimate(case, m, is_uniform):
    tree, counts = case
    rows = counts.by_class.tolist()
    k = counts.n_classes
    prior = [Fraction(1, k)] * k if is_uniform else root_prior(counts)
    cost = [sum(row) * static(row, Fraction(m), prior) if sum(row) else Fraction(0) for row in rows]
    best = min(all_prunings(tree), key=lambda leaves: (sum(cost[v] for v in leaves), len(leaves)))

    pruning = minimum_error(tree, counts, m=m, prior="uniform" if is_uniform else None)

    assert set(pruning.leaves.tolist()) == best


@given(trees_with_counts(), st.sampled_from([1, 2, 7]))
def test_it_is_the_published_recursion(case, m):
    """Static against backed-up error, node by node; an empty node's error is 1 minus the largest prior."""
    tree, counts = case
    rows, children, prior = counts.by_class.tolist(), children_of(tree.parent.tolist()), root_prior(counts)
    cuts = set()

    def value(v):
        leaf_error = static(rows[v], Fraction(m), prior)
        if not sum(rows[v]):
            assert leaf_error == 1 - max(prior)
            cuts.add(v)
            return leaf_error
        if not children[v]:
            return leaf_error
        backed = sum(Fraction(sum(rows[c]), sum(rows[v])) * value(c) for c in children[v])
        if leaf_error <= backed:
            cuts.add(v)
        return min(leaf_error, backed)

    value(0)
    pruning = minimum_error(tree, counts, m=m)
    ancestors = {int(v): set(_path(tree, int(v))) for v in range(tree.n_nodes)}

    assert set(pruning.leaves.tolist()) == {
        v for v in range(tree.n_nodes) if (v in cuts or not children[v]) and not ancestors[v] & cuts
    }


def _path(tree, v):
    while tree.parent[v] >= 0:
        v = int(tree.parent[v])
        yield v


def test_without_a_prior_every_gain_on_the_growing_sample_is_kept():
    assert example(0).n_leaves == 2


def test_leaves_take_their_majority_class_by_default():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[90, 0], [0, 1]])

    assert minimum_error(tree, counts, m=2, prior=[0.2, 0.8]).labels.tolist() == [-1, 0, 1]


def test_with_estimate_labels_the_prior_votes_too():
    tree = Tree.from_parents([-1, 0, 0, 0])
    counts = Counts.from_leaves(tree, [[90, 0], [0, 30], [1, 0]])

    by_estimate = minimum_error(tree, counts, m=2, prior=[0.1, 0.9], labels="estimate")

    assert by_estimate.labels.tolist() == [-1, 0, 1, 1]  # (1.2, 1.8) in the last leaf
    assert by_estimate.leaves.tolist() == minimum_error(tree, counts, m=2, prior=[0.1, 0.9]).leaves.tolist()


def test_light_weights_decide_as_their_multiples_do():
    tree = Tree.from_parents([-1, 0, 0])
    light = Counts.from_leaves(tree, np.array([[6, 0], [1, 3]]) / 64)

    assert minimum_error(tree, light, m=2 / 64).n_leaves == example(2).n_leaves == 2
    assert minimum_error(tree, light, m=10 / 64, prior=[0.6, 0.4]).n_leaves == 1


def test_an_empty_sample_leaves_the_root():
    tree = Tree.from_parents([-1, 0, 0])

    assert minimum_error(tree, Counts.from_leaves(tree, [[0, 0], [0, 0]])).cuts.tolist() == [0]


def test_a_single_leaf_is_left_alone():
    tree = Tree.from_parents([-1])

    assert minimum_error(tree, Counts.from_leaves(tree, [[3, 4]])).cuts.tolist() == []


def test_a_chain_of_depth_100_000_passes():
    depth = 100_000
    parent = np.repeat(np.arange(-2, 2 * depth, 2), 2)[1:]
    parent[0] = -1
    tree = Tree.from_parents(parent)
    at_leaves = 5 * np.eye(2, dtype=np.int64)[np.arange(depth + 1) % 2]

    assert minimum_error(tree, Counts.from_leaves(tree, at_leaves)).n_leaves == depth + 1


@pytest.mark.parametrize("prior", ["flat", [0.5], [0.7, 0.7], [-0.5, 1.5], [np.nan, 1.0], [[0.5, 0.5]]])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(ParameterError, match="prior="):
        example(2, prior=prior)


@pytest.mark.parametrize("m", [-1, np.nan, np.inf])
def test_an_m_outside_its_range_is_refused(m):
    with pytest.raises(ParameterError, match="m="):
        example(m)


def test_an_unknown_label_rule_is_refused():
    with pytest.raises(ParameterError, match="labels='both'"):
        example(2, labels="both")


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0])

    with pytest.raises(CountsError, match="another tree"):
        minimum_error(Tree.from_parents([-1]), Counts.from_leaves(other, [[1, 0], [0, 1]]))


def test_a_prior_may_leave_a_class_out_and_must_add_up():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[9, 0], [0, 9]])
    assert minimum_error(tree, counts, prior=[1.0, 0.0]).n_leaves == 2
    for prior in ([1.1, -0.1], [0.5, 0.4], [0.5, 0.6], [1.0]):
        with pytest.raises(ParameterError, match="probabilities of 0 or more that sum to 1"):
            minimum_error(tree, counts, prior=prior)


def test_an_empty_leaf_keeps_the_label_of_its_parent_on_a_tie():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[1, 9], [0, 0]])
    pruning = minimum_error(tree, counts, prior="uniform", labels="estimate")
    assert pruning.node_labels.tolist() == [1, 1, 1]
    assert pruning == minimum_error(tree, counts, prior=[0.5, 0.5], labels="estimate")
    assert minimum_error(tree, counts).rule == "minimum error, m = 2"


def test_one_row_is_a_prior():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[0, 1], [0, 0]])
    assert minimum_error(tree, counts, labels="estimate").node_labels.tolist() == [1, 1, 1]
    assert m_estimate(counts).tolist() == [0, 0, 0]


def test_a_prior_can_outvote_the_rows():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[2, 0], [0, 9]])
    pruning = minimum_error(tree, counts, m=10, prior=[0.1, 0.9], labels="estimate")
    assert pruning.node_labels.tolist() == [1, 1, 1]  # the first leaf has votes 3 and 9
    assert minimum_error(tree, counts, m=10, prior=[0.1, 0.9]).node_labels.tolist() == [1, 0, 1]


def test_the_uniform_prior_is_one_that_adds_up():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    rng = np.random.default_rng(0)
    for _ in range(30):
        counts = Counts.from_leaves(tree, rng.integers(0, 6, (3, 2)))
        assert minimum_error(tree, counts, prior="uniform") == minimum_error(tree, counts, prior=[0.5, 0.5])
