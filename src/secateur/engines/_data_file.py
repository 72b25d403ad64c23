"""Files that are larger than memory: inspection before any row is read, and scanning in batches.

`inspect_files` reads the columns and types of each file, and the check functions compare them with what a task needs.
`scan_files` lets DuckDB, polars or pyarrow read the columns of a task in batches.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .._utils.arrays import MAX_EXACT_INT
from .._utils.warn import format_names
from ..data.batch import Batch, BatchTask, batch_from_text_frame
from ..data.files import CSV_ENDINGS, polars_missing_options
from ..data.raw_column import ValueType
from ..data.text_file import open_text_file
from ..data.text_options import TextOptions
from ..errors import DataError, SchemaError, show
from ..routing import CountTask
from .registry import translate_errors

if TYPE_CHECKING:
    from ..data.cell_text import CellType

_ADVICE_IF_UNREADABLE = "replace or remove it"
BATCH_ROWS = 1 << 17


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
                f"{file.path}: column {show(name)} is {file.types[name]} ({found or 'a kind'} that no tree can "
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
        raise DataError(f"{path} cannot be read as Parquet ({error}); {_ADVICE_IF_UNREADABLE}") from error
    except Exception as error:  # the errors of pyarrow have no common base class
        raise _invalid_parquet(path, error) from error
    value_types = {name: value_type for name, _, value_type in columns}
    if len(value_types) < len(columns):
        raise DataError(f"{path}: column names must be unique; rename them")
    return DataFile(path, {name: str(dtype) for name, dtype, _ in columns}, value_types, n_rows)


def _invalid_parquet(path: str, error: Exception) -> DataError:
    return DataError(f"{path} is not a valid Parquet file ({error}); {_ADVICE_IF_UNREADABLE}")


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


def scan_files(task: BatchTask, files: Sequence[DataFile], engine: str) -> Generator[Any]:
    """Yield the rows of files in batches, with the columns of a task. The order of the rows is that of the files."""
    for _, group in groupby(files, partial(_format_of, task)):
        same_format = list(group)
        find_error = partial(_find_unreadable_file, task, same_format, engine)
        with translate_errors(find_error), closing(_SCANNERS[engine](task, same_format)) as batches:
            yield from batches


def _format_of(task: BatchTask, file: DataFile) -> tuple[Any, ...]:
    """Return a key that is equal for files that can be read together.

    Files with different column types are read separately, because an engine would convert the types, and could round.
    """
    column_types = tuple(file.types[name] for name in task.columns)
    return file.text_options, tuple(file.types) if file.text_options else (), column_types


def _find_unreadable_file(task: BatchTask, files: list[DataFile], engine: str, _: Exception, message: str) -> DataError:
    """Return the error for the file that cannot be read, which the message of the engine may not name."""
    if len(files) > 1:
        for file in files:
            try:
                for _batch in scan_files(task, [file], engine):
                    pass
            except DataError as error:
                return error
    paths = " or ".join(file.path for file in files[:3])
    return DataError(f"{paths} cannot be read by {engine}: {message}; repair it, or leave it out")


def _scan_with_duckdb(task: Any, files: list[DataFile]) -> Generator[Any]:
    """Yield the columns of a task in batches of DuckDB. The cells of text files are read as text."""
    import duckdb

    options = files[0].text_options
    parameters: dict[str, Any] = {"paths": [file.path for file in files]}
    if options is None:
        # Files written by Arrow do not say whether they contain NaN, and DuckDB assumes that they do not unless told
        # otherwise. Versions before 1.3 have no such option; they read correctly as long as SQL filters nothing.
        has_nan_option = tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 3)
        nan_option = "can_have_nan=true, " if has_nan_option else ""
        rows = f"read_parquet($paths, {nan_option}hive_partitioning=false)"
    else:
        columns = ", ".join("'" + name.replace("'", "''") + "': 'VARCHAR'" for name in files[0].types)
        rows = (
            "read_csv($paths, delim=$delim, header=$header, nullstr=$na, auto_detect=false, "
            f"quote='\"', escape='\"', columns={{{columns}}})"
        )
        parameters |= {"delim": options.delimiter, "header": options.has_header, "na": list(options.na)}
    with duckdb.connect(":memory:") as connection:
        for setting in ("enable_progress_bar", "enable_external_file_cache"):
            with suppress(duckdb.Error):  # older versions do not have the setting
                connection.execute(f"SET {setting} = false")
        query = f"SELECT {quoted_columns(task)} FROM {rows}"  # noqa: S608 names are quoted
        for batch in arrow_batches(connection.sql(query, params=parameters)):
            yield batch if options is None else _interpret_batch(batch, task, files[0])


def arrow_batches(relation: Any) -> Any:
    """Return the rows of a DuckDB relation as an iterator of Arrow batches."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # the name before DuckDB 1.4
    return read(BATCH_ROWS)


def _scan_with_polars(task: Any, files: list[DataFile]) -> Generator[Any]:
    """Yield the columns of a task in batches of polars. The cells of text files are read as text."""
    import polars as pl

    options = files[0].text_options
    if options is None:
        lazy = pl.scan_parquet([file.path for file in files], glob=False, hive_partitioning=False)
        yield from polars_batches(lazy.select(task.columns))
        return
    for file in files:
        lazy = pl.scan_csv(
            file.path,
            separator=options.delimiter,
            has_header=False,  # polars does not remove the quotes around names
            skip_lines=int(options.has_header),
            schema=dict.fromkeys(file.types, pl.String()),
            **polars_missing_options(options.na),
            glob=False,
        )
        for batch in polars_batches(lazy.select(task.columns)):
            yield _interpret_batch(batch, task, file)


def polars_batches(lazy: Any) -> Generator[Any]:
    """Yield the rows of a polars lazy frame in batches."""
    yield from lazy.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)


def _scan_with_pyarrow(task: Any, files: list[DataFile]) -> Generator[Any]:
    """Yield the columns of a task in batches of pyarrow. The cells of text files are read as text."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    options = files[0].text_options
    if options is None:
        for file in files:
            with parquet.ParquetFile(file.path) as opened:
                yield from opened.iter_batches(BATCH_ROWS, columns=list(task.columns))
        return
    for file in files:
        read_options = csv.ReadOptions(column_names=list(file.types), skip_rows=int(options.has_header))
        parse_options = csv.ParseOptions(delimiter=options.delimiter, newlines_in_values=True)
        convert_options = csv.ConvertOptions(
            column_types=dict.fromkeys(task.columns, pa.string()),
            include_columns=list(task.columns),
            null_values=options.na,
            strings_can_be_null=True,
        )
        with csv.open_csv(
            file.path, read_options, parse_options=parse_options, convert_options=convert_options
        ) as reader:
            for batch in reader:
                yield _interpret_batch(batch, task, file)


def _interpret_batch(batch: Any, task: CountTask, file: DataFile) -> Batch:
    """Return a batch of text cells, which are read as the types on which the tree was grown."""
    assert file.text_options is not None
    if type(batch).__module__.startswith("pyarrow"):
        import pyarrow as pa

        batch = pa.Table.from_batches([batch])
    return batch_from_text_frame(batch, file.text_options, _cell_types(task), file.path)


def _cell_types(task: CountTask) -> "dict[str, CellType]":
    """Return, for each column of a task, the type of value that its text cells are converted to."""
    column_of = dict(zip(task.names, task.tested, strict=True))
    classes = () if task.schema.classes is None else tuple(task.schema.classes.tolist())
    cell_types: dict[str, CellType] = {}
    for name, value_type in task.needed.items():
        column = column_of.get(name)
        if value_type == "boolean":
            cell_types[name] = "boolean"
        elif value_type != "number":
            cell_types[name] = "text"
        elif column is not None and column.is_date:
            cell_types[name] = "date"
        else:
            known_values: Sequence[Any] = ()
            if column is not None:
                known_values = column.categories
            elif name == task.target:
                known_values = classes
            # Categories beyond 2**53 are not exact as floats.
            is_large = any(isinstance(value, int) and abs(value) >= MAX_EXACT_INT for value in known_values)
            cell_types[name] = "integer" if is_large else "number"
    return cell_types


def quoted_columns(task: BatchTask) -> str:
    """Return the columns of a task as a list of quoted SQL identifiers."""
    return ", ".join('"' + name.replace('"', '""') + '"' for name in task.columns)


_SCANNERS: dict[str, Callable[[Any, list[DataFile]], Any]] = {
    "duckdb": _scan_with_duckdb,
    "polars": _scan_with_polars,
    "pyarrow": _scan_with_pyarrow,
}
