"""Write numbers, names, categories, thresholds, rows and errors as text on one line, as all displays show them.

The scripts of the report contain the same functions as `format_number`, `format_measure` and `format_percent`
(`numbers.js`); change both together.
"""

import math
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np

from .._utils.arrays import Array, ArrayLike
from ..core import LeafShares, Tree
from ..core.class_names import as_one_line
from ..data.dates import format_date
from ..data.table import Column
from ..errors import Argument, ParameterError

MAX_MEAN_DECIMALS = 12  # a mean that needs more is written with all its digits
MIN_PLAIN_NUMBER, MAX_PLAIN_NUMBER = 1e-7, 1e15  # numbers outside are written with an exponent
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def range_text(name: str, low: str, high: str, *, can_be_missing: bool, can_be_known: bool, has_missing: bool) -> str:
    """Return the condition that a numeric column lies in a range, as text; empty if every value satisfies it.

    Parameters
    ----------
    name : str
        Name of the column.
    low, high : str
        The value is above `low` and at most `high`; empty where the range has no end.
    can_be_missing, can_be_known : bool
        Whether a missing value, and whether a known value, satisfies the condition.
    has_missing : bool
        Whether the column had missing values in growing; only then the text mentions them beside a range.
    """
    if not can_be_known:
        return f"{name} is missing" if can_be_missing else f"{name} > inf"
    if not (low or high):
        return "" if can_be_missing else f"{name} is known"
    text = f"{name} <= {high}" if high else f"{name} > {low}"
    text = f"{low} < {text}" if low and high else text
    return f"{text} or missing" if has_missing and can_be_missing else text


def categories_text(name: str, codes: Array, categories: Sequence[object] | None, *, has_missing: bool) -> str:
    """Return the condition that a nominal column has one of some categories, as text.

    The code after the last category stands for missing values; with `has_missing`, the text mentions them.
    """
    if categories is None:
        return f"{name} in {{{', '.join(f'category {code}' for code in codes)}}}"
    words = [category_text(categories[code]) for code in codes if code < len(categories)]
    can_be_missing = has_missing and len(codes) > len(words)
    if not words:  # the set contains only missing values, or only categories that growing did not see
        return f"{name} is missing" if can_be_missing else f"{name} is another"
    text = f"{name} = {words[0]}" if len(words) == 1 else f"{name} in {{{', '.join(words)}}}"
    return f"{text} or missing" if can_be_missing else text


def threshold_text(exact: float, rounded: float, decimals: int | None, *, is_date: bool) -> str:
    """Return a threshold as text that splits the growing rows as the exact threshold does.

    Parameters
    ----------
    exact : float
        The threshold.
    rounded : float
        A shorter number that splits the growing rows in the same way; NaN if unknown. Every number between `exact` and
        `rounded` splits them in this way too.
    decimals : int, optional
        Digits after the point. They are used only if the result lies between `exact` and `rounded`.
    is_date : bool
        Whether the threshold is a day.
    """
    if not math.isfinite(exact):
        return str(exact)
    short = exact if math.isnan(rounded) else rounded
    if is_date:
        return format_date(short)
    if decimals is not None and abs(exact) < MAX_PLAIN_NUMBER:
        for text in (f"{exact:.{decimals}f}", f"{short:.{decimals}f}"):
            if min(exact, short) <= float(text) <= max(exact, short):
                return text
    return number_text(short)


def number_text(value: float) -> str:
    """Return a number in the fewest digits that are read back as the same double."""
    is_plain = value == 0 or MIN_PLAIN_NUMBER <= abs(value) < MAX_PLAIN_NUMBER
    return np.format_float_positional(value, trim="-") if is_plain else repr(value)


def mean_text(value: float, decimals: int | None) -> str:
    """Return the number that a leaf predicts as text, with `decimals` digits after the point (None: two).

    A number below 1 gets at least three significant digits.
    """
    decimals = 2 if decimals is None else decimals
    if abs(value) >= MAX_PLAIN_NUMBER:
        return repr(value)
    if 0 < abs(value) < 1:
        decimals = max(decimals, 2 - math.floor(math.log10(abs(value))))
    return repr(value) if decimals > MAX_MEAN_DECIMALS else f"{value:.{decimals}f}"


def percent_text(share: float, n_decimals: int = 1) -> str:
    """Return a share in percent as text."""
    return f"{100 * share:.{n_decimals}f} %"


def error_text(value: float, *, is_share: bool) -> str:
    """Return an error rate in percent, or a mean squared error in six digits."""
    return percent_text(value, 2) if is_share else f"{value:.6g}"


def format_number(value: float) -> str:
    """Return a number as text: whole numbers with all their digits, others with four significant digits."""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    if value == round(value) and abs(value) < MAX_PLAIN_NUMBER:
        return f"{round(value):,}"
    size = abs(value)
    if size >= MAX_PLAIN_NUMBER or size < 1e-4:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    if size >= 1000:
        return f"{value:,.0f}"
    n_decimals = 3 - math.floor(math.log10(float(f"{size:.3e}")))
    text = f"{value:.{n_decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_measure(value: float, n_digits: int = 3) -> str:
    """Return a measured number as text with `n_digits` significant digits.

    Thousands have a comma, millions and more a unit (M, G, T), and very small or large numbers a power of ten.
    """
    if not math.isfinite(value) or (value == round(value) and abs(value) < 1000):
        return format_number(value)
    mantissa, power = f"{value:.{n_digits - 1}e}".split("e")
    exponent = int(power)
    if exponent < -3 or exponent >= 15:
        return f"{mantissa}\u00d710{str(exponent).translate(SUPERSCRIPTS)}"
    unit_exponent = 0 if exponent < 6 else exponent - exponent % 3
    n_decimals = max(0, n_digits - 1 - exponent + unit_exponent)
    text = f"{float(f'{mantissa}e{exponent - unit_exponent}'):,.{n_decimals}f}"
    return f"{text}\u00a0{'MGT'[unit_exponent // 3 - 2]}" if unit_exponent else text


def format_percent(share: float) -> str:
    """Return a share in percent, with two decimals below ten percent and one above."""
    n_decimals = 2 if share < 0.0995 else 1
    steps_per_unit = 10 ** (n_decimals + 2)
    return f"{math.floor(share * steps_per_unit + 0.5) / steps_per_unit * 100:.{n_decimals}f}\u00a0%"


def round_values(values: ArrayLike, n_digits: int = 7) -> list[float | None]:
    """Return an array as a list whose floats have `n_digits` significant digits; None for infinite values and NaN."""
    array = np.asarray(values)
    is_float = array.dtype.kind not in "iub"
    return [_round(x, n_digits) if is_float else x for x in array.tolist()]


def _round(value: float, n_digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{n_digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < MAX_PLAIN_NUMBER else rounded


def rows_text(total: float, *, is_whole: bool) -> str:
    """Return a number of rows as text, such as "3 rows"; for weights that are not whole, such as "weight 2.5"."""
    if not is_whole:
        return f"weight {total:,.4g}"
    return "1 row" if total == 1 else f"{int(total):,} rows"


def share_limit_text(limits: LeafShares, node: int, label: int | None, names: Sequence[str]) -> str:
    """Return the observed share of one class in a leaf and its limit, as text.

    The class and the side of the limit are those that matter to a reader:

    - the class that `limits` displays, if there is one, with its upper limit;
    - for two classes, the class that the leaf does not predict, with its upper limit;
    - for more classes, the predicted class with its lower limit.

    Parameters
    ----------
    limits : LeafShares
        Limits on the class shares of the leaves.
    node : int
        The leaf.
    label : int, optional
        The class that the leaf predicts; by default the most frequent one of the sample.
    names : sequence of str
        Names of the classes.
    """
    i = int(np.searchsorted(limits.nodes, node))
    n = int(limits.n[i])
    if n == 0:
        return "no row held out"
    n_classes = len(limits.classes)
    if label is None or label >= n_classes:
        label = int(limits.count[i].argmax())
    if limits.displayed_class:
        shown = limits.classes.index(limits.displayed_class)
    else:
        shown = 1 - label if n_classes == 2 else label
    # Limits are rounded away from the observed share, so that the text is a limit too.
    if n_classes == 2 or limits.displayed_class:
        limit = f"at most {math.ceil(1000 * limits.upper[i, shown]) / 10:.1f} %"
    else:
        limit = f"at least {math.floor(1000 * limits.lower[i, shown]) / 10:.1f} %"
    return f"{names[shown]} {percent_text(limits.share[i, shown])} of {n:,} held out ({limit})"


def column_names(tree: Tree, feature_names: Sequence[str] | None) -> list[str]:
    """Return the names of all columns of a tree, each on one line.

    Parameters
    ----------
    tree : Tree
    feature_names : sequence of str, optional
        Names to use instead of those in the schema of the tree; refused unless there is one per column. A tree without
        a schema has the names feature_0, feature_1, ... by default.
    """
    known = None if tree.schema is None else tree.schema.names
    n_needed = int(tree.feature.max()) + 1 if known is None else len(known)
    if feature_names is None:
        feature_names = [f"feature_{j}" for j in range(n_needed)] if known is None else known
    if not isinstance(feature_names, Iterable) or not isinstance(feature_names, Sized):
        raise ParameterError(Argument("feature_names", feature_names), "; one name for each column is needed")
    has_wrong_length = len(feature_names) < n_needed or (known is not None and len(feature_names) != n_needed)
    if isinstance(feature_names, str) or has_wrong_length:
        raise ParameterError(f"feature_names holds {len(feature_names)} names; the tree has {n_needed} columns")
    return [as_one_line(str(name)) for name in feature_names]


def category_text(value: object) -> str:
    """Return a category as text. Text that is empty, begins or ends with a space, or contains , { } ' \" is quoted."""
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_PLAIN_NUMBER:
        value = int(value)  # whole numbers are often stored as floats; write 2, not 2.0
    text = as_one_line(str(value))
    is_phrase = text and text == text.strip() and not set(text) & set(",{}'\"")
    if is_phrase or not isinstance(value, str):
        return text
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"'


def value_text(column: Column, value: Any) -> str:
    """Return a known value of a column as text: a category (from its code), a date or a number."""
    if column.kind == "nominal":
        return category_text(column.categories[value])
    return format_date(float(value)) if column.is_date else number_text(float(value))
