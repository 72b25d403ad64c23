"""From a table to what the growing kernels read: presorted lists and columns of codes.

Every numeric column is sorted once and becomes a list of entries (of its bins, if it is
binned). A nominal or two-valued one becomes codes. Constant columns are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernels import grow_parts as parts
from .._kernels import presort
from ..errors import UnsupportedError
from ..table import Table

Array = npt.NDArray[Any]

LANES = 32  # bytes that one instruction adds; lines of two-valued columns are padded to it
TOGETHER = 8  # columns copied at once from a row-major matrix: one cache line of float64
MOST_BRANCHES = 1000  # of a multiway test


@dataclass(frozen=True)
class Values:
    """The values behind a binned or two-valued column: lowest and highest of each code, and the code of each row."""

    low: Array
    high: Array
    codes: Any = None  # NaN where missing; None: the kernels hold the codes


@dataclass(frozen=True)
class Prepared:
    """The columns as the kernels take them, and what turns tests back into thresholds."""

    lists: parts.Lists
    codes: parts.Codes | None
    weights: parts.Weights | None
    values: dict[int, Values]  # by feature; of other numeric columns the table holds the values


def rows_used(table: Table, weight: Array | None) -> tuple[Table, Array | None]:
    """Drop rows of weight 0: they must have no influence at all."""
    if weight is None or (weight > 0).all():
        return table, weight
    used = np.flatnonzero(weight > 0)
    columns = tuple(column[used] for column in table.columns)
    assert table.target is not None
    return Table(table.schema, columns, table.target[used]), weight[used]


def prepare(
    table: Table,
    weight: Array | None,
    *,
    max_bins: int | None,
    multiway: bool,
    is_plain: bool,
    pool: Any,
    by_weight: bool = False,
) -> Prepared:
    """Sort and code the columns of a table that has a target.

    `is_plain`: codes and weights may be None where the data has none, so that the kernels
    without them are compiled.
    """
    target = table.target
    assert target is not None
    n = table.n_rows
    assert table.schema.classes is not None
    label_bits = max(1, int(len(table.schema.classes) - 1).bit_length())
    shift = label_bits + 1
    entry: Any = np.uint32 if shift + max(1, int(n - 1).bit_length()) <= 32 else np.uint64
    size = _size(weight)
    numeric = [j for j, column in enumerate(table.schema.columns) if column.kind == "numeric"]
    listed: list[tuple[int, Array, Array | None]] = []
    coded: list[tuple[int, Array, int, bool]] = []
    values: dict[int, Values] = {}

    def prepare_some(first: int) -> list[tuple[int, Values | None, Array, Array | None]]:
        """(column, values behind codes, entries or codes, which are missing) of a few columns."""
        return [
            (j, *prepared)
            for j, column in _contiguous(table, numeric[first : first + TOGETHER])
            if (prepared := _prepare_column(column, target, shift, entry, max_bins, size)) is not None
        ]

    for some in pool.map(prepare_some, range(0, len(numeric), TOGETHER)):
        for j, known, prepared, is_missing in some:
            if known is not None:
                values[j] = known
            if known is not None and known.codes is None:
                coded.append((j, prepared, 2, False))
            else:
                listed.append((j, prepared, is_missing))
    check_branches(table, multiway)
    for j, about in enumerate(table.schema.columns):
        if about.kind == "nominal" and about.n_codes > 1:
            coded.append((j, table.columns[j], about.n_codes, True))
    coded.sort(key=lambda column: (column[2] == 2, column[0]))  # two-valued columns last
    feature = np.array([column[0] for column in listed] + [column[0] for column in coded], np.int32)
    lists = parts.Lists(_stacked([column[1] for column in listed], n, entry), feature, shift)
    missing = [column[2] for column in listed]
    if is_plain and not coded and all(line is None for line in missing):
        return Prepared(lists, None, None, values)
    return Prepared(lists, _codes(coded, target, shift, entry), _weights(weight, missing, n, by_weight), values)


def check_branches(table: Table, multiway: bool) -> None:
    """Refuse a multiway test with more children than the kernels count."""
    for about in table.schema.columns:
        if multiway and about.kind == "nominal" and about.n_codes > MOST_BRANCHES:
            raise UnsupportedError(
                f"column {about.name!r} has {about.n_codes:,} categories; a multiway test takes at most "
                f"{MOST_BRANCHES:,}; use splits='binary', or group the rare categories"
            )


@dataclass(frozen=True)
class _Sorted:
    """Rows in order of value, how many values differ, and how many are missing (last)."""

    rows: Array
    n_values: int
    n_missing: int

    @classmethod
    def of(cls, column: Array) -> "_Sorted":
        rows = presort.sorted_rows_32(column) if column.dtype == np.float32 else presort.sorted_rows_64(column)
        n_values, n_missing = presort.count_values(column, rows)
        return cls(rows, n_values, n_missing)


def _prepare_column(
    column: Array, target: Array, shift: int, entry: Any, max_bins: int | None, size: Array | None
) -> tuple[Values | None, Array, Array | None] | None:
    """(values behind codes, codes or entries, which are missing) of a numeric column; None if it is constant."""
    two = _two_values(column)
    if two is not None:
        return (Values(two, two), column == two[1], None) if two[0] < two[1] else None
    by_value = _Sorted.of(column)
    is_missing = np.isnan(column) if by_value.n_missing else None
    bins = None
    if max_bins is not None and by_value.n_values > max_bins:
        bins = _bins(column, by_value, max_bins, size)
    entries = np.empty(len(column), entry)
    presort.fill_entries(entries, by_value.rows, column if bins is None else bins.codes, target, shift)
    return bins, entries, is_missing


def _two_values(column: Array) -> Array | None:
    """The two values of a column (equal ones: it is constant), or None where it has more or misses some."""
    low, high = column.min(), column.max()
    few = column[: 1 << 10]
    if np.isnan(low):
        return np.array([0.0, 0.0]) if np.isnan(column).all() else None
    if not ((few == low) | (few == high)).all() or not ((column == low) | (column == high)).all():
        return None
    return np.array([low, high], np.float64)


def _contiguous(table: Table, columns: list[int]) -> Iterator[tuple[int, Array]]:
    """Numeric columns as contiguous arrays of our own, copied together from a row-major matrix."""
    if table.matrix is not None and len(columns) > 1:
        block = np.array(table.matrix[:, columns[0] : columns[-1] + 1].T, order="C")
        yield from zip(columns, block, strict=True)
    else:
        for j in columns:
            yield j, np.array(table.columns[j], order="C")


def _bins(column: Array, by_value: _Sorted, max_bins: int, size: Array | None) -> Values:
    """Bins of about equally many rows, repetitions counted."""
    n_seen = len(column) - by_value.n_missing
    given = np.zeros(0) if size is None else np.array(size)
    codes, ends = presort.bin_codes(by_value.rows, column, given, n_seen, max_bins)
    starts = np.append(0, ends[:-1])
    in_order = by_value.rows
    return Values(column[in_order[starts]].astype(np.float64), column[in_order[ends - 1]].astype(np.float64), codes)


def _stacked(lines: list[Array], n: int, dtype: npt.DTypeLike) -> Array:
    """Lines of one array; each is let go as soon as it is copied."""
    stacked = np.empty((len(lines), n), dtype)
    for i in range(len(lines)):
        stacked[i] = lines[i]
        lines[i] = stacked[i, :0]
    return stacked


def _codes(coded: list[tuple[int, Array, int, bool]], target: Array, shift: int, entry: Any) -> parts.Codes:
    most = max((column[2] for column in coded), default=2)
    dtype = np.uint16 if most <= 2**16 else np.uint32
    n = len(target)
    two_valued = [column[1] for column in coded if column[2] == 2]
    width = -(-len(two_valued) // LANES) * LANES
    bits = np.zeros((n, width), np.uint8)
    for p, column in enumerate(two_valued):
        bits[:, p] = column
    rows = (np.arange(n, dtype=np.uint64) << np.uint64(shift)) | (target.astype(np.uint64) << np.uint64(1))
    return parts.Codes(
        _stacked([column[1] for column in coded if column[2] > 2], n, dtype),
        bits.ravel(),
        width,
        np.array([column[2] for column in coded], np.int64),
        np.array([column[3] for column in coded], np.bool_),
        rows.astype(entry),
    )


def _weights(weight: Array | None, missing: list[Array | None], n: int, by_weight: bool) -> parts.Weights:
    has_missing = [line for line in missing if line is not None]
    line = np.cumsum([column is not None for column in missing], dtype=np.int64) - 1
    line[[column is None for column in missing]] = -1
    ones = np.ones(n)
    size = weight if by_weight else _size(weight)
    return parts.Weights(
        ones if weight is None else np.array(weight),
        ones if size is None else np.array(size),
        _stacked(has_missing, n, np.bool_),
        line,
        weight is not None,
    )


def _size(weight: Array | None) -> Array | None:
    """What limits and bins count: whole weights are repetitions; with others rows count (None)."""
    return weight if weight is not None and (weight == np.rint(weight)).all() else None
