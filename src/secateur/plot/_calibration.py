"""LeafCalibrationDisplay: the predicted share of a class in each leaf, and that of a sample, with limits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ..data.arrays import Array, Bools, Floats, Ints
from ..nouns import Counts
from ..statistics.tails import binomial_upper, check_delta
from ._judged import judged_leaves
from .parts import BLUE, GREY, LITERAL, RED, ModelDisplay, tidied

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    said: Floats
    share: Floats
    low: Floats
    high: Floats
    rows: Array
    class_name: str
    sample: str

    @property
    def is_outside(self) -> Bools:
        """Which leaves predict a share outside the limits."""
        return np.asarray((self.said < self.low) | (self.said > self.high))

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
        judged = judged_leaves(model, positive, sample)
        used = judged.rows > 0
        n, x = judged.rows[used], judged.positive[used]
        low = high = np.full(len(n), np.nan)
        if (n == np.rint(n)).all() and (x == np.rint(x)).all():
            high = binomial_upper(x, n, np.log(delta / 2))
            low = 1 - binomial_upper(n - x, n, np.log(delta / 2))
        return cls(
            judged.leaves[used], judged.said[used], x / n, low, high, n, judged.class_name, judged.sample
        )  # fmt: skip

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one point per leaf, its area the number of rows; red if the predicted share is outside the limits."""
        axes, colour = self._on(ax, (4.8, 4.6)), np.where(self.is_outside, RED, BLUE)
        axes.plot([0, 1], [0, 1], ":", color=GREY)
        axes.vlines(self.said, self.low, self.high, color=colour, lw=1, alpha=0.5)
        axes.scatter(self.said, self.share, s=12 + 120 * self.rows / self.rows.max(), color=colour, alpha=0.8, zorder=3)
        axes.set(xlabel="predicted share", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.set_ylabel(f"share in the sample {self.sample}", **LITERAL)
        told = f"{self.class_name}: {np.count_nonzero(self.is_outside)} of {len(self.node)} leaves outside"
        axes.set_title(told, fontsize=10, **LITERAL)
        tidied(axes)
        return self
