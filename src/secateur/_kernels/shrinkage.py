"""Held-out losses of shrunk probabilities, for every member of a path and several strengths at once."""

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
    least: cython.double,
    is_brier: cython.bint,
):
    """(sums of losses, of their squares), a line for each strength: log losses or Brier scores of the held-out rows.

    `grown` and `held` are class weights by node; `steps` is the first member in which a node is a leaf or gone. The
    probability of a node is that of its parent and the step of the shares from there, times rows / (rows + strength)
    of the parent. An empty node has that of its parent. Log losses count `least` for any probability below it.
    """
    n, n_classes = grown.shape[0], grown.shape[1]
    first: cython.double[:, ::1] = np.zeros((strengths.shape[0], n_members + 1))
    second: cython.double[:, ::1] = np.zeros((strengths.shape[0], n_members + 1))
    share: cython.double[:, ::1] = np.empty((n, n_classes))
    probability: cython.double[:, ::1] = np.empty((n, n_classes))
    total: cython.double[::1] = np.zeros(n)
    half = 0.5 if n_classes == 2 else 1.0
    p: cython.Py_ssize_t
    with cython.nogil:
        for v in range(n):
            for c in range(n_classes):
                total[v] += grown[v, c]
            for c in range(n_classes):
                if total[v] > 0:
                    share[v, c] = grown[v, c] / total[v]
                elif v > 0:
                    share[v, c] = share[parent[v], c]
                else:
                    share[v, c] = 1.0 / n_classes
        for s in range(strengths.shape[0]):
            for v in range(n):
                squares: cython.double = 0.0
                n_held: cython.double = 0.0
                if v == 0:
                    for c in range(n_classes):
                        probability[0, c] = share[0, c]
                else:
                    p = parent[v]
                    pull = total[p] / (total[p] + strengths[s]) if total[p] > 0 else 0.0
                    for c in range(n_classes):
                        probability[v, c] = probability[p, c] + (share[v, c] - share[p, c]) * pull
                for c in range(n_classes):
                    n_held += held[v, c]
                if n_held == 0:
                    continue
                if is_brier:
                    for c in range(n_classes):
                        squares += probability[v, c] * probability[v, c]
                loss: cython.double = 0.0
                square: cython.double = 0.0
                for c in range(n_classes):
                    if held[v, c] > 0:
                        if is_brier:
                            one = half * (1 - 2 * probability[v, c] + squares)
                        else:
                            one = -log(max(probability[v, c], least))
                        loss += held[v, c] * one
                        square += held[v, c] * one * one
                first[s, steps[v]] += loss
                second[s, steps[v]] += square
                if v > 0:
                    first[s, steps[parent[v]]] -= loss
                    second[s, steps[parent[v]]] -= square
            for v in range(1, n_members):
                first[s, v] += first[s, v - 1]
                second[s, v] += second[s, v - 1]
    return first.base[:, :n_members], second.base[:, :n_members]
