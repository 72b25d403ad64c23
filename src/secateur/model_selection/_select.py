"""Take a member of a sequence: by the error of each on a sample the sequence has not seen, or when these are known."""

import math
from typing import Any, Literal

import numpy as np

from .._utils.arrays import ArrayLike, LongsOrFloats
from ..core import Counts, Moments, Pruning, PruningSequence, SampleUsage, Selection
from ..errors import CountsError, ParameterError, PruningError
from ._registry import n_standard_errors
from .losses import check_cost_matrix, held_out

TOLERANCE = 1e-12  # error rates are rounded quotients, penalties are geometric means: nearer ones are tied


def select(
    sequence: PruningSequence,
    counts: Counts | Moments,
    *,
    rule: str = "min-error",
    k: float | None = None,
    cost: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    values: ArrayLike | None = None,
    se: Literal["pooled"] = "pooled",
) -> tuple[Pruning, Selection]:
    """Choose the best member of a sequence on a sample; return it with the table of all members.

    Parameters
    ----------
    sequence : PruningSequence
    counts : Counts or Moments
        The sample to choose on, counted in the whole tree.
    rule : {"min-error", "0se", "1se", "kse"}
        Least error ("min-error" and "0se"), or the smallest tree within one, or `k`, standard
        errors of it. Forms such as "0.25se" are accepted too.
    k : float, optional
        For "kse".
    cost : array, optional
        Cost of each node as a leaf on this sample, in place of errors. Its standard error is
        known for `Moments` only.
    costs : array of shape (n_classes, n_classes), optional
        What it costs to answer class j for a row of class i, in place of errors.
    values : array, optional
        What each node answers; `Moments` need it where no `cost` is given.
    se : "pooled"
        sqrt(e (1 - e) / n) for an error rate e; with `costs` the standard deviation of the
        costs of the rows over sqrt(n); for squared errors that of normal residuals,
        e sqrt(2 / n).

    Returns
    -------
    (Pruning, Selection)
        With equal errors, the smallest tree. `pruning.seen` names the sample, which can thus no
        longer pass as a test sample.

    Notes
    -----
    One pass over the nodes for a nested sequence. Breiman et al. (1984).

    Examples
    --------
    >>> from secateur import Counts, PruningSequence, Tree
    >>> from secateur.model_selection import select
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = PruningSequence(
    ...     tree, [3, 2, 1], [0, 1, 3], alphas=[0, 1, 2], steps=[2, 1, 0, 0, 0], node_labels=[0, 0, 0, 1, 1]
    ... )
    >>> held = Counts.from_leaves(tree, [[40, 2], [4, 3], [1, 50]], sample="prune")
    >>> pruning, selection = select(sequence, held)
    >>> pruning
    Pruning(2 of 3 leaves, cuts at 1)
    >>> selection.error.round(3).tolist(), sorted(pruning.seen)
    ([0.07, 0.06, 0.55], ['prune'])
    """
    if not isinstance(counts, Counts | Moments):
        raise CountsError(f"counts are a {type(counts).__name__}; Counts or Moments of the sample are needed")
    n_errors = n_standard_errors("rule", rule, k)
    if se != "pooled":
        raise ParameterError(
            f"se={se!r}; one sample has a pooled standard error only ('folds' goes with cross_validate)"
        )
    counts.check_fits(sequence.tree)
    total = float(counts.total[0])
    if not total > 0:
        raise CountsError(f"sample {counts.sample!r} has no examples; choosing needs some")
    if sum(given is not None for given in (cost, costs, values)) > 1:
        raise ParameterError("cost, costs and values exclude each other; pass at most one")
    loss, square = _losses(sequence, counts, cost, costs, values)
    sequence.tree.evaluation_log.record_sequence(counts, sequence)
    rate = sequence.costs_on(loss) / total
    # Rows behind the rates, whatever they weigh; where they are not known their weight, rounded.
    n = max(1, round(total) if counts.n_rows is None else counts.n_rows)
    if not counts.has_classes:
        spread = rate * np.sqrt(2 / n)
    elif cost is not None:
        spread = np.full(len(sequence), np.nan)
        if n_errors > 0:
            raise ParameterError(
                f"rule={rule!r} needs a standard error, which summed costs of nodes do not have; "
                "pass a matrix as costs=, or use rule='min-error'"
            )
    else:
        mean_square = rate if square is None else sequence.costs_on(square) / total
        spread = np.sqrt(np.maximum(mean_square - rate * rate, 0) / n)
    best, chosen = choose(rate, spread, n_errors)
    name = rule if rule == "min-error" else f"{n_errors:g}se"
    details = {"se": se} | ({} if cost is None and costs is None else {"loss": "given costs"})
    judged = (sequence, rate, spread, best, chosen, name, counts.sample, n)
    table = Selection(*judged, evaluated_on=SampleUsage.of(counts), details=details)
    return table.pruning, table


def choose(error: ArrayLike, se: ArrayLike, k: float = 0.0) -> tuple[int, int]:
    """Return the member with the lowest error, and the smallest member within `k` standard errors of it.

    Parameters
    ----------
    error, se : array
        One number per member, largest tree first; `se` may be NaN where `k` is 0.
    k : float
        0 takes the member of least error itself.

    Returns
    -------
    (int, int)
        With equal errors, the last, which is the smallest tree. The limit itself is within the limit, so
        that an error of 0 is chosen too.

    Examples
    --------
    >>> choose([0.125, 0.115, 0.11, 0.12, 0.15], [0.023, 0.023, 0.022, 0.023, 0.025], k=1)
    (2, 3)
    """
    rates, spread = np.asarray(error, np.float64), np.asarray(se, np.float64)
    if rates.ndim != 1 or rates.shape != spread.shape or not len(rates):
        raise ParameterError(
            f"errors of shape {rates.shape} and standard errors of {spread.shape}; one of each per member"
        )
    least = rates.min()
    best = int(np.flatnonzero(rates <= least * (1 + TOLERANCE))[-1])
    if k == 0:
        return best, best
    limit = least + k * spread[best]
    if not math.isfinite(limit):
        raise ParameterError(f"the standard error of member {best} is {spread[best]}; k={k:g} needs a finite one")
    return best, int(np.flatnonzero(rates <= limit * (1 + TOLERANCE))[-1])


def _losses(
    sequence: PruningSequence, counts: Counts | Moments, cost: Any, costs: Any, values: Any
) -> tuple[LongsOrFloats, LongsOrFloats | None]:
    """Summed losses of each node, and of their squares where they are not the same."""
    n_nodes = sequence.tree.n_nodes
    if cost is not None:
        array = np.asarray(cost)
        if array.shape != (n_nodes,) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise ParameterError(
                f"cost has shape {array.shape} of {array.dtype}; one finite number per node, ({n_nodes},), is needed"
            )
        return array, None
    if not counts.has_classes:
        if values is None:
            raise ParameterError("Moments need values=, the prediction of each node (grown.mean), or cost=")
        return counts.costs_if_leaf(values), None
    if values is not None:
        raise ParameterError("values= needs Moments; the nodes of this sequence predict classes")
    if sequence.node_labels is None:
        raise PruningError("this sequence was made from costs and has no classes; pass cost=, one number per node")
    if costs is None:
        return counts.unrecorded_errors_if_leaf(sequence.node_labels), None
    n_classes = max(int(sequence.node_labels.max()) + 1, len(np.atleast_1d(np.asarray(costs))))
    return held_out(counts.by_class, sequence.node_labels, check_cost_matrix(costs, n_classes))
