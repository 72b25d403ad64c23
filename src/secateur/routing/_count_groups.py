"""Counting a sample by population group: the rows of each group and class in every node of a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Ints, write_protect
from ..core import Counts, PopulationGroups, Tree
from ..data.batch import cell_types_for, open_batch
from ..data.encoding import encode
from ..data.population import PopulationColumn, drop_unneeded_columns, population_labels, read_population
from ..data.raw_column import CategoryColumn, NumberColumn
from ..data.table import Table
from ..data.target import drop_unlabelled_rows
from ..errors import ParameterError, UnsupportedError, show
from ._count import count
from ._rows import route_table, schema_of


def count_groups(
    tree: Tree,
    X: Any,
    y: Any = None,
    *,
    group: Any,
    values: Any = None,
    sample: str = "certify",
    sketch: bool = True,
) -> Counts:
    """Return the class counts of a sample in every node of a tree, also by population group, such as women and men.

    Population groups divide the rows; the rows remain independent draws. For rows that belong together, such as the
    visits of one patient, use the parameter `groups` of `count`.

    Parameters
    ----------
    tree : Tree
        A classification tree with splits, as `grow` returns it.
    X : array, data frame, path or Table
        Rows with the columns the tree was grown on. Other columns with names are ignored.
    y : array or column name
        The class of each row.
    group : str, array-like, dict of str to either, or list of str
        The population group of each row: the name of a column of `X`, which the tree need not know, or one value per
        row (text, booleans or numbers). Several columns that are to be certified together are passed by name, such as
        `["sex", "region"]` or `{"sex": "sex", "age": age_bands}`. Missing values form a group "(missing)".
    values : sequence, optional
        All values of the column that are possible. A value without rows is then a group without rows, and other values
        are refused. For several columns, a dict by name. By default the values that occur (and, of a categorical type,
        all that it declares).
    sample : str
        Name of the sample.
    sketch : bool
        As for `count`.

    Returns
    -------
    Counts
        The counts that `count` returns, whose `populations` has one `PopulationGroups` for each column. They can be
        used wherever counts can, and `certify_groups` needs them.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> counts = secateur.count_groups(tree, [[0.0], [5.0], [9.0]], ["no", "no", "yes"], group=["f", "m", "f"])
    >>> counts.by_class.tolist()
    [[2, 1], [1, 0], [1, 1]]
    >>> counts.populations[0].names, counts.populations[0].by_class[0].tolist()
    (('f', 'm'), [[1, 1], [1, 0], [0, 1]])
    """
    if not isinstance(tree, Tree):
        raise UnsupportedError(
            f"tree is a {type(tree).__name__}; a Tree is needed, such as tree_ of a fitted estimator, whose "
            "certified_on takes group=, too"
        )
    schema = schema_of(tree)
    if schema.has_numeric_target:
        raise UnsupportedError("count_groups needs a classification tree: error rates of groups need classes")
    is_kept = None
    batch = None if isinstance(X, Table) else open_batch(X, cell_types=cell_types_for(schema, target=y))
    if batch is not None and isinstance(y, str) and y in batch.names:
        batch, is_kept = drop_unlabelled_rows(batch, y, classes=schema.classes)
    labels = population_labels(group, batch)
    if isinstance(y, str) and y in labels:
        raise ParameterError(f"group={show(y)} is the target; a column that divides the rows is needed")
    rows = X if batch is None else drop_unneeded_columns(batch, group, labels, schema, y)
    table = encode(rows, schema=schema, target=y, strict=False)
    counts: Counts = count(tree, table, sample=sample, sketch=sketch)
    columns = _read_columns(labels, values, is_kept, table.n_rows)
    leaves = route_table(tree, table, None, 0)
    populations = [_count_population(counts, leaves, table.required_target, column) for column in columns]
    return replace(counts, populations=tuple(populations))


def _read_columns(labels: Mapping[str, Any], values: Any, is_kept: Array | None, n_rows: int) -> list[PopulationColumn]:
    """Return the population columns; `is_kept` states which rows have a target, if some have none."""
    values_by_column: dict[str, Sequence[Any] | None] = dict.fromkeys(labels)
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in labels]
        if unknown:
            raise ParameterError(f"values names {show(unknown[0])}, but the columns are {show(list(labels))}")
        values_by_column |= values
    elif values is not None:
        if len(labels) > 1:
            raise ParameterError("values is one list for several columns; a dict of lists by name is needed")
        values_by_column = dict.fromkeys(labels, values)
    columns = []
    for name, column in labels.items():
        if is_kept is None or isinstance(column, NumberColumn | CategoryColumn):  # a column of the rows that are kept
            columns.append(read_population(column, name, n_rows, values_by_column[name]))
            continue
        found = read_population(column, name, len(is_kept), values_by_column[name])
        columns.append(replace(found, codes=found.codes[is_kept]))
    return columns


def _count_population(counts: Counts, leaves: Ints, target: Array, column: PopulationColumn) -> PopulationGroups:
    """Return the rows of each group and class in every node, given the leaf and the class of each row."""
    tree, n_classes, n_groups = counts.tree, counts.n_classes, len(column.names)
    cells = (column.codes.astype(np.int64) * tree.n_nodes + leaves) * n_classes + target
    by_class = np.bincount(cells, minlength=n_groups * tree.n_nodes * n_classes).astype(np.int64)
    by_class = by_class.reshape(n_groups, tree.n_nodes, n_classes)
    for i in range(n_groups):
        by_class[i] = structure.sum_upwards(tree.parent, np.ascontiguousarray(by_class[i]))
    return PopulationGroups(column.column, column.names, write_protect(by_class))
