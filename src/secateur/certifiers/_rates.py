"""Limits on the error among the rows of each class: false positives and false negatives.

Given the number of rows of each class, the number of errors in a class is binomial, and the errors of different classes
are independent. If the limit of each class fails with probability 1 - (1 - delta)^(1/classes), then the limits of all
classes hold at once with probability 1 - delta.
"""

import math

import numpy as np

from .._utils.arrays import Ints, Longs, LongsOrFloats
from ..core import Bound, Counts, Pruning, class_number
from ..core.class_names import class_names_of
from ..errors import CountsError, ParameterError, show
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import binomial_upper, check_delta
from ._fresh import check_fresh_rows


def class_rates(
    pruning: Pruning,
    counts: Counts,
    *,
    delta: float = 0.05,
    together: bool = True,
    positive: object = None,
    repeated: bool = False,
    repeats: Repeats | RepeatRule = "errors",
) -> list[Bound]:
    """Return an upper limit on the error among the rows of each class.

    Parameters
    ----------
    pruning : Pruning
        The pruning to certify.
    counts : Counts
        Integer counts of a sample that had no part in growing, labelling or pruning.
    delta : float
        Probability, over samples, that a limit is too low.
    together : bool
        Whether all limits hold at once with probability `1 - delta`, or each by itself.
    positive : class, optional
        For two classes: the positive class; by default the second in sorted order.
    repeated, repeats
        As for `certify`.

    Returns
    -------
    list of Bound
        One for each class, in the order of the classes; `n` is the number of rows of the class. For two classes the
        quantities are the "false positive rate" (errors among the rows of the negative class) and the "false
        negative rate" (errors among the rows of the positive class). A class without rows has the limit 1.

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
    rows = check_fresh_rows(pruning, counts, "a limit on class rates", delta, repeated=repeated, repeats=repeats)
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; error rates need its predictions")
    names = class_names_of(pruning.tree, None, counts.n_classes)[: counts.n_classes]
    quantities = _quantities(names, positive)
    n_rows = counts.by_class[0]
    errors = n_rows - _correct_rows(pruning.node_labels[pruning.leaves], counts.by_class[pruning.leaves])
    n_together = max(1, int(np.count_nonzero(n_rows))) if together else 1
    log_delta = log_share_of_delta(rows.delta, n_together)
    n_repeated = np.minimum(rows.repeats.of_classes(counts.n_classes), n_rows)
    limits = binomial_upper(np.minimum(errors + n_repeated, n_rows), n_rows, log_delta)
    tail = f"exact tail, {n_together} classes at once" if n_together > 1 else "exact tail"
    return [
        Bound(
            value=limit if n else 1.0,
            method=f"class rate, {tail}",
            errors=n_errors,
            details={"tail": "exact", "log_delta": log_delta, "class": name, "classes": n_together},
            quantity=quantity,
            **rows.bound_fields | {"n": n, "n_repeated": repeated_rows},
        )
        for limit, n, n_errors, repeated_rows, name, quantity in zip(
            limits.tolist(), n_rows.tolist(), errors.tolist(), n_repeated.tolist(), names, quantities, strict=True
        )
    ]


def _correct_rows(labels: Ints, by_class: LongsOrFloats) -> Longs:
    """Return the number of rows of each class that are predicted correctly, from labels and counts of the leaves."""
    n_classes = by_class.shape[1]
    correct = np.zeros(n_classes, np.int64)
    is_known = labels < n_classes  # a class of the growing sample may be missing in this sample
    np.add.at(correct, labels[is_known], by_class[is_known, labels[is_known]])
    return correct


def log_share_of_delta(delta: float, n_statements: int) -> float:
    """Return ln of the failure probability of each of `n_statements` independent statements.

    The probability that any of the statements fails is then at most delta.
    """
    return math.log(delta) if n_statements <= 1 else math.log(-math.expm1(math.log1p(-delta) / n_statements))


def _quantities(names: list[str], positive: object) -> list[str]:
    """Return the name of each class's error rate."""
    if len(names) != 2:
        if positive is not None:
            raise ParameterError(f"positive={show(positive)} with {len(names)} classes; it needs two classes")
        return [f"error among rows of class {show(name)}" for name in names]
    positive_number = 1 if positive is None else class_number(names, positive)
    return ["false negative rate" if c == positive_number else "false positive rate" for c in range(2)]
