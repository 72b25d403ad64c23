"""Held-out losses of shrunk probabilities, for every member of a pruning path and for several strengths at once.

The shrunk probability of node v walks down from the root: it is the probability of the parent p, plus the step of the
class shares from p to v, times total[p] / (total[p] + strength). A strong shrinkage leaves small nodes near their
parents. The losses of the rows of node v count for the members in which v is a leaf, steps[v] <= i < steps[parent[v]]:
a difference array over the members, summed up at the end.

Cost: one step per node, class and strength, for all members together.
"""

import cython
import numpy as np
from cython.cimports.libc.math import log
from cython.cimports.secateur._kernels.views import Floats, Ints


def shrunk_losses(
    parent: Ints,
    steps: Ints,
    grown: cython.const[cython.double][:, ::1],
    held: cython.const[cython.double][:, ::1],
    strengths: Floats,
    n_members: cython.Py_ssize_t,
    min_probability: cython.double,
    is_brier: cython.bint,
):
    """Return the summed losses of the held-out rows and of their squares, one line for each strength.

    Losses are Brier scores if `is_brier`, else log losses. `grown` and `held` are the class weights of every node in
    the growing and in the held-out sample; `steps[v]` is the first member in which node v is a leaf or removed. An
    empty node has the shares of its parent. Log losses take `min_probability` for any probability below it.
    """
    n, n_classes = grown.shape[0], grown.shape[1]
    loss_sums: cython.double[:, ::1] = np.zeros((strengths.shape[0], n_members + 1))
    square_sums: cython.double[:, ::1] = np.zeros((strengths.shape[0], n_members + 1))
    share: cython.double[:, ::1] = np.empty((n, n_classes))
    probability: cython.double[:, ::1] = np.empty((n, n_classes))
    total: cython.double[::1] = np.zeros(n)
    node_loss: cython.double[::1] = np.zeros(2)  # of the held-out rows of one node: losses, squared losses
    with cython.nogil:
        _fill_shares(parent, grown, total, share)
        for s in range(strengths.shape[0]):
            for v in range(n):
                _shrink(v, parent, strengths[s], total, share, probability)
                if not _sum_losses(v, held, probability, min_probability, is_brier, node_loss):
                    continue
                loss_sums[s, steps[v]] += node_loss[0]
                square_sums[s, steps[v]] += node_loss[1]
                if v > 0:
                    loss_sums[s, steps[parent[v]]] -= node_loss[0]
                    square_sums[s, steps[parent[v]]] -= node_loss[1]
            for i in range(1, n_members):
                loss_sums[s, i] += loss_sums[s, i - 1]
                square_sums[s, i] += square_sums[s, i - 1]
    return loss_sums.base[:, :n_members], square_sums.base[:, :n_members]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_shares(
    parent: Ints, grown: cython.const[cython.double][:, ::1], total: cython.double[::1], share: cython.double[:, ::1]
) -> cython.void:
    """Fill the total weight and the class shares of every node; an empty node has the shares of its parent."""
    n_classes = grown.shape[1]
    for v in range(parent.shape[0]):
        for c in range(n_classes):
            total[v] += grown[v, c]
        for c in range(n_classes):
            if total[v] > 0:
                share[v, c] = grown[v, c] / total[v]
            elif v > 0:
                share[v, c] = share[parent[v], c]
            else:
                share[v, c] = 1.0 / n_classes


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shrink(
    v: cython.Py_ssize_t,
    parent: Ints,
    strength: cython.double,
    total: cython.double[::1],
    share: cython.double[:, ::1],
    probability: cython.double[:, ::1],
) -> cython.void:
    """Fill the shrunk probabilities of node v from those of its parent."""
    n_classes = share.shape[1]
    p: cython.Py_ssize_t = parent[v]
    if v == 0:
        for c in range(n_classes):
            probability[0, c] = share[0, c]
        return
    step_factor = total[p] / (total[p] + strength) if total[p] > 0 else 0.0
    for c in range(n_classes):
        probability[v, c] = probability[p, c] + (share[v, c] - share[p, c]) * step_factor


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sum_losses(
    v: cython.Py_ssize_t,
    held: cython.const[cython.double][:, ::1],
    probability: cython.double[:, ::1],
    min_probability: cython.double,
    is_brier: cython.bint,
    node_loss: cython.double[::1],
) -> cython.bint:
    """Fill the summed losses of the held-out rows of node v and of their squares; return False if there are no rows."""
    n_classes = held.shape[1]
    brier_factor = 0.5 if n_classes == 2 else 1.0  # of two classes the Brier score counts one
    n_held: cython.double = 0.0
    squares: cython.double = 0.0
    row_loss: cython.double
    for c in range(n_classes):
        n_held += held[v, c]
    if n_held == 0:
        return False
    if is_brier:
        for c in range(n_classes):
            squares += probability[v, c] * probability[v, c]
    loss: cython.double = 0.0
    square: cython.double = 0.0
    for c in range(n_classes):
        if held[v, c] > 0:
            if is_brier:
                row_loss = brier_factor * (1 - 2 * probability[v, c] + squares)
            else:
                row_loss = -log(max(probability[v, c], min_probability))
            loss += held[v, c] * row_loss
            square += held[v, c] * row_loss * row_loss
    node_loss[0] = loss
    node_loss[1] = square
    return True
