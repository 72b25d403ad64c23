"""Trees whose predictions only rise, or only fall, with a column: the parameter `monotonic_cst`.

The estimate of a node is the share of the second class, or the mean of the target. Growing keeps the estimate of every
node within limits (`_kernels/monotone.py`): below a split of a constrained column, no node of the lower branch has a
larger estimate than any node of the upper branch. Two rows that differ in this column only can reach different leaves
only through such a split, so the prediction never falls as the column rises.

The limits hold for all nodes, not only for the leaves. Every pruning of the tree is therefore monotone.

Shrunk probabilities are monotone, too. Shrinking multiplies the difference between the estimates of a node and its
parent by c = n / (n + strength), where n is the number of rows of the parent. The shrunk estimate of a node below a
split is therefore

    shrunk estimate of the split + c * (mean - estimate of the split),

where c is that of the children of the split, and the mean is a weighted mean of the estimates of the nodes on the path
from the child to the node. Its weights are not negative, because c falls on the way down. No estimate in the lower
branch is larger than any in the upper branch, so the means have this order, too, and c is the same for both branches.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._kernels import monotone as monotone_kernel
from .._utils.arrays import Array, Floats, write_protect
from ..core import Counts, Moments, Tree
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError, show


def column_signs(monotonic_cst: Any, schema: Schema) -> tuple[int, ...]:
    """Return the sign of each column, or () if all signs are 0; raise an error if `monotonic_cst` is invalid.

    The sign is 1 if predictions must not fall as the column rises, -1 if they must not rise, 0 without a constraint.
    """
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


def limits_of_children(limits: Floats, sign: int, estimates: tuple[float, float]) -> Floats:
    """Return the limits of the two children of a split, one line for each.

    Parameters
    ----------
    limits : array of float
        Lower and upper limit of the estimate of the node.
    sign : int
        Constraint of the column of the split; 0 if the children have no order.
    estimates : (float, float)
        Estimates of the children.
    """
    of_children = np.array([limits, limits])
    if sign:
        lower_child = 0 if sign > 0 else 1
        of_children[lower_child, 1] = of_children[1 - lower_child, 0] = (estimates[0] + estimates[1]) / 2
    return of_children


def order_means(moments: Moments, signs: tuple[int, ...]) -> Moments:
    """Return the moments of a grown tree with means in the order that the constraints require.

    Growing compares means that are rounded in another way. Means that it found to be equal may therefore differ here by
    a rounding error, and are moved by as much.
    """
    if not signs:
        return moments
    mean = monotone_kernel.ordered_estimates(moments.tree.end, moments.mean, _split_signs(moments.tree, signs))
    return replace(moments, mean=write_protect(mean))


def keeps_order(counts: Counts, signs: tuple[int, ...]) -> bool:
    """Return whether the shares of the last class in the nodes of a tree have the order that constraints require."""
    if not signs:
        return True
    tree = counts.tree
    share = counts.by_class[:, -1] / counts.total
    return bool((monotone_kernel.ordered_estimates(tree.end, share, _split_signs(tree, signs)) == share).all())


def _split_signs(tree: Tree, signs: tuple[int, ...]) -> Array:
    """Return the constraint on the order of the children of each node: 0 at leaves and free splits.

    An infinite threshold splits present from missing values, which have no order.
    """
    has_order = (tree.feature >= 0) & np.isfinite(tree.threshold)
    return np.where(has_order, np.array(signs, np.int8)[tree.feature], 0).astype(np.int8)
