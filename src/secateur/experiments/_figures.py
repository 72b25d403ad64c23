"""What the figures of the experiments share: a canvas without a window, and files beside the numbers."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from ..plot.parts import CYCLE, GREY, tidied
from ._study import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..data.arrays import Array

__all__ = ["CYCLE", "GREY", "canvas", "labelled", "save", "tidied"]


def canvas(n_rows: int, n_columns: int, size: tuple[float, float]) -> "tuple[Figure, Array]":
    """A figure that belongs to no window, and its axes as a matrix."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def labelled(ax: "Axes", **legend: float) -> None:
    """Give axes their legend, and the look of our figures."""
    ax.legend(frameon=False, **legend)
    tidied(ax)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    write_whole(path, picture.getvalue())
