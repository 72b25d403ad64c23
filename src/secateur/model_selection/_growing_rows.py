"""Grow a fitted tree on by hand: find the rows that grew it among rows that are passed again, and edit it."""

from dataclasses import replace
from typing import Any, NamedTuple

from .._utils.arrays import ArrayLike, Labels
from .._utils.checks import seed_from
from ..core import Model
from ..data.groups import hash_groups
from ..data.table import Table
from ..data.weights import WeightedRows, check_weights, weigh_classes
from ..errors import DataError, Wording, show
from ..growers.parameters import GrowParameters
from ..routing import count
from ._edit_model import EditRequest, are_growing_rows, check_known_categories, parameters_of_tree
from ._fit_model import divide_rows, fit_model
from ._recipe import Recipe, make_plan
from .edits import read_edits


class RowsToGrow(NamedTuple):
    """Rows on which splits are compared, and the parameters of growing.

    Parameters
    ----------
    rows : WeightedRows
        Class weights are included in the weights, which are above 0.
    parameters : GrowParameters
        Without "auto".
    """

    rows: WeightedRows
    parameters: GrowParameters


def recipe_of(model: Model) -> Recipe:
    """Return how a model was fitted, from the parameters that it stores."""
    parameters = dict(model.parameters)
    seed = parameters.pop("random_state", None)
    recipe = Recipe.of({name: value for name, value in parameters.items() if name != "prune_parameters"})
    return replace(
        recipe, seed=0 if seed is None else seed_from(seed), prune_parameters=parameters.get("prune_parameters") or {}
    )


def edit_model(model: Model, edits: Any, table: Table, recipe: Recipe, **rows: Any) -> Model:
    """Return a model whose grown tree is changed by hand, fitted by the same recipe.

    Parameters
    ----------
    model : Model
    edits : list of Edit or dict, or path
        As for `read_edits`.
    table : Table
        The rows that were passed to `fit_model`.
    recipe : Recipe
        How the model was fitted.
    **rows : arrays and tables
        Weights, groups and held-out rows, as they were passed to `fit_model`.
    """
    request = EditRequest(model, read_edits(edits, model.tree))
    edited = fit_model(table, recipe, edits=request, **rows)
    return replace(edited, parameters=model.parameters, metadata={**model.metadata, **edited.metadata})


def rows_of_candidates(
    model: Model,
    table: Table,
    recipe: Recipe,
    *,
    sample_weight: ArrayLike | None = None,
    groups: Labels = None,
    sample: str | None = None,
) -> RowsToGrow:
    """Return the rows on which the splits of a node are compared.

    Without `sample`, they are the growing rows. With it, all rows of the table are compared under this name, and the
    log of the tree records that they may choose splits.

    Parameters
    ----------
    model, table, recipe, sample_weight, groups
        As for `find_growing_rows`.
    sample : str, optional
        Name of a sample of other rows.
    """
    if sample is None:
        return find_growing_rows(model, table, recipe, sample_weight=sample_weight, groups=groups)
    found = rows_to_compare(model, table, recipe, sample_weight=sample_weight)
    counts = count(model.tree, found.rows.table, sample_weight=found.rows.weight, sample=sample)
    model.tree.evaluation_log.record_candidates(counts)
    return found


def find_growing_rows(
    model: Model, table: Table, recipe: Recipe, *, sample_weight: ArrayLike | None = None, groups: Labels = None
) -> RowsToGrow:
    """Return the rows that grew the tree of a model; raise `DataError` if they are not among the rows of a table.

    Parameters
    ----------
    model : Model
    table : Table
        The rows that were passed to `fit`, or those of them that it did not hold out, in the schema of the tree.
    recipe : Recipe
        How the model was fitted.
    sample_weight, groups
        As for `fit_model`.
    """
    plan = make_plan(recipe, table)
    rows = WeightedRows(table, check_weights(sample_weight, table.n_rows)).without_unit_weights()
    if groups is not None:
        rows = rows._replace(groups=hash_groups(groups, table.n_rows))
    possible = [rows]
    if plan.needs_holdout:
        possible.append(divide_rows(plan, rows, None)[0])
    for part in possible:
        weighed = weigh_classes(part, plan.parameters.class_weight).drop_weightless()
        if are_growing_rows(model, weighed):
            check_known_categories(table)
            return RowsToGrow(weighed, parameters_of_tree(model, plan.parameters))
    raise DataError(
        f"the {table.n_rows:,} rows are not those that grew the tree (weight {model.grown.total[0]:,.10g}, with other "
        "values, weights or classes): pass the rows, weights and groups that were passed to fit",
        Wording(", or sample='name' to compare splits on other rows, which then cannot certify an edited tree", ""),
    )


def rows_to_compare(
    model: Model, table: Table, recipe: Recipe, *, sample_weight: ArrayLike | None = None
) -> RowsToGrow:
    """Return rows that did not grow the tree of a model, weighted by the class weights of the recipe."""
    plan = make_plan(recipe, table)
    check_known_categories(table)
    classes = table.schema.classes
    if classes is not None and (table.required_target >= len(classes)).any():
        raise DataError(f"some rows have a class that growing did not see; the classes are {show(classes.tolist())}")
    rows = WeightedRows(table, check_weights(sample_weight, table.n_rows)).without_unit_weights()
    weighed = weigh_classes(rows, plan.parameters.class_weight).drop_weightless()
    return RowsToGrow(weighed, parameters_of_tree(model, plan.parameters))
