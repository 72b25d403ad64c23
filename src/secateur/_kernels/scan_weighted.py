"""Scan presorted lists by squared error and gini where rows may have weights and values may be missing.

The sums at a threshold are real numbers, so no block can be skipped by counting its rows. Rows whose value is missing
are tried on the right and on the left of each threshold. `scan.py` describes entries, thresholds, blocks and the names
of the phases. Costs O(rows).
"""

import cython
from cython.cimports.secateur._kernels.context import BLOCK_ROWS, SQUARED_ERROR, Entry, weight_of
from cython.cimports.secateur._kernels.scan_weighted import QuadraticState


def scan_quadratic(context, entries, n_missing, stats, best):
    """Scan by squared error, or by gini of two classes, with weights and missing values.

    The gain is

        factor excess^2 / (weight left_weight (weight - left_weight)), where

        weight, left_weight     weight of the node, and of the rows on the left
        node_sum, left_sum      regression: sum of the deviations of the node, and of the rows on the left
                                gini of two classes: weight of the last class in the node, and on the left
        factor                  regression: 1; gini of two classes: 2
        excess                  left_sum * weight - node_sum * left_weight

    The sums on the left of each threshold of a block are computed in one of three loops. The first counts the rows of
    the last class ("ones"), if all rows of a class have the same weight. The second adds up deviations, if every row
    weighs 1. The third adds up the weights of the rows, too.
    """
    state: QuadraticState
    is_regression: cython.bint = context.criterion.fast_path == SQUARED_ERROR
    is_counted: cython.bint = not is_regression and (
        context.row_weight == cython.NULL or context.weight_of_class != cython.NULL
    )
    end: cython.Py_ssize_t = stats.n_rows - n_missing + (n_missing > 0)
    start: cython.Py_ssize_t = 0
    hits: Entry
    _start_quadratic(context, entries, n_missing, stats, best, cython.address(state))
    while start < end:  # the entry before the first threshold is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, min(BLOCK_ROWS, end - start))
        block = entries + start
        # Sum up.
        if is_counted:
            _count_ones(context, block, start, size, stats, cython.address(state))
        elif is_regression and context.row_weight == cython.NULL:
            _add_deviations(context, block, start, size, stats, cython.address(state))
        else:
            _add_weights(context, block, size, stats, cython.address(state))
        if start > 0:
            # Screen all thresholds with the missing rows on the right, then on the left.
            hits = _screen_quadratic(block, size, cython.address(state), False)
            if n_missing > 0:
                hits |= _screen_quadratic(block, size, cython.address(state), True)
            if hits & 1:
                _score_quadratic(context, block, start, size, n_missing, stats, cython.address(state), best)
        start += size


def _start_quadratic(context, entries, n_missing, stats, best, state):
    """Start a scan with no rows on the left: write the sums of the node and of its missing rows to `state`."""
    is_regression: cython.bint = context.criterion.fast_path == SQUARED_ERROR
    label: Entry = 0 if is_regression else stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    missing_sum = missing_weight = 0.0
    state.weight = stats.weight
    state.node_sum = stats.deviation if is_regression else stats.counts[stats.last_class]
    state.factor = 1.0 if is_regression else 2.0
    state.limit = (best.score + stats.tie) * stats.weight / state.factor
    state.left_sum = state.left_weight = 0
    state.n_ones = 0
    for i in range(stats.n_rows - n_missing, stats.n_rows):
        row = entries[i] >> context.shift
        added = weight_of(context, row)
        missing_weight += added
        if is_regression:
            missing_sum += added * (context.target[row] - stats.centre)
        elif (entries[i] & label_mask) == label:
            missing_sum += added
    state.missing_sum = missing_sum
    state.missing_weight = missing_weight
    state.missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)


def _count_ones(context, block, start, size, stats, state):
    """Write the sums on the left of each threshold of a block, if all rows of a class have the same weight."""
    label: Entry = stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    n_before = cython.cast(cython.double, start)
    first_class_weight = last_class_weight = 1.0
    n_ones = state.n_ones
    k: cython.int
    if context.weight_of_class != cython.NULL:
        first_class_weight = context.weight_of_class[stats.first_class]
        last_class_weight = context.weight_of_class[stats.last_class]
    for k in range(size):
        state.left_sum_at[k] = n_ones
        n_ones += cython.cast(cython.int, (block[k] & label_mask) == label)
    for k in range(size):
        sum_here = state.left_sum_at[k] * last_class_weight
        state.left_weight_at[k] = first_class_weight * (n_before + k - state.left_sum_at[k]) + sum_here
        state.left_sum_at[k] = sum_here
    state.n_ones = n_ones


def _add_deviations(context, block, start, size, stats, state):
    """Write the sums on the left of each threshold of a block, for regression of rows of weight 1."""
    n_before = cython.cast(cython.double, start)
    shift = context.shift
    target = context.target
    centre = stats.centre
    left_sum = state.left_sum
    k: cython.int
    for k in range(size):
        state.left_sum_at[k] = left_sum
        state.left_weight_at[k] = n_before + k
        left_sum += target[block[k] >> shift] - centre
    state.left_sum = left_sum


def _add_weights(context, block, size, stats, state):
    """Write the sums on the left of each threshold of a block, for rows with any weights."""
    is_regression: cython.bint = context.criterion.fast_path == SQUARED_ERROR
    label: Entry = 0 if is_regression else stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    shift = context.shift
    target = context.target
    row_weight = context.row_weight
    centre = stats.centre
    left_sum = state.left_sum
    left_weight = state.left_weight
    k: cython.int
    for k in range(size):
        state.left_sum_at[k] = left_sum
        state.left_weight_at[k] = left_weight
        entry = block[k]
        added = row_weight[entry >> shift]
        left_weight += added
        if is_regression:
            left_sum += added * (target[entry >> shift] - centre)
        else:
            left_sum += added if (entry & label_mask) == label else 0.0
    state.left_sum = left_sum
    state.left_weight = left_weight


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _screen_quadratic(
    block: cython.pointer[Entry],
    size: cython.int,
    state: cython.pointer[QuadraticState],
    is_missing_left: cython.bint,
) -> Entry:
    """Return the bitwise or of the entries of a block whose thresholds may win, with the missing rows on one side."""
    hits: Entry = 0
    k: cython.int
    for k in range(size):
        left_weight = state.left_weight_at[k]
        left_sum = state.left_sum_at[k]
        if is_missing_left:
            left_weight += state.missing_weight
            left_sum += state.missing_sum
        excess = left_sum * state.weight - state.node_sum * left_weight
        entry = block[k]
        hits |= entry if excess * excess > state.limit * (left_weight * (state.weight - left_weight)) else 0
    return hits


def _score_quadratic(context, block, start, size, n_missing, stats, state, best):
    """Replace `best` by the best threshold of a block."""
    weight = state.weight
    node_sum = state.node_sum
    missing_weight = state.missing_weight
    missing_sum = state.missing_sum
    limit = state.limit
    n_before = cython.cast(cython.double, start)
    n_known = stats.n_rows - n_missing
    k: cython.int
    is_missing_left: cython.int
    for k in range(size):
        if not block[k] & 1:
            continue
        for is_missing_left in range(2 if n_missing > 0 and start + k < n_known else 1):
            left_weight = state.left_weight_at[k] + is_missing_left * missing_weight
            excess = (state.left_sum_at[k] + is_missing_left * missing_sum) * weight - node_sum * left_weight
            product = left_weight * (weight - left_weight)
            if excess * excess > limit * product and product > 0:
                left_size = state.left_weight_at[k] if context.has_weight_limits else n_before + k
                left_size += is_missing_left * state.missing_size
                if left_size >= stats.min_child_size and stats.size - left_size >= stats.min_child_size:
                    best.score = state.factor * (excess * excess) / (weight * product)
                    limit = (best.score + stats.tie) * weight / state.factor
                    best.position = start + k
                    best.missing_child = 1 - is_missing_left
    state.limit = limit


def sum_missing(context, scratch, entries, n_missing, stats):
    """Return the weight of the missing rows, and write the weight of each class among them to `scratch.missing`.

    `scratch.left` is set to 0, because a scan starts with no rows on the left.
    """
    low_mask: Entry = context.low_mask
    weight = 0.0
    for class_index in range(context.n_sums):
        scratch.left[class_index] = 0
        scratch.missing[class_index] = 0
    for i in range(stats.n_rows - n_missing, stats.n_rows):
        entry = entries[i]
        scratch.missing[(entry & low_mask) >> 1] += weight_of(context, entry >> context.shift)
    for class_index in range(context.n_sums if n_missing > 0 else 0):
        weight += scratch.missing[class_index]
    return weight


def _gini_gain(left, missing, is_missing_left, n_classes, left_weight, stats):
    """Return the gain of a threshold, computed from the definition of gini.

    `left` holds the weight of each class on the left without the missing rows, and `missing` that of the missing rows,
    which are on the left if `is_missing_left` is 1, and on the right if 0. `left_weight` is the weight of all rows on
    the left.
    """
    left_impurity = right_impurity = 0.0
    right_weight = stats.weight - left_weight
    for class_index in range(n_classes):
        class_weight = left[class_index] + is_missing_left * missing[class_index]
        left_impurity += class_weight * (left_weight - class_weight)
        class_weight = stats.counts[class_index] - class_weight
        right_impurity += class_weight * (right_weight - class_weight)
    return stats.impurity - left_impurity / left_weight - right_impurity / right_weight


def scan_weighted_gini(context, scratch, entries, n_missing, stats, best):
    """Scan by gini of more than two classes, with weights and missing values.

    The screen is that of `scan_gini`, but no block is skipped. Sums of squares of weights have rounding errors.
    Therefore they only serve as a screen, and `_gini_gain` computes the score of each threshold that passes.

    The phases stay in one function, because one function per phase took a quarter more instructions.
    """
    squares_at = cython.declare(cython.double[64])
    cross_at = cython.declare(cython.double[64])
    left_weight_at = cython.declare(cython.double[64])
    missing_cross_at = cython.declare(cython.double[64])
    n_classes = context.n_sums
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    end: cython.Py_ssize_t = n_known + (n_missing > 0)
    weight = stats.weight
    min_size = stats.min_child_size
    counts = stats.counts
    left = scratch.left
    missing = scratch.missing
    weight_of_class = context.weight_of_class
    row_weight = context.row_weight
    shift = context.shift
    low_mask: Entry = context.low_mask
    hits: Entry
    node_squares = stats.sum_of_squares
    # Sums over the classes: of left^2, left * counts and left * missing, and of missing^2 and missing * counts.
    squares = products = missing_cross = left_weight = missing_squares = missing_products = 0.0
    start: cython.Py_ssize_t = 0
    k: cython.int
    is_missing_left: cython.int
    size: cython.int
    is_large: cython.bint
    missing_weight = sum_missing(context, scratch, entries, n_missing, stats)
    for class_index in range(n_classes):
        missing_squares += missing[class_index] * missing[class_index]
        missing_products += missing[class_index] * counts[class_index]
    missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)
    node_score = node_squares / weight
    # More than the rounding error of `scaled_score`, a difference of large numbers.
    slack = 1e-12 * weight * weight * weight
    limit = best.score + stats.tie + node_score
    while start < end:  # the entry before the first threshold is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, end - start) if end - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        # Sum up: the sums before each threshold, without the missing rows.
        for k in range(size):
            squares_at[k] = squares
            cross_at[k] = node_squares - 2 * products
            left_weight_at[k] = left_weight
            missing_cross_at[k] = missing_cross
            entry = block[k]
            label = (entry & low_mask) >> 1
            if weight_of_class != cython.NULL:
                added = weight_of_class[label]
            elif row_weight != cython.NULL:
                added = row_weight[entry >> shift]
            else:
                added = 1.0
            squares += added * (2 * left[label] + added)
            left[label] += added
            products += added * counts[label]
            missing_cross += added * missing[label]
            left_weight += added
        if start == 0:
            start = 1
            continue
        # Screen all thresholds with the missing rows on the right, then on the left.
        hits = 0
        for k in range(size):
            scaled_score = squares_at[k] * weight + cross_at[k] * left_weight_at[k] + slack
            entry = block[k]
            hits |= entry if scaled_score > limit * (left_weight_at[k] * (weight - left_weight_at[k])) else 0
        if n_missing > 0:
            for k in range(size):
                weight_here = left_weight_at[k] + missing_weight
                scaled_score = squares_at[k] + 2 * missing_cross_at[k] + missing_squares
                scaled_score = scaled_score * weight + (cross_at[k] - 2 * missing_products) * weight_here + slack
                entry = block[k]
                hits |= entry if scaled_score > limit * (weight_here * (weight - weight_here)) else 0
        # Score the hits by the definition of gini, which needs the weight of each class at the threshold.
        if hits & 1:
            # `left` includes the rows of the block. Subtract them; the next loop adds them back one by one.
            for k in range(size - 1, -1, -1):
                entry = block[k]
                left[(entry & low_mask) >> 1] -= weight_of(context, entry >> shift)
            for k in range(size):
                entry = block[k]
                for is_missing_left in range((2 if n_missing > 0 and start + k < n_known else 1) if entry & 1 else 0):
                    weight_here = left_weight_at[k] + is_missing_left * missing_weight
                    scaled_score = squares_at[k] + is_missing_left * (2 * missing_cross_at[k] + missing_squares)
                    cross_here = cross_at[k] - is_missing_left * 2 * missing_products
                    scaled_score = scaled_score * weight + cross_here * weight_here + slack
                    if not scaled_score > limit * (weight_here * (weight - weight_here)):
                        continue
                    left_size = left_weight_at[k] if context.has_weight_limits else n_before + k
                    left_size += is_missing_left * missing_size
                    is_large = left_size >= min_size and stats.size - left_size >= min_size
                    if is_large and 0 < weight_here < weight:
                        gain = _gini_gain(left, missing, is_missing_left, n_classes, weight_here, stats)
                        if gain > best.score + stats.tie:
                            best.score = gain
                            limit = gain + stats.tie + node_score
                            best.position = start + k
                            best.missing_child = 1 - is_missing_left
                left[(entry & low_mask) >> 1] += weight_of(context, entry >> shift)
        start += BLOCK_ROWS
