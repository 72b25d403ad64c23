"""Calibrate: accept held-out rows for prediction intervals or sets of a pruning, if they are fresh for it."""

from ..core import Calibration, Counts, Moments, Pruning, Sample
from ..statistics.repeats import RepeatRule, Repeats
from ._fresh import check_fresh_rows
from ._mean_loss import check_rows_known, fields_of_repeated

# Probability that the number of copies is estimated too low. It is spent only if the rows contain possible copies that
# have to be counted from sketches.
DELTA_OF_REPEATS = 0.01


def calibrate(pruning: Pruning, counts: Sample, *, repeats: Repeats | RepeatRule = "errors") -> Calibration:
    """Return the calibration of a pruning by a sample that had no part in making it.

    Parameters
    ----------
    pruning : Pruning
        The pruning whose predictions get intervals or sets.
    counts : Counts or Moments
        Rows that had no part in growing, pruning or choosing the tree, each of weight 1 and without groups.
    repeats
        As for `certify`; rows that may be copies of others count as not covered.

    Returns
    -------
    Calibration
        For `prediction_intervals` and `prediction_sets`. Like a certificate, it is recorded in the evaluation log of
        the tree, and rows that were used before raise `LeakageError`.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import calibrate
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> fresh = Counts.from_leaves(tree, [[450, 50], [50, 450]], sample="test")
    >>> calibrate(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), fresh).sample
    Counts('test', 1,000 in 2 classes, 3 nodes)
    """
    kind: type[Sample] = Moments if isinstance(counts, Moments) else Counts
    subject = "calibration"
    rows = check_fresh_rows(pruning, counts, subject, DELTA_OF_REPEATS, repeats=repeats, kind=kind)
    if isinstance(counts, Moments):
        check_rows_known(counts, subject)
    fields = fields_of_repeated(rows, "count as not covered")
    return Calibration(
        sample=counts,
        digest=pruning.digest,
        n_repeated=rows.repeats.n_errors,
        delta=DELTA_OF_REPEATS - rows.delta,
        **{name: fields[name] for name in ("freshness", "is_checked", "repeats", "repeats_text")},
    )
