"""What every export that runs starts from: the view of the tree that predicts, as plain lists.

The exported tree is small (only nodes that are left after pruning) and counts its nodes from
0; `nodes` has their numbers in the grown tree, which are the numbers users see.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..core import as_model, check_no_surrogates
from ..data.table import Column
from ..errors import ParameterError, PruningError, TreeError, UnsupportedError
from ..inspection.view import view_of
from ..statistics.probabilities import node_probabilities
from . import EXPORTS

Family = Literal["text", "truth", "number"]
Plain = str | bool | int | float
PER_LINE = 12  # items of a list that is written out
LARGEST = float(np.finfo(np.float64).max)


class Exported:
    """A pruned tree with its tests as plain lists, and the answers of its leaves.

    Trees that could not route a row are refused.

    Parameters
    ----------
    thing : Model, estimator, or parts of a model

    Attributes
    ----------
    nodes : list of int
        The number of each node in the grown tree.
    columns : tuple of Column
        Those of the table the tree was grown on.
    used : list of int
        The columns that are tested somewhere.
    feature, threshold : lists
        The column each node tests (-1 for a leaf), and its threshold (NaN where there is none).
    is_nominal : list of bool
        Which nodes test for categories.
    children : list of list of int
        The children of each node, in order.
    default : list of int
        The node that missing and unseen values go to from each node; -1 from a leaf.
    """

    def __init__(self, thing: object) -> None:
        self.model = as_model(thing, done="exported")
        self.view = view_of(self.model.tree, self.model.grown, pruning=self.model.pruning)
        tree = self.tree = self.view.tree
        if not tree.has_tests or tree.schema is None:
            what = "has no schema" if tree.has_tests else "has no tests (it was made from parents alone)"
            raise TreeError(f"{tree} {what}; only a tree that was grown on a table can be exported")
        check_no_surrogates(tree, "an export", "predict with secateur itself")
        self.nodes: list[int] = self.view.node.tolist()
        self.columns, self.classes = tree.schema.columns, tree.schema.classes
        self.used: list[int] = tree.tested[0].tolist()
        self.leaves: list[int] = tree.leaves.tolist()
        self.feature: list[int] = tree.feature.tolist()
        self.threshold: list[float] = tree.threshold.tolist()
        self.is_nominal: list[bool] = self.view.is_nominal.tolist()
        self.children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
        for v, p in enumerate(tree.parent.tolist()[1:], 1):
            self.children[p].append(v)
        below = zip(self.children, tree.default.tolist(), strict=True)
        self.default = [children[child] if children else -1 for children, child in below]

    def codes(self, v: int) -> list[int]:
        """The node that each category code goes to from node `v`."""
        first, last = self.tree.branch_start[v : v + 2].tolist()
        below = self.children[v]
        return [below[child] for child in self.tree.branch[first:last].tolist()]

    def sets(self, v: int) -> list[tuple[int, list[int]]]:
        """The children of nominal node `v` but its default, each with the codes that go there; empty ones left out.

        A code that the tests above have sent elsewhere is left out too: no row brings it here.
        """
        below = [child for child in self.children[v] if child != self.default[v]]
        found = [(child, self.view.arriving_codes(child).tolist()) for child in below]
        return [(child, codes) for child, codes in found if codes]

    def other_way(self, v: int) -> tuple[int, str, float]:
        """The child of numeric node `v` that is not its default, and when a row goes there: a sign and a number.

        The sign "known" is that of every value but a missing one, "never" that of none.
        """
        (low, high), threshold = self.children[v], self.threshold[v]
        goes_low = self.default[v] == high
        signs = ("known", "never") if threshold == np.inf else ("<", ">=") if threshold == -np.inf else ("<=", ">")
        return low if goes_low else high, signs[not goes_low], max(threshold, -LARGEST)

    @cached_property
    def leaf_numbers(self) -> list[int]:
        """The number of each leaf among the leaves; -1 for other nodes."""
        found = np.full(self.tree.n_nodes, -1)
        found[self.leaves] = np.arange(len(self.leaves))
        return list(found.tolist())

    def tables(self, spelled: Callable[[float], str]) -> dict[str, list[str]]:
        """The tests as lists of numbers, by name, each number spelled.

        From `start[v]` on, `next` has the nodes below node `v`: those on both sides of a number, or that of each code.
        """
        start: list[int] = []
        below: list[int] = []
        for v in range(self.tree.n_nodes):
            start.append(len(below))
            below += self.codes(v) if self.is_nominal[v] else self.children[v]
        threshold = ["0.0" if x != x else spelled(x) for x in self.threshold]  # noqa: PLR0124
        found: dict[str, list[Any]] = {"column": self.feature, "threshold": threshold, "start": start, "next": below}
        found |= {"default": self.default, "node": self.nodes}
        return {name: list(map(str, values)) for name, values in found.items()}

    @cached_property
    def labels(self) -> list[Plain]:
        """The classes, as plain values; empty for a regression tree."""
        if self.view.shares is None:
            return []
        if self.classes is None:
            return list(range(self.view.shares.shape[1]))
        return [plain_value(label, "class") for label in self.classes.tolist()]

    @cached_property
    def answers(self) -> list[Any]:
        """What each leaf answers: the number of a class, or a mean. None for other nodes."""
        is_class = self.view.mean is None
        said = self.view.label if is_class else self.view.mean
        assert said is not None
        found: list[Any] = [None if self.children[v] else answer for v, answer in enumerate(said.tolist())]
        for v in self.leaves:
            if is_class and found[v] >= len(self.labels):
                raise PruningError(
                    f"leaf {self.nodes[v]} predicts class number {found[v]}, which is not in the growing sample "
                    f"(it has {len(self.labels)} classes); only labels of the growing sample can be exported"
                )
        return found

    def answer(self, v: int) -> Plain:
        """What leaf `v` answers: a class, or a mean."""
        found: Plain = self.labels[self.answers[v]] if self.labels else self.answers[v]
        return found

    def shares(self, given: ArrayLike | None = None) -> Floats:
        """The probabilities that the model says in each node; `given` holds others, for those of the grown tree."""
        if self.view.shares is None:
            raise ParameterError("a regression tree has no classes and no probabilities; its prediction is a number")
        if given is None:
            return node_probabilities(self.model)[self.nodes]
        found = np.asarray(given, np.float64)
        if found.shape != (self.model.tree.n_nodes, len(self.labels)) or not np.isfinite(found).all():
            raise ParameterError(
                f"probabilities have shape {found.shape}; finite numbers of shape "
                f"{(self.model.tree.n_nodes, len(self.labels))}, one row per node of the grown tree, are needed"
            )
        return found[self.nodes]


def plain_value(value: object, what: str) -> Plain:
    """A category or a class as a plain value of Python."""
    if isinstance(value, np.generic):
        value = value.item()
    for kind in (str, bool, int, float):  # a bool is an int too, hence the order
        if isinstance(value, kind):
            return kind(value)
    try:
        return float(value)  # type: ignore[arg-type] # Decimal, Fraction
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            f"{what} {value!r} is a {type(value).__name__}; text, numbers or booleans can be exported"
        ) from error


def lines_of(items: Iterable[str], separator: str = ", ") -> list[str]:
    """Items over several lines."""
    given = list(items)
    return [separator.join(given[k : k + PER_LINE]) for k in range(0, len(given), PER_LINE)]


def categories_of(column: Column, *, is_double: bool = True) -> tuple[Family, list[Any]]:
    """What the values of a column are, and its categories as plain values; a numeric one has none.

    Where numbers become doubles (`is_double`), whole numbers too large for a double to tell apart are refused.
    """
    values = [plain_value(value, f"column {column.name!r}: category") for value in column.categories]
    if column.kind == "nominal" and (not values or isinstance(values[0], str)):
        return "text", values
    if values and isinstance(values[0], bool):
        return "truth", values
    large = [value for value in values if isinstance(value, int) and abs(value) >= 2**53]
    if large and is_double:
        raise UnsupportedError(
            f"column {column.name!r} has the category {large[0]}, a whole number of 2**53 or more, which a double "
            "cannot distinguish from its neighbours; grow on the column as text, or export to Python"
        )
    return "number", values


def check_levels(n_levels: int, name: str, what: str) -> None:
    """Refuse a tree that is deeper than the export can be."""
    most = EXPORTS[name].max_levels
    if most is not None and n_levels > most:
        able = " or ".join(other for other, facts in EXPORTS.items() if facts.runs and facts.max_levels is None)
        raise UnsupportedError(
            f"the tree is {n_levels:,} tests deep; up to {most:,} can be written as {what}: prune it further, or "
            f"export it to {able}"
        )


def utf8(text: str, what: str) -> bytes:
    """Text as UTF-8; invalid Unicode is refused."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UnsupportedError(f"{what} {text!r} is not valid Unicode (it has a lone surrogate); correct it") from error


def unique_name(wanted: str, taken: Sequence[str]) -> str:
    """`wanted`, with as many underscores as it takes to differ from all `taken`, whatever the case of letters."""
    others = {name.lower() for name in taken}
    while wanted.lower() in others:
        wanted += "_"
    return wanted
