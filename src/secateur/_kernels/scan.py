"""Find the best cut of a presorted list.

A scan walks a node's entries from the lowest value to the highest. A cut before entry i
sends i rows to the left; it exists where entry i differs from the one before. `best` is
what a cut must beat by more than `tie`: equal scores leave the earlier column, and within
a column the lower threshold, in place.

Every scan fills a Cut: its score, its position or -1, and flags: 1, the values differ at
all; 2, some neighbours are equal (so partitioning must mend the difference bits).

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


def scan(facts, desk, entries, n_missing, sums, best, tie, least, cut):
    """Best cut of a list, of whose entries the last `n_missing` are missing."""
    number = facts.measure.number
    if facts.weight == cython.NULL and n_missing == 0:
        if number == growing.GINI:
            if sums.n_here == 2:
                scan_gini.gini_two(facts, entries, sums, best, tie, least, cut)
            else:
                scan_gini.gini(facts, desk, entries, sums, best, tie, least, cut)
            return
        if number == growing.SQRT:
            if facts.n_sums == 2:
                _sqrt_two(entries, sums, best, tie, least, cut)
            else:
                _sqrt(facts, desk, entries, sums, best, tie, least, cut)
            return
    if facts.weight == cython.NULL and number == growing.ENTROPY_TABLE:
        _entropy(facts, desk, entries, n_missing, sums, best, tie, least, cut)
    elif number == growing.SQUARES or (number == growing.GINI and sums.n_here == 2):
        scan_sums.quadratic(facts, entries, n_missing, sums, best, tie, least, cut)
    elif number == growing.GINI:
        scan_sums.gini(facts, desk, entries, n_missing, sums, best, tie, least, cut)
    else:
        scan_sums.any_criterion(facts, desk, entries, n_missing, sums, best, tie, least, cut)


def _entropy(facts, desk, entries, n_missing, sums, best, tie, least, cut):
    """In whole units of the table: exact, four look-ups a row; missing rows on the right, then on the left."""
    n: cython.Py_ssize_t = sums.n
    n_seen: cython.Py_ssize_t = n - n_missing
    table: cython.p_longlong = facts.measure.table
    left = desk.whole
    gone: cython.p_longlong = desk.whole + facts.n_sums
    counts = sums.counts
    unit: Entry = 1
    mask: Entry = (unit << facts.shift) - 1
    some: Entry = 0
    every: Entry = 1
    e: Entry
    c: Entry
    position: cython.Py_ssize_t = -1
    side: cython.int = 1
    both: cython.longlong = 0  # terms of the classes, summed over both sides
    other: cython.longlong  # the same with the missing rows on the left
    i: cython.Py_ssize_t
    m: cython.Py_ssize_t
    a: cython.longlong
    b: cython.longlong
    units: cython.longlong
    for h in range(facts.n_sums):
        left[h] = 0
        gone[h] = 0
        both += table[cython.cast(cython.Py_ssize_t, counts[h])]
    node: cython.longlong = table[n] - both
    half = 0.5 * facts.measure.unit
    limit = units_of(best + tie, half)
    for i in range(n_seen, n):
        gone[(entries[i] & mask) >> 1] += 1
    other = both
    if n_missing:
        other = 0
        for h in range(facts.n_sums):
            a = gone[h]
            other += table[a] + table[cython.cast(cython.longlong, counts[h]) - a]
    for i in range(n_seen + (n_missing > 0)):
        e = entries[i]
        if i > 0:
            some |= e
            every &= e
            if e & 1:
                if i >= least and n - i >= least:
                    units = node + both - table[i] - table[n - i]
                    if units > limit:
                        best = half * units
                        limit = units_of(best + tie, half)
                        position = i
                        side = 1
                if n_missing and i < n_seen:
                    m = i + n_missing
                    if m >= least and n - m >= least:
                        units = node + other - table[m] - table[n - m]
                        if units > limit:
                            best = half * units
                            limit = units_of(best + tie, half)
                            position = i
                            side = 0
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
    if n_missing > 1:
        every = 0
    cut.score = best
    cut.position = position
    cut.side = side
    cut.flags = cython.cast(cython.int, (some & 1) | ((every ^ 1) & 1) << 1)


def _sqrt_two(entries, sums, best, tie, least, cut):
    """Two classes: sqrt(u) + sqrt(v), u and v zeros * ones of the sides; screened by its square, without a root."""
    cumulative = cython.declare(cython.int[64])
    margin = cython.declare(cython.double[64])
    n = sums.n
    rows = cython.cast(cython.double, n)
    ones = sums.counts[1]
    some: Entry = 0
    every: Entry = 1
    hit: Entry
    position: cython.Py_ssize_t = -1
    limit = sums.base - best - tie  # what both sides together must stay below
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
            some |= e
            every &= e
            hit |= e if margin[k] > 0 else 0
        if hit & 1:
            for k in range(size):
                i = first + k
                if block[k] & 1 and margin[k] > 0 and i >= least and rows - i >= least:
                    x = cumulative[k]
                    both = sqrt(x * (i - x)) + sqrt((ones - x) * (rows - i - (ones - x)))
                    if both < limit:
                        best = sums.base - both
                        limit = both - tie
                        position = start + k
            most = limit * fabs(limit) * NEARLY
        start += BLOCK
    cut.score = best
    cut.position = position
    cut.flags = cython.cast(cython.int, (some & 1) | ((every ^ 1) & 1) << 1)


def _sqrt(facts, desk, entries, sums, best, tie, least, cut):
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
    unit: Entry = 1
    mask: Entry = (unit << facts.shift) - 1
    some: Entry = 0
    every: Entry = 1
    hit: Entry
    c: Entry
    position: cython.Py_ssize_t = -1
    constant: cython.double = 0
    n_here: cython.int = 0
    for h in range(facts.n_sums):
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
    squares: cython.double = 0  # sum of factor * left^2, and of factor * counts * left
    crossed: cython.double = 0
    limit = sums.base - best - tie  # what both sides together must stay below
    start: cython.Py_ssize_t = 0
    k: cython.int
    share: cython.double  # of the smaller side, in rows
    slack = 1e-9 * constant * rows * rows  # the form is a difference of large numbers: for its rounding
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK else BLOCK
        block = entries + start
        first = cython.cast(cython.double, start)
        hit = 0
        for k in range(1 if start == 0 else 0, size):
            hit |= block[k]
            every &= block[k]
        some |= hit
        start += BLOCK
        quarter = 1
        if n >= SOME * n_sums and size == BLOCK and start > BLOCK:
            scan_gini.farthest(facts, desk, block, first, sums, desk.right)
            i = first + (BLOCK - 1)
            room = min(first * (rows - first), i * (rows - i))
            share = min(first, rows - i)
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
                    both = 0
                    for h in range(n_here):
                        own = counts[desk.line[h]]
                        y = left[desk.line[h]]
                        both += sqrt(y * (i - y)) + sqrt((own - y) * (rows - i - (own - y)))
                    both = 0.5 * both
                    if both < limit and i >= least and rows - i >= least:
                        best = sums.base - both
                        limit = both - tie
                        position = start - BLOCK + k
                left[(block[k] & mask) >> 1] += 1
    cut.score = best
    cut.position = position
    cut.flags = cython.cast(cython.int, (some & 1) | ((every ^ 1) & 1) << 1)
