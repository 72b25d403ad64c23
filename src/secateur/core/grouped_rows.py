"""GroupedRows: the leaf, class and group of each row of a sample with groups, such as the visits of patients.

The class counts of nodes do not show which rows belong together. A certificate that counts groups as independent draws
needs the share of wrong rows in each group, which depends on the pruning.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Floats, Ints
from ..errors import CountsError
from .target_rows import TargetRows

if TYPE_CHECKING:
    from .pruning import Pruning


@dataclass(frozen=True, eq=False, repr=False)
class GroupedRows(TargetRows):
    """The leaf, class (or number) and group of each row of a sample.

    Parameters
    ----------
    leaf : array of int
        The leaf of the grown tree that each row reaches.
    target : array
        The class of each row, or its number where the target is numeric.
    group : array of int
        The number of the group of each row, from 0.
    is_known : bool
        Whether the rows are known. For counts from a file they are not: a file states only that there were groups.

    Examples
    --------
    >>> GroupedRows([1, 1, 2], [0, 1, 1], [0, 0, 1])
    GroupedRows(3 rows in 2 groups)
    """

    group: Array
    is_known: bool = True

    def __post_init__(self) -> None:
        is_number = np.asarray(self.target).dtype.kind == "f"
        self._freeze_arrays(leaf=np.int32, target=np.float64 if is_number else np.int32, group=np.int64)
        if not len(self.leaf) == len(self.target) == len(self.group):
            raise CountsError(
                f"{len(self.leaf)} leaves, {len(self.target)} classes and {len(self.group)} groups; one of each per "
                "row is needed"
            )

    @classmethod
    def unknown(cls) -> "GroupedRows":
        """Return the value for a sample that has groups, of which nothing else is known."""
        empty = np.zeros(0, np.int32)
        return cls(empty, empty, empty, is_known=False)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def sizes(self) -> Array:
        """Number of rows of each group."""
        return np.bincount(self.group)

    def predictions(self, pruning: "Pruning", node_labels: Ints) -> Array:
        """Return the class that a pruning predicts for each row, given the class of each node as a leaf."""
        is_below_leaf = ~(pruning.is_leaf | pruning.is_kept)
        labels: Array = structure.inherit_labels(pruning.tree.parent, node_labels, is_below_leaf)[self.leaf]
        return labels

    def wrong_shares(self, pruning: "Pruning", node_labels: Ints) -> Floats:
        """Return the share of rows of each group that a pruning predicts wrongly."""
        return self.mean_of_groups((self.predictions(pruning, node_labels) != self.target).astype(np.float64))

    def mean_of_groups(self, losses: Floats) -> Floats:
        """Return the mean loss of the rows of each group, given the loss of each row."""
        means: Floats = np.bincount(self.group, losses) / self.sizes
        return means

    def __repr__(self) -> str:
        if not self.is_known:
            return "GroupedRows(not known)"
        return f"GroupedRows({self.n_rows:,} rows in {self.n_groups:,} groups)"
