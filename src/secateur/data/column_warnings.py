"""Warnings about columns that are accepted, but may have another meaning than the user intended."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Category
from .._utils.warn import format_names, warn
from ..errors import Argument
from .raw_column import strict_float

MAX_CATEGORIES_WITHOUT_WARNING = 1000
MIN_NUMBERS_AMONG_WORDS = 10  # a column of text with fewer distinct numbers is not called numeric
MAX_WORDS_AMONG_NUMBERS = 3  # a column of numbers with more distinct words is a column of text


def warn_merging(matrix: Array, names: Sequence[str]) -> None:
    """Warn about columns of whole numbers that float64 cannot tell apart."""
    if matrix.dtype.kind not in "iu" or matrix.dtype.itemsize < 8:
        return
    is_large = (matrix.max(axis=0) > MAX_EXACT_INT) | (matrix.min(axis=0) < -MAX_EXACT_INT)
    for j in np.flatnonzero(is_large).tolist():
        warn(
            f"column {names[j]!r} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
            "subtract an offset, or pass ",
            Argument("nominal", [names[j]]),
            " if it is an identifier",
        )


def warn_infinite(column: Array, name: str) -> None:
    """Warn about a column in which more than 1 % of the values are infinite."""
    n_infinite = np.count_nonzero(np.isinf(column))
    if n_infinite > len(column) / 100:
        warn(f"column {name!r} is infinite in {n_infinite:,} of {len(column):,} rows; they are ordered as values")


def warn_categories(name: str, categories: Sequence[Category]) -> None:
    """Warn about a column with very many categories, or with two categories that look the same."""
    if len(categories) > MAX_CATEGORIES_WITHOUT_WARNING:
        warn(
            f"column {name!r} has {len(categories):,} categories; is it an identifier, or a number (",
            Argument("numeric", [name]),
            ")?",
        )
    seen: dict[str, str] = {}
    for category in categories:
        if not isinstance(category, str):
            return
        plain = unicodedata.normalize("NFKC", category).strip().casefold()
        if plain in seen:
            warn(
                f"column {name!r}: the categories {seen[plain]!r} and {category!r} differ only by case, spaces or "
                "Unicode form; they are kept apart"
            )
            return
        seen[plain] = category


def warn_looks_numeric(name: str, categories: Sequence[str]) -> None:
    """Warn about a column of text that spells numbers, apart from a few words."""
    words = []
    for category in categories:
        try:
            strict_float(category)
        except ValueError:
            words.append(category)
            if len(words) > MAX_WORDS_AMONG_NUMBERS:
                return
    n_numbers = len(categories) - len(words)
    keep_categories = (Argument("nominal", [name]), " to keep the categories")
    if n_numbers and not words:
        warn(
            f"column {name!r} is text that looks numeric ({format_names(categories, 3)}) and is taken as categories; "
            "pass ",
            Argument("numeric", [name]),
            " to convert it, or pass ",
            *keep_categories,
        )
    elif n_numbers >= MIN_NUMBERS_AMONG_WORDS:
        warn(
            f"column {name!r} is text that looks numeric but for {format_names(words)} and is taken as categories; "
            "make these missing values (",
            Argument("na"),
            " for a CSV file), or pass ",
            *keep_categories,
        )
