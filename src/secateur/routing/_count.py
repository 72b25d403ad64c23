"""Counting the rows of a sample in every node: in memory, or as a task that an engine runs where the data are.

A task takes one batch of rows and returns one tally. Engines know nothing about trees: they ask the task which columns
to read (`columns`), call the task on every batch, and merge the tallies. Anything additive can be computed in this way.
Workers receive the tree with the columns it needs, and no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from .._utils.arrays import Array, Ints
from .._utils.checks import check_name
from .._utils.warn import format_names, warn
from ..core import GroupedRows, TargetRows, Tree
from ..data.batch import Batch, batch_from_frame
from ..data.encoding import Unseen, encode, encode_batch
from ..data.groups import group_numbers, hash_groups, split_off_groups
from ..data.raw_column import ValueType, value_type
from ..data.table import Column, Schema, Table
from ..data.target import class_numbers, encode_numeric_target, is_unlabelled
from ..data.weights import WeightedRows, check_weights, read_weights, round_for_exact_sums
from ..errors import DataError, ParameterError, SchemaError, TreeError, Wording, show
from ._rows import moments_of, route_table, schema_of, sketch_of
from ._tally import ClassTally, NumberTally, empty_tally, format_new_labels, tally_of

# At most five groups of at least a hundred rows are probably population groups.
MAX_FEW_GROUPS, MIN_ROWS_OF_FEW_GROUPS = 5, 100
EMPTY_COLUMN = Column("", "numeric")  # for a tree that is a single leaf: a schema needs at least one column


def count(
    tree: Tree,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    sample: str = "prune",
    sketch: bool = True,
    groups: Any = None,
) -> Any:
    """Return the class counts of a sample in every node of a tree; for a regression tree, the moments.

    Parameters
    ----------
    tree : Tree
        A tree with splits, as `grow` returns it.
    X : array, data frame, path or Table
        Rows with the columns the tree was grown on: matched by name where both have names.
    y : array or column name
        The class (for regression: the number) of each row. Rows of a class that growing did not see count as errors
        in all nodes.
    sample_weight : array, optional
        The weight of each row. Integer weights give integer counts.
    sample : str
        Name of the sample.
    sketch : bool
        Whether to store a small sketch of hashes of the rows. Without it, certificates cannot check whether the rows
        are fresh, and state so.
    groups : array or column name, optional
        The group of each row, such as its patient or household: text or whole numbers. Rows of one group are no
        independent draws, so certificates then count groups.

    Returns
    -------
    Counts or Moments
        The counts do not depend on the order of the rows. Rules and certificates need only the tree and its counts,
        so rows are routed once.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> held_out = secateur.count(tree, [[0.0], [5.0], [9.0]], ["no", "no", "yes"])
    >>> held_out.by_class.tolist()
    [[2, 1], [1, 0], [1, 1]]

    For a regression tree, the result contains the weight, mean and squared error of each node:

    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], [1.0, 1.0, 7.5], criterion="squared_error")
    >>> secateur.count(tree, [[0.0], [5.0], [9.0]], [1.0, 2.0, 6.0]).mean.tolist()
    [3.0, 1.0, 4.0]
    """
    schema = schema_of(tree)
    X, labels = split_off_groups(X, groups)
    table = encode(X, schema=schema, target=y)
    if table.target is None:
        raise DataError("y is None and the table has no target; counting needs the class or number of each row")
    weight = check_weights(sample_weight, table.n_rows)
    weight = None if weight is None else round_for_exact_sums(weight)
    rows = WeightedRows(table, weight, None if labels is None else hash_groups(labels, table.n_rows))
    if schema.has_numeric_target:
        row_sketch = sketch_of(tree, table, rows.is_used(), groups=rows.groups) if sketch else None
        moments = moments_of(tree, table, weight, sample)
        return replace(moments, n_rows=rows.n_used, sketch=row_sketch, rows=_target_rows(tree, rows))
    if schema.classes is None:
        raise TreeError(f"{tree} was grown without a target; only a tree with classes can count them")
    key_columns = tree.row_key.columns if sketch else None
    has_exact_floats = weight is not None and bool((weight % 1).any())
    counts = tally_of(tree, table, weight, key_columns, has_exact_floats=has_exact_floats).finish(tree, sample)
    return counts if rows.groups is None else _with_groups(counts, rows)


def _with_groups(counts: Any, rows: WeightedRows) -> Any:
    """Return class counts with the leaf, class and group of each row; equal rows of a group are sketched once."""
    used = rows.drop_weightless()
    assert used.groups is not None
    numbers, sizes = group_numbers(used.groups)
    if len(sizes) <= MAX_FEW_GROUPS and len(numbers) >= MIN_ROWS_OF_FEW_GROUPS:
        warn(
            f"the {len(numbers):,} rows are in {len(sizes)} groups of rows that belong together, too few to certify "
            "anything; for population groups, such as women and men, use ",
            Wording("count_groups, or group= in place of groups=", "--group in place of --groups"),
        )
    grouped = GroupedRows(route_table(counts.tree, used.table, None, 0), used.table.required_target, numbers)
    row_sketch = None if counts.sketch is None else sketch_of(counts.tree, used.table, groups=used.groups)
    return replace(counts, grouped=grouped, sketch=row_sketch)


def _target_rows(tree: Tree, rows: WeightedRows) -> TargetRows | None:
    """Return the leaf, number and, if known, group of each row; None if rows have weights other than 0 and 1."""
    used = rows.drop_weightless().without_unit_weights()
    if used.weight is not None:
        return None
    leaves, target = route_table(tree, used.table, None, 0), used.table.required_target
    if used.groups is None:
        return TargetRows.sorted_by_leaf(leaves, target)
    return GroupedRows(leaves, target, group_numbers(used.groups)[0])


@dataclass(frozen=True)
class CountTask:
    """The task of counting rows of each class (or of computing the moments of a number) in each leaf of a tree.

    Parameters
    ----------
    tree : Tree
        The tree, with a schema that contains only the columns that are read.
    names : tuple of str
        The names of these columns in the source.
    target, weight : str
        Names of the target and weight columns in the source. If `weight` is None, every row counts once.
    unseen : str
        How a category is routed that growing did not see.
    key_columns : tuple of int, optional
        The positions in `names` of the columns of the row key, by which the rows are sketched. None if they are not
        sketched, because the source lacks one of these columns.
    missing_target : "drop" or "error"
        Whether rows without a target are left out or refused.
    """

    tree: Tree
    names: tuple[str, ...]
    target: str
    weight: str | None
    unseen: Unseen
    key_columns: tuple[int, ...] | None = None
    missing_target: str = "error"

    @property
    def schema(self) -> Schema:
        """The columns that are read, and the classes."""
        assert self.tree.schema is not None
        return self.tree.schema

    @property
    def tested(self) -> tuple[Column, ...]:
        """The columns that are read, without target and weight."""
        return self.schema.columns[: len(self.names)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the source of all columns that are read, including target and weight."""
        extra = () if self.weight is None else (self.weight,)
        return (*self.names, self.target, *extra)

    @property
    def needed(self) -> dict[str, ValueType | None]:
        """The type of the values that each column must have; None for columns without values in growing."""
        needed = {
            name: "number" if column.kind == "numeric" else value_type(column.categories)
            for column, name in zip(self.tested, self.names, strict=True)
        }
        classes = self.schema.classes
        needed[self.target] = "number" if classes is None else value_type(classes.tolist())
        return needed if self.weight is None else {**needed, self.weight: "number"}

    def empty(self) -> ClassTally | NumberTally:
        """Return the tally of no rows."""
        return empty_tally(self.tree)

    def __call__(self, batch: Any, first: int = 0) -> ClassTally | NumberTally:
        """Return the tally of one batch; messages number its rows from `first`."""
        data = batch_from_frame(batch)
        n_rows = data.n_rows
        if n_rows == 0:
            return self.empty()
        data.check_columns(self.columns)
        data = self.labelled_rows(data)
        if data.n_rows == 0:
            return replace(self.empty(), n_unlabelled=n_rows)
        table = self._features(data)
        target, new_labels = self._read_target(data, first)
        weight = None
        if self.weight is not None:
            weight = read_weights(data.read(self.weight), f"weight {show(self.weight)}", first)
        tally = tally_of(self.tree, replace(table, target=target), weight, self.key_columns)
        tally.new_labels, tally.n_unlabelled = format_new_labels(new_labels), n_rows - data.n_rows
        return tally

    def labelled_rows(self, data: Batch) -> Batch:
        """Return the rows with a target, if rows without one are dropped."""
        if self.missing_target == "drop":
            is_missing = is_unlabelled(data.read(self.target), self.schema.classes)
            if is_missing.any():
                return data.filter(~is_missing)
        return data

    def _read_target(self, data: Batch, first: int) -> tuple[Array, list[object]]:
        """Return the class numbers (or the numbers) of the target, and the labels that growing did not see."""
        labels, classes = data.read(self.target), self.schema.classes
        description = f"target {show(self.target)}"
        if classes is None:
            return encode_numeric_target(labels, description, first), []
        return class_numbers(labels, classes, description, first)

    def leaves(self, batch: Any) -> Ints:
        """Return the leaf of each row of a batch."""
        return route_table(self.tree, self._features(batch_from_frame(batch)), None, 0)

    def _features(self, batch: Batch) -> Table:
        """Return the table of the columns that the tree reads."""
        if not self.names:
            return Table(self.schema, (np.zeros(batch.n_rows),))
        return encode_batch(batch.select([batch.names.index(name) for name in self.names]), self.schema, self.unseen)


def plan_count(
    tree: Tree,
    source: tuple[str, ...],
    target: str,
    weight: str | None = None,
    unseen: Unseen = "majority-branch",
    where: str = "the source",
    ignore: Sequence[str] = (),
    missing_target: str = "error",
) -> CountTask:
    """Return the task of counting the rows of a source; raise `SchemaError` if the source lacks a column.

    Parameters
    ----------
    tree : Tree
        A tree with splits and a schema.
    source : tuple of str
        Names of the columns of the source.
    target, weight : str
        Names of the target and weight columns.
    unseen, missing_target : str
        As for `CountTask`.
    where : str
        The source, in words, for messages.
    ignore : sequence of str
        Names of columns of the source that the tree does not use.
    """
    schema = schema_of(tree)
    if not tree.has_tests:
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree can route rows")
    if not schema.has_target:
        raise TreeError(f"{tree} has no classes; only a tree grown with a target can count rows")
    check_name("unseen", unseen, get_args(Unseen))
    check_name("missing_target", missing_target, ("drop", "error"))
    for name, what in ((target, "target"), (weight, "sample_weight"), *((name, "ignore") for name in ignore)):
        if name is not None and not isinstance(name, str):
            raise ParameterError(f"{what} is a {type(name).__name__}; the name of a column of {where} is needed")
        if name is not None and name not in source:
            raise SchemaError(f"{where} has no column {show(name)} ({what}=); its columns are {format_names(source)}")
    source = tuple(name for name in source if name not in ignore)
    used, key, key_columns = tree.tested_columns, tree.row_key, None
    if not schema.has_names or {schema.names[j] for j in key.columns} <= set(source):
        # The key has other columns than the tree if the tree was cut from a larger one, or grown on by hand.
        used = np.union1d(used, np.array(key.columns, np.int32)).astype(np.int32)
        key_columns = tuple(np.searchsorted(used, key.columns).tolist())
    names = _source_names(schema, source, used, (target, weight), where)
    new_number = np.full(len(schema.columns) + 1, -1, np.int32)  # the last entry is that of -1, the feature of leaves
    new_number[used] = np.arange(len(used))
    surrogates = tree.surrogates
    if surrogates is not None:
        surrogates = replace(surrogates, feature=new_number[surrogates.feature])
    columns = tuple(schema.columns[j] for j in used) or (EMPTY_COLUMN,)
    small = Tree(
        tree.parent, new_number[tree.feature], tree.threshold, tree.branch_start, tree.branch, tree.default, key=key,
        schema=replace(schema, columns=columns), surrogates=surrogates,
    )  # fmt: skip
    return CountTask(small, names, target, weight, unseen, key_columns, missing_target)


def _source_names(
    schema: Schema, source: tuple[str, ...], used: Array, not_features: tuple[str | None, ...], where: str
) -> tuple[str, ...]:
    """Return the name in the source of each column that is read.

    Columns are matched by name or, if the tree was grown without names, by position among the columns of the source
    other than `not_features`.
    """
    if not schema.has_names:
        features = [name for name in source if name not in not_features]
        if len(features) != len(schema.columns):
            raise SchemaError(
                f"{where} has {len(features)} columns besides the target, but the tree was grown on "
                f"{len(schema.columns)} columns without names; as many are needed, in the same order"
            )
        return tuple(features[j] for j in used)
    names = tuple(schema.names[j] for j in used)
    missing = [name for name in names if name not in source]
    if missing:
        raise SchemaError(
            f"{where} lacks the columns {format_names(missing)}, which the tree tests (it has {format_names(source)}); "
            "add or rename them"
        )
    return names
