"""Checks shared by the certificates that pay for a choice, and the errors and sizes of the prunings they certify."""

import math
import numbers
from dataclasses import dataclass

import numpy as np

from .._kernels import budget_dp, mixtures, structure
from .._utils.arrays import Ints, Longs, LongsOrFloats
from ..core import Counts, LabelRule, Original, Pruning, PruningSequence, Tree, check_label_rule, excess_cost, full_cost
from ..errors import CountsError, LeakageError, ParameterError, UnsupportedError, show


@dataclass(frozen=True)
class EvaluatedMembers:
    """The errors and sizes of the prunings that a certificate is for: arrays with one entry per pruning.

    Parameters
    ----------
    errors : array of int
        Errors on the held-out sample.
    n_leaves : array of int
        Number of leaves.
    n_decided : array of int
        Number of nodes at which cutting or splitting was decided: the cuts and the internal nodes.
    n_free : array of int
        Number of leaves whose label may have been chosen by the held-out sample.
    grown_errors : array
        Errors on the growing sample.
    is_sequence : bool
        Whether the members are those of a sequence, not a single pruning.
    """

    errors: Longs
    n_leaves: Longs
    n_decided: Longs
    n_free: Longs
    grown_errors: LongsOrFloats
    is_sequence: bool


def check_budget(grown: Counts, k: int | None, subject: str) -> int:
    """Return how many growing errors `k` allows beyond those of the grown tree.

    Parameters
    ----------
    grown : Counts
        Counts of the growing sample.
    k : int or None
        The greatest number of growing errors; None is refused.
    subject : str
        What needs `k`: the subject of the error messages.

    Raises
    ------
    ParameterError
        If `k` is not an integer, or if every pruning has more than `k` growing errors.
    UnsupportedError
        If the growing sample has weights that are not integers.
    """
    if k is None:
        raise ParameterError(f"k is None; {subject} needs the greatest growing error allowed, fixed before looking")
    if isinstance(k, bool) or not isinstance(k, numbers.Integral):
        raise ParameterError(f"k={show(k)}; a whole number of growing errors is needed")
    if not grown.has_integer_weights:
        raise UnsupportedError(
            f"sample {show(grown.sample)} has weights that are not whole counts; {subject} counts growing errors"
        )
    n_errors = int(full_cost(grown.tree, grown.errors_if_leaf(grown.majority))[0])
    if k < n_errors:
        raise ParameterError(
            f"k={k}; the full tree already has {n_errors} growing errors, so k of {n_errors} or more is needed"
        )
    return int(k) - n_errors


def has_free_labels(labels: str, original: str) -> bool:
    """Return whether labels may have been chosen by the held-out sample; raise if a rule does not exist."""
    check_label_rule(labels, original)
    return labels != "grow"


def budget_walk(tree: Tree, charge: LongsOrFloats, budget: int) -> tuple[Longs, Longs]:
    """Return the nodes whose cut fits the budget, in the order that the kernels of `budget_dp` need, and their jumps.

    The jump of a node is the position of the next node that is not below it (`budget_dp.order_heavy_child_last`).

    Parameters
    ----------
    tree : Tree
        The grown tree.
    charge : array
        Number of growing errors that a cut at each node adds.
    budget : int
        Number of growing errors that a pruning may add.
    """
    return budget_dp.order_heavy_child_last(tree.parent, ~tree.is_leaf & (charge <= budget))


def evaluate_members(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    pruning: Pruning | PruningSequence | None,
    *,
    labels: LabelRule = "grow",
    original: Original = "fixed",
    budget: int | None = None,
    uses_member_labels: bool = False,
) -> EvaluatedMembers:
    """Return the errors and sizes of a pruning, of every member of a sequence, or of the best pruning of a class.

    Parameters
    ----------
    tree, grown, holdout
        The grown tree and counts of both samples.
    pruning : Pruning or PruningSequence, optional
        What is certified; by default the pruning of the class with the fewest errors on `holdout`.
    labels, original
        How labels were chosen.
    budget : int, optional
        Number of growing errors that a pruning of the class may add. Members that add more are refused.
    uses_member_labels : bool
        Whether growing errors are counted under the labels of the members, instead of the majority of the growing
        sample.
    """
    is_free = has_free_labels(labels, original)
    grow_errors = grown.errors_if_leaf(grown.majority)
    members: Pruning | PruningSequence
    if pruning is None:
        errors = fewest_errors(grown, holdout, labels, original)
        if budget is not None:
            if is_free:
                raise ParameterError(
                    f"labels={show(labels)} with k: pass pruning=; the best within k is found for labels='grow' only"
                )
            return _best_within_budget(tree, errors, grow_errors, budget)
        is_cut, _, _ = mixtures.cheapest_cuts(tree.parent, errors.astype(np.float64), np.ones(tree.n_nodes), math.inf)
        members = Pruning.from_cuts(tree, is_cut)
    else:
        if not pruning.tree.same_structure(tree):
            raise CountsError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
        member_labels = _checked_labels(pruning, grown, labels, original)
        errors, members = holdout.errors_if_leaf(member_labels), pruning
        if uses_member_labels:
            grow_errors = grown.errors_if_leaf(member_labels)
    has_free_label = (is_free & (~tree.is_leaf | (original == "relabel"))).astype(np.int64)
    evaluated = EvaluatedMembers(
        errors=_sums(members, errors),
        n_leaves=_sums(members, np.ones(tree.n_nodes, np.int64)),
        n_decided=_count_decided(tree, members),
        n_free=_sums(members, has_free_label),
        grown_errors=_sums(members, grow_errors),
        is_sequence=isinstance(members, PruningSequence),
    )
    if budget is not None:
        _check_within_budget(tree, grown, evaluated, budget)
    return evaluated


def fewest_errors(grown: Counts, holdout: Counts, labels: LabelRule, original: Original) -> LongsOrFloats:
    """Return the held-out errors of each node as a leaf, under the best label that it may have."""
    fixed = holdout.errors_if_leaf(grown.majority)
    if labels == "grow":
        return fixed
    free = holdout.total - holdout.by_class.max(axis=1)
    return np.where(holdout.tree.is_leaf, fixed, free) if original == "fixed" else free


def _checked_labels(pruning: Pruning | PruningSequence, grown: Counts, labels: LabelRule, original: Original) -> Ints:
    """Return the labels of a pruning; raise `LeakageError` if the certificate does not pay for how they were chosen."""
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; a certificate of its errors needs them")
    differs = (pruning.node_labels != grown.majority) & (pruning.node_labels >= 0)
    if labels == "grow" and differs.any():
        node = int(np.flatnonzero(differs)[0])
        raise LeakageError(
            f"node {node} has label {pruning.node_labels[node]}, but the growing sample has {grown.majority[node]}: "
            "labels were not fixed before the held-out sample was seen, so a certificate for fixed labels does not "
            "cover them; pass labels='prune', which pays for the choice"
        )
    is_relabelled_leaf = differs & pruning.tree.is_leaf
    if labels != "grow" and original == "fixed" and is_relabelled_leaf.any():
        node = int(np.flatnonzero(is_relabelled_leaf)[0])
        raise LeakageError(
            f"original leaf {node} has label {pruning.node_labels[node]}, but the growing sample has "
            f"{grown.majority[node]}; pass original='relabel', which pays for the choice"
        )
    return np.where(pruning.node_labels < 0, grown.majority, pruning.node_labels).astype(np.int32)


def _check_within_budget(tree: Tree, grown: Counts, evaluated: EvaluatedMembers, budget: int) -> None:
    """Raise `ParameterError` if a member adds more growing errors than the budget allows."""
    k = int(full_cost(tree, grown.errors_if_leaf(grown.majority))[0]) + budget
    n_errors = evaluated.grown_errors.max()
    if n_errors > k:
        raise ParameterError(
            f"the pruning has {n_errors} growing errors, more than k={k}; it is outside the class that is paid for"
        )


def _best_within_budget(tree: Tree, errors: LongsOrFloats, grow_errors: LongsOrFloats, budget: int) -> EvaluatedMembers:
    """Return the held-out errors of the best pruning within the budget; the other numbers are set to 0."""
    charge = excess_cost(tree, grow_errors)
    budget = min(budget, int(charge[0]))
    nodes, jump = budget_walk(tree, charge, budget)
    gain = -excess_cost(tree, errors)[nodes]
    total_gain = budget_dp.max_gain_within(jump, charge[nodes], gain, budget)
    n_errors = np.array([int(full_cost(tree, errors)[0]) - int(total_gain)])
    unknown = np.zeros(1, np.int64)  # no certificate of a class given by k needs these numbers
    return EvaluatedMembers(n_errors, unknown, unknown, unknown, unknown, is_sequence=False)


def _count_decided(tree: Tree, members: Pruning | PruningSequence) -> Longs:
    """Return the number of cuts and internal nodes of every member."""
    # Each cut is a leaf of the pruning. Its internal nodes are the splits of the grown tree that are neither at nor
    # below a leaf of the pruning. So both numbers can be computed as sums over the leaves.
    is_split = (~tree.is_leaf).astype(np.int64)
    n_splits = structure.sum_upwards(tree.parent, is_split[:, None])[:, 0]
    n_decided: Longs = n_splits[0] + _sums(members, is_split - n_splits)
    return n_decided


def _sums(members: Pruning | PruningSequence, node_cost: LongsOrFloats) -> LongsOrFloats:
    """Return the sum of a cost over the leaves of every member."""
    if isinstance(members, Pruning):
        return np.array([members.cost(node_cost)])
    return members.costs_on(node_cost)
