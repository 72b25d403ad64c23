"""Model: all parts of one fitted tree, as the estimators, the command line, files and reports share them."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.arrays import Array, Ints, write_protect
from .._utils.immutable import Immutable
from ..errors import PruningError, UnsupportedError
from .bound import Bound
from .counts import Counts
from .moments import Moments
from .provenance import SampleUsage
from .pruning import Pruning
from .selection import Selection
from .sequence import PruningSequence
from .tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Model(Immutable):
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
        Parameters of the estimator: plain values by name, with its class under "estimator".
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
    metadata: dict[str, Any] = field(default_factory=dict)

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
    def pruned_tree(self) -> Tree:
        """The pruned tree; node `v` of it is node `ids[v]` of the whole one."""
        small: Tree = self.pruning.to_tree()
        return small

    @cached_property
    def nodes(self) -> Ints:
        """The number in the whole tree of each node of `pruned_tree`."""
        return write_protect(np.flatnonzero(self.pruning.is_kept | self.pruning.is_leaf).astype(np.int32))

    @cached_property
    def predictions(self) -> Array:
        """The prediction of each node of `pruned_tree`: a class (meaningful for leaves only), or a mean."""
        if not self.is_classifier:
            return write_protect(self.grown.predictions[self.nodes])
        classes = None if self.tree.schema is None else self.tree.schema.classes
        numbers = self.pruning.labels[self.nodes]
        return write_protect(numbers if classes is None else classes[numbers])

    @cached_property
    def cached_probabilities(self) -> dict[str, Any]:
        """Results that `secateur.routing.prediction` has derived from this model, by name."""
        return {}

    @property
    def node_predictions(self) -> Array | None:
        """The prediction of each node of the whole tree as a leaf: a class number or a mean."""
        return self.pruning.node_labels if self.is_classifier else self.grown.predictions

    @property
    def class_grown(self) -> Counts | None:
        """The growing sample if it counts classes."""
        return self.grown if isinstance(self.grown, Counts) else None

    @property
    def class_holdout(self) -> Counts | None:
        """The held-out sample if there is one and it counts classes."""
        return self.holdout if isinstance(self.holdout, Counts) else None

    @property
    def is_classifier(self) -> bool:
        """Whether leaves predict a class and not a number."""
        return self.grown.has_classes

    def __repr__(self) -> str:
        rows = f"{self.grown.total[0]:,.10g} rows"
        limit = "not certified"
        if self.certificate is not None:
            limit = f"{'stated, not checked:' if self.certificate.stated else 'certified'} {self.certificate.value:.4g}"
        return f"Model({self.pruning.n_leaves:,} of {self.tree.n_leaves:,} leaves, {rows}, {limit})"


def as_model(thing: Any, *, done: str = "shown") -> Model:
    """Return the model of a fitted estimator, the model itself, or one of parts.

    Parameters
    ----------
    thing : estimator, Model, or tuple of parts
        The parts in any order: a `Tree` or `Pruning`, the `Counts` (or `Moments`) of the growing
        sample and then of a held-out one, a `PruningSequence`, a `Selection`, a `Bound`.
    done : str
        What is to be done with it, for the error message.
    """
    thing = getattr(thing, "model_", thing)
    if isinstance(thing, Model):
        return thing
    parts = list(thing) if isinstance(thing, tuple | list) else [thing]

    def first(kind: Any) -> Any:
        return next((part for part in parts if isinstance(part, kind)), None)

    known = (Tree, Pruning, Counts, Moments, PruningSequence, Selection, Bound)
    strange = next((part for part in parts if not isinstance(part, known)), None)
    grown, holdout, *_ = [*(part for part in parts if isinstance(part, Counts | Moments)), None, None]
    if strange is not None or grown is None:
        what = f"a {type(thing if strange is None else strange).__name__} cannot be {done}"
        raise UnsupportedError(
            f"{what}; a fitted estimator, a Model, or a tuple of parts such as (tree, counts) or (pruning, grown, "
            "holdout) is needed (fit the estimator first)"
        )
    selection, sequence, pruning = first(Selection), first(PruningSequence), first(Pruning)
    if selection is not None:
        sequence = selection.sequence if sequence is None else sequence
        pruning = selection.pruning if pruning is None else pruning
    if pruning is None:
        whole = Pruning.from_cuts(first(Tree) or grown.tree, [], seen=SampleUsage.of(grown))
        pruning = whole if sequence is None else sequence[0]
    if pruning.node_labels is None:
        pruning = replace(pruning, node_labels=grown.labels)
    return Model(pruning, grown, holdout, sequence, selection, first(Bound))
