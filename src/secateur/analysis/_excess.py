"""Tables of the numbers of prunings by excess, from which `alternatives` reads counts, shares and members.

The kernels (`_kernels/excess_tables.py`) define excess and tables. The classes here check that the tables fit into
memory, and hold them.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._kernels import excess_members, excess_tables, mixtures, structure
from .._utils.arrays import Bools, Floats, Ints, Longs, LongsOrFloats, write_protect
from ..core import Tree
from ..errors import ParameterError

MAX_TABLE_ENTRIES = 2**26  # 12 bytes each, and once more where the tables without a column are computed
MAX_PRODUCTS = 10**11  # of table entries: about a minute
LN_2 = math.log(2)
# Columns of the layout, as in `_kernels/columns.pxd`: lengths of T(v), place and lengths of P(v) and of S(v).
(
    N_EXCESSES, N_SIZES, PRODUCT_START, PRODUCT_EXCESSES, PRODUCT_SIZES, TABLE_START, SUFFIX_EXCESSES, SUFFIX_SIZES,
) = range(8)  # fmt: skip
ABSENT_COST = 2**62  # no sum of whole-number values reaches it


class ScaledNumber(NamedTuple):
    """The number mantissa * 2^exponent, which may exceed the range of floats."""

    mantissa: float
    exponent: int

    @property
    def log(self) -> float:
        """The natural logarithm; -inf for 0."""
        return math.log(self.mantissa) + self.exponent * LN_2 if self.mantissa > 0 else -math.inf

    def divided_by(self, other: "ScaledNumber") -> float:
        """Return the quotient as a float, which is 0 only if this number is 0."""
        if self.mantissa == 0:
            return 0.0
        shift = max(self.exponent - other.exponent, -2000)
        return max(math.ldexp(self.mantissa / other.mantissa, shift), math.ulp(0.0))


class LeastValue(NamedTuple):
    """The least sum of a value over the leaves of a member, and the cuts of a member that has it."""

    value: int | float
    excess: int
    is_cut: Bools


@dataclass(frozen=True, eq=False, repr=False)
class ExcessTables:
    """The numbers of prunings of all subtrees by their excess, within a limit on the excess of the whole tree.

    Parameters
    ----------
    tree : Tree
    least_cost : int
        The least cost of any pruning of the tree.
    unit : int
        All excesses are multiples of it; the tables have one entry per unit.
    excess : array of shape (n_nodes, 2)
        Excess of each node as a leaf and as a split, in units.
    charge : array of int
        What a split adds to the size; 0 for all nodes if sizes are not limited.
    layout : array
        Where the tables are (`excess_tables.excess_layout`).
    mantissa, exponent : arrays
        The entries of the tables.
    total : ScaledNumber
        Number of prunings within the limits.
    """

    tree: Tree
    least_cost: int
    unit: int
    excess: Longs
    charge: Longs
    layout: Longs
    mantissa: Floats
    exponent: Ints
    total: ScaledNumber

    @classmethod
    def of(cls, tree: Tree, cost: Longs, budget: int, max_leaves: int | None) -> "ExcessTables":
        """Return the tables of the prunings that cost at most `budget` more than the best.

        Parameters
        ----------
        tree : Tree
        cost : array of int
            The cost of each node as a leaf.
        budget : int
        max_leaves : int or None
            The greatest number of leaves.
        """
        least, excess = excess_tables.node_excesses(tree.parent, cost)
        unit = int(np.gcd.reduce(excess, axis=None)) or 1
        excess //= unit
        charge = np.maximum(tree.arity.astype(np.int64) - 1, 0)
        max_size = 0 if max_leaves is None else min(max_leaves, tree.n_leaves) - 1
        if max_leaves is None:
            charge[:] = 0
        greatest_excess = int(mixtures.max_leaf_sums(tree.parent, cost[:, None])[0] - least[0])
        max_excess = min(budget, greatest_excess) // unit
        _check_entries((max_excess + 1) * (max_size + 1))
        layout, n_entries = excess_tables.excess_layout(
            tree.parent, tree.end, ~tree.is_leaf, excess, charge, max_excess, max_size
        )
        _check_entries(n_entries)
        _check_work(tree, layout)
        mantissa, exponent = np.zeros(n_entries), np.zeros(n_entries, np.int32)
        all_nodes = np.ones(tree.n_nodes, bool)
        total = excess_tables.fill_numbers(
            tree.parent, tree.end, excess, charge, layout, ~all_nodes, all_nodes, mantissa, exponent
        )
        for array in (excess, charge, layout, mantissa, exponent):
            write_protect(array)
        return cls(tree, int(least[0]), unit, excess, charge, layout, mantissa, exponent, ScaledNumber(*total))

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """The share of members in which each node is split, and that in which it is a leaf.

        A share is 0 only if no member splits the node (or has it as a leaf), and 1 only if all do.
        """
        tree = self.tree
        split, leaf = excess_tables.node_shares(
            tree.parent, tree.end, self.excess, self.charge, self.layout, self.mantissa, self.exponent, *self.total
        )
        # A node is in all members if its parent is split in all, and split in all if it is then in none a leaf.
        is_always_split = structure.kept_nodes(tree.parent, (leaf > 0) | tree.is_leaf)
        is_always_leaf = (split == 0) & (leaf > 0)
        is_always_leaf[1:] &= is_always_split[tree.parent[1:]]
        below_1 = np.nextafter(1.0, 0.0)
        split = np.where(is_always_split, 1.0, np.minimum(split, below_1))
        leaf = np.where(is_always_leaf, 1.0, np.minimum(leaf, below_1))
        return write_protect(split), write_protect(leaf)

    def share_without(self, is_forced: Bools) -> float:
        """Return the share of members that split no node of `is_forced`; 0 only if there is none."""
        tree = self.tree
        is_stale = structure.sum_upwards(tree.parent, is_forced.astype(np.int64)[:, None])[:, 0] > 0
        total = excess_tables.fill_numbers(
            tree.parent, tree.end, self.excess, self.charge, self.layout, is_forced, is_stale, self.mantissa.copy(),
            self.exponent.copy(),
        )  # fmt: skip
        return ScaledNumber(*total).divided_by(self.total)

    def draw_cuts(self, seed: int) -> Bools:
        """Return the cuts of a random member; all members have the same chance."""
        return excess_members.draw_cuts(
            self.tree.end, self.excess, self.charge, self.layout, self.mantissa, self.exponent, *self.total, seed
        )

    def least(
        self, value: LongsOrFloats, is_forced: Bools | None = None, *, by_excess: bool = False
    ) -> LeastValue | None:
        """Return the least sum of `value` over the leaves of a member, and the cuts of a member that has it.

        Parameters
        ----------
        value : array
            The value of each node as a leaf; int64 or float64.
        is_forced : array of bool, optional
            Nodes that must not be split.
        by_excess : bool
            Whether to consider only the members of least excess. Otherwise, of several members with the least value,
            one with the least excess is returned.

        Returns
        -------
        LeastValue or None
            None if every member splits a node of `is_forced`.
        """
        tree = self.tree
        is_forced = np.zeros(tree.n_nodes, bool) if is_forced is None else is_forced
        absent = ABSENT_COST if value.dtype.kind == "i" else math.inf
        common = (tree.end, self.excess, self.charge, self.layout, is_forced, value)
        table, root = excess_members.fill_least(*common, absent, len(self.mantissa))
        of_excess = root.min(axis=0)
        is_present = of_excess < absent
        if not is_present.any():
            return None
        j = int(is_present.argmax() if by_excess else of_excess.argmin())
        size = int(root[:, j].argmin())
        is_cut = excess_members.least_cuts(*common, table, absent, size, j)
        return LeastValue(of_excess[j].item(), j * self.unit, is_cut)


def _check_entries(n_entries: int) -> None:
    """Raise `ParameterError` if tables with this number of entries would not fit into memory."""
    if n_entries > MAX_TABLE_ENTRIES:
        raise ParameterError(
            f"the tables of all prunings would have {n_entries:,} entries, more than {MAX_TABLE_ENTRIES:,}, which take "
            "0.8 GB; pass a smaller within or max_leaves, or no max_leaves"
        )


def _check_work(tree: Tree, layout: Longs) -> None:
    """Raise `ParameterError` if filling the tables would take much longer than a minute."""
    first = np.flatnonzero((layout[:, N_EXCESSES] > 0) & (layout[:, TABLE_START] >= 0))
    own = layout[first, N_EXCESSES] * layout[first, N_SIZES].astype(float)
    later = layout[tree.end[first]]
    n_products = float((own * later[:, SUFFIX_EXCESSES] * later[:, SUFFIX_SIZES]).sum())
    if n_products > MAX_PRODUCTS:
        raise ParameterError(
            f"the tables of all prunings take {n_products:.1e} products, more than {MAX_PRODUCTS:.0e}; pass a smaller "
            "within or max_leaves, or no max_leaves"
        )
