"""The least cost of a pruning of every size, and the pruning that attains it.

The size of a pruning is 1 plus a `charge` for every internal node that is kept: its number of children less one if
sizes are leaves, its number of children if sizes are nodes. Tables are indexed by the sum of the charges. Two methods
give the same results; `best_by_size` takes the one that needs less time and memory.

*Subtree tables* (`size_tables.py`): a table for every subtree, combined from child to parent. A grown tree has 20 to 25
entries per leaf, so all tables are stored and a pruning is read back on the way down. Memory is the sum of the
subtree sizes: quadratic for chains.

*Budget walk* (`size_rows.py`): the internal nodes in pre-order are stations 0, ..., n - 1. At station i a pruning
either *keeps* the node (pays `charge[i, 1]` from the budget, adds `value[i, 1]`, goes to i + 1) or *cuts* it (pays
`charge[i, 0]`, adds `value[i, 0]`, goes to `jump[i]`, the first station outside the subtree). Time is stations x
budget for every shape of tree, memory a bit for each of these cells.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .mixtures import max_leaf_sums
from .size_rows import fill_rows, walk_forward
from .size_tables import fill_tables, kept_nodes_of, table_layout
from .structure import leaves_after_cuts, sum_upwards

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
LongsOrFloats = npt.NDArray[Any]

ABSENT_COST = 1 << 61  # the whole-number cost of a size that no pruning has; twice as much still fits 64 bits
ABSENT_COST_32_BITS = 1 << 30
RELATIVE_TOLERANCE = 1e-12  # real costs tie if they differ by at most this share of the largest cost
MIN_REAL_TOLERANCE = 1e-300  # a positive tolerance, which reading back a pruning by hulls requires
MAX_PLAIN_LENGTH = 16  # up to this length of the shorter table the plain loop is faster than two hulls
MAX_FAST_TABLE_CELLS = 1 << 25  # 256 MB
MAX_SMALL_TABLE_CELLS = 1 << 20  # 8 MB


class SubtreeTables(NamedTuple):
    """The tables of all subtrees in one array; see `size_tables.py` for their layout."""

    parent: Ints
    end: Ints
    charge: Longs
    layout: Longs
    table: LongsOrFloats
    constants: LongsOrFloats

    def kept(self, index: int) -> Bools:
        """Return which nodes the best pruning of entry `index` of the root's table keeps."""
        return kept_nodes_of(self.parent, self.end, self.charge, self.layout, self.table, index, self.constants)


class BudgetWalk(NamedTuple):
    """The least value of the whole walk for every budget, and the decisions of the walk.

    `best[j]` is the least value for budget j, `stations` are the internal nodes; the other fields are the arguments of
    `size_rows.walk_forward`.
    """

    n_nodes: int
    stations: Ints
    jump: Longs
    charge: Longs
    best: LongsOrFloats
    bit_start: Longs
    bits: Bytes

    def kept(self, budget: int) -> Bools:
        """Return which nodes the best walk of this budget keeps; ties keep."""
        kept = np.zeros(self.n_nodes, np.bool_)
        kept[self.stations] = walk_forward(self.jump, self.charge, self.bit_start, self.bits, budget)
        return kept


class SizeTable(NamedTuple):
    """The least cost of every size: `best[j]` for size `1 + j * unit`, absent where no pruning has that size."""

    best: LongsOrFloats
    unit: int
    parent: Ints
    solution: SubtreeTables | BudgetWalk

    @property
    def indices(self) -> Longs:
        """The indices into `best` of the sizes that some pruning has."""
        return np.flatnonzero(self.best < (ABSENT_COST if self.best.dtype.kind == "i" else np.inf))

    def kept(self, index: int) -> Bools:
        """Return which internal nodes remain in the pruning that costs `best[index]`.

        Of prunings with equal cost, the one that keeps the first node in pre-order in which they differ.
        """
        return self.solution.kept(int(index))

    def leaves(self, indices: Longs, member: int) -> Bools:
        """Return the leaves of the pruning that costs `best[indices[member]]`."""
        return leaves_after_cuts(self.parent, ~self.kept(indices[member]))


def best_by_size(parent: Ints, end: Ints, charge: Longs, cost: LongsOrFloats, limit: int) -> SizeTable:
    """Return the least cost of every size up to `1 + limit`; `charge` is 0 at leaves."""
    plan = _make_plan(parent, end, charge, limit)
    if plan.uses_tables:
        tables = subtree_tables(parent, end, plan.charge, cost, plan.layout)
        return SizeTable(tables.table[: plan.layout[0, 1]], plan.unit, parent, tables)
    walk = size_walk(parent, end, plan.charge, cost, plan.limit)
    return SizeTable(walk.best, plan.unit, parent, walk)


def bytes_needed(parent: Ints, end: Ints, charge: Longs, limit: int) -> int:
    """Return about how many bytes `best_by_size` needs."""
    plan = _make_plan(parent, end, charge, limit)
    if plan.uses_tables:
        return 8 * n_cells(plan.layout)
    return int(np.count_nonzero(plan.charge)) * (plan.limit + 1) // 8


class _Plan(NamedTuple):
    """How `best_by_size` solves one tree: charges and limit in multiples of `unit`, and by which method."""

    unit: int
    charge: Longs
    limit: int
    layout: Longs
    uses_tables: bool


def _make_plan(parent: Ints, end: Ints, charge: Longs, limit: int) -> _Plan:
    """Divide the charges by their greatest common divisor, lay out the tables, and choose the method."""
    n_internal = int(np.count_nonzero(charge))
    unit = int(np.gcd.reduce(charge)) if n_internal else 1  # sizes between the multiples need no entries
    charge = charge // unit
    limit = min(limit // unit, int(charge.sum()))
    layout = table_layout(parent, end, charge, limit)
    return _Plan(unit, charge, limit, layout, prefers_tables(n_cells(layout), n_internal, limit))


def prefers_tables(n_table_cells: int, n_internal: int, limit: int) -> bool:
    """Return whether subtree tables are the better method.

    A cell of a table takes 8 times as long as a cell of the walk, and 64 times the memory. Tables are chosen if they
    are faster and below 256 MB, if they are small, or if they need less memory.
    """
    n_walk_cells = n_internal * (limit + 1)
    if n_table_cells <= MAX_FAST_TABLE_CELLS and 8 * n_table_cells <= n_walk_cells:
        return True
    return n_table_cells <= MAX_SMALL_TABLE_CELLS or 64 * n_table_cells <= n_walk_cells


def n_cells(layout: Longs) -> int:
    """Return the number of cells of all tables of a layout."""
    return int((layout[:, 0] + layout[:, 1]).max())


def subtree_tables(parent: Ints, end: Ints, charge: Longs, cost: LongsOrFloats, layout: Longs) -> SubtreeTables:
    """Return the filled tables of a layout."""
    if cost.dtype.kind == "i":
        # Different whole numbers differ by at least 1. Hulls multiply costs by lengths: beyond 2^62 use the plain loop.
        fits_64_bits = cost.sum(dtype=np.float64) * float(layout[0, 1]) < 2.0**62  # floats do not wrap around
        constants = np.array([ABSENT_COST, 1, MAX_PLAIN_LENGTH if fits_64_bits else ABSENT_COST, 0], np.int64)
    else:
        tolerance = max(RELATIVE_TOLERANCE * cost.max(), MIN_REAL_TOLERANCE)
        constants = np.array([np.inf, 0.0, MAX_PLAIN_LENGTH, tolerance])
    table = fill_tables(parent, end, charge, cost, layout, constants)
    return SubtreeTables(parent, end, charge, layout, table, constants)


def size_walk(parent: Ints, end: Ints, charge: Longs, cost: LongsOrFloats, limit: int) -> BudgetWalk:
    """Return the least cost of every size by the budget walk: keeping pays the charge, cutting adds the excess cost."""
    stations = _stations(parent, charge, cost)
    zeros = np.zeros_like(stations.charge)
    value = np.stack([stations.excess, zeros], axis=1)
    max_charge = np.append(np.cumsum(stations.charge[::-1])[::-1], 0)  # what the stations from i on can pay
    absent: float = ABSENT_COST
    if cost.dtype.kind != "i":
        absent, constants = np.inf, np.array([np.inf, RELATIVE_TOLERANCE * cost.max()])
    elif max_leaf_sums(parent, cost[:, None])[0] < ABSENT_COST_32_BITS // 2:  # half the memory for the rows
        value, constants = value.astype(np.int32), np.array([ABSENT_COST_32_BITS, 0], np.int32)
    else:
        constants = np.array([ABSENT_COST, 0], np.int64)
    width = np.minimum(max_charge, limit) + 1
    walk = _solve_walk(
        len(parent), end, stations.node, np.stack([zeros, stations.charge], axis=1), value, width, constants
    )
    exists = walk.best < constants[0]
    best = np.where(exists, walk.best.astype(cost.dtype) + stations.uncut_cost, absent).astype(cost.dtype)
    return walk._replace(best=best)


def errors_walk(parent: Ints, end: Ints, charge: Longs, cost: Longs, budget: int) -> BudgetWalk:
    """Return the least size (less 1) of a pruning whose cuts add at most 0, ..., `budget` to the cost.

    Costs are whole numbers, and no cut lowers the cost (every excess is 0 or more).
    """
    stations = _stations(parent, charge, cost)
    zeros = np.zeros_like(stations.charge)
    pays = np.stack([np.minimum(stations.excess, budget + 1), zeros], axis=1)
    width = np.full(len(stations.node) + 1, budget + 1, np.int64)
    constants = np.array([ABSENT_COST, 0], np.int64)
    value = np.stack([zeros, stations.charge], axis=1)
    return _solve_walk(len(parent), end, stations.node, pays, value, width, constants)


class _Stations(NamedTuple):
    """The internal nodes with their charges, what a cut at each adds to the cost, and the cost of the uncut tree."""

    node: Ints
    charge: Longs
    excess: LongsOrFloats
    uncut_cost: float


def _stations(parent: Ints, charge: Longs, cost: LongsOrFloats) -> _Stations:
    """Return the stations of a walk over the internal nodes of a tree."""
    node = np.flatnonzero(charge).astype(np.int32)
    uncut = sum_upwards(parent, np.where(charge == 0, cost, 0)[:, None])[:, 0]
    return _Stations(node, charge[node], (cost - uncut)[node], uncut[0])


def _solve_walk(
    n_nodes: int, end: Ints, stations: Ints, pays: Longs, value: LongsOrFloats, width: Longs, constants: LongsOrFloats
) -> BudgetWalk:
    """Return the solved walk over the given stations.

    `width[i]` is the number of budgets of row i. The last row is all zeros: a last width of 1 means that budgets are
    spent completely, a full last width that budgets are upper limits. `constants` are (value of what is impossible,
    how much worse still ties).
    """
    jump = np.searchsorted(stations, end[stations]).astype(np.int64)
    bit_start = np.append(0, np.cumsum((width[:-1] + 7) // 8)).astype(np.int64)
    best, bits = fill_rows(jump, pays, value, width, constants, bit_start)
    return BudgetWalk(n_nodes, stations, jump, pays, best, bit_start, bits)
