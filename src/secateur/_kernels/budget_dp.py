"""The best set of cuts for every budget at once: a tree knapsack that skips subtrees.

Items stand in pre-order. A walk reads them from the left: at item i it either goes on to
i + 1 (keep) or takes the item (cut), pays `charge[i]`, adds `value[i]` and jumps to
`jump[i]`, past everything under it. With F[n][j] = 0 for every j,

    F[i][j] = min(F[i + 1][j],  F[jump[i]][j - charge[i]] + value[i])

is the least value of a walk from i on within budget j, so F[0] answers every budget.
A row is two shifted rows and one minimum, whatever the arity of the tree.

Only rows that somebody will still jump to are alive. They form a stack: the rows that the
items around i jump to, the innermost on top. If the child with most items comes last,
it jumps where its parent does, and at most log2(n) + 2 rows are alive.

An item is usually a node. Several items with the same jump, one after the other, are
several ways to cut the same node.
"""

import cython
import numpy as np


def jumps(end, n_items):
    """Where each item jumps to, when node v holds `n_items[v]` items in pre-order."""
    before = np.append(0, np.cumsum(n_items))
    return np.repeat(before[end], n_items)


def heavy_last(parent: cython.const[cython.int][:], n_items: cython.const[cython.longlong][:]):
    """The old id of each node of the pre-order in which the child with most items comes last."""
    n = parent.shape[0]
    size: cython.int[::1] = np.ones(n, np.int32)
    weight: cython.longlong[::1] = np.array(n_items)
    heavy: cython.int[::1] = np.full(n, -1, np.int32)
    place: cython.int[::1] = np.zeros(n, np.int32)
    next_place: cython.int[::1] = np.ones(n, np.int32)  # of the next light child, counted from its parent
    order: cython.int[::1] = np.zeros(n, np.int32)
    with cython.nogil:
        for v in range(n - 1, 0, -1):
            p = parent[v]
            size[p] += size[v]
            weight[p] += weight[v]
            if heavy[p] < 0 or weight[v] > weight[heavy[p]]:
                heavy[p] = v
        for v in range(1, n):
            p = parent[v]
            if heavy[p] == v:
                place[v] = place[p] + size[p] - size[v]
            else:
                place[v] = place[p] + next_place[p]
                next_place[p] += size[v]
            order[place[v]] = v
    return order.base


def live_rows(jump: cython.const[cython.longlong][:]):
    """How many rows are alive at once, the one being made included."""
    is_last_use: cython.uchar[::1] = _last_uses(jump)
    n_rows: cython.Py_ssize_t = 1
    most: cython.Py_ssize_t = 1
    with cython.nogil:
        for i in range(jump.shape[0] - 1, -1, -1):
            if jump[i] == i + 1:
                n_rows += 1
            most = max(most, n_rows)
            if is_last_use[i]:
                n_rows -= 1
    return most


def least_values(
    jump: cython.const[cython.longlong][:],
    charge: cython.const[cython.longlong][:],
    value: cython.const[cython.longlong][:],
    budget: cython.Py_ssize_t,
):
    """The least value within each budget 0..`budget`; no walk can be read off."""
    is_last_use: cython.uchar[::1] = _last_uses(jump)
    rows: cython.longlong[:, ::1] = np.zeros((live_rows(jump), budget + 1), np.int64)
    slot: cython.longlong[::1] = np.arange(rows.shape[0])
    top: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(jump.shape[0] - 1, -1, -1):
            keep = after = slot[top]
            if jump[i] == i + 1:
                top += 1
            else:
                after = slot[top - 1]
            best = slot[top]
            a, b = min(charge[i], budget + 1), value[i]
            for j in range(a):
                rows[best, j] = rows[keep, j]
            for j in range(budget + 1 - a):
                rows[best, a + j] = min(rows[keep, a + j], rows[after, j] + b)
            if is_last_use[i]:
                slot[top - 1], slot[top] = slot[top], slot[top - 1]
                top -= 1
    return rows.base[slot[top]].copy()


def least_values_and_cuts(
    jump: cython.const[cython.longlong][:],
    charge: cython.const[cython.longlong][:],
    value: cython.const[cython.longlong][:],
    budget: cython.Py_ssize_t,
):
    """`least_values`, and one bit per item and budget: is cutting strictly better than keeping?"""
    n = jump.shape[0]
    is_last_use: cython.uchar[::1] = _last_uses(jump)
    rows: cython.longlong[:, ::1] = np.zeros((live_rows(jump), budget + 1), np.int64)
    is_better: cython.uchar[:, ::1] = np.zeros((n, budget // 8 + 1), np.uint8)
    better: cython.uchar[::1] = np.zeros(8 * is_better.shape[1], np.uint8)
    slot: cython.longlong[::1] = np.arange(rows.shape[0])
    top: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            keep = after = slot[top]
            if jump[i] == i + 1:
                top += 1
            else:
                after = slot[top - 1]
            best = slot[top]
            a, b = min(charge[i], budget + 1), value[i]
            for j in range(a):
                rows[best, j] = rows[keep, j]
                better[j] = 0
            for j in range(budget + 1 - a):
                cut = rows[after, j] + b
                better[a + j] = cut < rows[keep, a + j]
                rows[best, a + j] = min(rows[keep, a + j], cut)
            _pack(better, is_better, i)
            if is_last_use[i]:
                slot[top - 1], slot[top] = slot[top], slot[top - 1]
                top -= 1
    return rows.base[slot[top]].copy(), is_better.base


def least_pairs_and_cuts(
    jump: cython.const[cython.longlong][:],
    charge: cython.const[cython.longlong][:],
    cost: cython.const[cython.double][:],
    size: cython.const[cython.longlong][:],
    budget: cython.Py_ssize_t,
    tolerance: cython.double,
):
    """`least_values_and_cuts` of the pairs (cost, size), costs within `tolerance` being equal.

    Only for costs that are real numbers: whole ones are packed with the size in one value.
    """
    n = jump.shape[0]
    is_last_use: cython.uchar[::1] = _last_uses(jump)
    costs: cython.double[:, ::1] = np.zeros((live_rows(jump), budget + 1))
    sizes: cython.longlong[:, ::1] = np.zeros((costs.shape[0], budget + 1), np.int64)
    is_better: cython.uchar[:, ::1] = np.zeros((n, budget // 8 + 1), np.uint8)
    better: cython.uchar[::1] = np.zeros(8 * is_better.shape[1], np.uint8)
    slot: cython.longlong[::1] = np.arange(costs.shape[0])
    top: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            keep = after = slot[top]
            if jump[i] == i + 1:
                top += 1
            else:
                after = slot[top - 1]
            best = slot[top]
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
            if is_last_use[i]:
                slot[top - 1], slot[top] = slot[top], slot[top - 1]
                top -= 1
    return costs.base[slot[top]].copy(), sizes.base[slot[top]].copy(), is_better.base


def walk(
    jump: cython.const[cython.longlong][:],
    charge: cython.const[cython.longlong][:],
    is_better: cython.const[cython.uchar][:, :],
    budget: cython.Py_ssize_t,
):
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


def _last_uses(jump: cython.const[cython.longlong][:]):
    """Whether nobody before item i jumps where it does, so that the row can go.

    Items with the same jump lie inside one another; the outermost is the first.
    """
    n = jump.shape[0]
    first: cython.longlong[::1] = np.full(n + 1, -1, np.int64)
    is_last_use: cython.uchar[::1] = np.empty(n, np.bool_)
    with cython.nogil:
        for i in range(n - 1, -1, -1):
            first[jump[i]] = i
        for i in range(n):
            is_last_use[i] = first[jump[i]] == i
    return is_last_use.base


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
