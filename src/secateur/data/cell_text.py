"""What the cells of a text file mean: numbers with their marks, dates, words without the blanks around them.

A column is looked at by its different values, once each. Where a schema says what a column holds, it is read
as that; else it is numbers if all of its cells are, dates if all are, and words otherwise.
"""

import datetime as dt
import re
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._utils.arrays import Series
from .._utils.warn import format_names, warn
from ..errors import Argument
from .column_warnings import MAX_WORDS_AMONG_NUMBERS, strict_float
from .raw_column import CategoryColumn, NumberColumn, RawColumn, read_series

if TYPE_CHECKING:
    from .text_file import TextOptions

# What a column must be read as. "words" are the words of a column that has some: its numbers stay numbers.
CellType = Literal["number", "integer", "date", "truth", "text", "words"]

MISSING_WORDS = frozenset(
    ("na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "..", "missing", "unknown", "")
)
MANY_NUMBERS = 10  # so many different ones, and `MAX_WORDS_AMONG_NUMBERS` at most, are a column of numbers
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 dates have no zone here
DAY = dt.timedelta(days=1)
_SPACES = str.maketrans("", "", "\u00a0\u202f\u2009'")  # marks of thousands that are no point or comma
_GROUPS = {
    ".": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?").fullmatch,
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?").fullmatch,
}
_BLANK_GROUPS = re.compile(r"[+-]?\d{1,3}(?: \d{3})+(?:[.,]\d*)?").fullmatch
_COMMA = re.compile(r"[+-]?\d*,\d+").fullmatch
_UNITS = "$€£¥%"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_CLOCK = (
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,6})\d*)?)?"
    r"\s*(?P<half>[AaPp][Mm])?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_D, _M, _NAME = r"(?P<day>\d{1,2})", r"(?P<month>\d{1,2})", r"(?P<month>[A-Za-z]{3,9})\.?"
_Y4, _Y = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d\d)"
_YEAR_LAST = {
    order: re.compile(rf"{first}(?P<mark>[-/.]){second}(?P=mark){_Y}{_CLOCK}").fullmatch
    for order, first, second in (("dmy", _D, _M), ("mdy", _M, _D))
}
_OTHERS = [
    re.compile(form + _CLOCK).fullmatch
    for form in (rf"{_Y4}[-/.]{_M}[-/.]{_D}", rf"{_D}[-. ]\s?{_NAME}[-, ]\s?{_Y}", rf"{_NAME} {_D},? {_Y4}")
]


def read_file_column(series: Series, name: str, how: "TextOptions", wanted: CellType | None) -> RawColumn:
    """Return a column of a file: of a narwhals series whose cells may be text still."""
    import narwhals.stable.v2 as nw

    if series.dtype.is_temporal() and how.dates == "text":
        series = series.cast(nw.String)
    if series.dtype.is_temporal():
        return _days(series, name)
    found = None
    if wanted in ("number", "integer") and series.dtype == nw.String and how.decimal != ",":
        found = _cast(series, whole=wanted == "integer")
    return interpret_text(read_series(series, name), name, how, wanted) if found is None else found


def interpret_text(given: RawColumn, name: str, how: "TextOptions", wanted: CellType | None = None) -> RawColumn:
    """Return what a column of words means.

    Examples
    --------
    >>> from secateur.data.text_file import TextOptions
    >>> prices = CategoryColumn(np.array([0, 1, 2]), ("1,250", "7", "NA"))
    >>> interpret_text(prices, "price", TextOptions(), "number").values.tolist()
    [1250.0, 7.0, nan]
    >>> days = CategoryColumn(np.array([0, 1]), ("2024-01-02", "1970-01-03"))
    >>> interpret_text(days, "day", TextOptions(), "date").values.tolist()
    [19724.0, 2.0]
    """
    if not (isinstance(given, CategoryColumn) and given.is_text):
        return given
    words = _trimmed(given, how.na)
    if wanted in ("text", "words") or not words.levels:
        return words
    if wanted == "truth":
        levels = tuple({"true": True, "false": False}.get(word.lower()) for word in words.levels)
        return words if None in levels else CategoryColumn(words.codes, levels).recode((False, True), is_declared=True)
    found = None
    if wanted != "date":
        found = _as_numbers(words, name, how, is_wanted=wanted is not None)
    if found is None and wanted in (None, "date") and how.dates != "text":
        found = _as_dates(words, name, how, is_wanted=wanted is not None)
    return words if found is None else found


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell can only be a number with a decimal comma."""
    cell = cell.strip()
    return "," in cell and (
        (_COMMA(cell) is not None and _GROUPS["."](cell) is None) or (_GROUPS[","](cell) is not None and "." in cell)
    )


def is_cell_of_type(word: str, wanted: CellType, how: "TextOptions") -> bool:
    """Whether a cell is what is wanted, or missing."""
    if word.lower() in MISSING_WORDS:
        return True
    if wanted == "truth":
        return word.lower() in ("true", "false")
    if wanted == "date":
        return any(_day(word, order) is not None for order in ("dmy", "mdy"))
    try:
        parse_number(word, how.decimal or ".")
    except ValueError:
        return False
    return True


def parse_number(cell: str, decimal: str = ".") -> float:
    """Return the number in a cell, with its marks of thousands; ValueError if there is none.

    Examples
    --------
    >>> parse_number("1,234.5"), parse_number("1.234,5", ","), parse_number("23,5", ","), parse_number("$ 12")
    (1234.5, 1234.5, 23.5, 12.0)
    """
    text = cell.translate(_SPACES)
    if text[:1] in _UNITS or text[-1:] in _UNITS:
        text = text.strip(_UNITS).strip()
    if _BLANK_GROUPS(text):
        text = text.replace(" ", "")
    mark = "," if decimal == "." else "."
    if _GROUPS[decimal](text):
        text = text.replace(mark, "")
    return strict_float(text.replace(",", ".", 1) if decimal == "," else text)


def format_date(days: float) -> str:
    """Return days since 1970-01-01 as a date, with the time if there is one.

    Examples
    --------
    >>> format_date(19724.0), format_date(19724.5)
    ('2024-01-02', '2024-01-02 12:00')
    """
    try:
        moment = EPOCH + dt.timedelta(seconds=round(days * 86400))
    except (OverflowError, ValueError):
        return repr(days)
    shown = "%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M" if moment.second == 0 else "%Y-%m-%d %H:%M:%S"
    return moment.strftime(shown)


def _trimmed(given: CategoryColumn, na: tuple[str, ...]) -> CategoryColumn:
    """Words without blanks around them; those that mean missing are."""
    found = [level.strip() for level in given.levels]
    if all(word == level and word not in na for word, level in zip(found, given.levels, strict=True)):
        return given
    levels = sorted({word for word in found if word not in na})
    return CategoryColumn(given.codes, tuple(found)).recode(levels, is_declared=given.is_declared)


def _as_numbers(words: CategoryColumn, name: str, how: "TextOptions", *, is_wanted: bool) -> NumberColumn | None:
    """Numbers, if all cells are but for words that mean missing, or for few words among many numbers."""
    values, gaps, marked, n_odd = [], [], "", 0
    for word in words.levels:
        try:
            values.append(parse_number(word, how.decimal or "."))
            if not marked and any(mark in word for mark in (",", "'", " ", *_UNITS)) and how.decimal != ",":
                marked = word
        except ValueError:
            n_odd += word.lower() not in MISSING_WORDS
            if n_odd > MAX_WORDS_AMONG_NUMBERS:
                return None
            gaps.append(word)
            values.append(np.nan)
    if len(gaps) == len(values) or (n_odd and len(values) - len(gaps) < MANY_NUMBERS):
        return None
    if gaps and (n_odd or not is_wanted):
        n_gaps = int(np.isin(words.codes, [k for k, word in enumerate(words.levels) if word in gaps]).sum())
        warn(
            f"column {name!r}: {format_names(gaps)} among numbers is read as missing ({n_gaps:,} rows); ",
            Argument("nominal", [name]),
            " keeps the words as categories",
        )
    if marked and not is_wanted:
        warn(f"column {name!r}: {marked!r} is read as the number {parse_number(marked, how.decimal or '.'):.15g}")
    return NumberColumn(np.array([*values, np.nan])[words.codes])  # the last is where -1 points


def _as_dates(words: CategoryColumn, name: str, how: "TextOptions", *, is_wanted: bool) -> NumberColumn | None:
    for order in (how.dates,) if how.dates != "auto" else ("dmy", "mdy"):
        days: list[float] = []
        for word in words.levels:
            day = np.nan if word.lower() in MISSING_WORDS else _day(word, order)
            if day is None:
                break
            days.append(day)
        else:
            if np.isnan(days).all():
                return None
            if not is_wanted:
                _tell_dates(words, name, how, order)
            return NumberColumn(np.array([*days, np.nan])[words.codes], is_date=True)
    return None


def _tell_dates(words: CategoryColumn, name: str, how: "TextOptions", order: str) -> None:
    if how.dates == "auto" and order == "dmy":
        swapped = {word: _day(word, "mdy") for word in words.levels if _YEAR_LAST[order](word)}
        unsure = [word for word, day in swapped.items() if day != _day(word, order)]
        if unsure and None not in swapped.values():
            warn(
                f"column {name!r}: {unsure[0]!r} is read with the day first; use ",
                Argument("dates", "mdy"),
                " if the month is first",
            )
            return
    warn(f"column {name!r} is read as dates (days since 1970-01-01); ", Argument("dates", "text"), " keeps the text")


def _day(word: str, order: str) -> float | None:
    """Days since 1970-01-01; None if it is no date."""
    found = next(filter(None, (form(word) for form in (_YEAR_LAST[order], *_OTHERS))), None)
    if found is None:
        return None
    hours, minutes, seconds, year = (int(found[name] or 0) for name in ("hour", "minute", "second", "year"))
    month, half, zone = found["month"].lower(), found["half"], found["zone"]
    try:
        moment = dt.datetime(  # noqa: DTZ001 dates have no zone here
            year if year > 99 else year + (1900 if year > 68 else 2000),  # as POSIX has it
            int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1,
            int(found["day"]),
        )
    except ValueError:
        return None
    if half:
        hours = hours % 12 + 12 * (half.lower() == "pm")
    if hours > 24 or minutes > 59:
        return None
    ahead = int(f"{zone[0]}1") * (3600 * int(zone[1:3]) + 60 * int(zone[-2:])) if zone and zone != "Z" else 0
    seconds_of_day = 3600 * hours + 60 * minutes + seconds + float(f"0.{found['part'] or 0}") - ahead
    return (moment - EPOCH) / DAY + seconds_of_day / 86400


def _days(series: Series, name: str) -> NumberColumn:
    """A column of dates or times of a file as days since 1970-01-01; times of day and spans as hours."""
    import narwhals.stable.v2 as nw

    dtype, missing = series.dtype, series.is_null().to_numpy()
    if isinstance(dtype, nw.Time | nw.Duration):
        warn(f"column {name!r} holds times of day or spans of time and is read as hours")
        return NumberColumn(np.array([np.nan if one is None else _hours(one) for one in series.to_list()]))
    if isinstance(dtype, nw.Datetime) and dtype.time_zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    micro = series.cast(nw.Datetime("us")).dt.timestamp("us").fill_null(0).to_numpy().astype(np.int64)
    days = micro // 86_400_000_000 + (micro % 86_400_000_000) / 86_400_000_000
    warn(f"column {name!r} is read as dates (days since 1970-01-01); ", Argument("dates", "text"), " keeps the text")
    return NumberColumn(np.where(missing, np.nan, days), is_date=True)


def _hours(one: dt.time | dt.timedelta) -> float:
    if isinstance(one, dt.timedelta):
        return one / dt.timedelta(hours=1)
    return one.hour + one.minute / 60 + (one.second + one.microsecond / 1e6) / 3600


def _cast(series: Series, *, whole: bool) -> NumberColumn | None:
    """Text as numbers where a library can do it at once; None if a cell is no plain number."""
    import narwhals.stable.v2 as nw

    if series.implementation.is_pandas_like():
        return None
    try:
        found = read_series(series.str.strip_chars().cast(nw.Int64 if whole else nw.Float64), "")
    except Exception:  # noqa: BLE001 the libraries' own errors have no common base
        return None
    return found if isinstance(found, NumberColumn) else None
