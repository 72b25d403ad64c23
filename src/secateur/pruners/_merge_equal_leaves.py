"""Merge leaves that predict the same class: fewer tests, and every prediction stays the same."""

import numpy as np

from .._kernels.bottom_up import shared_labels
from .._utils.arrays import ArrayLike, Ints
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree
from ..errors import CountsError, ParameterError, PruningError


def merge_equal_leaves(
    tree: Tree,
    grown: Counts | None,
    *,
    labels: ArrayLike | None = None,
    pruning: Pruning | None = None,
) -> Pruning:
    """Return the smallest pruning with the same predictions as the tree.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown : Counts
        Counts whose majority is the class of each leaf. May be None if `labels` or `pruning` state the predictions of
        the leaves.
    labels : array of int, optional
        The class of each node as a leaf, in place of the majority.
    pruning : Pruning, optional
        Start from this pruning of `tree`, and its classes, in place of the whole tree.

    Returns
    -------
    Pruning
        Cut at the topmost nodes all of whose leaves predict the same class; each such node predicts that class. Every
        row gets the same prediction as before.

    Notes
    -----
    O(n_nodes). The errors stay the same, but the merged leaves may have had different class probabilities, which are
    lost. That is why no other rule merges such leaves by itself.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> merge_equal_leaves(tree, Counts.from_leaves(tree, [[9, 1], [2, 1], [0, 4]]))
    Pruning(2 of 3 leaves, cuts at 1)
    """
    if grown is not None:
        grown.check_fits(tree)
    if pruning is not None and not pruning.tree.same_structure(tree):
        raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {tree}); pass one of this tree")
    labels_before = _labels_before(tree, grown, labels, pruning)
    is_leaf = tree.is_leaf if pruning is None else pruning.is_leaf
    shared = shared_labels(tree.parent, labels_before, is_leaf)
    is_cut = shared >= 0
    seen = SampleUsage.of(grown) | (() if pruning is None else pruning.seen)
    node_labels = np.where(is_cut, shared, labels_before)
    if pruning is None or not pruning.rule:
        provenance = RuleProvenance("equal-predictions")
        return Pruning.from_cuts(tree, is_cut, node_labels=node_labels, seen=seen, provenance=provenance)
    return Pruning.from_cuts(
        tree,
        is_cut,
        node_labels=node_labels,
        seen=seen,
        rule=f"{pruning.rule}, equal-predictions",
        provenance=pruning.provenance and pruning.provenance.with_edit("equal-predictions"),
    )


def _labels_before(tree: Tree, grown: Counts | None, labels: ArrayLike | None, pruning: Pruning | None) -> Ints:
    """Return the class of each node as a leaf before leaves are merged."""
    if labels is not None:
        array = np.asarray(labels)
        if array.shape != (tree.n_nodes,) or array.dtype.kind not in "iu" or array.min() < 0:
            raise ParameterError(
                f"labels have shape {array.shape} of {array.dtype}; one class number per node, {tree.n_nodes}, needed"
            )
        return array.astype(np.int32)
    if pruning is not None and pruning.node_labels is not None:
        return pruning.node_labels
    if grown is None:
        raise CountsError("grown is None, and neither labels nor a pruning with classes states what the leaves predict")
    return grown.majority
