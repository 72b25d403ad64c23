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
def sorted_rows(keys: npt.NDArray[np.uint64], n_bits: int) -> npt.NDArray[np.uint32]:
    """Row numbers in order of their key, equal keys in order of row. `keys` is overwritten.

    Radix sort from the lowest digit; digits that are the same everywhere cost nothing.
    """
    n = keys.shape[0]
    n_passes = (n_bits + DIGIT - 1) // DIGIT
    size = 1 << DIGIT
    mask = np.uint64(size - 1)
    count = np.zeros((n_passes, size), np.int64)
    for i in range(n):
        key = keys[i]
        for p in range(n_passes):
            count[p, (key >> np.uint64(p * DIGIT)) & mask] += 1
    rows = np.empty(n, np.uint32)
    for i in range(n):
        rows[i] = i
    other_keys = np.empty(n, np.uint64)
    other_rows = np.empty(n, np.uint32)
    for p in range(n_passes):
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
def order_keys_32(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
    """Whole numbers in the order of the values; NaN last, -0.0 like 0.0."""
    bits = values.view(np.uint32)
    keys = np.empty(values.shape[0], np.uint64)
    for i in range(values.shape[0]):
        b = bits[i]
        if values[i] != values[i]:
            keys[i] = np.uint64(0xFFFFFFFF)
        elif b == np.uint32(0x80000000):
            keys[i] = np.uint64(0x80000000)
        elif b >> np.uint32(31):
            keys[i] = np.uint64(b ^ np.uint32(0xFFFFFFFF))
        else:
            keys[i] = np.uint64(b ^ np.uint32(0x80000000))
    return keys


@njit
def order_keys_64(values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    """Whole numbers in the order of the values; NaN last, -0.0 like 0.0."""
    bits = values.view(np.uint64)
    top = np.uint64(1) << np.uint64(63)
    keys = np.empty(values.shape[0], np.uint64)
    for i in range(values.shape[0]):
        b = bits[i]
        if values[i] != values[i]:
            keys[i] = ~np.uint64(0)
        elif b == top:
            keys[i] = top
        elif b >> np.uint64(63):
            keys[i] = ~b
        else:
            keys[i] = b ^ top
    return keys


@njit
def ranks(values: npt.NDArray[np.floating], rows: npt.NDArray[np.uint32], n_seen: int) -> npt.NDArray[np.int32]:
    """The number of distinct smaller values, per row; rows from `n_seen` on are missing: one rank above all."""
    rank = np.empty(values.shape[0], np.int32)
    current = 0
    for i in range(values.shape[0]):
        r = rows[i]
        if i > 0 and (i == n_seen or (i < n_seen and values[r] != values[rows[i - 1]])):
            current += 1
        rank[r] = current
    return rank


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
