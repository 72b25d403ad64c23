"""Deal rows into parts by a seed and by what they hold, never by where they stand.

Rows are put into an order of their own first (class, then a hash of the row), so that the
same rows in any order are dealt alike: no result of the package depends on row order.

A row is the unit, whatever its weight: it goes to one part with all of it. Copies of a row
dealt one by one would be grown on and judged by each other. Rows that happen to be equal are
*not* kept together: where columns have few values, equal rows are independent draws, and to
keep them together would ask how the tree does on rows it has never met. So a weight of 2 is
not the same as the row written twice wherever rows are dealt, and freedom from leaks wins.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Bools, Ints
from ..errors import DataError, ParameterError
from .table import Table

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = 0x9E3779B97F4A7C15


def assign_folds(table: Table, n_parts: int, *, seed: int = 0, repeat: int = 0, stratified: bool = True) -> Ints:
    """Return the part of each row, from 0 to `n_parts - 1`, of as equal sizes as can be.

    Parameters
    ----------
    table : Table
    n_parts : int
    seed, repeat : int
        Two numbers that make one seed: repeats of the same seed are dealt independently.
    stratified : bool
        Deal each class by itself, so that the parts hold about equal shares of it.

    Examples
    --------
    >>> from secateur import encode
    >>> table = encode([[1.0], [2.0], [3.0], [4.0]], target=["a", "a", "b", "b"])
    >>> parts = assign_folds(table, 2)
    >>> sorted(parts[:2].tolist()), sorted(parts[2:].tolist())
    ([0, 1], [0, 1])
    """
    return next(iter_fold_assignments(table, n_parts, seed=seed, repeats=[repeat], stratified=stratified))


def iter_fold_assignments(
    table: Table, n_parts: int, *, seed: int, repeats: Iterable[int], stratified: bool
) -> Iterator[Ints]:
    """Yield what `assign_folds` returns for each of the repeats; rows are put into their order once."""
    if not 2 <= n_parts <= table.n_rows:
        raise ParameterError(f"{n_parts} parts of {table.n_rows} rows; from 2 to the number of rows is needed")
    keys: tuple[Any, ...] = (_keys(table),)
    sizes: Any = [table.n_rows]
    if stratified and table.target is not None and table.target.dtype.kind != "f":
        keys, sizes = (*keys, table.target), np.bincount(table.target)
    order = np.lexsort(keys)  # it depends on the rows as a set; classes come one after the other if stratified
    starts = np.cumsum(sizes) - sizes
    for repeat in repeats:
        rng = np.random.default_rng([seed, repeat])
        within = [start + rng.permutation(size) for start, size in zip(starts, sizes, strict=True)]
        parts = np.empty(table.n_rows, np.int32)
        parts[order[np.concatenate(within)]] = np.arange(table.n_rows) % n_parts
        yield parts


def draw_holdout(table: Table, share: float, *, seed: int = 0) -> Bools:
    """Return which rows to keep aside: `share` of them, rounded, drawn at random.

    Not stratified: the rows that are kept aside may certify, and a limit on the error holds for
    rows that are independent draws. Shares of classes that are tied to those of the growing
    rows would make them too much alike.

    The draw depends on the seed and on all rows together, not on their order. With the seed
    alone, the same places in the order of the hashes would be drawn from every sample, and rows
    with few different values would fall on them too evenly.

    Examples
    --------
    >>> from secateur import encode
    >>> draw_holdout(encode([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], target=list("aaabbb")), 1 / 3).sum().item()
    2
    """
    n_rows = table.n_rows
    if isinstance(share, bool) or not 0 < share < 1:
        raise ParameterError(f"holdout={share!r}; a share of the rows between 0 and 1 is needed")
    n_aside = min(max(round(share * n_rows), 1), n_rows - 1)
    if n_rows < 2:
        raise DataError(f"holdout={share:g} of 1 sample leaves nothing to grow on; at least 2 rows are needed")
    keys = _keys(table)
    rng = np.random.default_rng([seed, int(_mixed(keys).sum(dtype=np.uint64))])
    is_aside = np.zeros(n_rows, bool)
    is_aside[np.argsort(keys, kind="stable")[rng.permutation(n_rows)[:n_aside]]] = True
    return is_aside


def _keys(table: Table) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row, its target included."""
    keys = np.zeros(table.n_rows, np.uint64)
    columns = table.columns if table.target is None else (*table.columns, table.target)
    for j, column in enumerate(columns):
        if column.dtype.kind == "f":
            values = column.astype(np.float64) + 0.0  # -0.0 is 0.0
            values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
            bits = values.view(np.uint64)
        else:
            bits = column.astype(np.int64).view(np.uint64)
        keys = _mixed(keys ^ _mixed(bits + np.uint64((j + 1) * _STEP % 2**64)))
    return keys


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))
