"""Growing level by level from histograms, and finishing small nodes in memory.

A level is one pass over the codes: every row walks to its open node and is counted there;
the sums come back and the driver picks the tests, by the kernels and tie rules of growing in
memory. Nodes with few rows leave the levels: all of them are dealt out in one more pass, and
the in-memory grower grows each from its own rows. The tables are those of
`_kernels/grow_parts.py`, but a cut is known by the codes around it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._kernels import grow_parts as parts
from .._kernels import histograms
from ..data.arrays import Array
from ._finish import FinishTask, Walk, measure
from ._parts import Part

if TYPE_CHECKING:
    from ._dask import Cluster
    from ._parts import Local

AT_ONCE = 1 << 26  # bytes of histograms in one pass
SMALL = 16  # a node with one in so many of the rows that fit into memory leaves the levels: they are the faster


@dataclass
class Histograms:
    """Rows of each class with each code of each column, in each open node."""

    by_slot: Array

    def merge(self, other: "Histograms") -> None:
        """Add the other's."""
        self.by_slot += other.by_slot


@dataclass(frozen=True)
class LevelTask:
    """One pass over codes: count the rows of open nodes."""

    walk: Walk
    slot_of: Array = field(repr=False)
    n_slots: int
    offset: Array = field(repr=False)
    n_classes: int

    def start(self) -> Histograms:
        """Return the histograms of no rows."""
        return Histograms(np.zeros((self.n_slots, int(self.offset[-1]), self.n_classes), np.int64))

    def add(self, sums: Histograms, part: Part, _: int) -> None:
        """Count the rows of one part."""
        rows, start = histograms.sorted_by_slot(self.walk(part.codes), self.slot_of, self.n_slots)
        histograms.add_rows(part.codes, part.target, rows, start, self.offset, sums.by_slot)


class Growth:
    """A tree that grows: the tables of its nodes so far, and which are still open."""

    def __init__(self, counts: Array, columns: histograms.Columns, limits: parts.Limits, name: str) -> None:
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
        self.job, self.space = histograms.make_job(measure(name, self.n_rows), columns, limits, self.n_classes)

    def grow(self, where: "Local | Cluster", finish_rows: int, told: Callable[[int], None]) -> None:
        """Grow to the end; `told(rows settled)` after every pass."""
        small: list[int] = []
        slot_bytes = int(self.columns.offset[-1]) * self.n_classes * 8
        n_slots = max(1, AT_ONCE // max(slot_bytes, 1))
        while self.open:
            rows = [self._rows(v) for v in self.open]
            most = finish_rows if sum(rows) <= finish_rows else finish_rows // SMALL
            small += [v for v, n in zip(self.open, rows, strict=True) if n <= most]
            large = [v for v, n in zip(self.open, rows, strict=True) if n > most]
            self.open = []
            walk = self._walk()
            for first in range(0, len(large), n_slots):
                slots = large[first : first + n_slots]
                slot_of = np.full(len(self.nodes), -1, np.int32)
                slot_of[slots] = np.arange(len(slots))
                sums = where.over_parts(LevelTask(walk, slot_of, len(slots), self.columns.offset, self.n_classes))
                for slot, v in enumerate(slots):
                    self._split(v, sums.by_slot[slot])
                told(self.n_settled)
        self._finish(where, small, finish_rows, told)

    def tables(self) -> tuple[Array, Array, Array]:
        """Return the tables of all nodes."""
        return np.array(self.nodes), np.array(self.reals), np.concatenate([np.zeros(0, np.uint16), *self.branches])

    def _rows(self, v: int) -> int:
        return int(self.reals[v][:-2].sum())

    def _walk(self) -> Walk:
        nodes, _, branch = self.tables()
        return Walk.of(nodes, branch, self.columns.missing)

    def _add(self, counts: Array, depth: int) -> None:
        """Add a node; it is open if it may be split."""
        node, limits, size = np.zeros(parts.N_FIELDS, np.int64), self.limits, counts.sum()
        node[[parts.BRANCH, parts.BIRTH]] = -1
        node[parts.DEPTH] = depth
        self.nodes.append(node)
        self.reals.append(np.append(counts, [0.0, 0.0]))
        is_large = size >= limits.least_split and size >= 2 * limits.least_leaf
        if is_large and np.count_nonzero(counts) > 1 and depth < limits.max_depth:
            self.open.append(len(self.nodes) - 1)
        else:
            self.n_settled += int(size)

    def _split(self, v: int, histogram: Array) -> None:
        counts = self.reals[v][:-2].copy()
        depth = int(self.nodes[v][parts.DEPTH])
        test = parts.Test(*histograms.best_test(self.job, self.space, histogram, self.columns, counts, depth))
        if test.slot < 0:
            self.n_settled += self._rows(v)
            return
        offset, n_codes = int(self.columns.offset[test.slot]), int(self.columns.n_codes[test.slot])
        lines = histogram[offset : offset + n_codes].astype(float)
        node, default = self.nodes[v], test.default
        if test.kind == parts.SUBSET:
            branch = self.space.branch[:n_codes].copy()
            left = lines[branch == 0].sum(axis=0)
            node[parts.BRANCH] = self.n_branch
            self.branches.append(branch)
            self.n_branch += n_codes
        else:
            left = lines[: test.below + 1].sum(axis=0)
            if default == 0:
                left += histogram[offset + n_codes]
        right = counts - left
        if default < 0:
            default = int(right.sum() > left.sum())
        node[[parts.SLOT, parts.KIND, parts.BELOW, parts.ABOVE]] = test.slot, test.kind, test.below, test.above
        node[[parts.DEFAULT, parts.ARITY, parts.FIRST, parts.BIRTH]] = default, 2, len(self.nodes), 0
        self.reals[v][-2:] = test.score / counts.sum(), test.score
        self._add(left, depth + 1)
        self._add(right, depth + 1)

    def _finish(
        self, where: "Local | Cluster", small: list[int], finish_rows: int, told: Callable[[int], None]
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
        depth = np.array([node[parts.DEPTH] for node in self.nodes])
        task = FinishTask(
            self._walk(), group_of, group + 1, depth, self.columns, self.limits, self.name, self.n_rows, self.n_classes
        )
        for grown in where.finish(task, group + 1):
            for v, nodes, reals, branch in grown:
                self.n_settled += self._rows(v)
                self._hang(v, nodes, reals, branch)
            told(self.n_settled)

    def _hang(self, v: int, nodes: Array, reals: Array, branch: Array) -> None:
        """Put a subtree in the place of node v."""
        nodes = nodes.copy()
        nodes[:, parts.FIRST] += len(self.nodes) - 1  # line 0 goes to line v
        nodes[nodes[:, parts.BRANCH] >= 0, parts.BRANCH] += self.n_branch
        self.nodes[v], self.reals[v] = nodes[0], reals[0]
        self.nodes += list(nodes[1:])
        self.reals += list(reals[1:])
        self.branches.append(branch)
        self.n_branch += len(branch)
