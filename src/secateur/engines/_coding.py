"""Rows as codes: their storage, the pass that encodes them, and their routing to the nodes of a growing tree.

Growing out of core reads the source a few times. In the last pass, every value becomes a small code, one byte per
column for up to 255 bins (`CodeTask`). The codes are kept in memory or in a temporary file (`CodeStore`), and growing
reads them instead of the source. `CodeRouting` sends rows as codes through the splits found so far, and groups them by
node.
"""

import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from .._kernels import growing, histograms
from .._utils.arrays import Array
from ..data.batch import Batch
from ..data.encoding import encode_column
from ..data.raw_column import NumberColumn, RawColumn, column_as_floats
from ..data.table import Column, Schema
from ..data.target import class_numbers
from ..errors import DataError, show
from ..growers.tree_tables import GrowingTables


class CodedRows(NamedTuple):
    """Rows whose values are codes.

    Parameters
    ----------
    codes : 2-D array
        One line per row, one code per column.
    target : array
        Class of each row.
    node : array of int32
        The node that each row has reached. Empty until small nodes are grown from their rows.
    """

    codes: Array
    target: Array
    node: Array = np.zeros(0, np.int32)


class _ArrayLayout(NamedTuple):
    """How an array is stored in a file. `numpy.load` parses this from a header, which threads of Python 3.11 cannot."""

    dtype: Any
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @classmethod
    def of(cls, array: Array) -> "_ArrayLayout":
        """Return the layout in which an array is stored: by columns if it is so in memory, else by rows."""
        is_by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        return cls(array.dtype, array.shape, "F" if is_by_columns else "C")

    def read(self, file: BinaryIO) -> Array:
        """Read the array at the position of an open file."""
        n_values = int(np.prod(self.shape, dtype=np.int64))
        found: Array = np.fromfile(file, self.dtype, n_values).reshape(self.shape, order=self.order)
        return found


class CodeStore:
    """A list of `CodedRows`, in memory or in a temporary file.

    Parameters
    ----------
    folder : str, optional
        Where the temporary folder is made; None for the folder of the system.
    is_on_disk : bool
        Whether the rows are kept in a file.
    """

    def __init__(self, folder: str | None = None, is_on_disk: bool = False) -> None:
        self.is_on_disk = is_on_disk
        self._items: list[Any] = []  # The rows themselves, or where each of them begins in the file.
        self._lock = threading.Lock()
        if is_on_disk:
            self._home = tempfile.TemporaryDirectory(prefix="secateur-", dir=folder, ignore_cleanup_errors=True)
            self._path = Path(self._home.name) / "codes"

    def __len__(self) -> int:
        return len(self._items)

    def append(self, rows: CodedRows) -> None:
        """Add some rows. Threads may add rows at the same time."""
        if not self.is_on_disk:
            self._items.append(rows)
            return
        with self._lock, self._path.open("ab") as file:
            start, layouts = file.tell(), [_ArrayLayout.of(array) for array in rows]
            for array, layout in zip(rows, layouts, strict=True):
                (array if layout.order == "C" else array.T).tofile(file)
            self._items.append((start, layouts))

    def get(self, k: int) -> CodedRows:
        """Return item k."""
        if not self.is_on_disk:
            return self._items[k]  # type: ignore[no-any-return]
        start, layouts = self._items[k]
        with self._path.open("rb") as file:
            file.seek(start)
            return CodedRows(*(layout.read(file) for layout in layouts))

    def get_all(self) -> list[CodedRows]:
        """Return all items."""
        return [self.get(k) for k in range(len(self))]

    def close(self) -> None:
        """Drop all rows and remove the file."""
        self._items = []
        if self.is_on_disk:
            self._home.cleanup()


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
            elif column.kind == "numeric":  # A batch in which all values are missing is read as categories.
                encode_column(column, raw, "error")  # This raises an error if there are categories after all.
                codes[:, j] = self.missing[j]
            else:
                codes[:, j] = _known_categories(column, raw, name)
        target, n_unknown = class_numbers(
            rows.read(self.target), self.schema.classes, f"target {show(self.target)}", first
        )
        if n_unknown:
            raise source_changed_error(self.target)
        ranges.n_rows += rows.n_rows
        self.store.append(CodedRows(codes, target.astype(np.uint16)))


def source_changed_error(name: str) -> DataError:
    """Return the error for a source whose column differs between two passes."""
    return DataError(
        f"column {show(name)} changed between two passes over the source; "
        "use a source that does not change while the tree grows"
    )


def _known_categories(column: Column, raw: RawColumn, name: str) -> Array:
    """Return the codes of a nominal column; a category that the first pass did not find is an error."""
    codes, n_unknown = encode_column(column, raw, "error")
    if n_unknown or (codes < 0).any():
        raise source_changed_error(name)
    return codes


class CodeSplits(NamedTuple):
    """The splits of a growing tree on codes, in the order of the parameters of `histograms.route_codes`.

    Parameters
    ----------
    feature : array of int64
        Column of each split; -1 for a node without a split.
    below : array of int64
        Numeric splits: the highest code that goes left.
    default : array of int64
        Child of missing numbers.
    branch_start : array of int64
        Nominal splits: where the children of the categories begin in `branch`; else -1.
    branch : array of uint16
        For each nominal split and category, the position of its child among the children.
    first_child : array of int64
        The first child of each node; the others follow it.
    missing : array of int64
        Code of missing numbers in each column; -1 if there are none.
    """

    feature: Array
    below: Array
    default: Array
    branch_start: Array
    branch: Array
    first_child: Array
    missing: Array


def splits_of(tables: GrowingTables, missing: Array) -> CodeSplits:
    """Return the splits in the tables of a growing tree; `missing` is the code of missing numbers in each column."""
    nodes = tables.nodes
    return CodeSplits(
        feature=np.where(nodes[:, growing.SPLIT_STEP] >= 0, nodes[:, growing.SLOT], -1),
        below=nodes[:, growing.BELOW].copy(),
        default=nodes[:, growing.DEFAULT_CHILD].copy(),
        branch_start=nodes[:, growing.BRANCH_START].copy(),
        branch=tables.branch,
        first_child=nodes[:, growing.FIRST_CHILD].copy(),
        missing=missing,
    )


class RoutedRows(NamedTuple):
    """Rows grouped by the nodes that they reach.

    Parameters
    ----------
    node : array of int32
        The node that each row reaches.
    rows : array of int64
        Numbers of the rows whose node has a group, one group after the other.
    start : array of int64
        Where each group begins in `rows`. The last element is the length of `rows`.
    """

    node: Array
    rows: Array
    start: Array


@dataclass(frozen=True)
class CodeRouting:
    """Splits, and the group in which the rows of each node are collected.

    Parameters
    ----------
    splits : CodeSplits
    group_of_node : array of int32
        Group of each node; -1 for nodes whose rows are not needed.
    n_groups : int
    """

    splits: CodeSplits = field(repr=False)
    group_of_node: Array = field(repr=False)
    n_groups: int

    def route(self, codes: Array) -> RoutedRows:
        """Return the node that each row reaches, and the rows by group."""
        node = np.empty(len(codes), np.int32)
        histograms.route_codes(codes, *self.splits, node)
        rows, start = histograms.group_rows(node, self.group_of_node, self.n_groups)
        return RoutedRows(node, rows, start)
