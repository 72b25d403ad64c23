"""Make the folds of cross-validation, and evaluate them: on which rows a fold grows and is tested, and its losses.

`evaluate_fold` grows the trees of one fold and evaluates their pruning paths on the held-out rows. As the penalty
rises, the held-out loss changes only at the penalties where the path moves to a smaller tree. `FoldLosses` therefore
contains these penalties, and one loss for each tree on the path. Folds are computed independently of each other and
of the path of all rows, and all trees of a path are scored in one pass.

`run_tasks` runs the folds, or any functions on shared data: one after the other, in threads, or by an executor. The
results have the order of the tasks, whichever task ends first.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._kernels import route, structure
from .._kernels.folds import path_losses
from .._kernels.shrinkage import shrunk_losses
from .._kernels.weakest_link import member_sums, nested_path
from .._utils.arrays import Array, Floats, LongsOrFloats
from .._utils.checks import check_int
from .._utils.threads import StoppableThreadPool, resolve_n_jobs
from ..core import Sample, Tree
from ..data import fold_assignment
from ..data.groups import GroupHashes
from ..data.table import Table
from ..data.weights import WeightedRows, are_whole, round_for_exact_sums
from ..errors import Argument, DataError, LeakageError, ParameterError
from ..growers.parameters import GrowParameters, is_auto
from ..growers.presorted_data import PresortedData
from ..pruners import cost_complexity
from ..routing import route_matrix, route_table
from ..statistics.node_losses import MIN_PROBABILITY, NodeLosses, prediction_losses, probability_losses
from ..statistics.probabilities import DEFAULT_SHRINKAGE, SHRINKAGE_STRENGTHS, class_shares
from .losses import (
    TOLERANCE,
    NodePredictions,
    Scoring,
    area_losses,
    leaf_predictions,
)

RowNumbers = npt.NDArray[np.intp]
MAX_ROWS_TO_REPEAT = 5_000  # with more rows, cross-validation is not repeated by default
MAX_REPEATS = 1_000  # that a caller can request; more would run for days and gain nothing
MAX_ROWS_TO_EVALUATE_ALL_FOLDS = 1_000_000  # with more rows, one fold is precise enough
MIN_FOLDS_PER_ROUND = 5  # fewer folds do not show reliably that a candidate is worse
AUTO_REPEATS = 3
Progress = Callable[[int, int], None] | None
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Fold(NamedTuple):
    """Numbers of the rows to grow on (`train`) and of the rows to evaluate on (`test`), both in ascending order."""

    train: RowNumbers
    test: RowNumbers


@dataclass(frozen=True)
class FoldPlan:
    """The folds of cross-validation, in rounds. Candidates that are clearly worse are dropped between rounds.

    Parameters
    ----------
    rounds : iterable of list of Fold
        The folds of each round. A round is computed only when the iteration reaches it.
    n_folds : int
        Folds of one repeat.
    n_repeats : int
        How often all rows are assigned to folds.
    seed : int
    is_stratified : bool
        Whether every fold gets the same share of each class.
    may_stop_early : bool
        Whether later repeats are skipped once the choice is stable.
    """

    rounds: Iterable[list[Fold]]
    n_folds: int
    n_repeats: int
    seed: int
    is_stratified: bool
    may_stop_early: bool

    @property
    def n_all_folds(self) -> int:
        """The number of folds of all repeats."""
        return self.n_folds * self.n_repeats


def plan_folds(cv: Any, cv_repeats: Any, rows: WeightedRows, *, seed: int, stratified: bool) -> FoldPlan:
    """Return the folds of `cv` for the growing rows, in rounds.

    Parameters
    ----------
    cv, cv_repeats, stratified
        As for `cross_validate`.
    rows : WeightedRows
        Rows of weight 0 are in no fold. All rows of a group are in one fold.
    seed : int
    """
    n_rows = rows.table.n_rows
    is_number = isinstance(cv, int | np.integer)
    is_automatic = is_auto(cv_repeats) and is_number
    if is_automatic:
        n_repeats = auto_repeats(n_rows)
    elif is_auto(cv_repeats):
        n_repeats = 1
    else:
        n_repeats = check_int("cv_repeats", cv_repeats, 1, alternative=", or 'auto',")
        if n_repeats > MAX_REPEATS:
            raise ParameterError(
                Argument("cv_repeats", cv_repeats), f"; a whole number from 1 to {MAX_REPEATS:,}, or 'auto', is needed"
            )
    repeats, n_folds = _iter_repeats(cv, rows, n_repeats, seed, stratified)
    if is_automatic and n_rows > MAX_ROWS_TO_EVALUATE_ALL_FOLDS:
        first_fold = next(repeats)[:1]
        return FoldPlan([first_fold], 1, 1, seed, bool(stratified), may_stop_early=False)
    if is_automatic and n_repeats > 1:
        return FoldPlan(repeats, n_folds, n_repeats, seed, bool(stratified), may_stop_early=True)
    folds = list(itertools.chain(*repeats))
    rounds = [folds]
    if is_automatic and len(folds) >= 2 * MIN_FOLDS_PER_ROUND:
        half = len(folds) // 2
        rounds = [folds[:half], folds[half:]]
    return FoldPlan(rounds, n_folds, n_repeats, seed, bool(stratified), may_stop_early=False)


def auto_repeats(n_rows: int) -> int:
    """Return the default limit on repeats of cross-validation: three for up to 5,000 rows, else one.

    Examples
    --------
    >>> auto_repeats(500), auto_repeats(50_000)
    (3, 1)
    """
    return AUTO_REPEATS if n_rows <= MAX_ROWS_TO_REPEAT else 1


def _iter_repeats(
    cv: Any, rows: WeightedRows, n_repeats: int, seed: int, stratified: bool
) -> tuple[Iterator[list[Fold]], int]:
    """Return an iterator over the folds of each repeat, and the number of folds in a repeat."""
    table, is_used = rows.table, rows.is_used()
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        used = np.arange(table.n_rows) if is_used is None else np.flatnonzero(is_used)
        used_part = rows if is_used is None else rows.take(used)
        return _assign_folds(int(cv), used_part, used, n_repeats, seed, stratified), int(cv)
    if n_repeats != 1:
        raise ParameterError(
            Argument("cv_repeats", n_repeats), " goes with a number of folds; explicit folds are used once"
        )
    if hasattr(cv, "split") and not isinstance(cv, str | bytes):
        groups = () if rows.groups is None else (rows.groups,)
        explicit: Iterable[Any] = cv.split(np.zeros((table.n_rows, 1)), table.target, *groups)
    elif isinstance(cv, Iterable) and not isinstance(cv, str | bytes | dict):
        explicit = cv
    else:
        raise ParameterError(
            Argument("cv", cv),
            "; a number of folds, an object with split(X, y), (train, test) pairs of row numbers, or a list of test "
            "rows is needed",
        )
    folds = [_check_fold(i, fold, table.n_rows, is_used) for i, fold in enumerate(explicit)]
    if not folds:
        raise ParameterError("cv is empty; at least one (train, test) pair is needed")
    if rows.groups is not None:
        for i, fold in enumerate(folds):
            _check_groups_whole(i, fold, rows.groups)
    return iter([folds]), len(folds)


def _assign_folds(
    n_folds: int, rows: WeightedRows, used: RowNumbers, n_repeats: int, seed: int, stratified: bool
) -> Iterator[list[Fold]]:
    """Yield the folds of each repeat; `used` are the numbers of `rows` in the table of all rows."""
    if not 2 <= n_folds <= len(used):
        raise ParameterError(
            Argument("cv", n_folds),
            f"; from 2 to the number of rows is needed (n_samples={len(used)}, without rows of weight 0)",
        )
    if rows.groups is not None:
        n_groups = len(np.unique(rows.groups))
        if n_folds > n_groups:
            raise ParameterError(
                Argument("cv", n_folds),
                f"; from 2 to the number of groups is needed ({n_groups:,} among the rows to grow on), because the "
                "rows of a group stay together",
            )
    assignments = fold_assignment.iter_fold_assignments(
        rows.table, n_folds, seed=seed, repeats=range(n_repeats), stratified=stratified, groups=rows.groups
    )
    for assignment in assignments:
        yield [Fold(used[assignment != fold], used[assignment == fold]) for fold in range(n_folds)]


def _check_fold(i: int, rows: Any, n_rows: int, is_used: Any) -> Fold:
    """Return fold `i`, given as a (train, test) pair or as test rows alone, without its rows of weight 0."""
    is_pair = isinstance(rows, tuple | list) and len(rows) == 2 and np.ndim(rows[0]) == 1
    test = _row_numbers(f"the test rows of fold {i}", rows[1] if is_pair else rows, n_rows)
    if is_pair:
        train = _row_numbers(f"the training rows of fold {i}", rows[0], n_rows)
        shared = np.intersect1d(train, test)
        if len(shared):
            raise LeakageError(f"fold {i} grows on row {shared[0]} and tests on it; training and test rows must differ")
    else:
        train = np.setdiff1d(np.arange(n_rows), test)
    if is_used is not None:
        train, test = train[is_used[train]], test[is_used[test]]
    for purpose, numbers in (("grow on", train), ("test on", test)):
        if not len(numbers):
            raise ParameterError(
                f"fold {i} has no row to {purpose}; every fold needs rows of weight above 0 on both sides"
            )
    return Fold(train, test)


def _check_groups_whole(i: int, fold: Fold, groups: GroupHashes) -> None:
    """Raise `LeakageError` if a fold grows on some rows of a group and tests on others."""
    is_divided = np.isin(groups[fold.test], groups[fold.train])
    if is_divided.any():
        row = fold.test[int(is_divided.argmax())]
        raise LeakageError(
            f"fold {i} tests on row {row} and grows on other rows of its group; all rows of a group must be on one "
            "side (sklearn.model_selection.GroupKFold makes such folds)"
        )


def _row_numbers(name: str, rows: Any, n_rows: int) -> RowNumbers:
    """Return distinct row numbers in ascending order from a mask or from numbers in any order."""
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (n_rows,):
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError(f"{name} are {array.dtype} of shape {array.shape}; row numbers from 0 are needed")
    array = array.astype(np.intp)
    if array.size and not (array.min() >= 0 and array.max() < n_rows):
        invalid = array[(array < 0) | (array >= n_rows)][0]
        raise ParameterError(f"{name} name row {invalid}; the rows are 0 to {n_rows - 1}")
    distinct = np.unique(array)
    if len(distinct) < len(array):
        raise ParameterError(f"{name} name a row twice; use sample_weight= to count a row more than once")
    return distinct


@dataclass(frozen=True)
class ValidationRows:
    """Rows of a table on which trees grown on other rows are evaluated.

    Parameters
    ----------
    table : Table
    rows : array of int
        Numbers of the rows in the table.
    target : array
        Class or number of each of the rows.
    weight : array, optional
        Weight of each of the rows; None if every row weighs 1.
    numbers : array, optional
        The columns of the rows as one matrix of numbers and category codes; None if no such matrix was made.
    """

    table: Table
    rows: Array
    target: Array
    weight: Array | None
    numbers: Array | None = None

    @classmethod
    def of(cls, data: PresortedData, rows: Array) -> "ValidationRows":
        """Return the rows of the data with these numbers."""
        weight = None if data.weight is None else data.weight[rows]
        numbers = None if data.numbers is None else data.numbers[rows]
        return cls(data.table, rows, data.table.required_target[rows], weight, numbers)

    def leaves(self, tree: Tree) -> Array:
        """Return the leaf that each of the rows reaches."""
        return route_table(tree, self.table, self.rows, 0) if self.numbers is None else route_matrix(tree, self.numbers)

    def count(self, tree: Tree) -> Array:
        """Return the weight of the rows of each class in each node."""
        classes = self.table.schema.classes
        assert classes is not None
        weight = None if self.weight is None else round_for_exact_sums(self.weight)
        number_type = np.int64 if weight is None or are_whole(weight) else np.float64
        row_weights = np.zeros(0, number_type) if weight is None else weight.astype(number_type)
        leaves = self.leaves(tree)
        leaf_weights = np.zeros((tree.n_nodes, len(classes)), number_type)
        route.add_class_counts(leaves, self.target, row_weights, leaf_weights)
        by_class: Array = structure.sum_upwards(tree.parent, leaf_weights)
        return by_class

    def loss_sums(self, tree: Tree, predictions: Array, *, is_absolute: bool = False) -> tuple[Array, Array, float]:
        """Return the loss of each node, as a leaf, on the rows that pass through it.

        Parameters
        ----------
        tree : Tree
        predictions : array of float
            The prediction of each node.
        is_absolute : bool
            Whether the loss of a row is its absolute error; else it is its squared error.

        Returns
        -------
        (array, array, float)
            In each node, the weighted sum of the losses and the weighted sum of their squares; the weight of all rows.
            Rows are added in the order of their targets, so that the sums do not depend on the order of the table.
        """
        target = self.target
        weight = np.ones(len(target)) if self.weight is None else self.weight
        order = np.lexsort((weight, target))
        leaves = self.leaves(tree)[order]
        losses, squares = path_losses(tree.parent, leaves, target[order], weight[order], predictions, is_absolute)
        return losses, squares, float(weight[order].sum())


def grow_on_all_rows(data: PresortedData, candidates: tuple[GrowParameters, ...]) -> list[Sample]:
    """Return the counts of all rows in the tree that each candidate grows on them, or in the tree grown by hand."""
    subset, by_hand = data.subset(np.arange(data.table.n_rows)), data.by_hand
    return [subset.grow(candidate)[1] if by_hand is None else by_hand.counts for candidate in candidates]


class FoldLosses(NamedTuple):
    """Held-out losses of every tree on the pruning path of one fold.

    Parameters
    ----------
    alphas : array
        Lowest penalty, per unit of weight, at which each tree of the path is the best.
    loss, square : array
        For each tree, the sum of the losses of the held-out rows, and the sum of their squares. `square` is None if
        all losses are 0 or 1, because both sums are then equal. For "roc_auc", `loss` is 1 minus the area under the
        ROC curve, and `square` is None because no row has a loss of its own.
    weight : float
        Total weight of the held-out rows. For "roc_auc" it is 1, so that all folds count the same, or 0 if all
        held-out rows are of one class, because such rows have no area under the ROC curve.
    shrunk : pair of arrays of shape (n_strengths, n_trees), optional
        The sums of losses and of squared losses for class probabilities shrunk by each of `SHRINKAGE_STRENGTHS`. The
        loss is the Brier score if "brier" is the score, else the log loss.
    """

    alphas: Floats
    loss: LongsOrFloats
    square: LongsOrFloats | None
    weight: float
    shrunk: tuple[Floats, Floats] | None = None

    def trees_at(self, penalties: Floats) -> Array:
        """Return the index of the best tree on the path at each penalty."""
        tree_index: Array = np.searchsorted(self.alphas, penalties * (1 + TOLERANCE), side="right") - 1
        return tree_index

    def sums_at(self, penalties: Floats) -> tuple[LongsOrFloats, LongsOrFloats]:
        """Return the sums of losses and of squared losses at each penalty."""
        tree_index = self.trees_at(penalties)
        square = self.loss if self.square is None else self.square
        return self.loss[tree_index], square[tree_index]

    def with_shrinkage(self, strength_index: int) -> "FoldLosses":
        """Return the losses of probabilities shrunk by `SHRINKAGE_STRENGTHS[strength_index]`."""
        assert self.shrunk is not None
        loss, square = self.shrunk
        return self._replace(loss=loss[strength_index], square=square[strength_index])


class _FoldPath(NamedTuple):
    """The pruning path of the tree of a fold.

    `alphas` is the lowest penalty at which each member of the path is the best. `steps` has one number per node: the
    first member of the path in which the node is a leaf or has been removed. It is None if the path is not nested.
    `sum_members` computes the loss of each member of the path from the losses of the nodes.
    """

    alphas: Floats
    steps: Array | None
    sum_members: Callable[[Any], Any]


def evaluate_fold(
    data: PresortedData, candidates: tuple[GrowParameters, ...], scoring: Scoring, fold: Fold
) -> list[FoldLosses]:
    """Return the held-out losses of the trees that each candidate grows on the training rows of a fold."""
    subset, validation = data.subset(fold.train), ValidationRows.of(data, fold.test)
    losses = []
    for candidate in candidates:
        tree, counts = subset.grow_for_fold(candidate)
        if counts.has_classes:
            losses.append(_class_losses(tree, counts, validation.count(tree), scoring))
        else:
            losses.append(_number_losses(tree, counts, validation, scoring))
    return losses


def _number_losses(tree: Tree, counts: Sample, validation: ValidationRows, scoring: Scoring) -> FoldLosses:
    """Return the held-out losses of every tree on the pruning path of a regression tree."""
    predictions = leaf_predictions(counts, scoring)
    path = _prune_fold(tree, predictions, scoring)
    is_absolute = scoring.score_name == "absolute_error"
    loss, square, weight = validation.loss_sums(tree, predictions.prediction, is_absolute=is_absolute)
    return FoldLosses(path.alphas, path.sum_members(loss), path.sum_members(square), weight)


def _prune_fold(tree: Tree, predictions: NodePredictions, scoring: Scoring) -> _FoldPath:
    """Return the cost-complexity path of a tree, with penalties per unit of weight."""
    if scoring.penalty == scoring.size == "leaves" and scoring.costs is None:
        # The same path as from `cost_complexity`, without the time to make a PruningSequence.
        n_added_leaves = structure.added_leaves(tree.parent)
        steps, alphas = nested_path(tree.parent, n_added_leaves, predictions.cost)
        sum_members = partial(member_sums, tree.parent, steps, n_members=len(alphas))
        return _FoldPath(alphas / predictions.divisor, steps, sum_members)
    path: Any = cost_complexity(tree, None, penalty=scoring.penalty, size=scoring.size, cost=predictions.cost)
    return _FoldPath(path.alphas / predictions.divisor, path.steps, path.costs_on)


def _class_losses(tree: Tree, counts: Any, validation_counts: LongsOrFloats, scoring: Scoring) -> FoldLosses:
    """Return the held-out losses of every tree on the pruning path of a classification tree.

    Parameters
    ----------
    tree : Tree
    counts : Counts
        Training rows of the fold in the tree.
    validation_counts : array of shape (n_nodes, n_classes)
        Held-out rows of each class in each node.
    scoring : Scoring
    """
    predictions = leaf_predictions(counts, scoring)
    path = _prune_fold(tree, predictions, scoring)
    weight = float(validation_counts[0].sum())
    shrunk = None
    if path.steps is not None and scoring.probabilities == "shrunk":
        is_brier = scoring.score_name == "brier"
        shrunk = shrunk_losses(
            tree.parent, path.steps, counts.limited_by_class.astype(np.float64), validation_counts.astype(np.float64),
            np.array(SHRINKAGE_STRENGTHS), len(path.alphas), MIN_PROBABILITY, is_brier,
        )  # fmt: skip
        if scoring.score.is_probability_score:
            default = SHRINKAGE_STRENGTHS.index(DEFAULT_SHRINKAGE)
            return FoldLosses(path.alphas, shrunk[0][default], shrunk[1][default], weight, shrunk)
    if scoring.score.path_cost == "predictions":
        costs = None if scoring.score_name == "error" else scoring.costs
        losses = prediction_losses(validation_counts, predictions.prediction, costs)
        return _sum_over_members(path, losses, weight, shrunk)
    kind = "m-estimate" if scoring.probabilities == "mixture" else scoring.probabilities
    shares = class_shares(tree, counts.by_class, kind=kind)
    if scoring.score_name == "roc_auc":
        return _area_fold_losses(tree, path, validation_counts, shares, shrunk)
    return _sum_over_members(path, probability_losses(validation_counts, shares, scoring.score_name), weight, None)


def _sum_over_members(path: _FoldPath, losses: NodeLosses, weight: float, shrunk: Any) -> FoldLosses:
    """Return the losses of the trees of a path from the losses of the nodes."""
    square = None if losses.square is None else path.sum_members(losses.square)
    return FoldLosses(path.alphas, path.sum_members(losses.loss), square, weight, shrunk)


def _area_fold_losses(
    tree: Tree, path: _FoldPath, validation_counts: LongsOrFloats, shares: Floats, shrunk: Any
) -> FoldLosses:
    """Return 1 minus the area under the ROC curve for the trees on a path; of a long path, for some of its trees.

    A fold whose held-out rows are all of one class has no area. Its result has weight 0.
    """
    assert path.steps is not None
    members, losses = area_losses(tree.parent, path.steps, len(path.alphas), validation_counts, shares)
    if shrunk is not None:
        shrunk = shrunk[0][:, members], shrunk[1][:, members]
    if np.isnan(losses).any():
        return FoldLosses(path.alphas[members], np.zeros(len(losses)), None, 0.0, shrunk)
    return FoldLosses(path.alphas[members], losses, None, 1.0, shrunk)


def mean_errors(
    folds: Sequence[FoldLosses], penalties: Floats, n_rows: float, n_folds: int, se: str
) -> tuple[Floats, Floats, Floats]:
    """Return, for every penalty, the mean error, its standard error, and the error of each fold.

    If `se` is "folds", the standard error is the standard deviation of the errors of the folds, divided by the square
    root of `n_folds`. Otherwise it is the standard deviation of the losses of the rows, divided by the square root of
    `n_rows`, the effective number of rows.
    Folds of weight 0 have no score and are left out.
    """
    folds = [fold for fold in folds if fold.weight > 0]
    if not folds:
        raise DataError("the test rows of every fold are of one class; an area under the ROC curve needs two")
    loss, square = (np.array(sums) for sums in zip(*(fold.sums_at(penalties) for fold in folds), strict=True))
    weight = np.array([fold.weight for fold in folds])
    error = loss.sum(axis=0) / weight.sum()
    fold_error = loss / weight[:, None]
    if se == "folds":
        return error, fold_error.std(axis=0, ddof=1) / np.sqrt(n_folds), fold_error
    mean_square = square.sum(axis=0) / weight.sum()
    return error, np.sqrt(np.maximum(mean_square - error * error, 0) / n_rows), fold_error


def mean_shrunk_losses(folds: Sequence[FoldLosses], penalties: Floats) -> Floats:
    """Return the mean loss of shrunk probabilities, for each strength of shrinkage and each penalty."""
    total = np.zeros((len(SHRINKAGE_STRENGTHS), len(penalties)))
    for fold in folds:
        assert fold.shrunk is not None
        total += fold.shrunk[0][:, fold.trees_at(penalties)]
    return total / sum(fold.weight for fold in folds)


def run_tasks(
    shared: Any, tasks: list[Task], n_jobs: Any, progress: Progress, sizes: Sequence[int] | None = None
) -> list[Any]:
    """Return function(shared, *arguments) for every task.

    Parameters
    ----------
    shared : object
        First argument of every function. A client of Dask sends it to its workers once.
    tasks : list of (function, arguments)
    n_jobs : int, executor or None
        Number of threads (None: one, -1: one per core), or an object with `submit`, such as an executor of
        processes or a client of Dask.
    progress : callable, optional
        Called with (steps done, all steps). When a task ends, it is called once for each step of the task.
    sizes : sequence of int, optional
        Number of steps of each task; by default 1.
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    n_steps, n_done = sum(sizes), 0
    results = []
    for result, size in zip(_iter_results(shared, tasks, n_jobs), sizes, strict=True):
        results.append(result)
        for _ in range(size):
            n_done += 1
            if progress is not None:
                progress(n_done, n_steps)
    return results


def _iter_results(shared: Any, tasks: list[Task], n_jobs: Any) -> Iterator[Any]:
    """Yield the result of each task, computed in this thread, in new threads, or by an executor."""
    if hasattr(n_jobs, "submit"):
        yield from _iter_submitted(shared, tasks, n_jobs)
        return
    n_threads = min(resolve_n_jobs(n_jobs), len(tasks))
    if n_threads > 1:
        with StoppableThreadPool(n_threads) as pool:
            yield from _iter_submitted(shared, tasks, pool)
    else:
        for function, arguments in tasks:
            yield function(shared, *arguments)


def _iter_submitted(shared: Any, tasks: list[Task], executor: Any) -> Iterator[Any]:
    """Yield the result of each task, computed by an executor."""
    options = {}
    if hasattr(executor, "scatter"):
        # Only a Dask client has `scatter`, which sends the rows to each worker once. With `pure=False`, Dask computes
        # every task. Otherwise it would reuse the result of another task with the same function and arguments.
        shared, options = executor.scatter(shared, broadcast=True), {"pure": False}
    futures = [executor.submit(function, shared, *arguments, **options) for function, arguments in tasks]
    try:
        for future in futures:
            yield future.result()
    finally:  # after a failure or Ctrl-C, tasks that have not started are cancelled
        for future in futures:
            future.cancel()
