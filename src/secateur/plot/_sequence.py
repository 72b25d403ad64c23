"""Figures of a pruning sequence: error against size along the whole of it, and the table a member was chosen from."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from .._utils.arrays import Floats, Longs
from ..certifiers import path
from ..core import Bound, Counts, Moments, PruningSequence, Selection, as_model
from ..errors import LeakageError, ParameterError, UnsupportedError
from .display import BLUE, CYCLE, GREY, ORANGE, PURPLE, RED, Axes, ModelDisplay, check_sample, label_as_is, leaves_axis

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
            # No curve holds if the sample helped to make the sequence, or is weighted.
            with suppress(LeakageError, UnsupportedError, ValueError):
                bounds = path(sequence, found.class_holdout, delta=found.certificate.delta)
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
            sizes, name = selection.sequence.n_leaves, _WORDS.get(selection.sample, selection.sample)
            curves = [curve for curve in curves if curve.name != name]
            curves.append(Curve(name, sizes, selection.error, selection.se))
            marks = {"0se": int(sizes[selection.best]), "1se": int(sizes[selection.one_se])}
            chosen = int(sizes[selection.chosen]) if chosen is None else chosen
        if not curves:
            cost = np.asarray(sequence.errors, float)
            curves = [Curve("cost the sequence was made from", sequence.n_leaves, cost)]
        if chosen is not None:
            marks["chosen"] = chosen
        limits = None
        if bounds is not None:
            listed = list(bounds)
            if len(listed) != len(sequence):
                raise ParameterError(f"{len(listed)} bounds are given; one for each of {len(sequence)} members needed")
            name = f"bound, {100 * (1 - max(bound.delta for bound in listed)):.6g} % confidence"
            limits = Curve(name, sequence.n_leaves, np.array([bound.value for bound in listed]))
        return cls(tuple(curves), limits, marks, all(sample.has_classes for sample in samples))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curves, a band of one standard error where it is known, and the marks."""
        axes = self._on(ax, (7.2, 4.4))
        colours = dict(zip((c.name for c in self.curves), (GREY, *CYCLE), strict=False))
        for curve in self.curves:
            colour = colours.get(curve.name, BLUE)
            if curve.se is not None:
                low, high = curve.error - curve.se, curve.error + curve.se
                axes.fill_between(curve.n_leaves, low, high, color=colour, alpha=0.18, lw=0)
            marker, label = "o" if len(curve.n_leaves) <= 60 else "", label_as_is(curve.name)
            axes.plot(curve.n_leaves, curve.error, color=colour, lw=1.8, marker=marker, ms=3, label=label)
        if self.bound is not None:
            axes.plot(self.bound.n_leaves, self.bound.error, color=RED, lw=1.5, ls="--", label=self.bound.name)
        self._draw_marks(axes)
        leaves_axis(axes, [curve.n_leaves for curve in self.curves])
        axes.set_ylabel("error rate" if self.is_classifier else "mean squared error")
        axes.set_ylim(bottom=0)
        return self._tidied("Error along the pruning sequence", legend=9)

    def _draw_marks(self, axes: "Axes") -> None:
        shown = next((c for c in reversed(self.curves) if c.se is not None), self.curves[-1])
        by_size: dict[int, list[str]] = {}
        for name, size in self.marks.items():
            by_size.setdefault(size, []).append(name)
        for size, names in by_size.items():
            is_chosen = "chosen" in names
            ink, colour, wide = (PURPLE, PURPLE, 1.6) if is_chosen else ("#555555", GREY, 0.9)
            axes.axvline(size, color=colour, lw=wide, ls=":", zorder=0)
            axes.annotate(
                f"{' = '.join(names)}: {size:,}", (size, 1), (2, -3), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, ha="left", va="top", fontsize=8, color=ink,
            )  # fmt: skip
            at = np.flatnonzero(shown.n_leaves == size)
            if is_chosen and len(at):
                axes.plot([size], [shown.error[at[0]]], "o", ms=9, mfc="none", mec=PURPLE, mew=1.8, zorder=4)


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
        pool = [(entry.get("n_leaves", ()), entry.get("error", ())) for entry in selection.pool]
        single = [pair for pair in pool if np.ndim(pair[0]) == np.ndim(pair[1]) == 0]
        places = np.array(single, float).reshape(-1, 2)
        shared = ("error", "se", "best", "chosen", "score", "select", "sample")
        return cls(
            n_leaves=selection.sequence.n_leaves,
            limit=selection.one_se_limit,
            pool_leaves=places[:, 0],
            pool_error=places[:, 1],
            **{name: getattr(selection, name) for name in shared},
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw errors with bars of one standard error, the limit as a line, and the chosen member."""
        axes = self._on(ax, (7.2, 4.2))
        cap, dot = (2.5, 4) if len(self.n_leaves) <= 60 else (0, 2)
        axes.errorbar(
            self.n_leaves, self.error, yerr=self.se, color=BLUE, ecolor="#9cc3dd", elinewidth=1.3, capsize=cap, lw=1.4,
            marker="o", ms=dot, label=f"{self.score}, one standard error",
        )  # fmt: skip
        if self.limit is not None:
            axes.axhline(self.limit, color=ORANGE, lw=1.3, ls="--", label=f"least {self.score} + one standard error")
        if len(self.pool_leaves):
            label = "other ways of growing"
            axes.plot(self.pool_leaves, self.pool_error, "d", color=GREY, mfc="none", ms=5, label=label)
        for member, colour, size, word in (
            (self.best, ORANGE, 8, f"least {self.score}"), (self.chosen, PURPLE, 11, f"chosen ({self.select})"),
        ):  # fmt: skip
            n_leaves = self.n_leaves[member]
            label = f"{word}: {n_leaves:,} {'leaf' if n_leaves == 1 else 'leaves'}"
            axes.plot([n_leaves], [self.error[member]], "o", ms=size, mfc="none", mec=colour, mew=2, ls="", label=label)
        leaves_axis(axes, [self.n_leaves, self.pool_leaves])
        plain = "error rate" if self.is_classifier else "mean squared error"
        axes.set_ylabel(plain if self.score == "error" else self.score)
        return self._tidied(f"Choosing the size ({self.sample})", legend=9)


def _curve(sequence: PruningSequence, sample: Counts | Moments, first: Counts | Moments) -> Curve:
    check_sample(sample, "a sample")
    sample.check_fits(sequence.tree)
    if not sample.total[0]:
        raise ParameterError(f"sample {sample.sample!r} is empty; an error rate needs at least one row")
    if first.has_classes != sample.has_classes:
        raise ParameterError("samples of classes and of numeric targets are mixed; one kind is needed")
    return Curve(_WORDS.get(sample.sample, sample.sample), sequence.n_leaves, sequence.rates_on(sample, first))
