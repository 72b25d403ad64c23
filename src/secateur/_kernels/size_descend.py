"""One best pruning of a given size, found again from the tables of all subtrees.

No back-pointers: the splits that attain an entry are found on the way down. Of all best
prunings we want the one that keeps the first node, in pre-order, in which they differ. A
choice for the first child cannot be made by its size alone, so instead of one entry per
node we carry the *set* of entries that can still be part of a best pruning.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._jit import njit
from .size_hulls import lower_hull

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]

# Column of a layout: start and length of a node's table, and of the table of the node and its later siblings.
START, LENGTH, SUFFIX_START, SUFFIX_LENGTH = 0, 1, 2, 3


@njit
def descend(parent: Ints, end: Ints, charge: Longs, layout: Longs, table: Numbers, goal: Any) -> Bools:
    """Nodes kept by the best pruning of one entry of the root's table, first nodes first.

    For the node at hand, `is_open` marks the entries of its table (or of the table of it and
    its later siblings) that a best pruning can still use given all earlier decisions. It keeps
    the node if an entry other than "cut" is open. Entries open for a child are those that some
    open entry of the suffix can be split into. When a child is done, the entry it used is known
    and the open entries of the suffix are narrowed to those that agree.
    """
    place, rule = goal
    n = parent.shape[0]
    kept = np.zeros(n, np.bool_)
    used = np.zeros(n, np.int64)  # budget used in the subtree so far
    start = np.zeros(n, np.int64)  # where the open entries of the node are
    count = np.zeros(n, np.int64)  # how many entries are there
    longest = layout[:, LENGTH].max()
    work = (np.empty((4, longest)), np.empty(longest, table.dtype), np.empty(longest, np.int64))
    is_open = np.zeros(_open_capacity(parent, end, charge, layout), np.uint8)
    count[0] = layout[0, LENGTH]
    is_open[place] = 1
    top = count[0]
    v = 0
    while True:
        # Enter v: its open entries are known (a leaf has none to choose from).
        if charge[v] > 0 and is_open[start[v] + 1 : start[v] + count[v]].any():
            kept[v] = True
            used[v] = charge[v]
            v += 1
        else:
            # v is settled; hand its budget to the parent, and go on to the next sibling or up.
            while v > 0:
                p = parent[v]
                if charge[v] > 0 and end[v] < end[p]:
                    top = start[v]  # its open entries are no longer needed
                if end[v] < end[p]:
                    suffix_open = is_open[start[p] + used[p] : start[p] + count[p]]
                    _narrow(suffix_open, layout, table, (v, end[v], used[v]), rule[3])
                used[p] += used[v]
                if end[v] < end[p]:
                    v = end[v]
                    break
                v = p
            if v == 0:
                return kept
        # Prepare v, a child whose earlier siblings are settled.
        p = parent[v]
        at, left = start[p] + used[p], count[p] - used[p]
        if charge[v] > 0:
            count[v] = min(layout[v, LENGTH], left)
            if end[v] == end[p]:
                start[v] = at
            else:
                start[v] = top
                top += count[v]
                child_open = is_open[start[v] : top]
                _open_for_child(is_open[at : at + left], child_open, layout, table, (v, end[v], rule), work)


@njit
def _open_capacity(parent: Ints, end: Ints, charge: Longs, layout: Longs) -> Any:
    """The most entries on one path whose open marks are held at the same time."""
    held = np.zeros(parent.shape[0], np.int64)
    held[0] = layout[0, LENGTH]
    for v in range(1, parent.shape[0]):
        held[v] = held[parent[v]]
        if charge[v] > 0 and end[v] < end[parent[v]]:
            held[v] += layout[v, LENGTH]
    return held.max()


@njit
def _narrow(is_open: Bytes, layout: Longs, table: Numbers, who: Any, tolerance: Any) -> None:
    """Close the entries of the suffix at v of which no best split gives i to v (w: the next sibling)."""
    v, w, i = who
    own = table[layout[v, START] + i]
    whole = layout[v, SUFFIX_START]
    others, n_others = layout[w, SUFFIX_START], layout[w, SUFFIX_LENGTH]
    for k in range(i, is_open.shape[0]):
        if is_open[k]:
            y = k - i
            if y >= n_others or not own + table[others + y] - table[whole + k] <= tolerance:
                is_open[k] = 0


@njit
def _open_for_child(is_open: Bytes, child_open: Bytes, layout: Longs, table: Numbers, who: Any, work: Any) -> None:
    """Mark the entries of child v that some open entry of its suffix can be split into."""
    v, w, rule = who
    own = table[layout[v, START] : layout[v, START] + layout[v, LENGTH]]
    whole = table[layout[v, SUFFIX_START] : layout[v, SUFFIX_START] + layout[v, SUFFIX_LENGTH]]
    others = table[layout[w, SUFFIX_START] : layout[w, SUFFIX_START] + layout[w, SUFFIX_LENGTH]]
    child_open[:] = 0
    n_open, first, last = 0, 0, 0
    for k in range(is_open.shape[0]):
        if is_open[k]:
            first = k if n_open == 0 else first
            last = k
            n_open += 1
    if n_open <= 4 or others.shape[0] <= rule[2]:
        for k in range(first, last + 1):
            if is_open[k]:
                for i in range(max(0, k - others.shape[0] + 1), min(k, child_open.shape[0] - 1) + 1):
                    if own[i] + others[k - i] - whole[k] <= rule[3]:
                        child_open[i] = 1
    else:
        span = slice(first, last + 1)
        _open_by_hulls(is_open[span], child_open, own, others, whole[span], (first, rule), work)


@njit
def _open_by_hulls(
    is_open: Bytes, child_open: Bytes, own: Numbers, others: Numbers, whole: Numbers, where: Any, work: Any
) -> None:
    """For each i: is there an open k with own[i] + others[k - i] == whole[k]?

    With z = last - k, a[y] = others[y] and b[z] = -whole[last - z] this asks whether own[i] plus
    the (min, +) combination of a and b at last - i is 0; bounds as in `combine_hulls`.
    """
    first, absent, tolerance = where[0], where[1][0], where[1][3]
    hulls, reverse, corners = work
    ha, sa, hb, sb = hulls[0], hulls[1], hulls[2], hulls[3]
    n_a, n_b = others.shape[0], is_open.shape[0]
    while others[n_a - 1] >= absent:
        n_a -= 1
    for z in range(n_b):
        k = n_b - 1 - z
        reverse[z] = -whole[k] if is_open[k] else absent
    b = reverse[:n_b]
    limit = lower_hull(others[:n_a], absent, ha, sa, corners) + lower_hull(b, absent, hb, sb, corners)
    limit += float(tolerance)
    last = first + n_b - 1
    y0 = 0
    for q in range(min(last + 1, n_a + n_b - 1)):
        if q > 0:
            z0 = q - 1 - y0
            if z0 + 1 >= n_b or (y0 + 1 < n_a and sa[y0] < sb[z0]):
                y0 += 1
        z0 = q - y0
        i = last - q
        if i >= child_open.shape[0] or own[i] >= absent:
            continue
        add = float(own[i])
        n_up, n_down = min(n_a - 1 - y0, z0), min(y0, n_b - 1 - z0)
        s = 0
        while s <= n_up or s <= n_down:
            if s <= n_up:
                y, z = y0 + s, z0 - s
                if add + (ha[y] + hb[z]) > limit:
                    n_up = -1
                elif b[z] < absent and own[i] + others[y] + b[z] <= tolerance:
                    child_open[i] = 1
                    break
            if s <= n_down:
                y, z = y0 - s, z0 + s
                if add + (ha[y] + hb[z]) > limit:
                    n_down = -1
                elif b[z] < absent and own[i] + others[y] + b[z] <= tolerance:
                    child_open[i] = 1
                    break
            s += 1
