"""Grow one tree in memory: choose how the work is divided, run the kernels, and assemble the tree.

A large tree is grown in two steps. The nodes with many rows, the top, are split first. Below the top, each thread grows
one subtree at a time. There are two ways to split the top:

- Classification trees: column by column. The threads scan different columns of the same node (`ColumnParallelTop`).
- Regression trees: by the kernel, in one thread. It leaves the nodes with few rows open, for the second step.

The groups of columns do not depend on the number of threads, and the best splits of the groups are compared in a fixed
order. The tree therefore depends neither on the division of the work nor on the number of threads.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._kernels import grow, growing
from .._kernels.context import GrowContext, Workspace
from .._kernels.criteria import CriterionSpec
from .._kernels.stop import check_stopped
from .._utils.arrays import Array, Floats
from .._utils.threads import InlinePool
from ..core import Counts, Tree
from .prepared_columns import PreparedColumns
from .surrogate import prepare_surrogate_search, with_surrogates
from .tree_tables import N_SCORES, AssemblyOptions, GrowingTables, GrownTables, RowValues, assemble_tree, new_lines

MIN_TOP_ROWS = 1 << 16  # A classification tree of fewer rows has no top: dividing the work would cost more time.
SUBTREE_DIVISOR = 16  # A node with at most this fraction of the rows, n_rows // 16, is the root of a subtree.
WORD_BITS = 64
COLUMNS_PER_TASK = 8
SlotRange = tuple[int, int]  # First slot, and the one after the last.


@dataclass(frozen=True)
class Workers:
    """Threads that grow one tree.

    Parameters
    ----------
    pool : ThreadPoolExecutor or InlinePool
        An object with the method `map`.
    n_workers : int
        Number of its threads.
    """

    pool: Any
    n_workers: int


ONE_WORKER = Workers(InlinePool(), 1)


class WorkspacePool:
    """Scratch memory for threads: at least one workspace per thread.

    Parameters
    ----------
    workspaces : iterable of Workspace
    """

    def __init__(self, workspaces: Iterable[Workspace]) -> None:
        self._free = list(workspaces)

    @contextmanager
    def borrow(self) -> Iterator[Workspace]:
        """Lend a workspace that no other thread uses."""
        workspace = self._free.pop()
        try:
            yield workspace
        finally:
            self._free.append(workspace)


class GrowTarget(NamedTuple):
    """The criterion that splits are to lower, and the statistics of the root, from which growing starts.

    Classification and regression share every step of growing; they differ only in these fields.

    Parameters
    ----------
    criterion : CriterionSpec
        The criterion as the kernels read it.
    root_sums : array of float
        Statistics of the root. Classes: the weight of each class. Numbers: the total weight, and 0 for the sum of
        deviations, which the kernels compute.
    is_constant : bool
        Whether all rows have the same target, so that the root is not split.
    numbers : array of float, optional
        The target of each row, if it is a number.
    """

    criterion: CriterionSpec
    root_sums: Floats
    is_constant: bool
    numbers: Floats | None = None


def class_target(criterion: CriterionSpec, class_weights: Floats) -> GrowTarget:
    """Return the target of a classification tree from the criterion and the weight of each class."""
    return GrowTarget(criterion, class_weights, is_constant=int(np.count_nonzero(class_weights)) < 2)


class PreparedRows(NamedTuple):
    """Rows ready for one growth.

    Parameters
    ----------
    columns : PreparedColumns
        The columns.
    target : GrowTarget
    row_values : RowValues
    score_exponent : int
        Scores are multiplied by 2 to this power; see `AssemblyOptions`.
    is_shared : bool
        Whether the columns are needed again. The growth then changes a copy of their lists.
    """

    columns: PreparedColumns
    target: GrowTarget
    row_values: RowValues
    score_exponent: int = 0
    is_shared: bool = False


def grow_tree(
    prepared: PreparedRows,
    limits: growing.GrowLimits,
    workers: Workers,
    assembly: AssemblyOptions,
    *,
    n_surrogates: int,
) -> tuple[Tree, Counts]:
    """Grow a tree and return it with the counts of its rows.

    Parameters
    ----------
    prepared : PreparedRows
    limits : GrowLimits
    workers : Workers
    assembly : AssemblyOptions
    n_surrogates : int
        Maximum number of surrogate splits per node.
    """
    columns, row_values = prepared.columns, prepared.row_values
    search = prepare_surrogate_search(columns, row_values, n_surrogates) if n_surrogates else None
    changed_columns = columns.copy() if prepared.is_shared else columns
    grown = Grower(changed_columns, prepared.target, limits, workers, search).run()
    tree, counts = assemble_tree(grown, columns, row_values, assembly)
    if not n_surrogates:
        return tree, counts
    tree = with_surrogates(tree, grown, columns)
    return tree, replace(counts, tree=tree)


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
        if self.limits.signs:
            nodes[0, -growing.N_LIMITS :] = np.array(self.limits.root_limits).view(np.int64)
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
        """Return the number of words after the named fields of a node: bits of slots, bits of groups, and limits."""
        n_slots = len(self.data.lists.feature_of_slot)
        n_bit_words = max(1, -(-n_slots // WORD_BITS)) + -(-len(self.limits.groups) // WORD_BITS)
        return n_bit_words + (growing.N_LIMITS if self.limits.signs else 0)

    def _is_root_too_small(self) -> bool:
        """Return whether the root is not split: it is too small, no depth is allowed, or every column is constant."""
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


class ScanTask(NamedTuple):
    """Columns of one kind (`LISTS`, `CODES` or `BITS` of `grow`) that one thread scans for the best split."""

    kind: int
    slots: SlotRange


class FoundSplit(NamedTuple):
    """The best split of a group of columns, and the child of each category if the split is a set of categories."""

    split: growing.Split
    branch: Array


class ColumnParallelTop:
    """The top of one tree, whose nodes are split by threads that scan and partition different columns.

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
        # All workspaces share the counts of the children, because the threads partition the rows of the same node.
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
        """Split one node, and return its children that may be split.

        The second child comes first, so that the first child is the next to leave the stack.
        """
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
        drop = split.score
        reals[0, -N_SCORES:] = drop / reals[0, :-N_SCORES].sum(), drop
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
        # START of a child that may not be split is -1.
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
        """Partition the rows of a node among its children in all lists and words.

        `splittable` is the result of `grow.split_node`: which of the children may be split, as bits.
        """

        def partition(slots: SlotRange) -> None:
            with self._workspaces.borrow() as workspace:
                grow.partition(self._context, workspace, node, slots, splittable)

        list(self._pool.map(partition, self._partition_tasks))


def _slot_ranges(first: int, last: int) -> list[SlotRange]:
    """Return the slots from `first` up to, but not including, `last` in ranges of at most `COLUMNS_PER_TASK` slots."""
    return [(start, min(start + COLUMNS_PER_TASK, last)) for start in range(first, last, COLUMNS_PER_TASK)]
