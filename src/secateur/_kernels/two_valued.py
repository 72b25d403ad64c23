"""Add up the rows that have the higher of two values ("ones"), for all two-valued columns of a node at the same time.

A row is a word with one bit per column. The words of a node lie together, class after class:

    class 0 | 0 1 1 0 .. |
            | 0 0 1 0 .. |          ones of class 0:  0 1 2 0 ..
    class 1 | 1 1 0 0 .. |
            | 1 0 0 0 .. |          ones of class 1:  2 1 0 0 ..

There are two ways to count words. Few words are counted by a table that spreads the 8 bits of a byte over the 8 bytes
of a word, so that one addition counts 8 columns: about 8 additions for a word of 64 columns. Many words are counted by
carry-save adders on bit planes. A plane is a word that holds one binary digit of all 64 counts. An adder adds two words
to a plane, and returns a word of carries, which are binary digits of the next place. The adders turn 16 words into one
word, each of whose bits counts 16, in 75 operations: about 5 operations for a word of 64 columns.

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
    """Fill the table `BYTE_LANES`."""
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
    column: cython.int
    for column in range(context.bit_line_bytes):
        scratch.right_size[column] = 0
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
    column: cython.int
    for column in range(2 * width):
        ones[column] = 0
    for i in range(stats.n_rows):
        row = rows[i] >> context.shift
        weight = weight_of(context, row)
        size = weight if context.has_weight_limits else 1.0
        deviation = weight * (context.target[row] - stats.centre)
        row_bytes = context.bit_bytes + cython.cast(cython.size_t, row) * width
        for column in range(width):
            ones[column] += row_bytes[column] * weight
            ones[width + column] += row_bytes[column] * deviation
            sizes[column] += row_bytes[column] * size


def _sum_class_bytes(context, scratch, rows, stats):
    """Add up the weights of the ones, row by row; return the number of classes in the node."""
    width = context.bit_line_bytes
    ones = scratch.ones
    sizes = scratch.right_size
    low_mask: Entry = context.low_mask
    n_lines: cython.int = 0
    column: cython.int
    for class_index in range(context.n_sums):
        scratch.class_line[class_index] = n_lines
        if stats.counts[class_index] > 0:
            scratch.class_totals[n_lines] = stats.counts[class_index]
            n_lines += 1
    for column in range(n_lines * width):
        ones[column] = 0
    for i in range(stats.n_rows):
        entry = rows[i]
        row = entry >> context.shift
        weight = weight_of(context, row)
        size = weight if context.has_weight_limits else 1.0
        row_bytes = context.bit_bytes + cython.cast(cython.size_t, row) * width
        line = ones + scratch.class_line[(entry & low_mask) >> 1] * width
        for column in range(width):
            line[column] += weight * row_bytes[column]
        for column in range(width):
            sizes[column] += size * row_bytes[column]
    return n_lines


def _sum_class_words(context, scratch, start, stats):
    """Count the ones if all rows of a class have the same weight; return the number of classes in the node."""
    width = context.bit_line_bytes
    sizes = scratch.right_size
    n_lines: cython.int = 0
    column: cython.int
    n_bytes: cython.int
    for class_index in range(context.n_sums):
        if stats.counts[class_index] <= 0:
            continue
        scratch.class_totals[n_lines] = stats.counts[class_index]
        class_weight = 1.0 if context.weight_of_class == cython.NULL else context.weight_of_class[class_index]
        n_class_rows = cython.cast(cython.Py_ssize_t, rint(stats.counts[class_index] / class_weight))
        line = scratch.ones + n_lines * cython.cast(cython.Py_ssize_t, width)
        # Count the rows of the class with the higher value, in 64 columns at a time.
        for word_index in range(context.n_bit_words):
            n_bytes = min(8, (width >> 3) - 8 * word_index)
            for column in range(8 * n_bytes):
                scratch.bit_counts[column] = 0
            words = context.bit_words + word_index * context.n_rows + start
            _count_words(words, n_class_rows, n_bytes, scratch.bit_counts)
            for column in range(8 * n_bytes):
                line[64 * word_index + column] = cython.cast(cython.int, scratch.bit_counts[column]) * class_weight
            if context.has_weight_limits:
                for column in range(8 * n_bytes):
                    sizes[64 * word_index + column] += line[64 * word_index + column]
            else:
                for column in range(8 * n_bytes):
                    sizes[64 * word_index + column] += cython.cast(cython.int, scratch.bit_counts[column])
        start += n_class_rows
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
    n_ones: cython.ushort
    n_zeros: cython.ushort
    n_right: cython.double
    column: cython.int
    i: cython.int
    n_bytes: cython.int
    for word_index in range(context.n_bit_words):
        n_bytes = min(8, (width >> 3) - 8 * word_index)
        words = context.bit_words + word_index * context.n_rows + start
        for column in range(8 * n_bytes):
            right[column] = 0
            right_squares[column] = 0
            left_squares[column] = 0
        for class_index in range(context.n_sums):
            # Count the ones of the class: byte by byte of a word, 8 columns at a time.
            n_class_rows = cython.cast(cython.ushort, stats.counts[class_index])
            if n_class_rows == 0:
                continue
            for byte in range(n_bytes):
                lanes[byte] = 0
            for i in range(n_class_rows):
                word = words[i]
                for byte in range(n_bytes):
                    lanes[byte] += BYTE_LANES[word & 255]
                    word >>= 8
            words += n_class_rows
            memcpy(ones, lanes, 8 * n_bytes)
            # Add the squares of the class to both children.
            for column in range(8 * n_bytes):
                n_ones = ones[column]
                n_zeros = n_class_rows - n_ones
                right[column] += n_ones
                right_squares[column] += n_ones * n_ones
                left_squares[column] += n_zeros * n_zeros
        # Weigh the impurity of both children.
        for column in range(8 * n_bytes):
            n_right = right[column]
            n_left = stats.weight - n_right
            scratch.right_weight[64 * word_index + column] = n_right
            right_impurity = (n_right * n_right - right_squares[column]) / n_right
            left_impurity = (n_left * n_left - left_squares[column]) / n_left
            scratch.side_impurity[64 * word_index + column] = right_impurity + left_impurity
            scratch.right_size[64 * word_index + column] = n_right


def _count_words(words, n_words, n_bytes, bit_counts):
    """Count the ones of each of the first `8 * n_bytes` columns in some words, and add them to `bit_counts`."""
    lanes = cython.declare(cython.ulonglong[8])
    planes = cython.declare(cython.ulonglong[4])
    # Planes: the binary digits of the counts, by place.
    one: cython.ulonglong = 0
    two: cython.ulonglong = 0
    four: cython.ulonglong = 0
    eight: cython.ulonglong = 0
    # Carries of the adders.
    twos = cython.declare(cython.ulonglong[8])
    fours = cython.declare(cython.ulonglong[4])
    eights = cython.declare(cython.ulonglong[2])
    n_counted: cython.Py_ssize_t = 0
    rounds: cython.int
    byte: cython.int
    k: cython.int
    if n_words < MIN_PLANE_WORDS:
        _count_few_words(words, n_words, n_bytes, bit_counts)
        return
    # Count blocks of 16 words. The binary digits below 16 stay in the planes from block to block.
    while n_counted + 16 <= n_words:
        for byte in range(8):
            lanes[byte] = 0
        rounds = 0
        while rounds < 255 and n_counted + 16 <= n_words:  # a byte of a lane holds up to 255
            block = words + n_counted
            # Each adder adds two words to the plane of their place, and returns a word of carries for the next place.
            for k in range(8):
                partial_sum = one ^ block[2 * k]
                twos[k] = (one & block[2 * k]) | (partial_sum & block[2 * k + 1])
                one = partial_sum ^ block[2 * k + 1]
            for k in range(4):
                partial_sum = two ^ twos[2 * k]
                fours[k] = (two & twos[2 * k]) | (partial_sum & twos[2 * k + 1])
                two = partial_sum ^ twos[2 * k + 1]
            for k in range(2):
                partial_sum = four ^ fours[2 * k]
                eights[k] = (four & fours[2 * k]) | (partial_sum & fours[2 * k + 1])
                four = partial_sum ^ fours[2 * k + 1]
            partial_sum = eight ^ eights[0]
            sixteen = (eight & eights[0]) | (partial_sum & eights[1])
            eight = partial_sum ^ eights[1]
            for byte in range(n_bytes):
                lanes[byte] += BYTE_LANES[(sixteen >> (8 * byte)) & 255]
            rounds += 1
            n_counted += 16
        for byte in range(n_bytes):
            _add_lanes(bit_counts + 8 * byte, lanes[byte], 16)
    # Add the digits that remain in the planes, and count the words after the last block of 16.
    planes[0] = one
    planes[1] = two
    planes[2] = four
    planes[3] = eight
    for k in range(4):
        for byte in range(n_bytes):
            _add_lanes(
                bit_counts + 8 * byte, BYTE_LANES[(planes[k] >> (8 * byte)) & 255], cython.cast(cython.uint, 1) << k
            )
    _count_few_words(words + n_counted, n_words - n_counted, n_bytes, bit_counts)


def _count_few_words(words, n_words, n_bytes, bit_counts):
    """Count the ones of at most 255 words with the table, and add them to `bit_counts`."""
    for byte in range(n_bytes):
        lanes = 0
        for i in range(n_words):
            lanes += BYTE_LANES[(words[i] >> (8 * byte)) & 255]
        _add_lanes(bit_counts + 8 * byte, lanes, 1)


def _add_lanes(bit_counts, lanes, times):
    """Add each of the 8 bytes of `lanes`, times `times`, to the corresponding one of 8 counts."""
    j: cython.int
    for j in range(8):
        bit_counts[j] += times * cython.cast(cython.uint, (lanes >> (8 * j)) & 255)
