"""The growing kernels' tables as arrays of nodes in pre-order."""

import cython
import numpy as np
from cython.cimports.secateur._kernels.growing import (
    ABOVE,
    ARITY,
    BELOW,
    BIRTH,
    BRANCH,
    DEFAULT,
    FIRST,
    KIND,
    NONE,
    SLOT,
)

Count = cython.fused_type(cython.longlong, cython.double)


def in_preorder(
    nodes: cython.const[cython.longlong][:, ::1],
    reals: cython.const[cython.double][:, ::1],
    feature_of: cython.const[cython.int][::1],
    by_class: Count[:, ::1],
):
    """(parent, feature, default, birth, score, test) of each node; fills in the counts.

    `feature_of` is the column of each slot. The lines of `test` are SLOT, KIND (0 of a leaf),
    BELOW, ABOVE and BRANCH.
    """
    n: cython.Py_ssize_t = nodes.shape[0]
    n_classes: cython.Py_ssize_t = by_class.shape[1]
    parent: cython.int[::1] = np.empty(n, np.int32)
    feature: cython.int[::1] = np.full(n, -1, np.int32)
    default: cython.int[::1] = np.zeros(n, np.int32)
    birth: cython.int[::1] = np.full(n, -1, np.int32)
    score: cython.double[::1] = np.full(n, np.nan)
    test: cython.longlong[:, ::1] = np.empty((5, n), np.int64)
    stack: cython.longlong[::1] = np.empty(n, np.int64)
    above: cython.int[::1] = np.empty(n, np.int32)  # new number of the parent of what is on the stack
    top: cython.Py_ssize_t = 1
    v: cython.Py_ssize_t
    u: cython.int = 0
    c: cython.Py_ssize_t
    count: cython.double
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
            test[1, u] = NONE
            if nodes[v, BIRTH] >= 0:
                test[0, u] = nodes[v, SLOT]
                test[1, u] = nodes[v, KIND]
                test[2, u] = nodes[v, BELOW]
                test[3, u] = nodes[v, ABOVE]
                test[4, u] = nodes[v, BRANCH]
                feature[u] = feature_of[nodes[v, SLOT]]
                default[u] = cython.cast(cython.int, nodes[v, DEFAULT])
                birth[u] = cython.cast(cython.int, nodes[v, BIRTH])
                score[u] = reals[v, n_classes]
                for c in range(nodes[v, ARITY] - 1, -1, -1):
                    stack[top] = nodes[v, FIRST] + c
                    above[top] = u
                    top += 1
            u += 1
    return parent.base, feature.base, default.base, birth.base, score.base, test.base
