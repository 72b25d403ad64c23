"""What each node of a tree can become when a deployed pruning is changed, with the changes and errors of every way.

In a pruning, a node is a leaf with one of several labels, or a split, or absent. An *option* is one way to be a leaf:
a label, the changes it adds, and its errors on the new rows. Every change is counted at one node, so the distance of a
pruning P from the deployed one, and its errors, are sums over its nodes:

    changes(P) = sum over the leaves of P of the changes of their options + sum over the splits of P of `split_changes`
    errors(P)  = sum over the leaves of P of the errors of their options

The options of node v are `start[v]:start[v + 1]`, in the order of fewer changes and more errors.
"""

from typing import NamedTuple

import numpy as np

from .._kernels.structure import sum_upwards
from .._utils.arrays import Ints, Longs
from ..core import Counts, Pruning
from ..core.counts import leaf_labels
from ..core.estimate_limits import allows_class


class ChangeOptions(NamedTuple):
    """The options of every node, and the changes that every node adds as a split.

    Among prunings with equal errors and changes, the one with the least sum of `tie` (of the options of its leaves) and
    `split_tie` (of its splits) is best.
    """

    start: Longs
    label: Ints
    changes: Longs
    errors: Longs
    tie: Longs
    split_changes: Longs
    split_tie: Longs

    @property
    def node(self) -> Longs:
        """The node of each option."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def node_options(deployed: Pruning, grown: Counts, counts: Counts) -> ChangeOptions:
    """Return the options if every node whose status or label differs is one change.

    A leaf that the deployed pruning has, too, is one change if its label differs. A leaf where the deployed pruning has
    a split is one change, and so is each node of the deployed pruning below it, which goes. A leaf or a split where the
    deployed pruning has nothing is one change, and so is a split where it has a leaf.
    """
    best_label = leaf_labels(grown, counts, "prune", "relabel")
    errors_of_best = counts.unrecorded_errors_if_leaf(best_label)
    old_label = np.where(deployed.is_leaf, deployed.labels, 0).astype(np.int32)
    errors_of_old = counts.unrecorded_errors_if_leaf(old_label)
    has_two = deployed.is_leaf & (errors_of_best < errors_of_old)
    start = np.append(0, np.cumsum(1 + has_two)).astype(np.int64)
    last, first_of_two = start[1:] - 1, start[:-1][has_two]
    label = np.empty(start[-1], np.int32)
    changes, errors = np.ones(start[-1], np.int64), np.empty(start[-1], np.int64)
    label[last] = np.where(deployed.is_leaf, old_label, best_label)
    errors[last] = np.where(deployed.is_leaf, errors_of_old, errors_of_best)
    changes[last] = _changes_of_new_leaf(deployed) * ~deployed.is_leaf
    label[first_of_two], errors[first_of_two] = best_label[has_two], errors_of_best[has_two]
    split_changes = _changes_of_split(deployed)
    return ChangeOptions(start, label, changes, errors, np.zeros_like(changes), split_changes, 0 * split_changes)


def row_options(deployed: Pruning, grown: Counts, counts: Counts) -> ChangeOptions:
    """Return the options if every new row whose prediction differs is one change; changed nodes break ties.

    Any label may be best for some number of changes, unless another one changes no more rows and errs on no more.
    """
    n_nodes, n_classes = deployed.tree.n_nodes, grown.n_classes
    total = counts.total[:, None]
    n_known = min(n_classes, counts.n_classes)
    hits = np.zeros((n_nodes, n_classes), np.int64)
    hits[:, :n_known] = counts.by_class[:, :n_known]
    changes = (total - _rows_by_prediction(deployed, counts, n_classes)).ravel()
    errors = (total - hits).ravel()
    node = np.repeat(np.arange(n_nodes), n_classes)
    label = np.tile(np.arange(n_classes, dtype=np.int32), n_nodes)
    is_allowed = np.column_stack([allows_class(deployed.tree, c) for c in range(n_classes)]).ravel()
    # The deployed label wins ties, then the growing label, then the lowest class.
    is_grown_label = label == leaf_labels(grown, None, "grow")[node]
    is_deployed_label = deployed.is_leaf[node] & (label == deployed.labels[node])
    order = np.lexsort((label, ~is_grown_label, ~is_deployed_label, errors, changes, ~is_allowed, node))
    ranked = np.where(is_allowed, errors, np.iinfo(np.int64).max)[order].reshape(n_nodes, n_classes)
    is_useful = np.ones_like(ranked, bool)
    is_useful[:, 1:] = ranked[:, 1:] < np.minimum.accumulate(ranked, axis=1)[:, :-1]
    by_node = order.reshape(n_nodes, n_classes)
    chosen = by_node[:, ::-1][is_useful[:, ::-1]]
    start = np.append(0, np.cumsum(is_useful.sum(axis=1))).astype(np.int64)
    tie = np.where(is_deployed_label, 0, _changes_of_new_leaf(deployed)[node])
    no_rows = np.zeros(n_nodes, np.int64)
    return ChangeOptions(
        start, label[chosen], changes[chosen], errors[chosen], tie[chosen], no_rows, _changes_of_split(deployed)
    )


def _changes_of_new_leaf(deployed: Pruning) -> Longs:
    """Return how many nodes change if each node becomes a leaf, or a leaf with another label."""
    is_present = (deployed.is_kept | deployed.is_leaf).astype(np.int64)
    n_present = sum_upwards(deployed.tree.parent, is_present[:, None])[:, 0]  # in the subtree of each node
    return np.maximum(n_present, 1)


def _changes_of_split(deployed: Pruning) -> Longs:
    """Return 1 for each node that is a split of the grown tree, but not of the deployed pruning, and 0 for others."""
    return (~deployed.is_kept & ~deployed.tree.is_leaf).astype(np.int64)


def _rows_by_prediction(pruning: Pruning, counts: Counts, n_classes: int) -> Longs:
    """Return how many rows of each node the pruning predicts to be of each class."""
    tree, leaves = pruning.tree, pruning.leaves
    at_leaves = np.zeros((tree.n_nodes, n_classes), np.int64)
    at_leaves[leaves, pruning.labels[leaves]] = counts.total[leaves]
    rows: Longs = np.array(sum_upwards(tree.parent, at_leaves))
    # Nodes that are not splits form one block for each leaf, its subtree, and the blocks stand in the order of leaves.
    below = np.flatnonzero(~pruning.is_kept)
    label_above = np.repeat(pruning.labels[leaves], tree.end[leaves] - leaves)
    rows[below, label_above] = counts.total[below]
    return rows
