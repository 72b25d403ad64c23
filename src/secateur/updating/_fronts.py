"""Make the front of a deployed tree from new rows: with the tests of the grown tree, or with new ones below leaves.

Pruning can only bring back tests that were grown before. If other tests are needed, a new subtree is grown below
leaves of the deployed pruning, on the new rows that reach them, by the parameters of the model. The tests above stay.
The deployed pruning is a pruning of this larger tree, too, so that its changes are counted in the same way: the front
says below which leaves a new subtree is worth its changes.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils.arrays import Ints
from ..core import Counts, Model, Pruning, SampleUsage
from ..data.table import Table
from ..errors import ParameterError, show
from ..growers.by_hand import HandGrower
from ..growers.monotone import limited_tree
from ..growers.subtree import GrowingRows
from ..model_selection import Recipe, rows_to_compare
from ..pruners import ChangeFront, fewest_changes
from ..routing import count


class FrontOfModel(NamedTuple):
    """A front with the model whose tree it prunes, which predicts as the deployed one.

    `number` is the number of each node of the grown tree in the tree of the model; -1 if it has none.
    """

    front: ChangeFront
    model: Model
    number: Ints


@dataclass(frozen=True)
class FrontMaker:
    """How fronts are made from rows: from all new rows, and from those of all folds but one.

    Parameters
    ----------
    model : Model
        The deployed model.
    distance : "nodes" or "rows"
    sample : str
        Name of the new rows.
    leaves : tuple of int
        The leaves below which new subtrees are grown; none by default.
    """

    model: Model
    distance: Literal["nodes", "rows"]
    sample: str
    leaves: tuple[int, ...] = ()

    def make(self, table: Table, *, max_changes: int | None, convex: bool | None) -> FrontOfModel:
        """Return the front of some rows."""
        if self.leaves:
            model, number = grow_below(self.model, table, self.leaves, sample=self.sample)
            assert isinstance(model.holdout, Counts)
            counts = model.holdout
        else:
            model, number = self.model, np.arange(self.model.tree.n_nodes, dtype=np.int32)
            counts = count(model.tree, table, sample=self.sample)
        grown = model.class_grown
        assert grown is not None
        front = fewest_changes(
            model.pruning, grown, counts, distance=self.distance, max_changes=max_changes, convex=convex
        )
        return FrontOfModel(front, model, number)


class _GrownBelow(NamedTuple):
    """A model with new subtrees below leaves, and the number of each node of the old tree in the new one (-1: none)."""

    model: Model
    number: Ints


def grow_below(model: Model, table: Table, leaves: tuple[int, ...], *, sample: str) -> _GrownBelow:
    """Return a model that predicts as another one, with new subtrees of rows below its leaves, cut away by the pruning.

    Parameters
    ----------
    model : Model
        A classifier.
    table : Table
        The rows on which the subtrees are grown.
    leaves : tuple of int
        Leaves of the pruning. What was grown below them before is dropped.
    sample : str
        Name of the rows, which are the growing and the held-out sample of the result: they grew a part of the tree.
    """
    pruning = model.pruning
    rows, parameters = rows_to_compare(model, table, Recipe.of_model(model))
    tree = limited_tree(model.grown, parameters.monotonic_cst)
    changed = HandGrower(GrowingRows(rows), parameters).regrow(tree, dict.fromkeys(leaves, frozenset()))
    key = tree.row_key if tree.row_key.columns else None
    counts = count(replace(changed.tree, key=key, history=tree.history), table, sample=sample)
    history = tree.history | SampleUsage.of(counts)
    new_tree = replace(changed.tree, key=key, history=history)
    counts = replace(counts, tree=new_tree)
    for sample_id, record in tree.evaluation_log.snapshot():
        new_tree.evaluation_log.add(sample_id, record.of_edited_tree())
    labels = np.array(counts.majority)
    old_leaves = pruning.leaves
    labels[changed.new_number[old_leaves]] = pruning.labels[old_leaves]
    seen = pruning.seen | SampleUsage.of(counts)
    same = Pruning.from_cuts(new_tree, changed.new_number[old_leaves], node_labels=labels, seen=seen)
    without: dict[str, Any] = {"sequence": None, "selection": None, "certificate": None, "group_rates": ()}
    return _GrownBelow(replace(model, pruning=same, grown=counts, holdout=counts, **without), changed.new_number)


def leaves_to_grow(model: Model, regrow: Any) -> tuple[int, ...]:
    """Return the leaves named by `regrow`: all if it is True; raise `ParameterError` if they are not leaves."""
    leaves = model.pruning.leaves.tolist()
    if regrow is True:
        return tuple(leaves)
    nodes = np.atleast_1d(np.asarray(regrow))
    if nodes.dtype.kind not in "iu" or nodes.ndim != 1 or not len(nodes):
        raise ParameterError(
            f"regrow={show(regrow)}; True, False, or numbers of leaves of the deployed tree are needed"
        )
    unknown = sorted(set(nodes.tolist()) - set(leaves))
    if unknown:
        raise ParameterError(
            f"regrow: node {unknown[0]} is not a leaf of the deployed tree; a subtree grows below one of its leaves "
            f"({show(leaves[:10])})"
        )
    return tuple(sorted(set(nodes.tolist())))
