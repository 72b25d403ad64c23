"""Grow a tree on data larger than memory, or on a cluster: bins first, then level by level.

    survey   types, categories, classes, missing values   1 pass over the source
    bins     exact order statistics, or a sketch          2 or 3 more passes, or none
    codes    one byte per column, in memory or a file     1 pass
    levels   histograms of the open nodes                 1 pass over the codes per level
    finish   small nodes from their rows, in memory       1 pass over the codes
    sketch   hashes of the rows, for certificates         1 pass over the source

Partitions return sums of whole numbers only. The tree therefore depends neither on the order of the rows nor on
partitions, batches, threads or workers. With exact bins it is the tree of `secateur.grow(..., max_bins=)`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .._kernels import growing, histograms
from .._utils.arrays import Labels
from ..core import Counts, Tree
from ..data.table import Schema, Table
from ..errors import DataError, ParameterError, UnsupportedError, show
from ..growers import CRITERIA
from ..growers.monotone import column_signs, limit_estimates
from ..growers.parameters import GrowParameters, limits_of
from ..growers.prepared_columns import columns_by_code
from ..growers.presort import ColumnValues
from ..growers.tree_tables import AssemblyOptions, GrownTables, RowValues, assemble_tree
from ._bin import Bins, code_layout, find_bins
from ._coding import BinRanges
from ._count import count
from ._level_growth import LevelGrowth
from ._passes import LocalPasses, PassRunner
from ._source import open_grow_source
from ._survey import SurveyTask, read_schema
from .registry import Client, ExternalData

MAX_FINISH_CELLS = 20_000_000  # Rows times columns that are brought together in memory by default.
MIN_FINISH_ROWS = 1000


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
    monotonic_cst: Any = None,
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
        The rows. Files must be Parquet. Anything else must be readable more than once.
    target : str
        Column of the class; for arrays, the labels themselves.
    engine : str
        "auto" scans files with DuckDB, else polars, else pyarrow. "dask" sends one task per file or partition to a
        cluster.
    criterion : {"gini", "entropy", "sqrt"}
        The impurity that splits lower.
    max_bins : int
        Maximum number of bins. Numeric columns with more values are divided into bins of about equally many rows.
    bins : Bins, optional
        Bins to use for some numeric columns. The other numeric columns are binned as usual.
    quantiles : {"exact", "sketch"}
        How bins are found: exactly, in two or three more passes, or by a sketch (datasketches) without a further pass.
        The bins of a sketch may depend on the order of the rows.
    max_depth, min_samples_leaf, min_samples_split : int
        As in `secateur.grow`.
    monotonic_cst : array or dict, optional
        Columns in which predictions may only rise (1) or only fall (-1). As in `secateur.grow`.
    nominal : sequence of str, optional
        Columns of numbers to read as categories.
    columns : sequence of str, optional
        Columns to grow on; by default, all but the target.
    finish_rows : int, optional
        Maximum number of rows that are brought together in memory. Nodes with at most a sixteenth of this number are
        grown from their rows. By default 20,000,000 divided by the number of columns, but at least 1,000. The tree
        does not depend on it.
    client : distributed.Client, optional
        Client of Dask; by default the current one.
    n_jobs : int
        Number of threads. The tree does not depend on it.
    folder : str, optional
        Where the encoded rows are kept if they take more than 256 MB. A row takes two bytes, and one byte per column
        (two bytes if a column needs more than 256 codes). The rows are sorted into a second set of files at the end, so
        that twice this space is needed. By default the temporary folder of the system. The files are removed.
    progress : callable, optional
        Called with the number of rows whose leaf is final, and the number of all rows.
    timeout : float
        Seconds to wait for an answer of the Dask scheduler.
    return_bins : bool
        Whether to return the `Bins`, too.

    Returns
    -------
    (Tree, Counts), or (Tree, Counts, Bins)
        With exact bins equal to those of `secateur.grow` with the same `max_bins` on the same rows, whatever their
        order and partitioning.

    Notes
    -----
    Splits are binary, growth is depth-first, and rows have no weights. Missing numbers are tried on both sides of every
    threshold and on their own. Memory: histograms of 64 MB per thread, and at most about 100 bytes for each of
    `finish_rows` times columns.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> X = np.array([[1.0], [2.0], [4.0], [5.0]])
    >>> tree, counts = grow(X, ["no", "no", "yes", "yes"])
    >>> tree.threshold.tolist(), counts.by_class.tolist()
    ([3.0, nan, nan], [[2, 2], [2, 0], [0, 2]])
    """
    limits = _checked_limits(criterion, max_bins, max_depth, min_samples_leaf, min_samples_split)
    _check_options(quantiles, n_jobs, finish_rows)
    opened = open_grow_source(source, target, engine, nominal, columns, client, n_jobs, timeout)
    passes: PassRunner = opened.cluster or LocalPasses(opened.sum_over, n_jobs, folder)
    try:
        survey = passes.sum_over_source(
            SurveyTask(opened.names, opened.target, opened.nominal, max_bins, quantiles == "sketch")
        )
        schema, class_counts = read_schema(survey, opened, criterion)
        if monotonic_cst is not None:
            limits = limits._replace(signs=column_signs(monotonic_cst, schema))
        used_bins = find_bins(survey, opened, passes, bins, max_bins, quantiles)
        code_task, layout = code_layout(schema, opened, used_bins)
        growth = LevelGrowth(class_counts, layout, limits, criterion)
        ranges = code_task.start()
        if growth.open_nodes:
            ranges = passes.encode_rows(code_task, survey.n_rows)
            _check_n_rows(survey.n_rows, ranges.n_rows)
            if finish_rows is None:
                finish_rows = max(MAX_FINISH_CELLS // len(schema.columns), MIN_FINISH_ROWS)
            growth.grow(passes, finish_rows, lambda n: None if progress is None else progress(n, survey.n_rows))
        _, grown = _assemble(growth.finish(), layout, schema, used_bins, ranges)
        grown = limit_estimates(grown, limits.signs)
    finally:
        passes.close()
    # The sketch hashes only the columns that the tree tests, so it is made in a further pass after growing.
    counted = count(grown.tree, source, target, engine=engine, client=client, n_jobs=n_jobs, timeout=timeout)
    assert counted.sketch is not None
    grown = grown.with_growing_sketch(counted.sketch)
    return (grown.tree, grown, used_bins) if return_bins else (grown.tree, grown)


def _checked_limits(
    criterion: str, max_bins: int, max_depth: int | None, min_samples_leaf: int, min_samples_split: int
) -> growing.GrowLimits:
    """Return the limits of growing; refuse parameters that growing out of core does not support."""
    if not (criterion in CRITERIA and CRITERIA[criterion].is_streamed):
        supported = ", ".join(show(name) for name, entry in CRITERIA.items() if entry.is_streamed)
        raise UnsupportedError(
            f"criterion={show(criterion)}; growing out of core supports {supported}; use secateur.grow for the others"
        )
    if max_bins is None:
        raise ParameterError("max_bins=None; growing out of core needs bins; secateur.grow considers every threshold")
    parameters = GrowParameters(
        criterion=criterion, max_depth=max_depth, min_samples_leaf=min_samples_leaf,
        min_samples_split=min_samples_split, max_bins=max_bins,
    )  # fmt: skip
    parameters.check_values()
    return limits_of(parameters)


def _check_options(quantiles: str, n_jobs: int, finish_rows: int | None) -> None:
    """Refuse invalid options of growing out of core."""
    if quantiles not in ("exact", "sketch"):
        raise ParameterError(f"quantiles={show(quantiles)}; 'exact' or 'sketch' is needed")
    if n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs}; 1 or more is needed")
    if finish_rows is not None and finish_rows < 0:
        raise ParameterError(f"finish_rows={finish_rows}; 0 or more is needed")


def _check_n_rows(n_surveyed: int, n_encoded: int) -> None:
    """Refuse a source whose number of rows differs between two passes."""
    if n_encoded != n_surveyed:
        raise DataError(
            f"the source had {n_surveyed:,} rows in the first pass and {n_encoded:,} in a later one; "
            "use data that does not change"
        )


def _assemble(
    grown: GrownTables, layout: histograms.CodeLayout, schema: Schema, bins: Bins, ranges: BinRanges
) -> tuple[Tree, Counts]:
    """Return the tree of finished tables and its counts; thresholds between codes become thresholds between values."""
    nodes, values = grown.nodes, {}
    for j, column in enumerate(schema.columns):
        if column.kind != "numeric":
            continue
        # The lowest value of an empty bin is taken from the next bin that has values.
        low = np.minimum.accumulate(ranges.low[j][::-1])[::-1]
        values[j] = ColumnValues(low, ranges.high[j])
        if column.name not in bins.every_value:
            # The threshold between two bins does not depend on the codes that occur in the node.
            is_split = (nodes[:, growing.SPLIT_STEP] >= 0) & (nodes[:, growing.SLOT] == j)
            is_between_bins = is_split & (nodes[:, growing.ABOVE] >= 0)
            nodes[is_between_bins, growing.ABOVE] = nodes[is_between_bins, growing.BELOW] + 1
    no_rows = tuple(np.zeros(0, np.float64 if column.kind == "numeric" else np.int32) for column in schema.columns)
    table = Table(schema, no_rows, np.zeros(0, np.int32))
    columns = columns_by_code(layout.n_codes, layout.is_nominal, values)
    return assemble_tree(grown, columns, RowValues(table), AssemblyOptions())
