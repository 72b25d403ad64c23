"""Columns as users pass them: numbers, or categories with integer codes. No schema is involved yet.

`read_series` reads a column of any data frame, `read_objects` a column of Python objects. `dense_array` converts
array-like data and refuses types that no tree can use. The other functions convert columns.
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
from .._utils.warn import warn
from ..errors import Argument, DataError, UnsupportedError, show
from . import arrow

MIN_INT64, MAX_UINT64 = -(2**63), 2**64 - 1
ValueType = Literal["number", "boolean", "text", "missing"]
_CONVERT_DATES = (
    "convert each to numbers first (days since a date, year, month, hour), or to text for a column of categories"
)


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers. Missing floats are NaN. Missing integers, which have no NaN, are marked in `null_mask`.

    If `is_date`, the numbers are days since 1970-01-01.
    """

    values: Array
    null_mask: Array | None = None
    is_date: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing_mask(self) -> Bools:
        """The rows in which the column is missing."""
        is_nan = np.isnan(self.values)
        return is_nan if self.null_mask is None else is_nan | self.null_mask

    def take(self, rows: Array) -> "NumberColumn":
        """Return the column with the selected rows only."""
        return NumberColumn(self.values[rows], None if self.null_mask is None else self.null_mask[rows], self.is_date)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: row `i` has the value `categories[codes[i]]`, or is missing if its code is -1.

    If `is_declared`, the categories are all values that the type of the column allows, in the order of the type.
    Otherwise they are the values that occurred when the column was read, sorted.
    """

    codes: Array
    categories: tuple[Category, ...]
    is_declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing_mask(self) -> Bools:
        """The rows in which the column is missing."""
        return np.asarray(self.codes < 0)

    @property
    def is_text(self) -> bool:
        """Whether the categories are text. False if there are no categories."""
        return value_type(self.categories) == "text"

    def take(self, rows: Array) -> "CategoryColumn":
        """Return the column with the selected rows only."""
        return CategoryColumn(self.codes[rows], self.categories, self.is_declared)

    def occurring_categories(self, rows: Array | None = None) -> list[Category]:
        """Return the categories that occur in the selected rows, by default in all rows."""
        codes = self.codes if rows is None else self.codes[rows]
        return [self.categories[code] for code in np.unique(codes[codes >= 0])]

    def recode(self, categories: Sequence[Category], *, is_declared: bool = False) -> "CategoryColumn":
        """Return the column with codes that refer to `categories`. Values not among them become missing."""
        code_of = code_of_category(categories)
        new_codes = [code_of.get(category, -1) for category in self.categories]
        lookup = np.array([*new_codes, -1], np.int32)  # the code -1 of a missing value selects the last entry
        return CategoryColumn(lookup[self.codes], tuple(categories), is_declared)


RawColumn = NumberColumn | CategoryColumn


def dense_array(data: Rows, name: str) -> Array:
    """Return array-like data as an array of numbers or objects, in which masked cells are missing.

    `name` is what messages call the data.
    """
    if "numpy.ma" in sys.modules and isinstance(data, np.ma.MaskedArray):  # avoids importing numpy.ma
        return _fill_masked(data, name)
    try:
        array = np.asarray(data)
        if array.dtype.kind in "UT" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # NumPy has converted the numbers in a mixed list to text
    except ValueError as error:
        raise DataError(f"{name} is ragged ({error}); rows of equal length are needed") from error
    if array.dtype.kind == "f" and isinstance(data, list | tuple) and array.size:
        array = _keep_large_integers(array, data)
    kind = array.dtype.kind
    if kind == "c":
        raise DataError(
            f"Complex data not supported: {name} holds {array.dtype}; pass real and imaginary parts as columns"
        )
    if kind in "mM":
        raise DataError(f"{name} holds dates or times ({array.dtype}); {_CONVERT_DATES}")
    if kind in "SV":
        raise DataError(f"{name} has dtype {array.dtype}; numbers or text are needed: decode bytes with .astype(str)")
    if kind in "UT":
        array = array.astype(object)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _keep_large_integers(array: Array, data: Rows) -> Array:
    """Return the cells of a list as objects if NumPy has rounded whole numbers in it to floats, else the array."""
    with np.errstate(invalid="ignore"):
        is_large = np.abs(array) >= MAX_EXACT_INT
    if not is_large.any():
        return array
    cells = np.asarray(data, dtype=object)
    are_integers = any(isinstance(cell, int | np.integer) for cell in cells[is_large].tolist())
    return cells if are_integers else array


def _fill_masked(data: Rows, name: str) -> Array:
    """Return a masked array with NaN, or None among objects, in place of masked cells."""
    mask = np.ma.getmaskarray(data)
    if data.dtype.kind not in "biuf":
        cells = dense_array(data.data, name).astype(object)
        cells[mask] = None
        return cells
    if not mask.any():
        return dense_array(data.data, name)
    floats = data.astype(np.promote_types(data.dtype, np.float16 if data.dtype.kind == "b" else np.float32))
    return dense_array(floats.filled(np.nan), name)


def read_series(series: Series, name: str) -> RawColumn:
    """Return the column in a narwhals series; messages call it `name`."""
    import narwhals.stable.v2 as nw

    native, dtype = series.to_native(), series.dtype
    if series.implementation.is_pandas_like() and native.dtype == object:  # narwhals guesses from the first values
        return read_objects(series.to_numpy(), name)
    if dtype.is_temporal():
        raise DataError(f"column {show(name)} holds dates or times ({dtype}); {_CONVERT_DATES}")
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _read_categorical(series, name)
    if series.implementation.is_pyarrow() and str(native.type) == "string_view":
        return _read_text(nw.from_native(native.cast("large_string"), series_only=True), name)
    if dtype == nw.String:
        return _read_text(series, name)
    if dtype == nw.Boolean:
        codes = series.fill_null(value=False).to_numpy().astype(np.int32)
        codes = np.where(series.is_null().to_numpy(), np.int32(-1), codes)
        return CategoryColumn(codes, (False, True), is_declared=True)
    if dtype.is_numeric():
        return _read_numeric(series)
    if series.null_count() == len(series):
        return NumberColumn(np.full(len(series), np.nan))
    if dtype == nw.Object or (dtype == nw.Unknown and series.implementation.is_pandas_like()):
        array = dense_array(series.to_numpy(), f"column {show(name)}")
        return read_objects(array, name) if array.dtype == object else NumberColumn(array)
    raise DataError(f"column {show(name)} holds {dtype} values; numbers, text, categories or booleans are needed")


def _read_numeric(series: Series) -> NumberColumn:
    """Return the column in a narwhals series of a numeric type."""
    import narwhals.stable.v2 as nw

    native, dtype, implementation = series.to_native(), series.dtype, series.implementation
    if implementation.is_pyarrow() and (dtype.is_integer() or dtype.is_float()):
        return NumberColumn(*arrow.numbers_and_mask(native))
    if dtype == nw.Decimal or dtype in (nw.Int128, nw.UInt128):
        return NumberColumn(series.cast(nw.Float64).to_numpy())
    # Counting nulls is slow. Integers of pandas that are backed by a NumPy array cannot have any.
    has_no_nulls = implementation.is_pandas_like() and isinstance(native.dtype, np.dtype)
    if dtype.is_integer() and not has_no_nulls and series.null_count():
        return NumberColumn(series.fill_null(0).to_numpy(), series.is_null().to_numpy())
    return NumberColumn(series.to_numpy())


def _read_text(series: Series, name: str) -> RawColumn:
    """Return the column in a narwhals series of strings."""
    if sys.modules.get("pyarrow") is None:  # pyarrow is not installed, or importing it would take too long
        return read_objects(series.to_numpy(), name)
    # Ten times faster than a dictionary of Python strings.
    encoded = arrow.as_chunked_array(series).dictionary_encode().combine_chunks()
    categories = encoded.dictionary.to_pylist()
    codes, is_null = arrow.numbers_and_mask(sys.modules["pyarrow"].chunked_array([encoded.indices]))
    codes = codes if is_null is None else np.where(is_null, np.int32(-1), codes)
    return CategoryColumn(codes, tuple(categories)).recode(sorted(categories))


def _read_categorical(series: Series, name: str) -> CategoryColumn:
    """Return the column in a narwhals series of a categorical type."""
    import narwhals.stable.v2 as nw

    native, implementation = series.to_native(), series.implementation
    if implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        categories = native.dtype.categories.tolist()
        _check_categories(categories, name)
        # Reading the codes of a pandas series is slow, those of its array is fast.
        codes = native.array.codes if implementation.is_pandas() else native.cat.codes.to_numpy()
        return CategoryColumn(codes.astype(np.int32), tuple(categories), is_declared=True)
    if implementation.is_polars() and isinstance(series.dtype, nw.Enum):
        physical = nw.from_native(native.to_physical(), series_only=True).cast(nw.Int32).fill_null(-1)
        return CategoryColumn(physical.to_numpy(), tuple(series.dtype.categories), is_declared=True)
    if implementation.is_polars():
        return factorize(_read_text(series.cast(nw.String), name))
    # Each chunk has its own dictionary, and narwhals turns nulls into values here. So the values are decoded first.
    chunked = arrow.as_chunked_array(series)
    decoded = nw.from_native(chunked.cast(chunked.type.value_type), series_only=True)
    column = factorize(read_series(decoded, name))
    dictionaries = [chunk.dictionary for chunk in chunked.chunks]
    if chunked.type.ordered and all(dictionary.equals(dictionaries[0]) for dictionary in dictionaries):
        return column.recode(dictionaries[0].to_pylist(), is_declared=True)
    return column


def _check_categories(categories: list[Category], name: str) -> None:
    """Refuse categories of several types, or of a type that no tree can use."""
    check_unicode(categories, f"column {show(name)} has the category")
    types = {value_type_of_class(type(category)) for category in categories}
    if types - {"number", "boolean", "text"} or len(types) > 1:
        raise DataError(
            f"column {show(name)} has the categories {', '.join(map(show, categories[:5]))}; all text, all "
            "numbers or all booleans are needed: convert it with .astype(str).astype('category')"
        )


def read_objects(cells: Array, name: str) -> RawColumn:
    """Return a column of Python objects, which must be all numbers, all text or all booleans, apart from missing ones.

    Messages call the column `name`.
    """
    values = cells.tolist()
    type_of_class = {cls: value_type_of_class(cls) for cls in set(map(type, values))}
    if None in type_of_class.values():
        row = next(i for i, value in enumerate(values) if type_of_class[type(value)] is None)
        raise _unsupported_object(values[row], row, name)
    value_types = set(type_of_class.values()) - {"missing"}
    if len(value_types) > 1 and all(v != v for v in values if type_of_class[type(v)] == "number"):  # noqa: PLR0124
        # All numbers are NaN, with which pandas marks missing values among text.
        value_types.discard("number")
        type_of_class = {cls: "missing" if of == "number" else of for cls, of in type_of_class.items()}
    if len(value_types) > 1:
        raise _mixed_objects(values, type_of_class, name)
    if not value_types:
        return NumberColumn(np.full(len(values), np.nan))
    if value_types == {"number"}:
        return _numbers_of_objects(values, {cls for cls, of in type_of_class.items() if of == "missing"}, name)
    categories: tuple[Category, ...] = (False, True)
    if value_types == {"text"}:
        categories = tuple(sorted({str(value) for value in set(values) if isinstance(value, str)}))
        check_unicode(categories, f"column {show(name)} holds the text")
    codes = np.fromiter(map(code_of_category(categories).get, values, repeat(-1)), np.int32, len(values))
    return CategoryColumn(codes, categories, is_declared=value_types == {"boolean"})


def check_unicode(texts: Sequence[Category], description: str) -> None:
    """Refuse text with a lone surrogate, which no file can contain; values that are not text are skipped.

    Messages begin with the `description` of the text.
    """
    for text in texts:
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise DataError(
                    f"{description} {show(text)}, which has a lone surrogate and is not valid Unicode; correct it, for "
                    "instance with .encode('utf-8', 'replace').decode()"
                ) from error


def _unsupported_object(value: object, row: int, name: str) -> DataError | UnsupportedError:
    """Return the error for an object that is no number, text, boolean or missing value."""
    if hasattr(value, "isoformat") or hasattr(value, "total_seconds"):
        return DataError(f"column {show(name)}, row {row}: {show(value)} is a date or a time; {_CONVERT_DATES}")
    return UnsupportedError(
        f"column {show(name)}, row {row}: {show(value)} is a {type(value).__name__}; "
        "the argument must be a string or a number (or a boolean, or missing)"
    )


def _mixed_objects(values: list[Category], type_of_class: dict[type, ValueType | None], name: str) -> DataError:
    """Return the error for a column of several types, with the first value of each."""
    first_row = {type_of_class[type(value)]: row for row, value in reversed(list(enumerate(values)))}
    first_row.pop("missing", None)
    shown = ", ".join(f"{show(values[row])} (row {row})" for row in sorted(first_row.values()))
    return DataError(
        f"column {show(name)} mixes {' and '.join(sorted(map(str, first_row)))} values: {shown}; one kind is needed: "
        "convert the column to numbers or to text"
    )


def _numbers_of_objects(values: list[Category], missing_classes: set[type], name: str) -> NumberColumn:
    """Return the column of Python numbers; values of the `missing_classes` are missing."""
    null_mask = None
    if missing_classes:
        null_mask = np.fromiter((type(value) in missing_classes for value in values), bool, len(values))
        values = [0 if type(value) in missing_classes else value for value in values]
    try:
        array = np.array(values)
        if array.dtype.kind in "iu":
            return NumberColumn(array, null_mask)
    except OverflowError:  # an integer that is too large for a float, among floats
        array = np.zeros(0, object)
    _check_large_integers(values, name)
    try:
        if array.dtype.kind != "f":
            array = np.array([float(value) for value in values])
    except (OverflowError, ValueError) as error:  # a Fraction, or a Decimal that signals that it is no number
        raise DataError(
            f"column {show(name)} holds numbers that no float can hold ({error}); divide them, or mark them as missing"
        ) from error
    _warn_inexact(values, name)
    return NumberColumn(array, null_mask)


def _check_large_integers(values: list[Category], name: str) -> None:
    """Refuse Python integers of more than 64 bits, which no array of numbers can hold."""
    for row, value in enumerate(values):
        if isinstance(value, int) and not MIN_INT64 <= value <= MAX_UINT64:
            raise DataError(
                f"column {show(name)}, row {row}: {show(value)} has more than 64 bits; whole numbers from -2**63 to "
                "2**64 - 1 are needed: divide the column, or convert it to text if it is an identifier"
            )


def _warn_inexact(values: list[Category], name: str) -> None:
    """Warn if whole numbers among fractions, or of a wide range, are not exact as float64."""
    inexact = [value for value in values if isinstance(value, int | np.integer) and int(float(value)) != value]
    if inexact:
        warn(
            f"column {show(name)} mixes fractions with whole numbers beyond 2**53, such as {show(inexact[0])}, whose "
            "neighbours become equal as float64; subtract an offset, or convert the column to text if it is an "
            "identifier"
        )


def original_values(column: RawColumn) -> Array:
    """Return the values of a column: numbers with NaN where missing, or categories with None where missing."""
    if isinstance(column, CategoryColumn):
        return np.array([*column.categories, None], object)[column.codes]  # the code -1 selects None
    return column.values if column.null_mask is None else np.where(column.null_mask, np.nan, column.values)


def as_floats(values: Array) -> Array:
    """Return numbers as float32 or float64, without a copy if they have one of these types."""
    if values.dtype in (np.float32, np.float64):
        return values
    return values.astype(np.float32 if values.dtype in (np.float16, np.bool_) else np.float64)


def column_as_floats(column: NumberColumn) -> Array:
    """Return a column of numbers as float32 or float64, with NaN where it is missing."""
    floats = as_floats(column.values)
    return floats if column.null_mask is None else np.where(column.null_mask, floats.dtype.type(np.nan), floats)


def factorize(column: RawColumn) -> CategoryColumn:
    """Return a column as categories. The categories of numbers are the distinct values in ascending order."""
    if isinstance(column, CategoryColumn):
        return column
    is_missing = column.missing_mask
    is_known = ~is_missing if is_missing.any() else slice(None)
    codes = np.full(len(is_missing), -1, np.int32)
    codes[is_known], categories = factorize_numbers(column.values[is_known])
    return CategoryColumn(codes, tuple(categories.tolist()))


def factorize_numbers(values: Array) -> tuple[Ints, Array]:
    """Return the code of each number, and the distinct numbers in ascending order. No number may be missing."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind in "iuf" and len(values):
        low, high = values.min().item(), values.max().item()
        # Whole numbers in a narrow range are counted, which is faster than sorting.
        if -MAX_EXACT_INT < low <= high < min(MAX_EXACT_INT, low + 4 * len(values)):
            integers = values.astype(np.int64)
            is_integer = values.dtype.kind != "f" or bool((integers == values).all())
            has_negative_zero = values.dtype.kind == "f" and bool((np.signbit(values) != (values < 0)).any())
            if is_integer and not has_negative_zero:
                integers -= int(low)
                occurs = np.bincount(integers) > 0
                code_of_integer = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
                return code_of_integer[integers], (np.flatnonzero(occurs) + int(low)).astype(values.dtype)
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), distinct


def parse_categories(column: CategoryColumn, name: str) -> NumberColumn:
    """Return a column of text, such as "1.5", as numbers; messages call it `name`."""
    values = np.full(len(column.categories) + 1, np.nan)  # the code -1 selects the last entry
    for code in np.unique(column.codes[column.codes >= 0]):
        try:
            values[code] = strict_float(column.categories[code])
        except ValueError as error:
            row = int(np.flatnonzero(column.codes == code)[0])
            raise DataError(
                f"column {show(name)}, row {row}: {show(column.categories[code])} is not a number; correct it, "
                "mark it as missing, or leave the column out of ",
                Argument("numeric"),
            ) from error
    return NumberColumn(values[column.codes])


def strict_float(value: Category) -> float:
    """Return `float(value)`, but raise ValueError for text with underscores, such as 1_000, which Python accepts."""
    if isinstance(value, str) and "_" in value:
        raise ValueError(value)
    return float(value)


def value_type(categories: Sequence[Category]) -> ValueType | None:
    """Return the value type of the categories of a column, or None if there are no categories."""
    return value_type_of_class(type(categories[0])) if categories else None


def value_type_of_class(cls: type) -> ValueType | None:
    """Return the value type of the objects of a Python class, or None if no tree can use them."""
    if issubclass(cls, str):
        return "text"
    if issubclass(cls, bool | np.bool_):
        return "boolean"
    if issubclass(cls, int | float | np.integer | np.floating | Decimal | Fraction):
        return "number"
    # The missing values of pandas are recognised by name, so that pandas need not be imported.
    return "missing" if cls is type(None) or cls.__name__ in ("NAType", "NaTType") else None


def code_of_category(categories: Sequence[Category]) -> dict[Category, int]:
    """Return the code of each category: its position."""
    return {category: code for code, category in enumerate(categories)}
