"""The least cost of a pruning of every size, and the pruning itself.

Size is 1 plus a `charge` for every test that is kept (children less one for leaves,
children for nodes); tables are indexed by that sum. Two ways, the same answers:

*Tables*: the table of every subtree, children combined one after another by (min, +).
A grown tree has 20 to 25 entries per leaf, so all tables are stored and a pruning is found
again on the way down. Memory is the sum of the subtree sizes: quadratic for chains.

*Walk*: internal nodes in pre-order are stations 0..n-1. At station i a pruning either *keeps*
(pays `charge[i, 1]` of the budget, adds `value[i, 1]`, goes to i + 1) or *cuts* (pays
`charge[i, 0]`, adds `value[i, 0]`, goes to `jump[i]`, the first station outside the
subtree). Row i is the least value of the rest of the walk for every budget:

    F[i][j] = min( F[jump[i]][j - charge[i, 0]] + value[i, 0],  F[i + 1][j - charge[i, 1]] + value[i, 1] )

Time is stations x budget for every shape of tree, memory a bit for each. Rows still needed form a
stack: the subtrees of two stations are nested or apart, so what is read last was written first.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .mixtures import max_leaf_sums
from .size_rows import fill_rows, walk_forward
from .size_tables import descend, fill_tables, table_layout
from .structure import leaves_after_cuts, sum_upwards

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Sums = npt.NDArray[Any]

ABSENT = 1 << 61  # a whole-number cost that no pruning has; twice it still fits
TOLERANCE = 1e-12  # of the largest cost: real costs this close are equal
SHORT = 16  # below this length the plain loop is faster than two hulls


class SubtreeTables(NamedTuple):
    """The tables of all subtrees, side by side."""

    parent: Ints
    end: Ints
    charge: Longs
    layout: Longs
    table: Sums
    rule: Sums

    def kept(self, place: int) -> Bools:
        """Which nodes the best pruning of the root's entry `place` keeps."""
        return descend(self.parent, self.end, self.charge, self.layout, self.table, place, self.rule)


class BudgetWalk(NamedTuple):
    """Least values of the whole walk by budget, and what is needed to walk it again."""

    n_nodes: int
    stations: Ints
    jump: Longs
    charge: Longs
    best: Sums
    bit_start: Longs
    bits: Bytes

    def kept(self, budget: int) -> Bools:
        """Which nodes the best walk of this budget keeps; it keeps wherever keeping is no worse."""
        kept = np.zeros(self.n_nodes, np.bool_)
        kept[self.stations] = walk_forward(self.jump, self.charge, self.bit_start, self.bits, budget)
        return kept


class SizeTable(NamedTuple):
    """Least cost by size: `best[j]` for size `1 + j * unit`, absent where no pruning has that size."""

    best: Sums
    unit: int
    parent: Ints
    solved: SubtreeTables | BudgetWalk

    @property
    def places(self) -> Longs:
        """The entries of sizes that exist."""
        return np.flatnonzero(self.best < (ABSENT if self.best.dtype.kind == "i" else np.inf))

    def kept(self, place: int) -> Bools:
        """Which nodes still test something in the pruning of `best[place]`.

        Of prunings with equal cost, the one that keeps the first node in pre-order in
        which they differ.
        """
        return self.solved.kept(int(place))

    def leaves(self, places: Longs, index: int) -> Bools:
        """The leaves of the pruning of `best[places[index]]`."""
        return leaves_after_cuts(self.parent, ~self.kept(places[index]))


def best_by_size(parent: Ints, end: Ints, charge: Longs, cost: Sums, limit: int) -> SizeTable:
    """Return the least cost of every size up to `1 + limit`.

    `charge` is 0 at leaves. The way is chosen by the cells each needs.
    """
    unit, charge, limit, layout, is_tabled = _planned(parent, end, charge, limit)
    if is_tabled:
        tables = subtree_tables(parent, end, charge, cost, layout)
        return SizeTable(tables.table[: layout[0, 1]], unit, parent, tables)
    walk = size_walk(parent, end, charge, cost, limit)
    return SizeTable(walk.best, unit, parent, walk)


def bytes_needed(parent: Ints, end: Ints, charge: Longs, limit: int) -> int:
    """Bytes that `best_by_size` will hold, about."""
    _, charge, limit, layout, is_tabled = _planned(parent, end, charge, limit)
    return 8 * n_cells(layout) if is_tabled else int(np.count_nonzero(charge)) * (limit + 1) // 8


def _planned(parent: Ints, end: Ints, charge: Longs, limit: int) -> tuple[int, Longs, int, Longs, bool]:
    """(unit, charges and limit in units of it, the layout of tables, whether tables are the better way)."""
    n_internal = int(np.count_nonzero(charge))
    unit = int(np.gcd.reduce(charge)) if n_internal else 1  # all tests of one arity: no cells for the gaps
    charge = charge // unit
    limit = min(limit // unit, int(charge.sum()))
    layout = table_layout(parent, end, charge, limit)
    return unit, charge, limit, layout, prefers_tables(n_cells(layout), n_internal, limit)


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
    """Cells of all tables of a layout: the last of start + length."""
    return int((layout[:, 0] + layout[:, 1]).max())


def subtree_tables(parent: Ints, end: Ints, charge: Longs, cost: Sums, layout: Longs) -> SubtreeTables:
    """Return the filled tables of a layout."""
    if cost.dtype.kind == "i":
        # A whole number that is less is less by 1. Hulls multiply costs by lengths: beyond 2^62 the plain loop.
        is_safe = cost.sum(dtype=np.float64) * float(layout[0, 1]) < 2.0**62  # floats do not wrap around
        rule = np.array([ABSENT, 1, SHORT if is_safe else ABSENT, 0], np.int64)
    else:
        rule = np.array([np.inf, 0.0, SHORT, max(TOLERANCE * cost.max(), 1e-300)])  # more than 0: see `needed` there
    table = fill_tables(parent, end, charge, cost, layout, rule)
    return SubtreeTables(parent, end, charge, layout, table, rule)


def size_walk(parent: Ints, end: Ints, charge: Longs, cost: Sums, limit: int) -> BudgetWalk:
    """Return the same answers by the budget walk: keeping pays the charge, cutting adds the excess."""
    stations, kept, excess, uncut = _stations(parent, charge, cost)
    none = np.zeros_like(kept)
    adds = np.stack([excess, none], axis=1)
    most = np.append(np.cumsum(kept[::-1])[::-1], 0)  # what stations from i on can pay
    absent: float = ABSENT
    if cost.dtype.kind != "i":
        absent, rule = np.inf, np.array([np.inf, TOLERANCE * cost.max()])
    elif max_leaf_sums(parent, cost[:, None])[0] < 1 << 29:  # half the memory for the rows
        adds, rule = adds.astype(np.int32), np.array([1 << 30, 0], np.int32)
    else:
        rule = np.array([ABSENT, 0], np.int64)
    walk = _walk(len(parent), end, stations, np.stack([none, kept], axis=1), adds, np.minimum(most, limit) + 1, rule)
    best = np.where(walk.best < rule[0], walk.best.astype(cost.dtype) + uncut, absent).astype(cost.dtype)
    return walk._replace(best=best)


def errors_walk(parent: Ints, end: Ints, charge: Longs, cost: Longs, budget: int) -> BudgetWalk:
    """Return the least size (less 1) of a pruning whose cuts add at most 0..budget to the cost.

    Whole-number costs, no cut of which helps (excess of 0 or more).
    """
    stations, kept, excess, _ = _stations(parent, charge, cost)
    none = np.zeros_like(kept)
    pays = np.stack([np.minimum(excess, budget + 1), none], axis=1)
    width = np.full(len(stations) + 1, budget + 1, np.int64)
    rule = np.array([ABSENT, 0], np.int64)
    return _walk(len(parent), end, stations, pays, np.stack([none, kept], axis=1), width, rule)


def _stations(parent: Ints, charge: Longs, cost: Sums) -> tuple[Ints, Longs, Sums, float]:
    """(internal nodes, their charges, what a cut at each adds to the cost, the cost of the uncut tree)."""
    stations = np.flatnonzero(charge).astype(np.int32)
    uncut = sum_upwards(parent, np.where(charge == 0, cost, 0)[:, None])[:, 0]
    return stations, charge[stations], (cost - uncut)[stations], uncut[0]


def _walk(n_nodes: int, end: Ints, stations: Ints, pays: Longs, adds: Sums, width: Longs, rule: Sums) -> BudgetWalk:
    """Return the table of a walk.

    `width[i]` is the number of budgets row i needs; the last row is all zeros, so a width
    of 1 asks for budgets spent to the full and a full width for budgets as upper limits.
    `rule` is (absent, slack): the value of what cannot be, and how much worse still ties.
    """
    jump = np.searchsorted(stations, end[stations]).astype(np.int64)
    bit_start = np.append(0, np.cumsum((width[:-1] + 7) // 8)).astype(np.int64)
    best, bits = fill_rows(jump, pays, adds, width, rule, bit_start)
    return BudgetWalk(n_nodes, stations, jump, pays, best, bit_start, bits)
