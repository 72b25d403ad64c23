"""Find the best test of a node over all its columns."""

from typing import Any

import numpy as np

from . import bits, coded, criteria, scan
from ._jit import njit_inner
from .grow_parts import END, N_FIELDS, START, TIE, Test


@njit_inner
def n_missing_at_end(weights: Any, slot: Any, entries: Any, shift: Any) -> Any:
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
def total_weight(reals: Any) -> Any:
    """Weight of a node."""
    total = 0.0
    for c in range(reals.shape[0] - 2):
        total += reals[c]
    return total


@njit_inner
def node_impurity(criterion: Any, reals: Any) -> Any:
    """Impurity of a node, times its weight."""
    return criteria.impurity(criterion, reals[: reals.shape[0] - 2], total_weight(reals))


@njit_inner
def is_ratio_on(ratio: Any) -> Any:
    return False if ratio is None else ratio.is_on


@njit_inner
def _least(limits: Any, ratio: Any) -> Any:
    """What each side of a binary test must have."""
    if ratio is None:
        return limits.least_leaf
    return max(limits.least_leaf, ratio.n_large) if ratio.is_on else limits.least_leaf


@njit_inner
def is_varying(node: Any, slot: Any) -> Any:
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
    total = total_weight(reals)
    base = node_impurity(criterion, reals)
    tie = TIE * base
    floor = -np.inf if limits.allow_zero else 0.0
    is_ratio = is_ratio_on(ratio)
    least = _least(limits, ratio)
    one = lists.entries.dtype.type(1)
    mask = (one << lists.entries.dtype.type(lists.shift)) - one
    best = Test(floor, -1, 0, -1, -1, 0)
    for s in range(slots[0], slots[1]):
        if not is_varying(node, s):
            continue
        entries = lists.entries[s, start:end]
        n_missing = n_missing_at_end(weights, s, entries, lists.shift)
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
    total = total_weight(reals)
    base = node_impurity(criterion, reals)
    tie = TIE * base
    floor = -np.inf if limits.allow_zero else 0.0
    is_ratio = is_ratio_on(ratio)
    n_large = _least(limits, ratio)
    best = Test(floor, -1, 0, -1, -1, 0)
    for s in range(slots[0], slots[1]):
        if not is_varying(node, s):
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
    total = total_weight(reals)
    base = node_impurity(criterion, reals)
    tie = TIE * base
    floor = -np.inf if limits.allow_zero else 0.0
    is_ratio = is_ratio_on(ratio)
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
    for s in range(n_slots if is_ratio_on(ratio) else 0):
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
    if ratio is not None:
        if ratio.is_on:
            best = _best_ratio(scratch, lists.feature)
            if codes is not None:
                if best.kind == coded.SUBSET:  # later columns have overwritten its categories: find them again
                    if best.slot < n_lists + codes.codes.shape[0]:
                        again = (best.slot, best.slot + 1)
                        best_of_codes(criterion, lists, codes, weights, ratio, limits, node, reals, again, scratch)
                    else:
                        scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
    return best
