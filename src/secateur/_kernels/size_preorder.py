"""The pre-order budget walk: the best value within every budget, one decision bit per cell.

Internal nodes in pre-order are stations 0..n-1. At station i a pruning either *keeps*
(pays `charge[i, 1]` of the budget, adds `value[i, 1]`, goes to i + 1) or *cuts* (pays
`charge[i, 0]`, adds `value[i, 0]`, goes to `jump[i]`, the first station outside the
subtree). Row i is the least value of the rest of the walk for every budget:

    F[i][j] = min( F[jump[i]][j - charge[i, 0]] + value[i, 0],  F[i + 1][j - charge[i, 1]] + value[i, 1] )

Time is stations x budget for every shape of tree. Rows still needed form a stack: the
subtrees of two stations are nested or apart, so what is read last was written first.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._jit import njit

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


class BudgetWalk(NamedTuple):
    """Least values of the whole walk by budget, and what is needed to walk it again."""

    best: Numbers
    jump: Longs
    charge: Longs
    bit_start: Longs
    bits: Bytes

    def kept(self, budget: int) -> Bools:
        """Which stations the best walk of this budget keeps; it keeps wherever keeping is no worse."""
        return walk_forward(self.jump, self.charge, self.bit_start, self.bits, budget)


def budget_walk(jump: Longs, charge: Longs, value: Numbers, width: Longs, rule: Numbers) -> BudgetWalk:
    """Return the table of a walk.

    `width[i]` is the number of budgets row i needs; the last row is all zeros, so a width
    of 1 asks for budgets spent to the full and a full width for budgets as upper limits.
    `rule` is (absent, slack): the value of what cannot be, and how much worse still ties.
    """
    bit_start = np.append(0, np.cumsum((width[:-1] + 7) // 8)).astype(np.int64)
    last_use = _last_uses(jump)
    capacity = _stack_capacity(jump, width, last_use)
    best, bits = _fill_rows(jump, charge, value, width, rule, (bit_start, last_use, capacity))
    return BudgetWalk(best, jump, charge, bit_start, bits)


def station_jumps(end: npt.NDArray[np.int32], internal: npt.NDArray[np.int32]) -> Longs:
    """The first station outside the subtree of each internal node."""
    return np.searchsorted(internal, end[internal]).astype(np.int64)


@njit
def _last_uses(jump: Longs) -> Longs:
    """The first station that jumps to each station (going backwards: the last); -1 if none."""
    first = np.full(jump.shape[0] + 1, -1, np.int64)
    for i in range(jump.shape[0] - 1, -1, -1):
        first[jump[i]] = i
    return first


@njit
def _stack_capacity(jump: Longs, width: Longs, last_use: Longs) -> Any:
    """The most cells that are alive at once."""
    n = jump.shape[0]
    alive = most = width[n]
    for i in range(n - 1, -1, -1):
        if last_use[jump[i]] == i:
            alive -= width[jump[i]]
        if last_use[i] >= 0:
            alive += width[i]
        most = max(most, alive)
    return most


@njit
def _fill_rows(
    jump: Longs, charge: Longs, value: Numbers, width: Longs, rule: Numbers, plan: Any
) -> tuple[Numbers, Bytes]:
    n = jump.shape[0]
    absent, slack = rule[0], rule[1]
    bit_start, last_use, capacity = plan
    widest = width.max()
    bits = np.zeros(bit_start[n], np.uint8)
    stack = np.empty(capacity, value.dtype)
    row, cut = np.empty(widest, value.dtype), np.empty(widest, value.dtype)
    top = width[n]  # cells in use; row jump[i] is always the uppermost on the stack
    stack[:top] = 0
    row[:top] = 0
    n_row = top
    for i in range(n - 1, -1, -1):
        w = width[i]
        _shift(stack[top - width[jump[i]] : top], cut, w, charge[i, 0], value[i, 0], absent)
        _shift_in_place(row, n_row, w, charge[i, 1], value[i, 1], absent)
        n_row = w
        byte = np.uint8(0)
        at = bit_start[i]
        for j in range(w):
            if row[j] <= cut[j] + slack and row[j] < absent:
                byte |= np.uint8(1 << (j & 7))
            if j & 7 == 7:
                bits[at + (j >> 3)] = byte
                byte = np.uint8(0)
        if w & 7:
            bits[at + (w >> 3)] = byte
        for j in range(w):
            row[j] = min(row[j], cut[j])
        if last_use[jump[i]] == i:
            top -= width[jump[i]]
        if last_use[i] >= 0:
            stack[top : top + w] = row[:w]
            top += w
    return row[:n_row].copy(), bits


@njit
def _shift(source: Numbers, target: Numbers, w: Any, by: Any, add: Any, absent: Any) -> None:
    """target[j] = source[j - by] + add for j < w, `absent` where there is no source."""
    low = min(by, w)
    high = min(by + source.shape[0], w)
    target[:low] = absent
    for j in range(low, high):
        v = source[j - by]
        target[j] = v + add if v < absent else absent
    target[max(high, low) : w] = absent


@njit
def _shift_in_place(row: Numbers, n_row: Any, w: Any, by: Any, add: Any, absent: Any) -> None:
    low = min(by, w)
    high = min(by + n_row, w)
    for j in range(high - 1, low - 1, -1):
        v = row[j - by]
        row[j] = v + add if v < absent else absent
    row[:low] = absent
    row[max(high, low) : w] = absent


@njit
def walk_forward(jump: Longs, charge: Longs, bit_start: Longs, bits: Bytes, budget: int) -> Bools:
    """Stations kept by the best walk with this budget."""
    n = jump.shape[0]
    kept = np.zeros(n, np.bool_)
    i, j = 0, budget
    while i < n:
        if bits[bit_start[i] + (j >> 3)] >> (j & 7) & 1:
            kept[i] = True
            j -= charge[i, 1]
            i += 1
        else:
            j -= charge[i, 0]
            i = jump[i]
    return kept
