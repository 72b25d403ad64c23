"""The certificate of the mean absolute error of a regression tree, from a fresh sample."""

from collections.abc import Sequence

from .._utils.arrays import ArrayLike
from ..core import Bound, Moments, Pruning
from ..statistics.repeats import RepeatRule, Repeats
from ._groups import GroupError
from ._mean_loss import certify_mean_loss


def absolute_error(
    pruning: Pruning,
    moments: Moments,
    *,
    values: ArrayLike,
    target_range: Sequence[float] | None = None,
    max_residual: float | None = None,
    delta: float = 0.05,
    repeats: Repeats | RepeatRule = "errors",
    group_error: GroupError = "share",
) -> Bound:
    """Return the betting bound on the mean absolute error of a regression tree, from a fresh sample.

    Parameters
    ----------
    pruning : Pruning
        The pruning to certify.
    moments : Moments
        A sample that had no part in growing, pruning or choosing, as `count` returns it.
    values : array
        The prediction of each node as a leaf: the means of the growing sample, `grown.mean`.
    target_range : (low, high), optional
        The least and the largest target that a row can have.
    max_residual : float, optional
        The largest possible difference between a target and its prediction. Either this or `target_range` is needed,
        stated without looking at the sample.
    delta : float
        Probability, over samples, that the limit is too low.
    repeats
        As for `certify`; rows that may be copies have the largest possible loss.
    group_error : "share"
        For a sample with groups, the loss of a group is the mean loss of its rows.

    Returns
    -------
    Bound
        `quantity` is "mean absolute error", `errors` the sum of the absolute errors in the sample (so that `rate` is
        their mean), `scale` the largest error that is possible, and `assumes` the range that was stated.

    Raises
    ------
    CountsError
        If a row contradicts the stated range. The range is then false, and no limit follows.

    Notes
    -----
    Rows with weights are refused. O(n_rows log n_rows), and about a second for a million rows.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import absolute_error
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> y = np.where(X[:, 0] < 0.5, 10, 20) + rng.uniform(-3, 3, size=2000)
    >>> tree, grown = secateur.grow(X[:1000], y[:1000], criterion="squared_error", max_depth=1)
    >>> fresh = secateur.count(tree, X[1000:], y[1000:], sample="fresh")
    >>> whole = secateur.Pruning.from_cuts(tree, [])
    >>> bound = absolute_error(whole, fresh, values=grown.mean, target_range=(0, 30))
    >>> round(bound.rate, 2), round(bound.value, 2)
    (1.49, 1.61)
    """
    return certify_mean_loss(
        pruning, moments, "absolute", values, target_range, max_residual, delta, repeats, group_error
    )
