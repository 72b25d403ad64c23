"""Counted: what `Counts` and `Moments` have in common, so that verbs need not ask which of them they are given."""

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

from .._kernels.stop import check_stopped
from ..data.arrays import Array, ArrayLike, Ints, Sums, rebuilt, same, sealed
from ..data.sketch import Sketch
from ..errors import CountsError
from .tree import Tree


class Counted:
    """One named sample, counted in every node of a tree: `Counts` of classes, or `Moments` of a number.

    `answers` is what each node answers as a leaf, `labels` the same where it is a class, and `scale` the cost
    that an accuracy of 0 would mean.
    """

    has_classes: ClassVar[bool]
    kept: ClassVar[tuple[str, ...]]  # the names of its arrays, which have a line for each node
    tree: Tree
    sample: str
    n_rows: int | None
    sketch: Sketch | None

    @property
    def mark(self) -> bytes:
        """What tells this sample from others: its name and rows, or what was counted where those are not known."""
        raise NotImplementedError

    @property
    def total(self) -> Sums:
        """Examples (or weight) in each node."""
        raise NotImplementedError

    @property
    def answers(self) -> Any:
        """The prediction of each node as a leaf: its class, or its mean."""
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
    def scale(self) -> float:
        """What answering wrongly everywhere costs: the examples, or the squared error around the overall mean."""
        raise NotImplementedError

    @property
    def is_whole(self) -> bool:
        """Whether the numbers of examples are whole."""
        raise NotImplementedError

    @property
    def is_weighted(self) -> bool:
        """Whether some row counts for more or less than one."""
        return not self.is_whole or self.n_rows not in (None, int(self.total[0]))

    @cached_property
    def own_costs(self) -> Sums:
        """What each node costs as a leaf that answers for itself."""
        raise NotImplementedError

    def costs_if_leaf(self, answers: ArrayLike, /) -> Sums:
        """Return what each node costs as a leaf with these answers: errors, or squared errors."""
        raise NotImplementedError

    def restricted(self, tree: Tree, nodes: Array) -> Self:
        """Return the sample on a smaller tree whose nodes are `nodes` (a mask or ids) of this one's."""
        return replace(self, tree=tree, **{name: sealed(getattr(self, name)[nodes]) for name in self.kept})  # type: ignore[type-var]

    __reduce__ = rebuilt

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Counted)
        alike = all(same(getattr(self, name), getattr(other, name)) for name in self.kept)
        return alike and self.sample == other.sample and self.tree == other.tree

    def __hash__(self) -> int:
        return hash((self.sample, self.total.tobytes()))

    def check_fits(self, tree: Tree) -> None:
        """Raise `CountsError` unless this sample was counted in `tree`."""
        check_stopped()  # every verb begins here
        if not self.tree.same_structure(tree):
            raise CountsError(
                f"sample {self.sample!r} was counted on another tree ({self.tree}, not {tree}); "
                "count it on the tree to prune"
            )
