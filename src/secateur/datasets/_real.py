"""Real data sets: from a folder of gzip CSV files with a SCHEMA.json, or from OpenML."""

import json
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .._utils.checks import did_you_mean
from ..data.encoding import encode
from ..data.files import read_file
from ..data.table import Column, Schema, Table
from ..data.text_file import open_text_file
from ..data.text_options import TextOptions
from ..errors import DataError, show
from .tables import TARGET_COLUMN

ColumnKind = Literal["numeric"] | dict[str, list[object]]  # in SCHEMA.json: "numeric" or {"nominal": [values]}


def load(name: str, data_dir: str | os.PathLike[str]) -> Table:
    """Load a data set from a folder.

    Parameters
    ----------
    name : str
        The data are in the file `NAME.csv.gz`, separated by commas, with the classes in the column `class`.
    data_dir : path
        The folder. It also contains SCHEMA.json: `{name: {"columns": {column: "numeric" or {"nominal": [values]}}}}`.

    Returns
    -------
    Table
        Nominal columns have the categories in SCHEMA.json, in the same order. Empty cells are missing.

    Examples
    --------
    >>> import gzip, json, pathlib, tempfile
    >>> from secateur import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kinds = {"size": "numeric", "colour": {"nominal": ["red", "blue"]}}
    ...     _ = pathlib.Path(folder, "SCHEMA.json").write_text(json.dumps({"toys": {"columns": kinds}}))
    ...     rows = "size,colour,class\\n1,red,good\\n2.5,blue,bad\\n"
    ...     _ = pathlib.Path(folder, "toys.csv.gz").write_bytes(gzip.compress(rows.encode()))
    ...     datasets.load("toys", folder)
    Table(2 rows, 1 nominal and 1 numeric columns, 2 classes)
    """
    import narwhals.stable.v2 as nw

    folder = Path(data_dir)
    kinds = _read_column_kinds(name, folder)
    file = folder / f"{name}.csv.gz"
    _check_header(file, kinds)
    nominal = [column for column, kind in kinds.items() if kind != "numeric"]
    frame: Any = nw.from_native(
        read_file(file, TextOptions(","), text_columns=[*nominal, TARGET_COLUMN])[0], eager_only=True
    )
    frame = frame.select([*kinds, TARGET_COLUMN])
    if frame[TARGET_COLUMN].null_count():
        raise DataError(
            f"{file}: column {show(TARGET_COLUMN)} has {frame[TARGET_COLUMN].null_count()} empty cells; every "
            "row needs one"
        )
    columns = tuple(_make_column(file, column, kind, frame[column]) for column, kind in kinds.items())
    classes = np.array(sorted(frame[TARGET_COLUMN].unique().to_list()))
    return encode(frame.to_native(), target=TARGET_COLUMN, schema=Schema(columns, classes, has_names=True))


def fetch(name: str | int, **options: Any) -> Table:
    """Download a data set from OpenML by name or number.

    Parameters
    ----------
    name : str or int
        The name or the `data_id` in OpenML.
    **options
        Passed to `sklearn.datasets.fetch_openml`, which downloads and caches it.

    Examples
    --------
    >>> fetch("tic-tac-toe", version=1)  # doctest: +SKIP
    Table(958 rows, 9 nominal and 0 numeric columns, 2 classes)
    """
    from sklearn.datasets import fetch_openml

    identifier = {"data_id": name} if isinstance(name, int) else {"name": name}
    try:
        bunch = fetch_openml(**identifier, as_frame=True, parser="auto", **options)
    except Exception as error:  # errors of the network, the name and the version have no common base class
        raise DataError(
            f"{show(name)} cannot be fetched from OpenML ({error}); datasets.load reads local files"
        ) from error
    return encode(bunch.data, target=bunch.target)


def _read_column_kinds(name: str, folder: Path) -> dict[str, ColumnKind]:
    """Return the kind of each column of a data set, as SCHEMA.json states it."""
    path = folder / "SCHEMA.json"
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"{folder} is not a folder of data sets: SCHEMA.json cannot be read ({error.strerror or error}); "
            "give the folder that holds it beside the files NAME.csv.gz"
        ) from error
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error})") from error
    if not isinstance(schema, dict) or name not in schema:
        known = schema if isinstance(schema, dict) else {}
        hint = did_you_mean(name, known) or f"; it knows {', '.join(sorted(known))}"
        raise DataError(f"{path} does not know {show(name)}{hint}")
    kinds = schema[name].get("columns") if isinstance(schema[name], dict) else None
    if not isinstance(kinds, dict) or not kinds or not all(_is_column_kind(kind) for kind in kinds.values()):
        raise DataError(f'{path}: {show(name)} needs "columns", each of them "numeric" or {{"nominal": [its values]}}')
    return kinds


def _is_column_kind(kind: object) -> bool:
    return kind == "numeric" or (isinstance(kind, dict) and isinstance(kind.get("nominal"), list))


def _check_header(file: Path, kinds: dict[str, ColumnKind]) -> None:
    """Raise `DataError` if a file lacks a column, before its rows are read."""
    if not file.exists():
        raise DataError(f"no file {file}, which SCHEMA.json names")
    header = open_text_file(file, TextOptions(",")).names
    missing = [column for column in (*kinds, TARGET_COLUMN) if column not in header]
    if missing:
        raise DataError(
            f"{file} has no column {show(missing[0])}, which SCHEMA.json names; it has {', '.join(header[:20])}"
        )


def _make_column(file: Path, name: str, kind: ColumnKind, cells: Any) -> Column:
    """Return the schema of a column; refuse cells that do not have the kind of the column."""
    has_missing = bool(cells.null_count())
    if kind == "numeric":
        if not cells.dtype.is_numeric() and cells.null_count() < len(cells):
            raise DataError(f"{file}: column {show(name)} should hold numbers and holds {show(cells.drop_nulls()[0])}")
        return Column(name, "numeric", has_missing=has_missing)
    values = tuple(str(value) for value in kind["nominal"])
    unknown = set(cells.drop_nulls().unique().to_list()) - set(values)
    if unknown:
        raise DataError(f"{file}: column {show(name)} holds {show(min(unknown))}, which SCHEMA.json does not name")
    return Column(name, "nominal", values, has_missing)
