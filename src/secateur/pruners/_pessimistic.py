"""Pessimistic error pruning: the growing errors, corrected by half an error per leaf.

Top-down and without a held-out sample: a node is cut when its own corrected errors lie
within one standard error of those of its subtree (Quinlan 1987).
"""

import numpy as np

from .._utils.arrays import Bools, LongsOrFloats
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree, full_cost, node_cost

_TOLERANCE = 1e-12  # relative, for weights; whole counts are compared exactly


def pessimistic(tree: Tree, counts: Counts) -> Pruning:
    """Return the pruning that cuts where a leaf is within a standard error of the subtree.

    With e errors, L leaves and N examples in the subtree of v, let n' = e + L/2 and
    SE = sqrt(n' (N - n') / N), or 0 where n' exceeds N. The node is cut when its own
    errors plus 1/2 are at most n' + SE.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts
        Counts of the sample the tree was grown on.

    Returns
    -------
    Pruning
        Decided from the root down: below a cut nothing is looked at. A tie cuts; whole
        counts are compared exactly, weights within a relative 1e-12.

    Notes
    -----
    O(n_nodes). A heuristic: neither optimal for its estimate nor a bound. Quinlan,
    Simplifying decision trees (1987).

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0, 0])
    >>> pessimistic(tree, Counts.from_leaves(tree, [[15, 1], [0, 2], [2, 10]]))
    Pruning(3 of 3 leaves, no cut)
    >>> pessimistic(tree, Counts.from_leaves(tree, [[21, 1], [0, 2], [4, 2]]))
    Pruning(1 of 3 leaves, cuts at 0)
    """
    errors = node_cost(tree, counts, None)
    seen_leaves = np.append(0, np.cumsum(tree.is_leaf))
    n_leaves = seen_leaves[tree.end] - seen_leaves[:-1]
    twice_subtree = 2 * full_cost(tree, errors) + n_leaves  # 2 n', so that halves stay whole
    twice_gap = 2 * errors + 1 - twice_subtree
    is_cut = (twice_gap <= 0) | _within_standard_error(twice_gap, twice_subtree, counts.total)
    note = "" if counts.is_whole else "weights compared within a relative 1e-12"
    tolerance = 0.0 if counts.is_whole else _TOLERANCE
    provenance = RuleProvenance("pessimistic", cost="corrected errors", sample=counts.sample, tolerance=tolerance)
    return Pruning.from_cuts(
        tree, is_cut, node_labels=counts.majority, seen=SampleUsage.of(counts), provenance=provenance, note=note
    )


def _within_standard_error(twice_gap: LongsOrFloats, twice_subtree: LongsOrFloats, total: LongsOrFloats) -> Bools:
    """Whether gap <= SE. Squared and times 4 N: (2 gap)^2 N <= 2n' (2N - 2n')."""
    rest = 2 * total - twice_subtree
    is_inside = (rest > 0) & (twice_gap > 0)
    left = np.square(twice_gap.astype(float)) * total
    right = twice_subtree.astype(float) * rest
    if total.dtype.kind == "f":
        right *= 1 + _TOLERANCE
    is_within: Bools = is_inside & (left <= right)
    if total.dtype.kind == "f":
        return is_within
    # Rounding of the products is far below the tolerance, so only near ties need whole numbers
    # without a limit; the products themselves would overflow 64 bits from a million examples on.
    for v in np.flatnonzero(is_inside & (np.abs(left - right) <= _TOLERANCE * right)):
        is_within[v] = int(twice_gap[v]) ** 2 * int(total[v]) <= int(twice_subtree[v]) * int(rest[v])
    return is_within
