"""Moments: weight, mean and squared error of a numeric target of one named sample in each node of a tree."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._kernels import node_moments, structure
from .._utils.arrays import MAX_EXACT_INT, Array, ArrayLike, Floats, immutable_array, write_protect
from ..data.sketch import Sketch
from ..errors import CountsError, UnsupportedError, show
from .estimate_limits import limit_values
from .grouped_rows import GroupedRows
from .node_statistics import NodeStatistics
from .provenance import identify_sample
from .target_rows import TargetRows
from .tree import Tree

# A subtree that lowers the squared error by at most this share of the root's has gained rounding errors only.
RELATIVE_NOISE = 1e-12
RELATIVE_ROUNDING = 1e-9  # as in `counts.py`


class NoClassesError(UnsupportedError, AttributeError):
    """An attribute of classes was read from a sample whose target is a number."""


@dataclass(frozen=True, eq=False, repr=False)
class Moments(NodeStatistics):
    """Weight, mean and squared error of a numeric target in every node of a tree.

    The counterpart of `Counts` for regression. Every rule that takes `cost=` works on it: the cost of a node as a
    leaf that predicts `values` is `squared_errors_if_leaf(values)`.

    Parameters
    ----------
    tree : Tree
        The tree the sample was routed through.
    weight : array of float
        Number of rows (or their weight) in each node.
    mean : array of float
        Mean of the target in each node; the parent's where the node is empty.
    sse : array of float
        Sum of the weighted squared differences of the target from `mean`: the cost of the node as a leaf that
        predicts `mean`.
    sample : str
        Name of the sample.
    n_rows, sketch
        As for `Counts`.
    rows : TargetRows, optional
        The leaf and target of each row, from which limits on mean losses and prediction intervals are computed. `count`
        adds them for rows without weights; they are `GroupedRows` if rows belong together.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> moments = Moments(tree, [3, 2, 1], [2.0, 1.0, 4.0], [6.0, 0.0, 0.0])
    >>> moments
    Moments('grow', 3 rows, 3 nodes)
    >>> moments.squared_errors_if_leaf([2.0, 2.0, 2.0]).tolist()
    [6.0, 2.0, 4.0]
    """

    has_classes: ClassVar[bool] = False
    array_fields: ClassVar[tuple[str, ...]] = ("weight", "mean", "sse")
    tree: Tree
    weight: Floats
    mean: Floats
    sse: Floats
    sample: str = "grow"
    n_rows: int | None = field(default=None, compare=False)
    sketch: Sketch | None = field(default=None, compare=False)
    rows: TargetRows | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in self.array_fields:
            object.__setattr__(self, name, _checked_numbers(name, getattr(self, name), self))
        _check_sums(self)

    @property
    def grouped(self) -> GroupedRows | None:
        """The rows with their groups, if rows belong together."""
        return self.rows if isinstance(self.rows, GroupedRows) else None

    def restrict_to(self, tree: Tree, nodes: Array) -> "Moments":
        """Return the moments of the same sample on a smaller tree; see `NodeStatistics.restrict_to`."""
        restricted = super().restrict_to(tree, nodes)
        return restricted if self.rows is None else replace(restricted, rows=self.rows.restrict_to(self.tree, nodes))

    @classmethod
    def from_leaves(
        cls, tree: Tree, weight: ArrayLike, mean: ArrayLike, sse: ArrayLike | None = None, *, sample: str = "grow"
    ) -> "Moments":
        """Return the moments of all nodes, given those of the leaves in pre-order.

        Parameters
        ----------
        tree : Tree
        weight, mean, sse : arrays, one number per leaf
            As for `Moments`. Without `sse`, all rows of a leaf have the same target. The mean of an empty leaf is
            ignored.
        sample : str
            Name of the sample.

        Examples
        --------
        >>> moments = Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [2, 1], [1.0, 4.0])
        >>> moments.mean.tolist(), moments.sse.tolist()
        ([2.0, 1.0, 4.0], [6.0, 0.0, 0.0])
        """
        at_leaves = {"weight": weight, "mean": mean, "sse": np.zeros(tree.n_leaves) if sse is None else sse}
        at_nodes = []
        for name, values in at_leaves.items():
            array = np.asarray(values, np.float64)
            if array.shape != (tree.n_leaves,):
                raise CountsError(f"{name} has shape {array.shape}; one number per leaf, ({tree.n_leaves},), needed")
            node_values = np.zeros(tree.n_nodes)
            node_values[tree.is_leaf] = array
            at_nodes.append(node_values)
        weights, means, sums = node_moments.moments_upwards(tree.parent, *at_nodes)
        return cls(tree, write_protect(weights), write_protect(means), write_protect(sums), sample)

    @property
    def total(self) -> Floats:
        """Number of rows (or weight) in each node, under the name that `Counts` has."""
        return self.weight

    @cached_property
    def predictions(self) -> Floats:
        """The prediction of each node as a leaf: its mean, moved into the limits that the tree may have."""
        return limit_values(self.tree, self.mean)

    @property
    def zero_accuracy_cost(self) -> float:
        """The cost that an accuracy of 0 stands for: the squared error around the mean of all rows."""
        return float(self.sse[0])

    @cached_property
    def resubstitution_costs(self) -> Floats:
        """The squared error of each node as a leaf with its prediction.

        If a subtree lowers the squared error by at most 1e-12 of the root's, it has gained rounding errors only. Its
        root then has the cost of its leaves, so that every rule finds a tie and prefers the smaller tree.

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
        >>> Moments.from_leaves(tree, [1, 1, 2], [1.0, 1.0 + 1e-9, 5.0]).resubstitution_costs.round(6).tolist()
        [16.0, 0.0, 0.0, 0.0, 0.0]
        """
        costs = self.sse if self.predictions is self.mean else self.squared_errors_if_leaf(self.predictions)
        at_leaves = np.where(self.tree.is_leaf, costs, 0)
        of_leaves_below = structure.sum_upwards(self.tree.parent, at_leaves[:, None])[:, 0]
        is_noise = costs - of_leaves_below <= RELATIVE_NOISE * self.sse[0]
        return write_protect(np.where(is_noise, of_leaves_below, costs))

    @cached_property
    def sample_id(self) -> bytes:
        """The identity of this sample; see `Counts.sample_id`."""
        return identify_sample(self, self.weight, self.sse)

    @cached_property
    def has_integer_weights(self) -> bool:
        """Whether the weight of every node is an integer."""
        return bool((self.weight == np.rint(self.weight)).all())

    def squared_errors_if_leaf(self, values: ArrayLike) -> Floats:
        """Return the sum of squared errors of each node as a leaf that predicts `values`, one number per node.

        With the means of the growing sample as `values`, this is the held-out cost of each node. As for
        `Counts.errors_if_leaf`, the tree's evaluation log records that the sample may have chosen a pruning.

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 0])
        >>> grown = Moments.from_leaves(tree, [2, 2], [1.0, 3.0])
        >>> held_out = Moments.from_leaves(tree, [1, 1], [1.0, 2.0], sample="prune")
        >>> held_out.squared_errors_if_leaf(grown.mean).tolist()
        [1.0, 0.0, 1.0]
        """
        self.tree.evaluation_log.record_nodes(self)
        return self.unrecorded_costs_if_leaf(values)

    def costs_if_leaf(self, predictions: ArrayLike) -> Floats:
        """Return `squared_errors_if_leaf(predictions)`, under the name that `Counts` has, too."""
        return self.squared_errors_if_leaf(predictions)

    def unrecorded_costs_if_leaf(self, predictions: ArrayLike) -> Floats:
        """Return `squared_errors_if_leaf(predictions)` without recording the evaluation."""
        prediction = np.asarray(predictions, np.float64)
        if prediction.shape != (self.tree.n_nodes,):
            raise CountsError(f"values have shape {prediction.shape}; one per node, ({self.tree.n_nodes},), needed")
        not_finite = np.flatnonzero(~np.isfinite(prediction))
        if len(not_finite):
            node = not_finite[0]
            raise CountsError(f"the value of node {node} is {prediction[node]}; finite numbers are needed")
        return write_protect(self.sse + self.weight * (self.mean - prediction) ** 2)

    def __getattr__(self, name: str) -> Any:
        if name in ("by_class", "majority", "errors_if_leaf", "n_classes", "unrecorded_errors_if_leaf"):
            raise NoClassesError(
                f"{name} asks for classes, but the target of sample {show(self.sample)} is a number; rules and "
                "certificates of classes do not take Moments (the pruning rules that do: see secateur.pruners.RULES)"
            )
        raise AttributeError(f"'Moments' object has no attribute {show(name)}")

    def __repr__(self) -> str:
        return f"Moments({show(self.sample)}, {self.weight[0]:,.10g} rows, {self.tree.n_nodes:,} nodes)"


def _checked_numbers(name: str, values: ArrayLike, moments: Moments) -> Floats:
    """Return a field of `moments` as a read-only float array; raise `CountsError` if it has no valid numbers."""
    field_name, n_nodes = f"{name} of sample {show(moments.sample)}", moments.tree.n_nodes
    try:
        array: Floats = immutable_array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise CountsError(f"{field_name} holds values that are not numbers ({error})") from error
    if array.shape != (n_nodes,):
        raise CountsError(
            f"{field_name} has shape {array.shape}; one number per node, ({n_nodes},), needed for {moments.tree}"
        )
    not_finite = np.flatnonzero(~np.isfinite(array))
    if len(not_finite):
        node = not_finite[0]
        raise CountsError(f"{field_name} is {array[node]} at node {node}; finite numbers are needed")
    if name != "mean" and array.min() < 0:
        raise CountsError(f"{field_name} is {array.min()} at node {array.argmin()}; 0 or more is needed")
    return array


def _check_sums(moments: Moments) -> None:
    """Raise `CountsError` if the weights of children do not add up to those of their parents.

    Means and squared errors are not checked: trees from other libraries may predict medians, and their squared
    errors may have lost digits.
    """
    tree, weight = moments.tree, moments.weight
    if weight[0] >= MAX_EXACT_INT:
        raise CountsError(
            f"weight of sample {show(moments.sample)} is {weight[0]:.6g}, 2**53 or more, where whole numbers "
            "stop being exact; divide it by a common factor, and sse too"
        )
    slack = RELATIVE_ROUNDING * float(weight[0])
    node, _, summed = structure.first_invalid_count(tree.parent, weight[:, None], slack)
    if node >= 0:
        raise CountsError(
            f"weight of sample {show(moments.sample)} is {weight[node]} at node {node}, but the leaves below it hold "
            f"{summed[node, 0]}; Moments.from_leaves adds them up"
        )
