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
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels import coded, growing
from cython.cimports.secateur._kernels import evaluate as search
from cython.cimports.secateur._kernels.code_cuts import cut_codes, cut_missing, rows_of
from cython.cimports.secateur._kernels.criteria import impurity_sides
from cython.cimports.secateur._kernels.growing import Cut, Desk, Facts, Sums, Test
from cython.cimports.secateur._kernels.job import Job, Space

from .grow_parts import Codes, Lists

Int64 = npt.NDArray[np.int64]
Code = cython.fused_type(cython.uchar, cython.ushort)

REST = cython.declare(cython.int, 64 - 16)  # of a key's bits, after the first that starts tell apart: see ranks.py
TIE = cython.declare(cython.double, 1e-12)  # of the node's impurity


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


def make_job(criterion, columns: Columns, limits, n_classes: int):
    """Return what `best_test` takes: the job, and space for it."""
    nothing = np.zeros((0, 0), np.uint32)
    n_codes = np.append(columns.n_codes[columns.is_nominal], 2).astype(np.int64)
    codes = Codes(nothing, nothing, nothing, len(columns.bits), n_codes, columns.is_nominal, nothing)  # no rows
    job = Job(criterion, Lists(nothing, columns.feature, 1), codes, None, None, limits, n_classes)
    return job, Space(job, 1)


def code_numbers(
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
    last: cython.int
    middle: cython.int
    key: cython.ulonglong
    one: cython.ulonglong = 1
    top = one << 63
    with cython.nogil:
        for i in range(values.shape[0]):
            x = values[i]
            if x != x:
                out[i] = missing
                continue
            memcpy(cython.address(key), cython.address(x), 8)
            key = 0 if key == top else key
            key = ~key if key >> 63 else key ^ top
            at = key >> REST
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
    v: cython.longlong
    f: cython.longlong
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


def sorted_by_slot(node: cython.const[cython.int][:], slot_of: cython.const[cython.int][:], n_slots: cython.int):
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


def add_rows(
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


def best_test(
    job: Job, space: Space, lines: cython.longlong[:, ::1], columns: Columns, reals: cython.double[::1],
    depth: cython.longlong,
):  # fmt: skip
    """Best test of a node below `depth` others from its histogram; of numbers `below` and `above` are codes.

    A set of categories goes to `space.branch`.
    """
    offset: cython.const[cython.longlong][::1] = columns.offset
    n_codes: cython.const[cython.longlong][::1] = columns.n_codes
    missing: cython.const[cython.longlong][::1] = columns.missing
    is_nominal: cython.const[cython.uchar][::1] = columns.is_nominal.view(np.uint8)
    lists: cython.const[cython.longlong][::1] = columns.lists
    bits: cython.const[cython.longlong][::1] = columns.bits
    nominal: cython.const[cython.longlong][::1] = columns.coded
    facts = cython.address(job.facts)
    desk = cython.address(space.desk)
    node = cython.declare(cython.longlong[2])
    sums: Sums
    best: Test
    rival: Test
    cut: Cut
    j: cython.Py_ssize_t
    is_found: cython.bint
    node[0] = 0
    node[1] = 0
    with cython.nogil:
        search.class_sums(facts, node, cython.address(reals[0]), cython.address(sums))
        sums.size = sums.weight
        tie = TIE * sums.base
        search.no_test(facts, cython.address(best))
        for t in range(lists.shape[0]):
            j = lists[t]
            if missing[j] >= 0 and rows_of(cython.address(lines[offset[j] + n_codes[j], 0]), facts.n_sums) > 0:
                cut_missing(
                    facts, desk, cython.address(lines[offset[j], 0]), n_codes[j], cython.address(sums), best.score,
                    tie, facts.least_leaf, cython.address(cut),
                )  # fmt: skip
            else:
                cut.side = -1
                cut_codes(
                    facts, desk, cython.address(lines[offset[j], 0]), n_codes[j], cython.address(sums), best.score,
                    tie, facts.least_leaf, cython.address(cut),
                )  # fmt: skip
            if cut.position >= 0:
                search.set_test(cython.address(best), cut.score, j, growing.NUMERIC, cut.position, cut.flags, cut.side)
        if bits.shape[0] > 0:
            search.no_test(facts, cython.address(rival))
            _sum_ones(facts, desk, lines, offset, bits, cython.address(sums))
            for t in range(bits.shape[0]):
                if (
                    desk.sides[t] > 0
                    and desk.sides[t] >= facts.least_leaf
                    and sums.weight > desk.sides[t]
                    and sums.weight - desk.sides[t] >= facts.least_leaf
                    and sums.base - desk.sides[facts.width + t] > rival.score + tie
                ):
                    j = bits[t]
                    search.set_test(
                        cython.address(rival), sums.base - desk.sides[facts.width + t], j,
                        growing.SUBSET if is_nominal[j] else growing.NUMERIC, 0, 1, -1,
                    )  # fmt: skip
            if search.is_better(facts, cython.address(best), cython.address(rival), sums.base):
                best = rival
        search.no_test(facts, cython.address(rival))
        is_found = False
        for t in range(nominal.shape[0]):
            j = nominal[t]
            if coded.is_affordable(n_codes[j], depth) and _cut_nominal(
                facts, desk, lines, offset[j], n_codes[j], cython.address(sums), tie, cython.address(rival)
            ):
                rival.slot = j
        if nominal.shape[0] > 0 and search.is_better(facts, cython.address(best), cython.address(rival), sums.base):
            best = rival
            is_found = True
        if best.kind == growing.SUBSET and not is_found:
            desk.histogram.branch[0] = 0
            desk.histogram.branch[1] = 1
    return best.score, best.slot, best.kind, best.below, best.above, best.default


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum_ones(
    facts: cython.pointer[Facts],
    desk: cython.pointer[Desk],
    lines: cython.longlong[:, ::1],
    offset: cython.const[cython.longlong][::1],
    bits: cython.const[cython.longlong][::1],
    sums: cython.pointer[Sums],
) -> cython.void:
    """The ones of two-valued columns, and what both their sides come to."""
    n_lines: cython.int = 0
    width: cython.Py_ssize_t = facts.width
    p: cython.Py_ssize_t
    for c in range(facts.n_sums):
        if sums.counts[c] > 0:
            desk.own[n_lines] = sums.counts[c]
            for p in range(width):
                desk.ones[n_lines * width + p] = cython.cast(cython.double, lines[offset[bits[p]] + 1, c])
            n_lines += 1
    impurity_sides(
        cython.address(facts.measure), desk.ones, desk.own, n_lines, sums.weight, facts.width, desk.sides,
        desk.sides + width, desk.spare,
    )  # fmt: skip


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cut_nominal(
    facts: cython.pointer[Facts],
    desk: cython.pointer[Desk],
    lines: cython.longlong[:, ::1],
    first: cython.longlong,
    n_codes: cython.longlong,
    sums: cython.pointer[Sums],
    tie: cython.double,
    best: cython.pointer[Test],
) -> cython.bint:
    """Better set of categories than `best`."""
    h = cython.address(desk.histogram)
    n_present = coded.take(h, cython.address(lines[first, 0]), n_codes)
    score = best.score
    is_found: cython.bint = False
    if n_present > 1:
        is_found = coded.subset_cut(facts, h, n_present, n_codes, sums, cython.address(score), tie, facts.least_leaf)
    if is_found:
        search.set_test(best, score, 0, growing.SUBSET, -1, -1, -1)
    coded.clear(h, n_present)
    return is_found
