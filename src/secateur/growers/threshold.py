"""Thresholds between two values: the midpoint, and the shortest decimal number."""

import numpy as np

from .._utils.arrays import Array, Floats
from ..core import MAX_ROUNDED_DIGITS


def midpoint(low: Array, high: Array) -> Array:
    """Return a threshold t with low <= t < high: the midpoint, or `low` if no float lies between."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low / 2 + high / 2
        return np.where((low <= middle) & (middle < high), middle, low)


def shortest_decimals(low: Floats, exact: Floats, high: Floats) -> Floats:
    """Return numbers d with low <= d < high that have as few digits after the decimal point as possible.

    Parameters
    ----------
    low, high : array of float
        Limits of each number.
    exact : array of float
        The threshold between the limits. Of two candidates with the same number of digits, the result is the one nearer
        to `exact`, and the lower one in a tie. The result is `exact` itself where no candidate exists or `exact` is
        infinite.
    """
    shortest = np.array(exact, np.float64)
    waiting = np.flatnonzero(np.isfinite(shortest))
    for n_digits in range(MAX_ROUNDED_DIGITS + 1):
        if not len(waiting):
            break
        scale, target = 10.0**n_digits, shortest[waiting]
        lower_limit, upper_limit = low[waiting], high[waiting]
        with np.errstate(over="ignore", invalid="ignore"):
            down, up = np.floor(target * scale) / scale, np.ceil(target * scale) / scale
            is_up = (up < upper_limit) & (~(down >= lower_limit) | (up - target < target - down))
            candidate = np.where(is_up, up, down) + 0.0  # Adding 0 turns -0 into 0.
            is_valid = (lower_limit <= candidate) & (candidate < upper_limit)
        shortest[waiting[is_valid]] = candidate[is_valid]
        waiting = waiting[~is_valid]
    return shortest
