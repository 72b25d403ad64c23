"""Fixed-sequence testing: the smallest pruning that is certified below a target, at no price for trying many of them.

The prunings P_1, P_2, ... are put in an order, and the target t is stated, before any certifying row is seen. P_i is
accepted if its exact p-value Pr[Bin(n, t) <= errors of P_i] is at most delta. Testing stops at the first P_i that is
not accepted. The first P_i in the order with an error above t is accepted with probability at most delta, and no later
one can be accepted without it. So with probability 1 - delta all accepted prunings have an error of at most t.

With shares of delta for several starting points, an accepted pruning passes its part on to the next one, and testing
goes on wherever a part is left (the fallback procedure of Wiens, 2003). The part of a pruning with an error above t is
at most the sum of the shares after the last such pruning before it, so all these parts sum to delta at most.
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
from ._groups import ErrorLimits, GroupError, check_group_error, labels_of_pruning, limit_errors

# The digest of the plan that each sample was used for, by the identity of the sample. Equal plans give equal results,
# so a plan may be repeated. The log of the tree records the evaluation, but not the order and the target.
_plans_of_log: "WeakKeyDictionary[EvaluationLog, dict[bytes, bytes]]" = WeakKeyDictionary()


def fixed_sequence(
    sequence: PruningSequence | Selection | Sequence[Pruning],
    *,
    target: float | Sequence[float],
    order: ArrayLike | None = None,
    shares: ArrayLike | None = None,
) -> "FixedSequencePlan":
    """Return a plan for certifying the smallest pruning below a target; make it before any certifying row is seen.

    Parameters
    ----------
    sequence : PruningSequence, Selection or list of Pruning
        The prunings, made without the rows that will certify.
    target : float or sequence of float
        The error that a pruning must be certified not to exceed, stated without looking at the certifying rows. Of
        several targets, each is tested with an equal part of delta.
    order : sequence of int, optional
        The members to test, in this order, fixed without looking at the certifying rows. By default towards fewer
        leaves: from the best member if `sequence` is a `Selection` by cross-validation, else from the largest.
    shares : array, optional
        For several starting points: the share of delta of each member in the order, 0 or more, at most 1 in total. An
        accepted member passes its part of delta on to the next one. By default the first member has all of it.

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
    targets = _checked_targets(target)
    usage = usage_of_array(order)
    if isinstance(sequence, Selection):
        usage |= sequence.evaluated_on
        members, best = _checked_members(sequence.sequence), sequence.best
    else:
        members, best = _checked_members(sequence), 0
    positions = list(range(best, len(members))) if order is None else _checked_order(order, len(members))
    weights = np.eye(1, len(positions))[0] if shares is None else _checked_shares(shares, len(positions))
    return FixedSequencePlan(members, targets, tuple(positions), tuple(weights.tolist()), usage, _is_list(target))


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
            evaluated on any pruning of the tree.
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
            if all were), "target", "targets" and "limit_of_first".

        Raises
        ------
        LeakageError
            If the rows were used before: also if they were evaluated on any pruning of the tree, such as by another
            plan. State several targets in one plan, or choose from the limits of `path`, which pays for the choice.
        """
        delta = check_delta(delta)
        check_group_error(group_error, counts)
        check_kinds(self._first, counts)
        members = self._members_with_usage
        # No other thread may evaluate the sample between the check that its rows are fresh and the record of their use.
        with self.tree.evaluation_log.lock:
            rows = check_fresh_rows(
                members, counts, "a fixed sequence", delta, repeated=repeated, repeats=repeats, takes_groups=True
            )
            _check_not_evaluated(self, counts)
            errors = self._evaluate(counts)
        sample = _TestedSample(self, counts, rows, errors, group_error)
        results = [_test(sample, target) for target in self.targets]
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
        numbers_of_plan = repr((self.targets, self.order, self.shares)).encode()
        return hashlib.blake2b(members + numbers_of_plan, digest_size=16).digest()

    @property
    def _first(self) -> Pruning:
        """The first pruning in the order."""
        return self.sequence[self.order[0]]

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
        _plans_of_log.setdefault(log, {})[_identity(counts)] = self.digest
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
        number = f"{len(self.order):,} pruning{'s' * (len(self.order) > 1)}"
        return f"FixedSequencePlan({targets}, {number} from {n_leaves[0]:,} to {n_leaves[1]:,} leaves)"


class _TestedSample(NamedTuple):
    """A sample with the errors of the members of a plan, in the order of the plan."""

    plan: FixedSequencePlan
    counts: Counts
    rows: CertifyingRows
    errors: LongsOrFloats
    group_error: GroupError

    def limit(self, position: int, log_delta: float) -> ErrorLimits:
        """Return the limit on the error of the member at a position of the order."""
        pruning = self.plan.sequence[self.plan.order[position]] if self.counts.grouped is not None else None
        members = [] if pruning is None else [(pruning, labels_of_pruning(pruning))]
        errors = self.errors[position : position + 1]
        return limit_errors(self.counts, self.rows, errors, members, log_delta, group_error=self.group_error)


def _test(sample: _TestedSample, target: float) -> tuple[int | None, Bound]:
    """Return the last member that is accepted, None if there is none, and the bound for one target."""
    plan, rows = sample.plan, sample.rows
    log_delta = math.log(rows.delta) - math.log(len(plan.targets))
    accepted: list[int] = []  # positions in the order
    n_tested, stopped_at, last_log_share = 0, None, 0.0
    part = 0.0
    for position, share in enumerate(plan.shares):
        part += share
        if part == 0:  # nothing is left for this member, and for none after it unless it has a share of its own
            continue
        n_tested = position + 1
        log_share = min(math.log(part), 0.0)
        # The rounded-up limit and the target are compared, so that rounding can only refuse.
        if sample.limit(position, log_delta + log_share).limits[0] <= target:
            accepted.append(position)
            last_log_share = log_share
        else:
            stopped_at, part = position, 0.0
    shown = accepted[-1] if accepted else 0
    log_share_of_first = math.log(plan.shares[0]) if plan.shares[0] else -math.inf
    limit_of_first = float(sample.limit(0, log_delta + min(log_share_of_first, 0.0)).limits[0])
    found = sample.limit(shown, log_delta)  # for the errors
    has_groups = sample.counts.grouped is not None
    member = plan.order[shown]
    details = {
        "tail": "exact",
        "log_delta": log_delta + last_log_share,
        "target": target,
        "targets": list(plan.targets),
        "order": list(plan.order),
        "accepted": [plan.order[position] for position in accepted],
        "p_values": [] if has_groups else _p_values(rows.add_repeated(sample.errors[:n_tested]), rows.n, target),
        "stopped_at": None if stopped_at is None else plan.order[stopped_at],
        "member": member,
        "n_leaves": plan.sequence[member].n_leaves,
        "limit_of_first": limit_of_first,
    }
    return (member if accepted else None), Bound(
        value=target if accepted else limit_of_first,
        method=f"fixed sequence, {found.description}" if has_groups else "fixed sequence",
        errors=found.errors[0].item(),
        complexity=math.log(rows.delta) - log_delta - last_log_share,
        certified=bool(accepted),
        reason="" if accepted else _describe_failure(plan, target, limit_of_first),
        details=details,
        covers_choice=True,
        **rows.bound_fields,
        **found.fields,
    )


def _p_values(wrong: LongsOrFloats, n: int, target: float) -> list[float]:
    """Return, for each number in `wrong`, P(Bin(n, target) <= number): its p-value if the true error is `target`."""
    return [float(p) for p in np.exp(np.minimum(log_binomial_tail(wrong, n, target), 0.0))]


def _describe_failure(plan: FixedSequencePlan, target: float, limit: float) -> str:
    """Return why nothing is certified below a target, and what could have been certified."""
    leaves = plan.sequence[plan.order[0]].n_leaves
    first = f"the first pruning, with {leaves:,} lea{'f' if leaves == 1 else 'ves'},"
    return (
        f"no pruning is certified below the target of {100 * target:.6g} %; {first} has a test-sample limit of "
        f"{math.ceil(limit * 1e4) / 100:g} %, the lowest target that these rows would have met"
    )


def _check_not_evaluated(plan: FixedSequencePlan, counts: Counts) -> None:
    """Raise `LeakageError` if the sample was evaluated before, unless for an equal plan.

    A sample whose errors are known may have suggested the target, or the order.
    """
    used_plan = _plans_of_log.get(plan.tree.evaluation_log, {}).get(_identity(counts))
    if used_plan == plan.digest:
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


def _checked_targets(target: float | Sequence[float]) -> tuple[float, ...]:
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
