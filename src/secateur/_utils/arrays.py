"""Type aliases for arrays and user input, and functions that make arrays read-only."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

ArrayLike: TypeAlias = npt.ArrayLike  # anything that NumPy converts to an array
Array = npt.NDArray[Any]
LongsOrFloats = npt.NDArray[Any]  # int64 or float64: counts and costs
Ints = npt.NDArray[np.int32]  # nodes, labels, codes
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MAX_EXACT_INT = 2**53  # float64 represents every whole number up to this one

# User input and objects of other libraries. They are checked where they are read.
Rows: TypeAlias = Any  # an array, a data frame, a sparse matrix, a list of rows, a Table, or the path of a file
Labels: TypeAlias = Any  # a target: an array, a series, a list; or the name of a column
Columns: TypeAlias = Sequence[str | int] | str | int  # names or positions of columns
Category: TypeAlias = Any  # a category of a column or a class: text, a number or a boolean
Frame: TypeAlias = Any  # a table of a data frame library
Series: TypeAlias = Any  # a column of such a table


def immutable_array(values: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """Return `values` as a read-only array of type `dtype`.

    A read-only array of the right type is returned without a copy. Everything else is copied, so that no other
    code holds a writeable reference to the data.
    """
    array = np.asarray(values)
    if array.flags.writeable or (dtype is not None and array.dtype != dtype):
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array


def write_protect(array: Array) -> Array:
    """Make an array read-only in place, and return it. Only for arrays that the caller has just created."""
    array.flags.writeable = False
    return array


def equal_values(a: Any, b: Any) -> bool:
    """Return whether two values are equal.

    Arrays are compared element by element, and NaN is equal to NaN. Tuples are compared item by item.
    """
    if a is None or b is None or a is b:
        return a is b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal_values, a, b))
    if not isinstance(a, np.ndarray):
        return bool(a == b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f")


def reduce_to_fields(value: Any) -> tuple[type, tuple[object, ...]]:
    """Implement `__reduce__` of a dataclass by its fields.

    Copies and unpickled values are made by the constructor, which checks the fields and write-protects the arrays.
    """
    return type(value), tuple(getattr(value, field.name) for field in fields(value) if field.init)


class Immutable:
    """Base class of frozen dataclasses with array fields.

    Two values are equal if all fields are equal, except those declared with `compare=False`. The hash is the hash
    of the first compared field.
    """

    __reduce__ = reduce_to_fields

    @property
    def _compared_values(self) -> list[Any]:
        """The values of the fields that decide whether two instances are equal."""
        return [getattr(self, field.name) for field in fields(self) if field.compare]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or all(map(equal_values, self._compared_values, other._compared_values))

    def __hash__(self) -> int:
        first = self._compared_values[0]
        return hash(first.tobytes() if isinstance(first, np.ndarray) else first)

    def _freeze_arrays(self, **dtypes: npt.DTypeLike | None) -> None:
        """Replace the named fields by read-only arrays of the given types. A field that is None stays None."""
        for name, dtype in dtypes.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, immutable_array(getattr(self, name), dtype))


class ImmutableTable(Immutable):
    """An immutable value that can be shown as a table of columns."""

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a dict of columns."""
        raise NotImplementedError

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the table as a data frame of the named library (pandas, polars, pyarrow)."""
        import narwhals.stable.v2 as nw

        return nw.from_dict(self.to_dict(), backend=backend).to_native()
