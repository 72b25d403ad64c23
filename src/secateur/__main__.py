"""Run the command line as a process: the entry point of `secateur` and `python -m secateur`.

Ctrl-C may come at any moment, also while modules are imported and while the process ends.
"""

import _thread
import os
import signal
import sys


def main() -> None:
    """Run the command line and exit with its status."""
    initial_handler = signal.getsignal(signal.SIGINT)
    if initial_handler is signal.default_int_handler:  # otherwise the signal is ignored, as under `nohup`
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # no file is open while modules are imported
    from .cli import main as command_line

    sys.unraisablehook = _handle_unraisable
    try:
        signal.signal(signal.SIGINT, initial_handler)
        command_line()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has finished


def _handle_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    """Interrupt the main thread a little later if Ctrl-C came in a callback, where Python ignores exceptions."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    from threading import Timer

    for seconds in (0.01, 0.1, 1.0):
        try:
            Timer(seconds, _thread.interrupt_main).start()
        except KeyboardInterrupt:  # on a busy machine the timer can run out before this function returns
            continue
        return


if __name__ == "__main__":
    main()
