"""The path certificate: the rows that certify may choose a member of a sequence that was made without them.

If m of the members are different, each bound fails with probability at most delta / m. So all bounds hold at once.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .._utils.arrays import ArrayLike, Floats, LongsOrFloats
from ..core import Bound, Counts, Pruning, PruningSequence
from ..errors import ParameterError
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta
from ._fresh import check_fresh_rows
from ._groups import GroupError, check_group_error, labels_of_pruning, limit_errors


def path(
    sequence: PruningSequence | Sequence[Pruning],
    counts: Counts,
    *,
    delta: float = 0.05,
    weights: ArrayLike | None = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
    group_error: GroupError = "share",
) -> list[Bound]:
    """Return one bound per member of a sequence; all of them hold at once.

    Parameters
    ----------
    sequence : PruningSequence, or list of Pruning
        The members, made without using the rows of `counts`.
    counts : Counts
        Integer counts of an independent sample; it may then choose a member.
    delta : float
        Probability, over samples, that any of the bounds is too low.
    weights : array, optional
        Share of delta of each member: 0 or more, at most 1 in total, fixed without using the rows of `counts` (see
        `cross_validation_weights`). By default, all different members have equal shares.
    repeated, repeats, group_error
        As for `certify`.

    Returns
    -------
    list of Bound
        `complexity` is ln 1/weight, and `details["member"]` the number of the member. `least_bound` returns the lowest.

    Notes
    -----
    Costs one pass over the nodes if the sequence is nested, and the computation of one binomial tail for each different
    number of errors. Langford (2005).

    Examples
    --------
    >>> from secateur import Counts, PruningSequence, Tree
    >>> from secateur.certifiers import least_bound, path
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> sequence = PruningSequence(tree, [2, 1], [0, 50], steps=[1, 0, 0], node_labels=[0, 0, 1])
    >>> held = Counts.from_leaves(tree, [[90, 10], [10, 90]], sample="prune")
    >>> bounds = path(sequence, held)
    >>> [round(bound.value, 3) for bound in bounds], least_bound(bounds).details["member"]
    ([0.15, 0.571], 0)
    """
    delta = check_delta(delta)
    if not len(sequence):
        raise ParameterError("no prunings given; at least one is needed")
    check_group_error(group_error, counts)
    # No other thread may evaluate the sample between the check that its rows are fresh and the record of their use.
    with _lock_of(sequence):
        rows = check_fresh_rows(
            sequence, counts, "a path certificate", delta, repeated=repeated, repeats=repeats, takes_groups=True
        )
        errors, n_leaves = _evaluate_members(sequence, counts)
    shares = _equal_shares(sequence) if weights is None else _checked_weights(weights, len(sequence))
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares)
    log_deltas = np.minimum(math.log(rows.delta) + log_shares, 0.0)
    prunings = ((pruning, labels_of_pruning(pruning)) for pruning in sequence)
    found = limit_errors(counts, rows, errors, prunings, log_deltas, group_error=group_error)
    n_members = len(sequence)
    weighting = "equal shares" if weights is None else "given weights"
    columns = (found.limits, found.errors, log_shares, log_deltas, n_leaves)
    return [
        Bound(
            value=limit,
            method=f"path of {n_members:,} prunings, {weighting}, {found.description}",
            errors=n_errors,
            complexity=0.0 - log_share,
            **rows.bound_fields,
            **found.fields,
            details={
                "tail": "exact",
                "log_delta": log_delta,
                "member": member,
                "n_leaves": leaves,
                "n_members": n_members,
            },
        )
        for member, (limit, n_errors, log_share, log_delta, leaves) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        )
    ]


def _lock_of(sequence: PruningSequence | Sequence[Pruning]) -> AbstractContextManager[Any]:
    """Return the lock of the evaluation log; members that are no prunings, which are refused later, have none."""
    first = sequence if isinstance(sequence, PruningSequence) else sequence[0]
    return first.tree.evaluation_log.lock if isinstance(first, Pruning | PruningSequence) else nullcontext()


def _evaluate_members(
    sequence: PruningSequence | Sequence[Pruning], counts: Counts
) -> tuple[LongsOrFloats, LongsOrFloats]:
    """Return the errors and the number of leaves of every member; the tree's log records the evaluation."""
    if isinstance(sequence, PruningSequence):
        errors = sequence.unrecorded_errors_on(counts)
        sequence.tree.evaluation_log.record_sequence(counts, sequence)
        return errors, sequence.n_leaves
    errors = np.array([pruning.errors(counts) for pruning in sequence])
    return errors, np.array([pruning.n_leaves for pruning in sequence])


def least_bound(bounds: Sequence[Bound]) -> Bound:
    """Return the lowest bound; in a tie the last one, which belongs to the smallest tree of a sequence.

    Examples
    --------
    >>> from secateur import Bound
    >>> from secateur.certifiers import least_bound
    >>> least_bound([Bound(0.2, 0.05, "a", 9, 1), Bound(0.2, 0.05, "b", 9, 1), Bound(0.3, 0.05, "c", 9, 1)]).method
    'b'
    """
    if not bounds:
        raise ParameterError("no bounds given; at least one is needed")
    return min(reversed(bounds), key=lambda bound: bound.value)


def cross_validation_weights(errors: ArrayLike, standard_errors: ArrayLike) -> Floats:
    """Return weights for `path` from a cross-validation on the growing sample.

    Parameters
    ----------
    errors : array
        Cross-validated errors of each member.
    standard_errors : array
        Standard error of each of the `errors`, in the same unit.

    Returns
    -------
    array
        Weights proportional to exp(-(errors - lowest errors) / standard error of the lowest errors), with sum 1.

    Examples
    --------
    >>> from secateur.certifiers import cross_validation_weights
    >>> cross_validation_weights([10, 12, 30], [2, 2, 3]).round(4).tolist()
    [0.731, 0.2689, 0.0]
    """
    error, se = np.asarray(errors, np.float64), np.asarray(standard_errors, np.float64)
    if error.ndim != 1 or error.shape != se.shape or len(error) == 0:
        raise ParameterError(f"errors of shape {error.shape} and standard errors of {se.shape}; one of each per member")
    if not (np.isfinite(error).all() and np.isfinite(se).all() and (se >= 0).all()):
        raise ParameterError("errors and standard errors must be finite, standard errors 0 or more")
    best = int(error.argmin())
    distance = error - error[best]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(distance == 0, 1.0, np.exp(-distance / se[best]))
    weights: Floats = weight / weight.sum()
    return weights


def _equal_shares(sequence: PruningSequence | Sequence[Pruning]) -> Floats:
    """Return the share 1/m for each member, where m is the number of different members."""
    if isinstance(sequence, PruningSequence):
        return np.full(len(sequence), 1 / sequence.n_different)
    return np.full(len(sequence), 1 / len({pruning.digest for pruning in sequence}))


def _checked_weights(weights: ArrayLike, n_members: int) -> Floats:
    """Return the weights as a float array; raise `ParameterError` unless they are valid shares of delta."""
    array = np.asarray(weights, np.float64)
    if array.shape != (n_members,):
        raise ParameterError(f"weights have shape {array.shape}; one per member, ({n_members},), is needed")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ParameterError(f"weights from {array.min()} to {array.max()}; finite numbers of 0 or more are needed")
    if array.sum() > 1 + 1e-9:
        raise ParameterError(f"weights add up to {array.sum():.9g}; at most 1 is needed")
    return array
