"""Upper limits on an error rate from the errors in a sample: exact, kl and Chernoff.

The failure probability is given as its natural logarithm, because a certificate may ask
for delta times a prior of 1e-5000. For whole counts and the same failure probability

    exact <= kl <= Chernoff.

Limits are rounded up. A tail is computed with a relative error of at most `_tail_noise`, so it is
solved for a delta that is smaller by twice that share, and the limit is raised by four units of
its last place (`_rounded_up`).
"""

import numbers
from typing import Any, Literal

import numpy as np

from .._kernels import binomial
from .._kernels.stop import check_stopped
from .._utils.arrays import ArrayLike, Bools, Floats
from .._utils.checks import check_name
from ..errors import Argument, ParameterError, UnsupportedError

Tail = Literal["exact", "kl", "chernoff"]


def check_delta(delta: float) -> float:
    """Refuse a failure probability outside (0, 1)."""
    if isinstance(delta, bool) or not isinstance(delta, numbers.Real) or not 0 < float(delta) < 1:
        raise ParameterError(
            Argument("delta", delta), "; a failure probability between 0 and 1, both excluded, is needed"
        )
    return float(delta)


def binomial_upper(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> Any:
    """Return the binomial upper limit: the largest error rate at which so few errors have probability delta.

    Parameters
    ----------
    errors : int or array of int
        Errors found; between 0 and `n`.
    n : int or array of int
        Independent rows looked at.
    log_delta : float or array
        Natural logarithm of the failure probability; any number of 0 or less, -inf included.

    Returns
    -------
    float or array
        sup { p : Pr[Bin(n, p) <= errors] >= delta }, the one-sided Clopper-Pearson limit;
        1 if every row was an error. Rounding is towards the safe side: the value is never
        below the limit of the numbers given.

    Notes
    -----
    Newton's method on the log tail, a few steps of O(sqrt(errors)) each. The value is above
    the limit by at most about 1e-12 of it for delta up to 1/2, and 1e-12 / (1 - delta) of it
    nearer to 1. Langford (2005).

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import binomial_upper
    >>> round(binomial_upper(100, 1000, math.log(0.01)), 4)
    0.1242
    >>> round(binomial_upper(100, 1000, -5000 * math.log(10)), 6)
    0.999998
    """
    e, m, log_x, shape = _checked(errors, n, log_delta)
    if (e != np.floor(e)).any() or (m != np.floor(m)).any():
        raise UnsupportedError(
            "errors or rows are not whole numbers; the exact tail counts rows, each of weight 1 "
            "(kl_upper takes a real error count in whole rows)"
        )
    limits = _on_distinct(e, m, log_x - 2 * _tail_noise(e, log_x), is_exact=True)
    return _shaped(_rounded_up(limits, log_x < 0), shape)


def kl_upper(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> Any:
    """Return the largest p with `n * kl(errors / n, p) <= -log_delta`.

    Parameters
    ----------
    errors : float or array
        Errors found, or their expectation under a mixture; between 0 and `n`.
    n : int or array of int
    log_delta : float or array

    Returns
    -------
    float or array
        Rounded up like `binomial_upper`; never below it nor above `chernoff_upper`, but for
        rounding (1e-13 of the value).

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import kl_upper
    >>> round(kl_upper(100, 1000, math.log(0.01)), 4)
    0.1312
    """
    e, m, log_x, shape = _checked(errors, n, log_delta)
    limits = _on_distinct(e, m, log_x - 2 * _deviance_noise(e, log_x), is_exact=False)
    return _shaped(_rounded_up(limits, (e > 0) | (log_x < 0)), shape)


def chernoff_upper(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> Any:
    """Return the limit of Chernoff and Hoeffding, `errors / n + sqrt(-log_delta / (2 n))`, at most 1, rounded up.

    Parameters
    ----------
    errors : float or array
    n : int or array of int
    log_delta : float or array

    Returns
    -------
    float or array

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import chernoff_upper
    >>> round(chernoff_upper(100, 1000, math.log(0.01)), 4)
    0.148
    """
    e, m, log_x, shape = _checked(errors, n, log_delta)
    rows = np.maximum(m, 1.0)
    value = np.where(m == 0, 1.0, np.minimum(1.0, e / rows + np.sqrt(-log_x / (2 * rows))))
    return _shaped(_rounded_up(value, (e > 0) | (log_x < 0)), shape)


def log_binomial_tail(errors: ArrayLike, n: ArrayLike, p: ArrayLike) -> Any:
    """Return ln Pr[Bin(n, p) <= errors].

    Parameters
    ----------
    errors, n : int or array of int
    p : float or array
        Between 0 and 1, both excluded.

    Returns
    -------
    float or array

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import log_binomial_tail
    >>> round(math.exp(log_binomial_tail(1, 2, 0.5)), 12)
    0.75
    """
    e, m, _, _ = _checked(errors, n, 0.0)
    chance = np.asarray(p, float)
    if not ((chance > 0) & (chance < 1)).all():
        raise ParameterError(f"p={p!r}; probabilities between 0 and 1, both excluded, are needed")
    if (e != np.floor(e)).any() or (m != np.floor(m)).any():
        raise UnsupportedError("errors or rows are not whole numbers; a binomial tail counts rows")
    shape = np.broadcast_shapes(np.shape(errors), np.shape(n), chance.shape)
    flat = [np.ascontiguousarray(np.broadcast_to(a, shape), float).ravel() for a in (errors, n, chance)]
    return _shaped(binomial.log_tails(*flat), shape)


def upper_limit(tail: Tail, errors: ArrayLike, n: int, log_delta: ArrayLike) -> Any:
    """Return the limit of the named tail: "exact", "kl" or "chernoff"."""
    limits = {"exact": binomial_upper, "kl": kl_upper, "chernoff": chernoff_upper}
    check_name("tail", tail, limits)
    return limits[tail](errors, n, log_delta)


def _checked(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> tuple[Floats, Floats, Floats, tuple[int, ...]]:
    """Flat float arrays of one length, and the shape of the answer."""
    check_stopped()  # certificates in threads ask for many limits
    e, m, log_x = np.broadcast_arrays(
        np.asarray(errors, np.float64), np.asarray(n, np.float64), np.asarray(log_delta, np.float64)
    )
    if not (np.isfinite(m).all() and (m >= 0).all()):
        raise ParameterError(f"n={n!r}; a number of rows of 0 or more is needed")
    if not ((e >= 0) & (e <= m)).all():
        raise ParameterError(f"errors={errors!r} with n={n!r}; errors between 0 and n are needed")
    if not (log_x <= 0).all():
        raise ParameterError(f"log_delta={log_delta!r}; the logarithm of a probability is 0 or less")
    return np.ravel(e), np.ravel(m), np.ravel(log_x), e.shape


def _tail_noise(errors: Floats, log_delta: Floats) -> Floats:
    """How far the computed ln of a tail near `log_delta` can be from the true one; 0 where a formula is used.

    Stirling's errors below 16 cost 4e-14, the sum of the terms 1e-15 for each of its 9 sqrt(errors). The
    deviances are at most -log_delta and, for delta near 1, ln(1 / (1 - delta)), which we hold below 30.
    """
    share = 1e-14 * (10.0 + np.sqrt(errors)) + _deviance_noise(errors, log_delta - 30.0)
    return np.where((errors > 0) & (log_delta < 0), share, 0.0)


def _deviance_noise(errors: Floats, log_delta: Floats) -> Floats:
    """How far n kl near -log_delta can be: 1e-14 of it, and 1e-15 of n p - errors, as n p and n q are rounded."""
    noise: Floats = 1e-14 * -log_delta + 1e-15 * np.sqrt(errors * np.minimum(-log_delta, 1e290))  # 0 * inf: no number
    return noise


def _rounded_up(limits: Floats, is_positive: Bools) -> Floats:
    """The limits raised by four units of their last place, for quotients and logarithms; those that are 0 stay."""
    return np.where(is_positive, np.minimum(1.0, np.nextafter(limits * (1 + 1e-15), 2.0)), limits)


def _on_distinct(errors: Floats, n: Floats, log_delta: Floats, *, is_exact: bool) -> Floats:
    """The limits, each distinct case solved once: members of a long path share most of theirs."""
    order = np.lexsort((errors, n, log_delta))
    rows = [np.ascontiguousarray(a[order]) for a in (errors, n, log_delta)]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (rows[0][1:] != rows[0][:-1]) | (rows[1][1:] != rows[1][:-1]) | (rows[2][1:] != rows[2][:-1])
    result = np.empty(len(order))
    e, m, log_x = (row[is_new] for row in rows)
    result[order] = binomial.upper_limits(e, m, log_x, is_exact)[np.cumsum(is_new) - 1]
    return result


def _shaped(values: Floats, shape: tuple[int, ...]) -> Any:
    return float(values[0]) if shape == () else values.reshape(shape)
