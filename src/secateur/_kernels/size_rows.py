"""The loops of the budget walk of `size_dp`: rows from the last station to the first, and the walk itself."""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Bools, LongRows, Longs

Number = cython.fused_type(cython.int, cython.longlong, cython.double)


def last_uses(jump: Longs, width: Longs):
    """(the first station that jumps to each station (going backwards: the last), -1 if none; most cells alive)."""
    n = jump.shape[0]
    first: cython.longlong[::1] = np.full(n + 1, -1, np.int64)
    alive = most = width[n]
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            first[jump[i]] = i
        for i in range(n - 1, -1, -1):
            if first[jump[i]] == i:
                alive -= width[jump[i]]
            if first[i] >= 0:
                alive += width[i]
            most = max(most, alive)
    return first.base, most


def fill_rows(
    jump: Longs,
    charge: LongRows,
    value: cython.const[Number][:, :],
    width: Longs,
    rule: cython.const[Number][:],
    bit_start: Longs,
):
    """(the least values of the whole walk by budget, the decision bits of all rows)."""
    n = jump.shape[0]
    absent, slack = rule[0], rule[1]
    found, capacity = last_uses(jump, width)
    last_use: cython.longlong[::1] = found
    widest = width.base.max() + 7
    bits: cython.uchar[::1] = np.zeros(bit_start[n], np.uint8)
    stack: Number[::1] = np.empty(capacity, value.base.dtype)
    row: Number[::1] = np.zeros(widest, value.base.dtype)
    keep: Number[::1] = np.zeros(widest, value.base.dtype)
    cut: Number[::1] = np.zeros(widest, value.base.dtype)
    byte: cython.uint
    top: cython.Py_ssize_t = width[n]  # cells in use; row jump[i] is always the uppermost on the stack
    n_row: cython.Py_ssize_t = top
    with cython.nogil:
        for j in range(top):
            stack[j] = 0
            row[j] = 0
        for i in range(n - 1, -1, -1):
            w = width[i]
            start = top - width[jump[i]]
            _shift(stack, start, top - start, cut, w, charge[i, 0], value[i, 0], absent)
            _shift(row, 0, n_row, keep, w, charge[i, 1], value[i, 1], absent)
            n_row = w
            for k in range((w + 7) >> 3):  # bits past the end of a row are never read
                byte = 0
                for t in range(8):
                    j = 8 * k + t
                    byte |= ((keep[j] <= cut[j] + slack) & (keep[j] < absent)) << t
                bits[bit_start[i] + k] = byte
            for j in range(w):
                row[j] = min(keep[j], cut[j])
            if last_use[jump[i]] == i:
                top -= width[jump[i]]
            if last_use[i] >= 0:
                for j in range(w):
                    stack[top + j] = row[j]
                top += w
    return row.base[:n_row].copy(), bits.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _shift(
    source: Number[::1],
    start: cython.Py_ssize_t,
    n_source: cython.Py_ssize_t,
    target: Number[::1],
    w: cython.Py_ssize_t,
    by: cython.Py_ssize_t,
    add: Number,
    absent: Number,
) -> cython.void:
    """target[j] = source[start + j - by] + add for j < w, `absent` where there is no source."""
    low = min(by, w)
    high = min(by + n_source, w)
    for j in range(low):
        target[j] = absent
    for j in range(high - low):
        v = source[start + j]
        target[low + j] = v + add if v < absent else absent
    for j in range(max(high, low), w):
        target[j] = absent


def walk_forward(jump: Longs, charge: LongRows, bit_start: Longs, bits: Bools, budget: cython.Py_ssize_t):
    """Stations kept by the best walk with this budget."""
    n = jump.shape[0]
    kept: cython.uchar[::1] = np.zeros(n, np.bool_)
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = budget
    with cython.nogil:
        while i < n:
            if bits[bit_start[i] + (j >> 3)] >> (j & 7) & 1:
                kept[i] = True
                j -= charge[i, 1]
                i += 1
            else:
                j -= charge[i, 0]
                i = jump[i]
    return kept.base
