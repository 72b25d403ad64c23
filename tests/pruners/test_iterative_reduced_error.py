import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings, children_of
from secateur import Counts, Tree
from secateur.core.counts import leaf_labels
from secateur.errors import CountsError, ParameterError
from secateur.pruners import iterative_reduced_error, reduced_error
from strategies import trees_with_counts

pytestmark = pytest.mark.lane

VARIANTS = list(itertools.product(("grow", "prune", "both"), ("fixed", "relabel"), ("raises", "no-gain")))
SAMPLES = ("grow", "prune")


def hill_climb(parent, cost, stop):
    """Leaves that remain when the best cut is looked for anew each time."""
    children = children_of(parent)
    is_cut = set()

    def leaves_of(v):
        return [v] if v in is_cut or not children[v] else [u for c in children[v] for u in leaves_of(c)]

    def kept(v):
        return [] if v in is_cut or not children[v] else [v] + [u for c in children[v] for u in kept(c)]

    while True:
        candidates = []
        for v in kept(0):
            leaves = leaves_of(v)
            candidates.append((sum(cost[u] for u in leaves) - cost[v], len(leaves), -v))
        if not candidates or max(candidates)[0] < (1 if stop == "no-gain" else 0):
            return sorted(leaves_of(0))
        is_cut.add(-max(candidates)[2])


@given(variant=st.sampled_from(VARIANTS), case=trees_with_counts(SAMPLES, max_internal=8))
def test_every_cut_is_the_one_a_naive_search_finds(variant, case):
    tree, grown, holdout = case
    labels, original, stop = variant
    cost = holdout.errors_if_leaf(leaf_labels(grown, holdout, labels, original)).tolist()

    pruning = iterative_reduced_error(tree, grown, holdout, labels=labels, original=original, stop=stop)

    assert pruning.leaves.tolist() == hill_climb(tree.parent.tolist(), cost, stop)


@pytest.mark.parametrize("stop", ["raises", "no-gain"])
@pytest.mark.parametrize("deep", [0.0, 0.95])
def test_larger_trees_are_climbed_like_small_ones(deep, stop):
    rng = np.random.default_rng(5)
    parent, leaves = [-1], [0]
    for _ in range(120):
        v = leaves.pop(-1 if rng.random() < deep else int(rng.integers(len(leaves))))
        arity = int(rng.integers(2, 4))
        leaves.extend(range(len(parent), len(parent) + arity))
        parent.extend([v] * arity)
    tree = Tree.from_parents(parent)
    grown, holdout = (Counts.from_leaves(tree, rng.integers(0, 4, (tree.n_leaves, 3)), sample=s) for s in SAMPLES)
    cost = holdout.errors_if_leaf(grown.majority).tolist()

    pruning = iterative_reduced_error(tree, grown, holdout, stop=stop)

    assert pruning.leaves.tolist() == hill_climb(tree.parent.tolist(), cost, stop)


# [[(2,0|0,1) (0,1|2,0)] [(0,3|0,0) (1,0|0,2)]]
FOUR_LEAVES = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
GROWN = Counts.from_leaves(FOUR_LEAVES, [[2, 0], [0, 1], [0, 3], [1, 0]])
HELD_OUT = Counts.from_leaves(FOUR_LEAVES, [[0, 1], [2, 0], [0, 0], [0, 2]], sample="prune")


@pytest.mark.parametrize("labels", ["grow", "prune", "both"])
def test_the_counterrow_takes_the_root_first_and_ends_worse_than_reduced_error(labels):
    iterative = iterative_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, labels=labels)
    optimal = reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, labels=labels)
    errors = HELD_OUT.errors_if_leaf(leaf_labels(GROWN, HELD_OUT, labels))
    full = errors[FOUR_LEAVES.is_leaf]

    gains = [full[:2].sum() - errors[1], full[2:].sum() - errors[4], full.sum() - errors[0]]
    assert gains == [2, 2, 3]
    assert (iterative.errors(HELD_OUT), iterative.n_leaves) == (2, 1)
    assert (optimal.errors(HELD_OUT), optimal.n_leaves) == (1, 2)


def test_stopping_without_gain_leaves_what_reduced_error_would_cut():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [1, 0]])
    holdout = Counts.from_leaves(tree, [[1, 0], [2, 0]], sample="prune")

    assert iterative_reduced_error(tree, grown, holdout, stop="no-gain").n_leaves == 2
    assert iterative_reduced_error(tree, grown, holdout, stop="raises").n_leaves == 1


@given(case=trees_with_counts(SAMPLES))
def test_with_all_leaves_labelled_by_the_held_out_sample_it_is_optimal(case):
    tree, _, holdout = case
    cost = [sum(row) - max(row) for row in holdout.by_class.tolist()]
    best = min(sum(cost[v] for v in leaves) for leaves in all_prunings(tree))

    pruning = iterative_reduced_error(*case, labels="prune", original="relabel")

    assert pruning.errors(holdout) == best


@given(case=trees_with_counts(SAMPLES))
def test_reduced_error_is_never_worse(case):
    _, _, holdout = case

    assert reduced_error(*case).errors(holdout) <= iterative_reduced_error(*case).errors(holdout)


@given(case=trees_with_counts(SAMPLES, max_internal=7))
def test_weights_give_the_cuts_of_the_whole_counts(case):
    tree, grown, holdout = case
    weighted = Counts.from_leaves(tree, holdout.by_class[tree.is_leaf] * 0.1, sample="prune")

    assert iterative_reduced_error(tree, grown, weighted) == iterative_reduced_error(tree, grown, holdout)


def test_the_result_records_the_samples_that_it_used():
    pruning = iterative_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, stop="no-gain")

    assert pruning.seen == {"grow", "prune"}
    assert "stop=no-gain" in pruning.rule


def test_an_unknown_end_is_refused():
    with pytest.raises(ParameterError, match="never"):
        iterative_reduced_error(FOUR_LEAVES, GROWN, HELD_OUT, stop="never")


def test_counts_of_another_tree_are_refused():
    other = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 1]], sample="elsewhere")

    with pytest.raises(CountsError, match="elsewhere"):
        iterative_reduced_error(FOUR_LEAVES, GROWN, other)


def test_weights_count_as_equal_to_a_part_of_the_total_weight():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    for total, n_leaves in ((1e6, 1), (1.0, 2)):
        holdout = Counts.from_leaves(tree, [[total, 0.3], [0.2, 0.2 + 1e-10]], sample="prune")
        assert iterative_reduced_error(tree, grown, holdout).n_leaves == n_leaves
