"""The probability that reduced error pruning recognises pure noise, that is, returns a single leaf.

Pure noise means that the class of a row does not depend on its attributes: it is 1 with probability p and otherwise 0.
The tree has k safe nodes (see `_structure.py`), whose subtrees are already cut. The pruned tree is then a single leaf
exactly if one class is a majority, or ties, at every safe node. For a safe node with m pruning rows let X be the number
of its rows of class 0, so that X ~ Bin(m, 1 - p), and

    g+(m) = Pr[X <= m/2]    class 1 is a majority or ties,
    g-(m) = Pr[X >= m/2]    class 0 is a majority or ties,
    g0(m) = Pr[X = m/2]     the classes tie.

If the i-th safe node has n_i pruning rows,

    Pr[one leaf] = prod g+(n_i) + prod g-(n_i) - prod g0(n_i).

All products are computed as sums of logarithms, because they underflow for large trees.
"""

import math

import numpy as np

from .._kernels.polynomials import log_power_coefficient
from .._utils.arrays import ArrayLike, Floats, Longs
from .._utils.checks import check_int
from ..errors import ParameterError
from ._checks import check_between


def one_leaf_probability(occupancy: ArrayLike, p: float, *, log: bool = False) -> float:
    """Return the exact probability that pure noise is pruned to one leaf, for given numbers of rows in the safe nodes.

    Parameters
    ----------
    occupancy : array of int
        Number of pruning rows in each safe node. An empty node agrees with every class.
    p : float
        Probability of class 1, from 0 to 1.
    log : bool
        Whether to return the natural logarithm, which does not underflow.

    Returns
    -------
    float
        Exact up to rounding if the subtrees at the safe nodes are cut; an upper bound if they may stay.

    Notes
    -----
    Replaces the bounds of Elomaa and Kaariainen (2001), sections 5 and 6.

    O(number of safe nodes).

    Examples
    --------
    >>> round(one_leaf_probability([2] * 10, 0.6), 4)
    0.1858
    """
    sizes = occupancy_of(occupancy)
    p = float(check_between("p", p, 0, 1))
    distinct, n_nodes = np.unique(sizes, return_counts=True)
    return _from_logs([float((n_nodes * log_g).sum()) for log_g in log_agreement(distinct, p)], log)


def one_leaf_probability_uniform(n: int, k: int, p: float, *, log: bool = False) -> float:
    """Return the exact probability that pure noise is pruned to one leaf, averaged over random row counts.

    Parameters
    ----------
    n : int
        Number of pruning rows; each falls into one of the safe nodes with equal probability.
    k : int
        Number of safe nodes.
    p : float
        Probability of class 1, from 0 to 1.
    log : bool
        Whether to return the natural logarithm, which does not underflow.

    Returns
    -------
    float
        The mean of `one_leaf_probability` over multinomial occupancies, exact up to rounding.

    Notes
    -----
    Replaces the bound of Elomaa and Kaariainen (2001), section 6.

    O(n^2 log k). The mean of prod g(n_i) over multinomial n_1, ..., n_k is n!/k^n times the coefficient of x^n in
    (sum_j g(j) x^j / j!)^k.

    Examples
    --------
    >>> f"{one_leaf_probability_uniform(500, 100, 0.6):.1e}"
    '4.7e-13'
    """
    n = check_int("n", n, 0)
    k = check_int("k", k, 1)
    p = float(check_between("p", p, 0, 1))
    return _from_logs([_log_mean_product(log_g, k) for log_g in log_agreement(np.arange(n + 1), p)], log)


def earlier_pruning_probability(n: int, p: float, share: float = 0.5, *, depth: int = 0) -> float:
    """Return the probability, in the earlier model of Oates and Jensen, that a node above pure noise is cut.

    Parameters
    ----------
    n : int
        Number of pruning rows at the node.
    p : float
        Probability of the majority class, from 1/2 to 1.
    share : float
        Probability that the subtree sends a row to a leaf of the majority class.
    depth : int
        If 0, the node is cut before any node below it. Otherwise all 2 ** depth descendants at this depth must be cut
        first, and each of them receives the same share of the rows.

    Returns
    -------
    float
        Phi((e - (1 - p)) m / sqrt(m e (1 - e))) to the power 2 ** depth, where e = p + share - 2 p share is the error
        of the subtree on noise, and m = n / 2 ** depth.

    Notes
    -----
    Oates and Jensen (1999), as reviewed in Elomaa and Kaariainen (2001), section 3. The model assumes that
    all descendants have the same majority class; `one_leaf_probability` is the probability that this is so.

    Examples
    --------
    >>> [round(earlier_pruning_probability(200, 0.7, depth=depth), 3) for depth in (0, 2, 4)]
    [1.0, 0.991, 0.27]
    """
    from scipy.special import ndtr

    n, depth = check_int("n", n, 1), check_int("depth", depth, 0)
    p, share = float(check_between("p", p, 0.5, 1)), float(check_between("share", share, 0, 1))
    error = p + share - 2 * p * share
    n_here = n / 2**depth
    deviation = math.sqrt(n_here * error * (1 - error))
    gap = (error - (1 - p)) * n_here
    probability = float(ndtr(gap / deviation)) if deviation > 0 else float(gap >= 0)
    return math.pow(probability, 2**depth)


def log_agreement(sizes: Longs, p: float) -> tuple[Floats, Floats, Floats]:
    """Return ln g+, ln g- and ln g0 for nodes with these numbers of rows; "+" is the more probable class."""
    from scipy.special import bdtr, bdtrc, gammaln, xlogy

    # Exchanging the classes does not change the probability of one leaf. With "+" as the more probable class, g+ is at
    # least 1/2, so only negligible terms underflow.
    minority = min(p, 1 - p)
    half = sizes // 2
    at_most = bdtr(half.astype(float), sizes, minority)
    at_least = np.where(sizes == 0, 1.0, bdtrc((sizes - half - 1).astype(float), sizes, minority))
    log_tie = gammaln(sizes + 1.0) - 2 * gammaln(half + 1.0) + xlogy(half, minority * (1 - minority))
    with np.errstate(divide="ignore"):
        return np.log(at_most), np.log(at_least), np.where(sizes % 2 == 0, log_tie, -np.inf)


def occupancy_of(values: ArrayLike) -> Longs:
    """Return the checked number of rows in each safe node."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"occupancy has shape {array.shape} of {array.dtype}; one whole number per safe node is needed"
        )
    if array.min() < 0:
        raise ParameterError(f"occupancy holds {array.min()}; numbers of 0 or more are needed")
    return array.astype(np.int64)


def _from_logs(logs: list[float], log: bool) -> float:
    """Return exp(plus) + exp(minus) - exp(both), or its logarithm.

    The largest of the three is `plus`, and `minus` is at least `both`. Rounding may make `minus` slightly smaller.
    """
    plus, minus, both = logs
    value = plus + math.log1p(max(math.exp(minus - plus) - math.exp(both - plus), 0.0))
    value = min(value, 0.0)
    return value if log else math.exp(value)


def _log_mean_product(log_g: Floats, k: int) -> float:
    """Return ln of the mean of prod g(n_i), where n = len(log_g) - 1 rows fall into k equally likely nodes."""
    from scipy.special import gammaln, logsumexp

    n = len(log_g) - 1
    if n == 0 or k == 1:
        return float(k * log_g[n])
    if not np.isfinite(log_g[1:]).any():
        return -math.inf
    sizes = np.arange(n + 1)
    log_terms = log_g - gammaln(sizes + 1.0)

    # The coefficient may be computed with g(j) x^j for any number x, and divided by x^n afterwards. Bisection finds the
    # x for which n/k is the mean of j under weights g(j) x^j / j!. The coefficient is then among the large ones, and
    # does not underflow.
    def mean_size(log_x: float) -> float:
        """Return the mean of the distribution proportional to g(j) x^j / j!."""
        log_weight = log_terms + sizes * log_x
        weight = np.exp(log_weight - log_weight.max())
        return float((sizes * weight).sum() / weight.sum())

    low, high = -100.0, 100.0
    while high - low > 1e-6:  # a rough value will do, because every x gives the same result
        middle = (low + high) / 2
        low, high = (middle, high) if mean_size(middle) < n / k else (low, middle)
    log_x = (low + high) / 2
    tilted = log_terms + sizes * log_x
    scale = float(logsumexp(tilted))
    coefficient = log_power_coefficient(np.exp(tilted - scale), k)
    return float(coefficient + k * scale - n * log_x + gammaln(n + 1.0) - n * math.log(k))
