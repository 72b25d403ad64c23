"""Loops over the shape of a tree stored in pre-order (children after their parent)."""

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
    """One past the last node of each subtree, if the numbering is pre-order."""
    n = parent.shape[0]
    end: cython.int[::1] = np.arange(1, n + 1, dtype=np.int32)
    with cython.nogil:
        for v in range(n - 1, 0, -1):
            p = parent[v]
            if end[v] > end[p]:
                end[p] = end[v]
    return end.base


def depths(parent: Ints):
    """Number of edges between each node and the root."""
    depth: cython.int[::1] = np.zeros(parent.shape[0], np.int32)
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            depth[v] = depth[parent[v]] + 1
    return depth.base


def first_out_of_preorder(parent: Ints, end: Ints):
    """The first node that is not where pre-order would put it, or -1.

    Node v must be the first child of v - 1, or a child of an ancestor of v - 1 whose
    earlier children all end at v; `next_child` holds where the next child must start.
    """
    n = parent.shape[0]
    next_child: cython.int[::1] = np.arange(1, n + 1, dtype=np.int32)
    wrong: cython.Py_ssize_t = -1
    with cython.nogil:
        for v in range(1, n):
            p = parent[v]
            if next_child[p] != v:
                wrong = v
                break
            next_child[p] = end[v]
    return wrong


def preorder(parent: Ints):
    """The old id of each node of the pre-order numbering; siblings keep their order."""
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
    """Rows of `values` summed over each subtree (2-D: nodes x columns)."""
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
    """The sum; of whole numbers too large to add one that has wrapped around, which the checks of counts refuse."""
    if Number is cython.longlong:
        return cython.cast(cython.longlong, cython.cast(cython.ulonglong, a) + cython.cast(cython.ulonglong, b))
    else:  # noqa: RET505 one of the two is compiled
        return a + b


def sum_downwards(parent: Ints, values: FloatRows):
    """Rows of `values` summed over each path from the root (2-D: nodes x columns)."""
    total: cython.double[:, ::1] = np.array(values.base, order="C")
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            p = parent[v]
            for c in range(total.shape[1]):
                total[v, c] += total[p, c]
    return total.base


def inherit_labels(parent: Ints, labels: Ints, is_empty: Bools):
    """`labels`, where an empty node takes the label of its parent."""
    result: cython.int[::1] = np.array(labels.base)
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            if is_empty[v]:
                result[v] = result[parent[v]]
    return result.base


def leaves_after_cuts(parent: Ints, is_cut: Bools):
    """Which nodes are leaves when the tree is cut at `is_cut` (original leaves included)."""
    n = parent.shape[0]
    is_gone: cython.uchar[::1] = np.zeros(n, np.bool_)
    is_leaf: cython.uchar[::1] = np.empty(n, np.bool_)
    with cython.nogil:
        for v in range(n):
            is_leaf[v] = is_cut[v]
            if v > 0:
                p = parent[v]
                is_gone[v] = is_gone[p] or is_leaf[p]
                if is_gone[v]:
                    is_leaf[v] = False
    return is_leaf.base


def kept_nodes(parent: Ints, is_leaf: Bools):
    """Which nodes still have children when exactly `is_leaf` are the leaves."""
    is_kept: cython.uchar[::1] = np.empty(parent.shape[0], np.bool_)
    with cython.nogil:
        for v in range(parent.shape[0]):
            is_kept[v] = not is_leaf[v] and (v == 0 or is_kept[parent[v]])
    return is_kept.base


def has_consistent_sums(end: Ints, by_class: LongRows):
    """Whether no count is negative and every inner node holds the sum of its children; no sum exceeds 2**63."""
    n = by_class.shape[0]
    n_classes = by_class.shape[1]
    wrong: cython.bint = False
    summed: cython.ulonglong  # what wraps around is negative somewhere
    with cython.nogil:
        for v in range(n):
            if end[v] == v + 1:
                for c in range(n_classes):
                    wrong |= by_class[v, c] < 0
                continue
            for c in range(n_classes):
                wrong |= by_class[v, c] < 0
                summed = cython.cast(cython.ulonglong, by_class[v, c])
                child = v + 1
                while child < end[v]:
                    summed -= cython.cast(cython.ulonglong, by_class[child, c])
                    child = end[child]
                wrong |= summed != 0
    return not wrong


def first_invalid_count(parent: Ints, by_class: NumberRows, slack: cython.double):
    """First (node, class) that is negative, not finite or off the sum over its leaves; node -1: none. And the sums."""
    n, n_classes = by_class.shape[0], by_class.shape[1]
    summed: Number[:, ::1] = np.zeros_like(by_class.base, order="C", subok=False)
    is_leaf: cython.uchar[::1] = np.ones(n, np.bool_)
    wrong_node: cython.Py_ssize_t = -1
    wrong_class: cython.Py_ssize_t = 0
    with cython.nogil:
        for v in range(n - 1, -1, -1):
            for c in range(n_classes):
                count = by_class[v, c]
                if is_leaf[v]:
                    summed[v, c] = count
                if not (count >= 0 and count < INFINITY) or _differ(summed[v, c], count, slack):
                    if wrong_node != v:
                        wrong_node, wrong_class = v, c
                if v > 0:
                    summed[parent[v], c] = _plus(summed[parent[v], c], summed[v, c])
            if v > 0:
                is_leaf[parent[v]] = False
    return wrong_node, wrong_class, summed.base


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _differ(a: Number, b: Number, slack: cython.double) -> cython.bint:
    """Whether two numbers are further apart than `slack`; whole ones, whether they differ."""
    if Number is cython.longlong:
        return a != b
    else:  # noqa: RET505 one of the two is compiled
        return abs(a - b) > slack


def child_lists(parent: Ints):
    """(start, child): where each node's children begin in one list of all children, and that list."""
    n = parent.shape[0]
    start: cython.longlong[::1] = np.zeros(n + 1, np.int64)
    child: cython.int[::1] = np.empty(max(n - 1, 0), np.int32)
    with cython.nogil:
        for v in range(1, n):
            start[parent[v]] += 1
        for v in range(1, n + 1):  # where they end
            start[v] += start[v - 1]
        for v in range(n - 1, 0, -1):  # filled from behind, each begins where it should in the end
            start[parent[v]] -= 1
            child[start[parent[v]]] = v
    return start.base, child.base


def added_leaves(parent: Ints):
    """How many leaves each node adds by not being one: a child less than it has, 0 of a leaf."""
    added: cython.longlong[::1] = np.zeros(parent.shape[0], np.int64)
    with cython.nogil:
        for v in range(1, parent.shape[0]):
            added[parent[v]] += 1
        for v in range(parent.shape[0]):
            if added[v] > 0:
                added[v] -= 1
    return added.base


def row_sums(by_class: LongRows):
    """The whole counts of each node, added up."""
    total: cython.longlong[::1] = np.zeros(by_class.shape[0], np.int64)
    with cython.nogil:
        for v in range(by_class.shape[0]):
            for c in range(by_class.shape[1]):
                total[v] += by_class[v, c]
    return total.base


def majorities(parent: Ints, by_class: NumberRows):
    """The class with most in each node: the lowest of a tie, the parent's where the node is empty."""
    labels: cython.int[::1] = np.zeros(parent.shape[0], np.int32)
    most: Number
    c: cython.int
    with cython.nogil:
        for v in range(parent.shape[0]):
            most = by_class[v, 0]
            for c in range(1, cython.cast(cython.int, by_class.shape[1])):
                if by_class[v, c] > most:
                    most = by_class[v, c]
                    labels[v] = c
            if most == 0 and v > 0:
                labels[v] = labels[parent[v]]
    return labels.base


def error_counts(by_class: NumberRows, total: Numbers, labels: Ints):
    """What of each node is not of its label; a label beyond the classes is wrong everywhere."""
    wrong: Number[::1] = np.array(total.base)
    with cython.nogil:
        for v in range(wrong.shape[0]):
            if labels[v] < by_class.shape[1]:
                wrong[v] -= by_class[v, labels[v]]
    return wrong.base


def m_estimates(by_class: NumberRows, total: Numbers, expected: Floats, m: cython.double, whole: cython.double):
    """Share of each node in `whole`, times its error where `m` more rows, `expected` of them wrong, are added."""
    estimate: cython.double[::1] = np.zeros(by_class.shape[0])
    n: cython.double
    with cython.nogil:
        for v in range(by_class.shape[0]):
            n = total[v]
            least = INFINITY
            for c in range(by_class.shape[1]):
                wrong = n - cython.cast(cython.double, by_class[v, c]) + expected[c]
                if wrong < least:
                    least = wrong
            if n + m > 0:
                estimate[v] = n / whole * (least / (n + m))
    return estimate.base
