"""Walk rows of codes to their nodes, and grow small nodes from their rows, in memory.

The grower of `secateur.grow` does the growing, on the codes as numbers and with the same
criterion tables as the whole sample, so that the subtree is the one it would have grown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .._kernels import criteria, histograms, presort
from .._kernels import grow_parts as parts
from ..data.arrays import Array
from ..growers.prepare import Coded, Prepared, codes_of, layout_of, stacked, weights_of
from ..growers.run import Grower
from ..growers.settings import NO_LIMIT, measure_of
from ._parts import Part, Subtree


@lru_cache(maxsize=2)
def measure(name: str, n_rows: int) -> criteria.Criterion:
    """Return the criterion as the kernels take it; entropy keeps a table as long as the sample."""
    return measure_of(name, n_rows, True)


@dataclass(frozen=True)
class Walk:
    """The tests so far, on codes."""

    feature: Array = field(repr=False)
    below: Array = field(repr=False)
    default: Array = field(repr=False)
    start: Array = field(repr=False)
    branch: Array = field(repr=False)
    first: Array = field(repr=False)
    missing: Array = field(repr=False)

    @classmethod
    def of(cls, nodes: Array, reals: Array, branch: Array, missing: Array) -> "Walk":
        """Return the tests in the tables of a tree."""
        del reals
        is_split = nodes[:, parts.BIRTH] >= 0
        feature = np.where(is_split, nodes[:, parts.SLOT], -1)
        return cls(
            feature, nodes[:, parts.BELOW].copy(), nodes[:, parts.DEFAULT].copy(), nodes[:, parts.BRANCH].copy(),
            branch, nodes[:, parts.FIRST].copy(), missing,
        )  # fmt: skip

    def __call__(self, codes: Array) -> Array:
        """Return the node at which each row ends."""
        node = np.empty(len(codes), np.int32)
        histograms.route_codes(
            codes, self.feature, self.below, self.default, self.start, self.branch, self.first, self.missing, node
        )
        return node


@dataclass(frozen=True)
class FinishTask:
    """Deal rows out to groups of nodes; grow the nodes of a group."""

    walk: Walk
    group_of: Array = field(repr=False)
    n_groups: int
    depth: Array = field(repr=False)
    columns: histograms.Columns = field(repr=False)
    limits: parts.Limits
    name: str
    n_rows: int
    n_classes: int

    def split(self, part: Part) -> Iterator[tuple[int, Part]]:
        """Yield (group, its rows) of a part."""
        node = self.walk(part.codes)
        rows, start = histograms.sorted_by_slot(node, self.group_of, self.n_groups)
        for group in np.flatnonzero(np.diff(start)).tolist():
            own = rows[start[group] : start[group + 1]]
            yield group, Part(part.codes[own], part.target[own], node[own])

    def grow(self, pieces: list[Part], pool: Any, n_jobs: int) -> list[Subtree]:
        """Return (node, tables of its subtree) of every node in a group."""
        if not pieces:
            return []
        node = np.concatenate([piece.node for piece in pieces])
        codes = np.concatenate([piece.codes for piece in pieces])
        target = np.concatenate([piece.target for piece in pieces])
        pieces.clear()
        rows = np.argsort(node, kind="stable")
        here, start = np.unique(node[rows], return_index=True)
        ends = np.append(start[1:], len(rows))
        return [
            (int(v), *self._grow(codes[rows[a:b]], target[rows[a:b]], int(self.depth[v]), pool, n_jobs))
            for v, a, b in zip(here, start, ends, strict=True)
        ]

    def _grow(self, codes: Array, target: Array, depth: int, pool: Any, n_jobs: int) -> tuple[Array, Array, Array]:
        data = self._prepared(codes, target, pool)
        limits = self.limits._replace(above=depth)
        if limits.max_depth < NO_LIMIT:
            limits = limits._replace(max_depth=limits.max_depth - depth)
        criterion = measure(self.name, self.n_rows)
        counts = np.bincount(target, minlength=self.n_classes).astype(float)
        grown = Grower(criterion, data, limits, self.n_classes, pool, n_jobs).run(counts, len(target))
        nodes = grown.nodes[:, : parts.N_FIELDS].copy()
        nodes[:, parts.DEPTH] += depth
        _cuts_as_codes(nodes, data, codes)
        return nodes, grown.reals, grown.branch

    def _prepared(self, codes: Array, target: Array, pool: Any) -> Prepared:
        """Return codes as the growing kernels take them: the same columns sorted or coded as in the whole sample.

        `prepare` would look for columns of two values anew, and score those in another order of rounding.
        """
        n, about = len(target), self.columns
        shift, entry = layout_of(n, self.n_classes)
        labels = target.astype(np.int32)

        def sort(j: int) -> tuple[Array, Array | None]:
            column, missing = np.ascontiguousarray(codes[:, j]), int(about.missing[j])
            rows = np.argsort(column, kind="stable").astype(np.uint32)  # counts digits; missing has the largest code
            values, entries = column.astype(np.float32), np.empty(n, entry)
            is_missing = column == missing if missing >= 0 else None
            if is_missing is not None:
                values[is_missing] = np.nan
            n_missing = presort.fill_entries(entries, rows, values, labels, shift)
            return entries, is_missing if n_missing else None

        listed = list(pool.map(sort, about.lists.tolist()))
        coded = [
            Coded(j, codes[:, j], int(about.n_codes[j]), bool(about.is_nominal[j])) for j in (*about.coded, *about.bits)
        ]
        feature = np.concatenate([about.lists, about.coded, about.bits]).astype(np.int32)
        lists = parts.Lists(stacked([one for one, _ in listed], n, entry), feature, shift)
        weights = weights_of(None, [is_missing for _, is_missing in listed], labels, self.n_classes, False)
        return Prepared(lists, codes_of(coded, labels, shift, entry, weights, False), weights, {})


def _cuts_as_codes(nodes: Array, data: Prepared, codes: Array) -> None:
    """Turn slots into columns, and the rows around a cut of a sorted column into codes."""
    split = np.flatnonzero(nodes[:, parts.BIRTH] >= 0)
    slot = nodes[split, parts.SLOT]
    feature = data.lists.feature[slot]
    below, above = nodes[split, parts.BELOW], nodes[split, parts.ABOVE]
    is_list = slot < len(data.lists.entries)
    low = np.where(is_list, codes[np.where(is_list, below, 0), feature], below)
    high = np.where(is_list & (above >= 0), codes[np.where(is_list, above, 0), feature], above)
    nodes[split, parts.SLOT] = feature
    nodes[split, parts.BELOW], nodes[split, parts.ABOVE] = low, high
