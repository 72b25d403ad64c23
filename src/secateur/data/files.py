"""CSV and Parquet files, read by whichever of pyarrow, polars and pandas is installed."""

import codecs
import csv
import gzip
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import DataError, SecateurError, UnsupportedError
from .plain import read_plain

READERS = ("pyarrow", "polars", "pandas")  # in order of preference
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")


def read_file(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    na: Sequence[str] = ("",),
    text: Iterable[str] = (),
    names: Sequence[str] | None = None,
) -> Any:
    """Return the table in a file, as a frame of the library that read it.

    Parameters
    ----------
    path : str or path
        Ends in .csv, .tsv (either may be gzipped, .gz) or .parquet.
    delimiter : str, optional
        Of a CSV file. Left out, the commonest of comma, semicolon and tab in its first line.
    na : sequence of str
        Cells of a CSV file that mean "missing".
    text : names
        Columns of a CSV file that stay text, even where they look like numbers.
    names : sequence of str, optional
        Column names of a CSV file without a header line.
    """
    shown, lower = os.fspath(path), os.fspath(path).lower()
    if "://" in shown:
        raise DataError(f"{shown} is remote; download it first and pass the local path")
    if not lower.endswith(CSV_ENDINGS + PARQUET_ENDINGS):
        raise UnsupportedError(
            f"the path {shown!r} ends in none of {', '.join(CSV_ENDINGS + PARQUET_ENDINGS)}; "
            "read the file with pandas, polars or pyarrow and pass the frame"
        )
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{shown} is a directory; the path of one file is needed")
    if not file.exists():
        raise DataError(f"no file {shown} (looked for {file.absolute()})")
    library = _library(shown)
    try:
        if lower.endswith(PARQUET_ENDINGS):
            return _READ_PARQUET[library](file)
        _, mark = csv_head(path, delimiter, has_header=names is None)
        return _READ_CSV[library](file, mark, list(na), list(text), None if names is None else list(names))
    except SecateurError:
        raise
    except OSError as error:
        raise DataError(f"{shown} cannot be read ({error.strerror or error})") from error
    except Exception as error:  # the parsers' own errors have no common base
        raise DataError(f"{shown} cannot be parsed by {library}: {error}") from error


def csv_head(
    path: str | os.PathLike[str], delimiter: str | None = None, *, has_header: bool = True
) -> tuple[list[str], str]:
    """The column names of a CSV file (column1, column2, ... if it has no line of names), and what parts its cells."""
    line = _header(Path(path))
    mark = delimiter or _sniffed(line, os.fspath(path).lower())
    cells = next(csv.reader([line], delimiter=mark))
    if not has_header:
        return [f"column{j + 1}" for j in range(len(cells))], mark
    # polars and pandas would rename the second of two equal names without a word
    twice = [name for name, n in Counter(cells).items() if n > 1]
    if twice:
        raise DataError(
            f"{os.fspath(path)}: column names must differ; more than once: {', '.join(map(repr, twice[:5]))}; "
            "if the file has no line of names, pass names="
        )
    return cells, mark


def polars_na(na: Sequence[str]) -> dict[str, Any]:
    """How polars is told which cells are missing; version 2 has another name for what keeps empty cells of text."""
    import polars as pl

    is_new = int(pl.__version__.partition(".")[0]) >= 2
    kept = {"empty_string_is_null": "" in na} if is_new else {"missing_utf8_is_empty_string": "" not in na}
    return {"null_values": list(na), **kept}


def read_small(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    na: Sequence[str] = ("",),
    text: Iterable[str] = (),
    names: Sequence[str] | None = None,
) -> Any:
    """Return the names and columns of a small CSV file that needs no library, as `read_plain` does; None of others."""
    lower = os.fspath(path).lower()
    if "://" in lower or not lower.endswith((".csv", ".tsv")) or not Path(path).is_file():
        return None
    try:
        _, mark = csv_head(path, delimiter, has_header=names is None)
        return read_plain(path, mark, na, list(text), names)
    except (DataError, OSError):  # `read_file` says what is wrong
        return None


def _library(shown: str) -> str:
    for name in READERS:
        try:
            import_module(name)
        except ImportError:
            continue
        return name
    raise UnsupportedError(
        f"reading {shown} needs one of {', '.join(READERS)}, and none is installed; pip install 'secateur[arrow]'"
    )


def _header(file: Path) -> str:
    with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
        line = stream.readline()
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{file} is UTF-16; save it as UTF-8")
    if not line.strip():
        raise DataError(f"{file} has no first line; a line of column names is needed")
    try:
        return line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8 ({error}); save it as UTF-8") from error


def _sniffed(header: str, lower: str) -> str:
    if lower.endswith((".tsv", ".tsv.gz")):
        return "\t"
    return max(",;\t", key=header.count)  # a tie, and a single column, is a comma


def _arrow_csv(file: Path, delimiter: str, na: list[str], text: list[str], names: list[str] | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    def read(*, use_threads: bool) -> Any:
        return arrow_csv.read_csv(
            str(file),
            read_options=arrow_csv.ReadOptions(column_names=names, use_threads=use_threads),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                null_values=na, strings_can_be_null=True, column_types={name: pa.string() for name in text}
            ),
        )

    try:
        return read(use_threads=True)
    except pa.ArrowInvalid:
        return read(use_threads=False)  # fails again, but only one thread knows in which row


def _polars_csv(file: Path, delimiter: str, na: list[str], text: list[str], names: list[str] | None) -> Any:
    import polars as pl

    return pl.read_csv(
        file,
        separator=delimiter,
        **polars_na(na),
        has_header=names is None,
        new_columns=names,
        schema_overrides={name: pl.String() for name in text},
        infer_schema_length=None,
    )


def _pandas_csv(file: Path, delimiter: str, na: list[str], text: list[str], names: list[str] | None) -> Any:
    import pandas as pd

    return pd.read_csv(
        file,
        sep=delimiter,
        na_values=na,
        keep_default_na=False,
        names=names,
        header="infer" if names is None else None,
        dtype=dict.fromkeys(text, "str"),
        encoding="utf-8-sig",
        index_col=False,
    )


def _arrow_parquet(file: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(file).read()  # the file itself, never a partitioned folder around it


def _polars_parquet(file: Path) -> Any:
    import polars as pl

    return pl.read_parquet(file)


def _pandas_parquet(file: Path) -> Any:
    import pandas as pd

    return pd.read_parquet(file)


_READ_CSV = {"pyarrow": _arrow_csv, "polars": _polars_csv, "pandas": _pandas_csv}
_READ_PARQUET = {"pyarrow": _arrow_parquet, "polars": _polars_parquet, "pandas": _pandas_parquet}
