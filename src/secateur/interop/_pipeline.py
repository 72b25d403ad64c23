"""The encoders in front of a scikit-learn tree that tests nominal columns."""

import re
from itertools import groupby

import numpy as np

from .._utils.arrays import Array, Category
from ..data.table import Schema
from ._nodes import Estimator


def with_encoders(estimator: Estimator, schema: Schema, columns: list[tuple[int, tuple[int, ...] | None]]) -> Estimator:
    """Return a fitted pipeline of encoders and the tree.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
    schema : Schema
    columns : list of (position, order)
        For each column the tree reads: the column of the table, and the order in which an
        encoder numbers its codes (None: a number, passed on).
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    steps: list[tuple[str, Estimator, list[int]]] = []
    for is_number, group in groupby(enumerate(columns), key=lambda pair: pair[1][1] is None):
        run = list(group)
        if is_number:
            steps.append((f"numbers_{run[0][0]}", "passthrough", [j for _, (j, _) in run]))
            continue
        for place, (j, order) in run:
            steps.append((f"{schema.names[j]}_{place}", _encoder(schema, j, order or ()), [j]))
    transformer = ColumnTransformer([(re.sub("_+", "_", name), step, at) for name, step, at in steps])
    transformer.fit(_example(schema))
    if schema.has_names:
        _name(transformer, np.array(schema.names, object))
    return Pipeline([("encode", transformer), ("tree", estimator)])


def _encoder(schema: Schema, j: int, order: tuple[int, ...]) -> Estimator:
    """Number the codes of a nominal column in an order; unseen values become missing."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

    column = schema.columns[j]
    known = [column.categories[code] for code in order if code < len(column.categories)]
    parameters: dict[str, object] = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
    if column.has_missing:  # None gets the number after the last category, NaN the next: missing stands last
        known += [None, np.nan]
        parameters["encoded_missing_value"] = len(known) - 1
    encoder = OrdinalEncoder(categories=[_objects(known)], dtype=np.float64, **parameters)
    if all(isinstance(value, str) for value in column.categories):
        return encoder
    # Numbers in any order but their own, and booleans, are taken as objects only.
    as_objects = FunctionTransformer(np.asarray, kw_args={"dtype": object})
    return Pipeline([("objects", as_objects), ("codes", encoder)])


def _example(schema: Schema) -> Array:
    """One row of the table, for the encoders to be fitted on; their categories are given."""
    cells = [column.categories[0] if column.categories else 0.0 for column in schema.columns]
    return _objects(cells)[None, :]


def _objects(values: list[Category]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _name(transformer: Estimator, names: Array) -> None:
    """Tell fitted encoders the names of their columns, so that frames are matched by name."""
    transformer.feature_names_in_ = names
    for _, step, at in transformer.transformers_:
        if hasattr(step, "categories_"):
            step.feature_names_in_ = names[at]
