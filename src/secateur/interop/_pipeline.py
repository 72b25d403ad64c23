"""Build a scikit-learn pipeline whose encoders number the categories of nominal columns for a tree."""

import re
from itertools import groupby

import numpy as np

from .._utils.arrays import Array, Category
from ..data.table import Schema
from ._records import Estimator


def with_encoders(estimator: Estimator, schema: Schema, columns: list[tuple[int, tuple[int, ...] | None]]) -> Estimator:
    """Return a fitted pipeline of encoders and the tree.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        The fitted tree.
    schema : Schema
        The columns of the table.
    columns : list of (column, order)
        For each column of the tree, its column in the table, and the order in which an
        encoder numbers the category codes; None for a numeric column, which is passed on.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    steps: list[tuple[str, Estimator, list[int]]] = []
    for is_number, group in groupby(enumerate(columns), key=lambda pair: pair[1][1] is None):
        run = list(group)
        if is_number:
            steps.append((f"numbers_{run[0][0]}", "passthrough", [j for _, (j, _) in run]))
            continue
        for position, (j, order) in run:
            steps.append((f"{schema.names[j]}_{position}", _encoder(schema, j, order or ()), [j]))
    # scikit-learn does not allow double underscores in the names of steps.
    transformer = ColumnTransformer([(re.sub("_+", "_", name), step, columns) for name, step, columns in steps])
    transformer.fit(_example_row(schema))
    if schema.has_names:
        _set_feature_names(transformer, np.array(schema.names, object))
    return Pipeline([("encode", transformer), ("tree", estimator)])


def _encoder(schema: Schema, j: int, order: tuple[int, ...]) -> Estimator:
    """Return an encoder that numbers the categories of a nominal column in an order; unseen values become missing."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

    column = schema.columns[j]
    known = [column.categories[code] for code in order if code < len(column.categories)]
    parameters: dict[str, object] = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
    if column.has_missing:
        # A missing value is None or NaN. They get the two numbers after the last category: None the first, and NaN,
        # which scikit-learn requires to be last, the second. `encoded_missing_value` states the number of NaN.
        known += [None, np.nan]
        parameters["encoded_missing_value"] = len(known) - 1
    encoder = OrdinalEncoder(categories=[_object_array(known)], dtype=np.float64, **parameters)
    if all(isinstance(value, str) for value in column.categories):
        return encoder
    # OrdinalEncoder accepts booleans, and numbers that are not sorted, only as objects.
    as_objects = FunctionTransformer(np.asarray, kw_args={"dtype": object})
    return Pipeline([("objects", as_objects), ("codes", encoder)])


def _example_row(schema: Schema) -> Array:
    """Return one row of the table; encoders need a row to be fitted, although their categories are given."""
    cells = [column.categories[0] if column.categories else 0.0 for column in schema.columns]
    return _object_array(cells)[None, :]


def _object_array(values: list[Category]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _set_feature_names(transformer: Estimator, names: Array) -> None:
    """Give fitted encoders the names of their columns, so that the columns of data frames are found by name."""
    transformer.feature_names_in_ = names
    for _, step, columns in transformer.transformers_:
        if hasattr(step, "categories_"):
            step.feature_names_in_ = names[columns]
