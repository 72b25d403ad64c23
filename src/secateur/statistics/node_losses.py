"""The loss of each node of a tree as a leaf, for every score by which trees are chosen.

A *path cost* (expected cost, deviance, impurity) is computed on the growing rows and weighed against the size of a
tree. A *loss* is summed over the rows of any sample. The area under the ROC curve is no sum over leaves.
"""

from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, Ints, LongsOrFloats, write_protect
from ..core import Counts
from ..core.estimate_limits import class_frequencies, limit_shares

MIN_PROBABILITY = 1e-15  # the log loss replaces smaller probabilities by this one


def cheapest_labels(grown: Counts, costs: Array) -> Ints:
    """Return the class of lowest expected cost in each node.

    Ties go to the lower class. A node without rows has the class of its parent. If the tree has limits of estimates,
    costs are expected by the limited shares.
    """
    if grown.tree.estimate_limits is not None:
        # Shares, not rows: equal shares then have equal costs, whatever the number of rows.
        return write_protect((_limited_shares(grown) @ costs).argmin(axis=1).astype(np.int32))
    labels = (grown.by_class @ costs).argmin(axis=1).astype(np.int32)
    return write_protect(structure.inherit_labels(grown.tree.parent, labels, grown.total == 0))


def _limited_shares(grown: Counts) -> Floats:
    """Return the class shares of each node within the limits of its tree."""
    return limit_shares(grown.tree, class_frequencies(grown.tree.parent, grown.by_class, grown.total))


def estimated_costs(grown: Counts, m: float, costs: Array) -> Floats:
    """Return the m-estimate of the mean cost of each node, times its share of the rows."""
    root_total = float(grown.total[0])
    rows = grown.total.astype(float)
    smoothed = (grown.by_class + m * grown.by_class[0] / root_total) @ costs
    weight = rows + m
    cost = smoothed.min(axis=1)
    if grown.tree.estimate_limits is not None:
        cost = smoothed[np.arange(len(smoothed)), cheapest_labels(grown, costs)]
    rate = np.divide(cost, weight, out=np.zeros_like(rows), where=weight > 0)
    return write_protect(rows / root_total * rate)


def node_impurities(grown: Counts) -> Floats:
    """Return the Gini impurity of each node times its rows.

    It is the sum of squared differences between the classes of the rows, as ones and zeros, and the class shares. If
    the tree has limits of estimates, the shares are the limited ones.
    """
    if grown.tree.estimate_limits is not None:
        return 2 * probability_losses(grown.by_class, _limited_shares(grown), "brier").loss
    rows, total = grown.by_class.astype(float), np.maximum(grown.total.astype(float), 1e-300)
    return write_protect(np.maximum(total - (rows * rows).sum(axis=1) / total, 0.0))


def node_deviances(grown: Counts) -> Floats:
    """Return the summed log loss of the rows of each node if it predicts its own class shares, within its limits."""
    if grown.tree.estimate_limits is not None:
        return probability_losses(grown.by_class, _limited_shares(grown), "log_loss").loss
    rows, total = grown.by_class.astype(float), np.maximum(grown.total.astype(float), 1e-300)
    logs = np.log(np.where(rows > 0, rows, 1.0))
    return write_protect(np.maximum(total * np.log(total) - (rows * logs).sum(axis=1), 0.0))


class NodeLosses(NamedTuple):
    """Sums of the losses of the held-out rows in every node of a tree.

    Parameters
    ----------
    loss : array
        Sum of the losses.
    square : array, optional
        Sum of the squared losses; None if every loss is 0 or 1, so that this sum equals `loss`.
    """

    loss: LongsOrFloats
    square: LongsOrFloats | None


def prediction_losses(by_class: LongsOrFloats, prediction: Any, costs: Any) -> NodeLosses:
    """Return the losses of held-out rows if every node predicts a class.

    Parameters
    ----------
    by_class : array of shape (n_nodes, n_classes)
        Held-out rows of each class. Classes that no growing row has come last; every prediction for their rows is
        wrong, and costs as much as the largest entry of `costs`.
    prediction : array of int
        Class that each node predicts.
    costs : array or None
        `costs[i, j]` is the cost of predicting class j for a row of class i; None counts errors.
    """
    if costs is None:
        total = structure.row_sums(by_class) if by_class.dtype.kind == "i" else by_class.sum(axis=1)
        return NodeLosses(structure.error_counts(by_class, total, prediction), None)
    n_unseen = by_class.shape[1] - len(costs)
    if n_unseen > 0:
        row_costs = np.vstack([costs, np.full((n_unseen, len(costs)), costs.max())])
    else:
        row_costs = costs[: by_class.shape[1]]
    nodes = np.arange(len(by_class))
    return NodeLosses(
        (by_class @ row_costs)[nodes, prediction], (by_class @ (row_costs * row_costs))[nodes, prediction]
    )


def probability_losses(by_class: LongsOrFloats, shares: Floats, score_name: str) -> NodeLosses:
    """Return the log losses or Brier scores of held-out rows if every node predicts class probabilities.

    Parameters
    ----------
    by_class : array of shape (n_nodes, n_classes)
        Held-out rows of each class.
    shares : array of shape (n_nodes, n_classes)
        Probability of each class.
    score_name : "log_loss" or "brier"
    """
    if score_name == "log_loss":
        row_losses = -np.log(np.maximum(shares, MIN_PROBABILITY))
    else:
        sum_of_squares = (shares * shares).sum(axis=1, keepdims=True)
        divisor = 2 if shares.shape[1] == 2 else 1  # the Brier score of two classes is halved by convention
        row_losses = (1 - 2 * shares + sum_of_squares) / divisor
    row_losses = row_losses[:, : by_class.shape[1]]
    return NodeLosses((by_class * row_losses).sum(axis=1), (by_class * row_losses * row_losses).sum(axis=1))


def area_loss(by_class: Floats, shares: Floats) -> float:
    """Return 1 minus the mean, over the classes, of the area under the ROC curve of a class against the rest.

    A class that has all rows or no rows has no area. If no class has an area, the result is NaN.
    """
    class_totals = by_class.sum(axis=0)
    classes = [c for c in range(by_class.shape[1]) if 0 < class_totals[c] < class_totals.sum()]
    if by_class.shape[1] == 2:
        classes = classes[1:]  # both classes have the same area
    areas = []
    for c in classes:
        _, rank = np.unique(shares[:, c], return_inverse=True)
        in_class = np.bincount(rank, by_class[:, c])
        in_rest = np.bincount(rank, by_class.sum(axis=1) - by_class[:, c])
        rest_below = np.cumsum(in_rest) - in_rest / 2  # rows of the same rank count half
        areas.append((in_class * rest_below).sum() / (in_class.sum() * in_rest.sum()))
    return 1 - float(np.mean(areas)) if areas else float("nan")
