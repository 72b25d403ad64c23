"""One view of a tree: what is left of it, what each node answers, and the way to it in words.

Text, rules, exports, figures and the report read a tree through a `TreeView` and nothing else, so
that all of them tell the same. It is built once, by `view_of`, from arrays in pre-order: no depth
is too deep.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.arrays import Array, Bools, Floats, Ints, Longs, write_protect
from .._utils.checks import check_int
from ..core import Counts, Moments, Pruning, Tree
from ..core.class_names import class_names_of
from ..data.table import Column
from ..errors import PruningError
from ._reachable import ReachableValues, child_numbers, find_reachable_values, walk
from .wording import categories_text, column_names, mean_text, range_text, rows_text, threshold_text

__all__ = ["TreeView", "view_of"]


@dataclass(frozen=True, eq=False)
class TreeView:
    """A tree as it is shown; one entry per shown node, in pre-order.

    Made by `view_of`.

    Parameters
    ----------
    tree : Tree
        What is left of it. `tree.ids` are the numbers of the nodes in the tree as grown.
    node : array of int
        Number of each node in the tree that was given, as prunings, limits and `apply` have it.
    sample : Counts or Moments, optional
        What was counted, on the nodes that are left.
    label : array of int, optional
        The class each node answers.
    n_hidden, n_levels : arrays of int
        Leaves and levels left out under each node by `max_depth`; 0 except at such stubs.
    columns, classes : list of str
        Their names, each on one line.
    decimals : int, optional
        Digits after the point that were asked for.

    Examples
    --------
    >>> import secateur
    >>> view = view_of(*secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"]), feature_names=["size"])
    >>> [view.branch(v) for v in (1, 2)], [view.answer(v) for v in (1, 2)]
    (['size <= 3', 'size > 3'], ['no', 'yes'])
    """

    tree: Tree
    node: Longs
    sample: Counts | Moments | None
    label: Ints | None
    n_hidden: Longs
    n_levels: Longs
    columns: list[str]
    classes: list[str]
    decimals: int | None = None

    @cached_property
    def child(self) -> Ints:
        """Which child of its parent each node is."""
        return write_protect(child_numbers(self.tree))

    @cached_property
    def is_nominal(self) -> Bools:
        """Which nodes test for categories."""
        return write_protect(np.diff(self.tree.branch_start) > 0)

    @cached_property
    def mean(self) -> Array | None:
        """The number each node of a regression tree answers."""
        return None if self.sample is None or self.sample.has_classes else self.sample.predictions

    @cached_property
    def wrong(self) -> Array | None:
        """Rows of another class than the node answers."""
        return None if self.sample is None or self.label is None else self.sample.unrecorded_costs_if_leaf(self.label)

    @cached_property
    def shares(self) -> Floats | None:
        """The share of each class in each node; of one without rows that of its parent."""
        if self.sample is None or not self.sample.has_classes:
            return None
        by_class, total = self.sample.by_class, self.sample.total
        shares = by_class / np.where(total > 0, total, 1)[:, None]
        for v in np.flatnonzero(total == 0).tolist():  # parents come first, and have their shares already
            shares[v] = shares[self.tree.parent[v]] if v else 1 / shares.shape[1]
        return write_protect(shares)

    @cached_property
    def threshold(self) -> list[str]:
        """The threshold of each node as people read it; empty where there is none."""
        found = [""] * self.tree.n_nodes
        for v in np.flatnonzero((self.tree.feature >= 0) & ~self.is_nominal).tolist():
            exact, short = float(self.tree.threshold[v]), float(self.tree.rounded[v])
            found[v] = threshold_text(exact, short, self.decimals, is_date=self.is_date(int(self.tree.feature[v])))
        return found

    @cached_property
    def place(self) -> Floats:
        """Where each node stands across a drawing: leaves one apart, parents midway between first and last child."""
        place, last = (np.cumsum(self.tree.is_leaf) - 1.0).tolist(), np.zeros(self.tree.n_nodes, np.int64)
        last[self.tree.parent[1:]] = np.arange(1, self.tree.n_nodes)  # of several children the last one stays
        for v in self.tree.internal[::-1].tolist():
            place[v] = (place[v + 1] + place[last[v]]) / 2
        return write_protect(np.array(place))

    @cached_property
    def reachable(self) -> ReachableValues:
        """What can arrive at each node."""
        return find_reachable_values(self.tree)

    def codes(self, v: int) -> Array:
        """The categories that lead from the parent of node `v` to it and can arrive there, as codes."""
        entries, start = self._entries
        codes: Array = entries[start[v] : start[v + 1]] - self.tree.branch_start[self.tree.parent[v]]
        return codes

    @cached_property
    def _entries(self) -> tuple[Longs, Longs]:
        """The entries of `tree.branch` by the node they lead to, and where those of each node begin."""
        tree = self.tree
        first, child = tree.child_lists
        owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.branch_start))
        to = np.where(self.reachable.arrives, child[first[owner] + tree.branch], tree.n_nodes)
        order = np.argsort(to, kind="stable")
        return order, np.searchsorted(to[order], np.arange(tree.n_nodes + 1))

    def branch(self, v: int) -> str:
        """What leads to node `v` from its parent; empty for the root."""
        p = int(self.tree.parent[v])
        if p < 0:
            return ""
        column = int(self.tree.feature[p])
        if column < 0:
            return f"node {self.tree.ids[v]}"
        if self.is_nominal[p]:
            return self.known(v)
        name, gaps, goes_on = self.columns[column], self.has_gaps(column), int(self.child[v]) == 0
        text = "" if self.threshold[p] == "inf" else self.threshold[p]  # one of inf asks whether the number is known
        ends = ("", text) if goes_on else (text, "")
        can_be_missing, can_be_known = bool(self.reachable.can_be_missing[v]), goes_on or bool(text)
        told = range_text(name, *ends, can_be_missing=can_be_missing, can_be_known=can_be_known, gaps=gaps)
        return told or f"{name} <= inf or missing"

    def known(self, v: int) -> str:
        """All that the way to node `v` asks of the column its parent tests; empty if nothing."""
        p = int(self.tree.parent[v])
        column = int(self.tree.feature[p])
        name, gaps = self.columns[column], self.has_gaps(column)
        if self.is_nominal[p]:
            about = self.about(column)
            return categories_text(name, self.codes(v), None if about is None else about.categories, gaps=gaps)
        ways = self.reachable
        low, high = (self.threshold[u] if u >= 0 else "" for u in (int(ways.low[v]), int(ways.high[v])))
        can_be_missing, can_be_known = bool(ways.can_be_missing[v]), bool(ways.can_be_known[v])
        return range_text(name, low, high, can_be_missing=can_be_missing, can_be_known=can_be_known, gaps=gaps)

    def rules(self) -> Iterator[tuple[int, list[str]]]:
        """Each leaf, and what its path asks of every column, in the order in which they are tested first."""
        is_leaf = self.tree.is_leaf.tolist()
        for v, _, last in walk(self.tree):
            if is_leaf[v]:
                yield v, [text for text in map(self.known, last.values()) if text]

    def test(self, v: int) -> str:
        """What node `v` asks; empty for a leaf."""
        column = int(self.tree.feature[v])
        if column < 0:
            return "" if self.tree.is_leaf[v] else f"node {self.tree.ids[v]}"
        if self.is_nominal[v]:
            return self.columns[column]
        is_known = self.threshold[v] == "inf"
        return f"{self.columns[column]} is known" if is_known else f"{self.columns[column]} <= {self.threshold[v]}"

    def mark(self, v: int) -> str:
        """The number of node `v` for people, from 1 on, and in brackets that in the tree as grown, for cuts."""
        return f"#{v + 1} ({self.tree.ids[v]})"

    def answer(self, v: int) -> str:
        """The class or the mean of node `v`; empty if neither is known."""
        if self.mean is not None:
            return mean_text(float(self.mean[v]), self.decimals)
        return "" if self.label is None else self.classes[self.label[v]]

    def size(self, v: int) -> str:
        """How many rows node `v` holds, or their weight; empty if that is not known."""
        return "" if self.sample is None else rows_text(self.sample.total[v], is_whole=self.sample.has_integer_weights)

    def conclusion(self, v: int) -> str:
        """What a rule that ends at node `v` concludes: its answer, its rows, their error."""
        name = self.answer(v) or f"leaf {self.tree.ids[v]}"
        if self.sample is None or (self.label is None and self.mean is None):
            return name
        total, error = float(self.sample.total[v]), ""
        if total > 0 and self.mean is not None:
            error = f", mean squared error {self.sample.sse[v] / total:.4g}"  # type: ignore[union-attr]
        elif total > 0 and self.wrong is not None:
            error = f", error {self.wrong[v] / total:.1%}"
        return f"{name} ({self.size(v)}{error})"

    def about(self, column: int) -> Column | None:
        """What the tree knows of a column."""
        return None if self.tree.schema is None else self.tree.schema.columns[column]

    def has_gaps(self, column: int) -> bool:
        """Whether the column had missing values in growing."""
        return self.tree.schema is not None and self.tree.schema.columns[column].has_missing

    def is_date(self, column: int) -> bool:
        """Whether the numbers of the column are days."""
        return self.tree.schema is not None and self.tree.schema.columns[column].is_date


def view_of(
    tree: Tree,
    counts: Counts | Moments | None = None,
    *,
    pruning: Pruning | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    n_classes: int = 0,
) -> TreeView:
    """Return the view of a tree.

    Parameters
    ----------
    tree : Tree
    counts : Counts or Moments, optional
        Gives the nodes their class or mean, their rows and errors.
    pruning : Pruning, optional
        Show the tree as cut back by it, with its classes if it has any.
    feature_names, class_names : sequence of str, optional
        By default those of the data the tree was grown on.
    max_depth : int, optional
        Tests below this depth (0: the root) are left out; a stub stands for each branch.
    decimals : int, optional
        Digits after the point of thresholds, means and weights. By default thresholds are as short
        as they can be and still part the growing rows the same way, and the others have two.
    n_classes : int
        Name so many classes at least.
    """
    for name, value in (("decimals", decimals), ("max_depth", max_depth)):
        if value is not None:
            check_int(name, value, 0)
    if counts is not None:
        counts.check_fits(tree)
    if pruning is not None and not pruning.tree.same_structure(tree):
        raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
    has_classes = counts is None or counts.has_classes
    label = None if pruning is None or not has_classes else pruning.node_labels
    label = counts.labels if label is None and counts is not None else label
    is_leaf = tree.is_leaf if pruning is None else pruning.is_leaf
    is_end = is_leaf if max_depth is None else is_leaf | (tree.depth == max_depth + 1)
    shown = Pruning.from_cuts(tree, is_end) if pruning is None or max_depth is not None else pruning
    here = np.flatnonzero(shown.is_kept | shown.is_leaf)
    small, sample = (shown.to_tree(), None) if counts is None else shown.to_tree(counts)
    n_hidden, n_levels = _hidden(tree, is_leaf, shown.is_leaf & ~is_leaf, here)
    n_classes = max(n_classes, 0 if counts is None else counts.n_labels)
    n_classes = n_classes if label is None else max(n_classes, int(label.max()) + 1)
    return TreeView(
        tree=small,
        node=write_protect(here),
        sample=sample,
        label=None if label is None else write_protect(label[here]),
        n_hidden=n_hidden,
        n_levels=n_levels,
        columns=column_names(tree, feature_names),
        classes=class_names_of(tree, class_names, n_classes) if has_classes else [],
        decimals=decimals,
    )


def _hidden(tree: Tree, is_leaf: Bools, is_stub: Bools, here: Longs) -> tuple[Longs, Longs]:
    """Leaves and levels left out under each shown node."""
    n_leaves, n_levels = np.zeros((2, tree.n_nodes), np.int64)
    for v in np.flatnonzero(is_stub).tolist():  # stubs do not lie under one another
        below = tree.depth[v : tree.end[v]][is_leaf[v : tree.end[v]]]
        n_leaves[v], n_levels[v] = len(below), below.max() - tree.depth[v]
    return write_protect(n_leaves[here]), write_protect(n_levels[here])
