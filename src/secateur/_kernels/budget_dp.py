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

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


def jumps(end: Ints, n_items: Longs) -> Longs:
    """Where each item jumps to, when node v holds `n_items[v]` items in pre-order."""
    before = np.append(0, np.cumsum(n_items))
    return np.repeat(before[end], n_items)


@njit
def heavy_last(parent: Ints, n_items: Longs) -> Ints:
    """The old id of each node of the pre-order in which the child with most items comes last."""
    n = parent.shape[0]
    size = np.ones(n, np.int32)
    weight = n_items.copy()
    heavy = np.full(n, -1, np.int32)
    for v in range(n - 1, 0, -1):
        p = parent[v]
        size[p] += size[v]
        weight[p] += weight[v]
        if heavy[p] < 0 or weight[v] > weight[heavy[p]]:
            heavy[p] = v
    place = np.zeros(n, np.int32)
    next_place = np.ones(n, np.int32)  # of the next light child, counted from its parent
    order = np.zeros(n, np.int32)
    for v in range(1, n):
        p = parent[v]
        if heavy[p] == v:
            place[v] = place[p] + size[p] - size[v]
        else:
            place[v] = place[p] + next_place[p]
            next_place[p] += size[v]
        order[place[v]] = v
    return order


@njit
def live_rows(jump: Longs) -> int:
    """How many rows are alive at once, the one being made included."""
    is_last_use = _last_uses(jump)
    n_rows = 1
    most = 1
    for i in range(jump.shape[0] - 1, -1, -1):
        if jump[i] == i + 1:
            n_rows += 1
        most = max(most, n_rows)
        if is_last_use[i]:
            n_rows -= 1
    return most


@njit
def least_values(jump: Longs, charge: Longs, value: Longs, budget: int) -> Longs:
    """The least value within each budget 0..`budget`; no walk can be read off."""
    n = jump.shape[0]
    is_last_use = _last_uses(jump)
    rows = np.zeros((live_rows(jump), budget + 1), np.int64)
    slot = np.arange(rows.shape[0])
    top = 0
    for i in range(n - 1, -1, -1):
        keep = rows[slot[top]]
        if jump[i] == i + 1:
            after = keep
            top += 1
        else:
            after = rows[slot[top - 1]]
        best = rows[slot[top]]
        a = charge[i]
        for j in range(min(a, budget + 1)):
            best[j] = keep[j]
        for j in range(a, budget + 1):
            best[j] = min(keep[j], after[j - a] + value[i])
        if is_last_use[i]:
            slot[top - 1], slot[top] = slot[top], slot[top - 1]
            top -= 1
    least: Longs = rows[slot[top]].copy()
    return least


@njit
def least_values_and_cuts(jump: Longs, charge: Longs, value: Longs, budget: int) -> tuple[Longs, Bits]:
    """`least_values`, and one bit per item and budget: is cutting strictly better than keeping?"""
    n = jump.shape[0]
    is_last_use = _last_uses(jump)
    rows = np.zeros((live_rows(jump), budget + 1), np.int64)
    is_better = np.zeros((n, budget // 8 + 1), np.uint8)
    better = np.zeros(8 * is_better.shape[1], np.uint8)
    slot = np.arange(rows.shape[0])
    top = 0
    for i in range(n - 1, -1, -1):
        keep = rows[slot[top]]
        if jump[i] == i + 1:
            after = keep
            top += 1
        else:
            after = rows[slot[top - 1]]
        best = rows[slot[top]]
        a = min(charge[i], budget + 1)
        for j in range(a):
            best[j] = keep[j]
            better[j] = 0
        for j in range(a, budget + 1):
            cut = after[j - a] + value[i]
            better[j] = cut < keep[j]
            best[j] = min(keep[j], cut)
        _pack(better, is_better[i])
        if is_last_use[i]:
            slot[top - 1], slot[top] = slot[top], slot[top - 1]
            top -= 1
    return rows[slot[top]].copy(), is_better


@njit
def least_pairs_and_cuts(
    jump: Longs, charge: Longs, cost: Floats, size: Longs, budget: int, tolerance: float
) -> tuple[Floats, Longs, Bits]:
    """`least_values_and_cuts` of the pairs (cost, size), costs within `tolerance` being equal.

    Only for costs that are real numbers: whole ones are packed with the size in one value.
    """
    n = jump.shape[0]
    is_last_use = _last_uses(jump)
    costs = np.zeros((live_rows(jump), budget + 1))
    sizes = np.zeros((costs.shape[0], budget + 1), np.int64)
    is_better = np.zeros((n, budget // 8 + 1), np.uint8)
    better = np.zeros(8 * is_better.shape[1], np.uint8)
    slot = np.arange(costs.shape[0])
    top = 0
    for i in range(n - 1, -1, -1):
        keep = slot[top]
        if jump[i] == i + 1:
            after = keep
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
        _pack(better, is_better[i])
        if is_last_use[i]:
            slot[top - 1], slot[top] = slot[top], slot[top - 1]
            top -= 1
    return costs[slot[top]].copy(), sizes[slot[top]].copy(), is_better


@njit
def walk(jump: Longs, charge: Longs, is_better: Bits, budget: int) -> Bools:
    """The items cut by the best walk within `budget`; it keeps whenever keeping is as good."""
    n = jump.shape[0]
    is_cut = np.zeros(n, np.bool_)
    i, j = 0, budget
    while i < n:
        if (is_better[i, j >> 3] >> (j & 7)) & 1:
            is_cut[i] = True
            j -= charge[i]
            i = jump[i]
        else:
            i += 1
    return is_cut


@njit
def _last_uses(jump: Longs) -> Bools:
    """Whether nobody before item i jumps where it does, so that the row can go.

    Items with the same jump lie inside one another; the outermost is the first.
    """
    n = jump.shape[0]
    first = np.full(n + 1, -1, np.int64)
    for i in range(n - 1, -1, -1):
        first[jump[i]] = i
    is_last_use = np.empty(n, np.bool_)
    for i in range(n):
        is_last_use[i] = first[jump[i]] == i
    return is_last_use


@njit
def _pack(bits: Bits, into: Bits) -> None:
    """Eight 0/1 bytes to a byte, the lowest bit first."""
    for k in range(into.shape[0]):
        byte = np.uint8(0)
        for t in range(8):
            byte |= np.uint8(bits[8 * k + t] << t)
        into[k] = byte
