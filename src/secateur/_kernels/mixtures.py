"""Sums, means, optima and distributions over all prunings of a tree, one pass from the leaves to the root each.

A pruning weighs the product of the weights of its leaves; `log_weight[v]` is the logarithm of the weight of node v as a
leaf. The summed weight Z of all prunings of a subtree follows from those of the children, although there may be
astronomically many prunings:

    Z[v] = exp(log_weight[v]) + product over the children c of Z[c]        (an original leaf: the first term alone)

Loops run over v = n - 1, ..., 0, so a node comes after its children. `below[v]` collects ln Z (or a cost) of the
children of v. Cost: one step per node, but for the two functions about sizes, which combine tables of the children
as `size_tables.py` does: at most the square of the number of leaves.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, exp, log, log1p
from cython.cimports.secateur._kernels.views import Floats, Ints, Number, NumberRows


def log_partition(parent: Ints, log_weight: Floats):
    """Return ln Z of each node: the logarithm of the summed weight of all prunings of its subtree."""
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    log_z: cython.double[::1] = np.empty(n)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            z = log_weight[v]
            if has_child[v]:
                larger, smaller = max(z, below[v]), min(z, below[v])
                z = larger if smaller == -INFINITY else larger + log1p(exp(smaller - larger))
            log_z[v] = z
            if v > 0:
                below[parent[v]] += z
                has_child[parent[v]] = True
    return log_z.base


def mean_cost(parent: Ints, log_weight: Floats, cost: Floats):
    """Return ln Z of the root, and the mean summed cost of the leaves of a pruning drawn by its weight."""
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    mean_below: cython.double[::1] = np.zeros(n)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    z: cython.double = 0.0
    mean: cython.double = 0.0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            z, mean = log_weight[v], cost[v]
            if has_child[v]:
                if below[v] > z:
                    odds = exp(z - below[v])  # of cutting against keeping
                    z = below[v] + log1p(odds)
                    mean = (odds * mean + mean_below[v]) / (1.0 + odds)
                else:
                    odds = exp(below[v] - z)  # of keeping against cutting
                    z = z + log1p(odds)
                    mean = (mean + odds * mean_below[v]) / (1.0 + odds)
            if v > 0:
                below[parent[v]] += z
                mean_below[parent[v]] += mean
                has_child[parent[v]] = True
    return z, mean


def cheapest_cuts(parent: Ints, errors: Floats, prior: Floats, kappa: cython.double):
    """Return where to cut so that kappa * errors + prior, summed over the leaves, is least; a tie cuts.

    Also return the summed errors and the summed prior of that pruning. An infinite kappa means that errors are compared
    first, and priors only between equal errors.
    """
    n = parent.shape[0]
    errors_below: cython.double[::1] = np.zeros(n)
    prior_below: cython.double[::1] = np.zeros(n)
    is_cut: cython.uchar[::1] = np.ones(n, np.bool_)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    best_errors: cython.double = 0.0
    best_prior: cython.double = 0.0
    is_kept: cython.bint
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            best_errors, best_prior = errors[v], prior[v]
            if has_child[v]:
                if kappa == INFINITY:
                    is_kept = errors_below[v] < best_errors or (
                        errors_below[v] == best_errors and prior_below[v] < best_prior
                    )
                else:
                    is_kept = kappa * errors_below[v] + prior_below[v] < kappa * best_errors + best_prior
                if is_kept:
                    is_cut[v] = False
                    best_errors, best_prior = errors_below[v], prior_below[v]
            if v > 0:
                errors_below[parent[v]] += best_errors
                prior_below[parent[v]] += best_prior
                has_child[parent[v]] = True
    return is_cut.base, best_errors, best_prior


def max_leaf_sums(parent: Ints, values: NumberRows):
    """Return the greatest sum of `values` (nodes x columns) over the leaves of a pruning, column by column."""
    n, width = values.shape[0], values.shape[1]
    below: Number[:, ::1] = np.zeros((n, width), values.base.dtype)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            for c in range(width):
                if not has_child[v] or values[v, c] > below[v, c]:
                    below[v, c] = values[v, c]
                if v > 0:
                    below[parent[v], c] += below[v, c]
            if v > 0:
                has_child[parent[v]] = True
    return below.base[0]


def _count_children(parent: Ints):
    """Return the number of children of each node, and the number of leaves."""
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


# The distribution of sizes
#
# The distribution of the number of leaves of a subtree is a *window*: probabilities of consecutive sizes, from the
# largest size down. The windows of finished subtrees that wait for their siblings lie one after another in `values`,
# like a stack; window t starts at start[t] and has length[t] entries:
#
#     values:   | window 0 ............ | window 1 ... | window 2 (top) ..... |        |
#                 sizes max_size[0] and below            its entry i: size max_size[2] - i
#
# Size 1 (a cut) is the last entry, so it is appended at the free end. A window of one entry beside another window only
# multiplies it and raises its sizes. A factor of a whole window is kept in `scale`. A chain thus costs O(1) per node.

MIN_SCALE = cython.declare(cython.double, 1e-100)  # below it the factor is multiplied into the entries


def size_probabilities(parent: Ints, cut_chance: Floats, floor: cython.double):
    """Return the distribution of the number of leaves if each node that is reached is cut with its `cut_chance`.

    Returned as the largest size, and the probabilities from that size downwards. Probabilities below `floor` at the
    ends of a distribution are dropped, in every subtree.
    """
    n = parent.shape[0]
    counted, n_leaves = _count_children(parent)
    n_children: cython.int[::1] = counted
    # All windows together hold at most one entry per leaf, and appending a cut may skip as many.
    values: cython.double[::1] = np.zeros(2 * n_leaves + 4)
    product: cython.double[::1] = np.zeros(n_leaves + 2)
    start: cython.longlong[::1] = np.zeros(n_leaves + 2, np.int64)
    length: cython.longlong[::1] = np.zeros(n_leaves + 2, np.int64)
    max_size: cython.longlong[::1] = np.zeros(n_leaves + 2, np.int64)
    scale: cython.double[::1] = np.ones(n_leaves + 2)
    top: cython.Py_ssize_t = -1
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if n_children[v] == 0:
                top += 1
                start[top] = 0 if top == 0 else start[top - 1] + length[top - 1]
                length[top] = max_size[top] = 1
                scale[top] = 1.0
                values[start[top]] = 1.0
                continue
            for _ in range(n_children[v] - 1):
                top -= 1
                max_size[top] += max_size[top + 1]
                scale[top] *= scale[top + 1]
                _join_windows(top, values, start, length, scale, product)
            scale[top] *= 1.0 - cut_chance[v]
            if scale[top] < MIN_SCALE:
                for i in range(start[top], start[top] + length[top]):
                    values[i] *= scale[top]
                scale[top] = 1.0
            if cut_chance[v] >= floor:
                end = start[top] + max_size[top] - 1  # the entry of size 1
                for i in range(start[top] + length[top], end):
                    values[i] = 0.0
                values[end] = cut_chance[v] / scale[top]
                length[top] = max_size[top]
            _trim_window(top, floor / scale[top], values, start, length, max_size)
    return max_size[0], values.base[start[0] : start[0] + length[0]] * scale[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _join_windows(
    top: cython.Py_ssize_t,
    values: cython.double[::1],
    start: cython.longlong[::1],
    length: cython.longlong[::1],
    scale: cython.double[::1],
    product: cython.double[::1],
) -> cython.void:
    """Replace window `top` by the distribution of the summed sizes of windows `top` and `top + 1`."""
    a, b = start[top], start[top + 1]
    n_a, n_b = length[top], length[top + 1]
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _trim_window(
    top: cython.Py_ssize_t,
    min_value: cython.double,
    values: cython.double[::1],
    start: cython.longlong[::1],
    length: cython.longlong[::1],
    max_size: cython.longlong[::1],
) -> cython.void:
    """Drop entries below `min_value` from both ends of window `top`; one entry stays."""
    while length[top] > 1 and values[start[top]] < min_value:
        start[top] += 1
        length[top] -= 1
        max_size[top] -= 1
    while length[top] > 1 and values[start[top] + length[top] - 1] < min_value:
        length[top] -= 1


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
    """Set `product` to the product of two windows, as of two polynomials; every sum runs in rising order of i."""
    n_fours = n_short - n_short % 4
    for i in range(n_short + n_long - 1):
        product[i] = 0.0
    for i in range(0, n_fours, 4):  # for four entries at a time the product is read and written once
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


def log_counts_by_size(parent: Ints, max_leaves: cython.Py_ssize_t):
    """Return the logarithm of the number of prunings with j leaves, for j = 0, ..., `max_leaves` (-inf: none).

    The tables of finished subtrees lie one after another, like the windows above; here entry j belongs to j leaves.
    """
    n = parent.shape[0]
    counted, n_leaves = _count_children(parent)
    n_children: cython.int[::1] = counted
    values: cython.double[::1] = np.empty(2 * n_leaves + 1)
    scratch: cython.double[::1] = np.empty(n_leaves + 1)
    start: cython.longlong[::1] = np.zeros(n_leaves + 1, np.int64)
    length: cython.longlong[::1] = np.zeros(n_leaves + 1, np.int64)
    result: cython.double[::1] = np.full(max_leaves + 1, -np.inf)
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
                n_combined = min(n_a + n_b - 1, max_leaves + 1)
                for k in range(n_combined):
                    scratch[k] = _log_sum(values, a, b, k, max(0, k - n_b + 1), min(k + 1, n_a))
                for k in range(n_combined):
                    values[a + k] = scratch[k]
                top -= 1
                length[top] = n_combined
            values[start[top] + 1] = 0.0  # a cut has one leaf; a kept node has at least two
        for j in range(min(length[0], max_leaves + 1)):
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
    """Return ln of the sum of exp(values[a + i] + values[b + k - i]) over i = first, ..., last - 1."""
    largest: cython.double = -INFINITY
    total: cython.double = 0.0
    for i in range(first, last):
        largest = max(largest, values[a + i] + values[b + k - i])
    if largest > -INFINITY:
        for i in range(first, last):
            total += exp(values[a + i] + values[b + k - i] - largest)
    return largest + log(total) if total > 0.0 else -INFINITY
