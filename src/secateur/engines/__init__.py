"""Count a sample where it is: in memory, in files larger than memory, in a database, on a cluster.

All that pruning and certifying need of held-out rows is how many of each class reach each
leaf: one sum over partitions. Existing engines read the rows and carry the task to them;
our kernel routes them. On whole numbers the result equals `secateur.count` exactly, whatever
the engine, the order of the rows and the partitioning.

    engine              source                                        how
    memory              arrays, eager frames                          our kernel
    duckdb, polars,     Parquet and CSV: a file, folder, pattern      scanned as Arrow batches
    pyarrow             or list; Arrow streams, lazy frames           into our kernel
    narwhals            lazy frames and warehouse tables              the tree as expressions, checked
                                                                      against our kernel on sampled rows
    dask                files, Dask frames, lists of partitions       tasks, added in a tree
    spark               Spark frames                                  mapInArrow, then a sum
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from ..data.encoding import Unseen
from ..errors import ParameterError, UnsupportedError
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.tree import Tree
from ._bins import Bins
from ._growing import grow
from ._paths import Csv, check_files, find_files, is_path, open_files
from ._stream import SCANNERS, add_up, arrow_batches, count_files, lazy_batches, scanner
from ._task import plan

__all__ = ["ENGINES", "Bins", "Scan", "count", "counts", "grow"]

Engine = Literal["auto", "memory", "duckdb", "polars", "pyarrow", "narwhals", "dask", "spark"]
ENGINES: tuple[Engine, ...] = ("auto", "memory", "duckdb", "polars", "pyarrow", "narwhals", "dask", "spark")


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
    n_guarded: int = 0

    def __str__(self) -> str:
        unseen = ", ".join(f"{name!r} ({n:,} rows)" for name, n in self.n_unseen.items())
        guarded = f", {self.n_guarded:,} of them checked one by one" if self.n_guarded else ""
        new = f"; new classes in {self.n_new:,} rows" if self.n_new else ""
        return (
            f"{self.n_rows:,} rows counted with {self.engine}{guarded}"
            + (f"; unseen categories in {unseen}" if unseen else "")
            + new
        )


@overload
def count(
    tree: Any,
    source: Any,
    target: Any,
    *,
    engine: Engine = ...,
    sample: str = ...,
    weight: Any = ...,
    unseen: Unseen = ...,
    client: Any = ...,
    n_jobs: int = ...,
    delimiter: str | None = ...,
    na: Sequence[str] = ...,
    header: bool = ...,
    ignore: Sequence[str] = ...,
    progress: Callable[[int, int], None] | None = ...,
    timeout: float = ...,
    return_scan: Literal[False] = ...,
) -> Counts | Moments: ...
@overload
def count(
    tree: Any,
    source: Any,
    target: Any,
    *,
    engine: Engine = ...,
    sample: str = ...,
    weight: Any = ...,
    unseen: Unseen = ...,
    client: Any = ...,
    n_jobs: int = ...,
    delimiter: str | None = ...,
    na: Sequence[str] = ...,
    header: bool = ...,
    ignore: Sequence[str] = ...,
    progress: Callable[[int, int], None] | None = ...,
    timeout: float = ...,
    return_scan: Literal[True],
) -> tuple[Counts | Moments, Scan]: ...
def count(
    tree: Any,
    source: Any,
    target: Any,
    *,
    engine: Engine = "auto",
    sample: str = "prune",
    weight: Any = None,
    unseen: Unseen = "majority-branch",
    client: Any = None,
    n_jobs: int = 2,
    delimiter: str | None = None,
    na: Sequence[str] = ("",),
    header: bool = True,
    ignore: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
    timeout: float = 30.0,
    return_scan: bool = False,
) -> Counts | Moments | tuple[Counts | Moments, Scan]:
    """Return the counts of a sample in every node of a tree, wherever the sample is.

    Parameters
    ----------
    tree : Tree, Model or fitted estimator
        A tree with tests. Node ids are those of the grown tree.
    source : path, pattern, folder, list of paths, frame, lazy frame, stream, or Dask or Spark collection
        Columns are matched by name where the tree has names, else by position. Only columns that
        the tree tests, the target and the weight are read; others may be there or not.
    target : str
        Column of the class (or, for a regression tree, of the number). Of arrays the labels themselves.
    engine : str
        "auto" scans files with DuckDB, else polars, else pyarrow, whichever is installed; takes lazy
        frames of polars and DuckDB as Arrow batches, Dask and Spark frames with their own engine, and
        pushes the tree down as expressions into anything else that is lazy. "narwhals" always pushes down.
    sample : str
        Name of the sample.
    weight : str, optional
        Column of row weights. Whole numbers keep the counts whole.
    unseen : "majority-branch", "missing" or "error"
        What becomes of a category that growing did not see.
    client : distributed.Client, optional
        Of Dask; left out, the current one.
    n_jobs : int
        Threads that route batches.
    delimiter, na, header : str, optional; sequence of str; bool
        Of CSV files: what parts their cells (left out, it is found from the first line), the cells that
        mean "missing", and whether they begin with a line of names (else column1, column2, ...).
    ignore : sequence of str
        Columns to leave out: they take no place where columns are matched by position.
    progress : callable, optional
        Called with the rows done and the rows in all (or again those done, if not known).
    timeout : float
        Seconds to wait for an answer of the Dask scheduler.
    return_scan : bool
        Also return a `Scan`: the engine used, rows, unseen categories.

    Returns
    -------
    Counts, or Moments for a regression tree
        Equal to those of `secateur.count` on the same rows, exactly where weights are whole (or
        absent). Fractional weights give sums that no order of rows changes; numbers of a regression
        tree are summed to rounding.

    Notes
    -----
    Everything that the heads of files tell (missing columns, a column that changes its kind) is
    checked before a row is read. Cells of CSV files are read as what the tree was grown on.

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
    if engine not in ENGINES:
        raise ParameterError(f"engine={engine!r}; one of {', '.join(map(repr, ENGINES))} is needed")
    if n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs}; 1 or more is needed")
    used = _engine_for(source, engine)
    csv = Csv(delimiter, (na,) if isinstance(na, str) else tuple(na), header)
    if used == "memory":
        from ._memory import count_memory

        made, tally = count_memory(grown, source, target, weight, unseen, sample, ignore)
        return (made, _scan_of("memory", grown, tally, made)) if return_scan else made
    if not isinstance(target, str):
        raise ParameterError(f"target is a {type(target).__name__}; engine={used!r} needs the name of a column")
    n_guarded = 0
    if used == "narwhals":
        from ._pushdown import count_pushed

        tally, n_guarded = count_pushed(grown, source, target, weight, unseen, ignore)
    elif used == "dask":
        from ._dask import count_dask

        tally = count_dask(grown, source, target, weight, unseen, ignore, client, csv, progress, timeout)
    elif used == "spark":
        from ._spark import count_spark

        tally = count_spark(grown, source, target, weight, unseen, ignore)
    elif is_path(source):
        files = open_files(find_files(source), csv)
        task = plan(grown, tuple(files[0].types), target, weight, unseen, files[0].path, ignore)
        check_files(files, task)
        tally = count_files(task, files, used, n_jobs, progress)
    else:
        where = f"the {type(source).__name__}"
        names, batches = lazy_batches(source) if used == "polars" else arrow_batches(source)
        task = plan(grown, names, target, weight, unseen, where, ignore)
        tally = add_up(task, batches(task.columns), n_jobs, progress)
    made = tally.finish(grown, sample)
    tally.tell()
    return (made, _scan_of(used, grown, tally, made, n_guarded)) if return_scan else made


counts = count


def _tree_of(given: Any) -> Tree:
    model = getattr(given, "model_", given)
    tree = getattr(model, "tree", model)
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"tree is a {type(given).__name__}; a Tree, a Model or a fitted estimator is needed")
    return tree


def _engine_for(source: Any, engine: str) -> str:
    """Return the engine that will be used for a source."""
    if is_path(source):
        if engine in ("memory", "narwhals", "spark"):
            return _refuse_paths(engine)
        return engine if engine == "dask" else scanner(engine)
    kind = _kind(source)
    fitting = {
        "dask": ("dask",),
        "spark": ("spark", "narwhals"),
        "polars lazy": ("polars", "narwhals"),
        "duckdb": ("duckdb", "narwhals"),
        "lazy": ("narwhals",),
        "stream": ("pyarrow",),
        "partitions": ("dask",),
        "memory": ("memory",),
    }[kind]
    if engine == "auto":
        return fitting[0]
    if engine in fitting or (engine in SCANNERS and kind == "stream"):
        return "pyarrow" if kind == "stream" else engine
    raise UnsupportedError(
        f"engine={engine!r} cannot count a {type(source).__name__}; {' or '.join(map(repr, fitting))} can (or 'auto')"
    )


def _refuse_paths(engine: str) -> str:
    way = {
        "memory": "read them with pandas, polars or pyarrow, or use engine='auto'",
        "narwhals": "pass a lazy frame, such as polars.scan_parquet(...), or use engine='auto'",
        "spark": "pass spark.read.parquet(...)",
    }[engine]
    raise UnsupportedError(f"engine={engine!r} does not read files; {way}")


def _kind(source: Any) -> str:
    """What a source is, told by where its class is defined, so that nothing need be imported."""
    modules = {cls.__module__ for cls in type(source).__mro__}
    packages = {module.partition(".")[0] for module in modules}
    name = type(source).__name__
    if packages & {"dask", "dask_expr"}:
        return "dask"
    if "pyspark" in packages:
        return "spark"
    if isinstance(source, list) and source and type(source[0]).__module__.startswith(("dask", "distributed")):
        return "partitions"
    if "polars" in packages and name == "LazyFrame":
        return "polars lazy"
    if packages & {"duckdb", "_duckdb"}:
        return "duckdb"
    if "ibis" in packages or (name == "LazyFrame" and "narwhals" in packages):
        return "lazy"
    if name in ("RecordBatchReader", "Dataset", "FileSystemDataset", "Scanner") and "pyarrow" in packages:
        return "stream"
    is_frame = packages & {"pandas", "polars", "pyarrow", "numpy", "modin", "cudf", "narwhals", "secateur"}
    return "stream" if hasattr(source, "__arrow_c_stream__") and not is_frame else "memory"


def _scan_of(engine: str, tree: Tree, tally: Any, made: Counts | Moments, n_guarded: int = 0) -> Scan:
    if tally is None:
        return Scan(engine, int(made.total[0]))
    assert tree.schema is not None
    tested = sorted({int(j) for j in tree.feature if j >= 0})
    unseen = {tree.schema.names[j]: int(n) for j, n in zip(tested, tally.n_unseen, strict=True) if n}
    return Scan(engine, tally.n_rows, unseen, tally.n_new, n_guarded)
