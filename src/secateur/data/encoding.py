"""encode: data of any kind as a `Table`, new or in the columns of an earlier one.

Reading is the business of `sources`; here it is decided what a column means. Without a
schema the data makes its own: numbers are numeric, everything else nominal, unless the
caller says otherwise. With a schema the data must meet it, by name where both have names.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from .._utils.arrays import Array, ArrayLike, Columns, Labels, Rows
from .._utils.checks import as_list, check_name
from .._utils.warn import format_names
from ..errors import Argument, DataError, ParameterError, SchemaError
from .batch import Batch, cell_types_for, open_batch
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
from .target import (
    TargetKind,
    check_weights,
    decode_numeric_labels,
    drop_unlabelled_rows,
    encode_numeric_target,
    encode_target,
    is_numeric_target,
)
from .text_file import DateReading, TextOptions

Unseen = Literal["majority-branch", "missing", "error"]
PLURAL = {"number": "numbers", "truth": "booleans", "text": "text"}


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
    """Return `data` as a table: one array per column, and a schema.

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
        How to treat a category that is not in the schema: it follows the branch with
        most growing examples, counts as missing, or is refused.
    sample_weight : array-like, optional
        Row weights. Rows of weight 0 add no category and no missing value to a new schema.
    delimiter, na, encoding, decimal : str; sequence of str; str; str
        For a text file: its delimiter, the cells that mean "missing", its encoding ("cp1252") and its decimal
        mark ("." or ","). All but `na` are detected by default.
    dates : {"auto", "dmy", "mdy", "text"}
        Columns of dates in a file become days since 1970-01-01; "dmy" and "mdy" set the order of 3/4/2024, and "text"
        keeps the text.
    missing_target : {"drop", "error"}
        How to treat rows without a target, if it is a column of the data: they are dropped with a warning, or
        refused. Labels that are passed separately are never dropped.

    Returns
    -------
    Table
        Columns of float32 or float64 numbers are views of the caller's data, not copies.
        Categories of a categorical type are all those it declares, in its order; those of any
        other column are the values that occur, sorted.

    Notes
    -----
    One pass over the data. A category is known by its value, never by its code. Missing
    is NaN, None, a null, a masked cell; the empty string is a value like any other, except
    in a CSV file.

    Examples
    --------
    >>> rows = [["red", 1.5], ["blue", None], ["red", 0.5]]
    >>> table = encode(rows, names=["colour", "size"], target=["yes", "no", "yes"])
    >>> table
    Table(3 rows, 1 nominal and 1 numeric columns, 2 classes)
    >>> table.columns[0].tolist(), table.categories[0], table.target.tolist()
    ([1, 0, 1], ('blue', 'red'), [1, 0, 1])

    Later data is read in the same terms; green was never seen, and gets the code -1:

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
        return _encoded_before(data, target, known, is_numeric_target(target_kind, known, data.schema))
    is_number = is_numeric_target(target_kind, known)
    how = TextOptions(delimiter, (na,) if isinstance(na, str) else tuple(na), True, encoding, decimal, dates)
    source = open_batch(data, names=names, how=how, wanted=cell_types_for(known, nominal, numeric, target))
    wanted = _wanted(source.names, nominal, numeric)
    label_column, labels = None, target
    if isinstance(target, str | int | np.integer) and not isinstance(target, bool):
        label_column = _position(target, source.names, "target")
        classes = None if known is None else known.classes
        source, is_kept = drop_unlabelled_rows(source, source.names[label_column], missing_target, classes)
        if is_kept is not None and sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[is_kept]
    order = [j for j in range(len(source.names)) if j != label_column]
    if source.n_rows == 0:
        raise DataError(f"found array with 0 sample(s) (shape=(0, {len(order)})) while a minimum of 1 is required.")
    if not order:
        raise DataError(f"found array with 0 feature(s) (shape=({source.n_rows}, 0)) while a minimum of 1 is required.")
    if label_column is not None:
        labels = source.readers[label_column]()
    weights = check_weights(sample_weight, source.n_rows)
    if known is None:
        is_used = None if weights is None or weights.all() else weights > 0
        table = _new_table(source.select(order), [wanted[j] for j in order], is_used)
    else:
        order = _matched(source, order, known, strict=strict)
        table = encode_batch(source.select(order), known, unseen, [wanted[j] for j in order])
    return table if labels is None else _with_target(table, labels, is_number)


def _encoded_before(table: Table, target: Labels, known: Schema | None, is_number: bool) -> Table:
    if target is None and table.target is not None and is_number != table.schema.has_numeric_target:
        target = decode_numeric_labels(table.target, table.schema.classes)
    if target is not None:
        plain = replace(table.schema, classes=None, has_numeric_target=False)
        table = replace(table, schema=plain, target=None)
    if known is not None and table.schema.columns != known.columns:
        raise SchemaError("the table was encoded with another schema; encode the data itself with schema=")
    if known is not None and known.has_target and table.target is None:
        table = replace(table, schema=known)
    if known is not None and not (known.classes is None or table.schema == known):
        raise SchemaError("the table has other classes than the schema; encode the data itself with schema=")
    return table if target is None else _with_target(table, target, is_number)


def _with_target(table: Table, labels: Labels, is_number: bool) -> Table:
    known = table.schema.classes
    codes, classes = (encode_numeric_target(labels), None) if is_number else encode_target(labels, classes=known)
    if len(codes) != table.n_rows:
        raise DataError(
            f"X has {table.n_rows:,} rows but y has {len(codes):,} labels (inconsistent numbers of samples); "
            "one label per row is needed"
        )
    schema = table.schema
    if not schema.has_target:
        schema = replace(schema, classes=classes, has_numeric_target=is_number)
    return replace(table, schema=schema, target=codes)


def _position(column: object, names: tuple[str, ...], what: str) -> int:
    if isinstance(column, str):
        if column in names:
            return names.index(column)
        raise ParameterError(f"{what}={column!r} is not a column; the columns are {format_names(names)}")
    if not isinstance(column, int | np.integer) or isinstance(column, bool):
        raise ParameterError(f"{what} holds {column!r}; names or positions of columns are needed")
    if not -len(names) <= column < len(names):
        raise ParameterError(f"{what}={column} is not a column; there are {len(names)}, counted from 0")
    return int(column) % len(names)


def _wanted(names: tuple[str, ...], nominal: Columns | None, numeric: Columns | None) -> list[Kind | None]:
    wanted: list[Kind | None] = [None] * len(names)
    asked: tuple[tuple[Kind, Columns | None], ...] = (("nominal", nominal), ("numeric", numeric))
    for kind, columns in asked:
        for column in as_list(kind, columns):
            at = _position(column, names, kind)
            if wanted[at] not in (None, kind):
                raise ParameterError(f"column {names[at]!r} is given both as nominal and as numeric")
            wanted[at] = kind
    return wanted


def _matched(source: Batch, order: list[int], known: Schema, *, strict: bool) -> list[int]:
    """Return the position in the source of each column of the schema."""
    names = {source.names[j]: j for j in order}
    if not (source.has_names and known.has_names):
        if len(order) != len(known.columns):
            raise SchemaError(
                f"X has {len(order)} features, but secateur is expecting {len(known.columns)} features as input: "
                f"{format_names(known.names)}"
            )
        return order
    wanted = dict.fromkeys(known.names)
    missing, extra = [name for name in wanted if name not in names], [name for name in names if name not in wanted]
    if missing:
        more = f" (X has {format_names(extra)} instead)" if extra else ""
        raise SchemaError(
            f"X lacks the columns {format_names(missing)}, which the tree was grown on{more}; add or rename them"
        )
    if extra and strict:
        raise SchemaError(
            f"X has the columns {format_names(extra)}, which the tree was not grown on; drop them, pass strict=False "
            "to ignore them, or name one as ",
            Argument("target"),
        )
    return [names[name] for name in wanted]


def _new_table(source: Batch, wanted: list[Kind | None], is_used: Array | None) -> Table:
    """Make the schema and the table of data that has none yet."""
    if source.matrix is not None and "nominal" not in wanted:
        warn_merging(source.matrix, source.names)
        matrix = as_floats(source.matrix)
        gaps = _has_missing(matrix, source.names, is_used)
        columns = tuple(Column(name, "numeric", (), gap) for name, gap in zip(source.names, gaps, strict=True))
        return Table(Schema(columns, None, source.has_names), tuple(read_only_view(matrix).T), matrix=matrix)
    given = zip(source.names, source.readers, wanted, strict=True)
    made = [_new_column(name, read(), kind, is_used) for name, read, kind in given]
    return Table(Schema(tuple(about for about, _ in made), None, source.has_names), tuple(array for _, array in made))


def _new_column(name: str, given: RawColumn, kind: Kind | None, is_used: Array | None) -> tuple[Column, Array]:
    if isinstance(given, CategoryColumn) and kind == "numeric":
        given = parse_categories(given, name)
    if isinstance(given, NumberColumn) and kind != "nominal":
        warn_merging(given.values[:, None], (name,))
        values = column_as_floats(given)
        return Column(name, "numeric", (), _has_missing(values[:, None], (name,), is_used)[0], given.is_date), values
    coded = factorize(given)
    gaps, is_declared = coded.missing_mask, coded.is_declared
    has_missing = bool((gaps if is_used is None else gaps[is_used]).any())
    if is_used is not None and not is_declared:
        coded = coded.recode(coded.occurring_categories(is_used))
    codes = coded.codes.astype(np.int32)
    if has_missing:
        codes[gaps] = len(coded.levels)
    if kind is None and not is_declared and coded.is_text:
        warn_looks_numeric(name, coded.levels)
    warn_categories(name, coded.levels)
    return Column(name, "nominal", coded.levels, has_missing), codes


def encode_batch(source: Batch, known: Schema, unseen: Unseen, wanted: Sequence[Kind | None] = ()) -> Table:
    """Read a batch in the columns of a schema: it has as many, in the same order."""
    wanted = wanted or [None] * len(known.columns)
    for about, kind in zip(known.columns, wanted, strict=True):
        if kind not in (None, about.kind):
            raise ParameterError(
                f"column {about.name!r} is asked for as {kind}, but the tree was grown on it as {about.kind}"
            )
    if source.matrix is not None and all(about.kind == "numeric" for about in known.columns):
        matrix = as_floats(source.matrix)
        return Table(known, tuple(read_only_view(matrix).T), matrix=matrix)
    columns = zip(known.columns, source.readers, wanted, strict=True)
    found = (encode_column(about, read(), unseen, convert=kind == "numeric") for about, read, kind in columns)
    arrays, n_unseen = zip(*found, strict=True)
    return Table(known, arrays, n_unseen=n_unseen)


def encode_column(about: Column, given: RawColumn, unseen: Unseen, *, convert: bool = False) -> tuple[Array, int]:
    """Return a column as numbers or codes of the schema, and how many of its categories are unknown."""
    if about.kind == "numeric":
        if isinstance(given, CategoryColumn) and (convert or not (given.codes >= 0).any()):
            given = parse_categories(given, about.name)
        if isinstance(given, CategoryColumn):
            raise _other_kind(about, given)
        if given.is_date and not about.is_date:
            raise SchemaError(f"column {about.name!r} holds dates, but held numbers when it was grown; convert it")
        return column_as_floats(given), 0
    coded = factorize(given)
    is_missing = coded.codes < 0
    expected = value_type(about.categories)
    if expected not in (None, value_type(coded.levels)) and not is_missing.all():
        raise _other_kind(about, coded)
    codes = coded.recode(about.categories).codes
    is_new = (codes < 0) & ~is_missing
    n_new = int(np.count_nonzero(is_new))
    if n_new and unseen == "error":
        raise SchemaError(
            f"column {about.name!r}: {format_names(coded.occurring_categories(is_new))} in {n_new:,} rows (first row "
            f"{np.flatnonzero(is_new)[0]}) were not in the growing sample; unseen='majority-branch' sends them where "
            "most examples went"
        )
    if about.has_missing:
        codes[is_missing | is_new if unseen == "missing" else is_missing] = len(about.categories)
    return codes, n_new


def _other_kind(about: Column, given: CategoryColumn) -> SchemaError:
    rows = np.flatnonzero(given.codes >= 0)[:3]
    shown = ", ".join(repr(given.levels[given.codes[row]]) for row in rows)
    was = PLURAL["number"] if about.kind == "numeric" else f"categories such as {format_names(about.categories[:3])}"
    found = PLURAL.get(value_type(given.levels) or "", "values")
    problem = f"column {about.name!r} holds {found} ({shown}), but held {was} when the tree was grown"
    if about.kind == "numeric":
        return SchemaError(problem, "; convert it or pass ", Argument("numeric", [about.name]))
    return SchemaError(problem, "; convert it to the type it had")


def _has_missing(matrix: Array, names: Sequence[str], is_used: Array | None) -> list[bool]:
    """Return which columns have gaps; warn of columns with many infinite values."""
    with np.errstate(all="ignore"):
        is_suspect = ~np.isfinite(matrix.sum(axis=0))  # one pass: a sum is finite only if no value is NaN or infinite
    has_missing = [False] * len(names)
    for j in np.flatnonzero(is_suspect).tolist():
        column = matrix[:, j]
        warn_infinite(column, names[j])
        has_missing[j] = bool(np.isnan(column if is_used is None else column[is_used]).any())
    return has_missing
