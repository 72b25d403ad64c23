"""A pool of threads whose kernels stop when the caller has given up."""

from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from types import TracebackType

from .._kernels.stop import STOPPED


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
