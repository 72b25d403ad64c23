"""Find the best test on a nominal column, from one histogram per node.

Only the categories present in the node are looked at, so a small node costs its rows, not
the categories of the column. A line of the histogram holds the sums of one category: the
weight of every class, or weight and deviations of numbers.

A nominal split is a set of categories against the rest; the set with the lowest category
present is child 0. Of equal splits the one whose child 0 comes first as a sorted list of
categories wins (decided for up to 63 categories in the node; beyond, the first found).
"""

import cython
from cython.cimports.libc.math import INFINITY, sqrt
from cython.cimports.libc.string import memset
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.criteria import impurity_of
from cython.cimports.secateur._kernels.growing import Count, Entry, Lane, weight_of

NEAR = cython.declare(cython.double, 1e-9)  # of the node's impurity: far more than rounding, far less than matters
RUN = cython.declare(cython.Py_ssize_t, 8)  # items sorted by insertion
MANY_CODES = cython.declare(cython.longlong, 1000)
LEVELS = cython.declare(cython.longlong, 24)
TOGETHER = cython.declare(cython.int, 8)  # rows from which on all columns of a word are counted at once
EXHAUSTIVE = cython.declare(
    cython.int, 10
)  # categories up to which all subsets are tried where prefixes are not enough


def lane_of(facts, column, start):
    """Where the codes of a column are, from row `start` of the coded ones on."""
    p = column - facts.n_coded
    one: cython.ulonglong = 1
    if p < 0:
        per_word: cython.int = 64 // facts.code_bits
        words = facts.codes + (column // per_word) * facts.n_rows + start
        at = facts.code_bits * cython.cast(cython.int, column % per_word)
        return Lane(words, at, (one << facts.code_bits) - 1)
    if facts.words != cython.NULL:
        return Lane(facts.words + (p >> 6) * facts.n_rows + start, cython.cast(cython.int, p & 63), 1)
    return Lane(cython.NULL, cython.cast(cython.int, p), 1)


def is_countable(facts, column, n):
    """Whether to look at all codes of a column in a node of n rows; else only at those present."""
    return facts.n_codes[column] <= 2 * n or not facts.is_nominal[column]


def count(histogram, facts, column, last, start, sums):
    """Count rows of weight 1 by code and class, class after class; returns how many columns it was.

    Those before `last` that share a word are counted at once, a table each: no row then waits for the one before it.
    """
    n_sums = histogram.n_sums
    bits = facts.code_bits
    where = lane_of(facts, column, start)
    at = where.at
    lane = where.mask
    words = where.words
    n_here: cython.int = min(last - column, 64 // bits - at // bits, histogram.n_tables)
    tables = cython.declare(cython.p_int[4])
    t: cython.int
    for t in range(n_here - 1, 0, -1):
        if sums.n < TOGETHER or not is_countable(facts, column + t, sums.n):
            n_here = t
    for t in range(n_here):
        memset(histogram.tally + t * histogram.table, 0, facts.n_codes[column + t] * n_sums * cython.sizeof(cython.int))
    for c in range(n_sums):
        m = cython.cast(cython.Py_ssize_t, sums.counts[c])
        t = 0
        while t < n_here:
            tables[0] = histogram.tally + t * histogram.table + c
            tables[1] = tables[0] + histogram.table
            tables[2] = tables[1] + histogram.table
            tables[3] = tables[2] + histogram.table
            if t + 4 <= n_here:
                for i in range(m):
                    w = words[i] >> (at + t * bits)
                    tables[0][cython.cast(cython.Py_ssize_t, w & lane) * n_sums] += 1
                    tables[1][cython.cast(cython.Py_ssize_t, (w >> bits) & lane) * n_sums] += 1
                    tables[2][cython.cast(cython.Py_ssize_t, (w >> 2 * bits) & lane) * n_sums] += 1
                    tables[3][cython.cast(cython.Py_ssize_t, (w >> 3 * bits) & lane) * n_sums] += 1
                t += 4
            else:
                for i in range(m):
                    tables[0][cython.cast(cython.Py_ssize_t, (words[i] >> (at + t * bits)) & lane) * n_sums] += 1
                t += 1
        words += m
    return n_here


def most_of_two(number, tally, n_codes, n_sums, sums, most):
    """Gain by gini or sqrt of one child per category, which no set of them exceeds; returns the categories.

    Of two classes: what the impurities of the categories, 2 a b / (a + b) or sqrt(a b), leave of the node's.
    """
    n_present: cython.int = 0
    left: cython.double = 0
    for k in range(n_codes):
        own: cython.double = tally[k * n_sums + sums.second]
        other: cython.double = tally[k * n_sums + sums.first]
        n_present += own + other > 0
        if number == growing.GINI:
            left += own * other / max(own + other, 1.0)
        else:
            left += sqrt(own * other)
    most[0] = sums.base - (2 * left if number == growing.GINI else left)
    return n_present


def take(histogram, tally, n_codes):
    """Fill the histogram from counts; returns how many codes are present."""
    n_sums = histogram.n_sums
    n_present: cython.int = 0
    here: Count
    for k in range(n_codes):
        here = 0
        for c in range(n_sums):
            here += tally[k * n_sums + c]
        if here == 0:
            continue
        for c in range(n_sums):
            histogram.counts[k * n_sums + c] = cython.cast(cython.double, tally[k * n_sums + c])
        histogram.is_seen[k] = 1
        histogram.sizes[k] = cython.cast(cython.double, here)
        histogram.weights[k] = cython.cast(cython.double, here)
        histogram.present[n_present] = k
        n_present += 1
    return n_present


def fill(histogram, facts, column, start, entries, sums):
    """Add up the node's rows by their codes in a column; returns how many codes are present."""
    n_codes = facts.n_codes[column]
    lane = lane_of(facts, column, start)
    n_sums = histogram.n_sums
    counts = histogram.counts
    sizes = histogram.sizes
    is_seen = histogram.is_seen
    present = histogram.present
    mask: Entry = facts.mask
    is_squares: cython.bint = facts.measure.number == growing.SQUARES
    n_present: cython.int = 0
    t: cython.int
    c: cython.int
    for i in range(sums.n):
        e = entries[i]
        row = e >> facts.shift
        code = cython.cast(cython.Py_ssize_t, (lane.words[i] >> lane.at) & lane.mask)
        w = weight_of(facts, row)
        if is_squares:
            counts[2 * code] += w
            counts[2 * code + 1] += w * (facts.y[row] - sums.centre)
        else:
            counts[code * n_sums + cython.cast(cython.int, (e & mask) >> 1)] += w
        sizes[code] += w if facts.by_weight else 1.0
        if not is_seen[code]:
            is_seen[code] = 1
            present[n_present] = code
            n_present += 1
    if n_present * 8 > n_codes:
        t = 0
        for k in range(n_codes):
            if is_seen[k]:
                present[t] = k
                t += 1
    else:
        for t in range(n_present):
            histogram.keys[present[t]] = cython.cast(cython.double, present[t])
        sort_by_key(histogram, present, n_present)
    for t in range(n_present):
        k = present[t]
        total = 0
        for c in range(1 if is_squares else n_sums):
            total += counts[k * n_sums + c]
        histogram.weights[k] = total
    return n_present


def is_affordable(n_codes, depth):
    """Whether a set of categories may be tested so deep.

    A test keeps the branch of every category, and a level has up to 2**depth tests: of more than a thousand
    categories, those that would take 2**24 branches on one level are left out, whatever the rows.
    """
    return n_codes <= MANY_CODES or (
        depth < LEVELS and (n_codes << depth) <= (cython.cast(cython.longlong, 1) << LEVELS)
    )


def clear(histogram, n_present):
    """Make the histogram empty again."""
    for t in range(n_present):
        k = histogram.present[t]
        histogram.is_seen[k] = 0
        histogram.sizes[k] = 0
        for c in range(histogram.n_sums):
            histogram.counts[k * histogram.n_sums + c] = 0


def sort_by_key(histogram, order, n):
    """Sort `order[:n]` in place by key, equal keys as they stand: by merging, after short runs by insertion."""
    items = order
    keys = histogram.run_keys
    other_items = histogram.other_items
    other_keys = histogram.other_keys
    start: cython.Py_ssize_t = 0
    width = RUN
    is_right: cython.int
    while start < n:
        for b in range(start, min(n, start + RUN)):
            item = order[b]
            key = histogram.keys[item]
            i = b
            while i > start and key < keys[i - 1]:
                order[i] = order[i - 1]
                keys[i] = keys[i - 1]
                i -= 1
            order[i] = item
            keys[i] = key
        start += RUN
    while width < n:
        start = 0
        while start < n:
            middle = min(n, start + width)
            end = min(n, middle + width)
            a = start
            b = middle
            i = start
            while a < middle and b < end:
                is_right = keys[b] < keys[a]
                chosen = b if is_right else a
                other_keys[i] = keys[chosen]
                other_items[i] = items[chosen]
                a += 1 - is_right
                b += is_right
                i += 1
            while a < middle:
                other_keys[i] = keys[a]
                other_items[i] = items[a]
                a += 1
                i += 1
            while b < end:
                other_keys[i] = keys[b]
                other_items[i] = items[b]
                b += 1
                i += 1
            start = end
        swap_items = items
        items = other_items
        other_items = swap_items
        swap_keys = keys
        keys = other_keys
        other_keys = swap_keys
        width *= 2
    if items != order:
        for i in range(n):
            order[i] = items[i]


def multiway_score(measure, histogram, n_present, sums, least, n_large):
    """Gain of one child per value; -inf where a branch is below `least` or fewer than two reach `n_large`."""
    is_squares: cython.bint = measure.number == growing.SQUARES
    score = -sums.total * sums.total / sums.weight if is_squares else sums.base
    n_enough: cython.int = 0
    for t in range(n_present):
        k = histogram.present[t]
        if histogram.sizes[k] < least:
            return -INFINITY
        n_enough += histogram.sizes[k] >= n_large
        line = histogram.counts + k * histogram.n_sums
        if is_squares:
            score += line[1] * line[1] / histogram.weights[k]
        else:
            score -= impurity_of(measure, line, histogram.n_sums, histogram.weights[k])
    return score if n_enough >= 2 else -INFINITY


def _is_any_below(histogram, n_present, least):
    """Whether a category has fewer than `least` rows; else every set of categories is large enough."""
    for t in range(n_present):
        if histogram.sizes[histogram.present[t]] < least:
            return True
    return False


def _comes_first(a, b):
    """Whether the set with bits `a` comes before `b` as a sorted list (a prefix comes first)."""
    differing = a ^ b
    lowest = differing & (~differing + 1)
    higher: cython.ulonglong = ~(lowest | (lowest - 1))
    if a & lowest:
        return (b & higher) != 0
    return (a & higher) == 0


def _gain(measure, histogram, sums, left_weight, total):
    """Gain of what is on the left against what is on the right."""
    right_weight = total - left_weight
    left = right = 0.0
    n = histogram.n_sums
    if measure.number == growing.GINI and left_weight > 0 and right_weight > 0:  # without two calls
        for c in range(n):
            left += histogram.left[c] * (left_weight - histogram.left[c])
            right += histogram.right[c] * (right_weight - histogram.right[c])
        return sums.base - left / left_weight - right / right_weight
    if measure.number == growing.SQUARES:
        d = histogram.left[1] * sums.weight - sums.total * left_weight
        return d * d / (sums.weight * (left_weight * (sums.weight - left_weight)))
    return (
        sums.base
        - impurity_of(measure, histogram.left, n, left_weight)
        - impurity_of(measure, histogram.right, n, right_weight)
    )


def subset_cut(facts, histogram, n_present, n_codes, sums, best):
    """Best set of categories against the rest: whether one is better than `best`; it goes to `histogram.branch`.

    Few categories, and more than two classes or a category smaller than `least`: all sets, by a
    Gray code over the categories other than the lowest. Otherwise prefixes in order of the share
    of each class in turn: with two classes the best set is among them for every concave
    criterion (both orders are tried where shares are equal, so that these do not depend on which
    class comes first). With more classes, or if `least` rules that prefix out, this is a
    heuristic. Of numbers the order is that of the means, in which the best set is a prefix; where
    nothing can be gained but rounding it is that of the categories, so that noise decides nothing.
    """
    measure = cython.address(facts.measure)
    tie = sums.tie
    least = sums.least
    n_sums = histogram.n_sums
    counts = histogram.counts
    present = histogram.present
    order = histogram.order
    left = histogram.left
    right = histogram.right
    is_squares: cython.bint = measure.number == growing.SQUARES
    is_two: cython.bint = measure.number == growing.GINI and n_sums == 2 and facts.weight == cython.NULL
    slack = tie + NEAR * sums.base
    is_exhaustive: cython.bint = n_present <= EXHAUSTIVE and (
        (not is_squares and n_sums > 2) or _is_any_below(histogram, n_present, least)
    )
    is_noise: cython.bint = False
    found: cython.bint = False
    is_enough: cython.bint
    found_mask: cython.ulonglong = 0
    best_step: cython.int = 0
    best_mask: cython.ulonglong = 0
    one: cython.ulonglong = 1
    all_mask = (one << (min(63, n_present))) - 1
    focus: cython.int
    n_steps: cython.int
    t: cython.int
    if is_squares:
        is_noise = multiway_score(measure, histogram, n_present, sums, -INFINITY, -INFINITY) <= tie
    for focus in range(1 if is_squares or is_exhaustive else 0, 2 if is_squares or is_exhaustive else n_sums):
        total = 0
        all_size = 0
        for c in range(n_sums):
            left[c] = 0
            right[c] = 0
        for t in range(n_present):
            k = present[t]
            total += histogram.weights[k]
            all_size += histogram.sizes[k]
            for c in range(n_sums):
                right[c] += counts[k * n_sums + c]
        left_weight = 0
        left_size = 0
        mask = 0
        found_here = False
        n_steps = n_present - 1
        if is_exhaustive:
            n_steps = 1 << (n_present - 1)
        else:
            for t in range(n_present):
                order[t] = t
                k = present[t]
                histogram.keys[t] = 0.0 if is_noise else counts[k * n_sums + focus] / histogram.weights[k]
            sort_by_key(histogram, order, n_present)
        for step in range(n_steps):
            t = 0
            if not is_exhaustive:
                t = cython.cast(cython.int, order[step])
            elif step > 0:
                while not (step >> t) & 1:
                    t += 1
                t += 1
            bit = one << (min(63, t))
            sign = -1.0 if is_exhaustive and mask & bit else 1.0
            mask ^= bit
            k = present[t]
            for c in range(n_sums):
                left[c] += sign * counts[k * n_sums + c]
                right[c] -= sign * counts[k * n_sums + c]
            left_weight += sign * histogram.weights[k]
            left_size += sign * histogram.sizes[k]
            if left_size < least or all_size - left_size < least or (n_present <= 63 and mask == all_mask):
                continue
            if is_two:  # without division whether it can be better at all
                score = left[1] * total - sums.counts[1] * left_weight
                if 2 * (score * score) < (best[0] - slack) * (total * (left_weight * (total - left_weight))):
                    continue
            score = _gain(measure, histogram, sums, left_weight, total)
            named = mask if mask & 1 else mask ^ all_mask
            if score > best[0] + tie or (
                found and n_present <= 63 and score >= best[0] - tie and _comes_first(named, best_mask)
            ):
                best[0] = max(best[0], score)
                best_mask = named
                best_step = step
                found = True
                found_here = True
                found_mask = mask
        is_enough = n_sums == 2 and not is_exhaustive
        for t in range(1, n_present if is_enough else 0):
            is_enough = is_enough and histogram.keys[order[t - 1]] != histogram.keys[order[t]]
        if found_here:
            for t in range(n_present):
                if is_exhaustive:
                    histogram.branch[present[t]] = 0 if (found_mask >> t) & 1 else 1
                else:
                    histogram.branch[present[order[t]]] = 0 if t <= best_step else 1
            if histogram.branch[present[0]] == 1:
                for t in range(n_present):
                    histogram.branch[present[t]] = 1 - histogram.branch[present[t]]
        if is_enough:
            break
    if found:
        for k in range(n_codes):
            if not histogram.is_seen[k]:
                histogram.branch[k] = growing.UNSEEN
    return found
