"""Prune a fitted model to the smallest member of its sequence that is certified below a target."""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .._utils.warn import warn
from ..core import Bound, Counts, Model, PruningSequence, SampleUsage, Selection
from ..errors import Argument, LeakageError, ParameterError, UnsupportedError
from ..statistics.repeats import RepeatRule, Repeats
from ._certify_model import check_groups_given

if TYPE_CHECKING:
    from ..certifiers import FixedSequencePlan

NO_CONDITIONS: Mapping[str, Any] = MappingProxyType({})


def prune_to_target(
    model: Model,
    sequence: PruningSequence,
    target: float | None,
    *,
    delta: float,
    repeats: Repeats | RepeatRule = "errors",
    conditions: Mapping[str, Any] = NO_CONDITIONS,
) -> Model:
    """Return the model pruned to the smallest member that is certified to err at most `target`, and its certificate.

    Parameters
    ----------
    model : Model
        A classifier with held-out rows.
    sequence : PruningSequence
        The sequence of the model, made without the held-out rows.
    target : float or None
        It may be None if the conditions contain `max_gap`.
    delta : float
    repeats
        As for `secateur.certify`.
    conditions : dict
        What is required of population groups: `per_group`, `max_gap`, `rate` and `positive` of `fixed_sequence`.

    Returns
    -------
    Model
        If the held-out rows were not evaluated before, members are tested in a fixed order (`fixed_sequence`).
        Otherwise the target may depend on them, and the limits of `path` pay for it; with conditions on population
        groups there is no such price, and the rows are refused. If no member is certified, the model has the member of
        lowest cross-validated error (without cross-validation the largest one) and a certificate that is not certified,
        and there is a warning.
    """
    holdout = model.class_holdout
    if holdout is None:
        reason = "held-out rows are needed" if model.is_classifier else "a regression tree has no error rate"
        raise UnsupportedError(f"no error can be certified: {reason}")
    check_groups_given(model, holdout)
    if sequence.node_labels is None:
        sequence = replace(sequence, node_labels=model.pruning.node_labels)
    selection = _cross_validation_of(model, sequence)
    plan = _make_plan(sequence if selection is None else selection, target, conditions)
    member, bound = _certify(plan, sequence, selection, holdout, delta, repeats)
    pruning = replace(sequence[member], seen=sequence[member].seen | SampleUsage.of(holdout))
    if not bound.certified:
        how = "the largest of its sequence" if selection is None else "the one of lowest cross-validated error"
        warn(f"{bound.reason}; the tree is {how}, with {pruning.n_leaves:,} leaves, and is not certified")
    if model.selection is not None and len(model.selection.error) == len(sequence):
        model = replace(model, selection=replace(model.selection, chosen=member, select="certified"))
    return replace(model, pruning=pruning, sequence=sequence, certificate=bound, group_rates=())


def _cross_validation_of(model: Model, sequence: PruningSequence) -> Selection | None:
    """Return the table of the model with the cross-validated error of each member; None if there is none."""
    selection = model.selection
    if selection is None or selection.sample != "cross-validation" or len(selection.error) != len(sequence):
        return None
    return replace(selection, sequence=sequence)


def _make_plan(
    sequence: PruningSequence | Selection, target: float | None, conditions: Mapping[str, Any]
) -> "FixedSequencePlan":
    """Return the plan to test members in the default order below one target."""
    from ..certifiers import fixed_sequence

    plan = fixed_sequence(sequence, target=target, **conditions)
    if plan.has_many_targets:
        raise ParameterError(Argument("target", target), "; one target is needed to choose one tree")
    return plan


def _certify(
    plan: "FixedSequencePlan",
    sequence: PruningSequence,
    selection: Selection | None,
    holdout: Counts,
    delta: float,
    repeats: Repeats | RepeatRule,
) -> tuple[int, Bound]:
    """Return the number of the smallest member that is certified, or else of the first one tested, and the bound."""
    try:
        _, bound = plan.certify(holdout, delta, repeats=repeats)
    except LeakageError:
        if plan.conditions:
            raise
        return _certify_by_path(plan, sequence, selection, holdout, delta, repeats)
    return bound.details["member"], bound


def _certify_by_path(
    plan: "FixedSequencePlan",
    sequence: PruningSequence,
    selection: Selection | None,
    holdout: Counts,
    delta: float,
    repeats: Repeats | RepeatRule,
) -> tuple[int, Bound]:
    """Return the same from limits that hold for all members at once, and so for any target chosen from them."""
    from ..certifiers import cross_validation_weights, path

    weights = None if selection is None else cross_validation_weights(selection.error, selection.se)
    bounds = path(sequence, holdout, delta=delta, weights=weights, repeats=repeats)
    target = plan.targets[0]
    certified = [i for i in plan.order if bounds[i].value <= target]
    if certified:
        member = min(certified, key=lambda i: (sequence.n_leaves[i], -i))
        return member, bounds[member]
    first = plan.order[0]
    lowest = min(bounds[i].value for i in plan.order)
    reason = (
        f"no pruning is certified below the target of {100 * target:.6g} %; these rows were evaluated before, and the "
        f"lowest limit that pays for this is {math.ceil(lowest * 1e4) / 100:g} %"
    )
    return first, replace(bounds[first], certified=False, reason=reason)
