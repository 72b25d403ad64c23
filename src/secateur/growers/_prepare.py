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
WORD = 64  # two-valued columns in a word
TWO = 2  # values of a two-valued column
TOGETHER = 8  # columns copied at once from a row-major matrix: one cache line of float64
MOST_BRANCHES = 1000  # of a multiway test


@dataclass(frozen=True)
class Values:
    """The values behind a binned or two-valued column: lowest and highest of each code, and the code of each row."""

    low: Array
    high: Array
    codes: Any = None  # NaN where missing; None: the kernels hold the codes


@dataclass(frozen=True)
class Coded:
    """A nominal or two-valued column."""

    feature: int
    column: Array  # codes; of two values, whether it is the higher one
    n_codes: int
    is_nominal: bool

    def order(self) -> tuple[bool, int]:
        """Two-valued columns come last."""
        return self.n_codes == TWO, self.feature


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
    pool: Any,
    by_weight: bool = False,
    is_squares: bool = False,
) -> Prepared:
    """Sort and code the columns of a table that has a target, the class of each row.

    `is_squares`: its numbers go their own way, and all rows are of one class.
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
    coded: list[Coded] = []
    values: dict[int, Values] = {}

    def prepare_some(first: int) -> list[tuple[int, Values | None, Array, Array | None]]:
        """(column, values behind codes, entries or column, which are missing) of a few columns."""
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
                coded.append(Coded(j, prepared, TWO, False))
            else:
                listed.append((j, prepared, is_missing))
    check_branches(table, multiway)
    for j, about in enumerate(table.schema.columns):
        if about.kind == "nominal" and about.n_codes > 1:
            coded.append(Coded(j, table.columns[j], about.n_codes, True))
    coded.sort(key=Coded.order)
    feature = np.array([column[0] for column in listed] + [column.feature for column in coded], np.int32)
    lists = parts.Lists(_stacked([column[1] for column in listed], n, entry), feature, shift)
    n_classes = 0 if is_squares else len(table.schema.classes)
    weights = _weights(weight, [column[2] for column in listed], target, n_classes, by_weight)
    return Prepared(lists, _codes(coded, target, shift, entry, weights, multiway, is_squares), weights, values)


def check_branches(table: Table, multiway: bool) -> None:
    """Refuse a multiway test with more children than the kernels count."""
    for about in table.schema.columns:
        if multiway and about.kind == "nominal" and about.n_codes > MOST_BRANCHES:
            raise UnsupportedError(
                f"column {about.name!r} has {about.n_codes:,} categories; a multiway test takes at most "
                f"{MOST_BRANCHES:,}; use splits='binary', or group the rare categories"
            )


def _prepare_column(
    column: Array, target: Array, shift: int, entry: Any, max_bins: int | None, size: Array | None
) -> tuple[Values | None, Array, Array | None] | None:
    """(values behind codes, column or entries, which are missing) of a numeric column; None if it is constant."""
    kind, low, high = presort.two_values(column)
    if kind == TWO:
        two = np.array([low, high])
        return Values(two, two), column == high, None
    if kind:
        return None
    entries = np.empty(len(column), entry)
    n_values, n_missing = presort.sorted_entries(column, target, shift, entries)
    is_missing = np.isnan(column) if n_missing else None
    if max_bins is None or n_values <= max_bins:
        return None, entries, is_missing
    rows = (entries >> entry(shift)).astype(np.uint32)
    bins = _bins(column, rows, n_missing, max_bins, size)
    presort.fill_entries(entries, rows, bins.codes, target, shift)
    return bins, entries, is_missing


def _contiguous(table: Table, columns: list[int]) -> Iterator[tuple[int, Array]]:
    """Numeric columns as contiguous arrays of our own, copied together from a row-major matrix."""
    if table.matrix is not None and len(columns) > 1:
        block = np.array(table.matrix[:, columns[0] : columns[-1] + 1].T, order="C")
        yield from zip(columns, block, strict=True)
    else:
        for j in columns:
            yield j, np.array(table.columns[j], order="C")


def _bins(column: Array, rows: Array, n_missing: int, max_bins: int, size: Array | None) -> Values:
    """Bins of about equally many rows, repetitions counted; `rows` are in order of value."""
    given = np.zeros(0) if size is None else np.array(size)
    codes, ends = presort.bin_codes(rows, column, given, len(column) - n_missing, max_bins)
    starts = np.append(0, ends[:-1])
    return Values(column[rows[starts]].astype(np.float64), column[rows[ends - 1]].astype(np.float64), codes)


def _stacked(lines: list[Array], n: int, dtype: npt.DTypeLike) -> Array:
    """Lines of one array; each is let go as soon as it is copied."""
    stacked = np.empty((len(lines), n), dtype)
    for i in range(len(lines)):
        stacked[i] = lines[i]
        lines[i] = stacked[i, :0]
    return stacked


def _codes(
    coded: list[Coded],
    target: Array,
    shift: int,
    entry: Any,
    weights: parts.Weights | None,
    multiway: bool,
    is_squares: bool = False,
) -> parts.Codes | None:
    """The coded columns, two-valued ones last; None where there are none (and sums need no rows of their own)."""
    if not coded and (not is_squares or weights is None):
        return None
    n = len(target)
    most = max((column.n_codes for column in coded), default=TWO)
    two_valued = [column for column in coded if column.n_codes == TWO]
    lines = [np.asarray(column.column) for column in coded if column.n_codes > TWO]
    # Rows of one weight (in their class) are counted in words that move with their node.
    is_counted = weights is None or weights.weight is None or weights.of_class is not None
    in_words = is_counted and not is_squares and not (multiway and lines)
    width = -(-len(two_valued) // 8) * 8 if in_words else -(-len(two_valued) // LANES) * LANES
    words = np.zeros((-(-len(two_valued) // WORD) if in_words else 0, n), np.uint64)
    bits = np.zeros((0 if in_words else n, width), np.uint8)
    for p, column in enumerate(two_valued):
        if in_words:
            presort.pack(np.asarray(column.column).astype(np.uint8), p % WORD, words[p // WORD])
        else:
            bits[:, p] = column.column
    by_class = target.astype(np.uint16 if len(target) == 0 or target.max() < 2**16 else np.int32)
    rows = np.argsort(by_class, kind="stable").astype(np.uint64)
    for line in words:
        line[:] = line[rows]
    rows = (rows << np.uint64(shift)) | (target[rows].astype(np.uint64) << np.uint64(1))
    return parts.Codes(
        _stacked(lines, n, np.uint16 if most <= 2**16 else np.uint32),
        bits.ravel(),
        words,
        width,
        np.array([column.n_codes for column in coded], np.int64),
        np.array([column.is_nominal for column in coded], np.bool_),
        rows.astype(entry),
    )


def _weights(
    weight: Array | None, missing: list[Array | None], target: Array, n_classes: int, by_weight: bool
) -> parts.Weights | None:
    """Weights and missing values; `n_classes` is 0 of numbers."""
    has_missing = [line for line in missing if line is not None]
    if weight is None and not has_missing:
        return None
    line = np.cumsum([column is not None for column in missing], dtype=np.int64) - 1
    line[[column is None for column in missing]] = -1
    return parts.Weights(
        None if weight is None else np.array(weight, np.float64),
        None if weight is None or n_classes == 0 else _of_class(weight, target, n_classes),
        by_weight or _size(weight) is not None,
        _stacked(has_missing, len(target), np.bool_),
        line,
    )


def _of_class(weight: Array, target: Array, n_classes: int) -> Array | None:
    """What every row of a class weighs, where they all weigh the same."""
    factor = np.zeros(n_classes)
    factor[target] = weight
    return np.where(factor > 0, factor, 1.0) if (factor[target] == weight).all() else None


def _size(weight: Array | None) -> Array | None:
    """What limits and bins count: whole weights are repetitions; with others rows count (None)."""
    return weight if weight is not None and (weight == np.rint(weight)).all() else None
