"""PAC-Bayes-kl: the error of a random pruning drawn from a Gibbs mixture of all prunings.

For a prior P fixed beforehand and all posteriors Q at once, n >= 8 (Maurer 2004),

    kl(emp(Q), err(Q)) <= (KL(Q, P) + ln(2 sqrt(n) / delta)) / n.

With the informed prior and Q proportional to P exp(-theta errors) everything is one
backwards pass. theta is free. At the best one -theta is the slope of kl in its first
argument, which gives an iteration that never raises the bound.
"""

import math
from operator import itemgetter

import numpy as np

from .._kernels import mixtures
from .._utils.arrays import ArrayLike, Floats
from ..core import Bound, Counts, Pruning, Tree
from ..errors import CountsError, ParameterError
from ..statistics.freshness import check_samples
from ..statistics.priors import LAMBDAS, MUS, log_normaliser, prior_cost, prior_grid
from ..statistics.tails import kl_upper
from ._checks import chosen

_FEWEST_ROWS = 8
_ROUNDING = 1e-9  # a mean above n by at most this share of n is a rounded n; a pass adds some 1e-16 per level


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
) -> Bound:
    """Return a bound on the error of a random pruning drawn from a mixture of all prunings.

    Parameters
    ----------
    tree : Tree
    grown : Counts
        Counts of the growing sample: labels and prior.
    holdout : Counts
        Whole counts of an independent sample of at least 8 rows; it shapes the mixture.
    delta : float
    lam, mu : float or list of float
        The informed priors tried (see `occam`); each pair is paid for.
    theta : float or list of float, optional
        How strongly held-out errors count; free of charge. By default the best is sought.
    pruning : Pruning, optional
        Certify this pruning instead, as a mixture of one; `occam` with the informed prior
        is tighter for it.
    repeated : bool
        As for `certify`.

    Returns
    -------
    Bound
        A bound on the error of the randomised prediction. The majority vote of the mixture errs at most twice as
        often: `details["vote"]`. `complexity` is KL + ln of the pairs, `errors` the expected errors.

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
    about = check_samples(tree, grown, holdout, "a PAC-Bayes bound", delta, repeated=repeated)
    n = about["n"]
    if n < _FEWEST_ROWS:
        raise CountsError(f"sample {holdout.sample!r} has {n} rows; a PAC-Bayes bound needs at least {_FEWEST_ROWS}")
    pairs = prior_grid(lam, mu)
    fixed_cost = math.log(2 * math.sqrt(n) / delta) + math.log(len(pairs))
    grow_errors = grown.errors_if_leaf(grown.majority)
    found: list[tuple[float, float, float, float, float, float]] = []
    asked = None if pruning is None else chosen(tree, grown, holdout, pruning)
    errors = holdout.errors_if_leaf(grown.majority).astype(np.float64)
    thetas = None if theta is None else _checked_thetas(theta)
    for a, b in pairs:
        log_z = log_normaliser(tree, grow_errors, a, b)
        own = -prior_cost(grow_errors, a, b)
        if asked is not None:
            divergence = float(a * asked.grown_errors[0] + b * asked.n_leaves[0] + log_z)
            results = [(math.inf, float(asked.errors[0]), divergence)]
        elif thetas is None:
            results = _search(tree, own, errors, log_z, n, fixed_cost)
        else:
            results = [(t, *gibbs(tree, own, errors, log_z, t, n)) for t in thetas]
        for t, mean, divergence in results:
            value = kl_upper(mean, n, -(max(divergence, 0.0) + fixed_cost))
            found.append((value, mean, max(divergence, 0.0), a, b, t))
    value, mean, divergence, a, b, t = min(found, key=itemgetter(0))
    details = {"lam": a, "mu": b, "n_pairs": len(pairs), "log_delta": -(divergence + fixed_cost), "tail": "kl"}
    if pruning is None:
        details |= {"theta": t, "vote": min(1.0, 2 * value)}
    return Bound(
        value=value,
        method="PAC-Bayes-kl, " + ("Gibbs mixture of all prunings" if pruning is None else "one pruning"),
        errors=mean if pruning is None else int(mean),
        complexity=divergence + math.log(len(pairs)),
        **about,
        details=details,
        predictor="a pruning drawn at random from the mixture" if pruning is None else "",
    )


def gibbs(tree: Tree, own: Floats, errors: Floats, log_z: float, theta: float, n: int) -> tuple[float, float]:
    """(expected errors, KL to the prior) of the mixture proportional to prior * exp(-theta * errors)."""
    log_z_posterior, mean = mixtures.mean_cost(tree.parent, own - theta * errors, errors)
    # No pruning errs on more than n rows, so neither does their mean; one that is farther off is refused by the tail.
    if n < mean <= n * (1 + _ROUNDING):
        mean = float(n)
    return mean, -theta * mean - (log_z_posterior - log_z)


def _search(
    tree: Tree,
    own: Floats,
    errors: Floats,
    log_z: float,
    n: int,
    fixed_cost: float,
) -> list[tuple[float, float, float]]:
    """The mixtures met while theta follows the slope of kl; the bound falls along them."""
    found = []
    theta, value = 0.3, 2.0
    for _ in range(20):
        mean, divergence = gibbs(tree, own, errors, log_z, theta, n)
        found.append((theta, mean, divergence))
        new_value = kl_upper(mean, n, -(max(divergence, 0.0) + fixed_cost))
        # Below a thousandth of the bound a further step is not worth its pass.
        if new_value >= value * (1 - 1e-3) or new_value >= 1.0 or mean <= 0.0:
            break
        value = new_value
        q = mean / n
        theta = math.log(value * (1 - q) / (q * (1 - value)))
    return found


def _checked_thetas(theta: ArrayLike) -> list[float]:
    values = np.atleast_1d(np.asarray(theta, np.float64))
    if values.ndim != 1 or values.size == 0 or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"theta={theta!r}; finite numbers of 0 or more are needed")
    result: list[float] = values.tolist()
    return result
