"""What the growing kernels pass to one another, and the layout of their tables.

Nodes are lines of a table of whole numbers, followed by one bit per slot that still
varies and may be tested, and one per group of columns that holds all tested above; and of a
table of reals, the class counts followed by SCORE and DROP.

    START END    slice of the lists            FIRST ARITY   children (consecutive lines)
    DEPTH        tests above                   SLOT          column: lists first, then codes
    KIND         NUMERIC, SUBSET..                  BELOW ABOVE   rows (lists) or codes around the
    DEFAULT      child of missing values                     threshold; ABOVE -1: present
    BRANCH       where its categories' children begin        against missing
    BIRTH        step at which it was split (-1: a leaf)
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

START, END, DEPTH, SLOT, KIND, FIRST_CHILD, N_CHILDREN, BELOW, ABOVE, DEFAULT_CHILD, BRANCH_START, SPLIT_STEP = range(
    12
)
N_FIELDS = 12
OPEN = -2  # BIRTH of a node that is left for another part
NONE, NUMERIC, SUBSET, MULTIWAY = range(4)  # KIND
UNSEEN_CATEGORY = 0xFFFF  # the child of a category that is not in the node: decided later


class PresortedLists(NamedTuple):
    """Presorted columns; partitioned in place."""

    entries: npt.NDArray[np.uint32]  # one line per listed column
    feature: npt.NDArray[np.int32]  # of each slot, listed or coded
    shift: int


class PackedCodes(NamedTuple):
    """Columns of codes. None in its place: there are none."""

    codes: npt.NDArray[np.uint64]  # columns of more than two values: a line of rows per so many as fit in a word
    bits: npt.NDArray[np.uint8]  # row after row, a byte per two-valued column, then padding; their slots come last
    words: npt.NDArray[np.uint64]  # in its place, a bit per two-valued column: a line of rows per 64 columns
    width: int  # two-valued columns with padding
    n_codes: npt.NDArray[np.int64]
    is_nominal: npt.NDArray[np.bool_]
    rows: npt.NDArray[np.uint32]  # entries, class after class; partitioned in place, and words and codes with them

    @property
    def n_coded(self) -> int:
        """Columns of more than two values."""
        return int(np.count_nonzero(self.n_codes > 2)) if len(self.codes) else 0


def code_bits(most: int) -> int:
    """Bits in which so many codes are kept."""
    return 8 if most <= 1 << 8 else 16 if most <= 1 << 16 else 32


class RowWeights(NamedTuple):
    """Row weights and missing values. None in its place: every row weighs 1, none is missing."""

    weight: npt.NDArray[np.float64] | None  # None: 1
    of_class: npt.NDArray[np.float64] | None  # where all rows of a class weigh the same
    by_weight: bool  # limits count weights, not rows
    missing: npt.NDArray[np.bool_]  # a line per list that misses values
    line: npt.NDArray[np.int64]  # line of `missing` of each list; -1: nothing missing


class GrowLimits(NamedTuple):
    """When to stop, and which tests to take."""

    max_depth: int
    max_splits: int
    least_leaf: float
    least_split: float
    allow_zero: bool
    multiway: bool
    best_first: bool
    is_ratio: bool = False  # gain ratio instead of gain
    penalise_numeric: bool = False
    above: int = 0  # tests above the root, where a part of a tree is grown
    groups: tuple[tuple[int, ...], ...] = ()  # columns that may be tested on one path; (): all


class SurrogateSearch(NamedTuple):
    """What the search for tests that stand in needs. None in its place: nobody asks for them."""

    most: int  # of a node
    values: npt.NDArray[np.float64]  # of the listed columns, a line each
    n_known: npt.NDArray[np.int64]  # of each coded column: values that are no gap


def slots_of_groups(feature: npt.NDArray[np.int32], groups: tuple[tuple[int, ...], ...]) -> npt.NDArray[np.uint64]:
    """A line of words for each group of columns, one bit per slot."""
    bits = np.zeros((len(groups), 64 * max(1, -(-len(feature) // 64))), np.bool_)
    for line, group in zip(bits, groups, strict=True):
        line[: len(feature)] = np.isin(feature, group)
    return np.packbits(bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


class Split(NamedTuple):
    """A test of a node; slot -1: none. `below` of a list is the position of the cut."""

    score: float
    slot: int
    kind: int
    below: int
    above: int
    default: int
