"""Sum over the ones of all two-valued columns of a node at once.

A row is a word with a bit per column; the words move with their node, class after class. The
ones of many words are counted by carry-save adders on bit planes (a plane holds one binary
digit of all counts), those of few by a table that spreads 8 bits over the bytes of a word.

Rows with weights of their own, and numbers, are added up from a byte per row and column.
"""

import cython
from cython.cimports.libc.math import rint
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.growing import Entry, weight_of

MANY = cython.declare(cython.int, 128)  # words from which on planes are faster
SPREAD = cython.declare(cython.ulonglong[256])  # bit j of a byte to byte j of a word


@cython.cfunc
def _fill_spread() -> cython.void:
    b: cython.int
    j: cython.int
    one: cython.ulonglong = 1
    for b in range(256):
        SPREAD[b] = 0
        for j in range(8):
            if b >> j & 1:
                SPREAD[b] |= one << (8 * j)


_fill_spread()


def _add_bytes(tally, lane, times):
    j: cython.int
    for j in range(8):
        tally[j] += times * cython.cast(cython.uint, (lane >> (8 * j)) & 255)


def _count_few(words, n, used, tally):
    """At most 255 words."""
    for b in range(used):
        lane = 0
        for i in range(n):
            lane += SPREAD[(words[i] >> (8 * b)) & 255]
        _add_bytes(tally + 8 * b, lane, 1)


def count_words(words, n, used, tally):
    """Add to `tally` the ones of each column in n words, of which `used` bytes are in use."""
    lanes = cython.declare(cython.ulonglong[8])
    planes = cython.declare(cython.ulonglong[4])  # ones, twos, fours, eights
    one: cython.ulonglong = 0
    two: cython.ulonglong = 0
    four: cython.ulonglong = 0
    eight: cython.ulonglong = 0
    twos = cython.declare(cython.ulonglong[8])
    fours = cython.declare(cython.ulonglong[4])
    eights = cython.declare(cython.ulonglong[2])
    i: cython.Py_ssize_t = 0
    r: cython.int
    b: cython.int
    k: cython.int
    if n < MANY:
        _count_few(words, n, used, tally)
        return
    while i + 16 <= n:
        for b in range(8):
            lanes[b] = 0
        r = 0
        while r < 255 and i + 16 <= n:
            w = words + i
            for k in range(8):
                u = one ^ w[2 * k]
                twos[k] = (one & w[2 * k]) | (u & w[2 * k + 1])
                one = u ^ w[2 * k + 1]
            for k in range(4):
                u = two ^ twos[2 * k]
                fours[k] = (two & twos[2 * k]) | (u & twos[2 * k + 1])
                two = u ^ twos[2 * k + 1]
            for k in range(2):
                u = four ^ fours[2 * k]
                eights[k] = (four & fours[2 * k]) | (u & fours[2 * k + 1])
                four = u ^ fours[2 * k + 1]
            u = eight ^ eights[0]
            sixteen = (eight & eights[0]) | (u & eights[1])
            eight = u ^ eights[1]
            for b in range(used):
                lanes[b] += SPREAD[(sixteen >> (8 * b)) & 255]
            r += 1
            i += 16
        for b in range(used):
            _add_bytes(tally + 8 * b, lanes[b], 16)
    planes[0] = one
    planes[1] = two
    planes[2] = four
    planes[3] = eight
    for k in range(4):
        for b in range(used):
            _add_bytes(tally + 8 * b, SPREAD[(planes[k] >> (8 * b)) & 255], cython.cast(cython.uint, 1) << k)
    _count_few(words + i, n - i, used, tally)


def sum_ones(facts, desk, rows, start, sums):
    """Fill `desk.ones`, a line per class in the node; returns the number of lines.

    Also `desk.own`, the classes in all, and `desk.sides[2]`, the size of the ones of each column.
    Of numbers the lines are weights and deviations.
    """
    width = facts.width
    ones = desk.ones
    sizes = desk.sides + 2 * width
    n_lines: cython.int = 0
    p: cython.int
    used: cython.int
    mask: Entry = facts.mask
    is_squares: cython.bint = facts.measure.number == growing.SQUARES
    for p in range(width):
        sizes[p] = 0
    if is_squares:
        for p in range(2 * width):
            ones[p] = 0
        for i in range(sums.n):
            row = rows[i] >> facts.shift
            w = weight_of(facts, row)
            size = w if facts.by_weight else 1.0
            factor = w * (facts.y[row] - sums.centre)
            bits = facts.bits + cython.cast(cython.size_t, row) * width
            for p in range(width):
                ones[p] += bits[p] * w
                ones[width + p] += bits[p] * factor
                sizes[p] += bits[p] * size
        return 2
    for c in range(facts.n_sums):
        desk.line[c] = n_lines
        if sums.counts[c] > 0:
            desk.own[n_lines] = sums.counts[c]
            n_lines += 1
    if facts.words == cython.NULL:
        for p in range(n_lines * width):
            ones[p] = 0
        for i in range(sums.n):
            e = rows[i]
            row = e >> facts.shift
            w = weight_of(facts, row)
            size = w if facts.by_weight else 1.0
            bits = facts.bits + cython.cast(cython.size_t, row) * width
            line = ones + desk.line[(e & mask) >> 1] * width
            for p in range(width):
                line[p] += w * bits[p]
            for p in range(width):
                sizes[p] += size * bits[p]
        return n_lines
    n_lines = 0
    for c in range(facts.n_sums):
        if sums.counts[c] <= 0:
            continue
        factor = 1.0 if facts.of_class == cython.NULL else facts.of_class[c]
        m = cython.cast(cython.Py_ssize_t, rint(sums.counts[c] / factor))
        line = ones + n_lines * cython.cast(cython.Py_ssize_t, width)
        for j in range(facts.n_words):
            used = min(8, (width >> 3) - 8 * j)
            for p in range(8 * used):
                desk.tally[p] = 0
            count_words(facts.words + j * facts.n_rows + start, m, used, desk.tally)
            for p in range(8 * used):
                line[64 * j + p] = cython.cast(cython.int, desk.tally[p]) * factor
            if facts.by_weight:
                for p in range(8 * used):
                    sizes[64 * j + p] += line[64 * j + p]
            else:
                for p in range(8 * used):
                    sizes[64 * j + p] += cython.cast(cython.int, desk.tally[p])
        start += m
        n_lines += 1
    return n_lines


def gini_of_few(facts, desk, start, sums):
    """`sum_ones` and `impurity_sides` for gini of at most 255 rows of weight 1: squares fit in 16 bits."""
    width = facts.width
    lanes = cython.declare(cython.ulonglong[8])
    ones = cython.declare(cython.uchar[64])
    right = cython.declare(cython.ushort[64])
    squares = cython.declare(cython.ushort[64])
    rest = cython.declare(cython.ushort[64])
    x: cython.ushort
    y: cython.ushort
    r: cython.double
    p: cython.int
    i: cython.int
    used: cython.int
    for j in range(facts.n_words):
        used = min(8, (width >> 3) - 8 * j)
        words = facts.words + j * facts.n_rows + start
        for p in range(8 * used):
            right[p] = 0
            squares[p] = 0
            rest[p] = 0
        for c in range(facts.n_sums):
            own = cython.cast(cython.ushort, sums.counts[c])
            if own == 0:
                continue
            for b in range(used):
                lanes[b] = 0
            for i in range(own):
                w = words[i]
                for b in range(used):
                    lanes[b] += SPREAD[w & 255]
                    w >>= 8
            words += own
            memcpy(ones, lanes, 8 * used)
            for p in range(8 * used):
                x = ones[p]
                y = own - x
                right[p] += x
                squares[p] += x * x
                rest[p] += y * y
        for p in range(8 * used):
            r = right[p]
            left = sums.weight - r
            desk.sides[64 * j + p] = r
            desk.sides[width + 64 * j + p] = (r * r - squares[p]) / r + (left * left - rest[p]) / left
            desk.sides[2 * width + 64 * j + p] = r


def split_words(facts, rows, n, by, bit, words, scratch):
    """Stable split of a node's words, whose rows are not split yet; by a bit of the words `by` if given: zeros left."""
    shift = facts.shift
    goes_left = facts.goes_left
    to: cython.Py_ssize_t = 0
    for i in range(n):
        w = words[i]
        if by == cython.NULL:
            goes = cython.cast(cython.Py_ssize_t, goes_left[rows[i] >> shift])
        else:
            goes = 1 - cython.cast(cython.Py_ssize_t, (by[i] >> bit) & 1)  # `by` may be the words themselves
        words[to] = w
        scratch[i - to] = w
        to += goes
    for i in range(n - to):
        words[to + i] = scratch[i]


def split_words_many(facts, desk, rows, n, n_children, words):
    """Stable split of a node's words among many children."""
    start: cython.longlong = 0
    for c in range(n_children):
        desk.child_place[c] = start
        start += desk.child_rows[c]
    for i in range(n):
        c = facts.child_of[rows[i] >> facts.shift]
        desk.words[desk.child_place[c]] = words[i]
        desk.child_place[c] += 1
    memcpy(words, desk.words, n * cython.sizeof(cython.ulonglong))
