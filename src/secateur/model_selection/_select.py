"""Choose a member of a sequence: by its error on a sample that the sequence has not used, or by known errors."""

import math
from typing import Any, Literal

import numpy as np

from .._utils.arrays import Array, ArrayLike, Floats
from ..core import Counts, Moments, Pruning, PruningSequence, SampleUsage, Selection
from ..errors import CountsError, ParameterError, PruningError, show
from ..statistics.node_losses import NodeLosses, prediction_losses
from ._recipe import allowance_of
from .losses import TOLERANCE, check_cost_matrix


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
    """Choose a member of a sequence on a sample, and return it with the table of all members.

    Parameters
    ----------
    sequence : PruningSequence
    counts : Counts or Moments
        The sample to choose on, counted in the grown tree.
    rule : {"min-error", "0se", "1se", "kse"}
        The member with the lowest error ("min-error" and "0se"), or the smallest tree within one, or `k`, standard
        errors of the lowest error. Forms such as "0.25se" are accepted too. "1se-published" differs from "1se" in
        `cross_validate` only.
    k : float, optional
        Number of standard errors for "kse".
    cost : array, optional
        Cost of each node as a leaf on this sample, in place of errors. Its standard error is
        known for `Moments` only.
    costs : array of shape (n_classes, n_classes), optional
        Cost of predicting class j for a row of class i, in place of errors.
    values : array, optional
        The prediction of each node; `Moments` need it if no `cost` is given.
    se : "pooled"
        sqrt(e (1 - e) / n) for an error rate e; with `costs` the standard deviation of the
        costs of the rows over sqrt(n); for squared errors that of normal residuals,
        e sqrt(2 / n).

    Returns
    -------
    (Pruning, Selection)
        Ties go to the smallest tree. `pruning.seen` contains the sample, so that it cannot be used
        as a test sample later.

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
    allowance = allowance_of("rule", rule, k)
    se_multiple = allowance.n_standard_errors
    if se != "pooled":
        raise ParameterError(
            f"se={show(se)}; one sample has a pooled standard error only ('folds' goes with cross_validate)"
        )
    counts.check_fits(sequence.tree)
    total = float(counts.total[0])
    if not total > 0:
        raise CountsError(f"sample {show(counts.sample)} has no rows; choosing needs some")
    if sum(option is not None for option in (cost, costs, values)) > 1:
        raise ParameterError("cost, costs and values exclude each other; pass at most one")
    if cost is not None and counts.has_classes and se_multiple > 0:
        raise ParameterError(
            f"rule={show(rule)} needs a standard error, which summed costs of nodes do not have; "
            "pass a matrix as costs=, or use rule='min-error'"
        )
    losses = _node_losses(sequence, counts, cost, costs, values)
    sequence.tree.evaluation_log.record_sequence(counts, sequence)
    error = sequence.costs_on(losses.loss) / total
    # If the number of rows is not known, the rounded weight stands for it.
    n_rows = max(1, round(total) if counts.n_rows is None else counts.n_rows)
    if not counts.has_classes:
        standard_error = error * np.sqrt(2 / n_rows)
    elif cost is not None:
        standard_error = np.full(len(sequence), np.nan)
    else:
        mean_square = error if losses.square is None else sequence.costs_on(losses.square) / total
        standard_error = np.sqrt(np.maximum(mean_square - error * error, 0) / n_rows)
    best, chosen = choose(error, standard_error, se_multiple)
    details: dict[str, Any] = {"se": se}
    if not counts.has_classes:
        details["scoring"] = "squared_error"
    if cost is not None or costs is not None:
        details |= {"loss": "given costs", "scoring": "given cost" if costs is None else "cost"}
    if costs is not None:
        details["costs"] = np.asarray(costs).tolist()
    table = Selection(
        sequence, error, standard_error, best, chosen,
        select=rule if rule == "min-error" else allowance.name, sample=counts.sample, n=n_rows,
        evaluated_on=SampleUsage.of(counts), details=details,
    )  # fmt: skip
    return table.pruning, table


def choose(error: ArrayLike, se: ArrayLike, k: float = 0.0) -> tuple[int, int]:
    """Return the member with the lowest error, and the smallest member within `k` standard errors of it.

    Parameters
    ----------
    error, se : array
        One number per member, largest tree first; `se` may be NaN if `k` is 0.
    k : float
        0 chooses the member with the lowest error itself.

    Returns
    -------
    (int, int)
        Ties go to the last member, which is the smallest tree. An error equal to the limit is within the limit, so
        that a member is found if the lowest error is 0.

    Examples
    --------
    >>> choose([0.125, 0.115, 0.11, 0.12, 0.15], [0.023, 0.023, 0.022, 0.023, 0.025], k=1)
    (2, 3)
    """
    errors, standard_errors = np.asarray(error, np.float64), np.asarray(se, np.float64)
    if errors.ndim != 1 or errors.shape != standard_errors.shape or not len(errors):
        raise ParameterError(
            f"errors of shape {errors.shape} and standard errors of {standard_errors.shape}; one of each per member"
        )
    lowest = errors.min()
    best = int(np.flatnonzero(errors <= lowest * (1 + TOLERANCE))[-1])
    if k == 0:
        return best, best
    limit = lowest + k * standard_errors[best]
    if not math.isfinite(limit):
        raise ParameterError(
            f"the standard error of member {best} is {standard_errors[best]}; k={k:g} needs a finite one"
        )
    return best, int(np.flatnonzero(errors <= limit * (1 + TOLERANCE))[-1])


def better_than_single_leaf(chosen: int, fold_error: Floats, n_folds: int, n_leaves: Array) -> int:
    """Return the smallest member that is better than the chosen single leaf by more than one standard error.

    Without such a member, return the single leaf. The standard error is that of the difference over the folds. Both
    members are evaluated on the same rows of a fold, so the standard error of their difference is often much smaller
    than that of either error, which would accept the single leaf.
    """
    gain = fold_error[:, [chosen]] - fold_error
    is_better = (gain.mean(axis=0) > gain.std(axis=0, ddof=1) / math.sqrt(n_folds)) & (n_leaves > 1)
    return int(np.flatnonzero(is_better)[-1]) if is_better.any() else chosen


def smallest_within_difference(best: int, fold_error: Floats, n_folds: int, k: float) -> int:
    """Return the smallest member that is worse than the best by at most `k` standard errors of the difference.

    The standard errors are those over the folds. Losses of probabilities differ more between rows than between trees,
    so the standard error of a mean loss would accept trees that are worse in every fold.
    """
    difference = fold_error - fold_error[:, [best]]
    limit = k * difference.std(axis=0, ddof=1) / math.sqrt(n_folds)
    return int(np.flatnonzero(difference.mean(axis=0) <= limit * (1 + TOLERANCE))[-1])


def _node_losses(sequence: PruningSequence, counts: Counts | Moments, cost: Any, costs: Any, values: Any) -> NodeLosses:
    """Return the losses of the sample in each node as a leaf; see `select` for the parameters."""
    if cost is not None:
        return NodeLosses(_check_node_costs(cost, sequence.tree.n_nodes), None)
    if not counts.has_classes:
        if values is None:
            raise ParameterError("Moments need values=, the prediction of each node (grown.mean), or cost=")
        return NodeLosses(counts.unrecorded_costs_if_leaf(values), None)
    if values is not None:
        raise ParameterError("values= needs Moments; the nodes of this sequence predict classes")
    labels = sequence.node_labels
    if labels is None:
        raise PruningError("this sequence was made from costs and has no classes; pass cost=, one number per node")
    if costs is None:
        return NodeLosses(counts.unrecorded_errors_if_leaf(labels), None)
    n_classes = max(int(labels.max()) + 1, len(np.atleast_1d(np.asarray(costs))))
    return prediction_losses(counts.by_class, labels, check_cost_matrix(costs, n_classes))


def _check_node_costs(cost: Any, n_nodes: int) -> Array:
    """Return the cost of each node as an array, or raise `ParameterError`."""
    array: Array = np.asarray(cost)
    if array.shape != (n_nodes,) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise ParameterError(
            f"cost has shape {array.shape} of {array.dtype}; one finite number per node, ({n_nodes},), is needed"
        )
    return array
