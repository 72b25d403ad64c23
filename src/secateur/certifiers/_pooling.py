"""Which leaves share a prediction interval: pooled by the numbers of rows that are expected in them.

A guarantee for the rows of a unit needs the unit to be fixed before the calibrating rows are looked at. Otherwise a
leaf would be pooled just when few of its rows were drawn, and the pooled rows would contain too few of it. So the units
follow from the shares of the growing rows in the leaves and from the number of calibrating rows alone.

Units must not overlap either. If a small leaf used the rows of its parent node, and the large leaf beside it its own,
the small leaf would be covered by an interval that is right for the large one only.

Leaves that expect enough rows are units of their own. The others are pooled with one another, from the leaves upwards:
at the nearest node below which the leaves that are not yet in a unit together expect enough rows. What is left at the
root joins the unit with the fewest expected rows.
"""

import math

import numpy as np

from .._kernels import structure
from .._utils.arrays import Floats, Longs
from ..core import Pruning

N_DEVIATIONS = 3.0  # standard deviations by which the expected number of rows must exceed the number needed


def pool_leaves(pruning: Pruning, weight: Floats, n_rows: int, n_needed: int, n_grown: float) -> Longs:
    """Return the unit of each leaf of a pruning, numbered from 0 in the order of their first leaves.

    Parameters
    ----------
    pruning : Pruning
    weight : array
        Weight of the growing rows in each node.
    n_rows : int
        Number of calibrating rows.
    n_needed : int
        Number of calibrating rows that a unit needs.
    n_grown : float
        Number of growing rows, on which the expected shares rest.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur import Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> weight = np.array([100.0, 6, 3, 3, 94, 90, 4])
    >>> pool_leaves(Pruning.from_cuts(tree, []), weight, 500, 9, 1000).tolist()
    [0, 0, 1, 0]
    """
    tree, leaves = pruning.tree, pruning.leaves
    total = float(weight[0])
    share = np.asarray(weight, np.float64) / total if total > 0 else np.zeros(tree.n_nodes)
    is_unit = np.zeros(tree.n_nodes, bool)
    left = np.where(pruning.is_leaf, share, 0.0).tolist()  # share of the leaves below that are in no unit yet
    is_in_pruning = (pruning.is_leaf | pruning.is_kept).tolist()
    parents = tree.parent.tolist()
    for v in range(tree.n_nodes - 1, -1, -1):
        if is_in_pruning[v] and _expects_enough(left[v], n_rows, n_needed, n_grown):
            is_unit[v] = True
        elif v > 0:
            left[parents[v]] += left[v]
    numbers = np.where(is_unit, np.arange(tree.n_nodes), -1).astype(np.int32)
    unit = structure.inherit_labels(tree.parent, numbers, ~is_unit)[leaves]
    is_assigned = unit >= 0
    if not is_assigned.any():
        return np.zeros(len(leaves), np.int64)
    shares = np.bincount(unit[is_assigned], share[leaves][is_assigned], tree.n_nodes)
    smallest = int(np.where(np.isin(np.arange(tree.n_nodes), unit), shares, np.inf).argmin())
    unit = np.where(is_assigned, unit, smallest)
    _, first, inverse = np.unique(unit, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered: Longs = rank[inverse]
    return numbered


def _expects_enough(share: float, n_rows: int, n_needed: int, n_grown: float) -> bool:
    """Return whether leaves with a share of the growing rows almost surely get the number of rows that is needed."""
    expected = n_rows * share
    # The number of rows is binomial, and its expectation is itself estimated from the growing rows.
    deviation = math.sqrt(expected * max(1 - share, 0.0) * (1 + n_rows / max(n_grown, 1.0)))
    return expected > 0 and expected - N_DEVIATIONS * deviation >= n_needed - 1e-9 * n_rows
