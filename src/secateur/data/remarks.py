"""Warnings about data that is taken as it is, but may not be what was meant."""

import inspect
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import printable
from .arrays import Array, Level

EXACT_WHOLE = 2**53  # float64 holds every whole number up to here
MANY_CATEGORIES = 1000
FEW_WORDS = 3  # so many words among numbers are marks for missing values; more are a column of words


def tell(message: str) -> None:
    """Warn, pointing at the first line outside the package."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "secateur":
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(message), UserWarning, stacklevel=level + 1)


def listed(names: Sequence[Level], at_most: int = 10) -> str:
    """Return the first few names, quoted, and how many more there are."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(repr(name.item() if isinstance(name, np.generic) else name) for name in names[:at_most]) + more


def repeated(names: Iterable[Level]) -> str:
    """Return what is wrong with column names that occur twice; nothing if none do."""
    twice = [repr(name) for name, n in Counter(names).items() if n > 1]
    return f"column names must be unique; repeated: {', '.join(twice[:5])}; rename them" if twice else ""


def tell_merging(matrix: Array, names: Sequence[str]) -> None:
    """Warn of whole numbers that are not exact as float64."""
    if matrix.dtype.kind not in "iu" or matrix.dtype.itemsize < 8:
        return
    is_large = (matrix.max(axis=0) > EXACT_WHOLE) | (matrix.min(axis=0) < -EXACT_WHOLE)
    for j in np.flatnonzero(is_large).tolist():
        tell(
            f"column {names[j]!r} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
            "subtract an offset, or pass it in nominal= if it is an identifier"
        )


def tell_infinite(column: Array, name: str) -> None:
    """Warn of a column with more than one infinite value in a hundred."""
    n_infinite = np.count_nonzero(np.isinf(column))
    if n_infinite > len(column) / 100:
        tell(f"column {name!r} is infinite in {n_infinite:,} of {len(column):,} rows; they are ordered as values")


def tell_categories(name: str, levels: Sequence[Level]) -> None:
    """Warn of very many categories, and of two that look the same."""
    if len(levels) > MANY_CATEGORIES:
        tell(f"column {name!r} has {len(levels):,} categories; is it an identifier, or a number (numeric=)?")
    seen: dict[str, str] = {}
    for level in levels:
        if not isinstance(level, str):
            return
        plain = unicodedata.normalize("NFKC", level).strip().casefold()
        if plain in seen:
            tell(
                f"column {name!r}: the categories {seen[plain]!r} and {level!r} differ only by case, spaces or "
                "Unicode form; they are kept apart"
            )
            return
        seen[plain] = level


def tell_looks_numeric(name: str, levels: Sequence[str]) -> None:
    """Warn of text that spells numbers, but for a few words at most."""
    words = []
    for level in levels:
        try:
            spelled(level)
        except ValueError:
            words.append(level)
            if len(words) > FEW_WORDS:
                return
    n_numbers = len(levels) - len(words)
    keep = f"or pass nominal=[{name!r}] to keep it so"
    if n_numbers and not words:
        tell(
            f"column {name!r} is text that looks numeric ({listed(levels, 3)}) and is taken as categories; "
            f"pass numeric=[{name!r}] to convert it, {keep}"
        )
    elif n_numbers >= 10:
        tell(
            f"column {name!r} is text that looks numeric but for {listed(words)} and is taken as categories; "
            f"make these missing values (na= for a CSV file), {keep}"
        )


def spelled(level: Level) -> float:
    """Return the number that a value is or spells; ValueError if it is none."""
    if isinstance(level, str) and "_" in level:  # Python would read 1_000
        raise ValueError(level)
    return float(level)
