"""Hold rows out before anything is fitted, so that they can certify whatever is fitted on the others."""

import hashlib
import numbers
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Labels, Longs, Rows
from .._utils.checks import check_int
from ..data.batch import open_batch
from ..data.groups import group_numbers, hash_groups
from ..data.raw_column import NumberColumn, RawColumn
from ..data.target import read_labels
from ..errors import Argument, DataError, ParameterError, SecateurError, UnsupportedError, show

AUTO_SHARE = 1 / 3
MAX_AUTO_ROWS = 10_000  # more certifying rows lower a limit by less than half a percentage point


class CertifiedSplit(NamedTuple):
    """The rows to fit on and the rows to certify with; each part has the type of the data.

    Parameters
    ----------
    X_fit, X_certify
        The rows, in their original order.
    y_fit, y_certify
        Their labels.

    Examples
    --------
    >>> from secateur.certifiers import certified_split
    >>> certified_split([[1.0], [2.0], [3.0]], ["a", "b", "a"], share=0.34)._fields
    ('X_fit', 'X_certify', 'y_fit', 'y_certify')
    """

    X_fit: Any
    X_certify: Any
    y_fit: Any
    y_certify: Any


def certified_split(
    X: Rows, y: Labels, *, share: float | str = "auto", random_state: int = 0, groups: Labels = None
) -> CertifiedSplit:
    """Hold rows out before anything is fitted, to certify what is fitted on the others.

    Parameters
    ----------
    X : data frame, array, sparse matrix, list or other sequence
        The rows. Frames, arrays and lists keep their type.
    y : array-like
        The class of each row.
    share : float or "auto"
        Share of the rows that certify; "auto" is a third, and at most 10,000 rows.
    random_state : int
        Seed of the draw.
    groups : array-like, optional
        The group of each row. All rows of a group are on one side, and `share` is the share of the groups.

    Returns
    -------
    CertifiedSplit
        `X_fit, X_certify, y_fit, y_certify`.

    Notes
    -----
    Rows are drawn by their position. The draw depends on the seed and on the values of all rows in their order, so the
    same data always give the same split. It is not stratified: a certificate needs rows that are independent draws.
    If rows may have been copied, drop duplicates first, or pass the same group for all copies of a row.

    Examples
    --------
    >>> from secateur import certified_split
    >>> X, y = [[float(i)] for i in range(30)], ["no", "yes"] * 15
    >>> X_fit, X_certify, y_fit, y_certify = certified_split(X, y)
    >>> len(X_fit), len(X_certify), type(y_fit)
    (20, 10, <class 'list'>)
    """
    n_rows = _count_rows(X, "X")
    if _count_rows(y, "y") != n_rows:
        raise DataError(f"X has {n_rows:,} rows and y {_count_rows(y, 'y'):,}; one label per row is needed")
    seed = [check_int("random_state", random_state, 0), _hash_content(X, y)]
    if groups is None:
        is_certifying = _draw(n_rows, share, seed, "rows")
    else:
        group_of_row, sizes = group_numbers(hash_groups(groups, n_rows))
        is_certifying = _draw(len(sizes), share, seed, "groups")[group_of_row]
    fit, certify = np.flatnonzero(~is_certifying), np.flatnonzero(is_certifying)
    return CertifiedSplit(_take(X, fit), _take(X, certify), _take(y, fit), _take(y, certify))


def _draw(n: int, share: float | str, seed: list[int], unit: str) -> Array:
    """Return the mask of the rows, or groups, that certify."""
    if n < 2:
        raise DataError(f"there are {n} {unit}; at least 2 are needed, to fit and to certify")
    if share == "auto":
        n_certify = min(round(AUTO_SHARE * n), MAX_AUTO_ROWS)
    elif isinstance(share, numbers.Real) and not isinstance(share, bool) and 0 < float(share) < 1:
        n_certify = round(float(share) * n)
    else:
        raise ParameterError(Argument("share", share), f"; a share of the {unit} between 0 and 1 is needed, or 'auto'")
    is_certifying = np.zeros(n, bool)
    is_certifying[np.random.default_rng(seed).permutation(n)[: min(max(n_certify, 1), n - 1)]] = True
    return is_certifying


def _count_rows(data: Any, name: str) -> int:
    """Return the number of rows of data; raise `UnsupportedError` if it is no sequence of rows."""
    shape = getattr(data, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    if data is None or isinstance(data, str | bytes | dict) or not hasattr(data, "__len__"):
        raise UnsupportedError(
            f"{name} is {show(data) if isinstance(data, str) else 'a ' + type(data).__name__}; rows in memory are "
            "needed: a data frame, an array or a list"
        )
    return len(data)


def _take(data: Any, rows: Longs) -> Any:
    """Return rows of data, by their positions in ascending order, with the type of the data."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if hasattr(data, "tocsr"):
        return data.tocsr()[rows].asformat(data.format)
    if type(data).__module__.partition(".")[0] == "pyarrow":
        return data.take(rows)
    if isinstance(data, list | tuple):
        return type(data)([data[row] for row in rows.tolist()])
    return data[rows]


def _hash_content(X: Rows, y: Labels) -> int:
    """Return a hash of the values of all rows in their order; only of the labels if `X` has no readable columns.

    If the draw depended on the seed alone, it would take the same positions of every sample. In a file that is sorted
    by class, the class shares of both parts would then be tied to each other.
    """
    content = hashlib.blake2b(digest_size=8)
    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        for part in (matrix.indptr, matrix.indices, matrix.data):
            content.update(np.ascontiguousarray(part).tobytes())
    else:
        for column in _readable_columns(X):
            _add_column(content, column)
    _add_column(content, read_labels(y))
    return int.from_bytes(content.digest(), "little")


def _readable_columns(X: Rows) -> list[RawColumn]:
    """Return the columns of rows; none if the rows are no table, such as texts or images."""
    try:
        batch = open_batch(X)
        return [batch.read(name) for name in batch.names]
    except SecateurError:
        return []


def _add_column(content: Any, column: RawColumn) -> None:
    """Add the values of a column to a hash."""
    if isinstance(column, NumberColumn):
        content.update(np.ascontiguousarray(column.values, np.float64).tobytes())
    else:
        content.update(np.ascontiguousarray(column.codes, np.int32).tobytes())
        content.update(repr(list(column.categories)).encode(errors="surrogatepass"))
