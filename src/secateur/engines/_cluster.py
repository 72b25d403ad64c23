"""The passes of growing as ordinary tasks of a Dask cluster.

Rows stay on the workers as codes; the results of lost workers are made anew by Dask, and as
all sums are of whole numbers, the tree is the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..growers.settings import Inline
from ._dask import Spread, _result, _same, map_reduce, run_part
from ._finish import FinishTask
from ._parts import CodeTask, Extent, Part, Pass, Pooled, Store, Storing, Subtree, Sums
from .registry import Elsewhere


@dataclass
class Kept:
    """A partition as codes, on a worker."""

    parts: list[Part]
    extent: Extent


class Cluster:
    """Passes as ordinary tasks of a Dask cluster: one per partition, added up in a tree."""

    def __init__(self, spread: Spread) -> None:
        self.client, self.partitions, self.timeout = spread.client, spread.parts, spread.timeout
        self.kept: list[Any] = []

    def over_source(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all partitions."""
        total: Sums = self._sum(_over_source, self.partitions, task)
        return total

    def code(self, task: CodeTask, n_rows: int) -> Extent:
        """Keep the rows as codes on the workers."""
        del n_rows
        shared = self.client.submit(_same, task, pure=False)
        self.kept = [self.client.submit(_code, part, shared, pure=False) for part in self.partitions]
        return self._sum(_extent, self.kept, None)  # type: ignore[no-any-return]

    def over_parts(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows as codes."""
        total: Sums = self._sum(_over_parts, self.kept, task)
        return total

    def finish(self, task: FinishTask, n_groups: int) -> Iterator[list[Subtree]]:
        """Collect the rows of each group of nodes on one worker, and grow there."""
        shared = self.client.submit(_same, task, pure=False)
        dealt = [self.client.submit(_deal, kept, shared, pure=False) for kept in self.kept]
        grown = []
        for group in range(n_groups):
            pieces = [self.client.submit(_piece, one, group, pure=False) for one in dealt]
            grown.append(self.client.submit(_finish, pieces, shared, pure=False))
        del dealt
        for future in grown:
            yield _result(self.client, future, grown, n_groups, None, self.timeout)

    def close(self) -> None:
        """Let go of what the workers keep."""
        self.kept = []

    def _sum(self, run: Any, parts: Sequence[Any], task: Any) -> Any:
        return map_reduce(self.client, run, parts, task, None, self.timeout)


def _each(partition: Elsewhere, pooled: Pooled[Sums]) -> Sums:
    run_part(partition, pooled)
    return pooled.total()


def _over_source(partition: Elsewhere, task: Pass[Sums]) -> Sums:
    return _each(partition, Pooled(task))


def _code(partition: Elsewhere, task: CodeTask) -> Kept:
    store = Store(None, False, len(task.names), task.dtype)
    extent = _each(partition, Pooled(Storing(task, store)))
    return Kept(store.parts, extent)


def _extent(kept: Kept, task: None) -> Extent:
    del task
    return kept.extent


def _over_parts(kept: Kept, task: Pass[Sums]) -> Sums:
    pooled = Pooled(task)
    for part in kept.parts:
        pooled(part)
    return pooled.total()


def _deal(kept: Kept, task: FinishTask) -> dict[int, list[Part]]:
    dealt: dict[int, list[Part]] = {}
    for part in kept.parts:
        for group, piece in task.split(part):
            dealt.setdefault(group, []).append(piece)
    return dealt


def _piece(dealt: dict[int, list[Part]], group: int) -> list[Part]:
    return dealt.get(group, [])


def _finish(pieces: list[list[Part]], task: FinishTask) -> list[Subtree]:
    return task.grow([part for some in pieces for part in some], Inline(), 1)
