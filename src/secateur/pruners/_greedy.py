"""Cut the node that adds the least cost, again and again (GREEDY).

The prunings are close to the best of each size on most trees, but without a guarantee. The rule is the baseline with
which the optimal sequence is compared. Bohanec and Bratko (1994).
"""

import numpy as np

from .._kernels import structure
from .._kernels.greedy import greedy_cuts, removal_steps
from .._kernels.weakest_link import member_sums
from .._utils.arrays import ArrayLike
from ..core import (
    RELATIVE_TOLERANCE,
    PruningSequence,
    Sample,
    Tree,
    cost_result_fields,
    excess_cost,
    node_cost,
    text_with_ties,
)


def greedy(tree: Tree, counts: Sample | None, *, cost: ArrayLike | None = None) -> PruningSequence:
    """Return the prunings reached by repeatedly cutting the node that raises the cost least.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts, Moments or None
        The sample that determines the labels and, without `cost`, the errors. May be None if `cost` is given.
    cost : array, optional
        Cost of each node as a leaf.

    Returns
    -------
    PruningSequence
        One member for each cut, down to the root; the members are nested. Of nodes that add the same cost, the one with
        the most leaves below it at that moment is cut first, then the first in pre-order. Costs that are not whole
        numbers are tied if they differ by at most 1e-12 of the largest cost. A tree of one leaf is the only member of
        its sequence.

    Notes
    -----
    Bohanec and Bratko (1994), section 4.2 (GREEDY).

    O(n_nodes log^2 n_nodes) for any shape.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = greedy(tree, Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]]))
    >>> sequence.n_leaves.tolist(), sequence.errors.tolist(), sequence[0].cuts.tolist()
    ([2, 1], [1, 9], [1])
    """
    costs = node_cost(tree, counts, cost)
    n_leaves = structure.sum_upwards(tree.parent, tree.is_leaf.astype(np.int64)[:, None])[:, 0].astype(np.int64)
    slack = costs.dtype.type(0 if costs.dtype.kind == "i" else RELATIVE_TOLERANCE * costs.max())
    cuts = greedy_cuts(tree.parent, excess_cost(tree, costs), n_leaves, slack)
    steps = removal_steps(tree.parent, n_leaves, cuts)
    n_members = max(len(cuts), 1)
    return PruningSequence(
        tree,
        member_sums(tree.parent, steps, np.ones(tree.n_nodes, np.int64), n_members),
        member_sums(tree.parent, steps, costs, n_members),
        steps=steps,
        **cost_result_fields("greedy", tree, counts, cost, costs, text=text_with_ties("greedy", costs)),
    )
