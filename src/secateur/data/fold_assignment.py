"""Assignment of rows to folds, and the draw of held-out rows: by a seed and the values of the rows, not their order.

The rows are first sorted by their class and a hash of their values. Therefore each row gets the same fold in any order
of the rows, and no result of the package depends on the order of the rows.

A row of weight 2 is not treated like two equal rows:

- It is assigned as a whole, with all its weight. If its weight were divided, a tree would be evaluated on a row that
  it was grown on.
- Equal rows are assigned separately. If columns have few values, equal rows are independent draws from the population.
  If they were kept in one fold, every tree would be evaluated only on combinations of values that it has never seen.

Rows that belong together can be kept on one side of every split by giving the group of each row. Groups are then drawn
in place of rows, and are sorted by the hashes of their labels.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Array, Bools, Ints, Longs
from ..errors import Argument, DataError, ParameterError
from .groups import GroupHashes, group_numbers
from .table import Table

# The constants of SplitMix64, a generator of pseudorandom numbers.
_MIX_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_MIX_STEP = 0x9E3779B97F4A7C15
# Groups with equal numbers of rows of each class are interchangeable. If there are more of them per fold than this,
# about this number per fold is assigned to the best fold at a time, and the rest is divided equally among all folds.
MAX_CHOSEN_PER_FOLD = 32


def assign_folds(
    table: Table,
    n_folds: int,
    *,
    seed: int = 0,
    repeat: int = 0,
    stratified: bool = True,
    groups: GroupHashes | None = None,
) -> Ints:
    """Return the fold of each row, from 0 to `n_folds - 1`.

    The folds have the same size, or differ by one row. With groups, sizes and class shares are as equal as whole groups
    allow: see `groups`.

    Parameters
    ----------
    table : Table
    n_folds : int
    seed : int
    repeat : int
        The number of the repeat. Different repeats with the same seed are independent.
    stratified : bool
        Assign the rows of each class separately, so that all folds contain about the same share of each class.
    groups : array of uint64, optional
        A hash of the group of each row. All rows of a group are in one fold. The largest groups are assigned first, and
        groups with the same number of rows of each class in random order. Each group goes to the fold that has the
        smallest share of its classes so far. If very many groups have the same number of rows of each class, most of
        them are divided equally among all folds.

    Examples
    --------
    >>> from secateur import encode
    >>> table = encode([[1.0], [2.0], [3.0], [4.0]], target=["a", "a", "b", "b"])
    >>> folds = assign_folds(table, 2)
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 1])
    """
    assignments = iter_fold_assignments(
        table, n_folds, seed=seed, repeats=[repeat], stratified=stratified, groups=groups
    )
    return next(assignments)


def iter_fold_assignments(
    table: Table,
    n_folds: int,
    *,
    seed: int,
    repeats: Iterable[int],
    stratified: bool,
    groups: GroupHashes | None = None,
) -> Iterator[Ints]:
    """Yield the result of `assign_folds` for each of the repeats. The rows are sorted only once."""
    if groups is not None:
        yield from _iter_group_assignments(table, groups, n_folds, seed=seed, repeats=repeats, stratified=stratified)
        return
    if not 2 <= n_folds <= table.n_rows:
        raise ParameterError(f"{n_folds} parts of {table.n_rows} rows; from 2 to the number of rows is needed")
    sort_keys: tuple[Array, ...] = (_row_hashes(table),)
    sizes = np.array([table.n_rows])
    if stratified and table.target is not None and table.target.dtype.kind != "f":
        sort_keys, sizes = (*sort_keys, table.target), np.bincount(table.target)
    order = np.lexsort(sort_keys)  # by class first if stratified
    starts = np.cumsum(sizes) - sizes
    for repeat in repeats:
        rng = np.random.default_rng([seed, repeat])
        shuffled = [start + rng.permutation(size) for start, size in zip(starts, sizes, strict=True)]
        folds = np.empty(table.n_rows, np.int32)
        folds[order[np.concatenate(shuffled)]] = np.arange(table.n_rows) % n_folds
        yield folds


def _iter_group_assignments(
    table: Table, groups: GroupHashes, n_folds: int, *, seed: int, repeats: Iterable[int], stratified: bool
) -> Iterator[Ints]:
    """Yield the fold of each row for each of the repeats. All rows of a group are in one fold."""
    numbers, sizes = group_numbers(groups)
    if not 2 <= n_folds <= len(sizes):
        raise ParameterError(
            f"{n_folds} parts of {len(sizes)} groups; from 2 to the number of groups is needed, because the rows of a "
            "group stay together"
        )
    classes = np.zeros(table.n_rows, np.int64)
    if stratified and table.target is not None and table.target.dtype.kind != "f":
        classes = table.target.astype(np.int64)
    n_classes = int(classes.max()) + 1
    by_class = np.bincount(numbers * n_classes + classes, minlength=len(sizes) * n_classes).reshape(-1, n_classes)
    # Groups of one kind have the same number of rows of each class.
    kinds, kind_of_group = np.unique(by_class, axis=0, return_inverse=True)
    kind_of_group = kind_of_group.ravel()
    members = np.split(np.argsort(kind_of_group, kind="stable"), np.cumsum(np.bincount(kind_of_group))[:-1])
    order = np.argsort(-kinds.sum(axis=1), kind="stable")
    for repeat in repeats:
        rng = np.random.default_rng([seed, repeat])
        fold_of_group = np.empty(len(sizes), np.int32)
        assignment = _GroupAssignment(n_folds, by_class.sum(axis=0), rng)
        for kind in order.tolist():
            fold_of_group[rng.permutation(members[kind])] = assignment.next_folds(len(members[kind]), kinds[kind])
        yield fold_of_group[numbers]


class _GroupAssignment:
    """The assignment of groups to folds so far, as the number of rows of each class in each fold."""

    def __init__(self, n_folds: int, n_by_class: Longs, rng: np.random.Generator) -> None:
        self.by_class = np.zeros((n_folds, len(n_by_class)))
        self.scale = 1.0 / np.maximum(n_by_class, 1).astype(np.float64) ** 2
        self.order = rng.permutation(n_folds)  # of equally good folds, the first in this order is chosen

    def next_folds(self, n_groups: int, rows: Longs) -> Ints:
        """Return the folds of groups that have the same number of rows of each class, and count their rows.

        Of very many groups, most are divided equally among all folds. Each of the others goes to the fold that keeps
        the sum of the squared class shares of the folds smallest; ties go to the fold with the fewest rows.
        """
        n_folds = len(self.order)
        n_each = max(n_groups // n_folds - MAX_CHOSEN_PER_FOLD, 0)
        self.by_class += n_each * rows
        chosen = []
        for _ in range(n_groups - n_each * n_folds):
            increase = self.by_class @ (rows * self.scale)
            n_rows = self.by_class.sum(axis=1)
            best = int(self.order[np.lexsort((n_rows[self.order], increase[self.order]))[0]])
            self.by_class[best] += rows
            chosen.append(best)
        return np.array([*np.repeat(np.arange(n_folds), n_each), *chosen], np.int32)


def draw_holdout(table: Table, share: float, *, seed: int = 0, groups: GroupHashes | None = None) -> Bools:
    """Return the mask of the rows to hold out: a `share` of all rows, rounded to whole rows, drawn at random.

    The draw is not stratified. Held-out rows may be used for a certificate, whose limit holds for rows that are
    independent draws. Stratified held-out rows are not: their class shares depend on those of the growing rows.

    The draw depends on the seed and on the values of all rows, but not on their order. If it depended on the seed
    alone, it would select the same positions of the sorted hashes in every sample of the same size. If rows have few
    distinct values, the held-out share of each value would then vary less than in independent draws.

    `groups` holds a hash of the group of each row. If it is given, groups are drawn in place of rows: `share` is the
    share of all groups, and a group is held out as a whole. Large and small groups are equally likely to be drawn, so
    that the held-out groups are independent draws.

    Examples
    --------
    >>> from secateur import encode
    >>> draw_holdout(encode([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], target=list("aaabbb")), 1 / 3).sum().item()
    2
    """
    n_rows = table.n_rows
    if isinstance(share, bool) or not 0 < share < 1:
        raise ParameterError(Argument("holdout", share), "; a share of the rows between 0 and 1 is needed")
    if n_rows < 2:
        raise DataError(f"holdout={share:g} of 1 sample leaves nothing to grow on; at least 2 rows are needed")
    hashes = _row_hashes(table)
    if groups is not None:
        return _draw_groups(groups, share, [seed, int(_mix(hashes ^ groups).sum(dtype=np.uint64))])
    n_held_out = min(max(round(share * n_rows), 1), n_rows - 1)
    rng = np.random.default_rng([seed, int(_mix(hashes).sum(dtype=np.uint64))])
    is_held_out = np.zeros(n_rows, bool)
    is_held_out[np.argsort(hashes, kind="stable")[rng.permutation(n_rows)[:n_held_out]]] = True
    return is_held_out


def _draw_groups(groups: GroupHashes, share: float, seed: list[int]) -> Bools:
    """Return the mask of the rows of a share of all groups, drawn at random."""
    numbers, sizes = group_numbers(groups)
    n_groups = len(sizes)
    if n_groups < 2:
        raise DataError(
            f"all {len(groups):,} rows are of one group; at least 2 groups are needed to hold rows out, because the "
            "rows of a group stay together"
        )
    n_held_out = min(max(round(share * n_groups), 1), n_groups - 1)
    is_held_out = np.zeros(n_groups, bool)
    is_held_out[np.random.default_rng(seed).permutation(n_groups)[:n_held_out]] = True
    return is_held_out[numbers]


def _row_hashes(table: Table) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash of the values of each row, including its target."""
    hashes = np.zeros(table.n_rows, np.uint64)
    columns = table.columns if table.target is None else (*table.columns, table.target)
    for j, column in enumerate(columns):
        if column.dtype.kind == "f":
            values = column.astype(np.float64) + 0.0  # turns -0.0 into 0.0
            values[np.isnan(values)] = np.nan  # NaN can have several bit patterns
            bits = values.view(np.uint64)
        else:
            bits = column.astype(np.int64).view(np.uint64)
        hashes = _mix(hashes ^ _mix(bits + np.uint64((j + 1) * _MIX_STEP % 2**64)))
    return hashes


def _mix(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the output function of SplitMix64: each bit of the input influences all bits of the output."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_FACTORS[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_FACTORS[1]
    return bits ^ (bits >> np.uint64(31))
