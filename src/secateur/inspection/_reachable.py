"""What can arrive at a node: the tests above it on the same column leave fewer values to tell."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import Bools, Ints, write_protect
from ..core import Tree


@dataclass(frozen=True, eq=False)
class ReachableValues:
    """What the way to each node leaves of the column its parent tests.

    Parameters
    ----------
    low, high : arrays of int
        A number: the nodes whose thresholds it is above, and at most; -1: none. The root has neither.
    is_missing_in, is_known_in : arrays of bool
        A number: whether it can be missing there, and whether it can be known.
    arrives : array of bool
        Beside `tree.branch`: whether a row of that category can be at that node at all.
    """

    low: Ints
    high: Ints
    can_be_missing: Bools
    can_be_known: Bools
    arrives: Bools


def find_reachable_values(tree: Tree) -> ReachableValues:
    """Return what can arrive at every node, in one pass."""
    n = tree.n_nodes
    low, high, missing, known = [-1] * n, [-1] * n, [True] * n, [True] * n
    parent, default, child = tree.parent.tolist(), tree.default.tolist(), child_numbers(tree).tolist()
    start, threshold, feature = tree.branch_start.tolist(), tree.threshold.tolist(), tree.feature.tolist()
    arrives = np.ones(len(tree.branch), bool)
    others = tree.surrogates  # which send missing values to either child
    has_others = [False] * n if others is None else (np.diff(others.start) > 0).tolist()
    for v, before, open_columns in walk(tree):
        p = parent[v]
        if v and feature[p] >= 0 and start[p] == start[p + 1]:
            if before >= 0:
                low[v], high[v], missing[v], known[v] = low[before], high[before], missing[before], known[before]
            missing[v] = missing[v] and (child[v] == default[p] or has_others[p])
            if threshold[p] == np.inf:  # tells known from missing
                known[v] = known[v] and child[v] == 0
            elif child[v] == 0:
                high[v] = p if high[v] < 0 or threshold[p] < threshold[high[v]] else high[v]
            else:
                low[v] = p if low[v] < 0 or threshold[p] > threshold[low[v]] else low[v]
        above = open_columns.get(feature[v], -1)
        if above >= 0 and start[v] < start[v + 1]:
            p = parent[above]
            came = tree.branch[start[p] : start[p + 1]] == child[above]
            arrives[start[v] : start[v + 1]] = came & arrives[start[p] : start[p + 1]]
    return ReachableValues(
        write_protect(np.array(low, np.int32)), write_protect(np.array(high, np.int32)),
        write_protect(np.array(missing)), write_protect(np.array(known)), write_protect(arrives),
    )  # fmt: skip


def walk(tree: Tree) -> Iterator[tuple[int, int, dict[int, int]]]:
    """Each node, the last node above it that its parent's column led to (-1: none), and such a node of every column.

    The dictionary is kept up to date and changes with the next node: what a path asks first comes
    first in it.
    """
    parent, end, feature = tree.parent.tolist(), tree.end.tolist(), tree.feature.tolist()
    open_columns: dict[int, int] = {}
    undo: list[tuple[int, int, int]] = []  # where a branch ends, its column, the node of that column before it
    yield 0, -1, open_columns
    for v in range(1, tree.n_nodes):
        while undo and undo[-1][0] <= v:
            _, column, before = undo.pop()
            if before < 0:
                del open_columns[column]  # the last one added: branches are left in reverse order
            else:
                open_columns[column] = before
        column = feature[parent[v]]
        before = open_columns.get(column, -1)
        undo.append((end[v], column, before))
        open_columns[column] = v
        yield v, before, open_columns


def child_numbers(tree: Tree) -> Ints:
    """Which child of its parent each node is; 0 for the root."""
    start, child = tree.child_lists
    found = np.zeros(tree.n_nodes, np.int32)
    found[child] = np.arange(len(child)) - start[tree.parent[child]]
    return found
