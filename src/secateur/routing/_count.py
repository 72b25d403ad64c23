"""Counting the rows of a sample in every node: in memory, or as a task that an engine carries to the data.

A task takes one batch of rows and returns one tally. An engine knows nothing of trees: it asks a task
which columns to read (`columns`), calls it on every batch and adds up what comes back; anything
additive can be computed so. What travels to workers is the tree with the columns it needs, and no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from .._utils.arrays import Array, Ints
from .._utils.checks import check_name
from .._utils.warn import format_names
from ..core import Tree
from ..data.batch import Batch, batch_from_frame
from ..data.column_encoding import Unseen, encode_batch
from ..data.encoding import encode
from ..data.raw_column import ValueType, value_type
from ..data.table import Column, Schema, Table
from ..data.target import class_numbers, encode_numeric_target, is_unlabelled
from ..data.weights import check_weights, read_weights, round_for_exact_sums
from ..errors import DataError, ParameterError, SchemaError, TreeError
from ._rows import moments_of, route_table, schema_of, sketch_of, used_rows
from ._tally import ClassTally, NumberTally, empty_tally, format_new_labels, tally_of

NOTHING = Column("", "numeric")  # what a single leaf is given to read: a table has one column at least


def count(
    tree: Tree, X: Any, y: Any = None, *, sample_weight: Any = None, sample: str = "prune", sketch: bool = True
) -> Any:
    """Return the class counts of a sample in every node of a tree; for a regression tree, the moments.

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
    schema = schema_of(tree)
    table = encode(X, schema=schema, target=y)
    if table.target is None:
        raise DataError("y is None and the table has no target; counting needs the class or number of each row")
    weight = check_weights(sample_weight, table.n_rows)
    weight = None if weight is None else round_for_exact_sums(weight)
    if schema.has_numeric_target:  # with all rows at hand the sums do not depend on their order
        is_used, n_rows = used_rows(weight, table.n_rows)
        known = sketch_of(tree, table, is_used) if sketch else None
        return replace(moments_of(tree, table, weight, sample), n_rows=n_rows, sketch=known)
    if schema.classes is None:
        raise TreeError(f"{tree} was grown without a target; only a tree with classes can count them")
    at = tree.row_key.columns if sketch else None
    is_summable = weight is not None and bool((weight % 1).any())
    return tally_of(tree, table, weight, at, is_summable=is_summable).finish(tree, sample)


@dataclass(frozen=True)
class CountTask:
    """Rows of each class (or the moments of a number) in each leaf of a tree.

    Parameters
    ----------
    tree : Tree
        Its schema holds the columns that are read and no others.
    names : tuple of str
        Their names in the source.
    target, weight : str
        Columns of the source; weight None counts every row once.
    unseen : str
        What becomes of a category that growing did not see.
    is_sketched : bool
        Whether the columns that tell rows apart are all among those that are read.
    missing_target : "drop" or "error"
        What becomes of rows without a target.
    """

    tree: Tree
    names: tuple[str, ...]
    target: str
    weight: str | None
    unseen: Unseen
    is_sketched: bool = True
    missing_target: str = "error"

    @property
    def schema(self) -> Schema:
        """What the columns mean."""
        assert self.tree.schema is not None
        return self.tree.schema

    @property
    def tested(self) -> tuple[Column, ...]:
        """The columns that are read."""
        return self.schema.columns[: len(self.names)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read, target and weight among them."""
        extra = () if self.weight is None else (self.weight,)
        return (*self.names, self.target, *extra)

    @property
    def needed(self) -> dict[str, ValueType | None]:
        """What each column must hold; None where the tree never saw a value."""
        needed = {
            name: "number" if about.kind == "numeric" else value_type(about.categories)
            for about, name in zip(self.tested, self.names, strict=True)
        }
        classes = self.schema.classes
        needed[self.target] = "number" if classes is None else value_type(classes.tolist())
        return needed if self.weight is None else {**needed, self.weight: "number"}

    def empty(self) -> ClassTally | NumberTally:
        """Return the tally of no rows."""
        return empty_tally(self.tree)

    def __call__(self, batch: Any, first: int = 0) -> ClassTally | NumberTally:
        """Return the tally of one batch; its rows are counted from `first` in messages."""
        given = batch_from_frame(batch)
        if given.n_rows == 0:
            return self.empty()
        given.check_columns(self.columns)
        n_rows = given.n_rows
        if self.missing_target == "drop":
            is_missing = is_unlabelled(given.read(self.target), self.schema.classes)
            if is_missing.any():
                given = given.filter(~is_missing)
        if given.n_rows == 0:
            return replace(self.empty(), n_unlabelled=n_rows)
        table, what = self._features(given), f"target {self.target!r}"
        new: list[object] = []
        labels, classes = given.read(self.target), self.schema.classes
        target: Array
        if classes is None:
            target = encode_numeric_target(labels, what, first)
        else:
            target, new = class_numbers(labels, classes, what, first)
        weight = None
        if self.weight is not None:
            weight = read_weights(given.read(self.weight), f"weight {self.weight!r}", first)
        at = range(len(self.names)) if self.is_sketched else None
        tally = tally_of(self.tree, replace(table, target=target), weight, at)
        tally.new_labels, tally.n_unlabelled = format_new_labels(new), n_rows - given.n_rows
        return tally

    def leaves(self, batch: Any) -> Ints:
        """Return the leaf of each row of a batch."""
        return route_table(self.tree, self._features(batch_from_frame(batch)), None, 0)

    def _features(self, given: Batch) -> Table:
        if not self.names:
            return Table(self.schema, (np.zeros(given.n_rows),))
        return encode_batch(given.select([given.names.index(name) for name in self.names]), self.schema, self.unseen)


def plan(
    tree: Tree,
    source: tuple[str, ...],
    target: str,
    weight: str | None = None,
    unseen: Unseen = "majority-branch",
    where: str = "the source",
    ignore: Sequence[str] = (),
    missing_target: str = "error",
) -> CountTask:
    """Return the task of counting a source with these columns; refuse a source that lacks some."""
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
            raise SchemaError(f"{where} has no column {name!r} ({what}=); its columns are {format_names(source)}")
    source = tuple(name for name in source if name not in ignore)
    used, key, is_sketched = tree.tested[0], tree.row_key, True
    if set(used.tolist()) != set(key.columns):  # cut from a larger tree, whose tests tell rows apart
        is_sketched = not schema.has_names or {schema.names[j] for j in key.columns} <= set(source)
        used = np.array(key.columns, np.int32) if is_sketched else used
    names = _names(schema, source, used, (target, weight), where)
    number = np.full(len(schema.columns) + 1, -1, np.int32)  # the last is where -1, a leaf, points
    number[used] = np.arange(len(used))
    others = tree.surrogates
    surrogates = None if others is None else replace(others, feature=number[others.feature])
    small = Tree(
        tree.parent, number[tree.feature], tree.threshold, tree.branch_start, tree.branch, tree.default, key=key,
        schema=replace(schema, columns=tuple(schema.columns[j] for j in used) or (NOTHING,)), surrogates=surrogates,
    )  # fmt: skip
    return CountTask(small, names, target, weight, unseen, is_sketched, missing_target)


def _names(
    schema: Schema, source: tuple[str, ...], used: Array, taken: tuple[str | None, ...], where: str
) -> tuple[str, ...]:
    """Return the name in the source of each column that is read: by name, or by position if the tree has no names."""
    if not schema.has_names:
        features = [name for name in source if name not in taken]
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
