"""Columns as users hand them in: numbers, or values coded by their levels.

`read_objects` reads Python objects, `read_series` a column of any data frame, and
`dense_array` refuses what no tree can use. Nothing here knows of a schema.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from typing import Literal

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Bools, Category, Ints, Rows, Series
from ..errors import Argument, DataError, UnsupportedError
from . import arrow
from .column_warnings import strict_float

ValueType = Literal["number", "truth", "text", "missing"]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers. Missing is NaN; whole numbers stay exact and are marked instead.

    Those that are dates are days since 1970-01-01.
    """

    values: Array
    is_missing: Array | None = None
    is_date: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing_mask(self) -> Bools:
        """Where the column is missing."""
        is_nan = np.isnan(self.values)
        return is_nan if self.is_missing is None else is_nan | self.is_missing

    def take(self, rows: Array) -> "NumberColumn":
        """Return the column with these rows only."""
        return NumberColumn(self.values[rows], None if self.is_missing is None else self.is_missing[rows], self.is_date)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: `levels[codes[row]]`, a code of -1 being missing.

    `is_declared` levels are all those the column's type can hold, in its order; others are
    the values that occur, sorted.
    """

    codes: Array
    levels: tuple[Category, ...]
    is_declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing_mask(self) -> Bools:
        """Where the column is missing."""
        return np.asarray(self.codes < 0)

    @property
    def is_text(self) -> bool:
        """Whether the levels are words; not if there are none."""
        return value_type(self.levels) == "text"

    def take(self, rows: Array) -> "CategoryColumn":
        """Return the column with these rows only."""
        return CategoryColumn(self.codes[rows], self.levels, self.is_declared)

    def occurring_categories(self, rows: Array | None = None) -> list[Category]:
        """Return the levels that occur, in some rows or in all."""
        codes = self.codes if rows is None else self.codes[rows]
        return [self.levels[code] for code in np.unique(codes[codes >= 0])]

    def recode(self, levels: Sequence[Category], *, is_declared: bool = False) -> "CategoryColumn":
        """Return the column with its codes counted in `levels`; other values become -1."""
        number = _codes(levels)
        lookup = [*(number.get(level, -1) for level in self.levels), -1]  # the last is where -1 points
        return CategoryColumn(np.array(lookup, np.int32)[self.codes], tuple(levels), is_declared)


RawColumn = NumberColumn | CategoryColumn


def original_values(given: RawColumn) -> Array:
    """Return a column as it was: numbers with NaN where it is missing, or the categories with None."""
    if isinstance(given, NumberColumn):
        return given.values if given.is_missing is None else np.where(given.is_missing, np.nan, given.values)
    return np.array([*given.levels, None], object)[given.codes]  # the last is where -1 points


def as_floats(values: Array) -> Array:
    """Return numbers as native float32 or float64; those that are so already are not copied."""
    if values.dtype in (np.float32, np.float64):
        return values
    return values.astype(np.float32 if values.dtype in (np.float16, np.bool_) else np.float64)


def column_as_floats(given: NumberColumn) -> Array:
    """Return a column of numbers as float32 or float64, NaN where it is missing."""
    floats = as_floats(given.values)
    return floats if given.is_missing is None else np.where(given.is_missing, floats.dtype.type(np.nan), floats)


def dense_array(data: Rows, what: str) -> Array:
    """Return array-like data as an ndarray of numbers or of objects, masked cells as missing."""
    if "numpy.ma" in sys.modules and isinstance(data, np.ma.MaskedArray):  # who has none need not import it
        return _unmasked(data, what)
    try:
        array = np.asarray(data)
        if array.dtype.kind in "UT" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # NumPy would turn the numbers among words into words
    except ValueError as error:
        raise DataError(f"{what} is ragged ({error}); rows of equal length are needed") from error
    kind = array.dtype.kind
    if kind == "c":
        raise DataError(
            f"Complex data not supported: {what} holds {array.dtype}; pass real and imaginary parts as columns"
        )
    if kind in "mM":
        raise DataError(f"{what} holds dates or times ({array.dtype}); {_CONVERT_DATES}")
    if kind in "SV":
        raise DataError(f"{what} has dtype {array.dtype}; numbers or text are needed: decode bytes with .astype(str)")
    if kind in "UT":
        array = array.astype(object)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def read_series(series: Series, name: str) -> RawColumn:
    """Read a narwhals series."""
    import narwhals.stable.v2 as nw

    native, dtype = series.to_native(), series.dtype
    is_pandas_like = series.implementation.is_pandas_like()
    if is_pandas_like and native.dtype == object:  # narwhals guesses what it holds from its first rows
        return read_objects(series.to_numpy(), name)
    if dtype.is_temporal():
        raise DataError(f"column {name!r} holds dates or times ({dtype}); {_CONVERT_DATES}")
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _read_categorical(series, name)
    if series.implementation.is_pyarrow() and str(native.type) == "string_view":
        series, dtype = nw.from_native(native.cast("large_string"), series_only=True), nw.String()
    if dtype == nw.String:
        return _read_text(series, name)
    if dtype == nw.Boolean:
        codes = series.fill_null(value=False).to_numpy().astype(np.int32)
        return CategoryColumn(
            np.where(series.is_null().to_numpy(), np.int32(-1), codes), (False, True), is_declared=True
        )
    if dtype.is_numeric():
        if series.implementation.is_pyarrow() and (dtype.is_integer() or dtype.is_float()):
            return NumberColumn(*arrow.numbers_and_mask(native))
        if dtype == nw.Decimal or dtype in (nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64)
        # To count gaps takes long; an array of NumPy in a frame of pandas has none among whole numbers.
        elif dtype.is_integer() and not (is_pandas_like and isinstance(native.dtype, np.dtype)) and series.null_count():
            return NumberColumn(series.fill_null(0).to_numpy(), series.is_null().to_numpy())
        return NumberColumn(series.to_numpy())
    if series.null_count() == len(series):
        return NumberColumn(np.full(len(series), np.nan))
    if dtype == nw.Object or (dtype == nw.Unknown and is_pandas_like):
        array = dense_array(series.to_numpy(), f"column {name!r}")
        return read_objects(array, name) if array.dtype == object else NumberColumn(array)
    raise DataError(f"column {name!r} holds {dtype} values; numbers, text, categories or booleans are needed")


def read_objects(cells: Array, name: str) -> RawColumn:
    """Read a column of Python objects: all numbers, all text or all booleans, with gaps."""
    values = cells.tolist()
    value_type = {kind: value_type_of_class(kind) for kind in set(map(type, values))}
    if None in value_type.values():
        row = next(i for i, value in enumerate(values) if value_type[type(value)] is None)
        if hasattr(values[row], "isoformat") or hasattr(values[row], "total_seconds"):
            raise DataError(f"column {name!r}, row {row}: {values[row]!r} is a date or a time; {_CONVERT_DATES}")
        raise UnsupportedError(
            f"column {name!r}, row {row}: {values[row]!r} is a {type(values[row]).__name__}; "
            "the argument must be a string or a number (or a boolean, or missing)"
        )
    found = set(value_type.values()) - {"missing"}
    if len(found) > 1 and all(v != v for v in values if value_type[type(v)] == "number"):  # noqa: PLR0124
        found.discard("number")  # only NaN, which is how pandas writes a gap among words
        value_type = {kind: "missing" if is_a == "number" else is_a for kind, is_a in value_type.items()}
    if len(found) > 1:
        rows = sorted({value_type[type(value)]: i for i, value in reversed(list(enumerate(values)))}.values())
        shown = ", ".join(f"{values[i]!r} (row {i})" for i in rows if value_type[type(values[i])] != "missing")
        raise DataError(
            f"column {name!r} mixes {' and '.join(sorted(map(str, found)))} values: {shown}; one kind is needed: "
            "convert the column to numbers or to text"
        )
    if not found:
        return NumberColumn(np.full(len(values), np.nan))
    if found == {"number"}:
        return _numbers_of(values, {kind for kind, is_a in value_type.items() if is_a == "missing"}, name)
    levels = (False, True) if found == {"truth"} else tuple(sorted({str(v) for v in set(values) if isinstance(v, str)}))
    codes = np.fromiter(map(_codes(levels).get, values, repeat(-1)), np.int32, len(values))
    return CategoryColumn(codes, levels, is_declared=found == {"truth"})


def factorize(given: RawColumn) -> CategoryColumn:
    """Return a column as categories; of numbers these are the distinct values in rising order."""
    if isinstance(given, CategoryColumn):
        return given
    is_missing = given.missing_mask
    there = ~is_missing if is_missing.any() else slice(None)
    codes = np.full(len(is_missing), -1, np.int32)
    codes[there], levels = factorize_numbers(given.values[there])
    return CategoryColumn(codes, tuple(levels.tolist()))


def factorize_numbers(values: Array) -> tuple[Ints, Array]:
    """Return the position of each number among those that occur, and these in rising order; none is missing."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind in "iuf" and len(values):
        low, high = values.min().item(), values.max().item()
        if -MAX_EXACT_INT < low <= high < min(MAX_EXACT_INT, low + 4 * len(values)):  # counting beats sorting
            whole = values.astype(np.int64)
            # -0.0 stays what it is
            if values.dtype.kind != "f" or ((whole == values) & (np.signbit(values) == (values < 0))).all():
                whole -= int(low)
                occurs = np.bincount(whole) > 0
                codes = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
                return codes[whole], (np.flatnonzero(occurs) + int(low)).astype(values.dtype)
    levels, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), levels


def parse_categories(given: CategoryColumn, name: str) -> NumberColumn:
    """Return the numbers that categories spell."""
    values = np.full(len(given.levels) + 1, np.nan)  # the last is where missing points
    for code in np.unique(given.codes[given.codes >= 0]):
        try:
            values[code] = strict_float(given.levels[code])
        except ValueError as error:
            row = int(np.flatnonzero(given.codes == code)[0])
            raise DataError(
                f"column {name!r}, row {row}: {given.levels[code]!r} is not a number; correct it, mark it as missing, "
                "or leave the column out of ",
                Argument("numeric"),
            ) from error
    return NumberColumn(values[given.codes])


def value_type_of_class(kind: type) -> ValueType | None:
    """Return what a Python type is to us; None if it is nothing we take."""
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, bool | np.bool_):
        return "truth"
    if issubclass(kind, int | float | np.integer | np.floating | Decimal | Fraction):
        return "number"
    # The gaps of pandas are known by name, so that pandas need not be imported.
    return "missing" if kind is type(None) or kind.__name__ in ("NAType", "NaTType") else None


def value_type(levels: Sequence[Category]) -> ValueType | None:
    """Return what the levels of a column are; None if there are none."""
    return value_type_of_class(type(levels[0])) if levels else None


_CONVERT_DATES = (
    "convert each to numbers first (days since a date, year, month, hour), or to text for a column of categories"
)


def _codes(levels: Sequence[Category]) -> dict[Category, int]:
    return {level: k for k, level in enumerate(levels)}


def _numbers_of(values: list[Category], gaps: set[type], name: str) -> NumberColumn:
    is_missing = np.fromiter(map(gaps.__contains__, map(type, values)), bool, len(values)) if gaps else None
    try:
        array = np.array([0 if type(value) in gaps else value for value in values] if gaps else values)
        if array.dtype.kind not in "iuf":
            array = np.array([0 if type(value) in gaps else float(value) for value in values])
    except OverflowError as error:
        raise DataError(f"column {name!r} holds whole numbers too large for a float; rescale it") from error
    return NumberColumn(array, is_missing)


def _read_text(series: Series, name: str) -> RawColumn:
    if sys.modules.get("pyarrow") is None:  # nobody has needed it yet, or it is not installed
        return read_objects(series.to_numpy(), name)
    # Ten times faster than a dictionary of Python strings.
    encoded = arrow.as_chunked_array(series).dictionary_encode().combine_chunks()
    found = encoded.dictionary.to_pylist()
    codes, is_missing = arrow.numbers_and_mask(sys.modules["pyarrow"].chunked_array([encoded.indices]))
    codes = codes if is_missing is None else np.where(is_missing, np.int32(-1), codes)
    return CategoryColumn(codes, tuple(found)).recode(sorted(found))


def _read_categorical(series: Series, name: str) -> CategoryColumn:
    import narwhals.stable.v2 as nw

    native, implementation = series.to_native(), series.implementation
    if implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        levels = native.dtype.categories.tolist()
        _check_levels(levels, name)
        codes = native.array.codes if implementation.is_pandas() else native.cat.codes.to_numpy()  # a series takes long
        return CategoryColumn(codes.astype(np.int32), tuple(levels), is_declared=True)
    if implementation.is_polars() and isinstance(series.dtype, nw.Enum):
        physical = nw.from_native(native.to_physical(), series_only=True).cast(nw.Int32).fill_null(-1)
        return CategoryColumn(physical.to_numpy(), tuple(series.dtype.categories), is_declared=True)
    if implementation.is_polars():
        return factorize(_read_text(series.cast(nw.String), name))
    # Each chunk has a dictionary of its own, and narwhals turns nulls into values here: decode first.
    found = arrow.as_chunked_array(series)
    coded = factorize(read_series(nw.from_native(found.cast(found.type.value_type), series_only=True), name))
    dictionaries = [chunk.dictionary for chunk in found.chunks]
    if found.type.ordered and all(one.equals(dictionaries[0]) for one in dictionaries):
        return coded.recode(dictionaries[0].to_pylist(), is_declared=True)
    return coded


def _check_levels(levels: list[Category], name: str) -> None:
    found = {value_type_of_class(type(level)) for level in levels}
    if found - {"number", "truth", "text"} or len(found) > 1:
        raise DataError(
            f"column {name!r} has the categories {', '.join(map(repr, levels[:5]))}; all text, all numbers or all "
            "booleans are needed: convert it with .astype(str).astype('category')"
        )


def _unmasked(data: Rows, what: str) -> Array:
    if data.dtype.kind in "biuf":
        if not np.ma.getmaskarray(data).any():
            return dense_array(data.data, what)
        floats = data.astype(np.promote_types(data.dtype, np.float16 if data.dtype.kind == "b" else np.float32))
        return dense_array(floats.filled(np.nan), what)
    cells = dense_array(data.data, what).astype(object)
    cells[np.ma.getmaskarray(data)] = None
    return cells
