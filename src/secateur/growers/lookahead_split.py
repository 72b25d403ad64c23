"""Make the splits among which the search with lookahead chooses.

They are thresholds at quantiles, single categories, sets of categories, and the splits of trees that were grown
greedily on the same rows. The search takes long, so that the number of splits is limited.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._utils.arrays import Array, Floats
from ..core import Tree
from ..data.table import Table
from .presort import ColumnValues

MAX_CUBED_SPLITS_TIMES_ROWS = 1 << 31  # Limits the time per node to a few tenths of a second.
MIN_SPLITS, MAX_SPLITS = 8, 128  # Limits of the number of splits that are tried.
N_THRESHOLDS = 5  # Thresholds of a numeric column.
MAX_SINGLE_CATEGORIES = 10  # Categories of a column that are split from the rest one by one.
QUANTILE_SLACK = 1 - 1e-12  # Quantiles are lowered by this factor, so that rounding does not pass over a value.
MIN_WEIGHT = 1e-300  # Replaces the weight 0 of empty children in divisions.

NO_BRANCH = np.zeros(0, np.uint16)


class LookaheadSplit(NamedTuple):
    """A binary split of the rows of a table.

    Parameters
    ----------
    feature : int
        The column.
    goes_left : array of bool
        Whether each row goes to child 0.
    default : int
        The child of missing values and of categories that do not occur.
    below, above : int
        Numeric splits: codes of the values around the threshold in `ColumnCodes.values`.
    branch : array of uint16
        Nominal splits: child of each category.
    """

    feature: int
    goes_left: Array
    default: int
    below: int = -1
    above: int = -1
    branch: Array = NO_BRANCH


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """The different values of the numeric columns of a table; the code of a value is its position.

    The last value of every column is an additional infinity. A split of present from missing values has this value on
    both sides of its threshold.

    Parameters
    ----------
    table : Table
    """

    table: Table

    @cached_property
    def values(self) -> dict[int, Floats]:
        """The ascending values of each numeric column, and infinity."""
        return {
            j: np.append(np.unique(self.table.columns[j][~np.isnan(self.table.columns[j])].astype(np.float64)), np.inf)
            for j, column in enumerate(self.table.schema.columns)
            if column.kind == "numeric"
        }

    @property
    def column_values(self) -> dict[int, ColumnValues]:
        """The values of each numeric column as tree assembly reads them."""
        return {j: ColumnValues(values, values) for j, values in self.values.items()}

    def infinity_code(self, feature: int) -> int:
        """Return the code of the additional infinity of a column."""
        return len(self.values[feature]) - 1


def lookahead_splits(codes: ColumnCodes, weight: Array | None, trees: Iterable[Tree]) -> list[LookaheadSplit]:
    """Return the splits to choose from, ordered by column: the splits of the trees, and the purest other splits.

    Parameters
    ----------
    codes : ColumnCodes
        The codes of the table, which has classes.
    weight : array, optional
        Weight of each row; None if every row weighs 1.
    trees : iterable of Tree
        Trees grown on the table.
    """
    table = codes.table
    assert table.schema.classes is not None
    row_weight = np.ones(table.n_rows) if weight is None else weight
    of_class = np.zeros((table.n_rows, len(table.schema.classes)))
    of_class[np.arange(table.n_rows), table.required_target] = row_weight
    splits = [split for tree in trees for split in _tree_splits(tree, codes)]
    n_tree_splits = len(splits)
    for j, column in enumerate(table.schema.columns):
        if column.kind == "numeric":
            splits += _threshold_splits(j, codes, row_weight)
        else:
            splits += _category_splits(j, table.columns[j], column.n_codes, of_class)
    purity = _purities(splits, of_class)
    purity[:n_tree_splits] = np.inf
    return _purest_different(splits, purity, table.n_rows)


def _purities(splits: list[LookaheadSplit], of_class: Floats) -> Floats:
    """Return the purity of each split: the squared class weights of a child over its weight, summed over children."""
    left = np.array([of_class[split.goes_left].sum(axis=0) for split in splits]).reshape(-1, of_class.shape[1])
    children = left, of_class.sum(axis=0) - left
    purity: Floats = sum((child * child).sum(axis=1) / np.maximum(child.sum(axis=1), MIN_WEIGHT) for child in children)
    return purity


def _purest_different(splits: list[LookaheadSplit], purity: Floats, n_rows: int) -> list[LookaheadSplit]:
    """Return the purest splits of which no two divide the rows in the same way; `n_rows` limits their number."""
    n_affordable = np.cbrt(MAX_CUBED_SPLITS_TIMES_ROWS / n_rows)
    max_splits = int(np.clip(n_affordable, MIN_SPLITS, MAX_SPLITS))
    kept: dict[bytes, int] = {}
    for i in np.argsort(-purity, kind="stable").tolist():
        goes_left = splits[i].goes_left
        if goes_left.any() and not goes_left.all() and len(kept) < max_splits:
            division = np.packbits(goes_left ^ goes_left[0]).tobytes()  # The same bytes if the children are swapped.
            kept.setdefault(division, i)
    return [splits[i] for i in sorted(kept.values(), key=lambda i: (splits[i].feature, i))]


def _threshold_splits(feature: int, codes: ColumnCodes, weight: Array) -> list[LookaheadSplit]:
    """Return the splits of a numeric column at quantiles, and the split of present from missing values."""
    column, values = codes.table.columns[feature], codes.values[feature][:-1]
    is_missing = np.isnan(column)
    is_present = ~is_missing
    splits = []
    if is_missing.any():
        infinity = codes.infinity_code(feature)
        splits.append(LookaheadSplit(feature, is_present, 1, infinity, infinity))
    code = np.searchsorted(values, column[is_present].astype(np.float64))
    for i in _quantile_positions(np.bincount(code, weight[is_present], minlength=len(values))).tolist():
        is_below = column <= values[i]
        default = int(2 * weight[is_below].sum() < weight[is_present].sum())
        splits.append(LookaheadSplit(feature, is_below | (is_missing & (default == 0)), default, i, i + 1))
    return splits


def _category_splits(feature: int, column: Array, n_codes: int, of_class: Floats) -> list[LookaheadSplit]:
    """Return splits of a nominal column: single frequent categories, and sets with a low share of a class."""
    class_weights = np.array([np.bincount(column, weights, minlength=n_codes) for weights in of_class.T])
    total = class_weights.sum(axis=0)
    present = np.flatnonzero(total)
    by_weight = np.argsort(-total[present], kind="stable")
    sets = [present[i : i + 1] for i in by_weight[:MAX_SINGLE_CATEGORIES]]
    for weights in class_weights if len(class_weights) > 2 else class_weights[:1]:
        by_share = present[np.argsort(weights[present] / total[present], kind="stable")]
        sets += [by_share[: i + 1] for i in _quantile_positions(total[by_share])]
    splits = []
    for categories in sets:
        is_left = np.isin(np.arange(n_codes), categories)
        default = int(2 * total[is_left].sum() < total.sum())
        branch = np.where(total > 0, ~is_left, default).astype(np.uint16)
        splits.append(LookaheadSplit(feature, branch[column] == 0, default, branch=branch))
    return splits


def _quantile_positions(weight: Array) -> Array:
    """Return the positions after which to cut a list of weights, so that the pieces weigh about the same.

    A short list is cut after every position but the last.
    """
    if len(weight) <= N_THRESHOLDS + 1:
        return np.arange(len(weight) - 1)
    reached = np.cumsum(weight)
    shares = np.arange(1, N_THRESHOLDS + 1) / (N_THRESHOLDS + 1) * QUANTILE_SLACK
    positions: Array = np.unique(np.searchsorted(reached, shares * reached[-1]))
    return positions[positions < len(weight) - 1]


def _tree_splits(tree: Tree, codes: ColumnCodes) -> list[LookaheadSplit]:
    """Return the splits of a tree that was grown on the table of `codes`."""
    splits = []
    for v in tree.internal:
        feature, default = int(tree.feature[v]), int(tree.default[v])
        column, branch = codes.table.columns[feature], tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
        if len(branch):
            splits.append(LookaheadSplit(feature, branch[column] == 0, default, branch=branch))
            continue
        is_below = column <= tree.threshold[v]
        above = int(np.searchsorted(codes.values[feature][:-1], tree.threshold[v], side="right"))
        below = above - 1
        if above == codes.infinity_code(feature):  # All present values are below the threshold.
            below = above
        splits.append(LookaheadSplit(feature, is_below | (np.isnan(column) & (default == 0)), default, below, above))
    return splits
