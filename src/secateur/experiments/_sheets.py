"""Sheet: a table of results, as Markdown to read and as CSV to compute with."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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


def compared(published: float | None, ours: float) -> tuple[float | None, float, float | None]:
    """Published, ours, and the difference."""
    return published, ours, None if published is None else ours - published


def possible(*makers: Callable[[], Iterable[Sheet]]) -> list[Sheet]:
    """The sheets that the parts at hand allow; a maker that misses a part (KeyError) makes none."""
    made: list[Sheet] = []
    for maker in makers:
        try:
            made += maker()
        except KeyError:
            continue
    return made


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    return math.fsum(values) / len(values) if len(values) else math.nan


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
