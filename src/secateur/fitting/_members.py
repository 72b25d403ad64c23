"""Find a member of a sequence by what was asked of it."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.arrays import Array, Sums
from ..data.remarks import tell
from ..errors import ParameterError, PruningError
from ..nouns import Model, Pruning, PruningSequence, Sample
from ..pruners import best_of_size
from ..selection import is_accuracy, is_number_of_leaves
from ..selection.losses import Losses, answers_of


def with_leaves(model: Model, sequence: PruningSequence, n_leaves: Any) -> tuple[Pruning, int | None]:
    """(the pruning with exactly so many leaves, which member of the sequence it is, if it is one).

    A member where there is one; else the pruning of the whole tree that costs least among those of the size. Where
    no pruning has it, the largest smaller one, and a warning says so.
    """
    if not is_number_of_leaves(n_leaves):
        raise ParameterError(f"n_leaves={n_leaves!r}; a whole number of 1 or more is needed")
    tree = sequence.tree
    if n_leaves > tree.n_leaves:
        tell(f"{n_leaves:,} leaves are requested, but the grown tree has {tree.n_leaves:,}; it is not pruned")
        n_leaves = tree.n_leaves
    member = np.flatnonzero(sequence.n_leaves == n_leaves)
    if len(member):
        return sequence[int(member[0])], int(member[0])
    found = best_of_size(tree, None, max_leaves=int(n_leaves), cost=_path_cost(model))[0]
    if found.n_leaves < n_leaves:
        tell(
            f"no pruning of the tree has {n_leaves:,} leaves, since a test with many branches is cut as a whole; "
            f"the largest smaller one has {found.n_leaves:,}"
        )
    return replace(found, node_labels=sequence.node_labels, seen=sequence.seen, rule=sequence.rule), None


def _path_cost(model: Model) -> Sums:
    """What nodes cost the path of a model as leaves."""
    grown, labels = model.grown, model.pruning.node_labels
    details = {} if model.selection is None else model.selection.details
    if "cost" in details:
        costs = details.get("costs")
        losses = Losses(details["cost"], details["m"], None if costs is None else np.asarray(costs))
        return answers_of(grown, losses).cost
    return grown.own_costs if labels is None else grown.wrong(labels)


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
