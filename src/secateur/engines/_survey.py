"""The first passes over a source: what its columns are, its classes, and the bins of its numbers.

A survey finds kinds, categories, classes and gaps. Bins of about equally many rows then need
order statistics; they are found exactly, in a few more passes and little memory, by counting
the leading bits of the values (`_kernels/ranks.py`), or approximately in the survey itself by
the mergeable KLL sketch of the library datasketches. The exact ones are those of
`secateur.grow(..., max_bins=)`, and depend neither on the order of rows nor on partitions.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._kernels import ranks
from .._utils.arrays import MAX_EXACT_INT, Array, Category, write_protect
from .._utils.warn import format_names, warn
from ..data.batch import Batch
from ..data.column_warnings import warn_categories
from ..data.raw_column import CategoryColumn, NumberColumn, ValueType, column_as_floats, factorize, value_type
from ..data.table import Column, Schema
from ..data.target import check_target_complete, encode_target
from ..errors import Argument, DataError, SchemaError, UnsupportedError
from ._grow_source import GrowSource
from ._parts import Each

FREE = ~np.uint64(0)  # what is no key, in a table of keys
MOST_ENTROPY_ROWS = 1 << 26  # its table takes 8 bytes a row
MOST_CODES = 1 << 16
SKETCH_SIZE = 4000  # of KLL: ranks to about 0.05 %, far below the width of a bin


@dataclass
class Surveyed:
    """What is known of one column so far."""

    name: str
    max_bins: int
    value_type: ValueType = "missing"
    has_missing: bool = False
    n_infinite: int = 0
    highest: float = -np.inf
    is_large: bool = False  # holds whole numbers beyond 2**53
    n_different: int = 0
    top: Array | None = None
    table: Array | None = None
    sketch: Any = None
    levels: set[Category] = field(default_factory=set)
    declared: tuple[Category, ...] | None = None
    is_declared: bool = True

    def add_numbers(self, given: NumberColumn) -> None:
        """Survey a batch of numbers."""
        values = np.asarray(column_as_floats(given), np.float64)
        if np.isnan(values).all():
            self.has_missing = True
            return
        self._is("number")
        if given.values.dtype.kind in "iu" and given.values.dtype.itemsize == 8:
            self.is_large |= bool(given.values.max() > MAX_EXACT_INT or given.values.min() < -MAX_EXACT_INT)
        top, table = self._tables()
        self.n_different, n_missing, n_infinite = ranks.count_prefixes(
            values, top, table, self.max_bins, self.n_different
        )
        self.n_infinite += n_infinite
        self.has_missing |= n_missing > 0
        self.highest = max(self.highest, float(np.fmax.reduce(values)))
        if self.sketch is not None:
            self.sketch.update(values[~np.isnan(values)])  # a copy: the sketch takes no write-protected array

    def add_coded(self, given: CategoryColumn) -> None:
        """Survey a batch of categories."""
        occurs = np.unique(given.codes)
        self.has_missing |= bool(len(occurs) and occurs[0] < 0)
        found = {given.levels[code] for code in occurs[occurs >= 0]}
        if found:
            self._is(value_type(given.levels) or "missing")
        self.levels |= found
        self._declare(given.levels if given.is_declared else None, bool(found))

    def merge(self, other: "Surveyed") -> None:
        """Add what the other saw."""
        if other.value_type != "missing":
            self._is(other.value_type)
        self.has_missing |= other.has_missing
        self.n_infinite += other.n_infinite
        self.highest = max(self.highest, other.highest)
        self.is_large |= other.is_large
        self._declare(other.declared if other.is_declared else None, bool(other.levels))
        self.levels |= other.levels
        if other.top is not None:
            top, table = self._tables()
            top += other.top
            if other.n_different > self.max_bins:
                self.n_different = other.n_different
            spare = np.zeros_like(top)
            self.n_different = ranks.count_prefixes(other.values(), spare, table, self.max_bins, self.n_different)[0]
        if self.sketch is not None:
            self.sketch.merge(other.sketch)

    def values(self) -> Array:
        """Return the different numbers seen so far, if they are few enough."""
        _, table = self._tables()
        values: Array = ranks.values_of_keys(np.sort(table[table != FREE]))
        return values

    def categories(self) -> tuple[Category, ...]:
        """Return the categories: as declared by every partition alike, else those that occur, sorted."""
        if self.is_declared and self.declared is not None:
            return self.declared
        return tuple(sorted(self.levels))

    def _is(self, found: ValueType) -> None:
        if self.value_type not in ("missing", found):
            raise SchemaError(
                f"column {self.name!r} holds {found} values in one partition and {self.value_type} values in another; "
                "convert it to one kind"
            )
        self.value_type = found

    def _declare(self, levels: tuple[Category, ...] | None, has_values: bool) -> None:
        if levels is None:
            self.is_declared = self.is_declared and not has_values
        elif self.declared is None:
            self.declared = levels
        elif self.declared != levels:
            self.is_declared = False

    def _tables(self) -> tuple[Array, Array]:
        if self.top is None or self.table is None:
            self.top = np.zeros(1 << ranks.PREFIX_BITS, np.int64)
            self.table = np.full(1 << (4 * self.max_bins).bit_length(), FREE)
        return self.top, self.table

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["sketch"] = None if self.sketch is None else self.sketch.serialize()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["sketch"] is not None:
            from datasketches import kll_doubles_sketch

            state["sketch"] = kll_doubles_sketch.deserialize(state["sketch"])
        self.__dict__.update(state)


@dataclass
class Survey:
    """What is known of a source so far."""

    columns: Each
    labels: Counter[Category] = field(default_factory=Counter)
    n_rows: int = 0

    def merge(self, other: "Survey") -> None:
        """Add what the other saw."""
        self.n_rows += other.n_rows
        self.columns.merge(other.columns)
        self.labels.update(other.labels)


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
        return Survey(Each(Surveyed(name, self.max_bins, sketch=self._sketch()) for name in self.names))

    def _sketch(self) -> Any:
        if not self.has_sketch:
            return None
        try:
            from datasketches import kll_doubles_sketch
        except ImportError as error:
            raise UnsupportedError("quantiles='sketch' needs datasketches; pip install datasketches") from error
        return kll_doubles_sketch(SKETCH_SIZE)

    def add(self, survey: Survey, rows: Batch, first: int) -> None:
        """Survey one batch; its rows are counted from `first` in messages."""
        for column in survey.columns:
            given = rows.read(column.name)
            if isinstance(given, NumberColumn) and column.name in self.nominal:
                given = factorize(given)
            if isinstance(given, NumberColumn):
                column.add_numbers(given)
            else:
                column.add_coded(given)
        survey.labels.update(_labels(rows.read(self.target), self.target, first))
        survey.n_rows += rows.n_rows


def _labels(given: NumberColumn | CategoryColumn, name: str, first: int) -> dict[Category, int]:
    check_target_complete(given, f"target {name!r}", first)
    if isinstance(given, CategoryColumn):
        n = np.bincount(given.codes, minlength=len(given.levels))
        return {given.levels[code]: int(n[code]) for code in np.flatnonzero(n)}
    values, counts = np.unique(given.values, return_counts=True)
    if len(values) > 1 << 15:
        raise DataError(
            f"target {name!r} has {len(values):,} values in one batch, from {format_names(values[:3].tolist())} on; "
            "classes are needed"
        )
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def read_schema(survey: Survey, source: GrowSource, criterion: str) -> tuple[Schema, Array]:
    """Return what the columns are, and the rows of each class."""
    if survey.n_rows == 0:
        raise DataError("the source has 0 rows; at least one is needed")
    if criterion == "entropy" and survey.n_rows > MOST_ENTROPY_ROWS:
        raise UnsupportedError(
            f"criterion='entropy' keeps a table of 8 bytes per row; the source has {survey.n_rows:,} rows, at most "
            f"{MOST_ENTROPY_ROWS:,} are supported; criterion='gini' or 'sqrt' needs no table"
        )
    classes = source.classes
    if classes is None:
        labels = list(survey.labels)
        if len({isinstance(label, str) for label in labels}) > 1:
            raise DataError(
                f"target {source.target!r} holds {format_names(labels[:5])}: text in one partition, numbers in another"
            )
        classes = encode_target(labels)[1]
    counts = np.array([survey.labels[label] for label in classes.tolist()], np.int64)
    if len(classes) > MOST_CODES:
        raise UnsupportedError(
            f"target {source.target!r} has {len(classes):,} classes; at most {MOST_CODES:,} are supported"
        )
    if np.count_nonzero(counts) == 1:
        warn(f"every row has the class {classes[int(np.argmax(counts))]!r}; the tree is one leaf")
    columns = tuple(_column(one, source, survey.n_rows) for one in survey.columns)
    return Schema(columns, write_protect(classes), source.has_names), counts


def _column(one: Surveyed, source: GrowSource, n_rows: int) -> Column:
    name = one.name
    if one.value_type in ("number", "missing") and name not in source.nominal:
        if not source.is_memory and one.is_large:
            warn(
                f"column {name!r} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
                "subtract an offset, or pass ",
                Argument("nominal", [name]),
                " if it is an identifier",
            )
        if not source.is_memory and one.n_infinite > n_rows / 100:
            warn(f"column {name!r} is infinite in {one.n_infinite:,} of {n_rows:,} rows; they are ordered as values")
        return Column(name, "numeric", (), one.has_missing)
    categories = one.categories()
    if not source.is_memory:
        warn_categories(name, categories)
    if len(categories) + one.has_missing > MOST_CODES:
        raise UnsupportedError(
            f"column {name!r} has {len(categories):,} categories; at most {MOST_CODES:,} are supported here: is it an "
            "identifier? Leave it out with columns=, or group the rare categories"
        )
    return Column(name, "nominal", categories, one.has_missing)
