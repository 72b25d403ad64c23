"""A model is made of parts that fit together, in any order."""

import numpy as np
import pytest

from secateur import Bound, Counts, Pruning, PruningSequence, Tree
from secateur.core.model import Model, as_model
from secateur.core.selection import Selection
from secateur.errors import PruningError, UnsupportedError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
GROWN = Counts.from_leaves(TREE, [[3, 1], [0, 2], [4, 1]])
HELD_OUT = Counts.from_leaves(TREE, [[2, 1], [1, 2], [2, 1]], sample="prune")
SEQUENCE = PruningSequence(TREE, [3, 2, 1], [0, 1, 3], steps=[2, 1, 0, 0, 0], node_labels=GROWN.majority)
SELECTION = Selection(SEQUENCE, [0.2, 0.15, 0.3], [0.02, 0.02, 0.04], 1, 1, "0se", "prune", 9)


@pytest.mark.parametrize(
    ("parts", "n_leaves"),
    [
        ((GROWN,), 3),
        ((TREE, GROWN), 3),
        ((GROWN, SEQUENCE), 3),
        ((SELECTION, GROWN), 2),
        ((SEQUENCE, SELECTION, GROWN), 2),
        ((Pruning.from_cuts(TREE, [0]), SELECTION, GROWN), 1),
    ],
)
def test_a_model_of_parts_predicts_with_the_given_the_chosen_or_the_largest_pruning(parts, n_leaves):
    model = as_model(parts)
    assert model.pruning.n_leaves == n_leaves
    assert model.pruning.node_labels.tolist() == GROWN.majority.tolist()
    assert model.selection is (SELECTION if SELECTION in parts else None)
    assert model.sequence is (SEQUENCE if SELECTION in parts or SEQUENCE in parts else None)
    assert model.holdout is None


def test_the_first_sample_grew_and_the_second_was_held_out():
    model = as_model((GROWN, HELD_OUT))
    assert (model.grown, model.holdout) == (GROWN, HELD_OUT)
    assert as_model(model) is model


@pytest.mark.parametrize(
    ("thing", "says"),
    [("text", "a str cannot be shown"), ((TREE,), "a tuple cannot be shown"), ((GROWN, 3), "a int cannot be shown")],
)
def test_values_that_are_no_parts_of_a_model_are_refused_by_type(thing, says):
    with pytest.raises(UnsupportedError, match=says):
        as_model(thing)


def test_parts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0])
    with pytest.raises(PruningError, match="another tree"):
        Model(SEQUENCE[0], GROWN, sequence=PruningSequence(other, [2, 1], [0, 1], steps=[1, 0, 0]))
    with pytest.raises(PruningError, match="no classes"):
        Model(Pruning.from_cuts(TREE, []), GROWN)


def test_the_pruned_tree_has_the_remaining_nodes_and_predicts_their_classes():
    model = as_model((GROWN, Pruning.from_cuts(TREE, [1], node_labels=[0, 1, 0, 1, 0])))
    assert model.nodes.tolist() == [0, 1, 4] == model.pruned_tree.ids.tolist()
    assert model.predictions.tolist() == [-1, 1, 0]
    assert model.node_predictions.tolist() == [0, 1, 0, 1, 0]
    assert np.array_equal(model.class_grown.by_class, GROWN.by_class)
    assert model.class_holdout is None


def test_models_differ_where_a_part_differs():
    assert as_model((GROWN, HELD_OUT)) == as_model((TREE, GROWN, HELD_OUT))
    assert as_model((GROWN, HELD_OUT)) != as_model((GROWN,))
    assert as_model((GROWN, SEQUENCE)) != as_model((GROWN,))


@pytest.mark.parametrize(
    ("certificate", "says"),
    [
        (None, "not certified"),
        (Bound(0.25, 0.05, "Wilson", 100, 15, certified=False, reason="approximate"), "not certified"),
        (Bound(0.25, 0.05, "exact", 100, 15), "certified 0.25"),
        (Bound(0.25, 0.05, "exact", 100, 15, stated=True), "stated, not checked: 0.25"),
    ],
)
def test_the_printed_model_says_whether_its_limit_was_checked(certificate, says):
    model = Model(SEQUENCE[1], GROWN, certificate=certificate)
    assert repr(model) == f"Model(2 of 3 leaves, 11 rows, {says})"
