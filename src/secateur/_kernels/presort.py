"""Sort numeric columns once, before growing.

The result is a list of entries, one per row in order of value:

    entry    | row | label | differs |      row << shift | label << 1 | differs

    row        7   2   5   0   3   9   4
    value      1   1   2   4   4 NaN NaN    equal values in the order of rows; -0.0 equals 0.0; missing values come last
    differs    0   0   1   1   0   1   0    1 if the value differs from that of the entry before

An entry has 32 bits if rows and labels fit, else 64 (a wide entry). `label` is the class of the row.

Three sorts give the same list. A key is a whole number; keys are in the order of the values, and NaN has the largest.

    column                      sort                         what is moved                      cost
    whole numbers, small range  counting sort                entries, once                      O(rows + range)
    32-bit floats               radix sort                   | key, 32 bits | entry, 32 bits |  O(rows) per pass
    64-bit floats               radix sort                   key of 64 bits; row, 32 bits       O(rows) per pass

A word holds a key of 32 bits and an entry. If entries are wide, the word holds the row in place of the entry. A radix
pass sorts by one digit of the key. After two or three passes over the leading digits, usually few keys are out of
order, and an insertion sort completes the order.
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
MAX_RADIX_PASSES = cython.declare(cython.int, 8)  # 64 bits in digits of at least 8 bits
MAX_MOVES_PER_KEY = cython.declare(cython.int, 2)  # if the insertion sort needs more moves, radix passes are cheaper


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
    lowest: cython.double = 0
    lines: cython.const[Value][:, ::1] = block.base
    values: cython.const[Value][::1]
    value_counts: cython.longlong[:, ::1] = np.zeros((columns.shape[0], 2), np.int64)
    positions: cython.longlong[::1] = np.empty(MAX_COUNTING_RANGE + 2, np.int64)
    digit_counts: cython.uint[:, ::1] = np.empty((MAX_RADIX_PASSES, 1 << DIGIT_BITS), np.uint32)
    keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    other_keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    rows: cython.uint[::1] = np.empty(0 if Value is cython.float else n, np.uint32)
    other_rows: cython.uint[::1] = np.empty(0 if Value is cython.float else n, np.uint32)
    with cython.nogil:
        # Transpose, so that the values of a column are consecutive.
        for i in range(n):
            for j in range(columns.shape[0]):
                block[j, i] = matrix[i, columns[j]]
        for j in range(columns.shape[0]):
            values = lines[j]
            size = _small_range(values, cython.address(lowest))
            if 0 < size < 4 * n:
                _sort_by_counting(values, lowest, labels, shift, out[j], positions[: size + 1], value_counts[j])
                continue
            # A radix sort moves keys between two arrays, and returns whether the result is in the second.
            if Value is cython.float:
                _pack_keys(values, keys, labels, shift, out[j])
                if _radix_sort(keys, rows, other_keys, other_rows, 32, digit_counts):
                    _unpack_entries(other_keys, labels, shift, out[j], value_counts[j])
                else:
                    _unpack_entries(keys, labels, shift, out[j], value_counts[j])
            else:
                _make_keys(values, keys, rows)
                if _radix_sort(keys, rows, other_keys, other_rows, 0, digit_counts):
                    _write_sorted(out[j], other_rows, values, labels, shift, value_counts[j])
                else:
                    _write_sorted(out[j], rows, values, labels, shift, value_counts[j])
    return value_counts.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _small_range(values: cython.const[Value][::1], lowest: cython.p_double) -> cython.Py_ssize_t:
    """Return the size of the range of a column of whole numbers; 0 if a value is not whole or the range is large.

    Writes the lowest value to `lowest`.
    """
    n = values.shape[0]
    lowest_value = INFINITY
    highest_value: cython.double = -lowest_value
    max_range: cython.double = MAX_COUNTING_RANGE
    for i in range(n):
        value = values[i]
        lowest_value = min(lowest_value, value)
        highest_value = max(highest_value, value)
    if not highest_value - lowest_value < max_range:
        return 0
    lowest[0] = lowest_value
    for i in range(n):
        offset = values[i] - lowest_value
        if offset == offset and offset != cython.cast(cython.double, cython.cast(cython.int, offset)):
            return 0
    return cython.cast(cython.Py_ssize_t, highest_value - lowest_value) + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort_by_counting(
    values: cython.const[Value][::1],
    lowest: cython.double,
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    position: cython.longlong[::1],
    value_counts: cython.longlong[::1],
) -> cython.void:
    """Write the entries of whole numbers in a small range, and the numbers of different and of missing values.

    Values are sorted by their offset from the lowest value. The offset after the highest stands for a missing value.
    `position` is spare memory with one element for each offset.
    """
    n = values.shape[0]
    offset: cython.int
    missing = cython.cast(cython.int, position.shape[0] - 1)
    n_before: cython.longlong = 0
    n_values: cython.Py_ssize_t = 0
    row: Entry
    # Count the rows of each offset.
    for offset in range(missing + 1):
        position[offset] = 0
    for i in range(n):
        difference = values[i] - lowest
        offset = missing if difference != difference else cython.cast(cython.int, difference)
        position[offset] += 1
    n_missing = position[missing]
    # Turn the counts into the positions where the entries of each offset begin.
    for offset in range(missing + 1):
        n_equal = position[offset]
        position[offset] = n_before
        n_before += n_equal
        n_values += n_equal > 0
    # Write the entries in the order of rows.
    for i in range(n):
        difference = values[i] - lowest
        offset = missing if difference != difference else cython.cast(cython.int, difference)
        place = position[offset]
        position[offset] = place + 1
        row = i
        out[place] = (row << shift) | (labels[i] << 1)
    # Set the difference bits. The position of an offset is now where the next offset begins.
    for offset in range(missing):
        place = position[offset]
        if 0 < place < n and position[offset] < position[offset + 1]:
            out[place] |= 1
    value_counts[0] = n_values - (n_missing > 0)
    value_counts[1] = n_missing


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pack_keys(
    values: cython.const[cython.float][::1],
    words: cython.ulonglong[::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
) -> cython.void:
    """Write a word for each value: its key above its entry, or above its row if entries are wide.

    `out` is not used: its type says whether entries are wide.
    """
    bits: cython.uint
    low_half: cython.ulonglong
    sign_bit: cython.uint = 0x80000000
    all_bits: cython.uint = 0xFFFFFFFF
    for i in range(values.shape[0]):
        value = values[i]
        memcpy(cython.address(bits), cython.address(value), 4)
        bits = 0 if bits == sign_bit else bits  # -0.0 equals 0.0
        # Flip all bits of a negative number, the sign bit of any other.
        key = bits ^ (all_bits if bits >> 31 else sign_bit)
        key = all_bits if value != value else key  # NaN comes last
        low_half = i
        if Entry is cython.uint:
            low_half = (low_half << shift) | (labels[i] << 1)
        words[i] = (cython.cast(cython.ulonglong, key) << 32) | low_half


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _make_keys(
    values: cython.const[cython.double][::1], keys: cython.ulonglong[::1], rows: cython.uint[::1]
) -> cython.void:
    """Write the key of every value, and the row numbers. NaN has the largest key."""
    no_bits: cython.ulonglong = 0
    for i in range(values.shape[0]):
        value = values[i]
        key = key_of(value)  # computed before the condition, so that the compiler can use vector instructions
        keys[i] = key if value == value else ~no_bits
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
    digit_counts: cython.uint[:, ::1],
) -> cython.bint:
    """Sort keys by their bits from `lowest_bit` on, stably, and their rows along with them; `rows` may be empty.

    The first passes sort by the leading digits in which keys differ. The few keys that are then out of order are moved
    by an insertion sort; if there are too many, passes over all digits follow. Every pass moves the keys from one array
    to the other. Returns whether the result is in `other_keys` and `other_rows`.
    """
    has_rows: cython.bint = rows.shape[0] > 0
    n = keys.shape[0]
    digit: cython.Py_ssize_t
    different_bits: cython.ulonglong = 0
    end_bit: cython.int = lowest_bit
    digit_bits: cython.int = 8 if n < SMALL_SORT_ROWS else DIGIT_BITS
    digit_mask: cython.ulonglong = (1 << digit_bits) - 1
    is_other: cython.bint = False
    # Find the bits in which keys differ.
    for i in range(1, n):
        different_bits |= keys[i] ^ keys[0]
    while end_bit < 64 and different_bits >> end_bit:
        end_bit += 1
    # Two or three passes are faster than passes over all digits, if only few keys are then out of order.
    n_all_passes: cython.int = (end_bit - lowest_bit + digit_bits - 1) // digit_bits
    max_passes: cython.int = has_rows + (
        2 if n < SMALL_SORT_ROWS // 4 or SMALL_SORT_ROWS <= n < SMALL_SORT_ROWS << 8 else 3
    )
    n_passes: cython.int = min(n_all_passes, max_passes)
    first_bit: cython.int = max(lowest_bit, end_bit - digit_bits * n_passes)
    while True:
        # Count the digits of all passes in one reading of the keys.
        for p in range(n_passes):
            for digit in range(1 << digit_bits):
                digit_counts[p, digit] = 0
        for i in range(n):
            for p in range(n_passes):
                digit_counts[p, (keys[i] >> (first_bit + digit_bits * p)) & digit_mask] += 1
        # Sort by one digit after the other, beginning with the lowest.
        for p in range(n_passes):
            _sort_by_digit(keys, rows, other_keys, other_rows, first_bit + digit_bits * p, digit_mask, digit_counts[p])
            keys, other_keys = other_keys, keys
            rows, other_rows = other_rows, rows
            is_other = not is_other
        if first_bit == lowest_bit or _insertion_sort(keys, rows):
            return is_other
        first_bit = lowest_bit
        n_passes = n_all_passes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort_by_digit(
    keys: cython.ulonglong[::1],
    rows: cython.uint[::1],
    other_keys: cython.ulonglong[::1],
    other_rows: cython.uint[::1],
    digit_start: cython.int,
    digit_mask: cython.ulonglong,
    position: cython.uint[::1],
) -> cython.void:
    """Move keys, and their rows, to the other arrays in the order of one digit, stably.

    The digit begins at bit `digit_start` of a key. `position` holds the number of keys with each value of the digit. It
    is overwritten with the position where the next key with this value goes.
    """
    has_rows: cython.bint = rows.shape[0] > 0
    digit: cython.Py_ssize_t
    n_before: cython.uint = 0
    n_digits = cython.cast(cython.Py_ssize_t, digit_mask) + 1
    for digit in range(n_digits):
        n_equal = position[digit]
        position[digit] = n_before
        n_before += n_equal
    for i in range(keys.shape[0]):
        key = keys[i]
        digit = (key >> digit_start) & digit_mask
        place = position[digit]
        position[digit] = place + 1
        other_keys[place] = key
        if has_rows:
            other_rows[place] = rows[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _insertion_sort(keys: cython.ulonglong[::1], rows: cython.uint[::1]) -> cython.bint:
    """Sort keys that are nearly in order, and their rows along with them; return whether the order is complete.

    Returns False if keys would have to move by more than `MAX_MOVES_PER_KEY` positions on average.
    """
    has_rows: cython.bint = rows.shape[0] > 0
    n = keys.shape[0]
    moves_left = MAX_MOVES_PER_KEY * n
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
    words: cython.ulonglong[::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    value_counts: cython.longlong[::1],
) -> cython.void:
    """Write the entries of sorted words of key and entry, and the numbers of different and of missing values."""
    n = words.shape[0]
    entry: Entry
    key_before = cython.cast(cython.uint, words[0] >> 32)
    missing_key: cython.uint = 0xFFFFFFFF
    n_values: cython.Py_ssize_t = 1
    n_missing: cython.Py_ssize_t = 0
    for i in range(n):
        entry = cython.cast(cython.uint, words[i])
        key = cython.cast(cython.uint, words[i] >> 32)
        n_values += key != key_before
        n_missing += key == missing_key
        if Entry is cython.ulonglong:
            entry = (entry << shift) | (labels[entry] << 1)  # wide entries: the word holds the row
        out[i] = entry | (key != key_before)
        key_before = key
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
    digit_counts: cython.uint[:, ::1] = np.empty((MAX_RADIX_PASSES, 1 << DIGIT_BITS), np.uint32)
    with cython.nogil:
        _make_keys(values, keys, rows)
        is_other = _radix_sort(keys, rows, other_keys, other_rows, 0, digit_counts)
    return other_rows.base if is_other else rows.base


def bin_entries(
    entries: Entry[::1],
    shift: cython.int,
    repetitions: cython.const[cython.double][::1],
    n_present: cython.Py_ssize_t,
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
    repetitions : array
        How often each row counts; empty if every row counts once.
    n_present : int
        Number of entries whose value is not missing; they come first.
    n_bins : int
        Number of bins; 0 makes one bin for every value.
    codes : array
        Receives the bins.
    """
    n_all = n_before = 0.0  # number of rows, with repetitions: of all entries, and of those before the present one
    current_bin: cython.int = -1
    last_quantile: cython.longlong = -1
    starts_bin: cython.bint
    has_repetitions: cython.bint = repetitions.shape[0] > 0
    ends = np.empty(n_bins if n_bins > 0 else n_present, np.int64)
    bin_ends: cython.longlong[::1] = ends
    with cython.nogil:
        for i in range(n_present if has_repetitions else 0):
            n_all += repetitions[entries[i] >> shift]
        if not has_repetitions:
            n_all = cython.cast(cython.double, n_present)
        for i in range(n_present):
            entry = entries[i]
            starts_bin = entry & 1 or i == 0
            if starts_bin and n_bins > 0:
                quantile = cython.cast(cython.longlong, n_before * n_bins / n_all)
                starts_bin = quantile != last_quantile
                last_quantile = quantile
            if starts_bin:
                if current_bin >= 0:
                    bin_ends[current_bin] = i
                current_bin += 1
            # Set the difference bit if the entry starts a bin other than the first; clear it otherwise.
            entries[i] = (entry | 1) ^ (0 if starts_bin and i > 0 else 1)
            n_before += repetitions[entry >> shift] if has_repetitions else 1.0
            codes[entry >> shift] = current_bin
        bin_ends[current_bin] = n_present
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
    value_before: Value = values[rows[0]]
    differs: cython.int
    n_values: cython.Py_ssize_t = 0
    n_missing: cython.Py_ssize_t = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        value = values[row]
        differs = value != value_before
        if value != value:
            differs = n_missing == 0
            n_missing += 1
        else:
            n_values += differs | (i == 0)
        value_before = value
        out[i] = (row << shift) | (labels[row] << 1) | differs
    value_counts[0] = n_values
    value_counts[1] = n_missing
