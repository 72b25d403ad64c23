"""k-REP: the fewest held-out errors among prunings with at most k growing errors.

A limit on the growing errors keeps the class of prunings small, so that error bounds over
it are tight. With `least` the growing errors of the uncut tree (no pruning has fewer), a
cut charges its growing excess to the budget k - least; one table answers every budget.

Every k-optimal pruning keeps what reduced error pruning keeps: joining the two removes
growing errors, and by the lattice identity cost(P | R) + cost(P & R) = cost(P) + cost(R)
it cannot be worse than P, as R is the best of all. So only nodes that reduced error pruning
gives up enter the table, and from its own growing errors on it is the answer for every k.

Kääriäinen, Malinen and Elomaa, Selective Rademacher penalization and reduced error
pruning (2004). Their size minimum runs over all prunings of equal held-out error; here, as
it must for the optimum to exist, over those within the limit.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._kernels import budget_dp
from .._kernels.bottom_up import cheapest_subtree
from .._utils.arrays import Bools, Longs, LongsOrFloats, write_protect
from ..core import Counts, Pruning, PruningSequence, SampleUsage, Tree, excess_cost, full_cost
from ..errors import CountsError, ParameterError, PruningError

_FACTOR = 1.1  # the published choice
_LEAST_ROWS = 2  # in two children of every test of the authors' grower, a C4.5
_MOST_BYTES = 1 << 33  # of a table: 8 GB
_WHOLE = 1e-6  # sums of weights this close to a whole number are meant to be one


def k_reduced_error(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    k: float | None = None,
    factor: float | None = None,
    rate: float | None = None,
    labelled: bool = False,
) -> Pruning:
    """Return the pruning with the fewest held-out errors among those with at most k growing errors.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown : Counts
        Counts of the growing sample: labels, and the errors that k limits.
    holdout : Counts
        Counts of a fresh sample; its errors are minimised.
    k : number, optional
        Maximum number of growing errors.
    factor : number, optional
        Without `k`: k is this many times the growing errors of the uncut tree, rounded down,
        computed as the decimal number that is written (1.1 times 10 is 11). If the uncut
        tree makes no growing error, every factor means k = 0.
    rate : number, optional
        Without `k`: k is this fraction of the growing sample, rounded down.

        At most one of the three is given. Without any, k is 1.1 times the growing errors that the
        tree makes when it is stopped as the authors' grower stops: at tests of which not at least
        two children hold 2 examples. A tree that was stopped so makes these errors uncut, and k is
        the published choice; a tree grown until its leaves are pure makes none, and 1.1 times none
        would forbid to prune.
    labelled : bool
        Search the larger class in which every leaf, original or cut, may take any class, each
        with its own growing errors. The labels of the growing sample otherwise.

    Returns
    -------
    Pruning
        Fewest (held-out errors, leaves), in this order, over all prunings with at most k growing
        errors. Among equals the first node in pre-order is kept rather than cut, and so on
        from the left; under `labelled` a node then takes the class of the growing sample
        rather than another, and a lower class rather than a higher one. `rule` says which k.

    Raises
    ------
    PruningError
        If k is below the growing errors of the uncut tree, the least of all.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 4, Definition 4, Theorem 5 and Algorithm 6.

    With K = k - least and n tests that reduced error pruning gives up, O(n_nodes + n K) time for
    any arity, n K / 8 bytes for the decisions and 8 K bytes for each of the rows alive
    at once, at most as many as the tree is deep. From the growing errors of the reduced error
    pruning on, K plays no part. `labelled` counts each useful class of a node as a test.

    Growing counts must be whole, or at least what each cut adds to the growing errors.
    Weighted held-out errors count as equal within 1e-12 of the sample's weight.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    >>> holdout = Counts.from_leaves(tree, [[1, 2], [2, 0], [0, 1], [0, 2]], sample="prune")
    >>> for k in (1, 2):
    ...     pruning = k_reduced_error(tree, grown, holdout, k=k)
    ...     print(k, pruning, pruning.errors(holdout))
    1 Pruning(4 of 4 leaves, no cut) 5
    2 Pruning(3 of 4 leaves, cuts at 1) 4
    """
    holdout.check_fits(tree)
    charge, least = _charges(tree, grown)
    limit, words = _limit(grown, least, k, factor, rate)
    budget = _budget(limit, least, words)
    if labelled:
        return _labelled(tree, grown, holdout, budget, f"k-reduced-error, {words}, labelled")
    path = _path(tree, grown, holdout, charge, least, min(budget, int(charge[0])))
    return path._within(budget, words)  # noqa: SLF001 our own


def k_limit(grown: Counts, *, k: float | None = None, factor: float | None = None, rate: float | None = None) -> int:
    """Return the growing errors that `k_reduced_error` allows with the same parameters.

    The class of prunings within it is what a certificate "within k" pays for; the growing sample
    alone decides, so the class is fixed before the held-out sample is seen.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> k_limit(Counts.from_leaves(tree, [[90, 10], [20, 80]]))
    33

    A tree with pure leaves; the second test sends one example aside, where the authors would have stopped.

    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> pure = Counts.from_leaves(tree, [[30, 0], [0, 1], [0, 40]])
    >>> k_limit(pure), k_limit(pure, factor=1.1), k_limit(pure, rate=0.05)
    (1, 0, 3)
    """
    _, least = _charges(grown.tree, grown)
    limit, words = _limit(grown, least, k, factor, rate)
    return int(least) + _budget(limit, least, words)


def k_reduced_error_path(tree: Tree, grown: Counts, holdout: Counts, *, max_k: float | None = None) -> "KPath":
    """Return the k-optimal prunings for every k at once.

    Parameters
    ----------
    tree, grown, holdout
        As for `k_reduced_error`.
    max_k : number, optional
        The largest k asked for; by default the growing errors of the tree cut to one leaf,
        from which on the limit forbids nothing.

    Returns
    -------
    KPath
        Errors and leaves for each k, and each pruning on demand.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 4.

    One table, as large as `k_reduced_error` needs for the largest k.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    >>> holdout = Counts.from_leaves(tree, [[1, 2], [2, 0], [0, 1], [0, 2]], sample="prune")
    >>> path = k_reduced_error_path(tree, grown, holdout)
    >>> path.ks.tolist(), path.errors.tolist(), path.n_leaves.tolist()
    ([1, 2, 3, 4], [5, 4, 4, 4], [4, 3, 3, 3])
    >>> path.sequence
    PruningSequence(2 prunings, 4 to 3 leaves, not nested)
    """
    holdout.check_fits(tree)
    charge, least = _charges(tree, grown)
    budget = int(charge[0])
    if max_k is not None:
        budget = min(budget, _budget(_exact("max_k", max_k), least, f"max_k={max_k}"))
    return _path(tree, grown, holdout, charge, least, budget)


@dataclass(frozen=True, eq=False, repr=False)
class KPath:
    """The k-optimal prunings of one tree for k = least, least + 1, ...

    Parameters
    ----------
    grown, holdout : Counts
        The samples it was made from.
    ks : array
        The limits on the growing errors.
    errors, n_leaves : arrays
        Held-out errors and leaves of the optimum for each of `ks`. The errors never rise
        with k; the leaves can.
    """

    grown: Counts
    holdout: Counts
    ks: LongsOrFloats
    errors: LongsOrFloats
    n_leaves: Longs
    _best: Pruning  # the reduced error pruning, what it charges, and what comes before it
    _best_charge: int
    _table: "_Table | None"

    def __len__(self) -> int:
        return len(self.ks)

    def pruning(self, k: float) -> Pruning:
        """Return what `k_reduced_error` returns for `k`."""
        budget = _budget(_exact("k", k), _exact("k", self.ks[0]), f"k={k}")
        if len(self) <= budget < self._best_charge:
            raise PruningError(f"k={k} is beyond the largest k of this path, {self.ks[-1]}; ask for a larger max_k")
        return self._within(budget, f"k={k}")

    @cached_property
    def sequence(self) -> PruningSequence:
        """The optima that differ in errors or leaves, each at its least k, largest first."""
        budgets = self._members.tolist()
        return PruningSequence(
            self._best.tree,
            self.n_leaves[self._members],
            self.errors[self._members],
            rebuild=lambda i: self._within(budgets[i], "").is_leaf,
            node_labels=self._best.node_labels,
            seen=self._best.seen,
            rule="k-reduced-error, the different optima over k",
            nested=False,
        )

    @cached_property
    def sequence_ks(self) -> LongsOrFloats:
        """The least k of each member of `sequence`."""
        return write_protect(self.ks[self._members])

    @cached_property
    def _members(self) -> Longs:
        """The first budget of each optimum, most leaves first."""
        is_new = np.append(True, (np.diff(self.errors) != 0) | (np.diff(self.n_leaves) != 0))
        first = np.flatnonzero(is_new)
        return first[np.argsort(-self.n_leaves[first], kind="stable")]

    def _within(self, budget: int, words: str) -> Pruning:
        rule = f"k-reduced-error, {words}"
        if self._table is None or budget >= self._best_charge:
            return replace(self._best, rule=rule)
        best, cuts = self._best, self._table.node[self._table.cuts(budget)]
        return Pruning.from_cuts(
            best.tree, cuts, node_labels=best.node_labels, seen=best.seen, rule=rule, note=best.note
        )

    def __repr__(self) -> str:
        return f"KPath(k from {self.ks[0]} to {self.ks[-1]}, {len(self._members):,} different optima)"


class _Table(NamedTuple):
    """Ways to cut, in pre-order: at which node, what it charges, where the walk goes on.

    And fewest (errors, leaves) that they can add within each budget, with the decisions.
    """

    node: Longs
    charge: Longs
    jump: Longs
    errors: LongsOrFloats
    leaves: Longs
    is_better: npt.NDArray[np.uint8]

    def cuts(self, budget: int) -> Bools:
        """Which of the ways the best walk within a budget takes."""
        return budget_dp.walk(self.jump, self.charge, self.is_better, budget)


def _path(tree: Tree, grown: Counts, holdout: Counts, charge: Longs, least: Fraction, budget: int) -> KPath:
    """Everything up to `budget`: a table, and from its growing errors on the reduced error pruning."""
    error = holdout.errors_if_leaf(grown.majority)
    best = Pruning.from_cuts(
        tree,
        cheapest_subtree(tree.parent, error, float(holdout.total[0])),
        node_labels=grown.majority,
        seen=SampleUsage.of(grown, holdout),
        note=_note(holdout),
    )
    best_charge = int(charge[best.cuts].sum())
    n_bytes = 16 * (budget + 1) + len(tree.internal) * min(budget + 1, best_charge) // 8
    if n_bytes > _MOST_BYTES:
        raise CountsError(
            f"every limit up to k={int(least) + budget:,} of {tree} needs about {n_bytes / 1e9:.0f} GB; "
            f"pass a smaller k, or divide the counts of sample {grown.sample!r} by a common factor"
        )
    errors = np.full(budget + 1, best.cost(error))
    leaves = np.full(budget + 1, best.n_leaves)
    table = None
    n_open = min(budget + 1, best_charge)  # budgets that the reduced error pruning does not fit
    if n_open > 0:
        node = np.flatnonzero(~(best.is_kept | tree.is_leaf) & (charge < n_open))
        table = _solve(tree, holdout, node, charge[node], excess_cost(tree, error)[node], n_open - 1)
        errors[:n_open] = full_cost(tree, error)[0] + table.errors
        leaves[:n_open] = tree.n_leaves + table.leaves
    first = int(least) if least.denominator == 1 else float(least)
    ks = first + np.arange(budget + 1)
    return KPath(
        grown, holdout, write_protect(ks), write_protect(errors), write_protect(leaves), best, best_charge, table
    )


def _labelled(tree: Tree, grown: Counts, holdout: Counts, budget: int, rule: str) -> Pruning:
    """The optimum when every leaf may take any class: one item for each useful class of a node.

    A class is useful if it charges no more than the budget and errs less on the held-out
    sample than the growing class, which charges least of all. Keeping an original leaf means
    leaving it its growing class.
    """
    own, n_classes = grown.majority, max(grown.n_classes, holdout.n_classes)
    budget = min(budget, math.ceil(grown.total[0]))  # all of them wrong
    full_grown, error = full_cost(tree, grown.errors_if_leaf(own)), holdout.errors_if_leaf(own)
    full_error = full_cost(tree, error)
    ways = []
    for c in [*range(n_classes - 1, -1, -1), -1]:  # a walk prefers later items: low classes, the growing one most
        label = np.full(tree.n_nodes, c, np.int32) if c >= 0 else own
        charge = _whole(grown.errors_if_leaf(label) - full_grown, grown)
        with_label = holdout.errors_if_leaf(label)
        node = np.flatnonzero((charge <= budget) & ((with_label < error) if c >= 0 else ~tree.is_leaf))
        ways.append((node, label[node], charge[node], (with_label - full_error)[node]))
    joined = [np.concatenate(part) for part in zip(*ways, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    node, label, charge, added = (part[order] for part in joined)
    is_cut = _solve(tree, holdout, node, charge, added, budget).cuts(budget)
    node_labels = own.copy()
    node_labels[node[is_cut]] = label[is_cut]
    seen = SampleUsage.of(grown, holdout)
    return Pruning.from_cuts(tree, node[is_cut], node_labels=node_labels, seen=seen, rule=rule, note=_note(holdout))


def _solve(tree: Tree, holdout: Counts, node: Longs, charge: Longs, error: LongsOrFloats, budget: int) -> _Table:
    """Fill the table: whole errors packed with the leaves in one number, weights in pairs."""
    jump = budget_dp.jumps(tree.end, np.bincount(node, minlength=tree.n_nodes))
    before = np.append(0, np.cumsum(tree.is_leaf))
    fewer = 1 - (before[tree.end] - before[:-1])[node]  # of the original leaves under the node one is left
    if not holdout.has_integer_weights:
        tolerance = 1e-12 * float(holdout.total[0])
        found = budget_dp.min_pairs_and_cuts(jump, charge, error, fewer, budget, tolerance)
        return _Table(node, charge, jump, *found)
    base = tree.n_leaves + 1  # no set of cuts removes as many leaves
    if int(holdout.total[0]) * base >= 2**62:
        raise CountsError(
            f"{holdout.total[0]} held-out examples times {base} leaves do not fit 64 bits; divide the counts of "
            f"sample {holdout.sample!r} by a common factor, or pass them as float weights"
        )
    packed, is_better = budget_dp.min_values_and_cuts(jump, charge, error * base + fewer, budget)
    added = -(-packed // base)  # the leaves, between -n_leaves and 0, round the errors down: round up
    return _Table(node, charge, jump, added, packed - added * base, is_better)


def _note(holdout: Counts) -> str:
    return "" if holdout.has_integer_weights else "errors within 1e-12 of the sample's weight count as equal"


def _charges(tree: Tree, grown: Counts) -> tuple[Longs, Fraction]:
    """The growing errors each cut adds, and those of the uncut tree."""
    grown.check_fits(tree)
    error = grown.errors_if_leaf(grown.majority)
    return _whole(excess_cost(tree, error), grown), _exact("growing errors", full_cost(tree, error)[0])


def _whole(excess: LongsOrFloats, grown: Counts) -> Longs:
    """The excess as whole numbers; refuse weights under which it is none."""
    if grown.has_integer_weights:
        return excess
    charge = np.rint(excess)
    off = np.abs(excess - charge)
    v = int(off.argmax())
    if off[v] > _WHOLE:
        raise CountsError(
            f"a cut at node {v} adds {excess[v]:g} weighted errors on sample {grown.sample!r}; k-REP spends its budget "
            "in whole errors: count the growing sample without weights, or scale the weights to whole numbers"
        )
    return charge.astype(np.int64)


def _limit(
    grown: Counts, least: Fraction, k: float | None, factor: float | None, rate: float | None
) -> tuple[Fraction, str]:
    """The most growing errors that are asked for, and the words for it."""
    given = [f"{name}={value}" for name, value in (("k", k), ("factor", factor), ("rate", rate)) if value is not None]
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} exclude each other; pass one of them")
    if k is not None:
        return _exact("k", k), f"k={k}"
    if rate is not None:
        share = _exact("rate", rate)
        if not 0 <= share <= 1:
            raise ParameterError(f"rate={rate}; a fraction of the growing sample, from 0 to 1, is needed")
        limit = share * _exact("total", grown.total[0])
        return limit, f"rate={rate}, k={math.floor(limit)}"
    times, base, what = _exact("factor", _FACTOR if factor is None else factor), least, ""
    if factor is None:
        base = _stopped_errors(grown)
        what = f" if stopped at {_LEAST_ROWS} rows, {_plain(least)} uncut" if base != least else ""
    if times < 1:
        raise ParameterError(
            f"factor={factor} allows fewer growing errors than the uncut tree makes; 1 or more is needed"
        )
    limit = times * base
    return limit, f"factor={float(times):g}, k={math.floor(limit)} (growing errors: {_plain(base)}{what})"


def _stopped_errors(grown: Counts) -> Fraction:
    """Growing errors of the tree cut at every test of which not two children hold enough rows, as in C4.5."""
    tree = grown.tree
    is_large = grown.total[1:] >= _LEAST_ROWS
    n_large = np.bincount(tree.parent[1:], weights=is_large, minlength=tree.n_nodes)
    stopped = Pruning.from_cuts(tree, ~tree.is_leaf & (n_large < 2))
    return _exact("growing errors", stopped.cost(grown.errors_if_leaf(grown.majority)))


def _budget(limit: Fraction, least: Fraction, words: str) -> int:
    """What the cuts may add to the growing errors."""
    slack = Fraction(0) if least.denominator == 1 else Fraction(_WHOLE)
    budget = math.floor(limit - least + slack)
    if budget < 0:
        raise PruningError(
            f"{words}: at most {_plain(limit)} growing errors are allowed, but the uncut tree already makes "
            f"{_plain(least)} and no pruning makes fewer; the least possible k is {_plain(least)}"
        )
    return budget


def _exact(name: str, value: Any) -> Fraction:
    """The number as it is written: 1.1 is eleven tenths."""
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Real) and math.isfinite(value):
        return Fraction(repr(float(value)))
    raise ParameterError(f"{name}={value!r}; a finite number is needed")


def _plain(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
