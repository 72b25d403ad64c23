"""Upper limits of a binomial probability. Tails are kept as logarithms, so that 1e-5000 does not underflow.

A limit is found by Newton steps in t = ln(1 - p). The log tail is concave in t. From a start below the root the steps
rise towards the root and never pass it; from a start above, one step lands below. So the returned probability is
never below the true limit, up to the rounding of the tail itself, for which the callers leave room (`tails.py`).

Cost of a tail: about nine sqrt(errors) terms. Cost of a limit: a few tails.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, M_PI, exp, expm1, lgamma, log, log1p, sqrt
from cython.cimports.secateur._kernels.views import Floats

MAX_NEWTON_STEPS = cython.declare(cython.int, 200)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def deviance(count: cython.double, expected: cython.double) -> cython.double:
    """Return count ln(count / expected) + expected - count, without cancellation where the two are close.

    Close numbers use the series in ratio = (count - expected) / (count + expected), as Loader (2000) does.
    """
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
        previous = total
        total += power / (2 * i + 1)
        if total == previous:
            break
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def stirling_error(n: cython.double) -> cython.double:
    """Return the error of Stirling's formula: ln n! - ln(sqrt(2 pi n) (n / e)^n)."""
    if n < 16.0:
        return lgamma(n + 1.0) - (n + 0.5) * log(n) + n - 0.5 * log(2.0 * M_PI)
    square = n * n
    series = 1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - (1.0 / 1188) / square) / square) / square) / square
    return series / n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def log_probability(errors: cython.double, n: cython.double, p: cython.double, q: cython.double) -> cython.double:
    """Return ln Pr[Bin(n, p) = errors]; q = 1 - p is an argument of its own because it may be tiny."""
    if errors == 0.0:
        return n * (log1p(-p) if p < 0.5 else log(q))
    if errors == n:
        return n * log(p)
    successes = n - errors
    correction = stirling_error(n) - stirling_error(errors) - stirling_error(successes)
    total_deviance = deviance(errors, n * p) + deviance(successes, n * q)
    return correction - total_deviance - 0.5 * log(2.0 * M_PI * errors * (successes / n))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def tail_over_last(errors: cython.double, n: cython.double, p: cython.double, q: cython.double) -> cython.double:
    """Return Pr[Bin(n, p) <= errors] / Pr[Bin(n, p) = errors], summing the terms from `errors` downwards.

    After the largest term, each term is smaller than the one before by a factor that itself falls by at least
    1 - 1 / errors. So about nine sqrt(errors) terms contribute.
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
    """Return ln Pr[Bin(n, p) <= errors], entry by entry; 0 < p < 1."""
    result: cython.double[::1] = np.empty(errors.shape[0])
    with cython.nogil:
        for i in range(errors.shape[0]):
            e, m, q = errors[i], n[i], 1.0 - p[i]
            if e == m:
                result[i] = 0.0
            else:
                result[i] = log_probability(e, m, p[i], q) + log(tail_over_last(e, m, p[i], q))
    return result.base


def upper_limits(errors: Floats, n: Floats, log_x: Floats, is_exact: cython.bint):
    """Return the largest error rate p that is consistent with `errors` of n rows, entry by entry.

    If `is_exact`, errors are whole numbers and p is sup { p : Pr[Bin(n, p) <= errors] >= x }. Otherwise p is
    sup { p : n kl(errors / n, p) <= -ln x }. Errors are at most n, and ln x is at most 0.
    """
    result: cython.double[::1] = np.empty(errors.shape[0])
    with cython.nogil:
        for i in range(errors.shape[0]):
            result[i] = _upper_limit(errors[i], n[i], log_x[i], is_exact)
    return result.base


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _upper_limit(errors: cython.double, n: cython.double, log_x: cython.double, is_exact: cython.bint) -> cython.double:
    """Return one upper limit, by Newton steps in t = ln(1 - p)."""
    if errors >= n or log_x == -INFINITY:
        return 1.0
    if errors == 0.0 or log_x == 0.0:
        return -expm1(log_x / n) if is_exact or errors == 0.0 else errors / n
    t = _start_below(errors, n, log_x, is_exact)
    for _ in range(MAX_NEWTON_STEPS):
        p = -expm1(t)
        if p >= 1.0:
            break
        step = _exact_step(errors, n, log_x, p, exp(t)) if is_exact else _kl_step(errors, n, log_x, p, exp(t))
        if step <= 2e-16 * abs(t):
            t += min(step, 0.0)
            break
        t += step
    return min(1.0, -expm1(t) if is_exact else max(errors / n, -expm1(t)))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _start_below(errors: cython.double, n: cython.double, log_x: cython.double, is_exact: cython.bint) -> cython.double:
    """Return t = ln(1 - p) at or below the root: the better of two lower bounds.

    One is Hoeffding's bound. The other solves choose(n, errors) * (1 - p)^(n - errors) = x, where the left side is at
    least the tail; without `is_exact`, choose(n, errors) is replaced by its entropy bound.
    """
    if is_exact:
        log_choices = lgamma(n + 1.0) - lgamma(errors + 1.0) - lgamma(n - errors + 1.0)
    else:
        log_choices = -errors * log(errors / n) - (n - errors) * log1p(-errors / n)
    rate = errors / n
    start = (log_x - log_choices) / (n * (1.0 - rate))
    hoeffding = 1.0 - rate - sqrt(-log_x / (2.0 * n))
    if hoeffding > 0.0:
        start = max(start, log(hoeffding))
    return start


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _exact_step(
    errors: cython.double, n: cython.double, log_x: cython.double, p: cython.double, q: cython.double
) -> cython.double:
    """Return the Newton step in t for ln Pr[Bin(n, p) <= errors] = ln x."""
    ratio = tail_over_last(errors, n, p, q)
    excess = log_probability(errors, n, p, q) + log(ratio) - log_x
    return -excess * ratio / (n - errors)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _kl_step(
    errors: cython.double, n: cython.double, log_x: cython.double, p: cython.double, q: cython.double
) -> cython.double:
    """Return the Newton step in t for n kl(errors / n, p) = -ln x; 0 where the slope vanishes."""
    excess = -(deviance(errors, n * p) + deviance(n - errors, n * q)) - log_x
    slope = (n - errors) - errors * q / p
    return -excess / slope if slope > 0.0 else 0.0
