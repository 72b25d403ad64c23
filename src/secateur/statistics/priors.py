"""Weights of prunings that the growing sample may fix before any held-out row is seen.

The informed prior of a pruning P with g growing errors and s leaves is

    pi(P) = exp(-lam * g - mu * s) / Z,

Z summed over all prunings in one backwards pass. Trying q pairs (lam, mu) costs ln q.
"""

import itertools

import numpy as np

from .._kernels import mixtures
from .._utils.arrays import ArrayLike, Floats, LongsOrFloats
from ..core import Tree
from ..errors import ParameterError

LAMBDAS = (0.05, 0.1, 0.2, 0.3, 0.5)
MUS = (0.0, 0.5, 1.0, 2.0, 3.0)


def prior_grid(lam: ArrayLike = LAMBDAS, mu: ArrayLike = MUS) -> list[tuple[float, float]]:
    """Return every pair of the two lists, which must be fixed before the held-out sample is seen.

    Parameters
    ----------
    lam : float or list of float
        Weight of a growing error.
    mu : float or list of float
        Weight of a leaf.

    Examples
    --------
    >>> prior_grid([0.1, 0.2], 1)
    [(0.1, 1.0), (0.2, 1.0)]
    """
    lists = []
    for name, values in (("lam", lam), ("mu", mu)):
        array = np.unique(np.asarray(values, np.float64))
        if array.size == 0 or not (np.isfinite(array) & (array >= 0)).all():
            raise ParameterError(f"{name}={values!r}; finite numbers of 0 or more are needed")
        lists.append(array.tolist())
    return list(itertools.product(*lists))


def prior_cost(grown_errors: LongsOrFloats, lam: float, mu: float) -> Floats:
    """Return `lam * growing errors + mu` of each node as a leaf: minus the log of its weight."""
    cost: Floats = lam * grown_errors + mu
    return cost


def log_normaliser(tree: Tree, grown_errors: LongsOrFloats, lam: float, mu: float) -> float:
    """Return ln Z of the informed prior.

    Examples
    --------
    >>> round(log_normaliser(Tree.from_parents([-1, 0, 0]), np.array([1, 0, 0]), 0.0, 0.0), 4)
    0.6931
    """
    return float(mixtures.log_partition(tree.parent, -prior_cost(grown_errors, lam, mu))[0])
