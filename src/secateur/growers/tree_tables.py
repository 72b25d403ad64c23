"""Tables of nodes in the layout of the growing kernels, to which finished subtrees can be attached.

A node is one line of two tables: whole numbers (`_kernels/growing.py` names their columns) and reals, which are the
statistics of the node followed by the score and the drop of its split. The children of a node are consecutive lines
after the line of the node. The array `branch` holds the child of each category, one subset split after the other.

Every grower writes this layout: the kernels in memory, the threads that grow subtrees side by side, the levels of
`engines.grow`, and the search with lookahead. `tree_assembly.py` turns the finished tables into a `Tree`.
"""

from threading import Lock
from typing import NamedTuple

import numpy as np

from .._kernels import growing
from .._utils.arrays import Array

CAPACITY_FACTOR = 4  # New tables have this many times the lines needed: lines that are never written cost no memory.
N_SCORES = 2  # Last columns of the reals: score and drop.


class GrownTables(NamedTuple):
    """Tables of a finished tree or subtree.

    Parameters
    ----------
    nodes : array of int64, one line per node
    reals : array of float64, one line per node
    branch : array of uint16
        Child number of each category, one subset split after the other.
    surrogates : (array of int64, array of float64), optional
        Surrogate splits in the order in which they were found, one line each; see `_kernels/surrogate.py`.
    """

    nodes: Array
    reals: Array
    branch: Array
    surrogates: tuple[Array, Array] | None = None

    @property
    def n_sums(self) -> int:
        """Number of statistics of each node: the classes, or 2 for squared error."""
        return int(self.reals.shape[1]) - N_SCORES


class GrowingTables:
    """Tables of a tree that is still growing, to which nodes and finished subtrees are added.

    Parameters
    ----------
    nodes, reals, branch : arrays
        The tables so far, at least the line of the root.
    """

    def __init__(self, nodes: Array, reals: Array, branch: Array | None = None) -> None:
        self._lock = Lock()
        self._nodes, self._reals = nodes, reals
        self._branches = [] if branch is None else [branch]
        self._n_branch = 0 if branch is None else len(branch)
        self.n_nodes = len(nodes)

    @property
    def nodes(self) -> Array:
        """The whole numbers of all nodes so far; a view that is valid until nodes are added."""
        return self._nodes[: self.n_nodes]

    @property
    def reals(self) -> Array:
        """The reals of all nodes so far; a view that is valid until nodes are added."""
        return self._reals[: self.n_nodes]

    @property
    def branch(self) -> Array:
        """The child of each category, for all subset splits so far."""
        return np.concatenate([np.zeros(0, np.uint16), *self._branches])

    def add_nodes(self, nodes: Array, reals: Array) -> int:
        """Append lines to both tables and return the number of the first one."""
        first = self.n_nodes
        self.n_nodes += len(nodes)
        if self.n_nodes > len(self._nodes):
            self._nodes = _enlarged(self._nodes, first, self.n_nodes)
            self._reals = _enlarged(self._reals, first, self.n_nodes)
        self._nodes[first : self.n_nodes] = nodes
        self._reals[first : self.n_nodes] = reals
        return first

    def add_branch(self, children: Array) -> int:
        """Append the child of each category at one subset split, and return where these children begin in `branch`."""
        first = self._n_branch
        self._n_branch += len(children)
        self._branches.append(children)
        return first

    def attach(self, node: int, subtree: GrownTables) -> None:
        """Put a finished subtree in the place of a node. Threads may attach subtrees in any order.

        Line 0 of the subtree replaces the line of the node, and the other lines are appended. The numbers of the lines
        depend on the order of the calls, but the tree in pre-order does not.
        """
        with self._lock:
            branch_start = self.add_branch(subtree.branch)
            n_before = self.n_nodes
            self.add_nodes(subtree.nodes[1:], subtree.reals[1:])
            self._nodes[node], self._reals[node] = subtree.nodes[0], subtree.reals[0]
            for lines in (self._nodes[node : node + 1], self._nodes[n_before : self.n_nodes]):
                lines[:, growing.FIRST_CHILD] += n_before - 1
                if len(subtree.branch):
                    lines[lines[:, growing.BRANCH_START] >= 0, growing.BRANCH_START] += branch_start

    def finish(self) -> GrownTables:
        """Return the tables of all nodes."""
        return GrownTables(self.nodes, self.reals, self.branch)


def new_lines(sums: Array, n_extra_words: int = 0) -> tuple[Array, Array]:
    """Return the lines of new nodes, which are leaves so far.

    Parameters
    ----------
    sums : 2-D array of float
        Statistics of each node: weights of the classes, or the total weight.
    n_extra_words : int
        Number of words after the named columns, in which the kernels keep a bit per slot and per group of columns.
    """
    n_nodes, n_sums = sums.shape
    nodes = np.zeros((n_nodes, growing.N_FIELDS + n_extra_words), np.int64)
    nodes[:, growing.BRANCH_START] = -1
    nodes[:, growing.SPLIT_STEP] = -1
    nodes[:, growing.N_FIELDS :] = -1  # All bits are set: every slot may vary, and every group is allowed.
    reals = np.zeros((n_nodes, n_sums + N_SCORES))
    reals[:, :n_sums] = sums
    return nodes, reals


def _enlarged(table: Array, n_used: int, n_needed: int) -> Array:
    """Return a copy of a table with its first `n_used` lines and room for more than `n_needed` lines."""
    larger = np.empty((CAPACITY_FACTOR * n_needed, table.shape[1]), table.dtype)
    larger[:n_used] = table[:n_used]
    return larger
