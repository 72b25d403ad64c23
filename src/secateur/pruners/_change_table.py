"""The fewest errors for every number of changes: exactly, by a table, or only the convex part, by weighted sums.

*Table.* The options of all nodes, in pre-order, are the stations of the budget walk of `_kernels/size_rows.py`, whose
budget is the number of changes. At a station, the walk either makes the node the leaf of this option, and jumps past
its subtree, or goes on: to the next option of the node and, after its last one, into the split. A leaf of the grown
tree has no split, so that its last option is taken either way.

    node         0      1            2    3     4         leaves of the grown tree: 2, 3, 4
    stations     0      1     2      3    4     5
                 |--------------------------------->|     station 0: node 0 becomes a leaf
                        |---------------->|               stations 1 and 2: node 1 becomes a leaf, with one of 2 labels

Time is stations x changes, memory a bit for each of these cells and, for the rows of the table in use, about the depth
of the tree x changes.

*Convex part.* The corners of the lower convex hull of (changes, errors) are found from the leaves to the root, by
`_kernels/change_hull.py`, in time nearly linear in the nodes. Errors plus a price for each change is a sum over nodes,
whose minimum one pass finds. A price between the slopes of the edges at a corner gives the pruning of this corner.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._kernels.bottom_up import cheapest_subtree
from .._kernels.change_hull import hull_of_changes
from .._kernels.size_rows import fill_rows, first_jumpers, walk_forward
from .._kernels.structure import kept_nodes, leaves_after_cuts
from .._utils.arrays import Bools, Longs, LongsOrFloats
from ..core import Tree
from ..errors import ParameterError
from ._change_options import ChangeOptions

IMPOSSIBLE = 1 << 61  # the value of a walk that exceeds its budget; twice as much still fits 64 bits
IMPOSSIBLE_32_BITS = 1 << 30
MAX_SUM = 1 << 62
MAX_TABLE_BYTES = 1 << 32  # 4 GB
MAX_QUICK_CELLS = 1 << 31  # a few seconds


class Solution(NamedTuple):
    """A pruning: its leaves, and the option of each leaf (0 at other nodes)."""

    is_leaf: Bools
    option: Longs


class ChangeTable(NamedTuple):
    """The members of a front, by increasing changes and decreasing errors; `solve(i)` returns member i."""

    changes: Longs
    errors: Longs
    solve: Callable[[int], Solution]
    is_convex: bool


class ChangeProblem:
    """The options of a tree with the pruning of least errors, from which `table` and `convex_part` start.

    Parameters
    ----------
    tree : Tree
    options : ChangeOptions
        One of the prunings has no changes.
    n_rows : int
        Number of new rows.
    """

    def __init__(self, tree: Tree, options: ChangeOptions, n_rows: int) -> None:
        self.tree, self.options = tree, options
        # A pruning counts every row, and every node, at most once.
        self.max_errors = n_rows
        self.max_changes = max(n_rows, tree.n_nodes)
        self.tie_factor = tree.n_nodes + 1 if options.tie.any() or options.split_tie.any() else 1
        self.most_changed = self.cheapest(self.max_changes + 1, 1)

    def cheapest(self, error_price: int, change_price: int) -> Solution:
        """Return the pruning with the least sum of priced errors and changes, and of these the one with the least tie.

        If several are equal in this, too: the smallest.
        """
        options, tree = self.options, self.tree
        if error_price * self.max_errors + change_price * self.max_changes >= MAX_SUM // self.tie_factor:
            raise ParameterError(
                f"{self.max_errors:,} rows and {self.max_changes:,} changes exceed 64-bit sums; update with fewer rows"
            )
        value = (error_price * options.errors + change_price * options.changes) * self.tie_factor + options.tie
        split_value = change_price * options.split_changes * self.tie_factor + options.split_tie
        best = np.minimum.reduceat(value, options.start[:-1])
        # A leaf saves all splits of its subtree, its own included; subtracting them makes costs of leaves only.
        splits_before = np.append(0, np.cumsum(split_value))
        splits_saved = splits_before[tree.end] - splits_before[:-1]
        is_leaf = leaves_after_cuts(tree.parent, cheapest_subtree(tree.parent, best - splits_saved))
        candidates = np.flatnonzero(value == np.repeat(best, np.diff(options.start)))
        option = candidates[np.searchsorted(candidates, options.start[:-1])]
        return Solution(is_leaf, np.where(is_leaf, option, 0))

    def changes_and_errors(self, solution: Solution) -> tuple[int, int]:
        """Return the changes and the errors of a pruning."""
        chosen = solution.option[solution.is_leaf]
        is_split = kept_nodes(self.tree.parent, solution.is_leaf)
        n_changes = self.options.changes[chosen].sum() + self.options.split_changes[is_split].sum()
        return int(n_changes), int(self.options.errors[chosen].sum())

    def is_quick(self, max_changes: int) -> bool:
        """Return whether the table for up to `max_changes` changes takes a few seconds at most."""
        limit = min(max_changes, self.changes_and_errors(self.most_changed)[0])
        return len(self.options.label) * (limit + 1) <= MAX_QUICK_CELLS and self._bytes(limit) <= MAX_TABLE_BYTES

    def table(self, max_changes: int) -> ChangeTable:
        """Return the prunings with the fewest errors for every number of changes up to `max_changes`."""
        limit = min(max_changes, self.changes_and_errors(self.most_changed)[0])
        n_bytes = self._bytes(limit)
        if n_bytes > MAX_TABLE_BYTES:
            raise ParameterError(
                f"every number of changes up to {limit:,} of {self.tree} needs about {n_bytes / 1e9:.0f} GB; pass a "
                "smaller max_changes, or convex=True"
            )
        jump, charge, value = self._stations()
        constants: LongsOrFloats = np.array([IMPOSSIBLE, 0], np.int64)
        if (self.max_errors + 1) * self.tie_factor < IMPOSSIBLE_32_BITS // 2:  # half the memory
            constants = np.array([IMPOSSIBLE_32_BITS, 0], np.int32)
        width = np.full(len(jump) + 1, limit + 1, np.int64)
        bit_start = np.arange(len(jump) + 1, dtype=np.int64) * ((limit + 8) // 8)
        best, bits = fill_rows(jump, charge, value.astype(constants.dtype), width, constants, bit_start)
        errors = best.astype(np.int64) // self.tie_factor
        changes = np.flatnonzero(np.append(True, np.diff(errors) < 0))

        def solve(member: int) -> Solution:
            return self._read_walk(walk_forward(jump, charge, bit_start, bits, int(changes[member])))

        return ChangeTable(changes, errors[changes], solve, is_convex=False)

    def convex_part(self, max_changes: int) -> ChangeTable:
        """Return the prunings at the corners of the lower convex hull of (changes, errors), up to `max_changes`."""
        options, tree = self.options, self.tree
        changes, errors = hull_of_changes(
            tree.arity, options.start, options.changes, options.errors, options.split_changes
        )
        # Between the slopes of two edges lies that of the sum of both; before the first edge and after the last one,
        # that of the edge and a step of one error or one change.
        run, fall = np.append(np.diff(changes), 1), np.append(-np.diff(errors), 0)
        run_before, fall_before = np.append(0, run[:-1]), np.append(1, fall[:-1])

        def solve(member: int) -> Solution:
            return self.cheapest(
                error_price=int(run[member] + run_before[member]), change_price=int(fall[member] + fall_before[member])
            )

        n_members = int(np.count_nonzero(changes <= max_changes))
        return ChangeTable(changes[:n_members], errors[:n_members], solve, is_convex=True)

    def _stations(self) -> tuple[Longs, Longs, Longs]:
        """Return jump, charge and value of each station; a charge and a value for the leaf and one for going on."""
        options, tree = self.options, self.tree
        node = options.node
        jump = options.start[tree.end[node]]
        leaf_value = options.errors * self.tie_factor + options.tie
        charge = np.stack([options.changes, np.zeros_like(options.changes)], axis=1)
        value = np.stack([leaf_value, np.zeros_like(leaf_value)], axis=1)
        last = options.start[1:] - 1
        charge[last, 1] = np.where(tree.is_leaf, options.changes[last], options.split_changes)
        value[last, 1] = np.where(tree.is_leaf, leaf_value[last], options.split_tie)
        return jump, charge, value

    def _read_walk(self, goes_on: Bools) -> Solution:
        """Return the pruning of a walk that goes on at the given stations."""
        options, tree = self.options, self.tree
        is_split = goes_on[options.start[1:] - 1] & ~tree.is_leaf
        is_leaf = leaves_after_cuts(tree.parent, ~is_split)
        stops = np.append(np.flatnonzero(~goes_on), len(goes_on))
        first_stop = stops[np.searchsorted(stops, options.start[:-1])]
        option = np.minimum(first_stop, options.start[1:] - 1)
        return Solution(is_leaf, np.where(is_leaf, option, 0))

    def _bytes(self, limit: int) -> int:
        """Return about how many bytes the table needs."""
        jump = self._stations()[0]
        rows_in_use: int = first_jumpers(jump, np.ones(len(jump) + 1, np.int64))[1]
        return len(jump) * (limit // 8 + 1) + 8 * rows_in_use * (limit + 1)
