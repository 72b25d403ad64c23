"""Occam bounds: priors against enumeration, tails in order, misuse refused."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from oracles import all_prunings, keep_vector
from secateur import Counts, Pruning, PruningSequence, Tree
from secateur.certifiers import binomial_upper, occam
from secateur.errors import LeakageError, ParameterError, UnsupportedError
from secateur.statistics.priors import log_normaliser, prior_grid
from strategies import trees_with_counts

TREE = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
GROWN = Counts.from_leaves(TREE, [[2, 1], [0, 2], [2, 0], [0, 1]])
HELD = Counts.from_leaves(TREE, [[10, 20], [20, 0], [0, 10], [0, 20]], sample="prune")
PRIORS = ("uniform", "within-k", "size", "informed", "branching")


def perfect(depth):
    return Tree.from_parents([-1, *((i - 1) // 2 for i in range(1, 2 ** (depth + 1) - 1))])


def pruning_of(tree, leaves, labels):
    cuts = [v for v in leaves if not tree.is_leaf[v]]
    return Pruning.from_cuts(tree, cuts, node_labels=labels, seen={"grow", "prune"})


@given(trees_with_counts(("grow", "prune"), max_internal=4), st.sampled_from(PRIORS))
def test_the_weights_of_all_prunings_add_up_to_at_most_one(case, prior):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    errors = grown.errors_if_leaf(grown.majority)
    k = int(errors[0]) // 2 + int(errors[tree.is_leaf].sum()) // 2 + 1
    total, sizes = 0.0, set()
    for leaves in all_prunings(tree):
        if prior == "within-k" and sum(errors[v] for v in leaves) > k:
            continue
        bound = occam(
            tree, grown, held, prior=prior, k=k, lam=0.2, mu=0.5, pruning=pruning_of(tree, leaves, grown.majority)
        )
        total += math.exp(-bound.complexity)
        sizes.add(len(leaves))
    expected = len(sizes) / tree.n_leaves if prior == "size" else 1
    assert total == pytest.approx(expected, rel=1e-9)


@given(trees_with_counts(("grow", "prune"), max_internal=3, max_arity=2), st.sampled_from(PRIORS), st.booleans())
def test_with_labels_paid_for_the_weights_of_labelled_prunings_add_up_to_at_most_one(case, prior, relabel):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    total = 0.0
    for leaves in all_prunings(tree):
        free = [v for v in sorted(leaves) if relabel or not tree.is_leaf[v]]
        for chosen in product(range(grown.n_classes), repeat=len(free)):
            labels = grown.majority.copy()
            labels[free] = chosen
            bound = occam(
                tree,
                grown,
                held,
                prior=prior,
                k=int(grown.errors_if_leaf(grown.majority)[0]),
                lam=0.3,
                mu=1,
                labels="prune",
                original="relabel" if relabel else "fixed",
                pruning=pruning_of(tree, leaves, labels),
            )
            total += math.exp(-bound.complexity)
    assert total <= 1 + 1e-9
    if prior != "size":
        assert total == pytest.approx(1, rel=1e-9)


@given(trees_with_counts(("grow", "prune"), max_internal=4), st.floats(0, 2), st.floats(0, 3))
def test_the_informed_prior_is_that_of_the_list(case, lam, mu):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    errors = grown.errors_if_leaf(grown.majority)

    def weight(leaves):
        return math.exp(-lam * sum(errors[v] for v in leaves) - mu * len(leaves))

    total = sum(weight(leaves) for leaves in all_prunings(tree))
    assert log_normaliser(tree, errors, lam, mu) == pytest.approx(math.log(total), rel=1e-10, abs=1e-10)
    for leaves in list(all_prunings(tree))[:5]:
        bound = occam(
            tree, grown, held, prior="informed", lam=lam, mu=mu, pruning=pruning_of(tree, leaves, grown.majority)
        )
        assert bound.complexity == pytest.approx(-math.log(weight(leaves) / total), rel=1e-9, abs=1e-9)


def test_a_grid_takes_the_best_pair_and_pays_for_all():
    lams, mus = [0.1, 0.5], [0.0, 1.0, 2.0]
    pruning = pruning_of(TREE, {1, 4}, GROWN.majority)
    single = [occam(TREE, GROWN, HELD, prior="informed", lam=lam, mu=mu, pruning=pruning) for lam in lams for mu in mus]
    best = min(single, key=lambda bound: bound.complexity)
    grid = occam(TREE, GROWN, HELD, prior="informed", lam=lams, mu=mus, pruning=pruning)
    assert grid.complexity == pytest.approx(best.complexity + math.log(6))
    assert (grid.details["lam"], grid.details["mu"]) == (best.details["lam"], best.details["mu"])


@given(trees_with_counts(("grow", "prune"), max_internal=4), st.sampled_from(PRIORS))
def test_exact_is_at_most_kl_and_kl_at_most_chernoff(case, prior):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    k = int(grown.errors_if_leaf(grown.majority)[0])
    exact, kl, chernoff = (
        occam(tree, grown, held, prior=prior, k=k, tail=tail).value for tail in ("exact", "kl", "chernoff")
    )
    assert exact <= kl * (1 + 1e-12) <= chernoff * (1 + 1e-11)


def test_the_bound_can_be_checked_from_what_it_carries():
    for prior in PRIORS:
        bound = occam(TREE, GROWN, HELD, prior=prior, k=3)
        assert bound.value == binomial_upper(bound.errors, bound.n, bound.details["log_delta"])
        assert bound.details["log_delta"] == pytest.approx(math.log(0.05) - bound.complexity)
        assert bound.value == pytest.approx(
            special.betainccinv(bound.errors + 1, bound.n - bound.errors, 0.05 * math.exp(-bound.complexity))
        )


def test_without_a_pruning_the_fewest_held_out_errors_are_certified():
    errors = HELD.errors_if_leaf(GROWN.majority)
    fewest = min(sum(errors[v] for v in leaves) for leaves in all_prunings(TREE))
    assert occam(TREE, GROWN, HELD).errors == fewest
    # within k = 1 only the full tree remains
    assert occam(TREE, GROWN, HELD, prior="within-k", k=1).errors == sum(errors[v] for v in TREE.leaves)


def test_branching_pays_a_bit_for_each_node_that_could_have_been_cut():
    for leaves in all_prunings(TREE):
        n_cuts = sum(not TREE.is_leaf[v] for v in leaves)
        bits = n_cuts + sum(keep_vector(TREE, leaves))
        bound = occam(TREE, GROWN, HELD, prior="branching", pruning=pruning_of(TREE, leaves, GROWN.majority))
        assert bound.complexity == pytest.approx(bits * math.log(2))


def test_the_printed_quarter_bit_is_named_as_not_a_guarantee():
    for depth in range(1, 6):
        tree = perfect(depth)
        grown = Counts.from_leaves(tree, [[3, 0]] * tree.n_leaves)
        held = Counts.from_leaves(tree, [[30, 1]] * tree.n_leaves, sample="prune")
        printed, uniform = occam(tree, grown, held, prior="printed"), occam(tree, grown, held)
        assert printed.complexity == pytest.approx(tree.n_nodes / 4 * math.log(2))
        assert printed.value < uniform.value  # too small, by as much as the count says
        assert not printed.certified
        assert "quarter bit" in printed.reason
        assert str(printed).startswith("Not a guarantee")
        assert uniform.certified


def test_on_a_chain_the_quarter_bit_is_dearer_than_the_count_and_still_not_a_guarantee():
    parent = [-1]
    for i in range(50):
        parent += [2 * i, 2 * i]
    tree = Tree.from_parents(parent)
    grown = Counts.from_leaves(tree, [[3, 0]] * tree.n_leaves)
    held = Counts.from_leaves(tree, [[5, 1]] * tree.n_leaves, sample="prune")
    printed = occam(tree, grown, held, prior="printed")
    assert not printed.certified
    assert "5.67 bits" in printed.reason
    assert printed.details["bits"] == 25.25


@given(trees_with_counts(("grow", "prune"), max_internal=4), st.sampled_from(PRIORS))
def test_a_sequence_gets_the_bounds_of_its_members(case, prior):
    tree, grown, held = case
    if held.total[0] == 0:
        return
    deepest = int(tree.depth.max())
    steps = np.where(tree.is_leaf, 0, deepest - tree.depth)
    blank = PruningSequence(tree, np.zeros(deepest + 1), np.zeros(deepest + 1), steps=steps)
    sequence = PruningSequence(
        tree, blank.costs_on(np.ones(tree.n_nodes, int)), np.zeros(deepest + 1), steps=steps, node_labels=grown.majority
    )
    k = int(grown.errors_if_leaf(grown.majority)[0])
    together = occam(tree, grown, held, prior=prior, k=k, pruning=sequence)
    for member, bound in zip(sequence, together, strict=True):
        alone = occam(tree, grown, held, prior=prior, k=k, pruning=member)
        assert bound.value == pytest.approx(alone.value, rel=1e-9)
        assert bound.errors == alone.errors


def test_a_prior_of_1e_minus_5000_is_a_number_like_any_other():
    tree = perfect(15)
    grown = Counts.from_leaves(tree, [[2, 0]] * tree.n_leaves)
    held = Counts.from_leaves(tree, [[10, 1]] * tree.n_leaves, sample="prune")
    bound = occam(tree, grown, held, delta=1e-300)
    assert bound.complexity > 5000 * math.log(10)
    # A binomial tail lies between exp(-n kl) / sqrt(8 n) and exp(-n kl).
    paid = bound.complexity + 300 * math.log(10)
    spent = bound.n * (special.rel_entr(1 / 11, bound.value) + special.rel_entr(10 / 11, 1 - bound.value))
    assert paid - 0.5 * math.log(8 * bound.n) < spent < paid


def test_a_tree_of_one_leaf_pays_nothing():
    tree = Tree.from_parents([-1])
    grown, held = Counts.from_leaves(tree, [[3, 1]]), Counts.from_leaves(tree, [[30, 10]], sample="prune")
    for prior in PRIORS:
        bound = occam(tree, grown, held, prior=prior, k=1, lam=0.3, mu=1)
        assert bound.complexity == pytest.approx(0)
        assert bound.value == binomial_upper(10, 40, math.log(0.05))


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan, None])
def test_delta_outside_its_range_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        occam(TREE, GROWN, HELD, delta=delta)


def test_misuse_is_refused_with_the_reason():
    with pytest.raises(ParameterError, match="prior='other'"):
        occam(TREE, GROWN, HELD, prior="other")
    with pytest.raises(ParameterError, match="tail='other'"):
        occam(TREE, GROWN, HELD, tail="other")
    with pytest.raises(ParameterError, match="k is None"):
        occam(TREE, GROWN, HELD, prior="within-k")
    for k in (1.5, True, "3"):
        with pytest.raises(ParameterError, match=r"a whole number of growing errors"):
            occam(TREE, GROWN, HELD, prior="within-k", k=k)
    with pytest.raises(ParameterError, match="more than k=2"):
        occam(TREE, GROWN, HELD, prior="within-k", k=2, pruning=pruning_of(TREE, {0}, GROWN.majority))
    with pytest.raises(ParameterError, match="lam"):
        occam(TREE, GROWN, HELD, prior="informed", lam=[-1])
    with pytest.raises(ParameterError, match="mu"):
        prior_grid(0.1, [])
    with pytest.raises(LeakageError, match="grew the tree"):
        occam(TREE, GROWN, Counts(TREE, HELD.by_class, "grow"))
    with pytest.raises(UnsupportedError, match="weight"):
        occam(TREE, GROWN, Counts(TREE, HELD.by_class * 1.0, "prune"))
    chosen_labels = Pruning.from_cuts(TREE, [0], node_labels=1 - GROWN.majority)
    with pytest.raises(LeakageError, match="pays for the choice"):
        occam(TREE, GROWN, HELD, pruning=chosen_labels)


def test_the_price_of_a_size_does_not_depend_on_the_other_sizes():
    tree = Tree.from_parents([-1, 0, 1, 2, 3, 4, 4, 3, 2, 1, 0])
    grown = Counts.from_leaves(tree, [[i + 1, 6 - i] for i in range(6)])
    held = Counts.from_leaves(tree, [[20, 30 - i] for i in range(6)], sample="prune")
    sequence = PruningSequence(
        tree, [6, 5, 4, 3, 2, 1], [0] * 6, steps=[5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0], node_labels=grown.majority
    )
    together = occam(tree, grown, held, prior="size", pruning=sequence)
    alone = [occam(tree, grown, held, prior="size", pruning=pruning) for pruning in sequence]
    assert [bound.complexity for bound in together] == pytest.approx([bound.complexity for bound in alone])
    assert together[0].complexity == pytest.approx(math.log(6))  # one pruning of the largest of six sizes


def test_the_printed_prior_says_how_many_bits_it_has_and_needs():
    bound = occam(TREE, GROWN, HELD, prior="printed")
    assert "a quarter bit per node is 1.75 bits" in bound.reason
    assert "takes 2.32" in bound.reason  # log2 of 5 prunings


def test_the_only_pruning_of_a_leaf_costs_nothing():
    leaf = Tree.from_parents([-1])
    grown, held = (Counts.from_leaves(leaf, [[30, 10]], sample=sample) for sample in ("grow", "prune"))
    assert occam(leaf, grown, held, prior="informed", lam=0.1, mu=0.1).complexity == pytest.approx(0, abs=1e-9)


def test_the_details_name_the_pair_with_the_lowest_price():
    sequence = PruningSequence(TREE, [4, 1], [0, 4], steps=[1, 1, 0, 0, 1, 0, 0], node_labels=GROWN.majority)
    grid = {"lam": [0.01, 5.0], "mu": [0.01, 0.5, 5.0]}
    for bound, pruning in zip(
        occam(TREE, GROWN, HELD, prior="informed", pruning=sequence, **grid), sequence, strict=True
    ):
        pair = {name: bound.details[name] for name in ("lam", "mu")}
        alone = occam(TREE, GROWN, HELD, prior="informed", pruning=pruning, **pair)
        assert bound.complexity == pytest.approx(alone.complexity + math.log(6))
