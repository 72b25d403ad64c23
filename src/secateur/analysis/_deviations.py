"""Bounds on how far the numbers of small and of empty safe nodes deviate from their means.

n rows fall into k safe nodes with equal probability, and c is a number chosen by the user. R is the number of empty
nodes, ER its mean, and Q the number of nodes with at most c n / k rows. P = Q - R is the number of small nodes that are
not empty, with which the published bound of the pruning probability is computed. Every function returns a bound on
Pr[abs(number - mean) >= x].
"""

import math

from .._utils.checks import check_int
from ..errors import ParameterError
from ._printed import expected_empty


def deviation_empty(n: int, k: int, x: float) -> float:
    """Return a bound on the probability that the number of empty safe nodes is at least `x` away from its mean.

    Parameters
    ----------
    n, k : int
        Numbers of rows and of safe nodes.
    x : float
        Distance from the mean, 0 or more.

    Returns
    -------
    float
        min(1, 2 exp(-x^2 (k - 1/2) / (k^2 - (ER)^2))).

    Notes
    -----
    Elomaa and Kaariainen (2001), Theorem 7.

    The occupancy theorem of Kamath, Motwani, Palem and Spirakis (1995).

    Examples
    --------
    >>> round(deviation_empty(500, 100, 20), 4)
    0.0374
    """
    return min(1.0, _empty_term(check_int("n", n, 0), check_int("k", k, 1), _distance(x)))


def deviation_at_most(n: int, x: float) -> float:
    """Return a bound on the probability that the number of safe nodes with few rows is at least `x` from its mean.

    Parameters
    ----------
    n : int
        Number of rows. The bound does not depend on the number of safe nodes or on c.
    x : float
        Distance from the mean, 0 or more.

    Returns
    -------
    float
        min(1, 2 exp(-2 x^2 / n)): moving one row changes the number by at most 1.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 6.2.

    Examples
    --------
    >>> round(deviation_at_most(500, 40), 4)
    0.0033
    """
    return min(1.0, 2 * _exp_ratio(2 * _distance(x) ** 2, check_int("n", n, 0)))


def deviation_counted(n: int, x: float) -> float:
    """Return a bound on the probability that the number of small, non-empty safe nodes is at least `x` from its mean.

    Parameters
    ----------
    n : int
        Number of rows.
    x : float
        Distance from the mean, 0 or more.

    Returns
    -------
    float
        min(1, 2 exp(-x^2 / (2n))): moving one row changes Q - R by at most 2. This is the published bound without its
        second term, which is not needed.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 6.2, sharpened.

    Examples
    --------
    >>> round(deviation_counted(500, 80), 4)
    0.0033
    """
    return min(1.0, 2 * _exp_ratio(_distance(x) ** 2 / 2, check_int("n", n, 0)))


def printed_deviation_counted(n: int, k: int, x: float) -> float:
    """Return the published bound for the number of small, non-empty safe nodes.

    Parameters
    ----------
    n, k : int
        Numbers of rows and of safe nodes.
    x : float
        Distance from the mean, 0 or more.

    Returns
    -------
    float
        min(1, 2 exp(-x^2 / (2n)) + 2 exp(-x^2 (k - 1/2) / (4 (k^2 - (ER)^2)))). It holds,
        and is never below `deviation_counted`.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 6.2.

    Examples
    --------
    >>> round(printed_deviation_counted(500, 100, 80), 4)
    0.0033
    """
    n, k, x = check_int("n", n, 0), check_int("k", k, 1), _distance(x)
    return min(1.0, 2 * _exp_ratio(x**2 / 2, n) + _empty_term(n, k, x / 2))


def _empty_term(n: int, k: int, x: float) -> float:
    """Return the bound for empty safe nodes, before it is limited to 1."""
    return 2 * _exp_ratio(x**2 * (k - 0.5), k**2 - expected_empty(n, k) ** 2)


def _exp_ratio(numerator: float, denominator: float) -> float:
    """Return exp(-numerator / denominator).

    A denominator of 0 belongs to a number that equals its mean always: the result is 1 for the distance 0, else 0.
    """
    if denominator == 0:
        return 1.0 if numerator == 0 else 0.0
    return math.exp(-numerator / denominator)


def _distance(x: float) -> float:
    """Return a checked distance from the mean."""
    if not x >= 0:
        raise ParameterError(f"x={x}; a distance of 0 or more is needed")
    return float(x)
