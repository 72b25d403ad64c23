"""Weight, mean and squared error of a number in every node, without losing digits.

Squared errors are added up around each leaf's own mean and then carried upwards,

    spread = sum over the children of (spread + weight * (mean - mean of the parent)^2),

a sum of terms of one sign: nothing cancels, however far the numbers are from 0.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Floats, Ints, Longs


def leaf_moments(leaf: Ints, rows: Longs, y: Floats, weight: Floats, n_nodes: cython.Py_ssize_t):
    """(weight, mean, spread) of each leaf, the rows taken in the order of `rows`; 0 elsewhere.

    `weight` is empty where every row weighs 1.
    """
    total: cython.double[::1] = np.zeros(n_nodes)
    first: cython.double[::1] = np.zeros(n_nodes)  # a number of the leaf: differences from it keep their digits
    shift: cython.double[::1] = np.zeros(n_nodes)
    spread: cython.double[::1] = np.zeros(n_nodes)
    rest: cython.double[::1] = np.zeros(n_nodes)
    is_weighted: cython.bint = weight.shape[0] > 0
    with cython.nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            v = leaf[row]
            w = weight[row] if is_weighted else 1.0
            if total[v] == 0:
                first[v] = y[row]
            total[v] += w
            shift[v] += w * (y[row] - first[v])
        for v in range(n_nodes):
            if total[v] > 0:
                shift[v] /= total[v]
        for i in range(rows.shape[0]):
            row = rows[i]
            v = leaf[row]
            w = weight[row] if is_weighted else 1.0
            d = (y[row] - first[v]) - shift[v]
            spread[v] += w * d * d
            rest[v] += w * d
        for v in range(n_nodes):
            if total[v] > 0:  # what the rounding of the mean has added
                spread[v] = max(spread[v] - rest[v] * rest[v] / total[v], 0.0)
            first[v] += shift[v]
    return total.base, first.base, spread.base


def moments_upwards(parent: Ints, weight: Floats, mean: Floats, spread: Floats):
    """(weight, mean, spread) of all nodes from those of the leaves; an empty node has the mean of its parent.

    What is given for inner nodes must be 0.
    """
    n = parent.shape[0]
    total: cython.double[::1] = np.array(weight)
    centre: cython.double[::1] = np.empty(n)
    error: cython.double[::1] = np.array(spread)
    is_leaf: cython.uchar[::1] = np.ones(n, np.bool_)
    with cython.nogil:
        for v in range(n):
            centre[v] = weight[v] * mean[v]
        for v in range(n - 1, 0, -1):
            total[parent[v]] += total[v]
            centre[parent[v]] += centre[v]
            is_leaf[parent[v]] = False
        for v in range(n):
            if is_leaf[v] and weight[v] > 0:
                centre[v] = mean[v]
            elif total[v] > 0:
                centre[v] /= total[v]
            else:
                centre[v] = centre[parent[v]] if v > 0 else mean[v]
        for v in range(n - 1, 0, -1):
            d = centre[v] - centre[parent[v]]
            error[parent[v]] += error[v] + total[v] * d * d
    return total.base, centre.base, error.base
