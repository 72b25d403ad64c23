"""Where the rows of a table end up in a tree, and what is remembered of them."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from .._kernels import node_moments, presort, route
from .._utils.arrays import Array, Ints, write_protect
from ..core import EvaluationLog, Moments, SampleUsage, Tree, UsedSample
from ..data.encoding import encode
from ..data.sketch import Sketch
from ..data.table import Schema, Table, iter_blocks, iter_native_blocks
from ..errors import TreeError


def sketch_of(tree: Tree, table: Table, is_used: Array | None = None, at: Sequence[int] | None = None) -> Sketch:
    """Return the sketch of the rows of a table.

    `is_used` leaves out rows of weight 0; `at` says where the key columns are, if they have moved.
    """
    classes, rows = table.schema.classes, None if is_used is None else np.flatnonzero(is_used)
    used = np.array(tree.row_key.columns if at is None else at, np.intp)
    required_target = table.required_target if rows is None else table.required_target[rows]
    n_classes = None if classes is None else len(classes) + 1
    return tree.row_key.sketch(iter_native_blocks(table, used, rows), required_target, n_classes)


def used_rows(weight: Array | None, n_rows: int) -> tuple[Array | None, int]:
    """Return which rows have a weight above 0 (None: all of them), and how many."""
    is_used = None if weight is None or weight.all() else weight > 0
    return is_used, n_rows if is_used is None else int(np.count_nonzero(is_used))


def with_growing_rows(counts: Any, table: Table, is_used: Array | None = None) -> Any:
    """Return the counts of a growing sample with a sketch of its rows, on a tree that knows what grew it."""
    return with_growing_sketch(counts, sketch_of(counts.tree, table, is_used))


def with_growing_sketch(counts: Any, sketch: Sketch) -> Any:
    """Return the counts of a growing sample with this sketch, on a tree that knows what grew it."""
    # Both were checked when they were made; nothing of what was checked changes.
    grown, tree = object.__new__(type(counts)), object.__new__(Tree)
    grown.__dict__.update({f.name: getattr(counts, f.name) for f in fields(counts)})
    tree.__dict__.update(
        counts.tree.__dict__, history=SampleUsage([UsedSample(counts.sample, sketch)]), evaluation_log=EvaluationLog()
    )
    grown.__dict__.update(tree=tree, n_rows=sketch.n_rows, sketch=sketch)
    return grown


def moments_of(tree: Tree, table: Table, weight: Array | None, sample: str) -> Moments:
    """Return the moments of a table with a numeric target, in its canonical order: sums do not depend on the rows'."""
    target = table.required_target
    is_used, _ = used_rows(weight, table.n_rows)
    centre = float(np.median(target if is_used is None else target[is_used]))
    y = target - centre  # differences keep the digits that numbers far from 0 would lose
    leaves = route_table(tree, table, None, 0)
    if weight is None:
        rows = presort.sorted_rows(y).astype(np.int64)
    else:
        rows = np.lexsort((weight, y))
        rows = rows[weight[rows] > 0]
    own = node_moments.leaf_moments(leaves, rows, y, np.zeros(0) if weight is None else weight, tree.n_nodes)
    total, mean, spread = node_moments.moments_upwards(tree.parent, *own)
    return Moments(tree, write_protect(total), write_protect(mean + centre), write_protect(spread), sample)


def apply(tree: Tree, X: Any) -> Ints:
    """Return the leaf that each row reaches.

    Parameters
    ----------
    tree : Tree
    X : array, data frame, path or Table

    Examples
    --------
    >>> import secateur
    >>> tree, _ = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> apply(tree, [[0.0], [9.0]]).tolist()
    [1, 2]
    """
    return route_table(tree, encode(X, schema=schema_of(tree)), None, 0)


def route_table(tree: Tree, table: Table, rows: Array | None, node: int) -> Ints:
    """Return the leaf under `node` that each of the given rows of a table reaches (None: all rows)."""
    if not tree.has_tests:
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree can route rows")
    if table.matrix is not None and len(tree.branch) == 0 and tree.surrogates is None:  # every test compares a number
        return route_matrix(tree, table.matrix if rows is None else write_protect(table.matrix[rows]), node)
    leaves = np.empty(table.n_rows if rows is None else len(rows), np.int32)
    first = 0
    for matrix in iter_blocks(table, tree.tested[0], rows):
        _route(tree, matrix, node, leaves[first : first + len(matrix)], is_whole=False)
        first += len(matrix)
    return write_protect(leaves)


def route_matrix(tree: Tree, matrix: Array, node: int = 0) -> Ints:
    """Return the leaf under `node` that each row of a matrix of all columns reaches, categories as their codes."""
    leaves = np.empty(len(matrix), np.int32)
    _route(tree, matrix, node, leaves, is_whole=True)
    return write_protect(leaves)


def _route(tree: Tree, matrix: Array, node: int, out: Ints, *, is_whole: bool) -> None:
    """Write the leaf of each row of a matrix, which has all columns or those in `tree.tested`."""
    if tree.surrogates is not None:
        feature = np.append(tree.feature, tree.surrogates.feature) if is_whole else tree.tested[1]
        route.route_surrogates(matrix, node, feature, *tree.surrogate_tests, out)
    elif len(tree.branch) == 0:
        route.route_packed(matrix, tree.packed if is_whole else tree.packed_tested, node, out)
    else:
        tests = (tree.threshold, tree.branch_start, tree.branch, tree.default, *tree.child_lists)
        route.route_any(matrix, node, tree.feature if is_whole else tree.tested[1], *tests, out)


def decision_path(tree: Tree, leaves: Ints) -> tuple[Array, Ints]:
    """Return the nodes on each row's path, root first, as (offsets, nodes) of a sparse matrix."""
    offsets = route.path_offsets(tree.depth, leaves)
    return offsets, route.leaf_paths(tree.parent, leaves, offsets)


def schema_of(tree: Tree) -> Schema:
    if tree.schema is None:
        raise TreeError(f"{tree} has no schema; only a tree that was grown on a table can route rows")
    return tree.schema
