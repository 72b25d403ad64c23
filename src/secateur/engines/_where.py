"""Open a source for growing: which columns it has, and where passes over it run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.arrays import Array
from ..data.columns import Coded, Numbers
from ..data.encoding import encode
from ..data.remarks import listed
from ..data.table import Table
from ..errors import DataError, ParameterError, SchemaError, UnsupportedError
from ._cluster import Cluster
from ._parts import Local, Pooled
from ._paths import Csv, File, find_files, is_path, open_files
from ._sketch import Rows
from ._stream import add_up, arrow_batches, count_files, lazy_batches

ENGINES = ("auto", "memory", "duckdb", "polars", "pyarrow", "dask")


@dataclass(frozen=True)
class Source:
    """A source to grow on: its columns, and where passes over it run."""

    names: tuple[str, ...]
    target: str
    nominal: frozenset[str]
    where: Any
    has_names: bool = True
    classes: Array | None = None
    shown: dict[str, str] = field(default_factory=dict)  # names in the tree that differ from those of the source

    @property
    def is_memory(self) -> bool:
        """Whether the rows are in memory, encoded."""
        return self.classes is not None


def open_source(
    source: Any,
    target: Any,
    engine: str,
    nominal: Sequence[str] | None,
    columns: Sequence[str] | None,
    client: Any,
    n_jobs: int,
    folder: str | None,
    timeout: float,
) -> Source:
    """Return a source that can be read again and again."""
    from . import _engine_for

    if engine not in ENGINES:
        raise ParameterError(f"engine={engine!r}; one of {', '.join(map(repr, ENGINES))} is needed to grow")
    used = _engine_for(source, engine)
    if used == "memory":
        return _memory(source, target, nominal, columns, n_jobs, folder)
    if used not in ENGINES:
        raise UnsupportedError(
            f"a {type(source).__name__} cannot be grown on where it is; write it to Parquet files and grow on those"
        )
    if not isinstance(target, str):
        raise ParameterError(f"target is a {type(target).__name__}; engine={used!r} needs the name of a column")
    if is_path(source):
        files = _parquet(source)
        names, asked = _names(tuple(files[0].types), target, nominal, columns, files[0].path)
        _check_alike(files, names, target, nominal, is_chosen=columns is not None)
        if used == "dask":
            return Source(names, target, asked, _cluster(client, files, timeout))
        return Source(names, target, asked, Local(lambda task: count_files(task, files, used, n_jobs), n_jobs, folder))
    if used == "dask":
        where = _cluster(client, source, timeout)
        names, asked = _names(_columns_of(where, source), target, nominal, columns, f"the {type(source).__name__}")
        return Source(names, target, asked, where)
    if type(source).__name__ in ("RecordBatchReader", "Scanner") or not _is_rereadable(source):
        raise UnsupportedError(
            f"a {type(source).__name__} can be read only once, and growing needs several passes; write it to Parquet, "
            "or pass a dataset or a lazy frame"
        )
    found, batches = lazy_batches(source) if used == "polars" else arrow_batches(source)
    names, asked = _names(found, target, nominal, columns, f"the {type(source).__name__}")

    def scan(task: Pooled) -> None:
        add_up(task, batches(task.columns), n_jobs)

    return Source(names, target, asked, Local(scan, n_jobs, folder))


def _memory(source: Any, target: Any, nominal: Any, columns: Any, n_jobs: int, folder: str | None) -> Source:
    if columns is not None:
        raise ParameterError("columns= is for files and streams; pass the columns of the frame that are wanted")
    table = encode(source, target=target, nominal=nominal)
    if table.target is None:
        raise DataError("target is None and the table has no target; growing needs the class of each row")
    if table.schema.classes is None:
        raise UnsupportedError("the target holds numbers; growing out of core is for classes: use secateur.grow")
    held: dict[str, Numbers | Coded] = {}
    for j, (about, values) in enumerate(zip(table.schema.columns, table.columns, strict=True)):
        if about.kind == "numeric":
            held[str(j)] = Numbers(values)
        else:
            codes = np.where(values >= len(about.categories), -1, values)
            held[str(j)] = Coded(codes, about.categories, is_declared=True)
    held["target"] = _labels(table)
    rows = Rows(held, table.n_rows)
    shown = {str(j): name for j, name in enumerate(table.names)}
    where = Local(lambda task: task(rows), n_jobs, folder)
    asked = frozenset(str(j) for j, about in enumerate(table.schema.columns) if about.kind == "nominal")
    return Source(tuple(shown), "target", asked, where, table.schema.has_names, table.schema.classes, shown)


def _labels(table: Table) -> Coded | Numbers:
    classes, target = table.schema.classes, table.target
    assert classes is not None
    assert target is not None
    if classes.dtype.kind in "iuf":
        return Numbers(classes[target])
    return Coded(target, tuple(classes.tolist()), is_declared=True)


def _parquet(source: Any) -> list[File]:
    files = open_files(find_files(source), Csv())
    if files[0].is_csv:
        raise UnsupportedError(
            f"{files[0].path} is CSV, and growing needs several passes; convert it first, for example with "
            "polars.scan_csv(...).sink_parquet(...)"
        )
    return files


def _names(
    found: tuple[str, ...], target: str, nominal: Sequence[str] | None, columns: Sequence[str] | None, where: str
) -> tuple[tuple[str, ...], frozenset[str]]:
    asked = [nominal] if isinstance(nominal, str) else list(nominal or ())
    chosen = tuple(name for name in found if name != target) if columns is None else tuple(columns)
    for what, names in (("target", [target]), ("columns", chosen), ("nominal", asked)):
        missing = [name for name in names if name not in found]
        if missing:
            raise SchemaError(f"{where} has no column {listed(missing)} ({what}=); its columns are {listed(found)}")
    if target in chosen:
        raise ParameterError(f"columns= holds the target {target!r}; a tree must not test what it is to predict")
    if not chosen:
        raise DataError(f"{where} has no column beside the target {target!r}; at least one is needed")
    return chosen, frozenset(asked)


def _check_alike(
    files: list[File], names: tuple[str, ...], target: str, nominal: Sequence[str] | None, *, is_chosen: bool
) -> None:
    """Refuse files that lack a column, have one more, or in which one changes its kind."""
    del nominal
    kinds: dict[str, tuple[str, str]] = {}
    for file in files:
        missing = [name for name in (*names, target) if name not in file.types]
        if missing:
            raise SchemaError(
                f"{file.path} lacks the columns {listed(missing)}, unlike {files[0].path}; it has "
                f"{listed(tuple(file.types))}: add them, or leave the file out"
            )
        extra = [] if is_chosen else [name for name in file.types if name not in (*names, target)]
        if extra:
            raise SchemaError(
                f"{file.path} has the columns {listed(extra)}, which {files[0].path} lacks; drop them, or name the "
                "columns to grow on with columns="
            )
        for name in (*names, target):
            kind = file.kinds[name]
            if kind is None:
                raise SchemaError(
                    f"{file.path}: column {name!r} is {file.types[name]}; numbers, text or truth values are needed: "
                    "convert it, or leave it out with columns="
                )
            if kind == "missing":
                continue
            first, path = kinds.setdefault(name, (kind, file.path))
            if kind != first:
                raise SchemaError(
                    f"{file.path}: column {name!r} holds {kind} values ({file.types[name]}), but {first} values in "
                    f"{path}; convert it to one kind"
                )


def _is_rereadable(source: Any) -> bool:
    return hasattr(source, "scanner") or hasattr(source, "project") or hasattr(source, "collect_schema")


def _cluster(client: Any, source: Any, timeout: float) -> Cluster:
    from ._dask import _client, partitions

    client = _client(client, timeout)
    is_files = isinstance(source, list) and all(isinstance(one, File) for one in source)
    found = list(source) if is_files else partitions(client, source)
    if not found:
        raise DataError(f"the {type(source).__name__} has no partitions; at least one is needed")
    return Cluster(client, found, timeout)


def _columns_of(where: Cluster, source: Any) -> tuple[str, ...]:
    from ._dask import _names as names_of

    return names_of(where.client, source, where.partitions, where.timeout)
