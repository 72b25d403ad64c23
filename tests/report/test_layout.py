"""Where nodes stand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur import Pruning, Tree
from secateur.errors import PruningError
from secateur.show.layout import tidy
from strategies import trees


@given(trees(max_internal=12, max_arity=4), st.booleans())
def test_nodes_of_a_level_are_in_order_and_at_least_one_apart(tree, packed):
    layout = tidy(tree, packed=packed)

    for level in range(layout.height + 1):
        assert (np.diff(layout.x[tree.depth == level]) >= 1 - 1e-9).all()


@given(trees(max_internal=12, max_arity=4), st.booleans())
def test_a_parent_stands_midway_between_its_first_and_last_child(tree, packed):
    layout = tidy(tree, packed=packed)

    for v in tree.internal.tolist():
        children = list(tree.children(v))
        assert layout.x[v] == pytest.approx((layout.x[children[0]] + layout.x[children[-1]]) / 2)


@given(trees(max_internal=12, max_arity=4))
def test_leaves_are_one_apart_in_their_order(tree):
    assert tidy(tree).x[tree.is_leaf].tolist() == list(range(tree.n_leaves))


@given(trees(max_internal=12, max_arity=4))
def test_packing_never_widens_and_starts_at_zero(tree):
    packed = tidy(tree, packed=True)

    assert packed.x.min() == pytest.approx(0)
    assert packed.width <= tidy(tree).width + 1e-9


@given(trees(max_internal=8), st.data())
def test_a_pruning_is_laid_out_like_the_tree_it_leaves(tree, data):
    cuts = data.draw(st.sets(st.sampled_from(range(tree.n_nodes))))
    pruning = Pruning.from_cuts(tree, np.array(sorted(cuts), np.int64))

    layout = tidy(tree, pruning.is_leaf)

    is_here = pruning.is_kept | pruning.is_leaf
    assert np.array_equal(np.isnan(layout.x), ~is_here)
    assert layout.x[is_here].tolist() == tidy(pruning.to_tree()).x.tolist()


def test_two_bushes_side_by_side_share_no_room_where_they_meet():
    # A bush of three at the left and one of two at the right: the contours touch at depth 2.
    tree = Tree.from_parents([-1, 0, 1, 1, 1, 0, 5, 5])

    assert tidy(tree, packed=True).x.tolist() == [2.25, 1, 0, 1, 2, 3.5, 3, 4]


@pytest.mark.parametrize("packed", [False, True])
def test_a_very_deep_tree_is_laid_out(packed):
    n = 100_000
    parent = np.repeat(np.arange(0, 2 * n, 2), 2)
    tree = Tree.from_parents(np.append(-1, parent))

    layout = tidy(tree, packed=packed)

    assert layout.height == n
    assert np.isfinite(layout.x).all()


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(PruningError, match="is_leaf has shape"):
        tidy(Tree.from_parents([-1, 0, 0]), [True])
