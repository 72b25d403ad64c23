r"""Loops over the shape of a tree, and sums over its nodes.

A tree is one array `parent` in pre-order: node 0 is the root, and every child comes after its parent. The subtree of
node v is the slice v, ..., end[v] - 1, and its children are found by hopping from subtree to subtree:

    node      0   1   2   3   4   5              0
    parent   -1   0   1   1   0   4             / \
    end       6   4   3   4   6   6            1   4
    children of 0: 1, then end[1] = 4         / \   \
                                             2   3   5

A loop over v = n - 1, ..., 0 meets every node after its children, a loop over v = 0, ..., n - 1 after its parent. So a
sum over subtrees or over paths is one pass, and no recursion limits the depth. Cost: one step per node, or per node and
class where class counts are summed.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.secateur._kernels.views import (
    Bools,
    FloatRows,
    Floats,
    Ints,
    LongRows,
    Number,
    NumberRows,
    Numbers,
)


def subtree_ends(parent: Ints):
    """Return one past the last node of each subtree, provided that the numbering is pre-order."""
    n = parent.shape[0]
    end: cython.int[::1] = np.arange(1, n + 1, dtype=np.int32)
    with cython.nogil:
        for v in range(n - 1, 0, -1):
            p = parent[v]
            if end[v] > end[p]:
                end[p] = end[v]
    return end.base


def depths(parent: Ints):
    """Return the number of edges between each node and the root."""
    depth: cython.int[::1] = np.zeros(parent.shape[0], np.int32)
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            depth[v] = depth[parent[v]] + 1
    return depth.base


def first_out_of_preorder(parent: Ints, end: Ints):
    """Return the first node that is not where pre-order would put it, or -1 if there is none.

    Node v must be the first child of v - 1, or a child of an ancestor of v - 1 whose earlier children all end at v.
    `next_child[p]` is where the next child of p must start.
    """
    n = parent.shape[0]
    next_child: cython.int[::1] = np.arange(1, n + 1, dtype=np.int32)
    misplaced: cython.Py_ssize_t = -1
    with cython.nogil:
        for v in range(1, n):
            p = parent[v]
            if next_child[p] != v:
                misplaced = v
                break
            next_child[p] = end[v]
    return misplaced


def preorder(parent: Ints):
    """Return the old number of each node of the pre-order numbering; siblings keep their order."""
    n = parent.shape[0]
    size: cython.int[::1] = np.ones(n, np.int32)
    position: cython.int[::1] = np.zeros(n, np.int32)
    next_child: cython.int[::1] = np.ones(n, np.int32)
    order: cython.int[::1] = np.zeros(n, np.int32)
    with cython.nogil:
        for v in range(n - 1, 0, -1):
            size[parent[v]] += size[v]
        for v in range(1, n):
            p = parent[v]
            position[v] = position[p] + next_child[p]
            next_child[p] += size[v]
            order[position[v]] = v
    return order.base


def sum_upwards(parent: Ints, values: NumberRows):
    """Return the rows of `values` (nodes x columns) summed over each subtree."""
    total: Number[:, ::1] = np.array(values.base, order="C")
    with cython.nogil:
        for v in range(parent.shape[0] - 1, 0, -1):
            p = parent[v]
            for c in range(total.shape[1]):
                total[p, c] = _plus(total[p, c], total[v, c])
    return total.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _plus(a: Number, b: Number) -> Number:
    """Return the sum of two numbers; beyond 64 bits it wraps around, which the checks of counts detect."""
    if Number is cython.longlong:
        return cython.cast(cython.longlong, cython.cast(cython.ulonglong, a) + cython.cast(cython.ulonglong, b))
    else:  # noqa: RET505 one of the two is compiled
        return a + b


def sum_downwards(parent: Ints, values: FloatRows):
    """Return the rows of `values` (nodes x columns) summed over the path from the root to each node."""
    total: cython.double[:, ::1] = np.array(values.base, order="C")
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            p = parent[v]
            for c in range(total.shape[1]):
                total[v, c] += total[p, c]
    return total.base


def inherit_labels(parent: Ints, labels: Ints, is_empty: Bools):
    """Return the labels, with the label of the parent at every empty node."""
    result: cython.int[::1] = np.array(labels.base)
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            if is_empty[v]:
                result[v] = result[parent[v]]
    return result.base


def leaves_after_cuts(parent: Ints, is_cut: Bools):
    """Return which nodes are leaves after the tree is cut at `is_cut`, which also marks the original leaves."""
    n = parent.shape[0]
    is_below_leaf: cython.uchar[::1] = np.zeros(n, np.bool_)
    is_leaf: cython.uchar[::1] = np.empty(n, np.bool_)
    with cython.nogil:
        for v in range(n):
            is_leaf[v] = is_cut[v]
            if v > 0:
                p = parent[v]
                is_below_leaf[v] = is_below_leaf[p] or is_leaf[p]
                if is_below_leaf[v]:
                    is_leaf[v] = False
    return is_leaf.base


def kept_nodes(parent: Ints, is_leaf: Bools):
    """Return which nodes are internal if exactly the nodes `is_leaf` are the leaves."""
    is_kept: cython.uchar[::1] = np.empty(parent.shape[0], np.bool_)
    with cython.nogil:
        for v in range(parent.shape[0]):
            is_kept[v] = not is_leaf[v] and (v == 0 or is_kept[parent[v]])
    return is_kept.base


def has_consistent_sums(end: Ints, by_class: LongRows):
    """Return whether no count is negative and the counts of every internal node are the sums of its children's.

    A sum that wraps around is negative at some node, so sums beyond 2**63 are detected too.
    """
    n = by_class.shape[0]
    n_classes = by_class.shape[1]
    is_wrong: cython.bint = False
    rest: cython.ulonglong  # a count less those of the children seen so far
    with cython.nogil:
        for v in range(n):
            if end[v] == v + 1:
                for c in range(n_classes):
                    is_wrong |= by_class[v, c] < 0
                continue
            for c in range(n_classes):
                is_wrong |= by_class[v, c] < 0
                rest = cython.cast(cython.ulonglong, by_class[v, c])
                child = v + 1
                while child < end[v]:
                    rest -= cython.cast(cython.ulonglong, by_class[child, c])
                    child = end[child]
                is_wrong |= rest != 0
    return not is_wrong


def first_invalid_count(parent: Ints, by_class: NumberRows, slack: cython.double):
    """Return the first node and class whose count is invalid (node -1: none), and the sums over the leaves below.

    A count is invalid if it is negative, not finite, or further than `slack` from the sum over the leaves below.
    """
    n, n_classes = by_class.shape[0], by_class.shape[1]
    summed: Number[:, ::1] = np.zeros_like(by_class.base, order="C", subok=False)
    is_leaf: cython.uchar[::1] = np.ones(n, np.bool_)
    invalid_node: cython.Py_ssize_t = -1
    invalid_class: cython.Py_ssize_t = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            for c in range(n_classes):
                count = by_class[v, c]
                if is_leaf[v]:
                    summed[v, c] = count
                if not (count >= 0 and count < INFINITY) or _differ(summed[v, c], count, slack):
                    if invalid_node != v:
                        invalid_node, invalid_class = v, c
                if v > 0:
                    summed[parent[v], c] = _plus(summed[parent[v], c], summed[v, c])
            if v > 0:
                is_leaf[parent[v]] = False
    return invalid_node, invalid_class, summed.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _differ(a: Number, b: Number, slack: cython.double) -> cython.bint:
    """Return whether two real numbers are further apart than `slack`, or two whole numbers are different."""
    if Number is cython.longlong:
        return a != b
    else:  # noqa: RET505 one of the two is compiled
        return abs(a - b) > slack


def child_lists(parent: Ints):
    """Return one list of all children, ordered by parent: where the children of each node start, and the list."""
    n = parent.shape[0]
    start: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    child: cython.int[::1] = np.empty(max(n - 1, 0), np.int32)
    with cython.nogil:
        for v in range(1, n):
            start[parent[v]] += 1
        for v in range(1, n + 1):  # start[v] is now one past the last child of v
            start[v] += start[v - 1]
        for v in range(n - 1, 0, -1):  # filling each part backwards leaves start[v] at its first child
            start[parent[v]] -= 1
            child[start[parent[v]]] = v
    return start.base, child.base


def added_leaves(parent: Ints):
    """Return how many leaves keeping each node adds: its number of children less one; 0 at leaves."""
    added: cython.longlong[::1] = np.zeros(parent.shape[0], np.int64)
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            added[parent[v]] += 1
        for v in range(parent.shape[0]):
            if added[v] > 0:
                added[v] -= 1
    return added.base


def row_sums(by_class: LongRows):
    """Return the total count of each node."""
    total: cython.longlong[::1] = np.zeros(by_class.shape[0], np.int64)
    with cython.nogil:
        for v in range(by_class.shape[0]):
            for c in range(by_class.shape[1]):
                total[v] += by_class[v, c]
    return total.base


def majorities(parent: Ints, by_class: NumberRows):
    """Return the majority class of each node: the lowest of a tie, that of the parent where a node is empty."""
    labels: cython.int[::1] = np.zeros(parent.shape[0], np.int32)
    max_count: Number
    c: cython.int
    with cython.nogil:
        for v in range(parent.shape[0]):
            max_count = by_class[v, 0]
            for c in range(1, cython.cast(cython.int, by_class.shape[1])):
                if by_class[v, c] > max_count:
                    max_count = by_class[v, c]
                    labels[v] = c
            if max_count == 0 and v > 0:
                labels[v] = labels[parent[v]]
    return labels.base


def error_counts(by_class: NumberRows, total: Numbers, labels: Ints):
    """Return the count of other classes than `labels[v]` in each node; a label beyond the classes has no count."""
    errors: Number[::1] = np.array(total.base)
    with cython.nogil:
        for v in range(errors.shape[0]):
            if labels[v] < by_class.shape[1]:
                errors[v] -= by_class[v, labels[v]]
    return errors.base


def m_estimates(
    by_class: NumberRows, total: Numbers, prior_errors: Floats, m: cython.double, sample_total: cython.double
):
    """Return the m-estimate of each node: its share of the sample times its error rate after `m` rows are added.

    If the node predicts class c, `prior_errors[c]` of the `m` added rows are errors; the node predicts the class with
    the fewest errors.
    """
    estimate: cython.double[::1] = np.zeros(by_class.shape[0])
    n: cython.double
    with cython.nogil:
        for v in range(by_class.shape[0]):
            n = total[v]
            min_errors = INFINITY
            for c in range(by_class.shape[1]):
                errors = n - cython.cast(cython.double, by_class[v, c]) + prior_errors[c]
                if errors < min_errors:
                    min_errors = errors
            if n + m > 0:
                estimate[v] = n / sample_total * (min_errors / (n + m))
    return estimate.base
