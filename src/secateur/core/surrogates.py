"""Surrogates: other tests that decide where the value that a node tests is missing.

start          surrogates of node v: `start[v]:start[v + 1]`, the best first
feature        the column each of them tests
threshold      numeric: compared with this (NaN: nominal)
low            numeric: the child, 0 or 1, of values at or below the threshold
branch         nominal: the child of each category code, or 2 where it says nothing
               (slice `branch_start[s]:branch_start[s + 1]`)
agreement      share of the rows that both tests know which they send to the same child
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Array, Bools, Floats, Ints, Longs, write_protect
from .._utils.immutable import Immutable
from ..data.table import Schema
from ..errors import TreeError, UnsupportedError

if TYPE_CHECKING:
    from .tree import Tree

NO_BRANCH = 2
DTYPES: dict[str, type] = {
    "start": np.int64, "feature": np.int32, "threshold": np.float64, "low": np.int32, "branch_start": np.int64,
    "branch": np.uint16, "agreement": np.float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Surrogates(Immutable):
    """The surrogate tests of a binary tree, node by node; see the table at the head of the module.

    Examples
    --------
    >>> one = Surrogates([0, 1, 1, 1], [4], [2.5], [1], [0, 0], [], [0.9])
    >>> one.feature.tolist(), one.of(0), one.of(1)
    ([4], range(0, 1), range(1, 1))
    """

    start: Longs
    feature: Ints
    threshold: Floats
    low: Ints
    branch_start: Longs
    branch: npt.NDArray[np.uint16]
    agreement: Floats

    def __post_init__(self) -> None:
        self._freeze_arrays(**DTYPES)
        n = len(self.feature)
        for name in ("threshold", "low", "agreement"):
            if len(getattr(self, name)) != n:
                raise TreeError(f"surrogates.{name} has {len(getattr(self, name))} entries; {n} are needed")
        for name, last in (("start", n), ("branch_start", len(self.branch))):
            found = getattr(self, name)
            if len(found) == 0 or found[0] != 0 or (np.diff(found) < 0).any() or found[-1] != last:
                raise TreeError(f"surrogates.{name} must rise from 0 to {last}")
        if len(self.branch_start) != n + 1:
            raise TreeError(f"surrogates.branch_start has {len(self.branch_start)} entries; {n + 1} are needed")
        n_codes = np.diff(self.branch_start)
        _refuse((self.low < 0) | (self.low > 1), "low", self.low, "child 0 or 1 is needed")
        _refuse(self.branch > NO_BRANCH, "branch", self.branch, "child 0 or 1, or 2 for none, is needed")
        _refuse((n_codes == 0) & np.isnan(self.threshold), "threshold", self.threshold, "a number is needed")
        _refuse(~((self.agreement >= 0) & (self.agreement <= 1)), "agreement", self.agreement, "a share is needed")

    def of(self, node: int) -> range:
        """Return the numbers of the surrogates of a node."""
        return range(int(self.start[node]), int(self.start[node + 1]))

    def side(self, number: int, value: Any) -> int:
        """Return the child that a surrogate sends this value of its column to; 2 if it says nothing."""
        first, last = self.branch_start[number : number + 2]
        if first < last:
            return NO_BRANCH if value < 0 else int(self.branch[first + int(value)])
        if np.isnan(value):
            return NO_BRANCH
        return int(self.low[number] if value <= self.threshold[number] else 1 - self.low[number])

    def taken(self, nodes: Array, has_some: Bools) -> "Surrogates":
        """Return those of a tree of these nodes; only where `has_some` are they kept."""
        n = np.where(has_some, np.diff(self.start)[nodes], 0)
        start, which = _slices(self.start[nodes], n)
        branch_start, codes = _slices(self.branch_start[which], np.diff(self.branch_start)[which])
        kept = (self.feature[which], self.threshold[which], self.low[which])
        return Surrogates(start, *kept, branch_start, self.branch[codes], self.agreement[which])

    def behind(self, threshold: Floats, branch_start: Longs, branch: Array) -> tuple[Array, Array, Array, Array]:
        """Return thresholds, branches and low children of the nodes and then of the surrogates."""
        return (
            np.append(threshold, self.threshold),
            np.append(branch_start[:-1], self.branch_start + len(branch)),
            np.append(branch, self.branch),
            np.append(np.zeros(len(threshold), np.int32), self.low),
        )

    def check_fits(self, arity: Ints, schema: Schema | None) -> None:
        """Refuse surrogates of another tree, or of one that is not binary."""
        if len(self.start) != len(arity) + 1:
            raise TreeError(f"surrogates.start has {len(self.start)} entries; {len(arity) + 1} are needed")
        _refuse(arity > 2, "of a tree whose node", arity, "surrogates are for nodes of two children")
        _refuse((arity == 0) & (np.diff(self.start) > 0), "number of leaf", np.diff(self.start), "a leaf has none")
        n_columns = np.iinfo(np.int32).max if schema is None else len(schema.columns)
        _refuse((self.feature < 0) | (self.feature >= n_columns), "feature", self.feature, "a column is needed")
        if schema is not None:
            expected, n_codes = np.array([c.n_codes for c in schema.columns])[self.feature], np.diff(self.branch_start)
            _refuse(n_codes != expected, "number of branches", n_codes, "its column has another number of categories")


def check_no_surrogates(tree: "Tree", what: str, instead: str) -> None:
    """Refuse a tree with surrogates where they would not be followed."""
    if tree.surrogates is not None and len(tree.surrogates.feature):
        raise UnsupportedError(
            f"{tree} has surrogate tests for missing values, and {what} would not follow them: {instead}, or grow with "
            "surrogates=0"
        )


def _slices(first: Array, length: Array) -> tuple[Longs, Longs]:
    """Where the slices begin once they stand one after another, and the old places of all their entries."""
    start = np.append(0, np.cumsum(length)).astype(np.int64)
    return write_protect(start), np.arange(start[-1]) + np.repeat(first - start[:-1], length)


def _refuse(is_wrong: Bools, name: str, found: Array, needed: str) -> None:
    if is_wrong.any():
        at = int(is_wrong.argmax())
        raise TreeError(f"surrogates: {name} {at} is {found[at]}; {needed}")
