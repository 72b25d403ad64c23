"""Route rows through a tree once, into leaves and counts."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from .._kernels import node_moments, presort, route, structure
from ..data.arrays import Array, Ints, sealed
from ..data.encoding import encode
from ..data.sketch import Sketch
from ..data.table import Schema, Table
from ..data.target import check_weights, summable
from ..errors import DataError, TreeError
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.seen import Ledger, Seen, SeenSample
from ..nouns.tree import Tree

ROWS_AT_ONCE = 1 << 14  # rows of mixed tables copied into one matrix: stays in the cache


def count(
    tree: Tree, X: Any, y: Any = None, *, sample_weight: Any = None, sample: str = "prune", sketch: bool = True
) -> Any:
    """Return the class counts of a sample in every node of a tree; of a regression tree, its moments.

    Parameters
    ----------
    tree : Tree
        A tree with tests, as `grow` returns it.
    X : array, data frame, path or Table
        Rows with the columns the tree was grown on: matched by name where both have names.
    y : array or column name
        The class of each row (regression: its number). A class that growing did not see
        counts as an error everywhere.
    sample_weight : array, optional
        Whole-number weights keep the counts whole.
    sample : str
        Name of the sample.
    sketch : bool
        Whether the counts remember which rows they were made from, by a small sketch of hashes.
        Without it no certificate can tell whether the rows are fresh, and says so.

    Returns
    -------
    Counts or Moments
        Rows are routed once; everything else is a function of the tree and these counts.
        They do not depend on the order of the rows.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> held_out = secateur.count(tree, [[0.0], [5.0], [9.0]], ["no", "no", "yes"])
    >>> held_out.by_class.tolist()
    [[2, 1], [1, 0], [1, 1]]

    A regression tree is counted by weight, mean and squared error:

    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], [1.0, 1.0, 7.5], criterion="squared_error")
    >>> secateur.count(tree, [[0.0], [5.0], [9.0]], [1.0, 2.0, 6.0]).mean.tolist()
    [3.0, 1.0, 4.0]
    """
    schema = _schema_of(tree)
    table = encode(X, schema=schema, target=y)
    target = table.target
    if target is None:
        raise DataError("y is None and the table has no target; counting needs the class or number of each row")
    weight = check_weights(sample_weight, table.n_rows)
    weight = None if weight is None else summable(weight)
    is_used = None if weight is None or weight.all() else weight > 0
    about: dict[str, Any] = {
        "n_rows": table.n_rows if is_used is None else int(np.count_nonzero(is_used)),
        "sketch": sketch_of(tree, table, is_used) if sketch else None,
    }
    if schema.has_numeric_target:
        return replace(moments_of(tree, table, weight, sample), **about)
    if schema.classes is None:
        raise TreeError(f"{tree} was grown without a target; only a tree that knows its classes can count them")
    n_classes = max(len(schema.classes), int(target.max()) + 1)  # one more where labels are new
    is_whole = weight is None or bool((weight == np.rint(weight)).all())
    own = np.zeros((tree.n_nodes, n_classes), np.int64 if is_whole else np.float64)
    given = np.zeros(0, own.dtype) if weight is None else weight.astype(own.dtype)
    route.count_leaves(apply(tree, table), target, given, own)
    return Counts(tree, sealed(structure.sum_upwards(tree.parent, own)), sample, **about)


def sketch_of(tree: Tree, table: Table, is_used: Array | None = None) -> Sketch:
    """Return the sketch of the rows of a table; `is_used` leaves out rows of weight 0."""
    target, schema = table.target, table.schema
    assert target is not None
    key, rows = tree.row_key, None if is_used is None else np.flatnonzero(is_used)
    n_classes = None if schema.classes is None else len(schema.classes) + 1
    answer = target if rows is None else target[rows]
    return key.sketch(_values(table, np.array(key.columns, np.intp), rows), answer, n_classes)


def remembered(counts: Any, table: Table, is_used: Array | None = None) -> Any:
    """Return the counts of a growing sample with a sketch of its rows, on a tree that knows what grew it."""
    return with_history(counts, sketch_of(counts.tree, table, is_used))


def with_history(counts: Any, sketch: Sketch) -> Any:
    """Return the counts of a growing sample with this sketch, on a tree that knows what grew it."""
    history = Seen([SeenSample(counts.sample, sketch)])
    # Both were checked when they were made; nothing of what was checked changes.
    tree = object.__new__(Tree)
    tree.__dict__.update(counts.tree.__dict__, history=history, ledger=Ledger())
    new = {"tree": tree, "n_rows": sketch.n_rows, "sketch": sketch}
    grown = object.__new__(type(counts))
    grown.__dict__.update({f.name: getattr(counts, f.name) for f in fields(counts)} | new)
    return grown


def moments_of(tree: Tree, table: Table, weight: Array | None, sample: str) -> Moments:
    """Return the moments of a table with a numeric target, in its canonical order: sums do not depend on the rows'."""
    target = table.target
    assert target is not None
    if weight is not None and not weight.all():
        used = np.flatnonzero(weight)
        centre = float(np.median(target[used]))
    else:
        centre = float(np.median(target))
    y = target - centre  # differences keep the digits that numbers far from 0 would lose
    leaves = route_from(tree, table, None, 0)
    if weight is None:
        rows = presort.sorted_rows_64(y).astype(np.int64)
    else:
        rows = np.lexsort((weight, y))
        rows = rows[weight[rows] > 0]
    given = np.zeros(0) if weight is None else weight
    own = node_moments.leaf_moments(leaves, rows, y, given, tree.n_nodes)
    total, mean, spread = node_moments.moments_upwards(tree.parent, *own)
    return Moments(tree, sealed(total), sealed(mean + centre), sealed(spread), sample)


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
    schema = _schema_of(tree)
    table = encode(X, schema=schema)
    return route_from(tree, table, None, 0)


def route_from(tree: Tree, table: Table, rows: Array | None, node: int) -> Ints:
    """Return the leaf under `node` that each of the given rows of a table reaches (None: all rows)."""
    if not tree.has_tests:
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree can route rows")
    n = table.n_rows if rows is None else len(rows)
    leaves = np.empty(n, np.int32)
    is_plain = _is_plain(tree)
    if table.matrix is not None and is_plain:
        matrix = table.matrix if rows is None else sealed(table.matrix[rows])
        route.route_packed(matrix, tree.packed, node, leaves)
        return sealed(leaves)
    tests = (tree.threshold, tree.branch_start, tree.branch, tree.default, *tree.child_lists)
    (used, feature), first = tree.tested, 0
    for matrix in _blocks(table, used, rows):
        out = leaves[first : first + len(matrix)]
        if is_plain:
            route.route_packed(matrix, tree.packed_tested, node, out)
        else:
            route.route_any(matrix, node, feature, *tests, out)
        first += len(matrix)
    return sealed(leaves)


def decision_path(tree: Tree, leaves: Ints) -> tuple[Array, Ints]:
    """Return the nodes on each row's path, root first, as (offsets, nodes) of a sparse matrix."""
    offsets = route.path_lengths(tree.depth, leaves)
    return offsets, route.paths(tree.parent, leaves, offsets)


def _is_plain(tree: Tree) -> bool:
    """Whether every test compares a number: two children, no categories."""
    return len(tree.branch) == 0


def _values(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """As `_blocks`, in the type of the table where it is one matrix."""
    if table.matrix is None or rows is not None or not table.matrix.flags.c_contiguous:
        yield from _blocks(table, used, rows)
        return
    for first in range(0, table.n_rows, ROWS_AT_ONCE):
        some = table.matrix[first : first + ROWS_AT_ONCE]
        yield some if len(used) == table.n_columns else some.take(used, axis=1)


def _blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """Some columns of a few rows at a time, as one matrix of numbers; missing and unseen categories are NaN."""
    n = table.n_rows if rows is None else len(rows)
    block = np.empty((min(n, ROWS_AT_ONCE), max(len(used), 1)))
    for first in range(0, n, ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE) if rows is None else rows[first : first + ROWS_AT_ONCE]
        matrix = block[: n - first]
        for k, j in enumerate(used):
            column = table.columns[j][some]
            matrix[:, k] = column
            if table.schema.columns[j].kind == "nominal" and column.min() < 0:
                matrix[column < 0, k] = np.nan
        yield matrix[:, : len(used)]


def _schema_of(tree: Tree) -> Schema:
    if tree.schema is None:
        raise TreeError(f"{tree} does not know its columns; only a tree that was grown on a table can route rows")
    return tree.schema
