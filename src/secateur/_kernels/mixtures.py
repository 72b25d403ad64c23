"""Sums and optima over all prunings of a tree, one backwards pass each.

`own[v]` is the logarithm of what node v contributes as a leaf; a pruning weighs the
product over its leaves. Nodes come in pre-order, so a node is met after its children.
"""

import math

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@njit
def log_partition(parent: Ints, own: Floats) -> Floats:
    """ln of the summed weight of all prunings of each subtree."""
    n = parent.shape[0]
    below = np.zeros(n)
    has_child = np.zeros(n, np.bool_)
    total = np.empty(n)
    for v in range(n - 1, -1, -1):
        z = own[v]
        if has_child[v]:
            high, low = max(z, below[v]), min(z, below[v])
            z = high if low == -np.inf else high + math.log1p(math.exp(low - high))
        total[v] = z
        if v > 0:
            below[parent[v]] += z
            has_child[parent[v]] = True
    return total


@njit
def mean_cost(parent: Ints, own: Floats, cost: Floats) -> tuple[float, float]:
    """(ln Z of the root, expected summed cost of the leaves) under weights exp(own)."""
    n = parent.shape[0]
    below = np.zeros(n)
    mean_below = np.zeros(n)
    has_child = np.zeros(n, np.bool_)
    z = mean = 0.0
    for v in range(n - 1, -1, -1):
        z, mean = own[v], cost[v]
        if has_child[v]:
            if below[v] > z:
                odds = math.exp(z - below[v])  # of a cut against keeping
                z = below[v] + math.log1p(odds)
                mean = (odds * mean + mean_below[v]) / (1.0 + odds)
            else:
                odds = math.exp(below[v] - z)
                z = z + math.log1p(odds)
                mean = (mean + odds * mean_below[v]) / (1.0 + odds)
        if v > 0:
            below[parent[v]] += z
            mean_below[parent[v]] += mean
            has_child[parent[v]] = True
    return z, mean


@njit
def cheapest_cuts(parent: Ints, errors: Floats, prior: Floats, kappa: float) -> tuple[Bools, float, float]:
    """Where to cut to make kappa * errors + prior of the leaves least, and both parts; a tie cuts.

    An infinite kappa means errors first, then prior.
    """
    n = parent.shape[0]
    errors_below = np.zeros(n)
    prior_below = np.zeros(n)
    is_cut = np.ones(n, np.bool_)
    has_child = np.zeros(n, np.bool_)
    e = c = 0.0
    for v in range(n - 1, -1, -1):
        e, c = errors[v], prior[v]
        if has_child[v]:
            if kappa == np.inf:
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
    return is_cut, e, c


@njit
def greatest_sums(parent: Ints, own: Floats) -> Floats:
    """Greatest summed `own` of the leaves over all prunings, column by column (2-D: nodes x columns)."""
    n, width = own.shape
    below = np.zeros((n, width))
    has_child = np.zeros(n, np.bool_)
    for v in range(n - 1, -1, -1):
        for c in range(width):
            if not has_child[v] or own[v, c] > below[v, c]:
                below[v, c] = own[v, c]
            if v > 0:
                below[parent[v], c] += below[v, c]
        if v > 0:
            has_child[parent[v]] = True
    greatest: Floats = below[0]
    return greatest


@njit
def size_probabilities(parent: Ints, cut: Floats, floor: float) -> tuple[int, Floats]:
    """Distribution of the number of leaves when each node reached is cut with probability `cut`.

    Returned as (greatest size, probabilities from there downwards); ends below `floor` are
    dropped on the way. Finished subtrees stand on a stack. Entry i of a window belongs to
    size `most - i`, so that a cut (size 1) is appended and a leaf beside the window only
    raises `most`; `scale` is a factor of the whole window. A chain thus costs O(1) a node.
    """
    n = parent.shape[0]
    n_children = np.zeros(n, np.int32)
    n_leaves = 1
    for v in range(n - 1, 0, -1):
        n_leaves += n_children[v] == 0
        n_children[parent[v]] += 1
    values = np.zeros(2 * n_leaves + 2)  # windows hold at most an entry per leaf, and slots are lost to single entries
    scratch = np.zeros(n_leaves + 1)
    start = np.zeros(n_leaves + 1, np.int64)
    length = np.zeros(n_leaves + 1, np.int64)
    most = np.zeros(n_leaves + 1, np.int64)
    scale = np.ones(n_leaves + 1)
    top = -1
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
                short, long = values[a : a + n_a], values[b : b + n_b]
                if n_a > n_b:
                    short, long = long, short
                product = scratch[: n_a + n_b - 1]
                product[:] = 0.0
                for i in range(short.shape[0]):
                    x = short[i]
                    out = product[i : i + long.shape[0]]
                    for j in range(long.shape[0]):
                        out[j] += x * long[j]
                values[a : a + n_a + n_b - 1] = product
                length[top] = n_a + n_b - 1
        chance = cut[v]
        scale[top] *= 1.0 - chance
        if scale[top] < 1e-100:
            values[start[top] : start[top] + length[top]] *= scale[top]
            scale[top] = 1.0
        if chance >= floor:
            end = start[top] + most[top] - 1  # where size 1 stands
            values[start[top] + length[top] : end] = 0.0
            values[end] = chance / scale[top]
            length[top] = most[top]
        least_value = floor / scale[top]
        while length[top] > 1 and values[start[top]] < least_value:
            start[top] += 1
            length[top] -= 1
            most[top] -= 1
        while length[top] > 1 and values[start[top] + length[top] - 1] < least_value:
            length[top] -= 1
    return most[0], values[start[0] : start[0] + length[0]] * scale[0]


@njit
def log_counts_by_size(parent: Ints, most: int) -> Floats:
    """ln of the number of prunings with j leaves, for j = 0..most (-inf: none)."""
    n = parent.shape[0]
    n_children = np.zeros(n, np.int32)
    n_leaves = 0
    for v in range(n - 1, 0, -1):
        n_leaves += n_children[v] == 0
        n_children[parent[v]] += 1
    n_leaves = max(n_leaves, 1)
    values = np.empty(2 * n_leaves + 1)  # entry j of a subtree: ln count of j leaves, j from 0
    scratch = np.empty(n_leaves + 1)
    start = np.zeros(n_leaves + 1, np.int64)
    length = np.zeros(n_leaves + 1, np.int64)
    top = -1
    for v in range(n - 1, -1, -1):
        if n_children[v] == 0:
            top += 1
            start[top] = 0 if top == 0 else start[top - 1] + length[top - 1]
            length[top] = 2
            values[start[top]] = -np.inf
            values[start[top] + 1] = 0.0
            continue
        for _ in range(n_children[v] - 1):
            a, b = start[top - 1], start[top]
            n_a, n_b = length[top - 1], length[top]
            m = min(n_a + n_b - 1, most + 1)
            for k in range(m):
                first, last = max(0, k - n_b + 1), min(k + 1, n_a)
                high = -np.inf
                for i in range(first, last):
                    high = max(high, values[a + i] + values[b + k - i])
                total = 0.0
                if high > -np.inf:
                    for i in range(first, last):
                        total += math.exp(values[a + i] + values[b + k - i] - high)
                scratch[k] = high + math.log(total) if total > 0.0 else -np.inf
            values[a : a + m] = scratch[:m]
            top -= 1
            length[top] = m
        values[start[top] + 1] = 0.0  # the cut: one leaf; a kept node has at least two
    result = np.full(most + 1, -np.inf)
    for j in range(min(length[0], most + 1)):
        result[j] = values[j]
    return result
