"""Rademacher penalties: how well the prunings of a tree can follow coin tosses.

Each held-out example tosses a sign; the sum of the signs of the errors is additive over
leaves, so its greatest and least value over all prunings come from the same passes as
the errors themselves. Only counts are needed: the signs of a class in a leaf add up to
2 Binomial(count, 1/2) - count.

    printed:  err <= emp + 2 mean max(hi, -lo) / n + 5 sqrt(ln(2 / delta) / (2 n))
    centred:  err <= emp +   mean (hi - lo) / n    + 3 sqrt(ln(1 / delta) / (2 n))

for all prunings of the class at once. In the centred form the loss is taken less 1/2,
which leaves the expectation alone and lets one example, with all its signs, move the
penalty by at most 1/n: hence 3 for any number of draws.
"""

import math
import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from .._kernels import budget_dp, mixtures, structure
from .._utils.arrays import Longs
from ..core import Bound, Counts, LabelRule, Original, Pruning, PruningSequence, Tree, excess_cost, full_cost
from ..errors import CountsError, ParameterError
from ..statistics.freshness import check_samples
from ..statistics.tails import check_delta
from ._checks import budget_walk, check_budget, check_labels, chosen


def rademacher(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    delta: float = 0.05,
    draws: int = 1,
    k: int | None = None,
    labels: LabelRule = "grow",
    original: Original = "fixed",
    form: Literal["centred", "printed"] = "centred",
    rng: np.random.Generator | int | None = None,
    pruning: Pruning | PruningSequence | None = None,
    repeated: bool = False,
) -> Any:
    """Return a bound on the error of a pruning from the Rademacher penalty of its class.

    Parameters
    ----------
    tree : Tree
    grown : Counts
        Counts of the growing sample: they fix the labels, and the class if `k` is given.
    holdout : Counts
        Whole counts of an independent sample; it may have chosen the pruning.
    delta : float
    draws : int
        How often signs are drawn. It must be fixed before looking at any result.
    k : int, optional
        Restrict the class to prunings with at most `k` growing errors, counted under the labels of
        the pruning.
    labels, original : str
        "grow": labels fixed by the growing sample. "prune"/"both": every cut takes any label,
        and so do original leaves with `original="relabel"`; a larger class, a larger penalty.
    form : "centred" or "printed"
        The centred form is never above the printed one on the same draw.
    rng : Generator or int, optional
        Source of the signs.
    pruning : Pruning or PruningSequence, optional
        What to certify; by default the pruning of the class with fewest errors on `holdout`.
    repeated : bool
        As for `certify`.

    Returns
    -------
    Bound, or list of Bound
        `complexity` is the penalty: mean (hi - lo) / (2 n), or mean max(hi, -lo) / n if
        printed. `details` hold hi and lo of every draw and the seed. A bound above 1 is
        given as 1; `details["unclipped"]` is the sum itself.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 2, Lemma 3, and section 5.

    O(draws * n_nodes * n_classes), times the budget if restricted. Centring and averaging
    are ours.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import rademacher
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[50, 0], [0, 50]])
    >>> held = Counts.from_leaves(tree, [[900, 100], [100, 900]], sample="prune")
    >>> bound = rademacher(tree, grown, held, draws=10, rng=0)
    >>> bound.errors, bound.certified, 0.1 < bound.value < 0.25
    (200, True, True)
    """
    delta = check_delta(delta)
    if isinstance(draws, bool) or not isinstance(draws, numbers.Integral) or draws < 1:
        raise ParameterError(
            f"draws={draws!r}; a whole number of 1 or more is needed, fixed in advance: "
            "choosing it after looking at the penalties voids the bound"
        )
    if form not in ("centred", "printed"):
        raise ParameterError(f"form={form!r}; 'centred' or 'printed' is needed")
    about = check_samples(tree, grown, holdout, "a Rademacher bound", delta, repeated=repeated)
    n = about["n"]
    budget = None if k is None else check_budget(grown, k, "the restricted class")
    asked = chosen(tree, grown, holdout, pruning, labels=labels, original=original, budget=budget, is_labelled=True)
    seed = np.random.SeedSequence().entropy if rng is None else rng
    generator = np.random.default_rng(seed)
    extremes = [
        signed_extremes(tree, grown, signs, k=k, labels=labels, original=original)
        for signs in (draw_signs(holdout, generator) for _ in range(int(draws)))
    ]
    hi, lo = (np.array(column, np.int64) for column in zip(*extremes, strict=True))
    if form == "centred":
        penalty = float((hi - lo).mean()) / (2 * n)
        slack = 3 * math.sqrt(math.log(1 / delta) / (2 * n))
    else:
        penalty = float(np.maximum(hi, -lo).mean()) / n
        slack = 5 * math.sqrt(math.log(2 / delta) / (2 * n))
    details = {
        "hi": hi.tolist(),
        "lo": lo.tolist(),
        "draws": int(draws),
        "k": None if k is None else int(k),
        "labels": labels,
        "slack": slack,
        "seed": None if isinstance(seed, np.random.Generator) else seed,
    }
    bounds = []
    for member, errors in enumerate(asked.errors.tolist()):
        unclipped = errors / n + 2 * penalty + slack
        bounds.append(
            Bound(
                value=min(1.0, unclipped),
                method=f"Rademacher penalty, {form}" + (f", within {k} growing errors" if k is not None else ""),
                errors=errors,
                complexity=penalty,
                **about,
                details={**details, "unclipped": unclipped, "member": member},
            )
        )
    return bounds if asked.is_sequence else bounds[0]


def draw_signs(holdout: Counts, rng: np.random.Generator) -> Longs:
    """Return the summed signs of the examples of each class in each node, one sign per example.

    Parameters
    ----------
    holdout : Counts
        Whole counts.
    rng : Generator

    Returns
    -------
    array of int, shape (n_nodes, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import draw_signs
    >>> held = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 2]], sample="prune")
    >>> signs = draw_signs(held, np.random.default_rng(1))
    >>> bool(abs(signs[1, 0]) == 1), bool(signs[2, 1] in (-2, 0, 2)), bool((signs[1] + signs[2] == signs[0]).all())
    (True, True, True)
    """
    counts = holdout.by_class
    signs = np.zeros(counts.shape, np.int64)
    where = np.nonzero(counts * holdout.tree.is_leaf[:, None])
    found = counts[where]
    signs[where] = 2 * rng.binomial(found, 0.5) - found
    return structure.sum_upwards(holdout.tree.parent, signs)


def signed_extremes(
    tree: Tree,
    grown: Counts,
    signs: Longs,
    *,
    k: int | None = None,
    labels: LabelRule = "grow",
    original: Original = "fixed",
) -> tuple[int, int]:
    """Return the greatest and the least sum of the signs of the errors over a class of prunings.

    Parameters
    ----------
    tree : Tree
    grown : Counts
    signs : array of shape (n_nodes, n_classes)
        Summed signs per node and class, as from `draw_signs`.
    k, labels, original
        The class, as for `rademacher`.

    Returns
    -------
    (int, int)
        hi and lo.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import signed_extremes
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[2, 0], [0, 1]])
    >>> signed_extremes(tree, grown, np.array([[1, -1], [1, 0], [0, -1]]))
    (0, -1)
    """
    is_free = check_labels(labels, original)
    if signs.shape[0] != tree.n_nodes or signs.ndim != 2:
        raise CountsError(f"signs have shape {signs.shape}; ({tree.n_nodes}, number of classes) is needed")
    total = signs.sum(axis=1)
    n_classes = max(signs.shape[1], grown.n_classes)
    # What a leaf with label c contributes: the signs of all classes but c.
    of_label = total[:, None] - np.pad(signs, ((0, 0), (0, n_classes - signs.shape[1])))
    fixed = of_label[np.arange(tree.n_nodes), grown.majority]
    high = low = fixed
    if is_free:
        stays = tree.is_leaf if original == "fixed" else np.zeros(tree.n_nodes, bool)
        high = np.where(stays, fixed, of_label.max(axis=1))
        low = np.where(stays, fixed, of_label.min(axis=1))
    if k is None:
        greatest = mixtures.max_leaf_sums(tree.parent, np.stack([high, -low], axis=1))
        return int(greatest[0]), -int(greatest[1])
    budget = check_budget(grown, k, "the restricted class")
    full = int(full_cost(tree, fixed)[0])
    if is_free:
        jump, charges, gain = _labelled_items(tree, grown, of_label, fixed, budget, original)
    else:
        charge = excess_cost(tree, grown.errors_if_leaf(grown.majority))
        budget = min(budget, int(charge[0]))
        nodes, jump = budget_walk(tree, charge, budget)
        charges, gain = charge[nodes], excess_cost(tree, fixed)[nodes]
    above = budget_dp.max_gain_within(jump, charges, gain, budget)
    below = budget_dp.max_gain_within(jump, charges, -gain, budget)
    return full + int(above), full - int(below)


def _labelled_items(
    tree: Tree, grown: Counts, of_label: Longs, fixed: Longs, budget: int, original: Original
) -> tuple[Longs, Longs, Longs]:
    """(jump, charge, gain) of every way to make a node a leaf with a class of its own, in pre-order.

    An original leaf that takes none of them keeps the class of the growing sample.
    """
    charge = np.stack([grown.errors_if_leaf(np.full(tree.n_nodes, c)) for c in range(of_label.shape[1])], axis=1)
    charge = charge - full_cost(tree, grown.errors_if_leaf(grown.majority))[:, None]
    may = (charge <= budget) & ((original == "relabel") | ~tree.is_leaf)[:, None]
    jump = budget_dp.jump_targets(tree.end, may.sum(axis=1))
    return jump, charge[may], (of_label - full_cost(tree, fixed)[:, None])[may]


def rademacher_over_k(
    tree: Tree, grown: Counts, holdout: Counts, *, ks: Sequence[int], delta: float = 0.05, **parameters: Any
) -> Bound:
    """Return the least Rademacher bound over several limits k, each paid for with its share of delta.

    Parameters
    ----------
    tree, grown, holdout
        As for `rademacher`.
    ks : sequence of int
        Limits on the growing errors, fixed before looking at `holdout`.
    delta : float
        For all limits together.
    **parameters
        Further parameters of `rademacher`: draws, form, rng.

    Returns
    -------
    Bound
        `details["k"]` is the limit of least bound: `k_reduced_error` with it makes the tree. The price of
        choosing is delta / len(ks) in place of delta.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 3.1, propose it and do not try it.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import rademacher_over_k
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[50, 0], [0, 50]])
    >>> held = Counts.from_leaves(tree, [[900, 100], [100, 900]], sample="prune")
    >>> bound = rademacher_over_k(tree, grown, held, ks=[0, 50], draws=10, rng=0)
    >>> bound.details["k"], bound.delta
    (0, 0.05)
    """
    limits = list(ks)
    if not limits:
        raise ParameterError("ks is empty; at least one limit is needed")
    share = check_delta(delta) / len(limits)
    bounds: list[Bound] = [rademacher(tree, grown, holdout, delta=share, k=k, **parameters) for k in limits]
    least = min(reversed(bounds), key=lambda bound: float(bound.details["unclipped"]))
    return replace(least, delta=delta, method=f"{least.method}, the best of {len(limits)} limits")
