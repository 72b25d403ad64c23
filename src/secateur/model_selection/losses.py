"""What nodes answer as leaves, what that costs on the growing rows, and on held-out ones.

The one place where errors, m-estimates, cost matrices and squared errors differ. A path is
made from the cost of each node on the growing rows; a held-out sample adds the sum of the
losses of its rows in each node, and of their squares for the standard error.
"""

from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, Ints, LongsOrFloats, write_protect
from .._utils.checks import check_name
from ..core import CostUnit, Counts, Sample, m_estimate
from ..data.table import Table
from ..errors import ParameterError
from ..statistics import PROBABILITIES
from ._registry import SCORES, Score, check_scoring

PATH_COSTS = ("errors", "m-estimate", "deviance", "impurity")
LEAST = 1e-15  # a probability below it counts as this in a log loss
MOST_AREAS = 100  # members of a path whose area under the curve is computed


class Losses(NamedTuple):
    """How answers are charged, and the size of a tree.

    Parameters
    ----------
    cost : "errors", "m-estimate", "deviance" or "impurity"
        What the path weighs against size: losses on the growing rows; an estimate of those to
        come, as if every leaf held `m` more rows of the overall mixture of classes; or what
        their classes are spread by.
    m : float
    costs : array, optional
        Cost of answering class j for a row of class i; None counts errors.
    scoring : str
        What held-out rows are judged by: a name of `SCORES`.
    probabilities : str
        Where that asks for probabilities, which; see `statistics.probabilities`.
    penalty, size
        As for `pruners.cost_complexity`.
    """

    cost: str = "errors"
    m: float = 2.0
    costs: Any = None
    scoring: str = "error"
    probabilities: str = "shrunk"
    penalty: Any = "leaves"
    size: Any = "leaves"

    @property
    def score(self) -> Score:
        """What is known of the score."""
        return SCORES[self.scoring]


class Answers(NamedTuple):
    """What each node answers, what it costs as a leaf, the divisor that makes costs a rate, and its class if any."""

    answer: Any
    cost: LongsOrFloats
    unit: float
    labels: Ints | None


def losses_of(
    cost: Any, m: Any, costs: Any, scoring: Any, probabilities: Any, table: Table, weight: Array | None
) -> Losses:
    """Return the losses for the rows of a table, checked."""
    classes = table.schema.classes
    scoring = check_scoring(scoring, is_class=classes is not None, has_costs=costs is not None)
    if cost not in ("errors", "m-estimate"):
        raise ParameterError(f"cost={cost!r}; 'errors' or 'm-estimate' is needed")
    if isinstance(m, bool) or not isinstance(m, int | float | np.number) or not 0 <= m < np.inf:
        raise ParameterError(f"m={m!r}; a finite number of 0 or more is needed")
    if classes is None:
        if costs is not None:
            raise ParameterError("costs= needs classes; the target is a number")
        if cost != "errors":
            raise ParameterError(f"cost={cost!r} goes with classes; for a numeric target 'errors' are squared errors")
        return Losses(scoring=scoring)
    check_name("probabilities", probabilities, PROBABILITIES)
    if scoring == "balanced_error":
        costs = balanced_costs(table, weight)
    path = SCORES[scoring].path
    cost = cost if path == "answers" else path
    return Losses(
        cost, float(m), None if costs is None else check_cost_matrix(costs, len(classes)), scoring, probabilities
    )


def check_cost_matrix(costs: Any, n_classes: int) -> LongsOrFloats:
    """Return a cost matrix, checked: whole numbers as int64, any other as float64."""
    try:
        matrix = np.asarray(costs)
    except ValueError as error:
        raise ParameterError(f"costs are no matrix ({error}); ({n_classes}, {n_classes}) numbers are needed") from error
    if matrix.shape != (n_classes, n_classes) or matrix.dtype.kind not in "iuf":
        raise ParameterError(
            f"costs have shape {matrix.shape} of {matrix.dtype}; ({n_classes}, {n_classes}) numbers are needed, "
            "the cost of predicting class j for a row of class i"
        )
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(wrong):
        i, j = wrong[0]
        raise ParameterError(f"costs[{i}, {j}] is {matrix[i, j]}; finite numbers of 0 or more are needed")
    return write_protect(matrix.astype(np.int64 if matrix.dtype.kind in "iu" else np.float64))


def balanced_costs(table: Table, weight: Array | None) -> Floats:
    """Return the cost matrix under which the mean cost is the balanced error: a row of a rare class costs more."""
    n_classes = len(np.asarray(table.schema.classes))
    rows = np.bincount(np.asarray(table.target), weight, minlength=n_classes).astype(float)
    each = np.divide(rows.sum(), np.count_nonzero(rows) * rows, out=np.zeros(n_classes), where=rows > 0)
    costs: Floats = each[:, None] * (1 - np.eye(n_classes))
    return costs


def leaf_predictions(grown: Any, losses: Losses) -> Answers:
    """Return what the nodes of a grown tree answer, and what they cost the path."""
    total = float(grown.total[0])
    if losses.costs is None and losses.cost == "errors":
        return Answers(grown.predictions, grown.resubstitution_costs, total, grown.labels)
    if losses.cost in ("deviance", "impurity"):
        labels = grown.majority if losses.costs is None else cheapest(grown, losses.costs)
        return Answers(labels, _spread(grown, losses.cost), total, labels)
    if losses.costs is None:
        return Answers(grown.majority, m_estimate(grown, losses.m), 1.0, grown.majority)
    expected = grown.by_class @ losses.costs
    labels = cheapest(grown, losses.costs)
    if losses.cost == "errors":
        return Answers(labels, expected.min(axis=1), total, labels)
    rows = grown.total.astype(float)
    smooth = (grown.by_class + losses.m * grown.by_class[0] / total) @ losses.costs
    weight = rows + losses.m
    rate = np.divide(smooth.min(axis=1), weight, out=np.zeros_like(rows), where=weight > 0)
    return Answers(labels, write_protect(rows / total * rate), 1.0, labels)


def cost_unit(grown: Sample, losses: Losses) -> CostUnit:
    """Return the unit of the costs of `leaf_predictions`."""
    if losses.cost == "deviance":
        return "deviance"
    if losses.cost == "impurity":
        return "impurity"
    if losses.costs is not None:
        return "expected cost"
    if losses.cost == "m-estimate":
        return "m-estimate"
    return "errors" if grown.has_classes else "squared error"


def _spread(grown: Counts, cost: str) -> LongsOrFloats:
    """The summed log loss of the rows of each node under its own shares, or their Gini impurity."""
    rows, total = grown.by_class.astype(float), np.maximum(grown.total.astype(float), 1e-300)
    if cost == "impurity":
        return write_protect(np.maximum(total - (rows * rows).sum(axis=1) / total, 0.0))
    logs = np.log(np.where(rows > 0, rows, 1.0))
    return write_protect(np.maximum(total * np.log(total) - (rows * logs).sum(axis=1), 0.0))


def cheapest(grown: Counts, costs: Array) -> Ints:
    """The class of least expected cost in each node: lowest class on a tie, the parent's if empty."""
    labels = (grown.by_class @ costs).argmin(axis=1).astype(np.int32)
    return write_protect(structure.inherit_labels(grown.tree.parent, labels, grown.total == 0))


def held_out(by_class: LongsOrFloats, answer: Any, costs: Any) -> tuple[LongsOrFloats, LongsOrFloats | None]:
    """(sum of losses, sum of their squares) of the held-out rows of each node; None: the same, losses are 0 or 1.

    A class beyond those of the growing rows errs everywhere, at the highest cost.
    """
    if costs is None:
        total = structure.row_sums(by_class) if by_class.dtype.kind == "i" else by_class.sum(axis=1)
        return structure.error_counts(by_class, total, answer), None
    nodes = np.arange(len(by_class))
    n_new = by_class.shape[1] - len(costs)
    rows = np.vstack([costs, np.full((n_new, len(costs)), costs.max())]) if n_new > 0 else costs[: by_class.shape[1]]
    return (by_class @ rows)[nodes, answer], (by_class @ (rows * rows))[nodes, answer]


def likelihood_losses(held: LongsOrFloats, shares: Floats, scoring: str) -> tuple[Floats, Floats]:
    """(sums of losses, of their squares) of the held-out rows of each node, whose probabilities are `shares`."""
    if scoring == "log_loss":
        each = -np.log(np.maximum(shares, LEAST))
    else:
        each = (1 - 2 * shares + (shares * shares).sum(axis=1, keepdims=True)) / (2 if shares.shape[1] == 2 else 1)
    each = each[:, : held.shape[1]]
    return (held * each).sum(axis=1), (held * each * each).sum(axis=1)


def area_losses(
    parent: Array, steps: Array, n_members: int, held: LongsOrFloats, shares: Floats
) -> tuple[Array, Floats]:
    """(members, 1 - area under the ROC curve of each): at most a hundred members, evenly spread on a path.

    NaN where the held-out rows are of one class.
    """
    members = np.unique(np.linspace(0, n_members - 1, MOST_AREAS).round().astype(np.int64))
    above = np.append(n_members, steps[parent[1:]])
    leaves = (np.flatnonzero((steps <= member) & (member < above)) for member in members)
    return members, np.array([_area_loss(held[at].astype(float), shares[at]) for at in leaves])


def _area_loss(held: Floats, shares: Floats) -> float:
    """1 - the mean area of the classes that some rows have and others have not."""
    rows = held.sum(axis=0)
    classes = [c for c in range(held.shape[1]) if 0 < rows[c] < rows.sum()]
    classes = classes[1:] if held.shape[1] == 2 else classes  # of two classes both areas are the same
    areas = []
    for c in classes:
        _, place = np.unique(shares[:, c], return_inverse=True)
        ones = np.bincount(place, held[:, c])
        rest = np.bincount(place, held.sum(axis=1) - held[:, c])
        below = np.cumsum(rest) - rest / 2
        areas.append((ones * below).sum() / (ones.sum() * rest.sum()))
    return 1 - float(np.mean(areas)) if areas else float("nan")
