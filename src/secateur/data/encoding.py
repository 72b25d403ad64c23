"""Encoding of data of any supported type as a `Table`, with a new schema or with the schema of a grown tree.

Without a schema, columns of numbers become numeric and all others nominal, unless the caller requests another kind.
With a schema, the data must have its columns: they are matched by name if both have names, else by position.

`encode` reads data and their target. `encode_new_batch` and `encode_batch` encode the columns of a batch. The functions
`warn_...` at the end warn about columns that are accepted, but may have another meaning than the user intended.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, ArrayLike, Category, Columns, Labels, Rows
from .._utils.checks import as_list, check_name
from .._utils.warn import format_names, warn
from ..errors import Argument, DataError, ParameterError, SchemaError, show
from .batch import Batch, cell_types_for, open_batch
from .cell_text import MAX_WORDS_AMONG_NUMBERS, MIN_NUMBERS_AMONG_WORDS
from .groups import GroupHashes, check_number_of_groups, hash_groups, split_off_groups
from .raw_column import (
    CategoryColumn,
    NumberColumn,
    RawColumn,
    as_floats,
    column_as_floats,
    dense_array,
    factorize,
    parse_categories,
    strict_float,
    value_type,
)
from .table import Column, Kind, Schema, Table, read_only_view
from .target import (
    TargetKind,
    decode_numeric_labels,
    drop_unlabelled_rows,
    encode_numeric_target,
    encode_target,
    is_numeric_target,
)
from .text_options import DateReading, TextOptions
from .weights import WeightedRows, check_weights, used_rows

Unseen = Literal["majority-branch", "missing", "error"]
_VALUE_TYPE_PLURALS = {"number": "numbers", "boolean": "booleans", "text": "text"}
MAX_CATEGORIES_WITHOUT_WARNING = 1000


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
            sample_weight = dense_array(sample_weight, "sample_weight")[is_kept]
    positions = [j for j in range(len(batch.names)) if j != target_position]
    _check_not_empty(batch.n_rows, len(positions))
    weights = check_weights(sample_weight, batch.n_rows)
    if known is None:
        table = encode_new_batch(batch.select(positions), [kinds[j] for j in positions], used_rows(weights))
    else:
        positions = _match_columns(batch, positions, known, strict=strict)
        table = encode_batch(batch.select(positions), known, unseen, [kinds[j] for j in positions])
    return table if labels is None else _attach_target(table, labels, is_number=is_number)


def encode_weighted_rows(
    X: Rows,
    y: Labels,
    sample_weight: ArrayLike | None,
    *,
    target_kind: TargetKind,
    nominal: Columns | None,
    purpose: str,
    groups: Labels = None,
) -> WeightedRows:
    """Encode rows with their target, and check their weights and groups.

    Parameters
    ----------
    X, y, sample_weight, nominal
        As in `grow`.
    target_kind : "class" or "number"
    purpose : str
        What the rows are for, named in the message about a missing target.
    groups : array or column name, optional
        The group of each row; a column that is named is no predictor.
    """
    hashes = None
    if groups is not None:
        X, sample_weight, hashes = _split_off_hashes(X, y, sample_weight, groups, nominal)
    encoding_weight = None if isinstance(X, Table) else sample_weight
    table = encode(X, target=y, target_kind=target_kind, nominal=nominal, sample_weight=encoding_weight)
    if table.target is None:
        raise DataError(f"y is None and the table has no target; {purpose} needs the {target_kind} of each row")
    weight = check_weights(sample_weight, table.n_rows)
    if hashes is not None:
        check_number_of_groups(hashes, table.n_rows)
    return WeightedRows(table, weight, hashes)


def _split_off_hashes(
    X: Rows, y: Labels, sample_weight: ArrayLike | None, groups: Labels, nominal: Columns | None
) -> tuple[Rows, ArrayLike | None, GroupHashes]:
    """Return rows without the column of groups, their weights, and the hash of the group of each row.

    If the target is a column, rows without a target are dropped from all three.
    """
    X, labels = split_off_groups(X, groups, nominal)
    hashes = hash_groups(labels)
    if not isinstance(y, str) or isinstance(X, Table):
        return X, sample_weight, hashes
    batch = open_batch(X, cell_types=cell_types_for(None, nominal))
    check_number_of_groups(hashes, batch.n_rows)
    _find_column(y, batch.names, "target")
    batch, is_kept = drop_unlabelled_rows(batch, y)
    if is_kept is None:
        return batch, sample_weight, hashes
    weight = None if sample_weight is None else np.asarray(sample_weight)[is_kept]
    return batch, weight, hashes[is_kept]


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


def _requested_kinds(names: tuple[str, ...], nominal: Columns | None, numeric: Columns | None) -> list[Kind | None]:
    """Return the kind that the user requests for each column, None for the others."""
    kinds: list[Kind | None] = [None] * len(names)
    if nominal is None and numeric is None:
        return kinds
    requests: tuple[tuple[Kind, Columns | None], ...] = (("nominal", nominal), ("numeric", numeric))
    for kind, columns in requests:
        for column in as_list(kind, columns):
            position = _find_column(column, names, kind)
            if kinds[position] not in (None, kind):
                raise ParameterError(f"column {show(names[position])} is given both as nominal and as numeric")
            kinds[position] = kind
    return kinds


def _find_column(column: object, names: tuple[str, ...], parameter: str) -> int:
    """Return the position of a column that the user names, or gives as a position, in a parameter."""
    if isinstance(column, str):
        if column in names:
            return names.index(column)
        raise ParameterError(f"{parameter}={show(column)} is not a column; the columns are {format_names(names)}")
    if not isinstance(column, int | np.integer) or isinstance(column, bool):
        raise ParameterError(f"{parameter} holds {show(column)}; names or positions of columns are needed")
    if not -len(names) <= column < len(names):
        raise ParameterError(f"{parameter}={column} is not a column; there are {len(names)}, counted from 0")
    return int(column) % len(names)


def _check_not_empty(n_rows: int, n_columns: int) -> None:
    """Raise `DataError`, in the words of scikit-learn, if the data have no rows or no columns."""
    if n_rows == 0:
        raise DataError(f"found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required.")
    if n_columns == 0:
        raise DataError(f"found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.")


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
        warn_inexact_integers(batch.matrix, batch.names)
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
        warn_inexact_integers(raw.values[:, None], (name,))
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
                f"column {show(column.name)} is asked for as {kind}, but the tree was grown on it as {column.kind}"
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
            f"column {show(column.name)}: {format_names(coded.occurring_categories(is_new))} in {n_new:,} rows "
            "(first row "
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
        raise SchemaError(f"column {show(column.name)} holds dates, but held numbers when it was grown; convert it")
    return column_as_floats(raw)


def _wrong_type(column: Column, raw: CategoryColumn) -> SchemaError:
    """Return the error for a column whose values have another type than those in the growing table."""
    rows = np.flatnonzero(raw.codes >= 0)[:3]
    shown = ", ".join(show(raw.categories[raw.codes[row]]) for row in rows)
    found = _VALUE_TYPE_PLURALS.get(value_type(raw.categories) or "", "values")
    is_numeric = column.kind == "numeric"
    grown = "numbers" if is_numeric else f"categories such as {format_names(column.categories[:3])}"
    problem = f"column {show(column.name)} holds {found} ({shown}), but held {grown} when the tree was grown"
    if is_numeric:
        return SchemaError(problem, "; convert it or pass ", Argument("numeric", [column.name]))
    return SchemaError(problem, "; convert it to the type it had")


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


def warn_inexact_integers(matrix: Array, names: Sequence[str]) -> None:
    """Warn about columns with whole numbers so large that different ones can become equal as float64."""
    if matrix.dtype.kind not in "iu" or matrix.dtype.itemsize < 8:
        return
    is_large = (matrix.max(axis=0) > MAX_EXACT_INT) | (matrix.min(axis=0) < -MAX_EXACT_INT)
    for j in np.flatnonzero(is_large).tolist():
        warn(
            f"column {show(names[j])} holds whole numbers beyond 2**53, where neighbours become equal as float64; "
            "subtract an offset, or pass ",
            Argument("nominal", [names[j]]),
            " if it is an identifier",
        )


def warn_infinite(column: Array, name: str) -> None:
    """Warn about a column in which more than 1 % of the values are infinite."""
    n_infinite = np.count_nonzero(np.isinf(column))
    if n_infinite > len(column) / 100:
        warn(f"column {show(name)} is infinite in {n_infinite:,} of {len(column):,} rows; they are ordered as values")


def warn_looks_numeric(name: str, categories: Sequence[str]) -> None:
    """Warn about a column of text that spells numbers, apart from a few words."""
    words = []
    for category in categories:
        try:
            strict_float(category)
        except ValueError:
            words.append(category)
            if len(words) > MAX_WORDS_AMONG_NUMBERS:
                return
    n_numbers = len(categories) - len(words)
    keep_categories = (Argument("nominal", [name]), " to keep the categories")
    if n_numbers and not words:
        warn(
            f"column {show(name)} is text that looks numeric ({format_names(categories, 3)}) and is taken as "
            "categories; pass ",
            Argument("numeric", [name]),
            " to convert it, or pass ",
            *keep_categories,
        )
    elif n_numbers >= MIN_NUMBERS_AMONG_WORDS:
        warn(
            f"column {show(name)} is text that looks numeric but for {format_names(words)} and is taken as categories; "
            "make these missing values (",
            Argument("na"),
            " for a CSV file), or pass ",
            *keep_categories,
        )


def warn_categories(name: str, categories: Sequence[Category]) -> None:
    """Warn about a column with very many categories, or with two categories that look the same."""
    if len(categories) > MAX_CATEGORIES_WITHOUT_WARNING:
        warn(
            f"column {show(name)} has {len(categories):,} categories; is it an identifier, or a number (",
            Argument("numeric", [name]),
            ")?",
        )
    seen: dict[str, str] = {}
    for category in categories:
        if not isinstance(category, str):
            return
        plain = unicodedata.normalize("NFKC", category).strip().casefold()
        if plain in seen:
            warn(
                f"column {show(name)}: the categories {show(seen[plain])} and {show(category)} differ only by "
                "case, spaces or Unicode form; they are kept apart"
            )
            return
        seen[plain] = category
