"""The target of the rows, read as class numbers or as numbers."""

from typing import Any, Literal

import numpy as np

from .._utils.arrays import Array, ArrayLike, Category, Floats, Ints, Labels, Series, write_protect
from .._utils.checks import check_name
from .._utils.warn import format_names, warn
from ..errors import DataError, ParameterError, SchemaError, UnsupportedError, Wording, show
from .batch import Batch
from .raw_column import (
    CategoryColumn,
    NumberColumn,
    RawColumn,
    dense_array,
    factorize,
    factorize_numbers,
    read_objects,
    read_series,
    value_type,
)
from .table import Schema, read_only_view

TargetKind = Literal["class", "number"]

MAX_CLASSES_WITHOUT_WARNING = 1000
# Standard errors of squared errors are computed from weighted fourth powers of the target, which must be finite.
LARGEST_TARGET = 1e60
MISSING_LABEL_WORDS = ("na", "n/a", "#n/a", "nan", "null", "?", "")  # in lower case


def encode_target(y: Labels, *, classes: ArrayLike | None = None) -> tuple[Ints, Array]:
    """Return the class number of each label, and the classes.

    Parameters
    ----------
    y : array-like
        Labels: text, booleans or whole numbers, none of them missing.
    classes : array, optional
        The classes of the growing table. By default the distinct labels, sorted.

    Returns
    -------
    codes : array of int32
        `classes[codes]` gives the labels back. If `classes` is passed, labels that are not among them all get the
        number `len(classes)`, which counts as an error in every leaf, and a warning is issued.
    classes : array

    Notes
    -----
    Labels are compared by value: 1, 1.0 and True are the same class, 1 and "1" are not.

    Examples
    --------
    >>> codes, classes = encode_target(["spam", "ham", "spam"])
    >>> codes.tolist(), classes.tolist()
    ([1, 0, 1], ['ham', 'spam'])
    >>> encode_target([0, 1, 2, 1])[0].tolist()
    [0, 1, 2, 1]
    """
    column = read_labels(y)
    if classes is not None:
        known_classes = np.asarray(classes)
        codes, new_labels = class_numbers(column, known_classes)
        if new_labels:
            warn(
                f"y holds classes the tree has not seen ({format_names(new_labels, 5)}); their rows count as errors "
                "everywhere"
            )
        return codes, known_classes
    check_labels(column)
    if isinstance(column, CategoryColumn):
        occurring = sorted(column.occurring_categories())
        codes = column.recode(occurring).codes
        # Text of a fixed width keeps its type. Other text becomes Python strings, whose length is not limited.
        text_dtype = y.dtype if isinstance(y, np.ndarray) and y.dtype.kind == "U" else object
        labels = np.array(occurring, text_dtype if column.is_text else None)
    else:
        codes, labels = factorize_numbers(column.values)
    if len(labels) > MAX_CLASSES_WITHOUT_WARNING:
        warn(f"y has {len(labels):,} classes; counting them takes {8 * len(labels):,} bytes for every node of the tree")
    return read_only_view(codes), read_only_view(labels)


def class_numbers(
    column: RawColumn, classes: Array, name: str = "y", first_row: int = 0
) -> tuple[Ints, list[Category]]:
    """Return the class number of each label, and the labels that are not among `classes`.

    Labels that are not among `classes` have the number `len(classes)`. Messages call the labels `name`, and number the
    rows from `first_row`.
    """
    check_labels(column, name, first_row)
    coded, known_classes = factorize(column), classes.tolist()
    if coded.is_text != isinstance(known_classes[0], str):
        raise SchemaError(
            f"{name} holds {format_names(coded.categories[:3])}, but the classes of the tree are "
            f"{format_names(known_classes[:3])}; text and numbers are never equal: convert it"
        )
    codes = coded.recode(known_classes).codes
    is_new = codes < 0
    codes[is_new] = len(known_classes)
    return write_protect(codes), coded.occurring_categories(is_new) if is_new.any() else []


def encode_numeric_target(y: Labels, name: str = "y", first_row: int = 0) -> Floats:
    """Return the numbers that a regression tree predicts, one per row.

    Parameters
    ----------
    y : array-like
        Numbers or booleans, none of them missing or infinite.
    name : str
        What messages call the numbers.
    first_row : int
        The number of the first row in messages.

    Examples
    --------
    >>> encode_numeric_target([1, 2.5]).tolist(), encode_numeric_target([True, False]).tolist()
    ([1.0, 2.5], [1.0, 0.0])
    """
    column = read_labels(y)
    if isinstance(column, CategoryColumn):
        if column.is_text:
            raise DataError(
                f"{name} holds text ({format_names(column.occurring_categories()[:3])}) where numbers are needed; "
                "convert it, or use ",
                Wording("a criterion for classes (TreeClassifier)", "--task classify"),
                " if these are classes",
            )
        # The code -1 of a missing value selects the last entry.
        column = NumberColumn(np.array([*column.categories, np.nan], float)[column.codes])
    values = column.values.astype(np.float64)
    if len(values) == 0:
        raise DataError(f"{name} has 0 numbers; found 0 sample(s) while a minimum of 1 is required.")
    check_target_complete(column, name, first_row)
    is_infinite, is_large = np.isinf(values), ~(np.abs(values) <= LARGEST_TARGET)
    if is_infinite.any():
        rows = _describe_rows(is_infinite, first_row)
        raise DataError(f"Input {name} contains infinity ({rows}); finite numbers are needed")
    if is_large.any():
        raise DataError(
            f"{name} reaches {values[is_large][0]:.6g} ({_describe_rows(is_large, first_row)}); numbers up to "
            f"{LARGEST_TARGET:g} are needed, whose fourth powers can still be added up: divide it"
        )
    return write_protect(values)


def check_target_complete(column: RawColumn, name: str = "y", first_row: int = 0) -> None:
    """Raise `DataError` if the target is missing in some rows."""
    is_missing = column.missing_mask
    if is_missing.any():
        # scikit-learn's estimator checks require the words "contains NaN".
        subject = "Input y contains NaN: the target" if name == "y" else name
        raise DataError(
            f"{subject} is missing in {np.count_nonzero(is_missing):,} rows ({_describe_rows(is_missing, first_row)}); "
            "remove these rows"
        )


def drop_unlabelled_rows(
    batch: Batch, target: str, missing_target: str = "drop", classes: Array | None = None
) -> tuple[Batch, Array | None]:
    """Drop the rows without a target, with a warning.

    Parameters
    ----------
    batch : Batch
    target : str
        The column that contains the target.
    missing_target : "drop" or "error"
        With "error" all rows are returned, and a later check refuses those without a target.
    classes : array, optional
        The classes of the growing table.

    Returns
    -------
    batch : Batch
    is_kept : array of bool or None
        The rows that are kept; None if all are.
    """
    check_name("missing_target", missing_target, ("drop", "error"))
    is_missing = is_unlabelled(batch.read(target), classes)
    n_missing = int(np.count_nonzero(is_missing))
    if n_missing == 0 or missing_target == "error":
        return batch, None
    if n_missing == batch.n_rows:
        raise DataError(f"the target {show(target)} is missing in all {n_missing:,} rows; name another column")
    warn(f"{n_missing:,} of {batch.n_rows:,} rows have no target {show(target)} and are left out")
    return batch.filter(~is_missing), ~is_missing


def is_unlabelled(column: RawColumn, classes: Array | None = None) -> Array:
    """Return the mask of rows without a label.

    A row has no label if its value is missing. A word such as NA also means that the label is missing, except in two
    cases: it is one of `classes`; or `classes` is None and the column has at most one other category.
    """
    is_missing = column.missing_mask
    if not (isinstance(column, CategoryColumn) and column.is_text):
        return is_missing
    known_classes = () if classes is None else classes.tolist()
    word_codes = [
        code
        for code, category in enumerate(column.categories)
        if category.strip().lower() in MISSING_LABEL_WORDS and category not in known_classes
    ]
    has_two_labels = len(column.categories) - len(word_codes) > 1
    if word_codes and (classes is not None or has_two_labels):
        is_missing = is_missing | np.isin(column.codes, word_codes)
    return is_missing


def is_numeric_target(
    target_kind: TargetKind | None, schema: Schema | None, table_schema: Schema | None = None
) -> bool:
    """Return whether the target is to be read as numbers.

    `target_kind` decides if it is not None; it must agree with `schema`, the schema of the growing table. Otherwise
    `schema` decides, and without one `table_schema`, the schema of the data if they are encoded already.
    """
    if target_kind not in (None, "class", "number"):
        raise ParameterError(f"target_kind={show(target_kind)}; 'class', 'number' or None is needed")
    if target_kind is None:
        deciding = table_schema if schema is None else schema
        return deciding is not None and deciding.has_numeric_target
    if schema is not None and schema.has_target:
        grown_kind = "number" if schema.has_numeric_target else "class"
        if grown_kind != target_kind:
            raise SchemaError(
                f"target_kind={show(target_kind)}, but the tree was grown on a target of kind {show(grown_kind)}"
            )
    return target_kind == "number"


def decode_numeric_labels(codes: Array, classes: Array | None) -> Array:
    """Return the labels of the class numbers of a table. They must be numbers or booleans."""
    if classes is None:
        raise DataError("the target of the table is a number; pass y, or encode the data with target_kind='class'")
    if codes.max(initial=0) >= len(classes):
        raise DataError("the table holds labels that are not in its schema; encode it with target_kind='number'")
    return np.asarray(classes[codes])


def read_labels(y: Labels, name: str = "y") -> RawColumn:
    """Return labels of any supported type as one column; messages call them `name`."""
    if isinstance(y, NumberColumn | CategoryColumn):
        return y
    if y is None:
        raise DataError(f"requires {name} to be passed, but the target {name} is None")
    if hasattr(y, "tocsc"):
        raise UnsupportedError(f"{name} is sparse ({type(y).__name__}); pass {name}.toarray().ravel()")
    if not isinstance(y, np.ndarray | list | tuple):
        series = _as_series(y, name)
        if series is not None:
            return read_series(series, series.name or name)
    array = dense_array(y, name)
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_column_vector(name)
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; one label per row, shape (n,), is needed (a single output)")
    return read_objects(array, name) if array.dtype == object else NumberColumn(array)


def _as_series(y: Labels, name: str) -> Series:
    """Return `y` as a narwhals series, or None if it is array-like but no object of a data frame library."""
    import narwhals.stable.v2 as nw

    if hasattr(y, "__arrow_c_array__") and type(y).__module__.startswith("pyarrow"):
        import pyarrow as pa

        y = pa.chunked_array([y])
    try:
        wrapped: Any = nw.from_native(y, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"{name} has several columns of one name; one label per row is needed") from error
    if isinstance(wrapped, nw.Series):
        return wrapped
    if isinstance(wrapped, nw.LazyFrame):
        raise UnsupportedError(f"{name} is lazy ({type(y).__name__}); pass {name}.collect()")
    if isinstance(wrapped, nw.DataFrame):
        if wrapped.shape[1] != 1:
            raise DataError(f"{name} has {wrapped.shape[1]} columns; one label per row is needed (a single output)")
        _warn_column_vector(name)
        return wrapped[:, 0]
    if not hasattr(y, "__array__"):
        raise UnsupportedError(f"{name} is a {type(y).__name__}; a sequence of labels is needed")
    return None


def _warn_column_vector(name: str) -> None:
    warn(f"{name} is a column vector of shape (n, 1); it is read as (n,): pass {name}.ravel()")


def check_labels(column: RawColumn, name: str = "y", first_row: int = 0) -> None:
    """Raise `DataError` unless the labels are complete, and text, booleans or whole numbers."""
    if len(column) == 0:
        raise DataError(f"{name} has 0 labels; found 0 sample(s) while a minimum of 1 is required.")
    check_target_complete(column, name, first_row)
    if isinstance(column, CategoryColumn):
        has_numbers = value_type(column.categories) == "number"
        numbers = np.array(column.occurring_categories() if has_numbers else [], float)
    else:
        numbers = column.values if column.values.dtype.kind == "f" else np.zeros(0)
    is_infinite = np.isinf(numbers)
    if is_infinite.any():
        rows = f" ({_describe_rows(is_infinite, first_row)})" if isinstance(column, NumberColumn) else ""
        raise DataError(f"Input {name} contains infinity{rows}; class labels are text, booleans or whole numbers")
    fractions = numbers[numbers % 1 != 0]
    if len(fractions):
        raise DataError(
            f"Unknown label type: continuous ({name} holds {fractions[0]}); use ",
            Wording("TreeRegressor", "--task regress"),
            " for a continuous target, or turn the labels into text if they are classes",
        )


def _describe_rows(mask: Array, first_row: int = 0) -> str:
    """Return the numbers of the first rows in which `mask` is true, for a message."""
    rows = first_row + np.flatnonzero(mask)
    return "rows " + ", ".join(map(str, rows[:5].tolist())) + (", ..." if len(rows) > 5 else "")
