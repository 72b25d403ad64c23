"""Scan presorted lists by gini and sqrt where every row weighs 1 and no value is missing.

The counts on the left are whole numbers, and a block of 64 rows changes each of them by at most 64. So a bound on the
gain at all thresholds of a block costs one pass that counts its rows by class, and in large nodes most blocks are
skipped. `scan.py` describes entries, thresholds, blocks and the names of the four phases. Costs O(rows).
"""

import cython
from cython.cimports.libc.math import fabs, sqrt
from cython.cimports.secateur._kernels.context import BLOCK_ROWS, Entry
from cython.cimports.secateur._kernels.scan_plain import GiniState

SLACK_FACTOR = cython.declare(cython.double, 1 + 1e-9)  # makes a bound larger by far more than its rounding error
# Smallest mean number of rows per class with which the test of whole blocks saves time.
MIN_CLASS_ROWS_GINI = cython.declare(cython.int, 64)
MIN_CLASS_ROWS_SQRT = cython.declare(cython.int, 16)


def scan_gini_two_classes(context, entries, stats, best):
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


def scan_gini(context, scratch, entries, stats, best):
    """Scan by gini of any number of classes; no weights, nothing missing.

    Let `left` and `counts` be the rows of each class on the left and in the node. The sums of left^2 and of
    left * counts over the classes are updated entry by entry. With n_left of n rows on the left,

        score * n_left (n - n_left) = n sum left^2 + n_left (sum counts^2 - 2 sum left * counts)
        gain = score - sum counts^2 / n.

    The gain is also n / (n_left (n - n_left)) times the sum of surplus^2 over the classes, where the surplus is `left`
    less n_left times the share of the class in the node. As for two classes, the rows of each class in a block bound
    the surplus, and most blocks are skipped.
    """
    state: GiniState
    n_rows = stats.n_rows
    skips_blocks: cython.bint = n_rows >= MIN_CLASS_ROWS_GINI * context.n_sums
    n = cython.cast(cython.double, n_rows)
    slack = 1e-15 * n * n  # more than the rounding error of the bound, a sum of differences of large numbers
    start: cython.Py_ssize_t = 1
    _start_gini(context, scratch, entries[0], stats, best, cython.address(state))
    while start < n_rows:
        size = cython.cast(cython.int, min(BLOCK_ROWS, n_rows - start))
        block = entries + start
        n_before = cython.cast(cython.double, start)
        needed_gain = state.limit - state.node_score
        if (
            skips_blocks
            and size == BLOCK_ROWS
            and _can_skip_gini_block(context, scratch, block, n_before, needed_gain, slack, stats)
        ):
            _add_skipped_gini_block(context, scratch, stats, cython.address(state))
        else:
            _sum_gini_block(context, scratch, block, size, stats, cython.address(state))
            if _screen_gini_block(block, n_before, size, n, cython.address(state)) & 1:
                _score_gini_block(block, start, size, stats, cython.address(state), best)
        start += BLOCK_ROWS


def _start_gini(context, scratch, entry, stats, best, state):
    """Start a scan with the row of the first entry on the left, because the first threshold follows it."""
    low_mask: Entry = context.low_mask
    label = (entry & low_mask) >> 1
    for class_index in range(context.n_sums):
        scratch.left[class_index] = 0
    scratch.left[label] = 1
    state.squares = 1
    state.products = stats.counts[label]
    state.node_score = stats.sum_of_squares / cython.cast(cython.double, stats.n_rows)
    state.limit = best.score + stats.tie + state.node_score


def _add_skipped_gini_block(context, scratch, stats, state):
    """Add the rows of a block, counted by class in `scratch.block_rows`, to the sums."""
    left = scratch.left
    for class_index in range(context.n_sums):
        added = cython.cast(cython.double, scratch.block_rows[class_index])
        state.squares += added * (2 * left[class_index] + added)
        left[class_index] += added
        state.products += added * stats.counts[class_index]


def _sum_gini_block(context, scratch, block, size, stats, state):
    """Write the sums before each threshold of a block to `state`, and add the rows of the block to `scratch.left`."""
    counts = stats.counts
    left = scratch.left
    low_mask: Entry = context.low_mask
    node_squares = stats.sum_of_squares
    squares = state.squares
    products = state.products
    k: cython.int
    for k in range(size):
        state.squares_at[k] = squares
        state.cross_at[k] = node_squares - 2 * products
        label = (block[k] & low_mask) >> 1
        squares += 2 * left[label] + 1
        left[label] += 1
        products += counts[label]
    state.squares = squares
    state.products = products


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _screen_gini_block(
    block: cython.pointer[Entry],
    n_before: cython.double,
    size: cython.int,
    n: cython.double,
    state: cython.pointer[GiniState],
) -> Entry:
    """Return the bitwise or of the entries of a block whose thresholds may win; the node has n rows."""
    hits: Entry = 0
    k: cython.int
    for k in range(size):
        n_left = n_before + k
        scaled_score = state.squares_at[k] * n + state.cross_at[k] * n_left
        entry = block[k]
        hits |= entry if scaled_score > state.limit * (n_left * (n - n_left)) else 0
    return hits


def _score_gini_block(block, start, size, stats, state, best):
    """Replace `best` by the best threshold of a block."""
    n = cython.cast(cython.double, stats.n_rows)
    n_before = cython.cast(cython.double, start)
    min_size = stats.min_child_size
    limit = state.limit
    k: cython.int
    for k in range(size):
        n_left = n_before + k
        scaled_score = state.squares_at[k] * n + state.cross_at[k] * n_left
        product = n_left * (n - n_left)
        if block[k] & 1 and scaled_score > limit * product and n_left >= min_size and n - n_left >= min_size:
            best.score = scaled_score / product - state.node_score
            limit = scaled_score / product + stats.tie
            best.position = start + k
    state.limit = limit


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


def scan_sqrt_two_classes(entries, stats, best):
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


def scan_sqrt(context, scratch, entries, stats, best):
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
    """List the classes in the node, and compute the factor of each class in the quadratic form of `scan_sqrt`."""
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
