"""Where the nodes of a drawn tree stand: shared by the figures and the report."""

import numpy as np

from ..data.arrays import Floats
from ..nouns import Tree

__all__ = ["tidy"]


def tidy(tree: Tree) -> Floats:
    """Return the place of each node across a tree: leaves one apart, parents midway between first and last child.

    Notes
    -----
    O(nodes), whatever the depth. Nodes of one level are at least 1 apart, in their order.

    Examples
    --------
    >>> from secateur import Tree
    >>> tidy(Tree.from_parents([-1, 0, 1, 1, 3, 3, 0])).tolist()
    [1.875, 0.75, 0.0, 1.5, 1.0, 2.0, 3.0]
    """
    place = (np.cumsum(tree.is_leaf) - 1.0).tolist()
    last = np.zeros(tree.n_nodes, np.int64)
    last[tree.parent[1:]] = np.arange(1, tree.n_nodes)  # of several children the last one stays
    last_child = last.tolist()
    for v in tree.internal[::-1].tolist():
        place[v] = (place[v + 1] + place[last_child[v]]) / 2
    return np.array(place)
