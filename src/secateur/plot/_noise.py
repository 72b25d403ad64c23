"""Figures of the probability that a rule prunes a tree grown on pure noise to one leaf."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import Array, ArrayLike, Bools, Floats, Longs
from ..analysis import best_c, one_leaf_probability_uniform, printed_bound_general, printed_bound_uniform
from .display import BLUE, GREY, ORANGE, RED, Axes, Display, tidy_axes


@dataclass
class NoiseBoundDisplay(Display):
    """The published bound on the one-leaf probability over p and c, the exact probability beside it.

    Parameters
    ----------
    n, k : int
        Numbers of pruning rows and of safe nodes.
    p, c : arrays
        The grid: probabilities of the majority class, and limits on the rows of counted nodes, in units of n / k.
    surface : array of shape (len(p), len(c))
        `printed_bound_uniform` on the grid.
    best_c, best : arrays
        For each p, the c at which the bound is lowest, and the bound at this c.
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

    @classmethod
    def compute(cls, n: int = 500, k: int = 100, *, p: ArrayLike | None = None, c: ArrayLike | None = None) -> Self:
        """Return the display for `n` pruning rows and `k` safe nodes.

        Parameters
        ----------
        n, k : int
            The published figure has n = 500, k = 100.
        p : array, optional
            Probabilities of the majority class, between 1/2 and 1.
        c : array, optional
            Limits on the rows of counted safe nodes, in units of n / k, above 0.
        """
        probabilities = np.linspace(0.505, 0.995, 99) if p is None else np.asarray(p, float)
        limits = np.arange(1, 101) / 50 if c is None else np.asarray(c, float)
        return cls(
            n=n,
            k=k,
            p=probabilities,
            c=limits,
            surface=printed_bound_uniform(n, k, probabilities[:, None], limits),
            best_c=best_c(n, k, probabilities),
            best=printed_bound_uniform(n, k, probabilities),
            general=printed_bound_general(n, k, probabilities),
            exact=np.array([one_leaf_probability_uniform(n, k, probability) for probability in probabilities]),
        )

    @property
    def fails(self) -> Bools:
        """For each p, whether the published bound at its best c lies below the exact probability."""
        return np.asarray(self.best < self.exact)

    def plot(self, ax: Sequence[Any] | None = None) -> Self:
        """Draw the surface with its .25 and .5 contours, and the curves beside it, shaded where the bound fails.

        Parameters
        ----------
        ax : two axes, optional
            For the surface and for the curves; a new figure by default.
        """
        self._prepare_axes(ax, (10.5, 4.2), n_columns=2)
        left, right = self.ax_
        # Values of the formula above 1 are no bound on a probability; the figure shows them as 1.
        _draw_surface(left, self.p, self.c, self.surface.T, {0.25: ORANGE, 0.5: RED}, "printed bound (cut at 1)", 1.8)
        left.plot(self.p, self.best_c, color="black", lw=1.2, ls=":", label="best c")
        left.legend(loc="upper left", bbox_to_anchor=(0, -0.14), frameon=False)  # below the axes, not on the surface
        left.set_ylabel("c, counted nodes hold at most c n / k")
        left.set_title(f"Published bound, {self.n:,} examples, {self.k:,} safe nodes", fontsize=11)

        right.fill_between(
            self.p, 0, 1, where=self.fails, step="mid", color=RED, alpha=0.13, lw=0, label="published below exact"
        )
        right.plot(self.p, self.exact, color=BLUE, lw=2.2, label="exact")
        right.plot(self.p, np.minimum(self.best, 1), color=RED, lw=1.5, ls="--", label="published, best c")
        right.plot(self.p, self.general, color=GREY, lw=1.5, ls="-.", label="published, any occupancy")
        right.set(xlabel="p, probability of the majority class", ylabel="probability of one leaf", ylim=(-0.02, 1.02))
        right.set_title("Pure noise pruned to one leaf", fontsize=11)
        right.legend(loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2, frameon=False)
        tidy_axes(right)
        return self


@dataclass
class PruningProbabilityDisplay(Display):
    """The exact probability that pure noise is pruned to one leaf, over p and the number of pruning rows.

    Parameters
    ----------
    k : int
        Number of safe nodes.
    p : array
        Probabilities of the majority class.
    n : array of int
        Numbers of pruning rows.
    probability : array of shape (len(n), len(p))
        The probability for each n and p.

    Examples
    --------
    >>> display = PruningProbabilityDisplay.compute(100, p=[0.6, 0.9], n=[500])
    >>> display.probability.round(2).tolist()
    [[0.0, 0.34]]
    """

    k: int
    p: Floats
    n: Longs
    probability: Floats

    @classmethod
    def compute(cls, k: int = 100, *, p: ArrayLike | None = None, n: ArrayLike | None = None) -> Self:
        """Return the display for `k` safe nodes.

        Parameters
        ----------
        k : int
            Number of safe nodes.
        p : array, optional
            Probabilities of the majority class, from 0 to 1; by default from 1/2 to 1.
        n : array of int, optional
            Numbers of pruning rows; by default from a tenth to forty for each safe node.
        """
        probabilities = np.linspace(0.5, 1.0, 51) if p is None else np.asarray(p, float)
        sizes = np.unique(np.geomspace(max(k / 10, 1), 40 * k, 41).astype(int)) if n is None else np.asarray(n)
        surface = [[one_leaf_probability_uniform(int(n_rows), k, float(x)) for x in probabilities] for n_rows in sizes]
        return cls(k, probabilities, sizes, np.array(surface))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the surface, with contours where it is .05, .5 and .95."""
        axes = self._prepare_axes(ax, (6.4, 4.4))
        levels = {0.05: ORANGE, 0.5: RED, 0.95: GREY}
        _draw_surface(axes, self.p, self.n, self.probability, levels, "exact probability", 1.6)
        axes.set(ylabel="pruning examples", yscale="log")
        axes.set_title(f"Pure noise is pruned to one leaf ({self.k:,} safe nodes)", fontsize=11)
        return self


def _draw_surface(
    axes: "Axes", p: Floats, y: Array, surface: Floats, levels: dict[float, str], label: str, lw: float
) -> None:
    """Draw a probability, at most 1, over p and y as colours, with a contour line for each level.

    Parameters
    ----------
    axes : axes
    p, y : arrays
        Coordinates of the columns and of the rows of the surface.
    surface : array of shape (len(y), len(p))
    levels : dict of float to str
        The colour of each contour line.
    label : str
        Label of the colour scale.
    lw : float
        Width of the contour lines.
    """
    shown = np.minimum(surface, 1)
    mesh = axes.pcolormesh(p, y, shown, cmap="Blues", vmin=0, vmax=1, shading="nearest", rasterized=True)
    if min(surface.shape) > 1:
        lines = axes.contour(p, y, surface, levels=list(levels), colors=list(levels.values()), linewidths=lw)
        axes.clabel(lines, fmt={level: str(level) for level in levels}, fontsize=9)
    axes.set_xlabel("p, probability of the majority class")
    axes.figure.colorbar(mesh, ax=axes, label=label)
