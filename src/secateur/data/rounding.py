"""Numbers as short as they can be: for people who read thresholds."""

import numpy as np

from .arrays import Floats

MOST_DIGITS = 22  # after the point; 10**22 is the largest power of ten that is a double


def shortest(low: Floats, at: Floats, high: Floats) -> Floats:
    """Return numbers d with low <= d < high and as few digits after the point as can be.

    Of two that are as short it is the one nearer to `at`, the lower one in a tie. Where none is
    found, or `at` is not finite, it is `at` itself.
    """
    found = np.array(at, np.float64)
    waiting = np.flatnonzero(np.isfinite(found))
    for n_digits in range(MOST_DIGITS + 1):
        if not len(waiting):
            break
        scale, exact = 10.0**n_digits, found[waiting]
        least, limit = low[waiting], high[waiting]
        with np.errstate(over="ignore", invalid="ignore"):
            down, up = np.floor(exact * scale) / scale, np.ceil(exact * scale) / scale
            is_up = (up < limit) & (~(down >= least) | (up - exact < exact - down))
            short = np.where(is_up, up, down) + 0.0  # never -0
            is_found = (least <= short) & (short < limit)
        found[waiting[is_found]] = short[is_found]
        waiting = waiting[~is_found]
    return found
