"""Grow a model again on subsamples of its rows, and compare the trees: predictions, splits near the top, sizes."""

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Bools, Floats, Ints, Labels, Longs, Rows
from .._utils.checks import check_int
from ..core import Model, Tree, as_model
from ..core.stability import SplitStability, Stability
from ..data import fold_assignment
from ..data.encoding import encode
from ..data.groups import GroupHashes, hash_groups, split_off_groups
from ..data.table import Table
from ..errors import Argument, DataError, ParameterError, UnsupportedError, show
from ..inspection.view import view_of
from ..model_selection import Recipe, fit_model
from ..model_selection.folds import run_tasks
from ..routing import apply, route_table

NO_NODE = -1


def stability(
    model: Any,
    X: Rows,
    y: Labels = None,
    *,
    n: int = 50,
    share: float = 0.5,
    max_depth: int = 2,
    tolerance: float = 0.05,
    groups: Labels = None,
    n_jobs: Any = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Return how much a tree changes if it is grown, pruned and chosen again on subsamples of its rows.

    Parameters
    ----------
    model : fitted estimator or Model
        The tree. Its own parameters are used for all trees; certificates are left out.
    X : array, data frame, path or Table
        The rows that the model was fitted on.
    y : array or column name
        The class (for regression: the number) of each row.
    n : int
        Number of subsamples, at least 2.
    share : float
        Share of the rows in each subsample, drawn without replacement. Halves, the default, share few rows, so that
        two trees differ about as much as trees of new rows would.
    max_depth : int
        Compare the splits of the model down to this level; the root has level 0.
    tolerance : float
        Share of the rows of a split that may go another way in a split that is taken for the same one.
    groups : array or column name, optional
        The group of each row, if the model was fitted on groups: subsamples are drawn from groups.
    n_jobs : int, executor or None
        Number of threads (None: one, -1: one per core), or an executor.
    random_state : int
        Seed of the subsamples, and of all that is random in fitting.
    progress : callable, optional
        Called with (trees grown, trees).

    Returns
    -------
    Stability
        The same rows in any order give the same result.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> y = np.where(X[:, 0] > 0.4, "yes", "no")
    >>> found = secateur.stability(secateur.TreeClassifier(cv=3).fit(X, y), X, y, n=6)
    >>> found.splits[0].column, found.splits[0].column_share, found.agreement > 0.95
    ('x0', 1.0, True)
    """
    check_int("n", n, 2)
    check_int("max_depth", max_depth, 0)
    for name, value in (("share", share), ("tolerance", tolerance)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise ParameterError(Argument(name, value), "; a share between 0 and 1 is needed")
    fitted = as_model(model, done="grown again")
    if not fitted.parameters:
        raise UnsupportedError(
            "the model does not contain the parameters of its fit, by which it could be grown again; fit an estimator"
        )
    X, labels = split_off_groups(X, groups)
    table = encode(X, schema=fitted.tree.schema, target=y)
    _check_rows(table)
    group = None if labels is None else hash_groups(labels, table.n_rows)
    if group is None and fitted.metadata.get("groups"):
        raise UnsupportedError("the tree was fitted on groups of rows that belong together: pass ", Argument("groups"))
    places = _Places.of(fitted, table, max_depth)
    setting = _Setting(table, group, share, places, tolerance)
    seeds = np.random.SeedSequence(random_state).generate_state(n).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small subsamples
        trees = run_tasks(setting, [(_grow_again, (seed,)) for seed in seeds], n_jobs, progress)
    predictions = np.array([tree.predictions for tree in trees])
    own_predictions = _predictions(fitted, table)
    if fitted.is_classifier:
        row_agreement = _row_agreement(predictions)
        agreement, with_model = row_agreement.mean(), (predictions == own_predictions).mean()
    else:
        row_agreement = np.zeros(0)
        agreement = _agreement_of_numbers(predictions)
        pairs = [_agreement_of_numbers(np.array([own_predictions, one])) for one in predictions]
        with_model = np.mean(pairs)
    return Stability(
        share=float(share),
        tolerance=float(tolerance),
        agreement=float(agreement),
        agreement_with_model=float(with_model),
        row_agreement=row_agreement,
        n_leaves=np.array([tree.n_leaves for tree in trees]),
        depth=np.array([tree.depth for tree in trees]),
        error=np.array([tree.error for tree in trees]),
        model_n_leaves=fitted.pruning.n_leaves,
        splits=places.summarize(trees),
        column_shares=_shares(Counter(column for tree in trees for column in tree.columns), n),
        is_classifier=fitted.is_classifier,
    )


def _check_rows(table: Table) -> None:
    """Raise `DataError` if the rows have no target, or values that the rows of the fit cannot have had."""
    if table.target is None:
        raise DataError("y is None and the table has no target; growing again needs the class or number of each row")
    for column, values, n_unseen in zip(table.schema.columns, table.columns, table.n_unseen, strict=True):
        has_new_missing = column.kind == "numeric" and not column.has_missing and bool(np.isnan(values).any())
        if n_unseen or has_new_missing or (column.kind == "nominal" and bool((values < 0).any())):
            raise DataError(
                f"column {show(column.name)} has categories or missing values that the model was not grown on; pass "
                "the rows that it was fitted on"
            )


class _Setting(NamedTuple):
    """What all subsamples share."""

    table: Table
    groups: GroupHashes | None
    share: float
    places: "_Places"
    tolerance: float


class _Match(NamedTuple):
    """What a tree has at the place of a split: its column (None: a leaf, or not comparable), and whether it returns."""

    column: int | None
    is_same_column: bool
    is_same_split: bool


class _TreeSummary(NamedTuple):
    """What is kept of the tree of one subsample."""

    predictions: Array
    n_leaves: int
    depth: int
    error: float
    columns: frozenset[str]
    top_columns: frozenset[int]
    matches: tuple[_Match, ...]


def _grow_again(setting: _Setting, seed: int) -> _TreeSummary:
    """Fit a model to one subsample, and return what is compared."""
    table, groups = setting.table, setting.groups
    is_left_out = fold_assignment.draw_holdout(table, 1 - setting.share, seed=seed, groups=groups)
    recipe = Recipe.of_model(setting.places.model, seed=seed)
    rows = np.flatnonzero(~is_left_out)
    labels = None if groups is None else groups[rows].astype(str)  # hashes are labels, too
    model = fit_model(table.take(rows), recipe, groups=labels)
    predictions = _predictions(model, table)
    target = table.required_target[is_left_out]
    difference = predictions[is_left_out] - target
    error = np.mean(difference != 0) if model.is_classifier else np.mean(difference**2)
    tree = model.pruned_tree
    used = np.unique(tree.feature[tree.internal]).tolist()
    is_top = ~tree.is_leaf & (tree.depth <= setting.places.max_depth)
    return _TreeSummary(
        predictions,
        tree.n_leaves,
        int(tree.depth.max()),
        float(error),
        frozenset(table.schema.columns[j].name for j in used),
        frozenset(tree.feature[is_top].tolist()),
        setting.places.match(tree, table, setting.tolerance),
    )


def _predictions(model: Model, table: Table) -> Array:
    """Return the class number, or the number, that a model predicts for each row."""
    of_node: Array = model.pruning.labels if model.is_classifier else np.asarray(model.grown.predictions)
    predictions: Array = of_node[model.nodes[apply(model.pruned_tree, table)]]
    return predictions


class _Places(NamedTuple):
    """The splits of the model near the top, with the rows that reach them and the branch that each row takes."""

    model: Model
    max_depth: int
    nodes: tuple[int, ...]  # in the pruned tree, in pre-order
    rows: tuple[Longs, ...]
    branches: tuple[Ints, ...]

    @classmethod
    def of(cls, model: Model, table: Table, max_depth: int) -> "_Places":
        """Return the splits of a model down to a level."""
        tree = model.pruned_tree
        nodes = np.flatnonzero(~tree.is_leaf & (tree.depth <= max_depth)).tolist()
        leaf = route_table(tree, table, None, 0)
        rows = [np.flatnonzero((leaf >= v) & (leaf < tree.end[v])) for v in nodes]
        branches = [_branches(tree, v, table, at) for v, at in zip(nodes, rows, strict=True)]
        return cls(model, max_depth, tuple(nodes), tuple(rows), tuple(branches))

    def match(self, tree: Tree, table: Table, tolerance: float) -> tuple[_Match, ...]:
        """Return what another tree has at the place of each split.

        The place of a split below another one exists only if the column above is the same. It is reached by the branch
        that receives most of the rows.
        """
        own = self.model.pruned_tree
        place = {0: 0}  # the node of the other tree at the place of each node
        is_same_above = {0: True}
        matches = []
        for v, rows, branches in zip(self.nodes, self.rows, self.branches, strict=True):
            u = place.get(v, NO_NODE)
            if u == NO_NODE or tree.is_leaf[u]:
                matches.append(_Match(None, False, False))
                continue
            column = int(tree.feature[u])
            is_same_column = column == int(own.feature[v])
            is_same_split = False
            if is_same_column:
                children, others = list(own.children(v)), list(tree.children(u))
                numbers, is_same = _match_branches(
                    branches, _branches(tree, u, table, rows), len(children), len(others), tolerance
                )
                is_same_split = is_same and is_same_above[v]
                for child, number in zip(children, numbers, strict=True):
                    place[child] = others[number]
                    is_same_above[child] = is_same_split
            matches.append(_Match(column, is_same_column, is_same_split))
        return tuple(matches)

    def summarize(self, trees: list[_TreeSummary]) -> tuple[SplitStability, ...]:
        """Return how often each split returns."""
        tree, n = self.model.pruned_tree, len(trees)
        view = view_of(self.model.tree, self.model.grown, pruning=self.model.pruning)
        names = view.columns
        found = []
        for i, v in enumerate(self.nodes):
            matches = [summary.matches[i] for summary in trees]
            column = int(tree.feature[v])
            others = Counter(names[m.column] for m in matches if m.column is not None and not m.is_same_column)
            found.append(
                SplitStability(
                    node=int(tree.ids[v]),
                    depth=int(tree.depth[v]),
                    text=view.test_text(v),
                    column=names[column],
                    n_rows=len(self.rows[i]),
                    column_share=sum(m.is_same_column for m in matches) / n,
                    split_share=sum(m.is_same_split for m in matches) / n,
                    anywhere_share=sum(column in summary.top_columns for summary in trees) / n,
                    others=_shares(others, n),
                )
            )
        return tuple(found)


def _branches(tree: Tree, v: int, table: Table, rows: Longs) -> Ints:
    """Return the number of the child of node `v` that each row goes to."""
    values = table.columns[tree.feature[v]][rows]
    branches: Ints
    start, end = tree.branch_start[v], tree.branch_start[v + 1]
    if start == end:
        branches = (values > tree.threshold[v]).astype(np.int32)
        is_default: Bools = np.isnan(values)
    else:
        is_default = (values < 0) | (values >= end - start)
        branches = tree.branch[start + np.where(is_default, 0, values)].astype(np.int32)
    branches[is_default] = tree.default[v]
    return branches


def _match_branches(one: Ints, other: Ints, n_one: int, n_other: int, tolerance: float) -> tuple[list[int], bool]:
    """Return for each branch of one split the branch of another one that receives most of its rows.

    The second value is whether the splits divide the rows in the same way, but for a share of `tolerance`.
    """
    together = np.bincount(one * n_other + other, minlength=n_one * n_other).reshape(n_one, n_other)
    children = together.argmax(axis=1).tolist()
    n_same = together.max(axis=1).sum()
    is_one_to_one = len(set(children)) == n_one
    return children, is_one_to_one and bool(n_same >= (1 - tolerance) * len(one))


def _row_agreement(predictions: Array) -> Floats:
    """Return for each row the share of the pairs of trees that predict the same class."""
    n = len(predictions)
    n_pairs = np.zeros(predictions.shape[1])
    for label in np.unique(predictions):
        n_trees = (predictions == label).sum(axis=0)
        n_pairs += n_trees * (n_trees - 1) / 2
    return n_pairs / (n * (n - 1) / 2)


def _agreement_of_numbers(predictions: Array) -> float:
    """Return 1 less the mean squared difference of two trees, divided by that of unrelated predictions.

    With m trees, the mean squared difference of two of them is 2 m / (m - 1) times the mean variance over trees.
    """
    m = len(predictions)
    variance = float(predictions.var())
    if variance == 0:
        return 1.0
    return 1.0 - float(predictions.var(axis=0).mean()) * m / (m - 1) / variance


def _shares(counter: Counter[str], n: int) -> dict[str, float]:
    """Return counts as shares of n; the most frequent first, ties by name."""
    return {name: count / n for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))}
