"""Find a member of a sequence by what was asked of it."""

from typing import Any

import numpy as np

from ..data.arrays import Array
from ..errors import ParameterError, PruningError
from ..nouns.costs import Sample
from ..nouns.pruning import Pruning
from ..nouns.sequence import PruningSequence
from ..selection import is_accuracy, is_number_of_leaves


def index_with_leaves(sequence: PruningSequence, n_leaves: Any) -> int:
    """The largest member with at most so many leaves."""
    if not is_number_of_leaves(n_leaves):
        raise ParameterError(f"n_leaves={n_leaves!r}; a whole number of 1 or more is needed")
    fits = np.flatnonzero(sequence.n_leaves <= n_leaves)
    if not len(fits):
        raise PruningError(f"no member has {n_leaves} leaves or fewer; the smallest has {sequence.n_leaves.min()}")
    return int(fits[0])


def index_with_accuracy(sequence: PruningSequence, error: Array, where: str, accuracy: Any, grown: Sample) -> int:
    """The smallest member whose error leaves the accuracy asked for (regression: that share of the variance)."""
    if not is_accuracy(accuracy):
        raise ParameterError(f"accuracy={accuracy!r}; a number above 0 and up to 1 is needed")
    whole = grown.scale / (float(grown.total[0]) or 1.0) or 1.0
    reached = 1 - error / whole
    fits = np.flatnonzero(reached >= accuracy - 1e-12)
    if not len(fits):
        raise PruningError(
            f"no member reaches an accuracy of {accuracy:g} on {where}; the best reaches {reached.max():.4g} "
            f"with {sequence.n_leaves[reached.argmax()]} leaves"
        )
    return int(fits[sequence.n_leaves[fits].argmin()])


def index_of(sequence: PruningSequence, pruning: Pruning) -> int | None:
    """Return the index of a pruning in a sequence, or None if it is not a member.

    Examples
    --------
    >>> from secateur import Pruning, PruningSequence, Tree
    >>> from secateur.fitting import index_of
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> index_of(PruningSequence(tree, [2, 1], [0, 1], steps=[1, 0, 0]), Pruning.from_cuts(tree, [0]))
    1
    """
    same_size = np.flatnonzero(sequence.n_leaves == pruning.n_leaves)
    return next((int(i) for i in same_size if (sequence[int(i)].is_leaf == pruning.is_leaf).all()), None)
