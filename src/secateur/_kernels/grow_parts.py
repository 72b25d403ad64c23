"""What the growing kernels pass to one another, and the layout of their tables.

Nodes are lines of a table of whole numbers, followed by one bit per slot that still
varies; and of a table of reals, the class counts followed by SCORE and DROP.

    START END    slice of the lists            FIRST ARITY   children (consecutive lines)
    DEPTH        tests above                   SLOT          column: lists first, then codes
    KIND         see coded.py                  BELOW ABOVE   rows (lists) or codes around the
    DEFAULT      child of missing values                     threshold; ABOVE -1: present
    BRANCH       where its categories' children begin        against missing
    BIRTH        step at which it was split (-1: a leaf)
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import coded, scan

START, END, DEPTH, SLOT, KIND, FIRST, ARITY, BELOW, ABOVE, DEFAULT, BRANCH, BIRTH = range(12)
N_FIELDS = 12
TIE = 1e-12  # of the node's impurity: scores nearer than this are tied


class Lists(NamedTuple):
    """Presorted columns; partitioned in place."""

    entries: npt.NDArray[np.uint32]  # one line per listed column
    feature: npt.NDArray[np.int32]  # of each slot, listed or coded
    shift: int


class Codes(NamedTuple):
    """Columns of codes. None in its place: there are none."""

    codes: npt.NDArray[np.uint16]  # one line per coded column of more than two values
    bits: npt.NDArray[np.uint8]  # row after row, a byte per two-valued column, then padding; their slots come last
    width: int  # bytes a row
    n_codes: npt.NDArray[np.int64]
    is_nominal: npt.NDArray[np.bool_]
    rows: npt.NDArray[np.uint32]  # entries in any order; partitioned in place


class Weights(NamedTuple):
    """Row weights and missing values. None in its place: every row weighs 1, none is missing."""

    weight: npt.NDArray[np.float64]
    size: npt.NDArray[np.float64]  # what the limits count
    missing: npt.NDArray[np.bool_]  # per list and row; one line for lists without
    line: npt.NDArray[np.int64]  # line of `missing` of each list; -1: nothing missing
    is_weighted: bool


class Ratio(NamedTuple):
    """Gain ratio instead of gain. None in its place: gain."""

    is_on: bool
    n_large: float  # examples that two branches must have
    penalise_numeric: bool


class Limits(NamedTuple):
    """When to stop."""

    max_depth: int
    max_splits: int
    least_leaf: float
    least_split: float
    allow_zero: bool
    multiway: bool
    best_first: bool


class Scratch(NamedTuple):
    """Space of one thread."""

    work: scan.Work
    histogram: coded.Histogram
    entries: npt.NDArray[np.uint32]
    has_ties: npt.NDArray[np.bool_]  # per list, from the last evaluation
    child_counts: npt.NDArray[np.float64]
    child_size: npt.NDArray[np.float64]
    child_rows: npt.NDArray[np.int64]
    child_place: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]  # two-valued columns: see bits.py
    own: npt.NDArray[np.float64]
    tally: npt.NDArray[np.uint8]
    ones: npt.NDArray[np.float64]
    sides: npt.NDArray[np.float64]
    spare: npt.NDArray[np.float64]
    gains: npt.NDArray[np.float64]  # gain ratio: gain and ratio of each slot's best test
    tests: npt.NDArray[np.int64]  # and the test


class Test(NamedTuple):
    """A test of a node; slot -1: none. `below` of a list is the position of the cut."""

    score: float
    slot: int
    kind: int
    below: int
    above: int
    default: int
