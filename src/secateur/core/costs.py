"""What a node costs as a leaf, and what a cut at it adds (spec of every additive rule).

A *cost* is any number per node: errors on some sample, m-estimates, losses under a cost
matrix, squared errors. With `full` the cost of the uncut subtree and `excess = cost -
full`, every pruning P has

    cost(P) = full[root] + sum of excess over its cuts.

Where a rule is given `Moments` in the place of `Counts`, a node costs its squared error:
in growing that around its own mean, on a held-out sample that around the mean of growing.
"""

import numpy as np

from .._kernels import structure
from .._utils.arrays import ArrayLike, Ints, LongsOrFloats, immutable_array, write_protect
from ..errors import CountsError, ParameterError
from .counts import Counts
from .moments import Moments
from .provenance import SampleUsage
from .tree import Tree

Sample = Counts | Moments


def node_cost(tree: Tree, counts: Sample | None, cost: ArrayLike | None) -> LongsOrFloats:
    """Return the cost of each node as a leaf: `cost` if given, else the sample's errors or squared errors.

    Whole-number costs stay int64 so that ties are exact. Of squared errors see `Moments.resubstitution_costs`.
    """
    if counts is not None:
        counts.check_fits(tree)
    if cost is None:
        if counts is None:
            raise CountsError("counts are None and no cost is given; pass one of them")
        return counts.resubstitution_costs
    array = np.asarray(cost)
    if array.shape != (tree.n_nodes,) or array.dtype.kind not in "iuf":
        raise ParameterError(f"cost has shape {array.shape} of {array.dtype}; one number per node, ({tree.n_nodes},)")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        raise ParameterError(f"cost of node {bad[0]} is {array[bad[0]]}; finite numbers of 0 or more are needed")
    if array.dtype.kind in "iu" and int(array.max()) * tree.n_leaves >= 2**61:
        raise ParameterError(
            f"cost of node {array.argmax()} is {array.max()}; times {tree.n_leaves} leaves exceeds 64-bit sums; "
            "divide the costs or pass them as floats"
        )
    return immutable_array(array, np.int64 if array.dtype.kind in "iu" else np.float64)


def sample_usage_of(tree: Tree, *samples: Sample | None, cost: ArrayLike | None = None) -> SampleUsage:
    """Return the samples that shape what a rule makes of them.

    A `cost` says nothing of where it comes from: it may have been computed from any sample
    that has told its errors on this tree so far.
    """
    return SampleUsage.of(*samples) if cost is None else SampleUsage.of(*samples) | tree.evaluation_log.open


def labels_of(counts: Sample | None) -> Ints | None:
    """Return the class of each node as a leaf; None where there are no classes."""
    return None if counts is None else counts.labels


def full_cost(tree: Tree, cost: LongsOrFloats) -> LongsOrFloats:
    """Return the cost of the uncut subtree at each node."""
    own = np.where(tree.is_leaf, cost, 0).astype(cost.dtype)
    return write_protect(structure.sum_upwards(tree.parent, own[:, None])[:, 0])


def excess_cost(tree: Tree, cost: LongsOrFloats) -> LongsOrFloats:
    """Return what a cut at each node adds to the cost of the uncut tree."""
    return write_protect(cost - full_cost(tree, cost))


def m_estimate(grown: Counts, m: float = 2.0, prior: ArrayLike | None = None) -> LongsOrFloats:
    """Return the m-estimate of the error mass of each node as a leaf.

    Parameters
    ----------
    grown : Counts
    m : float
        Weight of the prior; `m = n_classes` with a uniform prior is Laplace's estimate.
    prior : array, optional
        Class probabilities; the class frequencies at the root by default.

    Returns
    -------
    array
        Share of the examples in the node times its estimated error; additive over leaves.
    """
    if not 0 <= m < np.inf:
        raise ParameterError(f"m={m}; a finite number of 0 or more is needed")
    grown.tree.evaluation_log.record(grown)
    whole = float(grown.total[0]) or 1.0
    expected = (1 - (grown.by_class[0] / whole if prior is None else np.asarray(prior, float))) * m
    if expected.shape != (grown.n_classes,):
        expected = np.broadcast_to(expected, grown.n_classes)
    return write_protect(structure.m_estimates(grown.by_class, grown.total, expected, m, whole))
