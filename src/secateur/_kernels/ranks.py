"""Order statistics of a column that is read batch after batch, exact and in any order.

A number becomes a whole number of 64 bits in the same order (its key). The first pass counts
the first 16 bits of every key; each later one counts the next 12 bits of those keys that may
be a wanted order statistic, or, once they are few, collects them.
"""

from typing import Any

import numpy as np

from ._jit import njit, njit_inner

TOP_BITS = 16
MORE_BITS = 12


@njit_inner
def key_of(bits: Any) -> Any:
    """The key of a number, from its bits."""
    top = np.uint64(1) << np.uint64(63)
    if bits == top:  # minus zero is zero
        bits = np.uint64(0)
    return ~bits if bits >> np.uint64(63) else bits ^ top


def starts_of(top: Any) -> Any:
    """Where among rising keys, of which `top` are the first bits, each possible beginning begins."""
    return np.searchsorted(top, np.arange((1 << TOP_BITS) + 1, dtype=np.uint64)).astype(np.int32)


@njit
def keys_of(values: Any) -> Any:
    """Return whole numbers in the order of the numbers; NaN has the largest."""
    bits = values.view(np.uint64)
    keys = np.empty(values.shape[0], np.uint64)
    for i in range(values.shape[0]):
        keys[i] = key_of(bits[i]) if values[i] == values[i] else ~np.uint64(0)
    return keys


@njit
def values_of(keys: Any) -> Any:
    """Return the numbers behind keys."""
    top = np.uint64(1) << np.uint64(63)
    bits = np.empty(keys.shape[0], np.uint64)
    for i in range(keys.shape[0]):
        bits[i] = keys[i] ^ top if keys[i] >> np.uint64(63) else ~keys[i]
    return bits.view(np.float64)


@njit
def survey(values: Any, top: Any, table: Any, most: Any, n_different: Any) -> Any:
    """Count the first bits of each value's key, and put its key into a set of at most `most`.

    Returns (different values so far, missing, infinite); more than `most` stops the set.
    `table` is the set: places tried one after the other, NaN's key marking a free one.
    """
    bits = values.view(np.uint64)
    free = ~np.uint64(0)
    mask = np.uint64(table.shape[0] - 1)
    n_missing = 0
    n_infinite = 0
    before = free
    for i in range(values.shape[0]):
        x = values[i]
        if x != x:
            n_missing += 1
            continue
        n_infinite += x - x != 0
        key = key_of(bits[i])
        top[key >> np.uint64(64 - TOP_BITS)] += 1
        if n_different > most or key == before:
            continue
        before = key
        at = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
        while table[at] != free and table[at] != key:
            at = (at + np.uint64(1)) & mask
        if table[at] == free:
            n_different += 1
            if n_different <= most:
                table[at] = key
    return n_different, n_missing, n_infinite


@njit
def refine(values: Any, prefixes: Any, starts: Any, shift: Any, counts: Any, lowest: Any, highest: Any) -> Any:
    """Count the next bits of the keys that begin with one of `prefixes` (rising), each in its line.

    `shift` bits follow the prefix. Also stretches the lowest and highest key of each prefix.
    """
    bits = values.view(np.uint64)
    move = np.uint64(shift)
    rest = np.uint64(max(shift - MORE_BITS, 0))
    mask = np.uint64((1 << MORE_BITS) - 1)
    for i in range(values.shape[0]):
        if values[i] != values[i]:
            continue
        key = key_of(bits[i])
        line = _find(prefixes, starts, key, move)
        if line >= 0:
            counts[line, (key >> rest) & mask] += 1
            if key < lowest[line]:
                lowest[line] = key
            if key > highest[line]:
                highest[line] = key


@njit
def collect(values: Any, prefixes: Any, starts: Any, shift: Any) -> Any:
    """Return the keys that begin with one of `prefixes` (rising), which `shift` bits follow."""
    bits = values.view(np.uint64)
    move = np.uint64(shift)
    found = np.empty(values.shape[0], np.uint64)
    n = 0
    for i in range(values.shape[0]):
        if values[i] == values[i]:
            key = key_of(bits[i])
            if _find(prefixes, starts, key, move) >= 0:
                found[n] = key
                n += 1
    return found[:n].copy()


@njit_inner
def _find(prefixes: Any, starts: Any, key: Any, shift: Any) -> Any:
    prefix = key >> shift
    at = key >> np.uint64(64 - TOP_BITS)
    first, end = starts[at], starts[at + np.uint64(1)]
    last = end
    while first < last:
        middle = (first + last) >> 1
        if prefixes[middle] < prefix:
            first = middle + 1
        else:
            last = middle
    return first if first < end and prefixes[first] == prefix else -1
