"""Where the table is in a text file: the delimiter, the row of names, and the cells of each row.

The layout is detected here, not by a library, because the result must not depend on which of pyarrow, polars, DuckDB
and pandas is installed. These libraries also detect less: of the 31 usable files in `tests/data/test_messy_files.py`,
DuckDB's sniffer reads 17 into the right table, pyarrow 15 and polars 11. `csv.Sniffer` finds a wrong delimiter in 175
of 1,500 random tables with quotes and commas in their cells; `detect_delimiter` finds the right one in all of them.
"""

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .._utils.warn import describe_repeated, format_names, warn
from ..errors import Argument, DataError, ParameterError, Wording
from .cell_text import has_decimal_comma
from .text_options import TextOptions

DELIMITERS = ",;\t|"
BLANKS = " "  # as a delimiter, it stands for any number of blanks
MAX_TITLE_ROWS = 20  # titles above the names

# The cell that each row has in addition to the named columns: a row name at its beginning, as R writes tables, or an
# empty cell after a delimiter at its end.
ExtraCell = Literal["none", "row name", "empty last"]


@dataclass(frozen=True)
class TextLayout:
    """Where the table is in a text file.

    Parameters
    ----------
    first_row : int
        The number of the first row of the table, counted from 1: the row of names if there is one.
    names : tuple of str
    extra_cell : ExtraCell
    has_blank_rows : bool
        Whether some rows have no cell with text.
    has_line_break_in_name : bool
    body : list of lists of str
        The rows below the names, as far as they are in the head of the file.
    """

    first_row: int
    names: tuple[str, ...]
    extra_cell: ExtraCell
    has_blank_rows: bool
    has_line_break_in_name: bool
    body: list[list[str]]

    @property
    def is_regular(self) -> bool:
        """Whether all readers understand the layout."""
        has_other_rows = self.first_row > 1 or self.has_blank_rows
        return not (has_other_rows or self.extra_cell != "none" or self.has_line_break_in_name)


def split_rows(lines: Iterable[str], delimiter: str, path: str) -> Iterator[list[str]]:
    """Yield the cells of each row."""
    if delimiter == BLANKS:
        yield from (line.split() for line in lines)
        return
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        yield from reader
    except TypeError as error:
        raise ParameterError(
            Argument("delimiter", delimiter), " cannot separate cells; one character is needed"
        ) from error
    except csv.Error as error:
        if "field larger than field limit" in str(error):
            raise DataError(
                f"{path}, line {reader.line_num} has a cell of more than {csv.field_size_limit():,} characters; "
                "shorten it (a quotation mark that is never closed makes one cell of all that follows)"
            ) from error
        raise DataError(
            f"{path}, line {reader.line_num} cannot be split into cells ({error}); cells with line breaks need quotes"
        ) from error


def detect_delimiter(head: str, lower_path: str) -> str:
    """Return the delimiter that splits most lines into the same number of cells.

    Blanks are the delimiter only if there are at least three lines, blanks split all of them into the same number of
    cells, and no other delimiter splits the lines. In a file whose name ends in .csv, blanks are never the delimiter:
    without another delimiter, the file has a single column of text.
    """
    if ".tsv" in lower_path:
        return "\t"
    scores: dict[str, tuple[float, int, int]] = {}
    is_split_by_blanks = False
    for preference, delimiter in enumerate([*DELIMITERS, BLANKS]):
        try:
            widths = [len(row) for row in split_rows(io.StringIO(head), delimiter, "") if row]
        except DataError:  # the quotes make no sense with this delimiter
            continue
        width, n_rows = Counter(widths or [0]).most_common(1)[0]
        if width > 1 and delimiter == BLANKS:
            is_split_by_blanks = n_rows == len(widths) > 2
        elif width > 1:
            scores[delimiter] = (n_rows / len(widths), width, -preference)
    if scores:
        return max(scores, key=scores.__getitem__)
    is_csv = lower_path.endswith((".csv", ".csv.gz"))
    return BLANKS if is_split_by_blanks and not is_csv else ","


def detect_layout(rows: list[list[str]], options: TextOptions, path: str) -> TextLayout:
    """Return the layout of a text file, detected from the rows in the head of the file."""
    numbered = list(enumerate(rows, 1))
    filled = [(number, row) for number, row in numbered if any(cell.strip() for cell in row)] or numbered
    width = Counter(len(row) for _, row in filled[1:] or filled).most_common(1)[0][0]
    start = _first_table_row([row for _, row in filled], width)
    first_row, header = filled[start]
    body = [row for _, row in filled[start + 1 :]]
    if start:
        warn(f"{path}: the first {first_row - 1} lines are skipped because they do not have {width} cells")
    extra_cell: ExtraCell = "none"
    if options.has_header:
        names, extra_cell = _read_names(header, body, path)
    else:
        names = tuple(f"column{j + 1}" for j in range(width))
    has_line_break = any(end in cell for cell in header for end in "\r\n")
    return TextLayout(first_row, names, extra_cell, len(filled) < len(rows), has_line_break, body)


def _first_table_row(rows: list[list[str]], width: int) -> int:
    """Return the position of the first row of the table. Titles above it have fewer cells, or one cell with text."""
    if width < 2 or len(rows) < 3:
        return 0
    for position, row in enumerate(rows[: MAX_TITLE_ROWS + 1]):
        if len(row) >= width - 1 and sum(bool(cell.strip()) for cell in row) > 1:
            return position
    return 0


def _read_names(header: list[str], body: list[list[str]], path: str) -> tuple[tuple[str, ...], ExtraCell]:
    """Return the column names in the row `header`, and the extra cell of the rows in `body`."""
    names = [cell.strip().removeprefix("\ufeff") for cell in header]
    extra_cell: ExtraCell = "none"
    if body and all(len(row) == len(names) + 1 for row in body):
        if all(not row[-1].strip() for row in body):
            extra_cell = "empty last"
        elif len({row[0] for row in body}) == len(body):
            extra_cell = "row name"
            names = ["row", *names]
        else:
            raise DataError(
                f"{path}: the first line has {len(names)} names, the rows have {len(names) + 1} cells; name every "
                'column (cells that contain the delimiter need double quotes: "a, b")'
            )
    names = [name or f"column{j + 1}" for j, name in enumerate(names)]
    if repeated := describe_repeated(names):
        raise DataError(
            f"{path}: {repeated}, or ", Wording("pass names=", "give --no-header"), " if the file has no line of names"
        )
    return tuple(names), extra_cell


def detect_decimal(rows: list[list[str]], path: str) -> str:
    """Return "," with a warning if some cell can only be a number with a decimal comma, else "."."""
    if not any(has_decimal_comma(cell) for row in rows for cell in row):
        return "."
    warn(f"{path} writes numbers with a decimal comma; ", Argument("decimal", "."), " would read them as words")
    return ","


def regular_rows(
    rows: Iterator[list[str]], n_skipped: int, n_columns: int, extra_cell: ExtraCell, path: str
) -> Iterator[list[str]]:
    """Yield the rows after the first `n_skipped` that are not blank, and refuse those without `n_columns` cells.

    A row name stays, since it is a column; an empty last cell is removed.
    """
    for number, row in enumerate(itertools.islice(rows, n_skipped, None), n_skipped + 1):
        is_blank = not any(cell.strip() for cell in row)
        # In a file with a single column, a row with one empty cell is a missing value.
        if is_blank and (len(row) != n_columns or n_columns > 1):
            continue
        cells = row[:-1] if extra_cell == "empty last" and len(row) == n_columns + 1 else row
        if len(cells) != n_columns:
            raise DataError(
                f"{path}, row {number}: {len(cells)} cells where {n_columns} are needed ({format_names(cells, 4)}); "
                "correct it (cells that contain the delimiter need quotes), or remove it"
            )
        yield cells
