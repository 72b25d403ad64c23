"""Slow, obvious twins. They share no code with the library."""

from itertools import product


def children_of(parent):
    """Children of each node, from the parent list alone."""
    children = [[] for _ in parent]
    for v, p in enumerate(parent):
        if p >= 0:
            children[p].append(v)
    return children


def all_prunings(tree, v=0, children=None):
    """Yield the leaf set of every pruning of the subtree at `v`."""
    children = children_of(tree.parent.tolist()) if children is None else children
    yield frozenset({v})
    if children[v]:
        for parts in product(*(list(all_prunings(tree, c, children)) for c in children[v])):
            yield frozenset().union(*parts)


def keep_vector(tree, leaves):
    """One bool per internal node in pre-order: does it still test something?"""
    children = children_of(tree.parent.tolist())
    kept, todo = set(), [0]
    while todo:
        v = todo.pop()
        if v not in leaves:
            kept.add(v)
            todo.extend(children[v])
    return tuple(v in kept for v in range(tree.n_nodes) if children[v])


def n_nodes_of(tree, leaves):
    """Nodes of the pruning with these leaves."""
    return len(leaves) + sum(keep_vector(tree, leaves))
