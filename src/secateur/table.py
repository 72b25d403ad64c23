"""Table: columns as numbers, with the names and categories that turn them back.

A *numeric* column keeps its values (float32 or float64, NaN where missing); a *nominal*
column holds category codes. The growing table's `Schema` is what later data must meet.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy.typing as npt

from ._arrays import same

Kind = Literal["numeric", "nominal"]


@dataclass(frozen=True)
class Column:
    """What one column of a table means.

    Parameters
    ----------
    name : str
    kind : "numeric" or "nominal"
    categories : tuple
        The values of a nominal column; the position of a value is its code.
    has_missing : bool
        Whether missing values were there when the schema was made. In a nominal column
        missing is then a value of its own, with code `len(categories)`.

    Examples
    --------
    >>> Column("colour", "nominal", ("blue", "red"), has_missing=True).n_codes
    3
    """

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()
    has_missing: bool = False

    @property
    def n_codes(self) -> int:
        """Number of codes a nominal column can hold; 0 for a numeric one."""
        return len(self.categories) + self.has_missing if self.kind == "nominal" else 0


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of the growing table, and the classes its target takes.

    Parameters
    ----------
    columns : tuple of Column
    classes : array, optional
        Class labels; the position of a label is its class number.
    has_names : bool
        Whether the data brought the column names (so that later data is matched by name).
    """

    columns: tuple[Column, ...]
    classes: npt.NDArray[Any] | None = None
    has_names: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.columns == other.columns and self.has_names == other.has_names and same(self.classes, other.classes)

    def __hash__(self) -> int:
        return hash((self.columns, self.has_names))
