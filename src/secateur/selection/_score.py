"""One fold: grow, find the path, and score every tree on it, in one pass.

The held-out loss of the fold's tree is a step function of the penalty: it changes where the
path does. A fold is therefore the steps of its path and the loss between them, whatever
penalties it will be asked about; folds need to know nothing of each other.
"""

from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Floats, Sums
from ..growers._folds import Ground
from ..growers._settings import Settings
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..pruners import cost_complexity
from ._losses import Losses, answers_of, held_out
from ._splits import Rows, Split

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


def grow_all(ground: Ground, settings: Settings, rows: Rows) -> Counts | Moments:
    """Return the counts of the growing sample in the tree of these rows; the tree is in them."""
    counts: Counts | Moments = ground.grow(rows, settings)[1]
    return counts


def score_fold(ground: Ground, settings: Settings, path: Path, split: Split) -> Fold:
    """Return the held-out losses of every tree that one fold gives."""
    tree, grown = ground.grow(split.train, settings, is_checked=False)
    answers = answers_of(grown, path.losses)
    sequence = cost_complexity(tree, None, penalty=path.penalty, size=path.size, cost=answers.cost)
    assert sequence.alphas is not None
    loss: Sums
    square: Sums | None
    if isinstance(grown, Moments):
        loss, square, weight = ground.squares(tree, split.test, answers.answer)
    else:
        by_class = ground.count(tree, split.test)
        loss, square = held_out(by_class, answers.answer, path.losses.costs)
        weight = float(by_class[0].sum())
    squares = None if square is None else sequence.costs_on(square)
    return Fold(sequence.alphas / answers.unit, sequence.costs_on(loss), squares, weight)
