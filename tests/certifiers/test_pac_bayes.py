"""PAC-Bayes against the enumerated mixture."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from oracles import all_prunings
from secateur import Counts, Pruning, Tree
from secateur.certifiers import kl_upper, occam, pac_bayes
from secateur.errors import CountsError, LeakageError, ParameterError, UnsupportedError
from strategies import trees, trees_with_counts

pytestmark = pytest.mark.lane

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
GROWN = Counts.from_leaves(TREE, [[20, 1], [2, 9], [0, 30]])
HELD = Counts.from_leaves(TREE, [[40, 5], [20, 10], [6, 50]], sample="prune")


def enumerated(tree, grown, held, lam, mu, theta):
    """(expected errors, KL to the prior) of the mixture, pruning by pruning."""
    g, e = (c.errors_if_leaf(grown.majority) for c in (grown, held))
    prunings = list(all_prunings(tree))
    log_prior = np.array([-lam * sum(g[v] for v in p) - mu * len(p) for p in prunings])
    log_prior -= special.logsumexp(log_prior)
    errors = np.array([sum(e[v] for v in p) for p in prunings], float)
    log_posterior = log_prior - theta * errors
    log_posterior -= special.logsumexp(log_posterior)
    q = np.exp(log_posterior)
    return float(q @ errors), float(q @ (log_posterior - log_prior))


@given(trees_with_counts(("grow", "prune"), max_internal=5), st.floats(0, 1), st.floats(0, 2), st.floats(0, 3))
def test_expected_errors_and_kl_are_those_of_the_list(case, lam, mu, theta):
    tree, grown, held = case
    if held.total[0] < 8:
        return
    bound = pac_bayes(tree, grown, held, lam=lam, mu=mu, theta=theta)
    mean, divergence = enumerated(tree, grown, held, lam, mu, theta)
    assert bound.errors == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert bound.complexity == pytest.approx(divergence, rel=1e-8, abs=1e-9)
    assert bound.complexity >= 0
    n = int(held.total[0])
    if 0 < bound.value < 1 - 1e-9:
        q = bound.errors / n
        kl = special.rel_entr(q, bound.value) + special.rel_entr(1 - q, 1 - bound.value)
        assert n * kl == pytest.approx(divergence + math.log(2 * math.sqrt(n) / 0.05), rel=1e-6)


@given(trees_with_counts(("grow", "prune"), max_internal=4))
def test_theta_0_is_the_prior_and_costs_nothing(case):
    tree, grown, held = case
    if held.total[0] < 8:
        return
    bound = pac_bayes(tree, grown, held, lam=0.2, mu=0.5, theta=0)
    assert bound.complexity == pytest.approx(0, abs=1e-12)
    assert bound.errors == pytest.approx(enumerated(tree, grown, held, 0.2, 0.5, 0)[0])


def test_the_search_finds_the_best_theta():
    found = pac_bayes(TREE, GROWN, HELD, lam=0.1, mu=0.5)
    grid = pac_bayes(TREE, GROWN, HELD, lam=0.1, mu=0.5, theta=np.linspace(0, 3, 301))
    assert found.value <= grid.value * (1 + 1e-3)


def test_every_pair_of_the_grid_is_paid_for():
    pairs = [(a, b) for a in (0.1, 0.3) for b in (0, 1)]
    single = [pac_bayes(TREE, GROWN, HELD, lam=a, mu=b, theta=0.5) for a, b in pairs]
    grid = pac_bayes(TREE, GROWN, HELD, lam=[0.1, 0.3], mu=[0, 1], theta=0.5)
    assert grid.complexity - math.log(4) in [pytest.approx(b.complexity) for b in single]
    assert grid.value > min(b.value for b in single)


def test_one_pruning_is_looser_than_occam_with_the_same_prior():
    pruning = Pruning.from_cuts(TREE, [1], node_labels=GROWN.majority)
    here = pac_bayes(TREE, GROWN, HELD, pruning=pruning)
    there = occam(TREE, GROWN, HELD, prior="informed", pruning=pruning)
    assert here.errors == there.errors
    assert here.complexity == pytest.approx(there.complexity)
    assert here.value > there.value
    assert here.predictor == ""


def test_a_mean_that_is_rounded_above_all_rows_is_all_rows():
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    grown = Counts.from_leaves(tree, [[1, 0], [1, 0], [3, 0], [0, 0]])
    held = Counts.from_leaves(tree, [[0, 1], [0, 3], [0, 4], [0, 3]], sample="prune")
    bound = pac_bayes(tree, grown, held)  # the mean of 11, 11, ... came out as 11.000000000000002
    assert (bound.errors, bound.n, bound.value) == (11, 11, 1)


@given(trees(max_internal=6), st.data())
def test_a_mixture_of_prunings_that_are_all_wrong_has_the_limit_one(tree, data):
    leaves = data.draw(st.lists(st.integers(0, 9), min_size=tree.n_leaves, max_size=tree.n_leaves))
    grown = data.draw(st.lists(st.integers(0, 3), min_size=tree.n_leaves, max_size=tree.n_leaves))
    if sum(leaves) < 8:
        return
    theta = data.draw(st.one_of(st.none(), st.floats(0, 5)))
    bound = pac_bayes(
        tree,
        Counts.from_leaves(tree, [[g, 0] for g in grown]),
        Counts.from_leaves(tree, [[0, h] for h in leaves], sample="prune"),
        lam=data.draw(st.floats(0, 1)),
        mu=data.draw(st.floats(0, 3)),
        theta=theta,
    )
    assert bound.errors == pytest.approx(sum(leaves), rel=1e-12)
    assert bound.errors <= bound.n
    assert bound.value == pytest.approx(1, rel=1e-12)


def test_the_sentence_says_that_the_prediction_is_random():
    bound = pac_bayes(TREE, GROWN, HELD)
    assert "drawn at random" in str(bound)
    assert bound.details["vote"] == min(1, 2 * bound.value)


def test_misuse_is_refused_with_the_reason():
    few = Counts.from_leaves(TREE, [[2, 1], [1, 1], [0, 2]], sample="prune")
    with pytest.raises(CountsError, match="at least 8"):
        pac_bayes(TREE, GROWN, few)
    with pytest.raises(LeakageError, match="grew the tree"):
        pac_bayes(TREE, GROWN, GROWN)
    with pytest.raises(UnsupportedError, match="weight"):
        pac_bayes(TREE, GROWN, Counts(TREE, HELD.by_class * 0.5, "prune"))
    for theta in (-1, math.nan, []):
        with pytest.raises(ParameterError, match="theta"):
            pac_bayes(TREE, GROWN, HELD, theta=theta)
    with pytest.raises(ParameterError, match="delta"):
        pac_bayes(TREE, GROWN, HELD, delta=1)


def test_the_bound_can_be_recomputed_from_its_details():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[50, 0], [0, 50]])
    held = Counts.from_leaves(tree, [[90, 10], [10, 90]], sample="prune")
    mixture = pac_bayes(tree, grown, held)
    assert mixture.value == pytest.approx(kl_upper(mixture.errors, 200, mixture.details["log_delta"]))
    assert mixture.details["vote"] == pytest.approx(2 * mixture.value)
    one = pac_bayes(tree, grown, held, pruning=Pruning.from_cuts(tree, [], node_labels=grown.majority))
    assert (one.errors, type(one.errors), type(mixture.errors), one.predictor) == (20, int, float, "")
    assert one.method.endswith("one pruning")
    assert mixture.method.endswith("mixture of all prunings")
    assert one.value == pytest.approx(kl_upper(20, 200, one.details["log_delta"]))
    few = Counts.from_leaves(tree, [[2, 2], [2, 2]], sample="prune")
    assert pac_bayes(tree, grown, few).details["vote"] == 1
