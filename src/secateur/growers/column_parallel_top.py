"""Split the nodes with many rows one after the other, with the columns of each node in parallel.

The groups of columns do not depend on the number of threads, and the best splits of the groups are compared in a fixed
order. The tree is therefore the same with any number of threads.
"""

from typing import NamedTuple

import numpy as np

from .._kernels import grow, growing
from .._kernels.context import GrowContext, Workspace
from .._kernels.stop import check_stopped
from .._utils.arrays import Array
from .prepared_columns import PreparedColumns
from .tree_tables import N_SCORES, GrowingTables
from .worker import Workers, WorkspacePool

COLUMNS_PER_TASK = 8

SlotRange = tuple[int, int]  # First slot, and the one after the last.


class ScanTask(NamedTuple):
    """Columns of one kind (`LISTS`, `CODES` or `BITS` of `grow`) that one thread scans for the best split."""

    kind: int
    slots: SlotRange


class FoundSplit(NamedTuple):
    """The best split of a group of columns, and the child of each category if the split is a set of categories."""

    split: growing.Split
    branch: Array


class ColumnParallelTop:
    """The top of one tree.

    Parameters
    ----------
    context : GrowContext
        The data and the limits, as the kernels read them.
    data : PreparedColumns
    workers : Workers
    """

    def __init__(self, context: GrowContext, data: PreparedColumns, workers: Workers) -> None:
        n_lists, n_slots = data.n_lists, len(data.lists.feature_of_slot)
        n_before_bits = n_lists + (0 if data.codes is None else data.codes.n_code_slots)
        list_ranges = _slot_ranges(0, n_lists)
        scan_tasks = [ScanTask(grow.LISTS, slots) for slots in list_ranges]
        scan_tasks += [ScanTask(grow.CODES, slots) for slots in _slot_ranges(n_lists, n_before_bits)]
        if n_slots > n_before_bits:
            scan_tasks.append(ScanTask(grow.BITS, (n_before_bits, n_slots)))
        self._context, self._data, self._pool = context, data, workers.pool
        self._scan_tasks = scan_tasks
        # Slot n_lists stands for the rows of all coded columns, which are partitioned together.
        self._partition_tasks = [*list_ranges, (n_lists, n_lists + 1)]
        # The other workspaces share the counts of the children with the first one.
        self._shared_workspace = Workspace(context, data.n_rows)
        helpers = [Workspace(context, data.n_rows, self._shared_workspace) for _ in range(workers.n_workers - 1)]
        self._workspaces = WorkspacePool([self._shared_workspace, *helpers])

    def split(self, tables: GrowingTables, max_open_rows: int) -> None:
        """Split the root and the nodes below it, and mark nodes with at most `max_open_rows` rows as open.

        Parameters
        ----------
        tables : GrowingTables
            The tables, with the line of the root; nodes are added to them.
        max_open_rows : int
        """
        waiting = [0]
        while waiting:
            check_stopped()
            v = waiting.pop()
            node = tables.nodes[v]
            if node[growing.END] - node[growing.START] <= max_open_rows:
                node[growing.SPLIT_STEP] = growing.OPEN
                continue
            found = self._best_split(node, tables.reals[v])
            if found.split.slot >= 0:
                waiting += self._split_node(tables, v, found)

    def _split_node(self, tables: GrowingTables, v: int, found: FoundSplit) -> list[int]:
        """Split one node, and return its children that may be split: the second one first."""
        split = found.split
        # Line 0 is the node. Lines 1 and 2 are the children, which `grow.split_node` fills.
        lines = np.vstack([tables.nodes[v]] * 3)
        reals = np.vstack([tables.reals[v]] * 3)
        node = lines[0]
        node[growing.SLOT] = split.slot
        node[growing.KIND] = split.kind
        node[growing.BELOW] = split.below
        node[growing.ABOVE] = split.above
        node[growing.DEFAULT_CHILD] = split.default_child
        node[growing.N_CHILDREN] = 2
        node[growing.BRANCH_START] = 0  # `found.branch` begins with the children of this split.
        reals[0, -N_SCORES:] = split.score / reals[0, :-N_SCORES].sum(), split.score
        splittable = grow.split_node(self._context, self._shared_workspace, lines, reals, found.branch)
        node[growing.SPLIT_STEP] = 0
        node[growing.BRANCH_START] = -1
        if split.kind == growing.SUBSET:
            node[growing.BRANCH_START] = tables.add_branch(found.branch[: self._data.n_codes(split.slot)].copy())
        if splittable:
            self._partition_rows(node, splittable)
        first = tables.add_nodes(lines[1:], reals[1:])
        node[growing.FIRST_CHILD] = first
        tables.nodes[v], tables.reals[v] = node, reals[0]
        return [first + child for child in (1, 0) if lines[1 + child, growing.START] >= 0]

    def _best_split(self, node: Array, reals: Array) -> FoundSplit:
        """Return the best split of a node, and clear the bits of the columns that are constant in the node."""
        lines = [node.copy() for _ in self._scan_tasks]  # Each scan clears the bits of its own constant columns.

        def scan(i: int) -> FoundSplit:
            with self._workspaces.borrow() as workspace:
                split = growing.Split(*grow.best_split(self._context, workspace, lines[i], reals, *self._scan_tasks[i]))
                branch = workspace.branch.copy() if split.kind == growing.SUBSET else workspace.branch
            return FoundSplit(split, branch)

        found: list[FoundSplit] = list(self._pool.map(scan, range(len(self._scan_tasks))))
        for line in lines:
            node[growing.N_FIELDS :] &= line[growing.N_FIELDS :]
        best = found[0]
        for rival in found[1:]:
            if grow.is_better(self._context, best.split, rival.split, reals):
                best = rival
        return best

    def _partition_rows(self, node: Array, splittable: int) -> None:
        """Partition the rows of a node among its children in all lists; `splittable` has a bit for each child."""

        def partition(slots: SlotRange) -> None:
            with self._workspaces.borrow() as workspace:
                grow.partition(self._context, workspace, node, slots, splittable)

        list(self._pool.map(partition, self._partition_tasks))


def _slot_ranges(first: int, last: int) -> list[SlotRange]:
    """Return the slots from `first` up to, but not including, `last` in ranges of at most `COLUMNS_PER_TASK` slots."""
    return [(start, min(start + COLUMNS_PER_TASK, last)) for start in range(first, last, COLUMNS_PER_TASK)]
