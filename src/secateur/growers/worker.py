"""Threads that grow one tree, and the scratch memory that they take turns to use."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._kernels.job import Space
from .kernel_arguments import InlinePool


@dataclass(frozen=True)
class Workers:
    """Threads that grow one tree.

    Parameters
    ----------
    pool : ThreadPoolExecutor or InlinePool
        An object with the method `map`.
    n_workers : int
        Number of its threads.
    """

    pool: Any
    n_workers: int


ONE_WORKER = Workers(InlinePool(), 1)


class Workspaces:
    """Scratch memory for threads: at least one workspace per thread.

    Parameters
    ----------
    spaces : iterable of Space
    """

    def __init__(self, spaces: Iterable[Space]) -> None:
        self._free = list(spaces)

    @contextmanager
    def borrow(self) -> Iterator[Space]:
        """Lend a workspace that no other thread uses."""
        space = self._free.pop()
        try:
            yield space
        finally:
            self._free.append(space)
