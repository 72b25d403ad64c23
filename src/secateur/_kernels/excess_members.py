"""Members of the set of prunings within an excess: random ones, and those of least summed value.

The tables and their layout are those of `excess_tables.py`. For random members they hold numbers of prunings. For the
least sum of a value over the leaves, they hold that sum for every size and excess, or `absent`:

    T(v)[s, j]     value[v] at [0, leaf_excess[v]]; elsewhere P(v), shifted by charge and split excess
    S(v)[s, j]     the minimum over r and i of T(v)[r, i] + S(w)[s - r, j - i], w being the next sibling

Both are read from the root down: `size[v]` and `excess_of[v]` say which entry of T(v), or of S(v), was chosen.

Cost: filling takes as many steps as `fill_numbers`, and reading a member at most the length of a table for each node.
"""

import cython
import numpy as np
from cython.cimports.libc.math import ldexp
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
from cython.cimports.secateur._kernels.views import Bools, Floats, Ints, LongRows, Longs, Number, Numbers

MAX_SHIFT = cython.declare(cython.longlong, 1000)  # chances of 2^-1000 are never drawn
UNIT = cython.declare(cython.double, 2.0**-53)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _next_uniform(state: cython.pointer(cython.ulonglong)) -> cython.double:
    """Return the next number in [0, 1) of the generator splitmix64."""
    state[0] += cython.cast(cython.ulonglong, 0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> 30)) * cython.cast(cython.ulonglong, 0xBF58476D1CE4E5B9)
    z = (z ^ (z >> 27)) * cython.cast(cython.ulonglong, 0x94D049BB133111EB)
    z = z ^ (z >> 31)
    return cython.cast(cython.double, z >> 11) * UNIT


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _chance_of_split(
    v: cython.Py_ssize_t, s: cython.longlong, j: cython.longlong, excess: LongRows, charge: Longs, layout: LongRows,
    mantissa: Floats, exponent: Ints, reference: cython.longlong
) -> cython.double:  # fmt: skip
    """Return how many prunings of entry [s, j] of T(v) split v, times 2^-reference."""
    s, j = s - charge[v], j - excess[v, 1]
    if s < 0 or j < 0 or s >= layout[v, PRODUCT_SIZES] or j >= layout[v, PRODUCT_EXCESSES]:
        return 0.0
    at = layout[v, PRODUCT_START] + s * layout[v, PRODUCT_EXCESSES] + j
    shift = exponent[at] - reference
    if mantissa[at] == 0.0 or shift < -MAX_SHIFT:
        return 0.0
    return ldexp(mantissa[at], cython.cast(cython.int, min(shift, MAX_SHIFT)))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _number_of(
    v: cython.Py_ssize_t, s: cython.longlong, j: cython.longlong, excess: LongRows, charge: Longs, layout: LongRows,
    mantissa: Floats, exponent: Ints, power: cython.pointer(cython.longlong)
) -> cython.double:  # fmt: skip
    """Return entry [s, j] of T(v) as a mantissa, and set its exponent."""
    is_leaf: cython.bint = s == 0 and j == excess[v, 0]
    s, j = s - charge[v], j - excess[v, 1]
    power[0] = 0
    if s < 0 or j < 0 or s >= layout[v, PRODUCT_SIZES] or j >= layout[v, PRODUCT_EXCESSES]:
        return 1.0 if is_leaf else 0.0
    at = layout[v, PRODUCT_START] + s * layout[v, PRODUCT_EXCESSES] + j
    if not is_leaf:
        power[0] = exponent[at]
        return mantissa[at]
    if mantissa[at] == 0.0:
        return 1.0
    power[0] = exponent[at]
    return mantissa[at] + (ldexp(1.0, cython.cast(cython.int, -power[0])) if power[0] < MAX_SHIFT else 0.0)


def draw_cuts(
    end: Ints, excess: LongRows, charge: Longs, layout: LongRows, mantissa: Floats, exponent: Ints,
    total: cython.double, total_exponent: cython.longlong, seed: cython.ulonglong
):  # fmt: skip
    """Return at which nodes a random pruning is cut; every pruning within the limits has the same chance.

    Chances are compared as floats, so that they are exact up to rounding. The total must be positive.
    """
    n = end.shape[0]
    is_cut: cython.uchar[::1] = np.zeros(n, np.bool_)
    size: cython.longlong[::1] = np.zeros(n, np.int64)
    excess_of: cython.longlong[::1] = np.zeros(n, np.int64)
    state: cython.ulonglong = seed
    power: cython.longlong = 0
    other_power: cython.longlong = 0
    v: cython.Py_ssize_t = 0
    w: cython.Py_ssize_t
    number: cython.double
    left: cython.double
    last_s: cython.longlong
    last_j: cython.longlong
    with cython.nogil:
        left = _next_uniform(cython.address(state)) * total
        last_s, last_j = -1, -1
        for s in range(layout[0, N_SIZES]):
            for j in range(layout[0, N_EXCESSES]):
                number = _number_of(0, s, j, excess, charge, layout, mantissa, exponent, cython.address(power))
                if number == 0.0 or left < 0.0 or power - total_exponent < -MAX_SHIFT:
                    continue
                last_s, last_j = s, j
                left -= ldexp(number, cython.cast(cython.int, power - total_exponent))
        size[0], excess_of[0] = last_s, last_j
        while v < n:
            # Entry [size, excess_of] of S(v) was chosen; divide it between v and its later siblings.
            if layout[v, TABLE_START] >= 0:
                w = end[v]
                at = layout[v, TABLE_START] + size[v] * layout[v, SUFFIX_EXCESSES] + excess_of[v]
                left = _next_uniform(cython.address(state)) * mantissa[at]
                last_s, last_j = -1, -1
                for s in range(min(size[v] + 1, layout[v, N_SIZES])):
                    if size[v] - s >= layout[w, SUFFIX_SIZES] or left < 0.0:
                        continue
                    for j in range(min(excess_of[v] + 1, layout[v, N_EXCESSES])):
                        if excess_of[v] - j >= layout[w, SUFFIX_EXCESSES]:
                            continue
                        number = _number_of(v, s, j, excess, charge, layout, mantissa, exponent, cython.address(power))
                        if number == 0.0:
                            continue
                        number = number * _suffix_number(
                            w, size[v] - s, excess_of[v] - j, excess, charge, layout, mantissa, exponent,
                            cython.address(other_power)
                        )  # fmt: skip
                        power = power + other_power - exponent[at]
                        if number == 0.0 or power < -MAX_SHIFT:
                            continue
                        last_s, last_j = s, j
                        left -= ldexp(number, cython.cast(cython.int, power))
                        if left < 0.0:
                            break
                size[w], excess_of[w] = size[v] - last_s, excess_of[v] - last_j
                size[v], excess_of[v] = last_s, last_j
            # Entry [size, excess_of] of T(v) was chosen: v is a leaf, or P(v) has the rest.
            number = _number_of(
                v, size[v], excess_of[v], excess, charge, layout, mantissa, exponent, cython.address(power)
            )
            left = _chance_of_split(v, size[v], excess_of[v], excess, charge, layout, mantissa, exponent, power)
            if left > 0.0 and (
                size[v] != 0 or excess_of[v] != excess[v, 0] or _next_uniform(cython.address(state)) * number < left
            ):
                size[v + 1], excess_of[v + 1] = size[v] - charge[v], excess_of[v] - excess[v, 1]
                v += 1
            else:
                is_cut[v] = True
                v = end[v]
    return is_cut.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _suffix_number(
    w: cython.Py_ssize_t, s: cython.longlong, j: cython.longlong, excess: LongRows, charge: Longs, layout: LongRows,
    mantissa: Floats, exponent: Ints, power: cython.pointer(cython.longlong)
) -> cython.double:  # fmt: skip
    """Return entry [s, j] of S(w) as a mantissa, and set its exponent."""
    if layout[w, TABLE_START] < 0:
        return _number_of(w, s, j, excess, charge, layout, mantissa, exponent, power)
    at = layout[w, TABLE_START] + s * layout[w, SUFFIX_EXCESSES] + j
    power[0] = exponent[at]
    return mantissa[at]


def fill_least(
    end: Ints, excess: LongRows, charge: Longs, layout: LongRows, is_forced: Bools, value: Numbers, absent: Number,
    n_entries: cython.Py_ssize_t
):  # fmt: skip
    """Return the stored tables of the least sums of `value`, and the table of the root (sizes x excesses).

    A node of `is_forced` must be a leaf.
    """
    table: Number[::1] = np.full(n_entries, absent, value.base.dtype)
    root: Number[:, ::1] = np.full((layout[0, N_SIZES], layout[0, N_EXCESSES]), absent, value.base.dtype)
    own: Number
    other: Number
    with cython.nogil:
        for v in range(end.shape[0] - 1, -1, -1):
            if layout[v, N_EXCESSES] == 0 or layout[v, TABLE_START] < 0:
                continue
            w = end[v]
            lines, length = layout[v, SUFFIX_SIZES], layout[v, SUFFIX_EXCESSES]
            start = layout[v, TABLE_START]
            for r in range(min(layout[v, N_SIZES], lines)):
                for i in range(min(layout[v, N_EXCESSES], length)):
                    own = _least_of(v, r, i, excess, charge, layout, is_forced, value, table, absent)
                    if own >= absent:
                        continue
                    for s in range(min(layout[w, SUFFIX_SIZES], lines - r)):
                        for j in range(min(layout[w, SUFFIX_EXCESSES], length - i)):
                            other = _least_of_suffix(w, s, j, excess, charge, layout, is_forced, value, table, absent)
                            if other < absent:
                                at = start + (r + s) * length + i + j
                                table[at] = min(table[at], own + other)
        for s in range(layout[0, N_SIZES]):
            for j in range(layout[0, N_EXCESSES]):
                root[s, j] = _least_of(0, s, j, excess, charge, layout, is_forced, value, table, absent)
    return table.base, root.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _least_of(
    v: cython.Py_ssize_t, s: cython.longlong, j: cython.longlong, excess: LongRows, charge: Longs, layout: LongRows,
    is_forced: Bools, value: Numbers, table: Number[::1], absent: Number
) -> Number:  # fmt: skip
    """Return entry [s, j] of T(v)."""
    least: Number = absent
    if s == 0 and j == excess[v, 0]:
        least = value[v]
    s, j = s - charge[v], j - excess[v, 1]
    if is_forced[v] or s < 0 or j < 0 or s >= layout[v, PRODUCT_SIZES] or j >= layout[v, PRODUCT_EXCESSES]:
        return least
    return min(least, table[layout[v, PRODUCT_START] + s * layout[v, PRODUCT_EXCESSES] + j])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _least_of_suffix(
    w: cython.Py_ssize_t, s: cython.longlong, j: cython.longlong, excess: LongRows, charge: Longs, layout: LongRows,
    is_forced: Bools, value: Numbers, table: Number[::1], absent: Number
) -> Number:  # fmt: skip
    """Return entry [s, j] of S(w)."""
    if layout[w, TABLE_START] < 0:
        return _least_of(w, s, j, excess, charge, layout, is_forced, value, table, absent)
    return table[layout[w, TABLE_START] + s * layout[w, SUFFIX_EXCESSES] + j]


def least_cuts(
    end: Ints, excess: LongRows, charge: Longs, layout: LongRows, is_forced: Bools, value: Numbers,
    table: Number[::1], absent: Number, root_size: cython.longlong, root_excess: cython.longlong
):  # fmt: skip
    """Return at which nodes a pruning of least value with this size and excess is cut.

    A tie cuts, or gives the least size and then the least excess to the first sibling. Sums are computed as in
    `fill_least`, so that they are found again exactly.
    """
    n = end.shape[0]
    is_cut: cython.uchar[::1] = np.zeros(n, np.bool_)
    size: cython.longlong[::1] = np.zeros(n, np.int64)
    excess_of: cython.longlong[::1] = np.zeros(n, np.int64)
    v: cython.Py_ssize_t = 0
    w: cython.Py_ssize_t
    least: Number
    own: Number
    other: Number
    is_found: cython.bint
    with cython.nogil:
        size[0], excess_of[0] = root_size, root_excess
        while v < n:
            if layout[v, TABLE_START] >= 0:
                w = end[v]
                least = table[layout[v, TABLE_START] + size[v] * layout[v, SUFFIX_EXCESSES] + excess_of[v]]
                is_found = False
                for s in range(min(size[v] + 1, layout[v, N_SIZES])):
                    if size[v] - s >= layout[w, SUFFIX_SIZES]:
                        continue
                    for j in range(min(excess_of[v] + 1, layout[v, N_EXCESSES])):
                        if excess_of[v] - j >= layout[w, SUFFIX_EXCESSES]:
                            continue
                        own = _least_of(v, s, j, excess, charge, layout, is_forced, value, table, absent)
                        if own >= absent:
                            continue
                        other = _least_of_suffix(
                            w, size[v] - s, excess_of[v] - j, excess, charge, layout, is_forced, value, table, absent
                        )
                        if other < absent and own + other == least:
                            is_found = True
                            break
                    if is_found:
                        size[w], excess_of[w] = size[v] - s, excess_of[v] - j
                        size[v], excess_of[v] = s, j
                        break
            least = _least_of(v, size[v], excess_of[v], excess, charge, layout, is_forced, value, table, absent)
            if size[v] == 0 and excess_of[v] == excess[v, 0] and value[v] == least:
                is_cut[v] = True
                v = end[v]
            else:
                size[v + 1], excess_of[v + 1] = size[v] - charge[v], excess_of[v] - excess[v, 1]
                v += 1
    return is_cut.base
