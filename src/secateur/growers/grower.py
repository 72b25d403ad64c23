"""Grow one tree in memory: choose how the work is divided, and run the kernels.

A large tree is grown in two steps. The nodes with many rows, the top, are split first. Below the top, each thread grows
one subtree at a time. There are two ways to split the top:

- column by column (`column_parallel_top.py`): each thread scans some columns of the same node. For classes.
- by the kernel, which leaves the nodes with few rows open. For numbers.

The tree depends neither on the division of the work nor on the number of threads.
"""

import numpy as np

from .._kernels import grow, growing
from .._kernels.context import GrowContext, Workspace
from .._utils.arrays import Array
from .column_parallel_top import ColumnParallelTop
from .grow_target import GrowTarget
from .prepared_columns import PreparedColumns
from .tree_tables import GrowingTables, GrownTables, new_lines
from .worker import ONE_WORKER, Workers, WorkspacePool

MIN_TOP_ROWS = 1 << 16  # Smaller trees have no top: dividing the work would cost more than it saves.
SUBTREE_DIVISOR = 16  # A node with at most this fraction of the rows, n_rows // 16, is the root of a subtree.
WORD_BITS = 64


class Grower:
    """The growth of one tree.

    Parameters
    ----------
    data : PreparedColumns
        The columns. Growing partitions their lists in place, so that they serve one growth only.
    target : GrowTarget
    limits : GrowLimits
    workers : Workers
    surrogates : SurrogateSearch, optional
        Data for the search for surrogate splits.
    """

    def __init__(
        self,
        data: PreparedColumns,
        target: GrowTarget,
        limits: growing.GrowLimits,
        workers: Workers = ONE_WORKER,
        surrogates: growing.SurrogateSearch | None = None,
    ) -> None:
        self.data = data
        self.target = target
        self.limits = limits
        self.workers = workers
        self.surrogates = surrogates
        n_sums = len(target.root_sums)
        self.context = GrowContext(
            target.criterion, data.lists, data.codes, data.weights, limits, n_sums, target.numbers, surrogates
        )

    def run(self) -> GrownTables:
        """Grow the tree and return its tables."""
        n_rows = self.data.n_rows
        nodes, reals = new_lines(self.target.root_sums[None, :], self._n_extra_words())
        nodes[0, growing.END] = n_rows
        if self.target.is_constant or self._is_root_too_small():
            return GrownTables(nodes, reals, np.zeros(0, np.uint16))
        max_subtree_rows = n_rows // SUBTREE_DIVISOR
        if self._can_split_top_by_column():
            tables = GrowingTables(nodes, reals)
            ColumnParallelTop(self.context, self.data, self.workers).split(tables, max_subtree_rows)
        elif self._can_split_top_in_kernel():
            top = self._grow_subtree(Workspace(self.context, n_rows), nodes[0], reals[0], max_subtree_rows)
            tables = GrowingTables(top.nodes, top.reals, top.branch)
        else:
            return self._grow_subtree(Workspace(self.context, n_rows), nodes[0], reals[0])
        self._grow_open_nodes(tables, max_subtree_rows)
        return tables.finish()

    def _grow_subtree(self, workspace: Workspace, node: Array, reals: Array, max_open_rows: int = 0) -> GrownTables:
        """Return the grown subtree of one node, in which nodes with at most `max_open_rows` rows are left open."""
        nodes, subtree_reals, branch = grow.grow_subtree(self.context, workspace, node, reals, max_open_rows)
        return GrownTables(nodes, subtree_reals, branch, workspace.surrogates)

    def _grow_open_nodes(self, tables: GrowingTables, max_rows: int) -> None:
        """Grow the subtrees of all open nodes side by side, the largest first, and attach them."""
        nodes = tables.nodes
        n_rows = nodes[:, growing.END] - nodes[:, growing.START]
        open_nodes = np.flatnonzero(nodes[:, growing.SPLIT_STEP] == growing.OPEN).tolist()
        open_nodes.sort(key=lambda v: (-n_rows[v], v))
        workspaces = WorkspacePool(Workspace(self.context, max_rows) for _ in range(self.workers.n_workers))

        def grow_subtree(v: int) -> None:
            with workspaces.borrow() as workspace:
                tables.attach(v, self._grow_subtree(workspace, tables.nodes[v].copy(), tables.reals[v].copy()))

        list(self.workers.pool.map(grow_subtree, open_nodes))

    def _n_extra_words(self) -> int:
        """Return the number of words that hold a bit per slot and a bit per group of columns."""
        n_slots = len(self.data.lists.feature_of_slot)
        return max(1, -(-n_slots // WORD_BITS)) + -(-len(self.limits.groups) // WORD_BITS)

    def _is_root_too_small(self) -> bool:
        """Return whether the limits forbid to split the root."""
        limits, weights = self.limits, self.data.weights
        size = float(self.data.n_rows)
        if weights is not None and weights.has_weight_limits and weights.row_weight is not None:
            size = float(weights.row_weight.sum())
        is_small = size < max(limits.min_split_size, 2 * limits.min_leaf_size)
        return is_small or limits.max_depth < 1 or len(self.data.lists.feature_of_slot) == 0

    def _can_split_top_by_column(self) -> bool:
        """Return whether the tree is large, and the kernels can score each column separately."""
        limits, n_rows = self.limits, self.data.n_rows
        if n_rows < MIN_TOP_ROWS or self.target.numbers is not None or self.surrogates is not None:
            return False
        if limits.is_best_first or limits.is_gain_ratio or limits.max_splits < n_rows:
            return False
        return self.data.codes is None or not limits.is_multiway

    def _can_split_top_in_kernel(self) -> bool:
        """Return whether threads can grow the subtrees of a regression tree side by side."""
        is_divisible = self.data.n_rows >= SUBTREE_DIVISOR and self.workers.n_workers > 1
        is_plain = not self.limits.is_best_first and self.surrogates is None
        return self.target.numbers is not None and is_divisible and is_plain
