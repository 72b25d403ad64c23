"""Threads that grow one tree, and the scratch memory that they take turns to use."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._kernels.context import Workspace
from .._utils.threads import InlinePool


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


class WorkspacePool:
    """Scratch memory for threads: at least one workspace per thread.

    Parameters
    ----------
    workspaces : iterable of Workspace
    """

    def __init__(self, workspaces: Iterable[Workspace]) -> None:
        self._free = list(workspaces)

    @contextmanager
    def borrow(self) -> Iterator[Workspace]:
        """Lend a workspace that no other thread uses."""
        workspace = self._free.pop()
        try:
            yield workspace
        finally:
            self._free.append(workspace)
