"""PruningSequence: many prunings of one tree, the largest first.

A nested sequence is stored as one number per node, `steps`: node v is internal in the members before `steps[v]` and
not in later ones. So v is a leaf in exactly the members

    steps[v] <= i < steps[parent[v]]        (0 for leaves of the grown tree; above the root: len(sequence)).

Any additive number of all members then takes one difference array and one cumulative sum.

For other sequences, a function computes the leaves of a member when it is needed: from the table of the rule that made
the sequence or, if it was read from a file, from the changes between members (`MemberChanges`). Neighbouring members
differ in few nodes. The number of changes is therefore about the number of nodes; one set of leaves for each member
would take the number of nodes times the number of members. Sums for all members take one pass over the changes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real

import numpy as np

from .._kernels.weakest_link import member_sums
from .._utils.arrays import Array, Bools, Floats, ImmutableTable, Ints, Longs, LongsOrFloats, equal_values
from .._utils.checks import check_int
from ..errors import ParameterError, PruningError, show
from .counts import Counts
from .moments import Moments
from .provenance import NO_SAMPLES, RuleProvenance, SampleUsage, add_usage_of_labels, hash_arrays
from .pruning import Pruning
from .tree import Tree


@dataclass(frozen=True, eq=False)
class MemberChanges:
    """The members of a sequence as changes: a callable for `PruningSequence.rebuild`.

    Calling it with `i` returns the leaves of member i, one bool per node.

    Parameters
    ----------
    parent : array of int
        Parent of each node of the grown tree.
    is_leaf : array of bool
        The leaves of the grown tree.
    start, changes : arrays of int
        `changes[start[i]:start[i + 1]]` are the nodes, in order, that are internal in member i but not in the member
        before, or the other way round. The grown tree stands before member 0.

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
        n_changes = np.bincount(self.changes[: self.start[index + 1]], minlength=len(self.parent))
        is_kept = ~self.is_leaf ^ (n_changes % 2 == 1)
        is_leaf: Bools = ~is_kept
        is_leaf[1:] &= is_kept[self.parent[1:]]
        return is_leaf

    @property
    def n_different(self) -> int:
        """Number of members that differ from the member before them; the first one counts, too."""
        return 1 + int(np.count_nonzero(np.diff(self.start[1:])))

    def sums(self, values: LongsOrFloats) -> LongsOrFloats:
        """Return the sum of `values`, one number per node, over the leaves of every member."""
        children_sum = np.zeros(len(self.parent), np.result_type(values, np.int64))
        np.add.at(children_sum, self.parent[1:], values[1:])
        gain_of_split: LongsOrFloats = children_sum - values
        sums: LongsOrFloats = values[self.is_leaf].sum() + self._cumulate(gain_of_split[self.changes] * self._signs)
        return sums

    def is_equal(self, is_kept: Bools) -> Bools:
        """Return whether each member has exactly the given internal nodes."""
        n_differences_at_start = np.count_nonzero(is_kept != ~self.is_leaf)
        steps: Longs = np.where(is_kept[self.changes], -self._signs, self._signs)
        is_equal: Bools = n_differences_at_start + self._cumulate(steps) == 0
        return is_equal

    @cached_property
    def _signs(self) -> Longs:
        """1 for each change that makes a node internal, -1 for each that makes a node a leaf."""
        order = np.argsort(self.changes, kind="stable")
        nodes = self.changes[order]
        first_change = np.searchsorted(nodes, nodes)
        # All nodes are internal at the start, so the first change of a node has sign -1, and signs alternate.
        signs = np.empty(len(nodes), np.int64)
        signs[order] = 2 * ((np.arange(len(nodes)) - first_change) % 2) - 1
        return signs

    def _cumulate(self, steps: Longs | Floats) -> LongsOrFloats:
        """Return the sum of `steps`, one number per change, up to the last change of each member."""
        sums: LongsOrFloats = np.append(steps[:0].sum(), np.cumsum(steps))[self.start[1:]]
        return sums


@dataclass(frozen=True, eq=False, repr=False)
class PruningSequence(ImmutableTable):
    """Many prunings (*members*) of one tree, from the largest to the smallest.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    n_leaves : array of int
        Number of leaves of each member.
    errors : array
        Total cost of each member, in the sample or cost the sequence was made from.
    alphas : array of float, optional
        The least penalty per leaf at which each member is the best; None for rules without a penalty.
    steps : array of int, optional
        For nested sequences: the number of the first member in which each node is not internal.
    rebuild : callable, optional
        For other sequences: `rebuild(i)` returns the leaves of member i, one bool per node.
    node_labels, seen, rule, provenance
        As for `Pruning`. A sequence without a `rule` was made by hand, and may have been made from any sample that
        was evaluated on this tree before: `seen` then includes these samples.
    nested : bool
        Whether each member is a pruning of the member before.

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
    steps: Ints | None = field(default=None, compare=False)  # see __eq__
    rebuild: Callable[[int], Bools] | None = field(default=None, compare=False)
    node_labels: Ints | None = None
    seen: SampleUsage = field(default=NO_SAMPLES, compare=False)
    rule: str = field(default="", compare=False)
    nested: bool = field(default=True, compare=False)
    provenance: RuleProvenance | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.provenance is not None and not self.rule:
            object.__setattr__(self, "rule", self.provenance.text)
        object.__setattr__(self, "seen", self._complete_usage())
        self._freeze_arrays(n_leaves=np.int64, errors=None, alphas=np.float64, node_labels=np.int32, steps=np.int32)
        if (self.steps is None) == (self.rebuild is None):
            raise PruningError("a sequence needs either steps (nested) or rebuild (a table), and not both")
        if len(self.errors) != len(self) or (self.alphas is not None and len(self.alphas) != len(self)):
            raise PruningError("n_leaves, errors and alphas need one entry per member")
        if self.steps is not None:
            self._check_steps(self.steps)

    def _complete_usage(self) -> SampleUsage:
        """Return `seen` with the samples that labels carry and, without a rule, those that may have chosen members."""
        usage = add_usage_of_labels(SampleUsage(self.seen), self.node_labels, self.tree.history)
        return usage if self.rule else self.tree.evaluation_log.possible_choosers | usage

    def _check_steps(self, steps: Ints) -> None:
        """Raise `PruningError` unless `steps` describe a sequence of `len(self)` nested prunings."""
        tree = self.tree
        if steps.shape != (tree.n_nodes,) or steps[0] >= len(self) or (steps[tree.is_leaf] != 0).any():
            raise PruningError("steps need one entry per node, 0 at leaves, at the root below the number of members")
        invalid = np.flatnonzero(steps[1:] > steps[tree.parent[1:]]) + 1
        if len(invalid):
            node = invalid[0]
            raise PruningError(
                f"step {steps[node]} of node {node} is above step {steps[tree.parent[node]]} of its parent; a node "
                "cannot stay internal after its parent was cut"
            )

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
        """Return the number of the member that is the best at penalty `alpha`."""
        if self.alphas is None:
            raise PruningError(f"the sequence of {self.rule or 'this rule'} has no penalties; use with_leaves")
        if isinstance(alpha, bool) or not isinstance(alpha, Real) or not alpha >= self.alphas[0]:
            raise ParameterError(f"alpha={show(alpha)}; a number of {self.alphas[0]:g} or more is needed")
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def at(self, alpha: float) -> Pruning:
        """Return the member that is the best at penalty `alpha`."""
        return self[self.index_at(alpha)]

    def with_leaves(self, n_leaves: int) -> Pruning:
        """Return the member with the given number of leaves."""
        members = np.flatnonzero(self.n_leaves == check_int("n_leaves", n_leaves, 1))
        if len(members):
            return self[int(members[0])]
        smaller, larger = self.n_leaves[self.n_leaves < n_leaves], self.n_leaves[self.n_leaves > n_leaves]
        nearest = [str(smaller.max())] if len(smaller) else []
        nearest += [str(larger.min())] if len(larger) else []
        raise PruningError(f"no member has {n_leaves} leaves; the nearest have {' and '.join(nearest)}")

    def index_of(self, pruning: Pruning) -> int | None:
        """Return the number of the first member with the leaves of a pruning; None if there is none.

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
            # In member i, nodes with steps[v] <= i are not internal, and nodes with steps[v] > i are internal.
            is_internal = ~self.tree.is_leaf
            first = self.steps[is_internal & ~pruning.is_kept].max(initial=0)
            after_last = self.steps[pruning.is_kept].min(initial=len(self))
            is_equal[:first] = False
            is_equal[after_last:] = False
        else:
            candidates = np.flatnonzero(is_equal).tolist()
            is_equal[is_equal] = [equal_values(self._leaves_of(i), pruning.is_leaf) for i in candidates]
        return int(is_equal.argmax()) if is_equal.any() else None

    @cached_property
    def digest(self) -> bytes:
        """A hash of the tree's structure and of the leaves and labels of all members."""
        labels = np.zeros(0, np.int32) if self.node_labels is None else self.node_labels
        if self.steps is not None:
            members: list[Array] = [self.steps]
        else:
            changes = self.member_changes()
            members = [changes.start, changes.changes]
        return hash_arrays(self.tree.parent, self.n_leaves, labels, *members)

    def member_changes(self, max_changes: int | None = None) -> MemberChanges:
        """Return the changes between the members of a sequence; raise `PruningError` if there are too many of them."""
        if isinstance(self.rebuild, MemberChanges):
            return self.rebuild
        is_inner: Bools = ~self.tree.is_leaf
        changes: list[Longs] = []
        start = [0]
        for member in self:
            changes.append(np.flatnonzero(member.is_kept != is_inner))
            is_inner = member.is_kept
            start.append(start[-1] + len(changes[-1]))
            if max_changes is not None and start[-1] > max_changes:
                raise PruningError(f"more than {max_changes:,} changes between them")
        all_changes: Ints = np.concatenate([np.zeros(0, np.int32), *changes], dtype=np.int32)
        return MemberChanges(self.tree.parent, self.tree.is_leaf, np.array(start, np.int64), all_changes)

    @property
    def n_different(self) -> int:
        """Number of different members; in a sequence from a file, of members that differ from the member before.

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

        The tree's evaluation log records that the sample was evaluated on this sequence. When this sample certifies a
        member of the sequence, `certify` then includes the price of choosing the member.
        """
        self.tree.evaluation_log.record_sequence(counts, self, include_entered_by_hand=True)
        return self.unrecorded_errors_on(counts)

    def unrecorded_errors_on(self, counts: Counts) -> LongsOrFloats:
        """Return the same errors as `errors_on` without recording the evaluation; for functions that record it."""
        counts.check_fits(self.tree)
        if self.node_labels is None:
            raise PruningError("this sequence was made from costs and has no classes; use costs_on(node_cost)")
        return self.costs_on(counts.unrecorded_errors_if_leaf(self.node_labels))

    def costs_on(self, node_cost: LongsOrFloats) -> LongsOrFloats:
        """Return the total cost of the leaves of every member, given the cost of each node as a leaf.

        This takes one pass over the nodes for a nested sequence, one over nodes and changes for a sequence from a
        file, and one per member otherwise.
        """
        if isinstance(self.rebuild, MemberChanges):
            return self.rebuild.sums(node_cost)
        if self.steps is None:
            return np.array([self[i].cost(node_cost) for i in range(len(self))])
        return member_sums(self.tree.parent, self.steps, node_cost, len(self))

    def rates_on(self, sample: Counts | Moments, grown: Counts | Moments) -> Floats:
        """Return the error rate (regression: mean squared error) of every member on a sample.

        This is an evaluation as by `errors_on`. The nodes of a regression tree predict the means of `grown`.
        """
        total_weight = float(sample.total[0]) or 1.0
        if isinstance(sample, Counts):
            return self.errors_on(sample) / total_weight
        self.tree.evaluation_log.record_sequence(sample, self)
        return self.costs_on(sample.unrecorded_costs_if_leaf(grown.predictions)) / total_weight

    def to_dict(self) -> dict[str, Array]:
        """Return the table of members as a dict of columns."""
        table: dict[str, Array] = {"leaves": self.n_leaves, "errors": self.errors}
        if self.alphas is not None:
            table["alpha"] = self.alphas
        return table

    def __eq__(self, other: object) -> bool:
        has_equal_fields = super().__eq__(other)
        if has_equal_fields is not True or not isinstance(other, PruningSequence):
            return has_equal_fields
        if self.steps is not None and other.steps is not None:
            return equal_values(self.steps, other.steps)
        mine, theirs = self.rebuild, other.rebuild
        if isinstance(mine, MemberChanges) and isinstance(theirs, MemberChanges):
            return equal_values(mine.start, theirs.start) and equal_values(mine.changes, theirs.changes)
        return all(equal_values(a.is_leaf, b.is_leaf) for a, b in zip(self, other, strict=True))

    __hash__ = ImmutableTable.__hash__

    def __repr__(self) -> str:
        kind = "nested" if self.nested else "not nested"
        return f"PruningSequence({len(self):,} prunings, {self.n_leaves[0]:,} to {self.n_leaves[-1]:,} leaves, {kind})"

    def _leaves_of(self, index: int) -> Bools:
        """Return whether each node is a leaf of member `index`."""
        if self.rebuild is not None:
            return self.rebuild(index)
        assert self.steps is not None  # __post_init__ has checked this
        step_of_parent = np.append(self.steps, len(self))[self.tree.parent]  # -1, the parent of the root, is the last
        return (self.steps <= index) & (index < step_of_parent)
