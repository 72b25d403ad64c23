"""Small random trees with columns and counts, and all their prunings within a budget by enumeration."""

import numpy as np

from oracles import all_prunings, children_of, keep_vector
from secateur import Counts, Tree


def random_tree(rng, n_splits, n_columns=3, max_arity=4):
    """Return a tree of any shape, whose splits name a column but cannot route rows."""
    parent, leaves = [-1], [0]
    for _ in range(n_splits):
        v = leaves.pop(int(rng.integers(len(leaves))))
        for _ in range(int(rng.choice([2, 2, 2, 3, max_arity]))):
            leaves.append(len(parent))
            parent.append(v)
    bare = Tree.from_parents(parent)
    feature = np.where(bare.is_leaf, -1, rng.integers(n_columns, size=bare.n_nodes))
    # Branches with codes let a split have more than two children.
    n_codes = np.where(bare.is_leaf, 0, bare.arity)
    branch = np.concatenate([np.arange(n) for n in n_codes]) if n_codes.any() else np.zeros(0)
    return Tree(
        bare.parent,
        feature=feature,
        branch_start=np.append(0, np.cumsum(n_codes)),
        branch=branch.astype(np.uint16),
    )


def random_counts(rng, tree, sample, n_classes=2, max_count=3):
    """Return counts with many ties and empty leaves."""
    by_leaf = rng.integers(max_count + 1, size=(tree.n_leaves, n_classes))
    by_leaf[rng.random(tree.n_leaves) < 0.3] = 0
    return Counts.from_leaves(tree, by_leaf, sample=sample)


def members_by_enumeration(tree, cost, within, max_leaves=None):
    """Return the leaf sets of all prunings within a budget of the least cost, by enumeration."""
    prunings = [(leaves, sum(int(cost[v]) for v in leaves)) for leaves in all_prunings(tree)]
    least = min(total for _, total in prunings)
    return [
        leaves
        for leaves, total in prunings
        if total <= least + within and (max_leaves is None or len(leaves) <= max_leaves)
    ]


def kept_nodes(tree, leaves):
    """Return the internal nodes that a pruning keeps."""
    internal = [v for v, children in enumerate(children_of(tree.parent.tolist())) if children]
    return {v for v, is_kept in zip(internal, keep_vector(tree, leaves), strict=True) if is_kept}


def columns_of(tree, leaves):
    """Return the columns that a pruning compares."""
    return {int(tree.feature[v]) for v in kept_nodes(tree, leaves)}
