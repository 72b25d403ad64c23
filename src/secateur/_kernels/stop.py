"""The threads that are to stop. Ctrl-C reaches the main thread only.

Growing looks here between nodes, and other verbs when they begin.
"""

from threading import get_ident

STOPPED: set[int] = set()


def check_stopped() -> None:
    """Stop if this thread is to."""
    if get_ident() in STOPPED:
        raise KeyboardInterrupt
