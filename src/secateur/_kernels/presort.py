"""Sort numeric columns once, before growing.

The result is a list of entries, one per row in order of value:

    entry    | row | label | differs |      row << shift | label << 1 | differs

An entry has 32 bits if rows and labels fit, else 64. `label` is the class of the row; `differs` says whether the value
differs from that of the entry before. Equal values are in the order of rows, -0.0 equals 0.0, and missing values (NaN)
come last.

Three sorts give the same list:

    small whole numbers      counted, O(rows + range)
    32-bit floats            radix sort of words of key and entry, O(rows) per pass
    64-bit floats            radix sort of keys, and of row numbers along with them

A key is a whole number in the order of the floats. A radix pass sorts by one digit of the key. After two or three
passes over the leading digits, usually few keys are out of order, and an insertion sort completes the order.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels.context import key_of

Entry = cython.fused_type(cython.uint, cython.ulonglong)
Value = cython.fused_type(cython.float, cython.double)
Code = cython.fused_type(cython.uchar, cython.ushort)

DIGIT_BITS = cython.declare(cython.int, 12)  # digit of a radix pass: its 4,096 counters fit in the first-level cache
SMALL_SORT_ROWS = cython.declare(cython.Py_ssize_t, 4096)  # fewer rows use 8-bit digits, which have fewer counters
MAX_COUNTING_RANGE = cython.declare(cython.int, 1 << 14)  # whole numbers in a smaller range are sorted by counting


def sort_columns(
    matrix: cython.const[Value][:, ::1],
    columns: cython.const[cython.longlong][::1],
    block: Value[:, ::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[:, ::1],
):
    """Write the sorted entries of columns to `out`; return the numbers of different and of missing values per column.

    The values of the columns are copied to the lines of `block`. `labels` is the class of each row.
    """
    n = matrix.shape[0]
    low: cython.double = 0
    lines: cython.const[Value][:, ::1] = block.base
    values: cython.const[Value][::1]
    value_counts: cython.longlong[:, ::1] = np.zeros((columns.shape[0], 2), np.int64)
    position: cython.longlong[::1] = np.empty(MAX_COUNTING_RANGE + 2, np.int64)
    count: cython.uint[:, ::1] = np.empty((8, 1 << DIGIT_BITS), np.uint32)
    keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    other: cython.ulonglong[::1] = np.empty(n, np.uint64)
    rows: cython.uint[::1] = np.empty(0 if Value is cython.float else n, np.uint32)
    other_rows: cython.uint[::1] = np.empty(0 if Value is cython.float else n, np.uint32)
    with cython.nogil:
        for i in range(n):
            for c in range(columns.shape[0]):
                block[c, i] = matrix[i, columns[c]]
        for c in range(columns.shape[0]):
            values = lines[c]
            size = _small_range(values, cython.address(low))
            if 0 < size < 4 * n:
                _sort_by_counting(values, low, labels, shift, out[c], position[: size + 1], value_counts[c])
                continue
            if Value is cython.float:
                _pack_keys(values, keys, labels, shift, out[c])
                if _radix_sort(keys, rows, other, other_rows, 32, count):
                    _unpack_entries(other, labels, shift, out[c], value_counts[c])
                else:
                    _unpack_entries(keys, labels, shift, out[c], value_counts[c])
            else:
                _make_keys(values, keys, rows)
                if _radix_sort(keys, rows, other, other_rows, 0, count):
                    _write_sorted(out[c], other_rows, values, labels, shift, value_counts[c])
                else:
                    _write_sorted(out[c], rows, values, labels, shift, value_counts[c])
    return value_counts.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _small_range(values: cython.const[Value][::1], lowest: cython.p_double) -> cython.Py_ssize_t:
    """Return the size of the range of a column of whole numbers; 0 if a value is not whole or the range is large.

    Writes the lowest value to `lowest`.
    """
    n = values.shape[0]
    low = INFINITY
    high: cython.double = -low
    max_range: cython.double = MAX_COUNTING_RANGE
    for i in range(n):
        x = values[i]
        low = min(low, x)
        high = max(high, x)
    if not high - low < max_range:
        return 0
    lowest[0] = low
    for i in range(n):
        x = values[i] - low
        if x == x and x != cython.cast(cython.double, cython.cast(cython.int, x)):
            return 0
    return cython.cast(cython.Py_ssize_t, high - low) + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort_by_counting(
    values: cython.const[Value][::1],
    low: cython.double,
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    position: cython.longlong[::1],
    value_counts: cython.longlong[::1],
) -> cython.void:
    """Write the entries of whole numbers in a small range, and the numbers of different and of missing values."""
    n = values.shape[0]
    d: cython.int
    missing = cython.cast(cython.int, position.shape[0] - 1)  # counter of the missing values
    total: cython.longlong = 0
    n_values: cython.Py_ssize_t = 0
    e: Entry
    for d in range(missing + 1):
        position[d] = 0
    for i in range(n):
        x = values[i] - low
        d = missing if x != x else cython.cast(cython.int, x)
        position[d] += 1
    n_missing = position[missing]
    for d in range(missing + 1):
        here = position[d]
        position[d] = total
        total += here
        n_values += here > 0
    for i in range(n):
        x = values[i] - low
        d = missing if x != x else cython.cast(cython.int, x)
        to = position[d]
        position[d] = to + 1
        e = i
        out[to] = (e << shift) | (labels[i] << 1)
    for d in range(missing):  # the position of a value is now where the next value begins
        to = position[d]
        if 0 < to < n and position[d] < position[d + 1]:
            out[to] |= 1
    value_counts[0] = n_values - (n_missing > 0)
    value_counts[1] = n_missing


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pack_keys(
    values: cython.const[cython.float][::1],
    packed: cython.ulonglong[::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
) -> cython.void:
    """Write key and entry, 32 bits each, as one word; wide entries do not fit, so the row is written instead."""
    b: cython.uint
    low: cython.ulonglong
    top: cython.uint = 0x80000000
    every: cython.uint = 0xFFFFFFFF
    for i in range(values.shape[0]):
        x = values[i]
        memcpy(cython.address(b), cython.address(x), 4)
        b = 0 if b == top else b
        # Flip all bits of a negative number, the sign bit of any other.
        key = b ^ (every if b >> 31 else top)
        key = every if x != x else key
        low = i
        if Entry is cython.uint:
            low = (low << shift) | (labels[i] << 1)
        packed[i] = (cython.cast(cython.ulonglong, key) << 32) | low


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _make_keys(
    values: cython.const[cython.double][::1], keys: cython.ulonglong[::1], rows: cython.uint[::1]
) -> cython.void:
    """Write the key of every value, and the row numbers. NaN has the largest key."""
    nothing: cython.ulonglong = 0
    for i in range(values.shape[0]):
        x = values[i]
        key = key_of(x)  # computed before the condition, so that the compiler can use vector instructions
        keys[i] = key if x == x else ~nothing
        rows[i] = cython.cast(cython.uint, i)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _radix_sort(
    keys: cython.ulonglong[::1],
    rows: cython.uint[::1],
    other_keys: cython.ulonglong[::1],
    other_rows: cython.uint[::1],
    lowest_bit: cython.int,
    count: cython.uint[:, ::1],
) -> cython.bint:
    """Sort keys by their bits from `lowest_bit` on, stably, and their rows along with them; `rows` may be empty.

    The first passes sort by the leading digits in which keys differ. The few keys that are then out of order are moved
    by an insertion sort; if there are too many, passes over all digits follow. Every pass moves the keys from one array
    to the other. Returns whether the result is in `other_keys` and `other_rows`.
    """
    has_rows: cython.bint = rows.shape[0] > 0
    n = keys.shape[0]
    d: cython.Py_ssize_t
    total: cython.uint
    differ: cython.ulonglong = 0
    bits: cython.int = lowest_bit
    width: cython.int = 8 if n < SMALL_SORT_ROWS else DIGIT_BITS
    mask: cython.ulonglong = (1 << width) - 1
    is_other: cython.bint = False
    for i in range(1, n):
        differ |= keys[i] ^ keys[0]
    while bits < 64 and differ >> bits:
        bits += 1
    n_passes: cython.int = (bits - lowest_bit + width - 1) // width
    max_passes: cython.int = has_rows + (
        2 if n < SMALL_SORT_ROWS // 4 or SMALL_SORT_ROWS <= n < SMALL_SORT_ROWS << 8 else 3
    )
    n_passes = min(n_passes, max_passes)
    base: cython.int = max(lowest_bit, bits - width * n_passes)
    while True:
        for p in range(n_passes):
            for d in range(1 << width):
                count[p, d] = 0
        for i in range(n):
            for p in range(n_passes):
                count[p, (keys[i] >> (base + width * p)) & mask] += 1
        for p in range(n_passes):
            digit = base + width * p
            total = 0
            for d in range(1 << width):
                here = count[p, d]
                count[p, d] = total
                total += here
            for i in range(n):
                key = keys[i]
                d = (key >> digit) & mask
                here = count[p, d]
                count[p, d] = here + 1
                other_keys[here] = key
                if has_rows:
                    other_rows[here] = rows[i]
            keys, other_keys = other_keys, keys
            rows, other_rows = other_rows, rows
            is_other = not is_other
        if base == lowest_bit or _insertion_sort(keys, rows):
            return is_other
        base = lowest_bit
        n_passes = (bits - lowest_bit + width - 1) // width


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _insertion_sort(keys: cython.ulonglong[::1], rows: cython.uint[::1]) -> cython.bint:
    """Sort keys that are nearly in order. Gives up and returns False after more than two moves per key."""
    has_rows: cython.bint = rows.shape[0] > 0
    n = keys.shape[0]
    moves_left = 2 * n
    row: cython.uint = 0
    for i in range(1, n):
        key = keys[i]
        if key >= keys[i - 1]:
            continue
        if has_rows:
            row = rows[i]
        j = i
        while j > 0 and key < keys[j - 1]:
            keys[j] = keys[j - 1]
            if has_rows:
                rows[j] = rows[j - 1]
            j -= 1
        keys[j] = key
        if has_rows:
            rows[j] = row
        moves_left -= i - j
        if moves_left < 0:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _unpack_entries(
    packed: cython.ulonglong[::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    value_counts: cython.longlong[::1],
) -> cython.void:
    """Write the entries of sorted words of key and entry, and the numbers of different and of missing values."""
    n = packed.shape[0]
    e: Entry
    before = cython.cast(cython.uint, packed[0] >> 32)
    missing: cython.uint = 0xFFFFFFFF
    n_values: cython.Py_ssize_t = 1
    n_missing: cython.Py_ssize_t = 0
    for i in range(n):
        e = cython.cast(cython.uint, packed[i])
        key = cython.cast(cython.uint, packed[i] >> 32)
        n_values += key != before
        n_missing += key == missing
        if Entry is cython.ulonglong:
            e = (e << shift) | (labels[e] << 1)
        out[i] = e | (key != before)
        before = key
    value_counts[0] = n_values - (n_missing > 0)
    value_counts[1] = n_missing


def sorted_rows(values: cython.const[cython.double][::1]):
    """Return the row numbers in order of value."""
    n = values.shape[0]
    is_other: cython.bint
    keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    rows: cython.uint[::1] = np.empty(n, np.uint32)
    other_keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    other_rows: cython.uint[::1] = np.empty(n, np.uint32)
    count: cython.uint[:, ::1] = np.empty((8, 1 << DIGIT_BITS), np.uint32)
    with cython.nogil:
        _make_keys(values, keys, rows)
        is_other = _radix_sort(keys, rows, other_keys, other_rows, 0, count)
    return other_rows.base if is_other else rows.base


def bin_entries(
    entries: Entry[::1],
    shift: cython.int,
    size: cython.const[cython.double][::1],
    n_known: cython.Py_ssize_t,
    n_bins: cython.int,
    codes: Code[::1],
):
    """Put the values of a sorted column into bins with about equal numbers of rows; return where each bin ends.

    Equal values share a bin. Writes the bin of each row to `codes`, except for rows whose value is missing. Changes the
    difference bits of the entries, so that they say whether the bin of an entry differs from that of the entry before.

    Parameters
    ----------
    entries : array
        The sorted column.
    shift : int
        Position of the row number in an entry.
    size : array
        Number of rows that each row counts for; empty if every row counts once.
    n_known : int
        Number of entries that are not missing; these come first.
    n_bins : int
        Number of bins; 0: one bin for every value.
    codes : array
        Receives the bins.
    """
    total = passed = 0.0  # all rows, and those before the entry
    current_bin: cython.int = -1
    last_quantile: cython.longlong = -1
    starts_bin: cython.bint
    has_size: cython.bint = size.shape[0] > 0
    ends = np.empty(n_bins if n_bins > 0 else n_known, np.int64)
    end_of: cython.longlong[::1] = ends
    with cython.nogil:
        for i in range(n_known if has_size else 0):
            total += size[entries[i] >> shift]
        if not has_size:
            total = cython.cast(cython.double, n_known)
        for i in range(n_known):
            e = entries[i]
            starts_bin = e & 1 or i == 0
            if starts_bin and n_bins > 0:
                quantile = cython.cast(cython.longlong, passed * n_bins / total)
                starts_bin = quantile != last_quantile
                last_quantile = quantile
            if starts_bin:
                if current_bin >= 0:
                    end_of[current_bin] = i
                current_bin += 1
            entries[i] = (e | 1) ^ (0 if starts_bin and i > 0 else 1)
            passed += size[e >> shift] if has_size else 1.0
            codes[e >> shift] = current_bin
        end_of[current_bin] = n_known
    return ends[: current_bin + 1].copy()


def write_entries(
    out: Entry[::1],
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
):
    """Write the entries of a column from its rows in order of value; return the number of missing values."""
    value_counts: cython.longlong[::1] = np.zeros(2, np.int64)
    with cython.nogil:
        _write_sorted(out, rows, values, labels, shift, value_counts)
    return value_counts[1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _write_sorted(
    out: Entry[::1],
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    value_counts: cython.longlong[::1],
) -> cython.void:
    """Write the entries of sorted rows, and the numbers of different and of missing values."""
    row: Entry
    before: Value = values[rows[0]]
    differs: cython.int
    n_values: cython.Py_ssize_t = 0
    n_missing: cython.Py_ssize_t = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        value = values[row]
        differs = value != before
        if value != value:
            differs = n_missing == 0
            n_missing += 1
        else:
            n_values += differs | (i == 0)
        before = value
        out[i] = (row << shift) | (labels[row] << 1) | differs
    value_counts[0] = n_values
    value_counts[1] = n_missing
