"""Add up the rows with the higher value, for all two-valued columns of a node at the same time.

A row is a word with one bit per column. The words of a node lie together, class after class:

    class 0 | 0 1 1 0 .. |
            | 0 0 1 0 .. |          ones of class 0:  0 1 2 0 ..
    class 1 | 1 1 0 0 .. |
            | 1 0 0 0 .. |          ones of class 1:  2 1 0 0 ..

Few words are counted by a table that spreads the 8 bits of a byte over the 8 bytes of a word: one addition counts 8
columns. Many words are counted by carry-save adders on bit planes. A plane is a word that holds one binary digit of all
64 counts, and an adder turns two words into one word of the next digit. The adders turn 16 words into one word, each of
whose bits counts 16, in 75 operations.

Regression, and classification of rows with different weights in a class, read one byte per row and column instead
(`bit_bytes`), which costs O(rows x columns).
"""

import cython
from cython.cimports.libc.math import rint
from cython.cimports.libc.string import memcpy
from cython.cimports.secateur._kernels.context import SQUARED_ERROR, Entry, weight_of

MIN_PLANE_WORDS = cython.declare(cython.int, 128)  # words from which bit planes are faster than the table
BYTE_LANES = cython.declare(cython.ulonglong[256])  # bit j of a byte becomes byte j of a word


@cython.cfunc
def _fill_byte_lanes() -> cython.void:
    byte: cython.int
    j: cython.int
    one: cython.ulonglong = 1
    for byte in range(256):
        BYTE_LANES[byte] = 0
        for j in range(8):
            if byte >> j & 1:
                BYTE_LANES[byte] |= one << (8 * j)


_fill_byte_lanes()


def sum_ones(context, scratch, rows, start, stats):
    """Add up, for each class in the node, the weight of the rows with the higher value of each column.

    Returns the number of lines of `scratch.ones`, and fills:

        scratch.ones            one line per class in the node, with one sum per column; in regression, one line of
                                weights and one of deviations
        scratch.class_totals    weight of each class in the node
        scratch.right_size      size of the child with the higher value, per column
    """
    p: cython.int
    for p in range(context.bit_line_bytes):
        scratch.right_size[p] = 0
    if context.criterion.fast_path == SQUARED_ERROR:
        _sum_number_bytes(context, scratch, rows, stats)
        return 2
    if context.bit_words == cython.NULL:
        return _sum_class_bytes(context, scratch, rows, stats)
    return _sum_class_words(context, scratch, start, stats)


def _sum_number_bytes(context, scratch, rows, stats):
    """Add up weights and deviations of a regression node."""
    width = context.bit_line_bytes
    ones = scratch.ones
    sizes = scratch.right_size
    p: cython.int
    for p in range(2 * width):
        ones[p] = 0
    for i in range(stats.n_rows):
        row = rows[i] >> context.shift
        w = weight_of(context, row)
        size = w if context.has_weight_limits else 1.0
        deviation = w * (context.target[row] - stats.centre)
        bits = context.bit_bytes + cython.cast(cython.size_t, row) * width
        for p in range(width):
            ones[p] += bits[p] * w
            ones[width + p] += bits[p] * deviation
            sizes[p] += bits[p] * size


def _sum_class_bytes(context, scratch, rows, stats):
    """Add up the weights of rows with different weights in a class; return the number of classes in the node."""
    width = context.bit_line_bytes
    ones = scratch.ones
    sizes = scratch.right_size
    low_mask: Entry = context.low_mask
    n_lines: cython.int = 0
    p: cython.int
    for c in range(context.n_sums):
        scratch.class_line[c] = n_lines
        if stats.counts[c] > 0:
            scratch.class_totals[n_lines] = stats.counts[c]
            n_lines += 1
    for p in range(n_lines * width):
        ones[p] = 0
    for i in range(stats.n_rows):
        e = rows[i]
        row = e >> context.shift
        w = weight_of(context, row)
        size = w if context.has_weight_limits else 1.0
        bits = context.bit_bytes + cython.cast(cython.size_t, row) * width
        line = ones + scratch.class_line[(e & low_mask) >> 1] * width
        for p in range(width):
            line[p] += w * bits[p]
        for p in range(width):
            sizes[p] += size * bits[p]
    return n_lines


def _sum_class_words(context, scratch, start, stats):
    """Count the ones of rows with equal weights in each class; return the number of classes in the node."""
    width = context.bit_line_bytes
    sizes = scratch.right_size
    n_lines: cython.int = 0
    p: cython.int
    n_bytes: cython.int
    for c in range(context.n_sums):
        if stats.counts[c] <= 0:
            continue
        scratch.class_totals[n_lines] = stats.counts[c]
        class_weight = 1.0 if context.weight_of_class == cython.NULL else context.weight_of_class[c]
        m = cython.cast(cython.Py_ssize_t, rint(stats.counts[c] / class_weight))
        line = scratch.ones + n_lines * cython.cast(cython.Py_ssize_t, width)
        for j in range(context.n_bit_words):
            n_bytes = min(8, (width >> 3) - 8 * j)
            for p in range(8 * n_bytes):
                scratch.bit_counts[p] = 0
            _count_words(context.bit_words + j * context.n_rows + start, m, n_bytes, scratch.bit_counts)
            for p in range(8 * n_bytes):
                line[64 * j + p] = cython.cast(cython.int, scratch.bit_counts[p]) * class_weight
            if context.has_weight_limits:
                for p in range(8 * n_bytes):
                    sizes[64 * j + p] += line[64 * j + p]
            else:
                for p in range(8 * n_bytes):
                    sizes[64 * j + p] += cython.cast(cython.int, scratch.bit_counts[p])
        start += m
        n_lines += 1
    return n_lines


def gini_of_few_rows(context, scratch, start, stats):
    """Compute gini of both children of every column, for at most 255 rows of weight 1.

    The squares of such counts fit into 16 bits. This function does the work of both `sum_ones` and
    `criteria.impurity_of_sides`, and fills the same fields of `scratch` except `ones` and `class_totals`.
    """
    width = context.bit_line_bytes
    lanes = cython.declare(cython.ulonglong[8])  # one count per byte
    ones = cython.declare(cython.uchar[64])  # the same, as bytes
    right = cython.declare(cython.ushort[64])
    right_squares = cython.declare(cython.ushort[64])
    left_squares = cython.declare(cython.ushort[64])
    x: cython.ushort
    y: cython.ushort
    r: cython.double
    p: cython.int
    i: cython.int
    n_bytes: cython.int
    for j in range(context.n_bit_words):
        n_bytes = min(8, (width >> 3) - 8 * j)
        words = context.bit_words + j * context.n_rows + start
        for p in range(8 * n_bytes):
            right[p] = 0
            right_squares[p] = 0
            left_squares[p] = 0
        for c in range(context.n_sums):
            m = cython.cast(cython.ushort, stats.counts[c])
            if m == 0:
                continue
            for b in range(n_bytes):
                lanes[b] = 0
            for i in range(m):
                w = words[i]
                for b in range(n_bytes):
                    lanes[b] += BYTE_LANES[w & 255]
                    w >>= 8
            words += m
            memcpy(ones, lanes, 8 * n_bytes)
            for p in range(8 * n_bytes):
                x = ones[p]
                y = m - x
                right[p] += x
                right_squares[p] += x * x
                left_squares[p] += y * y
        for p in range(8 * n_bytes):
            r = right[p]
            left = stats.weight - r
            scratch.right_weight[64 * j + p] = r
            scratch.side_impurity[64 * j + p] = (r * r - right_squares[p]) / r + (left * left - left_squares[p]) / left
            scratch.right_size[64 * j + p] = r


def _count_words(words, n, n_bytes, bit_counts):
    """Add the ones of each of the first `8 * n_bytes` columns in n words to `bit_counts`."""
    lanes = cython.declare(cython.ulonglong[8])
    planes = cython.declare(cython.ulonglong[4])
    one: cython.ulonglong = 0  # planes: binary digits of the counts
    two: cython.ulonglong = 0
    four: cython.ulonglong = 0
    eight: cython.ulonglong = 0
    twos = cython.declare(cython.ulonglong[8])  # carries
    fours = cython.declare(cython.ulonglong[4])
    eights = cython.declare(cython.ulonglong[2])
    i: cython.Py_ssize_t = 0
    rounds: cython.int
    b: cython.int
    k: cython.int
    if n < MIN_PLANE_WORDS:
        _count_few_words(words, n, n_bytes, bit_counts)
        return
    while i + 16 <= n:
        for b in range(8):
            lanes[b] = 0
        rounds = 0
        while rounds < 255 and i + 16 <= n:  # a byte of a lane holds up to 255
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
            for b in range(n_bytes):
                lanes[b] += BYTE_LANES[(sixteen >> (8 * b)) & 255]
            rounds += 1
            i += 16
        for b in range(n_bytes):
            _add_lanes(bit_counts + 8 * b, lanes[b], 16)
    planes[0] = one
    planes[1] = two
    planes[2] = four
    planes[3] = eight
    for k in range(4):
        for b in range(n_bytes):
            _add_lanes(bit_counts + 8 * b, BYTE_LANES[(planes[k] >> (8 * b)) & 255], cython.cast(cython.uint, 1) << k)
    _count_few_words(words + i, n - i, n_bytes, bit_counts)


def _count_few_words(words, n, n_bytes, bit_counts):
    """Add the ones of at most 255 words to `bit_counts`."""
    for b in range(n_bytes):
        lanes = 0
        for i in range(n):
            lanes += BYTE_LANES[(words[i] >> (8 * b)) & 255]
        _add_lanes(bit_counts + 8 * b, lanes, 1)


def _add_lanes(bit_counts, lanes, times):
    """Add each of the 8 bytes of a word, times a factor, to 8 counts."""
    j: cython.int
    for j in range(8):
        bit_counts[j] += times * cython.cast(cython.uint, (lanes >> (8 * j)) & 255)
