"""certify: dispatch, and a best that pays for trying."""

import math

import pytest

from secateur import Counts, Pruning, PruningSequence, Tree
from secateur.certifiers import METHODS_FOR_CLASSES, certify, freshness, occam, pac_bayes, path, rademacher, test_sample
from secateur.errors import LeakageError, ParameterError, UnsupportedError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
GROWN = Counts.from_leaves(TREE, [[20, 1], [2, 9], [0, 30]])
HELD = Counts.from_leaves(TREE, [[40, 5], [20, 10], [6, 50]], sample="prune")
FRESH = Pruning.from_cuts(TREE, [1], node_labels=GROWN.majority, seen={"grow"})
CHOSEN = Pruning.from_cuts(TREE, [1], node_labels=GROWN.majority, seen={"grow", "prune"})
SEQUENCE = PruningSequence(
    TREE, [3, 2, 1], [3, 10, 22], steps=[2, 1, 0, 0, 0], node_labels=GROWN.majority, seen={"grow"}
)
SEEN_SEQUENCE = PruningSequence(
    TREE, [3, 2, 1], [3, 10, 22], steps=[2, 1, 0, 0, 0], node_labels=GROWN.majority, seen={"grow", "prune"}
)


def test_each_method_is_the_function_of_its_name():
    assert certify(FRESH, HELD, method="test-sample", delta=0.1) == test_sample(FRESH, HELD, delta=0.1)
    assert certify(SEQUENCE, HELD, method="path", weights=[0.5, 0.3, 0.2]) == path(
        SEQUENCE, HELD, weights=[0.5, 0.3, 0.2]
    )
    assert certify(CHOSEN, HELD, method="occam", grown=GROWN, prior="size") == occam(
        TREE, GROWN, HELD, prior="size", pruning=CHOSEN
    )
    assert certify(CHOSEN, HELD, method="rademacher", grown=GROWN, rng=3) == rademacher(
        TREE, GROWN, HELD, rng=3, pruning=CHOSEN
    )
    assert certify(CHOSEN, HELD, method="pac-bayes", grown=GROWN) == pac_bayes(TREE, GROWN, HELD, pruning=CHOSEN)
    assert certify(SEQUENCE, HELD, method="occam", grown=GROWN) == occam(TREE, GROWN, HELD, pruning=SEQUENCE)


def test_the_best_for_a_fresh_sample_is_the_test_sample_at_full_delta():
    assert certify(FRESH, HELD, delta=0.1) == test_sample(FRESH, HELD, delta=0.1)


def test_the_best_for_a_seen_sample_splits_delta_among_what_it_tries():
    best = certify(CHOSEN, HELD, grown=GROWN, delta=0.09, rng=1)
    tried = [
        occam(TREE, GROWN, HELD, prior="informed", delta=0.03, pruning=CHOSEN),
        occam(TREE, GROWN, HELD, prior="uniform", delta=0.03, pruning=CHOSEN),
        rademacher(TREE, GROWN, HELD, draws=10, delta=0.03, rng=1, pruning=CHOSEN),
    ]
    assert best.value == pytest.approx(min(bound.value for bound in tried))
    assert best.delta == 0.09
    assert best.details["share_of_delta"] == pytest.approx(0.03)
    assert sorted(best.details["tried"].values()) == pytest.approx(sorted(bound.value for bound in tried))


def test_the_best_within_k_restricts_both_classes():
    best = certify(CHOSEN, HELD, grown=GROWN, k=12, rng=1)
    within = occam(TREE, GROWN, HELD, prior="within-k", k=12, delta=0.05 / 3, pruning=CHOSEN)
    assert within.value in best.details["tried"].values()


def test_the_best_for_a_sequence_is_the_path_and_with_growing_counts_also_occam():
    assert certify(SEQUENCE, HELD) == path(SEQUENCE, HELD)
    both = certify(SEQUENCE, HELD, grown=GROWN)
    alone = [
        path(SEQUENCE, HELD, delta=0.025),
        occam(TREE, GROWN, HELD, prior="informed", delta=0.025, pruning=SEQUENCE),
    ]
    assert [b.value for b in both] == [min(a.value, b.value) for a, b in zip(*alone, strict=True)]
    seen = certify(SEEN_SEQUENCE, HELD, grown=GROWN)
    assert [b.value for b in seen] == [
        b.value for b in occam(TREE, GROWN, HELD, prior="informed", pruning=SEEN_SEQUENCE)
    ]


def test_a_seen_sample_without_growing_counts_is_refused():
    with pytest.raises(LeakageError, match="pass grown="):
        certify(CHOSEN, HELD)
    with pytest.raises(LeakageError, match="pass grown="):
        certify(SEEN_SEQUENCE, HELD)
    with pytest.raises(LeakageError):
        certify(CHOSEN, HELD, method="test-sample")
    with pytest.raises(LeakageError):
        certify(SEEN_SEQUENCE, HELD, method="path")


def test_labels_chosen_on_the_sample_are_paid_for_or_refused():
    labels = GROWN.majority.copy()
    labels[1] = 1 - labels[1]
    chosen = Pruning.from_cuts(TREE, [1], node_labels=labels, seen={"grow", "prune"})
    with pytest.raises(LeakageError, match="labels='prune'"):
        certify(chosen, HELD, grown=GROWN)
    assert certify(chosen, HELD, grown=GROWN, labels="prune", rng=0).certified


@pytest.mark.parametrize("method", METHODS_FOR_CLASSES)
@pytest.mark.parametrize("delta", [0, 1, -1, math.inf, math.nan, "a", None])
def test_delta_outside_its_range_is_refused_by_every_method(method, delta):
    with pytest.raises(ParameterError, match="delta"):
        certify(FRESH, HELD, method=method, delta=delta, grown=GROWN)


def test_misuse_is_refused_with_a_remedy():
    with pytest.raises(ParameterError, match="method='other'"):
        certify(FRESH, HELD, method="other")
    with pytest.raises(ParameterError, match="for a sequence use 'path'"):
        certify(SEQUENCE, HELD, method="test-sample")
    with pytest.raises(ParameterError, match="pass the sequence"):
        certify(FRESH, HELD, method="path")
    with pytest.raises(ParameterError, match="needs grown="):
        certify(CHOSEN, HELD, method="occam")
    with pytest.raises(ParameterError, match="certifies one pruning"):
        certify(SEQUENCE, HELD, method="pac-bayes", grown=GROWN)
    with pytest.raises(ParameterError, match="has no parameter prior"):
        certify(CHOSEN, HELD, grown=GROWN, prior="size")
    with pytest.raises(UnsupportedError, match="takes a Pruning"):
        certify(TREE, HELD)


def test_the_path_pays_for_a_member_of_the_only_sequence_that_was_evaluated():
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    labels = [0, 0, 0, 1, 1, 0, 1]
    held = Counts.from_leaves(tree, [[9, 1], [2, 7], [6, 5], [1, 9]], sample="prune")
    first, second = (
        PruningSequence(tree, [4, 3, 1], [0, 1, 3], steps=steps, node_labels=labels, rule="a", seen={"grow"})
        for steps in ([2, 1, 0, 0, 2, 0, 0], [2, 2, 0, 0, 1, 0, 0])
    )
    first.errors_on(held)
    assert freshness(first[1], held).sequence is first
    assert freshness(second[1], held).sequence is None
    assert freshness([first[1]], held).sequence is None
    second.errors_on(held)
    assert freshness(first[1], held).sequence is None
    assert freshness(first[1], held).prior_evaluation


def test_a_label_that_growing_did_not_give_is_refused_whatever_its_number():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[9, 1], [2, 7]])
    held = Counts.from_leaves(tree, [[9, 1], [2, 7]], sample="prune")
    for labels in ([0, 0, 0], [0, 1, 1]):
        with pytest.raises(LeakageError, match="labels were not fixed"):
            occam(tree, grown, held, pruning=Pruning.from_cuts(tree, [], node_labels=labels))


def test_a_sequence_pays_only_for_itself_and_the_log_of_an_equal_tree_counts_too():
    tree, twin = (Tree.from_parents([-1, 0, 1, 1, 0, 4, 4]) for _ in range(2))
    labels = [0, 0, 0, 1, 1, 0, 1]
    held = Counts.from_leaves(twin, [[9, 1], [2, 7], [6, 5], [1, 9]], sample="prune")
    held = Counts(twin, held.by_class, "prune", n_rows=40)
    first, second = (
        PruningSequence(tree, [4, 3, 1], [0, 1, 3], steps=steps, node_labels=labels, rule="a", seen={"grow"})
        for steps in ([2, 1, 0, 0, 2, 0, 0], [2, 2, 0, 0, 1, 0, 0])
    )
    assert not freshness(first[1], held).prior_evaluation
    second.errors_on(held)
    assert freshness(first, held).prior_evaluation
    assert not freshness(second, held).prior_evaluation
    tree.evaluation_log.records.clear()
    held.errors_if_leaf(labels)
    assert freshness(first[1], held).prior_evaluation
