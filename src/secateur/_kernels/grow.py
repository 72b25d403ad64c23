"""Grow a tree, or a part of it, from presorted lists and columns of codes.

A node owns the same slice of every list. Evaluating a node finds its best test; splitting
it partitions every list. Depth-first and best-first differ only in which node comes next.
The tables are described in grow_parts.py.
"""

from typing import Any

import numpy as np

from . import coded, partition
from ._jit import njit, njit_inner
from .evaluate import evaluate, is_ratio_on, is_varying, n_missing_at_end, total_weight
from .grow_parts import (
    ABOVE,
    ARITY,
    BELOW,
    BIRTH,
    BRANCH,
    DEFAULT,
    DEPTH,
    END,
    FIRST,
    KIND,
    N_FIELDS,
    SLOT,
    START,
    TIE,
)


@njit_inner
def _code(codes: Any, j: Any, row: Any) -> Any:
    n_coded = codes.codes.shape[0]
    return (
        np.int64(codes.codes[j, row])
        if j < n_coded
        else np.int64(codes.bits[np.uint64(row) * np.uint64(codes.width) + np.uint64(j - n_coded)])
    )


@njit_inner
def assign_children(lists: Any, codes: Any, weights: Any, node: Any, branch: Any, child_of: Any, scratch: Any) -> Any:
    """Write each row's child to `child_of` (two children: 1 for the left one, else the child's number).

    Counts the children into `scratch`, fills in DEFAULT where growing saw nothing missing
    (the child with most examples) and turns the position of a cut into the rows around it.
    """
    slot, kind, below, default = node[SLOT], node[KIND], node[BELOW], node[DEFAULT]
    n_lists = lists.entries.shape[0]
    n_children = node[ARITY]
    counts, size, rows = scratch.child_counts, scratch.child_size, scratch.child_rows
    for c in range(n_children):
        size[c] = 0
        rows[c] = 0
        for k in range(counts.shape[1]):
            counts[c, k] = 0
    one = lists.entries.dtype.type(1)
    move = lists.entries.dtype.type(lists.shift)
    mask = (one << move) - one
    n = node[END] - node[START]
    is_list = slot < n_lists
    if codes is None:
        entries = lists.entries[slot, node[START] : node[END]]
    else:
        entries = lists.entries[slot, node[START] : node[END]] if is_list else codes.rows[node[START] : node[END]]
    n_missing = n_missing_at_end(weights, slot, entries, lists.shift) if is_list else 0
    if weights is None:
        # Two slices of one list: the commonest case, without a branch per row.
        for i in range(below):
            e = entries[i]
            child_of[e >> move] = 1
            counts[0, (e & mask) >> one] += 1
        for i in range(below, n):
            e = entries[i]
            child_of[e >> move] = 0
            counts[1, (e & mask) >> one] += 1
        size[0], size[1] = below, n - below
        rows[0], rows[1] = below, n - below
    else:
        for i in range(n):
            e = entries[i]
            row = e >> move
            c = 0 if i < below else 1
            if i >= n - n_missing:
                c = default
            if codes is not None:
                if not is_list:
                    c = _code(codes, slot - n_lists, row)
                    if kind == coded.SUBSET:
                        c = int(branch[node[BRANCH] + c])
            child_of[row] = 1 - c if n_children == 2 else c
            rows[c] += 1
            if weights.is_weighted:
                counts[c, (e & mask) >> one] += weights.weight[row]
                size[c] += weights.size[row]
            else:
                counts[c, (e & mask) >> one] += 1
        if not weights.is_weighted:
            for c in range(n_children):
                size[c] = rows[c]
    if default < 0:
        largest = 0
        for c in range(n_children):
            if size[c] > size[largest]:
                largest = c
        node[DEFAULT] = largest
    if is_list:
        node[BELOW] = np.int64(entries[below - 1] >> move)
        node[ABOVE] = -1 if below == n - n_missing else np.int64(entries[below] >> move)


@njit_inner
def partition_slots(
    lists: Any, codes: Any, node: Any, slots: Any, keep: Any, child_of: Any, scratch: Any, force_ties: Any
) -> Any:
    """Partition the lists `slots = (first, last)`; slot n_lists stands for the rows of the coded columns."""
    n_lists = lists.entries.shape[0]
    n_children = node[ARITY]
    start, end = node[START], node[END]
    for s in range(slots[0], min(slots[1], n_lists)):
        if is_varying(node, s):
            entries = lists.entries[s, start:end]
            ties = force_ties or scratch.has_ties[s]
            _split(entries, n_children, lists.shift, keep, ties, child_of, scratch)
    if codes is not None:
        if slots[1] > n_lists:
            _split(codes.rows[start:end], n_children, lists.shift, keep, False, child_of, scratch)


@njit_inner
def _split(entries: Any, n_children: Any, shift: Any, keep: Any, has_ties: Any, child_of: Any, scratch: Any) -> Any:
    if n_children == 2:
        partition.split_list(entries, scratch.child_rows[0], child_of, shift, keep, has_ties, scratch.entries)
    else:
        partition.split_list_many(
            entries, scratch.child_rows[:n_children], child_of, shift, scratch.entries, scratch.child_place
        )


@njit_inner
def _is_splittable(limits: Any, reals: Any, size: Any, depth: Any) -> Any:
    """Whether a node may be tested at all: large enough, not too deep, not pure."""
    n_classes_here = 0
    for c in range(reals.shape[0] - 2):
        n_classes_here += reals[c] > 0
    return (
        n_classes_here > 1 and depth < limits.max_depth and size >= limits.least_split and size >= 2 * limits.least_leaf
    )


@njit_inner
def add_children(limits: Any, scratch: Any, nodes: Any, reals: Any, v: Any, first: Any) -> Any:
    """Write the children of v to the tables; returns which may be split: bit 0 the first, bit 1 any other.

    START of a child that may not be split is -1.
    """
    n_classes = reals.shape[1] - 2
    keep = 0
    at = nodes[v, START]
    nodes[v, FIRST] = first
    for c in range(nodes[v, ARITY]):
        child = first + c
        for k in range(n_classes):
            reals[child, k] = scratch.child_counts[c, k]
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
        if _is_splittable(limits, reals[child], scratch.child_size[c], nodes[child, DEPTH]):
            keep |= 1 << min(c, 1)
        else:
            nodes[child, START] = -1
    return keep


@njit
def record_test(
    limits: Any, test: Any, nodes: Any, reals: Any, v: Any, n_codes: Any, branch: Any, n_branch: Any, own_branch: Any
) -> Any:
    """Write a node's best test to the tables; returns (branch, n_branch)."""
    nodes[v, SLOT] = test.slot
    nodes[v, KIND] = test.kind
    nodes[v, BELOW] = test.below
    nodes[v, ABOVE] = test.above
    nodes[v, DEFAULT] = test.default
    nodes[v, ARITY] = n_codes if test.kind == coded.MULTIWAY else 2
    n_classes = reals.shape[1] - 2
    reals[v, n_classes] = test.score
    if test.kind == coded.SUBSET:
        if n_branch + n_codes > branch.shape[0]:
            larger = np.zeros(2 * (n_branch + n_codes), np.uint16)
            for k in range(n_branch):
                larger[k] = branch[k]
            branch = larger
        nodes[v, BRANCH] = n_branch
        for k in range(n_codes):
            branch[n_branch + k] = own_branch[k]
        n_branch += n_codes
    return branch, n_branch


@njit
def _enlarged(array: Any, n: Any) -> Any:
    larger = np.zeros((n, array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for k in range(array.shape[1]):
            larger[i, k] = array[i, k]
    return larger


@njit_inner
def _is_before(reals: Any, a: Any, b: Any) -> Any:
    """Queue order of best-first: larger drop, then the older node."""
    drop_a, drop_b = reals[a, reals.shape[1] - 1], reals[b, reals.shape[1] - 1]
    tie = TIE * max(drop_a, drop_b)
    return drop_a > drop_b + tie or (drop_a >= drop_b - tie and a < b)


@njit_inner
def _push(heap: Any, n_heap: Any, v: Any, reals: Any) -> Any:
    i = n_heap
    heap[i] = v
    while i > 0 and _is_before(reals, heap[i], heap[(i - 1) // 2]):
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2


@njit_inner
def _pop(heap: Any, n_heap: Any, reals: Any) -> Any:
    top = heap[0]
    heap[0] = heap[n_heap - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n_heap - 1:
            break
        if child + 1 < n_heap - 1 and _is_before(reals, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(reals, heap[child], heap[i]):
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return top


@njit
def grow_part(
    criterion: Any,
    lists: Any,
    codes: Any,
    weights: Any,
    ratio: Any,
    limits: Any,
    root: Any,
    root_reals: Any,
    child_of: Any,
    scratch: Any,
) -> Any:
    """Grow the subtree of one node: (nodes, reals, branch)."""
    n_classes = root_reals.shape[0] - 2
    n_lists = lists.entries.shape[0]
    capacity = 64
    nodes = np.zeros((capacity, root.shape[0]), np.int64)
    reals = np.zeros((capacity, root_reals.shape[0]))
    branch = np.zeros(64, np.uint16)
    n_branch = np.int64(0)
    for k in range(root.shape[0]):
        nodes[0, k] = root[k]
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
            test = evaluate(criterion, lists, codes, weights, ratio, limits, nodes[v], reals[v], scratch)
            if test.slot < 0:
                continue
            n_codes = np.int64(0)
            if codes is not None:
                if test.slot >= n_lists:
                    n_codes = codes.n_codes[test.slot - n_lists]
            branch, n_branch = record_test(
                limits, test, nodes, reals, v, n_codes, branch, n_branch, scratch.histogram.branch
            )
            total = total_weight(reals[v])
            reals[v, n_classes] = test.score if is_ratio_on(ratio) else test.score / total
            reals[v, n_classes + 1] = reals[v, n_classes] * total
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
        keep = add_children(limits, scratch, nodes, reals, v, n_nodes)
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
