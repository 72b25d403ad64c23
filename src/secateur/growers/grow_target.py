"""The target of one growth: classes, or a number."""

from typing import NamedTuple

import numpy as np

from .._kernels import criteria
from .._kernels.criteria import CriterionSpec
from .._utils.arrays import Array, Floats


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


def number_target(numbers: Floats, weight: Array | None) -> GrowTarget:
    """Return the target of a regression tree from the targets of the rows, in ascending order, and their weights."""
    total = float(len(numbers)) if weight is None else float(weight.sum())
    is_constant = bool(numbers[0] == numbers[-1])
    return GrowTarget(criteria.CriterionSpec("squared_error"), np.array([total, 0.0]), is_constant, numbers)
