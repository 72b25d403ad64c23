"""How good a model is on other rows: errors with their limits, and for two classes the ranking by score."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.arrays import Array, Floats
from .._utils.checks import check_name
from ..core import Counts, Model, Moments, as_model
from ..core.class_names import class_names_of
from ..errors import CountsError, UnsupportedError
from ..statistics import PROBABILITIES
from ..statistics.probabilities import node_probabilities, probability_kind
from ..statistics.ranking import Ranking, Threshold, ranking_of
from ..statistics.tails import binomial_upper

LEAST = 1e-15  # a probability below counts as this in the log loss
MOST_CLASSES = 2000  # of a confusion matrix, which has the square of them
MOST_SHOWN = 30  # classes of which the matrix is printed; of more, the recall of each


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Measures of a model on one sample, computed from counts in the leaves.

    Made by `evaluate`. For two classes, or with a positive class named, `ranking` has the ROC curve, precision and
    recall, lift and KS, and `threshold` the score of least cost.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> fresh = secateur.count(tree, [[0.0], [3.0], [9.0], [8.0]], ["no", "yes", "yes", "no"], sample="test")
    >>> found = evaluate(model, fresh)
    >>> found.n, found.error, found.confusion.tolist(), found.ranking.auc
    (4, 0.5, [[1, 1], [1, 1]], 0.5)
    """

    model: Model
    counts: Counts | Moments
    positive: str | None = None
    false_positive: float = 1.0
    false_negative: float = 1.0
    probabilities: str = "shrunk"

    @property
    def n(self) -> Any:
        """Rows, or their weight."""
        return self.counts.total[0].item()

    @cached_property
    def leaves(self) -> Array:
        """The leaves of the model, as node numbers of the whole tree."""
        return self.model.pruning.leaves

    @cached_property
    def classes(self) -> list[str]:
        """Names of the classes; the last is for classes the tree has not seen, if there are such rows."""
        return class_names_of(self.model.tree, None, self.counts.n_labels)

    @cached_property
    def confusion(self) -> Array:
        """Rows of each class (down) that get each answer (across)."""
        counts = self._counts()
        if counts.n_classes > MOST_CLASSES:
            raise UnsupportedError(
                f"a confusion matrix of {counts.n_classes:,} classes is too large; at most {MOST_CLASSES:,} are "
                "supported: use error and recall"
            )
        found = np.zeros((counts.n_classes, counts.n_classes), counts.by_class.dtype)
        np.add.at(found.T, self.model.pruning.labels[self.leaves], counts.by_class[self.leaves])
        return found

    @cached_property
    def _right(self) -> Array:
        """Rows of each class that get the right answer."""
        counts, answer = self._counts(), self.model.pruning.labels[self.leaves]
        found = np.zeros(counts.n_classes, counts.by_class.dtype)
        np.add.at(found, answer, counts.by_class[self.leaves, answer])
        return found

    @property
    def recall(self) -> Floats:
        """The share of right answers among the rows of each class; NaN for a class without rows."""
        total = self._counts().by_class[0]
        found: Floats = np.divide(self._right, total, out=np.full(len(total), np.nan), where=total > 0)
        return found

    @cached_property
    def error(self) -> float:
        """Share of wrong answers; for numbers the mean squared error."""
        if self.counts.has_classes:
            return float(self.n - self._right.sum()) / float(self.n)
        return float(
            self.model.pruning.cost(self.counts.unrecorded_costs_if_leaf(self.model.grown.predictions))
        ) / float(self.n)

    @cached_property
    def error_limits(self) -> tuple[float, float] | None:
        """The exact 95 % confidence interval of the error; None for weighted rows and for numbers."""
        if not self.counts.has_classes or self.counts.is_weighted:
            return None
        wrong, side = round(self.error * self.n), math.log(0.025)
        return 1.0 - float(binomial_upper(self.n - wrong, self.n, side)), float(binomial_upper(wrong, self.n, side))

    @cached_property
    def scores(self) -> Floats:
        """The probability of each class in each leaf."""
        return node_probabilities(self.model, kind=self.probabilities)[self.leaves]

    @cached_property
    def log_loss(self) -> float:
        """The mean of -ln(probability of the class that was there)."""
        by_class = self._counts().by_class[self.leaves][:, : self.scores.shape[1]]
        return float(-(by_class * np.log(np.maximum(self.scores, LEAST))).sum() / self.n)

    @cached_property
    def brier(self) -> float:
        """The mean squared distance of probabilities from what was there, summed over classes."""
        by_class = self._counts().by_class[self.leaves][:, : self.scores.shape[1]]
        squares = (self.scores**2).sum(axis=1)[:, None] - 2 * self.scores + 1
        return float((by_class * squares).sum() / self.n)

    @cached_property
    def ranking(self) -> Ranking | None:
        """Rows ranked by the probability of the positive class; None without one, and if all rows are of one kind."""
        if self.positive is None:
            return None
        c, by_class = self.classes.index(self.positive), self._counts().by_class[self.leaves]
        good = by_class[:, c]
        bad = by_class.sum(axis=1) - good
        return ranking_of(self.scores[:, c], good, bad) if good.any() and bad.any() else None

    @property
    def threshold(self) -> Threshold | None:
        """The score from which on taking a row as positive costs least on these rows."""
        costs = {"false_positive": self.false_positive, "false_negative": self.false_negative}
        return None if self.ranking is None else self.ranking.threshold(**costs)

    @property
    def r2(self) -> float:
        """Share of the squared error around the mean of these rows that the tree explains."""
        spread = self.counts.zero_accuracy_cost
        if self.counts.has_classes:
            raise UnsupportedError("r2 is for regression; use error, or ranking.auc")
        return 1.0 - self.error * float(self.n) / spread if spread > 0 else math.nan

    def to_dict(self, *, n_bands: int = 10) -> dict[str, Any]:
        """Return all of it as plain values."""
        found: dict[str, Any] = {"sample": self.counts.sample, "rows": self.n, "error": self.error}
        if not self.counts.has_classes:
            return {**found, "r2": self.r2}
        low, high = self.error_limits or (None, None)
        found |= {
            "error_from": low, "error_to": high, "classes": self.classes,
            "confusion": self.confusion.tolist() if len(self.classes) <= MOST_CLASSES else None,
            "log_loss": self.log_loss, "brier": self.brier,
        }  # fmt: skip
        ranking, threshold = self.ranking, self.threshold
        if ranking is not None and threshold is not None:
            score = threshold.score if math.isfinite(threshold.score) else None
            found |= {
                "positive": self.positive, "auc": ranking.auc, "average_precision": ranking.average_precision,
                "ks": ranking.ks, "bands": ranking.bands(n_bands), "threshold": {**vars(threshold), "score": score},
                "roc": {"false_positive_rate": ranking.false_positive_rate.tolist(), "recall": ranking.recall.tolist()},
                "precision": ranking.precision.tolist(), "scores": ranking.score.tolist(),
            }  # fmt: skip
        return found

    def __str__(self) -> str:
        rows = f"{self.n:,.10g} rows"
        if not self.counts.has_classes:
            return f"{rows}: mean squared error {self.error:.6g}, R2 {self.r2:.4f}"
        limits = self.error_limits
        told = "" if limits is None else f" (from {100 * limits[0]:.2f} % to {100 * limits[1]:.2f} %, 95 % confidence)"
        lines = [f"{rows}: error {100 * self.error:.2f} %{told}, log loss {self.log_loss:.4f}, Brier {self.brier:.4f}"]
        lines += ["", *self._matrix()]
        ranking, threshold = self.ranking, self.threshold
        if ranking is not None and threshold is not None:
            lines += ["", f"positive: {self.positive} ({100 * ranking.n_positive / self.n:.2f} % of the rows)"]
            lines.append(
                f"AUC {ranking.auc:.4f}, Gini {2 * ranking.auc - 1:.4f}, KS {ranking.ks:.4f} at score "
                f"{ranking.ks_score:.4f}, average precision {ranking.average_precision:.4f}"
            )
            lines += ["", *_bands(ranking), "", self._threshold(threshold)]
        return "\n".join(lines)

    __repr__ = __str__

    def _counts(self) -> Counts:
        if not isinstance(self.counts, Counts):
            raise UnsupportedError("a regression model has no classes; use error and r2")
        return self.counts

    def _matrix(self) -> list[str]:
        names = self.classes
        if len(names) > MOST_SHOWN:
            recalls = zip(names, self.recall.tolist(), strict=True)
            return [f"{'class':<15}{'recall':>12}", *(f"{name:<15}{100 * x:>10.1f} %" for name, x in recalls)]
        wide = max(15, *(len(name) + 2 for name in names))
        lines = [f"{'class / answer':<{wide}}" + "".join(f"{name:>{wide}}" for name in names) + f"{'recall':>10}"]
        for c, name in enumerate(names):
            total = float(self.confusion[c].sum())
            recall = f"{100 * float(self.confusion[c, c]) / total:.1f} %" if total else ""
            cells = "".join(f"{cell:>{wide},.10g}" for cell in self.confusion[c].tolist())
            lines.append(f"{name:<{wide}}{cells}{recall:>10}")
        return lines

    def _threshold(self, found: Threshold) -> str:
        where = f"a score of {found.score:.4f} or more" if math.isfinite(found.score) else "no row"
        return (
            f"least cost {found.cost:,.6g} (false positive {self.false_positive:g}, false negative "
            f"{self.false_negative:g}): predict {self.positive} for {where}\n"
            f"(right {found.true_positive:,.10g} of {found.true_positive + found.false_negative:,.10g}, wrong "
            f"{found.false_positive:,.10g} of {found.false_positive + found.true_negative:,.10g}; chosen on these "
            "rows, so check it on others)"
        )


def evaluate(
    model: object,
    counts: Counts | Moments,
    *,
    positive: object = None,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    probabilities: str | None = None,
) -> Evaluation:
    """Evaluate a model on a counted sample.

    Parameters
    ----------
    model : estimator or Model
    counts : Counts or Moments
        Counts of rows that had no part in the model, from `count`.
    positive : class, optional
        The class to rank by; for two classes, by default the rarer one in growing. For more there is no default.
    false_positive, false_negative : float
        What it costs to take another row as positive, and to miss a positive one.
    probabilities : str, optional
        How leaves score; see `secateur.routing.prediction.node_probabilities`.
    """
    found = as_model(model, done="evaluated")
    counts.check_fits(found.tree)
    if found.is_classifier != counts.has_classes:
        raise CountsError("the counts are of another kind of target than the model; count the rows with its tree")
    if not counts.total[0] > 0:
        raise CountsError(f"sample {counts.sample!r} has no rows; an evaluation needs at least one")
    probabilities = probability_kind(found) if probabilities is None else probabilities
    check_name("probabilities", probabilities, PROBABILITIES)
    if counts.has_classes:
        names = class_names_of(found.tree, None, 0)
        if positive is not None:
            check_name("positive", str(positive), names)
        elif len(names) == 2:
            positive = names[int(found.grown.by_class[0].argmin())]
    positive = None if positive is None else str(positive)
    found.tree.evaluation_log.record_pruning(counts, found.pruning)
    return Evaluation(found, counts, positive, false_positive, false_negative, probabilities)


def _bands(ranking: Ranking) -> list[str]:
    head = f"{'score from':>11}{'to':>8}{'rows':>9}{'positive':>9}{'share':>9}{'lift':>7}"
    return [
        head + f"{'so far':>9}{'recall':>9}{'KS':>8}",
        *(
            f"{band['score_from']:>11.4f}{band['score_to']:>8.4f}{band['rows']:>9,.10g}{band['positive']:>9,.10g}"
            f"{100 * band['share']:>7.2f} %{band['lift']:>7.2f}{100 * band['rows_so_far']:>7.1f} %"
            f"{100 * band['recall']:>7.1f} %{band['ks']:>8.4f}"
            for band in ranking.bands()
        ),
    ]
