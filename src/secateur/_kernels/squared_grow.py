"""Grow a regression tree, or a part of it, from presorted lists and columns of codes.

The loop of grow.py with the tests of squared.py; children are assigned and lists
partitioned by the same kernels. The tables are described in grow_parts.py.
"""

from typing import Any

import numpy as np

from ._jit import njit, njit_inner
from .evaluate import is_varying
from .grow import _enlarged, _pop, _push, assign_children, partition_slots, record_test
from .grow_parts import ARITY, BIRTH, BRANCH, DEPTH, END, FIRST, N_FIELDS, START
from .squared import Sums, evaluate, node_sums

OPEN = -2  # BIRTH of a node that is left for another part


@njit_inner
def _sums(lists: Any, codes: Any, weights: Any, node: Any, y: Any) -> Any:
    """`node_sums` over a list that is kept up to date; a spread of 0 where no test is left."""
    if codes is not None:
        return node_sums(codes.rows[node[START] : node[END]], lists.shift, weights, y)
    for slot in range(lists.entries.shape[0]):
        if is_varying(node, slot):
            return node_sums(lists.entries[slot, node[START] : node[END]], lists.shift, weights, y)
    return Sums(0.0, 0.0, 0.0, 0.0, 0.0)


@njit_inner
def _add_children(limits: Any, scratch: Any, nodes: Any, reals: Any, v: Any, first: Any) -> Any:
    """Write the children of v to the tables; returns which may be split: bit 0 the first, bit 1 any other.

    START of a child that may not be split is -1.
    """
    keep = 0
    at = nodes[v, START]
    nodes[v, FIRST] = first
    for c in range(nodes[v, ARITY]):
        child = first + c
        size = scratch.child_size[c]
        reals[child, 0] = scratch.child_counts[c, 0]
        for k in range(N_FIELDS):
            nodes[child, k] = 0
        for k in range(N_FIELDS, nodes.shape[1]):
            nodes[child, k] = nodes[v, k]
        nodes[child, DEPTH] = nodes[v, DEPTH] + 1
        nodes[child, BRANCH] = -1
        nodes[child, BIRTH] = -1
        nodes[child, START] = at
        at += scratch.child_rows[c]
        nodes[child, END] = at
        is_large = size >= limits.least_split and size >= 2 * limits.least_leaf and scratch.child_rows[c] > 1
        if is_large and nodes[child, DEPTH] < limits.max_depth:
            keep |= 1 << min(c, 1)
        else:
            nodes[child, START] = -1
    return keep


@njit
def grow_part(
    lists: Any,
    codes: Any,
    weights: Any,
    limits: Any,
    root: Any,
    root_reals: Any,
    y: Any,
    by_feature: Any,
    n_most: Any,
    child_of: Any,
    scratch: Any,
) -> Any:
    """Grow the subtree of one node: (nodes, reals, branch).

    Depth-first, nodes of at most `n_most` rows are left OPEN (0: none is).
    """
    n_lists = lists.entries.shape[0]
    capacity = 64
    nodes = np.zeros((capacity, root.shape[0]), np.int64)
    reals = np.zeros((capacity, root_reals.shape[0]))
    branch = np.zeros(64, np.uint16)
    n_branch = np.int64(0)
    for k in range(root.shape[0]):
        nodes[0, k] = root[k]
    nodes[0, BIRTH] = -1
    for k in range(root_reals.shape[0]):
        reals[0, k] = root_reals[k]
    n_nodes = np.int64(1)
    n_splits = np.int64(0)
    fresh = np.zeros((capacity, 1), np.int64)  # stack of nodes not evaluated yet
    n_fresh = np.int64(1)
    heap = np.zeros(capacity, np.int64)  # best-first: evaluated nodes
    n_heap = np.int64(0)
    while n_splits < limits.max_splits:
        if n_fresh > 0:
            n_fresh -= 1
            v = fresh[n_fresh, 0]
            if nodes[v, END] - nodes[v, START] <= n_most:
                nodes[v, BIRTH] = OPEN
                continue
            sums = _sums(lists, codes, weights, nodes[v], y)
            if sums.spread == 0:
                continue
            test = evaluate(lists, codes, weights, limits, nodes[v], y, by_feature, sums, scratch)
            if test.slot < 0:
                continue
            n_codes = np.int64(0)
            if codes is not None:
                if test.slot >= n_lists:
                    n_codes = codes.n_codes[test.slot - n_lists]
            branch, n_branch = record_test(
                limits, test, nodes, reals, v, n_codes, branch, n_branch, scratch.histogram.branch
            )
            reals[v, 2] = test.score / sums.weight
            reals[v, 3] = test.score
            if limits.best_first:
                if n_heap == heap.shape[0]:
                    larger = np.zeros(2 * n_heap, np.int64)
                    for k in range(n_heap):
                        larger[k] = heap[k]
                    heap = larger
                _push(heap, n_heap, v, reals)
                n_heap += 1
                continue
        elif n_heap > 0:
            v = _pop(heap, n_heap, reals)
            n_heap -= 1
        else:
            break
        n_children = nodes[v, ARITY]
        while n_nodes + n_children > capacity:
            capacity *= 2
            nodes = _enlarged(nodes, capacity)
            reals = _enlarged(reals, capacity)
            fresh = _enlarged(fresh, capacity)
        assign_children(lists, codes, weights, nodes[v], branch, child_of, scratch)
        keep = _add_children(limits, scratch, nodes, reals, v, n_nodes)
        nodes[v, BIRTH] = n_splits
        n_splits += 1
        if keep != 0:
            partition_slots(lists, codes, nodes[v], (0, n_lists + 1), keep, child_of, scratch, limits.best_first)
            for c in range(n_children - 1, -1, -1):
                if nodes[n_nodes + c, START] >= 0:
                    fresh[n_fresh, 0] = n_nodes + c
                    n_fresh += 1
        n_nodes += n_children
    return nodes[:n_nodes], reals[:n_nodes], branch[:n_branch]
