"""The hull of (changes, errors), against the points of all prunings of small trees."""

import numpy as np
import pytest

from secateur import Tree
from secateur._kernels.change_hull import hull_of_changes


def points_of(tree, options, split_changes, v=0):
    """Return (changes, errors) of every pruning of the subtree of a node."""
    points = set(options[v])
    children = list(tree.children(v))
    if children:
        sums = {(int(split_changes[v]), 0)}
        for child in children:
            below = points_of(tree, options, split_changes, child)
            sums = {(x + a, y + b) for x, y in sums for a, b in below}
        points |= sums
    return points


def corners_of(points):
    """Return the points below every segment between two others, up to the one with the fewest errors."""
    fewest = min(y for _, y in points)
    last = min(x for x, y in points if y == fewest)
    best = {}
    for x, y in points:
        if x <= last:
            best[x] = min(y, best.get(x, y))
    return sorted(
        (x, y)
        for x, y in best.items()
        if not any(a < x < b and (y - best[a]) * (b - a) >= (best[b] - best[a]) * (x - a) for a in best for b in best)
        and all(best[a] > y for a in best if a < x)
    )


def random_case(rng):
    """Return a tree, the options of each node by falling changes, and the changes of its splits."""
    parent, leaves = [-1], [0]
    for _ in range(rng.integers(0, 6)):
        v = leaves.pop(rng.integers(len(leaves)))
        for _ in range(rng.integers(2, 4)):
            leaves.append(len(parent))
            parent.append(v)
    tree = Tree.from_parents(parent)
    options = []
    for _ in range(tree.n_nodes):
        n = int(rng.integers(1, 4))
        changes = np.sort(rng.choice(6, n, replace=False))[::-1].tolist()
        errors = np.sort(rng.choice(9, n, replace=False)).tolist()
        options.append(list(zip(changes, errors, strict=True)))
    return tree, options, rng.integers(0, 3, tree.n_nodes) * ~tree.is_leaf


@pytest.mark.lane
def test_the_corners_are_those_of_all_prunings():
    rng = np.random.default_rng(1)
    for _ in range(200):
        tree, options, split_changes = random_case(rng)
        start = np.append(0, np.cumsum([len(one) for one in options])).astype(np.int64)
        changes, errors = np.array([point for one in options for point in one], np.int64).T

        xs, ys = hull_of_changes(
            tree.arity, start, np.ascontiguousarray(changes), np.ascontiguousarray(errors), split_changes
        )

        expected = corners_of(points_of(tree, options, split_changes))
        assert list(zip(xs.tolist(), ys.tolist(), strict=True)) == expected


@pytest.mark.parametrize("is_left", [True, False])
def test_a_deep_chain_takes_a_moment(is_left):
    n = 50_000
    parent = np.append(-1, np.append(np.arange(n), np.arange(n)[::-1])) if is_left else np.arange(2 * n + 1)
    if not is_left:
        parent = np.append(-1, np.repeat(2 * np.arange(n), 2))
    tree = Tree.from_parents(parent)
    ones = np.ones(tree.n_nodes, np.int64)
    errors = np.where(tree.is_leaf, np.arange(tree.n_nodes) % 5, 10**6)

    xs, ys = hull_of_changes(tree.arity, np.arange(tree.n_nodes + 1), ones, errors, ones * ~tree.is_leaf)

    assert xs[0] == 1
    assert xs[-1] == tree.n_nodes
    assert ys[-1] == errors[tree.is_leaf].sum()
