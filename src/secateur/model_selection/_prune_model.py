"""Make a smaller model from a fitted one, and the table of its members; no tree is grown and no row is routed again."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, LongsOrFloats
from .._utils.checks import check_name
from .._utils.warn import warn
from ..core import Counts, Model, Pruning, PruningSequence, Sample, SampleUsage, Selection
from ..errors import ParameterError, PruningError, UnsupportedError, show
from ..pruners import RULES, best_of_size, prune
from ._certified_target import prune_to_target
from ._certify_model import certify_if_fresh
from ._recipe import is_accuracy, is_number_of_leaves
from ._select import select as select_on
from .losses import Scoring, leaf_predictions

if TYPE_CHECKING:
    from ..statistics.repeats import RepeatRule

ACCURACY_TOLERANCE = 1e-12  # accuracies are rounded quotients


def prune_to(
    model: Model,
    *,
    n_leaves: int | None = None,
    alpha: float | None = None,
    accuracy: float | None = None,
    certified_error: float | None = None,
    delta: float = 0.05,
    repeats: "RepeatRule" = "errors",
    per_group: bool = False,
    max_gap: float | None = None,
    rate: str | None = None,
    positive: object = None,
) -> Model:
    """Return the model pruned to another member of its sequence, without growing or counting again.

    Parameters
    ----------
    model : Model
        Without a sequence, the cost-complexity path of its growing sample is used.
    n_leaves : int
        Return a pruning with exactly this number of leaves: a member, or else the best of all prunings of that size.
        If there is none, return the largest smaller one and warn.
    alpha : float
        Return the member that is best at this penalty per leaf, as a share of the rows.
    accuracy : float
        Return the smallest member with at least this accuracy (regression: that explains this share of the
        variance). The accuracy is that of cross-validation if the model has it, else of its held-out rows, else
        of the growing sample.
    certified_error : float
        Return the smallest member that is certified on the held-out rows to have at most this error, which was stated
        without looking at them. If they were evaluated before, the certificate pays for this, and if nothing is
        certified, there is a warning: see `prune_to_target`.
    delta, repeats
        With `certified_error` or `max_gap`: as for `secateur.certify`.
    per_group, max_gap, rate, positive
        What is required of population groups, as for `secateur.certifiers.fixed_sequence`. The held-out sample is then
        counted by `count_groups`. `max_gap` may take the place of `certified_error`, or go with it.

    Returns
    -------
    Model
        If the model had a certificate, the result has the certificate of the path, which holds for all members at
        once. It has none if the held-out rows helped to make the sequence, or if the pruning is not a member.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, prune_to
    >>> table = encode([[0.0], [1.0], [2.0], [3.0]], target=["a", "b", "a", "b"])
    >>> model = fit_model(table, Recipe(prune=None))
    >>> prune_to(model, n_leaves=3)
    Model(3 of 4 leaves, 4 rows, not certified)
    """
    is_certified = certified_error is not None or max_gap is not None
    n_targets = sum(value is not None for value in (n_leaves, alpha, accuracy)) + is_certified
    if n_targets != 1:
        raise ParameterError(
            f"{n_targets} of n_leaves, alpha, accuracy and certified_error are given; exactly one is needed"
        )
    sequence = sequence_of(model)
    conditions = {"per_group": per_group, "max_gap": max_gap, "rate": rate, "positive": positive}
    if is_certified:
        return prune_to_target(model, sequence, certified_error, delta=delta, repeats=repeats, conditions=conditions)
    if any(value not in (None, False) for value in conditions.values()):
        raise ParameterError("per_group, max_gap, rate and positive go with certified_error, which is not given")
    evaluated_on = SampleUsage()
    member: int | None
    if n_leaves is not None:
        pruning, member = prune_to_size(model, sequence, n_leaves)
    elif alpha is not None:
        member = sequence.index_at(alpha)
        pruning = sequence[member]
    else:
        known = _known_errors(model, sequence)
        evaluated_on = known.evaluated_on
        member = _member_with_accuracy(sequence, known, accuracy, model.grown)
        pruning = sequence[member]
    pruning = with_node_labels(pruning, model.pruning.node_labels)
    pruning = replace(pruning, seen=pruning.seen | evaluated_on)
    holdout, certificate = model.class_holdout, None
    if model.certificate is not None and holdout is not None and member is not None:
        bounds = certify_if_fresh(sequence, holdout, model.certificate.delta, model.certificate.repeat_rule)
        certificate = bounds[member] if bounds else None
    selection = None if model.sequence is None else model.selection
    return replace(
        model, pruning=pruning, sequence=sequence, certificate=certificate, selection=selection, group_rates=()
    )


def snip(model: Model, node: int) -> Model:
    """Return the model cut at one more node, without a certificate.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, snip
    >>> table = encode([[0.0], [1.0], [2.0], [3.0]], target=["a", "b", "a", "b"])
    >>> model = fit_model(table, Recipe(prune=None))
    >>> snip(model, 0)
    Model(1 of 4 leaves, 4 rows, not certified)
    """
    pruning = model.pruning.snip(node)
    # The report shows errors on the held-out rows, on which a cut by hand may be based.
    pruning = replace(pruning, seen=pruning.seen | SampleUsage.of(model.holdout))
    return replace(model, pruning=pruning, certificate=None, group_rates=())


def choose_on_holdout(model: Model, *, select: str = "min-error", k: float | None = None, costs: Any = None) -> Model:
    """Return the model with the member of its sequence that is best on its held-out sample.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, choose_on_holdout, fit_model
    >>> rows = [[0.0], [1.0], [2.0], [3.0]] * 6
    >>> model = fit_model(encode(rows, target=["a", "a", "b", "b"] * 6), Recipe(prune="reduced-error"))
    >>> choose_on_holdout(model)
    Model(2 of 2 leaves, 16 rows, not certified)
    """
    if model.holdout is None:
        raise ParameterError("the model has no held-out sample to choose on")
    sequence = sequence_of(model)
    values = None if model.grown.has_classes else model.grown.predictions
    pruning, selection = select_on(sequence, model.holdout, rule=select, k=k, costs=costs, values=values)
    pruning = with_node_labels(pruning, model.pruning.node_labels)
    return replace(model, pruning=pruning, sequence=sequence, selection=selection, certificate=None, group_rates=())


def prune_by_rule(
    rule: str, grown: Sample, holdout: Sample | None = None, **parameters: Any
) -> Pruning | PruningSequence:
    """Return the result of a rule on the samples of a model, with penalties per row.

    Examples
    --------
    >>> from secateur import Counts, Tree, prune
    >>> from secateur.model_selection import prune_by_rule
    >>> counts = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[3, 0], [1, 2]])
    >>> prune(counts.tree, counts).alphas.tolist(), prune_by_rule("cost-complexity", counts).alphas.tolist()
    ([0.0, 1.0], [0.0, 0.16666666666666666])
    """
    check_name("rule", rule, RULES)
    samples: tuple[Any, ...] = (grown, holdout) if RULES[rule].needs_holdout else (grown,)
    result = prune(grown.tree, *samples, rule=rule, **parameters)
    if isinstance(result, PruningSequence) and result.alphas is not None and RULES[rule].penalty == "cost":
        provenance = result.provenance and replace(result.provenance, alpha_unit="cost per row")
        alphas = result.alphas / (float(grown.total[0]) or 1.0)
        return replace(result, alphas=alphas, provenance=provenance)
    return result


def path_table(model: Model, holdout: Sample | None = None, *, delta: float = 0.05) -> dict[str, Array]:
    """Return the errors of every member of the model's sequence as a table.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, path_table
    >>> model = fit_model(encode([[0.0], [1.0], [2.0]], target=["a", "a", "b"]), Recipe(prune=None))
    >>> {name: values.tolist() for name, values in path_table(model).items() if name != "alpha"}
    {'leaves': [2, 1], 'growing': [0.0, 0.3333333333333333], 'shown': [True, False]}
    """
    sequence = sequence_of(model)
    table: dict[str, Array] = {"leaves": sequence.n_leaves}
    if sequence.alphas is not None:
        table["alpha"] = sequence.alphas
    table["growing"] = sequence.rates_on(model.grown, model.grown)
    selection = selection_with_errors(model, sequence)
    if selection is not None and selection.sample == "cross-validation":
        table["cross_validated"], table["standard_error"] = selection.error, selection.se
    if holdout is not None:
        table["held_out"] = sequence.rates_on(holdout, model.grown)
    if isinstance(holdout, Counts) and not holdout.is_weighted:
        bounds = certify_if_fresh(sequence, holdout, delta)
        if bounds:
            table["certified"] = np.array([bound.value for bound in bounds])
    member = sequence.index_of(model.pruning)
    table["shown"] = np.arange(len(sequence)) == (-1 if member is None else member)
    return table


def selection_with_errors(model: Model, sequence: PruningSequence) -> Selection | None:
    """Return the table from which the model was chosen, if it has the error of each member of this sequence."""
    table = model.selection
    has_errors = table is not None and table.is_error and len(table.error) == len(sequence)
    return table if has_errors else None


def sequence_of(model: Model) -> PruningSequence:
    """Return the sequence of a model, or else the cost-complexity path of its growing sample."""
    sequence = prune_by_rule("cost-complexity", model.grown) if model.sequence is None else model.sequence
    assert isinstance(sequence, PruningSequence)
    return sequence


def with_node_labels(pruning: Pruning, labels: Any) -> Pruning:
    """Return a pruning with these classes of nodes, unless it has classes already."""
    return pruning if pruning.node_labels is not None or labels is None else replace(pruning, node_labels=labels)


class SizedPruning(NamedTuple):
    """A pruning of a requested size, and its index in the sequence, if it is a member."""

    pruning: Pruning
    member: int | None


def prune_to_size(model: Model, sequence: PruningSequence, n_leaves: Any) -> SizedPruning:
    """Return the pruning with exactly `n_leaves` leaves.

    If the sequence has no such member, return the pruning of that size with the lowest cost. If the tree has no
    pruning of that size, return the largest smaller one and warn.
    """
    if not is_number_of_leaves(n_leaves):
        raise ParameterError(f"n_leaves={show(n_leaves)}; a whole number of 1 or more is needed")
    tree = sequence.tree
    if n_leaves > tree.n_leaves:
        warn(f"{n_leaves:,} leaves are requested, but the grown tree has {tree.n_leaves:,}; it is not pruned")
        n_leaves = tree.n_leaves
    members = np.flatnonzero(sequence.n_leaves == n_leaves)
    if len(members):
        member = int(members[0])
        return SizedPruning(sequence[member], member)
    pruning = best_of_size(tree, None, max_leaves=int(n_leaves), cost=_path_cost(model))[0]
    if pruning.n_leaves < n_leaves:
        warn(
            f"no pruning of the tree has {n_leaves:,} leaves, since a split with many branches is cut as a whole; "
            f"the largest smaller one has {pruning.n_leaves:,}"
        )
    pruning = replace(
        pruning,
        node_labels=sequence.node_labels,
        seen=sequence.seen,
        rule=sequence.rule,
        provenance=sequence.provenance,
    )
    return SizedPruning(pruning, None)


def _path_cost(model: Model) -> LongsOrFloats:
    """Return the cost of each node as a leaf from which the path of the model was made."""
    grown, labels = model.grown, model.pruning.node_labels
    details = {} if model.selection is None else model.selection.details
    if "cost" in details:
        costs = details.get("costs")
        scoring = Scoring(details["cost"], details["m"], None if costs is None else np.asarray(costs))
        return leaf_predictions(grown, scoring).cost
    return grown.resubstitution_costs if labels is None else grown.unrecorded_errors_if_leaf(labels)


class KnownErrors(NamedTuple):
    """The error of each member of a sequence.

    Parameters
    ----------
    error : array
    source : str
        The rows on which the errors were measured, in words.
    evaluated_on : SampleUsage
        The sample to record as used by a choice from these errors; empty if nothing needs to be recorded.
    """

    error: Array
    source: str
    evaluated_on: SampleUsage


def _known_errors(model: Model, sequence: PruningSequence) -> KnownErrors:
    """Return the errors from the first available source: the selection, held-out rows, or the growing sample."""
    selection = selection_with_errors(model, sequence)
    if selection is not None:
        return KnownErrors(selection.error, selection.sample, selection.evaluated_on)
    if model.holdout is not None:
        error = sequence.rates_on(model.holdout, model.grown)
        return KnownErrors(error, "held-out rows", SampleUsage.of(model.holdout))
    if model.selection is not None and not model.selection.is_error:
        raise UnsupportedError(
            f"the members were measured by their {model.selection.score}, which is not an accuracy; fit with "
            "scoring='error' (regression: 'squared_error'), or hold rows out"
        )
    return KnownErrors(sequence.rates_on(model.grown, model.grown), "the growing sample", SampleUsage())


def choose_with_accuracy(selection: Selection, accuracy: Any, grown: Sample) -> Selection:
    """Return the table with the smallest member that has at least the accuracy as its choice."""
    source = selection.sample if selection.sample == "cross-validation" else "held-out rows"
    known = KnownErrors(selection.error, source, selection.evaluated_on)
    chosen = _member_with_accuracy(selection.sequence, known, accuracy, grown)
    return replace(selection, chosen=chosen, select=f"accuracy {float(accuracy):g}")


def _member_with_accuracy(sequence: PruningSequence, known: KnownErrors, accuracy: Any, grown: Sample) -> int:
    """Return the index of the smallest member with at least the accuracy.

    For regression, the accuracy is the share of the variance that a member explains.
    """
    if not is_accuracy(accuracy):
        raise ParameterError(f"accuracy={show(accuracy)}; a number above 0 and up to 1 is needed")
    zero_accuracy_error = grown.zero_accuracy_cost / (float(grown.total[0]) or 1.0) or 1.0
    accuracies = 1 - known.error / zero_accuracy_error
    accurate_members = np.flatnonzero(accuracies >= accuracy - ACCURACY_TOLERANCE)
    if not len(accurate_members):
        raise PruningError(
            f"no member reaches an accuracy of {accuracy:g} on {known.source}; the best reaches "
            f"{accuracies.max():.4g} with {sequence.n_leaves[accuracies.argmax()]} leaves"
        )
    return int(accurate_members[sequence.n_leaves[accurate_members].argmin()])
