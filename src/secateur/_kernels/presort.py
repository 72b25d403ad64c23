"""Sort a numeric column once, before growing.

The result is a list of *entries*, one per row in order of value:

    row << shift | label << 1 | (value differs from the entry before)

in 32 bits where rows and labels fit, else in 64. Missing values (NaN) come last.
"""

import numpy as np
import numpy.typing as npt

from ._jit import njit

Entries = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]

DIGIT = 11  # bits of a radix pass: 2,048 counters stay in the first-level cache


@njit
def sorted_rows_32(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint32]:
    """Row numbers in order of value, equal values in order of row, NaN last, -0.0 like 0.0.

    Radix sort of (key, row) packed into 64 bits, from the lowest digit of the key; digits
    that are the same everywhere cost nothing.
    """
    n = values.shape[0]
    bits = values.view(np.uint32)
    size = 1 << DIGIT
    mask = np.uint64(size - 1)
    count = np.zeros((3, size), np.int64)
    packed = np.empty(n, np.uint64)
    for i in range(n):
        b = bits[i]
        b = np.uint32(0) if b == np.uint32(0x80000000) else b
        # Flip all bits of a negative number, the sign bit of any other.
        key = b ^ (np.uint32(0xFFFFFFFF) if b >> np.uint32(31) else np.uint32(0x80000000))
        key = np.uint32(0xFFFFFFFF) if values[i] != values[i] else key
        packed[i] = (np.uint64(key) << np.uint64(32)) | np.uint64(i)
    for i in range(n):
        key = packed[i] >> np.uint64(32)
        count[0, key & mask] += 1
        count[1, (key >> np.uint64(DIGIT)) & mask] += 1
        count[2, key >> np.uint64(2 * DIGIT)] += 1
    other = np.empty(n, np.uint64)
    for p in range(3):
        digit = np.uint64(32 + p * DIGIT)
        place = count[p]
        if place[(packed[0] >> digit) & mask] == n:
            continue
        total = 0
        for d in range(size):
            here = place[d]
            place[d] = total
            total += here
        for i in range(n):
            item = packed[i]
            d = (item >> digit) & mask
            other[np.uint64(place[d])] = item
            place[d] += 1
        packed, other = other, packed
    rows = np.empty(n, np.uint32)
    for i in range(n):
        rows[i] = np.uint32(packed[i] & np.uint64(0xFFFFFFFF))
    return rows


@njit
def sorted_rows_64(values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint32]:
    """As `sorted_rows_32`, with keys and rows apart."""
    n = values.shape[0]
    bits = values.view(np.uint64)
    top = np.uint64(1) << np.uint64(63)
    size = 1 << DIGIT
    mask = np.uint64(size - 1)
    count = np.zeros((6, size), np.int64)
    keys = np.empty(n, np.uint64)
    rows = np.empty(n, np.uint32)
    for i in range(n):
        b = bits[i]
        b = np.uint64(0) if b == top else b
        key = ~b if b >> np.uint64(63) else b ^ top
        keys[i] = ~np.uint64(0) if values[i] != values[i] else key
        rows[i] = i
    for i in range(n):
        for p in range(6):
            count[p, (keys[i] >> np.uint64(p * DIGIT)) & mask] += 1
    other_keys = np.empty(n, np.uint64)
    other_rows = np.empty(n, np.uint32)
    for p in range(6):
        digit = np.uint64(p * DIGIT)
        place = count[p]
        if place[(keys[0] >> digit) & mask] == n:
            continue
        total = 0
        for d in range(size):
            here = place[d]
            place[d] = total
            total += here
        for i in range(n):
            key = keys[i]
            d = (key >> digit) & mask
            to = np.uint64(place[d])
            place[d] += 1
            other_keys[to] = key
            other_rows[to] = rows[i]
        keys, other_keys = other_keys, keys
        rows, other_rows = other_rows, rows
    return rows


@njit
def bin_codes(
    rows: npt.NDArray[np.uint32],
    values: npt.NDArray[np.floating],
    size: npt.NDArray[np.float64],
    n_seen: int,
    n_bins: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Bins of about equally many rows; equal values share one: (bin of each row, where each bin ends in `rows`).

    `size` counts a row as so many (empty: as one). Rows from `n_seen` on are missing: NaN.
    """
    n = rows.shape[0]
    total = 0.0
    for i in range(n_seen):
        total += size[rows[i]] if size.shape[0] > 0 else 1.0
    codes = np.empty(n, np.float32)
    ends = np.empty(n_bins, np.int64)
    before = 0.0  # rows with a smaller value
    passed = 0.0
    bin_here = -1
    last = -1
    for i in range(n_seen):
        row = rows[i]
        if i == 0 or values[row] != values[rows[i - 1]]:
            before = passed
            wanted = int(before * n_bins / total)
            if wanted != last:
                last = wanted
                if bin_here >= 0:
                    ends[bin_here] = i
                bin_here += 1
        passed += size[row] if size.shape[0] > 0 else 1.0
        codes[row] = bin_here
    ends[bin_here] = n_seen
    for i in range(n_seen, n):
        codes[rows[i]] = np.nan
    return codes, ends[: bin_here + 1].copy()


@njit
def fill_entries(
    out: Entries,
    rows: npt.NDArray[np.uint32],
    values: npt.NDArray[np.floating],
    labels: npt.NDArray[np.int32],
    shift: int,
) -> int:
    """Write the entries of one column; returns how many of its values are missing."""
    n_missing = 0
    before = values[rows[0]]
    for i in range(rows.shape[0]):
        r = rows[i]
        value = values[r]
        differs = np.uint64(value != before)
        if value != value:
            differs = np.uint64(n_missing == 0)
            n_missing += 1
        before = value
        out[i] = (np.uint64(r) << np.uint64(shift)) | (np.uint64(labels[r]) << np.uint64(1)) | differs
    return n_missing


@njit
def count_values(values: npt.NDArray[np.floating], rows: npt.NDArray[np.uint32]) -> tuple[int, int]:
    """(number of different values, number of missing ones) of a column in sorted order."""
    n_values = 0
    n_missing = 0
    for i in range(rows.shape[0]):
        value = values[rows[i]]
        if value != value:
            n_missing += 1
        elif i == 0 or value != values[rows[i - 1]]:
            n_values += 1
    return n_values, n_missing
