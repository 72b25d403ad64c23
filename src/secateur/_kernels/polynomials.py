"""A coefficient of a power of a polynomial: a sum over all ways to distribute rows over equal cells."""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, log
from cython.cimports.secateur._kernels.views import Floats


def log_power_coefficient(weights: Floats, power: cython.longlong):
    """Return the logarithm of the last coefficient (index len - 1) of the polynomial `weights` to the power `power`.

    Coefficients are not negative, so nothing cancels. Each product is divided by its sum, and the sums are kept as
    logarithms, so a product as a whole cannot underflow. Repeated squaring takes O(len^2 log(power)) steps.
    """
    n = weights.shape[0]
    result: cython.double[::1] = np.zeros(n)
    square: cython.double[::1] = np.array(weights)
    product: cython.double[::1] = np.empty(n)
    log_result: cython.double = 0.0
    with cython.nogil:
        result[0] = 1.0
        log_square = log(_divide_by_sum(square))
        while True:
            if power & 1:
                _truncated_product(result, square, product)
                result, product = product, result
                log_result += log_square + log(_divide_by_sum(result))
            power >>= 1
            if power == 0:
                break
            _truncated_product(square, square, product)
            square, product = product, square
            log_square = 2.0 * log_square + log(_divide_by_sum(square))
    last = result[n - 1]
    return log_result + log(last) if last > 0.0 else -INFINITY


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _divide_by_sum(a: cython.double[::1]) -> cython.double:
    """Divide an array by its sum, unless the sum is 0, and return the sum."""
    total: cython.double = 0.0
    for i in range(a.shape[0]):
        total += a[i]
    if total != 0.0:
        for i in range(a.shape[0]):
            a[i] /= total
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _truncated_product(a: cython.double[::1], b: cython.double[::1], product: cython.double[::1]) -> cython.void:
    """Set `product` to the product of two polynomials, without the powers from len on."""
    n = a.shape[0]
    for i in range(n):
        product[i] = 0.0
    for i in range(n):
        if a[i] != 0.0:
            for j in range(n - i):
                product[i + j] += a[i] * b[j]
