"""The number of prunings of a tree: of all, of each size, or of those within a number of growing errors.

Logarithms come from one backwards pass. Where a table of numbers would span thousands of powers of ten, prunings are
weighted so that the entry in question is a likely one. The table becomes a table of probabilities, and the weight is
divided out at the end.
"""

import math
from collections.abc import Callable
from typing import Literal, overload

import numpy as np

from .._kernels import budget_dp, mixtures
from .._utils.arrays import Floats, Longs
from ..core import Counts, Tree, excess_cost
from ..errors import ParameterError, show
from ._checks import budget_walk, check_budget

MAX_WEIGHT_EXPONENT = 60.0  # with weight exp(-60) per unit, one unit more is practically impossible
MAX_BISECTION_STEPS = 40


@overload
def count_prunings(tree: Tree, *, log: Literal[False] = False, labels: int = 1, relabel: bool = False) -> int: ...
@overload
def count_prunings(tree: Tree, *, log: Literal[True], labels: int = 1, relabel: bool = False) -> float: ...
def count_prunings(tree: Tree, *, log: bool = False, labels: int = 1, relabel: bool = False) -> int | float:
    """Return the number of prunings of a tree, or its natural logarithm.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    log : bool
        Whether to return ln of the number, with a relative error below 1e-12, in one pass over the nodes.
    labels : int
        Number of labels that a cut may have: 1 if labels are fixed, else the number of classes.
    relabel : bool
        Whether the leaves of the grown tree may have any label, too.

    Returns
    -------
    int or float
        The exact number, as a Python integer of any length; 1 for a single leaf with a fixed label.

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
        raise ParameterError(f"labels={show(labels)}; the number of labels to choose from, 1 or more, is needed")
    at_leaf = int(labels) if relabel else 1
    if log:
        log_own_labels = np.where(tree.is_leaf, math.log(at_leaf), math.log(labels))
        return float(mixtures.log_partition(tree.parent, log_own_labels)[0])
    return _count_exactly(tree, at_leaf, int(labels))


@overload
def count_prunings_by_size(tree: Tree, *, log: Literal[False] = False) -> list[int]: ...
@overload
def count_prunings_by_size(tree: Tree, *, log: Literal[True]) -> Floats: ...
def count_prunings_by_size(tree: Tree, *, log: bool = False) -> list[int] | Floats:
    """Return the number of prunings with j leaves for j = 0, 1, ..., n_leaves.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    log : bool
        Whether to return natural logarithms (-inf if there is no such pruning).

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
    # Each polynomial is one integer: coefficient j is in its j-th block of bytes.
    n_bytes = count_prunings(tree).bit_length() // 8 + 1
    x = 1 << (8 * n_bytes)
    return _unpack(_count_exactly(tree, x, x), n_bytes, tree.n_leaves)


@overload
def count_prunings_within(tree: Tree, grown: Counts, k: int, *, log: Literal[False] = False) -> int: ...
@overload
def count_prunings_within(tree: Tree, grown: Counts, k: int, *, log: Literal[True]) -> float: ...
def count_prunings_within(tree: Tree, grown: Counts, k: int, *, log: bool = False) -> int | float:
    """Return the number of prunings with at most `k` growing errors, labels from the growing sample.

    Parameters
    ----------
    tree : Tree
        The grown tree.
    grown : Counts
        Integer counts of the growing sample.
    k : int
        The greatest number of growing errors.
    log : bool
        Whether to return the natural logarithm (-inf if there is no such pruning).

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
    if grown.has_integer_weights and k < errors[tree.is_leaf].sum():
        return -math.inf if log else 0
    budget = check_budget(grown, k, "the number of prunings within k")
    charge = excess_cost(tree, errors)
    if budget >= charge[0]:  # the cut at the root adds most errors, so all prunings are within k
        return count_prunings(tree, log=True) if log else count_prunings(tree)
    if log:
        return _log_count_within(tree, charge, budget)
    nodes, jump = budget_walk(tree, charge, budget)
    slot, n_slots = budget_dp.assign_row_slots(jump)
    n_bytes = count_prunings(tree).bit_length() // 8 + 1
    width = 8 * n_bytes
    mask = (1 << (width * (budget + 1))) - 1
    rows = [1] * n_slots
    for i in range(len(jump) - 1, -1, -1):
        with_cut = (rows[slot[jump[i]]] << (width * int(charge[nodes[i]]))) & mask
        rows[slot[i]] = rows[slot[i + 1]] + with_cut
    return sum(_unpack(rows[slot[0]], n_bytes, budget))


def log_count_of_size(tree: Tree, n_leaves: int) -> float:
    """Return ln of the number of prunings with exactly `n_leaves` leaves.

    This takes about O(n_nodes) on bushy trees, where each subtree has few likely sizes.
    """
    ones = np.ones(tree.n_nodes)

    def mean_size(mu: float) -> float:
        return mixtures.mean_cost(tree.parent, -mu * ones, ones)[1]

    mu = _find_weight(mean_size, n_leaves, 0.5, -MAX_WEIGHT_EXPONENT)
    log_z = mixtures.log_partition(tree.parent, -mu * ones)
    largest_size, probabilities = mixtures.size_probabilities(tree.parent, np.exp(-mu - log_z), 1e-30)
    index = largest_size - n_leaves
    if 0 <= index < len(probabilities) and probabilities[index] > 1e-12:
        return float(math.log(probabilities[index]) + log_z[0] + mu * n_leaves)
    # No weight makes this size likely: the numbers of prunings are not log-concave here.
    return float(mixtures.log_counts_by_size(tree.parent, n_leaves)[n_leaves])


def _count_exactly(tree: Tree, at_leaf: int, at_cut: int) -> int:
    """Return N(root), where N(v) is `at_leaf` for leaves, else `at_cut` + product of N over the children of v."""
    product_of_children: list[int | None] = [None] * tree.n_nodes  # None: no child was visited yet
    number = at_leaf
    for v, parent in zip(range(tree.n_nodes - 1, -1, -1), tree.parent[::-1].tolist(), strict=True):
        product = product_of_children[v]
        number = at_leaf if product is None else at_cut + product
        product_of_children[v] = None  # long integers are released as soon as possible
        if parent >= 0:
            product_so_far = product_of_children[parent]
            product_of_children[parent] = number if product_so_far is None else product_so_far * number
    return number


def _log_count_within(tree: Tree, charge: Longs, budget: int) -> float:
    """Return ln of the number of prunings whose cuts add at most `budget` growing errors."""
    exceeds_budget = ~tree.is_leaf & (charge > budget)
    cost = np.where(tree.is_leaf | exceeds_budget, 0, charge).astype(np.float64)

    def log_weights(lam: float) -> Floats:
        return np.where(exceeds_budget, -np.inf, -lam * cost)

    def mean_charge(lam: float) -> float:
        return mixtures.mean_cost(tree.parent, log_weights(lam), cost)[1]

    lam = _find_weight(mean_charge, budget, 0.5, 0.0)
    nodes, jump = budget_walk(tree, charge, budget)
    log_z = mixtures.log_partition(tree.parent, log_weights(lam))
    cut_probability = np.exp(log_weights(lam) - log_z)[nodes]
    probability_of_charge = budget_dp.charge_probabilities(jump, charge[nodes], cut_probability, budget)
    with np.errstate(divide="ignore"):
        log_terms = np.log(probability_of_charge) + lam * np.arange(budget + 1)
    largest = log_terms.max()
    return float(largest + math.log(np.exp(log_terms - largest).sum()) + log_z[0])


def _find_weight(mean: Callable[[float], float], target: float, tolerance: float, lowest: float) -> float:
    """Return the parameter in [lowest, 60] at which the decreasing function `mean` is near `target`, by bisection."""
    low, high = lowest, MAX_WEIGHT_EXPONENT
    if mean(low) <= target:
        return low
    for _ in range(MAX_BISECTION_STEPS):
        middle = (low + high) / 2
        value = mean(middle)
        if abs(value - target) <= tolerance:
            return middle
        low, high = (middle, high) if value > target else (low, middle)
    return high  # pragma: no cover: 40 halvings reach the tolerance


def _unpack(packed: int, n_bytes: int, last: int) -> list[int]:
    """Return the coefficients 0 to `last` of a polynomial that is packed into one integer."""
    raw = packed.to_bytes(n_bytes * (last + 2), "little")
    return [int.from_bytes(raw[n_bytes * j : n_bytes * (j + 1)], "little") for j in range(last + 1)]
