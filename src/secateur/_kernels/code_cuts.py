"""Find the best cut of a binned column from its class histogram.

The same arithmetic as the scans of presorted lists (scan.py, scan_sums.py), once per code
instead of once per row: equal counts give equal scores, to the last bit, so a tree grown from
histograms is the one grown from the rows. A cut stands between two neighbouring codes that
the node holds; `best` is what it must beat by more than `tie`.

A Cut's position is the code below, or -1; its flags are the code above, or -1.
"""

import cython
from cython.cimports.libc.math import sqrt
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.criteria import impurity_of, units_of
from cython.cimports.secateur._kernels.growing import SOME_CODES, Count


def rows_of(line, n_classes):
    """Rows of one code."""
    rows: cython.longlong = 0
    for c in range(n_classes):
        rows += line[c]
    return cython.cast(cython.double, rows)


def _whole(x):
    return cython.cast(cython.Py_ssize_t, x)


def cut_codes(facts, desk, codes, n_codes, sums, best, tie, least, cut):
    """Best cut where no row of the node is missing; whether the node holds more than one code."""
    number = facts.measure.number
    n = facts.n_sums
    is_two: cython.bint = number == growing.GINI and sums.n_here == 2
    table = facts.measure.table
    half = 0.5 * facts.measure.unit
    counts = sums.counts
    left = desk.left
    rows = sums.weight
    all_squares: cython.double = 0
    squares: cython.double = 0
    product: cython.double = 0
    both: cython.double = 0
    in_units: cython.longlong = 0
    node_units: cython.longlong = 0
    limit_units: cython.longlong = 0
    i: cython.double = 0
    c: cython.int
    last: cython.longlong = -1
    is_taken: cython.bint
    if is_two and n == 2:
        return _cut_two(codes, n_codes, sums, best, tie, least, cut)
    for c in range(n):
        left[c] = 0
        all_squares += counts[c] * counts[c]
        if number == growing.ENTROPY_TABLE:
            in_units += table[_whole(counts[c])]
    constant = all_squares / rows
    limit = (best + tie) * rows / 2
    if number == growing.ENTROPY_TABLE:
        node_units = table[_whole(rows)] - in_units
        limit_units = units_of(best + tie, half)
    elif number == growing.SQRT:
        limit = sums.base - best - tie  # what both sides together must stay below
    elif not is_two:
        limit = best + tie + constant
    cut.position = -1
    for k in range(n_codes):
        line = codes + k * n
        here = rows_of(line, n)
        if here == 0:
            continue
        if here == rows:
            return False
        if i >= least and rows - i >= least and i > 0:
            is_taken = False
            room = i * (rows - i)
            if is_two:
                d = left[sums.second] * rows - counts[sums.second] * i
                is_taken = d * d > limit * room
                if is_taken:
                    best = 2 * (d * d) / (rows * room)
                    limit = (best + tie) * rows / 2
            elif number == growing.GINI:
                d = squares * rows + (all_squares - 2 * product) * i
                is_taken = d > limit * room
                if is_taken:
                    best = d / room - constant
                    limit = d / room + tie
            elif number == growing.ENTROPY_TABLE:
                units = node_units + in_units - table[_whole(i)] - table[_whole(rows - i)]
                is_taken = units > limit_units
                if is_taken:
                    best = half * units
                    limit_units = units_of(best + tie, half)
            else:
                both = 0
                for c in range(1 if n == 2 else 0, n):
                    d = left[c]
                    if counts[c] > 0 or n == 2:
                        both += sqrt(d * (i - d)) + sqrt((counts[c] - d) * (rows - i - (counts[c] - d)))
                both = both if n == 2 else 0.5 * both
                is_taken = both < limit
                if is_taken:
                    best = sums.base - both
                    limit = both - tie
            if is_taken:
                cut.position = last
                cut.flags = cython.cast(cython.int, k)
        for c in range(n):
            more = cython.cast(cython.double, line[c])
            if number == growing.ENTROPY_TABLE:
                d = counts[c] - left[c]
                in_units += (table[_whole(left[c] + more)] - table[_whole(left[c])]) + (
                    table[_whole(d - more)] - table[_whole(d)]
                )
            squares += (2 * left[c] + more) * more
            left[c] += more
            product += counts[c] * more
        i += here
        last = k
    cut.score = best
    return True


def _cut_two(codes, n_codes, sums, best, tie, least, cut):
    """Gini of two classes: codes are passed over some at a time, as in `scan_gini.gini_two`."""
    rows = sums.weight
    ones = sums.counts[1]
    limit = (best + tie) * rows / 2
    left: cython.double = 0
    i: cython.double = 0
    zeros_here: Count
    ones_here: Count
    start: cython.longlong = 0
    found: cython.longlong = -1
    cut.position = -1
    cut.score = best
    while start < n_codes:
        last = min(n_codes, start + SOME_CODES)
        zeros_here = 0
        ones_here = 0
        if last - start == SOME_CODES:
            for t in range(SOME_CODES):
                zeros_here += codes[2 * (start + t)]
                ones_here += codes[2 * (start + t) + 1]
        else:
            for k in range(start, last):
                zeros_here += codes[2 * k]
                ones_here += codes[2 * k + 1]
        here = cython.cast(cython.double, zeros_here + ones_here)
        end = i + here
        d = left * rows - ones * i
        d = max(d + ones_here * (rows - ones), zeros_here * ones - d)
        room = min(i * (rows - i), end * (rows - end))
        if here == 0 or d * d <= limit * room:
            left += ones_here
            i = end
            start = last
            continue
        for k in range(start, last):
            here = cython.cast(cython.double, codes[2 * k] + codes[2 * k + 1])
            if here == 0:
                continue
            if here == rows:
                return False
            d = left * rows - ones * i
            room = i * (rows - i)
            if d * d > limit * room and i >= least and rows - i >= least and i > 0:
                best = 2 * (d * d) / (rows * room)
                limit = (best + tie) * rows / 2
                found = k
            left += codes[2 * k + 1]
            i += here
        start = last
    if found >= 0:
        cut.score = best
        cut.flags = cython.cast(cython.int, found)
        found -= 1
        while codes[2 * found] + codes[2 * found + 1] == 0:
            found -= 1
        cut.position = found
    return True


def _score(facts, left, right, i, sums):
    """Gain of a cut with i rows on the left."""
    n = facts.n_sums
    rows = sums.weight
    table = facts.measure.table
    if facts.measure.number == growing.GINI and sums.n_here == 2:
        d = left[sums.second] * rows - sums.counts[sums.second] * i
        return 2 * (d * d) / (rows * (i * (rows - i)))
    if facts.measure.number == growing.ENTROPY_TABLE:
        units = table[_whole(rows)] - table[_whole(i)] - table[_whole(rows - i)]
        for c in range(n):
            units += table[_whole(left[c])] + table[_whole(right[c])] - table[_whole(sums.counts[c])]
        return 0.5 * facts.measure.unit * units
    return (
        sums.base
        - impurity_of(cython.address(facts.measure), left, n, i)
        - impurity_of(cython.address(facts.measure), right, n, rows - i)
    )


def cut_missing(facts, desk, codes, n_codes, sums, best, tie, least, cut):
    """Best cut where the rows of the last line, after `n_codes` others, have no value.

    They are tried on the right and on the left of every cut, and against all others.
    """
    n = facts.n_sums
    left = desk.left
    right = desk.right
    missing = codes + n_codes * n
    n_missing = rows_of(missing, n)
    rows = sums.weight
    i: cython.double = 0
    last: cython.longlong = -1
    s: cython.int
    for c in range(n):
        left[c] = 0
        right[c] = sums.counts[c]
    cut.position = -1
    for k in range(n_codes + 1):
        here = rows_of(codes + k * n, n) if k < n_codes else 0.0
        if here == 0 and k < n_codes:
            continue
        for s in range(0 if i == 0 else 2 if k < n_codes else 1):
            at = i + s * n_missing
            if at < least or rows - at < least:
                continue
            for c in range(n):
                more = cython.cast(cython.double, s * missing[c])
                left[c] += more
                right[c] -= more
            score = _score(facts, left, right, at, sums)
            if score > best + tie:
                best = score
                cut.position = last
                cut.flags = cython.cast(cython.int, k) if k < n_codes else -1
                cut.side = 1 - s
            for c in range(n):
                more = cython.cast(cython.double, s * missing[c])
                left[c] -= more
                right[c] += more
        if k < n_codes:
            for c in range(n):
                more = cython.cast(cython.double, codes[k * n + c])
                left[c] += more
                right[c] -= more
            i += here
            last = k
    cut.score = best
