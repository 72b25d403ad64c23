"""A tree as text: drawn with its tests, or as one rule per leaf.

Nodes are in pre-order, so a drawing is one loop over them. A rule is what is known of each
column on the way to a leaf: a range, or a set of categories. The loop keeps it up to date
and takes it back when it leaves a branch, so that no path is ever walked twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._wording import Threshold, among, answered, class_names_of, column_names, covered, thresholds_of
from .counts import Counts
from .errors import ParameterError, PruningError, TreeError
from .moments import Moments
from .pruning import Pruning
from .tree import Ints, Tree

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
    shown = _Shown.of(tree, counts, pruning, feature_names, class_names, decimals)
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
            lines.append(_indented(depth[v], shown.leaf(v, show_weights=show_weights)))
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
) -> str:
    """Return the tree as rules, one line for each leaf, in pre-order.

    Parameters
    ----------
    tree : Tree
        A tree with tests.
    counts : Counts or Moments, optional
        Gives the rules their class (or value), and how many rows they cover with what share
        of errors (or mean squared error).
    feature_names, class_names, decimals, pruning
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
    shown = _Shown.of(tree, counts, pruning, feature_names, class_names, decimals)
    if (shown.tree.feature[shown.tree.internal] < 0).any():
        raise TreeError(f"{tree} has no tests (it was made from parents alone); only a grown tree has rules")
    lines = []
    for v, known in _paths(shown):
        asked = [text for text in (shown.condition(j, what) for j, what in known.items()) if text]
        lines.append(f"IF {' AND '.join(asked) or 'TRUE'} THEN {shown.conclusion(v)}")
    return "\n".join(lines)


class _Range(NamedTuple):
    """What a path knows of a number: above `low`, at most `high`, or missing."""

    low: Threshold
    high: Threshold
    is_missing_in: bool
    is_known_in: bool


_NO_LOW, _NO_HIGH = Threshold(-np.inf, ""), Threshold(np.inf, "")
_ANYTHING = _Range(_NO_LOW, _NO_HIGH, is_missing_in=True, is_known_in=True)


@dataclass(frozen=True)
class _Shown:
    """The tree as it will be shown, with all names and numbers turned to text."""

    tree: Tree
    counts: Counts | Moments | None
    labels: Ints | None
    errors: npt.NDArray[Any] | None
    columns: list[str]
    classes: list[str]
    thresholds: list[Threshold]
    decimals: int

    @classmethod
    def of(
        cls,
        tree: Tree,
        counts: Counts | Moments | None,
        pruning: Pruning | None,
        feature_names: Sequence[str] | None,
        class_names: Sequence[str] | None,
        decimals: int,
    ) -> "_Shown":
        if counts is not None:
            counts.check_fits(tree)
        labels = counts.majority if isinstance(counts, Counts) else None
        if pruning is not None:
            if not pruning.tree.same_structure(tree):
                raise PruningError(f"the pruning is of another tree ({pruning.tree}, not {tree})")
            labels = labels if pruning.node_labels is None else pruning.node_labels
            is_here = pruning.is_kept | pruning.is_leaf
            labels = None if labels is None else labels[is_here]
            tree, counts = (pruning.to_tree(), None) if counts is None else pruning.to_tree(counts)
        errors = counts.errors_if_leaf(labels) if isinstance(counts, Counts) and labels is not None else None
        columns = column_names(tree, feature_names)
        n_classes = counts.n_classes if isinstance(counts, Counts) else 0
        n_classes = n_classes if labels is None else max(n_classes, int(labels.max()) + 1)
        classes = class_names_of(tree, class_names, n_classes)
        return cls(tree, counts, labels, errors, columns, classes, thresholds_of(tree, decimals), decimals)

    def name_of(self, v: int) -> str:
        """The class or value of a leaf, or its number in the tree as grown."""
        if isinstance(self.counts, Moments):
            return answered(float(self.counts.mean[v]), self.decimals)
        return f"leaf {self.tree.ids[v]}" if self.labels is None else self.classes[self.labels[v]]

    def leaf(self, v: int, *, show_weights: bool) -> str:
        """The line of a leaf in a drawing."""
        if isinstance(self.counts, Moments):
            value = f"value: {self.conclusion(v)}"
            return f"weight: {self.counts.weight[v]:,.10g} value: {self.name_of(v)}" if show_weights else value
        name = self.name_of(v) if self.labels is None else f"class: {self.name_of(v)}"
        if self.counts is None or self.errors is None:
            return name
        if show_weights:
            digits = "d" if self.counts.is_whole else f".{self.decimals}f"
            return f"weights: [{', '.join(format(x, digits) for x in self.counts.by_class[v])}] {name}"
        errors = self.errors[v]
        wrong = ("1 error" if errors == 1 else f"{errors:,} errors") if self.counts.is_whole else f"{errors:,.4g} wrong"
        return f"{name} ({covered(self.counts, v)}, {wrong})"

    def conclusion(self, v: int) -> str:
        """What a rule concludes."""
        if isinstance(self.counts, Moments):
            weight, spread = self.counts.weight[v], self.counts.spread[v]
            error = f", mean squared error {spread / weight:.4g}" if weight > 0 else ""
            return f"{self.name_of(v)} ({covered(self.counts, v)}{error})"
        if self.counts is None or self.errors is None:
            return self.name_of(v)
        total = self.counts.total[v]
        share = f", error {self.errors[v] / total:.1%}" if total > 0 else ""
        return f"{self.name_of(v)} ({covered(self.counts, v)}{share})"

    def condition(self, column: int, known: Any) -> str:
        """What a rule asks of one column; empty if nothing."""
        name, gaps = self.columns[column], self.has_gaps(column)
        if not isinstance(known, _Range):
            return among(name, np.flatnonzero(known), self.categories(column), gaps=gaps)
        if not known.is_known_in:
            return f"{name} is missing" if known.is_missing_in else f"{name} > inf"
        low, high = known.low.text, known.high.text
        if not (low or high):
            return "" if known.is_missing_in else f"{name} is known"
        text = f"{name} <= {high}" if high else f"{name} > {low}"
        text = f"{low} < {text}" if low and high else text
        return f"{text} or missing" if gaps and known.is_missing_in else text

    def has_gaps(self, column: int) -> bool:
        """Whether the column had missing values in growing."""
        return self.tree.schema is not None and self.tree.schema.columns[column].has_missing

    def categories(self, column: int) -> Sequence[Any] | None:
        """The categories behind the codes of a column, if known."""
        return None if self.tree.schema is None else self.tree.schema.columns[column].categories


def _branches(shown: _Shown) -> Iterator[str]:
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
            known = _narrowed(_ANYTHING, shown.thresholds[p], child, is_default=child == default[p])
            yield shown.condition(column, known) or f"{shown.columns[column]} <= inf or missing"


def _paths(shown: _Shown) -> Iterator[tuple[int, dict[int, Any]]]:
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
                before = _ANYTHING if before is None else before
                known[column] = _narrowed(before, shown.thresholds[p], child, is_default=child == default[p])
        if is_leaf[v]:
            yield v, known


def _narrowed(known: _Range, threshold: Threshold, child: int, *, is_default: bool) -> _Range:
    """What is known of a number after one more test."""
    is_missing_in = known.is_missing_in and is_default
    if threshold.value == np.inf:  # tells known from missing
        return known._replace(is_missing_in=is_missing_in, is_known_in=known.is_known_in and child == 0)
    if child == 0:
        return known._replace(high=min(known.high, threshold), is_missing_in=is_missing_in)
    return known._replace(low=max(known.low, threshold), is_missing_in=is_missing_in)


def _indented(depth: int, text: str) -> str:
    if depth <= MOST_INDENTED:
        return f"{'|   ' * depth}|--- {text}"
    return f"{'|   ' * MOST_INDENTED}[depth {depth}] |--- {text}"


def _check_number(name: str, value: Any, *, optional: bool) -> None:
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ParameterError(f"{name}={value!r}; a whole number of 0 or more is needed")
