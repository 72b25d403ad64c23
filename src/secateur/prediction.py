"""Predict with a Model: rows to leaves, leaves to classes, numbers or probabilities.

Node numbers are those of the whole tree, whatever was cut.
"""

from typing import Any, Literal

import numpy as np

from ._kernels import structure
from .data.arrays import Array, Floats, Ints, sealed
from .data.names import check_name
from .errors import UnsupportedError
from .nouns.counts import Counts
from .nouns.model import Model
from .routing import apply

Probabilities = Literal["frequency", "shrunk", "m-estimate", "mixture"]
PROBABILITIES = ("frequency", "shrunk", "m-estimate", "mixture")

MIXTURE_BETA = 0.5  # weight of a pruning with one more growing error
SHRINKAGE = 10.0  # rows at the parent that halve what a child adds
PRIOR_ROWS = 2.0  # weight of the root's frequencies in the m-estimate


def predict_leaf(model: Model, X: Any) -> Ints:
    """Return the leaf of each row, as a node number of the grown tree.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> predict_leaf(model, [[0.0], [9.0]]).tolist()
    [1, 2]
    """
    return model.nodes.take(apply(model.shown, X))


def predict(model: Model, X: Any) -> Array:
    """Return the prediction for each row: a class, or the mean of the leaf.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> predict(model, [[0.0], [9.0]]).tolist()
    ['no', 'yes']
    """
    return model.answers.take(apply(model.shown, X))


def predict_proba(model: Model, X: Any, *, kind: str = "frequency") -> Floats:
    """Return the probability of each class for each row.

    Parameters
    ----------
    model : Model
    X : array, data frame or Table
    kind : {"frequency", "shrunk", "m-estimate", "mixture"}
        See `node_probabilities`; "mixture" averages over all prunings of the whole tree, each
        weighted by how few growing errors it makes (half for every further one).

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [0], node_labels=grown.majority), grown)
    >>> predict_proba(model, [[0.0]]).round(3).tolist()
    [[0.667, 0.333]]
    """
    check_kind(kind)
    known, counts = model.remembered, _counts(model)
    if kind == "mixture":
        if kind not in known:
            from .analysis import mixture

            known[kind] = mixture(model.tree, counts, MIXTURE_BETA, node_proba=_frequencies(counts))
        votes: Floats = known[kind].predict_proba(apply(model.tree, X))
        return votes
    if kind not in known:
        known[kind] = sealed(node_probabilities(model, kind=kind)[model.nodes])
    shares: Floats = known[kind].take(apply(model.shown, X), axis=0)
    return shares


def node_probabilities(model: Model, *, kind: str = "frequency") -> Floats:
    """Return the class probabilities of every node of the grown tree.

    Parameters
    ----------
    model : Model
    kind : {"frequency", "shrunk", "m-estimate"}
        The class shares of the growing examples in the node; the same shrunk towards the
        parent's, step by step from the root, by `10 / rows at the parent`; or with two rows
        that look like the root added. An empty node has the shares of its parent.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> node_probabilities(model, kind="shrunk").round(3).tolist()
    [[0.667, 0.333], [0.744, 0.256], [0.513, 0.487]]
    """
    check_kind(kind)
    counts = _counts(model)
    shares = _frequencies(counts)
    if kind == "m-estimate":
        prior = shares[0]
        total = counts.total[:, None]
        smoothed: Floats = (counts.by_class + PRIOR_ROWS * prior) / (total + PRIOR_ROWS)
        return smoothed
    if kind == "shrunk":
        parent = model.tree.parent
        steps = shares.copy()
        rows = counts.total[parent[1:]].astype(float)
        pull = np.divide(rows, rows + SHRINKAGE, out=np.zeros_like(rows), where=rows > 0)
        steps[1:] = (shares[1:] - shares[parent[1:]]) * pull[:, None]
        return np.maximum(structure.sum_downwards(parent, steps), 0.0)
    return shares


def _frequencies(counts: Counts) -> Floats:
    """Class shares of each node, or of its nearest ancestor with examples: multiway tests make empty leaves."""
    by_class = counts.by_class
    is_empty = counts.total == 0
    if is_empty.any():
        nodes = np.arange(counts.tree.n_nodes, dtype=np.int32)
        by_class = by_class[structure.inherit_labels(counts.tree.parent, nodes, is_empty)]
    shares: Floats = by_class / by_class.sum(axis=1, keepdims=True)
    return shares


def _counts(model: Model) -> Counts:
    if model.class_grown is None:
        raise UnsupportedError("a regression model has no class probabilities; use predict")
    return model.class_grown


def check_kind(kind: str) -> None:
    check_name("probabilities", kind, PROBABILITIES)
