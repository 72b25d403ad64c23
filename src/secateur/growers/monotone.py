"""Trees whose answers rise (or fall) with a column, whatever the other columns hold.

A tree is monotone in a column if, at every test of it, each leaf on the lower side answers at most what each
leaf on the upper side does: two rows that differ in that column only part at such a test. What a node answers as a
leaf is a mean over its leaves, so that every pruning of the tree is monotone too; and shrunk probabilities, which
mix the nodes above a leaf in the same proportions on both sides, are as well.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import monotone as monotone_kernel
from .._utils.arrays import Array
from ..core import Counts, Moments, Pruning, Tree
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError


def signs_of(monotonic_cst: Any, schema: Schema) -> Array:
    """Return -1, 0 or 1 for each column: its answers fall, do as they like, or rise."""
    names = list(schema.names)
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise ParameterError(f"monotonic_cst names column {unknown[0]!r}; the columns are {names}")
        given = np.array([monotonic_cst.get(name, 0) for name in names], object)
    else:
        given = np.asarray(monotonic_cst, object)
    is_sign = [isinstance(sign, int | np.integer) and sign in (-1, 0, 1) for sign in given.ravel()]
    if given.shape != (len(names),) or not all(is_sign):
        raise ParameterError(
            f"monotonic_cst={monotonic_cst!r}; -1, 0 or 1 for each of the {len(names)} columns, or a dict from names "
            "to these, is needed"
        )
    for column, sign in zip(schema.columns, given, strict=True):
        if sign and column.kind == "nominal":
            raise UnsupportedError(f"monotonic_cst constrains column {column.name!r}, whose categories have no order")
    if schema.classes is not None and len(schema.classes) > 2:
        raise UnsupportedError(f"monotonic_cst with {len(schema.classes)} classes; 2 classes or numbers are needed")
    return given.astype(np.int8)


def made_monotone(tree: Tree, grown: Counts | Moments, monotonic_cst: Any) -> tuple[Tree, Any]:
    """Return the tree cut where its answers are out of order, and its sample on it.

    Cut from the leaves upwards: a test is cut if, after the cuts below it, a leaf on its lower side answers more (or
    less) than one on its upper side.
    """
    assert tree.schema is not None
    signs = signs_of(monotonic_cst, tree.schema)
    is_ordered = (tree.feature >= 0) & np.isfinite(tree.threshold)  # not tests for missing values alone
    sign = np.where(is_ordered, signs[tree.feature], 0).astype(np.int8)
    value: Array = grown.by_class[:, -1] / np.maximum(grown.total, 1e-300) if grown.has_classes else grown.predictions
    cuts = np.flatnonzero(monotone_kernel.monotone_cuts(tree.end, value, sign))
    if not len(cuts):
        return tree, grown
    small, kept = Pruning.from_cuts(tree, cuts).to_tree(grown)
    small = replace(small, ids=None)  # it is the grown tree
    return small, replace(kept, tree=small)
