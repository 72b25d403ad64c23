"""The best set of cuts for every budget at once: a knapsack over a tree in which a cut skips a subtree.

The items, in pre-order, are the cuts that may be made. A walk reads them from the left. At item i it either goes on
to item i + 1 (keep), or takes the item (cut): it pays `charge[i]`, adds `value[i]` and jumps to `jump[i]`, the first
item outside the subtree of the node that is cut.

    items    0   1   2   3   4   5 ... n        jump[1] = 4: items 1, 2 and 3 belong to one subtree
                 |--------->|

Row i holds the least value of a walk from item i on for every budget j; row n is all zeros, and row 0 is the result:

    F[i][j] = min( F[i + 1][j],  F[jump[i]][j - charge[i]] + value[i] )

An item is usually a node. Consecutive items with the same jump are different ways to cut one node.

Cost: time is items x budget, whatever the arity of the tree (a row is the minimum of two shifted rows). Row i is
needed until the first item that jumps to item i has been computed; until then it occupies one slot of memory. If the
child with the most items comes last (`order_heavy_child_last`), at most log2(n) + 3 rows are needed at the same time.
The decisions take one bit for each item and budget.
"""

import cython
import numpy as np
from cython.cimports.secateur._kernels.views import Bools, Floats, Ints, Longs, Number, Numbers


def jump_targets(end, n_items):
    """Return where each item jumps to, if node v holds `n_items[v]` items in pre-order."""
    n_items_before = np.append(0, np.cumsum(n_items))
    return np.repeat(n_items_before[end], n_items)


def order_heavy_child_last(parent: Ints, is_listed: Bools):
    """Return the listed nodes in pre-order with the heaviest child last, and where each jumps to.

    A child is heaviest if its subtree holds the most listed nodes. Nodes that are not listed are passed over: the
    parent of a listed node is its nearest listed ancestor. Nodes without a
    listed ancestor get the parent n, one more than the largest node number.
    """
    n = parent.shape[0]
    listed_parent: cython.longlong[::1] = np.full(n, n, np.int64)
    size: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    heaviest: cython.longlong[::1] = np.full(n + 1, -1, np.int64)
    with cython.nogil:
        for v in range(1, n):
            p = parent[v]
            listed_parent[v] = p if is_listed[p] else listed_parent[p]
        for v in range(n - 1, -1, -1):
            if is_listed[v]:
                size[v] += 1
                p = listed_parent[v]
                size[p] += size[v]
                if heaviest[p] < 0 or size[v] > size[heaviest[p]]:
                    heaviest[p] = v
    position: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    n_placed: cython.longlong[::1] = np.zeros(n + 1, np.int64)  # nodes below the children placed so far
    order: cython.longlong[::1] = np.empty(size[n], np.int64)
    jump: cython.longlong[::1] = np.empty(size[n], np.int64)
    with cython.nogil:
        position[n] = -1
        for v in range(n):
            if is_listed[v]:
                p = listed_parent[v]
                if v == heaviest[p]:
                    end = size[n] if p == n else position[p] + size[p]
                    position[v] = end - size[v]
                else:
                    position[v] = position[p] + 1 + n_placed[p]
                    n_placed[p] += size[v]
                order[position[v]] = v
                jump[position[v]] = position[v] + size[v]
    return order.base, jump.base


def assign_row_slots(jump: Longs):
    """Return the memory slot of each row 0, ..., n, and the number of slots.

    The rows are filled backwards; a slot is free again after the last row that needs it.
    """
    n = jump.shape[0]
    n_uses: cython.longlong[::1] = np.ones(n + 1, np.int64)  # the row before each row uses it
    slot: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    free: cython.longlong[::1] = np.empty(n + 2, np.int64)
    n_free: cython.Py_ssize_t = 0
    n_slots: cython.Py_ssize_t = 1
    with cython.nogil:
        for i in range(n):
            n_uses[jump[i]] += 1
        for i in range(n - 1, -1, -1):
            if n_free > 0:
                n_free -= 1
                slot[i] = free[n_free]
            else:
                slot[i] = n_slots
                n_slots += 1
            for k in range(2):
                row = i + 1 if k == 0 else jump[i]
                n_uses[row] -= 1
                if n_uses[row] == 0:
                    free[n_free] = slot[row]
                    n_free += 1
    return slot.base, n_slots


def min_values_and_cuts(jump: Longs, charge: Longs, value: Longs, budget: cython.Py_ssize_t):
    """Return the least value within each budget 0, ..., `budget`, and the decision bits.

    Bit j of line i is 1 where cutting item i is strictly better at budget j.
    """
    n = jump.shape[0]
    slots, n_slots = assign_row_slots(jump)
    slot: cython.longlong[::1] = slots
    rows: cython.longlong[:, ::1] = np.zeros((n_slots, budget + 1), np.int64)
    is_better: cython.uchar[:, ::1] = np.zeros((n, budget // 8 + 1), np.uint8)
    is_better_bytes: cython.uchar[::1] = np.zeros(8 * is_better.shape[1], np.uint8)
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            row, keep_row, cut_row = slot[i], slot[i + 1], slot[jump[i]]
            item_charge, item_value = min(charge[i], budget + 1), value[i]
            for j in range(item_charge):
                rows[row, j] = rows[keep_row, j]
                is_better_bytes[j] = 0
            for j in range(budget + 1 - item_charge):
                cut_value = rows[cut_row, j] + item_value
                is_better_bytes[item_charge + j] = cut_value < rows[keep_row, item_charge + j]
                rows[row, item_charge + j] = min(rows[keep_row, item_charge + j], cut_value)
            _pack_bits(is_better_bytes, is_better, i)
    return rows.base[slot[0]].copy(), is_better.base


def min_pairs_and_cuts(
    jump: Longs, charge: Longs, cost: Floats, size: Longs, budget: cython.Py_ssize_t, tolerance: cython.double
):
    """Return the least pair (cost, size) within each budget as two arrays, and the decision bits.

    Pairs compare by cost first; costs within `tolerance` are equal. Only for costs that are real numbers: a
    whole-number cost is packed with the size into one value for `min_values_and_cuts`.
    """
    n = jump.shape[0]
    slots, n_slots = assign_row_slots(jump)
    slot: cython.longlong[::1] = slots
    costs: cython.double[:, ::1] = np.zeros((n_slots, budget + 1))
    sizes: cython.longlong[:, ::1] = np.zeros((costs.shape[0], budget + 1), np.int64)
    is_better: cython.uchar[:, ::1] = np.zeros((n, budget // 8 + 1), np.uint8)
    is_better_bytes: cython.uchar[::1] = np.zeros(8 * is_better.shape[1], np.uint8)
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            row, keep_row, cut_row = slot[i], slot[i + 1], slot[jump[i]]
            price = min(charge[i], budget + 1)
            for j in range(budget + 1):
                best_cost, best_size = costs[keep_row, j], sizes[keep_row, j]
                is_better_bytes[j] = 0
                if j >= price:
                    cut_cost, cut_size = costs[cut_row, j - price] + cost[i], sizes[cut_row, j - price] + size[i]
                    gain = best_cost - cut_cost
                    if gain > tolerance or (gain >= -tolerance and cut_size < best_size):
                        best_cost, best_size = cut_cost, cut_size
                        is_better_bytes[j] = 1
                costs[row, j] = best_cost
                sizes[row, j] = best_size
            _pack_bits(is_better_bytes, is_better, i)
    return costs.base[slot[0]].copy(), sizes.base[slot[0]].copy(), is_better.base


def cut_items(jump: Longs, charge: Longs, is_better: cython.const[cython.uchar][:, :], budget: cython.Py_ssize_t):
    """Return which items the best walk within `budget` cuts, read from the decision bits; ties keep."""
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
    """Return the greatest summed gain of cuts whose charges add up to at most `budget`.

    Sums of whole-number gains below 2^53 are exact in floats. Processors without AVX compare two floats at a time, but
    whole numbers of 64 bits only one at a time. So floats are used where they are exact.
    """
    is_exact = np.abs(gain).sum(dtype=np.float64) < 2.0**53
    return int(_first_row(jump, charge, gain.astype(np.float64) if is_exact else gain, budget, False)[budget])


def charge_probabilities(jump, charge, cut_chance, budget):
    """Return the probability that the charges of the cuts add up to j, for j = 0, ..., `budget`.

    Every item that the walk reaches is cut with probability `cut_chance[i]`.
    """
    return _first_row(jump, charge, cut_chance, budget, True)


def _first_row(jump: Longs, charge: Longs, value: Numbers, budget: cython.Py_ssize_t, is_chance: cython.bint):
    """Return row 0 of a table: the greatest sums of `value` by budget, or (`is_chance`) the chance of each charge."""
    width = budget + 1
    slots, n_slots = assign_row_slots(jump)
    slot: cython.longlong[::1] = slots
    rows: Number[:, ::1] = np.zeros((n_slots, width), value.base.dtype)
    with cython.nogil:
        if is_chance:
            rows[slot[jump.shape[0]], 0] = 1
        for i in range(jump.shape[0] - 1, -1, -1):
            price, cut_factor = min(charge[i], width), value[i]
            keep_factor = 1 - cut_factor if is_chance else 1
            row, keep_row, cut_row = slot[i], slot[i + 1], slot[jump[i]]
            for j in range(price):
                rows[row, j] = keep_factor * rows[keep_row, j]
            if is_chance:
                for j in range(width - price):
                    rows[row, price + j] = keep_factor * rows[keep_row, price + j] + cut_factor * rows[cut_row, j]
            else:
                for j in range(width - price):
                    rows[row, price + j] = max(rows[cut_row, j] + cut_factor, rows[keep_row, price + j])
    return rows.base[slot[0]].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pack_bits(flags: cython.uchar[::1], packed: cython.uchar[:, ::1], line: cython.Py_ssize_t) -> cython.void:
    """Pack bytes of 0 or 1 into `packed[line]`, eight to a byte, the lowest bit first."""
    byte: cython.uint
    for k in range(packed.shape[1]):
        byte = 0
        for t in range(8):
            byte |= flags[8 * k + t] << t
        packed[line, k] = byte
