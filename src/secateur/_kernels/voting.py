"""The weighted sum over all prunings of a tree, node by node, in logs.

With `own[v]` the log weight of v as a leaf (without the coin), `below[v]` the sum of
`log_z` over its children and a fair coin "cut or keep" at every internal node:

    log_z[v] = own[v]                                    at an original leaf
    log_z[v] = ln( exp(own[v]) / 2 + exp(below[v]) / 2 ) elsewhere
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log, log1p
from cython.cimports.secateur._kernels.views import FloatRows, Floats, Ints


def log_weights(parent: Ints, end: Ints, own: Floats):
    """`log_z` of every node."""
    log_z: cython.double[::1] = np.empty(own.shape[0])
    with cython.nogil:
        for v in range(parent.shape[0] - 1, -1, -1):
            log_z[v] = _log_weight(v, end, own, log_z)
    return log_z.base


def cut_probabilities(end: Ints, own: Floats, log_z: Floats):
    """Probability that v is a leaf, given that it is not under one."""
    cut: cython.double[::1] = np.ones(own.shape[0])
    with cython.nogil:
        for v in range(own.shape[0]):
            if end[v] > v + 1:
                cut[v] = 0.5 * exp(own[v] - log_z[v])
    return cut.base


def expected_cost(parent: Ints, cut: Floats, cost: Floats):
    """Mean cost of the leaves below each node when every node is cut with probability `cut`."""
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            # An original leaf is cut with probability 1, so its empty sum has no weight.
            below[v] = cut[v] * cost[v] + (1.0 - cut[v]) * below[v]
            if v > 0:
                below[parent[v]] += below[v]
    return below.base


def votes_downwards(parent: Ints, cut: Floats, says: FloatRows):
    """Votes gathered on the way from the root to each node; complete at the original leaves."""
    n, n_classes = parent.shape[0], says.shape[1]
    votes: cython.double[:, ::1] = np.empty((n, n_classes))
    still_open: cython.double[::1] = np.empty(n)
    with cython.nogil:
        for v in range(n):
            p = parent[v]
            still_open[v] = 1.0 if v == 0 else still_open[p] * (1.0 - cut[p])
            for c in range(n_classes):
                votes[v, c] = still_open[v] * cut[v] * says[v, c] + (votes[p, c] if v > 0 else 0.0)
    return votes.base


def path_to_root(parent: Ints, node: cython.int):
    """The nodes from `node` up to the root."""
    length: cython.Py_ssize_t = 0
    v = node
    while v >= 0:
        length += 1
        v = parent[v]
    path: cython.int[::1] = np.empty(length, np.int32)
    v = node
    with cython.nogil:
        for i in range(length):
            path[i] = v
            v = parent[v]
    return path.base


def votes_on_path(path: Ints, cut: Floats, says: FloatRows):
    """Votes at the original leaf `path[0]`, climbing from it to the root."""
    votes: cython.double[::1] = np.array(says[path[0]])
    with cython.nogil:
        for i in range(1, path.shape[0]):
            v = path[i]
            for c in range(votes.shape[0]):
                votes[c] = cut[v] * says[v, c] + (1.0 - cut[v]) * votes[c]
    return votes.base


def update_path(path: Ints, end: Ints, own: Floats, log_z: cython.double[:], cut: cython.double[:]):
    """Bring `log_z` and `cut` up to date, in place, after `own` has changed on a path to the root.

    The children are added up anew rather than corrected by a difference, so that
    rounding does not pile up over millions of updates.
    """
    with cython.nogil:
        for i in range(path.shape[0]):
            v = path[i]
            log_z[v] = _log_weight(v, end, own, log_z)
            if end[v] > v + 1:
                cut[v] = 0.5 * exp(own[v] - log_z[v])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _log_weight(v: cython.Py_ssize_t, end: Ints, own: Floats, log_z: Floats) -> cython.double:
    if end[v] == v + 1:
        return own[v]
    below: cython.double = 0.0
    child = v + 1
    while child < end[v]:
        below += log_z[child]
        child = end[child]
    high = max(own[v], below)
    low = min(own[v], below)
    return high + log1p(exp(low - high)) - log(2.0)
