"""Ask threads to stop: Python delivers Ctrl-C to the main thread only.

Growing checks for a request between nodes, other computations when they begin.
"""

from threading import get_ident

STOPPED: set[int] = set()  # identifiers of the threads that were asked to stop


def check_stopped() -> None:
    """Raise KeyboardInterrupt if this thread was asked to stop."""
    if get_ident() in STOPPED:
        raise KeyboardInterrupt
