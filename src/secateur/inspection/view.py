"""TreeView: a pruned tree with the texts, numbers and positions that its displays show.

Text, rules, exports, figures and the report read a tree only through a `TreeView`, so that they agree. `view_of`
creates it from arrays in pre-order, without recursion: trees of any depth work. `find_reachable_values` finds the
values of a tested column that can reach each node; tests of the same column nearer to the root exclude the others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.arrays import Array, Bools, Floats, Ints, Longs, write_protect
from .._utils.checks import check_int
from ..core import Counts, Moments, Pruning, Tree
from ..core.class_names import class_names_of
from ..data.table import Column
from ..errors import Argument, ParameterError, PruningError
from .wording import categories_text, column_names, mean_text, range_text, rows_text, threshold_text

MAX_DECIMALS = 324  # of the smallest double
NO_NODE = -1
__all__ = ["TreeView", "view_of"]


@dataclass(frozen=True, eq=False)
class ReachableValues:
    """For each node, the values of the column tested by its parent that can reach the node.

    Parameters
    ----------
    low, high : arrays of int
        For a numeric column, the nodes whose thresholds are the lower and the upper end of the range: a value is above
        the threshold of `low` and at most that of `high`. -1 where the range has no end, and at the root.
    can_be_missing, can_be_known : arrays of bool
        For a numeric column, whether a missing value and whether a known value can reach the node.
    arrives : array of bool
        One entry for each entry of `tree.branch`: whether a row with that category can reach the testing node.
    """

    low: Ints
    high: Ints
    can_be_missing: Bools
    can_be_known: Bools
    arrives: Bools


def find_reachable_values(tree: Tree) -> ReachableValues:
    """Return the values that can reach each node of a tree, found in one pass from the root."""
    n = tree.n_nodes
    low, high, can_be_missing, can_be_known = [NO_NODE] * n, [NO_NODE] * n, [True] * n, [True] * n
    parent, default, child = tree.parent.tolist(), tree.default.tolist(), child_numbers(tree).tolist()
    start, threshold, feature = tree.branch_start.tolist(), tree.threshold.tolist(), tree.feature.tolist()
    has_surrogates = _tests_with_surrogates(tree)
    arrives = np.ones(len(tree.branch), bool)
    for v, previous, latest in walk(tree):
        p = parent[v]
        is_below_numeric = v > 0 and feature[p] >= 0 and start[p] == start[p + 1]
        if is_below_numeric:
            if previous != NO_NODE:  # start from the range that an earlier test of the column left
                low[v], high[v] = low[previous], high[previous]
                can_be_missing[v], can_be_known[v] = can_be_missing[previous], can_be_known[previous]
            # Surrogates may send a missing value to any child.
            can_be_missing[v] = can_be_missing[v] and (child[v] == default[p] or has_surrogates[p])
            if threshold[p] == np.inf:  # the test separates known from missing values
                can_be_known[v] = can_be_known[v] and child[v] == 0
            elif child[v] == 0:
                if high[v] == NO_NODE or threshold[p] < threshold[high[v]]:
                    high[v] = p
            elif low[v] == NO_NODE or threshold[p] > threshold[low[v]]:
                low[v] = p
        is_nominal = start[v] < start[v + 1]
        previous_child = latest.get(feature[v], NO_NODE)
        if is_nominal and previous_child != NO_NODE:
            # Only the categories that an earlier test of the column sent this way arrive.
            tester = slice(start[parent[previous_child]], start[parent[previous_child] + 1])
            is_sent_here = tree.branch[tester] == child[previous_child]
            arrives[start[v] : start[v + 1]] = is_sent_here & arrives[tester]
    return ReachableValues(
        low=write_protect(np.array(low, np.int32)),
        high=write_protect(np.array(high, np.int32)),
        can_be_missing=write_protect(np.array(can_be_missing)),
        can_be_known=write_protect(np.array(can_be_known)),
        arrives=write_protect(arrives),
    )


def _tests_with_surrogates(tree: Tree) -> list[bool]:
    """Return whether each node has surrogates."""
    if tree.surrogates is None:
        return [False] * tree.n_nodes
    has_surrogates: list[bool] = (np.diff(tree.surrogates.start) > 0).tolist()
    return has_surrogates


def walk(tree: Tree) -> Iterator[tuple[int, int, dict[int, int]]]:
    """Yield the nodes in pre-order with the earlier tests on the path to each.

    Yields
    ------
    v : int
        The node.
    previous : int
        The child that the previous test of the column of v's parent led to on this path; -1 if there was none.
    latest : dict of int to int
        For each column tested on the path, the child that its latest test led to, in the order in which the columns
        are first tested. All nodes share one dictionary, which changes when the next node is yielded.
    """
    parent, end, feature = tree.parent.tolist(), tree.end.tolist(), tree.feature.tolist()
    latest: dict[int, int] = {}
    undo: list[tuple[int, int, int]] = []  # end of a branch, tested column, previous entry in `latest`
    yield 0, NO_NODE, latest
    for v in range(1, tree.n_nodes):
        while undo and undo[-1][0] <= v:
            _, column, previous = undo.pop()
            if previous == NO_NODE:
                del latest[column]  # the entry that was added last, because branches are left in reverse order
            else:
                latest[column] = previous
        column = feature[parent[v]]
        previous = latest.get(column, NO_NODE)
        undo.append((end[v], column, previous))
        latest[column] = v
        yield v, previous, latest


def child_numbers(tree: Tree) -> Ints:
    """Return the position of each node among the children of its parent; 0 for the root."""
    start, child = tree.child_lists
    numbers = np.zeros(tree.n_nodes, np.int32)
    numbers[child] = np.arange(len(child)) - start[tree.parent[child]]
    return numbers


@dataclass(frozen=True, eq=False)
class TreeView:
    """A tree as displays show it, made by `view_of`; arrays have one entry per shown node, in pre-order.

    Parameters
    ----------
    tree : Tree
        The pruned tree. `tree.ids` are the numbers of its nodes in the grown tree.
    node : array of int
        Number of each shown node in the tree that was passed to `view_of`.
    sample : Counts or Moments, optional
        The statistics of the shown nodes.
    label : array of int, optional
        The class that each node predicts.
    n_hidden, n_levels : arrays of int
        For each node below which `max_depth` hides a branch, the numbers of hidden leaves and levels; 0 at other nodes.
    columns, classes : list of str
        Names of the columns and the classes, each on one line.
    decimals : int, optional
        Digits after the point, as passed to `view_of`.

    Examples
    --------
    >>> import secateur
    >>> view = view_of(*secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"]), feature_names=["size"])
    >>> [view.branch_text(v) for v in (1, 2)], [view.prediction(v) for v in (1, 2)]
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
        """The position of each node among the children of its parent."""
        return write_protect(child_numbers(self.tree))

    @cached_property
    def is_nominal(self) -> Bools:
        """Whether each node tests the categories of a nominal column."""
        return write_protect(np.diff(self.tree.branch_start) > 0)

    @cached_property
    def mean(self) -> Array | None:
        """The number that each node of a regression tree predicts; None for classes and without a sample."""
        return None if self.sample is None or self.sample.has_classes else self.sample.predictions

    @cached_property
    def errors(self) -> Array | None:
        """The rows of each node whose class differs from its prediction; None without a sample or classes."""
        return None if self.sample is None or self.label is None else self.sample.unrecorded_costs_if_leaf(self.label)

    @cached_property
    def shares(self) -> Floats | None:
        """The share of each class in each node; a node without rows has the shares of its parent."""
        if self.sample is None or not self.sample.has_classes:
            return None
        by_class, total = self.sample.by_class, self.sample.total
        shares = by_class / np.where(total > 0, total, 1)[:, None]
        for v in np.flatnonzero(total == 0).tolist():  # in pre-order, so that the parent is finished
            shares[v] = shares[self.tree.parent[v]] if v else 1 / shares.shape[1]
        return write_protect(shares)

    @cached_property
    def threshold_texts(self) -> list[str]:
        """The threshold of each node as text; empty for leaves and nominal tests."""
        texts = [""] * self.tree.n_nodes
        for v in np.flatnonzero((self.tree.feature >= 0) & ~self.is_nominal).tolist():
            exact, rounded = float(self.tree.threshold[v]), float(self.tree.rounded[v])
            is_date = self.is_date(int(self.tree.feature[v]))
            texts[v] = threshold_text(exact, rounded, self.decimals, is_date=is_date)
        return texts

    @cached_property
    def position(self) -> Floats:
        """Position of each node across a drawing: leaves are 1 apart, parents midway between first and last child."""
        position = (np.cumsum(self.tree.is_leaf) - 1.0).tolist()
        last_child = np.zeros(self.tree.n_nodes, np.int64)
        last_child[self.tree.parent[1:]] = np.arange(1, self.tree.n_nodes)  # the last assignment wins
        for v in self.tree.internal[::-1].tolist():
            first_child = v + 1
            position[v] = (position[first_child] + position[last_child[v]]) / 2
        return write_protect(np.array(position))

    @cached_property
    def reachable(self) -> ReachableValues:
        """The values that can reach each node."""
        return find_reachable_values(self.tree)

    @cached_property
    def can_test_missing(self) -> Bools:
        """Whether a row with a missing value of the tested column can reach each internal node."""
        can_test_missing = np.zeros(self.tree.n_nodes, bool)
        can_test_missing[self.tree.parent[1:][self.reachable.can_be_missing[1:]]] = True
        return write_protect(can_test_missing)

    @cached_property
    def is_implied(self) -> Bools:
        """Whether the comparison that leads to each node follows from an earlier test of the same column."""
        parent = self.tree.parent
        is_below_comparison = np.isfinite(self.tree.threshold[parent]) & (parent >= 0)
        end = np.where(self.child > 0, self.reachable.low, self.reachable.high)
        return write_protect(is_below_comparison & (end != parent))

    def arriving_codes(self, v: int) -> Array:
        """Return the category codes that lead from the parent of node `v` to `v` and can reach the parent."""
        entries, start = self._branch_entries
        codes: Array = entries[start[v] : start[v + 1]] - self.tree.branch_start[self.tree.parent[v]]
        return codes

    @cached_property
    def _branch_entries(self) -> tuple[Longs, Longs]:
        """Positions in `tree.branch` sorted by the node they lead to, and the offset of each node among them."""
        tree = self.tree
        first, child = tree.child_lists
        tester = np.repeat(np.arange(tree.n_nodes), np.diff(tree.branch_start))
        target = np.where(self.reachable.arrives, child[first[tester] + tree.branch], tree.n_nodes)
        order = np.argsort(target, kind="stable")
        return order, np.searchsorted(target[order], np.arange(tree.n_nodes + 1))

    def branch_text(self, v: int) -> str:
        """Return the test that leads from the parent of node `v` to `v`; empty for the root."""
        p = int(self.tree.parent[v])
        if p < 0:
            return ""
        column = int(self.tree.feature[p])
        if column < 0:
            return f"node {self.tree.ids[v]}"
        if self.is_nominal[p]:
            return self.condition(v)
        is_first = int(self.child[v]) == 0
        # A threshold of infinity tests whether the value is known; it is not an end of a range.
        end = "" if self.threshold_texts[p] == "inf" else self.threshold_texts[p]
        text = range_text(
            self.columns[column],
            low="" if is_first else end,
            high=end if is_first else "",
            can_be_missing=bool(self.reachable.can_be_missing[v]),
            can_be_known=is_first or bool(end),
            has_missing=self.has_missing(column),
        )
        return text or f"{self.columns[column]} <= inf or missing"

    def condition(self, v: int) -> str:
        """Return what the path to node `v` requires of the column tested by its parent; empty if nothing."""
        p = int(self.tree.parent[v])
        column = int(self.tree.feature[p])
        name, has_missing = self.columns[column], self.has_missing(column)
        if self.is_nominal[p]:
            schema = self.column_schema(column)
            categories = None if schema is None else schema.categories
            return categories_text(name, self.arriving_codes(v), categories, has_missing=has_missing)
        low, high = int(self.reachable.low[v]), int(self.reachable.high[v])
        return range_text(
            name,
            low=self.threshold_texts[low] if low >= 0 else "",
            high=self.threshold_texts[high] if high >= 0 else "",
            can_be_missing=bool(self.reachable.can_be_missing[v]),
            can_be_known=bool(self.reachable.can_be_known[v]),
            has_missing=has_missing,
        )

    def rules(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each leaf and the conditions on its path, one per column, in the order of the first tests."""
        is_leaf = self.tree.is_leaf.tolist()
        for v, _, latest in walk(self.tree):
            if is_leaf[v]:
                conditions = map(self.condition, latest.values())
                yield v, [text for text in conditions if text]

    def premises(self, nodes: Iterable[int]) -> dict[int, str]:
        """Return for each of the given nodes the conditions on its path, joined by AND; "TRUE" for the root."""
        wanted = set(nodes)
        premises = {}
        for v, _, latest in walk(self.tree):
            if v in wanted:
                conditions = [self.condition(child) for child in latest.values()]
                premises[v] = " AND ".join(text for text in conditions if text) or "TRUE"
        return premises

    def test_text(self, v: int) -> str:
        """Return the test of node `v`; empty for a leaf."""
        column = int(self.tree.feature[v])
        if column < 0:
            return "" if self.tree.is_leaf[v] else f"node {self.tree.ids[v]}"
        if self.is_nominal[v]:
            return self.columns[column]
        threshold = self.threshold_texts[v]
        return f"{self.columns[column]} is known" if threshold == "inf" else f"{self.columns[column]} <= {threshold}"

    def number_text(self, v: int) -> str:
        """Return the number of node `v` among the shown nodes, from 1, and in brackets that in the grown tree."""
        return f"#{v + 1} ({self.tree.ids[v]})"

    def prediction(self, v: int) -> str:
        """Return the class or the mean that node `v` predicts; empty if neither is known."""
        if self.mean is not None:
            return mean_text(float(self.mean[v]), self.decimals)
        return "" if self.label is None else self.classes[self.label[v]]

    def rows_text(self, v: int) -> str:
        """Return the number of rows in node `v`, or their weight, as text; empty without a sample."""
        return "" if self.sample is None else rows_text(self.sample.total[v], is_whole=self.sample.has_integer_weights)

    def conclusion(self, v: int) -> str:
        """Return the end of a rule that leads to node `v`: its prediction, its rows and their error."""
        name = self.prediction(v) or f"leaf {self.tree.ids[v]}"
        if self.sample is None or (self.label is None and self.mean is None):
            return name
        total, error = float(self.sample.total[v]), ""
        if total > 0 and isinstance(self.sample, Moments):
            error = f", mean squared error {self.sample.sse[v] / total:.4g}"
        elif total > 0 and self.errors is not None:
            error = f", error {self.errors[v] / total:.1%}"
        return f"{name} ({self.rows_text(v)}{error})"

    def column_schema(self, column: int) -> Column | None:
        """Return the schema of a column; None for a tree without a schema."""
        return None if self.tree.schema is None else self.tree.schema.columns[column]

    def has_missing(self, column: int) -> bool:
        """Return whether the column had missing values in growing."""
        return self.tree.schema is not None and self.tree.schema.columns[column].has_missing

    def is_date(self, column: int) -> bool:
        """Return whether the numbers of the column are days."""
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
        The sample that gives the nodes their class or mean, their rows and errors.
    pruning : Pruning, optional
        Show this pruning of the tree, with the classes of the pruning if it has any.
    feature_names, class_names : sequence of str, optional
        By default those of the data the tree was grown on.
    max_depth : int, optional
        Hide the tests below this depth (the root has depth 0). Each hidden branch is shown as one node.
    decimals : int, optional
        Digits after the point of thresholds, means and weights. By default a threshold is the shortest number that
        splits the growing rows in the same way, and means and weights have two digits.
    n_classes : int
        Return names for at least this number of classes.
    """
    for name, value in (("decimals", decimals), ("max_depth", max_depth)):
        if value is not None:
            check_int(name, value, 0)
    if decimals is not None and decimals > MAX_DECIMALS:
        raise ParameterError(Argument("decimals", decimals), f"; at most {MAX_DECIMALS} are needed by any double")
    if counts is not None:
        counts.check_fits(tree)
    if pruning is not None and not pruning.tree.same_structure(tree):
        raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
    has_classes = counts is None or counts.has_classes
    label = _node_labels(counts, pruning)
    is_leaf = tree.is_leaf if pruning is None else pruning.is_leaf
    shown = _pruning_to_depth(tree, is_leaf, pruning, max_depth)
    node = np.flatnonzero(shown.is_kept | shown.is_leaf)
    if counts is None:
        pruned_tree, sample = shown.to_tree(), None
    else:
        pruned_tree, sample = shown.to_tree(counts)
        n_classes = max(n_classes, counts.n_labels)
    if label is not None:
        n_classes = max(n_classes, int(label.max()) + 1)
    n_hidden, n_levels = _hidden_branches(tree, is_leaf, shown.is_leaf & ~is_leaf, node)
    return TreeView(
        tree=pruned_tree,
        node=write_protect(node),
        sample=sample,
        label=None if label is None else write_protect(label[node]),
        n_hidden=n_hidden,
        n_levels=n_levels,
        columns=column_names(tree, feature_names),
        classes=class_names_of(tree, class_names, n_classes) if has_classes else [],
        decimals=decimals,
    )


def _node_labels(counts: Counts | Moments | None, pruning: Pruning | None) -> Ints | None:
    """Return the classes of the pruning if it has any, else those of the counts; None for a regression tree."""
    if counts is not None and not counts.has_classes:
        return counts.labels
    if pruning is not None and pruning.node_labels is not None:
        return pruning.node_labels
    return None if counts is None else counts.labels


def _pruning_to_depth(tree: Tree, is_leaf: Bools, pruning: Pruning | None, max_depth: int | None) -> Pruning:
    """Return the pruning with these leaves, and with a further cut at every node of depth `max_depth + 1`."""
    if max_depth is not None:
        return Pruning.from_cuts(tree, is_leaf | (tree.depth == max_depth + 1))
    return Pruning.from_cuts(tree, is_leaf) if pruning is None else pruning


def _hidden_branches(tree: Tree, is_leaf: Bools, is_cut: Bools, node: Longs) -> tuple[Longs, Longs]:
    """Return the numbers of leaves and of levels that are hidden below each shown node."""
    n_leaves, n_levels = np.zeros((2, tree.n_nodes), np.int64)
    for v in np.flatnonzero(is_cut).tolist():
        branch = slice(v, tree.end[v])
        leaf_depths = tree.depth[branch][is_leaf[branch]]
        n_leaves[v], n_levels[v] = len(leaf_depths), leaf_depths.max() - tree.depth[v]
    return write_protect(n_leaves[node]), write_protect(n_levels[node])
