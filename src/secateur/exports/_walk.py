"""What every export that runs starts from: the view of the tree that predicts, as plain lists.

The exported tree is small (only nodes that are left after pruning) and counts its nodes from
0; `nodes` has their numbers in the grown tree, which are the numbers users see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data.arrays import Floats
from ..data.table import Column
from ..errors import ParameterError, PruningError, TreeError, UnsupportedError
from ..nouns.model import as_model
from ..nouns.tree import Tree
from ..show.view import TreeView, view_of
from ._registry import EXPORTS

Family = Literal["text", "truth", "number"]


@dataclass(frozen=True, eq=False)
class Exported:
    """A pruned tree with its tests as plain lists, and the answers of its leaves.

    Parameters
    ----------
    view : TreeView
    n_grown : int
        Nodes of the grown tree.
    """

    view: TreeView
    n_grown: int

    @classmethod
    def of(cls, thing: Any) -> "Exported":
        """Return what to export of a model, an estimator, or parts; trees that could not route a row are refused."""
        model = as_model(thing, done="exported")
        view = view_of(model.tree, model.grown, pruning=model.pruning)
        if not view.tree.has_tests:
            raise TreeError(
                f"{view.tree} has no tests (it was made from parents alone); only a grown tree can be exported"
            )
        if view.tree.schema is None:
            raise TreeError(
                f"{view.tree} does not know its columns; only a tree that was grown on a table can be exported"
            )
        return cls(view, model.tree.n_nodes)

    @property
    def tree(self) -> Tree:
        """The tree that is left after pruning."""
        return self.view.tree

    @cached_property
    def nodes(self) -> list[int]:
        """The number of each of its nodes in the grown tree."""
        found: list[int] = self.view.node.tolist()
        return found

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table the tree was grown on."""
        return () if self.tree.schema is None else self.tree.schema.columns

    @cached_property
    def used(self) -> list[int]:
        """The columns that are tested somewhere."""
        found: list[int] = np.unique(self.tree.feature[self.tree.feature >= 0]).tolist()
        return found

    @cached_property
    def leaves(self) -> list[int]:
        """The leaves."""
        found: list[int] = self.tree.leaves.tolist()
        return found

    @cached_property
    def feature(self) -> list[int]:
        """The column each node tests; -1 for a leaf."""
        found: list[int] = self.tree.feature.tolist()
        return found

    @cached_property
    def threshold(self) -> list[float]:
        """The threshold of each node; NaN where there is none."""
        found: list[float] = self.tree.threshold.tolist()
        return found

    @cached_property
    def is_nominal(self) -> list[bool]:
        """Which nodes test for categories."""
        found: list[bool] = self.view.is_nominal.tolist()
        return found

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each node, in order."""
        found: list[list[int]] = [[] for _ in range(self.tree.n_nodes)]
        for v, p in enumerate(self.tree.parent.tolist()):
            if p >= 0:
                found[p].append(v)
        return found

    @cached_property
    def default(self) -> list[int]:
        """The node that missing and unseen values go to from each node; -1 from a leaf."""
        child = self.tree.default.tolist()
        return [below[child[v]] if below else -1 for v, below in enumerate(self.children)]

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
        found = [(child, self.view.codes(child).tolist()) for child in below]
        return [(child, codes) for child, codes in found if codes]

    @cached_property
    def labels(self) -> list[Any]:
        """The classes, as plain values; empty for a regression tree."""
        shares, schema = self.view.shares, self.tree.schema
        if shares is None:
            return []
        if schema is None or schema.classes is None:
            return list(range(shares.shape[1]))
        return [plain_value(label, "class") for label in schema.classes.tolist()]

    @cached_property
    def answers(self) -> list[Any]:
        """What each leaf answers: the number of a class, or a mean. None for other nodes."""
        found: list[Any] = [None] * self.tree.n_nodes
        for v in self.leaves:
            if self.view.mean is not None:
                found[v] = float(self.view.mean[v])
                continue
            assert self.view.label is not None
            found[v] = int(self.view.label[v])
            if found[v] >= len(self.labels):
                raise PruningError(
                    f"leaf {self.nodes[v]} answers class number {found[v]}, which was not there in growing "
                    f"({len(self.labels)} classes were); only labels of the growing sample can be exported"
                )
        return found

    def shares(self, given: npt.ArrayLike | None = None) -> Floats:
        """The probability of each class in each node; `given` holds other ones, for the nodes of the grown tree."""
        if self.view.shares is None:
            raise ParameterError("a regression tree has no classes and no probabilities; its prediction is a number")
        if given is None:
            return self.view.shares
        found = np.asarray(given, np.float64)
        if found.shape != (self.n_grown, len(self.labels)) or not np.isfinite(found).all():
            raise ParameterError(
                f"probabilities have shape {found.shape}; finite numbers of shape "
                f"{(self.n_grown, len(self.labels))}, one row per node of the grown tree, are needed"
            )
        return found[self.nodes]


def plain_value(value: Any, what: str) -> str | bool | int | float:
    """A category or a class as a plain value of Python."""
    if isinstance(value, np.generic):
        value = value.item()
    for kind in (str, bool, int, float):  # a bool is an int too, hence the order
        if isinstance(value, kind):
            return kind(value)
    try:
        return float(value)  # Decimal, Fraction
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            f"{what} {value!r} is a {type(value).__name__}; text, numbers or truth values can be exported"
        ) from error


def categories_of(column: Column) -> tuple[Family, list[Any]]:
    """The categories of a nominal column as plain values, and what they are."""
    values = [plain_value(value, f"column {column.name!r}: category") for value in column.categories]
    if not values or isinstance(values[0], str):
        return "text", values
    return ("truth" if isinstance(values[0], bool) else "number"), values


def check_exact(column: Column) -> None:
    """Refuse categories that are whole numbers too large for a double to tell apart."""
    family, values = categories_of(column)
    large = [value for value in values if family == "number" and isinstance(value, int) and abs(value) >= 2**53]
    if large:
        raise UnsupportedError(
            f"column {column.name!r} has the category {large[0]}, a whole number of 2**53 or more, which a double "
            "cannot tell from its neighbours; grow on the column as text, or export to Python"
        )


def check_levels(n_levels: int, name: str, what: str) -> None:
    """Refuse a tree that is deeper than the export can be."""
    most = EXPORTS[name].most_levels
    if most is not None and n_levels > most:
        raise UnsupportedError(
            f"the tree is {n_levels:,} tests deep; up to {most:,} can be written as {what}: prune it further, or "
            "export it to Python or C"
        )


def unique_name(wanted: str, taken: Sequence[str]) -> str:
    """`wanted`, with as many underscores as it takes to differ from all `taken`, whatever the case of letters."""
    others = {name.lower() for name in taken}
    while wanted.lower() in others:
        wanted += "_"
    return wanted
