"""Grow a tree, or a part of it, from presorted lists and columns of codes.

A node owns the same slice of every list. Evaluating a node finds its best test; splitting
it partitions every list. Depth-first and best-first differ only in which node comes next.

Nodes are lines of a table of whole numbers, followed by one bit per slot that still
varies; and of a table of reals, the class counts followed by SCORE and DROP.

    START END    slice of the lists            FIRST ARITY   children (consecutive lines)
    DEPTH        tests above                   SLOT          column: lists first, then codes
    KIND         see coded.py                  BELOW ABOVE   rows (lists) or codes around the
    DEFAULT      child of missing values                     threshold; ABOVE -1: present
    BRANCH       where its categories' children begin        against missing
    BIRTH        step at which it was split (-1: a leaf)
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import bits, coded, criteria, partition, scan
from ._jit import njit, njit_inner

START, END, DEPTH, SLOT, KIND, FIRST, ARITY, BELOW, ABOVE, DEFAULT, BRANCH, BIRTH = range(12)
N_FIELDS = 12
TIE = 1e-12  # of the node's impurity: scores nearer than this are tied


class Lists(NamedTuple):
    """Presorted columns; partitioned in place."""

    entries: npt.NDArray[np.uint32]  # one line per listed column
    feature: npt.NDArray[np.int32]  # of each slot, listed or coded
    shift: int


class Codes(NamedTuple):
    """Columns of codes. None in its place: there are none."""

    codes: npt.NDArray[np.uint16]  # one line per coded column of more than two values
    bits: npt.NDArray[np.uint8]  # row after row, a byte per two-valued column, then padding; their slots come last
    width: int  # bytes a row
    n_codes: npt.NDArray[np.int64]
    is_nominal: npt.NDArray[np.bool_]
    rows: npt.NDArray[np.uint32]  # entries in any order; partitioned in place


class Weights(NamedTuple):
    """Row weights and missing values. None in its place: every row weighs 1, none is missing."""

    weight: npt.NDArray[np.float64]
    size: npt.NDArray[np.float64]  # what the limits count
    missing: npt.NDArray[np.bool_]  # per list and row; one line for lists without
    line: npt.NDArray[np.int64]  # line of `missing` of each list; -1: nothing missing
    is_weighted: bool


class Ratio(NamedTuple):
    """Gain ratio instead of gain. None in its place: gain."""

    is_on: bool
    n_large: float  # examples that two branches must have
    penalise_numeric: bool


class Limits(NamedTuple):
    """When to stop."""

    max_depth: int
    max_splits: int
    least_leaf: float
    least_split: float
    allow_zero: bool
    multiway: bool
    best_first: bool


class Scratch(NamedTuple):
    """Space of one thread."""

    work: scan.Work
    histogram: coded.Histogram
    entries: npt.NDArray[np.uint32]
    has_ties: npt.NDArray[np.bool_]  # per list, from the last evaluation
    child_counts: npt.NDArray[np.float64]
    child_size: npt.NDArray[np.float64]
    child_rows: npt.NDArray[np.int64]
    child_place: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]  # two-valued columns: see bits.py
    own: npt.NDArray[np.float64]
    tally: npt.NDArray[np.uint8]
    ones: npt.NDArray[np.float64]
    sides: npt.NDArray[np.float64]
    spare: npt.NDArray[np.float64]
    gains: npt.NDArray[np.float64]  # gain ratio: gain and ratio of each slot's best test
    tests: npt.NDArray[np.int64]  # and the test


class Test(NamedTuple):
    """A test of a node; slot -1: none. `below` of a list is the position of the cut."""

    score: float
    slot: int
    kind: int
    below: int
    above: int
    default: int


@njit_inner
def _n_missing(weights: Any, slot: Any, entries: Any, shift: Any) -> Any:
    """Missing rows stand at the end of a list: find where they begin by halving."""
    n = entries.shape[0]
    if weights is None:
        return 0
    line = weights.line[slot]
    if line < 0:
        return 0
    move = entries.dtype.type(shift)
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if weights.missing[line, entries[middle] >> move]:
            high = middle
        else:
            low = middle + 1
    return n - low


@njit_inner
def _total(reals: Any) -> Any:
    """Weight of a node."""
    total = 0.0
    for c in range(reals.shape[0] - 2):
        total += reals[c]
    return total


@njit_inner
def node_impurity(criterion: Any, reals: Any) -> Any:
    """Impurity of a node, times its weight."""
    return criteria.impurity(criterion, reals[: reals.shape[0] - 2], _total(reals))


@njit_inner
def _is_on(ratio: Any) -> Any:
    return False if ratio is None else ratio.is_on


@njit_inner
def _least(limits: Any, ratio: Any) -> Any:
    """What each side of a binary test must have."""
    if ratio is None:
        return limits.least_leaf
    return max(limits.least_leaf, ratio.n_large) if ratio.is_on else limits.least_leaf


@njit_inner
def _is_varying(node: Any, slot: Any) -> Any:
    return (node[N_FIELDS + (slot >> 6)] >> (slot & 63)) & 1


@njit_inner
def _strike(node: Any, slot: Any) -> Any:
    node[N_FIELDS + (slot >> 6)] &= ~(np.int64(1) << (slot & 63))


@njit_inner
def _share_entropy(share: Any) -> Any:
    return -share * np.log2(share) if share > 0 else 0.0


@njit_inner
def _list_ratio(
    ratio: Any,
    weights: Any,
    entries: Any,
    shift: Any,
    position: Any,
    default: Any,
    gain: Any,
    total: Any,
    n_missing: Any,
) -> Any:
    """(gain in bits, gain ratio) of a cut of a list."""
    n = entries.shape[0]
    left = 0.0
    n_values: Any = 1
    for i in range(n):
        is_left = default == 0 if i >= n - n_missing else i < position
        if is_left:
            left += weights.weight[entries[i] >> entries.dtype.type(shift)]
        n_values += np.int64(i > 0 and entries[i] & entries.dtype.type(1))
    bits = 2 * gain / total
    if ratio.penalise_numeric:
        bits -= np.log2(max(n_values - 1, 1)) / total
    return bits, bits / (_share_entropy(left / total) + _share_entropy(1 - left / total))


@njit_inner
def _codes_ratio(histogram: Any, n_present: Any, kind: Any, gain: Any, total: Any) -> Any:
    """(gain in bits, gain ratio) of a nominal test."""
    left = 0.0
    information = 0.0
    for t in range(n_present):
        code = histogram.present[t]
        share = histogram.weights[code] / total
        if kind == coded.MULTIWAY:
            information += _share_entropy(share)
        elif histogram.branch[code] == 0:
            left += share
    if kind != coded.MULTIWAY:
        information = _share_entropy(left) + _share_entropy(1 - left)
    bits_gained = 2 * gain / total
    return bits_gained, bits_gained / information


@njit_inner
def best_of_lists(
    criterion: Any, lists: Any, weights: Any, ratio: Any, limits: Any, node: Any, reals: Any, slots: Any, scratch: Any
) -> Any:
    """Best cut among the lists `slots = (first, last)`; strikes constant ones from the node's varying slots."""
    start, end = node[START], node[END]
    counts = reals[: reals.shape[0] - 2]
    total = _total(reals)
    base = node_impurity(criterion, reals)
    tie = TIE * base
    floor = -np.inf if limits.allow_zero else 0.0
    is_ratio = _is_on(ratio)
    least = _least(limits, ratio)
    one = lists.entries.dtype.type(1)
    mask = (one << lists.entries.dtype.type(lists.shift)) - one
    best = Test(floor, -1, 0, -1, -1, 0)
    for s in range(slots[0], slots[1]):
        if not _is_varying(node, s):
            continue
        entries = lists.entries[s, start:end]
        n_missing = _n_missing(weights, s, entries, lists.shift)
        from_best = floor if is_ratio else best.score
        default = -1
        is_plain = True
        if weights is not None:
            if weights.is_weighted or n_missing > 0:
                is_plain = False
                reached, position, flags, default = scan.scan_weighted(
                    criterion, entries, lists.shift, weights.weight, weights.size, n_missing,
                    counts, base, from_best, tie, least, scratch.work,
                )  # fmt: skip
        if is_plain:
            reached, position, flags = scan.scan(
                criterion, entries, mask, counts, total, base, from_best, tie, least, scratch.work
            )
        if n_missing == 0:
            default = -1
        scratch.has_ties[s] = flags >> one != 0
        if not flags & one:
            _strike(node, s)
        if position < 0:
            continue
        if not is_ratio:
            best = Test(reached, s, coded.NUMERIC, position, 0, default)
        elif ratio is not None:
            scratch.gains[s, 0], scratch.gains[s, 1] = _list_ratio(
                ratio, weights, entries, lists.shift, position, default if n_missing else 1, reached, total, n_missing
            )
            scratch.tests[s, 0], scratch.tests[s, 1] = coded.NUMERIC, position
            scratch.tests[s, 2], scratch.tests[s, 3] = 0, default
    return best


@njit_inner
def best_of_codes(
    criterion: Any,
    lists: Any,
    codes: Any,
    weights: Any,
    ratio: Any,
    limits: Any,
    node: Any,
    reals: Any,
    slots: Any,
    scratch: Any,
) -> Any:
    """Best test among the coded columns `slots = (first, last)`; a set of categories goes to the histogram's branch."""
    start, end = node[START], node[END]
    n_lists = lists.entries.shape[0]
    histogram = scratch.histogram
    total = _total(reals)
    base = node_impurity(criterion, reals)
    tie = TIE * base
    floor = -np.inf if limits.allow_zero else 0.0
    is_ratio = _is_on(ratio)
    n_large = _least(limits, ratio)
    best = Test(floor, -1, 0, -1, -1, 0)
    for s in range(slots[0], slots[1]):
        if not _is_varying(node, s):
            continue
        j = s - n_lists
        entries = codes.rows[start:end]
        n_present = coded.fill(histogram, codes.codes[j], codes.n_codes[j], entries, lists.shift, weights)
        from_best = floor if is_ratio else best.score
        test = Test(from_best, -1, 0, -1, -1, -1)
        if n_present < 2:
            _strike(node, s)
        elif limits.multiway:
            reached = coded.multiway_score(criterion, histogram, n_present, base, limits.least_leaf, n_large)
            if reached > from_best + tie:
                test = Test(reached, s, coded.MULTIWAY, -1, -1, -1)
        else:
            reached, is_found = coded.subset_cut(
                criterion, histogram, n_present, codes.n_codes[j], base, from_best, tie, n_large
            )
            if is_found:
                test = Test(reached, s, coded.SUBSET, -1, -1, -1)
        if test.slot >= 0:
            if not is_ratio:
                best = test
            elif ratio is not None:
                scratch.gains[s, 0], scratch.gains[s, 1] = _codes_ratio(
                    histogram, n_present, test.kind, test.score, total
                )
                scratch.tests[s, 0], scratch.tests[s, 1] = test.kind, test.below
                scratch.tests[s, 2], scratch.tests[s, 3] = test.above, test.default
        coded.clear(histogram, n_present)
    return best


@njit_inner
def best_of_bits(
    criterion: Any,
    lists: Any,
    codes: Any,
    weights: Any,
    ratio: Any,
    limits: Any,
    node: Any,
    reals: Any,
    scratch: Any,
) -> Any:
    """Best test among the two-valued columns: zeros to the left, ones to the right."""
    total = _total(reals)
    base = node_impurity(criterion, reals)
    tie = TIE * base
    floor = -np.inf if limits.allow_zero else 0.0
    is_ratio = _is_on(ratio)
    least = _least(limits, ratio)
    first = lists.entries.shape[0] + codes.codes.shape[0]
    entries = codes.rows[node[START] : node[END]]
    n_lines = 0  # classes in the node: deep nodes hold few of many
    for c in range(reals.shape[0] - 2):
        scratch.line[c] = n_lines
        if reals[c] > 0:
            scratch.own[n_lines] = reals[c]
            n_lines += 1
    bits.count_ones(codes, entries, lists.shift, weights, scratch.line, n_lines, scratch.tally, scratch.ones)
    right, impure, sizes = scratch.sides[0], scratch.sides[1], scratch.sides[0]
    criteria.impurity_sides(criterion, scratch.ones, scratch.own[:n_lines], total, right, impure, scratch.spare)
    size = total
    if weights.is_weighted:
        sizes = scratch.sides[2]
        size = bits.count_sizes(codes, entries, lists.shift, weights, sizes)
    best = Test(floor, -1, 0, -1, -1, 0)
    for p in range(lists.feature.shape[0] - first):
        if sizes[p] <= 0 or sizes[p] < least or size <= sizes[p] or size - sizes[p] < least:
            continue
        score = base - impure[p]
        if score <= (floor if is_ratio else best.score) + tie:
            continue
        slot = first + p
        kind = coded.NUMERIC
        if codes.is_nominal[slot - lists.entries.shape[0]]:
            kind = coded.MULTIWAY if limits.multiway else coded.SUBSET
        if is_ratio:
            share = right[p] / total
            gain = 2 * score / total
            scratch.gains[slot, 0] = gain
            scratch.gains[slot, 1] = gain / (_share_entropy(share) + _share_entropy(1 - share))
            scratch.tests[slot, 0], scratch.tests[slot, 1] = kind, 0
            scratch.tests[slot, 2], scratch.tests[slot, 3] = 1, -1
        else:
            best = Test(score, slot, kind, 0, 1, -1)
    if best.kind == coded.SUBSET:
        scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
    return best


@njit_inner
def better_test(a: Any, b: Any, feature: Any, base: Any) -> Any:
    """The test of larger score; of tied ones that of the lower column."""
    tie = TIE * base
    if a.slot < 0 or (b.slot >= 0 and b.score > a.score + tie):
        return b
    if b.slot >= 0 and b.score >= a.score - tie and feature[b.slot] < feature[a.slot]:
        return b
    return a


@njit_inner
def _best_ratio(scratch: Any, feature: Any) -> Any:
    """The test of best gain ratio among those of at least the mean gain."""
    n_slots = feature.shape[0]
    mean = 0.0
    n_tests = 0
    for s in range(n_slots):
        if scratch.gains[s, 0] > -np.inf:
            mean += scratch.gains[s, 0]
            n_tests += 1
    mean = mean / max(n_tests, 1) - TIE
    best = Test(-np.inf, -1, 0, -1, -1, 0)
    for s in range(n_slots):
        if n_tests > 0 and scratch.gains[s, 0] >= mean:
            tests = scratch.tests
            rival = Test(scratch.gains[s, 1], s, tests[s, 0], tests[s, 1], tests[s, 2], tests[s, 3])
            best = better_test(best, rival, feature, abs(rival.score))
    return best


@njit_inner
def evaluate(
    criterion: Any, lists: Any, codes: Any, weights: Any, ratio: Any, limits: Any, node: Any, reals: Any, scratch: Any
) -> Any:
    """Best test of a node over all columns."""
    n_lists = lists.entries.shape[0]
    n_slots = lists.feature.shape[0]
    for s in range(n_slots if _is_on(ratio) else 0):
        scratch.gains[s, 0] = -np.inf
    best = best_of_lists(criterion, lists, weights, ratio, limits, node, reals, (0, n_lists), scratch)
    if codes is not None:
        n_coded = codes.codes.shape[0]
        base = node_impurity(criterion, reals)
        if codes.width > 0:
            rival = best_of_bits(criterion, lists, codes, weights, ratio, limits, node, reals, scratch)
            best = better_test(best, rival, lists.feature, base)
        if n_coded > 0:
            slots = (n_lists, n_lists + n_coded)
            rival = best_of_codes(criterion, lists, codes, weights, ratio, limits, node, reals, slots, scratch)
            chosen = better_test(best, rival, lists.feature, base)
            if chosen.slot == best.slot and best.kind == coded.SUBSET:
                scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
            best = chosen
    if _is_on(ratio):
        best = _best_ratio(scratch, lists.feature)
        if codes is not None:
            if best.kind == coded.SUBSET:  # later columns have overwritten its categories: find them again
                if best.slot < n_lists + codes.codes.shape[0]:
                    again = (best.slot, best.slot + 1)
                    best_of_codes(criterion, lists, codes, weights, ratio, limits, node, reals, again, scratch)
                else:
                    scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
    return best


@njit_inner
def _code(codes: Any, j: Any, row: Any) -> Any:
    n_coded = codes.codes.shape[0]
    return (
        np.int64(codes.codes[j, row])
        if j < n_coded
        else np.int64(codes.bits[np.uint64(row) * np.uint64(codes.width) + np.uint64(j - n_coded)])
    )


@njit_inner
def assign_children(lists: Any, codes: Any, weights: Any, node: Any, branch: Any, child_of: Any, scratch: Any) -> Any:
    """Write each row's child to `child_of` (two children: 1 for the left one, else the child's number).

    Counts the children into `scratch`, fills in DEFAULT where growing saw nothing missing
    (the child with most examples) and turns the position of a cut into the rows around it.
    """
    slot, kind, below, default = node[SLOT], node[KIND], node[BELOW], node[DEFAULT]
    n_lists = lists.entries.shape[0]
    n_children = node[ARITY]
    counts, size, rows = scratch.child_counts, scratch.child_size, scratch.child_rows
    for c in range(n_children):
        size[c] = 0
        rows[c] = 0
        for k in range(counts.shape[1]):
            counts[c, k] = 0
    one = lists.entries.dtype.type(1)
    move = lists.entries.dtype.type(lists.shift)
    mask = (one << move) - one
    n = node[END] - node[START]
    is_list = slot < n_lists
    if codes is None:
        entries = lists.entries[slot, node[START] : node[END]]
    else:
        entries = lists.entries[slot, node[START] : node[END]] if is_list else codes.rows[node[START] : node[END]]
    n_missing = _n_missing(weights, slot, entries, lists.shift) if is_list else 0
    if weights is None:
        # Two slices of one list: the commonest case, without a branch per row.
        for i in range(below):
            e = entries[i]
            child_of[e >> move] = 1
            counts[0, (e & mask) >> one] += 1
        for i in range(below, n):
            e = entries[i]
            child_of[e >> move] = 0
            counts[1, (e & mask) >> one] += 1
        size[0], size[1] = below, n - below
        rows[0], rows[1] = below, n - below
    else:
        for i in range(n):
            e = entries[i]
            row = e >> move
            c = 0 if i < below else 1
            if i >= n - n_missing:
                c = default
            if codes is not None:
                if not is_list:
                    c = _code(codes, slot - n_lists, row)
                    if kind == coded.SUBSET:
                        c = int(branch[node[BRANCH] + c])
            child_of[row] = 1 - c if n_children == 2 else c
            rows[c] += 1
            if weights.is_weighted:
                counts[c, (e & mask) >> one] += weights.weight[row]
                size[c] += weights.size[row]
            else:
                counts[c, (e & mask) >> one] += 1
        if not weights.is_weighted:
            for c in range(n_children):
                size[c] = rows[c]
    if default < 0:
        largest = 0
        for c in range(n_children):
            if size[c] > size[largest]:
                largest = c
        node[DEFAULT] = largest
    if is_list:
        node[BELOW] = np.int64(entries[below - 1] >> move)
        node[ABOVE] = -1 if below == n - n_missing else np.int64(entries[below] >> move)


@njit_inner
def partition_slots(
    lists: Any, codes: Any, node: Any, slots: Any, keep: Any, child_of: Any, scratch: Any, force_ties: Any
) -> Any:
    """Partition the lists `slots = (first, last)`; slot n_lists stands for the rows of the coded columns."""
    n_lists = lists.entries.shape[0]
    n_children = node[ARITY]
    start, end = node[START], node[END]
    for s in range(slots[0], min(slots[1], n_lists)):
        if _is_varying(node, s):
            entries = lists.entries[s, start:end]
            ties = force_ties or scratch.has_ties[s]
            _split(entries, n_children, lists.shift, keep, ties, child_of, scratch)
    if codes is not None:
        if slots[1] > n_lists:
            _split(codes.rows[start:end], n_children, lists.shift, keep, False, child_of, scratch)


@njit_inner
def _split(entries: Any, n_children: Any, shift: Any, keep: Any, has_ties: Any, child_of: Any, scratch: Any) -> Any:
    if n_children == 2:
        partition.split_list(entries, scratch.child_rows[0], child_of, shift, keep, has_ties, scratch.entries)
    else:
        partition.split_list_many(
            entries, scratch.child_rows[:n_children], child_of, shift, scratch.entries, scratch.child_place
        )


@njit_inner
def _is_splittable(limits: Any, reals: Any, size: Any, depth: Any) -> Any:
    """Whether a node may be tested at all: large enough, not too deep, not pure."""
    n_classes_here = 0
    for c in range(reals.shape[0] - 2):
        n_classes_here += reals[c] > 0
    return (
        n_classes_here > 1 and depth < limits.max_depth and size >= limits.least_split and size >= 2 * limits.least_leaf
    )


@njit_inner
def add_children(limits: Any, scratch: Any, nodes: Any, reals: Any, v: Any, first: Any) -> Any:
    """Write the children of v to the tables; returns which may be split: bit 0 the first, bit 1 any other.

    START of a child that may not be split is -1.
    """
    n_classes = reals.shape[1] - 2
    keep = 0
    at = nodes[v, START]
    nodes[v, FIRST] = first
    for c in range(nodes[v, ARITY]):
        child = first + c
        for k in range(n_classes):
            reals[child, k] = scratch.child_counts[c, k]
        for k in range(N_FIELDS):
            nodes[child, k] = 0
        for k in range(N_FIELDS, nodes.shape[1]):
            nodes[child, k] = nodes[v, k]
        nodes[child, DEPTH] = nodes[v, DEPTH] + 1
        nodes[child, BRANCH] = -1
        nodes[child, BIRTH] = -1
        nodes[child, START] = at
        at += scratch.child_rows[c]
        nodes[child, END] = at
        if _is_splittable(limits, reals[child], scratch.child_size[c], nodes[child, DEPTH]):
            keep |= 1 << min(c, 1)
        else:
            nodes[child, START] = -1
    return keep


@njit
def record_test(
    limits: Any, test: Any, nodes: Any, reals: Any, v: Any, n_codes: Any, branch: Any, n_branch: Any, own_branch: Any
) -> Any:
    """Write a node's best test to the tables; returns (branch, n_branch)."""
    nodes[v, SLOT] = test.slot
    nodes[v, KIND] = test.kind
    nodes[v, BELOW] = test.below
    nodes[v, ABOVE] = test.above
    nodes[v, DEFAULT] = test.default
    nodes[v, ARITY] = n_codes if test.kind == coded.MULTIWAY else 2
    n_classes = reals.shape[1] - 2
    reals[v, n_classes] = test.score
    if test.kind == coded.SUBSET:
        if n_branch + n_codes > branch.shape[0]:
            larger = np.zeros(2 * (n_branch + n_codes), np.uint16)
            for k in range(n_branch):
                larger[k] = branch[k]
            branch = larger
        nodes[v, BRANCH] = n_branch
        for k in range(n_codes):
            branch[n_branch + k] = own_branch[k]
        n_branch += n_codes
    return branch, n_branch


@njit
def _enlarged(array: Any, n: Any) -> Any:
    larger = np.zeros((n, array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for k in range(array.shape[1]):
            larger[i, k] = array[i, k]
    return larger


@njit_inner
def _is_before(reals: Any, a: Any, b: Any) -> Any:
    """Queue order of best-first: larger drop, then the older node."""
    drop_a, drop_b = reals[a, reals.shape[1] - 1], reals[b, reals.shape[1] - 1]
    tie = TIE * max(drop_a, drop_b)
    return drop_a > drop_b + tie or (drop_a >= drop_b - tie and a < b)


@njit_inner
def _push(heap: Any, n_heap: Any, v: Any, reals: Any) -> Any:
    i = n_heap
    heap[i] = v
    while i > 0 and _is_before(reals, heap[i], heap[(i - 1) // 2]):
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2


@njit_inner
def _pop(heap: Any, n_heap: Any, reals: Any) -> Any:
    top = heap[0]
    heap[0] = heap[n_heap - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n_heap - 1:
            break
        if child + 1 < n_heap - 1 and _is_before(reals, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(reals, heap[child], heap[i]):
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return top


@njit
def grow_part(
    criterion: Any,
    lists: Any,
    codes: Any,
    weights: Any,
    ratio: Any,
    limits: Any,
    root: Any,
    root_reals: Any,
    child_of: Any,
    scratch: Any,
) -> Any:
    """Grow the subtree of one node: (nodes, reals, branch)."""
    n_classes = root_reals.shape[0] - 2
    n_lists = lists.entries.shape[0]
    capacity = 64
    nodes = np.zeros((capacity, root.shape[0]), np.int64)
    reals = np.zeros((capacity, root_reals.shape[0]))
    branch = np.zeros(64, np.uint16)
    n_branch = np.int64(0)
    for k in range(root.shape[0]):
        nodes[0, k] = root[k]
    for k in range(root_reals.shape[0]):
        reals[0, k] = root_reals[k]
    n_nodes = np.int64(1)
    n_splits = np.int64(0)
    fresh = np.zeros((capacity, 1), np.int64)  # stack of nodes not evaluated yet
    n_fresh = np.int64(1)
    heap = np.zeros(capacity, np.int64)  # best-first: evaluated nodes
    n_heap = np.int64(0)
    while n_splits < limits.max_splits:
        if n_fresh > 0:
            n_fresh -= 1
            v = fresh[n_fresh, 0]
            test = evaluate(criterion, lists, codes, weights, ratio, limits, nodes[v], reals[v], scratch)
            if test.slot < 0:
                continue
            n_codes = np.int64(0)
            if codes is not None:
                if test.slot >= n_lists:
                    n_codes = codes.n_codes[test.slot - n_lists]
            branch, n_branch = record_test(
                limits, test, nodes, reals, v, n_codes, branch, n_branch, scratch.histogram.branch
            )
            total = _total(reals[v])
            reals[v, n_classes] = test.score if _is_on(ratio) else test.score / total
            reals[v, n_classes + 1] = reals[v, n_classes] * total
            if limits.best_first:
                if n_heap == heap.shape[0]:
                    larger = np.zeros(2 * n_heap, np.int64)
                    for k in range(n_heap):
                        larger[k] = heap[k]
                    heap = larger
                _push(heap, n_heap, v, reals)
                n_heap += 1
                continue
        elif n_heap > 0:
            v = _pop(heap, n_heap, reals)
            n_heap -= 1
        else:
            break
        n_children = nodes[v, ARITY]
        while n_nodes + n_children > capacity:
            capacity *= 2
            nodes = _enlarged(nodes, capacity)
            reals = _enlarged(reals, capacity)
            fresh = _enlarged(fresh, capacity)
        assign_children(lists, codes, weights, nodes[v], branch, child_of, scratch)
        keep = add_children(limits, scratch, nodes, reals, v, n_nodes)
        nodes[v, BIRTH] = n_splits
        n_splits += 1
        if keep != 0:
            partition_slots(lists, codes, nodes[v], (0, n_lists + 1), keep, child_of, scratch, limits.best_first)
            for c in range(n_children - 1, -1, -1):
                if nodes[n_nodes + c, START] >= 0:
                    fresh[n_fresh, 0] = n_nodes + c
                    n_fresh += 1
        n_nodes += n_children
    return nodes[:n_nodes], reals[:n_nodes], branch[:n_branch]
