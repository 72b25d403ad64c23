"""Where the nodes of a drawn tree stand: shared by the figures and the report.

Two layouts, both without overlaps, with parents centred over their first and last child:

    plain    every leaf has a place of its own, one unit from the next; text fits beside it
    packed   subtrees are pushed together until some level of them is one unit apart; narrower

A packed subtree is described by its *contours*, the least and the greatest place on each of
its levels. Two neighbours are compared on the levels they share, and the longer contour is
reused for both, so all the work is linear in the number of nodes (Reingold and Tilford, 1981).
"""

from dataclasses import dataclass

import numpy as np

from .._kernels import structure
from ..data.arrays import ArrayLike, Bools, Floats, Ints, sealed
from ..errors import PruningError
from ..nouns import Tree

__all__ = ["Layout", "tidy"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of the nodes of a tree, or of a pruning of it.

    Parameters
    ----------
    x : array of float
        Place across the tree, from 0 to `width`; NaN where a node is not drawn.
    depth : array of int
        Level of each node, the root at 0.
    is_shown : array of bool
        Which nodes are drawn: all but those under a leaf of the pruning.
    is_leaf : array of bool
        Which of them are drawn as leaves.
    width : float
        The greatest `x`.
    height : int
        The greatest depth that is drawn.
    """

    x: Floats
    depth: Ints
    is_shown: Bools
    is_leaf: Bools
    width: float
    height: int


def tidy(tree: Tree, is_leaf: ArrayLike | None = None, *, packed: bool = False) -> Layout:
    """Return the places of the nodes of a tree.

    Parameters
    ----------
    tree : Tree
    is_leaf : array of bool, optional
        Which nodes are leaves now, one per node, as in `Pruning`; what lies under them is not
        drawn. By default the leaves of the tree.
    packed : bool
        Push subtrees together, which is narrower; else each leaf has a place of its own.

    Returns
    -------
    Layout
        Nodes of one level are at least 1 apart, in their order; leaves too, unless packed.

    Notes
    -----
    O(nodes), whatever the depth.

    Examples
    --------
    >>> from secateur import Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 3, 3, 0])
    >>> layout = tidy(tree)
    >>> layout.x.tolist(), layout.width, layout.height
    ([1.875, 0.75, 0.0, 1.5, 1.0, 2.0, 3.0], 3.0, 3)
    >>> tidy(tree, packed=True).x.tolist()
    [1.0, 0.5, 0.0, 1.0, 0.5, 1.5, 1.5]
    """
    leaf = tree.is_leaf if is_leaf is None else np.asarray(is_leaf)
    if leaf.shape != (tree.n_nodes,) or leaf.dtype != bool:
        raise PruningError(
            f"is_leaf has shape {leaf.shape} of {leaf.dtype}; one bool for each of {tree.n_nodes:,} nodes is needed"
        )
    leaf = structure.leaves_after_cuts(tree.parent, leaf | tree.is_leaf)
    is_shown = leaf | structure.kept_nodes(tree.parent, leaf)
    nodes = np.flatnonzero(is_shown)
    new_id = np.cumsum(is_shown) - 1
    parent = [-1, *new_id[tree.parent[nodes[1:]]].tolist()]
    places = _packed(parent) if packed else _plain(parent)
    x = np.full(tree.n_nodes, np.nan)
    x[nodes] = places
    return Layout(
        sealed(x), tree.depth, sealed(is_shown), sealed(leaf), float(places.max()), int(tree.depth[nodes].max())
    )


def _plain(parent: list[int]) -> Floats:
    """Leaves one apart in their order, parents midway between their first and last child."""
    n = len(parent)
    first, last = [0] * n, [0] * n
    for v in range(n - 1, 0, -1):
        p = parent[v]
        first[p] = v  # the last write is the first child
        last[p] = last[p] or v
    x = [0.0] * n
    n_leaves = n - len(set(parent)) + 1
    for v in range(n - 1, -1, -1):
        if first[v]:
            x[v] = (x[first[v]] + x[last[v]]) / 2
        else:
            n_leaves -= 1
            x[v] = float(n_leaves)
    return np.array(x)


class _Outline:
    """Contours of a subtree, deepest level first, relative to a moving origin."""

    __slots__ = ("left", "left_shift", "right", "right_shift")

    def __init__(self) -> None:
        self.left: list[float] = [0.0]
        self.right: list[float] = [0.0]
        self.left_shift = self.right_shift = 0.0

    def move(self, by: float) -> None:
        self.left_shift += by
        self.right_shift += by

    def take_in(self, other: "_Outline") -> float:
        """Put `other` to the right of this one as near as it can go, and return by how much it was moved."""
        n_shared = min(len(self.right), len(other.left))
        by = 1 + max(
            (self.right[-i] + self.right_shift) - (other.left[-i] + other.left_shift) for i in range(1, n_shared + 1)
        )
        other.move(by)
        if len(other.left) > len(self.left):
            _overwrite(other.left, other.left_shift, self.left, self.left_shift)
            self.left, self.left_shift = other.left, other.left_shift
        if len(other.right) >= len(self.right):
            self.right, self.right_shift = other.right, other.right_shift
        else:
            _overwrite(self.right, self.right_shift, other.right, other.right_shift)
        return by


def _overwrite(longer: list[float], longer_shift: float, top: list[float], top_shift: float) -> None:
    """Put the levels of `top` in place of the upper levels of `longer`."""
    longer[-len(top) :] = [value + top_shift - longer_shift for value in top]


def _packed(parent: list[int]) -> Floats:
    """Subtrees as near to one another as their outlines allow."""
    n = len(parent)
    offset = [0.0] * n  # from the parent
    waiting: list[list[tuple[int, _Outline]]] = [[] for _ in range(n)]  # children, the last one first
    for v in range(n - 1, -1, -1):
        outline = _Outline()
        if waiting[v]:
            children = waiting[v]
            first, outline = children.pop()
            places = [(first, 0.0)]
            while children:
                child, other = children.pop()
                places.append((child, outline.take_in(other)))
            centre = places[-1][1] / 2
            for child, place in places:
                offset[child] = place - centre
            outline.move(-centre)
            outline.left.append(-outline.left_shift)
            outline.right.append(-outline.right_shift)
        if v:
            waiting[parent[v]].append((v, outline))
    for v in range(1, n):
        offset[v] += offset[parent[v]]
    x = np.array(offset)
    return np.asarray(x - x.min())
