"""Choose the number of changes of an update: by cross-validation on the new rows, or the fewest below a target.

The errors of a front on the rows that made it are too low, and more so with more changes. Cross-validation makes a
front from the rows of all folds but one, new subtrees included, and counts the errors of its prunings on the rows of
that fold.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._utils.arrays import Floats, Longs, LongsOrFloats, write_protect
from ..data import fold_assignment
from ..data.groups import GroupHashes
from ..data.table import Table
from ..pruners import ChangeFront
from ..routing import count
from ._fronts import FrontMaker

N_STANDARD_ERRORS = {"1se": 1.0, "0se": 0.0}


class Choice(NamedTuple):
    """The chosen member of a front, whether it is what was asked for, and the reason in words."""

    member: int
    is_met: bool
    reason: str


def cross_validated_errors(
    maker: FrontMaker,
    front: ChangeFront,
    table: Table,
    *,
    n_folds: int,
    seed: int,
    groups: GroupHashes | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """Return the share of wrong rows of each number of changes of a front, each row predicted without its fold.

    Parameters
    ----------
    maker : FrontMaker
        Makes the front of the rows of the other folds.
    front : ChangeFront
        The front of all new rows.
    table : Table
        The new rows.
    n_folds, seed : int
        Number of folds, and the seed by which rows are assigned to them.
    groups : array, optional
        A hash of the group of each row. All rows of a group are in one fold.
    progress : callable, optional
        Called with (folds evaluated, folds).
    """
    folds = fold_assignment.assign_folds(table, n_folds, seed=seed, groups=groups)
    errors = np.zeros(len(front), np.int64)
    for fold in range(n_folds):
        others, held_out = (table.take(np.flatnonzero(is_here)) for is_here in (folds != fold, folds == fold))
        limits = front.n_changes
        if front.distance == "rows":  # the same share of the rows
            limits = limits * others.n_rows // table.n_rows
        fold_front = maker.make(others, max_changes=int(limits[-1]), convex=front.is_convex).front
        errors += _errors_within(fold_front, held_out, limits)
        if progress is not None:
            progress(fold + 1, n_folds)
    return write_protect(errors / table.n_rows)


def _errors_within(front: ChangeFront, held_out: Table, limits: Longs) -> LongsOrFloats:
    """Return the errors on some rows of the best prunings within each number of changes."""
    counts = count(front.deployed.tree, held_out, sketch=False)
    members = np.array([front.index_within(int(limit)) for limit in limits])
    errors = {}
    for member in np.unique(members).tolist():
        pruning = front[member]
        assert pruning.node_labels is not None
        errors[member] = pruning.cost(counts.unrecorded_errors_if_leaf(pruning.node_labels))
    return np.array([errors[member] for member in members.tolist()])


def choose_member(
    front: ChangeFront,
    errors: Floats,
    *,
    max_changes: int | None,
    target_error: float | None,
    select: str,
    tree: str = "the grown tree",
) -> Choice:
    """Return the chosen member of a front.

    Parameters
    ----------
    front : ChangeFront
    errors : array
        The share of wrong rows of each member, by which members are compared.
    max_changes : int or None
        If it is given without `target_error`, the member with the most changes is chosen.
    target_error : float or None
        The member with the fewest changes whose error is at most this; if there is none, that of lowest error.
    select : "1se" or "0se"
        Without the other two: the fewest changes within one standard error of the lowest error, or of lowest error.
    tree : str
        The tree in words, for the reason.
    """
    best = int(errors.argmin())  # the fewest changes, if several errors are equal
    if target_error is not None:
        below = np.flatnonzero(errors <= target_error)
        if len(below):
            return Choice(
                int(below[0]), True, f"the fewest changes with an error of at most {100 * target_error:.4g} %"
            )
        reason = (
            f"no pruning of {tree} errs on at most {100 * target_error:.4g} % of the new rows; this one has "
            f"the lowest error, {100 * errors[best]:.4g} %"
        )
        return Choice(best, False, reason)
    if max_changes is not None:
        return Choice(len(front) - 1, True, f"the fewest errors with at most {max_changes:,} changes")
    n_rows = float(front.counts.total[0])
    standard_error = math.sqrt(max(errors[best] * (1 - errors[best]), 0.0) / n_rows)
    limit = errors[best] + N_STANDARD_ERRORS[select] * standard_error
    member = int(np.flatnonzero(errors <= limit)[0])
    within = "with" if select == "0se" else "within one standard error of"
    return Choice(member, True, f"the fewest changes {within} the lowest cross-validated error")
