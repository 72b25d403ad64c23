"""Files and streams, larger than memory: an engine scans, our kernel counts.

DuckDB, polars or pyarrow reads the needed columns as Arrow batches, in order; threads route
them (the kernels hold no lock) while the engine reads on. A few batches are in memory at a
time, whatever the size of the files.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from ..data.files import polars_na
from ..errors import DataError, SchemaError, SecateurError, UnsupportedError
from ._paths import File, csv_types, needed_families
from ._task import CountTask

SCANNERS = ("duckdb", "polars", "pyarrow")  # in order of preference
ROWS_IN_BATCH = 1 << 17
Progress = Callable[[int, int], None]


def scanner(engine: str) -> str:
    """Return the engine to scan files with: the one asked for, or the first that is installed."""
    needs = {"duckdb": ("duckdb", "pyarrow"), "polars": ("polars",), "pyarrow": ("pyarrow",)}
    for name in SCANNERS if engine == "auto" else (engine,):
        if all(find_spec(package) is not None for package in needs[name]):
            return name
    wanted = "one of duckdb with pyarrow, polars, pyarrow" if engine == "auto" else " and ".join(needs[engine])
    raise UnsupportedError(f"engine={engine!r} needs {wanted}, which is not installed; pip install 'secateur[arrow]'")


def count_files(
    task: Any, files: Sequence[File], engine: str, n_jobs: int = 2, progress: Progress | None = None
) -> Any:
    """Return the sum of the task over all rows of the files."""
    known = [file.n_rows for file in files if file.n_rows is not None]
    n_total = sum(known) if len(known) == len(files) else 0
    total = task.empty()
    for group in _alike(files, task):
        before = total.n_rows
        try:
            with closing(_SCANS[engine](task, group)) as batches:
                total.merge(add_up(task, batches, n_jobs, progress, first=before, n_total=n_total))
        except SecateurError:
            raise
        except Exception as error:  # the engines' own errors have no common base
            raise _blame(task, group, engine, error) from error
    return total


def add_up(
    task: Any,
    batches: Iterable[Any],
    n_jobs: int = 2,
    progress: Progress | None = None,
    *,
    first: int = 0,
    n_total: int = 0,
) -> Any:
    """Return the sum of the task over batches, added in their order whichever thread is faster."""
    total, row = task.empty(), first
    waiting: deque[Future[Any]] = deque()

    def take() -> None:
        total.merge(waiting.popleft().result())
        if progress is not None:
            done = first + total.n_rows
            progress(done, max(done, n_total))

    with ThreadPoolExecutor(n_jobs, thread_name_prefix="secateur") as pool:
        try:
            for batch in batches:
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


def arrow_batches(source: Any) -> tuple[tuple[str, ...], Callable[[Sequence[str]], Iterator[Any]]]:
    """Return the columns of anything that offers an Arrow stream, and how to read some of them."""
    import pyarrow as pa

    library = type(source).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(source, "scanner"):  # a dataset

        def scan(columns: Sequence[str]) -> Iterator[Any]:
            yield from source.scanner(columns=list(columns), batch_readahead=2, fragment_readahead=1).to_batches()

        return tuple(source.schema.names), scan
    if library in ("duckdb", "_duckdb"):  # a relation, whose attributes may be its columns

        def fetch(columns: Sequence[str]) -> Iterator[Any]:
            found = source.project(", ".join(map(_quoted, columns)))
            yield from (getattr(found, "to_arrow_reader", None) or found.fetch_record_batch)(ROWS_IN_BATCH)

        return tuple(source.columns), fetch
    if library == "pyarrow" and not hasattr(source, "__arrow_c_stream__"):  # a scanner
        source = source.to_reader()
    reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    return tuple(reader.schema.names), lambda columns: (batch.select(list(columns)) for batch in reader)


def lazy_batches(source: Any) -> tuple[tuple[str, ...], Callable[[Sequence[str]], Iterator[Any]]]:
    """Return the columns of a polars lazy frame, and how to read some of them."""
    names = tuple(source.collect_schema().names())
    return names, lambda columns: _polars_batches(source.select(list(columns)))


def _alike(files: Sequence[File], task: CountTask) -> Iterator[list[File]]:
    """Runs of files whose needed columns have the same types: an engine casts what differs, and may round."""

    def shape(file: File) -> tuple[Any, ...]:
        columns = tuple(file.types) if file.is_csv else ()
        return file.delimiter, columns, tuple(file.types[name] for name in task.columns)

    for _, group in groupby(files, shape):
        yield list(group)


def _blame(task: CountTask, files: list[File], engine: str, error: Exception) -> DataError:
    """Find the file that cannot be read; the engine does not always say."""
    culprit, reason = " or ".join(file.path for file in files[:3]), error
    for file in files if len(files) > 1 else []:
        try:
            with closing(_SCANS[engine](task, [file])) as batches:
                for _ in batches:
                    pass
        except Exception as again:  # noqa: BLE001 whatever it is, this file causes it
            culprit, reason = file.path, again
            break
    words = " ".join(str(reason).split())
    return DataError(f"{culprit} cannot be read by {engine}: {words[:500]}; repair it, or leave it out")


def _duckdb(task: CountTask, files: list[File]) -> Iterator[Any]:
    import duckdb

    names = ", ".join(_quoted(name) for name in task.columns)
    paths = [file.path for file in files]
    with duckdb.connect(":memory:") as connection:
        for setting in ("enable_progress_bar", "enable_external_file_cache"):
            with suppress(duckdb.Error):  # a version that does not know it does not do it
                connection.execute(f"SET {setting} = false")
        if files[0].is_csv:
            types = {"number": "DOUBLE", "integer": "BIGINT", "text": "VARCHAR"}
            read = csv_types(task)
            columns = {name: types[read.get(name, "text")] for name in files[0].types}
            options = f"auto_detect=false, quote='\"', escape='\"', columns={_struct(columns)}"
            given = "delim=$delim, header=$header, nullstr=$na"
            query = f"SELECT {names} FROM read_csv($paths, {given}, {options})"  # noqa: S608 names are quoted
            head = files[0]
            params = {"paths": paths, "delim": head.delimiter, "header": head.has_header, "na": list(head.na)}
            found = connection.sql(query, params=params)
        else:
            # Without can_have_nan a file written by Arrow is said to hold no NaN, and a test on it goes wrong. We test
            # nothing in SQL, but what is read must not hang on that.
            options = "can_have_nan=true, hive_partitioning=false"
            query = f"SELECT {names} FROM read_parquet($paths, {options})"  # noqa: S608 names are quoted
            try:
                found = connection.sql(query, params={"paths": paths})
            except duckdb.BinderException as error:
                if "can_have_nan" not in str(error):  # before 1.4 there was no such option, and no need of it
                    raise
                found = connection.sql(query.replace("can_have_nan=true, ", ""), params={"paths": paths})
        read_on = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
        for batch in read_on(ROWS_IN_BATCH):
            yield _truths(batch, task, files[0])


def _polars(task: CountTask, files: list[File]) -> Iterator[Any]:
    import polars as pl

    if not files[0].is_csv:
        lazy = pl.scan_parquet([file.path for file in files], glob=False, hive_partitioning=False)
        yield from _polars_batches(lazy.select(task.columns))
        return
    types = {"number": pl.Float64(), "integer": pl.Int64(), "text": pl.String()}
    read = csv_types(task)
    for file in files:
        schema = {name: types[read.get(name, "text")] for name in file.types}
        lazy = pl.scan_csv(
            file.path,
            separator=file.delimiter,
            has_header=False,  # polars would not unquote the names
            skip_lines=int(file.has_header),
            schema=schema,
            **polars_na(file.na),
            glob=False,
        )
        for batch in _polars_batches(lazy.select(task.columns)):
            yield _truths(batch, task, file)


def _polars_batches(lazy: Any) -> Iterator[Any]:
    yield from lazy.collect_batches(chunk_size=ROWS_IN_BATCH, maintain_order=True)


def _pyarrow(task: CountTask, files: list[File]) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    if not files[0].is_csv:
        for file in files:
            with parquet.ParquetFile(file.path) as opened:
                yield from opened.iter_batches(ROWS_IN_BATCH, columns=list(task.columns))
        return
    types = {"number": pa.float64(), "integer": pa.int64(), "text": pa.string()}
    read = {name: types[kind] for name, kind in csv_types(task).items()}
    for file in files:
        convert = csv.ConvertOptions(
            column_types=read, include_columns=list(task.columns), null_values=file.na, strings_can_be_null=True
        )
        head = csv.ReadOptions(column_names=None if file.has_header else list(file.types))
        parse = csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True)
        with csv.open_csv(file.path, head, parse_options=parse, convert_options=convert) as reader:
            for batch in reader:
                yield _truths(batch, task, file)


def _truths(batch: Any, task: CountTask, file: File) -> Any:
    """Return a batch of a CSV file with its "true" and "false" as truth values."""
    names = [name for name, needed in needed_families(task).items() if needed == "truth"] if file.is_csv else []
    if not names:
        return batch
    import narwhals.stable.v2 as nw

    if type(batch).__module__.startswith("pyarrow"):
        import pyarrow as pa

        batch = pa.Table.from_batches([batch])
    frame = nw.from_native(batch, eager_only=True)
    for name in names:
        lower = nw.col(name).str.to_lowercase()
        wrong = frame.filter(~lower.is_in(["true", "false"]))
        if len(wrong):
            raise SchemaError(f"{file.path}: column {name!r} holds {wrong[name][0]!r}; true or false is needed")
        frame = frame.with_columns((lower == "true").alias(name))
    return frame.to_native()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _struct(columns: dict[str, str]) -> str:
    cells = (f"'{name.replace(chr(39), 2 * chr(39))}': '{kind}'" for name, kind in columns.items())
    return "{" + ", ".join(cells) + "}"


_SCANS: dict[str, Callable[[Any, list[File]], Any]] = {"duckdb": _duckdb, "polars": _polars, "pyarrow": _pyarrow}
