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
from ..nouns import Counts, Moments, Tree
from ..pruners import cost_complexity
from ..statistics.probabilities import SHRINKAGE, STRENGTHS, shares_of
from ._splits import Rows, Split
from .losses import Losses, answers_of, held_out
from .scores import LEAST, area_losses, likelihood_losses

_STRENGTHS = np.array(STRENGTHS)
_TOLERANCE = 1e-12  # a geometric mean is rounded: penalties nearer than this are the same


class Path(NamedTuple):
    """What makes the path of a grown tree."""

    losses: Losses
    penalty: Any = "leaves"
    size: Any = "leaves"


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
        found: Array = np.searchsorted(self.alphas, betas * (1 + _TOLERANCE), side="right") - 1
        return found

    def with_strength(self, at: int) -> "Fold":
        """Return the losses of the probabilities shrunk by one of the strengths."""
        assert self.shrunk is not None
        return self._replace(loss=self.shrunk[0][at], square=self.shrunk[1][at])


def grow_all(ground: Ground, ways: tuple[Settings, ...], rows: Rows) -> list[Counts | Moments]:
    """Return the counts of the growing sample in the trees of these rows, one for each way; the trees are in them."""
    part = ground.part(rows)
    return [part.grow(settings)[1] for settings in ways]


def score_fold(ground: Ground, ways: tuple[Settings, ...], path: Path, split: Split) -> list[Fold]:
    """Return the held-out losses of every tree that one fold gives, for each way of growing."""
    part, judges = ground.part(split.train), ground.judges(split.test)
    return [_scored(part.grow(settings, is_shown=False), judges, path) for settings in ways]


def _scored(grown: tuple[Tree, Counts | Moments], judges: Judges, path: Path) -> Fold:
    tree, counts = grown
    losses = path.losses
    answers = answers_of(counts, losses)
    added: Any
    steps: Any
    if path.penalty == "leaves" and path.size == "leaves" and losses.costs is None:
        # What `cost_complexity` would return, without a sequence that nobody will see.
        steps, alphas = nested_path(tree.parent, structure.added_leaves(tree.parent), answers.cost)
        added = partial(member_sums, tree.parent, steps, n_members=len(alphas))
    else:
        sequence = cost_complexity(tree, None, penalty=path.penalty, size=path.size, cost=answers.cost)
        assert sequence.alphas is not None
        steps, alphas, added = sequence.steps, sequence.alphas, sequence.costs_on
    alphas = alphas / answers.unit
    loss: Sums
    square: Sums | None
    if not counts.has_classes:
        loss, square, weight = judges.squares(tree, answers.answer, is_absolute=losses.scoring == "absolute_error")
        return Fold(alphas, added(loss), added(square), weight)
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
        members, areas = area_losses(tree.parent, steps, len(alphas), held, shares)
        is_known = not np.isnan(areas).any()
        shrunk = None if shrunk is None else (shrunk[0][:, members], shrunk[1][:, members])
        return Fold(alphas[members], areas if is_known else np.zeros(len(areas)), None, float(is_known), shrunk)
    loss, square = likelihood_losses(held, shares, losses.scoring)
    return Fold(alphas, added(loss), added(square), weight)
