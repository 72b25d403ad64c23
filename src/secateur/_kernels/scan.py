"""Find the best threshold of a presorted list in one node.

A scan walks the entries of the node from the lowest value to the highest. A threshold before entry i sends i rows left:

    row        7   2   5   0   3 | 9   4       rows whose value is missing come last
    value      1   1   2   4   4 | -   -
    differs    0   0   1   1   0 | 1   0       from the value before; thresholds are tried only here:
                       ^   ^       ^
                     i=2 i=3     i=5           i=5 sends all known values left, and missing values right

If values are missing, each threshold between known values is tried twice: the missing rows go right, then left. The
sums of the missing rows do not depend on the threshold. They are computed once, and added to the child that gets them.

A caller passes the score to beat in `best`. A threshold replaces `best` only if its score is larger by more than the
tolerance of ties. Of tied thresholds, the earlier column therefore wins, and within a column the lower threshold.

All scans cost O(rows), and return the exact score of the threshold. Specialised scans take fewer instructions per row:

    scan_gini_two_classes, scan_gini           rows of weight 1, nothing missing: blocks of 64 rows are skipped
    scan_sqrt_two_classes, scan_sqrt           if a bound on the gain within the block is too low
    _scan_entropy                                rows of weight 1: whole numbers from a table of x log2 x
    scan_quadratic                              regression, and gini of two classes: weights, missing values
    scan_weighted_gini                          gini of more classes: weights, missing values
    _scan_any_criterion                          all others: the impurity function is called at every threshold

All but `_scan_entropy` and `_scan_any_criterion` work on blocks of 64 consecutive entries, in up to four phases:

    skip      if a bound on the gain within the block is too low, only count the block (rows of weight 1)
    sum up    write the sums of the left child at each threshold of the block to arrays
    screen    compare products instead of quotients, for all entries at the same time: a division takes longer than
              all other operations of an entry together
    score     compute the score of the thresholds that pass the screen, unless there are none

All scans use these names:

    n_before    number of entries before the block
    k           position of an entry in the block, and of the threshold before this entry
    n_left      number of rows on the left of that threshold: n_before + k
    hits        bitwise or of the entries that pass the screen. The lowest bit of an entry says whether its value
                differs from the value before, so that a threshold lies there. If the lowest bit of `hits` is 0, no
                entry that passes has a threshold, and the block needs no scores.
"""

import cython
from cython.cimports.secateur._kernels.context import ENTROPY_TABLE, GINI, SQRT, SQUARED_ERROR, Entry
from cython.cimports.secateur._kernels.criteria import impurity_of, units_of
from cython.cimports.secateur._kernels.scan_plain import (
    scan_gini,
    scan_gini_two_classes,
    scan_sqrt,
    scan_sqrt_two_classes,
)
from cython.cimports.secateur._kernels.scan_weighted import scan_quadratic, scan_weighted_gini, sum_missing


def scan(context, scratch, entries, n_missing, stats, best):
    """Replace `best` by the best threshold of a list, whose last `n_missing` entries have missing values."""
    criterion = context.criterion.fast_path
    is_plain: cython.bint = context.row_weight == cython.NULL and n_missing == 0
    is_gini_of_two: cython.bint = criterion == GINI and stats.n_present_classes == 2
    if is_plain and is_gini_of_two:
        scan_gini_two_classes(context, entries, stats, best)
    elif is_plain and criterion == GINI:
        scan_gini(context, scratch, entries, stats, best)
    elif is_plain and criterion == SQRT and context.n_sums == 2:
        scan_sqrt_two_classes(entries, stats, best)
    elif is_plain and criterion == SQRT:
        scan_sqrt(context, scratch, entries, stats, best)
    elif context.row_weight == cython.NULL and criterion == ENTROPY_TABLE:
        _scan_entropy(context, scratch, entries, n_missing, stats, best)
    elif criterion == SQUARED_ERROR or is_gini_of_two:
        scan_quadratic(context, entries, n_missing, stats, best)
    elif criterion == GINI:
        scan_weighted_gini(context, scratch, entries, n_missing, stats, best)
    else:
        _scan_any_criterion(context, scratch, entries, n_missing, stats, best)


def _scan_entropy(context, scratch, entries, n_missing, stats, best):
    """Scan by entropy of rows of weight 1, in whole units of the table of x log2 x.

    With T(x) = x log2 x, the entropy of a node of n rows, times n, is T(n) less the sum of T(count) over the classes.
    Sums of table entries are whole numbers, and therefore exact. To move a row to the left changes the count of its
    class in both children, which costs four look-ups in the table. The criterion is half the entropy.
    """
    n_rows: cython.Py_ssize_t = stats.n_rows
    n_known: cython.Py_ssize_t = n_rows - n_missing
    table: cython.p_longlong = context.criterion.table
    left = scratch.left_rows
    missing: cython.p_longlong = scratch.missing_rows
    counts = stats.counts
    low_mask: Entry = context.low_mask
    min_size = stats.min_child_size
    class_units = table[n_rows] - stats.entropy_units  # sum of the table over the classes of both children
    units_missing_left: cython.longlong = 0  # the same if the missing rows are on the left
    n_left: cython.Py_ssize_t
    for class_index in range(context.n_sums):
        left[class_index] = 0
        missing[class_index] = 0
    half_unit = 0.5 * context.criterion.unit
    limit = units_of(best.score + stats.tie, half_unit)
    for n_left in range(n_known, n_rows):
        missing[(entries[n_left] & low_mask) >> 1] += 1
    for class_index in range(context.n_sums if n_missing else 0):
        right_count = cython.cast(cython.longlong, counts[class_index]) - missing[class_index]
        units_missing_left += table[missing[class_index]] + table[right_count]
    for n_left in range(n_known + (n_missing > 0)):  # the last threshold splits known from missing values
        entry = entries[n_left]
        if n_left > 0 and entry & 1:
            # Try the threshold with the missing rows on the right, then on the left.
            units = stats.entropy_units + class_units - table[n_left] - table[n_rows - n_left]
            if units > limit and n_left >= min_size and n_rows - n_left >= min_size:
                limit = _take_entropy_threshold(best, half_unit * units, n_left, 1, stats.tie, half_unit)
            if n_missing and n_left < n_known:
                with_missing = n_left + n_missing
                units = stats.entropy_units + units_missing_left - table[with_missing] - table[n_rows - with_missing]
                if units > limit and with_missing >= min_size and n_rows - with_missing >= min_size:
                    limit = _take_entropy_threshold(best, half_unit * units, n_left, 0, stats.tie, half_unit)
        if n_left == n_known:
            break
        # Move the row from the right to the left.
        label = (entry & low_mask) >> 1
        left_count = left[label]
        right_count = cython.cast(cython.longlong, counts[label]) - left_count
        class_units += (table[left_count + 1] - table[left_count]) + (table[right_count - 1] - table[right_count])
        if n_missing:
            left_count += missing[label]
            right_count -= missing[label]
            units_missing_left += table[left_count + 1] - table[left_count]
            units_missing_left += table[right_count - 1] - table[right_count]
        left[label] += 1


def _take_entropy_threshold(best, score, position, missing_child, tie, half_unit):
    """Make a threshold the best one; return the score in units that the next threshold must exceed."""
    best.score = score
    best.position = position
    best.missing_child = missing_child
    return units_of(score + tie, half_unit)


def _scan_any_criterion(context, scratch, entries, n_missing, stats, best):
    """Scan by calling the impurity function of the criterion for both children; with weights and missing values."""
    left = scratch.left
    right = scratch.right
    low_mask: Entry = context.low_mask
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    left_weight = 0.0  # without the missing rows
    position: cython.Py_ssize_t
    missing_weight = sum_missing(context, scratch, entries, n_missing, stats)
    missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)
    for class_index in range(context.n_sums):
        right[class_index] = stats.counts[class_index]
    for position in range(n_known + (n_missing > 0)):
        entry = entries[position]
        if position > 0 and entry & 1:
            left_size = left_weight if context.has_weight_limits else cython.cast(cython.double, position)
            right_weight = stats.weight - left_weight
            threshold = AnyThreshold(position, 1, left_weight, right_weight, left_size)
            _try_any_criterion(context, scratch, cython.address(threshold), stats, best)
            if n_missing > 0 and position < n_known:
                _move_missing(context, scratch, 1)
                threshold = AnyThreshold(
                    position, 0, left_weight + missing_weight, right_weight - missing_weight, left_size + missing_size
                )
                _try_any_criterion(context, scratch, cython.address(threshold), stats, best)
                _move_missing(context, scratch, -1)
        if position == n_known:
            break
        added = 1.0 if context.row_weight == cython.NULL else context.row_weight[entry >> context.shift]
        label = (entry & low_mask) >> 1
        left[label] += added
        right[label] -= added
        left_weight += added


def _try_any_criterion(context, scratch, threshold, stats, best):
    """Replace `best` by a threshold if both children are large enough and its score is better by more than a tie."""
    criterion = cython.address(context.criterion)
    min_size = stats.min_child_size
    if threshold.left_size < min_size or stats.size - threshold.left_size < min_size:
        return
    score = (
        stats.impurity
        - impurity_of(criterion, scratch.left, context.n_sums, threshold.left_weight)
        - impurity_of(criterion, scratch.right, context.n_sums, threshold.right_weight)
    )
    if score > best.score + stats.tie:
        best.score = score
        best.position = threshold.position
        best.missing_child = threshold.missing_child


def _move_missing(context, scratch, sign):
    """Move the missing rows from the right to the left (sign 1), or back (sign -1)."""
    for class_index in range(context.n_sums):
        scratch.left[class_index] += sign * scratch.missing[class_index]
        scratch.right[class_index] -= sign * scratch.missing[class_index]
