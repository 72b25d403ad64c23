"""Cut the cheapest node again and again, in O(log^2 n) a cut whatever the depth.

A cut changes what a cut at each *ancestor* would add, by the same amount for all of them.
Internal nodes are numbered so that heavy paths and subtrees are ranges; a path to the root is
then O(log n) ranges, and a segment tree adds to a range and knows the least entry of all.
Line `at` of the segment tree is a range of places: 2 at and 2 at + 1 are its halves.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Ints, Longs, Number, Numbers


def greedy_cuts(parent: Ints, increase: Numbers, n_leaves: Longs, slack: Number):
    """The nodes in the order in which they are cut.

    `increase` is what a cut adds to the uncut tree, `n_leaves` the leaves below (1 at leaves).
    Next is the least increase (within `slack`); ties: most leaves now, then first in pre-order.
    """
    place: cython.longlong[::1]
    head: cython.longlong[::1]
    n_below: cython.longlong[::1]
    place, head, n_below = _heavy_paths(parent, n_leaves)
    n = n_below[0]
    width: cython.Py_ssize_t = 1
    while width < n:
        width *= 2
    # By range: (increase of the best node, what is still to be added to the nodes in it).
    best: Number[:, ::1] = np.zeros((2 * width, 2), increase.base.dtype)
    # By range: (the best node's leaves, what is to be added, the best node or -1 if none is left).
    node: cython.longlong[:, ::1] = np.zeros((2 * width, 3), np.int64)
    order = np.empty(n, np.int64)
    cuts: cython.longlong[::1] = order
    n_cuts: cython.Py_ssize_t = 0
    with cython.nogil:
        for at in range(2 * width):
            node[at, 2] = -1
        for v in range(parent.shape[0]):
            if n_leaves[v] > 1:
                at = width + place[v]
                best[at, 0], node[at, 0], node[at, 2] = increase[v], n_leaves[v], v
        for at in range(width - 1, 0, -1):
            _refresh(at, best, node, slack)
        while node[1, 2] >= 0:
            v = node[1, 2]
            cuts[n_cuts] = v
            n_cuts += 1
            added, fewer = best[1, 0], node[1, 0] - 1
            _change(width + place[v], width + place[v] + n_below[v], best, node, slack, 0, 0)
            u = parent[v]
            while u >= 0:
                h = head[u]
                _change(width + place[h], width + place[u] + 1, best, node, slack, -added, -fewer)
                u = parent[h]
    return order[:n_cuts]


def _heavy_paths(parent: Ints, n_leaves: Longs):
    """Place of each internal node, first node of its heavy path, internal nodes at and below it."""
    n = parent.shape[0]
    n_below: cython.longlong[::1] = np.zeros(n, np.int64)
    heavy: cython.longlong[::1] = np.full(n, -1, np.int64)
    place: cython.longlong[::1] = np.zeros(n, np.int64)
    head: cython.longlong[::1] = np.zeros(n, np.int64)
    following: cython.longlong[::1] = np.zeros(n, np.int64)
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
                    place[v], head[v] = place[p] + 1, head[p]
                else:
                    place[v], head[v] = following[p], v
                    following[p] += n_below[v]
            following[v] = place[v] + 1 + (n_below[heavy[v]] if heavy[v] >= 0 else 0)
    return place.base, head.base, n_below.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _refresh(at: cython.Py_ssize_t, best: Number[:, ::1], node: cython.longlong[:, ::1], slack: Number) -> cython.void:
    """Recompute a range from its halves."""
    left, right = 2 * at, 2 * at + 1
    if node[left, 2] < 0 and node[right, 2] < 0:
        node[at, 2] = -1
        return
    if node[left, 2] < 0:
        chosen = right
    elif node[right, 2] < 0 or best[left, 0] < best[right, 0] - slack:
        chosen = left
    elif best[right, 0] < best[left, 0] - slack:
        chosen = right
    elif node[left, 0] != node[right, 0]:
        chosen = left if node[left, 0] > node[right, 0] else right
    else:
        chosen = left if node[left, 2] < node[right, 2] else right
    best[at, 0] = best[chosen, 0] + best[at, 1]
    node[at, 0] = node[chosen, 0] + node[at, 1]
    node[at, 2] = node[chosen, 2]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _move(
    at: cython.Py_ssize_t, best: Number[:, ::1], node: cython.longlong[:, ::1], added: Number, fewer: cython.longlong
) -> cython.void:
    """Add to the nodes of a range, or take them out."""
    if fewer == 0:
        node[at, 2] = -1
        return
    best[at, 0] += added
    best[at, 1] += added
    node[at, 0] += fewer
    node[at, 1] += fewer


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _change(
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    best: Number[:, ::1],
    node: cython.longlong[:, ::1],
    slack: Number,
    added: Number,
    fewer: cython.longlong,
) -> cython.void:
    """Add to the nodes at places low..high-1, all of which are still there; if they lose no leaf, take them out."""
    first, last = low >> 1, (high - 1) >> 1
    while low < high:
        if low & 1:
            _move(low, best, node, added, fewer)
            low += 1
        if high & 1:
            high -= 1
            _move(high, best, node, added, fewer)
        low >>= 1
        high >>= 1
    while first > 0:
        # A range taken out as a whole stays empty, whatever its halves still say.
        if node[first, 2] >= 0:
            _refresh(first, best, node, slack)
        if last != first and node[last, 2] >= 0:
            _refresh(last, best, node, slack)
        first >>= 1
        last >>= 1


def removal_steps(parent: Ints, n_leaves: Longs, cuts: Longs):
    """The number of the cut after which each node tests nothing; 0 at leaves."""
    n = parent.shape[0]
    step: cython.int[::1] = np.full(n, cuts.shape[0], np.int32)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            step[cuts[i]] = i
        for v in range(1, n):  # gone at the latest with its parent
            step[v] = min(step[v], step[parent[v]])
        for v in range(n):
            if n_leaves[v] == 1:
                step[v] = 0
    return step.base
