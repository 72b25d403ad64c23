"""Many trees on parts of one sample: the columns are coded and sorted once, for all of them.

A part of a sorted list is in order already, so the lists of a part of the rows are those of
the whole sample less the other rows: one pass, and nothing is sorted again. The tree of a
part is exactly the one that `grow` would return for its rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._kernels import folds, growing, route, structure
from .._utils.arrays import Array, write_protect
from .._utils.threads import InlinePool
from ..core import Tree
from ..data.table import BLOCK_ROWS, Table, iter_blocks
from ..data.target import round_for_exact_sums
from ..routing import route_matrix, route_table
from ._regression import grow_squared
from .grower import Grower
from .interaction import groups_of
from .kernel_arguments import can_count_bins, kernel_criterion, limits_of, limits_with_min_weight, scale_weights
from .monotone import made_monotone
from .parameters import GrowParameters
from .prepare import (
    TWO,
    Coded,
    Prepared,
    Values,
    check_branches,
    codes_of,
    layout_of,
    nominal_of,
    prepare,
    sorted_columns,
    weights_of,
)
from .surrogate import surrogates_of, with_surrogates
from .tree_assembly import assemble

MOST_CELLS = 1 << 20  # of a table that is copied into a matrix
_ALONE: Any = InlinePool()


@dataclass(frozen=True)
class PresortedData:
    """A table with a target, ready to grow on any of its rows.

    Parameters
    ----------
    table : Table
    weight : array, optional
        Of each row, 0 or more; rows of weight 0 are left out of every part.
    lists : array, optional
        Sorted entries of the numeric columns of more than two values, one line each. None: every part sorts its own.
    listed : tuple of int
        The columns behind the lists.
    two_valued : dict
        The columns of two values, and these.
    nominal : tuple of Coded
        The columns of categories.
    codes : growing.PackedCodes, optional
        These and those of two values, packed, if every row weighs 1.
    numbers : array, optional
        All columns as one matrix, categories as their codes, where the table is small and has none.
    """

    table: Table
    weight: Array | None = None
    lists: Array | None = None
    n_seen: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    listed: tuple[int, ...] = ()
    two_valued: dict[int, Values] = field(default_factory=dict)
    nominal: tuple[Coded, ...] = ()
    codes: growing.PackedCodes | None = None
    numbers: Array | None = None

    @classmethod
    def of(cls, table: Table, weight: Array | None = None) -> "PresortedData":
        """Sort every numeric column of the table once."""
        target, classes = table.required_target, table.schema.classes
        n = table.n_rows
        if classes is None:  # numbers: growing sorts by them too, each part by itself
            return cls(table, weight)
        shift, entry = layout_of(n, len(classes))
        found = sorted_columns(table, shift, entry, InlinePool(), lambda *line: n - line[-1])
        n_seen = np.array(found.about, np.int64)
        nominal = tuple(nominal_of(table))
        coded = sorted([*nominal, *found.coded(table)], key=Coded.order)
        codes = codes_of(coded, target, shift, entry, None, multiway=False) if weight is None else None
        return cls(
            table, weight, found.lists, n_seen, tuple(found.listed),
            {j: Values(two, two) for j, two in found.two_valued.items()}, nominal, codes, _numbers(table),
        )  # fmt: skip

    def subset(self, rows: Array) -> "TrainingSubset":
        """Return some rows, which rise, to grow on; those of weight 0 are left out."""
        table, weight = self.table, self.weight
        if weight is not None:
            rows = rows[weight[rows] > 0]
            weight = weight[rows]
        return TrainingSubset(self, rows, table.required_target[rows], *scale_weights(weight))

    def whole(self) -> "TrainingSubset":
        """Return all rows, whose weights are above 0; unlike a part, it sorts its columns in every growth."""
        return TrainingSubset(self, None, self.table.required_target, *scale_weights(self.weight))

    def validation_rows(self, rows: Array) -> "ValidationRows":
        """Return some rows to judge trees by that were grown on others."""
        target = self.table.required_target
        weight = None if self.weight is None else self.weight[rows]
        return ValidationRows(
            self.table, rows, target[rows], weight, None if self.numbers is None else self.numbers[rows]
        )


@dataclass(frozen=True)
class TrainingSubset:
    """Some rows of a ground. What several growths on them share is made once.

    Parameters
    ----------
    ground : Ground
    rows : array, optional
        Their numbers, which rise; None: all.
    target : array
        Their classes or numbers.
    weight : array, optional
        `2**-exponent` times their weights, above 0; None: 1 each.
    is_whole : bool
        Whether the weights are.
    """

    ground: PresortedData
    rows: Array | None
    target: Array
    weight: Array | None
    is_whole: bool
    exponent: int
    _made: dict[Any, Any] = field(default_factory=dict)

    def grow(
        self, parameters: GrowParameters, *, has_rounded: bool = True, pool: Any = _ALONE, n_jobs: int = 1
    ) -> tuple[Tree, Any]:
        """Return what `grow` returns for these rows; no warning for a single class."""
        is_ordered = parameters.monotonic_cst is not None
        grown = self._grown(parameters, has_rounded or is_ordered, pool, n_jobs)
        return made_monotone(*grown, parameters.monotonic_cst) if is_ordered else grown

    def _grown(self, parameters: GrowParameters, has_rounded: bool, pool: Any, n_jobs: int) -> tuple[Tree, Any]:
        table, rows, weight, n = self.ground.table, self.rows, self.weight, len(self.target)
        limits, by_weight = limits_with_min_weight(
            limits_of(parameters), parameters.min_weight_fraction_leaf, weight, n, self.is_whole
        )
        if parameters.interaction_cst is not None:
            limits = limits._replace(groups=groups_of(parameters.interaction_cst, table.schema))
        if table.schema.classes is None:
            return grow_squared(
                self._table(), weight, limits, pool, n_jobs,
                max_bins=parameters.max_bins, by_weight=by_weight, exponent=self.exponent,
                surrogates=parameters.surrogates,
            )  # fmt: skip
        n_classes = len(table.schema.classes)
        how = parameters.max_bins, limits.is_multiway, by_weight, can_count_bins(parameters, n_classes)
        # Growing partitions the lists in place: those of a part are copied, those of all rows made anew.
        data = self._prepare(*how, pool) if rows is None else self._once(how, lambda: self._prepare(*how, pool))
        counts = self._once("counts", lambda: np.bincount(self.target, weight, minlength=n_classes).astype(float))
        measure = self._once(parameters.criterion, lambda: kernel_criterion(parameters.criterion, n, weight is None))
        others = surrogates_of(data, table, rows, parameters.surrogates)
        own = data if rows is None else _fresh(data)
        grown = Grower(measure, own, limits, n_classes, pool, n_jobs, None, others).run(counts, n)
        tree, counted = assemble(
            grown, data, table, rows, self.ground.numbers,
            is_whole=self.is_whole, has_births=limits.is_best_first, exponent=self.exponent, has_rounded=has_rounded,
        )  # fmt: skip
        if not parameters.surrogates:
            return tree, counted
        tree = with_surrogates(tree, grown, data)
        return tree, replace(counted, tree=tree)

    def _once(self, name: Any, make: Callable[[], Any]) -> Any:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def _table(self) -> Table:
        """The table of these rows."""
        table, rows = self.ground.table, self.rows
        found: Table = table if rows is None else self._once("table", lambda: table.take(rows))
        return found

    def _prepare(self, max_bins: int | None, multiway: bool, by_weight: bool, is_coded: bool, pool: Any) -> Prepared:
        """`prepare` for these rows, from the lists of all, where there are any; bins are those of the part."""
        ground, rows, target = self.ground, self.rows, self.target
        if max_bins is not None or rows is None or ground.lists is None:
            return prepare(
                self._table(), self.weight, max_bins=max_bins, multiway=multiway, pool=pool, by_weight=by_weight,
                in_codes=is_coded,
            )  # fmt: skip
        table, n, classes = ground.table, len(rows), ground.table.schema.classes
        assert classes is not None
        check_branches(table, multiway)
        shift, entry = layout_of(n, len(classes))
        new_row = np.full(table.n_rows, -1, np.int32)
        new_row[rows] = np.arange(n, dtype=np.int32)
        entries = np.empty((len(ground.lists), n), entry)
        n_values, n_missing = folds.filter_lists(ground.lists, new_row, shift, ground.n_seen, entries)
        is_listed = (n_values > TWO) | ((n_missing > 0) & (n_values > 0))
        stays, all_listed = np.flatnonzero(is_listed), np.array(ground.listed, np.int64)
        listed = all_listed[stays].tolist()
        missing = [
            np.isnan(table.columns[j][rows]) if n_gaps else None
            for j, n_gaps in zip(listed, n_missing[stays].tolist(), strict=True)
        ]
        two_valued = [*ground.two_valued, *all_listed[~is_listed & (n_values == TWO)].tolist()]
        coded = list(ground.nominal)
        values: dict[int, Values] = {}
        for j in two_valued:
            column = table.columns[j][rows]
            low, high = column.min(), column.max()
            if low < high:
                values[j] = ground.two_valued.get(j) or Values(two := np.array([low, high], np.float64), two)
                coded.append(Coded(j, table.columns[j], TWO, False, high))
        coded.sort(key=Coded.order)
        feature = np.array(listed + [column.feature for column in coded], np.int32)
        lists = growing.PresortedLists(entries if len(stays) == len(entries) else entries[stays], feature, shift)
        weights = weights_of(self.weight, missing, target, len(classes), by_weight)
        if ground.codes is not None and not multiway and values.keys() == ground.two_valued.keys():
            return Prepared(lists, _some_codes(ground.codes, new_row, shift, entry), weights, values)
        coded = [replace(column, column=column.column[rows]) for column in coded]
        return Prepared(lists, codes_of(coded, target, shift, entry, weights, multiway), weights, values)


@dataclass(frozen=True)
class ValidationRows:
    """Rows of a table that judge trees, with their targets and weights."""

    table: Table
    rows: Array
    target: Array
    weight: Array | None
    numbers: Array | None = None

    def leaves(self, tree: Tree) -> Array:
        """Return the leaf that each of the rows reaches."""
        return route_table(tree, self.table, self.rows, 0) if self.numbers is None else route_matrix(tree, self.numbers)

    def count(self, tree: Tree) -> Array:
        """Return how many of the rows, by class, reach each node."""
        classes = self.table.schema.classes
        assert classes is not None
        weight = None if self.weight is None else round_for_exact_sums(self.weight)
        is_whole = weight is None or bool((weight == np.rint(weight)).all())
        own = np.zeros((tree.n_nodes, len(classes)), np.int64 if is_whole else np.float64)
        given = np.zeros(0, own.dtype) if weight is None else weight.astype(own.dtype)
        route.add_class_counts(self.leaves(tree), self.target, given, own)
        by_class: Array = structure.sum_upwards(tree.parent, own)
        return by_class

    def loss_sums(self, tree: Tree, values: Array, *, is_absolute: bool = False) -> tuple[Array, Array, float]:
        """Sums over the rows of squared differences from what each node answers, of their squares, and their weight.

        `is_absolute`: of absolute differences, and of their squares.

        Rows are taken in the order of their numbers: the sums do not depend on their order in the table.
        """
        target = self.target
        weight = np.ones(len(target)) if self.weight is None else self.weight
        order = np.lexsort((weight, target))
        leaves = self.leaves(tree)[order]
        first, second = folds.path_losses(tree.parent, leaves, target[order], weight[order], values, is_absolute)
        return first, second, float(weight[order].sum())


def _fresh(data: Prepared) -> Prepared:
    """A copy for one growth, which parts lists and words in place."""
    codes = data.codes
    if codes is not None:
        codes = codes._replace(
            entries=codes.entries.copy(), bit_words=codes.bit_words.copy(), code_words=codes.code_words.copy()
        )
    lists = growing.PresortedLists(data.lists.entries.copy(), data.lists.feature_of_slot, data.lists.shift)
    return Prepared(lists, codes, data.weights, data.values)


def _some_codes(codes: growing.PackedCodes, new_row: Array, shift: int, entry: Any) -> growing.PackedCodes:
    """The packed columns of some rows: in the order of all."""
    number = new_row[codes.entries >> codes.entries.dtype.type(shift)]
    kept = np.flatnonzero(number >= 0)
    label = (codes.entries[kept] & codes.entries.dtype.type((1 << shift) - 1)).astype(entry)
    return codes._replace(
        code_words=codes.code_words.take(kept, axis=1),
        bit_words=codes.bit_words.take(kept, axis=1),
        entries=(number[kept].astype(entry) << entry(shift)) | label,
    )


def _numbers(table: Table) -> Array | None:
    """The columns of a table of few rows as one matrix, unless it is one: many small trees look values up in it."""
    if table.matrix is not None or table.n_rows > BLOCK_ROWS or table.n_rows * table.n_columns > MOST_CELLS:
        return None
    return write_protect(next(iter_blocks(table, np.arange(table.n_columns), None)))
