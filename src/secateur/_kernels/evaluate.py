"""Find the best test of a node over all its columns.

Classes are searched kind by kind (lists, two-valued columns, nominal ones), numbers column by
column; of tied tests the lower column wins.
"""

import cython
from cython.cimports.libc.math import INFINITY, fabs, log2
from cython.cimports.secateur._kernels import bits, coded, growing, ratio
from cython.cimports.secateur._kernels.code_cuts import cut_codes
from cython.cimports.secateur._kernels.criteria import impurity_of, impurity_sides, node_units
from cython.cimports.secateur._kernels.growing import N_FIELDS, NUMERIC, START, SUBSET, Cut, Entry, Test, as_entries
from cython.cimports.secateur._kernels.scan import scan
from cython.cimports.secateur._kernels.squares import square_sums

TIE = cython.declare(cython.double, 1e-12)  # of the node's impurity: scores nearer than this are tied
NEAR = cython.declare(cython.double, 1e-9)  # of the node's impurity: far more than rounding, far less than matters
EXACT = cython.declare(cython.int, 64)  # of so few rows of weight 1 scores are right to far less than that
LARGE = cython.declare(cython.double, 2)  # gain ratio: examples that two branches must have


def n_missing_at_end(facts, slot, entries, n):
    """Missing rows stand at the end of a list: find where they begin by halving."""
    low: cython.Py_ssize_t = 0
    high = n
    if facts.line == cython.NULL or facts.line[slot] < 0:
        return 0
    missing = facts.missing + facts.line[slot] * facts.n_rows
    if not missing[entries[n - 1] >> facts.shift]:
        return 0
    while low < high:
        middle = (low + high) >> 1
        if missing[entries[middle] >> facts.shift]:
            high = middle
        else:
            low = middle + 1
    return n - low


def is_varying(node, slot):
    return (node[N_FIELDS + (slot >> 6)] >> (slot & 63)) & 1


def _strike(node, slot):
    one: cython.ulonglong = 1
    node[N_FIELDS + (slot >> 6)] &= ~cython.cast(cython.longlong, one << (slot & 63))


def class_sums(facts, n, reals, sums):
    """What the tests of a node of n rows with classes start from."""
    sums.n = n
    sums.counts = reals
    sums.n_here = 0
    sums.total = sums.centre = 0
    weight = squares = 0.0
    for c in range(facts.n_sums):
        weight += reals[c]
        squares += reals[c] * reals[c]
        if reals[c] > 0:
            if sums.n_here == 0:
                sums.first = c
            sums.second = c
            sums.n_here += 1
    sums.weight = weight
    sums.squares = squares
    sums.size = sums.weight if facts.by_weight else cython.cast(cython.double, n)
    sums.base = impurity_of(cython.address(facts.measure), reals, facts.n_sums, sums.weight)
    if facts.measure.number == growing.ENTROPY_TABLE:
        sums.units = node_units(cython.address(facts.measure), reals, facts.n_sums, sums.weight)
    _set_limits(facts, sums)


def _set_limits(facts, sums):
    sums.tie = TIE * sums.base
    sums.least = max(LARGE, facts.least_leaf) if facts.is_ratio else facts.least_leaf


def no_test(facts):
    """No test: what any must beat."""
    return Test(-INFINITY if facts.allow_zero else 0.0, -1, growing.NONE, -1, -1, 0)


def _to_beat(facts, best):
    """What a column's test must beat: the best of the others, unless each keeps its own for the gain ratio."""
    return no_test(facts).score if facts.is_ratio else best.score


def _is_settled(facts, sums, best):
    """Whether a test takes all impurity away, so that no later one can be better."""
    is_exact: cython.bint = facts.weight == cython.NULL and sums.n <= EXACT and not facts.is_ratio
    return is_exact and best.slot >= 0 and best.score > sums.base - 0.5 * sums.tie


def _n_differ(entries, n):
    """How many entries after the first differ from the one before."""
    n_differ: Entry = 0
    for i in range(1, n):
        n_differ += entries[i] & 1
    return n_differ


def best_of_lists(facts, desk, lists, node, sums, first, last, best):
    """Better cut than `best` among some lists; strikes constant ones from the node's varying slots."""
    for s in range(first, last):
        if not is_varying(node, s):
            continue
        if _is_settled(facts, sums, best):
            desk.has_ties[s] = 1  # nobody has looked
            continue
        entries = lists + s * facts.n_rows + node[START]
        n_missing = n_missing_at_end(facts, s, entries, sums.n)
        n_differ = sums.n - 1
        if not facts.is_distinct[s]:
            n_differ = _n_differ(entries, sums.n - n_missing + (n_missing > 0))
            if sums.n == facts.n_rows and n_differ == sums.n - 1:
                facts.is_distinct[s] = 1
        desk.has_ties[s] = n_differ < sums.n - 1  # so that splitting must mend the bits that tell
        if n_differ == 0:
            _strike(node, s)
            continue
        cut = Cut(_to_beat(facts, best), -1, -1, 1)
        scan(facts, desk, entries, n_missing, sums, cython.address(cut))
        if cut.position < 0:
            continue
        test = Test(cut.score, s, NUMERIC, cut.position, 0, cut.side if n_missing else -1)
        if facts.is_ratio:
            ratio.list_ratio(facts, desk, entries, n_missing, sums, cython.address(test))
        else:
            best[0] = test


def _by_bounds(facts, histogram, node, sums, base, n, order, bounds):
    """Order some counted columns by what a test of two classes can gain there at most; strikes constant ones."""
    j: cython.Py_ssize_t
    for t in range(n):
        j = base + t - facts.n_lists
        bounds[t] = sums.base
        if facts.is_nominal[j] and coded.most_of_two(
            facts.measure.number, histogram.tally + t * histogram.table, facts.n_codes[j], facts.n_sums, sums,
            cython.address(bounds[t]),
        ) < 2:  # fmt: skip
            _strike(node, base + t)
        at = t
        while at > 0 and bounds[order[at - 1] - base] < bounds[t]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = base + t


def best_of_codes(facts, desk, lists, node, sums, first, last, best):
    """Better test than `best` among some columns of codes; a set of categories goes to the histogram's branch.

    Those of numbers are bins, in rows of weight 1 without missing values. Of two classes the columns of
    a word are tried in the order of what they can gain at most: few are then looked at closely.
    """
    j: cython.Py_ssize_t
    measure = cython.address(facts.measure)
    histogram = cython.address(desk.histogram)
    is_whole: cython.bint = facts.weight == cython.NULL and measure.number != growing.SQUARES
    is_bounded: cython.bint = measure.number == growing.GINI or measure.number == growing.SQRT
    is_two: cython.bint = is_bounded and sums.n_here == 2 and not facts.is_ratio and not facts.multiway
    order = cython.declare(cython.int[8])
    bounds = cython.declare(cython.double[8])
    base = first  # the columns from here
    counted = first  # to there have been counted
    for i in range(first, last):
        if _is_settled(facts, sums, best):
            return
        s = i
        if s >= counted and is_whole and is_varying(node, s) and coded.is_countable(facts, s - facts.n_lists, sums.n):
            base = s
            counted = s + coded.count(histogram, facts, s - facts.n_lists, last - facts.n_lists, node[START], sums)
            if is_two:
                _by_bounds(facts, histogram, node, sums, base, counted - base, order, bounds)
        if s < counted and is_two:
            s = order[s - base]
        if not is_varying(node, s):
            continue
        j = s - facts.n_lists
        if facts.is_nominal[j] and not coded.is_affordable(facts.n_codes[j], node[growing.DEPTH] + facts.above):
            _strike(node, s)
            continue
        test = no_test(facts)
        score = _to_beat(facts, best)
        if s < counted:
            tally = histogram.tally + (s - base) * histogram.table
            if is_two and bounds[s - base] <= best.score + sums.tie - NEAR * sums.base:
                continue
            if is_two and s < best.slot:  # the lower column wins a tie
                score -= 2 * sums.tie
            if not facts.is_nominal[j]:
                cut = Cut(score, -1, -1, -1)
                if not cut_codes(facts, desk, tally, facts.n_codes[j], False, sums, cython.address(cut)):
                    _strike(node, s)
                elif cut.position >= 0:
                    best[0] = Test(cut.score, s, NUMERIC, cut.position, cut.above, -1)
                continue
            n_present = coded.take(histogram, tally, facts.n_codes[j])
        else:
            rows = as_entries(facts.rows, lists) + node[START]
            n_present = coded.fill(histogram, facts, cython.cast(cython.int, j), node[START], rows, sums)
        if n_present < 2:
            _strike(node, s)
        elif facts.multiway:
            gain = coded.multiway_score(measure, histogram, n_present, sums, facts.least_leaf, sums.least)
            if gain > score + sums.tie:
                test = Test(gain, s, growing.MULTIWAY, -1, -1, -1)
        elif coded.subset_cut(facts, histogram, n_present, facts.n_codes[j], sums, cython.address(score)):
            test = Test(score, s, SUBSET, -1, -1, -1)
        if test.slot >= 0 and facts.is_ratio:
            left = information = 0.0
            for t in range(n_present):
                k = histogram.present[t]
                share = histogram.weights[k] / sums.weight
                if facts.multiway:
                    information += -share * log2(share) if share > 0 else 0.0
                elif histogram.branch[k] == 0:
                    left += share
            if not facts.multiway:
                information = ratio.information(left)
            ratio.keep_ratio(desk, cython.address(test), 2 * test.score / sums.weight, information)
        elif test.slot >= 0:
            best[0] = test
        coded.clear(histogram, n_present)


def try_bit(facts, desk, p, score, sums, best):
    """Take the test of a two-valued column where it is better than `best`, and both sides are large enough."""
    slot = facts.n_lists + facts.n_coded + p
    own = desk.sides[2 * facts.width + p]
    rest = sums.size - own
    if own <= 0 or own < sums.least or rest <= 0 or rest < sums.least or score <= _to_beat(facts, best) + sums.tie:
        return
    kind = (growing.MULTIWAY if facts.multiway else SUBSET) if facts.is_nominal[facts.n_coded + p] else NUMERIC
    test = Test(score, slot, kind, 0, 1, -1)
    if facts.is_ratio:
        information = ratio.information(desk.sides[p] / sums.weight)
        ratio.keep_ratio(desk, cython.address(test), 2 * score / sums.weight, information)
    else:
        best[0] = test


def best_of_bits(facts, desk, lists, node, sums, best):
    """Better test than `best` among the two-valued columns of classes: zeros to the left, ones to the right."""
    impure = desk.sides + facts.width
    is_few: cython.bint = facts.words != cython.NULL and facts.weight == cython.NULL and sums.n < 256
    if is_few and facts.measure.number == growing.GINI:
        bits.gini_of_few(facts, desk, node[START], sums)
    else:
        n_lines = bits.sum_ones(facts, desk, as_entries(facts.rows, lists) + node[START], node[START], sums)
        impurity_sides(facts, desk, n_lines, sums.weight)
    for p in range(facts.n_bits):
        score = sums.base - impure[p]
        if (facts.is_ratio or score > best.score + sums.tie) and is_varying(node, facts.n_lists + facts.n_coded + p):
            try_bit(facts, desk, p, score, sums, best)


def part_two(facts, desk, best):
    """Write the branches of a set of categories of a two-valued column."""
    if best.kind == SUBSET and best.slot >= facts.n_lists + facts.n_coded:
        desk.histogram.branch[0] = 0
        desk.histogram.branch[1] = 1


def is_better(facts, a, b, tie):
    """Whether b has the larger score than a, or a tied one and the lower column."""
    if a.slot < 0 or (b.slot >= 0 and b.score > a.score + tie):
        return True
    return b.slot >= 0 and b.score >= a.score - tie and facts.feature[b.slot] < facts.feature[a.slot]


def _best_ratio(facts, desk, best):
    """The test of best gain ratio among those of at least the mean gain."""
    mean = 0.0
    n_tests: cython.int = 0
    for s in range(facts.n_slots):
        if desk.gains[s] > -INFINITY:
            mean += desk.gains[s]
            n_tests += 1
    mean = mean / (n_tests if n_tests > 0 else 1) - TIE
    best[0] = Test(-INFINITY, -1, growing.NONE, -1, -1, 0)
    for s in range(facts.n_slots if n_tests > 0 else 0):
        rival = desk.tests + s
        if desk.gains[s] >= mean and is_better(facts, best, rival, TIE * fabs(rival.score)):
            best[0] = rival[0]


def _evaluate_squares(facts, desk, lists, node, sums, best):
    """Column by column: of tied tests the lower column wins, because it comes first."""
    n_coded = facts.n_lists + facts.n_coded
    t: cython.int = 0
    if facts.n_bits > 0:
        bits.sum_ones(facts, desk, as_entries(facts.rows, lists) + node[START], node[START], sums)
    while t < facts.n_slots:
        s = cython.cast(cython.int, facts.by_feature[t])
        t += 1
        if s < facts.n_lists:
            last = s + 1
            while last < facts.n_lists and facts.by_feature[t] == last:
                last += 1
                t += 1
            best_of_lists(facts, desk, lists, node, sums, s, last, best)
        elif _is_settled(facts, sums, best):
            continue
        elif s < n_coded:
            best_of_codes(facts, desk, lists, node, sums, s, s + 1, best)
        elif is_varying(node, s):
            p = s - n_coded
            w = desk.ones[p]
            d = desk.ones[facts.width + p] * sums.weight - sums.total * w
            try_bit(facts, desk, p, d * d / (sums.weight * (w * (sums.weight - w))), sums, best)


def _evaluate_classes(facts, desk, lists, node, sums, best):
    """Kind by kind; with a gain ratio every column is noted first."""
    n_coded = facts.n_lists + facts.n_coded
    for s in range(facts.n_slots if facts.is_ratio else 0):
        desk.gains[s] = -INFINITY
    best_of_lists(facts, desk, lists, node, sums, 0, facts.n_lists, best)
    if facts.n_bits > 0:
        rival = no_test(facts)
        best_of_bits(facts, desk, lists, node, sums, cython.address(rival))
        if is_better(facts, best, cython.address(rival), sums.tie):
            best[0] = rival
    if facts.n_coded > 0:
        rival = no_test(facts)
        if not facts.is_ratio:  # what is worse than the best so far by more than a tie need not be found
            rival.score = max(rival.score, best.score - 2 * sums.tie)
        best_of_codes(facts, desk, lists, node, sums, facts.n_lists, n_coded, cython.address(rival))
        if is_better(facts, best, cython.address(rival), sums.tie):
            best[0] = rival
    if facts.is_ratio:
        _best_ratio(facts, desk, best)
        if best.kind == SUBSET and best.slot < n_coded:  # later columns may have overwritten its categories
            rival = no_test(facts)
            s = cython.cast(cython.int, best.slot)
            best_of_codes(facts, desk, lists, node, sums, s, s + 1, cython.address(rival))


def evaluate(facts, desk, lists, node, reals, sums, best):
    """Best test of a node over all columns; whether there is one."""
    best[0] = no_test(facts)
    if facts.measure.number != growing.SQUARES:
        class_sums(facts, node[growing.END] - node[START], reals, sums)
        _evaluate_classes(facts, desk, lists, node, sums, best)
    elif square_sums(facts, lists, node, sums):
        _set_limits(facts, sums)
        _evaluate_squares(facts, desk, lists, node, sums, best)
    part_two(facts, desk, best)
    return best.slot >= 0
