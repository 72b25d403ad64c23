"""Rows as codes, and the passes of growing on this machine.

Rows are read from the source a few times, until their bins are known; then they are kept as
small codes (a byte a column for up to 255 bins) and never read again: in memory while they
are few, else in a temporary folder.
"""

import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from .._kernels import histograms
from ..data.arrays import Array, Rows
from ..data.columns import Numbers
from ..data.encoding import later_column
from ..data.sources import Task
from ..data.table import Schema
from ..data.target import class_numbers
from ..data.threads import Threads
from ..errors import DataError
from ..routing import merged
from ._survey import as_floats, opened

if TYPE_CHECKING:
    from ._finish import FinishTask

Sums = TypeVar("Sums")
Subtree: TypeAlias = tuple[int, Array, Array, Array]  # the node it hangs from, and its tables
IN_MEMORY = 1 << 28  # bytes of codes that are kept in memory


class Pass(Protocol[Sums]):
    """What is computed of all rows of a source, or of all codes: sums that begin with `start` and can be merged."""

    def start(self) -> Sums: ...
    def add(self, sums: Sums, batch: Any, first: int, /) -> int: ...


@dataclass
class Part:
    """Some rows as codes: one line per row, and the class of each; of rows on their way to be finished, the node."""

    codes: Array
    target: Array
    node: Array | None = None


@dataclass
class Extent:
    """The lowest and the highest value in each bin of each column."""

    low: list[Array]
    high: list[Array]
    n_rows: int = 0

    def merge(self, other: "Extent") -> None:
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

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read."""
        return (*self.names, self.target)

    def start(self) -> Extent:
        """Return the extent of no rows."""
        sizes = [len(edges) + 1 for edges in self.edges]
        return Extent([np.full(n, np.inf) for n in sizes], [np.full(n, -np.inf) for n in sizes])

    def code(self, extent: Extent, batch: Rows, first: int) -> Part | None:
        """Return a batch as codes."""
        rows = opened(batch, self.columns)
        if rows.n_rows == 0:
            return None
        codes = np.empty((rows.n_rows, len(self.names)), self.dtype)
        for j, (about, name) in enumerate(zip(self.schema.columns, self.names, strict=True)):
            given = rows.read(name)
            if about.kind == "numeric" and isinstance(given, Numbers):
                values, low, high = as_floats(given), extent.low[j], extent.high[j]
                histograms.code_numbers(values, self.edges[j], self.starts[j], self.missing[j], codes[:, j], low, high)
                continue
            values, n_new = later_column(about, given, "error")
            if about.kind == "numeric":  # a batch without one value, read as categories
                codes[:, j] = self.missing[j]
            elif n_new or (values < 0).any():
                raise _changed(name)
            else:
                codes[:, j] = values
        assert self.schema.classes is not None
        target, new = class_numbers(rows.read(self.target), self.schema.classes, f"target {self.target!r}", first)
        if new:
            raise _changed(self.target)
        extent.n_rows += rows.n_rows
        return Part(codes, target.astype(np.uint16))


def _changed(name: str) -> DataError:
    return DataError(
        f"column {name!r} changed between two passes over the source; "
        "use a source that does not change while the tree grows"
    )


class Local:
    """Passes on this machine, over anything that can be read again and again."""

    def __init__(self, over: Callable[[Task, None], Any], n_jobs: int, folder: str | None) -> None:
        self.over = over
        self.n_jobs = n_jobs
        self.folder = folder
        self.store: Store | None = None

    def over_source(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all batches of the source."""
        pooled = Pooled(task)
        self.over(pooled, None)
        return pooled.total()

    def code(self, task: CodeTask, n_rows: int) -> Extent:
        """Keep the rows as codes."""
        n_bytes = n_rows * (len(task.names) * task.dtype.itemsize + 2)
        self.store = Store(self.folder, n_bytes > IN_MEMORY, len(task.names), task.dtype)
        return self.over_source(Storing(task, self.store))

    def over_parts(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows as codes."""
        assert self.store is not None
        pooled = Pooled(task)
        with Threads(self.n_jobs) as pool:
            for _ in pool.map(lambda k: pooled(self.store.get(k)), range(len(self.store))):  # type: ignore[union-attr]
                pass
        return pooled.total()

    def finish(self, task: "FinishTask", n_groups: int) -> Iterator[list[Subtree]]:
        """Collect the rows of each group of nodes, and grow there; one pass writes them group by group."""
        store = self.store
        assert store is not None
        groups = [
            Store(self.folder, store.is_on_disk, store.n_columns, store.dtype, has_nodes=True) for _ in range(n_groups)
        ]
        try:
            with Threads(self.n_jobs) as pool:

                def deal(k: int) -> None:
                    for group, part in task.split(store.get(k)):
                        groups[group].put(part)

                for _ in pool.map(deal, range(len(store))):
                    pass
                for group in groups:
                    parts = [group.get(k) for k in range(len(group))]
                    group.close()
                    yield task.grow(parts, pool, self.n_jobs)
        finally:
            for group in groups:
                group.close()

    def close(self) -> None:
        """Remove what was written."""
        if self.store is not None:
            self.store.close()


class Store:
    """Parts in memory or, one after the other, in a temporary file."""

    def __init__(
        self, folder: str | None, is_on_disk: bool, n_columns: int, dtype: np.dtype, has_nodes: bool = False
    ) -> None:
        self.parts: list[Any] = []
        self.n_columns, self.dtype, self.has_nodes = n_columns, dtype, has_nodes
        self.is_on_disk = is_on_disk
        self.lock = threading.Lock()
        self.end = 0
        self.folder = folder
        self.path: Path | None = None
        self.home: tempfile.TemporaryDirectory[str] | None = None

    def __len__(self) -> int:
        return len(self.parts)

    def put(self, part: Part) -> None:
        """Add a part."""
        if not self.is_on_disk:
            self.parts.append(part)
            return
        arrays = [part.codes, part.target, *([] if part.node is None else [part.node])]
        blocks = [np.ascontiguousarray(array).tobytes() for array in arrays]
        with self.lock:
            if self.home is None:
                self.home = tempfile.TemporaryDirectory(prefix="secateur-", dir=self.folder, ignore_cleanup_errors=True)
                self.path = Path(self.home.name) / "codes"
            assert self.path is not None
            with self.path.open("ab") as file:
                file.writelines(blocks)
            self.parts.append((self.end, len(part.target)))
            self.end += sum(map(len, blocks))

    def get(self, k: int) -> Part:
        """Return part k."""
        if not self.is_on_disk:
            return self.parts[k]  # type: ignore[no-any-return]
        start, n = self.parts[k]
        n_codes = n * self.n_columns * self.dtype.itemsize
        assert self.path is not None
        with self.path.open("rb") as file:
            file.seek(start)
            raw = bytearray(n_codes + n * (6 if self.has_nodes else 2))
            file.readinto(raw)
        codes = np.frombuffer(raw, self.dtype, n * self.n_columns).reshape(n, self.n_columns)
        target = np.frombuffer(raw, np.uint16, n, n_codes)
        return Part(codes, target, np.frombuffer(raw, np.int32, n, n_codes + 2 * n) if self.has_nodes else None)

    def close(self) -> None:
        """Forget the parts and remove the file."""
        self.parts = []
        if self.home is not None:
            self.home.cleanup()
            self.home = None


class Pooled(Generic[Sums]):
    """A task as the scanning functions call it, adding into one sum per thread instead of one per batch."""

    def __init__(self, task: Pass[Sums]) -> None:
        self.task = task
        self.columns = getattr(task, "columns", ())
        self.free: list[Sums] = []

    def empty(self) -> "Done":
        """Return the tally of no rows."""
        return Done()

    def __call__(self, batch: Rows, first: int = 0) -> "Done":
        """Add a batch."""
        try:
            sums = self.free.pop()
        except IndexError:
            sums = self.task.start()
        n_rows = self.task.add(sums, batch, first)
        self.free.append(sums)
        return Done(n_rows)

    def total(self) -> Sums:
        """Return the sum over all threads."""
        total: Sums = merged(self.free or [self.task.start()])
        return total


@dataclass
class Done:
    """Rows that were looked at."""

    n_rows: int = 0

    def merge(self, other: "Done") -> None:
        """Add the other's."""
        self.n_rows += other.n_rows


@dataclass(frozen=True)
class Storing:
    """A `CodeTask` that keeps what it makes."""

    task: CodeTask
    store: Store

    @property
    def columns(self) -> tuple[str, ...]:
        return self.task.columns

    def start(self) -> Extent:
        return self.task.start()

    def add(self, extent: Extent, batch: Rows, first: int) -> int:
        part = self.task.code(extent, batch, first)
        if part is None:
            return 0
        self.store.put(part)
        return len(part.target)
