"""Open a source: which columns it has, and where a task over its batches runs."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from ..data.files import find_files, is_path
from ..data.sources import Progress, Source, Task, batch_of
from ..data.textfile import Csv
from ..errors import UnsupportedError
from ._paths import File, check_files, open_files
from ._scan import ROWS_IN_BATCH, add_up, lazy_batches, quoted, scan
from .registry import Client, Elsewhere

Batches = Callable[[Task], Generator[Any]]


def open_source(source: Elsewhere, engine: str, *, csv: Csv, client: Client, n_jobs: int, timeout: float) -> Source:
    """Return the source that an engine reads."""
    where = f"the {type(source).__name__}"
    if is_path(source):
        files = open_files(find_files(source), csv)
        if engine == "dask":
            from ._dask import Spread, client_of

            if any(file.folder for file in files):
                raise UnsupportedError(f"engine='dask' reads UTF-8 CSV and Parquet; save {source} as one of these")
            return _checked(Spread(client_of(client, timeout), files, timeout).over, files)
        return file_source(files, engine, n_jobs)
    if engine == "memory":
        batch = batch_of(source)
        return Source(batch.names, where, lambda task, _: task(batch))
    if engine == "dask":
        from ._dask import spread_of

        spread, names = spread_of(source, client, timeout)
        return Source(names, where, spread.over)
    if engine == "spark":
        from ._spark import count_on

        return Source(tuple(source.columns), "the Spark frame", lambda task, _: count_on(source, task))
    if engine == "narwhals":
        from ._pushdown import open_lazy

        return open_lazy(source, where)
    names, batches = _batches(source, engine)

    def over(task: Task, progress: Progress | None) -> Any:
        with closing(batches(task)) as found:
            return add_up(task, found, n_jobs, progress)

    return Source(names, where, over)


def file_source(files: Sequence[File], engine: str, n_jobs: int) -> Source:
    """Return the rows of files as a source that is scanned on this machine."""
    n_rows = [file.n_rows for file in files]
    n_total = 0 if None in n_rows else sum(filter(None, n_rows))

    def over(task: Task, progress: Progress | None) -> Any:
        with closing(scan(task, files, engine)) as batches:
            return add_up(task, batches, n_jobs, progress, n_total)

    return _checked(over, files)


def _checked(over: Any, files: Sequence[File]) -> Source:
    return Source(tuple(files[0].types), files[0].path, over, lambda task: check_files(files, task))


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
