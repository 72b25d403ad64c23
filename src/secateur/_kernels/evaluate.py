"""Find the best test of a node over all its columns.

Classes are searched kind by kind (lists, two-valued columns, nominal ones), numbers column by
column; of tied tests the lower column wins.
"""

import cython
from cython.cimports.libc.math import INFINITY, fabs, log2
from cython.cimports.secateur._kernels import bits, coded, growing, ratio
from cython.cimports.secateur._kernels.code_cuts import cut_codes
from cython.cimports.secateur._kernels.criteria import impurity_of, impurity_sides
from cython.cimports.secateur._kernels.growing import (
    DEPTH,
    END,
    N_FIELDS,
    NUMERIC,
    START,
    SUBSET,
    Cut,
    Test,
)
from cython.cimports.secateur._kernels.scan import scan
from cython.cimports.secateur._kernels.squares import square_sums

TIE = cython.declare(cython.double, 1e-12)  # of the node's impurity: scores nearer than this are tied
NEAR = cython.declare(cython.double, 1e-9)  # of the node's impurity: far more than rounding, far less than matters
EXACT = cython.declare(cython.int, 64)  # of so few rows of weight 1 scores are right to far less than that


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


def class_sums(facts, node, reals, sums):
    """What the tests of a node of classes start from."""
    sums.n = node[END] - node[START]
    sums.counts = reals
    sums.weight = 0
    sums.n_here = 0
    sums.total = 0
    sums.centre = 0
    for c in range(facts.n_sums):
        sums.weight += reals[c]
        if reals[c] > 0:
            if sums.n_here == 0:
                sums.first = c
            sums.second = c
            sums.n_here += 1
    sums.size = sums.weight if facts.by_weight else cython.cast(cython.double, sums.n)
    sums.base = impurity_of(cython.address(facts.measure), reals, facts.n_sums, sums.weight)


def no_test(facts, test):
    """No test: what any must beat."""
    test.score = -INFINITY if facts.allow_zero else 0.0
    test.slot = -1
    test.kind = growing.NONE
    test.below = -1
    test.above = -1
    test.default = 0


def set_test(test, score, slot, kind, below, above, default):
    """Write a test."""
    test.score = score
    test.slot = slot
    test.kind = kind
    test.below = below
    test.above = above
    test.default = default


def _least(facts):
    """What each side of a binary test must have."""
    return facts.n_large if facts.is_ratio and facts.n_large > facts.least_leaf else facts.least_leaf


def _is_settled(facts, sums, best):
    """Whether a test takes all impurity away, so that no later one can be better."""
    is_exact: cython.bint = facts.weight == cython.NULL and sums.n <= EXACT and not facts.is_ratio
    return is_exact and best.slot >= 0 and best.score > sums.base - 0.5 * TIE * sums.base


def best_of_lists(facts, desk, lists, node, sums, first, last, best):
    """Better cut than `best` among some lists; strikes constant ones from the node's varying slots."""
    cut: Cut
    test: Test
    floor = -INFINITY if facts.allow_zero else 0.0
    tie = TIE * sums.base
    least = _least(facts)
    for s in range(first, last):
        if not is_varying(node, s):
            continue
        if _is_settled(facts, sums, best):
            desk.has_ties[s] = 1  # nobody has looked
            continue
        entries = lists + s * facts.n_rows + node[START]
        n_missing = n_missing_at_end(facts, s, entries, sums.n)
        cut.side = -1
        scan(
            facts, desk, entries, n_missing, sums, floor if facts.is_ratio else best.score, tie, least,
            cython.address(cut),
        )  # fmt: skip
        desk.has_ties[s] = cut.flags >> 1
        if not cut.flags & 1:
            _strike(node, s)
        if cut.position < 0:
            continue
        if facts.is_ratio:
            set_test(cython.address(test), cut.score, s, NUMERIC, cut.position, 0, cut.side if n_missing else -1)
            ratio.list_ratio(facts, desk, entries, n_missing, sums, cython.address(test))
        else:
            set_test(best, cut.score, s, NUMERIC, cut.position, 0, cut.side if n_missing else -1)


def _by_bounds(facts, histogram, node, sums, base, n, order, bounds):
    """Order some counted columns by what a test of two classes can gain there at most; strikes constant ones."""
    at: cython.int
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


def best_of_codes(facts, desk, rows, node, sums, first, last, best):
    """Better test than `best` among some columns of codes; a set of categories goes to the histogram's branch.

    Those of numbers are bins, in rows of weight 1 without missing values. Of two classes the columns of
    a word are tried in the order of what they can gain at most: few are then looked at closely.
    """
    j: cython.Py_ssize_t
    entries = rows + node[START]
    measure = cython.address(facts.measure)
    histogram = cython.address(desk.histogram)
    test: Test
    tie = TIE * sums.base
    n_large = _least(facts)
    is_whole: cython.bint = facts.weight == cython.NULL and facts.measure.number != growing.SQUARES
    is_bounded: cython.bint = facts.measure.number == growing.GINI or facts.measure.number == growing.SQRT
    is_two: cython.bint = is_bounded and sums.n_here == 2 and not facts.is_ratio and not facts.multiway
    order = cython.declare(cython.int[8])
    bounds = cython.declare(cython.double[8])
    base = first  # the columns from here
    counted = first  # to there have been counted
    cut: Cut
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
        if facts.is_nominal[j] and not coded.is_affordable(facts.n_codes[j], node[DEPTH] + facts.above):
            _strike(node, s)
            continue
        no_test(facts, cython.address(test))
        score = test.score if facts.is_ratio else best.score
        if s < counted:
            tally = histogram.tally + (s - base) * histogram.table
            if is_two and bounds[s - base] <= best.score + tie - NEAR * sums.base:
                continue
            if is_two and s < best.slot:  # the lower column wins a tie
                score -= 2 * tie
            if not facts.is_nominal[j]:
                if not cut_codes(facts, desk, tally, facts.n_codes[j], sums, score, tie, n_large, cython.address(cut)):
                    _strike(node, s)
                elif cut.position >= 0:
                    set_test(best, cut.score, s, NUMERIC, cut.position, cut.flags, -1)
                continue
            n_present = coded.take(histogram, tally, facts.n_codes[j])
        else:
            n_present = coded.fill(histogram, facts, cython.cast(cython.int, j), node[START], entries, sums)
        if n_present < 2:
            _strike(node, s)
        elif facts.multiway:
            left = coded.multiway_score(measure, histogram, n_present, sums, facts.least_leaf, n_large)
            if left > score + tie:
                set_test(cython.address(test), left, s, growing.MULTIWAY, -1, -1, -1)
        elif coded.subset_cut(facts, histogram, n_present, facts.n_codes[j], sums, cython.address(score), tie, n_large):
            set_test(cython.address(test), score, s, SUBSET, -1, -1, -1)
        if test.slot >= 0 and facts.is_ratio:
            left = 0
            information = 0
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


def _best_of_bit(facts, desk, p, score, sums, best):
    """Take the test of a two-valued column where it is better than `best`."""
    slot = facts.n_lists + facts.n_coded + p
    floor = -INFINITY if facts.allow_zero else 0.0
    kind = NUMERIC
    test: Test
    if score <= (floor if facts.is_ratio else best.score) + TIE * sums.base:
        return
    if facts.is_nominal[facts.n_coded + p]:
        kind = growing.MULTIWAY if facts.multiway else SUBSET
    if facts.is_ratio:
        set_test(cython.address(test), score, slot, kind, 0, 1, -1)
        ratio.keep_ratio(
            desk, cython.address(test), 2 * score / sums.weight, ratio.information(desk.sides[p] / sums.weight)
        )
    else:
        set_test(best, score, slot, kind, 0, 1, -1)


def _is_admissible(desk, facts, p, size, least):
    """Whether both sides of a two-valued column have rows, and as many as the limits ask for."""
    own = desk.sides[2 * facts.width + p]
    return own > 0 and own >= least and size > own and size - own >= least


def best_of_bits(facts, desk, rows, node, sums, best):
    """Better test than `best` among the two-valued columns of classes: zeros to the left, ones to the right."""
    impure = desk.sides + facts.width
    least = _least(facts)
    tie = TIE * sums.base
    is_few: cython.bint = facts.words != cython.NULL and facts.weight == cython.NULL and sums.n < 256
    if is_few and facts.measure.number == growing.GINI:
        bits.gini_of_few(facts, desk, node[START], sums)
    else:
        n_lines = bits.sum_ones(facts, desk, rows + node[START], node[START], sums)
        impurity_sides(
            cython.address(facts.measure), desk.ones, desk.own, n_lines, sums.weight, facts.width, desk.sides, impure,
            desk.spare,
        )  # fmt: skip
    for p in range(facts.n_bits):
        if (
            (facts.is_ratio or sums.base - impure[p] > best.score + tie)
            and _is_admissible(desk, facts, p, sums.size, least)
            and is_varying(node, facts.n_lists + facts.n_coded + p)
        ):
            _best_of_bit(facts, desk, p, sums.base - impure[p], sums, best)
    if best.kind == SUBSET and best.slot >= facts.n_lists + facts.n_coded:
        desk.histogram.branch[0] = 0
        desk.histogram.branch[1] = 1


def is_better(facts, a, b, base):
    """Whether b has the larger score than a, or a tied one and the lower column."""
    tie = TIE * base
    if a.slot < 0 or (b.slot >= 0 and b.score > a.score + tie):
        return True
    return b.slot >= 0 and b.score >= a.score - tie and facts.feature[b.slot] < facts.feature[a.slot]


def _best_ratio(facts, desk, best):
    """The test of best gain ratio among those of at least the mean gain."""
    mean: cython.double = 0
    n_tests: cython.int = 0
    rival: Test
    for s in range(facts.n_slots):
        if desk.gains[2 * s] > -INFINITY:
            mean += desk.gains[2 * s]
            n_tests += 1
    mean = mean / (n_tests if n_tests > 0 else 1) - TIE
    set_test(best, -INFINITY, -1, growing.NONE, -1, -1, 0)
    for s in range(facts.n_slots):
        if n_tests > 0 and desk.gains[2 * s] >= mean:
            rival.score = desk.gains[2 * s + 1]
            rival.slot = s
            rival.kind = desk.tests[4 * s]
            rival.below = desk.tests[4 * s + 1]
            rival.above = desk.tests[4 * s + 2]
            rival.default = desk.tests[4 * s + 3]
            if is_better(facts, best, cython.address(rival), fabs(rival.score)):
                best[0] = rival


def _evaluate_squares(facts, desk, lists, rows, node, sums, best):
    """Column by column: of tied tests the lower column wins, because it comes first."""
    n_coded = facts.n_lists + facts.n_coded
    t: cython.int = 0
    last: cython.int
    if facts.n_bits > 0:
        bits.sum_ones(facts, desk, rows + node[START], node[START], sums)
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
            best_of_codes(facts, desk, rows, node, sums, s, s + 1, best)
        else:
            p = s - n_coded
            if _is_admissible(desk, facts, p, sums.size, facts.least_leaf) and is_varying(node, s):
                w = desk.ones[p]
                d = desk.ones[facts.width + p] * sums.weight - sums.total * w
                _best_of_bit(facts, desk, p, d * d / (sums.weight * (w * (sums.weight - w))), sums, best)
    if best.kind == SUBSET and best.slot >= n_coded:
        desk.histogram.branch[0] = 0
        desk.histogram.branch[1] = 1


def evaluate(facts, desk, lists, rows, node, reals, sums, best):
    """Best test of a node over all columns; whether there is one."""
    n_coded = facts.n_lists + facts.n_coded
    rival: Test
    no_test(facts, best)
    if facts.measure.number == growing.SQUARES:
        if not square_sums(facts, lists, rows, node, sums):
            return False
        _evaluate_squares(facts, desk, lists, rows, node, sums, best)
        return best.slot >= 0
    class_sums(facts, node, reals, sums)
    if facts.is_ratio:
        for slot in range(facts.n_slots):
            desk.gains[2 * slot] = -INFINITY
    best_of_lists(facts, desk, lists, node, sums, 0, facts.n_lists, best)
    if facts.n_bits > 0:
        no_test(facts, cython.address(rival))
        best_of_bits(facts, desk, rows, node, sums, cython.address(rival))
        if is_better(facts, best, cython.address(rival), sums.base):
            best[0] = rival
    if facts.n_coded > 0:
        no_test(facts, cython.address(rival))
        if not facts.is_ratio:  # what is worse than the best so far by more than a tie need not be found
            rival.score = max(rival.score, best.score - 2 * TIE * sums.base)
        best_of_codes(facts, desk, rows, node, sums, facts.n_lists, n_coded, cython.address(rival))
        if is_better(facts, best, cython.address(rival), sums.base):
            best[0] = rival
    if facts.is_ratio:
        _best_ratio(facts, desk, best)
    if best.kind == SUBSET:  # later columns may have overwritten its categories
        slot = cython.cast(cython.int, best.slot)
        if slot >= n_coded:
            desk.histogram.branch[0] = 0
            desk.histogram.branch[1] = 1
        elif facts.is_ratio:
            no_test(facts, cython.address(rival))
            best_of_codes(facts, desk, rows, node, sums, slot, slot + 1, cython.address(rival))
    return best.slot >= 0
