"""What users hand in: arrays, lists, data frames and files, all behind one `Source`.

A source is names, a number of rows, and a way to read each column. Nothing here knows of a
schema; `encoding` decides what a column means.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError, ParameterError, UnsupportedError
from .arrays import Array
from .columns import ARROW_TYPES, Given, Numbers, arrow_numbers, dense_array, read_cells, read_series
from .files import read_file, read_small

FEW_ROWS = 1 << 16  # frames of so many are copied into one matrix where that spares reading column by column


@dataclass(frozen=True)
class Source:
    """Data as it was handed in: names, rows, and a reader for each column."""

    names: tuple[str, ...]
    has_names: bool
    n_rows: int
    readers: tuple[Callable[[], Given], ...]
    matrix: Array | None = None  # when the data is one array of numbers

    def select(self, order: Sequence[int]) -> "Source":
        """Return the source with these columns only, in this order."""
        if list(order) == list(range(len(self.names))):
            return self
        matrix = None
        if self.matrix is not None and order and list(order) == list(range(order[0], order[0] + len(order))):
            matrix = self.matrix[:, order[0] : order[0] + len(order)]
        names, readers = tuple(self.names[j] for j in order), tuple(self.readers[j] for j in order)
        return Source(names, self.has_names, self.n_rows, readers, matrix)


def open_source(
    data: Any,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    na: Sequence[str] = ("",),
    text: Iterable[str] = (),
) -> Source:
    """Return the source behind `data`; `text` names columns that a CSV reader must leave as text."""
    if isinstance(data, Source):  # opened before
        return data
    if names is not None:
        names = _check_names(list(names))
    if isinstance(data, str | os.PathLike):
        plain = read_small(data, delimiter=delimiter, na=na, text=text, names=names)
        if plain is not None:
            n_rows = len(plain[1][0].values if isinstance(plain[1][0], Numbers) else plain[1][0].codes)
            return Source(tuple(plain[0]), True, n_rows, tuple(map(_known, plain[1])))
        frame = read_file(data, delimiter=delimiter, na=na, text=text, names=names)
        return _from_frame(_frame(frame), data, None)
    if hasattr(data, "tocsc"):
        raise UnsupportedError(
            f"X is sparse ({type(data).__name__}); a dense array or a data frame is needed: pass X.toarray()"
        )
    if not isinstance(data, np.ndarray | list | tuple):
        frame = _frame(data)
        if frame is not None:
            return _from_frame(frame, data, names)
        if not hasattr(data, "__array__"):
            raise UnsupportedError(
                f"X is a {type(data).__name__}; a NumPy array, a pandas, polars or pyarrow table, "
                "a list of rows, or the path of a CSV or Parquet file is needed"
            )
    return _from_array(dense_array(data, "X"), names)


def _known(column: Given) -> Callable[[], Given]:
    return lambda: column


def _from_array(array: Array, names: Sequence[str] | None) -> Source:
    if array.ndim != 2:
        hint = (
            "Reshape your data with X.reshape(-1, 1) if it is one column or X.reshape(1, -1) if it is one row"
            if array.ndim < 2
            else "pass one row per example"
        )
        raise DataError(f"Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). {hint}.")
    n_rows, n_columns = array.shape
    given = tuple(names) if names is not None else tuple(f"x{j}" for j in range(n_columns))
    if len(given) != n_columns:
        raise ParameterError(f"{len(given)} names given for {n_columns} columns")

    def reader(j: int) -> Callable[[], Given]:
        if array.dtype == object:
            return lambda: read_cells(array[:, j], given[j])
        return lambda: Numbers(array[:, j])

    is_numbers = array.dtype != object
    readers = tuple(reader(j) for j in range(n_columns))
    return Source(given, names is not None, n_rows, readers, array if is_numbers else None)


def _frame(data: Any) -> Any:
    """Return the narwhals frame behind `data`, None if it is no frame."""
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise _repeated(data.column_names if hasattr(data, "column_names") else data.columns) from error
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


def _from_frame(frame: Any, data: Any, names: Sequence[str] | None) -> Source:
    own = list(frame.columns)
    is_text = [isinstance(name, str) for name in own]
    if names is not None:
        if all(is_text) and own:
            raise ParameterError(
                f"names= given, but the {type(data).__name__} has names of its own; rename its columns"
            )
        if len(names) != len(own):
            raise ParameterError(f"{len(names)} names given for {len(own)} columns")
        final, has_names = tuple(names), True
    elif all(isinstance(name, int | np.integer) for name in own):
        final, has_names = tuple(f"x{j}" for j in range(len(own))), False  # a default range is no names at all
    else:
        final, has_names = tuple(_check_names(own)), True

    def reader(j: int) -> Callable[[], Given]:
        return lambda: read_series(frame[:, j], final[j])

    readers = tuple(reader(j) for j in range(len(own)))
    return Source(final, has_names, len(frame), readers, _matrix_of(frame))


def _matrix_of(frame: Any) -> Array | None:
    """A frame whose columns are all of one type of numbers, as one matrix: a view of a block, or a copy of few rows."""
    native = frame.to_native()
    if frame.implementation.is_pandas():
        types = set(native.dtypes.tolist())
        dtype = types.pop() if len(types) == 1 else None
        return native.to_numpy() if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else None
    if len(native) > FEW_ROWS:
        return None
    if frame.implementation.is_pyarrow():
        return _arrow_matrix(native)
    types = set(native.dtypes) if frame.implementation.is_polars() else set()
    dtype = types.pop() if len(types) == 1 else None
    if dtype is None or not (dtype.is_float() or dtype.is_integer()) or dtype.is_nested():
        return None
    matrix: Array = native.to_numpy()  # whole numbers with gaps come out as real ones
    return matrix if matrix.dtype.kind in ("f" if dtype.is_float() else "iu") else None


def _arrow_matrix(table: Any) -> Array | None:
    """A pyarrow table of one type of numbers as a matrix; None of others, and where whole ones have gaps."""
    types = set(table.schema.types)
    dtype = ARROW_TYPES.get(str(types.pop())) if len(types) == 1 else None
    if dtype is None or (dtype.kind != "f" and any(column.null_count for column in table.columns)):
        return None
    matrix = np.empty((table.num_columns, len(table)), dtype)
    for line, column in zip(matrix, table.columns, strict=True):
        line[:] = arrow_numbers(column).values
    return matrix.T


def _check_names(names: list[Any]) -> list[str]:
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"column names must all be text; found {', '.join(f'{n!r} ({type(n).__name__})' for n in odd[:5])}: "
            "convert them with X.columns = X.columns.astype(str)"
        )
    if len(set(names)) < len(names):
        raise _repeated(names)
    return names


def _repeated(names: Iterable[Any]) -> DataError:
    twice = [name for name, n in Counter(names).items() if n > 1]
    return DataError(f"column names must differ; more than once: {', '.join(map(repr, twice[:5]))}; rename them")
