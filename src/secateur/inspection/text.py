"""Write a tree as text: as a drawing of its tests, or as one rule per leaf.

A rule has one condition for each column tested on the path to a leaf: the range of numbers or the set of categories
with which a row can reach the leaf.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import Counts, LeafShares, Moments, Pruning, Tree, check_no_surrogates
from ..errors import ParameterError, TreeError, UnsupportedError
from .view import TreeView, view_of
from .wording import share_limit_text

__all__ = ["export_rules", "export_text"]

MAX_CONDITIONS = 2_000_000  # in all rules of a tree together
MAX_INDENTED_LEVELS = 40  # deeper lines name their depth; with more indentation the text would grow quadratically


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
        The sample that gives the leaves their class, rows and errors; for a regression tree their mean, rows and mean
        squared error.
    feature_names, class_names : sequence of str, optional
        Names of the columns and of the classes, in their order; by default those of the data the tree was grown on.
    max_depth : int, optional
        Hide the tests below this depth (the root has depth 0); a line names the size of each hidden branch.
    decimals : int, optional
        Digits after the point of thresholds and means, and of weights that are not whole. By default a threshold is the
        shortest number that splits the growing rows in the same way, and means have two digits. More digits are
        written if a threshold would otherwise split the growing rows differently, or if a mean below 1 would have fewer
        than three significant digits.
    show_weights : bool
        Whether a leaf shows the weight of each class (for a regression tree its weight) instead of rows and errors.
    pruning : Pruning, optional
        Draw this pruning of the tree, with the classes of the pruning if it has any.
    limits : LeafShares, optional
        Limits on the class shares in the leaves, from `certifiers.leaf_shares`. A leaf then shows the
        observed share of the class it does not predict and its upper limit; with more than two
        classes, the observed share of the predicted class and its lower limit.
    node_ids : bool
        Whether to number the nodes. A node has its number among the shown nodes, from 1, and in brackets its number in
        the grown tree, which `Pruning` uses.

    Returns
    -------
    str
        The lines, without a line break at the end. Control characters in names are written as escapes.

    Notes
    -----
    O(nodes) for any depth: lines more than 40 levels down are not indented further but name their depth. "or missing"
    is written at the branch that missing values take, for columns that had missing values in growing. Missing values
    of other columns, and new categories, take the branch of most growing rows.

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
            number = f"  {view.number_text(v)}" if node_ids else ""
            lines.append(_indent(depth[v] - 1, view.branch_text(v) + number))
        if view.n_hidden[v]:
            hidden = f"truncated branch of depth {view.n_levels[v]} ({view.n_hidden[v]:,} leaves)"
            lines.append(_indent(depth[v], hidden))
        elif is_leaf[v]:
            leaf = _leaf_text(view, v, show_weights=show_weights)
            lines.append(_indent(depth[v], leaf + _limit_text(view, v, limits)))
    surrogates = view.tree.surrogates
    if surrogates is not None and len(surrogates.feature):
        n_tests = int(np.count_nonzero(np.diff(surrogates.start)))
        subject = "1 test has" if n_tests == 1 else f"{n_tests:,} tests have"
        lines.append(f"missing values go by surrogate tests first, where they know: {subject} some")
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
        The sample that gives the rules their class (or mean), the number of rows they cover, and their error rate (or
        mean squared error).
    feature_names, class_names, decimals, pruning, limits, node_ids
        As for `export_text`.

    Returns
    -------
    str
        Every row satisfies exactly one rule, and the conclusion of this rule is the prediction of the tree. All tests
        of one column on a path become one range or set, which stands where the column is first tested.

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
    lines, n_conditions = [], 0
    for v, conditions in view.rules():
        n_conditions += len(conditions)
        if n_conditions > MAX_CONDITIONS:
            raise UnsupportedError(
                f"the rules of {tree} hold more than {MAX_CONDITIONS:,} conditions; prune it further, or write it as "
                "text"
            )
        number = f"{view.number_text(v)}: " if node_ids else ""
        premise = " AND ".join(conditions) or "TRUE"
        lines.append(f"{number}IF {premise} THEN {view.conclusion(v)}{_limit_text(view, v, limits)}")
    return "\n".join(lines)


def _leaf_text(view: TreeView, v: int, *, show_weights: bool) -> str:
    """Return the line of a leaf in a drawing."""
    sample = view.sample
    if sample is not None and view.mean is not None:
        weight = f"weight: {sample.total[v]:,.10g} value: {view.prediction(v)}"
        return weight if show_weights else f"value: {view.conclusion(v)}"
    name = f"class: {view.prediction(v)}" if view.label is not None else view.conclusion(v)
    if sample is None or view.errors is None:
        return name
    if show_weights:
        digits = "d" if sample.has_integer_weights else f".{2 if view.decimals is None else view.decimals}f"
        return f"weights: [{', '.join(format(x, digits) for x in sample.by_class[v])}] {name}"
    errors = view.errors[v]
    if sample.has_integer_weights:
        errors_text = "1 error" if errors == 1 else f"{errors:,} errors"
    else:
        errors_text = f"{errors:,.4g} wrong"
    return f"{name} ({view.rows_text(v)}, {errors_text})"


def _view(tree: Tree, counts: Counts | Moments | None, limits: LeafShares | None, **options: Any) -> TreeView:
    """Return the view of a tree; refuse limits that do not cover all of its leaves."""
    view = view_of(tree, counts, n_classes=0 if limits is None else len(limits.classes), **options)
    if limits is not None:
        if view.mean is not None:
            raise ParameterError("limits are of class shares; the leaves of a regression tree have none")
        limits.check_covers(view.node[view.tree.is_leaf & (view.n_hidden == 0)])
    return view


def _limit_text(view: TreeView, v: int, limits: LeafShares | None) -> str:
    """Return the limit on a class share of a leaf, to be appended to its line; empty without limits."""
    if limits is None:
        return ""
    label = None if view.label is None else int(view.label[v])
    return f", {share_limit_text(limits, int(view.node[v]), label, view.classes)}"


def _indent(depth: int, text: str) -> str:
    """Return a line of a drawing, indented by its depth; see `MAX_INDENTED_LEVELS`."""
    if depth <= MAX_INDENTED_LEVELS:
        return f"{'|   ' * depth}|--- {text}"
    return f"{'|   ' * MAX_INDENTED_LEVELS}[depth {depth}] |--- {text}"
