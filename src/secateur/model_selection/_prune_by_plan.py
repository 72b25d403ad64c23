"""prune_by_plan: prune a grown tree by a rule, and choose a member if the rule makes a sequence."""

from dataclasses import replace
from typing import NamedTuple

from .._utils.arrays import Ints, LongsOrFloats
from ..core import Counts, Model, Pruning, PruningSequence, Sample, SampleUsage, Selection
from ..errors import Argument, ParameterError, UnsupportedError
from ..pruners import RULES
from ._prune_model import (
    choose_on_holdout,
    choose_with_accuracy,
    prune_by_rule,
    prune_to_size,
    sequence_of,
    with_node_labels,
)
from ._recipe import FitPlan
from .losses import cheapest_labels, check_cost_matrix, prediction_losses


class _NodeCosts(NamedTuple):
    """The class of each node as a leaf, and the cost of each node; a cost of None stands for the errors."""

    labels: Ints | None
    cost: LongsOrFloats | None


def prune_by_plan(plan: FitPlan, grown: Sample, holdout: Sample | None, selection: Selection | None) -> Model:
    """Return the model whose pruning the plan requests.

    Parameters
    ----------
    plan : FitPlan
    grown : Counts or Moments
        The growing sample in the grown tree.
    holdout : Counts or Moments, optional
        The held-out sample in the grown tree.
    selection : Selection, optional
        The choice of cross-validation.
    """
    labels, cost = _node_costs(plan, grown, holdout)
    if selection is not None and plan.recipe.select != "certificate":
        return Model(selection.pruning, grown, holdout, selection.sequence, selection)
    unpruned = Pruning.from_cuts(grown.tree, [], node_labels=labels, seen=SampleUsage.of(grown), rule="none")
    model = Model(unpruned, grown, holdout, None if selection is None else selection.sequence, selection)
    if plan.recipe.prune is None:
        return model
    if model.sequence is None:
        result = _apply_rule(plan, plan.recipe.prune, grown, holdout, cost)
        if plan.costs is not None:
            result = replace(result, node_labels=labels)
        if isinstance(result, Pruning):
            return replace(model, pruning=with_node_labels(result, labels))
        model = replace(model, sequence=result)
    return _choose_member(plan, model)


def _node_costs(plan: FitPlan, grown: Sample, holdout: Sample | None) -> _NodeCosts:
    """Return the classes of nodes, and with a cost matrix the cost of each node on the sample that prunes."""
    if grown.has_classes:
        grown.tree.evaluation_log.record_nodes(grown)  # the growing sample gives the labels
    if plan.costs is None:
        return _NodeCosts(grown.labels, None)
    assert isinstance(grown, Counts)
    costs = check_cost_matrix(plan.costs, grown.n_classes)
    labels = cheapest_labels(grown, costs)
    sample = holdout if plan.prunes_with_holdout and holdout is not None else grown
    return _NodeCosts(labels, prediction_losses(sample.by_class, labels, costs).loss)


def _apply_rule(
    plan: FitPlan, rule: str, grown: Sample, holdout: Sample | None, cost: LongsOrFloats | None
) -> Pruning | PruningSequence:
    """Return the result of the pruning rule; `cost` replaces the errors of nodes as leaves."""
    recipe = plan.recipe
    parameters = dict(recipe.prune_parameters)
    if cost is not None:
        supported = [name for name, entry in RULES.items() if entry.takes_cost]
        if rule not in supported:
            raise UnsupportedError(
                Argument("prune", rule),
                " does not work with ",
                Argument("costs"),
                f"; use one of {', '.join(supported)}",
            )
        parameters["cost"] = cost
    if rule == "smallest-within" and "accuracy" not in parameters and not plan.is_accuracy:
        raise ParameterError(
            Argument("prune", "smallest-within"), " needs an accuracy, such as ", Argument("select", 0.9)
        )
    defaults = {
        "cost-complexity": {"penalty": recipe.penalty},
        "smallest-within": {"accuracy": recipe.select},
        "certificate-optimal": {"delta": recipe.delta},
    }
    result = prune_by_rule(rule, grown, holdout, **defaults.get(rule, {}) | parameters)
    return replace(result, seen=SampleUsage.of(grown, holdout if plan.prunes_with_holdout else None))


def _choose_member(plan: FitPlan, model: Model) -> Model:
    """Return the model with the member of its sequence that the plan requests."""
    select, sequence = plan.recipe.select, sequence_of(model)
    if select is None:
        return model
    if plan.is_size:
        pruning = prune_to_size(model, sequence, select).pruning
        return replace(model, pruning=with_node_labels(pruning, model.pruning.node_labels))
    if select == "certificate":
        return _choose_by_certificate(plan, model, sequence)
    if model.holdout is None:  # all rows are of one class, so that nothing was cross-validated
        return replace(model, pruning=sequence[0])
    model = choose_on_holdout(model, select="kse", k=plan.n_standard_errors, costs=plan.costs)
    if plan.is_accuracy and model.selection is not None:
        selection = choose_with_accuracy(model.selection, select, model.grown)
        return replace(model, selection=selection, pruning=selection.pruning)
    return model


def _choose_by_certificate(plan: FitPlan, model: Model, sequence: PruningSequence) -> Model:
    """Return the model with the member of the lowest certified limit; the limit is its certificate."""
    holdout, selection = model.class_holdout, model.selection
    if holdout is None:
        raise UnsupportedError(Argument("select", "certificate"), " is for classification; use '1se' or 'holdout'")
    from ..certifiers import cross_validation_weights, least_bound, path

    weights = None if selection is None else cross_validation_weights(selection.error, selection.se)
    bound = least_bound(path(sequence, holdout, delta=plan.recipe.delta, weights=weights))
    index = bound.details["member"]
    if selection is not None:
        selection = replace(selection, chosen=index, select="certificate")
    pruning = replace(sequence[index], seen=sequence[index].seen | SampleUsage.of(holdout))
    return replace(model, pruning=pruning, selection=selection, certificate=bound)
