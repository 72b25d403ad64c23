"""Grow only splits that keep the predictions monotone in some columns.

The estimate of a node is the share of the second class, or the mean of the target. Every node has limits, and predicts
its estimate after it was moved into them. A split of a column with the sign 1 is admissible if the estimates of both
children lie within the limits of the node, and that of child 0 is not above that of child 1 (sign -1: not below). The
children of such a split share the midpoint of their estimates as a limit. Every split of a column without a sign is
admissible, and its children take over the limits of the node:

    x0 rises, x1 is free        .30 [-inf, inf]             the limits of each node in brackets
                             x0 <= 2 | x0 > 2
                      .20 [-inf, .32]   .44 [.32, inf]
                         x1 <= 5 | x1 > 5
                .12 [-inf, .32]    .40 [-inf, .32], which predicts .32

Whatever is pruned, no leaf below `x0 <= 2` therefore predicts more than any leaf below `x0 > 2`. The limits of a node
stand in the last two of its whole numbers, as the bits of doubles. Children inherit them like the bits of the slots.

Missing values have no order. The rows of a node whose value is missing count with the child that they join, and a split
of present from missing values is always admissible.

The scans of `scan.py` ignore limits. They find the best threshold of a sorted list first. If that is no better than the
best split so far, no admissible threshold is; if it is admissible, it is the best admissible one. Otherwise the list is
scanned again, with the limits (`scan_admissible`). The other kinds of columns have few splits, and each of them is
checked when its score is the best so far. Costs O(rows) for each constrained column.
"""

import cython
import numpy as np
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels.bin_splits import score_threshold
from cython.cimports.secateur._kernels.context import (
    ABOVE,
    END,
    KIND,
    NUMERIC,
    SLOT,
    SQUARED_ERROR,
    START,
    BestThreshold,
    Context,
    NodeStats,
    weight_of,
)


def read_limits(context, node, stats):
    """Copy the limits of a node to its statistics, if the tree has constraints."""
    if not stats.is_limited:
        return
    memcpy(cython.address(stats.lower), node + context.limit_field, cython.sizeof(cython.double))
    memcpy(cython.address(stats.upper), node + context.limit_field + 1, cython.sizeof(cython.double))


def is_threshold_admissible(context, entries, n_missing, stats, threshold):
    """Return whether a threshold of a list is admissible. Costs O(rows on the left)."""
    left = LeftSide(0, 0, 0)
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    for i in range(threshold.position):
        _add_row(context, entries[i], stats, cython.address(left))
    for i in range(n_known if threshold.missing_child == 0 else stats.n_rows, stats.n_rows):
        _add_row(context, entries[i], stats, cython.address(left))
    return _are_children_admissible(context, cython.address(left), threshold.position < n_known, stats)


def scan_admissible(context, scratch, entries, n_missing, stats, best):
    """Replace `best` by the best admissible threshold of a list, whose last `n_missing` entries have missing values."""
    is_plain: cython.bint = context.row_weight == cython.NULL and n_missing == 0
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    position: cython.Py_ssize_t
    left = LeftSide(0, 0, 0)
    missing = LeftSide(0, 0, 0)
    for position in range(n_known, stats.n_rows):
        entry = entries[position]
        _add_row(context, entry, stats, cython.address(missing))
    for position in range(n_known + (n_missing > 0)):  # the last threshold splits present from missing values
        entry = entries[position]
        if position > 0 and entry & 1:
            threshold = BestThreshold(0, position, -1, 1)
            has_order: cython.bint = position < n_known
            _try_admissible(
                context, scratch, cython.address(left), is_plain, has_order, cython.address(threshold), stats, best
            )
            if n_missing > 0 and has_order:
                threshold.missing_child = 0
                side = LeftSide(left.sum + missing.sum, left.weight + missing.weight, left.size + missing.size)
                _try_admissible(
                    context, scratch, cython.address(side), is_plain, True, cython.address(threshold), stats, best
                )
        if position < n_known:
            _add_row(context, entry, stats, cython.address(left))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_row(
    context: cython.pointer[Context],
    entry: cython.ulonglong,
    stats: cython.pointer[NodeStats],
    side: cython.pointer[LeftSide],
) -> cython.void:
    """Add the row of an entry to a side."""
    row: cython.size_t = entry >> context.shift
    added = weight_of(context, row)
    side.weight += added
    side.size += added if context.has_weight_limits else 1.0
    if context.criterion.fast_path == SQUARED_ERROR:
        side.sum += added * (context.target[row] - stats.centre)
    elif (entry & context.low_mask) >> 1 == 1:
        side.sum += added


def _are_children_admissible(context, left, has_order, stats):
    """Return whether a split with these rows on the left is admissible; `has_order`: both children have values."""
    total = stats.deviation if context.criterion.fast_path == SQUARED_ERROR else stats.counts[1]
    sign = stats.sign if has_order else 0
    return is_admissible(stats, sign, left.sum, left.weight, total - left.sum, stats.weight - left.weight)


def _try_admissible(context, scratch, left, is_plain, has_order, threshold, stats, best):
    """Replace `best` by a threshold that is admissible and better by more than a tie, and whose children are large."""
    if left.size < stats.min_child_size or stats.size - left.size < stats.min_child_size:
        return
    if context.criterion.fast_path == SQUARED_ERROR:
        excess = left.sum * stats.weight - stats.deviation * left.weight
        product = stats.weight * (left.weight * (stats.weight - left.weight))
        threshold.score = excess * excess / product
    else:
        scratch.left[0] = left.weight - left.sum
        scratch.left[1] = left.sum
        threshold.score = score_threshold(context, scratch, left.weight, is_plain, stats)
    if threshold.score > best.score + stats.tie and _are_children_admissible(context, left, has_order, stats):
        best[0] = threshold[0]


def is_two_valued_admissible(context, scratch, column, stats):
    """Return whether the split of a two-valued column is admissible.

    `scratch.ones` has two lines: the weights of both classes among the rows with the higher value, or, for regression,
    the weight of these rows and the sum of their deviations.
    """
    right_sum = scratch.ones[context.bit_line_bytes + column]
    right_weight = scratch.ones[column]
    total = stats.deviation
    if context.criterion.fast_path != SQUARED_ERROR:
        right_weight += right_sum
        total = stats.counts[1]
    sign = context.sign_of_slot[context.n_lists + context.n_code_slots + column]
    return is_admissible(stats, sign, total - right_sum, stats.weight - right_weight, right_sum, right_weight)


def limit_children(context, scratch, lists, node, children, n_columns):
    """Narrow the limits of the two children of a node that is split at a threshold of a constrained column.

    `children` is the line of child 0, that of child 1 follows, and both have the limits of the node. The rows of the
    node are assigned to the children, but not yet partitioned.
    """
    sign = context.sign_of_slot[node[SLOT]]
    is_list: cython.bint = node[SLOT] < context.n_lists
    if sign == 0 or node[KIND] != NUMERIC or (is_list and node[ABOVE] < 0):
        return
    if context.criterion.fast_path == SQUARED_ERROR:
        middle = _middle_of_numbers(context, lists, node)
    else:
        middle = _middle_of_classes(context, scratch)
    lower_child = 0 if sign > 0 else 1  # the child with the lower estimate
    upper = children + lower_child * n_columns + context.limit_field + 1
    lower = children + (1 - lower_child) * n_columns + context.limit_field
    memcpy(upper, cython.address(middle), cython.sizeof(cython.double))
    memcpy(lower, cython.address(middle), cython.sizeof(cython.double))


def _middle_of_classes(context, scratch):
    """Return the midpoint of the shares of the second class in both children."""
    counts = scratch.child_counts
    left = counts[1] / (counts[0] + counts[1])
    right = counts[3] / (counts[2] + counts[3])
    return (left + right) / 2


def _middle_of_numbers(context, lists, node):
    """Return the midpoint of the means of both children. Costs O(rows)."""
    sums = cython.declare(cython.double[2], [0, 0])
    weights = cython.declare(cython.double[2], [0, 0])
    entries = lists + node[SLOT] * context.n_rows + node[START]
    if node[SLOT] >= context.n_lists:
        entries = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
    for i in range(node[END] - node[START]):
        row = entries[i] >> context.shift
        child = 1 - context.goes_left[row]
        added = weight_of(context, row)
        sums[child] += added * context.target[row]
        weights[child] += added
    return (sums[0] / weights[0] + sums[1] / weights[1]) / 2


def estimate_limits(
    end: cython.const[cython.int][:],
    value: cython.const[cython.double][:],
    sign: cython.const[cython.schar][:],
    lower: cython.double,
    upper: cython.double,
):
    """Return the limits of the estimate of every node of a grown tree, one line per node.

    `lower` and `upper` are the limits of the root, and `value[v]` is the estimate of node v. Where `sign[v]` is 1, no
    node below the first child of node v may be above any node below its second child; where it is -1, no node may be
    below. Nodes are visited from the root to the leaves.
    """
    n = end.shape[0]
    limits: cython.double[:, ::1] = np.empty((n, 2))
    first: cython.Py_ssize_t
    second: cython.Py_ssize_t
    child: cython.Py_ssize_t
    limits[0, 0] = lower
    limits[0, 1] = upper
    with cython.nogil:
        for v in range(n):
            child = v + 1
            while child < end[v]:
                limits[child, 0] = limits[v, 0]
                limits[child, 1] = limits[v, 1]
                child = end[child]
            if end[v] == v + 1 or sign[v] == 0:
                continue
            first = v + 1 if sign[v] > 0 else end[v + 1]
            second = end[v + 1] if sign[v] > 0 else v + 1
            middle = min(max((value[first] + value[second]) / 2, limits[v, 0]), limits[v, 1])
            limits[first, 1] = middle
            limits[second, 0] = middle
    return limits.base
