"""What the arguments of the analysis must be."""

from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..errors import ParameterError


def between(name: str, values: ArrayLike, low: float, high: float, why: str = "") -> Floats:
    """Return numbers that all lie in [low, high], or name the first that does not."""
    array = np.asarray(values, dtype=np.float64)
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        found = array[wrong].flat[0]
        raise ParameterError(f"{name}={found:g}; a number from {low:g} to {high:g} is needed{why}")
    return array


def plain(array: Floats) -> Any:
    """Return a float for a single number, the array otherwise, as NumPy's own functions do."""
    return float(array) if array.ndim == 0 else array
