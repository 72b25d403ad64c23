"""What the experiments share to show their results: tables, printed figures beside ours, pictures."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..plot.display import CYCLE, tidy_axes
from ._study import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CYCLE", "Row", "Sheet", "beside", "compared", "drawing", "mean", "possible", "published"]

DIGITS = 4
LARGE = 100  # from here on one decimal is enough
Row = Sequence[Any]  # words, numbers, yes or no; a None is a figure nobody printed


@dataclass(frozen=True)
class Sheet:
    """A titled table; `key` names it within its experiment.

    `decimals`, where given, is the number of digits after the point; else four significant ones are shown.
    """

    key: str
    title: str
    head: Sequence[str]
    rows: Sequence[Row]
    note: str = ""
    decimals: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", tuple(self.head))
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))

    def markdown(self) -> str:
        """The table as Markdown, its title above it."""
        lines = [f"**{self.title}**", "", _line(self.head), _line([self._rule(i) for i in range(len(self.head))])]
        lines += [_line([self._shown(cell) for cell in row]) for row in self.rows]
        return "\n".join([*lines, "", self.note, ""] if self.note else [*lines, ""])

    def csv(self) -> str:
        """The table as CSV, numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def column(self, name: str) -> list[Any]:
        """The cells under a heading."""
        at = self.head.index(name)
        return [row[at] for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values."""
        return {"key": self.key, "title": self.title, "head": list(self.head), "rows": [list(row) for row in self.rows]}

    def _rule(self, column: int) -> str:
        """The alignment of a column: words and the first column to the left, numbers to the right."""
        n_words = sum(isinstance(row[column], str) and any(c.isalpha() for c in row[column]) for row in self.rows)
        return "---" if column == 0 or 2 * n_words > len(self.rows) else "---:"

    def _shown(self, cell: object) -> str:
        if cell is None:
            return ""
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, float):
            if math.isnan(cell):
                return ""
            if self.decimals is None:
                return f"{cell:.{DIGITS}g}"
            return f"{cell:.{self.decimals if abs(cell) < LARGE else min(self.decimals, 1)}f}"
        return f"{cell:,}" if isinstance(cell, int) else str(cell)


def published(name: str) -> dict[Any, dict[str, Any]]:
    """The printed figures of a file in the folder `published`: by its first column, then by the names of the others."""
    text = (Path(__file__).with_name("published") / f"{name}.csv").read_text(encoding="utf-8")
    head, *rows = csv.reader(text.splitlines())
    return {_cell(key): dict(zip(head[1:], map(_cell, cells), strict=True)) for key, *cells in rows}


def _cell(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None


def compared(printed: float | None, ours: float) -> tuple[float | None, float, float | None]:
    """Published, ours, and the difference."""
    return printed, ours, None if printed is None else ours - printed


def beside(printed: Mapping[str, float], ours: Mapping[str, float]) -> Iterable[float | None]:
    """The cells of `compared`, one quantity after the other."""
    return chain(*(compared(printed.get(key), value) for key, value in ours.items()))


def possible(results: Mapping[Any, Any], *makers: Callable[[Any], Sheet | list[Sheet]]) -> list[Sheet]:
    """The sheets that the parts at hand allow; a maker that misses a part (KeyError) makes none."""
    made: list[Sheet] = []
    for maker in makers:
        with suppress(KeyError):
            found = maker(results)
            made += [found] if isinstance(found, Sheet) else found
    return made


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    return math.fsum(values) / len(values) if len(values) else math.nan


@contextmanager
def drawing(
    path: Path,
    shape: tuple[int, int] = (1, 1),
    size: tuple[float, float] = (6, 4),
    *,
    is_bare: bool = True,
    **legend: int,
) -> "Iterator[list[Axes]]":
    """Yield axes that belong to no window; then give bare ones legends and the look of our figures, and write a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure, picture = Figure(figsize=size, layout="constrained"), io.BytesIO()
    FigureCanvasAgg(figure)
    axes = figure.subplots(*shape, squeeze=False).ravel().tolist()
    yield axes
    for ax in axes if is_bare else ():
        if ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False, **legend)
        tidy_axes(ax)
    figure.savefig(picture, format="png", dpi=110)
    write_whole(path, picture.getvalue())


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
