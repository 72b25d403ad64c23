"""Verification of leaves that an engine has computed with expressions, on a sample of rows.

Compared are the first rows, rows with a missing value or NaN in each tested column, and rows with the values next to
each threshold, on both sides. The reason is that engines have treated NaN as a number (DuckDB on Parquet files written
by Arrow), and may compare with less than double precision. The comparison reveals both.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ..errors import DataError
from ..routing import CountTask
from .registry import Lazy

N_FIRST_ROWS = 2000  # rows at the head of the data that are compared
N_SPECIAL_ROWS = 100  # rows with a missing value that are compared, for each column and kind of missing value
MAX_AGGREGATES = 100  # in one query
NODE = "secateur_node"  # the column with the node of each row


def verify_sample(tested: Lazy, routed: Lazy, task: CountTask, types: Lazy, engine: str) -> int:
    """Compare the engine's leaves with those of this package for a sample of rows; return the number of rows.

    `tested` is the frame before the tree has been applied, `routed` the frame with the leaf of each row.
    """
    if not task.tested:
        return 0  # the tree is a single leaf
    rows = routed.select(*(f"raw{j}" for j in range(len(task.tested))), NODE)
    n_verified = 0
    for condition, max_rows in _sample_conditions(tested, task, types):
        selected = rows if condition is None else rows.filter(condition)
        n_verified += _compare_leaves(collect(selected.head(max_rows)), task, engine)
    return n_verified


def collect(frame: Lazy) -> Lazy:
    """Return a small result in memory: as a table of pyarrow if it is installed and the engine has no frames itself."""
    has_frames = frame.implementation.is_polars() or frame.implementation.is_dask()
    return frame.collect(backend=None if has_frames or find_spec("pyarrow") is None else "pyarrow")


def aggregate(frame: Lazy, **expressions: Lazy) -> dict[str, Any]:
    """Return the values of aggregates of a lazy frame, by name."""
    row = collect(frame.select(**expressions))
    return {name: row[name][0] for name in row.columns}


def count_where(condition: Lazy) -> Lazy:
    """Return the expression for the number of rows in which a condition holds."""
    return condition.cast(nw.Int64).sum()


def _sample_conditions(tested: Lazy, task: CountTask, types: Lazy) -> Iterator[tuple[Lazy, int]]:
    """Yield conditions on the rows to compare (None for any row), and the largest number of rows to take for each.

    Conditions that hold for few rows are joined into one query, which takes all of their rows.
    """
    yield None, N_FIRST_ROWS
    conditions = []
    for j, name in enumerate(task.names):
        raw = nw.col(f"raw{j}")
        conditions.append((raw.is_null(), N_SPECIAL_ROWS))
        if types[name].is_float():
            # An engine that assumes that there is no NaN does not evaluate is_nan(). Infinite values are selected too.
            conditions.append(((raw - raw) != 0.0, N_SPECIAL_ROWS))
        if task.tested[j].kind == "numeric":
            values = _values_next_to_thresholds(tested, task, j)
            conditions.append((raw.cast(nw.Float64).is_in(values), max(N_SPECIAL_ROWS, 4 * len(values))))
    counts = aggregate(tested, **{str(k): count_where(condition) for k, (condition, _) in enumerate(conditions)})
    n_rows = [int(n or 0) for n in counts.values()]
    rare = [k for k, n in enumerate(n_rows) if 0 < n <= conditions[k][1]]
    if rare:
        any_rare = nw.any_horizontal(*(conditions[k][0] for k in rare), ignore_nulls=True)
        yield any_rare, sum(n_rows[k] for k in rare)
    for (condition, max_rows), n in zip(conditions, n_rows, strict=True):
        if n > max_rows:
            yield condition, max_rows


def _values_next_to_thresholds(tested: Lazy, task: CountTask, j: int) -> list[float]:
    """Return the values of a column that are next to each of its thresholds, on both sides."""
    thresholds = np.unique(task.tree.threshold[task.tree.feature == j])
    column = nw.col(f"test{j}")
    values: set[float | None] = set()
    n_per_query = MAX_AGGREGATES // 2
    for first in range(0, len(thresholds), n_per_query):
        neighbours = {}
        for k, threshold in enumerate(thresholds[first : first + n_per_query].tolist()):
            neighbours[f"below{k}"] = nw.when(column <= threshold).then(column).max()
            neighbours[f"above{k}"] = nw.when(column > threshold).then(column).min()
        values.update(aggregate(tested, **neighbours).values())
    return sorted(float(value) for value in values if value is not None and np.isfinite(value))


def _compare_leaves(rows: Lazy, task: CountTask, engine: str) -> int:
    """Raise `DataError` if the engine routes a row to another leaf than this package; return the number of rows."""
    if len(rows) == 0:
        return 0
    named = rows.select(*(nw.col(f"raw{j}").alias(name) for j, name in enumerate(task.names)))
    our_leaves = task.leaves(named.to_native())
    engine_leaves = rows[NODE].to_numpy()
    different = np.flatnonzero(our_leaves != engine_leaves)
    if len(different):
        row = int(different[0])
        shown = ", ".join(f"{name}={named[name][row]!r}" for name in task.names[:20])
        hint = " (Parquet files with NaN need read_parquet(..., can_have_nan=true))" if engine == "duckdb" else ""
        raise DataError(
            f"the engine {engine} sends the row ({shown}) to node {int(engine_leaves[row])}, secateur sends it to node "
            f"{int(our_leaves[row])}; nothing was counted{hint}: stream the rows through engine='duckdb', 'polars' or "
            "'pyarrow' instead"
        )
    return len(rows)
