"""What every certificate asks of its input, and the numbers of what it certifies."""

import math
import numbers
from dataclasses import dataclass

import numpy as np

from .._kernels import budget_dp, mixtures, structure
from .._utils.arrays import Ints, Longs, LongsOrFloats
from ..core import Counts, LabelRule, Original, Pruning, PruningSequence, Tree, check_label_rule, excess_cost, full_cost
from ..errors import CountsError, LeakageError, ParameterError, UnsupportedError


@dataclass(frozen=True)
class Chosen:
    """The prunings a certificate is asked for, as numbers: one entry per member.

    `n_decided` are the nodes that could have been cut: the cuts and the tests kept.
    `n_free` are the leaves whose label may have been chosen on the held-out sample.
    """

    errors: Longs
    n_leaves: Longs
    n_decided: Longs
    n_free: Longs
    grown_errors: LongsOrFloats
    is_sequence: bool


def check_budget(grown: Counts, k: int | None, what: str) -> int:
    """Return k - growing error of the full tree; refuse a class that is empty or not defined."""
    if k is None:
        raise ParameterError(f"k is None; {what} needs the greatest growing error allowed, fixed before looking")
    if isinstance(k, bool) or not isinstance(k, numbers.Integral):
        raise ParameterError(f"k={k!r}; a whole number of growing errors is needed")
    if not grown.is_whole:
        raise UnsupportedError(
            f"sample {grown.sample!r} has weights that are not whole counts; {what} counts growing errors"
        )
    least = int(full_cost(grown.tree, grown.errors_if_leaf(grown.majority))[0])
    if k < least:
        raise ParameterError(
            f"k={k}; the full tree already has {least} growing errors, so k of {least} or more is needed"
        )
    return int(k) - least


def check_labels(labels: str, original: str) -> bool:
    """Whether labels are free (chosen on the held-out sample)."""
    check_label_rule(labels, original)
    return labels != "grow"


def budget_walk(tree: Tree, charge: LongsOrFloats, budget: int) -> tuple[Longs, Longs]:
    """(nodes that fit the budget, their jumps) for the kernels of `budget_dp`."""
    return budget_dp.order_heavy_child_last(tree.parent, ~tree.is_leaf & (charge <= budget))


def chosen(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    pruning: Pruning | PruningSequence | None,
    *,
    labels: LabelRule = "grow",
    original: Original = "fixed",
    budget: int | None = None,
    is_labelled: bool = False,
) -> Chosen:
    """Return the numbers of the prunings asked for; without any, of the one with fewest held-out errors.

    `budget` is the growing excess allowed: members outside it are refused. Growing errors are those of the
    majority labels, or with `is_labelled` those of the labels the members have.
    """
    is_free = check_labels(labels, original)
    free_nodes = (is_free & (~tree.is_leaf | (original == "relabel"))).astype(np.int64)
    grow_errors = grown.errors_if_leaf(grown.majority)
    if pruning is None:
        errors = least_errors(grown, holdout, labels, original)
        if budget is not None:
            if is_free:
                raise ParameterError(
                    f"labels={labels!r} with k: pass pruning=; the best within k is found for labels='grow' only"
                )
            return _least_within(tree, errors, grow_errors, budget)
        is_cut, _, _ = mixtures.cheapest_cuts(tree.parent, errors.astype(np.float64), np.ones(tree.n_nodes), math.inf)
        members: Pruning | PruningSequence = Pruning.from_cuts(tree, is_cut)
    else:
        if not pruning.tree.same_structure(tree):
            raise CountsError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
        known = _known_labels(pruning, grown, labels, original)
        errors, members = holdout.errors_if_leaf(known), pruning
        if is_labelled:
            grow_errors = grown.errors_if_leaf(known)
    found = Chosen(
        errors=_sums(members, errors),
        n_leaves=_sums(members, np.ones(tree.n_nodes, np.int64)),
        n_decided=_decided(tree, members),
        n_free=_sums(members, free_nodes),
        grown_errors=_sums(members, grow_errors),
        is_sequence=isinstance(members, PruningSequence),
    )
    if budget is not None:
        most = int(full_cost(tree, grown.errors_if_leaf(grown.majority))[0]) + budget
        worst = found.grown_errors.max()
        if worst > most:
            raise ParameterError(
                f"the pruning has {worst} growing errors, more than k={most}; it is outside the class that is paid for"
            )
    return found


def least_errors(grown: Counts, holdout: Counts, labels: LabelRule, original: Original) -> LongsOrFloats:
    """Held-out errors of each node as a leaf, under the best label it may take."""
    fixed = holdout.errors_if_leaf(grown.majority)
    if labels == "grow":
        return fixed
    free = holdout.total - holdout.by_class.max(axis=1)
    return np.where(holdout.tree.is_leaf, fixed, free) if original == "fixed" else free


def _known_labels(pruning: Pruning | PruningSequence, grown: Counts, labels: LabelRule, original: Original) -> Ints:
    """The labels of a pruning; refused if the class that is paid for does not contain them."""
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; a certificate of its errors needs them")
    differs = (pruning.node_labels != grown.majority) & (pruning.node_labels >= 0)
    if labels == "grow" and differs.any():
        v = int(np.flatnonzero(differs)[0])
        raise LeakageError(
            f"node {v} has label {pruning.node_labels[v]}, but the growing sample has {grown.majority[v]}: labels were "
            "not fixed before the held-out sample was seen, so a certificate for fixed labels does not cover them; "
            "pass labels='prune', which pays for the choice"
        )
    moved = differs & pruning.tree.is_leaf
    if labels != "grow" and original == "fixed" and moved.any():
        v = int(np.flatnonzero(moved)[0])
        raise LeakageError(
            f"original leaf {v} has label {pruning.node_labels[v]}, but the growing sample has {grown.majority[v]}; "
            "pass original='relabel', which pays for the choice"
        )
    return np.where(pruning.node_labels < 0, grown.majority, pruning.node_labels).astype(np.int32)


def _least_within(tree: Tree, errors: LongsOrFloats, grow_errors: LongsOrFloats, budget: int) -> Chosen:
    charge = excess_cost(tree, grow_errors)
    budget = min(budget, int(charge[0]))
    nodes, jump = budget_walk(tree, charge, budget)
    gain = -excess_cost(tree, errors)[nodes]
    saved = budget_dp.max_gain_within(jump, charge[nodes], gain, budget)
    least = np.array([int(full_cost(tree, errors)[0]) - int(saved)])
    unknown = np.zeros(1, np.int64)  # not needed by any certificate of a class given by k
    return Chosen(least, unknown, unknown, unknown, unknown, is_sequence=False)


def _decided(tree: Tree, members: Pruning | PruningSequence) -> Longs:
    # Kept tests = all tests less those below each leaf, which is additive over leaves.
    is_test = (~tree.is_leaf).astype(np.int64)
    below = structure.sum_upwards(tree.parent, is_test[:, None])[:, 0]
    decided: Longs = below[0] + _sums(members, is_test - below)
    return decided


def _sums(members: Pruning | PruningSequence, node_cost: LongsOrFloats) -> LongsOrFloats:
    if isinstance(members, Pruning):
        return np.array([members.cost(node_cost)])
    return members.costs_on(node_cost)
