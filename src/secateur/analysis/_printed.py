"""The published approximations of the pruning probability, and what holds in their place.

Elomaa and Kaariainen (2001) bound the probability that pure noise is pruned to one leaf
by normal approximations. Their formulas are here as they stand in print, every function
named `printed_`, for comparison with the exact `one_leaf_probability`. They are not upper
bounds. The reasons, numbered as in the docstrings:

C1  A lower bound on Pr[X >= m/2] is used where Pr[X > m/2] is needed. At even m the
    mass of the tie is lost.
C2  The uniform formula at its best c lies below the truth in the setting it was
    illustrated with (n = 500, k = 100, p = .6).
C3  A random exponent is replaced by its mean. a^x is convex, so the mean of a^P is
    larger than a^(mean P): the replacement errs on the unsafe side even without C1.
C4  A valid replacement of the general formula exists: `valid_bound_general`.
"""

import math
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from .._utils.checks import check_int
from ..errors import ParameterError
from ._checks import between, plain
from ._one_leaf import log_agreement

_MAJORITY = "; the formulas are stated for the majority class, so give 1 - p instead"
_C_GRID = np.arange(1, 101) / 50


def printed_bound_general(n: int, k: int, p: ArrayLike) -> Any:
    """Return the published bound for any occupancy, equation 2. It is not an upper bound.

    Parameters
    ----------
    n : int
        Number of pruning examples.
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

    Correction C1: at an even number of examples per safe node the formula forgets the
    ties. For m = 2 and p = .6 it takes Pr[X > 1] to be at least .3864, and it is .16. With
    ten safe nodes of two examples each it gives .1238, but the tree is cut to one leaf
    with probability .1858 (.1749 if only the majority class counts).
    `valid_bound_general` (C4) holds; `one_leaf_probability` is exact.

    Examples
    --------
    >>> round(printed_bound_general(20, 10, 0.6), 4)
    0.1238
    """
    n, k = check_int("n", n, 1), check_int("k", k, 1)
    chance = between("p", p, 0.5, 1, _MAJORITY)
    return plain(np.exp(k / 2 * _log_agreement_printed(chance, np.asarray(2 * n / k))))


def printed_bound_uniform(n: int, k: int, p: ArrayLike, c: ArrayLike | None = None) -> Any:
    """Return the published bound for uniform occupancy, equation 5. It is not an upper bound.

    Parameters
    ----------
    n : int
        Number of pruning examples.
    k : int
        Number of safe nodes, at least 2.
    p : float or array
        Probability of the majority class, from 1/2 to 1.
    c : float or array, optional
        Safe nodes with at most c n / k examples are counted. Left out, `best_c` chooses it.

    Returns
    -------
    float, or array if `p` or `c` is one (broadcast as usual)
        Phi((p - 1/2) r / sqrt(r p (1 - p)))^(Q - R) with r = cn/k and the printed
        expectations Q = `printed_safe_nodes_at_most`, R = `printed_empty`. It exceeds 1
        where the printed exponent is negative.

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 5.

    Three corrections. C1: ties are lost, as in `printed_bound_general`. C2: in the
    published setting n = 500, k = 100, p = .6 the best c, 1.72, gives 7.6e-14, but
    the truth is 4.7e-13 (`one_leaf_probability_uniform`). C3: the exponent should be
    the random number of counted nodes; its mean in its place makes the result
    too small, because a^x is convex.

    Examples
    --------
    >>> f"{printed_bound_uniform(500, 100, 0.6, 1.72):.1e}"
    '7.6e-14'
    """
    n, k = check_int("n", n, 1), check_int("k", k, 2)
    chance = between("p", p, 0.5, 1, _MAJORITY)
    if c is None:
        return plain(_uniform(n, k, chance[..., None], _C_GRID).min(axis=-1))
    return plain(_uniform(n, k, chance, _positive_c(c)))


def best_c(n: int, k: int, p: ArrayLike) -> Any:
    """Return the c that minimises the published uniform bound, on a grid.

    Parameters
    ----------
    n, k, p
        As for `printed_bound_uniform`.

    Returns
    -------
    float, or array if `p` is one
        The best of .02, .04, ..., 2; the smallest on a tie.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 6.1, Figure 3.

    Being least does not make it right: see the corrections in `printed_bound_uniform`.

    Examples
    --------
    >>> best_c(500, 100, 0.6), best_c(500, 100, 0.75)
    (1.72, 1.22)
    """
    n, k = check_int("n", n, 1), check_int("k", k, 2)
    chance = between("p", p, 0.5, 1, _MAJORITY)
    return plain(_C_GRID[_uniform(n, k, chance[..., None], _C_GRID).argmin(axis=-1)])


def valid_bound_general(n: int, k: int, p: float) -> float:
    """Return an upper bound on the one-leaf probability that holds for every occupancy without empty nodes.

    Parameters
    ----------
    n : int
        Number of pruning examples, at least `k`: every safe node must hold one.
    k : int
        Number of safe nodes.
    p : float
        Probability of class 1, from 0 to 1.

    Returns
    -------
    float
        At least `one_leaf_probability(occupancy, p)` for every occupancy of k safe
        nodes with n examples in all and one or more in each.

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 2, corrected.

    Correction C4. At least half of the safe nodes hold r = 2n/k examples or fewer, and
    each of them agrees with the majority with probability at most the largest
    g+(j) = Pr[Bin(j, 1 - p) <= j/2], 1 <= j <= r; the same for the minority. Given
    the occupancies themselves, `one_leaf_probability` is exact and smaller.

    Examples
    --------
    >>> round(valid_bound_general(20, 10, 0.6), 4)
    0.5256
    """
    n, k = check_int("n", n, 1), check_int("k", k, 1)
    p = float(between("p", p, 0, 1))
    if n < k:
        raise ParameterError(
            f"n={n} examples leave some of k={k} safe nodes empty; the bound needs n >= k "
            "(one_leaf_probability takes empty nodes)"
        )
    log_plus, log_minus, _ = log_agreement(np.arange(1, 2 * n // k + 1), p)
    power = (k + 1) // 2
    return min(1.0, math.exp(power * log_plus.max()) + math.exp(power * log_minus.max()))


def expected_safe_nodes_at_most(n: int, k: int, c: ArrayLike) -> Any:
    """Return the expected number of safe nodes with at most c n / k examples, exactly.

    Parameters
    ----------
    n : int
        Number of examples, spread over the safe nodes with equal chance.
    k : int
        Number of safe nodes.
    c : float or array
        In units of the mean occupancy n/k.

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
    # c n / k that is a whole number but for rounding counts as that number.
    limit = np.minimum(np.floor(_positive_c(c) * n / k + 1e-9), n)
    return plain(np.asarray(k * bdtr(limit, n, 1 / k)))


def printed_safe_nodes_at_most(n: int, k: int, c: ArrayLike) -> Any:
    """Return the published approximation of `expected_safe_nodes_at_most`, equation 4.

    Parameters
    ----------
    n, k, c
        As there, k at least 2.

    Returns
    -------
    float, or array if `c` is one
        k Phi((c - 1)(n/k) / sqrt((n/k)(1 - 1/k))).

    Notes
    -----
    Elomaa and Kaariainen (2001), equation 4.

    A normal curve through the mean, without a correction for whole numbers: at c = 1 it
    says half of the nodes whatever n and k are (n = 500, k = 100: 50.00, exactly 61.60).

    Examples
    --------
    >>> round(printed_safe_nodes_at_most(500, 100, 1.5), 2)
    86.94
    """
    from scipy.special import ndtr

    n, k = check_int("n", n, 1), check_int("k", k, 2)
    mean = n / k
    return plain(np.asarray(k * ndtr((_positive_c(c) - 1) * mean / math.sqrt(mean * (1 - 1 / k)))))


def expected_empty(n: int, k: int) -> float:
    """Return the expected number of safe nodes without an example, exactly.

    Parameters
    ----------
    n : int
        Number of examples, spread over the safe nodes with equal chance.
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
    exponent = printed_safe_nodes_at_most(n, k, c) - printed_empty(n, k)
    return np.asarray(np.exp(exponent * _log_agreement_printed(p, c * n / k)))


def _log_agreement_printed(p: Floats, r: Floats) -> Floats:
    """ln Phi((p - 1/2) r / sqrt(r p (1 - p))), the normal stand-in for g+(r)."""
    from scipy.special import log_ndtr

    with np.errstate(divide="ignore"):  # p = 1: infinitely sure
        return np.asarray(log_ndtr((p - 0.5) * np.sqrt(r) / np.sqrt(p * (1 - p))))


def _positive_c(c: ArrayLike) -> Floats:
    array = np.asarray(c, np.float64)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ParameterError(f"c={array.min():g}; finite numbers above 0 are needed")
    return array
