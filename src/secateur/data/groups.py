"""Groups: rows that belong together, such as the visits of one patient, and must stay on one side of every split.

Each row carries a hash of the label of its group. So the rows of a group are recognised in any order, in other data and
after rows were selected. The labels themselves are not kept.
"""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import MAX_EXACT_INT, Array, Columns, Labels, Rows, write_protect
from .._utils.warn import format_names
from ..errors import DataError, LeakageError, ParameterError, Wording, show
from .batch import Batch, cell_types_for, open_batch
from .raw_column import CategoryColumn, NumberColumn, RawColumn, factorize
from .table import Table
from .target import read_labels

GroupHashes = npt.NDArray[np.uint64]
GROUPS = Wording("groups", "--groups")


def hash_groups(groups: Labels, n_rows: int | None = None, name: Any = GROUPS) -> GroupHashes:
    """Return a 64-bit hash of the group of each row.

    Parameters
    ----------
    groups : array-like
        The label of the group of each row: text, booleans or whole numbers, none of them missing. A number and the
        text that spells it are one label.
    n_rows : int, optional
        The number of rows, which must have one label each.
    name : str
        What messages call the labels.

    Examples
    --------
    >>> hashes = hash_groups(["anna", "ben", "anna"])
    >>> (hashes[0] == hashes[2]).item(), (hashes[0] == hashes[1]).item()
    (True, False)
    """
    if groups is None or isinstance(groups, str) or np.isscalar(groups):
        raise DataError(name, f" is {show(groups)}; the label of a group is needed for each row")
    column = read_labels(groups, str(name))
    if n_rows is not None:
        check_number_of_groups(column, n_rows, name)
    coded = _checked_column(column, name)
    hashes = [_hash_label(category) for category in coded.categories]
    return write_protect(np.array([*hashes, 0], np.uint64)[coded.codes])


def check_number_of_groups(groups: Any, n_rows: int, name: Any = GROUPS) -> None:
    """Raise `DataError` unless there is a group for each of `n_rows` rows."""
    if len(groups) != n_rows:
        raise DataError(name, f" has {len(groups):,} labels for {n_rows:,} rows; one label per row is needed")


def split_off_groups(X: Rows, groups: Labels, nominal: Columns | None = None) -> tuple[Rows, Labels]:
    """Return the rows without the column of groups, and the labels of the groups.

    Parameters
    ----------
    X : array, data frame or path
    groups : array-like, str or None
        The label of each row, or the name of a column of `X`, which is then not among the predictors.
    nominal : names or positions, optional
        Columns of numbers that are read as categories.
    """
    if not isinstance(groups, str):
        return X, groups
    if isinstance(X, Table):
        raise ParameterError(f"groups={show(groups)} with a Table, which has been encoded; pass the label of each row")
    batch = open_batch(X, cell_types=cell_types_for(None, nominal))
    if groups not in batch.names:
        raise ParameterError(f"groups={show(groups)} is not a column; the columns are {format_names(batch.names)}")
    return drop_column(batch, groups), batch.read(groups)


def drop_column(batch: Batch, name: str) -> Batch:
    """Return the batch without the column of this name."""
    rest = batch.select([j for j, other in enumerate(batch.names) if other != name])
    return rest if rest.matrix is None else replace(rest, matrix=np.ascontiguousarray(rest.matrix))


def check_groups_differ(groups: GroupHashes | None, held_out: GroupHashes | None) -> None:
    """Raise `LeakageError` if held-out rows belong to a group of the growing rows."""
    if groups is None or held_out is None:
        return
    is_shared = np.isin(held_out, groups)
    if is_shared.any():
        row = int(is_shared.argmax())
        other = int((groups == held_out[row]).argmax())
        raise LeakageError(
            f"{len(np.unique(held_out[is_shared])):,} groups have rows both among the growing and among the held-out "
            f"rows (held-out row {row} and growing row {other} are of one group); all rows of a group must be on one "
            "side"
        )


def _checked_column(column: RawColumn, name: Any) -> CategoryColumn:
    """Return the labels as categories; raise `DataError` if one is missing or a fraction."""
    is_missing = column.missing_mask
    if is_missing.any():
        raise DataError(
            name,
            f" is missing in {np.count_nonzero(is_missing):,} rows (first row {int(is_missing.argmax())}); every row "
            "needs the label of its group: give a row that belongs to no other row a label of its own",
        )
    if isinstance(column, NumberColumn) and column.values.dtype.kind == "f":
        is_whole = (np.rint(column.values) == column.values) & (np.abs(column.values) < MAX_EXACT_INT)
        if not is_whole.all():
            row = int((~is_whole).argmax())
            raise DataError(
                name,
                f" holds the number {show(column.values[row].item())} (row {row}); labels of groups are text or whole "
                "numbers below 2**53: convert them, or name another column",
            )
    coded = factorize(column)
    fractions = [label for label in coded.categories if isinstance(label, float) and label % 1 != 0]
    if fractions:
        raise DataError(name, f" holds the number {show(fractions[0])}; labels of groups are text or whole numbers")
    return coded


def _hash_label(label: Any) -> int:
    """Return a 64-bit hash of a label."""
    text = str(int(label)) if isinstance(label, float) else str(label)
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def group_numbers(groups: GroupHashes) -> tuple[Array, Array]:
    """Return the number of the group of each row, from 0 in the order of the hashes, and the size of each group.

    Examples
    --------
    >>> numbers, sizes = group_numbers(np.array([9, 4, 9], np.uint64))
    >>> numbers.tolist(), sizes.tolist()
    ([1, 0, 1], [1, 2])
    """
    _, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return numbers, sizes
