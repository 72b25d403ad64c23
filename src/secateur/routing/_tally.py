"""What a partition adds to the whole: sums that do not care for order or partitioning.

A `ClassTally` holds rows (or weights) of each class in each leaf as whole numbers, so that
adding tallies is exact. A fractional weight is cut into whole numbers of 1, 2**-32, 2**-64
and 2**-96, each summed on its own: the total does not depend on the order either. A
`NumberTally` holds weight, mean and spread of a numeric target; joining two of them rounds.
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
from ..errors import DataError
from ._rows import route_table, sketch_of, used_rows

LIMB, N_LIMBS = 2.0**32, 4  # a fractional weight is kept in steps of 1, 1/LIMB, 1/LIMB**2 and 1/LIMB**3
N_SHOWN = 5


@dataclass(kw_only=True)
class Tally:
    """Rows seen, and what was odd about them.

    Parameters
    ----------
    n_unseen : array of int64
        Rows of each tested column with a category that growing did not see.
    n_rows : int
    n_new : int
        Rows whose class growing did not see.
    new_labels : tuple of str
        A few of those classes, the first in order, as they print.
    n_used : int
        Rows of a weight above 0.
    n_guarded : int
        Rows for which the leaf that an engine found was compared with ours.
    n_unlabelled : int
        Rows without a target, which were left out.
    sketch : Sketch, optional
        Of those rows; None where no engine of ours has seen them one by one.
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
        """Add what the other saw."""
        self.sketch = merge_sketches([tally.sketch for tally in (self, other) if tally.n_rows])
        for name in ("n_unseen", "n_rows", "n_new", "n_used", "n_unlabelled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.new_labels = tuple(sorted({*self.new_labels, *other.new_labels})[:N_SHOWN])

    def warn(self, target: str) -> None:
        """Warn of rows without a target, and of classes that the tree does not know."""
        if self.n_unlabelled:
            n_rows = self.n_rows + self.n_unlabelled
            warn(f"{self.n_unlabelled:,} of {n_rows:,} rows have no target {target!r} and are left out")
        if self.n_new:
            warn(
                f"the target holds classes the tree has not seen ({', '.join(self.new_labels)}) in {self.n_new:,} "
                "rows; they count as errors everywhere"
            )

    def _check(self, sums: Array) -> None:
        if self.n_rows == 0:
            more = " with a target" if self.n_unlabelled else ""
            raise DataError(f"the source has 0 rows{more}; at least one is needed")
        if not sums.any():
            raise DataError("every weight is zero; at least one row must have a weight above zero")


@dataclass(kw_only=True)
class ClassTally(Tally):
    """Rows or weights of each class in each leaf; the last column is for classes the tree has not seen."""

    limbs: list[Array]

    def add(self, leaves: Array, target: Array, weight: Array | None) -> None:
        """Count rows, each with its leaf and its class number."""
        self.n_rows += len(leaves)
        if weight is None:
            parts = [np.zeros(0, np.int64)]
        else:  # sums of floats are exact where the weights are all known
            _check_exact(weight)
            parts = [weight] if self.limbs[0].dtype.kind == "f" else _limbs(weight)
        self._widen(len(parts))
        for part, limb in zip(parts, self.limbs, strict=False):
            route.add_class_counts(leaves, target, part, limb)

    def merge(self, other: "ClassTally") -> None:
        """Add the other's sums to these."""
        super().merge(other)
        self._widen(len(other.limbs))
        for k, theirs in enumerate(other.limbs):
            self.limbs[k] += theirs
        _check_exact(self.limbs[0])  # of the sum of two: each was below 2**53, so nothing has wrapped around yet

    def finish(self, tree: Tree, sample: str) -> Counts:
        """Return the counts of every node."""
        own = self.limbs[0] if len(self.limbs) == 1 else _joined(self.limbs)
        self._check(own)
        _check_exact(own)
        if not self.n_new:
            own = own[:, :-1]
        by_class = write_protect(structure.sum_upwards(tree.parent, np.ascontiguousarray(own)))
        return Counts(tree, by_class, sample, self.n_used, self.sketch)

    def _widen(self, n_limbs: int) -> None:
        self.limbs += [np.zeros_like(self.limbs[0]) for _ in range(n_limbs - len(self.limbs))]


@dataclass(kw_only=True)
class NumberTally(Tally):
    """Weight, mean and spread of a numeric target in each leaf."""

    weight: Array
    mean: Array
    sse: Array

    def add(self, leaves: Array, target: Array, weight: Array | None) -> None:
        """Take in rows, each with its leaf and its number."""
        self.n_rows += len(leaves)
        n, weight = len(self.weight), np.ones(len(leaves)) if weight is None else weight
        total = np.bincount(leaves, weight, minlength=n)
        mean = _share(np.bincount(leaves, target * weight, minlength=n), total)
        self._join(total, mean, np.bincount(leaves, (target - mean[leaves]) ** 2 * weight, minlength=n))

    def merge(self, other: "NumberTally") -> None:
        """Add the other's sums to these."""
        super().merge(other)
        self._join(other.weight, other.mean, other.sse)

    def finish(self, tree: Tree, sample: str) -> Moments:
        """Return the moments of every node."""
        self._check(self.weight)
        weight, mean, sse = self.weight.copy(), self.mean.copy(), self.sse.copy()
        for v in range(tree.n_nodes - 1, 0, -1):  # children come after their parent
            u = tree.parent[v]
            weight[u], mean[u], sse[u] = _join(weight[u], mean[u], sse[u], weight[v], mean[v], sse[v])
        for v in range(1, tree.n_nodes):
            if weight[v] == 0:
                mean[v] = mean[tree.parent[v]]
        return Moments(tree, weight, mean, sse, sample, self.n_used, self.sketch)

    def _join(self, weight: Array, mean: Array, sse: Array) -> None:
        joined = _join(self.weight, self.mean, self.sse, weight, mean, sse)
        self.weight, self.mean, self.sse = joined


def empty_tally(tree: Tree, *, is_summable: bool = False) -> ClassTally | NumberTally:
    """Return the tally of no rows; `is_summable` if their weights will be, for they are all known (`summable`)."""
    assert tree.schema is not None
    n, n_unseen, classes = tree.n_nodes, np.zeros(len(tree.schema.columns), np.int64), tree.schema.classes
    if classes is None:
        return NumberTally(n_unseen=n_unseen, weight=np.zeros(n), mean=np.zeros(n), sse=np.zeros(n))
    sums = np.zeros((n, len(classes) + 1), np.float64 if is_summable else np.int64)
    return ClassTally(n_unseen=n_unseen, limbs=[sums])


def tally_of(
    tree: Tree, table: Table, weight: Array | None, at: Sequence[int] | None, *, is_summable: bool = False
) -> ClassTally | NumberTally:
    """Return the tally of the rows of a table; `at` says where in it the columns of the tree's row key are."""
    target, classes = table.required_target, table.schema.classes
    tally = empty_tally(tree, is_summable=is_summable)
    tally.add(route_table(tree, table, None, 0), target, weight)
    is_used, tally.n_used = used_rows(weight, table.n_rows)
    tally.n_unseen = np.array(table.n_unseen, np.int64)
    tally.n_new = 0 if classes is None else int(np.count_nonzero(target == len(classes)))
    tally.sketch = None if at is None else sketch_of(tree, table, is_used, at)
    return tally


def merged(tallies: Iterable[Any]) -> Any:
    """Return the sum of tallies, in the first of them."""
    parts = iter(tallies)
    total = next(parts)
    for part in parts:
        total.merge(part)
    return total


def format_new_labels(labels: Array | list[object]) -> tuple[str, ...]:
    """Return the first few of new classes as they print."""
    return tuple(sorted(format_names([label]) for label in labels)[:N_SHOWN])


def _check_exact(weight: Array) -> None:
    total = weight.sum(dtype=np.float64)
    if total >= MAX_EXACT_INT:
        raise DataError(
            f"the weights add up to {total:.6g}, 2**53 or more, where whole numbers stop being exact; divide "
            "them by a common factor"
        )


def _limbs(weight: Array) -> list[Array]:
    """Cut weights into whole numbers of 1, 2**-32, 2**-64 and 2**-96; whole weights need only the first."""
    parts: list[Array] = []
    rest = weight
    while not parts or (rest.any() and len(parts) < N_LIMBS):
        whole = np.floor(rest)
        parts.append(whole.astype(np.int64))
        rest = (rest - whole) * LIMB
    return parts


def _joined(limbs: list[Array]) -> Array:
    """Return sums as float64 on a grid so coarse that sums over nodes are exact, as `summable` does."""
    units = [limb.copy() for limb in limbs]
    for k in range(len(units) - 1, 0, -1):  # carry, so that equal sums have equal limbs
        units[k - 1] += units[k] >> 32
        units[k] &= int(LIMB) - 1
    total = sum(unit / LIMB**k for k, unit in reversed(list(enumerate(units))))
    grid = 2.0 ** (np.frexp(np.sum(total))[1] - 51)
    return np.asarray(np.rint(total / grid) * grid)


def _share(part: Array, total: Array) -> Array:
    return np.divide(part, total, out=np.zeros_like(total), where=total > 0)


def _join(n: Array, mean: Array, sse: Array, m: Array, other: Array, more: Array) -> tuple[Array, Array, Array]:
    """Join two sets of rows known by weight, mean and spread."""
    total = np.asarray(n + m)
    share = _share(m, total)
    gap = other - mean
    return total, mean + gap * share, sse + more + gap * gap * n * share
