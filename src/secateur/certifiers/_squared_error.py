"""The certificate of the mean squared error of a regression tree, from a fresh sample."""

from collections.abc import Sequence

from .._utils.arrays import ArrayLike
from ..core import Bound, Moments, Pruning
from ..statistics.repeats import RepeatRule, Repeats
from ._groups import GroupError
from ._mean_loss import certify_mean_loss


def squared_error(
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
    """Return the betting bound on the mean squared error of a regression tree, from a fresh sample.

    Parameters
    ----------
    pruning, moments, values, target_range, max_residual, delta, repeats, group_error
        As for `absolute_error`, which also states what is refused.

    Returns
    -------
    Bound
        `quantity` is "mean squared error", `errors` the sum of the squared errors in the sample, and `scale` the
        largest squared error that is possible. The root of `value` limits the root mean squared error.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import squared_error
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> y = np.where(X[:, 0] < 0.5, 10, 20) + rng.uniform(-3, 3, size=2000)
    >>> tree, grown = secateur.grow(X[:1000], y[:1000], criterion="squared_error", max_depth=1)
    >>> fresh = secateur.count(tree, X[1000:], y[1000:], sample="fresh")
    >>> whole = secateur.Pruning.from_cuts(tree, [])
    >>> bound = squared_error(whole, fresh, values=grown.mean, target_range=(0, 30))
    >>> round(bound.rate, 2), round(bound.value, 2)
    (3.04, 4.39)
    """
    return certify_mean_loss(
        pruning, moments, "squared", values, target_range, max_residual, delta, repeats, group_error
    )
