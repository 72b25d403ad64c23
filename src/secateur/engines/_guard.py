"""The parity guard: no engine is trusted with the tree before its leaves are found equal to ours.

Compared, row by row: the first rows, rows with a missing value or NaN in each tested column,
and rows with the values nearest to each threshold, on either side. Engines have silently
taken NaN for a number (DuckDB on Parquet files written by Arrow), and may compare in less
than double precision; both show here, before anything is counted.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ..errors import DataError
from ..routing import CountTask
from .registry import Lazy

N_FIRST = 2000  # rows from the head of the data
N_ODD = 100  # rows with a gap, for each column and kind of gap
AT_ONCE = 100  # aggregates in one query


def guard(plain: Lazy, staged: Lazy, task: CountTask, types: Lazy, engine: str) -> int:
    """Compare the engine's leaves with ours; return how many rows were compared.

    `plain` is the frame before the tree is applied to it, `staged` the one after.
    """
    if not task.tested:
        return 0  # a single leaf: there is nothing to get wrong
    raw = [f"raw{j}" for j in range(len(task.tested))]
    rows, n_compared = staged.select(*raw, "secateur_node"), 0
    for condition, n_most in _samples(plain, task, types):
        chosen = rows if condition is None else rows.filter(condition)
        n_compared += _compare(collected(chosen.head(n_most)), task, engine)
    return n_compared


def collected(frame: Lazy) -> Lazy:
    """Return a small result in memory: in pyarrow, if it is installed and the engine has no frames of its own."""
    has_own = frame.implementation.is_polars() or frame.implementation.is_dask()
    return frame.collect(backend=None if has_own or find_spec("pyarrow") is None else "pyarrow")


def asked(frame: Lazy, **expressions: Lazy) -> dict[str, Any]:
    """Return the aggregates of a lazy frame, by name."""
    row = collected(frame.select(**expressions))
    return {name: row[name][0] for name in row.columns}


def number(condition: Lazy) -> Lazy:
    """Return the number of rows on which a condition holds."""
    return condition.cast(nw.Int64).sum()


def _samples(plain: Lazy, task: CountTask, types: Lazy) -> Iterator[tuple[Lazy, int]]:
    """Conditions on rows, and how many such rows to take; rare ones are joined, so that none is crowded out."""
    yield None, N_FIRST
    conditions = []
    for j, name in enumerate(task.names):
        raw = nw.col(f"raw{j}")
        conditions.append((raw.is_null(), N_ODD))
        if types[name].is_float():
            # Not is_nan(): an engine that believes there is none finds none. Infinite values come along.
            conditions.append(((raw - raw) != 0.0, N_ODD))
        if task.tested[j].kind == "numeric":
            values = _nearest(plain, task, j)
            conditions.append((raw.cast(nw.Float64).is_in(values), max(N_ODD, 4 * len(values))))
    found = asked(plain, **{str(k): number(condition) for k, (condition, _) in enumerate(conditions)})
    n_found = [int(n or 0) for n in found.values()]
    rare = [k for k, n in enumerate(n_found) if 0 < n <= conditions[k][1]]
    if rare:
        yield nw.any_horizontal(*(conditions[k][0] for k in rare), ignore_nulls=True), sum(n_found[k] for k in rare)
    for (condition, n_most), n in zip(conditions, n_found, strict=True):
        if n > n_most:
            yield condition, n_most


def _nearest(plain: Lazy, task: CountTask, j: int) -> list[float]:
    """The values next to each threshold of a column, on either side."""
    thresholds = np.unique(task.tree.threshold[task.tree.feature == j])
    column = nw.col(f"test{j}")
    found: set[float | None] = set()
    for first in range(0, len(thresholds), AT_ONCE // 2):
        sides = {}
        for k, threshold in enumerate(thresholds[first : first + AT_ONCE // 2].tolist()):
            sides[f"below{k}"] = nw.when(column <= threshold).then(column).max()
            sides[f"above{k}"] = nw.when(column > threshold).then(column).min()
        found.update(asked(plain, **sides).values())
    return sorted(float(value) for value in found if value is not None and np.isfinite(value))


def _compare(rows: Lazy, task: CountTask, engine: str) -> int:
    if len(rows) == 0:
        return 0
    named = rows.select(*(f"raw{j}" for j in range(len(task.tested)))).rename(
        {f"raw{j}": name for j, name in enumerate(task.names)}
    )
    ours = task.leaves(named.to_native())
    theirs = rows["secateur_node"].to_numpy()
    wrong = np.flatnonzero(ours != theirs)
    if len(wrong):
        row = {name: named[name][int(wrong[0])] for name in task.names}
        shown = ", ".join(f"{name}={value!r}" for name, value in list(row.items())[:20])
        hint = " (Parquet files with NaN need read_parquet(..., can_have_nan=true))" if engine == "duckdb" else ""
        raise DataError(
            f"the engine {engine} sends the row ({shown}) to node {int(theirs[wrong[0]])}, secateur sends it to node "
            f"{int(ours[wrong[0]])}; nothing was counted{hint}: stream the rows through engine='duckdb', 'polars' or "
            "'pyarrow' instead"
        )
    return len(rows)
