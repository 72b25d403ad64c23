"""Inspection of files before any row is read: can they be opened, and do they have the needed columns and types?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._utils.warn import format_names
from ..data.files import CSV_ENDINGS
from ..data.raw_column import ValueType
from ..data.text_file import open_text_file
from ..data.text_options import TextOptions
from ..errors import DataError, SchemaError
from ..routing import CountTask

_UNREADABLE = "replace or remove it"


@dataclass(frozen=True)
class DataFile:
    """What is known about a file without reading its rows.

    Parameters
    ----------
    path : str
        The file, or its copy in a temporary folder.
    types : dict
        The type of each column, by name in the order of the columns, as messages show it.
    value_types : dict
        The value type of each column, None for types that no tree can use. Empty for a text file, whose columns have no
        types.
    n_rows : int or None
        The number of rows; None if it is not known.
    text_options : TextOptions, optional
        How a text file is read.
    folder : object
        Keeps the temporary folder of a copy.
    """

    path: str
    types: dict[str, str]
    value_types: dict[str, ValueType | None]
    n_rows: int | None = None
    text_options: TextOptions | None = None
    folder: object = field(default=None, compare=False)


def inspect_files(paths: Sequence[str], text_options: TextOptions) -> list[DataFile]:
    """Return what is known about each file without reading its rows."""
    return [
        _inspect_text_file(path, text_options) if path.lower().endswith(CSV_ENDINGS) else _inspect_parquet(path)
        for path in paths
    ]


def check_columns(file: DataFile, names: Sequence[str], first: DataFile) -> None:
    """Raise `SchemaError` if a file lacks one of these columns. `first` is the first file of the source."""
    missing = [name for name in names if name not in file.types]
    if missing:
        contrast = "" if file is first else f", unlike {first.path}"
        raise SchemaError(
            f"{file.path} lacks the columns {format_names(missing)}{contrast}; it has "
            f"{format_names(tuple(file.types))}: add them, or leave the file out"
        )


def check_files_fit_task(files: Sequence[DataFile], task: CountTask) -> None:
    """Raise `SchemaError` if a file lacks a column, or has a column of another type than the tree was grown on."""
    for file in files:
        check_columns(file, task.columns, files[0])
        if file.text_options is not None:
            continue
        for name, needed, found in find_type_mismatches(task, file.value_types):
            raise SchemaError(
                f"{file.path}: column {name!r} is {file.types[name]} ({found or 'a kind'} that no tree can "
                f"use here), but {needed} is needed; convert the column, or leave the file out"
            )


def find_type_mismatches(
    task: CountTask, value_types: Mapping[str, ValueType | None]
) -> Iterator[tuple[str, ValueType, ValueType | None]]:
    """Yield the name, the needed and the found value type of each column that does not have the needed type.

    Columns without values fit any type. Numbers and booleans fit each other.
    """
    for name, needed in task.needed.items():
        found = value_types[name]
        if needed in (None, found) or found == "missing" or {needed, found} == {"number", "boolean"}:
            continue
        assert needed is not None
        yield name, needed, found


def _inspect_text_file(path: str, text_options: TextOptions) -> DataFile:
    opened = open_text_file(path, text_options)
    types = dict.fromkeys(opened.names, "text")
    return DataFile(opened.path, types, {}, text_options=opened.options, folder=opened.folder)


def _inspect_parquet(path: str) -> DataFile:
    """Return the columns in the footer of a Parquet file."""
    n_rows: int | None
    try:
        columns, n_rows = _read_footer_with_pyarrow(path)
    except ImportError:
        columns, n_rows = _read_schema_with_polars(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read as Parquet ({error}); {_UNREADABLE}") from error
    except Exception as error:  # the errors of pyarrow have no common base class
        raise _invalid_parquet(path, error) from error
    value_types = {name: value_type for name, _, value_type in columns}
    if len(value_types) < len(columns):
        raise DataError(f"{path}: column names must be unique; rename them")
    return DataFile(path, {name: str(dtype) for name, dtype, _ in columns}, value_types, n_rows)


def _invalid_parquet(path: str, error: Exception) -> DataError:
    return DataError(f"{path} is not a valid Parquet file ({error}); {_UNREADABLE}")


def _read_footer_with_pyarrow(path: str) -> tuple[list[tuple[str, Any, ValueType | None]], int]:
    """Return the name, type and value type of each column, and the number of rows."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        columns = [(column.name, column.type, arrow_value_type(column.type)) for column in file.schema_arrow]
        return columns, file.metadata.num_rows


def _read_schema_with_polars(path: str) -> tuple[list[tuple[str, Any, ValueType | None]], None]:
    """Return the name, type and value type of each column. The number of rows is not known."""
    import narwhals.stable.v2 as nw
    import polars as pl

    try:
        frame = nw.from_native(pl.DataFrame(schema=pl.read_parquet_schema(path)))
    except Exception as error:
        raise _invalid_parquet(path, error) from error
    return [(name, dtype, frame_value_type(dtype)) for name, dtype in frame.schema.items()], None


def arrow_value_type(dtype: Any) -> ValueType | None:
    """Return the value type of an Arrow type, or None if no tree can use it."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        return arrow_value_type(dtype.value_type)
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype):
        return "number"
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return "text"
    if types.is_boolean(dtype):
        return "boolean"
    return "missing" if types.is_null(dtype) else None


def frame_value_type(dtype: Any) -> ValueType | None:
    """Return the value type of a narwhals type, or None if no tree can use it."""
    import narwhals.stable.v2 as nw

    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    return "missing" if dtype == nw.Unknown else None
