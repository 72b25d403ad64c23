"""The rates of population groups: which rows they count, and their exact limits.

A rate counts events among the rows of a group: wrong rows among all of them (error), rows predicted positive among all
(selection rate) or among those of other classes (false positive rate), and rows not predicted positive among those of
the positive class (false negative rate). Given the group and the class of each row, the number of events is binomial.

Rows that may be copies of other rows are not further draws, and it is not known in which group they are. An upper limit
counts each of them as an event of its group, and a lower limit as none. This is always valid: without the copies, there
are as many other events and other rows, and adding rows that are events raises an upper limit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import Array, Floats, Longs
from ..core import GROUP_RATES, Counts, PopulationGroups, Pruning, class_number
from ..core.class_names import class_names_of
from ..core.provenance import hash_arrays
from ..errors import Argument, CountsError, ParameterError, UnsupportedError, show
from ..statistics.repeats import Repeats
from ..statistics.tails import binomial_upper
from ._rates import log_share_of_delta

ERROR, FALSE_POSITIVES, FALSE_NEGATIVES, SELECTION = GROUP_RATES


@dataclass(frozen=True)
class PositiveClass:
    """The class that the rates are about.

    Parameters
    ----------
    name : str
        Its name; empty if only the error is certified.
    number : int
        Its number; -1 if there is none.
    """

    name: str = ""
    number: int = -1

    @property
    def rates(self) -> tuple[str, ...]:
        """The names of the rates that exist."""
        return tuple(GROUP_RATES) if self.name else (ERROR,)


def find_positive(pruning: Pruning, counts: Counts, positive: object) -> PositiveClass:
    """Return the positive class: of two classes by default the second; of more classes there is no default."""
    names = class_names_of(pruning.tree, None, counts.n_classes)
    schema = pruning.tree.schema
    n_known = counts.n_classes if schema is None or schema.classes is None else len(schema.classes)
    if positive is not None:
        number = class_number(names[:n_known], positive)
        return PositiveClass(names[number], number)
    return PositiveClass(names[1], 1) if n_known == 2 else PositiveClass()


def check_populations(counts: object) -> tuple[PopulationGroups, ...]:
    """Return the population groups of a sample; raise `CountsError` if the sample was counted without."""
    if isinstance(counts, Counts) and counts.populations:
        return counts.populations
    if isinstance(counts, Counts):
        remark = ""
        if counts.grouped is not None:
            remark = " (groups= are rows that belong together, such as the visits of one patient)"
        raise CountsError(
            f"sample {show(counts.sample)} was not counted by population group{remark}; pass counts of "
            "count_groups(tree, X, y, group=...)"
        )
    raise UnsupportedError(
        f"a {type(counts).__name__} was given as counts; the Counts of count_groups(tree, X, y, group=...) are needed"
    )


def check_rate(rate: object) -> str:
    """Return the name of a rate; words may be joined by hyphens or underscores."""
    name = rate.replace("-", " ").replace("_", " ") if isinstance(rate, str) else rate
    if name not in GROUP_RATES:
        raise ParameterError(Argument("rate", rate), f"; one of {', '.join(map(show, GROUP_RATES))} is needed")
    return str(name)


def events_if_leaf(rate: str, labels: Array, by_class: Longs, positive: int) -> Longs:
    """Return the events of each node as a leaf in each group, of shape (groups, nodes).

    Parameters
    ----------
    rate : str
    labels : array
        The class that each node predicts.
    by_class : array of shape (groups, nodes, classes)
    positive : int
        The number of the positive class.
    """
    total: Longs = by_class.sum(axis=2)
    if rate == ERROR:
        known = np.minimum(labels, by_class.shape[2] - 1)
        correct = np.take_along_axis(by_class, known[None, :, None], axis=2)[:, :, 0]
        return total - np.where(labels < by_class.shape[2], correct, 0)
    is_selected = labels == positive
    of_positive = by_class[:, :, positive] if positive < by_class.shape[2] else np.zeros_like(total)
    if rate == SELECTION:
        return np.where(is_selected, total, 0)
    if rate == FALSE_POSITIVES:
        return np.where(is_selected, total - of_positive, 0)
    return np.where(is_selected, 0, of_positive)


def rows_of_rate(rate: str, by_class: Longs, positive: int) -> Longs:
    """Return the number of rows among which a rate counts, from counts whose last axis are the classes."""
    total: Longs = by_class.sum(axis=-1)
    if rate in (ERROR, SELECTION):
        return total
    of_positive = by_class[..., positive] if positive < by_class.shape[-1] else np.zeros_like(total)
    return of_positive if rate == FALSE_NEGATIVES else total - of_positive


def count_events(
    pruning: Pruning, population: PopulationGroups, rates: Sequence[str], positive: int
) -> tuple[Longs, Longs]:
    """Return the events of each group and rate of a pruning, and the rows among which they count."""
    leaves = pruning.leaves
    at_leaves, labels = population.by_class[:, leaves], pruning.labels[leaves]
    events = [events_if_leaf(rate, labels, at_leaves, positive).sum(axis=1) for rate in rates]
    n = [rows_of_rate(rate, population.by_class[:, 0], positive) for rate in rates]
    return np.stack(events, axis=1), np.stack(n, axis=1)


def repeated_of_rate(rate: str, repeats: Repeats, n_classes: int, positive: int) -> int:
    """Return the largest number of rows that may be copies among those of which a rate counts."""
    if rate in (ERROR, SELECTION) or not repeats.errors_by_class:
        return repeats.n_errors
    of_classes = repeats.of_classes(n_classes)
    of_positive = int(of_classes[positive]) if positive < n_classes else 0
    return of_positive if rate == FALSE_NEGATIVES else int(of_classes.sum()) - of_positive


def upper_limits(events: Array, n: Array, n_repeated: int, log_delta: Any) -> Floats:
    """Return upper limits on rates, each at a failure probability of exp(log_delta); 1 where there are no rows."""
    limits = binomial_upper(np.minimum(events + n_repeated, n), n, log_delta)
    return np.where(n == 0, 1.0, limits)


def lower_limits(events: Array, n: Array, n_repeated: int, log_delta: Any) -> Floats:
    """Return lower limits on rates, each at a failure probability of exp(log_delta); 0 where there are no rows."""
    return np.asarray(1.0 - upper_limits(n - events, n, n_repeated, log_delta))


def log_delta_of_limit(delta: float, n_groups: int, n_rates: int) -> float:
    """Return ln of the failure probability of each limit, if all limits on the rates of a column hold at once.

    Given the group of each row, the rows of different groups are independent, so each of the groups may fail with
    probability 1 - (1 - delta)^(1/groups). This is divided by the number of rates and their two sides.
    """
    return log_share_of_delta(delta, n_groups) - math.log(2 * n_rates)


def group_names(populations: Sequence[PopulationGroups]) -> str:
    """Return the columns of groups in words, such as "'sex' and 'age'"."""
    names = [show(population.column) for population in populations]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def digest_of_groups(populations: Sequence[PopulationGroups]) -> bytes:
    """Return a hash of the groups of all columns: of their names and of their rows in every node."""
    names = repr([(population.column, population.names) for population in populations]).encode(errors="surrogatepass")
    return hash_arrays(np.frombuffer(names, np.uint8), *(population.by_class for population in populations))
