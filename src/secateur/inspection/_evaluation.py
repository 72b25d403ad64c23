"""Evaluate a model on other rows: errors with confidence limits, and the ranking of rows by the score of a class."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.arrays import Array, Floats
from .._utils.checks import check_name
from ..core import Counts, Model, Moments, as_model
from ..core.class_names import class_names_of
from ..errors import CountsError, UnsupportedError, show
from ..statistics import PROBABILITIES
from ..statistics.freshness import describe_used_rows
from ..statistics.probabilities import node_probabilities, probability_kind
from ..statistics.ranking import Ranking, Threshold, ranking_of
from ..statistics.tails import binomial_upper
from .wording import percent_text

MIN_PROBABILITY = 1e-15  # smaller probabilities are raised to this value, so that the log loss stays finite
MAX_MATRIX_CLASSES = 2000  # a confusion matrix has the square of this number of cells
MAX_PRINTED_CLASSES = 30  # with more classes, the recall of each class is printed instead of the matrix
LOG_TAIL = math.log(0.025)  # each tail of a two-sided 95 % confidence interval


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Measures of a model on one sample, computed from the counts in the leaves of the model; made by `evaluate`.

    For two classes, or if a positive class is named, `ranking` contains the ROC curve, precision, recall, lift and
    the Kolmogorov-Smirnov statistic (KS), and `threshold` contains the score of least cost.

    Parameters
    ----------
    model : Model
    counts : Counts or Moments
        The sample, counted in the tree of the model.
    positive : str, optional
        The class whose predicted probability ranks the rows.
    false_positive, false_negative : float
        Cost of predicting a row of another class as positive, and cost of not predicting a positive row as positive.
    probabilities : str
        The kind of probabilities that leaves predict.
    used_rows : str
        A text that states which of the rows helped to make the tree; empty if no such row is recognised. If some rows
        helped, the error of the tree on new rows is likely to be higher, and there are no confidence limits.

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
    used_rows: str = ""

    @property
    def n(self) -> Any:
        """The number of rows; for weighted rows their total weight."""
        return self.counts.total[0].item()

    @cached_property
    def leaves(self) -> Array:
        """The leaves of the model, as node numbers of the grown tree."""
        return self.model.pruning.leaves

    @cached_property
    def classes(self) -> list[str]:
        """The names of the classes, followed by names for classes of the sample that growing did not see."""
        return class_names_of(self.model.tree, None, self.counts.n_labels)

    @cached_property
    def confusion(self) -> Array:
        """The confusion matrix: one row for each class, one column for each predicted class."""
        counts = self._class_counts()
        if counts.n_classes > MAX_MATRIX_CLASSES:
            raise UnsupportedError(
                f"a confusion matrix of {counts.n_classes:,} classes is too large; at most {MAX_MATRIX_CLASSES:,} are "
                "supported: use error and recall"
            )
        matrix = np.zeros((counts.n_classes, counts.n_classes), counts.by_class.dtype)
        np.add.at(matrix.T, self.model.pruning.labels[self.leaves], counts.by_class[self.leaves])
        return matrix

    @cached_property
    def _n_right(self) -> Array:
        """The number of correctly predicted rows of each class."""
        counts, predicted = self._class_counts(), self.model.pruning.labels[self.leaves]
        n_right = np.zeros(counts.n_classes, counts.by_class.dtype)
        np.add.at(n_right, predicted, counts.by_class[self.leaves, predicted])
        return n_right

    @property
    def recall(self) -> Floats:
        """The share of correct predictions among the rows of each class; NaN for a class without rows."""
        total = self._class_counts().by_class[0]
        recall: Floats = np.divide(self._n_right, total, out=np.full(len(total), np.nan), where=total > 0)
        return recall

    @cached_property
    def error(self) -> float:
        """The share of wrong predictions; for a regression tree the mean squared error."""
        if self.counts.has_classes:
            return float(self.n - self._n_right.sum()) / float(self.n)
        return float(
            self.model.pruning.cost(self.counts.unrecorded_costs_if_leaf(self.model.grown.predictions))
        ) / float(self.n)

    @cached_property
    def error_limits(self) -> tuple[float, float] | None:
        """The exact 95 % confidence interval of the error.

        None for a regression tree, and for rows that have weights, belong to groups or helped to make the tree.
        """
        counts = self.counts
        if self.used_rows:
            return None
        if not isinstance(counts, Counts) or counts.is_weighted or counts.grouped is not None:
            return None
        n_wrong = round(self.error * self.n)
        lower = 1.0 - float(binomial_upper(self.n - n_wrong, self.n, LOG_TAIL))
        return lower, float(binomial_upper(n_wrong, self.n, LOG_TAIL))

    @cached_property
    def scores(self) -> Floats:
        """The predicted probability of each class in each leaf."""
        return node_probabilities(self.model, kind=self.probabilities)[self.leaves]

    @cached_property
    def log_loss(self) -> float:
        """The mean of -ln(predicted probability of the true class)."""
        by_class = self._class_counts().by_class[self.leaves][:, : self.scores.shape[1]]
        return float(-(by_class * np.log(np.maximum(self.scores, MIN_PROBABILITY))).sum() / self.n)

    @cached_property
    def brier(self) -> float:
        """The Brier score: the mean squared error of the probabilities, summed over the classes."""
        by_class = self._class_counts().by_class[self.leaves][:, : self.scores.shape[1]]
        squares = (self.scores**2).sum(axis=1)[:, None] - 2 * self.scores + 1
        return float((by_class * squares).sum() / self.n)

    @cached_property
    def ranking(self) -> Ranking | None:
        """The rows ranked by the score of the positive class; None unless there are positive and negative rows."""
        if self.positive is None:
            return None
        c, by_class = self.classes.index(self.positive), self._class_counts().by_class[self.leaves]
        n_positive = by_class[:, c]
        n_negative = by_class.sum(axis=1) - n_positive
        if not (n_positive.any() and n_negative.any()):
            return None
        return ranking_of(self.scores[:, c], n_positive, n_negative)

    @property
    def threshold(self) -> Threshold | None:
        """The score at which predicting the positive class costs least on these rows; None without a ranking."""
        costs = {"false_positive": self.false_positive, "false_negative": self.false_negative}
        return None if self.ranking is None else self.ranking.threshold(**costs)

    @property
    def r2(self) -> float:
        """The share of the variance of these rows that the tree explains."""
        if self.counts.has_classes:
            raise UnsupportedError("r2 is for regression; use error, or ranking.auc")
        total_sse = self.counts.zero_accuracy_cost
        return 1.0 - self.error * float(self.n) / total_sse if total_sse > 0 else math.nan

    def to_dict(self, *, n_bands: int = 10) -> dict[str, Any]:
        """Return all measures as plain values.

        Parameters
        ----------
        n_bands : int
            Number of bands of scores in the table of the ranking.
        """
        measures: dict[str, Any] = {"sample": self.counts.sample, "rows": self.n, "error": self.error}
        measures["used_rows"] = self.used_rows or None
        if not self.counts.has_classes:
            return {**measures, "r2": self.r2}
        lower, upper = self.error_limits or (None, None)
        measures |= {
            "error_from": lower,
            "error_to": upper,
            "classes": self.classes,
            "confusion": self.confusion.tolist() if len(self.classes) <= MAX_MATRIX_CLASSES else None,
            "log_loss": self.log_loss,
            "brier": self.brier,
        }
        ranking, threshold = self.ranking, self.threshold
        if ranking is not None and threshold is not None:
            score = threshold.score if math.isfinite(threshold.score) else None
            measures |= {
                "positive": self.positive,
                "auc": ranking.auc,
                "average_precision": ranking.average_precision,
                "ks": ranking.ks,
                "bands": ranking.bands(n_bands),
                "threshold": {**vars(threshold), "score": score},
                "roc": {"false_positive_rate": ranking.false_positive_rate.tolist(), "recall": ranking.recall.tolist()},
                "precision": ranking.precision.tolist(),
                "scores": ranking.score.tolist(),
            }
        return measures

    def __str__(self) -> str:
        rows = f"{self.n:,.10g} rows"
        if not self.counts.has_classes:
            return "\n".join([f"{rows}: mean squared error {self.error:.6g}, R2 {self.r2:.4f}", *self._remarks()])
        limits = ""
        if self.error_limits is not None:
            lower, upper = self.error_limits
            limits = f" (from {percent_text(lower, 2)} to {percent_text(upper, 2)}, 95 % confidence)"
        scores = f"log loss {self.log_loss:.4f}, Brier {self.brier:.4f}"
        lines = [
            f"{rows}: error {percent_text(self.error, 2)}{limits}, {scores}",
            *self._remarks(),
            "",
            *self._class_table(),
        ]
        ranking, threshold = self.ranking, self.threshold
        if ranking is not None and threshold is not None:
            lines += ["", f"positive: {self.positive} ({100 * ranking.n_positive / self.n:.2f} % of the rows)"]
            lines.append(
                f"AUC {ranking.auc:.4f}, Gini {2 * ranking.auc - 1:.4f}, KS {ranking.ks:.4f} at score "
                f"{ranking.ks_score:.4f}, average precision {ranking.average_precision:.4f}"
            )
            lines += ["", *_band_table(ranking), "", self._threshold_text(threshold)]
        return "\n".join(lines)

    __repr__ = __str__

    def _class_counts(self) -> Counts:
        if not isinstance(self.counts, Counts):
            raise UnsupportedError("a regression model has no classes; use error and r2")
        return self.counts

    def _remarks(self) -> list[str]:
        """Return a line that states which rows helped to make the tree; no line if none did."""
        if not self.used_rows:
            return []
        return [f"these rows helped to make the tree, so its error on new rows may be higher: {self.used_rows}"]

    def _class_table(self) -> list[str]:
        """Return the lines of the confusion matrix; with many classes, the recall of each class."""
        names = self.classes
        if len(names) > MAX_PRINTED_CLASSES:
            recalls = zip(names, self.recall.tolist(), strict=True)
            return [f"{'class':<15}{'recall':>12}", *(f"{name:<15}{percent_text(x):>12}" for name, x in recalls)]
        width = max(15, *(len(name) + 2 for name in names))
        head = "".join(f"{name:>{width}}" for name in names)
        lines = [f"{'is / predicted':<{width}}{head}{'recall':>10}"]
        for c, name in enumerate(names):
            total = float(self.confusion[c].sum())
            recall = f"{100 * float(self.confusion[c, c]) / total:.1f} %" if total else ""
            cells = "".join(f"{cell:>{width},.10g}" for cell in self.confusion[c].tolist())
            lines.append(f"{name:<{width}}{cells}{recall:>10}")
        return lines

    def _threshold_text(self, threshold: Threshold) -> str:
        """Return the score of least cost with the numbers of right and wrong rows, in two lines."""
        rows = f"a score of {threshold.score:.4f} or more" if math.isfinite(threshold.score) else "no row"
        n_positive = threshold.true_positive + threshold.false_negative
        n_negative = threshold.false_positive + threshold.true_negative
        return (
            f"least cost {threshold.cost:,.6g} (false positive {self.false_positive:g}, false negative "
            f"{self.false_negative:g}): predict {self.positive} for {rows}\n"
            f"(right {threshold.true_positive:,.10g} of {n_positive:,.10g}, wrong {threshold.false_positive:,.10g} of "
            f"{n_negative:,.10g}; chosen on these rows, so check it on others)"
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
        Counts of rows that were not used to make the model, from `count`.
    positive : class, optional
        The class whose predicted probability ranks the rows. For two classes, the default is the class with fewer
        growing rows; for more classes there is no default, and without a positive class there is no ranking.
    false_positive, false_negative : float
        Cost of predicting a row of another class as positive, and cost of not predicting a positive row as positive.
    probabilities : str, optional
        The kind of probabilities that leaves predict; see `secateur.routing.prediction.node_probabilities`.

    Returns
    -------
    Evaluation
    """
    fitted = as_model(model, done="evaluated")
    counts.check_fits(fitted.tree)
    if fitted.is_classifier != counts.has_classes:
        raise CountsError("the counts are of another kind of target than the model; count the rows with its tree")
    if not counts.total[0] > 0:
        raise CountsError(f"sample {show(counts.sample)} has no rows; an evaluation needs at least one")
    probabilities = probability_kind(fitted) if probabilities is None else probabilities
    check_name("probabilities", probabilities, PROBABILITIES)
    if counts.has_classes:
        names = class_names_of(fitted.tree, None, 0)
        if positive is not None:
            check_name("positive", str(positive), names)
        elif len(names) == 2:
            positive = names[int(fitted.grown.by_class[0].argmin())]
    positive = None if positive is None else str(positive)
    fitted.tree.evaluation_log.record_pruning(counts, fitted.pruning)
    used_rows = describe_used_rows(fitted.tree.history | fitted.pruning.seen, counts)
    return Evaluation(fitted, counts, positive, false_positive, false_negative, probabilities, used_rows)


def _band_table(ranking: Ranking) -> list[str]:
    """Return the bands of scores as the lines of a table."""
    head = f"{'score from':>11}{'to':>8}{'rows':>9}{'positive':>9}{'share':>9}{'lift':>7}"
    return [
        f"{head}{'so far':>9}{'recall':>9}{'KS':>8}",
        *(
            f"{band['score_from']:>11.4f}{band['score_to']:>8.4f}{band['rows']:>9,.10g}{band['positive']:>9,.10g}"
            f"{percent_text(band['share'], 2):>9}{band['lift']:>7.2f}{percent_text(band['rows_so_far']):>9}"
            f"{percent_text(band['recall']):>9}{band['ks']:>8.4f}"
            for band in ranking.bands()
        ),
    ]
