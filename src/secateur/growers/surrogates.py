"""Surrogate splits: where the value that a node tests is missing, the test of another column that agrees best decides.

A tree is grown as always. Then, from the root down, each node gets its surrogates from the rows that reach it; if
they send a row elsewhere than growing had sent it, the two subtrees below are grown anew on the rows they now have.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Array
from ..data.table import Table
from ..nouns.surrogates import SAYS_NOTHING, Surrogates
from ..nouns.tree import Tree
from .prepare import midpoint

Regrow = Callable[[Array, int], Tree]  # of some rows, at a depth


class Surrogate(NamedTuple):
    """One test of another column; `branch` is empty if it compares a number."""

    feature: int
    threshold: float
    low: int
    branch: Array
    agreement: float


def with_surrogates(
    tree: Tree, table: Table, weight: Array | None, regrow: Regrow, *, k: int, least_leaf: float, is_whole: bool
) -> Tree:
    """Return the tree with up to k surrogates at each node, grown anew where they send rows elsewhere.

    Parameters
    ----------
    tree : Tree
        As grown on all rows of the table; binary.
    weight : array, optional
        Above 0; sums of them are exact.
    regrow : callable
        From rows and a depth to the tree that grows there.
    least_leaf : float
        The least size of a child. Where surrogates would leave fewer, a node has none.
    is_whole : bool
        Whether weights count as repetitions.
    """
    parts: list[tuple[Tree, int]] = []
    parent: list[int] = []
    found: list[list[Surrogate]] = []
    todo = [(-1, 0, tree, 0, np.arange(table.n_rows))]
    while todo:
        above, depth, grown, v, rows = todo.pop()
        here = len(parts)
        parts.append((grown, v))
        parent.append(above)
        found.append([])
        if grown.is_leaf[v]:
            continue
        known = _side(grown, v, table, rows)
        side = np.where(known == SAYS_NOTHING, grown.default[v], known)
        if grown.threshold[v] != np.inf:  # a test for missing values has an answer for them
            others = find_surrogates(table, rows, weight, known, int(grown.feature[v]), k)
            moved = _filled(others, table, rows, known, int(grown.default[v]))
            if min(_sizes(moved, rows, weight if is_whole else None)) >= least_leaf:
                found[here] = others
                if (moved != side).any():
                    for child in (1, 0):
                        some = rows[moved == child]
                        todo.append((here, depth + 1, regrow(some, depth + 1), 0, some))
                    continue
        todo.append((here, depth + 1, grown, int(grown.right[v]), rows[side == 1]))
        todo.append((here, depth + 1, grown, v + 1, rows[side == 0]))
    return _joined(parts, parent, found, tree)


def find_surrogates(
    table: Table, rows: Array, weight: Array | None, side: Array, feature: int, k: int
) -> list[Surrogate]:
    """Return up to k tests of other columns than `feature` that agree best with the sides 0 and 1 of these rows.

    Rows of side 2, whose value is missing, are not looked at. The agreement is the share that a test sends to their
    side of the others that it knows. Tests that are no better than sending all these rows to one side are left out. Of
    ties the test that knows more wins, then the lower column; within a column the lower threshold.
    """
    is_known = side < SAYS_NOTHING
    rows, side = rows[is_known], side[is_known]
    own = np.ones(len(rows)) if weight is None else weight[rows]
    found = []
    for j, about in enumerate(table.schema.columns):
        if j == feature:
            continue
        values = table.columns[j][rows]
        if about.kind == "nominal":
            one = _nominal(values, side, own, about.n_codes, len(about.categories))
        else:
            one = _numeric(values, side, own)
        if one is not None:
            agreed, total, threshold, low, branch = one
            found.append((-agreed / total, -total, Surrogate(j, threshold, low, branch, agreed / total)))
    found.sort(key=lambda one: one[:2])  # stable: the lower column first
    return [one for _, _, one in found[:k]]


_NO_BRANCH = np.zeros(0, np.uint16)


def _numeric(values: Array, side: Array, weight: Array) -> tuple[float, float, float, int, Array] | None:
    order = np.argsort(values, kind="stable")
    order = order[: len(values) - np.count_nonzero(np.isnan(values))]  # NaN comes last
    x = values[order].astype(np.float64)
    cuts = np.flatnonzero(x[1:] > x[:-1])
    if len(cuts) == 0:
        return None
    signed = np.where(side[order] == 0, weight[order], -weight[order])
    left, right = signed[signed > 0].sum(), -signed[signed < 0].sum()
    up = right + np.cumsum(signed)[cuts]  # what agrees if values up to the cut go to child 0
    agreed = np.array([up, left + right - up])
    low, at = divmod(int(agreed.argmax()), len(cuts))
    best_up, best_down = int(up.argmax()), int(up.argmin())
    if agreed[0, best_up] == agreed[1, best_down]:  # a tie of the two directions
        low, at = (0, best_up) if best_up <= best_down else (1, best_down)
    if agreed[low, at] <= max(left, right):
        return None
    cut = cuts[at]
    threshold = float(midpoint(x[cut : cut + 1], x[cut + 1 : cut + 2])[0])
    return float(agreed[low, at]), float(left + right), threshold, low, _NO_BRANCH


def _nominal(
    values: Array, side: Array, weight: Array, n_codes: int, n_categories: int
) -> tuple[float, float, float, int, Array] | None:
    """Each category goes where most of its weight does, of a tie to child 0; those not here, and gaps, say nothing."""
    is_known = (values >= 0) & (values < n_categories)
    codes, sides, own = values[is_known], side[is_known], weight[is_known]
    sent = np.array([np.bincount(codes[sides == c], own[sides == c], minlength=n_codes) for c in (0, 1)])
    agreed, total = sent.max(axis=0).sum(), sent.sum(axis=1)
    if agreed <= total.max():
        return None
    branch = np.where(sent.sum(axis=0) > 0, sent[1] > sent[0], SAYS_NOTHING).astype(np.uint16)
    return float(agreed), float(total.sum()), np.nan, 0, branch


def _side(tree: Tree, v: int, table: Table, rows: Array) -> Array:
    """The child that the test of a node sends each row to; 2 where its value is missing."""
    values = table.columns[tree.feature[v]][rows]
    codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
    if len(codes):
        return np.where(values < 0, SAYS_NOTHING, codes[values])
    return np.where(np.isnan(values), SAYS_NOTHING, values > tree.threshold[v])


def _filled(others: list[Surrogate], table: Table, rows: Array, known: Array, default: int) -> Array:
    """The sides of all rows: missing ones by the first surrogate that knows, else by default."""
    side = known.copy()
    for one in others:
        gaps = np.flatnonzero(side == SAYS_NOTHING)
        values = table.columns[one.feature][rows[gaps]]
        if len(one.branch):
            side[gaps] = np.where(values < 0, SAYS_NOTHING, one.branch[values])
        else:
            above = np.where(values > one.threshold, 1 - one.low, one.low)
            side[gaps] = np.where(np.isnan(values), SAYS_NOTHING, above)
    return np.where(side == SAYS_NOTHING, default, side)


def _sizes(side: Array, rows: Array, weight: Array | None) -> Array:
    return np.bincount(side, None if weight is None else weight[rows], minlength=2)


def _joined(parts: list[tuple[Tree, int]], parent: list[int], found: list[list[Surrogate]], grown: Tree) -> Tree:
    """The tree of these nodes, each a node of some tree, and their surrogates."""
    names = ("feature", "threshold", "default", "score", "rounded")
    fields: dict[str, Any] = {name: np.array([getattr(tree, name)[v] for tree, v in parts]) for name in names}
    branches = [tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]] for tree, v in parts]
    every = [one for some in found for one in some]
    return Tree(
        np.array(parent, np.int32),
        **fields,
        branch_start=_starts(branches),
        branch=np.concatenate(branches),
        schema=grown.schema,
        surrogates=Surrogates(
            _starts(found),
            np.array([one.feature for one in every], np.int32),
            np.array([one.threshold for one in every]),
            np.array([one.low for one in every], np.int32),
            _starts([one.branch for one in every]),
            np.concatenate([_NO_BRANCH, *(one.branch for one in every)]),
            np.array([one.agreement for one in every]),
        ),
    )


def _starts(lists: list[Array] | list[list[Surrogate]]) -> Array:
    return np.append(0, np.cumsum([len(one) for one in lists])).astype(np.int64)
