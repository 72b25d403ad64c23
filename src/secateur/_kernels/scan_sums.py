"""Find the best cut of a presorted list where rows have weights, values are missing, or targets are numbers.

As in scan.py; and the last `n_missing` entries are missing: they are tried on both sides of
every cut, and against all others. As sums they are constants that are added to either side.
"""

import cython
from cython.cimports.secateur._kernels import growing
from cython.cimports.secateur._kernels.criteria import impurity_of
from cython.cimports.secateur._kernels.growing import BLOCK, Entry


def quadratic(facts, entries, n_missing, sums, best, tie, least, cut):
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
    label: Entry = 0
    unit: Entry = 1
    mask: Entry = ((unit << shift) - 1) ^ 1
    centre = sums.centre
    y = facts.y
    of_row = facts.weight
    of_first: cython.double = 1
    of_second: cython.double = 1
    is_by_class: cython.bint = not is_squares and (of_row == cython.NULL or facts.of_class != cython.NULL)
    by_weight: cython.bint = facts.by_weight
    some: Entry = 0
    every: Entry = 1
    hit: Entry
    position: cython.Py_ssize_t = -1
    side: cython.int = 1
    limit = (best + tie) * weight / factor
    x: cython.double = 0
    a: cython.double = 0
    ones: cython.int = 0
    lost_x: cython.double = 0
    lost: cython.double = 0
    start: cython.Py_ssize_t
    k: cython.int
    s: cython.int
    size: cython.int
    if not is_squares:
        label = sums.second << 1
    if is_by_class and facts.of_class != cython.NULL:
        of_first = facts.of_class[sums.first]
        of_second = facts.of_class[sums.second]
    for i in range(n_seen, n):
        row = entries[i] >> shift
        w = 1.0 if of_row == cython.NULL else of_row[row]
        lost += w
        if is_squares:
            lost_x += w * (y[row] - centre)
        elif (entries[i] & mask) == label:
            lost_x += w
    lost_size = lost if by_weight else cython.cast(cython.double, n_missing)
    start = 0
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
        elif is_squares:
            for k in range(size):
                xs[k] = x
                weights[k] = a
                row = block[k] >> shift
                w = of_row[row]
                a += w
                x += w * (y[row] - centre)
        else:
            for k in range(size):
                xs[k] = x
                weights[k] = a
                e = block[k]
                w = of_row[e >> shift]
                a += w
                x += w if (e & mask) == label else 0.0
        if start == 0:
            start = 1
            continue
        hit = 0
        for k in range(size):
            e = block[k]
            some |= e
            every &= e
            d = xs[k] * weight - total * weights[k]
            hit |= e if d * d > limit * (weights[k] * (weight - weights[k])) else 0
        if n_missing > 0:
            for k in range(size):
                here = weights[k] + lost
                d = (xs[k] + lost_x) * weight - total * here
                hit |= block[k] if d * d > limit * (here * (weight - here)) else 0
        if hit & 1:
            for k in range(size):
                if not block[k] & 1:
                    continue
                for s in range(2 if n_missing > 0 and start + k < n_seen else 1):  # missing rows right, then left
                    here = weights[k] + s * lost
                    d = (xs[k] + s * lost_x) * weight - total * here
                    room = here * (weight - here)
                    if d * d > limit * room and room > 0:
                        here = (weights[k] if by_weight else first + k) + s * lost_size
                        if here >= least and sums.size - here >= least:
                            best = factor * (d * d) / (weight * room)
                            limit = (best + tie) * weight / factor
                            position = start + k
                            side = 1 - s
        start += BLOCK
    cut.score = best
    cut.position = position
    cut.side = side
    cut.flags = cython.cast(cython.int, (some & 1) | ((n_missing > 1) | ((every ^ 1) & 1)) << 1)


def _squares_gain(left, counts, gone, n, a, weight, base):
    """Gain of gini from its definition; the classes go left with what is missing of them."""
    own: cython.double = 0
    rest: cython.double = 0
    b = weight - a
    for c in range(n):
        x = left[c] + gone[c]
        own += x * (a - x)
        x = counts[c] - x
        rest += x * (b - x)
    return base - own / a - rest / b


def gini(facts, desk, entries, n_missing, sums, best, tie, least, cut):
    """Sums of squares over both sides, kept up entry by entry and screened; what survives is scored from the counts."""
    squares_at = cython.declare(cython.double[64])
    product_at = cython.declare(cython.double[64])
    weights = cython.declare(cython.double[64])
    met_at = cython.declare(cython.double[64])
    n = sums.n
    n_sums = facts.n_sums
    n_seen = n - n_missing
    last: cython.Py_ssize_t = n_seen + (n_missing > 0)
    weight = sums.weight
    counts = sums.counts
    left = desk.left
    gone = desk.gone
    nothing = desk.right
    of_row = facts.weight
    of_class = facts.of_class
    by_weight: cython.bint = facts.by_weight
    shift = facts.shift
    unit: Entry = 1
    mask: Entry = (unit << shift) - 1
    some: Entry = 0
    every: Entry = 1
    hit: Entry
    c: Entry
    position: cython.Py_ssize_t = -1
    side: cython.int = 1
    squares: cython.double = 0
    product: cython.double = 0
    met: cython.double = 0
    a: cython.double = 0
    all_squares: cython.double = 0
    lost: cython.double = 0
    lost_squares: cython.double = 0
    lost_product: cython.double = 0
    start: cython.Py_ssize_t
    k: cython.int
    s: cython.int
    size: cython.int
    for h in range(n_sums):
        left[h] = 0
        gone[h] = 0
        nothing[h] = 0
        all_squares += counts[h] * counts[h]
    for i in range(n_seen, n):
        e = entries[i]
        w = 1.0 if of_row == cython.NULL else of_row[e >> shift]
        gone[(e & mask) >> 1] += w
    if n_missing > 0:
        for h in range(n_sums):
            lost += gone[h]
            lost_squares += gone[h] * gone[h]
            lost_product += gone[h] * counts[h]
    lost_size = lost if by_weight else cython.cast(cython.double, n_missing)
    constant = all_squares / weight
    slack = 1e-12 * weight * weight * weight  # differences of large numbers: for their rounding
    limit = best + tie + constant
    start = 0
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
            e = block[k]
            some |= e
            every &= e
            reached = squares_at[k] * weight + product_at[k] * weights[k] + slack
            hit |= e if reached > limit * (weights[k] * (weight - weights[k])) else 0
        if n_missing > 0:
            for k in range(size):
                here = weights[k] + lost
                reached = squares_at[k] + 2 * met_at[k] + lost_squares
                reached = reached * weight + (product_at[k] - 2 * lost_product) * here + slack
                hit |= block[k] if reached > limit * (here * (weight - here)) else 0
        if hit & 1:
            for k in range(size - 1, -1, -1):  # back to where the block began, and forward again
                e = block[k]
                c = (e & mask) >> 1
                left[c] -= 1.0 if of_row == cython.NULL else of_row[e >> shift]
            for k in range(size):
                e = block[k]
                for s in range((2 if n_missing > 0 and start + k < n_seen else 1) if e & 1 else 0):
                    here = weights[k] + s * lost
                    reached = squares_at[k] + s * (2 * met_at[k] + lost_squares)
                    reached = reached * weight + (product_at[k] - s * 2 * lost_product) * here + slack
                    if not reached > limit * (here * (weight - here)):
                        continue
                    w = (weights[k] if by_weight else first + k) + s * lost_size
                    if w >= least and sums.size - w >= least and 0 < here < weight:
                        reached = _squares_gain(left, counts, gone if s else nothing, n_sums, here, weight, sums.base)
                        if reached > best + tie:
                            best = reached
                            limit = best + tie + constant
                            position = start + k
                            side = 1 - s
                c = (e & mask) >> 1
                left[c] += 1.0 if of_row == cython.NULL else of_row[e >> shift]
        start += BLOCK
    cut.score = best
    cut.position = position
    cut.side = side
    cut.flags = cython.cast(cython.int, (some & 1) | ((n_missing > 1) | ((every ^ 1) & 1)) << 1)


def any_criterion(facts, desk, entries, n_missing, sums, best, tie, least, cut):
    """Any criterion of classes, from its definition at every cut."""
    n: cython.Py_ssize_t = sums.n
    n_sums = facts.n_sums
    n_seen: cython.Py_ssize_t = n - n_missing
    counts = sums.counts
    left = desk.left
    right = desk.right
    gone = desk.gone
    of_row = facts.weight
    shift = facts.shift
    unit: Entry = 1
    mask: Entry = (unit << shift) - 1
    some: Entry = 0
    every: Entry = 1
    e: Entry
    c: Entry
    position: cython.Py_ssize_t = -1
    side: cython.int = 1
    a: cython.double = 0
    w: cython.double
    lost: cython.double = 0
    size: cython.double
    lost_size: cython.double
    i: cython.Py_ssize_t
    s: cython.int
    for h in range(n_sums):
        left[h] = 0
        right[h] = counts[h]
        gone[h] = 0
    for i in range(n_seen, n):
        e = entries[i]
        w = 1.0 if of_row == cython.NULL else of_row[e >> shift]
        gone[(e & mask) >> 1] += w
    for h in range(n_sums):
        lost += gone[h]
    lost_size = lost if facts.by_weight else cython.cast(cython.double, n_missing)
    for i in range(n_seen + (n_missing > 0)):
        e = entries[i]
        if i > 0:
            some |= e
            every &= e
            for s in range((2 if n_missing > 0 and i < n_seen else 1) if e & 1 else 0):
                size = (a if facts.by_weight else cython.cast(cython.double, i)) + s * lost_size
                if size < least or sums.size - size < least:
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
                if score > best + tie:
                    best = score
                    position = i
                    side = 1 - s
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
    cut.score = best
    cut.position = position
    cut.side = side
    cut.flags = cython.cast(cython.int, (some & 1) | ((n_missing > 1) | ((every ^ 1) & 1)) << 1)
