"""Say in words what differs between two prunings of one tree: one sentence for each place."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._utils.arrays import Longs
from ..core import Counts, Pruning
from ..inspection.view import TreeView, view_of
from ..pruners import changed_nodes

ChangeKind = Literal["label", "cut", "split", "new split", "new leaf"]


@dataclass(frozen=True)
class Change:
    """One place at which a pruning differs from the deployed one.

    Parameters
    ----------
    node : int
        Number of the node in the grown tree.
    kind : str
        "label": a leaf of both predicts another class. "cut": a split becomes a leaf, and the nodes below it go.
        "split": a leaf is split again. "new split" and "new leaf": nodes below such a leaf.
    text : str
        The change in words.
    n_nodes : int
        How many nodes change: 1, and at a cut also the nodes that go.
    """

    node: int
    kind: ChangeKind
    text: str
    n_nodes: int = 1

    def __str__(self) -> str:
        return self.text


def describe_changes(
    deployed: Pruning, pruning: Pruning, grown: Counts, new_below: Iterable[int] = ()
) -> tuple[Change, ...]:
    """Return what differs between two prunings of one tree in words, in pre-order.

    Parameters
    ----------
    deployed, pruning : Pruning
        The pruning in use and the new one, with labels.
    grown : Counts
        The growing sample, which names the classes.
    new_below : iterable of int
        The leaves of the deployed pruning below which the tests are new; elsewhere they were grown with the tree.

    Returns
    -------
    tuple of Change
        Their `n_nodes` add up to the number of changed nodes.

    Examples
    --------
    >>> import secateur
    >>> from secateur.updating import describe_changes
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0], [5.0]], ["no", "no", "yes", "no"])
    >>> full = secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority)
    >>> for change in describe_changes(full, full.snip(2), grown):
    ...     print(change)
    node 2 becomes a leaf, and 2 nodes below it go: IF x0 > 3 THEN no
    """
    differs = changed_nodes(deployed, pruning)
    shown = np.flatnonzero(differs & (pruning.is_kept | pruning.is_leaf))  # not those that go below a cut
    if not len(shown):
        return ()
    both = Pruning.from_cuts(deployed.tree, ~(deployed.is_kept | pruning.is_kept), node_labels=grown.labels)
    view = view_of(deployed.tree, grown, pruning=both)
    position = np.searchsorted(view.node, shown).tolist()
    premises = _premises(view, position)
    parent = deployed.tree.parent.tolist()
    n_gone = _n_nodes_below(deployed)
    changes, has_new_tests = [], set(new_below)
    for v, at in zip(shown.tolist(), position, strict=True):
        label = view.classes[pruning.labels[v]] if pruning.is_leaf[v] else ""
        if deployed.is_leaf[v] and pruning.is_leaf[v]:
            before = view.classes[deployed.labels[v]]
            changes.append(Change(v, "label", f"the rule {premises[at]} now says {label} (before: {before})"))
        elif deployed.is_kept[v]:
            text = f"node {v} becomes a leaf, and {n_gone[v]:,} nodes below it go: {premises[at]} THEN {label}"
            changes.append(Change(v, "cut", text, 1 + int(n_gone[v])))
        elif deployed.is_leaf[v]:
            again = "anew" if v in has_new_tests else "again"
            changes.append(Change(v, "split", f"node {v} is split {again} by {view.test_text(at)}: {premises[at]}"))
        elif pruning.is_leaf[v]:
            place = f"{v} below node {parent[v]}, where {view.branch_text(at)}"
            changes.append(Change(v, "new leaf", f"new leaf {place}: {label}"))
        else:
            place = f"{v} below node {parent[v]}, where {view.branch_text(at)}"
            changes.append(Change(v, "new split", f"new split {place}: by {view.test_text(at)}"))
    return tuple(changes)


def _premises(view: TreeView, nodes: list[int]) -> dict[int, str]:
    """Return the conditions on the path to each node; its number if the tree has no tests, or has surrogates."""
    if view.tree.has_tests and view.tree.surrogates is None:
        return {v: f"IF {premise}" for v, premise in view.premises(nodes).items()}
    return {v: f"of node {view.tree.ids[v]}" for v in nodes}


def _n_nodes_below(pruning: Pruning) -> Longs:
    """Return how many nodes of a pruning lie below each node."""
    tree = pruning.tree
    n_before = np.append(0, np.cumsum(pruning.is_kept | pruning.is_leaf))
    nodes: Longs = n_before[tree.end] - n_before[np.arange(tree.n_nodes) + 1]
    return nodes
