"""Draw the figures of the documents that show trees. The trees are those of `_by_hand`.

A pruning is drawn as a line below its leaves: what is under the line is cut.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from .. import analysis
from .._utils.arrays import Floats
from ..core import LabelRule, Pruning, Tree
from ..pruners import best_of_size, reduced_error
from ._by_hand import (
    NINE_NAMES,
    POSITIVE_SHARES,
    SETTING_NODE,
    SHARE_OF_FALSE,
    basic_setting,
    krk_tree,
    label_rules_tree,
    nine_tests,
    node_roles_tree,
    subtree_at_x4,
)
from ._sheets import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHITE, GREY, BLACK, HIGHLIGHTED = "#ffffff", "#c8c8c8", "#222222", "#d9ecf7"
LINE_WIDTH_OF_TEXT = 14  # letters in a line of a node
SIGNS = ("-", "+")  # of the negative and of the positive class


def tree_positions(tree: Tree) -> tuple[Floats, Floats, Floats]:
    """Return the horizontal position of each node, and the leftmost and rightmost position below each node.

    Leaves are one apart, and a node stands in the middle of its children.
    """
    x, low, high = np.zeros((3, tree.n_nodes))
    for node_positions in (x, low, high):
        node_positions[tree.leaves] = np.arange(tree.n_leaves)
    for node in tree.internal[::-1].tolist():  # children have larger numbers than their parent
        children = list(tree.children(node))
        x[node] = (x[children[0]] + x[children[-1]]) / 2
        low[node], high[node] = low[children[0]], high[children[-1]]
    return x, low, high


def cut_line(tree: Tree, pruning: Pruning, distance: float, shift: float = 0.0) -> Floats:
    """Return the points of the line that passes `distance` below each leaf of a pruning, from left to right.

    `shift` moves the line to the right, so that lines of several prunings do not coincide.
    """
    _, low, high = tree_positions(tree)
    points = []
    for leaf in sorted(pruning.leaves.tolist(), key=low.__getitem__):
        y = -float(tree.depth[leaf]) - distance
        points += [(low[leaf] - 0.5 + shift, y), (high[leaf] + 0.5 + shift, y)]
    return np.array(points)


def draw_tree(
    ax: "Axes",
    tree: Tree,
    texts: Sequence[str],
    *,
    fills: Sequence[str] | None = None,
    edge_texts: Mapping[int, str] | None = None,
    lines: Mapping[str, Pruning] | None = None,
    title: str = "",
    fontsize: float = 9,
) -> None:
    """Draw a tree with the root on top.

    Parameters
    ----------
    ax : axes
    tree : Tree
    texts : sequence of str
        The text of each node.
    fills : sequence of str, optional
        The colour of each node, white by default.
    edge_texts : mapping of int to str, optional
        The text beside the edge from a node to its parent.
    lines : mapping of str to Pruning, optional
        The prunings to draw as lines, by their labels in the legend.
    title : str
    fontsize : float
    """
    import matplotlib as mpl

    x, _, _ = tree_positions(tree)
    y = -np.asarray(tree.depth, float)
    for node in range(1, tree.n_nodes):
        parent = int(tree.parent[node])
        ax.plot([x[parent], x[node]], [y[parent], y[node]], color="#777777", lw=1, zorder=1)
    for node, text in (edge_texts or {}).items():
        parent = int(tree.parent[node])
        side = "right" if x[node] < x[parent] else "left"
        middle = ((x[parent] + x[node]) / 2, (y[parent] + y[node]) / 2)
        ax.text(
            *middle,
            f" {text} ",
            ha=side,
            va="center",
            fontsize=fontsize,
            bbox={"fc": WHITE, "ec": "none", "pad": 0.5},
            zorder=2.5,
        )
    for node, text in enumerate(texts):
        colour = WHITE if fills is None else fills[node]
        shape = "square,pad=0.3" if tree.is_leaf[node] else "round,pad=0.35"
        ink = WHITE if colour == BLACK else "black"
        box = {"boxstyle": shape, "fc": colour, "ec": "#555555", "lw": 0.8}
        ax.text(x[node], y[node], text, ha="center", va="center", fontsize=fontsize, color=ink, bbox=box, zorder=3)
    lines = lines or {}
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, max(len(lines), 1)))
    for i, (label, pruning) in enumerate(lines.items()):
        points = cut_line(tree, pruning, 0.3 + 0.45 * i / len(lines), 0.12 * (i / len(lines) - 0.5))
        ax.plot(points[:, 0], points[:, 1], ":", color=colours[i], lw=1.6, label=label, zorder=2)
    if lines:
        ax.legend(
            frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, title="cut below the line"
        )
    ax.set(xlim=(-0.7, tree.n_leaves - 0.3), ylim=(y.min() - (0.9 if lines else 0.5), 0.5), title=title)
    ax.set_axis_off()


def draw_label_rules(path: Path) -> None:
    """Draw Figure 1 of 2001: a tree that the rows that label the leaves prune in different ways."""
    tree, grown, held = label_rules_tree()
    texts = [SIGNS[label] for label in grown.majority]
    for leaf in tree.leaves.tolist():
        negative, positive = held.by_class[leaf]
        texts[leaf] += f"\n{negative}/{positive}"
    rules: dict[str, LabelRule] = {"growing": "grow", "pruning": "prune"}
    lines = {
        f"labels of the {rows} rows": reduced_error(tree, grown, held, labels=labels) for rows, labels in rules.items()
    }
    with new_figure(path, size=(7.5, 3.6), is_bare=False) as (ax,):
        title = "Figure 1: negative/positive pruning rows"
        draw_tree(ax, tree, texts, lines=lines, title=title, fontsize=11)


def draw_node_roles(path: Path) -> None:
    """Draw Figure 2 of 2001: the interior, the fringe and the safe nodes of a tree."""
    tree = node_roles_tree()
    is_in_fringe, safe = analysis.fringe(tree), set(analysis.safe_nodes(tree).tolist())
    names = {WHITE: "interior", GREY: "fringe", BLACK: "safe"}
    fills = [BLACK if node in safe else GREY if is_in_fringe[node] else WHITE for node in range(tree.n_nodes)]
    texts = ["leaf" if tree.is_leaf[node] else names[fills[node]] for node in range(tree.n_nodes)]
    with new_figure(path, size=(9, 4.4), is_bare=False) as (ax,):
        draw_tree(
            ax,
            tree,
            texts,
            fills=fills,
            title="Figure 2: interior (white), fringe (grey and black), safe nodes (black)",
        )


def draw_krk_tree(path: Path) -> None:
    """Draw Figures 2 and 3 of 1994: the king-rook-king tree, with a line for the best pruning of each size."""
    tree, counts = krk_tree()
    assert tree.schema is not None
    assert tree.schema.classes is not None
    classes = tree.schema.classes.tolist()
    texts = []
    for node in range(tree.n_nodes):
        if tree.is_leaf[node]:
            texts.append(f"{classes[int(counts.majority[node])]}\n{int(counts.total[node]):,}")
        else:
            texts.append(fill(tree.schema.columns[int(tree.feature[node])].name, LINE_WIDTH_OF_TEXT))
    edge_texts = {child: ("yes", "no")[i] for node in tree.internal for i, child in enumerate(tree.children(int(node)))}
    best = best_of_size(tree, counts)
    n_rows = int(counts.total[0])
    lines = {
        f"leaves {pruning.n_leaves}, accuracy {100 * (1 - errors / n_rows):.2f} %": pruning
        for errors, pruning in zip(best.errors.tolist(), best, strict=True)
        if pruning.n_leaves < tree.n_leaves
    }
    with new_figure(path, size=(15, 11), is_bare=False) as (ax,):
        title = "Figures 2 and 3: the legality of king-rook-king positions, and the best pruning of each size"
        draw_tree(ax, tree, texts, edge_texts=edge_texts, lines=lines, title=title)


def draw_nine_tests(path: Path) -> None:
    """Draw Figure 8 of 1994: the example of nine tests, with a line for the smallest pruning of each error."""
    tree, counts = nine_tests()
    costs = counts.resubstitution_costs
    _, low, high = tree_positions(tree)
    costs_of_leaves = np.append(0, np.cumsum(costs[tree.leaves]))
    increase = costs - (costs_of_leaves[high.astype(int) + 1] - costs_of_leaves[low.astype(int)])
    texts = []
    names = iter(NINE_NAMES)
    for node in range(tree.n_nodes):
        a, b = counts.by_class[node].tolist()
        texts.append("a" * a + "b" * b if tree.is_leaf[node] else f"{next(names)}: {int(increase[node])}")
    best = best_of_size(tree, counts)
    smallest = dict(sorted(zip(best.errors.tolist(), best, strict=True), key=lambda pair: -pair[1].n_leaves))
    lines = {f"errors {errors}, leaves {smallest[errors].n_leaves}": smallest[errors] for errors in sorted(smallest)}
    with new_figure(path, size=(12, 5.5), is_bare=False) as (ax,):
        title = "Figure 8: nine tests with the errors that a cut adds, and the smallest pruning of each error"
        draw_tree(ax, tree, texts, lines=lines, title=title)


def draw_notes_trees(path: Path) -> None:
    """Draw Figures 12.1, 12.2 and 12.5 to 12.7 of the lecture notes."""
    with new_figure(path, (2, 3), (14, 7.5), is_bare=False) as axes:
        draw_tree(
            axes[0], Tree.from_parents([-1, 0, 0, 2, 2]), ["x1 ≥ 3", "1", "x2 ≥ 1", "0", "1"],
            edge_texts={1: "yes", 2: "no", 3: "no", 4: "yes"}, title="Figure 12.1: a decision tree",
        )  # fmt: skip
        p, r = POSITIVE_SHARES
        q = SHARE_OF_FALSE * p + (1 - SHARE_OF_FALSE) * r
        draw_tree(
            axes[1], Tree.from_parents([-1, 0, 0]), [f"h, q = {q:g}", f"p = {p:g}", f"r = {r:g}"],
            edge_texts={1: f"h = 0: τ = {SHARE_OF_FALSE:g}", 2: f"h = 1: 1 - τ = {1 - SHARE_OF_FALSE:g}"},
            title="Figure 12.2: split of probability, q = τp + (1 - τ)r",
        )  # fmt: skip
        tree, grown, held = subtree_at_x4()
        counted = [f"{ones} of class 1\n{zeros} of class 0" for zeros, ones in held.by_class.tolist()]
        texts = ["X4", *(f"{label}\n{rows}" for label, rows in zip(grown.majority[1:], counted[1:], strict=True))]
        edge_texts = {node: str(int(held.total[node])) for node in (1, 2)}
        n_errors = int(held.errors_if_leaf(grown.majority)[tree.leaves].sum())
        title = f"Figure 12.5: the subtree at X4, errors: {n_errors}"
        draw_tree(axes[2], tree, texts, edge_texts=edge_texts, title=title)
        pruning = reduced_error(tree, grown, held)
        title = f"Figure 12.6: X4 is cut, errors: {int(pruning.errors(held))}"
        draw_tree(axes[3], Tree.from_parents([-1]), [f"{grown.majority[0]}\n{counted[0]}"], title=title)
        tree, counts = basic_setting()
        _, low, high = tree_positions(tree)
        is_below = (low >= low[SETTING_NODE]) & (high <= high[SETTING_NODE])
        texts = [f"{node} rows" for node in counts.total.tolist()]
        texts[SETTING_NODE] = f"v, m = {int(counts.total[SETTING_NODE])}"
        title = f"Figure 12.7: v at depth {int(tree.depth[SETTING_NODE])}, its subtree of {int(is_below.sum())} nodes"
        draw_tree(axes[4], tree, texts, fills=[HIGHLIGHTED if below else WHITE for below in is_below], title=title)
        axes[5].set_axis_off()
