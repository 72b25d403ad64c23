"""The best set of cuts for every budget at once: a tree knapsack that skips subtrees.

Items stand in pre-order. A walk reads them from the left: at item i it either goes on to
i + 1 (keep) or takes the item (cut), pays `charge[i]`, adds `value[i]` and jumps to
`jump[i]`, past everything under it. With F[n][j] = 0 for every j,

    F[i][j] = min(F[i + 1][j],  F[jump[i]][j - charge[i]] + value[i])

is the least value of a walk from i on within budget j, so F[0] answers every budget.
A row is two shifted rows and one minimum, whatever the arity of the tree.

Only rows that somebody will still jump to are alive. If the child with most items comes last
(`order_heavy_child_last`), it jumps where its parent does, and at most log2(n) + 3 rows are alive at once.

An item is usually a node. Several items with the same jump, one after the other, are
several ways to cut the same node.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Bools, Floats, Ints, Longs, Number, Numbers


def jumps(end, n_items):
    """Where each item jumps to, when node v holds `n_items[v]` items in pre-order."""
    before = np.append(0, np.cumsum(n_items))
    return np.repeat(before[end], n_items)


def order_heavy_child_last(parent: Ints, is_listed: Bools):
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


def assign_row_slots(jump: Longs):
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


def min_values_and_cuts(jump: Longs, charge: Longs, value: Longs, budget: cython.Py_ssize_t):
    """The least value within each budget 0..`budget`, and one bit per item and budget: is cutting strictly better?"""
    n = jump.shape[0]
    found, n_slots = assign_row_slots(jump)
    slot: cython.longlong[::1] = found
    rows: cython.longlong[:, ::1] = np.zeros((n_slots, budget + 1), np.int64)
    is_better: cython.uchar[:, ::1] = np.zeros((n, budget // 8 + 1), np.uint8)
    better: cython.uchar[::1] = np.zeros(8 * is_better.shape[1], np.uint8)
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            best, keep, after = slot[i], slot[i + 1], slot[jump[i]]
            a, b = min(charge[i], budget + 1), value[i]
            for j in range(a):
                rows[best, j] = rows[keep, j]
                better[j] = 0
            for j in range(budget + 1 - a):
                cut = rows[after, j] + b
                better[a + j] = cut < rows[keep, a + j]
                rows[best, a + j] = min(rows[keep, a + j], cut)
            _pack(better, is_better, i)
    return rows.base[slot[0]].copy(), is_better.base


def min_pairs_and_cuts(
    jump: Longs, charge: Longs, cost: Floats, size: Longs, budget: cython.Py_ssize_t, tolerance: cython.double
):
    """`min_values_and_cuts` of the pairs (cost, size), costs within `tolerance` being equal.

    Only for costs that are real numbers: whole ones are packed with the size in one value.
    """
    n = jump.shape[0]
    found, n_slots = assign_row_slots(jump)
    slot: cython.longlong[::1] = found
    costs: cython.double[:, ::1] = np.zeros((n_slots, budget + 1))
    sizes: cython.longlong[:, ::1] = np.zeros((costs.shape[0], budget + 1), np.int64)
    is_better: cython.uchar[:, ::1] = np.zeros((n, budget // 8 + 1), np.uint8)
    better: cython.uchar[::1] = np.zeros(8 * is_better.shape[1], np.uint8)
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            best, keep, after = slot[i], slot[i + 1], slot[jump[i]]
            a = min(charge[i], budget + 1)
            for j in range(budget + 1):
                cheaper, smaller = costs[keep, j], sizes[keep, j]
                better[j] = 0
                if j >= a:
                    cut_cost, cut_size = costs[after, j - a] + cost[i], sizes[after, j - a] + size[i]
                    gain = cheaper - cut_cost
                    if gain > tolerance or (gain >= -tolerance and cut_size < smaller):
                        cheaper, smaller = cut_cost, cut_size
                        better[j] = 1
                costs[best, j] = cheaper
                sizes[best, j] = smaller
            _pack(better, is_better, i)
    return costs.base[slot[0]].copy(), sizes.base[slot[0]].copy(), is_better.base


def walk(jump: Longs, charge: Longs, is_better: cython.const[cython.uchar][:, :], budget: cython.Py_ssize_t):
    """The items cut by the best walk within `budget`; it keeps whenever keeping is as good."""
    n = jump.shape[0]
    is_cut: cython.uchar[::1] = np.zeros(n, np.bool_)
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = budget
    with cython.nogil:
        while i < n:
            if (is_better[i, j >> 3] >> (j & 7)) & 1:
                is_cut[i] = True
                j -= charge[i]
                i = jump[i]
            else:
                i += 1
    return is_cut.base


def max_gain_within(jump, charge, gain, budget):
    """Greatest summed gain of cuts whose charges add up to at most `budget`.

    Sums of gains are mostly exact in floats, and processors without AVX compare two floats at a
    time, whole numbers of 64 bits only one.
    """
    is_exact = np.abs(gain).sum(dtype=np.float64) < 2.0**53
    return int(_combined(jump, charge, gain.astype(np.float64) if is_exact else gain, budget, False)[budget])


def charge_probabilities(jump, charge, cut_chance, budget):
    """Pr[charges of the cuts add up to j], j = 0..budget, when a node reached is cut with `cut_chance`."""
    return _combined(jump, charge, cut_chance, budget, True)


def _combined(jump: Longs, charge: Longs, value: Numbers, budget: cython.Py_ssize_t, is_chance: cython.bint):
    """The first row: the greatest sums of `value` by budget, or the chances of each sum of charges."""
    width = budget + 1
    found, n_slots = assign_row_slots(jump)
    slot: cython.longlong[::1] = found
    rows: Number[:, ::1] = np.zeros((n_slots, width), value.base.dtype)
    with cython.nogil:
        if is_chance:
            rows[slot[jump.shape[0]], 0] = 1
        for i in range(jump.shape[0] - 1, -1, -1):
            a, s = min(charge[i], width), value[i]
            r = 1 - s if is_chance else 1
            out, keep, cut = slot[i], slot[i + 1], slot[jump[i]]
            for j in range(a):
                rows[out, j] = r * rows[keep, j]
            if is_chance:
                for j in range(width - a):
                    rows[out, a + j] = r * rows[keep, a + j] + s * rows[cut, j]
            else:
                for j in range(width - a):
                    rows[out, a + j] = max(rows[cut, j] + s, rows[keep, a + j])
    return rows.base[slot[0]].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pack(bits: cython.uchar[::1], into: cython.uchar[:, ::1], i: cython.Py_ssize_t) -> cython.void:
    """Eight 0/1 bytes to a byte of line i, the lowest bit first."""
    byte: cython.uint
    for k in range(into.shape[1]):
        byte = 0
        for t in range(8):
            byte |= bits[8 * k + t] << t
        into[i, k] = byte
