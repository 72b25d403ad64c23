"""Encoding of data of any supported type as a `Table`, with a new schema or with the schema of a grown tree.

Without a schema, columns of numbers become numeric and all others nominal, unless the caller requests another kind.
With a schema, the data must have its columns: they are matched by name if both have names, else by position.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from .._utils.arrays import Array, ArrayLike, Columns, Labels, Rows
from .._utils.checks import as_list, check_name
from .._utils.warn import format_names
from ..errors import Argument, DataError, ParameterError, SchemaError
from .batch import Batch
from .column_encoding import Unseen, encode_batch, encode_new_batch
from .input import cell_types_for, open_batch
from .table import Kind, Schema, Table
from .target import (
    TargetKind,
    decode_numeric_labels,
    drop_unlabelled_rows,
    encode_numeric_target,
    encode_target,
    is_numeric_target,
)
from .text_options import DateReading, TextOptions
from .weights import check_weights


def encode(
    data: Rows,
    *,
    target: Labels = None,
    target_kind: TargetKind | None = None,
    nominal: Columns | None = None,
    numeric: Columns | None = None,
    names: Sequence[str] | None = None,
    schema: Schema | Table | None = None,
    strict: bool = True,
    unseen: Unseen = "majority-branch",
    sample_weight: ArrayLike | None = None,
    delimiter: str | None = None,
    na: Sequence[str] = ("",),
    encoding: str | None = None,
    decimal: str | None = None,
    dates: DateReading = "auto",
    missing_target: Literal["drop", "error"] = "drop",
) -> Table:
    """Return data of any supported type as a table: one array per column, and a schema.

    Parameters
    ----------
    data : array, data frame, list of rows, or path
        NumPy arrays of any type; pandas, polars and pyarrow tables; text files (.csv, .tsv, .txt, .gz, a .zip
        with one file) and Parquet files; for several files, a list, a folder or a pattern.
    target : str, int or array-like, optional
        The labels, or the name or position of the column that contains them.
    target_kind : "class" or "number", optional
        Whether the target is read as classes or, for regression, as numbers. By default as in
        the schema; without one, as classes.
    nominal, numeric : names or positions, optional
        Columns of numbers to read as categories, or columns of text to read as numbers.
        All others follow their type: numbers are numeric; text, booleans
        and categorical types are nominal.
    names : sequence of str, optional
        Column names for data that has none (an array, or a CSV file without a header line).
    schema : Schema or Table, optional
        The growing table, or its schema, which the data must match. Columns are matched
        by name where both have names, else by position.
    strict : bool
        Whether columns that are not in the schema are an error; False ignores them.
    unseen : "majority-branch", "missing" or "error"
        What to do with a category that is not in the schema: it follows the branch with most growing rows, counts as
        missing, or is refused.
    sample_weight : array-like, optional
        Row weights. Rows of weight 0 add no category and no missing value to a new schema.
    delimiter, na, encoding, decimal : str; sequence of str; str; str
        For a text file: the delimiter, the cells that mean "missing", the encoding (such as "cp1252") and the decimal
        mark ("." or ","). All except `na` are detected by default.
    dates : {"auto", "dmy", "mdy", "text"}
        Columns of dates in a file become days since 1970-01-01; "dmy" and "mdy" set the order of day and month in
        3/4/2024, and "text" keeps the text.
    missing_target : {"drop", "error"}
        What to do with rows without a target, if the target is a column of the data: they are dropped with a warning,
        or refused. If labels are passed separately, a missing label is always refused.

    Returns
    -------
    Table
        Columns of float32 or float64 numbers are views of the caller's data, not copies. The categories of a
        categorical type are all categories that the type declares, in its order. The categories of any other column
        are the values that occur, sorted.

    Notes
    -----
    The data are read once. Categories are compared by value, never by the code of a categorical type. NaN, None, nulls
    and masked cells are missing. The empty string is a value like any other, except in a CSV file.

    Examples
    --------
    >>> rows = [["red", 1.5], ["blue", None], ["red", 0.5]]
    >>> table = encode(rows, names=["colour", "size"], target=["yes", "no", "yes"])
    >>> table
    Table(3 rows, 1 nominal and 1 numeric columns, 2 classes)
    >>> table.columns[0].tolist(), table.categories[0], table.target.tolist()
    ([1, 0, 1], ('blue', 'red'), [1, 0, 1])

    Later data are encoded with the same schema. The category green is not in it, and gets the code -1:

    >>> later = encode([[2.0, "green"]], names=["size", "colour"], schema=table)
    >>> [column.tolist() for column in later.columns], later.n_unseen
    ([[-1], [2.0]], (1, 0))
    """
    known = schema.schema if isinstance(schema, Table) else schema
    check_name("unseen", unseen, get_args(Unseen))
    if isinstance(data, Table):
        if not (nominal is numeric is names is sample_weight is None):
            raise ParameterError(
                "a Table is encoded already; nominal=, numeric=, names= and sample_weight= go with the data"
            )
        return _check_table(data, target, known, is_number=is_numeric_target(target_kind, known, data.schema))
    is_number = is_numeric_target(target_kind, known)
    options = TextOptions(delimiter, (na,) if isinstance(na, str) else tuple(na), True, encoding, decimal, dates)
    cell_types = cell_types_for(known, nominal, numeric, target)
    batch = open_batch(data, names=names, options=options, cell_types=cell_types)
    kinds = _requested_kinds(batch.names, nominal, numeric)
    labels, target_position = target, None
    if isinstance(target, str | int | np.integer) and not isinstance(target, bool):
        target_position = _find_column(target, batch.names, "target")
        classes = None if known is None else known.classes
        batch, is_kept = drop_unlabelled_rows(batch, batch.names[target_position], missing_target, classes)
        labels = batch.readers[target_position]()
        if is_kept is not None and sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[is_kept]
    positions = [j for j in range(len(batch.names)) if j != target_position]
    _check_not_empty(batch.n_rows, len(positions))
    weights = check_weights(sample_weight, batch.n_rows)
    if known is None:
        is_used = None if weights is None or weights.all() else weights > 0
        table = encode_new_batch(batch.select(positions), [kinds[j] for j in positions], is_used)
    else:
        positions = _match_columns(batch, positions, known, strict=strict)
        table = encode_batch(batch.select(positions), known, unseen, [kinds[j] for j in positions])
    return table if labels is None else _attach_target(table, labels, is_number=is_number)


def _check_not_empty(n_rows: int, n_columns: int) -> None:
    """Raise `DataError`, in the words of scikit-learn, if the data have no rows or no columns."""
    if n_rows == 0:
        raise DataError(f"found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required.")
    if n_columns == 0:
        raise DataError(f"found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.")


def _check_table(table: Table, target: Labels, known: Schema | None, *, is_number: bool) -> Table:
    """Return an encoded table, with another target if one is passed. Refuse a table that does not fit the schema."""
    if target is None and table.target is not None and is_number != table.schema.has_numeric_target:
        target = decode_numeric_labels(table.target, table.schema.classes)
    if target is not None:
        schema_without_target = replace(table.schema, classes=None, has_numeric_target=False)
        table = replace(table, schema=schema_without_target, target=None)
    if known is not None:
        if table.schema.columns != known.columns:
            raise SchemaError("the table was encoded with another schema; encode the data itself with schema=")
        if known.has_target and table.target is None:
            table = replace(table, schema=known)
        if known.classes is not None and table.schema != known:
            raise SchemaError("the table has other classes than the schema; encode the data itself with schema=")
    return table if target is None else _attach_target(table, target, is_number=is_number)


def _attach_target(table: Table, labels: Labels, *, is_number: bool) -> Table:
    """Return the table with a target, encoded with the classes of its schema if it has any."""
    schema = table.schema
    values: Array
    classes = None
    if is_number:
        values = encode_numeric_target(labels)
    else:
        values, classes = encode_target(labels, classes=schema.classes)
    if len(values) != table.n_rows:
        raise DataError(
            f"X has {table.n_rows:,} rows but y has {len(values):,} labels (inconsistent numbers of samples); "
            "one label per row is needed"
        )
    if not schema.has_target:
        schema = replace(schema, classes=classes, has_numeric_target=is_number)
    return replace(table, schema=schema, target=values)


def _find_column(column: object, names: tuple[str, ...], parameter: str) -> int:
    """Return the position of a column that the user names, or gives as a position, in a parameter."""
    if isinstance(column, str):
        if column in names:
            return names.index(column)
        raise ParameterError(f"{parameter}={column!r} is not a column; the columns are {format_names(names)}")
    if not isinstance(column, int | np.integer) or isinstance(column, bool):
        raise ParameterError(f"{parameter} holds {column!r}; names or positions of columns are needed")
    if not -len(names) <= column < len(names):
        raise ParameterError(f"{parameter}={column} is not a column; there are {len(names)}, counted from 0")
    return int(column) % len(names)


def _requested_kinds(names: tuple[str, ...], nominal: Columns | None, numeric: Columns | None) -> list[Kind | None]:
    """Return the kind that the user requests for each column, None for the others."""
    kinds: list[Kind | None] = [None] * len(names)
    requests: tuple[tuple[Kind, Columns | None], ...] = (("nominal", nominal), ("numeric", numeric))
    for kind, columns in requests:
        for column in as_list(kind, columns):
            position = _find_column(column, names, kind)
            if kinds[position] not in (None, kind):
                raise ParameterError(f"column {names[position]!r} is given both as nominal and as numeric")
            kinds[position] = kind
    return kinds


def _match_columns(batch: Batch, positions: list[int], known: Schema, *, strict: bool) -> list[int]:
    """Return the position in the batch of each column of the schema.

    `positions` are the positions of all columns except the target. With `strict`, columns that are not in the schema
    are refused.
    """
    if not (batch.has_names and known.has_names):
        if len(positions) != len(known.columns):
            raise SchemaError(
                f"X has {len(positions)} features, but secateur is expecting {len(known.columns)} features as input: "
                f"{format_names(known.names)}"
            )
        return positions
    position_of = {batch.names[j]: j for j in positions}
    missing = [name for name in known.names if name not in position_of]
    known_names = set(known.names)
    extra = [name for name in position_of if name not in known_names]
    if missing:
        found = f" (X has {format_names(extra)} instead)" if extra else ""
        raise SchemaError(
            f"X lacks the columns {format_names(missing)}, which the tree was grown on{found}; add or rename them"
        )
    if extra and strict:
        raise SchemaError(
            f"X has the columns {format_names(extra)}, which the tree was not grown on; drop them, pass strict=False "
            "to ignore them, or name one as ",
            Argument("target"),
        )
    return [position_of[name] for name in known.names]
