"""PruningSequence: many prunings of one tree, largest first.

Nested sequences are one number per node, `steps`: node v tests something in the members
before `steps[v]` and no longer after, so v is a leaf in exactly the members

    steps[v] <= i < steps[parent[v]]        (original leaves 0; above the root len(sequence)).

Any additive number of all members is then one difference array and one cumulative sum.
Sequences that are not nested rebuild a member on demand from the table behind them, or from
the changes between members (`members.py`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels.weakest_link import member_sums
from ..data.arrays import Array, Bools, Floats, Ints, Longs, Sums, frozen, rebuilt, same
from ..errors import ParameterError, PruningError
from .counts import Counts
from .members import Members
from .moments import Moments
from .pruning import Pruning
from .seen import NOTHING, Seen
from .tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class PruningSequence:
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
    node_labels, seen, rule
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
    errors: Sums
    alphas: Floats | None = None
    steps: Ints | None = None
    rebuild: Callable[[int], Bools] | None = None
    node_labels: Ints | None = None
    seen: Seen = NOTHING
    rule: str = ""
    nested: bool = True

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "n_leaves", frozen(self.n_leaves, np.int64))
        set_field(self, "errors", frozen(self.errors))
        if self.alphas is not None:
            set_field(self, "alphas", frozen(self.alphas, np.float64))
        if self.node_labels is not None:
            set_field(self, "node_labels", frozen(self.node_labels, np.int32))
        # A sequence that no rule has signed may come from any sample that was looked at before.
        set_field(self, "seen", Seen(self.seen) if self.rule else self.tree.ledger.open | self.seen)
        if (self.steps is None) == (self.rebuild is None):
            raise PruningError("a sequence needs either steps (nested) or rebuild (a table), and not both")
        if len(self.errors) != len(self) or (self.alphas is not None and len(self.alphas) != len(self)):
            raise PruningError("n_leaves, errors and alphas need one entry per member")
        if self.steps is not None:
            set_field(self, "steps", frozen(self.steps, np.int32))
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
        return Pruning(self.tree, self._leaves_of(index % n), self.node_labels, self.seen, self.rule)

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

    def place_of(self, pruning: Pruning) -> int | None:
        """The first member of the size of a pruning that has its leaves; None if there is none.

        Examples
        --------
        >>> tree = Tree.from_parents([-1, 0, 0])
        >>> PruningSequence(tree, [2, 1], [0, 1], steps=[1, 0, 0]).place_of(Pruning.from_cuts(tree, [0]))
        1
        """
        is_equal = self.n_leaves == pruning.n_leaves
        if isinstance(self.rebuild, Members):
            is_equal &= self.rebuild.is_equal(pruning.is_kept)
        elif self.steps is not None:
            kept, inner = pruning.is_kept, ~self.tree.is_leaf
            is_equal[: self.steps[inner & ~kept].max(initial=0)] = False
            is_equal[self.steps[kept].min(initial=len(self)) :] = False
        else:
            is_equal[is_equal] = [same(self._leaves_of(i), pruning.is_leaf) for i in np.flatnonzero(is_equal).tolist()]
        return int(is_equal.argmax()) if is_equal.any() else None

    @property
    def n_different(self) -> int:
        """The number of different members; of one that is read from a file, those that differ from the one before.

        Examples
        --------
        >>> PruningSequence(Tree.from_parents([-1, 0, 0]), [2, 1, 1], [0, 1, 1], steps=[1, 0, 0]).n_different
        2
        """
        if isinstance(self.rebuild, Members):
            return self.rebuild.n_different
        if self.steps is not None:
            return 1 + len(np.unique(self.steps[self.steps > 0]))
        n_sizes = len(np.unique(self.n_leaves))
        return n_sizes if n_sizes == len(self) else len({self._leaves_of(i).tobytes() for i in range(len(self))})

    def errors_on(self, counts: Counts) -> Sums:
        """Return the errors of every member on a sample.

        The tree's ledger notes that the sample was asked: `certify` then makes a member of this
        sequence pay for the choice.
        """
        self.tree.ledger.look(counts, sequence=self, is_asked=True)
        return self.wrong_on(counts)

    def wrong_on(self, counts: Counts) -> Sums:
        """Return the same as `errors_on`, without recording it: for functions that write the ledger themselves."""
        counts.check_fits(self.tree)
        if self.node_labels is None:
            raise PruningError("this sequence was made from costs and has no classes; use costs_on(node_cost)")
        return self.costs_on(counts.wrong(self.node_labels))

    def costs_on(self, node_cost: Sums) -> Sums:
        """Return the total leaf cost of every member.

        One pass over the nodes for a nested sequence, over the nodes and changes for one from a file, and
        one per member otherwise.
        """
        if isinstance(self.rebuild, Members):
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
        return self.costs_on(sample.costs_if_leaf(grown.answers)) / total

    def to_dict(self) -> dict[str, Array]:
        """Return the table of members as a dict of columns."""
        table: dict[str, Array] = {"leaves": self.n_leaves, "errors": self.errors}
        if self.alphas is not None:
            table["alpha"] = self.alphas
        return table

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the table of members as a data frame of the named library (pandas, polars, pyarrow)."""
        import narwhals.stable.v2 as nw

        return nw.from_dict(self.to_dict(), backend=backend).to_native()

    __reduce__ = rebuilt

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PruningSequence):
            return NotImplemented
        alike = (
            same(self.n_leaves, other.n_leaves) and same(self.errors, other.errors) and same(self.alphas, other.alphas)
        )
        if not alike or self.tree != other.tree or not same(self.node_labels, other.node_labels):
            return False
        if self.steps is not None and other.steps is not None:
            return same(self.steps, other.steps)
        if isinstance(self.rebuild, Members) and isinstance(other.rebuild, Members):
            return all(same(getattr(self.rebuild, name), getattr(other.rebuild, name)) for name in ("start", "changes"))
        return all(same(a.is_leaf, b.is_leaf) for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self.n_leaves.tobytes(), self.errors.tobytes()))

    def __repr__(self) -> str:
        kind = "nested" if self.nested else "not nested"
        return f"PruningSequence({len(self):,} prunings, {self.n_leaves[0]:,} to {self.n_leaves[-1]:,} leaves, {kind})"

    def _leaves_of(self, index: int) -> Bools:
        if self.rebuild is not None:
            return self.rebuild(index)
        assert self.steps is not None  # by construction
        upper = np.append(self.steps, len(self))[self.tree.parent]
        return (self.steps <= index) & (index < upper)
