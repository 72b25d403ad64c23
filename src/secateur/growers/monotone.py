"""Trees whose predictions only rise, or only fall, with a column: the parameter `monotonic_cst`.

The estimate of a node is the share of the second class, or the mean of the target. Every node has limits
(`_kernels/monotone.py`), and its estimate is moved into them before anything is predicted: the limits of the nodes in
the lower branch of a constrained split end where those of the nodes in the upper branch begin. Two rows that differ in
one constrained column only can reach different leaves only through such a split, so the prediction never falls as the
column rises.

The limits hold for all nodes, not only for the leaves. Every pruning of the tree is therefore monotone, and so are
labels and estimates from any other sample, after they were moved into the limits (`core/estimate_limits.py`).

Shrunk probabilities are monotone, too. Let the estimate of a node be the one within its limits. Shrinking multiplies
the difference between the estimates of a node and its parent by c = n / (n + strength), where n is the number of rows
of the parent. The shrunk estimate of a node below a split is therefore

    shrunk estimate of the split + c * (mean - estimate of the split),

where c is that of the children of the split, and the mean is a weighted mean of the estimates of the nodes on the path
from the child to the node. Its weights are not negative, because c falls on the way down. No estimate in the lower
branch is larger than any in the upper branch, so the means have this order, too, and c is the same for both branches.

A mean over prunings ("mixture") is the same number for both branches of a split, from the prunings that cut there or
above, plus the same share of means of estimates below, so it keeps the order, too.

Growing splits never raise the cost of a tree: a constrained split has children within the limits of its node, and the
children of other splits have the same limits as their node and nearer estimates of their own rows.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .._kernels import monotone as monotone_kernel
from .._utils.arrays import Array, Floats, write_protect
from ..core import Counts, Moments, Tree
from ..core.estimate_limits import class_frequencies
from ..data.table import Schema
from ..errors import ParameterError, UnsupportedError, show

Statistics = TypeVar("Statistics", bound=Counts | Moments)


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


def limit_estimates(
    grown: Statistics, signs: tuple[int, ...], root_limits: tuple[float, float] = (-np.inf, np.inf)
) -> Statistics:
    """Return the counts or moments of a grown tree on the same tree with the limits of its estimates.

    `root_limits` are the limits of the root: those of the node below which a subtree was grown.
    """
    if not signs:
        return grown
    tree = grown.tree
    limits = monotone_kernel.estimate_limits(tree.end, _estimates(grown), _split_signs(tree, signs), *root_limits)
    return replace(grown, tree=replace(tree, estimate_limits=write_protect(limits)))


def limited_tree(grown: Counts | Moments, monotonic_cst: Any) -> Tree:
    """Return the tree of a growing sample; with constraints, a tree of an earlier version gets its limits."""
    tree = grown.tree
    if tree.estimate_limits is not None or monotonic_cst is None or tree.schema is None:
        return tree
    return limit_estimates(grown, column_signs(monotonic_cst, tree.schema)).tree


def keeps_order(grown: Counts | Moments) -> bool:
    """Return whether the estimates of all nodes of a tree lie within its limits."""
    limits = grown.tree.estimate_limits
    if limits is None:
        return True
    estimates = _estimates(grown)
    return bool(((limits[:, 0] <= estimates) & (estimates <= limits[:, 1])).all())


def _estimates(grown: Counts | Moments) -> Floats:
    """Return the share of the last class, or the mean, of each node; an empty node has that of its parent."""
    if isinstance(grown, Moments):
        return grown.mean
    shares = class_frequencies(grown.tree.parent, grown.by_class, grown.total)
    return np.ascontiguousarray(shares[:, -1])


def _split_signs(tree: Tree, signs: tuple[int, ...]) -> Array:
    """Return the constraint on the order of the children of each node: 0 at leaves and free splits.

    An infinite threshold splits present from missing values, which have no order.
    """
    has_order = (tree.feature >= 0) & np.isfinite(tree.threshold)
    return np.where(has_order, np.array(signs, np.int8)[tree.feature], 0).astype(np.int8)
