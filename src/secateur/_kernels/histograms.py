"""Grow from histograms: rows of codes are walked to the open nodes and counted there.

`histogram[slot, code, class]` counts the rows of one open node; the codes of all columns lie
one after the other. Sums over partitions are sums of whole numbers, so neither their order
nor the partitioning matters. `best_test` then finds the node's test, with the same groups of
columns and the same tie rules as growing from rows (evaluate.py).
"""

from typing import NamedTuple

import cython
import numpy as np
import numpy.typing as npt
from cython.cimports.secateur._kernels import coded, growing
from cython.cimports.secateur._kernels import evaluate as search
from cython.cimports.secateur._kernels.code_cuts import cut_codes
from cython.cimports.secateur._kernels.criteria import impurity_sides
from cython.cimports.secateur._kernels.growing import Cut, Sums, Test, key_of
from cython.cimports.secateur._kernels.job import Job, Space

from .grow_parts import PackedCodes, PresortedLists

Int64 = npt.NDArray[np.int64]
Code = cython.fused_type(cython.uchar, cython.ushort)

REST = cython.declare(cython.int, 64 - 16)  # of a key's bits, after the first that starts tell apart: see ranks.py


class CodeLayout(NamedTuple):
    """Where the codes of each column lie, and which columns are looked at in which way."""

    offset: Int64  # first code of each column, and the number of codes in all
    n_codes: Int64  # without the code for missing numbers, which follows
    missing: Int64  # that code; -1: nothing is missing, or missing is a category
    is_nominal: npt.NDArray[np.bool_]
    lists: Int64  # columns of numbers
    bits: Int64  # columns of two values that are never missing
    coded: Int64  # nominal columns of more than two codes


def make_context(criterion, columns: CodeLayout, limits, n_classes: int):
    """Return what `best_test` takes: the job, and space for it."""
    nothing = np.zeros((0, 0), np.uint32)  # no rows
    coded = np.append(columns.coded, columns.bits)
    feature = np.append(columns.lists, coded).astype(np.int32)
    lists = PresortedLists(np.zeros((len(columns.lists), 0), np.uint32), feature, 1)
    words = np.zeros((1, 0), np.uint64)
    codes = PackedCodes(
        words, nothing, nothing, len(columns.bits), columns.n_codes[coded], columns.is_nominal[coded], nothing
    )
    job = Job(criterion, lists, codes, None, limits, n_classes)
    return job, Space(job, 1)


def bin_numbers(
    values: cython.const[cython.double][:],
    edges: cython.const[cython.double][:],
    starts: cython.const[cython.int][:],
    missing: cython.longlong,
    out: Code[:],
    low: cython.double[:],
    high: cython.double[:],
):
    """Write the bin of each value to `out`, and stretch the lowest and highest value seen of each bin.

    `starts` (see ranks.py) narrows down where an edge can be.
    """
    at: cython.Py_ssize_t
    first: cython.int
    middle: cython.int
    with cython.nogil:
        for i in range(values.shape[0]):
            x = values[i]
            if x != x:
                out[i] = missing
                continue
            at = key_of(x) >> REST
            first = starts[at]  # how many edges lie below x
            last = starts[at + 1]
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
    """Write the node at which each row ends; the children of v are `first[v]` and the one after it."""
    code: cython.longlong
    child: cython.longlong
    with cython.nogil:
        for i in range(codes.shape[0]):
            v = 0
            f = feature[v]
            while f >= 0:
                code = codes[i, f]
                if start[v] >= 0:
                    child = branch[start[v] + code]
                elif code == missing[f]:
                    child = default[v]
                else:
                    child = code > below[v]
                v = first[v] + child
                f = feature[v]
            out[i] = cython.cast(cython.int, v)


def group_rows_by_slot(node: cython.const[cython.int][:], slot_of: cython.const[cython.int][:], n_slots: cython.int):
    """(rows whose node has a slot, slot by slot, in their order; where each slot begins)."""
    starts = np.zeros(n_slots + 1, np.int64)
    start: cython.longlong[::1] = starts
    with cython.nogil:
        for i in range(node.shape[0]):
            slot = slot_of[node[i]]
            if slot >= 0:
                start[slot + 1] += 1
        for slot in range(n_slots):
            start[slot + 1] += start[slot]
    place: cython.longlong[::1] = starts.copy()
    found = np.empty(int(starts[n_slots]), np.int64)
    rows: cython.longlong[::1] = found
    with cython.nogil:
        for i in range(node.shape[0]):
            slot = slot_of[node[i]]
            if slot >= 0:
                rows[place[slot]] = i
                place[slot] += 1
    return found, starts


def count_rows(
    codes: cython.const[Code][:, :],
    target: cython.const[cython.ushort][:],
    rows: cython.const[cython.longlong][:],
    start: cython.const[cython.longlong][:],
    offset: cython.const[cython.longlong][:],
    histogram: cython.longlong[:, :, ::1],
):
    """Count the rows of each slot; slot by slot, so that one node's counts stay in the cache."""
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        for slot in range(start.shape[0] - 1):
            for t in range(start[slot], start[slot + 1]):
                i = rows[t]
                for j in range(codes.shape[1]):
                    histogram[slot, offset[j] + codes[i, j], target[i]] += 1


def best_split_of_histogram(
    job: Job, space: Space, lines: cython.longlong[:, ::1], columns: CodeLayout, reals: cython.double[::1],
    depth: cython.longlong,
):  # fmt: skip
    """Best test of a node below `depth` others from its histogram; of numbers `below` and `above` are codes.

    Its slot is the number of a column. A set of categories goes to `space.branch`.
    """
    offset: cython.const[cython.longlong][::1] = columns.offset
    n_codes: cython.const[cython.longlong][::1] = columns.n_codes
    missing: cython.const[cython.longlong][::1] = columns.missing
    facts = cython.address(job.facts)
    desk = cython.address(space.desk)
    histogram = cython.address(desk.histogram)
    first_bit: cython.int = facts.n_lists + facts.n_coded
    sums: Sums
    own = cython.address(sums)
    j: cython.Py_ssize_t
    n_lines: cython.int = 0
    with cython.nogil:
        search.class_sums(facts, 0, cython.address(reals[0]), own)
        sums.size = sums.weight
        best = search.no_test(facts)
        for s in range(facts.n_lists):
            j = facts.feature[s]
            cut = Cut(best.score, -1, -1, -1)
            line = cython.address(lines[offset[j], 0])
            cut_codes(facts, desk, line, n_codes[j], missing[j] >= 0, own, cython.address(cut))
            if cut.position >= 0:
                best = Test(cut.score, s, growing.NUMERIC, cut.position, cut.above, cut.side)
        if facts.n_bits > 0:
            for c in range(facts.n_sums):
                if sums.counts[c] > 0:
                    desk.own[n_lines] = sums.counts[c]
                    for p in range(facts.n_bits):
                        j = offset[facts.feature[first_bit + p]] + 1
                        desk.ones[n_lines * facts.width + p] = cython.cast(cython.double, lines[j, c])
                    n_lines += 1
            impurity_sides(facts, desk, n_lines, sums.weight)
            rival = search.no_test(facts)
            for p in range(facts.n_bits):
                desk.sides[2 * facts.width + p] = desk.sides[p]
                search.try_bit(facts, desk, p, sums.base - desk.sides[facts.width + p], own, cython.address(rival))
            if search.is_better(facts, cython.address(best), cython.address(rival), sums.tie):
                best = rival
        rival = search.no_test(facts)
        for s in range(facts.n_lists, first_bit):
            j = facts.feature[s]
            if not coded.is_affordable(n_codes[j], depth):
                continue
            n_present = coded.take(histogram, cython.address(lines[offset[j], 0]), n_codes[j])
            score = rival.score
            if n_present > 1 and coded.subset_cut(facts, histogram, n_present, n_codes[j], own, cython.address(score)):
                rival = Test(score, s, growing.SUBSET, -1, -1, -1)
            coded.clear(histogram, n_present)
        if facts.n_coded > 0 and search.is_better(facts, cython.address(best), cython.address(rival), sums.tie):
            best = rival
        search.part_two(facts, desk, cython.address(best))
        if best.slot >= 0:
            best.slot = facts.feature[best.slot]
    return best.score, best.slot, best.kind, best.below, best.above, best.default
