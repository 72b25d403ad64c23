"""Progress of long work: a bar on the terminal after two seconds; elsewhere, if asked for, a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0  # seconds of silence


@contextmanager
def progress_bar(what: str, verbose: int = 0) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callable (done, total), or None where standard error is no terminal and nobody asked."""
    if not sys.stderr.isatty():
        yield _lines(what) if verbose else None
        return
    start = time.monotonic() - (PATIENCE if verbose else 0)
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


def _lines(what: str) -> Callable[[int, int], None]:
    """A callable (done, total) that prints a line at once, every two seconds, and when it is done."""
    last = -PATIENCE

    def advance(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > PATIENCE:
            last = time.monotonic()
            print(f"{what}: {done:,} of {total:,}", file=sys.stderr, flush=True)  # noqa: T201 asked for

    return advance
