"""Pools of threads whose kernels stop when the caller is interrupted, and the number of threads."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from types import TracebackType

import numpy as np

from .._kernels.stop import STOPPED
from ..errors import Argument, ParameterError


class StoppableThreadPool(ThreadPoolExecutor):
    """A pool of `n_threads` threads that can be interrupted.

    When the `with` block ends by an exception, such as that of Ctrl-C, waiting tasks are cancelled, and kernels that
    run on the threads of this pool stop at the next node.

    Examples
    --------
    >>> with StoppableThreadPool(2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, n_threads: int) -> None:
        self._thread_ids: set[int] = set()
        super().__init__(n_threads, "secateur", initializer=lambda: self._thread_ids.add(get_ident()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            STOPPED.update(self._thread_ids)
        try:
            self.shutdown(cancel_futures=kind is not None)
        finally:
            STOPPED.difference_update(self._thread_ids)


class InlinePool:
    """A pool without threads: `map` runs in the calling thread, where Ctrl-C and tracebacks stay simple."""

    map = staticmethod(map)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for a value of `n_jobs`: None is one, -1 is one per core.

    Examples
    --------
    >>> resolve_n_jobs(None), resolve_n_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ParameterError(Argument("n_jobs", n_jobs), "; a number of threads, or -1 for one per core, is needed")
    if n_jobs > 0:
        return int(n_jobs)
    n_cores = os.cpu_count() or 1
    return max(1, n_cores + 1 + int(n_jobs))
