"""Run functions on shared data: one after the other, in threads, or wherever an executor runs them.

Results come in the order of the tasks, so that nothing depends on which task ends first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._utils.threads import StoppableThreadPool, resolve_n_jobs

Progress = Callable[[int, int], None] | None
Task = tuple[Callable[..., Any], tuple[Any, ...]]


def run_tasks(
    shared: Any, tasks: list[Task], n_jobs: Any, progress: Progress, sizes: Sequence[int] | None = None
) -> list[Any]:
    """Return function(shared, *arguments) for every task.

    Parameters
    ----------
    shared : object
        First argument of every function. A client of Dask sends it to its workers once.
    tasks : list of (function, arguments)
    n_jobs : int, executor or None
        Number of threads (None: one, -1: one per core), or an object with `submit`, such as an executor of
        processes or a client of Dask.
    progress : callable, optional
        Called with (steps done, all steps) after every step.
    sizes : sequence of int, optional
        Number of steps of each task; by default 1.
    """
    sizes = [1] * len(tasks) if sizes is None else sizes
    n_steps, n_done = sum(sizes), 0
    results = []
    for result, size in zip(_iter_results(shared, tasks, n_jobs), sizes, strict=True):
        results.append(result)
        for _ in range(size):
            n_done += 1
            if progress is not None:
                progress(n_done, n_steps)
    return results


def _iter_results(shared: Any, tasks: list[Task], n_jobs: Any) -> Iterator[Any]:
    """Yield the result of each task, computed in this thread, in new threads, or by an executor."""
    if hasattr(n_jobs, "submit"):
        yield from _iter_submitted(shared, tasks, n_jobs)
        return
    n_threads = min(resolve_n_jobs(n_jobs), len(tasks))
    if n_threads > 1:
        with StoppableThreadPool(n_threads) as pool:
            yield from _iter_submitted(shared, tasks, pool)
    else:
        for function, arguments in tasks:
            yield function(shared, *arguments)


def _iter_submitted(shared: Any, tasks: list[Task], executor: Any) -> Iterator[Any]:
    """Yield the result of each task, computed by an executor."""
    options = {}
    if hasattr(executor, "scatter"):
        # Dask: send the rows to the workers once, and compute every task, because equal keys would share a result.
        shared, options = executor.scatter(shared, broadcast=True), {"pure": False}
    futures = [executor.submit(function, shared, *arguments, **options) for function, arguments in tasks]
    try:
        for future in futures:
            yield future.result()
    finally:  # after a failure or Ctrl-C, tasks that wait are not started
        for future in futures:
            future.cancel()
