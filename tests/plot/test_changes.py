"""The figure of an update."""

import numpy as np
import pytest

from secateur import Counts, Model, Pruning, Tree
from secateur.plot import ChangesDisplay, plot
from secateur.pruners import fewest_changes
from secateur.updating import Update


@pytest.fixture
def front():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    grown = Counts.from_leaves(tree, [[8, 2], [3, 7], [1, 9]])
    new = Counts.from_leaves(tree, [[9, 1], [1, 6], [5, 4]], sample="new")
    return fewest_changes(Pruning.from_cuts(tree, [1], node_labels=grown.majority), grown, new), grown


def test_the_curves_are_the_errors_of_the_front_and_the_choice_is_marked(front):
    front, grown = front
    cv_errors = np.array([0.5, 0.4, 0.3, 0.35])
    found = Update(Model(front.deployed, grown), front, cv_errors, 2, "", True, 3)

    display = plot(found)
    steps, cross_validated, chosen = display.ax_.get_lines()

    assert isinstance(display, ChangesDisplay)
    assert steps.get_xdata().tolist() == front.n_changes.tolist()
    assert steps.get_ydata().tolist() == (front.errors / 26).tolist()
    assert cross_validated.get_ydata().tolist() == cv_errors.tolist()
    assert chosen.get_xdata()[0] == front.n_changes[2]
    assert display.ax_.get_xlabel() == "changed nodes"


def test_a_front_alone_has_one_curve(front):
    assert len(plot(front[0]).ax_.get_lines()) == 1
