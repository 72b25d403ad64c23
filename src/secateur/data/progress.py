"""A progress bar on the terminal for work that takes longer than two seconds; silent elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0  # seconds of silence


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callable (done, total), or None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    start = time.monotonic()
    bar: Any = None
    task: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None and time.monotonic() - start > PATIENCE:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            task = bar.add_task(what, total=total)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()
