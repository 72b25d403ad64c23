"""An upper limit on the mean of losses between 0 and 1, from the number of times each value occurred.

Why it holds. Suppose the mean of the losses X is at least m. A bet that stakes the share s of its capital against X
turns a capital of 1 into 1 + s (m - X) / (1 - m). For 0 <= s <= 1 this is never negative, and its expectation is at
most 1. The same is true of the product over independent rows, and of every average of such products over stakes that
are fixed beforehand. Call this average K(m). By Markov's inequality, K(m) reaches 1 / delta with probability at most
delta. The limit is the least m for which K(m) reaches 1 / delta. K does not decrease in m, so if the true mean is above
the limit, K at the true mean has reached 1 / delta.

The stakes may depend on m, n and delta, which are not data. For losses of 0 and 1, and for small deviations, the best
stake is sqrt(2 ln(1/delta) (1 - m) / (n m)). Losses with a smaller variance need a larger one. So we use this stake
times 1.5^k, at most 1, for k = 0 to 15, with a weight proportional to 2^-k: the stake for the largest variance has the
largest weight and thus the lowest price. Each factor of the product increases in m with these stakes, too, so that K is
monotone.

Distance from the sample mean to the limit for losses of 0 and 1, divided by that of the exact limit (n from 50 to
20,000):

    delta                          .05           .001
    this limit                     1.5 to 1.6    1.2 to 1.3
    empirical Bernstein bound      1.7 to 3      1.3 to 3

If every loss is 0, this limit and the exact limit agree.
"""

import math

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Longs
from ..errors import ParameterError, show

N_STAKES = 16
STAKE_RATIO = 1.5  # between a stake and the next larger one
_FACTORS = STAKE_RATIO ** np.arange(N_STAKES)
_LOG_WEIGHTS = np.log(0.5 ** np.arange(N_STAKES) / (0.5 ** np.arange(N_STAKES)).sum())
RELATIVE_PRECISION = 1e-12  # of the bisection for the limit


def betting_upper(values: ArrayLike, counts: ArrayLike, log_delta: float) -> float:
    """Return an upper limit on the mean of independent losses between 0 and 1.

    Parameters
    ----------
    values : array
        The different values of the losses, between 0 and 1.
    counts : array of int
        Number of rows with each value.
    log_delta : float
        Natural logarithm of the failure probability.

    Returns
    -------
    float
        The true mean is above this limit with probability at most delta, whatever the distribution of the losses.
        The limit does not depend on the order of the rows. It is rounded up.

    Notes
    -----
    Each of about fifty steps of a bisection takes O(number of values). Waudby-Smith and Ramdas (2024), with a mixture
    of stakes instead of stakes that follow the rows.

    Examples
    --------
    >>> import math
    >>> from secateur.certifiers import betting_upper, binomial_upper
    >>> round(betting_upper([0, 0.1, 1], [915, 15, 70], math.log(0.05)), 4)
    0.0949
    >>> round(betting_upper([0], [1000], math.log(0.05)), 6), round(binomial_upper(0, 1000, math.log(0.05)), 6)
    (0.002991, 0.002991)
    """
    losses, n_rows = _checked_losses(values, counts)
    if not log_delta <= 0:
        raise ParameterError(f"log_delta={show(log_delta)}; the logarithm of a probability is 0 or less")
    n = float(n_rows.sum())
    if n == 0 or log_delta == -math.inf:
        return 1.0
    low, high = min(1.0, float(losses @ n_rows) / n), 1.0
    required = -log_delta + 1e-9 * (1.0 - log_delta)  # slightly more than ln(1 / delta), to make up for rounding
    while high - low > RELATIVE_PRECISION * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:  # pragma: no cover: only below the smallest normal number
            break
        if _log_capital(middle, losses, n_rows, n, -log_delta) >= required:
            high = middle
        else:
            low = middle
    return high


def _log_capital(m: float, losses: Floats, n_rows: Floats, n: float, log_price: float) -> float:
    """Return ln K(m), the log of the average capital; `log_price` is ln(1 / delta)."""
    stakes = np.minimum(1.0, _FACTORS * math.sqrt(2.0 * log_price * (1.0 - m) / (n * m)))
    gain = (m - losses) / (1.0 - m)
    with np.errstate(divide="ignore"):  # a stake of 1 can lose the whole capital, whose log is -inf
        log_capital = np.array([float(np.log1p(np.maximum(stake * gain, -1.0)) @ n_rows) for stake in stakes])
    return float(np.logaddexp.reduce(_LOG_WEIGHTS + log_capital))


def raise_losses(n_rows: Longs, n_repeated: int) -> Longs:
    """Return the number of rows with each loss after the losses of `n_repeated` rows were raised to the largest loss.

    `n_rows` is the number of rows with each loss, in ascending order of the losses. Which rows repeat others is not
    known, so the rows with the smallest losses are raised. Raising any other rows would give a lower or an equal limit.

    Examples
    --------
    >>> import numpy as np
    >>> raise_losses(np.array([5, 3, 1]), 6).tolist()
    [0, 2, 7]
    """
    n_before = np.cumsum(n_rows) - n_rows
    n_raised = np.clip(n_repeated - n_before, 0, n_rows)
    raised: Longs = n_rows - n_raised
    raised[-1] += n_raised.sum()
    return raised


def _checked_losses(values: ArrayLike, counts: ArrayLike) -> tuple[Floats, Floats]:
    """Return the values that occur and their numbers of rows, as float arrays; raise `ParameterError` if invalid."""
    losses, n_rows = np.asarray(values, np.float64), np.asarray(counts, np.float64)
    if losses.ndim != 1 or losses.shape != n_rows.shape:
        raise ParameterError(
            f"values of shape {losses.shape} and counts of {n_rows.shape}; one count per value is needed"
        )
    if not ((losses >= 0) & (losses <= 1)).all():
        raise ParameterError(f"values from {losses.min()} to {losses.max()}; losses between 0 and 1 are needed")
    if not ((n_rows >= 0) & (n_rows == np.floor(n_rows)) & np.isfinite(n_rows)).all():
        raise ParameterError(f"counts={show(counts)}; whole numbers of rows, 0 or more, are needed")
    return losses[n_rows > 0], n_rows[n_rows > 0]
