"""Folds of cross-validation: which rows each fold grows on and which it is evaluated on, and in how many rounds.

`run_tasks` runs the folds, or any functions on shared data: one after the other, in threads, or wherever an executor
runs them. Results come in the order of the tasks, so that nothing depends on which task ends first.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._utils.checks import check_int
from .._utils.threads import StoppableThreadPool, resolve_n_jobs
from ..data import fold_assignment
from ..data.table import Table
from ..data.weights import WeightedRows
from ..errors import Argument, LeakageError, ParameterError
from ..growers.parameters import is_auto

RowNumbers = npt.NDArray[np.intp]
MAX_REPEATED_ROWS = 5_000  # with more rows, cross-validation is not repeated by default
MAX_ROWS_OF_ALL_FOLDS = 1_000_000  # with more rows, one fold is precise enough
MIN_FOLDS_PER_ROUND = 5  # folds after which a worse candidate is recognised
AUTO_REPEATS = 3
Progress = Callable[[int, int], None] | None
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Fold(NamedTuple):
    """Numbers of the rows to grow on and of the rows to evaluate on, both in ascending order."""

    train: RowNumbers
    test: RowNumbers


@dataclass(frozen=True)
class FoldPlan:
    """The folds of cross-validation, in rounds. After a round, worse candidates are dropped.

    Parameters
    ----------
    rounds : iterable of list of Fold
        The rows of a round are assigned to folds when the iteration reaches the round.
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
        Rows of weight 0 are in no fold.
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
    repeats, n_folds = _iter_repeats(cv, rows, n_repeats, seed, stratified)
    if is_automatic and n_rows > MAX_ROWS_OF_ALL_FOLDS:
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
    return AUTO_REPEATS if n_rows <= MAX_REPEATED_ROWS else 1


def seed_from(random_state: Any, *, limit: int = 2**31 - 1, alternative: str = ", a generator or None") -> int:
    """Return a seed of 0 or more: `random_state` itself if it is a whole number, else one that a generator draws.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        None takes a new generator with a random seed.
    limit : int
        A drawn seed is below this number.
    alternative : str
        Other accepted values, for the error message.
    """
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(limit))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(limit))
    raise ParameterError(
        Argument("random_state", random_state), f"; a whole number of 0 or more{alternative} is needed"
    )


def _iter_repeats(
    cv: Any, rows: WeightedRows, n_repeats: int, seed: int, stratified: bool
) -> tuple[Iterator[list[Fold]], int]:
    """Return an iterator over the folds of each repeat, and the number of folds in a repeat."""
    table, is_used = rows.table, rows.is_used()
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        used = np.arange(table.n_rows) if is_used is None else np.flatnonzero(is_used)
        return _assign_folds(int(cv), table, used, n_repeats, seed, stratified), int(cv)
    if n_repeats != 1:
        raise ParameterError(
            Argument("cv_repeats", n_repeats), " goes with a number of folds; explicit folds are used once"
        )
    if hasattr(cv, "split") and not isinstance(cv, str):
        explicit: Iterable[Any] = cv.split(np.zeros((table.n_rows, 1)), table.target)
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
    return iter([folds]), len(folds)


def _assign_folds(
    n_folds: int, table: Table, used: RowNumbers, n_repeats: int, seed: int, stratified: bool
) -> Iterator[list[Fold]]:
    """Yield the folds of each repeat, made from the rows in `used`."""
    if not 2 <= n_folds <= len(used):
        raise ParameterError(
            Argument("cv", n_folds),
            f"; from 2 to the number of rows is needed (n_samples={len(used)}, without rows of weight 0)",
        )
    if len(used) < table.n_rows:
        table = table.take(used)
    assignments = fold_assignment.iter_fold_assignments(
        table, n_folds, seed=seed, repeats=range(n_repeats), stratified=stratified
    )
    for assignment in assignments:
        yield [Fold(used[assignment != fold], used[assignment == fold]) for fold in range(n_folds)]


def _check_fold(i: int, rows: Any, n_rows: int, is_used: Any) -> Fold:
    """Return fold `i` from a (train, test) pair or from test rows alone, without rows of weight 0."""
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
        Called with (steps done, all steps) after every step.
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
        # Dask: send the rows to the workers once, and compute every task, because equal keys would share a result.
        shared, options = executor.scatter(shared, broadcast=True), {"pure": False}
    futures = [executor.submit(function, shared, *arguments, **options) for function, arguments in tasks]
    try:
        for future in futures:
            yield future.result()
    finally:  # after a failure or Ctrl-C, tasks that wait are not started
        for future in futures:
            future.cancel()
