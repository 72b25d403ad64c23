"""Predictions of a `Model`: the leaf of each row, and its class, number or probabilities.

Node numbers are those of the grown tree.
"""

from typing import Any, Literal

from .._utils.arrays import Array, Floats, Ints, write_protect
from ..core import Model
from ..statistics.probabilities import node_probabilities, probability_kind
from . import apply

__all__ = ["Probabilities", "node_probabilities", "predict", "predict_leaf", "predict_proba"]

Probabilities = Literal["shrunk", "frequency", "m-estimate", "mixture"]


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
    return model.nodes.take(apply(model.pruned_tree, X))


def predict(model: Model, X: Any) -> Array:
    """Return the prediction for each row: the class, or the mean, of its leaf.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> predict(model, [[0.0], [9.0]]).tolist()
    ['no', 'yes']
    """
    return model.predictions.take(apply(model.pruned_tree, X))


def predict_proba(model: Model, X: Any, *, kind: str | None = None) -> Floats:
    """Return the probability of each class for each row.

    Parameters
    ----------
    model : Model
        A classifying model.
    X : array, data frame or Table
        The rows.
    kind : {"shrunk", "frequency", "m-estimate", "mixture"}, optional
        How probabilities are computed; see `node_probabilities`.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [0], node_labels=grown.majority), grown)
    >>> predict_proba(model, [[0.0]]).round(3).tolist()
    [[0.667, 0.333]]
    """
    kind = probability_kind(model) if kind is None else kind
    cache = model.cached_probabilities
    if kind not in cache:
        cache[kind] = write_protect(node_probabilities(model, kind=kind)[model.nodes])
    probabilities: Floats = cache[kind].take(apply(model.pruned_tree, X), axis=0)
    return probabilities
