"""Prediction intervals of a regression tree: order statistics of the residuals of held-out rows."""

from typing import Any, Literal

import numpy as np

from .._utils.arrays import Floats, Longs, write_protect
from .._utils.checks import check_name
from ..core import Calibration, Moments, PredictionIntervals, Pruning
from ..errors import Argument, CountsError, LeakageError, ParameterError, UnsupportedError
from ..statistics.conformal import Coverage
from ._mean_loss import check_rows_known
from ._pooling import pool_leaves

By = Literal["leaf", "all"]
BY: tuple[By, ...] = ("leaf", "all")


def prediction_intervals(
    pruning: Pruning,
    grown: Moments,
    calibration: Calibration,
    *,
    coverage: float = 0.9,
    confidence: float | None = None,
    symmetric: bool = True,
    by: By = "leaf",
) -> PredictionIntervals:
    """Return a prediction interval for each leaf, with a guarantee that holds for any distribution of the target.

    Parameters
    ----------
    pruning : Pruning
        The pruned tree.
    grown : Moments
        The growing sample: its means are the predictions.
    calibration : Calibration
        Rows that had no part in making the pruning, from `calibrate`.
    coverage : float
        The share of new rows whose target the interval contains.
    confidence : float, optional
        By default, the probability that the interval contains the target of a new row is at least `coverage`, over the
        draw of the held-out rows and the new row (split conformal prediction). With `confidence=0.95`, the intervals
        contain the targets of at least the share `coverage` of new rows with 95 % confidence, over the draw of the
        held-out rows (a tolerance limit). They are wider.
    symmetric : bool
        Whether the interval extends equally far on both sides of the prediction. Otherwise rows are left out on each
        side alike, which suits skewed targets.
    by : "leaf" or "all"
        "leaf": the guarantee holds for the rows of each leaf. Leaves in which too few rows are expected are pooled, and
        it holds for the rows of the pooled leaves together. Which leaves are pooled depends on the shares of growing
        rows in the leaves and on the number of held-out rows. "all": all leaves are pooled.

    Returns
    -------
    PredictionIntervals
        The intervals are closed. `guarantee` states the guarantee in words. O(n_rows log n_rows).

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import calibrate, prediction_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> y = np.where(X[:, 0] < 0.5, 10, 20) + rng.uniform(-3, 3, size=2000)
    >>> tree, grown = secateur.grow(X[:1000], y[:1000], criterion="squared_error", max_depth=1)
    >>> whole = secateur.Pruning.from_cuts(tree, [])
    >>> rows = calibrate(whole, secateur.count(tree, X[1000:], y[1000:], sample="fresh"))
    >>> intervals = prediction_intervals(whole, grown, rows, coverage=0.9)
    >>> intervals.lower.round(1).tolist(), intervals.upper.round(1).tolist()
    ([7.2, 17.4], [12.6, 22.7])
    """
    check_name("by", by, BY)
    if not isinstance(symmetric, bool):
        raise ParameterError(Argument("symmetric", symmetric), "; True or False is needed")
    required = coverage_of(pruning, calibration, coverage, confidence)
    moments = calibration.sample
    if not isinstance(moments, Moments) or not isinstance(grown, Moments):
        raise UnsupportedError("prediction intervals are for a numeric target; for classes use prediction_sets")
    grown.check_fits(pruning.tree)
    rows = check_rows_known(moments, "a prediction interval")
    n_needed = required.min_rows(is_two_sided=not symmetric)
    unit = units_of(pruning, grown, by, rows.n_rows, n_needed)
    predicted = np.asarray(grown.mean, np.float64)[pruning.leaves]
    unit_of_row = unit[np.searchsorted(pruning.leaves, rows.leaves_of(pruning))]
    residuals = rows.residuals(pruning, grown.mean)
    below, above = _margins(residuals, unit_of_row, int(unit.max()) + 1, required, is_symmetric=symmetric)
    return PredictionIntervals(
        lower=write_protect(predicted + below[unit]),
        upper=write_protect(predicted + above[unit]),
        is_symmetric=symmetric,
        n_rows=write_protect(np.bincount(unit_of_row, minlength=int(unit.max()) + 1)),
        **region_fields(pruning, calibration, required, by, unit, n_needed),
    )


def _margins(
    residuals: Floats, unit: Longs, n_units: int, required: Coverage, *, is_symmetric: bool
) -> tuple[Floats, Floats]:
    """Return the ends of the interval of each unit, relative to the prediction."""
    scores = np.abs(residuals) if is_symmetric else residuals
    order = np.lexsort((scores, unit))
    scores, starts = scores[order], np.searchsorted(unit[order], np.arange(n_units + 1))
    below, above = np.full(n_units, -np.inf), np.full(n_units, np.inf)
    positions: dict[int, int | None] = {}  # of the rank, by number of rows
    find = required.rank if is_symmetric else required.trimmed
    for u in range(n_units):
        first, end = int(starts[u]), int(starts[u + 1])
        n = end - first
        if n not in positions:
            positions[n] = find(n)
        position = positions[n]
        if position is None:
            continue
        if is_symmetric:
            above[u] = scores[first + position - 1]
            below[u] = -above[u]
        else:
            below[u], above[u] = scores[first + position - 1], scores[end - position]
    return below, above


def coverage_of(pruning: Pruning, calibration: Calibration, coverage: float, confidence: float | None) -> Coverage:
    """Return what is to be covered; raise `LeakageError` if the rows are not known to be fresh for the pruning."""
    if not calibration.sample.tree.same_structure(pruning.tree):
        raise CountsError("the calibrating rows were counted on another tree; count them on the tree of the pruning")
    if not calibration.fits(pruning):
        raise LeakageError(
            "the rows calibrate another pruning of this tree; calibrate this pruning with rows that had no part in "
            "choosing it"
        )
    return Coverage(coverage, confidence, calibration.n_repeated, calibration.delta)


def units_of(pruning: Pruning, grown: Any, by: By, n_rows: int, n_needed: int) -> Longs:
    """Return the unit of each leaf; `by` is "leaf" or "all"."""
    if by == "all":
        return np.zeros(pruning.n_leaves, np.int64)
    n_grown = float(grown.total[0]) if grown.n_rows is None else float(grown.n_rows)
    return pool_leaves(pruning, grown.total, n_rows, n_needed, n_grown)


def region_fields(
    pruning: Pruning, calibration: Calibration, required: Coverage, by: str, unit: Longs, n_needed: int
) -> dict[str, Any]:
    """Return the fields that prediction intervals and sets share."""
    return {
        "coverage": float(required.share),
        "confidence": None if required.confidence is None else float(required.confidence),
        "leaves": pruning.leaves,
        "unit": write_protect(unit),
        "min_rows": n_needed,
        "by": by,
        "sample": calibration.sample.sample,
        **{name: getattr(calibration, name) for name in ("freshness", "is_checked", "repeats_text", "stated")},
    }
