"""Sort a numeric column once, before growing.

The result is a list of *entries*, one per row in order of value:

    row << shift | label << 1 | (value differs from the entry before)

in 32 bits where rows and labels fit, else in 64. Equal values are in order of row, -0.0 is
like 0.0, missing values (NaN) come last.
"""

import cython
import numpy as np
from cython.cimports.libc.string import memcpy

Entry = cython.fused_type(cython.uint, cython.ulonglong)
Value = cython.fused_type(cython.float, cython.double)

DIGIT = 11  # bits of a radix pass: 2,048 counters stay in the first-level cache
FEW = cython.declare(cython.Py_ssize_t, 4096)  # rows below which a pass takes 8 bits: fewer counters to add up
MOST_WHOLE = 1 << 14  # whole numbers in so small a range are put in order by one pass of counting


def two_values(values: cython.const[Value][::1]):
    """(kind, lowest, highest): kind 1, one value; 2, two, none missing; 3, all are missing; 0, anything else."""
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    end: cython.Py_ssize_t
    one: Value = values[0]
    two: Value = values[0]
    is_other: cython.int = 0
    n_seen: cython.Py_ssize_t = 0
    with cython.nogil:
        while i < n and values[i] == one:
            i += 1
        if i < n:
            two = values[i]
        while i < n and not is_other:  # NaN is neither
            end = min(n, i + 1024)
            for j in range(i, end):
                is_other |= (values[j] != one) & (values[j] != two)
            i = end
        if is_other:
            for i in range(n):
                if values[i] == values[i]:
                    n_seen = 1
                    break
    if is_other:
        return 0 if n_seen else 3, 0.0, 0.0
    return 1 if one == two else 2, float(min(one, two)), float(max(one, two))


def pack(ones: cython.const[cython.uchar][::1], bit: cython.int, words: cython.ulonglong[::1]):
    """Set a bit of each row's word where the column is 1."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(ones.shape[0]):
            words[i] |= cython.cast(cython.ulonglong, ones[i]) << bit


def sorted_entries(
    values: cython.const[Value][::1], labels: cython.const[cython.int][::1], shift: cython.int, out: Entry[::1]
):
    """Write the entries of a column: (different values, missing values)."""
    n: cython.Py_ssize_t = values.shape[0]
    low: cython.double = 0
    size: cython.Py_ssize_t = _range_of_few(values, cython.address(low))
    place: cython.longlong[::1]
    keys: cython.ulonglong[::1]
    other: cython.ulonglong[::1]
    rows: cython.const[cython.uint][::1]
    if 0 < size < 4 * n:
        place = np.zeros(size + 1, np.int64)
        return _by_counting(values, low, labels, shift, out, place)
    if Value is cython.float:
        keys = np.empty(n, np.uint64)
        other = np.empty(n, np.uint64)
        keys = _sorted_32(values, keys, other)
        return _from_packed(keys, labels, shift, out)
    rows = _sorted_64(values)
    return _fill(out, rows, values, labels, shift)


@cython.cfunc
def _range_of_few(values: cython.const[Value][::1], lowest: cython.p_double) -> cython.Py_ssize_t:
    """How many values whole numbers in a small range can take, from the lowest on; 0: they are others."""
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    low: cython.double = float("inf")
    high: cython.double = -low
    most: cython.double = MOST_WHOLE
    x: cython.double
    with cython.nogil:
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
def _by_counting(
    values: cython.const[Value][::1],
    low: cython.double,
    labels: cython.const[cython.int][::1],
    shift: cython.int,
    out: Entry[::1],
    place: cython.longlong[::1],
):
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    to: cython.longlong
    d: cython.int
    most: cython.int = cython.cast(cython.int, place.shape[0] - 1)  # the place of the missing
    x: cython.double
    total: cython.longlong = 0
    here: cython.longlong
    n_values: cython.Py_ssize_t = 0
    n_missing: cython.longlong
    e: Entry
    with cython.nogil:
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
    return n_values - (n_missing > 0), n_missing


@cython.cfunc
def _sorted_32(
    values: cython.const[cython.float][::1], packed: cython.ulonglong[::1], other: cython.ulonglong[::1]
) -> cython.ulonglong[::1]:
    """Radix sort of (key, row) in 64 bits, from the lowest digit; digits that are the same everywhere cost nothing."""
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    d: cython.Py_ssize_t
    p: cython.int
    digit: cython.int
    x: cython.float
    b: cython.uint
    key: cython.uint
    top: cython.uint = 0x80000000
    every: cython.uint = 0xFFFFFFFF
    item: cython.ulonglong
    total: cython.longlong
    here: cython.longlong
    width: cython.int = 8 if n < FEW else DIGIT
    n_passes: cython.int = 4 if n < FEW else 3
    mask: cython.ulonglong = (1 << width) - 1
    count: cython.longlong[:, ::1] = np.zeros((n_passes, 1 << width), np.int64)
    with cython.nogil:
        for i in range(n):
            x = values[i]
            memcpy(cython.address(b), cython.address(x), 4)
            b = 0 if b == top else b
            # Flip all bits of a negative number, the sign bit of any other.
            key = b ^ (every if b >> 31 else top)
            key = every if x != x else key
            packed[i] = (cython.cast(cython.ulonglong, key) << 32) | cython.cast(cython.ulonglong, i)
            for p in range(n_passes):
                count[p, (key >> (width * p)) & mask] += 1
        for p in range(n_passes):
            digit = 32 + width * p
            if count[p, (packed[0] >> digit) & mask] == n:
                continue
            total = 0
            for d in range(1 << width):
                here = count[p, d]
                count[p, d] = total
                total += here
            for i in range(n):
                item = packed[i]
                d = (item >> digit) & mask
                other[count[p, d]] = item
                count[p, d] += 1
            packed, other = other, packed
    return packed


@cython.cfunc
def _from_packed(
    packed: cython.ulonglong[::1], labels: cython.const[cython.int][::1], shift: cython.int, out: Entry[::1]
):
    n: cython.Py_ssize_t = packed.shape[0]
    i: cython.Py_ssize_t
    row: Entry
    key: cython.uint
    before: cython.uint = cython.cast(cython.uint, packed[0] >> 32)
    missing: cython.uint = 0xFFFFFFFF
    n_values: cython.Py_ssize_t = 1
    n_missing: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(n):
            row = cython.cast(cython.uint, packed[i])
            key = cython.cast(cython.uint, packed[i] >> 32)
            n_values += key != before
            n_missing += key == missing
            out[i] = (row << shift) | (labels[row] << 1) | (key != before)
            before = key
    return n_values - (n_missing > 0), n_missing


def sorted_rows_64(values: cython.const[cython.double][::1]):
    """Row numbers in order of value."""
    return np.asarray(_sorted_64(values))


@cython.cfunc
def _sorted_64(values: cython.const[cython.double][::1]) -> cython.uint[::1]:
    """As `_sorted_32`, with keys and rows apart."""
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    d: cython.Py_ssize_t
    p: cython.int
    digit: cython.int
    x: cython.double
    b: cython.ulonglong
    one: cython.ulonglong = 1
    top: cython.ulonglong = one << 63
    total: cython.longlong
    here: cython.longlong
    width: cython.int = 8 if n < FEW else DIGIT
    n_passes: cython.int = 8 if n < FEW else 6
    mask: cython.ulonglong = (1 << width) - 1
    count: cython.longlong[:, ::1] = np.zeros((n_passes, 1 << width), np.int64)
    keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    rows: cython.uint[::1] = np.empty(n, np.uint32)
    other_keys: cython.ulonglong[::1] = np.empty(n, np.uint64)
    other_rows: cython.uint[::1] = np.empty(n, np.uint32)
    with cython.nogil:
        for i in range(n):
            x = values[i]
            memcpy(cython.address(b), cython.address(x), 8)
            b = 0 if b == top else b
            b = ~b if b >> 63 else b ^ top
            keys[i] = b if x == x else top | (top - 1)
            rows[i] = cython.cast(cython.uint, i)
            for p in range(n_passes):
                count[p, (keys[i] >> (width * p)) & mask] += 1
        for p in range(n_passes):
            digit = width * p
            if count[p, (keys[0] >> digit) & mask] == n:
                continue
            total = 0
            for d in range(1 << width):
                here = count[p, d]
                count[p, d] = total
                total += here
            for i in range(n):
                b = keys[i]
                d = (b >> digit) & mask
                here = count[p, d]
                count[p, d] = here + 1
                other_keys[here] = b
                other_rows[here] = rows[i]
            keys, other_keys = other_keys, keys
            rows, other_rows = other_rows, rows
    return rows


def bin_codes(
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    size: cython.const[cython.double][::1],
    n_seen: cython.Py_ssize_t,
    n_bins: cython.int,
):
    """Bins of about equally many rows; equal values share one: (bin of each row, where each bin ends in `rows`).

    `size` counts a row as so many (empty: as one). Rows from `n_seen` on are missing: NaN.
    """
    n: cython.Py_ssize_t = rows.shape[0]
    i: cython.Py_ssize_t
    row: cython.uint
    total: cython.double = 0
    before: cython.double  # rows with a smaller value
    passed: cython.double = 0
    bin_here: cython.int = -1
    last: cython.longlong = -1
    wanted: cython.longlong
    has_size: cython.bint = size.shape[0] > 0
    nothing: cython.float = float("nan")
    codes = np.empty(n, np.float32)
    ends = np.empty(n_bins, np.int64)
    code_of: cython.float[::1] = codes
    end_of: cython.longlong[::1] = ends
    with cython.nogil:
        for i in range(n_seen):
            total += size[rows[i]] if has_size else 1.0
        for i in range(n_seen):
            row = rows[i]
            if i == 0 or values[row] != values[rows[i - 1]]:
                before = passed
                wanted = cython.cast(cython.longlong, before * n_bins / total)
                if wanted != last:
                    last = wanted
                    if bin_here >= 0:
                        end_of[bin_here] = i
                    bin_here += 1
            passed += size[row] if has_size else 1.0
            code_of[row] = bin_here
        end_of[bin_here] = n_seen
        for i in range(n_seen, n):
            code_of[rows[i]] = nothing
    return codes, ends[: bin_here + 1].copy()


def fill_entries(
    out: Entry[::1],
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
):
    """Write the entries of a column whose rows are sorted; returns how many of its values are missing."""
    return _fill(out, rows, values, labels, shift)[1]


@cython.cfunc
def _fill(
    out: Entry[::1],
    rows: cython.const[cython.uint][::1],
    values: cython.const[Value][::1],
    labels: cython.const[cython.int][::1],
    shift: cython.int,
):
    """Write the entries of a column whose rows are sorted: (different values, missing values)."""
    i: cython.Py_ssize_t
    row: Entry
    value: Value
    before: Value = values[rows[0]]
    differs: cython.int
    n_values: cython.Py_ssize_t = 0
    n_missing: cython.Py_ssize_t = 0
    with cython.nogil:
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
    return n_values, n_missing
