"""Count the ones of all two-valued columns of a node at once.

Their values lie row by row, a byte each, so that one row's are added in a few instructions.
"""

from typing import Any

import numpy as np

from ._jit import njit

AT_ONCE = 255  # rows that a byte can count


@njit
def count_ones(bits: Any, entries: Any, shift: Any, weights: Any, line: Any, tally: Any, ones: Any) -> Any:
    """Fill `ones`: a line per class, then two for all: the weight and the size of the rows with a one.

    `line` says which line belongs to a class; `tally` is a line of bytes per line.
    """
    n_columns = bits.shape[1]
    n_lines = ones.shape[0] - 2
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    mask = (one << move) - one
    n = entries.shape[0]
    for c in range(n_lines + 2):
        for j in range(n_columns):
            ones[c, j] = 0
    if weights.is_weighted:
        for i in range(n):
            e = entries[i]
            row = e >> move
            own = bits[row]
            mine = ones[line[(e & mask) >> one]]
            sizes = ones[n_lines + 1]
            for j in range(n_columns):
                mine[j] += weights.weight[row] * own[j]
                sizes[j] += weights.size[row] * own[j]
    else:
        for start in range(0, n, AT_ONCE):
            for c in range(n_lines):
                for j in range(n_columns):
                    tally[c, j] = 0
            for i in range(start, min(n, start + AT_ONCE)):
                e = entries[i]
                own = bits[e >> move]
                bytes_here = tally[line[(e & mask) >> one]]
                for j in range(n_columns):
                    bytes_here[j] = np.uint8(bytes_here[j] + own[j])
            for c in range(n_lines):
                for j in range(n_columns):
                    ones[c, j] += tally[c, j]
    for c in range(n_lines):
        for j in range(n_columns):
            ones[n_lines, j] += ones[c, j]
    if not weights.is_weighted:
        for j in range(n_columns):
            ones[n_lines + 1, j] = ones[n_lines, j]
