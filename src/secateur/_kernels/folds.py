"""Kernels of cross-validation: the presorted lists of a subset of the rows, and the losses of held-out numbers.

A list of all rows is in order, so the list of a subset is what remains after the other rows are left out. No sort is
needed: one pass costs O(rows) per list.
"""

import cython
import numpy as np

Entry = cython.fused_type(cython.uint, cython.ulonglong)  # in the lists of all rows
SubsetEntry = cython.fused_type(cython.uint, cython.ulonglong)  # in the lists of the subset


def filter_lists(
    entries: cython.const[Entry][:, ::1],
    new_row: cython.const[cython.int][::1],
    shift: cython.int,
    n_known: cython.const[cython.longlong][:],
    out: SubsetEntry[:, ::1],
):
    """Write the presorted lists of a subset of the rows; return (different values, missing values) of each list.

    `new_row` is the number of each row in the subset, in the same order, and -1 for rows outside. The first `n_known`
    entries of a list are not missing. The difference bit of an entry compares it with the entry before. If entries in
    between are left out, the bit is set if any of them, or the entry itself, differs from the one before it.
    """
    n_lists, n = entries.shape[0], entries.shape[1]
    n_subset = out.shape[1]
    n_values: cython.longlong[::1] = np.zeros(n_lists, np.int64)
    n_missing: cython.longlong[::1] = np.zeros(n_lists, np.int64)
    one: cython.ulonglong = 1
    label_mask = (one << shift) - 2
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
                if i == n_known[j]:
                    n_values[j] = n_differ + (k > 0)
                    n_missing[j] = n_subset - k
                if k == n_subset:
                    if i < n_known[j]:
                        n_values[j] = n_differ + (k > 0)
                    break
                # The entry is written even if its row is left out: a branch would be unpredictable, and slower.
                entry = entries[j, i]
                differs |= entry & 1
                row = new_row[cython.cast(cython.Py_ssize_t, entry >> shift)]
                keep = row >= 0
                if k == 0:
                    differs = 0
                out[j, k] = (cython.cast(cython.ulonglong, row) << shift) | (entry & label_mask) | differs
                n_differ += differs & keep
                differs &= keep ^ 1
                k += keep
            else:
                if n_known[j] == n:
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
    """Return, for each node, the weighted sums of the losses of its rows and of the squares of these losses.

    The loss of a row at a node is the squared difference between its target and the value of the node, or the absolute
    difference if `is_absolute`. A row counts at the node `leaf` that it reaches and at all nodes above.
    """
    sums: cython.double[::1] = np.zeros(parent.shape[0])
    sums_of_squares: cython.double[::1] = np.zeros(parent.shape[0])
    with cython.nogil:
        for i in range(leaf.shape[0]):
            v = leaf[i]
            while v >= 0:
                difference = target[i] - values[v]
                loss = abs(difference) if is_absolute else difference * difference
                sums[v] += weight[i] * loss
                sums_of_squares[v] += weight[i] * loss * loss
                v = parent[v]
    return sums.base, sums_of_squares.base
