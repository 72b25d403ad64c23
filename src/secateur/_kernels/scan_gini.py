"""Find the best cut of a presorted list by gini: whole counts, nothing missing. As in scan.py."""

import cython
from cython.cimports.secateur._kernels.growing import BLOCK, Entry

SOME = cython.declare(cython.int, 64)  # rows per class from which on it pays to look at a block before its entries


def gini_two(facts, entries, sums, cut):
    """Two classes: with d = ones_left * n - ones * i the gain is 2 d^2 / (n i (n - i)): screened without division.

    A row of the second class moves d up by n - ones, any other down by ones: from the ones of a
    block follows how far d can get in it, and most blocks are passed over by that alone.
    """
    cumulative = cython.declare(cython.int[64])
    n = sums.n
    rows = cython.cast(cython.double, n)
    ones = sums.counts[sums.second]
    label: Entry = sums.second << 1
    mask: Entry = facts.mask ^ 1
    hit: Entry
    count: Entry
    limit = (cut.score + sums.tie) * rows / 2
    left = cython.cast(cython.int, (entries[0] & mask) == label)
    start: cython.Py_ssize_t = 1
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK else BLOCK
        block = entries + start
        first = cython.cast(cython.double, start)
        start += BLOCK
        if size == BLOCK:
            hit = 0
            count = 0
            for k in range(BLOCK):
                hit |= block[k]
                count += (block[k] & mask) == label
            d = left * rows - ones * first
            far = max(
                d + cython.cast(cython.int, count) * (rows - ones), (BLOCK - cython.cast(cython.int, count)) * ones - d
            )
            i = first + (BLOCK - 1)
            if not hit & 1 or far * far <= limit * min(first * (rows - first), i * (rows - i)):
                left += cython.cast(cython.int, count)
                continue
        for k in range(size):
            cumulative[k] = left
            left += cython.cast(cython.int, (block[k] & mask) == label)
        hit = 0
        for k in range(size):
            i = first + k
            d = cumulative[k] * rows - ones * i
            e = block[k]
            hit |= e if d * d > limit * (i * (rows - i)) else 0
        if hit & 1:
            for k in range(size):
                i = first + k
                d = cumulative[k] * rows - ones * i
                room = i * (rows - i)
                if block[k] & 1 and d * d > limit * room and i >= sums.least and rows - i >= sums.least:
                    cut.score = 2 * (d * d) / (rows * room)
                    limit = (cut.score + sums.tie) * rows / 2
                    cut.position = start - BLOCK + k


def farthest(facts, desk, block, first, sums, reach):
    """How far from its share what the left has of each class can get in a block; counts its rows in `desk.count`."""
    n_sums = facts.n_sums
    mask: Entry = facts.mask
    count = desk.count
    other = desk.count + n_sums  # two tables: a row need not wait for the count of the one before
    inverse = 1 / sums.weight
    k: cython.int
    for k in range(2 * n_sums):
        count[k] = 0
    for k in range(BLOCK // 2):
        count[(block[2 * k] & mask) >> 1] += 1
        other[(block[2 * k + 1] & mask) >> 1] += 1
    for k in range(n_sums):
        count[k] += other[k]
        share = sums.counts[k] * inverse
        v = desk.left[k] - share * first
        reach[k] = max(v + count[k] * (1 - share), (BLOCK - count[k]) * share - v)


def gini(facts, desk, entries, sums, cut):
    """Sum of squares over both sides, kept up entry by entry; screened without division.

    The gain is n / (i (n - i)) times the sum of v^2 over the classes, where v is what the left
    has of a class more than its share. As with two classes, the rows of each class in a block
    tell how far v can get in it, and most blocks are passed over by that alone.
    """
    block_squares = cython.declare(cython.double[64])
    block_cross = cython.declare(cython.double[64])
    n = sums.n
    n_sums = facts.n_sums
    rows = cython.cast(cython.double, n)
    counts = sums.counts
    left = desk.left
    mask: Entry = facts.mask
    hit: Entry
    all_squares = sums.squares
    for h in range(n_sums):
        left[h] = 0
    constant = all_squares / rows
    limit = cut.score + sums.tie + constant
    slack = 1e-15 * rows * rows  # differences of large numbers: for their rounding
    c = (entries[0] & mask) >> 1
    left[c] = 1
    squares = 1.0
    product = counts[c]
    start: cython.Py_ssize_t = 1
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK else BLOCK
        block = entries + start
        first = cython.cast(cython.double, start)
        start += BLOCK
        if n >= SOME * n_sums and size == BLOCK:
            hit = 0
            for k in range(BLOCK):
                hit |= block[k]
            farthest(facts, desk, block, first, sums, desk.right)
            reached = slack
            for h in range(n_sums):
                reached += desk.right[h] * desk.right[h]
            i = first + (BLOCK - 1)
            room = min(first * (rows - first), i * (rows - i))
            if not hit & 1 or reached * rows < (limit - constant) * room:
                for h in range(n_sums):
                    more = cython.cast(cython.double, desk.count[h])
                    squares += more * (2 * left[h] + more)
                    left[h] += more
                    product += more * counts[h]
                continue
        for k in range(size):
            block_squares[k] = squares
            block_cross[k] = all_squares - 2 * product
            c = (block[k] & mask) >> 1
            squares += 2 * left[c] + 1
            left[c] += 1
            product += counts[c]
        hit = 0
        for k in range(size):
            i = first + k
            reached = block_squares[k] * rows + block_cross[k] * i
            e = block[k]
            hit |= e if reached > limit * (i * (rows - i)) else 0
        if hit & 1:
            for k in range(size):
                i = first + k
                reached = block_squares[k] * rows + block_cross[k] * i
                room = i * (rows - i)
                if block[k] & 1 and reached > limit * room and i >= sums.least and rows - i >= sums.least:
                    cut.score = reached / room - constant
                    limit = reached / room + sums.tie
                    cut.position = start - BLOCK + k
