"""One fold: grow, find the path, and score every tree on it, in one pass.

The held-out loss of the fold's tree is a step function of the penalty: it changes where the
path does. A fold is therefore the steps of its path and the loss between them, whatever
penalties it will be asked about; folds need to know nothing of each other.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._kernels import structure
from .._kernels.weakest_link import member_sums, nested_path
from ..data.arrays import Floats, Sums
from ..growers.folds import Ground, Judges
from ..growers.settings import Settings
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.tree import Tree
from ..pruners import cost_complexity
from ._splits import Rows, Split
from .losses import Losses, answers_of, held_out

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
    losses are 0 or 1.
    """

    alphas: Floats
    loss: Sums
    square: Sums | None
    weight: float

    def at(self, betas: Floats) -> tuple[Sums, Sums]:
        """Return the sums of losses and of their squares at the given penalties."""
        member = np.searchsorted(self.alphas, betas * (1 + _TOLERANCE), side="right") - 1
        return self.loss[member], (self.loss if self.square is None else self.square)[member]


def grow_all(ground: Ground, ways: tuple[Settings, ...], rows: Rows) -> list[Counts | Moments]:
    """Return the counts of the growing sample in the trees of these rows, one for each way; the trees are in them."""
    return ground.part(rows).grow_each(ways)


def score_fold(ground: Ground, ways: tuple[Settings, ...], path: Path, split: Split) -> list[Fold]:
    """Return the held-out losses of every tree that one fold gives, for each way of growing."""
    part, judges = ground.part(split.train), ground.judges(split.test)
    return [_scored(part.grow(settings, is_checked=False), judges, path) for settings in ways]


def _scored(grown: tuple[Tree, Counts | Moments], judges: Judges, path: Path) -> Fold:
    tree, counts = grown
    answers = answers_of(counts, path.losses)
    loss: Sums
    square: Sums | None
    if isinstance(counts, Moments):
        loss, square, weight = judges.squares(tree, answers.answer)
    else:
        by_class = judges.count(tree)
        loss, square = held_out(by_class, answers.answer, path.losses.costs)
        weight = float(by_class[0].sum())
    added: Any
    if path.penalty == "leaves" and path.size == "leaves" and path.losses.costs is None:
        # What `cost_complexity` would return, without a sequence that nobody will see.
        steps, alphas = nested_path(tree.parent, structure.added_leaves(tree.parent), answers.cost)
        added = partial(member_sums, tree.parent, steps, n_members=len(alphas))
    else:
        sequence = cost_complexity(tree, None, penalty=path.penalty, size=path.size, cost=answers.cost)
        assert sequence.alphas is not None
        alphas, added = sequence.alphas, sequence.costs_on
    return Fold(alphas / answers.unit, added(loss), None if square is None else added(square), weight)
