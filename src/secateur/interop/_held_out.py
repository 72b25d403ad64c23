"""Held-out rows in a scikit-learn tree: what every node would cost them as a leaf, and how surely."""

from dataclasses import dataclass

import numpy as np

from .._kernels import structure
from ..data.arrays import Array, ArrayLike, Floats, Ints, Labels, Sums, sealed
from ..data.target import check_weights, encode_target
from ..nouns import Pruning, PruningSequence, Sample
from ..selection import choose as select_member
from ._counting import counted, numbers
from ._read import Foreign

CHOICES = {"min-error": 0, "0se": 0, "1se": 1}  # so many standard errors above the least error


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that did not grow the tree.

    Parameters
    ----------
    foreign : Foreign
    leaves : array of int
        The leaf of each row.
    target : array
        Class numbers, or numbers.
    weight : array
    sample : Counts or Moments
    cost : array
        Errors (squared or absolute differences) of each node as a leaf that answers what the
        scikit-learn node does.
    """

    foreign: Foreign
    leaves: Ints
    target: Array
    weight: Floats
    sample: Sample
    cost: Sums

    def standard_error(self, pruning: Pruning) -> float:
        """Return the standard error of the summed cost of a pruning."""
        nodes = np.arange(pruning.tree.n_nodes, dtype=np.int32)
        answering = structure.inherit_labels(pruning.tree.parent, nodes, ~(pruning.is_leaf | pruning.is_kept))
        losses = _losses(self.foreign, self.target, answering[self.leaves])
        total = self.weight.sum()
        mean = (self.weight * losses).sum() / total
        return float(np.sqrt((self.weight * (losses - mean) ** 2).sum()))

    def choose(self, sequence: PruningSequence, rule: str) -> Pruning:
        """Return the member of least cost, the smallest of equals, or the smallest within a standard error of it."""
        total = self.weight.sum()
        rates = sequence.costs_on(self.cost) / total
        errors = np.full(len(rates), np.nan)
        best, _ = select_member(rates, errors)
        errors[best] = self.standard_error(sequence[best]) / total
        return sequence[select_member(rates, errors, CHOICES[rule])[1]]


def held_out(foreign: Foreign, leaves: Ints, y: Labels, sample_weight: ArrayLike | None) -> HeldOut:
    """Return held-out rows counted in a tree."""
    sample = counted(foreign, leaves, y, sample_weight, "prune")
    given = check_weights(sample_weight, len(leaves))
    weight = np.ones(len(leaves)) if given is None else np.asarray(given)
    target: Array = encode_target(y, classes=foreign.classes)[0] if foreign.is_classifier else numbers(y, len(leaves))
    if foreign.estimator.criterion == "absolute_error":
        cost = _absolute_errors(foreign, leaves, target, weight)
    else:
        cost = sample.costs_if_leaf(foreign.answers)
    return HeldOut(foreign, leaves, target, weight, sample, cost)


def _losses(foreign: Foreign, target: Array, nodes: Ints) -> Floats:
    if foreign.is_classifier:
        return np.asarray(foreign.labels[nodes] != target, np.float64)
    difference: Floats = np.abs(foreign.values[nodes, 0] - target)
    return difference if foreign.estimator.criterion == "absolute_error" else difference**2


def _absolute_errors(foreign: Foreign, leaves: Ints, target: Floats, weight: Floats) -> Floats:
    """Weighted absolute differences from every node on each row's way: no sum of a few numbers gives them."""
    parent, cost = foreign.tree.parent, np.zeros(foreign.tree.n_nodes)
    rows, nodes = np.arange(len(leaves)), leaves
    while len(rows):
        loss = weight[rows] * np.abs(foreign.values[nodes, 0] - target[rows])
        cost += np.bincount(nodes, loss, minlength=len(cost))
        nodes = parent[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
    return sealed(cost)
