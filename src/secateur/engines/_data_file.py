"""Whether all files hold what is needed.

Everything that can be known without reading rows is checked before the first row is read:
that each file can be opened, has every column, and that no column changes its kind.
"""

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


@dataclass(frozen=True)
class DataFile:
    """One file: its columns in order, the type of each as text, and what the types are to us.

    A CSV file (`csv` says how it is read) has no types of its own; `kinds` is then empty. `n_rows` is
    None where unknown.
    """

    path: str
    types: dict[str, str]
    kinds: dict[str, ValueType | None]
    n_rows: int | None = None
    csv: TextOptions | None = None
    folder: object = field(default=None, compare=False)  # of a copy that is read in its place


def inspect_files(paths: Sequence[str], csv: TextOptions) -> list[DataFile]:
    """Return what is known of each file without reading its rows."""
    return [_open_csv(path, csv) if path.lower().endswith(CSV_ENDINGS) else _open_parquet(path) for path in paths]


def check_columns(file: DataFile, names: Sequence[str], first: DataFile) -> None:
    """Refuse a file that lacks one of these columns."""
    missing = [name for name in names if name not in file.types]
    if missing:
        others = "" if file is first else f", unlike {first.path}"
        raise SchemaError(
            f"{file.path} lacks the columns {format_names(missing)}{others}; it has {format_names(tuple(file.types))}: "
            "add them, or leave the file out"
        )


def check_files_fit_task(files: Sequence[DataFile], task: CountTask) -> None:
    """Refuse a file that lacks a column, or in which a column is not what the tree was grown on."""
    for file in files:
        check_columns(file, task.columns, files[0])
        for name, needed, found in find_type_mismatches(task, file.kinds) if file.csv is None else ():
            raise SchemaError(
                f"{file.path}: column {name!r} is {file.types[name]} ({found or 'a kind'} that no tree can "
                f"use here), but {needed} is needed; convert the column, or leave the file out"
            )


def find_type_mismatches(
    task: CountTask, kinds: Mapping[str, ValueType | None]
) -> Iterator[tuple[str, ValueType, ValueType | None]]:
    """Yield each column that is not what the tree was grown on, what is needed, and what is found."""
    for name, needed in task.needed.items():
        found = kinds[name]
        if found != "missing" and needed not in (None, found) and {needed, found} != {"number", "boolean"}:
            yield name, needed, found


def _open_csv(path: str, csv: TextOptions) -> DataFile:
    opened = open_text_file(path, csv)
    return DataFile(opened.path, dict.fromkeys(opened.names, "text"), {}, csv=opened.options, folder=opened.folder)


def _open_parquet(path: str) -> DataFile:
    n_rows: int | None
    try:
        columns, n_rows = _arrow_footer(path)
    except ImportError:
        columns, n_rows = _polars_footer(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read as Parquet ({error}); replace or remove it") from error
    except Exception as error:  # pyarrow's own errors have no common base
        raise _invalid(path, error) from error
    kinds = {name: family for name, _, family in columns}
    if len(kinds) < len(columns):
        raise DataError(f"{path}: column names must be unique; rename them")
    return DataFile(path, {name: str(kind) for name, kind, _ in columns}, kinds, n_rows)


def _invalid(path: str, error: Exception) -> DataError:
    return DataError(f"{path} is not a valid Parquet file ({error}); replace or remove it")


def _arrow_footer(path: str) -> tuple[list[tuple[str, Any, ValueType | None]], int]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return [(one.name, one.type, arrow_value_type(one.type)) for one in file.schema_arrow], file.metadata.num_rows


def _polars_footer(path: str) -> tuple[list[tuple[str, Any, ValueType | None]], None]:
    import narwhals.stable.v2 as nw
    import polars as pl

    try:
        frame = nw.from_native(pl.DataFrame(schema=pl.read_parquet_schema(path)))
    except Exception as error:
        raise _invalid(path, error) from error
    return [(name, kind, frame_value_type(kind)) for name, kind in frame.schema.items()], None


def arrow_value_type(kind: Any) -> ValueType | None:
    """Return what an Arrow type is to us; None if it is nothing we take."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return arrow_value_type(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return "boolean" if types.is_boolean(kind) else "missing" if types.is_null(kind) else None


def frame_value_type(kind: Any) -> ValueType | None:
    """Return what a narwhals type is to us; None if it is nothing we take."""
    import narwhals.stable.v2 as nw

    if kind.is_numeric():
        return "number"
    if kind == nw.Boolean:
        return "boolean"
    return "text" if kind in (nw.String, nw.Categorical, nw.Enum) else "missing" if kind == nw.Unknown else None
