"""Tests of a fixed sequence in population groups: the error in every group, and the gap of a rate between groups.

A pruning is accepted if it passes the test of every condition, each at the whole delta. If a pruning violates some
condition, it passes the test of this condition with probability at most delta. So neither the number of groups nor that
of their pairs has a price (an intersection-union test):

    error in every group    the upper limit of each group, at delta, is at most the target
    gap of at most g        for every two groups, the upper limit of one minus the lower limit of the other, each at
                            delta / 2, is at most g
"""

import math
import numbers
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Floats
from ..core import GROUP_RATES, Counts, PopulationGroups, Pruning, PruningSequence
from ..core.bound import ERROR_IN_GROUPS, GAP
from ..errors import Argument, ParameterError, show
from ..statistics.freshness import CertifyingRows
from ..statistics.tails import log_binomial_tail
from ._group_rates import (
    ERROR,
    PositiveClass,
    check_populations,
    check_rate,
    events_if_leaf,
    find_positive,
    group_names,
    lower_limits,
    repeated_of_rate,
    rows_of_rate,
    upper_limits,
)


@dataclass(frozen=True)
class GroupConditions:
    """What a fixed sequence requires of population groups.

    Parameters
    ----------
    per_group : bool
        Whether the error must be at most the target in every group.
    max_gap : float, optional
        The largest difference of a rate between two groups.
    rate : str
        The rate that `max_gap` is about; empty without `max_gap`.
    positive : str or None
        The positive class that the caller named.
    """

    per_group: bool = False
    max_gap: float | None = None
    rate: str = ""
    positive: str | None = None

    def __bool__(self) -> bool:
        return self.per_group or self.max_gap is not None

    def __str__(self) -> str:
        texts = ["in every group"] if self.per_group else []
        texts += [] if self.max_gap is None else [f"gap of the {self.rate} at most {self.max_gap:g}"]
        return ", ".join(texts)


NO_CONDITIONS = GroupConditions()


def check_conditions(
    per_group: object, max_gap: object, rate: object, positive: object, *, has_target: bool
) -> GroupConditions:
    """Return the conditions on groups; raise `ParameterError` if they contradict each other."""
    if not isinstance(per_group, bool | np.bool_):
        raise ParameterError(Argument("per_group", per_group), "; True or False is needed")
    if per_group and not has_target:
        raise ParameterError(Argument("per_group", True), " needs a target: the error allowed in every group")
    if max_gap is None:
        for parameter, value in (("rate", rate), ("positive", positive)):
            if value is not None:
                raise ParameterError(
                    Argument(parameter, value), " goes with ", Argument("max_gap"), ", which is not given"
                )
        return GroupConditions(bool(per_group))
    if isinstance(max_gap, bool) or not isinstance(max_gap, numbers.Real) or not 0 < float(max_gap) < 1:
        raise ParameterError(Argument("max_gap", max_gap), "; a difference between 0 and 1, both excluded, is needed")
    if rate is None:
        names = ", ".join(map(show, GROUP_RATES))
        raise ParameterError(Argument("max_gap", max_gap), " needs ", Argument("rate"), f", one of {names}")
    name = None if positive is None else str(positive)
    return GroupConditions(bool(per_group), float(max_gap), check_rate(rate), name)


class PlannedMembers(NamedTuple):
    """The prunings of a plan, and the order in which they are tested."""

    sequence: PruningSequence | tuple[Pruning, ...]
    order: tuple[int, ...]

    def events(self, rate: str, population: PopulationGroups, positive: int) -> Array:
        """Return the events of each group in each member, in order; the shape is (members, groups)."""
        by_class = population.by_class
        if isinstance(self.sequence, PruningSequence):
            labels = np.asarray(self.sequence.node_labels)
            events = events_if_leaf(rate, labels, by_class, positive)
            return np.array([self.sequence.costs_on(of_group) for of_group in events]).T[list(self.order)]
        rows = []
        for i in self.order:
            leaves = self.sequence[i].leaves
            of_leaves = events_if_leaf(rate, self.sequence[i].labels[leaves], by_class[:, leaves], positive)
            rows.append(of_leaves.sum(axis=1))
        return np.array(rows)


class GroupTests:
    """The tests of the conditions on groups, for each member of a plan.

    Parameters
    ----------
    conditions : GroupConditions
    members : PlannedMembers
    counts : Counts
        The sample, counted by population group.
    rows : CertifyingRows
    """

    def __init__(
        self, conditions: GroupConditions, members: PlannedMembers, counts: Counts, rows: CertifyingRows
    ) -> None:
        self.conditions, self.counts, self.rows = conditions, counts, rows
        self.populations = check_populations(counts)
        self.positive = PositiveClass()
        if conditions.max_gap is not None and conditions.rate != ERROR:
            first = members.sequence[members.order[0]]
            self.positive = find_positive(first, counts, conditions.positive)
            if not self.positive.name:
                raise ParameterError(
                    Argument("rate", conditions.rate), " with more than two classes needs ", Argument("positive")
                )
        self._events = {
            rate: [members.events(rate, population, self.positive.number) for population in self.populations]
            for rate in dict.fromkeys([ERROR] if conditions.max_gap is None else [ERROR, conditions.rate])
        }

    def error_limit(self, position: int, log_delta: float) -> float:
        """Return the highest upper limit on the error of a group, at a failure probability of exp(log_delta) each."""
        return max(float(limits.max()) for limits in self._limits(upper_limits, ERROR, position, log_delta))

    def worst_group(self, position: int, log_delta: float) -> str:
        """Return the group with this limit in words, such as "'f' of 'sex'"."""
        limits = self._limits(upper_limits, ERROR, position, log_delta)
        population, of_column = max(zip(self.populations, limits, strict=True), key=lambda pair: float(pair[1].max()))
        return f"{show(population.names[int(of_column.argmax())])} of {show(population.column)}"

    def gap(self, position: int, log_delta: float) -> float:
        """Return the largest certified gap between two groups of a column; each has the failure probability."""
        log_delta_of_side = log_delta + math.log(0.5)
        rate = self.conditions.rate
        upper = self._limits(upper_limits, rate, position, log_delta_of_side)
        lower = self._limits(lower_limits, rate, position, log_delta_of_side)
        return max(_largest_difference(*limits) for limits in zip(upper, lower, strict=True))

    def p_value(self, position: int, target: float) -> float:
        """Return the largest p-value of a group: the probability of at most its errors if the target is its error."""
        largest = 0.0
        for population, events in zip(self.populations, self._events[ERROR], strict=True):
            n = population.n_rows
            n_errors = np.minimum(events[position] + self.rows.repeats.n_errors, n)
            log_p = [log_binomial_tail(*pair, target) if pair[1] else 0.0 for pair in zip(n_errors, n, strict=True)]
            largest = max(largest, float(np.exp(np.minimum(log_p, 0.0)).max()))
        return largest

    @property
    def columns(self) -> str:
        """The columns of the groups in words."""
        return group_names(self.populations)

    @property
    def empty_groups(self) -> list[str]:
        """The groups without rows, in words."""
        return [
            f"{show(name)} of {show(population.column)}"
            for population in self.populations
            for name, n in zip(population.names, population.n_rows.tolist(), strict=True)
            if n == 0
        ]

    def quantity(self, *, has_target: bool) -> str:
        """Return what the bound of a plan limits."""
        if has_target:
            return f"{ERROR_IN_GROUPS} {self.columns}" if self.conditions.per_group else "error"
        return f"{GAP} the {self.conditions.rate} between groups of {self.columns}"

    def method(self, *, has_target: bool) -> str:
        """Return the method of the bound, with the condition that its quantity does not name."""
        if not has_target or self.conditions.max_gap is None:
            return "fixed sequence"
        gap = f"{100 * self.conditions.max_gap:.6g} percentage points"
        what = f"a gap of the {self.conditions.rate} between groups of {self.columns}"
        return f"fixed sequence, with {what} of at most {gap}"

    def details(self, n_tested: int, log_delta: float) -> dict[str, Any]:
        """Return the conditions, and the certified gap of each member tested, for `Bound.details`."""
        conditions = self.conditions
        found: dict[str, Any] = {
            "columns": [population.column for population in self.populations],
            "per_group": conditions.per_group,
        }
        if conditions.max_gap is not None:
            found |= {
                "max_gap": conditions.max_gap,
                "rate": conditions.rate,
                "positive": conditions.positive,
                "gaps": [self.gap(position, log_delta) for position in range(n_tested)],
            }
        return found

    def _limits(self, side: Any, rate: str, position: int, log_delta: float) -> list[Floats]:
        """Return the lower or upper limits on a rate of the groups of each column."""
        n_repeated = repeated_of_rate(rate, self.rows.repeats, self.counts.n_classes, self.positive.number)
        limits = []
        for population, events in zip(self.populations, self._events[rate], strict=True):
            n = rows_of_rate(rate, population.by_class[:, 0], self.positive.number)
            limits.append(side(events[position], n, n_repeated, log_delta))
        return limits


def _largest_difference(upper: Floats, lower: Floats) -> float:
    """Return the largest upper limit of a group minus the lower limit of another; 0 for a single group."""
    differences = upper[:, None] - lower[None, :]
    np.fill_diagonal(differences, 0.0)
    return float(differences.max())
