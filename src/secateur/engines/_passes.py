"""Passes over all rows: over a source, and over rows as codes on this machine.

A pass reads all rows and adds up what its task computes from them. Sums of different rows can be merged in any order.
`LocalPasses` runs passes on this machine; `Cluster` (`_dask.py`) runs them on a cluster.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .._utils.arrays import Rows
from .._utils.threads import StoppableThreadPool
from ..data.batch import Batch, BatchTask, batch_from_frame
from ..routing import merge_tallies
from ._coding import BinRanges, CodedRows, CodeStore, CodeTask

if TYPE_CHECKING:
    from ._level_growth import NodeSubtree, SubtreeTask

Sums = TypeVar("Sums")

MAX_MEMORY_BYTES = 1 << 28  # More codes than this are kept in a temporary file.


class Pass(Protocol[Sums]):
    """A computation over all rows of a source, or over all codes."""

    def start(self) -> Sums:
        """Return the sums of no rows, which have a method `merge`."""

    def add(self, sums: Sums, rows: Any, first: int, /) -> None:
        """Add some rows, of which the first has number `first`."""


class PassRunner(Protocol):
    """A place where the passes of growing run: this machine, or a cluster."""

    def sum_over_source(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows of the source."""

    def encode_rows(self, task: CodeTask, n_rows: int, /) -> BinRanges:
        """Encode all rows of the source and keep them; return the ranges of the bins."""

    def sum_over_codes(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows as codes."""

    def grow_subtrees(self, task: "SubtreeTask", n_groups: int) -> "Iterator[list[NodeSubtree]]":
        """Collect the rows of each group of nodes, and yield the subtrees grown from them."""

    def close(self) -> None:
        """Release the rows that are kept."""


class ColumnSums(list[Any]):
    """The sums of several columns, side by side."""

    def merge(self, other: "ColumnSums") -> None:
        """Add the sums of other rows, column by column."""
        for sums, other_sums in zip(self, other, strict=True):
            sums.merge(other_sums)


@dataclass
class LocalPasses:
    """Passes on this machine.

    Parameters
    ----------
    sum_over_batches : callable
        Runs a task over all batches of the source, as often as needed.
    n_jobs : int
        Number of threads.
    folder : str, optional
        Where temporary folders are made.
    store : CodeStore
        The rows as codes.
    """

    sum_over_batches: Callable[[BatchTask, None], Any]
    n_jobs: int
    folder: str | None
    store: CodeStore = field(default_factory=CodeStore)

    def sum_over_source(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all batches of the source."""
        sums = SumPerThread(task)
        self.sum_over_batches(sums, None)
        return sums.total()

    def encode_rows(self, task: CodeTask, n_rows: int) -> BinRanges:
        """Encode the rows and keep them, on disk if they are many; return the ranges of the bins."""
        self.store = CodeStore(self.folder, n_rows * task.row_bytes > MAX_MEMORY_BYTES)
        return self.sum_over_source(replace(task, store=self.store))

    def sum_over_codes(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows as codes."""
        sums = SumPerThread(task)
        with StoppableThreadPool(self.n_jobs) as pool:
            list(pool.map(lambda k: sums.add(self.store.get(k)), range(len(self.store))))
        return sums.total()

    def grow_subtrees(self, task: "SubtreeTask", n_groups: int) -> "Iterator[list[NodeSubtree]]":
        """Sort the rows into groups of nodes in one pass, and yield the subtrees of one group after the other."""
        groups = [CodeStore(self.folder, self.store.is_on_disk) for _ in range(n_groups)]

        def distribute(k: int) -> None:
            for group, rows in task.split(self.store.get(k)):
                groups[group].append(rows)

        try:
            with StoppableThreadPool(self.n_jobs) as pool:
                list(pool.map(distribute, range(len(self.store))))
                for group in groups:
                    rows_of_group = group.get_all()
                    group.close()
                    yield task.grow(rows_of_group, pool, self.n_jobs)
        finally:
            for group in groups:
                group.close()

    def close(self) -> None:
        """Remove the rows."""
        self.store.close()


class SumPerThread(Generic[Sums]):
    """A pass in the form of a `BatchTask`, with one sum per thread.

    The functions that scan a source call a task with each batch and merge what the calls return. This task returns
    itself. Each call adds its batch to a sum that no other thread is using at that moment, and makes a new sum only if
    all are in use, so that there are no more sums than threads.

    Parameters
    ----------
    task : Pass
    """

    def __init__(self, task: Pass[Sums]) -> None:
        self.task = task
        self.columns: tuple[str, ...] = getattr(task, "columns", ())
        self._free: list[Sums] = []

    def empty(self) -> "SumPerThread[Sums]":
        """Return this object, which also stands for the sum of no rows."""
        return self

    def merge(self, other: object) -> None:
        """Do nothing: all rows are in the sums of the threads already."""

    def __call__(self, batch: Rows, first: int = 0) -> "SumPerThread[Sums]":
        """Add a batch of the source; a batch that has rows but lacks columns is an error."""
        rows = batch_from_frame(batch)
        if rows.n_rows:
            rows.check_columns(self.columns)
            self.add(rows, first)
        return self

    def add(self, rows: Batch | CodedRows, first: int = 0) -> None:
        """Add rows to a sum that no other thread uses."""
        try:
            sums = self._free.pop()
        except IndexError:
            sums = self.task.start()
        self.task.add(sums, rows, first)
        self._free.append(sums)

    def total(self) -> Sums:
        """Return the sum over all threads."""
        total: Sums = merge_tallies(self._free or [self.task.start()])
        return total
