"""The task that an engine carries to the data: one batch of rows in, one tally out.

An engine knows nothing of trees. It asks a task which columns to read (`columns`), calls it
on every batch and adds up what comes back; anything additive can be computed so. A
`CountTask` is arrays and column descriptions only: it is what travels to workers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._kernels import route
from ..data.arrays import Array, Ints, rebuilt
from ..data.columns import Coded, Given, Numbers, family_of
from ..data.encoding import Unseen, _later_column
from ..data.remarks import EXACT_WHOLE, listed
from ..data.sketch import RowKey
from ..data.table import Column, Schema
from ..data.target import numeric_target
from ..errors import DataError, ParameterError, SchemaError, TreeError
from ..nouns.tree import Tree
from ._batch import Batch, as_batch, read_column
from ._tally import ClassTally, NumberTally, shown_labels

ROWS_AT_ONCE = 1 << 14  # rows copied into one matrix: stays in the cache


@dataclass(frozen=True)
class CountTask:
    """Rows of each class (or the moments of a number) in each leaf of a tree.

    Parameters
    ----------
    tested : tuple of Column
        The columns that the tree tests, as they were when it was grown.
    names : tuple of str
        Their names in the source.
    target, weight : str
        Columns of the source; weight None counts every row once.
    classes : array or None
        The classes of the tree; None for a numeric target.
    unseen : str
        What becomes of a category that growing did not see.
    tests : dict of arrays
        The tree, its features numbered as in `tested`.
    key : RowKey, optional
        How rows are told apart; its columns are those of `tested`, in that order. None: not at all.
    """

    tested: tuple[Column, ...]
    names: tuple[str, ...]
    target: str
    weight: str | None
    classes: Array | None
    unseen: Unseen
    tests: dict[str, Array] = field(repr=False)
    key: RowKey | None = None

    def __post_init__(self) -> None:
        for name in ("feature", "threshold", "branch_start", "branch", "default"):
            self.tests[name].flags.writeable = False  # as in a Tree: the same compiled kernels serve both

    __reduce__ = rebuilt

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        extra = () if self.weight is None else (self.weight,)
        return (*self.names, self.target, *extra)

    @property
    def n_nodes(self) -> int:
        """Nodes of the tree."""
        return len(self.tests["feature"])

    def empty(self) -> ClassTally | NumberTally:
        """Return the tally of no rows."""
        n_unseen = np.zeros(len(self.tested), np.int64)
        if self.classes is None:
            return NumberTally(
                n_unseen, weight=np.zeros(self.n_nodes), mean=np.zeros(self.n_nodes), spread=np.zeros(self.n_nodes)
            )
        return ClassTally(n_unseen, limbs=[np.zeros((self.n_nodes, len(self.classes) + 1), np.int64)])

    def __call__(self, batch: Any, first: int = 0) -> Any:
        """Return the tally of one batch; its rows are counted from `first` in messages."""
        tally, given = self.empty(), as_batch(batch)
        if given.n_rows == 0:
            return tally
        given.check_has(self.columns)
        columns, tally.n_unseen = self._read(given)
        leaves = self._route(columns, given.n_rows)
        weight = None if self.weight is None else _weights(read_column(given, self.weight), self.weight, first)
        target = read_column(given, self.target)
        if self.classes is None:
            answer = _numbers(target, self.target, first)
        else:
            answer, new = class_numbers(target, self.classes, self.target, first)
            tally.n_new, tally.new_labels = int(np.count_nonzero(answer == len(self.classes))), shown_labels(new)
        tally.add(leaves, answer, weight)
        self._remember(tally, columns, answer, weight)
        return tally

    def _remember(self, tally: Any, columns: list[Array], answer: Array, weight: Array | None) -> None:
        """Number and sketch the rows, those of weight 0 left out."""
        used = None if weight is None or weight.all() else np.flatnonzero(weight)
        if used is not None:
            columns, answer = [column[used] for column in columns], answer[used]
        tally.n_used = len(answer)
        if self.key is not None:
            n_classes = None if self.classes is None else len(self.classes) + 1
            tally.sketch = self.key.sketch(_blocks(columns, len(answer)), answer, n_classes)

    def leaves(self, batch: Any) -> tuple[Ints, Array]:
        """Return the leaf of each row of a batch, and how many categories of each column are unknown."""
        given = as_batch(batch)
        columns, n_unseen = self._read(given)
        return self._route(columns, given.n_rows), n_unseen

    def _read(self, given: Batch) -> tuple[list[Array], Array]:
        """The tested columns of a batch as numbers and codes, and how many categories of each are unknown."""
        columns, n_unseen = [], np.zeros(len(self.tested), np.int64)
        for j, (about, name) in enumerate(zip(self.tested, self.names, strict=True)):
            read = read_column(given, name)
            if about.kind == "numeric" and isinstance(read, Numbers) and read.is_missing is None:
                columns.append(read.values)
            else:
                values, n_unseen[j] = _later_column(about, read, self.unseen, convert=False)
                columns.append(values if about.kind == "numeric" else np.where(values < 0, np.nan, values))
        return columns, n_unseen

    def _route(self, columns: list[Array], n_rows: int) -> Ints:
        leaves, tests, first = np.empty(n_rows, np.int32), self.tests, 0
        for matrix in _blocks(columns, n_rows):
            out = leaves[first : first + len(matrix)]
            first += len(matrix)
            if len(tests["branch"]) == 0:
                route.route_numeric(matrix, tests["feature"], tests["threshold"], tests["right"], tests["default"], out)
            else:
                route.route_any(
                    matrix,
                    0,
                    tests["feature"],
                    tests["threshold"],
                    tests["branch_start"],
                    tests["branch"],
                    tests["default"],
                    tests["child_start"],
                    tests["child"],
                    out,
                )
        return leaves


def _blocks(columns: list[Array], n_rows: int) -> Iterator[Array]:
    """A few rows at a time as one matrix of numbers."""
    block = np.empty((min(n_rows, ROWS_AT_ONCE), len(columns)))
    for first in range(0, n_rows, ROWS_AT_ONCE):
        matrix = block[: n_rows - first]
        for j, column in enumerate(columns):
            matrix[:, j] = column[first : first + ROWS_AT_ONCE]
        yield matrix


def plan(
    tree: Tree,
    source_names: tuple[str, ...],
    target: str,
    weight: str | None,
    unseen: Unseen,
    where: str,
    ignore: Sequence[str] = (),
) -> CountTask:
    """Return the task of counting a source with these columns; refuse a source that lacks some."""
    schema = tree.schema
    if schema is None:
        raise TreeError(f"{tree} does not know its columns; only a tree that was grown on a table can route rows")
    if (tree.feature[tree.internal] < 0).any():
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree can route rows")
    if schema.classes is None and not schema.has_numeric_target:
        raise TreeError(f"{tree} does not know its classes; only a tree grown with a target can count rows")
    if unseen not in ("majority-branch", "missing", "error"):
        raise ParameterError(f"unseen={unseen!r}; one of 'majority-branch', 'missing', 'error' is needed")
    for name, what in ((target, "target"), (weight, "weight"), *((name, "ignore") for name in ignore)):
        if name is not None and not isinstance(name, str):
            raise ParameterError(f"{what} is a {type(name).__name__}; the name of a column of {where} is needed")
        if name is not None and name not in source_names:
            raise SchemaError(f"{where} has no column {name!r} ({what}=); its columns are {listed(source_names)}")
    source_names = tuple(name for name in source_names if name not in ignore)
    used: Array = np.unique(tree.feature[tree.feature >= 0])
    key: RowKey | None = tree.row_key
    if set(used.tolist()) != set(tree.row_key.columns):  # cut from a larger tree, whose tests tell rows apart
        has_all = not schema.has_names or {schema.names[j] for j in tree.row_key.columns} <= set(source_names)
        key, used = (key, np.array(tree.row_key.columns, np.int64)) if has_all else (None, used)
    names = _source_names(schema, source_names, used, (target, weight), where)
    number = np.full(len(schema.columns) + 1, -1, np.int32)  # the last is where -1, a leaf, points
    number[used] = np.arange(len(used))
    after = np.minimum(np.arange(1, tree.n_nodes + 1), tree.n_nodes - 1)
    tests: dict[str, Array] = {
        "feature": number[tree.feature],
        "threshold": tree.threshold,
        "right": np.where(tree.is_leaf, 0, tree.end[after]).astype(np.int32),
        "branch_start": tree.branch_start,
        "branch": tree.branch,
        "default": tree.default,
        "child_start": np.append(0, np.cumsum(tree.arity)).astype(np.int64),
        "child": (np.argsort(tree.parent[1:], kind="stable") + 1).astype(np.int32),
    }
    tested = tuple(schema.columns[j] for j in used)
    return CountTask(tested, names, target, weight, schema.classes, unseen, tests, key)


def class_numbers(given: Given, classes: Array, name: str, first: int) -> tuple[Ints, list[Any]]:
    """Return the class number of each label, `len(classes)` for a new one, and the new labels."""
    is_text = family_of(type(classes.tolist()[0])) == "text"
    if isinstance(given, Numbers) and given.values.dtype.kind == "f" and np.isnan(given.values).all():
        raise _missing_target(np.ones(len(given.values), bool), name, first)
    holds_text = isinstance(given, Coded) and family_of(type(next(iter(given.levels), 0))) == "text"
    if holds_text != is_text and (isinstance(given, Numbers) or (given.codes >= 0).any()):
        shown = listed(list(given.levels)[:3] if isinstance(given, Coded) else given.values[:3].tolist())
        raise SchemaError(
            f"target {name!r} holds {shown}, but the classes of the tree are {listed(classes[:3].tolist())}; "
            "text and numbers are never equal: convert the column"
        )
    if isinstance(given, Coded):
        if (given.codes < 0).any():
            raise _missing_target(given.codes < 0, name, first)
        numbers = {label: c for c, label in enumerate(classes.tolist())}
        lookup = np.array([numbers.get(level, len(classes)) for level in given.levels], np.int32)
        codes = lookup[given.codes]
        new = np.unique(given.codes[codes == len(classes)])
        return codes, [given.levels[code] for code in new]
    return _numbered(given, classes, name, first)


def _numbered(given: Numbers, classes: Array, name: str, first: int) -> tuple[Ints, list[Any]]:
    values = given.values
    is_gap = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    if given.is_missing is not None:
        is_gap = is_gap | given.is_missing
    if is_gap.any():
        raise _missing_target(is_gap, name, first)
    known = classes.astype(np.int64) if classes.dtype.kind == "b" else classes
    if values.dtype.kind == "u" and known.dtype.kind == "i":  # NumPy would compare them as floats
        values = values.astype(np.int64 if values.max(initial=0) <= np.iinfo(np.int64).max else object)
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known[order], values), len(known) - 1)
    is_new = known[order][at] != values
    codes = np.where(is_new, len(known), order[at]).astype(np.int32)
    new = values[is_new]
    if values.dtype.kind == "f":
        wrong = np.flatnonzero(is_new & ~(np.isfinite(values) & (values % 1 == 0)))
        if len(wrong):
            raise DataError(
                f"target {name!r}, row {first + int(wrong[0]):,}: {values[wrong[0]]} is no class; "
                "class labels are text, truth values or whole numbers"
            )
    return codes, np.unique(new)[:100].tolist()


def _numbers(given: Given, name: str, first: int) -> Array:
    try:
        return numeric_target(given)
    except DataError as error:
        raise type(error)(f"target {name!r}, among the rows from {first:,} on: {error}") from error


def _weights(given: Given, name: str, first: int) -> Array:
    if isinstance(given, Coded):
        raise SchemaError(f"weight {name!r} holds {listed(given.levels[:3])}; numbers are needed")
    weights = given.values.astype(np.float64)
    if given.is_missing is not None:
        weights = np.where(given.is_missing, np.nan, weights)
    wrong = np.flatnonzero(~((weights >= 0) & (weights < EXACT_WHOLE)))
    if len(wrong):
        raise DataError(
            f"weight {name!r}, row {first + int(wrong[0]):,}: {weights[wrong[0]]} ({len(wrong):,} such in this batch); "
            "finite numbers of 0 or more, below 2**53, are needed"
        )
    return weights


def _missing_target(is_gap: Array, name: str, first: int) -> DataError:
    rows = np.flatnonzero(is_gap)
    return DataError(
        f"target {name!r} is missing in row {first + int(rows[0]):,} (and {len(rows) - 1:,} more of this batch); "
        "remove rows without a target"
    )


def _source_names(
    schema: Schema, source: tuple[str, ...], used: Array, taken: tuple[str | None, ...], where: str
) -> tuple[str, ...]:
    """Return the name in the source of each tested column: by name, or by position if the tree has no names."""
    if not schema.has_names:
        features = [name for name in source if name not in taken]
        if len(features) != len(schema.columns):
            raise SchemaError(
                f"{where} has {len(features)} columns beside the target, but the tree was grown on "
                f"{len(schema.columns)} columns without names; as many are needed, in the same order"
            )
        return tuple(features[j] for j in used)
    names = tuple(schema.names[j] for j in used)
    missing = [name for name in names if name not in source]
    if missing:
        raise SchemaError(
            f"{where} lacks the columns {listed(missing)}, which the tree tests (it has {listed(source)}); "
            "add or rename them"
        )
    return names
