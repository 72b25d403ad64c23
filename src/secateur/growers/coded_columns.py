"""Pack the columns of codes: nominal, two-valued and binned columns.

A code is a small number, so that the codes of several columns fit in one 64-bit word per row. The words are ordered
class after class. When growing splits a node, it partitions the words too, so that those of a node stay contiguous.
"""

from typing import NamedTuple

import numpy as np

from .._kernels import growing, packing
from .._utils.arrays import Array
from ..data.table import Table
from ..errors import UnsupportedError
from .presort import N_VALUES_OF_PAIR, RowLabels

VECTOR_BYTES = 32  # One instruction adds this many bytes: the bytes of two-valued columns are padded to a multiple.
BYTE_COLUMNS = 8  # Bits are counted for this many columns at the same time.
WORD_BITS = 64
MAX_BRANCHES = 1000  # Children of a multiway split.
MAX_UINT16_CLASSES = 1 << 16


class CodedColumn(NamedTuple):
    """A nominal, binned or two-valued column.

    Parameters
    ----------
    feature : int
        Number of the column.
    values : array
        Code of each row. For a two-valued column, whether the row has the higher value; or the values themselves, if
        `higher` is given.
    n_codes : int
    is_nominal : bool
    higher : float, optional
        The higher one of the two values that `values` holds.
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


def in_slot_order(columns: list[CodedColumn]) -> list[CodedColumn]:
    """Return the columns in the order of their slots: by column number, but all two-valued columns last."""
    return sorted(columns, key=lambda column: (column.is_two_valued, column.feature))


def nominal_columns(table: Table) -> list[CodedColumn]:
    """Return the nominal columns of a table that are not constant."""
    return [
        CodedColumn(j, table.columns[j], column.n_codes, True)
        for j, column in enumerate(table.schema.columns)
        if column.kind == "nominal" and column.n_codes > 1
    ]


def check_branches(table: Table, multiway: bool) -> None:
    """Raise `UnsupportedError` if a multiway split could have more children than the kernels can count."""
    for column in table.schema.columns if multiway else ():
        if column.kind == "nominal" and column.n_codes > MAX_BRANCHES:
            raise UnsupportedError(
                f"column {column.name!r} has {column.n_codes:,} categories; a multiway split supports at most "
                f"{MAX_BRANCHES:,}; use splits='binary', or group the rare categories"
            )


def can_use_bit_words(columns: list[CodedColumn], weights: growing.RowWeights | None, *, multiway: bool) -> bool:
    """Return whether the two-valued columns can be stored as bits of words, which are partitioned with their node.

    The kernels count the bits of a class at once. This needs equal weights within each class, and splits with two
    children. In all other cases, each row keeps a byte per column.
    """
    has_equal_weights = weights is None or weights.row_weight is None or weights.weight_of_class is not None
    can_have_many_children = multiway and any(not column.is_two_valued for column in columns)
    return has_equal_weights and not can_have_many_children


def pack_coded_columns(
    columns: list[CodedColumn], labels: RowLabels, *, has_bit_words: bool, matrix: Array | None = None
) -> growing.PackedCodes:
    """Return the coded columns as the kernels read them.

    Parameters
    ----------
    columns : list of CodedColumn
        The columns in the order of their slots.
    labels : RowLabels
    has_bit_words : bool
        Whether two-valued columns become bits of words; see `can_use_bit_words`. If not, they become bytes.
    matrix : array, optional
        The table as one array, row by row, from which the two-valued columns are packed in one pass.
    """
    pairs = [column for column in columns if column.is_two_valued]
    multivalued = [column for column in columns if not column.is_two_valued]
    rows = _rows_by_class(labels.classes)
    words = _pack_bits(pairs, len(rows), matrix) if has_bit_words else np.zeros((0, len(rows)), np.uint64)
    codes = _pack_codes(multivalued, len(rows), _max_codes(columns))
    for line in (*words, *codes):
        line[:] = line[rows]
    if has_bit_words:
        line_bytes = _round_up(len(pairs), BYTE_COLUMNS)
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
        n_codes=np.array([column.n_codes for column in columns], np.int64),
        is_nominal=np.array([column.is_nominal for column in columns], np.bool_),
        entries=entries.astype(labels.entry_type),
    )


def _round_up(n: int, divisor: int) -> int:
    """Return the lowest multiple of a divisor that is at least n."""
    return -(-n // divisor) * divisor


def _rows_by_class(classes: Array) -> Array:
    """Return the numbers of the rows, class after class."""
    is_narrow = len(classes) == 0 or classes.max() < MAX_UINT16_CLASSES
    narrow = classes.astype(np.uint16 if is_narrow else np.int32)  # Narrow numbers sort faster.
    return np.argsort(narrow, kind="stable").astype(np.uint64)


def _max_codes(columns: list[CodedColumn]) -> int:
    return max((column.n_codes for column in columns), default=N_VALUES_OF_PAIR)


def _pack_bits(pairs: list[CodedColumn], n_rows: int, matrix: Array | None) -> Array:
    """Return a line of words per 64 two-valued columns, with a bit per column, in the order of the table."""
    words = np.zeros((-(-len(pairs) // WORD_BITS), n_rows), np.uint64)
    if matrix is not None:
        features = np.array([column.feature for column in pairs], np.int64)
        higher = np.array([column.higher for column in pairs], np.float64)
        packing.pack_two_valued(matrix, features, higher, words)
        return words
    for p, column in enumerate(pairs):
        packing.pack_codes(np.asarray(column.has_higher()).astype(np.uint8), p % WORD_BITS, words[p // WORD_BITS])
    return words


def _pair_bytes(pairs: list[CodedColumn], n_rows: int, line_bytes: int) -> Array:
    """Return a byte per two-valued column and padding, row after row, in the order of the table."""
    lines = np.zeros((n_rows, line_bytes), np.uint8)
    for p, column in enumerate(pairs):
        lines[:, p] = column.has_higher()
    return lines.ravel()


def _pack_codes(columns: list[CodedColumn], n_rows: int, max_codes: int) -> Array:
    """Return lines of words that hold the codes of columns with more than two values, in the order of the table."""
    code_bits = growing.bits_per_code(max_codes)
    n_per_word = WORD_BITS // code_bits
    words = np.zeros((-(-len(columns) // n_per_word), n_rows), np.uint64)
    for j, column in enumerate(columns):
        codes = np.asarray(column.values)
        codes = codes if codes.dtype == np.uint8 else codes.astype(np.int32, copy=False)  # The kernel reads both types.
        packing.pack_codes(codes, code_bits * (j % n_per_word), words[j // n_per_word])
    return words
