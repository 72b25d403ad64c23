"""Critical value pruning: one threshold on the scores of the tests, or all of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import children_of
from secateur import Counts, Tree
from secateur.errors import CountsError, ParameterError
from secateur.pruners._critical_value import critical_value
from strategies import trees, trees_with_counts

pytestmark = pytest.mark.lane


@st.composite
def trees_with_scores(draw, low=-2, high=4):
    tree = draw(trees(max_internal=6))
    scores = draw(st.lists(st.integers(low, high), min_size=tree.n_nodes, max_size=tree.n_nodes))
    return tree, np.array(scores) / 4


def by_definition(tree, scores, threshold):
    """Cut a node when its score and those of all tests below it are under the threshold."""
    children = children_of(tree.parent.tolist())

    def all_below(v):
        return not children[v] or (scores[v] < threshold and all(all_below(c) for c in children[v]))

    def walk(v):
        return [v] if all_below(v) else [leaf for c in children[v] for leaf in walk(c)]

    return walk(0)


THRESHOLDS = [-9.0, -0.5, -0.3, 0.0, 0.1, 0.25, 0.5, np.nextafter(0.5, 1), 0.75, 1.0, 9.0, np.inf]


@given(trees_with_scores(), st.sampled_from(THRESHOLDS))
def test_a_threshold_follows_its_definition(case, threshold):
    tree, scores = case

    pruning = critical_value(tree, threshold=threshold, scores=scores)

    assert pruning.leaves.tolist() == by_definition(tree, scores, threshold)


@given(trees_with_scores(low=0), st.sampled_from([x for x in THRESHOLDS if x >= 0]))
def test_the_family_answers_every_threshold(case, threshold):
    tree, scores = case

    member = critical_value(tree, scores=scores).at(threshold)

    assert member.leaves.tolist() == by_definition(tree, scores, threshold)


@given(trees_with_scores())
def test_the_family_answers_from_the_lowest_score_on(case):
    tree, scores = case
    family = critical_value(tree, scores=scores)

    for threshold in [family.alphas[0], *scores[scores > family.alphas[0]]]:
        assert family.at(threshold).leaves.tolist() == by_definition(tree, scores, threshold)


@given(trees_with_scores())
def test_the_family_is_nested_from_the_whole_tree_to_the_root_without_repeats(case):
    tree, scores = case
    members = list(critical_value(tree, scores=scores))

    assert members[0].n_leaves == tree.n_leaves
    assert members[-1].n_leaves == 1
    assert all(small <= large and small.n_leaves < large.n_leaves for large, small in pairwise(members))


@given(trees_with_counts(samples=("grow", "prune")), st.randoms(use_true_random=False))
def test_the_family_knows_the_leaves_and_errors_of_its_members(case, random):
    tree, grown, held_out = case
    family = critical_value(tree, grown, scores=[random.randint(0, 3) for _ in range(tree.n_nodes)])

    assert family.n_leaves.tolist() == [member.n_leaves for member in family]
    assert family.errors.tolist() == [member.errors(grown) for member in family]
    assert family.errors_on(held_out).tolist() == [member.errors(held_out) for member in family]


def test_the_scores_of_the_tree_are_the_default():
    tree = Tree([-1, 0, 1, 1, 0], score=[0.3, 0.1, np.nan, np.nan, np.nan])

    assert critical_value(tree, threshold=0.2).cuts.tolist() == [1]


def test_a_test_with_a_low_score_stays_above_one_with_a_high_score():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])

    assert critical_value(tree, threshold=0.2, scores=[0.1, 0.3, 0, 0, 0]).cuts.tolist() == []


def test_equality_keeps():
    tree = Tree.from_parents([-1, 0, 0])

    assert critical_value(tree, threshold=0.2, scores=[0.2, 0, 0]).n_leaves == 2


def test_counts_give_the_leaves_their_classes():
    tree = Tree.from_parents([-1, 0, 0])
    counts = Counts.from_leaves(tree, [[0, 2], [3, 0]], sample="mine")

    pruning = critical_value(tree, counts, threshold=0.2, scores=[1, 0, 0])

    assert pruning.labels.tolist() == [-1, 1, 0]
    assert pruning.seen == {"mine"}


def test_without_counts_the_errors_are_unknown():
    family = critical_value(Tree.from_parents([-1, 0, 0]), scores=[1, 0, 0])

    assert np.isnan(family.errors).all()


def test_a_single_leaf_is_left_alone():
    tree = Tree.from_parents([-1])

    assert critical_value(tree, threshold=1).cuts.tolist() == []
    assert [member.n_leaves for member in critical_value(tree)] == [1]


def test_a_chain_of_depth_100_000_passes():
    depth = 100_000
    parent = np.repeat(np.arange(-2, 2 * depth, 2), 2)[1:]
    parent[0] = -1
    tree = Tree.from_parents(parent)
    # Pre-order puts the leaf of every test first: tests are the even ids, scores fall with depth.
    family = critical_value(tree, scores=np.arange(tree.n_nodes)[::-1])

    assert len(family) == depth + 1
    assert family.n_leaves.tolist() == list(range(depth + 1, 0, -1))


def test_a_missing_score_names_the_node():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])

    with pytest.raises(ParameterError, match=r"tree\.score of node 0 is nan"):
        critical_value(tree, threshold=0.2)
    with pytest.raises(ParameterError, match="scores of node 1 is inf"):
        critical_value(tree, scores=[1, np.inf, 0, 0, 0])


def test_scores_of_the_wrong_shape_are_refused():
    with pytest.raises(ParameterError, match="shape"):
        critical_value(Tree.from_parents([-1, 0, 0]), scores=[1, 2])


def test_a_threshold_that_is_no_number_is_refused():
    with pytest.raises(ParameterError, match="threshold=nan"):
        critical_value(Tree.from_parents([-1, 0, 0]), scores=[1, 2, 3], threshold=np.nan)


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0])

    with pytest.raises(CountsError, match="another tree"):
        critical_value(Tree.from_parents([-1]), Counts.from_leaves(other, [[1, 0], [0, 1]]))
