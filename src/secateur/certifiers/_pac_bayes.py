"""PAC-Bayes-kl: a bound on the error of a random pruning, drawn from a Gibbs mixture of all prunings.

For a prior P that was fixed beforehand, all posteriors Q at once, and n >= 8 (Maurer 2004),

    kl(emp(Q), err(Q)) <= (KL(Q, P) + ln(2 sqrt(n) / delta)) / n.

With the informed prior, and Q proportional to P exp(-theta errors), all terms come from one backwards pass. The bound
holds for every theta, so the theta with the lowest bound can be searched for. At this theta, -theta is the derivative
of kl with respect to its first argument. The search therefore computes the next theta from this derivative at the
current bound, and stops when the bound no longer falls.
"""

import math
from typing import NamedTuple

import numpy as np

from .._kernels import mixtures
from .._utils.arrays import ArrayLike, Floats
from ..core import Bound, Counts, Pruning, Tree
from ..errors import CountsError, ParameterError, show
from ..statistics.freshness import check_samples
from ..statistics.priors import LAMBDAS, MUS, log_normaliser, prior_cost, prior_grid
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import kl_upper
from ._checks import evaluate_members

MIN_ROWS = 8  # Maurer's inequality holds from here on
# Means of errors that exceed n by at most this share of n are set to n. Rounding adds about 1e-16 for each tree level.
RELATIVE_ROUNDING = 1e-9
MAX_SEARCH_STEPS = 20
MIN_RELATIVE_GAIN = 1e-3  # the search stops when a pass over the tree lowers the bound by less than this share


def pac_bayes(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    delta: float = 0.05,
    lam: ArrayLike = LAMBDAS,
    mu: ArrayLike = MUS,
    theta: ArrayLike | None = None,
    pruning: Pruning | None = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
) -> Bound:
    """Return a bound on the error of a random pruning drawn from a mixture of all prunings.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    grown : Counts
        Counts of the growing sample, which determine the labels and the prior.
    holdout : Counts
        Integer counts of an independent sample of at least 8 rows, which determines the mixture.
    delta : float
        Probability, over samples, that the bound is too low.
    lam, mu : float or list of float
        The parameters of the informed priors (see `occam`). Each pair adds to the price.
    theta : float or list of float, optional
        The weight of a held-out error in the mixture. It adds nothing to the price. By default the best weight is
        searched for.
    pruning : Pruning, optional
        Certify this pruning, as a mixture of one pruning, instead. `occam` with the informed prior is tighter for it.
    repeated, repeats
        As for `certify`.

    Returns
    -------
    Bound
        A bound on the error of predictions by a random pruning. The majority vote of the mixture errs at most twice
        as often: `details["vote"]`. `complexity` is the KL divergence plus ln of the number of pairs, and `errors` is
        the expected number of errors.

    Notes
    -----
    A few passes over the nodes for each pair.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import pac_bayes
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[50, 0], [0, 50]])
    >>> held = Counts.from_leaves(tree, [[90, 10], [10, 90]], sample="prune")
    >>> round(pac_bayes(tree, grown, held, lam=0.5, mu=0).value, 3)
    0.192
    """
    rows = check_samples(tree, grown, holdout, "a PAC-Bayes bound", delta, repeated=repeated, repeats=repeats)
    n = rows.n
    if n < MIN_ROWS:
        raise CountsError(f"sample {show(holdout.sample)} has {n} rows; a PAC-Bayes bound needs at least {MIN_ROWS}")
    pairs = prior_grid(lam, mu)
    fixed_cost = math.log(2 * math.sqrt(n) / rows.delta) + math.log(len(pairs))
    grow_errors = grown.errors_if_leaf(grown.majority)
    member = None if pruning is None else evaluate_members(tree, grown, holdout, pruning)
    errors = holdout.errors_if_leaf(grown.majority).astype(np.float64)
    thetas = None if theta is None else _checked_thetas(theta)
    candidates: list[_Candidate] = []
    for pair in pairs:
        log_z = log_normaliser(tree, grow_errors, *pair)
        log_prior = -prior_cost(grow_errors, *pair)
        if member is not None:
            divergence = float(pair[0] * member.grown_errors[0] + pair[1] * member.n_leaves[0] + log_z)
            mixtures_of_pair = [(math.inf, float(member.errors[0]), divergence)]
        elif thetas is None:
            mixtures_of_pair = _search(tree, log_prior, errors, log_z, n, fixed_cost)
        else:
            mixtures_of_pair = [(t, *gibbs(tree, log_prior, errors, log_z, t, n)) for t in thetas]
        for t, expected_errors, divergence in mixtures_of_pair:
            value = kl_upper(rows.add_repeated(expected_errors), n, -(max(divergence, 0.0) + fixed_cost))
            candidates.append(_Candidate(value, expected_errors, max(divergence, 0.0), pair, t))
    best = min(candidates, key=lambda candidate: candidate.value)
    details = {
        "lam": best.pair[0],
        "mu": best.pair[1],
        "n_pairs": len(pairs),
        "log_delta": -(best.divergence + fixed_cost),
        "tail": "kl",
    }
    if pruning is None:
        details |= {"theta": best.theta, "vote": min(1.0, 2 * best.value)}
    return Bound(
        value=best.value,
        method="PAC-Bayes-kl, " + ("Gibbs mixture of all prunings" if pruning is None else "one pruning"),
        errors=best.expected_errors if pruning is None else int(best.expected_errors),
        complexity=best.divergence + math.log(len(pairs)),
        **rows.bound_fields,
        details=details,
        predictor="a pruning drawn at random from the mixture" if pruning is None else "",
    )


class _Candidate(NamedTuple):
    """A mixture that was tried, and its bound."""

    value: float
    expected_errors: float
    divergence: float
    pair: tuple[float, float]  # lam and mu
    theta: float


def gibbs(tree: Tree, log_prior: Floats, errors: Floats, log_z: float, theta: float, n: int) -> tuple[float, float]:
    """Return the expected errors of the mixture proportional to prior * exp(-theta * errors), and its KL divergence.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    log_prior : array
        Log of the prior weight of each node as a leaf.
    errors : array
        Held-out errors of each node as a leaf.
    log_z : float
        Log of the sum of the prior weights of all prunings.
    theta : float
        The weight of a held-out error.
    n : int
        Number of held-out rows.
    """
    log_z_posterior, expected_errors = mixtures.mean_cost(tree.parent, log_prior - theta * errors, errors)
    # No pruning errs on more than n rows, so the mean is at most n. A larger excess is refused by `kl_upper`.
    if n < expected_errors <= n * (1 + RELATIVE_ROUNDING):
        expected_errors = float(n)
    return expected_errors, -theta * expected_errors - (log_z_posterior - log_z)


def _search(
    tree: Tree, log_prior: Floats, errors: Floats, log_z: float, n: int, fixed_cost: float
) -> list[tuple[float, float, float]]:
    """Return all mixtures (theta, expected errors, KL divergence) that the search for the best theta has tried."""
    visited = []
    theta, value = 0.3, 2.0
    for _ in range(MAX_SEARCH_STEPS):  # pragma: no branch: the search stops before, when the bound no longer falls
        expected_errors, divergence = gibbs(tree, log_prior, errors, log_z, theta, n)
        visited.append((theta, expected_errors, divergence))
        new_value = kl_upper(expected_errors, n, -(max(divergence, 0.0) + fixed_cost))
        if new_value >= value * (1 - MIN_RELATIVE_GAIN) or new_value >= 1.0 or expected_errors <= 0.0:
            break
        value = new_value
        error_rate = expected_errors / n
        theta = math.log(value * (1 - error_rate) / (error_rate * (1 - value)))
    return visited


def _checked_thetas(theta: ArrayLike) -> list[float]:
    """Return the values of theta as a list; raise `ParameterError` if one is negative or not finite."""
    values = np.atleast_1d(np.asarray(theta, np.float64))
    if values.ndim != 1 or values.size == 0 or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"theta={show(theta)}; finite numbers of 0 or more are needed")
    result: list[float] = values.tolist()
    return result
