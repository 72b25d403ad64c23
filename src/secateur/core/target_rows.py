"""TargetRows: the leaf and the target of each row of a sample.

Sums per node are enough to prune, and class counts are enough to bound an error rate. A limit on the mean of other
losses, and a prediction interval, need the target of every single row.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, Immutable
from ..errors import CountsError

if TYPE_CHECKING:
    from .pruning import Pruning
    from .tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class TargetRows(Immutable):
    """The leaf and the numeric target of each row of a sample.

    Parameters
    ----------
    leaf : array of int
        The leaf of the grown tree that each row reaches.
    target : array of float
        The target of each row.

    Examples
    --------
    >>> rows = TargetRows.sorted_by_leaf([2, 1, 2], [5.0, 1.0, 3.0])
    >>> rows, rows.leaf.tolist(), rows.target.tolist()
    (TargetRows(3 rows), [1, 2, 2], [1.0, 3.0, 5.0])
    """

    leaf: Array
    target: Array

    def __post_init__(self) -> None:
        self._freeze_arrays(leaf=np.int32, target=np.float64)
        if len(self.leaf) != len(self.target):
            raise CountsError(f"{len(self.leaf)} leaves and {len(self.target)} targets; one of each per row is needed")

    @classmethod
    def sorted_by_leaf(cls, leaf: Array, target: Array) -> "TargetRows":
        """Return the rows in the order of their leaves and targets, so that the result does not depend on their order.

        Examples
        --------
        >>> TargetRows.sorted_by_leaf([1, 1], [5.0, 3.0]).target.tolist()
        [3.0, 5.0]
        """
        order = np.lexsort((target, leaf))
        return TargetRows(np.asarray(leaf)[order], np.asarray(target)[order])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.leaf)

    def restrict_to(self, tree: "Tree", nodes: Array) -> Self:
        """Return the same rows in a smaller tree, whose nodes are the given nodes of `tree` in the same order."""
        is_kept = np.zeros(tree.n_nodes, bool)
        is_kept[nodes] = True
        new_number = (np.cumsum(is_kept) - 1).astype(np.int32)
        return replace(self, leaf=structure.inherit_labels(tree.parent, new_number, ~is_kept)[self.leaf])

    def leaves_of(self, pruning: "Pruning") -> Array:
        """Return the leaf of a pruning that each row reaches, as a node of the grown tree."""
        tree = pruning.tree
        is_below_leaf = ~(pruning.is_leaf | pruning.is_kept)
        nodes = np.arange(tree.n_nodes, dtype=np.int32)
        leaves: Array = structure.inherit_labels(tree.parent, nodes, is_below_leaf)[self.leaf]
        return leaves

    def residuals(self, pruning: "Pruning", values: Floats) -> Floats:
        """Return the target of each row minus its prediction, given the prediction of each node as a leaf."""
        residuals: Floats = self.target - np.asarray(values, np.float64)[self.leaves_of(pruning)]
        return residuals

    def __repr__(self) -> str:
        return f"TargetRows({self.n_rows:,} rows)"
