"""A table that is sorted once, so that many trees can be grown on subsets of its rows.

The sorted lists of a subset are made in one pass: the rows that do not belong to the subset are left out of the lists
of all rows. Nothing is sorted again. The tree of a subset is exactly the tree that `grow` returns for its rows.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._kernels import folds, growing
from .._utils.arrays import Array, write_protect
from .._utils.threads import InlinePool
from ..data.table import BLOCK_ROWS, Table, iter_blocks
from .coded_columns import CodedColumn, check_branches, in_slot_order, nominal_columns
from .kernel_arguments import scale_weights
from .prepared_columns import (
    ColumnOptions,
    PreparedColumns,
    pack_codes_for,
    pair_columns,
    row_weights,
    slot_features,
)
from .presort import N_VALUES_OF_PAIR, ColumnValues, RowLabels, label_rows, sort_numeric_columns
from .training_subset import TrainingSubset
from .validation_rows import ValidationRows

MAX_MATRIX_CELLS = 1 << 20  # A table with at most this number of cells is copied into one matrix.
PLAIN_COLUMNS = ColumnOptions(max_bins=None, multiway=False, counts_weights=False)


@dataclass(frozen=True)
class PresortedData:
    """A table with a target, ready to grow trees on any subset of its rows. `PresortedData.of` makes it from a table.

    Parameters
    ----------
    table : Table
    weight : array, optional
        Weight of each row, 0 or more. Rows of weight 0 belong to no subset.
    lists : array, optional
        Sorted entries of the numeric columns with more than two values, one line per column. None if every subset
        sorts its own rows.
    n_present : array of int
        Number of rows of each list whose value is not missing.
    listed : tuple of int
        Column number of each list.
    pairs : dict from int to ColumnValues
        The values of each two-valued column, by column number.
    nominal : tuple of CodedColumn
        The nominal columns.
    codes : PackedCodes, optional
        The nominal and two-valued columns as packed words. None if the rows have weights.
    numbers : array, optional
        The columns of a small table as one matrix, with categories as their codes. None if the table is large or
        stores a matrix itself.
    """

    table: Table
    weight: Array | None = None
    lists: Array | None = None
    n_present: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    listed: tuple[int, ...] = ()
    pairs: dict[int, ColumnValues] = field(default_factory=dict)
    nominal: tuple[CodedColumn, ...] = ()
    codes: growing.PackedCodes | None = None
    numbers: Array | None = None

    @classmethod
    def of(cls, table: Table, weight: Array | None = None) -> "PresortedData":
        """Return the presorted data of a table and its row weights: numeric columns sorted, other columns packed.

        Nothing is sorted if the target is numeric: growing then orders rows by their targets too, and every subset
        sorts its own rows.
        """
        if table.schema.classes is None:
            return cls(table, weight)
        labels = label_rows(table.required_target, len(table.schema.classes))
        found = sort_numeric_columns(table, labels, InlinePool())
        nominal = tuple(nominal_columns(table))
        coded = in_slot_order([*nominal, *pair_columns(table, found.pairs)])
        return cls(
            table,
            weight,
            found.entries,
            np.array([column.n_present for column in found.columns], np.int64),
            tuple(column.feature for column in found.columns),
            found.pairs,
            nominal,
            pack_codes_for(coded, labels, None, PLAIN_COLUMNS) if weight is None else None,
            _small_matrix(table),
        )

    def subset(self, rows: Array) -> TrainingSubset:
        """Return the training subset of the rows with these ascending numbers; rows of weight 0 are left out."""
        table, weight = self.table, self.weight
        if weight is not None:
            rows = rows[weight[rows] > 0]
            weight = weight[rows]
        return TrainingSubset(self, rows, table.required_target[rows], *scale_weights(weight))

    def all_rows(self) -> TrainingSubset:
        """Return all rows as a subset, which sorts its columns at every growth. All weights must be above 0."""
        return TrainingSubset(self, None, self.table.required_target, *scale_weights(self.weight))

    def validation_rows(self, rows: Array) -> ValidationRows:
        """Return the rows with these numbers, for the evaluation of trees that are grown on other rows."""
        weight = None if self.weight is None else self.weight[rows]
        numbers = None if self.numbers is None else self.numbers[rows]
        return ValidationRows(self.table, rows, self.table.required_target[rows], weight, numbers)

    def filter_columns(
        self, rows: Array, classes: Array, weight: Array | None, options: ColumnOptions
    ) -> PreparedColumns:
        """Return the prepared columns of a subset, made from the presorted lists of all rows. No column is binned.

        Parameters
        ----------
        rows : array of int
            Ascending numbers of the rows.
        classes : array of int
            Class of each row of the subset.
        weight : array, optional
            Weight of each row of the subset, above 0.
        options : ColumnOptions
        """
        table = self.table
        assert self.lists is not None
        assert table.schema.classes is not None
        check_branches(table, options.multiway)
        labels = label_rows(classes, len(table.schema.classes))
        new_row = np.full(table.n_rows, -1, np.int32)
        new_row[rows] = np.arange(len(rows), dtype=np.int32)
        filtered = self._filter_lists(new_row, labels)
        missing = [
            np.isnan(table.columns[j][rows]) if n_missing else None
            for j, n_missing in zip(filtered.features, filtered.n_missing, strict=True)
        ]
        weights = row_weights(weight, missing, classes, len(table.schema.classes), options)
        pairs, coded = self._pairs_of(rows, filtered.new_pairs)
        if self.codes is not None and not options.multiway and pairs.keys() == self.pairs.keys():
            codes: growing.PackedCodes | None = _filter_codes(self.codes, new_row, labels)
        else:
            coded_here = [column._replace(values=column.values[rows]) for column in coded]
            codes = pack_codes_for(coded_here, labels, weights, options)
        lists = growing.PresortedLists(filtered.entries, slot_features(filtered.features, coded), labels.shift)
        return PreparedColumns(lists, codes, weights, pairs)

    def _filter_lists(self, new_row: Array, labels: RowLabels) -> "_FilteredLists":
        """Return the lists of a subset, and the columns with more than two values of which two are in the subset.

        Parameters
        ----------
        new_row : array of int32
            Number in the subset of each row of the table; -1 for rows outside.
        labels : RowLabels
            Labels of the rows of the subset.
        """
        assert self.lists is not None
        entries = np.empty((len(self.lists), len(labels.classes)), labels.entry_type)
        n_values, n_missing = folds.filter_lists(self.lists, new_row, labels.shift, self.n_present, entries)
        is_listed = (n_values > N_VALUES_OF_PAIR) | ((n_missing > 0) & (n_values > 0))
        kept = np.flatnonzero(is_listed)
        listed = np.array(self.listed, np.int64)
        return _FilteredLists(
            entries if len(kept) == len(entries) else entries[kept],
            listed[kept].tolist(),
            n_missing[kept].tolist(),
            listed[~is_listed & (n_values == N_VALUES_OF_PAIR)].tolist(),
        )

    def _pairs_of(self, rows: Array, new_pairs: list[int]) -> tuple[dict[int, ColumnValues], list[CodedColumn]]:
        """Return the columns that have two values in a subset, and all coded columns in slot order."""
        pairs: dict[int, ColumnValues] = {}
        coded = list(self.nominal)
        for j in (*self.pairs, *new_pairs):
            column = self.table.columns[j]
            low, high = column[rows].min(), column[rows].max()
            if low < high:
                pairs[j] = self.pairs.get(j) or ColumnValues.of_pair(np.array([low, high], np.float64))
                coded.append(CodedColumn(j, column, N_VALUES_OF_PAIR, False, high))
        return pairs, in_slot_order(coded)


class _FilteredLists(NamedTuple):
    """Presorted lists of a subset.

    Parameters
    ----------
    entries : 2-D array
        Lists of the columns that have more than two values, or values and missing values, in the subset.
    features : list of int
        Column number of each list.
    n_missing : list of int
        Number of missing values in each list.
    new_pairs : list of int
        Columns that have two values in the subset, none of them missing, and more values in the table.
    """

    entries: Array
    features: list[int]
    n_missing: list[int]
    new_pairs: list[int]


def drop_weightless_rows(table: Table, weight: Array | None) -> tuple[Table, Array | None]:
    """Return the table and the weights without the rows of weight 0, which must have no influence on the tree."""
    if weight is None or (weight > 0).all():
        return table, weight
    kept = np.flatnonzero(weight > 0)
    return table.take(kept), weight[kept]


def _filter_codes(codes: growing.PackedCodes, new_row: Array, labels: RowLabels) -> growing.PackedCodes:
    """Return the packed columns of a subset, whose rows stay in their order.

    `new_row` is the number in the subset of each row of the table; -1 for rows outside. `labels` are those of the
    subset.
    """
    shift, entry_type = labels.shift, labels.entry_type
    old_type: Any = codes.entries.dtype.type
    number = new_row[codes.entries >> old_type(shift)]
    kept = np.flatnonzero(number >= 0)
    class_bits = (codes.entries[kept] & old_type((1 << shift) - 1)).astype(entry_type)
    return codes._replace(
        code_words=codes.code_words.take(kept, axis=1),
        bit_words=codes.bit_words.take(kept, axis=1),
        entries=(number[kept].astype(entry_type) << entry_type(shift)) | class_bits,
    )


def _small_matrix(table: Table) -> Array | None:
    """Return the columns of a small table as one matrix, for fast look-ups by many small trees; None if not small."""
    n_cells = table.n_rows * table.n_columns
    if table.matrix is not None or table.n_rows > BLOCK_ROWS or n_cells > MAX_MATRIX_CELLS:
        return None
    return write_protect(next(iter_blocks(table, np.arange(table.n_columns), None)))
