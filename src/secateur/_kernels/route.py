"""Walk rows down a tree."""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import FloatRows, Floats, Ints, Longs, Number, Numbers

Real = cython.fused_type(cython.float, cython.double)


LANES = cython.declare(cython.int, 8)  # rows on their way at once


def route_packed(
    matrix: cython.const[Real][:, :],
    nodes: cython.const[cython.double][:, ::1],
    start_node: cython.int,
    out: cython.int[:],
):
    """Leaf of each row of a binary tree whose tests all compare numbers, starting at `start_node`.

    `nodes` is `packed` of the tree. Several rows walk at once, each a step at a time: while one
    waits for memory the others go on, and no step is foretold, since half of the guesses would be wrong.
    """
    n = matrix.shape[0]
    n_lanes: cython.int = LANES if n >= LANES else 0
    following: cython.Py_ssize_t = n_lanes
    v = cython.declare(cython.int[8])
    row = cython.declare(cython.Py_ssize_t[8])  # -1: the lane is empty
    k: cython.int
    is_over: cython.bint = n_lanes == 0
    if n == 0:
        return
    cuts = cython.cast(cython.p_double, cython.cast(cython.p_void, cython.address(nodes[0, 0])))
    words = cython.cast(cython.p_longlong, cython.cast(cython.p_void, cython.address(nodes[0, 0])))
    with cython.nogil:
        for k in range(n_lanes):
            v[k] = start_node
            row[k] = k
        while not is_over:
            for k in range(LANES):
                u = v[k]
                word = words[2 * u + 1]
                if word < 0:  # a leaf: the next row takes the lane
                    out[row[k]] = u
                    row[k] = -1
                    if following == n:
                        is_over = True
                        break
                    row[k] = following
                    following += 1
                    u = start_node
                    word = words[2 * u + 1]
                    if word < 0:
                        v[k] = u
                        continue
                v[k] = _next_node(matrix[row[k], (word >> 1) & 0x7FFFFFFF], cuts[2 * u], word, u)
        for k in range(n_lanes):  # what is on its way when the last row has set out
            if row[k] >= 0:
                out[row[k]] = _leaf(matrix, row[k], cuts, words, v[k])
        for i in range(following, n):  # few rows: one after the other
            out[i] = _leaf(matrix, i, cuts, words, start_node)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leaf(
    matrix: cython.const[Real][:, :],
    row: cython.Py_ssize_t,
    cuts: cython.p_double,
    words: cython.p_longlong,
    v: cython.int,
) -> cython.int:
    """The leaf under v that a row reaches."""
    word = words[2 * v + 1]
    while word >= 0:
        v = _next_node(matrix[row, (word >> 1) & 0x7FFFFFFF], cuts[2 * v], word, v)
        word = words[2 * v + 1]
    return v


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _next_node(x: cython.double, cut: cython.double, word: cython.longlong, v: cython.int) -> cython.int:
    """The child of v: v + 1 or the one the word says. A test is false for NaN, which goes where the word says."""
    right = cython.cast(cython.int, word >> 32)
    goes_left: cython.int = cython.cast(cython.int, x <= cut) | (
        cython.cast(cython.int, x != x) & cython.cast(cython.int, word & 1)
    )
    return right + ((v + 1 - right) & -goes_left)


def packed(feature: Ints, threshold: Floats, right: Ints, default: Ints):
    """The numeric tests of a binary tree as `route_packed` reads them: all of a node from one line of the cache.

    The first number of a node is its threshold. The bits of the second are a whole number, -1 of a
    leaf, else from the lowest on: whether missing values go left, the column (31 bits), the right child.
    """
    n = feature.shape[0]
    nodes: cython.double[:, ::1] = np.empty((n, 2))
    words = cython.cast(cython.p_longlong, cython.cast(cython.p_void, cython.address(nodes[0, 0])))
    with cython.nogil:
        for v in range(n):
            nodes[v, 0] = threshold[v]
            words[2 * v + 1] = -1
            if feature[v] >= 0:
                words[2 * v + 1] = (
                    (cython.cast(cython.longlong, right[v]) << 32)
                    | (cython.cast(cython.longlong, feature[v]) << 1)
                    | (1 if default[v] == 0 else 0)
                )
    return nodes.base


def route_any(
    matrix: FloatRows,
    start_node: cython.Py_ssize_t,
    feature: Ints,
    threshold: Floats,
    branch_start: Longs,
    branch: cython.const[cython.ushort][:],
    default: Ints,
    child_start: Longs,
    child: Ints,
    out: cython.int[:],
):
    """Leaf of each row, starting at `start_node`; nominal columns hold codes, NaN where unseen."""
    c: cython.Py_ssize_t
    with cython.nogil:
        for i in range(matrix.shape[0]):
            v = start_node
            while feature[v] >= 0:
                x = matrix[i, feature[v]]
                if x != x:
                    c = default[v]
                elif branch_start[v + 1] > branch_start[v]:
                    c = branch[branch_start[v] + cython.cast(cython.Py_ssize_t, x)]
                else:
                    c = 0 if x <= threshold[v] else 1
                v = child[child_start[v] + c]
            out[i] = v


def route_surrogates(
    matrix: FloatRows,
    start_node: cython.Py_ssize_t,
    feature: Ints,
    threshold: Floats,
    branch_start: Longs,
    branch: cython.const[cython.ushort][:],
    low: Ints,
    default: Ints,
    right: Ints,
    start: Longs,
    out: cython.int[:],
):
    """Leaf of each row of a binary tree with surrogates.

    The tests of the nodes come first, then the surrogates: those of `v` are the lines `start[v]:start[v + 1]`.
    """
    c: cython.int
    with cython.nogil:
        for i in range(matrix.shape[0]):
            v: cython.Py_ssize_t = start_node
            while feature[v] >= 0:
                line: cython.Py_ssize_t = v
                other: cython.Py_ssize_t = start[v]
                while True:
                    x = matrix[i, feature[line]]
                    c = 2  # says nothing
                    if x != x:
                        pass
                    elif branch_start[line + 1] > branch_start[line]:
                        c = branch[branch_start[line] + cython.cast(cython.Py_ssize_t, x)]
                    else:
                        c = low[line] if x <= threshold[line] else 1 - low[line]
                    if c < 2 or other == start[v + 1]:
                        break
                    line = other
                    other += 1
                if c == 2:
                    c = default[v]
                v = v + 1 if c == 0 else right[v]
            out[i] = cython.cast(cython.int, v)


def add_class_counts(leaf: Ints, target: Ints, weight: Numbers, by_class: Number[:, :]):
    """Add the rows to `by_class[leaf, class]`; `weight` is empty where every row weighs 1."""
    with cython.nogil:
        if weight.shape[0] == 0:
            for i in range(leaf.shape[0]):
                by_class[leaf[i], target[i]] += 1
        else:
            for i in range(leaf.shape[0]):
                by_class[leaf[i], target[i]] += weight[i]


def path_offsets(depth, leaf):
    """Nodes on the path to each row's leaf, as offsets of a sparse matrix."""
    return np.append(0, np.cumsum(depth[leaf] + 1, dtype=np.int64))


def paths(parent: Ints, leaf: Ints, offsets: Longs):
    """The nodes on the path to each row's leaf, root first."""
    nodes: cython.int[::1] = np.empty(offsets[leaf.shape[0]], np.int32)
    with cython.nogil:
        for i in range(leaf.shape[0]):
            v = leaf[i]
            for k in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
                nodes[k] = v
                v = parent[v]
    return nodes.base
