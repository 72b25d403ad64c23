"""Checks of row weights, and their rounding to numbers whose sums are exact."""

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, ArrayLike, Floats, write_protect
from .._utils.warn import format_names
from ..errors import DataError, MessagePart, SchemaError, Wording
from .raw_column import CategoryColumn, RawColumn

MIN_TOTAL_WEIGHT = 1e-40  # standard errors are computed from weighted fourth powers, which must not become 0
SAMPLE_WEIGHT = Wording("sample_weight", "--sample-weight")


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weights of the rows as float64. None means that every row counts once.

    Parameters
    ----------
    sample_weight : array-like or None
        Numbers of 0 or more, not all 0.
    n_rows : int
        The number of rows, which must have one weight each.

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
    _check_each_weight(weights, np.inf, SAMPLE_WEIGHT, 0)
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


def read_weights(column: RawColumn, name: str, first_row: int) -> Floats:
    """Return the weights of one batch of a sample. Messages call them `name`, and number the rows from `first_row`."""
    if isinstance(column, CategoryColumn):
        raise SchemaError(f"{name} holds {format_names(column.categories[:3])}; numbers are needed")
    weights = np.where(column.missing_mask, np.nan, column.values.astype(np.float64))
    _check_each_weight(weights, MAX_EXACT_INT, name, first_row)
    return weights


def _check_each_weight(weights: Floats, limit: float, name: MessagePart, first_row: int) -> None:
    """Raise `DataError` unless all weights are at least 0 and below `limit`."""
    bad_rows = np.flatnonzero(~((weights >= 0) & (weights < limit)))
    if len(bad_rows):
        below = ", below 2**53," if limit < np.inf else ""
        raise DataError(
            name,
            f" of row {first_row + int(bad_rows[0])} is {weights[bad_rows[0]]} ({len(bad_rows):,} such); "
            f"finite numbers of 0 or more{below} are needed",
        )


def are_whole(weights: Floats) -> bool:
    """Return whether all weights are whole numbers, which count as repetitions of a row."""
    return bool((weights == np.rint(weights)).all())


def round_for_exact_sums(weights: Floats) -> Floats:
    """Return the weights rounded to multiples of one power of 2, so that all sums of them are exact.

    Sums then do not depend on the order of the rows, the difference of equal sums is 0, and routing the growing rows
    gives the growing counts to the last bit. Whole numbers are not changed. All others change by less than a rounding
    error of their sum.

    Examples
    --------
    >>> third, fifth = round_for_exact_sums([1 / 3, 1 / 5]).tolist()
    >>> (third + fifth) - fifth == third
    True
    """
    given = np.asarray(weights, np.float64)
    if not (given % 1).any():
        return given
    unit = 2.0 ** (np.frexp(given.sum())[1] - 51)  # sums stay below 2**53 units, even if all weights are rounded up
    return np.asarray(np.rint(given / unit) * unit)
