"""fit_model: grow, prune, choose and certify as one recipe says."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.arrays import Array, ArrayLike, LongsOrFloats
from .._utils.warn import warn
from ..core import Counts, Model, Pruning, PruningSequence, Sample, SampleUsage, Selection
from ..data import fold_assignment
from ..data.table import Table
from ..data.weights import check_weights
from ..errors import ParameterError, UnsupportedError
from ..growers import grow
from ..growers.growing_rows import apply_class_weight
from ..growers.lookahead import can_look_ahead, grow_with_lookahead
from ..growers.parameters import is_auto
from ..pruners import RULES, best_of_size, k_limit
from ..routing import count
from ._cross_validate import cross_validate
from ._prune_model import (
    certify_model,
    choose_on_holdout,
    index_with_accuracy,
    labelled,
    prune_by_rule,
    sequence_of,
    with_leaves,
)
from ._recipe import FitPlan, Recipe, make_plan
from .losses import balanced_costs, cheapest, check_cost_matrix
from .losses import held_out as held_out_losses

FEW_ROWS = 5  # held out: they decide nothing
FEW_LEAVES = 2  # a tree of so many
RARE = 0.25  # may be small because a class has at most this share of the rows,
MANY = 25  # and at least so many of them,
GAIN = 0.98  # if another member has a log loss at least a fiftieth below
FREE = {  # growing for a few leaves may look ahead with these, "auto" and class weights
    "min_samples_split": 2, "min_weight_fraction_leaf": 0.0, "splits": "binary", "growth": "depth-first",
    "surrogates": 0,
}  # fmt: skip


def fit_model(
    table: Table,
    recipe: Recipe,
    *,
    sample_weight: ArrayLike | None = None,
    held_out: Table | None = None,
    held_out_weight: ArrayLike | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Model:
    """Fit a model to a table as the recipe describes.

    Parameters
    ----------
    table : Table
        With its target: classes, or numbers for regression.
    recipe : Recipe
    sample_weight : array, optional
        Of the rows. Rows of weight 0 have no influence. In growing a whole weight is the same as
        repeating the row; it stays one row, which is kept aside or dealt to a fold as a whole.
    held_out : Table, optional
        Rows to prune, choose or certify with, in place of a share of `table`.
    held_out_weight : array, optional
    progress : callable, optional
        Called with (done, total) while cross-validation runs.

    Returns
    -------
    Model
        The same rows in any order give the same model, whatever the number of threads.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model
    >>> table = encode([[0.0], [1.0], [2.0], [3.0]] * 10, target=["a", "a", "b", "b"] * 10)
    >>> fit_model(table, Recipe(growing={"criterion": "gini"}))
    Model(2 of 2 leaves, 40 rows, not certified)
    """
    plan = make_plan(recipe, table)
    weights = check_weights(sample_weight, table.n_rows)
    if weights is not None and (weights == 1).all():
        weights = None
    aside, aside_weight = held_out, None
    if held_out is not None:
        aside_weight = check_weights(held_out_weight, held_out.n_rows)
    elif plan.needs_holdout:
        every = np.ones(table.n_rows) if weights is None else weights.copy()
        used = np.flatnonzero(every)
        used = used[fold_assignment.draw_holdout(table.take(used), plan.holdout, seed=plan.seed)]
        aside, aside_weight = _taken(table, weights, used)
        every[used], weights = 0, every
    is_certified = plan.certify or plan.select == "certificate"
    if is_certified and aside_weight is not None and (aside_weight[aside_weight > 0] != 1).any():
        raise UnsupportedError(
            f"the {np.count_nonzero(aside_weight):,} rows held out to certify have weights (sample_weight, of total "
            f"weight {aside_weight.sum():,.6g}), and a certificate counts independent rows, each once: fit without "
            "certify and certify on rows of weight 1 (certified_on, X_holdout), or, if a weight of 3 means three "
            "independent rows with the same values, pass them as separate rows"
        )
    if plan.scoring == "balanced_error":
        class_weight = plan.growing.get("class_weight")
        plan = replace(plan, costs=balanced_costs(table, apply_class_weight(weights, table, class_weight)))
    has_given_folds = plan.is_cross_validated and not isinstance(plan.cv, int | np.integer)
    if weights is not None and not has_given_folds:  # these name rows by their number
        table, weights = _taken(table, weights, np.flatnonzero(weights))
        weights = None if (weights == 1).all() else weights
    grown, selection = _grown(plan, table, weights, progress)
    holdout = None if aside is None else count(grown.tree, aside, sample_weight=aside_weight)
    model = _pruned(plan, grown, holdout, selection)
    if plan.certify and model.certificate is None:
        k = None
        if plan.prune == "k-reduced-error" and model.class_grown is not None:  # the class the choice was made from
            given = plan.prune_parameters
            k = k_limit(model.class_grown, **{name: given[name] for name in ("k", "factor", "rate") if name in given})
        method = "best" if plan.certify is True else plan.certify
        bound = certify_model(model, method=method, delta=plan.delta, seed=plan.seed, k=k)
        model = replace(model, certificate=bound)
    is_weighted, classes = plan.growing.get("class_weight") is not None, table.schema.classes
    if selection is not None and plan.scoring == "error" and model.pruning.n_leaves <= FEW_LEAVES and not is_weighted:
        _tell_of_rare_classes(model, selection.details, np.asarray(classes))
    n_rows = table.n_rows if weights is None else int(np.count_nonzero(weights))
    n_aside = 0 if aside is None else aside.n_rows
    metadata: dict[str, Any] = {"rows": n_rows, "columns": table.n_columns, "held_out_rows": n_aside}
    if table.constant:
        metadata["constant_columns"] = list(table.constant)
    if held_out is not None and 0 < n_aside < FEW_ROWS:
        warn(
            f"only {n_aside} row{'s are' if n_aside > 1 else ' is'} held out: each decides {1 / n_aside:.0%} of the "
            f"error, and no certificate from so few can be below {1 - plan.delta ** (1 / n_aside):.0%}; hold out more"
        )
    return replace(model, metadata=metadata)


def _grown(
    plan: FitPlan, table: Table, weight: Array | None, progress: Callable[[int, int], None] | None
) -> tuple[Sample, Selection | None]:
    """The growing sample in its tree; with cross-validation also the path of the tree and the choice from it."""
    growing = {name: value for name, value in plan.growing.items() if value is not None}
    is_class = table.schema.classes is not None
    if is_auto(growing.get("min_samples_leaf")) and (is_class or growing.get("min_weight_fraction_leaf")):
        growing["min_samples_leaf"] = 1  # or a least weight says how small a leaf may be
    is_left_to_us = [name for name in ("criterion", "min_samples_leaf") if is_auto(growing.get(name))]
    target = np.asarray(table.target)
    if plan.is_cross_validated and (target != target[:1]).any():
        same = ("cv_repeats", "k", "n_jobs", "penalty", "probabilities", "scoring")
        selection = cross_validate(
            table,
            cv=min(plan.cv, table.n_rows) if isinstance(plan.cv, int | np.integer) else plan.cv,
            random_state=plan.seed,
            select="kse",
            cost="m-estimate" if is_left_to_us and is_class else "errors",
            costs=None if plan.scoring == "balanced_error" else plan.costs,
            sample_weight=weight,
            progress=progress,
            **{name: getattr(plan, name) for name in same} | growing,
        )
        assert selection.counts is not None
        return selection.counts, _with_accuracy(plan, selection, selection.counts) if plan.is_accuracy else selection
    growing |= {name: {"criterion": "gini", "min_samples_leaf": 1}[name] for name in is_left_to_us}
    n_jobs = None if hasattr(plan.n_jobs, "submit") else plan.n_jobs
    if _looks_ahead(plan, table):
        return _few_leaves(table, weight, growing | {"n_jobs": n_jobs}, plan.select), None
    return grow(table, sample_weight=weight, n_jobs=n_jobs, **growing)[1], None


def _looks_ahead(plan: FitPlan, table: Table) -> bool:
    """Whether a few leaves are asked for, and nothing else that a tree must meet."""
    given = {name: value for name, value in plan.growing.items() if value is not None}
    is_free = given.pop("criterion", None) == "auto" and given.pop("min_samples_leaf", "auto") in ("auto", 1)
    given.pop("class_weight", None)
    return (
        is_free
        and all(name in FREE and value == FREE[name] for name, value in given.items())
        and plan.prune == "cost-complexity"
        and plan.costs is None
        and table.schema.classes is not None
        and plan.is_size
        and can_look_ahead(table, plan.select)
    )


def _few_leaves(table: Table, weight: Any, growing: dict[str, Any], n_leaves: int) -> Sample:
    """The growing sample in the tree whose best pruning of so many leaves errs least: greedy ones win no tie."""
    found: list[Sample] = [
        grow(table, sample_weight=weight, **growing | {"criterion": name})[1] for name in ("gini", "sqrt")
    ]
    paths = [best_of_size(sample.tree, sample, max_leaves=n_leaves) for sample in found]
    if found[0].total[0] > 0 and any(path.n_leaves[0] == n_leaves for path in paths):
        also = [path[0].to_tree() for path in paths]
        weight = apply_class_weight(weight, table, growing.get("class_weight"))
        ahead = grow_with_lookahead(table, weight, n_leaves, also)
        if ahead is not None:
            found.insert(0, ahead)
            paths.insert(0, best_of_size(ahead.tree, ahead, max_leaves=n_leaves))
    least = min(range(len(found)), key=lambda i: (-paths[i].n_leaves[0], paths[i].errors[0]))
    return found[least]


def _with_accuracy(plan: FitPlan, selection: Selection, grown: Sample) -> Selection:
    """The choice of the smallest member that reaches the accuracy asked for."""
    where = selection.sample if selection.sample == "cross-validation" else "held-out rows"
    chosen = index_with_accuracy(selection.sequence, selection.error, where, plan.select, grown)
    return replace(selection, chosen=chosen, select=f"accuracy {plan.select:g}")


def _pruned(plan: FitPlan, grown: Sample, holdout: Sample | None, selection: Selection | None) -> Model:
    """The model cut back by the rule; where that gives a sequence, to the member that is to be chosen."""
    labels, cost = grown.labels, None  # always: the ledger notes that the rows gave labels
    if plan.costs is not None:
        assert isinstance(grown, Counts)  # numbers have no costs
        costs = check_cost_matrix(plan.costs, grown.n_classes)
        labels = cheapest(grown, costs)
        judge = holdout if plan.sees_holdout and holdout is not None else grown
        cost = held_out_losses(judge.by_class, labels, costs)[0]
    if selection is not None and plan.select != "certificate":  # cross-validation has chosen
        return Model(selection.pruning, grown, holdout, selection.sequence, selection)
    whole = Pruning.from_cuts(grown.tree, [], node_labels=labels, seen=SampleUsage.of(grown), rule="none")
    model = Model(whole, grown, holdout, None if selection is None else selection.sequence, selection)
    if plan.prune is None:
        return model
    if model.sequence is None:
        result = _by_rule(plan, plan.prune, grown, holdout, cost)
        result = result if plan.costs is None else replace(result, node_labels=labels)
        if isinstance(result, Pruning):
            return replace(model, pruning=labelled(result, labels))
        model = replace(model, sequence=result)
    return _chosen(plan, model)


def _by_rule(
    plan: FitPlan, rule: str, grown: Sample, holdout: Sample | None, cost: LongsOrFloats | None
) -> Pruning | PruningSequence:
    """What the rule makes of the tree; `cost` is that of nodes as leaves, where errors do not say it."""
    parameters = dict(plan.prune_parameters)
    if cost is not None:
        able = [name for name, one in RULES.items() if one.takes_cost]
        if rule not in able:
            raise UnsupportedError(f"prune={rule!r} does not work with costs=; use one of {', '.join(able)}")
        parameters["cost"] = cost
    if rule == "smallest-within" and "accuracy" not in parameters and not plan.is_accuracy:
        raise ParameterError("prune='smallest-within' needs an accuracy, such as select=0.9")
    defaults = {
        "cost-complexity": {"penalty": plan.penalty},
        "smallest-within": {"accuracy": plan.select},
        "certificate-optimal": {"delta": plan.delta},
    }
    result = prune_by_rule(rule, grown, holdout, **defaults.get(rule, {}) | parameters)
    return replace(result, seen=SampleUsage.of(grown, holdout if plan.sees_holdout else None))


def _chosen(plan: FitPlan, model: Model) -> Model:
    """The model with the member of its sequence that the recipe asks for."""
    how, sequence = plan.select, sequence_of(model)
    if how is None:
        return model
    if plan.is_size:
        return replace(model, pruning=labelled(with_leaves(model, sequence, how)[0], model.pruning.node_labels))
    if how == "certificate":
        return _by_certificate(plan, model, sequence)
    if model.holdout is None:  # too few rows to cross-validate
        return replace(model, pruning=sequence[0])
    model = choose_on_holdout(model, select="kse", k=plan.k, costs=plan.costs)
    if plan.is_accuracy and model.selection is not None:
        selection = _with_accuracy(plan, model.selection, model.grown)
        return replace(model, selection=selection, pruning=selection.pruning)
    return model


def _by_certificate(plan: FitPlan, model: Model, sequence: PruningSequence) -> Model:
    """The model with the member of the least certified limit, which is its certificate."""
    holdout, selection = model.class_holdout, model.selection
    if holdout is None:
        raise UnsupportedError("select='certificate' is for classification; use '1se' or 'holdout'")
    from ..certifiers import cross_validation_weights, least_bound, path

    weights = None if selection is None else cross_validation_weights(selection.error, selection.se)
    bound = least_bound(path(sequence, holdout, delta=plan.delta, weights=weights))
    index = bound.details["member"]
    if selection is not None:
        selection = replace(selection, chosen=index, select="certificate")
    pruning = replace(sequence[index], seen=sequence[index].seen | SampleUsage.of(holdout))
    return replace(model, pruning=pruning, selection=selection, certificate=bound)


def _tell_of_rare_classes(model: Model, details: dict[str, Any], classes: Array) -> None:
    """Say once that a tree of one or two leaves is small because a class is rare, not because nothing can be known."""
    shares, n_rows = model.grown.by_class[0] / model.grown.total[0], model.grown.n_rows or 0
    rare = int(np.where(shares > 0, shares, 1).argmin())
    knows_more = details.get("least_log_loss", 0.0) < GAIN * details.get("log_loss", 0.0)
    if not knows_more or not MANY <= shares[rare] * n_rows <= RARE * n_rows:
        return
    leaves = "1 leaf" if model.pruning.n_leaves == 1 else "2 leaves"
    warn(
        f"the tree has {leaves}, because class {classes.tolist()[rare]!r} is {shares[rare]:.1%} of the rows and more "
        "leaves hardly lower the error; scoring='log_loss' chooses a tree by its probabilities, and "
        "scoring='balanced_error', costs= or class_weight='balanced' give the class more weight"
    )


def _taken(table: Table, weight: Any, rows: Array) -> tuple[Table, Any]:
    """Some rows, each with all its weight."""
    return table.take(rows), None if weight is None else weight[rows]
