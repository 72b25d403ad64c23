"""Every certificate on one growing, pruning and test sample: what two experiments measure."""

from functools import partial

import numpy as np

from .._kernels.mixtures import mean_cost
from ..certifiers import least_bound, occam, pac_bayes, path, rademacher
from ..nouns import Bound, Counts, Pruning, Tree
from ..pruners import certificate_optimal, cost_complexity, k_limit, k_reduced_error, reduced_error
from ..statistics.priors import prior_cost
from ..statistics.tails import binomial_upper

DRAWS = 10
FACTOR = 1.1

# For each tree, the bounds on its error and the words for them. Its test error is "test error, TREE".
BOUNDS = {
    "REP": {
        "printed Rademacher, REP": "(A)",
        "centred Rademacher, REP": "(B)",
        "quarter bit, REP": "d/4 (invalid)",
        "uniform, REP": "uniform",
        "informed, REP": "informed",
    },
    "k-REP": {
        "printed Rademacher, k-REP": "(A)",
        "centred Rademacher, k-REP": "(B)",
        "quarter bit, k-REP": "d/4 (invalid)",
        "within k, k-REP": "within k",
    },
    "informed": {"informed, best": "informed"},
    "path": {"path": "path"},
    "PAC-Bayes": {"PAC-Bayes": "PAC-Bayes"},
}
OWN_TREE = {bound: tree for tree, bounds in BOUNDS.items() for bound in bounds}


def measured(tree: Tree, grown: Counts, held: Counts, test: Counts, *, delta: float, seed: int) -> dict[str, float]:
    """Return sizes, test errors and bounds of what REP and k-REP make of a tree, and of better-paid choices."""
    rep, k_rep = reduced_error(tree, grown, held), k_reduced_error(tree, grown, held, factor=FACTOR)
    k = k_limit(grown, factor=FACTOR)
    signs = np.random.SeedSequence(seed).spawn(4)
    samples = (tree, grown, held)
    paid = partial(occam, *samples, delta=delta)
    best = certificate_optimal(*samples, delta=delta)
    family = cost_complexity(tree, grown)
    member = least_bound(path(family, held, delta=delta))
    on_path = family[member.details["member"]]
    pruned = {"REP": rep, "k-REP": k_rep}
    found: dict[str, float] = {
        **{f"nodes, {name}": pruning.n_nodes for name, pruning in pruned.items()},
        "nodes, unpruned": tree.n_nodes,
        "leaves, path": on_path.n_leaves,
        "leaves, informed": best.n_leaves,
        "is ordered": int(rep <= k_rep and rep.n_nodes <= k_rep.n_nodes <= tree.n_nodes),
        "k": k,
        "n": int(held.total[0]),
        "pruning error, REP": rep.errors(held) / int(held.total[0]),
        "test error, unpruned": rate_on(Pruning.from_cuts(tree, [], node_labels=grown.majority), test),
        **{f"test error, {name}": rate_on(pruning, test) for name, pruning in pruned.items()},
        "test error, path": rate_on(on_path, test),
        "test error, informed": rate_on(best, test),
        "unpaid, path": float(binomial_upper(member.errors, int(held.total[0]), np.log(delta))),
    }
    for i, (name, pruning) in enumerate(pruned.items()):
        within = None if name == "REP" else k
        for form, draws in (("printed", 1), ("centred", DRAWS)):
            rng = np.random.default_rng(signs[2 * i + (form == "centred")])
            bound = rademacher(*samples, delta=delta, draws=draws, k=within, form=form, rng=rng, pruning=pruning)
            found[f"{form} Rademacher, {name}"] = bound.details["unclipped"]
        found[f"quarter bit, {name}"] = paid(prior="printed", tail="chernoff", pruning=pruning).value
    mixed = pac_bayes(*samples, delta=delta)
    return {
        **found,
        "uniform, REP": paid(prior="uniform", pruning=rep).value,
        "within k, k-REP": paid(prior="within-k", k=k, pruning=k_rep).value,
        "informed, REP": paid(prior="informed", pruning=rep).value,
        "informed, best": paid(prior="informed", pruning=best).value,
        "path": member.value,
        "PAC-Bayes": mixed.value,
        "test error, PAC-Bayes": _mixed_rate(mixed, grown, held, test),
    }


def _mixed_rate(mixed: Bound, grown: Counts, held: Counts, test: Counts) -> float:
    """The test error of a pruning drawn from the mixture, on average."""
    errors = [counts.errors_if_leaf(grown.majority).astype(float) for counts in (held, test)]
    prior = prior_cost(grown.errors_if_leaf(grown.majority), mixed.details["lam"], mixed.details["mu"])
    _, expected = mean_cost(grown.tree.parent, -prior - mixed.details["theta"] * errors[0], errors[1])
    return expected / float(test.total[0])


def rate_on(pruning: Pruning, counts: Counts) -> float:
    """The error rate of a pruning on a sample."""
    return float(pruning.errors(counts) / counts.total[0])
