"""The target as class numbers or as numbers, and the rules that row weights must meet."""

from typing import Literal

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, ArrayLike, Category, Floats, Ints, Labels, Series, write_protect
from .._utils.checks import check_name
from .._utils.warn import format_names, warn
from ..errors import DataError, MessagePart, ParameterError, SchemaError, UnsupportedError, Wording
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
from .table import Schema

TargetKind = Literal["class", "number"]

MAX_CLASSES_WITHOUT_WARNING = 1000
LARGEST_TARGET = 1e60  # standard errors are of squared errors, so that fourth powers, weighted, must be floats
MIN_TOTAL_WEIGHT = 1e-40  # of weights, for the same reason
SAMPLE_WEIGHT = Wording("sample_weight", "--sample-weight")
MISSING_LABEL_WORDS = ("na", "n/a", "#n/a", "nan", "null", "?", "")  # words that are no class


def encode_target(y: Labels, *, classes: ArrayLike | None = None) -> tuple[Ints, Array]:
    """Return the class number of each label, and the classes.

    Parameters
    ----------
    y : array-like
        Labels: text, booleans or whole numbers, none of them missing.
    classes : array, optional
        The classes of the growing table. Left out, they are the distinct labels, sorted.

    Returns
    -------
    codes : array of int32
        `classes[codes]` gives the labels back. With `classes` given, labels that are not
        among them all get the number `len(classes)`, which errs everywhere, with a warning.
    classes : array

    Notes
    -----
    A label is known by its value: 1, 1.0 and True are the same class, 1 and "1" are not.

    Examples
    --------
    >>> codes, classes = encode_target(["spam", "ham", "spam"])
    >>> codes.tolist(), classes.tolist()
    ([1, 0, 1], ['ham', 'spam'])
    >>> encode_target([0, 1, 2, 1])[0].tolist()
    [0, 1, 2, 1]
    """
    given = _read_labels(y)
    if classes is not None:
        known = np.asarray(classes)
        codes, new = class_numbers(given, known)
        if new:
            warn(
                f"y holds classes the tree has not seen ({format_names(new, 5)}); their rows count as errors everywhere"
            )
        return codes, known
    _check_labels(given)
    if isinstance(given, CategoryColumn):
        found = sorted(given.occurring_categories())
        codes = given.recode(found).codes
        # Text of a fixed width stays so; any other text stays Python strings, whatever their length.
        dtype = y.dtype if isinstance(y, np.ndarray) and y.dtype.kind == "U" else object
        labels = np.array(found, dtype if given.is_text else None)
    else:
        codes, labels = factorize_numbers(given.values)
    if len(labels) > MAX_CLASSES_WITHOUT_WARNING:
        warn(f"y has {len(labels):,} classes; counting them takes {8 * len(labels):,} bytes for every node of the tree")
    return write_protect(codes), write_protect(labels)


def class_numbers(given: RawColumn, classes: Array, what: str = "y", first: int = 0) -> tuple[Ints, list[Category]]:
    """Return the number of each label among known classes, `len(classes)` for others, and those others.

    Messages call the labels `what`, and count rows from `first` on.
    """
    _check_labels(given, what, first)
    coded, known = factorize(given), classes.tolist()
    if coded.is_text != isinstance(known[0], str):
        raise SchemaError(
            f"{what} holds {format_names(coded.levels[:3])}, but the classes of the tree are {format_names(known[:3])}"
            "; text and numbers are never equal: convert it"
        )
    codes = coded.recode(known).codes
    is_new = codes < 0
    codes[is_new] = len(known)
    return write_protect(codes), coded.occurring_categories(is_new) if is_new.any() else []


def encode_numeric_target(y: Labels, what: str = "y", first: int = 0) -> Floats:
    """Return the numbers that a regression tree is to predict, one per row.

    Parameters
    ----------
    y : array-like
        Numbers or booleans, none of them missing or infinite.
    what, first : str, int
        What messages call them, and the number of the first row.

    Examples
    --------
    >>> encode_numeric_target([1, 2.5]).tolist(), encode_numeric_target([True, False]).tolist()
    ([1.0, 2.5], [1.0, 0.0])
    """
    given = _read_labels(y)
    if isinstance(given, CategoryColumn):
        if given.is_text:
            raise DataError(
                f"{what} holds text ({format_names(given.occurring_categories()[:3])}) where numbers are needed; "
                "convert it, or use ",
                Wording("a criterion for classes (TreeClassifier)", "--task classify"),
                " if these are classes",
            )
        given = NumberColumn(np.array([*given.levels, np.nan], float)[given.codes])  # the last is where missing points
    values = given.values.astype(np.float64)
    if len(values) == 0:
        raise DataError(f"{what} has 0 numbers; found 0 sample(s) while a minimum of 1 is required.")
    check_target_complete(given, what, first)
    is_inf, is_large = np.isinf(values), ~(np.abs(values) <= LARGEST_TARGET)
    if is_inf.any():
        raise DataError(f"Input {what} contains infinity ({_first_rows(is_inf, first)}); finite numbers are needed")
    if is_large.any():
        raise DataError(
            f"{what} reaches {values[is_large][0]:.6g} ({_first_rows(is_large, first)}); numbers up to "
            f"{LARGEST_TARGET:g} are needed, whose fourth powers can still be added up: divide it"
        )
    return write_protect(values)


def check_target_complete(given: RawColumn, what: str = "y", first: int = 0) -> None:
    """Refuse a target with gaps."""
    is_missing = given.missing_mask
    if is_missing.any():
        told = "Input y contains NaN: the target" if what == "y" else what  # scikit-learn's words, and ours
        raise DataError(
            f"{told} is missing in {np.count_nonzero(is_missing):,} rows ({_first_rows(is_missing, first)}); "
            "remove these rows"
        )


def drop_unlabelled_rows(
    source: Batch, target: str, missing: str = "drop", classes: Array | None = None
) -> tuple[Batch, Array | None]:
    """Return the rows that have a target, and which these are (None: all)."""
    check_name("missing_target", missing, ("drop", "error"))
    is_missing = is_unlabelled(source.read(target), classes)
    n_missing = int(np.count_nonzero(is_missing))
    if n_missing == 0 or missing == "error":
        return source, None
    if n_missing == source.n_rows:
        raise DataError(f"the target {target!r} is missing in all {n_missing:,} rows; name another column")
    warn(f"{n_missing:,} of {source.n_rows:,} rows have no target {target!r} and are left out")
    return source.where(~is_missing), ~is_missing


def is_unlabelled(given: RawColumn, classes: Array | None = None) -> Array:
    """Where a column has no label: gaps, and words such as NA that are no known class, or stand beside two others."""
    is_missing = given.missing_mask
    if isinstance(given, CategoryColumn) and given.is_text:
        known = () if classes is None else classes.tolist()
        words = [
            k
            for k, level in enumerate(given.levels)
            if level.strip().lower() in MISSING_LABEL_WORDS and level not in known
        ]
        if words and (classes is not None or len(given.levels) - len(words) > 1):
            is_missing = is_missing | np.isin(given.codes, words)
    return is_missing


def is_numeric_target(target_kind: TargetKind | None, known: Schema | None, own: Schema | None = None) -> bool:
    """Whether the target is to be read as numbers: as asked, as the schema or else the table itself has it."""
    if target_kind not in (None, "class", "number"):
        raise ParameterError(f"target_kind={target_kind!r}; 'class', 'number' or None is needed")
    if target_kind is None:
        about = own if known is None else known
        return about is not None and about.has_numeric_target
    was = None if known is None or not known.has_target else "number" if known.has_numeric_target else "class"
    if was not in (None, target_kind):
        raise SchemaError(f"target_kind={target_kind!r}, but the tree was grown on a target of kind {was!r}")
    return target_kind == "number"


def decode_numeric_labels(codes: Array, classes: Array | None) -> Array:
    """Return the labels behind the class numbers of a table, which must be numbers or booleans."""
    if classes is None:
        raise DataError("the target of the table is a number; pass y, or encode the data with target_kind='class'")
    if codes.max(initial=0) >= len(classes):
        raise DataError("the table holds labels that are not in its schema; encode it with target_kind='number'")
    return np.asarray(classes[codes])


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weights of the rows as float64; None means that every row counts once.

    Parameters
    ----------
    sample_weight : array-like or None
        Numbers of 0 or more, not all 0.
    n_rows : int
        How many there must be.

    Examples
    --------
    >>> check_weights([1, 0, 2], 3).tolist()
    [1.0, 0.0, 2.0]
    """
    if sample_weight is None:
        return None
    try:
        given = np.asarray(sample_weight)
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            SAMPLE_WEIGHT, f" holds values that are not numbers ({error}); one number per row is needed"
        ) from error
    if weights.shape != (n_rows,) or given.dtype.kind == "c":
        raise DataError(
            SAMPLE_WEIGHT, f" is {given.dtype} of shape {given.shape}; {n_rows} numbers, one per row, are needed"
        )
    _check_each(weights, np.inf, SAMPLE_WEIGHT, 0)
    if not weights.any():
        raise DataError("every ", SAMPLE_WEIGHT, " is zero; at least one row must have a weight above zero")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not MIN_TOTAL_WEIGHT <= total < MAX_EXACT_INT:
        raise DataError(
            SAMPLE_WEIGHT,
            f" adds up to {total:.6g}; {MIN_TOTAL_WEIGHT:g} to below 2**53 is needed, where sums and "
            f"their squares are exact or nearly so: rescale it, for instance divide by {weights.max():.6g}",
        )
    return write_protect(weights)


def read_weights(given: RawColumn, what: str, first: int) -> Floats:
    """Return the weights of some rows of a sample that was not seen whole; messages call them `what`."""
    if isinstance(given, CategoryColumn):
        raise SchemaError(f"{what} holds {format_names(given.levels[:3])}; numbers are needed")
    weights = np.where(given.missing_mask, np.nan, given.values.astype(np.float64))
    _check_each(weights, MAX_EXACT_INT, what, first)
    return weights


def _check_each(weights: Floats, limit: float, what: MessagePart, first: int) -> None:
    wrong = np.flatnonzero(~((weights >= 0) & (weights < limit)))
    if len(wrong):
        below = ", below 2**53," if limit < np.inf else ""
        raise DataError(
            what,
            f" of row {first + int(wrong[0])} is {weights[wrong[0]]} ({len(wrong):,} such); "
            f"finite numbers of 0 or more{below} are needed",
        )


def round_for_exact_sums(weights: Floats) -> Floats:
    """Return the weights rounded to a grid so fine that it does not matter and so coarse that every sum is exact.

    Sums then do not depend on the order of the rows, a difference of equal sums is 0, and
    routing the growing data gives the growing counts to the last bit. Whole numbers stay.

    Examples
    --------
    >>> third, fifth = round_for_exact_sums([1 / 3, 1 / 5]).tolist()
    >>> (third + fifth) - fifth == third
    True
    """
    given = np.asarray(weights, np.float64)
    if not (given % 1).any():
        return given
    unit = 2.0 ** (np.frexp(given.sum())[1] - 51)  # sums stay below 2**53 units, also after rounding up
    return np.asarray(np.rint(given / unit) * unit)


def _read_labels(y: Labels) -> RawColumn:
    """Return the labels as one column."""
    if isinstance(y, NumberColumn | CategoryColumn):
        return y
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    if hasattr(y, "tocsc"):
        raise UnsupportedError(f"y is sparse ({type(y).__name__}); pass y.toarray().ravel()")
    if not isinstance(y, np.ndarray | list | tuple):
        series = _series(y)
        if series is not None:
            return read_series(series, series.name or "y")
    array = dense_array(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        _tell_column()
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"y has shape {array.shape}; one label per row, shape (n,), is needed (a single output)")
    return read_objects(array, "y") if array.dtype == object else NumberColumn(array)


def _series(y: Labels) -> Series:
    """Return the narwhals series behind `y`, None if it comes from no frame library."""
    import narwhals.stable.v2 as nw

    if hasattr(y, "__arrow_c_array__") and type(y).__module__.startswith("pyarrow"):
        import pyarrow as pa

        y = pa.chunked_array([y])
    found = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(found, nw.Series):
        return found
    if isinstance(found, nw.LazyFrame):
        raise UnsupportedError(f"y is lazy ({type(y).__name__}); pass y.collect()")
    if isinstance(found, nw.DataFrame):
        if found.shape[1] != 1:
            raise DataError(f"y has {found.shape[1]} columns; one label per row is needed (a single output)")
        _tell_column()
        return found[:, 0]
    if not hasattr(y, "__array__"):
        raise UnsupportedError(f"y is a {type(y).__name__}; a sequence of labels is needed")
    return None


def _tell_column() -> None:
    warn("y is a column vector of shape (n, 1); it is read as (n,): pass y.ravel()")


def _check_labels(given: RawColumn, what: str = "y", first: int = 0) -> None:
    if len(given) == 0:
        raise DataError(f"{what} has 0 labels; found 0 sample(s) while a minimum of 1 is required.")
    check_target_complete(given, what, first)
    if isinstance(given, CategoryColumn):
        numbers = np.array(given.occurring_categories() if value_type(given.levels) == "number" else [], float)
    else:
        numbers = given.values if given.values.dtype.kind == "f" else np.zeros(0)
    if np.isinf(numbers).any():
        shown = f" ({_first_rows(np.isinf(numbers), first)})" if isinstance(given, NumberColumn) else ""
        raise DataError(f"Input {what} contains infinity{shown}; class labels are text, booleans or whole numbers")
    fraction = numbers[numbers % 1 != 0]
    if len(fraction):
        raise DataError(
            f"Unknown label type: continuous ({what} holds {fraction[0]}); use ",
            Wording("TreeRegressor", "--task regress"),
            " for a continuous target, or turn the labels into text if they are classes",
        )


def _first_rows(is_wrong: Array, first: int = 0) -> str:
    rows = first + np.flatnonzero(is_wrong)
    return "rows " + ", ".join(map(str, rows[:5].tolist())) + (", ..." if len(rows) > 5 else "")
