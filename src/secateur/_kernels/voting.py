"""The weighted sum over all prunings of a tree, node by node, in logs.

With `own[v]` the log weight of v as a leaf (without the coin), `below[v]` the sum of
`log_z` over its children and a fair coin "cut or keep" at every internal node:

    log_z[v] = own[v]                                    at an original leaf
    log_z[v] = ln( exp(own[v]) / 2 + exp(below[v]) / 2 ) elsewhere
"""

import math

import numpy as np
import numpy.typing as npt

from ._jit import njit

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@njit
def log_weights(parent: Ints, end: Ints, own: Floats) -> Floats:
    """`log_z` of every node."""
    log_z = np.empty_like(own)
    for v in range(parent.shape[0] - 1, -1, -1):
        log_z[v] = _log_weight(v, end, own, log_z)
    return log_z


@njit
def cut_probabilities(end: Ints, own: Floats, log_z: Floats) -> Floats:
    """Probability that v is a leaf, given that it is not under one."""
    cut = np.ones_like(own)
    for v in range(own.shape[0]):
        if end[v] > v + 1:
            cut[v] = 0.5 * math.exp(own[v] - log_z[v])
    return cut


@njit
def expected_cost(parent: Ints, cut: Floats, cost: Floats) -> Floats:
    """Mean cost of the leaves below each node when every node is cut with probability `cut`."""
    n = parent.shape[0]
    below = np.zeros(n)
    for v in range(n - 1, -1, -1):
        # An original leaf is cut with probability 1, so its empty sum has no weight.
        below[v] = cut[v] * cost[v] + (1.0 - cut[v]) * below[v]
        if v > 0:
            below[parent[v]] += below[v]
    return below


@njit
def votes_downwards(parent: Ints, cut: Floats, says: Floats) -> Floats:
    """Votes gathered on the way from the root to each node; complete at the original leaves."""
    votes = np.empty_like(says)
    still_open = np.empty(parent.shape[0])
    for v in range(parent.shape[0]):
        p = parent[v]
        still_open[v] = 1.0 if v == 0 else still_open[p] * (1.0 - cut[p])
        for c in range(says.shape[1]):
            votes[v, c] = still_open[v] * cut[v] * says[v, c] + (votes[p, c] if v > 0 else 0.0)
    return votes


@njit
def path_to_root(parent: Ints, node: int) -> Ints:
    """The nodes from `node` up to the root."""
    length = 0
    v = node
    while v >= 0:
        length += 1
        v = parent[v]
    path = np.empty(length, np.int32)
    v = node
    for i in range(length):
        path[i] = v
        v = parent[v]
    return path


@njit
def votes_on_path(path: Ints, cut: Floats, says: Floats) -> Floats:
    """Votes at the original leaf `path[0]`, climbing from it to the root."""
    votes: Floats = says[path[0]].copy()
    for i in range(1, path.shape[0]):
        v = path[i]
        for c in range(votes.shape[0]):
            votes[c] = cut[v] * says[v, c] + (1.0 - cut[v]) * votes[c]
    return votes


@njit
def update_path(path: Ints, end: Ints, own: Floats, log_z: Floats, cut: Floats) -> None:
    """Bring `log_z` and `cut` up to date, in place, after `own` has changed on a path to the root.

    The children are added up anew rather than corrected by a difference, so that
    rounding does not pile up over millions of updates.
    """
    for i in range(path.shape[0]):
        v = path[i]
        log_z[v] = _log_weight(v, end, own, log_z)
        if end[v] > v + 1:
            cut[v] = 0.5 * math.exp(own[v] - log_z[v])


@njit
def _log_weight(v: int, end: Ints, own: Floats, log_z: Floats) -> float:
    if end[v] == v + 1:
        return float(own[v])
    below = 0.0
    child = v + 1
    while child < end[v]:
        below += log_z[child]
        child = end[child]
    high = max(own[v], below)
    low = min(own[v], below)
    return float(high + math.log1p(math.exp(low - high)) - math.log(2.0))
