"""The schema of a source, from the survey of its rows."""

import numpy as np

from .._utils.arrays import Array, write_protect
from .._utils.warn import format_names, warn
from ..data.encoding import warn_categories
from ..data.table import Column, Schema
from ..data.target import encode_target
from ..errors import Argument, DataError, UnsupportedError
from ._grow_source import GrowSource
from ._survey import ColumnSurvey, Survey

MAX_CODES = 1 << 16  # Of a column, and classes.
MAX_ENTROPY_ROWS = 1 << 26  # The table of the criterion takes 8 bytes per row.
INFINITE_ROWS_DIVISOR = 100  # More infinite values than n_rows / 100 cause a warning.


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
        warn(f"every row has the class {classes[int(np.argmax(counts))]!r}; the tree is one leaf")
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
                f"target {source.target!r} holds {format_names(labels[:5])}: text in one partition, numbers in another"
            )
        classes = encode_target(labels)[1]
    if len(classes) > MAX_CODES:
        raise UnsupportedError(
            f"target {source.target!r} has {len(classes):,} classes; at most {MAX_CODES:,} are supported"
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
            f"column {column.name!r} has {len(categories):,} categories; at most {MAX_CODES:,} are supported here: is "
            "it an identifier? Leave it out with columns=, or group the rare categories"
        )
    return Column(column.name, "nominal", categories, column.has_missing)


def _warn_numbers(column: ColumnSurvey, n_rows: int) -> None:
    """Warn about whole numbers that floats cannot hold exactly, and about many infinite values."""
    if column.has_inexact_int:
        warn(
            f"column {column.name!r} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
            "subtract an offset, or pass ",
            Argument("nominal", [column.name]),
            " if it is an identifier",
        )
    if column.n_infinite > n_rows / INFINITE_ROWS_DIVISOR:
        share = f"{column.n_infinite:,} of {n_rows:,} rows"
        warn(f"column {column.name!r} is infinite in {share}; they are ordered as values")
