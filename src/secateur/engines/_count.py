"""count: the tally of a sample, summed where its rows are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack, overload

from .. import routing
from .._utils.arrays import Labels
from ..core import Sample, Tree
from ..data.batch import ProgressCallback
from ..data.column_encoding import Unseen
from ..data.encoding import encode
from ..data.text_options import DateReading, TextOptions
from ..errors import ParameterError, UnsupportedError
from ._data_file import check_files_fit_task
from ._source import open_source
from .registry import Client, ExternalData, check_engine, engine_for, source_kind_of


@dataclass(frozen=True)
class Scan:
    """How a source was counted.

    Parameters
    ----------
    engine : str
        The engine that was used.
    n_rows : int
    n_unseen : dict
        Rows with a category that growing did not see, by column; they followed the branch
        with most growing examples (or what `unseen` said).
    n_new : int
        Rows whose class growing did not see.
    n_guarded : int
        Rows on which the engine's answer was compared with ours, one by one.

    Examples
    --------
    >>> print(Scan("duckdb", 1_000_000, {"colour": 12}))
    1,000,000 rows counted with duckdb; unseen categories in 'colour' (12 rows)
    """

    engine: str
    n_rows: int
    n_unseen: dict[str, int] = field(default_factory=dict)
    n_new: int = 0
    n_verified: int = 0

    def __str__(self) -> str:
        unseen = ", ".join(f"{name!r} ({n:,} rows)" for name, n in self.n_unseen.items())
        guarded = f", {self.n_verified:,} of them checked one by one" if self.n_verified else ""
        new = f"; new classes in {self.n_new:,} rows" if self.n_new else ""
        categories = f"; unseen categories in {unseen}" if unseen else ""
        return f"{self.n_rows:,} rows counted with {self.engine}{guarded}{categories}{new}"


class CountOptions(TypedDict, total=False):
    """The parameters of `count` that say how rows are read and counted."""

    engine: str
    sample: str
    sample_weight: Any
    unseen: Unseen
    client: Client
    n_jobs: int
    delimiter: str | None
    na: Sequence[str]
    header: bool
    encoding: str | None
    decimal: str | None
    dates: DateReading
    missing_target: Literal["drop", "error"]
    ignore: Sequence[str]
    progress: ProgressCallback | None
    timeout: float


@overload
def count(
    tree: Any, source: ExternalData, target: Labels, *, return_scan: Literal[False] = ..., **how: Unpack[CountOptions]
) -> Sample: ...
@overload
def count(
    tree: Any, source: ExternalData, target: Labels, *, return_scan: Literal[True], **how: Unpack[CountOptions]
) -> tuple[Sample, Scan]: ...
def count(
    tree: Any,
    source: ExternalData,
    target: Labels,
    *,
    engine: str = "auto",
    sample: str = "prune",
    sample_weight: Any = None,
    unseen: Unseen = "majority-branch",
    client: Client = None,
    n_jobs: int = 2,
    delimiter: str | None = None,
    na: Sequence[str] = ("",),
    header: bool = True,
    encoding: str | None = None,
    decimal: str | None = None,
    dates: DateReading = "auto",
    missing_target: Literal["drop", "error"] = "drop",
    ignore: Sequence[str] = (),
    progress: ProgressCallback | None = None,
    timeout: float = 30.0,
    return_scan: bool = False,
) -> Sample | tuple[Sample, Scan]:
    """Return the counts of a sample in every node of a tree, wherever its rows are stored.

    Parameters
    ----------
    tree : Tree, Model or fitted estimator
        A tree with tests. Node ids are those of the grown tree.
    source : path, pattern, folder, list of paths, frame, lazy frame, stream, or Dask or Spark collection
        Columns are matched by name if the tree has column names, otherwise by position. Only the columns
        that the tree tests, the target and the weight are read; other columns are ignored.
    target : str
        Column of the class (regression: of the number). For arrays, pass the labels themselves.
    engine : str
        "auto" scans files with the first of DuckDB, polars and pyarrow that is installed, reads lazy
        frames of polars and DuckDB as Arrow batches, runs on Dask and Spark frames with their own engine,
        and pushes the tree down as expressions into any other lazy frame. "narwhals" always pushes down.
    sample : str
        Name of the sample.
    sample_weight : str, optional
        Column of row weights. Whole numbers keep the counts whole.
    unseen : "majority-branch", "missing" or "error"
        What to do with a category that was not in the growing sample.
    client : distributed.Client, optional
        The Dask client; the current one by default.
    n_jobs : int
        Number of threads that route batches.
    delimiter, na, header : str, optional; sequence of str; bool
        For text files: the delimiter (by default detected from the first lines), the cells to treat as
        missing, and whether the first line contains column names (otherwise column1, column2, ...).
    encoding, decimal, dates, missing_target
        As for `secateur.encode`.
    ignore : sequence of str
        Columns to ignore; they are not counted when columns are matched by position.
    progress : callable, optional
        Called with the number of rows done and of all rows (of rows done again if that is not known).
    timeout : float
        Seconds to wait for the Dask scheduler.
    return_scan : bool
        Also return a `Scan`: the engine used, number of rows, unseen categories.

    Returns
    -------
    Counts, or Moments for a regression tree
        The same as those of `secateur.count` on these rows, exactly if there are no weights or all are whole.
        Sums of fractional weights do not depend on the order of the rows. Sums over the target of a
        regression tree are rounded, and may differ in the last bit from run to run if the engine
        that the tree is pushed down to adds numbers in parallel.

    Notes
    -----
    The headers of all files are checked (missing columns, columns of changed type) before any row is
    read. Cells of CSV files are read as the type that the tree was grown on.

    Examples
    --------
    >>> import secateur, tempfile, pyarrow as pa
    >>> from pyarrow import parquet
    >>> tree, grown = secateur.grow(pa.table({"size": [1.0, 2.0, 4.0]}), ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parquet.write_table(pa.table({"size": [0.5, 9.0], "sold": ["no", "yes"]}), f"{folder}/a.parquet")
    ...     parquet.write_table(pa.table({"size": [None, 3.5], "sold": ["no", "no"]}), f"{folder}/b.parquet")
    ...     held_out, scan = count(tree, folder, "sold", return_scan=True)
    >>> held_out.by_class.tolist(), scan.n_rows
    ([[3, 1], [2, 0], [1, 1]], 4)
    """
    grown = _tree_of(tree)
    check_engine(engine)
    if n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs}; 1 or more is needed")
    used = engine_for(source, source_kind_of(source), engine)
    if used == "memory" and not isinstance(target, str):  # target and weights come beside the rows
        for what, name in (("sample_weight", sample_weight), ("ignore", ignore[0] if ignore else None)):
            if isinstance(name, str):
                raise ParameterError(
                    f"{what}= names the column {name!r}, but the target is not a name; pass the weights themselves, "
                    "and only the columns to use"
                )
        table = encode(source, schema=grown.schema, unseen=unseen, target=target, strict=False)
        beside: Sample = routing.count(grown, table, sample_weight=sample_weight, sample=sample)
        return (beside, Scan("memory", int(beside.total[0]))) if return_scan else beside
    if not isinstance(target, str):
        raise ParameterError(f"target is a {type(target).__name__}; engine={used!r} needs the name of a column")
    csv = TextOptions(delimiter, (na,) if isinstance(na, str) else tuple(na), header, encoding, decimal, dates)
    opened = open_source(source, used, csv=csv, client=client, n_jobs=n_jobs, timeout=timeout)
    task = routing.plan(grown, opened.names, target, sample_weight, unseen, opened.where, ignore, missing_target)
    check_files_fit_task(opened.files, task)
    tally = opened.over(task, progress)
    made: Sample = tally.finish(grown, sample)
    tally.warn(target)
    if not return_scan:
        return made
    n_unseen = {name: int(n) for name, n in zip(task.schema.names, tally.n_unseen, strict=True) if n}
    return made, Scan(used, tally.n_rows, n_unseen, tally.n_new, tally.n_verified)


counts = count


def _tree_of(given: object) -> Tree:
    model = getattr(given, "model_", given)
    tree = getattr(model, "tree", model)
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"tree is a {type(given).__name__}; a Tree, a Model or a fitted estimator is needed")
    return tree
