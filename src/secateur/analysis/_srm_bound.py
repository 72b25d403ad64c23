"""The performance guarantee of bottom-up SRM pruning, as a number."""

import math

from .._utils.checks import check_int
from ._checks import check_between


def srm_excess_bound(n: int, n_nodes: int, depth: int, *, n_tests: float, delta: float = 0.05) -> float:
    """Return the published bound on the error of the bottom-up SRM pruning above that of the best pruning.

    Parameters
    ----------
    n : int
        Number m of rows.
    n_nodes : int
        Size s of the best pruning: its nodes, leaves included.
    depth : int
        Depth l of the best pruning.
    n_tests : float
        Number of tests that the grower could choose from.
    delta : float
        Probability that the bound may fail.

    Returns
    -------
    float
        3 (12 ln(s / delta) s / m + 2 sqrt(s ((1 + l) ln(n_tests) + ln(m / delta)) l / m)). The best pruning is not
        known, so the bound shows how errors scale, and is no certificate.

    Notes
    -----
    Mansour's notes, equations 12.18 and 12.20, Theorem 12.5, with the factor 3 of the proof; Kearns and Mansour (1998).
    The theorem states only the order.

    Examples
    --------
    >>> round(srm_excess_bound(100_000, 19, 4, n_tests=20), 3)
    0.939
    """
    n, n_nodes, depth = check_int("n", n, 1), check_int("n_nodes", n_nodes, 1), check_int("depth", depth, 0)
    delta = float(check_between("delta", delta, 1e-300, 1))
    small = 12 * math.log(n_nodes / delta) * n_nodes / n
    nats = n_nodes * ((1 + depth) * math.log(n_tests) + math.log(n / delta))
    return 3 * (small + 2 * math.sqrt(nats * depth / n))
