"""A table that is sorted once, so that many trees can be grown on subsets of its rows.

`PresortedData` holds the sorted lists of all rows. The lists of a `TrainingSubset` are made in one pass: the rows that
do not belong to the subset are left out of the lists of all rows. Nothing is sorted again. The tree of a subset is
exactly the tree that `grow` returns for its rows.

For a numeric target nothing is sorted beforehand. The rows of each subset are put in the order of their targets, and
every sorted list is then in the order of value and target. Targets are therefore added up in an order that does not
depend on the order of the rows, and the same rows in any order give the same tree to the last bit.
"""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._kernels import folds, growing
from .._kernels.criteria import CriterionSpec
from .._utils.arrays import Array, Floats, write_protect
from .._utils.threads import InlinePool, StoppableThreadPool
from ..core import Counts, Moments, Tree
from ..data.table import BLOCK_ROWS, Table, iter_blocks
from ..data.weights import WeightedRows, are_whole, round_for_exact_sums
from ..errors import DataError
from ..routing import moments_of, with_growing_rows
from .grower import ONE_WORKER, GrowTarget, PreparedRows, Workers, class_target, grow_tree
from .interaction import column_groups
from .monotone import column_signs, limit_estimates
from .parameters import GrowParameters, can_count_bins, kernel_criterion, limits_of, limits_with_min_weight
from .prepared_columns import (
    CodedColumn,
    ColumnOptions,
    PreparedColumns,
    check_branches,
    in_slot_order,
    nominal_columns,
    pack_codes_for,
    pair_columns,
    prepare_columns,
    row_weights,
    slot_features,
)
from .presort import N_VALUES_OF_PAIR, ColumnValues, RowLabels, label_rows, sort_numeric_columns
from .tree_tables import AssemblyOptions, RowValues

if TYPE_CHECKING:
    from .by_hand import HandGrowth
    from .subtree import SubtreeStart

MAX_MATRIX_CELLS = 1 << 20  # A table with at most this number of cells is copied into one matrix.
PLAIN_COLUMNS = ColumnOptions(max_bins=None, multiway=False, counts_weights=False)
MIN_TARGET_RANGE = 1e-60  # Its fourth power, times a small weight, is still a float with all its digits.


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
    by_hand : HandGrowth, optional
        The tree of all rows, if it was grown by hand, and what was stated for it.
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
    by_hand: "HandGrowth | None" = None

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

    def subset(self, rows: Array) -> "TrainingSubset":
        """Return the training subset of the rows with these ascending numbers; rows of weight 0 are left out."""
        table, weight = self.table, self.weight
        if weight is not None:
            rows = rows[weight[rows] > 0]
            weight = weight[rows]
        return TrainingSubset(self, rows, table.required_target[rows], *scale_weights(weight))

    def all_rows(self) -> "TrainingSubset":
        """Return all rows as a subset, which sorts its columns at every growth. All weights must be above 0."""
        return TrainingSubset(self, None, self.table.required_target, *scale_weights(self.weight))

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
                pairs[j] = self.pairs.get(j) or ColumnValues.of_pair(low, high)
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


class ScaledWeights(NamedTuple):
    """Row weights in the scale in which the kernels add them up.

    Parameters
    ----------
    weight : array, optional
        Weight of each row divided by `2**exponent`; None is 1 each.
    is_whole : bool
        Whether all weights are whole numbers.
    exponent : int
        0 for whole weights.
    """

    weight: Array | None
    is_whole: bool
    exponent: int


def scale_weights(weight: Array | None) -> ScaledWeights:
    """Return weights whose sums are exact, scaled so that products of weights stay in the range of doubles."""
    if weight is None or (weight == 1).all():
        return ScaledWeights(None, True, 0)
    weight = round_for_exact_sums(weight)
    if are_whole(weight):
        return ScaledWeights(weight, True, 0)
    exponent = int(np.frexp(weight.sum())[1])
    return ScaledWeights(np.ldexp(weight, -exponent), False, exponent)


@dataclass(frozen=True)
class TrainingSubset:
    """Rows of presorted data to grow trees on.

    Trees grown on the same subset share the prepared columns, the class weights and the criteria.

    Parameters
    ----------
    data : PresortedData
    rows : array of int, optional
        Ascending numbers of the rows; None for all rows.
    target : array
        Class or number of each row.
    weight : array, optional
        Weights of the rows divided by `2**exponent`, above 0; None if every row weighs 1.
    is_whole : bool
        Whether the weights are whole numbers.
    exponent : int
        Binary exponent by which the weights were scaled; 0 for whole weights.
    """

    data: "PresortedData"
    rows: Array | None
    target: Array
    weight: Array | None
    is_whole: bool
    exponent: int
    _columns: dict[ColumnOptions, PreparedColumns] = field(default_factory=dict, repr=False)
    _criteria: dict[str, CriterionSpec] = field(default_factory=dict, repr=False)

    def grow(
        self,
        parameters: GrowParameters,
        *,
        has_rounded: bool = True,
        workers: Workers = ONE_WORKER,
        start: "SubtreeStart | None" = None,
    ) -> tuple[Tree, Counts | Moments]:
        """Return the tree grown on these rows and its counts or moments, without the warnings of `grow`.

        Parameters
        ----------
        parameters : GrowParameters
        has_rounded : bool
            Whether the tree has rounded thresholds. The trees of cross-validation do not need them.
        workers : Workers
        start : SubtreeStart, optional
            What the tests above a node decide, if the rows are those of one node and its subtree is grown.
        """
        limits, counts_weights = self._limits(parameters)
        if start is not None:
            limits = start.narrow(limits, self.data.table.n_columns)
        root_limits = limits.root_limits  # in units of the target; the kernels scale a numeric target
        classes = self.data.table.schema.classes
        is_regression = classes is None
        are_codes_counted = classes is not None and can_count_bins(parameters, len(classes))
        options = ColumnOptions(
            parameters.max_bins, limits.is_multiway, counts_weights, are_codes_counted, is_regression
        )
        if is_regression:
            prepared = prepare_numbers(self.table, self.weight, options, workers.pool)
            limits = _scale_root_limits(limits, self.target, prepared.score_exponent)
        else:
            prepared = self._prepare_classes(parameters.criterion, options, workers)
        assembly = AssemblyOptions(
            is_whole=self.is_whole,
            weight_exponent=self.exponent,
            score_exponent=prepared.score_exponent,
            has_split_order=limits.is_best_first,
            has_rounded=has_rounded or is_regression,
        )
        grown: Counts | Moments
        tree, grown = grow_tree(prepared, limits, workers, assembly, n_surrogates=parameters.surrogates)
        if is_regression:
            weight = None if self.weight is None else np.ldexp(self.weight, self.exponent)
            grown = moments_of(tree, self.table, weight, "grow")
        grown = limit_estimates(grown, limits.signs, root_limits)
        return grown.tree, grown

    def grow_for_fold(self, parameters: GrowParameters) -> tuple[Tree, Counts | Moments]:
        """Return the tree of these rows and its counts or moments, without rounded thresholds.

        If the tree of all rows was grown by hand, the tree of these rows has the splits that were stated.
        """
        if self.data.by_hand is None:
            return self.grow(parameters, has_rounded=False)
        weight = None if self.weight is None else np.ldexp(self.weight, self.exponent)
        counts: Counts | Moments = self.data.by_hand.top.grow(WeightedRows(self.table, weight), parameters)
        return counts.tree, counts

    @cached_property
    def table(self) -> Table:
        """The table of these rows only."""
        return self.data.table if self.rows is None else self.data.table.take(self.rows)

    @cached_property
    def class_weights(self) -> Floats:
        """The weight of the rows of each class."""
        classes = self.data.table.schema.classes
        assert classes is not None
        return np.bincount(self.target, self.weight, minlength=len(classes)).astype(float)

    def _limits(self, parameters: GrowParameters) -> tuple[growing.GrowLimits, bool]:
        """Return the limits of growing, and whether they count weights instead of rows."""
        limits, counts_weights = limits_with_min_weight(
            limits_of(parameters), parameters.min_weight_fraction_leaf, self.weight, len(self.target), self.is_whole
        )
        if parameters.interaction_cst is not None:
            limits = limits._replace(groups=column_groups(parameters.interaction_cst, self.data.table.schema))
        if parameters.monotonic_cst is not None:
            limits = limits._replace(signs=column_signs(parameters.monotonic_cst, self.data.table.schema))
        return limits, counts_weights

    def _prepare_classes(self, criterion: str, options: ColumnOptions, workers: Workers) -> PreparedRows:
        """Return these rows ready for the growth of a classification tree."""
        if criterion not in self._criteria:
            self._criteria[criterion] = kernel_criterion(criterion, len(self.target), self.weight is None)
        return PreparedRows(
            self._prepare_columns(options, workers),
            class_target(self._criteria[criterion], self.class_weights),
            RowValues(self.data.table, self.rows, self.data.numbers),
            is_shared=self.rows is not None,
        )

    def _prepare_columns(self, options: ColumnOptions, workers: Workers) -> PreparedColumns:
        """Return the columns of these rows.

        The columns of a subset are prepared once and shared by all growths. Those of all rows are prepared for every
        growth, because growing then needs no copy of them, which would double the memory.
        """
        if self.rows is None:
            return prepare_columns(self.table, self.weight, options, workers.pool)
        if options not in self._columns:
            if options.max_bins is None and self.data.lists is not None:
                columns = self.data.filter_columns(self.rows, self.target, self.weight, options)
            else:  # The bins of a subset depend on its rows, which are therefore sorted again.
                columns = prepare_columns(self.table, self.weight, options, workers.pool)
            self._columns[options] = columns
        return self._columns[options]


def grow_rows(rows: WeightedRows, parameters: GrowParameters, n_threads: int) -> Any:
    """Return the counts or moments of rows in the tree that is grown on them.

    Parameters
    ----------
    rows : WeightedRows
        Class weights are included in the weights, which are above 0.
    parameters : GrowParameters
        Without "auto".
    n_threads : int
    """
    with StoppableThreadPool(n_threads) if n_threads > 1 else nullcontext(InlinePool()) as pool:
        subset = PresortedData(rows.table, rows.weight).all_rows()
        _, sample = subset.grow(parameters, workers=Workers(pool, n_threads))
    return with_growing_rows(sample, rows.table)


def prepare_numbers(table: Table, weight: Array | None, options: ColumnOptions, pool: Any) -> PreparedRows:
    """Return rows with a numeric target, ready for the growth of a regression tree.

    Parameters
    ----------
    table : Table
        The rows, with a numeric target.
    weight : array, optional
        Weight of each row, above 0; None if every row weighs 1.
    options : ColumnOptions
    pool : ThreadPoolExecutor or InlinePool
    """
    order = np.lexsort((table.required_target,) if weight is None else (weight, table.required_target))
    numbers, exponent = _scale_target(table.required_target[order])
    in_order = table.take(order)
    # The kernels store a class with each row: the one class of these rows is 0.
    schema = replace(table.schema, classes=np.zeros(1, np.int32), has_numeric_target=False)
    with_one_class = replace(in_order, schema=schema, target=write_protect(np.zeros(table.n_rows, np.int32)))
    sorted_weight = None if weight is None else weight[order]
    columns = prepare_columns(with_one_class, sorted_weight, options, pool)
    total = float(len(numbers)) if weight is None else float(weight.sum())
    is_constant = bool(numbers[0] == numbers[-1])
    target = GrowTarget(CriterionSpec("squared_error"), np.array([total, 0.0]), is_constant, numbers)
    # Scores are squares of targets, so that they are scaled back by twice the exponent.
    return PreparedRows(columns, target, RowValues(in_order), 2 * exponent)


def _scale_root_limits(limits: growing.GrowLimits, target: Array, score_exponent: int) -> growing.GrowLimits:
    """Return limits with the limits of the root's mean in the scale of the targets that `prepare_numbers` returns."""
    if not np.isfinite(limits.root_limits).any():
        return limits
    median = np.sort(target)[len(target) // 2]
    lower, upper = np.ldexp(np.array(limits.root_limits) - median, -(score_exponent // 2)).tolist()
    return limits._replace(root_limits=(lower, upper))


def _scale_target(ascending: Floats) -> tuple[Floats, int]:
    """Return the targets relative to their median and scaled to lie between -1 and 1, and the exponent of the scale.

    The targets are ascending. They are divided by 2 to the power of the exponent.
    """
    centred = ascending - ascending[len(ascending) // 2]
    largest = max(-centred[0], centred[-1])
    if 0 < largest < MIN_TARGET_RANGE:
        raise DataError(
            f"y ranges over {centred[-1] - centred[0]:.3g} only; {MIN_TARGET_RANGE:g} or more (or 0) is needed, whose "
            "fourth power is still a float: multiply y by a large number"
        )
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(centred, -exponent), exponent
