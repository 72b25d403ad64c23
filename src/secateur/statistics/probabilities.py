"""The class probabilities that a tree predicts: one distribution for each of its nodes."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._kernels import structure, voting
from .._utils.arrays import Floats, LongsOrFloats
from .._utils.checks import check_name
from ..core import Counts, Model, Tree
from ..core.estimate_limits import class_frequencies, limit_shares
from ..errors import Argument, UnsupportedError
from . import PROBABILITIES

SHRINKAGE_STRENGTHS = (1.0, 5.0, 10.0, 25.0, 50.0)  # the strengths of shrinkage that cross-validation compares
DEFAULT_SHRINKAGE = 10.0  # the strength without cross-validation
PRIOR_ROWS = 2.0  # weight of the root's frequencies in the m-estimate
MONOTONE_PROBABILITIES = ("shrunk", "frequency")  # kinds that keep the order of class shares
MIXTURE_BETA = 0.5  # each growing error of a pruning multiplies its weight by this factor


def node_probabilities(model: Model, *, kind: str | None = None) -> Floats:
    """Return the class probabilities of every node of the grown tree.

    Parameters
    ----------
    model : Model
        A classifying model.
    kind : {"shrunk", "frequency", "m-estimate", "mixture"}, optional
        How probabilities are computed; by default the parameter "probabilities" of the model, else "shrunk".

        "frequency": the class shares of the growing rows in the node.

        "shrunk": these shares, shrunk towards those of the parent, from the root downwards. The difference between a
        node and its parent is multiplied by n / (n + strength), where n is the number of rows of the parent. The
        strength is the one that cross-validation chose; without cross-validation, it is 10.

        "m-estimate": the class shares after adding two rows with the class distribution of the root.

        "mixture": the mean of the m-estimates over all prunings of the pruned tree, where every growing error halves
        the weight of a pruning. Nodes that the pruned tree does not have get their m-estimate.

        An empty node has the shares of its parent. With monotone constraints, shares and m-estimates are first moved
        into the limits of each node, so that every kind is monotone.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> node_probabilities(model).round(3).tolist()
    [[0.667, 0.333], [0.744, 0.256], [0.513, 0.487]]
    """
    kind = probability_kind(model) if kind is None else kind
    check_name("probabilities", kind, PROBABILITIES)
    _check_limits(kind, model)
    counts = model.class_grown
    if counts is None:
        raise UnsupportedError("a regression model has no class probabilities; use predict")
    if kind == "mixture":
        return _mixture_probabilities(model, counts)
    return class_shares(counts.tree, counts.by_class, kind=kind, strength=shrinkage_strength(model))


def _check_limits(kind: str, model: Model) -> None:
    """Raise `UnsupportedError` if a kind of probabilities would not respect the monotone constraints of a model.

    Trees of earlier versions have constraints but no limits of estimates. Their class shares are in order.
    """
    monotonic_cst = model.parameters.get("monotonic_cst")
    signs = list(monotonic_cst.values()) if isinstance(monotonic_cst, Mapping) else monotonic_cst
    has_constraints = any(np.asarray(signs, object).ravel())
    if has_constraints and model.tree.estimate_limits is None and kind not in MONOTONE_PROBABILITIES:
        raise UnsupportedError(
            Argument("probabilities", kind),
            " with ",
            Argument("monotonic_cst", monotonic_cst),
            ": the tree was grown by an earlier version and has no limits of estimates; fit it again, or use ",
            Argument("probabilities", "shrunk"),
            " or 'frequency'",
        )


def probability_kind(model: Model) -> str:
    """Return the kind of probabilities that a model predicts by default."""
    kind: str = model.parameters.get("probabilities", "shrunk")
    return kind


def shrinkage_strength(model: Model) -> float:
    """Return the strength by which a model shrinks its class shares."""
    details: dict[str, Any] = {} if model.selection is None else model.selection.details
    return float(details.get("shrinkage", DEFAULT_SHRINKAGE))


def class_shares(tree: Tree, by_class: LongsOrFloats, *, kind: str, strength: float = DEFAULT_SHRINKAGE) -> Floats:
    """Return the class probabilities of nodes from their class weights, for any kind except "mixture"."""
    parent, total = tree.parent, by_class.sum(axis=1)
    if kind == "m-estimate":
        prior = class_frequencies(parent[:1], by_class[:1], total[:1])
        smoothed: Floats = (by_class + PRIOR_ROWS * prior) / (total + PRIOR_ROWS)[:, None]
        return limit_shares(tree, smoothed)
    shares = limit_shares(tree, class_frequencies(parent, by_class, total))
    if kind == "frequency":
        return shares
    steps = shares.copy()  # the shares of the root, then the shrunk difference of each node from its parent
    n_parent_rows = total[parent[1:]].astype(float)
    kept = np.divide(n_parent_rows, n_parent_rows + strength, out=np.zeros_like(n_parent_rows), where=n_parent_rows > 0)
    steps[1:] = (shares[1:] - shares[parent[1:]]) * kept[:, None]
    return np.maximum(structure.sum_downwards(parent, steps), 0.0)


def _mixture_probabilities(model: Model, counts: Counts) -> Floats:
    """Return the probabilities of kind "mixture": the mean over all prunings of the pruned tree.

    Prunings of the grown tree are not used. Their weights follow from growing errors, so the grown tree, which has
    the fewest, would dominate. The pruned tree was chosen with other rows.
    """
    small, nodes = model.pruned_tree, model.nodes
    probabilities = class_shares(counts.tree, counts.by_class, kind="m-estimate")
    assert model.pruning.node_labels is not None
    weight = counts.unrecorded_errors_if_leaf(model.pruning.node_labels)[nodes] * math.log(MIXTURE_BETA)
    cut = voting.cut_probabilities(small.end, weight, voting.log_weights(small.parent, small.end, weight))
    probabilities[nodes] = voting.votes_downwards(small.parent, cut, probabilities[nodes])
    return probabilities
