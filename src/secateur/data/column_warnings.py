"""Warnings about columns that are used as they are, but may not be what the user meant."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Category
from .._utils.warn import format_names, warn
from ..errors import Argument

MAX_CATEGORIES_WITHOUT_WARNING = 1000
MAX_WORDS_AMONG_NUMBERS = 3  # so many words among numbers are marks for missing values; more are a column of words


def warn_merging(matrix: Array, names: Sequence[str]) -> None:
    """Warn of whole numbers that are not exact as float64."""
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
    """Warn of a column with more than one infinite value in a hundred."""
    n_infinite = np.count_nonzero(np.isinf(column))
    if n_infinite > len(column) / 100:
        warn(f"column {name!r} is infinite in {n_infinite:,} of {len(column):,} rows; they are ordered as values")


def warn_categories(name: str, levels: Sequence[Category]) -> None:
    """Warn of very many categories, and of two that look the same."""
    if len(levels) > MAX_CATEGORIES_WITHOUT_WARNING:
        warn(
            f"column {name!r} has {len(levels):,} categories; is it an identifier, or a number (",
            Argument("numeric", [name]),
            ")?",
        )
    seen: dict[str, str] = {}
    for level in levels:
        if not isinstance(level, str):
            return
        plain = unicodedata.normalize("NFKC", level).strip().casefold()
        if plain in seen:
            warn(
                f"column {name!r}: the categories {seen[plain]!r} and {level!r} differ only by case, spaces or "
                "Unicode form; they are kept apart"
            )
            return
        seen[plain] = level


def warn_looks_numeric(name: str, levels: Sequence[str]) -> None:
    """Warn of text that spells numbers, but for a few words at most."""
    words = []
    for level in levels:
        try:
            strict_float(level)
        except ValueError:
            words.append(level)
            if len(words) > MAX_WORDS_AMONG_NUMBERS:
                return
    n_numbers = len(levels) - len(words)
    nominal = Argument("nominal", [name])
    if n_numbers and not words:
        warn(
            f"column {name!r} is text that looks numeric ({format_names(levels, 3)}) and is taken as categories; pass ",
            Argument("numeric", [name]),
            " to convert it, or pass ",
            nominal,
            " to keep the categories",
        )
    elif n_numbers >= 10:
        warn(
            f"column {name!r} is text that looks numeric but for {format_names(words)} and is taken as categories; "
            "make these missing values (",
            Argument("na"),
            " for a CSV file), or pass ",
            nominal,
            " to keep the categories",
        )


def strict_float(level: Category) -> float:
    """Return the number that a value is or spells; ValueError if it is none."""
    if isinstance(level, str) and "_" in level:  # Python would read 1_000
        raise ValueError(level)
    return float(level)
