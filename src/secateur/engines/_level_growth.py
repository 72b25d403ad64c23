"""Growing level by level from histograms, and finishing small nodes in memory.

A level is one pass over the codes: every row walks to its open node and is counted there;
the sums come back and the driver picks the tests, by the kernels and tie rules of growing in
memory. Nodes with few rows leave the levels: all of them are dealt out in one more pass, and
the grower of `secateur.grow` grows each from its own rows, on the codes as numbers and with the
criterion tables of the whole sample, so that the subtree is the one it would have grown. The
tables are those of `_kernels/growing.py`, but a cut is known by the codes around it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._kernels import criteria, growing, histograms, presort
from .._utils.arrays import Array
from ..growers.grower import Grower
from ..growers.kernel_arguments import NO_LIMIT, kernel_criterion
from ..growers.prepare import Coded, Prepared, codes_of, layout_of, stacked, weights_of
from ._parts import CodedRows, LocalPasses, Subtree

if TYPE_CHECKING:
    from ._dask import Cluster

AT_ONCE = 1 << 26  # bytes of histograms in one pass
SMALL = 16  # a node with one in so many of the rows that fit into memory leaves the levels: they are the faster


@lru_cache(maxsize=2)
def measure(name: str, n_rows: int) -> criteria.CriterionSpec:
    """Return the criterion as the kernels take it; entropy keeps a table as long as the sample."""
    return kernel_criterion(name, n_rows, True)


@dataclass(frozen=True)
class Dealing:
    """The tests so far, on codes, as `route_codes` takes them; the slot to which the rows of each node go, if any."""

    tests: tuple[Array, Array, Array, Array, Array, Array, Array] = field(repr=False)
    slot_of: Array = field(repr=False)
    n_slots: int

    def deal(self, codes: Array) -> tuple[Array, Array, Array]:
        """Return the node at which each row ends, the rows slot by slot, and where each slot begins."""
        node = np.empty(len(codes), np.int32)
        histograms.route_codes(codes, *self.tests, node)
        rows, start = histograms.group_rows_by_slot(node, self.slot_of, self.n_slots)
        return node, rows, start


@dataclass
class Histograms:
    """Rows of each class with each code of each column, in each open node."""

    by_slot: Array

    def merge(self, other: "Histograms") -> None:
        """Add the other's."""
        self.by_slot += other.by_slot


@dataclass(frozen=True)
class LevelTask(Dealing):
    """One pass over codes: count the rows of open nodes."""

    offset: Array = field(repr=False)
    n_classes: int

    def start(self) -> Histograms:
        """Return the histograms of no rows."""
        return Histograms(np.zeros((self.n_slots, int(self.offset[-1]), self.n_classes), np.int64))

    def add(self, sums: Histograms, part: CodedRows, _: int) -> None:
        """Count the rows of one part."""
        rows, start = self.deal(part.codes)[1:]
        histograms.count_rows(part.codes, part.target, rows, start, self.offset, sums.by_slot)


@dataclass(frozen=True)
class FinishTask(Dealing):
    """Deal rows out to groups of nodes; grow the nodes of a group."""

    depth: Array = field(repr=False)
    columns: histograms.CodeLayout = field(repr=False)
    limits: growing.GrowLimits
    name: str
    n_rows: int
    n_classes: int

    def split(self, part: CodedRows) -> Iterator[tuple[int, CodedRows]]:
        """Yield (group, its rows) of a part."""
        node, rows, start = self.deal(part.codes)
        for group in np.flatnonzero(np.diff(start)).tolist():
            own = rows[start[group] : start[group + 1]]
            yield group, CodedRows(part.codes[own], part.target[own], node[own])

    def grow(self, pieces: list[CodedRows], pool: Any, n_jobs: int) -> list[Subtree]:
        """Return (node, tables of its subtree) of every node in a group."""
        if not pieces:
            return []
        node = np.concatenate([piece.node for piece in pieces])
        codes = np.concatenate([piece.codes for piece in pieces])
        target = np.concatenate([piece.target for piece in pieces])
        pieces.clear()
        rows = np.argsort(node, kind="stable")
        start = np.unique(node[rows], return_index=True)[1]
        each = np.split(rows, start[1:])
        return [self._grow(int(node[own[0]]), codes[own], target[own], pool, n_jobs) for own in each]

    def _grow(self, v: int, codes: Array, target: Array, pool: Any, n_jobs: int) -> Subtree:
        depth = int(self.depth[v])
        data = self._prepared(codes, target, pool)
        limits = self.limits._replace(root_depth=depth)
        if limits.max_depth < NO_LIMIT:
            limits = limits._replace(max_depth=limits.max_depth - depth)
        criterion = measure(self.name, self.n_rows)
        counts = np.bincount(target, minlength=self.n_classes).astype(float)
        grown = Grower(criterion, data, limits, self.n_classes, pool, n_jobs).run(counts, len(target))
        nodes = grown.nodes[:, : growing.N_FIELDS].copy()
        nodes[:, growing.DEPTH] += depth
        _cuts_as_codes(nodes, data, codes)
        return v, nodes, grown.reals, grown.branch

    def _prepared(self, codes: Array, target: Array, pool: Any) -> Prepared:
        """Return codes as the growing kernels take them: the same columns sorted or coded as in the whole sample.

        `prepare` would look for columns of two values anew, and score those in another order of rounding.
        """
        n, about = len(target), self.columns
        shift, entry = layout_of(n, self.n_classes)
        labels = target.astype(np.int32)

        def sort(j: int) -> tuple[Array, Array | None]:
            column = np.ascontiguousarray(codes[:, j])
            rows = np.argsort(column, kind="stable").astype(np.uint32)  # counts digits; missing has the largest code
            values, entries = column.astype(np.float32), np.empty(n, entry)
            is_missing = column == int(about.missing[j])
            values[is_missing] = np.nan
            n_missing = presort.write_entries(entries, rows, values, labels, shift)
            return entries, is_missing if n_missing else None

        listed = list(pool.map(sort, about.lists.tolist()))
        coded = [
            Coded(j, codes[:, j], int(about.n_codes[j]), bool(about.is_nominal[j])) for j in (*about.coded, *about.bits)
        ]
        feature = np.concatenate([about.lists, about.coded, about.bits]).astype(np.int32)
        lists = growing.PresortedLists(stacked([one for one, _ in listed], n, entry), feature, shift)
        weights = weights_of(None, [is_missing for _, is_missing in listed], labels, self.n_classes, False)
        return Prepared(lists, codes_of(coded, labels, shift, entry, weights, False), weights, {})


def _cuts_as_codes(nodes: Array, data: Prepared, codes: Array) -> None:
    """Turn slots into columns, and the rows around a cut of a sorted column into codes."""
    split = np.flatnonzero(nodes[:, growing.SPLIT_STEP] >= 0)
    slot = nodes[split, growing.SLOT]
    feature = data.lists.feature_of_slot[slot]
    below, above = nodes[split, growing.BELOW], nodes[split, growing.ABOVE]
    is_list = slot < len(data.lists.entries)
    low = np.where(is_list, codes[np.where(is_list, below, 0), feature], below)
    high = np.where(is_list & (above >= 0), codes[np.where(is_list, above, 0), feature], above)
    nodes[split, growing.SLOT] = feature
    nodes[split, growing.BELOW], nodes[split, growing.ABOVE] = low, high


class Growth:
    """A tree that grows: the tables of its nodes so far, and which are still open."""

    def __init__(self, counts: Array, columns: histograms.CodeLayout, limits: growing.GrowLimits, name: str) -> None:
        self.columns = columns
        self.limits = limits
        self.name = name
        self.n_rows = int(counts.sum())
        self.n_classes = len(counts)
        self.nodes: list[Array] = []
        self.reals: list[Array] = []
        self.branches: list[Array] = []
        self.n_branch = self.n_settled = 0
        self.open: list[int] = []
        self._add(counts.astype(float), 0)
        self.context, self.workspace = histograms.make_context(
            measure(name, self.n_rows), columns, limits, self.n_classes
        )

    def grow(self, where: "LocalPasses | Cluster", finish_rows: int, told: Callable[[int], None]) -> None:
        """Grow to the end; `told(rows settled)` after every pass."""
        small: list[int] = []
        n_slots = max(1, AT_ONCE // max(int(self.columns.offset[-1]) * self.n_classes * 8, 1))
        while self.open:
            rows = [self._rows(v) for v in self.open]
            most = finish_rows if sum(rows) <= finish_rows else finish_rows // SMALL
            small += [v for v, n in zip(self.open, rows, strict=True) if n <= most]
            large = [v for v, n in zip(self.open, rows, strict=True) if n > most]
            self.open = []
            tests = self._tests()
            for first in range(0, len(large), n_slots):
                slots = large[first : first + n_slots]
                slot_of = np.full(len(self.nodes), -1, np.int32)
                slot_of[slots] = np.arange(len(slots))
                sums = where.sum_over_codes(LevelTask(tests, slot_of, len(slots), self.columns.offset, self.n_classes))
                for slot, v in enumerate(slots):
                    self._split(v, sums.by_slot[slot])
                told(self.n_settled)
        self._finish(where, small, finish_rows, told)

    def tables(self) -> tuple[Array, Array, Array]:
        """Return the tables of all nodes."""
        return np.array(self.nodes), np.array(self.reals), np.concatenate([np.zeros(0, np.uint16), *self.branches])

    def _rows(self, v: int) -> int:
        return int(self.reals[v][:-2].sum())

    def _tests(self) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
        nodes, _, branch = self.tables()
        feature = np.where(nodes[:, growing.SPLIT_STEP] >= 0, nodes[:, growing.SLOT], -1)
        below, default, start, first = nodes[
            :, [growing.BELOW, growing.DEFAULT_CHILD, growing.BRANCH_START, growing.FIRST_CHILD]
        ].T.copy()
        return feature, below, default, start, branch, first, self.columns.missing

    def _add(self, counts: Array, depth: int) -> None:
        """Add a node; it is open if it may be split."""
        node, limits, size = np.zeros(growing.N_FIELDS, np.int64), self.limits, counts.sum()
        node[[growing.BRANCH_START, growing.SPLIT_STEP]] = -1
        node[growing.DEPTH] = depth
        self.nodes.append(node)
        self.reals.append(np.append(counts, [0.0, 0.0]))
        is_large = size >= limits.min_split_size and size >= 2 * limits.min_leaf_size
        if is_large and np.count_nonzero(counts) > 1 and depth < limits.max_depth:
            self.open.append(len(self.nodes) - 1)
        else:
            self.n_settled += int(size)

    def _split(self, v: int, histogram: Array) -> None:
        counts = self.reals[v][:-2].copy()
        depth = int(self.nodes[v][growing.DEPTH])
        test = growing.Split(
            *histograms.best_split_of_histogram(self.context, self.workspace, histogram, self.columns, counts, depth)
        )
        if test.slot < 0:
            self.n_settled += self._rows(v)
            return
        offset, n_codes = int(self.columns.offset[test.slot]), int(self.columns.n_codes[test.slot])
        lines = histogram[offset : offset + n_codes].astype(float)
        node, default = self.nodes[v], test.default_child
        if test.kind == growing.SUBSET:
            branch = self.workspace.branch[:n_codes].copy()
            left = lines[branch == 0].sum(axis=0)
            node[growing.BRANCH_START] = self.n_branch
            self.branches.append(branch)
            self.n_branch += n_codes
        else:
            left = lines[: test.below + 1].sum(axis=0)
            if default == 0:
                left += histogram[offset + n_codes]
        right = counts - left
        if default < 0:
            default = int(right.sum() > left.sum())
        node[[growing.SLOT, growing.KIND, growing.BELOW, growing.ABOVE]] = test.slot, test.kind, test.below, test.above
        node[[growing.DEFAULT_CHILD, growing.N_CHILDREN, growing.FIRST_CHILD, growing.SPLIT_STEP]] = (
            default,
            2,
            len(self.nodes),
            0,
        )
        self.reals[v][-2:] = test.score / counts.sum(), test.score
        self._add(left, depth + 1)
        self._add(right, depth + 1)

    def _finish(
        self, where: "LocalPasses | Cluster", small: list[int], finish_rows: int, told: Callable[[int], None]
    ) -> None:
        """Grow the small nodes from their rows, as many at a time as `finish_rows` allows."""
        if not small:
            return
        group_of = np.full(len(self.nodes), -1, np.int32)
        group, n_rows = 0, 0
        for v in small:
            if n_rows and n_rows + self._rows(v) > finish_rows:
                group, n_rows = group + 1, 0
            group_of[v] = group
            n_rows += self._rows(v)
        depth = np.array([node[growing.DEPTH] for node in self.nodes])
        task = FinishTask(
            self._tests(), group_of, group + 1, depth, self.columns, self.limits, self.name, self.n_rows, self.n_classes
        )
        for grown in where.finish(task, group + 1):
            for v, nodes, reals, branch in grown:
                self.n_settled += self._rows(v)
                self._hang(v, nodes, reals, branch)
            told(self.n_settled)

    def _hang(self, v: int, nodes: Array, reals: Array, branch: Array) -> None:
        """Put a subtree in the place of node v."""
        nodes = nodes.copy()
        nodes[:, growing.FIRST_CHILD] += len(self.nodes) - 1  # line 0 goes to line v
        nodes[nodes[:, growing.BRANCH_START] >= 0, growing.BRANCH_START] += self.n_branch
        self.nodes[v], self.reals[v] = nodes[0], reals[0]
        self.nodes += list(nodes[1:])
        self.reals += list(reals[1:])
        self.branches.append(branch)
        self.n_branch += len(branch)
