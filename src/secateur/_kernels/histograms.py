"""Grow from histograms, for rows that do not fit into memory: route rows of codes to open nodes, and count them.

An open node is one that may still be split. Only some nodes of the tree are open, and the rows of an open node form a
group; groups are numbered from 0. A pass over the rows routes each row to its node, and counts the row there:

    histogram[group of the node, code, class]       the codes of column j are offset[j] to offset[j + 1] - 1

Sums over partitions are sums of whole numbers, so neither their order nor the partitioning matters.
`best_split_of_histogram` then finds the split of a node, with the kinds of columns and the tie rules of growing from
rows (best_split.py).
"""

from typing import NamedTuple

import cython
import numpy as np
import numpy.typing as npt
from cython.cimports.secateur._kernels.best_split import (
    is_better_split,
    no_split,
    try_two_valued,
    write_two_valued_branch,
)
from cython.cimports.secateur._kernels.bin_splits import best_code_threshold
from cython.cimports.secateur._kernels.category_splits import best_subset, can_split_categories
from cython.cimports.secateur._kernels.code_histogram import clear_histogram, fill_from_counts
from cython.cimports.secateur._kernels.context import (
    NUMERIC,
    SUBSET,
    BestThreshold,
    Context,
    GrowContext,
    NodeStats,
    Scratch,
    Split,
    Workspace,
    key_of,
)
from cython.cimports.secateur._kernels.criteria import class_stats, impurity_of_sides

from .growing import PackedCodes, PresortedLists

Int64 = npt.NDArray[np.int64]
Code = cython.fused_type(cython.uchar, cython.ushort)

PREFIX_SHIFT = cython.declare(cython.int, 64 - 16)  # number of bits of a sort key below its prefix, as in ranks.py


class CodeLayout(NamedTuple):
    """Where each column is stored in a histogram, and how each column is searched for splits."""

    offset: Int64  # first line of each column; the last element is the number of lines
    n_codes: Int64  # number of codes of each column, without the code of missing numbers
    # Code of missing numbers, which is `n_codes` of the column; -1 if no number is missing or the column is nominal.
    missing: Int64
    is_nominal: npt.NDArray[np.bool_]
    lists: Int64  # numeric columns of more than two values
    bits: Int64  # two-valued columns without missing values
    coded: Int64  # nominal columns of more than two codes


class CountedNode(NamedTuple):
    """A node whose rows are counted in a histogram."""

    counts: npt.NDArray[np.float64]  # number of rows of each class
    depth: int
    limits: npt.NDArray[np.float64]  # lower and upper limit of the estimate


def make_context(criterion, columns: CodeLayout, limits, n_classes: int):
    """Return the context and the workspace that `best_split_of_histogram` needs; their columns have no rows."""
    no_rows = np.zeros((0, 0), np.uint32)
    code_columns = np.append(columns.coded, columns.bits)
    feature = np.append(columns.lists, code_columns).astype(np.int32)
    lists = PresortedLists(np.zeros((len(columns.lists), 0), np.uint32), feature, 1)
    words = np.zeros((1, 0), np.uint64)
    codes = PackedCodes(
        code_words=words,
        bit_bytes=no_rows,
        bit_words=no_rows,
        bit_line_bytes=len(columns.bits),
        n_codes=columns.n_codes[code_columns],
        is_nominal=columns.is_nominal[code_columns],
        entries=no_rows,
    )
    context = GrowContext(criterion, lists, codes, None, limits, n_classes)
    return context, Workspace(context, 1)


def bin_numbers(
    values: cython.const[cython.double][:],
    edges: cython.const[cython.double][:],
    starts: cython.const[cython.int][:],
    missing: cython.longlong,
    out: Code[:],
    low: cython.double[:],
    high: cython.double[:],
):
    """Write the bin of each value to `out`, and widen the range of each bin, `low` to `high`, to the value.

    The bin of a value is the number of edges below the value; that of NaN is `missing`. An edge is found by bisection
    among the edges whose sort keys have the same prefix as the key of the value. `starts` is the number of edges below
    each prefix (`ranks.prefix_starts`).
    """
    prefix: cython.Py_ssize_t
    first: cython.int
    middle: cython.int
    with cython.nogil:
        for i in range(values.shape[0]):
            value = values[i]
            if value != value:
                out[i] = missing
                continue
            prefix = key_of(value) >> PREFIX_SHIFT
            first = starts[prefix]
            last = starts[prefix + 1]
            while first < last:
                middle = (first + last) >> 1
                if edges[middle] < value:
                    first = middle + 1
                else:
                    last = middle
            out[i] = first
            if value < low[first]:
                low[first] = value
            if value > high[first]:
                high[first] = value


def route_codes(
    codes: cython.const[Code][:, :],
    feature: cython.const[cython.longlong][:],
    below: cython.const[cython.longlong][:],
    default: cython.const[cython.longlong][:],
    start: cython.const[cython.longlong][:],
    branch: cython.const[cython.ushort][:],
    first: cython.const[cython.longlong][:],
    missing: cython.const[cython.longlong][:],
    out: cython.int[:],
):
    """Write to `out` the node that each row reaches.

    Node v is split on column `feature[v]`; a negative number means that node v has no split. The children are nodes
    `first[v]` and `first[v] + 1`. If `start[v]` is not negative, the split is a subset, and category c goes to child
    `branch[start[v] + c]`. Otherwise the split is a threshold: codes up to `below[v]` go to child 0, higher codes to
    child 1, and the code of missing numbers, `missing[feature[v]]`, goes to child `default[v]`.
    """
    code: cython.longlong
    child: cython.longlong
    with cython.nogil:
        for i in range(codes.shape[0]):
            v = 0
            column = feature[v]
            while column >= 0:
                code = codes[i, column]
                if start[v] >= 0:
                    child = branch[start[v] + code]
                elif code == missing[column]:
                    child = default[v]
                else:
                    child = code > below[v]
                v = first[v] + child
                column = feature[v]
            out[i] = cython.cast(cython.int, v)


def group_rows(node: cython.const[cython.int][:], group_of_node: cython.const[cython.int][:], n_groups: cython.int):
    """Return (rows, start): the rows of group g are `rows[start[g] : start[g + 1]]`, in ascending order.

    `node` is the node of each row. `group_of_node` is the group of each node, or -1 if the rows of the node are not
    needed.
    """
    starts = np.zeros(n_groups + 1, np.int64)
    start: cython.longlong[::1] = starts
    with cython.nogil:
        for i in range(node.shape[0]):
            group = group_of_node[node[i]]
            if group >= 0:
                start[group + 1] += 1
        for group in range(n_groups):
            start[group + 1] += start[group]
    position: cython.longlong[::1] = starts.copy()
    grouped = np.empty(int(starts[n_groups]), np.int64)
    rows: cython.longlong[::1] = grouped
    with cython.nogil:
        for i in range(node.shape[0]):
            group = group_of_node[node[i]]
            if group >= 0:
                rows[position[group]] = i
                position[group] += 1
    return grouped, starts


def count_rows(
    codes: cython.const[Code][:, :],
    target: cython.const[cython.ushort][:],
    rows: cython.const[cython.longlong][:],
    start: cython.const[cython.longlong][:],
    offset: cython.const[cython.longlong][:],
    histogram: cython.longlong[:, :, ::1],
):
    """Add the rows of each group to `histogram`, group by group, so that the counts of a group stay in the cache."""
    position: cython.Py_ssize_t
    row: cython.Py_ssize_t
    with cython.nogil:
        for group in range(start.shape[0] - 1):
            for position in range(start[group], start[group + 1]):
                row = rows[position]
                for j in range(codes.shape[1]):
                    histogram[group, offset[j] + codes[row, j], target[row]] += 1


def best_split_of_histogram(
    context: GrowContext,
    workspace: Workspace,
    histogram: cython.longlong[:, ::1],
    layout: CodeLayout,
    node: CountedNode,
):
    """Return the best split of a node from its histogram, as the fields of `growing.Split`.

    `slot` of the result is the number of a column, and `below` and `above` of a threshold are codes. Writes the child
    of each category to `workspace.branch`.
    """
    offset: cython.const[cython.longlong][::1] = layout.offset
    n_codes: cython.const[cython.longlong][::1] = layout.n_codes
    missing: cython.const[cython.longlong][::1] = layout.missing
    counts: cython.double[::1] = node.counts
    limits: cython.const[cython.double][::1] = node.limits
    depth: cython.longlong = node.depth
    data = cython.address(context.context)
    scratch = cython.address(workspace.scratch)
    stats: NodeStats
    best: Split
    with cython.nogil:
        class_stats(data, 0, cython.address(counts[0]), cython.address(stats))
        stats.size = stats.weight
        stats.lower = limits[0]
        stats.upper = limits[1]
        best = no_split(data)
        _search_bins(data, scratch, histogram, offset, n_codes, missing, cython.address(stats), cython.address(best))
        _search_two_valued(data, scratch, histogram, offset, cython.address(stats), cython.address(best))
        _search_categories(
            data, scratch, histogram, offset, n_codes, depth, cython.address(stats), cython.address(best)
        )
        write_two_valued_branch(data, scratch, cython.address(best))
        if best.slot >= 0:
            best.slot = data.feature_of_slot[best.slot]
    return best.score, best.slot, best.kind, best.below, best.above, best.default_child


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_bins(
    context: cython.pointer[Context],
    scratch: cython.pointer[Scratch],
    histogram: cython.longlong[:, ::1],
    offset: cython.const[cython.longlong][::1],
    n_codes: cython.const[cython.longlong][::1],
    missing: cython.const[cython.longlong][::1],
    stats: cython.pointer[NodeStats],
    best: cython.pointer[Split],
) -> cython.void:
    """Replace `best` by the best threshold of a binned column."""
    for slot in range(context.n_lists):
        column = context.feature_of_slot[slot]
        threshold = BestThreshold(best.score, -1, -1, -1)
        counts = cython.address(histogram[offset[column], 0])
        stats.sign = 0 if context.sign_of_slot == cython.NULL else context.sign_of_slot[slot]
        best_code_threshold(
            context, scratch, counts, n_codes[column], missing[column] >= 0, stats, cython.address(threshold)
        )
        if threshold.position >= 0:
            best[0] = Split(
                threshold.score, slot, NUMERIC, threshold.position, threshold.above, threshold.missing_child
            )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_two_valued(
    context: cython.pointer[Context],
    scratch: cython.pointer[Scratch],
    histogram: cython.longlong[:, ::1],
    offset: cython.const[cython.longlong][::1],
    stats: cython.pointer[NodeStats],
    best: cython.pointer[Split],
) -> cython.void:
    """Replace `best` by the best split of a two-valued column, if that is better."""
    first_slot: cython.Py_ssize_t = context.n_lists + context.n_code_slots
    n_lines: cython.int = 0
    line: cython.Py_ssize_t
    if context.n_bit_slots == 0:
        return
    for class_index in range(context.n_sums):
        if stats.counts[class_index] > 0:
            scratch.class_totals[n_lines] = stats.counts[class_index]
            for bit_slot in range(context.n_bit_slots):
                line = offset[context.feature_of_slot[first_slot + bit_slot]] + 1
                scratch.ones[n_lines * context.bit_line_bytes + bit_slot] = cython.cast(
                    cython.double, histogram[line, class_index]
                )
            n_lines += 1
    impurity_of_sides(context, scratch, n_lines, stats.weight)
    rival = no_split(context)
    for bit_slot in range(context.n_bit_slots):
        scratch.right_size[bit_slot] = scratch.right_weight[bit_slot]
        score = stats.impurity - scratch.side_impurity[bit_slot]
        try_two_valued(context, scratch, bit_slot, score, stats, cython.address(rival))
    if is_better_split(context, best, cython.address(rival), stats.tie):
        best[0] = rival


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_categories(
    context: cython.pointer[Context],
    scratch: cython.pointer[Scratch],
    counts: cython.longlong[:, ::1],
    offset: cython.const[cython.longlong][::1],
    n_codes: cython.const[cython.longlong][::1],
    depth: cython.longlong,
    stats: cython.pointer[NodeStats],
    best: cython.pointer[Split],
) -> cython.void:
    """Replace `best` by the best subset of a nominal column, if that is better."""
    histogram = cython.address(scratch.histogram)
    if context.n_code_slots == 0:
        return
    rival = no_split(context)
    stats.sign = 0
    for slot in range(context.n_lists, context.n_lists + context.n_code_slots):
        column = context.feature_of_slot[slot]
        if not can_split_categories(n_codes[column], depth):
            continue
        n_present = fill_from_counts(histogram, cython.address(counts[offset[column], 0]), n_codes[column])
        score = rival.score
        if n_present > 1 and best_subset(context, histogram, n_present, n_codes[column], stats, cython.address(score)):
            rival = Split(score, slot, SUBSET, -1, -1, -1)
        clear_histogram(histogram, n_present)
    if is_better_split(context, best, cython.address(rival), stats.tie):
        best[0] = rival
