"""Compute every certificate on one growing, pruning and test sample; two experiments share this."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from .._kernels.mixtures import mean_cost
from ..certifiers import least_bound, occam, pac_bayes, path, rademacher
from ..core import Bound, Counts, Pruning, Tree
from ..pruners import certificate_optimal, cost_complexity, k_limit, k_reduced_error, reduced_error
from ..statistics.priors import prior_cost
from ..statistics.tails import binomial_upper
from ._samples import error_rate

DELTA = 0.01
FACTOR = 1.1
# Forms (A) and (B) of the Rademacher bound, and the number of draws of signs.
FORMS: tuple[tuple[Literal["printed", "centred"], int], ...] = (("printed", 1), ("centred", 10))
Random = np.random.Generator | int

# For each tree, the bounds on its error and their names in tables. Its test error is the result "test error, TREE".
_BOTH = {"printed Rademacher": "(A)", "centred Rademacher": "(B)", "quarter bit": "d/4 (invalid)"}
_REP = {**_BOTH, "uniform": "uniform", "informed": "informed"}
BOUNDS = {
    "REP": {f"{bound}, REP": words for bound, words in _REP.items()},
    "k-REP": {f"{bound}, k-REP": words for bound, words in {**_BOTH, "within k": "within k"}.items()},
    "informed": {"informed, best": "informed"},
    "path": {"path": "path"},
    "PAC-Bayes": {"PAC-Bayes": "PAC-Bayes"},
}
TREE_OF_BOUND = {bound: tree for tree, bounds in BOUNDS.items() for bound in bounds}


def measure_bounds(tree: Tree, grown: Counts, held: Counts, test: Counts, *, seed: int) -> dict[str, float]:
    """Return sizes, test errors and bounds of the prunings of a tree by REP, k-REP, the path and the informed prior."""
    samples, n = (tree, grown, held), int(held.total[0])
    k = k_limit(grown, factor=FACTOR)
    pruned = {"REP": reduced_error(*samples), "k-REP": k_reduced_error(*samples, factor=FACTOR)}
    rep, k_rep = pruned.values()
    paid = partial(occam, *samples, delta=DELTA)
    best = certificate_optimal(*samples, delta=DELTA)
    member, on_path = best_on_path(tree, grown, held)
    unpruned = Pruning.from_cuts(tree, [], node_labels=grown.majority)
    tested = {"unpruned": unpruned, **pruned, "path": on_path, "informed": best}
    found: dict[str, float] = {
        **{f"nodes, {name}": pruning.n_nodes for name, pruning in pruned.items()},
        "nodes, unpruned": tree.n_nodes,
        "leaves, path": on_path.n_leaves,
        "leaves, informed": best.n_leaves,
        "is ordered": int(rep <= k_rep and rep.n_nodes <= k_rep.n_nodes <= tree.n_nodes),
        "k": k,
        "n": n,
        "pruning error, REP": rep.errors(held) / n,
        **{f"test error, {name}": error_rate(pruning, test) for name, pruning in tested.items()},
        "unpaid, path": float(binomial_upper(member.errors, n, np.log(DELTA))),
    }
    signs = [np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(4)]
    for (name, pruning), within, rngs in zip(pruned.items(), (None, k), (signs[:2], signs[2:]), strict=True):
        bounds = rademacher_bounds(*samples, pruning, rngs, within)
        found |= {f"{form} Rademacher, {name}": bound for (form, _), bound in zip(FORMS, bounds, strict=True)}
        found[f"quarter bit, {name}"] = paid(prior="printed", tail="chernoff", pruning=pruning).value
    mixed = pac_bayes(*samples, delta=DELTA)
    return {
        **found,
        "uniform, REP": paid(prior="uniform", pruning=rep).value,
        "within k, k-REP": paid(prior="within-k", k=k, pruning=k_rep).value,
        "informed, REP": paid(prior="informed", pruning=rep).value,
        "informed, best": paid(prior="informed", pruning=best).value,
        "path": member.value,
        "PAC-Bayes": mixed.value,
        "test error, PAC-Bayes": _mixture_error_rate(mixed, grown, held, test),
    }


def best_on_path(tree: Tree, grown: Counts, held: Counts) -> tuple[Bound, Pruning]:
    """Return the lowest bound of any member of the cost-complexity path, and that member."""
    family = cost_complexity(tree, grown)
    member = least_bound(path(family, held, delta=DELTA))
    return member, family[member.details["member"]]


def rademacher_bounds(
    tree: Tree, grown: Counts, held: Counts, pruning: Pruning, rngs: Sequence[Random], k: int | None = None
) -> list[float]:
    """Return the Rademacher bounds on a pruning: (A) as printed, (B) centred."""
    bound_of = partial(rademacher, tree, grown, held, delta=DELTA, k=k, pruning=pruning)
    found = (bound_of(form=form, draws=draws, rng=rng) for (form, draws), rng in zip(FORMS, rngs, strict=True))
    return [bound.details["unclipped"] for bound in found]


def _mixture_error_rate(mixed: Bound, grown: Counts, held: Counts, test: Counts) -> float:
    """Return the expected test error of a pruning drawn from the mixture."""
    errors = [counts.errors_if_leaf(grown.majority).astype(float) for counts in (held, test)]
    prior = prior_cost(grown.resubstitution_costs, mixed.details["lam"], mixed.details["mu"])
    _, expected = mean_cost(grown.tree.parent, -prior - mixed.details["theta"] * errors[0], errors[1])
    return expected / float(test.total[0])
