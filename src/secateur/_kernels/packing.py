"""Find the columns of two values, and pack them: a bit per column, 64 of them in a word."""

import cython
import numpy as np

Value = cython.fused_type(cython.float, cython.double)
Code = cython.fused_type(cython.uchar, cython.int)

SOME_ROWS = cython.declare(cython.Py_ssize_t, 64)  # looked through at once for a third value (of one column more)


def find_two_valued(matrix: cython.const[Value][:, ::1]):
    """(kind, lowest, highest) of each column: kind 1, one value; 2, two, none missing; 3, all missing; 0, any other."""
    n = matrix.shape[0]
    d = matrix.shape[1]
    start: cython.Py_ssize_t = 0
    at_once = SOME_ROWS if d > 1 else 16 * SOME_ROWS
    values: cython.const[Value][::1] = np.asarray(matrix).reshape(-1)
    n_open = d
    is_other: cython.uchar[::1] = np.zeros(d, np.uint8)
    firsts: Value[::1] = np.array(matrix[0])
    seconds: Value[::1] = np.array(matrix[0])
    kind: cython.uchar[::1] = np.zeros(d, np.uint8)
    low: cython.double[::1] = np.zeros(d)
    high: cython.double[::1] = np.zeros(d)
    with cython.nogil:
        while start < n and n_open > 0:
            end = min(n, start + at_once)
            if start > 0 and not _is_other(values, start, end, firsts, seconds, is_other):
                start = end
                continue
            for i in range(start, end):
                for j in range(d):
                    x = matrix[i, j]
                    if x == firsts[j] or x == seconds[j] or is_other[j]:
                        continue
                    if firsts[j] == seconds[j] and x == x:
                        seconds[j] = x
                    else:  # a third value, or NaN
                        is_other[j] = 1
                        n_open -= 1
            start = end
        for j in range(d):
            if not is_other[j]:
                kind[j] = 1 if firsts[j] == seconds[j] else 2
                low[j] = min(firsts[j], seconds[j])
                high[j] = max(firsts[j], seconds[j])
            elif firsts[j] != firsts[j]:
                kind[j] = 3
                for i in range(n):
                    if matrix[i, j] == matrix[i, j]:
                        kind[j] = 0
                        break
    return kind.base, low.base, high.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_other(
    values: cython.const[Value][::1],
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    firsts: Value[::1],
    seconds: Value[::1],
    is_known: cython.uchar[::1],
) -> cython.bint:
    """Whether some rows hold a new value in a column that is not known to have others."""
    d = firsts.shape[0]
    first = firsts[0]
    second = seconds[0]
    found: cython.int = 0
    if d == 1:  # most tables that do not come as one array: a column after the other
        for i in range(start, end):
            found |= (values[i] != first) & (values[i] != second)
        return found
    for i in range(start, end):
        for j in range(d):
            found |= (values[i * d + j] != firsts[j]) & (values[i * d + j] != seconds[j]) & (is_known[j] == 0)
        if found:
            return True
    return False


def pack_two_valued(
    matrix: cython.const[Value][:, ::1],
    columns: cython.const[cython.longlong][::1],
    highest: cython.const[cython.double][::1],
    words: cython.ulonglong[:, ::1],
):
    """Write the words of each row: a bit per column of two values, 1 where it has the higher one."""
    n = columns.shape[0]
    with cython.nogil:
        for w in range(words.shape[0]):
            for i in range(matrix.shape[0]):
                word = 0
                for c in range(64 * w, min(n, 64 * w + 64)):
                    word |= cython.cast(cython.ulonglong, matrix[i, columns[c]] == highest[c]) << (c & 63)
                words[w, i] = word


def pack_codes(codes: cython.const[Code][:], bit: cython.int, words: cython.ulonglong[::1]):
    """Write the code of each row to its word, from a bit on."""
    with cython.nogil:
        for i in range(codes.shape[0]):
            words[i] |= cython.cast(cython.ulonglong, codes[i]) << bit
