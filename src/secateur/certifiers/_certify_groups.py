"""Certify the rates of population groups, such as women and men: the limits of all groups and rates hold at once."""

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core import Counts, EvaluationLog, GroupRates, PopulationGroups, Pruning, UsedSample
from ..errors import CountsError, LeakageError, UnsupportedError, Wording, show
from ..statistics.freshness import CertifyingRows, sample_overlap
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta
from ._fresh import check_fresh_rows
from ._group_rates import (
    PositiveClass,
    check_populations,
    count_events,
    digest_of_groups,
    find_positive,
    group_names,
    log_delta_of_limit,
    lower_limits,
    repeated_of_rate,
    upper_limits,
)


@dataclass(frozen=True)
class _CertifiedColumns:
    """A sample, and the population groups that were certified on it."""

    sample_id: bytes
    sample: UsedSample
    groups: bytes
    columns: str = field(compare=False)


# The columns that were certified on each sample. A second column on the same sample could be one that looked better.
_columns_of_log: "WeakKeyDictionary[EvaluationLog, list[_CertifiedColumns]]" = WeakKeyDictionary()


def certify_groups(
    pruning: Pruning,
    counts_by_group: Counts,
    *,
    positive: object = None,
    delta: float = 0.05,
    repeats: Repeats | RepeatRule = "errors",
) -> Any:
    """Return limits on the error rates of population groups, such as women and men; all of them hold at once.

    Population groups divide the rows of a sample. For rows that belong together, such as the visits of one patient,
    use `groups=` of `count` and `certify`.

    Parameters
    ----------
    pruning : Pruning
        The pruning to certify.
    counts_by_group : Counts
        Integer counts from `count_groups`, of a sample that had no part in growing, labelling, pruning or choosing the
        tree, or in choosing the column of the groups.
    positive : class, optional
        The class that the false positive rate, the false negative rate and the selection rate are about. Of two classes
        it is the second in sorted order by default. Of more classes there is no default: without it, only the error is
        certified. With it, this class is compared with all others.
    delta : float
        Probability, over samples, that any limit of any group and rate is wrong.
    repeats : "errors" or "independent"
        As for `certify`. Rows that may be copies count against each limit: as events in an upper limit, as none in a
        lower limit.

    Returns
    -------
    GroupRates
        For each group the error, false positive rate, false negative rate and selection rate with exact two-sided
        limits, and the gaps between groups. A group without rows, or a rate that has none, has the limits 0 and 1.
        If the sample was counted by several columns, a tuple with one value for each: all their limits hold at once.

    Raises
    ------
    LeakageError
        If the rows were used before, or if other columns were certified on these rows: state all columns in one call
        of `count_groups`.

    Notes
    -----
    Clopper-Pearson limits. Delta is divided over the columns; within a column over the groups that have rows (they are
    independent); and within a group over rates and sides. A gap is at most the upper limit of one group minus the lower
    limit of the other. O(groups * leaves * classes).

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree, certify_groups
    >>> from secateur.core import PopulationGroups
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> sexes = PopulationGroups.from_leaves(tree, "sex", "fm", [[[180, 20], [30, 70]], [[210, 25], [25, 140]]])
    >>> counts = Counts(tree, sexes.by_class.sum(axis=0), "fresh", populations=(sexes,))
    >>> rates = certify_groups(Pruning.from_cuts(tree, [], node_labels=[0, 0, 1]), counts)
    >>> rate = rates.of("f", "false positive rate")
    >>> rate.events, rate.n, round(rate.lower, 3), round(rate.upper, 3)
    (30, 210, 0.084, 0.22)
    >>> gap = rates.largest_gap("selection rate")
    >>> gap.first, gap.second, round(gap.difference, 4), round(gap.limit, 3)
    ('m', 'f', 0.0792, 0.221)
    """
    delta = check_delta(delta)
    if not isinstance(pruning, Pruning):
        raise UnsupportedError(
            f"pruning is a {type(pruning).__name__}; a Pruning is needed, such as pruning_ of a fitted estimator, "
            "whose certified_on takes group=, too"
        )
    populations = check_populations(counts_by_group)
    counts_by_group.check_fits(pruning.tree)
    if pruning.node_labels is None:
        raise CountsError("the pruning was made from costs and has no classes; error rates need its predictions")
    chosen = find_positive(pruning, counts_by_group, positive)
    with pruning.tree.evaluation_log.lock:
        _check_no_other_columns(pruning, counts_by_group, populations)
        rows = check_fresh_rows(pruning, counts_by_group, "a limit on group rates", delta, repeats=repeats)
        _record_columns(pruning, counts_by_group, populations)
    results = tuple(_certify_column(pruning, counts_by_group, column, rows, chosen) for column in populations)
    return results[0] if len(results) == 1 else results


def _certify_column(
    pruning: Pruning, counts: Counts, population: PopulationGroups, rows: CertifyingRows, positive: PositiveClass
) -> GroupRates:
    """Return the rates of the groups of one column, with limits."""
    n_columns, rates = len(counts.populations), positive.rates
    n_with_rows = max(1, int(np.count_nonzero(population.n_rows)))
    log_delta = log_delta_of_limit(rows.delta / n_columns, n_with_rows, len(rates))
    events, n = count_events(pruning, population, rates, positive.number)
    repeated = [repeated_of_rate(rate, rows.repeats, counts.n_classes, positive.number) for rate in rates]
    limits = list(zip(events.T, n.T, repeated, strict=True))
    n_limits = 2 * len(rates) * sum(np.count_nonzero(other.n_rows).item() for other in counts.populations)
    fields = {name: value for name, value in rows.bound_fields.items() if name not in ("n", "unit")}
    return GroupRates(
        population.column,
        population.names,
        rates,
        events,
        n,
        np.stack([lower_limits(*numbers, log_delta) for numbers in limits], axis=1),
        np.stack([upper_limits(*numbers, log_delta) for numbers in limits], axis=1),
        positive=positive.name,
        n_rows=rows.n,
        method=f"group rates, exact tail, {n_limits:,} limits at once",
        n_columns=n_columns,
        pruning=pruning.digest,
        **fields,
    )


def _check_no_other_columns(pruning: Pruning, counts: Counts, populations: tuple[PopulationGroups, ...]) -> None:
    """Raise `LeakageError` if other population groups were certified on these rows before.

    Their rates may have suggested the groups: which column, or which values were joined.
    """
    if counts.n_rows is None:  # counts entered by hand are trusted
        return
    groups = digest_of_groups(populations)
    for known in _columns_of_log.get(pruning.tree.evaluation_log, []):
        if known.groups == groups:
            continue
        overlap = sample_overlap(known.sample, counts)
        if known.sample_id == counts.sample_id or (overlap is not None and overlap.is_refused):
            raise LeakageError(
                f"sample {show(counts.sample)} certified the population groups of {known.columns} before, whose rates "
                f"may have suggested those of {group_names(populations)}; certify on other rows, or state all columns ",
                Wording(
                    'in one call, such as count_groups(tree, X, y, group=["sex", "age_band"])',
                    "in one command, such as --group sex --group age_band",
                ),
            )


def _record_columns(pruning: Pruning, counts: Counts, populations: tuple[PopulationGroups, ...]) -> None:
    """Record that these population groups were certified on a sample, unless it was entered by hand."""
    if counts.n_rows is None:
        return
    used = UsedSample(counts.sample, counts.sketch)
    record = _CertifiedColumns(counts.sample_id, used, digest_of_groups(populations), group_names(populations))
    known = _columns_of_log.setdefault(pruning.tree.evaluation_log, [])
    if record not in known:
        known.append(record)
