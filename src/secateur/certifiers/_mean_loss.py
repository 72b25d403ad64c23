"""A limit on the mean loss of a regression tree, from rows whose loss is at most a number stated beforehand.

No sample limits a mean if single losses can be arbitrarily large: one row in a million may decide it. So the largest
possible loss B must be stated, and it must not be read off the sample. The losses divided by B are between 0 and 1, and
the betting bound limits their mean.

    stated                            largest possible error of a row
    max_residual=R                    R, whatever the leaf predicts
    target_range=(low, high)          in a leaf that predicts p: the larger of p - low and high - p

With a range of targets, B is the largest of these numbers over the leaves. It follows from the tree alone. A leaf that
predicts a number outside the range is refused, because its growing rows contradict the range. So is a sample with a row
that contradicts what was stated.
"""

import math
import numbers
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..core import Bound, GroupedRows, Moments, Pruning, TargetRows
from ..errors import Argument, CountsError, ParameterError, UnsupportedError, Wording, show
from ..statistics.freshness import CertifyingRows
from ..statistics.repeats import RepeatRule, Repeats
from ._fresh import check_fresh_rows
from ._groups import GroupError, check_group_error, limit_of_means

Loss = Literal["absolute", "squared"]
MAX_DISTINCT_LOSSES = 50_000  # more are rounded up, so that the betting bound takes about a second at most
ROUNDED_BITS = 10  # of a rounded loss, which is thus at most 0.1 % too large


def certify_mean_loss(
    pruning: Pruning,
    moments: Moments,
    loss: Loss,
    values: ArrayLike,
    target_range: Sequence[float] | None,
    max_residual: float | None,
    delta: float,
    repeats: Repeats | RepeatRule,
    group_error: GroupError,
) -> Bound:
    """Return the betting bound on the mean absolute or squared error; see `absolute_error` for the parameters."""
    largest_residual, assumes = check_stated_range(target_range, max_residual)
    name = f"the {loss}-error certificate"
    check_group_error(group_error, moments)
    if group_error != "share":
        raise ParameterError(Argument("group_error", group_error), " is for classes; the mean loss of a group is used")
    rows = check_fresh_rows(pruning, moments, name, delta, repeats=repeats, takes_groups=True, kind=Moments)
    target_rows = check_rows_known(moments, name, needs_all=True)
    node_values = check_values(values, pruning)
    if target_range is not None:
        largest_residual = _largest_residual(pruning, node_values, *target_range)
    residuals = np.abs(target_rows.residuals(pruning, node_values))
    _check_rows(moments, target_rows.target, residuals, target_range, max_residual)
    power = 1 if loss == "absolute" else 2
    scale = float(largest_residual**power)
    losses = (residuals / largest_residual) ** power if largest_residual else residuals
    if isinstance(target_rows, GroupedRows):
        losses, method = target_rows.mean_of_groups(losses), f"{loss} error, mean losses of groups, betting"
    else:
        method = f"{loss} error, betting"
    value = scale * _limit(losses, rows) * (1 + 1e-15) if scale else 0.0
    return Bound(
        value=min(value, scale),
        method=method,
        errors=scale * math.fsum(losses.tolist()),
        details={
            "target_range": None if target_range is None else [float(end) for end in target_range],
            "max_residual": None if max_residual is None else float(max_residual),
        },
        quantity=f"mean {loss} error",
        scale=scale,
        assumes=assumes,
        **fields_of_repeated(rows, "count with the largest possible error"),
    )


def check_stated_range(target_range: Any, max_residual: Any) -> tuple[float, str]:
    """Return the largest residual, if it was stated, and the stated range in words; refuse anything but one range."""
    if (target_range is None) == (max_residual is None):
        found = "both were given" if target_range is not None else "neither was given"
        raise ParameterError(
            "a limit on the mean error of a number needs one range, stated without looking at the certifying rows: ",
            _stated_range(0, 100),
            " if every target is from 0 to 100, or ",
            Argument("max_residual", 30),
            f" if no prediction is off by more than 30; {found}",
        )
    if target_range is None:
        if not _is_finite(max_residual) or not max_residual > 0:
            raise ParameterError(Argument("max_residual", max_residual), "; a finite number above 0 is needed")
        return float(max_residual), f"no prediction is off by more than {float(max_residual):,.10g}"
    ends = list(target_range) if isinstance(target_range, list | tuple | np.ndarray) else []
    if len(ends) != 2 or not all(map(_is_finite, ends)) or not ends[0] < ends[1]:
        raise ParameterError(
            Argument("target_range", target_range),
            "; the least and the largest possible target are needed: (low, high)",
        )
    return 0.0, f"every target is from {float(ends[0]):,.10g} to {float(ends[1]):,.10g}"


def _stated_range(low: float, high: float) -> Wording:
    return Wording(f"target_range=({low:.10g}, {high:.10g})", f"--target-range {low:.10g},{high:.10g}")


def _is_finite(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def check_values(values: ArrayLike, pruning: Pruning) -> Floats:
    """Return the prediction of each node as floats; raise `ParameterError` unless each leaf has a finite one."""
    array = np.asarray(values, np.float64)
    n_nodes = pruning.tree.n_nodes
    if array.shape != (n_nodes,):
        raise ParameterError(f"values have shape {array.shape}; one prediction per node, ({n_nodes},), is needed")
    not_finite = np.flatnonzero(~np.isfinite(array) & pruning.is_leaf)
    if len(not_finite):
        leaf = not_finite[0]
        raise ParameterError(f"the value of leaf {leaf} is {array[leaf]}; finite numbers are needed")
    return array


def check_rows_known(moments: Moments, subject: str, *, needs_all: bool = False) -> TargetRows:
    """Return the rows of a sample, each with its target; raise `UnsupportedError` if they are not known.

    A model file has a random part of the rows of a large sample, which does if not all rows are needed.
    """
    rows = moments.rows
    if rows is None or (needs_all and rows.n_rows != moments.n_rows):
        raise UnsupportedError(
            f"the targets of single rows of sample {show(moments.sample)} are not known, and {subject} needs them: ",
            Wording("count the rows in memory, with secateur.count", "give the rows (--holdout, --engine memory)"),
            "; files of counts, and counts by engines, do not contain them",
        )
    return rows


def fields_of_repeated(rows: CertifyingRows, consequence: str) -> dict[str, Any]:
    """Return the fields of a `Bound` about its rows, which state what follows for rows that may be copies of others."""
    if not rows.repeats.n_errors:
        return rows.bound_fields
    text = (
        f"up to {rows.repeats.n_errors:,} of {rows.n:,} rows may be copies of other rows and {consequence} (unless you "
        "state that equal rows are independent draws)"
    )
    return {**rows.bound_fields, "repeats_text": text}


def _largest_residual(pruning: Pruning, values: Floats, low: float, high: float) -> float:
    """Return the largest possible residual for targets from `low` to `high`; refuse predictions outside this range."""
    predicted = values[pruning.leaves]
    outside = np.flatnonzero(~((predicted >= low) & (predicted <= high)))
    if len(outside):
        leaf = outside[0]
        raise ParameterError(
            f"leaf {pruning.leaves[leaf]} predicts {predicted[leaf]:.10g}, outside ",
            _stated_range(low, high),
            ": its growing rows contradict the range; state one that holds for all rows",
        )
    return float(np.maximum(high - predicted, predicted - low).max())


def _check_rows(
    moments: Moments, targets: Floats, residuals: Floats, target_range: Any, max_residual: float | None
) -> None:
    """Raise `CountsError` if a row contradicts the range that was stated."""
    stated: Argument | Wording
    if target_range is not None:
        is_outside = ~((targets >= target_range[0]) & (targets <= target_range[1]))
        stated = _stated_range(*target_range)
        found = "target", targets[is_outside]
    else:
        assert max_residual is not None
        is_outside = ~(residuals <= max_residual)
        stated, found = Argument("max_residual", max_residual), ("error", residuals[is_outside])
    n_outside = int(is_outside.sum())
    if n_outside:
        name, values = found
        worst = values[np.abs(values).argmax()]
        raise CountsError(
            f"{n_outside:,} of the {moments.n_rows:,} rows of sample {show(moments.sample)} contradict ",
            stated,
            f": one has the {name} {worst:.10g}; the statement is false, so nothing is certified. Do not widen it to "
            "fit these rows: a range read off the sample gives no guarantee. Find out whether the row is an error, or "
            "certify on other rows with a range that must hold",
        )


def _limit(losses: Floats, rows: CertifyingRows) -> float:
    """Return the betting bound on the mean of losses between 0 and 1; repeated rows have the largest loss."""
    if len(np.unique(losses)) > MAX_DISTINCT_LOSSES:
        mantissa, exponent = np.frexp(losses)
        losses = np.minimum(np.ldexp(np.ceil(np.ldexp(mantissa, ROUNDED_BITS)), exponent - ROUNDED_BITS), 1.0)
    return limit_of_means(losses, rows, math.log(rows.delta))
