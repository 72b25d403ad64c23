"""The loops of the budget walk of `size_dp.py`: fill its rows from the last station to the first, and walk forward.

Stations 0, ..., n - 1 are the internal nodes in pre-order. Row i holds, for every budget j, the least value F[i][j] of
the rest of the walk from station i on; row n is all zeros:

    F[i][j] = min( F[jump[i]][j - charge[i, 0]] + value[i, 0],     cut station i and leave its subtree
                   F[i + 1][j - charge[i, 1]] + value[i, 1] )      keep station i

    stations     0   1   2   3   4   5 ... n           jump[1] = 4: the subtree of station 1 is 1, 2, 3
                     |--------->|
    row 1 needs rows 2 and 4; after row 1 is filled, row 4 is needed only if an earlier station jumps to it

Rows that some earlier station still jumps to lie on a stack, the nearest on top. Subtrees are nested or apart, so the
row that is needed next is always the uppermost one. Row i + 1 is kept apart from the stack.

    stack:  | row n | ... | row jump[i] |
                                        top

Cost: time is the number of cells, about stations x budget; memory is a bit for every cell (the decisions, eight to
a byte), and the rows on the stack, as many as the tree is deep.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.columns import CUT, KEEP
from cython.cimports.secateur._kernels.views import Bools, LongRows, Longs

Number = cython.fused_type(cython.int, cython.longlong, cython.double)


def first_jumpers(jump: Longs, width: Longs):
    """Return the first station that jumps to each station (-1: none), and the most cells on the stack at a time.

    The rows are filled backwards, so the first station that jumps to a row is the last one to use it.
    """
    n = jump.shape[0]
    first_jumper: cython.longlong[::1] = np.full(n + 1, -1, np.int64)
    n_cells = max_cells = width[n]
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            first_jumper[jump[i]] = i
        for i in range(n - 1, -1, -1):
            if first_jumper[jump[i]] == i:
                n_cells -= width[jump[i]]
            if first_jumper[i] >= 0:
                n_cells += width[i]
            max_cells = max(max_cells, n_cells)
    return first_jumper.base, max_cells


def fill_rows(
    jump: Longs,
    charge: LongRows,
    value: cython.const[Number][:, :],
    width: Longs,
    constants: cython.const[Number][:],
    bit_start: Longs,
):
    """Return the first row (the least value of the whole walk by budget), and the decision bits of all rows.

    Row i has `width[i]` budgets. Bit j of the bytes from `bit_start[i]` on is 1 where keeping station i is no worse
    than cutting it at budget j. `constants` are (value of what is impossible, how much worse still ties).
    """
    n = jump.shape[0]
    absent, slack = constants[0], constants[1]
    jumpers, max_cells = first_jumpers(jump, width)
    first_jumper: cython.longlong[::1] = jumpers
    max_width = width.base.max() + 7
    bits: cython.uchar[::1] = np.zeros(bit_start[n], np.uint8)
    stack: Number[::1] = np.empty(max_cells, value.base.dtype)
    row: Number[::1] = np.zeros(max_width, value.base.dtype)
    keep: Number[::1] = np.zeros(max_width, value.base.dtype)
    cut: Number[::1] = np.zeros(max_width, value.base.dtype)
    byte: cython.uint
    top: cython.Py_ssize_t = width[n]  # one past the last cell of the stack
    n_row: cython.Py_ssize_t = top
    with cython.nogil:
        for j in range(top):
            stack[j] = 0
            row[j] = 0
        for i in range(n - 1, -1, -1):
            n_budgets = width[i]
            start = top - width[jump[i]]
            _shift(stack, start, top - start, cut, n_budgets, charge[i, CUT], value[i, CUT], absent)
            _shift(row, 0, n_row, keep, n_budgets, charge[i, KEEP], value[i, KEEP], absent)
            n_row = n_budgets
            for k in range((n_budgets + 7) >> 3):  # bits past the end of a row are never read
                byte = 0
                for t in range(8):
                    j = 8 * k + t
                    byte |= ((keep[j] <= cut[j] + slack) & (keep[j] < absent)) << t
                bits[bit_start[i] + k] = byte
            for j in range(n_budgets):
                row[j] = min(keep[j], cut[j])
            if first_jumper[jump[i]] == i:
                top -= width[jump[i]]
            if first_jumper[i] >= 0:
                for j in range(n_budgets):
                    stack[top + j] = row[j]
                top += n_budgets
    return row.base[:n_row].copy(), bits.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _shift(
    source: Number[::1],
    start: cython.Py_ssize_t,
    n_source: cython.Py_ssize_t,
    target: Number[::1],
    n_target: cython.Py_ssize_t,
    offset: cython.Py_ssize_t,
    addend: Number,
    absent: Number,
) -> cython.void:
    """Set target[j] = source[start + j - offset] + addend for j < n_target, `absent` where there is no source."""
    low = min(offset, n_target)
    high = min(offset + n_source, n_target)
    for j in range(low):
        target[j] = absent
    for j in range(high - low):
        number = source[start + j]
        target[low + j] = number + addend if number < absent else absent
    for j in range(max(high, low), n_target):
        target[j] = absent


def walk_forward(jump: Longs, charge: LongRows, bit_start: Longs, bits: Bools, budget: cython.Py_ssize_t):
    """Return which stations the best walk with this budget keeps, read from the decision bits."""
    n = jump.shape[0]
    is_kept: cython.uchar[::1] = np.zeros(n, np.bool_)
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = budget
    with cython.nogil:
        while i < n:
            if bits[bit_start[i] + (j >> 3)] >> (j & 7) & 1:
                is_kept[i] = True
                j -= charge[i, KEEP]
                i += 1
            else:
                j -= charge[i, CUT]
                i = jump[i]
    return is_kept.base
