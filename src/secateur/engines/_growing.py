"""Grow a tree on data larger than memory, or on a cluster: bins first, then level by level.

    survey  kinds, categories, classes, gaps             1 pass over the source
    bins    exact order statistics, or a sketch          2 or 3 passes more; or none
    codes   a byte a column, kept aside                  1 pass
    levels  histograms of the open nodes                 1 pass over the codes a level
    finish  small nodes from their rows, in memory       1 pass over the codes

All that partitions hand back are sums of whole numbers: the tree depends neither on the order
of rows nor on partitions, batches, threads or workers. With exact bins it is the tree of
`secateur.grow(..., max_bins=)`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .._kernels import growing
from .._utils.arrays import Labels
from ..core import Counts, Tree
from ..data.table import Schema, Table
from ..errors import DataError, ParameterError, UnsupportedError
from ..growers import CRITERIA
from ..growers.grower import Grown
from ..growers.kernel_arguments import limits_of
from ..growers.parameters import GrowParameters
from ..growers.prepare import Prepared, Values
from ..growers.tree_assembly import assemble
from ..routing import with_growing_sketch
from ._bins import Bins, coding_of, find_bins
from ._count import count
from ._grow_source import open_grow_source
from ._level_growth import Growth
from ._parts import BinRanges, LocalPasses
from ._survey import SurveyTask, read_schema
from .registry import Client, ExternalData

FINISH_CELLS = 20_000_000  # rows times columns that are grown at once in memory


def grow(
    source: ExternalData,
    target: Labels = None,
    *,
    engine: Literal["auto", "memory", "duckdb", "polars", "pyarrow", "dask"] = "auto",
    criterion: str = "gini",
    max_bins: int = 255,
    bins: Bins | None = None,
    quantiles: Literal["exact", "sketch"] = "exact",
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    min_samples_split: int = 2,
    nominal: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    finish_rows: int | None = None,
    client: Client = None,
    n_jobs: int = 2,
    folder: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    timeout: float = 30.0,
    return_bins: bool = False,
) -> Any:
    """Grow a tree on a sample wherever its rows are stored, and return it with the counts.

    Parameters
    ----------
    source : path, pattern, folder, list of paths, frame, lazy frame, dataset, or Dask collection
        Files must be Parquet. Anything else must be readable more than once.
    target : str
        Column of the class; for arrays, the labels themselves.
    engine : str
        "auto" scans files with DuckDB, else polars, else pyarrow; "dask" sends one task per file
        or partition to a cluster.
    criterion : {"gini", "entropy", "sqrt"}
        What a test should lower most.
    max_bins : int
        Numeric columns with more values are put into as many bins of about equally many rows.
    bins : Bins, optional
        Bins to use for the numeric columns that they name, in place of new ones.
    quantiles : {"exact", "sketch"}
        How bins are found: exactly, in two or three passes more, or by a sketch (datasketches) in
        none; its bins may depend on the order of rows.
    max_depth, min_samples_leaf, min_samples_split : int
        As in `secateur.grow`.
    nominal, columns : sequence of str, optional
        Columns of numbers to be read as categories; columns to grow on (default: all others).
    finish_rows : int, optional
        So many rows are brought together in memory to finish small nodes, those of at most a
        sixteenth of it. By default 20,000,000 divided by the columns; the tree does not depend on it.
    client : distributed.Client, optional
        Of Dask; left out, the current one.
    n_jobs : int
        Threads. The tree does not depend on it.
    folder : str, optional
        Where codes are kept that take more than 256 MB: a byte a column (two if `max_bins` is
        above 255) and two a row, twice. By default the system's temporary folder; removed at the end.
    progress : callable, optional
        Called with the rows whose leaf is settled, and the rows in all.
    timeout : float
        Seconds to wait for an answer of the Dask scheduler.
    return_bins : bool
        Also return the `Bins`.

    Returns
    -------
    (Tree, Counts), or (Tree, Counts, Bins)
        With exact bins equal to those of `secateur.grow` with the same `max_bins` on the same
        rows, whatever their order and partitioning.

    Notes
    -----
    Splits are binary, growth is depth-first, rows have no weights. Missing numbers are tried on
    both sides of every threshold and by themselves. Memory: histograms of 64 MB per thread, and
    what finishing takes, some 100 bytes for each of `finish_rows` times columns at most.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> X = np.array([[1.0], [2.0], [4.0], [5.0]])
    >>> tree, counts = grow(X, ["no", "no", "yes", "yes"])
    >>> tree.threshold.tolist(), counts.by_class.tolist()
    ([3.0, nan, nan], [[2, 2], [2, 0], [0, 2]])
    """
    if not (criterion in CRITERIA and CRITERIA[criterion].is_streamed):
        able = ", ".join(repr(name) for name, one in CRITERIA.items() if one.is_streamed)
        raise UnsupportedError(
            f"criterion={criterion!r}; growing out of core supports {able}; use secateur.grow for the others"
        )
    if max_bins is None:
        raise ParameterError("max_bins=None; growing out of core needs bins; secateur.grow considers every threshold")
    parameters = GrowParameters(
        criterion=criterion, max_depth=max_depth, min_samples_leaf=min_samples_leaf,
        min_samples_split=min_samples_split, max_bins=max_bins,
    )  # fmt: skip
    limits = limits_of(parameters)
    if quantiles not in ("exact", "sketch"):
        raise ParameterError(f"quantiles={quantiles!r}; 'exact' or 'sketch' is needed")
    if n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs}; 1 or more is needed")
    if finish_rows is not None and finish_rows < 0:
        raise ParameterError(f"finish_rows={finish_rows}; 0 or more is needed")
    opened = open_grow_source(source, target, engine, nominal, columns, client, n_jobs, timeout)
    where = opened.cluster or LocalPasses(opened.over, n_jobs, folder)
    try:
        task = SurveyTask(opened.names, opened.target, opened.nominal, max_bins, quantiles == "sketch")
        survey = where.sum_over_source(task)
        schema, counts = read_schema(survey, opened, criterion)
        found = find_bins(survey, opened, where, bins, max_bins, quantiles)
        code, layout = coding_of(schema, opened, found)
        growth = Growth(counts, layout, limits, criterion)
        extent = code.start()
        if growth.open:
            extent = where.code(code, survey.n_rows)
            if extent.n_rows != survey.n_rows:
                raise DataError(
                    f"the source had {survey.n_rows:,} rows in the first pass and {extent.n_rows:,} in a later one; "
                    "use data that does not change"
                )
            rows = max(FINISH_CELLS // len(schema.columns), 1000) if finish_rows is None else finish_rows
            growth.grow(where, rows, lambda n: None if progress is None else progress(n, survey.n_rows))
        tree, grown = _assembled(growth, schema, found, extent)
    finally:
        where.close()
    # The sketch of the rows needs the tree: one more pass.
    counted = count(tree, source, target, engine=engine, client=client, n_jobs=n_jobs, timeout=timeout)
    assert counted.sketch is not None
    grown = with_growing_sketch(grown, counted.sketch)
    return (grown.tree, grown, found) if return_bins else (grown.tree, grown)


def _assembled(growth: Growth, schema: Schema, bins: Bins, extent: BinRanges) -> tuple[Tree, Counts]:
    """Return the tree and its counts: cuts between codes become thresholds between values."""
    nodes, reals, branch = growth.tables()
    values = {}
    for j, column in enumerate(schema.columns):
        if column.kind == "numeric":
            # A bin that holds nothing begins where the next one does.
            values[j] = Values(np.minimum.accumulate(extent.low[j][::-1])[::-1], extent.high[j])
            if column.name not in bins.every_value:
                is_cut = (
                    (nodes[:, growing.SPLIT_STEP] >= 0) & (nodes[:, growing.SLOT] == j) & (nodes[:, growing.ABOVE] >= 0)
                )
                nodes[is_cut, growing.ABOVE] = nodes[is_cut, growing.BELOW] + 1
    lists = growing.PresortedLists(np.zeros((0, 0), np.uint32), np.arange(len(schema.columns), dtype=np.int32), 1)
    codes = growing.PackedCodes(
        np.zeros((0, 0), np.uint16), np.zeros(0, np.uint8), np.zeros((0, 0), np.uint64), 0,
        growth.columns.n_codes, growth.columns.is_nominal, np.zeros(0, np.uint32),
    )  # fmt: skip
    empty = tuple(np.zeros(0, np.float64 if c.kind == "numeric" else np.int32) for c in schema.columns)
    table = Table(schema, empty, np.zeros(0, np.int32))
    grown = Grown(nodes, reals, branch)
    return assemble(grown, Prepared(lists, codes, None, values), table, is_whole=True, has_births=False, exponent=0)
