"""Progress of long work: a bar on a terminal, or lines of text where standard error is not a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

SILENT_SECONDS = 2.0  # no bar before this time has passed, and at most one line per period


@contextmanager
def progress_bar(description: str, verbose: int = 0) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function `advance(done, total)` that shows the progress of work.

    On a terminal it draws a bar after `SILENT_SECONDS`, or at once if `verbose` is positive. Elsewhere it prints lines
    if `verbose` is positive; otherwise None is yielded instead of a function.
    """
    if not sys.stderr.isatty():
        yield _line_printer(description) if verbose else None
        return
    start = time.monotonic() - (SILENT_SECONDS if verbose else 0)
    update: Callable[..., None] | None = None
    with ExitStack() as stack:

        def advance(done: int, total: int) -> None:
            nonlocal update
            if update is None and time.monotonic() - start > SILENT_SECONDS:
                from rich.console import Console
                from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

                columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
                bar = Progress(*columns, console=Console(stderr=True), transient=True)
                update = partial(bar.update, bar.add_task(description, total=total))
                stack.enter_context(bar)
            if update is not None:
                update(completed=done, total=total)

        yield advance


def _line_printer(description: str) -> Callable[[int, int], None]:
    """Return a function `advance(done, total)` that prints a line at once, every `SILENT_SECONDS`, and at the end."""
    last_printed = -SILENT_SECONDS

    def advance(done: int, total: int) -> None:
        nonlocal last_printed
        if done == total or time.monotonic() - last_printed > SILENT_SECONDS:
            last_printed = time.monotonic()
            print(f"{description}: {done:,} of {total:,}", file=sys.stderr, flush=True)  # noqa: T201 verbose=1

    return advance
