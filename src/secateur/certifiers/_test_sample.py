"""The certificate from a fresh sample: the exact binomial limit, without any price."""

import math

import numpy as np

from ..core import Bound, Counts, Pruning
from ..statistics.repeats import RepeatRule, Repeats
from ._fresh import check_fresh_rows
from ._groups import GroupError, check_group_error, labels_of_pruning, limit_errors


def test_sample(
    pruning: Pruning,
    counts: Counts,
    *,
    delta: float = 0.05,  # noqa: PT028
    repeated: bool = False,  # noqa: PT028
    repeats: Repeats | RepeatRule = "errors",  # noqa: PT028
    group_error: GroupError = "share",  # noqa: PT028
) -> Bound:
    """Return the exact binomial limit on the error of a pruning, from a fresh sample.

    Parameters
    ----------
    pruning : Pruning
        The pruning to certify.
    counts : Counts
        Integer counts of a sample that had no part in growing, labelling, pruning or choosing.
    delta : float
        Probability, over samples, that the limit is too low.
    repeated, repeats, group_error
        As for `certify`.

    Returns
    -------
    Bound
        The Clopper-Pearson limit, or for a sample with groups the betting bound; `complexity` is 0.

    Notes
    -----
    A sample is refused if `pruning.seen` names it, if it shares rows with a sample that was used to make the pruning,
    or if it was evaluated on other prunings of the tree. O(n_nodes).

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import test_sample
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> fresh = Counts.from_leaves(tree, [[450, 50], [50, 450]], sample="test")
    >>> print(test_sample(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), fresh))
    With 95 % confidence the error on new rows like these is at most 11.7 %, from 1,000
    held-out rows (method: test sample, exact tail); assumes rows are independent, identically
    distributed and not used before (not checked: sample 'test' has no sketch of its rows) and
    were not used to choose the tree.
    """
    check_group_error(group_error, counts)
    rows = check_fresh_rows(
        pruning, counts, "a test sample", delta, repeated=repeated, repeats=repeats, takes_groups=True
    )
    log_delta = math.log(rows.delta)
    errors = np.array([pruning.errors(counts)])
    members = [(pruning, labels_of_pruning(pruning))]
    found = limit_errors(counts, rows, errors, members, log_delta, group_error=group_error)
    return Bound(
        value=found.limits[0].item(),
        method=f"test sample, {found.description}",
        errors=found.errors[0].item(),
        **rows.bound_fields,
        **found.fields,
        details={"tail": "exact", "log_delta": log_delta},
    )


# pytest would collect the function as a test where a test module imports it, because of its name.
test_sample.__test__ = False  # type: ignore[attr-defined]
