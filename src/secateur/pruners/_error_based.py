"""Error-based pruning (C4.5): the errors of each leaf are estimated by their upper confidence limit.

From the leaves to the root, a subtree is replaced by a leaf if the estimated errors of the leaf are not higher. With
*raising*, a subtree may also be replaced by its largest branch, and the rows of the other branches are then sent
through that branch (`_raise_branches.py`). The tree that results from raising is not a pruning of the first tree, so
the certificates for prunings do not hold for it.
"""

from typing import Literal, overload

import numpy as np

from .._kernels.bottom_up import cheapest_within
from .._utils.arrays import Array, ArrayLike, Longs
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree, check_no_surrogates
from ..data.table import Table
from ..errors import CountsError, ParameterError, show
from ._error_estimate import estimated_errors
from ._raise_branches import GrowingRows, raise_branches


@overload
def error_based(
    tree: Tree,
    counts: Counts,
    *,
    confidence: float = 0.25,
    raise_subtrees: Literal[False] = False,
    slack: float = 0.0,
    table: Table | None = None,
    sample_weight: ArrayLike | None = None,
) -> Pruning: ...
@overload
def error_based(
    tree: Tree,
    counts: Counts,
    *,
    confidence: float = 0.25,
    raise_subtrees: Literal[True],
    slack: float = 0.0,
    table: Table | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Tree, Counts]: ...
def error_based(
    tree: Tree,
    counts: Counts,
    *,
    confidence: float = 0.25,
    raise_subtrees: bool = False,
    slack: float = 0.0,
    table: Table | None = None,
    sample_weight: ArrayLike | None = None,
) -> Pruning | tuple[Tree, Counts]:
    """Return the smallest pruning with the fewest errors by the estimate of C4.5.

    The estimated errors of a leaf with N rows and E errors are N U(E, N); see `upper_limit`.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts
        Counts of the sample the tree was grown on.
    confidence : float
        The CF of C4.5: the probability that the true error rate of a leaf exceeds its estimate. A smaller value gives
        higher estimates and cuts more.
    raise_subtrees : bool
        Whether a subtree may also be replaced by its largest branch, where that is estimated no worse.
    slack : float
        A leaf is preferred to a raised branch, and both to the subtree, if it is estimated at most this many errors
        worse. C4.5 uses 0.1.
    table : Table
        The growing table with its target, for raising, which sends its rows through other branches.
    sample_weight : array, optional
        Weights of the rows of the table, where the counts were made with weights.

    Returns
    -------
    Pruning
        Without raising. With `slack=0`, no pruning of `tree` has fewer estimated errors. A tie (within a relative
        1e-12) cuts, so it is the smallest such pruning.
    (Tree, Counts)
        With raising: a new tree, whose node `v` carries the test of node `ids[v]`, and the growing sample counted on
        it. In a tie a leaf is preferred to a raised branch, and a raised branch to the subtree. Among branches with
        equally many rows the first is raised.

    Notes
    -----
    Without raising, one pass from the leaves to the root, O(n_nodes). To evaluate raising at a node, only the rows
    outside its largest branch are routed, O(m log m) routed rows in all for m rows. A branch that is raised is
    processed again, because its counts have changed. Quinlan, C4.5 (1993). The limits here are exact; those of the
    original program are approximate.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 0, 0])
    >>> error_based(tree, Counts.from_leaves(tree, [[6, 0], [9, 0], [0, 1]]))
    Pruning(1 of 3 leaves, cuts at 0)
    >>> error_based(tree, Counts.from_leaves(tree, [[6, 0], [9, 0], [0, 9]]))
    Pruning(3 of 3 leaves, no cut)
    """
    counts.check_fits(tree)
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence}; a probability strictly between 0 and 1 is needed")
    if not 0 <= slack < np.inf:
        raise ParameterError(f"slack={slack}; a finite number of errors, 0 or more, is needed")
    if raise_subtrees:
        rows = _rows_of(tree, counts, table, sample_weight)
        return raise_branches(counts, rows, confidence=confidence, slack=slack)
    provenance = RuleProvenance(
        "error-based",
        {"confidence": confidence, "slack": slack},
        cost="estimated errors",
        sample=counts.sample,
        tolerance=1e-12,
        text=f"error-based, confidence {confidence:g}",
    )
    return Pruning.from_cuts(
        tree,
        cheapest_within(tree.parent, estimated_errors(counts.by_class, confidence, counts.majority), float(slack)),
        node_labels=counts.majority,
        seen=SampleUsage.of(counts),
        provenance=provenance,
        note="estimates compared within a relative 1e-12",
    )


def _rows_of(tree: Tree, counts: Counts, table: Table | None, sample_weight: ArrayLike | None) -> GrowingRows:
    """Return the rows of a growing table for `raise_branches`; refuse rows that do not add up to the counts."""
    if table is None or table.target is None:
        problem = "no table" if table is None else "a table without a target"
        raise ParameterError(
            f"raise_subtrees=True with {problem}; raising sends rows through other branches: "
            "pass table=encode(X, target=y, schema=tree.schema)"
        )
    check_no_surrogates(tree, "raise_subtrees=True", "prune with raise_subtrees=False")
    from ..data.weights import check_weights
    from ..routing import apply

    if table.schema.columns != (tree.schema and tree.schema.columns):
        raise ParameterError("table has other columns than the tree was grown on; encode it with schema=tree.schema")
    target, weight = table.target, check_weights(sample_weight, table.n_rows)
    n_classes = max(counts.n_classes, int(target.max(initial=0)) + 1)
    leaf_of_row = apply(tree, table)
    cells = np.bincount(leaf_of_row.astype(np.int64) * n_classes + target, weight, minlength=tree.n_nodes * n_classes)
    counted, expected = cells.reshape(-1, n_classes)[tree.is_leaf], counts.by_class[tree.is_leaf]
    if n_classes != counts.n_classes or not np.allclose(counted, expected, rtol=1e-9, atol=0):
        raise CountsError(
            f"the rows of the table ({table.n_rows:,}) do not add up to the counts of sample {show(counts.sample)} "
            f"({counts.total[0]:,}); pass the table the tree was grown on, with its sample_weight if it had one"
        )

    def child_of(rows: Longs, node: int) -> Array:
        # `routing.apply` follows complete paths; here one test is evaluated. Missing and unseen values take the
        # default.
        values = table.columns[tree.feature[node]][rows]
        codes = tree.branch[tree.branch_start[node] : tree.branch_start[node + 1]]
        child: Array
        if len(codes):
            child = np.where(values < 0, tree.default[node], codes[values])
        else:
            # NumPy compares a float32 column with a float64 threshold in float64, as routing does.
            child = np.where(np.isnan(values), tree.default[node], values > tree.threshold[node])
        return child.astype(np.int64)

    return GrowingRows(leaf_of_row, target, weight, child_of)
