"""RankingDisplay: ROC, precision and recall, or lift, from counts alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from ..data.names import check_name
from ..nouns import Counts
from ..statistics.ranking import Ranking, ranking_of
from ._judged import judged_leaves
from .parts import BLUE, GREY, LITERAL, ModelDisplay, tidied

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = Literal["roc", "pr", "lift"]


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
        judged = judged_leaves(model, positive, sample)
        ranking = ranking_of(judged.said, judged.positive, judged.rows - judged.positive)
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
        axes.set_title(f"{self.class_name} on {self.sample}: {told}", fontsize=10, **LITERAL)
        tidied(axes)
        return self
