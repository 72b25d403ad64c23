"""Upper limits on an error rate from the errors in a sample: exact, kl and Chernoff.

The failure probability is given as its natural logarithm, because a certificate may need delta times a prior of
1e-5000. For integer counts and the same failure probability

    exact <= kl <= Chernoff.

Limits are rounded up. The probability of a tail is computed with a relative error of at most `_tail_noise`. The limit
is therefore computed for a delta that is smaller by twice this relative error, and then raised by four units in the
last place (`_round_up`).
"""

import numbers
from typing import Any, Literal

import numpy as np

from .._kernels import binomial
from .._kernels.stop import check_stopped
from .._utils.arrays import ArrayLike, Bools, Floats
from .._utils.checks import check_name
from ..errors import Argument, ParameterError, UnsupportedError, show

Tail = Literal["exact", "kl", "chernoff"]


def check_delta(delta: float) -> float:
    """Return a failure probability as a float; raise `ParameterError` unless it is between 0 and 1."""
    if isinstance(delta, bool) or not isinstance(delta, numbers.Real) or not 0 < float(delta) < 1:
        raise ParameterError(
            Argument("delta", delta), "; a failure probability between 0 and 1, both excluded, is needed"
        )
    return float(delta)


def binomial_upper(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> Any:
    """Return the binomial upper limit: the largest error rate at which `errors` or fewer have probability delta.

    Parameters
    ----------
    errors : int or array of int
        Number of errors; between 0 and `n`.
    n : int or array of int
        Number of independent rows.
    log_delta : float or array
        Natural logarithm of the failure probability; any number of 0 or less, -inf included.

    Returns
    -------
    float or array
        sup { p : Pr[Bin(n, p) <= errors] >= delta }, the one-sided Clopper-Pearson limit;
        1 if every row was an error. The value is rounded up: it is never below the exact limit.

    Notes
    -----
    Newton's method on the log tail takes a few steps of O(sqrt(errors)) each. The value is above the exact limit by a
    relative difference of at most about 1e-12 for delta up to 1/2, and 1e-12 / (1 - delta) above. Langford (2005).

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import binomial_upper
    >>> round(binomial_upper(100, 1000, math.log(0.01)), 4)
    0.1242
    >>> round(binomial_upper(100, 1000, -5000 * math.log(10)), 6)
    0.999998
    """
    e, m, log_x, shape = _broadcast(errors, n, log_delta)
    if (e != np.floor(e)).any() or (m != np.floor(m)).any():
        raise UnsupportedError(
            "errors or rows are not whole numbers; the exact tail counts rows, each of weight 1 "
            "(kl_upper takes a real error count in whole rows)"
        )
    limits = _solve_distinct(e, m, log_x - 2 * _tail_noise(e, log_x), is_exact=True)
    return _reshape(_round_up(limits, log_x < 0), shape)


def kl_upper(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> Any:
    """Return the largest p with `n * kl(errors / n, p) <= -log_delta`.

    Parameters
    ----------
    errors : float or array
        Number of errors, or their expectation under a mixture; between 0 and `n`.
    n : int or array of int
        Number of independent rows.
    log_delta : float or array
        Natural logarithm of the failure probability.

    Returns
    -------
    float or array
        Rounded up as `binomial_upper` is. It is never below `binomial_upper` nor above `chernoff_upper`, except for
        rounding (1e-13 of the value).

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import kl_upper
    >>> round(kl_upper(100, 1000, math.log(0.01)), 4)
    0.1312
    """
    e, m, log_x, shape = _broadcast(errors, n, log_delta)
    limits = _solve_distinct(e, m, log_x - 2 * _deviance_noise(e, log_x), is_exact=False)
    return _reshape(_round_up(limits, (e > 0) | (log_x < 0)), shape)


def chernoff_upper(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> Any:
    """Return the limit of Chernoff and Hoeffding, `errors / n + sqrt(-log_delta / (2 n))`, at most 1, rounded up.

    Parameters
    ----------
    errors, n, log_delta
        As for `kl_upper`.

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
    e, m, log_x, shape = _broadcast(errors, n, log_delta)
    rows = np.maximum(m, 1.0)
    value = np.where(m == 0, 1.0, np.minimum(1.0, e / rows + np.sqrt(-log_x / (2 * rows))))
    return _reshape(_round_up(value, (e > 0) | (log_x < 0)), shape)


def log_binomial_tail(errors: ArrayLike, n: ArrayLike, p: ArrayLike) -> Any:
    """Return ln Pr[Bin(n, p) <= errors].

    Parameters
    ----------
    errors, n : int or array of int
        Number of errors and of rows.
    p : float or array
        Error rate; between 0 and 1, both excluded.

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
    e, m, _, _ = _broadcast(errors, n, 0.0)
    chance = np.asarray(p, float)
    if not ((chance > 0) & (chance < 1)).all():
        raise ParameterError(f"p={show(p)}; probabilities between 0 and 1, both excluded, are needed")
    if (e != np.floor(e)).any() or (m != np.floor(m)).any():
        raise UnsupportedError("errors or rows are not whole numbers; a binomial tail counts rows")
    shape = np.broadcast_shapes(np.shape(errors), np.shape(n), chance.shape)
    flat = [np.ascontiguousarray(np.broadcast_to(a, shape), float).ravel() for a in (errors, n, chance)]
    return _reshape(binomial.log_tails(*flat), shape)


def upper_limit(tail: Tail, errors: ArrayLike, n: int, log_delta: ArrayLike) -> Any:
    """Return the upper limit of the tail with the given name: "exact", "kl" or "chernoff"."""
    limits = {"exact": binomial_upper, "kl": kl_upper, "chernoff": chernoff_upper}
    check_name("tail", tail, limits)
    return limits[tail](errors, n, log_delta)


def _broadcast(errors: ArrayLike, n: ArrayLike, log_delta: ArrayLike) -> tuple[Floats, Floats, Floats, tuple[int, ...]]:
    """Return the arguments as flat float arrays of one length, and the shape of the result; raise if invalid."""
    check_stopped()  # threads that compute many limits can be stopped here
    e, m, log_x = np.broadcast_arrays(
        np.asarray(errors, np.float64), np.asarray(n, np.float64), np.asarray(log_delta, np.float64)
    )
    if not (np.isfinite(m).all() and (m >= 0).all()):
        raise ParameterError(f"n={show(n)}; a number of rows of 0 or more is needed")
    if not ((e >= 0) & (e <= m)).all():
        raise ParameterError(f"errors={show(errors)} with n={show(n)}; errors between 0 and n are needed")
    if not (log_x <= 0).all():
        raise ParameterError(f"log_delta={show(log_delta)}; the logarithm of a probability is 0 or less")
    return np.ravel(e), np.ravel(m), np.ravel(log_x), e.shape


def _tail_noise(errors: Floats, log_delta: Floats) -> Floats:
    """Return the largest error of the computed ln of a tail near `log_delta`; 0 where a closed formula is used.

    Stirling's formula has an error of 4e-14 below 16, and the sum of 9 sqrt(errors) terms has one of 1e-15 per term.
    The deviances are at most -log_delta or, for delta near 1, ln(1 / (1 - delta)), which is below 30.
    """
    noise = 1e-14 * (10.0 + np.sqrt(errors)) + _deviance_noise(errors, log_delta - 30.0)
    return np.where((errors > 0) & (log_delta < 0), noise, 0.0)


def _deviance_noise(errors: Floats, log_delta: Floats) -> Floats:
    """Return the largest error of the computed n kl near -log_delta.

    It is 1e-14 of n kl, plus 1e-15 of n p - errors, because n p and n q are rounded.
    """
    finite = np.minimum(-log_delta, 1e290)  # 0 * inf is not a number
    noise: Floats = 1e-14 * -log_delta + 1e-15 * np.sqrt(errors * finite)
    return noise


def _round_up(limits: Floats, is_positive: Bools) -> Floats:
    """Return the positive limits raised by four units in the last place, as quotients and logarithms were rounded."""
    return np.where(is_positive, np.minimum(1.0, np.nextafter(limits * (1 + 1e-15), 2.0)), limits)


def _solve_distinct(errors: Floats, n: Floats, log_delta: Floats, *, is_exact: bool) -> Floats:
    """Return the limit of every case, but solve equal cases once: members of a long path have many of them."""
    order = np.lexsort((errors, n, log_delta))
    cases = [np.ascontiguousarray(array[order]) for array in (errors, n, log_delta)]
    is_new = np.ones(len(order), bool)
    is_new[1:] = np.any([case[1:] != case[:-1] for case in cases], axis=0)
    result = np.empty(len(order))
    distinct_errors, distinct_n, distinct_log_delta = (case[is_new] for case in cases)
    limits = binomial.upper_limits(distinct_errors, distinct_n, distinct_log_delta, is_exact)
    result[order] = limits[np.cumsum(is_new) - 1]
    return result


def _reshape(values: Floats, shape: tuple[int, ...]) -> Any:
    """Return flat values in the shape of the arguments; a float for scalars."""
    return float(values[0]) if shape == () else values.reshape(shape)
