"""Cut the weakest link again and again (MCC0, MCC1).

The weakest link is the node whose cut adds least cost per leaf removed. Cutting it does not
change what any other node of the same ratio would add per leaf, so of a group of equal ratio
exactly the uppermost nodes are ever cut, and the whole run can be read off the penalties at
which the nodes collapse. Breiman et al. (1984); Bohanec and Bratko (1994).
"""

import numpy as np

from .._kernels import structure
from .._kernels.weakest_link import collapse_events, member_sums, nested_steps
from .._utils.arrays import ArrayLike
from ..core import PruningSequence, Sample, Tree, labels_of, node_cost, sample_usage_of
from ._provenance import cost_provenance, text_with_ties


def weakest_links(
    tree: Tree, counts: Sample | None, *, every_cut: bool = False, cost: ArrayLike | None = None
) -> PruningSequence:
    """Return the prunings reached by repeatedly cutting the weakest link, down to the root.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts, Moments or None
        They give the labels and, without `cost`, the errors; None if `cost` suffices.
    every_cut : bool
        True (MCC1): a member after each cut. False (MCC0): only if the next ratio is larger.
    cost : array, optional
        Cost of each node as a leaf. Where a cut lowers the cost, ratios start below zero.

    Returns
    -------
    PruningSequence
        Nested; every member has the least cost of its size. `alphas` are the ratios (added
        cost per leaf removed) of the last cut before each member; they never fall. Of equal
        ratios the node with most leaves now is cut first, then the first in pre-order. The
        uncut tree is no member, unless it is a single leaf.

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
        links = np.flatnonzero(owner == np.arange(tree.n_nodes))  # the nodes that are cut themselves
        order = links[np.lexsort((links, -size[links], steps[links]))]
        alphas = alphas[steps[order]]
        steps[order] = np.arange(len(order))
        steps = np.where(owner >= 0, steps[owner], 0).astype(np.int32)
    n_members = max(len(alphas), 1)
    provenance = cost_provenance(
        "weakest-links",
        counts,
        cost,
        costs,
        parameters={"every_cut": every_cut},
        alpha_unit="cost",
        text=text_with_ties("weakest links, every cut" if every_cut else "weakest links", costs),
    )
    return PruningSequence(
        tree,
        member_sums(tree.parent, steps, np.ones(tree.n_nodes, np.int64), n_members),
        member_sums(tree.parent, steps, costs, n_members),
        alphas=alphas if len(alphas) else np.zeros(1),
        steps=steps,
        node_labels=labels_of(counts),
        seen=sample_usage_of(tree, counts, cost=cost),
        provenance=provenance,
    )
