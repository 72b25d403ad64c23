"""Figures that compare: certificates against the number of rows and side by side, pruning rules."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._utils.arrays import Bools, Floats, Longs
from ..core import Bound
from ..errors import ParameterError
from .display import BLUE, CYCLE, GREY, LITERAL, Axes, Display, label_as_is, leaves_axis, root_figure


@dataclass
class BoundCurvesDisplay(Display):
    """Bounds against the number of held-out rows, one curve per method.

    Parameters
    ----------
    methods : tuple of str
        In order of first appearance.
    n, value : dict of arrays
        For each method the sample sizes, rising, and the bounds there.
    certified : dict of bool
        Whether every bound of the method is a guarantee; the others are drawn dashed and grey.
    rows, error : arrays
        Error on the held-out sample itself, at each sample size (the mean, where methods differ).

    Examples
    --------
    >>> from secateur import Bound
    >>> display = BoundCurvesDisplay.from_bounds(
    ...     [Bound(0.30, 0.05, "path", 1000, 150), Bound(0.40, 0.05, "path", 100, 16)]
    ... )
    >>> display.n["path"].tolist(), display.value["path"].tolist(), display.error.tolist()
    ([100, 1000], [0.4, 0.3], [0.16, 0.15])
    """

    methods: tuple[str, ...]
    n: dict[str, Longs]
    value: dict[str, Floats]
    certified: dict[str, bool]
    rows: Longs
    error: Floats

    @classmethod
    def from_bounds(cls, bounds: Iterable[Bound]) -> Self:
        """Return the display of bounds of any methods and sample sizes."""
        listed = _bounds(bounds)
        methods = tuple(dict.fromkeys(bound.method for bound in listed))
        of = {name: sorted((b for b in listed if b.method == name), key=lambda b: b.n) for name in methods}
        rows = np.unique([bound.n for bound in listed])
        return cls(
            methods=methods,
            n={name: np.array([b.n for b in of[name]]) for name in methods},
            value={name: np.array([b.value for b in of[name]], float) for name in methods},
            certified={name: all(b.certified for b in of[name]) for name in methods},
            rows=rows,
            error=np.array([np.mean([b.errors / b.n for b in listed if b.n == n]) for n in rows]),
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curves, and the error on the sample under them."""
        axes = self._on(ax, (6.6, 4.4))
        colours = iter(CYCLE * (1 + len(self.methods) // len(CYCLE)))
        for name in self.methods:
            is_sure = self.certified[name]
            label = label_as_is(name if is_sure else f"{name} (not a guarantee)")
            colour, line = (next(colours), "-") if is_sure else (GREY, "--")
            axes.plot(self.n[name], self.value[name], lw=1.8, marker="o", ms=4, color=colour, ls=line, label=label)
        axes.plot(self.rows, self.error, color="black", lw=1, ls=":", marker=".", label="error on the sample")
        if len(self.rows) > 1 and self.rows[-1] > 10 * self.rows[0]:
            axes.set_xscale("log")
        axes.set(xlabel="held-out rows", ylabel="error rate")
        axes.set_ylim(0, min(1.0, 1.08 * max(float(v.max()) for v in self.value.values())))
        return self._tidied("Bounds on the error against sample size", legend="medium")


@dataclass
class CertificatesDisplay(Display):
    """Certificates of one tree side by side: from the error on the sample to the bound.

    Parameters
    ----------
    methods : tuple of str
        From the smallest bound to the largest, guarantees first.
    value, error : arrays
        The bounds, and the errors on the samples they come from.
    certified : array of bool
        Which are guarantees; the others are drawn hollow, grey and dashed.
    delta : array
        Failure probability of each.

    Examples
    --------
    >>> from secateur import Bound
    >>> display = CertificatesDisplay.from_bounds(
    ...     [Bound(0.36, 0.05, "occam", 1000, 150), Bound(0.20, 0.05, "path", 1000, 150)]
    ... )
    >>> display.methods, display.value.tolist()
    (('path', 'occam'), [0.2, 0.36])
    """

    methods: tuple[str, ...]
    value: Floats
    error: Floats
    certified: Bools
    delta: Floats

    @classmethod
    def from_bounds(cls, bounds: Iterable[Bound]) -> Self:
        """Return the display of a list of bounds; equal ones keep their order."""
        listed = sorted(_bounds(bounds), key=lambda bound: (not bound.certified, bound.value))
        value, error, delta = np.array([(bound.value, bound.errors / bound.n, bound.delta) for bound in listed]).T
        methods = tuple(bound.method for bound in listed)
        return cls(methods, value, error, np.array([bound.certified for bound in listed]), delta)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one line per certificate, the smallest bound on top."""
        place = np.arange(len(self.methods))
        axes = self._on(ax, (7.0, 1.4 + 0.42 * len(place)))
        colours = np.where(self.certified, BLUE, GREY)
        for y, low, high, colour, holds in zip(place, self.error, self.value, colours, self.certified, strict=True):
            axes.plot([low, high], [y, y], color=colour, lw=2.5, ls="-" if holds else ":", zorder=1)
            percent = math.ceil(1000 * high - 1e-9) / 10  # a limit is rounded up, so that it stays true
            axes.annotate(f"{percent:.1f} %", (high, y), (7, 0), textcoords="offset points", va="center", fontsize=9)
        faces = np.where(self.certified, BLUE, "white")
        axes.scatter(self.value, place, s=52, c=faces, edgecolors=colours, linewidths=1.5, zorder=2, label="bound")
        axes.scatter(self.error, place, s=26, c="black", zorder=3, label="error on the sample")
        notes = np.where(self.certified, "", "\n(not a guarantee)")
        axes.set_yticks(place, [f"{name}{note}" for name, note in zip(self.methods, notes, strict=True)], **LITERAL)
        axes.set_ylim(len(place) - 0.5, -0.5)
        axes.set_xlim(0, 1.14 * max(float(self.value.max()), float(self.error.max())))
        confidences = sorted({f"{100 * (1 - delta):.6g} %" for delta in self.delta})
        axes.set(xlabel=f"error rate ({' or '.join(confidences)} confidence)")
        return self._tidied("From the error on the sample (dot) to the bound (circle)")


@dataclass
class RulesDisplay(Display):
    """One point per pruning rule: its leaves and its error on rows it has not seen.

    Parameters
    ----------
    rules : tuple of str
    n_leaves : array of int
    test_error : array of float
    certified : array of float
        Certified limit on the error of each; NaN where there is none. Drawn as a whisker.

    Examples
    --------
    >>> display = RulesDisplay.from_lines([{"rule": "none", "leaves": 90, "test_error": 0.3, "certified": 0.34}])
    >>> display.rules, display.n_leaves.tolist()
    (('none',), [90])
    """

    rules: tuple[str, ...]
    n_leaves: Longs
    test_error: Floats
    certified: Floats

    @classmethod
    def from_lines(cls, lines: Iterable[Mapping[str, str | float]]) -> Self:
        """Return the display of lines with "rule", "leaves", "test_error" and perhaps "certified"."""
        listed = list(lines)
        if not listed:
            raise ParameterError("no rules are given; at least one line is needed")
        for i, line in enumerate(listed):
            missing = {"rule", "leaves", "test_error"} - set(line)
            if missing:
                raise ParameterError(f"line {i} has no {min(missing)!r}; rule, leaves and test_error are needed")
        return cls(
            rules=tuple(str(line["rule"]) for line in listed),
            n_leaves=np.array([line["leaves"] for line in listed], np.int64),
            test_error=np.array([line["test_error"] for line in listed], float),
            certified=np.array([line.get("certified", np.nan) for line in listed], float),
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the rules; those that agree share a label."""
        axes = self._on(ax, (9.0, 5.2))
        axes.vlines(self.n_leaves, self.test_error, self.certified, color="#c8c8c8", lw=1.2, label="certified limit")
        axes.plot(self.n_leaves, self.test_error, "o", color=BLUE, ms=6, ls="", label="test error")
        leaves_axis(axes, [self.n_leaves])
        axes.set_ylabel("error rate")
        self._tidied("Pruning rules: error on new rows against size", legend=9)
        self._draw_names(axes)
        return self

    def _draw_names(self, axes: "Axes") -> None:
        """Names beside the points, pushed up where one would cover another."""
        together: dict[tuple[int, float], list[str]] = {}
        for name, size, error in zip(self.rules, self.n_leaves.tolist(), self.test_error.tolist(), strict=True):
            together.setdefault((size, error), []).append(name)
        figure = root_figure(axes)
        figure.draw_without_rendering()  # settles where the axes stand
        box, point = axes.get_window_extent(), figure.dpi / 72
        line = 11 * point
        taken: list[tuple[float, float, float]] = []  # left end, right end, height; in pixels
        for (size, error), names in sorted(together.items(), key=lambda item: item[0][1]):
            left, at = axes.transData.transform((size, error))
            text = " = ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
            wide = (8 + len(text) * 0.56 * 8) * point
            is_left = left + wide > box.x1  # no room to the right
            start = left - wide if is_left else left
            height = at
            while any(a < start + wide and start < b and abs(height - y) < line for a, b, y in taken):
                height += line
            taken.append((start, start + wide, height))
            shift = (height - at) / point
            leader = {"arrowstyle": "-", "color": GREY, "lw": 0.6} if shift > 1 else None
            axes.annotate(
                text, (size, error), (-7 if is_left else 7, shift), textcoords="offset points", fontsize=8,
                ha="right" if is_left else "left", va="center", arrowprops=leader, **LITERAL,
            )  # fmt: skip


def _bounds(bounds: Iterable[Bound]) -> list[Bound]:
    listed = list(bounds)
    if not listed:
        raise ParameterError("no bounds are given; at least one is needed")
    for i, bound in enumerate(listed):
        if not isinstance(bound, Bound):
            raise ParameterError(f"entry {i} is a {type(bound).__name__}; a Bound is needed, as certify returns it")
        if bound.n < 1:
            told = f"entry {i} ({bound.method}) comes from {bound.n} rows"
            raise ParameterError(f"{told}; an error rate needs at least one")
    return listed
