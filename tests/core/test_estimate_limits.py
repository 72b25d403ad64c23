"""Limits of estimates: every label, share and value of a node is moved into the limits of its node."""

import numpy as np
import pytest

from secateur import Counts, Moments, Tree
from secateur.core import m_estimate
from secateur.core.estimate_limits import allows_class, limit_labels, limit_shares, limit_values
from secateur.data.table import Column, Schema
from secateur.errors import TreeError

INF = np.inf
PARENT = [-1, 0, 0]


def limited_tree(*limits_of_children, parent=PARENT, **fields):
    return Tree(parent, estimate_limits=[[-INF, INF], *limits_of_children], **fields)


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ((-INF, 0.5), [True, False]),  # a share of one half predicts the first class
        ((0.5, INF), [True, True]),
        ((0.2, 0.4), [True, False]),
        ((0.2, 0.6), [True, True]),
        ((np.nextafter(0.5, 1), 0.6), [False, True]),
    ],
)
def test_a_class_is_allowed_if_some_share_within_the_limits_predicts_it(limits, allowed):
    tree = limited_tree(limits, (-INF, INF))
    assert [bool(allows_class(tree, label)[1]) for label in (0, 1)] == allowed
    for label in (0, 1):
        expected = label if allowed[label] else 1 - label
        assert limit_labels(tree, np.array([0, label, 0], np.int32)).tolist() == [0, expected, 0]


def test_majorities_and_errors_follow_the_limits():
    counts = Counts.from_leaves(limited_tree((-INF, 0.4), (0.4, INF)), [[1, 3], [2, 4]])
    assert counts.majority.tolist() == [1, 0, 1]
    assert np.asarray(counts.resubstitution_costs).tolist() == [3, 3, 2]
    np.testing.assert_allclose(counts.limited_by_class, [[3, 7], [2.4, 1.6], [2, 4]])
    assert limit_shares(counts.tree, np.array([[0.3, 0.7], [0.25, 0.75], [0.8, 0.2]])).tolist() == [
        [0.3, 0.7], [0.6, 0.4], [0.6, 0.4]
    ]  # fmt: skip


def test_the_m_estimate_counts_the_errors_of_the_class_that_the_limits_leave():
    counts = Counts.from_leaves(limited_tree((-INF, 0.4), (0.4, INF)), [[1, 3], [2, 4]])
    # The first leaf predicts the first class: 3 of 4 rows are errors, and half of the 2 added rows.
    np.testing.assert_allclose(m_estimate(counts, 2.0, [0.5, 0.5]), [4 / 12, 0.4 * 4 / 6, 0.6 * 3 / 8])


def test_means_follow_the_limits_and_cost_the_squared_distance():
    moments = Moments.from_leaves(limited_tree((-INF, 2.0), (2.0, INF)), [2, 3], [1.0, 1.0])
    assert moments.predictions.tolist() == [1.0, 1.0, 2.0]
    assert moments.mean.tolist() == [1.0, 1.0, 1.0]
    assert moments.squared_errors_if_leaf(moments.predictions).tolist() == [0.0, 0.0, 3.0]
    assert limit_values(moments.tree, np.array([9.0, 9.0, 9.0])).tolist() == [9.0, 2.0, 9.0]


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ([[-INF, INF]], r"shape \(1, 2\)"),
        ([[-INF, INF], [1, 0], [0, 1]], "node 1 has the estimate limits 1.0 and 0.0"),
        ([[-INF, INF], [np.nan, 0], [0, 1]], "ascending order"),
        ([[0, 1], [0, 1], [0, 2]], "node 2 has the estimate limits 0 and 2, which are wider"),
        ([["a", "b"]] * 3, "two numbers per node"),
    ],
)
def test_limits_that_cannot_be_are_refused(limits, says):
    with pytest.raises(TreeError, match=says):
        Tree(PARENT, estimate_limits=limits)


def test_limits_of_more_than_two_classes_are_refused():
    schema = Schema((Column("x", "numeric"),), np.array(["a", "b", "c"]))
    with pytest.raises(TreeError, match="3 classes"):
        limited_tree((-INF, 1), (1, INF), schema=schema)
