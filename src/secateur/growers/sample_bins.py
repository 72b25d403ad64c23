"""The bins that the whole growing sample has, for growing subtrees on the rows of single nodes.

With `max_bins`, the bins of a column are made once, from all growing rows. The rows of a node alone would make other
bins. A subtree is therefore grown on the numbers of the bins, without binning. Its thresholds are then replaced by
those between the bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._utils.arrays import Array
from .._utils.threads import InlinePool
from ..core import Tree
from ..data.table import Table
from ..routing import route_table
from .presort import Binning, ColumnValues, label_rows, midpoint, sort_numeric_columns
from .tree_tables import shortest_decimals


@dataclass(frozen=True)
class SampleBins:
    """A table with the numbers of bins in place of the values of columns that have too many values.

    Parameters
    ----------
    table : Table
    values : dict from int to ColumnValues
        The lowest and the highest value of each bin, by column.
    """

    table: Table
    values: dict[int, ColumnValues]

    @classmethod
    def of(cls, table: Table, weight: Array | None, max_bins: int | None) -> "SampleBins":
        """Return the bins of all rows of a table.

        Parameters
        ----------
        table : Table
        weight : array, optional
            Weights that count as repetitions of rows.
        max_bins : int, optional
            None for no bins.
        """
        if max_bins is None:
            return cls(table, {})
        classes = table.schema.classes
        if classes is None:
            labels = label_rows(np.zeros(table.n_rows, np.int32), 1)
        else:
            labels = label_rows(table.required_target, len(classes))
        repetitions = np.zeros(0) if weight is None else np.array(weight)
        found = sort_numeric_columns(table, labels, InlinePool(), Binning(max_bins, repetitions, False))
        values = {
            column.feature: column.values
            for column in found.columns
            if column.values is not None and column.values.is_binned
        }
        columns = list(table.columns)
        for j, of_column in values.items():
            number = np.searchsorted(of_column.low, columns[j], side="right") - 1.0
            columns[j] = np.where(np.isnan(columns[j]), np.nan, number)
        return cls(Table(table.schema, tuple(columns), table.target), values)

    def threshold(self, feature: int, last_below: float, first_above: float) -> float:
        """Return the threshold after the entry `last_below` of a column of the table, the next being `first_above`."""
        of_column = self.values.get(feature)
        if of_column is None:
            ends = np.array([last_below]), np.array([first_above])
        else:
            ends = of_column.high[[int(last_below)]], of_column.low[[int(last_below) + 1]]
        return float(midpoint(ends[0].astype(np.float64), ends[1].astype(np.float64))[0])

    def with_thresholds(self, tree: Tree, table: Table, features: Sequence[int]) -> Tree:
        """Return a tree that was grown on numbers of bins with thresholds between the bins.

        Parameters
        ----------
        tree : Tree
        table : Table
            The rows that the tree was grown on.
        features : sequence of int
            The column of this object's table behind each column of `table`.
        """
        internal = [v for v in tree.internal.tolist() if features[tree.feature[v]] in self.values]
        if not internal:
            return tree
        leaf = route_table(tree, table, None, 0)
        order = np.argsort(leaf, kind="stable")  # the rows of a branch are then neighbours
        start = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
        threshold, rounded = tree.threshold.copy(), tree.rounded.copy()
        for v in internal:
            if not np.isfinite(threshold[v]):
                continue  # present values are split from missing ones
            column, of_column = int(tree.feature[v]), self.values[features[tree.feature[v]]]
            in_first_child = order[start[v + 1] : start[tree.end[v + 1]]]
            last = int(np.nanmax(table.columns[column][in_first_child]))
            low, high = of_column.high[[last]].astype(np.float64), of_column.low[[last + 1]].astype(np.float64)
            threshold[v] = midpoint(low, high)[0]
            rounded[v] = shortest_decimals(low, threshold[[v]], high)[0]
        return replace(tree, threshold=threshold, rounded=rounded)
