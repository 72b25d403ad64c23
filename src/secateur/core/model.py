"""Model: all parts of one fitted tree, shared by estimators, commands, files and reports."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .._utils.arrays import Array, Immutable, Ints, write_protect
from ..errors import PruningError, UnsupportedError
from .bound import Bound
from .calibration import Calibration
from .counts import Counts
from .group_rates import GroupRates
from .moments import Moments
from .provenance import SampleUsage
from .pruning import Pruning
from .selection import Selection
from .sequence import PruningSequence
from .tree import Tree

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False, repr=False)
class Model(Immutable):
    """A fitted tree: the grown tree, its samples, and the pruning that predicts.

    Parameters
    ----------
    pruning : Pruning
        The pruned tree, which predicts. All parts use the node numbers of the grown tree, `pruning.tree`.
    grown : Counts or Moments
        Statistics of the growing sample.
    holdout : Counts or Moments, optional
        Statistics of the held-out sample, if one was used to prune, choose or certify.
    sequence : PruningSequence, optional
        The sequence that the pruning is a member of.
    selection : Selection, optional
        The table from which the member was chosen.
    certificate : Bound, optional
        The limit on the error of the pruning.
    parameters : dict
        Parameters of the estimator by name, as plain values. The key "estimator" has the name of the estimator class.
    metadata : dict
        Facts about the fit by name, as plain values: versions, numbers of rows and columns, seconds.
    calibration : Calibration, optional
        Rows that had no part in making the pruning, for prediction intervals and sets.
    group_rates : tuple of GroupRates
        The certified rates of the population groups of the held-out sample, one entry per column.

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
    calibration: Calibration | None = None
    group_rates: tuple[GroupRates, ...] = ()

    def __post_init__(self) -> None:
        for sample in (self.grown, self.holdout):
            if sample is not None:
                sample.check_fits(self.tree)
        for part in (self.sequence, self.selection):
            if part is not None and not part.tree.same_structure(self.tree):
                raise PruningError(f"the sequence is of another tree ({part.tree}, not {self.tree})")
        if self.is_classifier and self.pruning.node_labels is None:
            raise PruningError("the pruning has no classes; a classifying model needs node_labels")
        object.__setattr__(self, "group_rates", tuple(self.group_rates))
        if self.group_rates:
            self._check_group_rates()

    def _check_group_rates(self) -> None:
        """Raise `PruningError` unless all group rates are of this pruning and of the held-out sample."""
        holdout = self.class_holdout
        columns = () if holdout is None else tuple(population.column for population in holdout.populations)
        is_same_pruning = all(rates.pruning == self.pruning.digest for rates in self.group_rates)
        if not is_same_pruning or columns != tuple(rates.column for rates in self.group_rates):
            raise PruningError(
                "the group rates are of another pruning or of other held-out rows; leave them out (group_rates=()), or "
                "certify the groups of this pruning"
            )

    @property
    def tree(self) -> Tree:
        """The grown tree."""
        return self.pruning.tree

    @cached_property
    def pruned_tree(self) -> Tree:
        """The pruned tree as a tree of its own; its node `v` is node `ids[v]` of the grown tree."""
        small: Tree = self.pruning.to_tree()
        return small

    @cached_property
    def nodes(self) -> Ints:
        """The number in the grown tree of each node of `pruned_tree`."""
        return write_protect(np.flatnonzero(self.pruning.is_kept | self.pruning.is_leaf).astype(np.int32))

    @cached_property
    def predictions(self) -> Array:
        """The prediction of each node of `pruned_tree`: a mean, or a class, which is arbitrary for internal nodes."""
        if not self.is_classifier:
            return write_protect(self.grown.predictions[self.nodes])
        classes = None if self.tree.schema is None else self.tree.schema.classes
        numbers = self.pruning.labels[self.nodes]
        return write_protect(numbers if classes is None else classes[numbers])

    @cached_property
    def cached_probabilities(self) -> dict[str, Any]:
        """A cache of `secateur.routing.prediction`: class probabilities of the nodes of `pruned_tree`, by kind."""
        return {}

    @cached_property
    def cached_regions(self) -> dict[Any, Any]:
        """A cache of `secateur.model_selection`: prediction intervals or sets, by what they are to cover."""
        return {}

    @property
    def node_predictions(self) -> Array | None:
        """The prediction of each node of the grown tree as a leaf: a class number or a mean."""
        return self.pruning.node_labels if self.is_classifier else self.grown.predictions

    @property
    def class_grown(self) -> Counts | None:
        """The growing sample if its target is a class; else None."""
        return self.grown if isinstance(self.grown, Counts) else None

    @property
    def class_holdout(self) -> Counts | None:
        """The held-out sample if there is one and its target is a class; else None."""
        return self.holdout if isinstance(self.holdout, Counts) else None

    @property
    def is_classifier(self) -> bool:
        """Whether leaves predict a class, not a number."""
        return self.grown.has_classes

    @property
    def edit_texts(self) -> list[str]:
        """The changes of the grown tree by hand, in words; entries of a file that are no edits are left out."""
        edits = self.metadata.get("edits")
        listed = edits if isinstance(edits, list | tuple) else ()
        return [str(edit["text"]) for edit in listed if isinstance(edit, dict) and "text" in edit]

    def __repr__(self) -> str:
        rows = f"{self.grown.total[0]:,.10g} rows"
        if self.certificate is None or not self.certificate.certified:
            limit = "not certified"
        elif self.certificate.stated:
            limit = f"stated, not checked: {self.certificate.value:.4g}"
        else:
            limit = f"certified {self.certificate.value:.4g}"
        return f"Model({self.pruning.n_leaves:,} of {self.tree.n_leaves:,} leaves, {rows}, {limit})"


PARTS_OF_MODEL = (Tree, Pruning, Counts, Moments, PruningSequence, Selection, Bound)


def as_model(model_or_parts: Any, *, done: str = "shown") -> Model:
    """Return the model of a fitted estimator, the given model itself, or a new model made of parts.

    Parameters
    ----------
    model_or_parts : estimator, Model, or tuple of parts
        The parts in any order: a `Tree` or `Pruning`, the `Counts` (or `Moments`) of the growing sample and then
        those of a held-out one, a `PruningSequence`, a `Selection`, a `Bound`.
    done : str
        What the caller does with the model, as a participle that completes "cannot be ..." in an error message.
    """
    fitted = getattr(model_or_parts, "model_", model_or_parts)
    if isinstance(fitted, Model):
        return fitted
    parts = list(fitted) if isinstance(fitted, tuple | list) else [fitted]
    unknown = [part for part in parts if not isinstance(part, PARTS_OF_MODEL)]
    samples = [part for part in parts if isinstance(part, Counts | Moments)]
    if unknown or not samples:
        rejected = unknown[0] if unknown else fitted
        raise UnsupportedError(
            f"a {type(rejected).__name__} cannot be {done}; a fitted estimator, a Model, or a tuple of parts such as "
            "(tree, counts) or (pruning, grown, holdout) is needed (fit the estimator first)"
        )
    grown, holdout = samples[0], samples[1] if len(samples) > 1 else None
    selection = _first_of_type(parts, Selection)
    sequence = _first_of_type(parts, PruningSequence)
    pruning = _first_of_type(parts, Pruning)
    if selection is not None:
        sequence = selection.sequence if sequence is None else sequence
        pruning = selection.pruning if pruning is None else pruning
    if pruning is None and sequence is not None:
        pruning = sequence[0]
    if pruning is None:
        tree = _first_of_type(parts, Tree) or grown.tree
        pruning = Pruning.from_cuts(tree, [], seen=SampleUsage.of(grown))
    if pruning.node_labels is None:
        pruning = replace(pruning, node_labels=grown.labels)
    return Model(pruning, grown, holdout, sequence, selection, _first_of_type(parts, Bound))


def _first_of_type(parts: list[Any], kind: type[Part]) -> Part | None:
    """Return the first of the parts that has the type; None if there is none."""
    return next((part for part in parts if isinstance(part, kind)), None)
