"""Choosing on a path that the growing sample determined: the choice costs ln m, m members."""

import math
from collections.abc import Sequence

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..core import Bound, Counts, Pruning, PruningSequence
from ..errors import ParameterError
from ..statistics.tails import binomial_upper, check_delta
from ._fresh import fresh_rows


def path(
    sequence: PruningSequence | Sequence[Pruning],
    counts: Counts,
    *,
    delta: float = 0.05,
    weights: ArrayLike | None = None,
    repeated: bool = False,
) -> list[Bound]:
    """Return one bound per member of a sequence, valid for all members at once.

    Parameters
    ----------
    sequence : PruningSequence, or list of Pruning
        Made without looking at `counts`.
    counts : Counts
        Whole counts of an independent sample; a member may then be chosen with it.
    delta : float
    weights : array, optional
        Share of delta of each member, 0 or more and at most 1 in all, fixed without looking at
        `counts` (see `cross_validation_weights`). By default equal shares for different trees.
    repeated : bool
        As for `certify`.

    Returns
    -------
    list of Bound
        `complexity` is ln 1/weight, `details["member"]` the place in the sequence;
        `least_bound` picks the best.

    Notes
    -----
    One pass over the nodes for a nested sequence, plus one tail for each distinct number of
    errors. Langford (2005).

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
    about = fresh_rows(sequence, counts, "a path certificate", delta, repeated=repeated)
    if isinstance(sequence, PruningSequence):
        errors, n_leaves = sequence.unrecorded_errors_on(counts), sequence.n_leaves
        sequence.tree.evaluation_log.record(counts, sequence=sequence)
    else:
        errors = np.array([pruning.errors(counts) for pruning in sequence])
        n_leaves = np.array([pruning.n_leaves for pruning in sequence])
    shares = _equal_shares(sequence) if weights is None else _checked_weights(weights, len(sequence))
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares)
    log_delta = np.minimum(math.log(delta) + log_shares, 0.0)
    values = binomial_upper(errors, about["n"], log_delta)
    m = len(sequence)
    method = f"path of {m:,} prunings, {'equal shares' if weights is None else 'given weights'}, exact tail"
    columns = (values, errors, log_shares, log_delta, n_leaves)
    return [
        Bound(
            value=value,
            method=method,
            errors=count,
            complexity=0.0 - log_share,
            **about,
            details={"tail": "exact", "log_delta": log_x, "member": i, "n_leaves": leaves, "n_members": m},
        )
        for i, (value, count, log_share, log_x, leaves) in enumerate(zip(*(c.tolist() for c in columns), strict=True))
    ]


def least_bound(bounds: Sequence[Bound]) -> Bound:
    """Return the lowest of several bounds; of equal ones the last, which is the smallest tree of a sequence.

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
        Their standard errors, in the same unit.

    Returns
    -------
    array
        Proportional to exp(-(errors - least) / standard error of the least); they add up to 1.

    Examples
    --------
    >>> from secateur.certifiers import cross_validation_weights
    >>> cross_validation_weights([10, 12, 30], [2, 2, 3]).round(4).tolist()
    [0.731, 0.2689, 0.0]
    """
    found, spread = np.asarray(errors, np.float64), np.asarray(standard_errors, np.float64)
    if found.ndim != 1 or found.shape != spread.shape or len(found) == 0:
        raise ParameterError(
            f"errors of shape {found.shape} and standard errors of {spread.shape}; one of each per member"
        )
    if not (np.isfinite(found).all() and np.isfinite(spread).all() and (spread >= 0).all()):
        raise ParameterError("errors and standard errors must be finite, standard errors 0 or more")
    best = int(found.argmin())
    distance = found - found[best]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(distance == 0, 1.0, np.exp(-distance / spread[best]))
    result: Floats = weight / weight.sum()
    return result


def _equal_shares(sequence: PruningSequence | Sequence[Pruning]) -> Floats:
    """1/m each, m the number of different trees; members of different size differ."""
    if isinstance(sequence, PruningSequence):
        return np.full(len(sequence), 1 / sequence.n_different)
    return np.full(len(sequence), 1 / len({pruning.digest for pruning in sequence}))


def _checked_weights(weights: ArrayLike, n_members: int) -> Floats:
    array = np.asarray(weights, np.float64)
    if array.shape != (n_members,):
        raise ParameterError(f"weights have shape {array.shape}; one per member, ({n_members},), is needed")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ParameterError(f"weights from {array.min()} to {array.max()}; finite numbers of 0 or more are needed")
    if array.sum() > 1 + 1e-9:
        raise ParameterError(f"weights add up to {array.sum():.9g}; at most 1 is needed")
    return array
