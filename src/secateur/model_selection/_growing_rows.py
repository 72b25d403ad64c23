"""Find the rows that grew the tree of a model among rows that a caller passes again."""

from typing import NamedTuple

from .._utils.arrays import ArrayLike, Labels
from ..core import Model
from ..data.groups import hash_groups
from ..data.table import Table
from ..data.weights import WeightedRows, check_weights, weigh_classes
from ..errors import DataError, show
from ..growers.parameters import GrowParameters
from ._edit_model import are_growing_rows, check_known_categories, parameters_of_tree
from ._fit_model import divide_rows
from ._recipe import Recipe, make_plan


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
        "values, weights or classes): pass the rows, weights and groups that were passed to fit, or sample='name' to "
        "compare splits on other rows, which then cannot certify an edited tree"
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
