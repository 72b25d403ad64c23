"""Construction of tables from codes and numbers, and the split of a table into parts."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .._utils.arrays import Array, Longs, write_protect
from .._utils.checks import check_int
from ..data.table import Column, Schema, Table
from ..errors import DataError, ParameterError, show

TARGET_COLUMN = "class"  # name of the column of classes in files of data sets


def split(table: Table, *shares: float, seed: int = 0) -> tuple[Table, ...]:
    """Split the rows of a table at random into parts.

    Parameters
    ----------
    table : Table
    *shares : float
        The share of the rows in each part. The shares add up to at most 1.
    seed : int
        The same seed gives the same parts.

    Returns
    -------
    tuple of Table
        One part per share, in the same order. No row is in two parts. All parts have the schema of `table`.

    Examples
    --------
    >>> from secateur import datasets
    >>> grow_rows, prune_rows = datasets.split(datasets.car(), 2 / 3, 1 / 3)
    >>> grow_rows.n_rows, prune_rows.n_rows
    (1152, 576)
    """
    if not shares or any(not share > 0 for share in shares) or math.fsum(shares) > 1 + 1e-9:
        raise ParameterError(f"shares={shares}; shares above 0 that add up to at most 1 are needed")
    order = np.random.default_rng(seed).permutation(table.n_rows)
    ends = [round(table.n_rows * math.fsum(shares[: i + 1])) for i in range(len(shares))]
    parts = []
    for share, start, end in zip(shares, [0, *ends], ends, strict=False):
        if start == end:
            raise DataError(f"a share of {share:g} of {table.n_rows} rows is none; a part needs at least one row")
        parts.append(table.take(np.sort(order[start:end])))
    return tuple(parts)


def make_table(
    values: Mapping[str, Sequence[object] | None], columns: Iterable[Array], target: Array, classes: Sequence[object]
) -> Table:
    """Return a table with a target.

    Parameters
    ----------
    values : mapping
        For each column name, the categories of a nominal column, or None for a numeric column.
    columns : iterable of arrays
        The codes or numbers of each column.
    target : array
        The class numbers: positions in `classes`.
    classes : sequence
    """
    schema = Schema(
        tuple(
            Column(name, "numeric") if categories is None else Column(name, "nominal", tuple(categories))
            for name, categories in values.items()
        ),
        write_protect(np.array(classes)),
        has_names=True,
    )
    dtypes = (np.float64 if categories is None else np.int32 for categories in values.values())
    arrays = tuple(write_protect(column.astype(dtype)) for column, dtype in zip(columns, dtypes, strict=True))
    return Table(schema, arrays, write_protect(target.astype(np.int32)))


def numbered_attributes(sizes: Sequence[int]) -> dict[str, Sequence[object]]:
    """Return attributes a1, a2, ... with the values 1, 2, ...; `sizes` are the numbers of their values."""
    return {f"a{j}": range(1, size + 1) for j, size in enumerate(sizes, 1)}


def all_combinations(*sizes: int) -> Longs:
    """Return all combinations of codes below `sizes`, one per row. The last code changes fastest."""
    grid: Longs = np.indices(sizes).reshape(len(sizes), -1).T
    return grid


def row_generator(n: int, seed: int) -> np.random.Generator:
    """Return the random generator for a table of `n` rows; raise `ParameterError` unless `n` is at least 1."""
    check_int("n", n, 1)
    return np.random.default_rng(seed)


def check_probability(name: str, value: float) -> None:
    """Raise `ParameterError` unless `value` is between 0 and 1."""
    if not 0 <= value <= 1:
        raise ParameterError(f"{name}={show(value)}; a probability between 0 and 1 is needed")
