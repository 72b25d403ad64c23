"""How many prunings a tree has: all, of each size, or within a growing error.

The logarithms come from one backwards pass; where a table would range over thousands of
powers of ten, prunings are weighted so that the entry asked for is a likely one, the
table becomes a table of probabilities, and the weight is taken back at the end.
"""

import math
from collections.abc import Callable
from typing import Literal, overload

import numpy as np

from .._kernels import budget_dp, mixtures
from .._utils.arrays import Floats, Longs
from ..core import Counts, Tree, excess_cost
from ..errors import ParameterError
from ._checks import budget_walk, check_budget

_STEEPEST = 60.0  # exp(-60) per unit makes one unit more or less all but impossible


@overload
def count_prunings(tree: Tree, *, log: Literal[False] = False, labels: int = 1, relabel: bool = False) -> int: ...
@overload
def count_prunings(tree: Tree, *, log: Literal[True], labels: int = 1, relabel: bool = False) -> float: ...
def count_prunings(tree: Tree, *, log: bool = False, labels: int = 1, relabel: bool = False) -> int | float:
    """Return the number of prunings of a tree, or its natural logarithm.

    Parameters
    ----------
    tree : Tree
    log : bool
        Return ln of the number, relative error below 1e-12, in one pass over the nodes.
    labels : int
        How many labels a cut may choose from: 1 if labels are fixed, else the number of classes.
    relabel : bool
        Whether original leaves choose a label too.

    Returns
    -------
    int or float
        Exact as a Python integer of any length; 1 for a single leaf with a fixed label.

    Notes
    -----
    Kaariainen, Malinen and Elomaa (2004), section 6.1; Bohanec and Bratko (1994), section 3.1.

    N(v) = labels + product of N over the children. O(n_nodes) operations.

    Examples
    --------
    >>> from secateur import Tree
    >>> from secateur.certifiers import count_prunings
    >>> tree = Tree.from_parents([-1, 0, 0, 1, 1, 2, 2])
    >>> count_prunings(tree), count_prunings(tree, labels=2)
    (5, 11)
    >>> round(count_prunings(tree, log=True), 4)
    1.6094
    """
    if isinstance(labels, bool) or not isinstance(labels, int | np.integer) or labels < 1:
        raise ParameterError(f"labels={labels!r}; the number of labels to choose from, 1 or more, is needed")
    at_leaf = int(labels) if relabel else 1
    if log:
        own = np.where(tree.is_leaf, math.log(at_leaf), math.log(labels))
        return float(mixtures.log_partition(tree.parent, own)[0])
    return _summed(tree, at_leaf, int(labels))


@overload
def count_prunings_by_size(tree: Tree, *, log: Literal[False] = False) -> list[int]: ...
@overload
def count_prunings_by_size(tree: Tree, *, log: Literal[True]) -> Floats: ...
def count_prunings_by_size(tree: Tree, *, log: bool = False) -> list[int] | Floats:
    """Return the number of prunings with j leaves for j = 0, 1, ..., n_leaves.

    Parameters
    ----------
    tree : Tree
    log : bool
        Return natural logarithms (-inf where there is no such pruning).

    Returns
    -------
    list of int, or array

    Notes
    -----
    Coefficients of N(v) = x + product of N over the children; O(n_leaves^2) operations.

    Examples
    --------
    >>> from secateur import Tree
    >>> from secateur.certifiers import count_prunings_by_size
    >>> count_prunings_by_size(Tree.from_parents([-1, 0, 0, 1, 1, 2, 2]))
    [0, 1, 1, 2, 1]
    """
    if log:
        return mixtures.log_counts_by_size(tree.parent, tree.n_leaves)
    # One integer per polynomial: coefficient j stands in the j-th block of bits.
    n_bytes = count_prunings(tree).bit_length() // 8 + 1
    x = 1 << (8 * n_bytes)
    return _unpacked(_summed(tree, x, x), n_bytes, tree.n_leaves)


@overload
def count_prunings_within(tree: Tree, grown: Counts, k: int, *, log: Literal[False] = False) -> int: ...
@overload
def count_prunings_within(tree: Tree, grown: Counts, k: int, *, log: Literal[True]) -> float: ...
def count_prunings_within(tree: Tree, grown: Counts, k: int, *, log: bool = False) -> int | float:
    """Return the number of prunings with at most `k` growing errors, labels from the growing sample.

    Parameters
    ----------
    tree : Tree
    grown : Counts
        Whole counts of the growing sample.
    k : int
    log : bool
        Return the natural logarithm (-inf if there is none).

    Returns
    -------
    int or float

    Notes
    -----
    O(n_nodes * (k - growing error of the full tree)).

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> from secateur.certifiers import count_prunings_within
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[2, 1], [0, 2], [2, 0], [0, 1]])
    >>> [count_prunings_within(tree, grown, k) for k in range(5)]
    [0, 1, 3, 4, 5]
    """
    grown.check_fits(tree)
    errors = grown.errors_if_leaf(grown.majority)
    if grown.is_whole and k < errors[tree.is_leaf].sum():
        return -math.inf if log else 0
    budget = check_budget(grown, k, "the number of prunings within k")
    charge = excess_cost(tree, errors)
    if budget >= charge[0]:  # cutting at the root is the dearest pruning, and it fits
        return count_prunings(tree, log=True) if log else count_prunings(tree)
    if log:
        return _log_within(tree, charge, budget)
    nodes, jump = budget_walk(tree, charge, budget)
    slot, n_slots = budget_dp.assign_row_slots(jump)
    n_bytes = count_prunings(tree).bit_length() // 8 + 1
    width = 8 * n_bytes
    mask = (1 << (width * (budget + 1))) - 1
    rows = [1] * n_slots
    for i in range(len(jump) - 1, -1, -1):
        cut = (rows[slot[jump[i]]] << (width * int(charge[nodes[i]]))) & mask
        rows[slot[i]] = rows[slot[i + 1]] + cut
    return sum(_unpacked(rows[slot[0]], n_bytes, budget))


def log_count_of_size(tree: Tree, n_leaves: int) -> float:
    """Return ln of the number of prunings with exactly `n_leaves` leaves.

    Near O(n_nodes) on bushy trees: the window of likely sizes of a subtree is short.
    """
    ones = np.ones(tree.n_nodes)
    mu = _tilt(lambda mu: mixtures.mean_cost(tree.parent, -mu * ones, ones)[1], n_leaves, 0.5, -_STEEPEST)
    log_z = mixtures.log_partition(tree.parent, -mu * ones)
    most, chances = mixtures.size_probabilities(tree.parent, np.exp(-mu - log_z), 1e-30)
    at = most - n_leaves
    if 0 <= at < len(chances) and chances[at] > 1e-12:
        return float(math.log(chances[at]) + log_z[0] + mu * n_leaves)
    # No weight makes this size likely (the numbers of prunings are not log-concave here).
    return float(mixtures.log_counts_by_size(tree.parent, n_leaves)[n_leaves])


def _summed(tree: Tree, at_leaf: int, at_cut: int) -> int:
    """N(root), where N is `at_leaf` at leaves and else `at_cut` + product of N over the children."""
    product: list[int | None] = [None] * tree.n_nodes  # None: no child met
    number = at_leaf
    for v, parent in zip(range(tree.n_nodes - 1, -1, -1), tree.parent[::-1].tolist(), strict=True):
        below = product[v]
        number = at_leaf if below is None else at_cut + below
        product[v] = None
        if parent >= 0:
            before = product[parent]
            product[parent] = number if before is None else before * number
    return number


def _log_within(tree: Tree, charge: Longs, budget: int) -> float:
    dear = ~tree.is_leaf & (charge > budget)
    cost = np.where(tree.is_leaf | dear, 0, charge).astype(np.float64)

    def weights(lam: float) -> Floats:
        return np.where(dear, -np.inf, -lam * cost)

    lam = _tilt(lambda lam: mixtures.mean_cost(tree.parent, weights(lam), cost)[1], budget, 0.5, 0.0)
    nodes, jump = budget_walk(tree, charge, budget)
    log_z = mixtures.log_partition(tree.parent, weights(lam))
    chance = np.exp(weights(lam) - log_z)[nodes]
    spent = budget_dp.charge_probabilities(jump, charge[nodes], chance, budget)
    with np.errstate(divide="ignore"):
        terms = np.log(spent) + lam * np.arange(budget + 1)
    high = terms.max()
    return float(high + math.log(np.exp(terms - high).sum()) + log_z[0])


def _tilt(mean: Callable[[float], float], target: float, slack: float, least: float) -> float:
    """The parameter in [least, 60] at which the falling function `mean` is near `target`."""
    low, high = least, _STEEPEST
    if mean(low) <= target:
        return low
    for _ in range(40):
        middle = (low + high) / 2
        found = mean(middle)
        if abs(found - target) <= slack:
            return middle
        low, high = (middle, high) if found > target else (low, middle)
    return high


def _unpacked(packed: int, n_bytes: int, most: int) -> list[int]:
    raw = packed.to_bytes(n_bytes * (most + 2), "little")
    return [int.from_bytes(raw[n_bytes * j : n_bytes * (j + 1)], "little") for j in range(most + 1)]
