"""`python -m secateur` is the command `secateur`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is imported ends it as at any other time."""
    try:
        from .cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; no file is left incomplete\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
