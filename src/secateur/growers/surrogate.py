"""Surrogate splits: where the value that a node tests is missing, the test of another column that agrees best decides.

The kernels find them while the tree grows (`_kernels/surrogate.py`), from the rows of each node, and send its rows with
gaps as they say. Here is what they need for it, and what becomes of what they found.
"""

from dataclasses import replace

import numpy as np

from .._kernels import growing
from .._utils.arrays import Array
from ..core import Surrogates, Tree
from ..data.table import Table
from .grower import Grown
from .prepare import Prepared


def surrogates_of(data: Prepared, table: Table, rows: Array | None, most: int) -> growing.SurrogateSearch | None:
    """Return what the kernels need to look for `most` surrogates of a node; `data` is of these rows (None: all)."""
    if not most:
        return None
    n_lists = len(data.lists.entries)
    values = np.empty(data.lists.entries.shape)
    for line, j in zip(values, data.lists.feature_of_slot[:n_lists].tolist(), strict=True):
        line[:] = table.columns[j] if rows is None else table.columns[j][rows]
    coded = [table.schema.columns[j] for j in data.lists.feature_of_slot[n_lists:].tolist()]
    n_known = [len(about.categories) if about.kind == "nominal" else 2 for about in coded]
    return growing.SurrogateSearch(most, values, np.array(n_known, np.int64))


def with_surrogates(tree: Tree, grown: Grown, data: Prepared) -> Tree:
    """Return the tree of these tables with the surrogates that were found; nodes were split in pre-order."""
    whole, real = grown.surrogates or (np.empty((0, 4), np.int64), np.empty((0, 2)))
    step, slot, low, first = whole.T
    feature = data.lists.feature_of_slot[slot]
    threshold = real[:, 0].copy()
    is_nominal = first >= 0
    for s in np.flatnonzero(np.isnan(threshold) & ~is_nominal):
        threshold[s] = data.values[int(feature[s])].cut
    n_codes = np.zeros(len(slot), np.int64)
    if data.codes is not None:
        n_codes[is_nominal] = data.codes.n_codes[slot[is_nominal] - len(data.lists.entries)]
    branches = [grown.branch[at : at + n] for at, n in zip(first[is_nominal], n_codes[is_nominal], strict=True)]
    n_of_node = np.zeros(tree.n_nodes, np.int64)
    n_of_node[tree.internal] = np.bincount(step, minlength=len(tree.internal))
    return replace(
        tree,
        surrogates=Surrogates(
            np.append(0, np.cumsum(n_of_node)), feature, threshold, low, np.append(0, np.cumsum(n_codes)),
            np.concatenate([np.zeros(0, np.uint16), *branches]), real[:, 1],
        ),
    )  # fmt: skip
