"""Loops over the shape of a tree stored in pre-order (children after their parent)."""

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@njit
def subtree_ends(parent: Ints) -> Ints:
    """One past the last node of each subtree, if the numbering is pre-order."""
    n = parent.shape[0]
    end = np.empty(n, np.int32)
    for v in range(n):
        end[v] = v + 1
    for v in range(n - 1, 0, -1):
        p = parent[v]
        if end[v] > end[p]:
            end[p] = end[v]
    return end


@njit
def depths(parent: Ints) -> Ints:
    """Number of edges between each node and the root."""
    depth = np.zeros(parent.shape[0], np.int32)
    for v in range(1, parent.shape[0]):
        depth[v] = depth[parent[v]] + 1
    return depth


@njit
def first_out_of_preorder(parent: Ints, end: Ints) -> int:
    """The first node that is not where pre-order would put it, or -1.

    Node v must be the first child of v - 1, or a child of an ancestor of v - 1 whose
    earlier children all end at v; `next_child` holds where the next child must start.
    """
    n = parent.shape[0]
    next_child = np.empty(n, np.int32)
    for v in range(n):
        next_child[v] = v + 1
    for v in range(1, n):
        p = parent[v]
        if next_child[p] != v:
            return v
        next_child[p] = end[v]
    return -1


@njit
def preorder(parent: Ints) -> Ints:
    """The old id of each node of the pre-order numbering; siblings keep their order."""
    n = parent.shape[0]
    size = np.ones(n, np.int32)
    for v in range(n - 1, 0, -1):
        size[parent[v]] += size[v]
    position = np.zeros(n, np.int32)
    next_child = np.ones(n, np.int32)
    order = np.zeros(n, np.int32)
    for v in range(1, n):
        p = parent[v]
        position[v] = position[p] + next_child[p]
        next_child[p] += size[v]
        order[position[v]] = v
    return order


@njit
def sum_upwards(parent: Ints, values: npt.NDArray[np.number]) -> npt.NDArray[np.number]:
    """Rows of `values` summed over each subtree (2-D: nodes x columns)."""
    total = values.copy()
    for v in range(parent.shape[0] - 1, 0, -1):
        for c in range(values.shape[1]):
            total[parent[v], c] += total[v, c]
    return total


@njit
def sum_downwards(parent: Ints, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rows of `values` summed over each path from the root (2-D: nodes x columns)."""
    total = values.copy()
    for v in range(1, parent.shape[0]):
        for c in range(values.shape[1]):
            total[v, c] += total[parent[v], c]
    return total


@njit
def inherit_labels(parent: Ints, labels: Ints, is_empty: Bools) -> Ints:
    """`labels`, where an empty node takes the label of its parent."""
    result = labels.copy()
    for v in range(1, parent.shape[0]):
        if is_empty[v]:
            result[v] = result[parent[v]]
    return result


@njit
def leaves_after_cuts(parent: Ints, is_cut: Bools) -> Bools:
    """Which nodes are leaves when the tree is cut at `is_cut` (original leaves included)."""
    n = parent.shape[0]
    is_gone = np.zeros(n, np.bool_)
    is_leaf = is_cut.copy()
    for v in range(1, n):
        p = parent[v]
        is_gone[v] = is_gone[p] or is_leaf[p]
        if is_gone[v]:
            is_leaf[v] = False
    return is_leaf


@njit
def kept_nodes(parent: Ints, is_leaf: Bools) -> Bools:
    """Which nodes still have children when exactly `is_leaf` are the leaves."""
    is_kept = ~is_leaf
    for v in range(1, parent.shape[0]):
        is_kept[v] = is_kept[v] and is_kept[parent[v]]
    return is_kept


@njit
def first_wrong_count(
    parent: Ints, by_class: npt.NDArray[np.number], slack: float
) -> tuple[int, int, npt.NDArray[np.number]]:
    """First (node, class) that is negative, not finite or off the sum over its leaves; node -1: none. And the sums."""
    n, n_classes = by_class.shape
    summed = np.zeros((n, n_classes), by_class.dtype)
    is_leaf = np.ones(n, np.bool_)
    wrong_node = -1
    wrong_class = 0
    for v in range(n - 1, -1, -1):
        for c in range(n_classes):
            count = by_class[v, c]
            if is_leaf[v]:
                summed[v, c] = count
            if not (count >= 0 and count < np.inf) or abs(summed[v, c] - count) > slack:
                if wrong_node != v:
                    wrong_node, wrong_class = v, c
            if v > 0:
                summed[parent[v], c] += summed[v, c]
        if v > 0:
            is_leaf[parent[v]] = False
    return wrong_node, wrong_class, summed
