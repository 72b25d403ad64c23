"""RulesDisplay: pruning rules compared on one data set, test error against size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ..data.arrays import Floats, Longs
from ..errors import ParameterError
from .parts import BLUE, GREY, LITERAL, Display, leaves_axis, tidied

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        axes.set_title("Pruning rules: error on new rows against size", fontsize=11)
        axes.legend(frameon=False, fontsize=9)
        tidied(axes)
        self._draw_names(axes)
        return self

    def _draw_names(self, axes: "Axes") -> None:
        """Names beside the points, pushed up where one would cover another."""
        together: dict[tuple[int, float], list[str]] = {}
        for name, size, error in zip(self.rules, self.n_leaves.tolist(), self.test_error.tolist(), strict=True):
            together.setdefault((size, error), []).append(name)
        figure = axes.get_figure(root=True)
        assert figure is not None
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
