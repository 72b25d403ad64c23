"""Row weights: their checks, the rows that have them, class weights, and weights whose sums are exact."""

from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, ArrayLike, Bools, Floats, write_protect
from .._utils.warn import format_names, warn
from ..errors import Argument, DataError, MessagePart, ParameterError, SchemaError, Wording, show
from .groups import GroupHashes
from .raw_column import CategoryColumn, RawColumn, column_as_floats, dense_array, read_objects
from .table import Table

MIN_CLASS_WEIGHT = 1e-300  # replaces the weight 0 of classes without rows in divisions
MIN_TOTAL_WEIGHT = 1e-40  # standard errors are computed from weighted fourth powers, which must not become 0
SAMPLE_WEIGHT = Wording("sample_weight", "--sample-weight")


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weights of the rows as float64. None means that every row counts once.

    Parameters
    ----------
    sample_weight : array-like or None
        Numbers of 0 or more, not all 0.
    n_rows : int
        The number of rows, which must have one weight each.

    Examples
    --------
    >>> check_weights([1, 0, 2], 3).tolist()
    [1.0, 0.0, 2.0]
    """
    if sample_weight is None:
        return None
    weights = _weights_as_floats(sample_weight, n_rows)
    _check_each_weight(weights, np.inf, SAMPLE_WEIGHT, 0)
    if not weights.any():
        raise DataError("every ", SAMPLE_WEIGHT, " is zero; at least one row must have a weight above zero")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not MIN_TOTAL_WEIGHT <= total < MAX_EXACT_INT:
        raise DataError(
            SAMPLE_WEIGHT,
            f" adds up to {total:.6g}; {MIN_TOTAL_WEIGHT:g} to below 2**53 is needed, where sums and "
            f"their squares are exact or nearly so: rescale it, for instance divide by {weights.max():.6g}",
        )
    return write_protect(weights)


def _weights_as_floats(sample_weight: ArrayLike, n_rows: int) -> Floats:
    """Return one number per row as float64, with NaN for missing and masked weights."""
    given = dense_array(sample_weight, "sample_weight")
    if given.shape != (n_rows,):
        raise DataError(SAMPLE_WEIGHT, f" has shape {given.shape}; {n_rows} numbers, one per row, are needed")
    if given.dtype != object:
        return given.astype(np.float64)
    column = read_objects(given, "sample_weight")
    if isinstance(column, CategoryColumn):
        found = format_names(column.categories[:3])
        raise DataError(SAMPLE_WEIGHT, f" holds values that are not numbers ({found}); one number per row is needed")
    return column_as_floats(column).astype(np.float64)


def read_weights(column: RawColumn, name: str, first_row: int) -> Floats:
    """Return the weights of one batch of a sample. Messages call them `name`, and number the rows from `first_row`."""
    if isinstance(column, CategoryColumn):
        raise SchemaError(f"{name} holds {format_names(column.categories[:3])}; numbers are needed")
    weights = np.where(column.missing_mask, np.nan, column.values.astype(np.float64))
    _check_each_weight(weights, MAX_EXACT_INT, name, first_row)
    return weights


def _check_each_weight(weights: Floats, limit: float, name: MessagePart, first_row: int) -> None:
    """Raise `DataError` unless all weights are at least 0 and below `limit`."""
    bad_rows = np.flatnonzero(~((weights >= 0) & (weights < limit)))
    if len(bad_rows):
        below = ", below 2**53," if limit < np.inf else ""
        raise DataError(
            name,
            f" of row {first_row + int(bad_rows[0])} is {weights[bad_rows[0]]} ({len(bad_rows):,} such); "
            f"finite numbers of 0 or more{below} are needed",
        )


def used_rows(weight: Floats | None) -> Bools | None:
    """Return whether each row has a weight above 0; None if all have, or if there are no weights."""
    return None if weight is None or weight.all() else weight > 0


class WeightedRows(NamedTuple):
    """Encoded rows, their weights and their groups.

    Parameters
    ----------
    table : Table
    weight : array, optional
        Weight of each row; None if every row weighs 1.
    groups : array of uint64, optional
        A hash of the group of each row, whose rows must stay together; None if every row stands alone.
    """

    table: Table
    weight: Floats | None
    groups: GroupHashes | None = None

    @property
    def n_used(self) -> int:
        """The number of rows with a weight above 0."""
        return self.table.n_rows if self.weight is None else int(np.count_nonzero(self.weight))

    def is_used(self) -> Bools | None:
        """Return whether each row has a weight above 0; None if all have."""
        return used_rows(self.weight)

    def drop_weightless(self) -> "WeightedRows":
        """Return the rows without those of weight 0, which must have no influence on a tree."""
        is_used = self.is_used()
        return self if is_used is None else self.take(np.flatnonzero(is_used))

    def take(self, rows: Array) -> "WeightedRows":
        """Return the rows with these numbers."""
        weight = None if self.weight is None else self.weight[rows]
        return WeightedRows(self.table.take(rows), weight, None if self.groups is None else self.groups[rows])

    def without_unit_weights(self) -> "WeightedRows":
        """Return the same rows, with None in place of weights that are all 1."""
        if self.weight is None or (self.weight != 1).any():
            return self
        return self._replace(weight=None)


def weigh_classes(rows: WeightedRows, class_weight: Any) -> WeightedRows:
    """Return the rows with weights that include the class weights; warn if all rows are of one class.

    `class_weight` is as for `apply_class_weight`; it is None if the target is a number.
    """
    if class_weight is not None:
        weight = apply_class_weight(rows, class_weight)
        rows = rows._replace(weight=check_weights(weight, rows.table.n_rows))
    rows = rows.without_unit_weights()
    _warn_of_single_class(rows)
    return rows


def apply_class_weight(rows: WeightedRows, class_weight: Any) -> Floats | None:
    """Return the weight of each row times the factor of its class.

    Parameters
    ----------
    rows : WeightedRows
        Rows whose target is a class.
    class_weight : dict, "balanced" or None
        A dict gives the factor of each class that it names; other classes have the factor 1. "balanced" gives all
        classes that occur the same total weight.
    """
    table, weight, _ = rows
    if class_weight is None:
        return weight
    classes, target = table.schema.classes, table.required_target
    assert classes is not None
    if isinstance(class_weight, dict):
        factors = _class_factors(class_weight, classes.tolist())
    else:
        class_totals = np.bincount(target, weight, minlength=len(classes))
        n_present = np.count_nonzero(class_totals)
        factors = class_totals.sum() / (n_present * np.maximum(class_totals, MIN_CLASS_WEIGHT))
    row_factors: Floats = factors[target]
    return row_factors if weight is None else weight * row_factors


def _class_factors(class_weight: dict[Any, float], classes: list[Any]) -> Array:
    """Return the factor of each class, or raise `ParameterError` for an unknown class or an invalid factor."""
    known = set(classes)
    for label in class_weight:
        if label not in known:
            raise ParameterError(f"class_weight names {show(label)}; the classes are {classes}")
    for label, factor in class_weight.items():
        is_number = isinstance(factor, int | float | np.number) and not isinstance(factor, bool)
        if not is_number or not 0 <= factor < np.inf:
            raise ParameterError(
                Argument("class_weight", {label: factor}), "; a finite number of 0 or more is needed for each class"
            )
    return np.array([class_weight.get(label, 1.0) for label in classes], float)


def _warn_of_single_class(rows: WeightedRows) -> None:
    """Warn if all rows of weight above 0 are of one class, so that the tree is a single leaf."""
    target, classes = rows.table.required_target, rows.table.schema.classes
    is_used = rows.is_used()
    if is_used is not None:
        target = target[is_used]
    if classes is not None and (target == target[0]).all():
        warn(f"every row has the class {show(classes[target[0]])}; the tree is one leaf")


def are_whole(weights: Floats) -> bool:
    """Return whether all weights are whole numbers, which count as repetitions of a row."""
    return bool((weights == np.rint(weights)).all())


def round_for_exact_sums(weights: Floats) -> Floats:
    """Return the weights rounded to multiples of one power of 2, so that all sums of them are exact.

    Sums then do not depend on the order of the rows, the difference of equal sums is 0, and routing the growing rows
    gives the growing counts to the last bit. Whole numbers are not changed. All others change by less than a rounding
    error of their sum.

    Examples
    --------
    >>> third, fifth = round_for_exact_sums([1 / 3, 1 / 5]).tolist()
    >>> (third + fifth) - fifth == third
    True
    """
    given = np.asarray(weights, np.float64)
    if not (given % 1).any():
        return given
    unit = 2.0 ** (np.frexp(given.sum())[1] - 51)  # sums stay below 2**53 units, even if all weights are rounded up
    return np.asarray(np.rint(given / unit) * unit)
