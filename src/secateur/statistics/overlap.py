"""Do two samples share rows beyond chance? Two tests on their sketches.

If both are independent draws of one population then, of the rows of a class pooled from both,
which came with the second sample is a uniformly random choice. For each different row, found
c = a + b times, b is hypergeometric. Working within classes keeps stratified samples honest.

    shared      too many rows stand in both samples: Chernoff's bound on a sum of Bernoulli variables
    too alike   frequencies of rows that repeat agree better than chance: the lower tail of chi-square
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._utils.arrays import Array
from ..data.sketch import HASH_RANGE, Sketch
from .tails import binomial_upper

REFUSED = 1e-6 / 2  # of each of the two tests
DOUBTED = 1e-3 / 2
LEAST_EXPECTED = 4.0  # below it the chi-square approximation is not valid (measured)
LEAST_VALUES = 10
TWELVE = 12  # a sample against itself is refused from so many different rows on


class Overlap(NamedTuple):
    """What two sketches say.

    `p` is the smaller of the two p-values. `n_shared` is the estimated number of rows of the second
    sample that stand in the first (from `low` to `high` with 95 % confidence), `n_chance` the number
    that chance explains. `is_detectable` says whether a re-use of all rows would have been found.
    """

    p: float
    n_shared: float
    low: float
    high: float
    n_chance: float
    n_rows: int
    is_detectable: bool

    @property
    def is_refused(self) -> bool:
        return self.p < REFUSED

    @property
    def is_doubtful(self) -> bool:
        return self.p < DOUBTED


@lru_cache(maxsize=64)  # a certificate asks several times: of the tree, of the pruning, of the ledger
def overlap(first: Sketch, second: Sketch) -> Overlap:
    """Compare two sketches of one key.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur.data.sketch import RowKey
    >>> rng, key = np.random.default_rng(0), RowKey(bytes(16), (0,))
    >>> a, b = (key.sketch([rng.normal(size=(300, 1))], rng.integers(0, 2, 300), 2) for _ in range(2))
    >>> overlap(a, b).is_refused, overlap(a, a).is_refused, round(overlap(a, a).n_shared)
    (False, True, 300)
    """
    theta = min(first.theta, second.theta)
    n_classes = max(len(first.n_by_class), len(second.n_by_class))
    n, m = (np.pad(s.n_by_class, (0, n_classes - len(s.n_by_class))) for s in (first, second))
    a, b, classes = _pooled(first, second, theta)
    p = min(_tests(a, b, n[classes], m[classes]))
    if first.digest == second.digest and np.count_nonzero(first.copies == 1) >= TWELVE:
        p = 0.0
    both = (a > 0) & (b > 0)
    n_seen, n_both, n_rows = int(b.sum()), int(b[both].sum()), second.n_rows
    rows = n_rows / max(n_seen, 1)
    # Good and Turing: a new row repeats one of the first sample as often as its rows repeat each other.
    chance = 1 - np.count_nonzero(first.copies == 1) / max(int(first.copies.sum()), 1)
    low = n_rows * (1 - binomial_upper(n_seen - n_both, n_seen, math.log(0.025))) if n_seen else 0.0
    high = n_rows * binomial_upper(n_both, n_seen, math.log(0.025)) if n_seen else float(n_rows)
    detectable = _is_detectable(first, n, m)
    return Overlap(p, n_both * rows, low, high, chance * n_rows, n_rows, detectable)


def _pooled(first: Sketch, second: Sketch, theta: int) -> tuple[Array, Array, Array]:
    """(times in the first, times in the second, class) of every different row with a hash below theta."""
    below = [
        np.ones(len(s.hashes), bool) if theta == HASH_RANGE else s.hashes < np.uint64(theta) for s in (first, second)
    ]
    hashes = np.concatenate([s.hashes[w] for s, w in zip((first, second), below, strict=True)])
    classes = np.concatenate([s.classes[w] for s, w in zip((first, second), below, strict=True)])
    copies = np.concatenate([s.copies[w] for s, w in zip((first, second), below, strict=True)])
    is_second = np.arange(len(hashes)) >= np.count_nonzero(below[0])
    _, at, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    a = np.bincount(inverse, np.where(is_second, 0, copies), len(at)).astype(np.int64)
    b = np.bincount(inverse, np.where(is_second, copies, 0), len(at)).astype(np.int64)
    return a, b, classes[at]


def _tests(a: Array, b: Array, n: Array, m: Array) -> tuple[float, float]:
    """The p-values of both tests; `n` and `m` are the rows of each value's class in the samples."""
    c, total = a + b, n + m
    says = (c > 1) & (c < total)  # a row that is alone, or all of its class, says nothing
    a, b, c, n, m, total = (x[says] for x in (a, b, c, n, m, total))
    chance = np.clip(1 - np.exp(_log_none(total, c, m)) - np.exp(_log_none(total, c, n)), 0.0, 1.0)
    shared = _chernoff(int(np.count_nonzero((a > 0) & (b > 0))), chance)
    expected = c * m / total
    often = (expected >= LEAST_EXPECTED) & (c * n / total >= LEAST_EXPECTED)
    if np.count_nonzero(often) < LEAST_VALUES:
        return shared, 1.0
    from scipy.special import chdtr

    spread = expected * (n / total) * (total - c) / (total - 1)
    statistic = float(np.sum(((b - expected) ** 2 / spread)[often]))
    return shared, float(chdtr(np.count_nonzero(often), statistic))


def _log_none(total: Array, c: Array, drawn: Array) -> Array:
    """ln of the chance that none of `c` rows is among `drawn` of `total`: of prod (1 - drawn / (total - i)), i < c."""
    from scipy.special import gammaln

    cases, inverse = np.unique(np.stack([total, c, drawn]), axis=1, return_inverse=True)
    total, c, drawn = cases.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = c * np.log1p(-drawn / np.maximum(total - (c - 1) / 2, 1))  # c much smaller than the total
        exact = gammaln(total - c + 1) - gammaln(total - c - drawn + 1)
        exact += gammaln(total - drawn + 1) - gammaln(total + 1)
        result = np.where(c < total / 100, middle, exact)
        small = c <= 64
        product = np.zeros(len(total))
        for i in range(int(c[small].max(initial=0))):
            product += np.where(i < c, np.log1p(-drawn / np.maximum(total - i, 1)), 0.0)
    result = np.where(small, product, result)
    return np.where(drawn + c > total, -np.inf, result)[inverse.ravel()]


def _chernoff(x: int, chance: Array) -> float:
    """A bound on the chance that at least x of independent events happen."""
    chance = chance[chance > 0]
    if x <= chance.sum():
        return 1.0
    if x >= len(chance):
        return float(np.exp(np.log(chance).sum())) if x == len(chance) else 0.0
    low, high = 0.0, 700.0
    for _ in range(60):
        s = (low + high) / 2
        grown = chance * math.exp(min(s, 700.0))
        low, high = (s, high) if np.sum(grown / (1 - chance + grown)) < x else (low, s)
    return float(np.exp(np.sum(np.log1p(chance * math.expm1(low))) - low * x))


def _is_detectable(first: Sketch, n: Array, m: Array) -> bool:
    """Whether rows of the first sample alone, handed over as the second, would be refused: one simulation."""
    rng = np.random.default_rng(0)
    share = (m / np.maximum(n, 1))[first.classes]
    again = first.copies * np.floor(share).astype(np.int64) + rng.binomial(first.copies, share % 1)
    return min(_tests(first.copies, again, n[first.classes], m[first.classes])) < REFUSED
