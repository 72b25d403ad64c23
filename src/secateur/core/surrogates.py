"""Surrogates: splits on other columns, which decide where the value that a split compares is missing.

All surrogates of a tree are stored in parallel arrays, node by node.

    start          surrogates of node v: `start[v]:start[v + 1]`, the best first
    feature        number of the column that the surrogate compares
    threshold      numeric column: `x <= threshold` goes to child `low` (NaN: nominal column)
    low            numeric column: child number, 0 or 1, of values at or below the threshold
    branch         nominal column: child number of each category code, or 2 (`NO_BRANCH`) where the surrogate does not
                   decide; in the slice `branch_start[s]:branch_start[s + 1]`
    agreement      share of the rows known to both splits that both send to the same child
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Array, Bools, Floats, Immutable, Ints, Longs, write_protect
from ..data.table import Schema
from ..errors import TreeError, UnsupportedError

if TYPE_CHECKING:
    from .tree import Tree

NO_BRANCH = 2  # in place of a child number: the surrogate does not decide, and the next one is tried
DTYPES: dict[str, type] = {
    "start": np.int64, "feature": np.int32, "threshold": np.float64, "low": np.int32, "branch_start": np.int64,
    "branch": np.uint16, "agreement": np.float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Surrogates(Immutable):
    """The surrogates of a binary tree, node by node; see the table at the head of the module.

    Examples
    --------
    >>> surrogates = Surrogates([0, 1, 1, 1], [4], [2.5], [1], [0, 0], [], [0.9])
    >>> surrogates.feature.tolist(), surrogates.of(0), surrogates.of(1)
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
            offsets = getattr(self, name)
            if len(offsets) == 0 or offsets[0] != 0 or (np.diff(offsets) < 0).any() or offsets[-1] != last:
                raise TreeError(f"surrogates.{name} must rise from 0 to {last}")
        if len(self.branch_start) != n + 1:
            raise TreeError(f"surrogates.branch_start has {len(self.branch_start)} entries; {n + 1} are needed")
        n_codes = np.diff(self.branch_start)
        is_share = (self.agreement >= 0) & (self.agreement <= 1)
        _refuse((self.low < 0) | (self.low > 1), "low", self.low, "child 0 or 1 is needed")
        _refuse(self.branch > NO_BRANCH, "branch", self.branch, "child 0 or 1, or 2 for none, is needed")
        _refuse((n_codes == 0) & np.isnan(self.threshold), "threshold", self.threshold, "a number is needed")
        _refuse(~is_share, "agreement", self.agreement, "a share is needed")

    def of(self, node: int) -> range:
        """Return the numbers of the surrogates of a node."""
        return range(int(self.start[node]), int(self.start[node + 1]))

    def child_for(self, number: int, value: Any) -> int:
        """Return the child to which a surrogate sends a value of its column; 2 (`NO_BRANCH`) if it does not decide."""
        first, last = self.branch_start[number : number + 2]
        if first < last:
            return NO_BRANCH if value < 0 else int(self.branch[first + int(value)])
        if np.isnan(value):
            return NO_BRANCH
        return int(self.low[number] if value <= self.threshold[number] else 1 - self.low[number])

    def select_nodes(self, nodes: Array, keeps_split: Bools) -> "Surrogates":
        """Return the surrogates of a smaller tree.

        Parameters
        ----------
        nodes : array of int
            Number in this tree of each node of the smaller tree.
        keeps_split : array of bool
            Whether each node of the smaller tree is still internal; the surrogates of the others are dropped.
        """
        n_surrogates = np.where(keeps_split, np.diff(self.start)[nodes], 0)
        start, kept = _select_slices(self.start[nodes], n_surrogates)
        n_codes = np.diff(self.branch_start)[kept]
        branch_start, codes = _select_slices(self.branch_start[kept], n_codes)
        return Surrogates(
            start,
            self.feature[kept],
            self.threshold[kept],
            self.low[kept],
            branch_start,
            self.branch[codes],
            self.agreement[kept],
        )

    def appended_to(self, threshold: Floats, branch_start: Longs, branch: Array) -> tuple[Array, Array, Array, Array]:
        """Return (thresholds, starts of branches, branches, low children) of the nodes, then of the surrogates.

        Parameters
        ----------
        threshold, branch_start, branch : arrays
            The splits of the nodes, as in a `Tree`. Values at or below a threshold go to child 0 of a node.
        """
        return (
            np.append(threshold, self.threshold),
            np.append(branch_start[:-1], self.branch_start + len(branch)),
            np.append(branch, self.branch),
            np.append(np.zeros(len(threshold), np.int32), self.low),
        )

    def check_fits(self, arity: Ints, schema: Schema | None) -> None:
        """Raise `TreeError` unless the surrogates fit a binary tree with these numbers of children and this schema."""
        if len(self.start) != len(arity) + 1:
            raise TreeError(f"surrogates.start has {len(self.start)} entries; {len(arity) + 1} are needed")
        _refuse(arity > 2, "number of children of node", arity, "surrogates are for nodes of two children")
        n_surrogates = np.diff(self.start)
        _refuse((arity == 0) & (n_surrogates > 0), "number of surrogates of leaf", n_surrogates, "a leaf has none")
        n_columns = np.iinfo(np.int32).max if schema is None else len(schema.columns)
        _refuse((self.feature < 0) | (self.feature >= n_columns), "feature", self.feature, "a column is needed")
        if schema is not None:
            codes_of_column = np.array([column.n_codes for column in schema.columns])
            n_codes = np.diff(self.branch_start)
            is_other = n_codes != codes_of_column[self.feature]
            _refuse(is_other, "number of branches of surrogate", n_codes, "its column has another number of categories")


def check_no_surrogates(tree: "Tree", what: str, instead: str) -> None:
    """Raise `UnsupportedError` if a tree has surrogates, because `what` would ignore them.

    Parameters
    ----------
    tree : Tree
    what : str
        What does not support surrogates; the subject of the message.
    instead : str
        What the user can do instead; part of the message.
    """
    if tree.surrogates is not None and len(tree.surrogates.feature):
        raise UnsupportedError(
            f"{tree} has surrogate tests for missing values, and {what} would not follow them: {instead}, or grow with "
            "surrogates=0"
        )


def _select_slices(first: Array, length: Array) -> tuple[Longs, Longs]:
    """Return where each slice starts after the slices are put one after another, and the old index of every entry."""
    start = np.append(0, np.cumsum(length)).astype(np.int64)
    return write_protect(start), np.arange(start[-1]) + np.repeat(first - start[:-1], length)


def _refuse(is_invalid: Bools, name: str, values: Array, expected: str) -> None:
    """Raise `TreeError` about the first invalid entry of an array, if there is one."""
    if is_invalid.any():
        index = int(is_invalid.argmax())
        raise TreeError(f"surrogates: {name} {index} is {values[index]}; {expected}")
