"""Surrogate splits: splits of other columns that decide where the value of the split column is missing.

While the tree grows, the kernels (`_kernels/surrogate.py`) find the surrogates of each node from its rows. The best
surrogates then choose the child of each row whose value is missing. This module prepares the search and adds the
surrogates to the tree.
"""

from dataclasses import replace

import numpy as np

from .._kernels import growing
from ..core import Surrogates, Tree
from .prepared_columns import PreparedColumns
from .tree_tables import GrownTables, RowValues


def prepare_surrogate_search(
    columns: PreparedColumns, row_values: RowValues, n_surrogates: int
) -> growing.SurrogateSearch:
    """Return the data that the kernels need to search for at most `n_surrogates` surrogates per node."""
    n_lists, features = columns.n_lists, columns.lists.feature_of_slot.tolist()
    values = np.empty(columns.lists.entries.shape)
    for line, j in zip(values, features[:n_lists], strict=True):
        line[:] = row_values.column(j)
    coded = [row_values.table.schema.columns[j] for j in features[n_lists:]]
    n_known = [len(column.categories) if column.kind == "nominal" else 2 for column in coded]
    return growing.SurrogateSearch(n_surrogates, values, np.array(n_known, np.int64))


def with_surrogates(tree: Tree, grown: GrownTables, columns: PreparedColumns) -> Tree:
    """Return the tree with the surrogates that growing found. The nodes must have been split in pre-order."""
    whole_numbers, reals = grown.surrogates or (np.empty((0, 4), np.int64), np.empty((0, 2)))
    step, slot, low_child, branch_start = whole_numbers.T
    threshold, agreement = reals.T
    feature = columns.lists.feature_of_slot[slot]
    is_nominal = branch_start >= 0
    n_codes = np.zeros(len(slot), np.int64)
    n_codes[is_nominal] = [columns.n_codes(k) for k in slot[is_nominal].tolist()]
    starts, sizes = branch_start[is_nominal], n_codes[is_nominal]
    branches = [grown.branch[start : start + n] for start, n in zip(starts, sizes, strict=True)]
    n_of_node = np.zeros(tree.n_nodes, np.int64)
    n_of_node[tree.internal] = np.bincount(step, minlength=len(tree.internal))
    threshold = threshold.copy()
    for s in np.flatnonzero(np.isnan(threshold) & ~is_nominal):  # The kernels write no threshold of two-valued columns.
        threshold[s] = columns.values[int(feature[s])].first_threshold
    surrogates = Surrogates(
        start=np.append(0, np.cumsum(n_of_node)),
        feature=feature,
        threshold=threshold,
        low=low_child,
        branch_start=np.append(0, np.cumsum(n_codes)),
        branch=np.concatenate([np.zeros(0, np.uint16), *branches]),
        agreement=agreement,
    )
    return replace(tree, surrogates=surrogates)
