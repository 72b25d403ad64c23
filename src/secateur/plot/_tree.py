"""TreeDisplay: the tree itself, in one of three styles by its size.

    boxes      up to 40 leaves     every node in words: what leads to it, its answer, its rows
    branches   up to 500 leaves    branches as wide as their rows; words where there is room
    icicle     larger or deeper    one rectangle per node, as wide as its rows

In all of them colour is the class (or the mean) and its depth the purity.
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

MOST_LEAVES: dict[Style, float] = {"boxes": 40, "branches": 500, "icicle": np.inf}
MOST_LEVELS = {"boxes": 16, "branches": 50, "icicle": 60}  # of depth; deeper trees take the next style, then stubs
UNKNOWN = (0.85, 0.85, 0.85)  # no rows, or nothing known


class PrunedDisplay(ModelDisplay):
    """A figure of a pruned tree."""

    from_tree: ClassVar[Callable[..., Any]]

    @classmethod
    def from_model(cls, model: object, **options: Any) -> Self:
        """Return the display of a model as pruned, with its growing sample; options as for `from_tree`."""
        found = as_model(model, done="drawn")
        return cast("Self", cls.from_tree(found.tree, found.grown, **{"pruning": found.pruning, **options}))


@dataclass
class TreeDisplay(PrunedDisplay):
    """A tree drawn: node colour by class and purity (or by mean), branch width by rows.

    Made by `from_estimator`, `from_model` or `from_tree`; one entry per drawn node, in
    pre-order.

    Parameters
    ----------
    node : array of int
        Number of each node in the tree as grown.
    parent : array of int
        Its parent, as a place in these arrays; -1 for the root.
    x : array of float
        Place across the tree. Icicle: the left edge, as a share of the rows.
    depth : array of int
    share : array of float
        Share of the rows (without counts: of the leaves) that reach the node.
    label : array of int, optional
        Class number of each node.
    mean : array of float, optional
        Regression: the mean of each node.
    colour : array of shape (n_nodes, 3)
    n_hidden : array of int
        Leaves left out under each node, shown as "+n more".
    text : list of tuple of str
        The lines of each node: what leads to it, its answer, its rows. Icicle: empty where a
        node is too narrow for words.
    class_names : list of str
    n_leaves : int
        Leaves of the tree, drawn or not.
    style : "boxes", "branches" or "icicle"
    filled : bool
    bars : list of Bars or None
        Of each node that tests, how the rows given are spread over its column; drawn under boxes.
    thresholds : array of float
        What it compares with; NaN for categories.

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
            Gives classes or means, colours and widths.
        pruning : Pruning, optional
            Draw the tree as cut back by it, with its classes if it has any.
        feature_names, class_names : sequence of str, optional
            By default those of the data the tree was grown on.
        max_depth : int, optional
            Tests below this depth (0: the root) are left out and shown as "+n more". By default
            all are drawn, of a very deep tree the first 60 levels.
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
            Rows whose distribution over the tested column, by class, is drawn under each box.
        """
        check_name("style", style, ("auto", *MOST_LEVELS))
        options: dict[str, Any] = {
            "pruning": pruning, "feature_names": feature_names, "class_names": class_names, "decimals": decimals
        }  # fmt: skip
        view = shown_tree(tree, counts, max_depth=max_depth, **options)
        chosen = _style_for(view.tree) if style == "auto" else style
        if max_depth is None and int(view.tree.depth.max()) > MOST_LEVELS[chosen]:
            view = shown_tree(tree, counts, max_depth=MOST_LEVELS[chosen] - 1, **options)
        small, rows = view.tree, _rows_of(view)
        share = rows / float(rows[0]) if rows[0] else np.zeros(small.n_nodes)
        if chosen == "icicle":
            at_leaves = np.append(0.0, np.cumsum(np.where(small.is_leaf, share, 0.0)))
            x = at_leaves[:-1]  # what lies to the left: the leaves before it in pre-order
        else:
            x = view.position
        has_room = share > (1 / 400 if chosen == "icicle" else -1)
        words = [_words(view, v, proportion, node_ids) if has_room[v] else () for v in range(small.n_nodes)]
        table = encode_shown_rows(tree, data)
        bars = {} if table is None else node_bars(tree, table, small.ids[~small.is_leaf].tolist())
        return cls(
            node=small.ids,
            parent=small.parent,
            x=x,
            depth=small.depth,
            share=share,
            label=view.label,
            mean=view.mean,
            colour=_colours(view),
            n_hidden=view.n_hidden,
            text=words,
            class_names=[] if view.label is None else view.classes,
            n_leaves=tree.n_leaves if pruning is None else pruning.n_leaves,
            style=chosen,
            filled=filled,
            bars=[bars.get(v) for v in small.ids.tolist()] if bars else [],
            thresholds=small.threshold,
        )

    def plot(self, ax: "Axes | None" = None, *, fontsize: float | None = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : axes, optional
            A new figure of a fitting size by default.
        fontsize : float, optional
            In points; by default as large as fits.
        """
        from . import _tree_drawing as drawing

        {"boxes": drawing.boxes, "branches": drawing.branches, "icicle": drawing.icicle}[self.style](self, ax, fontsize)
        return self


def _style_for(tree: Tree) -> Style:
    deepest = tree.depth.max()
    fit = (style for style, most in MOST_LEAVES.items() if tree.n_leaves <= most and deepest <= MOST_LEVELS[style])
    return next(fit, "icicle")


def _words(view: TreeView, v: int, proportion: bool, node_ids: bool) -> tuple[str, ...]:
    """The lines of a node."""
    way = view.branch_text(v) if v or view.sample is not None else f"node {view.tree.ids[0]}"
    lines = (view.number_text(v) if node_ids else "", way, view.prediction(v), _size_text(view, v, proportion))
    return tuple(line for line in lines if line)


def shown_tree(tree: Tree, counts: Counts | Moments | None, **options: Any) -> TreeView:
    """Return the view of what is to be drawn; the options are those of `view_of`."""
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"a {type(tree).__name__} is given; a Tree is needed, as grow returns it")
    if counts is not None:
        check_sample(counts, "counts")
    return view_of(tree, counts, **options)


def _rows_of(view: TreeView) -> Array:
    """Rows (or weight) of each node; without counts its leaves, those left out as well."""
    if view.sample is not None:
        return view.sample.total
    ends = np.append(0, np.cumsum(np.where(view.tree.is_leaf, np.maximum(view.n_hidden, 1), 0)))
    return np.asarray(ends[view.tree.end] - ends[:-1])


def _colours(view: TreeView) -> Floats:
    """Red, green and blue of each node: its class, the paler the more are mixed, or its mean."""
    if view.mean is not None:
        from matplotlib import colormaps

        scaled = view.mean / max(float(np.abs(view.mean).max()), 1e-300)  # else the difference of large ones overflows
        low, high = float(scaled.min()), float(scaled.max())
        strength = (scaled - low) / (high - low) if high > low else np.full(len(scaled), 0.5)
        found = on_white(np.asarray(colormaps["viridis"](strength))[:, :3], np.full(len(scaled), 0.85))
    elif view.label is not None:
        strength = np.ones(view.tree.n_nodes)
        if view.sample is not None and view.errors is not None:
            total, chance = view.sample.total, 1 / max(len(view.classes), 2)
            share = 1 - np.divide(view.errors, total, out=np.zeros(len(total)), where=total > 0)
            strength = np.clip((share - chance) / (1 - chance), 0, 1)
        found = on_white(class_colours(len(view.classes))[view.label], 0.15 + 0.85 * strength)
    else:
        found = np.tile(UNKNOWN, (view.tree.n_nodes, 1))
    if view.sample is not None:
        found[view.sample.total == 0] = UNKNOWN
    return found


def _size_text(view: TreeView, v: int, proportion: bool) -> str:
    """How many rows, and how many of them of another class; at a stub how many leaves are left out."""
    hidden = f"+{view.n_hidden[v]:,} more" if view.n_hidden[v] else ""
    if view.sample is None:
        return hidden
    total, whole = float(view.sample.total[v]), float(view.sample.total[0])
    text = f"{total / whole:.1%} of rows" if proportion and whole else view.rows_text(v)
    if hidden:
        return f"{text}, {hidden}"
    if view.errors is None or not total:
        return text
    wrong = float(view.errors[v])
    told = f"{wrong / total:.1%}" if proportion else f"{wrong:,.0f}" if wrong.is_integer() else f"{wrong:,.4g}"
    return f"{text}, {told} wrong"
