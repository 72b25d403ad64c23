"""Run the growing kernels: the top of a large tree column by column, the rest subtree by subtree.

The division of labour depends on the data alone, never on the number of threads, so the
tree does not either.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernels import coded, grow, scan, top
from .._kernels import grow_parts as parts
from ._prepare import Prepared

Array = npt.NDArray[Any]

LARGE = 1 << 16  # rows from which on a tree has a top
TOP_SHARE = 16  # nodes with more than 1/16 of the rows belong to the top
COLUMNS_A_TASK = 8


@dataclass(frozen=True)
class Grown:
    """The kernels' tables; children come after their parent."""

    nodes: Array
    reals: Array
    branch: Array


@dataclass(frozen=True)
class Grower:
    """Everything that stays the same while one tree is grown."""

    criterion: Any
    data: Prepared
    ratio: parts.Ratio | None
    limits: parts.Limits
    n_classes: int
    pool: ThreadPoolExecutor
    n_jobs: int

    def run(self, counts: Array, n_rows: int) -> Grown:
        """Grow the whole tree from the class counts of the root."""
        n_slots = len(self.data.lists.feature)
        nodes = np.zeros((1, parts.N_FIELDS + max(1, -(-n_slots // 64))), np.int64)
        nodes[0, parts.END] = n_rows
        nodes[0, [parts.BRANCH, parts.BIRTH]] = -1
        nodes[0, parts.N_FIELDS :] = -1  # every slot may vary
        reals = np.zeros((1, self.n_classes + 2))
        reals[0, :-2] = counts
        branch = np.zeros(0, np.uint16)
        codes = self.data.codes
        most = 2 if codes is None or not self.limits.multiway else int(codes.n_codes.max(initial=2))
        child_of = np.zeros(n_rows, np.uint8 if most <= 2**8 else np.uint16)
        is_large = n_rows >= LARGE and not self.limits.best_first and not (self.ratio and self.ratio.is_on)
        if n_slots == 0 or np.count_nonzero(counts) < 2 or self._is_too_small(n_rows):
            return Grown(nodes, reals, branch)
        if not is_large or (codes is not None and self.limits.multiway) or self.limits.max_splits < n_rows:
            return Grown(*self.part(nodes[0], reals[0], child_of, self.scratch(n_rows)))
        return _Top(self, child_of, n_rows).run(nodes, reals)

    def _is_too_small(self, n_rows: int) -> bool:
        weights = self.data.weights
        size = n_rows if weights is None else weights.size.sum()
        limits = self.limits
        return bool(size < limits.least_split or size < 2 * limits.least_leaf or limits.max_depth < 1)

    def part(self, node: Array, reals: Array, child_of: Array, scratch: parts.Scratch) -> Any:
        data = self.data
        return grow.grow_part(
            self.criterion,
            data.lists,
            data.codes,
            data.weights,
            self.ratio,
            self.limits,
            node,
            reals,
            child_of,
            scratch,
        )

    def scratch(self, n_rows: int) -> parts.Scratch:
        data, n_slots = self.data, len(self.data.lists.feature)
        most = 2 if data.codes is None else int(data.codes.n_codes.max(initial=2))
        n_bits = 0 if data.codes is None else data.codes.width
        return parts.Scratch(
            scan.make_work(self.n_classes),
            coded.make_histogram(most, self.n_classes),
            np.empty(n_rows + 1, data.lists.entries.dtype),
            np.zeros(n_slots, np.bool_),
            np.zeros((most, self.n_classes)),
            np.zeros(most),
            np.zeros(most, np.int64),
            np.zeros((2, most), np.int64),
            np.zeros(self.n_classes, np.int64),
            np.zeros(self.n_classes),
            np.zeros(self.n_classes * n_bits, np.uint8),
            np.zeros(self.n_classes * n_bits),
            np.zeros((3, n_bits)),
            np.zeros(max(n_bits, self.n_classes)),
            np.zeros((n_slots, 2)),
            np.zeros((n_slots, 4), np.int64),
        )


class _Top:
    """The nodes with many rows, split one after the other, their columns in parallel."""

    def __init__(self, grower: Grower, child_of: Array, n_rows: int) -> None:
        self.grower = grower
        self.child_of = child_of
        self.n_rows = n_rows
        n_lists = len(grower.data.lists.entries)
        n_slots = len(grower.data.lists.feature)
        edges = [*range(0, n_lists, COLUMNS_A_TASK), n_lists]
        self.list_tasks = [*pairwise(edges)] if n_lists else []
        codes = grower.data.codes
        n_coded = 0 if codes is None else len(codes.codes)
        edges = [*range(n_lists, n_lists + n_coded, COLUMNS_A_TASK), n_lists + n_coded]
        self.code_tasks = [*pairwise(edges)] if n_coded else []
        self.bit_tasks = [(n_lists + n_coded, n_slots)] if n_slots > n_lists + n_coded else []
        self.partition_tasks = [*self.list_tasks, (n_lists, n_lists + 1)]
        first = grower.scratch(n_rows)
        self.tasks = [*self.list_tasks, *self.code_tasks, *self.bit_tasks]
        n_scratch = max(len(self.tasks), len(self.partition_tasks))
        shared: Any = {
            "has_ties": first.has_ties,
            "child_counts": first.child_counts,
            "child_size": first.child_size,
            "child_rows": first.child_rows,
        }
        self.scratch = [first, *(grower.scratch(n_rows)._replace(**shared) for _ in range(n_scratch - 1))]

    def run(self, root: Array, root_reals: Array) -> Grown:
        """Split the top, then grow every subtree below it."""
        grower, data = self.grower, self.grower.data
        nodes, reals, branches = [root[0]], [root_reals[0]], [np.zeros(0, np.uint16)]
        n_branch = 0
        todo: list[int] = [0]
        below: list[int] = []  # roots of the subtrees under the top
        while todo:
            v = todo.pop()
            if nodes[v][parts.END] - nodes[v][parts.START] <= self.n_rows // TOP_SHARE:
                below.append(v)
                continue
            test, histogram = self._best_test(nodes[v], reals[v])
            if test.slot < 0:
                continue
            tables = (np.vstack([nodes[v]] * 3), np.vstack([reals[v]] * 3))  # v, then its two children
            n_lists = len(data.lists.entries)
            n_codes = 0 if test.slot < n_lists or data.codes is None else int(data.codes.n_codes[test.slot - n_lists])
            own, n_own = grow.record_test(
                grower.limits, test, *tables, 0, n_codes, np.zeros(1, np.uint16), 0, histogram.branch
            )
            total = reals[v][:-2].sum()
            tables[1][0, -2:] = test.score / total, test.score
            scratch = self.scratch[0]
            top.assign_children(data.lists, data.codes, data.weights, tables[0][0], own, self.child_of, scratch)
            keep = top.add_children(grower.limits, scratch, *tables, 0, 1)
            tables[0][0, [parts.FIRST, parts.BIRTH]] = len(nodes), 0
            if n_own:
                tables[0][0, parts.BRANCH] = n_branch
                branches.append(own[:n_own])
                n_branch += n_own
            if keep:
                self._partition(tables[0][0], keep)
            nodes[v], reals[v] = tables[0][0], tables[1][0]
            todo += [len(nodes) + c for c in (1, 0) if tables[0][1 + c, parts.START] >= 0]
            nodes += list(tables[0][1:])
            reals += list(tables[1][1:])
        return self._joined(np.array(nodes), np.array(reals), np.concatenate(branches), below)

    def _best_test(self, node: Array, reals: Array) -> tuple[parts.Test, coded.Histogram]:
        grower, data = self.grower, self.grower.data
        own = [node.copy() for _ in self.tasks]  # each strikes out the constant columns it meets

        def one(i: int) -> parts.Test:
            common = (grower.ratio, grower.limits, own[i], reals)
            if i < len(self.list_tasks):
                test = top.best_of_lists(
                    grower.criterion, data.lists, data.weights, *common, self.tasks[i], self.scratch[i]
                )
            elif i < len(self.list_tasks) + len(self.code_tasks):
                test = top.best_of_codes(
                    grower.criterion, data.lists, data.codes, data.weights, *common, self.tasks[i], self.scratch[i]
                )
            else:
                test = top.best_of_bits(
                    grower.criterion, data.lists, data.codes, data.weights, *common, self.scratch[i]
                )
            return parts.Test(*test)

        tests = list(grower.pool.map(one, range(len(self.tasks))))
        for other in own:
            node[parts.N_FIELDS :] &= other[parts.N_FIELDS :]
        base = top.node_impurity(grower.criterion, reals)
        best = 0
        for i in range(1, len(tests)):
            chosen = top.better_test(tests[best], tests[i], data.lists.feature, base)
            best = i if chosen[1] == tests[i].slot else best
        return tests[best], self.scratch[best].histogram

    def _partition(self, node: Array, keep: int) -> None:
        data = self.grower.data

        def one(i: int) -> None:
            top.partition_slots(
                data.lists, data.codes, node, self.partition_tasks[i], keep, self.child_of, self.scratch[i], False
            )

        list(self.grower.pool.map(one, range(len(self.partition_tasks))))

    def _joined(self, nodes: Array, reals: Array, branch: Array, below: list[int]) -> Grown:
        """Grow the subtrees, largest first, and hang them into the top's tables."""
        grower = self.grower
        size = nodes[:, parts.END] - nodes[:, parts.START]
        below.sort(key=lambda v: (-size[v], v))
        # The top's scratches share their child counters; subtrees run side by side and need their own.
        free = [grower.scratch(self.n_rows // TOP_SHARE + 1) for _ in range(grower.n_jobs)]

        def one(v: int) -> Any:
            scratch = free.pop()
            try:
                return grower.part(nodes[v], reals[v], self.child_of, scratch)
            finally:
                free.append(scratch)

        all_nodes, all_reals, all_branches = [nodes], [reals], [branch]
        n_nodes, n_branch = len(nodes), len(branch)
        for v, (part, part_reals, part_branch) in zip(below, grower.pool.map(one, below), strict=True):
            part[:, parts.FIRST] += n_nodes - 1  # line 0 of the part goes to line v of the top
            part[part[:, parts.BRANCH] >= 0, parts.BRANCH] += n_branch
            nodes[v], reals[v] = part[0], part_reals[0]
            all_nodes.append(part[1:])
            all_reals.append(part_reals[1:])
            all_branches.append(part_branch)
            n_nodes += len(part) - 1
            n_branch += len(part_branch)
        return Grown(np.concatenate(all_nodes), np.concatenate(all_reals), np.concatenate(all_branches))
