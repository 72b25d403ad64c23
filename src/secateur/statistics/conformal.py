"""Ranks of order statistics that cover a new row: split conformal prediction and tolerance limits.

Of n scores of independent rows, sorted upwards, the k-th is at least the score of a new row

    with a probability of at least c, over all n + 1 rows, if k >= c (n + 1)   (`covering_rank` without confidence)
    in at least the share c of new rows with confidence p, if Pr[Bin(n, c) < k] >= p   (with confidence)

whatever the distribution of the scores. The second follows because the share of new rows covered by the k-th score is
at least a Beta(k, n + 1 - k) variable, which reaches c with probability Pr[Bin(n, c) < k].

If r of the n rows may be copies of other rows, only n - r are independent. Which ones is not known, so the rank for
n - r rows is raised by r: at least as many independent scores are at most the score of this rank.
"""

import numbers
from dataclasses import dataclass
from fractions import Fraction

from .._utils.arrays import MAX_EXACT_INT
from ..errors import Argument, ParameterError

TAIL_PRECISION = 1e-12  # of a computed probability; so close to the confidence, it reaches it


@dataclass(frozen=True)
class Coverage:
    """What regions are to cover, and which order statistic of the scores does so.

    Parameters
    ----------
    share : float
        The share of new rows to cover, above 0 and below 1.
    confidence : float, optional
        Confidence that at least this share of new rows is covered. None: the probability that one new row is covered is
        at least the share, on average over the calibrating rows.
    n_repeated : int
        Number of calibrating rows that may be copies of other rows.
    delta : float
        Probability that more rows are copies, which is taken from the allowed failure probability.

    Examples
    --------
    >>> Coverage(0.9).rank(99), Coverage(0.9).min_rows(), Coverage(0.9).rank(8)
    (90, 9, None)
    >>> Coverage(0.9, 0.95).rank(100), Coverage(0.9, 0.95).min_rows()
    (96, 29)
    """

    share: float
    confidence: float | None = None
    n_repeated: int = 0
    delta: float = 0.0

    def __post_init__(self) -> None:
        _check_share("coverage", self.share)
        if self.confidence is not None:
            _check_share("confidence", self.confidence)

    def rank(self, n_rows: int) -> int | None:
        """Return the rank, from 1, of the score that covers; None if the rows are too few for any score to cover."""
        n = n_rows - self.n_repeated
        if n < 1:
            return None
        rank = self._conformal_rank(n) if self.confidence is None else self._tolerance_rank(n)
        return None if rank > n else rank + self.n_repeated

    def trimmed(self, n_rows: int) -> int | None:
        """Return s for which the region from the s-th smallest to the s-th largest score covers; None if there is none.

        The largest such s is returned: s - 1 scores are left out on each side.
        """
        n = n_rows - self.n_repeated
        rank = self.rank(n_rows)
        if rank is None:
            return None
        side = (n + 1 - (rank - self.n_repeated)) // 2
        return side if side >= 1 else None

    def min_rows(self, *, is_two_sided: bool = False) -> int:
        """Return the least number of rows with a bounded region."""
        find = self.trimmed if is_two_sided else self.rank
        high = 1 + self.n_repeated
        while find(high) is None:
            high *= 2
            if high > MAX_EXACT_INT:
                raise ParameterError(Argument("coverage", self.share), " is too near 1: no number of rows suffices")
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if find(middle) is None else (low, middle)
        return high

    def _conformal_rank(self, n: int) -> int:
        """Return the least k with k >= (share + delta)(n + 1); decimal fractions are exact, as 0.9 of 10 rows is 9."""
        product = (_decimal(self.share) + _decimal(self.delta)) * (n + 1)
        return -int(-product // 1)

    def _tolerance_rank(self, n: int) -> int:
        """Return the least k with Pr[Bin(n, share) < k] >= confidence + delta; n + 1 if there is none."""
        from scipy.special import bdtr

        assert self.confidence is not None
        needed = self.confidence + self.delta - TAIL_PRECISION
        low, high = 0, n + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if bdtr(middle - 1, n, self.share) >= needed else (middle, high)
        return high


def _decimal(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _check_share(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
        raise ParameterError(Argument(name, value), "; a number above 0 and below 1 is needed, such as 0.9")
