"""Table: one array per column, and the `Schema` with the column names and categories that decode the arrays.

A *numeric* column holds its values as float32 or float64, with NaN where it is missing. A *nominal* column holds
category codes. Data that are passed to a grown tree must have the schema of the table on which the tree was grown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._utils.arrays import Array, Category, Immutable
from ..errors import DataError, SchemaError, show

if TYPE_CHECKING:
    from .cell_text import CellType

Kind = Literal["numeric", "nominal"]
BLOCK_ROWS = 1 << 14  # rows of one block, which then fits into the processor cache


@dataclass(frozen=True)
class Column:
    """The name, kind and categories of one column of a table.

    Parameters
    ----------
    name : str
    kind : "numeric" or "nominal"
    categories : tuple
        The categories of a nominal column; the position of a category is its code.
    has_missing : bool
        Whether the growing table has missing values in this column. In a nominal column a missing value then has a
        code of its own, `len(categories)`.
    is_date : bool
        Whether the numbers are days since 1970-01-01, which are displayed as dates.

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
        """Number of codes of a nominal column; 0 for a numeric column."""
        return len(self.categories) + self.has_missing if self.kind == "nominal" else 0


@dataclass(frozen=True, eq=False)
class Schema(Immutable):
    """The columns and the target of the table on which a tree was grown.

    Parameters
    ----------
    columns : tuple of Column
    classes : array, optional
        Class labels; the position of a label is its class number.
    has_names : bool
        Whether the data had column names. The columns of later data are then matched by name.
    has_numeric_target : bool
        Whether the target is a number, for a regression tree; `classes` is then None.
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
        """Whether the schema describes a target: classes, or a number."""
        return self.has_numeric_target or self.classes is not None

    @property
    def cell_types(self) -> "dict[str, CellType]":
        """By column name, how the cells of a text file are read. Columns whose categories are numbers are left out."""
        cell_types: dict[str, CellType] = {}
        for column in self.columns:
            if column.kind == "numeric":
                cell_types[column.name] = "date" if column.is_date else "number"
            elif column.categories and isinstance(column.categories[0], str):
                cell_types[column.name] = "text"
        return cell_types


@dataclass(frozen=True, eq=False, repr=False)
class Table(Immutable):
    """Rows as one array per column, with the schema that decodes them.

    Tables are made by `encode`. The arrays are read-only.

    Parameters
    ----------
    schema : Schema
        The schema of the table on which the tree is grown. Later tables have the same schema.
    columns : tuple of arrays
        One array per column of the schema. Numeric columns: float32 or float64, NaN where missing, possibly a strided
        view of the caller's data. Nominal columns: int32 codes of the categories. The code `len(categories)` means
        missing if the column had missing values in the growing table. The code -1 means a category, or a missing
        value, that was not in the growing table.
    target : array of int32 or float64, optional
        Class numbers, where `len(schema.classes)` is a class that is not in the schema. If the schema has a numeric
        target, the numbers themselves.
    matrix : 2-D array, optional
        The columns as one array, if all are numeric and the data were one array.
    n_unseen : tuple of int
        For each column, the number of values that are categories not in the schema.

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
        """Names of the columns with at most one value, on which no split is possible."""
        pairs = zip(self.schema.names, self.columns, strict=True)
        # Most columns differ within the first rows, so that few columns are read to the end.
        return tuple(name for name, values in pairs if _is_constant(values[:100]) and _is_constant(values))

    @property
    def n_missing(self) -> tuple[int, ...]:
        """For each column, the number of missing values.

        A missing value of a nominal column that had none in the growing table is not counted: its code is -1.
        """
        return tuple(
            int(np.count_nonzero(np.isnan(values) if column.kind == "numeric" else values == len(column.categories)))
            for column, values in zip(self.schema.columns, self.columns, strict=True)
        )

    @property
    def required_target(self) -> Array:
        """The target of a table that must have one."""
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
        """The categories of each column; empty for a numeric column."""
        return tuple(column.categories for column in self.schema.columns)

    def take(self, rows: Array) -> "Table":
        """Return the table with the rows of these numbers.

        Examples
        --------
        >>> schema = Schema((Column("size", "numeric"),))
        >>> Table(schema, (np.array([1.5, 2.5, 3.5]),)).take(np.array([2, 0])).columns[0].tolist()
        [3.5, 1.5]
        """
        matrix = None if self.matrix is None else self.matrix[rows]
        columns = tuple(values[rows] for values in self.columns) if matrix is None else tuple(matrix.T)
        n_unseen = tuple(
            int(np.count_nonzero(values < 0)) if column.kind == "nominal" else 0
            for column, values in zip(self.schema.columns, columns, strict=True)
        )
        target = None if self.target is None else self.target[rows]
        return Table(self.schema, columns, target, matrix, n_unseen)

    def values(self, column: str | int) -> Array:
        """Return the original values of a column: numbers, or categories with None where they are missing or unseen."""
        position = self.names.index(column) if isinstance(column, str) else column
        codes, categories = self.columns[position], self.schema.columns[position].categories
        if self.schema.columns[position].kind == "numeric":
            return codes
        lookup = np.empty(len(categories) + 2, object)  # the last two entries stay None: missing, and the code -1
        lookup[: len(categories)] = categories
        decoded: Array = lookup[codes]
        return decoded

    def __repr__(self) -> str:
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        n_nominal = self.kinds.count("nominal")
        columns = f"{n_nominal} nominal and {self.n_columns - n_nominal} numeric columns"
        target = ""
        if self.schema.has_numeric_target:
            target = ", a numeric target"
        elif self.schema.classes is not None:
            target = f", {len(self.schema.classes)} classes"
        return f"Table({rows}, {columns}{target})"


def read_only_view(array: Array) -> Array:
    """Return a read-only view of an array. The data, which may belong to the caller, are not copied."""
    if type(array) is np.ndarray and not array.flags.writeable:
        return array
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


# Allowed types. Comparing with them also refuses arrays whose byte order is not that of the processor.
_CODE_DTYPES = (np.dtype(np.int32),)
_NUMBER_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def _check_columns(schema: Schema, columns: tuple[Array, ...]) -> None:
    """Raise an error unless the arrays have the types, lengths and codes of the schema."""
    if len(columns) != len(schema.columns) or not columns:
        raise SchemaError(
            f"{len(columns)} columns given; the schema has {len(schema.columns)}, and at least one is needed"
        )
    shape = (len(columns[0]),)
    for column, values in zip(schema.columns, columns, strict=True):
        allowed = _CODE_DTYPES if column.kind == "nominal" else _NUMBER_DTYPES
        if values.dtype not in allowed:
            raise SchemaError(
                f"column {show(column.name)} is {values.dtype}; a {column.kind} column is "
                f"{' or '.join(map(str, allowed))}"
            )
        if values.shape != shape:
            raise DataError(f"column {show(column.name)} has shape {values.shape}; {shape} is needed")
        if column.kind == "nominal" and len(values) and not -1 <= values.min() <= values.max() < column.n_codes:
            raise SchemaError(
                f"column {show(column.name)} holds codes from {values.min()} to {values.max()}; "
                f"-1 to {column.n_codes - 1} are known"
            )


def _is_constant(values: Array) -> bool:
    """Return whether all values are equal, or all are NaN."""
    first = values[:1]
    is_nan = (first != first).any()  # noqa: PLR0124 only NaN differs from itself
    return bool((np.isnan(values) if is_nan else values == first).all())


def iter_native_blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """Yield the blocks of `iter_blocks`; if the table has a matrix, keep its number type instead of float64."""
    if table.matrix is None or rows is not None:
        yield from iter_blocks(table, used, rows)
        return
    for first in range(0, table.n_rows, BLOCK_ROWS):
        block = table.matrix[first : first + BLOCK_ROWS]
        yield np.ascontiguousarray(block if len(used) == table.n_columns else block.take(used, axis=1))


def iter_blocks(table: Table, used: Array, rows: Array | None) -> Iterator[Array]:
    """Yield blocks of `BLOCK_ROWS` rows with some columns of a table as one matrix of float64.

    Parameters
    ----------
    table : Table
    used : array of int
        The positions of the columns.
    rows : array of int or None
        The rows; None for all.

    Notes
    -----
    Nominal columns are codes, with NaN for the code -1. All blocks share one array, so a block must be used or copied
    before the next block is requested.
    """
    n_rows = table.n_rows if rows is None else len(rows)
    buffer = np.empty((min(n_rows, BLOCK_ROWS), max(len(used), 1)))
    for first in range(0, n_rows, BLOCK_ROWS):
        block_rows = slice(first, first + BLOCK_ROWS) if rows is None else rows[first : first + BLOCK_ROWS]
        block = buffer[: n_rows - first]
        for k, j in enumerate(used):
            values = table.columns[j][block_rows]
            block[:, k] = values
            if table.schema.columns[j].kind == "nominal" and values.min() < 0:
                block[values < 0, k] = np.nan
        yield block[:, : len(used)]
