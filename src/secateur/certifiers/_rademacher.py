"""Rademacher penalties: how well the prunings of a tree can fit random labels.

Each held-out row gets a random sign, 1 or -1. For a pruning, take the sum of the signs of the rows that it predicts
wrongly. Let hi and lo be the greatest and least of these sums over all prunings. Such a sum is additive over leaves, so
hi and lo are computed like the fewest errors. Only counts are needed: the signs of the rows of one class in a leaf
add up to 2 Binomial(count, 1/2) - count. With emp, the error rate on the sample, and means over draws of the signs,

    printed:  err <= emp + 2 mean max(hi, -lo) / n + 5 sqrt(ln(2 / delta) / (2 n))
    centred:  err <= emp +   mean (hi - lo) / n    + 3 sqrt(ln(1 / delta) / (2 n))

These hold for all prunings of the class at once. In the centred form, 1/2 is subtracted from the loss. This does not
change the expectation, and one row with all its signs then moves the penalty by at most 1/n. So the factor is 3 for any
number of draws.
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
from ..errors import CountsError, ParameterError, show
from ..statistics.freshness import check_samples
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta
from ._checks import budget_walk, check_budget, evaluate_members, has_free_labels


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
    repeats: Repeats | RepeatRule = "errors",
) -> Any:
    """Return a bound on the error of a pruning from the Rademacher penalty of its class.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    grown : Counts
        Counts of the growing sample, which determine the labels, and the class of prunings if `k` is given.
    holdout : Counts
        Integer counts of an independent sample; it may have chosen the pruning.
    delta : float
        Probability, over samples and signs, that the bound is too low.
    draws : int
        Number of draws of the signs. It must be fixed before any result is known.
    k : int, optional
        Restrict the class to prunings with at most `k` growing errors, counted under the labels of the pruning.
    labels, original : str
        "grow": the growing sample has chosen the labels. "prune" or "both": every cut may have any label, and so may
        the leaves of the grown tree with `original="relabel"`. The class is then larger, and so is the penalty.
    form : "centred" or "printed"
        The centred form is never above the printed one on the same draw.
    rng : Generator or int, optional
        Generator or seed of the signs.
    pruning : Pruning or PruningSequence, optional
        What is certified; by default the pruning of the class with the fewest errors on `holdout`.
    repeated, repeats
        As for `certify`.

    Returns
    -------
    Bound, or list of Bound
        `complexity` is the penalty: mean (hi - lo) / (2 n), or mean max(hi, -lo) / n for the printed form. `details`
        contains hi and lo of every draw, and the seed. A bound above 1 is set to 1; `details["unclipped"]` is the
        original value.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 2, Lemma 3, and section 5.

    O(draws * n_nodes * n_classes), times the budget for a restricted class. Centring, and averaging over draws, are not
    in the paper.

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
            f"draws={show(draws)}; a whole number of 1 or more is needed, fixed in advance: "
            "choosing it after looking at the penalties voids the bound"
        )
    if form not in ("centred", "printed"):
        raise ParameterError(f"form={show(form)}; 'centred' or 'printed' is needed")
    rows = check_samples(tree, grown, holdout, "a Rademacher bound", delta, repeated=repeated, repeats=repeats)
    n = rows.n
    budget = None if k is None else check_budget(grown, k, "the restricted class")
    members = evaluate_members(
        tree, grown, holdout, pruning, labels=labels, original=original, budget=budget, uses_member_labels=True
    )
    seed = np.random.SeedSequence().entropy if rng is None else rng
    generator = np.random.default_rng(seed)
    extremes = [
        signed_extremes(tree, grown, draw_signs(holdout, generator), k=k, labels=labels, original=original)
        for _ in range(int(draws))
    ]
    hi, lo = (np.array(column, np.int64) for column in zip(*extremes, strict=True))
    if form == "centred":
        penalty = float((hi - lo).mean()) / (2 * n)
        slack = 3 * math.sqrt(math.log(1 / rows.delta) / (2 * n))
    else:
        penalty = float(np.maximum(hi, -lo).mean()) / n
        slack = 5 * math.sqrt(math.log(2 / rows.delta) / (2 * n))
    # With fresh rows in the place of repeated ones, with the same signs, hi and lo move by at most 1 for each row.
    slack += 2 * min(rows.repeats.n_errors, n) / n
    details = {
        "hi": hi.tolist(),
        "lo": lo.tolist(),
        "draws": int(draws),
        "k": None if k is None else int(k),
        "labels": labels,
        "slack": slack,
        "seed": None if isinstance(seed, np.random.Generator) else seed,
    }
    restriction = "" if k is None else f", within {k} growing errors"
    bounds = []
    for member, errors in enumerate(members.errors.tolist()):
        unclipped = int(rows.add_repeated(errors)) / n + 2 * penalty + slack
        bounds.append(
            Bound(
                value=min(1.0, unclipped),
                method=f"Rademacher penalty, {form}{restriction}",
                errors=errors,
                complexity=penalty,
                **rows.bound_fields,
                details={**details, "unclipped": unclipped, "member": member},
            )
        )
    return bounds if members.is_sequence else bounds[0]


def draw_signs(holdout: Counts, rng: np.random.Generator) -> Longs:
    """Return the sum of the signs of the rows of each class in each node, with one random sign per row.

    Parameters
    ----------
    holdout : Counts
        Integer counts.
    rng : Generator
        Generator of the signs.

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
    occupied = np.nonzero(counts * holdout.tree.is_leaf[:, None])
    n_rows = counts[occupied]
    signs[occupied] = 2 * rng.binomial(n_rows, 0.5) - n_rows
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
    """Return the greatest and the least sum of the signs of the errors, over a class of prunings.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    grown : Counts
        Counts of the growing sample.
    signs : array of shape (n_nodes, n_classes)
        Sum of the signs of each class in each node, as from `draw_signs`.
    k, labels, original
        The class of prunings, as for `rademacher`.

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
    is_free = has_free_labels(labels, original)
    if signs.shape[0] != tree.n_nodes or signs.ndim != 2:
        raise CountsError(f"signs have shape {signs.shape}; ({tree.n_nodes}, number of classes) is needed")
    sign_of_label = _signs_of_errors(signs, grown.n_classes)
    fixed = sign_of_label[np.arange(tree.n_nodes), grown.majority]
    if k is None:
        return _extremes_of_all(tree, sign_of_label, fixed, is_free=is_free, original=original)
    budget = check_budget(grown, k, "the restricted class")
    if is_free:
        jump, charges, gain = _items_with_labels(tree, grown, sign_of_label, fixed, budget, original)
    else:
        charge = excess_cost(tree, grown.errors_if_leaf(grown.majority))
        budget = min(budget, int(charge[0]))
        nodes, jump = budget_walk(tree, charge, budget)
        charges, gain = charge[nodes], excess_cost(tree, fixed)[nodes]
    of_grown_tree = int(full_cost(tree, fixed)[0])
    greatest_gain = budget_dp.max_gain_within(jump, charges, gain, budget)
    greatest_loss = budget_dp.max_gain_within(jump, charges, -gain, budget)
    return of_grown_tree + int(greatest_gain), of_grown_tree - int(greatest_loss)


def _signs_of_errors(signs: Longs, n_grown_classes: int) -> Longs:
    """Return, for each node as a leaf and each label it may have, the sum of the signs of the rows of other classes."""
    n_classes = max(signs.shape[1], n_grown_classes)
    padded = np.pad(signs, ((0, 0), (0, n_classes - signs.shape[1])))
    difference: Longs = signs.sum(axis=1)[:, None] - padded
    return difference


def _extremes_of_all(
    tree: Tree, sign_of_label: Longs, fixed: Longs, *, is_free: bool, original: Original
) -> tuple[int, int]:
    """Return the greatest and the least sum of signs over all prunings, with fixed or with free labels."""
    high = low = fixed
    if is_free:
        keeps_label = tree.is_leaf if original == "fixed" else np.zeros(tree.n_nodes, bool)
        high = np.where(keeps_label, fixed, sign_of_label.max(axis=1))
        low = np.where(keeps_label, fixed, sign_of_label.min(axis=1))
    greatest = mixtures.max_leaf_sums(tree.parent, np.stack([high, -low], axis=1))
    return int(greatest[0]), -int(greatest[1])


def _items_with_labels(
    tree: Tree, grown: Counts, sign_of_label: Longs, fixed: Longs, budget: int, original: Original
) -> tuple[Longs, Longs, Longs]:
    """Return (jump, charge, gain) for the kernels of `budget_dp`.

    There is one item for each pair of a node that may become a leaf and a label that it may have. A leaf of the grown
    tree for which no item is taken has the majority class of the growing sample.
    """
    n_classes = sign_of_label.shape[1]
    errors = np.stack([grown.errors_if_leaf(np.full(tree.n_nodes, c)) for c in range(n_classes)], axis=1)
    charge = errors - full_cost(tree, grown.errors_if_leaf(grown.majority))[:, None]
    is_allowed = (charge <= budget) & ((original == "relabel") | ~tree.is_leaf)[:, None]
    jump = budget_dp.jump_targets(tree.end, is_allowed.sum(axis=1))
    gain = sign_of_label - full_cost(tree, fixed)[:, None]
    return jump, charge[is_allowed], gain[is_allowed]


def rademacher_over_k(
    tree: Tree, grown: Counts, holdout: Counts, *, ks: Sequence[int], delta: float = 0.05, **parameters: Any
) -> Bound:
    """Return the least Rademacher bound over several limits k, each of which has an equal share of delta.

    Parameters
    ----------
    tree, grown, holdout
        As for `rademacher`.
    ks : sequence of int
        Limits on the growing errors, fixed without using the rows of `holdout`.
    delta : float
        Probability that any of the bounds is too low.
    **parameters
        Further parameters of `rademacher`: draws, form, rng, repeats.

    Returns
    -------
    Bound
        `details["k"]` is the limit with the least bound; `k_reduced_error` with this `k` makes the tree. The price of
        choosing is delta / len(ks) in the place of delta.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 3.1, propose this bound without an experiment.

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
