"""Find the best cut of a presorted list.

A scan walks a node's entries from the lowest value to the highest. A cut before entry i
sends i rows to the left; it exists where entry i differs from the one before. The Cut that a scan
is given holds what must be beaten by more than a tie: equal scores leave the earlier column, and within
a column the lower threshold, in place.

The scans of this file take rows of weight 1 without missing values, as do those of
scan_gini.py; the others are in scan_sums.py.
"""

import cython
from cython.cimports.libc.math import fabs, sqrt
from cython.cimports.secateur._kernels import growing, scan_gini, scan_sums
from cython.cimports.secateur._kernels.criteria import units_of
from cython.cimports.secateur._kernels.growing import BLOCK, Entry

NEARLY = cython.declare(cython.double, 1 + 1e-9)  # times a bound: far more than rounding
SOME = cython.declare(cython.int, 16)  # rows per class from which on it pays to look at a block before its entries


def scan(facts, desk, entries, n_missing, sums, cut):
    """Best cut of a list, of whose entries the last `n_missing` are missing."""
    number = facts.measure.number
    is_plain: cython.bint = facts.weight == cython.NULL and n_missing == 0
    is_two: cython.bint = number == growing.GINI and sums.n_here == 2
    if is_plain and is_two:
        scan_gini.gini_two(facts, entries, sums, cut)
    elif is_plain and number == growing.GINI:
        scan_gini.gini(facts, desk, entries, sums, cut)
    elif is_plain and number == growing.SQRT and facts.n_sums == 2:
        _sqrt_two(entries, sums, cut)
    elif is_plain and number == growing.SQRT:
        _sqrt(facts, desk, entries, sums, cut)
    elif facts.weight == cython.NULL and number == growing.ENTROPY_TABLE:
        _entropy(facts, desk, entries, n_missing, sums, cut)
    elif number == growing.SQUARES or is_two:
        scan_sums.quadratic(facts, entries, n_missing, sums, cut)
    elif number == growing.GINI:
        scan_sums.gini(facts, desk, entries, n_missing, sums, cut)
    else:
        scan_sums.any_criterion(facts, desk, entries, n_missing, sums, cut)


def _entropy(facts, desk, entries, n_missing, sums, cut):
    """In whole units of the table: exact, four look-ups a row; missing rows on the right, then on the left."""
    n: cython.Py_ssize_t = sums.n
    n_seen: cython.Py_ssize_t = n - n_missing
    table: cython.p_longlong = facts.measure.table
    left = desk.whole
    gone: cython.p_longlong = desk.whole + facts.n_sums
    counts = sums.counts
    mask: Entry = facts.mask
    least = sums.least
    both = table[n] - sums.units  # terms of the classes, summed over both sides
    other: cython.longlong = 0  # the same with the missing rows on the left
    i: cython.Py_ssize_t
    for h in range(facts.n_sums):
        left[h] = 0
        gone[h] = 0
    half = 0.5 * facts.measure.unit
    limit = units_of(cut.score + sums.tie, half)
    for i in range(n_seen, n):
        gone[(entries[i] & mask) >> 1] += 1
    for h in range(facts.n_sums if n_missing else 0):
        other += table[gone[h]] + table[cython.cast(cython.longlong, counts[h]) - gone[h]]
    for i in range(n_seen + (n_missing > 0)):
        e = entries[i]
        if i > 0 and e & 1:
            units = sums.units + both - table[i] - table[n - i]
            if units > limit and i >= least and n - i >= least:
                limit = _taken(cut, half * units, i, 1, sums.tie, half)
            if n_missing and i < n_seen:
                m = i + n_missing
                units = sums.units + other - table[m] - table[n - m]
                if units > limit and m >= least and n - m >= least:
                    limit = _taken(cut, half * units, i, 0, sums.tie, half)
        if i == n_seen:
            break
        c = (e & mask) >> 1
        a = left[c]
        b = cython.cast(cython.longlong, counts[c]) - a
        both += (table[a + 1] - table[a]) + (table[b - 1] - table[b])
        if n_missing:
            a += gone[c]
            b -= gone[c]
            other += (table[a + 1] - table[a]) + (table[b - 1] - table[b])
        left[c] += 1


def _taken(cut, score, position, side, tie, half):
    """Take a better cut: what the next must beat, in units."""
    cut.score = score
    cut.position = position
    cut.side = side
    return units_of(score + tie, half)


def _sqrt_two(entries, sums, cut):
    """Two classes: sqrt(u) + sqrt(v), u and v zeros * ones of the sides; screened by its square, without a root."""
    cumulative = cython.declare(cython.int[64])
    margin = cython.declare(cython.double[64])
    n = sums.n
    rows = cython.cast(cython.double, n)
    ones = sums.counts[1]
    hit: Entry
    limit = sums.base - cut.score - sums.tie  # what both sides together must stay below
    most = limit * fabs(limit) * NEARLY
    left = cython.cast(cython.int, (entries[0] >> 1) & 1)
    start: cython.Py_ssize_t = 1
    x: cython.double
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK else BLOCK
        block = entries + start
        for k in range(size):
            cumulative[k] = left
            left += cython.cast(cython.int, (block[k] >> 1) & 1)
        hit = 0
        first = cython.cast(cython.double, start)
        for k in range(size):
            i = first + k
            x = cumulative[k]
            u = x * (i - x)
            v = (ones - x) * (rows - i - (ones - x))
            rest = most - u - v
            margin[k] = rest * fabs(rest) - 4 * (u * v)
        for k in range(size):
            e = block[k]
            hit |= e if margin[k] > 0 else 0
        if hit & 1:
            for k in range(size):
                i = first + k
                if block[k] & 1 and margin[k] > 0 and i >= sums.least and rows - i >= sums.least:
                    x = cumulative[k]
                    both = sqrt(x * (i - x)) + sqrt((ones - x) * (rows - i - (ones - x)))
                    if both < limit:
                        cut.score = sums.base - both
                        limit = both - sums.tie
                        cut.position = start + k
            most = limit * fabs(limit) * NEARLY
        start += BLOCK


def _sqrt(facts, desk, entries, sums, cut):
    """Square roots only for classes in the node, and only where a bound lets a cut win.

    With a and b the shares of a class and of the rest that go left and t the share of all
    rows, the class gains sqrt(N (n - N)) H(a, b), and the Hellinger term H is at most
    (a - b)^2 / (2 t (1 - t)): a quadratic form in the counts, kept up entry by entry. Where a
    and b are near t it is at most a quarter of that over 1 - |a - b| / min(t, 1 - t); how near
    they are, and whether any cut can win, is first asked of a whole block.
    """
    bound = cython.declare(cython.double[64])
    n = sums.n
    n_sums = facts.n_sums
    rows = cython.cast(cython.double, n)
    counts = sums.counts
    left = desk.left
    factor = desk.factor
    product = desk.product
    mask: Entry = facts.mask
    hit: Entry
    constant = 0.0
    n_here: cython.int = 0
    for h in range(n_sums):
        left[h] = 0
        factor[h] = 0
        product[h] = 0
        if counts[h] > 0:
            desk.line[n_here] = h
            n_here += 1
            room = counts[h] * (rows - counts[h])
            factor[h] = rows * rows / (4 * room * sqrt(room)) if room > 0 else 0.0
            constant += factor[h] * counts[h] * counts[h]
            product[h] = factor[h] * counts[h]
    squares = crossed = 0.0  # sum of factor * left^2, and of factor * counts * left
    limit = sums.base - cut.score - sums.tie  # what both sides together must stay below
    start: cython.Py_ssize_t = 0
    slack = 1e-9 * constant * rows * rows  # the form is a difference of large numbers: for its rounding
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK else BLOCK
        block = entries + start
        first = cython.cast(cython.double, start)
        start += BLOCK
        quarter = 1.0
        if n >= SOME * n_sums and size == BLOCK and start > BLOCK:
            hit = 0
            for k in range(BLOCK):
                hit |= block[k]
            scan_gini.farthest(facts, desk, block, first, sums, desk.right)
            i = first + (BLOCK - 1)
            room = min(first * (rows - first), i * (rows - i))
            share = min(first, rows - i)  # of the smaller side, in rows
            reached = 0
            quarter = 0.25
            for h in range(n_sums):
                y = desk.right[h]
                if factor[h] > 0:
                    own = 1 - y * rows * rows / (counts[h] * (rows - counts[h]) * share)
                    own = 0.25 / own if own > 0.25 else 1.0
                    quarter = max(quarter, own)
                    reached += own * factor[h] * (y * y)
            if not hit & 1 or reached * rows * rows + slack < (sums.base - limit) * room:
                for h in range(n_sums):
                    own = desk.count[h]
                    squares += factor[h] * (own * (2 * left[h] + own))
                    crossed += product[h] * own
                    left[h] += own
                continue
        for k in range(size):
            c = (block[k] & mask) >> 1
            i = first + k
            bound[k] = ((squares * rows - 2 * crossed * i) * rows + constant * (i * i)) * quarter + slack
            squares += factor[c] * (2 * left[c] + 1)
            crossed += product[c]
            left[c] += 1
        hit = 0
        most = sums.base - limit
        for k in range(size):
            i = first + k
            e = block[k]
            hit |= e if bound[k] >= most * (i * (rows - i)) else 0
        if hit & 1:
            for k in range(size):  # back to where the block began, and forward again
                left[(block[k] & mask) >> 1] -= 1
            for k in range(size):
                i = first + k
                if block[k] & 1 and i > 0 and bound[k] >= (sums.base - limit) * (i * (rows - i)):
                    both = 0.0
                    for h in range(n_here):
                        own = counts[desk.line[h]]
                        y = left[desk.line[h]]
                        both += sqrt(y * (i - y)) + sqrt((own - y) * (rows - i - (own - y)))
                    both = 0.5 * both
                    if both < limit and i >= sums.least and rows - i >= sums.least:
                        cut.score = sums.base - both
                        limit = both - sums.tie
                        cut.position = start - BLOCK + k
                left[(block[k] & mask) >> 1] += 1
