"""How the scores of `SCORES` are computed from counts."""

from typing import Any

import numpy as np

from ..data.arrays import Array, Floats, Sums

LEAST = 1e-15  # a probability below it counts as this in a log loss
MOST_AREAS = 100  # members of a path whose area under the curve is computed


def balanced_costs(target: Array, weight: Any, n_classes: int) -> Floats:
    """Return the cost matrix under which the mean cost is the balanced error: a row of a rare class costs more."""
    rows = np.bincount(target, weight, minlength=n_classes).astype(float)
    each = np.divide(rows.sum(), np.count_nonzero(rows) * rows, out=np.zeros(n_classes), where=rows > 0)
    costs: Floats = each[:, None] * (1 - np.eye(n_classes))
    return costs


def likelihood_losses(held: Sums, shares: Floats, scoring: str) -> tuple[Floats, Floats]:
    """(sums of losses, of their squares) of the held-out rows of each node, whose probabilities are `shares`."""
    if scoring == "log_loss":
        each = -np.log(np.maximum(shares, LEAST))
    else:
        each = (1 - 2 * shares + (shares * shares).sum(axis=1, keepdims=True)) / (2 if shares.shape[1] == 2 else 1)
    each = each[:, : held.shape[1]]
    return (held * each).sum(axis=1), (held * each * each).sum(axis=1)


def area_losses(parent: Array, steps: Array, n_members: int, held: Sums, shares: Floats) -> tuple[Array, Floats]:
    """(members, 1 - area under the ROC curve of each): at most a hundred members, evenly spread on a path.

    NaN where the held-out rows are of one class.
    """
    members = np.unique(np.linspace(0, n_members - 1, MOST_AREAS).round().astype(np.int64))
    above = np.append(n_members, steps[parent[1:]])
    losses = np.empty(len(members))
    for k, member in enumerate(members):
        at = np.flatnonzero((steps <= member) & (member < above))
        losses[k] = _area_loss(held[at].astype(float), shares[at])
    return members, losses


def _area_loss(held: Floats, shares: Floats) -> float:
    """1 - the mean area of the classes that some rows have and others have not."""
    rows = held.sum(axis=0)
    classes = [c for c in range(held.shape[1]) if 0 < rows[c] < rows.sum()]
    classes = classes[1:] if held.shape[1] == 2 else classes  # of two classes both areas are the same
    areas = []
    for c in classes:
        _, place = np.unique(shares[:, c], return_inverse=True)
        ones = np.bincount(place, held[:, c])
        rest = np.bincount(place, held.sum(axis=1) - held[:, c])
        below = np.cumsum(rest) - rest / 2
        areas.append((ones * below).sum() / (ones.sum() * rest.sum()))
    return 1 - float(np.mean(areas)) if areas else float("nan")
