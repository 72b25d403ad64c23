"""Reduced error pruning: the smallest pruning with the fewest held-out errors.

From the leaves to the root, a node becomes a leaf if the leaf makes no more errors on the held-out sample than the best
pruning of its subtree. One pass is enough, and the result is optimal.

Quinlan, Simplifying decision trees (1987); the analysis is Elomaa and Kääriäinen, An
analysis of reduced error pruning (2001).
"""

from typing import Literal

import numpy as np

from .._kernels.bottom_up import cheapest_subtree
from .._utils.arrays import ArrayLike, Ints, LongsOrFloats
from ..core import (
    LabelRule,
    Moments,
    Pruning,
    Sample,
    Tree,
    cost_provenance,
    full_cost,
    leaf_labels,
    node_cost,
    sample_usage_of,
)
from ..errors import CountsError, ParameterError, show


def reduced_error(
    tree: Tree,
    grown: Sample | None,
    holdout: Sample | None,
    *,
    labels: LabelRule = "grow",
    original: Literal["fixed", "relabel"] = "fixed",
    keep_empty: bool = False,
    cost: ArrayLike | None = None,
) -> Pruning:
    """Return the smallest pruning with the fewest held-out errors.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown : Counts or Moments
        Counts of the sample the tree was grown on, which determine the labels (or the means) of the nodes.
    holdout : Counts or Moments
        Counts of a fresh sample, which decide where to cut: by errors, or by squared errors around the means of the
        growing sample.
    labels : "grow", "prune" or "both"
        Which sample determines the class of a cut node: the growing one, the held-out one, or their sum. A tie goes to
        the class of the growing sample if that is among the tied classes, else to the lowest class.
    original : "fixed" or "relabel"
        Whether original leaves keep the class of the growing sample or follow `labels`.
    keep_empty : bool
        Whether subtrees that no held-out row reaches are kept. True reduced error pruning cuts them, so the `rule` of
        the result names this option.
    cost : array, optional
        Cost of each node as a leaf, in place of the held-out errors (cost-matrix losses,
        squared errors, ...). The counts may then be None; without `grown` the result
        has no classes.

    Returns
    -------
    Pruning
        No pruning whose leaves are labelled in the same way makes fewer errors. Of the prunings with as few errors, the
        result has the fewest leaves; it is unique, and a pruning of all the others. So a tie cuts. With `keep_empty`,
        the same holds for the prunings that cut no empty node.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 2 and Theorem 1; Mansour's notes, section 12.2.1.

    O(n_nodes) after counting. Whole-number errors are compared exactly. Weighted errors count as equal within 1e-12 of
    the weight of the sample, squared errors and given costs within 1e-12 of the largest of them. The `note` of the
    result states this.

    Examples
    --------
    Four leaves; in each, the class counts in the growing and in the held-out sample.

    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[5, 0], [0, 2], [0, 3], [2, 0]])
    >>> holdout = Counts.from_leaves(tree, [[0, 1], [0, 1], [2, 0], [1, 0]], sample="prune")
    >>> for labels in ("grow", "prune", "both"):
    ...     pruning = reduced_error(tree, grown, holdout, labels=labels)
    ...     print(labels, pruning, pruning.errors(holdout))
    grow Pruning(1 of 4 leaves, cuts at 0) 2
    prune Pruning(2 of 4 leaves, cuts at 1, 4) 0
    both Pruning(3 of 4 leaves, cuts at 4) 1
    """
    for sample in (grown, holdout):
        if sample is not None:
            sample.check_fits(tree)
    node_labels = _node_labels(grown, holdout, labels, original)
    leaf_cost: LongsOrFloats
    if cost is not None:
        leaf_cost = node_cost(tree, None, cost)
    elif holdout is None or grown is None:
        missing = "holdout" if holdout is None else "grown"
        raise CountsError(
            f"{missing} is None and no cost is given; pass both counts, or what each node costs as a leaf"
        )
    else:
        leaf_cost = holdout.costs_if_leaf(grown.predictions if node_labels is None else node_labels)
    # Weighted errors are compared relative to the weight of the sample, other real costs to the largest cost.
    scale = float(holdout.total[0]) if cost is None and node_labels is not None and holdout is not None else 0.0
    if keep_empty:
        leaf_cost = _without_empty_cuts(tree, holdout, leaf_cost)
    provenance = cost_provenance(
        "reduced-error",
        holdout,
        cost,
        leaf_cost,
        parameters={"labels": labels, "original": original, "keep_empty": keep_empty},
        text=_text(labels, original, keep_empty),
    )
    return Pruning.from_cuts(
        tree,
        cheapest_subtree(tree.parent, leaf_cost, scale),
        node_labels=node_labels,
        seen=sample_usage_of(tree, grown, holdout, cost=cost),
        provenance=provenance,
        note="" if leaf_cost.dtype.kind == "i" else "costs within a relative 1e-12 of the whole count as equal",
    )


def _node_labels(
    grown: Sample | None, holdout: Sample | None, labels: LabelRule, original: Literal["fixed", "relabel"]
) -> Ints | None:
    """Return the class of each node as a leaf; None without a growing sample, or for a numeric target."""
    if grown is None:
        return None
    if holdout is not None and grown.has_classes != holdout.has_classes:
        raise CountsError(
            f"sample {show(grown.sample)} is {type(grown).__name__} but sample {show(holdout.sample)} is "
            f"{type(holdout).__name__}; both are Counts, or both are Moments"
        )
    if isinstance(grown, Moments) or isinstance(holdout, Moments):
        if labels != "grow":
            raise ParameterError(
                f"labels={show(labels)}: a regression tree predicts the means of the growing sample; use labels='grow'"
            )
        return None
    if labels in ("prune", "both") and holdout is None:
        raise CountsError(
            f"labels={show(labels)} needs the held-out sample, but holdout is None; pass it, or labels='grow'"
        )
    return leaf_labels(grown, holdout, labels, original)


def _without_empty_cuts(tree: Tree, holdout: Sample | None, leaf_cost: LongsOrFloats) -> LongsOrFloats:
    """Return `leaf_cost`, raised at empty internal nodes so far that no cut there can pay."""
    if holdout is None:
        raise ParameterError("keep_empty=True needs the held-out sample to find empty subtrees, but holdout is None")
    is_empty = (holdout.total == 0) & ~tree.is_leaf
    prohibitive = 2 * full_cost(tree, leaf_cost) + 1 + leaf_cost.max()
    return np.where(is_empty, prohibitive, leaf_cost).astype(leaf_cost.dtype)


def _text(labels: str, original: str, keep_empty: bool) -> str:
    """Return the rule in words; parameters are named where they differ from their defaults."""
    parts = ["reduced-error"]
    if labels != "grow":
        parts.append(f"labels={labels}")
        if original != "fixed":
            parts.append(f"original={original}")
    if keep_empty:
        parts.append("keep_empty (not reduced error pruning: empty subtrees stay)")
    return ", ".join(parts)
