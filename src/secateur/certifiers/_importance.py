"""A limit on the error in one population, from rows of another population with known importance weights.

Rows are drawn with density q, and the error is wanted under density p. With weights w = p / q, the mean of w * error
under q is the error under p. These losses lie between 0 and the largest possible weight, so the betting bound limits
their mean. Few rows of large weight make the limit high.
"""

import math
from typing import Any

import numpy as np

from .._kernels import structure
from ..core import Bound, Pruning
from ..data.encoding import encode
from ..errors import CountsError, DataError, ParameterError, TreeError, show
from ..routing import apply, count
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta
from ._betting import betting_upper, raise_losses
from ._fresh import check_fresh_rows


def importance_weighted(
    pruning: Pruning,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    largest: float,
    delta: float = 0.05,
    sample: str = "test",
    repeats: Repeats | RepeatRule = "errors",
) -> Bound:
    """Return an upper limit on the error in the population that the importance weights describe.

    Parameters
    ----------
    pruning : Pruning
        The pruning to certify.
    X : array, data frame, path or Table
        Rows that had no part in growing, labelling or pruning, drawn independently from the other population.
    y : array or column name
        The class of each row.
    sample_weight : array
        The importance weight of each row: its probability in the population where the error is wanted, divided by
        its probability in the population of the rows. The expectation of the weights must be 1. Weights that were
        divided by their own mean depend on the rows, and are not valid.
    largest : float
        The largest weight that any row could have, known without looking at these rows.
    delta : float
        Probability, over samples, that the limit is too low.
    sample : str
        Name of the sample.
    repeats
        As for `certify`.

    Returns
    -------
    Bound
        `quantity` is "importance-weighted error", and `errors` the total weight of the rows predicted wrongly.

    Notes
    -----
    A weight above `largest` is refused. So are weights whose mean differs so much from 1 that chance explains it with
    a probability below one in a million. The limit grows with `largest`; with `largest=1` it is the betting bound on
    the unweighted error. O(rows).

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import importance_weighted
    >>> tree, grown = secateur.grow([[0.1], [0.9]], ["no", "yes"])
    >>> pruning = secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"})
    >>> X = np.tile([[0.0], [1.0]], (500, 1))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> y[:20] = "yes"  # ten errors in a thousand rows, all of them where x is 0
    >>> weight = np.where(X[:, 0] > 0, 0.5, 1.5)  # rows with x = 0 are three times as frequent there
    >>> bound = importance_weighted(pruning, X, y, weight, largest=1.5)
    >>> bound.rate, round(bound.value, 3)
    (0.015, 0.032)
    """
    delta = check_delta(delta)
    _check_largest(largest)
    schema = pruning.tree.schema
    if schema is None:
        raise TreeError(f"{pruning.tree} has no schema; only a tree that was grown on a table routes rows")
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; an error rate needs its predictions")
    table = encode(X, schema=schema, target=y)
    counts = count(pruning.tree, table, sample=sample)
    rows = check_fresh_rows(pruning, counts, "an importance-weighted error", delta, repeats=repeats)
    weight = _checked_weights(sample_weight, rows.n, float(largest))
    # `apply` returns leaves of the grown tree. Each of these leaves gets the label of the leaf of the pruning above it.
    is_below_leaf = ~(pruning.is_leaf | pruning.is_kept)
    predictions = structure.inherit_labels(pruning.tree.parent, pruning.node_labels, is_below_leaf)
    is_error = predictions[apply(pruning.tree, table)] != table.target
    losses = np.where(is_error, weight, 0.0)
    values, n_rows = np.unique(np.append(losses, float(largest)), return_counts=True)
    n_rows[-1] -= 1  # take the appended loss away again; `raise_losses` needs the largest possible loss as a value
    n_rows = raise_losses(n_rows, rows.repeats.n_errors)
    limit = float(largest) * betting_upper(values / float(largest), n_rows, math.log(rows.delta))
    return Bound(
        value=min(1.0, limit),
        method="importance weights, betting",
        errors=float(losses.sum()),
        details={
            "largest": float(largest),
            "mean_weight": float(weight.mean()),
            "rows_in_error": int(np.count_nonzero(is_error)),
        },
        quantity="importance-weighted error",
        **rows.bound_fields,
    )


def _check_largest(largest: Any) -> None:
    """Raise `ParameterError` unless `largest` is a finite number of 1 or more."""
    is_number = isinstance(largest, int | float | np.number) and not isinstance(largest, bool)
    if not is_number or not 1 <= float(largest) < math.inf:
        raise ParameterError(
            f"largest={show(largest)}; a finite number of 1 or more is needed: weights have expectation 1"
        )


def _checked_weights(sample_weight: Any, n: int, largest: float) -> Any:
    """Return the weights as a float array; raise an error if they cannot be importance weights of `n` rows."""
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != (n,):
        raise DataError(f"sample_weight has shape {weight.shape}; one per row, ({n},), is needed")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise DataError("sample_weight holds values that are negative, infinite or missing")
    if weight.max() > largest:
        i = int(weight.argmax())
        raise ParameterError(
            f"the weight of row {i} is {weight[i]:g}, above largest={largest:g}; largest must limit the weight of "
            "every row there could be, not only of these"
        )
    mean = float(weight.mean())
    # Hoeffding's inequality, two-sided, for a failure probability of one in a million.
    slack = largest * math.sqrt(math.log(2e6) / (2 * n))
    if abs(mean - 1) > slack:
        raise ParameterError(
            f"the weights have mean {mean:.4g}; importance weights have expectation 1, and {n:,} rows of weight at "
            f"most {largest:g} do not stray by more than {slack:.3g} from it (divide the weights by their expectation "
            "where the rows come from)"
        )
    return weight
