"""Routing the rows of a table to the leaves of a tree, and hashing rows into sketches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._kernels import node_moments, presort, route
from .._utils.arrays import Array, Ints, write_protect
from ..core import Moments, Tree
from ..data.encoding import encode
from ..data.sketch import MAX_HASHES, Sketch
from ..data.table import Schema, Table, iter_blocks, iter_native_blocks
from ..data.weights import used_rows
from ..errors import TreeError


def sketch_of(
    tree: Tree,
    table: Table,
    is_used: Array | None = None,
    key_columns: Sequence[int] | None = None,
    size: int = MAX_HASHES,
    groups: Array | None = None,
) -> Sketch:
    """Return the sketch of the rows of a table.

    Parameters
    ----------
    tree : Tree
        The tree whose row key hashes the rows.
    table : Table
        The rows.
    is_used : array of bool, optional
        Whether each row has a weight above 0; other rows are left out. By default all rows are used.
    key_columns : sequence of int, optional
        The position in the table of each column of the row key; by default the positions in the growing table.
    size : int
        The largest number of hashes.
    groups : array, optional
        A hash of the group of each row. Equal rows of one group are taken as one row.
    """
    classes, rows = table.schema.classes, None if is_used is None else np.flatnonzero(is_used)
    columns = np.array(tree.row_key.columns if key_columns is None else key_columns, np.intp)
    target = table.required_target if rows is None else table.required_target[rows]
    n_classes = None if classes is None else len(classes) + 1  # one more for classes that growing did not see
    if groups is not None and rows is not None:
        groups = groups[rows]
    return tree.row_key.sketch(iter_native_blocks(table, columns, rows), target, n_classes, size, groups)


def with_growing_rows(counts: Any, table: Table, is_used: Array | None = None) -> Any:
    """Return the statistics of a growing sample with the sketch of its rows, which is also in the history of its tree.

    Parameters
    ----------
    counts : Counts or Moments
    table : Table
        The rows of the sample.
    is_used : array of bool, optional
        As for `sketch_of`.
    """
    return counts.with_growing_sketch(sketch_of(counts.tree, table, is_used))


def moments_of(tree: Tree, table: Table, weight: Array | None, sample: str) -> Moments:
    """Return the moments of a table with a numeric target.

    The rows are added in an order that their values determine, so that the sums do not depend on the order of the
    rows in the table.
    """
    target = table.required_target
    is_used = used_rows(weight)
    centre = float(np.median(target if is_used is None else target[is_used]))
    y = target - centre  # differences keep digits that would be lost in the squares of numbers far from 0
    leaves = route_table(tree, table, None, 0)
    if weight is None:
        rows = presort.sorted_rows(y).astype(np.int64)
    else:
        rows = np.lexsort((weight, y))
        rows = rows[weight[rows] > 0]
    of_leaves = node_moments.leaf_moments(leaves, rows, y, np.zeros(0) if weight is None else weight, tree.n_nodes)
    total, mean, sse = node_moments.moments_upwards(tree.parent, *of_leaves)
    return Moments(tree, write_protect(total), write_protect(mean + centre), write_protect(sse), sample)


def apply(tree: Tree, X: Any) -> Ints:
    """Return the leaf of the tree that each row reaches.

    Parameters
    ----------
    tree : Tree
        A tree with splits, as `grow` returns it.
    X : array, data frame, path or Table
        The rows.

    Examples
    --------
    >>> import secateur
    >>> tree, _ = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> apply(tree, [[0.0], [9.0]]).tolist()
    [1, 2]
    """
    return route_table(tree, encode(X, schema=schema_of(tree)), None, 0)


def route_table(tree: Tree, table: Table, rows: Array | None, node: int) -> Ints:
    """Return the leaf below `node` that each of the given rows of a table reaches (None: all rows)."""
    if not tree.has_tests:
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree can route rows")
    has_thresholds_only = len(tree.branch) == 0 and tree.surrogates is None
    if table.matrix is not None and has_thresholds_only:
        return route_matrix(tree, table.matrix if rows is None else write_protect(table.matrix[rows]), node)
    leaves = np.empty(table.n_rows if rows is None else len(rows), np.int32)
    first = 0
    for matrix in iter_blocks(table, tree.tested_columns, rows):
        _route(tree, matrix, node, leaves[first : first + len(matrix)], has_all_columns=False)
        first += len(matrix)
    return write_protect(leaves)


def route_matrix(tree: Tree, matrix: Array, node: int = 0) -> Ints:
    """Return the leaf below `node` that each row of a matrix of all columns reaches; categories are codes."""
    leaves = np.empty(len(matrix), np.int32)
    _route(tree, matrix, node, leaves, has_all_columns=True)
    return write_protect(leaves)


def _route(tree: Tree, matrix: Array, node: int, out: Ints, *, has_all_columns: bool) -> None:
    """Write the leaf of each row of a matrix to `out`; the matrix has all columns or those in `tree.tested_columns`."""
    if tree.surrogate_tests is not None:
        feature = tree.feature_of_all_splits if has_all_columns else tree.tested_position
        route.route_surrogates(matrix, node, feature, *tree.surrogate_tests, out)
    elif len(tree.branch) == 0:
        route.route_packed(matrix, tree.packed if has_all_columns else tree.packed_tested, node, out)
    else:
        feature = tree.feature if has_all_columns else tree.tested_position
        tests = (tree.threshold, tree.branch_start, tree.branch, tree.default, *tree.child_lists)
        route.route_any(matrix, node, feature, *tests, out)


def decision_path(tree: Tree, leaves: Ints) -> tuple[Array, Ints]:
    """Return the nodes on the path of each row, the root first, as (offsets, nodes) of a sparse matrix."""
    offsets = route.path_offsets(tree.depth, leaves)
    return offsets, route.leaf_paths(tree.parent, leaves, offsets)


def schema_of(tree: Tree) -> Schema:
    """Return the schema of a tree; raise `TreeError` if it has none."""
    if tree.schema is None:
        raise TreeError(f"{tree} has no schema; only a tree that was grown on a table can route rows")
    return tree.schema
