"""What a tree says about the classes of a row: one distribution for each of its nodes."""

import math
from typing import Any

import numpy as np

from .._kernels import structure, voting
from .._utils.arrays import Array, Floats, LongsOrFloats
from .._utils.checks import check_name
from ..core import Counts, Model
from ..errors import UnsupportedError
from . import PROBABILITIES

SHRINKAGE_STRENGTHS = (1.0, 5.0, 10.0, 25.0, 50.0)  # of shrinkage: what cross-validation chooses from
DEFAULT_SHRINKAGE = 10.0  # where nothing was cross-validated: rows at the parent that halve what a child adds
PRIOR_ROWS = 2.0  # weight of the root's frequencies in the m-estimate
MIXTURE_BETA = 0.5  # weight of a pruning with one more growing error


def node_probabilities(model: Model, *, kind: str | None = None) -> Floats:
    """Return the class probabilities of every node of the grown tree.

    Parameters
    ----------
    model : Model
    kind : {"shrunk", "frequency", "m-estimate", "mixture"}, optional
        The class shares of the growing examples in the node, or these shrunk towards the parent's, step by
        step from the root, by `strength / rows at the parent`; or with two rows that look like the root
        added. An empty node has the shares of its parent. "mixture" averages over all prunings of the pruned
        tree, each half the weight for every further growing error, with the m-estimates of its leaves;
        nodes that the pruned tree does not have are as for "m-estimate". By default what the model says in
        its parameters, else "shrunk". The strength is the one that cross-validation chose, else 10.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> node_probabilities(model).round(3).tolist()
    [[0.667, 0.333], [0.744, 0.256], [0.513, 0.487]]
    """
    kind = kind_of(model) if kind is None else kind
    check_name("probabilities", kind, PROBABILITIES)
    counts = model.class_grown
    if counts is None:
        raise UnsupportedError("a regression model has no class probabilities; use predict")
    if kind == "mixture":
        return _mixed(model, counts)
    return shares_of(counts.tree.parent, counts.by_class, kind=kind, strength=strength_of(model))


def kind_of(model: Model) -> str:
    """Return the kind of probabilities that a model gives."""
    kind: str = model.parameters.get("probabilities", "shrunk")
    return kind


def strength_of(model: Model) -> float:
    """Return how strongly a model shrinks its shares."""
    details: dict[str, Any] = {} if model.selection is None else model.selection.details
    return float(details.get("shrinkage", DEFAULT_SHRINKAGE))


def shares_of(parent: Array, by_class: LongsOrFloats, *, kind: str, strength: float = DEFAULT_SHRINKAGE) -> Floats:
    """Return the class probabilities of nodes from their class weights; any kind but "mixture"."""
    total = by_class.sum(axis=1)
    if kind == "m-estimate":
        prior = _frequencies(parent[:1], by_class[:1], total[:1])
        smoothed: Floats = (by_class + PRIOR_ROWS * prior) / (total + PRIOR_ROWS)[:, None]
        return smoothed
    shares = _frequencies(parent, by_class, total)
    if kind == "frequency":
        return shares
    steps = shares.copy()
    rows = total[parent[1:]].astype(float)
    pull = np.divide(rows, rows + strength, out=np.zeros_like(rows), where=rows > 0)
    steps[1:] = (shares[1:] - shares[parent[1:]]) * pull[:, None]
    return np.maximum(structure.sum_downwards(parent, steps), 0.0)


def _frequencies(parent: Array, by_class: LongsOrFloats, total: LongsOrFloats) -> Floats:
    """Class shares of each node, or of its nearest ancestor with examples: multiway tests make empty leaves."""
    is_empty = total == 0
    if is_empty[0]:
        return np.full(by_class.shape, 1 / by_class.shape[1])
    if is_empty.any():
        nodes = np.arange(len(parent), dtype=np.int32)
        by_class = by_class[structure.inherit_labels(parent, nodes, is_empty)]
    shares: Floats = by_class / by_class.sum(axis=1, keepdims=True)
    return shares


def _mixed(model: Model, counts: Counts) -> Floats:
    """The votes of all prunings of the pruned tree about a row in each of its leaves.

    Prunings of the whole tree would be weighted by how well they repeat the growing rows, and the whole tree
    repeats all of them: it is the pruned one that has stood a test.
    """
    small, nodes = model.pruned_tree, model.nodes
    says = shares_of(counts.tree.parent, counts.by_class, kind="m-estimate")
    assert model.pruning.node_labels is not None
    weight = counts.unrecorded_errors_if_leaf(model.pruning.node_labels)[nodes] * math.log(MIXTURE_BETA)
    cut = voting.cut_probabilities(small.end, weight, voting.log_weights(small.parent, small.end, weight))
    says[nodes] = voting.votes_downwards(small.parent, cut, says[nodes])
    return says
