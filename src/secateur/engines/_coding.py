"""The last pass over a source: values become codes."""

from dataclasses import dataclass, field

import numpy as np

from .._kernels import histograms
from .._utils.arrays import Array
from ..data.batch import Batch
from ..data.encoding import encode_column
from ..data.raw_column import NumberColumn, RawColumn, column_as_floats
from ..data.table import Column, Schema
from ..data.target import class_numbers
from ..errors import DataError
from ._code_store import CodedRows, CodeStore


@dataclass
class BinRanges:
    """The lowest and the highest value in each bin of each column.

    Parameters
    ----------
    low, high : list of arrays
        One array per column, one value per bin; infinities for a bin without values.
    n_rows : int
        Number of rows read so far.
    """

    low: list[Array]
    high: list[Array]
    n_rows: int = 0

    def merge(self, other: "BinRanges") -> None:
        """Extend the ranges to those of other rows."""
        self.n_rows += other.n_rows
        self.low = [np.minimum(low, other_low) for low, other_low in zip(self.low, other.low, strict=True)]
        self.high = [np.maximum(high, other_high) for high, other_high in zip(self.high, other.high, strict=True)]


@dataclass(frozen=True)
class CodeTask:
    """The pass that encodes rows and stores them.

    Parameters
    ----------
    schema : Schema
        The columns and the classes.
    names : tuple of str
        Names of the columns in the source.
    target : str
        Name of the target in the source.
    edges : tuple of arrays
        Bin edges of each numeric column; empty for nominal columns.
    edge_starts : tuple of arrays
        For each column, the number of edges below each prefix of sort keys; see `ranks.prefix_starts`.
    missing : array of int
        Code of missing numbers in each column.
    dtype : dtype
        Type of the codes.
    store : CodeStore, optional
        Where the codes go.
    """

    schema: Schema
    names: tuple[str, ...]
    target: str
    edges: tuple[Array, ...] = field(repr=False)
    edge_starts: tuple[Array, ...] = field(repr=False)
    missing: Array
    dtype: np.dtype
    store: CodeStore | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return (*self.names, self.target)

    @property
    def row_bytes(self) -> int:
        """Number of bytes of a row in the store: its codes and its class."""
        return len(self.names) * self.dtype.itemsize + 2

    def start(self) -> BinRanges:
        """Return the ranges of no rows."""
        sizes = [len(edges) + 1 for edges in self.edges]
        return BinRanges([np.full(n, np.inf) for n in sizes], [np.full(n, -np.inf) for n in sizes])

    def add(self, ranges: BinRanges, rows: Batch, first: int) -> None:
        """Encode and store one batch, and extend the ranges; rows are numbered from `first` in messages."""
        assert self.schema.classes is not None
        assert self.store is not None
        codes = np.empty((rows.n_rows, len(self.names)), self.dtype)
        for j, (column, name) in enumerate(zip(self.schema.columns, self.names, strict=True)):
            raw = rows.read(name)
            if column.kind == "numeric" and isinstance(raw, NumberColumn):
                values = np.asarray(column_as_floats(raw), np.float64)
                low, high = ranges.low[j], ranges.high[j]
                edges, starts = self.edges[j], self.edge_starts[j]
                histograms.bin_numbers(values, edges, starts, self.missing[j], codes[:, j], low, high)
            elif column.kind == "numeric":  # A batch without a single value is read as categories.
                encode_column(column, raw, "error")  # Categories in a numeric column are an error.
                codes[:, j] = self.missing[j]
            else:
                codes[:, j] = _known_categories(column, raw, name)
        target, n_unknown = class_numbers(rows.read(self.target), self.schema.classes, f"target {self.target!r}", first)
        if n_unknown:
            raise source_changed_error(self.target)
        ranges.n_rows += rows.n_rows
        self.store.append(CodedRows(codes, target.astype(np.uint16)))


def source_changed_error(name: str) -> DataError:
    """Return the error for a source whose column differs between two passes."""
    return DataError(
        f"column {name!r} changed between two passes over the source; "
        "use a source that does not change while the tree grows"
    )


def _known_categories(column: Column, raw: RawColumn, name: str) -> Array:
    """Return the codes of a nominal column; a category that the first pass did not find is an error."""
    codes, n_unknown = encode_column(column, raw, "error")
    if n_unknown or (codes < 0).any():
        raise source_changed_error(name)
    return codes
