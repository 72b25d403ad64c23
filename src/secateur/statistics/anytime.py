"""Tests and intervals for an error rate that stay valid however often, and whenever, somebody looks at them.

Let n rows arrive one after another, with e errors so far. Under the hypothesis that the error rate is at most c, the
likelihood ratio of an error rate q above c,

    (q / c)^e ((1 - q) / (1 - c))^(n - e),

is a non-negative supermartingale that starts at 1, and so is its mean over q with any weights that were fixed
beforehand. By Ville's inequality, the probability that this mean ever reaches 1 / alpha is at most alpha. The weights
used here are a Beta(a, b) distribution restricted to (c, 1), so the mean has a closed form with the incomplete beta
function. It depends on the rows only through n and e.

The mean M is computed in logarithms and without differences of large numbers:

    R(x, y) = ln(I / (c^x (1-c)^y)), where I is the integral of q^(x-1) (1-q)^(y-1) over (c, 1)
    ln M    = R(a + e, b + n - e) - R(a, b)

I is a share of the beta function B(x, y). Unless this share is too small for a float, R follows from the share, from
Stirling's series and from two deviances. If it is too small, c is far above the observed rate, and R follows from the
continued fraction of the incomplete beta function, in which the beta function itself cancels.
"""

import math
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..errors import ParameterError, show
from .tails import check_delta, kl_upper

# `mixture_shape` chooses b so that the mean of Beta(1, b), restricted to (c, 1), is above c by this number of standard
# deviations of the loss of one row. For c = 0.12 this gives b = 8, which had the smallest median number of rows until
# an alarm.
EXCESS_IN_STANDARD_DEVIATIONS = 0.301
MIN_TAIL = 1e-250  # if the share of the beta function above c is smaller, the continued fraction is used
MIN_STIRLING = 10.0  # up to this argument, the error of Stirling's formula is computed from the gamma function
MAX_FRACTION_STEPS = 100_000
INTERVAL_SHAPE = (0.5, 0.5)  # the weights of the confidence sequence


def mixture_shape(limit: float) -> tuple[float, float]:
    """Return the parameters a and b of the weights with which a limit on an error rate is tested.

    Parameters
    ----------
    limit : float
        The limit c; between 0 and 1, both excluded.

    Returns
    -------
    a, b : float
        Parameters of the Beta distribution. Restricted to (limit, 1), its mean is above the limit by about 0.3
        standard deviations of the loss of one row. The parameters depend on the limit only, never on the rows.

    Examples
    --------
    >>> a, b = mixture_shape(0.12)
    >>> a, round(b, 1)
    (1.0, 8.0)
    """
    return 1.0, max(1.0, math.sqrt((1 - limit) / limit) / EXCESS_IN_STANDARD_DEVIATIONS - 1)


def log_evidence(
    errors: ArrayLike, n: ArrayLike, limit: ArrayLike, *, a: ArrayLike = 1.0, b: ArrayLike | None = None
) -> Any:
    """Return ln M, the logarithm of the evidence that an error rate is above a limit.

    Parameters
    ----------
    errors, n : int or array of int
        Number of errors, and of rows.
    limit : float or array
        The limit on the error rate; between 0 and 1, both excluded.
    a, b : float or array
        Parameters of the Beta distribution, restricted to (limit, 1), that weights the error rates above the limit.
        By default those of `mixture_shape`.

    Returns
    -------
    float or array
        ln M. If the error rate is at most the limit, the probability that M ever reaches 1 / alpha is at most alpha.

    Notes
    -----
    The error of ln M is below 1e-9 where ln M is between -50 and 50, for up to 1e8 rows.

    Examples
    --------
    >>> import math
    >>> round(math.exp(log_evidence(40, 200, 0.12)), 1)
    58.7
    >>> log_evidence(0, 0, 0.12)
    0.0
    """
    e, m, c = np.broadcast_arrays(*(np.asarray(values, np.float64) for values in (errors, n, limit)))
    if not ((c > 0) & (c < 1)).all():
        raise ParameterError(f"limit={show(limit)}; an error rate between 0 and 1, both excluded, is needed")
    if not ((e >= 0) & (e <= m) & np.isfinite(m)).all():
        raise ParameterError(f"errors={show(errors)} with n={show(n)}; errors between 0 and n are needed")
    shape_b = np.vectorize(lambda value: mixture_shape(value)[1], otypes=[float])(c) if b is None else b
    shape_a, shape_b = np.broadcast_to(np.asarray(a, float), c.shape), np.broadcast_to(shape_b, c.shape)
    values = _log_upper_part(shape_a + e, shape_b + (m - e), c) - _log_upper_part(shape_a, shape_b, c)
    values = np.where(m == 0, 0.0, values)
    return float(values) if values.shape == () else values


def confidence_sequence(errors: int, n: int, alpha: float) -> tuple[float, float]:
    """Return limits on an error rate that hold at all times at once.

    Parameters
    ----------
    errors, n : int
        Number of errors, and of rows so far.
    alpha : float
        Probability that the error rate is ever outside the limits, over all times at which they are computed.

    Returns
    -------
    lower, upper : float
        The ends of the interval of all error rates p for which the likelihood ratio of q to p, averaged over q with
        the weights Beta(1/2, 1/2), is below 1 / alpha. They are rounded outwards. Without rows: 0 and 1.

    Examples
    --------
    >>> [round(limit, 3) for limit in confidence_sequence(100, 1000, 0.05)]
    [0.069, 0.138]
    """
    check_delta(alpha)
    if not 0 <= errors <= n:
        raise ParameterError(f"errors={show(errors)} with n={show(n)}; errors between 0 and n are needed")
    if n == 0:
        return 0.0, 1.0
    # The mean is the likelihood at the observed rate, times exp(gain), divided by the likelihood at p: the limits are
    # where n kl(errors / n, p) is -ln(alpha) - gain.
    log_share = min(0.0, math.log(alpha) + _log_gain(errors, n))
    return 1.0 - float(kl_upper(n - errors, n, log_share)), float(kl_upper(errors, n, log_share))


def _log_gain(errors: int, n: int) -> float:
    """Return ln of the mean likelihood over Beta(1/2, 1/2), divided by the largest likelihood; it is at most 0."""
    a, b = INTERVAL_SHAPE
    x, y = a + errors, b + n - errors
    ratio = _shifted_log(errors, a, n, a + b) + _shifted_log(n - errors, b, n, a + b)
    ratio += a * math.log(x / (x + y)) + b * math.log(y / (x + y))
    return float(ratio + _log_beta_rest(np.array(x), np.array(y)) - math.log(math.pi))


def _shifted_log(count: int, shift: float, n: int, total_shift: float) -> float:
    """Return count * ln(r), where r is the ratio of (count + shift) / (n + total_shift) to count / n."""
    return 0.0 if count == 0 else count * (math.log1p(shift / count) - math.log1p(total_shift / n))


def _log_upper_part(x: Floats, y: Floats, c: Floats) -> Floats:
    """Return R(x, y): ln of the integral of q^(x-1) (1-q)^(y-1) over (c, 1), minus x ln(c) + y ln(1-c)."""
    from scipy.special import betaincc

    total = x + y
    tail = betaincc(x, y, c)
    is_small = ~(tail > MIN_TAIL)
    values: Floats
    with np.errstate(divide="ignore"):
        values = _deviance(x, total * c) + _deviance(y, total * (1 - c)) + _log_beta_rest(x, y) + np.log(tail)
    if is_small.any():
        values = np.array(values)
        values[is_small] = np.log(_fraction(y[is_small], x[is_small], 1 - c[is_small]) / y[is_small])
    return values


def _log_beta_rest(x: Floats, y: Floats) -> Floats:
    """Return ln B(x, y) without its largest terms, x ln(x / (x + y)) + y ln(y / (x + y))."""
    total = x + y
    rest: Floats = 0.5 * np.log(2 * math.pi * total / (x * y))
    return rest + _stirling_error(x) + _stirling_error(y) - _stirling_error(total)


def _stirling_error(x: Floats) -> Floats:
    """Return ln gamma(x) minus Stirling's formula, (x - 1/2) ln(x) - x + ln(2 pi) / 2."""
    from scipy.special import gammaln

    large = np.maximum(x, MIN_STIRLING)
    inverse = 1 / (large * large)
    series = 1 / 1680 - inverse * (1 / 1188 - inverse * 691 / 360360)
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * series))) / large
    small = np.minimum(x, MIN_STIRLING)
    exact = gammaln(small) - ((small - 0.5) * np.log(small) - small + 0.5 * math.log(2 * math.pi))
    return np.where(x > MIN_STIRLING, series, exact)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """Return x ln(x / mean) + mean - x, without cancellation where x is near the mean (Loader, 2000)."""
    v = (x - mean) / (x + mean)
    near = np.clip(v, -0.1, 0.1)
    square, series = near * near, np.zeros_like(near)
    for k in range(10, 0, -1):
        series = square * (series + 1 / (2 * k + 1))
    close = (x - mean) * near + 2 * x * near * series
    deviance: Floats = np.where(np.abs(v) < 0.1, close, x * np.log(x / mean) + mean - x)
    return deviance


def _fraction(p: Floats, q: Floats, z: Floats) -> Floats:
    """Return p B(p, q) I_z(p, q) / (z^p (1-z)^q) for z below the mean, by Lentz's method."""
    tiny = 1e-300
    d = 1 - (p + q) * z / (p + 1)
    d = 1 / np.where(d == 0, tiny, d)
    c, value = np.ones_like(d), d.copy()
    for m in range(1, MAX_FRACTION_STEPS):
        even = m * (q - m) * z / ((p + 2 * m - 1) * (p + 2 * m))
        odd = -(p + m) * (p + q + m) * z / ((p + 2 * m) * (p + 2 * m + 1))
        factor = np.ones_like(d)
        for term in (even, odd):
            d, c = 1 + term * d, 1 + term / c
            d, c = 1 / np.where(d == 0, tiny, d), np.where(c == 0, tiny, c)
            factor *= c * d
        value *= factor
        if (np.abs(factor - 1) < 1e-15).all():
            break
    return value
