"""Open a source for growing: which columns it has, and where passes over it run."""

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
from ..data.text_options import TextOptions
from ..errors import DataError, ParameterError, SchemaError, UnsupportedError
from ._data_file import DataFile, check_columns
from ._source import SumOverBatches, open_source
from .registry import ENGINES, Client, ExternalData, check_engine, engine_for, source_kind_of

if TYPE_CHECKING:
    from ._dask import Cluster


@dataclass(frozen=True)
class GrowSource:
    """What a tree is grown on: its columns, and where passes over it run."""

    names: tuple[str, ...]
    target: str
    nominal: frozenset[str]
    over: SumOverBatches
    cluster: "Cluster | None" = None
    has_names: bool = True
    classes: Array | None = None

    @property
    def is_memory(self) -> bool:
        """Whether the rows are in memory, encoded."""
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
    """Return what can be read again and again."""
    check_engine(engine, to_grow=True)
    kind = source_kind_of(source)
    used = engine_for(source, kind, engine)
    if used == "memory":
        return _memory(source, target, nominal, columns)
    if not ENGINES[used].can_grow:
        raise UnsupportedError(
            f"a {type(source).__name__} cannot be used in place for growing; write it to Parquet files first"
        )
    if not isinstance(target, str):
        raise ParameterError(f"target is a {type(target).__name__}; engine={used!r} needs the name of a column")
    if kind == "files":
        source = find_files(source)
        if source[0].lower().endswith(CSV_ENDINGS):
            raise UnsupportedError(
                f"{source[0]} is CSV, and growing needs several passes; convert it first, for example with "
                "polars.scan_csv(...).sink_parquet(...)"
            )
    if kind == "stream" and not hasattr(source, "scanner"):
        raise UnsupportedError(
            f"a {type(source).__name__} can be read only once, and growing needs several passes; write it to Parquet, "
            "or pass a dataset or a lazy frame"
        )
    opened = open_source(source, used, csv=TextOptions(), client=client, n_jobs=n_jobs, timeout=timeout)
    names, asked = _names(opened.names, target, nominal, columns, opened.where)
    _check_alike(opened.files, names, target, is_chosen=columns is not None)
    return GrowSource(names, target, asked, opened.over, opened.cluster)


def _memory(
    source: ExternalData, target: Labels, nominal: Sequence[str] | None, columns: Sequence[str] | None
) -> GrowSource:
    if columns is not None:
        raise ParameterError("columns= is for files and streams; pass the columns of the frame that are wanted")
    table = encode(source, target=target, nominal=nominal)
    if table.target is None:
        raise DataError("target is None and the table has no target; growing needs the class of each row")
    if table.schema.classes is None:
        raise UnsupportedError("the target is numeric; growing out of core supports only classes: use secateur.grow")
    classes, label = table.schema.classes, "target"
    while label in table.names:
        label += "_"
    held: dict[str, RawColumn] = {}
    for about, values in zip(table.schema.columns, table.columns, strict=True):
        if about.kind == "numeric":
            held[about.name] = NumberColumn(values)
        else:
            codes = np.where(values >= len(about.categories), -1, values)
            held[about.name] = CategoryColumn(codes, about.categories, is_declared=True)
    is_numbers = classes.dtype.kind in "iuf"
    held[label] = (
        NumberColumn(classes[table.target])
        if is_numbers
        else CategoryColumn(table.target, tuple(classes.tolist()), True)
    )
    rows = Batch(tuple(held), True, table.n_rows, tuple(partial(held.__getitem__, name) for name in held))
    asked = frozenset(about.name for about in table.schema.columns if about.kind == "nominal")
    return GrowSource(table.names, label, asked, lambda task, _: task(rows), None, table.schema.has_names, classes)


def _names(
    found: tuple[str, ...], target: str, nominal: Sequence[str] | None, columns: Sequence[str] | None, where: str
) -> tuple[tuple[str, ...], frozenset[str]]:
    asked = as_list("nominal", nominal)
    chosen = tuple(name for name in found if name != target) if columns is None else tuple(columns)
    for what, names in (("target", [target]), ("columns", chosen), ("nominal", asked)):
        missing = [name for name in names if name not in found]
        if missing:
            raise SchemaError(
                f"{where} has no column {format_names(missing)} ({what}=); its columns are {format_names(found)}"
            )
    if target in chosen:
        raise ParameterError(f"columns= holds the target {target!r}; a tree must not test what it is to predict")
    if not chosen:
        raise DataError(f"{where} has no column besides the target {target!r}; at least one is needed")
    return chosen, frozenset(asked)


def _check_alike(files: Sequence[DataFile], names: tuple[str, ...], target: str, *, is_chosen: bool) -> None:
    """Refuse files that lack a column, have one more, or in which one changes its kind."""
    kinds: dict[str, tuple[str, str]] = {}
    for file in files:
        check_columns(file, (*names, target), files[0])
        extra = [] if is_chosen else [name for name in file.types if name not in (*names, target)]
        if extra:
            raise SchemaError(
                f"{file.path} has the columns {format_names(extra)}, which {files[0].path} lacks; drop them, or name "
                "the columns to grow on with columns="
            )
        for name in (*names, target):
            kind = file.kinds[name]
            if kind is None:
                raise SchemaError(
                    f"{file.path}: column {name!r} is {file.types[name]}; numbers, text or booleans are needed: "
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
