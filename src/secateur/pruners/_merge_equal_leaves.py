"""Merge leaves that predict the same class: fewer tests, not one prediction changed."""

import numpy as np

from .._kernels.bottom_up import shared_labels
from .._utils.arrays import ArrayLike, Ints
from ..core import Counts, Pruning, SampleUsage, Tree
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
        Counts whose majority is the class of each leaf. May be None if `labels` or `pruning`
        say what the leaves predict.
    labels : array of int, optional
        The class of each node as a leaf, in place of the majority.
    pruning : Pruning, optional
        Start from this pruning of `tree`, and its classes, in place of the whole tree.

    Returns
    -------
    Pruning
        Cut at every node all of whose leaves have the same class, which it takes; the
        topmost such node wins. Every row gets the class it got before.

    Notes
    -----
    O(n_nodes). It never pays in errors, but it does lose what the leaves differ in otherwise:
    class probabilities. That is why no other rule does it unasked.

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
    own = _own_labels(tree, grown, labels, pruning)
    is_leaf = tree.is_leaf if pruning is None else pruning.is_leaf
    shared = shared_labels(tree.parent, own, is_leaf)
    is_cut = shared >= 0
    seen = SampleUsage.of(grown) | (() if pruning is None else pruning.seen)
    name = "equal-predictions"
    if pruning is not None and pruning.rule:
        name = f"{pruning.rule}, {name}"
    return Pruning.from_cuts(tree, is_cut, node_labels=np.where(is_cut, shared, own), seen=seen, rule=name)


def _own_labels(tree: Tree, grown: Counts | None, labels: ArrayLike | None, pruning: Pruning | None) -> Ints:
    """The class of each node as a leaf before anything is merged."""
    if labels is not None:
        chosen = np.asarray(labels)
        if chosen.shape != (tree.n_nodes,) or chosen.dtype.kind not in "iu" or chosen.min() < 0:
            raise ParameterError(
                f"labels have shape {chosen.shape} of {chosen.dtype}; one class number per node, {tree.n_nodes}, needed"
            )
        return chosen.astype(np.int32)
    if pruning is not None and pruning.node_labels is not None:
        return pruning.node_labels
    if grown is None:
        raise CountsError("grown is None, and neither labels nor a pruning with classes states what the leaves predict")
    return grown.majority
