"""Sort the numeric columns of a table, once, before growing.

Each column with more than two values becomes a list with one entry per row, in the order of the values;
`_kernels/presort.py` describes an entry. Binning changes this: the entries are then in the order of the bins, or, if
the kernels count rows by code, the column becomes an array with one code per row instead of a list. Two-valued columns
are not sorted: this module finds them, and `prepared_columns.py` packs them. Constant columns are left out.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._kernels import packing, presort
from .._utils.arrays import Array
from ..data.table import Table

N_VALUES_OF_PAIR = 2  # Number of values of a two-valued column.
# A block of columns of a matrix is copied at a time. A block has at most this many bytes per row, half a cache line, so
# that the copy takes less memory than the sorted lists.
MAX_BLOCK_BYTES_PER_ROW = 32
# If a table has few rows, a block has more columns, so that it has at least about this many values.
MIN_BLOCK_VALUES = 1 << 15
KIND_OTHER, KIND_TWO_VALUED = 0, 2  # Two of the kinds of columns that `packing.find_two_valued` returns.


class RowLabels(NamedTuple):
    """The class of each row, and how an entry of a list packs the number and the class of a row.

    Parameters
    ----------
    classes : array of int32
    shift : int
        Number of low bits that hold the class and one flag; the bits above hold the row.
    entry_type : type
        uint32 if row and class fit, else uint64.
    """

    classes: Array
    shift: int
    entry_type: Any


def label_rows(classes: Array, n_classes: int) -> RowLabels:
    """Return the row labels from the class of each row and the number of classes."""
    shift = max(1, (n_classes - 1).bit_length()) + 1
    row_bits = max(1, (len(classes) - 1).bit_length())
    return RowLabels(classes, shift, np.uint32 if shift + row_bits <= 32 else np.uint64)


@dataclass(frozen=True)
class ColumnValues:
    """The values behind the codes of a binned or two-valued column.

    Parameters
    ----------
    low, high : array
        Lowest and highest value of each code.
    codes : array, optional
        Code of each row; a row with a missing value may have any code. None if only the kernels have the codes.
    is_binned : bool
        Whether a code may stand for several values.
    is_two_valued : bool
        Whether the column has two values and none is missing.
    """

    low: Array
    high: Array
    codes: Array | None = None
    is_binned: bool = False
    is_two_valued: bool = False

    @classmethod
    def of_pair(cls, low: float, high: float) -> "ColumnValues":
        """Return the values of a two-valued column."""
        pair = np.array([low, high], np.float64)
        return cls(pair, pair, is_two_valued=True)

    @cached_property
    def first_threshold(self) -> float:
        """The threshold between the first two codes."""
        return float(midpoint(self.high[0], self.low[1]))


def midpoint(low: Array, high: Array) -> Array:
    """Return a threshold t with low <= t < high: the midpoint, or `low` if no float lies between."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low / 2 + high / 2
        return np.where((low <= middle) & (middle < high), middle, low)


class SortedColumn(NamedTuple):
    """A sorted numeric column with more than two values.

    Parameters
    ----------
    feature : int
        Number of the column.
    n_present : int
        Number of rows whose value is not missing.
    is_missing : array of bool, optional
        Whether the value of each row is missing; None if no value is.
    values : ColumnValues, optional
        The values behind bins or codes.
    codes : array, optional
        Code of each row, if the kernels count the column by code and need no list.
    """

    feature: int
    n_present: int
    is_missing: Array | None
    values: ColumnValues | None = None
    codes: Array | None = None


class SortedColumns(NamedTuple):
    """The numeric columns of a table without the constant ones.

    Parameters
    ----------
    pairs : dict from int to ColumnValues
        The two-valued columns.
    columns : list of SortedColumn
        The columns with more than two values.
    entries : 2-D array
        One line of entries for each of `columns` that has no codes.
    """

    pairs: dict[int, ColumnValues]
    columns: list[SortedColumn]
    entries: Array


class Binning(NamedTuple):
    """How the values of sorted columns become bins.

    Parameters
    ----------
    max_bins : int, optional
        Columns with more values are binned; None bins no column.
    repetitions : array of float
        How often each row counts, if weights are whole numbers; empty if every row counts once.
    are_codes_counted : bool
        Whether the kernels count rows by code. Columns without missing values then get codes even if they have too few
        values for bins: each value is a code.
    """

    max_bins: int | None
    repetitions: Array
    are_codes_counted: bool


def sort_numeric_columns(table: Table, labels: RowLabels, pool: Any, binning: Binning | None = None) -> SortedColumns:
    """Return the sorted numeric columns of a table.

    Parameters
    ----------
    table : Table
    labels : RowLabels
    pool : ThreadPoolExecutor or InlinePool
        Blocks of columns are sorted in parallel.
    binning : Binning, optional
        None sorts the columns without bins.
    """
    features, pairs = _find_pairs(table)
    sorter = _ColumnSorter(table, row_major_matrix(table), labels, binning)
    n, size = table.n_rows, sorter.n_columns_per_block
    if binning is not None and binning.are_codes_counted:
        blocks = [features[first : first + size] for first in range(0, len(features), size)]
        sorted_blocks = list(pool.map(sorter.sort_or_code, blocks))
        columns = [column for block in sorted_blocks for column, _ in block]
        lines = [line for block in sorted_blocks for _, line in block if line is not None]
        sorted_blocks.clear()
        return SortedColumns(pairs, columns, stack_lines(lines, n, labels.entry_type))
    entries = np.empty((len(features), n), labels.entry_type)

    def sort_block(first: int) -> list[SortedColumn]:
        return sorter.sort(features[first : first + size], entries[first : first + size])

    sorted_columns = [column for block in pool.map(sort_block, range(0, len(features), size)) for column in block]
    return SortedColumns(pairs, sorted_columns, entries)


def row_major_matrix(table: Table) -> Array | None:
    """Return the matrix of a table if the matrix is stored row by row; otherwise None."""
    return table.matrix if table.matrix is not None and table.matrix.flags.c_contiguous else None


def stack_lines(lines: list[Array], n: int, dtype: npt.DTypeLike) -> Array:
    """Return lines of length n as one array; the memory of each line is freed as soon as it is copied."""
    stacked = np.empty((len(lines), n), dtype)
    for i in range(len(lines)):
        stacked[i] = lines[i]
        lines[i] = stacked[i, :0]
    return stacked


def _find_pairs(table: Table) -> tuple[list[int], dict[int, ColumnValues]]:
    """Return the numbers of the columns with more than two values, and the values of the two-valued columns."""
    numeric = [j for j, column in enumerate(table.schema.columns) if column.kind == "numeric"]
    matrix = row_major_matrix(table)
    if matrix is not None:
        kinds, low, high = packing.find_two_valued(matrix)
        kind_of = kinds.tolist()
        features = [j for j in numeric if kind_of[j] == KIND_OTHER]
        return features, {j: ColumnValues.of_pair(low[j], high[j]) for j in numeric if kind_of[j] == KIND_TWO_VALUED}
    features, pairs = [], {}
    for j in numeric:
        kinds, low, high = packing.find_two_valued(_as_matrix(table.columns[j]))
        if kinds[0] == KIND_OTHER:
            features.append(j)
        elif kinds[0] == KIND_TWO_VALUED:
            pairs[j] = ColumnValues.of_pair(low[0], high[0])
    return features, pairs


def _as_matrix(column: Array) -> Array:
    """Return a column as a contiguous matrix of one column."""
    matrix: Array = np.ascontiguousarray(column)[:, None]
    return matrix


class _ColumnSorter(NamedTuple):
    """Sorts blocks of columns of one table."""

    table: Table
    matrix: Array | None
    labels: RowLabels
    binning: Binning | None

    @property
    def n_columns_per_block(self) -> int:
        """Number of columns that are copied and sorted at a time."""
        if self.matrix is None:
            return 1
        return max(MAX_BLOCK_BYTES_PER_ROW // self.matrix.itemsize, MIN_BLOCK_VALUES // self.table.n_rows)

    def sort(self, features: list[int], entries: Array) -> list[SortedColumn]:
        """Return the sorted columns of these numbers, and write their entries to the lines of `entries`."""
        if self.matrix is None:
            matrix, columns = _as_matrix(self.table.columns[features[0]]), np.zeros(1, np.int64)
        else:
            matrix, columns = self.matrix, np.array(features, np.int64)
        block = np.empty((len(features), self.table.n_rows), matrix.dtype)
        labels = self.labels
        value_counts = presort.sort_columns(matrix, columns, block, labels.classes, labels.shift, entries).tolist()
        return [
            self._sorted_column(j, values, line, n_values, n_missing)
            for j, values, line, (n_values, n_missing) in zip(features, block, entries, value_counts, strict=True)
        ]

    def sort_or_code(self, features: list[int]) -> list[tuple[SortedColumn, Array | None]]:
        """Return the sorted columns of these numbers; each with its entries, or with None if the column has codes."""
        entries = np.empty((len(features), self.table.n_rows), self.labels.entry_type)
        columns = self.sort(features, entries)
        return [
            (column, line.copy() if column.codes is None else None)
            for column, line in zip(columns, entries, strict=True)
        ]

    def _sorted_column(
        self, feature: int, values: Array, entries: Array, n_values: int, n_missing: int
    ) -> SortedColumn:
        """Return one column with its bins, from its values and its sorted entries."""
        n_present = len(values) - n_missing
        if self.binning is None:
            return SortedColumn(feature, n_present, None)
        is_missing = np.isnan(values) if n_missing else None
        max_bins, repetitions, are_codes_counted = self.binning
        is_binned = max_bins is not None and n_values > max_bins
        can_be_counted = are_codes_counted and not n_missing
        if not (is_binned or can_be_counted):
            return SortedColumn(feature, n_present, is_missing)
        shift, entry_type = self.labels.shift, self.labels.entry_type
        codes = np.zeros(len(values), np.uint8 if can_be_counted else np.uint16)
        n_bins = max_bins if is_binned and max_bins is not None else 0  # 0 makes every value a bin
        ends = presort.bin_entries(entries, shift, repetitions, n_present, n_bins, codes)
        starts = np.append(0, ends[:-1])
        low, high = (values[entries[at] >> entry_type(shift)].astype(np.float64) for at in (starts, ends - 1))
        if can_be_counted and len(ends) > N_VALUES_OF_PAIR:
            return SortedColumn(feature, n_present, is_missing, ColumnValues(low, high, None, is_binned), codes)
        return SortedColumn(feature, n_present, is_missing, ColumnValues(low, high, codes, is_binned))
