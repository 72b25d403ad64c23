"""Find the best cut of a binned column from its class histogram.

The same arithmetic as the scans of presorted lists (scan.py, scan_sums.py), once per code
instead of once per row: equal counts give equal scores, to the last bit, so a tree grown from
histograms is the one grown from the rows. A cut stands between two neighbouring codes that
the node holds; `above` of one that parts all values from what is missing is -1.
"""

import cython
from cython.cimports.libc.math import sqrt
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.criteria import impurity_of
from cython.cimports.secateur._kernels.growing import SOME_CODES, Count, Desk, Facts, Sums


def _rows_of(line, n_classes):
    """Rows of one code."""
    rows: Count = 0
    for c in range(n_classes):
        rows += line[c]
    return cython.cast(cython.double, rows)


def _whole(x):
    return cython.cast(cython.Py_ssize_t, x)


def _add(line, times, n, left):
    """Send the rows of one code to the left, so many times."""
    for c in range(n):
        left[c] += cython.cast(cython.double, times * line[c])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score(
    facts: cython.pointer[Facts],
    desk: cython.pointer[Desk],
    i: cython.double,
    is_plain: cython.bint,
    sums: cython.pointer[Sums],
) -> cython.double:
    """Gain of a cut with i rows on the left, as the scan of a list finds it; is_plain: nothing is missing."""
    n = facts.n_sums
    left = desk.left
    number = facts.measure.number
    counts = sums.counts
    rows = sums.weight
    table = facts.measure.table
    room = i * (rows - i)
    squares = product = both = 0.0
    if number == growing.GINI and sums.n_here == 2:
        d = left[sums.second] * rows - counts[sums.second] * i
        return 2 * (d * d) / (rows * room)
    if number == growing.ENTROPY_TABLE:
        units = sums.units - table[_whole(i)] - table[_whole(rows - i)]
        for c in range(n):
            units += table[_whole(left[c])] + table[_whole(counts[c] - left[c])]
        return 0.5 * facts.measure.unit * units
    if is_plain and number == growing.GINI:
        for c in range(n):
            squares += left[c] * left[c]
            product += counts[c] * left[c]
        return (squares * rows + (sums.squares - 2 * product) * i) / room - sums.squares / rows
    if is_plain:
        for c in range(1 if n == 2 else 0, n):
            d = counts[c] - left[c]
            both += sqrt(left[c] * (i - left[c])) + sqrt(d * (rows - i - d))
        return sums.base - (both if n == 2 else 0.5 * both)
    for c in range(n):
        desk.right[c] = counts[c] - left[c]
    return (
        sums.base
        - impurity_of(cython.address(facts.measure), left, n, i)
        - impurity_of(cython.address(facts.measure), desk.right, n, rows - i)
    )


def cut_codes(facts, desk, codes, n_codes, has_missing, sums, cut):
    """Best cut; whether the node holds more than one code.

    The rows of the line after the codes, if there is one, have no value: they are tried on the right and on the left
    of every cut, and against all others.
    """
    n: cython.Py_ssize_t = facts.n_sums
    left = desk.left
    least = sums.least
    rows = sums.weight
    missing = codes + n_codes * n
    n_missing = _rows_of(missing, n) if has_missing else 0.0
    i = 0.0
    last: cython.Py_ssize_t = -1
    k: cython.Py_ssize_t
    s: cython.int
    if n_missing == 0 and n == 2 and sums.n_here == 2 and facts.measure.number == growing.GINI:
        return _cut_two(codes, n_codes, sums, cut)
    for c in range(n):
        left[c] = 0
    for k in range(n_codes + (n_missing > 0)):
        here = _rows_of(codes + k * n, n)
        if here == 0:
            continue
        if here == rows:
            return False
        for s in range(2 if n_missing > 0 and k < n_codes else 1):
            at = i + s * n_missing
            if i == 0 or at < least or rows - at < least:
                continue
            if s:
                _add(missing, 1, n, left)
            score = _score(facts, desk, at, n_missing == 0, sums)
            if score > cut.score + sums.tie:
                cut.score = score
                cut.position = last
                cut.above = k if k < n_codes else -1
                cut.side = 1 - s if n_missing > 0 else -1
            if s:
                _add(missing, -1, n, left)
        for c in range(n):
            left[c] += codes[k * n + c]
        i += here
        last = k
        if i == rows:
            break
    return True


def _cut_two(codes, n_codes, sums, cut):
    """Gini of two classes: codes are passed over some at a time, as in `scan_gini.gini_two`."""
    rows = sums.weight
    ones = sums.counts[1]
    limit = (cut.score + sums.tie) * rows / 2
    left = i = 0.0
    zeros_here: Count
    ones_here: Count
    start: cython.longlong = 0
    found: cython.longlong = -1
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
            if d * d > limit * room and i >= sums.least and rows - i >= sums.least and i > 0:
                cut.score = 2 * (d * d) / (rows * room)
                limit = (cut.score + sums.tie) * rows / 2
                found = k
            left += codes[2 * k + 1]
            i += here
        start = last
    if found >= 0:
        cut.above = found
        found -= 1
        while codes[2 * found] + codes[2 * found + 1] == 0:
            found -= 1
        cut.position = found
    return True
