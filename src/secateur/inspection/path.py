"""Follow one row through a tree: the tests on its path in words, with the values that decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.checks import check_int
from ..core import NO_BRANCH
from ..data.encoding import encode
from ..data.table import Column
from ..errors import ParameterError, TreeError
from .view import TreeView
from .wording import range_text, value_text

__all__ = ["Path", "Step", "path_of"]


@dataclass(frozen=True)
class Step:
    """One test on the path of a row.

    Parameters
    ----------
    node : int
        The number of the testing node in the tree that was passed to `view_of`.
    number : int
        The number of the testing node among the shown nodes, from 1.
    column : str
        The column that is tested.
    value : str
        The value of the row in this column; "missing", "new" for a category that growing did not see, or
        "missing or new" if growing saw no missing value.
    test : str
        The condition that all rows on the same branch satisfy.
    child : int
        The number of the branch that the row takes.
    is_default : bool
        Whether the row takes this branch because its value is missing or new.
    surrogate : str
        The test of another column that was used because the value is missing; empty if there was none.
    """

    node: int
    number: int
    column: str
    value: str
    test: str
    child: int
    is_default: bool
    surrogate: str = ""

    @property
    def fallback(self) -> str:
        """How the branch was chosen if the value is missing or new; empty if the value decided."""
        by = f" by the surrogate {self.surrogate}" if self.surrogate else ""
        return f"sent on{by}" if self.is_default else ""


@dataclass(frozen=True)
class Path:
    """The path of one row and the leaf at its end.

    Parameters
    ----------
    steps : tuple of Step
        The tests on the path.
    leaf, number : int
        The leaf: `leaf` is its number in the tree that was passed to `view_of`, `number` its number among the shown
        nodes, from 1.
    prediction : str
        The class or mean that the leaf predicts; empty if the view knows neither.
    shares : dict of str to float
        The share of each class in the leaf; empty without counts of classes.
    """

    steps: tuple[Step, ...]
    leaf: int
    number: int
    prediction: str
    shares: dict[str, float]

    def __str__(self) -> str:
        lines = []
        for step in self.steps:
            fallback = f", {step.fallback}" if step.fallback else ""
            lines.append(f"{step.test} ({step.column} is {step.value}{fallback})")
        prediction = f": {self.prediction}" if self.prediction else ""
        return "\n".join([*lines, f"#{self.number} ({self.leaf}){prediction}"])


def path_of(view: TreeView, X: Any, row: int = 0) -> Path:
    """Return the path of one row through the tree of a view.

    Parameters
    ----------
    view : TreeView
        The view of a tree with tests, without hidden branches.
    X : array, data frame, list of rows or Table
        The rows, as for `apply`.
    row : int
        The position of the row in X.

    Returns
    -------
    Path
        The path ends at the leaf of the pruned tree that `apply` returns for the row.

    Examples
    --------
    >>> import secateur
    >>> from secateur.inspection.view import view_of
    >>> X = [["red", 1.0], ["red", 4.0], ["blue", 1.5], ["green", None]]
    >>> tree, counts = secateur.grow(secateur.encode(X, names=["colour", "size"], target=["a", "b", "a", "b"]))
    >>> print(path_of(view_of(tree, counts), [["red", None]]))
    size > 3 or missing (size is missing, sent on)
    #3 (2): b
    """
    tree = view.tree
    if not tree.has_tests or tree.schema is None or view.n_hidden.any():
        raise TreeError(f"{tree} cannot route rows; a view of a whole tree with tests is needed")
    table = encode(X, schema=tree.schema)
    if check_int("row", row, 0) >= table.n_rows:
        raise ParameterError(f"row={row}; a number from 0 to {table.n_rows - 1} is needed")
    values = [column[row] for column in table.columns]
    steps, v = [], 0
    while not tree.is_leaf[v]:
        step, v = _step(view, v, tree.schema.columns, values)
        steps.append(step)
    shares = {} if view.shares is None else dict(zip(view.classes, view.shares[v].tolist(), strict=False))
    return Path(tuple(steps), int(view.node[v]), v + 1, view.prediction(v), shares)


def _step(view: TreeView, v: int, columns: Sequence[Column], values: list[Any]) -> tuple[Step, int]:
    """Return the test of node `v` on a row with these values, and the node that the row goes to."""
    tree = view.tree
    column = int(tree.feature[v])
    schema, value = columns[column], values[column]
    codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
    is_nominal = len(codes) > 0
    is_missing = bool(value < 0 if is_nominal else np.isnan(value))
    surrogate = ""
    if is_missing:
        branch, surrogate = _branch_without_value(view, v, columns, values)
    elif is_nominal:
        branch = int(codes[value])
    else:
        branch = 0 if value <= tree.threshold[v] else 1
    start, child = tree.child_lists
    target = int(child[start[v] + branch])
    is_compared = not (is_missing or is_nominal)
    step = Step(
        node=int(view.node[v]),
        number=v + 1,
        column=view.columns[column],
        value=row_value_text(schema, value),
        test=_comparison_text(view, v, target, schema, value) if is_compared else view.branch_text(target),
        child=branch,
        is_default=is_missing,
        surrogate=surrogate,
    )
    return step, target


def _branch_without_value(view: TreeView, v: int, columns: Sequence[Column], values: list[Any]) -> tuple[int, str]:
    """Return the branch that a missing value takes, and the surrogate that chose it; empty for the default branch."""
    surrogates, default = view.tree.surrogates, int(view.tree.default[v])
    if surrogates is None:
        return default, ""
    for number in surrogates.of(v):
        column = int(surrogates.feature[number])
        branch = surrogates.child_for(number, values[column])
        if branch == NO_BRANCH:
            continue
        name, value = view.columns[column], row_value_text(columns[column], values[column])
        if surrogates.branch_start[number] < surrogates.branch_start[number + 1]:
            return branch, f"{name} = {value}"
        sign = "<=" if branch == surrogates.low[number] else ">"
        threshold = value_text(columns[column], surrogates.threshold[number])
        return branch, f"{name} {sign} {threshold} (is {value})"
    return default, ""


def row_value_text(schema: Column, value: Any) -> str:
    """Return a value of a row as text; see `Step.value` for missing values and new categories."""
    is_nominal = schema.kind == "nominal"
    if is_nominal and value < 0:
        return "new" if schema.has_missing else "missing or new"
    is_known = value < len(schema.categories) if is_nominal else not np.isnan(value)
    return value_text(schema, value) if is_known else "missing"


def _comparison_text(view: TreeView, v: int, target: int, schema: Column, value: float) -> str:
    """Return the test that leads from node `v` to `target`.

    Texts usually show a shortened threshold. If this value lies between the shortened and the exact threshold, the
    shortened one would name the wrong branch, so the text has the exact one.
    """
    exact, rounded = float(view.tree.threshold[v]), float(view.tree.rounded[v])
    shown_date = exact if np.isnan(rounded) else rounded
    shown_threshold = shown_date if schema.is_date else float(view.threshold_texts[v])
    is_low = value <= exact
    if is_low == (value <= shown_threshold):
        return view.branch_text(target)
    end = value_text(schema, exact)
    return range_text(
        view.columns[int(view.tree.feature[v])],
        low="" if is_low else end,
        high=end if is_low else "",
        can_be_missing=False,
        can_be_known=True,
        has_missing=False,
    )
