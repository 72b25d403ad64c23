"""Prune for a low certified error: the informed prior says what a pruning costs to name.

For a pair (lam, mu) a pruning with e held-out errors pays c = lam * growing errors + mu *
leaves. The prunings whose bound is at most p are those with c below a curve in e that is
convex. Let kappa be its slope at the pruning in hand: a pruning with less kappa * e + c lies
below the tangent, hence below the curve, hence has a smaller bound. So start from a
few kappa, and follow the slope until it leads nowhere. The bound holds for all prunings at
once, so looking at many is free; trying q pairs costs ln q. This is a descent, not a search of
all prunings: where it ends the bound is nearly always the least, but not always.
"""

import math
from operator import itemgetter

import numpy as np

from .._kernels import mixtures, structure
from .._utils.arrays import ArrayLike, Bools, Floats, write_protect
from ..core import Bound, Counts, Pruning, RuleProvenance, SampleUsage, Tree
from ..statistics.freshness import check_samples
from ..statistics.priors import LAMBDAS, MUS, log_normaliser, prior_cost, prior_grid
from ..statistics.tails import binomial_upper, log_binomial_tail

_STARTS = (0.0, 0.1, 0.3, 1.0, 3.0, math.inf)  # from "only the prior" to "errors first"


def certificate_optimal(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    delta: float = 0.05,
    lam: ArrayLike = LAMBDAS,
    mu: ArrayLike = MUS,
) -> Pruning:
    """Return the pruning with the lowest certified error that a descent finds.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown : Counts
        Counts of the growing sample: labels and prior.
    holdout : Counts
        Counts of an independent sample, rows of weight 1: it chooses and certifies at once.
    delta : float
        Failure probability of the certificate.
    lam, mu : float or list of float
        Weights of a growing error and of a leaf in the prior; fixed before looking.

    Returns
    -------
    Pruning
        Least in the bound of `secateur.certifiers.occam` with the informed prior among the
        prunings met: for each pair those with fewest held-out errors, with least prior cost, and
        where following the slope of the bound leads. Its bound is not above that of reduced
        error pruning with `grow` labels under the same prior; among bounds within 1e-12 the
        smallest pruning. `note` is the certificate.

    Notes
    -----
    About eight passes over the nodes for each pair. Another pruning may have a lower bound: one
    that no weighting of errors against prior cost makes best is never met. The certificate is
    that of the pruning returned, and holds whether or not it is the least.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> from secateur.pruners import certificate_optimal
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> grown = Counts.from_leaves(tree, [[30, 0], [29, 1], [0, 40]])
    >>> held = Counts.from_leaves(tree, [[50, 5], [50, 5], [9, 81]], sample="prune")
    >>> pruning = certificate_optimal(tree, grown, held)
    >>> pruning
    Pruning(2 of 3 leaves, cuts at 1)
    >>> print(pruning.note)
    With 95 % confidence the error on new rows like these is at most ...
    """
    about = check_samples(tree, grown, holdout, "a certificate", delta)
    pairs = prior_grid(lam, mu)
    grow_errors = grown.errors_if_leaf(grown.majority)
    errors = holdout.errors_if_leaf(grown.majority).astype(np.float64)
    best = (math.inf, 0, 0.0, 0.0)  # bound, leaves, errors, ln 1/prior
    for pair in pairs:
        cost = prior_cost(grow_errors, *pair)
        paid_already = log_normaliser(tree, grow_errors, *pair) + math.log(len(pairs))
        for value, found, paid, is_cut in _descend(tree, errors, cost, about["n"], math.log(delta) - paid_already):
            # Bounds that rounding alone parts are equal, and then the smaller pruning wins.
            if value <= best[0] * (1 + 1e-12):
                leaves = structure.leaves_after_cuts(tree.parent, is_cut)
                size = int(np.count_nonzero(leaves))
                if value < best[0] * (1 - 1e-12) or size < best[1]:
                    best = (value, size, found, paid + paid_already)
                    chosen, chosen_pair = leaves, pair
    bound = Bound(
        value=best[0],
        method="Occam, informed prior, exact tail",
        errors=int(best[2]),
        complexity=best[3],
        **about,
        details={"lam": chosen_pair[0], "mu": chosen_pair[1], "n_pairs": len(pairs), "tail": "exact"},
    )
    provenance = RuleProvenance(
        "certificate-optimal",
        {"delta": delta, "lam": np.asarray(lam), "mu": np.asarray(mu)},
        cost="certified error",
        sample=holdout.sample,
        tolerance=1e-12,
    )
    return Pruning(
        tree,
        write_protect(chosen),
        node_labels=grown.majority,
        seen=SampleUsage.of(grown, holdout),
        provenance=provenance,
        certified=True,
        note=str(bound),
    )


def _descend(
    tree: Tree, errors: Floats, cost: Floats, n: int, log_delta: float
) -> list[tuple[float, float, float, Bools]]:
    """The candidates of one pair as (bound, errors, prior cost, cuts): each start, then down the slope."""
    met: list[tuple[float, float, float, Bools]] = []

    def meet(kappa: float) -> tuple[float, float]:
        is_cut, found, paid = mixtures.cheapest_cuts(tree.parent, errors, cost, kappa)
        met.append((binomial_upper(found, n, min(log_delta - paid, 0.0)), found, paid, is_cut))
        return met[-1][:2]

    value, found = min((meet(kappa) for kappa in _STARTS), key=itemgetter(0))
    while 0 < value < 1 and found < n:
        # Slope of the log tail in the number of errors, between its left and its right difference.
        around = log_binomial_tail([max(found - 1, 0), found + 1], n, value)
        before = value
        value, found = meet((around[1] - around[0]) / (2 if found > 0 else 1))
        if value >= before * (1 - 1e-12):
            break
    return met
