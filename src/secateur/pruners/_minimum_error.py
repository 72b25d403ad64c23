"""Minimum error pruning: the growing errors, smoothed towards the class prior.

The m-estimate of the error of a leaf mixes its class frequencies with the prior, which counts as m further rows. The
estimates of the leaves of a pruning add up, so one pass finds the pruning with the least estimate.
"""

from typing import Literal

import numpy as np

from .._kernels.bottom_up import cheapest_subtree
from .._utils.arrays import ArrayLike, Floats, Ints, write_protect
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree, m_estimate
from ..core.estimate_limits import limit_labels
from ..errors import ParameterError, show

RELATIVE_TOLERANCE = 1e-12  # equal ratios may differ in the last digit


def minimum_error(
    tree: Tree,
    counts: Counts,
    *,
    m: float = 2.0,
    prior: ArrayLike | Literal["uniform"] | None = None,
    labels: Literal["grow", "estimate"] = "grow",
) -> Pruning:
    """Return the smallest pruning with the lowest m-estimate of its error.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts
        Counts of the sample the tree was grown on.
    m : float
        Weight of the prior in rows; a larger weight usually cuts more. `m = n_classes` with `prior="uniform"` is
        Laplace's estimate.
    prior : array or "uniform", optional
        Class probabilities; the class frequencies at the root by default.
    labels : "grow" or "estimate"
        Whether a leaf predicts its majority class, or the class with the least estimated error. The two differ where
        the prior outweighs a small leaf; the cuts are the same.

    Returns
    -------
    Pruning
        No pruning of `tree` has a lower estimate, and of all prunings with this estimate it is the smallest: a node is
        cut if its estimate ties with that of its branch (within a relative 1e-12). Empty nodes are cut.

    Notes
    -----
    One backwards pass, O(n_nodes * n_classes). Niblett and Bratko (1986) for Laplace's
    estimate, Cestnik and Bratko (1991) for m.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> counts = Counts.from_leaves(tree, [[6, 0], [1, 3]])
    >>> minimum_error(tree, counts, m=2, prior=[0.6, 0.4])
    Pruning(2 of 2 leaves, no cut)
    >>> minimum_error(tree, counts, m=10, prior=[0.6, 0.4])
    Pruning(1 of 2 leaves, cuts at 0)
    """
    counts.check_fits(tree)
    probabilities = _class_prior(counts, prior)
    cost = m_estimate(counts, m, probabilities)
    provenance = RuleProvenance(
        "minimum-error",
        {"m": m, "prior": prior if isinstance(prior, str) or prior is None else probabilities, "labels": labels},
        cost="m-estimate",
        sample=counts.sample,
        tolerance=RELATIVE_TOLERANCE,
        text=f"minimum error, m = {m:g}",
    )
    return Pruning.from_cuts(
        tree,
        cheapest_subtree(tree.parent, cost),
        node_labels=_node_labels(counts, m * probabilities, labels),
        seen=SampleUsage.of(counts),
        provenance=provenance,
        note="estimates compared within a relative 1e-12",
    )


def _class_prior(counts: Counts, prior: ArrayLike | Literal["uniform"] | None) -> Floats:
    """Return the checked class probabilities of the prior."""
    n_classes = counts.n_classes
    is_name = isinstance(prior, str)
    if prior is None and counts.total[0] > 0:
        return np.asarray(counts.by_class[0] / counts.total[0], float)
    if prior is None or (is_name and prior == "uniform"):
        return np.full(n_classes, 1 / n_classes)
    if is_name:
        raise ParameterError(f"prior={show(prior)}; None (frequencies at the root), 'uniform' or an array is needed")
    array = np.asarray(prior, float)
    if array.shape != (n_classes,) or not (array >= 0).all() or not abs(array.sum() - 1) <= 1e-9:
        raise ParameterError(
            f"prior={array.tolist()}; {n_classes} probabilities of 0 or more that sum to 1 are needed, one per class"
        )
    return array


def _node_labels(counts: Counts, pseudo_counts: Floats, labels: str) -> Ints:
    """Return the class of each node as a leaf; in a tie of the estimate, the majority class."""
    if labels == "grow":
        return counts.majority
    if labels != "estimate":
        raise ParameterError(f"labels={show(labels)}; 'grow' or 'estimate' is needed")
    smoothed = counts.by_class + pseudo_counts
    largest = smoothed.max(axis=1)
    smoothed_majority = smoothed[np.arange(len(smoothed)), counts.majority]
    is_tied = smoothed_majority >= largest - RELATIVE_TOLERANCE * largest
    chosen = np.where(is_tied, counts.majority, smoothed.argmax(axis=1)).astype(np.int32)
    return write_protect(limit_labels(counts.tree, chosen))
