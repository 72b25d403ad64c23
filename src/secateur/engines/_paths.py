"""Which files a path, a folder or a pattern means, and whether all of them hold what is needed.

Everything that can be known without reading rows is checked before the first row is read:
that each file can be opened, has every column, and that no column changes its kind.
"""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..data.columns import Family
from ..data.files import CSV_ENDINGS, PARQUET_ENDINGS, csv_head
from ..data.remarks import listed
from ..errors import DataError, SchemaError, SecateurError, UnsupportedError
from ..routing import CountTask


@dataclass(frozen=True)
class Csv:
    """How CSV files are read: what parts their cells (None: found from the first line), and which cells are missing."""

    delimiter: str | None = None
    na: tuple[str, ...] = ("",)
    has_header: bool = True


@dataclass(frozen=True)
class File:
    """One file: its columns in order, the type of each as text, and what the types are to us.

    A CSV file (`csv` says how it is read) has no types of its own; `kinds` is then empty. `n_rows` is
    None where unknown.
    """

    path: str
    types: dict[str, str]
    kinds: dict[str, Family | None]
    n_rows: int | None = None
    csv: Csv | None = None


def is_path(source: Any) -> bool:
    """Whether a source is a path, or a list of paths."""
    if isinstance(source, list | tuple):
        return len(source) > 0 and all(isinstance(one, str | os.PathLike) for one in source)
    return isinstance(source, str | os.PathLike)


def find_files(source: Any) -> list[str]:
    """Return the files that a path, a folder, a pattern or a list of them means, sorted within each."""
    given = source if isinstance(source, list | tuple) else [source]
    found = [file for one in given for file in _files_of(os.fspath(one))]
    twice = sorted({file for file in found if found.count(file) > 1}) if len(found) < 10_000 else []
    if twice:
        raise DataError(f"{listed(twice)} would be counted more than once; name each file once")
    is_csv = [file.lower().endswith(CSV_ENDINGS) for file in found]
    if any(is_csv) and not all(is_csv):
        raise DataError(
            f"{found[is_csv.index(True)]} is CSV and {found[is_csv.index(False)]} is Parquet; pass one kind at a time"
        )
    return found


def open_files(paths: Sequence[str], csv: Csv) -> list[File]:
    """Return what is known of each file without reading its rows."""
    return [_open_csv(path, csv) if path.lower().endswith(CSV_ENDINGS) else _open_parquet(path) for path in paths]


def check_files(files: Sequence[File], task: CountTask) -> None:
    """Refuse a file that lacks a column, or in which a column is not what the tree was grown on."""
    for file in files:
        missing = [name for name in task.columns if name not in file.types]
        if missing:
            others = "" if file is files[0] else f", unlike {files[0].path}"
            raise SchemaError(
                f"{file.path} lacks the columns {listed(missing)}{others}; it has {listed(tuple(file.types))}: "
                "add them, or leave the file out"
            )
        if file.csv is None:
            for name, needed in task.needed.items():
                found = file.kinds[name]
                if found != "missing" and needed not in (None, found) and {needed, found} != {"number", "truth"}:
                    raise SchemaError(
                        f"{file.path}: column {name!r} is {file.types[name]} ({found or 'a kind'} that no tree can "
                        f"use here), but {needed} is needed; convert the column, or leave the file out"
                    )


def _files_of(path: str) -> list[str]:
    path = path.removeprefix("file://")
    if "://" in path:
        return [path]  # the scanning engine lists and opens it
    if os.path.isdir(path):  # noqa: PTH112
        found = sorted(
            str(file) for file in Path(path).rglob("*") if file.is_file() and _is_data(str(file.relative_to(path)))
        )
        if not found:
            raise DataError(f"the folder {path} holds no file that ends in {_endings()}; pass the folder of the data")
        return found
    if os.path.exists(path):  # noqa: PTH110
        if not path.lower().endswith(CSV_ENDINGS + PARQUET_ENDINGS):
            raise UnsupportedError(f"the path {path!r} ends in none of {_endings()}; convert the file to Parquet")
        return [path]
    if glob.has_magic(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))  # noqa: PTH207, PTH113
        if not found:
            raise DataError(f"no file matches {path} (looked in {Path(glob.escape(path)).absolute().parent})")
        wrong = [file for file in found if not file.lower().endswith(CSV_ENDINGS + PARQUET_ENDINGS)]
        if wrong:
            raise UnsupportedError(
                f"{path} matches {wrong[0]!r}, which ends in none of {_endings()}; narrow the pattern"
            )
        return found
    raise DataError(f"no file or folder {path} (looked for {Path(path).absolute()})")


def _is_data(inner: str) -> bool:
    hidden = any(part.startswith((".", "_")) for part in Path(inner).parts)  # what other tools leave beside data
    return not hidden and inner.lower().endswith(CSV_ENDINGS + PARQUET_ENDINGS)


def _endings() -> str:
    return ", ".join(CSV_ENDINGS + PARQUET_ENDINGS)


def _open_csv(path: str, csv: Csv) -> File:
    try:
        names, mark = csv_head(path, csv.delimiter, has_header=csv.has_header)
    except SecateurError:
        raise
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})") from error
    return File(path, dict.fromkeys(names, "text"), {}, csv=replace(csv, delimiter=mark))


def _open_parquet(path: str) -> File:
    n_rows: int | None
    try:
        names, types, kinds, n_rows = _arrow_footer(path)
    except ImportError:
        names, types, kinds, n_rows = _polars_footer(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read as Parquet ({error}); replace it, or leave it out") from error
    except Exception as error:  # pyarrow's own errors have no common base
        raise DataError(f"{path} is no sound Parquet file ({error}); replace it, or leave it out") from error
    if len(set(names)) < len(names):
        raise DataError(f"{path}: column names must differ; rename them")
    return File(path, dict(zip(names, types, strict=True)), dict(zip(names, kinds, strict=True)), n_rows)


def _arrow_footer(path: str) -> tuple[list[str], list[str], list[Family | None], int]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) if "://" not in path else _remote(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    return schema.names, [str(kind) for kind in schema.types], [arrow_family(kind) for kind in schema.types], n_rows


def _remote(path: str) -> Any:
    from pyarrow import fs, parquet

    system, inner = fs.FileSystem.from_uri(path)
    return parquet.ParquetFile(inner, filesystem=system)


def _polars_footer(path: str) -> tuple[list[str], list[str], list[Family | None], int | None]:
    import narwhals.stable.v2 as nw
    import polars as pl

    try:
        frame = nw.from_native(pl.DataFrame(schema=pl.read_parquet_schema(path)))
    except Exception as error:
        raise DataError(f"{path} is no sound Parquet file ({error}); replace it, or leave it out") from error
    return (
        frame.columns,
        [str(kind) for kind in frame.schema.values()],
        [frame_family(kind) for kind in frame.schema.values()],
        None,
    )


def arrow_family(kind: Any) -> Family | None:
    """Return what an Arrow type is to us; None if it is nothing we take."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return arrow_family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return "truth" if types.is_boolean(kind) else "missing" if types.is_null(kind) else None


def frame_family(kind: Any) -> Family | None:
    """Return what a narwhals type is to us; None if it is nothing we take."""
    import narwhals.stable.v2 as nw

    if kind.is_numeric():
        return "number"
    if kind == nw.Boolean:
        return "truth"
    return "text" if kind in (nw.String, nw.Categorical, nw.Enum) else "missing" if kind == nw.Unknown else None
