"""State for many rows at once why their predictions are unfavourable, and what would have been needed.

The reasons of a row follow from its leaf, so they are found once per leaf that any row reaches; only the values and
the nearest change differ between the rows of a leaf.
"""

import csv
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.arrays import Array, Bools, Category, Floats, ImmutableTable, Rows
from .._utils.checks import as_list, check_int, check_name
from .._utils.output import error_reason, printable_path
from ..core import as_model, check_no_surrogates
from ..data.encoding import encode
from ..data.table import Column, Table
from ..errors import Argument, DataError, ParameterError, show
from ..routing import prediction
from .counterfactual import changeable_columns, needed_text, threshold_ranges
from .nearest_leaves import NearestChange, nearest_leaves
from .path import row_value_text
from .view import TreeView, view_of, walk
from .wording import round_values

__all__ = ["Reason", "ReasonCodes", "read_reason_texts", "reason_codes"]

NO_COLUMN = -1
ROUNDING_TOLERANCE = 1e-12  # of a difference of estimates, as a share of the largest estimate
MAX_TEXTS_BYTES = 1 << 24
MOVED_DIGITS = 4  # significant digits of moves in tables


@dataclass(frozen=True)
class Reason:
    """One reason for the prediction of a row.

    Parameters
    ----------
    column : str
        The tested column.
    value : str
        The value of the row; "missing", "new" for a category that growing did not see, or "missing or new" if growing
        saw no missing value.
    needed : str
        Values with which no test of this column on the path lowers the estimate, in words: "above 3.5", "at most 2",
        "red or blue". The range may be a little smaller than it could be, so that its ends are short. Missing values
        are named only if no known value satisfies this.
    moved : float
        How much all tests of this column on the path changed the estimate, as a share of rows between -1 and 1, or in
        the unit of the target. Below 0 the tests moved it away from the favourable prediction.
    text : str
        The text that was supplied for the column; otherwise its name.
    """

    column: str
    value: str
    needed: str
    moved: float
    text: str

    def __str__(self) -> str:
        return f"{self.text}: {self.value}, needed: {self.needed}"


@dataclass(frozen=True, eq=False, repr=False)
class ReasonCodes(ImmutableTable):
    """The reasons for the predictions of many rows; `codes[i]` are those of row i.

    Parameters
    ----------
    prediction : array
        The prediction for each row.
    is_favourable : array of bool
        Whether the prediction is favourable. Rows with a favourable prediction have no reasons.
    column, value, needed : arrays of str, of shape (n_rows, n)
        See `Reason`; None where a row has fewer than n reasons.
    moved : array of float, of shape (n_rows, n)
        See `Reason`; NaN where a row has fewer than n reasons.
    nearest_change : array of str
        The fewest columns that must change for a favourable prediction and the values they need, in words; None if no
        change of the actionable columns gives a favourable prediction, and for favourable rows.
    texts : dict of str to str
        The text of each column that has one.
    """

    prediction: Array
    is_favourable: Bools
    column: Array
    value: Array
    needed: Array
    moved: Floats
    nearest_change: Array
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._freeze_arrays(
            prediction=None, is_favourable=bool, column=object, value=object, needed=object, moved=float,
            nearest_change=object,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.prediction)

    def __getitem__(self, row: int) -> tuple[Reason, ...]:
        return tuple(
            Reason(column, value, needed, moved, self.texts.get(column, column))
            for column, value, needed, moved in zip(
                self.column[row], self.value[row], self.needed[row], self.moved[row].tolist(), strict=True
            )
            if column is not None
        )

    def __iter__(self) -> Iterator[tuple[Reason, ...]]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        n_favourable = int(np.count_nonzero(self.is_favourable))
        return f"ReasonCodes({len(self):,} rows, {len(self) - n_favourable:,} unfavourable)"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a dict of columns: the prediction, up to n reasons of four columns, the nearest change.

        With texts, each reason has a fifth column with its text.
        """
        columns: dict[str, Any] = {"prediction": self.prediction.tolist(), **self.reason_columns()}
        return columns

    def reason_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_dict` without the prediction."""
        columns: dict[str, list[Any]] = {}
        for k in range(self.column.shape[1]):
            names = self.column[:, k].tolist()
            columns[f"reason {k + 1}"] = names
            if self.texts:
                texts = {None: None, **{name: self.texts.get(name, name) for name in set(names) if name is not None}}
                columns[f"reason {k + 1} text"] = [texts[name] for name in names]
            columns[f"reason {k + 1} value"] = self.value[:, k].tolist()
            columns[f"reason {k + 1} needed"] = self.needed[:, k].tolist()
            columns[f"reason {k + 1} moved"] = round_values(self.moved[:, k], MOVED_DIGITS)
        return columns | {"nearest change": self.nearest_change.tolist()}

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the table as a data frame of the named library (pandas, polars, pyarrow)."""
        return self._narwhals_frame(backend).to_native()

    def to_frame_like(self, rows: Any) -> Any:
        """Return the table as a data frame of the same library as `rows`, in pandas with the same index."""
        import narwhals.stable.v2 as nw

        frame = nw.from_native(rows, eager_only=True)
        native = self.to_frame(nw.get_native_namespace(frame))
        index = nw.maybe_get_index(frame)
        return native if index is None else native.set_axis(index, axis=0)

    def _narwhals_frame(self, backend: Any) -> Any:
        import narwhals.stable.v2 as nw

        columns = self.to_dict()
        schema = {name: nw.Float64 if name.endswith(" moved") else nw.String for name in columns}
        schema["prediction"] = nw.new_series("prediction", columns["prediction"], backend=backend).dtype
        return nw.from_dict(columns, schema, backend=backend)


def reason_codes(
    model: object,
    X: Rows,
    *,
    favourable: Category = None,
    n: int = 4,
    texts: Mapping[str, str] | str | os.PathLike[str] | None = None,
    actionable: Sequence[str] | None = None,
) -> ReasonCodes:
    """Return for each row with an unfavourable prediction its reasons, and the nearest change to a favourable one.

    The estimate of a node is the share of the favourable class among the growing rows in it, or their mean. A test
    moves the estimate by the difference between the child that the row goes to and the parent. The tests of one column
    on the path are one reason, and their moves are added. A row has as reasons the columns that moved its estimate
    away from the favourable prediction, the largest move first. If there is no such column, its reasons are those of
    the nearest change.

    Parameters
    ----------
    model : estimator or Model
    X : rows as for `predict`
    favourable : class, or list of classes, optional
        The favourable predictions; the estimate is the sum of their shares. By default every class but the predicted
        one, so that each row has reasons. For a regression tree "high" or "low" (predictions above or below the mean
        of the growing rows), a number (predictions of at least this number) or (low, high).
    n : int
        The largest number of reasons of a row.
    texts : dict or path, optional
        A text for each column, such as those of a letter to an applicant: by column name, or a JSON or CSV file; see
        `read_reason_texts`. A column without a text has its name as its text.
    actionable : names, optional
        The columns that may change in the nearest change; all by default.

    Returns
    -------
    ReasonCodes

    Examples
    --------
    >>> import secateur
    >>> table = secateur.encode([[1.0, 5.0], [2.0, 1.0], [4.0, 9.0]], names=["size", "age"], target=["no", "no", "yes"])
    >>> tree, grown = secateur.grow(table)
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> codes = reason_codes(model, table, favourable="yes")
    >>> codes
    ReasonCodes(3 rows, 2 unfavourable)
    >>> print(codes[0][0])
    size: 1, needed: above 3
    >>> print(codes.nearest_change[0])
    size above 3
    """
    fitted = as_model(model, done="explained")
    check_no_surrogates(fitted.tree, "the reasons of a prediction", "use `explain`")
    view = view_of(fitted.tree, fitted.grown, pruning=fitted.pruning)
    n = min(check_int("n", n, 1), len(view.columns))
    goals = _goals(view, favourable)
    column_texts = _check_texts(texts, view)
    may_change = changeable_columns(view, actionable)
    table = encode(X, schema=fitted.tree.schema)
    builder = _ReasonBuilder(view, table, n, np.searchsorted(view.node, prediction.predict_leaf(fitted, table)))
    for goal in goals:
        builder.add_goal(goal, may_change)
    builder.add_values()
    is_favourable = np.logical_and.reduce([~goal.is_unfavourable[builder.leaf] for goal in goals])
    names = np.array([*view.columns, None], object)  # the position -1 stands for no column
    return ReasonCodes(
        prediction=prediction.predict(fitted, table),
        is_favourable=is_favourable,
        column=names[builder.column],
        value=builder.value,
        needed=builder.needed,
        moved=builder.moved,
        nearest_change=builder.nearest_change,
        texts=column_texts,
    )


@dataclass(frozen=True, eq=False)
class _Goal:
    """What the predictions of some leaves should have been; arrays have one entry per node of the view.

    Parameters
    ----------
    estimate : array of float
        The estimate that is larger for a more favourable prediction.
    is_unfavourable : array of bool
        Whether the prediction of the node as a leaf is unfavourable and measured by this estimate.
    is_target : array of bool
        Whether the prediction of the node as a leaf is favourable.
    """

    estimate: Floats
    is_unfavourable: Bools
    is_target: Bools


def _goals(view: TreeView, favourable: Any) -> list[_Goal]:
    """Return the goals for all leaves with an unfavourable prediction; see `reason_codes`."""
    if view.mean is not None:
        return _number_goals(view.mean, favourable)
    assert view.shares is not None
    assert view.label is not None
    n_classes = view.shares.shape[1]
    if favourable is None:
        labels = np.unique(view.label[view.tree.is_leaf])
        return [_Goal(1 - view.shares[:, label], view.label == label, view.label != label) for label in labels.tolist()]
    wanted = as_list("favourable", favourable) if _is_collection(favourable) else [favourable]
    for label in wanted:
        check_name("favourable", str(label), view.classes)
    is_wanted = np.isin(np.arange(n_classes), [view.classes.index(str(label)) for label in wanted])
    if is_wanted.all() or not is_wanted.any():
        number = "all" if is_wanted.all() else "none"
        raise ParameterError(
            Argument("favourable", favourable), f" contains {number} of the classes; name those that are favourable"
        )
    is_target = is_wanted[view.label]
    return [_Goal(view.shares[:, is_wanted].sum(axis=1), ~is_target, is_target)]


def _is_collection(favourable: Any) -> bool:
    return isinstance(favourable, list | tuple | set | frozenset | np.ndarray)


def _number_goals(mean: Floats, favourable: Any) -> list[_Goal]:
    """Return the goals for leaves whose mean is below, and for those whose mean is above, the favourable range."""
    low, high = _favourable_range(float(mean[0]), favourable)
    is_target = (low <= mean) & (mean <= high)
    return [_Goal(mean, mean < low, is_target), _Goal(-mean, mean > high, is_target)]


def _favourable_range(mean: float, favourable: Any) -> tuple[float, float]:
    if isinstance(favourable, str) and favourable in ("low", "high"):
        return (mean, math.inf) if favourable == "high" else (-math.inf, mean)
    ends = favourable if isinstance(favourable, list | tuple) else (favourable, math.inf)
    is_range = len(ends) == 2 and all(isinstance(end, int | float | np.number) for end in ends)
    if not is_range or isinstance(favourable, bool) or not ends[0] <= ends[1]:
        raise ParameterError(
            Argument("favourable", favourable),
            '; the tree predicts numbers: "high" or "low" (above or below the mean of the growing rows), the smallest '
            "favourable number, or the ends (low, high) of a range is needed",
        )
    return float(ends[0]), float(ends[1])


class _ReasonBuilder:
    """The reasons of all rows while they are being collected; arrays have one entry, or n entries, per row."""

    def __init__(self, view: TreeView, table: Table, n: int, leaf: Array) -> None:
        self.view, self.table, self.leaf = view, table, leaf
        shape = (table.n_rows, n)
        self.column = np.full(shape, NO_COLUMN, np.int32)
        self.value, self.needed = np.full(shape, None, object), np.full(shape, None, object)
        self.moved = np.full(shape, np.nan)
        self.nearest_change = np.full(table.n_rows, None, object)

    def add_goal(self, goal: _Goal, may_change: set[int]) -> None:
        """Add the reasons, and the nearest changes, of the rows whose prediction should have been another."""
        rows = np.flatnonzero(goal.is_unfavourable[self.leaf])
        if not len(rows):
            return
        leaves, leaf_of_row = np.unique(self.leaf[rows], return_inverse=True)
        moves = _moves_to_leaves(self.view, goal, set(leaves.tolist()))
        self._add_leaf_reasons(goal, rows, leaf_of_row.reshape(-1), [moves[v] for v in leaves.tolist()])
        scales = threshold_ranges(self.view.tree)
        changes = nearest_leaves(
            self.view, self.table, rows, goal.is_target, may_change=may_change, scales=scales
        )  # fmt: skip
        for change in changes:
            self._add_change(change, moves)

    def _add_leaf_reasons(self, goal: _Goal, rows: Array, leaf_of_row: Array, moves: "list[list[_Move]]") -> None:
        """Write the columns that moved the estimates of the rows away, the largest move of each leaf first."""
        tolerance = _tolerance(goal.estimate)
        needed_texts: dict[int, str] = {}
        shape = (len(moves), self.column.shape[1])
        column, needed, moved = (
            np.full(shape, NO_COLUMN, np.int32),
            np.full(shape, None, object),
            np.full(shape, np.nan),
        )
        for i, of_leaf in enumerate(moves):
            lowering = sorted((move for move in of_leaf if move.total < -tolerance), key=lambda move: move.total)
            for k, move in enumerate(lowering[: shape[1]]):
                v = move.first_lowering
                if v not in needed_texts:
                    needed_texts[v] = needed_text(self.view, _better_siblings(self.view, goal.estimate, v))
                column[i, k], needed[i, k], moved[i, k] = move.column, needed_texts[v], move.total
        self.column[rows], self.needed[rows] = column[leaf_of_row], needed[leaf_of_row]
        self.moved[rows] = moved[leaf_of_row]

    def _add_change(self, change: NearestChange, moves: "Mapping[int, list[_Move]]") -> None:
        """Write the nearest change of some rows; it also gives the reasons of rows that have none yet."""
        names = [self.view.columns[j] for j in change.columns]
        pairs = zip(names, change.needed, strict=True)
        self.nearest_change[change.rows] = " and ".join(f"{name} {needed}" for name, needed in pairs)
        rows = change.rows[self.column[change.rows, 0] == NO_COLUMN]
        for leaf in np.unique(self.leaf[rows]).tolist():
            of_leaf = rows[self.leaf[rows] == leaf]
            total = {move.column: move.total for move in moves[leaf]}
            for k, (j, needed) in enumerate(zip(change.columns, change.needed, strict=True)):
                if k < self.column.shape[1]:
                    self.column[of_leaf, k], self.needed[of_leaf, k] = j, needed
                    self.moved[of_leaf, k] = total.get(j, 0.0)

    def add_values(self) -> None:
        """Write the value of the row for each reason."""
        for j in np.unique(self.column).tolist():
            if j != NO_COLUMN:
                rows, places = np.nonzero(self.column == j)
                self.value[rows, places] = _value_texts(self.table.schema.columns[j], self.table.columns[j][rows])


@dataclass(frozen=True)
class _Move:
    """How the tests of one column on the path to a leaf moved the estimate.

    Parameters
    ----------
    column : int
    total : float
        The sum of the moves.
    first_lowering : int
        The child that the first of these tests led to that lowered the estimate; -1 if none did.
    """

    column: int
    total: float
    first_lowering: int


def _moves_to_leaves(view: TreeView, goal: _Goal, leaves: set[int]) -> dict[int, list[_Move]]:
    """Return for each of the leaves the moves of the columns on its path, in the order of their first tests."""
    tree, estimate = view.tree, goal.estimate.tolist()
    parent, tolerance = tree.parent.tolist(), _tolerance(goal.estimate)
    total, first_lowering = [0.0] * tree.n_nodes, [-1] * tree.n_nodes
    moves = {}
    for v, previous, latest in walk(tree):
        if v:
            move = estimate[v] - estimate[parent[v]]
            total[v] = move
            if previous >= 0:
                total[v], first_lowering[v] = total[previous] + move, first_lowering[previous]
            if move < -tolerance and first_lowering[v] < 0:
                first_lowering[v] = v
        if v in leaves:
            moves[v] = [_Move(column, total[w], first_lowering[w]) for column, w in latest.items()]
    return moves


def _tolerance(estimate: Floats) -> float:
    """Return the difference of two estimates up to which they may be equal."""
    return ROUNDING_TOLERANCE * float(np.abs(estimate).max())


def _better_siblings(view: TreeView, estimate: Floats, v: int) -> list[int]:
    """Return the siblings of node `v` whose estimates are above that of the parent; there is at least one."""
    p = int(view.tree.parent[v])
    siblings = [u for u in view.tree.children(p) if u != v]
    return [u for u in siblings if estimate[u] > estimate[p]] or siblings


def _value_texts(schema: Column, values: Array) -> Array:
    """Return the values of a column as text; see `Reason.value`."""
    unique, position = np.unique(values, return_inverse=True)
    texts = np.empty(len(unique), object)
    texts[:] = [row_value_text(schema, value) for value in unique.tolist()]
    return texts[position.reshape(-1)]


def _check_texts(texts: Any, view: TreeView) -> dict[str, str]:
    """Return the text of each column, or raise an error for a column that the tree does not have."""
    if texts is None:
        return {}
    if isinstance(texts, str | os.PathLike):
        texts = read_reason_texts(texts)
    if not isinstance(texts, Mapping):
        raise ParameterError(Argument("texts", texts), "; a dict of texts by column, or the path of a file, is needed")
    for name, text in texts.items():
        check_name("texts", name, view.columns)
        if not isinstance(text, str):
            raise ParameterError(f"the text of column {show(name)} is {show(text)}; text is needed")
    return dict(texts)


def read_reason_texts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the texts of columns in a file, by column name.

    Parameters
    ----------
    path : path
        A JSON file (its name ends in .json) with one object from column names to texts; or a CSV file in UTF-8 with a
        column name and a text in each line. A first line "column,text" is a heading.
    """
    shown = printable_path(path)
    try:
        if Path(path).stat().st_size > MAX_TEXTS_BYTES:
            raise DataError(f"{shown} has more than {MAX_TEXTS_BYTES:,} bytes; a file of texts is smaller")
        content = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{shown} is not UTF-8 text; save it in this encoding") from error
    except (OSError, ValueError) as error:  # ValueError: no file has such a name
        raise DataError(f"{shown} cannot be read ({error_reason(error)}); check its name and permissions") from error
    pairs = _json_pairs(shown, content) if Path(path).suffix.lower() == ".json" else _csv_pairs(shown, content)
    texts: dict[str, str] = {}
    for name, text in pairs:
        if name in texts:
            raise DataError(f"{shown} has two texts for column {show(name)}; one is needed")
        texts[name] = text
    return texts


def _json_pairs(path: str, content: str) -> list[tuple[str, Any]]:
    try:
        pairs = json.loads(content, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON ({error})") from error
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        raise DataError(f'{path} must contain one object, such as {{"column": "text"}}')
    return pairs


def _csv_pairs(path: str, content: str) -> list[tuple[str, Any]]:
    try:
        lines = [cells for cells in csv.reader(StringIO(content, newline=""), strict=True) if cells]
    except csv.Error as error:
        raise DataError(f"{path} is not valid CSV ({error})") from error
    for number, cells in enumerate(lines, 1):
        if len(cells) != 2:
            raise DataError(f"line {number} of {path} has {len(cells)} cells; a column and its text are needed")
    if lines and lines[0] == ["column", "text"]:
        lines = lines[1:]
    return [(name, text) for name, text in lines]
