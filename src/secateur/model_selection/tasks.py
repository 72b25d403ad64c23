"""Run the same function on many arguments: here, in threads, or wherever an executor takes them.

Results come in the order of the arguments, so nothing depends on who was faster.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._utils.threads import StoppableThreadPool, resolve_n_jobs

Progress = Callable[[int, int], None] | None
Task = tuple[Callable[..., Any], tuple[Any, ...]]


def run_tasks(
    shared: Any, tasks: list[Task], n_jobs: Any, progress: Progress, sizes: Sequence[int] | None = None
) -> list[Any]:
    """Return function(shared, *arguments) of every task.

    `n_jobs` is a number of threads (None: one, -1: one per core) or an object with `submit`: an
    executor, or a client of dask, which gets `shared` once. `progress` hears of every result, of
    each of its parts if `sizes` says how many a task has.
    """
    results, done = [], 0
    sizes = [1] * len(tasks) if sizes is None else sizes
    for result, size in zip(_results(shared, tasks, n_jobs), sizes, strict=True):
        results.append(result)
        for _ in range(size):
            done += 1
            if progress is not None:
                progress(done, sum(sizes))
    return results


def _results(shared: Any, tasks: list[Task], n_jobs: Any) -> Iterator[Any]:
    if not hasattr(n_jobs, "submit"):
        n_hands = min(resolve_n_jobs(n_jobs), len(tasks))
        if n_hands > 1:
            with StoppableThreadPool(n_hands) as pool:
                yield from _results(shared, tasks, pool)
        else:
            for function, arguments in tasks:
                yield function(shared, *arguments)
        return
    more = {}
    if hasattr(n_jobs, "scatter"):  # dask: send the rows once, and never take a result for another's
        shared, more = n_jobs.scatter(shared, broadcast=True), {"pure": False}
    futures = [n_jobs.submit(function, shared, *arguments, **more) for function, arguments in tasks]
    try:
        for future in futures:
            yield future.result()
    finally:  # after a failure or Ctrl-C nothing new is started
        for future in futures:
            future.cancel()
