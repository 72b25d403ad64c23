"""Grow a regression tree: the test that lowers the squared error most, in every node.

Rows are put into the order of their targets first. Every list is then sorted by value and
target, so that sums are taken in one order whatever the order of the rows was, and the same
rows give the same tree to the last bit.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import sealed
from .._kernels import grow_parts as parts
from .._kernels import squared_grow
from ..errors import DataError
from ..moments import Moments
from ..routing import moments_of
from ..table import Schema, Table
from ..tree import Tree
from ._assemble import assemble
from ._prepare import Prepared, prepare
from ._run import Grower, Grown

Array = npt.NDArray[Any]

SMALLEST_RANGE = 1e-140  # its square is still a float with all its digits
TOP_SHARE = 16  # with threads: nodes of at most 1/16 of the rows are grown side by side
PSEUDO_CLASSES = 2  # of the tables: the weight, and space for a second sum in the histograms


def grow_squared(
    table: Table,
    weight: Array | None,
    limits: parts.Limits,
    pool: Any,
    n_jobs: int,
    *,
    max_bins: int | None,
    by_weight: bool,
    exponent: int,
) -> tuple[Tree, Moments]:
    """Return the tree and the moments of its growing sample.

    `weight` is None or above 0 everywhere, and `2**-exponent` times the weights themselves.
    """
    assert table.target is not None
    is_whole = weight is None or bool((weight == np.rint(weight)).all())
    order = np.lexsort((table.target,) if weight is None else (weight, table.target))
    y, scale = _scaled(table.target[order])
    in_order = _in_order(table, order)
    sorted_weight = None if weight is None else weight[order]
    data = prepare(
        replace(in_order, schema=_one_class(table.schema), target=sealed(np.zeros(table.n_rows, np.int32))),
        sorted_weight,
        max_bins=max_bins,
        multiway=limits.multiway,
        is_plain=weight is None,
        pool=pool,
        by_weight=by_weight,
    )
    total = float(table.n_rows) if weight is None else float(weight.sum())
    grown = _Growth(Grower(None, data, None, limits, PSEUDO_CLASSES, pool, n_jobs), y).run(total)
    grown.reals[:, PSEUDO_CLASSES] = np.ldexp(grown.reals[:, PSEUDO_CLASSES], 2 * scale)  # the scores
    tree, _ = assemble(
        grown, data, in_order, is_whole=is_whole, has_births=limits.best_first, exponent=0 if is_whole else exponent
    )
    given = None if weight is None else np.ldexp(weight, exponent)
    return tree, moments_of(tree, table, given, "grow")


def _scaled(target: Array) -> tuple[Array, int]:
    """Sorted targets less the middle one, times a power of 2 that brings them to -1..1, and that power, negative."""
    y = target - target[len(target) // 2]
    largest = max(-y[0], y[-1])
    if 0 < largest < SMALLEST_RANGE:
        raise DataError(
            f"y ranges over {y[-1] - y[0]:.3g} only, whose square is 0 as a float; multiply y by a large number"
        )
    scale = int(np.frexp(largest)[1])
    return np.ldexp(y, -scale), scale


def _in_order(table: Table, order: Array) -> Table:
    """The table with its rows in another order, and without its target."""
    if table.matrix is not None:
        matrix = table.matrix[order]
        return Table(table.schema, tuple(matrix.T), None, matrix)
    return Table(table.schema, tuple(column[order] for column in table.columns), None)


def _one_class(schema: Schema) -> Schema:
    return replace(schema, classes=np.zeros(1, np.int32), has_numeric_target=False)


class _Growth:
    """One tree while it is grown."""

    def __init__(self, grower: Grower, y: Array) -> None:
        self.grower = grower
        self.y = y
        self.by_feature = np.argsort(grower.data.lists.feature, kind="stable")

    def run(self, total: float) -> Grown:
        grower, data, n_rows = self.grower, self.grower.data, len(self.y)
        n_slots = len(data.lists.feature)
        nodes = np.zeros((1, parts.N_FIELDS + max(1, -(-n_slots // 64))), np.int64)
        nodes[0, parts.END] = n_rows
        nodes[0, [parts.BRANCH, parts.BIRTH]] = -1
        nodes[0, parts.N_FIELDS :] = -1  # every slot may vary
        reals = np.zeros((1, PSEUDO_CLASSES + 2))
        reals[0, 0] = total
        if n_slots == 0 or self.y[0] == self.y[-1] or _is_too_small(data, grower.limits, n_rows):
            return Grown(nodes, reals, np.zeros(0, np.uint16))
        most = 2 if data.codes is None or not grower.limits.multiway else int(data.codes.n_codes.max(initial=2))
        child_of = np.zeros(n_rows, np.uint8 if most <= 2**8 else np.uint16)
        is_parted = grower.n_jobs > 1 and not grower.limits.best_first
        n_most = n_rows // TOP_SHARE if is_parted else 0
        grown = Grown(*self._part(nodes[0], reals[0], n_most, child_of, grower.scratch(n_rows)))
        return self._joined(grown, child_of) if n_most else grown

    def _part(self, node: Array, reals: Array, n_most: int, child_of: Array, scratch: parts.Scratch) -> Any:
        data = self.grower.data
        return squared_grow.grow_part(
            data.lists, data.codes, data.weights, self.grower.limits, node, reals,
            self.y, self.by_feature, n_most, child_of, scratch,
        )  # fmt: skip

    def _joined(self, top: Grown, child_of: Array) -> Grown:
        """Grow the nodes that the top left open, largest first, and hang their subtrees into its tables."""
        nodes, reals = top.nodes, top.reals
        size = nodes[:, parts.END] - nodes[:, parts.START]
        is_open = nodes[:, parts.BIRTH] == squared_grow.OPEN
        below = sorted(np.flatnonzero(is_open).tolist(), key=lambda v: (-size[v], v))
        free = [self.grower.scratch(int(size[is_open].max(initial=1))) for _ in range(self.grower.n_jobs)]

        def one(v: int) -> Any:
            scratch = free.pop()
            try:
                return self._part(nodes[v], reals[v], 0, child_of, scratch)
            finally:
                free.append(scratch)

        all_nodes, all_reals, all_branches = [nodes], [reals], [top.branch]
        n_nodes, n_branch = len(nodes), len(top.branch)
        for v, (part, part_reals, part_branch) in zip(below, self.grower.pool.map(one, below), strict=True):
            part[:, parts.FIRST] += n_nodes - 1  # line 0 of the part goes to line v of the top
            part[part[:, parts.BRANCH] >= 0, parts.BRANCH] += n_branch
            nodes[v], reals[v] = part[0], part_reals[0]
            all_nodes.append(part[1:])
            all_reals.append(part_reals[1:])
            all_branches.append(part_branch)
            n_nodes += len(part) - 1
            n_branch += len(part_branch)
        return Grown(np.concatenate(all_nodes), np.concatenate(all_reals), np.concatenate(all_branches))


def _is_too_small(data: Prepared, limits: parts.Limits, n_rows: int) -> bool:
    size = n_rows if data.weights is None else data.weights.size.sum()
    return bool(size < limits.least_split or size < 2 * limits.least_leaf or limits.max_depth < 1)
