"""Rows on which the trees of cross-validation are evaluated."""

from dataclasses import dataclass

import numpy as np

from .._kernels import folds, route, structure
from .._utils.arrays import Array
from ..core import Tree
from ..data.table import Table
from ..data.weights import round_for_exact_sums
from ..routing import route_matrix, route_table


@dataclass(frozen=True)
class ValidationRows:
    """Rows of a table on which trees grown on other rows are evaluated.

    Parameters
    ----------
    table : Table
    rows : array of int
        Numbers of the rows in the table.
    target : array
        Class or number of each of the rows.
    weight : array, optional
        Weight of each of the rows; None if every row weighs 1.
    numbers : array, optional
        The columns of the rows as one matrix, with categories as their codes; None if no such matrix was made.
    """

    table: Table
    rows: Array
    target: Array
    weight: Array | None
    numbers: Array | None = None

    def leaves(self, tree: Tree) -> Array:
        """Return the leaf that each of the rows reaches."""
        return route_table(tree, self.table, self.rows, 0) if self.numbers is None else route_matrix(tree, self.numbers)

    def count(self, tree: Tree) -> Array:
        """Return the weight of the rows of each class in each node."""
        classes = self.table.schema.classes
        assert classes is not None
        weight = None if self.weight is None else round_for_exact_sums(self.weight)
        is_whole = weight is None or bool((weight == np.rint(weight)).all())
        leaf_weights = np.zeros((tree.n_nodes, len(classes)), np.int64 if is_whole else np.float64)
        row_weights = np.zeros(0, leaf_weights.dtype) if weight is None else weight.astype(leaf_weights.dtype)
        route.add_class_counts(self.leaves(tree), self.target, row_weights, leaf_weights)
        by_class: Array = structure.sum_upwards(tree.parent, leaf_weights)
        return by_class

    def loss_sums(self, tree: Tree, predictions: Array, *, is_absolute: bool = False) -> tuple[Array, Array, float]:
        """Return the loss of each node on the rows that reach it.

        Parameters
        ----------
        tree : Tree
        predictions : array of float
            The prediction of each node.
        is_absolute : bool
            Whether the loss of a row is its absolute error; else it is its squared error.

        Returns
        -------
        (array, array, float)
            In each node, the weighted sum of the losses and the weighted sum of their squares; the weight of all rows.
            Rows are added in the order of their targets, so that the sums do not depend on the order of the table.
        """
        target = self.target
        weight = np.ones(len(target)) if self.weight is None else self.weight
        order = np.lexsort((weight, target))
        leaves = self.leaves(tree)[order]
        losses, squares = folds.path_losses(tree.parent, leaves, target[order], weight[order], predictions, is_absolute)
        return losses, squares, float(weight[order].sum())
