"""Find the best threshold of a column of bins in one node, from its numbers of rows by code and class.

A threshold lies between two neighbouring codes that are present in the node:

    code        0     1     2     3     4
    rows       5 0   0 0   3 9   0 0   1 1          thresholds: between 0 and 2, and between 2 and 4

The arithmetic is that of the scans of lists, once per code instead of once per row. Equal counts give equal scores to
the last bit, so a tree grown from histograms is the tree grown from the rows. Costs O(codes x classes).
"""

import cython
from cython.cimports.libc.math import sqrt
from cython.cimports.secateur._kernels.context import (
    ENTROPY_TABLE,
    GINI,
    SQRT,
    BestThreshold,
    Context,
    Count,
    NodeStats,
    Scratch,
)
from cython.cimports.secateur._kernels.criteria import impurity_of
from cython.cimports.secateur._kernels.monotone import is_admissible, is_restricted


def best_code_threshold(context, scratch, codes, n_codes, has_missing, stats, best):
    """Replace `best` by the best threshold between codes, if that is better by more than a tie.

    `codes` holds the number of rows of each class, code after code. With `has_missing`, the numbers after those of the
    last code count the rows whose value is missing. These rows are tried on both sides of every threshold, and are also
    split from all other rows. Returns False if all rows of the node have the same code, so that there is no threshold.
    """
    n_classes: cython.Py_ssize_t = context.n_sums
    left = scratch.left
    missing = codes + n_codes * n_classes
    n_missing = _rows_of_code(missing, n_classes) if has_missing else 0.0
    n_left = 0.0
    threshold = BestThreshold(0, -1, -1, -1)
    code: cython.Py_ssize_t
    is_gini_of_two: cython.bint = (
        n_classes == 2 and stats.n_present_classes == 2 and context.criterion.fast_path == GINI
    )
    if n_missing == 0 and is_gini_of_two and not is_restricted(stats):
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
    if score > best.score + stats.tie and (
        not is_restricted(stats) or _is_admissible(scratch, n_left, threshold, stats)
    ):
        best[0] = threshold[0]
        best.score = score


def _is_admissible(scratch, n_left, threshold, stats):
    """Return whether a threshold respects the monotone constraints."""
    sign = stats.sign if threshold.above >= 0 else 0  # missing values have no order
    left_sum = scratch.left[1]
    return is_admissible(stats, sign, left_sum, n_left, stats.counts[1] - left_sum, stats.weight - n_left)


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


def score_threshold(context, scratch, n_left, is_plain, stats):
    """Return the gain of a threshold with `n_left` rows on the left; `scratch.left` has their classes."""
    return _threshold_score(context, scratch, n_left, is_plain, stats)


def _threshold_by_gini_of_two(codes, n_codes, stats, best):
    """Find the best threshold by gini of two classes; return False if all rows have the same code.

    Codes are skipped in blocks of 16 by the bound that `scan_plain.scan_gini_two_classes` computes for blocks of rows.
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
