"""Tables of results, printed figures beside ours, and pictures: shared by all experiments."""

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
from ._study import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CYCLE", "Row", "Sheet", "available_sheets", "comparison_cells", "mean", "new_figure", "printed_and_ours",
    "printed_figures",
]  # fmt: skip

SIGNIFICANT_DIGITS = 4
MIN_VALUE_WITH_ONE_DECIMAL = 100  # larger values are shown with at most one decimal
Row = Sequence[Any]  # text, numbers and booleans; None is shown as an empty cell


@dataclass(frozen=True)
class Sheet:
    """A titled table of an experiment.

    Parameters
    ----------
    key : str
        Name within the experiment, and of the CSV file.
    title : str
    head : sequence of str
        Headings of the columns.
    rows : sequence of rows
    note : str
        A remark below the table.
    decimals : int, optional
        Digits after the point, but at most one from 100 on. By default, numbers have four significant digits.
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
        """Return the table as Markdown, below its title."""
        lines = [
            f"**{self.title}**",
            "",
            _markdown_row(self.head),
            _markdown_row([self._alignment(i) for i in range(len(self.head))]),
        ]
        lines += [_markdown_row([self._format_cell(cell) for cell in row]) for row in self.rows]
        return "\n".join([*lines, "", self.note, ""] if self.note else [*lines, ""])

    def csv(self) -> str:
        """Return the table as CSV, with numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def column(self, name: str) -> list[Any]:
        """Return the cells of the column that has the heading `name`."""
        at = self.head.index(name)
        return [row[at] for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        return {"key": self.key, "title": self.title, "head": list(self.head), "rows": [list(row) for row in self.rows]}

    def _alignment(self, column: int) -> str:
        """Return the Markdown alignment of a column: text and the first column left, numbers right."""
        n_words = sum(isinstance(row[column], str) and any(c.isalpha() for c in row[column]) for row in self.rows)
        return "---" if column == 0 or 2 * n_words > len(self.rows) else "---:"

    def _format_cell(self, cell: object) -> str:
        if cell is None:
            return ""
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, float):
            if math.isnan(cell):
                return ""
            if self.decimals is None:
                return f"{cell:.{SIGNIFICANT_DIGITS}g}"
            return f"{cell:.{self.decimals if abs(cell) < MIN_VALUE_WITH_ONE_DECIMAL else min(self.decimals, 1)}f}"
        return f"{cell:,}" if isinstance(cell, int) else str(cell)


def printed_figures(name: str) -> dict[Any, dict[str, Any]]:
    """Read the printed figures of a file in the folder `published`, keyed by the first column and the headings."""
    text = (Path(__file__).with_name("published") / f"{name}.csv").read_text(encoding="utf-8")
    head, *rows = csv.reader(text.splitlines())
    return {_cell(key): dict(zip(head[1:], map(_cell, cells), strict=True)) for key, *cells in rows}


def _cell(text: str) -> Any:
    """Return a cell of a CSV file as a number or boolean if it is one, else as text; None if it is empty."""
    try:
        return json.loads(text)
    except ValueError:
        return text or None


def printed_and_ours(printed: float | None, ours: float) -> tuple[float | None, float, float | None]:
    """Return the printed value, ours, and the difference; None where nothing is printed."""
    return printed, ours, None if printed is None else ours - printed


def comparison_cells(printed: Mapping[str, float], ours: Mapping[str, float]) -> Iterable[float | None]:
    """Return the cells of `printed_and_ours` for each quantity in turn."""
    return chain(*(printed_and_ours(printed.get(key), value) for key, value in ours.items()))


def available_sheets(results: Mapping[Any, Any], *makers: Callable[[Any], Sheet | list[Sheet]]) -> list[Sheet]:
    """Return the sheets whose parts have run; a maker raises `KeyError` if one has not."""
    sheets: list[Sheet] = []
    for maker in makers:
        with suppress(KeyError):
            made = maker(results)
            sheets += [made] if isinstance(made, Sheet) else made
    return sheets


def mean(values: Sequence[float]) -> float:
    """Return the mean of the values; NaN if there are none."""
    return math.fsum(values) / len(values) if len(values) else math.nan


@contextmanager
def new_figure(
    path: Path,
    shape: tuple[int, int] = (1, 1),
    size: tuple[float, float] = (6, 4),
    *,
    is_bare: bool = True,
    **legend: int,
) -> "Iterator[list[Axes]]":
    """Yield the axes of a new figure, then write the figure as PNG.

    With `is_bare`, a legend and the style of the project are added to the axes before the figure is written.
    """
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
    write_atomically(path, picture.getvalue())


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
