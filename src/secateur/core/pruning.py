"""Pruning: which nodes of a grown tree are leaves after cutting it back."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import ArrayLike, Bools, Immutable, Ints, LongsOrFloats, write_protect
from ..errors import PruningError, show
from .counts import Counts
from .moments import Moments
from .provenance import NO_SAMPLES, RuleProvenance, SampleUsage, add_usage_of_labels, hash_arrays
from .tree import PER_NODE_FIELDS, Tree, blank_tests

MAX_CUTS_IN_REPR = 8


@dataclass(frozen=True, eq=False, repr=False)
class Pruning(Immutable):
    """A pruned tree: exactly one leaf on each path from the root to a leaf of the grown tree.

    Parameters
    ----------
    tree : Tree
        The grown tree; it is not changed.
    is_leaf : array of bool
        Whether each node is a leaf of the pruned tree. Nodes below such a leaf are False.
    node_labels : array of int, optional
        The class that each node predicts if it is a leaf; None if the rule was given costs instead of classes.
    seen : SampleUsage, or set of str
        The samples that were used to make this pruning, by name and by the sketches of their rows. Labels computed from
        a sample that did not grow the tree, such as `held_out.majority`, add that sample.
    rule : str
        The rule and its parameters in words; the text of `provenance` by default.
    certified : bool, optional
        For rules that come with a guarantee: whether the guarantee holds for this pruning.
    note : str
        Why a guarantee does not hold, or another remark of the rule.
    provenance : RuleProvenance, optional
        The rule that made the pruning, its parameters and the cost it compared; None if no rule is known.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> pruning = Pruning.from_cuts(tree, [1], node_labels=[0, 0, 0, 1, 1])
    >>> pruning
    Pruning(2 of 3 leaves, cuts at 1)
    >>> pruning.labels.tolist()
    [-1, 0, -1, -1, 1]
    >>> pruning.restore(1).n_leaves, pruning.snip(0).n_leaves
    (3, 1)
    """

    tree: Tree
    is_leaf: Bools
    node_labels: Ints | None = None
    seen: SampleUsage = NO_SAMPLES
    rule: str = ""
    certified: bool | None = None
    note: str = ""
    provenance: RuleProvenance | None = None

    def __post_init__(self) -> None:
        is_leaf = np.asarray(self.is_leaf)
        n = self.tree.n_nodes
        if is_leaf.shape != (n,) or is_leaf.dtype != bool:
            raise PruningError(f"is_leaf has shape {is_leaf.shape} of {is_leaf.dtype}; ({n},) of bool is needed")
        expected = structure.leaves_after_cuts(self.tree.parent, is_leaf | self.tree.is_leaf)
        invalid = np.flatnonzero(expected != is_leaf)
        if len(invalid):
            raise PruningError(
                f"node {invalid[0]}: a path through it has no leaf or more than one; "
                "Pruning.from_cuts makes a valid set from any cuts"
            )
        usage = add_usage_of_labels(SampleUsage(self.seen), self.node_labels, self.tree.history)
        object.__setattr__(self, "seen", usage)
        if self.provenance is not None and not self.rule:
            object.__setattr__(self, "rule", self.provenance.text)
        if self.node_labels is not None:
            labels = np.asarray(self.node_labels)
            if labels.shape != (n,) or labels.dtype.kind not in "iu":
                raise PruningError(
                    f"node_labels have shape {labels.shape} of {labels.dtype}; ({n},) whole numbers needed"
                )
        self._freeze_arrays(is_leaf=None, node_labels=np.int32)

    @classmethod
    def from_cuts(cls, tree: Tree, cuts: ArrayLike, **fields: Any) -> "Pruning":
        """Return the pruning of `tree` with the given cuts; a cut below another cut is ignored.

        Parameters
        ----------
        tree : Tree
        cuts : array
            The nodes to turn into leaves: numbers, or one bool per node.
        **fields
            Other fields of `Pruning`: `node_labels`, `seen`, `rule`, ...
        """
        n, is_cut = tree.n_nodes, np.asarray(cuts)
        if is_cut.dtype != bool or is_cut.shape != (n,):
            nodes = is_cut
            if nodes.size and (nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= n):
                raise PruningError(f"cuts {show(nodes.ravel()[:5].tolist())}: node ids from 0 to {n - 1} are needed")
            is_cut = np.zeros(n, bool)
            is_cut[nodes.astype(np.int64)] = True
        return cls(tree, write_protect(structure.leaves_after_cuts(tree.parent, is_cut | tree.is_leaf)), **fields)

    @property
    def _compared_values(self) -> list[Any]:
        return [self.is_leaf, self.labels, self.tree]

    @cached_property
    def cuts(self) -> Ints:
        """The internal nodes of the grown tree that are leaves of the pruned tree, in order."""
        return write_protect(np.flatnonzero(self.is_leaf & ~self.tree.is_leaf).astype(np.int32))

    @cached_property
    def leaves(self) -> Ints:
        """The leaves of the pruned tree, in order."""
        return write_protect(np.flatnonzero(self.is_leaf).astype(np.int32))

    @cached_property
    def is_kept(self) -> Bools:
        """Whether each node is an internal node of the pruned tree."""
        return write_protect(structure.kept_nodes(self.tree.parent, self.is_leaf))

    @cached_property
    def labels(self) -> Ints:
        """The class of each leaf of the pruned tree; -1 for other nodes, and for leaves without a class."""
        labels = np.full(self.tree.n_nodes, -1, np.int32)
        if self.node_labels is not None:
            labels[self.is_leaf] = self.node_labels[self.is_leaf]
        return write_protect(labels)

    @cached_property
    def digest(self) -> bytes:
        """A hash of the leaves and their labels; equal for equal prunings of trees that were cut from one tree."""
        return hash_arrays(self.tree.ids[self.leaves], self.labels[self.leaves])

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves of the pruned tree."""
        return int(np.count_nonzero(self.is_leaf))

    @cached_property
    def n_nodes(self) -> int:
        """Number of nodes of the pruned tree."""
        return self.n_leaves + int(np.count_nonzero(self.is_kept))

    def errors(self, counts: Counts) -> int | float:
        """Return the errors of this pruning on a sample, and record the evaluation in the tree's log."""
        counts.check_fits(self.tree)
        self.tree.evaluation_log.record_pruning(counts, self)
        if self.node_labels is None:
            raise PruningError("this pruning was made from costs and has no classes; use cost(node_cost)")
        return self.cost(counts.unrecorded_errors_if_leaf(self.node_labels))

    def cost(self, node_cost: LongsOrFloats) -> int | float:
        """Return the total cost of the leaves, given the cost of each node as a leaf."""
        value: int | float = node_cost[self.is_leaf].sum().item()
        return value

    def snip(self, node: int) -> "Pruning":
        """Return this pruning with one more cut, at `node`."""
        self._check_node(node)
        if not (self.is_kept[node] or self.is_leaf[node]):
            raise PruningError(f"node {node} is already removed: it is below leaf {self.leaf_above(node)}")
        is_cut = self.is_leaf.copy()
        is_cut[node] = True
        return self._with_cuts(is_cut, "snip")

    def restore(self, node: int) -> "Pruning":
        """Return this pruning with the whole grown subtree of the leaf `node` restored."""
        self._check_node(node)
        if not self.is_leaf[node]:
            if self.is_kept[node]:
                raise PruningError(f"node {node} is not cut")
            raise PruningError(f"node {node} lies under leaf {self.leaf_above(node)}; restore that one")
        is_cut = self.is_leaf.copy()
        is_cut[node] = False
        return self._with_cuts(is_cut, "restore")

    def leaf_above(self, node: int) -> int:
        """Return the leaf of this pruning on the path from the root to `node`."""
        while not self.is_leaf[node]:
            if self.is_kept[node]:
                raise PruningError(f"node {node} is not under a leaf")
            node = int(self.tree.parent[node])
        return node

    def to_tree(self, *counts: Counts | Moments) -> Any:
        """Return the pruned tree as a tree of its own, and the given counts in its nodes.

        Returns
        -------
        Tree, or (Tree, Counts or Moments, ...)
            Node `v` of the new tree is node `ids[v]` of the grown one. The samples that grew and cut the tree are in
            its `history`. Both trees share one evaluation log.
        """
        for sample in counts:
            sample.check_fits(self.tree)
        is_in_tree = self.is_kept | self.is_leaf
        small = _smaller_tree(self, is_in_tree)
        if not counts:
            return small
        return (small, *(sample.restrict_to(small, is_in_tree) for sample in counts))

    def __and__(self, other: "Pruning") -> "Pruning":
        """Return the largest tree that is a pruning of both: cut where either is cut."""
        self._check_same(other)
        return self._with_cuts(self.is_leaf | other.is_leaf, "intersection", other.seen)

    def __or__(self, other: "Pruning") -> "Pruning":
        """Return the smallest tree that both are prunings of: split where either has a split."""
        self._check_same(other)
        return self._with_cuts(~(self.is_kept | other.is_kept), "union", other.seen)

    def __le__(self, other: "Pruning") -> bool:
        """Return whether this pruning cuts wherever `other` does."""
        self._check_same(other)
        return not (self.is_kept & ~other.is_kept).any()

    def __ge__(self, other: "Pruning") -> bool:
        return other <= self

    def __repr__(self) -> str:
        cuts = ", ".join(str(node) for node in self.cuts[:MAX_CUTS_IN_REPR])
        if len(self.cuts) > MAX_CUTS_IN_REPR:
            cuts += ", ..."
        return f"Pruning({self.n_leaves:,} of {self.tree.n_leaves:,} leaves, {f'cuts at {cuts}' if cuts else 'no cut'})"

    def _with_cuts(self, is_cut: Bools, rule: str, seen: Iterable[str] = ()) -> "Pruning":
        """Return a new pruning with these cuts; `rule` says how it was made, and `seen` names further samples."""
        is_leaf = structure.leaves_after_cuts(self.tree.parent, is_cut | self.tree.is_leaf)
        name = f"{self.rule}, {rule}" if self.rule else rule
        provenance = None if self.provenance is None else self.provenance.with_edit(rule)
        return replace(
            self,
            is_leaf=write_protect(is_leaf),
            seen=self.seen | seen,
            rule=name,
            certified=None,
            note="",
            provenance=provenance,
        )

    def _check_node(self, node: int) -> None:
        """Raise `PruningError` if the grown tree has no node of this number."""
        is_int = isinstance(node, Integral) and not isinstance(node, bool)
        if not is_int or not 0 <= node < self.tree.n_nodes:
            raise PruningError(f"node {show(node)} does not exist; ids run from 0 to {self.tree.n_nodes - 1}")

    def _check_same(self, other: "Pruning") -> None:
        """Raise `PruningError` if the other pruning is of another tree."""
        if not self.tree.same_structure(other.tree):
            raise PruningError(f"the prunings are of different trees ({self.tree} and {other.tree})")


def _smaller_tree(pruning: Pruning, is_in_tree: Bools) -> Tree:
    """Return the pruned tree as a new tree, which has only the nodes `is_in_tree` and no splits at the leaves."""
    tree, is_leaf = pruning.tree, pruning.is_leaf
    new_number = np.cumsum(is_in_tree, dtype=np.int32) - 1
    parent = np.where(tree.parent < 0, -1, new_number[tree.parent])[is_in_tree].astype(np.int32)
    old_n_codes = np.diff(tree.branch_start)
    n_codes = np.where(is_leaf, 0, old_n_codes)[is_in_tree]
    node_of_code = np.repeat(np.arange(tree.n_nodes), old_n_codes)
    keeps_split = is_in_tree & ~is_leaf
    blanks = blank_tests(tree.n_nodes)
    per_node: dict[str, Any] = {
        name: write_protect(np.where(is_leaf, blanks[name], getattr(tree, name))[is_in_tree])
        for name in PER_NODE_FIELDS
    }
    surrogates = tree.surrogates
    if surrogates is not None:
        surrogates = surrogates.select_nodes(np.flatnonzero(is_in_tree), keeps_split[is_in_tree])
    limits = tree.estimate_limits
    return replace(
        tree,
        parent=write_protect(parent),
        branch_start=write_protect(np.append(0, np.cumsum(n_codes)).astype(np.int64)),
        branch=write_protect(tree.branch[keeps_split[node_of_code]]),
        ids=write_protect(tree.ids[is_in_tree]),
        key=tree.row_key,
        history=tree.history | pruning.seen,
        surrogates=surrogates,
        estimate_limits=None if limits is None else write_protect(limits[is_in_tree]),
        **per_node,
    )
