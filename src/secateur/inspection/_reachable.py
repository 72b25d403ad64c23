"""Find the values that can reach each node: earlier tests of the same column exclude some of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import Bools, Ints, write_protect
from ..core import Tree

NO_NODE = -1


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
        are first tested. The dictionary is the same object for all nodes and changes with the next one.
    """
    parent, end, feature = tree.parent.tolist(), tree.end.tolist(), tree.feature.tolist()
    latest: dict[int, int] = {}
    undo: list[tuple[int, int, int]] = []  # the end of a branch, its column, and the earlier entry of the column
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
