"""The columns of a table as the growing kernels read them.

Numeric columns become sorted lists (`presort.py`). Nominal, two-valued and binned columns become codes. A code is a
small number, so that the codes of several columns fit in one 64-bit word per row. The words of rows of the same class
are contiguous. When growing splits a node, it partitions the words too, so that the words of each node stay contiguous.

A slot is the number of a column in the order of the kernels: first the columns with presorted lists, then the columns
of codes, and last the two-valued columns. Constant columns have no slot.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._kernels import growing, packing
from .._utils.arrays import Array, Floats
from ..data.table import Table
from ..data.weights import are_whole
from ..errors import UnsupportedError, show
from .presort import (
    N_VALUES_OF_PAIR,
    Binning,
    ColumnValues,
    RowLabels,
    label_rows,
    row_major_matrix,
    sort_numeric_columns,
    stack_lines,
)

NO_THRESHOLDS = np.zeros(0)
VECTOR_BYTES = 32  # One instruction adds this many bytes, so a line of `bit_bytes` is padded to a multiple.
COLUMNS_PER_BYTE = 8  # Bits are counted byte by byte, so the number of two-valued columns is padded to a multiple.
WORD_BITS = 64
MAX_BRANCHES = 1000  # Maximum number of children of a multiway split.
MAX_UINT16_CLASSES = 1 << 16


class ColumnOptions(NamedTuple):
    """The growing parameters on which the preparation of columns depends.

    Parameters
    ----------
    max_bins : int, optional
        Maximum number of bins of a numeric column; None for no bins.
    multiway : bool
        Whether a split of a nominal column has a child for each category.
    counts_weights : bool
        Whether the limits on the size of nodes count weights; else they count rows.
    are_codes_counted : bool
        Whether the kernels may count the rows of each bin, instead of scanning a list.
    is_regression : bool
        Whether the target is a number. The table then has one class.
    """

    max_bins: int | None
    multiway: bool
    counts_weights: bool
    are_codes_counted: bool = False
    is_regression: bool = False


class CodedColumn(NamedTuple):
    """A nominal, binned or two-valued column.

    Parameters
    ----------
    feature : int
        Number of the column.
    values : array
        Code of each row. For a two-valued column with `higher`, the value of each row.
    n_codes : int
    is_nominal : bool
    higher : float, optional
        The higher of the two values of a numeric column.
    """

    feature: int
    values: Array
    n_codes: int
    is_nominal: bool
    higher: float | None = None

    @property
    def is_two_valued(self) -> bool:
        """Whether the column has two codes."""
        return self.n_codes == N_VALUES_OF_PAIR

    def has_higher(self) -> Array:
        """Return whether each row has the higher of two values."""
        has_higher: Array = self.values if self.higher is None else self.values == self.higher
        return has_higher


@dataclass(frozen=True)
class PreparedColumns:
    """The columns of some rows as the kernels read them.

    Parameters
    ----------
    lists : PresortedLists
        Presorted lists, and the column of every slot. Growing partitions the lists in place.
    codes : PackedCodes, optional
        The columns of codes. Growing partitions them in place.
    weights : RowWeights, optional
        Weights and missing values; None if every row weighs 1 and no value is missing.
    values : dict from int to ColumnValues
        Values behind binned and two-valued columns. The table holds the values of the other numeric columns.
    """

    lists: growing.PresortedLists
    codes: growing.PackedCodes | None
    weights: growing.RowWeights | None
    values: dict[int, ColumnValues]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.lists.entries.shape[1])

    @property
    def n_lists(self) -> int:
        """Number of columns with a presorted list, which have the first slots."""
        return len(self.lists.entries)

    def n_codes(self, slot: int) -> int:
        """Return the number of codes of the column in a slot after the lists."""
        assert self.codes is not None
        return int(self.codes.n_codes[slot - self.n_lists])

    @cached_property
    def pairs(self) -> dict[int, ColumnValues]:
        """The two-valued columns, each of which has one threshold."""
        return {j: values for j, values in self.values.items() if values.is_two_valued}

    @cached_property
    def pair_thresholds(self) -> Floats:
        """The threshold of each two-valued column, by column number; NaN for other columns.

        The array ends with the last two-valued column.
        """
        if not self.pairs:
            return NO_THRESHOLDS
        thresholds = np.full(max(self.pairs) + 1, np.nan)
        thresholds[list(self.pairs)] = [values.first_threshold for values in self.pairs.values()]
        return thresholds

    def copy(self) -> "PreparedColumns":
        """Return a copy for one growth, with its own copies of the arrays that growing changes."""
        codes = self.codes
        if codes is not None:
            codes = codes._replace(
                entries=codes.entries.copy(), bit_words=codes.bit_words.copy(), code_words=codes.code_words.copy()
            )
        lists = growing.PresortedLists(self.lists.entries.copy(), self.lists.feature_of_slot, self.lists.shift)
        return PreparedColumns(lists, codes, self.weights, self.values)


def prepare_columns(table: Table, weight: Array | None, options: ColumnOptions, pool: Any) -> PreparedColumns:
    """Sort and encode the columns of a table with classes.

    Parameters
    ----------
    table : Table
        The rows. For a numeric target, all rows have class 0.
    weight : array, optional
        Weight of each row, above 0; None if every row weighs 1.
    options : ColumnOptions
    pool : ThreadPoolExecutor or InlinePool
    """
    assert table.schema.classes is not None
    check_branches(table, options.multiway)
    n_classes = len(table.schema.classes)
    labels = label_rows(table.required_target, n_classes)
    repetitions = np.array(weight) if weight is not None and are_whole(weight) else np.zeros(0)
    binning = Binning(options.max_bins, repetitions, options.are_codes_counted and weight is None)
    found = sort_numeric_columns(table, labels, pool, binning)
    listed = [column for column in found.columns if column.codes is None]
    binned = [
        CodedColumn(column.feature, column.codes, len(column.values.low), False)
        for column in found.columns
        if column.codes is not None and column.values is not None
    ]
    coded = in_slot_order([*binned, *pair_columns(table, found.pairs), *nominal_columns(table)])
    values = {column.feature: column.values for column in found.columns if column.values is not None}
    weights = row_weights(weight, [column.is_missing for column in listed], labels.classes, n_classes, options)
    return PreparedColumns(
        growing.PresortedLists(
            found.entries, slot_features([column.feature for column in listed], coded), labels.shift
        ),
        pack_codes_for(coded, labels, weights, options, row_major_matrix(table)),
        weights,
        values | found.pairs,
    )


def check_branches(table: Table, multiway: bool) -> None:
    """Raise `UnsupportedError` if a multiway split could have more children than the kernels can count."""
    for column in table.schema.columns if multiway else ():
        if column.kind == "nominal" and column.n_codes > MAX_BRANCHES:
            raise UnsupportedError(
                f"column {show(column.name)} has {column.n_codes:,} categories; a multiway split supports at most "
                f"{MAX_BRANCHES:,}; use splits='binary', or group the rare categories"
            )


def pair_columns(table: Table, pairs: dict[int, ColumnValues]) -> list[CodedColumn]:
    """Return the two-valued columns of a table, given their values."""
    return [
        CodedColumn(j, table.columns[j], N_VALUES_OF_PAIR, False, float(values.high[1])) for j, values in pairs.items()
    ]


def nominal_columns(table: Table) -> list[CodedColumn]:
    """Return the nominal columns of a table that are not constant."""
    return [
        CodedColumn(j, table.columns[j], column.n_codes, True)
        for j, column in enumerate(table.schema.columns)
        if column.kind == "nominal" and column.n_codes > 1
    ]


def in_slot_order(columns: list[CodedColumn]) -> list[CodedColumn]:
    """Return the columns in the order of their slots: two-valued columns last, and otherwise by column number."""
    return sorted(columns, key=lambda column: (column.is_two_valued, column.feature))


def slot_features(listed: list[int], coded: list[CodedColumn]) -> Array:
    """Return the column of each slot: first the columns with lists, then the coded columns."""
    return np.array(listed + [column.feature for column in coded], np.int32)


def row_weights(
    weight: Array | None,
    is_missing: list[Array | None],
    classes: Array,
    n_classes: int,
    options: ColumnOptions,
) -> growing.RowWeights | None:
    """Return the weights and the missing values of rows; None if every row weighs 1 and no value is missing.

    Parameters
    ----------
    weight : array, optional
        Weight of each row.
    is_missing : list of (array or None)
        For each column with a list, whether the value of each row is missing; None for a column without missing values.
    classes : array of int
        Class of each row.
    n_classes : int
    options : ColumnOptions
    """
    lines = [line for line in is_missing if line is not None]
    if weight is None and not lines:
        return None
    has_missing = np.array([line is not None for line in is_missing], np.bool_)
    weight_of_class = None
    if weight is not None and not options.is_regression:
        weight_of_class = _weight_of_class(weight, classes, n_classes)
    return growing.RowWeights(
        row_weight=None if weight is None else np.array(weight, np.float64),
        weight_of_class=weight_of_class,
        has_weight_limits=options.counts_weights or (weight is not None and are_whole(weight)),
        is_missing=stack_lines(lines, len(classes), np.bool_),
        missing_line=np.where(has_missing, np.cumsum(has_missing, dtype=np.int64) - 1, -1),
    )


def _weight_of_class(weight: Array, classes: Array, n_classes: int) -> Floats | None:
    """Return the weight of a row of each class, if all rows of a class have the same weight; else None."""
    of_class = np.zeros(n_classes)
    of_class[classes] = weight
    if not (of_class[classes] == weight).all():
        return None
    return np.where(of_class > 0, of_class, 1.0)


def pack_codes_for(
    coded: list[CodedColumn],
    labels: RowLabels,
    weights: growing.RowWeights | None,
    options: ColumnOptions,
    matrix: Array | None = None,
) -> growing.PackedCodes | None:
    """Return the packed coded columns; None if there are none.

    With a numeric target, rows that have weights or missing values get packed codes even if no column is coded, because
    the kernels then add up the targets of a node in the order of the packed rows.

    Parameters
    ----------
    coded : list of CodedColumn
        The columns in the order of their slots.
    labels : RowLabels
    weights : RowWeights, optional
    options : ColumnOptions
    matrix : array, optional
        The table as one array, row by row, from which the two-valued columns are packed in one pass.
    """
    if not coded and not (options.is_regression and weights is not None):
        return None
    has_bit_words = not options.is_regression and _can_use_bit_words(coded, weights, multiway=options.multiway)
    pairs = [column for column in coded if column.is_two_valued]
    multivalued = [column for column in coded if not column.is_two_valued]
    rows = _rows_by_class(labels.classes)
    words = _pack_bits(pairs, len(rows), matrix) if has_bit_words else np.zeros((0, len(rows)), np.uint64)
    codes = _pack_codes(multivalued, len(rows), max((column.n_codes for column in coded), default=N_VALUES_OF_PAIR))
    for line in (*words, *codes):
        line[:] = line[rows]
    if has_bit_words:
        line_bytes = _round_up(len(pairs), COLUMNS_PER_BYTE)
        bit_bytes = np.zeros(0, np.uint8)
    else:
        line_bytes = _round_up(len(pairs), VECTOR_BYTES)
        bit_bytes = _pair_bytes(pairs, len(rows), line_bytes)
    entries = (rows << np.uint64(labels.shift)) | (labels.classes[rows].astype(np.uint64) << np.uint64(1))
    return growing.PackedCodes(
        code_words=codes,
        bit_bytes=bit_bytes,
        bit_words=words,
        bit_line_bytes=line_bytes,
        n_codes=np.array([column.n_codes for column in coded], np.int64),
        is_nominal=np.array([column.is_nominal for column in coded], np.bool_),
        entries=entries.astype(labels.entry_type),
    )


def _can_use_bit_words(columns: list[CodedColumn], weights: growing.RowWeights | None, *, multiway: bool) -> bool:
    """Return whether the two-valued columns can be stored as bits of words, which are partitioned with their node.

    The kernels count the bits of a class at once. This needs equal weights within each class, and splits with two
    children. In all other cases, each row keeps a byte per column.
    """
    has_equal_weights = weights is None or weights.row_weight is None or weights.weight_of_class is not None
    can_have_many_children = multiway and any(not column.is_two_valued for column in columns)
    return has_equal_weights and not can_have_many_children


def _rows_by_class(classes: Array) -> Array:
    """Return the numbers of the rows, class after class."""
    is_narrow = len(classes) == 0 or classes.max() < MAX_UINT16_CLASSES
    narrow = classes.astype(np.uint16 if is_narrow else np.int32)  # Narrow numbers sort faster.
    return np.argsort(narrow, kind="stable").astype(np.uint64)


def _pack_bits(pairs: list[CodedColumn], n_rows: int, matrix: Array | None) -> Array:
    """Return a line of words per 64 two-valued columns, with a bit per column; row i of the table is word i."""
    words = np.zeros((-(-len(pairs) // WORD_BITS), n_rows), np.uint64)
    if matrix is not None:
        features = np.array([column.feature for column in pairs], np.int64)
        higher = np.array([column.higher for column in pairs], np.float64)
        packing.pack_two_valued(matrix, features, higher, words)
        return words
    for p, column in enumerate(pairs):
        packing.pack_codes(np.asarray(column.has_higher()).astype(np.uint8), p % WORD_BITS, words[p // WORD_BITS])
    return words


def _pack_codes(columns: list[CodedColumn], n_rows: int, max_codes: int) -> Array:
    """Return lines of words that hold the codes of columns with more than two values; row i of the table is word i."""
    code_bits = growing.bits_per_code(max_codes)
    n_per_word = WORD_BITS // code_bits
    words = np.zeros((-(-len(columns) // n_per_word), n_rows), np.uint64)
    for j, column in enumerate(columns):
        codes = np.asarray(column.values)
        codes = codes if codes.dtype == np.uint8 else codes.astype(np.int32, copy=False)  # The kernel reads both types.
        packing.pack_codes(codes, code_bits * (j % n_per_word), words[j // n_per_word])
    return words


def _pair_bytes(pairs: list[CodedColumn], n_rows: int, line_bytes: int) -> Array:
    """Return a byte per two-valued column, and padding, for one row of the table after the other."""
    lines = np.zeros((n_rows, line_bytes), np.uint8)
    for p, column in enumerate(pairs):
        lines[:, p] = column.has_higher()
    return lines.ravel()


def _round_up(n: int, divisor: int) -> int:
    """Return the lowest multiple of a divisor that is at least n."""
    return -(-n // divisor) * divisor


def columns_by_code(n_codes: Array, is_nominal: Array, values: dict[int, ColumnValues]) -> PreparedColumns:
    """Return columns for `assemble_tree` for a tree grown without presorted lists; the slot of a column is its number.

    `assemble_tree` reads from them the thresholds between codes. They are used by the search with lookahead, and by
    growing level by level.

    Parameters
    ----------
    n_codes : array of int64
        Number of codes of each column; only those of nominal columns are read.
    is_nominal : array of bool
        Whether each column is nominal.
    values : dict from int to ColumnValues
        The values behind the codes of each numeric column.
    """
    features = np.arange(len(n_codes), dtype=np.int32)
    codes = growing.PackedCodes(
        code_words=np.zeros((0, 0), np.uint64),
        bit_bytes=np.zeros(0, np.uint8),
        bit_words=np.zeros((0, 0), np.uint64),
        bit_line_bytes=0,
        n_codes=n_codes,
        is_nominal=is_nominal,
        entries=np.zeros(0, np.uint32),
    )
    return PreparedColumns(growing.PresortedLists(np.zeros((0, 0), np.uint32), features, 1), codes, None, values)
