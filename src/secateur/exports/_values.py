"""Values and names in exported documents: plain values of Python, categories, Unicode, unique names, long lists."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from ..data.table import Column
from ..errors import UnsupportedError, show

PlainValue = str | bool | int | float
ValueFamily = Literal["text", "truth", "number"]  # exported Python modules contain these words
ITEMS_PER_LINE = 12
MAX_DOUBLE = float(np.finfo(np.float64).max)
MAX_EXACT_INT = 2**53  # beyond this number, a double cannot hold every whole number


def plain_value(value: object, name: str) -> PlainValue:
    """Return a category or a class label as a plain value of Python; messages call it `name`."""
    if isinstance(value, np.generic):
        value = value.item()
    for kind in (str, bool, int, float):  # bool before int, because a bool is an int too
        if isinstance(value, kind):
            return kind(value)
    try:
        return float(value)  # type: ignore[arg-type] # Decimal, Fraction
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            f"{name} {show(value)} is a {type(value).__name__}; text, numbers or booleans can be exported"
        ) from error


def categories_of(column: Column, *, is_double: bool = True) -> tuple[ValueFamily, list[Any]]:
    """Return the family of the values of a column, and its categories as plain values (none for a numeric column).

    With `is_double`, numbers become doubles in the target language. Categories that are whole numbers of 2**53 or more
    are then refused, because a double cannot distinguish all of them.
    """
    values = [plain_value(value, f"column {show(column.name)}: category") for value in column.categories]
    if column.kind == "nominal" and (not values or isinstance(values[0], str)):
        return "text", values
    if values and isinstance(values[0], bool):
        return "truth", values
    large = [value for value in values if isinstance(value, int) and abs(value) >= MAX_EXACT_INT]
    if large and is_double:
        raise UnsupportedError(
            f"column {show(column.name)} has the category {large[0]}, a whole number of 2**53 or more, which a double "
            "cannot distinguish from its neighbours; grow on the column as text, or export to Python"
        )
    return "number", values


def utf8(text: str, name: str) -> bytes:
    """Return text as UTF-8; refuse invalid Unicode with a message that calls the text `name`."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UnsupportedError(
            f"{name} {show(text)} is not valid Unicode (it has a lone surrogate); correct it"
        ) from error


def unique_name(wanted: str, taken: Sequence[str]) -> str:
    """Return `wanted`, followed by underscores until it differs from all names in `taken`, ignoring case."""
    taken_folded = {name.casefold() for name in taken}
    while wanted.casefold() in taken_folded:
        wanted += "_"
    return wanted


def join_in_lines(items: Iterable[str], separator: str = ", ") -> list[str]:
    """Return items joined into lines of at most `ITEMS_PER_LINE` items."""
    listed = list(items)
    return [separator.join(listed[k : k + ITEMS_PER_LINE]) for k in range(0, len(listed), ITEMS_PER_LINE)]
