"""Dask: one ordinary task per partition or file, added up in a tree of tasks.

No ports, ranks or barriers of our own: a worker that dies costs its tasks, which Dask runs
again elsewhere, and whole numbers make the sum the same. The task travels once, as arrays.
"""

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from ..data.sources import Progress, Task, batch_of
from ..errors import DataError, ParameterError, SecateurError, UnsupportedError
from ..routing import merged
from ._open import file_source
from ._paths import File
from .registry import Client, Elsewhere, engine_for

FAN_IN = 8  # tallies that one task adds up
LOOK_EVERY = 0.5  # seconds between two looks at the scheduler


@dataclass(frozen=True)
class Spread:
    """Rows on a cluster: files, or partitions that are there."""

    client: Client
    parts: Sequence[Any]
    timeout: float

    def over(self, task: Task, progress: Progress | None) -> Any:
        """Return the sum of a task over all parts."""
        return map_reduce(self.client, run_part, self.parts, task, progress, self.timeout)


def spread_of(source: Elsewhere, client: Client, timeout: float) -> tuple[Spread, tuple[str, ...]]:
    """Return a Dask frame, or a list of delayed frames or futures of frames, and its columns."""
    client = client_of(client, timeout)
    parts = partitions(client, source)
    if not parts:
        raise DataError(f"the {type(source).__name__} has no partitions; at least one is needed")
    return Spread(client, parts, timeout), _names(client, source, parts, timeout)


def run_part(part: Any, task: Task) -> Any:
    """Return the sum of a task over one file or partition, on a worker."""
    if isinstance(part, File):
        return file_source([part], engine_for(part, "files", "auto"), n_jobs=1).over(task, None)
    return task(part)


def map_reduce(
    client: Client, run: Any, parts: Sequence[Any], task: Any, progress: Progress | None = None, timeout: float = 30.0
) -> Any:
    """Return the sum over `run(part, task)`; `task` travels once."""
    shared = client.submit(_same, task, pure=False)  # a result, not scattered data: it can be made anew if it is lost
    sums = [client.submit(run, part, shared, pure=False) for part in parts]
    first, n_parts = sums, len(sums)
    while len(sums) > 1:
        sums = [client.submit(_merge, sums[k : k + FAN_IN], pure=False) for k in range(0, len(sums), FAN_IN)]
    return _result(client, sums[0], first, n_parts, progress, timeout)


def partitions(client: Client, source: Elsewhere) -> list[Any]:
    """Return the partitions of a Dask frame as futures, or a list of futures or delayed frames as it is."""
    if isinstance(source, list | tuple):
        return [client.compute(part) if hasattr(part, "dask") else part for part in source]
    if not hasattr(source, "to_delayed") or not hasattr(source, "columns"):
        raise UnsupportedError(
            f"a Dask {type(source).__name__} has no named columns; pass a Dask data frame, a list of delayed frames, "
            "or the files themselves"
        )
    return list(client.compute(source.to_delayed()))


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


def _names(client: Client, source: Elsewhere, parts: list[Any], timeout: float) -> tuple[str, ...]:
    if hasattr(source, "columns"):
        return tuple(map(str, source.columns))
    found = client.submit(_columns, parts[0], pure=False)
    return tuple(_result(client, found, [found], 1, None, timeout))


def _result(
    client: Client, future: Any, first: list[Any], n_parts: int, progress: Progress | None, timeout: float
) -> Any:
    """Wait for a result, as long as the scheduler answers."""
    silent_since = None
    while not future.done():
        time.sleep(0.01 if progress is None else LOOK_EVERY / 10)
        if progress is not None:
            progress(sum(part.done() for part in first), n_parts)
        if client.status == "running":
            silent_since = None
            continue
        silent_since = silent_since or time.monotonic()
        if client.status in ("closed", "closing") or time.monotonic() - silent_since > timeout:
            raise _dead(client)
    try:
        return future.result(timeout=timeout)
    except SecateurError:
        raise
    except (CancelledError, TimeoutError, OSError) as error:
        raise _dead(client) from error
    except Exception as error:
        words = " ".join(str(error).split())[:500]
        raise DataError(f"a Dask worker failed ({type(error).__name__}: {words}); nothing was counted") from error


def _dead(client: Client) -> DataError:
    where = getattr(getattr(client, "scheduler", None), "address", None) or "its address"
    return DataError(
        f"the Dask scheduler at {where} no longer answers (client is {client.status!r}); nothing was counted: "
        "start a cluster, make a new client and count again"
    )


def _same(task: Any) -> Any:
    return task


def _merge(tallies: list[Any]) -> Any:
    return merged([_copy(tallies[0]), *tallies[1:]])  # a result that others may ask for is not changed


def _copy(tally: Any) -> Any:
    from copy import deepcopy

    return deepcopy(tally)


def _columns(frame: Any) -> tuple[str, ...]:
    return batch_of(frame).names
