"""Folds: how rows are parted into those to grow on and those to judge by."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..data import fold_assignment
from ..data.table import Table
from ..errors import LeakageError, ParameterError

Rows = npt.NDArray[np.intp]


class Fold(NamedTuple):
    """Rows to grow on and rows to judge by, both rising."""

    train: Rows
    test: Rows


def splits_of(
    cv: Any, table: Table, is_used: Any, *, repeats: int, seed: int, stratified: bool
) -> tuple[Iterator[list[Fold]], int]:
    """Return the splits of each repeat, dealt when they are asked for, and the number of folds in a repeat.

    `cv` is a number, an object with `split(X, y)`, (train, test) pairs or test sets.
    `is_used` is None, or says which rows have a weight above 0; only those count.
    """
    used = np.arange(table.n_rows) if is_used is None else np.flatnonzero(is_used)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return _dealt(int(cv), table, used, repeats, seed, stratified), int(cv)
    if repeats != 1:
        raise ParameterError(f"cv_repeats={repeats} goes with a number of folds; explicit folds are used once")
    if hasattr(cv, "split") and not isinstance(cv, str):
        pairs: Iterable[Any] = cv.split(np.zeros((table.n_rows, 1)), table.target)
    elif isinstance(cv, Iterable) and not isinstance(cv, str | bytes | dict):
        pairs = cv
    else:
        raise ParameterError(
            f"cv={cv!r}; a number of folds, an object with split(X, y), (train, test) pairs of row numbers, "
            "or a list of test rows is needed"
        )
    splits = [_given(i, pair, table.n_rows, is_used) for i, pair in enumerate(pairs)]
    if not splits:
        raise ParameterError("cv is empty; at least one (train, test) pair is needed")
    return iter([splits]), len(splits)


def seed_from(random_state: Any, *, most: int = 2**31 - 1, also: str = ", a generator or None") -> int:
    """Return a whole number of 0 or more: the seed itself, or one below `most` from a generator (None: at random)."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(most))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(most))
    raise ParameterError(f"random_state={random_state!r}; a whole number of 0 or more{also} is needed")


def _dealt(n_folds: int, table: Table, used: Rows, repeats: int, seed: int, stratified: bool) -> Iterator[list[Fold]]:
    if not 2 <= n_folds <= len(used):
        raise ParameterError(
            f"cv={n_folds}; from 2 to the number of rows is needed (n_samples={len(used)}, those of weight 0 aside)"
        )
    if len(used) < table.n_rows:
        table = table.take(used)
    for part in fold_assignment.iter_fold_assignments(
        table, n_folds, seed=seed, repeats=range(repeats), stratified=stratified
    ):
        yield [Fold(used[part != fold], used[part == fold]) for fold in range(n_folds)]


def _given(i: int, pair: Any, n_rows: int, is_used: Any) -> Fold:
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and np.ndim(pair[0]) == 1
    test = _row_numbers(f"the test rows of fold {i}", pair[1] if is_pair else pair, n_rows)
    if is_pair:
        train = _row_numbers(f"the training rows of fold {i}", pair[0], n_rows)
        both = np.intersect1d(train, test)
        if len(both):
            raise LeakageError(f"fold {i} grows on row {both[0]} and tests on it; training and test rows must differ")
    else:
        train = np.setdiff1d(np.arange(n_rows), test)
    if is_used is not None:
        train, test = train[is_used[train]], test[is_used[test]]
    for what, rows in (("no row to grow on", train), ("no row to judge by", test)):
        if not len(rows):
            raise ParameterError(f"fold {i} has {what}; every fold needs rows of weight above 0 on both sides")
    return Fold(train, test)


def _row_numbers(what: str, rows: Any, n_rows: int) -> Rows:
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (n_rows,):
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError(f"{what} are {array.dtype} of shape {array.shape}; row numbers from 0 are needed")
    array = array.astype(np.intp)
    if array.size and not (array.min() >= 0 and array.max() < n_rows):
        wrong = array[(array < 0) | (array >= n_rows)][0]
        raise ParameterError(f"{what} name row {wrong}; the rows are 0 to {n_rows - 1}")
    distinct = np.unique(array)
    if len(distinct) < len(array):
        raise ParameterError(f"{what} name a row twice; use sample_weight= to count a row more than once")
    return distinct
