"""Tables of the least cost by size: laid out, combined from child to parent, and read off again on the way down.

Combining two tables is out[k] = min over i of a[i] + b[k - i]. By hulls it is exact and nearly
linear for tables that are nearly convex. The lower convex hulls of both sequences, added, bound
every candidate from below; the bound is convex along the candidates of one entry, and the place
of its minimum moves by at most one from entry to entry. We start there, walk outwards, and stop
where the bound rules out any improvement. Heights of hulls are floats: `_lower_hull` bounds what
rounding can have done to them.

`rule` is (absent, least improvement, length up to which the plain loop is taken, tie tolerance).
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.secateur._kernels.views import Ints, LongRows, Longs, Number, Numbers

# Column of a layout: start and length of a node's table, and of the table of the node and its later siblings.
START = cython.declare(cython.int, 0)
LENGTH = cython.declare(cython.int, 1)
SUFFIX_START = cython.declare(cython.int, 2)
SUFFIX_LENGTH = cython.declare(cython.int, 3)

EPSILON = cython.declare(cython.double, 2.0**-52)


def table_layout(parent: Ints, end: Ints, charge: Longs, limit: cython.longlong):
    """Where the table of each node, and of each node with its later siblings, starts and how long it is.

    The table of all children of v is the tail of v's own table; the last child's suffix
    table is its own; only middle children need room for theirs.
    """
    n = parent.shape[0]
    layout: cython.longlong[:, ::1] = np.zeros((n, 4), np.int64)
    most: cython.longlong[::1] = np.array(charge)  # the largest index of a full table
    suffix: cython.longlong[::1] = np.zeros(n, np.int64)
    at: cython.longlong = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            layout[v, LENGTH] = min(most[v], limit) + 1
            suffix[v] = most[v]
            if v > 0:
                p = parent[v]
                most[p] += most[v]
                if end[v] < end[p]:
                    suffix[v] += suffix[end[v]]
        for v in range(n):
            layout[v, START] = at
            at += layout[v, LENGTH]
            p = parent[v]
            if v == 0 or end[v] == end[p]:
                layout[v, SUFFIX_START], layout[v, SUFFIX_LENGTH] = layout[v, START], layout[v, LENGTH]
            elif v == p + 1:
                layout[v, SUFFIX_START] = layout[p, START] + charge[p]
                layout[v, SUFFIX_LENGTH] = max(layout[p, LENGTH] - charge[p], 0)
            else:
                # Kept before the own table, so that own start + length stays the end of what v holds.
                layout[v, SUFFIX_START], layout[v, SUFFIX_LENGTH] = layout[v, START], min(suffix[v], limit) + 1
                layout[v, START] += layout[v, SUFFIX_LENGTH]
                at += layout[v, SUFFIX_LENGTH]
    return layout.base


def fill_tables(
    parent: Ints, end: Ints, charge: Longs, cost: Numbers, layout: cython.const[cython.longlong][:, ::1], rule: Numbers
):
    """All tables, from the last node to the first."""
    n = parent.shape[0]
    absent = rule[0]
    rows = layout.base
    longest = rows[:, LENGTH].max()
    table: Number[::1] = np.full((rows[:, START] + rows[:, LENGTH]).max(), absent, cost.base.dtype)
    hulls: cython.double[:, ::1] = np.empty((4, longest))
    corners: cython.longlong[::1] = np.empty(longest, np.int64)
    own: Number[::1]
    others: Number[::1]
    out: Number[::1]
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            start, length = layout[v, START], layout[v, LENGTH]
            table[start] = cost[v]
            p = parent[v]
            if v > 0 and end[v] < end[p] and layout[v, SUFFIX_LENGTH] > 0:
                w = end[v]  # the next sibling
                own = table[start : start + length]
                others = table[layout[w, SUFFIX_START] : layout[w, SUFFIX_START] + layout[w, SUFFIX_LENGTH]]
                out = table[layout[v, SUFFIX_START] : layout[v, SUFFIX_START] + layout[v, SUFFIX_LENGTH]]
                if length > others.shape[0]:
                    own, others = others, own
                if own.shape[0] <= rule[2]:
                    _combine_plain(own, others, out, absent)
                else:
                    _combine_hulls(own, others, out, absent, cython.cast(cython.double, rule[1]), hulls, corners)
    return table.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _combine_plain(a: Number[::1], b: Number[::1], out: Number[::1], absent: Number) -> cython.void:
    """out[k] = min over i of a[i] + b[k - i], where it is less than out[k] was; a is the shorter."""
    n = out.shape[0]
    if a.shape[0] == 1:
        add = a[0]
        for j in range(min(n, b.shape[0])):
            out[j] = min(absent, add + b[j])
        return
    for i in range(min(a.shape[0], n)):
        add = a[i]
        if add < absent:
            for j in range(min(b.shape[0], n - i)):
                out[i + j] = min(out[i + j], add + b[j])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lower_hull(
    a: cython.const[Number][::1], n: cython.Py_ssize_t, absent: Number, hulls: cython.double[:, ::1], which: cython.int,
    corners: cython.longlong[::1]
) -> cython.double:  # fmt: skip
    """Heights (line `which`) and slopes (line `which + 1`) of the lower convex hull; returns what rounding may do.

    The first and the last of the n entries are present. Corners of whole numbers are exact; each of n
    corners of real numbers may be a few ulps of the largest entry off, and so may a height, and
    so may the place where slopes send the search (slopes are rounded, but equal ones alike).
    """
    top: cython.Py_ssize_t = 0
    largest: cython.double = 0.0
    size: cython.double
    base: cython.double
    for i in range(n):
        if a[i] >= absent:
            continue
        size = a[i]
        largest = max(largest, abs(size))
        while top >= 2:
            p, q = corners[top - 1], corners[top - 2]
            if (a[p] - a[q]) * (i - q) >= (a[i] - a[q]) * (p - q):
                top -= 1
            else:
                break
        corners[top] = i
        top += 1
    for s in range(top - 1):
        q, p = corners[s], corners[s + 1]
        base = a[q]
        rise = cython.cast(cython.double, a[p] - a[q]) / (p - q)
        for i in range(q, p):
            hulls[which, i] = base + rise * (i - q)
            hulls[which + 1, i] = rise
    hulls[which, n - 1] = a[n - 1]
    hulls[which + 1, n - 1] = INFINITY
    return 32 * EPSILON * largest * n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _combine_hulls(
    a: cython.const[Number][::1], b: cython.const[Number][::1], out: Number[::1], absent: Number, least: cython.double,
    hulls: cython.double[:, ::1], corners: cython.longlong[::1]
) -> cython.void:  # fmt: skip
    """The same as `_combine_plain`, by hull bounds; improvements of less than `least` after the first do not matter."""
    n_a, n_b = a.shape[0], b.shape[0]
    # A table cut short by the limit may end in a gap; the hull needs an end that exists.
    while a[n_a - 1] >= absent:
        n_a -= 1
    while b[n_b - 1] >= absent:
        n_b -= 1
    noise = _lower_hull(a, n_a, absent, hulls, 0, corners)
    noise = noise + _lower_hull(b, n_b, absent, hulls, 2, corners)
    room = noise - least
    i0: cython.Py_ssize_t = 0
    s: cython.Py_ssize_t
    for k in range(min(out.shape[0], n_a + n_b - 1)):
        if k > 0:
            j0 = k - 1 - i0
            if j0 + 1 >= n_b or (i0 + 1 < n_a and hulls[1, i0] < hulls[3, j0]):
                i0 += 1
        j0 = k - i0
        best = min(out[k], a[i0] + b[j0])
        limit = best + (room if best < out[k] else noise)  # nothing above it can improve
        if hulls[0, i0] + hulls[2, j0] <= limit:
            n_up, n_down = min(n_a - 1 - i0, j0), min(i0, n_b - 1 - j0)
            s = 1
            while s <= n_up or s <= n_down:
                if s <= n_up:
                    if hulls[0, i0 + s] + hulls[2, j0 - s] > limit:
                        n_up = 0
                    else:
                        v = a[i0 + s] + b[j0 - s]
                        if v < best:
                            best = v
                            limit = best + room
                if s <= n_down:
                    if hulls[0, i0 - s] + hulls[2, j0 + s] > limit:
                        n_down = 0
                    else:
                        v = a[i0 - s] + b[j0 + s]
                        if v < best:
                            best = v
                            limit = best + room
                s += 1
        out[k] = best


# One best pruning of a given size
#
# No back-pointers: the splits that attain an entry are found on the way down. Of all best
# prunings we want the one that keeps the first node, in pre-order, in which they differ. A
# choice for the first child cannot be made by its size alone, so instead of one entry per
# node we carry the *set* of entries that can still be part of a best pruning.


def descend(
    parent: Ints,
    end: Ints,
    charge: Longs,
    layout: LongRows,
    table: cython.const[Number][::1],
    place: cython.Py_ssize_t,
    rule: Numbers,
):
    """Nodes kept by the best pruning of one entry of the root's table, first nodes first.

    For the node at hand, `is_open` marks the entries of its table (or of the table of it and
    its later siblings) that a best pruning can still use given all earlier decisions. It keeps
    the node if an entry other than "cut" is open. Entries open for a child are those that some
    open entry of the suffix can be split into. When a child is done, the entry it used is known
    and the open entries of the suffix are narrowed to those that agree.
    """
    n = parent.shape[0]
    kept: cython.uchar[::1] = np.zeros(n, np.bool_)
    used: cython.longlong[::1] = np.zeros(n, np.int64)  # budget used in the subtree so far
    start: cython.longlong[::1] = np.zeros(n, np.int64)  # where the open entries of the node are
    count: cython.longlong[::1] = np.zeros(n, np.int64)  # how many entries are there
    longest = layout.base[:, LENGTH].max()
    hulls: cython.double[:, ::1] = np.empty((4, longest))
    reverse: Number[::1] = np.empty(longest, table.base.dtype)
    needed: Number[::1] = np.empty(longest, table.base.dtype)
    corners: cython.longlong[::1] = np.empty(longest, np.int64)
    is_open: cython.uchar[::1] = np.zeros(_open_capacity(parent, end, charge, layout), np.uint8)
    suffix_open: cython.uchar[::1]
    child_open: cython.uchar[::1]
    top: cython.Py_ssize_t
    v: cython.Py_ssize_t = 0
    is_any: cython.bint
    with cython.nogil:
        count[0] = layout[0, LENGTH]
        is_open[place] = 1
        top = count[0]
        while True:
            # Enter v: its open entries are known (a leaf has none to choose from).
            is_any = False
            if charge[v] > 0:
                for k in range(start[v] + 1, start[v] + count[v]):
                    if is_open[k]:
                        is_any = True
                        break
            if is_any:
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
                        _narrow(suffix_open, layout, table, v, end[v], used[v], rule[3])
                    used[p] += used[v]
                    if end[v] < end[p]:
                        v = end[v]
                        break
                    v = p
                if v == 0:
                    break
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
                    suffix_open = is_open[at : at + left]
                    child_open = is_open[start[v] : top]
                    _open_for_child(
                        suffix_open, child_open, layout, table, v, end[v], rule, hulls, reverse, needed, corners
                    )
    return kept.base


def _open_capacity(parent: Ints, end: Ints, charge: Longs, layout: LongRows):
    """The most entries on one path whose open marks are held at the same time."""
    n = parent.shape[0]
    held: cython.longlong[::1] = np.zeros(n, np.int64)
    most = layout[0, LENGTH]
    with cython.nogil:
        held[0] = most
        for v in range(1, n):
            held[v] = held[parent[v]]
            if charge[v] > 0 and end[v] < end[parent[v]]:
                held[v] += layout[v, LENGTH]
                most = max(most, held[v])
    return most


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _narrow(
    is_open: cython.uchar[::1], layout: LongRows, table: cython.const[Number][::1],
    v: cython.Py_ssize_t, w: cython.Py_ssize_t, i: cython.Py_ssize_t, tolerance: Number
) -> cython.void:  # fmt: skip
    """Close the entries of the suffix at v of which no best split gives i to v (w: the next sibling)."""
    own = table[layout[v, START] + i]
    whole = layout[v, SUFFIX_START]
    others, n_others = layout[w, SUFFIX_START], layout[w, SUFFIX_LENGTH]
    for k in range(i, is_open.shape[0]):
        if is_open[k]:
            y = k - i
            if y >= n_others or not own + table[others + y] - table[whole + k] <= tolerance:
                is_open[k] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _open_for_child(
    is_open: cython.uchar[::1], child_open: cython.uchar[::1], layout: LongRows,
    table: cython.const[Number][::1], v: cython.Py_ssize_t, w: cython.Py_ssize_t, rule: Numbers,
    hulls: cython.double[:, ::1], reverse: Number[::1], needed: Number[::1], corners: cython.longlong[::1]
) -> cython.void:  # fmt: skip
    """Mark the entries of child v that some open entry of its suffix can be split into."""
    own, whole = layout[v, START], layout[v, SUFFIX_START]
    others, n_others = layout[w, SUFFIX_START], layout[w, SUFFIX_LENGTH]
    absent, tolerance = rule[0], rule[3]
    above = tolerance + rule[1]  # more than that is not 0
    for i in range(child_open.shape[0]):
        child_open[i] = 0
    n_open: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = 0
    for k in range(is_open.shape[0]):
        if is_open[k]:
            first = k if n_open == 0 else first
            last = k
            n_open += 1
    if n_open <= 4 or n_others <= rule[2]:
        for k in range(first, last + 1):
            if is_open[k]:
                for i in range(max(0, k - n_others + 1), min(k, child_open.shape[0] - 1) + 1):
                    if table[own + i] + table[others + k - i] - table[whole + k] <= tolerance:
                        child_open[i] = 1
        return
    # Is there an open k with own[i] + others[k - i] == whole[k]? With b[z] = -whole[last - z] it asks whether
    # own[i] plus the combination of others and b at last - i is 0; once it is, no less is sought.
    n_b = last - first + 1
    for z in range(n_b):
        reverse[z] = -table[whole + last - z] if is_open[last - z] else absent
    n_own = min(last + 1, child_open.shape[0])
    for q in range(last + 1 - n_own):
        needed[q] = -absent
    for i in range(n_own):
        needed[last - i] = above - table[own + i]
    rest: cython.const[Number][::1] = table[others : others + n_others]
    _combine_hulls(rest, reverse[:n_b], needed[: last + 1], absent, INFINITY, hulls, corners)
    for i in range(n_own):
        child_open[i] = needed[last - i] < above - table[own + i]
