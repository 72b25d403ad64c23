"""Write numbers as text for the page, like their twins in `numbers.js`, and round arrays for its data block."""

import math
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike

Entries = dict[str, Any]  # plain values of the data block, by name

MAX_EXACT_WHOLE = 1e15  # larger whole numbers are written with an exponent
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float) -> str:
    """Return a number as text: whole numbers with all their digits, others with four significant digits."""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    if value == round(value) and abs(value) < MAX_EXACT_WHOLE:
        return f"{round(value):,}"
    size = abs(value)
    if size >= MAX_EXACT_WHOLE or size < 1e-4:
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
    return int(rounded) if rounded.is_integer() and abs(rounded) < MAX_EXACT_WHOLE else rounded
