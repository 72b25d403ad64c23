"""A pool of threads that stop soon after whoever waits for them has given up."""

from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from types import TracebackType

from .._kernels.stop import STOPPED


class StoppableThreadPool(ThreadPoolExecutor):
    """A pool of `n` threads; leaving it by an error or Ctrl-C cancels what waits and stops what grows.

    Examples
    --------
    >>> with StoppableThreadPool(2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, n: int) -> None:
        self._own: set[int] = set()
        super().__init__(n, "secateur", initializer=lambda: self._own.add(get_ident()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            STOPPED.update(self._own)
        try:
            self.shutdown(cancel_futures=kind is not None)
        finally:
            STOPPED.difference_update(self._own)
