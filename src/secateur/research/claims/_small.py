"""Small random trees and lists of all their prunings.

The code is simple and slow, and does not use the pruning rules of the library, which it serves to check.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ..._utils.arrays import ArrayLike, LongsOrFloats
from ...core import Counts, Tree

N_TREES = 100
RANDOM_TREES_ENUMERATED = "random trees, all prunings listed"


@dataclass(frozen=True)
class Case:
    """A small tree with the counts of a growing and of a pruning sample; many nodes are tied or empty."""

    tree: Tree
    grown: Counts
    held: Counts

    @classmethod
    def of(cls, tree: Tree, grown: ArrayLike, held: ArrayLike) -> "Case":
        """Return the case whose leaves have the given counts of each class."""
        return cls(tree, Counts.from_leaves(tree, grown), Counts.from_leaves(tree, held, sample="prune"))

    @cached_property
    def errors(self) -> LongsOrFloats:
        """Growing errors of each node as a leaf."""
        return self.grown.resubstitution_costs

    @cached_property
    def held_errors(self) -> LongsOrFloats:
        """Pruning errors of each node as a leaf with its growing label."""
        return self.held.errors_if_leaf(self.grown.majority)

    @cached_property
    def prunings(self) -> list[frozenset[int]]:
        """The leaves of every pruning, as sets of nodes."""
        return prunings(self.tree)

    def lowest_costs(self, costs: LongsOrFloats) -> dict[int, float]:
        """Return the lowest cost of any pruning with each number of leaves."""
        sizes_and_costs = [(len(leaves), cost_of(leaves, costs)) for leaves in self.prunings]
        return dict(sorted(sizes_and_costs, reverse=True))  # a later entry replaces an earlier one of the same size

    def __str__(self) -> str:
        return describe_case(self.tree, self.grown, self.held)


def small_tree(random: np.random.Generator, *, max_splits: int = 5, max_branches: int = 3) -> Tree:
    """Return a random tree of one to `max_splits` splits, each with two to `max_branches` branches."""
    parent = [-1]
    for _ in range(int(random.integers(1, max_splits + 1))):
        leaf = int(random.choice([v for v in range(len(parent)) if v not in parent]))
        parent += [leaf] * int(random.integers(2, max_branches + 1))
    return Tree.from_parents(parent)


def perfect_tree(depth: int) -> Tree:
    """Return the binary tree whose leaves all have the given depth."""
    return Tree.from_parents([(v - 1) // 2 for v in range(2 ** (depth + 1) - 1)])


def cases(seed: int, n_trees: int = N_TREES, n_classes: int = 2, **shape: int) -> Iterator[Case]:
    """Yield random cases; `shape` as for `small_tree`."""
    random = np.random.default_rng(seed)
    for _ in range(n_trees):
        tree = small_tree(random, **shape)
        grown, held = (random.integers(0, 4, (tree.n_leaves, n_classes)) for _ in range(2))
        grown[np.arange(len(grown)), random.integers(0, n_classes, len(grown))] += 1  # every leaf has a growing row
        yield Case.of(tree, grown, held)


def failing_cases(holds: Callable[[Case], object], seed: int, n_trees: int = N_TREES, **shape: int) -> Iterator[str]:
    """Yield a description of each random case for which a statement does not hold."""
    return (str(case) for case in cases(seed, n_trees, **shape) if not holds(case))


def prunings(tree: Tree, root: int = 0) -> list[frozenset[int]]:
    """Return the leaves of every pruning of the subtree at a node."""
    options: list[list[frozenset[int]]] = [[] for _ in range(tree.n_nodes)]
    for v in range(tree.n_nodes - 1, -1, -1):
        below = [options[c] for c in tree.children(v)]
        joined = [frozenset().union(*parts) for parts in product(*below)] if below else []
        options[v] = [frozenset({v}), *joined]
    return options[root]


def cost_of(leaves: frozenset[int], costs: LongsOrFloats) -> float:
    """Return the sum of the costs of the given leaves."""
    return math.fsum(costs[v].item() for v in leaves)


def describe_case(tree: Tree, *counts: Counts) -> str:
    """Return a tree as nested brackets; each leaf shows its counts, those of growing before those of pruning."""
    closed = Counter(tree.end[tree.internal].tolist())
    text = ""
    for v in range(tree.n_nodes):
        rows = "|".join(",".join(map(str, c.by_class[v].tolist())) for c in counts)
        text += f"({rows}){']' * closed[v + 1]} " if tree.is_leaf[v] else "["
    return text.rstrip()
