"""Names, categories and thresholds in words: on one line, and never mistaken for one another."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.arrays import Array
from ..core import LeafShares, Tree
from ..core.class_names import plain
from ..data.dates import format_date
from ..data.table import Column
from ..errors import ParameterError

MOST_DECIMALS = 12  # beyond, a mean is written out in full
TOO_SMALL, TOO_LARGE = 1e-7, 1e15  # numbers beyond have an exponent


def range_text(name: str, low: str, high: str, *, can_be_missing: bool, can_be_known: bool, gaps: bool) -> str:
    """What is known of a number: above `low`, at most `high`, or missing; empty if that is nothing."""
    if not can_be_known:
        return f"{name} is missing" if can_be_missing else f"{name} > inf"
    if not (low or high):
        return "" if can_be_missing else f"{name} is known"
    text = f"{name} <= {high}" if high else f"{name} > {low}"
    text = f"{low} < {text}" if low and high else text
    return f"{text} or missing" if gaps and can_be_missing else text


def categories_text(name: str, codes: Array, categories: Sequence[object] | None, *, gaps: bool) -> str:
    """A test for a set of categories; the code after the last category is missing."""
    if categories is None:
        return f"{name} in {{{', '.join(f'category {code}' for code in codes)}}}"
    words = [category_text(categories[code]) for code in codes if code < len(categories)]
    can_be_missing = gaps and len(codes) > len(words)
    if not words:  # nothing but missing, or what growing did not see
        return f"{name} is missing" if can_be_missing else f"{name} is another"
    text = f"{name} = {words[0]}" if len(words) == 1 else f"{name} in {{{', '.join(words)}}}"
    return f"{text} or missing" if can_be_missing else text


def threshold_text(exact: float, rounded: float, decimals: int | None, *, is_date: bool) -> str:
    """A threshold as people read it; `rounded` parts the growing rows as it does (NaN: not known).

    So does every number between the two. With `decimals` it is the threshold with so many digits,
    if that lies there.
    """
    if not math.isfinite(exact):
        return str(exact)
    short = exact if math.isnan(rounded) else rounded
    if is_date:
        return format_date(short)
    if decimals is not None and abs(exact) < TOO_LARGE:
        for text in (f"{exact:.{decimals}f}", f"{short:.{decimals}f}"):
            if min(exact, short) <= float(text) <= max(exact, short):
                return text
    return number_text(short)


def number_text(value: float) -> str:
    """A number in as few digits as read back as the same double."""
    is_plain = value == 0 or TOO_SMALL <= abs(value) < TOO_LARGE
    return np.format_float_positional(value, trim="-") if is_plain else repr(value)


def mean_text(value: float, decimals: int | None) -> str:
    """A number that a leaf answers: with so many decimals, and more for three digits of a small one."""
    decimals = 2 if decimals is None else decimals
    if abs(value) >= TOO_LARGE:
        return repr(value)
    if 0 < abs(value) < 1:
        decimals = max(decimals, 2 - math.floor(math.log10(abs(value))))
    return repr(value) if decimals > MOST_DECIMALS else f"{value:.{decimals}f}"


def error_text(value: float, *, is_share: bool) -> str:
    """An error rate in percent, or a mean squared error."""
    return f"{100 * value:.2f} %" if is_share else f"{value:.6g}"


def rows_text(total: float, *, is_whole: bool) -> str:
    """How many rows, or their weight."""
    if not is_whole:
        return f"weight {total:,.4g}"
    return "1 row" if total == 1 else f"{int(total):,} rows"


def share_limit_text(limits: LeafShares, node: int, label: int | None, names: Sequence[str]) -> str:
    """The share of a class in a leaf, as found in the sample and with its limit.

    Of two classes it is the one the leaf does not answer, and at most so much; of more, the one it
    answers (without an answer: the most frequent), and at least so much. A class that `limits` tells
    is told in every leaf, at most so much.
    """
    i = int(np.searchsorted(limits.nodes, node))
    n = int(limits.n[i])
    if n == 0:
        return "no row held out"
    n_classes = len(limits.classes)
    if label is None or label >= n_classes:
        label = int(limits.count[i].argmax())
    is_upper = n_classes == 2 or bool(limits.displayed_class)
    c = (
        limits.classes.index(limits.displayed_class)
        if limits.displayed_class
        else 1 - label
        if n_classes == 2
        else label
    )
    # In tenths of a percent, away from what was found: what is written holds too.
    limit = math.ceil(1000 * limits.upper[i, c]) if is_upper else math.floor(1000 * limits.lower[i, c])
    side = "at most" if is_upper else "at least"
    return f"{names[c]} {100 * limits.share[i, c]:.1f} % of {n:,} held out ({side} {limit / 10:.1f} %)"


def column_names(tree: Tree, given: Sequence[str] | None) -> list[str]:
    known = None if tree.schema is None else tree.schema.names
    n_needed = int(tree.feature.max()) + 1 if known is None else len(known)
    if given is None:
        given = [f"feature_{j}" for j in range(n_needed)] if known is None else known
    elif isinstance(given, str) or len(given) < n_needed or (known is not None and len(given) != n_needed):
        raise ParameterError(f"feature_names holds {len(given)} names; the tree has {n_needed} columns")
    return [plain(str(name)) for name in given]


def category_text(value: object) -> str:
    """A category: bare if it reads as one word or phrase, else in quotes."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)  # 2, not 2.0: whole numbers are often kept as floats
    text = plain(str(value))
    is_bare = text and text == text.strip() and not set(text) & set(",{}'\"")
    return text if is_bare or not isinstance(value, str) else f'"{text.replace(chr(34), chr(92) + chr(34))}"'


def value_text(column: Column, value: Any) -> str:
    """A known value of a column: a category, a date or a number."""
    if column.kind == "nominal":
        return category_text(column.categories[value])
    return (format_date if column.is_date else number_text)(float(value))
