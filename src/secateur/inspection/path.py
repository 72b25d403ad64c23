"""Why one row gets its answer: the tests on its path, in words, with the values that decided."""

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
    """One test that a row met.

    Parameters
    ----------
    node : int
        The node that tests, by its number in the tree that was given.
    number : int
        The same as a small number, from 1 in the order shown.
    column : str
    value : str
        What the row holds there; "missing", "new" for a category that growing did not see, or
        "missing or new" where growing saw no missing one.
    test : str
        What holds of all rows that go where this one goes.
    child : int
        The number of the branch that it takes.
    is_default : bool
        Whether it goes there only because its value is missing or new.
    surrogate : str
        The test of another column that decided in its place; empty if none did.
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
    def sent(self) -> str:
        """How it goes on without its value; empty if that decides."""
        by = f" by the surrogate {self.surrogate}" if self.surrogate else ""
        return f"sent on{by}" if self.is_default else ""


@dataclass(frozen=True)
class Path:
    """The path of one row, and what it ends in.

    Parameters
    ----------
    steps : tuple of Step
    leaf, number : int
        The leaf, by its number in the tree that was given and as a small one.
    answer : str
        Its class or its mean; empty if the view knows neither.
    shares : dict of str to float
        The share of each class in it; empty without counts of classes.
    """

    steps: tuple[Step, ...]
    leaf: int
    number: int
    answer: str
    shares: dict[str, float]

    def __str__(self) -> str:
        lines = [
            f"{step.test} ({step.column} is {step.value}{f', {step.sent}' if step.sent else ''})" for step in self.steps
        ]
        return "\n".join([*lines, f"#{self.number} ({self.leaf}){f': {self.answer}' if self.answer else ''}"])


def path_of(view: TreeView, X: Any, row: int = 0) -> Path:
    """Return the path of one row through the tree that is shown.

    Parameters
    ----------
    view : TreeView
        Of a tree with tests, without stubs.
    X : array, data frame, list of rows or Table
        As for `apply`; it is routed in the same way.
    row : int
        Which of its rows.

    Returns
    -------
    Path
        Its leaf is the one that `apply` finds, or the shown leaf above it.

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
    start, child = tree.child_lists
    values = [column[row] for column in table.columns]
    steps, v = [], 0
    while not tree.is_leaf[v]:
        column = int(tree.feature[v])
        about, value, surrogate = tree.schema.columns[column], values[column], ""
        codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        is_missing = bool(value < 0 if len(codes) else np.isnan(value))
        if is_missing:
            taken, surrogate = _for_missing(view, v, tree.schema.columns, values)
        else:
            taken = int(codes[value]) if len(codes) else int(not value <= tree.threshold[v])
        below = int(child[start[v] + taken])
        test = view.branch(below) if is_missing or len(codes) else _compared(view, v, below, about, value)
        told = _value(about, value, is_missing=is_missing)
        steps.append(Step(int(view.node[v]), v + 1, view.columns[column], told, test, taken, is_missing, surrogate))
        v = below
    shares = {} if view.shares is None else dict(zip(view.classes, view.shares[v].tolist(), strict=False))
    return Path(tuple(steps), int(view.node[v]), v + 1, view.answer(v), shares)


def _for_missing(view: TreeView, v: int, columns: Sequence[Column], values: list[Any]) -> tuple[int, str]:
    """The child of a missing value, and the surrogate that says so, with what it read; empty if it is the default."""
    others, default = view.tree.surrogates, int(view.tree.default[v])
    if others is None:
        return default, ""
    for number in others.of(v):
        column = int(others.feature[number])
        taken, name = others.child_for(number, values[column]), view.columns[column]
        if taken != NO_BRANCH:
            told = _value(columns[column], values[column], is_missing=False)
            if others.branch_start[number] < others.branch_start[number + 1]:
                return taken, f"{name} = {told}"
            sign = "<=" if taken == others.low[number] else ">"
            return taken, f"{name} {sign} {value_text(columns[column], others.threshold[number])} (is {told})"
    return default, ""


def _value(about: Column, value: Any, *, is_missing: bool) -> str:
    if about.kind == "nominal" and is_missing:
        return "new" if about.has_missing else "missing or new"
    is_known = not is_missing and (about.kind == "numeric" or value < len(about.categories))
    return value_text(about, value) if is_known else "missing"


def _compared(view: TreeView, v: int, below: int, about: Column, value: float) -> str:
    """What leads on, with the exact threshold where the short one would say otherwise of this very value."""
    exact, rounded = float(view.tree.threshold[v]), float(view.tree.rounded[v])
    short = (exact if np.isnan(rounded) else rounded) if about.is_date else float(view.threshold[v])
    if (value <= exact) == (value <= short):
        return view.branch(below)
    shown, name = value_text(about, exact), view.columns[int(view.tree.feature[v])]
    ends = ("", shown) if value <= exact else (shown, "")
    return range_text(name, *ends, can_be_missing=False, can_be_known=True, gaps=False)
