"""The figure of a stability analysis: how often each split near the top returns, and the sizes of the trees."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import Floats, Longs
from ..core.stability import Stability
from .display import BLUE, GREY, LITERAL, ORANGE, SKY, Axes, Display, elide, tidy_axes

MAX_LETTERS = 34
_BELOW: dict[str, Any] = {
    "frameon": False, "fontsize": 8, "loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 2,
}  # fmt: skip


@dataclass
class StabilityDisplay(Display):
    """How often the splits near the top return in trees of subsamples, and how many leaves these trees have.

    Parameters
    ----------
    split_text : list of str
        The splits, in pre-order; deeper ones are indented.
    column_share, split_share : arrays
        For each split, the share of the trees that compare its column at its place, and that have the same split.
    n_leaves : array
        The leaves of each tree.
    model_n_leaves : int
        The leaves of the model.
    agreement : float
        The agreement of two trees.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur.core.stability import SplitStability, Stability
    >>> split = SplitStability(0, 0, "age <= 30", "age", 100, 0.9, 0.6, 1.0, {})
    >>> sizes = np.array([2, 4])
    >>> found = Stability(0.5, 0.05, 0.9, 0.95, np.ones(0), sizes, sizes, np.array([0.1, 0.2]), 3, (split,), {})
    >>> display = StabilityDisplay.from_stability(found)
    >>> display.split_text, display.column_share.tolist(), display.split_share.tolist()
    (['age <= 30'], [0.9], [0.6])
    """

    split_text: list[str]
    column_share: Floats
    split_share: Floats
    n_leaves: Longs
    model_n_leaves: int
    agreement: float

    @classmethod
    def from_stability(cls, stability: Stability) -> Self:
        """Return the display of a stability analysis."""
        return cls(
            split_text=["   " * split.depth + split.text for split in stability.splits],
            column_share=np.array([split.column_share for split in stability.splits]),
            split_share=np.array([split.split_share for split in stability.splits]),
            n_leaves=stability.n_leaves,
            model_n_leaves=stability.model_n_leaves,
            agreement=stability.agreement,
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw two bars for each split and, on the second of two axes, the numbers of leaves."""
        n = len(self.split_text)
        self._prepare_axes(ax, (10.0, 1.6 + max(2.4, 0.42 * n)), n_columns=2)
        per_split, sizes = self.ax_
        y = np.arange(n)
        per_split.barh(y - 0.18, self.column_share, height=0.34, color=SKY, label="same column")
        per_split.barh(y + 0.18, self.split_share, height=0.34, color=BLUE, label="same split")
        names = [elide(text, MAX_LETTERS) for text in self.split_text]
        per_split.set_yticks(y, names, fontsize=8, **LITERAL)
        per_split.set_ylim(max(n, 1) - 0.4, -0.6)
        per_split.set(xlabel="share of the trees", xlim=(0, 1))
        per_split.set_title("Splits that return", fontsize=11)
        if n:
            per_split.legend(**_BELOW)
        values, n_trees = np.unique(self.n_leaves, return_counts=True)
        sizes.bar(values, n_trees, color=GREY, width=0.8)
        sizes.axvline(self.model_n_leaves, color=ORANGE, lw=1.4, ls="--", label=f"the model: {self.model_n_leaves:,}")
        sizes.set(xlabel="leaves", ylabel="trees")
        sizes.set_title(f"Sizes; agreement of two trees {self.agreement:.1%}", fontsize=11)
        sizes.legend(**_BELOW)
        for axes in self.ax_:
            tidy_axes(axes)
        return self
