"""Tables of results, printed figures beside ours, sentences and pictures: shared by all experiments."""

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

import numpy as np
import scipy.stats

from ..plot.display import CYCLE, tidy_axes
from ._study import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CYCLE", "Row", "Sheet", "available_sentences", "available_sheets", "comparison_cells", "draw_means", "label_ticks",
    "mean", "mean_interval", "new_figure", "printed_and_ours", "printed_figures", "value_range",
]  # fmt: skip

SIGNIFICANT_DIGITS = 4
MIN_VALUE_WITH_ONE_DECIMAL = 100  # larger values are shown with at most one decimal
CONFIDENCE = 0.95  # of the intervals in figures
# The formats of figures, each with the metadata that leaves out the date, so that equal figures are equal files.
FIGURE_FORMATS: dict[str, dict[str, str | None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
# Text stays text in SVG, and fonts are embedded as outlines that can be edited in PDF.
VECTOR_OPTIONS = {"svg.fonttype": "none", "svg.hashsalt": "secateur", "pdf.fonttype": 42}
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
            _markdown_row(["---" if is_text else "---:" for is_text in self.is_text_column]),
        ]
        lines += [_markdown_row(cells) for cells in self.formatted_rows]
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

    @property
    def formatted_rows(self) -> list[list[str]]:
        """The cells as they are shown."""
        return [[self._format_cell(cell) for cell in row] for row in self.rows]

    @property
    def is_text_column(self) -> list[bool]:
        """Whether each column is aligned left: the first column, and those with words in most rows."""
        return [self._has_words(column) for column in range(len(self.head))]

    def _has_words(self, column: int) -> bool:
        n_words = sum(isinstance(row[column], str) and any(c.isalpha() for c in row[column]) for row in self.rows)
        return column == 0 or 2 * n_words > len(self.rows)

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


def available_sentences(results: Mapping[Any, Any], *makers: Callable[[Any], str]) -> list[str]:
    """Return the sentences whose parts have run; a maker raises `KeyError` or returns "" if one has not."""
    sentences = []
    for maker in makers:
        with suppress(KeyError):
            sentences.append(maker(results))
    return [sentence for sentence in sentences if sentence]


def mean(values: Sequence[float]) -> float:
    """Return the mean of the values; NaN if there are none."""
    return math.fsum(values) / len(values) if len(values) else math.nan


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the distances of the ends of the t interval from the mean of independent values; zeros for one value."""
    if len(values) < 2:
        return 0.0, 0.0
    quantile = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    half_width = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return half_width, half_width


def value_range(values: Sequence[float]) -> tuple[float, float]:
    """Return the distances of the smallest and the largest value from the mean.

    Random splits of one set share most of their rows. They are not independent, so an interval would be too narrow.
    """
    centre = mean(values)
    return centre - min(values), max(values) - centre


def draw_means(
    ax: "Axes",
    x: Sequence[float],
    samples: Sequence[Sequence[float]],
    style: str = "o-",
    *,
    spread: Callable[[Sequence[float]], tuple[float, float]] = mean_interval,
    **options: Any,
) -> None:
    """Draw the mean of each sample, with a vertical line over its interval or its range.

    Parameters
    ----------
    ax : axes
    x : sequence of float
        The position of each sample.
    samples : sequence of sequences of float
    style : str
        Format of the marks and lines.
    spread : function
        `mean_interval` for independent values, `value_range` for splits of one set.
    **options
        Passed on to `Axes.errorbar`.
    """
    distances = np.transpose([spread(sample) for sample in samples])
    ax.errorbar(x, [mean(sample) for sample in samples], distances, fmt=style, **{"elinewidth": 0.9, **options})


def label_ticks(ax: "Axes", ticks: Sequence[float]) -> None:
    """Put ticks at the given places of the horizontal axis only, with their numbers written out."""
    ax.set_xticks(ticks, [f"{tick:,g}" if tick < 1_000 else f"{tick:,.0f}" for tick in ticks])
    ax.minorticks_off()


@contextmanager
def new_figure(
    path: Path,
    shape: tuple[int, int] = (1, 1),
    size: tuple[float, float] = (6, 4),
    *,
    is_bare: bool = True,
    **legend: int,
) -> "Iterator[list[Axes]]":
    """Yield the axes of a new figure, then write the figure as PNG, SVG and PDF.

    With `is_bare`, a legend and the style of the project are added to the axes before the figure is written. Legends
    are on the right of the axes, not on the data. Neighbours with the same legend share one.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(*shape, squeeze=False).ravel().tolist()
    yield axes
    for i, ax in enumerate(axes if is_bare else ()):
        labels = ax.get_legend_handles_labels()[1]
        is_last_in_row = (i + 1) % shape[1] == 0
        if labels and (is_last_in_row or axes[i + 1].get_legend_handles_labels()[1] != labels):
            ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, **legend)
        tidy_axes(ax)
    with mpl.rc_context(VECTOR_OPTIONS):
        for file_format, metadata in FIGURE_FORMATS.items():
            picture = io.BytesIO()
            figure.savefig(picture, format=file_format, dpi=110, metadata=metadata)
            figure.set_layout_engine("none")  # the first format has determined the layout
            write_atomically(path.with_suffix(f".{file_format}"), picture.getvalue())


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
