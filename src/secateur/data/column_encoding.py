"""The columns of a batch as arrays of numbers and codes: of a new schema, or of the schema of a grown tree."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from .._utils.arrays import Array
from .._utils.warn import format_names
from ..errors import Argument, ParameterError, SchemaError
from .batch import Batch
from .column_warnings import warn_categories, warn_infinite, warn_looks_numeric, warn_merging
from .raw_column import (
    CategoryColumn,
    NumberColumn,
    RawColumn,
    as_floats,
    column_as_floats,
    factorize,
    parse_categories,
    value_type,
)
from .table import Column, Kind, Schema, Table, read_only_view

Unseen = Literal["majority-branch", "missing", "error"]
_VALUE_TYPE_PLURALS = {"number": "numbers", "boolean": "booleans", "text": "text"}


def encode_new_batch(batch: Batch, kinds: Sequence[Kind | None], is_used: Array | None) -> Table:
    """Return the table of a batch with a schema of its own.

    Parameters
    ----------
    batch : Batch
    kinds : sequence
        The kind that the user requests for each column, None to let its type decide.
    is_used : array of bool or None
        The rows with a weight above 0. The other rows add no category and no missing value to the schema.
    """
    if batch.matrix is not None and "nominal" not in kinds:
        warn_merging(batch.matrix, batch.names)
        matrix = as_floats(batch.matrix)
        has_missing = _columns_with_missing(matrix, batch.names, is_used)
        columns = tuple(
            Column(name, "numeric", (), missing) for name, missing in zip(batch.names, has_missing, strict=True)
        )
        return Table(Schema(columns, None, batch.has_names), tuple(read_only_view(matrix).T), matrix=matrix)
    encoded = [
        _encode_new_column(name, read(), kind, is_used)
        for name, read, kind in zip(batch.names, batch.readers, kinds, strict=True)
    ]
    schema = Schema(tuple(column for column, _ in encoded), None, batch.has_names)
    return Table(schema, tuple(values for _, values in encoded))


def _encode_new_column(name: str, raw: RawColumn, kind: Kind | None, is_used: Array | None) -> tuple[Column, Array]:
    """Return the schema and the numbers or codes of one column."""
    if isinstance(raw, CategoryColumn) and kind == "numeric":
        raw = parse_categories(raw, name)
    if isinstance(raw, NumberColumn) and kind != "nominal":
        warn_merging(raw.values[:, None], (name,))
        values = column_as_floats(raw)
        has_missing = _columns_with_missing(values[:, None], (name,), is_used)[0]
        return Column(name, "numeric", (), has_missing, raw.is_date), values
    coded = factorize(raw)
    is_missing, is_declared = coded.missing_mask, coded.is_declared
    has_missing = bool((is_missing if is_used is None else is_missing[is_used]).any())
    if is_used is not None and not is_declared:
        coded = coded.recode(coded.occurring_categories(is_used))
    codes = coded.codes.astype(np.int32)
    if has_missing:
        codes[is_missing] = len(coded.categories)
    if kind is None and not is_declared and coded.is_text:
        warn_looks_numeric(name, coded.categories)
    warn_categories(name, coded.categories)
    return Column(name, "nominal", coded.categories, has_missing), codes


def _columns_with_missing(matrix: Array, names: Sequence[str], is_used: Array | None) -> list[bool]:
    """Return for each column whether it has missing values, and warn about columns with many infinite values."""
    with np.errstate(all="ignore"):
        is_suspect = ~np.isfinite(matrix.sum(axis=0))  # a sum is finite only if no value is NaN or infinite
    has_missing = [False] * len(names)
    for j in np.flatnonzero(is_suspect).tolist():
        values = matrix[:, j]
        warn_infinite(values, names[j])
        has_missing[j] = bool(np.isnan(values if is_used is None else values[is_used]).any())
    return has_missing


def encode_batch(batch: Batch, schema: Schema, unseen: Unseen, kinds: Sequence[Kind | None] = ()) -> Table:
    """Return the table of a batch with the schema of a grown tree.

    Parameters
    ----------
    batch : Batch
        It has the columns of the schema, in the same order.
    schema : Schema
    unseen : "majority-branch", "missing" or "error"
        What to do with categories that are not in the schema.
    kinds : sequence
        The kind that the user requests for each column, None for the kind in the schema.
    """
    kinds = kinds or [None] * len(schema.columns)
    for column, kind in zip(schema.columns, kinds, strict=True):
        if kind not in (None, column.kind):
            raise ParameterError(
                f"column {column.name!r} is asked for as {kind}, but the tree was grown on it as {column.kind}"
            )
    if batch.matrix is not None and all(column.kind == "numeric" for column in schema.columns):
        matrix = as_floats(batch.matrix)
        return Table(schema, tuple(read_only_view(matrix).T), matrix=matrix)
    encoded = [
        encode_column(column, read(), unseen, parse_text=kind == "numeric")
        for column, read, kind in zip(schema.columns, batch.readers, kinds, strict=True)
    ]
    arrays, n_unseen = zip(*encoded, strict=True)
    return Table(schema, arrays, n_unseen=n_unseen)


def encode_column(column: Column, raw: RawColumn, unseen: Unseen, *, parse_text: bool = False) -> tuple[Array, int]:
    """Return the numbers or codes of a column of a schema, and the number of values that are unknown categories.

    Text in a numeric column is refused unless `parse_text` requests its conversion to numbers.
    """
    if column.kind == "numeric":
        return _encode_numeric(column, raw, parse_text=parse_text), 0
    coded = factorize(raw)
    is_missing = coded.codes < 0
    expected_type = value_type(column.categories)
    if expected_type not in (None, value_type(coded.categories)) and not is_missing.all():
        raise _wrong_type(column, coded)
    codes = coded.recode(column.categories).codes
    is_new = (codes < 0) & ~is_missing
    n_new = int(np.count_nonzero(is_new))
    if n_new and unseen == "error":
        raise SchemaError(
            f"column {column.name!r}: {format_names(coded.occurring_categories(is_new))} in {n_new:,} rows (first row "
            f"{np.flatnonzero(is_new)[0]}) were not in the growing sample; unseen='majority-branch' sends them where "
            "most examples went"
        )
    if column.has_missing:
        codes[is_missing | is_new if unseen == "missing" else is_missing] = len(column.categories)
    return codes, n_new


def _encode_numeric(column: Column, raw: RawColumn, *, parse_text: bool) -> Array:
    """Return the numbers of a numeric column of a schema."""
    if isinstance(raw, CategoryColumn) and (parse_text or raw.missing_mask.all()):
        raw = parse_categories(raw, column.name)
    if isinstance(raw, CategoryColumn):
        raise _wrong_type(column, raw)
    if raw.is_date and not column.is_date:
        raise SchemaError(f"column {column.name!r} holds dates, but held numbers when it was grown; convert it")
    return column_as_floats(raw)


def _wrong_type(column: Column, raw: CategoryColumn) -> SchemaError:
    """Return the error for a column whose values have another type than those in the growing table."""
    rows = np.flatnonzero(raw.codes >= 0)[:3]
    shown = ", ".join(repr(raw.categories[raw.codes[row]]) for row in rows)
    found = _VALUE_TYPE_PLURALS.get(value_type(raw.categories) or "", "values")
    is_numeric = column.kind == "numeric"
    grown = "numbers" if is_numeric else f"categories such as {format_names(column.categories[:3])}"
    problem = f"column {column.name!r} holds {found} ({shown}), but held {grown} when the tree was grown"
    if is_numeric:
        return SchemaError(problem, "; convert it or pass ", Argument("numeric", [column.name]))
    return SchemaError(problem, "; convert it to the type it had")
