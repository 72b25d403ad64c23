"""Send rows down a tree to their leaves, and count them there.

`route_packed` routes rows of a binary tree whose tests all compare numbers with thresholds, the common case. The test
of a node is packed into 16 bytes, so that one cache line holds all of it:

    nodes[v]:   | threshold (a double) | word (64 bits) |

    word:       bits 63-32: right child | bits 31-1: column | bit 0: missing values go left        -1 at a leaf

The left child of node v is v + 1 in pre-order. Eight rows walk down at once, one step each in turn: while one row waits
for memory, the others go on. The branch is computed by arithmetic, because half of all branch predictions would be
wrong. `route_any` and `route_surrogates` route rows of other trees, one row after the other.

Cost: one step per row and level of its path.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.columns import NO_BRANCH
from cython.cimports.secateur._kernels.views import FloatRows, Floats, Ints, Longs, Number, Numbers

Real = cython.fused_type(cython.float, cython.double)

N_LANES = cython.declare(cython.int, 8)  # rows that walk down at once


def route_packed(
    matrix: cython.const[Real][:, :],
    nodes: cython.const[cython.double][:, ::1],
    start_node: cython.int,
    out: cython.int[:],
):
    """Write the leaf of each row to `out`, for a tree whose `pack_nodes` is `nodes`; rows start at `start_node`.

    Lane k holds the row `row[k]` at the node `node_of_lane[k]`. A row that reaches its leaf leaves its lane to the next
    row. In every round of the loop, each lane takes one step.
    """
    n = matrix.shape[0]
    n_lanes: cython.int = N_LANES if n >= N_LANES else 0
    next_row: cython.Py_ssize_t = n_lanes
    node_of_lane = cython.declare(cython.int[8])
    row = cython.declare(cython.Py_ssize_t[8])  # -1: the lane is empty
    k: cython.int
    is_done: cython.bint = n_lanes == 0  # no row is left to start
    if n == 0:
        return
    thresholds = cython.cast(cython.p_double, cython.cast(cython.p_void, cython.address(nodes[0, 0])))
    words = cython.cast(cython.p_longlong, cython.cast(cython.p_void, cython.address(nodes[0, 0])))
    with cython.nogil:
        for k in range(n_lanes):
            node_of_lane[k] = start_node
            row[k] = k
        while not is_done:
            for k in range(N_LANES):
                node = node_of_lane[k]
                word = words[2 * node + 1]
                if word < 0:  # a leaf
                    out[row[k]] = node
                    row[k] = -1
                    if next_row == n:
                        is_done = True
                        break
                    row[k] = next_row
                    next_row += 1
                    node = start_node
                    word = words[2 * node + 1]
                    if word < 0:
                        node_of_lane[k] = node
                        continue
                node_of_lane[k] = _next_node(matrix[row[k], (word >> 1) & 0x7FFFFFFF], thresholds[2 * node], word, node)
        for k in range(n_lanes):  # rows that are still on their way
            if row[k] >= 0:
                out[row[k]] = _leaf_of(matrix, row[k], thresholds, words, node_of_lane[k])
        for i in range(next_row, n):  # fewer rows than lanes: one after the other
            out[i] = _leaf_of(matrix, i, thresholds, words, start_node)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leaf_of(
    matrix: cython.const[Real][:, :],
    row: cython.Py_ssize_t,
    thresholds: cython.p_double,
    words: cython.p_longlong,
    v: cython.int,
) -> cython.int:
    """Return the leaf below v that a row reaches."""
    word = words[2 * v + 1]
    while word >= 0:
        v = _next_node(matrix[row, (word >> 1) & 0x7FFFFFFF], thresholds[2 * v], word, v)
        word = words[2 * v + 1]
    return v


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _next_node(x: cython.double, threshold: cython.double, word: cython.longlong, v: cython.int) -> cython.int:
    """Return the child of v to which the value x goes: v + 1, or the right child of the word. NaN follows bit 0."""
    right = cython.cast(cython.int, word >> 32)
    goes_left: cython.int = cython.cast(cython.int, x <= threshold) | (
        cython.cast(cython.int, x != x) & cython.cast(cython.int, word & 1)
    )
    return right + ((v + 1 - right) & -goes_left)


def pack_nodes(feature: Ints, threshold: Floats, right: Ints, default: Ints):
    """Return the numeric tests of a binary tree in the layout that the head of this file draws."""
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
    """Write the leaf of each row of any tree to `out`; rows start at `start_node`.

    Nominal columns hold category codes, NaN where the category is missing or unseen. Node v has the branch
    `branch[branch_start[v] + code]` for a code (no entries: a numeric test), and its children are
    `child[child_start[v]]` and following.
    """
    child_number: cython.Py_ssize_t
    with cython.nogil:
        for i in range(matrix.shape[0]):
            v = start_node
            while feature[v] >= 0:
                x = matrix[i, feature[v]]
                if x != x:
                    child_number = default[v]
                elif branch_start[v + 1] > branch_start[v]:
                    child_number = branch[branch_start[v] + cython.cast(cython.Py_ssize_t, x)]
                else:
                    child_number = 0 if x <= threshold[v] else 1
                v = child[child_start[v] + child_number]
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
    """Write the leaf of each row of a binary tree with surrogates to `out`; rows start at `start_node`.

    The tests lie in one list: first those of the nodes, then the surrogates. The surrogates of node v are the tests
    `start[v]`, ..., `start[v + 1] - 1`, tried in turn while the value is missing or its category unseen. `low[t]` is
    the child of values at or below the threshold of test t.
    """
    child: cython.int
    with cython.nogil:
        for i in range(matrix.shape[0]):
            v: cython.Py_ssize_t = start_node
            while feature[v] >= 0:
                test: cython.Py_ssize_t = v
                next_surrogate: cython.Py_ssize_t = start[v]
                while True:
                    x = matrix[i, feature[test]]
                    child = NO_BRANCH
                    if x != x:
                        pass
                    elif branch_start[test + 1] > branch_start[test]:
                        child = branch[branch_start[test] + cython.cast(cython.Py_ssize_t, x)]
                    else:
                        child = low[test] if x <= threshold[test] else 1 - low[test]
                    if child != NO_BRANCH or next_surrogate == start[v + 1]:
                        break
                    test = next_surrogate
                    next_surrogate += 1
                if child == NO_BRANCH:
                    child = default[v]
                v = v + 1 if child == 0 else right[v]
            out[i] = cython.cast(cython.int, v)


def add_class_counts(leaf: Ints, target: Ints, weight: Numbers, by_class: Number[:, :]):
    """Add the weight of each row to `by_class[leaf, class]`; `weight` is empty where every row weighs 1."""
    with cython.nogil:
        if weight.shape[0] == 0:
            for i in range(leaf.shape[0]):
                by_class[leaf[i], target[i]] += 1
        else:
            for i in range(leaf.shape[0]):
                by_class[leaf[i], target[i]] += weight[i]


def path_offsets(depth, leaf):
    """Return the number of nodes on the path to each row's leaf, summed up: the row offsets of a sparse matrix."""
    return np.append(0, np.cumsum(depth[leaf] + 1, dtype=np.int64))


def leaf_paths(parent: Ints, leaf: Ints, offsets: Longs):
    """Return the nodes on the path to each row's leaf, root first, one path after another."""
    nodes: cython.int[::1] = np.empty(offsets[leaf.shape[0]], np.int32)
    with cython.nogil:
        for i in range(leaf.shape[0]):
            v = leaf[i]
            for k in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
                nodes[k] = v
                v = parent[v]
    return nodes.base
