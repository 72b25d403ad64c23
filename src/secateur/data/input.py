"""Opening of data: arrays, lists, data frames, sparse matrices and files as one `Batch`."""

import glob
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._utils.arrays import Array, Columns, Frame, Labels, Rows
from .._utils.checks import as_list
from .._utils.output import PathLike
from ..errors import Argument, DataError, SchemaError, UnsupportedError
from .batch import Batch, as_narwhals, batch_of_array, batch_of_narwhals, check_column_names
from .cell_text import CellType, interpret_text, is_cell_of_type, read_file_column
from .column_reader import dense_array
from .files import are_data_files, find_files, read_file
from .raw_column import CategoryColumn, NumberColumn, RawColumn, original_values
from .table import Schema
from .text_options import TextOptions

MAX_DENSE_BYTES = 1 << 30  # of a sparse matrix that is converted to an array
_CELL_TYPE_TEXTS = {"number": "a number", "integer": "a number", "date": "a date", "boolean": "true or false"}


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
    for name in as_list("nominal", nominal):
        if isinstance(name, str):
            cell_types[name] = "nominal"
    for name in as_list("numeric", numeric):
        if isinstance(name, str):
            cell_types[name] = "number"
    return cell_types


def _list_files(data: Rows) -> Sequence[PathLike]:
    """Return the files of a list, a folder or a pattern, or the path itself, which is checked when it is read."""
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
    """Return the rows of a file that a library has read, and whose cells may still be text.

    If `file`, the name of the file, is passed, columns with a cell that does not have the type in `cell_types` are
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
                raise SchemaError(f"{file}: column {name!r} holds {cell!r}; {needed} is needed: correct it")
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
    """Return one column of several batches. It may be missing in whole batches, whatever its type there."""
    columns = [batch.read(name) for batch in batches]
    with_values = [column for column in columns if not column.missing_mask.all()] or columns
    if len({type(column) for column in with_values}) > 1:
        raise DataError(
            f"column {name!r} holds numbers in one file and words in another; pass ",
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
    """Return the categories of several columns. Columns of numbers among them have only missing values."""
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
