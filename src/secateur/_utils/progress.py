"""Progress of long work: a bar on the terminal after two seconds; elsewhere, if asked for, a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

SILENT_SECONDS = 2.0  # seconds of silence


@contextmanager
def progress_bar(what: str, verbose: int = 0) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callable (done, total), or None where standard error is no terminal and nobody asked."""
    if not sys.stderr.isatty():
        yield _lines(what) if verbose else None
        return
    start = time.monotonic() - (SILENT_SECONDS if verbose else 0)
    update: Callable[..., None] | None = None
    with ExitStack() as shown:

        def advance(done: int, total: int) -> None:
            nonlocal update
            if update is None and time.monotonic() - start > SILENT_SECONDS:
                from rich.console import Console
                from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

                columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
                bar = Progress(*columns, console=Console(stderr=True), transient=True)
                update = partial(bar.update, bar.add_task(what, total=total))
                shown.enter_context(bar)
            if update is not None:
                update(completed=done, total=total)

        yield advance


def _lines(what: str) -> Callable[[int, int], None]:
    """A callable (done, total) that prints a line at once, every two seconds, and when it is done."""
    last = -SILENT_SECONDS

    def advance(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > SILENT_SECONDS:
            last = time.monotonic()
            print(f"{what}: {done:,} of {total:,}", file=sys.stderr, flush=True)  # noqa: T201 asked for

    return advance
