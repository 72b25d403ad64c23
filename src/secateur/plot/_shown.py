"""What figures add to the view of a tree: colours, and numbers of rows in words."""

from typing import Any

import numpy as np

from ..data.arrays import Array, Floats
from ..errors import UnsupportedError
from ..nouns import Counts, Moments, Tree
from ..show.view import TreeView, view_of
from .parts import check_sample, class_colours, on_white

UNKNOWN = (0.85, 0.85, 0.85)  # no rows, or nothing known


def shown_tree(tree: Tree, counts: Counts | Moments | None, **options: Any) -> TreeView:
    """Return the view of what is to be drawn; the options are those of `view_of`."""
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"a {type(tree).__name__} is given; a Tree is needed, as grow returns it")
    if counts is not None:
        check_sample(counts, "counts")
    return view_of(tree, counts, **options)


def rows_of(view: TreeView) -> Array:
    """Rows (or weight) of each node; without counts its leaves, those left out as well."""
    if view.sample is not None:
        return view.sample.total
    ends = np.append(0, np.cumsum(np.where(view.tree.is_leaf, np.maximum(view.n_hidden, 1), 0)))
    return np.asarray(ends[view.tree.end] - ends[:-1])


def colours(view: TreeView) -> Floats:
    """Red, green and blue of each node: its class, the paler the more are mixed, or its mean."""
    if view.mean is not None:
        from matplotlib import colormaps

        scaled = view.mean / max(float(np.abs(view.mean).max()), 1e-300)  # else the difference of large ones overflows
        low, high = float(scaled.min()), float(scaled.max())
        strength = (scaled - low) / (high - low) if high > low else np.full(len(scaled), 0.5)
        found = on_white(np.asarray(colormaps["viridis"](strength))[:, :3], np.full(len(scaled), 0.85))
    elif view.label is not None:
        strength = np.ones(view.tree.n_nodes)
        if view.sample is not None and view.wrong is not None:
            total, chance = view.sample.total, 1 / max(len(view.classes), 2)
            share = 1 - np.divide(view.wrong, total, out=np.zeros(len(total)), where=total > 0)
            strength = np.clip((share - chance) / (1 - chance), 0, 1)
        found = on_white(class_colours(len(view.classes))[view.label], 0.15 + 0.85 * strength)
    else:
        found = np.tile(UNKNOWN, (view.tree.n_nodes, 1))
    if view.sample is not None:
        found[view.sample.total == 0] = UNKNOWN
    return found


def size_text(view: TreeView, v: int, *, proportion: bool = False) -> str:
    """How many rows, and how many of them of another class; at a stub how many leaves are left out."""
    hidden = f"+{view.n_hidden[v]:,} more" if view.n_hidden[v] else ""
    if view.sample is None:
        return hidden
    total, whole = float(view.sample.total[v]), float(view.sample.total[0])
    text = f"{total / whole:.1%} of rows" if proportion and whole else view.size(v)
    if hidden:
        return f"{text}, {hidden}"
    if view.wrong is None or not total:
        return text
    wrong = float(view.wrong[v])
    told = f"{wrong / total:.1%}" if proportion else f"{wrong:,.0f}" if wrong.is_integer() else f"{wrong:,.4g}"
    return f"{text}, {told} wrong"
