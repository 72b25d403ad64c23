"""Parts of a sample that is sorted already, and what held-out numbers cost every node on their way."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._jit import njit

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@njit
def filter_lists(entries: Any, new_row: Any, shift: int, n_seen: Longs, out: Any) -> tuple[Longs, Longs]:
    """Write the presorted lists of some rows, from those of all: (values, missing values) of each list.

    `new_row` is the new number of each row, -1 where it is left out; new numbers rise with the
    old ones. The first `n_seen` entries of a list are not missing. An entry says whether its
    value differs from the one before: where entries between the two are left out, one of them may.
    """
    n_lists, n = entries.shape
    n_values, n_missing = np.zeros(n_lists, np.int64), np.zeros(n_lists, np.int64)
    width = np.uint64(shift)
    label = (np.uint64(1) << width) - np.uint64(2)
    for j in range(n_lists):
        k = 0
        differs = np.uint64(0)
        n_differ, n_before_missing = 0, 0
        for i in range(n):
            if i == n_seen[j]:
                n_before_missing = k
                n_values[j] = n_differ
            entry = np.uint64(entries[j, i])
            differs |= entry & np.uint64(1)
            row = new_row[entry >> width]
            if row >= 0:
                if k == 0:
                    differs = np.uint64(0)
                out[j, k] = (np.uint64(row) << width) | (entry & label) | differs
                n_differ += np.int64(differs)  # type: ignore[assignment]
                differs = np.uint64(0)
                k += 1
        if n_seen[j] == n:
            n_before_missing = k
            n_values[j] = n_differ
        n_missing[j] = k - n_before_missing
        n_values[j] += np.int64(n_before_missing > 0)
    return n_values, n_missing


@njit
def path_losses(parent: Any, leaf: Any, target: Any, weight: Any, values: Any) -> tuple[Floats, Floats]:
    """Sums of squared differences from each node's value, and of their squares, over the rows that reach it."""
    first, second = np.zeros(parent.shape[0]), np.zeros(parent.shape[0])
    for i in range(leaf.shape[0]):
        v = np.int64(leaf[i])
        while v >= 0:
            loss = (target[i] - values[v]) ** 2
            first[v] += weight[i] * loss
            second[v] += weight[i] * loss * loss
            v = np.int64(parent[v])
    return first, second
