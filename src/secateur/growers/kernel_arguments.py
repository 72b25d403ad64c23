"""Translate growing parameters and row weights into the arguments of the growing kernels."""

from typing import NamedTuple

import numpy as np

from .._kernels import criteria, growing
from .._utils.arrays import Array
from ..data.weights import round_for_exact_sums
from ..errors import Argument, ParameterError
from . import CRITERIA
from .parameters import GrowParameters

NO_LIMIT = 2**60  # Larger than any depth or number of splits.
MAX_CODED_CLASSES = 4  # With more classes, a small node has more counters per bin than rows.
MAX_COUNTED_BINS = 255  # The codes of counted bins have 8 bits.
WEIGHT_TOLERANCE = 1e-9  # Relative. Totals of weights depend on the order of summation.


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
    if (weight == np.rint(weight)).all():
        return ScaledWeights(weight, True, 0)
    exponent = int(np.frexp(weight.sum())[1])
    return ScaledWeights(np.ldexp(weight, -exponent), False, exponent)
