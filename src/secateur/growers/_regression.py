"""Grow a regression tree: the test that lowers the squared error most, in every node.

Rows are put into the order of their targets first. Every list is then sorted by value and
target, so that sums are taken in one order whatever the order of the rows was, and the same
rows give the same tree to the last bit.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import criteria, grow, growing
from .._kernels.context import Workspace
from .._utils.arrays import Array, write_protect
from ..core import Moments, Tree
from ..data.table import Table
from ..errors import DataError
from ..routing import moments_of
from .grower import Grower, Grown
from .prepare import prepare
from .surrogate import surrogates_of, with_surrogates
from .tree_assembly import assemble

SMALLEST_RANGE = 1e-60  # its fourth power, times a small weight, is still a float with all its digits
TOP_SHARE = 16  # with threads: nodes of at most 1/16 of the rows are grown side by side
N_SUMS = 2  # weight and deviations


def grow_squared(
    table: Table,
    weight: Array | None,
    limits: growing.GrowLimits,
    pool: Any,
    n_jobs: int,
    *,
    max_bins: int | None,
    by_weight: bool,
    exponent: int,
    surrogates: int = 0,
) -> tuple[Tree, Moments]:
    """Return the tree and the moments of its growing sample.

    `weight` is None or above 0 everywhere, and `2**-exponent` times the weights themselves.
    """
    is_whole = weight is None or bool((weight == np.rint(weight)).all())
    order = np.lexsort((table.required_target,) if weight is None else (weight, table.required_target))
    y, scale = _scaled(table.required_target[order])
    in_order = table.take(order)
    one_class = replace(table.schema, classes=np.zeros(1, np.int32), has_numeric_target=False)
    sorted_weight = None if weight is None else weight[order]
    data = prepare(
        replace(in_order, schema=one_class, target=write_protect(np.zeros(table.n_rows, np.int32))),
        sorted_weight,
        max_bins=max_bins,
        multiway=limits.is_multiway,
        pool=pool,
        by_weight=by_weight,
        is_squares=True,
    )
    total = float(table.n_rows) if weight is None else float(weight.sum())
    others = surrogates_of(data, in_order, None, surrogates)
    grown = _grow(
        Grower(criteria.CriterionSpec("squared_error"), data, limits, N_SUMS, pool, n_jobs, y, others), y, total
    )
    grown.reals[:, N_SUMS] = np.ldexp(grown.reals[:, N_SUMS], 2 * scale)  # the scores
    tree, _ = assemble(
        grown, data, in_order, is_whole=is_whole, has_births=limits.is_best_first, exponent=0 if is_whole else exponent
    )
    tree = with_surrogates(tree, grown, data) if surrogates else tree
    given = None if weight is None else np.ldexp(weight, exponent)
    return tree, moments_of(tree, table, given, "grow")


def _scaled(target: Array) -> tuple[Array, int]:
    """Sorted targets less the middle one, times a power of 2 that brings them to -1..1, and that power, negative."""
    y = target - target[len(target) // 2]
    largest = max(-y[0], y[-1])
    if 0 < largest < SMALLEST_RANGE:
        raise DataError(
            f"y ranges over {y[-1] - y[0]:.3g} only; {SMALLEST_RANGE:g} or more (or 0) is needed, whose fourth power "
            "is still a float: multiply y by a large number"
        )
    scale = int(np.frexp(largest)[1])
    return np.ldexp(y, -scale), scale


def _grow(grower: Grower, y: Array, total: float) -> Grown:
    """Grow the tree; with threads its top first, then what the top left open side by side."""
    n_rows = len(y)
    nodes, reals = grower.root(np.array([total]), n_rows)
    if y[0] == y[-1] or grower.is_too_small(n_rows):
        return Grown(nodes, reals, np.zeros(0, np.uint16))
    is_parted = grower.n_jobs > 1 and not grower.limits.is_best_first and grower.surrogates is None
    most = n_rows // TOP_SHARE if is_parted else 0
    space = Workspace(grower.context, n_rows)
    grown = Grown(*grow.grow_subtree(grower.context, space, nodes[0], reals[0], most), space.surrogates)
    if not most:
        return grown
    below = np.flatnonzero(grown.nodes[:, growing.SPLIT_STEP] == growing.OPEN).tolist()
    return grower.joined(grown.nodes, grown.reals, grown.branch, below, most)
