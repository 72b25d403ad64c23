"""Upper limits of a binomial probability, in logs, so that a tail of 1e-5000 is a number like any other.

All limits are found by Newton steps in t = ln(1 - p). The log tail is concave in t, so
a start below the root is followed by a rising sequence that never passes it, and a start
above it by one step that lands below: the value returned is never below the true limit,
up to the rounding of the tail itself, for which the callers leave room (`tails.py`).
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, M_PI, exp, expm1, lgamma, log, log1p, sqrt
from cython.cimports.secateur._kernels.views import Floats


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def deviance(count: cython.double, expected: cython.double) -> cython.double:
    """count ln(count / expected) + expected - count, without cancellation where the two are close."""
    if count == 0.0:
        return expected
    difference = count - expected
    if abs(difference) > 0.1 * (count + expected):
        return count * log(count / expected) - difference
    ratio = difference / (count + expected)
    total = difference * ratio
    power = 2.0 * count * ratio
    square = ratio * ratio
    for i in range(1, 1000):
        power *= square
        before = total
        total += power / (2 * i + 1)
        if total == before:
            break
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def stirling_error(n: cython.double) -> cython.double:
    """ln n! - ln(sqrt(2 pi n) (n / e)^n)."""
    if n < 16.0:
        return lgamma(n + 1.0) - (n + 0.5) * log(n) + n - 0.5 * log(2.0 * M_PI)
    square = n * n
    series = 1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - (1.0 / 1188) / square) / square) / square) / square
    return series / n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def log_probability(errors: cython.double, n: cython.double, p: cython.double, q: cython.double) -> cython.double:
    """ln Pr[Bin(n, p) = errors], with q = 1 - p given apart because it may be tiny."""
    if errors == 0.0:
        return n * (log1p(-p) if p < 0.5 else log(q))
    if errors == n:
        return n * log(p)
    rest = n - errors
    correction = stirling_error(n) - stirling_error(errors) - stirling_error(rest)
    far = deviance(errors, n * p) + deviance(rest, n * q)
    return correction - far - 0.5 * log(2.0 * M_PI * errors * (rest / n))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def tail_over_last(errors: cython.double, n: cython.double, p: cython.double, q: cython.double) -> cython.double:
    """Pr[Bin(n, p) <= errors] / Pr[Bin(n, p) = errors], its terms summed downwards.

    From the largest term on each falls by a factor that itself falls by at least 1 - 1 / errors, so some
    nine sqrt(errors) of them count.
    """
    odds = q / p
    term = 1.0
    total = 1.0
    j = errors
    while j > 0.0:
        ratio = j / (n - j + 1.0) * odds
        term *= ratio
        total += term
        if ratio < 1.0 and term < 1e-18 * total:
            break
        j -= 1.0
    return total


def log_tails(errors: Floats, n: Floats, p: Floats):
    """ln Pr[Bin(n, p) <= errors], entry by entry; 0 < p < 1."""
    result: cython.double[::1] = np.empty(errors.shape[0])
    with cython.nogil:
        for i in range(errors.shape[0]):
            e, m, q = errors[i], n[i], 1.0 - p[i]
            if e == m:
                result[i] = 0.0
            else:
                result[i] = log_probability(e, m, p[i], q) + log(tail_over_last(e, m, p[i], q))
    return result.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def start_below(rate: cython.double, n: cython.double, log_x: cython.double, log_ways: cython.double) -> cython.double:
    """A t = ln(1 - p) at or below the root: the better of Hoeffding's bound and `ways * (1 - p)^right <= x`."""
    right = n * (1.0 - rate)
    start = (log_x - log_ways) / right
    hoeffding = 1.0 - rate - sqrt(-log_x / (2.0 * n))
    if hoeffding > 0.0:
        start = max(start, log(hoeffding))
    return start


def limits(errors: Floats, n: Floats, log_x: Floats, is_exact: cython.bint):
    """sup { p : Pr[Bin(n, p) <= errors] >= x }, errors being whole; else sup { p : n kl(errors / n, p) <= -ln x }.

    Errors are at most n, and ln x at most 0.
    """
    result: cython.double[::1] = np.empty(errors.shape[0])
    with cython.nogil:
        for i in range(errors.shape[0]):
            e, m, target = errors[i], n[i], log_x[i]
            if e >= m or target == -INFINITY:
                result[i] = 1.0
                continue
            if e == 0.0 or target == 0.0:
                result[i] = -expm1(target / m) if is_exact or e == 0.0 else e / m
                continue
            if is_exact:
                log_ways = lgamma(m + 1.0) - lgamma(e + 1.0) - lgamma(m - e + 1.0)
            else:
                log_ways = -e * log(e / m) - (m - e) * log1p(-e / m)
            t = start_below(e / m, m, target, log_ways)
            for _ in range(200):
                p = -expm1(t)
                if p >= 1.0:
                    break
                q = exp(t)
                if is_exact:
                    ratio = tail_over_last(e, m, p, q)
                    above = log_probability(e, m, p, q) + log(ratio) - target
                    step = -above * ratio / (m - e)
                else:
                    above = -(deviance(e, m * p) + deviance(m - e, m * q)) - target
                    slope = (m - e) - e * q / p
                    if slope <= 0.0:
                        break
                    step = -above / slope
                if step <= 2e-16 * abs(t):
                    t += min(step, 0.0)
                    break
                t += step
            result[i] = min(1.0, -expm1(t) if is_exact else max(e / m, -expm1(t)))
    return result.base
