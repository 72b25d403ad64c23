"""Rankings of rows by the score of their leaf: ROC, precision and recall, lift, KS, and the threshold of least cost.

A tree gives all rows of a leaf the same score. So a ranking follows from the numbers of positive and negative rows in
the leaves, and needs no rows.
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
        Score of each group, in descending order; each score occurs once.
    positive, negative : arrays
        Number of positive and of negative rows (or their weight) in each group.

    Examples
    --------
    >>> ranking = ranking_of([0.9, 0.2, 0.2], [8, 1, 1], [2, 5, 3])
    >>> ranking
    Ranking(20 rows, 10 of them positive, 2 different scores)
    >>> round(ranking.auc, 3), round(ranking.ks, 3), ranking.ks_score
    (0.8, 0.6, 0.9)
    >>> ranking.threshold(false_positive=1, false_negative=5)
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
        """Total number of positive rows."""
        return float(self.positive.sum())

    @property
    def n_negative(self) -> float:
        """Total number of negative rows."""
        return float(self.negative.sum())

    @cached_property
    def recall(self) -> Floats:
        """Share of the positive rows with the score of each group or a higher one; before the first group, 0."""
        return _cumulative_share(self.positive)

    @cached_property
    def false_positive_rate(self) -> Floats:
        """Share of the negative rows with the score of each group or a higher one; before the first group, 0."""
        return _cumulative_share(self.negative)

    @cached_property
    def precision(self) -> Floats:
        """Share of positive rows among the rows with the score of each group or a higher one."""
        n_rows = np.cumsum(self.positive + self.negative)
        n_positive = np.cumsum(self.positive)
        return write_protect(np.divide(n_positive, n_rows, out=np.zeros(len(n_rows)), where=n_rows > 0))

    @cached_property
    def auc(self) -> float:
        """Probability that a positive row has a higher score than a negative one; equal scores count half."""
        return float(np.trapezoid(self.recall, self.false_positive_rate))

    @cached_property
    def average_precision(self) -> float:
        """Precision at the score of a positive row, averaged over the positive rows."""
        return float((np.diff(self.recall) * self.precision).sum())

    @cached_property
    def ks(self) -> float:
        """Distance of Kolmogorov and Smirnov: the largest difference between recall and false positive rate."""
        return float((self.recall - self.false_positive_rate).max())

    @property
    def ks_score(self) -> float:
        """The score at which the distance of Kolmogorov and Smirnov is reached."""
        n_groups = int((self.recall - self.false_positive_rate).argmax())
        return float(self.score[max(n_groups - 1, 0)])

    def bands(self, n_bands: int = 10) -> list[dict[str, float]]:
        """Return the lift table: at most `n_bands` bands with about equal numbers of rows, highest scores first.

        Rows of one leaf stay in one band, so bands differ in size.
        """
        if n_bands < 1:
            raise ParameterError(f"n_bands={n_bands}; 1 or more is needed")
        rows = self.positive + self.negative
        total = float(rows.sum())
        share_of_positive = self.n_positive / total
        middle = np.cumsum(rows) - rows / 2
        band = np.minimum((n_bands * middle / total).astype(int), n_bands - 1)
        bands = []
        for k in np.unique(band):
            groups = np.flatnonzero(band == k)
            last = groups[-1]
            n, n_positive = float(rows[groups].sum()), float(self.positive[groups].sum())
            share = n_positive / n if n else 0.0
            rows_so_far = float(rows[: last + 1].sum()) / total
            recall = float(self.recall[last + 1])
            bands.append(
                {
                    "score_from": float(self.score[last]),
                    "score_to": float(self.score[groups[0]]),
                    "rows": n,
                    "positive": n_positive,
                    "share": share,
                    "lift": share / share_of_positive if share_of_positive else 0.0,
                    "rows_so_far": rows_so_far,
                    "recall": recall,
                    "lift_so_far": recall / rows_so_far if rows_so_far else 0.0,
                    "ks": recall - float(self.false_positive_rate[last + 1]),
                }
            )
        return bands

    def threshold(self, *, false_positive: float = 1.0, false_negative: float = 1.0) -> "Threshold":
        """Return the threshold with the least cost on these rows; of equal ones the highest.

        A threshold looks better on the rows that have chosen it than on other rows: evaluate it on fresh rows.
        """
        for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
            if not 0 <= cost < np.inf:
                raise ParameterError(f"{name}={cost}; a finite cost of 0 or more is needed")
        true_positives = np.append(0, np.cumsum(self.positive))
        false_positives = np.append(0, np.cumsum(self.negative))
        false_negatives = self.positive.sum() - true_positives
        true_negatives = self.negative.sum() - false_positives
        costs = false_negative * false_negatives + false_positive * false_positives
        n_groups = int(costs.argmin())  # number of groups whose rows are classified as positive
        score = float(self.score[n_groups - 1]) if n_groups else float("inf")
        return Threshold(
            score=score,
            cost=float(costs[n_groups]),
            true_positive=true_positives[n_groups].item(),
            false_positive=false_positives[n_groups].item(),
            false_negative=false_negatives[n_groups].item(),
            true_negative=true_negatives[n_groups].item(),
        )

    __reduce__ = reduce_to_fields

    def __repr__(self) -> str:
        n = self.n_positive + self.n_negative
        return f"Ranking({n:,.10g} rows, {self.n_positive:,.10g} of them positive, {len(self.score)} different scores)"


@dataclass(frozen=True)
class Threshold:
    """A threshold on the score, its cost, and the numbers of rows it classifies rightly and wrongly.

    Rows with a score of at least `score` are classified as positive.
    """

    score: float
    cost: float
    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float


def ranking_of(score: ArrayLike, positive: ArrayLike, negative: ArrayLike) -> Ranking:
    """Return the ranking of groups of rows, such as leaves, given in any order; groups of equal score are merged."""
    scores, n_positive, n_negative = np.asarray(score, float), np.asarray(positive), np.asarray(negative)
    if not scores.shape == n_positive.shape == n_negative.shape or scores.ndim != 1:
        raise ParameterError("score, positive and negative need one number for each group of rows")
    if not n_positive.any() or not n_negative.any():
        missing = "positive" if not n_positive.any() else "negative"
        raise DataError(f"the sample has no {missing} rows; a ranking needs both kinds")
    is_occupied = (n_positive + n_negative) > 0
    different_scores, group = np.unique(scores[is_occupied], return_inverse=True)
    sums: list[Any] = [
        np.bincount(group, rows[is_occupied], len(different_scores))[::-1] for rows in (n_positive, n_negative)
    ]
    if n_positive.dtype.kind in "iu" and n_negative.dtype.kind in "iu":
        sums = [rows.astype(np.int64) for rows in sums]
    return Ranking(different_scores[::-1], *sums)


def _cumulative_share(rows: Array) -> Floats:
    """Return the share of the rows in the first groups, for 0, 1, 2, ... groups."""
    return write_protect(np.append(0.0, np.cumsum(rows)) / float(rows.sum()))
