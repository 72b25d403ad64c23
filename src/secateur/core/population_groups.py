"""PopulationGroups: the rows of a sample in every node by population group, such as women and men.

Population groups divide a sample by the values of a column. Their rows remain independent draws. They must not be
confused with `GroupedRows`, the groups of `groups=`, whose rows belong together, such as the visits of one patient.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, ArrayLike, Immutable, Longs, write_protect
from ..errors import CountsError, ParameterError, escape_unprintable, show
from .tree import Tree

MAX_LISTED_NAMES = 10  # in messages


@dataclass(frozen=True, eq=False, repr=False)
class PopulationGroups(Immutable):
    """Number of rows of a sample in every node of a tree, by population group and class.

    Parameters
    ----------
    column : str
        Name of the column whose values are the groups.
    names : tuple of str
        Names of the groups: the values of the column.
    by_class : array of shape (groups, n_nodes, n_classes)
        Number of rows of each group and class in every node.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> sexes = PopulationGroups.from_leaves(tree, "sex", ["f", "m"], [[[3, 1], [0, 2]], [[5, 0], [1, 4]]])
    >>> sexes
    PopulationGroups('sex', 2 groups, 16 rows)
    >>> sexes.n_rows.tolist(), sexes.by_class[1].tolist()
    ([6, 10], [[6, 4], [5, 0], [1, 4]])
    """

    column: str
    names: tuple[str, ...]
    by_class: Longs

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", str(self.column))
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        numbers = np.asarray(self.by_class)
        if numbers.ndim != 3 or numbers.dtype.kind not in "iu" or len(numbers) != len(self.names) or not self.names:
            raise CountsError(
                f"counts of the population groups of {show(self.column)} have shape {numbers.shape} ({numbers.dtype}); "
                f"whole numbers of shape ({len(self.names)}, n_nodes, n_classes), one group or more, are needed"
            )
        if numbers.min(initial=0) < 0:
            raise CountsError(f"counts of the population groups of {show(self.column)} must not be negative")
        if len(set(self.names)) < len(self.names):
            raise CountsError(f"names of the population groups of {show(self.column)} must differ: {show(self.names)}")
        self._freeze_arrays(by_class=np.int64)

    @classmethod
    def from_leaves(cls, tree: Tree, column: str, names: Sequence[str], leaf_by_class: ArrayLike) -> "PopulationGroups":
        """Return the counts of all nodes, given those of the leaves in pre-order, of shape (groups, leaves, classes).

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 0])
        >>> PopulationGroups.from_leaves(tree, "sex", ["f"], [[[3, 1], [0, 2]]]).by_class.tolist()
        [[[3, 3], [3, 1], [0, 2]]]
        """
        at_leaves = np.asarray(leaf_by_class)
        if at_leaves.ndim != 3 or at_leaves.shape[1] != tree.n_leaves or at_leaves.dtype.kind not in "iu":
            raise CountsError(
                f"counts of population groups at the leaves have shape {at_leaves.shape} ({at_leaves.dtype}); whole "
                f"numbers of shape (groups, {tree.n_leaves}, n_classes) are needed for {tree}"
            )
        by_class = np.zeros((len(at_leaves), tree.n_nodes, at_leaves.shape[2]), np.int64)
        by_class[:, tree.is_leaf] = at_leaves
        for i in range(len(by_class)):
            by_class[i] = structure.sum_upwards(tree.parent, by_class[i])
        return cls(column, tuple(names), write_protect(by_class))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.names)

    @cached_property
    def n_rows(self) -> Longs:
        """Number of rows of each group."""
        return write_protect(self.by_class[:, 0].sum(axis=1))

    def index_of(self, name: object) -> int:
        """Return the number of the group with a name; raise `ParameterError` if there is none."""
        return index_of_group(self.names, name, self.column)

    def check_fits(self, by_class: Array, sample: str) -> None:
        """Raise `CountsError` unless the groups are those of a sample with these class counts of nodes."""
        if self.by_class.shape[1:] != by_class.shape or not np.array_equal(self.by_class.sum(axis=0), by_class):
            raise CountsError(
                f"the population groups of {show(self.column)} do not add up to the counts of sample {show(sample)}; "
                "count_groups counts both together, without weights"
            )

    def restrict_to(self, nodes: Array) -> "PopulationGroups":
        """Return the same rows in a smaller tree that has the given nodes."""
        return replace(self, by_class=write_protect(self.by_class[:, nodes]))

    def __repr__(self) -> str:
        number = f"{self.n_groups:,} group{'s' * (self.n_groups > 1)}"
        return escape_unprintable(f"PopulationGroups({show(self.column)}, {number}, {self.n_rows.sum():,} rows)")


def index_of_group(names: Sequence[str], name: object, column: str) -> int:
    """Return the position of a group among names; raise `ParameterError` if there is none of this name."""
    if str(name) not in names:
        listed = ", ".join(map(show, names[:MAX_LISTED_NAMES])) + (", ..." if len(names) > MAX_LISTED_NAMES else "")
        raise ParameterError(f"{show(name)} is not a population group of {show(column)}; the groups are {listed}")
    return list(names).index(str(name))
