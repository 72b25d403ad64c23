"""The smallest pruning that is accurate enough.

Sizes are tried upwards, because with tests of more than two outcomes the least error can
rise with the size: the first size that reaches the accuracy wins. Bohanec and Bratko (1994).
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

_FIRST_LIMIT = 64  # leaves tried first; doubled until the answer is found


def smallest_within(
    tree: Tree, counts: Sample, accuracy: Fraction | str | float, *, cost: ArrayLike | None = None
) -> Pruning:
    """Return the pruning with the fewest leaves whose accuracy is at least `accuracy`.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts or Moments
        The sample on which accuracy is measured; it gives the labels too. Of `Moments`,
        accuracy is the share of the root's squared error that the pruning explains (R squared).
    accuracy : Fraction, str or float
        Minimum accuracy, 0 to 1. A float means the decimal number it prints as, so 0.9 is
        nine tenths.
    cost : array, optional
        Cost of each node as a leaf, in examples of `counts` (multiply rates by the total);
        accuracy is then 1 - cost / total. With `Moments`: squared errors, and accuracy is
        1 - cost / squared error of the root.

    Returns
    -------
    Pruning
        Among prunings of the least size, the one with the least cost, then the one that keeps
        the first node, in pre-order, in which they differ. Exact for whole numbers.

    Raises
    ------
    PruningError
        If no pruning is accurate enough; the message states the best accuracy.

    Notes
    -----
    Bohanec and Bratko (1994), section 3.

    O(tests x leaves of the answer), or O(tests x errors allowed) where that is less.

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
    total = counts.scale
    if counts.total[0] <= 0:
        raise CountsError(f"sample {counts.sample!r} is empty, so it has no accuracy; count a sample first")
    charge = np.maximum(tree.arity.astype(np.int64) - 1, 0)
    allowed: float
    if isinstance(total, int) and costs.dtype.kind == "i":
        allowed = total - math.ceil(share * total)
    else:
        allowed = float((1 - share) * Fraction(total))
        allowed += size_dp.RELATIVE_TOLERANCE * max(allowed, float(costs.max()))
    best = -max_leaf_sums(tree.parent, -costs[:, None])[0]
    if best > allowed:
        raise PruningError(
            f"accuracy {accuracy} is out of reach: the best pruning of {tree} has {_accuracy(best, total):.6g} "
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
    return 1 - float(cost) / total if total > 0 else float(cost <= 0)


def _as_fraction(accuracy: Fraction | str | float) -> Fraction:
    try:
        share = Fraction(str(accuracy))
    except (ValueError, ZeroDivisionError) as error:
        raise ParameterError(f"accuracy={accuracy!r}; a fraction or a decimal number from 0 to 1 is needed") from error
    if not 0 <= share <= 1:
        raise ParameterError(f"accuracy={accuracy}; a number from 0 to 1 is needed")
    return share


def _smallest_kept(tree: Tree, charge: Longs, costs: LongsOrFloats, allowed: float) -> Bools:
    """The nodes kept by the answer, which exists; indexed by size or by errors, whichever is less work."""
    n_internal = int(np.count_nonzero(charge))
    by_errors = math.inf
    if costs.dtype.kind == "i":
        excess = excess_cost(tree, costs)
        budget = int(min(allowed, costs[0])) - int(costs[0] - excess[0])  # the root is enough beyond its own errors
        if (excess >= 0).all():
            by_errors = n_internal * (budget + 1)
    layout = partial(table_layout, tree.parent, tree.end, charge)
    all_cells = size_dp.n_cells(layout(tree.n_leaves - 1))
    limit = _FIRST_LIMIT
    while True:
        limit = min(limit, tree.n_leaves - 1)
        cells = size_dp.n_cells(layout(limit))
        if all_cells <= 8 * cells and size_dp.prefers_tables(all_cells, n_internal, tree.n_leaves - 1):
            limit, cells = tree.n_leaves - 1, all_cells  # little more work, and surely the last
        if by_errors < min(cells, n_internal * (limit + 1)):
            walk = size_dp.errors_walk(tree.parent, tree.end, charge, costs, budget)
            # Of the least size, the least cost: the first budget that already gives this size.
            spent = int(np.flatnonzero(walk.best == walk.best[budget])[0])
            return walk.kept(spent)
        table = size_dp.best_by_size(tree.parent, tree.end, charge, costs, limit)
        found = table.indices[table.best[table.indices] <= allowed]
        if len(found):
            return table.kept(found[0])
        limit *= 2
