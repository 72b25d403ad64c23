"""Fixed-sequence testing: the smallest pruning that is certified below a target, at no price for trying many of them.

The prunings P_1, P_2, ... are put in an order, and the target t is stated, before any certifying row is seen. P_i is
accepted if its exact p-value Pr[Bin(n, t) <= errors of P_i] is at most delta. Testing stops at the first P_i that is
not accepted. The first P_i in the order with an error above t is accepted with probability at most delta, and no later
one can be accepted without it. So with probability 1 - delta all accepted prunings have an error of at most t.

With shares of delta for several starting points, an accepted pruning passes its part on to the next one, and testing
goes on wherever a part is left (the fallback procedure of Wiens, 2003). The part of a pruning with an error above t is
at most the sum of the shares after the last such pruning before it, so all these parts sum to delta at most.

A pruning may have to meet further conditions in population groups, such as the target in each of them. It is accepted
if it passes the test of every condition at the same delta: see `_group_tests`.
"""

import hashlib
import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .._utils.arrays import ArrayLike, Floats, Immutable, LongsOrFloats
from ..core import Bound, Counts, EvaluationLog, Pruning, PruningSequence, SampleUsage, Selection, Tree
from ..core.provenance import usage_of_array
from ..errors import Argument, LeakageError, ParameterError, UnsupportedError, show
from ..statistics.freshness import CertifyingRows
from ..statistics.repeats import RepeatRule, Repeats
from ..statistics.tails import check_delta, log_binomial_tail
from ._fresh import check_fresh_rows, check_kinds, evaluations_of
from ._group_rates import check_populations, digest_of_groups
from ._group_tests import NO_CONDITIONS, GroupConditions, GroupTests, PlannedMembers, check_conditions
from ._groups import ErrorLimits, GroupError, check_group_error, labels_of_pruning, limit_errors

# The digest of the plan that each sample was used for, by the identity of the sample. Equal plans give equal results,
# so a plan may be repeated. The log of the tree records the evaluation, but not the order and the target.
_plans_of_log: "WeakKeyDictionary[EvaluationLog, dict[bytes, bytes]]" = WeakKeyDictionary()


def fixed_sequence(
    sequence: PruningSequence | Selection | Sequence[Pruning],
    *,
    target: float | Sequence[float] | None = None,
    order: ArrayLike | None = None,
    shares: ArrayLike | None = None,
    per_group: bool = False,
    max_gap: float | None = None,
    rate: str | None = None,
    positive: object = None,
) -> "FixedSequencePlan":
    """Return a plan for certifying the smallest pruning below a target; make it before any certifying row is seen.

    Parameters
    ----------
    sequence : PruningSequence, Selection or list of Pruning
        The prunings, made without the rows that will certify.
    target : float or sequence of float
        The error that a pruning must be certified not to exceed, stated without looking at the certifying rows. Of
        several targets, each is tested with an equal part of delta. It may be left out if `max_gap` is given.
    order : sequence of int, optional
        The members to test, in this order, fixed without looking at the certifying rows. By default towards fewer
        leaves: from the best member if `sequence` is a `Selection` by cross-validation, else from the largest.
    shares : array, optional
        For several starting points: the share of delta of each member in the order, 0 or more, at most 1 in total. An
        accepted member passes its part of delta on to the next one. By default the first member has all of it.
    per_group : bool
        Whether the error must be at most the target in every population group, such as women and men. The certifying
        sample is then counted by `count_groups`. There is no price for the number of groups.
    max_gap : float, optional
        The largest difference of a rate between two population groups, in either direction, that a pruning may have.
    rate : str, optional
        With `max_gap`: "error", "false positive rate", "false negative rate" or "selection rate".
    positive : class, optional
        With `rate`: the positive class, as in `certify_groups`.

    Returns
    -------
    FixedSequencePlan
        `plan.certify(counts)` tests the prunings on fresh rows.

    Notes
    -----
    If the certifying rows suggested the order, this cannot be detected in general: compute it by cross-validation or
    from the growing rows. O(n_nodes) for a nested sequence, and one binomial tail per member that is tested.
    Maurer, Hothorn and Lehmacher (1995).

    Examples
    --------
    >>> from secateur import Counts, PruningSequence, Tree
    >>> from secateur.certifiers import fixed_sequence
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = PruningSequence(
    ...     tree, [3, 2, 1], [0, 1, 40], steps=[2, 1, 0, 0, 0], node_labels=[0, 0, 0, 1, 1], seen={"grow"}
    ... )
    >>> plan = fixed_sequence(sequence, target=0.15)
    >>> plan
    FixedSequencePlan(target 0.15, 3 prunings from 3 to 1 leaves)
    >>> fresh = Counts.from_leaves(tree, [[180, 10], [20, 15], [25, 250]], sample="test")
    >>> pruning, bound = plan.certify(fresh)
    >>> pruning.n_leaves, bound.value, bound.details["accepted"]
    (2, 0.15, [0, 1])
    """
    conditions = check_conditions(per_group, max_gap, rate, positive, has_target=target is not None)
    targets = () if target is None and max_gap is not None else _checked_targets(target)
    usage = usage_of_array(order)
    if isinstance(sequence, Selection):
        usage |= sequence.evaluated_on
        members, best = _checked_members(sequence.sequence), sequence.best
    else:
        members, best = _checked_members(sequence), 0
    positions = list(range(best, len(members))) if order is None else _checked_order(order, len(members))
    weights = np.eye(1, len(positions))[0] if shares is None else _checked_shares(shares, len(positions))
    return FixedSequencePlan(
        members, targets, tuple(positions), tuple(weights.tolist()), usage, _is_list(target), conditions
    )


@dataclass(frozen=True, eq=False, repr=False)
class FixedSequencePlan(Immutable):
    """Prunings in a fixed order, and the targets below which they are to be certified: see `fixed_sequence`.

    Parameters
    ----------
    sequence : PruningSequence or tuple of Pruning
        The prunings.
    targets : tuple of float
        The targets that were stated.
    order : tuple of int
        The members to test, in order.
    shares : tuple of float
        The share of delta of each member in the order.
    seen : SampleUsage
        Samples from which the order was made, as far as they are known.
    has_many_targets : bool
        Whether several targets were stated, so that `certify` returns a list.
    conditions : GroupConditions
        What is required of population groups.

    Examples
    --------
    >>> from secateur import Pruning, Tree
    >>> from secateur.certifiers import fixed_sequence
    >>> fixed_sequence([Pruning.from_cuts(Tree.from_parents([-1, 0, 0]), [])], target=(0.1, 0.2)).targets
    (0.1, 0.2)
    """

    sequence: PruningSequence | tuple[Pruning, ...]
    targets: tuple[float, ...]
    order: tuple[int, ...]
    shares: tuple[float, ...]
    seen: SampleUsage = field(default_factory=SampleUsage)
    has_many_targets: bool = False
    conditions: GroupConditions = NO_CONDITIONS

    @property
    def tree(self) -> Tree:
        """The grown tree."""
        return self.sequence.tree if isinstance(self.sequence, PruningSequence) else self.sequence[0].tree

    def certify(
        self,
        counts: Counts,
        delta: float = 0.05,
        *,
        repeated: bool = False,
        repeats: Repeats | RepeatRule = "errors",
        group_error: GroupError = "share",
    ) -> Any:
        """Test the prunings on fresh rows, and return the last one that is accepted, with its certificate.

        Parameters
        ----------
        counts : Counts
            Integer counts of a sample that had no part in making the prunings, the order or the target, and was not
            evaluated on any pruning of the tree. With conditions on population groups, those of `count_groups`.
        delta : float
            Probability, over samples, that any accepted pruning has an error above its target.
        repeated, repeats, group_error
            As for `secateur.certify`. For a sample with groups, limits at delta take the place of p-values.

        Returns
        -------
        (Pruning or None, Bound)
            The last pruning that is accepted, which is the smallest in the default order; its `seen` includes the
            sample. The value of the bound is the target. If no pruning is accepted: None, and a bound that is not
            certified. Its `reason` states the limit of the first pruning in the order, which is its `value`. For
            several targets a list of such pairs; all their statements hold at once.

            `details` of the bound has "accepted" (the members that are accepted, all certified at once), "member",
            "n_leaves", "order", "p_values" of the members tested, "stopped_at" (the member that was not accepted; None
            if all were), "target", "targets" and "limit_of_first". With `per_group`, p-values are the largest of all
            groups. With conditions on groups there are also "columns", "per_group", "max_gap", "rate", "positive" and,
            with `max_gap`, "gaps": the certified gap of each member tested.

        Raises
        ------
        LeakageError
            If the rows were used before: also if they were evaluated on any pruning of the tree, such as by another
            plan. State several targets in one plan, or choose from the limits of `path`, which pays for the choice.
        """
        delta = check_delta(delta)
        check_group_error(group_error, counts)
        check_kinds(self._first, counts)
        conditions = self.conditions
        if conditions:
            check_populations(counts)
        members = self._members_with_usage
        # No other thread may evaluate the sample between the check that its rows are fresh and the record of their use.
        with self.tree.evaluation_log.lock:
            rows = check_fresh_rows(
                members, counts, "a fixed sequence", delta,
                repeated=repeated, repeats=repeats, takes_groups=not conditions,
            )  # fmt: skip
            _check_not_evaluated(self, counts)
            errors = self._evaluate(counts)
        groups = GroupTests(conditions, self._tested, counts, rows) if conditions else None
        sample = _TestedSample(self, counts, rows, errors, group_error, groups)
        results = [_test(sample, target) for target in self.targets or (None,)]
        certified = [(self._pruning(member, counts), bound) for member, bound in results]
        return certified if self.has_many_targets else certified[0]

    @property
    def digest(self) -> bytes:
        """A hash of the prunings, the order, the shares and the targets; equal for plans with equal results."""
        sequence = self.sequence
        if isinstance(sequence, PruningSequence):
            members = sequence.digest
        else:
            members = b"".join(sequence[i].digest for i in self.order)
        numbers_of_plan = repr((self.targets, self.order, self.shares, self.conditions)).encode(errors="replace")
        return hashlib.blake2b(members + numbers_of_plan, digest_size=16).digest()

    def digest_on(self, counts: Counts) -> bytes:
        """Return the digest, with that of the population groups of a sample if the plan has conditions on groups."""
        return self.digest + digest_of_groups(counts.populations) if self.conditions else self.digest

    @property
    def _first(self) -> Pruning:
        """The first pruning in the order."""
        return self.sequence[self.order[0]]

    @property
    def _tested(self) -> PlannedMembers:
        """The members, and the order in which they are tested."""
        return PlannedMembers(self.sequence, self.order)

    @property
    def _members_with_usage(self) -> PruningSequence | list[Pruning]:
        """The prunings, as made with the samples that made the order, too."""
        if isinstance(self.sequence, PruningSequence):
            return replace(self.sequence, seen=self.sequence.seen | self.seen) if self.seen else self.sequence
        return [replace(pruning, seen=pruning.seen | self.seen) for pruning in self.sequence]

    def _evaluate(self, counts: Counts) -> LongsOrFloats:
        """Return the errors of the members in the order, and record that the sample was used for this plan."""
        log = self.tree.evaluation_log
        if isinstance(self.sequence, PruningSequence):
            errors = np.asarray(self.sequence.unrecorded_errors_on(counts))[list(self.order)]
            log.record_sequence(counts, self.sequence)
        else:
            errors = np.array([self.sequence[i].errors(counts) for i in self.order])
        _plans_of_log.setdefault(log, {})[_identity(counts)] = self.digest_on(counts)
        return errors

    def _pruning(self, member: int | None, counts: Counts) -> Pruning | None:
        """Return a member; its `seen` includes the sample that chose it."""
        if member is None:
            return None
        pruning = self.sequence[member]
        return replace(pruning, seen=pruning.seen | self.seen | SampleUsage.of(counts))

    def __repr__(self) -> str:
        n_leaves = [self.sequence[i].n_leaves for i in (self.order[0], self.order[-1])]
        targets = f"target{'s' * self.has_many_targets} {', '.join(f'{target:g}' for target in self.targets)}"
        targets = ", ".join(text for text in (targets if self.targets else "", str(self.conditions)) if text)
        number = f"{len(self.order):,} pruning{'s' * (len(self.order) > 1)}"
        return f"FixedSequencePlan({targets}, {number} from {n_leaves[0]:,} to {n_leaves[1]:,} leaves)"


class _TestedSample(NamedTuple):
    """A sample with the errors of the members of a plan, in the order of the plan."""

    plan: FixedSequencePlan
    counts: Counts
    rows: CertifyingRows
    errors: LongsOrFloats
    group_error: GroupError
    groups: GroupTests | None

    def limit(self, position: int, log_delta: float) -> ErrorLimits:
        """Return the limit on the error of the member at a position of the order."""
        pruning = self.plan.sequence[self.plan.order[position]] if self.counts.grouped is not None else None
        members = [] if pruning is None else [(pruning, labels_of_pruning(pruning))]
        errors = self.errors[position : position + 1]
        return limit_errors(self.counts, self.rows, errors, members, log_delta, group_error=self.group_error)

    def stated_limit(self, position: int, target: float | None, log_delta: float) -> float:
        """Return the limit that is compared with the target; without a target the limit on the gap between groups."""
        if self.groups is not None and target is None:
            return self.groups.gap(position, log_delta)
        if self.groups is not None and self.groups.conditions.per_group:
            return self.groups.error_limit(position, log_delta)
        return float(self.limit(position, log_delta).limits[0])

    def is_accepted(self, position: int, target: float | None, log_delta: float) -> bool:
        """Return whether the member at a position passes the test of the target and of all conditions on groups."""
        # The rounded-up limit and the target are compared, so that rounding can only refuse.
        if target is not None and self.stated_limit(position, target, log_delta) > target:
            return False
        max_gap = None if self.groups is None else self.groups.conditions.max_gap
        return self.groups is None or max_gap is None or self.groups.gap(position, log_delta) <= max_gap

    def p_values(self, n_tested: int, target: float | None) -> list[float]:
        """Return the p-values of the members that were tested; with a target in every group, the largest of a group."""
        if target is None or self.counts.grouped is not None:
            return []
        if self.groups is not None and self.groups.conditions.per_group:
            return [self.groups.p_value(position, target) for position in range(n_tested)]
        errors = self.rows.add_repeated(self.errors[:n_tested])
        return [float(p) for p in np.exp(np.minimum(log_binomial_tail(errors, self.rows.n, target), 0.0))]


def _test(sample: _TestedSample, target: float | None) -> tuple[int | None, Bound]:
    """Return the last member that is accepted, None if there is none, and the bound for one target."""
    plan, rows, groups = sample.plan, sample.rows, sample.groups
    log_delta = math.log(rows.delta) - math.log(max(1, len(plan.targets)))
    accepted: list[int] = []  # positions in the order
    n_tested, stopped_at, last_log_share = 0, None, 0.0
    part = 0.0
    for position, share in enumerate(plan.shares):
        part += share
        if part == 0:  # nothing is left for this member, and for none after it unless it has a share of its own
            continue
        n_tested = position + 1
        log_share = min(math.log(part), 0.0)
        if sample.is_accepted(position, target, log_delta + log_share):
            accepted.append(position)
            last_log_share = log_share
        else:
            stopped_at, part = position, 0.0
    shown = accepted[-1] if accepted else 0
    log_share_of_first = math.log(plan.shares[0]) if plan.shares[0] else -math.inf
    log_delta_of_first = log_delta + min(log_share_of_first, 0.0)
    limit_of_first = sample.stated_limit(0, target, log_delta_of_first)
    found = sample.limit(shown, log_delta)  # for the errors
    member = plan.order[shown]
    details = {
        "tail": "exact",
        "log_delta": log_delta + last_log_share,
        "target": target,
        "targets": list(plan.targets),
        "order": list(plan.order),
        "accepted": [plan.order[position] for position in accepted],
        "p_values": sample.p_values(n_tested, target),
        "stopped_at": None if stopped_at is None else plan.order[stopped_at],
        "member": member,
        "n_leaves": plan.sequence[member].n_leaves,
        "limit_of_first": limit_of_first,
    }
    fields = {"method": "fixed sequence", **rows.bound_fields, **found.fields}
    if sample.counts.grouped is not None:
        fields["method"] = f"fixed sequence, {found.description}"
    if groups is not None:
        has_target = target is not None
        fields |= {"method": groups.method(has_target=has_target), "quantity": groups.quantity(has_target=has_target)}
        details |= groups.details(n_tested, log_delta)
    value = plan.conditions.max_gap if target is None else target
    assert value is not None
    return (member if accepted else None), Bound(
        value=value if accepted else limit_of_first,
        errors=found.errors[0].item(),
        complexity=math.log(rows.delta) - log_delta - last_log_share,
        certified=bool(accepted),
        reason="" if accepted else _describe_failure(sample, target, limit_of_first, log_delta_of_first),
        details=details,
        covers_choice=True,
        **fields,
    )


def _describe_failure(sample: _TestedSample, target: float | None, limit: float, log_delta: float) -> str:
    """Return why nothing is certified, and what could have been certified."""
    plan, groups = sample.plan, sample.groups
    leaves = plan.sequence[plan.order[0]].n_leaves
    first = f"the first pruning, with {leaves:,} lea{'f' if leaves == 1 else 'ves'},"
    shown = f"{math.ceil(limit * 1e4) / 100:g} %"
    if groups is None:
        return (
            f"no pruning is certified below the target of {100 * (target or 0):.6g} %; {first} has a test-sample limit "
            f"of {shown}, the lowest target that these rows would have met"
        )
    failed, limits = [], []
    if target is not None:
        where = f" in every group of {groups.columns}" if groups.conditions.per_group else ""
        failed.append(f"below the target of {100 * target:.6g} %{where}")
        worst = f" for {groups.worst_group(0, log_delta)}" if groups.conditions.per_group else ""
        limits.append(f"a limit of {shown}{worst}")
    if groups.conditions.max_gap is not None:
        max_gap, gap = groups.conditions.max_gap, groups.gap(0, log_delta)
        failed.append(f"with a gap of the {groups.conditions.rate} of at most {100 * max_gap:.6g} points")
        limits.append(f"a certified gap of {math.ceil(gap * 1e4) / 100:g} points")
    lowest = "" if len(limits) > 1 else ", the lowest target that these rows would have met"
    empty = groups.empty_groups[:3]
    remark = f"; nothing can be certified of groups without rows ({', '.join(empty)})" if empty else ""
    return f"no pruning is certified {' and '.join(failed)}; {first} has {' and '.join(limits)}{lowest}{remark}"


def _check_not_evaluated(plan: FixedSequencePlan, counts: Counts) -> None:
    """Raise `LeakageError` if the sample was evaluated before, unless for an equal plan.

    A sample whose errors are known may have suggested the target, or the order.
    """
    used_plan = _plans_of_log.get(plan.tree.evaluation_log, {}).get(_identity(counts))
    if used_plan == plan.digest_on(counts):
        return
    if used_plan is None and not evaluations_of(plan.tree, counts):
        return
    use = "was evaluated on prunings of this tree" if used_plan is None else "was used for another plan"
    raise LeakageError(
        f"sample {show(counts.sample)} {use} before, so it may have suggested the target or the order; certify on rows "
        "that were not evaluated, state all targets in one plan (",
        Argument("target", (0.1, 0.15)),
        "), or choose from the limits of certifiers.path, which hold for every choice",
    )


def _identity(counts: Counts) -> bytes:
    """Return the identity of a sample; of counts entered by hand the numbers together with the name."""
    return counts.sample_id + counts.sample.encode(errors="replace")


def _checked_targets(target: float | Sequence[float] | None) -> tuple[float, ...]:
    """Return the targets as floats; raise `ParameterError` unless each is between 0 and 1."""
    values: Iterable[Any] = target if _is_list(target) else [target]  # type: ignore[assignment]
    targets = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
            raise ParameterError(Argument("target", value), "; an error between 0 and 1, both excluded, is needed")
        targets.append(float(value))
    if not targets:
        raise ParameterError(Argument("target", target), "; at least one target is needed")
    return tuple(targets)


def _is_list(target: object) -> bool:
    return isinstance(target, list | tuple | np.ndarray) and np.ndim(target) > 0


def _checked_members(sequence: object) -> PruningSequence | tuple[Pruning, ...]:
    """Return the prunings of a plan; raise unless they are prunings of one tree."""
    if isinstance(sequence, PruningSequence):
        return sequence
    members = tuple(sequence) if isinstance(sequence, list | tuple) else ()
    if not members or not all(isinstance(member, Pruning) for member in members):
        raise UnsupportedError(
            f"{show(sequence)} was given; fixed_sequence takes a PruningSequence, a Selection or a list of prunings"
        )
    for member in members:
        if not member.tree.same_structure(members[0].tree):
            raise ParameterError("the prunings are of different trees; a plan tests prunings of one tree")
    return members


def _checked_order(order: ArrayLike, n_members: int) -> list[int]:
    """Return the order as a list; raise `ParameterError` unless it names members, each at most once."""
    array = np.asarray(order)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
        raise ParameterError(Argument("order", order), "; a list of numbers of members is needed")
    if array.min() < 0 or array.max() >= n_members:
        raise ParameterError(Argument("order", order), f"; members from 0 to {n_members - 1} are needed")
    if len(np.unique(array)) != len(array):
        raise ParameterError(Argument("order", order), "; each member can be tested once")
    return [int(member) for member in array]


def _checked_shares(shares: ArrayLike, n_members: int) -> Floats:
    """Return the shares of delta; raise `ParameterError` unless there is one per member tested, at most 1 in total."""
    array = np.asarray(shares, np.float64)
    if array.shape != (n_members,):
        raise ParameterError(f"shares have shape {array.shape}; one per member tested, ({n_members},), is needed")
    if not (np.isfinite(array) & (array >= 0)).all() or not 0 < array.sum() <= 1 + 1e-9:
        raise ParameterError(Argument("shares", shares), "; numbers of 0 or more with a sum of at most 1 are needed")
    scaled: Floats = array / max(1.0, float(array.sum()))
    return scaled
