"""Find the best cut of a presorted list.

A scan walks a node's entries from the lowest value to the highest. A cut before entry i
sends i rows to the left; it exists where entry i differs from the one before. `best` is
what a cut must beat by more than `tie`: equal scores leave the earlier column, and within
a column the lower threshold, in place.

Every scan returns (best, position or -1, flags): flag 1, the values differ at all;
flag 2, some neighbours are equal (so partitioning must mend the difference bits).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from . import criteria
from ._jit import INNER, njit_inner

BLOCK = 64  # entries screened at once: few enough to stay in registers and first-level cache


class Work(NamedTuple):
    """Scratch space of one thread, small because it is handed to every scan."""

    ones: npt.NDArray[np.int32]  # of class 1 to the left, per entry of a block
    line: npt.NDArray[np.int64]  # classes in the node
    space: npt.NDArray[np.float64]  # lines of at least a block and at least the classes


def make_work(n_classes: int) -> Work:
    """Scratch space for scans."""
    return Work(np.zeros(BLOCK, np.int32), np.zeros(n_classes, np.int64), np.zeros((5, max(BLOCK, n_classes))))


@njit_inner
def _scan_gini_two(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Two classes: with d = ones_left * n - ones * i the gain is 2 d^2 / (n i (n - i)): screened without division."""
    n = entries.shape[0]
    rows = np.float64(n)
    ones = counts[1]
    cumulative = work.ones
    one = entries.dtype.type(1)
    some = entries.dtype.type(0)
    every = one
    position = -1
    limit = (best + tie) * rows / 2
    left = np.int32((entries[0] >> one) & one)
    for start in range(1, n, BLOCK):
        size = min(BLOCK, n - start)
        block = entries[start : start + size]
        for k in range(size):
            e = block[k]
            cumulative[k] = left
            left = np.int32(left + np.int32((e >> one) & one))
        hit = entries.dtype.type(0)
        first = np.float64(start)
        for k in range(size):
            i = first + np.float64(np.int32(k))
            d = np.float64(cumulative[k]) * rows - ones * i
            some |= block[k]
            every &= block[k]
            hit |= block[k] if d * d > limit * (i * (rows - i)) else entries.dtype.type(0)
        if hit & one:
            for k in range(size):
                i = first + k
                d = np.float64(cumulative[k]) * rows - ones * i
                room = i * (rows - i)
                if block[k] & one and d * d > limit * room and i >= least and rows - i >= least:
                    best = 2 * (d * d) / (rows * room)
                    limit = (best + tie) * rows / 2
                    position = start + k
    return best, position, (some & one) | ((every ^ one) & one) << one


@njit_inner
def _scan_gini(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Sum of squares over both sides, kept up entry by entry; screened without division."""
    n = entries.shape[0]
    rows = np.float64(n)
    one = entries.dtype.type(1)
    some = entries.dtype.type(0)
    every = one
    position = -1
    left, block_squares, block_cross = work.space[0], work.space[1], work.space[2]
    all_squares = 0.0
    for c in range(counts.shape[0]):
        left[c] = 0
        all_squares += counts[c] * counts[c]
    constant = all_squares / rows
    limit = best + tie + constant
    c = (entries[0] & mask) >> one
    left[c] = 1
    squares = 1.0
    product = counts[c]
    for start in range(1, n, BLOCK):
        size = min(BLOCK, n - start)
        block = entries[start : start + size]
        for k in range(size):
            e = block[k]
            block_squares[k] = squares
            block_cross[k] = all_squares - 2 * product
            c = (e & mask) >> one
            squares += 2 * left[c] + 1
            left[c] += 1
            product += counts[c]
        hit = entries.dtype.type(0)
        first = np.float64(start)
        for k in range(size):
            i = first + np.float64(np.int32(k))
            reached = block_squares[k] * rows + block_cross[k] * i
            some |= block[k]
            every &= block[k]
            hit |= block[k] if reached > limit * (i * (rows - i)) else entries.dtype.type(0)
        if hit & one:
            for k in range(size):
                i = first + k
                reached = block_squares[k] * rows + block_cross[k] * i
                room = i * (rows - i)
                if block[k] & one and reached > limit * room and i >= least and rows - i >= least:
                    best = reached / room - constant
                    limit = reached / room + tie
                    position = start + k
    return best, position, (some & one) | ((every ^ one) & one) << one


@njit_inner
def _scan_entropy(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """In whole units of the table: exact, one table look-up of four entries per row."""
    n = entries.shape[0]
    table = criterion.table
    one = entries.dtype.type(1)
    some = entries.dtype.type(0)
    every = one
    position = -1
    left = work.space[0]
    both = np.int64(0)  # terms of the classes, summed over both sides
    for c in range(counts.shape[0]):
        left[c] = 0
        both += table[np.int64(counts[c])]
    node = table[n] - both
    half = 0.5 * criterion.unit
    limit = np.int64(np.floor((best + tie) / half)) if best > -np.inf else np.int64(-(2**62))
    for i in range(n):
        e = entries[i]
        if i > 0:
            some |= e
            every &= e
            if e & one and i >= least and n - i >= least:
                units = node + both - table[i] - table[n - i]
                if units > limit:
                    best = half * units
                    limit = np.int64(np.floor((best + tie) / half))
                    position = i
        c = (e & mask) >> one
        a = np.int64(left[c])
        b = np.int64(counts[c]) - a
        both += (table[a + 1] - table[a]) + (table[b - 1] - table[b])
        left[c] += 1
    return best, position, (some & one) | ((every ^ one) & one) << one


@njit_inner
def _scan_any(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Any criterion, from its definition at every cut."""
    n = entries.shape[0]
    one = entries.dtype.type(1)
    some = entries.dtype.type(0)
    every = one
    position = -1
    left, right = work.space[0, : counts.shape[0]], work.space[1, : counts.shape[0]]
    for c in range(counts.shape[0]):
        left[c] = 0
        right[c] = counts[c]
    for i in range(n):
        e = entries[i]
        if i > 0:
            some |= e
            every &= e
            if e & one and i >= least and n - i >= least:
                score = (
                    base
                    - criteria.impurity(criterion, left, np.float64(i))
                    - criteria.impurity(criterion, right, np.float64(n - i))
                )
                if score > best + tie:
                    best = score
                    position = i
        c = (e & mask) >> one
        left[c] += 1
        right[c] -= 1
    return best, position, (some & one) | ((every ^ one) & one) << one


@njit_inner
def _scan_sqrt_two(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Two classes: sqrt(zeros * ones) of both sides, a block at once."""
    n = entries.shape[0]
    rows = np.float64(n)
    ones = counts[1]
    cumulative, sums = work.ones, work.space[0]
    one = entries.dtype.type(1)
    some = entries.dtype.type(0)
    every = one
    position = -1
    left = np.int32((entries[0] >> one) & one)
    limit = base - best - tie  # what both sides together must stay below
    for start in range(1, n, BLOCK):
        size = min(BLOCK, n - start)
        block = entries[start : start + size]
        for k in range(size):
            e = block[k]
            cumulative[k] = left
            left = np.int32(left + np.int32((e >> one) & one))
        hit = entries.dtype.type(0)
        first = np.float64(start)
        for k in range(size):
            i = first + np.float64(np.int32(k))
            x = np.float64(cumulative[k])
            both = np.sqrt(x * (i - x)) + np.sqrt((ones - x) * (rows - i - (ones - x)))
            sums[k] = both
            some |= block[k]
            every &= block[k]
            hit |= block[k] if both < limit else entries.dtype.type(0)
        if hit & one:
            for k in range(size):
                i = first + k
                if block[k] & one and sums[k] < limit and i >= least and rows - i >= least:
                    best = base - sums[k]
                    limit = sums[k] - tie
                    position = start + k
    return best, position, (some & one) | ((every ^ one) & one) << one


@njit_inner
def _scan_sqrt(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Square roots of a block at once, only for classes in the node, and only where a bound lets a cut win.

    With a and b the shares of a class and of the rest that go left and t the share of all
    rows, the class gains sqrt(N (n - N)) H(a, b), and the Hellinger term H is at most
    (a - b)^2 / (2 t (1 - t)): a quadratic form in the counts, kept up entry by entry.
    """
    n = entries.shape[0]
    rows = np.float64(n)
    one = entries.dtype.type(1)
    some = entries.dtype.type(0)
    every = one
    position = -1
    left, sums, bound = work.space[0], work.space[1], work.space[2]
    factor, product = work.space[3], work.space[4]
    constant = 0.0
    n_here = 0
    for c in range(counts.shape[0]):
        left[c] = 0
        factor[c] = 0
        if counts[c] > 0:
            work.line[n_here] = c
            n_here += 1
            room = counts[c] * (rows - counts[c])
            factor[c] = rows * rows / (4 * room * np.sqrt(room)) if room > 0 else 0.0
            constant += factor[c] * counts[c] * counts[c]
            product[c] = factor[c] * counts[c]
    squares = 0.0  # sum of factor * left^2, and of factor * counts * left
    crossed = 0.0
    limit = base - best - tie  # what both sides together must stay below
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        block = entries[start : start + size]
        first = np.float64(start)
        for k in range(size):
            c = (block[k] & mask) >> one
            i = first + np.float64(np.int32(k))
            bound[k] = (squares * rows - 2 * crossed * i) * rows + constant * (i * i)
            squares += factor[c] * (2 * left[c] + 1)
            crossed += product[c]
            left[c] += 1
        hit = entries.dtype.type(0)
        for k in range(size):
            e = block[k]
            i = first + np.float64(np.int32(k))
            # The form is a difference of large numbers: allow for its rounding.
            reached = bound[k] + 1e-9 * constant * rows * rows
            hit |= e if reached >= (base - limit) * (i * (rows - i)) else entries.dtype.type(0)
        for k in range(1 if start == 0 else 0, size):
            some |= block[k]
            every &= block[k]
        if not hit & one:
            continue
        for k in range(size):
            sums[k] = 0
        for h in range(n_here):
            c = work.line[h]
            own = counts[c]
            x = left[c]
            for k in range(size - 1, -1, -1):  # back to where the block began
                x -= 1.0 if (block[k] & mask) >> one == c else 0.0
                bound[k] = x
            for k in range(size):
                i = first + np.float64(np.int32(k))
                y = bound[k]
                sums[k] += np.sqrt(y * (i - y)) + np.sqrt((own - y) * (rows - i - (own - y)))
        for k in range(size):
            i = first + k
            both = 0.5 * sums[k]
            if block[k] & one and both < limit and i >= least and rows - i >= least and i > 0:
                best = base - both
                limit = both - tie
                position = start + k
    return best, position, (some & one) | ((every ^ one) & one) << one


_FAST: dict[type, Any] = {
    criteria.GiniTwo: _scan_gini_two,
    criteria.Gini: _scan_gini,
    criteria.Entropy: _scan_entropy,
    criteria.Sqrt: _scan_sqrt,
    criteria.SqrtTwo: _scan_sqrt_two,
}


def scan(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Best cut of a list of rows of weight 1 without missing values."""
    function = _FAST.get(type(criterion), _scan_any)
    return function(criterion, entries, mask, counts, total, base, best, tie, least, work)


@overload(scan, jit_options=INNER)  # type: ignore[untyped-decorator]
def _scan(
    criterion: Any,
    entries: Any,
    mask: Any,
    counts: Any,
    total: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    return _FAST.get(criterion.instance_class, _scan_any).py_func


@njit_inner
def scan_weighted(
    criterion: Any,
    entries: Any,
    shift: Any,
    weight: Any,
    size: Any,
    n_missing: Any,
    counts: Any,
    base: Any,
    best: Any,
    tie: Any,
    least: Any,
    work: Any,
) -> Any:
    """Best cut where rows have weights or the last `n_missing` values are missing.

    Missing rows are tried on both sides of every cut, and against all others. Returns
    (best, position, flags, child of the missing rows); `size` is what `least` counts.
    """
    n = entries.shape[0]
    one = entries.dtype.type(1)
    mask = (one << entries.dtype.type(shift)) - one
    move = entries.dtype.type(shift)
    n_classes = counts.shape[0]
    left, right, missing = work.space[0, :n_classes], work.space[1, :n_classes], work.space[2, :n_classes]
    for c in range(n_classes):
        missing[c] = 0
    missing_size = 0.0
    all_size = 0.0
    for i in range(n):
        row = entries[i] >> move
        all_size += size[row]
        if i >= n - n_missing:
            missing[(entries[i] & mask) >> one] += weight[row]
            missing_size += size[row]
    missing_weight = 0.0
    total = 0.0
    for c in range(n_classes):
        missing_weight += missing[c]
        total += counts[c]
        left[c] = 0
        right[c] = counts[c]
    left_weight = 0.0
    left_size = 0.0
    position = -1
    default = 0
    some = entries.dtype.type(0)
    every = one
    for i in range(n - n_missing + (n_missing > 0)):
        e = entries[i]
        if i > 0:
            some |= e
            every &= e
            if e & one:
                # Missing rows on the right.
                if left_size >= least and all_size - left_size >= least:
                    score = (
                        base
                        - criteria.impurity(criterion, left, left_weight)
                        - criteria.impurity(criterion, right, total - left_weight)
                    )
                    if score > best + tie:
                        best, position, default = score, i, 1
                if n_missing > 0 and i < n - n_missing:
                    if left_size + missing_size >= least and all_size - left_size - missing_size >= least:
                        for c in range(n_classes):
                            left[c] += missing[c]
                            right[c] -= missing[c]
                        score = (
                            base
                            - criteria.impurity(criterion, left, left_weight + missing_weight)
                            - criteria.impurity(criterion, right, total - left_weight - missing_weight)
                        )
                        if score > best + tie:
                            best, position, default = score, i, 0
                        for c in range(n_classes):
                            left[c] -= missing[c]
                            right[c] += missing[c]
        if i < n - n_missing:
            row = e >> move
            c = (e & mask) >> one
            left[c] += weight[row]
            right[c] -= weight[row]
            left_weight += weight[row]
            left_size += size[row]
    if n_missing > 1:
        every = entries.dtype.type(0)
    return best, position, (some & one) | ((every ^ one) & one) << one, default
