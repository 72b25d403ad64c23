"""Counting of a sample where its rows are stored: `engines.count`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack, overload

from .. import routing
from .._utils.arrays import Labels
from ..core import Sample, Tree
from ..data.batch import ProgressCallback
from ..data.encoding import Unseen, encode
from ..data.text_options import DateReading, TextOptions
from ..errors import ParameterError, UnsupportedError, show
from ._data_file import check_files_fit_task
from ._source import check_all_rows_read, open_source, stated_rows
from .registry import Client, ExternalData, check_engine, engine_for, source_kind_of


@dataclass(frozen=True)
class Scan:
    """A report on how a source was counted.

    Parameters
    ----------
    engine : str
        The engine that was used.
    n_rows : int
    n_unseen : dict
        For each column, the number of rows with a category that was not in the growing sample. `unseen` decides where
        these rows go.
    n_new : int
        Number of rows with a class that was not in the growing sample.
    n_verified : int
        Number of rows whose leaf, as found by the engine, was compared with the leaf found by this package.

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
        unseen = ", ".join(f"{show(name)} ({n:,} rows)" for name, n in self.n_unseen.items())
        verified = f", {self.n_verified:,} of them checked one by one" if self.n_verified else ""
        new = f"; new classes in {self.n_new:,} rows" if self.n_new else ""
        categories = f"; unseen categories in {unseen}" if unseen else ""
        return f"{self.n_rows:,} rows counted with {self.engine}{verified}{categories}{new}"


class CountOptions(TypedDict, total=False):
    """The optional parameters of `count`, for its overloads."""

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
    group: str | Sequence[str] | None


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
    group: str | Sequence[str] | None = None,
    return_scan: bool = False,
) -> Sample | tuple[Sample, Scan]:
    """Return the counts of a sample in every node of a tree. The rows are read where they are stored.

    Parameters
    ----------
    tree : Tree, Model or fitted estimator
        A tree with tests. Node ids are those of the grown tree.
    source : path, pattern, folder, list of paths, frame, lazy frame, stream, or Dask or Spark collection
        Columns are matched by name if the tree has column names, otherwise by position. Only the columns
        that the tree tests, the target and the weight are read; other columns are ignored.
    target : str
        The column with the classes, or with the numbers for a regression tree. For arrays, pass the labels themselves.
    engine : str
        "auto" scans files with the first of DuckDB, polars and pyarrow that is installed. It reads lazy frames of
        polars and DuckDB as Arrow batches, runs on Dask and Spark frames with their own engine, and evaluates the tree
        as expressions in the engine of any other lazy frame. "narwhals" always evaluates the tree as expressions.
    sample : str
        Name of the sample.
    sample_weight : str, optional
        Column of row weights. Whole numbers keep the counts whole.
    unseen : "majority-branch", "missing" or "error"
        What to do with a category that was not in the growing sample: follow the branch with most growing rows, treat
        it as missing, or raise an error.
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
        A function that is called with the number of rows done and the number of all rows. If the latter is not known,
        both are the rows done.
    timeout : float
        Seconds to wait for the Dask scheduler.
    group : str or list of str, optional
        Columns of population groups, such as women and men, as for `secateur.count_groups`. A database that evaluates
        the tree itself (engine "narwhals") cannot count by group.
    return_scan : bool
        Also return a `Scan`: the engine used, number of rows, unseen categories.

    Returns
    -------
    Counts, or Moments for a regression tree
        The same as those of `secateur.count` on these rows, exactly if there are no weights or all are whole.
        Sums of fractional weights do not depend on the order of the rows. Sums over the target of a
        regression tree are rounded. They may differ in the last bit from run to run if a database evaluates the tree
        and adds numbers in parallel.

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
    grown_tree = _tree_of(tree)
    check_engine(engine)
    if n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs}; 1 or more is needed")
    used_engine = engine_for(source, source_kind_of(source), engine)
    if not isinstance(target, str):
        if used_engine != "memory":
            raise ParameterError(
                f"target is a {type(target).__name__}; engine={show(used_engine)} needs the name of a column"
            )
        if group is not None:
            raise ParameterError("group= needs target= as the name of a column; for arrays use secateur.count_groups")
        counts_in_memory = _count_in_memory(grown_tree, source, target, sample, sample_weight, unseen, ignore)
        scan = Scan("memory", int(counts_in_memory.total[0]))
        return (counts_in_memory, scan) if return_scan else counts_in_memory
    text_options = TextOptions(delimiter, (na,) if isinstance(na, str) else tuple(na), header, encoding, decimal, dates)
    opened = open_source(source, used_engine, text_options=text_options, client=client, n_jobs=n_jobs, timeout=timeout)
    task = routing.plan_count(
        grown_tree, opened.names, target, sample_weight, unseen, opened.description, ignore, missing_target
    )
    if group is not None:
        if used_engine == "narwhals":
            raise UnsupportedError(
                "engine='narwhals' evaluates the tree in the database and cannot count by group: read the rows with "
                "another engine"
            )
        groups = (group,) if isinstance(group, str) else tuple(group)
        task = routing.GroupCountTask.of(task, groups, opened.names, opened.description)
    check_files_fit_task(opened.files, task)
    tally = opened.sum_over(task, progress)
    check_all_rows_read(stated_rows(opened.files), tally.n_rows + tally.n_unlabelled)
    counted: Sample = tally.finish(grown_tree, sample)
    tally.warn(target)
    if not return_scan:
        return counted
    n_unseen = {name: int(n) for name, n in zip(task.schema.names, tally.n_unseen, strict=True) if n}
    return counted, Scan(used_engine, tally.n_rows, n_unseen, tally.n_new, tally.n_verified)


counts = count


def _count_in_memory(
    tree: Tree,
    source: ExternalData,
    labels: Labels,
    sample: str,
    sample_weight: Any,
    unseen: Unseen,
    ignore: Sequence[str],
) -> Sample:
    """Return the counts of rows in memory whose labels and weights are passed as arrays, not as columns."""
    column_names = {"sample_weight": sample_weight, "ignore": ignore[0] if ignore else None}
    for parameter, name in column_names.items():
        if isinstance(name, str):
            raise ParameterError(
                f"{parameter}= names the column {show(name)}, but the target is not a name; pass the weights "
                "themselves, and only the columns to use"
            )
    table = encode(source, schema=tree.schema, unseen=unseen, target=labels, strict=False)
    return routing.count(tree, table, sample_weight=sample_weight, sample=sample)  # type: ignore[no-any-return]


def _tree_of(tree: object) -> Tree:
    """Return a tree, or the tree of a model or of a fitted estimator."""
    model = getattr(tree, "model_", tree)
    found = getattr(model, "tree", model)
    if not isinstance(found, Tree):
        raise UnsupportedError(f"tree is a {type(tree).__name__}; a Tree, a Model or a fitted estimator is needed")
    return found
