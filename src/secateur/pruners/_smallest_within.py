"""The smallest pruning that is accurate enough.

All sizes are examined from the smallest up until one has a pruning that reaches the accuracy. Bisection over sizes
would be wrong: with tests of more than two branches, the best pruning of a larger size can have more errors than the
best of a smaller size. Bohanec and Bratko (1994).
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np

from .._kernels import size_dp
from .._kernels.mixtures import max_leaf_sums
from .._kernels.size_tables import table_layout
from .._utils.arrays import ArrayLike, Bools, Longs, LongsOrFloats
from ..core import (
    Pruning,
    Sample,
    Tree,
    cost_result_fields,
    excess_cost,
    node_cost,
)
from ..errors import CountsError, ParameterError, PruningError, show

FIRST_MAX_LEAVES = 64  # the first limit on the size; doubled until a size is accurate enough


def smallest_within(
    tree: Tree, counts: Sample, accuracy: Fraction | str | float, *, cost: ArrayLike | None = None
) -> Pruning:
    """Return the pruning with the fewest leaves whose accuracy is at least `accuracy`.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts or Moments
        The sample on which accuracy is measured, and which determines the labels. For `Moments`, accuracy is the share
        of the squared error of the root that the pruning explains (R squared).
    accuracy : Fraction, str or float
        Minimum accuracy, from 0 to 1. A float means the decimal number that it prints as, so 0.9 is nine tenths.
    cost : array, optional
        Cost of each node as a leaf, in rows of `counts` (multiply rates by the total). Accuracy is then 1 - cost /
        total. For `Moments`, the costs are squared errors, and accuracy is 1 - cost / squared error of the root.

    Returns
    -------
    Pruning
        If several prunings have the fewest leaves, the one with the lowest cost. If costs are equal too, the prunings
        are compared at the first node, in pre-order, that only one of them keeps as an internal node, and the pruning
        that keeps the node is returned. The result is exact if the costs are whole numbers.

    Raises
    ------
    PruningError
        If no pruning is accurate enough; the message states the best accuracy.

    Notes
    -----
    Bohanec and Bratko (1994), section 3.

    O(tests x leaves of the result), or O(tests x errors allowed) where that is less.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> counts = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    >>> smallest_within(tree, counts, "0.95")
    Pruning(2 of 3 leaves, cuts at 1)
    """
    share = _as_fraction(accuracy)
    costs = node_cost(tree, counts, cost)
    total = counts.zero_accuracy_cost
    if counts.total[0] <= 0:
        raise CountsError(f"sample {show(counts.sample)} is empty, so it has no accuracy; count a sample first")
    leaves_per_split = np.maximum(tree.arity.astype(np.int64) - 1, 0)
    allowed: float
    if isinstance(total, int) and costs.dtype.kind == "i":
        allowed = total - math.ceil(share * total)
    else:
        allowed = float((1 - share) * Fraction(total))
        allowed += size_dp.RELATIVE_TOLERANCE * max(allowed, float(costs.max()))
    min_cost = -max_leaf_sums(tree.parent, -costs[:, None])[0]
    if min_cost > allowed:
        raise PruningError(
            f"accuracy {accuracy} is out of reach: the best pruning of {tree} has {_accuracy(min_cost, total):.6g} "
            f"on sample {show(counts.sample)}; ask for that or less"
        )
    text = f"smallest within {accuracy}"
    fields = cost_result_fields(
        "smallest-within", tree, counts, cost, costs, parameters={"accuracy": str(accuracy)}, text=text
    )
    return Pruning.from_cuts(tree, ~_smallest_kept(tree, leaves_per_split, costs, allowed), **fields)


def _accuracy(cost: float, total: float) -> float:
    """Return the accuracy of a pruning with a cost."""
    return 1 - float(cost) / total if total > 0 else float(cost <= 0)


def _as_fraction(accuracy: Fraction | str | float) -> Fraction:
    """Return the accuracy as the exact decimal number that it is written as."""
    try:
        share = Fraction(str(accuracy))
    except (ValueError, ZeroDivisionError) as error:
        raise ParameterError(
            f"accuracy={show(accuracy)}; a fraction or a decimal number from 0 to 1 is needed"
        ) from error
    if not 0 <= share <= 1:
        raise ParameterError(f"accuracy={accuracy}; a number from 0 to 1 is needed")
    return share


def _smallest_kept(tree: Tree, leaves_per_split: Longs, costs: LongsOrFloats, allowed: float) -> Bools:
    """Return the internal nodes of the smallest pruning whose cost is at most `allowed`.

    The caller has checked that such a pruning exists. Two tables can be filled: the lowest cost by number of leaves, or
    the fewest leaves by cost added to that of the uncut tree. The smaller table is used. The table by leaves is limited
    to few leaves at first, and the limit is doubled until the table has a pruning that is good enough.
    """
    n_internal = int(np.count_nonzero(leaves_per_split))
    max_size = tree.n_leaves - 1  # sizes are numbers of leaves, less one
    max_added_cost = _max_added_cost(tree, costs, allowed)
    n_cells_by_cost = math.inf if max_added_cost is None else n_internal * (max_added_cost + 1)
    layout = partial(table_layout, tree.parent, tree.end, leaves_per_split)
    n_all_cells = size_dp.n_cells(layout(max_size))
    limit = FIRST_MAX_LEAVES
    while True:
        limit = min(limit, max_size)
        n_cells = size_dp.n_cells(layout(limit))
        if n_all_cells <= 8 * n_cells and size_dp.prefers_tables(n_all_cells, n_internal, max_size):
            # The table of all sizes is not much larger, and the limit never needs to be doubled.
            limit, n_cells = max_size, n_all_cells
        if max_added_cost is not None and n_cells_by_cost < min(n_cells, n_internal * (limit + 1)):
            walk = size_dp.errors_walk(tree.parent, tree.end, leaves_per_split, costs, max_added_cost)
            # Of all added costs that allow the fewest leaves, the lowest is the cost of the best such pruning.
            lowest_added_cost = int(np.flatnonzero(walk.best == walk.best[max_added_cost])[0])
            return walk.kept(lowest_added_cost)
        table = size_dp.best_by_size(tree.parent, tree.end, leaves_per_split, costs, limit)
        accurate_sizes = table.indices[table.best[table.indices] <= allowed]
        if len(accurate_sizes):
            return table.kept(accurate_sizes[0])
        limit *= 2


def _max_added_cost(tree: Tree, costs: LongsOrFloats, allowed: float) -> int | None:
    """Return how much the cuts may add to the cost of the uncut tree; None if a table by added cost is impossible.

    Such a table needs whole costs, and cuts that never lower the cost. There is no need to add more than the cut at the
    root adds, because that cut gives the smallest pruning of all.
    """
    if costs.dtype.kind != "i":
        return None
    excess = excess_cost(tree, costs)
    if not (excess >= 0).all():
        return None
    uncut_cost = int(costs[0] - excess[0])
    return int(min(allowed, costs[0])) - uncut_cost
