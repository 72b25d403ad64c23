"""Loops of the classical pruning rules and of bottom-up structural risk minimisation."""

import cython
import numpy as np
from cython.cimports.libc.math import sqrt
from cython.cimports.secateur._kernels.views import Floats, Ints, Number, Numbers


def max_upwards(parent: Ints, values: Floats):
    """The largest of `values` in each subtree."""
    largest: cython.double[::1] = np.array(values)
    with cython.nogil:
        for v in range(parent.shape[0] - 1, 0, -1):
            p = parent[v]
            largest[p] = max(largest[p], largest[v])
    return largest.base


def sum_of_ancestors(parent: Ints, values: Floats):
    """The sum of `values` over the nodes above each node, itself not counted."""
    above: cython.double[::1] = np.zeros(parent.shape[0])
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            above[v] = above[parent[v]] + values[parent[v]]
    return above.base


def cheapest_within(parent: Ints, leaf_cost: Floats, slack: cython.double):
    """Mark where to cut, bottom-up: wherever the leaf costs at most `slack` more than what is left below.

    A relative 1e-12 counts as equal. With `slack = 0` the summed cost is least and a tie cuts.
    """
    n = parent.shape[0]
    below: cython.double[::1] = np.zeros(n)
    has_children: cython.uchar[::1] = np.zeros(n, np.bool_)
    is_cut: cython.uchar[::1] = np.zeros(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            is_cut[v] = not has_children[v] or leaf_cost[v] <= below[v] + 1e-12 * below[v] + slack
            if v > 0:
                below[parent[v]] += leaf_cost[v] if is_cut[v] else below[v]
                has_children[parent[v]] = True
    return is_cut.base


def cut_unless_it_pays(
    parent: Ints,
    errors: Numbers,
    factor: Floats,
    base: Floats,
    fixed: Floats,
    inner_nats: Floats,
    leaf_nats: cython.double,
):
    """Mark where to cut, bottom-up: wherever what is left below saves no more errors than its penalty.

    The penalty of a subtree with i tests and s leaves at v, in errors, is
    `fixed[v] + factor[v] * sqrt(base[v] + inner_nats[i] + s * leaf_nats)`; a tie cuts.
    """
    n = parent.shape[0]
    below: Number[::1] = np.zeros(n, errors.base.dtype)
    n_tests: cython.longlong[::1] = np.zeros(n, np.int64)
    n_leaves: cython.longlong[::1] = np.zeros(n, np.int64)
    is_cut: cython.uchar[::1] = np.zeros(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            n_tests[v] += 1  # the test at v itself
            if n_leaves[v] == 0:
                is_cut[v] = True
            else:
                nats = base[v] + inner_nats[n_tests[v]] + n_leaves[v] * leaf_nats
                is_cut[v] = errors[v] - below[v] <= fixed[v] + factor[v] * sqrt(nats)
            if is_cut[v]:
                below[v] = errors[v]
                n_tests[v] = 0
                n_leaves[v] = 1
            if v > 0:
                p = parent[v]
                below[p] += below[v]
                n_tests[p] += n_tests[v]
                n_leaves[p] += n_leaves[v]
    return is_cut.base
