"""A tree as text: drawn with its tests, or as one rule per leaf.

Nodes are in pre-order, so a drawing is one loop over them. A rule is what is known of each
column on the way to a leaf: a range, or a set of categories. The loop keeps it up to date
and takes it back when it leaves a branch, so that no path is ever walked twice.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError, TreeError
from ..nouns.counts import Counts
from ..nouns.moments import Moments
from ..nouns.pruning import Pruning
from ..nouns.shares import LeafShares
from ..nouns.tree import Tree
from .view import Shown
from .wording import ANYTHING, among, narrowed

__all__ = ["export_rules", "export_text"]

MOST_INDENTED = 40  # levels; deeper lines name their depth, or the text would grow with its square


def export_text(
    tree: Tree,
    counts: Counts | Moments | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int = 2,
    show_weights: bool = False,
    pruning: Pruning | None = None,
    limits: LeafShares | None = None,
) -> str:
    """Return a drawing of the tree, one line for each branch and each leaf.

    Parameters
    ----------
    tree : Tree
    counts : Counts or Moments, optional
        Gives the leaves their class and numbers of rows and errors; of a regression tree
        their value and its mean squared error.
    feature_names, class_names : sequence of str, optional
        Names of the columns and of the classes, in their order; by default those of the data
        the tree was grown on.
    max_depth : int, optional
        Tests below this depth (0: the root) are left out and marked as such. None draws all.
    decimals : int
        Digits after the point of thresholds and values, and of weights that are not whole. A
        threshold gets more where two of the same column would look alike or one would look
        like 0, a value where it would have fewer than three digits.
    show_weights : bool
        Whether a leaf shows the weight of each class (of a regression tree: its weight) in
        place of rows and errors.
    pruning : Pruning, optional
        Draw the tree as cut back by it, with its classes if it has any.
    limits : LeafShares, optional
        Limits on the class shares in the leaves, from `certifiers.leaf_shares`. A leaf then tells the
        share of the class it does not answer, found and at most; of more than two classes, the share
        of the one it answers, found and at least.

    Returns
    -------
    str
        Without a line break at the end. Control characters in names are written as escapes.

    Notes
    -----
    O(nodes), whatever the depth: lines more than 40 levels down are not indented further but
    name their depth. "or missing" stands where the gaps of a column go that had some in
    growing; gaps in other columns, and new categories, go where most growing examples went.

    Examples
    --------
    >>> import secateur
    >>> X = [["red", 1.0], ["red", 4.0], ["blue", 1.5], ["green", None]]
    >>> tree, counts = secateur.grow(secateur.encode(X, names=["colour", "size"], target=["a", "b", "a", "b"]))
    >>> print(export_text(tree, counts))
    |--- size <= 2.75
    |   |--- class: a (2 rows, 0 errors)
    |--- size > 2.75 or missing
    |   |--- class: b (2 rows, 0 errors)
    >>> print(export_text(tree, counts, show_weights=True, pruning=secateur.Pruning.from_cuts(tree, [0])))
    |--- weights: [2, 2] class: a
    >>> held_out = secateur.Counts.from_leaves(tree, [[37, 3], [2, 28]], sample="test")
    >>> whole = secateur.Pruning.from_cuts(tree, [])
    >>> print(export_text(tree, counts, limits=secateur.certifiers.leaf_shares(whole, held_out)))
    |--- size <= 2.75
    |   |--- class: a (2 rows, 0 errors), b 7.5 % of 40 held out (at most 22.4 %)
    |--- size > 2.75 or missing
    |   |--- class: b (2 rows, 0 errors), a 6.7 % of 30 held out (at most 24.5 %)
    >>> tree, moments = secateur.grow([[1.0], [2.0], [4.0]], [3.0, 3.0, 9.0], criterion="squared_error")
    >>> print(export_text(tree, moments, feature_names=["size"]))
    |--- size <= 3.00
    |   |--- value: 3.00 (2 rows, mean squared error 0)
    |--- size > 3.00
    |   |--- value: 9.00 (1 row, mean squared error 0)
    """
    _check_number("decimals", decimals, optional=False)
    _check_number("max_depth", max_depth, optional=True)
    if show_weights and counts is None:
        raise ParameterError("show_weights=True needs the weights: pass counts")
    shown = Shown.of(tree, counts, pruning, limits, feature_names, class_names, decimals)
    tree = shown.tree
    deepest = tree.n_nodes if max_depth is None else max_depth
    depth, is_leaf, end = tree.depth.tolist(), tree.is_leaf.tolist(), tree.end.tolist()
    lines = []
    for v, branch in enumerate(_branches(shown)):
        if depth[v] > deepest + 1:
            continue
        if v > 0:
            lines.append(_indented(depth[v] - 1, branch))
        if is_leaf[v]:
            lines.append(_indented(depth[v], shown.leaf(v, show_weights=show_weights) + shown.limit(v)))
        elif depth[v] == deepest + 1:
            levels = int(tree.depth[v : end[v]].max()) - depth[v]
            n_leaves = int(np.count_nonzero(tree.is_leaf[v : end[v]]))
            lines.append(_indented(depth[v], f"truncated branch of depth {levels} ({n_leaves:,} leaves)"))
    return "\n".join(lines)


def export_rules(
    tree: Tree,
    counts: Counts | Moments | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    decimals: int = 2,
    pruning: Pruning | None = None,
    limits: LeafShares | None = None,
) -> str:
    """Return the tree as rules, one line for each leaf, in pre-order.

    Parameters
    ----------
    tree : Tree
        A tree with tests.
    counts : Counts or Moments, optional
        Gives the rules their class (or value), and how many rows they cover with what share
        of errors (or mean squared error).
    feature_names, class_names, decimals, pruning, limits
        As for `export_text`.

    Returns
    -------
    str
        Every row meets exactly one rule, and its class is the tree's. All that a path asks of
        one column is said once, as a range or a set, where the path first asks.

    Notes
    -----
    O(nodes + length of the text). Missing values and new categories are told as in
    `export_text`.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "yes", "no"])
    >>> print(export_rules(tree, counts, feature_names=["size"]))
    IF size <= 1.50 THEN no (1 row, error 0.0%)
    IF 1.50 < size <= 3.50 THEN yes (2 rows, error 0.0%)
    IF size > 3.50 THEN no (1 row, error 0.0%)
    """
    _check_number("decimals", decimals, optional=False)
    shown = Shown.of(tree, counts, pruning, limits, feature_names, class_names, decimals)
    if (shown.tree.feature[shown.tree.internal] < 0).any():
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree has rules")
    lines = []
    for v, known in _paths(shown):
        asked = [text for text in (shown.condition(j, what) for j, what in known.items()) if text]
        lines.append(f"IF {' AND '.join(asked) or 'TRUE'} THEN {shown.conclusion(v)}{shown.limit(v)}")
    return "\n".join(lines)


def _branches(shown: Shown) -> Iterator[str]:
    """What leads to each node from its parent; empty for the root."""
    tree = shown.tree
    parent, feature, default = tree.parent.tolist(), tree.feature.tolist(), tree.default.tolist()
    start, ids = tree.branch_start.tolist(), tree.ids.tolist()
    n_before = [0] * tree.n_nodes  # children of each node met so far
    yield ""
    for v in range(1, tree.n_nodes):
        p = parent[v]
        child, column = n_before[p], feature[p]
        n_before[p] += 1
        if column < 0:
            yield f"node {ids[v]}"
        elif start[p] < start[p + 1]:
            codes = np.flatnonzero(tree.branch[start[p] : start[p + 1]] == child)
            yield among(shown.columns[column], codes, shown.categories(column), gaps=shown.has_gaps(column))
        else:
            known = narrowed(ANYTHING, shown.thresholds[p], child, is_default=child == default[p])
            yield shown.condition(column, known) or f"{shown.columns[column]} <= inf or missing"


def _paths(shown: Shown) -> Iterator[tuple[int, dict[int, Any]]]:
    """Each leaf, with what its path knows of every column, in the order in which they are tested first."""
    tree = shown.tree
    parent, end, feature, default = (a.tolist() for a in (tree.parent, tree.end, tree.feature, tree.default))
    start, is_leaf = tree.branch_start.tolist(), tree.is_leaf.tolist()
    n_before = [0] * tree.n_nodes
    known: dict[int, Any] = {}
    undo: list[tuple[int, int, Any]] = []  # where a branch ends, its column, what was known before it
    for v in range(tree.n_nodes):
        while undo and undo[-1][0] <= v:
            _, column, before = undo.pop()
            if before is None:
                del known[column]  # the last one added: branches are left in reverse order
            else:
                known[column] = before
        if v > 0:
            p = parent[v]
            child, column = n_before[p], feature[p]
            n_before[p] += 1
            before = known.get(column)
            undo.append((end[v], column, before))
            if start[p] < start[p + 1]:
                goes_here = tree.branch[start[p] : start[p + 1]] == child
                known[column] = goes_here if before is None else before & goes_here
            else:
                before = ANYTHING if before is None else before
                known[column] = narrowed(before, shown.thresholds[p], child, is_default=child == default[p])
        if is_leaf[v]:
            yield v, known


def _indented(depth: int, text: str) -> str:
    if depth <= MOST_INDENTED:
        return f"{'|   ' * depth}|--- {text}"
    return f"{'|   ' * MOST_INDENTED}[depth {depth}] |--- {text}"


def _check_number(name: str, value: Any, *, optional: bool) -> None:
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ParameterError(f"{name}={value!r}; a whole number of 0 or more is needed")
