"""Counts: how many examples of each class of one named sample reach each node."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, get_args

import numpy as np

from .._kernels import structure
from .._utils.arrays import MAX_EXACT_INT, ArrayLike, Ints, LongsOrFloats, immutable_array, write_protect
from .._utils.checks import check_name
from ..data.sketch import Sketch
from ..errors import CountsError
from .node_statistics import NodeStatistics
from .provenance import sample_id_of
from .tree import Tree

LabelRule = Literal["grow", "prune", "both"]
Original = Literal["fixed", "relabel"]


@dataclass(frozen=True, eq=False, repr=False)
class Counts(NodeStatistics):
    """Class counts (or weights) of one sample in every node of a tree.

    Parameters
    ----------
    tree : Tree
        The tree the sample was routed through.
    by_class : array of shape (n_nodes, n_classes)
        Whole numbers stay int64, so that ties are exact; weights are float64. Both add up to less than 2**53,
        so that every sum and rate made of whole numbers is exact.
    sample : str
        Name of the sample; prunings remember the samples that shaped them.
    n_rows : int, optional
        Rows behind the counts, each one draw whatever its weight. None: not known, counts made by hand.
    sketch : Sketch, optional
        What is remembered of the rows, so that certificates can tell whether they are fresh.

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
    kept: ClassVar[tuple[str, ...]] = ("by_class",)

    tree: Tree
    by_class: LongsOrFloats
    sample: str = "grow"
    n_rows: int | None = field(default=None, compare=False)
    sketch: Sketch | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        by_class = _numbers(self.by_class)
        shape = by_class.shape
        if by_class.ndim != 2 or shape[0] != self.tree.n_nodes or shape[1] == 0:
            raise CountsError(
                f"counts of sample {self.sample!r} have shape {shape}; "
                f"({self.tree.n_nodes}, number of classes) needed for {self.tree}"
            )
        object.__setattr__(self, "by_class", by_class)
        _check_sums(self.tree, by_class, self.sample)

    @classmethod
    def from_leaves(cls, tree: Tree, leaf_by_class: ArrayLike, *, sample: str = "grow") -> "Counts":
        """Return the counts of all nodes from those of the leaves, in pre-order.

        Examples
        --------
        >>> Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 4]])
        Counts('grow', 5 in 2 classes, 3 nodes)
        """
        at_leaves = _numbers(leaf_by_class)
        if at_leaves.ndim != 2 or len(at_leaves) != tree.n_leaves:
            raise CountsError(
                f"leaf counts have shape {at_leaves.shape}; ({tree.n_leaves}, number of classes) needed for {tree}"
            )
        own = np.zeros((tree.n_nodes, at_leaves.shape[1]), at_leaves.dtype)
        own[tree.is_leaf] = at_leaves
        return cls(tree, write_protect(structure.sum_upwards(tree.parent, own)), sample)

    @classmethod
    def from_trusted_arrays(cls, tree: Tree, by_class: LongsOrFloats, sample: str) -> "Counts":
        """Return counts from an array that the caller guarantees to be valid, and write-protect it.

        The constructor checks that the counts of every node are the sum of those of its children. Growers, which count
        in this way themselves, leave the check out; see `Tree.from_trusted_arrays`.
        """
        counts = cls.__new__(cls)
        counts.__dict__.update(tree=tree, by_class=write_protect(by_class), sample=sample, n_rows=None, sketch=None)
        return counts

    @property
    def labels(self) -> Ints:
        """The class of each node as a leaf, which is its prediction: `answers`, too. None for `Moments`."""
        return self.majority

    predictions = labels

    @property
    def scale(self) -> float:
        """The number of examples: the cost of predicting every row wrongly."""
        whole: float = self.total[0].item()
        return whole

    @property
    def resubstitution_costs(self) -> LongsOrFloats:
        """The errors of each node as a leaf that predicts its majority."""
        return self.errors_if_leaf(self.majority)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.by_class.shape[1])

    n_labels = n_classes

    @property
    def is_whole(self) -> bool:
        """Whether the counts are whole numbers, so that comparisons are exact."""
        return self.by_class.dtype.kind == "i"

    @cached_property
    def sample_id(self) -> bytes:
        """A mark that identifies this sample: its name and rows, or its counts if the rows are not known."""
        return sample_id_of(self, self.by_class)

    @cached_property
    def total(self) -> LongsOrFloats:
        """Examples (or weight) in each node."""
        return write_protect(structure.row_sums(self.by_class) if self.is_whole else self.by_class.sum(axis=1))

    @cached_property
    def majority(self) -> Ints:
        """The `grow` label of each node: lowest class on a tie, the parent's label if empty."""
        self.tree.evaluation_log.record(self)  # labels are a choice, too
        return write_protect(structure.majorities(self.tree.parent, self.by_class))

    def errors_if_leaf(self, labels: ArrayLike) -> LongsOrFloats:
        """Return the errors of each node as a leaf with the given label.

        Parameters
        ----------
        labels : array of int
            One class per node. A class number beyond this sample's classes errs everywhere.

        Notes
        -----
        The tree's ledger notes that this sample has been looked at: it can no longer certify
        a pruning of the tree without paying for the choice.
        """
        self.tree.evaluation_log.record(self)
        return self.unrecorded_errors_if_leaf(labels)

    costs_if_leaf = errors_if_leaf

    def unrecorded_errors_if_leaf(self, labels: ArrayLike) -> LongsOrFloats:
        """Return the same as `errors_if_leaf`, without recording it in the ledger."""
        chosen = np.asarray(labels)
        if chosen.shape != (self.tree.n_nodes,):
            raise CountsError(f"labels have shape {chosen.shape}; one per node, ({self.tree.n_nodes},), needed")
        if chosen.dtype.kind not in "iu" or chosen.min() < 0:
            raise CountsError(f"labels must be class numbers from 0; found {chosen.min()} ({chosen.dtype})")
        if chosen.dtype != np.int32:
            chosen = np.minimum(chosen, self.n_classes).astype(np.int32)
        return write_protect(structure.error_counts(self.by_class, self.total, chosen))

    def __repr__(self) -> str:
        total = self.total[0]
        shown = f"{total:,}" if self.is_whole else f"{total:,.6g}"
        return f"Counts({self.sample!r}, {shown} in {self.n_classes} classes, {self.tree.n_nodes:,} nodes)"


def check_label_rule(rule: str, original: str) -> None:
    """Refuse what is no label rule."""
    check_name("labels", rule, get_args(LabelRule))
    check_name("original", original, get_args(Original))


def leaf_labels(grown: Counts, holdout: Counts | None, rule: LabelRule, original: Original = "fixed") -> Ints:
    """Return the label each node takes as a leaf, under a label rule.

    Parameters
    ----------
    grown, holdout : Counts
        `holdout` may be None under the rule "grow".
    rule : "grow", "prune" or "both"
        Majority of which counts. A tie goes to the `grow` label if it is among the
        tied, else to the lowest class; an empty node takes the `grow` label.
    original : "fixed" or "relabel"
        Whether the original leaves keep their `grow` label.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    >>> held = Counts.from_leaves(tree, [[0, 1], [0, 0]], sample="prune")
    >>> leaf_labels(grown, held, "prune").tolist(), leaf_labels(grown, held, "prune", "relabel").tolist()
    ([1, 0, 1], [1, 1, 1])
    """
    check_label_rule(rule, original)
    if rule == "grow":
        return grown.majority
    if holdout is None:
        raise CountsError(f"labels={rule!r} needs a held-out sample; none is given")
    n_classes = grown.n_classes  # a class that growing did not see errs everywhere and has no vote
    votes = holdout.by_class[:, :n_classes]
    votes = np.pad(votes, ((0, 0), (0, n_classes - votes.shape[1])))
    if rule == "both":
        votes = votes + grown.by_class
    nodes = np.arange(grown.tree.n_nodes)
    keeps_grow = votes[nodes, grown.majority] == votes.max(axis=1)  # also when the node is empty
    if original == "fixed":
        keeps_grow = keeps_grow | grown.tree.is_leaf
    return write_protect(np.where(keeps_grow, grown.majority, votes.argmax(axis=1)).astype(np.int32))


def _numbers(values: ArrayLike) -> LongsOrFloats:
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return immutable_array(array, np.int64)
    if array.dtype.kind == "f":
        return immutable_array(array, np.float64)
    raise CountsError(f"counts hold {array.dtype} values; numbers are needed")


def _check_sums(tree: Tree, by_class: LongsOrFloats, sample: str) -> None:
    """Refuse negative, non-finite or too many counts, and nodes that differ from the sum of their children."""
    total = float(by_class.max()) * by_class.size  # a bound that mostly decides
    if not total < MAX_EXACT_INT:
        # Added up as floats, which do not wrap around; exact as long as the answer is "fewer".
        with np.errstate(over="ignore"):
            total = float(max(some.sum(dtype=np.float64) for some in (by_class[tree.is_leaf], by_class[0])))
    if total >= MAX_EXACT_INT and np.isfinite(by_class).all():
        raise CountsError(
            f"counts of sample {sample!r} add up to {total:.6g}, 2**53 or more, where whole numbers stop being "
            "exact; divide them by a common factor"
        )
    if by_class.dtype.kind == "i" and structure.has_consistent_sums(tree.end, by_class):
        return
    # Weights are sums in some order: 1e-9 of the whole is far above rounding, far below a row.
    slack = 0.0 if by_class.dtype.kind == "i" else 1e-9 * float(by_class[0].sum())
    v, c, summed = structure.first_invalid_count(tree.parent, by_class, slack)
    if v < 0:
        return
    found = by_class[v, c]
    if not (np.isfinite(found) and found >= 0):
        raise CountsError(f"sample {sample!r}, node {v}, class {c}: count {found}; a number of 0 or more is needed")
    raise CountsError(
        f"sample {sample!r}, node {v}, class {c}: count {found}, but the leaves below it hold {summed[v, c]}; "
        "Counts.from_leaves adds them up"
    )
