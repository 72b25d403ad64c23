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
FACTOR = 1.1  # k is the number of growing errors of the unpruned tree times this factor
# Forms of the Rademacher bound, as published and centred, each with the number of draws of signs over which the penalty
# is averaged.
FORMS: tuple[tuple[Literal["printed", "centred"], int], ...] = (("printed", 1), ("centred", 10))
# The documents take the rows of a set for independent draws, also rows that are equal. Their bounds state no price for
# copies, so the experiments compute ours without it.
REPEATS: Literal["independent"] = "independent"
Random = np.random.Generator | int

# BOUNDS lists for each tree the bounds on its error: from the name of a bound in the results to its name in the tables.
# The results also contain the test error of each tree, under the name "test error, TREE".
_BOUNDS_ON_ANY_TREE = {
    "printed Rademacher": "published Rademacher",
    "centred Rademacher": "centred Rademacher",
    "quarter bit": "Occam, d/4 (invalid)",
}
_BOUNDS_ON_REP = {**_BOUNDS_ON_ANY_TREE, "uniform": "exact Occam", "informed": "informed prior"}
_BOUNDS_ON_K_REP = {**_BOUNDS_ON_ANY_TREE, "within k": "exact Occam within k"}
BOUNDS = {
    "REP": {f"{bound}, REP": label for bound, label in _BOUNDS_ON_REP.items()},
    "k-REP": {f"{bound}, k-REP": label for bound, label in _BOUNDS_ON_K_REP.items()},
    "informed": {"informed, best": "informed prior"},
    "path": {"path": "path"},
    "PAC-Bayes": {"PAC-Bayes": "PAC-Bayes"},
}
TREE_OF_BOUND = {bound: tree for tree, bounds in BOUNDS.items() for bound in bounds}


def measure_bounds(tree: Tree, grown: Counts, held: Counts, test: Counts, *, seed: int) -> dict[str, float]:
    """Prune a tree by REP, k-REP, the path and the informed prior; return sizes, test errors and bounds by name."""
    samples, n = (tree, grown, held), int(held.total[0])
    k = k_limit(grown, factor=FACTOR)
    rep = reduced_error(*samples)
    k_rep = k_reduced_error(*samples, factor=FACTOR)
    informed = certificate_optimal(*samples, delta=DELTA, repeats=REPEATS)
    path_bound, path_member = best_on_path(tree, grown, held)
    unpruned = Pruning.from_cuts(tree, [], node_labels=grown.majority)
    prunings = {"unpruned": unpruned, "REP": rep, "k-REP": k_rep, "path": path_member, "informed": informed}
    sizes_and_errors: dict[str, float] = {
        "nodes, REP": rep.n_nodes,
        "nodes, k-REP": k_rep.n_nodes,
        "nodes, unpruned": tree.n_nodes,
        "leaves, path": path_member.n_leaves,
        "leaves, informed": informed.n_leaves,
        "is ordered": int(rep <= k_rep and rep.n_nodes <= k_rep.n_nodes <= tree.n_nodes),
        "k": k,
        "n": n,
        "pruning error, REP": rep.errors(held) / n,
        **{f"test error, {name}": error_rate(pruning, test) for name, pruning in prunings.items()},
        # The limit that would hold if the member had been fixed in advance; not a valid bound for a chosen member.
        "unpaid, path": float(binomial_upper(path_bound.errors, n, np.log(DELTA))),
    }
    rademacher_and_printed = _bounds_on_rep_and_k_rep(tree, grown, held, rep, k_rep, k, seed)
    occam_bound = partial(occam, *samples, delta=DELTA, repeats=REPEATS)
    mixture = pac_bayes(*samples, delta=DELTA, repeats=REPEATS)
    return {
        **sizes_and_errors,
        **rademacher_and_printed,
        "uniform, REP": occam_bound(prior="uniform", pruning=rep).value,
        "within k, k-REP": occam_bound(prior="within-k", k=k, pruning=k_rep).value,
        "informed, REP": occam_bound(prior="informed", pruning=rep).value,
        "informed, best": occam_bound(prior="informed", pruning=informed).value,
        "path": path_bound.value,
        "PAC-Bayes": mixture.value,
        "test error, PAC-Bayes": _mixture_error_rate(mixture, grown, held, test),
    }


def _bounds_on_rep_and_k_rep(
    tree: Tree, grown: Counts, held: Counts, rep: Pruning, k_rep: Pruning, k: int, seed: int
) -> dict[str, float]:
    """Return the bounds that were published for both rules: two forms of the Rademacher bound, and the Occam bound."""
    bounds: dict[str, float] = {}
    signs = [np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(4)]
    for name, pruning, limit, rngs in (("REP", rep, None, signs[:2]), ("k-REP", k_rep, k, signs[2:])):
        both_forms = rademacher_bounds(tree, grown, held, pruning, rngs, limit)
        for (form, _), bound in zip(FORMS, both_forms, strict=True):
            bounds[f"{form} Rademacher, {name}"] = bound
        printed = occam(
            tree, grown, held, delta=DELTA, prior="printed", tail="chernoff", pruning=pruning, repeats=REPEATS
        )
        bounds[f"quarter bit, {name}"] = printed.value
    return bounds


def best_on_path(tree: Tree, grown: Counts, held: Counts) -> tuple[Bound, Pruning]:
    """Return the lowest bound on any member of the cost-complexity path, and that member."""
    sequence = cost_complexity(tree, grown)
    lowest = least_bound(path(sequence, held, delta=DELTA, repeats=REPEATS))
    return lowest, sequence[lowest.details["member"]]


def rademacher_bounds(
    tree: Tree, grown: Counts, held: Counts, pruning: Pruning, rngs: Sequence[Random], k: int | None = None
) -> list[float]:
    """Return the Rademacher bounds on a pruning, as published and centred, with one generator for each."""
    bounds = []
    for (form, draws), rng in zip(FORMS, rngs, strict=True):
        bound = rademacher(
            tree, grown, held, delta=DELTA, k=k, pruning=pruning, form=form, draws=draws, rng=rng, repeats=REPEATS
        )
        bounds.append(bound.details["unclipped"])
    return bounds


def _mixture_error_rate(mixture: Bound, grown: Counts, held: Counts, test: Counts) -> float:
    """Return the expected test error of a pruning drawn from the mixture of a PAC-Bayes bound."""
    held_errors, test_errors = (counts.errors_if_leaf(grown.majority).astype(float) for counts in (held, test))
    prior = prior_cost(grown.resubstitution_costs, mixture.details["lam"], mixture.details["mu"])
    # The weight of a pruning in the mixture is exp(-(sum over its leaves of prior cost + theta * held-out errors)).
    log_weights = -prior - mixture.details["theta"] * held_errors
    _, expected_errors = mean_cost(grown.tree.parent, log_weights, test_errors)
    return expected_errors / float(test.total[0])
