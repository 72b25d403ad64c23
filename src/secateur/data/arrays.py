"""What arrays are called, and read-only ones for the nouns."""

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Sums = npt.NDArray[Any]  # int64 or float64: counts and costs
Ints = npt.NDArray[np.int32]  # nodes, labels, codes
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """Return `values` as a read-only array that nobody else can write.

    An array that is read-only already is taken as it is; any other is copied.
    """
    array = np.asarray(values)
    if array.flags.writeable or (dtype is not None and array.dtype != dtype):
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array


def sealed(array: Array) -> Array:
    """Write-protect an array that we have just made, and return it."""
    array.flags.writeable = False
    return array


def same(a: Array | None, b: Array | None) -> bool:
    """Whether two arrays are equal, a NaN being equal to a NaN."""
    if a is None or b is None:
        return a is b
    if a is b:
        return True
    is_float = a.dtype.kind == "f" and b.dtype.kind == "f"
    return np.array_equal(a, b, equal_nan=is_float)


def rebuilt(noun: Any) -> tuple[type, tuple[Any, ...]]:
    """How to pickle and copy a noun: through its constructor, which checks and write-protects again."""
    return type(noun), tuple(getattr(noun, field.name) for field in fields(noun) if field.init)
