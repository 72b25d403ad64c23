"""The least cost of a pruning of every size, and the pruning itself.

Size is 1 plus a `charge` for every test that is kept (children less one for leaves,
children for nodes); tables are indexed by that sum. Two ways, the same answers:

*Tables*: the table of every subtree, children combined one after another by (min, +).
A grown tree has 20 to 25 entries per leaf, so all tables are stored and a pruning is found
again on the way down. Memory is the sum of the subtree sizes: quadratic for chains.

*Walk*: the budget walk of `size_preorder`, stations x budget bits for any shape.

Combination is exact and nearly linear for tables that are nearly convex. The lower convex
hulls of both sequences, added, bound every candidate from below; the bound is convex along
the candidates of one entry, and the place of its minimum moves by at most one from entry to
entry. We start there, walk outwards, and stop where the bound rules out any improvement.
Heights of hulls are floats: `_lower_hull` bounds what rounding can have done to them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._jit import njit
from .size_preorder import BudgetWalk, budget_walk, station_jumps

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]

ABSENT = 1 << 61  # a whole-number cost that no pruning has; twice it still fits
TOLERANCE = 1e-12  # of the largest cost: real costs this close are equal
EPSILON = 2.0**-52
# Column of a layout: start and length of a node's table, and of the table of the node and its later siblings.
START, LENGTH, SUFFIX_START, SUFFIX_LENGTH = 0, 1, 2, 3
SHORT = 16  # below this length the plain loop is faster than two hulls


class SizeTable(NamedTuple):
    """Least cost by size: `best[j]` for size `1 + j * unit`, absent where no pruning has that size."""

    best: Numbers
    unit: int
    n_nodes: int
    internal: Ints
    tables: "SubtreeTables | None"
    walk: BudgetWalk | None

    @property
    def is_present(self) -> Bools:
        """Which sizes exist."""
        return self.best < (ABSENT if self.best.dtype.kind == "i" else np.inf)

    def kept(self, place: int) -> Bools:
        """Which nodes still test something in the pruning of `best[place]`.

        Of prunings with equal cost, the one that keeps the first node in pre-order in
        which they differ.
        """
        if self.tables is not None:
            return self.tables.kept(place)
        assert self.walk is not None
        kept = np.zeros(self.n_nodes, np.bool_)
        kept[self.internal[self.walk.kept(place)]] = True
        return kept


class SubtreeTables(NamedTuple):
    """The tables of all subtrees, side by side."""

    parent: Ints
    end: Ints
    charge: Longs
    layout: Longs
    table: Numbers
    rule: Numbers

    def kept(self, place: int) -> Bools:
        """Which nodes the best pruning of the root's entry `place` keeps."""
        # A table that comes out of a pickle is writable again; the kernel is compiled for trees, which are not.
        parent, end = self.parent.view(), self.end.view()
        parent.flags.writeable = end.flags.writeable = False
        return _descend(parent, end, self.charge, self.layout, self.table, (place, self.rule))


def best_by_size(parent: Ints, end: Ints, charge: Longs, cost: Numbers, limit: int) -> SizeTable:
    """Return the least cost of every size up to `1 + limit`.

    `charge` is 0 at leaves. The way is chosen by the cells each needs.
    """
    internal = np.flatnonzero(charge).astype(np.int32)
    unit = int(np.gcd.reduce(charge)) if len(internal) else 1  # all tests of one arity: no cells for the gaps
    charge = charge // unit
    limit = min(limit // unit, int(charge.sum()))
    layout = table_layout(parent, end, charge, limit)
    if prefers_tables(n_cells(layout), len(internal), limit):
        tables = subtree_tables(parent, end, charge, cost, layout)
        return SizeTable(tables.table[: layout[0, LENGTH]], unit, len(parent), internal, tables, None)
    walk = size_walk(parent, end, charge, cost, limit)
    return SizeTable(walk.best, unit, len(parent), internal, None, walk)


def prefers_tables(n_table_cells: int, n_internal: int, limit: int) -> bool:
    """Whether tables are the better way.

    A cell of a table takes 8 times as long as a cell of the walk, and 64 times the memory: tables
    if small; if faster and below 256 MB; if they need less memory.
    """
    n_walk_cells = n_internal * (limit + 1)
    if n_table_cells <= 1 << 25 and 8 * n_table_cells <= n_walk_cells:
        return True
    return n_table_cells <= 1 << 20 or 64 * n_table_cells <= n_walk_cells


def n_cells(layout: Longs) -> int:
    """Cells of all tables of a layout."""
    return int((layout[:, START] + layout[:, LENGTH]).max(initial=0)) if len(layout) else 0


def bytes_needed(parent: Ints, end: Ints, charge: Longs, limit: int) -> int:
    """Bytes that `best_by_size` will hold, about."""
    n_internal = int(np.count_nonzero(charge))
    unit = int(np.gcd.reduce(charge)) if n_internal else 1
    limit = min(limit, int(charge.sum())) // unit
    cells = n_cells(table_layout(parent, end, charge // unit, limit))
    return 8 * cells if prefers_tables(cells, n_internal, limit) else n_internal * (limit + 1) // 8


def subtree_tables(parent: Ints, end: Ints, charge: Longs, cost: Numbers, layout: Longs) -> SubtreeTables:
    """Return the filled tables of a layout."""
    if cost.dtype.kind == "i":
        # A whole number that is less is less by 1. Hulls multiply costs by lengths: beyond 2^62 the plain loop.
        is_safe = float(cost.sum()) * float(layout[0, LENGTH]) < 2.0**62
        rule = np.array([ABSENT, 1, SHORT if is_safe else ABSENT, 0], np.int64)
    else:
        rule = np.array([np.inf, 0.0, SHORT, TOLERANCE * cost.max()])
    table = _fill_tables(parent, end, charge, cost, layout, rule)
    return SubtreeTables(parent, end, charge, layout, table, rule)


def size_walk(parent: Ints, end: Ints, charge: Longs, cost: Numbers, limit: int) -> BudgetWalk:
    """Return the same answers by the budget walk: keeping pays the charge, cutting adds the excess."""
    internal = np.flatnonzero(charge).astype(np.int32)
    full = _uncut_cost(parent, charge, cost)
    pays = np.zeros((len(internal), 2), np.int64)
    pays[:, 1] = charge[internal]
    adds = np.zeros((len(internal), 2), cost.dtype)
    adds[:, 0] = (cost - full)[internal]
    below = np.append(np.cumsum(pays[::-1, 1])[::-1], 0)  # the most that stations from i on can pay
    width = np.minimum(below, limit) + 1
    absent = ABSENT if cost.dtype.kind == "i" else np.inf
    if cost.dtype.kind != "i":
        rule = np.array([np.inf, TOLERANCE * cost.max()])
    elif most_cost(parent, cost) < 1 << 29:  # half the memory for the rows
        adds, rule = adds.astype(np.int32), np.array([1 << 30, 0], np.int32)
    else:
        rule = np.array([ABSENT, 0], np.int64)
    walk = budget_walk(station_jumps(end, internal), pays, adds, width, rule)
    best = np.where(walk.best < rule[0], walk.best.astype(cost.dtype) + full[0], absent).astype(cost.dtype)
    return walk._replace(best=best)


def errors_walk(parent: Ints, end: Ints, charge: Longs, cost: Longs, budget: int) -> BudgetWalk:
    """Return the least size (less 1) of a pruning whose cuts add at most 0..budget to the cost.

    Whole-number costs, no cut of which helps (excess of 0 or more).
    """
    internal = np.flatnonzero(charge).astype(np.int32)
    excess = (cost - _uncut_cost(parent, charge, cost))[internal]
    pays = np.zeros((len(internal), 2), np.int64)
    pays[:, 0] = np.minimum(excess, budget + 1)
    adds = np.zeros((len(internal), 2), np.int64)
    adds[:, 1] = charge[internal]
    width = np.full(len(internal) + 1, budget + 1, np.int64)
    return budget_walk(station_jumps(end, internal), pays, adds, width, np.array([ABSENT, 0], np.int64))


@njit
def least_cost(parent: Ints, charge: Longs, cost: Numbers) -> Any:
    """The least cost of any pruning."""
    n = parent.shape[0]
    below = np.zeros(n, cost.dtype)
    for v in range(n - 1, -1, -1):
        if charge[v] == 0 or cost[v] < below[v]:
            below[v] = cost[v]
        if v > 0:
            below[parent[v]] += below[v]
    return below[0]


@njit
def most_cost(parent: Ints, cost: Numbers) -> Any:
    """The largest cost of any pruning."""
    below = np.zeros(parent.shape[0], cost.dtype)
    for v in range(parent.shape[0] - 1, -1, -1):
        below[v] = max(below[v], cost[v])
        if v > 0:
            below[parent[v]] += below[v]
    return below[0]


@njit
def _uncut_cost(parent: Ints, charge: Longs, cost: Numbers) -> Numbers:
    full = np.where(charge == 0, cost, 0).astype(cost.dtype)
    for v in range(parent.shape[0] - 1, 0, -1):
        full[parent[v]] += full[v]
    return full


@njit
def table_layout(parent: Ints, end: Ints, charge: Longs, limit: int) -> Longs:
    """Where the table of each node, and of each node with its later siblings, starts and how long it is.

    The table of all children of v is the tail of v's own table; the last child's suffix
    table is its own; only middle children need room for theirs.
    """
    n = parent.shape[0]
    layout = np.zeros((n, 4), np.int64)
    most = charge.copy()  # the largest index of a full table
    suffix = np.zeros(n, np.int64)
    for v in range(n - 1, -1, -1):
        layout[v, LENGTH] = min(most[v], limit) + 1
        suffix[v] = most[v]
        if v > 0:
            p = parent[v]
            most[p] += most[v]
            if end[v] < end[p]:
                suffix[v] += suffix[end[v]]
    at = 0
    for v in range(n):
        layout[v, START] = at
        at += layout[v, LENGTH]
        p = parent[v]
        if v == 0 or end[v] == end[p]:
            layout[v, SUFFIX_START], layout[v, SUFFIX_LENGTH] = layout[v, START], layout[v, LENGTH]
        elif v == p + 1:
            layout[v, SUFFIX_START] = layout[p, START] + charge[p]
            layout[v, SUFFIX_LENGTH] = max(layout[p, LENGTH] - charge[p], 0)
        else:
            # Kept before the own table, so that own start + length stays the end of what v holds.
            layout[v, SUFFIX_START], layout[v, SUFFIX_LENGTH] = layout[v, START], min(suffix[v], limit) + 1
            layout[v, START] += layout[v, SUFFIX_LENGTH]
            at += layout[v, SUFFIX_LENGTH]
    return layout


@njit
def _fill_tables(parent: Ints, end: Ints, charge: Longs, cost: Numbers, layout: Longs, rule: Numbers) -> Numbers:
    """All tables, from the last node to the first.

    `rule` is (absent, least improvement, length up to which the plain loop is taken, tie tolerance).
    """
    n = parent.shape[0]
    absent = rule[0]
    table = np.empty((layout[:, START] + layout[:, LENGTH]).max(), cost.dtype)
    longest = layout[:, LENGTH].max()
    hulls = np.empty((4, longest))
    corners = np.empty(longest, np.int64)
    for v in range(n - 1, -1, -1):
        start, length = layout[v, START], layout[v, LENGTH]
        table[start] = cost[v]
        table[start + 1 : start + min(charge[v], length)] = absent
        p = parent[v]
        if v > 0 and end[v] < end[p] and layout[v, SUFFIX_LENGTH] > 0:
            w = end[v]  # the next sibling
            own = table[start : start + length]
            others = table[layout[w, SUFFIX_START] : layout[w, SUFFIX_START] + layout[w, SUFFIX_LENGTH]]
            out = table[layout[v, SUFFIX_START] : layout[v, SUFFIX_START] + layout[v, SUFFIX_LENGTH]]
            if length > others.shape[0]:
                own, others = others, own
            if own.shape[0] <= rule[2]:
                _combine_plain(own, others, out, absent)
            else:
                _combine_hulls(own, others, out, rule, hulls, corners)
    return table


@njit
def _combine_plain(a: Numbers, b: Numbers, out: Numbers, absent: Any) -> None:
    """out[k] = min over i of a[i] + b[k - i]; a is the shorter."""
    n = out.shape[0]
    if a.shape[0] == 1:
        add = a[0]
        for j in range(min(n, b.shape[0])):
            v = add + b[j]
            out[j] = min(absent, v)
        out[b.shape[0] :] = absent
        return
    out[:] = absent
    for i in range(min(a.shape[0], n)):
        add = a[i]
        if add < absent:
            m = min(b.shape[0], n - i)
            o = out[i : i + m]
            for j in range(m):
                v = add + b[j]
                o[j] = min(o[j], v)


@njit
def _lower_hull(a: Numbers, absent: Any, height: Floats, slope: Floats, corners: Longs) -> Any:
    """Height of the lower convex hull at every place, its slope to the next; returns what rounding may do.

    The first and the last entry are present. Corners of whole numbers are exact; each of n
    corners of real numbers may be a few ulps of the largest entry off, and so may a height, and
    so may the place where slopes send the search (slopes are rounded, but equal ones alike).
    """
    n = a.shape[0]
    top = 0
    largest = 0.0
    for i in range(n):
        if a[i] >= absent:
            continue
        largest = max(largest, abs(float(a[i])))
        while top >= 2:
            p, q = corners[top - 1], corners[top - 2]
            if (a[p] - a[q]) * (i - q) >= (a[i] - a[q]) * (p - q):
                top -= 1
            else:
                break
        corners[top] = i
        top += 1
    for s in range(top - 1):
        q, p = corners[s], corners[s + 1]
        base = float(a[q])
        rise = float(a[p] - a[q]) / (p - q)
        for i in range(q, p):
            height[i] = base + rise * (i - q)
            slope[i] = rise
    height[n - 1] = float(a[n - 1])
    slope[n - 1] = np.inf
    return 32 * EPSILON * largest * n


@njit
def _combine_hulls(a: Numbers, b: Numbers, out: Numbers, rule: Numbers, hulls: Floats, corners: Longs) -> None:
    """The same as `_combine_plain`, by hull bounds."""
    absent, least = rule[0], float(rule[1])
    n_a, n_b = a.shape[0], b.shape[0]
    ha, sa, hb, sb = hulls[0], hulls[1], hulls[2], hulls[3]
    # A table cut short by the limit may end in a gap; the hull needs an end that exists.
    while a[n_a - 1] >= absent:
        n_a -= 1
    while b[n_b - 1] >= absent:
        n_b -= 1
    room = _lower_hull(a[:n_a], absent, ha, sa, corners) + _lower_hull(b[:n_b], absent, hb, sb, corners) - least
    n_out = min(out.shape[0], n_a + n_b - 1)
    out[n_out:] = absent
    i0 = 0
    for k in range(n_out):
        if k > 0:
            j0 = k - 1 - i0
            if j0 + 1 >= n_b or (i0 + 1 < n_a and sa[i0] < sb[j0]):
                i0 += 1
        j0 = k - i0
        best = a[i0] + b[j0]
        limit = float(best) + room  # nothing above it can improve
        if ha[i0] + hb[j0] <= limit:
            n_up, n_down = min(n_a - 1 - i0, j0), min(i0, n_b - 1 - j0)
            s = 1
            while s <= n_up or s <= n_down:
                if s <= n_up:
                    if ha[i0 + s] + hb[j0 - s] > limit:
                        n_up = 0
                    else:
                        v = a[i0 + s] + b[j0 - s]
                        if v < best:
                            best = v
                            limit = float(best) + room
                if s <= n_down:
                    if ha[i0 - s] + hb[j0 + s] > limit:
                        n_down = 0
                    else:
                        v = a[i0 - s] + b[j0 + s]
                        if v < best:
                            best = v
                            limit = float(best) + room
                s += 1
        out[k] = min(absent, best)


@njit
def _descend(parent: Ints, end: Ints, charge: Longs, layout: Longs, table: Numbers, goal: Any) -> Bools:
    """Nodes kept by the best pruning of one entry of the root's table, first nodes first.

    For the node at hand, `is_open` marks the entries of its table (or of the table of it and
    its later siblings) that a best pruning can still use given all earlier decisions. It keeps
    the node if an entry other than "cut" is open. Entries open for a child are those that some
    open entry of the suffix can be split into. When a child is done, the entry it used is known
    and the open entries of the suffix are narrowed to those that agree.
    """
    place, rule = goal
    n = parent.shape[0]
    kept = np.zeros(n, np.bool_)
    used = np.zeros(n, np.int64)  # budget used in the subtree so far
    start = np.zeros(n, np.int64)  # where the open entries of the node are
    count = np.zeros(n, np.int64)  # how many entries are there
    longest = layout[:, LENGTH].max()
    work = (np.empty((4, longest)), np.empty(longest, table.dtype), np.empty(longest, np.int64))
    is_open = np.zeros(_open_capacity(parent, end, charge, layout), np.uint8)
    count[0] = layout[0, LENGTH]
    is_open[place] = 1
    top = count[0]
    v = 0
    while True:
        # Enter v: its open entries are known (a leaf has none to choose from).
        if charge[v] > 0 and is_open[start[v] + 1 : start[v] + count[v]].any():
            kept[v] = True
            used[v] = charge[v]
            v += 1
        else:
            # v is settled; hand its budget to the parent, and go on to the next sibling or up.
            while v > 0:
                p = parent[v]
                if charge[v] > 0 and end[v] < end[p]:
                    top = start[v]  # its open entries are no longer needed
                if end[v] < end[p]:
                    suffix_open = is_open[start[p] + used[p] : start[p] + count[p]]
                    _narrow(suffix_open, layout, table, (v, end[v], used[v]), rule[3])
                used[p] += used[v]
                if end[v] < end[p]:
                    v = end[v]
                    break
                v = p
            if v == 0:
                return kept
        # Prepare v, a child whose earlier siblings are settled.
        p = parent[v]
        at, left = start[p] + used[p], count[p] - used[p]
        if charge[v] > 0:
            count[v] = min(layout[v, LENGTH], left)
            if end[v] == end[p]:
                start[v] = at
            else:
                start[v] = top
                top += count[v]
                child_open = is_open[start[v] : top]
                _open_for_child(is_open[at : at + left], child_open, layout, table, (v, end[v], rule), work)


@njit
def _open_capacity(parent: Ints, end: Ints, charge: Longs, layout: Longs) -> Any:
    """The most entries on one path whose open marks are held at the same time."""
    held = np.zeros(parent.shape[0], np.int64)
    held[0] = layout[0, LENGTH]
    for v in range(1, parent.shape[0]):
        held[v] = held[parent[v]]
        if charge[v] > 0 and end[v] < end[parent[v]]:
            held[v] += layout[v, LENGTH]
    return held.max()


@njit
def _narrow(is_open: Bytes, layout: Longs, table: Numbers, who: Any, tolerance: Any) -> None:
    """Close the entries of the suffix at v of which no best split gives i to v (w: the next sibling)."""
    v, w, i = who
    own = table[layout[v, START] + i]
    whole = layout[v, SUFFIX_START]
    others, n_others = layout[w, SUFFIX_START], layout[w, SUFFIX_LENGTH]
    for k in range(i, is_open.shape[0]):
        if is_open[k]:
            y = k - i
            if y >= n_others or not own + table[others + y] - table[whole + k] <= tolerance:
                is_open[k] = 0


@njit
def _open_for_child(is_open: Bytes, child_open: Bytes, layout: Longs, table: Numbers, who: Any, work: Any) -> None:
    """Mark the entries of child v that some open entry of its suffix can be split into."""
    v, w, rule = who
    own = table[layout[v, START] : layout[v, START] + layout[v, LENGTH]]
    whole = table[layout[v, SUFFIX_START] : layout[v, SUFFIX_START] + layout[v, SUFFIX_LENGTH]]
    others = table[layout[w, SUFFIX_START] : layout[w, SUFFIX_START] + layout[w, SUFFIX_LENGTH]]
    child_open[:] = 0
    n_open, first, last = 0, 0, 0
    for k in range(is_open.shape[0]):
        if is_open[k]:
            first = k if n_open == 0 else first
            last = k
            n_open += 1
    if n_open <= 4 or others.shape[0] <= rule[2]:
        for k in range(first, last + 1):
            if is_open[k]:
                for i in range(max(0, k - others.shape[0] + 1), min(k, child_open.shape[0] - 1) + 1):
                    if own[i] + others[k - i] - whole[k] <= rule[3]:
                        child_open[i] = 1
    else:
        span = slice(first, last + 1)
        _open_by_hulls(is_open[span], child_open, own, others, whole[span], (first, rule), work)


@njit
def _open_by_hulls(
    is_open: Bytes, child_open: Bytes, own: Numbers, others: Numbers, whole: Numbers, where: Any, work: Any
) -> None:
    """For each i: is there an open k with own[i] + others[k - i] == whole[k]?

    With z = last - k, a[y] = others[y] and b[z] = -whole[last - z] this asks whether own[i] plus
    the (min, +) combination of a and b at last - i is 0; bounds as in `_combine_hulls`.
    """
    first, absent, tolerance = where[0], where[1][0], where[1][3]
    hulls, reverse, corners = work
    ha, sa, hb, sb = hulls[0], hulls[1], hulls[2], hulls[3]
    n_a, n_b = others.shape[0], is_open.shape[0]
    while others[n_a - 1] >= absent:
        n_a -= 1
    for z in range(n_b):
        k = n_b - 1 - z
        reverse[z] = -whole[k] if is_open[k] else absent
    b = reverse[:n_b]
    limit = _lower_hull(others[:n_a], absent, ha, sa, corners) + _lower_hull(b, absent, hb, sb, corners)
    limit += float(tolerance)
    last = first + n_b - 1
    y0 = 0
    for q in range(min(last + 1, n_a + n_b - 1)):
        if q > 0:
            z0 = q - 1 - y0
            if z0 + 1 >= n_b or (y0 + 1 < n_a and sa[y0] < sb[z0]):
                y0 += 1
        z0 = q - y0
        i = last - q
        if i >= child_open.shape[0] or own[i] >= absent:
            continue
        add = float(own[i])
        n_up, n_down = min(n_a - 1 - y0, z0), min(y0, n_b - 1 - z0)
        s = 0
        while s <= n_up or s <= n_down:
            if s <= n_up:
                y, z = y0 + s, z0 - s
                if add + (ha[y] + hb[z]) > limit:
                    n_up = -1
                elif b[z] < absent and own[i] + others[y] + b[z] <= tolerance:
                    child_open[i] = 1
                    break
            if s <= n_down:
                y, z = y0 - s, z0 + s
                if add + (ha[y] + hb[z]) > limit:
                    n_down = -1
                elif b[z] < absent and own[i] + others[y] + b[z] <= tolerance:
                    child_open[i] = 1
                    break
            s += 1
