"""How likely is it that reduced error pruning sees through pure noise?

Setting: the class of a row does not depend on its attributes and is 1 with probability
p; the tree has k safe nodes, whose subtrees are cut already. Then the pruned tree is the
single leaf it should be exactly when all safe nodes share a (weak) majority class. Given
how many pruning examples each safe node holds, that probability has a closed form; with
X ~ Bin(m, 1 - p),

    g+(m) = Pr[X <= m/2],   g-(m) = Pr[X >= m/2],   g0(m) = Pr[X = m/2],
    Pr[one leaf] = prod g+(n_i) + prod g-(n_i) - prod g0(n_i).

All products are taken in logs: they fall below the smallest float for large trees.
"""

import math

import numpy as np

from .._kernels.polynomials import log_power_coefficient
from .._utils.arrays import ArrayLike, Floats, Longs
from .._utils.checks import check_int
from ..errors import ParameterError
from ._checks import between


def one_leaf_probability(occupancy: ArrayLike, p: float, *, log: bool = False) -> float:
    """Return the exact probability that pure noise is pruned to one leaf, given occupancies.

    Parameters
    ----------
    occupancy : array of int
        Number of pruning examples in each safe node. Empty ones never object.
    p : float
        Probability of class 1, from 0 to 1.
    log : bool
        Return the natural logarithm, which does not underflow.

    Returns
    -------
    float
        Exact up to rounding when the subtrees at the safe nodes are cut; an upper bound
        when they may survive.

    Notes
    -----
    Elomaa and Kaariainen (2001), sections 5 and 6, whose bounds it replaces.

    O(number of safe nodes).

    Examples
    --------
    >>> round(one_leaf_probability([2] * 10, 0.6), 4)
    0.1858
    """
    sizes = occupancy_of(occupancy)
    p = float(between("p", p, 0, 1))
    distinct, times = np.unique(sizes, return_counts=True)
    return _from_logs([float((times * log_g).sum()) for log_g in log_agreement(distinct, p)], log)


def one_leaf_probability_uniform(n: int, k: int, p: float, *, log: bool = False) -> float:
    """Return the exact probability that pure noise is pruned to one leaf, averaged over occupancies.

    Parameters
    ----------
    n : int
        Number of pruning examples; each falls into one of the safe nodes with equal chance.
    k : int
        Number of safe nodes.
    p : float
        Probability of class 1, from 0 to 1.
    log : bool
        Return the natural logarithm, which does not underflow.

    Returns
    -------
    float
        The mean of `one_leaf_probability` over multinomial occupancies, exact up to rounding.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 6, whose bound it replaces.

    O(n^2 log k). The mean of a product over a multinomial sample is n!/k^n times the
    coefficient of x^n in (sum_j g(j) x^j / j!)^k. Any x may be put into the powers before
    and taken out after; we take the one under which n/k is the mean of a factor, so that
    the wanted coefficient is in the bulk and not in a tail that underflows.

    Examples
    --------
    >>> f"{one_leaf_probability_uniform(500, 100, 0.6):.1e}"
    '4.7e-13'
    """
    n = check_int("n", n, 0)
    k = check_int("k", k, 1)
    p = float(between("p", p, 0, 1))
    return _from_logs([_log_mean_product(log_g, k) for log_g in log_agreement(np.arange(n + 1), p)], log)


def earlier_pruning_probability(n: int, p: float, share: float = 0.5, *, depth: int = 0) -> float:
    """Return the pruning probability of a node that fits noise in the earlier model of Oates and Jensen.

    Parameters
    ----------
    n : int
        Pruning examples at the node.
    p : float
        Probability of the majority class, from 1/2 to 1.
    share : float
        Probability that the subtree sends an example to a leaf of the majority class.
    depth : int
        0 before anything below is pruned; else all 2 ** depth descendants at this depth must be pruned first, each
        reached by the same share of the examples.

    Returns
    -------
    float
        Phi((e - (1 - p)) n / sqrt(n e (1 - e))), e = p + share - 2 p share being the error of the subtree on noise,
        with n / 2 ** depth examples, to the power 2 ** depth.

    Notes
    -----
    Oates and Jensen (1999), as reviewed in Elomaa and Kaariainen (2001), section 3. The model takes the majority class
    of all descendants for granted, whose probability `one_leaf_probability` computes.

    Examples
    --------
    >>> [round(earlier_pruning_probability(200, 0.7, depth=depth), 3) for depth in (0, 2, 4)]
    [1.0, 0.991, 0.27]
    """
    from scipy.special import ndtr

    n, depth = check_int("n", n, 1), check_int("depth", depth, 0)
    p, share = float(between("p", p, 0.5, 1)), float(between("share", share, 0, 1))
    error = p + share - 2 * p * share
    here = n / 2**depth
    spread = math.sqrt(here * error * (1 - error))
    gap = (error - (1 - p)) * here
    one = float(ndtr(gap / spread)) if spread > 0 else float(gap >= 0)
    return math.pow(one, 2**depth)


def log_agreement(sizes: Longs, p: float) -> tuple[Floats, Floats, Floats]:
    """Return ln g+, ln g-, ln g0 at each size, the majority class being "+"."""
    from scipy.special import bdtr, bdtrc, gammaln, xlogy

    minority = min(p, 1 - p)  # by symmetry; keeps g+ at 1/2 or more, so only negligible terms underflow
    half = sizes // 2
    at_most = bdtr(half.astype(float), sizes, minority)
    at_least = np.where(sizes == 0, 1.0, bdtrc((sizes - half - 1).astype(float), sizes, minority))
    log_tie = gammaln(sizes + 1.0) - 2 * gammaln(half + 1.0) + xlogy(half, minority * (1 - minority))
    with np.errstate(divide="ignore"):
        return np.log(at_most), np.log(at_least), np.where(sizes % 2 == 0, log_tie, -np.inf)


def occupancy_of(values: ArrayLike) -> Longs:
    """Return the number of examples in each safe node as whole numbers, or say what was wrong."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"occupancy has shape {array.shape} of {array.dtype}; one whole number per safe node is needed"
        )
    if array.min() < 0:
        raise ParameterError(f"occupancy holds {array.min()}; numbers of 0 or more are needed")
    return array.astype(np.int64)


def _from_logs(logs: list[float], log: bool) -> float:
    """ln of, or, exp(plus) + exp(minus) - exp(both); `plus` is the largest."""
    plus, minus, both = logs
    # minus >= both up to rounding, and the two only correct `plus`.
    value = plus + math.log1p(max(math.exp(minus - plus) - math.exp(both - plus), 0.0))
    value = min(value, 0.0)
    return value if log else math.exp(value)


def _log_mean_product(log_g: Floats, k: int) -> float:
    """ln of the mean of prod g(n_i), n_i multinomial over k equal cells, n = len(log_g) - 1."""
    from scipy.special import gammaln, logsumexp

    n = len(log_g) - 1
    if n == 0 or k == 1:
        return float(k * log_g[n])
    if not np.isfinite(log_g[1:]).any():
        return -math.inf
    sizes = np.arange(n + 1)
    log_terms = log_g - gammaln(sizes + 1.0)

    def mean_size(log_x: float) -> float:
        log_weight = log_terms + sizes * log_x
        weight = np.exp(log_weight - log_weight.max())
        return float((sizes * weight).sum() / weight.sum())

    low, high = -100.0, 100.0
    while high - low > 1e-6:  # roughly: any x gives the same answer
        middle = (low + high) / 2
        low, high = (middle, high) if mean_size(middle) < n / k else (low, middle)
    log_x = (low + high) / 2
    tilted = log_terms + sizes * log_x
    scale = float(logsumexp(tilted))
    coefficient = log_power_coefficient(np.exp(tilted - scale), k)
    return float(coefficient + k * scale - n * log_x + gammaln(n + 1.0) - n * math.log(k))
