"""Which member to take when the error of each and its standard error are known."""

import math

import numpy as np

from ..data.arrays import Array, ArrayLike, Floats
from ..errors import ParameterError

_TOLERANCE = 1e-12  # error rates are rounded quotients: nearer ones are tied


def choose(error: ArrayLike, se: ArrayLike, k: float = 0.0) -> tuple[int, int]:
    """Return the member with the lowest error, and the smallest member within `k` standard errors of it.

    Parameters
    ----------
    error, se : array
        One number per member, largest tree first; `se` may be NaN where `k` is 0.
    k : float
        0 takes the member of least error itself.

    Returns
    -------
    (int, int)
        With equal errors, the last, which is the smallest tree. The limit itself is within the limit, so
        that an error of 0 is chosen too.

    Examples
    --------
    >>> choose([0.125, 0.115, 0.11, 0.12, 0.15], [0.023, 0.023, 0.022, 0.023, 0.025], k=1)
    (2, 3)
    """
    rates, spread = np.asarray(error, np.float64), np.asarray(se, np.float64)
    if rates.ndim != 1 or rates.shape != spread.shape or not len(rates):
        raise ParameterError(
            f"errors of shape {rates.shape} and standard errors of {spread.shape}; one of each per member"
        )
    least = rates.min()
    best = int(np.flatnonzero(rates <= least * (1 + _TOLERANCE))[-1])
    if k == 0:
        return best, best
    limit = least + k * spread[best]
    if not math.isfinite(limit):
        raise ParameterError(f"the standard error of member {best} is {spread[best]}; k={k:g} needs a finite one")
    return best, int(np.flatnonzero(rates <= limit * (1 + _TOLERANCE))[-1])


def more_than_one_leaf(chosen: int, by_fold: Floats, n_folds: int, n_leaves: Array) -> int:
    """Return the chosen member; not a single leaf where a member errs less by more than that difference deviates.

    Its standard error is that over the folds, in which both err on the same rows: it is often much below that of
    either error, by which a single leaf is within the limit. Then the smallest such member is taken. Repeats see
    the same rows again: they do not count as further folds.
    """
    if n_leaves[chosen] > 1 or n_folds < 2:
        return chosen
    gain = by_fold[:, [chosen]] - by_fold
    beats = (gain.mean(axis=0) > gain.std(axis=0, ddof=1) / math.sqrt(n_folds)) & (n_leaves > 1)
    return int(np.flatnonzero(beats)[-1]) if beats.any() else chosen


def within_difference(best: int, by_fold: Floats, n_folds: int, k: float) -> int:
    """Return the smallest member that is worse than the best by at most `k` standard errors of the difference.

    They are those over the folds. Losses of probabilities differ from row to row much more than from tree to tree:
    by the standard error of a mean of them trees would be within the limit that every fold finds worse.
    """
    more = by_fold - by_fold[:, [best]]
    limit = k * more.std(axis=0, ddof=1) / math.sqrt(n_folds)
    return int(np.flatnonzero(more.mean(axis=0) <= limit * (1 + _TOLERANCE))[-1])


def rule_name(k: float) -> str:
    """The name under which a selection remembers its rule."""
    return f"{k:g}se"
