"""Rows as they are handed in: in memory one `Batch`, elsewhere a `Source` of many (`engines`).

A batch is names, a number of rows, and a way to read each column: arrays, lists, frames and a file
that fits into memory are one batch each. Nothing here knows of a schema; `encoding` decides what a
column means.
"""

import glob
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from .._utils.arrays import Array, Category, Columns, Frame, Labels, Rows
from .._utils.checks import as_list
from .._utils.output import PathLike
from .._utils.warn import describe_repeated, format_names
from ..errors import Argument, DataError, ParameterError, SchemaError, UnsupportedError
from . import arrow
from .cell_text import CellType, interpret_text, is_cell_of_type, read_file_column
from .files import are_data_files, find_files, read_file
from .raw_column import CategoryColumn, NumberColumn, RawColumn, dense_array, original_values, read_objects, read_series
from .table import Schema
from .text_file import TextOptions

ProgressCallback = Callable[[int, int], None]  # rows done, and rows in all (or again those done, if not known)


class BatchTask(Protocol):
    """What is computed of batches: it says which columns it reads, and returns the sum of a batch, or of no rows."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    def empty(self) -> Any: ...
    def __call__(self, batch: Any, first: int = 0) -> Any: ...


MAX_DENSE_BYTES = 1 << 30  # bytes of a sparse matrix as an array
MAX_MATRIX_COPY_ROWS = (
    1 << 16
)  # frames of so many are copied into one matrix where that spares reading column by column


@dataclass(frozen=True)
class Batch:
    """Rows in memory: names, their number, and a reader for each column."""

    names: tuple[str, ...]
    has_names: bool
    n_rows: int
    readers: tuple[Callable[[], RawColumn], ...]
    matrix: Array | None = None  # when the data is one array of numbers

    def __len__(self) -> int:
        return self.n_rows

    def read(self, name: str) -> RawColumn:
        """Return one column."""
        return self.readers[self.names.index(name)]()

    def where(self, is_kept: Array) -> "Batch":
        """Return the batch with these rows only."""
        readers = tuple(lambda read=read: read().take(is_kept) for read in self.readers)
        matrix = None if self.matrix is None else self.matrix[is_kept]
        return replace(self, n_rows=int(np.count_nonzero(is_kept)), readers=readers, matrix=matrix)

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a batch without one of these columns."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise SchemaError(
                f"a partition lacks the columns {format_names(missing)} (it has {format_names(self.names)}); "
                "every partition needs the same columns"
            )

    def select(self, order: Sequence[int]) -> "Batch":
        """Return the batch with these columns only, in this order."""
        first = order[0] if order else 0
        is_run = list(order) == list(range(first, first + len(order)))
        if is_run and len(order) == len(self.names):
            return self  # all of them: quicker
        matrix = self.matrix[:, first : first + len(order)] if self.matrix is not None and is_run else None
        names, readers = tuple(self.names[j] for j in order), tuple(self.readers[j] for j in order)
        return replace(self, names=names, readers=readers, matrix=matrix)


def open_batch(
    data: Rows,
    *,
    names: Sequence[str] | None = None,
    how: TextOptions = TextOptions(),  # noqa: B008 frozen
    wanted: Mapping[str, CellType] | None = None,
) -> Batch:
    """Return the rows of `data` in memory; `wanted` is what columns of a file must be read as."""
    if isinstance(data, Batch):  # opened before
        return data
    if names is not None:
        names = _check_names(list(names))
    if isinstance(data, str | os.PathLike) or (isinstance(data, list | tuple) and are_data_files(data)):
        return _joined([_from_file(file, names, how, wanted or {}) for file in _found(data)])
    if hasattr(data, "tocsc"):
        data = _dense(data)
    if not isinstance(data, np.ndarray | list | tuple):
        frame = _frame(data)
        if frame is not None:
            return _from_frame(frame, data, names, is_whole=True)
        if not hasattr(data, "__array__"):
            raise UnsupportedError(
                f"X is a {type(data).__name__}; a NumPy array, a pandas, polars or pyarrow table, "
                "a list of rows, or the path of a CSV or Parquet file is needed"
            )
    return _from_array(dense_array(data, "X"), names)


def cell_types_for(
    known: Schema | None, nominal: Columns | None = None, numeric: Columns | None = None, target: Labels = None
) -> dict[str, CellType]:
    """What columns of a file must be read as, by name: as a schema has them, or as asked."""
    if known is not None:
        is_text = isinstance(target, str) and known.classes is not None and known.classes.dtype.kind in "OU"
        return known.wanted | ({target: "text"} if is_text else {})
    found: dict[str, CellType] = {name: "words" for name in as_list("nominal", nominal) if isinstance(name, str)}
    return found | {name: "number" for name in as_list("numeric", numeric) if isinstance(name, str)}


def _found(data: Rows) -> Sequence[PathLike]:
    """The files of a pattern, a folder or a list; any other path is told as such when it is read."""
    is_path = isinstance(data, str | os.PathLike)
    if is_path and not os.path.isdir(data) and (os.path.exists(data) or not glob.has_magic(os.fspath(data))):  # noqa: PTH110, PTH112
        return [data]
    return find_files(data)


def _from_file(path: PathLike, names: Sequence[str] | None, how: TextOptions, wanted: Mapping[str, CellType]) -> Batch:
    text = [name for name, kind in wanted.items() if kind == "text"]
    found, how = read_file(path, how, text=text, names=names)
    if not isinstance(found, dict):
        return batch_from_text_frame(found, how, wanted)
    readers = tuple(partial(interpret_text, column, name, how, wanted.get(name)) for name, column in found.items())
    return Batch(tuple(found), True, len(next(iter(found.values()))), readers)


def batch_from_text_frame(frame: Frame, how: TextOptions, wanted: Mapping[str, CellType], where: str = "") -> Batch:
    """Return the rows of a file that a library has read, whose cells may still be text.

    With `where`, the name of the file, a column that is not what is wanted is refused.
    """
    frame = _frame(frame)
    batch = _from_frame(frame, frame, None, is_whole=True)
    readers = tuple(
        partial(_read_at, frame, j, name, how, wanted.get(name), where) for j, name in enumerate(batch.names)
    )
    return replace(batch, readers=readers)


def _read_at(frame: Frame, j: int, name: str, how: TextOptions, wanted: CellType | None, where: str) -> RawColumn:
    given = read_file_column(frame[:, j], name, how, wanted)
    if where and isinstance(given, CategoryColumn) and wanted in _NEEDED and given.is_text:
        bad = next((level for level in given.levels if not is_cell_of_type(level, wanted, how)), None)
        if bad is not None:
            raise SchemaError(f"{where}: column {name!r} holds {bad!r}; {_NEEDED[wanted]} is needed: correct it")
    return given


_NEEDED = {"number": "a number", "integer": "a number", "date": "a date", "truth": "true or false"}


def _joined(batches: Sequence[Batch]) -> Batch:
    """The rows of several files, one after another."""
    first = batches[0]
    if len(batches) == 1:
        return first
    for batch in batches[1:]:
        batch.check_columns(first.names)
    readers = tuple(partial(_read_all, batches, name) for name in first.names)
    return Batch(first.names, first.has_names, sum(batch.n_rows for batch in batches), readers)


def _read_all(batches: Sequence[Batch], name: str) -> RawColumn:
    parts = [batch.read(name) for batch in batches]
    known = [part for part in parts if not part.missing_mask.all()] or parts
    if len({type(part) for part in known}) > 1:
        raise DataError(
            f"column {name!r} holds numbers in one file and words in another; pass ",
            Argument("nominal", [name]),
            " or ",
            Argument("numeric", [name]),
        )
    if isinstance(known[0], NumberColumn):
        whole = all(isinstance(p, NumberColumn) and p.values.dtype.kind in "iu" and p.is_missing is None for p in parts)
        values = np.concatenate(
            [original_values(part) if whole else original_values(part).astype(float) for part in parts]
        )
        return NumberColumn(values, is_date=any(isinstance(part, NumberColumn) and part.is_date for part in known))
    coded = [
        part if isinstance(part, CategoryColumn) else CategoryColumn(np.full(len(part), -1, np.int32), ())
        for part in parts
    ]
    levels = sorted({level for part in coded for level in part.levels})
    is_declared = all(isinstance(part, CategoryColumn) and part.is_declared for part in known)
    return CategoryColumn(np.concatenate([part.recode(levels).codes for part in coded]), tuple(levels), is_declared)


def batch_from_frame(data: Rows) -> Batch:
    """Return the batch behind a frame of any library, its names as text."""
    if isinstance(data, Batch):
        return data
    frame = None if isinstance(data, str | os.PathLike | np.ndarray | list | tuple) else _frame(data)
    if frame is None:
        raise UnsupportedError(f"a partition is a {type(data).__name__}; a data frame is needed")
    names = [str(name) for name in frame.columns]
    return _from_frame(frame, data, None if names == list(frame.columns) else _check_names(names))


def _from_array(array: Array, names: Sequence[str] | None) -> Batch:
    if array.ndim != 2:
        hint = "pass one row per example"
        if array.ndim < 2:
            hint = "Reshape your data with X.reshape(-1, 1) if it is one column or X.reshape(1, -1) if it is one row"
        raise DataError(f"Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). {hint}.")
    n_rows, n_columns = array.shape
    given = _named(names, n_columns)
    is_numbers = array.dtype != object
    readers = tuple(
        partial(NumberColumn, column) if is_numbers else partial(read_objects, column, name)
        for name, column in zip(given, array.T, strict=True)
    )
    return Batch(given, names is not None, n_rows, readers, array if is_numbers else None)


def _frame(data: Rows) -> Frame:
    """Return the narwhals frame behind `data`, None if it is no frame."""
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(
            describe_repeated(data.column_names if hasattr(data, "column_names") else data.columns)
        ) from error
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


def _from_frame(frame: Frame, data: Rows, names: Sequence[str] | None, *, is_whole: bool = False) -> Batch:
    own = list(frame.columns)
    if names is not None and own and all(isinstance(name, str) for name in own):
        raise ParameterError(f"names= given, but the {type(data).__name__} has names of its own; rename its columns")
    has_names = names is not None or not all(isinstance(name, int | np.integer) for name in own)  # a range is none
    final = tuple(_check_names(own)) if names is None and has_names else _named(names, len(own))
    readers = tuple(partial(read_series, *both) for both in zip(frame.iter_columns(), final, strict=True))
    return Batch(final, has_names, len(frame), readers, _matrix_of(frame) if is_whole else None)


def _matrix_of(frame: Frame) -> Array | None:
    """A frame whose columns are all of one type of numbers, as one matrix: a view of a block, or a copy of few rows."""
    native, implementation, is_few = frame.to_native(), frame.implementation, len(frame) <= MAX_MATRIX_COPY_ROWS
    if implementation.is_pyarrow():
        return arrow.as_matrix(native) if is_few else None
    types = set(native.dtypes) if implementation.is_pandas() or (implementation.is_polars() and is_few) else set()
    dtype = types.pop() if len(types) == 1 else None
    if implementation.is_pandas():
        return native.to_numpy() if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else None
    if dtype is None or not (dtype.is_float() or dtype.is_integer()):
        return None
    matrix: Array = native.to_numpy()  # whole numbers with gaps come out as real ones
    return matrix if matrix.dtype.kind in ("f" if dtype.is_float() else "iu") else None


def _named(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    """The names that were given, one for each column; x0, x1, ... if there are none."""
    if names is None:
        return tuple(f"x{j}" for j in range(n_columns))
    if len(names) != n_columns:
        raise ParameterError(f"{len(names)} names given for {n_columns} columns")
    return tuple(names)


def _check_names(names: list[Category]) -> list[str]:
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"column names must all be text; found {', '.join(f'{n!r} ({type(n).__name__})' for n in odd[:5])}: "
            "convert them with X.columns = X.columns.astype(str)"
        )
    if twice := describe_repeated(names):
        raise DataError(twice)
    return names


def _dense(data: Rows) -> Array:
    """A sparse matrix as an array, in which zeros are values; one that would be too large is refused."""
    n_bytes = 8 * math.prod(data.shape)
    if n_bytes > MAX_DENSE_BYTES:
        raise UnsupportedError(
            f"X is sparse ({type(data).__name__}, {data.shape[0]:,} rows, {data.shape[1]:,} columns); as an array it "
            f"takes {n_bytes / 1e9:,.1f} GB, and at most {MAX_DENSE_BYTES / 1e9:.1f} GB are converted: select columns, "
            "or pass X.toarray() if you have the memory"
        )
    return np.asarray(data.astype(np.float64).toarray())
