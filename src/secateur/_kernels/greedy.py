"""Cut the node that adds the least cost, again and again.

A cut changes the cost that a cut at each *ancestor* would add, by the same amount for all ancestors. So the internal
nodes are numbered such that heavy paths and subtrees are ranges of consecutive positions. A path to the root then
consists of O(log n) ranges, and a segment tree adds a number to a range and knows the best node of all:

    segment:                 1                    segment s covers the positions of its
                     2               3            halves 2 s and 2 s + 1; the segments
                 4       5       6       7        width, ..., 2 width - 1 are the leaves
    position:    0       1       2       3        (width = 4), one for each position

For each segment s:

    increase[s, BEST]      the cost that cutting the best node of the segment adds
    increase[s, PENDING]   a cost that still has to be added to every node of the segment
    node[s, BEST]          the number of leaves below the best node
    node[s, PENDING]       a number of leaves that still has to be added to every node
    node[s, NODE]          the best node; -1 if no node is left

Cost: O(log^2 n) steps per cut, whatever the depth.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.columns import BEST, NODE, PENDING, ROOT
from cython.cimports.secateur._kernels.views import Ints, Longs, Number, Numbers


def greedy_cuts(parent: Ints, added_cost: Numbers, n_leaves: Longs, slack: Number):
    """Return the nodes in the order in which they are cut.

    `added_cost` is what a cut adds to the cost of the uncut tree, `n_leaves` the number of leaves below a node (1 at
    leaves). The node that adds least is cut next; within `slack`, the one with most leaves now, then the first in
    pre-order.
    """
    position: cython.longlong[::1]
    head: cython.longlong[::1]
    n_below: cython.longlong[::1]
    position, head, n_below = _heavy_paths(parent, n_leaves)
    n = n_below[0]
    width: cython.Py_ssize_t = 1
    while width < n:
        width *= 2
    increase: Number[:, ::1] = np.zeros((2 * width, 2), added_cost.base.dtype)
    node: cython.longlong[:, ::1] = np.zeros((2 * width, 3), np.int64)
    order = np.empty(n, np.int64)
    cuts: cython.longlong[::1] = order
    n_cuts: cython.Py_ssize_t = 0
    with cython.nogil:
        for segment in range(2 * width):
            node[segment, NODE] = -1
        for v in range(parent.shape[0]):
            if n_leaves[v] > 1:
                segment = width + position[v]
                increase[segment, BEST] = added_cost[v]
                node[segment, BEST] = n_leaves[v]
                node[segment, NODE] = v
        for segment in range(width - 1, 0, -1):
            _refresh(segment, increase, node, slack)
        while node[ROOT, NODE] >= 0:
            v = node[ROOT, NODE]
            cuts[n_cuts] = v
            n_cuts += 1
            increase_of_cut, n_removed = increase[ROOT, BEST], node[ROOT, BEST] - 1
            first = width + position[v]
            _change(first, first + n_below[v], increase, node, slack, 0, 0)  # remove the subtree
            u = parent[v]
            while u >= 0:
                h = head[u]
                first, last = width + position[h], width + position[u]
                _change(first, last + 1, increase, node, slack, -increase_of_cut, -n_removed)
                u = parent[h]
    return order[:n_cuts]


def _heavy_paths(parent: Ints, n_leaves: Longs):
    """Return the position of each internal node, the first node of its heavy path, and its internal nodes below.

    The last number includes the node itself. A heavy path goes on to the child with most internal nodes, and takes
    consecutive positions; the other children follow after the path of the heavy child.
    """
    n = parent.shape[0]
    n_below: cython.longlong[::1] = np.zeros(n, np.int64)
    heavy: cython.longlong[::1] = np.full(n, -1, np.int64)
    position: cython.longlong[::1] = np.zeros(n, np.int64)
    head: cython.longlong[::1] = np.zeros(n, np.int64)
    next_free: cython.longlong[::1] = np.zeros(n, np.int64)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if n_leaves[v] > 1:
                n_below[v] += 1
                if v > 0:
                    p = parent[v]
                    n_below[p] += n_below[v]
                    if heavy[p] < 0 or n_below[v] >= n_below[heavy[p]]:
                        heavy[p] = v
        for v in range(n):
            if n_leaves[v] == 1:
                continue
            if v > 0:
                p = parent[v]
                if heavy[p] == v:
                    position[v], head[v] = position[p] + 1, head[p]
                else:
                    position[v], head[v] = next_free[p], v
                    next_free[p] += n_below[v]
            next_free[v] = position[v] + 1 + (n_below[heavy[v]] if heavy[v] >= 0 else 0)
    return position.base, head.base, n_below.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _refresh(
    segment: cython.Py_ssize_t, increase: Number[:, ::1], node: cython.longlong[:, ::1], slack: Number
) -> cython.void:
    """Recompute the best node of a segment from its halves."""
    left, right = 2 * segment, 2 * segment + 1
    if node[left, NODE] < 0 and node[right, NODE] < 0:
        node[segment, NODE] = -1
        return
    if node[left, NODE] < 0:
        better = right
    elif node[right, NODE] < 0 or increase[left, BEST] < increase[right, BEST] - slack:
        better = left
    elif increase[right, BEST] < increase[left, BEST] - slack:
        better = right
    elif node[left, BEST] != node[right, BEST]:
        better = left if node[left, BEST] > node[right, BEST] else right
    else:
        better = left if node[left, NODE] < node[right, NODE] else right
    increase[segment, BEST] = increase[better, BEST] + increase[segment, PENDING]
    node[segment, BEST] = node[better, BEST] + node[segment, PENDING]
    node[segment, NODE] = node[better, NODE]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _change_segment(
    segment: cython.Py_ssize_t,
    increase: Number[:, ::1],
    node: cython.longlong[:, ::1],
    added_cost: Number,
    added_leaves: cython.longlong,
) -> cython.void:
    """Add a cost and leaves to all nodes of a segment; if no leaves are added, remove the nodes."""
    if added_leaves == 0:
        node[segment, NODE] = -1
        return
    increase[segment, BEST] += added_cost
    increase[segment, PENDING] += added_cost
    node[segment, BEST] += added_leaves
    node[segment, PENDING] += added_leaves


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _change(
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    increase: Number[:, ::1],
    node: cython.longlong[:, ::1],
    slack: Number,
    added_cost: Number,
    added_leaves: cython.longlong,
) -> cython.void:
    """Add a cost and leaves to the nodes of the segments low, ..., high - 1 at the bottom; if no leaves, remove them.

    All of these nodes are still in the tree. The range is covered by O(log n) segments; then their ancestors are
    recomputed.
    """
    first, last = low >> 1, (high - 1) >> 1
    while low < high:
        if low & 1:
            _change_segment(low, increase, node, added_cost, added_leaves)
            low += 1
        if high & 1:
            high -= 1
            _change_segment(high, increase, node, added_cost, added_leaves)
        low >>= 1
        high >>= 1
    while first > 0:
        # A segment that was removed stays empty, although its halves are not updated.
        if node[first, NODE] >= 0:
            _refresh(first, increase, node, slack)
        if last != first and node[last, NODE] >= 0:
            _refresh(last, increase, node, slack)
        first >>= 1
        last >>= 1


def removal_steps(parent: Ints, n_leaves: Longs, cuts: Longs):
    """Return the number of the cut that turns each internal node into a leaf or removes it; 0 at leaves."""
    n = parent.shape[0]
    step: cython.int[::1] = np.full(n, cuts.shape[0], np.int32)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            step[cuts[i]] = i
        for v in range(1, n):  # removed at the latest with its parent
            step[v] = min(step[v], step[parent[v]])
        for v in range(n):
            if n_leaves[v] == 1:
                step[v] = 0
    return step.base
