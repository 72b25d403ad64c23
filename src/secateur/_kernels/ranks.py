"""Find exact order statistics of a column that is read in batches, in any order, in a few passes.

A number becomes a whole number of 64 bits in the same order, its key:

    key  | prefix, 16 bits | digit, 12 bits | digit | digit | digit |

The first pass counts the prefixes of all keys. Every later pass counts the next digit of the keys whose leading bits
are those of a wanted order statistic, or collects these keys once they are few. Each pass costs O(rows) and a search
among the wanted leading bits, which a table of prefixes narrows down.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.context import key_of

PREFIX_BITS = 16
DIGIT_BITS = 12
SIGN_BIT = np.uint64(1 << 63)
PREFIX_SHIFT = cython.declare(cython.int, 64 - PREFIX_BITS)


def prefix_starts(prefixes):
    """Return where each possible prefix begins among the ascending prefixes of keys."""
    return np.searchsorted(prefixes, np.arange((1 << PREFIX_BITS) + 1, dtype=np.uint64)).astype(np.int32)


def sort_keys(values):
    """Return the keys of numbers: whole numbers in the same order; NaN has the largest key."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    return np.where(np.isnan(values), ~np.uint64(0), np.where(bits >> np.uint64(63), ~bits, bits ^ SIGN_BIT))


def values_of_keys(keys):
    """Return the numbers that have these keys."""
    return np.where(keys >> np.uint64(63), keys ^ SIGN_BIT, ~keys).view(np.float64)


def count_prefixes(
    values: cython.const[cython.double][:],
    prefix_counts: cython.longlong[:],
    table: cython.ulonglong[:],
    max_keys: cython.longlong,
    n_different: cython.longlong,
):
    """Count the prefix of every key, and put the keys into a set of at most `max_keys`.

    `table` is the set, a hash table with linear probing; the key of NaN marks a free entry. `n_different` is the number
    of keys in the set. Returns (number of different keys, missing values, infinite values). The set takes in no further
    keys once there are more than `max_keys`.
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
            prefix_counts[cython.cast(cython.Py_ssize_t, key >> PREFIX_SHIFT)] += 1
            if n_different > max_keys or key == before:
                continue
            before = key
            at = ((key * factor) >> 20) & mask
            while table[at] != free and table[at] != key:
                at = (at + 1) & mask
            if table[at] == free:
                n_different += 1
                if n_different <= max_keys:
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
    """Count the next digit of the keys whose leading bits are among `prefixes`, one line of `counts` for each of them.

    `prefixes` are ascending, and `shift` bits of a key follow them. Widens the range from `lowest` to `highest` key of
    each of them.
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
    """Return the keys whose leading bits are among the ascending `prefixes`, which `shift` bits of a key follow."""
    n: cython.Py_ssize_t = 0
    collected = np.empty(values.shape[0], np.uint64)
    keys: cython.ulonglong[::1] = collected
    with cython.nogil:
        for i in range(values.shape[0]):
            if values[i] == values[i]:
                key = key_of(values[i])
                if _find(prefixes, starts, key, shift) >= 0:
                    keys[n] = key
                    n += 1
    return collected[:n].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find(
    prefixes: cython.const[cython.ulonglong][:],
    starts: cython.const[cython.int][:],
    key: cython.ulonglong,
    shift: cython.int,
) -> cython.Py_ssize_t:
    """Find the prefix of a key among ascending prefixes, by bisection; return its line, or -1 if it is none of them."""
    prefix = key >> shift
    at: cython.Py_ssize_t = key >> PREFIX_SHIFT
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
