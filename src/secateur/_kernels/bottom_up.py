"""Cuts that one pass settles, from the leaves to the root."""

import cython
import numpy as np
from cython.cimports.libc.math import sqrt
from cython.cimports.secateur._kernels.views import Bools, Floats, Ints, Number, Numbers

# Sums of real numbers depend on their order; closer than this they count as equal.
RELATIVE_TOLERANCE = 1e-12


def cheapest_subtree(parent, leaf_cost, scale=0.0):
    """Mark where to cut so that the summed cost of the leaves is least; a tie cuts.

    Leaves are marked too. Of all cheapest prunings this is the smallest. Whole-number costs
    are compared exactly, others to 1e-12 of the largest cost (or of `scale`, if that is
    larger: the weight of the sample that the costs are differences of).
    """
    tolerance = 0.0
    if leaf_cost.dtype.kind != "i":
        tolerance = RELATIVE_TOLERANCE * max(float(np.abs(leaf_cost).max()), scale)
    return _cheapest(parent, leaf_cost, tolerance, 0.0)


def cheapest_within(parent, leaf_cost, slack):
    """Mark where to cut, bottom-up: wherever the leaf costs at most `slack` more than what is left below.

    A relative 1e-12 counts as equal. With `slack = 0` the summed cost is least and a tie cuts. Costs are 0 or more.
    """
    return _cheapest(parent, leaf_cost, slack, RELATIVE_TOLERANCE)


def _cheapest(parent: Ints, leaf_cost: Numbers, slack: cython.double, relative: cython.double):
    n = parent.shape[0]
    below: Number[::1] = np.zeros(n, leaf_cost.base.dtype)  # cheapest cost of the children, summed
    is_internal: cython.uchar[::1] = np.zeros(n, np.bool_)
    is_cut: cython.uchar[::1] = np.ones(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            cheapest = leaf_cost[v]
            if is_internal[v]:
                # The difference is taken first, so that whole numbers of any size compare exactly.
                if relative == 0:
                    is_cut[v] = leaf_cost[v] - below[v] <= slack
                else:
                    is_cut[v] = leaf_cost[v] <= below[v] + relative * below[v] + slack
                if not is_cut[v]:
                    cheapest = below[v]
            if v > 0:
                below[parent[v]] += cheapest
                is_internal[parent[v]] = True
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


def shared_labels(parent: Ints, labels: Ints, is_leaf: Bools):
    """The label that all leaves under each node have, -1 where they differ or there is none.

    `is_leaf` marks the leaves of some pruning; nodes under them have none.
    """
    n = parent.shape[0]
    shared: cython.int[::1] = np.full(n, -1, np.int32)
    is_reached: cython.uchar[::1] = np.zeros(n, np.bool_)  # has a leaf at or under it
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if is_leaf[v]:
                shared[v] = labels[v]
                is_reached[v] = True
            if v > 0 and is_reached[v]:
                p = parent[v]
                if not is_reached[p]:
                    shared[p] = shared[v]
                    is_reached[p] = True
                elif shared[p] != shared[v]:
                    shared[p] = -1
    return shared.base


def first_cuts(parent: Ints, order: Ints):
    """Cut the nodes of `order` one after the other, except those above an earlier cut.

    Nodes under an earlier cut may be marked as well; there they change nothing.
    """
    is_cut: cython.uchar[::1] = np.zeros(parent.shape[0], np.bool_)
    is_above: cython.uchar[::1] = np.zeros(parent.shape[0], np.bool_)
    with cython.nogil:
        for i in range(order.shape[0]):
            v = order[i]
            if not is_above[v]:
                is_cut[v] = True
                u = parent[v]
                while u >= 0 and not is_above[u]:  # above a marked node all are marked
                    is_above[u] = True
                    u = parent[u]
    return is_cut.base
