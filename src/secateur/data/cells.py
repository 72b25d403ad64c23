"""What the cells of a text file mean: numbers with their marks, dates, words without the blanks around them.

A column is looked at by its different values, once each. Where a schema says what a column holds, it is read
as that; else it is numbers if all of its cells are, dates if all are, and words otherwise.
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from .arrays import Array, Series
from .columns import Coded, Given, Numbers, family, read_series
from .remarks import FEW_WORDS, listed, spelled, tell

if TYPE_CHECKING:
    from .textfile import Csv

# What a column must be read as. "words" are the words of a column that has some: its numbers stay numbers.
Wanted = Literal["number", "integer", "date", "truth", "text", "words"]

MISSING_WORDS = frozenset(
    ("na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "..", "missing", "unknown", "")
)
MANY_NUMBERS = 10  # so many different ones, and `FEW_WORDS` at most, are a column of numbers
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
_MONTHS = {
    name: k + 1
    for k, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905
}
_CLOCK = r"(?:[T ](\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?\s*([AaPp][Mm])?(Z|[+-]\d\d:?\d\d)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_CLOCK}").fullmatch
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d\d){_CLOCK}").fullmatch
_NAMED = re.compile(rf"(\d{{1,2}})[-. ]\s?([A-Za-z]{{3,9}})\.?[-, ]\s?(\d{{4}}|\d\d){_CLOCK}").fullmatch
_NAMED_FIRST = re.compile(rf"([A-Za-z]{{3,9}})\.? (\d{{1,2}}),? (\d{{4}}){_CLOCK}").fullmatch


def read_column(series: Series, name: str, how: "Csv", wanted: Wanted | None) -> Given:
    """Return a column of a file: of a narwhals series whose cells may be text still."""
    import narwhals.stable.v2 as nw

    if series.dtype.is_temporal() and how.dates == "text":
        series = series.cast(nw.String)
    if series.dtype.is_temporal():
        return _days(series, name)
    if wanted in ("number", "integer") and series.dtype == nw.String and how.decimal != ",":
        found = _cast(series, whole=wanted == "integer")
        if found is not None:
            return found
    return meant(read_series(series, name), name, how, wanted)


def meant(given: Given, name: str, how: "Csv", wanted: Wanted | None = None) -> Given:
    """Return what a column of words means.

    Examples
    --------
    >>> from secateur.data.textfile import Csv
    >>> meant(Coded(np.array([0, 1, 2]), ("1,250", "7", "NA")), "x", Csv(), "number").values.tolist()
    [1250.0, 7.0, nan]
    >>> meant(Coded(np.array([0, 1]), ("2024-01-02", "1970-01-03")), "x", Csv(), "date").values.tolist()
    [19724.0, 2.0]
    """
    if not isinstance(given, Coded) or family(given) != "text":
        return given
    words = _trimmed(given, how.na)
    if wanted in ("text", "words") or not words.levels:
        return words
    if wanted == "truth":
        truths = [word.lower() for word in words.levels]
        if set(truths) <= {"true", "false"}:
            return Coded(_looked_up(words, [word == "true" for word in truths]).astype(np.int32), (False, True), True)
        return words
    if wanted != "date":
        found = _as_numbers(words, name, how, is_wanted=wanted is not None)
        if found is not None:
            return found
    if wanted in (None, "date") and how.dates != "text":
        found = _as_dates(words, name, how, is_wanted=wanted is not None)
        if found is not None:
            return found
    return words


def is_decimal_comma(cell: str) -> bool:
    """Whether a cell can only be a number with a decimal comma."""
    cell = cell.strip()
    return "," in cell and (
        (_COMMA(cell) is not None and _GROUPS["."](cell) is None) or (_GROUPS[","](cell) is not None and "." in cell)
    )


def is_a(word: str, wanted: Wanted, how: "Csv") -> bool:
    """Whether a cell is what is wanted, or missing."""
    if word.lower() in MISSING_WORDS:
        return True
    if wanted == "truth":
        return word.lower() in ("true", "false")
    if wanted == "date":
        return any(_day(word, order) is not None for order in ("dmy", "mdy"))
    try:
        number_in(word, how.decimal or ".")
    except ValueError:
        return False
    return True


def number_in(cell: str, decimal: str = ".") -> float:
    """Return the number in a cell, with its marks of thousands; ValueError if there is none.

    Examples
    --------
    >>> number_in("1,234.5"), number_in("1.234,5", ","), number_in("23,5", ","), number_in("$ 12")
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
    return spelled(text.replace(",", ".", 1) if decimal == "," else text)


def day_text(days: float) -> str:
    """Return days since 1970-01-01 as a date, with the time if there is one.

    Examples
    --------
    >>> day_text(19724.0), day_text(19724.5)
    ('2024-01-02', '2024-01-02 12:00')
    """
    try:
        moment = EPOCH + dt.timedelta(seconds=round(days * 86400))
    except (OverflowError, ValueError):
        return repr(days)
    shown = "%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M" if moment.second == 0 else "%Y-%m-%d %H:%M:%S"
    return moment.strftime(shown)


def _trimmed(given: Coded, na: tuple[str, ...]) -> Coded:
    """Words without blanks around them; those that mean missing are."""
    found = [level.strip() for level in given.levels]
    if all(word == level and word not in na for word, level in zip(found, given.levels, strict=True)):
        return given
    levels = sorted({word for word in found if word not in na})
    number = {word: k for k, word in enumerate(levels)}
    lookup = np.array([*(number.get(word, -1) for word in found), -1], np.int32)  # the last is where -1 points
    return Coded(lookup[given.codes], tuple(levels), given.is_declared)


def _looked_up(words: Coded, values: Sequence[float]) -> Array:
    found: Array = np.array([*values, np.nan if isinstance(values[0], float) else -1])[words.codes]
    return found


def _as_numbers(words: Coded, name: str, how: "Csv", *, is_wanted: bool) -> Numbers | None:
    """Numbers, if all cells are but for words that mean missing, or for few words among many numbers."""
    values, gaps, marked, n_odd = [], [], "", 0
    for word in words.levels:
        try:
            values.append(number_in(word, how.decimal or "."))
            if not marked and any(mark in word for mark in (",", "'", " ", *_UNITS)) and how.decimal != ",":
                marked = word
        except ValueError:
            n_odd += word.lower() not in MISSING_WORDS
            if n_odd > FEW_WORDS:
                return None
            gaps.append(word)
            values.append(np.nan)
    if len(gaps) == len(values) or (n_odd and len(values) - len(gaps) < MANY_NUMBERS):
        return None
    if gaps and (n_odd or not is_wanted):
        n_gaps = int(np.isin(words.codes, [k for k, word in enumerate(words.levels) if word in gaps]).sum())
        tell(f"column {name!r}: {listed(gaps)} among numbers is read as missing ({n_gaps:,} rows); nominal= keeps it")
    if marked and not is_wanted:
        tell(f"column {name!r}: {marked!r} is read as the number {number_in(marked, how.decimal or '.'):.15g}")
    return Numbers(_looked_up(words, values))


def _as_dates(words: Coded, name: str, how: "Csv", *, is_wanted: bool) -> Numbers | None:
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
            return Numbers(_looked_up(words, days), None, is_date=True)
    return None


def _tell_dates(words: Coded, name: str, how: "Csv", order: str) -> None:
    if how.dates == "auto" and order == "dmy":
        swapped = {word: _day(word, "mdy") for word in words.levels if _YEAR_LAST(word)}
        unsure = [word for word, day in swapped.items() if day != _day(word, order)]
        if unsure and None not in swapped.values():
            tell(f"column {name!r}: {unsure[0]!r} is read with the day first; use dates='mdy' if the month is first")
            return
    tell(f"column {name!r} is read as dates (days since 1970-01-01); dates='text' keeps the text")


def _day(word: str, order: str) -> float | None:
    """Days since 1970-01-01; None if it is no date."""
    for match, parts in _FORMS:
        found = match(word)
        if found is None:
            continue
        try:
            year, month, day = parts(found, order)
            clock = found.groups()[-6:]
            moment = dt.datetime(_century(year), month, day)  # noqa: DTZ001 dates have no zone here
        except (KeyError, ValueError):
            return None
        seconds = _seconds(clock)
        return None if seconds is None else (moment - EPOCH) / DAY + seconds / 86400
    return None


def _century(year: int) -> int:
    return year if year > 99 else year + (1900 if year > 68 else 2000)  # as POSIX has it


def _seconds(clock: tuple[str | None, ...]) -> float | None:
    hour, minute, second, part, half, zone = clock
    if hour is None:
        return 0.0
    hours = int(hour)
    if half:
        hours = hours % 12 + 12 * (half.lower() == "pm")
    if hours > 24 or int(minute or 0) > 59:
        return None
    ahead = 0
    if zone and zone != "Z":
        ahead = (1 if zone[0] == "+" else -1) * (3600 * int(zone[1:3]) + 60 * int(zone[-2:]))
    return 3600 * hours + 60 * int(minute or 0) + int(second or 0) + float(f"0.{part or 0}") - ahead


def _month(name: str) -> int:
    return _MONTHS[name[:3].lower()]


_Match = re.Match[str]
_FORMS: tuple[tuple[Callable[[str], _Match | None], Callable[[_Match, str], tuple[int, int, int]]], ...] = (
    (_YEAR_FIRST, lambda m, _: (int(m[1]), int(m[2]), int(m[3]))),
    (_YEAR_LAST, lambda m, o: (int(m[4]), int(m[3 if o != "mdy" else 1]), int(m[1 if o != "mdy" else 3]))),
    (_NAMED, lambda m, _: (int(m[3]), _month(m[2]), int(m[1]))),
    (_NAMED_FIRST, lambda m, _: (int(m[3]), _month(m[1]), int(m[2]))),
)


def _days(series: Series, name: str) -> Numbers:
    """A column of dates or times of a file as days since 1970-01-01; times of day and spans as hours."""
    import narwhals.stable.v2 as nw

    dtype, missing = series.dtype, series.is_null().to_numpy()
    if isinstance(dtype, nw.Time | nw.Duration):
        tell(f"column {name!r} holds times of day or spans of time and is read as hours")
        cells = [np.nan if one is None else _hours(one) for one in series.to_list()]
        return Numbers(np.array(cells, float))
    if isinstance(dtype, nw.Datetime) and dtype.time_zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    micro = series.cast(nw.Datetime("us")).dt.timestamp("us").fill_null(0).to_numpy().astype(np.int64)
    days = micro // 86_400_000_000 + (micro % 86_400_000_000) / 86_400_000_000
    tell(f"column {name!r} is read as dates (days since 1970-01-01); dates='text' keeps the text")
    return Numbers(np.where(missing, np.nan, days), None, is_date=True)


def _hours(one: dt.time | dt.timedelta) -> float:
    if isinstance(one, dt.timedelta):
        return one / dt.timedelta(hours=1)
    return one.hour + one.minute / 60 + (one.second + one.microsecond / 1e6) / 3600


def _cast(series: Series, *, whole: bool) -> Numbers | None:
    """Text as numbers where a library can do it at once; None if a cell is no plain number."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if series.implementation.is_pyarrow():
        import pyarrow as pa
        from pyarrow import compute

        try:
            cast = compute.utf8_trim_whitespace(native).cast(pa.int64() if whole else pa.float64())
        except pa.ArrowInvalid:
            return None
    elif series.implementation.is_polars():
        import polars as pl

        cast = native.str.strip_chars().cast(pl.Int64 if whole else pl.Float64, strict=False)
        if cast.null_count() > native.null_count():
            return None
    else:
        return None
    found = read_series(nw.from_native(cast, series_only=True), "")
    return found if isinstance(found, Numbers) else None
