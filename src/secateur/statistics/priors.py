"""Priors: weights of prunings that the growing sample determines before any held-out row is used.

The informed prior of a pruning P with g growing errors and s leaves is

    pi(P) = exp(-lam * g - mu * s) / Z,

where Z is the sum over all prunings, from one backwards pass. Trying q pairs (lam, mu) has the price ln q.
"""

import itertools

import numpy as np

from .._kernels import mixtures
from .._utils.arrays import ArrayLike, Floats, LongsOrFloats
from ..core import Tree
from ..errors import ParameterError, show

LAMBDAS = (0.05, 0.1, 0.2, 0.3, 0.5)
MUS = (0.0, 0.5, 1.0, 2.0, 3.0)


def prior_grid(lam: ArrayLike = LAMBDAS, mu: ArrayLike = MUS) -> list[tuple[float, float]]:
    """Return every pair of a value of `lam` and a value of `mu`; both must be fixed before held-out rows are used.

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
    grids = []
    for name, values in (("lam", lam), ("mu", mu)):
        array = np.unique(np.asarray(values, np.float64))
        if array.size == 0 or not (np.isfinite(array) & (array >= 0)).all():
            raise ParameterError(f"{name}={show(values)}; finite numbers of 0 or more are needed")
        grids.append(array.tolist())
    return list(itertools.product(*grids))


def prior_cost(grown_errors: LongsOrFloats, lam: float, mu: float) -> Floats:
    """Return minus the log of the prior weight of each node as a leaf: `lam * growing errors + mu`."""
    cost: Floats = lam * grown_errors + mu
    return cost


def log_normaliser(tree: Tree, grown_errors: LongsOrFloats, lam: float, mu: float) -> float:
    """Return ln Z, the log of the sum of the weights of all prunings under the informed prior.

    Examples
    --------
    >>> round(log_normaliser(Tree.from_parents([-1, 0, 0]), np.array([1, 0, 0]), 0.0, 0.0), 4)
    0.6931
    """
    return float(mixtures.log_partition(tree.parent, -prior_cost(grown_errors, lam, mu))[0])
