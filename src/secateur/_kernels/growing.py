"""Define what Python passes to the growing kernels, and the fields of the tables that they return.

While a tree grows, it consists of two tables with one line per node. The table of whole numbers has the fields START to
SPLIT_STEP (see `context.pxd`), then one bit per slot, then one bit per group of columns. With monotone constraints, the
limits of the estimate of the node follow, as the bits of two doubles. The table of reals has the class counts, then the
score of the split, and then the drop: how much the split lowers the criterion, times the weight of the node. README.md
draws a line of each table.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .context import (
    ABOVE,
    BELOW,
    BRANCH_START,
    DEFAULT_CHILD,
    DEPTH,
    END,
    FIRST_CHILD,
    KIND,
    MULTIWAY,
    N_CHILDREN,
    N_FIELDS,
    NO_SPLIT,
    NUMERIC,
    OPEN,
    SLOT,
    SPLIT_STEP,
    START,
    SUBSET,
    UNSEEN_CATEGORY,
    bits_per_code,
)

__all__ = [
    "ABOVE", "BELOW", "BRANCH_START", "DEFAULT_CHILD", "DEPTH", "END", "FIRST_CHILD", "KIND", "MULTIWAY", "NO_SPLIT",
    "NUMERIC", "N_CHILDREN", "N_FIELDS", "N_LIMITS", "OPEN", "SLOT", "SPLIT_STEP", "START", "SUBSET",
    "UNSEEN_CATEGORY", "GrowLimits", "PackedCodes", "PresortedLists", "RowWeights", "Split", "SurrogateSearch",
    "bits_per_code",
]  # fmt: skip

N_LIMITS = 2  # last fields of a node's line with monotone constraints: the lower and the upper limit of its estimate


class PresortedLists(NamedTuple):
    """Numeric columns as lists of entries in order of value. Growing partitions the lists in place."""

    entries: npt.NDArray[np.uint32]  # one line per list; uint64 if rows and labels do not fit into 32 bits
    feature_of_slot: npt.NDArray[np.int32]  # column of every slot: lists, then codes, then two-valued columns
    shift: int  # an entry is row << shift | label << 1 | (value differs from the entry before)


class PackedCodes(NamedTuple):
    """Columns of codes. Functions take None if there are none. Growing partitions words and entries in place."""

    code_words: npt.NDArray[np.uint64]  # columns of more than two codes: a line of rows for each 64 / bits_per_code
    # Two-valued columns are stored either as bytes or as words; the other array is empty.
    bit_bytes: npt.NDArray[np.uint8]  # a line of bytes for each row, padded
    bit_words: npt.NDArray[np.uint64]  # a line of rows for each 64 columns
    bit_line_bytes: int  # length of a line of `bit_bytes`: the number of two-valued columns, padded
    n_codes: npt.NDArray[np.int64]
    is_nominal: npt.NDArray[np.bool_]
    entries: npt.NDArray[np.uint32]  # row and label of each word, class after class

    @property
    def n_code_slots(self) -> int:
        """Number of columns of more than two codes."""
        return int(np.count_nonzero(self.n_codes > 2)) if len(self.code_words) else 0


class RowWeights(NamedTuple):
    """Row weights and missing values. Functions take None if every row weighs 1 and no value is missing."""

    row_weight: npt.NDArray[np.float64] | None  # None: every row weighs 1
    weight_of_class: npt.NDArray[np.float64] | None  # None: rows of one class have different weights
    has_weight_limits: bool  # the limits count weight instead of rows
    is_missing: npt.NDArray[np.bool_]  # one line for each list with missing values
    missing_line: npt.NDArray[np.int64]  # line of `is_missing` of each list; -1: nothing is missing


class GrowLimits(NamedTuple):
    """When to stop, and which splits to consider."""

    max_depth: int
    max_splits: int
    min_leaf_size: float
    min_split_size: float
    allows_zero_gain: bool
    is_multiway: bool
    is_best_first: bool
    is_gain_ratio: bool = False
    is_one_vs_rest: bool = False  # nominal columns: one category is split from the others
    penalises_numeric: bool = False  # gain ratio: subtract log2(values - 1) / rows from the gain of thresholds
    root_depth: int = 0  # depth, in the whole tree, of the node at which growth starts
    groups: tuple[tuple[int, ...], ...] = ()  # groups of columns that may be tested on one path; (): no restriction
    signs: tuple[int, ...] = ()  # monotone constraint of each column: 1, -1 or 0; (): there are none
    root_limits: tuple[float, float] = (-np.inf, np.inf)  # of the estimate of the node at which growth starts


class SurrogateSearch(NamedTuple):
    """Data for finding surrogate splits. Functions take None if none are searched."""

    max_surrogates: int  # per node
    list_values: npt.NDArray[np.float64]  # one line of rows per list
    n_known_codes: npt.NDArray[np.int64]  # number of codes of each column without the code for missing values


class Split(NamedTuple):
    """The best split of a node; slot -1: none."""

    score: float
    slot: int
    kind: int
    below: int  # list: number of entries below the threshold; codes: the last code below
    above: int  # codes: the first code above; -1: only missing values are above
    default_child: int
