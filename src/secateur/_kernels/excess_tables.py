"""The number of prunings of every subtree for every excess: fill the tables, then read shares and members from them.

The *excess* of a pruning of a subtree is its cost minus the least cost of any pruning of this subtree. Node v as a leaf
has the excess `leaf_excess[v]`. If v is split, the excesses of the children add up, and `split_excess[v]` is added (the
least costs of the children minus the least cost at v). A second index, the *size*, is the number of leaves less one;
a split adds `charge[v]` to the sizes of its children. Without a limit on the size all charges are 0, so that every
table has one line. Three kinds of tables hold the number of prunings with size s and excess j:

    T(v)[s, j]     of the subtree of node v
    S(v)[s, j]     of node v and its later siblings together, "the suffix table of v"
    P(v)[s, j]     of the children of v together: the suffix table of the first child

T(v) is P(v), shifted by charge and split excess, plus 1 at [0, leaf_excess[v]]. S(v) is the convolution of T(v) and
S(w), w being the next sibling; for a last child S(v) is T(v). Stored are P(v), and S(v) of the children in the middle:

    storage:   ... | P(v)[0, 0] P(v)[0, 1] ... P(v)[1, 0] ... | S(child in the middle) ... | ...
                   | <---- N_EXCESSES ----> |

A table ends at what its subtree can use, and at what the splits above leave of the limits on excess and size. Numbers
exceed the range of floats, also within one table. So each entry is a mantissa in [1/2, 1) and an exponent of 2. A
convolution loads both tables as plain floats, scaled by a power of 2 that is linear in the excess, multiplies
them, and gives the results their exponents back. Where the range of floats is too narrow for that, it adds the products
one by one with their exponents.

Cost: a convolution of tables of lengths m and n takes m n steps. Lengths are limited by the rows of the subtrees, so
all convolutions together take O(min(nodes x limit^2, rows x limit)).
"""

import cython
import numpy as np
from cython.cimports.libc.math import frexp, ldexp
from cython.cimports.secateur._kernels.columns import (
    N_EXCESSES,
    N_SIZES,
    PRODUCT_EXCESSES,
    PRODUCT_SIZES,
    PRODUCT_START,
    SUFFIX_EXCESSES,
    SUFFIX_SIZES,
    TABLE_START,
)
from cython.cimports.secateur._kernels.views import Bools, Ints, LongRows, Longs

MAX_RANGE = cython.declare(cython.longlong, 480)  # the product of two floats within 2^-480 and 1 is exact in scale
NEGLIGIBLE_SHIFT = cython.declare(cython.longlong, 1200)  # a summand that much smaller cannot change a sum


def node_excesses(parent: Ints, cost: Longs):
    """Return the least cost of each subtree, and the columns `leaf_excess` and `split_excess` of each node."""
    n = parent.shape[0]
    least: cython.longlong[::1] = np.empty(n, np.int64)
    excess: cython.longlong[:, ::1] = np.zeros((n, 2), np.int64)
    below: cython.longlong[::1] = np.zeros(n, np.int64)
    has_child: cython.uchar[::1] = np.zeros(n, np.bool_)
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            least[v] = min(cost[v], below[v]) if has_child[v] else cost[v]
            excess[v, 0] = cost[v] - least[v]
            excess[v, 1] = below[v] - least[v] if has_child[v] else 0
            if v > 0:
                below[parent[v]] += least[v]
                has_child[parent[v]] = True
    return least.base, excess.base


def excess_layout(
    parent: Ints, end: Ints, is_splittable: Bools, excess: LongRows, charge: Longs, max_excess: cython.longlong,
    max_size: cython.longlong
):  # fmt: skip
    """Return the place and the lengths of the tables of each node, and the number of entries of all tables.

    The columns are those of `columns.pxd`.

    `excess` has the columns `leaf_excess` and `split_excess`. Tables of a node that no pruning within the limits
    contains have length 0.
    """
    n = parent.shape[0]
    layout: cython.longlong[:, ::1] = np.zeros((n, 8), np.int64)
    highest: cython.longlong[:, ::1] = np.zeros((n, 2), np.int64)  # greatest excess and size of the subtree
    below: cython.longlong[:, ::1] = np.zeros((n, 2), np.int64)  # of the children together
    suffix: cython.longlong[:, ::1] = np.zeros((n, 2), np.int64)  # of the node and its later siblings
    left: cython.longlong[:, ::1] = np.full((n, 2), -1, np.int64)  # what the splits above leave of the limits
    next_free: cython.longlong = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            highest[v, 0] = excess[v, 0]
            if is_splittable[v]:
                highest[v, 0] = max(highest[v, 0], excess[v, 1] + below[v, 0])
                highest[v, 1] = charge[v] + below[v, 1]
            for k in range(2):
                suffix[v, k] = highest[v, k]
                if v > 0:
                    below[parent[v], k] += highest[v, k]
                    if end[v] < end[parent[v]]:
                        suffix[v, k] += suffix[end[v], k]
        left[0, 0] = max_excess
        left[0, 1] = max_size
        for v in range(n):
            p = parent[v]
            if v > 0:
                if layout[p, PRODUCT_EXCESSES] == 0:
                    continue
                left[v, 0] = left[p, 0] - excess[p, 1]
                left[v, 1] = left[p, 1] - charge[p]
            layout[v, N_EXCESSES] = min(highest[v, 0], left[v, 0]) + 1
            layout[v, N_SIZES] = min(highest[v, 1], left[v, 1]) + 1
            if is_splittable[v] and left[v, 0] >= excess[v, 1] and left[v, 1] >= charge[v]:
                layout[v, PRODUCT_START] = next_free
                layout[v, PRODUCT_EXCESSES] = min(below[v, 0], left[v, 0] - excess[v, 1]) + 1
                layout[v, PRODUCT_SIZES] = min(below[v, 1], left[v, 1] - charge[v]) + 1
                next_free += layout[v, PRODUCT_EXCESSES] * layout[v, PRODUCT_SIZES]
            if v == 0 or end[v] == end[p]:  # a last child: S(v) is T(v), which is not stored
                layout[v, TABLE_START] = -1
                layout[v, SUFFIX_EXCESSES] = layout[v, N_EXCESSES]
                layout[v, SUFFIX_SIZES] = layout[v, N_SIZES]
            elif v == p + 1:  # a first child: S(v) is P(p)
                layout[v, TABLE_START] = layout[p, PRODUCT_START]
                layout[v, SUFFIX_EXCESSES] = layout[p, PRODUCT_EXCESSES]
                layout[v, SUFFIX_SIZES] = layout[p, PRODUCT_SIZES]
            else:
                layout[v, TABLE_START] = next_free
                layout[v, SUFFIX_EXCESSES] = min(suffix[v, 0], left[v, 0]) + 1
                layout[v, SUFFIX_SIZES] = min(suffix[v, 1], left[v, 1]) + 1
                next_free += layout[v, SUFFIX_EXCESSES] * layout[v, SUFFIX_SIZES]
    return layout.base, next_free


def fill_numbers(
    parent: Ints, end: Ints, excess: LongRows, charge: Longs, layout: LongRows, is_forced: Bools, is_stale: Bools,
    mantissa: cython.double[::1], exponent: cython.int[::1]
):  # fmt: skip
    """Fill the tables in place, from the last node to the first; return mantissa and exponent of their total.

    Only the tables that depend on a node of `is_stale` are computed again. A node of `is_forced` must be a leaf: its
    P(v) is 0. Every node above a forced node must be stale.
    """
    n = parent.shape[0]
    longest = _longest(layout)
    a_mantissa: cython.double[::1] = np.empty(longest)
    a_exponent: cython.int[::1] = np.empty(longest, np.int32)
    b_mantissa: cython.double[::1] = np.empty(longest)
    b_exponent: cython.int[::1] = np.empty(longest, np.int32)
    a_linear: cython.double[::1] = np.empty(longest)
    b_linear: cython.double[::1] = np.empty(longest)
    sums: cython.double[::1] = np.empty(longest)
    is_suffix_stale: cython.uchar[::1] = np.array(is_stale, np.uint8)
    total: cython.double = 0.0
    total_exponent: cython.longlong = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            if layout[v, N_EXCESSES] == 0:
                continue
            if is_forced[v]:
                for k in range(layout[v, PRODUCT_EXCESSES] * layout[v, PRODUCT_SIZES]):
                    mantissa[layout[v, PRODUCT_START] + k] = 0.0
                    exponent[layout[v, PRODUCT_START] + k] = 0
            if layout[v, TABLE_START] < 0:
                continue
            if is_suffix_stale[end[v]]:
                is_suffix_stale[v] = True
            if not is_suffix_stale[v] or is_forced[parent[v]]:
                continue
            _expand(v, excess, charge, layout, mantissa, exponent, a_mantissa, a_exponent)
            w = end[v]
            if layout[w, TABLE_START] < 0:
                _expand(w, excess, charge, layout, mantissa, exponent, b_mantissa, b_exponent)
            else:
                start = layout[w, TABLE_START]
                for k in range(layout[w, SUFFIX_EXCESSES] * layout[w, SUFFIX_SIZES]):
                    b_mantissa[k] = mantissa[start + k]
                    b_exponent[k] = exponent[start + k]
            _convolve(
                v, w, layout, a_mantissa, a_exponent, b_mantissa, b_exponent, a_linear, b_linear, sums, mantissa,
                exponent
            )  # fmt: skip
        if layout[0, N_EXCESSES] > 0:
            _expand(0, excess, charge, layout, mantissa, exponent, a_mantissa, a_exponent)
            for k in range(layout[0, N_EXCESSES] * layout[0, N_SIZES]):
                _add_scaled(cython.address(total), cython.address(total_exponent), a_mantissa[k], a_exponent[k])
    return total, total_exponent


@cython.cfunc
def _longest(layout: LongRows) -> cython.longlong:
    """Return the number of entries of the largest table, at least 1."""
    rows = layout.base
    lengths = [
        rows[:, N_EXCESSES] * rows[:, N_SIZES],
        rows[:, PRODUCT_EXCESSES] * rows[:, PRODUCT_SIZES],
        rows[:, SUFFIX_EXCESSES] * rows[:, SUFFIX_SIZES],
    ]
    return max(1, *(int(length.max()) for length in lengths))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_scaled(
    total: cython.pointer(cython.double), total_exponent: cython.pointer(cython.longlong), value: cython.double,
    value_exponent: cython.longlong
) -> cython.void:  # fmt: skip
    """Add value * 2^value_exponent to a sum that is kept in the same way."""
    if value == 0.0:
        return
    if total[0] == 0.0:
        total[0] = value
        total_exponent[0] = value_exponent
        return
    shift = value_exponent - total_exponent[0]
    if shift > 0:
        total[0] = 0.0 if shift > NEGLIGIBLE_SHIFT else ldexp(total[0], cython.cast(cython.int, -shift))
        total_exponent[0] = value_exponent
        total[0] += value
    elif -shift <= NEGLIGIBLE_SHIFT:
        total[0] += ldexp(value, cython.cast(cython.int, shift))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _store(
    mantissa: cython.double[::1], exponent: cython.int[::1], at: cython.longlong, value: cython.double,
    value_exponent: cython.longlong
) -> cython.void:  # fmt: skip
    """Store value * 2^value_exponent as mantissa and exponent."""
    shift: cython.int = 0
    mantissa[at] = frexp(value, cython.address(shift))
    exponent[at] = cython.cast(cython.int, value_exponent + shift) if value != 0.0 else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _expand(
    v: cython.Py_ssize_t, excess: LongRows, charge: Longs, layout: LongRows, mantissa: cython.const[cython.double][::1],
    exponent: cython.const[cython.int][::1], out_mantissa: cython.double[::1], out_exponent: cython.int[::1]
) -> cython.void:  # fmt: skip
    """Write T(v), made of P(v) and of v as a leaf."""
    n_excesses, n_sizes = layout[v, N_EXCESSES], layout[v, N_SIZES]
    product_excesses, product_sizes = layout[v, PRODUCT_EXCESSES], layout[v, PRODUCT_SIZES]
    start = layout[v, PRODUCT_START]
    for k in range(n_excesses * n_sizes):
        out_mantissa[k] = 0.0
        out_exponent[k] = 0
    for s in range(min(product_sizes, n_sizes - charge[v])):
        first = (s + charge[v]) * n_excesses + excess[v, 1]
        for j in range(min(product_excesses, n_excesses - excess[v, 1])):
            out_mantissa[first + j] = mantissa[start + s * product_excesses + j]
            out_exponent[first + j] = exponent[start + s * product_excesses + j]
    if excess[v, 0] < n_excesses:
        at = excess[v, 0]
        total: cython.double = out_mantissa[at]
        total_exponent: cython.longlong = out_exponent[at]
        _add_scaled(cython.address(total), cython.address(total_exponent), 0.5, 1)
        _store(out_mantissa, out_exponent, at, total, total_exponent)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rise(
    mantissa: cython.double[::1], exponent: cython.int[::1], n: cython.longlong, steps: cython.pointer(cython.longlong)
) -> cython.longlong:
    """Return by how much the exponents rise from the first to the last entry that is not 0; add the steps between."""
    first: cython.longlong = 0
    last: cython.longlong = n - 1
    while first < last and mantissa[first] == 0.0:
        first += 1
    while last > first and mantissa[last] == 0.0:
        last -= 1
    steps[0] += last - first
    return exponent[last] - exponent[first] if last > first else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _load(
    mantissa: cython.double[::1], exponent: cython.int[::1], n_lines: cython.longlong, n: cython.longlong,
    slope: cython.longlong, linear: cython.double[::1], highest: cython.pointer(cython.longlong)
) -> cython.bint:  # fmt: skip
    """Write a table as plain floats, entry j of each line times 2^-(slope j + highest); return whether they fit."""
    lowest: cython.longlong = 0
    is_empty: cython.bint = True
    for s in range(n_lines):
        for j in range(n):
            if mantissa[s * n + j] != 0.0:
                power = exponent[s * n + j] - slope * j
                if is_empty or power > highest[0]:
                    highest[0] = power
                if is_empty or power < lowest:
                    lowest = power
                is_empty = False
    if is_empty:
        highest[0] = 0
    if highest[0] - lowest > MAX_RANGE and not is_empty:
        return False
    for s in range(n_lines):
        for j in range(n):
            k = s * n + j
            linear[k] = 0.0
            if mantissa[k] != 0.0:
                linear[k] = ldexp(mantissa[k], cython.cast(cython.int, exponent[k] - slope * j - highest[0]))
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _convolve(
    v: cython.Py_ssize_t, w: cython.Py_ssize_t, layout: LongRows, a_mantissa: cython.double[::1],
    a_exponent: cython.int[::1], b_mantissa: cython.double[::1], b_exponent: cython.int[::1],
    a_linear: cython.double[::1], b_linear: cython.double[::1], sums: cython.double[::1], mantissa: cython.double[::1],
    exponent: cython.int[::1]
) -> cython.void:  # fmt: skip
    """Store S(v), the convolution of T(v) and S(w)."""
    a_lines, n_a = layout[v, N_SIZES], layout[v, N_EXCESSES]
    b_lines, n_b = layout[w, SUFFIX_SIZES], layout[w, SUFFIX_EXCESSES]
    lines, n = layout[v, SUFFIX_SIZES], layout[v, SUFFIX_EXCESSES]
    start = layout[v, TABLE_START]
    slope: cython.longlong = 0
    steps: cython.longlong = 0
    a_highest: cython.longlong = 0
    b_highest: cython.longlong = 0
    total: cython.double
    total_exponent: cython.longlong
    if a_lines == 1 and b_lines == 1:
        rise = _rise(a_mantissa, a_exponent, n_a, cython.address(steps))
        rise = rise + _rise(b_mantissa, b_exponent, n_b, cython.address(steps))
        slope = rise // steps if steps > 0 else 0
    if _load(a_mantissa, a_exponent, a_lines, n_a, slope, a_linear, cython.address(a_highest)) and _load(
        b_mantissa, b_exponent, b_lines, n_b, slope, b_linear, cython.address(b_highest)
    ):
        for k in range(lines * n):
            sums[k] = 0.0
        for s in range(a_lines):
            for t in range(min(b_lines, lines - s)):
                if n_a <= n_b:
                    _add_products(a_linear, s * n_a, n_a, b_linear, t * n_b, n_b, sums, (s + t) * n, n)
                else:
                    _add_products(b_linear, t * n_b, n_b, a_linear, s * n_a, n_a, sums, (s + t) * n, n)
        for s in range(lines):
            for j in range(n):
                power = a_highest + b_highest + slope * j
                _store(mantissa, exponent, start + s * n + j, sums[s * n + j], power)
        return
    for s in range(lines):
        for j in range(n):
            total = 0.0
            total_exponent = 0
            for r in range(max(0, s - b_lines + 1), min(s + 1, a_lines)):
                for i in range(max(0, j - n_b + 1), min(j + 1, n_a)):
                    at, other = r * n_a + i, (s - r) * n_b + j - i
                    _add_scaled(
                        cython.address(total), cython.address(total_exponent), a_mantissa[at] * b_mantissa[other],
                        cython.cast(cython.longlong, a_exponent[at]) + b_exponent[other],
                    )  # fmt: skip
            _store(mantissa, exponent, start + s * n + j, total, total_exponent)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_products(
    a: cython.double[::1], a_start: cython.longlong, n_a: cython.longlong, b: cython.double[::1],
    b_start: cython.longlong, n_b: cython.longlong, sums: cython.double[::1], start: cython.longlong, n: cython.longlong
) -> cython.void:  # fmt: skip
    """Add a[i] b[j] to sums[i + j] for all i + j < n."""
    for i in range(min(n_a, n)):
        factor = a[a_start + i]
        if factor != 0.0:
            for j in range(min(n_b, n - i)):
                sums[start + i + j] += factor * b[b_start + j]


# Shares of the prunings
#
# U(v)[s, j] is the number of ways to complete a pruning of the subtree of v with size s and excess j to a pruning of
# the whole tree within the limits. O(v) is the same number for v and its later siblings together. Both are computed
# from the root down: O of a first child is U of its parent, shifted back by charge and split excess, and with the next
# sibling w,
#
#     U(v)[r, i] = sum over s and j of O(v)[r + s, i + j] S(w)[s, j],     O(w) likewise with T(v).


def node_shares(
    parent: Ints, end: Ints, excess: LongRows, charge: Longs, layout: LongRows,
    mantissa: cython.const[cython.double][::1], exponent: cython.const[cython.int][::1], total: cython.double,
    total_exponent: cython.longlong
):  # fmt: skip
    """Return the share of all prunings in which each node is split, and the share in which it is a leaf.

    The tables O wait on a stack, whose memory is that of the suffix tables of one path.
    """
    n = parent.shape[0]
    split_share: cython.double[::1] = np.zeros(n)
    leaf_share: cython.double[::1] = np.zeros(n)
    place: cython.longlong[::1] = np.zeros(n, np.int64)
    longest = _longest(layout)
    depth = _outside_places(end, layout, place)
    u_mantissa: cython.double[::1] = np.zeros(depth)
    u_exponent: cython.int[::1] = np.zeros(depth, np.int32)
    t_mantissa: cython.double[::1] = np.empty(longest)
    t_exponent: cython.int[::1] = np.empty(longest, np.int32)
    o_mantissa: cython.double[::1] = np.empty(longest)
    o_exponent: cython.int[::1] = np.empty(longest, np.int32)
    s_mantissa: cython.double[::1] = np.empty(longest)
    s_exponent: cython.int[::1] = np.empty(longest, np.int32)
    linear: cython.double[:, ::1] = np.empty((2, longest))
    v: cython.Py_ssize_t
    k: cython.longlong
    at: cython.longlong
    with cython.nogil:
        for k in range(layout[0, N_EXCESSES] * layout[0, N_SIZES]):
            u_mantissa[k] = 0.5
            u_exponent[k] = 1
        for v in range(n):
            if layout[v, N_EXCESSES] == 0:
                continue
            at = place[v]
            if layout[v, TABLE_START] >= 0:  # a later sibling w follows: O(v) becomes O(w), and U(v) above it
                w = end[v]
                for k in range(layout[v, SUFFIX_EXCESSES] * layout[v, SUFFIX_SIZES]):
                    o_mantissa[k] = u_mantissa[at + k]
                    o_exponent[k] = u_exponent[at + k]
                _expand(v, excess, charge, layout, mantissa, exponent, t_mantissa, t_exponent)
                if layout[w, TABLE_START] < 0:
                    _expand(w, excess, charge, layout, mantissa, exponent, s_mantissa, s_exponent)
                else:
                    start = layout[w, TABLE_START]
                    for k in range(layout[w, SUFFIX_EXCESSES] * layout[w, SUFFIX_SIZES]):
                        s_mantissa[k] = mantissa[start + k]
                        s_exponent[k] = exponent[start + k]
                lines, length = layout[v, SUFFIX_SIZES], layout[v, SUFFIX_EXCESSES]
                _correlate(
                    o_mantissa, o_exponent, lines, length, t_mantissa, t_exponent, layout[v, N_SIZES],
                    layout[v, N_EXCESSES], u_mantissa, u_exponent, at, layout[w, SUFFIX_SIZES],
                    layout[w, SUFFIX_EXCESSES], linear
                )  # fmt: skip
                at = at + layout[w, SUFFIX_SIZES] * layout[w, SUFFIX_EXCESSES]
                _correlate(
                    o_mantissa, o_exponent, lines, length, s_mantissa, s_exponent, layout[w, SUFFIX_SIZES],
                    layout[w, SUFFIX_EXCESSES], u_mantissa, u_exponent, at, layout[v, N_SIZES], layout[v, N_EXCESSES],
                    linear
                )  # fmt: skip
            if excess[v, 0] < layout[v, N_EXCESSES]:
                k = at + excess[v, 0]
                leaf_share[v] = _share(u_mantissa[k], u_exponent[k], total, total_exponent)
            if layout[v, PRODUCT_EXCESSES] > 0:
                split_share[v] = _split_share(
                    v, at, excess, charge, layout, mantissa, exponent, u_mantissa, u_exponent, total, total_exponent
                )
    return split_share.base, leaf_share.base


@cython.cfunc
def _outside_places(end: Ints, layout: LongRows, place: cython.longlong[::1]) -> cython.longlong:
    """Set where O(v) of each node lies on the stack; return the length of the stack."""
    n = end.shape[0]
    at: cython.longlong
    depth: cython.longlong = layout[0, N_EXCESSES] * layout[0, N_SIZES]
    for v in range(n):
        if layout[v, N_EXCESSES] == 0:
            continue
        at = place[v]
        if layout[v, TABLE_START] >= 0:
            w = end[v]
            place[w] = at
            at += layout[w, SUFFIX_SIZES] * layout[w, SUFFIX_EXCESSES]
        depth = max(depth, at + layout[v, N_SIZES] * layout[v, N_EXCESSES])
        if layout[v, PRODUCT_EXCESSES] > 0:
            place[v + 1] = at
            depth = max(depth, at + layout[v, PRODUCT_SIZES] * layout[v, PRODUCT_EXCESSES])
    return max(depth, 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _share(
    value: cython.double, value_exponent: cython.longlong, total: cython.double, total_exponent: cython.longlong
) -> cython.double:
    """Return the quotient of two numbers with exponents; a positive one that is too small becomes the least float."""
    if value == 0.0:
        return 0.0
    shift = value_exponent - total_exponent
    if shift < -NEGLIGIBLE_SHIFT:
        return 5e-324
    return max(ldexp(value / total, cython.cast(cython.int, shift)), 5e-324)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _split_share(
    v: cython.Py_ssize_t, at: cython.longlong, excess: LongRows, charge: Longs, layout: LongRows,
    mantissa: cython.const[cython.double][::1], exponent: cython.const[cython.int][::1], u_mantissa: cython.double[::1],
    u_exponent: cython.int[::1], total: cython.double, total_exponent: cython.longlong
) -> cython.double:  # fmt: skip
    """Return the share of prunings that split v, and replace U(v) on the stack by O of its first child."""
    n_excesses, n_sizes = layout[v, N_EXCESSES], layout[v, N_SIZES]
    product_excesses, product_sizes = layout[v, PRODUCT_EXCESSES], layout[v, PRODUCT_SIZES]
    start = layout[v, PRODUCT_START]
    share: cython.double = 0.0
    share_exponent: cython.longlong = 0
    for s in range(product_sizes):
        for j in range(product_excesses):
            to = at + s * product_excesses + j
            k = at + (s + charge[v]) * n_excesses + excess[v, 1] + j
            if s + charge[v] < n_sizes and excess[v, 1] + j < n_excesses:
                u_mantissa[to], u_exponent[to] = u_mantissa[k], u_exponent[k]
            else:
                u_mantissa[to], u_exponent[to] = 0.0, 0
            k = start + s * product_excesses + j
            _add_scaled(
                cython.address(share), cython.address(share_exponent), u_mantissa[to] * mantissa[k],
                cython.cast(cython.longlong, u_exponent[to]) + exponent[k],
            )  # fmt: skip
    return _share(share, share_exponent, total, total_exponent)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _correlate(
    o_mantissa: cython.double[::1], o_exponent: cython.int[::1], o_lines: cython.longlong, n_o: cython.longlong,
    s_mantissa: cython.double[::1], s_exponent: cython.int[::1], s_lines: cython.longlong, n_s: cython.longlong,
    u_mantissa: cython.double[::1], u_exponent: cython.int[::1], at: cython.longlong, u_lines: cython.longlong,
    n_u: cython.longlong, linear: cython.double[:, ::1]
) -> cython.void:  # fmt: skip
    """Store U[r, i], the sum over s and j of O[r + s, i + j] S[s, j], at the place `at`."""
    slope: cython.longlong = 0
    steps: cython.longlong = 0
    o_highest: cython.longlong = 0
    s_highest: cython.longlong = 0
    total: cython.double
    total_exponent: cython.longlong
    if o_lines == 1 and s_lines == 1:
        rise = _rise(s_mantissa, s_exponent, n_s, cython.address(steps))
        rise = rise - _rise(o_mantissa, o_exponent, n_o, cython.address(steps))
        slope = rise // steps if steps > 0 else 0
    is_linear = _load(o_mantissa, o_exponent, o_lines, n_o, -slope, linear[0], cython.address(o_highest)) and _load(
        s_mantissa, s_exponent, s_lines, n_s, slope, linear[1], cython.address(s_highest)
    )
    for r in range(u_lines):
        for i in range(n_u):
            total = 0.0
            total_exponent = o_highest + s_highest - slope * i if is_linear else 0
            for s in range(min(s_lines, o_lines - r)):
                first, other = (r + s) * n_o + i, s * n_s
                if is_linear:
                    for j in range(min(n_s, n_o - i)):
                        total += linear[0, first + j] * linear[1, other + j]
                else:
                    for j in range(min(n_s, n_o - i)):
                        _add_scaled(
                            cython.address(total), cython.address(total_exponent),
                            o_mantissa[first + j] * s_mantissa[other + j],
                            cython.cast(cython.longlong, o_exponent[first + j]) + s_exponent[other + j],
                        )  # fmt: skip
            _store(u_mantissa, u_exponent, at + r * n_u + i, total, total_exponent)
