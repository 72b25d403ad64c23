"""Weight, mean and sum of squared errors of the target in every node, without cancellation.

Squared errors are summed around the mean of each leaf, and then moved to the means of the ancestors:

    sse(parent) = sum over the children of (sse + weight * (mean - mean of the parent)^2)

All terms have one sign, so no digits cancel, however far the target is from 0. Cost: two passes over the rows, and
three over the nodes.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Floats, Ints, Longs


def leaf_moments(leaf: Ints, rows: Longs, y: Floats, weight: Floats, n_nodes: cython.Py_ssize_t):
    """Return weight, mean and sum of squared errors of each leaf (0 at internal nodes), adding rows in the given order.

    `weight` is empty where every row weighs 1.
    """
    total: cython.double[::1] = np.zeros(n_nodes)
    # The first target value of each leaf: differences from it keep their digits.
    centre: cython.double[::1] = np.zeros(n_nodes)
    shift: cython.double[::1] = np.zeros(n_nodes)  # the mean less the first value
    sse: cython.double[::1] = np.zeros(n_nodes)
    remainder: cython.double[::1] = np.zeros(n_nodes)  # sum of the deviations from the rounded mean
    is_weighted: cython.bint = weight.shape[0] > 0
    with cython.nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            v = leaf[row]
            w = weight[row] if is_weighted else 1.0
            if total[v] == 0:
                centre[v] = y[row]
            total[v] += w
            shift[v] += w * (y[row] - centre[v])
        for v in range(n_nodes):
            if total[v] > 0:
                shift[v] /= total[v]
        for i in range(rows.shape[0]):
            row = rows[i]
            v = leaf[row]
            w = weight[row] if is_weighted else 1.0
            deviation = (y[row] - centre[v]) - shift[v]
            sse[v] += w * deviation * deviation
            remainder[v] += w * deviation
        for v in range(n_nodes):
            if total[v] > 0:  # subtract the error that rounding the mean has added
                sse[v] = max(sse[v] - remainder[v] * remainder[v] / total[v], 0.0)
            centre[v] += shift[v]
    return total.base, centre.base, sse.base


def moments_upwards(parent: Ints, weight: Floats, mean: Floats, sse: Floats):
    """Return weight, mean and sum of squared errors of all nodes from those of the leaves.

    The arguments must be 0 at internal nodes. An empty node has the mean of its parent.
    """
    n = parent.shape[0]
    total: cython.double[::1] = np.array(weight)
    node_mean: cython.double[::1] = np.empty(n)
    node_sse: cython.double[::1] = np.array(sse)
    is_leaf: cython.uchar[::1] = np.ones(n, np.bool_)
    with cython.nogil:
        for v in range(n):
            node_mean[v] = weight[v] * mean[v]
        for v in range(n - 1, 0, -1):
            total[parent[v]] += total[v]
            node_mean[parent[v]] += node_mean[v]
            is_leaf[parent[v]] = False
        for v in range(n):
            if is_leaf[v] and weight[v] > 0:
                node_mean[v] = mean[v]
            elif total[v] > 0:
                node_mean[v] /= total[v]
            else:
                node_mean[v] = node_mean[parent[v]] if v > 0 else mean[v]
        for v in range(n - 1, 0, -1):
            shift = node_mean[v] - node_mean[parent[v]]
            node_sse[parent[v]] += node_sse[v] + total[v] * shift * shift
    return total.base, node_mean.base, node_sse.base
