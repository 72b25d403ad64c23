"""Prune for a low certified error, with an informed prior as the code length of a pruning.

For a pair (lam, mu) of the prior, a pruning has the prior cost c = lam * growing errors + mu * leaves. Let e be its
held-out errors, so that each pruning is a point (e, c). The prunings that have the same bound as the current pruning
lie on a convex curve in this plane, those with a smaller bound below the curve. Let -kappa be the slope of the curve at
the current pruning. A pruning with a smaller kappa * e + c lies below the tangent, which lies below the curve, so its
bound is smaller. The search therefore minimises kappa * e + c for a few values of kappa, goes on from the best pruning
found with the kappa of its slope, and stops when the bound no longer falls.

The bound holds for all prunings at once, so evaluating many prunings does not raise it. Trying q pairs adds ln q to the
code length. The search does not visit all prunings: its result nearly always has the least bound, but not always.
"""

import math
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from .._kernels import mixtures, structure
from .._utils.arrays import ArrayLike, Bools, Floats, write_protect
from ..core import Bound, Counts, Pruning, RuleProvenance, SampleUsage, Tree
from ..statistics.freshness import check_samples
from ..statistics.priors import LAMBDAS, MUS, log_normaliser, prior_cost, prior_grid
from ..statistics.repeats import RepeatRule
from ..statistics.tails import binomial_upper, log_binomial_tail

RELATIVE_TOLERANCE = 1e-12  # bounds this close count as equal
START_KAPPAS = (0.0, 0.1, 0.3, 1.0, 3.0, math.inf)  # 0: the prior cost alone counts; infinity: held-out errors first


def certificate_optimal(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    delta: float = 0.05,
    lam: ArrayLike = LAMBDAS,
    mu: ArrayLike = MUS,
    repeats: RepeatRule = "errors",
) -> Pruning:
    """Return the pruning with the lowest certified error that a descent finds.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown : Counts
        Counts of the growing sample, which determine the labels and the prior.
    holdout : Counts
        Counts of an independent sample with rows of weight 1, which chooses and certifies the pruning at once.
    delta : float
        Failure probability of the certificate.
    lam, mu : float or list of float
        Weights of a growing error and of a leaf in the prior; fixed before the held-out sample is seen.
    repeats : "errors" or "independent"
        As for `secateur.certify`: whether held-out rows that may be copies of other rows count as errors.

    Returns
    -------
    Pruning
        The pruning with the least bound (`secateur.certifiers.occam` with the informed prior) of those visited. For
        each pair these are the pruning with the fewest held-out errors, the one with the least prior cost, four
        compromises between the two, and the prunings to which the slope of the bound leads. Of prunings whose bounds
        differ by less than a relative 1e-12, the smallest is returned. If repeated rows count as errors because they
        may be copies, they are added to the errors of the result only. Otherwise the bound is not above that of reduced
        error pruning with `grow` labels under the same prior. `note` is the certificate.

    Notes
    -----
    About eight passes over the nodes for each pair. Another pruning may have a lower bound: a pruning that is best
    for no weighting of errors against prior cost is never visited. The certificate is valid for the returned pruning,
    whether or not its bound is the least.

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
    labels = grown.majority  # a sample without classes is refused here, before its rows are examined
    rows = check_samples(tree, grown, holdout, "a certificate", delta, repeats=repeats, warns=False)
    n_rows, log_delta = rows.n, math.log(rows.delta)
    pairs = prior_grid(lam, mu)
    grow_errors = grown.errors_if_leaf(labels)
    errors = holdout.errors_if_leaf(labels).astype(np.float64)
    best_bound, best_n_leaves = math.inf, 0
    for pair in pairs:
        cost = prior_cost(grow_errors, *pair)
        code_length_of_pair = log_normaliser(tree, grow_errors, *pair) + math.log(len(pairs))
        for candidate in _descend(tree, errors, cost, n_rows, log_delta - code_length_of_pair):
            # Bounds that differ by rounding only are equal; then the smaller pruning is preferred.
            if candidate.bound <= best_bound * (1 + RELATIVE_TOLERANCE):
                leaves = structure.leaves_after_cuts(tree.parent, candidate.is_cut)
                n_leaves = int(np.count_nonzero(leaves))
                if candidate.bound < best_bound * (1 - RELATIVE_TOLERANCE) or n_leaves < best_n_leaves:
                    best_bound, best_n_leaves, best_leaves = candidate.bound, n_leaves, leaves
                    best_errors, complexity = candidate.errors, candidate.prior_cost + code_length_of_pair
                    best_pair = pair
    # The search ignores repeated rows. Those that may be copies are counted as errors in the bound of its result.
    if rows.repeats.n_errors:
        best_bound = binomial_upper(int(rows.add_repeated(best_errors)), n_rows, log_delta - complexity)
    bound = Bound(
        value=best_bound,
        method="Occam, informed prior, exact tail",
        errors=int(best_errors),
        complexity=complexity,
        **rows.bound_fields,
        details={"lam": best_pair[0], "mu": best_pair[1], "n_pairs": len(pairs), "tail": "exact"},
    )
    provenance = RuleProvenance(
        "certificate-optimal",
        {"delta": delta, "lam": np.asarray(lam), "mu": np.asarray(mu), "repeats": repeats},
        cost="certified error",
        sample=holdout.sample,
        tolerance=RELATIVE_TOLERANCE,
    )
    return Pruning(
        tree,
        write_protect(best_leaves),
        node_labels=labels,
        seen=SampleUsage.of(grown, holdout),
        provenance=provenance,
        certified=True,
        note=str(bound),
    )


class _Candidate(NamedTuple):
    """A visited pruning: its bound, its held-out errors, its prior cost, and where it cuts."""

    bound: float
    errors: float
    prior_cost: float
    is_cut: Bools


def _descend(tree: Tree, errors: Floats, cost: Floats, n: int, log_delta: float) -> list[_Candidate]:
    """Return the prunings visited for one pair of the prior: those of `START_KAPPAS`, then those along the slope."""
    visited = [_best_for(tree, errors, cost, n, log_delta, kappa) for kappa in START_KAPPAS]
    best = min(visited, key=attrgetter("bound"))
    while 0 < best.bound < 1 and best.errors < n:
        # The slope of the log tail in the number of errors: the mean of the differences to one error less and one more.
        tails = log_binomial_tail([max(best.errors - 1, 0), best.errors + 1], n, best.bound)
        kappa = (tails[1] - tails[0]) / (2 if best.errors > 0 else 1)
        bound_before = best.bound
        best = _best_for(tree, errors, cost, n, log_delta, kappa)
        visited.append(best)
        if best.bound >= bound_before * (1 - RELATIVE_TOLERANCE):
            break
    return visited


def _best_for(tree: Tree, errors: Floats, cost: Floats, n: int, log_delta: float, kappa: float) -> _Candidate:
    """Return the pruning that minimises kappa * errors + prior cost."""
    is_cut, n_errors, prior = mixtures.cheapest_cuts(tree.parent, errors, cost, kappa)
    return _Candidate(binomial_upper(n_errors, n, min(log_delta - prior, 0.0)), n_errors, prior, is_cut)
