"""Fit a model: hold out rows, grow a tree, prune it, choose its size and certify it, as a recipe says (`fit_model`).

The tree is grown by `_cross_validate`, which also chooses its pruning, or by `_grow_once`. After `_grow_once`,
`_prune_by_plan` applies the pruning rule and, if the rule makes a sequence, chooses a member.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from .._utils.arrays import ArrayLike, Ints, Labels, LongsOrFloats
from .._utils.checks import check_name
from .._utils.warn import warn
from ..core import Counts, Model, Pruning, PruningSequence, RuleProvenance, Sample, SampleUsage, Selection
from ..data import fold_assignment
from ..data.groups import check_groups_differ, hash_groups
from ..data.table import Table
from ..data.weights import WeightedRows, check_weights, weigh_classes
from ..errors import Argument, DataError, ParameterError, UnsupportedError, show
from ..growers.by_hand import HandGrowth
from ..growers.lookahead import can_look_ahead, grow_with_lookahead
from ..growers.monotone import column_signs, keeps_order, limit_estimates
from ..growers.parameters import GrowParameters, is_auto
from ..growers.presorted_data import PresortedData, grow_rows
from ..pruners import RULES, best_of_size, k_limit
from ..routing import count, sketch_of
from ..statistics.freshness import REPEAT_RULES, compare_samples, warn_of_shared_rows
from ..statistics.node_losses import cheapest_labels, prediction_losses
from ..statistics.repeats import RepeatRule, Repeats, find_repeats
from ._calibrate_model import calibrate_if_fresh
from ._certified_target import prune_to_target
from ._certify_model import certify_model
from ._cross_validate import CandidateSearch, standard_error_for
from ._edit_model import EditRequest
from ._prune_model import (
    choose_on_holdout,
    choose_with_accuracy,
    prune_by_rule,
    prune_to_size,
    sequence_of,
    with_node_labels,
)
from ._recipe import FitPlan, Recipe, make_plan
from .folds import plan_folds
from .losses import Scoring, balanced_costs, check_cost_matrix, complete_scoring

MIN_HOLDOUT_ROWS = 5  # with fewer held-out rows, fit warns
# `_warn_of_rare_class` warns if the tree is small and its rarest class is rare, as the first three limits define it,
# and if the lowest log loss of any member is below MAX_LOG_LOSS_RATIO times that of the chosen member.
MAX_LEAVES_OF_SMALL_TREE = 2
MAX_SHARE_OF_RARE_CLASS = 0.25
MIN_ROWS_OF_RARE_CLASS = 25
MAX_LOG_LOSS_RATIO = 0.98


def fit_model(
    table: Table,
    recipe: Recipe,
    *,
    sample_weight: ArrayLike | None = None,
    held_out: Table | None = None,
    held_out_weight: ArrayLike | None = None,
    groups: Labels = None,
    held_out_groups: Labels = None,
    progress: Callable[[int, int], None] | None = None,
    edits: EditRequest | None = None,
) -> Model:
    """Fit a model to a table as the recipe describes.

    Parameters
    ----------
    table : Table
        The growing rows, with a target: classes, or numbers for regression.
    recipe : Recipe
    sample_weight : array, optional
        Weight of each row. Rows of weight 0 have no influence. In growing, a row of weight 3 has the same effect as
        three copies of it. Unlike copies, a weighted row is in one fold, or held out, with all of its weight.
    held_out : Table, optional
        Rows to prune, choose or certify with, in place of a share of `table`.
    held_out_weight : array, optional
        Weight of each held-out row.
    groups, held_out_groups : array, optional
        The group of each row of `table` and of `held_out`: text or whole numbers. All rows of a group are held out, or
        assigned to a fold, together, and a certificate counts groups.
    progress : callable, optional
        Called with (trees grown, trees to grow) during cross-validation.
    edits : EditRequest, optional
        Edits of a model that was fitted to the same rows by the same recipe. Its tree is changed by hand instead of
        grown, and the trees of cross-validation have what the edits state.

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
    rows, holdout_rows = WeightedRows(table, check_weights(sample_weight, table.n_rows)), None
    if groups is not None:
        rows = rows._replace(groups=hash_groups(groups, table.n_rows))
    if held_out is not None:
        holdout_rows = WeightedRows(held_out, check_weights(held_out_weight, held_out.n_rows))
        holdout_rows = _with_held_out_groups(rows, holdout_rows, held_out_groups)
    rows, holdout_rows = divide_rows(plan, rows.without_unit_weights(), holdout_rows)
    metadata = _metadata(rows, holdout_rows)
    target = rows.table.required_target
    is_varying = bool((target != target[:1]).any())
    rows = weigh_classes(rows, plan.parameters.class_weight)
    if plan.scoring == "balanced_error":
        plan = replace(plan, costs=balanced_costs(rows))
    edited = None if edits is None else edits.grow(rows, plan.parameters)
    by_hand, selection = None if edited is None else edited.growth, None
    if plan.is_cross_validated and is_varying:
        selection = _cross_validate(plan, rows, progress, by_hand)
    grown = _grow_once(plan, rows, by_hand) if selection is None else selection.counts
    assert grown is not None
    if edited is not None:
        metadata |= edited.metadata
        edited.pass_on_records(grown.tree)
    holdout = None
    if holdout_rows is not None:
        holdout = count(grown.tree, holdout_rows.table, sample_weight=holdout_rows.weight, groups=holdout_rows.groups)
    repeats = _find_repeats(plan, grown, rows, holdout_rows)
    model = _certify(plan, _prune_by_plan(plan, grown, holdout, selection, repeats), repeats)
    if plan.is_certified:
        model = calibrate_if_fresh(model, repeats)
    if isinstance(repeats, Repeats) and model.certificate is not None and model.holdout is not None:
        compare_samples(grown.tree.history, model.holdout).warn(model.holdout, repeats)
    _warn_of_rare_class(plan, model, selection)
    if held_out is not None:
        _warn_of_small_holdout(plan, held_out.n_rows)
        assert holdout is not None
        warn_of_shared_rows(grown.tree.history, holdout, "to prune or choose the tree")
    return replace(model, metadata=metadata)


def _with_held_out_groups(rows: WeightedRows, holdout_rows: WeightedRows, groups: Labels) -> WeightedRows:
    """Return the rows that the caller held out, with their groups; refuse groups that also have rows to grow on."""
    if groups is None and rows.groups is None:
        return holdout_rows
    if groups is None or rows.groups is None:
        missing, given = ("groups_holdout", "groups") if groups is None else ("groups", "groups_holdout")
        raise DataError(
            Argument(given),
            " is given without ",
            Argument(missing),
            "; the group of every row is needed, held out or not",
        )
    hashes = hash_groups(groups, holdout_rows.table.n_rows, name="groups_holdout")
    check_groups_differ(rows.groups, hashes)
    return holdout_rows._replace(groups=hashes)


def divide_rows(
    plan: FitPlan, rows: WeightedRows, holdout_rows: WeightedRows | None
) -> tuple[WeightedRows, WeightedRows | None]:
    """Return the rows to grow on and the held-out rows: those of the caller or, if the plan needs some, a share."""
    if holdout_rows is None and plan.needs_holdout:
        rows, holdout_rows = _hold_out(plan, rows)
    if holdout_rows is not None:
        _check_certifiable(plan, holdout_rows)
    if rows.weight is not None and not plan.has_explicit_folds:  # explicit folds name rows by their numbers
        rows = rows.drop_weightless().without_unit_weights()
    return rows, holdout_rows


def _hold_out(plan: FitPlan, rows: WeightedRows) -> tuple[WeightedRows, WeightedRows]:
    """Return the rows with weight 0 for those that are held out, and the held-out rows."""
    weight = np.ones(rows.table.n_rows) if rows.weight is None else rows.weight.copy()
    used = np.flatnonzero(weight)
    candidates = rows.take(used)
    is_drawn = fold_assignment.draw_holdout(
        candidates.table, plan.recipe.holdout, seed=plan.recipe.seed, groups=candidates.groups
    )
    drawn = used[is_drawn]
    holdout_rows = rows.take(drawn)
    weight[drawn] = 0
    return rows._replace(weight=weight), holdout_rows


def _check_certifiable(plan: FitPlan, holdout_rows: WeightedRows) -> None:
    """Raise `UnsupportedError` if a certificate is requested on held-out rows with weights other than 0 and 1."""
    if not plan.is_certified or holdout_rows.weight is None:
        return
    weight = holdout_rows.weight
    if (weight[weight > 0] != 1).any():
        raise UnsupportedError(
            f"the {holdout_rows.n_used:,} rows held out to certify have weights (sample_weight, of total "
            f"weight {weight.sum():,.6g}), and a certificate counts independent rows, each once: fit without "
            "certify and certify on rows of weight 1 (certified_on, X_holdout), or, if a weight of 3 means three "
            "independent rows with the same values, pass them as separate rows"
        )


def _find_repeats(
    plan: FitPlan, grown: Sample, rows: WeightedRows, holdout_rows: WeightedRows | None
) -> Repeats | RepeatRule:
    """Return which held-out rows may be copies of other rows, found by the hashes of all rows.

    Copies are searched for only if the plan requests a certificate and treats them as errors. Otherwise the result is
    the name of the rule for repeated rows.
    """
    recipe = plan.recipe
    check_name("repeats", recipe.repeats, REPEAT_RULES)
    if recipe.repeats == "independent":
        return "independent"
    if not plan.is_certified or holdout_rows is None:
        return "errors"
    samples = [
        sketch_of(grown.tree, sample.table, sample.is_used(), size=sample.table.n_rows + 1, groups=sample.groups)
        for sample in (rows, holdout_rows)
    ]
    return find_repeats(samples[:1], samples[1], recipe.delta)


def _cross_validate(
    plan: FitPlan, rows: WeightedRows, progress: Callable[[int, int], None] | None, by_hand: HandGrowth | None
) -> Selection:
    """Return the cross-validated pruning path of the tree of all rows, with the member that the plan chooses."""
    recipe, parameters = plan.recipe, plan.parameters
    data, candidates = PresortedData.of(rows.table, rows.weight), parameters.candidates()
    is_class = rows.table.schema.classes is not None
    scoring = Scoring(
        path_cost="m-estimate" if is_class and len(candidates) > 1 else "errors",
        costs=None if plan.scoring == "balanced_error" else plan.costs,
        score_name=plan.scoring,
        probabilities=recipe.probabilities,
        penalty=recipe.penalty,
    )
    scoring = complete_scoring(scoring, rows)
    cv = recipe.cv if plan.has_explicit_folds else min(recipe.cv, rows.table.n_rows)
    folds = plan_folds(cv, recipe.cv_repeats, rows, seed=recipe.seed, stratified=True)
    if by_hand is not None:
        data, candidates = replace(data, by_hand=by_hand), [by_hand.parameters]
    search = CandidateSearch(
        data, candidates, scoring, folds, plan.allowance, standard_error_for(rows, folds, "pooled"),
        plan.n_workers, progress,
    )  # fmt: skip
    selection = search.run()
    if plan.is_accuracy:
        assert selection.counts is not None
        return choose_with_accuracy(selection, recipe.select, selection.counts)
    return selection


def _grow_once(plan: FitPlan, rows: WeightedRows, by_hand: HandGrowth | None) -> Sample:
    """Return the counts of the growing rows in a tree that is grown by hand, or without cross-validation."""
    if by_hand is not None:
        counts: Sample = by_hand.counts
        return counts
    rows, parameters = rows.drop_weightless(), plan.parameters.without_search()
    n_threads = 1 if hasattr(plan.n_workers, "submit") else plan.n_workers
    if _can_look_ahead(plan, rows):
        return _grow_small_tree(rows, parameters, n_threads, n_leaves=plan.recipe.select)
    grown: Sample = grow_rows(rows, parameters, n_threads)
    return grown


def _can_look_ahead(plan: FitPlan, rows: WeightedRows) -> bool:
    """Return whether the plan requests a few leaves, and only parameters that growing with lookahead supports."""
    parameters = plan.parameters
    has_default_growth = is_auto(parameters.criterion) and parameters.min_samples_leaf in ("auto", 1)
    other_names = set(parameters.changed_names()) - {"criterion", "min_samples_leaf", "class_weight", "monotonic_cst"}
    return (
        has_default_growth
        and not other_names
        and plan.recipe.prune == "cost-complexity"
        and plan.costs is None
        and rows.table.schema.classes is not None
        and plan.is_size
        and can_look_ahead(rows.table, plan.recipe.select)
    )


class _SmallTree(NamedTuple):
    """A grown tree, as the counts of its rows, with its best prunings of at most a number of leaves."""

    counts: Sample
    prunings: PruningSequence


def _grow_small_tree(rows: WeightedRows, parameters: GrowParameters, n_threads: int, *, n_leaves: int) -> Sample:
    """Return the counts of the best of three trees: grown greedily by gini, greedily by sqrt, and with lookahead.

    Each tree is judged by its largest pruning of at most `n_leaves` leaves: more leaves are better and, among equal
    sizes, fewer errors.
    Ties go to the lookahead tree. The search with lookahead ignores monotone constraints; its tree is left out if it
    violates them.
    """
    signs = () if parameters.monotonic_cst is None else column_signs(parameters.monotonic_cst, rows.table.schema)
    trees = []
    for criterion in ("gini", "sqrt"):
        counts = grow_rows(rows, replace(parameters, criterion=criterion), n_threads)
        trees.append(_with_prunings(counts, n_leaves))
    if trees[0].counts.total[0] > 0 and any(tree.prunings.n_leaves[0] == n_leaves for tree in trees):
        greedy_trees = [tree.prunings[0].to_tree() for tree in trees]
        counts = grow_with_lookahead(rows.table, rows.weight, n_leaves, greedy_trees)
        limited = None if counts is None else limit_estimates(counts, signs)
        if limited is not None and keeps_order(limited):
            trees.insert(0, _with_prunings(limited, n_leaves))
    best = min(trees, key=lambda tree: (-tree.prunings.n_leaves[0], tree.prunings.errors[0]))
    return best.counts


def _with_prunings(counts: Sample, n_leaves: int) -> _SmallTree:
    """Return a grown tree with its best prunings of at most `n_leaves` leaves."""
    return _SmallTree(counts, best_of_size(counts.tree, counts, max_leaves=n_leaves))


class _NodeCosts(NamedTuple):
    """The class of each node as a leaf, and the cost of each node on a sample (None if the errors are the cost)."""

    labels: Ints | None
    cost: LongsOrFloats | None
    sample: str = ""


def _prune_by_plan(
    plan: FitPlan,
    grown: Sample,
    holdout: Sample | None,
    selection: Selection | None,
    repeats: Repeats | RepeatRule,
) -> Model:
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
    repeats : Repeats or str
        What is known about repeated rows, for a choice by certificates.
    """
    labels, cost, cost_sample = _node_costs(plan, grown, holdout)
    if selection is not None and not plan.is_chosen_by_certificate:
        return Model(selection.pruning, grown, holdout, selection.sequence, selection)
    unpruned = Pruning.from_cuts(grown.tree, [], node_labels=labels, seen=SampleUsage.of(grown), rule="none")
    model = Model(unpruned, grown, holdout, None if selection is None else selection.sequence, selection)
    if plan.recipe.prune is None:
        return model
    if model.sequence is None:
        result = _apply_rule(plan, plan.recipe.prune, grown, holdout, cost)
        if plan.costs is not None:
            provenance = result.provenance and _name_cost(plan, result.provenance, cost_sample)
            result = replace(result, node_labels=labels, provenance=provenance)
        if isinstance(result, Pruning):
            return replace(model, pruning=with_node_labels(result, labels))
        model = replace(model, sequence=result)
    return _choose_member(plan, model, repeats)


def _node_costs(plan: FitPlan, grown: Sample, holdout: Sample | None) -> _NodeCosts:
    """Return the class of each node and, with a cost matrix, the cost of each node on the sample that prunes."""
    if grown.has_classes:
        grown.tree.evaluation_log.record_nodes(grown)  # the growing sample gives the labels
    if plan.costs is None:
        return _NodeCosts(grown.labels, None)
    assert isinstance(grown, Counts)
    costs = check_cost_matrix(plan.costs, grown.n_classes)
    labels = cheapest_labels(grown, costs)
    sample = holdout if plan.prunes_with_holdout and holdout is not None else grown
    return _NodeCosts(labels, prediction_losses(sample.by_class, labels, costs).loss, sample.sample)


def _name_cost(plan: FitPlan, provenance: RuleProvenance, sample: str) -> RuleProvenance:
    """Return the provenance of a rule with the costs and the sample, which the rule, given node costs, cannot know."""
    matrix = np.asarray(plan.costs).tolist()
    parameters = {**provenance.parameters, "costs": matrix, "scoring": plan.scoring}
    return replace(provenance, parameters=parameters, cost="expected cost", sample=sample)


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


def _choose_member(plan: FitPlan, model: Model, repeats: Repeats | RepeatRule) -> Model:
    """Return the model with the member of its sequence that the plan requests."""
    select, sequence = plan.recipe.select, sequence_of(model)
    if select is None:
        return model
    if plan.is_size:
        pruning = prune_to_size(model, sequence, select).pruning
        return replace(model, pruning=with_node_labels(pruning, model.pruning.node_labels))
    if select == "certificate":
        return _choose_by_certificate(plan, model, sequence, repeats)
    if select == "certified":
        target = plan.recipe.target_error
        return prune_to_target(model, sequence, target, delta=plan.recipe.delta, repeats=repeats)
    if model.holdout is None:  # all rows have the same target, so that nothing was cross-validated
        return replace(model, pruning=sequence[0])
    model = choose_on_holdout(model, select=plan.allowance.name, costs=plan.costs)
    if plan.costs is not None and model.selection is not None:
        details = {**model.selection.details, "scoring": plan.scoring}
        model = replace(model, selection=replace(model.selection, details=details))
    if plan.is_accuracy and model.selection is not None:
        selection = choose_with_accuracy(model.selection, select, model.grown)
        return replace(model, selection=selection, pruning=selection.pruning)
    return model


def _choose_by_certificate(
    plan: FitPlan, model: Model, sequence: PruningSequence, repeats: Repeats | RepeatRule
) -> Model:
    """Return the model with the member of the lowest certified limit; the limit is its certificate."""
    holdout, selection = model.class_holdout, model.selection
    assert holdout is not None
    from ..certifiers import cross_validation_weights, least_bound, path

    weights = None if selection is None else cross_validation_weights(selection.error, selection.se)
    bound = least_bound(path(sequence, holdout, delta=plan.recipe.delta, weights=weights, repeats=repeats))
    index = bound.details["member"]
    if selection is not None:
        selection = replace(selection, chosen=index, select="certificate")
    pruning = replace(sequence[index], seen=sequence[index].seen | SampleUsage.of(holdout))
    return replace(model, pruning=pruning, selection=selection, certificate=bound)


def _certify(plan: FitPlan, model: Model, repeats: Repeats | RepeatRule) -> Model:
    """Return the model with the certificate that the plan requests, if the model has none yet."""
    recipe = plan.recipe
    if not recipe.certify or model.certificate is not None:
        return model
    k = None
    if recipe.prune == "k-reduced-error" and model.class_grown is not None:
        # The rule chose among the prunings with at most k growing errors, so the certificate must hold for all of them.
        limits = {
            name: recipe.prune_parameters[name] for name in ("k", "factor", "rate") if name in recipe.prune_parameters
        }
        k = k_limit(model.class_grown, **limits)
    method = "best" if recipe.certify is True else recipe.certify
    bound = certify_model(
        model, method=method, delta=recipe.delta, seed=recipe.seed, k=k, repeats=repeats,
        target_range=recipe.target_range, max_residual=recipe.max_residual,
    )  # fmt: skip
    return replace(model, certificate=bound)


def _warn_of_rare_class(plan: FitPlan, model: Model, selection: Selection | None) -> None:
    """Warn if the tree has one or two leaves only because a class is rare, though larger trees predict better.

    In this case a larger tree has a lower log loss, but hardly a lower error.
    """
    n_leaves = model.pruning.n_leaves
    is_unweighted_error = plan.scoring == "error" and plan.parameters.class_weight is None
    if selection is None or not is_unweighted_error or n_leaves > MAX_LEAVES_OF_SMALL_TREE:
        return
    assert model.class_grown is not None
    assert model.tree.schema is not None
    counts, details = model.class_grown, selection.details
    shares, n_rows = counts.by_class[0] / counts.total[0], counts.n_rows or 0
    rarest = int(np.where(shares > 0, shares, 1).argmin())
    is_rare = MIN_ROWS_OF_RARE_CLASS <= shares[rarest] * n_rows <= MAX_SHARE_OF_RARE_CLASS * n_rows
    has_better_member = details.get("least_log_loss", 0.0) < MAX_LOG_LOSS_RATIO * details.get("log_loss", 0.0)
    if not is_rare or not has_better_member:
        return
    name = np.asarray(model.tree.schema.classes).tolist()[rarest]
    warn(
        f"the tree has {'1 leaf' if n_leaves == 1 else '2 leaves'}, because class {show(name)} is "
        f"{shares[rarest]:.1%} of the rows and more leaves hardly lower the error; ",
        Argument("scoring", "log_loss"),
        " chooses a tree by its probabilities, and ",
        Argument("scoring", "balanced_error"),
        ", ",
        Argument("costs"),
        " or ",
        Argument("class_weight", "balanced"),
        " give the class more weight",
    )


def _warn_of_small_holdout(plan: FitPlan, n_holdout: int) -> None:
    """Warn if the rows that the caller held out are too few to decide or certify anything."""
    if 0 < n_holdout < MIN_HOLDOUT_ROWS:
        lowest_limit = 1 - plan.recipe.delta ** (1 / n_holdout)
        warn(
            f"only {n_holdout} row{'s are' if n_holdout > 1 else ' is'} held out: each decides {1 / n_holdout:.0%} of "
            f"the error, and no certificate from so few rows can be below {lowest_limit:.0%}; hold out more"
        )


def _metadata(rows: WeightedRows, holdout_rows: WeightedRows | None) -> dict[str, Any]:
    """Return the version, the numbers of rows, columns and missing values, and the constant columns of a fit."""
    metadata: dict[str, Any] = {
        "fitted_with": f"secateur {__version__}",
        "rows": rows.n_used,
        "columns": rows.table.n_columns,
        "held_out_rows": 0 if holdout_rows is None else holdout_rows.table.n_rows,
    }
    if rows.table.constant:
        metadata["constant_columns"] = list(rows.table.constant)
    if any(column.has_missing for column in rows.table.schema.columns):
        metadata["missing_values"] = _missing_values(rows)
    if rows.groups is not None:
        used = rows.drop_weightless().groups
        metadata["groups"] = 0 if used is None else len(np.unique(used))
        held_out = None if holdout_rows is None else holdout_rows.groups
        metadata["held_out_groups"] = 0 if held_out is None else len(np.unique(held_out))
    return metadata


def _missing_values(rows: WeightedRows) -> dict[str, int]:
    """Return the number of rows with a missing value in each column that has any, by column name."""
    is_used, n_missing = rows.is_used(), {}
    for column, values in zip(rows.table.schema.columns, rows.table.columns, strict=True):
        if column.has_missing:
            is_missing = np.isnan(values) if column.kind == "numeric" else values == len(column.categories)
            n_missing[column.name] = int(np.count_nonzero(is_missing if is_used is None else is_missing & is_used))
    return n_missing
