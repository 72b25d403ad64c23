"""Prunings within a budget, values only: the pre-order walk with few live rows.

Nodes that may be cut stand in a list in pre-order, the heaviest child last. A pruning
is a walk: at i keep (go to i + 1) or cut (go to jump[i], paying charge[i]). Row i holds a
number for every budget; a row is needed until the last node that jumps to it is done,
and with the heaviest child last at most log2(n) + 3 rows are alive at once.
"""

import cython
import numpy as np


def heavy_last(parent: cython.const[cython.int][:], is_listed: cython.const[cython.uchar][:]):
    """(listed nodes in pre-order with the heaviest child last, where each jumps to)."""
    n = parent.shape[0]
    above: cython.longlong[::1] = np.full(n, n, np.int64)  # nearest listed ancestor; n stands above everything
    size: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    heaviest: cython.longlong[::1] = np.full(n + 1, -1, np.int64)
    with cython.nogil:
        for v in range(1, n):
            p = parent[v]
            above[v] = p if is_listed[p] else above[p]
        for v in range(n - 1, -1, -1):
            if is_listed[v]:
                size[v] += 1
                a = above[v]
                size[a] += size[v]
                if heaviest[a] < 0 or size[v] > size[heaviest[a]]:
                    heaviest[a] = v
    position: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    free: cython.longlong[::1] = np.zeros(n + 1, np.int64)  # where the next light child goes
    order: cython.longlong[::1] = np.empty(size[n], np.int64)
    jump: cython.longlong[::1] = np.empty(size[n], np.int64)
    with cython.nogil:
        position[n] = -1
        for v in range(n):
            if is_listed[v]:
                a = above[v]
                if v == heaviest[a]:
                    end = size[n] if a == n else position[a] + size[a]
                    position[v] = end - size[v]
                else:
                    position[v] = position[a] + 1 + free[a]
                    free[a] += size[v]
                order[position[v]] = v
                jump[position[v]] = position[v] + size[v]
    return order.base, jump.base


def row_slots(jump: cython.const[cython.longlong][:]):
    """(memory slot of each row 0..n, number of slots); a slot is free again after its row's last use."""
    n = jump.shape[0]
    uses: cython.longlong[::1] = np.ones(n + 1, np.int64)  # by the row before it
    slot: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    free: cython.longlong[::1] = np.empty(n + 2, np.int64)
    n_free: cython.Py_ssize_t = 0
    n_slots: cython.Py_ssize_t = 1
    with cython.nogil:
        for i in range(n):
            uses[jump[i]] += 1
        for i in range(n - 1, -1, -1):
            if n_free > 0:
                n_free -= 1
                slot[i] = free[n_free]
            else:
                slot[i] = n_slots
                n_slots += 1
            for k in range(2):
                row = i + 1 if k == 0 else jump[i]
                uses[row] -= 1
                if uses[row] == 0:
                    free[n_free] = slot[row]
                    n_free += 1
    return slot.base, n_slots


def greatest_within(
    jump: cython.const[cython.longlong][:],
    charge: cython.const[cython.longlong][:],
    gain: cython.const[cython.longlong][:],
    slot: cython.const[cython.longlong][:],
    n_slots: cython.Py_ssize_t,
    budget: cython.Py_ssize_t,
):
    """Greatest summed gain of cuts whose charges add up to at most `budget`.

    Gains are counts of a sample, whose sums are exact in floats; processors without AVX compare
    two floats at a time, whole numbers of 64 bits only one.
    """
    width = budget + 1
    rows: cython.double[:, ::1] = np.zeros((n_slots, width))
    g: cython.double
    with cython.nogil:
        for i in range(jump.shape[0] - 1, -1, -1):
            a, g = charge[i], gain[i]
            out, keep, cut = slot[i], slot[i + 1], slot[jump[i]]
            for j in range(a):
                rows[out, j] = rows[keep, j]
            for j in range(width - a):
                rows[out, a + j] = max(rows[cut, j] + g, rows[keep, a + j])
    return int(rows[slot[0], budget])


def charge_probabilities(
    jump: cython.const[cython.longlong][:],
    charge: cython.const[cython.longlong][:],
    cut_chance: cython.const[cython.double][:],
    slot: cython.const[cython.longlong][:],
    n_slots: cython.Py_ssize_t,
    budget: cython.Py_ssize_t,
):
    """Pr[charges of the cuts add up to j], j = 0..budget, when a node reached is cut with `cut_chance`."""
    width = budget + 1
    rows: cython.double[:, ::1] = np.zeros((n_slots, width))
    with cython.nogil:
        rows[slot[jump.shape[0]], 0] = 1.0
        for i in range(jump.shape[0] - 1, -1, -1):
            a, s = charge[i], cut_chance[i]
            r = 1.0 - s
            out, keep, cut = slot[i], slot[i + 1], slot[jump[i]]
            for j in range(a):
                rows[out, j] = r * rows[keep, j]
            for j in range(width - a):
                rows[out, a + j] = r * rows[keep, a + j] + s * rows[cut, j]
    return rows.base[slot[0]].copy()
