"""Limits of the estimates of nodes, by which every pruning of a tree under monotone constraints is monotone.

The estimate of a node is the share of the second class, or the mean of the target. If a tree has `estimate_limits`,
every prediction is an estimate that was moved into the limits of its node, whatever sample it was computed from. The
limits of the nodes in the lower branch of a constrained split end where those of the upper branch begin
(`growers/monotone.py`), so the order holds for any two leaves.
"""

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Bools, Floats, Ints, LongsOrFloats, write_protect
from .tree import Tree


def allows_class(tree: Tree, label: int) -> Bools:
    """Return whether each node may predict a class: the limits may leave the first or the second one only.

    A share of one half predicts the first class.
    """
    if tree.estimate_limits is None or label > 1:
        return np.ones(tree.n_nodes, bool)
    lower, upper = tree.estimate_limits.T
    is_allowed: Bools = upper > 0.5 if label else lower <= 0.5
    return is_allowed


def limit_labels(tree: Tree, labels: Ints) -> Ints:
    """Return the class of each node, changed where the limits leave the other one only."""
    if tree.estimate_limits is None:
        return labels
    changed = np.where(allows_class(tree, 0), np.where(allows_class(tree, 1), labels, 0), 1)
    return write_protect(changed.astype(np.int32))


def limit_values(tree: Tree, values: Floats) -> Floats:
    """Return the estimate of each node, moved into its limits."""
    if tree.estimate_limits is None:
        return values
    return write_protect(np.clip(values, *tree.estimate_limits.T))


def limit_shares(tree: Tree, shares: Floats) -> Floats:
    """Return the class shares of each node, of shape (n_nodes, 2), moved into the limits of the second share."""
    if tree.estimate_limits is None or shares.shape[1] != 2:
        return shares
    second = np.clip(shares[:, 1], *tree.estimate_limits.T)
    is_moved = second != shares[:, 1]
    limited = shares.copy()
    limited[is_moved, 0], limited[is_moved, 1] = 1 - second[is_moved], second[is_moved]
    return limited


def class_frequencies(parent: Array, by_class: LongsOrFloats, total: LongsOrFloats) -> Floats:
    """Return the class shares of each node; an empty node has those of its nearest ancestor with rows."""
    is_empty = total == 0
    if is_empty[0]:
        return np.full(by_class.shape, 1 / by_class.shape[1])
    if is_empty.any():
        nodes = np.arange(len(parent), dtype=np.int32)
        by_class = by_class[structure.inherit_labels(parent, nodes, is_empty)]
    shares: Floats = by_class / by_class.sum(axis=1, keepdims=True)
    return shares
