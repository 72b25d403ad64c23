"""Prunings within a budget, values only: the pre-order walk with few live rows.

Nodes that may be cut stand in a list in pre-order, the heaviest child last. A pruning
is a walk: at i keep (go to i + 1) or cut (go to jump[i], paying charge[i]). Row i holds a
number for every budget; a row is needed until the last node that jumps to it is done,
and with the heaviest child last at most log2(n) + 3 rows are alive at once.
"""

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@njit
def heavy_last(parent: Ints, is_listed: Bools) -> tuple[Longs, Longs]:
    """(listed nodes in pre-order with the heaviest child last, where each jumps to)."""
    n = parent.shape[0]
    above = np.full(n, n, np.int64)  # nearest listed ancestor; n stands above everything
    for v in range(1, n):
        p = parent[v]
        above[v] = p if is_listed[p] else above[p]
    size = np.zeros(n + 1, np.int64)
    heaviest = np.full(n + 1, -1, np.int64)
    for v in range(n - 1, -1, -1):
        if is_listed[v]:
            size[v] += 1
            p = above[v]
            size[p] += size[v]
            if heaviest[p] < 0 or size[v] > size[heaviest[p]]:
                heaviest[p] = v
    position = np.zeros(n + 1, np.int64)
    free = np.zeros(n + 1, np.int64)  # where the next light child goes
    position[n] = -1
    order = np.empty(size[n], np.int64)
    jump = np.empty(size[n], np.int64)
    for v in range(n):
        if is_listed[v]:
            p = above[v]
            if v == heaviest[p]:
                end = size[n] if p == n else position[p] + size[p]
                position[v] = end - size[v]
            else:
                position[v] = position[p] + 1 + free[p]
                free[p] += size[v]
            order[position[v]] = v
            jump[position[v]] = position[v] + size[v]
    return order, jump


@njit
def row_slots(jump: Longs) -> tuple[Longs, int]:
    """(memory slot of each row 0..n, number of slots); a slot is free again after its row's last use."""
    n = jump.shape[0]
    uses = np.ones(n + 1, np.int64)  # by the row before it
    for i in range(n):
        uses[jump[i]] += 1
    slot = np.zeros(n + 1, np.int64)
    free = np.empty(n + 2, np.int64)
    n_free = 0
    n_slots = 1
    for i in range(n - 1, -1, -1):
        if n_free > 0:
            n_free -= 1
            slot[i] = free[n_free]
        else:
            slot[i] = n_slots
            n_slots += 1
        for row in (i + 1, jump[i]):
            uses[row] -= 1
            if uses[row] == 0:
                free[n_free] = slot[row]
                n_free += 1
    return slot, n_slots


@njit
def greatest_within(jump: Longs, charge: Longs, gain: Longs, slot: Longs, n_slots: int, budget: int) -> int:
    """Greatest summed gain of cuts whose charges add up to at most `budget`."""
    width = budget + 1
    rows = np.zeros((n_slots, width), np.int64)
    for i in range(jump.shape[0] - 1, -1, -1):
        a = charge[i]
        g = gain[i]
        rows[slot[i], :a] = rows[slot[i + 1], :a]
        # All three indexed from 0: the loop then runs on whole vectors.
        out = rows[slot[i], a:]
        keep = rows[slot[i + 1], a:]
        cut = rows[slot[jump[i]], : width - a]
        for j in range(out.shape[0]):
            out[j] = max(cut[j] + g, keep[j])
    greatest: int = rows[slot[0], budget]
    return greatest


@njit
def charge_probabilities(
    jump: Longs, charge: Longs, cut_chance: Floats, slot: Longs, n_slots: int, budget: int
) -> Floats:
    """Pr[charges of the cuts add up to j], j = 0..budget, when a node reached is cut with `cut_chance`."""
    width = budget + 1
    rows = np.zeros((n_slots, width))
    rows[slot[jump.shape[0]], 0] = 1.0
    for i in range(jump.shape[0] - 1, -1, -1):
        a = charge[i]
        s = cut_chance[i]
        r = 1.0 - s
        rows[slot[i], :a] = r * rows[slot[i + 1], :a]
        out = rows[slot[i], a:]
        keep = rows[slot[i + 1], a:]
        cut = rows[slot[jump[i]], : width - a]
        for j in range(out.shape[0]):
            out[j] = r * keep[j] + s * cut[j]
    chances: Floats = rows[slot[0]].copy()
    return chances
