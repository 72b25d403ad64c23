"""Walk rows down a tree."""

import cython
import numpy as np

Real = cython.fused_type(cython.float, cython.double)
Number = cython.fused_type(cython.longlong, cython.double)


def route_numeric(
    matrix: cython.const[Real][:, :],
    feature: cython.const[cython.int][:],
    threshold: cython.const[cython.double][:],
    right: cython.const[cython.int][:],
    default: cython.const[cython.int][:],
    out: cython.int[:],
):
    """Leaf of each row of a binary tree whose tests all compare numbers.

    The left child of v is v + 1. A test is false for NaN, so only then is `default` read.
    """
    v: cython.Py_ssize_t
    f: cython.Py_ssize_t
    x: cython.double
    with cython.nogil:
        for i in range(matrix.shape[0]):
            v = 0
            f = feature[v]
            while f >= 0:
                x = matrix[i, f]
                if x <= threshold[v]:
                    v += 1
                elif x == x:
                    v = right[v]
                else:
                    v = right[v] if default[v] else v + 1
                f = feature[v]
            out[i] = v


def route_any(
    matrix: cython.const[cython.double][:, :],
    start_node: cython.Py_ssize_t,
    feature: cython.const[cython.int][:],
    threshold: cython.const[cython.double][:],
    branch_start: cython.const[cython.longlong][:],
    branch: cython.const[cython.ushort][:],
    default: cython.const[cython.int][:],
    child_start: cython.const[cython.longlong][:],
    child: cython.const[cython.int][:],
    out: cython.int[:],
):
    """Leaf of each row, starting at `start_node`; nominal columns hold codes, NaN where unseen."""
    c: cython.Py_ssize_t
    v: cython.Py_ssize_t
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


def count_leaves(
    leaf: cython.const[cython.int][:],
    target: cython.const[cython.int][:],
    weight: cython.const[Number][:],
    by_class: Number[:, :],
):
    """Add the rows to `by_class[leaf, class]`; `weight` is empty where every row weighs 1."""
    with cython.nogil:
        if weight.shape[0] == 0:
            for i in range(leaf.shape[0]):
                by_class[leaf[i], target[i]] += 1
        else:
            for i in range(leaf.shape[0]):
                by_class[leaf[i], target[i]] += weight[i]


def path_lengths(depth: cython.const[cython.int][:], leaf: cython.const[cython.int][:]):
    """Nodes on the path to each row's leaf, as offsets of a sparse matrix."""
    offsets: cython.longlong[::1] = np.zeros(leaf.shape[0] + 1, np.int64)
    with cython.nogil:
        for i in range(leaf.shape[0]):
            offsets[i + 1] = offsets[i] + depth[leaf[i]] + 1
    return offsets.base


def paths(
    parent: cython.const[cython.int][:], leaf: cython.const[cython.int][:], offsets: cython.const[cython.longlong][:]
):
    """The nodes on the path to each row's leaf, root first."""
    nodes: cython.int[::1] = np.empty(offsets[leaf.shape[0]], np.int32)
    with cython.nogil:
        for i in range(leaf.shape[0]):
            v = leaf[i]
            for k in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
                nodes[k] = v
                v = parent[v]
    return nodes.base
