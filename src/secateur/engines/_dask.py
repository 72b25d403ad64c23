"""Count rows and grow trees on a Dask cluster.

Each partition or file is one task. Further tasks merge the results, `RESULTS_PER_MERGE` at a time, until a single
result is left. If a worker fails, Dask runs its tasks again on another worker. All results are sums of whole numbers,
so neither a repeated task nor another order of merging changes them. While a tree grows, the encoded rows stay on the
workers.

The word "pass" is that of `_passes.py`: one reading of all rows, with an object that says which sums to compute.
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
from ..errors import DataError, ParameterError, UnsupportedError, show
from ..routing import merge_tallies
from ._coding import BinRanges, CodedRows, CodeStore, CodeTask
from ._data_file import DataFile
from ._level_growth import NodeSubtree, SubtreeTask
from ._passes import Pass, SumPerThread, Sums
from ._source import files_summer
from .registry import Client, ExternalData, engine_for, translate_errors

RESULTS_PER_MERGE = 8  # number of results that one task merges
# Pause between two looks at an unfinished task. It is longer with a progress bar, which looks at every task.
POLL_SECONDS = 0.01
POLL_SECONDS_WITH_PROGRESS = 0.05


class Cluster:
    """Rows on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence
        The files (`DataFile`), or the partitions of a data frame as futures.
    timeout : float
        Number of seconds to wait for a scheduler that does not answer.
    """

    def __init__(self, client: Client, parts: Sequence[Any], timeout: float) -> None:
        self.client = client
        self.parts = parts
        self.timeout = timeout
        # Futures of the encoded parts. They keep the codes on the workers while a tree grows.
        self.coded_parts: list[Any] = []

    def names(self, source: ExternalData) -> tuple[str, ...]:
        """Return the column names of a source."""
        if hasattr(source, "columns"):
            return tuple(map(str, source.columns))
        return self._result(self._submit(_column_names, self.parts[0]))  # type: ignore[no-any-return]

    def sum_over(self, task: BatchTask, progress: ProgressCallback | None) -> Any:
        """Run a task on all parts and return the sum of its results."""
        return self.sum_results(_run_task, self.parts, task, progress)

    def sum_over_source(self, task: Pass[Sums]) -> Sums:
        """Run one pass of growing over all parts and return its sums."""
        return self.sum_results(_run_pass, self.parts, task)  # type: ignore[no-any-return]

    def encode_rows(self, task: CodeTask, _: int) -> BinRanges:
        """Encode all rows, keep the codes on the workers, and return the range of the values in each bin."""
        shared_task = self._submit(_return_task, task)
        self.coded_parts = [self._submit(_encode_part, part, shared_task) for part in self.parts]
        return self.sum_results(_ranges_of_part, self.coded_parts, None)  # type: ignore[no-any-return]

    def sum_over_codes(self, task: Pass[Sums]) -> Sums:
        """Run one pass of growing over the encoded rows of all parts and return its sums."""
        return self.sum_results(_run_pass_on_codes, self.coded_parts, task)  # type: ignore[no-any-return]

    def grow_subtrees(self, task: SubtreeTask, n_groups: int) -> Iterator[list[NodeSubtree]]:
        """Yield, for each group of nodes, the subtrees below them.

        One worker collects the rows of a group from all parts and grows the subtrees of the group.
        """
        shared_task = self._submit(_return_task, task)
        grouped_parts = [self._submit(_group_rows, part, shared_task) for part in self.coded_parts]
        subtrees = []
        for group in range(n_groups):
            rows_of_group = [self._submit(_rows_of_group, part, group) for part in grouped_parts]
            subtrees.append(self._submit(_grow_group, rows_of_group, shared_task))
        # Dask frees the grouped rows once each group has been collected and no future refers to them.
        del grouped_parts
        for future in subtrees:
            yield self._result(future)

    def close(self) -> None:
        """Release the encoded rows on the workers."""
        self.coded_parts = []

    def sum_results(
        self, function: Any, parts: Sequence[Any], task: Any, progress: ProgressCallback | None = None
    ) -> Any:
        """Run `function(part, task)` for each part on the workers and return the sum of the results."""
        # `task` reaches each worker once, as the result of a Dask task. Scattered data would be lost with their worker;
        # a task is run again.
        shared_task = self._submit(_return_task, task)
        part_results = [self._submit(function, part, shared_task) for part in parts]
        results = part_results
        while len(results) > 1:
            results = [
                self._submit(_merge_results, results[first : first + RESULTS_PER_MERGE])
                for first in range(0, len(results), RESULTS_PER_MERGE)
            ]
        return self._result(results[0], progress, part_results)

    def _submit(self, function: Any, *arguments: Any) -> Any:
        """Start a function on a worker and return its future."""
        return self.client.submit(function, *arguments, pure=False)

    def _result(self, future: Any, progress: ProgressCallback | None = None, part_results: Sequence[Any] = ()) -> Any:
        """Wait for the result of a future and return it.

        While waiting, report how many of the `part_results` are done. Raise `DataError` if the client is closed or the
        scheduler has not answered for `timeout` seconds.
        """
        silent_since = None
        while not future.done():
            time.sleep(POLL_SECONDS if progress is None else POLL_SECONDS_WITH_PROGRESS)
            if progress is not None:
                progress(sum(result.done() for result in part_results), len(part_results))
            if self.client.status == "running":
                silent_since = None
                continue
            silent_since = silent_since or time.monotonic()
            is_closed = self.client.status in ("closed", "closing")
            if is_closed or time.monotonic() - silent_since > self.timeout:
                raise _scheduler_lost(self.client)
        with translate_errors(_worker_failed):
            try:
                return future.result(timeout=self.timeout)
            except (CancelledError, TimeoutError, OSError) as error:
                raise _scheduler_lost(self.client) from error


def client_of(client: Client, timeout: float) -> Client:
    """Return a running Dask client.

    Parameters
    ----------
    client : distributed.Client, str or None
        The client itself; the address of a scheduler, to which a new client connects; or None for the current client.
    timeout : float
        Number of seconds to wait for the scheduler.
    """
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
        raise _scheduler_lost(client)
    return client


def partitions_of(client: Client, source: ExternalData) -> list[Any]:
    """Return the partitions of a source as futures.

    The source is a Dask data frame, or a list whose items are futures or delayed data frames.
    """
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


def _worker_failed(error: Exception, message: str) -> DataError:
    """Return the error for an exception on a worker, with its message."""
    return DataError(f"a Dask worker failed ({type(error).__name__}: {message}); nothing was counted")


def _scheduler_lost(client: Client) -> DataError:
    """Return the error for a client whose scheduler does not answer."""
    address = getattr(getattr(client, "scheduler", None), "address", None) or "its address"
    return DataError(
        f"the Dask scheduler at {address} no longer answers (client is {show(client.status)}); nothing was counted: "
        "start a cluster, make a new client and count again"
    )


# All functions below run on the workers.


def _run_task(part: Any, task: BatchTask) -> Any:
    """Return the result of a task on one file or partition."""
    if isinstance(part, DataFile):
        return files_summer([part], engine_for(part, "files", "auto"), n_jobs=1)(task, None)
    return task(part)


def _return_task(task: Any) -> Any:
    """Return the task itself: this turns a task into the result of a Dask task, which workers share."""
    return task


def _merge_results(results: list[Any]) -> Any:
    """Return the sum of several results.

    Merging changes the first result, so it is copied: Dask may need the original again.
    """
    return merge_tallies([deepcopy(results[0]), *results[1:]])


def _column_names(frame: Any) -> tuple[str, ...]:
    """Return the column names of one partition."""
    return batch_from_frame(frame).names


def _run_pass(part: Any, task: Pass[Sums]) -> Sums:
    """Return the sums of one pass over one file or partition."""
    sums = SumPerThread(task)
    _run_task(part, sums)
    return sums.total()


def _encode_part(part: Any, task: CodeTask) -> tuple[list[CodedRows], BinRanges]:
    """Return the encoded rows of one file or partition, and the range of the values in each bin."""
    store = CodeStore()
    ranges = _run_pass(part, replace(task, store=store))
    return store.get_all(), ranges


def _ranges_of_part(coded_part: tuple[list[CodedRows], BinRanges], _: None) -> BinRanges:
    """Return the bin ranges in the result of `_encode_part`."""
    return coded_part[1]


def _run_pass_on_codes(coded_part: tuple[list[CodedRows], BinRanges], task: Pass[Sums]) -> Sums:
    """Return the sums of one pass over the encoded rows of one part."""
    sums = SumPerThread(task)
    for rows in coded_part[0]:
        sums.add(rows)
    return sums.total()


def _group_rows(coded_part: tuple[list[CodedRows], BinRanges], task: SubtreeTask) -> dict[int, list[CodedRows]]:
    """Return, for each group of nodes, the encoded rows of one part that reach the nodes of the group."""
    rows_by_group: dict[int, list[CodedRows]] = {}
    for rows in coded_part[0]:
        for group, rows_of_group in task.split(rows):
            rows_by_group.setdefault(group, []).append(rows_of_group)
    return rows_by_group


def _rows_of_group(rows_by_group: dict[int, list[CodedRows]], group: int) -> list[CodedRows]:
    """Return the rows of one group from the result of `_group_rows`."""
    return rows_by_group.get(group, [])


def _grow_group(rows_of_parts: list[list[CodedRows]], task: SubtreeTask) -> list[NodeSubtree]:
    """Return the subtrees below the nodes of one group, grown from the rows of the group in all parts."""
    return task.grow(list(chain.from_iterable(rows_of_parts)), InlinePool(), 1)
