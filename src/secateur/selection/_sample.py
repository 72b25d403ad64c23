"""The rows to cross-validate on, and what each of them weighs."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from .. import dealing
from ..encoding import encode
from ..errors import DataError, ParameterError
from ..growers._settings import REGRESSION, times_class_weight
from ..labels import check_weights
from ..table import Table


class Sample(NamedTuple):
    """Rows, their weights in growing and judging, and how many rows each counts for in a standard error."""

    table: Table
    weight: Any
    size: Any


def sample_of(
    X: Any, y: Any, sample_weight: Any, class_weight: Any, nominal: Any, criterion: str, *, is_dealt: bool
) -> Sample:
    """Read the data as `grow` does, with whole weights as copies where folds are to be dealt."""
    given = None if sample_weight is None else np.asarray(sample_weight)
    kind = "number" if criterion == REGRESSION else "class"
    weights = None if isinstance(X, Table) else given
    table = encode(X, target=y, target_kind=kind, nominal=nominal, weights=weights)  # type: ignore[arg-type]
    target, classes = table.target, table.schema.classes
    if target is None:
        raise DataError(f"y is None and the table has no target; cross-validation needs the {kind} of each row")
    if classes is None and class_weight is not None:
        raise ParameterError(f"class_weight={class_weight!r} with criterion={criterion!r}: numbers have no classes")
    weight: Any = check_weights(given, table.n_rows)
    product = times_class_weight(weight, table, class_weight)
    size = None if weight is None or (weight % 1).any() else weight
    rows = dealing.copies(weight) if is_dealt else None
    if rows is not None:
        product = None if class_weight is None else (product / np.where(weight == 0, 1, weight))[rows]
        table = Table(table.schema, tuple(column[rows] for column in table.columns), target[rows])
        size = None
    product = check_weights(product, table.n_rows)
    assert table.target is not None
    used = table.target if product is None else table.target[product > 0]
    if classes is not None and (used == used[0]).all():
        message = f"every row has the class {classes[used[0]]!r}; the tree is one leaf"
        warnings.warn(message, UserWarning, stacklevel=3)
    return Sample(table, None if product is None or (product == 1).all() else product, size)
