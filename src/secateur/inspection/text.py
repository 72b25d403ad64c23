"""A tree as text: drawn with its tests, or as one rule per leaf.

A rule is what is known of each column on the way to a leaf: a range, or a set of categories.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import Counts, LeafShares, Moments, Pruning, Tree, check_no_surrogates
from ..errors import ParameterError, TreeError, UnsupportedError
from .view import TreeView, view_of
from .wording import share_limit_text

__all__ = ["export_rules", "export_text"]

MOST_ASKED = 2_000_000  # conditions of all rules together
MOST_INDENTED = 40  # levels; deeper lines name their depth, or the text would grow with its square


def export_text(
    tree: Tree,
    counts: Counts | Moments | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    decimals: int | None = None,
    show_weights: bool = False,
    pruning: Pruning | None = None,
    limits: LeafShares | None = None,
    node_ids: bool = False,
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
    decimals : int, optional
        Digits after the point of thresholds and values, and of weights that are not whole. By
        default a threshold is as short as it can be and still splits the growing rows in the same way,
        and values have two. Where so few digits would split them differently, a threshold gets more,
        and so does a value that would have fewer than three digits.
    show_weights : bool
        Whether a leaf shows the weight of each class (of a regression tree: its weight) in
        place of rows and errors.
    pruning : Pruning, optional
        Draw the tree as cut back by it, with its classes if it has any.
    limits : LeafShares, optional
        Limits on the class shares in the leaves, from `certifiers.leaf_shares`. A leaf then shows the
        observed share of the class it does not predict and its upper limit; with more than two
        classes, the observed share of the predicted class and its lower limit.
    node_ids : bool
        Whether nodes have their numbers: a small one, from 1 in the order shown, and in brackets that
        in the tree as grown, by which nodes are cut.

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
    |--- size <= 3
    |   |--- class: a (2 rows, 0 errors)
    |--- size > 3 or missing
    |   |--- class: b (2 rows, 0 errors)
    >>> print(export_text(tree, counts, show_weights=True, pruning=secateur.Pruning.from_cuts(tree, [0])))
    |--- weights: [2, 2] class: a
    >>> held_out = secateur.Counts.from_leaves(tree, [[37, 3], [2, 28]], sample="test")
    >>> whole = secateur.Pruning.from_cuts(tree, [])
    >>> print(export_text(tree, counts, limits=secateur.certifiers.leaf_shares(whole, held_out)))
    |--- size <= 3
    |   |--- class: a (2 rows, 0 errors), b 7.5 % of 40 held out (at most 22.4 %)
    |--- size > 3 or missing
    |   |--- class: b (2 rows, 0 errors), a 6.7 % of 30 held out (at most 24.5 %)
    >>> tree, moments = secateur.grow([[1.0], [2.0], [4.0]], [3.0, 3.0, 9.0], criterion="squared_error")
    >>> print(export_text(tree, moments, feature_names=["size"]))
    |--- size <= 3
    |   |--- value: 3.00 (2 rows, mean squared error 0)
    |--- size > 3
    |   |--- value: 9.00 (1 row, mean squared error 0)
    """
    if show_weights and counts is None:
        raise ParameterError("show_weights=True needs the weights: pass counts")
    names: dict[str, Any] = {"feature_names": feature_names, "class_names": class_names, "decimals": decimals}
    view = _view(tree, counts, limits, pruning=pruning, max_depth=max_depth, **names)
    depth, is_leaf = view.tree.depth.tolist(), view.tree.is_leaf.tolist()
    lines = []
    for v in range(view.tree.n_nodes):
        if v > 0:
            lines.append(_indented(depth[v] - 1, view.branch(v) + (f"  {view.mark(v)}" if node_ids else "")))
        if view.n_hidden[v]:
            cut = f"truncated branch of depth {view.n_levels[v]} ({view.n_hidden[v]:,} leaves)"
            lines.append(_indented(depth[v], cut))
        elif is_leaf[v]:
            lines.append(_indented(depth[v], _leaf(view, v, show_weights=show_weights) + _limit(view, v, limits)))
    others = view.tree.surrogates
    if others is not None and len(others.feature):
        n_tests = int(np.count_nonzero(np.diff(others.start)))
        which = "1 test has" if n_tests == 1 else f"{n_tests:,} tests have"
        lines.append(f"missing values go by surrogate tests first, where they know: {which} some")
    return "\n".join(lines)


def export_rules(
    tree: Tree,
    counts: Counts | Moments | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    decimals: int | None = None,
    pruning: Pruning | None = None,
    limits: LeafShares | None = None,
    node_ids: bool = False,
) -> str:
    """Return the tree as rules, one line for each leaf, in pre-order.

    Parameters
    ----------
    tree : Tree
        A tree with tests.
    counts : Counts or Moments, optional
        Gives the rules their class (or value), and how many rows they cover with what share
        of errors (or mean squared error).
    feature_names, class_names, decimals, pruning, limits, node_ids
        As for `export_text`.

    Returns
    -------
    str
        Every row meets exactly one rule, and its class is the tree's. All that a path tests in
        one column appears once, as a range or a set, where the path first tests it.

    Notes
    -----
    O(nodes + length of the text); refused beyond two million conditions. Missing values and new categories
    are shown as in `export_text`.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "yes", "no"])
    >>> print(export_rules(tree, counts, feature_names=["size"]))
    IF size <= 1 THEN no (1 row, error 0.0%)
    IF 1 < size <= 3 THEN yes (2 rows, error 0.0%)
    IF size > 3 THEN no (1 row, error 0.0%)
    """
    names: dict[str, Any] = {"feature_names": feature_names, "class_names": class_names, "decimals": decimals}
    view = _view(tree, counts, limits, pruning=pruning, **names)
    if not view.tree.has_tests:
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree has rules")
    check_no_surrogates(view.tree, "rules", "show the tree as text")
    lines, n_asked = [], 0
    for v, asked in view.rules():
        n_asked += len(asked)
        if n_asked > MOST_ASKED:
            raise UnsupportedError(
                f"the rules of {tree} hold more than {MOST_ASKED:,} conditions; prune it further, or write it as text"
            )
        mark = f"{view.mark(v)}: " if node_ids else ""
        lines.append(f"{mark}IF {' AND '.join(asked) or 'TRUE'} THEN {view.conclusion(v)}{_limit(view, v, limits)}")
    return "\n".join(lines)


def _leaf(view: TreeView, v: int, *, show_weights: bool) -> str:
    """The line of a leaf in a drawing."""
    sample = view.sample
    if sample is not None and view.mean is not None:
        weight = f"weight: {sample.total[v]:,.10g} value: {view.answer(v)}"
        return weight if show_weights else f"value: {view.conclusion(v)}"
    name = f"class: {view.answer(v)}" if view.label is not None else view.conclusion(v)
    if sample is None or view.wrong is None:
        return name
    if show_weights:
        digits = "d" if sample.has_integer_weights else f".{2 if view.decimals is None else view.decimals}f"
        return f"weights: [{', '.join(format(x, digits) for x in sample.by_class[v])}] {name}"
    wrong = view.wrong[v]
    told = ("1 error" if wrong == 1 else f"{wrong:,} errors") if sample.has_integer_weights else f"{wrong:,.4g} wrong"
    return f"{name} ({view.size(v)}, {told})"


def _view(tree: Tree, counts: Counts | Moments | None, limits: LeafShares | None, **options: Any) -> TreeView:
    """The view of a tree, all leaves of which have limits if there are some."""
    view = view_of(tree, counts, n_classes=len(limits.classes) if limits else 0, **options)
    if limits is not None:
        if view.mean is not None:
            raise ParameterError("limits are of class shares; the leaves of a regression tree have none")
        limits.check_covers(view.node[view.tree.is_leaf & (view.n_hidden == 0)])
    return view


def _limit(view: TreeView, v: int, limits: LeafShares | None) -> str:
    """What is known of the class shares of a leaf, to be put behind its line."""
    if limits is None:
        return ""
    label = None if view.label is None else int(view.label[v])
    return f", {share_limit_text(limits, int(view.node[v]), label, view.classes)}"


def _indented(depth: int, text: str) -> str:
    if depth <= MOST_INDENTED:
        return f"{'|   ' * depth}|--- {text}"
    return f"{'|   ' * MOST_INDENTED}[depth {depth}] |--- {text}"
