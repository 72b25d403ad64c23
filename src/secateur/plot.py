"""Figures: each a small object with its data as attributes and a method that draws them.

A display is made from numbers or nouns, keeps what it will show as plain arrays, and
draws on `plot(ax=None)`, which sets `ax_` and `figure_` and returns the display. matplotlib
is imported when something is drawn, not before.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .analysis import best_c, one_leaf_probability_uniform, printed_bound_general, printed_bound_uniform
from .bound import Bound
from .errors import ParameterError

Floats = npt.NDArray[np.float64]

# Okabe and Ito's colours: told apart by all readers, and in print.
_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _SKY, _GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#808080",
)  # fmt: skip
_CYCLE = (_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _SKY)


@dataclass
class NoiseBoundDisplay:
    """The published bound on the one-leaf probability over p and c, the exact probability beside it.

    Parameters
    ----------
    n, k : int
        Pruning examples and safe nodes.
    p, c : arrays
        The grid.
    surface : array of shape (len(p), len(c))
        `printed_bound_uniform` on the grid.
    best_c, best : arrays
        The c at which it is least, for each p, and the value there.
    general, exact : arrays
        `printed_bound_general` and `one_leaf_probability_uniform` for each p.

    Examples
    --------
    >>> display = NoiseBoundDisplay.compute(500, 100, p=[0.6, 0.75, 0.9])
    >>> display.surface.shape, display.best_c.tolist()
    ((3, 100), [1.72, 1.22, 0.02])
    """

    n: int
    k: int
    p: Floats
    c: Floats
    surface: Floats
    best_c: Floats
    best: Floats
    general: Floats
    exact: Floats
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def compute(
        cls, n: int = 500, k: int = 100, *, p: npt.ArrayLike | None = None, c: npt.ArrayLike | None = None
    ) -> "NoiseBoundDisplay":
        """Return the display for `n` pruning examples and `k` safe nodes.

        Parameters
        ----------
        n, k : int
            The published figure has n = 500, k = 100.
        p : array, optional
            Probabilities of the majority class, between 1/2 and 1.
        c : array, optional
            Limits of the counted safe nodes, in units of n / k, above 0.
        """
        chances = np.linspace(0.505, 0.995, 99) if p is None else np.asarray(p, float)
        limits = np.arange(1, 101) / 50 if c is None else np.asarray(c, float)
        return cls(
            n=n,
            k=k,
            p=chances,
            c=limits,
            surface=printed_bound_uniform(n, k, chances[:, None], limits),
            best_c=best_c(n, k, chances),
            best=printed_bound_uniform(n, k, chances),
            general=printed_bound_general(n, k, chances),
            exact=np.array([one_leaf_probability_uniform(n, k, x) for x in chances]),
        )

    @property
    def fails(self) -> npt.NDArray[np.bool_]:
        """For each p, whether the published bound at its best c lies below the exact probability."""
        return np.asarray(self.best < self.exact)

    def plot(self, ax: Sequence[Any] | None = None) -> "NoiseBoundDisplay":
        """Draw the surface with its .25 and .5 contours, and the curves beside it, shaded where the bound fails.

        Parameters
        ----------
        ax : two axes, optional
            For the surface and for the curves; a new figure by default.
        """
        self.figure_, self.ax_ = _axes(ax, n_columns=2, size=(10.5, 4.2))
        left, right = self.ax_
        # The formula can exceed 1, where it says nothing about a probability.
        shown = np.minimum(self.surface, 1).T
        mesh = left.pcolormesh(self.p, self.c, shown, cmap="Blues", vmin=0, vmax=1, shading="nearest", rasterized=True)
        lines = left.contour(self.p, self.c, self.surface.T, levels=[0.25, 0.5], colors=[_ORANGE, _RED], linewidths=1.8)
        left.clabel(lines, fmt={0.25: "0.25", 0.5: "0.5"}, fontsize=9)
        left.plot(self.p, self.best_c, color="black", lw=1.2, ls=":", label="best c")
        left.legend(loc="lower left", frameon=True, framealpha=0.9)
        left.set(xlabel="p, probability of the majority class", ylabel="c, counted nodes hold at most c n / k")
        left.set_title(f"Published bound, {self.n:,} examples, {self.k:,} safe nodes", fontsize=11)
        left.figure.colorbar(mesh, ax=left, label="printed bound (cut at 1)")

        right.fill_between(
            self.p, 0, 1, where=self.fails, step="mid", color=_RED, alpha=0.13, lw=0, label="published below exact"
        )
        right.plot(self.p, self.exact, color=_BLUE, lw=2.2, label="exact")
        right.plot(self.p, np.minimum(self.best, 1), color=_RED, lw=1.5, ls="--", label="published, best c")
        right.plot(self.p, self.general, color=_GREY, lw=1.5, ls="-.", label="published, any occupancy")
        right.set(xlabel="p, probability of the majority class", ylabel="probability of one leaf", ylim=(-0.02, 1.02))
        right.set_title("Pure noise pruned to one leaf", fontsize=11)
        right.legend(loc="upper left", frameon=False)
        _tidy(right)
        return self


@dataclass
class BoundCurvesDisplay:
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
    n: dict[str, npt.NDArray[np.int64]]
    value: dict[str, Floats]
    certified: dict[str, bool]
    rows: npt.NDArray[np.int64]
    error: Floats
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_bounds(cls, bounds: Iterable[Bound]) -> "BoundCurvesDisplay":
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

    def plot(self, ax: Any = None) -> "BoundCurvesDisplay":
        """Draw the curves, and the error on the sample under them."""
        self.figure_, self.ax_ = _axes(ax, n_columns=1, size=(6.6, 4.4))
        axes = self.ax_
        colours = iter(_CYCLE * (1 + len(self.methods) // len(_CYCLE)))
        for name in self.methods:
            if self.certified[name]:
                style: dict[str, Any] = {"color": next(colours), "ls": "-", "label": name}
            else:
                style = {"color": _GREY, "ls": "--", "label": f"{name} (not a guarantee)"}
            axes.plot(self.n[name], self.value[name], lw=1.8, marker="o", ms=4, **style)
        axes.plot(self.rows, self.error, color="black", lw=1, ls=":", marker=".", label="error on the sample")
        if len(self.rows) > 1 and self.rows[-1] > 10 * self.rows[0]:
            axes.set_xscale("log")
        axes.set(xlabel="held-out rows", ylabel="error rate")
        axes.set_ylim(0, min(1.0, 1.08 * max(float(v.max()) for v in self.value.values())))
        axes.set_title("Bounds on the error against sample size", fontsize=11)
        axes.legend(frameon=False)
        _tidy(axes)
        return self


@dataclass
class CertificatesDisplay:
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
    certified: npt.NDArray[np.bool_]
    delta: Floats
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_bounds(cls, bounds: Iterable[Bound]) -> "CertificatesDisplay":
        """Return the display of a list of bounds; equal ones keep their order."""
        listed = sorted(_bounds(bounds), key=lambda bound: (not bound.certified, bound.value))
        return cls(
            methods=tuple(bound.method for bound in listed),
            value=np.array([bound.value for bound in listed], float),
            error=np.array([bound.errors / bound.n for bound in listed], float),
            certified=np.array([bound.certified for bound in listed]),
            delta=np.array([bound.delta for bound in listed], float),
        )

    def plot(self, ax: Any = None) -> "CertificatesDisplay":
        """Draw one line per certificate, the smallest bound on top."""
        n = len(self.methods)
        self.figure_, self.ax_ = _axes(ax, n_columns=1, size=(7.0, 1.4 + 0.42 * n))
        axes = self.ax_
        place = np.arange(n)
        colours = np.where(self.certified, _BLUE, _GREY)
        for y, low, high, colour, holds in zip(place, self.error, self.value, colours, self.certified, strict=True):
            axes.plot([low, high], [y, y], color=colour, lw=2.5, ls="-" if holds else ":", zorder=1)
            percent = math.ceil(1000 * high - 1e-9) / 10  # a limit is rounded up, so that it stays true
            axes.annotate(f"{percent:.1f} %", (high, y), (7, 0), textcoords="offset points", va="center", fontsize=9)
        faces = np.where(self.certified, _BLUE, "white")
        axes.scatter(self.value, place, s=52, c=faces, edgecolors=colours, linewidths=1.5, zorder=2, label="bound")
        axes.scatter(self.error, place, s=26, c="black", zorder=3, label="error on the sample")
        names = [
            name if holds else f"{name}\n(not a guarantee)"
            for name, holds in zip(self.methods, self.certified, strict=True)
        ]
        axes.set_yticks(place, names)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_xlim(0, 1.14 * max(float(self.value.max()), float(self.error.max())))
        confidences = sorted({f"{100 * (1 - delta):.6g} %" for delta in self.delta})
        axes.set(xlabel=f"error rate ({' or '.join(confidences)} confidence)")
        axes.set_title("From the error on the sample (dot) to the bound (circle)", fontsize=11)
        _tidy(axes)
        return self


def _axes(ax: Any, *, n_columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """The figure and the axes to draw on; new ones if none are given."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("figures need matplotlib, which is not installed; pip install 'secateur[plot]'") from error
    if ax is None:
        figure, ax = plt.subplots(1, n_columns, figsize=size, layout="constrained")
        return figure, ax
    if n_columns == 1:
        return ax.figure, ax
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n_columns:
        raise ParameterError(f"ax holds {len(axes)} axes; {n_columns} are needed, or None for a new figure")
    return axes[0].figure, np.array(axes, dtype=object)


def _tidy(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#e5e5e5", lw=0.8)
    axes.set_axisbelow(True)


def _bounds(bounds: Iterable[Bound]) -> list[Bound]:
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
