"""A limit on what a wrong answer costs, for a cost matrix.

The cost of a row takes few values, and the matrix says beforehand which. With v_0 the least and
g_j the step from one value to the next,

    expected cost = v_0 + sum of g_j * Pr[cost >= v_j],

and each probability has its exact binomial limit. They share delta in proportion to the steps, so
that the largest pays least. With one step (0/1 costs up to scale) that is the exact limit itself;
with two or three it is narrower than the betting bound (median distance to the mean found: 0.8
and 0.9 times, over random matrices and rates), with four they are level, and beyond betting wins.
The number of steps decides; it is known before any row is.
"""

import math
from typing import Literal

import numpy as np

from .._utils.arrays import Array, ArrayLike, Longs
from .._utils.checks import check_name
from ..core import Bound, Counts, Pruning
from ..errors import CountsError, ParameterError
from ..statistics.tails import binomial_upper, check_delta
from ._betting import betting_upper
from ._fresh import fresh_rows

MOST_STEPS = 3  # for which exact limits are added up


def certified_cost(
    pruning: Pruning,
    counts: Counts,
    costs: ArrayLike,
    *,
    delta: float = 0.05,
    method: Literal["auto", "steps", "betting"] = "auto",
    repeated: bool = False,
) -> Bound:
    """Return an upper limit on the expected cost of a row.

    Parameters
    ----------
    pruning : Pruning
    counts : Counts
        Whole counts of a sample that had no part in growing, labelling or pruning.
    costs : array of shape (n_classes, n_classes)
        `costs[i, j]` is what it costs to answer class j for a row of class i, 0 or more.
    delta : float
    method : "auto", "steps" or "betting"
        Exact limits added up over the steps between the values a cost can take, or the betting
        bound; "auto" takes the first for up to three steps.
    repeated : bool
        As for `certify`.

    Returns
    -------
    Bound
        Its `quantity` is "cost", `errors` the cost of the whole sample (so that `rate` is the
        mean), and `scale` the largest entry of the matrix. For costs of 0 and c it is c times the
        exact limit on the rate.

    Notes
    -----
    Only costs that the answers of the leaves can have count. Gains, which are negative costs, are
    refused: add a constant to all entries and subtract it from the limit. O(n_nodes).

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
    about = fresh_rows(pruning, counts, "a limit on costs", delta, repeated=repeated)
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; a limit on costs needs its predictions")
    labels = pruning.node_labels[pruning.leaves]
    matrix = _matrix(costs, counts.n_classes, int(labels.max()) + 1)
    answers = np.unique(labels)
    possible = np.unique(matrix[:, answers])
    by_class = np.zeros((len(matrix), len(answers)), np.int64)
    np.add.at(by_class[: counts.n_classes].T, np.searchsorted(answers, labels), counts.by_class[pruning.leaves])
    rows = np.bincount(
        np.searchsorted(possible, matrix[:, answers]).ravel(), weights=by_class.ravel(), minlength=len(possible)
    ).astype(np.int64)
    total = (matrix[:, answers] * by_class).sum().item()
    n_steps = len(possible) - 1
    is_stepwise = method == "steps" or (method == "auto" and n_steps <= MOST_STEPS)
    if n_steps == 0:
        value, how = float(possible[0]), "every answer costs the same"
    elif is_stepwise:
        value = _stepwise(possible, rows, delta)
        how = "exact tail" if n_steps == 1 else f"exact tails of {n_steps} steps"
    else:
        span = float(possible[-1] - possible[0])
        limit = betting_upper((possible - possible[0]) / span, rows, math.log(delta))
        value, how = float(possible[0]) + span * limit, "betting"
    return Bound(
        value=min(value, float(possible[-1])),
        method=f"cost, {how}",
        errors=total,
        details={"costs": matrix.tolist(), "values": possible.tolist(), "rows": rows.tolist()},
        quantity="cost",
        scale=float(matrix.max()),
        **about,
    )


def _stepwise(possible: Array, rows: Longs, delta: float) -> float:
    """The sum of exact limits, one for each step between two possible costs."""
    steps = np.diff(possible).astype(np.float64)
    n_reach = rows[::-1].cumsum()[::-1][1:]  # rows that cost at least so much
    log_delta = math.log(delta) + np.log(steps) - math.log(steps.sum())
    limits = binomial_upper(n_reach, int(rows.sum()), np.minimum(log_delta, 0.0))
    value = math.fsum([float(possible[0]), *(steps * limits).tolist()])
    return value * (1 + 1e-15)  # products and sums are rounded to nearest, a limit up


def _matrix(costs: ArrayLike, n_classes: int, n_answers: int) -> Array:
    matrix = np.asarray(costs)
    n_needed = max(n_classes, n_answers)
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
    bad = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(bad):
        i, j = bad[0].tolist()
        raise ParameterError(
            f"costs[{i}, {j}] is {matrix[i, j]}; finite numbers of 0 or more are needed (for gains, add a constant to "
            "all entries and subtract it from the limit)"
        )
    return matrix
