"""PruningPathDisplay: error against size along a whole pruning sequence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..certifiers import path
from ..data.arrays import Floats, Longs
from ..errors import LeakageError, ParameterError, UnsupportedError
from ..nouns import Bound, Counts, Moments, PruningSequence, Selection, as_model
from .parts import (
    BLUE,
    CYCLE,
    GREY,
    PURPLE,
    RED,
    ModelDisplay,
    check_sample,
    label_as_is,
    leaves_axis,
    legend_as_is,
    tidied,
    written,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS = {"grow": "growing sample", "prune": "held-out sample", "test": "test sample"}


class Curve(NamedTuple):
    """One line of the figure: an error per size, and its standard error if known."""

    name: str
    n_leaves: Longs
    error: Floats
    se: Floats | None = None


@dataclass
class PruningPathDisplay(ModelDisplay):
    """Error against leaves, for every sample that is known, with the member that was chosen.

    Made by `from_estimator`, `from_model` or `from_sequence`.

    Parameters
    ----------
    curves : tuple of Curve
        `name`, `n_leaves`, `error` (a rate; regression: mean squared error) and `se` or None.
    bound : Curve, optional
        An upper limit on the error on new rows for every size.
    marks : dict of int
        Sizes worth a look, by name: "least error", "1se", "chosen", ...
    is_classifier : bool

    Examples
    --------
    >>> from secateur import Counts, PruningSequence, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> sequence = PruningSequence(tree, [2, 1], [0, 40], steps=[1, 0, 0], node_labels=[0, 0, 1])
    >>> grown = Counts.from_leaves(tree, [[60, 0], [0, 40]])
    >>> display = PruningPathDisplay.from_sequence(sequence, grown)
    >>> display.curves[0].n_leaves.tolist(), display.curves[0].error.tolist()
    ([2, 1], [0.0, 0.4])
    """

    curves: tuple[Curve, ...]
    bound: Curve | None = None
    marks: dict[str, int] = field(default_factory=dict)
    is_classifier: bool = True

    @classmethod
    def from_model(cls, model: object, **options: Any) -> Self:
        """Return the display of a model's sequence on its samples, with its selection and its certificate."""
        found = as_model(model, done="drawn")
        sequence = found.sequence
        if sequence is None:
            raise ParameterError(f"{found!r} has no pruning sequence; prune with a rule that returns one")
        samples = [sample for sample in (found.grown, found.holdout) if sample is not None]
        bounds: Sequence[Bound] | None = None
        if found.certificate is not None and found.class_holdout is not None:
            try:
                bounds = path(sequence, found.class_holdout, delta=found.certificate.delta)
            except (LeakageError, UnsupportedError, ValueError):
                bounds = None  # the sample helped to make the sequence, or is weighted: no curve holds
        given = {"selection": found.selection, "bounds": bounds, "chosen": found.pruning.n_leaves, **options}
        return cls.from_sequence(sequence, *samples, **given)

    @classmethod
    def from_sequence(
        cls,
        sequence: PruningSequence,
        *samples: Counts | Moments,
        selection: Selection | None = None,
        bounds: Iterable[Bound] | None = None,
        chosen: int | None = None,
    ) -> Self:
        """Return the display of a sequence.

        Parameters
        ----------
        sequence : PruningSequence
        *samples : Counts or Moments
            Every sample gives a curve. Moments are answered by the means of the first one.
        selection : Selection, optional
            Gives the curve it chose from, with its standard error, and its marks, if that is of errors.
        bounds : iterable of Bound, optional
            One for each member, as `certifiers.path` returns them.
        chosen : int, optional
            Number of leaves to mark as chosen.
        """
        if not isinstance(sequence, PruningSequence):
            raise UnsupportedError(f"a {type(sequence).__name__} is given; a PruningSequence is needed")
        curves = [_curve(sequence, sample, samples[0]) for sample in samples]
        marks: dict[str, int] = {}
        if selection is not None and selection.is_error:
            sizes = selection.sequence.n_leaves
            curves = [curve for curve in curves if curve.name != _WORDS.get(selection.sample, selection.sample)]
            name = _WORDS.get(selection.sample, selection.sample)
            curves.append(Curve(name, sizes, selection.error, selection.se))
            marks = {"0se": int(sizes[selection.best]), "1se": int(sizes[selection.one_se])}
            chosen = int(sizes[selection.chosen]) if chosen is None else chosen
        if not curves:
            rate = np.asarray(sequence.errors, float)
            curves = [Curve("cost the sequence was made from", sequence.n_leaves, rate)]
        if chosen is not None:
            marks["chosen"] = chosen
        limits = None
        if bounds is not None:
            listed = list(bounds)
            if len(listed) != len(sequence):
                raise ParameterError(f"{len(listed)} bounds are given; one for each of {len(sequence)} members needed")
            confidence = written(100 * (1 - max(bound.delta for bound in listed)))
            limits = Curve(
                f"bound, {confidence} % confidence", sequence.n_leaves, np.array([bound.value for bound in listed])
            )
        is_classifier = all(sample.has_classes for sample in samples)
        return cls(tuple(curves), limits, marks, is_classifier)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curves, a band of one standard error where it is known, and the marks."""
        axes = self._on(ax, (7.2, 4.4))
        colours = dict(zip((c.name for c in self.curves), (GREY, *CYCLE), strict=False))
        for curve in self.curves:
            colour = colours.get(curve.name, BLUE)
            if curve.se is not None:
                low, high = curve.error - curve.se, curve.error + curve.se
                axes.fill_between(curve.n_leaves, low, high, color=colour, alpha=0.18, lw=0)
            few = len(curve.n_leaves) <= 60
            axes.plot(
                curve.n_leaves,
                curve.error,
                color=colour,
                lw=1.8,
                marker="o" if few else "",
                ms=3,
                label=label_as_is(curve.name),
            )
        if self.bound is not None:
            axes.plot(self.bound.n_leaves, self.bound.error, color=RED, lw=1.5, ls="--", label=self.bound.name)
        self._draw_marks(axes)
        leaves_axis(axes, [curve.n_leaves for curve in self.curves])
        axes.set_ylabel("error rate" if self.is_classifier else "mean squared error")
        axes.set_ylim(bottom=0)
        axes.set_title("Error along the pruning sequence", fontsize=11)
        legend_as_is(axes, fontsize=9)
        tidied(axes)
        return self

    def _draw_marks(self, axes: "Axes") -> None:
        shown = next((c for c in reversed(self.curves) if c.se is not None), self.curves[-1])
        by_size: dict[int, list[str]] = {}
        for name, size in self.marks.items():
            by_size.setdefault(size, []).append(name)
        for size, names in by_size.items():
            is_chosen = "chosen" in names
            axes.axvline(size, color=PURPLE if is_chosen else GREY, lw=1.6 if is_chosen else 0.9, ls=":", zorder=0)
            axes.annotate(
                f"{' = '.join(names)}: {size:,}", (size, 1), (2, -3), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, ha="left", va="top", fontsize=8,
                color=PURPLE if is_chosen else "#555555",
            )  # fmt: skip
            at = np.flatnonzero(shown.n_leaves == size)
            if is_chosen and len(at):
                axes.plot([size], [shown.error[at[0]]], "o", ms=9, mfc="none", mec=PURPLE, mew=1.8, zorder=4)


def _curve(sequence: PruningSequence, sample: Counts | Moments, first: Counts | Moments) -> Curve:
    check_sample(sample, "a sample")
    sample.check_fits(sequence.tree)
    if not sample.total[0]:
        raise ParameterError(f"sample {sample.sample!r} is empty; an error rate needs at least one row")
    if first.has_classes != sample.has_classes:
        raise ParameterError("samples of classes and of numeric targets are mixed; one kind is needed")
    return Curve(_WORDS.get(sample.sample, sample.sample), sequence.n_leaves, sequence.rates_on(sample, first))
