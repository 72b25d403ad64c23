"""Counts: how many rows of each class of one named sample reach each node of a tree."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, get_args

import numpy as np

from .._kernels import structure
from .._utils.arrays import MAX_EXACT_INT, Array, ArrayLike, Ints, LongsOrFloats, immutable_array, write_protect
from .._utils.checks import check_name
from ..data.sketch import Sketch
from ..errors import CountsError, show
from .estimate_limits import class_frequencies, limit_labels, limit_shares
from .grouped_rows import GroupedRows
from .node_statistics import NodeStatistics
from .population_groups import PopulationGroups
from .provenance import identify_sample, sample_array
from .tree import Tree

LabelRule = Literal["grow", "prune", "both"]
Original = Literal["fixed", "relabel"]
# The weight of a node may differ from the sum over its children by this share of the total weight. This is far above
# the rounding errors of sums of weights, and far below the weight of a row.
RELATIVE_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Counts(NodeStatistics):
    """Number of rows (or weight) of each class of one sample in every node of a tree.

    Parameters
    ----------
    tree : Tree
        The tree the sample was routed through.
    by_class : array of shape (n_nodes, n_classes)
        Integers stay int64, so that ties are exact; weights are float64. Both must add up to less than 2**53,
        so that every sum and rate of integers is exact.
    sample : str
        Name of the sample. Prunings state by name which samples were used to make them.
    n_rows : int, optional
        Number of rows that were counted, whatever their weights. None for counts entered by hand.
    sketch : Sketch, optional
        Hashes of some of the rows, by which certificates recognise rows that were used before.
    grouped : GroupedRows, optional
        The group of each row, if rows belong together: certificates then count groups as independent draws.
    populations : tuple of PopulationGroups
        The same rows by population group, such as women and men: one entry for each column that was counted by
        `count_groups`.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> counts = Counts.from_leaves(tree, [[3, 1], [0, 2]], sample="grow")
    >>> counts.by_class.tolist()
    [[3, 3], [3, 1], [0, 2]]
    >>> counts.majority.tolist(), counts.errors_if_leaf(counts.majority).tolist()
    ([0, 0, 1], [3, 1, 0])
    """

    has_classes: ClassVar[bool] = True
    array_fields: ClassVar[tuple[str, ...]] = ("by_class",)

    tree: Tree
    by_class: LongsOrFloats
    sample: str = "grow"
    n_rows: int | None = field(default=None, compare=False)
    sketch: Sketch | None = field(default=None, compare=False)
    grouped: GroupedRows | None = field(default=None, compare=False)
    populations: tuple[PopulationGroups, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        by_class = _as_numbers(self.by_class)
        shape = by_class.shape
        if by_class.ndim != 2 or shape[0] != self.tree.n_nodes or shape[1] == 0:
            raise CountsError(
                f"counts of sample {show(self.sample)} have shape {shape}; "
                f"({self.tree.n_nodes}, number of classes) needed for {self.tree}"
            )
        object.__setattr__(self, "by_class", by_class)
        _check_sums(self.tree, by_class, self.sample)
        object.__setattr__(self, "populations", tuple(self.populations))
        for population in self.populations:
            population.check_fits(by_class, self.sample)

    @classmethod
    def from_leaves(cls, tree: Tree, leaf_by_class: ArrayLike, *, sample: str = "grow") -> "Counts":
        """Return the counts of all nodes, given those of the leaves in pre-order.

        Examples
        --------
        >>> Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 4]])
        Counts('grow', 5 in 2 classes, 3 nodes)
        """
        at_leaves = _as_numbers(leaf_by_class)
        if at_leaves.ndim != 2 or len(at_leaves) != tree.n_leaves:
            raise CountsError(
                f"leaf counts have shape {at_leaves.shape}; ({tree.n_leaves}, number of classes) needed for {tree}"
            )
        at_nodes = np.zeros((tree.n_nodes, at_leaves.shape[1]), at_leaves.dtype)
        at_nodes[tree.is_leaf] = at_leaves
        return cls(tree, write_protect(structure.sum_upwards(tree.parent, at_nodes)), sample)

    @cached_property
    def majority(self) -> Ints:
        """The class with most rows in each node: the lowest class on a tie, the parent's majority if empty.

        If the tree has limits of estimates, it is the other class where they leave that one only. The array carries the
        sample it was computed from (`SampleArray`): a pruning with these labels has used it.
        """
        majority = structure.majorities(self.tree.parent, self.by_class)
        return sample_array(limit_labels(self.tree, majority), self)

    @cached_property
    def limited_by_class(self) -> LongsOrFloats:
        """The counts of the classes after moving the share of the second class into the limits of each node.

        The counts themselves, if the tree has no limits of estimates. The total of each node stays the same.
        """
        if self.tree.estimate_limits is None:
            return self.by_class
        shares = class_frequencies(self.tree.parent, self.by_class, self.total)
        limited = limit_shares(self.tree, shares)
        is_moved = (limited != shares).any(axis=1, keepdims=True)
        return write_protect(np.where(is_moved, limited * self.total[:, None], self.by_class))

    @classmethod
    def from_trusted_arrays(cls, tree: Tree, by_class: LongsOrFloats, sample: str) -> "Counts":
        """Return counts from an array that the caller guarantees to be valid, and write-protect it.

        The constructor checks that the counts of every node are the sum of those of its children. The counts of growers
        are such sums, so they are not checked again; see `Tree.from_trusted_arrays`.
        """
        counts = cls.__new__(cls)
        counts.__dict__.update(tree=tree, by_class=write_protect(by_class), sample=sample)
        counts.__dict__.update(n_rows=None, sketch=None, grouped=None, populations=())
        return counts

    def restrict_to(self, tree: Tree, nodes: Array) -> "Counts":
        """Return the counts of the same sample on a smaller tree; see `NodeStatistics.restrict_to`."""
        plain = replace(self, populations=()) if self.populations else self
        restricted = super(Counts, plain).restrict_to(tree, nodes)
        if self.grouped is None and not self.populations:
            return restricted
        grouped = None if self.grouped is None else self.grouped.restrict_to(self.tree, nodes)
        populations = tuple(population.restrict_to(nodes) for population in self.populations)
        return replace(restricted, grouped=grouped, populations=populations)

    @property
    def labels(self) -> Ints:
        """The class that each node predicts as a leaf: its majority."""
        return self.majority

    @property
    def predictions(self) -> Ints:
        """The prediction of each node as a leaf: its majority."""
        return self.majority

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.by_class.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of classes; 0 for `Moments`."""
        return self.n_classes

    @property
    def zero_accuracy_cost(self) -> float:
        """The cost that an accuracy of 0 stands for: all rows (or their total weight) predicted wrongly."""
        total_weight: float = self.total[0].item()
        return total_weight

    @property
    def resubstitution_costs(self) -> LongsOrFloats:
        """The errors of each node as a leaf that predicts the majority of this sample.

        The array carries the sample it was computed from, as `majority` does.
        """
        return sample_array(self.unrecorded_errors_if_leaf(self.majority), self)

    @property
    def has_integer_weights(self) -> bool:
        """Whether the counts are integers, so that comparisons are exact."""
        return self.by_class.dtype.kind == "i"

    @cached_property
    def sample_id(self) -> bytes:
        """The identity of this sample: a hash of its name and rows, or of its counts if the rows are not known."""
        return identify_sample(self, self.by_class)

    @cached_property
    def total(self) -> LongsOrFloats:
        """Number of rows (or weight) in each node."""
        return write_protect(
            structure.row_sums(self.by_class) if self.has_integer_weights else self.by_class.sum(axis=1)
        )

    def errors_if_leaf(self, labels: ArrayLike) -> LongsOrFloats:
        """Return the errors of each node as a leaf that predicts the given label.

        Parameters
        ----------
        labels : array of int
            One class number per node. All rows err where the number is not below `n_classes`.

        Notes
        -----
        This is recorded in the tree's evaluation log. From now on the sample may have chosen a pruning, so that it
        can certify prunings of the tree only with methods whose limit includes the price of choosing.
        """
        self.tree.evaluation_log.record_nodes(self)
        return self.unrecorded_errors_if_leaf(labels)

    def costs_if_leaf(self, predictions: ArrayLike) -> LongsOrFloats:
        """Return `errors_if_leaf(predictions)`, under the name that `Moments` has, too."""
        return self.errors_if_leaf(predictions)

    def unrecorded_errors_if_leaf(self, labels: ArrayLike) -> LongsOrFloats:
        """Return the same errors as `errors_if_leaf` without recording the evaluation.

        For functions that record the evaluation themselves, or whose result cannot guide a choice.
        """
        label = np.asarray(labels)
        if label.shape != (self.tree.n_nodes,):
            raise CountsError(f"labels have shape {label.shape}; one per node, ({self.tree.n_nodes},), needed")
        if label.dtype.kind not in "iu" or label.min() < 0:
            raise CountsError(f"labels must be class numbers from 0; found {label.min()} ({label.dtype})")
        if label.dtype != np.int32:
            label = np.minimum(label, self.n_classes).astype(np.int32)
        return write_protect(structure.error_counts(self.by_class, self.total, label))

    def unrecorded_costs_if_leaf(self, predictions: ArrayLike) -> LongsOrFloats:
        """Return `unrecorded_errors_if_leaf(predictions)`, under the name that `Moments` has, too."""
        return self.unrecorded_errors_if_leaf(predictions)

    def __repr__(self) -> str:
        total = self.total[0]
        formatted = f"{total:,}" if self.has_integer_weights else f"{total:,.6g}"
        groups = "".join(f", by {show(population.column)}" for population in self.populations)
        return (
            f"Counts({show(self.sample)}, {formatted} in {self.n_classes} classes, {self.tree.n_nodes:,} nodes{groups})"
        )


def check_label_rule(rule: str, original: str) -> None:
    """Raise `ParameterError` unless `rule` is a `LabelRule` and `original` an `Original`."""
    check_name("labels", rule, get_args(LabelRule))
    check_name("original", original, get_args(Original))


def leaf_labels(grown: Counts, holdout: Counts | None, rule: LabelRule, original: Original = "fixed") -> Ints:
    """Return the label of each node as a leaf under a label rule.

    Parameters
    ----------
    grown, holdout : Counts
        Counts of the growing and of the held-out sample; `holdout` may be None under the rule "grow".
    rule : "grow", "prune" or "both"
        Whose majority is the label: that of the growing sample, of the held-out sample, or of both together.
        A tie goes to the majority of the growing sample if it is among the tied classes, else to the lowest
        class. An empty node has the majority of the growing sample. Limits of estimates hold for every rule.
    original : "fixed" or "relabel"
        Whether the leaves of the grown tree keep the majority of the growing sample.

    Notes
    -----
    The tree's evaluation log records the growing sample and, except under the rule "grow", the held-out sample.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    >>> held = Counts.from_leaves(tree, [[0, 1], [0, 0]], sample="prune")
    >>> leaf_labels(grown, held, "prune").tolist(), leaf_labels(grown, held, "prune", "relabel").tolist()
    ([1, 0, 1], [1, 1, 1])
    """
    check_label_rule(rule, original)
    grown.tree.evaluation_log.record_nodes(grown)
    if rule == "grow":
        return grown.majority
    if holdout is None:
        raise CountsError(f"labels={show(rule)} needs a held-out sample; none is given")
    holdout.tree.evaluation_log.record_nodes(holdout)
    n_classes = grown.n_classes  # held-out rows of classes that growing did not see have no vote
    votes = holdout.by_class[:, :n_classes]
    votes = np.pad(votes, ((0, 0), (0, n_classes - votes.shape[1])))
    if rule == "both":
        votes = votes + grown.by_class
    nodes = np.arange(grown.tree.n_nodes)
    keeps_majority = votes[nodes, grown.majority] == votes.max(axis=1)  # true for an empty node, too
    if original == "fixed":
        keeps_majority = keeps_majority | grown.tree.is_leaf
    labels = np.where(keeps_majority, grown.majority, votes.argmax(axis=1)).astype(np.int32)
    return write_protect(limit_labels(grown.tree, labels))


def _as_numbers(values: ArrayLike) -> LongsOrFloats:
    """Return counts as a read-only array of int64 or float64."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return immutable_array(array, np.int64)
    if array.dtype.kind == "f":
        return immutable_array(array, np.float64)
    raise CountsError(f"counts hold {array.dtype} values; numbers are needed")


def _check_sums(tree: Tree, by_class: LongsOrFloats, sample: str) -> None:
    """Raise `CountsError` if counts are negative, not finite or too large, or if children do not add up to parents."""
    _check_total(tree, by_class, sample)
    is_integer = by_class.dtype.kind == "i"
    if is_integer and structure.has_consistent_sums(tree.end, by_class):
        return
    slack = 0.0 if is_integer else RELATIVE_ROUNDING * float(by_class[0].sum())
    node, c, summed = structure.first_invalid_count(tree.parent, by_class, slack)
    if node < 0:
        return
    count = by_class[node, c]
    if not (np.isfinite(count) and count >= 0):
        raise CountsError(
            f"sample {show(sample)}, node {node}, class {c}: count {count}; a number of 0 or more is needed"
        )
    raise CountsError(
        f"sample {show(sample)}, node {node}, class {c}: count {count}, but the leaves below it hold "
        f"{summed[node, c]}; Counts.from_leaves adds them up"
    )


def _check_total(tree: Tree, by_class: LongsOrFloats, sample: str) -> None:
    """Raise `CountsError` if the counts add up to 2**53 or more."""
    upper_limit = float(by_class.max()) * by_class.size  # cheap, and small enough for nearly all samples
    if upper_limit < MAX_EXACT_INT:
        return
    # Sums of floats do not wrap around, and are exact below 2**53.
    with np.errstate(over="ignore"):
        total = float(max(part.sum(dtype=np.float64) for part in (by_class[tree.is_leaf], by_class[0])))
    if total >= MAX_EXACT_INT and np.isfinite(by_class).all():
        raise CountsError(
            f"counts of sample {show(sample)} add up to {total:.6g}, 2**53 or more, where whole numbers stop being "
            "exact; divide them by a common factor"
        )
