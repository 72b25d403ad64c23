"""Pessimistic error pruning: the growing errors, corrected by half an error for each leaf.

The rule works from the root down and needs no held-out sample. A node is cut if its corrected errors as a leaf lie
within one standard error of those of its subtree (Quinlan 1987).
"""

import numpy as np

from .._utils.arrays import Bools, LongsOrFloats
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree, full_cost, node_cost

RELATIVE_TOLERANCE = 1e-12  # for weights; whole counts are compared exactly


def pessimistic(tree: Tree, counts: Counts) -> Pruning:
    """Return the pruning that cuts where a leaf is within a standard error of the subtree.

    Let the subtree of node v have e errors, L leaves and N rows, let n' = e + L/2, and let SE = sqrt(n' (N - n') /
    N), or 0 where n' exceeds N. The node is cut if its errors as a leaf plus 1/2 are at most n' + SE.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts
        Counts of the sample the tree was grown on.

    Returns
    -------
    Pruning
        Decided from the root down; nodes below a cut are not considered. A tie cuts. Whole counts are compared exactly,
        weights within a relative 1e-12.

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
    leaves_before = np.append(0, np.cumsum(tree.is_leaf))
    n_leaves = leaves_before[tree.end] - leaves_before[:-1]
    twice_subtree = 2 * full_cost(tree, errors) + n_leaves  # 2 n', a whole number
    twice_gap = 2 * errors + 1 - twice_subtree
    is_cut = (twice_gap <= 0) | _within_standard_error(twice_gap, twice_subtree, counts.total)
    note = "" if counts.has_integer_weights else "weights compared within a relative 1e-12"
    tolerance = 0.0 if counts.has_integer_weights else RELATIVE_TOLERANCE
    provenance = RuleProvenance("pessimistic", cost="corrected errors", sample=counts.sample, tolerance=tolerance)
    return Pruning.from_cuts(
        tree, is_cut, node_labels=counts.majority, seen=SampleUsage.of(counts), provenance=provenance, note=note
    )


def _within_standard_error(twice_gap: LongsOrFloats, twice_subtree: LongsOrFloats, total: LongsOrFloats) -> Bools:
    """Return whether gap <= SE. Both sides are squared and multiplied by 4 N: (2 gap)^2 N <= 2n' (2N - 2n')."""
    twice_rest = 2 * total - twice_subtree
    is_candidate = (twice_rest > 0) & (twice_gap > 0)
    left = np.square(twice_gap.astype(float)) * total
    right = twice_subtree.astype(float) * twice_rest
    if total.dtype.kind == "f":
        right *= 1 + RELATIVE_TOLERANCE
    is_within: Bools = is_candidate & (left <= right)
    if total.dtype.kind == "f":
        return is_within
    # The rounding errors of the products are far below the tolerance, so only near ties need Python's unlimited
    # integers. In 64 bits the products would overflow from about a million rows on.
    for v in np.flatnonzero(is_candidate & (np.abs(left - right) <= RELATIVE_TOLERANCE * right)):
        is_within[v] = int(twice_gap[v]) ** 2 * int(total[v]) <= int(twice_subtree[v]) * int(twice_rest[v])
    return is_within
