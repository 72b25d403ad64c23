"""Opening of sources: which columns a source has, and how a task is summed over its rows."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .._utils.threads import StoppableThreadPool
from ..data.batch import BatchTask, ProgressCallback, batch_from_frame
from ..data.files import find_files, is_path_or_paths
from ..data.text_options import TextOptions
from ..errors import UnsupportedError
from ._data_file import DataFile, inspect_files
from ._scan import arrow_batches, polars_batches, quoted_columns, scan_files
from .registry import Client, ExternalData

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
    n_rows = [file.n_rows for file in files]
    n_total = 0 if None in n_rows else sum(filter(None, n_rows))
    return partial(sum_batches, partial(scan_files, files=files, engine=engine), n_jobs, n_total)


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
        Number of rows of all batches, for the progress; 0 if it is unknown.
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
    if library in ("duckdb", "_duckdb"):  # checked first, since the columns of a relation are its attributes

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
