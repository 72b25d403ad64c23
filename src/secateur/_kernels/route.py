"""Walk rows down a tree."""

from typing import Any

import numpy as np

from ._jit import njit


@njit
def route_numeric(matrix: Any, feature: Any, threshold: Any, right: Any, default: Any, out: Any) -> Any:
    """Leaf of each row of a binary tree whose tests all compare numbers.

    The left child of v is v + 1. A test is false for NaN, so only then is `default` read.
    """
    for i in range(matrix.shape[0]):
        v = np.uint32(0)
        f = feature[v]
        while f >= 0:
            x = np.float64(matrix[i, np.uint32(f)])
            if x <= threshold[v]:
                v += np.uint32(1)
            elif x == x:
                v = np.uint32(right[v])
            else:
                v = np.uint32(right[v]) if default[v] else v + np.uint32(1)
            f = feature[v]
        out[i] = v


@njit
def route_any(
    matrix: Any,
    start_node: Any,
    feature: Any,
    threshold: Any,
    branch_start: Any,
    branch: Any,
    default: Any,
    child_start: Any,
    child: Any,
    out: Any,
) -> Any:
    """Leaf of each row, starting at `start_node`; nominal columns hold codes, NaN where unseen."""
    for i in range(matrix.shape[0]):
        v = np.int64(start_node)
        while feature[v] >= 0:
            x = np.float64(matrix[i, feature[v]])
            if x != x:
                c = np.int64(default[v])
            elif branch_start[v + 1] > branch_start[v]:
                c = np.int64(branch[branch_start[v] + np.int64(x)])
            else:
                c = np.int64(0) if x <= threshold[v] else np.int64(1)
            v = np.int64(child[child_start[v] + c])
        out[i] = v


@njit
def count_leaves(leaf: Any, target: Any, weight: Any, by_class: Any) -> Any:
    """Add the rows to `by_class[leaf, class]`; `weight` is empty where every row weighs 1."""
    if weight.shape[0] == 0:
        for i in range(leaf.shape[0]):
            by_class[leaf[i], target[i]] += 1
    else:
        for i in range(leaf.shape[0]):
            by_class[leaf[i], target[i]] += weight[i]


@njit
def path_lengths(depth: Any, leaf: Any) -> Any:
    """Nodes on the path to each row's leaf, as offsets of a sparse matrix."""
    offsets = np.zeros(leaf.shape[0] + 1, np.int64)
    for i in range(leaf.shape[0]):
        offsets[i + 1] = offsets[i] + depth[leaf[i]] + 1
    return offsets


@njit
def paths(parent: Any, leaf: Any, offsets: Any) -> Any:
    """The nodes on the path to each row's leaf, root first."""
    nodes = np.empty(offsets[-1], np.int32)
    for i in range(leaf.shape[0]):
        v = leaf[i]
        for k in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            nodes[k] = v
            v = parent[v]
    return nodes
