"""The best pruning of every size (OPT).

For every number of leaves that some pruning has, the sequence holds the pruning with the least cost. Sizes that no
pruning has are absent: if the test at the root has three branches, no pruning has two leaves. The members need not be
nested.
Bohanec and Bratko (1994); Almuallim (1996).
"""

from functools import partial

import numpy as np

from .._kernels import size_dp
from .._utils.arrays import ArrayLike, write_protect
from ..core import (
    PruningSequence,
    Sample,
    Tree,
    cost_result_fields,
    node_cost,
    text_with_ties,
)
from ..errors import ParameterError, show

MAX_TABLE_BYTES = 1 << 33  # 8 GB


def best_of_size(
    tree: Tree,
    counts: Sample | None,
    *,
    max_leaves: int | None = None,
    cost: ArrayLike | None = None,
    monotone: bool = False,
) -> PruningSequence:
    """Return the pruning with the lowest cost for every number of leaves.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts, Moments or None
        The sample that determines the labels and, without `cost`, the errors to minimise. May be None if `cost` is
        given; the members then have no classes.
    max_leaves : int, optional
        Largest number of leaves of a member; by default, that of the tree. Larger prunings are neither computed nor
        returned.
    cost : array, optional
        Cost of each node as a leaf: held-out errors, `m_estimate`, losses, squared errors.
    monotone : bool
        Whether there is one member for *every* number of leaves j: the largest pruning among those of least cost with
        at most j leaves. `n_leaves` is then the limit j, and a member may have fewer leaves.

    Returns
    -------
    PruningSequence
        Largest first; `errors` is the least cost of each size. Of equally good prunings, the one that keeps the first
        node, in pre-order, in which they differ. Whole-number costs are compared exactly, real ones within 1e-12
        of the largest cost. A member is rebuilt from a table when it is used.

    Notes
    -----
    Bohanec and Bratko (1994), section 3, Figure 7 (OPT); Garcia-Moratilla, Martinez-Munoz and Suarez (2006),
    Figure 1.

    For trees as growers make them, time and memory are about proportional to the sum of the sizes of all subtrees,
    nearly linear in the number of nodes. For a tree of any shape, the memory is at most one bit for each pair of a test
    and a size.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0, 0, 1, 1])
    >>> counts = Counts.from_leaves(tree, [[2, 0], [0, 1], [3, 0], [0, 2]])
    >>> sequence = best_of_size(tree, counts)
    >>> sequence.n_leaves.tolist(), sequence.errors.tolist()
    ([4, 3, 1], [0, 1, 3])
    >>> sequence.with_leaves(3)
    Pruning(3 of 4 leaves, cuts at 1)
    """
    costs = node_cost(tree, counts, cost)
    if max_leaves is not None and not (isinstance(max_leaves, (int, np.integer)) and max_leaves >= 1):
        raise ParameterError(
            f"max_leaves={show(max_leaves)}; a whole number of 1 or more, or None for all sizes, is needed"
        )
    limit = tree.n_leaves - 1 if max_leaves is None else min(int(max_leaves), tree.n_leaves) - 1
    added_leaves = np.maximum(tree.arity.astype(np.int64) - 1, 0)  # by keeping each node as a test
    n_bytes = len(tree.internal) * (limit + 1) // 8  # one bit for each test and size: an upper limit
    if n_bytes > MAX_TABLE_BYTES:
        n_bytes = size_dp.bytes_needed(tree.parent, tree.end, added_leaves, limit)
    if n_bytes > MAX_TABLE_BYTES:
        raise ParameterError(
            f"all sizes up to {limit + 1:,} of {tree} need about {n_bytes / 1e9:.0f} GB; pass a smaller max_leaves"
        )
    table = size_dp.best_by_size(tree.parent, tree.end, added_leaves, costs, limit)
    indices = table.indices
    sizes = 1 + indices * table.unit
    if monotone:
        best = table.best[indices]
        is_record = best <= np.minimum.accumulate(best)
        all_sizes = np.arange(1, limit + 2)
        source = np.searchsorted(sizes[is_record], all_sizes, side="right") - 1
        indices, sizes = indices[is_record][source], all_sizes
    indices = write_protect(indices[::-1].copy())
    parameters = {"max_leaves": max_leaves, "monotone": monotone}
    text = text_with_ties("best of size", costs)
    fields = cost_result_fields("best-of-size", tree, counts, cost, costs, parameters=parameters, text=text)
    return PruningSequence(
        tree,
        sizes[::-1],
        table.best[indices],
        rebuild=partial(table.leaves, indices),
        nested=len(indices) <= 2,  # the last member is the root alone, which lies within every pruning
        **fields,
    )
