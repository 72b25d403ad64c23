"""The meaning of the cells of a text file: numbers in many notations, dates, or text without surrounding blanks.

Each distinct cell of a column is looked at once. If a schema states the type of the column, the cells are read as that
type. Otherwise the column holds numbers if all cells are numbers, dates if all are dates, and text in all other cases.

Libraries convert only plain numbers such as 1234.5 and ISO dates. Thousands separators, currency signs, words for
missing values ("n/a", "-") and dates such as "4 March 2024" are not read as numbers and dates by pyarrow, polars or
DuckDB, so their cells are passed to this module as text.
"""

import re
from typing import Literal

import numpy as np

from .._utils.arrays import Series
from .._utils.warn import format_names, warn
from ..errors import Argument, show
from .dates import is_ambiguous_format, parse_date, read_temporal_series, warn_dates
from .raw_column import CategoryColumn, NumberColumn, RawColumn, read_series, strict_float
from .text_options import TextOptions

# The type as which the cells of a column must be read. "nominal" is for a column that the user calls nominal: text
# stays text, while numbers that a library has recognised stay numbers.
CellType = Literal["number", "integer", "date", "boolean", "text", "nominal"]

# In lower case. Among numbers and dates, these words mean "missing".
MISSING_WORDS = frozenset(
    ("na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "..", "missing", "unknown", "")
)
# A column of numbers may contain a few words that are not in MISSING_WORDS. It is read as text if it has fewer distinct
# numbers, or more distinct words.
MIN_NUMBERS_AMONG_WORDS = 10
MAX_WORDS_AMONG_NUMBERS = 3
UNITS = "$€£¥%"
_THOUSANDS_SPACES = str.maketrans("", "", "\u00a0\u202f\u2009'")  # separators that cannot be a decimal mark
_HAS_BLANK_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?: \d{3})+(?:[.,]\d*)?").fullmatch
_HAS_THOUSANDS = {  # by decimal mark
    ".": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?").fullmatch,
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?").fullmatch,
}
_HAS_ONE_COMMA = re.compile(r"[+-]?\d*,\d+").fullmatch


def read_file_column(series: Series, name: str, options: TextOptions, cell_type: CellType | None) -> RawColumn:
    """Return a column of a file that a library has read. Its cells may still be text.

    Parameters
    ----------
    series : narwhals series
    name : str
        What messages call the column.
    options : TextOptions
    cell_type : CellType, optional
        The type as which the cells are read; by default it is detected.
    """
    import narwhals.stable.v2 as nw

    if series.dtype.is_temporal():
        if options.dates != "text":
            return read_temporal_series(series, name)
        series = series.cast(nw.String)
    if cell_type in ("number", "integer") and series.dtype == nw.String and options.decimal != ",":
        numbers = _cast_to_numbers(series, is_integer=cell_type == "integer")
        if numbers is not None:
            return numbers
    return interpret_text(read_series(series, name), name, options, cell_type)


def interpret_text(column: RawColumn, name: str, options: TextOptions, cell_type: CellType | None = None) -> RawColumn:
    """Return the numbers, dates or booleans that a column of text spells, or the column itself.

    Examples
    --------
    >>> cells = CategoryColumn(np.array([0, 1, 2]), ("1,250", "7", "NA"))
    >>> interpret_text(cells, "x", TextOptions(), "number").values.tolist()
    [1250.0, 7.0, nan]
    >>> cells = CategoryColumn(np.array([0, 1]), ("2024-01-02", "1970-01-03"))
    >>> interpret_text(cells, "x", TextOptions(), "date").values.tolist()
    [19724.0, 2.0]
    """
    if not (isinstance(column, CategoryColumn) and column.is_text):
        return column
    column = _strip_cells(column, options.na)
    if cell_type in ("text", "nominal") or not column.categories:
        return column
    if cell_type == "boolean":
        return _parse_booleans(column)
    is_requested = cell_type is not None
    parsed = None
    if cell_type != "date":
        parsed = _parse_numbers(column, name, options, is_requested=is_requested)
    if parsed is None and cell_type in (None, "date") and options.dates != "text":
        parsed = _parse_dates(column, name, options, is_requested=is_requested)
    return column if parsed is None else parsed


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell can only be a number with a decimal comma."""
    cell = cell.strip()
    if "," not in cell:
        return False
    if _HAS_ONE_COMMA(cell):
        return _HAS_THOUSANDS["."](cell) is None  # 1,234 may also be a whole number
    return _HAS_THOUSANDS[","](cell) is not None and "." in cell


def is_cell_of_type(cell: str, cell_type: CellType, options: TextOptions) -> bool:
    """Return whether a cell has the type "number", "integer", "date" or "boolean", or means "missing"."""
    if cell.lower() in MISSING_WORDS:
        return True
    if cell_type == "boolean":
        return cell.lower() in ("true", "false")
    if cell_type == "date":
        return any(parse_date(cell, order) is not None for order in ("dmy", "mdy"))
    try:
        parse_number(cell, options.decimal or ".")
    except ValueError:
        return False
    return True


def parse_number(cell: str, decimal: str = ".") -> float:
    """Return the number in a cell, which may have thousands separators and a unit. Raise ValueError if there is none.

    Examples
    --------
    >>> parse_number("1,234.5"), parse_number("1.234,5", ","), parse_number("23,5", ","), parse_number("$ 12")
    (1234.5, 1234.5, 23.5, 12.0)
    """
    text = cell.translate(_THOUSANDS_SPACES)
    if text[:1] in UNITS or text[-1:] in UNITS:
        text = text.strip(UNITS).strip()
    if _HAS_BLANK_THOUSANDS(text):
        text = text.replace(" ", "")
    if _HAS_THOUSANDS[decimal](text):
        text = text.replace("," if decimal == "." else ".", "")
    return strict_float(text.replace(",", ".", 1) if decimal == "," else text)


def _strip_cells(column: CategoryColumn, na: tuple[str, ...]) -> CategoryColumn:
    """Return a column of text without blanks around the cells, in which the cells `na` are missing."""
    stripped = [category.strip() for category in column.categories]
    if list(column.categories) == stripped and not set(stripped).intersection(na):
        return column
    categories = sorted({cell for cell in stripped if cell not in na})
    return CategoryColumn(column.codes, tuple(stripped)).recode(categories, is_declared=column.is_declared)


def _parse_booleans(column: CategoryColumn) -> CategoryColumn:
    """Return a column of true and false as booleans, or unchanged if it holds another word."""
    booleans = {"true": True, "false": False}
    categories = tuple(booleans.get(cell.lower()) for cell in column.categories)
    if None in categories:
        return column
    return CategoryColumn(column.codes, categories).recode((False, True), is_declared=True)


def _parse_numbers(
    column: CategoryColumn, name: str, options: TextOptions, *, is_requested: bool
) -> NumberColumn | None:
    """Return a column of text as numbers, or None if it holds too many words.

    Words that mean "missing" become missing values. A few other words among many numbers do too, with a warning.
    """
    decimal = options.decimal or "."
    numbers: list[float] = []
    words: list[str] = []
    n_unknown_words = 0
    for cell in column.categories:
        try:
            numbers.append(parse_number(cell, decimal))
        except ValueError:
            numbers.append(np.nan)
            words.append(cell)
            n_unknown_words += cell.lower() not in MISSING_WORDS
            if n_unknown_words > MAX_WORDS_AMONG_NUMBERS:
                return None
    n_numbers = len(numbers) - len(words)
    if n_numbers == 0 or (n_unknown_words and n_numbers < MIN_NUMBERS_AMONG_WORDS):
        return None
    if words and (n_unknown_words or not is_requested):
        word_codes = [code for code, cell in enumerate(column.categories) if cell in words]
        n_rows = int(np.isin(column.codes, word_codes).sum())
        warn(
            f"column {show(name)}: {format_names(words)} among numbers is read as missing ({n_rows:,} rows); ",
            Argument("nominal", [name]),
            " keeps the words as categories",
        )
    if decimal != "," and not is_requested:
        _warn_notation(column, words, name)
    return NumberColumn(np.array([*numbers, np.nan])[column.codes])  # the code -1 selects NaN


def _warn_notation(column: CategoryColumn, words: list[str], name: str) -> None:
    """Warn how the first number with a thousands separator or a unit is read."""
    for cell in column.categories:
        if cell not in words and any(mark in cell for mark in (",", "'", " ", *UNITS)):
            warn(f"column {show(name)}: {show(cell)} is read as the number {parse_number(cell):.15g}")
            return


def _parse_dates(column: CategoryColumn, name: str, options: TextOptions, *, is_requested: bool) -> NumberColumn | None:
    """Return a column of text as dates, or None if a cell is neither a date nor a word that means "missing"."""
    orders = ("dmy", "mdy") if options.dates == "auto" else (options.dates,)
    for order in orders:
        days = _days_of_cells(column, order)
        if days is None:
            continue
        if np.isnan(days).all():
            return None
        if not is_requested:
            if options.dates == "auto" and order == "dmy":
                _warn_day_first(column, name)
            else:
                warn_dates(name)
        return NumberColumn(np.array([*days, np.nan])[column.codes], is_date=True)  # the code -1 selects NaN
    return None


def _days_of_cells(column: CategoryColumn, order: str) -> list[float] | None:
    """Return the date of each distinct cell, NaN for words that mean "missing"; None if a cell is no date."""
    days: list[float] = []
    for cell in column.categories:
        day = np.nan if cell.lower() in MISSING_WORDS else parse_date(cell, order)
        if day is None:
            return None
        days.append(day)
    return days


def _warn_day_first(column: CategoryColumn, name: str) -> None:
    """Warn that dates are read with the day first, if the month could be first in all of them.

    Otherwise warn only that the column is read as dates.
    """
    ambiguous = [cell for cell in column.categories if is_ambiguous_format(cell)]
    month_first = [parse_date(cell, "mdy") for cell in ambiguous]
    if None not in month_first:
        for cell, day in zip(ambiguous, month_first, strict=True):
            if day != parse_date(cell, "dmy"):
                warn(
                    f"column {show(name)}: {show(cell)} is read with the day first; use ",
                    Argument("dates", "mdy"),
                    " if the month is first",
                )
                return
    warn_dates(name)


def _cast_to_numbers(series: Series, *, is_integer: bool) -> NumberColumn | None:
    """Return a narwhals series of text as numbers, converted by its library; None if a cell is no plain number."""
    import narwhals.stable.v2 as nw

    if series.implementation.is_pandas_like():
        return None
    try:
        column = read_series(series.str.strip_chars().cast(nw.Int64 if is_integer else nw.Float64), "")
    except Exception:  # noqa: BLE001 the errors of the libraries have no common base class
        return None
    return column if isinstance(column, NumberColumn) else None
