"""k-REP: the fewest held-out errors among prunings with at most k growing errors.

A limit on the growing errors keeps the class of prunings small, so that error bounds over the class are tight. Let
`min_errors` be the growing errors of the uncut tree, the fewest of all prunings. A cut charges the growing errors that
it adds to the budget k - min_errors (`_growing_limit.py`), and one table holds the best cuts for every budget.

Every k-optimal pruning P keeps every node that reduced error pruning keeps. To see this, let R be the reduced error
pruning, P | R the pruning that keeps what either of the two keeps, and P & R the one that keeps what both keep. P | R
is within the limit, because it cuts less than P. Let the cost be the pair (held-out errors, leaves). Costs satisfy
cost(P | R) + cost(P & R) = cost(P) + cost(R). Only R has the lowest cost of all prunings, so if P & R were not R, P | R
would cost less than P. Therefore the table needs only the nodes that reduced error pruning cuts away, and R is the
result for every k that is at least the number of its own growing errors.

Kääriäinen, Malinen and Elomaa, Selective Rademacher penalization and reduced error pruning (2004). Their definition
takes the smallest size over all prunings of equal held-out error. Here the smallest size is taken over the prunings
within the limit, as it must be for the optimum to exist.
"""

from typing import Literal

from .._utils.checks import check_name
from ..core import Counts, Pruning, Tree
from ._growing_limit import budget_of, charges_of_cuts, exact_number, growing_limit
from ._k_path import KPath, best_labelled, k_path, k_provenance

SIZES = ("leaves", "nodes")


def k_reduced_error(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    k: float | None = None,
    factor: float | None = None,
    rate: float | None = None,
    labelled: bool = False,
    size: Literal["leaves", "nodes"] = "leaves",
) -> Pruning:
    """Return the pruning with the fewest held-out errors among those with at most k growing errors.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown : Counts
        Counts of the growing sample: labels, and the errors that k limits.
    holdout : Counts
        Counts of a fresh sample; its errors are minimised.
    k : number, optional
        Maximum number of growing errors.
    factor : number, optional
        Without `k`: k is this many times the growing errors of the uncut tree, rounded down,
        calculated with the decimal number as written, so that 1.1 times 10 is 11. If the uncut
        tree makes no growing error, every factor means k = 0.
    rate : number, optional
        Without `k`: k is this fraction of the growing sample, rounded down.

        At most one of `k`, `factor` and `rate` is given. By default, k is 1.1 times the growing errors of the tree as
        the authors' grower would have stopped it: cut at every test of which fewer than two children hold 2 rows. A
        tree that was grown with this rule makes these errors uncut, so k is the published choice. A tree grown
        until its leaves are pure makes no growing error, and 1.1 times 0 would forbid every cut.
    labelled : bool
        Whether every leaf, original or cut, may predict any class. The growing errors of a pruning are then those of
        the predicted classes. By default leaves predict the majority class of the growing sample.
    size : "leaves" or "nodes"
        Which of several prunings with the fewest held-out errors is the smallest. The two differ for some trees with
        splits of more than two branches.

    Returns
    -------
    Pruning
        The fewest (held-out errors, leaves or nodes), in this order, over all prunings with at most k growing errors.
        Of equally good prunings, the one that keeps the first node in pre-order in which they differ; with `labelled`,
        then the one that predicts the growing class there rather than another, and a lower class rather than a
        higher one. `rule` names k.

    Raises
    ------
    PruningError
        If k is below the growing errors of the uncut tree, the fewest of all prunings.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 4, Definition 4, Theorem 5 and Algorithm 6.

    Let K be k less the growing errors of the uncut tree, and n the number of tests that reduced error pruning gives up.
    Time is O(n_nodes + n K) for any arity. Memory is n K / 8 bytes for the decisions, and 8 K bytes for each table row
    alive at once (at most as many rows as the tree is deep). Time and memory stop growing once k reaches the growing
    errors of the reduced error pruning. With `labelled`, each useful class of a node counts as a test.

    Growing counts must be whole numbers, or at least the growing errors that each cut adds must be. Weighted held-out
    errors count as equal within 1e-12 of the sample's weight.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    >>> holdout = Counts.from_leaves(tree, [[1, 2], [2, 0], [0, 1], [0, 2]], sample="prune")
    >>> for k in (1, 2):
    ...     pruning = k_reduced_error(tree, grown, holdout, k=k)
    ...     print(k, pruning, pruning.errors(holdout))
    1 Pruning(4 of 4 leaves, no cut) 5
    2 Pruning(3 of 4 leaves, cuts at 1) 4
    """
    holdout.check_fits(tree)
    check_name("size", size, SIZES)
    charge, min_errors = charges_of_cuts(tree, grown)
    limit = growing_limit(grown, min_errors, k, factor, rate)
    budget = budget_of(limit.value, min_errors, limit.text)
    parameters = {
        "k": k,
        "factor": factor,
        "rate": rate,
        "labelled": labelled,
        "limit": int(min_errors) + budget,
        "size": size,
    }
    if labelled:
        provenance = k_provenance(holdout, parameters, f"{limit.text}, labelled")
        return best_labelled(tree, grown, holdout, budget, size, provenance)
    path = k_path(tree, grown, holdout, charge, min_errors, min(budget, int(charge[0])), size)
    return path.within_budget(budget, k_provenance(holdout, parameters, limit.text))


def k_limit(grown: Counts, *, k: float | None = None, factor: float | None = None, rate: float | None = None) -> int:
    """Return the growing errors that `k_reduced_error` allows with the same parameters.

    A certificate "within k" covers the class of all prunings within this limit. The growing sample alone determines
    the limit, so the class is fixed before the held-out sample is seen.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> k_limit(Counts.from_leaves(tree, [[90, 10], [20, 80]]))
    33

    A tree with pure leaves. Its second test separates a single row; the authors' grower would have stopped before.

    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> pure = Counts.from_leaves(tree, [[30, 0], [0, 1], [0, 40]])
    >>> k_limit(pure), k_limit(pure, factor=1.1), k_limit(pure, rate=0.05)
    (1, 0, 3)
    """
    _, min_errors = charges_of_cuts(grown.tree, grown)
    limit = growing_limit(grown, min_errors, k, factor, rate)
    return int(min_errors) + budget_of(limit.value, min_errors, limit.text)


def k_reduced_error_path(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    max_k: float | None = None,
    size: Literal["leaves", "nodes"] = "leaves",
) -> KPath:
    """Return the k-optimal prunings of a tree for every k at once.

    Parameters
    ----------
    tree, grown, holdout
        As for `k_reduced_error`.
    max_k : number, optional
        The largest k of the path; by default the growing errors of the tree cut to one leaf. A larger k forbids no
        pruning.
    size : "leaves" or "nodes"
        As for `k_reduced_error`.

    Returns
    -------
    KPath
        Errors and sizes for each k, and each pruning on demand.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 4.

    One table, as large as `k_reduced_error` needs for the largest k.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    >>> holdout = Counts.from_leaves(tree, [[1, 2], [2, 0], [0, 1], [0, 2]], sample="prune")
    >>> path = k_reduced_error_path(tree, grown, holdout)
    >>> path.ks.tolist(), path.errors.tolist(), path.n_leaves.tolist()
    ([1, 2, 3, 4], [5, 4, 4, 4], [4, 3, 3, 3])
    >>> path.sequence
    PruningSequence(2 prunings, 4 to 3 leaves, not nested)
    """
    holdout.check_fits(tree)
    check_name("size", size, SIZES)
    charge, min_errors = charges_of_cuts(tree, grown)
    budget = int(charge[0])
    if max_k is not None:
        budget = min(budget, budget_of(exact_number("max_k", max_k), min_errors, f"max_k={max_k}"))
    return k_path(tree, grown, holdout, charge, min_errors, budget, size)
