"""Simulations of reduced error pruning on pure noise, beside the values of the formulas."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .._kernels.bottom_up import cheapest_subtree
from .._utils.arrays import ArrayLike, Bools, Floats, Ints, Longs, write_protect
from .._utils.checks import check_int
from ..core import Counts, Original, Pruning, Tree, leaf_labels
from ..errors import CountsError, ParameterError, show
from ._checks import check_between
from ._one_leaf import occupancy_of, one_leaf_probability, one_leaf_probability_uniform
from ._printed import best_c, printed_bound_general, printed_bound_uniform, valid_bound_general
from ._structure import safe_nodes


@dataclass(frozen=True)
class NoiseExperiment:
    """How often pure noise was pruned to one leaf, with the values of the formulas.

    Parameters
    ----------
    n, k, p
        Number of pruning rows, number of safe nodes, and probability of class 1.
    repeats, n_one_leaf : int
        Number of pruned trees, and how many of them became one leaf.
    low, high : float
        Clopper-Pearson interval of the frequency.
    confidence : float
        Confidence of that interval.
    exact : float
        The exact probability if the subtrees of safe nodes are cut; an upper bound if they may stay.
    printed_general, printed_uniform, printed_c : float
        The published formulas, and the c at which the uniform one is least. NaN where they do not apply.
    valid_general : float
        `valid_bound_general`, which assumes that no safe node is empty; NaN if n < k.
    """

    n: int
    k: int
    p: float
    repeats: int
    n_one_leaf: int
    low: float
    high: float
    confidence: float
    exact: float
    printed_general: float
    printed_uniform: float
    printed_c: float
    valid_general: float

    @property
    def frequency(self) -> float:
        """Share of the trees that became one leaf."""
        return self.n_one_leaf / self.repeats

    def __str__(self) -> str:
        return (
            f"{self.n_one_leaf:,} of {self.repeats:,} trees became one leaf: {self.frequency:.4g} "
            f"({100 * self.confidence:g} % interval {self.low:.4g} to {self.high:.4g}); exact {self.exact:.4g}, "
            f"printed general {self.printed_general:.4g}, printed uniform {self.printed_uniform:.4g} "
            f"(c = {self.printed_c:g}), valid general {self.valid_general:.4g}"
        )


def rep_noise_experiment(
    n: int,
    k: int,
    p: float,
    *,
    occupancy: Literal["uniform"] | ArrayLike = "uniform",
    repeats: int = 1000,
    seed: int | np.random.Generator | None = None,
    shape: Literal["perfect", "random"] = "perfect",
    force_cuts: bool = True,
    relabel: bool = False,
    confidence: float = 0.99,
) -> NoiseExperiment:
    """Return how often reduced error pruning reduces pure noise to one leaf.

    Parameters
    ----------
    n : int
        Number of pruning rows.
    k : int
        Number of safe nodes.
    p : float
        Probability of class 1, from 0 to 1.
    occupancy : "uniform" or array of int
        "uniform": each row falls into one of the safe nodes with equal probability. An array holds the number of rows
        in each safe node.
    repeats : int
        How many trees to prune.
    seed : int, Generator or None
        Random generator or its seed; the same seed gives the same result.
    shape : "perfect" or "random"
        Whether the splits above the safe nodes are as even as possible, or uniformly random.
    force_cuts : bool
        Whether both leaves below a safe node have the same label, so that its subtree is always cut. Otherwise they
        have different labels, each row goes to either leaf with equal probability, and the subtree may stay.
    relabel : bool
        Whether original leaves are relabelled by the pruning rows too. The tree then has `k` original leaves in place
        of the safe nodes, to which the same formulas apply, and `force_cuts` has no effect.
    confidence : float
        Confidence of the interval around the frequency.

    Returns
    -------
    NoiseExperiment
        With `force_cuts` the mean of the frequency is the exact probability; without, the mean is at most the exact
        probability.

    Notes
    -----
    Elomaa and Kaariainen (2001), sections 5, 6 and 8.

    Cut nodes are labelled by the pruning rows; the labels of original leaves are fixed unless `relabel` is true.
    O(repeats * k).

    Examples
    --------
    >>> experiment = rep_noise_experiment(60, 8, 0.7, repeats=500, seed=0)
    >>> experiment.low <= experiment.exact <= experiment.high
    True
    """
    n, k, repeats = check_int("n", n, 1), check_int("k", k, 1), check_int("repeats", repeats, 1)
    p = float(check_between("p", p, 0, 1))
    is_uniform = isinstance(occupancy, str)
    if is_uniform and occupancy != "uniform":
        raise ParameterError(
            f"occupancy={show(occupancy)}; 'uniform' or the number of rows in each safe node is needed"
        )
    sizes = None if is_uniform else occupancy_of(occupancy)
    if sizes is not None and (len(sizes) != k or sizes.sum() != n):
        raise ParameterError(f"occupancy has {len(sizes)} safe nodes with {sizes.sum()} rows; k={k} and n={n} given")

    rng = np.random.default_rng(seed)
    n_one_leaf = 0
    labels = None if relabel else [int(force_cuts), 1]
    tree = _tree_with_safe_nodes(k, shape, rng, has_leaves=not relabel)
    for _ in range(repeats):
        n_rows = rng.multinomial(n, np.full(k, 1 / k)) if sizes is None else sizes
        n_one_leaf += _becomes_one_leaf(tree, n_rows, p, labels, rng)
        if shape == "random":
            tree = _tree_with_safe_nodes(k, shape, rng, has_leaves=not relabel)

    low, high = clopper_pearson(n_one_leaf, repeats, confidence)
    majority = max(p, 1 - p)
    return NoiseExperiment(
        n=n,
        k=k,
        p=p,
        repeats=repeats,
        n_one_leaf=n_one_leaf,
        low=low,
        high=high,
        confidence=confidence,
        exact=one_leaf_probability_uniform(n, k, p) if sizes is None else one_leaf_probability(sizes, p),
        printed_general=printed_bound_general(n, k, majority),
        printed_uniform=printed_bound_uniform(n, k, majority) if k > 1 else np.nan,
        printed_c=best_c(n, k, majority) if k > 1 else np.nan,
        valid_general=valid_bound_general(n, k, p) if n >= k else np.nan,
    )


@dataclass(frozen=True, eq=False)
class NoiseGrowth:
    """Sizes of trees grown on pure noise, before and after pruning; one row per sample size.

    Parameters
    ----------
    sizes : array of int
        Numbers of rows, for growing and pruning together.
    n_grow : array of int
        Numbers of rows for growing.
    p : float
        Probability of class 1.
    grown_leaves, pruned_leaves, safe_nodes : arrays of shape (len(sizes), repeats)
        Numbers of leaves before and after reduced error pruning, and of safe nodes before pruning.
    """

    sizes: Longs
    n_grow: Longs
    p: float
    grown_leaves: Longs
    pruned_leaves: Longs
    safe_nodes: Longs

    @cached_property
    def expected_grown_leaves(self) -> Floats:
        """Expected leaves of a tree grown to purity on one numeric attribute, `expected_noise_leaves`."""
        return np.array([expected_noise_leaves(int(m), self.p) for m in self.n_grow])

    def slope(self, quantity: Literal["grown_leaves", "pruned_leaves", "safe_nodes"] = "pruned_leaves") -> float:
        """Return by how much the mean of a quantity rises with each further row, by least squares."""
        mean = getattr(self, quantity).mean(axis=1)
        return float(np.polyfit(self.sizes, mean, 1)[0])


def noise_growth_experiment(
    sizes: Sequence[int],
    p: float,
    *,
    grow: Callable[[Any, Any], tuple[Tree, Counts]],
    count: Callable[[Tree, Any, Any], Counts],
    repeats: int = 10,
    holdout: float = 1 / 3,
    n_features: int = 1,
    seed: int | np.random.Generator | None = None,
) -> NoiseGrowth:
    """Return the sizes of trees grown on pure noise, before and after reduced error pruning.

    Parameters
    ----------
    sizes : list of int
        Numbers of rows to try, for growing and pruning together.
    p : float
        Probability of class 1, from 0 to 1; the attributes are independent of the class.
    grow : callable
        `grow(X, y)` returns a tree and its counts, as `secateur.grow` does.
    count : callable
        `count(tree, X, y)` returns the counts of further rows, as `secateur.count` does.
    repeats : int
        Number of samples of each size.
    holdout : float
        Share of the rows that are held out for pruning.
    n_features : int
        Number of uniform attributes.
    seed : int, Generator or None
        Random generator or its seed.

    Returns
    -------
    NoiseGrowth
        The best tree has one leaf; the pruned trees grow linearly with the sample.

    Notes
    -----
    Elomaa and Kaariainen (2001), sections 5.3 and 5.4.

    The analysis of reduced error pruning conjectures that the number of safe nodes grows in proportion to the number of
    leaves. For one attribute and the gini criterion it does not: from 250 to 16,000 rows (p = .7, 12 samples each) the
    pruned leaves rose from 15 to 1,040, but the safe nodes only from 3.4 to 16, about like a square root. Thresholds
    close to the end of a range are frequent on noise; they put a leaf, and so the fringe, near the root.

    Cut nodes are labelled by the pruning rows; the labels of original leaves are fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur import Counts, Tree
    >>> def grow(X, y):  # a tree of two leaves instead of a grower
    ...     tree = Tree.from_parents([-1, 0, 0])
    ...     return tree, count(tree, X, y)
    >>> def count(tree, X, y):
    ...     side = (X[:, 0] > 0.5).astype(int)
    ...     return Counts.from_leaves(tree, np.bincount(2 * side + y, minlength=4).reshape(2, 2), sample="prune")
    >>> growth = noise_growth_experiment([30, 60], 0.7, grow=grow, count=count, repeats=3, seed=0)
    >>> growth.grown_leaves.tolist(), growth.safe_nodes.tolist()
    ([[2, 2, 2], [2, 2, 2]], [[1, 1, 1], [1, 1, 1]])
    """
    totals = np.array([check_int("sizes", size, 2) for size in sizes], np.int64)
    repeats = check_int("repeats", repeats, 1)
    p = float(check_between("p", p, 0, 1))
    n_grow = np.rint(totals * (1 - float(check_between("holdout", holdout, 0, 1)))).astype(np.int64)
    if len(totals) == 0 or n_grow.min() < 1 or (totals - n_grow).min() < 1:
        raise ParameterError(f"sizes={list(sizes)}, holdout={holdout:g}; a row on each side of the split is needed")
    rng = np.random.default_rng(seed)
    result = np.zeros((3, len(totals), repeats), np.int64)
    for i, j in np.ndindex(len(totals), repeats):
        X = rng.random((totals[i], check_int("n_features", n_features, 1)))
        y = (rng.random(totals[i]) < p).astype(np.int64)
        tree, grown = grow(X[: n_grow[i]], y[: n_grow[i]])
        held = count(tree, X[n_grow[i] :], y[n_grow[i] :])
        if held.total[0] != totals[i] - n_grow[i]:
            raise CountsError(f"count returned {held.total[0]} rows of {totals[i] - n_grow[i]}; it must count them all")
        pruned = Pruning.from_cuts(tree, _rep_cuts(tree, grown, held))
        result[:, i, j] = tree.n_leaves, pruned.n_leaves, len(safe_nodes(tree))
    return NoiseGrowth(write_protect(totals), write_protect(n_grow), p, *(write_protect(part) for part in result))


def expected_noise_leaves(m: int, p: float) -> float:
    """Return the expected number of leaves of a tree grown to zero error on one uninformative attribute.

    Parameters
    ----------
    m : int
        Number of rows, all with different values of one numeric attribute.
    p : float
        Probability of class 1, from 0 to 1.

    Returns
    -------
    float
        2 (m - 1) p (1 - p) + 1.

    Notes
    -----
    Elomaa and Kaariainen (2001), Theorem 6.

    Under a strictly concave criterion the thresholds lie only where the class changes along the sorted sample, so the
    tree has exactly one leaf more than there are changes. (The published proof shows "at least" and states equality,
    which needs a strictly concave criterion; under the error criterion there may be more leaves.)

    Examples
    --------
    >>> round(expected_noise_leaves(200, 0.7), 2)
    84.58
    """
    m = check_int("m", m, 1)
    p = float(check_between("p", p, 0, 1))
    return 2 * (m - 1) * p * (1 - p) + 1


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a probability.

    Parameters
    ----------
    successes, n : int
        Number of successes, and of independent trials.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    (float, float)
        The interval covers the true probability with at least this confidence, and misses it on either side with at
        most half of the remaining probability.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv

    successes, n = check_int("successes", successes, 0), check_int("n", n, 1)
    if successes > n:
        raise ParameterError(f"successes={successes} of n={n}; at most n is possible")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence}; a number between 0 and 1 is needed")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def _tree_with_safe_nodes(k: int, shape: str, rng: np.random.Generator, *, has_leaves: bool) -> Tree:
    """Return a binary tree with k safe nodes, each with two leaves if `has_leaves`, otherwise leaves themselves."""
    if shape not in ("perfect", "random"):
        raise ParameterError(f"shape={show(shape)}; 'perfect' or 'random' is needed")
    parent: list[int] = []
    pending = [(k, -1)]
    while pending:
        n_safe, parent_of_v = pending.pop()
        v = len(parent)
        parent.append(parent_of_v)
        if n_safe == 1:
            parent += [v, v] if has_leaves else []
        else:
            first = n_safe // 2 if shape == "perfect" else int(rng.integers(1, n_safe))
            pending += [(first, v), (n_safe - first, v)]
    return Tree.from_parents(parent)


def _becomes_one_leaf(tree: Tree, sizes: Longs, p: float, labels: list[int] | None, rng: np.random.Generator) -> bool:
    """Return whether the root is cut after `sizes` random rows are put into the safe nodes.

    `labels` are the labels of the two leaves below each safe node; if None, safe nodes are leaves that are relabelled.
    """
    positive = rng.binomial(sizes, p)
    by_class = np.stack([sizes - positive, positive], axis=1)
    if labels is None:
        held = Counts.from_leaves(tree, by_class, sample="prune")
        return bool(_rep_cuts(tree, held, held, "relabel")[0])
    first = rng.binomial(by_class, 0.5)
    leaves = np.stack([first, by_class - first], axis=1).reshape(-1, 2)
    grown = Counts.from_leaves(tree, np.tile(np.eye(2, dtype=np.int64)[labels], (len(sizes), 1)))
    return bool(_rep_cuts(tree, grown, Counts.from_leaves(tree, leaves, sample="prune"))[0])


def _rep_cuts(tree: Tree, grown: Counts, held: Counts, original: Original = "fixed") -> Bools:
    """Return where reduced error pruning cuts, with labels from the held-out sample."""
    labels: Ints = leaf_labels(grown, held, "prune", original)
    return cheapest_subtree(tree.parent, held.errors_if_leaf(labels))
