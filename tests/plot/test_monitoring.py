"""The figure of a monitor shows its numbers."""

import matplotlib as mpl
import numpy as np
import pytest

from secateur import Bound, Counts, Model, Monitor, Pruning, Tree
from secateur.plot import MonitorDisplay, plot

mpl.use("Agg")
TREE = Tree.from_parents([-1, 0, 0])


@pytest.fixture
def monitor():
    grown = Counts.from_leaves(TREE, [[90, 10], [10, 90]])
    held_out = Counts.from_leaves(TREE, [[450, 50], [50, 450]], sample="prune")
    pruning = Pruning.from_cuts(TREE, [], node_labels=grown.majority)
    running = Monitor(Model(pruning, grown, held_out, certificate=Bound(0.12, 0.025, "test sample", 1000, 100)))
    for rows in ([[45, 5], [6, 44]], [[20, 30], [5, 45]], [[15, 35], [4, 46]]):
        running.update_counts(Counts.from_leaves(TREE, rows))
    return running


def test_the_evidence_is_drawn_over_the_rows_and_for_each_rule(monitor):
    status = monitor.status()
    display = MonitorDisplay.from_status(status)

    assert display.n.tolist() == [100, 200, 300]
    assert display.evidence == pytest.approx(np.exp(status.looks[:, 2]))
    assert display.needed == pytest.approx(40)
    by_hand = [min(leaf.evidence * leaf.alpha, 1e12) for leaf in status.leaves]
    assert display.leaf_evidence.tolist() == pytest.approx(sorted(by_hand, reverse=True))
    assert display.leaf_broken.tolist() == [True, False]
    over_rows, per_leaf = display.plot().ax_
    assert over_rows.lines[0].get_xdata().tolist() == [100, 200, 300]
    assert len(per_leaf.patches) == 2


def test_plot_draws_a_monitor_and_its_status(monitor):
    for thing in (monitor, monitor.status()):
        assert isinstance(plot(thing), MonitorDisplay)


def test_a_monitor_without_rows_or_leaves_is_drawn():
    grown = Counts.from_leaves(TREE, [[90, 10], [10, 90]])
    model = Model(Pruning.from_cuts(TREE, [0], node_labels=grown.majority), grown)

    assert plot(Monitor(model, limit=0.2).status()).leaf_text == []
