"""The family of prunings that minimise cost + alpha * penalty(size), for every alpha.

The penalty "leaves" is *additive*: each node that is kept adds a fixed number to it. Its family is unique and nested,
and one number per node represents it: the alpha at which the node becomes a leaf. All members of the family of a
*concave* penalty (square root, logarithm) belong to the additive family too. Any other penalty needs the best cost of
every size. Its family may contain other prunings and need not be nested, as `PruningSequence.nested` states. Breiman et
al. (1984); Scott (2005); Garcia-Moratilla, Martinez-Munoz and Suarez (2006).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from .._kernels import size_dp, structure
from .._kernels.size_dp import SizeTable
from .._kernels.weakest_link import lower_envelope, member_sizes, member_sums, nested_path
from .._utils.arrays import ArrayLike, Floats, Longs, LongsOrFloats, write_protect
from .._utils.checks import check_name
from ..core import (
    PruningSequence,
    Sample,
    Tree,
    cost_result_fields,
    node_cost,
    text_with_ties,
)
from ..errors import ParameterError, show

Penalty = Literal["leaves", "sqrt", "log"] | Callable[[Any], Any]
_PENALTY_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"leaves": np.asarray, "sqrt": np.sqrt, "log": np.log}


def cost_complexity(
    tree: Tree,
    counts: Sample | None,
    *,
    penalty: Penalty = "leaves",
    size: Literal["leaves", "nodes"] = "leaves",
    cost: ArrayLike | None = None,
) -> PruningSequence:
    """Return the smallest minimiser of cost + alpha * penalty(size) for every alpha >= 0.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts, Moments or None
        The sample that determines the labels and, without `cost`, the errors. May be None if `cost` is given.
    penalty : "leaves", "sqrt", "log" or callable
        "leaves" is the size itself, the classical rule. A callable takes sizes (an array, or
        one number) and returns penalties, strictly increasing from 1 to the size of the tree.
    size : "leaves" or "nodes"
        The size that the penalty is a function of. The two differ where tests have unequal numbers of branches.
    cost : array, optional
        Cost of each node as a leaf: impurities, held-out errors, losses, squared errors.

    Returns
    -------
    PruningSequence
        The different minimisers. `alphas` holds the least alpha at which each is chosen, in units of cost (errors, not
        rates), starting with 0. The first member is the smallest pruning of least cost, which has no useless tests.
        Of minimisers of one size, the one that keeps the first node, in pre-order, in which they differ.

    Notes
    -----
    Garcia-Moratilla, Martinez-Munoz and Suarez (2006), section 2, equations 1 to 3.

    For penalties that are concave at 1, 2, 3, ... (which is checked): O(n_nodes log n_nodes) for any shape of tree, and
    nested. For other penalties: the time of `best_of_size`, and `nested` is computed. Ratios of whole numbers compare
    exactly, real ones within 1e-12.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> counts = Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]])
    >>> path = cost_complexity(tree, counts)
    >>> path.n_leaves.tolist(), path.alphas.tolist()
    ([3, 2, 1], [0.0, 1.0, 8.0])
    >>> cost_complexity(tree, counts, penalty="sqrt").n_leaves.tolist()
    [3, 2, 1]
    """
    charge = _charges(tree, size)
    values = _penalty_values(penalty, 1 + int(charge.sum()))
    parameters = _parameters(penalty, size)
    costs = node_cost(tree, counts, cost)
    text = text_with_ties("cost-complexity", costs)
    fields = cost_result_fields(
        "cost-complexity", tree, counts, cost, costs, parameters=parameters, alpha_unit="cost", text=text
    )
    if values is not None and not _is_concave(values):
        table = size_dp.best_by_size(tree.parent, tree.end, charge, costs, int(charge.sum()))
        indices = _indices_from_least_cost(table)
        members, alphas = lower_envelope(values[indices * table.unit], table.best[indices])
        return _sequence_of_table(tree, table, indices[members], alphas, fields)
    steps, alphas = nested_path(tree.parent, charge, costs)
    errors = member_sums(tree.parent, steps, costs, len(alphas))
    if penalty != "leaves":  # the members of a concave penalty are among these
        sizes = member_sizes(steps, charge, len(alphas))
        penalties = _PENALTY_FUNCTIONS[str(penalty)](sizes) if values is None else values[sizes - 1]
        members, alphas = lower_envelope(penalties, errors)
        steps, errors = np.searchsorted(members, steps).astype(np.int32), errors[members]
    n_leaves = member_sums(tree.parent, steps, np.ones(tree.n_nodes, np.int64), len(alphas))
    return PruningSequence(tree, n_leaves, errors, alphas=alphas, steps=steps, **fields)


def printed_cost_complexity(
    tree: Tree,
    counts: Sample | None,
    *,
    penalty: Penalty = "leaves",
    size: Literal["leaves", "nodes"] = "leaves",
    cost: ArrayLike | None = None,
) -> PruningSequence:
    """Return the family that the algorithm published in 2006 computes, for comparison only.

    Parameters
    ----------
    tree, counts, penalty, size, cost
        As for `cost_complexity`.

    Returns
    -------
    PruningSequence
        The algorithm moves from size to size, each time to a smaller size with the least ratio of added cost to saved
        penalty. If several sizes have the least ratio, the definition requires the smallest of them, but the printed
        algorithm takes the *largest*. Alphas may therefore repeat, and some members minimise the penalised cost for no
        alpha, or only for a single one. Use `cost_complexity` instead.

    Notes
    -----
    Garcia-Moratilla, Martinez-Munoz and Suarez (2006), Figure 2.

    The time of `best_of_size`, then O(sizes) per member.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0, 2, 2])
    >>> counts = Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 1]])
    >>> path = printed_cost_complexity(tree, counts)
    >>> path.n_leaves.tolist(), path.alphas.tolist()
    ([3, 2, 1], [0.0, 1.0, 1.0])
    >>> cost_complexity(tree, counts).n_leaves.tolist()
    [3, 1]
    """
    costs = node_cost(tree, counts, cost)
    charge = _charges(tree, size)
    largest = 1 + int(charge.sum())
    values = _penalty_values(penalty, largest)
    if values is None:
        values = _PENALTY_FUNCTIONS[str(penalty)](np.arange(1, largest + 1))
    table = size_dp.best_by_size(tree.parent, tree.end, charge, costs, largest - 1)
    indices = _indices_from_least_cost(table)
    best, penalties = table.best[indices], values[indices * table.unit]
    members, alphas = [0], [0.0]
    while members[-1] < len(indices) - 1:
        k = members[-1]
        ratios = (best[k + 1 :] - best[k]) / (penalties[k] - penalties[k + 1 :])
        is_least = ratios <= ratios.min() + size_dp.RELATIVE_TOLERANCE * abs(ratios.min())
        members.append(k + 1 + int(np.flatnonzero(is_least)[0]))
        alphas.append(float(ratios.min()))
    parameters = _parameters(penalty, size) | {"is_printed": True}
    text = "cost-complexity as printed (not the family: equal ratios are listed one by one)"
    fields = cost_result_fields(
        "cost-complexity", tree, counts, cost, costs, parameters=parameters, alpha_unit="cost", text=text
    )
    return _sequence_of_table(tree, table, indices[members], np.array(alphas), fields, is_family=False)


def _parameters(penalty: Penalty, size: str) -> dict[str, str]:
    """Return the parameters of a call as text; a penalty that is a function is named "function"."""
    return {"penalty": penalty if isinstance(penalty, str) else "function", "size": size}


def _charges(tree: Tree, size: str) -> Longs:
    """Return by how much the size of a pruning grows if each node is kept as a test; 0 at leaves."""
    if size not in ("leaves", "nodes"):
        raise ParameterError(f"size={show(size)}; 'leaves' or 'nodes' is needed")
    return tree.arity.astype(np.int64) if size == "nodes" else structure.added_leaves(tree.parent)


def _penalty_values(penalty: Penalty, largest: int) -> LongsOrFloats | None:
    """Return the checked penalty of the sizes 1, ..., `largest`; None for the named penalties, which need no check."""
    if not callable(penalty):
        check_name("penalty", penalty, _PENALTY_FUNCTIONS, alternative=" or a function")
        return None
    sizes = np.arange(1, largest + 1)
    try:
        values = np.asarray(penalty(sizes))
    except (TypeError, ValueError):  # the function takes one number at a time
        values = np.asarray(None)
    if values.shape != sizes.shape:
        try:
            values = np.array([penalty(j) for j in range(1, largest + 1)])
        except (TypeError, ValueError) as error:
            raise ParameterError(f"penalty fails for a size ({error}); one number per size is needed") from error
    if values.shape != sizes.shape or values.dtype.kind not in "iufO":
        raise ParameterError(f"penalty returns {values.dtype} of shape {values.shape}; one number per size is needed")
    values = values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)
    invalid = np.flatnonzero(~np.isfinite(values))
    if len(invalid):
        raise ParameterError(f"penalty({invalid[0] + 1}) is {values[invalid[0]]}; a finite number is needed")
    not_rising = np.flatnonzero(~(np.diff(values) > 0))
    if len(not_rising):
        j = int(not_rising[0]) + 1
        raise ParameterError(
            f"penalty({j}) = {values[j - 1]:g} and penalty({j + 1}) = {values[j]:g}; "
            f"a penalty must rise with every size from 1 to {largest}"
        )
    return values


def _is_concave(values: LongsOrFloats) -> bool:
    """Return whether no step is larger than the one before it, apart from rounding."""
    second_difference = np.diff(values, n=2)
    slack = 0 if values.dtype.kind == "i" else 8 * np.finfo(float).eps * np.abs(values[2:])
    return bool((second_difference <= slack).all())


def _indices_from_least_cost(table: SizeTable) -> Longs:
    """Return the indices of a table from the smallest size of least cost down to size 1."""
    indices = table.indices
    best = table.best[indices]
    slack = 0 if best.dtype.kind == "i" else size_dp.RELATIVE_TOLERANCE * float(best.max())
    first = int(np.flatnonzero(best <= best.min() + slack)[0])
    return indices[first::-1]


def _sequence_of_table(
    tree: Tree, table: SizeTable, indices: Longs, alphas: Floats, fields: dict[str, Any], *, is_family: bool = True
) -> PruningSequence:
    """Return the sequence of the prunings at some indices of a table.

    With `is_family=False` the sequence is stored as one that is not nested, without a check of its members.
    """
    steps = np.zeros(tree.n_nodes, np.int32)
    kept_before, is_nested = ~tree.is_leaf, is_family
    n_leaves = np.empty(len(indices), np.int64)
    for i, index in enumerate(indices):
        kept = table.kept(index)
        is_nested = is_nested and not (kept & ~kept_before).any()
        steps += kept
        n_leaves[i] = 1 + (tree.arity[kept] - 1).sum()
        kept_before = kept
    if is_nested:
        return PruningSequence(tree, n_leaves, table.best[indices], alphas=alphas, steps=steps, **fields)
    rebuild = partial(table.leaves, write_protect(indices))
    return PruningSequence(tree, n_leaves, table.best[indices], alphas=alphas, rebuild=rebuild, nested=False, **fields)
