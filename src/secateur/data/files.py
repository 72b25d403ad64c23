"""Text and Parquet files, read by the first of pyarrow, polars and pandas that is installed, or here if small.

Importing one of these libraries takes ten times as long as reading a small text file with simple cells. Such a file is
read here if its columns can be read in only one way: numbers in their usual notation, and columns with a word that no
reader takes for a number, a date or a boolean. The result is the same as that of pyarrow. In any case of doubt
`read_small_file` returns None, and a library reads the file.
"""

import glob
import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from .._utils.arrays import Frame, Rows
from .._utils.warn import format_names
from ..errors import DataError, SecateurError, UnsupportedError, show
from .raw_column import RawColumn, read_objects
from .text_file import TextFile, check_row_lengths, open_text_file
from .text_options import TextOptions

READERS = ("pyarrow", "polars", "pandas")  # in order of preference
_TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".data", ".dat", ".tab")
CSV_ENDINGS = (*_TEXT_ENDINGS, *(f"{ending}.gz" for ending in _TEXT_ENDINGS), ".zip")
PARQUET_ENDINGS = (".parquet", ".pq")
ENDINGS = CSV_ENDINGS + PARQUET_ENDINGS
_ENDINGS_TEXT = f"{', '.join(_TEXT_ENDINGS)} (or these and .gz), .zip, {', '.join(PARQUET_ENDINGS)}"

MAX_SMALL_FILE_BYTES = 1 << 18
MAX_PATHS_CHECKED = 10_000  # the check for repeated paths takes quadratic time
_IS_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})").fullmatch
_IS_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?").fullmatch
_IS_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_ -]*").fullmatch
_AMBIGUOUS_WORDS = {"true", "false", "nan", "inf", "infinity", "null", "none", "na"}  # readers may convert them


def is_path_or_paths(source: object) -> bool:
    """Return whether a source is a path, or a list of paths."""
    items = source if isinstance(source, list | tuple) else [source]
    return len(items) > 0 and all(isinstance(item, str | os.PathLike) for item in items)


def are_data_files(data: Rows) -> bool:
    """Return whether a list holds names of data files. Another list of strings is one row without its outer list."""
    return is_path_or_paths(data) and all(
        isinstance(item, os.PathLike) or item.lower().endswith(ENDINGS) for item in data
    )


def find_files(source: Rows) -> list[str]:
    """Return the files of a path, a folder, a pattern, or a list of these. The files of each item are sorted."""
    items = source if isinstance(source, list | tuple) else [source]
    files = [file for item in items for file in _files_of_path(os.fspath(item))]
    if len(files) < MAX_PATHS_CHECKED:
        repeated = sorted({file for file in files if files.count(file) > 1})
        if repeated:
            raise DataError(f"{format_names(repeated)} would be read more than once; name each file once")
    is_csv = [file.lower().endswith(CSV_ENDINGS) for file in files]
    if any(is_csv) and not all(is_csv):
        raise DataError(
            f"{files[is_csv.index(True)]} is CSV and {files[is_csv.index(False)]} is Parquet; pass one kind at a time"
        )
    return files


def _files_of_path(path: str) -> list[str]:
    """Return the files of one path, folder or pattern."""
    path = path.removeprefix("file://")
    if "://" in path:
        return [path]  # the scanning engine opens it
    if os.path.isdir(path):  # noqa: PTH112
        return _files_of_folder(path)
    if os.path.exists(path):  # noqa: PTH110
        if not path.lower().endswith(ENDINGS):
            raise UnsupportedError(
                f"the path {show(path)} ends in none of {_ENDINGS_TEXT}; convert the file to Parquet"
            )
        return [path]
    if glob.has_magic(path):
        return _files_of_pattern(path)
    raise DataError(f"no file or folder {path} (looked for {Path(path).absolute()})")


def _files_of_folder(folder: str) -> list[str]:
    """Return the data files in a folder and its subfolders, without hidden files and files of other tools."""
    files = []
    for file in Path(folder).rglob("*"):
        is_hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        if file.is_file() and not is_hidden and file.name.lower().endswith(ENDINGS):
            files.append(str(file))
    if not files:
        raise DataError(f"the folder {folder} holds no file that ends in {_ENDINGS_TEXT}; pass the folder of the data")
    return sorted(files)


def _files_of_pattern(pattern: str) -> list[str]:
    """Return the files that match a pattern. All of them must be data files."""
    files = sorted(file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file))  # noqa: PTH207, PTH113
    if not files:
        raise DataError(f"no file matches {pattern} (looked in {Path(glob.escape(pattern)).absolute().parent})")
    unsupported = [file for file in files if not file.lower().endswith(ENDINGS)]
    if unsupported:
        raise UnsupportedError(
            f"{pattern} matches {show(unsupported[0])}, which ends in none of {_ENDINGS_TEXT}; narrow the pattern"
        )
    return files


def read_file(
    path: str | os.PathLike[str],
    options: TextOptions,
    *,
    text_columns: Collection[str] = (),
    names: Sequence[str] | None = None,
) -> tuple[Frame | dict[str, RawColumn], TextOptions]:
    """Return the table in a text or Parquet file.

    Parameters
    ----------
    path : str or path
        A text file (.csv, .tsv, .txt, .data, .dat, .tab, any of them .gz; a .zip with one file) or a Parquet file.
    options : TextOptions
        How a text file is read.
    text_columns : names
        Columns of a text file that stay text, even if their cells look like numbers.
    names : sequence of str, optional
        Column names of a text file without a header line.

    Returns
    -------
    table : data frame, or dict of columns by name
        A frame of the library that read the file; the columns of a small text file.
    options : TextOptions
        The options with which a text file was read, with nothing left to detect.
    """
    path = os.fspath(path)
    if "://" in path:
        raise DataError(f"{path} is remote; download it first and pass the local path")
    if not path.lower().endswith(ENDINGS):
        raise UnsupportedError(
            f"the path {show(path)} ends in none of {_ENDINGS_TEXT}; save it as CSV, or "
            "read the file with pandas, polars or pyarrow and pass the frame"
        )
    if not Path(path).exists():
        raise DataError(f"no file {path} (looked for {Path(path).absolute()})")
    if path.lower().endswith(PARQUET_ENDINGS):
        library = _find_library(path)
        return _read_by_library(library, lambda: _read_parquet(library, path), path), options
    opened = _open_with_names(path, options, names)
    columns = read_small_file(opened, text_columns)
    if columns is not None:
        return columns, opened.options
    library = _find_library(path)
    return _read_by_library(library, lambda: _read_csv(library, opened, text_columns, path), path), opened.options


def _open_with_names(path: str, options: TextOptions, names: Sequence[str] | None) -> TextFile:
    """Open a text file; with `names`, it has no header line."""
    if names is None:
        return open_text_file(path, options)
    opened = open_text_file(path, replace(options, has_header=False))
    if len(names) != len(opened.names):
        raise DataError(f"{path}: {len(names)} names given for {len(opened.names)} columns")
    return replace(opened, names=tuple(names))


def _find_library(path: str) -> str:
    """Return the name of the first of `READERS` that is installed."""
    for library in READERS:
        with suppress(ImportError):
            return import_module(library).__name__
    raise UnsupportedError(
        f"reading {path} needs one of {', '.join(READERS)}, and none is installed; pip install 'secateur[arrow]'"
    )


def _read_by_library(library: str, read: Callable[[], Frame], path: str) -> Frame:
    """Return `read()`, with the errors of a library turned into a `DataError`."""
    try:
        return read()
    except SecateurError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error})") from error
    except Exception as error:  # the errors of the libraries have no common base class
        raise DataError(f"{path} cannot be parsed by {library}: {error}") from error


def _read_csv(library: str, opened: TextFile, text_columns: Collection[str], path: str) -> Frame:
    """Read a text file with a library. If that fails because of the length of a row, the error names the row."""
    try:
        return _CSV_READERS[library](opened, text_columns)
    except Exception:
        if not path.lower().endswith(".gz"):
            check_row_lengths(opened.path, path, opened.options, len(opened.names))
        raise


def read_small_file(opened: TextFile, text_columns: Collection[str]) -> dict[str, RawColumn] | None:
    """Return the columns of a small text file by name, or None if a library must read the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from secateur.data.text_file import open_text_file
    >>> from secateur.data.text_options import TextOptions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.csv")
    ...     _ = file.write_text("size,colour\\n1.5,red\\n2,\\n")
    ...     columns = read_small_file(open_text_file(file, TextOptions()), [])
    >>> columns["size"].values.tolist(), columns["colour"].categories, columns["colour"].codes.tolist()
    ([1.5, 2.0], ('red',), [0, -1])
    """
    file, options = Path(opened.path), opened.options
    if file.suffix == ".gz" or file.stat().st_size > MAX_SMALL_FILE_BYTES:
        return None
    if options.decimal != "." or options.delimiter is None:
        return None
    content = file.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
    lines = content.removesuffix("\n").split("\n")
    has_special_character = any(character in content for character in ('"', "\r", "\0", "\ufeff"))
    if has_special_character or "" in lines:
        return None
    rows = [line.split(options.delimiter) for line in lines[options.has_header :]]
    if not rows or {len(row) for row in rows} != {len(opened.names)}:
        return None
    columns: dict[str, RawColumn] = {}
    for name, cells in zip(opened.names, zip(*rows, strict=True), strict=True):
        column = _read_cells(cells, name, options.na, is_text=name in text_columns)
        if column is None:
            return None
        columns[name] = column
    return columns


def _read_cells(cells: Sequence[str], name: str, na: Collection[str], *, is_text: bool) -> RawColumn | None:
    """Return the column of these cells, or None if they can be read in more than one way."""
    known = [cell for cell in cells if cell not in na]
    if not known:
        return None
    convert: type[str | int | float]
    if is_text or any(_IS_WORD(cell) and cell.lower() not in _AMBIGUOUS_WORDS for cell in known):
        convert = str
    elif all(map(_IS_INTEGER, known)):
        convert = int
    elif all(map(_IS_NUMBER, known)):
        convert = float
    else:
        return None
    return read_objects(np.array([None if cell in na else convert(cell) for cell in cells], object), name)


def polars_missing_options(na: Sequence[str]) -> dict[str, object]:
    """Return the arguments with which polars reads the cells `na` as missing, and keeps other empty cells of text."""
    import polars as pl

    if int(pl.__version__.partition(".")[0]) >= 2:
        return {"null_values": list(na), "empty_string_is_null": "" in na}
    return {"null_values": list(na), "missing_utf8_is_empty_string": "" not in na}


def _read_csv_with_pyarrow(opened: TextFile, text_columns: Collection[str]) -> Frame:
    import pyarrow as pa
    from pyarrow import csv

    options = opened.options
    read_options = csv.ReadOptions(column_names=list(opened.names), skip_rows=int(options.has_header))
    parse_options = csv.ParseOptions(delimiter=options.delimiter, newlines_in_values=True)
    convert_options = csv.ConvertOptions(
        null_values=list(options.na),
        strings_can_be_null=True,
        column_types={name: pa.string() for name in text_columns},
        decimal_point=options.decimal,
    )
    try:
        return csv.read_csv(opened.path, read_options, parse_options, convert_options)
    except pa.ArrowInvalid:
        read_options.use_threads = False  # fails again, and the message of a single thread names the row
        return csv.read_csv(opened.path, read_options, parse_options, convert_options)


def _read_csv_with_polars(opened: TextFile, text_columns: Collection[str]) -> Frame:
    import polars as pl

    options = opened.options
    return pl.read_csv(
        opened.path,
        separator=options.delimiter,
        **polars_missing_options(options.na),
        has_header=options.has_header,
        new_columns=list(opened.names),
        schema_overrides={name: pl.String() for name in text_columns},
        infer_schema_length=None,
        decimal_comma=options.decimal == ",",
    )


def _read_csv_with_pandas(opened: TextFile, text_columns: Collection[str]) -> Frame:
    import pandas as pd

    options = opened.options
    return pd.read_csv(
        opened.path,
        sep=options.delimiter,
        na_values=list(options.na),
        keep_default_na=False,
        names=list(opened.names),
        header=0 if options.has_header else None,
        dtype=dict.fromkeys(text_columns, "str"),
        encoding="utf-8-sig",
        index_col=False,
        decimal=options.decimal,
    )


_CSV_READERS = {"pyarrow": _read_csv_with_pyarrow, "polars": _read_csv_with_polars, "pandas": _read_csv_with_pandas}


def _read_parquet(library: str, path: str) -> Frame:
    if library != "pyarrow":
        return import_module(library).read_parquet(Path(path))
    from pyarrow import parquet

    return parquet.ParquetFile(Path(path)).read()  # reads only this file, not a partitioned folder around it
