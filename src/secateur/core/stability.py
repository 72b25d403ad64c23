"""Stability: how much a tree changes if it is grown on other rows of the same kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._utils.arrays import Floats, Immutable, Longs

MAX_SHOWN_OTHERS = 3


@dataclass(frozen=True)
class SplitStability:
    """How often one split near the top of a tree returns in trees that are grown on subsamples.

    Parameters
    ----------
    node, depth : int
        Number of the split in the grown tree, and its level; the root has level 0.
    text, column : str
        The test in words, and the column that it compares.
    n_rows : int
        Number of rows that reach the split.
    column_share : float
        Share of the trees that compare the column at this place, and at all places above it those of the model.
    split_share : float
        Share of the trees that also divide the rows as the model does, here and above, but for few rows.
    anywhere_share : float
        Share of the trees that compare the column at any place of these levels.
    others : dict of str to float
        Columns that trees compare at this place instead, and the share of the trees; the most frequent first.
    """

    node: int
    depth: int
    text: str
    column: str
    n_rows: int
    column_share: float
    split_share: float
    anywhere_share: float
    others: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Immutable):
    """What differs between trees that are grown, pruned and chosen in the same way on subsamples of the same rows.

    Parameters
    ----------
    share : float
        Share of the rows in each subsample.
    tolerance : float
        Share of the rows of a split that another threshold may send another way.
    agreement : float
        For classes: the mean share of rows for which two of the trees predict the same. For numbers: 1 less the mean
        squared difference of two trees as a share of that of unrelated predictions of the same distribution.
    agreement_with_model : float
        The same for the model and each tree.
    row_agreement : array
        For classes: for each row, the share of the pairs of trees that agree on it. Empty for numbers.
    n_leaves, depth : arrays of int
        Leaves and depth of each tree.
    error : array
        For each tree, the share of wrong predictions, or the mean squared error, on the rows that it was not grown on.
    model_n_leaves : int
        Leaves of the model.
    splits : tuple of SplitStability
        The splits near the top of the model, in pre-order.
    column_shares : dict of str to float
        For each column, the share of the trees that compare it anywhere; the most frequent first.

    Examples
    --------
    >>> import numpy as np
    >>> leaves, depth, error = np.array([2, 4]), np.array([1, 2]), np.array([0.1, 0.2])
    >>> print(Stability(0.5, 0.05, 0.9, 0.95, np.ones(0), leaves, depth, error, 3, (), {}))
    Two of 2 trees, each grown on 50 % of the rows, agree on 90 % of the rows; with the model they agree on 95 %.
    They have 2 to 4 leaves (median 3; the model has 3). On the other rows, their error is 15 % on average.
    """

    share: float
    tolerance: float
    agreement: float
    agreement_with_model: float
    row_agreement: Floats
    n_leaves: Longs
    depth: Longs
    error: Floats
    model_n_leaves: int
    splits: tuple[SplitStability, ...]
    column_shares: Mapping[str, float]
    is_classifier: bool = True

    def __post_init__(self) -> None:
        self._freeze_arrays(row_agreement=None, n_leaves=None, depth=None, error=None)

    @property
    def n(self) -> int:
        """Number of trees."""
        return len(self.n_leaves)

    @property
    def unstable_splits(self) -> tuple[SplitStability, ...]:
        """The splits whose column returns in less than half of the trees."""
        return tuple(split for split in self.splits if split.column_share < 0.5)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts but the agreement of single rows as plain values."""
        return {
            "trees": self.n,
            "share": self.share,
            "tolerance": self.tolerance,
            "agreement": self.agreement,
            "agreement_with_model": self.agreement_with_model,
            "leaves": self.n_leaves.tolist(),
            "depth": self.depth.tolist(),
            "error": self.error.tolist(),
            "model_leaves": self.model_n_leaves,
            "splits": [{**vars(split), "others": dict(split.others)} for split in self.splits],
            "column_shares": dict(self.column_shares),
        }

    @property
    def headline(self) -> str:
        """The agreement, the sizes and the errors in two sentences."""
        first = f"Two of {self.n:,} trees, each grown on {100 * self.share:.4g} % of the rows, "
        mean = float(self.error.mean())
        if self.is_classifier:
            first += (
                f"agree on {100 * self.agreement:.4g} % of the rows; with the model they agree on "
                f"{100 * self.agreement_with_model:.4g} %."
            )
            error = f"{100 * mean:.4g} %"
        else:
            first += f"agree to {self.agreement:.3g} (1: the same predictions); with the model to "
            first += f"{self.agreement_with_model:.3g}."
            error = f"{mean:.4g} (squared)"
        leaves, median = self.n_leaves, f"median {np.median(self.n_leaves):,g}"
        return (
            f"{first}\nThey have {leaves.min():,} to {leaves.max():,} leaves ({median}; the model has "
            f"{self.model_n_leaves:,}). On the other rows, their error is {error} on average."
        )

    def __str__(self) -> str:
        lines = [self.headline]
        for split in self.splits:
            others = list(split.others.items())[:MAX_SHOWN_OTHERS]
            instead = f"; instead: {', '.join(f'{name} {share:.0%}' for name, share in others)}" if others else ""
            lines.append(
                f"{'  ' * split.depth}- {split.text}: the column returns in {split.column_share:.0%} of the trees, the "
                f"split in {split.split_share:.0%}{instead}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Stability({self.n:,} trees, agreement {self.agreement:.3g})"
