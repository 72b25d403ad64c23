"""Sums over all ways to spread examples over equal cells."""

import math

import numpy as np
import numpy.typing as npt

from ._jit import njit

Floats = npt.NDArray[np.float64]


@njit
def log_power_coefficient(weights: Floats, power: int) -> float:
    """ln of the last coefficient (index len - 1) of the polynomial `weights` to `power` >= 1.

    Every term is non-negative, so nothing cancels; each product is divided by its sum,
    kept in logs, so nothing underflows as a whole. O(len^2 ln power) by repeated squaring.
    """
    square = weights / weights.sum()
    log_square = math.log(weights.sum())
    result = np.zeros_like(weights)
    result[0] = 1.0
    log_result = 0.0
    while True:
        if power & 1:
            result = _truncated_product(result, square)
            total = result.sum()
            if total == 0.0:
                return -math.inf
            result /= total
            log_result += log_square + math.log(total)
        power >>= 1
        if power == 0:
            break
        square = _truncated_product(square, square)
        total = square.sum()
        if total == 0.0:
            return -math.inf
        square /= total
        log_square = 2.0 * log_square + math.log(total)
    last = result[-1]
    return log_result + math.log(last) if last > 0.0 else -math.inf


@njit
def _truncated_product(a: Floats, b: Floats) -> Floats:
    """The product of two polynomials without the powers from len on."""
    n = a.shape[0]
    product = np.zeros(n)
    for i in range(n):
        if a[i] != 0.0:
            for j in range(n - i):
                product[i + j] += a[i] * b[j]
    return product
