"""Figures of a pruning sequence: the score of its members against their size, and the selection of one of them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from .._utils.arrays import Floats, Longs
from ..certifiers import path
from ..core import Bound, Counts, Model, Moments, PruningSequence, Selection, as_model
from ..errors import LeakageError, ParameterError, UnsupportedError, show
from ..inspection.currency import Currency, currency_of, scores_along
from .display import BLUE, CYCLE, GREY, ORANGE, PURPLE, RED, Axes, ModelDisplay, check_sample, leaves_axis, legend_label

SAMPLE_TITLES = {"grow": "growing sample", "prune": "held-out sample", "test": "test sample"}
MAX_MARKERS = 60  # longer curves are drawn without markers


class Curve(NamedTuple):
    """One curve of the figure: an error or another score per size, and its standard error if known."""

    name: str
    n_leaves: Longs
    error: Floats
    se: Floats | None = None


@dataclass
class PruningPathDisplay(ModelDisplay):
    """Error against the number of leaves, on every known sample, with the member that was chosen.

    Made by `from_estimator`, `from_model` or `from_sequence`. The first two draw the score that chose the tree of the
    model, if this is not the error.

    Parameters
    ----------
    curves : tuple of Curve
        For each sample `name`, `n_leaves`, `error` (a rate; regression: mean squared error; or the score) and `se` or
        None.
    bound : Curve, optional
        An upper limit on the error on new rows for every size.
    marks : dict of int
        Sizes that are marked, by name: "0se", "1se", "chosen".
    is_classifier : bool
        Whether the errors are rates.
    score : str
        The name of the score, if the curves are not of errors.

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
    score: str = ""

    @classmethod
    def from_model(cls, model: object, **options: Any) -> Self:
        """Return the display of a model's sequence on its samples, with its selection and its certificate.

        If another score than the error chose the tree, its curves are drawn. Certificates limit the error and are
        left out then.
        """
        fitted = as_model(model, done="drawn")
        sequence = fitted.sequence
        if sequence is None:
            raise ParameterError(f"{show(fitted)} has no pruning sequence; prune with a rule that returns one")
        currency = currency_of(fitted)
        if not (currency.is_error or options):
            return cls(*_score_curves(fitted, sequence, currency), fitted.is_classifier, currency.name)
        samples = [sample for sample in (fitted.grown, fitted.holdout) if sample is not None]
        bounds: Sequence[Bound] | None = None
        if fitted.certificate is not None and fitted.class_holdout is not None:
            # There are no bounds if the sample was used to make the sequence, or is weighted.
            with suppress(LeakageError, UnsupportedError, ValueError):
                certificate = fitted.certificate
                repeats = certificate.repeat_rule
                bounds = path(sequence, fitted.class_holdout, delta=certificate.delta, repeats=repeats)
        defaults = {"selection": fitted.selection, "bounds": bounds, "chosen": fitted.pruning.n_leaves}
        return cls.from_sequence(sequence, *samples, **{**defaults, **options})

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
            Every sample gives a curve. For regression, the leaves predict the means of the first sample.
        selection : Selection, optional
            If it is of errors, it gives a curve with standard errors, and marks.
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
            sizes, name = selection.sequence.n_leaves, SAMPLE_TITLES.get(selection.sample, selection.sample)
            curves = [curve for curve in curves if curve.name != name]
            curves.append(Curve(name, sizes, selection.error, selection.se))
            marks = {"0se": int(sizes[selection.best]), "1se": int(sizes[selection.one_se])}
            chosen = int(sizes[selection.chosen]) if chosen is None else chosen
        if not curves:
            cost = np.asarray(sequence.errors, float)
            curves = [Curve("cost the sequence was made from", sequence.n_leaves, cost)]
        if chosen is not None:
            marks["chosen"] = chosen
        limits = None if bounds is None else _bound_curve(sequence, list(bounds))
        return cls(tuple(curves), limits, marks, all(sample.has_classes for sample in samples))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curves, a band of one standard error where it is known, and the marks."""
        axes = self._prepare_axes(ax, (7.2, 4.4))
        colours = dict(zip((curve.name for curve in self.curves), (GREY, *CYCLE), strict=False))
        for curve in self.curves:
            colour = colours.get(curve.name, BLUE)
            if curve.se is not None:
                low, high = curve.error - curve.se, curve.error + curve.se
                axes.fill_between(curve.n_leaves, low, high, color=colour, alpha=0.18, lw=0)
            marker, label = "o" if len(curve.n_leaves) <= MAX_MARKERS else "", legend_label(curve.name)
            axes.plot(curve.n_leaves, curve.error, color=colour, lw=1.8, marker=marker, ms=3, label=label)
        if self.bound is not None:
            axes.plot(self.bound.n_leaves, self.bound.error, color=RED, lw=1.5, ls="--", label=self.bound.name)
        self._draw_marks(axes)
        leaves_axis(axes, [curve.n_leaves for curve in self.curves])
        axes.set_ylabel(self.score or ("error rate" if self.is_classifier else "mean squared error"))
        axes.set_ylim(bottom=0)
        title = self.score[:1].upper() + self.score[1:] or "Error"
        return self._finish(f"{title} along the pruning sequence", legend=9)

    def _draw_marks(self, axes: "Axes") -> None:
        """Draw a line at each marked size, and a circle at the chosen member."""
        curves_with_error = [curve for curve in self.curves if curve.se is not None]
        shown = (curves_with_error or self.curves)[-1]
        names_of_size: dict[int, list[str]] = {}
        for name, size in self.marks.items():
            names_of_size.setdefault(size, []).append(name)
        for size, names in names_of_size.items():
            is_chosen = "chosen" in names
            ink, colour, width = (PURPLE, PURPLE, 1.6) if is_chosen else ("#555555", GREY, 0.9)
            axes.axvline(size, color=colour, lw=width, ls=":", zorder=0)
            axes.annotate(
                f"{' = '.join(names)}: {size:,}", (size, 1), (2, -3), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, ha="left", va="top", fontsize=8, color=ink,
            )  # fmt: skip
            members = np.flatnonzero(shown.n_leaves == size)
            if is_chosen and len(members):
                axes.plot([size], [shown.error[members[0]]], "o", ms=9, mfc="none", mec=PURPLE, mew=1.8, zorder=4)


@dataclass
class SelectionDisplay(ModelDisplay):
    """Error of every member of a sequence with its standard error, the 1-SE limit, and the chosen member.

    Made by `from_selection`, `from_estimator` or `from_model`.

    Parameters
    ----------
    n_leaves, error, se : arrays
        One entry per member, largest tree first.
    best, chosen : int
        The member of least error, and the chosen member.
    limit : float or None
        The least error plus one standard error, to which the 1-SE rule compares errors. None for scores of
        probabilities, for which the difference from the best member and its standard error decide.
    score : str
        The name of the measure in `error`.
    select, sample : str
        The rule of the selection, and the sample on which the members were evaluated.
    pool_leaves, pool_error : arrays
        Leaves and error of all candidates of the search over growing parameters, the chosen one included.
    is_classifier : bool
        Whether the model is a classifier.

    Examples
    --------
    >>> from secateur import PruningSequence, Tree
    >>> from secateur.core.selection import Selection
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
        fitted = as_model(model, done="drawn")
        if fitted.selection is None:
            raise ParameterError(
                f"{show(fitted)} was not chosen from a table; choose with cross-validation or a sample"
            )
        display = cls.from_selection(fitted.selection)
        display.is_classifier = fitted.is_classifier
        return display

    @classmethod
    def from_selection(cls, selection: Selection) -> Self:
        """Return the display of a selection."""
        if not isinstance(selection, Selection):
            raise UnsupportedError(f"a {type(selection).__name__} is given; a Selection is needed")
        pool = [(entry.get("n_leaves", ()), entry.get("error", ())) for entry in selection.pool]
        # An entry may list all members of a path; only entries with one tree are drawn.
        points = [point for point in pool if np.ndim(point[0]) == np.ndim(point[1]) == 0]
        pool_leaves, pool_error = np.array(points, float).reshape(-1, 2).T
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
            pool_leaves=pool_leaves,
            pool_error=pool_error,
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw errors with bars of one standard error, the limit as a line, and the chosen member."""
        axes = self._prepare_axes(ax, (7.2, 4.2))
        cap_size, marker_size = (2.5, 4) if len(self.n_leaves) <= MAX_MARKERS else (0, 2)
        axes.errorbar(
            self.n_leaves, self.error, yerr=self.se, color=BLUE, ecolor="#9cc3dd", elinewidth=1.3, capsize=cap_size,
            lw=1.4, marker="o", ms=marker_size, label=f"{self.score}, one standard error",
        )  # fmt: skip
        if self.limit is not None:
            axes.axhline(self.limit, color=ORANGE, lw=1.3, ls="--", label=f"least {self.score} + one standard error")
        if len(self.pool_leaves):
            label = "candidates compared"
            axes.plot(self.pool_leaves, self.pool_error, "d", color=GREY, mfc="none", ms=5, label=label)
        self._draw_member(axes, self.best, ORANGE, 8, f"least {self.score}")
        self._draw_member(axes, self.chosen, PURPLE, 11, f"chosen ({self.select})")
        leaves_axis(axes, [self.n_leaves, self.pool_leaves])
        error_label = "error rate" if self.is_classifier else "mean squared error"
        axes.set_ylabel(error_label if self.score == "error" else self.score)
        return self._finish(f"Choosing the size ({self.sample})", legend=9)

    def _draw_member(self, axes: "Axes", member: int, colour: str, size: float, name: str) -> None:
        n_leaves = self.n_leaves[member]
        label = f"{name}: {n_leaves:,} {'leaf' if n_leaves == 1 else 'leaves'}"
        axes.plot([n_leaves], [self.error[member]], "o", ms=size, mfc="none", mec=colour, mew=2, ls="", label=label)


def _bound_curve(sequence: PruningSequence, bounds: list[Bound]) -> Curve:
    """Return the bounds of all members as a curve."""
    if len(bounds) != len(sequence):
        raise ParameterError(f"{len(bounds)} bounds are given; one for each of {len(sequence)} members needed")
    name = f"bound, {100 * (1 - max(bound.delta for bound in bounds)):.6g} % confidence"
    return Curve(name, sequence.n_leaves, np.array([bound.value for bound in bounds]))


def _score_curves(
    model: Model, sequence: PruningSequence, currency: Currency
) -> tuple[tuple[Curve, ...], None, dict[str, int]]:
    """Return the curves of the score that chose a model, no bound, and the marked sizes."""
    curves = []
    for sample in (model.grown, model.holdout):
        scores = None if sample is None else scores_along(currency, model, sequence, sample)
        if sample is not None and scores is not None:
            is_known = np.isfinite(scores)
            name = SAMPLE_TITLES.get(sample.sample, sample.sample)
            curves.append(Curve(name, sequence.n_leaves[is_known], scores[is_known]))
    selection, marks = model.selection, {"chosen": model.pruning.n_leaves}
    if selection is not None:
        sizes, name = selection.sequence.n_leaves, SAMPLE_TITLES.get(selection.sample, selection.sample)
        curves = [curve for curve in curves if curve.name != name]
        curves.append(Curve(name, sizes, selection.error, selection.se))
        marks["0se"] = int(sizes[selection.best])
        if selection.one_se_limit is not None or selection.select == "1se":
            marks["1se"] = int(sizes[selection.one_se])
    return tuple(curves), None, marks


def _curve(sequence: PruningSequence, sample: Counts | Moments, first: Counts | Moments) -> Curve:
    """Return the errors of all members on a sample; for regression, leaves predict the means of the first sample."""
    check_sample(sample, "a sample")
    sample.check_fits(sequence.tree)
    if not sample.total[0]:
        raise ParameterError(f"sample {show(sample.sample)} is empty; an error rate needs at least one row")
    if first.has_classes != sample.has_classes:
        raise ParameterError("samples of classes and of numeric targets are mixed; one kind is needed")
    return Curve(SAMPLE_TITLES.get(sample.sample, sample.sample), sequence.n_leaves, sequence.rates_on(sample, first))
