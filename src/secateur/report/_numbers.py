"""How numbers are written on the page, the twins of `numbers.js`, and handed to its scripts."""

import math
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike

Entries = dict[str, Any]  # plain values for the page, by name


def number(value: float) -> str:
    """A number: whole ones in full, others with four digits."""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{round(value):,}"
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        digits, exponent = f"{value:.3e}".split("e")
        return f"{digits}e{int(exponent)}"
    if size >= 1000:
        return f"{value:,.0f}"
    decimals = 3 - math.floor(math.log10(float(f"{size:.3e}")))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure(value: float, digits: int = 3) -> str:
    """A measured number with so many digits: thousands marks, from a million on M, G and T, powers of ten beyond."""
    if not math.isfinite(value) or (value == round(value) and abs(value) < 1000):
        return number(value)
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    e = int(power)
    if e < -3 or e >= 15:
        return f"{mantissa}\u00d710{str(e).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    shift = 0 if e < 6 else e - e % 3
    text = f"{float(f'{mantissa}e{e - shift}'):,.{max(0, digits - 1 - e + shift)}f}"
    return f"{text}\u00a0{'MGT'[shift // 3 - 2]}" if shift else text


def percent(share: float) -> str:
    """A share in percent: two decimals under ten percent, one above."""
    unit = 1e4 if share < 0.0995 else 1e3
    return f"{math.floor(share * unit + 0.5) / unit * 100:.{2 if unit == 1e4 else 1}f}\u00a0%"


def short(values: ArrayLike, n_digits: int = 7) -> list[float | None]:
    """Numbers as a list; real ones with so many digits, None where there is none."""
    array = np.asarray(values)
    is_real = array.dtype.kind not in "iub"
    return [_rounded(x, n_digits) if is_real else x for x in array.tolist()]


def _rounded(value: float, n_digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{n_digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
