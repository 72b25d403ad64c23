"""From a table to what the growing kernels read: presorted lists and columns of codes.

Every numeric column is sorted once and becomes a list of entries (of its bins, if it is
binned). A nominal or two-valued one becomes codes, and so do bins of rows of weight 1 in few
classes. Constant columns are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernels import growing, packing, presort
from .._utils.arrays import Array
from ..data.table import Table
from ..errors import UnsupportedError

LANES = 32  # bytes that one instruction adds; lines of two-valued columns are padded to it
WORD = 64  # two-valued columns in a word
TWO = 2  # values of a two-valued column
TOGETHER = 32  # bytes of a row copied at once: half a cache line, for the copies must not take more than the lists
ROWS_TOGETHER = 1 << 15  # of short columns as many as have so many rows
MOST_BRANCHES = 1000  # of a multiway test


def midpoint(low: Array, high: Array) -> Array:
    """A threshold t with low <= t < high: halfway, or `low` where halfway does not lie between."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low / 2 + high / 2
        return np.where((low <= middle) & (middle < high), middle, low)


@dataclass(frozen=True)
class Values:
    """The values behind a binned or two-valued column: lowest and highest of each code, and the code of each row."""

    low: Array
    high: Array
    codes: Any = None  # any where missing; None: the kernels hold the codes
    is_binned: bool = False  # a code stands for several values

    @cached_property
    def cut(self) -> float:
        """Where the first two are parted."""
        return float(midpoint(self.high[0], self.low[1]))


@dataclass(frozen=True)
class Coded:
    """A nominal, binned or two-valued column."""

    feature: int
    column: Array  # codes; of two values, whether it is the higher one
    n_codes: int
    is_nominal: bool
    highest: float | None = None  # `column` holds two values themselves, and this is the higher one

    def ones(self) -> Array:
        """Whether each row has the higher of two values."""
        ones: Array = self.column if self.highest is None else self.column == self.highest
        return ones

    def order(self) -> tuple[bool, int]:
        """Two-valued columns come last."""
        return self.n_codes == TWO, self.feature


@dataclass(frozen=True)
class Prepared:
    """The columns as the kernels take them, and what turns tests back into thresholds."""

    lists: growing.PresortedLists
    codes: growing.PackedCodes | None
    weights: growing.RowWeights | None
    values: dict[int, Values]  # by feature; of other numeric columns the table holds the values

    @cached_property
    def two_valued(self) -> dict[int, Values]:
        """The columns of two values, each of which has one threshold."""
        return {j: known for j, known in self.values.items() if known.codes is None and len(known.low) == TWO}

    @cached_property
    def cuts(self) -> Array:
        """That threshold by feature, as far as there are any; NaN of the others."""
        cuts = np.full(max(self.two_valued, default=-1) + 1, np.nan)
        cuts[list(self.two_valued)] = [known.cut for known in self.two_valued.values()]
        return cuts


def rows_used(table: Table, weight: Array | None) -> tuple[Table, Array | None]:
    """Drop rows of weight 0: they must have no influence at all."""
    if weight is None or (weight > 0).all():
        return table, weight
    used = np.flatnonzero(weight > 0)
    return table.take(used), weight[used]


def prepare(
    table: Table,
    weight: Array | None,
    *,
    max_bins: int | None,
    multiway: bool,
    pool: Any,
    by_weight: bool = False,
    is_squares: bool = False,
    in_codes: bool = False,
) -> Prepared:
    """Sort and code the columns of a table that has a target, the class of each row.

    `is_squares`: its numbers go their own way, and all rows are of one class. `in_codes`: bins may be
    counted by their codes.
    """
    target, classes, n = table.required_target, table.schema.classes, table.n_rows
    assert classes is not None
    shift, entry = layout_of(n, len(classes))
    size = _size(weight)
    repetitions = np.zeros(0) if size is None else np.array(size)
    in_codes = in_codes and weight is None

    def finish(column: Array, entries: Array, n_values: int, n_missing: int) -> tuple[Values | None, Any, Any]:
        """(values behind codes, which are missing, code of each row if it counts by codes) of a sorted column."""
        is_missing = np.isnan(column) if n_missing else None
        is_coded = in_codes and not n_missing
        is_binned = max_bins is not None and n_values > max_bins
        if not (is_coded or is_binned):
            return None, is_missing, None
        codes = np.zeros(n, np.uint8 if is_coded else np.uint16)
        ends = presort.bin_entries(entries, shift, repetitions, n - n_missing, max_bins or 0 if is_binned else 0, codes)
        first = np.append(0, ends[:-1])
        low, high = (column[entries[at] >> entry(shift)].astype(np.float64) for at in (first, ends - 1))
        is_coded = is_coded and len(ends) > TWO
        return Values(low, high, None if is_coded else codes, is_binned), is_missing, codes if is_coded else None

    found = sorted_columns(table, shift, entry, pool, finish, (lambda said: said[2] is None) if in_codes else None)
    said = dict(zip(found.listed, found.about, strict=True))
    values = {j: known for j, (known, _, _) in said.items() if known is not None}
    coded = [Coded(j, codes, len(known.low), False) for j, (known, _, codes) in said.items() if codes is not None]
    listed = [j for j, (_, _, codes) in said.items() if codes is None]
    missing = [said[j][1] for j in listed]
    values |= {j: Values(two, two) for j, two in found.two_valued.items()}
    coded += found.coded(table)
    check_branches(table, multiway)
    coded += nominal_of(table)
    coded.sort(key=Coded.order)
    feature = np.array(listed + [column.feature for column in coded], np.int32)
    lists = growing.PresortedLists(found.lists, feature, shift)
    weights = weights_of(weight, missing, target, 0 if is_squares else len(classes), by_weight)
    codes = codes_of(coded, target, shift, entry, weights, multiway, is_squares, _row_major(table))
    return Prepared(lists, codes, weights, values)


def layout_of(n_rows: int, n_classes: int) -> tuple[int, Any]:
    """By how many bits the row of an entry is shifted, and the type of the entries."""
    shift = max(1, (n_classes - 1).bit_length()) + 1
    return shift, np.uint32 if shift + max(1, (n_rows - 1).bit_length()) <= 32 else np.uint64


def nominal_of(table: Table) -> list[Coded]:
    """The nominal columns that are not constant."""
    return [
        Coded(j, table.columns[j], about.n_codes, True)
        for j, about in enumerate(table.schema.columns)
        if about.kind == "nominal" and about.n_codes > 1
    ]


def check_branches(table: Table, multiway: bool) -> None:
    """Refuse a multiway test with more children than the kernels count."""
    for about in table.schema.columns if multiway else ():
        if about.kind == "nominal" and about.n_codes > MOST_BRANCHES:
            raise UnsupportedError(
                f"column {about.name!r} has {about.n_codes:,} categories; a multiway test takes at most "
                f"{MOST_BRANCHES:,}; use splits='binary', or group the rare categories"
            )


@dataclass(frozen=True)
class Sorted:
    """The numeric columns of a table, constant ones left out."""

    two_valued: dict[int, Array]  # by column: the two
    listed: list[int]  # the others
    lists: Array  # their entries, a line each
    about: list[Any]  # what `finish` said of them

    def coded(self, table: Table) -> list[Coded]:
        """The columns of two values."""
        return [Coded(j, table.columns[j], TWO, False, float(two[1])) for j, two in self.two_valued.items()]


def sorted_columns(
    table: Table,
    shift: int,
    entry: Any,
    pool: Any,
    finish: Callable[[Array, Array, int, int], Any],
    keeps: Callable[[Any], bool] | None = None,
) -> Sorted:
    """Sort the numeric columns; `finish` gets (values, entries, different values, missing values) of each.

    Entries are let go of columns for which `keeps`, given what `finish` said, is False.
    """
    n, target = table.n_rows, table.required_target
    numeric = [j for j, column in enumerate(table.schema.columns) if column.kind == "numeric"]
    matrix = _row_major(table)
    if matrix is not None:
        kinds, low, high = packing.find_two_valued(matrix)
    else:
        each = [packing.find_two_valued(_as_matrix(table, j)) for j in numeric]
        kinds, low, high = np.zeros(table.n_columns, np.uint8), np.zeros(table.n_columns), np.zeros(table.n_columns)
        for j, about in zip(numeric, each, strict=True):
            kinds[j], low[j], high[j] = (array[0] for array in about)
    listed = [j for j in numeric if kinds[j] == 0]
    lists = np.empty((len(listed) if keeps is None else 0, n), entry)
    together = 1 if matrix is None else max(TOGETHER // matrix.itemsize, ROWS_TOGETHER // n)

    def sort_some(first: int) -> list[Any]:
        some = np.array(listed[first : first + together], np.int64)
        given = _as_matrix(table, listed[first]) if matrix is None else matrix
        block = np.empty((len(some), n), given.dtype)
        entries = lists[first : first + together] if keeps is None else np.empty((len(some), n), entry)
        columns = np.zeros(1, np.int64) if matrix is None else some
        about = presort.sort_columns(given, columns, block, target, shift, entries).tolist()
        said = [finish(*line) for line in zip(block, entries, *zip(*about, strict=True), strict=True)]
        return [
            (one, None if keeps is None or not keeps(one) else line.copy())
            for one, line in zip(said, entries, strict=True)
        ]

    done = [both for some in pool.map(sort_some, range(0, len(listed), together)) for both in some]
    if keeps is not None:
        lists = stacked([line for _, line in done if line is not None], n, entry)
    return Sorted(
        {j: np.array([low[j], high[j]]) for j in numeric if kinds[j] == TWO}, listed, lists, [one for one, _ in done]
    )


def _row_major(table: Table) -> Array | None:
    """The table as one array, a row after the other, where it is so."""
    return table.matrix if table.matrix is not None and table.matrix.flags.c_contiguous else None


def _as_matrix(table: Table, j: int) -> Array:
    """A column as an array of rows of one number."""
    column: Array = np.ascontiguousarray(table.columns[j])[:, None]
    return column


def stacked(lines: list[Array], n: int, dtype: npt.DTypeLike) -> Array:
    """Lines of one array; each is let go as soon as it is copied."""
    stacked = np.empty((len(lines), n), dtype)
    for i in range(len(lines)):
        stacked[i] = lines[i]
        lines[i] = stacked[i, :0]
    return stacked


def codes_of(
    coded: list[Coded],
    target: Array,
    shift: int,
    entry: Any,
    weights: growing.RowWeights | None,
    multiway: bool,
    is_squares: bool = False,
    matrix: Array | None = None,
) -> growing.PackedCodes | None:
    """The coded columns, two-valued ones last; None where there are none (and sums need no rows of their own)."""
    if not coded and (not is_squares or weights is None):
        return None
    n = len(target)
    most = max((column.n_codes for column in coded), default=TWO)
    two_valued = [column for column in coded if column.n_codes == TWO]
    lines = [np.asarray(column.column) for column in coded if column.n_codes > TWO]
    # Rows of one weight (in their class) are counted in words that move with their node.
    is_counted = weights is None or weights.row_weight is None or weights.weight_of_class is not None
    in_words = is_counted and not is_squares and not (multiway and lines)
    width = -(-len(two_valued) // 8) * 8 if in_words else -(-len(two_valued) // LANES) * LANES
    words = np.zeros((-(-len(two_valued) // WORD) if in_words else 0, n), np.uint64)
    bits = np.zeros((0 if in_words else n, width), np.uint8)
    if matrix is not None and in_words:  # at once, from the rows as they came
        columns = np.array([column.feature for column in two_valued], np.int64)
        highest = np.array([column.highest for column in two_valued], np.float64)
        packing.pack_two_valued(matrix, columns, highest, words)
        two_valued = []
    for p, column in enumerate(two_valued):
        if in_words:
            packing.pack_codes(np.asarray(column.ones()).astype(np.uint8), p % WORD, words[p // WORD])
        else:
            bits[:, p] = column.ones()
    by_class = target.astype(np.uint16 if len(target) == 0 or target.max() < 2**16 else np.int32)
    rows = np.argsort(by_class, kind="stable").astype(np.uint64)
    code_bits = growing.bits_per_code(most)
    per_word = WORD // code_bits
    codes = np.zeros((-(-len(lines) // per_word), n), np.uint64)
    for j, code in enumerate(lines):
        narrow = code if code.dtype == np.uint8 else code.astype(np.int32, copy=False)  # the kernel takes these two
        packing.pack_codes(narrow, code_bits * (j % per_word), codes[j // per_word])
    for line in (*words, *codes):
        line[:] = line[rows]
    rows = (rows << np.uint64(shift)) | (target[rows].astype(np.uint64) << np.uint64(1))
    return growing.PackedCodes(
        codes,
        bits.ravel(),
        words,
        width,
        np.array([column.n_codes for column in coded], np.int64),
        np.array([column.is_nominal for column in coded], np.bool_),
        rows.astype(entry),
    )


def weights_of(
    weight: Array | None, missing: list[Array | None], target: Array, n_classes: int, by_weight: bool
) -> growing.RowWeights | None:
    """Weights and missing values; `n_classes` is 0 of numbers."""
    has_missing = [line for line in missing if line is not None]
    if weight is None and not has_missing:
        return None
    line = np.cumsum([column is not None for column in missing], dtype=np.int64) - 1
    line[[column is None for column in missing]] = -1
    return growing.RowWeights(
        None if weight is None else np.array(weight, np.float64),
        None if weight is None or n_classes == 0 else _of_class(weight, target, n_classes),
        by_weight or _size(weight) is not None,
        stacked(has_missing, len(target), np.bool_),
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
