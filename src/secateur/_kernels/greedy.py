"""Cut the cheapest node again and again, in O(log^2 n) a cut whatever the depth.

A cut changes what a cut at each *ancestor* would add, by the same amount for all of them.
Internal nodes are numbered so that heavy paths and subtrees are ranges; a path to the root is
then O(log n) ranges, and a segment tree adds to a range and knows the least entry of all.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


@njit
def greedy_cuts(parent: Ints, increase: Numbers, n_leaves: Longs, slack: Any) -> Longs:
    """The nodes in the order in which they are cut.

    `increase` is what a cut adds to the uncut tree, `n_leaves` the leaves below (1 at leaves).
    Next is the least increase (within `slack`); ties: most leaves now, then first in pre-order.
    """
    place, head, n_below = _heavy_paths(parent, n_leaves)
    n = n_below[0]
    width = 1
    while width < n:
        width *= 2
    best = np.zeros(2 * width, increase.dtype)  # increase of the best node in the range
    leaves = np.zeros(2 * width, np.int64)  # its leaves
    node = np.full(2 * width, -1, np.int64)  # itself; -1: no node of the range is left
    pending = (np.zeros(2 * width, increase.dtype), np.zeros(2 * width, np.int64))
    for v in range(parent.shape[0]):
        if n_leaves[v] > 1:
            at = width + place[v]
            best[at], leaves[at], node[at] = increase[v], n_leaves[v], v
    tree = (best, leaves, node)
    for at in range(width - 1, 0, -1):
        _refresh(at, tree, pending, slack)
    cuts = np.empty(n, np.int64)
    n_cuts = 0
    while node[1] >= 0:
        v = node[1]
        cuts[n_cuts] = v
        n_cuts += 1
        added, fewer = best[1], leaves[1] - 1
        _remove(width + place[v], width + place[v] + n_below[v], tree, pending, slack)
        u = np.int64(parent[v])
        while u >= 0:
            h = head[u]
            _add(width + place[h], width + place[u] + 1, tree, pending, (-added, -fewer, slack))
            u = np.int64(parent[h])
    return cuts[:n_cuts]


@njit
def _heavy_paths(parent: Ints, n_leaves: Longs) -> tuple[Longs, Longs, Longs]:
    """Place of each internal node, first node of its heavy path, internal nodes at and below it."""
    n = parent.shape[0]
    n_below = np.zeros(n, np.int64)
    heavy = np.full(n, -1, np.int64)
    for v in range(n - 1, -1, -1):
        if n_leaves[v] > 1:
            n_below[v] += 1
            if v > 0:
                p = parent[v]
                n_below[p] += n_below[v]
                if heavy[p] < 0 or n_below[v] >= n_below[heavy[p]]:
                    heavy[p] = v
    place, head, following = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
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
    return place, head, n_below


@njit
def _refresh(at: int, tree: Any, pending: Any, slack: Any) -> None:
    """Recompute a range from its halves."""
    best, leaves, node = tree
    left, right = 2 * at, 2 * at + 1
    if node[left] < 0 and node[right] < 0:
        node[at] = -1
        return
    if node[left] < 0:
        chosen = right
    elif node[right] < 0 or best[left] < best[right] - slack:
        chosen = left
    elif best[right] < best[left] - slack:
        chosen = right
    elif leaves[left] != leaves[right]:
        chosen = left if leaves[left] > leaves[right] else right
    else:
        chosen = left if node[left] < node[right] else right
    best[at] = best[chosen] + pending[0][at]
    leaves[at] = leaves[chosen] + pending[1][at]
    node[at] = node[chosen]


@njit
def _add(low: int, high: int, tree: Any, pending: Any, change: Any) -> None:
    """Add to the nodes at places low..high-1, all of which are still there."""
    best, leaves, _ = tree
    added, fewer, slack = change
    l, r = low, high
    while l < r:
        if l & 1:
            best[l] += added
            leaves[l] += fewer
            pending[0][l] += added
            pending[1][l] += fewer
            l += 1
        if r & 1:
            r -= 1
            best[r] += added
            leaves[r] += fewer
            pending[0][r] += added
            pending[1][r] += fewer
        l >>= 1
        r >>= 1
    _refresh_above(low, high - 1, tree, pending, slack)


@njit
def _remove(low: int, high: int, tree: Any, pending: Any, slack: Any) -> None:
    """Take the nodes at places low..high-1 out."""
    node = tree[2]
    l, r = low, high
    while l < r:
        if l & 1:
            node[l] = -1
            l += 1
        if r & 1:
            r -= 1
            node[r] = -1
        l >>= 1
        r >>= 1
    _refresh_above(low, high - 1, tree, pending, slack)


@njit
def _refresh_above(first: int, last: int, tree: Any, pending: Any, slack: Any) -> None:
    node = tree[2]
    first >>= 1
    last >>= 1
    while first > 0:
        # A range taken out as a whole stays empty, whatever its halves still say.
        if node[first] >= 0:
            _refresh(first, tree, pending, slack)
        if last != first and node[last] >= 0:
            _refresh(last, tree, pending, slack)
        first >>= 1
        last >>= 1


@njit
def removal_steps(parent: Ints, n_leaves: Longs, cuts: Longs) -> Ints:
    """The number of the cut after which each node tests nothing; 0 at leaves."""
    n = parent.shape[0]
    step = np.full(n, cuts.shape[0], np.int32)
    for i in range(cuts.shape[0]):
        step[cuts[i]] = i
    for v in range(1, n):  # gone at the latest with its parent
        step[v] = min(step[v], step[parent[v]])
    for v in range(n):
        if n_leaves[v] == 1:
            step[v] = 0
    return step
