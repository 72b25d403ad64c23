"""Two tests on the sketches of two samples: do they share more rows than chance explains?

Suppose both samples are independent draws from one population. Pool the rows of a class from both: which of them are in
the second sample is then a uniformly random choice. So if a row occurs c times in the pool, the number of times that it
occurs in the second sample is hypergeometric. Working within classes makes the tests valid for stratified samples, too.

    shared      too many rows occur in both samples: Chernoff's bound on a sum of Bernoulli variables
    too alike   the frequencies of repeated rows agree better than chance: the lower tail of chi-square
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._utils.arrays import Array
from ..data.sketch import HASH_RANGE, N_RECOGNISED, Sketch
from .tails import binomial_upper

# p-value of each of the two tests below which a sample is refused. With the tests on rounded rows, all of them refuse
# an honest sample with probability at most 1e-6: 2 * 0.4e-6 + 2 * 2 * 0.4e-6 / 8.
MAX_P_REFUSED = 0.4e-6
PRICE_OF_ROUNDED_ROWS = 8.0  # p-values of tests on rounded rows are multiplied by this number
MAX_P_DOUBTED = 1e-3 / 2  # p-value below which there is a warning
MIN_EXPECTED_COUNT = 4.0  # the chi-square approximation is not valid below (measured by simulation)
MIN_CHI_SQUARE_ROWS = 10  # number of different rows that the chi-square test needs
MIN_UNIQUE_ROWS = 12  # two equal sketches are refused if at least this number of rows occurs once
CHERNOFF_STEPS = 60  # of the bisection for the best exponent of Chernoff's bound
MAX_CHERNOFF_EXPONENT = 700.0  # exp of more is not a finite float


class Overlap(NamedTuple):
    """The result of comparing two sketches.

    Parameters
    ----------
    p : float
        The smaller of the two p-values.
    n_shared : float
        Estimated number of rows of the second sample that occur in the first one.
    low, high : float
        Limits of the 95 % confidence interval of this number.
    n_chance : float
        The number of such rows that chance explains.
    n_rows : int
        Number of rows of the second sample.
    is_rounded : bool
        Whether all these numbers come from the comparison of rounded rows, because its p-value is smaller.
    is_detectable : bool
        Whether the tests would have found that all rows of the first sample were used again.
    """

    p: float
    n_shared: float
    low: float
    high: float
    n_chance: float
    n_rows: int
    is_rounded: bool
    is_detectable: bool

    @property
    def is_refused(self) -> bool:
        """Whether the second sample is refused, because the samples share too many rows."""
        return self.p < MAX_P_REFUSED

    @property
    def is_doubtful(self) -> bool:
        """Whether there is a warning, because the samples share many rows."""
        return self.p < MAX_P_DOUBTED


@lru_cache(maxsize=64)  # one certificate compares the same samples several times: for tree, pruning and log
def overlap(first: Sketch, second: Sketch) -> Overlap:
    """Return the overlap of two samples, given their sketches under one key.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur.data.sketch import RowKey
    >>> rng, key = np.random.default_rng(0), RowKey(bytes(16), (0,))
    >>> a, b = (key.sketch([rng.normal(size=(300, 1))], rng.integers(0, 2, 300), 2) for _ in range(2))
    >>> overlap(a, b).is_refused, overlap(a, a).is_refused, round(overlap(a, a).n_shared)
    (False, True, 300)
    """
    result = _overlap_of_key(first, second)
    for one, another in zip(first.rounded[:N_RECOGNISED], second.rounded[:N_RECOGNISED], strict=False):
        rounded = _overlap_of_key(one, another)
        p = min(1.0, PRICE_OF_ROUNDED_ROWS * rounded.p)
        if p < min(result.p, MAX_P_DOUBTED):
            result = rounded._replace(p=p, is_rounded=True, is_detectable=result.is_detectable)
    return result


def _overlap_of_key(first: Sketch, second: Sketch) -> Overlap:
    """Return the overlap of two sketches without their sketches of rounded rows."""
    theta = min(first.theta, second.theta)
    n_classes = max(len(first.n_by_class), len(second.n_by_class))
    n_first, n_second = (np.pad(s.n_by_class, (0, n_classes - len(s.n_by_class))) for s in (first, second))
    times_in_first, times_in_second, classes = _pool_rows(first, second, theta)
    p = min(_p_values(times_in_first, times_in_second, n_first[classes], n_second[classes]))
    if first.digest == second.digest and np.count_nonzero(first.copies == 1) >= MIN_UNIQUE_ROWS:
        p = 0.0
    is_in_both = (times_in_first > 0) & (times_in_second > 0)
    n_sketched, n_shared = int(times_in_second.sum()), int(times_in_second[is_in_both].sum())
    n_rows = second.n_rows
    # The estimate of Good and Turing: the probability that a new row equals a row of the first sample is the share of
    # rows of the first sample that are not the only one with their values.
    chance = 1 - np.count_nonzero(first.copies == 1) / max(int(first.copies.sum()), 1)
    low, high = 0.0, float(n_rows)
    if n_sketched:
        low = n_rows * (1 - binomial_upper(n_sketched - n_shared, n_sketched, math.log(0.025)))
        high = n_rows * binomial_upper(n_shared, n_sketched, math.log(0.025))
    return Overlap(
        p=p,
        n_shared=n_shared * (n_rows / max(n_sketched, 1)),
        low=low,
        high=high,
        n_chance=chance * n_rows,
        n_rows=n_rows,
        is_rounded=False,
        is_detectable=_is_detectable(first, n_first, n_second),
    )


def _pool_rows(first: Sketch, second: Sketch, theta: int) -> tuple[Array, Array, Array]:
    """Return (times in the first sample, times in the second, class) of every different row with a hash below theta."""
    samples = (first, second)
    is_below = [np.ones(len(s.hashes), bool) if theta == HASH_RANGE else s.hashes < np.uint64(theta) for s in samples]
    hashes = np.concatenate([s.hashes[below] for s, below in zip(samples, is_below, strict=True)])
    classes = np.concatenate([s.classes[below] for s, below in zip(samples, is_below, strict=True)])
    copies = np.concatenate([s.copies[below] for s, below in zip(samples, is_below, strict=True)])
    is_second = np.arange(len(hashes)) >= np.count_nonzero(is_below[0])
    _, index, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    times_in_first = np.bincount(inverse, np.where(is_second, 0, copies), len(index)).astype(np.int64)
    times_in_second = np.bincount(inverse, np.where(is_second, copies, 0), len(index)).astype(np.int64)
    return times_in_first, times_in_second, classes[index]


def _p_values(times_in_first: Array, times_in_second: Array, n_first: Array, n_second: Array) -> tuple[float, float]:
    """Return the p-values of both tests.

    Parameters
    ----------
    times_in_first, times_in_second : array of int
        How many times each different row occurs in the first and in the second sample.
    n_first, n_second : array of int
        Number of rows of the class of each different row in the first and in the second sample.
    """
    c, total = times_in_first + times_in_second, n_first + n_second
    is_informative = (c > 1) & (c < total)  # the split of a row is fixed if it occurs once, or makes up its class
    is_in_both = ((times_in_first > 0) & (times_in_second > 0))[is_informative]
    times_in_second, c, n_first, n_second, total = (
        values[is_informative] for values in (times_in_second, c, n_first, n_second, total)
    )
    p_in_both = np.clip(1 - np.exp(_log_none(total, c, n_second)) - np.exp(_log_none(total, c, n_first)), 0.0, 1.0)
    p_shared = _chernoff(int(np.count_nonzero(is_in_both)), p_in_both)
    expected = c * n_second / total
    is_frequent = (expected >= MIN_EXPECTED_COUNT) & (c * n_first / total >= MIN_EXPECTED_COUNT)
    if np.count_nonzero(is_frequent) < MIN_CHI_SQUARE_ROWS:
        return p_shared, 1.0
    from scipy.special import chdtr

    variance = expected * (n_first / total) * (total - c) / (total - 1)
    statistic = float(np.sum(((times_in_second - expected) ** 2 / variance)[is_frequent]))
    return p_shared, float(chdtr(np.count_nonzero(is_frequent), statistic))


def _log_none(total: Array, c: Array, drawn: Array) -> Array:
    """Return ln of the probability that none of `c` rows is among `drawn` of `total` rows.

    The result is the sum of ln(1 - drawn / (total - i)) over i < c. Up to 64 terms are added one by one. For more
    terms, the sum is the difference of log factorials or, if `c` is much smaller than `total`, c times the middle term.
    """
    from scipy.special import gammaln

    cases, inverse = np.unique(np.stack([total, c, drawn]), axis=1, return_inverse=True)
    total, c, drawn = cases.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_middle_term = c * np.log1p(-drawn / np.maximum(total - (c - 1) / 2, 1))
        by_factorials = gammaln(total - c + 1) - gammaln(total - c - drawn + 1)
        by_factorials += gammaln(total - drawn + 1) - gammaln(total + 1)
        result = np.where(c < total / 100, by_middle_term, by_factorials)
        has_few_terms = c <= 64
        term_by_term = np.zeros(len(total))
        for i in range(int(c[has_few_terms].max(initial=0))):
            term_by_term += np.where(i < c, np.log1p(-drawn / np.maximum(total - i, 1)), 0.0)
    result = np.where(has_few_terms, term_by_term, result)
    return np.where(drawn + c > total, -np.inf, result)[inverse.ravel()]


def _chernoff(n_events: int, probability: Array) -> float:
    """Return an upper limit on the probability that `n_events` or more of several independent events happen."""
    probability = probability[probability > 0]
    if n_events <= probability.sum():
        return 1.0
    if n_events > len(probability):
        return 0.0
    if n_events == len(probability):
        return float(np.exp(np.log(probability).sum()))
    low, high = 0.0, MAX_CHERNOFF_EXPONENT
    for _ in range(CHERNOFF_STEPS):
        s = (low + high) / 2
        tilted = probability * math.exp(min(s, MAX_CHERNOFF_EXPONENT))
        low, high = (s, high) if np.sum(tilted / (1 - probability + tilted)) < n_events else (low, s)
    return float(np.exp(np.sum(np.log1p(probability * math.expm1(low))) - low * n_events))


def _is_detectable(first: Sketch, n_first: Array, n_second: Array) -> bool:
    """Return whether the tests refuse a simulated second sample that has only rows of the first one.

    `n_first` and `n_second` are the numbers of rows of each class in both samples.
    """
    rng = np.random.default_rng(0)
    ratio = (n_second / np.maximum(n_first, 1))[first.classes]
    times_in_second = first.copies * np.floor(ratio).astype(np.int64) + rng.binomial(first.copies, ratio % 1)
    classes = first.classes
    return min(_p_values(first.copies, times_in_second, n_first[classes], n_second[classes])) < MAX_P_REFUSED
