"""Cut the weakest link again and again (MCC0, MCC1).

The weakest link is the node with the least ratio: the cost that its cut adds, per leaf that the cut removes. If several
nodes have the least ratio, cutting one of them does not change the ratio of the others. So the topmost nodes of the
group are cut, whatever the order, and the nodes below them disappear. One pass over the ratios at which the nodes
collapse therefore gives all cuts. Breiman et al. (1984); Bohanec and Bratko (1994).
"""

import numpy as np

from .._kernels import structure
from .._kernels.weakest_link import collapse_events, member_sums, nested_steps
from .._utils.arrays import ArrayLike
from ..core import (
    PruningSequence,
    Sample,
    Tree,
    cost_result_fields,
    node_cost,
    text_with_ties,
)


def weakest_links(
    tree: Tree, counts: Sample | None, *, every_cut: bool = False, cost: ArrayLike | None = None
) -> PruningSequence:
    """Return the prunings reached by repeatedly cutting the weakest link, down to the root.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts, Moments or None
        The sample that determines the labels and, without `cost`, the errors. May be None if `cost` is given.
    every_cut : bool
        If True (MCC1), there is a member after each cut; if False (MCC0), only where the next ratio is larger.
    cost : array, optional
        Cost of each node as a leaf. If a cut lowers the cost, the ratios start below zero.

    Returns
    -------
    PruningSequence
        Nested; every member has the least cost of its size. `alphas` are the ratios (cost added per leaf removed) of
        the last cut before each member; they never fall. Of nodes of equal ratio, the one whose cut removes most
        leaves is cut first, then the first in pre-order. The uncut tree is no member, unless it is a single leaf.

    Notes
    -----
    Bohanec and Bratko (1994), section 4.3 (MCC1 and MCC0).

    O(n_nodes log n_nodes) for any shape; ratios of whole numbers compare exactly, real
    ones within 1e-12.

    Examples
    --------
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = weakest_links(tree, Counts.from_leaves(tree, [[9, 0], [0, 1], [0, 10]]))
    >>> sequence.n_leaves.tolist(), sequence.alphas.tolist()
    ([2, 1], [1.0, 8.0])
    """
    costs = node_cost(tree, counts, cost)
    gain, size, owner = collapse_events(tree.parent, structure.added_leaves(tree.parent), costs)
    steps, alphas = nested_steps(gain, size, owner, includes_useless=True)
    if every_cut:
        cut_nodes = np.flatnonzero(owner == np.arange(tree.n_nodes))  # other nodes are removed with an ancestor
        order = cut_nodes[np.lexsort((cut_nodes, -size[cut_nodes], steps[cut_nodes]))]
        alphas = alphas[steps[order]]
        steps[order] = np.arange(len(order))
        steps = np.where(owner >= 0, steps[owner], 0).astype(np.int32)
    n_members = max(len(alphas), 1)
    text = text_with_ties("weakest links, every cut" if every_cut else "weakest links", costs)
    parameters = {"every_cut": every_cut}
    fields = cost_result_fields(
        "weakest-links", tree, counts, cost, costs, parameters=parameters, alpha_unit="cost", text=text
    )
    return PruningSequence(
        tree,
        member_sums(tree.parent, steps, np.ones(tree.n_nodes, np.int64), n_members),
        member_sums(tree.parent, steps, costs, n_members),
        alphas=alphas if len(alphas) else np.zeros(1),
        steps=steps,
        **fields,
    )
