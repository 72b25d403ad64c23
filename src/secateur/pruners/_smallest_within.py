"""The smallest pruning that is accurate enough.

The result is the first size, from below, that reaches the accuracy. Bisection would not do: with tests of more than two
branches, the least error of a size can rise with the size. Bohanec and Bratko (1994).
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np

from .._kernels import size_dp
from .._kernels.mixtures import max_leaf_sums
from .._kernels.size_tables import table_layout
from .._utils.arrays import ArrayLike, Bools, Longs, LongsOrFloats
from ..core import Pruning, Sample, Tree, excess_cost, labels_of, node_cost, sample_usage_of
from ..errors import CountsError, ParameterError, PruningError
from ._provenance import cost_provenance

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
        Of prunings of the least size, the one with the least cost, then the one that keeps the first node, in
        pre-order, in which they differ. Exact for whole numbers.

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
        raise CountsError(f"sample {counts.sample!r} is empty, so it has no accuracy; count a sample first")
    charge = np.maximum(tree.arity.astype(np.int64) - 1, 0)
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
            f"on sample {counts.sample!r}; ask for that or less"
        )
    provenance = cost_provenance(
        "smallest-within",
        counts,
        cost,
        costs,
        parameters={"accuracy": str(accuracy)},
        text=f"smallest within {accuracy}",
    )
    return Pruning.from_cuts(
        tree,
        ~_smallest_kept(tree, charge, costs, allowed),
        node_labels=labels_of(counts),
        seen=sample_usage_of(tree, counts, cost=cost),
        provenance=provenance,
    )


def _accuracy(cost: float, total: float) -> float:
    """Return the accuracy of a pruning with a cost."""
    return 1 - float(cost) / total if total > 0 else float(cost <= 0)


def _as_fraction(accuracy: Fraction | str | float) -> Fraction:
    """Return the accuracy as the exact decimal number that it is written as."""
    try:
        share = Fraction(str(accuracy))
    except (ValueError, ZeroDivisionError) as error:
        raise ParameterError(f"accuracy={accuracy!r}; a fraction or a decimal number from 0 to 1 is needed") from error
    if not 0 <= share <= 1:
        raise ParameterError(f"accuracy={accuracy}; a number from 0 to 1 is needed")
    return share


def _smallest_kept(tree: Tree, charge: Longs, costs: LongsOrFloats, allowed: float) -> Bools:
    """Return the nodes that the smallest pruning with at most `allowed` cost keeps; such a pruning exists.

    The tables are indexed by size or by added errors, whichever is less work.
    """
    n_internal = int(np.count_nonzero(charge))
    budget = _errors_budget(tree, costs, allowed)
    n_cells_by_errors = math.inf if budget is None else n_internal * (budget + 1)
    layout = partial(table_layout, tree.parent, tree.end, charge)
    n_all_cells = size_dp.n_cells(layout(tree.n_leaves - 1))
    limit = FIRST_MAX_LEAVES
    while True:
        limit = min(limit, tree.n_leaves - 1)
        n_cells = size_dp.n_cells(layout(limit))
        if n_all_cells <= 8 * n_cells and size_dp.prefers_tables(n_all_cells, n_internal, tree.n_leaves - 1):
            # All sizes at once are little more work, and need no further round.
            limit, n_cells = tree.n_leaves - 1, n_all_cells
        if budget is not None and n_cells_by_errors < min(n_cells, n_internal * (limit + 1)):
            walk = size_dp.errors_walk(tree.parent, tree.end, charge, costs, budget)
            # The first budget that gives the least size gives the least cost of that size.
            min_budget = int(np.flatnonzero(walk.best == walk.best[budget])[0])
            return walk.kept(min_budget)
        table = size_dp.best_by_size(tree.parent, tree.end, charge, costs, limit)
        accurate = table.indices[table.best[table.indices] <= allowed]
        if len(accurate):
            return table.kept(accurate[0])
        limit *= 2


def _errors_budget(tree: Tree, costs: LongsOrFloats, allowed: float) -> int | None:
    """Return how much cost the cuts may add; None where tables cannot be indexed by added cost.

    Costs must be whole numbers that no cut lowers. More than the cost of the root as a leaf is never needed.
    """
    if costs.dtype.kind != "i":
        return None
    excess = excess_cost(tree, costs)
    if not (excess >= 0).all():
        return None
    uncut_cost = int(costs[0] - excess[0])
    return int(min(allowed, costs[0])) - uncut_cost
