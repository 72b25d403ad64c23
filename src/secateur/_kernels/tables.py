"""The growing kernels' tables as arrays of nodes in pre-order."""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, NAN
from cython.cimports.secateur._kernels.context import (
    ABOVE,
    BELOW,
    BRANCH_START,
    DEFAULT_CHILD,
    FIRST_CHILD,
    KIND,
    N_CHILDREN,
    NO_SPLIT,
    NUMERIC,
    SLOT,
    SPLIT_STEP,
    SUBSET,
    UNSEEN_CATEGORY,
)

Count = cython.fused_type(cython.longlong, cython.double)
Real = cython.fused_type(cython.float, cython.double)


def preorder_arrays(
    nodes: cython.const[cython.longlong][:, ::1],
    reals: cython.const[cython.double][:, ::1],
    feature_of: cython.const[cython.int][::1],
    by_class: Count[:, ::1],
    has_births: cython.bint,
):
    """(parent, end, right, feature, default, birth, score, test) of each node; fills in the counts.

    `feature_of` is the column of each slot. The lines of `test` are SLOT, KIND (0 of a leaf),
    BELOW, ABOVE and BRANCH.
    """
    n = nodes.shape[0]
    n_classes = by_class.shape[1]
    parent: cython.int[::1] = np.empty(n, np.int32)
    end: cython.int[::1] = np.empty(n, np.int32)
    right: cython.int[::1] = np.empty(n, np.int32)
    feature: cython.int[::1] = np.empty(n, np.int32)
    default: cython.int[::1] = np.empty(n, np.int32)
    birth: cython.int[::1] = np.empty(n, np.int32)
    score: cython.double[::1] = np.empty(n)
    test: cython.longlong[:, ::1] = np.empty((5, n), np.int64)
    stack: cython.longlong[::1] = np.empty(n, np.int64)
    above: cython.int[::1] = np.empty(n, np.int32)  # new number of the parent of what is on the stack
    top: cython.Py_ssize_t = 1
    v: cython.Py_ssize_t
    u: cython.int = 0
    c: cython.Py_ssize_t
    stack[0] = 0
    above[0] = -1
    with cython.nogil:
        while top > 0:
            top -= 1
            v = stack[top]
            parent[u] = above[top]
            for c in range(n_classes):
                count = reals[v, c]
                if Count is cython.longlong:
                    by_class[u, c] = cython.cast(cython.longlong, count + 0.5)
                else:
                    by_class[u, c] = count
            test[1, u] = NO_SPLIT
            feature[u] = -1
            default[u] = 0
            birth[u] = -1
            score[u] = NAN
            if nodes[v, SPLIT_STEP] >= 0:
                test[0, u] = nodes[v, SLOT]
                test[1, u] = nodes[v, KIND]
                test[2, u] = nodes[v, BELOW]
                test[3, u] = nodes[v, ABOVE]
                test[4, u] = nodes[v, BRANCH_START]
                feature[u] = feature_of[nodes[v, SLOT]]
                default[u] = cython.cast(cython.int, nodes[v, DEFAULT_CHILD])
                if has_births:
                    birth[u] = cython.cast(cython.int, nodes[v, SPLIT_STEP])
                score[u] = reals[v, n_classes]
                for c in range(nodes[v, N_CHILDREN] - 1, -1, -1):
                    stack[top] = nodes[v, FIRST_CHILD] + c
                    above[top] = u
                    top += 1
            end[u] = u + 1
            u += 1
        for u in range(cython.cast(cython.int, n) - 1, -1, -1):
            right[u] = 0
            if end[u] > u + 1:
                right[u] = end[u + 1]
            if u > 0 and end[u] > end[parent[u]]:
                end[parent[u]] = end[u]
    return parent.base, end.base, right.base, feature.base, default.base, birth.base, score.base, test.base


def split_thresholds(
    test: cython.const[cython.longlong][:, ::1],
    feature: cython.const[cython.int][:],
    of_column: cython.const[cython.double][:],
    matrix: cython.const[Real][:, :],
    rows: cython.const[cython.Py_ssize_t][:],
):
    """Where the numeric tests of a tree cut: halfway between the values around it, NaN where there is no such test.

    Values are those of `matrix`, in which row i is that of number `rows[i]` (none: row i itself).
    `of_column` has what columns of two values are cut at, NaN of the others; so are columns beyond it.
    A threshold t has low <= t < high: it is `low` where halfway does not lie between. Infinity
    parts what is present from what is missing.
    """
    n = feature.shape[0]
    out: cython.double[::1] = np.empty(n)
    has_rows: cython.bint = rows.shape[0] > 0
    below: cython.Py_ssize_t
    above: cython.Py_ssize_t
    low: cython.double
    high: cython.double
    with cython.nogil:
        for v in range(n):
            if test[1, v] != NUMERIC:
                out[v] = NAN
                continue
            if test[3, v] < 0:
                out[v] = INFINITY
                continue
            if feature[v] < of_column.shape[0] and of_column[feature[v]] == of_column[feature[v]]:
                out[v] = of_column[feature[v]]
                continue
            below = test[2, v]
            above = test[3, v]
            if has_rows:
                below = rows[below]
                above = rows[above]
            low = matrix[below, feature[v]]
            high = matrix[above, feature[v]]
            out[v] = low / 2 + high / 2
            if not (low <= out[v] and out[v] < high):
                out[v] = low
    return out.base


def category_branches(
    test: cython.const[cython.longlong][:, ::1],
    default: cython.const[cython.int][::1],
    branch: cython.const[cython.ushort][:],
    n_codes: cython.const[cython.longlong][:],
    n_lists: cython.Py_ssize_t,
):
    """(start, child): that of every category at every nominal test, those of node v from `start[v]` on.

    `n_codes` is of each slot after the lists. What a node has not seen goes to its default child.
    """
    n = default.shape[0]
    start: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    for v in range(n):
        start[v + 1] = start[v]
        if test[1, v] >= SUBSET:
            start[v + 1] += n_codes[test[0, v] - n_lists]
    out: cython.ushort[::1] = np.empty(start[n], np.uint16)
    with cython.nogil:
        for v in range(n):
            for code in range(start[v + 1] - start[v]):
                child: cython.int = code  # multiway: one child per category
                if test[1, v] == SUBSET:
                    child = branch[test[4, v] + code]
                out[start[v] + code] = cython.cast(cython.ushort, default[v] if child == UNSEEN_CATEGORY else child)
    return start.base, out.base
