"""Open a source: which columns it has, and where a task over its batches runs.

Files larger than memory are scanned: DuckDB, polars or pyarrow reads the needed columns as Arrow
batches, in order; threads route them (the kernels hold no lock) while the engine reads on. A few
batches are in memory at a time, whatever the size of the files.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .._utils.arrays import MAX_EXACT_INT
from .._utils.threads import StoppableThreadPool
from ..data.batch import Batch, BatchTask, ProgressCallback, batch_from_frame
from ..data.files import find_files, is_path_or_paths, polars_missing_options
from ..data.input import batch_from_text_frame
from ..data.text_options import TextOptions
from ..errors import DataError, UnsupportedError
from ..routing import CountTask
from ._data_file import DataFile, inspect_files
from .registry import Client, ExternalData, translate_errors

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..data.cell_text import CellType
    from ._dask import Cluster

BATCH_ROWS = 1 << 17
Batches = Callable[[BatchTask], Generator[Any]]
SumOverBatches = Callable[[Any, ProgressCallback | None], Any]  # of a Task; a database takes no task but counting


@dataclass(frozen=True)
class Source:
    """Rows wherever they are: their columns, and what adds a task up over batches of them, here or where they are.

    `over(task, progress)` returns the sum over all batches. `where` is what messages call the source.
    """

    names: tuple[str, ...]
    where: str
    over: SumOverBatches
    files: Sequence[DataFile] = ()
    cluster: "Cluster | None" = None


def open_source(
    source: ExternalData, engine: str, *, csv: TextOptions, client: Client, n_jobs: int, timeout: float
) -> Source:
    """Return the source that an engine reads."""
    if is_path_or_paths(source):
        files = inspect_files(find_files(source), csv)
        names, where = tuple(files[0].types), files[0].path
        if engine != "dask":
            return Source(names, where, files_summer(files, engine, n_jobs), files)
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
        batch = batch_from_frame(source)
        return Source(batch.names, where, lambda task, _: task(batch))
    if engine == "spark":
        from ._spark import count_on

        return Source(tuple(source.columns), "the Spark frame", lambda task, _: count_on(source, task))
    if engine == "narwhals":
        from ._pushdown import count_lazy, lazy_of

        frame, types = lazy_of(source)
        return Source(tuple(types), where, lambda task, _: count_lazy(frame, types, task, where))
    names, batches = _batches(source, engine)
    return Source(names, where, partial(sum_batches, batches, n_jobs, 0))


def files_summer(files: Sequence[DataFile], engine: str, n_jobs: int) -> SumOverBatches:
    """Return what adds a task up over files that are scanned on this machine."""
    n_rows = [file.n_rows for file in files]
    n_total = 0 if None in n_rows else sum(filter(None, n_rows))
    return partial(sum_batches, partial(_scan, files=files, engine=engine), n_jobs, n_total)


def sum_batches(batches: Batches, n_jobs: int, n_total: int, task: BatchTask, progress: ProgressCallback | None) -> Any:
    """Return the sum of the task over batches, added in their order whichever thread is faster."""
    total, row = task.empty(), 0
    waiting: deque[Future[Any]] = deque()

    def take() -> None:
        total.merge(waiting.popleft().result())
        if progress is not None:
            progress(total.n_rows, max(total.n_rows, n_total))

    with closing(batches(task)) as found, StoppableThreadPool(n_jobs) as pool:
        try:
            for batch in found:
                waiting.append(pool.submit(task, batch, row))
                row += len(batch)
                if len(waiting) > n_jobs:  # bounds the batches in memory
                    take()
            while waiting:
                take()
        finally:
            for future in waiting:
                future.cancel()
    return total


def _batches(source: ExternalData, engine: str) -> tuple[tuple[str, ...], Batches]:
    """Return the columns of what is read on this machine, and how to read those of a task."""
    library = type(source).__module__.partition(".")[0]
    if engine == "polars":
        return tuple(source.collect_schema().names()), lambda task: _lazy_batches(source.select(list(task.columns)))
    if library in ("duckdb", "_duckdb"):  # a relation, whose attributes may be its columns

        def fetch(task: BatchTask) -> Generator[Any]:
            yield from _arrow_batches(source.project(_quoted(task)))

        return tuple(source.columns), fetch
    if library == "pyarrow" and hasattr(source, "scanner"):  # a dataset

        def scanned(task: BatchTask) -> Generator[Any]:
            yield from source.scanner(columns=list(task.columns), batch_readahead=2, fragment_readahead=1).to_batches()

        return tuple(source.schema.names), scanned
    import pyarrow as pa

    if library == "pyarrow" and not hasattr(source, "__arrow_c_stream__"):  # a scanner
        source = source.to_reader()
    reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    return tuple(reader.schema.names), lambda task: (batch.select(list(task.columns)) for batch in reader)


def _scan(task: BatchTask, files: Sequence[DataFile], engine: str) -> Generator[Any]:
    """Yield the rows of files, the columns of a task, in batches."""

    def shape(file: DataFile) -> tuple[Any, ...]:
        """What files share that are read together: an engine casts where types differ, and may round."""
        return file.csv, tuple(file.types) if file.csv else (), tuple(file.types[name] for name in task.columns)

    for _, alike in groupby(files, shape):
        group = list(alike)
        with translate_errors(partial(_blame, task, group, engine)), closing(_SCANS[engine](task, group)) as batches:
            yield from batches


def _blame(task: BatchTask, files: list[DataFile], engine: str, _: Exception, words: str) -> DataError:
    """Find the file that cannot be read; the engine does not always say."""
    for file in files if len(files) > 1 else []:
        try:
            for _ in _scan(task, [file], engine):
                pass
        except DataError as again:
            return again
    paths = " or ".join(file.path for file in files[:3])
    return DataError(f"{paths} cannot be read by {engine}: {words}; repair it, or leave it out")


def _duckdb(task: Any, files: list[DataFile]) -> Generator[Any]:
    import duckdb

    how = files[0].csv
    given: dict[str, Any] = {"paths": [file.path for file in files]}
    # Files written by Arrow do not say whether they contain NaN, and DuckDB assumes that they do not unless told
    # otherwise. Versions before 1.3 have no such option; they read correctly as long as SQL filters nothing, as here.
    has_nan_option = tuple(map(int, duckdb.__version__.split(".")[:2])) >= (1, 3)
    nan_option = "can_have_nan=true, " if has_nan_option else ""
    rows = f"read_parquet($paths, {nan_option}hive_partitioning=false)"
    if how:
        columns = ", ".join("'" + name.replace("'", "''") + "': 'VARCHAR'" for name in files[0].types)
        options = f"auto_detect=false, quote='\"', escape='\"', columns={{{columns}}}"
        rows = f"read_csv($paths, delim=$delim, header=$header, nullstr=$na, {options})"
        given |= {"delim": how.delimiter, "header": how.has_header, "na": list(how.na)}
    with duckdb.connect(":memory:") as connection:
        for setting in ("enable_progress_bar", "enable_external_file_cache"):
            with suppress(duckdb.Error):  # a version that does not know it does not do it
                connection.execute(f"SET {setting} = false")
        found = connection.sql(f"SELECT {_quoted(task)} FROM {rows}", params=given)  # noqa: S608 names are quoted
        for batch in _arrow_batches(found):
            yield _meant(batch, task, files[0]) if how else batch


def _arrow_batches(relation: Any) -> Any:
    """Return the rows of a DuckDB relation as an iterator of Arrow batches."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # the name before DuckDB 1.4
    return read(BATCH_ROWS)


def _polars(task: Any, files: list[DataFile]) -> Generator[Any]:
    import polars as pl

    how = files[0].csv
    if how is None:
        lazy = pl.scan_parquet([file.path for file in files], glob=False, hive_partitioning=False)
        yield from _lazy_batches(lazy.select(task.columns))
        return
    for file in files:
        lazy = pl.scan_csv(
            file.path,
            separator=how.delimiter,
            has_header=False,  # polars would not unquote the names
            skip_lines=int(how.has_header),
            schema=dict.fromkeys(file.types, pl.String()),
            **polars_missing_options(how.na),
            glob=False,
        )
        for batch in _lazy_batches(lazy.select(task.columns)):
            yield _meant(batch, task, file)


def _lazy_batches(lazy: Any) -> Generator[Any]:
    """Yield the rows of a polars lazy frame in batches."""
    yield from lazy.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)


def _pyarrow(task: Any, files: list[DataFile]) -> Generator[Any]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    how = files[0].csv
    if how is None:
        for file in files:
            with parquet.ParquetFile(file.path) as opened:
                yield from opened.iter_batches(BATCH_ROWS, columns=list(task.columns))
        return
    read = dict.fromkeys(task.columns, pa.string())
    for file in files:
        convert = csv.ConvertOptions(
            column_types=read, include_columns=list(task.columns), null_values=how.na, strings_can_be_null=True
        )
        head = csv.ReadOptions(column_names=list(file.types), skip_rows=int(how.has_header))
        parse = csv.ParseOptions(delimiter=how.delimiter, newlines_in_values=True)
        with csv.open_csv(file.path, head, parse_options=parse, convert_options=convert) as reader:
            for batch in reader:
                yield _meant(batch, task, file)


def _meant(batch: Any, task: CountTask, file: DataFile) -> Batch:
    """Return a batch of a text file, whose cells are read as what the tree was grown on."""
    assert file.csv is not None
    if type(batch).__module__.startswith("pyarrow"):
        import pyarrow as pa

        batch = pa.Table.from_batches([batch])
    wanted: dict[str, CellType] = {}
    about = dict(zip(task.names, task.tested, strict=True))
    classes = () if task.schema.classes is None else tuple(task.schema.classes.tolist())
    for name, needed in task.needed.items():
        known = about[name].categories if name in about else classes if name == task.target else ()
        if needed != "number":
            wanted[name] = "boolean" if needed == "boolean" else "text"
        elif name in about and about[name].is_date:
            wanted[name] = "date"
        else:
            is_large = any(isinstance(value, int) and abs(value) >= MAX_EXACT_INT for value in known)
            wanted[name] = "integer" if is_large else "number"
    return batch_from_text_frame(batch, file.csv, wanted, file.path)


def _quoted(task: BatchTask) -> str:
    """Return the columns of a task as SQL takes them."""
    return ", ".join('"' + name.replace('"', '""') + '"' for name in task.columns)


_SCANS: dict[str, Callable[[Any, list[DataFile]], Any]] = {"duckdb": _duckdb, "polars": _polars, "pyarrow": _pyarrow}
