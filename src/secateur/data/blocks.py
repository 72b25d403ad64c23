"""Columns of a table as matrices of a few rows at a time, which stay in the cache."""

from collections.abc import Iterator

import numpy as np

from .arrays import Array
from .table import Table

ROWS_AT_ONCE = 1 << 14


def native_blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """As `blocks`, in the type of the table where it is one matrix."""
    if table.matrix is None or rows is not None:
        yield from blocks(table, used, rows)
        return
    for first in range(0, table.n_rows, ROWS_AT_ONCE):
        some = table.matrix[first : first + ROWS_AT_ONCE]
        yield np.ascontiguousarray(some if len(used) == table.n_columns else some.take(used, axis=1))


def blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """Some columns of a few rows at a time, as one matrix of numbers; missing and unseen categories are NaN."""
    n = table.n_rows if rows is None else len(rows)
    block = np.empty((min(n, ROWS_AT_ONCE), max(len(used), 1)))
    for first in range(0, n, ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE) if rows is None else rows[first : first + ROWS_AT_ONCE]
        matrix = block[: n - first]
        for k, j in enumerate(used):
            column = table.columns[j][some]
            matrix[:, k] = column
            if table.schema.columns[j].kind == "nominal" and column.min() < 0:
                matrix[column < 0, k] = np.nan
        yield matrix[:, : len(used)]
