"""Small random trees, and all their prunings: slow, obvious, and by other means than the library."""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from ...data.arrays import Sums
from ...nouns import Counts, Tree

N_TREES = 100


def small_tree(random: np.random.Generator, *, most_tests: int = 5, arity: int = 3) -> Tree:
    """A random tree of one to `most_tests` tests with two to `arity` outcomes."""
    children: list[list[int]] = [[]]
    for _ in range(int(random.integers(1, most_tests + 1))):
        leaf = int(random.choice([v for v, below in enumerate(children) if not below]))
        for _ in range(int(random.integers(2, arity + 1))):
            children[leaf].append(len(children))
            children.append([])
    parent: list[int] = []
    todo = [(0, -1)]
    while todo:
        v, above = todo.pop()
        at = len(parent)
        parent.append(above)
        todo += [(child, at) for child in reversed(children[v])]
    return Tree.from_parents(parent)


def cases(seed: int, n_trees: int = N_TREES, n_classes: int = 2, **shape: int) -> Iterator[tuple[Tree, Counts, Counts]]:
    """Random trees with the counts of a growing and of a pruning sample, many of them tied or empty."""
    random = np.random.default_rng(seed)
    for _ in range(n_trees):
        tree = small_tree(random, **shape)
        grown, held = (random.integers(0, 4, (tree.n_leaves, n_classes)) for _ in range(2))
        grown[np.arange(len(grown)), random.integers(0, n_classes, len(grown))] += 1  # no leaf grew on nothing
        yield tree, Counts.from_leaves(tree, grown), Counts.from_leaves(tree, held, sample="prune")


def prunings(tree: Tree, root: int = 0) -> list[frozenset[int]]:
    """The leaves of every pruning of the subtree at a node, bottom-up."""
    options: list[list[frozenset[int]]] = [[] for _ in range(tree.n_nodes)]
    for v in range(tree.n_nodes - 1, -1, -1):
        below = [options[c] for c in np.flatnonzero(tree.parent == v).tolist()]
        joined = [frozenset().union(*parts) for parts in product(*below)] if below else []
        options[v] = [frozenset({v}), *joined]
    return options[root]


def cost_of(leaves: frozenset[int], costs: Sums) -> float:
    """The summed cost of some leaves."""
    return math.fsum(costs[v].item() for v in leaves)


def told(tree: Tree, *counts: Counts) -> str:
    """A tree as nested brackets, each leaf with its counts: growing, then pruning."""
    text = ""
    ends: list[int] = []
    for v in range(tree.n_nodes):
        while ends and ends[-1] <= v:
            text = text.rstrip() + "] "
            ends.pop()
        if tree.is_leaf[v]:
            text += "(" + "|".join(",".join(map(str, c.by_class[v].tolist())) for c in counts) + ") "
        else:
            text += "["
            ends.append(int(tree.end[v]))
    return text.rstrip() + "]" * len(ends)
