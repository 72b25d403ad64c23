"""Rows in memory as one `Batch`: column names, the number of rows, and a function that reads each column.

Arrays, lists, data frames and files that fit into memory are one batch each (`input`); larger data are a `Source` of
many batches (`engines`). No schema is involved: `encoding` decides what a column means.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from .._utils.arrays import Array, Category, Frame, Rows
from .._utils.warn import describe_repeated, format_names
from ..errors import DataError, ParameterError, SchemaError, UnsupportedError
from . import arrow
from .column_reader import read_objects, read_series
from .raw_column import NumberColumn, RawColumn

# A function (rows done, all rows). If the number of all rows is unknown, both are the rows done.
ProgressCallback = Callable[[int, int], None]

MAX_MATRIX_COPY_ROWS = 1 << 16  # a larger frame is read column by column unless its matrix needs no copy


class BatchTask(Protocol):
    """A computation on batches whose results can be merged.

    `columns` are the columns that the task reads. `task(batch, first_row)` returns the result of one batch, and
    `empty()` the result of no rows, into which the others are merged.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...
    def empty(self) -> Any: ...
    def __call__(self, batch: Any, first_row: int = 0, /) -> Any: ...


@dataclass(frozen=True)
class Batch:
    """Rows in memory, read column by column.

    Parameters
    ----------
    names : tuple of str
        The column names.
    has_names : bool
        Whether the data have column names; otherwise `names` are x0, x1, ...
    n_rows : int
    readers : tuple of callables
        One function per column that returns the column.
    matrix : 2-D array, optional
        The data, if they are one array of numbers.
    """

    names: tuple[str, ...]
    has_names: bool
    n_rows: int
    readers: tuple[Callable[[], RawColumn], ...]
    matrix: Array | None = None

    def __len__(self) -> int:
        return self.n_rows

    def read(self, name: str) -> RawColumn:
        """Return one column."""
        return self.readers[self.names.index(name)]()

    def filter(self, is_kept: Array) -> "Batch":
        """Return the batch with the rows in which `is_kept` is true."""
        readers = tuple(lambda read=read: read().take(is_kept) for read in self.readers)
        matrix = None if self.matrix is None else self.matrix[is_kept]
        return replace(self, n_rows=int(np.count_nonzero(is_kept)), readers=readers, matrix=matrix)

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise `SchemaError` if one of these columns is missing."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise SchemaError(
                f"a partition lacks the columns {format_names(missing)} (it has {format_names(self.names)}); "
                "every partition needs the same columns"
            )

    def select(self, positions: Sequence[int]) -> "Batch":
        """Return the batch with the columns at these positions, in this order."""
        first = positions[0] if positions else 0
        is_contiguous = list(positions) == list(range(first, first + len(positions)))
        if is_contiguous and len(positions) == len(self.names):
            return self
        matrix = None
        if self.matrix is not None and is_contiguous:
            matrix = self.matrix[:, first : first + len(positions)]
        names, readers = tuple(self.names[j] for j in positions), tuple(self.readers[j] for j in positions)
        return replace(self, names=names, readers=readers, matrix=matrix)


def batch_from_frame(data: Rows) -> Batch:
    """Return a data frame of any library as a batch. Column names that are not text are converted to text."""
    if isinstance(data, Batch):
        return data
    frame = None if isinstance(data, str | os.PathLike | np.ndarray | list | tuple) else as_narwhals(data)
    if frame is None:
        raise UnsupportedError(f"a partition is a {type(data).__name__}; a data frame is needed")
    names = [str(name) for name in frame.columns]
    return batch_of_narwhals(frame, data, None if names == list(frame.columns) else check_column_names(names))


def batch_of_array(array: Array, names: Sequence[str] | None) -> Batch:
    """Return a two-dimensional array of numbers or objects as a batch."""
    if array.ndim != 2:
        hint = "pass one row per example"
        if array.ndim < 2:
            hint = "Reshape your data with X.reshape(-1, 1) if it is one column or X.reshape(1, -1) if it is one row"
        raise DataError(f"Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). {hint}.")
    n_rows, n_columns = array.shape
    is_numeric = array.dtype != object
    column_names = _names_of_columns(names, n_columns)
    readers = tuple(
        partial(NumberColumn, column) if is_numeric else partial(read_objects, column, name)
        for name, column in zip(column_names, array.T, strict=True)
    )
    return Batch(column_names, names is not None, n_rows, readers, array if is_numeric else None)


def as_narwhals(data: Rows) -> Frame:
    """Return `data` as a narwhals frame, or None if it is not a data frame."""
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        names = data.column_names if hasattr(data, "column_names") else data.columns
        raise DataError(describe_repeated(names)) from error
    if isinstance(frame, nw.Series):
        raise DataError(
            f"Expected 2D data, got a {type(data).__name__} (1D). Reshape your data: pass a table with one column, "
            "such as series.to_frame()."
        )
    if isinstance(frame, nw.DataFrame):
        return frame
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return nw.from_arrow(data, backend="pyarrow")
    if isinstance(frame, nw.LazyFrame):
        raise UnsupportedError(f"X is lazy ({type(data).__name__}); pass X.collect()")
    return None


def batch_of_narwhals(frame: Frame, data: Rows, names: Sequence[str] | None, *, find_matrix: bool = False) -> Batch:
    """Return a narwhals frame as a batch; messages name the type of `data`, the object that the user passed.

    With `find_matrix`, a frame of one numeric type is also read as one matrix if that is fast.
    """
    frame_names = list(frame.columns)
    if names is not None and frame_names and all(isinstance(name, str) for name in frame_names):
        raise ParameterError(f"names= given, but the {type(data).__name__} has names of its own; rename its columns")
    # Columns numbered 0, 1, ... have no names.
    has_names = names is not None or not all(isinstance(name, int | np.integer) for name in frame_names)
    if names is None and has_names:
        column_names = tuple(check_column_names(frame_names))
    else:
        column_names = _names_of_columns(names, len(frame_names))
    readers = tuple(
        partial(read_series, series, name) for series, name in zip(frame.iter_columns(), column_names, strict=True)
    )
    return Batch(column_names, has_names, len(frame), readers, _matrix_of_frame(frame) if find_matrix else None)


def _matrix_of_frame(frame: Frame) -> Array | None:
    """Return a narwhals frame as one matrix of numbers: a view if possible, a copy of a small frame; otherwise None."""
    native, implementation = frame.to_native(), frame.implementation
    is_small = len(frame) <= MAX_MATRIX_COPY_ROWS
    if implementation.is_pyarrow():
        return arrow.as_matrix(native) if is_small else None
    if not (implementation.is_pandas() or (implementation.is_polars() and is_small)):
        return None
    dtypes = set(native.dtypes)
    if len(dtypes) != 1:
        return None
    dtype = dtypes.pop()
    if implementation.is_pandas():
        return native.to_numpy() if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else None
    if not (dtype.is_float() or dtype.is_integer()):
        return None
    matrix: Array = native.to_numpy()
    # Integers with missing values have become floats, which may not be exact.
    return matrix if matrix.dtype.kind in ("f" if dtype.is_float() else "iu") else None


def _names_of_columns(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    """Return the names that the user has passed, one for each column, or x0, x1, ... by default."""
    if names is None:
        return tuple(f"x{j}" for j in range(n_columns))
    if len(names) != n_columns:
        raise ParameterError(f"{len(names)} names given for {n_columns} columns")
    return tuple(names)


def check_column_names(names: list[Category]) -> list[str]:
    """Return the column names if they are text and all different, else raise `DataError`."""
    not_text = [name for name in names if not isinstance(name, str)]
    if not_text:
        shown = ", ".join(f"{name!r} ({type(name).__name__})" for name in not_text[:5])
        raise DataError(
            f"column names must all be text; found {shown}: convert them with X.columns = X.columns.astype(str)"
        )
    if repeated := describe_repeated(names):
        raise DataError(repeated)
    return names
