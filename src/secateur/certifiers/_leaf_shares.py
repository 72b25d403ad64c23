"""Limits on the class shares in every leaf; all of them hold at once.

For the leaves of a pruning that the sample did not help to make: given the number of rows that reach each leaf, the
classes in different leaves are independent. So each of the L leaves with rows may fail with probability
1 - (1 - delta)^(1/L). This probability is shared by the one-sided limits of a leaf. For two classes there are two of
them (the lower limit of one class is 1 minus the upper limit of the other); for more classes there are two per class.

For all nodes of the grown tree: the rows of a node are also rows of its ancestors, so nodes are not independent. Each
of the N nodes may fail with probability delta / N. The leaves of every pruning are among the nodes, so the sample may
have chosen the pruning. Only growing must not have used the rows.
"""

import math
from typing import Literal

import numpy as np

from .._utils.arrays import Floats, LongsOrFloats
from ..core import Counts, LeafShares, Pruning
from ..core.class_names import class_names_of
from ..errors import ParameterError, show
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import binomial_upper, check_delta
from ._fresh import check_fresh_rows, check_rows_did_not_grow
from ._rates import log_share_of_delta


def leaf_shares(
    pruning: Pruning,
    counts: Counts,
    *,
    delta: float = 0.05,
    over: Literal["leaves", "nodes"] = "leaves",
    grown: Counts | None = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
) -> LeafShares:
    """Return limits on the share of each class in each leaf; all of them hold at once.

    Parameters
    ----------
    pruning : Pruning
        The pruning whose leaves get limits.
    counts : Counts
        Integer counts of a sample that did not grow the tree. With `over="leaves"`, the sample must have had no part
        in pruning either.
    delta : float
        Probability, over samples, that some share is outside its limits.
    over : "leaves" or "nodes"
        Whether the limits are for the leaves of `pruning`, or for every node of the grown tree. The latter are wider,
        and hold for any leaves, even if the sample has chosen them.
    grown : Counts, optional
        Counts of the growing sample. It is needed if `counts` helped to choose the pruning, to check that the rows
        did not grow the tree.
    repeated, repeats
        As for `certify`.

    Returns
    -------
    LeafShares
        A leaf without rows has the limits 0 and 1.

    Notes
    -----
    Exact binomial limits. The labels of the leaves do not matter. O(nodes * classes).

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import leaf_shares
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> fresh = Counts.from_leaves(tree, [[1111, 89], [20, 60]], sample="test")
    >>> limits = leaf_shares(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), fresh)
    >>> limits.upper.round(3).tolist()
    [[0.942, 0.093], [0.375, 0.851]]
    >>> bound = limits.bound(1, 1)
    >>> bound.quantity, bound.errors, bound.n, round(bound.value, 3)
    ("share of '1' in leaf 1", 89, 1200, 0.093)
    """
    delta = check_delta(delta)
    if over not in ("leaves", "nodes"):
        raise ParameterError(f"over={show(over)}; 'leaves' or 'nodes' is needed")
    subject = "a limit on class shares"
    if over == "nodes":
        rows = check_rows_did_not_grow(pruning, counts, grown, subject, delta, repeated=repeated, repeats=repeats)
        nodes = np.arange(pruning.tree.n_nodes, dtype=np.int32)
    else:
        rows = check_fresh_rows(pruning, counts, subject, delta, repeated=repeated, repeats=repeats)
        nodes = pruning.leaves
    row_fields = {name: value for name, value in rows.bound_fields.items() if name != "n"}  # each leaf has its own n
    by_class = counts.by_class[nodes]
    n_rows = by_class.sum(axis=1)
    if over == "nodes":
        n_at_once = len(nodes)
        log_delta_of_node = math.log(rows.delta) - math.log(n_at_once)
    else:
        n_at_once = max(1, int(np.count_nonzero(n_rows)))
        log_delta_of_node = log_share_of_delta(rows.delta, n_at_once)
    lower, upper = _limits(by_class, n_rows, log_delta_of_node, rows.repeats.n_errors)
    names = class_names_of(pruning.tree, None, counts.n_classes)[: counts.n_classes]
    at_once = f", {n_at_once:,} {over} at once" if n_at_once > 1 else ""
    row_fields["method"] = f"leaf shares, exact tail{at_once}"
    return LeafShares(nodes, by_class, lower, upper, names, covers_choice=over == "nodes", **row_fields)


def _limits(by_class: LongsOrFloats, n_rows: LongsOrFloats, log_delta: float, n_repeated: int) -> tuple[Floats, Floats]:
    """Return lower and upper limits on all shares.

    The probability that any of the limits of one node fails is at most exp(log_delta).

    The leaves and classes of the `n_repeated` rows that repeat others are not known. So each upper limit counts all of
    them for the class, as far as the leaf has rows, and each lower limit counts all of them for other classes.
    """
    n_classes = by_class.shape[1]
    n_one_sided_limits = {1: 1, 2: 2}.get(n_classes, 2 * n_classes)
    log_delta_of_limit = log_delta - math.log(n_one_sided_limits)
    n = np.broadcast_to(n_rows[:, None], by_class.shape)
    is_empty = n == 0
    upper = np.where(is_empty, 1.0, binomial_upper(np.minimum(by_class + n_repeated, n), n, log_delta_of_limit))
    upper_of_others = (
        upper[:, ::-1]
        if n_classes == 2
        else binomial_upper(np.minimum(n - by_class + n_repeated, n), n, log_delta_of_limit)
    )
    return np.where(is_empty, 0.0, 1.0 - upper_of_others), upper
