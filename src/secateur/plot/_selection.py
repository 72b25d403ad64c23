"""SelectionDisplay: the table a tree was chosen from, with its one-standard-error line."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ..data.arrays import Floats, Longs
from ..errors import ParameterError, UnsupportedError
from ..nouns import Selection, as_model
from .parts import BLUE, GREY, LITERAL, ORANGE, PURPLE, ModelDisplay, leaves_axis, legend_as_is, tidied

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class SelectionDisplay(ModelDisplay):
    """Error of every member of a sequence with its standard error, the limit, and what was chosen.

    Made by `from_selection`, `from_estimator` or `from_model`.

    Parameters
    ----------
    n_leaves, error, se : arrays
        One entry per member, largest tree first.
    best, chosen : int
        Members of least error, and taken.
    limit : float or None
        Least error plus one standard error: what the 1-SE rule compares with. None for scores of probabilities: there
        the difference from the best and its standard error decide.
    score : str
        What `error` measures.
    select, sample : str
    pool_leaves, pool_error : arrays
        The other ways of growing that were tried: what each would have given.

    Examples
    --------
    >>> from secateur import PruningSequence, Tree
    >>> from secateur.nouns.choice import Selection
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = PruningSequence(tree, [3, 2, 1], [0, 1, 3], alphas=[0, 1, 2], steps=[2, 1, 0, 0, 0])
    >>> selection = Selection(sequence, [0.1, 0.11, 0.3], [0.02, 0.02, 0.04], 0, 1, "1se", "cross-validation", 200)
    >>> display = SelectionDisplay.from_selection(selection)
    >>> display.limit.__round__(3), display.n_leaves[display.chosen].item()
    (0.12, 2)
    """

    n_leaves: Longs
    error: Floats
    se: Floats
    best: int
    chosen: int
    limit: float | None
    score: str
    select: str
    sample: str
    pool_leaves: Floats
    pool_error: Floats
    is_classifier: bool = True

    @classmethod
    def from_model(cls, model: object) -> Self:
        """Return the display of a model's selection."""
        found = as_model(model, done="drawn")
        if found.selection is None:
            raise ParameterError(f"{found!r} was not chosen from a table; choose with cross-validation or a sample")
        display = cls.from_selection(found.selection)
        display.is_classifier = found.is_classifier
        return display

    @classmethod
    def from_selection(cls, selection: Selection) -> Self:
        """Return the display of a selection."""
        if not isinstance(selection, Selection):
            raise UnsupportedError(f"a {type(selection).__name__} is given; a Selection is needed")
        others = [
            (entry["n_leaves"], entry["error"])
            for entry in selection.pool
            if np.ndim(entry.get("n_leaves", ())) == 0 and np.ndim(entry.get("error", ())) == 0
            and "n_leaves" in entry and "error" in entry
        ]  # fmt: skip
        places = np.array(others, float).reshape(-1, 2)
        return cls(
            n_leaves=selection.sequence.n_leaves,
            error=selection.error,
            se=selection.se,
            best=selection.best,
            chosen=selection.chosen,
            limit=selection.one_se_limit,
            score=selection.score,
            select=selection.select,
            sample=selection.sample,
            pool_leaves=places[:, 0],
            pool_error=places[:, 1],
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw errors with bars of one standard error, the limit as a line, and the chosen member."""
        axes = self._on(ax, (7.2, 4.2))
        few = len(self.n_leaves) <= 60
        measured = f"{self.score}, one standard error"
        axes.errorbar(
            self.n_leaves, self.error, yerr=self.se, color=BLUE, ecolor="#9cc3dd", elinewidth=1.3,
            capsize=2.5 if few else 0, lw=1.4, marker="o", ms=4 if few else 2, label=measured,
        )  # fmt: skip
        if self.limit is not None:
            axes.axhline(self.limit, color=ORANGE, lw=1.3, ls="--", label=f"least {self.score} + one standard error")
        if len(self.pool_leaves):
            axes.plot(
                self.pool_leaves, self.pool_error, "d", color=GREY, mfc="none", ms=5, label="other ways of growing"
            )
        for member, colour, size, word in (
            (self.best, ORANGE, 8, f"least {self.score}"), (self.chosen, PURPLE, 11, f"chosen ({self.select})"),
        ):  # fmt: skip
            n_leaves = self.n_leaves[member]
            label = f"{word}: {n_leaves:,} {'leaf' if n_leaves == 1 else 'leaves'}"
            axes.plot([n_leaves], [self.error[member]], "o", ms=size, mfc="none", mec=colour, mew=2, ls="", label=label)
        leaves_axis(axes, [self.n_leaves, *([self.pool_leaves] if len(self.pool_leaves) else [])])
        plain = "error rate" if self.is_classifier else "mean squared error"
        axes.set_ylabel(plain if self.score == "error" else self.score)
        axes.set_title(f"Choosing the size ({self.sample})", fontsize=11, **LITERAL)
        legend_as_is(axes, fontsize=9)
        tidied(axes)
        return self
