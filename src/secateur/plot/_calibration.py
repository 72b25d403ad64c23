"""CalibrationDisplay: what leaves say about a class beside what rows of another sample are."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.arrays import Array, Floats
from ..data.names import check_name
from ..errors import CountsError, UnsupportedError
from ..nouns.counts import Counts
from ..nouns.model import as_model
from ..routing import count
from ..show.wording import class_names_of
from ..statistics.probabilities import node_probabilities
from .parts import BLUE, GREY, LITERAL, axes_for, tidied


@dataclass
class CalibrationDisplay:
    """The probability of a class in each leaf against its share among rows that had no part in the tree.

    Made by `from_estimator` (from rows) or `from_counts`. A leaf gives one number, so leaves are the bins.

    Parameters
    ----------
    said, seen : arrays
        Probability of the class in each leaf that rows reach, and their share of the class.
    rows : array
        Their number (or weight).
    class_name : str
    sample : str

    Examples
    --------
    >>> from secateur import Counts, Model, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[30, 10], [0, 20]])
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> fresh = Counts.from_leaves(tree, [[7, 3], [1, 4]], sample="fresh")
    >>> display = CalibrationDisplay.from_counts(model, fresh)
    >>> display.said.round(2).tolist(), display.seen.tolist(), round(display.mean_gap, 3)
    ([0.29, 0.93], [0.3, 0.8], 0.052)
    """

    said: Floats
    seen: Floats
    rows: Array
    class_name: str
    sample: str
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> "CalibrationDisplay":
        """Return the display of a fitted classifier on rows that had no part in it."""
        model = as_model(estimator, done="drawn")
        options.setdefault("probabilities", getattr(estimator, "probabilities", None))
        return cls.from_counts(model, count(model.tree, X, y, sample="calibration"), **options)

    @classmethod
    def from_counts(
        cls, model: Any, counts: Any, *, positive: Any = None, probabilities: str | None = None
    ) -> "CalibrationDisplay":
        """Return the display of a model on counted rows; `positive` is the class, by default the last."""
        found = as_model(model, done="drawn")
        if not isinstance(found.grown, Counts) or not isinstance(counts, Counts):
            raise UnsupportedError("calibration is of class probabilities; a classifier and Counts are needed")
        counts.check_fits(found.tree)
        if not counts.total[0] > 0:
            raise CountsError(f"sample {counts.sample!r} has no examples; calibration needs some")
        names = class_names_of(found.tree, None, found.grown.n_classes)
        at = len(names) - 1
        if positive is not None:
            check_name("positive", str(positive), names)
            at = names.index(str(positive))
        leaves = found.pruning.leaves[counts.total[found.pruning.leaves] > 0]
        rows = counts.total[leaves]
        said = node_probabilities(found, kind=probabilities)[leaves, at]
        return cls(said, counts.by_class[leaves, at] / rows, rows, names[at], counts.sample)

    @property
    def mean_gap(self) -> float:
        """Mean distance of probability and share, each leaf weighted by its rows."""
        return float(np.average(np.abs(self.said - self.seen), weights=self.rows))

    def plot(self, ax: Any = None) -> "CalibrationDisplay":
        """Draw a circle for each leaf, its area by its rows; on the line are those that say what is seen."""
        self.figure_, self.ax_ = axes_for(ax, size=(5.2, 5.0))
        axes = self.ax_
        axes.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
        area = 20 + 600 * np.asarray(self.rows, float) / float(np.max(self.rows))
        axes.scatter(self.said, self.seen, s=area, color=BLUE, alpha=0.55, edgecolor="white")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel(f"probability of {self.class_name}", **LITERAL)
        axes.set_ylabel(f"share of {self.class_name} ({self.sample})", **LITERAL)
        axes.set_title(f"Calibration: mean gap {self.mean_gap:.3f}", fontsize=11)
        tidied(axes)
        return self
