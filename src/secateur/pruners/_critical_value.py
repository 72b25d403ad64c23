"""Critical value pruning: a test stays if its score in growing, or that of a test below it, was high enough.

Let b be the best score in the subtree of a node. The pruning for the threshold x keeps exactly the nodes with b >= x.
Because b never rises on the way down, the prunings of all thresholds are one nested family, with one number per node
(Mingers 1989).
"""

from typing import overload

import numpy as np

from .._kernels.bottom_up import max_upwards
from .._kernels.weakest_link import member_sums
from .._utils.arrays import ArrayLike, Floats
from ..core import Counts, Pruning, PruningSequence, RuleProvenance, SampleUsage, Tree
from ..errors import ParameterError


@overload
def critical_value(
    tree: Tree, counts: Counts | None = None, *, threshold: float, scores: ArrayLike | None = None
) -> Pruning: ...
@overload
def critical_value(
    tree: Tree, counts: Counts | None = None, *, threshold: None = None, scores: ArrayLike | None = None
) -> PruningSequence: ...
def critical_value(
    tree: Tree,
    counts: Counts | None = None,
    *,
    threshold: float | None = None,
    scores: ArrayLike | None = None,
) -> Pruning | PruningSequence:
    """Return the pruning that cuts where no test in the subtree reaches the score `threshold`.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts, optional
        Counts of the growing sample, which determine only the classes of the leaves (and the errors of a family). The
        cuts depend on the scores alone.
    threshold : float, optional
        The critical value. None returns the family for all thresholds at once.
    scores : array, optional
        One number per node; entries at leaves are not used. `tree.score` by default.

    Returns
    -------
    Pruning
        With a threshold: a node stays exactly if its score, or that of a node below it, is at least `threshold`.
    PruningSequence
        Without a threshold: the nested family, largest first. Let the best score of a node be the highest score in its
        subtree. There is one member for each distinct best score, and the root alone at the end. `at(x)` is the pruning
        for the threshold x. `alphas[i]` is the least threshold whose pruning is member i: the next float above the
        i-th lowest best score. `alphas[0]` is 0, or the lowest best score if that is negative. Without counts, `errors`
        are NaN.

    Notes
    -----
    O(n_nodes) with a threshold, O(n_nodes log n_nodes) for the family, whose scores are sorted. Mingers, An empirical
    comparison of pruning methods for decision tree induction (1989).

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> critical_value(tree, threshold=0.2, scores=[0.3, 0.1, 0, 0, 0])
    Pruning(2 of 3 leaves, cuts at 1)
    >>> family = critical_value(tree, scores=[0.3, 0.1, 0, 0, 0])
    >>> [family.at(x).n_leaves for x in (0.1, 0.2, 0.3, 0.4)]
    [3, 2, 2, 1]
    """
    if counts is not None:
        counts.check_fits(tree)
    best = max_upwards(tree.parent, _scores_of_tests(tree, scores))
    provenance = RuleProvenance(
        "critical-value",
        {"threshold": threshold},
        cost="split score",
        sample=_scored_sample(counts) if scores is None else "",
        alpha_unit="split score" if threshold is None else "none",
        text="critical value" if threshold is None else f"critical value {threshold:g}",
    )
    seen = SampleUsage(["grow"]) if counts is None else SampleUsage.of(counts)
    if threshold is None:
        return _family(tree, counts, best, seen, provenance)
    if np.isnan(threshold):
        raise ParameterError("threshold=nan; a number is needed, or None for the family of all thresholds")
    labels = None if counts is None else counts.majority
    return Pruning.from_cuts(tree, best < threshold, node_labels=labels, seen=seen, provenance=provenance)


def _scored_sample(counts: Counts | None) -> str:
    """Return the name of the sample on which the grower scored the tests."""
    return "grow" if counts is None else counts.sample


def _scores_of_tests(tree: Tree, scores: ArrayLike | None) -> Floats:
    """Return one score for each internal node, and minus infinity at the leaves."""
    array = tree.score if scores is None else np.asarray(scores)
    name = "tree.score" if scores is None else "scores"
    if array.shape != (tree.n_nodes,) or array.dtype.kind not in "iufb":
        raise ParameterError(f"{name} has shape {array.shape} of {array.dtype}; one number per node, ({tree.n_nodes},)")
    invalid = np.flatnonzero(~tree.is_leaf & ~np.isfinite(array))
    if len(invalid):
        raise ParameterError(
            f"{name} of node {invalid[0]} is {array[invalid[0]]}; every test needs a finite score: "
            "grow the tree with secateur, or pass scores="
        )
    return np.where(tree.is_leaf, -np.inf, array)


def _family(
    tree: Tree, counts: Counts | None, best: Floats, seen: SampleUsage, provenance: RuleProvenance
) -> PruningSequence:
    """Return the family of prunings for all thresholds, one member for each distinct best score."""
    levels, rank = np.unique(best[~tree.is_leaf], return_inverse=True)
    steps = np.zeros(tree.n_nodes, np.int32)
    steps[~tree.is_leaf] = rank + 1  # the first member whose thresholds exceed the best score of the node
    n_members = len(levels) + 1
    # The next float above a score is the least threshold above that score.
    first = np.minimum(0.0, levels[:1]) if len(levels) else np.zeros(1)
    return PruningSequence(
        tree,
        member_sums(tree.parent, steps, np.ones(tree.n_nodes, np.int64), n_members),
        np.full(n_members, np.nan)
        if counts is None
        else member_sums(tree.parent, steps, counts.resubstitution_costs, n_members),
        alphas=np.append(first, np.nextafter(levels, np.inf)),
        steps=steps,
        node_labels=None if counts is None else counts.majority,
        seen=seen,
        provenance=provenance,
    )
