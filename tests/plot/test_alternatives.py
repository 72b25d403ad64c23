"""The figure of a set of prunings: colours and texts of the splits that all members need."""

import numpy as np
import pytest

import secateur
from secateur.plot import AlternativesDisplay, plot

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def grown():
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    y = (X[:, 0] > 0.5) ^ (rng.random(600) < 0.15)
    tree, grown = secateur.grow(X[:300], y[:300])
    return secateur.alternatives(tree, grown, secateur.count(tree, X[300:], y[300:]), within=0.02), grown


@pytest.mark.parametrize("style", ["boxes", "branches", "icicle"])
def test_needed_splits_have_a_colour_of_their_own(grown, style):
    members, counts = grown
    pruning = members.sample(1, random_state=0)[0]
    display = plot(members, counts=counts, pruning=pruning, style=style)
    share = members.node_shares[display.node]
    is_split = pruning.is_kept[display.node]
    needed = {tuple(colour) for colour in display.colour[is_split & (share == 1)]}
    others = {tuple(colour) for colour in display.colour[is_split & (share < 1)]}

    assert isinstance(display, AlternativesDisplay)
    assert display.node_share.tolist() == share.tolist()
    assert len(needed) == 1
    assert others
    assert not needed & others
    assert display.ax_.get_legend().get_texts()[0].get_text() == "split in all of the trees"


def test_texts_state_the_share_of_splits_only(grown):
    members, counts = grown
    for options in ({"counts": counts}, {}):
        display = AlternativesDisplay.from_alternatives(members, pruning=members.best, **options)
        for lines, v, share in zip(display.text, display.node.tolist(), display.node_share.tolist(), strict=True):
            stated = [line for line in lines if line.startswith("split in")]
            assert len(stated) == members.best.is_kept[v]
            assert (stated == ["split in all"]) == (share == 1)


def test_the_smallest_member_is_drawn_by_default(grown):
    members, _ = grown
    assert AlternativesDisplay.from_alternatives(members).n_leaves == members.smallest().n_leaves
