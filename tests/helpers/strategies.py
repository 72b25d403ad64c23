"""Strategies of hypothesis: trees of any arity and counts on them, small enough to enumerate all prunings."""

import numpy as np
from hypothesis import strategies as st

from secateur import Counts, Tree


@st.composite
def trees(draw, max_internal=5, max_arity=3):
    """Draw a tree of any shape with at most `max_internal` tests."""
    parent = [-1]
    leaves = [0]
    for _ in range(draw(st.integers(0, max_internal))):
        v = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        for _ in range(draw(st.integers(2, max_arity))):
            leaves.append(len(parent))
            parent.append(v)
    return Tree.from_parents(parent)


@st.composite
def counts(draw, tree, sample="grow", n_classes=2, max_count=3):
    """Draw whole-number counts at the leaves, summed up to the root."""
    leaf = st.lists(st.integers(0, max_count), min_size=n_classes, max_size=n_classes)
    rows = draw(st.lists(leaf, min_size=tree.n_leaves, max_size=tree.n_leaves))
    return Counts.from_leaves(tree, np.array(rows, np.int64), sample=sample)


@st.composite
def trees_with_counts(draw, samples=("grow",), max_internal=5, max_arity=3, max_classes=3, max_count=3):
    """Draw a tree, and counts of each sample on it."""
    tree = draw(trees(max_internal=max_internal, max_arity=max_arity))
    n_classes = draw(st.integers(2, max_classes))
    return tree, *(draw(counts(tree, name, n_classes, max_count)) for name in samples)
