"""Tallies: sums over the rows of a batch, which can be merged with the tallies of other batches.

A `ClassTally` contains the number of rows (or the weight) of each class in each leaf. The sums are integers, so the
result does not depend on the order of the rows or on their division into batches. A fractional weight is written with
four integers (*limbs*) as w0 + w1 * 2**-32 + w2 * 2**-64 + w3 * 2**-96, and each limb is summed separately.

A `NumberTally` contains the weight, mean and sum of squared errors of a numeric target in each leaf. These are floats,
so merging two tallies rounds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import route, structure
from .._utils.arrays import MAX_EXACT_INT, Array, write_protect
from .._utils.warn import format_names, warn
from ..core import Counts, Moments, Tree
from ..data.sketch import Sketch, merge_sketches
from ..data.table import Table
from ..data.weights import WeightedRows
from ..errors import DataError, show
from ._rows import route_table, sketch_of

LIMB_BASE = 2.0**32  # limb k of a weight counts units of LIMB_BASE**-k
MAX_LIMBS = 4
MAX_NEW_LABELS = 5  # in warnings


@dataclass(kw_only=True)
class Tally:
    """The fields that both tallies share: numbers of rows, some of which need a warning.

    Parameters
    ----------
    n_unseen : array of int64
        For each tested column, number of rows with a category that growing did not see.
    n_rows : int
        Number of rows with a target.
    n_new : int
        Number of rows of a class that growing did not see.
    new_labels : tuple of str
        The first of these classes in sorted order, as text.
    n_used : int
        Number of rows with a weight above 0.
    n_verified : int
        Number of rows for which the leaf found by an engine was compared with the leaf found here.
    n_unlabelled : int
        Number of rows without a target, which are left out.
    sketch : Sketch, optional
        The sketch of the rows with a weight above 0; None if the rows did not pass through Python.
    """

    n_unseen: Array
    n_rows: int = 0
    n_new: int = 0
    new_labels: tuple[str, ...] = ()
    n_used: int = 0
    n_verified: int = 0
    n_unlabelled: int = 0
    sketch: Sketch | None = None

    def merge(self, other: Any) -> None:
        """Add the numbers of another tally to this one."""
        self.sketch = merge_sketches([tally.sketch for tally in (self, other) if tally.n_rows])
        for name in ("n_unseen", "n_rows", "n_new", "n_used", "n_unlabelled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.new_labels = tuple(sorted({*self.new_labels, *other.new_labels})[:MAX_NEW_LABELS])

    def warn(self, target: str) -> None:
        """Warn about rows without a target, and about classes that the tree has not seen."""
        if self.n_unlabelled:
            n_rows = self.n_rows + self.n_unlabelled
            warn(f"{self.n_unlabelled:,} of {n_rows:,} rows have no target {show(target)} and are left out")
        if self.n_new:
            warn(
                f"the target holds classes the tree has not seen ({', '.join(self.new_labels)}) in {self.n_new:,} "
                "rows; they count as errors everywhere"
            )

    def _check_not_empty(self, sums: Array) -> None:
        """Raise `DataError` if there are no rows, or no weight above 0 in the given sums."""
        if self.n_rows == 0:
            suffix = " with a target" if self.n_unlabelled else ""
            raise DataError(f"the source has 0 rows{suffix}; at least one is needed")
        if not sums.any():
            raise DataError("every weight is zero; at least one row must have a weight above zero")


@dataclass(kw_only=True)
class ClassTally(Tally):
    """Number of rows (or weight) of each class in each leaf.

    Parameters
    ----------
    limbs : list of array of shape (n_nodes, n_classes + 1)
        The sums, in integers. Limb k counts units of 2**(-32 k); without fractional weights there is one limb. If all
        weights are known beforehand, there is one limb of exact floats. The last column is for classes that the tree
        has not seen.
    """

    limbs: list[Array]

    def add(self, leaves: Array, target: Array, weight: Array | None) -> None:
        """Add rows, given the leaf, class number and weight of each row."""
        self.n_rows += len(leaves)
        if weight is None:
            weight_limbs = [np.zeros(0, np.int64)]  # without weights, every row counts once
        else:
            _check_exact(weight)
            has_exact_floats = self.limbs[0].dtype.kind == "f"
            weight_limbs = [weight] if has_exact_floats else _split_into_limbs(weight)
        self._add_limbs(len(weight_limbs))
        for weight_limb, limb in zip(weight_limbs, self.limbs, strict=False):
            route.add_class_counts(leaves, target, weight_limb, limb)

    def merge(self, other: "ClassTally") -> None:
        """Add the sums of another tally to those of this one."""
        super().merge(other)
        self._add_limbs(len(other.limbs))
        for k, other_limb in enumerate(other.limbs):
            self.limbs[k] += other_limb
        _check_exact(self.limbs[0])  # both were below 2**53, so that their sum cannot have wrapped around

    def finish(self, tree: Tree, sample: str) -> Counts:
        """Return the counts of every node."""
        at_leaves = self.limbs[0] if len(self.limbs) == 1 else _join_limbs(self.limbs)
        self._check_not_empty(at_leaves)
        _check_exact(at_leaves)
        if not self.n_new:
            at_leaves = at_leaves[:, :-1]
        by_class = write_protect(structure.sum_upwards(tree.parent, np.ascontiguousarray(at_leaves)))
        return Counts(tree, by_class, sample, self.n_used, self.sketch)

    def _add_limbs(self, n_limbs: int) -> None:
        """Append limbs of zeros until there are `n_limbs`; do nothing if there are more."""
        self.limbs += [np.zeros_like(self.limbs[0]) for _ in range(n_limbs - len(self.limbs))]


@dataclass(kw_only=True)
class NumberTally(Tally):
    """Weight, mean and sum of squared errors of a numeric target in each leaf."""

    weight: Array
    mean: Array
    sse: Array

    def add(self, leaves: Array, target: Array, weight: Array | None) -> None:
        """Add rows, given the leaf, numeric target and weight of each row."""
        self.n_rows += len(leaves)
        n_nodes, weight = len(self.weight), np.ones(len(leaves)) if weight is None else weight
        total = np.bincount(leaves, weight, minlength=n_nodes)
        mean = _divide(np.bincount(leaves, target * weight, minlength=n_nodes), total)
        self._merge_sums(total, mean, np.bincount(leaves, (target - mean[leaves]) ** 2 * weight, minlength=n_nodes))

    def merge(self, other: "NumberTally") -> None:
        """Add the sums of another tally to those of this one."""
        super().merge(other)
        self._merge_sums(other.weight, other.mean, other.sse)

    def finish(self, tree: Tree, sample: str) -> Moments:
        """Return the moments of every node."""
        self._check_not_empty(self.weight)
        weight, mean, sse = self.weight.copy(), self.mean.copy(), self.sse.copy()
        for v in range(tree.n_nodes - 1, 0, -1):  # children come after their parent
            parent = tree.parent[v]
            weight[parent], mean[parent], sse[parent] = _merge_moments(
                weight[parent], mean[parent], sse[parent], weight[v], mean[v], sse[v]
            )
        for v in range(1, tree.n_nodes):
            if weight[v] == 0:
                mean[v] = mean[tree.parent[v]]
        return Moments(tree, weight, mean, sse, sample, self.n_used, self.sketch)

    def _merge_sums(self, weight: Array, mean: Array, sse: Array) -> None:
        """Add the weight, mean and sum of squared errors of other rows in each leaf."""
        merged = _merge_moments(self.weight, self.mean, self.sse, weight, mean, sse)
        self.weight, self.mean, self.sse = merged


def empty_tally(tree: Tree, *, has_exact_floats: bool = False) -> ClassTally | NumberTally:
    """Return the tally of no rows.

    `has_exact_floats` states that all weights are known, and were rounded so that sums of floats are exact
    (`round_for_exact_sums`).
    """
    assert tree.schema is not None
    n_nodes, classes = tree.n_nodes, tree.schema.classes
    n_unseen = np.zeros(len(tree.schema.columns), np.int64)
    if classes is None:
        return NumberTally(n_unseen=n_unseen, weight=np.zeros(n_nodes), mean=np.zeros(n_nodes), sse=np.zeros(n_nodes))
    sums = np.zeros((n_nodes, len(classes) + 1), np.float64 if has_exact_floats else np.int64)
    return ClassTally(n_unseen=n_unseen, limbs=[sums])


def tally_of(
    tree: Tree,
    table: Table,
    weight: Array | None,
    key_columns: Sequence[int] | None,
    *,
    has_exact_floats: bool = False,
) -> ClassTally | NumberTally:
    """Return the tally of the rows of a table.

    Parameters
    ----------
    tree : Tree
        The tree through which the rows are routed.
    table : Table
        The rows, with their target.
    weight : array, optional
        The weight of each row.
    key_columns : sequence of int, optional
        The position in the table of each column of the tree's row key; None for a tally without a sketch.
    has_exact_floats : bool
        As for `empty_tally`.
    """
    target, classes = table.required_target, table.schema.classes
    rows = WeightedRows(table, weight)
    is_used, n_used = rows.is_used(), rows.n_used
    tally = empty_tally(tree, has_exact_floats=has_exact_floats)
    tally.n_used = n_used
    tally.add(route_table(tree, table, None, 0), target, weight)
    tally.n_unseen = np.array(table.n_unseen, np.int64)
    tally.n_new = 0 if classes is None else int(np.count_nonzero(target == len(classes)))
    tally.sketch = None if key_columns is None else sketch_of(tree, table, is_used, key_columns)
    return tally


def merge_tallies(tallies: Iterable[Any]) -> Any:
    """Return the first of the tallies, after merging all others into it."""
    remaining = iter(tallies)
    total = next(remaining)
    for tally in remaining:
        total.merge(tally)
    return total


def format_new_labels(labels: Array | list[object]) -> tuple[str, ...]:
    """Return the first few labels of new classes in sorted order, as text for a warning."""
    return tuple(sorted(format_names([label]) for label in labels)[:MAX_NEW_LABELS])


def _check_exact(weight: Array) -> None:
    """Raise `DataError` if weights are too large for exact sums."""
    total = weight.sum(dtype=np.float64)
    if total >= MAX_EXACT_INT:
        raise DataError(
            f"the weights add up to {total:.6g}, 2**53 or more, where whole numbers stop being exact; divide "
            "them by a common factor"
        )


def _split_into_limbs(weight: Array) -> list[Array]:
    """Return the limbs of each weight; if all weights are integers, there is only the first limb."""
    limbs: list[Array] = []
    rest = weight
    while not limbs or (rest.any() and len(limbs) < MAX_LIMBS):
        units = np.floor(rest)
        limbs.append(units.astype(np.int64))
        rest = (rest - units) * LIMB_BASE
    return limbs


def _join_limbs(limbs: list[Array]) -> Array:
    """Return the sums as float64, rounded like `round_for_exact_sums`, so that adding up nodes is exact."""
    units = [limb.copy() for limb in limbs]
    # Carry into the next higher limb, so that equal sums have equal limbs.
    for k in range(len(units) - 1, 0, -1):
        units[k - 1] += units[k] >> 32
        units[k] &= int(LIMB_BASE) - 1
    total = sum(unit / LIMB_BASE**k for k, unit in reversed(list(enumerate(units))))
    grid = 2.0 ** (np.frexp(np.sum(total))[1] - 51)
    return np.asarray(np.rint(total / grid) * grid)


def _divide(part: Array, total: Array) -> Array:
    """Return `part / total`; 0 where the total is 0."""
    return np.divide(part, total, out=np.zeros_like(total), where=total > 0)


def _merge_moments(
    weight: Array, mean: Array, sse: Array, other_weight: Array, other_mean: Array, other_sse: Array
) -> tuple[Array, Array, Array]:
    """Return weight, mean and sum of squared errors of the union of two sets of rows."""
    total = np.asarray(weight + other_weight)
    share = _divide(other_weight, total)
    difference = other_mean - mean
    return total, mean + difference * share, sse + other_sse + difference * difference * weight * share
