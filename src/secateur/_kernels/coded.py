"""Find the best test on a nominal column, from one class histogram per node.

Only the categories present in the node are looked at, so a small node costs its rows, not
the categories of the column.

A nominal split is a set of categories against the rest; the set with the lowest category
present is child 0. Of equal splits the one whose child 0 comes first as a sorted list of
categories wins (decided for up to 63 categories in the node; beyond, the first found).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import criteria
from ._jit import njit_inner

NONE, NUMERIC, SUBSET, MULTIWAY = 0, 1, 2, 3
UNSEEN = 0xFFFF  # the child of a category that is not in the node: decided later
EXHAUSTIVE = 10  # categories up to which all subsets are tried where prefixes are not enough


class Histogram(NamedTuple):
    """Scratch space of one thread; `counts`, `sizes` and `is_seen` are zero between calls."""

    counts: npt.NDArray[np.float64]  # per code and class
    sizes: npt.NDArray[np.float64]  # per code: what min_samples_leaf counts
    weights: npt.NDArray[np.float64]  # per code
    is_seen: npt.NDArray[np.bool_]
    present: npt.NDArray[np.int64]  # the codes in the node, ascending
    order: npt.NDArray[np.int64]
    keys: npt.NDArray[np.float64]
    branch: npt.NDArray[np.uint16]  # child of each code, of the best nominal test so far
    left: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]


def make_histogram(n_codes: int, n_classes: int) -> Histogram:
    """Scratch space for columns of at most `n_codes` codes."""
    return Histogram(
        np.zeros((n_codes, n_classes)),
        np.zeros(n_codes),
        np.zeros(n_codes),
        np.zeros(n_codes, np.bool_),
        np.zeros(n_codes, np.int64),
        np.zeros(n_codes, np.int64),
        np.zeros(n_codes),
        np.zeros(n_codes, np.uint16),
        np.zeros(n_classes),
        np.zeros(n_classes),
    )


@njit_inner
def fill(histogram: Any, codes: Any, n_codes: Any, entries: Any, shift: Any, weights: Any) -> Any:
    """Count the node's rows; returns how many codes are present."""
    one = entries.dtype.type(1)
    move = entries.dtype.type(shift)
    mask = (one << move) - one
    counts, sizes, is_seen, present = histogram.counts, histogram.sizes, histogram.is_seen, histogram.present
    n_present = 0
    if weights.is_weighted:
        for i in range(entries.shape[0]):
            e = entries[i]
            row = e >> move
            code = codes[row]
            counts[code, (e & mask) >> one] += weights.weight[row]
            sizes[code] += weights.size[row]
            if not is_seen[code]:
                is_seen[code] = True
                present[n_present] = code
                n_present += 1
    else:
        for i in range(entries.shape[0]):
            e = entries[i]
            code = codes[e >> move]
            counts[code, (e & mask) >> one] += 1
            if not is_seen[code]:
                is_seen[code] = True
                present[n_present] = code
                n_present += 1
    if n_present * 8 > n_codes:
        t = 0
        for k in range(n_codes):
            if is_seen[k]:
                present[t] = k
                t += 1
    else:
        for t in range(n_present):
            histogram.keys[present[t]] = present[t]
        _sort_by_key(present, histogram.keys, n_present)
    for t in range(n_present):
        k = present[t]
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[k, c]
        histogram.weights[k] = total
        if not weights.is_weighted:
            sizes[k] = total
    return n_present


@njit_inner
def clear(histogram: Any, n_present: Any) -> Any:
    """Make the histogram empty again."""
    for t in range(n_present):
        k = histogram.present[t]
        histogram.is_seen[k] = False
        histogram.sizes[k] = 0
        for c in range(histogram.counts.shape[1]):
            histogram.counts[k, c] = 0


@njit_inner
def _sort_by_key(order: Any, keys: Any, n: Any) -> Any:
    """Sort `order[:n]` in place by (key of the item, item): a heap sort."""
    for step in range(2 * n):
        if step < n:  # build the heap
            last, i = n, n - 1 - step
        else:  # move the largest behind it
            last, i = 2 * n - 1 - step, 0
            order[0], order[last] = order[last], order[0]
        while True:
            child = 2 * i + 1
            if child >= last:
                break
            if child + 1 < last and _is_less(order[child], order[child + 1], keys):
                child += 1
            if not _is_less(order[i], order[child], keys):
                break
            order[i], order[child] = order[child], order[i]
            i = child


@njit_inner
def _is_less(a: Any, b: Any, keys: Any) -> Any:
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@njit_inner
def _move(histogram: Any, code: Any, sign: Any) -> Any:
    """Move a code's rows to the left (sign 1) or back to the right (-1)."""
    for c in range(histogram.left.shape[0]):
        histogram.left[c] += sign * histogram.counts[code, c]
        histogram.right[c] -= sign * histogram.counts[code, c]


@njit_inner
def _start_right(histogram: Any, n_present: Any) -> Any:
    """Put every row to the right; returns (weight, size) of the node."""
    left, right, present = histogram.left, histogram.right, histogram.present
    weight = 0.0
    size = 0.0
    for c in range(left.shape[0]):
        left[c] = 0
        right[c] = 0
    for t in range(n_present):
        weight += histogram.weights[present[t]]
        size += histogram.sizes[present[t]]
        for c in range(left.shape[0]):
            right[c] += histogram.counts[present[t], c]
    return weight, size


@njit_inner
def _gain(criterion: Any, histogram: Any, base: Any, left_weight: Any, total: Any) -> Any:
    return (
        base
        - criteria.impurity(criterion, histogram.left, left_weight)
        - criteria.impurity(criterion, histogram.right, total - left_weight)
    )


@njit_inner
def multiway_score(criterion: Any, histogram: Any, n_present: Any, base: Any, least: Any, n_large: Any) -> Any:
    """Gain of one child per value; -inf where a branch is below `least` or fewer than two reach `n_large`."""
    score = base
    large = 0
    for t in range(n_present):
        k = histogram.present[t]
        if histogram.sizes[k] < least:
            return -np.inf
        large += histogram.sizes[k] >= n_large
        score -= criteria.impurity(criterion, histogram.counts[k], histogram.weights[k])
    return score if large >= 2 else -np.inf


@njit_inner
def is_any_below(histogram: Any, n_present: Any, least: Any) -> Any:
    """Whether a category has fewer than `least` rows; else every set of categories is large enough."""
    smallest = np.inf
    for t in range(n_present):
        smallest = min(smallest, histogram.sizes[histogram.present[t]])
    return smallest < least


@njit_inner
def moved_by(step: Any) -> Any:
    """The category that a step of the Gray code moves: first the lowest, which then stays."""
    t = np.int64(0)
    if step > 0:
        while not (step >> t) & 1:
            t += 1
        t += 1
    return t


@njit_inner
def _comes_first(a: Any, b: Any) -> Any:
    """Whether the set with bits `a` comes before `b` as a sorted list (a prefix comes first)."""
    differing = a ^ b
    lowest = differing & (~differing + np.uint64(1))
    higher = ~(lowest | (lowest - np.uint64(1)))
    if a & lowest:
        return (b & higher) != np.uint64(0)
    return (a & higher) == np.uint64(0)


@njit_inner
def subset_cut(
    criterion: Any, histogram: Any, n_present: Any, n_codes: Any, base: Any, best: Any, tie: Any, least: Any
) -> Any:
    """Best set of categories against the rest: (best, found); the set goes to `histogram.branch`.

    Few categories, and more than two classes or a category smaller than `least`: all sets, by a
    Gray code over the categories other than the lowest. Otherwise prefixes in order of the share
    of each class in turn: with two classes the best set is among them for every concave
    criterion (both orders are tried so that equal shares do not depend on which class comes
    first). With more classes, or if `least` rules that prefix out, this is a heuristic.
    """
    sizes, weights, present, order = histogram.sizes, histogram.weights, histogram.present, histogram.order
    n_classes = histogram.counts.shape[1]
    is_exhaustive = n_present <= EXHAUSTIVE and (n_classes > 2 or is_any_below(histogram, n_present, least))
    found = False
    best_mask = np.uint64(0)
    one = np.uint64(1)
    all_mask = (one << np.uint64(min(n_present, 63))) - one
    for focus in range(1 if is_exhaustive else n_classes):
        total, all_size = _start_right(histogram, n_present)
        left_weight = 0.0
        left_size = 0.0
        mask = np.uint64(0)
        n_steps = n_present - 1
        if is_exhaustive:
            n_steps = 1 << (n_present - 1)
        else:
            for t in range(n_present):
                order[t] = t
                histogram.keys[t] = histogram.counts[present[t], focus] / weights[present[t]]
            _sort_by_key(order, histogram.keys, n_present)
        for step in range(n_steps):
            t = moved_by(step) if is_exhaustive else order[step]
            bit = one << np.uint64(min(t, 63))
            sign = -1.0 if is_exhaustive and mask & bit else 1.0
            mask ^= bit
            _move(histogram, present[t], sign)
            left_weight += sign * weights[present[t]]
            left_size += sign * sizes[present[t]]
            if left_size < least or all_size - left_size < least or (n_present <= 63 and mask == all_mask):
                continue
            score = _gain(criterion, histogram, base, left_weight, total)
            named = mask if mask & one else mask ^ all_mask
            is_tied = found and n_present <= 63 and score >= best - tie and _comes_first(named, best_mask)
            if score > best + tie or is_tied:
                best = max(best, score)
                best_mask = named
                found = True
                for k in range(n_present):
                    if is_exhaustive:
                        histogram.branch[present[k]] = 0 if (mask >> np.uint64(k)) & one else 1
                    else:
                        histogram.branch[present[order[k]]] = 0 if k <= step else 1
                if histogram.branch[present[0]] == 1:
                    for k in range(n_present):
                        histogram.branch[present[k]] = 1 - histogram.branch[present[k]]
    if found:
        for k in range(n_codes):
            if not histogram.is_seen[k]:
                histogram.branch[k] = UNSEEN
    return best, found
