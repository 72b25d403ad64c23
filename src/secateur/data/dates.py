"""Dates as numbers: days since 1970-01-01, with the time of day as a fraction."""

import datetime as dt
import re

import numpy as np

from .._utils.arrays import Series
from .._utils.warn import warn
from ..errors import Argument, show
from .raw_column import NumberColumn

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 dates have no time zone here
DAY = dt.timedelta(days=1)
DAY_SECONDS = 86_400
DAY_MICROSECONDS = 86_400_000_000

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = (
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
    r"\s*(?P<am_pm>[AaPp][Mm])?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_DAY, _MONTH, _MONTH_NAME = r"(?P<day>\d{1,2})", r"(?P<month>\d{1,2})", r"(?P<month>[A-Za-z]{3,9})\.?"
_YEAR, _YEAR_OR_TWO_DIGITS = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d\d)"
_DAY_MONTH_YEAR = re.compile(rf"{_DAY}(?P<separator>[-/.]){_MONTH}(?P=separator){_YEAR_OR_TWO_DIGITS}{_TIME}").fullmatch
_MONTH_DAY_YEAR = re.compile(rf"{_MONTH}(?P<separator>[-/.]){_DAY}(?P=separator){_YEAR_OR_TWO_DIGITS}{_TIME}").fullmatch
_AMBIGUOUS_FORMATS = {"dmy": _DAY_MONTH_YEAR, "mdy": _MONTH_DAY_YEAR}
_UNAMBIGUOUS_FORMATS = (
    re.compile(rf"{_YEAR}[-/.]{_MONTH}[-/.]{_DAY}{_TIME}").fullmatch,  # 2024-03-04
    re.compile(rf"{_DAY}[-. ]\s?{_MONTH_NAME}[-, ]\s?{_YEAR_OR_TWO_DIGITS}{_TIME}").fullmatch,  # 4 March 2024
    re.compile(rf"{_MONTH_NAME} {_DAY},? {_YEAR}{_TIME}").fullmatch,  # March 4, 2024
)


def parse_date(text: str, order: str) -> float | None:
    """Return the days since 1970-01-01 of a date, or None if `text` is no date.

    `order` is "dmy" or "mdy": whether the day or the month is first in 3/4/2024. Times with a zone are converted to
    UTC.

    Examples
    --------
    >>> parse_date("2/1/1970", "dmy"), parse_date("2 Jan 1970 12:00", "mdy"), parse_date("soon", "dmy")
    (1.0, 1.5, None)
    """
    formats = (_AMBIGUOUS_FORMATS[order], *_UNAMBIGUOUS_FORMATS)
    parts = next(filter(None, (match(text) for match in formats)), None)
    if parts is None:
        return None
    hour, minute, second, year = (int(parts[name] or 0) for name in ("hour", "minute", "second", "year"))
    if year < 100:  # POSIX reads two digits as a year from 1969 to 2068
        year += 1900 if year > 68 else 2000
    month = parts["month"].lower()
    try:
        month_number = int(month) if month.isdigit() else _MONTH_NAMES.index(month[:3]) + 1
        midnight = dt.datetime(year, month_number, int(parts["day"]))  # noqa: DTZ001 dates have no time zone here
    except ValueError:
        return None
    if parts["am_pm"]:
        hour = hour % 12 + 12 * (parts["am_pm"].lower() == "pm")
    if hour > 24 or minute > 59:
        return None
    seconds = 3600 * hour + 60 * minute + second + float(f"0.{parts['fraction'] or 0}") - _zone_seconds(parts["zone"])
    return (midnight - EPOCH) / DAY + seconds / DAY_SECONDS


def _zone_seconds(zone: str | None) -> int:
    """Return how many seconds a time zone such as "+01:30" is ahead of UTC."""
    if not zone or zone == "Z":
        return 0
    sign = -1 if zone[0] == "-" else 1
    return sign * (3600 * int(zone[1:3]) + 60 * int(zone[-2:]))


def is_ambiguous_format(text: str) -> bool:
    """Return whether a date is written like 3/4/2024, where the day or the month can be first."""
    return _DAY_MONTH_YEAR(text) is not None


def format_date(days: float) -> str:
    """Return days since 1970-01-01 as a date, with the time of day unless it is midnight.

    Examples
    --------
    >>> format_date(19724.0), format_date(19724.5)
    ('2024-01-02', '2024-01-02 12:00')
    """
    try:
        moment = EPOCH + dt.timedelta(seconds=round(days * DAY_SECONDS))
    except (OverflowError, ValueError):
        return repr(days)
    if days == int(days):
        return moment.strftime("%Y-%m-%d")
    return moment.strftime("%Y-%m-%d %H:%M" if moment.second == 0 else "%Y-%m-%d %H:%M:%S")


def read_temporal_series(series: Series, name: str) -> NumberColumn:
    """Return a narwhals series of a temporal type as numbers, with a warning.

    Dates and times become days since 1970-01-01; times of day and durations become hours.
    """
    import narwhals.stable.v2 as nw

    dtype, is_null = series.dtype, series.is_null().to_numpy()
    if isinstance(dtype, nw.Time | nw.Duration):
        warn(f"column {show(name)} holds times of day or spans of time and is read as hours")
        return NumberColumn(np.array([np.nan if value is None else _hours(value) for value in series.to_list()]))
    if isinstance(dtype, nw.Datetime) and dtype.time_zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    microseconds = series.cast(nw.Datetime("us")).dt.timestamp("us").fill_null(0).to_numpy().astype(np.int64)
    days = microseconds // DAY_MICROSECONDS + (microseconds % DAY_MICROSECONDS) / DAY_MICROSECONDS
    warn_dates(name)
    return NumberColumn(np.where(is_null, np.nan, days), is_date=True)


def warn_dates(name: str) -> None:
    """Warn that a column is read as dates."""
    warn(
        f"column {show(name)} is read as dates (days since 1970-01-01); ", Argument("dates", "text"), " keeps the text"
    )


def _hours(value: dt.time | dt.timedelta) -> float:
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(hours=1)
    return value.hour + value.minute / 60 + (value.second + value.microsecond / 1e6) / 3600
