"""Count the codes of a column in one node: the histogram from which its split is found.

Codes are categories of a nominal column, or bins of a numeric column in ascending order. A word holds the codes of one
row in several columns, `code_bits` bits each. The words of the rows of a node lie together, sorted by class:

    word of a row   | code of column 3 | code of column 2 | code of column 1 | code of column 0 |

A histogram has a line per code: the weight of every class, or, for regression, the weight and the sum of the
deviations. Only the codes present in the node are listed, so that the cost of a small node depends on its number of
rows, not on the number of categories of the column:

    code        0     1     2     3     4
    counts     5 0   0 0   3 9   0 0   1 1          present = 0, 2, 4

`category_splits.py` searches the histograms of nominal columns, and `bin_splits.py` those of binned numbers. Costs
O(rows) to count, for each column.
"""

import cython
from cython.cimports.libc.string import memset
from cython.cimports.secateur._kernels.context import SQUARED_ERROR, Count, Entry, PackedColumn, weight_of

INSERTION_ITEMS = cython.declare(cython.Py_ssize_t, 8)  # items sorted by insertion before runs are merged
MIN_SHARED_ROWS = cython.declare(cython.int, 8)  # smaller nodes count the columns of a word one by one


def packed_column(context, column, start):
    """Return the packed codes of a column, beginning with the row at position `start`."""
    bit_column = column - context.n_code_slots
    one: cython.ulonglong = 1
    if bit_column < 0:
        per_word: cython.int = 64 // context.code_bits
        words = context.code_words + (column // per_word) * context.n_rows + start
        shift = context.code_bits * cython.cast(cython.int, column % per_word)
        return PackedColumn(words, shift, (one << context.code_bits) - 1)
    if context.bit_words != cython.NULL:
        return PackedColumn(
            context.bit_words + (bit_column >> 6) * context.n_rows + start, cython.cast(cython.int, bit_column & 63), 1
        )
    return PackedColumn(cython.NULL, cython.cast(cython.int, bit_column), 1)


def can_count_codes(context, column, n_rows):
    """Return whether to count all codes of a column: it is numeric, or has at most two codes per row of the node."""
    return context.n_codes[column] <= 2 * n_rows or not context.is_nominal[column]


def count_columns(histogram, context, column, last, start, stats):
    """Count rows of weight 1 by code and class for several columns; return the number of columns that were counted.

    The columns are `column` and those after it that are in the same word, up to `last - 1`. Each column has its own
    table in `histogram.row_counts`, so that the processor can update all tables without waiting.
    """
    n_sums = histogram.n_sums
    bits = context.code_bits
    packed = packed_column(context, column, start)
    shift = packed.shift
    mask = packed.mask
    words = packed.words
    n_columns: cython.int = min(last - column, 64 // bits - shift // bits, histogram.n_tables)
    tables = cython.declare(cython.p_int[4])
    k: cython.int
    # Stop before the first column that cannot be counted, and do not share words in a very small node.
    for k in range(n_columns - 1, 0, -1):
        if stats.n_rows < MIN_SHARED_ROWS or not can_count_codes(context, column + k, stats.n_rows):
            n_columns = k
    for k in range(n_columns):
        n_counts = context.n_codes[column + k] * n_sums
        memset(histogram.row_counts + k * histogram.table_size, 0, n_counts * cython.sizeof(cython.int))
    # Count the words class after class. Read each word once for four columns at a time, and then once for each of the
    # remaining columns.
    for class_index in range(n_sums):
        n_class_rows = cython.cast(cython.Py_ssize_t, stats.counts[class_index])
        k = 0
        while k < n_columns:
            tables[0] = histogram.row_counts + k * histogram.table_size + class_index
            tables[1] = tables[0] + histogram.table_size
            tables[2] = tables[1] + histogram.table_size
            tables[3] = tables[2] + histogram.table_size
            if k + 4 <= n_columns:
                for i in range(n_class_rows):
                    word = words[i] >> (shift + k * bits)
                    tables[0][cython.cast(cython.Py_ssize_t, word & mask) * n_sums] += 1
                    tables[1][cython.cast(cython.Py_ssize_t, (word >> bits) & mask) * n_sums] += 1
                    tables[2][cython.cast(cython.Py_ssize_t, (word >> 2 * bits) & mask) * n_sums] += 1
                    tables[3][cython.cast(cython.Py_ssize_t, (word >> 3 * bits) & mask) * n_sums] += 1
                k += 4
            else:
                for i in range(n_class_rows):
                    tables[0][cython.cast(cython.Py_ssize_t, (words[i] >> (shift + k * bits)) & mask) * n_sums] += 1
                k += 1
        words += n_class_rows
    return n_columns


def fill_from_counts(histogram, counts, n_codes):
    """Fill the histogram of a column from its numbers of rows by code and class; return the number of codes present."""
    n_sums = histogram.n_sums
    n_present: cython.int = 0
    rows: Count
    for code in range(n_codes):
        rows = 0
        for class_index in range(n_sums):
            rows += counts[code * n_sums + class_index]
        if rows == 0:
            continue
        for class_index in range(n_sums):
            histogram.counts[code * n_sums + class_index] = cython.cast(
                cython.double, counts[code * n_sums + class_index]
            )
        histogram.is_present[code] = 1
        histogram.sizes[code] = cython.cast(cython.double, rows)
        histogram.weights[code] = cython.cast(cython.double, rows)
        histogram.present[n_present] = code
        n_present += 1
    return n_present


def fill_from_rows(histogram, context, column, start, entries, stats):
    """Fill the histogram of a column from the rows of the node, with weights; return the number of codes present."""
    n_codes = context.n_codes[column]
    packed = packed_column(context, column, start)
    n_sums = histogram.n_sums
    counts = histogram.counts
    sizes = histogram.sizes
    is_present = histogram.is_present
    present = histogram.present
    low_mask: Entry = context.low_mask
    is_regression: cython.bint = context.criterion.fast_path == SQUARED_ERROR
    n_present: cython.int = 0
    for i in range(stats.n_rows):
        entry = entries[i]
        row = entry >> context.shift
        code = cython.cast(cython.Py_ssize_t, (packed.words[i] >> packed.shift) & packed.mask)
        added = weight_of(context, row)
        if is_regression:
            counts[2 * code] += added
            counts[2 * code + 1] += added * (context.target[row] - stats.centre)
        else:
            counts[code * n_sums + cython.cast(cython.int, (entry & low_mask) >> 1)] += added
        sizes[code] += added if context.has_weight_limits else 1.0
        if not is_present[code]:
            is_present[code] = 1
            present[n_present] = code
            n_present += 1
    _list_present(histogram, n_present, n_codes)
    # Add up the weight of each code.
    for k in range(n_present):
        present_code = present[k]
        weight = 0.0
        for class_index in range(1 if is_regression else n_sums):
            weight += counts[present_code * n_sums + class_index]
        histogram.weights[present_code] = weight
    return n_present


def _list_present(histogram, n_present, n_codes):
    """Put the codes that are present into ascending order.

    If many codes are present, a loop over all codes lists them in order; otherwise the list is sorted.
    """
    present = histogram.present
    place: cython.int
    if n_present * 8 > n_codes:
        place = 0
        for code in range(n_codes):
            if histogram.is_present[code]:
                present[place] = code
                place += 1
        return
    for place in range(n_present):
        histogram.keys[present[place]] = cython.cast(cython.double, present[place])
    sort_by_key(histogram, present, n_present)


def clear_histogram(histogram, n_present):
    """Make the histogram empty again by clearing the lines of the codes that are present."""
    for k in range(n_present):
        code = histogram.present[k]
        histogram.is_present[code] = 0
        histogram.sizes[code] = 0
        for class_index in range(histogram.n_sums):
            histogram.counts[code * histogram.n_sums + class_index] = 0


def sort_by_key(histogram, order, n_items):
    """Sort the first `n_items` elements of `order` by `histogram.keys[element]`; equal keys keep their order."""
    items = order
    keys = histogram.sorted_keys
    merged_items = histogram.merged_items
    merged_keys = histogram.merged_keys
    start: cython.Py_ssize_t = 0
    width = INSERTION_ITEMS
    # Sort runs of 8 items by insertion.
    while start < n_items:
        _sort_run(histogram.keys, order, keys, start, min(n_items, start + INSERTION_ITEMS))
        start += INSERTION_ITEMS
    # Merge pairs of neighbouring runs into the other array, and swap the arrays, until one run is left.
    while width < n_items:
        start = 0
        while start < n_items:
            middle = min(n_items, start + width)
            end = min(n_items, middle + width)
            _merge_runs(items, keys, start, middle, end, merged_items, merged_keys)
            start = end
        items, merged_items = merged_items, items
        keys, merged_keys = merged_keys, keys
        width *= 2
    if items != order:
        for place in range(n_items):
            order[place] = items[place]


def _sort_run(key_of_item, order, keys, start, end):
    """Sort the items of a run by insertion, and write their keys in the same order to `keys`."""
    for next_place in range(start, end):
        item = order[next_place]
        key = key_of_item[item]
        place = next_place
        while place > start and key < keys[place - 1]:
            order[place] = order[place - 1]
            keys[place] = keys[place - 1]
            place -= 1
        order[place] = item
        keys[place] = key


def _merge_runs(items, keys, start, middle, end, merged_items, merged_keys):
    """Merge two sorted runs, from `start` to `middle` and from there to `end`; of equal keys, the left one is first."""
    left = start
    right = middle
    place = start
    is_right: cython.int
    while left < middle and right < end:
        is_right = keys[right] < keys[left]
        source = right if is_right else left
        merged_keys[place] = keys[source]
        merged_items[place] = items[source]
        left += 1 - is_right
        right += is_right
        place += 1
    if left == middle:
        left, middle = right, end
    # One run is used up: copy the rest of the other.
    while left < middle:
        merged_keys[place] = keys[left]
        merged_items[place] = items[left]
        left += 1
        place += 1
