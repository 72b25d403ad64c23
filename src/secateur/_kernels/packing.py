"""Find the two-valued columns of a table, and pack columns of codes into words.

    two-valued columns     one bit per column, 64 columns in a word; 1 stands for the higher value
    other codes            8, 16 or 32 bits per column, so 8, 4 or 2 columns in a word

A table is read once, row after row, in the order in which it lies in memory. Costs O(rows x columns).
"""

import cython
import numpy as np

Value = cython.fused_type(cython.float, cython.double)
Code = cython.fused_type(cython.uchar, cython.int)

BLOCK_ROWS = cython.declare(cython.Py_ssize_t, 64)  # number of rows in which one pass looks for a third value
SINGLE_COLUMN_BLOCK_ROWS = cython.declare(cython.Py_ssize_t, 1024)

# The kinds of columns that `find_two_valued` returns.
OTHER = cython.declare(cython.uchar, 0)
CONSTANT = cython.declare(cython.uchar, 1)
BINARY = cython.declare(cython.uchar, 2)
EMPTY = cython.declare(cython.uchar, 3)


def find_two_valued(matrix: cython.const[Value][:, ::1]):
    """Return (kind, lowest value, highest value) of each column.

    The kinds are CONSTANT and BINARY, one or two values and none missing; EMPTY, all values missing; and OTHER. The
    lowest and highest value of EMPTY and OTHER columns are 0.
    """
    n = matrix.shape[0]
    n_columns = matrix.shape[1]
    start: cython.Py_ssize_t = 0
    block_rows = BLOCK_ROWS if n_columns > 1 else SINGLE_COLUMN_BLOCK_ROWS
    values: cython.const[Value][::1] = np.asarray(matrix).reshape(-1)
    n_open = n_columns
    is_other: cython.uchar[::1] = np.zeros(n_columns, np.uint8)
    firsts: Value[::1] = np.array(matrix[0])
    seconds: Value[::1] = np.array(matrix[0])
    kind: cython.uchar[::1] = np.zeros(n_columns, np.uint8)
    low: cython.double[::1] = np.zeros(n_columns)
    high: cython.double[::1] = np.zeros(n_columns)
    with cython.nogil:
        while start < n and n_open > 0:
            end = min(n, start + block_rows)
            if start > 0 and not _has_third_value(values, start, end, firsts, seconds, is_other):
                start = end
                continue
            n_open -= _add_values(matrix, start, end, firsts, seconds, is_other)
            start = end
        for j in range(n_columns):
            if not is_other[j]:
                kind[j] = CONSTANT if firsts[j] == seconds[j] else BINARY
                low[j] = min(firsts[j], seconds[j])
                high[j] = max(firsts[j], seconds[j])
            elif firsts[j] != firsts[j] and _is_empty(matrix, j):
                kind[j] = EMPTY
    return kind.base, low.base, high.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _has_third_value(
    values: cython.const[Value][::1],
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    firsts: Value[::1],
    seconds: Value[::1],
    is_other: cython.uchar[::1],
) -> cython.bint:
    """Return whether some row has a third value in a column where `is_other` is still 0."""
    n_columns = firsts.shape[0]
    first = firsts[0]
    second = seconds[0]
    found: cython.int = 0
    if n_columns == 1:  # tables that are not one array are passed column by column
        for i in range(start, end):
            found |= (values[i] != first) & (values[i] != second)
        return found
    for i in range(start, end):
        for j in range(n_columns):
            found |= (
                (values[i * n_columns + j] != firsts[j])
                & (values[i * n_columns + j] != seconds[j])
                & (is_other[j] == 0)
            )
        if found:
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_values(
    matrix: cython.const[Value][:, ::1],
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    firsts: Value[::1],
    seconds: Value[::1],
    is_other: cython.uchar[::1],
) -> cython.Py_ssize_t:
    """Record the values of rows: the second value of a column, or that it has others; return how many newly do.

    Until the second value of a column is found, it is equal to the first. A column with a third value or with NaN is
    marked in `is_other`.
    """
    n_found: cython.Py_ssize_t = 0
    for i in range(start, end):
        for j in range(firsts.shape[0]):
            value = matrix[i, j]
            if value == firsts[j] or value == seconds[j] or is_other[j]:
                continue
            if firsts[j] == seconds[j] and value == value:
                seconds[j] = value
            else:  # a third value, or NaN
                is_other[j] = 1
                n_found += 1
    return n_found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_empty(matrix: cython.const[Value][:, ::1], column: cython.Py_ssize_t) -> cython.bint:
    """Return whether all values of a column are missing."""
    for i in range(matrix.shape[0]):
        if matrix[i, column] == matrix[i, column]:
            return False
    return True


def pack_two_valued(
    matrix: cython.const[Value][:, ::1],
    columns: cython.const[cython.longlong][::1],
    highest: cython.const[cython.double][::1],
    words: cython.ulonglong[:, ::1],
):
    """Write one bit per row and two-valued column to `words`: 1 if the row has the `highest` value of the column."""
    n_columns = columns.shape[0]
    with cython.nogil:
        for word_index in range(words.shape[0]):
            for i in range(matrix.shape[0]):
                word = 0
                for column in range(64 * word_index, min(n_columns, 64 * word_index + 64)):
                    word |= cython.cast(cython.ulonglong, matrix[i, columns[column]] == highest[column]) << (
                        column & 63
                    )
                words[word_index, i] = word


def pack_codes(codes: cython.const[Code][:], bit: cython.int, words: cython.ulonglong[::1]):
    """Write the code of each row into the word of the row; the lowest bit of the code goes to the given bit."""
    with cython.nogil:
        for i in range(codes.shape[0]):
            words[i] |= cython.cast(cython.ulonglong, codes[i]) << bit
