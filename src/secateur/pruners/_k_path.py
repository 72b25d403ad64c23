"""The k-optimal prunings of one tree for every k: a knapsack of cuts, solved for all budgets at once."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .._kernels import budget_dp
from .._kernels.bottom_up import cheapest_subtree
from .._utils.arrays import Bools, Ints, Longs, LongsOrFloats, write_protect
from ..core import Counts, Pruning, PruningSequence, RuleProvenance, SampleUsage, Tree, excess_cost, full_cost
from ..core.estimate_limits import allows_class
from ..errors import CountsError, PruningError, show
from ._growing_limit import as_whole_numbers, budget_of, exact_number

MAX_TABLE_BYTES = 1 << 33  # 8 GB
RELATIVE_TOLERANCE = 1e-12  # weighted errors tie within this share of the sample's weight
Size = Literal["leaves", "nodes"]


@dataclass(frozen=True, eq=False, repr=False)
class KPath:
    """The k-optimal prunings of one tree for k = min_errors, min_errors + 1, ...

    Parameters
    ----------
    grown, holdout : Counts
        The growing and the held-out sample.
    ks : array
        The limits on the growing errors.
    errors, sizes : arrays
        Held-out errors and size of the optimum for each of `ks`. The errors never rise with k; the size can.
    size : "leaves" or "nodes"
        What `sizes` counts, and which of several prunings with the fewest errors is the smallest.
    """

    grown: Counts
    holdout: Counts
    ks: LongsOrFloats
    errors: LongsOrFloats
    sizes: Longs
    size: Size
    _reduced_error: Pruning  # the pruning with the fewest held-out errors of all
    _reduced_error_charge: int  # the growing errors that its cuts add
    _table: "_CutTable | None"  # the best cuts for budgets below that charge; None if that charge is 0

    def __len__(self) -> int:
        return len(self.ks)

    @cached_property
    def n_leaves(self) -> Longs:
        """Leaves of the optimum for each of `ks`. Needs the optima themselves if `size` is "nodes"."""
        if self.size == "leaves":
            return self.sizes
        starts = self._starts
        provenance = k_provenance(self.holdout, {}, "")
        n_leaves = [self.within_budget(budget, provenance).n_leaves for budget in starts.tolist()]
        return write_protect(np.repeat(n_leaves, np.diff(np.append(starts, len(self)))))

    def pruning(self, k: float) -> Pruning:
        """Return the pruning that `k_reduced_error` returns for `k`."""
        budget = budget_of(exact_number("k", k), exact_number("k", self.ks[0]), f"k={k}")
        if len(self) <= budget < self._reduced_error_charge:
            raise PruningError(f"k={k} is beyond the largest k of this path, {self.ks[-1]}; ask for a larger max_k")
        return self.within_budget(budget, k_provenance(self.holdout, {"k": k}, f"k={k}"))

    @cached_property
    def sequence(self) -> PruningSequence:
        """The optima that differ in errors or size, each at its least k, most leaves first."""
        budgets = self._members.tolist()
        pruning = self._reduced_error
        provenance = k_provenance(self.holdout, {}, "the different optima over k")
        return PruningSequence(
            pruning.tree,
            self.n_leaves[self._members],
            self.errors[self._members],
            rebuild=lambda i: self.within_budget(budgets[i], provenance).is_leaf,
            node_labels=pruning.node_labels,
            seen=pruning.seen,
            provenance=provenance,
            nested=False,
        )

    @cached_property
    def sequence_ks(self) -> LongsOrFloats:
        """The least k of each member of `sequence`."""
        return write_protect(self.ks[self._members])

    @cached_property
    def _members(self) -> Longs:
        """The first budget of each optimum, most leaves first."""
        return self._starts[np.argsort(-self.n_leaves[self._starts], kind="stable")]

    @cached_property
    def _starts(self) -> Longs:
        """The first budget of each optimum."""
        is_new = np.append(True, (np.diff(self.errors) != 0) | (np.diff(self.sizes) != 0))
        return np.flatnonzero(is_new)

    def within_budget(self, budget: int, provenance: RuleProvenance) -> Pruning:
        """Return the best pruning whose cuts add at most `budget` growing errors."""
        best = self._reduced_error
        if self._table is None or budget >= self._reduced_error_charge:
            return replace(best, rule=provenance.text, provenance=provenance)
        cuts = self._table.node[self._table.cuts(budget)]
        return Pruning.from_cuts(
            best.tree, cuts, node_labels=best.node_labels, seen=best.seen, note=best.note, provenance=provenance
        )

    def __repr__(self) -> str:
        return f"KPath(k from {self.ks[0]} to {self.ks[-1]}, {len(self._members):,} different optima)"


class _CutTable(NamedTuple):
    """The solved knapsack: one item for each possible cut, in pre-order, and the best values within each budget.

    `node` is where an item cuts, `charge` the growing errors that it adds, `jump` the first item outside its subtree.
    `errors` and `sizes` are the least (errors, size) that cuts can add within each budget, and `is_better` the
    decision bits of `budget_dp`.
    """

    node: Longs
    charge: Longs
    jump: Longs
    errors: LongsOrFloats
    sizes: Longs
    is_better: npt.NDArray[np.uint8]

    def cuts(self, budget: int) -> Bools:
        """Return which items the best cuts within a budget are."""
        return budget_dp.cut_items(self.jump, self.charge, self.is_better, budget)


def k_path(
    tree: Tree, grown: Counts, holdout: Counts, charge: Longs, min_errors: Fraction, budget: int, size: Size
) -> KPath:
    """Return the k-optimal prunings for all budgets up to `budget`; `size` decides between equal errors.

    The reduced error pruning is the best one for every budget that its cuts do not exceed. Smaller budgets are solved
    by a table.
    """
    error = holdout.errors_if_leaf(grown.majority)
    best = Pruning.from_cuts(
        tree,
        cheapest_subtree(tree.parent, error, float(holdout.total[0])),
        node_labels=grown.majority,
        seen=SampleUsage.of(grown, holdout),
        note=_tie_note(holdout),
    )
    best_charge = int(charge[best.cuts].sum())
    n_budgets = min(budget + 1, best_charge)  # budgets that are too small for the reduced error pruning
    n_bytes = 16 * (budget + 1) + len(tree.internal) * n_budgets // 8
    if n_bytes > MAX_TABLE_BYTES:
        raise CountsError(
            f"every limit up to k={int(min_errors) + budget:,} of {tree} needs about {n_bytes / 1e9:.0f} GB; "
            f"pass a smaller k, or divide the counts of sample {show(grown.sample)} by a common factor"
        )
    errors = np.full(budget + 1, best.cost(error))
    uncut_size, best_size = (tree.n_leaves, best.n_leaves) if size == "leaves" else (tree.n_nodes, best.n_nodes)
    sizes = np.full(budget + 1, best_size)
    table = None
    if n_budgets > 0:
        node = np.flatnonzero(~(best.is_kept | tree.is_leaf) & (charge < n_budgets))
        table = _solve(tree, holdout, node, charge[node], excess_cost(tree, error)[node], n_budgets - 1, size)
        errors[:n_budgets] = full_cost(tree, error)[0] + table.errors
        sizes[:n_budgets] = uncut_size + table.sizes
    min_k = int(min_errors) if min_errors.denominator == 1 else float(min_errors)
    ks = min_k + np.arange(budget + 1)
    return KPath(
        grown, holdout, write_protect(ks), write_protect(errors), write_protect(sizes), size, best, best_charge, table
    )


class _LabelledCuts(NamedTuple):
    """Possible cuts: the node, its class as a leaf, and the growing errors and held-out errors that the cut adds."""

    node: Longs
    label: Ints
    charge: Longs
    error: LongsOrFloats


def best_labelled(
    tree: Tree, grown: Counts, holdout: Counts, budget: int, size: Size, provenance: RuleProvenance
) -> Pruning:
    """Return the optimum if every leaf may take any class: one item for each useful class of a node."""
    budget = min(budget, math.ceil(grown.total[0]))  # no pruning makes more growing errors than there are rows
    cuts = _useful_labelled_cuts(tree, grown, holdout, budget)
    is_cut = _solve(tree, holdout, cuts.node, cuts.charge, cuts.error, budget, size).cuts(budget)
    node_labels = grown.majority.copy()
    node_labels[cuts.node[is_cut]] = cuts.label[is_cut]
    return Pruning.from_cuts(
        tree,
        cuts.node[is_cut],
        node_labels=node_labels,
        seen=SampleUsage.of(grown, holdout),
        note=_tie_note(holdout),
        provenance=provenance,
    )


def _useful_labelled_cuts(tree: Tree, grown: Counts, holdout: Counts, budget: int) -> _LabelledCuts:
    """Return the useful classes of every node, in pre-order.

    The growing class of a node is its majority class in the growing sample; no other class adds fewer growing errors.
    Another class is useful if it adds no more growing errors than the budget, makes fewer held-out errors than the
    growing class, and if the limits of estimates that the tree may have allow it. An original leaf has its growing
    class without any cut, so for leaves only other classes are returned. Of equally good cuts at a node the table
    chooses the last, so the classes of each node come in falling order, and its growing class comes last.
    """
    majority, n_classes = grown.majority, max(grown.n_classes, holdout.n_classes)
    uncut_grown_errors = full_cost(tree, grown.errors_if_leaf(majority))
    majority_error = holdout.errors_if_leaf(majority)
    uncut_error = full_cost(tree, majority_error)
    classes_of_items: list[tuple[Ints, bool]] = [
        (np.full(tree.n_nodes, c, np.int32), False) for c in range(n_classes - 1, -1, -1)
    ]
    classes_of_items.append((majority, True))
    groups = []
    for label, is_growing_class in classes_of_items:
        charge = as_whole_numbers(grown.errors_if_leaf(label) - uncut_grown_errors, grown)
        error = holdout.errors_if_leaf(label)
        is_useful = ~tree.is_leaf if is_growing_class else (error < majority_error) & allows_class(tree, label[0])
        node = np.flatnonzero((charge <= budget) & is_useful)
        groups.append(_LabelledCuts(node, label[node], charge[node], (error - uncut_error)[node]))
    joined = [np.concatenate(column) for column in zip(*groups, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    return _LabelledCuts(*(column[order] for column in joined))


def _solve(
    tree: Tree, holdout: Counts, node: Longs, charge: Longs, error: LongsOrFloats, budget: int, size: Size
) -> _CutTable:
    """Solve the knapsack of cuts: minimise (errors, size) within every budget up to `budget`.

    Whole-number errors are packed with the size into one number; weights are compared as pairs.
    """
    jump = budget_dp.jump_targets(tree.end, np.bincount(node, minlength=tree.n_nodes))
    is_counted = tree.is_leaf if size == "leaves" else np.ones(tree.n_nodes, bool)
    counted_before = np.append(0, np.cumsum(is_counted))
    subtree_size = (counted_before[tree.end] - counted_before[:-1])[node]
    added_size = 1 - subtree_size  # a cut leaves one leaf
    if not holdout.has_integer_weights:
        tolerance = RELATIVE_TOLERANCE * float(holdout.total[0])
        solution = budget_dp.min_pairs_and_cuts(jump, charge, error, added_size, budget, tolerance)
        return _CutTable(node, charge, jump, *solution)
    base = int(counted_before[-1]) + 1  # larger than the size that any set of cuts removes
    if int(holdout.total[0]) * base >= 2**62:
        raise CountsError(
            f"{holdout.total[0]} held-out rows times {base} {size} do not fit 64 bits; divide the counts of "
            f"sample {show(holdout.sample)} by a common factor, or pass them as float weights"
        )
    packed, is_better = budget_dp.min_values_and_cuts(jump, charge, error * base + added_size, budget)
    # The packed size lies between -(base - 1) and 0, so rounding up recovers the errors.
    errors = -(-packed // base)
    return _CutTable(node, charge, jump, errors, packed - errors * base, is_better)


def _tie_note(holdout: Counts) -> str:
    """Return the note of a pruning about the tolerance of weighted errors."""
    return "" if holdout.has_integer_weights else "errors within 1e-12 of the sample's weight count as equal"


def k_provenance(holdout: Counts, parameters: dict[str, Any], text: str) -> RuleProvenance:
    """Return the provenance of a k-optimal pruning; `text` names the limit."""
    tolerance = 0.0 if holdout.has_integer_weights else RELATIVE_TOLERANCE
    return RuleProvenance(
        "k-reduced-error", parameters, "errors", holdout.sample, tolerance, text=f"k-reduced-error, {text}"
    )
