"""Prediction sets of a classification tree: order statistics of the ranks of the true classes of held-out rows."""

import numpy as np

from .._utils.arrays import Array, Ints, Longs, write_protect
from .._utils.checks import check_name
from ..core import Calibration, Counts, PredictionSets, Pruning
from ..errors import UnsupportedError
from ..statistics.conformal import Coverage
from ._prediction_intervals import BY, By, coverage_of, region_fields, units_of


def prediction_sets(
    pruning: Pruning,
    grown: Counts,
    calibration: Calibration,
    *,
    coverage: float = 0.9,
    confidence: float | None = None,
    by: By = "leaf",
) -> PredictionSets:
    """Return the set of likely classes of each leaf, with a guarantee that holds for any distribution of the classes.

    Parameters
    ----------
    pruning : Pruning
        The pruned tree.
    grown : Counts
        The growing sample: the classes of a leaf are ranked by their shares in it.
    calibration : Calibration
        Rows that had no part in making the pruning, from `calibrate`.
    coverage, confidence, by
        As for `prediction_intervals`, for the share of new rows whose class is in the set.

    Returns
    -------
    PredictionSets
        The set of a leaf has its first classes in the order of the growing shares (equal shares in the order of the
        classes), up to the rank that covers the ranks of the true classes of the held-out rows. A set is never empty.
        It contains all classes if there are too few held-out rows, or if too many have a class that growing did not
        see; its class is then not guaranteed.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> from secateur.certifiers import calibrate, prediction_sets
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[90, 10, 0], [40, 30, 30]])
    >>> fresh = Counts.from_leaves(tree, [[95, 4, 1], [50, 35, 15]], sample="test")
    >>> rows = calibrate(Pruning.from_cuts(tree, []), fresh)
    >>> prediction_sets(Pruning.from_cuts(tree, []), grown, rows, coverage=0.8).sets.tolist()
    [(0,), (0, 1)]
    """
    check_name("by", by, BY)
    required = coverage_of(pruning, calibration, coverage, confidence)
    held_out = calibration.sample
    if not isinstance(held_out, Counts) or not isinstance(grown, Counts):
        raise UnsupportedError("prediction sets are for classes; for a numeric target use prediction_intervals")
    grown.check_fits(pruning.tree)
    leaves, n_classes = pruning.leaves, grown.n_classes
    order = np.argsort(-grown.by_class[leaves], axis=1, kind="stable").astype(np.int32)
    rows_by_rank = _rows_by_rank(order, held_out.by_class[leaves], n_classes)
    n_needed = required.min_rows()
    unit = units_of(pruning, grown, by, int(held_out.total[0]), n_needed)
    limit, n_rows = _largest_ranks(rows_by_rank, unit, required)
    classes = None if pruning.tree.schema is None else pruning.tree.schema.classes
    is_limited = limit <= n_classes
    return PredictionSets(
        classes=tuple(range(n_classes) if classes is None else np.asarray(classes).tolist()),
        order=write_protect(order),
        size=write_protect(np.minimum(limit, n_classes)[unit]),
        is_limited=write_protect(is_limited),
        n_rows=write_protect(n_rows),
        **region_fields(pruning, calibration, required, by, unit, n_needed),
    )


def _rows_by_rank(order: Ints, by_class: Array, n_classes: int) -> Longs:
    """Return the held-out rows of each leaf by the rank of their class; unseen classes have the last rank."""
    by_class = np.asarray(by_class, np.int64)
    known = np.zeros((len(order), n_classes), np.int64)
    known[:, : by_class.shape[1]] = by_class[:, :n_classes]
    ranked = np.take_along_axis(known, order.astype(np.intp), axis=1)
    unseen = by_class.sum(axis=1) - known.sum(axis=1)
    return np.column_stack([ranked, unseen])


def _largest_ranks(rows_by_rank: Longs, unit: Longs, required: Coverage) -> tuple[Longs, Longs]:
    """Return the largest rank in the set of each unit (above the number of classes: unbounded), and its rows."""
    n_units, n_ranks = int(unit.max()) + 1, rows_by_rank.shape[1]
    of_units = np.zeros((n_units, n_ranks), np.int64)
    np.add.at(of_units, unit, rows_by_rank)
    n_rows = of_units.sum(axis=1)
    cumulative = of_units.cumsum(axis=1)
    limits = np.full(n_units, n_ranks, np.int64)
    for u, n in enumerate(n_rows.tolist()):
        rank = required.rank(n)
        if rank is not None:
            limits[u] = int(np.searchsorted(cumulative[u], rank)) + 1
    return limits, n_rows
