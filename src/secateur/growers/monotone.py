"""Trees whose predictions only rise, or only fall, with a column: the parameter `monotonic_cst`.

A tree is rising in a column if, at every split of the column, no leaf of the lower branch predicts more than any leaf
of the upper branch. Two rows that differ in this column only can reach different leaves only through such a split. The
prediction therefore never falls as the column rises.

The prediction of a node as a leaf is a mean of the predictions of its leaves. Every pruning of a monotone tree is
therefore monotone. So are shrunk probabilities, which mix the nodes above a leaf in the same proportions in both
branches.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import monotone as monotone_kernel
from .._utils.arrays import Array
from ..core import Counts, Moments, Pruning, Tree
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError, show

MIN_WEIGHT = 1e-300  # Replaces a node weight of 0 in divisions.


def column_signs(monotonic_cst: Any, schema: Schema) -> Array:
    """Return the sign of each column: 1 if predictions must not fall, -1 if they must not rise, 0 for no constraint."""
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
    return signs.astype(np.int8)


def enforce_monotonicity(tree: Tree, grown: Counts | Moments, monotonic_cst: Any) -> tuple[Tree, Counts | Moments]:
    """Cut a tree at the splits that violate the constraints, and return it with the growing sample on it.

    Splits are examined from the leaves upwards. A split is cut if, after the cuts below it, a leaf of its lower branch
    predicts more (for sign -1: less) than a leaf of its upper branch.
    """
    assert tree.schema is not None
    signs = column_signs(monotonic_cst, tree.schema)
    # An infinite threshold splits present from missing values, which have no order.
    has_order = (tree.feature >= 0) & np.isfinite(tree.threshold)
    sign = np.where(has_order, signs[tree.feature], 0).astype(np.int8)
    if isinstance(grown, Counts):
        prediction: Array = grown.by_class[:, -1] / np.maximum(grown.total, MIN_WEIGHT)
    else:
        prediction = grown.mean
    cuts = np.flatnonzero(monotone_kernel.monotone_cuts(tree.end, prediction, sign))
    if not len(cuts):
        return tree, grown
    smaller, kept = Pruning.from_cuts(tree, cuts).to_tree(grown)
    smaller = replace(smaller, ids=None)  # The cut tree counts as the grown tree, so its nodes keep no earlier numbers.
    return smaller, replace(kept, tree=smaller)
