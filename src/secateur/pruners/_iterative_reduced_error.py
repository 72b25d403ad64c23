"""Iterative reduced error pruning: always make the cut that lowers the held-out errors most.

Some texts describe "reduced error pruning" as this hill climb. It is not optimal, and is included for comparison:
`reduced_error` never makes more errors.

One sort of the gains is enough. An ancestor of the best cut has a strictly smaller gain (in a tie the ancestor, whose
subtree is larger, would be cut first). The cut subtracts its own gain from the gains of all ancestors, which become
negative, so no ancestor is cut later. All other gains stay the same.
"""

from typing import Literal

import numpy as np

from .._kernels.bottom_up import first_cuts
from .._utils.arrays import Ints, LongsOrFloats
from ..core import Counts, LabelRule, Pruning, RuleProvenance, SampleUsage, Tree, excess_cost, leaf_labels
from ..errors import ParameterError, show


def iterative_reduced_error(
    tree: Tree,
    grown: Counts,
    holdout: Counts,
    *,
    labels: LabelRule = "grow",
    original: Literal["fixed", "relabel"] = "fixed",
    stop: Literal["raises", "no-gain"] = "raises",
) -> Pruning:
    """Return the pruning reached by repeatedly making the cut that removes the most held-out errors.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    grown, holdout : Counts
        The growing sample determines the labels of the nodes, the held-out sample decides where to cut.
    labels, original
        As for `reduced_error`.
    stop : "raises" or "no-gain"
        "raises" stops when every further cut would raise the errors, "no-gain" already when none would lower them.

    Returns
    -------
    Pruning
        The result is in general not the best pruning (see Examples), although no further single cut would lower its
        errors. With `labels="prune", original="relabel"` it is the best. Of cuts that lower the errors equally, the one
        with the most leaves below it is made first, then the first in pre-order.

    Notes
    -----
    Elomaa and Kaariainen (2001), section 2.1.

    O(n_nodes log n_nodes) for any shape of tree. Whole-number errors are compared exactly. Weighted errors count as
    equal within 1e-12 of the weight of the sample, as the `note` of the result states.

    Examples
    --------
    Two cuts below the root would leave one error. But a cut at the root lowers the errors by three, and each of these
    cuts by two only.

    >>> from secateur import Counts, Tree
    >>> from secateur.pruners import reduced_error
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0, 4, 4])
    >>> grown = Counts.from_leaves(tree, [[2, 0], [0, 1], [0, 3], [1, 0]])
    >>> holdout = Counts.from_leaves(tree, [[0, 1], [2, 0], [0, 0], [0, 2]], sample="prune")
    >>> pruning = iterative_reduced_error(tree, grown, holdout)
    >>> pruning, pruning.errors(holdout)
    (Pruning(1 of 4 leaves, cuts at 0), 2)
    >>> reduced_error(tree, grown, holdout).errors(holdout)
    1
    """
    if stop not in ("raises", "no-gain"):
        raise ParameterError(f"stop={show(stop)}; 'raises' or 'no-gain' is needed")
    grown.check_fits(tree)
    holdout.check_fits(tree)
    node_labels = leaf_labels(grown, holdout, labels, original)
    gain = -excess_cost(tree, holdout.errors_if_leaf(node_labels))
    tolerance = 0.0 if holdout.has_integer_weights else 1e-12 * float(holdout.total[0])
    order = _by_gain(tree, gain, tolerance)
    is_made = gain[order] > tolerance if stop == "no-gain" else gain[order] >= -tolerance
    provenance = RuleProvenance(
        "iterative-reduced-error",
        {"labels": labels, "original": original, "stop": stop},
        cost="errors",
        sample=holdout.sample,
        tolerance=0.0 if holdout.has_integer_weights else 1e-12,
        text=f"iterative-reduced-error, labels={labels}, original={original}, stop={stop}",
    )
    return Pruning.from_cuts(
        tree,
        first_cuts(tree.parent, order[is_made]),
        node_labels=node_labels,
        seen=SampleUsage.of(grown, holdout),
        provenance=provenance,
        note="" if holdout.has_integer_weights else "gains within 1e-12 of the sample's weight count as equal",
    )


def _by_gain(tree: Tree, gain: LongsOrFloats, tolerance: float) -> Ints:
    """Return the internal nodes: largest gain first, then most leaves, then pre-order."""
    internal = tree.internal
    leaves_before = np.append(0, np.cumsum(tree.is_leaf))
    n_leaves = (leaves_before[tree.end] - leaves_before[:-1])[internal]
    rising = np.sort(gain[internal])
    # Gains closer to the next gain than the tolerance form a group, and all gains of a group have the same rank.
    first_of_group = rising[np.append(True, np.diff(rising) > tolerance)] if len(rising) else rising
    rank = np.searchsorted(first_of_group, gain[internal], side="right")
    return internal[np.lexsort((internal, -n_leaves, -rank))]
