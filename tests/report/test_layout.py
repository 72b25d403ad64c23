"""The positions of nodes in a drawing."""

import numpy as np
import pytest
from hypothesis import given

from secateur import Tree
from secateur.inspection.view import view_of
from strategies import trees


@given(trees(max_internal=12, max_arity=4))
def test_nodes_of_a_level_are_in_order_and_at_least_one_apart(tree):
    x = view_of(tree).position

    for level in range(tree.depth.max() + 1):
        assert (np.diff(x[tree.depth == level]) >= 1 - 1e-9).all()


@given(trees(max_internal=12, max_arity=4))
def test_a_parent_stands_midway_between_its_first_and_last_child(tree):
    x = view_of(tree).position

    for v in tree.internal.tolist():
        children = list(tree.children(v))
        assert x[v] == pytest.approx((x[children[0]] + x[children[-1]]) / 2)


@given(trees(max_internal=12, max_arity=4))
def test_leaves_are_one_apart_in_their_order(tree):
    assert view_of(tree).position[tree.is_leaf].tolist() == list(range(tree.n_leaves))


def test_a_very_deep_tree_is_laid_out():
    n = 100_000
    parent = np.repeat(np.arange(0, 2 * n, 2), 2)

    x = view_of(Tree.from_parents(np.append(-1, parent))).position

    assert x[0] == pytest.approx(1)
    assert np.isfinite(x).all()
