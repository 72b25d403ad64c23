"""The tree as a figure shows it: cut back, with colours, and with each node told in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import Array, Floats, Ints, Longs
from ..errors import ParameterError, PruningError, UnsupportedError
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.pruning import Pruning
from ..nouns.tree import Tree
from ..show.wording import Threshold, among, class_names_of, column_names, thresholds_of
from ._parts import check_sample, class_colours, on_white, rows_text

UNKNOWN = (0.85, 0.85, 0.85)  # no rows, or nothing known


@dataclass(frozen=True)
class ShownTree:
    """A tree cut back by its pruning and by `max_depth`, and one number of each kind per node of it.

    Parameters
    ----------
    tree : Tree
        What is left; `tree.ids` are the numbers of the nodes in the tree as grown.
    n_hidden : array of int
        Leaves left out under each node; 0 except at stubs.
    rows : array
        Rows (or weight) of each node; its number of leaves where no counts are given.
    label, mean : arrays, optional
        The class of each node, or its mean.
    wrong : array, optional
        Rows of another class.
    strength : array of float
        Classes: how far the share of the class lies between chance and all. Means: where the
        mean lies between the least and the greatest.
    by_class : array, optional
    names, columns : list of str
    thresholds : list of Threshold
    """

    tree: Tree
    n_hidden: Longs
    rows: Array
    label: Ints | None
    mean: Floats | None
    wrong: Array | None
    strength: Floats
    by_class: Array | None
    names: list[str]
    columns: list[str]
    thresholds: list[Threshold]
    has_rows: bool
    decimals: int

    def colours(self) -> Floats:
        """Red, green and blue of each node."""
        if self.mean is not None:
            from matplotlib import colormaps

            found = np.asarray(colormaps["viridis"](self.strength))[:, :3]
            found = on_white(found, np.full(len(found), 0.85))
        elif self.label is not None:
            found = on_white(class_colours(len(self.names))[self.label], 0.15 + 0.85 * self.strength)
        else:
            found = np.tile(UNKNOWN, (self.tree.n_nodes, 1))
        if self.has_rows:
            found[self.rows == 0] = UNKNOWN
        return found

    def conditions(self) -> list[str]:
        """What leads to each node from its parent; empty for the root."""
        tree = self.tree
        parent, feature, default = tree.parent.tolist(), tree.feature.tolist(), tree.default.tolist()
        start, ids = tree.branch_start.tolist(), tree.ids.tolist()
        n_before = [0] * tree.n_nodes  # children of each node met so far
        found = [f"node {ids[0]}" if feature[0] < 0 and not self.has_rows else ""]
        for v in range(1, tree.n_nodes):
            p = parent[v]
            child, j = n_before[p], feature[p]
            n_before[p] += 1
            if j < 0:
                found.append(f"node {ids[v]}")
                continue
            column = None if tree.schema is None else tree.schema.columns[j]
            gaps = column is not None and column.has_missing
            if start[p] < start[p + 1]:
                codes = np.flatnonzero(tree.branch[start[p] : start[p + 1]] == child)
                found.append(among(self.columns[j], codes, None if column is None else column.categories, gaps=gaps))
            elif self.thresholds[p].value == np.inf:
                found.append(f"{self.columns[j]} is {'missing' if child else 'known'}")
            else:
                text = f"{self.columns[j]} {'>' if child else '<='} {self.thresholds[p].text}"
                found.append(f"{text} or missing" if gaps and child == default[p] else text)
        return found

    def answer(self, v: int) -> str:
        """The class or the mean of a node; empty if neither is known."""
        if self.mean is not None:
            return f"{self.mean[v]:,.{self.decimals}f}"
        return "" if self.label is None else self.names[self.label[v]]

    def size(self, v: int, *, proportion: bool = False) -> str:
        """How many rows, and how many of them of another class; at a stub how many leaves are left out."""
        hidden = f"+{self.n_hidden[v]:,} more" if self.n_hidden[v] else ""
        if not self.has_rows:
            return hidden
        total, whole = float(self.rows[v]), float(self.rows[0])
        text = f"{total / whole:.1%} of rows" if proportion and whole else rows_text(total, n_decimals=self.decimals)
        if hidden:
            return f"{text}, {hidden}"
        if self.wrong is None or not total:
            return text
        wrong = float(self.wrong[v])
        return f"{text}, {wrong / total:.1%} wrong" if proportion else f"{text}, {_number(wrong, self.decimals)} wrong"


def shown_tree(
    tree: Tree,
    counts: Counts | Moments | None = None,
    *,
    pruning: Pruning | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int = 2,
) -> ShownTree:
    """Return the tree as it will be shown; the parameters are those of `TreeDisplay.from_tree`."""
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"a {type(tree).__name__} is given; a Tree is needed, as grow returns it")
    whole_number("decimals", decimals)
    if max_depth is not None:
        whole_number("max_depth", max_depth)
    if counts is not None:
        check_sample(counts, "counts")
        counts.check_fits(tree)
    if pruning is not None and not pruning.tree.same_structure(tree):
        raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
    is_leaf = tree.is_leaf if pruning is None else pruning.is_leaf
    leaves_before = np.append(0, np.cumsum(is_leaf))
    n_leaves = leaves_before[tree.end] - leaves_before[:-1]
    cut = Pruning.from_cuts(tree, is_leaf if max_depth is None else is_leaf | (tree.depth == max_depth + 1))
    here = cut.is_kept | cut.is_leaf
    small = cut.to_tree()

    by_class = counts.by_class[here] if isinstance(counts, Counts) else None
    label = None if pruning is None or pruning.node_labels is None else pruning.node_labels
    if label is None and isinstance(counts, Counts):
        label = counts.majority
    label = None if label is None or isinstance(counts, Moments) else label[here]
    mean = counts.mean[here] if isinstance(counts, Moments) else None
    n_classes = max(0 if by_class is None else by_class.shape[1], 0 if label is None else int(label.max()) + 1)
    wrong, strength = None, np.ones(small.n_nodes)
    if by_class is not None and label is not None:
        total = by_class.sum(axis=1)
        known = label < by_class.shape[1]
        right = np.where(known, by_class[np.arange(len(label)), np.where(known, label, 0)], 0)
        wrong = total - right
        chance = 1 / max(n_classes, 2)
        share = np.divide(right, total, out=np.ones(len(total)), where=total > 0)
        strength = np.clip((share - chance) / (1 - chance), 0, 1)
    elif mean is not None:
        scaled = mean / max(float(np.abs(mean).max()), 1e-300)  # else the difference of large means overflows
        low, high = float(scaled.min()), float(scaled.max())
        strength = (scaled - low) / (high - low) if high > low else np.full(len(mean), 0.5)
    return ShownTree(
        tree=small,
        n_hidden=np.where(cut.is_leaf & ~is_leaf, n_leaves, 0)[here],
        rows=n_leaves[here] if counts is None else counts.total[here],
        label=label,
        mean=mean,
        wrong=wrong,
        strength=strength,
        by_class=by_class,
        names=class_names_of(small, class_names, n_classes) if mean is None and label is not None else [],
        columns=column_names(tree, feature_names),
        thresholds=thresholds_of(small, decimals),
        has_rows=counts is not None,
        decimals=decimals,
    )


def whole_number(name: str, value: Any) -> None:
    """Refuse what is not a whole number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ParameterError(f"{name}={value!r}; a whole number of 0 or more is needed")


def _number(value: float, n_decimals: int) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.{n_decimals}f}"
