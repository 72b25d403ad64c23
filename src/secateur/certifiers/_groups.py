"""Limits on the errors of prunings, from rows or from groups of rows that belong together.

Rows of one group, such as the visits of a patient, are not independent draws, but groups are. A certificate from groups
is therefore a limit on the expected loss of a group. The loss of a group is

    "share"  the share of its rows that are wrong. Its expectation is the error of a random row of a random group.
    "any"    1 if any of its rows is wrong, else 0. Its expectation is the share of groups with an error.

Losses of 0 and 1 have exact binomial limits, and shares between 0 and 1 the betting bound.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Ints, LongsOrFloats
from .._utils.checks import check_name
from ..core import Counts, GroupedRows, Pruning, Sample
from ..core.bound import GROUPS_IN_ERROR
from ..errors import Argument, CountsError, ParameterError
from ..statistics.freshness import CertifyingRows
from ..statistics.tails import Tail, binomial_upper, upper_limit
from ._betting import betting_upper, raise_losses

GroupError = Literal["share", "any"]
GROUP_ERRORS: tuple[GroupError, ...] = ("share", "any")


class ErrorLimits(NamedTuple):
    """Upper limits on the errors of prunings, one entry per pruning.

    Parameters
    ----------
    limits : array
        The upper limits.
    errors : array
        Errors on the sample; with groups, sums of the losses of groups.
    description : str
        How errors became limits, in words.
    fields : dict
        Further fields of the bounds.
    """

    limits: Floats
    errors: LongsOrFloats
    description: str
    fields: dict[str, Any]


def limit_errors(
    counts: Counts,
    rows: CertifyingRows,
    errors: LongsOrFloats,
    members: Iterable[tuple[Pruning, Ints]],
    log_deltas: ArrayLike,
    *,
    tail: Tail = "exact",
    group_error: GroupError = "share",
) -> ErrorLimits:
    """Return the upper limit on the error of each pruning: from rows or, if the sample has groups, from groups.

    Parameters
    ----------
    counts : Counts
        The sample that certifies.
    rows : CertifyingRows
    errors : array
        Number of rows that each pruning predicts wrongly.
    members : iterable of (Pruning, array)
        The prunings, each with the class of every node as a leaf. Only read if the sample has groups.
    log_deltas : array
        Natural logarithm of the failure probability of each limit.
    tail : "exact", "kl" or "chernoff"
        How numbers of wrong rows become limits.
    group_error : "share" or "any"
        The loss of a group.
    """
    log_deltas = np.broadcast_to(np.minimum(np.asarray(log_deltas, np.float64), 0.0), errors.shape)
    grouped = counts.grouped
    if grouped is None:
        limits = np.asarray(upper_limit(tail, rows.add_repeated(errors), rows.n, log_deltas))
        return ErrorLimits(limits, errors, f"{tail} tail", {})
    if tail != "exact":
        raise ParameterError(Argument("tail", tail), " counts rows; leave it out for a sample with groups")
    shares = [grouped.wrong_shares(pruning, labels) for pruning, labels in members]
    if group_error == "any":
        n_wrong = np.array([np.count_nonzero(share) for share in shares])
        limits = np.asarray(binomial_upper(rows.add_repeated(n_wrong), rows.n, log_deltas))
        return ErrorLimits(limits, n_wrong, "groups with an error, exact tail", {"quantity": GROUPS_IN_ERROR})
    limits = np.array(
        [limit_of_means(share, rows, log_delta) for share, log_delta in zip(shares, log_deltas.tolist(), strict=True)]
    )
    return ErrorLimits(limits, np.array([share.sum() for share in shares]), "shares of wrong rows, betting", {})


def limit_of_means(losses: Floats, rows: CertifyingRows, log_delta: float) -> float:
    """Return the betting bound on the expectation of losses between 0 and 1, one for each group."""
    values, n_groups = np.unique(np.append(losses, 1.0), return_counts=True)
    n_groups[-1] -= 1  # take the appended loss away again; `raise_losses` needs 1 as the largest value
    return betting_upper(values, raise_losses(n_groups, rows.repeats.n_errors), log_delta)


def check_group_error(group_error: GroupError, counts: Sample) -> None:
    """Raise `ParameterError` if the loss of a group does not exist, or is stated for a sample without groups."""
    check_name("group_error", group_error, GROUP_ERRORS)
    if group_error != "share" and counts.grouped is None:
        raise ParameterError(Argument("group_error", group_error), " needs the group of each row: ", Argument("groups"))


def labels_of_pruning(pruning: Pruning) -> Ints:
    """Return the class of each node as a leaf; raise `CountsError` if the pruning has no classes."""
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; a certificate of its errors needs them")
    return pruning.node_labels


def costs_of_groups(grouped: GroupedRows, predictions: Ints, matrix: Any) -> Floats:
    """Return the mean cost of the rows of each group, given the predicted class of each row and the cost matrix."""
    return grouped.mean_of_groups(np.asarray(matrix, np.float64)[grouped.target, predictions])
