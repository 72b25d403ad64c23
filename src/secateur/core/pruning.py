"""Pruning: which nodes of a tree are leaves now."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._kernels import structure
from .._utils.arrays import ArrayLike, Bools, Ints, LongsOrFloats, write_protect
from .._utils.immutable import Immutable
from ..errors import PruningError
from .counts import Counts
from .moments import Moments
from .provenance import NO_SAMPLES, SampleUsage, digest_of
from .rule_provenance import RuleProvenance
from .tree import PER_NODE_FIELDS, Tree, blank_tests


@dataclass(frozen=True, eq=False, repr=False)
class Pruning(Immutable):
    """A pruned tree: exactly one leaf on each path from the root to a leaf of the grown tree.

    Parameters
    ----------
    tree : Tree
        The tree that was cut; it is not changed.
    is_leaf : array of bool
        Whether each node is a leaf now. Nodes under a leaf are False.
    node_labels : array of int, optional
        The class each node takes when it is a leaf; None where costs, not classes, decided.
    seen : Seen, or set of str
        The samples that shaped this pruning, by name and by their rows.
    rule : str
        What made it, in words; the text of `provenance` by default.
    certified : bool, optional
        For rules that come with a guarantee: whether it holds here; `note` says why not.
    note : str
    provenance : RuleProvenance, optional
        The rule that made it, its parameters and the cost that decided; None where no rule is known.

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
        wrong = np.flatnonzero(expected != is_leaf)
        if len(wrong):
            raise PruningError(
                f"node {wrong[0]}: a path through it has no leaf or more than one; "
                "Pruning.from_cuts makes a valid set from any cuts"
            )
        object.__setattr__(self, "seen", SampleUsage(self.seen))
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
        """Return the pruning that cuts at the given nodes; cuts below another cut are ignored.

        Parameters
        ----------
        tree : Tree
        cuts : array
            Node ids, or one bool per node.
        **fields
            `node_labels`, `seen`, `rule` and so on, as for `Pruning`.
        """
        n, is_cut = tree.n_nodes, np.asarray(cuts)
        if is_cut.dtype != bool or is_cut.shape != (n,):
            ids = is_cut
            if ids.size and (ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= n):
                raise PruningError(f"cuts {ids.ravel()[:5].tolist()}: node ids from 0 to {n - 1} are needed")
            is_cut = np.zeros(n, bool)
            is_cut[ids.astype(np.int64)] = True
        return cls(tree, write_protect(structure.leaves_after_cuts(tree.parent, is_cut | tree.is_leaf)), **fields)

    @property
    def _compared_values(self) -> list[Any]:
        return [self.is_leaf, self.labels, self.tree]

    @cached_property
    def cuts(self) -> Ints:
        """The internal nodes of the tree that are leaves now, in order."""
        return write_protect(np.flatnonzero(self.is_leaf & ~self.tree.is_leaf).astype(np.int32))

    @cached_property
    def leaves(self) -> Ints:
        """The nodes that are leaves now, in order."""
        return write_protect(np.flatnonzero(self.is_leaf).astype(np.int32))

    @cached_property
    def is_kept(self) -> Bools:
        """Which internal nodes still test something."""
        return write_protect(structure.kept_nodes(self.tree.parent, self.is_leaf))

    @cached_property
    def labels(self) -> Ints:
        """The class of each leaf; -1 where a node is not a leaf (or has no class)."""
        labels = np.full(self.tree.n_nodes, -1, np.int32)
        if self.node_labels is not None:
            labels[self.is_leaf] = self.node_labels[self.is_leaf]
        return write_protect(labels)

    @cached_property
    def digest(self) -> bytes:
        """Equal for prunings with the same leaves and labels, also on trees cut from the same one."""
        return digest_of(self.tree.ids[self.leaves], self.labels[self.leaves])

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves now."""
        return int(np.count_nonzero(self.is_leaf))

    @cached_property
    def n_nodes(self) -> int:
        """Number of nodes now."""
        return self.n_leaves + int(np.count_nonzero(self.is_kept))

    def errors(self, counts: Counts) -> int | float:
        """Return the errors of this pruning on a sample, and record in the ledger that it was used."""
        counts.check_fits(self.tree)
        self.tree.evaluation_log.record(counts, pruning=self)
        if self.node_labels is None:
            raise PruningError("this pruning was made from costs and has no classes; use cost(node_cost)")
        return self.cost(counts.unrecorded_errors_if_leaf(self.node_labels))

    def cost(self, node_cost: LongsOrFloats) -> int | float:
        """Return the sum of a cost per node over the leaves."""
        value: int | float = node_cost[self.is_leaf].sum().item()
        return value

    def snip(self, node: int) -> "Pruning":
        """Return the pruning with one more cut, at `node`."""
        self._check_node(node)
        if not (self.is_kept[node] or self.is_leaf[node]):
            raise PruningError(f"node {node} is already removed: it is below leaf {self.leaf_above(node)}")
        is_cut = self.is_leaf.copy()
        is_cut[node] = True
        return self._with_cuts(is_cut, "snip")

    def restore(self, node: int) -> "Pruning":
        """Return the pruning with the original subtree of `node` restored."""
        self._check_node(node)
        if not self.is_leaf[node]:
            why = "is not cut" if self.is_kept[node] else f"lies under leaf {self.leaf_above(node)}; restore that one"
            raise PruningError(f"node {node} {why}")
        is_cut = self.is_leaf.copy()
        is_cut[node] = False
        return self._with_cuts(is_cut, "restore")

    def leaf_above(self, node: int) -> int:
        """The leaf of this pruning on the path from the root to `node`."""
        while not self.is_leaf[node]:
            if self.is_kept[node]:
                raise PruningError(f"node {node} is not under a leaf")
            node = int(self.tree.parent[node])
        return node

    def to_tree(self, *counts: Counts | Moments) -> Any:
        """Return the smaller tree, and the given counts on it.

        Returns
        -------
        Tree, or (Tree, Counts or Moments, ...)
            Node `v` of the new tree is node `ids[v]` of the old one. It remembers the samples that
            grew and cut it, and shares the ledger of the old one.
        """
        for sample in counts:
            sample.check_fits(self.tree)
        is_here = self.is_kept | self.is_leaf
        small = _smaller_tree(self, is_here)
        if not counts:
            return small
        return (small, *(sample.restrict_to(small, is_here) for sample in counts))

    def __and__(self, other: "Pruning") -> "Pruning":
        """The largest pruning of both: cut where either cuts."""
        self._check_same(other)
        return self._with_cuts(self.is_leaf | other.is_leaf, "intersection", other.seen)

    def __or__(self, other: "Pruning") -> "Pruning":
        """The smallest pruning that both are prunings of: keep where either keeps."""
        self._check_same(other)
        return self._with_cuts(~(self.is_kept | other.is_kept), "union", other.seen)

    def __le__(self, other: "Pruning") -> bool:
        """Whether this is a pruning of `other`."""
        self._check_same(other)
        return not (self.is_kept & ~other.is_kept).any()

    def __ge__(self, other: "Pruning") -> bool:
        return other <= self

    def __repr__(self) -> str:
        shown = ", ".join(str(v) for v in self.cuts[:8]) + (", ..." if len(self.cuts) > 8 else "")
        return (
            f"Pruning({self.n_leaves:,} of {self.tree.n_leaves:,} leaves, {f'cuts at {shown}' if shown else 'no cut'})"
        )

    def _with_cuts(self, is_cut: Bools, rule: str, seen: Iterable[str] = ()) -> "Pruning":
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
        if not 0 <= node < self.tree.n_nodes:
            raise PruningError(f"node {node} does not exist; ids run from 0 to {self.tree.n_nodes - 1}")

    def _check_same(self, other: "Pruning") -> None:
        if not self.tree.same_structure(other.tree):
            raise PruningError(f"the prunings are of different trees ({self.tree} and {other.tree})")


def _smaller_tree(pruning: Pruning, is_here: Bools) -> Tree:
    """The tree of the nodes `is_here`, the leaves without their tests."""
    tree, is_leaf = pruning.tree, pruning.is_leaf
    new_id = np.cumsum(is_here, dtype=np.int32) - 1
    parent = np.where(tree.parent < 0, -1, new_id[tree.parent])[is_here].astype(np.int32)
    n_codes = np.where(is_leaf, 0, np.diff(tree.branch_start))
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.branch_start))
    blanks = blank_tests(tree.n_nodes)
    tests: dict[str, Any] = {
        n: write_protect(np.where(is_leaf, blanks[n], getattr(tree, n))[is_here]) for n in PER_NODE_FIELDS
    }
    surrogates = tree.surrogates
    if surrogates is not None:
        surrogates = surrogates.taken(np.flatnonzero(is_here), ~is_leaf[is_here])
    return replace(
        tree,
        parent=write_protect(parent),
        branch_start=write_protect(np.append(0, np.cumsum(n_codes[is_here])).astype(np.int64)),
        branch=write_protect(tree.branch[(is_here & ~is_leaf)[owner]]),
        ids=write_protect(tree.ids[is_here]),
        key=tree.row_key,
        history=tree.history | pruning.seen,
        surrogates=surrogates,
        **tests,
    )
