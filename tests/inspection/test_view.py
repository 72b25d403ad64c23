"""The view of a tree: its nodes, their predictions, and the values that can reach them."""

import time
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import secateur
from export_cases import chain, mixed
from secateur import Counts, Pruning, Tree
from secateur.exports import export_dot, export_mermaid
from secateur.inspection.view import view_of
from secateur.plot import TreeDisplay
from secateur.report import report_html


@pytest.fixture(scope="module")
def case():
    """Five leaves, cut to three."""
    tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4, 6, 6])
    counts = Counts.from_leaves(tree, [[3, 1], [0, 0], [0, 4], [1, 1], [5, 0]])
    return tree, counts, Pruning.from_cuts(tree, [1, 6], node_labels=counts.majority)


def test_nodes_have_their_numbers(case):
    tree, counts, pruning = case
    view = view_of(tree, counts, pruning=pruning)

    assert view.node.tolist() == [0, 1, 4, 5, 6]
    assert view.sample.total.tolist() == [15, 4, 11, 4, 7]
    assert view.errors.tolist() == [6, 1, 5, 0, 1]
    assert view.number_text(4) == "#5 (6)"


def test_stubs_tell_what_is_left_out(case):
    tree, counts, _ = case
    view = view_of(tree, counts, max_depth=0)

    assert view.node.tolist() == [0, 1, 4]
    assert (view.n_hidden.tolist(), view.n_levels.tolist()) == ([0, 2, 3], [0, 1, 2])


def test_a_node_without_rows_has_the_shares_of_its_parent(case):
    tree, counts, _ = case
    view = view_of(tree, counts)

    assert view.shares[3].tolist() == view.shares[1].tolist() == [0.75, 0.25]


def test_a_view_cannot_be_changed(case):
    view = view_of(*case[:2])

    with pytest.raises(FrozenInstanceError):
        view.decimals = 3
    for array in (view.node, view.position, view.shares, view.child, view.reachable.arrives, view.n_hidden):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_all_displays_show_the_same_texts():
    model = mixed(seed=4).model
    view = view_of(model.tree, model.grown, pruning=model.pruning)
    branches = [view.branch_text(v) for v in range(1, view.tree.n_nodes)]

    text = secateur.export_text(model.tree, model.grown, pruning=model.pruning)
    assert [line.split("|--- ")[1] for line in text.split("\n") if "|--- class: " not in line] == branches
    display = TreeDisplay.from_model(model, style="boxes")
    assert [lines[0] for lines in display.text[1:]] == branches
    for _, asked in view.rules():
        assert " AND ".join(asked) in secateur.export_rules(model.tree, model.grown, pruning=model.pruning)


def test_what_cannot_arrive_is_missing_from_every_drawing():
    rows = [[kind] for kind in "abcd"] * 5
    table = secateur.encode(rows, names=["c"], target=[{"a": 0, "b": 1, "c": 0, "d": 2}[kind] for (kind,) in rows])
    tree, counts = secateur.grow(table)
    shown_text = [view_of(tree, counts).branch_text(v) for v in range(1, tree.n_nodes)]

    # Each category is named once on every level of its path, and leaves name theirs alone.
    assert sorted(text for text, leaf in zip(shown_text, tree.is_leaf[1:], strict=True) if leaf) in (
        ["c = b", "c = d", "c in {a, c}"],
        ["c = a", "c = b", "c = c", "c = d"],
    )
    for drawing in (export_dot((tree, counts)), export_mermaid((tree, counts)), report_html((tree, counts))):
        assert "in {a, b, c, d}" not in drawing


def test_a_chain_of_100_000_tests_has_a_view_of_linear_size():
    model = chain(100_000).model
    start = time.process_time()
    view = view_of(model.tree, model.grown, pruning=model.pruning)
    last = view.branch_text(view.tree.n_nodes - 1), view.condition(view.tree.n_nodes - 1)

    assert last == ("x > 99999.1", "x > 99999.1")
    assert len(view.reachable.low) == view.tree.n_nodes
    assert time.process_time() - start < 20
    assert np.count_nonzero(view.reachable.can_be_missing) == 5  # the root, and where the first four tests send it
