"""The least cost of a pruning of every size, and the pruning itself.

Size is 1 plus a `charge` for every test that is kept (children less one for leaves,
children for nodes); tables are indexed by that sum. Two ways, the same answers:

*Tables*: the table of every subtree, children combined one after another by (min, +).
A grown tree has 20 to 25 entries per leaf, so all tables are stored and a pruning is found
again on the way down. Memory is the sum of the subtree sizes: quadratic for chains.

*Walk*: the budget walk of `size_preorder`, stations x budget bits for any shape.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .size_preorder import BudgetWalk, budget_walk, station_jumps
from .size_tables import descend, fill_tables, least_cost, most_cost, table_layout
from .structure import sum_upwards

__all__ = [
    "ABSENT",
    "TOLERANCE",
    "SizeTable",
    "SubtreeTables",
    "best_by_size",
    "bytes_needed",
    "errors_walk",
    "least_cost",
    "n_cells",
    "prefers_tables",
    "size_walk",
    "subtree_tables",
    "table_layout",
]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Sums = npt.NDArray[Any]

ABSENT = 1 << 61  # a whole-number cost that no pruning has; twice it still fits
TOLERANCE = 1e-12  # of the largest cost: real costs this close are equal
START, LENGTH = 0, 1  # columns of a layout
SHORT = 16  # below this length the plain loop is faster than two hulls


class SizeTable(NamedTuple):
    """Least cost by size: `best[j]` for size `1 + j * unit`, absent where no pruning has that size."""

    best: Sums
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
    table: Sums
    rule: Sums

    def kept(self, place: int) -> Bools:
        """Which nodes the best pruning of the root's entry `place` keeps."""
        return descend(self.parent, self.end, self.charge, self.layout, self.table, place, self.rule)


def best_by_size(parent: Ints, end: Ints, charge: Longs, cost: Sums, limit: int) -> SizeTable:
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


def subtree_tables(parent: Ints, end: Ints, charge: Longs, cost: Sums, layout: Longs) -> SubtreeTables:
    """Return the filled tables of a layout."""
    if cost.dtype.kind == "i":
        # A whole number that is less is less by 1. Hulls multiply costs by lengths: beyond 2^62 the plain loop.
        is_safe = cost.sum(dtype=np.float64) * float(layout[0, LENGTH]) < 2.0**62  # floats do not wrap around
        rule = np.array([ABSENT, 1, SHORT if is_safe else ABSENT, 0], np.int64)
    else:
        rule = np.array([np.inf, 0.0, SHORT, TOLERANCE * cost.max()])
    table = fill_tables(parent, end, charge, cost, layout, rule)
    return SubtreeTables(parent, end, charge, layout, table, rule)


def size_walk(parent: Ints, end: Ints, charge: Longs, cost: Sums, limit: int) -> BudgetWalk:
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


def _uncut_cost(parent: Ints, charge: Longs, cost: Sums) -> Sums:
    """The cost of each subtree as it was grown."""
    full: Sums = sum_upwards(parent, np.where(charge == 0, cost, 0).astype(cost.dtype)[:, None])[:, 0]
    return full
