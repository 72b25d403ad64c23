"""The error estimate of C4.5: the upper confidence limit of the errors of a leaf."""

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Ints, LongsOrFloats


def upper_limit(errors: ArrayLike, n: ArrayLike, confidence: float = 0.25) -> Floats:
    """Return U(E, N): the error rate p at which N rows show at most E errors with probability `confidence`.

    Parameters
    ----------
    errors, n : numbers or arrays
        E and N. Real numbers (weights) are allowed too; the Beta quantile extends the limit to them.
    confidence : float

    Returns
    -------
    array
        Between 0 and 1; 1 where all rows are errors, or where there are no rows.

    Examples
    --------
    >>> upper_limit([0, 0, 0, 1], [6, 9, 1, 16]).round(4).tolist()
    [0.2063, 0.1428, 0.75, 0.1596]
    """
    error, total = np.broadcast_arrays(np.asarray(errors, float), np.asarray(n, float))
    limit = np.ones(error.shape)
    is_pure = (error <= 0) & (total > 0)
    limit[is_pure] = -np.expm1(np.log(confidence) / total[is_pure])
    is_mixed = (error > 0) & (error < total)
    if is_mixed.any():
        from scipy.special import betaincinv

        # Many small nodes share the same pair (E, N), and a quantile costs more than sorting: compute one per pair.
        pairs, pair_of_entry = np.unique(error[is_mixed] + 1j * total[is_mixed], return_inverse=True)
        limit[is_mixed] = betaincinv(pairs.real + 1, pairs.imag - pairs.real, 1 - confidence)[pair_of_entry]
    return limit


def estimated_errors(by_class: LongsOrFloats, confidence: float = 0.25, labels: Ints | None = None) -> Floats:
    """Return N U(E, N), the estimated errors of leaves with the given class counts (one line per leaf).

    A leaf predicts its majority, or the class that `labels` holds.

    Examples
    --------
    >>> estimated_errors(np.array([[6, 0], [9, 0], [0, 1], [15, 1]])).round(4).tolist()
    [1.2378, 1.2848, 0.75, 2.5538]
    """
    total = by_class.sum(axis=1)
    n_right = by_class.max(axis=1) if labels is None else by_class[np.arange(len(by_class)), labels]
    return np.asarray(total * upper_limit(total - n_right, total, confidence), float)
