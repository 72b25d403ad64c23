"""Table: columns as numbers, with the names and categories that turn them back.

A *numeric* column keeps its values (float32 or float64, NaN where missing); a *nominal*
column holds category codes. The growing table's `Schema` is what later data must meet.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._utils.arrays import Array, Category
from .._utils.immutable import Immutable
from ..errors import DataError, SchemaError

if TYPE_CHECKING:
    from .cell_text import CellType

Kind = Literal["numeric", "nominal"]
BLOCK_ROWS = 1 << 14  # in a block, which stays in the cache


@dataclass(frozen=True)
class Column:
    """The name, kind and categories of one column of a table.

    Parameters
    ----------
    name : str
    kind : "numeric" or "nominal"
    categories : tuple
        The values of a nominal column; the position of a value is its code.
    has_missing : bool
        Whether missing values were there when the schema was made. In a nominal column
        missing is then a value of its own, with code `len(categories)`.
    is_date : bool
        Whether the numbers are days since 1970-01-01, to be shown as dates.

    Examples
    --------
    >>> Column("colour", "nominal", ("blue", "red"), has_missing=True).n_codes
    3
    """

    name: str
    kind: Kind
    categories: tuple[Category, ...] = ()
    has_missing: bool = False
    is_date: bool = False

    @property
    def n_codes(self) -> int:
        """Number of codes of a nominal column; 0 for a numeric one."""
        return len(self.categories) + self.has_missing if self.kind == "nominal" else 0


@dataclass(frozen=True, eq=False)
class Schema(Immutable):
    """The columns and the target of the table a tree was grown on.

    Parameters
    ----------
    columns : tuple of Column
    classes : array, optional
        Class labels; the position of a label is its class number.
    has_names : bool
        Whether the data brought the column names (so that later data is matched by name).
    has_numeric_target : bool
        Whether the target is a number, to be met by a regression tree; `classes` is then None.
    """

    columns: tuple[Column, ...]
    classes: Array | None = None
    has_names: bool = False
    has_numeric_target: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @property
    def has_target(self) -> bool:
        """Whether it says what the target is: classes, or a number."""
        return self.has_numeric_target or self.classes is not None

    @property
    def wanted(self) -> "dict[str, CellType]":
        """What a reader of text files must read each column as, by name; those of whole numbers as they are."""
        found: dict[str, CellType] = {
            c.name: "text" for c in self.columns if c.categories and isinstance(c.categories[0], str)
        }
        return found | {c.name: "date" if c.is_date else "number" for c in self.columns if c.kind == "numeric"}


@dataclass(frozen=True, eq=False, repr=False)
class Table(Immutable):
    """Rows as one array per column, with the schema that decodes them.

    Made by `encode`; the arrays are read-only.

    Parameters
    ----------
    schema : Schema
        Of the table the tree is grown on. Later tables carry the same schema.
    columns : tuple of arrays
        One per column of the schema. Numeric: float32 or float64, NaN where missing,
        possibly a strided view of the caller's data. Nominal: int32 codes into the
        categories; `len(categories)` is missing if the column had missing values when the
        schema was made; -1 is a value (or a gap) the schema does not know.
    target : array of int32 or float64, optional
        Class numbers; `len(schema.classes)` is a class the schema does not know. Of a schema
        with a numeric target the numbers themselves.
    matrix : 2-D array, optional
        The columns as one array, when all are numeric and came as one.
    n_unseen : tuple of int
        How many values of each column are categories the schema does not know.

    Examples
    --------
    >>> schema = Schema((Column("size", "numeric"), Column("colour", "nominal", ("blue", "red"))))
    >>> table = Table(schema, (np.array([1.5, np.nan]), np.array([1, -1], np.int32)), n_unseen=(0, 1))
    >>> table
    Table(2 rows, 1 nominal and 1 numeric columns)
    >>> table.values("colour").tolist()
    ['red', None]
    """

    schema: Schema
    columns: tuple[Array, ...]
    target: Array | None = None
    matrix: Array | None = field(default=None, compare=False)
    n_unseen: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        columns = tuple(read_only_view(column) for column in self.columns)
        target, matrix = (None if array is None else read_only_view(array) for array in (self.target, self.matrix))
        _check_columns(self.schema, columns)
        n_rows, is_numeric = len(columns[0]), self.schema.has_numeric_target
        if target is not None and (
            target.shape != (n_rows,) or target.dtype != (np.float64 if is_numeric else np.int32)
        ):
            needed = "one float64 number" if is_numeric else "one int32 class number"
            raise DataError(
                f"target is {target.dtype} of shape {target.shape}; {needed} for each of the {n_rows} rows is needed"
            )
        if matrix is not None and matrix.shape != (n_rows, len(columns)):
            raise DataError(f"matrix has shape {matrix.shape}; {(n_rows, len(columns))} is needed")
        n_unseen = tuple(self.n_unseen) or (0,) * len(columns)
        self.__dict__.update(columns=columns, target=target, matrix=matrix, n_unseen=n_unseen)

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the columns with at most one value, which no test can use."""
        pairs = zip(self.schema.names, self.columns, strict=True)
        return tuple(name for name, values in pairs if _is_constant(values[:100]) and _is_constant(values))

    @property
    def n_missing(self) -> tuple[int, ...]:
        """How many values of each column are missing; gaps that a nominal column did not have before are `n_unseen`."""
        return tuple(
            int(np.count_nonzero(np.isnan(values) if about.kind == "numeric" else values == len(about.categories)))
            for about, values in zip(self.schema.columns, self.columns, strict=True)
        )

    @property
    def required_target(self) -> Array:
        """The target of a table that has one."""
        assert self.target is not None
        return self.target

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    @property
    def n_columns(self) -> int:
        """Number of columns, without the target."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return self.schema.names

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column, "numeric" or "nominal"."""
        return tuple(column.kind for column in self.schema.columns)

    @property
    def categories(self) -> tuple[tuple[Category, ...], ...]:
        """The categories of each column; empty for a numeric one."""
        return tuple(column.categories for column in self.schema.columns)

    def take(self, rows: Array) -> "Table":
        """Return the table with the given rows, by number.

        Examples
        --------
        >>> schema = Schema((Column("size", "numeric"),))
        >>> Table(schema, (np.array([1.5, 2.5, 3.5]),)).take(np.array([2, 0])).columns[0].tolist()
        [3.5, 1.5]
        """
        matrix = None if self.matrix is None else self.matrix[rows]
        columns = tuple(column[rows] for column in self.columns) if matrix is None else tuple(matrix.T)
        n_unseen = tuple(
            int(np.count_nonzero(column < 0)) if about.kind == "nominal" else 0
            for about, column in zip(self.schema.columns, columns, strict=True)
        )
        target = None if self.target is None else self.target[rows]
        return Table(self.schema, columns, target, matrix, n_unseen)

    def values(self, column: str | int) -> Array:
        """Return the original values of a column: numbers, or categories with None if missing or unseen."""
        at = self.names.index(column) if isinstance(column, str) else column
        about = self.schema.columns[at]
        if about.kind == "numeric":
            return self.columns[at]
        lookup = np.empty(len(about.categories) + 2, object)  # the last two: missing, and -1
        lookup[: len(about.categories)] = about.categories
        decoded: Array = lookup[self.columns[at]]
        return decoded

    def __repr__(self) -> str:
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        n_nominal = self.kinds.count("nominal")
        columns = f"{n_nominal} nominal and {self.n_columns - n_nominal} numeric columns"
        classes = self.schema.classes
        known = "" if classes is None else f", {len(classes)} classes"
        return f"Table({rows}, {columns}{', a numeric target' if self.schema.has_numeric_target else known})"


def read_only_view(array: Array) -> Array:
    """Return a read-only view: the data itself may be the caller's and is not copied."""
    if type(array) is np.ndarray and not array.flags.writeable:
        return array
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


_CODES, _NUMBERS = (np.dtype(np.int32),), (np.dtype(np.float32), np.dtype(np.float64))  # native ones: others differ


def _check_columns(schema: Schema, columns: tuple[Array, ...]) -> None:
    if len(columns) != len(schema.columns) or not columns:
        raise SchemaError(
            f"{len(columns)} columns given; the schema has {len(schema.columns)}, and at least one is needed"
        )
    shape = (len(columns[0]),)
    for about, column in zip(schema.columns, columns, strict=True):
        needed = _CODES if about.kind == "nominal" else _NUMBERS
        if column.dtype not in needed:
            raise SchemaError(
                f"column {about.name!r} is {column.dtype}; a {about.kind} column is {' or '.join(map(str, needed))}"
            )
        if column.shape != shape:
            raise DataError(f"column {about.name!r} has shape {column.shape}; {shape} is needed")
        if about.kind == "nominal" and len(column) and not -1 <= column.min() <= column.max() < about.n_codes:
            raise SchemaError(
                f"column {about.name!r} holds codes from {column.min()} to {column.max()}; "
                f"-1 to {about.n_codes - 1} are known"
            )


def _is_constant(values: Array) -> bool:
    first = values[:1]
    return bool((np.isnan(values) if (first != first).any() else values == first).all())  # noqa: PLR0124 NaN


def iter_native_blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """As `iter_blocks`, in the type of the table where it is one matrix."""
    if table.matrix is None or rows is not None:
        yield from iter_blocks(table, used, rows)
        return
    for first in range(0, table.n_rows, BLOCK_ROWS):
        some = table.matrix[first : first + BLOCK_ROWS]
        yield np.ascontiguousarray(some if len(used) == table.n_columns else some.take(used, axis=1))


def iter_blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """Some columns of a few rows at a time, as one matrix of numbers; missing and unseen categories are NaN."""
    n = table.n_rows if rows is None else len(rows)
    block = np.empty((min(n, BLOCK_ROWS), max(len(used), 1)))
    for first in range(0, n, BLOCK_ROWS):
        some = slice(first, first + BLOCK_ROWS) if rows is None else rows[first : first + BLOCK_ROWS]
        matrix = block[: n - first]
        for k, j in enumerate(used):
            column = table.columns[j][some]
            matrix[:, k] = column
            if table.schema.columns[j].kind == "nominal" and column.min() < 0:
                matrix[column < 0, k] = np.nan
        yield matrix[:, : len(used)]
