import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import all_prunings
from secateur import Counts, Pruning, Tree
from secateur.errors import CountsError, ParameterError, PruningError
from secateur.pruners import merge_equal_leaves
from strategies import trees_with_counts

pytestmark = pytest.mark.lane

TREE = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])


def predictions(pruning):
    """The class that each original leaf of the tree is given."""
    classes = []
    for leaf in pruning.tree.leaves.tolist():
        v = leaf
        while not pruning.is_leaf[v]:
            v = int(pruning.tree.parent[v])
        classes.append(int(pruning.labels[v]))
    return classes


def smallest_that_agrees(tree, expected):
    """Fewest leaves of a pruning whose leaves, labelled freely, give `expected` to the original leaves."""
    leaves = tree.leaves.tolist()

    def can_agree(pruned_leaves):
        return all(
            len({c for leaf, c in zip(leaves, expected, strict=True) if v <= leaf < tree.end[v]}) == 1
            for v in pruned_leaves
        )

    return min(len(pruned_leaves) for pruned_leaves in all_prunings(tree) if can_agree(pruned_leaves))


@given(case=trees_with_counts(max_internal=6))
def test_no_prediction_changes_and_no_smaller_pruning_predicts_the_same(case):
    tree, grown = case
    before = grown.majority[tree.is_leaf].tolist()

    merged = merge_equal_leaves(tree, grown)

    assert predictions(merged) == before
    assert merged.n_leaves == smallest_that_agrees(tree, before)


@given(case=trees_with_counts(max_internal=6), data=st.data())
def test_given_labels_are_kept_whatever_the_counts_say(case, data):
    tree, grown = case
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=tree.n_nodes, max_size=tree.n_nodes)))

    merged = merge_equal_leaves(tree, grown, labels=labels)

    assert predictions(merged) == labels[tree.is_leaf].tolist()


@given(case=trees_with_counts(max_internal=6), data=st.data())
def test_a_pruning_is_cut_further_and_predicts_what_it_did(case, data):
    tree, grown = case
    leaves = data.draw(st.sampled_from(sorted(map(sorted, all_prunings(tree)))))
    labels = data.draw(st.lists(st.integers(0, 1), min_size=tree.n_nodes, max_size=tree.n_nodes))
    start = Pruning.from_cuts(tree, leaves, node_labels=labels, seen={"prune"}, rule="by hand")

    merged = merge_equal_leaves(tree, grown, pruning=start)

    assert merged <= start
    assert predictions(merged) == predictions(start)
    assert merge_equal_leaves(tree, grown, pruning=merged) == merged
    assert merged.seen == {"grow", "prune"}
    assert merged.rule == "by hand, equal-predictions"


def test_merging_repeats_upwards():
    grown = Counts.from_leaves(TREE, [[3, 1], [2, 1], [1, 0], [4, 0]])

    assert merge_equal_leaves(TREE, grown).cuts.tolist() == [0]


def test_equal_leaves_of_different_parents_stay_apart():
    grown = Counts.from_leaves(TREE, [[3, 1], [0, 2], [3, 1], [0, 2]])

    assert merge_equal_leaves(TREE, grown).n_leaves == 4


def test_without_counts_the_labels_decide():
    assert merge_equal_leaves(TREE, None, labels=[0, 0, 1, 1, 0, 1, 0]).cuts.tolist() == [1]


def test_a_pruning_made_from_costs_takes_the_majority():
    grown = Counts.from_leaves(TREE, [[3, 1], [2, 1], [0, 1], [4, 0]])

    assert merge_equal_leaves(TREE, grown, pruning=Pruning.from_cuts(TREE, [])).cuts.tolist() == [1]


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({}, CountsError, "grown is None"),
        ({"pruning": Pruning.from_cuts(TREE, [])}, CountsError, "neither labels nor"),
        ({"labels": [0, 1]}, ParameterError, "shape"),
        ({"labels": np.full(7, -1)}, ParameterError, "class number"),
        ({"labels": np.zeros(7)}, ParameterError, "float64"),
        ({"pruning": Pruning.from_cuts(Tree.from_parents([-1, 0, 0]), [])}, PruningError, "another tree"),
    ],
)
def test_what_does_not_fit_is_refused(parameters, error, words):
    with pytest.raises(error, match=words):
        merge_equal_leaves(TREE, None, **parameters)
