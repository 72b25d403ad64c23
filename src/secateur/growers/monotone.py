"""Trees whose predictions only rise, or only fall, with a column: the parameter `monotonic_cst`.

The estimate of a node is the share of the second class, or the mean of the target. Growing keeps the estimate of every
node within limits (`_kernels/monotone.py`): below a split of a constrained column, no node of the lower branch has a
larger estimate than any node of the upper branch. Two rows that differ in this column only can reach different leaves
only through such a split, so the prediction never falls as the column rises.

The limits hold for all nodes, not only for the leaves. Every pruning of the tree is therefore monotone. So are shrunk
probabilities. With c(v) = n / (n + strength) for the n rows of the parent of node v, the shrunk estimate below a split
is that of the split plus c times the difference of a mean of estimates below the chosen child from the estimate of the
split, where c is the same for both children and falls on the way down.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import monotone as monotone_kernel
from .._utils.arrays import write_protect
from ..core import Moments
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError, show


def column_signs(monotonic_cst: Any, schema: Schema) -> tuple[int, ...]:
    """Return the sign of each column (1: predictions must not fall, -1: must not rise, 0), or () if all are 0."""
    names = list(schema.names)
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise ParameterError(f"monotonic_cst names column {show(unknown[0])}; the columns are {names}")
        signs = np.array([monotonic_cst.get(name, 0) for name in names], object)
    else:
        signs = np.asarray(monotonic_cst, object)
    are_signs = [isinstance(sign, int | np.integer) and sign in (-1, 0, 1) for sign in signs.ravel()]
    if signs.shape != (len(names),) or not all(are_signs):
        raise ParameterError(
            f"monotonic_cst={show(monotonic_cst)}; -1, 0 or 1 for each of the {len(names)} columns, or a dict "
            "from names to these, is needed"
        )
    for column, sign in zip(schema.columns, signs, strict=True):
        if sign and column.kind == "nominal":
            raise UnsupportedError(
                f"monotonic_cst constrains column {show(column.name)}, whose categories have no order"
            )
    if schema.classes is not None and len(schema.classes) > 2:
        raise UnsupportedError(f"monotonic_cst with {len(schema.classes)} classes; 2 classes or numbers are needed")
    return tuple(int(sign) for sign in signs) if any(signs) else ()


def order_means(moments: Moments, signs: tuple[int, ...]) -> Moments:
    """Return the moments of a grown tree with means in the order that the constraints require.

    Growing compares means that are rounded in another way. Means that it found to be equal may therefore differ here by
    a rounding error, and are moved by as much.
    """
    tree = moments.tree
    if not signs:
        return moments
    # An infinite threshold splits present from missing values, which have no order.
    has_order = (tree.feature >= 0) & np.isfinite(tree.threshold)
    sign = np.where(has_order, np.array(signs, np.int8)[tree.feature], 0).astype(np.int8)
    mean = write_protect(monotone_kernel.ordered_estimates(tree.end, moments.mean, sign))
    return replace(moments, mean=mean)
