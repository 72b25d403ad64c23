"""Checks of the arguments of the analysis, and the type of its results."""

from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..errors import ParameterError


def check_between(name: str, values: ArrayLike, low: float, high: float, reason: str = "") -> Floats:
    """Return numbers as an array; refuse the first that is not in [low, high]."""
    array = np.asarray(values, dtype=np.float64)
    is_outside = ~((array >= low) & (array <= high))
    if is_outside.any():
        raise ParameterError(
            f"{name}={array[is_outside].flat[0]:g}; a number from {low:g} to {high:g} is needed{reason}"
        )
    return array


def scalar_or_array(array: Floats) -> Any:
    """Return an array without dimensions as a float, as NumPy's functions do, and any other array unchanged."""
    return float(array) if array.ndim == 0 else array
