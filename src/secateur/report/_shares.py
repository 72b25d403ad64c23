"""Limits on the class shares of every node, as small numbers for the page.

They hold for all nodes of the grown tree at once, so for the leaves of every stop of the slider and
of every tree cut by hand after looking.
"""

from dataclasses import replace

import numpy as np

from ..certifiers import leaf_shares
from ..errors import SecateurError
from ..nouns.model import Model
from ..nouns.shares import LeafShares
from ._numbers import Entries


def node_limits(model: Model, delta: float) -> LeafShares | None:
    """Return the limits from the held-out sample; None where there are none to be had."""
    grown, held_out = model.class_grown, model.class_holdout
    if held_out is None or grown is None:
        return None
    n_more = grown.n_classes - held_out.n_classes
    if n_more > 0:  # the page knows all classes of either sample
        held_out = replace(held_out, by_class=np.pad(held_out.by_class, ((0, 0), (0, n_more))))
    try:
        limits: LeafShares = leaf_shares(model.pruning, held_out, delta=delta, over="nodes", grown=grown)
    except SecateurError:  # weights, no rows, or rows that grew the tree
        return None
    return limits


def packed_limits(limits: LeafShares | None) -> Entries | None:
    """Return upper limits in tenths of a percent, rounded up, node after node without gaps.

    A node with rows has one number for each class that occurs in it and, if some do not, one for
    all of those; a node without rows has none.
    """
    if limits is None:
        return None
    tenths = np.ceil(1000 * limits.upper).astype(int)
    is_there = limits.count > 0
    # Classes that do not occur in a node have the same limit; it goes into a column behind the others.
    missing = np.where(is_there, 0, tenths).max(axis=1)
    is_listed = np.column_stack([is_there, (limits.n > 0) & ~is_there.all(axis=1)])
    return {"delta": limits.delta, "upper": np.column_stack([tenths, missing])[is_listed].tolist()}
