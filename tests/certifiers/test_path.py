"""Paths: exact, and only on samples that had no part in the making."""

import math

import numpy as np
import pytest
from scipy import special

from secateur import Bound, Counts, PruningSequence, Tree
from secateur.certifiers import cross_validation_weights, least_bound, path, test_sample
from secateur.errors import CountsError, LeakageError, ParameterError, UnsupportedError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
GROWN = Counts.from_leaves(TREE, [[20, 1], [2, 9], [0, 30]])
HELD = Counts.from_leaves(TREE, [[40, 5], [20, 10], [6, 50]], sample="prune")
LABELS = GROWN.majority
SEQUENCE = PruningSequence(TREE, [3, 2, 1], [3, 10, 22], steps=[2, 1, 0, 0, 0], node_labels=LABELS, seen={"grow"})


def beta_limit(errors, n, delta):
    return special.betainccinv(errors + 1, n - errors, delta)


def test_a_path_shares_delta_among_its_members():
    bounds = path(SEQUENCE, HELD, delta=0.1)
    assert [b.errors for b in bounds] == [SEQUENCE[i].errors(HELD) for i in range(3)]
    for i, bound in enumerate(bounds):
        assert bound.value == pytest.approx(beta_limit(bound.errors, 131, 0.1 / 3))
        assert bound.complexity == pytest.approx(math.log(3))
        assert bound.details["member"] == i
        assert bound.details["n_leaves"] == SEQUENCE.n_leaves[i]


def test_a_path_of_one_member_is_clopper_pearson():
    sequence = PruningSequence(TREE, [3], [3], steps=[0, 0, 0, 0, 0], node_labels=LABELS)
    # every node's step is 0: the only member is the single leaf
    assert sequence[0].n_leaves == 1
    (bound,) = path(PruningSequence(TREE, [1], [3], steps=[0] * 5, node_labels=LABELS), HELD, delta=0.1)
    alone = test_sample(sequence[0], HELD, delta=0.1)
    assert bound.value == alone.value
    assert bound.complexity == 0


def test_weights_share_delta_as_given_and_a_member_without_weight_gets_no_bound():
    bounds = path(SEQUENCE, HELD, delta=0.1, weights=[0.7, 0.2, 0])
    assert bounds[0].value == pytest.approx(beta_limit(bounds[0].errors, 131, 0.07))
    assert bounds[1].value == pytest.approx(beta_limit(bounds[1].errors, 131, 0.02))
    assert bounds[2].value == 1


def test_members_that_are_the_same_tree_share_one_part():
    doubled = PruningSequence(
        TREE,
        [3, 3, 1],
        [3, 3, 22],
        rebuild=lambda i: np.array([[False, False, True, True, True]] * 2 + [[True] + [False] * 4])[i],
        node_labels=LABELS,
    )
    assert [b.complexity for b in path(doubled, HELD)] == pytest.approx([math.log(2)] * 3)


def test_the_least_bound_is_found_and_a_tie_goes_to_the_smaller_tree():
    bounds = [Bound(v, 0.05, "m", 10, 1, details={"member": i}) for i, v in enumerate([0.3, 0.2, 0.2, 0.4])]
    assert least_bound(bounds).details["member"] == 2
    with pytest.raises(ParameterError, match="at least one"):
        least_bound([])


def test_weights_from_cross_validation_fall_with_the_distance_from_the_best():
    weights = cross_validation_weights([30, 22, 20, 28], [4, 3, 2, 4])
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights / weights[2], np.exp(-np.array([5, 1, 0, 4])))
    assert cross_validation_weights([3, 0, 0], [1, 0, 0]).tolist() == [0, 0.5, 0.5]
    with pytest.raises(ParameterError, match="one of each"):
        cross_validation_weights([1, 2], [1])
    with pytest.raises(ParameterError, match="finite"):
        cross_validation_weights([1, math.nan], [1, 1])


def test_a_sequence_that_has_seen_the_sample_is_refused():
    seen = PruningSequence(TREE, [1], [3], steps=[0] * 5, node_labels=LABELS, seen={"prune"})
    with pytest.raises(LeakageError, match="helped to make this sequence"):
        path(seen, HELD)


@pytest.mark.parametrize(
    ("weights", "says"), [([0.5, 0.5], "one per member"), ([0.9, 0.2, 0.2], "add up"), ([1.2, -0.2, 0], "0 or more")]
)
def test_weights_that_are_not_valid_shares_are_refused(weights, says):
    with pytest.raises(ParameterError, match=says):
        path(SEQUENCE, HELD, weights=weights)


@pytest.mark.parametrize("delta", [0, 1, 2, math.nan, "a"])
def test_delta_outside_its_range_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        path(SEQUENCE, HELD, delta=delta)
    with pytest.raises(ParameterError, match="delta"):
        test_sample(SEQUENCE[0], HELD, delta=delta)


def test_weights_of_rows_and_empty_samples_are_refused():
    with pytest.raises(UnsupportedError, match="weight"):
        test_sample(SEQUENCE[0], Counts(TREE, HELD.by_class * 0.5, "prune"))
    with pytest.raises(CountsError, match="no rows"):
        path(SEQUENCE, Counts(TREE, HELD.by_class * 0, "prune"))


def test_weights_of_one_member_and_of_members_without_spread():
    assert cross_validation_weights([3], [1]).tolist() == [1]
    assert cross_validation_weights([1, 2, 1], [0, 0, 0]).tolist() == [0.5, 0, 0.5]
