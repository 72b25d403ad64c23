"""Screening for columns on which no tree should be grown: identifiers, and columns that contain the target.

Screening guesses from the rows. It proposes to leave out a column only if the evidence is clear. Other suspicious
columns are only reported.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from .._utils.arrays import Array
from .table import Column, Table

MIN_ROWS_TO_SCREEN = 30  # with fewer rows, an identifier cannot be recognised
MIN_DISTINCT_SHARE = 0.95  # distinct values per row of an identifier that is text
# A target of whole numbers is predicted as a number if it has more distinct values than both limits. The second limit
# is a share of the rows.
MAX_DISTINCT_CLASS_NUMBERS = 30
MAX_DISTINCT_CLASS_SHARE = 0.5
_IS_ID_NAME = re.compile(
    r"(?:^|[_\s.-])(?:id|ids|key|uuid|guid|nr|no|number|index|row|rowid|rownames?)$|ID$|^column1$"
).search
MISSING_VALUE_NUMBERS = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999)


@dataclass(frozen=True)
class ColumnFinding:
    """A suspicious column.

    Parameters
    ----------
    name : str
    reason : str
        What is suspicious, as the end of a sentence about the column.
    is_left_out : bool
        Whether the column should be left out.
    """

    name: str
    reason: str
    is_left_out: bool


def screen_columns(table: Table) -> list[ColumnFinding]:
    """Return the suspicious columns of a table with a target.

    Examples
    --------
    >>> from secateur.data.encoding import encode
    >>> rows = [[100 + k, k % 7, "yn"[k % 2]] for k in range(60)]
    >>> table = encode(rows, names=["customer_id", "age", "paid"], target=["no", "yes"] * 30)
    >>> for finding in screen_columns(table):
    ...     print(finding.name, "-", finding.reason)
    customer_id - an identifier: each of its 60 values occurs once
    paid - gives the target away: each of its values stands for one value of the target
    """
    if table.n_rows < MIN_ROWS_TO_SCREEN or table.target is None:
        return []
    findings = []
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        reason_to_leave_out = _describe_identifier(column, values) or _describe_leak(column, values, table)
        if reason_to_leave_out:
            findings.append(ColumnFinding(column.name, reason_to_leave_out, is_left_out=True))
        missing_value_reason = _describe_missing_value_number(column, values)
        if missing_value_reason:
            findings.append(ColumnFinding(column.name, missing_value_reason, is_left_out=False))
    return findings


def drop_columns(table: Table, names: set[str]) -> Table:
    """Return the table without these columns. At least one column must remain."""
    kept = [j for j, name in enumerate(table.names) if name not in names]
    schema = replace(table.schema, columns=tuple(table.schema.columns[j] for j in kept))
    n_unseen = tuple(table.n_unseen[j] for j in kept)
    return Table(schema, tuple(table.columns[j] for j in kept), table.target, None, n_unseen)


def looks_continuous(values: Array) -> bool:
    """Return whether a target should be predicted as a number: it has fractions, or very many distinct values."""
    if values.dtype.kind not in "iuf" or len(values) == 0:
        return False
    distinct = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
    has_fractions = bool(values.dtype.kind == "f" and (distinct % 1).any())
    return has_fractions or len(distinct) > max(MAX_DISTINCT_CLASS_NUMBERS, MAX_DISTINCT_CLASS_SHARE * len(values))


def _describe_identifier(column: Column, values: Array) -> str:
    """Return why a column is an identifier, or "" if it is none.

    Identifiers are text with nearly as many distinct values as rows, and whole numbers that occur once each if they
    are consecutive, sorted or named like an identifier.
    """
    n_rows = len(values)
    if column.kind == "nominal":
        known = values[(values >= 0) & (values < len(column.categories))]
        n_distinct = len(np.unique(known))
        is_text = len(column.categories) > 0 and isinstance(column.categories[0], str)
        if is_text and n_distinct > max(MIN_DISTINCT_SHARE * n_rows, MIN_ROWS_TO_SCREEN):
            return f"an identifier: {n_distinct:,} different values in {n_rows:,} rows"
        return ""
    if column.is_date or np.isnan(values).any() or (values % 1).any():
        return ""
    distinct = np.unique(values)
    if len(distinct) < n_rows:
        return ""
    is_consecutive = distinct[-1] - distinct[0] == n_rows - 1
    steps = np.diff(values)
    is_sorted = bool((steps > 0).all() or (steps < 0).all())
    if is_consecutive or is_sorted or _IS_ID_NAME(column.name):
        return f"an identifier: each of its {n_rows:,} values occurs once"
    return ""


def _describe_leak(column: Column, values: Array, table: Table) -> str:
    """Return how a column determines the target, or "" if it does not."""
    target = table.required_target
    if table.schema.has_numeric_target:
        is_scaled_target = column.kind == "numeric" and _is_linear_in(values, target)
        return "gives the target away: it is the target on another scale" if is_scaled_target else ""
    n_classes = len(np.unique(target))
    codes = np.unique(values, return_inverse=True)[1] if column.kind == "numeric" else values
    if n_classes < 2 or len(np.unique(codes)) != n_classes:
        return ""
    n_pairs = len(np.unique(np.stack([codes, target]), axis=1).T)
    if n_pairs == n_classes:
        return "gives the target away: each of its values stands for one value of the target"
    return ""


def _is_linear_in(values: Array, target: Array) -> bool:
    """Return whether the target is a linear function of the known values; False if there are too few of them."""
    is_known = ~np.isnan(values)
    x, y = values[is_known].astype(float), target[is_known]
    if len(x) < MIN_ROWS_TO_SCREEN or np.ptp(x) == 0 or len(np.unique(x)) < MIN_ROWS_TO_SCREEN or np.ptp(y) == 0:
        return False
    return bool(abs(np.corrcoef(x, y)[0, 1]) > 1 - 1e-9)


def _describe_missing_value_number(column: Column, values: Array) -> str:
    """Return which number, such as -999, is far from all others and may stand for a missing value, or ""."""
    if column.kind == "nominal" or column.is_date:
        return ""
    known = values[~np.isnan(values)]
    for number in MISSING_VALUE_NUMBERS:
        n_rows = int(np.count_nonzero(known == number))
        other_values = known[known != number]
        if n_rows < 2 or len(np.unique(other_values)) < 3:
            continue
        low, high = float(other_values.min()), float(other_values.max())
        distance = low - number if number < low else number - high
        if distance > max(high - low, 1):
            return f"holds {number} in {n_rows:,} rows, far from all other values ({low:g} to {high:g})"
    return ""
