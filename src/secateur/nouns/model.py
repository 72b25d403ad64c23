"""Model: all parts of one fitted tree, as the estimators, the command line, files and reports share them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..data.arrays import Array, Ints, rebuilt, sealed
from ..errors import PruningError
from .bound import Bound
from .choice import Selection
from .counts import Counts
from .moments import Moments
from .pruning import Pruning
from .sequence import PruningSequence
from .tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A fitted tree: the grown tree, its samples, and the pruning that predicts.

    Parameters
    ----------
    pruning : Pruning
        What predicts. `pruning.tree` is the whole tree, whose node numbers every part uses.
    grown : Counts or Moments
        The growing sample.
    holdout : Counts or Moments, optional
        The held-out sample, if one was used to prune, choose or certify.
    sequence : PruningSequence, optional
        The sequence the pruning was taken from.
    selection : Selection, optional
        The table it was chosen from.
    certificate : Bound, optional
    parameters : dict
        Of the estimator: plain values by name, with its class under "estimator".
    facts : dict
        Where it comes from: versions, rows, columns, seconds; plain values by name.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    Model(2 of 2 leaves, 6 rows, not certified)
    """

    pruning: Pruning
    grown: Counts | Moments
    holdout: Counts | Moments | None = None
    sequence: PruningSequence | None = None
    selection: Selection | None = None
    certificate: Bound | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in (self.grown, self.holdout):
            if part is not None:
                part.check_fits(self.tree)
        for trees in (self.sequence, self.selection):
            if trees is not None and not trees.tree.same_structure(self.tree):
                raise PruningError(f"the sequence is of another tree ({trees.tree}, not {self.tree})")
        if self.is_classifier and self.pruning.node_labels is None:
            raise PruningError("the pruning has no classes; a classifying model needs node_labels")

    @property
    def tree(self) -> Tree:
        """The whole tree."""
        return self.pruning.tree

    @cached_property
    def shown(self) -> Tree:
        """The tree as cut; node `v` of it is node `ids[v]` of the whole one."""
        small: Tree = self.pruning.to_tree()
        return small

    @cached_property
    def nodes(self) -> Ints:
        """The number in the whole tree of each node of `shown`."""
        return sealed(np.flatnonzero(self.pruning.is_kept | self.pruning.is_leaf).astype(np.int32))

    @cached_property
    def answers(self) -> Array:
        """What each node of `shown` answers: a class (meant for leaves only), or a mean."""
        if not isinstance(self.grown, Counts):
            return sealed(self.grown.mean[self.nodes])
        classes = None if self.tree.schema is None else self.tree.schema.classes
        numbers = self.pruning.labels[self.nodes]
        return sealed(np.arange(self.grown.n_classes)[numbers] if classes is None else classes[numbers])

    @cached_property
    def remembered(self) -> dict[str, Any]:
        """What `secateur.prediction` has derived from this model, by name."""
        return {}

    @property
    def is_classifier(self) -> bool:
        """Whether leaves predict a class and not a number."""
        return isinstance(self.grown, Counts)

    __reduce__ = rebuilt

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        names = ("pruning", "grown", "holdout", "sequence", "selection", "certificate", "parameters", "facts")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash(self.pruning)

    def __repr__(self) -> str:
        rows = f"{self.grown.total[0]:,.10g} rows"
        limit = "not certified" if self.certificate is None else f"certified {self.certificate.value:.4g}"
        return f"Model({self.pruning.n_leaves:,} of {self.tree.n_leaves:,} leaves, {rows}, {limit})"
