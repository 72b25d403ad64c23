"""The rows on which trees with one or more combinations of parameters are grown."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._kernels import growing
from .._kernels.criteria import CriterionSpec
from .._utils.arrays import Array, Floats
from ..core import Counts, Moments, Tree
from ..data.table import Table
from ..routing import moments_of
from .grow_target import class_target
from .interaction import column_groups
from .kernel_arguments import can_count_bins, kernel_criterion, limits_of, limits_with_min_weight
from .monotone import enforce_monotonicity
from .parameters import GrowParameters
from .prepared_columns import ColumnOptions, PreparedColumns, prepare_columns
from .regression import prepare_numbers
from .tree_assembly import AssemblyOptions, RowValues
from .tree_growth import PreparedRows, grow_tree
from .worker import ONE_WORKER, Workers

if TYPE_CHECKING:
    from .presorted_data import PresortedData


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
        self, parameters: GrowParameters, *, has_rounded: bool = True, workers: Workers = ONE_WORKER
    ) -> tuple[Tree, Counts | Moments]:
        """Return the tree grown on these rows and its counts or moments, without the warnings of `grow`.

        Parameters
        ----------
        parameters : GrowParameters
        has_rounded : bool
            Whether the tree has rounded thresholds. The trees of cross-validation do not need them.
        workers : Workers
        """
        limits, counts_weights = self._limits(parameters)
        classes = self.data.table.schema.classes
        is_regression = classes is None
        are_codes_counted = classes is not None and can_count_bins(parameters, len(classes))
        options = ColumnOptions(
            parameters.max_bins, limits.is_multiway, counts_weights, are_codes_counted, is_regression
        )
        if is_regression:
            prepared = prepare_numbers(self.table, self.weight, options, workers.pool)
        else:
            prepared = self._prepare_classes(parameters.criterion, options, workers)
        assembly = AssemblyOptions(
            is_whole=self.is_whole,
            weight_exponent=self.exponent,
            score_exponent=prepared.score_exponent,
            has_split_order=limits.is_best_first,
            has_rounded=has_rounded or is_regression or parameters.monotonic_cst is not None,
        )
        grown: Counts | Moments
        tree, grown = grow_tree(prepared, limits, workers, assembly, n_surrogates=parameters.surrogates)
        if is_regression:
            weight = None if self.weight is None else np.ldexp(self.weight, self.exponent)
            grown = moments_of(tree, self.table, weight, "grow")
        if parameters.monotonic_cst is None:
            return tree, grown
        return enforce_monotonicity(tree, grown, parameters.monotonic_cst)

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
