"""Members of a sequence that is not nested, as what changes from one to the next.

A member is the set of nodes that test something. Neighbours differ in few nodes, so the
changes of all members together are about as many as the nodes, where the sets themselves
would be as many as nodes times members. Files hold the changes, and all that is asked of every
member is one pass over them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Bools, Floats, Ints, Longs, Sums


@dataclass(frozen=True, eq=False)
class Members:
    """The `rebuild` of a sequence: calling it with i gives the leaves of member i.

    `changes[start[i]:start[i + 1]]` are the nodes that test in member i but not in the one
    before it, or the other way round, rising; before the first comes the whole tree.

    Examples
    --------
    >>> import numpy as np
    >>> parent = np.array([-1, 0, 0, 2, 2], np.int32)
    >>> members = Members(parent, np.array([0, 1, 0, 1, 1], bool), np.array([0, 0, 1, 2]), np.array([2, 0]))
    >>> [np.flatnonzero(members(i)).tolist() for i in range(3)]
    [[1, 3, 4], [1, 2], [0]]
    >>> members.sums(np.array([9, 1, 5, 2, 1])).tolist()
    [4, 6, 9]
    """

    parent: Ints
    is_leaf: Bools
    start: Longs
    changes: Ints

    def __call__(self, index: int) -> Bools:
        n_times = np.bincount(self.changes[: self.start[index + 1]], minlength=len(self.parent))
        is_kept = ~self.is_leaf ^ (n_times % 2 == 1)
        leaves: Bools = ~is_kept
        leaves[1:] &= is_kept[self.parent[1:]]
        return leaves

    @property
    def n_different(self) -> int:
        """The number of members that differ from the one before them, and the first."""
        return 1 + int(np.count_nonzero(np.diff(self.start[1:])))

    def sums(self, values: Sums) -> Sums:
        """The sum of `values` over the leaves of every member."""
        below = np.zeros(len(self.parent), np.result_type(values, np.int64))
        np.add.at(below, self.parent[1:], values[1:])
        opened: Sums = below - values  # what a node adds when it tests
        sums: Sums = values[self.is_leaf].sum() + self._running(opened[self.changes] * self._signs)
        return sums

    def is_equal(self, is_kept: Bools) -> Bools:
        """Which members test exactly these nodes."""
        n_wrong = np.count_nonzero(is_kept != ~self.is_leaf)
        steps: Longs = np.where(is_kept[self.changes], -self._signs, self._signs)
        found: Bools = n_wrong + self._running(steps) == 0
        return found

    @cached_property
    def _signs(self) -> Longs:
        """Of each change: 1 where the node begins to test, -1 where it ends."""
        order = np.argsort(self.changes, kind="stable")
        nodes = self.changes[order]
        first = np.searchsorted(nodes, nodes)  # all nodes test at the start: the first change of each ends it
        signs = np.empty(len(nodes), np.int64)
        signs[order] = 2 * ((np.arange(len(nodes)) - first) % 2) - 1
        return signs

    def _running(self, steps: Longs | Floats) -> Sums:
        """The sums of steps up to the end of each member."""
        sums: Sums = np.append(steps[:0].sum(), np.cumsum(steps))[self.start[1:]]
        return sums
