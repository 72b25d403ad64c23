"""PruningSequence: many prunings of one tree, largest first.

Nested sequences are one number per node, `steps`: node v tests something in the members
before `steps[v]` and no longer after, so v is a leaf in exactly the members

    steps[v] <= i < steps[parent[v]]        (original leaves 0; above the root len(sequence)).

Any additive number of all members is then one difference array and one cumulative sum.
Sequences that are not nested rebuild a member on demand from the table behind them, or from
the changes between members (`MemberChanges`): neighbours differ in few nodes, so the changes of all members
together are about as many as the nodes, where the sets themselves would be as many as nodes times members. Files hold
the changes, and all that is asked of every member is one pass over them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._kernels.weakest_link import member_sums
from .._utils.arrays import Array, Bools, Floats, Ints, Longs, LongsOrFloats, equal_values
from .._utils.immutable import ImmutableTable
from ..errors import ParameterError, PruningError
from .counts import Counts
from .moments import Moments
from .provenance import NO_SAMPLES, SampleUsage
from .pruning import Pruning
from .rule_provenance import RuleProvenance
from .tree import Tree


@dataclass(frozen=True, eq=False)
class MemberChanges:
    """The `rebuild` of a sequence: calling it with i gives the leaves of member i.

    `changes[start[i]:start[i + 1]]` are the nodes that test in member i but not in the one
    before it, or the other way round, rising; before the first comes the whole tree.

    Examples
    --------
    >>> import numpy as np
    >>> parent = np.array([-1, 0, 0, 2, 2], np.int32)
    >>> members = MemberChanges(parent, np.array([0, 1, 0, 1, 1], bool), np.array([0, 0, 1, 2]), np.array([2, 0]))
    >>> [np.flatnonzero(members(i)).tolist() for i in range(3)]
    [[1, 3, 4], [1, 2], [0]]
    >>> members.sums(np.array([9, 1, 5, 2, 1])).tolist()
    [4, 6, 9]
    """

    parent: Ints
    is_leaf: Bools
    start: Longs
    changes: Ints

    def __call__(self, index: int) -> Bools:
        n_times = np.bincount(self.changes[: self.start[index + 1]], minlength=len(self.parent))
        is_kept = ~self.is_leaf ^ (n_times % 2 == 1)
        leaves: Bools = ~is_kept
        leaves[1:] &= is_kept[self.parent[1:]]
        return leaves

    @property
    def n_different(self) -> int:
        """The number of members that differ from the one before them, and the first."""
        return 1 + int(np.count_nonzero(np.diff(self.start[1:])))

    def sums(self, values: LongsOrFloats) -> LongsOrFloats:
        """The sum of `values` over the leaves of every member."""
        below = np.zeros(len(self.parent), np.result_type(values, np.int64))
        np.add.at(below, self.parent[1:], values[1:])
        opened: LongsOrFloats = below - values  # what a node adds when it tests
        sums: LongsOrFloats = values[self.is_leaf].sum() + self._running(opened[self.changes] * self._signs)
        return sums

    def is_equal(self, is_kept: Bools) -> Bools:
        """Which members test exactly these nodes."""
        n_wrong = np.count_nonzero(is_kept != ~self.is_leaf)
        steps: Longs = np.where(is_kept[self.changes], -self._signs, self._signs)
        found: Bools = n_wrong + self._running(steps) == 0
        return found

    @cached_property
    def _signs(self) -> Longs:
        """Of each change: 1 where the node begins to test, -1 where it ends."""
        order = np.argsort(self.changes, kind="stable")
        nodes = self.changes[order]
        first = np.searchsorted(nodes, nodes)  # all nodes test at the start: the first change of each ends it
        signs = np.empty(len(nodes), np.int64)
        signs[order] = 2 * ((np.arange(len(nodes)) - first) % 2) - 1
        return signs

    def _running(self, steps: Longs | Floats) -> LongsOrFloats:
        """The sums of steps up to the end of each member."""
        sums: LongsOrFloats = np.append(steps[:0].sum(), np.cumsum(steps))[self.start[1:]]
        return sums


@dataclass(frozen=True, eq=False, repr=False)
class PruningSequence(ImmutableTable):
    """Prunings of one tree, from the largest to the smallest.

    Parameters
    ----------
    tree : Tree
    n_leaves : array of int
        Leaves of each member.
    errors : array
        Cost of each member in the sample or cost the sequence was made from.
    alphas : array of float, optional
        The least penalty at which each member is chosen; None where there is no penalty.
    steps : array of int, optional
        Nested sequences: the first member in which each node tests nothing.
    rebuild : callable, optional
        Other sequences: `rebuild(i)` gives the leaves of member i, one bool per node.
    node_labels, seen, rule, provenance
        As for `Pruning`.
    nested : bool
        Whether each member is a pruning of the one before it.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = PruningSequence(tree, [3, 2, 1], [0, 1, 3], alphas=[0, 1, 2], steps=[2, 1, 0, 0, 0])
    >>> sequence
    PruningSequence(3 prunings, 3 to 1 leaves, nested)
    >>> sequence.at(1.5)
    Pruning(2 of 3 leaves, cuts at 1)
    >>> [pruning.n_leaves for pruning in sequence]
    [3, 2, 1]
    """

    tree: Tree
    n_leaves: Longs
    errors: LongsOrFloats
    alphas: Floats | None = None
    steps: Ints | None = field(default=None, compare=False)  # compared below
    rebuild: Callable[[int], Bools] | None = field(default=None, compare=False)
    node_labels: Ints | None = None
    seen: SampleUsage = field(default=NO_SAMPLES, compare=False)
    rule: str = field(default="", compare=False)
    nested: bool = field(default=True, compare=False)
    provenance: RuleProvenance | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._freeze_arrays(n_leaves=np.int64, errors=None, alphas=np.float64, node_labels=np.int32, steps=np.int32)
        if self.provenance is not None and not self.rule:
            object.__setattr__(self, "rule", self.provenance.text)
        # A sequence that no rule has signed may come from any sample that was looked at before.
        object.__setattr__(
            self, "seen", SampleUsage(self.seen) if self.rule else self.tree.evaluation_log.open | self.seen
        )
        if (self.steps is None) == (self.rebuild is None):
            raise PruningError("a sequence needs either steps (nested) or rebuild (a table), and not both")
        if len(self.errors) != len(self) or (self.alphas is not None and len(self.alphas) != len(self)):
            raise PruningError("n_leaves, errors and alphas need one entry per member")
        if self.steps is not None:
            self._check_steps(self.steps)

    def _check_steps(self, steps: Ints) -> None:
        tree = self.tree
        if steps.shape != (tree.n_nodes,) or steps[0] >= len(self) or (steps[tree.is_leaf] != 0).any():
            raise PruningError("steps need one entry per node, 0 at leaves, at the root below the number of members")
        wrong = np.flatnonzero(steps[1:] > steps[tree.parent[1:]]) + 1
        if len(wrong):
            raise PruningError(f"node {wrong[0]} outlives its parent: step {steps[wrong[0]]}")

    def __len__(self) -> int:
        return len(self.n_leaves)

    def __getitem__(self, index: int) -> Pruning:
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"member {index} does not exist; the sequence has {n}")
        return Pruning(
            self.tree,
            self._leaves_of(index % n),
            self.node_labels,
            self.seen,
            self.rule,
            provenance=self.provenance,
        )

    def __iter__(self) -> Iterator[Pruning]:
        return (self[i] for i in range(len(self)))

    def index_at(self, alpha: float) -> int:
        """The member chosen at penalty `alpha`."""
        if self.alphas is None:
            raise PruningError(f"the sequence of {self.rule or 'this rule'} has no penalties; use with_leaves")
        if not alpha >= self.alphas[0]:
            raise ParameterError(f"alpha={alpha}; a number of {self.alphas[0]:g} or more is needed")
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def at(self, alpha: float) -> Pruning:
        """Return the member chosen at penalty `alpha`."""
        return self[self.index_at(alpha)]

    def with_leaves(self, n_leaves: int) -> Pruning:
        """Return the member with the given number of leaves."""
        found = np.flatnonzero(self.n_leaves == n_leaves)
        if len(found):
            return self[int(found[0])]
        below, above = self.n_leaves[self.n_leaves < n_leaves], self.n_leaves[self.n_leaves > n_leaves]
        near = [str(x) for x in ([below.max()] if len(below) else []) + ([above.min()] if len(above) else [])]
        raise PruningError(f"no member has {n_leaves} leaves; the nearest have {' and '.join(near)}")

    def index_of(self, pruning: Pruning) -> int | None:
        """The first member of the size of a pruning that has its leaves; None if there is none.

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 0])
        >>> PruningSequence(tree, [2, 1], [0, 1], steps=[1, 0, 0]).index_of(Pruning.from_cuts(tree, [0]))
        1
        """
        is_equal = self.n_leaves == pruning.n_leaves
        if isinstance(self.rebuild, MemberChanges):
            is_equal &= self.rebuild.is_equal(pruning.is_kept)
        elif self.steps is not None:
            kept, inner = pruning.is_kept, ~self.tree.is_leaf
            is_equal[: self.steps[inner & ~kept].max(initial=0)] = False
            is_equal[self.steps[kept].min(initial=len(self)) :] = False
        else:
            is_equal[is_equal] = [
                equal_values(self._leaves_of(i), pruning.is_leaf) for i in np.flatnonzero(is_equal).tolist()
            ]
        return int(is_equal.argmax()) if is_equal.any() else None

    @property
    def n_different(self) -> int:
        """The number of different members; of one that is read from a file, those that differ from the one before.

        Examples
        --------
        >>> PruningSequence(Tree.from_parents([-1, 0, 0]), [2, 1, 1], [0, 1, 1], steps=[1, 0, 0]).n_different
        2
        """
        if isinstance(self.rebuild, MemberChanges):
            return self.rebuild.n_different
        if self.steps is not None:
            return 1 + len(np.unique(self.steps[self.steps > 0]))
        n_sizes = len(np.unique(self.n_leaves))
        return n_sizes if n_sizes == len(self) else len({self._leaves_of(i).tobytes() for i in range(len(self))})

    def errors_on(self, counts: Counts) -> LongsOrFloats:
        """Return the errors of every member on a sample.

        The tree's ledger notes that the sample was asked: `certify` then makes a member of this
        sequence pay for the choice.
        """
        self.tree.evaluation_log.record(counts, sequence=self, is_asked=True)
        return self.unrecorded_errors_on(counts)

    def unrecorded_errors_on(self, counts: Counts) -> LongsOrFloats:
        """Return the same as `errors_on`, without recording it: for functions that write the ledger themselves."""
        counts.check_fits(self.tree)
        if self.node_labels is None:
            raise PruningError("this sequence was made from costs and has no classes; use costs_on(node_cost)")
        return self.costs_on(counts.unrecorded_errors_if_leaf(self.node_labels))

    def costs_on(self, node_cost: LongsOrFloats) -> LongsOrFloats:
        """Return the total leaf cost of every member.

        One pass over the nodes for a nested sequence, over the nodes and changes for one from a file, and
        one per member otherwise.
        """
        if isinstance(self.rebuild, MemberChanges):
            return self.rebuild.sums(node_cost)
        if self.steps is None:
            return np.array([self[i].cost(node_cost) for i in range(len(self))])
        return member_sums(self.tree.parent, self.steps, node_cost, len(self))

    def rates_on(self, sample: Counts | Moments, grown: Counts | Moments) -> Floats:
        """Return the error rate (regression: mean squared error) of every member on a sample.

        The nodes of a regression tree answer the means of `grown`.
        """
        total = float(sample.total[0]) or 1.0
        if isinstance(sample, Counts):
            return self.errors_on(sample) / total
        return self.costs_on(sample.costs_if_leaf(grown.predictions)) / total

    def to_dict(self) -> dict[str, Array]:
        """Return the table of members as a dict of columns."""
        table: dict[str, Array] = {"leaves": self.n_leaves, "errors": self.errors}
        if self.alphas is not None:
            table["alpha"] = self.alphas
        return table

    def __eq__(self, other: object) -> bool:
        alike = super().__eq__(other)
        if alike is not True or not isinstance(other, PruningSequence):
            return alike
        if self.steps is not None and other.steps is not None:
            return equal_values(self.steps, other.steps)
        if isinstance(self.rebuild, MemberChanges) and isinstance(other.rebuild, MemberChanges):
            return all(
                equal_values(getattr(self.rebuild, name), getattr(other.rebuild, name)) for name in ("start", "changes")
            )
        return all(equal_values(a.is_leaf, b.is_leaf) for a, b in zip(self, other, strict=True))

    __hash__ = ImmutableTable.__hash__

    def __repr__(self) -> str:
        kind = "nested" if self.nested else "not nested"
        return f"PruningSequence({len(self):,} prunings, {self.n_leaves[0]:,} to {self.n_leaves[-1]:,} leaves, {kind})"

    def _leaves_of(self, index: int) -> Bools:
        if self.rebuild is not None:
            return self.rebuild(index)
        assert self.steps is not None  # by construction
        upper = np.append(self.steps, len(self))[self.tree.parent]
        return (self.steps <= index) & (index < upper)
