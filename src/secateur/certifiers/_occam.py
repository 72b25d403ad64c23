"""Occam bounds: a prior over prunings, fixed before the held-out sample is seen, pays for the choice.

With weights pi(P) that sum to at most 1, every P at once has, with probability 1 - delta,

    err(P) <= upper limit of errors(P) in n rows at failure probability delta * pi(P).
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .._kernels import mixtures
from .._utils.arrays import ArrayLike, Floats
from .._utils.checks import check_name
from ..core import Bound, Counts, LabelRule, Original, Pruning, PruningSequence, Tree
from ..statistics.freshness import check_samples
from ..statistics.priors import LAMBDAS, MUS, log_normaliser, prior_grid
from ..statistics.tails import Tail, check_delta, upper_limit
from ._checks import Chosen, check_budget, check_labels, chosen
from ._counting import count_prunings, count_prunings_within, log_count_of_size

Prior = Literal["uniform", "within-k", "size", "informed", "branching", "printed"]


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
) -> Any:
    """Return a bound on the error of a pruning that may have been chosen on `holdout`.

    Parameters
    ----------
    tree : Tree
    grown : Counts
        Counts of the growing sample: labels, and what priors may depend on.
    holdout : Counts
        Whole counts of an independent sample; it may have chosen the pruning.
    delta : float
        Failure probability.
    prior : str
        "uniform": all prunings alike. "within-k": those with at most `k` growing errors alike.
        "size": each number of leaves alike, then alike within it. "informed": weight
        exp(-lam growing errors - mu leaves), the best of the pairs given. "branching": each
        node reached is cut with probability 1/2. "printed": a quarter bit per node, as
        published; not a guarantee.
    tail : "exact", "kl" or "chernoff"
        How errors become a limit; exact <= kl <= chernoff.
    k : int
        For "within-k"; fixed before looking at `holdout`.
    pruning : Pruning or PruningSequence, optional
        What to certify; by default the pruning of the class with fewest errors on `holdout`.
    lam, mu : float or list of float
        For "informed"; every pair is tried, and paid for.
    labels, original : str
        How labels were chosen: "grow" (fixed), or "prune"/"both", which pays ln of the number
        of classes per chosen label; `original="relabel"` if original leaves chose theirs too.
    repeated : bool
        As for `certify`.

    Returns
    -------
    Bound, or list of Bound
        One per member for a sequence. `complexity` is ln 1/pi, `details["log_delta"]` the
        log of the failure probability handed to the tail.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 6.1.

    One pass over the nodes (per pair for "informed"); times the budget for "within-k".
    Kaariainen, Malinen and Elomaa (2004), with the number of prunings counted exactly.

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
    about = check_samples(tree, grown, holdout, "an Occam bound", delta, repeated=repeated)
    budget = check_budget(grown, k, "the prior 'within-k'") if prior == "within-k" else None
    asked = chosen(tree, grown, holdout, pruning, labels=labels, original=original, budget=budget)
    n_labels = max(grown.n_classes, holdout.n_classes) if check_labels(labels, original) else 1
    complexity, details = _PRIORS[prior](
        asked, tree=tree, grown=grown, k=k, pairs=prior_grid(lam, mu), n_labels=n_labels, relabel=original == "relabel"
    )
    if prior not in ("uniform", "printed"):  # the first counts labels too, the second nothing
        complexity = complexity + asked.n_free * math.log(n_labels)
    log_delta = math.log(delta) - complexity
    values = upper_limit(tail, asked.errors, about["n"], np.minimum(log_delta, 0.0))
    reason = _why_not(tree, float(complexity[0])) if prior == "printed" else ""
    found = [
        Bound(
            value=float(value),
            method=f"Occam, {prior} prior, {tail} tail",
            errors=int(errors),
            complexity=float(cost),
            certified=not reason,
            reason=reason,
            **about,
            details={"prior": prior, "tail": tail, "log_delta": math.log(delta) - float(cost), "member": i, **more},
        )
        for i, (value, errors, cost, more) in enumerate(zip(values, asked.errors, complexity, details, strict=True))
    ]
    return found if asked.is_sequence else found[0]


# Each prior: ln 1/pi of every member, and what else a reader needs to check it.
_Costs = tuple[Floats, list[dict[str, object]]]


def _uniform(asked: Chosen, *, tree: Tree, n_labels: int, relabel: bool, **_: object) -> _Costs:
    log_n = count_prunings(tree, log=True, labels=n_labels, relabel=relabel)
    return _alike(asked, log_n, log_count=log_n)


def _within_k(asked: Chosen, *, tree: Tree, grown: Counts, k: int, **_: object) -> _Costs:
    log_n = count_prunings_within(tree, grown, k, log=True)
    return _alike(asked, log_n, log_count=log_n, k=int(k))


def _size(asked: Chosen, *, tree: Tree, **_: object) -> _Costs:
    sizes, place = np.unique(asked.n_leaves, return_inverse=True)
    if len(sizes) > 4:  # many sizes: one table of all of them
        of_size = mixtures.log_counts_by_size(tree.parent, int(sizes[-1]))[asked.n_leaves]
    else:
        of_size = np.array([log_count_of_size(tree, int(j)) for j in sizes])[place]
    details = zip(asked.n_leaves.tolist(), of_size.tolist(), strict=True)
    return math.log(tree.n_leaves) + of_size, [{"n_leaves": j, "log_count": c} for j, c in details]


def _informed(asked: Chosen, *, tree: Tree, grown: Counts, pairs: list[tuple[float, float]], **_: object) -> _Costs:
    errors = grown.errors_if_leaf(grown.majority)
    costs = np.stack(
        [lam * asked.grown_errors + mu * asked.n_leaves + log_normaliser(tree, errors, lam, mu) for lam, mu in pairs]
    )
    best = costs.argmin(axis=0)
    # The weight of a pruning is at most 1; rounding must not make it more.
    cost = np.maximum(costs.min(axis=0), 0.0) + math.log(len(pairs))
    return cost, [{"lam": pairs[b][0], "mu": pairs[b][1], "n_pairs": len(pairs)} for b in best]


def _branching(asked: Chosen, **_: object) -> _Costs:
    cost = (asked.n_decided * math.log(2)).astype(np.float64)
    return cost, [{"n_decided": decided} for decided in asked.n_decided.tolist()]


def _printed(asked: Chosen, *, tree: Tree, **_: object) -> _Costs:
    return _alike(asked, tree.n_nodes / 4 * math.log(2), bits=tree.n_nodes / 4)


_PRIORS: dict[str, Callable[..., _Costs]] = {
    "uniform": _uniform,
    "within-k": _within_k,
    "size": _size,
    "informed": _informed,
    "branching": _branching,
    "printed": _printed,
}


def _alike(asked: Chosen, cost: float, **details: object) -> _Costs:
    return np.full(len(asked.errors), cost), [details] * len(asked.errors)


def _why_not(tree: Tree, cost: float) -> str:
    bits, needed = cost / math.log(2), count_prunings(tree, log=True) / math.log(2)
    if bits < needed:
        return (
            f"a quarter bit per node is {bits:.2f} bits, but telling the prunings of this tree apart takes {needed:.2f}"
        )
    return (
        f"a quarter bit per node is not a count of prunings; the count is {needed:.2f} bits, "
        "so prior='uniform' is valid and tighter here"
    )
