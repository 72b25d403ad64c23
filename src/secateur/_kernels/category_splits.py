"""Find the best split of a nominal column in one node, from its histogram (`code_histogram.py`).

A subset of the categories is split from the rest. The child with the lowest category present is child 0. Of tied
subsets, the one whose child 0 comes first as a sorted list of categories wins; with more than 63 categories in the
node, the first one that is tried wins. With m categories in the node, the search costs O(m log m) for prefixes, or
O(2^m) for all subsets of at most 10 categories. With `splits="one-vs-rest"`, only subsets of one category, or of all
but one, are tried, in O(m).
"""

import cython
from cython.cimports.libc.math import INFINITY, sqrt
from cython.cimports.secateur._kernels.code_histogram import sort_by_key
from cython.cimports.secateur._kernels.context import (
    GINI,
    SQUARED_ERROR,
    UNSEEN_CATEGORY,
    Criterion,
    Histogram,
    NodeStats,
)
from cython.cimports.secateur._kernels.criteria import impurity_of

SLACK = cython.declare(cython.double, 1e-9)  # share of the impurity of the node: far more than any rounding error
MAX_ANY_DEPTH_CATEGORIES = cython.declare(cython.longlong, 1000)  # with more, a column is not split at large depths
MAX_LEVEL_BRANCHES_LOG2 = cython.declare(cython.longlong, 24)  # see `can_split_categories`
MAX_EXHAUSTIVE_CATEGORIES = cython.declare(cython.int, 10)
# Subsets are compared as masks of 63 bits. With more categories, ties between subsets are not compared.
MAX_ORDERED_CATEGORIES = cython.declare(cython.int, 63)


def can_split_categories(n_codes, depth):
    """Return whether nodes at a depth may split on a column of `n_codes` categories.

    A split stores the child of every category, and a level has up to 2**depth splits. A column of more than 1,000
    categories is not split at depths where the splits of one level could store more than 2**24 children.
    """
    return n_codes <= MAX_ANY_DEPTH_CATEGORIES or (
        depth < MAX_LEVEL_BRANCHES_LOG2
        and (n_codes << depth) <= (cython.cast(cython.longlong, 1) << MAX_LEVEL_BRANCHES_LOG2)
    )


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

    Writes the gain to `best`, and the child of each category to `histogram.branch`. If the tree splits one category
    from the rest, each category is tried. Otherwise there are two ways to search:

    All subsets are tried if the node has at most 10 categories and a prefix might not be the best subset. That is
    possible with more than two classes, or if a category is smaller than the minimum size of a child.

    Otherwise, prefixes are tried: the categories are ordered by the share of a class, and the first categories of this
    order are split from the others, for each class in turn. With two classes, the best subset is a prefix for every
    concave criterion. The second class is then tried only if some shares are equal, so that the result does not depend
    on the order of the classes. With more classes, or if the best prefix is too small, the best subset may be missed.

    In regression, the categories are ordered by their means, and the best subset is a prefix. The gain of a split with
    one child per category is an upper bound. If this bound is at most the tolerance of ties, the means differ by
    rounding errors only, and the categories are tried in the order of their codes instead.
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
    can_prefix_fail: cython.bint = not is_regression and n_sums > 2
    can_prefix_fail = can_prefix_fail or _is_any_below(histogram, n_present, stats.min_child_size)
    if context.is_one_vs_rest:
        _search_single_categories(criterion, histogram, n_present, stats, cython.address(search))
    elif n_present <= MAX_EXHAUSTIVE_CATEGORIES and can_prefix_fail:
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


def _search_single_categories(criterion, histogram, n_present, stats, search):
    """Try to split each category from the others. The lowest category present goes to child 0."""
    one: cython.ulonglong = 1
    category: cython.int
    best_category: cython.int = -1
    _start_search(histogram, n_present, search)
    for category in range(n_present):
        bit = one << (min(MAX_ORDERED_CATEGORIES, category))
        _move_category(histogram, histogram.present[category], 1.0, bit, search)
        if _try_subset(criterion, histogram, n_present, stats, search):
            best_category = category
        _move_category(histogram, histogram.present[category], -1.0, bit, search)
    if best_category >= 0:
        for category in range(n_present):
            is_single: cython.bint = category == best_category
            histogram.branch[histogram.present[category]] = 0 if is_single == (best_category == 0) else 1


def _search_prefixes(criterion, histogram, n_present, sum_index, is_noise, stats, search):
    """Try the prefixes of the categories in the order of a share; return whether all shares are different.

    The share of a category is the share of class `sum_index` among its rows or, in regression with `sum_index` 1, the
    mean deviation of its rows. If `is_noise`, the shares differ by rounding errors only, and the order of the codes is
    used instead. With more than two classes, shares are not compared, and the result is True.
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
    sort_by_key(histogram, order, n_present)
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
