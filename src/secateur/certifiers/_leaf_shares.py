"""Limits on the class shares in every leaf that hold for all leaves at once.

Over the leaves of a pruning that the sample did not help to make: given how many rows reach each
leaf, the classes in different leaves are independent. So of L leaves with rows each may fail with
1 - (1 - delta)^(1/L), and within a leaf that is shared by its one-sided limits: one for each class
of two (the lower limit of one is 1 less the upper limit of the other), two for each of more.

Over all nodes of the grown tree: nodes contain one another, so each of the N may fail with
delta / N, given the rows that reach it. Every pruning's leaves are among them, so the sample may
have chosen the pruning; only growing must not have seen it.
"""

import math
from typing import Literal

import numpy as np

from .._utils.arrays import Floats, LongsOrFloats
from ..core import Counts, LeafShares, Pruning
from ..core.class_names import class_names_of
from ..errors import ParameterError
from ..statistics.tails import binomial_upper, check_delta
from ._fresh import fresh_rows, rows_after_growing
from ._rates import log_part


def leaf_shares(
    pruning: Pruning,
    counts: Counts,
    *,
    delta: float = 0.05,
    over: Literal["leaves", "nodes"] = "leaves",
    grown: Counts | None = None,
    repeated: bool = False,
) -> LeafShares:
    """Return limits on the share of each class in each leaf, all of which hold at once.

    Parameters
    ----------
    pruning : Pruning
    counts : Counts
        Whole counts of a sample that did not grow the tree; with `over="leaves"`, of one that had
        no part in pruning either.
    delta : float
        Chance that any of the limits is wrong.
    over : "leaves" or "nodes"
        Of the leaves of `pruning`, or of every node of the whole tree. The second is wider, and
        holds whichever leaves were chosen by looking at the sample.
    grown : Counts, optional
        Counts of the growing sample; needed where `counts` helped to choose the pruning, to see
        that it did not grow the tree.
    repeated : bool
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
        raise ParameterError(f"over={over!r}; 'leaves' or 'nodes' is needed")
    is_all = over == "nodes"
    told = ("a limit on class shares", delta)
    if is_all:
        about = rows_after_growing(pruning, counts, grown, *told, repeated=repeated)
    else:
        about = fresh_rows(pruning, counts, *told, repeated=repeated)
    del about["n"]  # of each leaf its own
    nodes = np.arange(pruning.tree.n_nodes, dtype=np.int32) if is_all else pruning.leaves
    found = counts.by_class[nodes]
    n_rows = found.sum(axis=1)
    n_at_once = len(nodes) if is_all else max(1, int(np.count_nonzero(n_rows)))
    log_one = math.log(delta) - math.log(n_at_once) if is_all else log_part(delta, n_at_once)
    lower, upper = _limits(found, n_rows, log_one)
    names = class_names_of(pruning.tree, None, counts.n_classes)[: counts.n_classes]
    what = f"{n_at_once:,} {'nodes' if is_all else 'leaves'}"
    return LeafShares(
        nodes,
        found,
        lower,
        upper,
        names,
        method="leaf shares, exact tail" + (f", {what} at once" if n_at_once > 1 else ""),
        **about,
    )


def _limits(found: LongsOrFloats, n_rows: LongsOrFloats, log_one: float) -> tuple[Floats, Floats]:
    """Lower and upper limits of all shares of a node, which fail together at most with exp(log_one)."""
    n_classes = found.shape[1]
    log_side = log_one - math.log({1: 1, 2: 2}.get(n_classes, 2 * n_classes))
    n = np.broadcast_to(n_rows[:, None], found.shape)
    is_empty = n == 0
    upper = np.where(is_empty, 1.0, binomial_upper(found, n, log_side))
    lower = 1.0 - (upper[:, ::-1] if n_classes == 2 else binomial_upper(n - found, n, log_side))
    return np.where(is_empty, 0.0, lower), upper
