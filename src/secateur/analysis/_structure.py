"""Fringe, interior and safe nodes: where reduced error pruning with held-out labels can act.

A node with an original leaf among its children may be cut even if other children are kept. A node without such a child
is cut only if all its children are cut, because under labels from the held-out sample a kept child makes strictly fewer
errors than a leaf. The *fringe* consists of the nodes of the first kind and all their descendants, the *interior* of
all other nodes. The highest nodes of the fringe, the *safe nodes*, decide whether the tree becomes one leaf:

    the tree becomes one leaf  <=>  every safe node is cut, and one class has the
                                    largest count at every safe node.

Elomaa and Kaariainen, "An Analysis of Reduced Error Pruning" (2001).
"""

import numpy as np

from .._kernels import structure
from .._utils.arrays import Bools, Ints, write_protect
from ..core import Tree


def fringe(tree: Tree) -> Bools:
    """Return which nodes are in the fringe.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    array of bool
        True at every node that has an original leaf among its children, and at all
        descendants of such a node. The only node of a single-leaf tree has no children
        and is not in the fringe.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 4.

    O(n_nodes).

    Examples
    --------
    >>> from secateur import Tree
    >>> fringe(Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])).tolist()
    [False, True, True, True, True, True, True]
    """
    return write_protect(~interior(tree))


def interior(tree: Tree) -> Bools:
    """Return which nodes are in the interior: all that are not in the fringe.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    array of bool
        True where neither the node nor any ancestor has an original leaf as a child.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 4.

    O(n_nodes).

    Examples
    --------
    >>> from secateur import Tree
    >>> interior(Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])).tolist()
    [True, False, False, False, False, False, False]
    """
    has_leaf_child = np.zeros(tree.n_nodes, bool)
    leaves = tree.leaves[tree.leaves > 0]
    has_leaf_child[tree.parent[leaves]] = True
    # These are the internal nodes that remain if the tree is cut at every node with a leaf among its children.
    return write_protect(structure.kept_nodes(tree.parent, has_leaf_child))


def safe_nodes(tree: Tree) -> Ints:
    """Return the safe nodes: the highest nodes of the fringe.

    Parameters
    ----------
    tree : Tree

    Returns
    -------
    array of int
        Ids in order. Their subtrees are disjoint and hold all original leaves. If the
        root is in the fringe, or is the only node, it is the only safe node.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 4, Figure 2.

    O(n_nodes). The published definition requires a parent in the interior, so a tree whose root is in the fringe has no
    safe node. The theorem at the head of this module needs the root as a safe node in that case; then it holds for any
    arity and any number of classes.

    Examples
    --------
    >>> from secateur import Tree
    >>> safe_nodes(Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])).tolist()
    [1, 4]
    >>> safe_nodes(Tree.from_parents([-1, 0, 1, 1, 0])).tolist()
    [0]
    """
    is_interior = interior(tree)
    is_safe = ~is_interior
    is_safe[1:] &= is_interior[tree.parent[1:]]
    if tree.n_nodes == 1:
        is_safe[0] = True
    return write_protect(np.flatnonzero(is_safe).astype(np.int32))
