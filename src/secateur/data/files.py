"""Text and Parquet files, read by whichever of pyarrow, polars and pandas is installed; small ones read here.

Importing a library that reads them would take ten times as long as reading a small text file of plain cells. Only
what can be read in one way is read here: numbers in their usual form, and columns with a word that nobody takes for a
number, a date or a boolean. Of any doubt the answer is None, and a library decides. What is read here is read as
pyarrow would.
"""

import glob
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from .._utils.arrays import Frame, Rows
from .._utils.warn import format_names
from ..errors import DataError, SecateurError, UnsupportedError
from .column_reader import read_objects
from .raw_column import RawColumn
from .text_file import TextFile, TextOptions, check_row_lengths, open_text_file

READERS = ("pyarrow", "polars", "pandas")  # in order of preference
_TEXT = (".csv", ".tsv", ".txt", ".data", ".dat", ".tab")
CSV_ENDINGS = (*_TEXT, *(f"{ending}.gz" for ending in _TEXT), ".zip")
PARQUET_ENDINGS = (".parquet", ".pq")
ENDINGS = CSV_ENDINGS + PARQUET_ENDINGS
_KNOWN = f"{', '.join(_TEXT)} (or these and .gz), .zip, {', '.join(PARQUET_ENDINGS)}"

MAX_SMALL_FILE_BYTES = 1 << 18  # of a small file
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})").fullmatch
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?").fullmatch
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_ -]*").fullmatch
_NO_WORDS = {"true", "false", "nan", "inf", "infinity", "null", "none", "na"}


def is_path_or_paths(source: object) -> bool:
    """Whether a source is a path, or a list of paths."""
    parts = source if isinstance(source, list | tuple) else [source]
    return len(parts) > 0 and all(isinstance(one, str | os.PathLike) for one in parts)


def are_data_files(data: Rows) -> bool:
    """Whether a list holds names of files, as they end; other lists of words are rows that somebody forgot to nest."""
    return is_path_or_paths(data) and all(isinstance(one, os.PathLike) or one.lower().endswith(ENDINGS) for one in data)


def find_files(source: Rows) -> list[str]:
    """Return the files that a path, a folder, a pattern or a list of them means, sorted within each."""
    given = source if isinstance(source, list | tuple) else [source]
    found = [file for one in given for file in _files_of(os.fspath(one))]
    twice = sorted({file for file in found if found.count(file) > 1}) if len(found) < 10_000 else []
    if twice:
        raise DataError(f"{format_names(twice)} would be read more than once; name each file once")
    is_csv = [file.lower().endswith(CSV_ENDINGS) for file in found]
    if any(is_csv) and not all(is_csv):
        raise DataError(
            f"{found[is_csv.index(True)]} is CSV and {found[is_csv.index(False)]} is Parquet; pass one kind at a time"
        )
    return found


def read_file(
    path: str | os.PathLike[str], how: TextOptions, *, text: Collection[str] = (), names: Sequence[str] | None = None
) -> tuple[Frame | dict[str, RawColumn], TextOptions]:
    """Return the table in a file, as a frame of the library that read it, or the columns of a small one by name.

    Parameters
    ----------
    path : str or path
        Of a text file (.csv, .tsv, .txt, .data, .dat, any of them .gz; .zip with one file) or a Parquet file.
    how : Csv
        How a text file is read.
    text : names
        Columns of a text file that stay text, even where they look like numbers.
    names : sequence of str, optional
        Column names of a text file without a header line.

    Returns
    -------
    frame, or columns as `read_small_file` returns them; and how the file was read
    """
    shown, lower = os.fspath(path), os.fspath(path).lower()
    if "://" in shown:
        raise DataError(f"{shown} is remote; download it first and pass the local path")
    if not lower.endswith(ENDINGS):
        raise UnsupportedError(
            f"the path {shown!r} ends in none of {_KNOWN}; save it as CSV, or "
            "read the file with pandas, polars or pyarrow and pass the frame"
        )
    file = Path(path)
    if not file.exists():
        raise DataError(f"no file {shown} (looked for {file.absolute()})")
    is_text = not lower.endswith(PARQUET_ENDINGS)
    if is_text:
        opened = open_text_file(path, how if names is None else replace(how, has_header=False))
        if names is not None:
            if len(names) != len(opened.names):
                raise DataError(f"{shown}: {len(names)} names given for {len(opened.names)} columns")
            opened = replace(opened, names=tuple(names))
        how, found = opened.how, read_small_file(opened, text)
        if found is not None:
            return found, how
    library = _library(shown)
    try:
        try:
            return (_READ_CSV[library](opened, text) if is_text else _read_parquet(library, file)), how
        except Exception:
            if is_text and not lower.endswith(".gz"):
                check_row_lengths(opened.path, shown, how, len(opened.names))  # names the row that is at fault
            raise
    except SecateurError:
        raise
    except OSError as error:
        raise DataError(f"{shown} cannot be read ({error.strerror or error})") from error
    except Exception as error:  # the parsers' own errors have no common base
        raise DataError(f"{shown} cannot be parsed by {library}: {error}") from error


def read_small_file(opened: TextFile, text: Collection[str]) -> dict[str, RawColumn] | None:
    """Return the columns of a small text file by name, None if it is not small or not plain.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from secateur.data.text_file import TextOptions, open_text_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.csv")
    ...     _ = file.write_text("size,colour\\n1.5,red\\n2,\\n")
    ...     found = read_small_file(open_text_file(file, TextOptions()), [])
    >>> found["size"].values.tolist(), found["colour"].categories, found["colour"].codes.tolist()
    ([1.5, 2.0], ('red',), [0, -1])
    """
    file, names, how = Path(opened.path), opened.names, opened.how
    if (
        file.suffix == ".gz"
        or file.stat().st_size > MAX_SMALL_FILE_BYTES
        or how.decimal != "."
        or how.delimiter is None
    ):
        return None
    content = file.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
    lines = content.removesuffix("\n").split("\n")
    if any(mark in content for mark in ('"', "\r", "\0", "\ufeff")) or not all(lines):
        return None
    cells = [line.split(how.delimiter) for line in lines[how.has_header :]]
    if not cells or {len(row) for row in cells} != {len(names)}:
        return None
    columns = [
        _column(column, name, how.na, name in text)
        for name, column in zip(names, zip(*cells, strict=True), strict=True)
    ]
    return None if None in columns else dict(zip(names, columns, strict=True))  # type: ignore[arg-type]


def _column(cells: Sequence[str], name: str, na: Collection[str], is_text: bool) -> RawColumn | None:
    """A column, None if its cells could be read in more than one way."""
    there = [cell for cell in cells if cell not in na]
    convert: type[str | int | float]
    if there and (is_text or any(_WORD(cell) and cell.lower() not in _NO_WORDS for cell in there)):
        convert = str
    elif there and all(map(_NUMBER, there)):
        convert = int if all(map(_WHOLE, there)) else float
    else:
        return None
    return read_objects(np.array([None if cell in na else convert(cell) for cell in cells], object), name)


def _files_of(path: str) -> list[str]:
    path = path.removeprefix("file://")
    if "://" in path:
        return [path]  # the scanning engine lists and opens it
    if os.path.isdir(path):  # noqa: PTH112
        found = sorted(
            str(file) for file in Path(path).rglob("*") if file.is_file() and _is_data(str(file.relative_to(path)))
        )
        if not found:
            raise DataError(f"the folder {path} holds no file that ends in {_KNOWN}; pass the folder of the data")
        return found
    if os.path.exists(path):  # noqa: PTH110
        if not path.lower().endswith(ENDINGS):
            raise UnsupportedError(f"the path {path!r} ends in none of {_KNOWN}; convert the file to Parquet")
        return [path]
    if glob.has_magic(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))  # noqa: PTH207, PTH113
        if not found:
            raise DataError(f"no file matches {path} (looked in {Path(glob.escape(path)).absolute().parent})")
        wrong = [file for file in found if not file.lower().endswith(ENDINGS)]
        if wrong:
            raise UnsupportedError(f"{path} matches {wrong[0]!r}, which ends in none of {_KNOWN}; narrow the pattern")
        return found
    raise DataError(f"no file or folder {path} (looked for {Path(path).absolute()})")


def _is_data(inner: str) -> bool:
    hidden = any(part.startswith((".", "_")) for part in Path(inner).parts)  # what other tools leave beside data
    return not hidden and inner.lower().endswith(ENDINGS)


def polars_missing_options(na: Sequence[str]) -> dict[str, object]:
    """How polars is told which cells are missing; version 2 has another name for what keeps empty cells of text."""
    import polars as pl

    is_new = int(pl.__version__.partition(".")[0]) >= 2
    kept = {"empty_string_is_null": "" in na} if is_new else {"missing_utf8_is_empty_string": "" not in na}
    return {"null_values": list(na), **kept}


def _library(shown: str) -> str:
    for name in READERS:
        with suppress(ImportError):
            return import_module(name).__name__
    raise UnsupportedError(
        f"reading {shown} needs one of {', '.join(READERS)}, and none is installed; pip install 'secateur[arrow]'"
    )


def _arrow_csv(opened: TextFile, text: Collection[str]) -> Frame:
    import pyarrow as pa
    from pyarrow import csv

    how = opened.how
    head = csv.ReadOptions(column_names=list(opened.names), skip_rows=int(how.has_header))
    parse = csv.ParseOptions(delimiter=how.delimiter, newlines_in_values=True)
    convert = csv.ConvertOptions(
        null_values=list(how.na),
        strings_can_be_null=True,
        column_types={name: pa.string() for name in text},
        decimal_point=how.decimal,
    )
    try:
        return csv.read_csv(opened.path, head, parse, convert)
    except pa.ArrowInvalid:
        head.use_threads = False  # fails again, but only one thread knows in which row
        return csv.read_csv(opened.path, head, parse, convert)


def _polars_csv(opened: TextFile, text: Collection[str]) -> Frame:
    import polars as pl

    how = opened.how
    return pl.read_csv(
        opened.path,
        separator=how.delimiter,
        **polars_missing_options(how.na),
        has_header=how.has_header,
        new_columns=list(opened.names),
        schema_overrides={name: pl.String() for name in text},
        infer_schema_length=None,
        decimal_comma=how.decimal == ",",
    )


def _pandas_csv(opened: TextFile, text: Collection[str]) -> Frame:
    import pandas as pd

    how = opened.how
    return pd.read_csv(
        opened.path,
        sep=how.delimiter,
        na_values=list(how.na),
        keep_default_na=False,
        names=list(opened.names),
        header=0 if how.has_header else None,
        dtype=dict.fromkeys(text, "str"),
        encoding="utf-8-sig",
        index_col=False,
        decimal=how.decimal,
    )


def _read_parquet(library: str, file: Path) -> Frame:
    if library != "pyarrow":
        return import_module(library).read_parquet(file)
    from pyarrow import parquet

    return parquet.ParquetFile(file).read()  # the file itself, never a partitioned folder around it


_READ_CSV = {"pyarrow": _arrow_csv, "polars": _polars_csv, "pandas": _pandas_csv}
