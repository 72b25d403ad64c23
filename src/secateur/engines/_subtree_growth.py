"""Grow the subtrees of small nodes from their rows, in memory.

A subtree is grown by the grower of `secateur.grow`. The values of the rows are codes, and the criterion is that of the
whole sample. The subtree is therefore the same as if the whole tree were grown in memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._kernels import criteria, growing, histograms, presort
from .._utils.arrays import Array
from ..growers.grower import Grower, Workers
from ..growers.growing_rows import NO_LIMIT, class_target, kernel_criterion
from ..growers.prepared_columns import CodedColumn, PreparedColumns, pack_codes_for, row_weights, slot_features
from ..growers.presort import RowLabels, label_rows, stack_lines
from ..growers.presorted_data import PLAIN_COLUMNS
from ..growers.tree_tables import GrownTables
from ._code_routing import CodeRouting
from ._code_store import CodedRows


class NodeSubtree(NamedTuple):
    """A node of the growing tree, and the finished subtree that takes its place."""

    node: int
    tables: GrownTables


@lru_cache(maxsize=2)
def sample_criterion(name: str, n_rows: int) -> criteria.CriterionSpec:
    """Return the criterion as the kernels read it. The table of entropy has one number for each row of the sample."""
    return kernel_criterion(name, n_rows, True)


@dataclass(frozen=True)
class SubtreeTask:
    """The pass that sorts rows into groups of small nodes, and the growth of the nodes of a group.

    Parameters
    ----------
    routing : CodeRouting
        The splits so far, and the group of each small node.
    depth : array of int64
        Depth of each node.
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
        limits = self.limits._replace(root_depth=depth)
        if limits.max_depth < NO_LIMIT:
            limits = limits._replace(max_depth=limits.max_depth - depth)
        counts = np.bincount(target, minlength=self.n_classes).astype(float)
        grow_target = class_target(sample_criterion(self.criterion, self.n_rows), counts)
        grown = Grower(columns, grow_target, limits, workers).run()
        nodes = grown.nodes[:, : growing.N_FIELDS].copy()
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
            # A stable sort of small integers counts digits. Missing values have the largest code and come last.
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


def _refer_to_codes(nodes: Array, columns: PreparedColumns, codes: Array) -> None:
    """Replace slots by columns, and the rows around a threshold by their codes, in the lines of a subtree."""
    split = np.flatnonzero(nodes[:, growing.SPLIT_STEP] >= 0)
    slot = nodes[split, growing.SLOT]
    feature = columns.lists.feature_of_slot[slot]
    below, above = nodes[split, growing.BELOW], nodes[split, growing.ABOVE]
    has_list = slot < columns.n_lists  # Splits of other columns refer to codes already.
    nodes[split, growing.SLOT] = feature
    nodes[split, growing.BELOW] = np.where(has_list, codes[np.where(has_list, below, 0), feature], below)
    has_row_above = has_list & (above >= 0)
    nodes[split, growing.ABOVE] = np.where(has_row_above, codes[np.where(has_row_above, above, 0), feature], above)
