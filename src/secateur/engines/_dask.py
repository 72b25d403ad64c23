"""Dask: one ordinary task per partition or file, added up in a tree of tasks; counting, and the passes of growing.

No ports, ranks or barriers of our own: a worker that dies costs its tasks, which Dask runs
again elsewhere, and whole numbers make the sum the same. The task travels once, as arrays.
Growing keeps rows on the workers as codes.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from typing import Any

from .._utils.threads import InlinePool
from ..data.batch import BatchTask, ProgressCallback, batch_from_frame
from ..errors import DataError, ParameterError, UnsupportedError
from ..routing import merged
from ._code_store import CodedRows, CodeStore
from ._coding import BinRanges, CodeTask
from ._data_file import DataFile
from ._passes import Pass, SumPerThread, Sums
from ._source import files_summer
from ._subtree_growth import NodeSubtree, SubtreeTask
from .registry import Client, ExternalData, engine_for, translate_errors

FAN_IN = 8  # tallies that one task adds up
LOOK_EVERY = 0.5  # seconds between two looks at the scheduler


class Cluster:
    """Rows on a cluster: files, or partitions that are there. `kept` are those partitions as codes, on the workers."""

    def __init__(self, client: Client, parts: Sequence[Any], timeout: float) -> None:
        self.client, self.parts, self.timeout = client, parts, timeout
        self.kept: list[Any] = []

    def names(self, source: ExternalData) -> tuple[str, ...]:
        """Return the columns of a source."""
        if hasattr(source, "columns"):
            return tuple(map(str, source.columns))
        return self._result(self._submit(_columns, self.parts[0]))  # type: ignore[no-any-return]

    def over(self, task: BatchTask, progress: ProgressCallback | None) -> Any:
        """Return the sum of a task over all parts."""
        return self.sum(_run, self.parts, task, progress)

    def sum(self, run: Any, parts: Sequence[Any], task: Any, progress: ProgressCallback | None = None) -> Any:
        """Return the sum over `run(part, task)`; `task` travels once."""
        shared = self._submit(_same, task)  # a result, not scattered data: it can be made anew if it is lost
        first = sums = [self._submit(run, part, shared) for part in parts]
        while len(sums) > 1:
            sums = [self._submit(_merge, sums[k : k + FAN_IN]) for k in range(0, len(sums), FAN_IN)]
        return self._result(sums[0], progress, first)

    def sum_over_source(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all partitions."""
        return self.sum(_over_source, self.parts, task)  # type: ignore[no-any-return]

    def encode_rows(self, task: CodeTask, _: int) -> BinRanges:
        """Keep the rows as codes on the workers."""
        shared = self._submit(_same, task)
        self.kept = [self._submit(_code, part, shared) for part in self.parts]
        return self.sum(_extent, self.kept, None)  # type: ignore[no-any-return]

    def sum_over_codes(self, task: Pass[Sums]) -> Sums:
        """Return the sum of a task over all rows as codes."""
        return self.sum(_over_parts, self.kept, task)  # type: ignore[no-any-return]

    def grow_subtrees(self, task: SubtreeTask, n_groups: int) -> Iterator[list[NodeSubtree]]:
        """Collect the rows of each group of nodes on one worker, and grow there."""
        shared = self._submit(_same, task)
        dealt = [self._submit(_deal, kept, shared) for kept in self.kept]
        grown = []
        for group in range(n_groups):
            pieces = [self._submit(_piece, one, group) for one in dealt]
            grown.append(self._submit(_finish, pieces, shared))
        del dealt
        for future in grown:
            yield self._result(future)

    def close(self) -> None:
        """Let go of what the workers keep."""
        self.kept = []

    def _submit(self, run: Any, *given: Any) -> Any:
        return self.client.submit(run, *given, pure=False)

    def _result(self, future: Any, progress: ProgressCallback | None = None, first: Sequence[Any] = ()) -> Any:
        """Wait for a result, as long as the scheduler answers; tell how many of the first tasks are done."""
        silent_since = None
        while not future.done():
            time.sleep(0.01 if progress is None else LOOK_EVERY / 10)
            if progress is not None:
                progress(sum(part.done() for part in first), len(first))
            if self.client.status == "running":
                silent_since = None
                continue
            silent_since = silent_since or time.monotonic()
            if self.client.status in ("closed", "closing") or time.monotonic() - silent_since > self.timeout:
                raise _dead(self.client)
        with translate_errors(_failed):
            try:
                return future.result(timeout=self.timeout)
            except (CancelledError, TimeoutError, OSError) as error:
                raise _dead(self.client) from error


def client_of(client: Client, timeout: float) -> Client:
    """Return the client given, or the current one, if it is alive."""
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise UnsupportedError("engine='dask' needs dask.distributed; pip install 'secateur[dask]'") from error
    if client is None:
        try:
            client = get_client(timeout=timeout)
        except ValueError as error:
            raise ParameterError(
                "engine='dask' needs a client, and none is running; pass client=distributed.Client(...)"
            ) from error
    if isinstance(client, str):
        try:
            client = Client(client, timeout=timeout)
        except (OSError, TimeoutError) as error:
            raise DataError(f"no Dask scheduler answers at {client} within {timeout:g} s ({error})") from error
    if client.status != "running":
        raise _dead(client)
    return client


def partitions(client: Client, source: ExternalData) -> list[Any]:
    """Return the partitions of a Dask frame as futures, or a list of futures or delayed frames as it is."""
    if isinstance(source, list | tuple):
        parts = [client.compute(part) if hasattr(part, "dask") else part for part in source]
    elif not hasattr(source, "to_delayed") or not hasattr(source, "columns"):
        raise UnsupportedError(
            f"a Dask {type(source).__name__} has no named columns; pass a Dask data frame, a list of delayed frames, "
            "or the files themselves"
        )
    else:
        parts = list(client.compute(source.to_delayed()))
    if not parts:
        raise DataError(f"the {type(source).__name__} has no partitions; at least one is needed")
    return parts


def _failed(error: Exception, words: str) -> DataError:
    return DataError(f"a Dask worker failed ({type(error).__name__}: {words}); nothing was counted")


def _dead(client: Client) -> DataError:
    where = getattr(getattr(client, "scheduler", None), "address", None) or "its address"
    return DataError(
        f"the Dask scheduler at {where} no longer answers (client is {client.status!r}); nothing was counted: "
        "start a cluster, make a new client and count again"
    )


def _run(part: Any, task: BatchTask) -> Any:
    """Return the sum of a task over one file or partition, on a worker."""
    if isinstance(part, DataFile):
        return files_summer([part], engine_for(part, "files", "auto"), n_jobs=1)(task, None)
    return task(part)


def _same(task: Any) -> Any:
    return task


def _merge(tallies: list[Any]) -> Any:
    return merged([deepcopy(tallies[0]), *tallies[1:]])  # a result that others may ask for is not changed


def _columns(frame: Any) -> tuple[str, ...]:
    return batch_from_frame(frame).names


def _over_source(partition: ExternalData, task: Pass[Sums]) -> Sums:
    pooled = SumPerThread(task)
    _run(partition, pooled)
    return pooled.total()


def _code(partition: ExternalData, task: CodeTask) -> tuple[list[CodedRows], BinRanges]:
    store = CodeStore()
    extent = _over_source(partition, replace(task, store=store))
    return store.get_all(), extent


def _extent(kept: tuple[list[CodedRows], BinRanges], _: None) -> BinRanges:
    return kept[1]


def _over_parts(kept: tuple[list[CodedRows], BinRanges], task: Pass[Sums]) -> Sums:
    pooled = SumPerThread(task)
    for part in kept[0]:
        pooled.add(part)
    return pooled.total()


def _deal(kept: tuple[list[CodedRows], BinRanges], task: SubtreeTask) -> dict[int, list[CodedRows]]:
    dealt: dict[int, list[CodedRows]] = {}
    for part in kept[0]:
        for group, piece in task.split(part):
            dealt.setdefault(group, []).append(piece)
    return dealt


def _piece(dealt: dict[int, list[CodedRows]], group: int) -> list[CodedRows]:
    return dealt.get(group, [])


def _finish(pieces: list[list[CodedRows]], task: SubtreeTask) -> list[NodeSubtree]:
    return task.grow(list(chain.from_iterable(pieces)), InlinePool(), 1)
