"""Occam bounds: the choice is paid for with a prior over prunings that was fixed without the held-out sample.

Let the weights pi(P) sum to at most 1. Then, with probability 1 - delta, all prunings P at once have

    err(P) <= upper limit for errors(P) in n rows at failure probability delta * pi(P).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._kernels import mixtures
from .._utils.arrays import ArrayLike, Floats, Ints
from .._utils.checks import check_name
from ..core import Bound, Counts, LabelRule, Original, Pruning, PruningSequence, Tree
from ..errors import Argument, ParameterError
from ..statistics.freshness import check_samples
from ..statistics.priors import LAMBDAS, MUS, log_normaliser, prior_grid
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import Tail, check_delta
from ._checks import EvaluatedMembers, check_budget, evaluate_members, has_free_labels
from ._counting import count_prunings, count_prunings_within, log_count_of_size
from ._groups import GroupError, check_group_error, labels_of_pruning, limit_errors

Prior = Literal["uniform", "within-k", "size", "informed", "branching", "printed"]
MAX_SINGLE_SIZES = 4  # prunings are counted for each size by itself up to this number of sizes, else for all at once


def occam(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    delta: float = 0.05,
    prior: Prior = "uniform",
    tail: Tail = "exact",
    k: int | None = None,
    pruning: Pruning | PruningSequence | None = None,
    lam: ArrayLike = LAMBDAS,
    mu: ArrayLike = MUS,
    labels: LabelRule = "grow",
    original: Original = "fixed",
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
    group_error: GroupError = "share",
) -> Any:
    """Return a bound on the error of a pruning that may have been chosen on `holdout`.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    grown : Counts
        Counts of the growing sample, which determine the labels and on which priors may depend.
    holdout : Counts
        Integer counts of an independent sample; it may have chosen the pruning.
    delta : float
        Probability, over samples, that the bound is too low.
    prior : str
        "uniform": equal weights for all prunings. "within-k": equal weights for those with at most `k` growing
        errors. "size": equal weights for all numbers of leaves, and for all prunings of one size. "informed": weight
        exp(-lam * growing errors - mu * leaves), with the pair of `lam` and `mu` that gives the lowest price.
        "branching": the probability of the pruning if each node that is reached is cut with probability 1/2. "printed":
        a quarter bit per node, as published; this one is not a guarantee.
    tail : "exact", "kl" or "chernoff"
        How errors become a limit; exact <= kl <= chernoff.
    k : int
        For "within-k": the greatest number of growing errors, fixed without using the rows of `holdout`.
    pruning : Pruning or PruningSequence, optional
        What is certified; by default the pruning of the class with the fewest errors on `holdout`.
    lam, mu : float or list of float
        For "informed": the weights of a growing error and of a leaf. Every pair is tried, and adds to the price.
    labels, original : str
        How labels were chosen: "grow" (by the growing sample), or "prune" or "both", which pay ln of the number of
        classes per chosen label. `original="relabel"` if the leaves of the grown tree chose their labels, too.
    repeated, repeats, group_error
        As for `certify`. For a sample with groups, `pruning` must be given, and `tail` must be "exact".

    Returns
    -------
    Bound, or list of Bound
        One per member for a sequence. `complexity` is ln 1/pi, and `details["log_delta"]` the logarithm of the failure
        probability of the limit, delta * pi.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 6.1, with the number of prunings counted exactly.

    Costs one pass over the nodes; for "informed" one pass for each pair; for "within-k" one pass times the budget.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import occam
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[50, 0], [0, 50]])
    >>> held = Counts.from_leaves(tree, [[90, 10], [10, 90]], sample="prune")
    >>> bound = occam(tree, grown, held, delta=0.05)
    >>> round(bound.value, 4), round(bound.complexity, 4)
    (0.1502, 0.6931)
    """
    delta = check_delta(delta)
    check_name("prior", prior, _PRIORS)
    check_group_error(group_error, holdout)
    rows = check_samples(
        tree, grown, holdout, "an Occam bound", delta, repeated=repeated, repeats=repeats, takes_groups=True
    )
    if pruning is None and holdout.grouped is not None:
        raise ParameterError(Argument("pruning", None), " with a sample that has groups; pass what is to be certified")
    budget = check_budget(grown, k, "the prior 'within-k'") if prior == "within-k" else None
    members = evaluate_members(tree, grown, holdout, pruning, labels=labels, original=original, budget=budget)
    n_labels = max(grown.n_classes, holdout.n_classes) if has_free_labels(labels, original) else 1
    complexity, details = _PRIORS[prior](
        _PriorContext(members, tree, grown, k, prior_grid(lam, mu), n_labels, is_relabel=original == "relabel")
    )
    if prior not in ("uniform", "printed"):  # the uniform prior counts labels itself; the printed one ignores them
        complexity = complexity + members.n_free * math.log(n_labels)
    log_deltas = math.log(rows.delta) - complexity
    prunings = _with_labels(pruning, grown)
    found = limit_errors(holdout, rows, members.errors, prunings, log_deltas, tail=tail, group_error=group_error)
    reason = _why_not_certified(tree, float(complexity[0])) if prior == "printed" else ""
    bounds = [
        Bound(
            value=float(limit),
            method=f"Occam, {prior} prior, {found.description}",
            errors=errors,
            complexity=float(price),
            certified=not reason,
            reason=reason,
            **rows.bound_fields,
            **found.fields,
            details={
                "prior": prior,
                "tail": tail,
                "log_delta": math.log(rows.delta) - float(price),
                "member": member,
                **prior_details,
            },
        )
        for member, (limit, errors, price, prior_details) in enumerate(
            zip(found.limits, found.errors.tolist(), complexity, details, strict=True)
        )
    ]
    return bounds if members.is_sequence else bounds[0]


def _with_labels(pruning: Pruning | PruningSequence | None, grown: Counts) -> Iterator[tuple[Pruning, Ints]]:
    """Yield each pruning with the class of every node as a leaf: that of the growing sample where it has none."""
    members = [pruning] if isinstance(pruning, Pruning) else pruning or []
    for member in members:
        labels = labels_of_pruning(member)
        yield member, np.where(labels < 0, grown.majority, labels).astype(np.int32)


@dataclass(frozen=True)
class _PriorContext:
    """The arguments of the functions that compute prior weights."""

    members: EvaluatedMembers
    tree: Tree
    grown: Counts
    k: int | None
    pairs: list[tuple[float, float]]  # lam and mu of the informed priors
    n_labels: int
    is_relabel: bool


# A function per prior. Each returns ln 1/pi of every member, and the details that a reader needs to check it.
_Weights = tuple[Floats, list[dict[str, object]]]


def _uniform(context: _PriorContext) -> _Weights:
    log_count = count_prunings(context.tree, log=True, labels=context.n_labels, relabel=context.is_relabel)
    return _same_for_all(context.members, log_count, log_count=log_count)


def _within_k(context: _PriorContext) -> _Weights:
    assert context.k is not None  # check_budget has refused None
    log_count = count_prunings_within(context.tree, context.grown, context.k, log=True)
    return _same_for_all(context.members, log_count, log_count=log_count, k=int(context.k))


def _size(context: _PriorContext) -> _Weights:
    tree, n_leaves = context.tree, context.members.n_leaves
    sizes, position = np.unique(n_leaves, return_inverse=True)
    if len(sizes) > MAX_SINGLE_SIZES:
        log_counts = mixtures.log_counts_by_size(tree.parent, int(sizes[-1]))[n_leaves]
    else:
        log_counts = np.array([log_count_of_size(tree, int(size)) for size in sizes])[position]
    details: list[dict[str, object]] = [
        {"n_leaves": size, "log_count": log_count}
        for size, log_count in zip(n_leaves.tolist(), log_counts.tolist(), strict=True)
    ]
    return math.log(tree.n_leaves) + log_counts, details


def _informed(context: _PriorContext) -> _Weights:
    members, pairs = context.members, context.pairs
    node_errors = context.grown.errors_if_leaf(context.grown.majority)
    prices = np.stack(
        [
            lam * members.grown_errors + mu * members.n_leaves + log_normaliser(context.tree, node_errors, lam, mu)
            for lam, mu in pairs
        ]
    )
    best = prices.argmin(axis=0)
    # The weight of a pruning is at most 1, so its price is at least 0, whatever the rounding.
    price = np.maximum(prices.min(axis=0), 0.0) + math.log(len(pairs))
    return price, [{"lam": pairs[i][0], "mu": pairs[i][1], "n_pairs": len(pairs)} for i in best]


def _branching(context: _PriorContext) -> _Weights:
    n_decided = context.members.n_decided
    price = (n_decided * math.log(2)).astype(np.float64)
    return price, [{"n_decided": n} for n in n_decided.tolist()]


def _printed(context: _PriorContext) -> _Weights:
    bits = context.tree.n_nodes / 4
    return _same_for_all(context.members, bits * math.log(2), bits=bits)


_PRIORS: dict[str, Callable[[_PriorContext], _Weights]] = {
    "uniform": _uniform,
    "within-k": _within_k,
    "size": _size,
    "informed": _informed,
    "branching": _branching,
    "printed": _printed,
}


def _same_for_all(members: EvaluatedMembers, price: float, **details: object) -> _Weights:
    n_members = len(members.errors)
    return np.full(n_members, price), [details] * n_members


def _why_not_certified(tree: Tree, price: float) -> str:
    """Return why the printed prior, whose price is given, is not a guarantee."""
    bits, required_bits = price / math.log(2), count_prunings(tree, log=True) / math.log(2)
    if bits < required_bits:
        return (
            f"a quarter bit per node is {bits:.2f} bits, but telling the prunings of this tree apart takes "
            f"{required_bits:.2f}"
        )
    return (
        f"a quarter bit per node is not a count of prunings; the count is {required_bits:.2f} bits, "
        "so prior='uniform' is valid and tighter here"
    )
