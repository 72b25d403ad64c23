"""Growing by hand: state splits, forbid columns and make leaves, and grow all else by the usual rules.

`HandGrower` changes one tree. `FixedTop` holds what was stated for a tree, without what was grown by the rules: the
tests above the edited nodes and the edits themselves. It grows a tree on other rows, such as those of a fold of
cross-validation, in which only the stated parts are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Tree
from ..data.weights import WeightedRows
from ..routing import count
from .candidate_splits import NodeRows
from .parameters import GrowParameters
from .subtree import GrowingRows, Replaced, find_start, leaves_of, path_to, replace_subtrees, rows_at

Columns = frozenset[int]
NO_COLUMNS: Columns = frozenset()


@dataclass(frozen=True)
class HandGrower:
    """Changes single nodes of trees that were grown on the same rows.

    Parameters
    ----------
    growing : GrowingRows
    parameters : GrowParameters
        Parameters of growing, without "auto".
    """

    growing: GrowingRows
    parameters: GrowParameters

    def count(self, tree: Tree) -> Any:
        """Return the counts (or moments) of the growing rows in a tree."""
        rows = self.growing.rows
        return count(tree, rows.table, sample_weight=rows.weight, sample="grow", sketch=False)

    def node_rows(self, tree: Tree, node: int, forbidden: Columns = NO_COLUMNS) -> NodeRows:
        """Return the rows of a node, on which it may not test the forbidden columns."""
        of_node = NodeRows.of(tree, node, self.growing, self.parameters)
        return NodeRows(self.growing, of_node.rows, self.parameters, of_node.start.without(forbidden))

    def regrow(self, tree: Tree, forbidden: Mapping[int, Columns]) -> Replaced:
        """Return the tree in which the subtrees of some nodes are grown anew by the usual rules.

        Parameters
        ----------
        tree : Tree
        forbidden : dict from int to set of int
            The columns that must not be tested at and below each of the nodes. Nodes without rows become leaves.
        """
        leaf = leaves_of(tree, self.growing.table)
        subtrees = {}
        for node, columns in forbidden.items():
            rows = rows_at(tree, leaf, node)
            if len(rows):
                start = find_start(tree, node, self.parameters, self.growing.table.schema).without(columns)
                subtrees[node] = self.growing.grow(rows, self.parameters, start)
            else:
                subtrees[node] = single_leaf(tree)
        return replace_subtrees(tree, subtrees)

    def split(self, tree: Tree, node: int, stump: Tree, forbidden: Columns = NO_COLUMNS) -> Replaced:
        """Return the tree with a stated split at a node, below which all is grown anew by the usual rules.

        Parameters
        ----------
        tree : Tree
        node : int
        stump : Tree
            The tree of the split alone.
        forbidden : set of int
            The columns that must not be tested below the node.
        """
        if tree.estimate_limits is not None:
            stump = self.node_rows(tree, node).limited(stump)
        with_split = replace_subtrees(tree, {node: stump})
        root = int(with_split.new_number[node])
        children = dict.fromkeys(with_split.tree.children(root), forbidden)
        return with_split.then(self.regrow(with_split.tree, children))


def single_leaf(tree: Tree) -> Tree:
    """Return a tree of one leaf on the columns of another tree."""
    return Tree(np.array([-1]), schema=tree.schema)


@dataclass(frozen=True)
class FixedTop:
    """What was stated by hand for the top of a tree; all else is grown by the usual rules.

    Parameters
    ----------
    tree : Tree
        The tests that are the same in every tree that is grown from this top.
    forbidden : tuple of (node, column)
        The columns that must not be tested at and below nodes of `tree`.
    columns : tuple of (node, column)
        The leaves of `tree` that are split by the best split of a stated column.
    leaves : frozenset of int
        The leaves of `tree` that are not split.
    """

    tree: Tree
    forbidden: tuple[tuple[int, int], ...] = ()
    columns: tuple[tuple[int, int], ...] = ()
    leaves: frozenset[int] = frozenset()

    def forbidden_at(self, node: int) -> Columns:
        """Return the columns that must not be tested at and below a node."""
        path = set(path_to(self.tree, node))
        return frozenset(column for forbidden_node, column in self.forbidden if forbidden_node in path)

    def grow(self, rows: WeightedRows, parameters: GrowParameters) -> Any:
        """Return the counts (or moments) of rows in the tree that is grown on them from this top.

        Parameters
        ----------
        rows : WeightedRows
            Rows of weight above 0.
        parameters : GrowParameters
        """
        grower = HandGrower(GrowingRows(rows), parameters)
        stated = dict(self.columns)
        free = [v for v in self.tree.leaves.tolist() if v not in self.leaves and v not in stated]
        grown = grower.regrow(self.tree, {v: self.forbidden_at(v) for v in free})
        for node, column in self.columns:
            grown = self._split_by_column(grower, grown, node, column)
        return grower.count(grown.tree)

    def _split_by_column(self, grower: HandGrower, grown: Replaced, node: int, column: int) -> Replaced:
        """Return the tree in which a node has the best split of a column; without one, it is grown by the rules."""
        forbidden, at = self.forbidden_at(node), int(grown.new_number[node])
        of_node = grower.node_rows(grown.tree, at, forbidden)
        best = of_node.best_of_column(column) if len(of_node.rows) else None
        if best is None:
            return grown.then(grower.regrow(grown.tree, {at: forbidden}))
        return grown.then(grower.split(grown.tree, at, best.stump, forbidden))


@dataclass(frozen=True)
class HandGrowth:
    """A tree that was grown by hand, for its cross-validation.

    Parameters
    ----------
    counts : Counts or Moments
        The growing rows in the tree.
    top : FixedTop
        From which the trees of the folds are grown.
    parameters : GrowParameters
        Parameters of growing, without "auto".
    """

    counts: Any
    top: FixedTop
    parameters: GrowParameters
