"""What the figures of the experiments share: a canvas without a window, and files beside the numbers."""

import io
from pathlib import Path
from typing import Any

from ..plot.parts import CYCLE, GREY, tidied
from ._study import write_whole

__all__ = ["CYCLE", "GREY", "canvas", "save", "tidied"]


def canvas(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure that belongs to no window, and its axes as a matrix."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    write_whole(path, picture.getvalue())
