"""Open a source: which columns it has, and where a task over its batches runs."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..data.files import find_files, is_path
from ..data.sources import Progress, Task, batch_of
from ..data.textfile import Csv
from ..errors import UnsupportedError
from ._paths import File, open_files
from ._scan import ROWS_IN_BATCH, add_up, lazy_batches, quoted, scan
from .registry import Client, Elsewhere

if TYPE_CHECKING:
    from ._dask import Cluster

Batches = Callable[[Task], Generator[Any]]
Over = Callable[[Any, Progress | None], Any]  # of a Task; a database takes no task but counting


@dataclass(frozen=True)
class Source:
    """Rows wherever they are: their columns, and what adds a task up over batches of them, here or where they are.

    `over(task, progress)` returns the sum over all batches. `where` is what messages call the source.
    """

    names: tuple[str, ...]
    where: str
    over: Over
    files: Sequence[File] = ()
    cluster: "Cluster | None" = None


def open_source(source: Elsewhere, engine: str, *, csv: Csv, client: Client, n_jobs: int, timeout: float) -> Source:
    """Return the source that an engine reads."""
    if is_path(source):
        files = open_files(find_files(source), csv)
        names, where = tuple(files[0].types), files[0].path
        if engine != "dask":
            return Source(names, where, over_files(files, engine, n_jobs), files)
        if any(file.folder for file in files):
            raise UnsupportedError(f"engine='dask' reads UTF-8 CSV and Parquet; save {source} as one of these")
    else:
        files, where = [], f"the {type(source).__name__}"
    if engine == "dask":
        from ._dask import Cluster, client_of, partitions

        client = client_of(client, timeout)
        cluster = Cluster(client, files or partitions(client, source), timeout)
        return Source(names if files else cluster.names(source), where, cluster.over, files, cluster)
    if engine == "memory":
        batch = batch_of(source)
        return Source(batch.names, where, lambda task, _: task(batch))
    if engine == "spark":
        from ._spark import count_on

        return Source(tuple(source.columns), "the Spark frame", lambda task, _: count_on(source, task))
    if engine == "narwhals":
        from ._pushdown import count_lazy, lazy_of

        frame, types = lazy_of(source)
        return Source(tuple(types), where, lambda task, _: count_lazy(frame, types, task, where))
    names, batches = _batches(source, engine)
    return Source(names, where, partial(_add_up, batches, n_jobs, 0))


def over_files(files: Sequence[File], engine: str, n_jobs: int) -> Over:
    """Return what adds a task up over files that are scanned on this machine."""
    n_rows = [file.n_rows for file in files]
    n_total = 0 if None in n_rows else sum(filter(None, n_rows))
    return partial(_add_up, partial(scan, files=files, engine=engine), n_jobs, n_total)


def _add_up(batches: Batches, n_jobs: int, n_total: int, task: Task, progress: Progress | None) -> Any:
    with closing(batches(task)) as found:
        return add_up(task, found, n_jobs, progress, n_total)


def _batches(source: Elsewhere, engine: str) -> tuple[tuple[str, ...], Batches]:
    """Return the columns of what is read on this machine, and how to read those of a task."""
    library = type(source).__module__.partition(".")[0]
    if engine == "polars":
        return tuple(source.collect_schema().names()), lambda task: lazy_batches(source.select(list(task.columns)))
    if library in ("duckdb", "_duckdb"):  # a relation, whose attributes may be its columns

        def fetch(task: Task) -> Generator[Any]:
            found = source.project(", ".join(map(quoted, task.columns)))
            yield from (getattr(found, "to_arrow_reader", None) or found.fetch_record_batch)(ROWS_IN_BATCH)

        return tuple(source.columns), fetch
    if library == "pyarrow" and hasattr(source, "scanner"):  # a dataset

        def scanned(task: Task) -> Generator[Any]:
            yield from source.scanner(columns=list(task.columns), batch_readahead=2, fragment_readahead=1).to_batches()

        return tuple(source.schema.names), scanned
    import pyarrow as pa

    if library == "pyarrow" and not hasattr(source, "__arrow_c_stream__"):  # a scanner
        source = source.to_reader()
    reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    return tuple(reader.schema.names), lambda task: (batch.select(list(task.columns)) for batch in reader)
