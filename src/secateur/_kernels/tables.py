"""Turn the tables of the growing kernels into the arrays of a tree, whose nodes are in pre-order.

    tables      children of a node are consecutive lines, in the order in which nodes were split
    pre-order   a node comes before its children, and the subtree of child 0 before that of child 1

Costs O(nodes), without recursion.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, NAN
from cython.cimports.secateur._kernels.context import (
    ABOVE,
    BELOW,
    BRANCH_START,
    DEFAULT_CHILD,
    FIRST_CHILD,
    KIND,
    N_CHILDREN,
    NO_SPLIT,
    NUMERIC,
    SLOT,
    SPLIT_STEP,
    SUBSET,
    UNSEEN_CATEGORY,
)

Count = cython.fused_type(cython.longlong, cython.double)
Real = cython.fused_type(cython.float, cython.double)


def preorder_arrays(
    nodes: cython.const[cython.longlong][:, ::1],
    reals: cython.const[cython.double][:, ::1],
    feature_of: cython.const[cython.int][::1],
    by_class: Count[:, ::1],
    has_split_order: cython.bint,
):
    """Return (parent, end, right, feature, default, split_order, score, split) of the nodes, and write their counts.

    Parameters
    ----------
    nodes, reals : array
        The tables, one line per node.
    feature_of : array
        Column of each slot.
    by_class : array
        Receives the class counts of each node, rounded if whole.
    has_split_order : bool
        Whether `split_order` is the step at which a node was split; if not, it is -1 everywhere.

    `split` has a line for each field of a split (SLOT_LINE, KIND_LINE, BELOW_LINE, ABOVE_LINE, BRANCH_START_LINE) and a
    column for each node. The kind of a leaf is NO_SPLIT.

    In the code, `line` is the line of a node in the tables, and `node` its number in pre-order.
    """
    n = nodes.shape[0]
    n_classes = by_class.shape[1]
    parent: cython.int[::1] = np.empty(n, np.int32)
    end: cython.int[::1] = np.empty(n, np.int32)
    right: cython.int[::1] = np.empty(n, np.int32)
    feature: cython.int[::1] = np.empty(n, np.int32)
    default: cython.int[::1] = np.empty(n, np.int32)
    split_order: cython.int[::1] = np.empty(n, np.int32)
    score: cython.double[::1] = np.empty(n)
    split: cython.longlong[:, ::1] = np.empty((5, n), np.int64)
    stack: cython.longlong[::1] = np.empty(n, np.int64)
    parent_of_stacked: cython.int[::1] = np.empty(n, np.int32)
    top: cython.Py_ssize_t = 1
    line: cython.Py_ssize_t
    node: cython.int = 0
    c: cython.Py_ssize_t
    stack[0] = 0
    parent_of_stacked[0] = -1
    with cython.nogil:
        while top > 0:
            top -= 1
            line = stack[top]
            parent[node] = parent_of_stacked[top]
            for c in range(n_classes):
                count = reals[line, c]
                if Count is cython.longlong:
                    by_class[node, c] = cython.cast(cython.longlong, count + 0.5)
                else:
                    by_class[node, c] = count
            split[KIND_LINE, node] = NO_SPLIT
            feature[node] = -1
            default[node] = 0
            split_order[node] = -1
            score[node] = NAN
            if nodes[line, SPLIT_STEP] >= 0:
                split[SLOT_LINE, node] = nodes[line, SLOT]
                split[KIND_LINE, node] = nodes[line, KIND]
                split[BELOW_LINE, node] = nodes[line, BELOW]
                split[ABOVE_LINE, node] = nodes[line, ABOVE]
                split[BRANCH_START_LINE, node] = nodes[line, BRANCH_START]
                feature[node] = feature_of[nodes[line, SLOT]]
                default[node] = cython.cast(cython.int, nodes[line, DEFAULT_CHILD])
                if has_split_order:
                    split_order[node] = cython.cast(cython.int, nodes[line, SPLIT_STEP])
                score[node] = reals[line, n_classes]
                for c in range(nodes[line, N_CHILDREN] - 1, -1, -1):
                    stack[top] = nodes[line, FIRST_CHILD] + c
                    parent_of_stacked[top] = node
                    top += 1
            end[node] = node + 1
            node += 1
        for node in range(cython.cast(cython.int, n) - 1, -1, -1):
            right[node] = 0
            if end[node] > node + 1:
                right[node] = end[node + 1]
            if node > 0 and end[node] > end[parent[node]]:
                end[parent[node]] = end[node]
    return parent.base, end.base, right.base, feature.base, default.base, split_order.base, score.base, split.base


def split_thresholds(
    split: cython.const[cython.longlong][:, ::1],
    feature: cython.const[cython.int][:],
    of_column: cython.const[cython.double][:],
    matrix: cython.const[Real][:, :],
    rows: cython.const[cython.Py_ssize_t][:],
):
    """Return the threshold of every numeric split, and NaN for all other nodes.

    The threshold between the values low < high is their midpoint t, or low if rounding violates low <= t < high. The
    threshold is infinity if the split only separates values from missing values.

    Parameters
    ----------
    split : array
        As returned by `preorder_arrays`.
    feature : array
        Column of each node.
    of_column : array
        Threshold of each two-valued column, NaN for other columns. Columns after the last element are not two-valued.
    matrix : array
        Values of all columns, one line per row.
    rows : array
        Line of each row of the tree in `matrix`; empty: the row number is the line.
    """
    n = feature.shape[0]
    threshold: cython.double[::1] = np.empty(n)
    has_rows: cython.bint = rows.shape[0] > 0
    below: cython.Py_ssize_t
    above: cython.Py_ssize_t
    low: cython.double
    high: cython.double
    with cython.nogil:
        for v in range(n):
            if split[KIND_LINE, v] != NUMERIC:
                threshold[v] = NAN
                continue
            if split[ABOVE_LINE, v] < 0:
                threshold[v] = INFINITY
                continue
            if feature[v] < of_column.shape[0] and of_column[feature[v]] == of_column[feature[v]]:
                threshold[v] = of_column[feature[v]]
                continue
            below = split[BELOW_LINE, v]
            above = split[ABOVE_LINE, v]
            if has_rows:
                below = rows[below]
                above = rows[above]
            low = matrix[below, feature[v]]
            high = matrix[above, feature[v]]
            threshold[v] = low / 2 + high / 2
            if not (low <= threshold[v] and threshold[v] < high):
                threshold[v] = low
    return threshold.base


def category_branches(
    split: cython.const[cython.longlong][:, ::1],
    default: cython.const[cython.int][::1],
    branch: cython.const[cython.ushort][:],
    n_codes: cython.const[cython.longlong][:],
    n_lists: cython.Py_ssize_t,
):
    """Return (start, child): `child[start[v] + code]` is the child of category `code` at the nominal split of node v.

    A category without rows in the node goes to the default child.

    Parameters
    ----------
    split, default : array
        As returned by `preorder_arrays`.
    branch : array
        Children of the categories, as the kernels returned them.
    n_codes : array
        Number of codes of each slot after the lists.
    n_lists : int
        Number of slots that are lists.
    """
    n = default.shape[0]
    start: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    for v in range(n):
        start[v + 1] = start[v]
        if split[KIND_LINE, v] >= SUBSET:
            start[v + 1] += n_codes[split[SLOT_LINE, v] - n_lists]
    child_of_code: cython.ushort[::1] = np.empty(start[n], np.uint16)
    with cython.nogil:
        for v in range(n):
            for code in range(start[v + 1] - start[v]):
                child: cython.int = code  # multiway: one child per category
                if split[KIND_LINE, v] == SUBSET:
                    child = branch[split[BRANCH_START_LINE, v] + code]
                child_of_code[start[v] + code] = cython.cast(
                    cython.ushort, default[v] if child == UNSEEN_CATEGORY else child
                )
    return start.base, child_of_code.base
