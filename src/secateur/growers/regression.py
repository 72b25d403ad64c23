"""Prepare rows with a numeric target for growing.

The rows are put in the order of their targets. Every presorted list is then in the order of value and target. Targets
are therefore added up in an order that does not depend on the order of the rows, and the same rows in any order give
the same tree to the last bit.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.arrays import Array, Floats, write_protect
from ..data.table import Table
from ..errors import DataError
from .grow_target import number_target
from .prepared_columns import ColumnOptions, prepare_columns
from .tree_assembly import RowValues
from .tree_growth import PreparedRows

MIN_TARGET_RANGE = 1e-60  # Its fourth power, times a small weight, is still a float with all its digits.


def prepare_numbers(table: Table, weight: Array | None, options: ColumnOptions, pool: Any) -> PreparedRows:
    """Return rows with a numeric target, ready for the growth of a regression tree.

    Parameters
    ----------
    table : Table
        The rows, with a numeric target.
    weight : array, optional
        Weight of each row, above 0; None if every row weighs 1.
    options : ColumnOptions
    pool : ThreadPoolExecutor or InlinePool
    """
    order = np.lexsort((table.required_target,) if weight is None else (weight, table.required_target))
    numbers, exponent = _scale_target(table.required_target[order])
    in_order = table.take(order)
    # The kernels store a class with each row: the one class of these rows is 0.
    schema = replace(table.schema, classes=np.zeros(1, np.int32), has_numeric_target=False)
    with_one_class = replace(in_order, schema=schema, target=write_protect(np.zeros(table.n_rows, np.int32)))
    sorted_weight = None if weight is None else weight[order]
    columns = prepare_columns(with_one_class, sorted_weight, options, pool)
    # Scores are squares of targets, so that they are scaled back by twice the exponent.
    return PreparedRows(columns, number_target(numbers, weight), RowValues(in_order), 2 * exponent)


def _scale_target(ascending: Floats) -> tuple[Floats, int]:
    """Return the targets relative to their median and scaled to lie between -1 and 1, and the exponent of the scale.

    The targets are ascending. They are divided by 2 to the power of the exponent.
    """
    centred = ascending - ascending[len(ascending) // 2]
    largest = max(-centred[0], centred[-1])
    if 0 < largest < MIN_TARGET_RANGE:
        raise DataError(
            f"y ranges over {centred[-1] - centred[0]:.3g} only; {MIN_TARGET_RANGE:g} or more (or 0) is needed, whose "
            "fourth power is still a float: multiply y by a large number"
        )
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(centred, -exponent), exponent
