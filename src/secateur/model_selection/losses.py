"""Losses: what each node of a tree predicts as a leaf, its cost on the growing rows, and its loss on held-out rows.

This module is the only place where errors, m-estimates, cost matrices and squared errors differ. A pruning path is
made from the cost of each node on the growing rows. A held-out sample is evaluated by the sum of the losses of its
rows in each node, and by the sum of the squared losses for the standard error.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Floats, Ints, LongsOrFloats, write_protect
from .._utils.checks import check_name
from ..core import CostUnit, Sample, m_estimate
from ..data.weights import WeightedRows
from ..errors import Argument, ParameterError, UnsupportedError, show
from ..statistics import PROBABILITIES
from ..statistics.node_losses import (
    area_loss,
    cheapest_labels,
    estimated_costs,
    node_deviances,
    node_impurities,
)
from ._recipe import SCORES, Score

PATH_COSTS = ("errors", "m-estimate", "deviance", "impurity")
# Relative tolerance within which error rates are tied, and penalties. Both are rounded: quotients and geometric means.
TOLERANCE = 1e-12
MAX_SCORED_MEMBERS = 100  # members of one path whose area under the ROC curve is computed


@dataclass(frozen=True)
class Scoring:
    """How trees are scored: the cost that the pruning path weighs against size, and the score of held-out rows.

    Parameters
    ----------
    path_cost : "errors", "m-estimate", "deviance" or "impurity"
        Cost of a node on the growing rows. "errors": the loss of its prediction. "m-estimate": an estimate of the loss
        on new rows, computed as if every leaf held `m` more rows with the class shares of all rows. "deviance" and
        "impurity": how mixed the classes of its rows are.
    m : float
        Number of rows that the m-estimate adds to a leaf.
    costs : array, optional
        Cost of predicting class j for a row of class i; None counts errors.
    score_name : str
        Score of held-out rows, a name of `SCORES`.
    probabilities : str
        Kind of class probabilities that are scored, if the score uses them; see `statistics.probabilities`.
    penalty, size
        As for `pruners.cost_complexity`.
    """

    path_cost: str = "errors"
    m: float = 2.0
    costs: Any = None
    score_name: str = "error"
    probabilities: str = "shrunk"
    penalty: Any = "leaves"
    size: Any = "leaves"

    @property
    def score(self) -> Score:
        """The entry of `SCORES`."""
        return SCORES[self.score_name]

    @property
    def penalty_name(self) -> str:
        """The penalty as text for a file or a table."""
        return self.penalty if isinstance(self.penalty, str) else getattr(self.penalty, "__name__", repr(self.penalty))


def complete_scoring(scoring: Scoring, rows: WeightedRows) -> Scoring:
    """Check a scoring against the growing rows, and return it with the cost matrix and path cost that its score uses.

    "balanced_error" has a cost matrix that depends on the rows. Some scores prescribe the cost of the path.
    """
    classes, m = rows.table.schema.classes, scoring.m
    if scoring.path_cost not in ("errors", "m-estimate"):
        raise ParameterError(f"cost={show(scoring.path_cost)}; 'errors' or 'm-estimate' is needed")
    if isinstance(m, bool) or not isinstance(m, int | float | np.number) or not 0 <= m < np.inf:
        raise ParameterError(f"m={show(m)}; a finite number of 0 or more is needed")
    if classes is None:
        return _check_regression_scoring(scoring)
    check_name("probabilities", scoring.probabilities, PROBABILITIES)
    costs = balanced_costs(rows) if scoring.score_name == "balanced_error" else scoring.costs
    if costs is not None:
        costs = check_cost_matrix(costs, len(classes))
    path_cost = scoring.path_cost if scoring.score.path_cost == "predictions" else scoring.score.path_cost
    has_plain_penalty = scoring.penalty == "leaves" and scoring.size == "leaves"
    if scoring.score_name == "roc_auc" and not has_plain_penalty:
        raise UnsupportedError(
            Argument("scoring", "roc_auc"),
            " with ",
            Argument("penalty", scoring.penalty),
            ", ",
            Argument("size", scoring.size),
            "; both must be 'leaves'",
        )
    return replace(scoring, path_cost=path_cost, m=float(m), costs=costs)


def _check_regression_scoring(scoring: Scoring) -> Scoring:
    """Return the scoring of a regression, or raise `ParameterError` for parameters that need classes."""
    if scoring.costs is not None:
        raise ParameterError(Argument("costs"), " needs classes; the target is a number")
    if scoring.path_cost != "errors":
        raise ParameterError(
            f"cost={show(scoring.path_cost)} goes with classes; for a numeric target 'errors' are squared errors"
        )
    return replace(scoring, m=float(scoring.m))


def balanced_costs(rows: WeightedRows) -> Floats:
    """Return the cost matrix whose mean cost is the balanced error: an error on a rarer class costs more."""
    n_classes = len(np.asarray(rows.table.schema.classes))
    class_totals = np.bincount(rows.table.required_target, rows.weight, minlength=n_classes).astype(float)
    scaled_totals = np.count_nonzero(class_totals) * class_totals
    class_costs = np.divide(class_totals.sum(), scaled_totals, out=np.zeros(n_classes), where=class_totals > 0)
    costs: Floats = class_costs[:, None] * (1 - np.eye(n_classes))
    return costs


def check_cost_matrix(costs: Any, n_classes: int) -> LongsOrFloats:
    """Return a checked cost matrix: as int64 if all costs are whole numbers, else as float64."""
    try:
        matrix = np.asarray(costs)
    except ValueError as error:
        raise ParameterError(f"costs are no matrix ({error}); ({n_classes}, {n_classes}) numbers are needed") from error
    if matrix.shape != (n_classes, n_classes) or matrix.dtype.kind not in "iuf":
        raise ParameterError(
            f"costs have shape {matrix.shape} of {matrix.dtype}; ({n_classes}, {n_classes}) numbers are needed, "
            "the cost of predicting class j for a row of class i"
        )
    invalid = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(invalid):
        i, j = invalid[0]
        raise ParameterError(f"costs[{i}, {j}] is {matrix[i, j]}; finite numbers of 0 or more are needed")
    return write_protect(matrix.astype(np.int64 if matrix.dtype.kind in "iu" else np.float64))


class NodePredictions(NamedTuple):
    """What every node of a grown tree predicts as a leaf.

    Parameters
    ----------
    prediction : array
        The class number, or the mean, of each node.
    cost : array
        The cost of each node as a leaf, on the growing rows.
    divisor : float
        `cost / divisor` is a cost per unit of weight.
    labels : array, optional
        The class number of each node; None for regression.
    """

    prediction: Any
    cost: LongsOrFloats
    divisor: float
    labels: Ints | None


def leaf_predictions(grown: Any, scoring: Scoring) -> NodePredictions:
    """Return what every node of a grown tree predicts as a leaf, and its cost on the growing rows."""
    total = float(grown.total[0])
    costs = scoring.costs
    if scoring.path_cost == "errors":
        if costs is None:
            return NodePredictions(grown.predictions, grown.resubstitution_costs, total, grown.labels)
        labels = cheapest_labels(grown, costs)
        expected = (grown.by_class @ costs)[np.arange(len(labels)), labels]
        return NodePredictions(labels, expected, total, labels)
    labels = grown.majority if costs is None else cheapest_labels(grown, costs)
    if scoring.path_cost == "deviance":
        return NodePredictions(labels, node_deviances(grown), total, labels)
    if scoring.path_cost == "impurity":
        return NodePredictions(labels, node_impurities(grown), total, labels)
    cost = m_estimate(grown, scoring.m) if costs is None else estimated_costs(grown, scoring.m, costs)
    return NodePredictions(labels, cost, 1.0, labels)


def cost_unit(grown: Sample, scoring: Scoring) -> CostUnit:
    """Return the unit of the costs of `leaf_predictions`."""
    if scoring.path_cost == "deviance":
        return "deviance"
    if scoring.path_cost == "impurity":
        return "impurity"
    if scoring.costs is not None:
        return "expected cost"
    if scoring.path_cost == "m-estimate":
        return "m-estimate"
    return "errors" if grown.has_classes else "squared error"


def area_losses(
    parent: Array, steps: Array, n_members: int, by_class: LongsOrFloats, shares: Floats
) -> tuple[Array, Floats]:
    """Return members of a pruning path, and the loss of each: 1 minus the area under the ROC curve.

    Parameters
    ----------
    parent, steps : array
        Structure of the tree, and the first member of the path in which each node is a leaf or pruned.
    n_members : int
        Length of the path. If it exceeds `MAX_SCORED_MEMBERS`, only this number of members, at about equal distances,
        is scored.
    by_class, shares : array of shape (n_nodes, n_classes)
        Held-out rows of each class, and the probabilities that rank them.

    Returns
    -------
    (array of int, array of float)
        Losses are NaN if all held-out rows are of one class.
    """
    members = np.unique(np.linspace(0, n_members - 1, MAX_SCORED_MEMBERS).round().astype(np.int64))
    parent_steps = np.append(n_members, steps[parent[1:]])
    losses = np.empty(len(members))
    for i, member in enumerate(members):
        leaves = np.flatnonzero((steps <= member) & (member < parent_steps))
        losses[i] = area_loss(by_class[leaves].astype(float), shares[leaves])
    return members, losses
