"""Parts of a sample that is sorted already, and what held-out numbers cost every node on their way."""

import cython
import numpy as np

Entry = cython.fused_type(cython.uint, cython.ulonglong)  # of the lists of all rows
Part = cython.fused_type(cython.uint, cython.ulonglong)  # of the lists of some rows


def filter_lists(
    entries: cython.const[Entry][:, ::1],
    new_row: cython.const[cython.int][::1],
    shift: cython.int,
    n_seen: cython.const[cython.longlong][:],
    out: Part[:, ::1],
):
    """Write the presorted lists of some rows, from those of all: (values, missing values) of each list.

    `new_row` is the new number of each row, -1 where it is left out; new numbers rise with the
    old ones. The first `n_seen` entries of a list are not missing. An entry says whether its
    value differs from the one before: where entries between the two are left out, one of them may.
    """
    n_lists, n = entries.shape[0], entries.shape[1]
    n_left = out.shape[1]
    n_values: cython.longlong[::1] = np.zeros(n_lists, np.int64)
    n_missing: cython.longlong[::1] = np.zeros(n_lists, np.int64)
    one: cython.ulonglong = 1
    label = (one << shift) - 2
    k: cython.Py_ssize_t
    keep: cython.int
    entry: cython.ulonglong
    differs: cython.ulonglong
    n_differ: cython.longlong
    with cython.nogil:
        for j in range(n_lists):
            k = 0
            differs = 0
            n_differ = 0
            for i in range(n):
                if i == n_seen[j]:
                    n_values[j] = n_differ + (k > 0)
                    n_missing[j] = n_left - k
                if k == n_left:
                    if i < n_seen[j]:
                        n_values[j] = n_differ + (k > 0)
                    break
                # Written whether the row stays or not: which one does cannot be foretold.
                entry = entries[j, i]
                differs |= entry & 1
                row = new_row[cython.cast(cython.Py_ssize_t, entry >> shift)]
                keep = row >= 0
                if k == 0:
                    differs = 0
                out[j, k] = (cython.cast(cython.ulonglong, row) << shift) | (entry & label) | differs
                n_differ += differs & keep
                differs &= keep ^ 1
                k += keep
            else:
                if n_seen[j] == n:
                    n_values[j] = n_differ + (k > 0)
    return n_values.base, n_missing.base


def path_losses(
    parent: cython.const[cython.int][:],
    leaf: cython.const[cython.int][:],
    target: cython.const[cython.double][:],
    weight: cython.const[cython.double][:],
    values: cython.const[cython.double][:],
    is_absolute: cython.bint,
):
    """Sums of squared (or absolute) differences from each node's value, and of their squares, over its rows."""
    first: cython.double[::1] = np.zeros(parent.shape[0])
    second: cython.double[::1] = np.zeros(parent.shape[0])
    with cython.nogil:
        for i in range(leaf.shape[0]):
            v = leaf[i]
            while v >= 0:
                difference = target[i] - values[v]
                loss = abs(difference) if is_absolute else difference * difference
                first[v] += weight[i] * loss
                second[v] += weight[i] * loss * loss
                v = parent[v]
    return first.base, second.base
