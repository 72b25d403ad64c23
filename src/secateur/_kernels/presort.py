"""Sort a numeric column once, before growing.

The result is a list of *entries*, one per row in order of value:

    row << shift | label << 1 | (value differs from the entry before)

in 32 bits where rows and labels fit, else in 64. Equal values are in order of row, -0.0 is
like 0.0, missing values (NaN) come last.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels.context import key_of

Entry = cython.fused_type(cython.uint, cython.ulonglong)
Value = cython.fused_type(cython.float, cython.double)
Code = cython.fused_type(cython.uchar, cython.ushort)

DIGIT = cython.declare(cython.int, 12)  # bits of a radix pass: its 4,096 counters stay in the first-level cache
FEW = cython.declare(cython.Py_ssize_t, 4096)  # rows below which a pass takes 8 bits: fewer counters to add up
MOST_WHOLE = cython.declare(cython.int, 1 << 14)  # whole numbers in so small a range are put in order by counting


def sort_columns(
    matrix: cython.const[Value][:, ::1],
    columns: cython.const[cython.longlong][::1],
    block: Value[:, ::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[:, ::1],
):
    """Copy columns to the lines of `block`, and write their entries: (different values, missing values) of each."""
    n = matrix.shape[0]
    low: cython.double = 0
    lines: cython.const[Value][:, ::1] = block.base
    values: cython.const[Value][::1]
    about: cython.longlong[:, ::1] = np.zeros((columns.shape[0], 2), np.int64)
    place: cython.longlong[::1] = np.empty(MOST_WHOLE + 2, np.int64)
    count: cython.uint[:, ::1] = np.empty((8, 1 << DIGIT), np.uint32)
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
            size = _range_of_few(values, cython.address(low))
            if 0 < size < 4 * n:
                _by_counting(values, low, labels, shift, out[c], place[: size + 1], about[c])
                continue
            if Value is cython.float:
                _pack_keys(values, keys, labels, shift, out[c])
                if _sorted(keys, rows, other, other_rows, 32, count):
                    _from_packed(other, labels, shift, out[c], about[c])
                else:
                    _from_packed(keys, labels, shift, out[c], about[c])
            else:
                _keys_of(values, keys, rows)
                if _sorted(keys, rows, other, other_rows, 0, count):
                    _fill(out[c], other_rows, values, labels, shift, about[c])
                else:
                    _fill(out[c], rows, values, labels, shift, about[c])
    return about.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _range_of_few(values: cython.const[Value][::1], lowest: cython.p_double) -> cython.Py_ssize_t:
    """How many values whole numbers in a small range can take, from the lowest on; 0: they are others."""
    n = values.shape[0]
    low = INFINITY
    high: cython.double = -low
    most: cython.double = MOST_WHOLE
    for i in range(n):
        x = values[i]
        low = min(low, x)
        high = max(high, x)
    if not high - low < most:
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
def _by_counting(
    values: cython.const[Value][::1],
    low: cython.double,
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    place: cython.longlong[::1],
    about: cython.longlong[::1],
) -> cython.void:
    n = values.shape[0]
    d: cython.int
    most = cython.cast(cython.int, place.shape[0] - 1)  # the place of the missing
    total: cython.longlong = 0
    n_values: cython.Py_ssize_t = 0
    e: Entry
    for d in range(most + 1):
        place[d] = 0
    for i in range(n):
        x = values[i] - low
        d = most if x != x else cython.cast(cython.int, x)
        place[d] += 1
    n_missing = place[most]
    for d in range(most + 1):
        here = place[d]
        place[d] = total
        total += here
        n_values += here > 0
    for i in range(n):
        x = values[i] - low
        d = most if x != x else cython.cast(cython.int, x)
        to = place[d]
        place[d] = to + 1
        e = i
        out[to] = (e << shift) | (labels[i] << 1)
    for d in range(most):  # now each place is where the next one begins
        to = place[d]
        if 0 < to < n and place[d] < place[d + 1]:
            out[to] |= 1
    about[0] = n_values - (n_missing > 0)
    about[1] = n_missing


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
    """Write key and entry, both of 32 bits, as one; of wide entries the row takes the place of the entry."""
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
def _keys_of(
    values: cython.const[cython.double][::1], keys: cython.ulonglong[::1], rows: cython.uint[::1]
) -> cython.void:
    """Write whole numbers in the order of the values, as `_pack_keys`, and the rows apart."""
    nothing: cython.ulonglong = 0
    for i in range(values.shape[0]):
        x = values[i]
        key = key_of(x)  # before the condition, so that gcc vectorises
        keys[i] = key if x == x else ~nothing
        rows[i] = cython.cast(cython.uint, i)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sorted(
    keys: cython.ulonglong[::1],
    rows: cython.uint[::1],
    other_keys: cython.ulonglong[::1],
    other_rows: cython.uint[::1],
    lowest: cython.int,
    count: cython.uint[:, ::1],
) -> cython.bint:
    """Stable radix sort by the bits from `lowest` on, of keys and, where there are any, their rows.

    Passes go over the highest bits in which keys differ, as many as leave few of them in
    disorder; these are put right by insertion, or else by passes over all bits. Returns whether
    it is in the others that they are in order.
    """
    has_rows: cython.bint = rows.shape[0] > 0
    n = keys.shape[0]
    d: cython.Py_ssize_t
    total: cython.uint
    differ: cython.ulonglong = 0
    bits: cython.int = lowest
    width: cython.int = 8 if n < FEW else DIGIT
    mask: cython.ulonglong = (1 << width) - 1
    is_other: cython.bint = False
    for i in range(1, n):
        differ |= keys[i] ^ keys[0]
    while bits < 64 and differ >> bits:
        bits += 1
    n_passes: cython.int = (bits - lowest + width - 1) // width
    most: cython.int = has_rows + (2 if n < FEW // 4 or FEW <= n < FEW << 8 else 3)
    n_passes = min(n_passes, most)
    base: cython.int = max(lowest, bits - width * n_passes)
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
        if base == lowest or _mended(keys, rows):
            return is_other
        base = lowest
        n_passes = (bits - lowest + width - 1) // width


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mended(keys: cython.ulonglong[::1], rows: cython.uint[::1]) -> cython.bint:
    """Sort what is nearly in order by insertion; False, given up: it takes too many moves."""
    has_rows: cython.bint = rows.shape[0] > 0
    n = keys.shape[0]
    left = 2 * n
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
        left -= i - j
        if left < 0:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _from_packed(
    packed: cython.ulonglong[::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    about: cython.longlong[::1],
) -> cython.void:
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
    about[0] = n_values - (n_missing > 0)
    about[1] = n_missing


def sorted_rows_64(values: cython.const[cython.double][::1]):
    """Row numbers in order of value."""
    n = values.shape[0]
    is_other: cython.bint
    keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    rows: cython.uint[::1] = np.empty(n, np.uint32)
    other_keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    other_rows: cython.uint[::1] = np.empty(n, np.uint32)
    count: cython.uint[:, ::1] = np.empty((8, 1 << DIGIT), np.uint32)
    with cython.nogil:
        _keys_of(values, keys, rows)
        is_other = _sorted(keys, rows, other_keys, other_rows, 0, count)
    return other_rows.base if is_other else rows.base


def bin_entries(
    entries: Entry[::1],
    shift: cython.int,
    size: cython.const[cython.double][::1],
    n_seen: cython.Py_ssize_t,
    n_bins: cython.int,
    codes: Code[::1],
):
    """Bins of about equally many rows; equal values share one. Returns where each ends in `entries`.

    Writes the bin of each row that is not missing (those are from `n_seen` on), and mends the
    entries: a value differs from the one before where the bin does. `size` counts a row as so
    many (empty: as one). `n_bins` 0: a bin for every value.
    """
    total = passed = 0.0  # rows in all, and with a smaller value
    bin_here: cython.int = -1
    last: cython.longlong = -1
    is_next: cython.bint
    has_size: cython.bint = size.shape[0] > 0
    ends = np.empty(n_bins if n_bins > 0 else n_seen, np.int64)
    end_of: cython.longlong[::1] = ends
    with cython.nogil:
        for i in range(n_seen if has_size else 0):
            total += size[entries[i] >> shift]
        if not has_size:
            total = cython.cast(cython.double, n_seen)
        for i in range(n_seen):
            e = entries[i]
            is_next = e & 1 or i == 0
            if is_next and n_bins > 0:
                wanted = cython.cast(cython.longlong, passed * n_bins / total)
                is_next = wanted != last
                last = wanted
            if is_next:
                if bin_here >= 0:
                    end_of[bin_here] = i
                bin_here += 1
            entries[i] = (e | 1) ^ (0 if is_next and i > 0 else 1)
            passed += size[e >> shift] if has_size else 1.0
            codes[e >> shift] = bin_here
        end_of[bin_here] = n_seen
    return ends[: bin_here + 1].copy()


def write_entries(
    out: Entry[::1],
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
):
    """Write the entries of a column whose rows are sorted; returns how many of its values are missing."""
    about: cython.longlong[::1] = np.zeros(2, np.int64)
    with cython.nogil:
        _fill(out, rows, values, labels, shift, about)
    return about[1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    out: Entry[::1],
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    about: cython.longlong[::1],
) -> cython.void:
    """Write the entries of a column whose rows are sorted: (different values, missing values)."""
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
    about[0] = n_values
    about[1] = n_missing
