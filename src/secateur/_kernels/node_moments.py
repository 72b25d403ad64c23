"""Weight, mean and squared error of a number in every node, without losing digits.

Squared errors are added up around each leaf's own mean and then carried upwards,

    spread = sum over the children of (spread + weight * (mean - mean of the parent)^2),

a sum of terms of one sign: nothing cancels, however far the numbers are from 0.
"""

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@njit
def leaf_moments(
    leaf: Ints, rows: npt.NDArray[np.integer], y: Floats, weight: Floats, n_nodes: int
) -> tuple[Floats, Floats, Floats]:
    """(weight, mean, spread) of each leaf, the rows taken in the order of `rows`; 0 elsewhere.

    `weight` is empty where every row weighs 1.
    """
    total = np.zeros(n_nodes)
    first = np.zeros(n_nodes)  # a number of the leaf: differences from it keep their digits
    shift = np.zeros(n_nodes)
    spread = np.zeros(n_nodes)
    rest = np.zeros(n_nodes)
    is_weighted = weight.shape[0] > 0
    for i in range(rows.shape[0]):
        row = rows[i]
        v = leaf[row]
        w = weight[row] if is_weighted else 1.0
        if total[v] == 0:
            first[v] = y[row]
        total[v] += w
        shift[v] += w * (y[row] - first[v])
    for v in range(n_nodes):
        if total[v] > 0:
            shift[v] /= total[v]
    for i in range(rows.shape[0]):
        row = rows[i]
        v = leaf[row]
        w = weight[row] if is_weighted else 1.0
        d = (y[row] - first[v]) - shift[v]
        spread[v] += w * d * d
        rest[v] += w * d
    for v in range(n_nodes):
        if total[v] > 0:  # what the rounding of the mean has added
            spread[v] = max(spread[v] - rest[v] * rest[v] / total[v], 0.0)
    return total, first + shift, spread


@njit
def moments_upwards(parent: Ints, weight: Floats, mean: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """(weight, mean, spread) of all nodes from those of the leaves; an empty node has the mean of its parent.

    What is given for inner nodes must be 0.
    """
    n = parent.shape[0]
    total = weight.copy()
    centre = weight * mean
    error = spread.copy()
    for v in range(n - 1, 0, -1):
        total[parent[v]] += total[v]
        centre[parent[v]] += centre[v]
    is_leaf = np.ones(n, np.bool_)
    for v in range(1, n):
        is_leaf[parent[v]] = False
    for v in range(n):
        if is_leaf[v] and weight[v] > 0:
            centre[v] = mean[v]
        elif total[v] > 0:
            centre[v] /= total[v]
        else:
            centre[v] = centre[parent[v]] if v > 0 else mean[v]
    for v in range(n - 1, 0, -1):
        d = centre[v] - centre[parent[v]]
        error[parent[v]] += error[v] + total[v] * d * d
    return total, centre, error
