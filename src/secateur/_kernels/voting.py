"""The weighted vote of all prunings of a tree, in logarithms.

The prior tosses a fair coin, "cut or keep", at every internal node that is reached. `log_weight[v]` is the logarithm of
the weight of node v as a leaf, without the coins, and `below[v]` the sum of `log_z` over its children. The
logarithm of the summed weight of all prunings of the subtree of v is

    log_z[v] = log_weight[v]                                      at an original leaf
    log_z[v] = ln( exp(log_weight[v]) / 2 + exp(below[v]) / 2 )   elsewhere

Cost: one step per node (and class, for votes), or one step per node of one path.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log, log1p
from cython.cimports.secateur._kernels.views import FloatRows, Floats, Ints


def log_weights(parent: Ints, end: Ints, log_weight: Floats):
    """Return `log_z` of every node."""
    log_z: cython.double[::1] = np.empty(log_weight.shape[0])
    with cython.nogil:
        for v in range(parent.shape[0] - 1, -1, -1):
            log_z[v] = _log_z_of(v, end, log_weight, log_z)
    return log_z.base


def cut_probabilities(end: Ints, log_weight: Floats, log_z: Floats):
    """Return the probability that each node is a leaf, given that no ancestor is a leaf."""
    cut: cython.double[::1] = np.ones(log_weight.shape[0])
    with cython.nogil:
        for v in range(log_weight.shape[0]):
            if end[v] > v + 1:
                cut[v] = 0.5 * exp(log_weight[v] - log_z[v])
    return cut.base


def expected_cost(parent: Ints, cut: Floats, cost: Floats):
    """Return the mean cost of the leaves below each node, if a node that is reached is cut with probability `cut`."""
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            # An original leaf is cut with probability 1, so its empty sum has no weight.
            below[v] = cut[v] * cost[v] + (1.0 - cut[v]) * below[v]
            if v > 0:
                below[parent[v]] += below[v]
    return below.base


def votes_downwards(parent: Ints, cut: Floats, class_probability: FloatRows):
    """Return the votes gathered on the way from the root to each node; they are complete at the original leaves.

    `class_probability[v]` is what node v predicts as a leaf.
    """
    n, n_classes = parent.shape[0], class_probability.shape[1]
    votes: cython.double[:, ::1] = np.empty((n, n_classes))
    reach_probability: cython.double[::1] = np.empty(n)  # that no ancestor is cut
    with cython.nogil:
        for v in range(n):
            p = parent[v]
            reach_probability[v] = 1.0 if v == 0 else reach_probability[p] * (1.0 - cut[p])
            for c in range(n_classes):
                votes[v, c] = reach_probability[v] * cut[v] * class_probability[v, c] + (votes[p, c] if v > 0 else 0.0)
    return votes.base


def path_to_root(parent: Ints, node: cython.int):
    """Return the nodes from `node` up to the root."""
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


def votes_on_path(path: Ints, cut: Floats, class_probability: FloatRows):
    """Return the votes at the original leaf `path[0]`; `path` climbs from it to the root."""
    votes: cython.double[::1] = np.array(class_probability[path[0]])
    with cython.nogil:
        for i in range(1, path.shape[0]):
            v = path[i]
            for c in range(votes.shape[0]):
                votes[c] = cut[v] * class_probability[v, c] + (1.0 - cut[v]) * votes[c]
    return votes.base


def update_path(path: Ints, end: Ints, log_weight: Floats, log_z: cython.double[:], cut: cython.double[:]):
    """Update `log_z` and `cut` in place after `log_weight` has changed on a path to the root.

    The children are summed again instead of being corrected by a difference, so that rounding errors do not accumulate
    over millions of updates.
    """
    with cython.nogil:
        for i in range(path.shape[0]):
            v = path[i]
            log_z[v] = _log_z_of(v, end, log_weight, log_z)
            if end[v] > v + 1:
                cut[v] = 0.5 * exp(log_weight[v] - log_z[v])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _log_z_of(v: cython.Py_ssize_t, end: Ints, log_weight: Floats, log_z: Floats) -> cython.double:
    """Return `log_z[v]` from `log_z` of its children."""
    if end[v] == v + 1:
        return log_weight[v]
    below: cython.double = 0.0
    child = v + 1
    while child < end[v]:
        below += log_z[child]
        child = end[child]
    larger = max(log_weight[v], below)
    smaller = min(log_weight[v], below)
    return larger + log1p(exp(smaller - larger)) - log(2.0)
