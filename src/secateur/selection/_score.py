"""One fold: grow, find the path, and score every tree on it, in one pass.

The held-out loss of the fold's tree is a step function of the penalty: it changes where the
path does. A fold is therefore the steps of its path and the loss between them, whatever
penalties it will be asked about; folds need to know nothing of each other.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._kernels.shrinkage import shrunk_losses
from .._kernels.weakest_link import member_sums, nested_path
from ..data.arrays import Array, Floats, Sums
from ..growers.folds import Ground, Judges
from ..growers.settings import Settings
from ..nouns import Sample, Tree
from ..pruners import cost_complexity
from ..statistics.probabilities import SHRINKAGE, STRENGTHS, shares_of
from ._select import TOLERANCE
from .losses import Losses, answers_of, held_out
from .splits import Split

LEAST = 1e-15  # a probability below it counts as this in a log loss
MOST_AREAS = 100  # members of a path whose area under the curve is computed
_STRENGTHS = np.array(STRENGTHS)


class Fold(NamedTuple):
    """Held-out losses of every tree on the path of one fold.

    `alphas` (per unit of weight) say from which penalty on each tree is the best; `loss` and
    `square` are sums over the held-out rows, `weight` is their weight. `square` is None where
    losses are 0 or 1. `shrunk` holds the same two sums for shrunk probabilities, a line for each
    of `STRENGTHS`: Brier scores if these are asked for, else log losses.
    """

    alphas: Floats
    loss: Sums
    square: Sums | None
    weight: float
    shrunk: tuple[Floats, Floats] | None = None

    def at(self, betas: Floats) -> tuple[Sums, Sums]:
        """Return the sums of losses and of their squares at the given penalties."""
        member = self.members(betas)
        return self.loss[member], (self.loss if self.square is None else self.square)[member]

    def members(self, betas: Floats) -> Array:
        """Return the tree that is the best at each penalty."""
        found: Array = np.searchsorted(self.alphas, betas * (1 + TOLERANCE), side="right") - 1
        return found

    def with_strength(self, at: int) -> "Fold":
        """Return the losses of the probabilities shrunk by one of the strengths."""
        assert self.shrunk is not None
        return self._replace(loss=self.shrunk[0][at], square=self.shrunk[1][at])


def grow_all(ground: Ground, ways: tuple[Settings, ...]) -> list[Sample]:
    """Return the counts of all rows in the tree of each way of growing."""
    return ground.part(np.arange(ground.table.n_rows)).grow_each(ways)


def score_fold(ground: Ground, ways: tuple[Settings, ...], losses: Losses, split: Split) -> list[Fold]:
    """Return the held-out losses of every tree that one fold gives, for each way of growing."""
    part, judges = ground.part(split.train), ground.judges(split.test)
    return [_scored(*part.grow(settings, is_shown=False), judges, losses) for settings in ways]


def _scored(tree: Tree, counts: Sample, judges: Judges, losses: Losses) -> Fold:
    answers = answers_of(counts, losses)
    added: Any
    steps: Any
    if losses.penalty == losses.size == "leaves" and losses.costs is None:
        # What `cost_complexity` would return, without a sequence that nobody will see.
        steps, alphas = nested_path(tree.parent, structure.added_leaves(tree.parent), answers.cost)
        added = partial(member_sums, tree.parent, steps, n_members=len(alphas))
    else:
        sequence = cost_complexity(tree, None, penalty=losses.penalty, size=losses.size, cost=answers.cost)
        steps, alphas, added = sequence.steps, sequence.alphas, sequence.costs_on
    alphas = alphas / answers.unit
    if not counts.has_classes:
        first, second, weight = judges.squares(tree, answers.answer, is_absolute=losses.scoring == "absolute_error")
        return Fold(alphas, added(first), added(second), weight)
    held = judges.count(tree)
    weight = float(held[0].sum())
    shrunk = None
    if steps is not None and losses.probabilities == "shrunk":
        of = counts.by_class.astype(np.float64), held.astype(np.float64)
        shrunk = shrunk_losses(tree.parent, steps, *of, _STRENGTHS, len(alphas), LEAST, losses.scoring == "brier")
        if losses.score.is_likelihood:
            at = STRENGTHS.index(SHRINKAGE)
            return Fold(alphas, shrunk[0][at], shrunk[1][at], weight, shrunk)
    if losses.score.path == "answers":
        loss, square = held_out(held, answers.answer, losses.costs if losses.scoring != "error" else None)
        return Fold(alphas, added(loss), None if square is None else added(square), weight, shrunk)
    kind = "m-estimate" if losses.probabilities == "mixture" else losses.probabilities
    shares = shares_of(tree.parent, counts.by_class, kind=kind)
    if losses.scoring == "roc_auc":
        members, areas = _area_losses(tree.parent, steps, len(alphas), held, shares)
        is_known = not np.isnan(areas).any()
        shrunk = None if shrunk is None else (shrunk[0][:, members], shrunk[1][:, members])
        return Fold(alphas[members], areas if is_known else np.zeros(len(areas)), None, float(is_known), shrunk)
    loss, square = _likelihood_losses(held, shares, losses.scoring)
    return Fold(alphas, added(loss), added(square), weight)


def _likelihood_losses(held: Sums, shares: Floats, scoring: str) -> tuple[Floats, Floats]:
    """(sums of losses, of their squares) of the held-out rows of each node, whose probabilities are `shares`."""
    if scoring == "log_loss":
        each = -np.log(np.maximum(shares, LEAST))
    else:
        each = (1 - 2 * shares + (shares * shares).sum(axis=1, keepdims=True)) / (2 if shares.shape[1] == 2 else 1)
    each = each[:, : held.shape[1]]
    return (held * each).sum(axis=1), (held * each * each).sum(axis=1)


def _area_losses(parent: Array, steps: Array, n_members: int, held: Sums, shares: Floats) -> tuple[Array, Floats]:
    """(members, 1 - area under the ROC curve of each): at most a hundred members, evenly spread on a path.

    NaN where the held-out rows are of one class.
    """
    members = np.unique(np.linspace(0, n_members - 1, MOST_AREAS).round().astype(np.int64))
    above = np.append(n_members, steps[parent[1:]])
    leaves = (np.flatnonzero((steps <= member) & (member < above)) for member in members)
    return members, np.array([_area_loss(held[at].astype(float), shares[at]) for at in leaves])


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
