"""Grow from histograms: rows of codes are walked to the open nodes and counted there.

`histogram[slot, code, class]` counts the rows of one open node; the codes of all columns lie
one after the other. Sums over partitions are sums of whole numbers, so neither their order
nor the partitioning matters. `best_test` then finds the node's test, with the same groups of
columns and the same tie rules as growing from rows (evaluate.py).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import code_cuts, coded, criteria, scan
from ._jit import njit, njit_inner
from .evaluate import better_test
from .grow_parts import TIE, Test
from .ranks import TOP_BITS, key_of

Int64 = npt.NDArray[np.int64]
_whole: Any = np.int64  # one type for all tests, or numba compiles several


class Columns(NamedTuple):
    """Where the codes of each column lie, and which columns are looked at in which way."""

    offset: Int64  # first code of each column, and the number of codes in all
    n_codes: Int64  # without the code for missing numbers, which follows
    missing: Int64  # that code; -1: nothing is missing, or missing is a category
    is_nominal: npt.NDArray[np.bool_]
    lists: Int64  # columns of numbers
    bits: Int64  # columns of two values that are never missing
    coded: Int64  # nominal columns of more than two codes
    feature: npt.NDArray[np.int32]  # 0, 1, 2, ...


class Scratch(NamedTuple):
    """Space for finding tests."""

    work: scan.Work
    histogram: coded.Histogram
    own: npt.NDArray[np.float64]
    ones: npt.NDArray[np.float64]
    sides: npt.NDArray[np.float64]
    spare: npt.NDArray[np.float64]


def make_scratch(columns: Columns, n_classes: int) -> Scratch:
    """Return space for finding tests."""
    n_bits = len(columns.bits)
    most = int(columns.n_codes[columns.is_nominal].max(initial=2))
    return Scratch(
        scan.make_work(n_classes),
        coded.make_histogram(most, n_classes),
        np.zeros(n_classes),
        np.zeros(n_classes * n_bits),
        np.zeros((2, n_bits)),
        np.zeros(max(n_bits, n_classes)),
    )


@njit
def code_numbers(values: Any, edges: Any, starts: Any, missing: Any, out: Any, low: Any, high: Any) -> Any:
    """Write the bin of each value to `out`, and stretch the lowest and highest value seen of each bin.

    `starts` (see ranks.py) narrows down where an edge can be.
    """
    bits = values.view(np.uint64)
    for i in range(values.shape[0]):
        x = values[i]
        if x != x:
            out[i] = missing
            continue
        at = key_of(bits[i]) >> np.uint64(64 - TOP_BITS)
        first, last = starts[at], starts[at + np.uint64(1)]  # how many edges lie below x
        while first < last:
            middle = (first + last) >> 1
            if edges[middle] < x:
                first = middle + 1
            else:
                last = middle
        out[i] = first
        if x < low[first]:
            low[first] = x
        if x > high[first]:
            high[first] = x


@njit
def route_codes(
    codes: Any, feature: Any, below: Any, default: Any, start: Any, branch: Any, first: Any, missing: Any, out: Any
) -> Any:
    """Write the node at which each row ends; the children of v are `first[v]` and the one after it."""
    for i in range(codes.shape[0]):
        v = np.int64(0)
        f = feature[v]
        while f >= 0:
            code = np.int64(codes[i, f])
            if start[v] >= 0:
                child = np.int64(branch[start[v] + code])
            elif code == missing[f]:
                child = np.int64(default[v])
            else:
                child = np.int64(code > below[v])
            v = first[v] + child
            f = feature[v]
        out[i] = v


@njit
def sorted_by_slot(node: Any, slot_of: Any, n_slots: Any) -> Any:
    """(rows whose node has a slot, slot by slot, in their order; where each slot begins)."""
    start = np.zeros(n_slots + 1, np.int64)
    for i in range(node.shape[0]):
        slot = slot_of[node[i]]
        if slot >= 0:
            start[slot + 1] += 1
    for slot in range(n_slots):
        start[slot + 1] += start[slot]
    place = start[:n_slots].copy()
    rows = np.empty(start[n_slots], np.int64)
    for i in range(node.shape[0]):
        slot = slot_of[node[i]]
        if slot >= 0:
            rows[place[slot]] = i
            place[slot] += 1
    return rows, start


@njit
def add_rows(codes: Any, target: Any, rows: Any, start: Any, offset: Any, histogram: Any) -> Any:
    """Count the rows of each slot; slot by slot, so that one node's counts stay in the cache."""
    n_classes = histogram.shape[2]
    n_columns = codes.shape[1]
    for slot in range(start.shape[0] - 1):
        flat = histogram[slot].reshape(-1)
        for t in range(start[slot], start[slot + 1]):
            i = rows[t]
            y = np.int64(target[i])
            for j in range(n_columns):
                flat[np.uint64((offset[j] + np.int64(codes[i, j])) * n_classes + y)] += 1


@njit
def best_test(criterion: Any, histogram: Any, columns: Any, limits: Any, counts: Any, scratch: Any) -> Any:
    """Best test of a node from its histogram; of numbers `below` and `above` are codes.

    A set of categories goes to `scratch.histogram.branch`.
    """
    rows = 0.0
    for c in range(counts.shape[0]):
        rows += counts[c]
    base = criteria.impurity(criterion, counts, rows)
    best = _best_of_lists(criterion, histogram, columns, limits, counts, rows, base, scratch)
    if columns.bits.shape[0] > 0:
        rival = _best_of_bits(criterion, histogram, columns, limits, counts, rows, base, scratch)
        best = better_test(best, rival, columns.feature, base)
    if columns.coded.shape[0] > 0:
        rival = _best_of_codes(criterion, histogram, columns, limits, base, scratch)
        chosen = better_test(best, rival, columns.feature, base)
        if chosen.slot == best.slot and best.kind == coded.SUBSET:
            scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
        best = chosen
    return best


@njit_inner
def _none(limits: Any) -> Any:
    floor = -np.inf if limits.allow_zero else 0.0
    return Test(floor, _whole(-1), _whole(0), _whole(-1), _whole(-1), _whole(0))


@njit_inner
def _best_of_lists(
    criterion: Any, histogram: Any, columns: Any, limits: Any, counts: Any, rows: Any, base: Any, scratch: Any
) -> Any:
    tie = TIE * base
    best = _none(limits)
    for t in range(columns.lists.shape[0]):
        j = columns.lists[t]
        first = columns.offset[j]
        codes = histogram[first : first + columns.n_codes[j]]
        last = first + columns.n_codes[j]
        if columns.missing[j] >= 0 and code_cuts.rows_of(histogram[last]) > 0:
            reached, below, above, default = code_cuts.cut_missing(
                criterion, codes, histogram[last], counts, rows, base, best.score, tie, limits.least_leaf, scratch.work
            )
        else:
            reached, below, above = code_cuts.cut(
                criterion, codes, counts, rows, base, best.score, tie, limits.least_leaf, scratch.work
            )
            default = -1
        if below >= 0:
            best = Test(reached, _whole(j), _whole(coded.NUMERIC), _whole(below), _whole(above), _whole(default))
    return best


@njit_inner
def _best_of_bits(
    criterion: Any, histogram: Any, columns: Any, limits: Any, counts: Any, rows: Any, base: Any, scratch: Any
) -> Any:
    tie = TIE * base
    n_bits = columns.bits.shape[0]
    n_lines = 0
    for c in range(counts.shape[0]):
        if counts[c] > 0:
            scratch.own[n_lines] = counts[c]
            for p in range(n_bits):
                scratch.ones[n_lines * n_bits + p] = np.float64(histogram[columns.offset[columns.bits[p]] + 1, c])
            n_lines += 1
    right, impure = scratch.sides[0], scratch.sides[1]
    criteria.impurity_sides(criterion, scratch.ones, scratch.own[:n_lines], rows, right, impure, scratch.spare)
    best = _none(limits)
    for p in range(n_bits):
        if right[p] <= 0 or right[p] < limits.least_leaf or rows <= right[p] or rows - right[p] < limits.least_leaf:
            continue
        score = base - impure[p]
        if score > best.score + tie:
            j = columns.bits[p]
            kind = coded.SUBSET if columns.is_nominal[j] else coded.NUMERIC
            best = Test(score, _whole(j), _whole(kind), _whole(0), _whole(1), _whole(-1))
    if best.kind == coded.SUBSET:
        scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
    return best


@njit_inner
def _best_of_codes(criterion: Any, histogram: Any, columns: Any, limits: Any, base: Any, scratch: Any) -> Any:
    tie = TIE * base
    space = scratch.histogram
    best = _none(limits)
    for t in range(columns.coded.shape[0]):
        j = columns.coded[t]
        n_present = 0
        for k in range(columns.n_codes[j]):
            line = histogram[columns.offset[j] + k]
            rows = code_cuts.rows_of(line)
            if rows > 0:
                for c in range(line.shape[0]):
                    space.counts[k, c] = np.float64(line[c])
                space.sizes[k] = rows
                space.weights[k] = rows
                space.is_seen[k] = True
                space.present[n_present] = k
                n_present += 1
        if n_present > 1:
            reached, is_found = coded.subset_cut(
                criterion, space, n_present, columns.n_codes[j], base, best.score, tie, limits.least_leaf
            )
            if is_found:
                best = Test(reached, _whole(j), _whole(coded.SUBSET), _whole(-1), _whole(-1), _whole(-1))
        coded.clear(space, n_present)
    return best
