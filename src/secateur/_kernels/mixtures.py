"""Sums and optima over all prunings of a tree, one backwards pass each.

`own[v]` is the logarithm of what node v contributes as a leaf; a pruning weighs the
product over its leaves. Nodes come in pre-order, so a node is met after its children.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, exp, log, log1p
from cython.cimports.secateur._kernels.views import Floats, Ints, Number, NumberRows


def log_partition(parent: Ints, own: Floats):
    """ln of the summed weight of all prunings of each subtree."""
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    total: cython.double[::1] = np.empty(n)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            z = own[v]
            if has_child[v]:
                high, low = max(z, below[v]), min(z, below[v])
                z = high if low == -INFINITY else high + log1p(exp(low - high))
            total[v] = z
            if v > 0:
                below[parent[v]] += z
                has_child[parent[v]] = True
    return total.base


def mean_cost(parent: Ints, own: Floats, cost: Floats):
    """(ln Z of the root, expected summed cost of the leaves) under weights exp(own)."""
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    mean_below: cython.double[::1] = np.zeros(n)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    z: cython.double = 0.0
    mean: cython.double = 0.0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            z, mean = own[v], cost[v]
            if has_child[v]:
                if below[v] > z:
                    odds = exp(z - below[v])  # of a cut against keeping
                    z = below[v] + log1p(odds)
                    mean = (odds * mean + mean_below[v]) / (1.0 + odds)
                else:
                    odds = exp(below[v] - z)
                    z = z + log1p(odds)
                    mean = (mean + odds * mean_below[v]) / (1.0 + odds)
            if v > 0:
                below[parent[v]] += z
                mean_below[parent[v]] += mean
                has_child[parent[v]] = True
    return z, mean


def cheapest_cuts(parent: Ints, errors: Floats, prior: Floats, kappa: cython.double):
    """Where to cut to make kappa * errors + prior of the leaves least, and both parts; a tie cuts.

    An infinite kappa means errors first, then prior.
    """
    n = parent.shape[0]
    errors_below: cython.double[::1] = np.zeros(n)
    prior_below: cython.double[::1] = np.zeros(n)
    is_cut: cython.uchar[::1] = np.ones(n, np.bool_)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    e: cython.double = 0.0
    c: cython.double = 0.0
    keeps: cython.bint
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            e, c = errors[v], prior[v]
            if has_child[v]:
                if kappa == INFINITY:
                    keeps = errors_below[v] < e or (errors_below[v] == e and prior_below[v] < c)
                else:
                    keeps = kappa * errors_below[v] + prior_below[v] < kappa * e + c
                if keeps:
                    is_cut[v] = False
                    e, c = errors_below[v], prior_below[v]
            if v > 0:
                errors_below[parent[v]] += e
                prior_below[parent[v]] += c
                has_child[parent[v]] = True
    return is_cut.base, e, c


def max_leaf_sums(parent: Ints, own: NumberRows):
    """Greatest summed `own` of the leaves over all prunings, column by column (2-D: nodes x columns)."""
    n, width = own.shape[0], own.shape[1]
    below: Number[:, ::1] = np.zeros((n, width), own.base.dtype)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            for c in range(width):
                if not has_child[v] or own[v, c] > below[v, c]:
                    below[v, c] = own[v, c]
                if v > 0:
                    below[parent[v], c] += below[v, c]
            if v > 0:
                has_child[parent[v]] = True
    return below.base[0]


def _children(parent: Ints):
    """(number of children of each node, number of leaves)."""
    n = parent.shape[0]
    n_children: cython.int[::1] = np.zeros(n, np.int32)
    n_leaves: cython.Py_ssize_t = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if n_children[v] == 0:
                n_leaves += 1
            if v > 0:
                n_children[parent[v]] += 1
    return n_children.base, n_leaves


def size_probabilities(parent: Ints, cut: Floats, floor: cython.double):
    """Distribution of the number of leaves when each node reached is cut with probability `cut`.

    Returned as (greatest size, probabilities from there downwards); ends below `floor` are
    dropped on the way. Finished subtrees stand on a stack. Entry i of a window belongs to
    size `most - i`, so that a cut (size 1) is appended and a leaf beside the window only
    raises `most`; `scale` is a factor of the whole window. A chain thus costs O(1) a node.
    """
    n = parent.shape[0]
    counted, n_leaves = _children(parent)
    n_children: cython.int[::1] = counted
    # Windows hold at most an entry per leaf, and slots are lost to single entries.
    values: cython.double[::1] = np.zeros(2 * n_leaves + 4)
    product: cython.double[::1] = np.zeros(n_leaves + 2)
    start: cython.longlong[::1] = np.zeros(n_leaves + 2, np.int64)
    length: cython.longlong[::1] = np.zeros(n_leaves + 2, np.int64)
    most: cython.longlong[::1] = np.zeros(n_leaves + 2, np.int64)
    scale: cython.double[::1] = np.ones(n_leaves + 2)
    top: cython.Py_ssize_t = -1
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if n_children[v] == 0:
                top += 1
                start[top] = 0 if top == 0 else start[top - 1] + length[top - 1]
                length[top] = most[top] = 1
                scale[top] = 1.0
                values[start[top]] = 1.0
                continue
            for _ in range(n_children[v] - 1):
                a, b = start[top - 1], start[top]
                n_a, n_b = length[top - 1], length[top]
                top -= 1
                most[top] += most[top + 1]
                scale[top] *= scale[top + 1]
                if n_b == 1:
                    scale[top] *= values[b]
                elif n_a == 1:
                    scale[top] *= values[a]
                    start[top], length[top] = b, n_b
                else:
                    if n_a > n_b:
                        _multiply(values, b, n_b, a, n_a, product)
                    else:
                        _multiply(values, a, n_a, b, n_b, product)
                    length[top] = n_a + n_b - 1
                    for i in range(length[top]):
                        values[a + i] = product[i]
            chance = cut[v]
            scale[top] *= 1.0 - chance
            if scale[top] < 1e-100:
                for i in range(start[top], start[top] + length[top]):
                    values[i] *= scale[top]
                scale[top] = 1.0
            if chance >= floor:
                end = start[top] + most[top] - 1  # where size 1 stands
                for i in range(start[top] + length[top], end):
                    values[i] = 0.0
                values[end] = chance / scale[top]
                length[top] = most[top]
            least_value = floor / scale[top]
            while length[top] > 1 and values[start[top]] < least_value:
                start[top] += 1
                length[top] -= 1
                most[top] -= 1
            while length[top] > 1 and values[start[top] + length[top] - 1] < least_value:
                length[top] -= 1
    return most[0], values.base[start[0] : start[0] + length[0]] * scale[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _multiply(
    values: cython.double[::1],
    short: cython.Py_ssize_t,
    n_short: cython.Py_ssize_t,
    long: cython.Py_ssize_t,
    n_long: cython.Py_ssize_t,
    product: cython.double[::1],
) -> cython.void:
    """The product of two windows, given by their places in `values`; every sum in rising order of i."""
    n_fours = n_short - n_short % 4
    for i in range(n_short + n_long - 1):
        product[i] = 0.0
    for i in range(0, n_fours, 4):  # four at a time: the product is read and written once for them
        x, y, z, w = values[short + i], values[short + i + 1], values[short + i + 2], values[short + i + 3]
        for t in range(4):
            for j in range(3 - t):
                product[i + t + j] += values[short + i + t] * values[long + j]
        for j in range(3, n_long):
            product[i + j] = (
                ((product[i + j] + x * values[long + j]) + y * values[long + j - 1]) + z * values[long + j - 2]
            ) + w * values[long + j - 3]
        for t in range(1, 4):
            for j in range(n_long - t, n_long):
                product[i + t + j] += values[short + i + t] * values[long + j]
    for i in range(n_fours, n_short):
        x = values[short + i]
        for j in range(n_long):
            product[i + j] += x * values[long + j]


def log_counts_by_size(parent: Ints, most: cython.Py_ssize_t):
    """ln of the number of prunings with j leaves, for j = 0..most (-inf: none)."""
    n = parent.shape[0]
    counted, n_leaves = _children(parent)
    n_children: cython.int[::1] = counted
    values: cython.double[::1] = np.empty(2 * n_leaves + 1)  # entry j of a subtree: ln count of j leaves, j from 0
    scratch: cython.double[::1] = np.empty(n_leaves + 1)
    start: cython.longlong[::1] = np.zeros(n_leaves + 1, np.int64)
    length: cython.longlong[::1] = np.zeros(n_leaves + 1, np.int64)
    result: cython.double[::1] = np.full(most + 1, -np.inf)
    top: cython.Py_ssize_t = -1
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if n_children[v] == 0:
                top += 1
                start[top] = 0 if top == 0 else start[top - 1] + length[top - 1]
                length[top] = 2
                values[start[top]] = -INFINITY
                values[start[top] + 1] = 0.0
                continue
            for _ in range(n_children[v] - 1):
                a, b = start[top - 1], start[top]
                n_a, n_b = length[top - 1], length[top]
                m = min(n_a + n_b - 1, most + 1)
                for k in range(m):
                    scratch[k] = _log_sum(values, a, b, k, max(0, k - n_b + 1), min(k + 1, n_a))
                for k in range(m):
                    values[a + k] = scratch[k]
                top -= 1
                length[top] = m
            values[start[top] + 1] = 0.0  # the cut: one leaf; a kept node has at least two
        for j in range(min(length[0], most + 1)):
            result[j] = values[j]
    return result.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _log_sum(
    values: cython.double[::1],
    a: cython.Py_ssize_t,
    b: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
) -> cython.double:
    """ln of the sum of exp(values[a + i] + values[b + k - i]) over i = first..last - 1."""
    high: cython.double = -INFINITY
    total: cython.double = 0.0
    for i in range(first, last):
        high = max(high, values[a + i] + values[b + k - i])
    if high > -INFINITY:
        for i in range(first, last):
            total += exp(values[a + i] + values[b + k - i] - high)
    return high + log(total) if total > 0.0 else -INFINITY
