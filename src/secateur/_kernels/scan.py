"""Find the best threshold of a presorted list in one node.

A scan walks the entries of the node from the lowest value to the highest. A threshold before entry i sends i rows left:

    row        7   2   5   0   3 | 9   4       rows whose value is missing come last
    value      1   1   2   4   4 | -   -
    differs    0   0   1   1   0 | 1   0       from the value before; thresholds are tried only here:
                       ^   ^       ^
                     i=2 i=3     i=5           i=5 sends all known values left, and missing values right

Where values are missing, every other threshold is tried twice: the missing rows go right, then left. For the sums of a
child, the missing rows are a constant that is added to one side.

A caller passes the score to beat in `best`. A threshold replaces `best` only if its score is larger by more than the
tolerance of ties. Of tied thresholds, the earlier column therefore wins, and within a column the lower threshold.

All scans cost O(rows), and return the exact score of the threshold. Specialised scans take fewer instructions per row:

    _scan_gini_two_classes, _scan_gini           rows of weight 1, nothing missing: blocks of 64 rows are skipped
    _scan_sqrt_two_classes, _scan_sqrt           if a bound on the gain within the block is too low
    _scan_entropy                                rows of weight 1: whole numbers from a table of x log2 x
    _scan_quadratic                              regression, and gini of two classes: weights, missing values
    _scan_weighted_gini                          gini of more classes: weights, missing values
    _scan_any_criterion                          all others: the impurity function is called at every threshold

Names of the scans: a block is 64 consecutive entries. `hits` is the bitwise or of the entries of a block whose
threshold would win; its lowest bit, the difference bit, says whether a threshold is tried at one of these entries. A
score is compared in two steps, because a division takes longer than all other operations of an entry together: the
comparison of products screens all entries, and the score is computed only for the hits.
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
MIN_CLASS_ROWS_GINI = cython.declare(cython.int, 64)  # rows per class from which the test of whole blocks saves time
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

    Let n be the number of rows, i the number of rows on the left, `ones` the number of rows of the last class, and
    `left` the number of rows of the last class on the left. The gain is

        2 d^2 / (n i (n - i)), where d = left * n - ones * i.

    A row of the last class raises d by n - ones, and any other row lowers d by `ones`. The number of rows of the last
    class in a block therefore bounds |d| within the block. Most blocks are skipped by this bound alone.
    """
    left_at = cython.declare(cython.int[64])
    n = stats.n_rows
    rows = cython.cast(cython.double, n)
    min_size = stats.min_child_size
    ones = stats.counts[stats.last_class]
    label: Entry = stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    hits: Entry
    n_ones: Entry
    limit = (best.score + stats.tie) * rows / 2
    left = cython.cast(cython.int, (entries[0] & label_mask) == label)
    start: cython.Py_ssize_t = 1
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        start += BLOCK_ROWS
        if size == BLOCK_ROWS:
            hits = 0
            n_ones = 0
            for k in range(BLOCK_ROWS):
                hits |= block[k]
                n_ones += (block[k] & label_mask) == label
            d = left * rows - ones * n_before
            reach = max(
                d + cython.cast(cython.int, n_ones) * (rows - ones),
                (BLOCK_ROWS - cython.cast(cython.int, n_ones)) * ones - d,
            )
            i = n_before + (BLOCK_ROWS - 1)
            if not hits & 1 or reach * reach <= limit * min(n_before * (rows - n_before), i * (rows - i)):
                left += cython.cast(cython.int, n_ones)
                continue
        for k in range(size):
            left_at[k] = left
            left += cython.cast(cython.int, (block[k] & label_mask) == label)
        hits = 0
        for k in range(size):
            i = n_before + k
            d = left_at[k] * rows - ones * i
            e = block[k]
            hits |= e if d * d > limit * (i * (rows - i)) else 0
        if hits & 1:
            for k in range(size):
                i = n_before + k
                d = left_at[k] * rows - ones * i
                room = i * (rows - i)
                if block[k] & 1 and d * d > limit * room and i >= min_size and rows - i >= min_size:
                    best.score = 2 * (d * d) / (rows * room)
                    limit = (best.score + stats.tie) * rows / 2
                    best.position = start - BLOCK_ROWS + k


def _reach_in_block(context, scratch, block, n_before, stats, reach):
    """Write to `reach`, for each class, a bound of |v| at all thresholds of a block.

    Here v is the number of rows of the class on the left, less the number expected from the share of the class in the
    node. `scratch.left` holds the rows of each class before the block, `n_before` rows in all. Also writes the rows of
    each class in the block to `scratch.block_rows`.
    """
    n_sums = context.n_sums
    low_mask: Entry = context.low_mask
    block_rows = scratch.block_rows
    odd_rows = scratch.block_rows + n_sums  # a second table, so that no row waits for the count of the row before
    inverse = 1 / stats.weight
    k: cython.int
    for k in range(2 * n_sums):
        block_rows[k] = 0
    for k in range(BLOCK_ROWS // 2):
        block_rows[(block[2 * k] & low_mask) >> 1] += 1
        odd_rows[(block[2 * k + 1] & low_mask) >> 1] += 1
    for k in range(n_sums):
        block_rows[k] += odd_rows[k]
        share = stats.counts[k] * inverse
        v = scratch.left[k] - share * n_before
        reach[k] = max(v + block_rows[k] * (1 - share), (BLOCK_ROWS - block_rows[k]) * share - v)


def _scan_gini(context, scratch, entries, stats, best):
    """Scan by gini of any number of classes; no weights, nothing missing.

    The sum of the squared class counts of both children is updated entry by entry. With i of n rows on the left, the
    gain is n / (i (n - i)) times the sum of v^2 over the classes, where v is the number of rows of the class on the
    left, less i times the share of the class in the node. As for two classes, the number of rows of each class in a
    block bounds v, and most blocks are skipped.
    """
    squares_at = cython.declare(cython.double[64])
    cross_at = cython.declare(cython.double[64])
    n = stats.n_rows
    n_sums = context.n_sums
    rows = cython.cast(cython.double, n)
    min_size = stats.min_child_size
    counts = stats.counts
    left = scratch.left
    low_mask: Entry = context.low_mask
    hits: Entry
    all_squares = stats.sum_of_squares
    for h in range(n_sums):
        left[h] = 0
    constant = all_squares / rows
    limit = best.score + stats.tie + constant
    slack = 1e-15 * rows * rows  # exceeds the rounding error of a difference of large numbers
    c = (entries[0] & low_mask) >> 1
    left[c] = 1
    squares = 1.0  # sum of left^2
    product = counts[c]  # sum of left * counts
    start: cython.Py_ssize_t = 1
    skips_blocks: cython.bint = n >= MIN_CLASS_ROWS_GINI * n_sums
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        start += BLOCK_ROWS
        if skips_blocks and size == BLOCK_ROWS:
            if _can_skip_gini_block(context, scratch, block, n_before, limit - constant, slack, stats):
                for h in range(n_sums):
                    added = cython.cast(cython.double, scratch.block_rows[h])
                    squares += added * (2 * left[h] + added)
                    left[h] += added
                    product += added * counts[h]
                continue
        for k in range(size):
            squares_at[k] = squares
            cross_at[k] = all_squares - 2 * product
            c = (block[k] & low_mask) >> 1
            squares += 2 * left[c] + 1
            left[c] += 1
            product += counts[c]
        hits = 0
        for k in range(size):
            i = n_before + k
            reached = squares_at[k] * rows + cross_at[k] * i
            e = block[k]
            hits |= e if reached > limit * (i * (rows - i)) else 0
        if hits & 1:
            for k in range(size):
                i = n_before + k
                reached = squares_at[k] * rows + cross_at[k] * i
                room = i * (rows - i)
                if block[k] & 1 and reached > limit * room and i >= min_size and rows - i >= min_size:
                    best.score = reached / room - constant
                    limit = reached / room + stats.tie
                    best.position = start - BLOCK_ROWS + k


def _can_skip_gini_block(context, scratch, block, n_before, needed_gain, slack, stats):
    """Return whether no threshold of a block reaches the needed gain; write the rows of each class to `block_rows`."""
    rows = cython.cast(cython.double, stats.n_rows)
    hits: Entry = 0
    for k in range(BLOCK_ROWS):
        hits |= block[k]
    _reach_in_block(context, scratch, block, n_before, stats, scratch.right)
    reached = slack
    for h in range(context.n_sums):
        reached += scratch.right[h] * scratch.right[h]
    i = n_before + (BLOCK_ROWS - 1)
    room = min(n_before * (rows - n_before), i * (rows - i))
    return not hits & 1 or reached * rows < needed_gain * room


def _scan_sqrt_two_classes(entries, stats, best):
    """Scan by sqrt of two classes; no weights, nothing missing.

    The impurities of the left and the right child are sqrt(u) and sqrt(v), where u and v are the products of the two
    class counts of the child. A threshold wins if sqrt(u) + sqrt(v) < limit. Squaring twice gives a screen without
    roots: 4 u v < (limit^2 - u - v)^2, where limit^2 - u - v is positive.
    """
    left_at = cython.declare(cython.int[64])
    margin_at = cython.declare(cython.double[64])
    n = stats.n_rows
    rows = cython.cast(cython.double, n)
    min_size = stats.min_child_size
    ones = stats.counts[1]
    hits: Entry
    limit = stats.impurity - best.score - stats.tie  # the impurities of both children must stay below
    squared_limit = limit * fabs(limit) * SLACK_FACTOR
    left = cython.cast(cython.int, (entries[0] >> 1) & 1)
    start: cython.Py_ssize_t = 1
    x: cython.double
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        for k in range(size):
            left_at[k] = left
            left += cython.cast(cython.int, (block[k] >> 1) & 1)
        hits = 0
        n_before = cython.cast(cython.double, start)
        for k in range(size):
            i = n_before + k
            x = left_at[k]
            u = x * (i - x)
            v = (ones - x) * (rows - i - (ones - x))
            margin = squared_limit - u - v
            margin_at[k] = margin * fabs(margin) - 4 * (u * v)
        for k in range(size):
            e = block[k]
            hits |= e if margin_at[k] > 0 else 0
        if hits & 1:
            for k in range(size):
                i = n_before + k
                if block[k] & 1 and margin_at[k] > 0 and i >= min_size and rows - i >= min_size:
                    x = left_at[k]
                    both = sqrt(x * (i - x)) + sqrt((ones - x) * (rows - i - (ones - x)))
                    if both < limit:
                        best.score = stats.impurity - both
                        limit = both - stats.tie
                        best.position = start + k
            squared_limit = limit * fabs(limit) * SLACK_FACTOR
        start += BLOCK_ROWS


def _scan_sqrt(context, scratch, entries, stats, best):
    """Scan by sqrt of more than two classes; no weights, nothing missing.

    Roots are slow, so that an upper bound of the gain is computed first, and roots only where a threshold may win.

    Let n be the number of rows and N that of a class. Let a be the share of the rows of the class that go left, b that
    of the rows of the other classes, and t that of all rows. The class contributes sqrt(N (n - N)) H(a, b) to the gain,
    where H is the Hellinger term.

        first bound     H <= B, where B = (a - b)^2 / (2 t (1 - t)). Its sum over the classes is a quadratic form in the
                        class counts on the left, which is updated entry by entry.
        second bound    H <= B / 4 / (1 - |a - b| / min(t, 1 - t)), which is smaller if a and b are near t.

    At the start of a block, `_shrink_sqrt_bound` computes the second bound for the block. The whole block is skipped if
    no threshold in the block can win.
    """
    bound_at = cython.declare(cython.double[64])
    sums: SqrtSums
    n = stats.n_rows
    rows = cython.cast(cython.double, n)
    left = scratch.left
    factor = scratch.factor
    product = scratch.product
    low_mask: Entry = context.low_mask
    hits: Entry
    start: cython.Py_ssize_t = 0
    skips_blocks: cython.bint = n >= MIN_CLASS_ROWS_SQRT * context.n_sums
    _start_sqrt(context, scratch, stats, cython.address(sums))
    constant = sums.constant
    slack = 1e-9 * constant * rows * rows  # exceeds the rounding error of a difference of large numbers
    limit = stats.impurity - best.score - stats.tie  # the impurities of both children must stay below
    squares = crossed = 0.0  # sum of factor * left^2, and of factor * counts * left
    while start < n:
        size = cython.cast(cython.int, n - start) if n - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        shrinkage = 1.0
        needed_gain = stats.impurity - limit
        if skips_blocks and size == BLOCK_ROWS and start > 0:
            shrinkage = _shrink_sqrt_bound(context, scratch, block, n_before, needed_gain, slack, stats)
            if shrinkage == 0:
                for h in range(context.n_sums):
                    added = cython.cast(cython.double, scratch.block_rows[h])
                    squares += factor[h] * (added * (2 * left[h] + added))
                    crossed += product[h] * added
                    left[h] += added
                start += BLOCK_ROWS
                continue
        for k in range(size):
            c = (block[k] & low_mask) >> 1
            i = n_before + k
            bound_at[k] = ((squares * rows - 2 * crossed * i) * rows + constant * (i * i)) * shrinkage + slack
            squares += factor[c] * (2 * left[c] + 1)
            crossed += product[c]
            left[c] += 1
        hits = 0
        for k in range(size):
            i = n_before + k
            e = block[k]
            hits |= e if bound_at[k] >= needed_gain * (i * (rows - i)) else 0
        if hits & 1:
            limit = _try_sqrt_block(context, scratch, block, start, size, sums.n_present, bound_at, limit, stats, best)
        start += BLOCK_ROWS


def _start_sqrt(context, scratch, stats, sums):
    """List the classes in the node, and compute the factor of each class in the quadratic form."""
    rows = cython.cast(cython.double, stats.n_rows)
    counts = stats.counts
    sums.constant = 0
    sums.n_present = 0
    for h in range(context.n_sums):
        scratch.left[h] = 0
        scratch.factor[h] = 0
        scratch.product[h] = 0
        if counts[h] > 0:
            scratch.present_classes[sums.n_present] = h
            sums.n_present += 1
            room = counts[h] * (rows - counts[h])
            scratch.factor[h] = rows * rows / (4 * room * sqrt(room)) if room > 0 else 0.0
            sums.constant += scratch.factor[h] * counts[h] * counts[h]
            scratch.product[h] = scratch.factor[h] * counts[h]


def _shrink_sqrt_bound(context, scratch, block, n_before, needed_gain, slack, stats):
    """Return the factor, from 1/4 to 1, by which the second bound is below the first; 0 if no threshold can win.

    The factor holds for all thresholds of the block. Also writes the rows of each class to `scratch.block_rows`.
    """
    rows = cython.cast(cython.double, stats.n_rows)
    counts = stats.counts
    factor = scratch.factor
    hits: Entry = 0
    for k in range(BLOCK_ROWS):
        hits |= block[k]
    _reach_in_block(context, scratch, block, n_before, stats, scratch.right)
    i = n_before + (BLOCK_ROWS - 1)
    room = min(n_before * (rows - n_before), i * (rows - i))
    smaller_side = min(n_before, rows - i)
    reached = 0.0
    shrinkage = 0.25
    for h in range(context.n_sums):
        y = scratch.right[h]
        if factor[h] > 0:
            nearness = 1 - y * rows * rows / (counts[h] * (rows - counts[h]) * smaller_side)
            class_shrinkage = 0.25 / nearness if nearness > 0.25 else 1.0
            shrinkage = max(shrinkage, class_shrinkage)
            reached += class_shrinkage * factor[h] * (y * y)
    if not hits & 1 or reached * rows * rows + slack < needed_gain * room:
        return 0.0
    return shrinkage


def _try_sqrt_block(context, scratch, block, start, size, n_present, bound_at, limit, stats, best):
    """Replace `best` by the best threshold of a block, and return the limit for the next block.

    A threshold wins if the impurities of both children add up to less than `limit`. The sum is computed only where
    `bound_at` lets a threshold win.
    """
    rows = cython.cast(cython.double, stats.n_rows)
    n_before = cython.cast(cython.double, start)
    min_size = stats.min_child_size
    left = scratch.left
    low_mask: Entry = context.low_mask
    k: cython.int
    for k in range(size):  # return to the beginning of the block, and add its rows again
        left[(block[k] & low_mask) >> 1] -= 1
    for k in range(size):
        i = n_before + k
        if block[k] & 1 and i > 0 and bound_at[k] >= (stats.impurity - limit) * (i * (rows - i)):
            both = 0.0
            for h in range(n_present):
                total = stats.counts[scratch.present_classes[h]]
                y = left[scratch.present_classes[h]]
                both += sqrt(y * (i - y)) + sqrt((total - y) * (rows - i - (total - y)))
            both = 0.5 * both
            if both < limit and i >= min_size and rows - i >= min_size:
                best.score = stats.impurity - both
                limit = both - stats.tie
                best.position = start + k
        left[(block[k] & low_mask) >> 1] += 1
    return limit


def _scan_entropy(context, scratch, entries, n_missing, stats, best):
    """Scan by entropy of rows of weight 1, in whole units of the table of x log2 x.

    Sums of units are exact. Each row costs four look-ups for its class: the count before and after, in both children.
    """
    n: cython.Py_ssize_t = stats.n_rows
    n_known: cython.Py_ssize_t = n - n_missing
    table: cython.p_longlong = context.criterion.table
    left = scratch.left_rows
    missing: cython.p_longlong = scratch.missing_rows
    counts = stats.counts
    low_mask: Entry = context.low_mask
    min_size = stats.min_child_size
    class_units = table[n] - stats.entropy_units  # sum of the entries of each class in each child
    class_units_missing_left: cython.longlong = 0  # the same with the missing rows on the left
    i: cython.Py_ssize_t
    for h in range(context.n_sums):
        left[h] = 0
        missing[h] = 0
    half_unit = 0.5 * context.criterion.unit
    limit = units_of(best.score + stats.tie, half_unit)
    for i in range(n_known, n):
        missing[(entries[i] & low_mask) >> 1] += 1
    for h in range(context.n_sums if n_missing else 0):
        class_units_missing_left += table[missing[h]] + table[cython.cast(cython.longlong, counts[h]) - missing[h]]
    for i in range(n_known + (n_missing > 0)):
        e = entries[i]
        if i > 0 and e & 1:
            units = stats.entropy_units + class_units - table[i] - table[n - i]
            if units > limit and i >= min_size and n - i >= min_size:
                limit = _take_entropy_threshold(best, half_unit * units, i, 1, stats.tie, half_unit)
            if n_missing and i < n_known:
                m = i + n_missing
                units = stats.entropy_units + class_units_missing_left - table[m] - table[n - m]
                if units > limit and m >= min_size and n - m >= min_size:
                    limit = _take_entropy_threshold(best, half_unit * units, i, 0, stats.tie, half_unit)
        if i == n_known:
            break
        c = (e & low_mask) >> 1
        a = left[c]
        b = cython.cast(cython.longlong, counts[c]) - a
        class_units += (table[a + 1] - table[a]) + (table[b - 1] - table[b])
        if n_missing:
            a += missing[c]
            b -= missing[c]
            class_units_missing_left += (table[a + 1] - table[a]) + (table[b - 1] - table[b])
        left[c] += 1


def _take_entropy_threshold(best, score, position, missing_child, tie, half_unit):
    """Make a threshold the best one; return the score in units that the next threshold must exceed."""
    best.score = score
    best.position = position
    best.missing_child = missing_child
    return units_of(score + tie, half_unit)


def _scan_quadratic(context, entries, n_missing, stats, best):
    """Scan by squared error, or by gini of two classes, with weights and missing values.

    The gain is f (x W - T a)^2 / (W a (W - a)), which is screened without division:

        W, a    weight of the node, and weight on the left
        T, x    regression: sum of the deviations of the node, and of the rows on the left; f = 1
                gini of two classes: weight of the last class in the node, and on the left; f = 2

    The function is long because the sums of a block stay in registers only if all steps are in one function.
    """
    x_at = cython.declare(cython.double[64])
    weight_at = cython.declare(cython.double[64])
    is_regression: cython.bint = context.criterion.fast_path == SQUARED_ERROR
    n = stats.n_rows
    n_known = n - n_missing
    last: cython.Py_ssize_t = n_known + (n_missing > 0)
    weight = stats.weight
    total = stats.deviation if is_regression else stats.counts[stats.last_class]
    factor = 1.0 if is_regression else 2.0
    shift = context.shift
    label: Entry = 0 if is_regression else stats.last_class << 1
    label_mask: Entry = context.low_mask ^ 1
    centre = stats.centre
    y = context.target
    row_weight = context.row_weight
    first_class_weight = last_class_weight = 1.0
    is_counted: cython.bint = not is_regression and (
        row_weight == cython.NULL or context.weight_of_class != cython.NULL
    )
    hits: Entry
    limit = (best.score + stats.tie) * weight / factor
    x = a = missing_x = missing_weight = 0.0
    ones: cython.int = 0
    start: cython.Py_ssize_t = 0
    k: cython.int
    s: cython.int
    size: cython.int
    if is_counted and context.weight_of_class != cython.NULL:
        first_class_weight = context.weight_of_class[stats.first_class]
        last_class_weight = context.weight_of_class[stats.last_class]
    for i in range(n_known, n):
        row = entries[i] >> shift
        w = weight_of(context, row)
        missing_weight += w
        if is_regression:
            missing_x += w * (y[row] - centre)
        elif (entries[i] & label_mask) == label:
            missing_x += w
    missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)
    while start < last:  # the entry before the first threshold is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, last - start) if last - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        if is_counted:
            for k in range(size):
                x_at[k] = ones
                ones += cython.cast(cython.int, (block[k] & label_mask) == label)
            for k in range(size):
                x_here = x_at[k] * last_class_weight
                weight_at[k] = first_class_weight * (n_before + k - x_at[k]) + x_here
                x_at[k] = x_here
        elif is_regression and row_weight == cython.NULL:
            for k in range(size):
                x_at[k] = x
                weight_at[k] = n_before + k
                x += y[block[k] >> shift] - centre
        else:
            for k in range(size):
                x_at[k] = x
                weight_at[k] = a
                e = block[k]
                w = row_weight[e >> shift]
                a += w
                if is_regression:
                    x += w * (y[e >> shift] - centre)
                else:
                    x += w if (e & label_mask) == label else 0.0
        if start == 0:
            start = 1
            continue
        hits = 0
        for k in range(size):
            d = x_at[k] * weight - total * weight_at[k]
            e = block[k]
            hits |= e if d * d > limit * (weight_at[k] * (weight - weight_at[k])) else 0
        if n_missing > 0:
            for k in range(size):
                here = weight_at[k] + missing_weight
                d = (x_at[k] + missing_x) * weight - total * here
                e = block[k]
                hits |= e if d * d > limit * (here * (weight - here)) else 0
        if hits & 1:
            for k in range(size):
                if not block[k] & 1:
                    continue
                for s in range(2 if n_missing > 0 and start + k < n_known else 1):  # missing rows right, then left
                    here = weight_at[k] + s * missing_weight
                    d = (x_at[k] + s * missing_x) * weight - total * here
                    room = here * (weight - here)
                    if d * d > limit * room and room > 0:
                        here = (weight_at[k] if context.has_weight_limits else n_before + k) + s * missing_size
                        if here >= stats.min_child_size and stats.size - here >= stats.min_child_size:
                            best.score = factor * (d * d) / (weight * room)
                            limit = (best.score + stats.tie) * weight / factor
                            best.position = start + k
                            best.missing_child = 1 - s
        start += BLOCK_ROWS


def _sum_missing(context, scratch, entries, n_missing, stats):
    """Return the weight of the missing rows, and clear `scratch.left`.

    Writes the weight of each class among the missing rows to `scratch.missing`.
    """
    low_mask: Entry = context.low_mask
    weight = 0.0
    for h in range(context.n_sums):
        scratch.left[h] = 0
        scratch.missing[h] = 0
    for i in range(stats.n_rows - n_missing, stats.n_rows):
        e = entries[i]
        scratch.missing[(e & low_mask) >> 1] += weight_of(context, e >> context.shift)
    for h in range(context.n_sums if n_missing > 0 else 0):
        weight += scratch.missing[h]
    return weight


def _gini_gain(left, missing, s, n_classes, weight, stats):
    """Return the gain of a threshold, computed from the definition of gini.

    `left` holds the weight of each class on the left without the missing rows. The missing rows are on the left if s is
    1, and on the right if s is 0. `weight` is the weight of all rows on the left.
    """
    left_impurity = right_impurity = 0.0
    right_weight = stats.weight - weight
    for c in range(n_classes):
        x = left[c] + s * missing[c]
        left_impurity += x * (weight - x)
        x = stats.counts[c] - x
        right_impurity += x * (right_weight - x)
    return stats.impurity - left_impurity / weight - right_impurity / right_weight


def _scan_weighted_gini(context, scratch, entries, n_missing, stats, best):
    """Scan by gini of more than two classes, with weights and missing values.

    The screen is that of `_scan_gini`, but no block is skipped. Sums of squares of weights are rounded, so that they
    serve as a screen only. The score of a threshold is computed by `_gini_gain`.
    """
    squares_at = cython.declare(cython.double[64])
    cross_at = cython.declare(cython.double[64])
    weight_at = cython.declare(cython.double[64])
    crossed_missing_at = cython.declare(cython.double[64])
    n_sums = context.n_sums
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    last: cython.Py_ssize_t = n_known + (n_missing > 0)
    weight = stats.weight
    counts = stats.counts
    left = scratch.left
    missing = scratch.missing
    weight_of_class = context.weight_of_class
    row_weight = context.row_weight
    shift = context.shift
    low_mask: Entry = context.low_mask
    hits: Entry
    all_squares = stats.sum_of_squares
    squares = product = crossed_missing = a = missing_squares = missing_product = 0.0
    start: cython.Py_ssize_t = 0
    k: cython.int
    s: cython.int
    size: cython.int
    missing_weight = _sum_missing(context, scratch, entries, n_missing, stats)
    for h in range(n_sums):
        missing_squares += missing[h] * missing[h]
        missing_product += missing[h] * counts[h]
    missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)
    constant = all_squares / weight
    slack = 1e-12 * weight * weight * weight  # exceeds the rounding error of a difference of large numbers
    limit = best.score + stats.tie + constant
    while start < last:  # the entry before the first threshold is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, last - start) if last - start < BLOCK_ROWS else BLOCK_ROWS
        block = entries + start
        n_before = cython.cast(cython.double, start)
        for k in range(size):
            squares_at[k] = squares
            cross_at[k] = all_squares - 2 * product
            weight_at[k] = a
            crossed_missing_at[k] = crossed_missing
            e = block[k]
            c = (e & low_mask) >> 1
            if weight_of_class != cython.NULL:
                w = weight_of_class[c]
            elif row_weight != cython.NULL:
                w = row_weight[e >> shift]
            else:
                w = 1.0
            squares += w * (2 * left[c] + w)
            left[c] += w
            product += w * counts[c]
            crossed_missing += w * missing[c]
            a += w
        if start == 0:
            start = 1
            continue
        hits = 0
        for k in range(size):
            reached = squares_at[k] * weight + cross_at[k] * weight_at[k] + slack
            e = block[k]
            hits |= e if reached > limit * (weight_at[k] * (weight - weight_at[k])) else 0
        if n_missing > 0:
            for k in range(size):
                here = weight_at[k] + missing_weight
                reached = squares_at[k] + 2 * crossed_missing_at[k] + missing_squares
                reached = reached * weight + (cross_at[k] - 2 * missing_product) * here + slack
                e = block[k]
                hits |= e if reached > limit * (here * (weight - here)) else 0
        if hits & 1:
            for k in range(size - 1, -1, -1):  # return to the beginning of the block, and add its rows again
                e = block[k]
                left[(e & low_mask) >> 1] -= weight_of(context, e >> shift)
            for k in range(size):
                e = block[k]
                for s in range((2 if n_missing > 0 and start + k < n_known else 1) if e & 1 else 0):
                    here = weight_at[k] + s * missing_weight
                    reached = squares_at[k] + s * (2 * crossed_missing_at[k] + missing_squares)
                    reached = reached * weight + (cross_at[k] - s * 2 * missing_product) * here + slack
                    if not reached > limit * (here * (weight - here)):
                        continue
                    w = (weight_at[k] if context.has_weight_limits else n_before + k) + s * missing_size
                    if w >= stats.min_child_size and stats.size - w >= stats.min_child_size and 0 < here < weight:
                        reached = _gini_gain(left, missing, s, n_sums, here, stats)
                        if reached > best.score + stats.tie:
                            best.score = reached
                            limit = reached + stats.tie + constant
                            best.position = start + k
                            best.missing_child = 1 - s
                left[(e & low_mask) >> 1] += weight_of(context, e >> shift)
        start += BLOCK_ROWS


def _scan_any_criterion(context, scratch, entries, n_missing, stats, best):
    """Scan by calling the impurity function of the criterion for both children; with weights and missing values."""
    left = scratch.left
    right = scratch.right
    low_mask: Entry = context.low_mask
    n_known: cython.Py_ssize_t = stats.n_rows - n_missing
    left_weight = 0.0  # without the missing rows
    i: cython.Py_ssize_t
    missing_weight = _sum_missing(context, scratch, entries, n_missing, stats)
    missing_size = missing_weight if context.has_weight_limits else cython.cast(cython.double, n_missing)
    for h in range(context.n_sums):
        right[h] = stats.counts[h]
    for i in range(n_known + (n_missing > 0)):
        e = entries[i]
        if i > 0 and e & 1:
            left_size = left_weight if context.has_weight_limits else cython.cast(cython.double, i)
            right_weight = stats.weight - left_weight
            threshold = AnyThreshold(i, 1, left_weight, right_weight, left_size)
            _try_any_criterion(context, scratch, cython.address(threshold), stats, best)
            if n_missing > 0 and i < n_known:
                _move_missing(context, scratch, 1)
                threshold = AnyThreshold(
                    i, 0, left_weight + missing_weight, right_weight - missing_weight, left_size + missing_size
                )
                _try_any_criterion(context, scratch, cython.address(threshold), stats, best)
                _move_missing(context, scratch, -1)
        if i == n_known:
            break
        w = 1.0 if context.row_weight == cython.NULL else context.row_weight[e >> context.shift]
        c = (e & low_mask) >> 1
        left[c] += w
        right[c] -= w
        left_weight += w


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
    for h in range(context.n_sums):
        scratch.left[h] += sign * scratch.missing[h]
        scratch.right[h] -= sign * scratch.missing[h]
