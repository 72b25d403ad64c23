"""Order statistics of a column that is read batch after batch, exact and in any order.

A number becomes a whole number of 64 bits in the same order (its key). The first pass counts
the first 16 bits of every key; each later one counts the next 12 bits of those keys that may
be a wanted order statistic, or, once they are few, collects them.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.context import key_of

PREFIX_BITS = 16
DIGIT_BITS = 12
TOP = np.uint64(1 << 63)
REST = cython.declare(cython.int, 64 - PREFIX_BITS)


def prefix_starts(top):
    """Where among rising keys, of which `top` are the first bits, each possible beginning begins."""
    return np.searchsorted(top, np.arange((1 << PREFIX_BITS) + 1, dtype=np.uint64)).astype(np.int32)


def sort_keys(values):
    """Return whole numbers in the order of the numbers; NaN has the largest."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)  # minus zero is zero
    return np.where(np.isnan(values), ~np.uint64(0), np.where(bits >> np.uint64(63), ~bits, bits ^ TOP))


def values_of_keys(keys):
    """Return the numbers behind keys."""
    return np.where(keys >> np.uint64(63), keys ^ TOP, ~keys).view(np.float64)


def count_prefixes(
    values: cython.const[cython.double][:],
    top: cython.longlong[:],
    table: cython.ulonglong[:],
    most: cython.longlong,
    n_different: cython.longlong,
):
    """Count the first bits of each value's key, and put its key into a set of at most `most`.

    Returns (different values so far, missing, infinite); more than `most` stops the set.
    `table` is the set: places tried one after the other, NaN's key marking a free one.
    """
    nothing: cython.ulonglong = 0
    free: cython.ulonglong = ~nothing
    factor: cython.ulonglong = 0x9E3779B97F4A7C15
    mask: cython.ulonglong = table.shape[0] - 1
    before = free
    n_missing: cython.longlong = 0
    n_infinite: cython.longlong = 0
    with cython.nogil:
        for i in range(values.shape[0]):
            x = values[i]
            if x != x:
                n_missing += 1
                continue
            n_infinite += x - x != 0
            key = key_of(x)
            top[cython.cast(cython.Py_ssize_t, key >> REST)] += 1
            if n_different > most or key == before:
                continue
            before = key
            at = ((key * factor) >> 20) & mask
            while table[at] != free and table[at] != key:
                at = (at + 1) & mask
            if table[at] == free:
                n_different += 1
                if n_different <= most:
                    table[at] = key
    return n_different, n_missing, n_infinite


def count_digits(
    values: cython.const[cython.double][:],
    prefixes: cython.const[cython.ulonglong][:],
    starts: cython.const[cython.int][:],
    shift: cython.int,
    counts: cython.longlong[:, :],
    lowest: cython.ulonglong[:],
    highest: cython.ulonglong[:],
):
    """Count the next bits of the keys that begin with one of `prefixes` (rising), each in its line.

    `shift` bits follow the prefix. Also stretches the lowest and highest key of each prefix.
    """
    rest: cython.int = shift - DIGIT_BITS if shift > DIGIT_BITS else 0
    mask: cython.ulonglong = (1 << DIGIT_BITS) - 1
    with cython.nogil:
        for i in range(values.shape[0]):
            if values[i] != values[i]:
                continue
            key = key_of(values[i])
            line = _find(prefixes, starts, key, shift)
            if line >= 0:
                counts[line, cython.cast(cython.Py_ssize_t, (key >> rest) & mask)] += 1
                if key < lowest[line]:
                    lowest[line] = key
                if key > highest[line]:
                    highest[line] = key


def collect_keys(
    values: cython.const[cython.double][:],
    prefixes: cython.const[cython.ulonglong][:],
    starts: cython.const[cython.int][:],
    shift: cython.int,
):
    """Return the keys that begin with one of `prefixes` (rising), which `shift` bits follow."""
    n: cython.Py_ssize_t = 0
    found = np.empty(values.shape[0], np.uint64)
    keys: cython.ulonglong[::1] = found
    with cython.nogil:
        for i in range(values.shape[0]):
            if values[i] == values[i]:
                key = key_of(values[i])
                if _find(prefixes, starts, key, shift) >= 0:
                    keys[n] = key
                    n += 1
    return found[:n].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find(
    prefixes: cython.const[cython.ulonglong][:],
    starts: cython.const[cython.int][:],
    key: cython.ulonglong,
    shift: cython.int,
) -> cython.Py_ssize_t:
    prefix = key >> shift
    at: cython.Py_ssize_t = key >> REST
    first: cython.Py_ssize_t = starts[at]
    end: cython.Py_ssize_t = starts[at + 1]
    last: cython.Py_ssize_t = end
    while first < last:
        middle = (first + last) >> 1
        if prefixes[middle] < prefix:
            first = middle + 1
        else:
            last = middle
    return first if first < end and prefixes[first] == prefix else -1
