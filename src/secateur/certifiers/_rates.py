"""Limits on the error among the rows of each class: false positives and false negatives.

Given how many rows of a class there are, its errors are binomial, and those of different classes
are independent. So for all classes at once each gets 1 - (1 - delta)^(1/classes) of delta.
"""

import math

import numpy as np

from ..core import Bound, Counts, Pruning, class_number
from ..core.class_names import class_names_of
from ..errors import CountsError, ParameterError
from ..statistics.tails import binomial_upper, check_delta
from ._fresh import fresh_rows


def class_rates(
    pruning: Pruning,
    counts: Counts,
    *,
    delta: float = 0.05,
    together: bool = True,
    positive: object = None,
    repeated: bool = False,
) -> list[Bound]:
    """Return an upper limit on the error among the rows of each class.

    Parameters
    ----------
    pruning : Pruning
    counts : Counts
        Whole counts of a sample that had no part in growing, labelling or pruning.
    delta : float
    together : bool
        Whether all limits hold at once with probability `1 - delta`, or each for itself.
    positive : class, optional
        For two classes: the positive class; by default the second in sorted order.
    repeated : bool
        As for `certify`.

    Returns
    -------
    list of Bound
        One for each class, in their order; `n` are the rows of that class. Of two classes, they
        limit the "false positive rate" (errors among rows of the other class) and the "false
        negative rate" (errors among rows of the positive one). A class without rows has the
        limit 1.

    Notes
    -----
    Exact binomial limits. O(n_nodes).

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import class_rates
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> fresh = Counts.from_leaves(tree, [[480, 40], [20, 60]], sample="test")
    >>> for bound in class_rates(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), fresh):
    ...     print(bound.quantity, bound.errors, "of", bound.n, round(bound.value, 3))
    false positive rate 20 of 500 0.061
    false negative rate 40 of 100 0.503
    """
    delta = check_delta(delta)
    about = fresh_rows(pruning, counts, "a limit on class rates", delta, repeated=repeated)
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; error rates need its predictions")
    names = class_names_of(pruning.tree, None, counts.n_classes)[: counts.n_classes]
    quantities = _quantities(names, positive)
    rows = counts.by_class[0]
    leaves = pruning.leaves
    right = np.zeros(counts.n_classes, np.int64)
    labels = pruning.node_labels[leaves]
    is_known = labels < counts.n_classes
    np.add.at(right, labels[is_known], counts.by_class[leaves[is_known], labels[is_known]])
    errors = rows - right
    n_together = max(1, int(np.count_nonzero(rows))) if together else 1
    log_share = log_part(delta, n_together)
    values = binomial_upper(errors, rows, log_share)
    how = f"exact tail, {n_together} classes at once" if n_together > 1 else "exact tail"
    return [
        Bound(
            value=value if n else 1.0,
            method=f"class rate, {how}",
            errors=wrong,
            details={"tail": "exact", "log_delta": log_share, "class": name, "classes": n_together},
            quantity=quantity,
            **about | {"n": n},
        )
        for value, n, wrong, name, quantity in zip(
            values.tolist(), rows.tolist(), errors.tolist(), names, quantities, strict=True
        )
    ]


def log_part(delta: float, n_parts: int) -> float:
    """ln of what each of so many independent statements may fail with, if all fail at most with delta."""
    return math.log(delta) if n_parts <= 1 else math.log(-math.expm1(math.log1p(-delta) / n_parts))


def _quantities(names: list[str], positive: object) -> list[str]:
    if len(names) != 2:
        if positive is not None:
            raise ParameterError(f"positive={positive!r} with {len(names)} classes; it needs two classes")
        return [f"error among rows of class {name!r}" for name in names]
    chosen = 1 if positive is None else class_number(names, positive)
    return ["false negative rate" if c == chosen else "false positive rate" for c in range(2)]
