"""The mixture of all prunings against the prunings themselves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, keep_vector
from secateur import Counts, Tree
from secateur.analysis import mixture
from secateur.errors import CountsError, ParameterError, TreeError
from strategies import trees_with_counts

pytestmark = pytest.mark.lane

betas = st.floats(0.05, 1.0)


def weighted_prunings(tree, errors, beta):
    """(leaves, prior, errors) of every pruning; the prior is a coin per internal node kept or cut."""
    internal = {v for v in range(tree.n_nodes) if not tree.is_leaf[v]}
    result = []
    for leaves in all_prunings(tree):
        n_coins = sum(keep_vector(tree, leaves)) + len(leaves & internal)
        result.append((leaves, 0.5**n_coins, sum(errors[v] for v in leaves)))
    return result


def leaf_on_path(tree, leaves, v):
    while v not in leaves:
        v = int(tree.parent[v])
    return v


@given(trees_with_counts(), betas)
def test_votes_are_those_of_the_enumerated_prunings(case, beta):
    tree, counts = case
    mixed = mixture(tree, counts, beta)
    labels, errors = counts.majority, counts.errors_if_leaf(counts.majority)
    for leaf in tree.leaves.tolist():
        votes = np.zeros(counts.n_classes)
        for leaves, prior, n_errors in weighted_prunings(tree, errors, beta):
            votes[labels[leaf_on_path(tree, leaves, leaf)]] += prior * beta ** int(n_errors)
        votes /= votes.sum()

        assert mixed.votes(leaf) == pytest.approx(votes, abs=1e-12)
        assert mixed.predict_proba([leaf])[0] == pytest.approx(votes, abs=1e-12)


@given(trees_with_counts(), betas)
def test_weight_errors_and_divergence_are_those_of_the_enumerated_prunings(case, beta):
    tree, counts = case
    mixed = mixture(tree, counts, beta)
    prunings = weighted_prunings(tree, counts.errors_if_leaf(counts.majority), beta)
    weights = np.array([prior * beta ** int(n_errors) for _, prior, n_errors in prunings])
    posterior, prior = weights / weights.sum(), np.array([prior for _, prior, _ in prunings])

    assert prior.sum() == pytest.approx(1)
    assert math.exp(mixed.log_weight) == pytest.approx(weights.sum())
    assert mixed.expected_errors == pytest.approx(float(posterior @ [n_errors for _, _, n_errors in prunings]))
    assert mixed.kl == pytest.approx(float(posterior @ np.log(posterior / prior)), abs=1e-12)


@given(trees_with_counts(samples=("grow", "prune")), betas, st.data())
def test_what_nodes_say_can_be_given_apart_from_their_labels(case, beta, data):
    tree, grown, held = case
    says = (grown.by_class + 1) / (grown.total + grown.n_classes)[:, None]
    mixed = mixture(tree, held, beta, labels=grown.majority, node_proba=says)
    errors = held.errors_if_leaf(grown.majority)
    leaf = data.draw(st.sampled_from(tree.leaves.tolist()))
    expected, total = np.zeros(grown.n_classes), 0.0
    for leaves, prior, n_errors in weighted_prunings(tree, errors, beta):
        weight = prior * beta ** int(n_errors)
        expected += weight * says[leaf_on_path(tree, leaves, leaf)]
        total += weight

    assert mixed.votes(leaf) == pytest.approx(expected / total, abs=1e-12)


@given(trees_with_counts(samples=("grow", "prune")), betas, st.data())
def test_updating_row_by_row_equals_recomputing(case, beta, data):
    tree, grown, held = case
    labels = grown.majority
    rows = data.draw(
        st.lists(st.tuples(st.sampled_from(tree.leaves.tolist()), st.integers(0, held.n_classes - 1)), max_size=8)
    )
    learner = mixture(tree, held, beta, labels=labels).online()
    at_leaves = held.by_class[tree.is_leaf].copy()
    position = {leaf: i for i, leaf in enumerate(tree.leaves.tolist())}
    for leaf, label in rows:
        learner.update(leaf, label)
        at_leaves[position[leaf], label] += 1

    anew = mixture(tree, Counts.from_leaves(tree, at_leaves), beta, labels=labels)
    assert learner.snapshot().log_z == pytest.approx(anew.log_z, rel=1e-13, abs=1e-13)
    assert learner.snapshot().errors.tolist() == anew.errors.tolist()
    for leaf in tree.leaves.tolist():
        assert learner.votes(leaf) == pytest.approx(anew.votes(leaf), abs=1e-13)


@given(trees_with_counts(max_internal=4), st.floats(0.1, 0.9), st.data())
def test_the_online_mistake_bound_holds_for_every_pruning(case, beta, data):
    tree, counts = case
    labels = counts.majority
    rows = data.draw(st.lists(st.tuples(st.sampled_from(tree.leaves.tolist()), st.integers(0, 1)), max_size=15))
    nothing = Counts.from_leaves(tree, np.zeros((tree.n_leaves, counts.n_classes), int))
    learner = mixture(tree, nothing, beta, labels=labels).online()
    mistakes = 0.0
    for leaf, label in rows:
        mistakes += 1 - learner.votes(leaf)[label]
        learner.update(leaf, label)

    for leaves, prior, _ in weighted_prunings(tree, np.zeros(tree.n_nodes), beta):
        n_errors = sum(labels[leaf_on_path(tree, leaves, leaf)] != label for leaf, label in rows)
        assert mistakes <= (math.log(1 / beta) * n_errors - math.log(prior)) / (1 - beta) + 1e-9


def test_the_worked_example():
    tree = Tree.from_parents([-1, 0, 0])
    mixed = mixture(tree, Counts.from_leaves(tree, [[3, 1], [0, 2]]), math.exp(-1))

    assert mixed.errors.tolist() == [3, 1, 0]
    assert math.exp(mixed.log_weight) == pytest.approx(0.20883, abs=5e-6)
    assert mixed.cut_probability[0] == pytest.approx(0.1192, abs=5e-5)
    assert mixed.expected_errors == pytest.approx(1.2384, abs=5e-5)


@given(trees_with_counts())
def test_beta_one_leaves_the_prior_as_it_is(case):
    tree, counts = case
    mixed = mixture(tree, counts, 1.0)

    assert mixed.log_weight == pytest.approx(0, abs=1e-12)
    assert mixed.kl == pytest.approx(0, abs=1e-12)
    assert np.allclose(mixed.cut_probability, np.where(tree.is_leaf, 1.0, 0.5))


def chain(n):
    """n tests, each with a leaf as first child."""
    parent = np.empty(2 * n + 1, int)
    parent[0] = -1
    parent[1::2] = parent[2::2] = np.arange(0, 2 * n, 2)
    return Tree.from_parents(parent)


def test_a_chain_of_a_hundred_thousand_tests_and_millions_of_errors():
    tree = chain(100_000)
    counts = Counts.from_leaves(tree, np.tile([[30, 20]], (tree.n_leaves, 1)))
    mixed = mixture(tree, counts, 0.5)
    deepest = tree.n_nodes - 1

    assert np.isfinite(mixed.log_z).all()
    assert mixed.votes(deepest).sum() == pytest.approx(1)
    learner = mixed.online()
    learner.update(deepest, 1)
    assert learner.votes(deepest) == pytest.approx(learner.snapshot().predict_proba([deepest])[0])


def test_a_tie_of_votes_goes_to_the_lowest_class():
    tree = Tree.from_parents([-1, 0, 0])
    mixed = mixture(tree, Counts.from_leaves(tree, [[0, 0], [0, 0]]), 0.5, labels=[1, 0, 1])

    assert mixed.predict_proba([1]).tolist() == [[0.5, 0.5]]
    assert mixed.predict([1, 2]).tolist() == [0, 1]


def test_the_learner_leaves_its_start_alone():
    tree = Tree.from_parents([-1, 0, 0])
    start = mixture(tree, Counts.from_leaves(tree, [[3, 1], [0, 2]]), 0.5)
    before = start.log_z.tolist()
    start.online().update(1, 1)

    assert start.log_z.tolist() == before


TREE = Tree.from_parents([-1, 0, 0])
COUNTS = Counts.from_leaves(TREE, [[3, 1], [0, 2]])


@pytest.mark.parametrize("beta", [0, -0.5, 1.5, math.nan])
def test_beta_must_be_above_zero_and_at_most_one(beta):
    with pytest.raises(ParameterError, match="beta="):
        mixture(TREE, COUNTS, beta)


@pytest.mark.parametrize(("leaf", "says"), [(0, "not an original leaf"), (3, "does not exist"), (-1, "does not exist")])
def test_rows_end_at_original_leaves(leaf, says):
    for call in (mixture(TREE, COUNTS, 0.5).votes, mixture(TREE, COUNTS, 0.5).online().votes):
        with pytest.raises(TreeError, match=says):
            call(leaf)
    with pytest.raises(TreeError, match=says):
        mixture(TREE, COUNTS, 0.5).online().update(leaf, 0)


def test_leaf_ids_are_whole_numbers():
    with pytest.raises(TreeError, match="node ids"):
        mixture(TREE, COUNTS, 0.5).predict_proba([0.5])


@pytest.mark.parametrize("says", [[[1, 0]], [[0.5, 0.4]] * 3, [[2, -1]] * 3])
def test_node_probabilities_are_checked(says):
    with pytest.raises(CountsError, match="node_proba"):
        mixture(TREE, COUNTS, 0.5, node_proba=says)


def test_counts_of_another_tree_and_negative_classes_are_refused():
    with pytest.raises(CountsError, match="another tree"):
        mixture(chain(3), COUNTS, 0.5)
    with pytest.raises(ParameterError, match="label=-1"):
        mixture(TREE, COUNTS, 0.5).online().update(1, -1)


def test_a_mixture_says_what_it_is_made_of():
    assert repr(mixture(TREE, COUNTS, math.exp(-1))).startswith(
        "Mixture(all prunings of Tree(2 leaves, 3 nodes, depth 1)"
    )
