"""From the kernels' tables to a Tree in pre-order and its Counts."""

from itertools import pairwise
from typing import Any

import numpy as np

from .._kernels import grow_parts as parts
from .._kernels import structure, tables
from ..data.arrays import Array, sealed
from ..data.rounding import shortest
from ..data.table import Table
from ..nouns.counts import Counts
from ..nouns.seen import Ledger, Seen
from ..nouns.tree import Tree
from ._prepare import TWO, Prepared
from ._run import Grown


def assemble(
    grown: Grown,
    data: Prepared,
    table: Table,
    *,
    is_whole: bool,
    has_births: bool,
    exponent: int,
    is_checked: bool = True,
) -> tuple[Tree, Counts]:
    """Return the tree and its growing counts, which are `2**exponent` times those of the kernels.

    `is_checked` is False for trees that nobody will see: checking a small one takes longer
    than much of its growth.
    """
    n_nodes, n_classes = len(grown.nodes), grown.reals.shape[1] - 2
    by_class = np.empty((n_nodes, n_classes), np.int64 if is_whole else np.float64)
    parent, feature, default, birth, score, test = tables.in_preorder(
        np.ascontiguousarray(grown.nodes), grown.reals, data.lists.feature, by_class
    )
    branch_start, branch = _branches(test, default, grown.branch, data)
    make: Any = Tree if is_checked else _unchecked
    tree: Tree = make(
        parent=sealed(parent),
        feature=sealed(feature),
        threshold=sealed(_thresholds(test, feature, data, table)),
        rounded=sealed(_rounded(test, feature, data, table, is_asked=is_checked)),
        branch_start=sealed(branch_start),
        branch=sealed(branch),
        default=sealed(default),
        score=sealed(score),
        birth=sealed(birth if has_births else np.full(n_nodes, -1, np.int32)),
        schema=table.schema,
    )
    if not is_whole:
        by_class = np.ldexp(_added_up(tree, by_class), exponent)
    return tree, Counts(tree, sealed(by_class), "grow")


def _unchecked(**fields: Any) -> Tree:
    """A tree of arrays that are right by construction."""
    tree = object.__new__(Tree)
    fields["ids"] = sealed(np.arange(len(fields["parent"]), dtype=np.int32))
    fields |= {"key": None, "history": Seen(), "ledger": Ledger()}
    fields["end"] = sealed(structure.subtree_ends(fields["parent"]))
    for name, value in fields.items():
        object.__setattr__(tree, name, value)
    return tree


def _thresholds(test: Array, feature: Array, data: Prepared, table: Table) -> Array:
    """Halfway between the values around the cut; infinity where present is split from missing."""
    threshold = np.full(len(feature), np.nan)
    numeric = np.flatnonzero(test[1] == parts.NUMERIC)
    if table.matrix is not None and not data.values:  # all from one array: no need to go by column
        below, above = test[2, numeric], test[3, numeric]
        low, high = (table.matrix[row, feature[numeric]].astype(np.float64) for row in (below, above))
        threshold[numeric] = np.where(above < 0, np.inf, midpoint(low, high))
        return threshold
    two = {j: known for j, known in data.values.items() if known.codes is None and len(known.low) == TWO}
    if len(two) == len(data.lists.feature):  # columns of two values have one threshold each
        at = np.full(len(table.schema.columns), np.nan)
        at[list(two)] = [midpoint(known.high[0], known.low[1]) for known in two.values()]
        threshold[numeric] = np.where(test[3, numeric] < 0, np.inf, at[feature[numeric]])
        return threshold
    numeric, low, high = _around(test, feature, data, table)
    threshold[numeric] = np.where(test[3, numeric] < 0, np.inf, midpoint(low, high))
    return threshold


def _rounded(test: Array, feature: Array, data: Prepared, table: Table, *, is_asked: bool) -> Array:
    """The shortest number between the values around each cut, for people; NaN if nobody asks."""
    rounded = np.full(len(feature), np.nan)
    if is_asked:
        numeric, low, high = _around(test, feature, data, table)
        is_cut = test[3, numeric] >= 0
        low, high = low[is_cut], high[is_cut]
        rounded[numeric[is_cut]] = shortest(low, midpoint(low, high), high)
    return rounded


def _around(test: Array, feature: Array, data: Prepared, table: Table) -> tuple[Array, Array, Array]:
    """The nodes that test numbers, and the values around their cuts; any where the test is for missing."""
    numeric = np.flatnonzero(test[1] == parts.NUMERIC)
    numeric = numeric[np.argsort(feature[numeric], kind="stable")]
    below, above = test[2, numeric], test[3, numeric]
    low, high = np.empty(len(numeric)), np.empty(len(numeric))
    edges = np.append(np.flatnonzero(np.diff(feature[numeric], prepend=-1)), len(numeric))
    for first, last in pairwise(edges):
        here = slice(first, last)
        j = int(feature[numeric[first]])
        known = data.values.get(j)
        if known is None:
            low[here], high[here] = table.columns[j][below[here]], table.columns[j][above[here]]
        elif known.codes is None:
            low[here], high[here] = known.high[below[here]], known.low[above[here]]
        else:  # a cut between bins is at the edge of the lower one, whatever the node holds
            bins = known.codes[below[here]].astype(np.intp)
            low[here], high[here] = known.high[bins], known.low[np.minimum(bins + 1, len(known.low) - 1)]
    return numeric, low, high


def midpoint(low: Array, high: Array) -> Array:
    """A threshold t with low <= t < high: halfway, or `low` where halfway does not lie between."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low / 2 + high / 2
        return np.where((low <= middle) & (middle < high), middle, low)


def _branches(test: Array, default: Array, branch: Array, data: Prepared) -> tuple[Array, Array]:
    """The child of every category at every nominal test."""
    if data.codes is None:
        return np.zeros(len(default) + 1, np.int64), np.zeros(0, np.uint16)
    n_codes = np.zeros(len(default), np.int64)
    is_nominal = test[1] >= parts.SUBSET
    n_codes[is_nominal] = data.codes.n_codes[test[0, is_nominal] - len(data.lists.entries)]
    start = np.append(0, np.cumsum(n_codes))
    owner = np.repeat(np.arange(len(default)), n_codes)
    code = np.arange(start[-1]) - start[owner]
    is_subset = test[1, owner] == parts.SUBSET
    child = code.astype(np.uint16)  # multiway: one child per category
    child[is_subset] = branch[(test[4, owner] + code)[is_subset]]
    return start, np.where(child == parts.UNSEEN, default[owner], child).astype(np.uint16)


def _added_up(tree: Tree, by_class: Array) -> Array:
    """Weights of inner nodes as the sum over their leaves, free of the rounding of growing."""
    own = np.where(tree.is_leaf[:, None], by_class, 0.0)
    return structure.sum_upwards(tree.parent, own)
