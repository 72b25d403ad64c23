"""Grow a tree on rows whose values are codes: large nodes level by level from histograms, small nodes from their rows.

A level is one pass over the codes: every row is routed to its open node and counted there. The counts of all batches
are merged. The kernels of growing in memory then choose the splits, with the same rules for ties. All nodes are written
to one `GrowingTables`, in which slots are columns and a threshold is stored as the codes below and above it.

Nodes with few rows are not split level by level. After the last level, one pass sorts their rows into groups, and the
grower of `secateur.grow` grows each subtree from its rows in memory (`SubtreeTask`). The values of the rows are codes,
and the criterion is that of the whole sample. The subtree is therefore the same as if the whole tree were grown in
memory.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._kernels import criteria, growing, histograms, presort
from .._kernels.histograms import CountedNode
from .._utils.arrays import Array, Floats
from ..growers.grower import Grower, Workers, class_target
from ..growers.monotone import limits_of_children
from ..growers.parameters import NO_LIMIT, kernel_criterion
from ..growers.prepared_columns import CodedColumn, PreparedColumns, pack_codes_for, row_weights, slot_features
from ..growers.presort import RowLabels, label_rows, stack_lines
from ..growers.presorted_data import PLAIN_COLUMNS
from ..growers.tree_tables import N_SCORES, GrowingTables, GrownTables, new_lines
from ._coding import CodedRows, CodeRouting, splits_of
from ._passes import PassRunner

MAX_HISTOGRAM_BYTES = 1 << 26  # Size of the histograms of one pass.
SMALL_NODE_DIVISOR = 16  # Nodes with at most finish_rows // 16 rows are grown in memory, which is faster for them.


@dataclass
class Histograms:
    """The number of rows of each class with each code of each column, in each open node.

    Parameters
    ----------
    by_group : array of int64, shape (n_groups, n_codes, n_classes)
    """

    by_group: Array

    def merge(self, other: "Histograms") -> None:
        """Add the histograms of other rows."""
        self.by_group += other.by_group


@dataclass(frozen=True)
class LevelTask:
    """The pass that counts the rows of some open nodes.

    Parameters
    ----------
    routing : CodeRouting
        The splits so far, and the group of each node: every node to count is a group of its own.
    offset : array of int64
        Where the codes of each column begin in a histogram. The last element is the number of codes of all columns.
    n_classes : int
    """

    routing: CodeRouting
    offset: Array = field(repr=False)
    n_classes: int

    def start(self) -> Histograms:
        """Return the histograms of no rows."""
        return Histograms(np.zeros((self.routing.n_groups, int(self.offset[-1]), self.n_classes), np.int64))

    def add(self, sums: Histograms, rows: CodedRows, _: int) -> None:
        """Count some rows."""
        routed = self.routing.route(rows.codes)
        histograms.count_rows(rows.codes, rows.target, routed.rows, routed.start, self.offset, sums.by_group)


class LevelGrowth:
    """A tree that grows level by level.

    Parameters
    ----------
    counts : array of int
        Number of rows of each class.
    layout : CodeLayout
        The columns and their codes.
    limits : GrowLimits
    criterion : str

    Attributes
    ----------
    layout : CodeLayout
    open_nodes : list of int
        Nodes that may be split, and whose rows have not been counted yet.
    """

    def __init__(
        self, counts: Array, layout: histograms.CodeLayout, limits: growing.GrowLimits, criterion: str
    ) -> None:
        self.layout = layout
        self.open_nodes: list[int] = []
        self._limits = limits
        self._criterion = criterion
        self._n_rows = int(counts.sum())
        self._n_classes = len(counts)
        self._n_final_rows = 0
        self._tables = GrowingTables(*new_lines(counts[None, :].astype(float), growing.N_LIMITS))
        _set_limits(self._tables.nodes, np.array([limits.root_limits]))
        self._open_if_splittable(0)
        self._context, self._workspace = histograms.make_context(
            sample_criterion(criterion, self._n_rows), layout, limits, self._n_classes
        )

    def grow(self, passes: PassRunner, finish_rows: int, on_progress: Callable[[int], None]) -> None:
        """Grow the tree to the end.

        Parameters
        ----------
        passes : PassRunner
            Where passes over the codes run.
        finish_rows : int
            Maximum number of rows that are gathered in memory at once.
        on_progress : callable
            Called after every pass with the number of rows whose leaf is final.
        """
        small_nodes: list[int] = []
        histogram_bytes = int(self.layout.offset[-1]) * self._n_classes * 8
        n_groups = max(1, MAX_HISTOGRAM_BYTES // max(histogram_bytes, 1))
        while self.open_nodes:
            small, large = self._divide_open_nodes(finish_rows)
            small_nodes += small
            self.open_nodes = []
            splits = splits_of(self._tables, self.layout.missing)
            for first in range(0, len(large), n_groups):
                counted = large[first : first + n_groups]
                routing = CodeRouting(splits, self._groups(counted, range(len(counted))), len(counted))
                sums = passes.sum_over_codes(LevelTask(routing, self.layout.offset, self._n_classes))
                for group, v in enumerate(counted):
                    self._split_node(v, sums.by_group[group])
                on_progress(self._n_final_rows)
        if small_nodes:
            self._grow_small_nodes(passes, small_nodes, finish_rows, on_progress)

    def finish(self) -> GrownTables:
        """Return the tables of the tree."""
        return self._tables.finish()

    def _divide_open_nodes(self, finish_rows: int) -> tuple[list[int], list[int]]:
        """Return the open nodes that will be grown in memory, and those that the next level counts."""
        n_rows = {v: self._n_rows_of(v) for v in self.open_nodes}
        fits_in_memory = sum(n_rows.values()) <= finish_rows
        max_small_rows = finish_rows if fits_in_memory else finish_rows // SMALL_NODE_DIVISOR
        small = [v for v in self.open_nodes if n_rows[v] <= max_small_rows]
        large = [v for v in self.open_nodes if n_rows[v] > max_small_rows]
        return small, large

    def _groups(self, nodes: list[int], groups: "range | list[int]") -> Array:
        """Return the group of every node of the tree: `groups` for the listed nodes, -1 for all others."""
        group_of_node = np.full(self._tables.n_nodes, -1, np.int32)
        group_of_node[nodes] = groups
        return group_of_node

    def _counts(self, v: int) -> Floats:
        """Return the number of rows of each class in a node."""
        counts: Floats = self._tables.reals[v, :-N_SCORES].copy()
        return counts

    def _n_rows_of(self, v: int) -> int:
        return int(self._counts(v).sum())

    def _open_if_splittable(self, v: int) -> None:
        """Add a new node to the open nodes if it may be split; else it is a leaf, and the leaf of its rows is final."""
        counts, limits = self._counts(v), self._limits
        n_rows, depth = counts.sum(), self._tables.nodes[v, growing.DEPTH]
        is_large = n_rows >= limits.min_split_size and n_rows >= 2 * limits.min_leaf_size
        if is_large and np.count_nonzero(counts) > 1 and depth < limits.max_depth:
            self.open_nodes.append(v)
        else:
            self._n_final_rows += int(n_rows)

    def _split_node(self, v: int, histogram: Array) -> None:
        """Split a node by its histogram; without an admissible split, it remains a leaf."""
        tables, counts, limits = self._tables, self._counts(v), _limits_of(self._tables.nodes[v : v + 1])[0]
        depth = int(tables.nodes[v, growing.DEPTH])
        split = growing.Split(
            *histograms.best_split_of_histogram(
                self._context, self._workspace, histogram, self.layout, CountedNode(counts, depth, limits)
            )
        )
        if split.slot < 0:
            self._n_final_rows += self._n_rows_of(v)
            return
        left = self._left_counts(split, histogram)
        right = counts - left
        default = split.default_child
        if default < 0:  # No value is missing in this node, so missing values go to the child with more rows.
            default = int(right.sum() > left.sum())
        lines, reals = new_lines(np.array([left, right]), growing.N_LIMITS)
        lines[:, growing.DEPTH] = depth + 1
        shares = float(left[-1] / left.sum()), float(right[-1] / right.sum())
        _set_limits(lines, limits_of_children(limits, self._sign_of(split), shares))
        first = tables.add_nodes(lines, reals)
        node = tables.nodes[v]
        node[growing.SLOT] = split.slot
        node[growing.KIND] = split.kind
        node[growing.BELOW] = split.below
        node[growing.ABOVE] = split.above
        node[growing.DEFAULT_CHILD] = default
        node[growing.N_CHILDREN] = 2
        node[growing.FIRST_CHILD] = first
        node[growing.SPLIT_STEP] = 0
        if split.kind == growing.SUBSET:
            branch = self._workspace.branch[: int(self.layout.n_codes[split.slot])].copy()
            node[growing.BRANCH_START] = tables.add_branch(branch)
        tables.reals[v, -N_SCORES:] = split.score / counts.sum(), split.score
        self._open_if_splittable(first)
        self._open_if_splittable(first + 1)

    def _sign_of(self, split: growing.Split) -> int:
        """Return the monotone constraint on the order of the children of a split; 0 for none."""
        has_order = split.kind == growing.NUMERIC and split.above >= 0
        return self._limits.signs[split.slot] if self._limits.signs and has_order else 0

    def _left_counts(self, split: growing.Split, histogram: Array) -> Floats:
        """Return the number of rows of each class that a split sends to child 0."""
        offset, n_codes = int(self.layout.offset[split.slot]), int(self.layout.n_codes[split.slot])
        by_code = histogram[offset : offset + n_codes].astype(float)
        if split.kind == growing.SUBSET:
            left = by_code[self._workspace.branch[:n_codes] == 0].sum(axis=0)
        else:
            left = by_code[: split.below + 1].sum(axis=0)
            if split.default_child == 0:
                left += histogram[offset + n_codes]  # The code after the last one counts missing numbers.
        counts: Floats = left
        return counts

    def _grow_small_nodes(
        self, passes: PassRunner, small_nodes: list[int], finish_rows: int, on_progress: Callable[[int], None]
    ) -> None:
        """Grow small nodes from their rows, in groups of at most `finish_rows` rows."""
        groups: list[int] = []
        group, n_rows = 0, 0
        for v in small_nodes:
            n_rows_of_node = self._n_rows_of(v)
            if n_rows and n_rows + n_rows_of_node > finish_rows:
                group, n_rows = group + 1, 0
            groups.append(group)
            n_rows += n_rows_of_node
        splits = splits_of(self._tables, self.layout.missing)
        task = SubtreeTask(
            CodeRouting(splits, self._groups(small_nodes, groups), group + 1),
            self._tables.nodes[:, growing.DEPTH].copy(),
            _limits_of(self._tables.nodes),
            self.layout,
            self._limits,
            self._criterion,
            self._n_rows,
            self._n_classes,
        )
        for subtrees in passes.grow_subtrees(task, group + 1):
            for subtree in subtrees:
                self._n_final_rows += self._n_rows_of(subtree.node)
                self._tables.attach(subtree.node, subtree.tables)
            on_progress(self._n_final_rows)


class NodeSubtree(NamedTuple):
    """A node of the growing tree, and the finished subtree that takes its place."""

    node: int
    tables: GrownTables


@lru_cache(maxsize=2)
def sample_criterion(name: str, n_rows: int) -> criteria.CriterionSpec:
    """Return the criterion as the kernels read it; its table of entropies has one entry for each row of the sample."""
    return kernel_criterion(name, n_rows, True)


@dataclass(frozen=True)
class SubtreeTask:
    """The pass that sorts the rows of small nodes into groups, and then grows the nodes of each group.

    Parameters
    ----------
    routing : CodeRouting
        The splits so far, and the group of each small node.
    depth : array of int64
        Depth of each node.
    estimate_limits : array of float, one line per node
        Lower and upper limit of the estimate of each node.
    layout : CodeLayout
        The columns and their codes.
    limits : GrowLimits
        Limits of the whole tree.
    criterion : str
    n_rows : int
        Number of rows of the whole sample.
    n_classes : int
    """

    routing: CodeRouting
    depth: Array = field(repr=False)
    estimate_limits: Floats = field(repr=False)
    layout: histograms.CodeLayout = field(repr=False)
    limits: growing.GrowLimits
    criterion: str
    n_rows: int
    n_classes: int

    def split(self, rows: CodedRows) -> Iterator[tuple[int, CodedRows]]:
        """Yield the number of each group with the rows that belong to it."""
        routed = self.routing.route(rows.codes)
        for group in np.flatnonzero(np.diff(routed.start)).tolist():
            of_group = routed.rows[routed.start[group] : routed.start[group + 1]]
            yield group, CodedRows(rows.codes[of_group], rows.target[of_group], routed.node[of_group])

    def grow(self, rows_of_group: list[CodedRows], pool: Any, n_jobs: int) -> list[NodeSubtree]:
        """Return the subtree of every node of a group.

        Parameters
        ----------
        rows_of_group : list of CodedRows
            The rows of the group. The list is emptied, to free memory.
        pool : ThreadPoolExecutor or InlinePool
        n_jobs : int
            Number of threads of the pool.
        """
        if not rows_of_group:
            return []
        node = np.concatenate([rows.node for rows in rows_of_group])
        codes = np.concatenate([rows.codes for rows in rows_of_group])
        target = np.concatenate([rows.target for rows in rows_of_group])
        rows_of_group.clear()
        by_node = np.argsort(node, kind="stable")
        start = np.unique(node[by_node], return_index=True)[1]
        workers = Workers(pool, n_jobs)
        return [
            self._grow_node(int(node[rows[0]]), codes[rows], target[rows], workers)
            for rows in np.split(by_node, start[1:])
        ]

    def _grow_node(self, v: int, codes: Array, target: Array, workers: Workers) -> NodeSubtree:
        """Return the subtree of one node from its rows."""
        depth = int(self.depth[v])
        columns = self._prepare_columns(codes, label_rows(target.astype(np.int32), self.n_classes), workers.pool)
        lower, upper = self.estimate_limits[v].tolist()
        limits = self.limits._replace(root_depth=depth, root_limits=(lower, upper))
        if limits.max_depth < NO_LIMIT:
            limits = limits._replace(max_depth=limits.max_depth - depth)
        counts = np.bincount(target, minlength=self.n_classes).astype(float)
        grow_target = class_target(sample_criterion(self.criterion, self.n_rows), counts)
        grown = Grower(columns, grow_target, limits, workers).run()
        # The limits of these nodes stay 0: the nodes will not be split again, so nothing reads their limits.
        nodes = np.zeros((len(grown.nodes), growing.N_FIELDS + growing.N_LIMITS), np.int64)
        nodes[:, : growing.N_FIELDS] = grown.nodes[:, : growing.N_FIELDS]
        nodes[:, growing.DEPTH] += depth
        _refer_to_codes(nodes, columns, codes)
        return NodeSubtree(v, grown._replace(nodes=nodes))

    def _prepare_columns(self, codes: Array, labels: RowLabels, pool: Any) -> PreparedColumns:
        """Return codes as the growing kernels read them: sorted or coded as in the whole sample.

        `prepare_columns` is not used here, because a column may have two values in these rows only. Its splits would
        then be scored by another kernel, whose rounding differs.
        """
        n, layout = len(labels.classes), self.layout

        def sort_column(j: int) -> tuple[Array, Array | None]:
            """Return the entries of a column, and which of its values are missing."""
            column = np.ascontiguousarray(codes[:, j])
            # NumPy sorts small integers by radix, which is fast. Missing values have the largest code and come last.
            rows = np.argsort(column, kind="stable").astype(np.uint32)
            values, entries = column.astype(np.float32), np.empty(n, labels.entry_type)
            is_missing = column == int(layout.missing[j])
            values[is_missing] = np.nan
            n_missing = presort.write_entries(entries, rows, values, labels.classes, labels.shift)
            return entries, is_missing if n_missing else None

        listed = list(pool.map(sort_column, layout.lists.tolist()))
        coded = [
            CodedColumn(j, codes[:, j], int(layout.n_codes[j]), bool(layout.is_nominal[j]))
            for j in (*layout.coded.tolist(), *layout.bits.tolist())
        ]
        weights = row_weights(None, [missing for _, missing in listed], labels.classes, self.n_classes, PLAIN_COLUMNS)
        entries = stack_lines([line for line, _ in listed], n, labels.entry_type)
        lists = growing.PresortedLists(entries, slot_features(layout.lists.tolist(), coded), labels.shift)
        return PreparedColumns(lists, pack_codes_for(coded, labels, weights, PLAIN_COLUMNS), weights, {})


def _limits_of(nodes: Array) -> Floats:
    """Return the limits of the estimate of each node, which monotone constraints set, one line per node."""
    limits: Floats = np.ascontiguousarray(nodes[:, -growing.N_LIMITS :]).view(np.float64)
    return limits


def _set_limits(nodes: Array, limits: Floats) -> None:
    """Write the limits of the estimate of each node, one line per node."""
    nodes[:, -growing.N_LIMITS :] = limits.view(np.int64)


def _refer_to_codes(nodes: Array, columns: PreparedColumns, codes: Array) -> None:
    """Make the table of a subtree refer to columns and codes, as the table of the whole tree does.

    The grower refers to slots. Where a column has a list, it stores for a threshold two rows: one with the value below
    and one with the value above.
    """
    split = np.flatnonzero(nodes[:, growing.SPLIT_STEP] >= 0)
    slot = nodes[split, growing.SLOT]
    feature = columns.lists.feature_of_slot[slot]
    below, above = nodes[split, growing.BELOW], nodes[split, growing.ABOVE]
    has_list = slot < columns.n_lists  # Splits of other columns refer to codes already.
    nodes[split, growing.SLOT] = feature
    nodes[split, growing.BELOW] = np.where(has_list, codes[np.where(has_list, below, 0), feature], below)
    has_row_above = has_list & (above >= 0)
    nodes[split, growing.ABOVE] = np.where(has_row_above, codes[np.where(has_row_above, above, 0), feature], above)
