"""A limit on the expected cost of a row, for a cost matrix.

The cost of a row takes few values v_0 < v_1 < ..., which follow from the matrix. With the steps g_j = v_j - v_(j-1),

    expected cost = v_0 + sum over j >= 1 of g_j * Pr[cost >= v_j],

and each probability has an exact binomial limit. The steps share delta in proportion to their size, so that the largest
step gets the largest share. With one step (costs of 0 and 1, up to scale) the result is the exact limit itself. With
two steps its distance to the sample mean is 0.8 times that of the betting bound, with three steps 0.9 times (medians
over random matrices and rates), with four steps both are about equal, and with more steps the betting bound is lower.
The number of steps decides which limit is used. It is known before any row is.
"""

import math
from typing import Literal

import numpy as np

from .._utils.arrays import Array, ArrayLike, Longs
from .._utils.checks import check_name
from ..core import Bound, Counts, GroupedRows, Pruning
from ..errors import CountsError, ParameterError
from ..statistics.freshness import CertifyingRows
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import binomial_upper, check_delta
from ._betting import betting_upper, raise_losses
from ._fresh import check_fresh_rows
from ._groups import costs_of_groups, labels_of_pruning, limit_of_means

MAX_STEPS = 3  # up to this many steps, sums of exact limits are lower than the betting bound


def certified_cost(
    pruning: Pruning,
    counts: Counts,
    costs: ArrayLike,
    *,
    delta: float = 0.05,
    method: Literal["auto", "steps", "betting"] = "auto",
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
) -> Bound:
    """Return an upper limit on the expected cost of a row.

    Parameters
    ----------
    pruning : Pruning
        The pruning to certify.
    counts : Counts
        Integer counts of a sample that had no part in growing, labelling or pruning.
    costs : array of shape (n_classes, n_classes)
        `costs[i, j]`, 0 or more, is the cost of predicting class j for a row of class i.
    delta : float
        Probability, over samples, that the limit is too low.
    method : "auto", "steps" or "betting"
        "steps" adds exact limits over the steps between the values that a cost can take. "betting" is the betting
        bound. "auto" is "steps" for up to three steps, else "betting".
    repeated, repeats
        As for `certify`.

    Returns
    -------
    Bound
        `quantity` is "cost", `errors` the total cost of the sample (so that `rate` is its mean), and `scale` the
        largest entry of the matrix. For costs of 0 and c, the limit is c times the exact limit on the rate. For a
        sample with groups it is the betting bound on the mean cost of the rows of a random group.

    Notes
    -----
    Only the costs of classes that some leaf predicts matter. Gains, which are negative costs, are refused: add a
    constant to all entries and subtract it from the limit. O(n_nodes).

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import certified_cost
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> fresh = Counts.from_leaves(tree, [[450, 50], [50, 450]], sample="test")
    >>> bound = certified_cost(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), fresh, [[0, 1], [10, 0]])
    >>> bound.rate, round(bound.value, 3)
    (0.55, 0.696)
    >>> print(bound.method)
    cost, exact tails of 2 steps
    """
    delta = check_delta(delta)
    check_name("method", method, ("auto", "steps", "betting"))
    rows = check_fresh_rows(
        pruning, counts, "a limit on costs", delta, repeated=repeated, repeats=repeats, takes_groups=True
    )
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; a limit on costs needs its predictions")
    labels = pruning.node_labels[pruning.leaves]
    matrix = _checked_matrix(costs, counts.n_classes, int(labels.max()) + 1)
    predicted, position = np.unique(labels, return_inverse=True)  # only these columns of the matrix matter
    if counts.grouped is not None:
        return _limit_of_groups(pruning, counts.grouped, matrix, predicted, rows)
    rows_by_class = np.zeros((len(matrix), len(predicted)), np.int64)
    np.add.at(rows_by_class[: counts.n_classes].T, position, counts.by_class[pruning.leaves])
    possible, which = np.unique(matrix[:, predicted], return_inverse=True)
    n_rows = np.bincount(which.ravel(), weights=rows_by_class.ravel(), minlength=len(possible)).astype(np.int64)
    n_rows_at_cost = raise_losses(n_rows, rows.repeats.n_errors)
    value, description = _limit(possible, n_rows_at_cost, rows.delta, method)
    return Bound(
        value=min(value, float(possible[-1])),
        method=f"cost, {description}",
        errors=(matrix[:, predicted] * rows_by_class).sum().item(),
        details={"costs": matrix.tolist(), "values": possible.tolist(), "rows": n_rows.tolist()},
        quantity="cost",
        scale=float(matrix.max()),
        **rows.bound_fields,
    )


def _limit_of_groups(
    pruning: Pruning, grouped: GroupedRows, matrix: Array, predicted: Array, rows: CertifyingRows
) -> Bound:
    """Return the limit on the mean cost of the rows of a random group."""
    lowest, highest = float(matrix[:, predicted].min()), float(matrix[:, predicted].max())
    costs = costs_of_groups(grouped, grouped.predictions(pruning, labels_of_pruning(pruning)), matrix)
    span = highest - lowest
    relative_limit = limit_of_means(np.clip((costs - lowest) / span, 0, 1), rows, math.log(rows.delta)) if span else 0.0
    return Bound(
        value=min((lowest + span * relative_limit) * (1 + 1e-15), highest),
        method="cost, mean costs of groups, betting",
        errors=float(costs.sum()),
        details={"costs": matrix.tolist()},
        quantity="cost",
        scale=float(matrix.max()),
        **rows.bound_fields,
    )


def _limit(possible: Array, n_rows: Longs, delta: float, method: str) -> tuple[float, str]:
    """Return the limit on the expected cost and the name of the method.

    Parameters
    ----------
    possible : array
        The values that the cost of a row can take, in order.
    n_rows : array of int
        Number of rows with each of these costs.
    delta, method
        As for `certified_cost`.
    """
    n_steps = len(possible) - 1
    if n_steps == 0:
        return float(possible[0]), "every prediction costs the same"
    if method == "steps" or (method == "auto" and n_steps <= MAX_STEPS):
        tail = "exact tail" if n_steps == 1 else f"exact tails of {n_steps} steps"
        return _limit_of_steps(possible, n_rows, delta), tail
    span = float(possible[-1] - possible[0])
    relative_limit = betting_upper((possible - possible[0]) / span, n_rows, math.log(delta))
    return float(possible[0]) + span * relative_limit, "betting"


def _limit_of_steps(possible: Array, n_rows: Longs, delta: float) -> float:
    """Return the sum of exact limits, one for each step between two possible costs."""
    steps = np.diff(possible).astype(np.float64)
    n_at_least = n_rows[::-1].cumsum()[::-1][1:]  # number of rows that cost at least the upper end of each step
    log_delta = math.log(delta) + np.log(steps) - math.log(steps.sum())
    limits = binomial_upper(n_at_least, int(n_rows.sum()), np.minimum(log_delta, 0.0))
    value = math.fsum([float(possible[0]), *(steps * limits).tolist()])
    return value * (1 + 1e-15)  # products and sums were rounded to nearest; a limit must be rounded up


def _checked_matrix(costs: ArrayLike, n_classes: int, n_predicted_classes: int) -> Array:
    """Return the cost matrix as an array; raise `ParameterError` if it is invalid or lacks a class."""
    matrix = np.asarray(costs)
    n_needed = max(n_classes, n_predicted_classes)
    if matrix.dtype.kind not in "iuf" or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(
            f"costs have shape {matrix.shape} of {matrix.dtype}; a square matrix of numbers is needed, a row for each "
            "true class and a column for each predicted class"
        )
    if len(matrix) < n_needed:
        raise ParameterError(
            f"costs have shape {matrix.shape}, but the sample and the tree have {n_needed} classes; every class "
            "needs a row and a column"
        )
    invalid = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(invalid):
        i, j = invalid[0].tolist()
        raise ParameterError(
            f"costs[{i}, {j}] is {matrix[i, j]}; finite numbers of 0 or more are needed (for gains, add a constant to "
            "all entries and subtract it from the limit)"
        )
    return matrix
