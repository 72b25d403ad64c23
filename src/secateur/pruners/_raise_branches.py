r"""Error-based pruning with raising: a subtree may be replaced by a leaf or by its largest branch.

Where node v tests and its branch b has most rows, raising replaces the subtree of v by that of b, and sends the rows of
the other branches through b:

            v                                  b
          / | \                              / \
         a  b  c       raise b at v         p   q      a, c and the test of v are gone; their rows
           / \          ------->                       are routed by b and the tests below b
          p   q

While the new tree is built, its nodes have the numbers that they have in the first tree.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._utils.arrays import Array, Bools, Ints, Longs, LongsOrFloats, write_protect
from ..core import Counts, Tree
from ._error_estimate import estimated_errors

ChildOf = Callable[[Longs, int], Array]

RELATIVE_TOLERANCE = 1e-12  # estimates this close count as equal


class GrowingRows(NamedTuple):
    """The rows of the growing sample.

    Parameters
    ----------
    leaf_of_row : array of int
        The leaf that each row reaches.
    class_of_row : array of int
    weight_of_row : array, optional
        None where every row counts once.
    child_of : callable
        `child_of(rows, node)` returns the number of the child to which the test of `node` sends each of the rows.
    """

    leaf_of_row: Array
    class_of_row: Array
    weight_of_row: LongsOrFloats | None
    child_of: ChildOf


def raise_branches(
    counts: Counts, rows: GrowingRows, *, confidence: float = 0.25, slack: float = 0.0
) -> tuple[Tree, Counts]:
    """Return the tree that error-based pruning with raising makes, and the growing sample counted on it.

    Parameters
    ----------
    counts : Counts
        The growing counts on the tree to prune.
    rows : GrowingRows
        The rows behind the counts.
    confidence, slack : float
        As for `error_based`.
    """
    raiser = _BranchRaiser(counts, rows, confidence, slack)
    # A stack of tests in pre-order. When its last test is taken, all tests below that test have been decided.
    undecided = counts.tree.internal.tolist()
    while undecided:
        undecided.extend(raiser.decide(undecided.pop()))
    return raiser.result()


class _RoutedRows(NamedTuple):
    """Rows that a node would receive in addition if a branch were raised."""

    node: int
    rows: Longs


class _BranchRaiser:
    """The tree being built: its structure, class counts, estimated errors, and the rows of its leaves.

    `estimate[v]` is the estimated error of node v as a leaf; once v is decided, that of its subtree.
    """

    def __init__(self, counts: Counts, rows: GrowingRows, confidence: float, slack: float) -> None:
        tree = counts.tree
        self.counts, self.rows, self.confidence, self.slack = counts, rows, confidence, slack
        self.root = 0
        self.parent = tree.parent.tolist()
        self.children: list[list[int]] = [[] for _ in self.parent]
        for v in range(1, tree.n_nodes):
            self.children[self.parent[v]].append(v)
        self.by_class = counts.by_class.copy()
        self.estimate = estimated_errors(self.by_class, confidence)
        order = np.argsort(rows.leaf_of_row, kind="stable")
        start = np.searchsorted(rows.leaf_of_row[order], np.arange(tree.n_nodes + 1))
        # The rows of a leaf are a list of arrays, so that joining two leaves copies no rows.
        self.rows_of_leaf = {int(v): [order[start[v] : start[v + 1]]] for v in tree.leaves}

    def decide(self, v: int) -> list[int]:
        """Decide what replaces the subtree of v; return the tests that must be decided again, in pre-order.

        All tests below v must have been decided.
        """
        branches = self.children[v]
        largest = branches[int(np.argmax(self.by_class[branches].sum(axis=1)))]
        other_branches = [branch for branch in branches if branch != largest]
        leaf_estimate = self.leaf_estimate(self.by_class[v])
        subtree_estimate = float(sum(self.estimate[branch] for branch in branches))
        moved = [part for leaf in self.leaves_below(other_branches) for part in self.rows_of_leaf[leaf]]
        raised_estimate, routed = self.route_through(largest, np.concatenate(moved))
        if self.is_no_worse(leaf_estimate, raised_estimate) and self.is_no_worse(leaf_estimate, subtree_estimate):
            self.cut(v, leaf_estimate)
            return []
        if not self.is_no_worse(raised_estimate, subtree_estimate):
            self.estimate[v] = subtree_estimate
            return []
        self.raise_branch(v, largest, routed)
        return [node for node in self.preorder([largest]) if self.children[node]]

    def cut(self, v: int, estimate: float) -> None:
        """Replace the subtree of v by a leaf."""
        self.rows_of_leaf[v] = self.join_rows(self.children[v])
        self.children[v] = []
        self.estimate[v] = estimate

    def raise_branch(self, v: int, branch: int, routed: list[_RoutedRows]) -> None:
        """Replace the subtree of v by one of its branches, which gets the routed rows."""
        for node, rows in routed:
            self.by_class[node] += self.count(rows)
            if not self.children[node]:
                self.rows_of_leaf[node].append(rows)
                self.estimate[node] = self.leaf_estimate(self.by_class[node])
        p = self.parent[branch] = self.parent[v]
        if p < 0:
            self.root = branch
        else:
            self.children[p][self.children[p].index(v)] = branch

    def count(self, rows: Longs) -> LongsOrFloats:
        """Return the class counts of rows."""
        weights = None if self.rows.weight_of_row is None else self.rows.weight_of_row[rows]
        by_class = np.bincount(self.rows.class_of_row[rows], weights, minlength=self.counts.n_classes)
        return by_class.astype(self.by_class.dtype)  # whole-number weights keep counts whole

    def is_no_worse(self, estimate: float, other: float) -> bool:
        """Return whether an estimate is at most another one, within the tolerance and the slack."""
        return estimate <= other + RELATIVE_TOLERANCE * other + self.slack

    def leaf_estimate(self, by_class: LongsOrFloats) -> float:
        """Return the estimated errors of a leaf with these class counts."""
        return float(estimated_errors(by_class[None, :], self.confidence)[0])

    def route_through(self, top: int, rows: Longs) -> tuple[float, list[_RoutedRows]]:
        """Return the estimate of the subtree of `top` with further rows, and the further rows of each node."""
        estimate = float(self.estimate[top])
        routed: list[_RoutedRows] = []
        pending = [_RoutedRows(top, rows)] if len(rows) else []
        while pending:
            node, rows_here = pending.pop()
            routed.append(_RoutedRows(node, rows_here))
            if not self.children[node]:
                by_class = self.by_class[node] + self.count(rows_here)
                estimate += self.leaf_estimate(by_class) - float(self.estimate[node])
                continue
            child = self.rows.child_of(rows_here, node)
            pending.extend(
                _RoutedRows(self.children[node][int(number)], rows_here[child == number]) for number in np.unique(child)
            )
        return estimate, routed

    def join_rows(self, nodes: list[int]) -> list[Longs]:
        """Return the rows of all leaves below nodes that will be removed; shorter lists are added to the longest."""
        lists = [self.rows_of_leaf.pop(leaf) for leaf in self.leaves_below(nodes)]
        longest = max(lists, key=len)
        for parts in lists:
            if parts is not longest:
                longest.extend(parts)
        return longest

    def leaves_below(self, nodes: list[int]) -> list[int]:
        """Return the leaves below nodes, in pre-order."""
        return [node for node in self.preorder(nodes) if not self.children[node]]

    def preorder(self, tops: list[int]) -> list[int]:
        """Return the nodes of the subtrees of `tops` in pre-order."""
        nodes, pending = [], tops[::-1]
        while pending:
            node = pending.pop()
            nodes.append(node)
            pending.extend(self.children[node][::-1])
        return nodes

    def result(self) -> tuple[Tree, Counts]:
        """Return the finished tree, and the growing sample counted on it."""
        # A raised branch takes the position of its parent among the siblings, so old numbers still rise in pre-order.
        nodes = np.array(self.preorder([self.root]))
        is_leaf = np.array([not self.children[v] for v in nodes])
        new_number = np.zeros(self.counts.tree.n_nodes, np.int32)
        new_number[nodes] = np.arange(len(nodes))
        old_parent = np.array(self.parent)[nodes]
        parent = np.where(old_parent < 0, -1, new_number[old_parent]).astype(np.int32)
        tree = _rebuild(self.counts.tree, nodes, parent, is_leaf)
        return tree, Counts.from_leaves(tree, self.by_class[nodes[is_leaf]], sample=self.counts.sample)


def _rebuild(tree: Tree, nodes: Array, parent: Ints, is_leaf: Bools) -> Tree:
    """Return the tree of the given nodes under new parents; new leaves lose their tests."""
    n_codes = np.where(is_leaf, 0, np.diff(tree.branch_start)[nodes])
    branch_start = np.append(0, np.cumsum(n_codes)).astype(np.int64)
    position = np.arange(branch_start[-1]) + np.repeat(tree.branch_start[nodes] - branch_start[:-1], n_codes)
    # `rounded` is a number with few digits that sends the growing rows as the threshold does. It is dropped at nodes
    # that other growing rows may reach: raised branches and all nodes below them.
    is_as_grown = np.append(nodes[0] == 0, tree.parent[nodes[1:]] == nodes[parent[1:]])
    for v in range(1, len(nodes)):
        is_as_grown[v] &= is_as_grown[parent[v]]
    return Tree(
        write_protect(parent),
        feature=write_protect(np.where(is_leaf, -1, tree.feature[nodes])),
        threshold=write_protect(np.where(is_leaf, np.nan, tree.threshold[nodes])),
        branch_start=write_protect(branch_start),
        branch=write_protect(tree.branch[position]),
        default=write_protect(np.where(is_leaf, 0, tree.default[nodes])),
        score=write_protect(np.where(is_leaf, np.nan, tree.score[nodes])),
        split_order=write_protect(np.where(is_leaf, -1, tree.split_order[nodes])),
        ids=write_protect(tree.ids[nodes]),
        rounded=write_protect(np.where(is_leaf | ~is_as_grown, np.nan, tree.rounded[nodes])),
        schema=tree.schema,
        estimate_limits=None if tree.estimate_limits is None else tree.estimate_limits[nodes],
    )
