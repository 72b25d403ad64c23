"""TreeDisplay: a drawing of a tree in one of three styles. By default, the size of the tree decides the style.

    boxes      up to 40 leaves     a box per node, with the test that leads to the node, its prediction and its rows
    branches   up to 500 leaves    lines whose width shows the number of rows, with text where there is room
    icicle     larger or deeper    a rectangle per node, whose width shows the number of rows

In all styles the colour of a node shows its class or its mean. Purer nodes have stronger colours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from .._utils.arrays import Array, Floats, Ints, Longs
from .._utils.checks import check_name
from ..core import Counts, Moments, Pruning, Tree, as_model
from ..errors import UnsupportedError
from ..inspection.view import TreeView, view_of
from .display import Axes, ModelDisplay, check_sample, class_colours, on_white
from .distribution import Bars, encode_shown_rows, node_bars

Style = Literal["boxes", "branches", "icicle"]

MAX_LEAVES: dict[Style, float] = {"boxes": 40, "branches": 500, "icicle": np.inf}
MAX_LEVELS = {"boxes": 16, "branches": 50, "icicle": 60}  # deeper trees get the next style; icicles hide deeper levels
UNKNOWN_COLOUR = (0.85, 0.85, 0.85)  # a node without rows, or a tree without classes and means
MIN_ICICLE_TEXT_SHARE = 1 / 400  # nodes with a smaller share of the rows are too narrow for texts


class PrunedDisplay(ModelDisplay):
    """A figure that can be made from a tree and its pruning."""

    from_tree: ClassVar[Callable[..., Any]]

    @classmethod
    def from_model(cls, model: object, **options: Any) -> Self:
        """Return the display of the pruned tree and the growing sample of a model; options as for `from_tree`."""
        fitted = as_model(model, done="drawn")
        return cast("Self", cls.from_tree(fitted.tree, fitted.grown, **{"pruning": fitted.pruning, **options}))


@dataclass
class TreeDisplay(PrunedDisplay):
    """The drawing of a tree. The colours show classes and purity (or means), the widths numbers of rows.

    A display is made by `from_estimator`, `from_model` or `from_tree`. The arrays have one entry per drawn node, in
    pre-order.

    Parameters
    ----------
    node : array of int
        Number of each node in the grown tree.
    parent : array of int
        Position of the parent in these arrays; -1 for the root.
    x : array of float
        Position across the tree. In an icicle, the left edge as a share of the rows.
    depth : array of int
        Depth of each node.
    share : array of float
        Share of the rows (without counts: of the leaves) that reach the node.
    label : array of int, optional
        Class number of each node.
    mean : array of float, optional
        For regression, the mean of each node.
    colour : array of shape (n_nodes, 3)
        Colour of each node as red, green and blue.
    n_hidden : array of int
        Number of hidden leaves below each node, shown as "+n more".
    text : list of tuple of str
        The lines of text of each node: the test that leads to the node, its prediction and its rows. Nodes of an icicle
        that are too narrow have no text.
    class_names : list of str
        Names of the classes.
    n_leaves : int
        Number of leaves of the tree, including hidden ones.
    style : "boxes", "branches" or "icicle"
        The style of the drawing.
    filled : bool
        Whether nodes are coloured.
    bars : list of Bars or None
        For each node with a test, the histogram of the tested column, drawn under the box of the node.
    thresholds : array of float
        The threshold of each node; NaN for leaves and nominal tests.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> display = TreeDisplay.from_tree(tree, counts, feature_names=["size"])
    >>> display.text[1], display.share[1].round(3).item()
    (('size <= 1', 'no', '1 row, 0 wrong'), 0.333)
    """

    node: Ints
    parent: Ints
    x: Floats
    depth: Ints
    share: Floats
    label: Ints | None
    mean: Floats | None
    colour: Floats
    n_hidden: Longs
    text: list[tuple[str, ...]]
    class_names: list[str]
    n_leaves: int
    style: Style
    filled: bool = True
    bars: list[Bars | None] = field(default_factory=list)
    thresholds: Floats | None = None

    @classmethod
    def from_tree(
        cls,
        tree: Tree,
        counts: Counts | Moments | None = None,
        *,
        pruning: Pruning | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        max_depth: int | None = None,
        proportion: bool = False,
        decimals: int | None = None,
        filled: bool = True,
        node_ids: bool = False,
        style: Literal["auto", "boxes", "branches", "icicle"] = "auto",
        data: object = None,
    ) -> Self:
        """Return the display of a tree.

        Parameters
        ----------
        tree : Tree
        counts : Counts or Moments, optional
            The sample that gives classes or means, colours and widths.
        pruning : Pruning, optional
            Draw the tree that is left after this pruning, with the labels of the pruning if it has any.
        feature_names, class_names : sequence of str, optional
            By default those of the data the tree was grown on.
        max_depth : int, optional
            Hide the tests below this depth (the root has depth 0) and show "+n more" instead. By default all tests are
            drawn, but at most the first 60 levels of a tree.
        proportion : bool
            Show shares instead of numbers of rows.
        decimals : int, optional
            Digits after the point of thresholds and means, as for `export_text`.
        filled : bool
            Whether nodes are coloured.
        node_ids : bool
            Whether nodes show their numbers, as for `export_text`.
        style : "auto", "boxes", "branches" or "icicle"
            By default boxes up to 40 leaves, branches up to 500, an icicle beyond.
        data : Table, X or (X, y), optional
            Rows for the histograms that are drawn under the boxes: the values of the tested column, by class.
        """
        check_name("style", style, ("auto", *MAX_LEVELS))
        options: dict[str, Any] = {
            "pruning": pruning, "feature_names": feature_names, "class_names": class_names, "decimals": decimals
        }  # fmt: skip
        view = shown_tree(tree, counts, max_depth=max_depth, **options)
        drawn_style = _style_for(view.tree) if style == "auto" else style
        if max_depth is None and int(view.tree.depth.max()) > MAX_LEVELS[drawn_style]:
            view = shown_tree(tree, counts, max_depth=MAX_LEVELS[drawn_style] - 1, **options)
        drawn_tree, rows = view.tree, _rows_per_node(view)
        share = rows / float(rows[0]) if rows[0] else np.zeros(drawn_tree.n_nodes)
        if drawn_style == "icicle":
            # The left edge of a node is the sum of the shares of all leaves before it in pre-order.
            x = np.append(0.0, np.cumsum(np.where(drawn_tree.is_leaf, share, 0.0)))[:-1]
            has_room = share > MIN_ICICLE_TEXT_SHARE
        else:
            x = view.position
            has_room = np.ones(drawn_tree.n_nodes, bool)
        texts = [_node_lines(view, v, proportion, node_ids) if has_room[v] else () for v in range(drawn_tree.n_nodes)]
        table = encode_shown_rows(tree, data)
        bars = {} if table is None else node_bars(tree, table, drawn_tree.ids[~drawn_tree.is_leaf].tolist())
        return cls(
            node=drawn_tree.ids,
            parent=drawn_tree.parent,
            x=x,
            depth=drawn_tree.depth,
            share=share,
            label=view.label,
            mean=view.mean,
            colour=_node_colours(view),
            n_hidden=view.n_hidden,
            text=texts,
            class_names=[] if view.label is None else view.classes,
            n_leaves=tree.n_leaves if pruning is None else pruning.n_leaves,
            style=drawn_style,
            filled=filled,
            bars=[bars.get(v) for v in drawn_tree.ids.tolist()] if bars else [],
            thresholds=drawn_tree.threshold,
        )

    def plot(self, ax: "Axes | None" = None, *, fontsize: float | None = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : axes, optional
            A new figure of a fitting size by default.
        fontsize : float, optional
            Size of the letters in points; by default as large as fits.
        """
        from ._tree_drawing import draw_boxes, draw_branches, draw_icicle

        draw = {"boxes": draw_boxes, "branches": draw_branches, "icicle": draw_icicle}[self.style]
        draw(self, ax, fontsize)
        return self


def _style_for(tree: Tree) -> Style:
    """Return the first style that has room for the leaves and levels of a tree."""
    for style, max_leaves in MAX_LEAVES.items():
        if tree.n_leaves <= max_leaves and tree.depth.max() <= MAX_LEVELS[style]:
            return style
    return "icicle"


def _node_lines(view: TreeView, v: int, proportion: bool, node_ids: bool) -> tuple[str, ...]:
    """Return the lines of text of a node that are not empty: number, test that leads to it, prediction and rows."""
    is_bare_root = v == 0 and view.sample is None
    branch = f"node {view.tree.ids[0]}" if is_bare_root else view.branch_text(v)
    number = view.number_text(v) if node_ids else ""
    lines = (number, branch, view.prediction(v), _rows_line(view, v, proportion))
    return tuple(line for line in lines if line)


def shown_tree(tree: Tree, counts: Counts | Moments | None, **options: Any) -> TreeView:
    """Return the view of a tree for a figure; the options are those of `view_of`."""
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"a {type(tree).__name__} is given; a Tree is needed, as grow returns it")
    if counts is not None:
        check_sample(counts, "counts")
    return view_of(tree, counts, **options)


def _rows_per_node(view: TreeView) -> Array:
    """Return the number (or weight) of the rows of each node; without counts, the number of leaves below the node."""
    if view.sample is not None:
        return view.sample.total
    ends = np.append(0, np.cumsum(np.where(view.tree.is_leaf, np.maximum(view.n_hidden, 1), 0)))
    return np.asarray(ends[view.tree.end] - ends[:-1])


def _node_colours(view: TreeView) -> Floats:
    """Return the red, green and blue of each node, from its mean or from its class and purity."""
    if view.mean is not None:
        colours = _mean_colours(view.mean)
    elif view.label is not None:
        colours = on_white(class_colours(len(view.classes))[view.label], 0.15 + 0.85 * _purity(view))
    else:
        colours = np.tile(UNKNOWN_COLOUR, (view.tree.n_nodes, 1))
    if view.sample is not None:
        colours[view.sample.total == 0] = UNKNOWN_COLOUR
    return colours


def _mean_colours(mean: Array) -> Floats:
    """Return the colour of each mean on a scale from the lowest to the highest mean."""
    from matplotlib import colormaps

    scaled = mean / max(float(np.abs(mean).max()), 1e-300)  # differences of very large numbers would overflow
    low, high = float(scaled.min()), float(scaled.max())
    position = (scaled - low) / (high - low) if high > low else np.full(len(scaled), 0.5)
    return on_white(np.asarray(colormaps["viridis"](position))[:, :3], np.full(len(scaled), 0.85))


def _purity(view: TreeView) -> Floats:
    """Return the share of right predictions in each node, scaled so that guessing a class has purity 0."""
    if view.sample is None or view.errors is None:
        return np.ones(view.tree.n_nodes)
    total, chance = view.sample.total, 1 / max(len(view.classes), 2)
    share = 1 - np.divide(view.errors, total, out=np.zeros(len(total)), where=total > 0)
    return np.asarray(np.clip((share - chance) / (1 - chance), 0, 1))


def _rows_line(view: TreeView, v: int, proportion: bool) -> str:
    """Return the text for the rows and errors of a node; for a hidden branch, the rows and the number of its leaves."""
    hidden = f"+{view.n_hidden[v]:,} more" if view.n_hidden[v] else ""
    if view.sample is None:
        return hidden
    rows, all_rows = float(view.sample.total[v]), float(view.sample.total[0])
    rows_text = f"{rows / all_rows:.1%} of rows" if proportion and all_rows else view.rows_text(v)
    if hidden:
        return f"{rows_text}, {hidden}"
    if view.errors is None or not rows:
        return rows_text
    errors = float(view.errors[v])
    if proportion:
        return f"{rows_text}, {errors / rows:.1%} wrong"
    return f"{rows_text}, {f'{errors:,.0f}' if errors.is_integer() else f'{errors:,.4g}'} wrong"
