"""Find the best split on a column of codes in one node, from sums per code.

Codes are categories of a nominal column, or bins of a numeric column in ascending order. Words hold the codes of
several columns, `code_bits` bits each. The words of a node lie together, class after class:

    word of a row   | code of column 3 | code of column 2 | code of column 1 | code of column 0 |

A histogram has a line per code: the weight of every class, or, for regression, the weight and the sum of the
deviations. Only the codes present in the node are listed, so that the cost of a small node depends on its number of
rows, not on the number of categories of the column:

    code        0     1     2     3     4
    counts     5 0   0 0   3 9   0 0   1 1          present = 0, 2, 4

Numeric bins: a threshold lies between two neighbouring codes that are present. The arithmetic is that of the scans of
lists, once per code instead of once per row. Equal counts give equal scores to the last bit, so a tree grown from
histograms is the tree grown from the rows. Costs O(rows) to count and O(codes) to scan.

Nominal columns: a subset of the categories is split from the rest. The child with the lowest category present is child
0. Of tied subsets, the one whose child 0 comes first as a sorted list of categories wins; with more than 63 categories
in the node, the first one that is tried wins. With m categories in the node, the search costs O(rows) to count, and
then O(m log m) for prefixes, or O(2^m) for all subsets of at most 10 categories.
"""

import cython
from cython.cimports.libc.math import INFINITY, sqrt
from cython.cimports.libc.string import memset
from cython.cimports.secateur._kernels.context import (
    ENTROPY_TABLE,
    GINI,
    SQRT,
    SQUARED_ERROR,
    UNSEEN_CATEGORY,
    BestThreshold,
    Context,
    Count,
    Criterion,
    Entry,
    Histogram,
    NodeStats,
    PackedColumn,
    Scratch,
    weight_of,
)
from cython.cimports.secateur._kernels.criteria import impurity_of

SLACK = cython.declare(cython.double, 1e-9)  # share of the impurity of the node: far more than any rounding error
INSERTION_ITEMS = cython.declare(cython.Py_ssize_t, 8)  # items sorted by insertion before runs are merged
MAX_ANY_DEPTH_CATEGORIES = cython.declare(cython.longlong, 1000)  # columns of at most this number split at any depth
MAX_LEVEL_BRANCHES_LOG2 = cython.declare(cython.longlong, 24)  # see `can_split_categories`
MIN_SHARED_ROWS = cython.declare(cython.int, 8)  # rows from which all columns of a word are counted at the same time
MAX_EXHAUSTIVE_CATEGORIES = cython.declare(cython.int, 10)
# Subsets are compared as masks of 63 bits. With more categories, ties between subsets are not compared.
MAX_ORDERED_CATEGORIES = cython.declare(cython.int, 63)


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
    """Return whether a node of `n_rows` rows is large enough to loop over all codes of a column, present or not."""
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


def bound_gain_of_two(context, row_counts, n_codes, stats, bound):
    """Write an upper bound of the gain of all subsets to `bound`; return the number of categories in the node.

    The bound is the gain of a split with one child per category. For two classes, a category with a rows of one class
    and b rows of the other has the impurity 2 a b / (a + b) by gini, and sqrt(a b) by sqrt.
    """
    is_gini: cython.bint = context.criterion.fast_path == GINI
    n_sums = context.n_sums
    n_present: cython.int = 0
    impurities: cython.double = 0
    for code in range(n_codes):
        last_rows: cython.double = row_counts[code * n_sums + stats.last_class]
        first_rows: cython.double = row_counts[code * n_sums + stats.first_class]
        n_present += last_rows + first_rows > 0
        if is_gini:
            impurities += last_rows * first_rows / max(last_rows + first_rows, 1.0)
        else:
            impurities += sqrt(last_rows * first_rows)
    bound[0] = stats.impurity - (2 * impurities if is_gini else impurities)
    return n_present


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
    _sort_by_key(histogram, present, n_present)


def clear_histogram(histogram, n_present):
    """Make the histogram empty again by clearing the lines of the codes that are present."""
    for k in range(n_present):
        code = histogram.present[k]
        histogram.is_present[code] = 0
        histogram.sizes[code] = 0
        for class_index in range(histogram.n_sums):
            histogram.counts[code * histogram.n_sums + class_index] = 0


def _sort_by_key(histogram, order, n_items):
    """Sort the first `n_items` elements of `order` by `histogram.keys[element]`; equal keys keep their order."""
    items = order
    keys = histogram.sorted_keys
    merged_items = histogram.merged_items
    merged_keys = histogram.merged_keys
    start: cython.Py_ssize_t = 0
    width = INSERTION_ITEMS
    is_right: cython.int
    # Sort runs of 8 items by insertion.
    while start < n_items:
        for next_place in range(start, min(n_items, start + INSERTION_ITEMS)):
            item = order[next_place]
            key = histogram.keys[item]
            place = next_place
            while place > start and key < keys[place - 1]:
                order[place] = order[place - 1]
                keys[place] = keys[place - 1]
                place -= 1
            order[place] = item
            keys[place] = key
        start += INSERTION_ITEMS
    # Merge pairs of neighbouring runs into the other array, and swap the arrays, until one run is left.
    while width < n_items:
        start = 0
        while start < n_items:
            middle = min(n_items, start + width)
            end = min(n_items, middle + width)
            left = start
            right = middle
            place = start
            while left < middle and right < end:
                is_right = keys[right] < keys[left]
                source = right if is_right else left
                merged_keys[place] = keys[source]
                merged_items[place] = items[source]
                left += 1 - is_right
                right += is_right
                place += 1
            while left < middle:
                merged_keys[place] = keys[left]
                merged_items[place] = items[left]
                left += 1
                place += 1
            while right < end:
                merged_keys[place] = keys[right]
                merged_items[place] = items[right]
                right += 1
                place += 1
            start = end
        swap_items = items
        items = merged_items
        merged_items = swap_items
        swap_keys = keys
        keys = merged_keys
        merged_keys = swap_keys
        width *= 2
    if items != order:
        for place in range(n_items):
            order[place] = items[place]


def can_split_categories(n_codes, depth):
    """Return whether nodes at a depth may split on a column of `n_codes` categories.

    A split stores the child of every category, and a level has up to 2**depth splits. A column of more than 1,000
    categories is not split at depths where the splits of one level could store more than 2**24 children.
    """
    return n_codes <= MAX_ANY_DEPTH_CATEGORIES or (
        depth < MAX_LEVEL_BRANCHES_LOG2
        and (n_codes << depth) <= (cython.cast(cython.longlong, 1) << MAX_LEVEL_BRANCHES_LOG2)
    )


def multiway_gain(criterion, histogram, n_present, stats, min_branch, min_large_branch):
    """Return the gain of a split with one branch per category.

    The gain is minus infinity if the split is not allowed: a branch is smaller than `min_branch`, or fewer than two
    branches reach `min_large_branch`.
    """
    is_regression: cython.bint = criterion.fast_path == SQUARED_ERROR
    gain = -stats.deviation * stats.deviation / stats.weight if is_regression else stats.impurity
    n_large: cython.int = 0
    for k in range(n_present):
        code = histogram.present[k]
        if histogram.sizes[code] < min_branch:
            return -INFINITY
        n_large += histogram.sizes[code] >= min_large_branch
        line = histogram.counts + code * histogram.n_sums
        if is_regression:
            gain += line[1] * line[1] / histogram.weights[code]
        else:
            gain -= impurity_of(criterion, line, histogram.n_sums, histogram.weights[code])
    return gain if n_large >= 2 else -INFINITY


def best_subset(context, histogram, n_present, n_codes, stats, best):
    """Find the best subset of categories against the rest; return whether its gain exceeds `best` by more than a tie.

    Writes the gain to `best`, and the child of each category to `histogram.branch`. There are two ways to search:

    All subsets are tried if the node has at most 10 categories and a prefix might not be the best subset. That is
    possible with more than two classes, or if a category is smaller than the minimum size of a child.

    Otherwise, prefixes are tried: the categories are ordered by the share of a class, and the first categories of this
    order are split from the others, for each class in turn. With two classes, the best subset is a prefix for every
    concave criterion. The second class is then tried only if some shares are equal, so that the result does not depend
    on the order of the classes. With more classes, or if the best prefix is too small, the best subset may be missed.

    In regression, the categories are ordered by their means, and the best subset is a prefix. The gain of one child per
    category is an upper bound. If this bound is no more than a tie, the means differ by rounding errors only, and the
    categories are tried in the order of their codes instead.
    """
    search: SubsetSearch
    criterion = cython.address(context.criterion)
    n_sums = histogram.n_sums
    is_regression: cython.bint = criterion.fast_path == SQUARED_ERROR
    is_noise: cython.bint = False
    one: cython.ulonglong = 1
    search.score = best[0]
    search.has_best = False
    search.best_mask = 0
    search.full_mask = (one << (min(MAX_ORDERED_CATEGORIES, n_present))) - 1
    search.is_gini_of_two = criterion.fast_path == GINI and n_sums == 2 and context.row_weight == cython.NULL
    search.slack = stats.tie + SLACK * stats.impurity
    if n_present <= MAX_EXHAUSTIVE_CATEGORIES and (
        (not is_regression and n_sums > 2) or _is_any_below(histogram, n_present, stats.min_child_size)
    ):
        _search_all_subsets(criterion, histogram, n_present, stats, cython.address(search))
    elif is_regression:
        is_noise = multiway_gain(criterion, histogram, n_present, stats, -INFINITY, -INFINITY) <= stats.tie
        _search_prefixes(criterion, histogram, n_present, 1, is_noise, stats, cython.address(search))
    else:
        for class_index in range(n_sums):
            has_distinct_shares = _search_prefixes(
                criterion, histogram, n_present, class_index, False, stats, cython.address(search)
            )
            if has_distinct_shares and n_sums == 2:
                break
    best[0] = search.score
    if not search.has_best:
        return False
    for code in range(n_codes):
        if not histogram.is_present[code]:
            histogram.branch[code] = UNSEEN_CATEGORY
    return True


def _search_all_subsets(criterion, histogram, n_present, stats, search):
    """Try all subsets in the order of a Gray code, in which each step moves one category to the other child.

    The first step moves the lowest category to the left, where it stays, so that no subset is tried twice.
    """
    one: cython.ulonglong = 1
    category: cython.int
    n_steps: cython.int = 1 << (n_present - 1)
    _start_search(histogram, n_present, search)
    for step in range(n_steps):
        # A step whose number has its lowest 1 bit at position b moves category b + 1.
        category = 0
        if step > 0:
            while not (step >> category) & 1:
                category += 1
            category += 1
        bit = one << category
        _move_category(histogram, histogram.present[category], -1.0 if search.mask & bit else 1.0, bit, search)
        _try_subset(criterion, histogram, n_present, stats, search)
    if search.has_best:
        for category in range(n_present):
            histogram.branch[histogram.present[category]] = 0 if (search.best_mask >> category) & 1 else 1


def _search_prefixes(criterion, histogram, n_present, sum_index, is_noise, stats, search):
    """Try the prefixes of the categories in the order of a share; return whether all shares are different.

    The share of a category is its sum number `sum_index` divided by its weight: the share of a class, or the mean of
    the target. If `is_noise`, the shares differ by rounding errors only, and the order of the codes is used instead.
    Shares are compared for two classes only; otherwise the result is True.
    """
    one: cython.ulonglong = 1
    present = histogram.present
    order = histogram.order
    best_step: cython.Py_ssize_t = -1
    category: cython.int
    step: cython.Py_ssize_t
    is_distinct: cython.bint = True
    _start_search(histogram, n_present, search)
    # Order the categories by share.
    for category in range(n_present):
        order[category] = category
        code = present[category]
        share = histogram.counts[code * histogram.n_sums + sum_index] / histogram.weights[code]
        histogram.keys[category] = 0.0 if is_noise else share
    _sort_by_key(histogram, order, n_present)
    # Move one category after the other to the left.
    for step in range(n_present - 1):
        category = cython.cast(cython.int, order[step])
        bit = one << (min(MAX_ORDERED_CATEGORIES, category))
        _move_category(histogram, present[category], 1.0, bit, search)
        if _try_subset(criterion, histogram, n_present, stats, search):
            best_step = step
    for step in range(1, n_present if histogram.n_sums == 2 else 0):
        is_distinct = is_distinct and histogram.keys[order[step - 1]] != histogram.keys[order[step]]
    # Write the children of the best prefix; the lowest category goes to child 0.
    if best_step >= 0:
        for step in range(n_present):
            histogram.branch[present[order[step]]] = 0 if step <= best_step else 1
        if histogram.branch[present[0]] == 1:
            for category in range(n_present):
                histogram.branch[present[category]] = 1 - histogram.branch[present[category]]
    return is_distinct


def _start_search(histogram, n_present, search):
    """Start a search with all categories on the right: set the sums of the left side to 0, and add up the right."""
    n_sums = histogram.n_sums
    search.mask = 0
    search.left_weight = 0
    search.left_size = 0
    search.node_weight = 0
    search.node_size = 0
    for class_index in range(n_sums):
        histogram.left[class_index] = 0
        histogram.right[class_index] = 0
    for k in range(n_present):
        code = histogram.present[k]
        search.node_weight += histogram.weights[code]
        search.node_size += histogram.sizes[code]
        for class_index in range(n_sums):
            histogram.right[class_index] += histogram.counts[code * n_sums + class_index]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _move_category(
    histogram: cython.pointer[Histogram],
    code: cython.Py_ssize_t,
    sign: cython.double,
    bit: cython.ulonglong,
    search: cython.pointer[SubsetSearch],
) -> cython.void:
    """Move a category to the left (sign 1) or back to the right (sign -1); `bit` is its bit in the mask."""
    line = histogram.counts + code * histogram.n_sums
    search.mask ^= bit
    for sum_index in range(histogram.n_sums):
        histogram.left[sum_index] += sign * line[sum_index]
        histogram.right[sum_index] -= sign * line[sum_index]
    search.left_weight += sign * histogram.weights[code]
    search.left_size += sign * histogram.sizes[code]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _try_subset(
    criterion: cython.pointer[Criterion],
    histogram: cython.pointer[Histogram],
    n_present: cython.int,
    stats: cython.pointer[NodeStats],
    search: cython.pointer[SubsetSearch],
) -> cython.bint:
    """Replace the best subset by the subset on the left if that is better; return whether it was replaced."""
    min_size = stats.min_child_size
    node_weight = search.node_weight
    left_weight = search.left_weight
    has_order: cython.bint = n_present <= MAX_ORDERED_CATEGORIES
    if search.left_size < min_size or search.node_size - search.left_size < min_size:
        return False
    if has_order and search.mask == search.full_mask:
        return False
    if search.is_gini_of_two:  # decide without division whether the subset can win or tie
        excess = histogram.left[1] * node_weight - stats.counts[1] * left_weight
        product = node_weight * (left_weight * (node_weight - left_weight))
        if 2 * (excess * excess) < (search.score - search.slack) * product:
            return False
    gain = _subset_gain(criterion, histogram, stats, left_weight, node_weight)
    mask = search.mask if search.mask & 1 else search.mask ^ search.full_mask
    if not gain > search.score + stats.tie:
        is_tied: cython.bint = search.has_best and has_order and gain >= search.score - stats.tie
        if not is_tied or not _comes_first(mask, search.best_mask):
            return False
    search.score = max(search.score, gain)
    search.best_mask = mask
    search.has_best = True
    return True


def _is_any_below(histogram, n_present, min_size):
    """Return whether any category in the node is smaller than `min_size`. If not, every subset is large enough."""
    for t in range(n_present):
        if histogram.sizes[histogram.present[t]] < min_size:
            return True
    return False


def _comes_first(first, second):
    """Return whether set `first` comes before set `second` when both are compared as sorted lists of their elements."""
    differing = first ^ second
    lowest = differing & (~differing + 1)
    higher: cython.ulonglong = ~(lowest | (lowest - 1))
    if first & lowest:
        return (second & higher) != 0
    return (first & higher) == 0


def _subset_gain(criterion, histogram, stats, left_weight, node_weight):
    """Return the gain of the subset on the left against the rest."""
    right_weight = node_weight - left_weight
    left_impurity = right_impurity = 0.0
    n_sums = histogram.n_sums
    if criterion.fast_path == GINI and left_weight > 0 and right_weight > 0:  # saves two calls of `impurity_of`
        for class_index in range(n_sums):
            left_impurity += histogram.left[class_index] * (left_weight - histogram.left[class_index])
            right_impurity += histogram.right[class_index] * (right_weight - histogram.right[class_index])
        return stats.impurity - left_impurity / left_weight - right_impurity / right_weight
    if criterion.fast_path == SQUARED_ERROR:
        excess = histogram.left[1] * stats.weight - stats.deviation * left_weight
        return excess * excess / (stats.weight * (left_weight * (stats.weight - left_weight)))
    return (
        stats.impurity
        - impurity_of(criterion, histogram.left, n_sums, left_weight)
        - impurity_of(criterion, histogram.right, n_sums, right_weight)
    )


def best_code_threshold(context, scratch, codes, n_codes, has_missing, stats, best):
    """Find the best threshold between codes from the number of rows of each code and class.

    Returns False if all rows of the node have the same code, so that there is no threshold. With `has_missing`, the
    line after the codes counts the rows whose value is missing. These rows are tried on both sides of every threshold,
    and are also split from all other rows.
    """
    n_classes: cython.Py_ssize_t = context.n_sums
    left = scratch.left
    missing = codes + n_codes * n_classes
    n_missing = _rows_of_code(missing, n_classes) if has_missing else 0.0
    n_left = 0.0
    threshold = BestThreshold(0, -1, -1, -1)
    code: cython.Py_ssize_t
    if n_missing == 0 and n_classes == 2 and stats.n_present_classes == 2 and context.criterion.fast_path == GINI:
        return _threshold_by_gini_of_two(codes, n_codes, stats, best)
    for class_index in range(n_classes):
        left[class_index] = 0
    for code in range(n_codes + (n_missing > 0)):
        n_code_rows = _rows_of_code(codes + code * n_classes, n_classes)
        if n_code_rows == 0:
            continue
        if n_code_rows == stats.weight:
            return False
        if n_left > 0:
            threshold.above = code if code < n_codes else -1
            threshold.missing_child = 1 if n_missing > 0 else -1
            _try_code_threshold(context, scratch, n_left, n_missing == 0, cython.address(threshold), stats, best)
            if n_missing > 0 and code < n_codes:
                _add_code(missing, 1, n_classes, left)
                threshold.missing_child = 0
                _try_code_threshold(context, scratch, n_left + n_missing, False, cython.address(threshold), stats, best)
                _add_code(missing, -1, n_classes, left)
        # Move the rows of the code to the left.
        for class_index in range(n_classes):
            left[class_index] += codes[code * n_classes + class_index]
        n_left += n_code_rows
        threshold.position = code
        if n_left == stats.weight:
            break
    return True


def _try_code_threshold(context, scratch, n_left, is_plain, threshold, stats, best):
    """Replace `best` by a threshold with `n_left` rows on the left, if that is better by more than a tie."""
    if n_left < stats.min_child_size or stats.weight - n_left < stats.min_child_size:
        return
    score = _threshold_score(context, scratch, n_left, is_plain, stats)
    if score > best.score + stats.tie:
        best[0] = threshold[0]
        best.score = score


def _rows_of_code(line, n_classes):
    """Return the number of rows of one code."""
    rows: Count = 0
    for c in range(n_classes):
        rows += line[c]
    return cython.cast(cython.double, rows)


def _as_index(x):
    """Return a whole number of rows as an index of the entropy table."""
    return cython.cast(cython.Py_ssize_t, x)


def _add_code(line, times, n_classes, left):
    """Add the rows of one code to the left; `times` is 1, or -1 to take them away again."""
    for c in range(n_classes):
        left[c] += cython.cast(cython.double, times * line[c])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _threshold_score(
    context: cython.pointer[Context],
    scratch: cython.pointer[Scratch],
    n_left: cython.double,
    is_plain: cython.bint,
    stats: cython.pointer[NodeStats],
) -> cython.double:
    """Return the gain of a threshold with `n_left` rows on the left.

    The operations are those of the scan of a list (`scan.py`), so that the gain is equal to the last bit. `is_plain`
    says that no value is missing in the node.
    """
    criterion = cython.address(context.criterion)
    n_classes = context.n_sums
    left = scratch.left
    counts = stats.counts
    n = stats.weight
    table = criterion.table
    product = n_left * (n - n_left)
    squares = products = impurities = 0.0
    if criterion.fast_path == GINI and stats.n_present_classes == 2:
        excess = left[stats.last_class] * n - counts[stats.last_class] * n_left
        return 2 * (excess * excess) / (n * product)
    if criterion.fast_path == ENTROPY_TABLE:
        units = stats.entropy_units - table[_as_index(n_left)] - table[_as_index(n - n_left)]
        for class_index in range(n_classes):
            units += table[_as_index(left[class_index])] + table[_as_index(counts[class_index] - left[class_index])]
        return 0.5 * criterion.unit * units
    if is_plain and criterion.fast_path == GINI:
        for class_index in range(n_classes):
            squares += left[class_index] * left[class_index]
            products += counts[class_index] * left[class_index]
        return (squares * n + (stats.sum_of_squares - 2 * products) * n_left) / product - stats.sum_of_squares / n
    if is_plain and criterion.fast_path == SQRT:
        for class_index in range(1 if n_classes == 2 else 0, n_classes):
            right_count = counts[class_index] - left[class_index]
            left_product = left[class_index] * (n_left - left[class_index])
            impurities += sqrt(left_product) + sqrt(right_count * (n - n_left - right_count))
        return stats.impurity - (impurities if n_classes == 2 else 0.5 * impurities)
    for class_index in range(n_classes):
        scratch.right[class_index] = counts[class_index] - left[class_index]
    return (
        stats.impurity
        - impurity_of(criterion, left, n_classes, n_left)
        - impurity_of(criterion, scratch.right, n_classes, n - n_left)
    )


def _threshold_by_gini_of_two(codes, n_codes, stats, best):
    """Find the best threshold by gini of two classes; return False if all rows have the same code.

    Codes are skipped in blocks of 16 by the bound that `scan._scan_gini_two_classes` computes for blocks of rows.
    """
    n = stats.weight
    n_ones = stats.counts[1]
    limit = (best.score + stats.tie) * n / 2
    left_ones = n_left = 0.0
    zeros_here: Count
    ones_here: Count
    start: cython.longlong = 0
    above: cython.longlong = -1
    while start < n_codes:
        end = min(n_codes, start + BLOCK_CODES)
        # Count the block.
        zeros_here = 0
        ones_here = 0
        if end - start == BLOCK_CODES:  # compilers turn loops of constant length into vector instructions
            for k in range(BLOCK_CODES):
                zeros_here += codes[2 * (start + k)]
                ones_here += codes[2 * (start + k) + 1]
        else:
            for code in range(start, end):
                zeros_here += codes[2 * code]
                ones_here += codes[2 * code + 1]
        n_code_rows = cython.cast(cython.double, zeros_here + ones_here)
        end_left = n_left + n_code_rows
        # Skip the block if no threshold in the block can win.
        excess = left_ones * n - n_ones * n_left
        excess = max(excess + ones_here * (n - n_ones), zeros_here * n_ones - excess)
        product = min(n_left * (n - n_left), end_left * (n - end_left))
        if n_code_rows == 0 or excess * excess <= limit * product:
            left_ones += ones_here
            n_left = end_left
            start = end
            continue
        # Try the threshold below each code of the block.
        for code in range(start, end):
            n_code_rows = cython.cast(cython.double, codes[2 * code] + codes[2 * code + 1])
            if n_code_rows == 0:
                continue
            if n_code_rows == n:
                return False
            excess = left_ones * n - n_ones * n_left
            product = n_left * (n - n_left)
            if (
                excess * excess > limit * product
                and n_left >= stats.min_child_size
                and n - n_left >= stats.min_child_size
                and n_left > 0
            ):
                best.score = 2 * (excess * excess) / (n * product)
                limit = (best.score + stats.tie) * n / 2
                above = code
            left_ones += codes[2 * code + 1]
            n_left += n_code_rows
        start = end
    if above >= 0:
        below = above - 1
        while codes[2 * below] + codes[2 * below + 1] == 0:
            below -= 1
        best.above = above
        best.position = below
    return True
