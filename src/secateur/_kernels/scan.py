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

    _scan_gini_two_classes, _scan_gini           rows of weight 1, nothing missing: blocks of 64 rows are skipped
    _scan_sqrt_two_classes, _scan_sqrt           if a bound on the gain within the block is too low
    _scan_entropy                                rows of weight 1: whole numbers from a table of x log2 x
    _scan_quadratic                              regression, and gini of two classes: weights, missing values
    _scan_weighted_gini                          gini of more classes: weights, missing values
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
from cython.cimports.libc.math import fabs, sqrt
from cython.cimports.secateur._kernels.context import (
    BLOCK_ROWS,
    ENTROPY_TABLE,
    GINI,
    SQRT,
    SQUARED_ERROR,
    Entry,
    weight_of,
)
from cython.cimports.secateur._kernels.criteria import impurity_of, units_of

SLACK_FACTOR = cython.declare(cython.double, 1 + 1e-9)  # makes a bound larger by far more than its rounding error
# Smallest mean number of rows per class with which the test of whole blocks saves time.
MIN_CLASS_ROWS_GINI = cython.declare(cython.int, 64)
MIN_CLASS_ROWS_SQRT = cython.declare(cython.int, 16)


def scan(context, scratch, entries, n_missing, stats, best):
    """Replace `best` by the best threshold of a list, whose last `n_missing` entries have missing values."""
    criterion = context.criterion.fast_path
    is_plain: cython.bint = context.row_weight == cython.NULL and n_missing == 0
    is_gini_of_two: cython.bint = criterion == GINI and stats.n_present_classes == 2
    if is_plain and is_gini_of_two:
        _scan_gini_two_classes(context, entries, stats, best)
    elif is_plain and criterion == GINI:
        _scan_gini(context, scratch, entries, stats, best)
    elif is_plain and criterion == SQRT and context.n_sums == 2:
        _scan_sqrt_two_classes(entries, stats, best)
    elif is_plain and criterion == SQRT:
        _scan_sqrt(context, scratch, entries, stats, best)
    elif context.row_weight == cython.NULL and criterion == ENTROPY_TABLE:
        _scan_entropy(context, scratch, entries, n_missing, stats, best)
    elif criterion == SQUARED_ERROR or is_gini_of_two:
        _scan_quadratic(context, entries, n_missing, stats, best)
    elif criterion == GINI:
        _scan_weighted_gini(context, scratch, entries, n_missing, stats, best)
    else:
        _scan_any_criterion(context, scratch, entries, n_missing, stats, best)


def _scan_gini_two_classes(context, entries, stats, best):
    """Scan by gini of two classes; no weights, nothing missing.

    Call the last class of the node "one". Let n be the number of rows, of which `n_ones` are ones, and let `n_left` be
    the number of rows on the left, of which `left_ones` are ones. The gain is

        2 excess^2 / (n n_left (n - n_left)), where excess = left_ones * n - n_ones * n_left.

    A one raises the excess by n - n_ones, and any other row lowers it by n_ones. The number of ones in a block
    therefore bounds |excess| within the block. Most blocks are skipped by this bound alone.
    """
    left_ones_at = cython.declare(cython.int[64])
    n_rows = stats.n_rows
    n = cython.cast(cython.double, n_rows)
    min_size = stats.min_child_size
    n_ones = stats.counts[stats.last_class]
    label: Entry = stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    hits: Entry
    block_ones: Entry
    limit = (best.score + stats.tie) * n / 2  # excess^2 must exceed `limit` * n_left (n - n_left)
    left_ones = cython.cast(cython.int, (entries[0] & label_mask) == label)
    start: cython.Py_ssize_t = 1
    while start < n_rows:
        size = cython.cast(cython.int, n_rows - start) if n_rows - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        start += BLOCK_ROWS
        if size == BLOCK_ROWS:
            # Count the ones of the block.
            hits = 0
            block_ones = 0
            for k in range(BLOCK_ROWS):
                hits |= block[k]
                block_ones += (block[k] & label_mask) == label
            # |excess| is largest if all ones of the block come first, or if all other rows come first. Skip the block
            # if no threshold can win.
            excess = left_ones * n - n_ones * n_before
            max_excess = max(
                excess + cython.cast(cython.int, block_ones) * (n - n_ones),
                (BLOCK_ROWS - cython.cast(cython.int, block_ones)) * n_ones - excess,
            )
            n_left = n_before + (BLOCK_ROWS - 1)
            # The product is a concave function of the position, so it is least at one end of the block.
            least_product = min(n_before * (n - n_before), n_left * (n - n_left))
            if not hits & 1 or max_excess * max_excess <= limit * least_product:
                left_ones += cython.cast(cython.int, block_ones)
                continue
        # Sum up: ones on the left of each threshold.
        for k in range(size):
            left_ones_at[k] = left_ones
            left_ones += cython.cast(cython.int, (block[k] & label_mask) == label)
        # Screen all thresholds.
        hits = 0
        for k in range(size):
            n_left = n_before + k
            excess = left_ones_at[k] * n - n_ones * n_left
            entry = block[k]
            hits |= entry if excess * excess > limit * (n_left * (n - n_left)) else 0
        # Score the hits.
        if hits & 1:
            for k in range(size):
                n_left = n_before + k
                excess = left_ones_at[k] * n - n_ones * n_left
                product = n_left * (n - n_left)
                if block[k] & 1 and excess * excess > limit * product and n_left >= min_size and n - n_left >= min_size:
                    best.score = 2 * (excess * excess) / (n * product)
                    limit = (best.score + stats.tie) * n / 2
                    best.position = start - BLOCK_ROWS + k


def _bound_surplus_in_block(context, scratch, block, n_before, stats, max_surplus):
    """Write an upper bound of |surplus| for each class to `max_surplus`; it holds at all thresholds of a block.

    The surplus is the number of rows of the class on the left, less the number expected from the share of the class in
    the node. `scratch.left` holds the rows of each class before the block, `n_before` rows in all. Also writes the rows
    of each class in the block to `scratch.block_rows`.
    """
    n_classes = context.n_sums
    low_mask: Entry = context.low_mask
    block_rows = scratch.block_rows
    # Even and odd rows are counted in two tables, so that a count need not wait for the count of the row before.
    odd_rows = scratch.block_rows + n_classes
    inverse = 1 / stats.weight
    k: cython.int
    for k in range(2 * n_classes):
        block_rows[k] = 0
    for k in range(BLOCK_ROWS // 2):
        block_rows[(block[2 * k] & low_mask) >> 1] += 1
        odd_rows[(block[2 * k + 1] & low_mask) >> 1] += 1
    for k in range(n_classes):
        block_rows[k] += odd_rows[k]
        share = stats.counts[k] * inverse
        surplus = scratch.left[k] - share * n_before
        max_surplus[k] = max(
            surplus + block_rows[k] * (1 - share),  # all rows of the class come first
            (BLOCK_ROWS - block_rows[k]) * share - surplus,  # all rows of other classes come first
        )


def _scan_gini(context, scratch, entries, stats, best):
    """Scan by gini of any number of classes; no weights, nothing missing.

    Let `left` and `counts` be the rows of each class on the left and in the node. The sums of left^2 and of
    left * counts over the classes are updated entry by entry. With n_left of n rows on the left,

        score * n_left (n - n_left) = n sum left^2 + n_left (sum counts^2 - 2 sum left * counts)
        gain = score - sum counts^2 / n.

    The gain is also n / (n_left (n - n_left)) times the sum of surplus^2 over the classes, where the surplus is `left`
    less n_left times the share of the class in the node. As for two classes, the rows of each class in a block bound
    the surplus, and most blocks are skipped.
    """
    squares_at = cython.declare(cython.double[64])
    cross_at = cython.declare(cython.double[64])
    n_rows = stats.n_rows
    n_classes = context.n_sums
    n = cython.cast(cython.double, n_rows)
    min_size = stats.min_child_size
    counts = stats.counts
    left = scratch.left
    low_mask: Entry = context.low_mask
    hits: Entry
    node_squares = stats.sum_of_squares
    for class_index in range(n_classes):
        left[class_index] = 0
    node_score = node_squares / n
    limit = best.score + stats.tie + node_score
    slack = 1e-15 * n * n  # more than the rounding error of the bound, a sum of differences of large numbers
    label = (entries[0] & low_mask) >> 1
    left[label] = 1
    squares = 1.0  # sum of left^2
    products = counts[label]  # sum of left * counts
    start: cython.Py_ssize_t = 1
    skips_blocks: cython.bint = n_rows >= MIN_CLASS_ROWS_GINI * n_classes
    while start < n_rows:
        size = cython.cast(cython.int, n_rows - start) if n_rows - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        start += BLOCK_ROWS
        # Skip the block if no threshold can win, and add its rows to the sums.
        if skips_blocks and size == BLOCK_ROWS:
            if _can_skip_gini_block(context, scratch, block, n_before, limit - node_score, slack, stats):
                for class_index in range(n_classes):
                    added = cython.cast(cython.double, scratch.block_rows[class_index])
                    squares += added * (2 * left[class_index] + added)
                    left[class_index] += added
                    products += added * counts[class_index]
                continue
        # Sum up: both sums before each threshold.
        for k in range(size):
            squares_at[k] = squares
            cross_at[k] = node_squares - 2 * products
            label = (block[k] & low_mask) >> 1
            squares += 2 * left[label] + 1
            left[label] += 1
            products += counts[label]
        # Screen all thresholds.
        hits = 0
        for k in range(size):
            n_left = n_before + k
            scaled_score = squares_at[k] * n + cross_at[k] * n_left
            entry = block[k]
            hits |= entry if scaled_score > limit * (n_left * (n - n_left)) else 0
        # Score the hits.
        if hits & 1:
            for k in range(size):
                n_left = n_before + k
                scaled_score = squares_at[k] * n + cross_at[k] * n_left
                product = n_left * (n - n_left)
                if block[k] & 1 and scaled_score > limit * product and n_left >= min_size and n - n_left >= min_size:
                    best.score = scaled_score / product - node_score
                    limit = scaled_score / product + stats.tie
                    best.position = start - BLOCK_ROWS + k


def _can_skip_gini_block(context, scratch, block, n_before, needed_gain, slack, stats):
    """Return whether no threshold of a block reaches the needed gain; write the rows of each class to `block_rows`."""
    n = cython.cast(cython.double, stats.n_rows)
    max_surplus = scratch.right
    hits: Entry = 0
    for k in range(BLOCK_ROWS):
        hits |= block[k]
    _bound_surplus_in_block(context, scratch, block, n_before, stats, max_surplus)
    max_squares = slack
    for class_index in range(context.n_sums):
        max_squares += max_surplus[class_index] * max_surplus[class_index]
    n_left = n_before + (BLOCK_ROWS - 1)
    least_product = min(n_before * (n - n_before), n_left * (n - n_left))
    return not hits & 1 or max_squares * n < needed_gain * least_product


def _scan_sqrt_two_classes(entries, stats, best):
    """Scan by sqrt of two classes; no weights, nothing missing.

    The impurity of a child is the root of the product of its two class counts. A threshold wins if
    sqrt(left_product) + sqrt(right_product) < limit. Squaring twice gives a screen without roots:

        4 left_product right_product < (limit^2 - left_product - right_product)^2, where the difference is positive.

    The code writes a square as x |x|, which keeps the sign of x, so that a negative limit or difference never passes.
    """
    left_ones_at = cython.declare(cython.int[64])
    margin_at = cython.declare(cython.double[64])
    n_rows = stats.n_rows
    n = cython.cast(cython.double, n_rows)
    min_size = stats.min_child_size
    n_ones = stats.counts[1]
    hits: Entry
    limit = stats.impurity - best.score - stats.tie  # the impurities of both children must add up to less
    squared_limit = limit * fabs(limit) * SLACK_FACTOR
    left_ones = cython.cast(cython.int, (entries[0] >> 1) & 1)
    start: cython.Py_ssize_t = 1
    ones: cython.double  # on the left of a threshold
    while start < n_rows:
        size = cython.cast(cython.int, n_rows - start) if n_rows - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        # Sum up: ones on the left of each threshold.
        for k in range(size):
            left_ones_at[k] = left_ones
            left_ones += cython.cast(cython.int, (block[k] >> 1) & 1)
        # Screen all thresholds: a threshold can win if its margin is positive.
        hits = 0
        n_before = cython.cast(cython.double, start)
        for k in range(size):
            n_left = n_before + k
            ones = left_ones_at[k]
            left_product = ones * (n_left - ones)
            right_product = (n_ones - ones) * (n - n_left - (n_ones - ones))
            margin = squared_limit - left_product - right_product
            margin_at[k] = margin * fabs(margin) - 4 * (left_product * right_product)
        for k in range(size):
            entry = block[k]
            hits |= entry if margin_at[k] > 0 else 0
        # Score the hits.
        if hits & 1:
            for k in range(size):
                n_left = n_before + k
                if block[k] & 1 and margin_at[k] > 0 and n_left >= min_size and n - n_left >= min_size:
                    ones = left_ones_at[k]
                    impurities = sqrt(ones * (n_left - ones)) + sqrt((n_ones - ones) * (n - n_left - (n_ones - ones)))
                    if impurities < limit:
                        best.score = stats.impurity - impurities
                        limit = impurities - stats.tie
                        best.position = start + k
            squared_limit = limit * fabs(limit) * SLACK_FACTOR
        start += BLOCK_ROWS


def _scan_sqrt(context, scratch, entries, stats, best):
    """Scan by sqrt of more than two classes; no weights, nothing missing.

    Roots are slow. An upper bound of the gain is therefore computed first, and roots only where a threshold may win.

    For one class, let

        n, N    number of all rows, and of the rows of the class
        a       share of the rows of the class that go left
        b       share of the rows of the other classes that go left
        t       share of all rows that go left

    The class contributes H sqrt(N (n - N)) / 2 to the gain, where H = 1 - sqrt(a b) - sqrt((1 - a) (1 - b)).

        first bound     H <= B, where B = (a - b)^2 / (2 t (1 - t)). The sum of this bound over the classes is a
                        quadratic form in the class counts on the left, with one factor per class, which is updated
                        entry by entry.
        second bound    H <= B / 4 / (1 - |a - b| / min(t, 1 - t)), which is smaller if a and b are near t.

    At the start of a block, `_shrink_sqrt_bound` computes how much smaller the second bound is in the whole block. The
    block is skipped if no threshold in the block can win.
    """
    bound_at = cython.declare(cython.double[64])
    sums: SqrtSums
    n_rows = stats.n_rows
    n = cython.cast(cython.double, n_rows)
    left = scratch.left
    factor = scratch.factor
    weighted_counts = scratch.product  # factor * counts of each class
    low_mask: Entry = context.low_mask
    hits: Entry
    start: cython.Py_ssize_t = 0
    skips_blocks: cython.bint = n_rows >= MIN_CLASS_ROWS_SQRT * context.n_sums
    _start_sqrt(context, scratch, stats, cython.address(sums))
    node_squares = sums.constant
    slack = 1e-9 * node_squares * n * n  # more than the rounding error of the bound, a difference of large numbers
    limit = stats.impurity - best.score - stats.tie  # the impurities of both children must add up to less
    squares = products = 0.0  # sum of factor * left^2, and of factor * counts * left
    while start < n_rows:
        size = cython.cast(cython.int, n_rows - start) if n_rows - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        shrinkage = 1.0
        needed_gain = stats.impurity - limit
        # Skip the block if no threshold can win, and add its rows to the sums.
        if skips_blocks and size == BLOCK_ROWS and start > 0:
            shrinkage = _shrink_sqrt_bound(context, scratch, block, n_before, needed_gain, slack, stats)
            if shrinkage == 0:
                for class_index in range(context.n_sums):
                    added = cython.cast(cython.double, scratch.block_rows[class_index])
                    squares += factor[class_index] * (added * (2 * left[class_index] + added))
                    products += weighted_counts[class_index] * added
                    left[class_index] += added
                start += BLOCK_ROWS
                continue
        # Sum up, and bound the gain at each threshold.
        for k in range(size):
            label = (block[k] & low_mask) >> 1
            n_left = n_before + k
            quadratic_form = (squares * n - 2 * products * n_left) * n + node_squares * (n_left * n_left)
            bound_at[k] = quadratic_form * shrinkage + slack
            squares += factor[label] * (2 * left[label] + 1)
            products += weighted_counts[label]
            left[label] += 1
        # Screen all thresholds by the bound.
        hits = 0
        for k in range(size):
            n_left = n_before + k
            entry = block[k]
            hits |= entry if bound_at[k] >= needed_gain * (n_left * (n - n_left)) else 0
        # Score the hits.
        if hits & 1:
            limit = _try_sqrt_block(context, scratch, block, start, size, sums.n_present, bound_at, limit, stats, best)
        start += BLOCK_ROWS


def _start_sqrt(context, scratch, stats, sums):
    """List the classes in the node, and compute the factor of each class in the quadratic form of `_scan_sqrt`."""
    n = cython.cast(cython.double, stats.n_rows)
    counts = stats.counts
    sums.constant = 0
    sums.n_present = 0
    for class_index in range(context.n_sums):
        scratch.left[class_index] = 0
        scratch.factor[class_index] = 0
        scratch.product[class_index] = 0
        if counts[class_index] > 0:
            scratch.present_classes[sums.n_present] = class_index
            sums.n_present += 1
            product = counts[class_index] * (n - counts[class_index])
            scratch.factor[class_index] = n * n / (4 * product * sqrt(product)) if product > 0 else 0.0
            sums.constant += scratch.factor[class_index] * counts[class_index] * counts[class_index]
            scratch.product[class_index] = scratch.factor[class_index] * counts[class_index]


def _shrink_sqrt_bound(context, scratch, block, n_before, needed_gain, slack, stats):
    """Return the ratio of the second bound to the first in a block, or 0 if no threshold of the block can win.

    The ratio lies between 1/4 and 1, and holds at all thresholds of the block. The number of rows of each class in the
    block is written to `scratch.block_rows`.
    """
    n = cython.cast(cython.double, stats.n_rows)
    counts = stats.counts
    factor = scratch.factor
    max_surplus = scratch.right
    hits: Entry = 0
    for k in range(BLOCK_ROWS):
        hits |= block[k]
    _bound_surplus_in_block(context, scratch, block, n_before, stats, max_surplus)
    n_left = n_before + (BLOCK_ROWS - 1)
    least_product = min(n_before * (n - n_before), n_left * (n - n_left))
    smaller_side = min(n_before, n - n_left)
    max_gain = 0.0
    shrinkage = 0.25
    for class_index in range(context.n_sums):
        surplus = max_surplus[class_index]
        if factor[class_index] > 0:
            # With |a - b| = surplus * n / (N (n - N)), the margin is 1 - |a - b| / min(t, 1 - t).
            margin = 1 - surplus * n * n / (counts[class_index] * (n - counts[class_index]) * smaller_side)
            class_shrinkage = 0.25 / margin if margin > 0.25 else 1.0
            shrinkage = max(shrinkage, class_shrinkage)
            max_gain += class_shrinkage * factor[class_index] * (surplus * surplus)
    if not hits & 1 or max_gain * n * n + slack < needed_gain * least_product:
        return 0.0
    return shrinkage


def _try_sqrt_block(context, scratch, block, start, size, n_present, bound_at, limit, stats, best):
    """Replace `best` by the best threshold of a block, and return the limit for the next block.

    A threshold wins if the impurities of both children add up to less than `limit`. The sum is computed only where
    `bound_at` lets a threshold win.
    """
    n = cython.cast(cython.double, stats.n_rows)
    n_before = cython.cast(cython.double, start)
    min_size = stats.min_child_size
    left = scratch.left
    low_mask: Entry = context.low_mask
    k: cython.int
    # `left` includes the rows of the block. Subtract them; the next loop adds them back one by one.
    for k in range(size):
        left[(block[k] & low_mask) >> 1] -= 1
    for k in range(size):
        n_left = n_before + k
        if block[k] & 1 and n_left > 0 and bound_at[k] >= (stats.impurity - limit) * (n_left * (n - n_left)):
            impurities = 0.0
            for present in range(n_present):
                class_index = scratch.present_classes[present]
                count = stats.counts[class_index]
                left_count = left[class_index]
                right_count = count - left_count
                left_product = left_count * (n_left - left_count)
                impurities += sqrt(left_product) + sqrt(right_count * (n - n_left - right_count))
            impurities = 0.5 * impurities
            if impurities < limit and n_left >= min_size and n - n_left >= min_size:
                best.score = stats.impurity - impurities
                limit = impurities - stats.tie
                best.position = start + k
        left[(block[k] & low_mask) >> 1] += 1
    return limit


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


def _scan_quadratic(context, entries, n_missing, stats, best):
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

    The function is long because the sums of a block stay in registers only if all steps are in one function.
    """
    left_sum_at = cython.declare(cython.double[64])
    left_weight_at = cython.declare(cython.double[64])
    is_regression: cython.bint = context.criterion.fast_path == SQUARED_ERROR
    n_rows = stats.n_rows
    n_known = n_rows - n_missing
    end: cython.Py_ssize_t = n_known + (n_missing > 0)
    weight = stats.weight
    node_sum = stats.deviation if is_regression else stats.counts[stats.last_class]
    factor = 1.0 if is_regression else 2.0
    shift = context.shift
    label: Entry = 0 if is_regression else stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    centre = stats.centre
    target = context.target
    row_weight = context.row_weight
    first_class_weight = last_class_weight = 1.0
    is_counted: cython.bint = not is_regression and (
        row_weight == cython.NULL or context.weight_of_class != cython.NULL
    )
    hits: Entry
    limit = (best.score + stats.tie) * weight / factor
    left_sum = left_weight = missing_sum = missing_weight = 0.0
    n_ones: cython.int = 0
    start: cython.Py_ssize_t = 0
    k: cython.int
    is_missing_left: cython.int
    size: cython.int
    if is_counted and context.weight_of_class != cython.NULL:
        first_class_weight = context.weight_of_class[stats.first_class]
        last_class_weight = context.weight_of_class[stats.last_class]
    # Sum up the missing rows. These sums are added to the child that gets the missing rows.
    for i in range(n_known, n_rows):
        row = entries[i] >> shift
        added = weight_of(context, row)
        missing_weight += added
        if is_regression:
            missing_sum += added * (target[row] - centre)
        elif (entries[i] & label_mask) == label:
            missing_sum += added
    missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)
    while start < end:  # the entry before the first threshold is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, end - start) if end - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        # Sum up: sum and weight on the left of each threshold, without the missing rows.
        if is_counted:
            for k in range(size):
                left_sum_at[k] = n_ones
                n_ones += cython.cast(cython.int, (block[k] & label_mask) == label)
            for k in range(size):
                sum_here = left_sum_at[k] * last_class_weight
                left_weight_at[k] = first_class_weight * (n_before + k - left_sum_at[k]) + sum_here
                left_sum_at[k] = sum_here
        elif is_regression and row_weight == cython.NULL:
            for k in range(size):
                left_sum_at[k] = left_sum
                left_weight_at[k] = n_before + k
                left_sum += target[block[k] >> shift] - centre
        else:
            for k in range(size):
                left_sum_at[k] = left_sum
                left_weight_at[k] = left_weight
                entry = block[k]
                added = row_weight[entry >> shift]
                left_weight += added
                if is_regression:
                    left_sum += added * (target[entry >> shift] - centre)
                else:
                    left_sum += added if (entry & label_mask) == label else 0.0
        if start == 0:
            start = 1
            continue
        # Screen all thresholds with the missing rows on the right, then on the left.
        hits = 0
        for k in range(size):
            excess = left_sum_at[k] * weight - node_sum * left_weight_at[k]
            entry = block[k]
            hits |= entry if excess * excess > limit * (left_weight_at[k] * (weight - left_weight_at[k])) else 0
        if n_missing > 0:
            for k in range(size):
                weight_here = left_weight_at[k] + missing_weight
                excess = (left_sum_at[k] + missing_sum) * weight - node_sum * weight_here
                entry = block[k]
                hits |= entry if excess * excess > limit * (weight_here * (weight - weight_here)) else 0
        # Score the hits.
        if hits & 1:
            for k in range(size):
                if not block[k] & 1:
                    continue
                for is_missing_left in range(2 if n_missing > 0 and start + k < n_known else 1):
                    weight_here = left_weight_at[k] + is_missing_left * missing_weight
                    excess = (left_sum_at[k] + is_missing_left * missing_sum) * weight - node_sum * weight_here
                    product = weight_here * (weight - weight_here)
                    if excess * excess > limit * product and product > 0:
                        left_size = left_weight_at[k] if context.has_weight_limits else n_before + k
                        left_size += is_missing_left * missing_size
                        if left_size >= stats.min_child_size and stats.size - left_size >= stats.min_child_size:
                            best.score = factor * (excess * excess) / (weight * product)
                            limit = (best.score + stats.tie) * weight / factor
                            best.position = start + k
                            best.missing_child = 1 - is_missing_left
        start += BLOCK_ROWS


def _sum_missing(context, scratch, entries, n_missing, stats):
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


def _scan_weighted_gini(context, scratch, entries, n_missing, stats, best):
    """Scan by gini of more than two classes, with weights and missing values.

    The screen is that of `_scan_gini`, but no block is skipped. Sums of squares of weights have rounding errors.
    Therefore they only serve as a screen, and `_gini_gain` computes the score of each threshold that passes.
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
    missing_weight = _sum_missing(context, scratch, entries, n_missing, stats)
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


def _scan_any_criterion(context, scratch, entries, n_missing, stats, best):
    """Scan by calling the impurity function of the criterion for both children; with weights and missing values."""
    left = scratch.left
    right = scratch.right
    low_mask: Entry = context.low_mask
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    left_weight = 0.0  # without the missing rows
    position: cython.Py_ssize_t
    missing_weight = _sum_missing(context, scratch, entries, n_missing, stats)
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
