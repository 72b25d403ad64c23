"""The least cost of every subtree for every size: fill the tables, then read one pruning back from them.

The size of a pruning is measured in *charge*: each internal node that is kept adds `charge[v]`. Two kinds of tables
hold the least cost for every charge k, or `absent` where no pruning has that charge:

    T(v)[k]     of the subtree of node v
    S(v)[k]     of node v and its later siblings together, "the suffix table of v"

For a node p of charge c with the children x, y and z the tables lie in one array like this:

    table:    ... | T(p)[0] | absent ... absent | S(x) ........ | ... | S(y) ... | T(y) ... | ... | T(z) = S(z) ... |
                  cost[p]     c - 1 entries       c + k is here        only middle children       the last child
                                                  T(p)[c + k]          store a suffix table       shares its table

Entry 0 of T(p) is the cost of p as a leaf. A kept p pays c and gives the rest to its children, so T(p)[c + k] is
S(x)[k]: both share their memory. S(x) combines T(x) with S(y), the suffix table of the next sibling:

    S(x)[k] = min over i of T(x)[i] + S(y)[k - i]

Cost: the memory is the sum of the subtree sizes (an entry of 8 bytes for every test below every node). Combining two
tables of lengths m and n by the plain loop takes m n steps. By convex hulls it is nearly linear for tables that are
nearly convex, and exact: the lower convex hulls of both tables, added, bound every candidate from below. That bound
is convex along the candidates of one entry, and its minimum moves by at most one from entry to entry. The search starts
there, walks outwards on both sides, and stops where the bound rules out any improvement. Hulls are floats;
`_fill_lower_hull` bounds their rounding errors.

The argument `constants` holds four numbers of the type of the costs:

    absent          the value of an entry that no pruning has
    min gain        a candidate less than this below the best one so far need not be found
    plain length    the longest shorter table for which the plain loop is used
    tolerance       two costs that differ by at most this tie
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.secateur._kernels.columns import (
    ABSENT,
    HEIGHT_A,
    HEIGHT_B,
    LENGTH,
    MIN_GAIN,
    PLAIN_LENGTH,
    SLOPE_A,
    SLOPE_B,
    START,
    SUFFIX_LENGTH,
    SUFFIX_START,
    TOLERANCE,
)
from cython.cimports.secateur._kernels.views import Ints, LongRows, Longs, Number, Numbers

EPSILON = cython.declare(cython.double, 2.0**-52)
MAX_PAIRWISE_OPEN = cython.declare(cython.int, 4)  # with at most this many open entries, all pairs are compared


def table_layout(parent: Ints, end: Ints, charge: Longs, limit: cython.longlong):
    """Return start and length of T(v) and of S(v) for every node v, tables ending at the charge `limit`."""
    n = parent.shape[0]
    layout: cython.longlong[:, ::1] = np.zeros((n, 4), np.int64)
    max_charge: cython.longlong[::1] = np.array(charge)  # of the subtree of v
    max_suffix_charge: cython.longlong[::1] = np.zeros(n, np.int64)  # of v and its later siblings
    next_free: cython.longlong = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            layout[v, LENGTH] = min(max_charge[v], limit) + 1
            max_suffix_charge[v] = max_charge[v]
            if v > 0:
                p = parent[v]
                max_charge[p] += max_charge[v]
                if end[v] < end[p]:
                    max_suffix_charge[v] += max_suffix_charge[end[v]]
        for v in range(n):
            layout[v, START] = next_free
            next_free += layout[v, LENGTH]
            p = parent[v]
            if v == 0 or end[v] == end[p]:  # a last child: S(v) is T(v)
                layout[v, SUFFIX_START], layout[v, SUFFIX_LENGTH] = layout[v, START], layout[v, LENGTH]
            elif v == p + 1:  # a first child: S(v) is the tail of T(p)
                layout[v, SUFFIX_START] = layout[p, START] + charge[p]
                layout[v, SUFFIX_LENGTH] = max(layout[p, LENGTH] - charge[p], 0)
            else:
                # S(v) lies before T(v), so that the start plus the length of T(v) stays the end of v's memory.
                layout[v, SUFFIX_START] = layout[v, START]
                layout[v, SUFFIX_LENGTH] = min(max_suffix_charge[v], limit) + 1
                layout[v, START] += layout[v, SUFFIX_LENGTH]
                next_free += layout[v, SUFFIX_LENGTH]
    return layout.base


def fill_tables(
    parent: Ints,
    end: Ints,
    charge: Longs,
    cost: Numbers,
    layout: cython.const[cython.longlong][:, ::1],
    constants: Numbers,
):
    """Return the array with the tables of all nodes, filled from the last node to the first."""
    n = parent.shape[0]
    absent = constants[ABSENT]
    rows = layout.base
    longest = rows[:, LENGTH].max()
    table: Number[::1] = np.full((rows[:, START] + rows[:, LENGTH]).max(), absent, cost.base.dtype)
    hulls: cython.double[:, ::1] = np.empty((4, longest))
    corners: cython.longlong[::1] = np.empty(longest, np.int64)
    shorter: Number[::1]
    longer: Number[::1]
    combined: Number[::1]
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            start, length = layout[v, START], layout[v, LENGTH]
            table[start] = cost[v]
            p = parent[v]
            if v > 0 and end[v] < end[p] and layout[v, SUFFIX_LENGTH] > 0:
                sibling = end[v]
                shorter = table[start : start + length]
                longer = table[
                    layout[sibling, SUFFIX_START] : layout[sibling, SUFFIX_START] + layout[sibling, SUFFIX_LENGTH]
                ]
                combined = table[layout[v, SUFFIX_START] : layout[v, SUFFIX_START] + layout[v, SUFFIX_LENGTH]]
                if shorter.shape[0] > longer.shape[0]:
                    shorter, longer = longer, shorter
                if shorter.shape[0] <= constants[PLAIN_LENGTH]:
                    _combine_plain(shorter, longer, combined, absent)
                else:
                    min_gain = cython.cast(cython.double, constants[MIN_GAIN])
                    _combine_by_hulls(shorter, longer, combined, absent, min_gain, hulls, corners)
    return table.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _combine_plain(a: Number[::1], b: Number[::1], combined: Number[::1], absent: Number) -> cython.void:
    """Lower `combined[k]` to the minimum over i of a[i] + b[k - i]; a is the shorter table."""
    n = combined.shape[0]
    if a.shape[0] == 1:
        only = a[0]
        for j in range(min(n, b.shape[0])):
            combined[j] = min(absent, only + b[j])
        return
    for i in range(min(a.shape[0], n)):
        value = a[i]
        if value < absent:
            for j in range(min(b.shape[0], n - i)):
                combined[i + j] = min(combined[i + j], value + b[j])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_lower_hull(
    a: cython.const[Number][::1], n: cython.Py_ssize_t, absent: Number, hulls: cython.double[:, ::1], line: cython.int,
    corners: cython.longlong[::1]
) -> cython.double:  # fmt: skip
    """Fill heights (`hulls[line]`) and slopes (`hulls[line + 1]`) of the lower convex hull; return its rounding error.

    The first and the last of the n entries are present. Corners of whole numbers are exact. Each of n corners of real
    numbers may be a few units in the last place of the largest entry off. The same holds for a height, and for the
    entry at which the slopes start the search (slopes are rounded, but equal slopes are rounded alike).
    """
    n_corners: cython.Py_ssize_t = 0
    largest: cython.double = 0.0
    value: cython.double
    base: cython.double
    for i in range(n):
        if a[i] >= absent:
            continue
        value = a[i]
        largest = max(largest, abs(value))
        while n_corners >= 2:
            last, before_last = corners[n_corners - 1], corners[n_corners - 2]
            if (a[last] - a[before_last]) * (i - before_last) >= (a[i] - a[before_last]) * (last - before_last):
                n_corners -= 1
            else:
                break
        corners[n_corners] = i
        n_corners += 1
    for s in range(n_corners - 1):
        left, right = corners[s], corners[s + 1]
        base = a[left]
        slope = cython.cast(cython.double, a[right] - a[left]) / (right - left)
        for i in range(left, right):
            hulls[line, i] = base + slope * (i - left)
            hulls[line + 1, i] = slope
    hulls[line, n - 1] = a[n - 1]
    hulls[line + 1, n - 1] = INFINITY
    return 32 * EPSILON * largest * n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _combine_by_hulls(
    a: cython.const[Number][::1], b: cython.const[Number][::1], combined: Number[::1], absent: Number,
    min_gain: cython.double, hulls: cython.double[:, ::1], corners: cython.longlong[::1]
) -> cython.void:  # fmt: skip
    """Do the same as `_combine_plain`, by hull bounds.

    Once `combined[k]` has been lowered, further improvements of less than `min_gain` may be missed.
    """
    n_a, n_b = a.shape[0], b.shape[0]
    # A table cut short by the limit may end in absent entries; a hull needs a last entry that exists.
    while a[n_a - 1] >= absent:
        n_a -= 1
    while b[n_b - 1] >= absent:
        n_b -= 1
    rounding = _fill_lower_hull(a, n_a, absent, hulls, HEIGHT_A, corners)
    rounding = rounding + _fill_lower_hull(b, n_b, absent, hulls, HEIGHT_B, corners)
    margin = rounding - min_gain
    best: Number
    max_bound: cython.double
    i0: cython.Py_ssize_t = 0  # the candidate a[i0] + b[j0] has the least bound
    for k in range(min(combined.shape[0], n_a + n_b - 1)):
        if k > 0:
            j0 = k - 1 - i0
            if j0 + 1 >= n_b or (i0 + 1 < n_a and hulls[SLOPE_A, i0] < hulls[SLOPE_B, j0]):
                i0 += 1
        j0 = k - i0
        best = min(combined[k], a[i0] + b[j0])
        max_bound = best + (margin if best < combined[k] else rounding)  # above it no candidate improves on `best`
        if hulls[HEIGHT_A, i0] + hulls[HEIGHT_B, j0] <= max_bound:
            best = _search_outwards(a, b, n_a, n_b, i0, j0, best, max_bound, margin, hulls)
        combined[k] = best


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _search_outwards(
    a: cython.const[Number][::1], b: cython.const[Number][::1], n_a: cython.Py_ssize_t, n_b: cython.Py_ssize_t,
    i0: cython.Py_ssize_t, j0: cython.Py_ssize_t, best: Number, max_bound: cython.double, margin: cython.double,
    hulls: cython.double[:, ::1]
) -> Number:  # fmt: skip
    """Return the least candidate a[i] + b[i0 + j0 - i], or `best` if none is less.

    The bounds of the candidates rise on both sides of i0. So each side ends where a bound exceeds `max_bound`.
    """
    n_up, n_down = min(n_a - 1 - i0, j0), min(i0, n_b - 1 - j0)
    step: cython.Py_ssize_t = 1
    while step <= n_up or step <= n_down:
        if step <= n_up:
            if hulls[HEIGHT_A, i0 + step] + hulls[HEIGHT_B, j0 - step] > max_bound:
                n_up = 0
            else:
                candidate = a[i0 + step] + b[j0 - step]
                if candidate < best:
                    best = candidate
                    max_bound = best + margin
        if step <= n_down:
            if hulls[HEIGHT_A, i0 - step] + hulls[HEIGHT_B, j0 + step] > max_bound:
                n_down = 0
            else:
                candidate = a[i0 - step] + b[j0 + step]
                if candidate < best:
                    best = candidate
                    max_bound = best + margin
        step += 1
    return best


# Reading one best pruning back
#
# The tables hold no back-pointers: the splits that attain an entry are found again on the way down. Of all best
# prunings the one that keeps the first node, in pre-order, in which they differ is wanted. The entry of the first child
# alone does not decide which pruning that is, so instead of one entry per node the walk carries the *set* of entries
# that can still be part of a best pruning. These entries are called open.


def kept_nodes_of(
    parent: Ints,
    end: Ints,
    charge: Longs,
    layout: LongRows,
    table: cython.const[Number][::1],
    root_entry: cython.Py_ssize_t,
    constants: Numbers,
):
    """Return which nodes the best pruning of one entry of the root's table keeps; ties keep the first node.

    The walk visits the nodes in pre-order. For node v, `is_open[first[v] : first[v] + n_entries[v]]` marks the entries
    of T(v) that a best pruning can still use after all earlier decisions. A node is kept if an entry other than 0
    (cut) is open. The open entries of a child are those into which some open entry of its suffix can be split. After a
    child the charge that it used is known, and the open entries of the suffix are narrowed to those that agree.
    """
    n = parent.shape[0]
    is_kept: cython.uchar[::1] = np.zeros(n, np.bool_)
    used: cython.longlong[::1] = np.zeros(n, np.int64)  # charge used in the subtree so far
    first: cython.longlong[::1] = np.zeros(n, np.int64)
    n_entries: cython.longlong[::1] = np.zeros(n, np.int64)
    longest = layout.base[:, LENGTH].max()
    hulls: cython.double[:, ::1] = np.empty((4, longest))
    negated: Number[::1] = np.empty(longest, table.base.dtype)
    remainder: Number[::1] = np.empty(longest, table.base.dtype)
    corners: cython.longlong[::1] = np.empty(longest, np.int64)
    is_open: cython.uchar[::1] = np.zeros(_max_open_entries(parent, end, charge, layout), np.uint8)
    suffix_open: cython.uchar[::1]
    child_open: cython.uchar[::1]
    next_free: cython.Py_ssize_t
    v: cython.Py_ssize_t = 0
    with cython.nogil:
        n_entries[0] = layout[0, LENGTH]
        is_open[root_entry] = 1
        next_free = n_entries[0]
        while True:
            if charge[v] > 0 and _has_open(is_open, first[v] + 1, first[v] + n_entries[v]):
                is_kept[v] = True
                used[v] = charge[v]
                v += 1
            else:
                # v is finished: report its charge to the parent, and climb to the next node that has a later sibling.
                while v > 0:
                    p = parent[v]
                    if end[v] == end[p]:
                        used[p] += used[v]
                        v = p
                        continue
                    if charge[v] > 0:
                        next_free = first[v]  # its open entries are no longer needed
                    suffix_open = is_open[first[p] + used[p] : first[p] + n_entries[p]]
                    _narrow(suffix_open, layout, table, v, end[v], used[v], constants[TOLERANCE])
                    used[p] += used[v]
                    v = end[v]
                    break
                if v == 0:
                    break
            # Find the open entries of v, a child whose earlier siblings are finished; a leaf needs none.
            if charge[v] > 0:
                p = parent[v]
                suffix_first, n_suffix = first[p] + used[p], n_entries[p] - used[p]
                n_entries[v] = min(layout[v, LENGTH], n_suffix)
                if end[v] == end[p]:
                    first[v] = suffix_first
                else:
                    first[v] = next_free
                    next_free += n_entries[v]
                    suffix_open = is_open[suffix_first : suffix_first + n_suffix]
                    child_open = is_open[first[v] : next_free]
                    _open_for_child(
                        suffix_open, child_open, layout, table, v, end[v], constants, hulls, negated, remainder, corners
                    )
    return is_kept.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _has_open(is_open: cython.uchar[::1], first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.bint:
    """Return whether one of the entries first, ..., last - 1 is open."""
    for k in range(first, last):
        if is_open[k]:
            return True
    return False


def _max_open_entries(parent: Ints, end: Ints, charge: Longs, layout: LongRows):
    """Return how many open marks are held at the same time, at most: the entries of the nodes of one path."""
    n = parent.shape[0]
    n_held: cython.longlong[::1] = np.zeros(n, np.int64)
    max_held = layout[0, LENGTH]
    with cython.nogil:
        n_held[0] = max_held
        for v in range(1, n):
            n_held[v] = n_held[parent[v]]
            if charge[v] > 0 and end[v] < end[parent[v]]:
                n_held[v] += layout[v, LENGTH]
                max_held = max(max_held, n_held[v])
    return max_held


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _narrow(
    suffix_open: cython.uchar[::1], layout: LongRows, table: cython.const[Number][::1],
    v: cython.Py_ssize_t, sibling: cython.Py_ssize_t, used: cython.Py_ssize_t, tolerance: Number
) -> cython.void:  # fmt: skip
    """Close the open entries of S(v) that no best split divides into the charge `used` for v and the rest."""
    child_cost = table[layout[v, START] + used]
    suffix_start = layout[v, SUFFIX_START]
    rest_start, n_rest = layout[sibling, SUFFIX_START], layout[sibling, SUFFIX_LENGTH]
    for k in range(used, suffix_open.shape[0]):
        if suffix_open[k]:
            rest = k - used
            if rest >= n_rest or not child_cost + table[rest_start + rest] - table[suffix_start + k] <= tolerance:
                suffix_open[k] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _open_for_child(
    suffix_open: cython.uchar[::1], child_open: cython.uchar[::1], layout: LongRows,
    table: cython.const[Number][::1], v: cython.Py_ssize_t, sibling: cython.Py_ssize_t, constants: Numbers,
    hulls: cython.double[:, ::1], negated: Number[::1], remainder: Number[::1], corners: cython.longlong[::1]
) -> cython.void:  # fmt: skip
    """Mark the entries of T(v) into which some open entry of S(v) can be split."""
    child_start, suffix_start = layout[v, START], layout[v, SUFFIX_START]
    rest_start, n_rest = layout[sibling, SUFFIX_START], layout[sibling, SUFFIX_LENGTH]
    tolerance = constants[TOLERANCE]
    for i in range(child_open.shape[0]):
        child_open[i] = 0
    n_open: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = 0
    for k in range(suffix_open.shape[0]):
        if suffix_open[k]:
            first = k if n_open == 0 else first
            last = k
            n_open += 1
    rest_table: cython.const[Number][::1] = table[rest_start : rest_start + n_rest]
    if n_open <= MAX_PAIRWISE_OPEN or n_rest <= constants[PLAIN_LENGTH]:
        _open_by_pairs(
            suffix_open, child_open, table[child_start:], rest_table, table[suffix_start:], first, last, tolerance
        )
        return
    # Entry i is open if there is an open k with T(v)[i] + S(sibling)[k - i] = S(v)[k]. With negated[z] =
    # -S(v)[last - z] this asks whether T(v)[i], plus the combination of S(sibling) and `negated` at last - i, is 0.
    # 0 is the minimum, so each entry of `remainder` starts just above and needs one improvement only.
    absent, just_above = constants[ABSENT], tolerance + constants[MIN_GAIN]
    n_negated = last - first + 1
    for z in range(n_negated):
        negated[z] = -table[suffix_start + last - z] if suffix_open[last - z] else absent
    n_child = min(last + 1, child_open.shape[0])
    for z in range(last + 1 - n_child):
        remainder[z] = -absent
    for i in range(n_child):
        remainder[last - i] = just_above - table[child_start + i]
    _combine_by_hulls(rest_table, negated[:n_negated], remainder[: last + 1], absent, INFINITY, hulls, corners)
    for i in range(n_child):
        child_open[i] = remainder[last - i] < just_above - table[child_start + i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _open_by_pairs(
    suffix_open: cython.uchar[::1], child_open: cython.uchar[::1], child: cython.const[Number][::1],
    rest: cython.const[Number][::1], suffix: cython.const[Number][::1], first: cython.Py_ssize_t,
    last: cython.Py_ssize_t, tolerance: Number
) -> cython.void:  # fmt: skip
    """Do the work of `_open_for_child` by trying every entry of the child with every open entry of the suffix.

    `child`, `rest` and `suffix` begin with T(v), S(sibling) and S(v); open entries lie between `first` and `last`.
    """
    for k in range(first, last + 1):
        if suffix_open[k]:
            for i in range(max(0, k - rest.shape[0] + 1), min(k, child_open.shape[0] - 1) + 1):
                if child[i] + rest[k - i] - suffix[k] <= tolerance:
                    child_open[i] = 1
