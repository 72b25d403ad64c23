"""Rows ranked by the score of their leaf: ROC, precision and recall, lift, KS, and the threshold of least cost.

A tree gives all rows of a leaf one score, so a ranking is a few groups: all of it is known from the counts of
positive and negative rows in the leaves, and no row is needed.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.arrays import Array, ArrayLike, Floats, immutable_array, reduce_to_fields, write_protect
from ..errors import DataError, ParameterError


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Groups of rows of equal score, the highest first.

    Parameters
    ----------
    score : array of float
        Falling, each score once.
    positive, negative : arrays
        Rows (or their weight) in each group.

    Examples
    --------
    >>> found = ranking_of([0.9, 0.2, 0.2], [8, 1, 1], [2, 5, 3])
    >>> found
    Ranking(20 rows, 10 of them positive, 2 different scores)
    >>> round(found.auc, 3), round(found.ks, 3), found.ks_score
    (0.8, 0.6, 0.9)
    >>> found.threshold(false_positive=1, false_negative=5)
    Threshold(score=0.2, cost=10.0, true_positive=10, false_positive=10, false_negative=0, true_negative=0)
    """

    score: Floats
    positive: Array
    negative: Array

    def __post_init__(self) -> None:
        for name in ("score", "positive", "negative"):
            object.__setattr__(self, name, immutable_array(getattr(self, name), None))
        if not len(self.score) or (np.diff(self.score) >= 0).any():
            raise ParameterError("scores must fall, each of them once; use ranking_of")

    @property
    def n_positive(self) -> float:
        """Positive rows in all."""
        return float(self.positive.sum())

    @property
    def n_negative(self) -> float:
        """Negative rows in all."""
        return float(self.negative.sum())

    @cached_property
    def recall(self) -> Floats:
        """Share of the positive rows that have at least each score, after 0 for a threshold above all scores."""
        return _summed(self.positive)

    @cached_property
    def false_positive_rate(self) -> Floats:
        """Share of the negative rows that have at least each score, after 0."""
        return _summed(self.negative)

    @cached_property
    def precision(self) -> Floats:
        """Share of positive rows among those of at least each score."""
        both = np.cumsum(self.positive + self.negative)
        return write_protect(np.divide(np.cumsum(self.positive), both, out=np.zeros(len(both)), where=both > 0))

    @cached_property
    def auc(self) -> float:
        """Chance that a positive row scores above a negative one; equal scores count half."""
        return float(np.trapezoid(self.recall, self.false_positive_rate))

    @cached_property
    def average_precision(self) -> float:
        """Precision, averaged over the positive rows."""
        return float((np.diff(self.recall) * self.precision).sum())

    @cached_property
    def ks(self) -> float:
        """Kolmogorov and Smirnov's distance: the largest difference of recall and false positive rate."""
        return float((self.recall - self.false_positive_rate).max())

    @property
    def ks_score(self) -> float:
        """The score at which that is reached."""
        at = int((self.recall - self.false_positive_rate).argmax())
        return float(self.score[max(at - 1, 0)])

    def bands(self, n_bands: int = 10) -> list[dict[str, float]]:
        """Return the lift table: at most `n_bands` bands with about equal numbers of rows, highest scores first.

        Rows of one leaf are never parted, so bands differ in size.
        """
        if n_bands < 1:
            raise ParameterError(f"n_bands={n_bands}; 1 or more is needed")
        rows = self.positive + self.negative
        total, base = float(rows.sum()), self.n_positive / float(rows.sum())
        band = np.minimum((n_bands * (np.cumsum(rows) - rows / 2) / total).astype(int), n_bands - 1)
        found = []
        for k in np.unique(band):
            at = np.flatnonzero(band == k)
            n, good = float(rows[at].sum()), float(self.positive[at].sum())
            recall, wrong = float(self.recall[at[-1] + 1]), float(self.false_positive_rate[at[-1] + 1])
            reached = float(rows[: at[-1] + 1].sum()) / total
            found.append(
                {
                    "score_from": float(self.score[at[-1]]), "score_to": float(self.score[at[0]]), "rows": n,
                    "positive": good, "share": good / n if n else 0.0, "lift": good / n / base if n and base else 0.0,
                    "rows_so_far": reached, "recall": recall,
                    "lift_so_far": recall / reached if reached else 0.0, "ks": recall - wrong,
                }
            )  # fmt: skip
        return found

    def threshold(self, *, false_positive: float = 1.0, false_negative: float = 1.0) -> "Threshold":
        """Return the threshold of least cost on these rows; of equal ones the highest.

        A threshold that is chosen on rows looks better on them than on others: measure it on fresh ones.
        """
        for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
            if not 0 <= cost < np.inf:
                raise ParameterError(f"{name}={cost}; a finite cost of 0 or more is needed")
        taken_good = np.append(0, np.cumsum(self.positive))
        taken_bad = np.append(0, np.cumsum(self.negative))
        missed, spared = self.positive.sum() - taken_good, self.negative.sum() - taken_bad
        costs = false_negative * missed + false_positive * taken_bad
        at = int(costs.argmin())
        score = float(self.score[at - 1]) if at else float("inf")
        cells = (part[at].item() for part in (taken_good, taken_bad, missed, spared))
        return Threshold(score, float(costs[at]), *cells)

    __reduce__ = reduce_to_fields

    def __repr__(self) -> str:
        n = self.n_positive + self.n_negative
        return f"Ranking({n:,.10g} rows, {self.n_positive:,.10g} of them positive, {len(self.score)} different scores)"


@dataclass(frozen=True)
class Threshold:
    """A score from which on rows are taken as positive, what that costs, and how rows fall."""

    score: float
    cost: float
    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float


def ranking_of(score: ArrayLike, positive: ArrayLike, negative: ArrayLike) -> Ranking:
    """Return the ranking of groups of rows, such as leaves, in any order; equal scores become one group."""
    scores, good, bad = np.asarray(score, float), np.asarray(positive), np.asarray(negative)
    if not scores.shape == good.shape == bad.shape or scores.ndim != 1:
        raise ParameterError("score, positive and negative need one number for each group of rows")
    is_used = (good + bad) > 0
    if not good.any() or not bad.any():
        which = "positive" if not good.any() else "negative"
        raise DataError(f"the sample has no {which} rows; a ranking needs both kinds")
    different, at = np.unique(scores[is_used], return_inverse=True)
    sums: list[Any] = [np.bincount(at, part[is_used], len(different))[::-1] for part in (good, bad)]
    if good.dtype.kind in "iu" and bad.dtype.kind in "iu":
        sums = [part.astype(np.int64) for part in sums]
    return Ranking(different[::-1], *sums)


def _summed(rows: Array) -> Floats:
    return write_protect(np.append(0.0, np.cumsum(rows)) / float(rows.sum()))
