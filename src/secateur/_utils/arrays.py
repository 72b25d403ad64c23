"""Types of arrays, and read-only arrays for frozen values."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

ArrayLike: TypeAlias = npt.ArrayLike  # what NumPy makes an array of
Array = npt.NDArray[Any]
LongsOrFloats = npt.NDArray[Any]  # int64 or float64: counts and costs
Ints = npt.NDArray[np.int32]  # nodes, labels, codes
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MAX_EXACT_INT = 2**53  # float64 holds every whole number up to here

# What users and other libraries hand in. Where it is read, it is looked at, and refused if it is something else.
Rows: TypeAlias = Any  # an array, a data frame, a sparse matrix, a list of rows, a Table, the path of a file
Labels: TypeAlias = Any  # a target: an array, a series, a list; the name of a column where rows have names
Columns: TypeAlias = Sequence[str | int] | str | int  # names or positions of columns
Category: TypeAlias = Any  # a category or a class: text, a number or a boolean
Frame: TypeAlias = Any  # a table of a data frame library
Series: TypeAlias = Any  # a column of one


def immutable_array(values: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """Return `values` as a read-only array that nobody else can write.

    An array that is read-only already is taken as it is; any other is copied.
    """
    array = np.asarray(values)
    if array.flags.writeable or (dtype is not None and array.dtype != dtype):
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array


def write_protect(array: Array) -> Array:
    """Write-protect an array that we have just made, and return it."""
    array.flags.writeable = False
    return array


def equal_values(a: Any, b: Any) -> bool:
    """Whether two values are equal: arrays by their values, a NaN being equal to a NaN, and tuples one by one."""
    if a is None or b is None or a is b:
        return a is b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal_values, a, b))
    if not isinstance(a, np.ndarray):
        return bool(a == b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f")


def reduce_to_fields(noun: Any) -> tuple[type, tuple[object, ...]]:
    """How to pickle and copy a noun: through its constructor, which checks and write-protects again."""
    return type(noun), tuple(getattr(noun, field.name) for field in fields(noun) if field.init)
