"""The rows to cross-validate on, and what each of them weighs."""

import warnings
from typing import Any

import numpy as np

from ..data.arrays import Array
from ..data.encoding import encode
from ..data.table import Table
from ..data.target import check_weights
from ..errors import DataError, ParameterError
from ..growers import CRITERIA
from ..growers.settings import times_class_weight


def rows_of(
    X: Any, y: Any, sample_weight: Any, class_weight: Any, nominal: Any, criterion: str
) -> tuple[Table, Array | None]:
    """Return the rows and their weights in growing and judging, read as `grow` does; a `Table` is taken as it is."""
    given = None if sample_weight is None else np.asarray(sample_weight)
    kind = CRITERIA[criterion].target if criterion in CRITERIA else "class"
    is_table = isinstance(X, Table)
    if is_table and y is nominal is None and X.schema.has_numeric_target == (kind == "number"):
        table = X
    else:
        weights = None if is_table else given
        table = encode(X, target=y, target_kind=kind, nominal=nominal, sample_weight=weights)
    target, classes = table.target, table.schema.classes
    if target is None:
        raise DataError(f"y is None and the table has no target; cross-validation needs the {kind} of each row")
    if classes is None and class_weight is not None:
        raise ParameterError(f"class_weight={class_weight!r} with criterion={criterion!r}: numbers have no classes")
    weight = check_weights(given, table.n_rows)
    if class_weight is not None:
        weight = check_weights(times_class_weight(weight, table, class_weight), table.n_rows)
    used = target if weight is None else target[weight > 0]
    if classes is not None and (used == used[0]).all():
        message = f"every row has the class {classes[used[0]]!r}; the tree is one leaf"
        warnings.warn(message, UserWarning, stacklevel=3)
    return table, None if weight is None or (weight == 1).all() else weight
