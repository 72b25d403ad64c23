"""Opening of sources for growing: the columns to grow on, and how tasks are summed over the rows, several times."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .._utils.arrays import Array, Labels
from .._utils.checks import as_list
from .._utils.warn import format_names
from ..data.batch import Batch
from ..data.encoding import encode
from ..data.files import CSV_ENDINGS, find_files
from ..data.raw_column import CategoryColumn, NumberColumn, RawColumn
from ..data.table import Table
from ..data.text_options import TextOptions
from ..errors import DataError, ParameterError, SchemaError, UnsupportedError
from ._data_file import DataFile, check_columns
from ._source import SumOverBatches, open_source
from .registry import ENGINES, Client, ExternalData, SourceKind, check_engine, engine_for, source_kind_of

if TYPE_CHECKING:
    from ._dask import Cluster


@dataclass(frozen=True)
class GrowSource:
    """The rows on which a tree is grown.

    Parameters
    ----------
    names : tuple of str
        The columns to grow on.
    target : str
        The column with the classes.
    nominal : frozenset of str
        The columns that are nominal even if they hold numbers.
    sum_over : callable
        `sum_over(task, progress)` returns the sum of a task over all rows. It can be called several times.
    cluster : Cluster, optional
        The Dask cluster that holds the rows.
    has_names : bool
        Whether the data have column names.
    classes : array, optional
        The classes of data in memory, which are encoded already.
    """

    names: tuple[str, ...]
    target: str
    nominal: frozenset[str]
    sum_over: SumOverBatches
    cluster: "Cluster | None" = None
    has_names: bool = True
    classes: Array | None = None

    @property
    def is_memory(self) -> bool:
        """Whether the rows are in memory, and encoded already."""
        return self.classes is not None


def open_grow_source(
    source: ExternalData,
    target: Labels,
    engine: str,
    nominal: Sequence[str] | None,
    columns: Sequence[str] | None,
    client: Client,
    n_jobs: int,
    timeout: float,
) -> GrowSource:
    """Return a source on which a tree can be grown; the parameters are those of `engines.grow`."""
    check_engine(engine, to_grow=True)
    kind = source_kind_of(source)
    used_engine = engine_for(source, kind, engine)
    if used_engine == "memory":
        return _open_memory(source, target, nominal, columns)
    if not ENGINES[used_engine].can_grow:
        raise UnsupportedError(
            f"a {type(source).__name__} cannot be used in place for growing; write it to Parquet files first"
        )
    if not isinstance(target, str):
        raise ParameterError(f"target is a {type(target).__name__}; engine={used_engine!r} needs the name of a column")
    if kind == "files":
        source = find_files(source)
    _check_rereadable(source, kind)
    opened = open_source(source, used_engine, text_options=TextOptions(), client=client, n_jobs=n_jobs, timeout=timeout)
    names = _columns_to_grow_on(opened.names, target, nominal, columns, opened.description)
    _check_same_columns(opened.files, names, target, is_chosen=columns is not None)
    return GrowSource(names, target, frozenset(as_list("nominal", nominal)), opened.sum_over, opened.cluster)


def _check_rereadable(source: ExternalData, kind: SourceKind) -> None:
    """Raise `UnsupportedError` unless the rows of a source can be read several times, and fast."""
    if kind == "files" and source[0].lower().endswith(CSV_ENDINGS):
        raise UnsupportedError(
            f"{source[0]} is CSV, and growing needs several passes; convert it first, for example with "
            "polars.scan_csv(...).sink_parquet(...)"
        )
    if kind == "stream" and not hasattr(source, "scanner"):
        raise UnsupportedError(
            f"a {type(source).__name__} can be read only once, and growing needs several passes; write it to Parquet, "
            "or pass a dataset or a lazy frame"
        )


def _open_memory(
    source: ExternalData, target: Labels, nominal: Sequence[str] | None, columns: Sequence[str] | None
) -> GrowSource:
    """Return the source of data in memory, which are encoded first."""
    if columns is not None:
        raise ParameterError("columns= is for files and streams; pass the columns of the frame that are wanted")
    table = encode(source, target=target, nominal=nominal)
    if table.target is None:
        raise DataError("target is None and the table has no target; growing needs the class of each row")
    if table.schema.classes is None:
        raise UnsupportedError("the target is numeric; growing out of core supports only classes: use secateur.grow")
    target_name = "target"
    while target_name in table.names:
        target_name += "_"
    raw_columns = {**_raw_columns(table), target_name: _raw_target(table)}
    readers = tuple(partial(raw_columns.__getitem__, name) for name in raw_columns)
    batch = Batch(tuple(raw_columns), True, table.n_rows, readers)
    return GrowSource(
        names=table.names,
        target=target_name,
        nominal=frozenset(column.name for column in table.schema.columns if column.kind == "nominal"),
        sum_over=lambda task, _: task(batch),
        has_names=table.schema.has_names,
        classes=table.schema.classes,
    )


def _raw_columns(table: Table) -> dict[str, RawColumn]:
    """Return the columns of a table as they are before encoding, by name."""
    raw_columns: dict[str, RawColumn] = {}
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "numeric":
            raw_columns[column.name] = NumberColumn(values)
        else:
            codes = np.where(values >= len(column.categories), -1, values)
            raw_columns[column.name] = CategoryColumn(codes, column.categories, is_declared=True)
    return raw_columns


def _raw_target(table: Table) -> RawColumn:
    """Return the classes of the rows of a table as a column."""
    classes = table.schema.classes
    assert classes is not None
    if classes.dtype.kind in "iuf":
        return NumberColumn(classes[table.required_target])
    return CategoryColumn(table.required_target, tuple(classes.tolist()), is_declared=True)


def _columns_to_grow_on(
    names: tuple[str, ...],
    target: str,
    nominal: Sequence[str] | None,
    columns: Sequence[str] | None,
    description: str,
) -> tuple[str, ...]:
    """Return the columns to grow on: all but the target, or those that the user has chosen.

    Raise an error for columns that the source, which messages call `description`, does not have.
    """
    chosen = tuple(name for name in names if name != target) if columns is None else tuple(columns)
    requests = {"target": [target], "columns": chosen, "nominal": as_list("nominal", nominal)}
    for parameter, requested in requests.items():
        missing = [name for name in requested if name not in names]
        if missing:
            raise SchemaError(
                f"{description} has no column {format_names(missing)} ({parameter}=); its columns are "
                f"{format_names(names)}"
            )
    if target in chosen:
        raise ParameterError(f"columns= holds the target {target!r}; a tree must not test what it is to predict")
    if not chosen:
        raise DataError(f"{description} has no column besides the target {target!r}; at least one is needed")
    return chosen


def _check_same_columns(files: Sequence[DataFile], names: tuple[str, ...], target: str, *, is_chosen: bool) -> None:
    """Raise `SchemaError` if the files differ in their columns, or in the value type of a column.

    Columns that are not used may differ if the user has chosen the columns.
    """
    first_use: dict[str, tuple[str, str]] = {}  # the value type of each column, and the first file with values in it
    used = (*names, target)
    for file in files:
        check_columns(file, used, files[0])
        extra = [] if is_chosen else [name for name in file.types if name not in used]
        if extra:
            raise SchemaError(
                f"{file.path} has the columns {format_names(extra)}, which {files[0].path} lacks; drop them, or name "
                "the columns to grow on with columns="
            )
        for name in used:
            value_type = file.value_types[name]
            if value_type is None:
                raise SchemaError(
                    f"{file.path}: column {name!r} is {file.types[name]}; numbers, text or booleans are needed: "
                    "convert it, or leave it out with columns="
                )
            if value_type == "missing":
                continue
            first_type, first_path = first_use.setdefault(name, (value_type, file.path))
            if value_type != first_type:
                raise SchemaError(
                    f"{file.path}: column {name!r} holds {value_type} values ({file.types[name]}), but {first_type} "
                    f"values in {first_path}; convert it to one kind"
                )
