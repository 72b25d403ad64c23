"""Figures of a tree evaluated on a sample: calibration of its leaves, and their ranking by the score of a class."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from .._utils.arrays import Array, Bools, Floats, Ints
from .._utils.checks import check_name
from ..core import Counts, as_model
from ..core.class_names import class_names_of
from ..errors import ParameterError, UnsupportedError
from ..statistics.probabilities import node_probabilities
from ..statistics.ranking import Ranking, ranking_of
from ..statistics.tails import binomial_upper, check_delta
from .display import BLUE, GREY, LITERAL, RED, Axes, ModelDisplay

Curve = Literal["roc", "pr", "lift"]


@dataclass
class LeafCalibrationDisplay(ModelDisplay):
    """Each leaf as a point: the share of a class among its growing rows, and among the rows of a sample.

    Made by `from_estimator` or `from_model`. Leaves without rows of the sample are left out.

    Parameters
    ----------
    node : array of int
        Number of each leaf in the tree as grown.
    predicted_share, share : arrays of float
        The share of the class that each leaf predicts, and its share among the rows of the sample in the leaf.
    low, high : arrays of float
        Clopper-Pearson limits on the share of the class among new rows in each leaf. They hold for each leaf on its
        own, not for all leaves at once. NaN if the rows are weighted or belong to groups.
    rows : array
        Rows of the sample in each leaf.
    class_name, sample : str
        Names of the class and of the sample.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> LeafCalibrationDisplay.from_model((tree, counts)).share.tolist()
    [0.0, 1.0]
    """

    node: Ints
    predicted_share: Floats
    share: Floats
    low: Floats
    high: Floats
    rows: Array
    class_name: str
    sample: str

    @property
    def is_outside(self) -> Bools:
        """Whether each leaf predicts a share outside its limits."""
        return np.asarray((self.predicted_share < self.low) | (self.predicted_share > self.high))

    @classmethod
    def from_model(
        cls, model: object, *, positive: object = None, sample: Counts | None = None, delta: float = 0.05
    ) -> Self:
        """Return the display of a model.

        Parameters
        ----------
        model : estimator, Model or parts
        positive : str, optional
            The class; by default the last.
        sample : Counts, optional
            The rows to evaluate on; by default the held-out rows of the model, or else the growing rows.
        delta : float
            Failure probability of the limits of each leaf.
        """
        check_delta(delta)
        scored = _score_leaves(model, positive, sample)
        has_rows = scored.rows > 0
        n, x = scored.rows[has_rows], scored.positive[has_rows]
        low = high = np.full(len(n), np.nan)
        if scored.are_rows_independent and (n == np.rint(n)).all() and (x == np.rint(x)).all():
            high = binomial_upper(x, n, np.log(delta / 2))
            low = 1 - binomial_upper(n - x, n, np.log(delta / 2))
        return cls(
            node=scored.leaves[has_rows],
            predicted_share=scored.predicted_share[has_rows],
            share=x / n,
            low=low,
            high=high,
            rows=n,
            class_name=scored.class_name,
            sample=scored.sample,
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one point per leaf, its area the number of rows; red if the predicted share is outside the limits."""
        axes = self._prepare_axes(ax, (4.8, 4.6))
        colour = np.where(self.is_outside, RED, BLUE)
        axes.plot([0, 1], [0, 1], ":", color=GREY)
        axes.vlines(self.predicted_share, self.low, self.high, color=colour, lw=1, alpha=0.5)
        area = 12 + 120 * self.rows / self.rows.max()
        axes.scatter(self.predicted_share, self.share, s=area, color=colour, alpha=0.8, zorder=3)
        axes.set(xlabel="predicted share", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.set_ylabel(f"share in the sample {self.sample}", **LITERAL)
        title = f"{self.class_name}: {np.count_nonzero(self.is_outside)} of {len(self.node)} leaves outside"
        return self._finish(title, fontsize=10)


@dataclass
class RankingDisplay(ModelDisplay):
    """Leaves ranked by the share of a class among their growing rows, and how well this ranks the rows of a sample.

    Made by `from_estimator` or `from_model`.

    Parameters
    ----------
    ranking : Ranking
        Groups of rows of equal score, the highest first.
    curve : "roc", "pr" or "lift"
        The curve that is drawn.
    class_name, sample : str
        Names of the class and of the sample.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> round(RankingDisplay.from_model((tree, counts)).ranking.auc, 3)
    1.0
    """

    ranking: Ranking
    curve: Curve
    class_name: str
    sample: str

    @classmethod
    def from_model(
        cls, model: object, *, curve: Curve = "roc", positive: object = None, sample: Counts | None = None
    ) -> Self:
        """Return the display of a model.

        Parameters
        ----------
        model : estimator, Model or parts
        curve : "roc", "pr" or "lift"
            True against false positive rate; precision against recall; lift against the share of
            rows taken, highest scores first.
        positive : str, optional
            The class; by default the last.
        sample : Counts, optional
            The rows to evaluate on; by default the held-out rows of the model, or else the growing rows.
        """
        check_name("curve", curve, ("roc", "pr", "lift"))
        scored = _score_leaves(model, positive, sample)
        ranking = ranking_of(scored.predicted_share, scored.positive, scored.rows - scored.positive)
        return cls(ranking, curve, scored.class_name, scored.sample)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curve; the dotted line is a random ranking."""
        axes = self._prepare_axes(ax, (4.8, 4.4))
        summary = {"roc": self._draw_roc, "pr": self._draw_precision, "lift": self._draw_lift}[self.curve](axes)
        axes.set_xlim(-0.02, 1.02)
        return self._finish(f"{self.class_name} on {self.sample}: {summary}", fontsize=10)

    def _draw_roc(self, axes: "Axes") -> str:
        """Draw the ROC curve, and return its area as text."""
        axes.plot(self.ranking.false_positive_rate, self.ranking.recall, color=BLUE, marker="o", ms=3)
        axes.plot([0, 1], [0, 1], ":", color=GREY)
        axes.set(xlabel="false positive rate", ylabel="true positive rate", ylim=(-0.02, 1.02))
        return f"area {self.ranking.auc:.3f}"

    def _draw_precision(self, axes: "Axes") -> str:
        """Draw precision against recall, and return the average precision as text."""
        axes.plot(self.ranking.recall[1:], self.ranking.precision, color=BLUE, marker="o", ms=3)
        axes.axhline(self._positive_share, ls=":", color=GREY)
        axes.set(xlabel="recall", ylabel="precision", ylim=(-0.02, 1.02))
        return f"average precision {self.ranking.average_precision:.3f}"

    def _draw_lift(self, axes: "Axes") -> str:
        """Draw the lift against the share of rows taken, and return the lift of the first leaf as text."""
        ranking = self.ranking
        n_rows = ranking.n_positive + ranking.n_negative
        share_taken = np.cumsum(ranking.positive + ranking.negative) / n_rows
        axes.plot(share_taken, ranking.recall[1:] / share_taken, color=BLUE, marker="o", ms=3)
        axes.axhline(1, ls=":", color=GREY)
        axes.set(xlabel="share of rows taken", ylabel="lift")
        return f"lift {float(ranking.precision[0] / self._positive_share):.2f} in the first leaf"

    @property
    def _positive_share(self) -> float:
        return self.ranking.n_positive / (self.ranking.n_positive + self.ranking.n_negative)


class _ScoredLeaves(NamedTuple):
    """The leaves of a classifier, each with the predicted share of one class and its rows of a sample.

    `positive` is the number of rows of that class, and `rows` the number of all rows. `are_rows_independent` is False
    if rows belong to groups.
    """

    leaves: Ints
    predicted_share: Floats
    positive: Array
    rows: Array
    class_name: str
    sample: str
    are_rows_independent: bool


def _score_leaves(model: object, positive: object, sample: Counts | None) -> _ScoredLeaves:
    """Return the scored leaves of a model, with the defaults of `from_model` for the class and the sample."""
    fitted = as_model(model, done="drawn")
    if not fitted.is_classifier:
        raise UnsupportedError("a regression tree has no classes to rank; draw its leaves with kind='leaves'")
    counts = sample
    if counts is None:
        counts = fitted.class_grown if fitted.holdout is None else fitted.class_holdout
    if not isinstance(counts, Counts):
        raise ParameterError(f"sample is a {type(counts).__name__}; Counts are needed, as count returns")
    counts.check_fits(fitted.tree)
    n_known = fitted.grown.n_labels
    names = class_names_of(fitted.tree, None, max(n_known, counts.n_classes))
    class_name = names[-1] if positive is None else str(positive)
    check_name("positive", class_name, names)
    c = names.index(class_name)
    leaves = fitted.pruning.leaves
    no_share, no_rows = np.zeros(len(leaves)), np.zeros(len(leaves), np.int64)
    return _ScoredLeaves(
        leaves=leaves,
        predicted_share=node_probabilities(fitted)[leaves, c] if c < n_known else no_share,
        positive=counts.by_class[leaves, c] if c < counts.n_classes else no_rows,
        rows=counts.total[leaves],
        class_name=class_name,
        sample=counts.sample,
        are_rows_independent=counts.grouped is None,
    )
