"""Many trees on parts of one sample: the columns are coded and sorted once, for all of them.

A part of a sorted list is in order already, so the lists of a part of the rows are those of
the whole sample less the other rows: one pass, and nothing is sorted again. The tree of a
part is exactly the one that `grow` would return for its rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import folds, route, structure
from .._kernels import grow_parts as parts
from ..data.arrays import Array
from ..data.table import Schema, Table
from ..data.target import summable
from ..nouns.tree import Tree
from ..routing import route_from
from ._assemble import assemble
from ._prepare import Coded, Prepared, Values, _codes, _weights, check_branches, prepare, sorted_columns
from ._regression import grow_squared
from ._run import Grower
from ._settings import Inline, Settings, measure_of, with_least_weight


@dataclass(frozen=True)
class Ground:
    """A table with a target, ready to grow on any of its rows.

    Parameters
    ----------
    table : Table
    weight : array, optional
        Of each row, 0 or more; rows of weight 0 are left out of every part.
    lists : array
        Sorted entries of the numeric columns of more than two values, one line each.
    listed, two_valued : tuple of int
        The columns behind the lists, and those of two values.
    """

    table: Table
    weight: Array | None
    lists: Array
    n_seen: Array
    listed: tuple[int, ...]
    two_valued: tuple[int, ...]
    shift: int

    @classmethod
    def of(cls, table: Table, weight: Array | None = None) -> "Ground":
        """Sort every numeric column of the table once."""
        target, classes = table.target, table.schema.classes
        n = table.n_rows
        if classes is None:  # numbers: growing sorts by them too, each part by itself
            return cls(table, weight, np.empty((0, n), np.uint32), np.empty(0, np.int64), (), (), 0)
        assert target is not None
        shift = max(1, int(len(classes) - 1).bit_length()) + 1
        entry = _entry_type(n, shift)
        found = sorted_columns(table, shift, entry, Inline(), lambda *line: n - line[-1])
        n_seen = np.array(found.about, np.int64)
        return cls(table, weight, found.lists, n_seen, tuple(found.listed), tuple(found.two_valued), shift)

    def grow(self, rows: Array, settings: Settings, *, is_checked: bool = True) -> tuple[Tree, Any]:
        """Return what `grow` returns for these rows of the table, which rise; no warning for a single class."""
        table, weight = self.table, self.weight
        if weight is not None:
            rows = rows[weight[rows] > 0]
            weight = weight[rows]
            weight = None if (weight == 1).all() else summable(weight)
        assert table.target is not None
        target = table.target[rows]
        is_whole = weight is None or bool((weight == np.rint(weight)).all())
        exponent = 0
        if weight is not None and not is_whole:  # products of very small or large weights would leave the range
            exponent = int(np.frexp(weight.sum())[1])
            weight = np.ldexp(weight, -exponent)
        limits, by_weight = with_least_weight(settings.limits, settings.least_weight, weight, len(rows), is_whole)
        pool: Any = Inline()
        if table.schema.classes is None:
            return grow_squared(
                _rows_of(table, rows), weight, limits, pool, 1,
                max_bins=settings.max_bins, by_weight=by_weight, exponent=exponent,
            )  # fmt: skip
        part: Any
        if settings.max_bins is None:
            part = _Part(table, rows)
            check_branches(table, limits.multiway)
            data = self._prepare(rows, target, weight, limits.multiway, by_weight)
        else:  # bins are those of the part
            part = _rows_of(table, rows)
            data = prepare(
                part, weight, max_bins=settings.max_bins, multiway=limits.multiway, pool=pool, by_weight=by_weight
            )
        n_classes = len(table.schema.classes)
        measure = measure_of(settings.criterion, len(rows), weight is None)
        grower = Grower(measure, data, settings.ratio, limits, n_classes, pool, 1)
        grown = grower.run(np.bincount(target, weight, minlength=n_classes).astype(float), len(rows))
        return assemble(
            grown, data, part,
            is_whole=is_whole, has_births=limits.best_first, exponent=exponent, is_checked=is_checked,
        )  # fmt: skip

    def count(self, tree: Tree, rows: Array) -> Array:
        """Return how many of these rows, by class, reach each node of a tree grown on other rows of the table."""
        table = self.table
        assert table.target is not None
        assert table.schema.classes is not None
        weight = None if self.weight is None else summable(self.weight[rows])
        is_whole = weight is None or bool((weight == np.rint(weight)).all())
        own = np.zeros((tree.n_nodes, len(table.schema.classes)), np.int64 if is_whole else np.float64)
        given = np.zeros(0, own.dtype) if weight is None else weight.astype(own.dtype)
        route.count_leaves(route_from(tree, table, rows, 0), table.target[rows], given, own)
        by_class: Array = structure.sum_upwards(tree.parent, own)
        return by_class

    def squares(self, tree: Tree, rows: Array, values: Array) -> tuple[Array, Array, float]:
        """Sums over these rows of squared differences from what each node answers, of their squares, and their weight.

        Rows are taken in the order of their numbers: the sums do not depend on their order in the table.
        """
        assert self.table.target is not None
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        order = np.lexsort((weight, self.table.target[rows]))
        rows, weight = rows[order], weight[order]
        leaves = route_from(tree, self.table, rows, 0)
        first, second = folds.path_losses(tree.parent, leaves, self.table.target[rows], weight, values)
        return first, second, float(weight.sum())

    def _prepare(self, rows: Array, target: Array, weight: Array | None, multiway: bool, by_weight: bool) -> Prepared:
        """`prepare` for some rows, from the lists of all."""
        table, n, shift = self.table, len(rows), self.shift
        entry = _entry_type(n, shift)
        new_row = np.full(table.n_rows, -1, np.int32)
        new_row[rows] = np.arange(n, dtype=np.int32)
        entries = np.empty((len(self.lists), n), entry)
        n_values, n_missing = folds.filter_lists(self.lists, new_row, shift, self.n_seen, entries)
        stays = (n_values > 2) | ((n_missing > 0) & (n_values > 0))
        two_valued = [*self.two_valued, *(self.listed[i] for i in np.flatnonzero(~stays & (n_values == 2)))]
        listed = [j for j, stay in zip(self.listed, stays, strict=True) if stay]
        missing = [
            np.isnan(table.columns[j][rows]) if n_gaps else None
            for j, n_gaps in zip(listed, n_missing[stays], strict=True)
        ]
        coded: list[Coded] = []
        values: dict[int, Values] = {}
        for j in two_valued:
            column = table.columns[j][rows]
            low, high = column.min(), column.max()
            if low < high:
                two = np.array([low, high], np.float64)
                values[j] = Values(two, two)
                coded.append(Coded(j, column == high, 2, False))
        for j, about in enumerate(table.schema.columns):
            if about.kind == "nominal" and about.n_codes > 1:
                coded.append(Coded(j, table.columns[j][rows], about.n_codes, True))
        coded.sort(key=Coded.order)
        feature = np.array(listed + [column.feature for column in coded], np.int32)
        lists = parts.Lists(entries if stays.all() else entries[stays], feature, shift)
        assert table.schema.classes is not None
        weights = _weights(weight, missing, target, len(table.schema.classes), by_weight)
        return Prepared(lists, _codes(coded, target, shift, entry, weights, multiway), weights, values)


@dataclass(frozen=True)
class _Part:
    """As much of the table of some rows as `assemble` asks for; nothing is copied."""

    table: Table
    rows: Array

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def matrix(self) -> Any:
        return None if self.table.matrix is None else _Rows(self.table.matrix, self.rows)

    @property
    def columns(self) -> Any:
        return tuple(_Rows(column, self.rows) for column in self.table.columns)


@dataclass(frozen=True)
class _Rows:
    """A column or matrix of a part: its values are looked up in the whole one."""

    whole: Array
    rows: Array

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, tuple):
            return self.whole[self.rows[at[0]], at[1]]
        return self.whole[self.rows[at]]


def _rows_of(table: Table, rows: Array) -> Table:
    """A table of some rows."""
    target = None if table.target is None else table.target[rows]
    if table.matrix is not None:
        matrix = table.matrix[rows]
        return Table(table.schema, tuple(matrix.T), target, matrix)
    return Table(table.schema, tuple(column[rows] for column in table.columns), target)


def _entry_type(n_rows: int, shift: int) -> Any:
    return np.uint32 if shift + max(1, int(n_rows - 1).bit_length()) <= 32 else np.uint64
