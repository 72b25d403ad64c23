"""Find the best cut of a presorted list where rows have weights, values are missing, or targets are numbers.

As in scan.py; and the last `n_missing` entries are missing: they are tried on both sides of
every cut, and against all others. As sums they are constants that are added to either side.
"""

import cython
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.criteria import impurity_of
from cython.cimports.secateur._kernels.growing import BLOCK, Entry, weight_of


def quadratic(facts, entries, n_missing, sums, cut):
    """Gini of two classes, and squared error: the gain is f (x W - T a)^2 / (W a (W - a)), screened without division.

    To the left go the weight a and x of the second class (f = 2) or of the deviations (f = 1);
    W and T are the node's.
    """
    xs = cython.declare(cython.double[64])
    weights = cython.declare(cython.double[64])
    is_squares: cython.bint = facts.measure.number == growing.SQUARES
    n = sums.n
    n_seen = n - n_missing
    last: cython.Py_ssize_t = n_seen + (n_missing > 0)
    weight = sums.weight
    total = sums.total if is_squares else sums.counts[sums.second]
    factor = 1.0 if is_squares else 2.0
    shift = facts.shift
    label: Entry = 0 if is_squares else sums.second << 1
    mask: Entry = facts.mask ^ 1
    centre = sums.centre
    y = facts.y
    of_row = facts.weight
    of_first = of_second = 1.0
    is_by_class: cython.bint = not is_squares and (of_row == cython.NULL or facts.of_class != cython.NULL)
    hit: Entry
    limit = (cut.score + sums.tie) * weight / factor
    x = a = lost_x = lost = 0.0
    ones: cython.int = 0
    start: cython.Py_ssize_t = 0
    k: cython.int
    s: cython.int
    size: cython.int
    if is_by_class and facts.of_class != cython.NULL:
        of_first = facts.of_class[sums.first]
        of_second = facts.of_class[sums.second]
    for i in range(n_seen, n):
        row = entries[i] >> shift
        w = weight_of(facts, row)
        lost += w
        if is_squares:
            lost_x += w * (y[row] - centre)
        elif (entries[i] & mask) == label:
            lost_x += w
    lost_size = lost if facts.by_weight else cython.cast(cython.double, n_missing)
    while start < last:  # the entry before the first cut is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, last - start) if last - start < BLOCK else BLOCK
        block = entries + start
        first = cython.cast(cython.double, start)
        if is_by_class:
            for k in range(size):
                xs[k] = ones
                ones += cython.cast(cython.int, (block[k] & mask) == label)
            for k in range(size):
                here = xs[k] * of_second
                weights[k] = of_first * (first + k - xs[k]) + here
                xs[k] = here
        elif is_squares and of_row == cython.NULL:
            for k in range(size):
                xs[k] = x
                weights[k] = first + k
                x += y[block[k] >> shift] - centre
        else:
            for k in range(size):
                xs[k] = x
                weights[k] = a
                e = block[k]
                w = of_row[e >> shift]
                a += w
                if is_squares:
                    x += w * (y[e >> shift] - centre)
                else:
                    x += w if (e & mask) == label else 0.0
        if start == 0:
            start = 1
            continue
        hit = 0
        for k in range(size):
            d = xs[k] * weight - total * weights[k]
            e = block[k]
            hit |= e if d * d > limit * (weights[k] * (weight - weights[k])) else 0
        if n_missing > 0:
            for k in range(size):
                here = weights[k] + lost
                d = (xs[k] + lost_x) * weight - total * here
                e = block[k]
                hit |= e if d * d > limit * (here * (weight - here)) else 0
        if hit & 1:
            for k in range(size):
                if not block[k] & 1:
                    continue
                for s in range(2 if n_missing > 0 and start + k < n_seen else 1):  # missing rows right, then left
                    here = weights[k] + s * lost
                    d = (xs[k] + s * lost_x) * weight - total * here
                    room = here * (weight - here)
                    if d * d > limit * room and room > 0:
                        here = (weights[k] if facts.by_weight else first + k) + s * lost_size
                        if here >= sums.least and sums.size - here >= sums.least:
                            cut.score = factor * (d * d) / (weight * room)
                            limit = (cut.score + sums.tie) * weight / factor
                            cut.position = start + k
                            cut.side = 1 - s
        start += BLOCK


def _lost(facts, desk, entries, n_missing, sums):
    """The weight of the missing rows, whose classes go to `desk.gone`; clears `desk.left`."""
    mask: Entry = facts.mask
    lost = 0.0
    for h in range(facts.n_sums):
        desk.left[h] = 0
        desk.gone[h] = 0
    for i in range(sums.n - n_missing, sums.n):
        e = entries[i]
        desk.gone[(e & mask) >> 1] += weight_of(facts, e >> facts.shift)
    for h in range(facts.n_sums if n_missing > 0 else 0):
        lost += desk.gone[h]
    return lost


def _squares_gain(left, gone, s, n, a, sums):
    """Gain of gini from its definition; the classes go left, and where s is 1 what is missing of them."""
    own = rest = 0.0
    b = sums.weight - a
    for c in range(n):
        x = left[c] + s * gone[c]
        own += x * (a - x)
        x = sums.counts[c] - x
        rest += x * (b - x)
    return sums.base - own / a - rest / b


def gini(facts, desk, entries, n_missing, sums, cut):
    """Sums of squares over both sides, kept up entry by entry and screened; what survives is scored from the counts."""
    squares_at = cython.declare(cython.double[64])
    product_at = cython.declare(cython.double[64])
    weights = cython.declare(cython.double[64])
    met_at = cython.declare(cython.double[64])
    n_sums = facts.n_sums
    n_seen = sums.n - n_missing
    last: cython.Py_ssize_t = n_seen + (n_missing > 0)
    weight = sums.weight
    counts = sums.counts
    left = desk.left
    gone = desk.gone
    of_row = facts.weight
    of_class = facts.of_class
    shift = facts.shift
    mask: Entry = facts.mask
    hit: Entry
    all_squares = sums.squares
    squares = product = met = a = lost_squares = lost_product = 0.0
    start: cython.Py_ssize_t = 0
    k: cython.int
    s: cython.int
    size: cython.int
    lost = _lost(facts, desk, entries, n_missing, sums)
    for h in range(n_sums):
        lost_squares += gone[h] * gone[h]
        lost_product += gone[h] * counts[h]
    lost_size = lost if facts.by_weight else cython.cast(cython.double, n_missing)
    constant = all_squares / weight
    slack = 1e-12 * weight * weight * weight  # differences of large numbers: for their rounding
    limit = cut.score + sums.tie + constant
    while start < last:  # the entry before the first cut is a block of its own
        size = 1 if start == 0 else cython.cast(cython.int, last - start) if last - start < BLOCK else BLOCK
        block = entries + start
        first = cython.cast(cython.double, start)
        for k in range(size):
            squares_at[k] = squares
            product_at[k] = all_squares - 2 * product
            weights[k] = a
            met_at[k] = met
            e = block[k]
            c = (e & mask) >> 1
            if of_class != cython.NULL:
                w = of_class[c]
            elif of_row != cython.NULL:
                w = of_row[e >> shift]
            else:
                w = 1.0
            squares += w * (2 * left[c] + w)
            left[c] += w
            product += w * counts[c]
            met += w * gone[c]
            a += w
        if start == 0:
            start = 1
            continue
        hit = 0
        for k in range(size):
            reached = squares_at[k] * weight + product_at[k] * weights[k] + slack
            e = block[k]
            hit |= e if reached > limit * (weights[k] * (weight - weights[k])) else 0
        if n_missing > 0:
            for k in range(size):
                here = weights[k] + lost
                reached = squares_at[k] + 2 * met_at[k] + lost_squares
                reached = reached * weight + (product_at[k] - 2 * lost_product) * here + slack
                e = block[k]
                hit |= e if reached > limit * (here * (weight - here)) else 0
        if hit & 1:
            for k in range(size - 1, -1, -1):  # back to where the block began, and forward again
                e = block[k]
                left[(e & mask) >> 1] -= weight_of(facts, e >> shift)
            for k in range(size):
                e = block[k]
                for s in range((2 if n_missing > 0 and start + k < n_seen else 1) if e & 1 else 0):
                    here = weights[k] + s * lost
                    reached = squares_at[k] + s * (2 * met_at[k] + lost_squares)
                    reached = reached * weight + (product_at[k] - s * 2 * lost_product) * here + slack
                    if not reached > limit * (here * (weight - here)):
                        continue
                    w = (weights[k] if facts.by_weight else first + k) + s * lost_size
                    if w >= sums.least and sums.size - w >= sums.least and 0 < here < weight:
                        reached = _squares_gain(left, gone, s, n_sums, here, sums)
                        if reached > cut.score + sums.tie:
                            cut.score = reached
                            limit = reached + sums.tie + constant
                            cut.position = start + k
                            cut.side = 1 - s
                left[(e & mask) >> 1] += weight_of(facts, e >> shift)
        start += BLOCK


def any_criterion(facts, desk, entries, n_missing, sums, cut):
    """Any criterion of classes, from its definition at every cut."""
    n_sums = facts.n_sums
    n_seen: cython.Py_ssize_t = sums.n - n_missing
    left = desk.left
    right = desk.right
    gone = desk.gone
    mask: Entry = facts.mask
    shift = facts.shift
    of_row = facts.weight
    a = 0.0
    i: cython.Py_ssize_t
    s: cython.int
    lost = _lost(facts, desk, entries, n_missing, sums)
    lost_size = lost if facts.by_weight else cython.cast(cython.double, n_missing)
    for h in range(n_sums):
        right[h] = sums.counts[h]
    for i in range(n_seen + (n_missing > 0)):
        e = entries[i]
        for s in range((2 if n_missing > 0 and i < n_seen else 1) if i > 0 and e & 1 else 0):
            size = (a if facts.by_weight else cython.cast(cython.double, i)) + s * lost_size
            if size < sums.least or sums.size - size < sums.least:
                continue
            if s:
                for h in range(n_sums):
                    left[h] += gone[h]
                    right[h] -= gone[h]
            score = (
                sums.base
                - impurity_of(cython.address(facts.measure), left, n_sums, a + s * lost)
                - impurity_of(cython.address(facts.measure), right, n_sums, sums.weight - a - s * lost)
            )
            if score > cut.score + sums.tie:
                cut.score = score
                cut.position = i
                cut.side = 1 - s
            if s:
                for h in range(n_sums):
                    left[h] -= gone[h]
                    right[h] += gone[h]
        if i == n_seen:
            break
        w = 1.0 if of_row == cython.NULL else of_row[e >> shift]
        c = (e & mask) >> 1
        left[c] += w
        right[c] -= w
        a += w
