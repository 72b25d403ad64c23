"""Opening of sources: which columns a source has, and how a task is summed over its rows.

`open_source` opens a source for one pass, which is enough for counting. `open_grow_source` opens a source that can be
read several times, checks its columns, and returns the columns to grow on, too.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import Array, Labels
from .._utils.checks import as_list
from .._utils.threads import StoppableThreadPool
from .._utils.warn import format_names
from ..data.batch import Batch, BatchTask, ProgressCallback, batch_from_frame
from ..data.encoding import encode
from ..data.files import CSV_ENDINGS, find_files, is_path_or_paths
from ..data.raw_column import CategoryColumn, NumberColumn, RawColumn
from ..data.table import Table
from ..data.text_options import TextOptions
from ..errors import DataError, ParameterError, SchemaError, UnsupportedError, show
from ._data_file import (
    DataFile,
    arrow_batches,
    check_columns,
    inspect_files,
    polars_batches,
    quoted_columns,
    scan_files,
)
from .registry import ENGINES, Client, ExternalData, SourceKind, check_engine, engine_for, source_kind_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ._dask import Cluster

# Reads the columns of a task in batches.
BatchReader = Callable[[BatchTask], Generator[Any]]
# Returns the sum of a task over all batches, and reports progress. A database accepts only tasks that count.
SumOverBatches = Callable[[Any, ProgressCallback | None], Any]


@dataclass(frozen=True)
class Source:
    """Rows in memory, in files, in a database or on a cluster.

    Parameters
    ----------
    names : tuple of str
        The column names.
    description : str
        What messages call the source.
    sum_over : callable
        `sum_over(task, progress)` returns the sum of a task over all rows, which are processed where they are.
    files : sequence of DataFile
        The files of the source, if it consists of files.
    cluster : Cluster, optional
        The Dask cluster that holds the rows.
    """

    names: tuple[str, ...]
    description: str
    sum_over: SumOverBatches
    files: Sequence[DataFile] = ()
    cluster: "Cluster | None" = None


def open_source(
    source: ExternalData, engine: str, *, text_options: TextOptions, client: Client, n_jobs: int, timeout: float
) -> Source:
    """Return a source that an engine reads.

    Parameters
    ----------
    source : path, frame, stream, ...
    engine : str
        The name of the engine; not "auto".
    text_options : TextOptions
        How text files are read.
    client : distributed.Client, optional
        The Dask client; the current one by default.
    n_jobs : int
        Number of threads that process batches.
    timeout : float
        Seconds to wait for the Dask scheduler.
    """
    description = f"the {type(source).__name__}"
    if is_path_or_paths(source):
        return _open_files(source, engine, text_options, client, n_jobs, timeout)
    if engine == "dask":
        from ._dask import Cluster, client_of, partitions_of

        client = client_of(client, timeout)
        cluster = Cluster(client, partitions_of(client, source), timeout)
        return Source(cluster.names(source), description, cluster.sum_over, (), cluster)
    if engine == "memory":
        batch = batch_from_frame(source)
        return Source(batch.names, description, lambda task, _: task(batch))
    if engine == "spark":
        from ._spark import count_on_spark

        return Source(tuple(source.columns), "the Spark frame", lambda task, _: count_on_spark(source, task))
    if engine == "narwhals":
        from ._pushdown import as_lazy, count_lazy

        frame, types = as_lazy(source)
        return Source(tuple(types), description, lambda task, _: count_lazy(frame, types, task, description))
    names, read_batches = _open_batches(source, engine)
    return Source(names, description, partial(sum_batches, read_batches, n_jobs, 0))


def _open_files(
    paths: ExternalData, engine: str, text_options: TextOptions, client: Client, n_jobs: int, timeout: float
) -> Source:
    """Return the source of one or more files."""
    files = inspect_files(find_files(paths), text_options)
    names, description = tuple(files[0].types), files[0].path
    if engine != "dask":
        return Source(names, description, files_summer(files, engine, n_jobs), files)
    if any(file.folder for file in files):
        raise UnsupportedError(f"engine='dask' reads UTF-8 CSV and Parquet; save {paths} as one of these")
    from ._dask import Cluster, client_of

    cluster = Cluster(client_of(client, timeout), files, timeout)
    return Source(names, description, cluster.sum_over, files, cluster)


def files_summer(files: Sequence[DataFile], engine: str, n_jobs: int) -> SumOverBatches:
    """Return the function that sums a task over files, which an engine on this machine scans."""
    return partial(sum_batches, partial(scan_files, files=files, engine=engine), n_jobs, stated_rows(files))


def stated_rows(files: Sequence[DataFile]) -> int:
    """Return the number of rows that the footers of all files state; 0 if it is unknown, as for text files."""
    n_rows = [file.n_rows for file in files]
    return 0 if None in n_rows else sum(filter(None, n_rows))


def check_all_rows_read(n_stated: int, n_read: int) -> None:
    """Raise `DataError` unless as many rows were read as the files state; 0 states nothing."""
    if n_stated and n_read != n_stated:
        raise DataError(
            f"{n_read:,} rows were read, but the files state {n_stated:,}; nothing was counted: a file was changed "
            "while it was read, or the engine left out or repeated a batch; read the files again"
        )


def sum_batches(
    read_batches: BatchReader, n_jobs: int, n_total: int, task: BatchTask, progress: ProgressCallback | None
) -> Any:
    """Return the sum of a task over batches.

    Threads process the batches while the engine reads on. At most `n_jobs` + 1 batches are in memory. The results are
    merged in the order of the batches, whichever thread is faster.

    Parameters
    ----------
    read_batches : callable
    n_jobs : int
        Number of threads.
    n_total : int
        Number of rows of all batches, for the progress and to notice lost or repeated batches; 0 if it is unknown.
    task : BatchTask
    progress : callable or None
    """
    total, n_submitted_rows = task.empty(), 0
    waiting: deque[Future[Any]] = deque()

    def merge_next() -> None:
        total.merge(waiting.popleft().result())
        if progress is not None:
            progress(total.n_rows, max(total.n_rows, n_total))

    with closing(read_batches(task)) as batches, StoppableThreadPool(n_jobs) as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(task, batch, n_submitted_rows))
                n_submitted_rows += len(batch)
                if len(waiting) > n_jobs:
                    merge_next()
            check_all_rows_read(n_total, n_submitted_rows)
            while waiting:
                merge_next()
        finally:
            for future in waiting:
                future.cancel()
    return total


def _open_batches(source: ExternalData, engine: str) -> tuple[tuple[str, ...], BatchReader]:
    """Return the columns of a stream or lazy frame, and the function that reads the columns of a task in batches."""
    library = type(source).__module__.partition(".")[0]
    if engine == "polars":
        names = tuple(source.collect_schema().names())
        return names, lambda task: polars_batches(source.select(list(task.columns)))
    if library in ("duckdb", "_duckdb"):
        # Relations are recognised first, because each of their columns is an attribute, whatever its name.

        def read_relation(task: BatchTask) -> Generator[Any]:
            yield from arrow_batches(source.project(quoted_columns(task)))

        return tuple(source.columns), read_relation
    if library == "pyarrow" and hasattr(source, "scanner"):

        def read_dataset(task: BatchTask) -> Generator[Any]:
            yield from source.scanner(columns=list(task.columns), batch_readahead=2, fragment_readahead=1).to_batches()

        return tuple(source.schema.names), read_dataset
    import pyarrow as pa

    if library == "pyarrow" and not hasattr(source, "__arrow_c_stream__"):  # a scanner
        source = source.to_reader()
    reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    return tuple(reader.schema.names), lambda task: (batch.select(list(task.columns)) for batch in reader)


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
        raise ParameterError(
            f"target is a {type(target).__name__}; engine={show(used_engine)} needs the name of a column"
        )
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
        raise ParameterError(f"columns= holds the target {show(target)}; a tree must not test what it is to predict")
    if not chosen:
        raise DataError(f"{description} has no column besides the target {show(target)}; at least one is needed")
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
                    f"{file.path}: column {show(name)} is {file.types[name]}; numbers, text or booleans are needed: "
                    "convert it, or leave it out with columns="
                )
            if value_type == "missing":
                continue
            first_type, first_path = first_use.setdefault(name, (value_type, file.path))
            if value_type != first_type:
                raise SchemaError(
                    f"{file.path}: column {show(name)} holds {value_type} values ({file.types[name]}), but "
                    f"{first_type} values in {first_path}; convert it to one kind"
                )
