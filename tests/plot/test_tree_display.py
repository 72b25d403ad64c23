"""The picture of a tree shows every node where it belongs, in the colour of its class, whatever its size."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb

from secateur import Counts, Pruning, Tree, encode, grow
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.errors import CountsError, ParameterError, PruningError, UnsupportedError
from secateur.plot import TreeDisplay
from strategies import trees_with_counts


def random_tree(n_leaves, seed=0):
    """Split a random leaf again and again."""
    rng = np.random.default_rng(seed)
    parent, leaves = [-1], [0]
    while len(leaves) < n_leaves:
        v = leaves.pop(rng.integers(len(leaves)))
        leaves += [len(parent), len(parent) + 1]
        parent += [v, v]
    return Tree.from_parents(parent)


def chain(n_tests):
    parent = np.empty(2 * n_tests + 1, int)
    parent[0] = -1
    parent[1::2] = parent[2::2] = np.append(0, np.arange(2, 2 * n_tests, 2))
    return Tree.from_parents(parent)


def counted(tree, n_classes=3, seed=0):
    return Counts.from_leaves(tree, np.random.default_rng(seed).integers(0, 9, (tree.n_leaves, n_classes)))


def collection(axes, kind):
    return next(c for c in axes.collections if isinstance(c, kind))


@pytest.fixture(scope="module")
def grown():
    X = [["red", 1.0], ["red", 4.0], ["blue", 1.5], ["green", None], ["blue", 9.0], ["green", 2.0]]
    return grow(encode(X, names=["colour", "size"], target=["a", "b", "a", "b", "a", "b"]))


@settings(max_examples=12, deadline=None)
@given(trees_with_counts())
def test_every_box_stands_between_its_children_on_its_level(case):
    tree, counts = case
    display = TreeDisplay.from_tree(tree, counts)

    assert display.style == "boxes"
    assert display.depth.tolist() == tree.depth.tolist()
    for v in tree.internal:
        places = [display.x[c] for c in tree.children(v)]
        assert display.x[v] == pytest.approx((places[0] + places[-1]) / 2)
        assert np.all(np.diff(places) >= 1)


def test_boxes_tell_what_leads_to_them_their_class_and_their_rows(grown):
    tree, counts = grown
    display = TreeDisplay.from_tree(tree, counts).plot()

    texts = [text.get_text() for text in display.ax_.texts]
    assert len(texts) == tree.n_nodes
    assert texts[0].splitlines() == ["a", "6 rows, 3 wrong"]
    for text, lines in zip(texts, display.text, strict=True):
        assert text.splitlines() == list(lines)
    below = [display.text[v][0] for v in tree.children(0)]
    assert all(text.startswith(("colour", "size")) for text in below)
    assert below[0] != below[1]


def test_missing_values_are_told_where_they_go():
    tree, counts = grow(encode([[1.0], [2.0], [None], [None]], target=["a", "b", "b", "b"], names=["size"]))
    shown_text = [lines[0] for lines in TreeDisplay.from_tree(tree, counts).text[1:]]

    assert sum("missing" in text for text in shown_text) == 1


def test_colour_is_the_class_and_pales_with_impurity():
    tree = Tree.from_parents([-1, 0, 0, 0])
    display = TreeDisplay.from_tree(tree, Counts.from_leaves(tree, [[8, 0], [6, 2], [0, 8]]))
    first = np.array(to_rgb("#0072B2"))

    assert display.colour[1] == pytest.approx(first)
    assert 0 < np.abs(display.colour[2] - 1).max() < np.abs(first - 1).max()
    assert (1 - display.colour[2]) / (1 - first) == pytest.approx(np.full(3, 0.15 + 0.85 * 0.5))
    assert display.colour[3] == pytest.approx(np.array(to_rgb("#E69F00")))


def test_empty_nodes_are_grey():
    tree = Tree.from_parents([-1, 0, 0])
    display = TreeDisplay.from_tree(tree, Counts.from_leaves(tree, [[8, 0], [0, 0]]))

    assert len(set(display.colour[2])) == 1


def test_branches_are_as_wide_as_their_rows():
    tree = Tree.from_parents([-1, 0, 0])
    display = TreeDisplay.from_tree(tree, Counts.from_leaves(tree, [[60, 0], [0, 20]])).plot()
    wide, narrow = collection(display.ax_, LineCollection).get_linewidths()

    assert wide == pytest.approx(3 * narrow)


def test_a_pruning_is_drawn_with_its_own_classes_and_the_numbers_of_the_grown_tree(grown):
    tree, counts = grown
    cut = Pruning.from_cuts(tree, [1] if not tree.is_leaf[1] else [tree.internal[-1]], node_labels=1 - counts.majority)
    display = TreeDisplay.from_model(Model(cut, counts), node_ids=True)

    here = np.flatnonzero(cut.is_kept | cut.is_leaf)
    assert display.node.tolist() == here.tolist()
    assert display.label.tolist() == (1 - counts.majority)[here].tolist()
    assert [lines[0] for lines in display.text] == [f"#{i + 1} ({v})" for i, v in enumerate(here)]


def test_tests_below_max_depth_become_stubs_that_count_their_leaves():
    tree = random_tree(30)
    display = TreeDisplay.from_tree(tree, counted(tree), max_depth=1)

    shown = set(display.node.tolist())
    assert shown == set(np.flatnonzero(tree.depth <= 2).tolist())
    for v, hidden in zip(display.node, display.n_hidden, strict=True):
        is_stub = tree.depth[v] == 2 and not tree.is_leaf[v]
        assert hidden == (np.count_nonzero(tree.is_leaf[v : tree.end[v]]) if is_stub else 0)
    assert sum("more" in lines[-1] for lines in display.text) == np.count_nonzero(display.n_hidden)


def test_a_wide_tree_grows_to_the_right_and_a_small_one_downwards():
    for n_leaves, is_down in ((3, True), (30, False)):
        tree = random_tree(n_leaves)
        axes = TreeDisplay.from_tree(tree, counted(tree)).plot().ax_
        x, y = np.array([text.get_position() for text in axes.texts]).T
        along = -y if is_down else x
        assert np.all(along[1:] > along[tree.parent[1:]])


@pytest.mark.parametrize(("n_leaves", "style"), [(40, "boxes"), (41, "branches"), (500, "branches"), (501, "icicle")])
def test_the_style_follows_the_size(n_leaves, style):
    tree = random_tree(n_leaves)

    assert TreeDisplay.from_tree(tree, counted(tree)).style == style


def test_labels_of_branches_do_not_touch():
    tree = random_tree(80)
    display = TreeDisplay.from_tree(tree, counted(tree)).plot()
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts if text.get_ha() == "right"]

    assert len(boxes) > 40
    overlaps = [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
        if abs(a.x1 - b.x1) < 1 and a.y0 < b.y1 and b.y0 < a.y1
    ]
    assert not overlaps


def test_an_icicle_gives_each_node_its_share_of_the_width_under_its_parent():
    tree = random_tree(600)
    counts = counted(tree)
    display = TreeDisplay.from_tree(tree, counts).plot()

    assert display.style == "icicle"
    for v in tree.internal:
        children = list(tree.children(v))
        assert display.x[children[0]] == pytest.approx(display.x[v], abs=1e-9)
        ends = display.x[children] + display.share[children]
        assert ends[:-1] == pytest.approx(display.x[children[1:]], abs=1e-9)
        assert ends[-1] == pytest.approx(display.x[v] + display.share[v], abs=1e-9)
    drawn = collection(display.ax_, PolyCollection).get_paths()
    assert len(drawn) == tree.n_nodes
    assert np.ptp(drawn[5].vertices[:, 0]) == pytest.approx(counts.total[5] / counts.total[0])
    assert "600 leaves" in display.ax_.get_title()


@pytest.mark.parametrize("style", ["auto", "boxes", "branches", "icicle"])
def test_a_very_deep_tree_is_drawn_with_stubs(style):
    tree = chain(100_000)
    display = TreeDisplay.from_tree(tree, counted(tree), style=style).plot()
    display.figure_.canvas.draw()

    n_drawn = len(display.node) - np.count_nonzero(np.isin(np.arange(len(display.node)), display.parent))
    assert n_drawn - np.count_nonzero(display.n_hidden) + display.n_hidden.sum() == tree.n_leaves
    assert display.n_leaves == tree.n_leaves


def test_one_leaf_and_a_bare_structure_can_be_drawn():
    display = TreeDisplay.from_tree(Tree.from_parents([-1])).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["node 0"]

    display = TreeDisplay.from_tree(random_tree(5)).plot()
    assert display.share[0] == 1
    assert display.share[display.depth == 1].sum() == pytest.approx(1)


def test_means_colour_a_regression_tree_from_the_least_to_the_greatest():
    tree = Tree.from_parents([-1, 0, 0, 0])
    moments = Moments(tree, [6, 1, 2, 3], [2.0, 1.0, 3.5, 1.4], [9.0, 0.0, 0.5, 1.0])
    display = TreeDisplay.from_tree(tree, moments, decimals=1).plot()

    assert display.mean.tolist() == moments.mean.tolist()
    assert [lines[-2] for lines in display.text] == ["2.0", "1.0", "3.5", "1.4"]
    light = display.colour @ [0.2126, 0.7152, 0.0722]
    assert light.argsort().tolist() == moments.mean.argsort().tolist()
    assert len(display.figure_.axes) == 2  # the second one explains the colours


HOSTILE = ["$x^2$", "$\\frac{", "_hidden", "</script>", "a very long name " * 20, "%s {0} \\", "\x00\n\u202e"]


@settings(max_examples=10, deadline=None)
@given(name=st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="latin-1"), min_size=1, max_size=30)))
def test_names_are_shown_as_they_are_and_nothing_in_them_is_carried_out(name):
    tree, counts = grow([[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1])
    display = TreeDisplay.from_tree(tree, counts, feature_names=[name], class_names=[name, "other"]).plot()
    display.figure_.canvas.draw()

    texts = [*display.ax_.texts, *display.ax_.get_legend().get_texts()]
    assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
    assert len(display.ax_.get_legend().get_texts()) == 2
    assert all(len(line) <= 40 for text in texts for line in text.get_text().split("\n"))
    plt.close("all")


def test_twenty_six_classes_have_as_many_colours():
    tree = Tree.from_parents([-1, *[0] * 26])
    display = TreeDisplay.from_tree(tree, Counts.from_leaves(tree, np.eye(26, dtype=int)), style="boxes")
    colours = display.colour[1:]
    gaps = np.abs(colours[:, None] - colours[None]).sum(axis=2) + 9 * np.eye(26)

    assert gaps.min() > 0.08


def test_words_shrink_to_the_axes_and_are_left_out_before_they_cannot_be_read():
    tree = random_tree(30)
    display = TreeDisplay.from_tree(tree, counted(tree))
    for size in ((12, 9), (4, 3)):
        figure, axes = plt.subplots(figsize=size)
        display.plot(axes)
        assert display.ax_ is axes
        assert display.figure_ is figure
        assert all(text.get_fontsize() >= 4.5 for text in axes.texts)
    assert len(axes.texts) < tree.n_nodes


def test_a_drawing_without_colour_is_white_and_has_no_legend(grown):
    display = TreeDisplay.from_tree(*grown, filled=False).plot()

    assert display.ax_.get_legend() is None
    assert {to_rgb(text.get_bbox_patch().get_facecolor()) for text in display.ax_.texts} == {(1.0, 1.0, 1.0)}


def test_shares_take_the_place_of_rows(grown):
    display = TreeDisplay.from_tree(*grown, proportion=True)

    assert display.text[0][-1] == "100.0% of rows, 50.0% wrong"


def test_what_cannot_be_drawn_is_refused(grown):
    tree, counts = grown
    with pytest.raises(ParameterError, match="style='pie'"):
        TreeDisplay.from_tree(tree, counts, style="pie")
    with pytest.raises(ParameterError, match="max_depth=-1"):
        TreeDisplay.from_tree(tree, counts, max_depth=-1)
    with pytest.raises(ParameterError, match="feature_names holds 1"):
        TreeDisplay.from_tree(tree, counts, feature_names=["one"])
    with pytest.raises(CountsError, match="another tree"):
        TreeDisplay.from_tree(random_tree(9), counts)
    with pytest.raises(PruningError, match="another tree"):
        TreeDisplay.from_tree(tree, counts, pruning=Pruning.from_cuts(random_tree(9), []))
    with pytest.raises(UnsupportedError, match="a list is given"):
        TreeDisplay.from_tree([1, 2])
    with pytest.raises(UnsupportedError, match="counts is a list"):
        TreeDisplay.from_tree(tree, [1, 2])
    with pytest.raises(UnsupportedError, match="fit the estimator first"):
        TreeDisplay.from_estimator("nothing")
