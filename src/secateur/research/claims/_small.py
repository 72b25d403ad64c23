"""Small random trees, and all their prunings: slow, obvious, and by other means than the library."""

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
LISTED = "random trees, all prunings listed"


@dataclass(frozen=True)
class Case:
    """A small tree with the counts of a growing and of a pruning sample, many of them tied or empty."""

    tree: Tree
    grown: Counts
    held: Counts

    @classmethod
    def of(cls, tree: Tree, grown: ArrayLike, held: ArrayLike) -> "Case":
        """The case with these counts of each class in each leaf."""
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
        """The leaves of every pruning."""
        return prunings(self.tree)

    def least(self, costs: LongsOrFloats) -> dict[int, float]:
        """The least cost of the prunings of each number of leaves."""
        every = [(len(leaves), cost_of(leaves, costs)) for leaves in self.prunings]
        return dict(sorted(every, reverse=True))  # of one size the last, which is the least, stays

    def __str__(self) -> str:
        return told(self.tree, self.grown, self.held)


def small_tree(random: np.random.Generator, *, most_tests: int = 5, arity: int = 3) -> Tree:
    """A random tree of one to `most_tests` tests with two to `arity` outcomes."""
    parent = [-1]
    for _ in range(int(random.integers(1, most_tests + 1))):
        leaf = int(random.choice([v for v in range(len(parent)) if v not in parent]))
        parent += [leaf] * int(random.integers(2, arity + 1))
    return Tree.from_parents(parent)


def perfect_tree(depth: int) -> Tree:
    """The binary tree whose leaves all have this depth."""
    return Tree.from_parents([(v - 1) // 2 for v in range(2 ** (depth + 1) - 1)])


def cases(seed: int, n_trees: int = N_TREES, n_classes: int = 2, **shape: int) -> Iterator[Case]:
    """Yield random cases."""
    random = np.random.default_rng(seed)
    for _ in range(n_trees):
        tree = small_tree(random, **shape)
        grown, held = (random.integers(0, 4, (tree.n_leaves, n_classes)) for _ in range(2))
        grown[np.arange(len(grown)), random.integers(0, n_classes, len(grown))] += 1  # no leaf grew on nothing
        yield Case.of(tree, grown, held)


def failing(holds: Callable[[Case], object], seed: int, n_trees: int = N_TREES, **shape: int) -> Iterator[str]:
    """Yield the random cases for which something does not hold."""
    return (str(case) for case in cases(seed, n_trees, **shape) if not holds(case))


def prunings(tree: Tree, root: int = 0) -> list[frozenset[int]]:
    """The leaves of every pruning of the subtree at a node, bottom-up."""
    options: list[list[frozenset[int]]] = [[] for _ in range(tree.n_nodes)]
    for v in range(tree.n_nodes - 1, -1, -1):
        below = [options[c] for c in tree.children(v)]
        joined = [frozenset().union(*parts) for parts in product(*below)] if below else []
        options[v] = [frozenset({v}), *joined]
    return options[root]


def cost_of(leaves: frozenset[int], costs: LongsOrFloats) -> float:
    """The summed cost of some leaves."""
    return math.fsum(costs[v].item() for v in leaves)


def told(tree: Tree, *counts: Counts) -> str:
    """A tree as nested brackets, each leaf with its counts: growing, then pruning."""
    closed = Counter(tree.end[tree.internal].tolist())
    text = ""
    for v in range(tree.n_nodes):
        rows = "|".join(",".join(map(str, c.by_class[v].tolist())) for c in counts)
        text += f"({rows}){']' * closed[v + 1]} " if tree.is_leaf[v] else "["
    return text.rstrip()
