"""The pruned tree as plain lists. All exports to programs and to models that predict are written from these lists.

An exported tree holds only the nodes that remain after pruning, and numbers them from 0. `node_ids` has their numbers
in the grown tree, which are the numbers that users see.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..core import as_model, check_no_surrogates
from ..errors import ParameterError, PruningError, TreeError, UnsupportedError
from ..inspection.view import view_of
from ..statistics.probabilities import node_probabilities
from . import EXPORTS
from ._values import MAX_DOUBLE, PlainValue, plain_value


class CategorySet(NamedTuple):
    """The category codes that a test sends to one child."""

    child: int
    codes: list[int]


class NumericCondition(NamedTuple):
    """The condition under which a numeric test sends a row to a child: `value sign threshold`.

    `sign` is "<", "<=", ">" or ">=". Two signs ignore the threshold: "known" is true for every value that is not
    missing, and "never" is true for no value.
    """

    child: int
    sign: str
    threshold: float


class ExportedTree:
    """A pruned tree with its tests as plain lists, and the predictions of its leaves.

    Trees without tests or without a schema, which cannot route rows, are refused, and so are trees with surrogates.

    Parameters
    ----------
    model : Model, estimator, or parts of a model

    Attributes
    ----------
    node_ids : list of int
        The number of each node in the grown tree.
    columns : tuple of Column
        The columns of the table that the tree was grown on.
    tested_columns : list of int
        The columns that some node tests.
    feature, threshold : lists
        The column each node tests (-1 for a leaf), and its threshold (NaN where there is none).
    is_nominal : list of bool
        Which nodes test for categories.
    children : list of list of int
        The children of each node, in order.
    default : list of int
        The child of each node that missing and unseen values go to; -1 for a leaf.
    """

    def __init__(self, model: object) -> None:
        self.model = as_model(model, done="exported")
        self.view = view_of(self.model.tree, self.model.grown, pruning=self.model.pruning)
        tree = self.tree = self.view.tree
        if not tree.has_tests or tree.schema is None:
            problem = "has no schema" if tree.has_tests else "has no tests (it was made from parents alone)"
            raise TreeError(f"{tree} {problem}; only a tree that was grown on a table can be exported")
        check_no_surrogates(tree, "an export", "predict with secateur itself")
        self.node_ids: list[int] = self.view.node.tolist()
        self.columns, self.classes = tree.schema.columns, tree.schema.classes
        self.tested_columns: list[int] = tree.tested_columns.tolist()
        self.leaves: list[int] = tree.leaves.tolist()
        self.feature: list[int] = tree.feature.tolist()
        self.threshold: list[float] = tree.threshold.tolist()
        self.is_nominal: list[bool] = self.view.is_nominal.tolist()
        self.children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
        for v, p in enumerate(tree.parent.tolist()[1:], 1):
            self.children[p].append(v)
        self.default = [
            children[number] if children else -1
            for children, number in zip(self.children, tree.default.tolist(), strict=True)
        ]

    def child_of_codes(self, v: int) -> list[int]:
        """Return the child to which node `v` sends each category code."""
        first, last = self.tree.branch_start[v : v + 2].tolist()
        children = self.children[v]
        return [children[number] for number in self.tree.branch[first:last].tolist()]

    def category_sets(self, v: int) -> list[CategorySet]:
        """Return the category codes that go to each child of nominal node `v`, except the default child.

        Codes that a test above has sent elsewhere are left out, because no row with such a code reaches the node.
        Children that no code reaches are left out too.
        """
        sets = [
            CategorySet(child, self.view.arriving_codes(child).tolist())
            for child in self.children[v]
            if child != self.default[v]
        ]
        return [category_set for category_set in sets if category_set.codes]

    def numeric_condition(self, v: int) -> NumericCondition:
        """Return the condition for the child of numeric node `v` that is not the default child."""
        (low, high), threshold = self.children[v], self.threshold[v]
        low_sign, high_sign = "<=", ">"
        if threshold == np.inf:
            low_sign, high_sign = "known", "never"
        elif threshold == -np.inf:
            low_sign, high_sign = "<", ">="
        # Not every language can write minus infinity, so the lowest finite double replaces it: only minus infinity is
        # less. A threshold of plus infinity is not written, because "known" and "never" need no threshold.
        if self.default[v] == high:
            return NumericCondition(low, low_sign, max(threshold, -MAX_DOUBLE))
        return NumericCondition(high, high_sign, max(threshold, -MAX_DOUBLE))

    @cached_property
    def leaf_index(self) -> list[int]:
        """The position of each leaf in the list of leaves; -1 for other nodes."""
        index = np.full(self.tree.n_nodes, -1)
        index[self.leaves] = np.arange(len(self.leaves))
        return list(index.tolist())

    def test_tables(self, format_number: Callable[[float], str]) -> dict[str, list[str]]:
        """Return the tests as lists of numbers by name, each number written by `format_number` or `str`.

        The list `next` contains the children of all nodes, one node after the other. Those of node v begin at
        `next[start[v]]`. A numeric node has two entries, the child for values up to the threshold and the child for
        values above. A nominal node has one entry per category code: the child to which the code goes.
        """
        start: list[int] = []
        next_nodes: list[int] = []
        for v in range(self.tree.n_nodes):
            start.append(len(next_nodes))
            next_nodes += self.child_of_codes(v) if self.is_nominal[v] else self.children[v]
        threshold = ["0.0" if math.isnan(x) else format_number(x) for x in self.threshold]
        tables: dict[str, list[Any]] = {
            "column": self.feature,
            "threshold": threshold,
            "start": start,
            "next": next_nodes,
            "default": self.default,
            "node": self.node_ids,
        }
        return {name: list(map(str, values)) for name, values in tables.items()}

    @cached_property
    def class_labels(self) -> list[PlainValue]:
        """The classes as plain values; empty for a regression tree."""
        if self.view.shares is None:
            return []
        if self.classes is None:
            return list(range(self.view.shares.shape[1]))
        return [plain_value(label, "class") for label in self.classes.tolist()]

    @cached_property
    def predictions(self) -> list[Any]:
        """What each leaf predicts: the number of a class, or a mean; None for other nodes."""
        is_classifier = self.view.mean is None
        values = self.view.label if is_classifier else self.view.mean
        assert values is not None
        predictions: list[Any] = [None if self.children[v] else value for v, value in enumerate(values.tolist())]
        for v in self.leaves:
            if is_classifier and predictions[v] >= len(self.class_labels):
                raise PruningError(
                    f"leaf {self.node_ids[v]} predicts class number {predictions[v]}, which is not in the growing "
                    f"sample (it has {len(self.class_labels)} classes); only labels of the growing sample can be "
                    "exported"
                )
        return predictions

    def prediction(self, v: int) -> PlainValue:
        """Return what leaf `v` predicts: a class label, or a mean."""
        value: PlainValue = self.class_labels[self.predictions[v]] if self.class_labels else self.predictions[v]
        return value

    def probabilities(self, grown_node_probabilities: ArrayLike | None = None) -> Floats:
        """Return the class probabilities of each node, one row per node of the exported tree.

        Parameters
        ----------
        grown_node_probabilities : array, optional
            Class probabilities of all nodes of the grown tree, one row per node. By default those of the model.
        """
        if self.view.shares is None:
            raise ParameterError("a regression tree has no classes and no probabilities; its prediction is a number")
        if grown_node_probabilities is None:
            return node_probabilities(self.model)[self.node_ids]
        array = np.asarray(grown_node_probabilities, np.float64)
        if array.shape != (self.model.tree.n_nodes, len(self.class_labels)) or not np.isfinite(array).all():
            raise ParameterError(
                f"probabilities have shape {array.shape}; finite numbers of shape "
                f"{(self.model.tree.n_nodes, len(self.class_labels))}, one row per node of the grown tree, are needed"
            )
        return array[self.node_ids]


def check_levels(n_levels: int, name: str, product: str) -> None:
    """Raise `UnsupportedError` if a tree has more levels than the export `name` can write.

    `product` says in the message what the export writes.
    """
    max_levels = EXPORTS[name].max_levels
    if max_levels is not None and n_levels > max_levels:
        unlimited = [other for other, export in EXPORTS.items() if export.runs and export.max_levels is None]
        raise UnsupportedError(
            f"the tree is {n_levels:,} tests deep; up to {max_levels:,} can be written as {product}: prune it further, "
            f"or export it to {' or '.join(unlimited)}"
        )
