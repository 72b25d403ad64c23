"""NodeStatistics: the common part of `Counts` and `Moments`, so that functions work on both alike."""

from dataclasses import fields, replace
from typing import ClassVar, Self

from .._kernels.stop import check_stopped
from .._utils.arrays import Array, Immutable, Ints, LongsOrFloats, write_protect
from ..data.sketch import Sketch
from ..errors import CountsError, show
from .provenance import SampleUsage, UsedSample
from .tree import Tree


class NodeStatistics(Immutable):
    """Statistics of one named sample in every node of a tree: `Counts` of classes or `Moments` of a number.

    Besides the members below, both classes have

    sample_id
        The identity of the sample.
    predictions
        The prediction of each node as a leaf: a class number or a mean.
    resubstitution_costs
        The cost of each node as a leaf with these predictions.
    costs_if_leaf(predictions), unrecorded_costs_if_leaf(predictions)
        The cost of each node as a leaf with other predictions. The first method records an evaluation.
    zero_accuracy_cost
        The cost of the whole tree that an accuracy of 0 stands for.
    """

    has_classes: ClassVar[bool]
    array_fields: ClassVar[tuple[str, ...]]  # names of the fields that have one entry per node
    tree: Tree
    sample: str
    n_rows: int | None
    sketch: Sketch | None

    @property
    def total(self) -> LongsOrFloats:
        """Number of rows (or weight) in each node."""
        raise NotImplementedError

    @property
    def labels(self) -> Ints | None:
        """The class that each node predicts as a leaf; None where the target is a number."""
        return None

    @property
    def n_labels(self) -> int:
        """Number of classes; 0 where the target is a number."""
        return 0

    @property
    def has_integer_weights(self) -> bool:
        """Whether the weight of every node is an integer."""
        raise NotImplementedError

    @property
    def is_weighted(self) -> bool:
        """Whether some row has another weight than 1."""
        return not self.has_integer_weights or self.n_rows not in (None, int(self.total[0]))

    def with_growing_sketch(self, sketch: Sketch) -> Self:
        """Return the statistics of a growing sample with its sketch, on a tree that has the sample in its `history`.

        Samples that are in the history already stay there: they chose splits that were stated by hand.
        The arrays are shared and not checked again; see `Tree.with_history`.
        """
        history = self.tree.history | SampleUsage([UsedSample(self.sample, sketch)])
        known = {"n_rows": sketch.n_rows, "sketch": sketch, "tree": self.tree.with_history(history)}
        statistics = type(self).__new__(type(self))
        statistics.__dict__.update({field.name: getattr(self, field.name) for field in fields(self)})  # type: ignore[arg-type]
        statistics.__dict__.update(known)
        return statistics

    def restrict_to(self, tree: Tree, nodes: Array) -> Self:
        """Return the statistics of the same sample on a smaller tree.

        Parameters
        ----------
        tree : Tree
            The smaller tree, cut from the tree of this sample.
        nodes : array
            The nodes of the larger tree that the smaller one has, in order: numbers, or one bool per node.
        """
        arrays = {name: write_protect(getattr(self, name)[nodes]) for name in self.array_fields}
        return replace(self, tree=tree, **arrays)  # type: ignore[type-var]

    def check_fits(self, tree: Tree) -> None:
        """Raise `CountsError` unless the sample was counted in a tree with the structure of `tree`.

        All rules and certificates call this first, so a request to stop is noticed here, too.
        """
        check_stopped()
        if not self.tree.same_structure(tree):
            raise CountsError(
                f"sample {show(self.sample)} was counted on another tree ({self.tree}, not {tree}); "
                "count it on the tree to prune"
            )
