"""Count the ones of all two-valued columns of a node at once.

Their values lie row by row, a byte each, so that one row's are added in a few instructions.
"""

from typing import Any

import numpy as np

from ._jit import njit_inner

AT_ONCE = 255  # rows that a byte can count


@njit_inner
def count_ones(
    codes: Any, entries: Any, shift: Any, weights: Any, line: Any, n_lines: Any, tally: Any, ones: Any
) -> Any:
    """Fill `ones`, a line per class: the weight of the rows with a one, per column.

    `line` says which line belongs to a class. All arrays are flat and indexed without sign:
    a slice per row would cost more than the adding.
    """
    bits = codes.bits
    width = np.uint64(codes.width)
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    mask = (one << move) - one
    n = entries.shape[0]
    if weights.is_weighted:
        for j in range(n_lines * codes.width):
            ones[j] = 0
        for i in range(n):
            e = entries[i]
            at = np.uint64(e >> move) * width
            to = np.uint64(line[(e & mask) >> one]) * width
            weight = weights.weight[e >> move]
            for j in range(codes.width):
                ones[to + np.uint64(j)] += weight * bits[at + np.uint64(j)]
        return
    for start in range(0, max(n, 1), AT_ONCE):
        for j in range(n_lines * codes.width):
            tally[j] = 0
        for i in range(start, min(n, start + AT_ONCE)):
            e = entries[i]
            at = np.uint64(e >> move) * width
            to = np.uint64(line[(e & mask) >> one]) * width
            for j in range(codes.width):
                tally[to + np.uint64(j)] = np.uint8(tally[to + np.uint64(j)] + bits[at + np.uint64(j)])
        if start == 0:
            for j in range(n_lines * codes.width):
                ones[j] = tally[j]
        else:
            for j in range(n_lines * codes.width):
                ones[j] += tally[j]


@njit_inner
def count_sizes(codes: Any, entries: Any, shift: Any, weights: Any, sizes: Any) -> Any:
    """Fill `sizes`: of the rows with a one, per column; returns that of all rows."""
    move = entries.dtype.type(shift)
    total = 0.0
    for j in range(codes.width):
        sizes[j] = 0
    for i in range(entries.shape[0]):
        row = entries[i] >> move
        size = weights.size[row]
        total += size
        for j in range(codes.width):
            sizes[j] += size * codes.bits[np.uint64(row) * np.uint64(codes.width) + np.uint64(j)]
    return total
