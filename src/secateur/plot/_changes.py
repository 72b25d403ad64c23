"""The figure of an update: the error on new rows against the number of changes of a deployed tree."""

from dataclasses import dataclass
from typing import Self

from .._utils.arrays import Floats, Longs
from ..pruners import ChangeFront
from .display import BLUE, GREY, ORANGE, Axes, Display

MAX_MARKERS = 60  # longer curves are drawn without markers


@dataclass
class ChangesDisplay(Display):
    """The least error on new rows for every number of changes of a deployed tree, and the number that is chosen.

    Parameters
    ----------
    n_changes : array
        The numbers of changes that lower the errors.
    error : array
        For each of them, the share of wrong new rows.
    cv_error : array, optional
        The share of wrong new rows by cross-validation.
    chosen : int, optional
        The chosen number of changes.
    distance : str
        What a change is: "nodes" or "rows".

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.pruners import fewest_changes
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> grown = Counts.from_leaves(tree, [[8, 2], [3, 7], [1, 9]])
    >>> new = Counts.from_leaves(tree, [[9, 1], [1, 6], [5, 4]], sample="new")
    >>> front = fewest_changes(Pruning.from_cuts(tree, [1], node_labels=grown.majority), grown, new)
    >>> display = ChangesDisplay.from_front(front, chosen=2)
    >>> display.n_changes.tolist(), display.error.round(2).tolist(), display.chosen
    ([0, 1, 3, 4], [0.46, 0.42, 0.27, 0.23], 3)
    """

    n_changes: Longs
    error: Floats
    cv_error: Floats | None = None
    chosen: int | None = None
    distance: str = "nodes"

    @classmethod
    def from_front(cls, front: ChangeFront, cv_errors: Floats | None = None, chosen: int | None = None) -> Self:
        """Return the display of a front.

        Parameters
        ----------
        front : ChangeFront
        cv_errors : array, optional
            The cross-validated share of wrong rows of each member.
        chosen : int, optional
            The chosen member.
        """
        return cls(
            n_changes=front.n_changes,
            error=front.errors / float(front.counts.total[0]),
            cv_error=cv_errors,
            chosen=None if chosen is None else int(front.n_changes[chosen]),
            distance=front.distance,
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the errors as steps, the cross-validated ones as a line, and a mark at the chosen number of changes."""
        axes = self._prepare_axes(ax, (6.4, 4.0))
        axes.step(self.n_changes, self.error, where="post", color=GREY, lw=1.4, label="new rows, which choose")
        if self.cv_error is not None:
            marker = "." if len(self.n_changes) <= MAX_MARKERS else ""
            axes.plot(self.n_changes, self.cv_error, color=BLUE, lw=1.6, marker=marker, label="cross-validated")
        if self.chosen is not None:
            axes.axvline(self.chosen, color=ORANGE, lw=1.4, ls="--", label=f"chosen: {self.chosen:,}")
        if self.n_changes[-1] > 200:  # most of what matters is at the left
            axes.set_xscale("symlog", linthresh=10)
            axes.set_xlim(left=-1)
        unit = "changed nodes" if self.distance == "nodes" else "changed predictions of new rows"
        axes.set(xlabel=unit, ylabel="error")
        return self._finish("Error on new rows by number of changes", legend=8)
