"""The rows that a tree is grown on, and the arguments of the growing kernels that do not depend on columns.

`WeightedRows` are encoded rows with their weights; `read_growing_rows` reads them. The other functions translate
growing parameters, row weights and the target into what the kernels read: limits, criterion and `GrowTarget`.
"""

from typing import Any, NamedTuple

import numpy as np

from .._kernels import criteria, growing
from .._kernels.criteria import CriterionSpec
from .._utils.arrays import Array, Floats
from .._utils.warn import warn
from ..data.encoding import encode
from ..data.table import Table
from ..data.target import TargetKind
from ..data.weights import are_whole, check_weights, round_for_exact_sums
from ..errors import Argument, DataError, ParameterError
from . import CRITERIA
from .parameters import GrowParameters

MIN_WEIGHT = 1e-300  # Replaces the weight 0 of classes without rows in divisions.
NO_LIMIT = 2**60  # Larger than any depth or number of splits.
MAX_CODED_CLASSES = 4  # With more classes, a small node has more counters per bin than rows.
MAX_COUNTED_BINS = 255  # The codes of counted bins have 8 bits.
WEIGHT_TOLERANCE = 1e-9  # Relative. Totals of weights depend on the order of summation.


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

    def drop_weightless(self) -> "WeightedRows":
        """Return the rows without those of weight 0, which must have no influence on a tree."""
        is_used = self.is_used()
        return self if is_used is None else self.take(np.flatnonzero(is_used))

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


def limits_of(parameters: GrowParameters) -> growing.GrowLimits:
    """Return the limits on depth, splits and leaf sizes as the kernels read them; no parameter may be "auto"."""
    max_depth, max_splits = parameters.max_depth, parameters.max_splits
    is_best_first = parameters.growth == "best-first"
    return growing.GrowLimits(
        max_depth=NO_LIMIT if max_depth is None else min(int(max_depth), NO_LIMIT),
        max_splits=NO_LIMIT if max_splits is None else min(int(max_splits), NO_LIMIT),
        min_leaf_size=float(parameters.min_samples_leaf),
        min_split_size=float(parameters.min_samples_split),
        allows_zero_gain=not is_best_first if parameters.allow_zero is None else parameters.allow_zero,
        is_multiway=parameters.splits == "multiway",
        is_best_first=is_best_first,
        is_gain_ratio=CRITERIA[parameters.criterion].is_ratio,
        penalises_numeric=parameters.penalise_numeric,
    )


def limits_with_min_weight(
    limits: growing.GrowLimits, fraction: float, weight: Array | None, n_rows: int, is_whole: bool
) -> tuple[growing.GrowLimits, bool]:
    """Return the limits with the minimum weight of a leaf, and whether the limits count weights instead of rows.

    Parameters
    ----------
    limits : GrowLimits
        Limits that count rows.
    fraction : float
        The parameter `min_weight_fraction_leaf`: minimum share of the total weight in a leaf.
    weight : array, optional
        Weight of each row; None is 1 each.
    n_rows : int
    is_whole : bool
        Whether all weights are whole numbers, which count as repetitions of a row.
    """
    if fraction == 0:
        return limits, False
    total = float(n_rows if weight is None else weight.sum())
    min_weight = fraction * (1 - WEIGHT_TOLERANCE) * total
    if is_whole:
        return limits._replace(min_leaf_size=max(limits.min_leaf_size, min_weight)), False
    if limits.min_leaf_size > 1 or limits.min_split_size > 2:
        raise ParameterError(
            Argument("min_weight_fraction_leaf", fraction),
            " with weights that are not whole numbers replaces the minimum numbers of rows; use ",
            Argument("min_samples_leaf", 1),
            " and ",
            Argument("min_samples_split", 2),
        )
    # A node lighter than two children of minimum weight is never split, so a minimum weight of the node adds nothing.
    return limits._replace(min_leaf_size=min_weight, min_split_size=0.0), True


def can_count_bins(parameters: GrowParameters, n_classes: int) -> bool:
    """Return whether kernels count the rows of each bin and class and score splits from these counts.

    This needs few bins, few classes, binary splits, and a criterion that is computed from class counts.
    """
    has_few_bins = parameters.max_bins is not None and parameters.max_bins <= MAX_COUNTED_BINS
    is_streamed = CRITERIA[parameters.criterion].is_streamed
    return is_streamed and has_few_bins and n_classes <= MAX_CODED_CLASSES and parameters.splits != "multiway"


def kernel_criterion(name: str, n_rows: int, is_plain: bool) -> criteria.CriterionSpec:
    """Return a criterion as the kernels read it.

    Parameters
    ----------
    name : str
        A key of `CRITERIA`.
    n_rows : int
        Number of rows of the sample, which is the length of the table for entropy.
    is_plain : bool
        Whether every row has weight 1.
    """
    impurity = CRITERIA[name].impurity or name
    if is_plain and impurity == "entropy":
        return criteria.entropy_table(n_rows)
    return criteria.CriterionSpec(impurity)


class GrowTarget(NamedTuple):
    """The criterion that splits lower, and the statistics of the root from which growing starts.

    Classification and regression share every step of growing; they differ only in these fields.

    Parameters
    ----------
    criterion : CriterionSpec
        The criterion as the kernels read it.
    root_sums : array of float
        Statistics of the root. Classes: the weight of each class. Numbers: the total weight, and 0 for the sum of
        deviations, which the kernels compute.
    is_constant : bool
        Whether all rows have the same target, so that the root is not split.
    numbers : array of float, optional
        The target of each row, if it is a number.
    """

    criterion: CriterionSpec
    root_sums: Floats
    is_constant: bool
    numbers: Floats | None = None


def class_target(criterion: CriterionSpec, class_weights: Floats) -> GrowTarget:
    """Return the target of a classification tree from the criterion and the weight of each class."""
    return GrowTarget(criterion, class_weights, is_constant=int(np.count_nonzero(class_weights)) < 2)
