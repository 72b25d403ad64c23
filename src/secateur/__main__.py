"""`secateur` and `python -m secateur`: a process of its own, in which Ctrl-C may come at any moment."""

import _thread
import os
import signal
import sys


def main() -> None:
    """Run the command line and exit with its status."""
    heard = signal.getsignal(signal.SIGINT)
    if heard is signal.default_int_handler:  # else it is ignored, as behind `nohup`
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # while modules are imported nothing is half-done
    from .cli import main as command_line

    sys.unraisablehook = _raise_later
    try:
        signal.signal(signal.SIGINT, heard)
        command_line()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done


def _raise_later(unraisable: "sys.UnraisableHookArgs") -> None:
    """Keep Ctrl-C that comes in a callback, where it cannot be raised."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        from threading import Timer

        Timer(0.01, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    main()
