"""Prunings that one pass from the leaves to the root (or one list of cuts) determines.

A pass visits v = n - 1, ..., 0, so a node comes after its children. `below[v]` collects the best cost of the children
of v; at v it is compared with the cost of v as a leaf, and the cheaper of the two is added to `below[parent[v]]`:

    below[v]    = sum over the children c of best[c]
    best[v]     = leaf_cost[v] if v is cut, else below[v]

Cost: one step per node.
"""

import cython
import numpy as np
from cython.cimports.libc.math import sqrt
from cython.cimports.secateur._kernels.views import Bools, Floats, Ints, Number, Numbers

# Sums of real numbers depend on their order, so costs closer than this count as equal.
RELATIVE_TOLERANCE = 1e-12


def cheapest_subtree(parent, leaf_cost, scale=0.0):
    """Return where to cut (original leaves included) so that the summed cost of the leaves is least; a tie cuts.

    Of all cheapest prunings this is the smallest. Whole-number costs are compared exactly. Real costs tie if they
    differ by at most 1e-12 of the largest cost, or of `scale` if that is larger: the weight of the sample, where the
    costs are differences of its counts.
    """
    tolerance = 0.0
    if leaf_cost.dtype.kind != "i":
        tolerance = RELATIVE_TOLERANCE * max(float(np.abs(leaf_cost).max()), scale)
    return _cheapest(parent, leaf_cost, tolerance, 0.0)


def cheapest_within(parent, leaf_cost, slack):
    """Return where to cut: wherever a leaf costs at most `slack` more than the pruned subtree below it.

    Costs are 0 or more, and tie within a relative 1e-12. With `slack = 0` the summed cost is least, and a tie cuts.
    """
    return _cheapest(parent, leaf_cost, slack, RELATIVE_TOLERANCE)


def _cheapest(parent: Ints, leaf_cost: Numbers, slack: cython.double, relative: cython.double):
    """Return where a leaf costs at most `below[v] * (1 + relative) + slack`, deciding from the leaves to the root."""
    n = parent.shape[0]
    below: Number[::1] = np.zeros(n, leaf_cost.base.dtype)
    is_internal: cython.uchar[::1] = np.zeros(n, np.bool_)
    is_cut: cython.uchar[::1] = np.ones(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            cheapest = leaf_cost[v]
            if is_internal[v]:
                # Taking the difference first compares whole numbers of any size exactly.
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
    """Return where to cut: wherever the pruned subtree below saves no more errors than its penalty; a tie cuts.

    The penalty, in errors, of a subtree at v with i tests and s leaves is
    `fixed[v] + factor[v] * sqrt(base[v] + inner_nats[i] + s * leaf_nats)`.
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
    """Return the largest of `values` in each subtree."""
    largest: cython.double[::1] = np.array(values)
    with cython.nogil:
        for v in range(parent.shape[0] - 1, 0, -1):
            p = parent[v]
            largest[p] = max(largest[p], largest[v])
    return largest.base


def sum_of_ancestors(parent: Ints, values: Floats):
    """Return the sum of `values` over the ancestors of each node."""
    above: cython.double[::1] = np.zeros(parent.shape[0])
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            above[v] = above[parent[v]] + values[parent[v]]
    return above.base


def shared_labels(parent: Ints, labels: Ints, is_leaf: Bools):
    """Return the label that all leaves below each node have; -1 where they differ or there are none.

    `is_leaf` marks the leaves of a pruning. A leaf counts as below itself; below it there are no leaves.
    """
    n = parent.shape[0]
    shared: cython.int[::1] = np.full(n, -1, np.int32)
    has_leaf: cython.uchar[::1] = np.zeros(n, np.bool_)  # at or below the node
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if is_leaf[v]:
                shared[v] = labels[v]
                has_leaf[v] = True
            if v > 0 and has_leaf[v]:
                p = parent[v]
                if not has_leaf[p]:
                    shared[p] = shared[v]
                    has_leaf[p] = True
                elif shared[p] != shared[v]:
                    shared[p] = -1
    return shared.base


def first_cuts(parent: Ints, order: Ints):
    """Return which nodes of `order` are cut if they are cut one after the other, except those above an earlier cut.

    Nodes below an earlier cut may be marked as well; such a mark changes nothing.
    """
    is_cut: cython.uchar[::1] = np.zeros(parent.shape[0], np.bool_)
    is_above: cython.uchar[::1] = np.zeros(parent.shape[0], np.bool_)
    with cython.nogil:
        for i in range(order.shape[0]):
            v = order[i]
            if not is_above[v]:
                is_cut[v] = True
                u = parent[v]
                while u >= 0 and not is_above[u]:  # all nodes above a marked one are marked
                    is_above[u] = True
                    u = parent[u]
    return is_cut.base
