"""Figures that compare certificates (side by side, or against the number of rows) and pruning rules."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from .._utils.arrays import Bools, Floats, Longs
from ..core import Bound
from ..errors import ParameterError, show
from .display import BLUE, CYCLE, GREY, LITERAL, Axes, Display, leaves_axis, legend_label, root_figure


@dataclass
class BoundCurvesDisplay(Display):
    """Bounds against the number of held-out rows, one curve per method.

    Parameters
    ----------
    methods : tuple of str
        The methods, in order of first appearance.
    n, value : dict of arrays
        For each method, the sample sizes in rising order, and the bounds.
    certified : dict of bool
        For each method, whether all of its bounds are guarantees; other methods are drawn dashed and grey.
    rows, error : arrays
        The sample sizes, and for each size the error on the sample, averaged over the bounds of this size.

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
        checked = _check_bounds(bounds)
        methods = tuple(dict.fromkeys(bound.method for bound in checked))
        by_method = {name: [bound for bound in checked if bound.method == name] for name in methods}
        for listed in by_method.values():
            listed.sort(key=lambda bound: bound.n)
        rows = np.unique([bound.n for bound in checked])
        return cls(
            methods=methods,
            n={name: np.array([bound.n for bound in listed]) for name, listed in by_method.items()},
            value={name: np.array([bound.value for bound in listed], float) for name, listed in by_method.items()},
            certified={name: all(bound.certified for bound in listed) for name, listed in by_method.items()},
            rows=rows,
            error=np.array([np.mean([bound.errors / bound.n for bound in checked if bound.n == n]) for n in rows]),
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curves, and the error on the sample under them."""
        axes = self._prepare_axes(ax, (6.6, 4.4))
        colours = iter(CYCLE * (1 + len(self.methods) // len(CYCLE)))
        for name in self.methods:
            is_guarantee = self.certified[name]
            label = legend_label(name if is_guarantee else f"{name} (not a guarantee)")
            colour, style = (next(colours), "-") if is_guarantee else (GREY, "--")
            axes.plot(self.n[name], self.value[name], lw=1.8, marker="o", ms=4, color=colour, ls=style, label=label)
        axes.plot(self.rows, self.error, color="black", lw=1, ls=":", marker=".", label="error on the sample")
        if len(self.rows) > 1 and self.rows[-1] > 10 * self.rows[0]:
            axes.set_xscale("log")
        axes.set(xlabel="held-out rows", ylabel="error rate")
        axes.set_ylim(0, min(1.0, 1.08 * max(float(v.max()) for v in self.value.values())))
        return self._finish("Bounds on the error against sample size", legend="medium")


@dataclass
class CertificatesDisplay(Display):
    """Certificates of one tree side by side: from the error on the sample to the bound.

    Parameters
    ----------
    methods : tuple of str
        The methods, from the smallest bound to the largest, guarantees first.
    value, error : arrays
        The bounds, and the errors on their samples.
    certified : array of bool
        Whether each bound is a guarantee; other bounds are drawn hollow, grey and dashed.
    delta : array
        The failure probability of each bound.

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
        """Return the display of bounds; those of equal value keep their order."""
        listed = sorted(_check_bounds(bounds), key=lambda bound: (not bound.certified, bound.value))
        value, error, delta = np.array([(bound.value, bound.errors / bound.n, bound.delta) for bound in listed]).T
        methods = tuple(bound.method for bound in listed)
        return cls(methods, value, error, np.array([bound.certified for bound in listed]), delta)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw one line per certificate, the smallest bound on top."""
        y = np.arange(len(self.methods))
        axes = self._prepare_axes(ax, (7.0, 1.4 + 0.42 * len(y)))
        colours = np.where(self.certified, BLUE, GREY)
        for i in y:
            style = "-" if self.certified[i] else ":"
            axes.plot([self.error[i], self.value[i]], [i, i], color=colours[i], lw=2.5, ls=style, zorder=1)
            percent = math.ceil(1000 * self.value[i] - 1e-9) / 10  # a limit is rounded up, so that it stays true
            position, offset = (self.value[i], i), (7, 0)
            axes.annotate(f"{percent:.1f} %", position, offset, textcoords="offset points", va="center", fontsize=9)
        faces = np.where(self.certified, BLUE, "white")
        axes.scatter(self.value, y, s=52, c=faces, edgecolors=colours, linewidths=1.5, zorder=2, label="bound")
        axes.scatter(self.error, y, s=26, c="black", zorder=3, label="error on the sample")
        notes = np.where(self.certified, "", "\n(not a guarantee)")
        axes.set_yticks(y, [f"{name}{note}" for name, note in zip(self.methods, notes, strict=True)], **LITERAL)
        axes.set_ylim(len(y) - 0.5, -0.5)
        axes.set_xlim(0, 1.14 * max(float(self.value.max()), float(self.error.max())))
        confidences = sorted({f"{100 * (1 - delta):.6g} %" for delta in self.delta})
        axes.set(xlabel=f"error rate ({' or '.join(confidences)} confidence)")
        return self._finish("From the error on the sample (dot) to the bound (circle)")


@dataclass
class RulesDisplay(Display):
    """One point per pruning rule: its number of leaves and its error on rows that it has not seen.

    Parameters
    ----------
    rules : tuple of str
        Names of the rules.
    n_leaves : array of int
        Leaves of the tree that each rule returned.
    test_error : array of float
        Error of each tree on other rows.
    certified : array of float
        Certified limit on the error of each tree, drawn as a whisker; NaN where there is none.

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
        """Return the display of results with the keys "rule", "leaves", "test_error" and optionally "certified"."""
        listed = list(lines)
        if not listed:
            raise ParameterError("no rules are given; at least one line is needed")
        for i, line in enumerate(listed):
            missing = {"rule", "leaves", "test_error"} - set(line)
            if missing:
                raise ParameterError(f"line {i} has no {show(min(missing))}; rule, leaves and test_error are needed")
        return cls(
            rules=tuple(str(line["rule"]) for line in listed),
            n_leaves=np.array([line["leaves"] for line in listed], np.int64),
            test_error=np.array([line["test_error"] for line in listed], float),
            certified=np.array([line.get("certified", np.nan) for line in listed], float),
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the rules; those that agree share a label."""
        axes = self._prepare_axes(ax, (9.0, 5.2))
        axes.vlines(self.n_leaves, self.test_error, self.certified, color="#c8c8c8", lw=1.2, label="certified limit")
        axes.plot(self.n_leaves, self.test_error, "o", color=BLUE, ms=6, ls="", label="test error")
        leaves_axis(axes, [self.n_leaves])
        axes.set_ylabel("error rate")
        self._finish("Pruning rules: error on new rows against size", legend=9)
        self._draw_names(axes)
        return self

    def _draw_names(self, axes: "Axes") -> None:
        """Write the names beside the points, higher where a name would cover another one."""
        names_at: dict[tuple[int, float], list[str]] = {}
        for name, size, error in zip(self.rules, self.n_leaves.tolist(), self.test_error.tolist(), strict=True):
            names_at.setdefault((size, error), []).append(name)
        figure = root_figure(axes)
        figure.draw_without_rendering()  # computes the positions of the axes
        right_edge, point = axes.get_window_extent().x1, figure.dpi / 72
        line_pixels = 11 * point
        written: list[_Label] = []
        for (size, error), names in sorted(names_at.items(), key=lambda item: item[0][1]):
            x, y = axes.transData.transform((size, error))
            text = " = ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
            width = (8 + len(text) * 0.56 * 8) * point
            is_left = x + width > right_edge  # there is no room to the right of the point
            start = x - width if is_left else x
            label = _Label(start, start + width, y)
            while any(label.overlaps(other, line_pixels) for other in written):
                label = _Label(label.left, label.right, label.y + line_pixels)
            written.append(label)
            shift = (label.y - y) / point
            leader = {"arrowstyle": "-", "color": GREY, "lw": 0.6} if shift > 1 else None
            axes.annotate(
                text, (size, error), (-7 if is_left else 7, shift), textcoords="offset points", fontsize=8,
                ha="right" if is_left else "left", va="center", arrowprops=leader, **LITERAL,
            )  # fmt: skip


class _Label(NamedTuple):
    """A name in the figure: its left and right end and its height, in pixels."""

    left: float
    right: float
    y: float

    def overlaps(self, other: "_Label", line_pixels: float) -> bool:
        return other.left < self.right and self.left < other.right and abs(self.y - other.y) < line_pixels


def _check_bounds(bounds: Iterable[Bound]) -> list[Bound]:
    """Return the bounds as a list; raise an error unless there is one and each has rows."""
    listed = list(bounds)
    if not listed:
        raise ParameterError("no bounds are given; at least one is needed")
    for i, bound in enumerate(listed):
        if not isinstance(bound, Bound):
            raise ParameterError(f"entry {i} is a {type(bound).__name__}; a Bound is needed, as certify returns it")
        if bound.n < 1:
            raise ParameterError(
                f"entry {i} ({bound.method}) comes from {bound.n} rows; an error rate needs at least one"
            )
    return listed
