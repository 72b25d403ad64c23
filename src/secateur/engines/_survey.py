"""The first pass over a source: the types of its columns, its categories, classes and missing values.

`SurveyTask` is the pass, `Survey` its result, and `read_schema` turns the result into the schema of the tree.

The survey also counts the first bits of all numbers, with which the search for exact order statistics begins
(`_order_statistics.py`), and keeps the different values of columns with few of them. For approximate bins, it feeds a
mergeable sketch (KLL, of the library datasketches) instead of further passes.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._kernels import ranks
from .._utils.arrays import MAX_EXACT_INT, Array, Category, write_protect
from .._utils.warn import format_names, warn
from ..data.batch import Batch
from ..data.encoding import warn_categories
from ..data.raw_column import CategoryColumn, NumberColumn, ValueType, column_as_floats, factorize, value_type
from ..data.table import Column, Schema
from ..data.target import check_target_complete, encode_target
from ..errors import Argument, DataError, SchemaError, UnsupportedError, show
from ._passes import ColumnSums
from ._source import GrowSource

EMPTY_SLOT_KEY = ~np.uint64(0)  # Marks an empty slot in a table of keys. It is the key of NaN, which is never stored.
MAX_BATCH_CLASSES = 1 << 15
SKETCH_SIZE = 4000  # Of KLL: ranks are exact to about 0.05 %, far below the width of a bin.
MAX_CODES = 1 << 16  # Largest number of codes of a column, and of classes.
MAX_ENTROPY_ROWS = 1 << 26  # The table of the criterion takes 8 bytes per row.
INFINITE_ROWS_DIVISOR = 100  # More infinite values than n_rows / 100 cause a warning.


@dataclass
class ColumnSurvey:
    """What is known of one column so far.

    Parameters
    ----------
    name : str
    max_bins : int
        The different values are kept up to this number.
    value_type : ValueType
        Type of the values; "missing" until a value has been read.
    has_missing : bool
    n_infinite : int
        Number of infinite values.
    highest : float
        The highest number.
    has_inexact_int : bool
        Whether there are whole numbers beyond 2**53.
    n_different : int
        Number of different values, as long as it is at most `max_bins`; else some larger number.
    prefix_counts : array of int64, optional
        Number of sort keys with each prefix; None if there are no numbers.
    key_table : array of uint64, optional
        Hash table of the keys of the different values.
    sketch : kll_doubles_sketch, optional
    levels : set
        The categories that occur.
    declared_levels : tuple, optional
        The categories that the source declares, in their order.
    is_declared : bool
        Whether all rows so far have declared the same categories.
    """

    name: str
    max_bins: int
    value_type: ValueType = "missing"
    has_missing: bool = False
    n_infinite: int = 0
    highest: float = -np.inf
    has_inexact_int: bool = False
    n_different: int = 0
    prefix_counts: Array | None = None
    key_table: Array | None = None
    sketch: Any = None
    levels: set[Category] = field(default_factory=set)
    declared_levels: tuple[Category, ...] | None = None
    is_declared: bool = True

    def add_numbers(self, raw: NumberColumn) -> None:
        """Survey a batch of numbers."""
        values = np.asarray(column_as_floats(raw), np.float64)
        if np.isnan(values).all():
            self.has_missing = True
            return
        self._set_type("number")
        if raw.values.dtype.kind in "iu" and raw.values.dtype.itemsize == 8:
            self.has_inexact_int |= bool(raw.values.max() > MAX_EXACT_INT or raw.values.min() < -MAX_EXACT_INT)
        prefix_counts, key_table = self._number_tables()
        self.n_different, n_missing, n_infinite = ranks.count_prefixes(
            values, prefix_counts, key_table, self.max_bins, self.n_different
        )
        self.n_infinite += n_infinite
        self.has_missing |= n_missing > 0
        self.highest = max(self.highest, float(np.fmax.reduce(values)))
        if self.sketch is not None:
            self.sketch.update(values[~np.isnan(values)])  # A copy: the sketch refuses a write-protected array.

    def add_categories(self, raw: CategoryColumn) -> None:
        """Survey a batch of categories."""
        codes = np.unique(raw.codes)
        self.has_missing |= bool(len(codes) and codes[0] < 0)
        levels = {raw.categories[code] for code in codes[codes >= 0]}
        if levels:
            self._set_type(value_type(raw.categories) or "missing")
        self.levels |= levels
        self._update_declared(raw.categories if raw.is_declared else None, bool(levels))

    def merge(self, other: "ColumnSurvey") -> None:
        """Add what is known from other rows."""
        if other.value_type != "missing":
            self._set_type(other.value_type)
        self.has_missing |= other.has_missing
        self.n_infinite += other.n_infinite
        self.highest = max(self.highest, other.highest)
        self.has_inexact_int |= other.has_inexact_int
        self._update_declared(other.declared_levels if other.is_declared else None, bool(other.levels))
        self.levels |= other.levels
        if other.prefix_counts is not None:
            self._merge_numbers(other)
        if self.sketch is not None:
            self.sketch.merge(other.sketch)

    def values(self) -> Array:
        """Return the different numbers read so far in ascending order, if they are at most `max_bins`."""
        _, key_table = self._number_tables()
        values: Array = ranks.values_of_keys(np.sort(key_table[key_table != EMPTY_SLOT_KEY]))
        return values

    def categories(self) -> tuple[Category, ...]:
        """Return the categories: the declared ones if all rows declare the same, else those that occur, sorted."""
        if self.is_declared and self.declared_levels is not None:
            return self.declared_levels
        return tuple(sorted(self.levels))

    def _merge_numbers(self, other: "ColumnSurvey") -> None:
        """Add the prefix counts and the different values of other rows."""
        prefix_counts, key_table = self._number_tables()
        prefix_counts += other.prefix_counts
        if other.n_different > self.max_bins:
            self.n_different = other.n_different
        unused_counts = np.zeros_like(prefix_counts)  # The kernel counts prefixes too, which are added above.
        self.n_different = ranks.count_prefixes(
            other.values(), unused_counts, key_table, self.max_bins, self.n_different
        )[0]

    def _set_type(self, found: ValueType) -> None:
        """Set the type of the values; refuse a type that differs from that of other rows."""
        if self.value_type not in ("missing", found):
            raise SchemaError(
                f"column {show(self.name)} holds {found} values in one partition and {self.value_type} values "
                "in another; convert it to one kind"
            )
        self.value_type = found

    def _update_declared(self, levels: tuple[Category, ...] | None, has_values: bool) -> None:
        """Take in the categories that some rows declare; None if they declare none."""
        if levels is None:
            self.is_declared = self.is_declared and not has_values
        elif self.declared_levels is None:
            self.declared_levels = levels
        elif self.declared_levels != levels:
            self.is_declared = False

    def _number_tables(self) -> tuple[Array, Array]:
        """Return the prefix counts and the table of keys, which are made when the first number is read."""
        if self.prefix_counts is None or self.key_table is None:
            self.prefix_counts = np.zeros(1 << ranks.PREFIX_BITS, np.int64)
            self.key_table = np.full(1 << (4 * self.max_bins).bit_length(), EMPTY_SLOT_KEY)
        return self.prefix_counts, self.key_table

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
    """What is known of a source so far.

    Parameters
    ----------
    columns : ColumnSums of ColumnSurvey
    labels : Counter
        Number of rows with each class label.
    n_rows : int
    """

    columns: ColumnSums
    labels: Counter[Category] = field(default_factory=Counter)
    n_rows: int = 0

    def merge(self, other: "Survey") -> None:
        """Add what is known from other rows."""
        self.n_rows += other.n_rows
        self.columns.merge(other.columns)
        self.labels.update(other.labels)


@dataclass(frozen=True)
class SurveyTask:
    """The first pass over a source.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the target.
    nominal : frozenset of str
        Columns of numbers that are read as categories.
    max_bins : int
    has_sketch : bool
        Whether bins are approximate, from a sketch.
    """

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
        return Survey(ColumnSums(ColumnSurvey(name, self.max_bins, sketch=self._new_sketch()) for name in self.names))

    def add(self, survey: Survey, rows: Batch, first: int) -> None:
        """Survey one batch; its rows are numbered from `first` in messages."""
        for column in survey.columns:
            raw = rows.read(column.name)
            if isinstance(raw, NumberColumn) and column.name in self.nominal:
                raw = factorize(raw)
            if isinstance(raw, NumberColumn):
                column.add_numbers(raw)
            else:
                column.add_categories(raw)
        survey.labels.update(_label_counts(rows.read(self.target), self.target, first))
        survey.n_rows += rows.n_rows

    def _new_sketch(self) -> Any:
        """Return an empty sketch, or None if none is needed."""
        if not self.has_sketch:
            return None
        try:
            from datasketches import kll_doubles_sketch
        except ImportError as error:
            raise UnsupportedError("quantiles='sketch' needs datasketches; pip install datasketches") from error
        return kll_doubles_sketch(SKETCH_SIZE)


def _label_counts(raw: NumberColumn | CategoryColumn, name: str, first: int) -> dict[Category, int]:
    """Return the number of rows of a batch with each class label; refuse a target that is no class."""
    check_target_complete(raw, f"target {show(name)}", first)
    if isinstance(raw, CategoryColumn):
        counts = np.bincount(raw.codes, minlength=len(raw.categories))
        return {raw.categories[code]: int(counts[code]) for code in np.flatnonzero(counts)}
    values, counts = np.unique(raw.values, return_counts=True)
    if len(values) > MAX_BATCH_CLASSES:
        raise DataError(
            f"target {show(name)} has {len(values):,} values in one batch, from "
            f"{format_names(values[:3].tolist())} on; classes are needed"
        )
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def read_schema(survey: Survey, source: GrowSource, criterion: str) -> tuple[Schema, Array]:
    """Return the schema of a source, and the number of rows of each class.

    Parameters
    ----------
    survey : Survey
        What the first pass has found.
    source : GrowSource
    criterion : str
    """
    _check_size(survey, criterion)
    classes = _read_classes(survey, source)
    counts = np.array([survey.labels[label] for label in classes.tolist()], np.int64)
    if np.count_nonzero(counts) == 1:
        warn(f"every row has the class {show(classes[int(np.argmax(counts))])}; the tree is one leaf")
    columns = tuple(_read_column(column, source, survey.n_rows) for column in survey.columns)
    return Schema(columns, write_protect(classes), source.has_names), counts


def _check_size(survey: Survey, criterion: str) -> None:
    """Refuse a source without rows, and one with more rows than the criterion supports."""
    if survey.n_rows == 0:
        raise DataError("the source has 0 rows; at least one is needed")
    if criterion == "entropy" and survey.n_rows > MAX_ENTROPY_ROWS:
        raise UnsupportedError(
            f"criterion='entropy' keeps a table of 8 bytes per row; the source has {survey.n_rows:,} rows, at most "
            f"{MAX_ENTROPY_ROWS:,} are supported; criterion='gini' or 'sqrt' needs no table"
        )


def _read_classes(survey: Survey, source: GrowSource) -> Array:
    """Return the class labels in their order."""
    classes = source.classes
    if classes is None:
        labels = list(survey.labels)
        if len({isinstance(label, str) for label in labels}) > 1:
            raise DataError(
                f"target {show(source.target)} holds {format_names(labels[:5])}: text in one partition, "
                "numbers in another"
            )
        classes = encode_target(labels)[1]
    if len(classes) > MAX_CODES:
        raise UnsupportedError(
            f"target {show(source.target)} has {len(classes):,} classes; at most {MAX_CODES:,} are supported"
        )
    return classes


def _read_column(column: ColumnSurvey, source: GrowSource, n_rows: int) -> Column:
    """Return a column of the schema, and warn about values that are probably not meant as they are."""
    if column.value_type in ("number", "missing") and column.name not in source.nominal:
        if not source.is_memory:
            _warn_numbers(column, n_rows)
        return Column(column.name, "numeric", (), column.has_missing)
    categories = column.categories()
    if not source.is_memory:
        warn_categories(column.name, categories)
    if len(categories) + column.has_missing > MAX_CODES:
        raise UnsupportedError(
            f"column {show(column.name)} has {len(categories):,} categories; at most {MAX_CODES:,} are "
            "supported here: is it an identifier? Leave it out with columns=, or group the rare categories"
        )
    return Column(column.name, "nominal", categories, column.has_missing)


def _warn_numbers(column: ColumnSurvey, n_rows: int) -> None:
    """Warn about whole numbers that floats cannot hold exactly, and about many infinite values."""
    if column.has_inexact_int:
        warn(
            f"column {show(column.name)} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
            "subtract an offset, or pass ",
            Argument("nominal", [column.name]),
            " if it is an identifier",
        )
    if column.n_infinite > n_rows / INFINITE_ROWS_DIVISOR:
        share = f"{column.n_infinite:,} of {n_rows:,} rows"
        warn(f"column {show(column.name)} is infinite in {share}; they are ordered as values")
