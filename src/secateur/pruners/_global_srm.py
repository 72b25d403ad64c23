"""Global structural risk minimisation: the pruning with the least errors / m + c * sqrt(size / m).

The published algorithm tabulates, for every number of errors d, the least size k_d of a pruning with at most d errors,
and minimises errors / m + c * sqrt(k_d / m) over d. This is the same as minimising this criterion over
all prunings. Its penalty is concave, so a member of the cost-complexity path is a minimiser, and no table is needed to
find it; `global_srm_table` returns the table itself. After Mansour's lecture notes on pruning.
"""

import math
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from .._kernels import size_dp
from .._kernels.weakest_link import member_sizes, member_sums, nested_path
from .._utils.arrays import ArrayLike, Bools, Floats, Longs, LongsOrFloats, write_protect
from ..core import Counts, Pruning, PruningSequence, Tree, cost_provenance, node_cost, sample_usage_of
from ..errors import CountsError, ParameterError, show


class SrmTable(NamedTuple):
    """The smallest pruning with at most d errors, for d = 0, 1, ..., errors of the root.

    `size[d]` is its size k_d (0: there is none), `errors[d]` the number of errors that it
    makes, at most d (-1: none) and `value[d]` the criterion errors / m + c * sqrt(size / m) (infinity: none).
    """

    size: Longs
    errors: Longs
    value: Floats


def global_srm(
    tree: Tree,
    counts: Counts | None,
    *,
    c: float = 1.0,
    size: Literal["nodes", "leaves"] = "nodes",
    cost: ArrayLike | None = None,
    n: int | None = None,
    route: Literal["path", "table"] = "path",
) -> Pruning:
    """Return the pruning that minimises errors / m + c * sqrt(size / m).

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts or None
        The sample of m rows. May be None if `cost` and `n` are given.
    c : float
        Weight of the penalty; the published rule has 1.
    size : "nodes" or "leaves"
        The size that the penalty is a function of; the published rule counts nodes.
    cost : array, optional
        Errors of each node as a leaf, or another cost in the same units.
    n : int, optional
        The number of rows m; the total of `counts` by default.
    route : "path" or "table"
        Two algorithms with the same result: the cost-complexity path, or the table of the best error of every size.

    Returns
    -------
    Pruning
        Of equal values (within 1e-12), the smallest pruning.

    Notes
    -----
    Mansour's notes, section 12.2.2.

    With the path, O(n_nodes log n_nodes) for any shape; with the table, the time of `best_of_size`.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> global_srm(tree, Counts.from_leaves(tree, [[90, 0], [0, 1], [0, 100]]))
    Pruning(2 of 3 leaves, cuts at 1)
    """
    costs, charge, total = _problem(tree, counts, c, size, cost, n)
    if route == "path":
        kept = _by_path(tree, costs, charge, c, total)
    elif route == "table":
        kept = _by_table(tree, costs, charge, c, total)
    else:
        raise ParameterError(f"route={show(route)}; 'path' or 'table' is needed")
    labels, seen = None if counts is None else counts.majority, sample_usage_of(tree, counts, cost=cost)
    provenance = cost_provenance(
        "global-srm",
        counts,
        cost,
        costs,
        parameters={"c": c, "size": size, "n": n, "route": route},
        text=f"global SRM, c = {c:g}, {size}",
    )
    return Pruning.from_cuts(tree, ~kept, node_labels=labels, seen=seen, provenance=provenance)


def global_srm_table(
    tree: Tree,
    counts: Counts | None,
    *,
    c: float = 1.0,
    size: Literal["nodes", "leaves"] = "nodes",
    cost: ArrayLike | None = None,
    n: int | None = None,
) -> SrmTable:
    """Return the least size of a pruning with at most d errors, for every d.

    Parameters
    ----------
    tree, counts, c, size, cost, n
        As for `global_srm`; costs must be whole numbers.

    Returns
    -------
    SrmTable
        Entries d = 0 to the errors of the root.

    Notes
    -----
    Mansour's notes, section 12.2.2.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> global_srm_table(tree, Counts.from_leaves(tree, [[1, 0], [0, 1]])).size.tolist()
    [3, 1]
    """
    costs, charge, total = _problem(tree, counts, c, size, cost, n)
    table, indices = _record_sizes(tree, costs, charge)
    sizes, best = 1 + indices * table.unit, table.best[indices]
    position = np.searchsorted(best, np.arange(int(costs[0]) + 1), side="right") - 1
    min_size = np.where(position >= 0, sizes[position], 0)
    errors = np.where(position >= 0, best[position], -1)
    value = np.where(position >= 0, errors / total + c * np.sqrt(min_size / total), np.inf)
    return SrmTable(write_protect(min_size), write_protect(errors), write_protect(value))


def global_srm_prunings(
    tree: Tree,
    counts: Counts | None,
    *,
    size: Literal["nodes", "leaves"] = "nodes",
    cost: ArrayLike | None = None,
) -> PruningSequence:
    """Return the prunings behind `global_srm_table`: the smallest with at most d errors, for every d.

    Parameters
    ----------
    tree, counts, size, cost
        As for `global_srm_table`.

    Returns
    -------
    PruningSequence
        The different prunings, from the fewest errors to the most. The pruning for d errors is the last member with at
        most d errors. The members need not be nested.

    Notes
    -----
    Mansour's notes, section 12.2.2.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> prunings = global_srm_prunings(tree, Counts.from_leaves(tree, [[1, 0], [0, 1]]))
    >>> prunings.errors.tolist(), [pruning.n_leaves for pruning in prunings]
    ([0, 1], [2, 1])
    """
    costs, charge, _ = _problem(tree, counts, 1.0, size, cost, 1 if counts is None else None)
    table, indices = _record_sizes(tree, costs, charge)
    rebuild = partial(table.leaves, indices)
    n_leaves = np.array([np.count_nonzero(rebuild(i)) for i in range(len(indices))])
    labels = None if counts is None else counts.majority
    provenance = cost_provenance(
        "global-srm",
        counts,
        cost,
        costs,
        parameters={"size": size, "is_table": True},
        text=f"smallest within d errors, {size}",
    )
    return PruningSequence(
        tree,
        n_leaves,
        table.best[indices],
        rebuild=rebuild,
        node_labels=labels,
        seen=sample_usage_of(tree, counts, cost=cost),
        nested=False,
        provenance=provenance,
    )


def _record_sizes(tree: Tree, costs: LongsOrFloats, charge: Longs) -> tuple[size_dp.SizeTable, Longs]:
    """Return the best cost of every size, and the indices of sizes that beat every smaller one, fewest errors first."""
    if costs.dtype.kind != "i":
        raise ParameterError(
            f"the table is indexed by numbers of errors; the costs are {costs.dtype}, whole numbers are needed "
            "(global_srm itself takes any cost)"
        )
    table = size_dp.best_by_size(tree.parent, tree.end, charge, costs, int(charge.sum()))
    indices = table.indices
    best = table.best[indices]
    is_record = np.append(True, best[1:] < np.minimum.accumulate(best)[:-1])
    return table, indices[is_record][::-1]


def _problem(
    tree: Tree, counts: Counts | None, c: float, size: str, cost: ArrayLike | None, n: int | None
) -> tuple[LongsOrFloats, Longs, float]:
    """Return the cost of each node as a leaf, what keeping it as a test adds to the size, and m; check parameters."""
    costs = node_cost(tree, counts, cost)
    if not (math.isfinite(c) and c >= 0):
        raise ParameterError(f"c={c}; a finite number of 0 or more is needed")
    if size not in ("nodes", "leaves"):
        raise ParameterError(f"size={show(size)}; 'nodes' or 'leaves' is needed")
    if n is not None and not n > 0:
        raise ParameterError(f"n={n}; a positive number of rows is needed")
    if n is None and counts is None:
        raise ParameterError("n is None and there are no counts; pass the number of rows behind the costs as n")
    total = float(counts.total[0]) if n is None and counts is not None else float(n or 0)
    if total == 0 and counts is not None:
        raise CountsError(f"sample {show(counts.sample)} is empty; the criterion divides by its size")
    arity = tree.arity.astype(np.int64)
    return costs, arity if size == "nodes" else np.maximum(arity - 1, 0), total


def _by_path(tree: Tree, costs: LongsOrFloats, charge: Longs, c: float, total: float) -> Bools:
    """Return the nodes that the best member of the cost-complexity path keeps."""
    steps, alphas = nested_path(tree.parent, charge, costs)
    errors, sizes = member_sums(tree.parent, steps, costs, len(alphas)), member_sizes(steps, charge, len(alphas))
    best_member = len(alphas) - 1 - _argmin(errors[::-1], sizes[::-1], c, total)
    kept: Bools = steps > best_member
    return kept


def _by_table(tree: Tree, costs: LongsOrFloats, charge: Longs, c: float, total: float) -> Bools:
    """Return the nodes that the best pruning of all sizes keeps."""
    table = size_dp.best_by_size(tree.parent, tree.end, charge, costs, int(charge.sum()))
    indices = table.indices
    return table.kept(indices[_argmin(table.best[indices], 1 + indices * table.unit, c, total)])


def _argmin(errors: LongsOrFloats, sizes: Longs, c: float, total: float) -> int:
    """Return the first position with the least criterion; sizes rise, so it is the smallest such size."""
    value = errors / total + c * np.sqrt(sizes / total)
    return int(np.flatnonzero(value <= value.min() * (1 + 1e-12))[0])
