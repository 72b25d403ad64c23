"""Rows as codes, and the passes of growing on this machine.

Rows are read from the source a few times, until their bins are known; then they are kept as
small codes (a byte a column for up to 255 bins) and never read again: in memory while they
are few, else in a temporary folder.
"""

import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from .._kernels import histograms
from .._utils.arrays import Array, Rows
from .._utils.threads import StoppableThreadPool
from ..data.batch import Batch, BatchTask, batch_from_frame
from ..data.column_encoding import encode_column
from ..data.raw_column import NumberColumn, column_as_floats
from ..data.table import Schema
from ..data.target import class_numbers
from ..errors import DataError
from ..routing import merged

if TYPE_CHECKING:
    from ._level_growth import FinishTask

Sums = TypeVar("Sums")
Subtree: TypeAlias = tuple[int, Array, Array, Array]  # the node it hangs from, and its tables
IN_MEMORY = 1 << 28  # bytes of codes that are kept in memory


class Pass(Protocol[Sums]):
    """What is computed of all rows of a source, or of all codes: sums that begin with `start` and can be merged."""

    def start(self) -> Sums: ...
    def add(self, sums: Sums, rows: Any, first: int, /) -> None: ...


class Each(list[Any]):
    """Sums of several columns, side by side."""

    def merge(self, other: "Each") -> None:
        """Add the other's to each."""
        for own, more in zip(self, other, strict=True):
            own.merge(more)


class CodedRows(NamedTuple):
    """Some rows as codes: one line per row, and the class of each; of rows on their way to be finished, the node."""

    codes: Array
    target: Array
    node: Array = np.zeros(0, np.int32)


class CodeStore:
    """Parts in memory or, one after the other, in a temporary file."""

    def __init__(self, folder: str | None = None, is_on_disk: bool = False) -> None:
        self.parts: list[Any] = []  # themselves, or where each begins in the file
        self.is_on_disk = is_on_disk
        self.lock = threading.Lock()
        if is_on_disk:
            self.home = tempfile.TemporaryDirectory(prefix="secateur-", dir=folder, ignore_cleanup_errors=True)
            self.path = Path(self.home.name) / "codes"

    def __len__(self) -> int:
        return len(self.parts)

    def put(self, part: CodedRows) -> None:
        """Add a part."""
        if not self.is_on_disk:
            self.parts.append(part)
            return
        with self.lock, self.path.open("ab") as file:
            self.parts.append(file.tell())
            for array in part:
                np.save(file, array)

    def get(self, k: int) -> CodedRows:
        """Return part k."""
        if not self.is_on_disk:
            return self.parts[k]  # type: ignore[no-any-return]
        with self.path.open("rb") as file:
            file.seek(self.parts[k])
            return CodedRows(np.load(file), np.load(file), np.load(file))

    def close(self) -> None:
        """Forget the parts and remove the file."""
        self.parts = []
        if self.is_on_disk:
            self.home.cleanup()


@dataclass
class BinRanges:
    """The lowest and the highest value in each bin of each column."""

    low: list[Array]
    high: list[Array]
    n_rows: int = 0

    def merge(self, other: "BinRanges") -> None:
        """Stretch to the other's."""
        self.n_rows += other.n_rows
        self.low = [np.minimum(*pair) for pair in zip(self.low, other.low, strict=True)]
        self.high = [np.maximum(*pair) for pair in zip(self.high, other.high, strict=True)]


@dataclass(frozen=True)
class CodeTask:
    """The last pass over the source: values become codes."""

    schema: Schema
    names: tuple[str, ...]
    target: str
    edges: tuple[Array, ...] = field(repr=False)  # of numeric columns; empty for others
    starts: tuple[Array, ...] = field(repr=False)  # where edges with each beginning begin
    missing: Array  # code of missing numbers of each column
    dtype: np.dtype
    store: CodeStore | None = None  # where the codes go

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return (*self.names, self.target)

    def start(self) -> BinRanges:
        """Return the extent of no rows."""
        sizes = [len(edges) + 1 for edges in self.edges]
        return BinRanges([np.full(n, np.inf) for n in sizes], [np.full(n, -np.inf) for n in sizes])

    def add(self, extent: BinRanges, rows: Batch, first: int) -> None:
        """Turn one batch into codes."""
        assert self.schema.classes is not None
        assert self.store is not None
        codes = np.empty((rows.n_rows, len(self.names)), self.dtype)
        for j, (about, name) in enumerate(zip(self.schema.columns, self.names, strict=True)):
            given = rows.read(name)
            if about.kind == "numeric" and isinstance(given, NumberColumn):
                values, low, high = np.asarray(column_as_floats(given), np.float64), extent.low[j], extent.high[j]
                histograms.bin_numbers(values, self.edges[j], self.starts[j], self.missing[j], codes[:, j], low, high)
                continue
            values, n_new = encode_column(about, given, "error")
            if about.kind == "numeric":  # a batch without one value, read as categories
                codes[:, j] = self.missing[j]
            elif n_new or (values < 0).any():
                raise changed(name)
            else:
                codes[:, j] = values
        target, new = class_numbers(rows.read(self.target), self.schema.classes, f"target {self.target!r}", first)
        if new:
            raise changed(self.target)
        extent.n_rows += rows.n_rows
        self.store.put(CodedRows(codes, target.astype(np.uint16)))


def changed(name: str) -> DataError:
    """Return the error of a source that is not what it was."""
    return DataError(
        f"column {name!r} changed between two passes over the source; "
        "use a source that does not change while the tree grows"
    )


@dataclass
class LocalPasses:
    """Passes on this machine, over anything that can be read again and again."""

    over: Callable[[BatchTask, None], Any]
    n_jobs: int
    folder: str | None
    store: CodeStore = field(default_factory=CodeStore)

    def sum_over_source(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all batches of the source."""
        pooled = SumPerThread(task)
        self.over(pooled, None)
        return pooled.total()

    def code(self, task: CodeTask, n_rows: int) -> BinRanges:
        """Keep the rows as codes."""
        n_bytes = n_rows * (len(task.names) * task.dtype.itemsize + 2)
        self.store = CodeStore(self.folder, n_bytes > IN_MEMORY)
        return self.sum_over_source(replace(task, store=self.store))

    def sum_over_codes(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows as codes."""
        pooled = SumPerThread(task)
        with StoppableThreadPool(self.n_jobs) as pool:
            list(pool.map(lambda k: pooled.add(self.store.get(k)), range(len(self.store))))
        return pooled.total()

    def finish(self, task: "FinishTask", n_groups: int) -> Iterator[list[Subtree]]:
        """Collect the rows of each group of nodes, and grow there; one pass writes them group by group."""
        groups = [CodeStore(self.folder, self.store.is_on_disk) for _ in range(n_groups)]

        def deal(k: int) -> None:
            for group, part in task.split(self.store.get(k)):
                groups[group].put(part)

        try:
            with StoppableThreadPool(self.n_jobs) as pool:
                list(pool.map(deal, range(len(self.store))))
                for group in groups:
                    parts = [group.get(k) for k in range(len(group))]
                    group.close()
                    yield task.grow(parts, pool, self.n_jobs)
        finally:
            for group in groups:
                group.close()

    def close(self) -> None:
        """Remove what was written."""
        self.store.close()


class SumPerThread(Generic[Sums]):
    """A pass as the scanning functions call a task: it adds into one sum per thread, and returns nothing to add up."""

    def __init__(self, task: Pass[Sums]) -> None:
        self.task = task
        self.columns: tuple[str, ...] = getattr(task, "columns", ())
        self.free: list[Sums] = []

    def empty(self) -> "SumPerThread[Sums]":
        """Return what stands for the tally of no rows, and of any."""
        return self

    def merge(self, other: object) -> None:
        """Add nothing: all is added up already."""

    def __call__(self, batch: Rows, first: int = 0) -> "SumPerThread[Sums]":
        """Add a batch of the source; refuse one that has rows but lacks columns."""
        rows = batch_from_frame(batch)
        if rows.n_rows:
            rows.check_columns(self.columns)
            self.add(rows, first)
        return self

    def add(self, rows: Batch | CodedRows, first: int = 0) -> None:
        """Add rows."""
        try:
            sums = self.free.pop()
        except IndexError:
            sums = self.task.start()
        self.task.add(sums, rows, first)
        self.free.append(sums)

    def total(self) -> Sums:
        """Return the sum over all threads."""
        total: Sums = merged(self.free or [self.task.start()])
        return total
