"""Counted: what `Counts` and `Moments` have in common, so that verbs need not ask which of them they are given."""

from dataclasses import replace
from typing import ClassVar, Self

from .._kernels.stop import check_stopped
from .._utils.arrays import Array, Ints, LongsOrFloats, write_protect
from .._utils.immutable import Immutable
from ..data.sketch import Sketch
from ..errors import CountsError
from .tree import Tree


class NodeStatistics(Immutable):
    """One named sample, counted in every node of a tree: `Counts` of classes, or `Moments` of a number.

    Both also have `mark`, which tells the sample from others; `answers`, what each node answers as a leaf (`labels`
    where it is a class); `resubstitution_costs` and `costs_if_leaf(answers)`, what it costs with its own or other
    answers; and `scale`, the cost that an accuracy of 0 would mean.
    """

    has_classes: ClassVar[bool]
    kept: ClassVar[tuple[str, ...]]  # the names of its arrays, which have a line for each node
    tree: Tree
    sample: str
    n_rows: int | None
    sketch: Sketch | None

    @property
    def total(self) -> LongsOrFloats:
        """Examples (or weight) in each node."""
        raise NotImplementedError

    @property
    def labels(self) -> Ints | None:
        """The class of each node as a leaf; None where the target is a number."""
        return None

    @property
    def n_labels(self) -> int:
        """Number of classes; 0 where the target is a number."""
        return 0

    @property
    def is_whole(self) -> bool:
        """Whether the numbers of examples are whole."""
        raise NotImplementedError

    @property
    def is_weighted(self) -> bool:
        """Whether some row counts for more or less than one."""
        return not self.is_whole or self.n_rows not in (None, int(self.total[0]))

    def restrict_to(self, tree: Tree, nodes: Array) -> Self:
        """Return the sample on a smaller tree whose nodes are `nodes` (a mask or ids) of this one's."""
        return replace(self, tree=tree, **{name: write_protect(getattr(self, name)[nodes]) for name in self.kept})  # type: ignore[type-var]

    def check_fits(self, tree: Tree) -> None:
        """Raise `CountsError` unless this sample was counted in `tree`."""
        check_stopped()  # every verb begins here
        if not self.tree.same_structure(tree):
            raise CountsError(
                f"sample {self.sample!r} was counted on another tree ({self.tree}, not {tree}); "
                "count it on the tree to prune"
            )
