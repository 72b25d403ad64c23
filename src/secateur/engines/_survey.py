"""The first passes over a source: what its columns are, its classes, and the bins of its numbers.

A survey finds kinds, categories, classes and gaps. Bins of about equally many rows then need
order statistics; they are found exactly, in a few more passes and little memory, by counting
the leading bits of the values (`_kernels/ranks.py`), or approximately in the survey itself by
the mergeable KLL sketch of the library datasketches. The exact ones are those of
`secateur.grow(..., max_bins=)`, and depend neither on the order of rows nor on partitions.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._kernels import ranks
from ..data.arrays import Array, Level, Rows
from ..data.columns import Coded, Family, Numbers, factorised, family, floats_of
from ..data.remarks import EXACT_WHOLE, listed
from ..data.sources import Batch, batch_of
from ..data.target import check_target
from ..errors import DataError, SchemaError, UnsupportedError

SKETCH_SIZE = 4000  # of KLL: ranks to about 0.05 %, far below the width of a bin


def opened(data: Rows, columns: tuple[str, ...]) -> Batch:
    """Return a batch; refuse one that has rows but lacks some of these columns."""
    batch = batch_of(data)
    if batch.n_rows:
        batch.check_has(columns)
    return batch


def as_floats(given: Numbers) -> Array:
    """Return numbers as float64, write-protected: one kind of array, so that kernels are compiled once."""
    values = np.ascontiguousarray(floats_of(given), np.float64).view()
    values.flags.writeable = False
    return values


@dataclass
class Surveyed:
    """What is known of one column so far."""

    name: str
    max_bins: int
    family: Family = "missing"
    has_missing: bool = False
    n_missing: int = 0
    n_infinite: int = 0
    highest: float = -np.inf
    is_large: bool = False  # holds whole numbers beyond 2**53
    n_different: int = 0
    top: Array | None = None
    table: Array | None = None
    sketch: Any = None
    levels: set[Level] = field(default_factory=set)
    declared: tuple[Level, ...] | None = None
    is_declared: bool = True

    def add_numbers(self, given: Numbers, has_sketch: bool) -> None:
        """Survey a batch of numbers."""
        values = as_floats(given)
        if np.isnan(values).all():
            self.n_missing += len(values)
            self.has_missing = True
            return
        self._is("number")
        if given.values.dtype.kind in "iu" and given.values.dtype.itemsize == 8:
            self.is_large |= bool(given.values.max() > EXACT_WHOLE or given.values.min() < -EXACT_WHOLE)
        if self.top is None:
            self._make()
        assert self.top is not None
        assert self.table is not None
        self.n_different, n_missing, n_infinite = ranks.survey(
            values, self.top, self.table, self.max_bins, self.n_different
        )
        self.n_missing += n_missing
        self.n_infinite += n_infinite
        self.has_missing |= n_missing > 0
        self.highest = max(self.highest, float(np.fmax.reduce(values)))
        if has_sketch:
            self.sketch = self.sketch or _new_sketch()
            self.sketch.update(values[~np.isnan(values)])  # a copy: the sketch takes no write-protected array

    def add_coded(self, given: Coded) -> None:
        """Survey a batch of categories."""
        occurs = np.unique(given.codes)
        self.has_missing |= bool(len(occurs) and occurs[0] < 0)
        found = {given.levels[code] for code in occurs[occurs >= 0]}
        if found:
            self._is(family(given.levels) or "missing")
        self.levels |= found
        self._declare(given.levels if given.is_declared else None, bool(found))

    def merge(self, other: "Surveyed") -> None:
        """Add what the other saw."""
        if other.family != "missing":
            self._is(other.family)
        self.has_missing |= other.has_missing
        self.n_missing += other.n_missing
        self.n_infinite += other.n_infinite
        self.highest = max(self.highest, other.highest)
        self.is_large |= other.is_large
        self._declare(other.declared if other.is_declared else None, bool(other.levels))
        self.levels |= other.levels
        if other.top is not None:
            if self.top is None:
                self._make()
            assert self.top is not None
            self.top += other.top
            if other.n_different > self.max_bins:
                self.n_different = other.n_different
            assert self.table is not None
            spare = np.zeros_like(self.top)
            self.n_different = ranks.survey(other.values(), spare, self.table, self.max_bins, self.n_different)[0]
        if other.sketch is not None:
            self.sketch = self.sketch or _new_sketch()
            self.sketch.merge(other.sketch)

    def values(self) -> Array:
        """Return the different numbers seen so far, if they are few enough."""
        assert self.table is not None
        values: Array = ranks.values_of(np.sort(self.table[self.table != ~np.uint64(0)]))
        values.flags.writeable = False
        return values

    def categories(self) -> tuple[Level, ...]:
        """Return the categories: as declared by every partition alike, else those that occur, sorted."""
        if self.is_declared and self.declared is not None:
            return self.declared
        return tuple(sorted(self.levels))

    def _is(self, found: Family) -> None:
        if self.family not in ("missing", found):
            raise SchemaError(
                f"column {self.name!r} holds {found} values in one partition and {self.family} values in another; "
                "convert it to one kind"
            )
        self.family = found

    def _declare(self, levels: tuple[Level, ...] | None, has_values: bool) -> None:
        if levels is None:
            self.is_declared = self.is_declared and not has_values
        elif self.declared is None:
            self.declared = levels
        elif self.declared != levels:
            self.is_declared = False

    def _make(self) -> None:
        self.top = np.zeros(1 << ranks.TOP_BITS, np.int64)
        self.table = np.full(1 << (4 * self.max_bins).bit_length(), ~np.uint64(0))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["sketch"] = None if self.sketch is None else self.sketch.serialize()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["sketch"] is not None:
            from datasketches import kll_doubles_sketch

            state["sketch"] = kll_doubles_sketch.deserialize(state["sketch"])
        self.__dict__.update(state)

    def __deepcopy__(self, memo: object) -> "Surveyed":
        made = Surveyed(self.name, self.max_bins)
        made.merge(self)
        return made


@dataclass
class Survey:
    """What is known of a source so far."""

    columns: list[Surveyed]
    labels: dict[Level, int] = field(default_factory=dict)
    n_rows: int = 0

    def merge(self, other: "Survey") -> None:
        """Add what the other saw."""
        self.n_rows += other.n_rows
        for own, more in zip(self.columns, other.columns, strict=True):
            own.merge(more)
        for label, n in other.labels.items():
            self.labels[label] = self.labels.get(label, 0) + n


@dataclass(frozen=True)
class SurveyTask:
    """The first pass: kinds, categories, classes, gaps, and the first bits of all numbers."""

    names: tuple[str, ...]
    target: str
    nominal: frozenset[str]
    max_bins: int
    has_sketch: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return (*self.names, self.target)

    def start(self) -> Survey:
        """Return the survey of no rows."""
        return Survey([Surveyed(name, self.max_bins) for name in self.names])

    def add(self, survey: Survey, batch: Rows, first: int) -> int:
        """Survey one batch; its rows are counted from `first` in messages."""
        rows = opened(batch, self.columns)
        if rows.n_rows == 0:
            return 0
        for column in survey.columns:
            given = rows.read(column.name)
            if isinstance(given, Numbers) and column.name in self.nominal:
                given = factorised(given)
            if isinstance(given, Numbers):
                column.add_numbers(given, self.has_sketch)
            else:
                column.add_coded(given)
        for label, n in _labels(rows.read(self.target), self.target, first):
            survey.labels[label] = survey.labels.get(label, 0) + n
        survey.n_rows += rows.n_rows
        return rows.n_rows


def _labels(given: Numbers | Coded, name: str, first: int) -> list[tuple[Level, int]]:
    check_target(given, f"target {name!r}", first)
    if isinstance(given, Coded):
        n = np.bincount(given.codes, minlength=len(given.levels))
        return [(given.levels[code], int(n[code])) for code in np.flatnonzero(n)]
    values, counts = np.unique(given.values, return_counts=True)
    if len(values) > 1 << 15:
        raise DataError(
            f"target {name!r} has {len(values):,} values in one batch, from {listed(values[:3].tolist())} on; "
            "classes are needed"
        )
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def _new_sketch() -> Any:
    try:
        from datasketches import kll_doubles_sketch
    except ImportError as error:
        raise UnsupportedError("quantiles='sketch' needs datasketches; pip install datasketches") from error
    return kll_doubles_sketch(SKETCH_SIZE)
