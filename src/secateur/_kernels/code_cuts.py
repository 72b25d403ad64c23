"""Find the best cut of a binned column from its class histogram.

The same arithmetic as the scans of presorted lists (scan.py), once per code instead of once
per row: equal counts give equal scores, to the last bit, so a tree grown from histograms is
the one grown from the rows. A cut stands between two neighbouring codes that the node holds;
`best` is what it must beat by more than `tie`.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from . import criteria
from ._jit import INNER, njit_inner


@njit_inner
def rows_of(line: Any) -> Any:
    """Rows of one code."""
    rows = 0
    for c in range(line.shape[0]):
        rows += line[c]
    return np.float64(rows)


@njit_inner
def _cut_gini_two(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    ones = counts[1]
    limit = (best + tie) * rows / 2
    left, i = 0.0, 0.0
    last, below, above = -1, -1, -1
    for k in range(codes.shape[0]):
        here = rows_of(codes[k])
        if here == 0:
            continue
        if i > 0:
            d = left * rows - ones * i
            room = i * (rows - i)
            if d * d > limit * room and i >= least and rows - i >= least:
                best = 2 * (d * d) / (rows * room)
                limit = (best + tie) * rows / 2
                below, above = last, k
        left += np.float64(codes[k, 1])
        i += here
        last = k
    return best, below, above


@njit_inner
def _cut_gini(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    left = work.space[0]
    all_squares = 0.0
    for c in range(counts.shape[0]):
        left[c] = 0
        all_squares += counts[c] * counts[c]
    constant = all_squares / rows
    limit = best + tie + constant
    squares, product, i = 0.0, 0.0, 0.0
    last, below, above = -1, -1, -1
    for k in range(codes.shape[0]):
        here = rows_of(codes[k])
        if here == 0:
            continue
        if i > 0:
            reached = squares * rows + (all_squares - 2 * product) * i
            room = i * (rows - i)
            if reached > limit * room and i >= least and rows - i >= least:
                best = reached / room - constant
                limit = reached / room + tie
                below, above = last, k
        for c in range(counts.shape[0]):
            more = np.float64(codes[k, c])
            squares += (2 * left[c] + more) * more
            left[c] += more
            product += counts[c] * more
        i += here
        last = k
    return best, below, above


@njit_inner
def _cut_entropy(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    table = criterion.table
    n = np.int64(rows)
    left = work.space[0]
    both = np.int64(0)
    for c in range(counts.shape[0]):
        left[c] = 0
        both += table[np.int64(counts[c])]
    node = table[n] - both
    half = 0.5 * criterion.unit
    limit = np.int64(np.floor((best + tie) / half)) if best > -np.inf else np.int64(-(2**62))
    i = np.int64(0)
    last, below, above = -1, -1, -1
    for k in range(codes.shape[0]):
        here = np.int64(rows_of(codes[k]))
        if here == 0:
            continue
        if i > 0 and i >= least and n - i >= least:
            units = node + both - table[i] - table[n - i]
            if units > limit:
                best = half * units
                limit = np.int64(np.floor((best + tie) / half))
                below, above = last, k
        for c in range(counts.shape[0]):
            more = np.int64(codes[k, c])
            a = np.int64(left[c])
            b = np.int64(counts[c]) - a
            both += (table[a + more] - table[a]) + (table[b - more] - table[b])
            left[c] += more
        i += here
        last = k
    return best, below, above


@njit_inner
def _cut_sqrt_two(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    ones = counts[1]
    limit = base - best - tie  # what both sides together must stay below
    left, i = 0.0, 0.0
    last, below, above = -1, -1, -1
    for k in range(codes.shape[0]):
        here = rows_of(codes[k])
        if here == 0:
            continue
        if i > 0:
            both = np.sqrt(left * (i - left)) + np.sqrt((ones - left) * (rows - i - (ones - left)))
            if both < limit and i >= least and rows - i >= least:
                best = base - both
                limit = both - tie
                below, above = last, k
        left += np.float64(codes[k, 1])
        i += here
        last = k
    return best, below, above


@njit_inner
def _cut_sqrt(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    left = work.space[0]
    for c in range(counts.shape[0]):
        left[c] = 0
    limit = base - best - tie
    i = 0.0
    last, below, above = -1, -1, -1
    for k in range(codes.shape[0]):
        here = rows_of(codes[k])
        if here == 0:
            continue
        if i > 0 and i >= least and rows - i >= least:
            sums = 0.0
            for c in range(counts.shape[0]):
                own, y = counts[c], left[c]
                if own > 0:
                    sums += np.sqrt(y * (i - y)) + np.sqrt((own - y) * (rows - i - (own - y)))
            both = 0.5 * sums
            if both < limit:
                best = base - both
                limit = both - tie
                below, above = last, k
        for c in range(counts.shape[0]):
            left[c] += np.float64(codes[k, c])
        i += here
        last = k
    return best, below, above


_CUTS: dict[type, Any] = {
    criteria.GiniTwo: _cut_gini_two,
    criteria.Gini: _cut_gini,
    criteria.Entropy: _cut_entropy,
    criteria.Sqrt: _cut_sqrt,
    criteria.SqrtTwo: _cut_sqrt_two,
}


def cut(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    """Best cut where no row of the node is missing: (best, code below or -1, code above)."""
    return _CUTS[type(criterion)](criterion, codes, counts, rows, base, best, tie, least, work)


@overload(cut, jit_options=INNER)  # type: ignore[untyped-decorator]
def _cut(
    criterion: Any, codes: Any, counts: Any, rows: Any, base: Any, best: Any, tie: Any, least: Any, work: Any
) -> Any:
    return _CUTS[criterion.instance_class].py_func


@njit_inner
def cut_missing(
    criterion: Any,
    codes: Any,
    missing: Any,
    counts: Any,
    rows: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Best cut where the rows `missing` of each class have no value.

    They are tried on the right and on the left of every cut, and against all others. Returns
    (best, code below or -1, code above or -1: present against missing, child of the missing).
    """
    n_classes = counts.shape[0]
    left, right = work.space[0, :n_classes], work.space[1, :n_classes]
    n_missing = rows_of(missing)
    for c in range(n_classes):
        left[c] = 0
        right[c] = counts[c]
    i = 0.0
    last, below, above, default = -1, -1, -1, 0
    for k in range(codes.shape[0] + 1):
        is_end = k == codes.shape[0]
        here = 0.0 if is_end else rows_of(codes[k])
        if here == 0 and not is_end:
            continue
        if i > 0:
            if i >= least and rows - i >= least:
                score = base - criteria.impurity(criterion, left, i) - criteria.impurity(criterion, right, rows - i)
                if score > best + tie:
                    best, below, above, default = score, last, -1 if is_end else k, 1
            if not is_end and i + n_missing >= least and rows - i - n_missing >= least:
                for c in range(n_classes):
                    left[c] += np.float64(missing[c])
                    right[c] -= np.float64(missing[c])
                score = (
                    base
                    - criteria.impurity(criterion, left, i + n_missing)
                    - criteria.impurity(criterion, right, rows - i - n_missing)
                )
                if score > best + tie:
                    best, below, above, default = score, last, k, 0
                for c in range(n_classes):
                    left[c] -= np.float64(missing[c])
                    right[c] += np.float64(missing[c])
        if not is_end:
            for c in range(n_classes):
                left[c] += np.float64(codes[k, c])
                right[c] -= np.float64(codes[k, c])
            i += here
            last = k
    return best, below, above, default
