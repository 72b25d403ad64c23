"""Figures of a judged tree: leaves ranked or calibrated by one class, counted on the sample that judges."""

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
    said, share : arrays of float
        The share that the leaf predicts, and that of the sample.
    low, high : arrays of float
        Clopper-Pearson limits on the share of new rows, for each leaf separately; NaN for weights.
    rows : array
    class_name, sample : str

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
        """Which leaves predict a share outside the limits."""
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
            The rows that judge; by default the held-out rows of the model, else those of growing.
        delta : float
            Failure probability of the limits of each leaf.
        """
        check_delta(delta)
        judged = _judged_leaves(model, positive, sample)
        used = judged.rows > 0
        n, x = judged.rows[used], judged.positive[used]
        low = high = np.full(len(n), np.nan)
        if (n == np.rint(n)).all() and (x == np.rint(x)).all():
            high = binomial_upper(x, n, np.log(delta / 2))
            low = 1 - binomial_upper(n - x, n, np.log(delta / 2))
        leaves, said = judged.leaves[used], judged.predicted_share[used]
        return cls(leaves, said, x / n, low, high, n, judged.class_name, judged.sample)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one point per leaf, its area the number of rows; red if the predicted share is outside the limits."""
        axes, colour = self._on(ax, (4.8, 4.6)), np.where(self.is_outside, RED, BLUE)
        axes.plot([0, 1], [0, 1], ":", color=GREY)
        axes.vlines(self.predicted_share, self.low, self.high, color=colour, lw=1, alpha=0.5)
        axes.scatter(
            self.predicted_share,
            self.share,
            s=12 + 120 * self.rows / self.rows.max(),
            color=colour,
            alpha=0.8,
            zorder=3,
        )
        axes.set(xlabel="predicted share", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.set_ylabel(f"share in the sample {self.sample}", **LITERAL)
        told = f"{self.class_name}: {np.count_nonzero(self.is_outside)} of {len(self.node)} leaves outside"
        return self._tidied(told, fontsize=10)


@dataclass
class RankingDisplay(ModelDisplay):
    """Leaves ranked by the share of a class among their growing rows, and how well that ranks a sample.

    Made by `from_estimator` or `from_model`.

    Parameters
    ----------
    ranking : Ranking
        Groups of rows of equal score, the highest first.
    curve : "roc", "pr" or "lift"
    class_name, sample : str

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
            The rows that judge; by default the held-out rows of the model, else those of growing.
        """
        check_name("curve", curve, ("roc", "pr", "lift"))
        judged = _judged_leaves(model, positive, sample)
        ranking = ranking_of(judged.predicted_share, judged.positive, judged.rows - judged.positive)
        return cls(ranking, curve, judged.class_name, judged.sample)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curve; the dotted line is a random ranking."""
        axes, found = self._on(ax, (4.8, 4.4)), self.ranking
        base = found.n_positive / (found.n_positive + found.n_negative)
        if self.curve == "roc":
            axes.plot(found.false_positive_rate, found.recall, color=BLUE, marker="o", ms=3)
            axes.plot([0, 1], [0, 1], ":", color=GREY)
            axes.set(xlabel="false positive rate", ylabel="true positive rate", ylim=(-0.02, 1.02))
            told = f"area {found.auc:.3f}"
        elif self.curve == "pr":
            axes.plot(found.recall[1:], found.precision, color=BLUE, marker="o", ms=3)
            axes.axhline(base, ls=":", color=GREY)
            axes.set(xlabel="recall", ylabel="precision", ylim=(-0.02, 1.02))
            told = f"average precision {found.average_precision:.3f}"
        else:
            taken = np.cumsum(found.positive + found.negative) / (found.n_positive + found.n_negative)
            axes.plot(taken, found.recall[1:] / taken, color=BLUE, marker="o", ms=3)
            axes.axhline(1, ls=":", color=GREY)
            axes.set(xlabel="share of rows taken", ylabel="lift")
            told = f"lift {float(found.precision[0] / base):.2f} in the first leaf"
        axes.set_xlim(-0.02, 1.02)
        return self._tidied(f"{self.class_name} on {self.sample}: {told}", fontsize=10)


class _Judged(NamedTuple):
    """The leaves of a classifying model: what each says of one class, and what a sample holds there."""

    leaves: Ints
    predicted_share: Floats
    positive: Array
    rows: Array
    class_name: str
    sample: str


def _judged_leaves(model: object, positive: object, sample: Counts | None) -> _Judged:
    """The leaves of a model, with the class and the sample of `from_model`."""
    found = as_model(model, done="drawn")
    if not found.is_classifier:
        raise UnsupportedError("a regression tree has no classes to rank; draw its leaves with kind='leaves'")
    judge = sample if sample is not None else found.holdout if found.holdout is not None else found.grown
    if not isinstance(judge, Counts):
        raise ParameterError(f"sample is a {type(judge).__name__}; Counts are needed, as count returns")
    judge.check_fits(found.tree)
    names = class_names_of(found.tree, None, max(found.grown.n_labels, judge.n_classes))
    wanted = names[-1] if positive is None else str(positive)
    check_name("positive", wanted, names)
    c = names.index(wanted)
    leaves = found.pruning.leaves
    said = node_probabilities(found)[leaves, c] if c < found.grown.n_labels else np.zeros(len(leaves))
    counted = judge.by_class[leaves, c] if c < judge.n_classes else np.zeros(len(leaves), np.int64)
    return _Judged(leaves, said, counted, judge.total[leaves], wanted, judge.sample)
