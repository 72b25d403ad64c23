"""Find the test of a node that lowers the squared error most.

A node with weight W and sum S of `y - centre` loses, when L goes to the left,

    gain = (S_L W - S W_L)^2 / (W W_L W_R),

so a scan adds up weights and deviations and compares without dividing. `centre` is near the
node's mean, so that a node of close values far from the others keeps all its digits, and it
is a round number, so that sums of whole numbers stay exact.

The tables are those of grow_parts.py. Their lists carry the label 0 everywhere; the weight
stands in the place of its counts.
"""

from typing import Any, NamedTuple

import numpy as np

from . import coded
from ._jit import njit_inner
from .coded import _comes_first, _sort_by_key
from .evaluate import _strike, is_varying, n_missing_at_end
from .grow_parts import END, START, TIE, Test

CENTRE_BITS = 20  # the centre is a multiple of the range over 2**20


class Sums(NamedTuple):
    """What the tests of a node start from."""

    centre: float
    weight: float
    total: float  # sum of weight times (y - centre)
    size: float  # what the limits count
    spread: float  # squared error around the mean: what ties are measured by


@njit_inner
def node_sums(entries: Any, shift: Any, weights: Any, y: Any) -> Any:
    """Centre, weight and sums of a node; a spread of 0: all its numbers are equal."""
    move = entries.dtype.type(shift)
    n = entries.shape[0]
    first = y[entries[0] >> move]
    low, high = first, first
    near = 0.0
    for i in range(n):
        value = y[entries[i] >> move]
        low = min(low, value)
        high = max(high, value)
        near += value - first
    if low == high:
        return Sums(first, np.float64(n), 0.0, np.float64(n), 0.0)
    unit = 2.0 ** (np.floor(np.log2(high - low)) - CENTRE_BITS)
    # A whole number of units above the lowest value: 2**21 units at most, so no digit is lost.
    centre = low + np.rint((first + near / n - low) / unit) * unit
    weight = 0.0
    size = 0.0
    total = 0.0
    spread = 0.0
    is_weighted = False
    if weights is not None:
        is_weighted = weights.is_weighted
    for i in range(n):
        row = entries[i] >> move
        d = y[row] - centre
        if weights is not None:
            if is_weighted:
                w = weights.weight[row]
                weight += w
                size += weights.size[row]
                total += w * d
                spread += w * d * d
        if not is_weighted:
            total += d
            spread += d * d
    if not is_weighted:
        weight = np.float64(n)
        size = weight
    return Sums(centre, weight, total, size, max(spread - total * total / weight, 1e-300))


@njit_inner
def scan_plain(entries: Any, shift: Any, y: Any, sums: Any, best: Any, tie: Any, least: Any) -> Any:
    """Best cut of a list where every row weighs 1 and none is missing: (best, position or -1, flags of scan.py)."""
    n = entries.shape[0]
    rows = np.float64(n)
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    centre, total = sums.centre, sums.total
    some = entries.dtype.type(0)
    every = one
    position = -1
    limit = (best + tie) * rows
    left = y[entries[0] >> move] - centre
    for i in range(1, n):
        e = entries[i]
        k = np.float64(i)
        d = left * rows - total * k
        some |= e
        every &= e
        if d * d > limit * (k * (rows - k)):
            if e & one and k >= least and rows - k >= least:
                best = d * d / (rows * (k * (rows - k)))
                limit = (best + tie) * rows
                position = i
        left += y[e >> move] - centre
    return best, position, (some & one) | ((every ^ one) & one) << one


@njit_inner
def scan_weighted(
    entries: Any, shift: Any, y: Any, weights: Any, n_missing: Any, sums: Any, best: Any, tie: Any, least: Any
) -> Any:
    """The same where rows have weights or the last `n_missing` are missing: (best, position, flags, their child).

    Missing rows are tried on both sides of every cut, and against all others.
    """
    n = entries.shape[0]
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    weight, total, size = sums.weight, sums.total, sums.size
    lost_weight, lost_total, lost_size = 0.0, 0.0, 0.0
    for i in range(n - n_missing, n):
        row = entries[i] >> move
        lost_weight += weights.weight[row]
        lost_total += weights.weight[row] * (y[row] - sums.centre)
        lost_size += weights.size[row]
    left_weight, left_total, left_size = 0.0, 0.0, 0.0
    some = entries.dtype.type(0)
    every = one
    position = -1
    default = 1
    limit = (best + tie) * weight
    for i in range(n - n_missing + (n_missing > 0)):
        e = entries[i]
        if i > 0:
            some |= e
            every &= e
        if i > 0 and e & one:
            n_sides = 2 if n_missing > 0 and i < n - n_missing else 1
            for side in range(n_sides):  # missing rows on the right, then on the left
                w = left_weight + side * lost_weight
                s = left_size + side * lost_size
                d = (left_total + side * lost_total) * weight - total * w
                room = w * (weight - w)
                if d * d > limit * room and s >= least and size - s >= least:
                    best = d * d / (weight * room)
                    limit = (best + tie) * weight
                    position, default = i, 1 - side
        row = e >> move
        left_weight += weights.weight[row]
        left_total += weights.weight[row] * (y[row] - sums.centre)
        left_size += weights.size[row]
    for i in range(n - n_missing + 1, n):
        every &= entries[i]
    return best, position, (some & one) | ((every ^ one) & one) << one, default


@njit_inner
def best_of_list(lists: Any, weights: Any, limits: Any, node: Any, y: Any, slot: Any, sums: Any, best: Any) -> Any:
    """(best cut of a list, or `best`; flags): a cut must beat `best` by more than a tie."""
    entries = lists.entries[slot, node[START] : node[END]]
    tie = TIE * sums.spread
    n_missing = n_missing_at_end(weights, slot, entries, lists.shift)
    if weights is not None:
        if weights.is_weighted or n_missing > 0:
            reached, position, flags, default = scan_weighted(
                entries, lists.shift, y, weights, n_missing, sums, best.score, tie, limits.least_leaf
            )
            if position >= 0:
                best = Test(reached, slot, coded.NUMERIC, position, 0, default if n_missing else -1)
            return best, flags
    reached, position, flags = scan_plain(entries, lists.shift, y, sums, best.score, tie, limits.least_leaf)
    if position >= 0:
        best = Test(reached, slot, coded.NUMERIC, position, 0, -1)
    return best, flags


@njit_inner
def best_of_codes(
    lists: Any,
    codes: Any,
    weights: Any,
    limits: Any,
    node: Any,
    y: Any,
    slot: Any,
    sums: Any,
    best: Any,
    histogram: Any,
) -> Any:
    """Best test of a nominal column, or `best`; a set of categories goes to the histogram's branch."""
    j = slot - lists.entries.shape[0]
    entries = codes.rows[node[START] : node[END]]
    n_present = coded.fill(histogram, codes.codes[j], codes.n_codes[j], entries, lists.shift, weights)
    if n_present < 2:
        _strike(node, slot)
        coded.clear(histogram, n_present)
        return best
    move = entries.dtype.type(lists.shift)
    for i in range(entries.shape[0]):  # class 1 of the histogram is nobody's: it takes the deviations
        row = entries[i] >> move
        histogram.counts[codes.codes[j, row], 1] += weights.weight[row] * (y[row] - sums.centre)
    least, tie = limits.least_leaf, TIE * sums.spread
    reached = -sums.total * sums.total / sums.weight  # of one child per category
    is_large = True
    for t in range(n_present):
        k = histogram.present[t]
        reached += histogram.counts[k, 1] * histogram.counts[k, 1] / histogram.weights[k]
        is_large = is_large and histogram.sizes[k] >= least
    if limits.multiway:
        if is_large and reached > best.score + tie:
            best = Test(reached, slot, coded.MULTIWAY, -1, -1, -1)
    else:
        score, is_found = _subset_cut(histogram, n_present, codes.n_codes[j], sums, best.score, tie, least, reached)
        if is_found:
            best = Test(score, slot, coded.SUBSET, -1, -1, -1)
    coded.clear(histogram, n_present)
    return best


@njit_inner
def _subset_cut(
    histogram: Any, n_present: Any, n_codes: Any, sums: Any, best: Any, tie: Any, least: Any, reached: Any
) -> Any:
    """Best set of categories against the rest: (best, found); the set goes to `histogram.branch`.

    The best set is a prefix in the order of the means. Where nothing can be gained (`reached`
    is rounding alone) the order is that of the categories, so that noise decides nothing. Where a
    category is smaller than `least`, the prefix may be ruled out: then all sets of few categories
    are tried, by a Gray code; of many, the prefixes that are left.
    """
    present, order, keys = histogram.present, histogram.order, histogram.keys
    is_exhaustive = n_present <= coded.EXHAUSTIVE and coded.is_any_below(histogram, n_present, least)
    for t in range(n_present):
        order[t] = t
        keys[t] = histogram.counts[present[t], 1] / histogram.weights[present[t]] if reached > tie else 0.0
    _sort_by_key(order, keys, n_present)
    one = np.uint64(1)
    all_mask = (one << np.uint64(min(n_present, 63))) - one
    mask, best_mask = np.uint64(0), np.uint64(0)
    weight, total, size = 0.0, 0.0, 0.0
    found = -1
    for step in range(1 << (n_present - 1) if is_exhaustive else n_present - 1):
        t = coded.moved_by(step) if is_exhaustive else order[step]
        bit = one << np.uint64(min(t, 63))
        sign = -1.0 if is_exhaustive and mask & bit else 1.0
        mask ^= bit
        weight += sign * histogram.weights[present[t]]
        total += sign * histogram.counts[present[t], 1]
        size += sign * histogram.sizes[present[t]]
        if size < least or sums.size - size < least or (is_exhaustive and mask == all_mask):
            continue
        d = total * sums.weight - sums.total * weight
        score = d * d / (sums.weight * (weight * (sums.weight - weight)))
        named = mask if mask & one else mask ^ all_mask
        is_tied = found >= 0 and n_present <= 63 and score >= best - tie and _comes_first(named, best_mask)
        if score > best + tie or is_tied:
            best = max(best, score)
            best_mask = named
            found = step
    if found < 0:
        return best, False
    for k in range(n_codes):
        histogram.branch[k] = coded.UNSEEN
    for t in range(n_present):
        if is_exhaustive:
            histogram.branch[present[t]] = 0 if (best_mask >> np.uint64(t)) & one else 1
        else:
            histogram.branch[present[order[t]]] = 0 if t <= found else 1
    if histogram.branch[present[0]] == 1:  # the lowest category present is in child 0
        for t in range(n_present):
            histogram.branch[present[t]] = 1 - histogram.branch[present[t]]
    return best, True


@njit_inner
def sum_ones(lists: Any, codes: Any, weights: Any, node: Any, y: Any, sums: Any, sides: Any) -> Any:
    """Of each two-valued column, summed over its ones: weight, deviations and size, to the lines of `sides`."""
    entries = codes.rows[node[START] : node[END]]
    move = entries.dtype.type(lists.shift)
    width = np.uint64(codes.width)
    n_bits = lists.feature.shape[0] - lists.entries.shape[0] - codes.codes.shape[0]  # the rest of a line is padding
    for p in range(n_bits):
        sides[0, p] = 0.0
        sides[1, p] = 0.0
        sides[2, p] = 0.0
    for i in range(entries.shape[0]):
        row = entries[i] >> move
        w, s = weights.weight[row], weights.size[row]
        d = w * (y[row] - sums.centre)
        start = np.uint64(row) * width
        for p in range(n_bits):
            is_one = np.float64(codes.bits[start + np.uint64(p)])
            sides[0, p] += is_one * w
            sides[1, p] += is_one * d
            sides[2, p] += is_one * s


@njit_inner
def best_of_bit(lists: Any, codes: Any, limits: Any, slot: Any, sums: Any, best: Any, sides: Any) -> Any:
    """Best test of a two-valued column, or `best`: zeros to the left, ones to the right."""
    j = slot - lists.entries.shape[0]
    p = j - codes.codes.shape[0]
    w, d, s = sides[0, p], sides[1, p], sides[2, p]
    least = limits.least_leaf
    if s <= 0 or s < least or sums.size <= s or sums.size - s < least:
        return best
    d = d * sums.weight - sums.total * w
    score = d * d / (sums.weight * (w * (sums.weight - w)))
    if score <= best.score + TIE * sums.spread:
        return best
    kind = coded.NUMERIC
    if codes.is_nominal[j]:
        kind = coded.MULTIWAY if limits.multiway else coded.SUBSET
    return Test(score, slot, kind, 0, 1, -1)


@njit_inner
def evaluate(
    lists: Any, codes: Any, weights: Any, limits: Any, node: Any, y: Any, by_feature: Any, sums: Any, scratch: Any
) -> Any:
    """Best test of a node over all columns; `by_feature` has the slots in the order of the columns."""
    n_lists = lists.entries.shape[0]
    best = Test(-np.inf if limits.allow_zero else 0.0, -1, 0, -1, -1, 0)
    n_coded = 0
    if codes is not None:
        n_coded = codes.codes.shape[0]
        if codes.width > 0:
            sum_ones(lists, codes, weights, node, y, sums, scratch.sides)
    for t in range(by_feature.shape[0]):  # of tied tests the lower column wins: it comes first
        slot = by_feature[t]
        if not is_varying(node, slot):
            continue
        if slot < n_lists:
            best, flags = best_of_list(lists, weights, limits, node, y, slot, sums, best)
            scratch.has_ties[slot] = flags >> lists.entries.dtype.type(1) != 0
            if not flags & lists.entries.dtype.type(1):
                _strike(node, slot)
        if codes is not None:
            if slot >= n_lists + n_coded:
                best = best_of_bit(lists, codes, limits, slot, sums, best, scratch.sides)
            elif slot >= n_lists:
                best = best_of_codes(lists, codes, weights, limits, node, y, slot, sums, best, scratch.histogram)
    if best.kind == coded.SUBSET and best.slot >= n_lists + n_coded:
        scratch.histogram.branch[0], scratch.histogram.branch[1] = 0, 1
    return best
