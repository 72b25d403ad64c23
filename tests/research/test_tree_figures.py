"""The figures of trees show the trees and prunings of the documents."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from secateur import Pruning, Tree
from secateur.pruners import best_of_size
from secateur.research import run
from secateur.research._by_hand import krk_tree, label_rules_part, nine_tests, node_roles_part, node_roles_tree
from secateur.research._tree_figures import cut_line, draw_tree, tree_positions


def is_crossed(edge, line):
    """Return whether the segment `edge` from a parent to its child crosses the polyline `line`."""
    (x0, y0), (x1, y1) = edge
    for t in np.linspace(0, 1, 401):
        x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
        heights = [a[1] for a, b in zip(line[::2], line[1::2], strict=True) if a[0] <= x <= b[0]]
        if heights and y < min(heights):
            return True
    return False


@pytest.mark.parametrize("tree_and_counts", [krk_tree, nine_tests])
def test_a_line_crosses_the_edges_below_the_leaves_of_its_pruning_and_no_other(tree_and_counts):
    tree, counts = tree_and_counts()
    x, _, _ = tree_positions(tree)
    for pruning in best_of_size(tree, counts):
        line = cut_line(tree, pruning, 0.4)
        is_in_pruned_tree = pruning.is_kept | pruning.is_leaf
        for node in range(1, tree.n_nodes):
            parent = int(tree.parent[node])
            edge = ((x[parent], -tree.depth[parent]), (x[node], -tree.depth[node]))
            if is_in_pruned_tree[node]:
                assert not is_crossed(edge, line)
            elif is_in_pruned_tree[parent]:
                assert is_crossed(edge, line)


def test_a_parent_stands_above_the_middle_of_its_children():
    x, low, high = tree_positions(Tree.from_parents([-1, 0, 0, 2, 2, 2]))

    assert x.tolist() == [1, 0, 2, 1, 2, 3]
    assert (low.tolist(), high.tolist()) == ([0, 0, 1, 1, 2, 3], [3, 0, 3, 1, 2, 3])


def test_a_tree_of_great_depth_has_positions():
    parents = [-1]
    for level in range(10_000):
        parents += [max(2 * level, 0), 2 * level]
    tree = Tree.from_parents(parents)

    assert len(set(tree_positions(tree)[0][tree.leaves].tolist())) == tree.n_leaves


def test_every_node_and_every_line_is_drawn():
    tree = Tree.from_parents([-1, 0, 0])
    ax = Figure().subplots()
    draw_tree(
        ax, tree, ["root", "left", "right"], edge_texts={1: "yes"}, lines={"one leaf": Pruning.from_cuts(tree, [0])}
    )

    assert {text.get_text().strip() for text in ax.texts} == {"root", "left", "right", "yes"}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one leaf"]


def test_the_example_of_label_rules_is_the_one_of_the_text():
    found = label_rules_part(None)

    assert found["uncut"] == 3  # the tree makes three mistakes, the root as a negative leaf two
    assert (found["grow"]["cuts"].tolist(), found["grow"]["errors"]) == ([0], 2)
    assert (found["prune"]["cuts"].tolist(), found["prune"]["errors"]) == ([1, 4], 0)


def test_safe_nodes_are_those_of_the_fringe_whose_parent_is_in_the_interior():
    tree, found = node_roles_tree(), node_roles_part(None)
    # By definition: a node is in the fringe if it had a leaf as its child, or if it is below such a node.
    has_leaf = {v for v in tree.internal.tolist() if any(tree.is_leaf[child] for child in tree.children(v))}
    in_fringe = set()
    for v in tree.internal.tolist():  # parents come first
        if v in has_leaf or int(tree.parent[v]) in in_fringe:
            in_fringe.add(v)

    assert set(found["interior"].tolist()) == set(tree.internal.tolist()) - in_fringe
    assert set(found["safe"].tolist()) == {v for v in in_fringe if int(tree.parent[v]) not in in_fringe}
    assert set(found["fringe"].tolist()) == in_fringe - set(found["safe"].tolist())
    assert all(len(nodes) for nodes in found.values())


@pytest.mark.parametrize(
    ("name", "figure", "picture"),
    [
        ("rep-analysis", "1", "label-rules"),
        ("rep-analysis", "2", "node-roles"),
        ("accuracy-simplicity", "2", "krk-tree"),
        ("accuracy-simplicity", "8", "nine-tests"),
        ("srm", "12.7", "trees"),
    ],
)
def test_a_figure_of_a_tree_is_drawn_alone(tmp_path, capsys, name, figure, picture):
    reproduction = run(name, out=tmp_path, quick=True, figure=figure)

    assert (reproduction.folder / f"{picture}.svg").read_text().count("<text") > 3
    assert reproduction.sheets
    assert "not drawn" not in capsys.readouterr().err


def test_the_published_characteristics_of_the_sets_are_compared(tmp_path):
    (sheet,) = run("subadditive", out=tmp_path, quick=True, figure="Table 1").sheets

    assert all(sheet.column("same"))
    assert len(sheet.rows) == 3
