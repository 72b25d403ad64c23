"""A limit on the error in one population from rows of another, with known importance weights.

A row that is drawn with density q and weighted by w = p / q stands for p: the mean of w * error
under q is the error under p. These losses lie between 0 and the largest possible weight, so the
betting bound limits their mean. A few rows of large weight decide, as they must.
"""

import math
from typing import Any

import numpy as np

from .._kernels import structure
from ..core import Bound, Pruning
from ..data.encoding import encode
from ..errors import CountsError, DataError, ParameterError, TreeError
from ..routing import apply, count
from ..statistics.tails import check_delta
from ._betting import betting_upper
from ._fresh import fresh_rows


def importance_weighted(
    pruning: Pruning,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    largest: float,
    delta: float = 0.05,
    sample: str = "test",
) -> Bound:
    """Return an upper limit on the error in the population that the importance weights describe.

    Parameters
    ----------
    pruning : Pruning
    X : array, data frame, path or Table
        Rows that had no part in growing, labelling or pruning, drawn independently from where
        rows are to be had.
    y : array or column name
        Their classes.
    sample_weight : array
        What each row stands for: its probability where the error is wanted, divided by that
        where it was drawn. Their expectation must be 1; weights that were divided by their own
        mean are not known beforehand and do not qualify.
    largest : float
        The largest weight that any row could have, known without looking at these.
    delta : float
    sample : str
        Name of the sample.

    Returns
    -------
    Bound
        Its `quantity` is "importance-weighted error", `errors` the weight of the rows in error.

    Notes
    -----
    A weight above `largest` is refused, and so are weights whose mean a chance of one in a
    million does not explain. The limit grows with `largest`: with weights of at most 1 it is the
    betting bound on the plain error. O(rows).

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import importance_weighted
    >>> tree, grown = secateur.grow([[0.1], [0.9]], ["no", "yes"])
    >>> pruning = secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"})
    >>> X = np.tile([[0.0], [1.0]], (500, 1))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> y[:20] = "yes"  # ten errors in a thousand rows, all where x is 0
    >>> weight = np.where(X[:, 0] > 0, 0.5, 1.5)  # where x is 0 three times as often as here
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
    about = fresh_rows(pruning, counts, "an importance-weighted error", delta)
    weight = _weights(sample_weight, about["n"], float(largest))
    # A row that reaches an original leaf is answered the class of the leaf of the pruning above it.
    is_below = ~(pruning.is_leaf | pruning.is_kept)
    answers = structure.inherit_labels(pruning.tree.parent, pruning.node_labels, is_below)
    is_wrong = answers[apply(pruning.tree, table)] != table.target
    losses = np.where(is_wrong, weight, 0.0)
    values, rows = np.unique(losses, return_counts=True)
    limit = float(largest) * betting_upper(values / float(largest), rows, math.log(delta))
    return Bound(
        value=min(1.0, limit),
        method="importance weights, betting",
        errors=float(losses.sum()),
        details={
            "largest": float(largest),
            "mean_weight": float(weight.mean()),
            "rows_in_error": int(np.count_nonzero(is_wrong)),
        },
        quantity="importance-weighted error",
        **about,
    )


def _check_largest(largest: Any) -> None:
    is_number = isinstance(largest, int | float | np.number) and not isinstance(largest, bool)
    if not is_number or not 1 <= float(largest) < math.inf:
        raise ParameterError(f"largest={largest!r}; a finite number of 1 or more is needed: weights have expectation 1")


def _weights(given: Any, n: int, largest: float) -> Any:
    weight = np.asarray(given, np.float64)
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
    # Hoeffding's inequality at one in a million.
    slack = largest * math.sqrt(math.log(2e6) / (2 * n))
    if abs(mean - 1) > slack:
        raise ParameterError(
            f"the weights have mean {mean:.4g}; importance weights have expectation 1, and {n:,} rows of weight at "
            f"most {largest:g} do not stray by more than {slack:.3g} from it (divide the weights by their expectation "
            "where the rows come from)"
        )
    return weight
