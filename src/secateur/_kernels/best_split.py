"""Find the best split of a node over all columns.

The slots of a node are numbered by kind of column, and within a kind by column number:

    kind       sorted lists     | nominal and binned columns | two-valued columns
    slots      the first        | the next n_code_slots      | the last n_bit_slots
               n_lists          |                            |
    search     scan.py          | category_splits.py         | two_valued.py, criteria.impurity_of_sides
                                | bin_splits.py              |

A node has a bit for every slot. The bit is cleared when the column is constant in the node, and the nodes below no
longer search the column. Classification searches kind by kind, regression column by column. In both, the lower of two
columns with tied splits wins. The gain ratio takes two steps: the best split of every slot is stored, and then the best
ratio is chosen among the splits whose gain is at least the mean gain.

Costs O(rows) for each column that varies. The search ends early when a split leaves no impurity.
"""

import cython
from cython.cimports.libc.math import INFINITY, fabs, log2
from cython.cimports.secateur._kernels.bin_splits import best_code_threshold
from cython.cimports.secateur._kernels.category_splits import (
    best_subset,
    bound_gain_of_two,
    can_split_categories,
    multiway_gain,
)
from cython.cimports.secateur._kernels.code_histogram import (
    can_count_codes,
    clear_histogram,
    count_columns,
    fill_from_counts,
    fill_from_rows,
)
from cython.cimports.secateur._kernels.context import (
    DEPTH,
    END,
    GINI,
    MULTIWAY,
    N_FIELDS,
    NO_SPLIT,
    NUMERIC,
    SQRT,
    SQUARED_ERROR,
    START,
    SUBSET,
    BestThreshold,
    Entry,
    Split,
    weight_of,
)
from cython.cimports.secateur._kernels.criteria import class_stats, impurity_of_sides, number_stats
from cython.cimports.secateur._kernels.monotone import (
    is_restricted,
    is_threshold_admissible,
    is_two_valued_admissible,
    read_limits,
    scan_admissible,
)
from cython.cimports.secateur._kernels.scan import scan
from cython.cimports.secateur._kernels.two_valued import gini_of_few_rows, sum_ones

RATIO_TIE = cython.declare(cython.double, 1e-12)  # gains and gain ratios are tied within this share
SLACK = cython.declare(cython.double, 1e-9)  # share of the impurity of the node: far more than any rounding error
MAX_EXACT_ROWS = cython.declare(cython.int, 64)  # with this many rows of weight 1, rounding errors are far below a tie
MAX_BYTE_ROWS = cython.declare(cython.int, 255)  # rows whose counts fit into a byte


def find_best_split(context, scratch, lists, node, counts, stats, best):
    """Compute the statistics of a node and find its best split; return whether there is one."""
    best[0] = no_split(context)
    if context.criterion.fast_path != SQUARED_ERROR:
        class_stats(context, node[END] - node[START], counts, stats)
        read_limits(context, node, stats)
        _search_by_kind(context, scratch, lists, node, stats, best)
    elif number_stats(context, lists, node, stats):
        read_limits(context, node, stats)
        _search_by_feature(context, scratch, lists, node, stats, best)
    write_two_valued_branch(context, scratch, best)
    return best.slot >= 0


def _search_by_kind(context, scratch, lists, node, stats, best):
    """Find the best split of a node with classes: one kind of column after the other."""
    end_of_codes = context.n_lists + context.n_code_slots
    if context.is_gain_ratio:
        for slot in range(context.n_slots):
            scratch.slot_gain[slot] = -INFINITY
    search_lists(context, scratch, lists, node, stats, 0, context.n_lists, best)
    if context.n_bit_slots > 0:
        rival = no_split(context)
        search_two_valued(context, scratch, lists, node, stats, cython.address(rival))
        if is_better_split(context, best, cython.address(rival), stats.tie):
            best[0] = rival
    if context.n_code_slots > 0:
        rival = no_split(context)
        if not context.is_gain_ratio:
            # A split can win if its score is at most a tie below the best. `search_codes` only finds splits that
            # exceed a given score by more than a tie, so twice the tie is subtracted.
            rival.score = max(rival.score, best.score - 2 * stats.tie)
        search_codes(context, scratch, lists, node, stats, context.n_lists, end_of_codes, cython.address(rival))
        if is_better_split(context, best, cython.address(rival), stats.tie):
            best[0] = rival
    if context.is_gain_ratio:
        _best_by_ratio(context, scratch, lists, node, stats, best)


def _search_by_feature(context, scratch, lists, node, stats, best):
    """Find the best split of a regression node in the order of the columns: of tied splits, the first one wins."""
    end_of_codes = context.n_lists + context.n_code_slots
    rank: cython.int = 0
    if context.n_bit_slots > 0:
        rows = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
        sum_ones(context, scratch, rows, node[START], stats)
    while rank < context.n_slots:
        slot = cython.cast(cython.int, context.slots_by_feature[rank])
        rank += 1
        if slot < context.n_lists:
            # Search all lists together whose columns follow this one without another kind of column in between.
            last = slot + 1
            while last < context.n_lists and context.slots_by_feature[rank] == last:
                last += 1
                rank += 1
            search_lists(context, scratch, lists, node, stats, slot, last, best)
        elif _is_perfect(context, stats, best):
            continue
        elif slot < end_of_codes:
            search_codes(context, scratch, lists, node, stats, slot, slot + 1, best)
        elif is_varying(node, slot):
            # The gain of a two-valued column, as in `scan_weighted.scan_quadratic`.
            column = slot - end_of_codes
            right_weight = scratch.ones[column]
            excess = scratch.ones[context.bit_line_bytes + column] * stats.weight - stats.deviation * right_weight
            gain = excess * excess / (stats.weight * (right_weight * (stats.weight - right_weight)))
            try_two_valued(context, scratch, column, gain, stats, best)


def no_split(context):
    """Return the `Split` that stands for no split: its slot is -1, and every split must exceed its score."""
    return Split(-INFINITY if context.allows_zero_gain else 0.0, -1, NO_SPLIT, -1, -1, 0)


def is_better_split(context, best, rival, tie):
    """Return whether the rival has the larger score, or a tied score and the lower column."""
    if best.slot < 0 or (rival.slot >= 0 and rival.score > best.score + tie):
        return True
    if rival.slot < 0 or not rival.score >= best.score - tie:
        return False
    return context.feature_of_slot[rival.slot] < context.feature_of_slot[best.slot]


def is_varying(node, slot):
    """Return whether a node may split on a column: the column may vary in the node, and its group is allowed."""
    return (node[N_FIELDS + (slot >> 6)] >> (slot & 63)) & 1


def _mark_constant(node, slot):
    """Clear the bit of a slot, for this node and all nodes below."""
    one: cython.ulonglong = 1
    node[N_FIELDS + (slot >> 6)] &= ~cython.cast(cython.longlong, one << (slot & 63))


def _score_to_beat(context, best):
    """Return the score that a split of the next column must exceed.

    The gain ratio needs the best split of every column, even if other columns have splits with a larger gain.
    """
    return no_split(context).score if context.is_gain_ratio else best.score


def _is_perfect(context, stats, best):
    """Return whether the best split leaves no impurity, so that no later split can be better."""
    is_exact: cython.bint = context.row_weight == cython.NULL and stats.n_rows <= MAX_EXACT_ROWS
    if not is_exact or context.is_gain_ratio:
        return False
    return best.slot >= 0 and best.score > stats.impurity - 0.5 * stats.tie


def count_missing(context, slot, entries, n_rows):
    """Return how many rows of a list, all at its end, have a missing value; they are found by bisection."""
    low: cython.Py_ssize_t = 0
    high = n_rows
    if context.missing_line == cython.NULL or context.missing_line[slot] < 0:
        return 0
    is_missing = context.is_missing + context.missing_line[slot] * context.n_rows
    if not is_missing[entries[n_rows - 1] >> context.shift]:
        return 0
    while low < high:
        middle = (low + high) >> 1
        if is_missing[entries[middle] >> context.shift]:
            high = middle
        else:
            low = middle + 1
    return n_rows - low


def _count_differences(entries, n_entries):
    """Return how many entries after the first differ from the entry before."""
    n_differences: Entry = 0
    for i in range(1, n_entries):
        n_differences += entries[i] & 1
    return n_differences


def search_lists(context, scratch, lists, node, stats, first, last, best):
    """Replace `best` by the best threshold of the lists in the slots `first` to `last - 1`, if that is better."""
    n_rows = stats.n_rows
    for slot in range(first, last):
        if not is_varying(node, slot):
            continue
        if _is_perfect(context, stats, best):
            scratch.has_ties[slot] = 1  # The list is not searched, so ties must be assumed.
            continue
        entries = lists + slot * context.n_rows + node[START]
        n_missing = count_missing(context, slot, entries, n_rows)
        # Count the thresholds; a list without any is constant in the node.
        n_differences = n_rows - 1
        if not context.has_distinct_values[slot]:
            n_differences = _count_differences(entries, n_rows - n_missing + (n_missing > 0))
            if n_rows == context.n_rows and n_differences == n_rows - 1:
                context.has_distinct_values[slot] = 1
        # If values are equal, partitioning must update the difference bits.
        scratch.has_ties[slot] = n_differences < n_rows - 1
        if n_differences == 0:
            _mark_constant(node, slot)
            continue
        # Find the best threshold.
        threshold = BestThreshold(_score_to_beat(context, best), -1, -1, 1)
        scan(context, scratch, entries, n_missing, stats, cython.address(threshold))
        if stats.is_limited:
            _restrict_threshold(context, scratch, entries, n_missing, slot, stats, best, cython.address(threshold))
        if threshold.position < 0:
            continue
        missing_child = threshold.missing_child if n_missing else -1
        split = Split(threshold.score, slot, NUMERIC, threshold.position, 0, missing_child)
        if context.is_gain_ratio:
            _store_list_ratio(context, scratch, entries, n_missing, stats, cython.address(split))
        else:
            best[0] = split


def _restrict_threshold(context, scratch, entries, n_missing, slot, stats, best, threshold):
    """Replace the best threshold of a list by the best admissible one, if it violates the monotone constraints."""
    stats.sign = context.sign_of_slot[slot]
    if threshold.position < 0 or not is_restricted(stats):
        return
    if not is_threshold_admissible(context, entries, n_missing, stats, threshold):
        threshold[0] = BestThreshold(_score_to_beat(context, best), -1, -1, 1)
        scan_admissible(context, scratch, entries, n_missing, stats, threshold)


def search_codes(context, scratch, lists, node, stats, first, last, best):
    """Replace `best` by the best split of the columns of codes in the slots `first` to `last - 1`, if that is better.

    The child of each category is written to `histogram.branch`. If every row weighs 1, the columns of one word are
    counted at the same time. With two classes, the counted columns are tried in descending order of an upper bound of
    their gain, and a column whose bound is too low is not searched. Binned numeric columns always have rows of weight 1
    and no missing values.
    """
    order = cython.declare(cython.int[8])
    bounds = cython.declare(cython.double[8])
    histogram = cython.address(scratch.histogram)
    has_bounds: cython.bint = _has_gain_bounds(context, stats)
    base = first
    while base < last:
        if _is_perfect(context, stats, best):
            return
        if not _can_count_columns(context, node, base, stats):
            if _admit_code_column(context, node, base):
                score = _score_to_beat(context, best)
                _try_code_column(context, scratch, lists, node, stats, base, cython.NULL, score, best)
            base += 1
            continue
        n_columns = count_columns(
            histogram, context, base - context.n_lists, last - context.n_lists, node[START], stats
        )
        if has_bounds:
            _order_by_bound(context, scratch, node, stats, base, n_columns, order, bounds)
        for k in range(n_columns):
            if k > 0 and _is_perfect(context, stats, best):
                return
            slot = order[k] if has_bounds else base + k
            if not _admit_code_column(context, node, slot):
                continue
            if has_bounds and bounds[slot - base] <= best.score + stats.tie - SLACK * stats.impurity:
                continue
            score = _score_to_beat(context, best)
            if has_bounds and slot < best.slot:
                # This lower column is tried after a higher one, and wins a tie: also find a split that is a tie below
                # the best one. Only splits that exceed `score` by more than a tie are found.
                score -= 2 * stats.tie
            row_counts = histogram.row_counts + (slot - base) * histogram.table_size
            _try_code_column(context, scratch, lists, node, stats, slot, row_counts, score, best)
        base += n_columns


def _has_gain_bounds(context, stats):
    """Return whether `bound_gain_of_two` can bound the gain of a subset: for gini and sqrt of two classes."""
    fast_path = context.criterion.fast_path
    if context.is_gain_ratio or context.is_multiway:
        return False
    return (fast_path == GINI or fast_path == SQRT) and stats.n_present_classes == 2


def _can_count_columns(context, node, slot, stats):
    """Return whether the rows of a column can be counted by code and class in a table of all codes."""
    if context.row_weight != cython.NULL or context.criterion.fast_path == SQUARED_ERROR:
        return False
    return is_varying(node, slot) and can_count_codes(context, slot - context.n_lists, stats.n_rows)


def _admit_code_column(context, node, slot):
    """Return whether a node may split on a column of codes.

    A nominal column may have too many categories for the depth of the node. It is then marked as constant, so that the
    nodes below do not test it either.
    """
    column = slot - context.n_lists
    if not is_varying(node, slot):
        return False
    depth = node[DEPTH] + context.root_depth
    if context.is_nominal[column] and not can_split_categories(context.n_codes[column], depth):
        _mark_constant(node, slot)
        return False
    return True


def _try_code_column(context, scratch, lists, node, stats, slot, row_counts, score, best):
    """Replace `best` by the best split of a column if its score exceeds `score` by more than a tie.

    `row_counts` holds the number of rows by code and class; NULL if the rows have not been counted.
    """
    histogram = cython.address(scratch.histogram)
    column = slot - context.n_lists
    if row_counts == cython.NULL:
        rows = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
        n_present = fill_from_rows(histogram, context, column, node[START], rows, stats)
        _try_categories(context, scratch, node, stats, slot, n_present, score, best)
    elif context.is_nominal[column]:
        n_present = fill_from_counts(histogram, row_counts, context.n_codes[column])
        _try_categories(context, scratch, node, stats, slot, n_present, score, best)
    else:
        _try_bins(context, scratch, node, stats, slot, row_counts, score, best)


def _order_by_bound(context, scratch, node, stats, base, n_columns, order, bounds):
    """Write the slots of counted columns to `order`, in descending order of the upper bound of their gain.

    Nominal columns with a single category in the node are marked as constant.
    """
    column: cython.Py_ssize_t
    for k in range(n_columns):
        column = base + k - context.n_lists
        bounds[k] = stats.impurity
        if context.is_nominal[column]:
            row_counts = scratch.histogram.row_counts + k * scratch.histogram.table_size
            n_codes = context.n_codes[column]
            if bound_gain_of_two(context, row_counts, n_codes, stats, cython.address(bounds[k])) < 2:
                _mark_constant(node, base + k)
        place = k
        while place > 0 and bounds[order[place - 1] - base] < bounds[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = base + k


def _try_bins(context, scratch, node, stats, slot, row_counts, score, best):
    """Replace `best` by the best threshold of a binned column if its score exceeds `score` by more than a tie."""
    n_codes = context.n_codes[slot - context.n_lists]
    threshold = BestThreshold(score, -1, -1, -1)
    stats.sign = 0 if context.sign_of_slot == cython.NULL else context.sign_of_slot[slot]
    if not best_code_threshold(context, scratch, row_counts, n_codes, False, stats, cython.address(threshold)):
        _mark_constant(node, slot)
    elif threshold.position >= 0:
        best[0] = Split(threshold.score, slot, NUMERIC, threshold.position, threshold.above, -1)


def _try_categories(context, scratch, node, stats, slot, n_present, score, best):
    """Replace `best` by the best split of a nominal column if its score exceeds `score`; clear the histogram."""
    criterion = cython.address(context.criterion)
    histogram = cython.address(scratch.histogram)
    split = no_split(context)
    stats.sign = 0
    if n_present < 2:
        _mark_constant(node, slot)
    elif context.is_multiway:
        gain = multiway_gain(criterion, histogram, n_present, stats, context.min_leaf_size, stats.min_child_size)
        if gain > score + stats.tie:
            split = Split(gain, slot, MULTIWAY, -1, -1, -1)
    elif best_subset(
        context, histogram, n_present, context.n_codes[slot - context.n_lists], stats, cython.address(score)
    ):
        split = Split(score, slot, SUBSET, -1, -1, -1)
    if split.slot >= 0 and context.is_gain_ratio:
        _store_category_ratio(context, scratch, n_present, stats, cython.address(split))
    elif split.slot >= 0:
        best[0] = split
    clear_histogram(histogram, n_present)


def search_two_valued(context, scratch, lists, node, stats, best):
    """Replace `best` by the best split of the two-valued columns of a node with classes: lower values go left."""
    first_slot = context.n_lists + context.n_code_slots
    is_counted: cython.bint = context.bit_words != cython.NULL and context.row_weight == cython.NULL
    has_few_rows: cython.bint = stats.n_rows <= MAX_BYTE_ROWS and not stats.is_limited
    if is_counted and has_few_rows and context.criterion.fast_path == GINI:
        gini_of_few_rows(context, scratch, node[START], stats)
    else:
        rows = cython.cast(cython.typeof(lists), context.code_entries) + node[START]
        n_lines = sum_ones(context, scratch, rows, node[START], stats)
        impurity_of_sides(context, scratch, n_lines, stats.weight)
    for column in range(context.n_bit_slots):
        score = stats.impurity - scratch.side_impurity[column]
        if (context.is_gain_ratio or score > best.score + stats.tie) and is_varying(node, first_slot + column):
            try_two_valued(context, scratch, column, score, stats, best)


def try_two_valued(context, scratch, column, score, stats, best):
    """Replace `best` by the split of a two-valued column, if that is better and both children are large enough."""
    slot = context.n_lists + context.n_code_slots + column
    min_size = stats.min_child_size
    right_size = scratch.right_size[column]
    left_size = stats.size - right_size
    if right_size <= 0 or right_size < min_size or left_size <= 0 or left_size < min_size:
        return
    if score <= _score_to_beat(context, best) + stats.tie:
        return
    if stats.is_limited and not is_two_valued_admissible(context, scratch, column, stats):
        return
    kind = NUMERIC
    if context.is_nominal[context.n_code_slots + column]:
        kind = MULTIWAY if context.is_multiway else SUBSET
    split = Split(score, slot, kind, 0, 1, -1)
    if context.is_gain_ratio:
        information = _information(scratch.right_weight[column] / stats.weight)
        _store_ratio(scratch, cython.address(split), 2 * score / stats.weight, information)
    else:
        best[0] = split


def write_two_valued_branch(context, scratch, best):
    """Write the children of the two categories if the best split is a subset of a two-valued column."""
    if best.kind == SUBSET and best.slot >= context.n_lists + context.n_code_slots:
        scratch.histogram.branch[0] = 0
        scratch.histogram.branch[1] = 1


def _information(share):
    """Return the split information, in bits, of two branches with this share of the weight and the rest."""
    rest = 1 - share
    return (-share * log2(share) if share > 0 else 0.0) + (-rest * log2(rest) if rest > 0 else 0.0)


def _store_ratio(scratch, split, gain, information):
    """Store the best split of a column with its gain in bits, and with its gain ratio as score.

    The gain ratio is the gain divided by the split information.
    """
    scratch.slot_gain[split.slot] = gain
    scratch.slot_split[split.slot] = split[0]
    scratch.slot_split[split.slot].score = gain / information


def _store_list_ratio(context, scratch, entries, n_missing, stats, split):
    """Compute and store the gain ratio of a threshold of a list."""
    left_weight = 0.0
    gain = 2 * split.score / stats.weight  # in bits, because the criterion is half the entropy
    n_differences: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(split.below):
        left_weight += weight_of(context, entries[i] >> context.shift)
    if split.default_child == 0:  # the missing rows, at the end of the list, go left
        for i in range(stats.n_rows - n_missing, stats.n_rows):
            left_weight += weight_of(context, entries[i] >> context.shift)
    if context.penalises_numeric:
        for i in range(1, stats.n_rows):
            n_differences += entries[i] & 1
        gain -= log2(cython.cast(cython.double, max(1, n_differences))) / stats.weight
    _store_ratio(scratch, split, gain, _information(left_weight / stats.weight))


def _store_category_ratio(context, scratch, n_present, stats, split):
    """Compute and store the gain ratio of a split of a nominal column."""
    histogram = cython.address(scratch.histogram)
    left_share = information = 0.0
    for k in range(n_present):
        code = histogram.present[k]
        share = histogram.weights[code] / stats.weight
        if context.is_multiway:
            information += -share * log2(share) if share > 0 else 0.0
        elif histogram.branch[code] == 0:
            left_share += share
    if not context.is_multiway:
        information = _information(left_share)
    _store_ratio(scratch, split, 2 * split.score / stats.weight, information)


def _best_by_ratio(context, scratch, lists, node, stats, best):
    """Write to `best` the stored split of best gain ratio among the splits whose gain is at least the mean gain."""
    mean_gain = 0.0
    n_splits: cython.int = 0
    for slot_index in range(context.n_slots):
        if scratch.slot_gain[slot_index] > -INFINITY:
            mean_gain += scratch.slot_gain[slot_index]
            n_splits += 1
    mean_gain = mean_gain / (n_splits if n_splits > 0 else 1) - RATIO_TIE
    best[0] = Split(-INFINITY, -1, NO_SPLIT, -1, -1, 0)
    for slot_index in range(context.n_slots):
        rival = scratch.slot_split + slot_index
        tie = RATIO_TIE * fabs(rival.score)
        if scratch.slot_gain[slot_index] >= mean_gain and is_better_split(context, best, rival, tie):
            best[0] = rival[0]
    if best.kind == SUBSET and best.slot < context.n_lists + context.n_code_slots:
        # The search of later columns may have overwritten the children of the categories, so search this column again.
        repeated = no_split(context)
        slot = cython.cast(cython.int, best.slot)
        search_codes(context, scratch, lists, node, stats, slot, slot + 1, cython.address(repeated))
