"""WeightedRows: encoded rows with their weights; reading the rows that a tree is grown on."""

from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Floats
from .._utils.warn import warn
from ..data.encoding import encode
from ..data.table import Table
from ..data.target import TargetKind
from ..data.weights import check_weights
from ..errors import Argument, DataError, ParameterError
from . import CRITERIA
from .parameters import GrowParameters

MIN_WEIGHT = 1e-300  # Replaces the weight 0 of classes without rows in divisions.


class WeightedRows(NamedTuple):
    """Encoded rows and their weights.

    Parameters
    ----------
    table : Table
    weight : array, optional
        Weight of each row; None if every row weighs 1.
    """

    table: Table
    weight: Floats | None

    @property
    def n_used(self) -> int:
        """The number of rows with a weight above 0."""
        return self.table.n_rows if self.weight is None else int(np.count_nonzero(self.weight))

    def is_used(self) -> Array | None:
        """Return whether each row has a weight above 0; None if all have."""
        return None if self.weight is None or (self.weight > 0).all() else self.weight > 0

    def take(self, rows: Array) -> "WeightedRows":
        """Return the rows with these numbers."""
        return WeightedRows(self.table.take(rows), None if self.weight is None else self.weight[rows])

    def without_unit_weights(self) -> "WeightedRows":
        """Return the same rows, with None in place of weights that are all 1."""
        if self.weight is None or (self.weight != 1).any():
            return self
        return WeightedRows(self.table, None)


def read_growing_rows(X: Any, y: Any, sample_weight: Any, parameters: GrowParameters, *, purpose: str) -> WeightedRows:
    """Encode the rows to grow on and check their target and weights; warn if all rows are of one class.

    Parameters
    ----------
    X, y, sample_weight
        As in `grow`.
    parameters : GrowParameters
    purpose : str
        What the rows are for, named in the message about a missing target.
    """
    kind = target_kind_of(parameters)
    encoding_weight = None if isinstance(X, Table) or sample_weight is None else np.asarray(sample_weight)
    table = encode(X, target=y, target_kind=kind, nominal=parameters.nominal, sample_weight=encoding_weight)
    if table.target is None:
        raise DataError(f"y is None and the table has no target; {purpose} needs the {kind} of each row")
    return weigh_classes(WeightedRows(table, check_weights(sample_weight, table.n_rows)), parameters)


def target_kind_of(parameters: GrowParameters) -> TargetKind:
    """Return whether the criterion is for classes or for numbers; "auto" is for classes."""
    criterion = parameters.criterion
    return CRITERIA[criterion].target if criterion in CRITERIA else "class"


def weigh_classes(rows: WeightedRows, parameters: GrowParameters) -> WeightedRows:
    """Return the rows with weights that include the class weights of the parameters; warn if one class remains."""
    if parameters.class_weight is not None:
        if rows.table.schema.classes is None:
            raise ParameterError(
                Argument("class_weight", parameters.class_weight),
                " with ",
                Argument("criterion", parameters.criterion),
                ": a numeric target has no classes",
            )
        weight = apply_class_weight(rows, parameters.class_weight)
        rows = WeightedRows(rows.table, check_weights(weight, rows.table.n_rows))
    if rows.weight is not None:
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
    table, weight = rows
    if class_weight is None:
        return weight
    classes, target = table.schema.classes, table.required_target
    assert classes is not None
    if isinstance(class_weight, dict):
        factors = _class_factors(class_weight, classes.tolist())
    else:
        class_totals = np.bincount(target, weight, minlength=len(classes))
        n_present = np.count_nonzero(class_totals)
        factors = class_totals.sum() / (n_present * np.maximum(class_totals, MIN_WEIGHT))
    row_factors: Floats = factors[target]
    return row_factors if weight is None else weight * row_factors


def _class_factors(class_weight: dict[Any, float], classes: list[Any]) -> Array:
    """Return the factor of each class, or raise `ParameterError` for an unknown class or an invalid factor."""
    known = set(classes)
    for label in class_weight:
        if label not in known:
            raise ParameterError(f"class_weight names {label!r}; the classes are {classes}")
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
        warn(f"every row has the class {classes[target[0]]!r}; the tree is one leaf")
