"""Moments: what squared error needs to know of one named sample in each node."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._kernels import node_moments, structure
from .._utils.arrays import MAX_EXACT_INT, ArrayLike, Floats, immutable_array, write_protect
from ..data.sketch import Sketch
from ..errors import CountsError, UnsupportedError
from .node_statistics import NodeStatistics
from .provenance import sample_id_of
from .tree import Tree

NOISE = 1e-12  # of the root's squared error: a subtree that gains no more has gained rounding only


class NoClassesError(UnsupportedError, AttributeError):
    """Classes were asked of a sample whose target is a number."""


@dataclass(frozen=True, eq=False, repr=False)
class Moments(NodeStatistics):
    """Weight, mean and squared error of a numeric target in every node of a tree.

    The regression twin of `Counts`: the cost of a node as a leaf that answers `values` is
    `squared_errors_if_leaf(values)`, and every rule that takes `cost=` works on it.

    Parameters
    ----------
    tree : Tree
        The tree the sample was routed through.
    weight : array of float
        Examples (or their weight) in each node.
    mean : array of float
        Mean of the target in each node; the parent's where the node is empty.
    spread : array of float
        Sum of weighted squared differences from that mean: what the node costs as a leaf
        that answers its own mean.
    sample : str
        Name of the sample.
    n_rows, sketch
        As for `Counts`.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> moments = Moments(tree, [3, 2, 1], [2.0, 1.0, 4.0], [6.0, 0.0, 0.0])
    >>> moments
    Moments('grow', 3 examples, 3 nodes)
    >>> moments.squared_errors_if_leaf([2.0, 2.0, 2.0]).tolist()
    [6.0, 2.0, 4.0]
    """

    has_classes: ClassVar[bool] = False
    kept: ClassVar[tuple[str, ...]] = ("weight", "mean", "sse")

    tree: Tree
    weight: Floats
    mean: Floats
    sse: Floats
    sample: str = "grow"
    n_rows: int | None = field(default=None, compare=False)
    sketch: Sketch | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in self.kept:
            object.__setattr__(self, name, _numbers(name, getattr(self, name), self))
        _check_sums(self)

    @classmethod
    def from_leaves(
        cls, tree: Tree, weight: ArrayLike, mean: ArrayLike, sse: ArrayLike | None = None, *, sample: str = "grow"
    ) -> "Moments":
        """Return the moments of all nodes from those of the leaves, in pre-order.

        Parameters
        ----------
        tree : Tree
        weight, mean, spread : arrays, one number per leaf
            Without `spread` all examples of a leaf have the same target. The mean of an
            empty leaf is not read.
        sample : str

        Examples
        --------
        >>> moments = Moments.from_leaves(Tree.from_parents([-1, 0, 0]), [2, 1], [1.0, 4.0])
        >>> moments.mean.tolist(), moments.sse.tolist()
        ([2.0, 1.0, 4.0], [6.0, 0.0, 0.0])
        """
        given = {"weight": weight, "mean": mean, "sse": np.zeros(tree.n_leaves) if sse is None else sse}
        whole = []
        for name, values in given.items():
            array = np.asarray(values, np.float64)
            if array.shape != (tree.n_leaves,):
                raise CountsError(f"{name} has shape {array.shape}; one number per leaf, ({tree.n_leaves},), needed")
            whole.append(np.zeros(tree.n_nodes))
            whole[-1][tree.is_leaf] = array
        total, means, spreads = node_moments.moments_upwards(tree.parent, *whole)
        return cls(tree, write_protect(total), write_protect(means), write_protect(spreads), sample)

    @property
    def total(self) -> Floats:
        """Number of rows (or weight) in each node, named as in `Counts`."""
        return self.weight

    @property
    def predictions(self) -> Floats:
        """The prediction of each node as a leaf: its mean."""
        return self.mean

    @property
    def scale(self) -> float:
        """The squared error around the overall mean."""
        return float(self.sse[0])

    @cached_property
    def resubstitution_costs(self) -> Floats:
        """The squared error of each node as a leaf that predicts its own mean.

        A subtree that gains at most 1e-12 of the root's squared error gains rounding only: its
        root gets the cost of its leaves, so that every rule sees a tie and prefers the leaf.

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
        >>> Moments.from_leaves(tree, [1, 1, 2], [1.0, 1.0 + 1e-9, 5.0]).resubstitution_costs.round(6).tolist()
        [16.0, 0.0, 0.0, 0.0, 0.0]
        """
        own = np.where(self.tree.is_leaf, self.sse, 0)
        full = structure.sum_upwards(self.tree.parent, own[:, None])[:, 0]
        return write_protect(np.where(self.sse - full <= NOISE * self.sse[0], full, self.sse))

    @cached_property
    def sample_id(self) -> bytes:
        """A mark that identifies this sample; see `Counts.mark`."""
        return sample_id_of(self, self.weight, self.sse)

    @cached_property
    def is_whole(self) -> bool:
        """Whether the weights are whole numbers, so that they count examples."""
        return bool((self.weight == np.rint(self.weight)).all())

    def squared_errors_if_leaf(self, values: ArrayLike) -> Floats:
        """Return the sum of squared errors of each node as a leaf that predicts `values`, one number per node.

        With the means of the growing sample as `values` this is what a held-out sample says
        each node costs.

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 0])
        >>> grown = Moments.from_leaves(tree, [2, 2], [1.0, 3.0])
        >>> held_out = Moments.from_leaves(tree, [1, 1], [1.0, 2.0], sample="prune")
        >>> held_out.squared_errors_if_leaf(grown.mean).tolist()
        [1.0, 0.0, 1.0]
        """
        predictions = np.asarray(values, np.float64)
        if predictions.shape != (self.tree.n_nodes,):
            raise CountsError(f"values have shape {predictions.shape}; one per node, ({self.tree.n_nodes},), needed")
        wrong = np.flatnonzero(~np.isfinite(predictions))
        if len(wrong):
            raise CountsError(f"the value of node {wrong[0]} is {predictions[wrong[0]]}; finite numbers are needed")
        return write_protect(self.sse + self.weight * (self.mean - predictions) ** 2)

    costs_if_leaf = squared_errors_if_leaf

    def __getattr__(self, name: str) -> Any:
        if name in ("by_class", "majority", "errors_if_leaf", "n_classes", "unrecorded_errors_if_leaf"):
            raise NoClassesError(
                f"{name} asks for classes, but the target of sample {self.sample!r} is a number; rules and "
                "certificates of classes do not take Moments (the pruning rules that do: see secateur.pruners.RULES)"
            )
        raise AttributeError(f"'Moments' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"Moments({self.sample!r}, {self.weight[0]:,.10g} examples, {self.tree.n_nodes:,} nodes)"


def _numbers(name: str, given: ArrayLike, moments: Moments) -> Floats:
    what, n_nodes = f"{name} of sample {moments.sample!r}", moments.tree.n_nodes
    try:
        values: Floats = immutable_array(given, np.float64)
    except (TypeError, ValueError) as error:
        raise CountsError(f"{what} holds values that are not numbers ({error})") from error
    if values.shape != (n_nodes,):
        raise CountsError(
            f"{what} has shape {values.shape}; one number per node, ({n_nodes},), needed for {moments.tree}"
        )
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise CountsError(f"{what} is {values[wrong[0]]} at node {wrong[0]}; finite numbers are needed")
    if name != "mean" and values.min() < 0:
        raise CountsError(f"{what} is {values.min()} at node {values.argmin()}; 0 or more is needed")
    return values


def _check_sums(moments: Moments) -> None:
    """Refuse weights that differ from the sum over the leaves below.

    Means and spreads are not added up again: foreign trees bring medians, and squared errors
    that have lost digits.
    """
    tree, weight = moments.tree, moments.weight
    if weight[0] >= MAX_EXACT_INT:
        raise CountsError(
            f"weight of sample {moments.sample!r} is {weight[0]:.6g}, 2**53 or more, where whole numbers stop being "
            "exact; divide it by a common factor, and spread too"
        )
    # Weights are sums in some order: 1e-9 of the whole is far above rounding, far below a row.
    v, _, summed = structure.first_invalid_count(tree.parent, weight[:, None], 1e-9 * float(weight[0]))
    if v >= 0:
        raise CountsError(
            f"weight of sample {moments.sample!r} is {weight[v]} at node {v}, but the leaves below it hold "
            f"{summed[v, 0]}; Moments.from_leaves adds them up"
        )
