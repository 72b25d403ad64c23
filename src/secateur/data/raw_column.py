"""Columns as users pass them: numbers, or categories with integer codes. No schema is involved yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Bools, Category, Ints
from ..errors import Argument, DataError

ValueType = Literal["number", "boolean", "text", "missing"]


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
    Otherwise they are the values that occur, sorted.
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
                f"column {name!r}, row {row}: {column.categories[code]!r} is not a number; correct it, mark it as "
                "missing, or leave the column out of ",
                Argument("numeric"),
            ) from error
    return NumberColumn(values[column.codes])


def strict_float(value: Category) -> float:
    """Return `float(value)`, but raise ValueError for text with underscores, such as 1_000, which Python accepts."""
    if isinstance(value, str) and "_" in value:
        raise ValueError(value)
    return float(value)


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


def value_type(categories: Sequence[Category]) -> ValueType | None:
    """Return the value type of the categories of a column, or None if there are no categories."""
    return value_type_of_class(type(categories[0])) if categories else None


def code_of_category(categories: Sequence[Category]) -> dict[Category, int]:
    """Return the code of each category: its position."""
    return {category: code for code, category in enumerate(categories)}
