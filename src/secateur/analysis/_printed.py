"""Published approximations of the probability that a tree on noise is pruned to one leaf, and a valid bound.

Elomaa and Kaariainen (2001) bound the probability that pure noise is pruned to one leaf by normal approximations. The
functions named `printed_` compute their formulas as printed, for comparison with the exact `one_leaf_probability`. The
formulas are not upper bounds. The docstrings refer to the following reasons and remedies by number. The number of safe
nodes, which are the highest nodes with a leaf among their children, is k (`safe_nodes`):

C1  A lower bound on Pr[X >= m/2] is used where Pr[X > m/2] is needed. At even m the probability of a tie is missing.
C2  The uniform formula at its best c lies below the true value in the published example (n = 500, k = 100, p = .6).
C3  A random exponent is replaced by its mean. a^x is convex, so the mean of a^P is larger than a^(mean P). The
    replacement is too small even without C1.
C4  `valid_bound_general` is a valid bound that can replace the general formula.
"""

import math
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from .._utils.checks import check_int
from ..errors import ParameterError
from ._checks import check_between, scalar_or_array
from ._one_leaf import log_agreement

_MAJORITY_HINT = "; the formulas are stated for the majority class, so give 1 - p instead"
_C_GRID = np.arange(1, 101) / 50


def printed_bound_general(n: int, k: int, p: ArrayLike) -> Any:
    """Return the published bound for any occupancy, equation 2. It is not an upper bound.

    Parameters
    ----------
    n : int
        Number of pruning rows.
    k : int
        Number of safe nodes.
    p : float or array
        Probability of the majority class, from 1/2 to 1.

    Returns
    -------
    float, or array if `p` is one
        Phi((p - 1/2) r / sqrt(r p (1 - p)))^(k/2) with r = 2n/k.

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 2.

    Correction C1: at an even number of rows per safe node the formula omits the ties. For m = 2 and p = .6 it uses
    Pr[X > 1] >= .3864, but the probability is .16. With ten safe nodes of two rows each the formula gives .1238, but
    the tree is pruned to one leaf with probability .1858 (with probability .1749 to a leaf of the majority class).
    `valid_bound_general` (C4) is an upper bound; `one_leaf_probability` is exact.

    Examples
    --------
    >>> round(printed_bound_general(20, 10, 0.6), 4)
    0.1238
    """
    n, k = check_int("n", n, 1), check_int("k", k, 1)
    chance = check_between("p", p, 0.5, 1, _MAJORITY_HINT)
    return scalar_or_array(np.exp(k / 2 * _log_agreement_printed(chance, np.asarray(2 * n / k))))


def printed_bound_uniform(n: int, k: int, p: ArrayLike, c: ArrayLike | None = None) -> Any:
    """Return the published bound for uniform occupancy, equation 5. It is not an upper bound.

    Parameters
    ----------
    n : int
        Number of pruning rows.
    k : int
        Number of safe nodes, at least 2.
    p : float or array
        Probability of the majority class, from 1/2 to 1.
    c : float or array, optional
        The exponent of the formula counts the safe nodes with at most c n / k rows. By default `best_c` chooses c.

    Returns
    -------
    float, or array if `p` or `c` is one (broadcast as usual)
        Phi((p - 1/2) r / sqrt(r p (1 - p)))^(Q - R) with r = cn/k and the printed
        expectations Q = `printed_safe_nodes_at_most`, R = `printed_empty`. It exceeds 1
        where the printed exponent is negative.

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 5.

    Three corrections apply. C1: ties are omitted, as in `printed_bound_general`. C2: in the published example n =
    500, k = 100, p = .6 the best c, 1.72, gives 7.6e-14, but the probability is 4.7e-13
    (`one_leaf_probability_uniform`). C3: the exponent should be the random number of counted nodes; with its mean the
    result is too small, because a^x is convex.

    Examples
    --------
    >>> f"{printed_bound_uniform(500, 100, 0.6, 1.72):.1e}"
    '7.6e-14'
    """
    n, k = check_int("n", n, 1), check_int("k", k, 2)
    chance = check_between("p", p, 0.5, 1, _MAJORITY_HINT)
    if c is None:
        return scalar_or_array(_uniform(n, k, chance[..., None], _C_GRID).min(axis=-1))
    return scalar_or_array(_uniform(n, k, chance, _positive_c(c)))


def best_c(n: int, k: int, p: ArrayLike) -> Any:
    """Return the c that minimises the published uniform bound, on a grid.

    Parameters
    ----------
    n, k, p
        As for `printed_bound_uniform`.

    Returns
    -------
    float, or array if `p` is one
        The best of .02, .04, ..., 2; in a tie, the smallest.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 6.1, Figure 3.

    The least value is still not a bound: see the corrections in `printed_bound_uniform`.

    Examples
    --------
    >>> best_c(500, 100, 0.6), best_c(500, 100, 0.75)
    (1.72, 1.22)
    """
    n, k = check_int("n", n, 1), check_int("k", k, 2)
    chance = check_between("p", p, 0.5, 1, _MAJORITY_HINT)
    return scalar_or_array(_C_GRID[_uniform(n, k, chance[..., None], _C_GRID).argmin(axis=-1)])


def valid_bound_general(n: int, k: int, p: float) -> float:
    """Return an upper bound on the one-leaf probability that is valid whenever no safe node is empty.

    Parameters
    ----------
    n : int
        Number of pruning rows. At least `k`, because every safe node must have a row.
    k : int
        Number of safe nodes.
    p : float
        Probability of class 1, from 0 to 1.

    Returns
    -------
    float
        At least `one_leaf_probability(occupancy, p)` for every occupancy of k safe
        nodes with n rows in all and one or more in each.

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 2, corrected.

    Correction C4. At least half of the safe nodes have r = 2n/k rows or fewer. A safe node with j rows agrees with the
    majority class with probability g+(j) = Pr[Bin(j, 1 - p) <= j/2], so each of these nodes agrees with probability at
    most the maximum of g+(1), ..., g+(r). The same holds for the minority class. If the number of rows in each safe
    node is known, `one_leaf_probability` is exact and smaller.

    Examples
    --------
    >>> round(valid_bound_general(20, 10, 0.6), 4)
    0.5256
    """
    n, k = check_int("n", n, 1), check_int("k", k, 1)
    p = float(check_between("p", p, 0, 1))
    if n < k:
        raise ParameterError(
            f"n={n} rows leave some of k={k} safe nodes empty; the bound needs n >= k "
            "(one_leaf_probability takes empty nodes)"
        )
    log_plus, log_minus, _ = log_agreement(np.arange(1, 2 * n // k + 1), p)
    power = (k + 1) // 2
    return min(1.0, math.exp(power * log_plus.max()) + math.exp(power * log_minus.max()))


def expected_safe_nodes_at_most(n: int, k: int, c: ArrayLike) -> Any:
    """Return the expected number of safe nodes with at most c n / k rows, exactly.

    Parameters
    ----------
    n : int
        Number of rows; each falls into one of the safe nodes with equal probability.
    k : int
        Number of safe nodes.
    c : float or array
        Limit in units of n/k, the mean number of rows.

    Returns
    -------
    float, or array if `c` is one
        k Pr[Bin(n, 1/k) <= c n / k].

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 4, exact.

    Examples
    --------
    >>> round(expected_safe_nodes_at_most(500, 100, 1), 2)
    61.6
    """
    from scipy.special import bdtr

    n, k = check_int("n", n, 0), check_int("k", k, 1)
    # Rounding errors must not move c n / k below a whole number.
    limit = np.minimum(np.floor(_positive_c(c) * n / k + 1e-9), n)
    return scalar_or_array(np.asarray(k * bdtr(limit, n, 1 / k)))


def printed_safe_nodes_at_most(n: int, k: int, c: ArrayLike) -> Any:
    """Return the published approximation of `expected_safe_nodes_at_most`, equation 4.

    Parameters
    ----------
    n, k, c
        As for `expected_safe_nodes_at_most`, but k is at least 2.

    Returns
    -------
    float, or array if `c` is one
        k Phi((c - 1)(n/k) / sqrt((n/k)(1 - 1/k))).

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 4.

    A normal approximation without a continuity correction: at c = 1 it gives half of the nodes for all n and k (for n
    = 500 and k = 100, 50.00 instead of 61.60).

    Examples
    --------
    >>> round(printed_safe_nodes_at_most(500, 100, 1.5), 2)
    86.94
    """
    from scipy.special import ndtr

    n, k = check_int("n", n, 1), check_int("k", k, 2)
    mean = n / k
    return scalar_or_array(np.asarray(k * ndtr((_positive_c(c) - 1) * mean / math.sqrt(mean * (1 - 1 / k)))))


def expected_empty(n: int, k: int) -> float:
    """Return the expected number of safe nodes without a row, exactly.

    Parameters
    ----------
    n : int
        Number of rows; each falls into one of the safe nodes with equal probability.
    k : int
        Number of safe nodes.

    Returns
    -------
    float
        k (1 - 1/k)^n.

    Notes
    -----
    Elomaa and Kaariainen (2001), Theorem 7.

    Examples
    --------
    >>> round(expected_empty(500, 100), 4)
    0.657
    """
    n, k = check_int("n", n, 0), check_int("k", k, 1)
    return float(k * (1 - 1 / k) ** n)


def printed_empty(n: int, k: int) -> float:
    """Return the published approximation of `expected_empty`: k exp(-n/k), always a little too large.

    Parameters
    ----------
    n, k : int
        As for `expected_empty`.

    Notes
    -----
    Elomaa and Kaariainen (2001), Theorem 7.

    Examples
    --------
    >>> round(printed_empty(500, 100), 4)
    0.6738
    """
    n, k = check_int("n", n, 0), check_int("k", k, 1)
    return k * math.exp(-n / k)


def _uniform(n: int, k: int, p: Floats, c: Floats) -> Floats:
    """Return the published uniform bound for checked arguments."""
    exponent = printed_safe_nodes_at_most(n, k, c) - printed_empty(n, k)
    return np.asarray(np.exp(exponent * _log_agreement_printed(p, c * n / k)))


def _log_agreement_printed(p: Floats, r: Floats) -> Floats:
    """Return ln Phi((p - 1/2) r / sqrt(r p (1 - p))), the normal approximation of ln g+(r)."""
    from scipy.special import log_ndtr

    with np.errstate(divide="ignore"):  # the quotient is infinite at p = 1
        return np.asarray(log_ndtr((p - 0.5) * np.sqrt(r) / np.sqrt(p * (1 - p))))


def _positive_c(c: ArrayLike) -> Floats:
    """Return c as an array; raise `ParameterError` unless all values are finite and above 0."""
    array = np.asarray(c, np.float64)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ParameterError(f"c={array.min():g}; finite numbers above 0 are needed")
    return array
