"""Files larger than memory: an engine scans, our kernel counts.

DuckDB, polars or pyarrow reads the needed columns as Arrow batches, in order; threads route
them (the kernels hold no lock) while the engine reads on. A few batches are in memory at a
time, whatever the size of the files.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..data.cells import Wanted
from ..data.files import polars_na
from ..data.remarks import EXACT_WHOLE
from ..data.sources import Batch, Progress, Task, file_batch
from ..data.threads import Threads
from ..errors import DataError
from ..routing import CountTask
from ._paths import File
from .registry import retold

if TYPE_CHECKING:
    from concurrent.futures import Future

ROWS_IN_BATCH = 1 << 17


def scan(task: Task, files: Sequence[File], engine: str) -> Generator[Any]:
    """Yield the rows of files, the columns of a task, in batches."""
    for group in _alike(files, task):
        with retold(partial(_blame, task, group, engine)), closing(_SCANS[engine](task, group)) as batches:
            yield from batches


def add_up(
    task: Task, batches: Iterable[Any], n_jobs: int = 2, progress: Progress | None = None, n_total: int = 0
) -> Any:
    """Return the sum of the task over batches, added in their order whichever thread is faster."""
    total, row = task.empty(), 0
    waiting: deque[Future[Any]] = deque()

    def take() -> None:
        total.merge(waiting.popleft().result())
        if progress is not None:
            progress(total.n_rows, max(total.n_rows, n_total))

    with Threads(n_jobs) as pool:
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


def _alike(files: Sequence[File], task: Task) -> Iterator[list[File]]:
    """Runs of files whose needed columns have the same types: an engine casts what differs, and may round."""

    def shape(file: File) -> tuple[Any, ...]:
        columns = tuple(file.types) if file.csv else ()
        return file.csv, columns, tuple(file.types[name] for name in task.columns)

    for _, group in groupby(files, shape):
        yield list(group)


def _blame(task: Task, files: list[File], engine: str, _: Exception, words: str) -> DataError:
    """Find the file that cannot be read; the engine does not always say."""
    for file in files if len(files) > 1 else []:
        try:
            for _ in scan(task, [file], engine):
                pass
        except DataError as again:
            return again
    paths = " or ".join(file.path for file in files[:3])
    return DataError(f"{paths} cannot be read by {engine}: {words}; repair it, or leave it out")


def _duckdb(task: Any, files: list[File]) -> Generator[Any]:
    import duckdb

    names = ", ".join(quoted(name) for name in task.columns)
    paths = [file.path for file in files]
    with duckdb.connect(":memory:") as connection:
        for setting in ("enable_progress_bar", "enable_external_file_cache"):
            with suppress(duckdb.Error):  # a version that does not know it does not do it
                connection.execute(f"SET {setting} = false")
        how = files[0].csv
        if how:
            columns = dict.fromkeys(files[0].types, "VARCHAR")
            options = f"auto_detect=false, quote='\"', escape='\"', columns={_struct(columns)}"
            given = "delim=$delim, header=$header, nullstr=$na"
            query = f"SELECT {names} FROM read_csv($paths, {given}, {options})"  # noqa: S608 names are quoted
            params = {"paths": paths, "delim": how.delimiter, "header": how.has_header, "na": list(how.na)}
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
            yield _meant(batch, task, files[0]) if how else batch


def _polars(task: Any, files: list[File]) -> Generator[Any]:
    import polars as pl

    how = files[0].csv
    if how is None:
        lazy = pl.scan_parquet([file.path for file in files], glob=False, hive_partitioning=False)
        yield from lazy_batches(lazy.select(task.columns))
        return
    for file in files:
        lazy = pl.scan_csv(
            file.path,
            separator=how.delimiter,
            has_header=False,  # polars would not unquote the names
            skip_lines=int(how.has_header),
            schema=dict.fromkeys(file.types, pl.String()),
            **polars_na(how.na),
            glob=False,
        )
        for batch in lazy_batches(lazy.select(task.columns)):
            yield _meant(batch, task, file)


def lazy_batches(lazy: Any) -> Generator[Any]:
    """Yield the rows of a polars lazy frame in batches."""
    yield from lazy.collect_batches(chunk_size=ROWS_IN_BATCH, maintain_order=True)


def _pyarrow(task: Any, files: list[File]) -> Generator[Any]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    how = files[0].csv
    if how is None:
        for file in files:
            with parquet.ParquetFile(file.path) as opened:
                yield from opened.iter_batches(ROWS_IN_BATCH, columns=list(task.columns))
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


def _meant(batch: Any, task: CountTask, file: File) -> Batch:
    """Return a batch of a text file, whose cells are read as what the tree was grown on."""
    assert file.csv is not None
    return file_batch(batch, file.csv, _wanted(task), file.path)


def _wanted(task: CountTask) -> dict[str, Wanted]:
    """Return what the cells of each column of a text file are read as."""
    found: dict[str, Wanted] = {}
    about = dict(zip(task.names, task.tested, strict=True))
    classes = () if task.schema.classes is None else tuple(task.schema.classes.tolist())
    for name, needed in task.needed.items():
        known = about[name].categories if name in about else classes if name == task.target else ()
        is_large = any(isinstance(value, int) and abs(value) >= EXACT_WHOLE for value in known)
        is_date = name in about and about[name].is_date
        kinds: dict[Any, Wanted] = {"number": "date" if is_date else "integer" if is_large else "number"}
        found[name] = kinds.get(needed, "truth" if needed == "truth" else "text")
    return found


def quoted(name: str) -> str:
    """Return a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _struct(columns: dict[str, str]) -> str:
    cells = (f"'{name.replace(chr(39), 2 * chr(39))}': '{kind}'" for name, kind in columns.items())
    return "{" + ", ".join(cells) + "}"


_SCANS: dict[str, Callable[[Any, list[File]], Any]] = {"duckdb": _duckdb, "polars": _polars, "pyarrow": _pyarrow}
