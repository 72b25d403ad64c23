"""Rows in memory as one `Batch`: column names, the number of rows, and a function that reads each column.

`open_batch` makes one batch of arrays, lists, data frames, sparse matrices and files that fit into memory. Larger data
are a `Source` of many batches (`engines`). No schema is involved: `encoding.py` decides what a column means.
"""

import glob
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from .._utils.arrays import Array, Category, Columns, Frame, Labels, Rows
from .._utils.checks import as_list
from .._utils.output import PathLike
from .._utils.warn import describe_repeated, format_names
from ..errors import Argument, DataError, ParameterError, SchemaError, UnsupportedError, show
from . import arrow
from .cell_text import CellType, interpret_text, is_cell_of_type, read_file_column
from .files import are_data_files, find_files, read_file
from .raw_column import (
    CategoryColumn,
    NumberColumn,
    RawColumn,
    check_unicode,
    dense_array,
    original_values,
    read_objects,
    read_series,
)
from .table import Schema
from .text_options import TextOptions

# A function (rows done, all rows). If the number of all rows is unknown, both are the rows done.
ProgressCallback = Callable[[int, int], None]
MAX_MATRIX_COPY_ROWS = 1 << 16  # a larger frame is read column by column unless its matrix needs no copy
MAX_DENSE_BYTES = 1 << 30  # of a sparse matrix that is converted to an array
_CELL_TYPE_TEXTS = {"number": "a number", "integer": "a number", "date": "a date", "boolean": "true or false"}


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


def open_batch(
    data: Rows,
    *,
    names: Sequence[str] | None = None,
    options: TextOptions = TextOptions(),  # noqa: B008 frozen
    cell_types: Mapping[str, CellType] | None = None,
) -> Batch:
    """Return data of any supported type as one batch.

    Parameters
    ----------
    data : array, data frame, sparse matrix, list of rows, path, list of paths, or Batch
    names : sequence of str, optional
        Column names of data that have none.
    options : TextOptions
        How text files are read.
    cell_types : dict, optional
        The types as which columns of text files are read, by name. The types of other columns are detected.
    """
    if isinstance(data, Batch):
        return data
    if names is not None:
        if isinstance(names, str | bytes) or not isinstance(names, Iterable):
            raise ParameterError(Argument("names", names), "; one name for each column is needed")
        names = check_column_names(list(names))
    if isinstance(data, str | os.PathLike) or (isinstance(data, list | tuple) and are_data_files(data)):
        return _concatenate([_open_file(file, names, options, cell_types or {}) for file in _list_files(data)])
    if hasattr(data, "tocsc"):
        data = _sparse_to_dense(data)
    if not isinstance(data, np.ndarray | list | tuple):
        frame = as_narwhals(data)
        if frame is not None:
            return batch_of_narwhals(frame, data, names, find_matrix=True)
        if not hasattr(data, "__array__"):
            raise UnsupportedError(
                f"X is a {type(data).__name__}; a NumPy array, a pandas, polars or pyarrow table, "
                "a list of rows, or the path of a CSV or Parquet file is needed"
            )
    return batch_of_array(dense_array(data, "X"), names)


def cell_types_for(
    schema: Schema | None, nominal: Columns | None = None, numeric: Columns | None = None, target: Labels = None
) -> dict[str, CellType]:
    """Return the types as which columns of text files are read, by name.

    With the schema of a grown tree, these are the types of its columns and classes. Otherwise they are the types of the
    columns that the user names as `nominal` and `numeric`.
    """
    if schema is not None:
        is_text_target = isinstance(target, str) and schema.classes is not None and schema.classes.dtype.kind in "OU"
        return schema.cell_types | ({target: "text"} if is_text_target else {})
    cell_types: dict[str, CellType] = {}
    if nominal is not None:
        cell_types |= {name: "nominal" for name in as_list("nominal", nominal) if isinstance(name, str)}
    if numeric is not None:
        cell_types |= {name: "number" for name in as_list("numeric", numeric) if isinstance(name, str)}
    return cell_types


def _list_files(data: Rows) -> Sequence[PathLike]:
    """Return the files of a list, a folder or a pattern. A single path is returned as it is, even if no file exists."""
    if isinstance(data, str | os.PathLike):
        is_pattern = not os.path.exists(data) and glob.has_magic(os.fspath(data))  # noqa: PTH110
        if not os.path.isdir(data) and not is_pattern:  # noqa: PTH112
            return [data]
    return find_files(data)


def _open_file(
    path: PathLike, names: Sequence[str] | None, options: TextOptions, cell_types: Mapping[str, CellType]
) -> Batch:
    """Return the rows of one text or Parquet file."""
    text_columns = [name for name, cell_type in cell_types.items() if cell_type == "text"]
    table, options = read_file(path, options, text_columns=text_columns, names=names)
    if not isinstance(table, dict):
        return batch_from_text_frame(table, options, cell_types)
    readers = tuple(
        partial(interpret_text, column, name, options, cell_types.get(name)) for name, column in table.items()
    )
    n_rows = len(next(iter(table.values())))
    return Batch(tuple(table), True, n_rows, readers)


def batch_from_text_frame(
    frame: Frame, options: TextOptions, cell_types: Mapping[str, CellType], file: str | None = None
) -> Batch:
    """Return the rows of a text file from the frame that a library has read. Cells of the frame may still be text.

    If the name of the file is passed as `file`, a cell that does not have the type of its column in `cell_types` is
    refused.
    """
    frame = as_narwhals(frame)
    batch = batch_of_narwhals(frame, frame, None, find_matrix=True)
    readers = tuple(
        partial(_read_text_column, frame[:, j], name, options, cell_types.get(name), file)
        for j, name in enumerate(batch.names)
    )
    return replace(batch, readers=readers)


def _read_text_column(
    series: Any, name: str, options: TextOptions, cell_type: CellType | None, file: str | None
) -> RawColumn:
    """Return a column of a file that a library has read."""
    column = read_file_column(series, name, options, cell_type)
    if file is not None and cell_type in _CELL_TYPE_TEXTS and isinstance(column, CategoryColumn) and column.is_text:
        for cell in column.categories:
            if not is_cell_of_type(cell, cell_type, options):
                needed = _CELL_TYPE_TEXTS[cell_type]
                raise SchemaError(f"{file}: column {show(name)} holds {show(cell)}; {needed} is needed: correct it")
    return column


def _concatenate(batches: Sequence[Batch]) -> Batch:
    """Return the rows of several files as one batch."""
    first = batches[0]
    if len(batches) == 1:
        return first
    for batch in batches[1:]:
        batch.check_columns(first.names)
    readers = tuple(partial(_read_concatenated, batches, name) for name in first.names)
    return Batch(first.names, first.has_names, sum(batch.n_rows for batch in batches), readers)


def _read_concatenated(batches: Sequence[Batch], name: str) -> RawColumn:
    """Return one column of several batches. Its type is ignored in a batch where all its values are missing."""
    columns = [batch.read(name) for batch in batches]
    with_values = [column for column in columns if not column.missing_mask.all()] or columns
    if len({type(column) for column in with_values}) > 1:
        raise DataError(
            f"column {show(name)} holds numbers in one file and words in another; pass ",
            Argument("nominal", [name]),
            " or ",
            Argument("numeric", [name]),
        )
    if isinstance(with_values[0], NumberColumn):
        is_date = any(isinstance(column, NumberColumn) and column.is_date for column in with_values)
        return NumberColumn(_concatenate_numbers(columns), is_date=is_date)
    is_declared = all(isinstance(column, CategoryColumn) and column.is_declared for column in with_values)
    return _concatenate_categories(columns, is_declared=is_declared)


def _concatenate_numbers(columns: Sequence[RawColumn]) -> Array:
    """Return the numbers of several columns; as floats, unless all are integers without missing values."""
    are_integers = all(
        isinstance(column, NumberColumn) and column.values.dtype.kind in "iu" and column.null_mask is None
        for column in columns
    )
    values = [original_values(column) for column in columns]
    return np.concatenate(values if are_integers else [part.astype(float) for part in values])


def _concatenate_categories(columns: Sequence[RawColumn], *, is_declared: bool) -> CategoryColumn:
    """Return several columns as one column of categories. A `NumberColumn` may have missing values only."""
    coded = [
        column if isinstance(column, CategoryColumn) else CategoryColumn(np.full(len(column), -1, np.int32), ())
        for column in columns
    ]
    categories = sorted({category for column in coded for category in column.categories})
    codes = np.concatenate([column.recode(categories).codes for column in coded])
    return CategoryColumn(codes, tuple(categories), is_declared)


def _sparse_to_dense(data: Rows) -> Array:
    """Return a sparse matrix as an array, in which zeros are values. Refuse a matrix that would become too large."""
    n_bytes = 8 * math.prod(data.shape)
    if n_bytes > MAX_DENSE_BYTES:
        raise UnsupportedError(
            f"X is sparse ({type(data).__name__}, {data.shape[0]:,} rows, {data.shape[1]:,} columns); as an array it "
            f"takes {n_bytes / 1e9:,.1f} GB, and at most {MAX_DENSE_BYTES / 1e9:.1f} GB are converted: select "
            "columns, or pass X.toarray() if you have the memory"
        )
    return np.asarray(data.astype(np.float64).toarray())


def batch_from_frame(data: Rows) -> Batch:
    """Return a data frame of any library as a batch. Column names that are not text are converted to text."""
    if isinstance(data, Batch):
        return data
    frame = None if isinstance(data, str | os.PathLike | np.ndarray | list | tuple) else as_narwhals(data)
    if frame is None:
        raise UnsupportedError(f"a partition is a {type(data).__name__}; a data frame is needed")
    names = [str(name) for name in frame.columns]
    return batch_of_narwhals(frame, data, None if names == list(frame.columns) else check_column_names(names))


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
    dtypes = list(native.dtypes)
    if not dtypes or any(dtype != dtypes[0] for dtype in dtypes):  # pandas cannot hash every categorical type
        return None
    dtype = dtypes[0]
    if implementation.is_pandas():
        return native.to_numpy() if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else None
    if not (dtype.is_float() or dtype.is_integer()):
        return None
    matrix: Array = native.to_numpy()
    # Integers with missing values have become floats, which may not be exact.
    return matrix if matrix.dtype.kind in ("f" if dtype.is_float() else "iu") else None


def check_column_names(names: list[Category]) -> list[str]:
    """Return the column names if they are text and all different, else raise `DataError`."""
    not_text = [name for name in names if not isinstance(name, str)]
    if not_text:
        shown = ", ".join(f"{show(name)} ({type(name).__name__})" for name in not_text[:5])
        raise DataError(
            f"column names must all be text; found {shown}: convert them with X.columns = X.columns.astype(str)"
        )
    if repeated := describe_repeated(names):
        raise DataError(repeated)
    check_unicode(names, "there is a column named")
    return [str(name) for name in names]


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


def _names_of_columns(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    """Return the names that the user has passed, one for each column, or x0, x1, ... by default."""
    if names is None:
        return tuple(f"x{j}" for j in range(n_columns))
    if len(names) != n_columns:
        raise ParameterError(f"{len(names)} names given for {n_columns} columns")
    return tuple(names)
